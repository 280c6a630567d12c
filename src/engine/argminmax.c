/* SPDX-License-Identifier: MIT
** engine/argminmax.c: argmin and argmax of a distributed tensor.
**
** An index cannot be reduced like a sum.  Each rank finds the extreme of its
** part; where the reduced dim is sharded, values and (global) indices are
** gathered and the best value's index is picked. */
#include "engine/engine_int.h"

#include <string.h>
#include "mesh/layout.h"

typedef struct Arg {
  DtSession *s;
  const DtOpDef *op;
  const DtArgs *args;
  const DtSpec *spec;           /* of the input without partials */
  DtTensor *t;
  bool max, all;                /* all: no dim given */
  int dim;
  DtTensor *val, *idx;
} Arg;

static void replace_tensor (DtSession *s, DtTensor **slot, DtTensor *t) {
  dt_tensor_unref(s->cx, *slot);
  *slot = t;
}

/* Types that a local call of `op` refuses. */
static DtStatus check_type (const Arg *a, const DtOpDef *op) {
  const DtMeta *in = &a->t->m;
  if (op == NULL || op->refusal == NULL) return DT_OK;
  return dt_refuse(a->s->cx, op->refusal, op->sig, a->args, 1, &in);
}

/* PyTorch calls max or min for the value, and for the index where one dim is
** reduced that is whole here; else argmax or argmin, which refuse more. */
static DtStatus check_types (const Arg *a) {
  const char *name = a->max ? (a->all ? "aten.max.default" : "aten.max.dim")
                            : a->all ? "aten.min.default" : "aten.min.dim";
  bool index = a->all;
  DT_TRY(a->s->cx, check_type(a, dt_registry_find(a->s->cx, a->s->registry, name)));
  for (int m = 0; m < a->spec->npl; m++)
    if (dt_pl_is_shard(a->spec->pl[m]) && a->spec->pl[m].dim == a->dim)
      index = true;
  return index ? check_type(a, a->op) : DT_OK;
}

/* Value and local index, with the reduced dim kept (or one dim of one). */
static DtStatus reduce_local (Arg *a) {
  DtSession *s = a->s;
  DtMeta im;
  int64_t shape[DT_MAX_NDIM] = { 1 };
  int ndim = a->all ? 1 : a->t->m.ndim;
  if (!a->all) {
    memcpy(shape, a->t->m.shape, sizeof shape);
    if (ndim > 0) shape[a->dim] = 1;
  }
  DT_TRY(s->cx, dt_mv_empty(s, &a->t->m, ndim, shape, &a->val));
  DT_TRY(s->cx, dt_meta_init(s->cx, &im, DT_I64, ndim, shape));
  im.device = a->t->m.device;
  DT_TRY(s->cx, dt_tensor_new(s->cx, &im, dt_session_no_data(s), &a->idx));
  if (!dt_tensor_has_data(a->t)) return DT_OK;
  bool none = dt_meta_numel(&a->t->m) == 0 && dt_meta_numel(&im) != 0;
  DT_CHECK(s->cx, !none || !a->all, DT_E_INDEX, "%s(): Expected reduction dim "
           "to be specified for input.numel() == 0.", a->op->sig->base);
  DT_CHECK(s->cx, !none, DT_E_INDEX, "%s(): Expected reduction dim %d to have "
           "non-zero size.", a->op->sig->base, a->dim);
  return dt_k_arg_reduce(s->cx, a->max, a->t, a->all ? -1 : a->dim, a->val,
                         a->idx);
}

/* Local index to global index, in place. */
static DtStatus to_global (Arg *a) {
  DtSession *s = a->s;
  int64_t lshape[DT_MAX_NDIM], off[DT_MAX_NDIM], n = dt_meta_numel(&a->idx->m);
  const DtMeta *g = &a->spec->meta;
  int ndim;
  void *p;
  int64_t *v;
  DT_TRY(s->cx, dt_layout_local(s->cx, a->spec, NULL, lshape, off, &ndim));
  if (!dt_tensor_has_data(a->idx) || n == 0) return DT_OK;
  DT_TRY(s->cx, dt_tensor_data(s->cx, a->idx, &p));
  v = p;
  for (int64_t i = 0; i < n; i++) {
    int64_t rest = v[i], res = 0;
    if (!a->all) {
      v[i] += off[a->dim];
      continue;
    }
    for (int d = 0; d < ndim; d++) {
      int64_t ls = 1, gs = 1;
      for (int e = d + 1; e < ndim; e++) ls *= lshape[e], gs *= g->shape[e];
      res += (rest / ls + off[d]) * gs;
      rest %= ls;
    }
    v[i] = res;
  }
  return DT_OK;
}

static DtStatus gather_dim (Arg *a, int mdim) {
  DtSession *s = a->s;
  DtTensor *t;
  int dim = a->all ? 0 : a->dim;
  DT_TRY(s->cx, dt_coll_all_gather(s, a->spec->mesh, mdim, dim, a->val, &t));
  replace_tensor(s, &a->val, t);
  DT_TRY(s->cx, dt_coll_all_gather(s, a->spec->mesh, mdim, dim, a->idx, &t));
  replace_tensor(s, &a->idx, t);
  return DT_OK;
}

/* The index that belongs to the best gathered value. */
static DtStatus take_best_index (Arg *a) {
  DtSession *s = a->s;
  int64_t shape[DT_MAX_NDIM];
  int dim = a->all ? 0 : a->dim;
  DtTensor *who = NULL, *best = NULL;
  DtStatus st;
  memcpy(shape, a->idx->m.shape, sizeof shape);
  shape[dim] = 1;
  st = dt_mv_empty(s, &a->idx->m, a->idx->m.ndim, shape, &who);
  if (st == DT_OK)
    st = dt_mv_empty(s, &a->idx->m, a->idx->m.ndim, shape, &best);
  if (st == DT_OK && dt_tensor_has_data(a->val)) {
    st = dt_k_arg_reduce(s->cx, a->max, a->val, dim, NULL, who);
    if (st == DT_OK) st = dt_k_gather(s->cx, a->idx, dim, who, best);
  }
  dt_tensor_unref(s->cx, who);
  if (st != DT_OK) dt_tensor_unref(s->cx, best);
  else replace_tensor(s, &a->idx, best);
  return st;
}

static DtStatus find_index (Arg *a) {
  DtSession *s = a->s;
  bool gathers = false;
  DT_TRY(s->cx, check_types(a));
  DT_TRY(s->cx, reduce_local(a));
  for (int m = 0; m < a->spec->npl; m++) {
    DtPlacement p = a->spec->pl[m];
    DT_CHECK(s->cx, p.kind != DT_PL_STRIDED, DT_E_NOTIMPL,
             "%s does not support _StridedShard!", a->op->sig->full);
    if (p.kind != DT_PL_SHARD || (!a->all && p.dim != a->dim)) continue;
    if (!gathers) DT_TRY(s->cx, to_global(a));
    gathers = true;
    DT_TRY(s->cx, gather_dim(a, m));
  }
  return gathers ? take_best_index(a) : DT_OK;
}

/* The output variable: the index without the reduced dim, unless it is kept.
** The decided shape is not asked: on a mesh of several dimensions 2.14 and
** later decide a shard for a dim that is whole here (DT1014 tells). */
static DtStatus wrap_index (Arg *a, const DtProp *p, DtResults *out) {
  DtSession *s = a->s;
  DtMeta m = a->idx->m;
  int ndim = p->out[0]->meta.ndim;
  DtTensor *v;
  DtStatus st;
  if (a->all) {
    for (int i = 0; i < ndim; i++) m.shape[i] = 1;
  } else if (ndim < m.ndim) {
    memmove(m.shape + a->dim, m.shape + a->dim + 1,
            (size_t)(m.ndim - a->dim - 1) * sizeof m.shape[0]);
  }
  m.ndim = (uint8_t)ndim;
  dt_meta_set_contiguous(&m);
  DT_TRY(s->cx, dt_tensor_view(s->cx, a->idx, &m, a->idx->offset, &v));
  DT_TRY(s->cx, dt_results_init(s, out, 1));
  st = dt_var_result(s, v, p->out[0], &out->v[0]);
  dt_tensor_unref(s->cx, v);
  return st;
}

/* Partials are reduced first. */
static DtStatus without_partials (DtSession *s, DtVar *v, DtSpec **spec,
                                  DtTensor **t) {
  DtPlacement pl[DT_MAX_MDIM];
  const DtSpec *src = v->spec;
  DtStatus st;
  if (!dt_spec_has_partial(src)) {
    *spec = dt_spec_ref(src);
    *t = dt_tensor_ref(v->local);
    return DT_OK;
  }
  for (int i = 0; i < src->npl; i++)
    pl[i] = dt_pl_is_partial(src->pl[i]) ? dt_pl_replicate() : src->pl[i];
  DT_TRY(s->cx, dt_spec_make(s, src->mesh, src->npl, pl, &src->meta, -1,
                             spec));
  st = dt_redist_local(s, v->local, src, *spec, false, 0, t);
  if (st != DT_OK) dt_spec_unref(s->cx, *spec);
  return st;
}

DtStatus dt_handle_argminmax (DtSession *s, void *ud, const DtCall *c,
                              DtResults *out) {
  DtUnwrapped u;
  DtProp *p = NULL;
  DtSpec *spec = NULL;
  bool hit;
  DtStatus st;
  Arg a = { .s = s, .op = c->op, .args = c->args,
            .max = strcmp(c->op->sig->base, "argmax") == 0,
            .all = dt_arg_is_none(c->args, 1) };
  (void)ud;
  DT_TRY(s->cx, dt_unwrap(s, c, &u));
  st = dt_prop_cached(s->cx, s->prop,
                      &(DtOpSchema){ c->op, c->args, c->nin, u.spec }, &p,
                      &hit);
  dt_unwrap_fini(s, &u);
  if (st == DT_OK && !c->in[0]->spec->mesh->member) {
    st = dt_wrap_outside(s, c->op, p, out);
    dt_prop_unref(s->cx, p);
    return st;
  }
  if (st == DT_OK) st = without_partials(s, c->in[0], &spec, &a.t);
  if (st == DT_OK && !a.all)
    st = dt_meta_wrap_dim(s->cx, dt_arg_int(c->args, 1), a.t->m.ndim, &a.dim);
  a.spec = spec;
  if (st == DT_OK) st = find_index(&a);
  if (st == DT_OK) st = wrap_index(&a, p, out);
  dt_tensor_unref(s->cx, a.t);
  dt_tensor_unref(s->cx, a.val);
  dt_tensor_unref(s->cx, a.idx);
  dt_spec_unref(s->cx, spec);
  if (p != NULL) dt_prop_unref(s->cx, p);
  return st;
}
