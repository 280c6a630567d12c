/* SPDX-License-Identifier: MIT
** diag/rules_comm.c: traps between ranks: data that is promised to be equal,
** gathers nobody asked for, casts on the wrong side of a gather.
**
** A redistribution of strided shards is proved by running it: the tensor of
** its own indices (0, 1, 2, ...) goes the same way once, and must arrive where
** the target layout says.  That is done once per kind of move. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"
#include "mesh/layout.h"

static bool is_call (const DtEvent *e, const char *name) {
  return e->op == NULL && e->status == DT_OK && e->nin > 0 && e->nout > 0 &&
         e->text && strcmp(e->text, name) == 0 && e->out[0] && e->in[0] &&
         e->out[0]->spec;
}

static bool is_float (const DtVar *v) {
  return dt_dtype_is_float((DtDtype)v->local->m.dtype);
}

/* --- from_local, distribute_tensor --- */

/* Hash of what is likely no accident: values that vary, or one number that is
** not whole, for that is likely a count. */
static uint64_t hash_of_varied (const DtTensor *t) {
  DtScalar v;
  if (dt_meta_numel(&t->m) != 1 || t->m.ndim > 1) return dt_diag_hash(t, true);
  v = dt_tensor_get(t, (int64_t[DT_MAX_NDIM]){ 0 });
  return v.re == trunc(v.re) ? 0 : dt_diag_hash(t, false);
}

/* Hash of a tensor that holds one number only, and not 0: equal by chance, as
** ones() are. */
static uint64_t hash_of_constant (const DtTensor *t) {
  DtScalar v;
  if (hash_of_varied(t) != 0 || dt_meta_numel(&t->m) < 2) return 0;
  v = dt_tensor_get(t, (int64_t[DT_MAX_NDIM]){ 0 });
  return v.re == 0 ? 0 : dt_diag_hash(t, false);
}

/* DTensor.from_local believes what the program says: a replicated one must be equal
** on all ranks, shards must not be, and a sum of equal ones counts each n times.
** What was drawn from one seed is equal today only, which is no fault of
** Shard.  Hashes are made once for all mesh dimensions: each reads the tensor. */
static void from_local (DtDiag *g, const DtEvent *e) {
  const DtVar *v;
  const DtSpec *s;
  uint64_t same = 0, varied = 0;
  int m;
  if (!is_call(e, "dtensor.from_local") || e->backward || g->nfunc > 0 ||
      dt_session_no_data(g->s)) return;
  v = e->out[0];
  s = v->spec;
  if (dt_diag_blank(g, e->in[0])) return;
  for (m = 0; m < s->npl && m < s->mesh->ndim; m++) {
    if (s->mesh->shape[m] < 2) continue;
    if (dt_pl_is_replicate(s->pl[m])) {
      if (same == 0) same = dt_diag_hash(v->local, false);
      dt_diag_claim(g, e, DT_FIND_ID_FROM_LOCAL_DIFFERS, false, s->mesh, m,
                    e->in[0], same, "local tensor");
    } else if (v->local->storage->drawn) {
      continue;                 /* equal here only */
    } else if (dt_pl_is_shard_like(s->pl[m])) {
      if (varied == 0) varied = dt_diag_hash(v->local, true);
      dt_diag_claim(g, e, DT_FIND_ID_FROM_LOCAL_SAME, true, s->mesh, m,
                    e->in[0], varied, "local tensor");
    } else if (s->pl[m].op == DT_OP_SUM && is_float(v)) {
      dt_diag_claim(g, e, DT_FIND_ID_FROM_LOCAL_COUNTED, true, s->mesh, m,
                    e->in[0], hash_of_varied(v->local), "local tensor");
      dt_diag_claim(g, e, DT_FIND_ID_FROM_LOCAL_ONES, true, s->mesh, m,
                    e->in[0], hash_of_constant(v->local), "local tensor");
    }
  }
}

/* Without a shape, each rank works out the whole from its own part. */
static void from_local_shape (DtDiag *g, const DtEvent *e) {
  const DtMeta *m;
  uint64_t h = DT_HASH_SEED;
  int d;
  if (!is_call(e, "dtensor.from_local") || e->backward || g->nfunc > 0)
    return;
  m = &e->out[0]->spec->meta;
  for (d = 0; d < m->ndim; d++) h = dt_hash_u64(h, (uint64_t)m->shape[d]);
  dt_diag_claim(g, e, DT_FIND_ID_UNEVEN_FROM_LOCAL, false,
                e->out[0]->spec->mesh, -1, e->in[0], h | 1,
                "global shape that each rank works out");
}

static void distribute_given (DtDiag *g, const DtEvent *e) {
  if (e->op != NULL || g->nfunc != 1 || e->nin < 1 || e->in[0] == NULL ||
      e->in[0]->spec || e->text == NULL || dt_session_no_data(g->s) ||
      strcmp(e->text, "distribute_tensor") != 0) return;
  g->given = e->in[0]->id;
  g->given_hash = dt_diag_blank(g, e->in[0]) ? 0
                  : dt_diag_hash(e->in[0]->local, false);
}

static void on_distribute (DtDiag *g, const DtEvent *e) {
  if (!is_call(e, "distribute_tensor") || e->in[0]->spec) return;
  if (e->in[0]->requires_grad || e->in[0]->is_param)
    dt_diag_source(g, e->in[0]);
  if (dt_session_no_data(g->s) || g->nfunc > 0 || g->given != e->in[0]->id)
    return;
  dt_diag_claim(g, e, DT_FIND_ID_SOURCE_WINS, false, e->out[0]->spec->mesh, -1,
                e->in[0], g->given_hash, "tensor to distribute");
}

/* --- plain tensors among distributed ones --- */

/* A plain tensor beside DTensors is taken for a replicated one.  Tensors of one
** element always are, others under implicit_replication only: both are wrong
** where the ranks have different ones.
** Source: torch/distributed/tensor/_dispatch.py:
** OpDispatcher._try_replicate_spec_for_scalar_tensor@2.15. */
static void on_plain_operand (DtDiag *g, const DtEvent *e) {
  const DtSpec *s = NULL;
  int i, nplain = 0;
  for (i = 0; i < e->nin; i++) {
    if (e->in[i] == NULL) continue;
    if (e->in[i]->spec) s = s ? s : e->in[i]->spec;
    else nplain++;
  }
  if (s == NULL || nplain == 0 || e->backward || dt_session_no_data(g->s))
    return;
  for (i = 0; i < e->nin; i++) {
    const DtVar *v = e->in[i];
    bool one;
    if (v == NULL || v->spec || v->local->m.wrapped) continue;
    one = dt_meta_numel(&v->local->m) == 1;
    if (!one && !g->s->implicit_replication) continue;
    dt_diag_claim(g, e, one ? DT_FIND_ID_ONE_ELEMENT
                  : DT_FIND_ID_PLAIN_DIFFERS, false, s->mesh, -1, v,
                  dt_diag_hash(v->local, false), "plain tensor");
  }
}

/* --- numbers among distributed tensors --- */

static void number_claim (DtDiag *g, DtNumbers *n) {
  DtEvent e = { .kind = DT_EV_OP, .op = n->op, .file = n->file,
                .line = n->line, .seq = n->seq, .module = "" };
  int before = g->nclaim;
  if (n->mesh == NULL) return;
  dt_diag_claim(g, &e, DT_FIND_ID_NUMBER_DIFFERS, false, n->mesh, -1, NULL,
                n->hash | 1, "numbers given to the operator");
  if (g->nclaim > before) g->claim[before].count = n->count;
  dt_mesh_unref(g->s->cx, n->mesh);
  memset(n, 0, sizeof *n);
}

void dt_diag_numbers (DtDiag *g) {
  int i;
  for (i = 0; i < DT_NUMBERS; i++) number_claim(g, &g->number[i]);
}

static uint64_t numbers_of (const DtArgs *a) {
  uint64_t h = 0;
  int i;
  for (i = 0; i < a->n; i++)
    if (a->v[i].kind == DT_V_FLOAT || a->v[i].kind == DT_V_INT)
      h = dt_hash_u64(h, (uint64_t)a->v[i].u.i);
  return h;
}

/* Cheap, for every operator comes here: a hash, folded by script line; what
** falls out of the table becomes a claim. */
static void remember_numbers (DtDiag *g, const DtEvent *e) {
  DtNumbers *n;
  const DtSpec *s = NULL;
  const char *name;
  uint64_t h, at;
  int i;
  if ((h = numbers_of(e->args)) == 0 || e->backward) return;
  for (i = 0; i < e->nin && s == NULL; i++)
    if (e->in[i]) s = e->in[i]->spec;
  if (s == NULL || !s->mesh->member || dt_session_no_data(g->s)) return;
  name = e->op->sig->full + 5;  /* the same slot in every process */
  at = (uint64_t)e->line * 31 + (uint64_t)name[0] * 7 + (uint64_t)name[1];
  n = &g->number[at % DT_NUMBERS];
  if (n->op != e->op || n->line != e->line || n->file != e->file ||
      n->mesh != s->mesh) {
    number_claim(g, n);
    *n = (DtNumbers){ .op = e->op, .file = e->file, .line = e->line,
                      .mesh = dt_mesh_ref(s->mesh), .hash = DT_HASH_SEED,
                      .seq = e->seq };
  }
  n->hash = dt_hash_u64(n->hash, h);
  n->count++;
}

/* --- collectives by hand --- */

static void excuse_sum (DtDiag *g, const DtSummed *s) {
  for (int k = 0; k < g->nclaim; k++) {
    DtClaim *c = &g->claim[k];
    if ((c->kind->id == DT_FIND_ID_SUMMED_COPIES ||
         c->kind->id == DT_FIND_ID_MEANS_ADDED) && c->line == s->line &&
        strcmp(c->file, s->file) == 0)
      c->fact[0].hash = 0;      /* on no rank, also where one alone tells it */
  }
}

/* What `e` divides by or multiplies with, also where that is a tensor of one element;
** 0: neither. */
static double factor_of (const DtEvent *e) {
  const DtVar *by = e->nin > 1 ? e->in[1] : NULL;
  if (e->args->n > 1 && dt_arg_is_number(e->args, 1)) return dt_arg_float(e->args, 1);
  if (by == NULL || by->spec || dt_meta_numel(&by->local->m) != 1 ||
      !dt_tensor_has_data(by->local) ||
      !dt_dtype_is_float((DtDtype)by->local->m.dtype)) return 0;
  return dt_tensor_get(by->local, (int64_t[DT_MAX_NDIM]){ 0 }).re;
}

/* A step that is written by hand divides the gradient on its way, not where it is kept. */
static void divided_grad (DtDiag *g, const DtEvent *e, double by) {
  const DtVar *v = e->in[0];
  DtLearn *l = v->spec ? NULL : dt_diag_by_grad(g, v->local->storage->id);
  if (l && e->nout > 0 && e->out[0] && e->out[0]->local->storage != v->local->storage)
    l->divided_apart = by;
}

/* What is divided by the ranks after it was summed over them is a mean of equal
** numbers, as a loss that is told. */
static void divided_copies (DtDiag *g, const DtEvent *e) {
  const bool div = dt_diag_is(g, e, DT_DO_DIV) ||
                   dt_diag_is(g, e, DT_DO_DIV_SCALAR);
  const double x = e->nin < 1 || e->in[0] == NULL ? 0 : factor_of(e);
  if (x == 0) return;
  divided_grad(g, e, div ? x : 1 / x);
  for (int i = 0; i < DT_SUMMED; i++) {
    const DtSummed *s = &g->summed[i];
    const bool any = s->storage == 0 && dt_meta_numel(&e->in[0]->local->m) == 1;
    if (s->line > 0 && (any || s->storage == e->in[0]->local->storage->id) &&
        fabs((div ? x : 1 / x) - (double)s->n) < 1e-9 * (double)s->n)
      excuse_sum(g, s);
  }
}

/* What is divided by the ranks before it is summed is, too. */
static void note_quotient (DtDiag *g, const DtEvent *e) {
  const bool div = dt_diag_is(g, e, DT_DO_DIV) ||
                   dt_diag_is(g, e, DT_DO_DIV_SCALAR);
  const DtVar *v = e->nout > 0 ? e->out[0] : NULL;
  double x;
  if (e->status != DT_OK || e->backward || v == NULL || v->spec || e->args->n < 2 ||
      !dt_arg_is_number(e->args, 1)) return;
  x = dt_arg_float(e->args, 1);
  g->quotient[g->nquotients++ % DT_SUMMED] = (DtQuotient){
    .storage = v->local->storage->id, .version = v->local->storage->version,
    .by = div ? x : 1 / x };
}

static bool was_divided (const DtDiag *g, const DtTensor *t, double n) {
  for (int i = 0; i < DT_SUMMED; i++) {
    const DtQuotient *q = &g->quotient[i];
    if (q->by > 0 && q->storage == t->storage->id && q->version == t->storage->version &&
        fabs(q->by - n) < 1e-9 * n) return true;
  }
  return false;
}

static bool is_dividing (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_DIV) || dt_diag_op_is(g, op, DT_DO_MUL) ||
         dt_diag_op_is(g, op, DT_DO_DIV_SCALAR) ||
         dt_diag_op_is(g, op, DT_DO_MUL_SCALAR);
}

/* What is made of parameters alone and has no gradient is a checksum of theirs: it
** is told, and summed only to be told once. */
static void of_parameters (DtDiag *g, const DtEvent *e) {
  enum { MOST = 4096 };
  if (e->status != DT_OK || g->checksums.n >= MOST || e->backward || e->nin < 1 || e->nout < 1 ||
      e->out[0] == NULL || e->out[0]->spec || e->out[0]->requires_grad) return;
  for (int i = 0; i < e->nin; i++) {
    const DtVar *v = e->in[i];
    if (v && !v->is_param && !dt_idset_has(&g->params, v->local->storage->id) &&
        !dt_idset_has(&g->checksums, v->local->storage->id)) return;
  }
  dt_idset_add(g, &g->checksums, e->out[0]->local->storage->id);
}

static bool makes_checksum (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.abs.default", "aten.square.default",
    "aten.pow.Tensor_Scalar", "aten.sum.default", "aten.mean.default",
    "aten.linalg_vector_norm.default", "aten.stack.default", "aten.sub.Tensor",
    "aten.add.Tensor", "aten.add.Scalar", "aten.sub.Scalar", "aten.clone.default",
    NULL };
  (void)g;
  for (int i = 0; names[i]; i++)
    if (strcmp(op->sig->full, names[i]) == 0) return true;
  return false;
}

/* Whole numbers made floating, and their sums: labels, masks and counts may be equal
** on several ranks without being copies. */
static void of_counts (DtDiag *g, const DtEvent *e) {
  enum { MOST = 4096 };
  const DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  if (e->status != DT_OK || g->counts.n >= MOST || e->backward || v == NULL ||
      v->spec || e->nout < 1 || e->out[0] == NULL) return;
  if (dt_idset_has(&g->counts, v->local->storage->id) ||
      (dt_diag_is(g, e, DT_DO_TO_COPY) &&
       !dt_dtype_is_float((DtDtype)v->local->m.dtype)))
    dt_idset_add(g, &g->counts, e->out[0]->local->storage->id);
}

static bool makes_counts (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_TO_COPY) || dt_diag_op_is(g, op, DT_DO_SUM) ||
         dt_diag_op_is(g, op, DT_DO_SUM_DIM) || dt_diag_op_is(g, op, DT_DO_CLONE);
}

/* Was it divided by the number of ranks before? */
static bool is_share (DtDiag *g, const DtEvent *e) {
  const double n = (double)e->mesh->shape[e->mdim < 0 ? 0 : e->mdim];
  return was_divided(g, e->local[0], n) || fabs(dt_diag_share_total(g, e->local[0]) * n - 1) < 1e-4;
}

/* A sum over ranks that all have the same tensor.  Whether they have cannot be
** known here, so it is claimed and compared later.  Left out is what is equal
** by right: draws of one seed, counts, checks of equality, a mean's share. */
static void summed_copies (DtDiag *g, const DtEvent *e) {
  enum { METER = 4 };           /* numbers that one keeps, a sum and a count */
  int before;
  const DtCollName *known = e->coll ? dt_coll_find(e->coll) : NULL;
  DtEvent named = *e;
  if (e->nlocal < 1 || e->local[0] == NULL || e->backward || g->nfunc > 0 ||
      e->local[0]->storage->drawn ||
      g->s->cur_op != NULL || e->mesh == NULL || e->reduce == NULL ||
      strcmp(e->reduce, "sum") != 0 || dt_session_no_data(g->s) ||
      (dt_idset_has(&g->checksums, e->local[0]->storage->id) &&
       dt_meta_numel(&e->local[0]->m) == 1) ||
      !dt_dtype_is_float((DtDtype)e->local[0]->m.dtype) ||
      dt_idset_has(&g->counts, e->local[0]->storage->id) ||
      is_share(g, e)) return;
  named.text = known ? known->does : e->coll;
  before = g->nclaim;
  dt_diag_claim(g, &named, DT_FIND_ID_SUMMED_COPIES, true, e->mesh, e->mdim,
                NULL, hash_of_varied(e->local[0]), "tensor to be summed");
  if (g->nclaim > before)       /* what a meter counts: some may be equal */
    g->claim[before].line_differs = dt_meta_numel(&e->local[0]->m) <= METER;
  g->summed[g->nsummed++ % DT_SUMMED] = (DtSummed){
    .storage = e->local[0]->storage->id, .file = e->file ? e->file : "",
    .line = e->line, .n = e->mdim >= 0 ? e->mesh->shape[e->mdim]
                                       : dt_mesh_size(e->mesh) };
}

/* backward sums what is the same on all ranks; what becomes of the parameters'
** gradients is looked at later. */
static void summed_back (DtDiag *g, const DtEvent *e) {
  DtFact fact = { true, 0 };
  DtEvent named = *e;
  if (!e->backward || g->nfunc > 0 || e->nlocal < 1 || e->local[0] == NULL ||
      e->local[0]->storage->drawn || e->mesh == NULL || e->reduce == NULL ||
      strcmp(e->reduce, "sum") != 0 || g->s->cur_op != NULL ||
      dt_session_no_data(g->s) || !dt_diag_whole_loss(g) ||
      !dt_dtype_is_float((DtDtype)e->local[0]->m.dtype)) return;
  if (e->line == g->last_line)  /* and not in a backward that the program wrote */
    named = dt_diag_called(g, e);
  named.text = "all_reduce";
  fact.hash = dt_diag_sample(e->local[0]);
  dt_diag_claim_all(g, &named, DT_FIND_ID_SUMMED_BACK, e->mesh, e->mdim, 0, 1,
                    &fact, "", "the gradient that backward sums");
}

/* --- gathers --- */

static const DtSpec *moved_to (const DtEvent *e) { return e->plan->dst; }

static bool gathers_shards (const DtEvent *e) {
  const DtSpec *a = e->plan->src, *b = moved_to(e);
  int m;
  for (m = 0; m < a->npl && m < b->npl && m < a->mesh->ndim; m++)
    if (dt_pl_is_shard_like(a->pl[m]) && dt_pl_is_replicate(b->pl[m]) &&
        a->mesh->shape[m] > 1) return true;
  return false;
}

/* Views should cost nothing; lookups should not gather their indices. */
static bool harmless_looking (const DtOpDef *op) {
  static const char *const names[] = {
    "aten.embedding.default", "aten._scaled_dot_product_flash_attention"
    "_for_cpu.default", "aten._scaled_dot_product_efficient_attention.default",
    "aten._scaled_dot_product_flash_attention.default"
  };
  size_t i;
  if (op->flags & DT_OP_VIEW) return true;
  for (i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(op->sig->full, names[i]) == 0) return true;
  return false;
}

static void hidden_gather (DtDiag *g, const DtEvent *e) {
  enum { LARGE = 1 << 20 };
  const DtOpDef *op = g->s->cur_op;
  DtEvent named = *e;
  DtBuf b;
  int64_t bytes;
  if (!e->implicit || op == NULL || op->sig == NULL ||
      !gathers_shards(e)) return;
  bytes = dt_plan_bytes(e->plan);
  if (bytes == 0 || (!harmless_looking(op) && bytes < LARGE)) return;
  named.op = op;
  dt_buf_init(&b, g->s->cx);
  dt_spec_print_placements(e->plan->src, &b);
  dt_buf_add(&b, " -> ");
  dt_spec_print_placements(moved_to(e), &b);
  dt_diag_add(g, &named, DT_FIND_ID_HIDDEN_GATHER, NULL, moved_to(e)->npl,
              moved_to(e)->pl, "%s, %lld bytes per rank", dt_buf_str(&b),
              (long long)bytes);
  dt_buf_fini(&b);
}

static bool was_redistributed (const DtOrigin *at, const DtSpec *s) {
  return at->op && strcmp(at->op, "dtensor.redistribute") == 0 && s &&
         dt_spec_is_replicated(s);
}

/* Was it gathered: by redistribute(), or by full_tensor()? */
static bool was_gathered (DtDiag *g, const DtVar *v) {
  const DtRecOp *r;
  if (v->spec) return was_redistributed(&v->origin, v->spec);
  if (v->origin.op == NULL || strcmp(v->origin.op, "dtensor.to_local") != 0)
    return false;
  r = dt_record_find(g->d, v->origin.seq);
  return r && r->seq == v->origin.seq && r->nin > 0 && !r->in[0].none &&
         was_redistributed(&r->in[0].origin, r->in[0].spec);
}

static void late_cast (DtDiag *g, const DtEvent *e) {
  const DtVar *in = e->nin > 0 ? e->in[0] : NULL;
  const DtVar *out = e->nout > 0 ? e->out[0] : NULL;
  size_t a, b;
  if (e->backward || !in || !out || !was_gathered(g, in)) return;
  a = dt_dtype_info((DtDtype)in->local->m.dtype)->size;
  b = dt_dtype_info((DtDtype)out->local->m.dtype)->size;
  if (b >= a) return;
  dt_diag_add(g, e, DT_FIND_ID_LATE_CAST, in, 0, NULL,
              "gathered as %s, then cast to %s: %zu bytes an element moved "
              "where %zu would do",
              dt_dtype_info((DtDtype)in->local->m.dtype)->name,
              dt_dtype_info((DtDtype)out->local->m.dtype)->name, a, b);
}

/* --- strided shards, proved by running --- */

/* Local part of the tensor of its own indices. */
static DtStatus index_part (DtDiag *g, const DtSpec *s, DtTensor **out) {
  DtCtx *cx = g->s->cx;
  DtMeta m;
  DtArenaMark top = dt_arena_mark(&cx->scratch);
  int64_t *idx[DT_MAX_NDIM], n[DT_MAX_NDIM], at[DT_MAX_NDIM] = { 0 }, i, k;
  int64_t shape[DT_MAX_NDIM], total = 1;
  void *p = NULL;
  DtStatus st = DT_OK;
  int d, ndim = s->meta.ndim;
  for (d = 0; d < ndim && st == DT_OK; d++) {
    st = dt_layout_indices(cx, s, NULL, d, &idx[d], &n[d]);
    shape[d] = st == DT_OK ? n[d] : 0;
    total *= shape[d];
  }
  if (st == DT_OK) st = dt_meta_init(cx, &m, DT_F64, ndim, shape);
  if (st == DT_OK) st = dt_tensor_new(cx, &m, false, out);
  if (st == DT_OK && total > 0) {
    st = dt_tensor_data(cx, *out, &p);
    for (i = 0; st == DT_OK && i < total; i++) {
      int64_t rest = i, v = 0;
      for (d = ndim - 1; d >= 0; d--) {
        at[d] = rest % shape[d];
        rest /= shape[d];
      }
      for (d = 0; d < ndim; d++) v = v * s->meta.shape[d] + idx[d][at[d]];
      ((double *)p)[i] = (double)v;
    }
    for (k = 0, d = 0; st == DT_OK && d < s->npl; d++)
      if (dt_pl_is_partial(s->pl[d]) && s->mesh->coord[d] != 0) k = 1;
    if (st == DT_OK && k) memset(p, 0, (size_t)total * sizeof (double));
  }
  dt_arena_release(&cx->scratch, top);
  return st;
}

static DtStatus as_f64 (DtDiag *g, const DtSpec *s, DtSpec **out) {
  DtMeta m;
  dt_meta_copy(&m, &s->meta);
  m.dtype = DT_F64;
  dt_meta_set_contiguous(&m);
  return dt_spec_new(g->s->cx, s->mesh, s->npl, s->pl, &m, s->order,
                     s->strided_is_order, out);
}

/* Only sums and shards can be proved with indices. */
static bool is_provable (const DtSpec *s) {
  int m;
  if (s->npl != s->mesh->ndim || !s->has_meta || !s->mesh->member)
    return false;
  for (m = 0; m < s->npl; m++)
    if (dt_pl_is_partial(s->pl[m]) &&
        (s->pl[m].kind != DT_PL_PARTIAL || s->pl[m].op != DT_OP_SUM))
      return false;
  return dt_meta_numel(&s->meta) <= 1 << 20;
}

/* Run it.  *wrong: some element of this rank is at another place. */
static DtStatus prove_plan (DtDiag *g, const DtPlan *p, bool *wrong) {
  DtSpec *src = NULL, *dst = NULL;
  DtTensor *in = NULL, *want = NULL, *got = NULL;
  DtStatus st = as_f64(g, p->src, &src);
  if (st == DT_OK) st = as_f64(g, p->dst, &dst);
  if (st == DT_OK) st = index_part(g, src, &in);
  if (st == DT_OK) st = index_part(g, dst, &want);
  if (st == DT_OK) st = dt_redist_local(g->s, in, src, dst, false, 0, &got);
  if (st == DT_OK)
    *wrong = !dt_meta_same_shape(&got->m, &want->m) ||
             dt_diag_hash(got, false) != dt_diag_hash(want, false);
  dt_tensor_unref(g->s->cx, in);
  dt_tensor_unref(g->s->cx, want);
  dt_tensor_unref(g->s->cx, got);
  dt_spec_unref(g->s->cx, src);
  dt_spec_unref(g->s->cx, dst);
  return st;
}

/* Redistribution of strided shards goes wrong in PyTorch for some pairs of
** layouts. Each pair is proved once: a tensor of its own indices is moved, and
** must arrive where the layout says. */
static void on_strided_plan (DtDiag *g, const DtEvent *e) {
  const DtPlan *p = e->plan;
  DtEvent named = *e;
  DtMute mute;
  DtStatus st;
  DtBuf b;
  bool wrong = false;
  int64_t key;
  if ((!dt_spec_has_strided(p->src) && !dt_spec_has_strided(p->dst)) ||
      dt_session_no_data(g->s) || !is_provable(p->src) ||
      !is_provable(p->dst) ||
      dt_spec_has_partial(p->dst)) return;
  key = (int64_t)(dt_hash_u64(p->src->hash, p->dst->hash) >> 1) | 1;
  if (dt_idset_has(&g->strided, key)) return;
  dt_idset_add(g, &g->strided, key);
  dt_debug_mute(g->d, &mute);
  st = prove_plan(g, p, &wrong);
  dt_debug_unmute(g->d, &mute);
  if (st != DT_OK) { dt_error_clear(g->s->cx); return; }
  if (!wrong) return;
  if (g->s->cur_op) named.op = g->s->cur_op;
  else named.text = "redistribute";
  dt_buf_init(&b, g->s->cx);
  dt_spec_print_placements(p->src, &b);
  dt_buf_add(&b, " -> ");
  dt_spec_print_placements(p->dst, &b);
  dt_diag_add(g, &named, DT_FIND_ID_STRIDED_ORDER, NULL, 0, NULL,
              "%s: the tensor of its own indices does not arrive where it "
              "should", dt_buf_str(&b));
  dt_buf_fini(&b);
}

/* --- which operators --- */

static bool is_cast (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_TO_COPY);
}

const DtDiagRule dt_rules_comm[] = {
  { DT_EV_FUNC_END, from_local, NULL, DT_CALLED(FROM_LOCAL) },
  { DT_EV_FUNC_END, from_local_shape, NULL, DT_CALLED(FROM_LOCAL) },
  { DT_EV_FUNC, distribute_given, NULL, DT_CALLED(DISTRIBUTE) },
  { DT_EV_FUNC_END, on_distribute, NULL, DT_CALLED(DISTRIBUTE) },
  { DT_EV_OP, on_plain_operand, NULL, 0 },
  { DT_EV_OP, remember_numbers, NULL, 0 },
  { DT_EV_OP_END, late_cast, is_cast, 0 },
  { DT_EV_REDIST, hidden_gather, NULL, 0 },
  { DT_EV_REDIST, on_strided_plan, NULL, 0 },
  { DT_EV_COLL, summed_copies, NULL, 0 },
  { DT_EV_OP_END, of_parameters, makes_checksum, DT_WHEN(params.n) },
  { DT_EV_OP_END, of_counts, makes_counts, 0 },
  { DT_EV_OP_END, divided_copies, is_dividing, DT_WHEN(nsummed) },
  { DT_EV_OP_END, note_quotient, is_dividing, 0 },
  { DT_EV_COLL, summed_back, NULL, 0 },
  { 0, NULL, NULL, 0 }
};
