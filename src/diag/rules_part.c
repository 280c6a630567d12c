/* SPDX-License-Identifier: MIT
** diag/rules_part.c: sharding by hand: what each rank makes of its own part.
**
** A plain tensor is a part when to_local() gave it or when it was cut out of
** another.  A product over a cut dimension gives addends: they may be scaled,
** but what is added to them, or bends them, must wait for the sum; so must it
** for what to_local() gave of a partial tensor.  An operator along a cut
** dimension (an argmax, a softmax) sees this part alone; indices into it that
** are the same on all ranks were not moved by where it begins.  Nothing is
** reported before the result goes to the other ranks. */
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

static DtPartial *entry_of (DtDiag *g, const DtVar *v) {
  int i, n = g->nfates < DT_FATES ? g->nfates : DT_FATES;
  for (i = 0; i < n; i++)
    if (g->fate[i].id == v->id) return &g->fate[i];
  return NULL;
}

/* What was written since is only a part still; `own`: but for the write that
** has just been made. */
static const DtPartial *find_partial (DtDiag *g, const DtVar *v, bool own) {
  const DtPartial *p = entry_of(g, v);
  if (p && p->fate != DT_FATE_PART &&
      p->version + own != v->local->storage->version) return NULL;
  return p;
}

static DtPartial *put_partial (DtDiag *g, const DtVar *v, DtFate fate) {
  DtPartial *p = entry_of(g, v);
  if (p == NULL) {
    p = &g->fate[g->nfates++ % DT_FATES];
    if (g->nfates == 2 * DT_FATES) g->nfates = DT_FATES;
  }
  memset(p, 0, sizeof *p);
  p->id = v->id;
  p->version = v->local->storage->version;
  p->fate = fate;
  return p;
}

static void made_by (DtPartial *p, const DtEvent *e) {
  p->op = e->op;
  p->file = e->file;
  p->line = e->line;
  p->seq = e->seq;
  p->module = e->module;
}

static uint32_t dims_of (DtDiag *g, const DtVar *v) {
  const DtPartial *p = find_partial(g, v, false);
  if (p == NULL) return dt_diag_cut_dims(g, v);
  if (p->dims >> v->local->m.ndim) return 0;    /* squeezed in place since */
  return p->fate == DT_FATE_PART ? p->dims : 0;
}

/* --- parts --- */

static uint32_t dim_bit (int64_t d) { return UINT32_C(1) << d; }

/* Cut dimensions of a view of what is cut along `dims`. */
static uint32_t viewed (const DtEvent *e, uint32_t dims) {
  const DtMeta *a = &e->in[0]->local->m, *z = &e->out[0]->local->m;
  const char *name = e->op->sig->full;
  if (dt_meta_same_shape(a, z) && memcmp(a->stride, z->stride, (size_t)a->ndim
      * sizeof a->stride[0]) == 0) return dims;
  if (strcmp(name, "aten.t.default") == 0 && a->ndim == 2)
    return (dims & 1) << 1 | (dims >> 1 & 1);
  if (strcmp(name, "aten.transpose.int") == 0) {
    int64_t p = dt_arg_int(e->args, 1), q = dt_arg_int(e->args, 2);
    uint32_t x, y;
    if (p < 0) p += a->ndim;
    if (q < 0) q += a->ndim;
    x = dims >> p & 1;
    y = dims >> q & 1;
    return (dims & ~(dim_bit(p) | dim_bit(q))) | x << q | y << p;
  }
  /* a view that keeps the last dimension, as linear's */
  if (a->ndim > 0 && z->ndim > 0 &&
      a->shape[a->ndim - 1] == z->shape[z->ndim - 1] &&
      (dims >> (a->ndim - 1) & 1)) return dim_bit(z->ndim - 1);
  return 0;
}

static bool adds_up (const DtSpec *s) {
  int m;
  for (m = 0; m < s->npl && m < s->mesh->ndim; m++)
    if (s->pl[m].kind == DT_PL_PARTIAL && s->pl[m].op == DT_OP_SUM &&
        s->mesh->shape[m] > 1) return true;
  return false;
}

/* to_local() begins what this file follows: a part of a sharded dimension, or
** an addend of a partial.  Both lose the placement that said so. */
static void on_local_part (DtDiag *g, const DtEvent *e) {
  const DtSpec *s;
  uint32_t dims = 0;
  int m;
  if (e->op != NULL || e->status != DT_OK || e->backward || e->nin < 1 ||
      e->nout < 1 || e->in[0] == NULL || e->out[0] == NULL ||
      (s = e->in[0]->spec) == NULL || e->out[0]->spec ||
      strcmp(e->text, "dtensor.to_local") != 0) return;
  for (m = 0; m < s->npl && m < s->mesh->ndim; m++)
    if (dt_pl_is_shard_like(s->pl[m]) && s->mesh->shape[m] > 1 &&
        s->pl[m].dim < 32) dims |= dim_bit(s->pl[m].dim);
  if (dims) put_partial(g, e->out[0], DT_FATE_PART)->dims = dims;
  else if (adds_up(s)) put_partial(g, e->out[0], DT_FATE_ADDEND);
}

/* --- addends --- */

/* Something nonzero, the same in each element or not, as a hash; 0: nothing,
** or a share of it. */
static uint64_t hash_of_addend (const DtEvent *e, int slot, int arg) {
  const DtTensor *t;
  DtScalar v;
  if (arg < e->args->n && dt_arg_is_number(e->args, arg)) {
    double x = dt_arg_float(e->args, arg);
    return x == 0 ? 0 : dt_hash_bytes(DT_HASH_SEED, &x, sizeof x) | 1;
  }
  if (slot >= e->nin || e->in[slot] == NULL || e->in[slot]->spec ||
      dt_diag_is_scaled(e->in[slot])) return 0;
  t = e->in[slot]->local;
  if (dt_meta_numel(&t->m) == 0 || !dt_tensor_has_data(t)) return 0;
  v = dt_tensor_get(t, (int64_t[DT_MAX_NDIM]){ 0 });
  return v.re == 0 && dt_diag_hash(t, true) == 0 ? 0 : dt_diag_hash(t, false);
}

/* Distances are roots of sums along the columns: they cannot be summed, and what is
** made of them, as their squares, may be. */
static bool is_distance (const DtOpDef *op) {
  return strcmp(op->sig->full, "aten._cdist_forward.default") == 0;
}

static void on_product (DtDiag *g, const DtEvent *e, const DtProduct *f) {
  const bool root = is_distance(e->op) && dt_arg_float(e->args, 2) != 1;
  uint32_t a, b;
  uint64_t h;
  DtPartial *p;
  if (e->nin <= f->b || e->in[f->a] == NULL || e->in[f->b] == NULL) return;
  a = dims_of(g, e->in[f->a]) >> (e->in[f->a]->local->m.ndim - f->da) & 1;
  b = dims_of(g, e->in[f->b]) >> (e->in[f->b]->local->m.ndim - f->db) & 1;
  if (!a || !b) return;
  h = f->a > 0 ? hash_of_addend(e, 0, e->args->n) : 0;
  p = put_partial(g, e->out[0], root ? DT_FATE_BENT : h ? DT_FATE_BIASED
                                                        : DT_FATE_ADDEND);
  p->hash = h;
  made_by(p, e);
}

/* What an operator makes of one rank's addend.  Linear ones keep it an addend;
** a bias added on every rank counts once a rank (BIASED); products of addends
** and what is not linear cannot be summed any more (BENT). */
static void on_addend (DtDiag *g, const DtEvent *e, const DtPartial *was) {
  static const char *const bends[] = { "aten._softmax.default",
    "aten._log_softmax.default", "aten.native_layer_norm.default",
    "aten.linalg_vector_norm.default", NULL };
  static const char *const keeps[] = { "aten.neg.default",
    "aten._to_copy.default", "aten.clone.default", "aten.sub.Tensor", NULL };
  DtPartial old = *was, *p;
  const DtPartial *other = e->nin > 1 && e->in[1]
                             ? find_partial(g, e->in[1], false) : NULL;
  uint64_t h = 0;
  if (old.fate == DT_FATE_BENT && old.op && is_distance(old.op)) return;
  if (old.fate == DT_FATE_ADDEND && dt_diag_is(g, e, DT_DO_MUL) && other &&
      other->fate == DT_FATE_ADDEND) {
    made_by(put_partial(g, e->out[0], DT_FATE_BENT), e);
    return;
  }
  if (dt_diag_is(g, e, DT_DO_ADD)) {
    if (other == NULL) h = hash_of_addend(e, 1, 1);
  } else if (!(e->op->flags & DT_OP_VIEW) && !dt_diag_named(e->op, keeps) &&
             !dt_diag_is(g, e, DT_DO_MUL) && !dt_diag_is(g, e, DT_DO_DIV)) {
    if (!(e->op->flags & DT_OP_POINTWISE) && !dt_diag_named(e->op, bends)) return;
    if (old.fate == DT_FATE_ADDEND) {
      made_by(put_partial(g, e->out[0], DT_FATE_BENT), e);
      return;
    }
  }
  p = put_partial(g, e->out[0], h && old.fate == DT_FATE_ADDEND ? DT_FATE_BIASED
                                                        : old.fate);
  if (h && old.fate == DT_FATE_ADDEND) {
    p->hash = h;
    made_by(p, e);
    return;
  }
  old.id = p->id;
  old.version = p->version;
  *p = old;
}

/* --- along a cut dimension --- */

bool dt_diag_along (const DtEvent *e, uint32_t dims) {
  const DtSchema *sig = e->op->sig;
  const int ndim = e->in[0]->local->m.ndim;
  int64_t v[DT_MAX_NDIM];
  int i, k, n;
  for (i = 1; i < sig->nargs && i < e->args->n; i++) {
    if (strcmp(sig->arg[i].name, "dim") != 0) continue;
    if (dt_arg_is_none(e->args, i)) return dims != 0;
    n = dt_arg_ints(e->args, i, v, DT_MAX_NDIM);
    for (k = 0; k < n; k++)
      if (dims & dim_bit(v[k] < 0 ? v[k] + ndim : v[k])) return true;
    return false;
  }
  return false;
}

bool dt_diag_along_dim (const DtEvent *e, int dim) {
  const DtSchema *sig = e->op->sig;
  const int ndim = e->in[0]->local->m.ndim;
  int64_t v[DT_MAX_NDIM];
  bool some = false;
  for (int i = 1; i < sig->nargs && i < e->args->n; i++) {
    some = some || strcmp(sig->arg[i].name, "dim") == 0;
    if (strcmp(sig->arg[i].name, "normalized_shape") == 0)
      return dim >= ndim - dt_arg_ints(e->args, i, v, DT_MAX_NDIM);
  }
  return some ? dt_diag_along(e, UINT32_C(1) << dim)
              : strstr(sig->full, "nll_loss") == NULL;
}

static void on_local_reduction (DtDiag *g, const DtEvent *e, uint32_t dims) {
  static const char *const second[] = { "aten.max.dim", "aten.min.dim",
    "aten.topk.default", NULL };
  static const char *const all[] = { "aten.argmax.default",
    "aten.argmin.default", "aten.sort.default", "aten.sort.stable",
    "aten.argsort.default", "aten._softmax.default",
    "aten._log_softmax.default", "aten.cumsum.default", "aten.cumprod.default",
    "aten.logcumsumexp.default", "aten.std.correction", "aten.var.correction",
    "aten.median.dim", NULL };
  const bool one = dt_diag_named(e->op, second);
  int i;
  if ((!one && !dt_diag_named(e->op, all)) || !dt_diag_along(e, dims)) return;
  for (i = one; i < e->nout; i++)
    if (e->out[i]) made_by(put_partial(g, e->out[i], DT_FATE_ALONE), e);
}

/* One row of a table gets no gradient.  Of a table that is cut into parts, each rank
** leaves out a row of its own where all count it alike. */
static void row_left_out (DtDiag *g, const DtEvent *e) {
  const DtPlace *w = dt_diag_place(g, e->in[0]);
  const int64_t row = e->args->n > 2 && dt_arg_is_number(e->args, 2)
                      ? dt_arg_int(e->args, 2) : -1;
  if (row < 0 || w == NULL || w->kind != DT_PLACE_PART || w->dim != 0 ||
      !e->in[0]->requires_grad) return;
  const DtFact facts[2] = { { true, (uint64_t)row + 1 }, { false, w->where } };
  dt_diag_claim_all(g, e, DT_FIND_ID_PART_ALONE, NULL, -1, 0, 2, facts,
                    dt_diag_place_name(g, e->in[0]->id), "padding_idx counts within the part "
                    "of each rank, whose row of that number gets no gradient; it is");
}

/* Taken out of a part along a cut dimension, by indices. */
static bool is_picked_by_index (DtDiag *g, const DtEvent *e, uint32_t dims) {
  static const char *const rows[] = { "aten.embedding.default", NULL };
  static const char *const any[] = { "aten.index_select.default", NULL };
  const bool first = dt_diag_named(e->op, rows);
  const int at = e->nin - 1;    /* of the indices */
  DtPartial *p;
  if ((!first && !dt_diag_named(e->op, any)) || at < 1 || e->in[at] == NULL ||
      e->in[at]->spec || e->in[at]->local->storage->drawn ||
      !(first ? dims & 1 : dt_diag_along(e, dims))) return false;
  if (first) row_left_out(g, e);
  p = put_partial(g, e->out[0], DT_FATE_PICKED);
  p->hash = dt_diag_hash(e->in[at]->local, true);
  made_by(p, e);
  return true;
}

/* --- operators --- */

/* Every plain operator comes here, so cheap reasons to leave go first.  The
** order matters: results of a part (ALONE, PICKED) only travel through views
** and copies, addends have rules of their own, and in-place writes must be
** seen before what is read from them. */
static void op_end (DtDiag *g, const DtEvent *e) {
  const DtProduct *f;
  const DtPartial *p;
  uint32_t dims;
  if ((g->nfates == 0 && g->ncuts == 0) || e->status != DT_OK || e->nin < 1 ||
      e->nout < 1 || e->in[0] == NULL || e->out[0] == NULL || e->backward ||
      e->out[0]->spec || e->in[0]->spec || dt_session_no_data(g->s)) return;
  p = find_partial(g, e->in[0], (e->op->flags & DT_OP_INPLACE) != 0);
  if (p && (p->fate == DT_FATE_ALONE || p->fate == DT_FATE_PICKED)) {
    if (!(e->op->flags & DT_OP_VIEW) && !dt_diag_is(g, e, DT_DO_CLONE) &&
        !dt_diag_is(g, e, DT_DO_TO_COPY)) return;
    {
      DtPartial old = *p, *to = put_partial(g, e->out[0], old.fate);
      old.id = to->id;
      old.version = to->version;
      *to = old;
    }
    return;
  }
  if (p && p->fate != DT_FATE_PART) {
    if (!dt_diag_is(g, e, DT_DO_COPY) && !dt_diag_is(g, e, DT_DO_FILL) &&
        !dt_diag_is(g, e, DT_DO_ZERO)) on_addend(g, e, p);
    return;
  }
  if (e->op->flags & DT_OP_INPLACE) return;
  if ((f = dt_diag_product(e->op)) != NULL) { on_product(g, e, f); return; }
  if ((dims = dims_of(g, e->in[0])) == 0 ||
      is_picked_by_index(g, e, dims)) return;
  if (e->op->flags & DT_OP_VIEW) dims = viewed(e, dims);
  else if (!dt_diag_is(g, e, DT_DO_CLONE) && !dt_diag_is(g, e, DT_DO_TO_COPY)) {
    on_local_reduction(g, e, dims);
    return;
  }
  if (dims && dt_diag_cut_dims(g, e->out[0]) == 0)
    put_partial(g, e->out[0], DT_FATE_PART)->dims = dims;
}

/* --- to the other ranks --- */

static void report_partial (DtDiag *g, const DtPartial *p, const DtMesh *mesh,
                            int mdim, const DtVar *v) {
  DtEvent e = { .kind = DT_EV_OP, .op = p->op, .file = p->file,
                .line = p->line, .seq = p->seq,
                .module = p->module ? p->module : "" };
  if (p->fate == DT_FATE_BIASED)
    dt_diag_claim(g, &e, DT_FIND_ID_ADDED_EACH, true, mesh, mdim, v, p->hash,
                  "what is added to each addend");
  else if (p->fate == DT_FATE_PICKED)
    dt_diag_claim(g, &e, DT_FIND_ID_PART_ALONE, true, mesh, mdim, v, p->hash,
                  "indices into the part of each rank, whose results are "
                  "summed");
  else if (p->fate == DT_FATE_BENT)
    dt_diag_add(g, &e, DT_FIND_ID_BENT_ADDEND, v, 0, NULL, "it takes an addend "
                "of the sum, its result is summed");
}

void dt_diag_summed (DtDiag *g, const DtRecRaw *raw, const DtVar *in) {
  const DtPartial *p = g->nfates > 0 ? find_partial(g, in, false) : NULL;
  if (p && p->op && strstr(raw->kind, "reduce") && raw->reduce &&
      strcmp(raw->reduce, "sum") == 0)
    report_partial(g, p, raw->mesh, raw->mdim, in);
}

/* A part that had been reduced alone goes back into a distributed tensor, or an
** addend that no longer adds up is said to be a partial sum: both are wrong
** numbers of the right shape. */
static void from_local (DtDiag *g, const DtEvent *e) {
  const DtPartial *p;
  const DtSpec *s;
  int m;
  if (e->op != NULL || e->status != DT_OK || e->backward ||
      g->nfunc > 0 || e->nin < 1 || e->nout < 1 || e->in[0] == NULL ||
      e->out[0] == NULL || strcmp(e->text, "dtensor.from_local") != 0 ||
      (s = e->out[0]->spec) == NULL ||
      (p = find_partial(g, e->in[0], false)) == NULL ||
      p->op == NULL) return;
  if (p->fate == DT_FATE_ALONE) {
    DtEvent at = { .kind = DT_EV_OP, .op = p->op, .file = p->file,
                   .line = p->line, .seq = p->seq,
                   .module = p->module ? p->module : "" };
    dt_diag_add(g, &at, DT_FIND_ID_PART_ALONE, e->in[0], 0, NULL,
                "its result is given to from_local at %s:%d", e->file,
                e->line);
    return;
  }
  for (m = 0; m < s->npl && m < s->mesh->ndim; m++)
    if (s->pl[m].kind == DT_PL_PARTIAL && s->pl[m].op == DT_OP_SUM &&
        s->mesh->shape[m] > 1) report_partial(g, p, s->mesh, m, e->in[0]);
}

/* To say that a tensor is a partial sum or mean promises what all_reduce does: what
** is known of its place (rules_where.c) is asked as there. */
static void sum_promised (DtDiag *g, const DtEvent *e) {
  DtRecRaw raw = { .kind = "all_reduce" };
  const DtSpec *s = e->nout > 0 && e->out[0] ? e->out[0]->spec : NULL;
  int m;
  if (s == NULL || e->status != DT_OK || e->backward || g->nfunc > 0 || e->nin < 1 ||
      e->in[0] == NULL) return;
  for (m = 0; m < s->npl && m < s->mesh->ndim; m++) {
    if (s->pl[m].kind != DT_PL_PARTIAL || s->mesh->shape[m] == 1 ||
        (s->pl[m].op != DT_OP_SUM && s->pl[m].op != DT_OP_AVG)) continue;
    raw.reduce = s->pl[m].op == DT_OP_SUM ? "sum" : "avg";
    raw.mesh = s->mesh;
    raw.mdim = m;
    dt_diag_where_raw(g, &raw, e->in[0], NULL);
  }
}

const DtDiagRule dt_rules_part[] = {
  { DT_EV_FUNC_END, on_local_part, NULL, DT_CALLED(TO_LOCAL) },
  { DT_EV_FUNC_END, sum_promised, NULL, DT_CALLED(FROM_LOCAL) },
  { DT_EV_OP_END, op_end, NULL, 0 },
  { DT_EV_FUNC_END, from_local, NULL, DT_WHEN(nfates) },
  { 0, NULL, NULL, 0 }
};
