/* SPDX-License-Identifier: MIT
** diag/rules_spec.c: traps that specs alone show: decisions known to be
** wrong, means over parts of different weight, dimensions counted from the
** end, local parts that are not what the placements say. */
#include <string.h>
#include "diag/diag_int.h"
#include "shard/known_wrong.h"

/* fill_ of 0: every addend becomes 0, and so does the sum. */
static bool is_fill_of_zero (const DtDiag *g, const DtEvent *e) {
  if (!dt_diag_is(g, e, DT_DO_FILL) || e->args->n < 2) return false;
  return dt_arg_is_number(e->args, 1) ? dt_arg_float(e->args, 1) == 0
         : e->args->v[1].kind != DT_V_TENSOR &&
           dt_arg_float(e->args, 1) == 0;
}

static void known_wrong (DtDiag *g, const DtEvent *e) {
  const DtKnownWrong *k = e->prop->known_wrong;
  DtEvent at;
  if (k == NULL || is_fill_of_zero(g, e)) return;
  at = dt_diag_called(g, e);
  dt_diag_add(g, &at, DT_FIND_ID_KNOWN_WRONG, e->nin ? e->in[0] : NULL, 0, NULL,
              "%s; for example %s", k->what, k->example);
}

/* An operator that a handler carries out says nothing of its decision: it is
** asked for again. */
static void handled_wrong (DtDiag *g, const DtEvent *e) {
  DtProp *p;
  void *ud;
  if (e->nin < 1 || !dt_handler_get(g->s, e->op, &ud) ||
      (p = dt_diag_decide(g, e, e->args)) == NULL) return;
  if (p->known_wrong)
    dt_diag_add(g, e, DT_FIND_ID_KNOWN_WRONG, e->in[0], 0, NULL,
                "%s; for example %s", p->known_wrong->what,
                p->known_wrong->example);
  dt_prop_unref(g->s->cx, p);
}

/* Parts of dim `p.dim` of `s` along mesh dim `m` that are not equally long. */
static bool is_uneven (const DtSpec *s, int m) {
  DtPlacement p = s->pl[m];
  int64_t n = s->mesh->shape[m];
  return dt_pl_is_shard(p) && p.dim >= 0 && p.dim < s->meta.ndim &&
         s->meta.shape[p.dim] % n != 0;
}

/* P(avg) out of parts of different length: every rank weighs the same. */
static void mean_of_means (DtDiag *g, const DtEvent *e) {
  const DtProp *p = e->prop;
  const DtSpec *o = p->nout > 0 ? p->out[0] : NULL;
  int m, i;
  if (o == NULL) return;
  for (m = 0; m < o->npl && m < o->mesh->ndim; m++) {
    if (o->pl[m].kind != DT_PL_PARTIAL || o->pl[m].op != DT_OP_AVG) continue;
    for (i = 0; i < p->nin && i < e->nin; i++) {
      const DtSpec *s = p->in[i];
      if (s == NULL || m >= s->npl || !is_uneven(s, m)) continue;
      dt_diag_add(g, e, DT_FIND_ID_MEAN_OF_MEANS, e->in[i], 0, NULL,
                  "dim %d has %lld elements on %lld ranks, the result is "
                  "P(avg)", s->pl[m].dim,
                  (long long)s->meta.shape[s->pl[m].dim],
                  (long long)s->mesh->shape[m]);
      return;
    }
  }
}

static bool has_shard_of (const DtSpec *s, int64_t dim) {
  int m;
  for (m = 0; s && m < s->npl && m < s->mesh->ndim; m++)
    if (dt_pl_is_shard_like(s->pl[m]) && s->pl[m].dim == dim &&
        s->mesh->shape[m] > 1) return true;
  return false;
}

static bool same_placements (const DtSpec *a, const DtSpec *b) {
  return a == NULL || b == NULL ||
         (a->npl == b->npl && dt_pls_equal(a->pl, b->pl, a->npl));
}

/* Is the call decided otherwise with these arguments? */
static bool decided_otherwise (DtDiag *g, const DtEvent *e,
                               const DtArgs *args) {
  const DtProp *p = e->prop;
  DtProp *q = dt_diag_decide(g, e, args);
  bool same = true;
  int i;
  if (q == NULL) return false;
  for (i = 0; i < p->nin && i < q->nin; i++)
    same = same && same_placements(p->in[i], q->in[i]);
  for (i = 0; i < p->nout && i < q->nout; i++)
    same = same && same_placements(p->out[i], q->out[i]);
  dt_prop_unref(g->s->cx, q);
  return !same;
}

/* What a reduction's negative dimension counts from is its input's, what that of
** stack and unsqueeze counts from is their result's: the one with more. */
static int most_dims (const DtProp *p, const DtSpec *s) {
  const DtSpec *in = p->nin > 0 ? p->in[0] : NULL;
  return in && in->meta.ndim > s->meta.ndim ? in->meta.ndim : s->meta.ndim;
}

/* Some rules look at the dimension as it was given: counted from the front,
** the same one is decided otherwise. */
static void negative_dim (DtDiag *g, const DtEvent *e) {
  const DtProp *p = e->prop;
  const DtSchema *sig = e->op->sig;
  const DtSpec *s = p->nout > 0 && p->out[0] ? p->out[0]
                    : p->nin > 0 ? p->in[0] : NULL;
  DtPlacement wrapped;
  DtArgs args;
  int64_t dim;
  int i;
  if (s == NULL) return;
  for (i = 1; i < sig->nargs && i < e->args->n; i++) {
    if (e->args->v[i].kind != DT_V_INT || e->args->v[i].u.i >= 0 ||
        strcmp(sig->arg[i].name, "dim") != 0) continue;
    dim = e->args->v[i].u.i + most_dims(p, s);
    if (dim < 0 || (!has_shard_of(s, dim) &&
                    !has_shard_of(p->nin ? p->in[0] : NULL, dim)))
      continue;
    args = *e->args;
    args.v[i].u.i = dim;
    if (!decided_otherwise(g, e, &args)) continue;
    wrapped = dt_pl_shard((int)dim);
    dt_diag_add(g, e, DT_FIND_ID_NEGATIVE_DIM, e->nin ? e->in[0] : NULL, 1,
                &wrapped, "dim %lld is dimension %lld, which is sharded",
                (long long)e->args->v[i].u.i, (long long)dim);
    return;
  }
}

static void note_prop (DtDiag *g, const DtEvent *e) {
  g->prop_seq = e->seq;
  g->moved0 = e->prop->nin > 0 && e->prop->moved && e->prop->moved[0];
}

/* --- local parts --- */

/* Were the other inputs, and this one before, as their specs say? */
static bool inputs_fit (DtDiag *g, const DtEvent *e) {
  const DtRecOp *r = dt_record_find(g->d, e->seq);
  int i;
  if (r == NULL || r->op != e->op) return false;
  for (i = 0; i < r->nin; i++) {
    const DtRecVar *v = &r->in[i];
    if (v->none || v->spec == NULL) continue;
    if (!dt_diag_fits(g, v->spec, v->lndim, v->lshape)) return false;
  }
  return true;
}

static void on_misfit (DtDiag *g, const DtEvent *e) {
  int i;
  DtEvent at;
  DtBuf b;
  if (e->status != DT_OK) return;
  for (i = 0; i < e->nout; i++) {
    DtVar *v = e->out[i];
    if (v == NULL || v->spec == NULL ||
        dt_diag_fits(g, v->spec, v->local->m.ndim, v->local->m.shape))
      continue;
    if (!inputs_fit(g, e)) return;
    dt_buf_init(&b, g->s->cx);
    dt_spec_print(v->spec, &b);
    dt_buf_add(&b, " has a local part of ");
    dt_buf_add_i64s(&b, v->local->m.shape, v->local->m.ndim);
    at = dt_diag_called(g, e);
    dt_diag_add(g, &at, DT_FIND_ID_LOCAL_MISFIT, v, 0, NULL, "%s",
                dt_buf_str(&b));
    dt_buf_fini(&b);
    return;
  }
}

static bool is_call (const DtEvent *e, const char *name) {
  return e->op == NULL && e->status == DT_OK && e->nin > 0 && e->nout > 0 &&
         e->text && strcmp(e->text, name) == 0 && e->out[0] && e->in[0];
}

/* from_local: sizes, and the number of placements. */
static void from_local (DtDiag *g, const DtEvent *e) {
  DtVar *v;
  DtBuf b;
  bool fits;
  if (!is_call(e, "dtensor.from_local") || e->backward) return;
  v = e->out[0];
  if (v->spec == NULL) return;
  fits = dt_diag_fits(g, v->spec, v->local->m.ndim, v->local->m.shape);
  if (g->nfunc == 0)            /* so that all ranks hear of it */
    dt_diag_claim(g, e, DT_FIND_ID_UNEVEN_FROM_LOCAL, false, v->spec->mesh,
                  -1, e->in[0], fits ? 1 : 3, "is the part torch.chunk's");
  if (fits) return;
  dt_buf_init(&b, g->s->cx);
  dt_buf_add(&b, "this rank gave ");
  dt_buf_add_i64s(&b, v->local->m.shape, v->local->m.ndim);
  dt_buf_add(&b, " for its part of ");
  dt_spec_print(v->spec, &b);
  dt_diag_add(g, e, DT_FIND_ID_UNEVEN_FROM_LOCAL, e->in[0], v->spec->npl,
              v->spec->pl, "%s", dt_buf_str(&b));
  dt_buf_fini(&b);
}

static void placement_count (DtDiag *g, const DtEvent *e) {
  const DtSpec *s;
  if (!is_call(e, "dtensor.from_local") &&
      !is_call(e, "dtensor.redistribute")) return;
  s = e->out[0]->spec;
  if (s == NULL || s->npl == s->mesh->ndim || e->backward) return;
  dt_diag_add(g, e, DT_FIND_ID_PLACEMENT_COUNT, e->in[0], s->npl, s->pl,
              "%d placement%s on a mesh of %d dimension%s", s->npl,
              s->npl == 1 ? "" : "s", s->mesh->ndim,
              s->mesh->ndim == 1 ? "" : "s");
}

/* --- depth of DTensor calls --- */

static bool is_of_fsdp (const DtEvent *e) {
  return e->text != NULL && strncmp(e->text, "fsdp.", 5) == 0;
}

static void count_function (DtDiag *g, const DtEvent *e) {
  if (e->op == NULL) g->nfunc++;
  if (e->op == NULL && is_of_fsdp(e)) g->nfsdp++;
}

static void func_end (DtDiag *g, const DtEvent *e) {
  if (e->op == NULL && g->nfunc > 0) g->nfunc--;
  if (e->op == NULL && g->nfsdp > 0 && is_of_fsdp(e)) g->nfsdp--;
}

/* --- which operators --- */

static bool may_be_wrong (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return dt_known_wrong_has(op);
}

static bool has_dim (const DtDiag *g, const DtOpDef *op) {
  const DtSchema *sig = op->sig;
  (void)g;
  for (int i = 1; sig && i < sig->nargs; i++)
    if (strcmp(sig->arg[i].name, "dim") == 0) return true;
  return false;
}

const DtDiagRule dt_rules_spec[] = {     /* asked first */
  { DT_EV_FUNC, count_function, NULL, 0 },
  { DT_EV_FUNC_END, func_end, NULL, 0 },
  { DT_EV_PROP, note_prop, NULL, 0 },
  { DT_EV_PROP, known_wrong, NULL, 0 },
  { DT_EV_OP, handled_wrong, may_be_wrong, 0 },
  { DT_EV_PROP, mean_of_means, NULL, 0 },
  { DT_EV_PROP, negative_dim, has_dim, 0 },
  { DT_EV_OP_END, on_misfit, NULL, 0 },
  { DT_EV_FUNC_END, from_local, NULL, DT_CALLED(FROM_LOCAL) },
  { DT_EV_FUNC_END, placement_count, NULL, 0 },
  { 0, NULL, NULL, 0 }
};
