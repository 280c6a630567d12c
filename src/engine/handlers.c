/* SPDX-License-Identifier: MIT
** engine/handlers.c: operators that are taken over before dispatch looks at
** their arguments, and the table that says which.
**
** The table belongs to the session: scripts put handlers in and take them out
** (loss_parallel, context_parallel). */
#include "base/error_shard.h"
#include "engine/engine_int.h"

#include <string.h>

typedef struct Handler { const DtOpDef *op; DtHandlerFn fn; void *ud; }
  Handler;

struct DtHandlers {
  Handler *h;
  int n, cap;
  const DtOpDef *sdpa, *equal, *item, *detach;
};

DtHandlerFn dt_handler_get (const DtSession *s, const DtOpDef *op,
                            void **ud) {
  const struct DtHandlers *t = s->handlers;
  for (int i = 0; i < t->n; i++)
    if (t->h[i].op == op) {
      *ud = t->h[i].ud;
      return t->h[i].fn;
    }
  return NULL;
}

DtStatus dt_handler_set (DtSession *s, const DtOpDef *op, DtHandlerFn fn,
                         void *ud) {
  struct DtHandlers *t = s->handlers;
  int i;
  for (i = 0; i < t->n && t->h[i].op != op; i++) { }
  if (fn == NULL) {
    if (i < t->n) t->h[i] = t->h[--t->n];
    return DT_OK;
  }
  if (i == t->cap) {
    int cap = t->cap ? t->cap * 2 : 16;
    Handler *h = dt_realloc(s->cx, t->h, (size_t)cap * sizeof *h);
    if (h == NULL) return DT_E_NOMEM;
    t->h = h;
    t->cap = cap;
  }
  if (i == t->n) t->n++;
  t->h[i] = (Handler){ op, fn, ud };
  return DT_OK;
}

/* --- the handlers --- */

static DtStatus same_size (DtSession *s, void *ud, const DtCall *c,
                           DtResults *out) {
  (void)ud;
  DT_ASSERT(s->cx, c->nin == 2);
  DT_TRY(s->cx, dt_results_init(s, out, 0));
  out->ret = dt_v_bool(dt_meta_same_shape(dt_var_meta(c->in[0]),
                                          dt_var_meta(c->in[1])));
  return DT_OK;
}

/* Asked of the local tensor, and no memory here is pinned. */
static DtStatus is_pinned (DtSession *s, void *ud, const DtCall *c,
                           DtResults *out) {
  (void)ud; (void)c;
  DT_TRY(s->cx, dt_results_init(s, out, 0));
  out->ret = dt_v_bool(false);
  return DT_OK;
}

static bool ints_equal (const DtArgs *args, int i, const int64_t *want,
                        int n) {
  int64_t have[DT_MAX_NDIM];
  if (dt_arg_len(args, i) != n || n > DT_MAX_NDIM) return false;
  (void)dt_arg_ints(args, i, have, DT_MAX_NDIM);
  return memcmp(have, want, (size_t)n * sizeof *want) == 0;
}

/* The order of dimensions that gives the sizes and strides asked for; false
** when there is none, or when two dimensions are alike. */
static bool find_order (const DtArgs *args, const DtMeta *m, int64_t *order) {
  int64_t size[DT_MAX_NDIM], stride[DT_MAX_NDIM];
  if (dt_arg_len(args, 1) != m->ndim || dt_arg_len(args, 2) != m->ndim)
    return false;
  (void)dt_arg_ints(args, 1, size, DT_MAX_NDIM);
  (void)dt_arg_ints(args, 2, stride, DT_MAX_NDIM);
  for (int j = 0; j < m->ndim; j++) {
    int found = 0;
    for (int i = 0; i < m->ndim; i++) {
      if (m->shape[i] != size[j] || m->stride[i] != stride[j]) continue;
      order[j] = i;
      found++;
    }
    if (found != 1) return false;
    for (int k = 0; k < j; k++)
      if (order[k] == order[j]) return false;
  }
  return true;
}

static DtStatus as_strided (DtSession *s, void *ud, const DtCall *c,
                            DtResults *out) {
  const DtMeta *m = dt_var_meta(c->in[0]);
  bool here = dt_arg_is_none(c->args, 3) ||
              dt_arg_int(c->args, 3) == c->in[0]->local->offset;
  bool same = here && ints_equal(c->args, 1, m->shape, m->ndim) &&
              ints_equal(c->args, 2, m->stride, m->ndim);
  int64_t order[DT_MAX_NDIM];
  DtVar *v;
  (void)ud;
  DT_CHECK(s->cx, same || (here && (c->op->flags & DT_OP_LATER) != 0 &&
                           find_order(c->args, m, order)),
           DT_E_RUNTIME, "as_strided not supported with DTensor");
  if (same)
    DT_TRY(s->cx, dt_call_fmt(s, &v, "aten.alias.default", "t", c->in[0]));
  else
    DT_TRY(s->cx, dt_call_fmt(s, &v, "aten.permute.default", "tI", c->in[0],
                              (int)m->ndim, order));
  DT_TRY(s->cx, dt_results_init(s, out, 1));
  out->v[0] = v;
  return DT_OK;
}

/* Combine found_inf over the ranks: R stays, everything else is a max. */
static DtStatus combine_found_inf (DtSession *s, const DtSpec *grad,
                                   DtVar *found) {
  DtPlacement pl[DT_MAX_MDIM], all[DT_MAX_MDIM];
  DtSpec *src = NULL, *dst = NULL;
  DtTensor *full = NULL;
  DtStatus st;
  for (int i = 0; i < grad->npl; i++) {
    all[i] = dt_pl_replicate();
    pl[i] = dt_pl_is_replicate(grad->pl[i]) ? grad->pl[i]
                                            : dt_pl_partial(DT_OP_MAX);
  }
  st = dt_spec_make(s, grad->mesh, grad->npl, pl, dt_var_meta(found), -1,
                    &src);
  if (st == DT_OK)
    st = dt_spec_make(s, grad->mesh, grad->npl, all, dt_var_meta(found), -1,
                      &dst);
  if (st == DT_OK)
    st = dt_redist_local(s, found->local, src, dst, false, 1, &full);
  if (st == DT_OK && full != found->local && dt_tensor_has_data(full))
    st = dt_k_copy(s->cx, full, found->local);
  dt_tensor_unref(s->cx, full);
  dt_spec_unref(s->cx, src);
  dt_spec_unref(s->cx, dst);
  return st;
}

static bool all_replicated (const DtSpec *spec) {
  for (int i = 0; i < spec->npl; i++)
    if (!dt_pl_is_replicate(spec->pl[i])) return false;
  return true;
}

/* _amp_foreach_non_finite_check_and_unscale_: gradients are scaled where they
** lie, and one flag for all ranks says whether any is not finite; a rank of its
** own opinion would step alone.  After
** torch/distributed/tensor/_dispatch.py:found_inf_reduce_handler. */
static DtStatus unscale_gradients (DtSession *s, void *ud, const DtCall *c,
                                   DtResults *out) {
  DtUnwrapped u;
  DtTensor **local, *none[1];
  DtArenaMark mark = dt_arena_mark(&s->cx->scratch);
  DtLocalOut nothing = { .v = none };
  int found = dt_arg_slot(c->args, 1);
  DtStatus st;
  (void)ud;
  DT_TRY(s->cx, dt_unwrap(s, c, &u));
  dt_unwrap_fini(s, &u);
  local = DT_ANEWN(s->cx, &s->cx->scratch, DtTensor *, c->nin + 1);
  st = local ? DT_OK : DT_E_NOMEM;
  for (int i = 0; i < c->nin && local; i++) local[i] = c->in[i]->local;
  if (st == DT_OK)
    st = dt_run_local(s, c->op, c->args, c->nin, local, &nothing);
  dt_arena_release(&s->cx->scratch, mark);
  if (st == DT_OK && c->nin > 0 && c->in[0]->spec == NULL)
    st = dt_raise(s->cx, DT_E_ATTR,
                  "'Tensor' object has no attribute 'placements'");
  if (st == DT_OK && c->nin > 0 && found >= 0 && c->in[found]->spec != NULL &&
      !all_replicated(c->in[0]->spec))
    st = dt_raise(s->cx, DT_E_MISSING, "Operator _c10d_functional.all_reduce."
                  "default does not have a sharding strategy registered.");
  if (st == DT_OK && c->nin > 0 && found >= 0)
    st = combine_found_inf(s, c->in[0]->spec, c->in[found]);
  if (st == DT_OK) st = dt_results_init(s, out, 0);
  return st;
}

/* --- scalars --- */

/* Everybody of the world must agree that the parts are equal (the default
** group, not the mesh's: as PyTorch). */
static DtStatus equal_everywhere (DtSession *s, bool member, DtValue *ret) {
  int64_t mine = member ? ret->u.b : 1, all = mine;
  DtCollInfo info = { "allreduce_", 8, "aten.equal.default", "", "" };
  if (!dt_session_no_data(s) && s->comm != NULL && dt_session_size(s) > 1)
    DT_TRY(s->cx, dt_comm_all_reduce(s->cx, dt_session_ranks(s), &info,
                                     &(DtReduction){ DT_OP_MIN, DT_I64, &mine,
                                                     &all, 1 }));
  *ret = dt_v_bool(all != 0);
  return DT_OK;
}

bool dt_handlers_reads (const DtSession *s, const DtOpDef *op) {
  return op == s->handlers->equal || op == s->handlers->item;
}

DtStatus dt_handlers_scalar (DtSession *s, const DtOpDef *op, bool member,
                             DtValue *ret) {
  if (op == s->handlers->equal) return equal_everywhere(s, member, ret);
  DT_CHECK(s->cx, member || op != s->handlers->item, DT_E_RUNTIME,
           "Cannot cast None to number");
  return DT_OK;
}

const DtOpDef *dt_handlers_sdpa (const DtSession *s) {
  return s->handlers->sdpa;
}

DtStatus dt_handlers_detach (DtSession *s, const DtOpDef *op,
                             const DtVar *v) {
  DT_CHECK(s->cx, op != s->handlers->detach || v == NULL ||
           v->view_base == NULL, DT_E_RUNTIME, "Can't detach views in-place. "
           "Use detach() instead. If you are using DistributedDataParallel "
           "(DDP) for training, and gradient_as_bucket_view is set as True, "
           "gradients are views of DDP buckets, and hence detach_() cannot be "
           "called on these gradients. To fix this error, please refer to the "
           "Optimizer.zero_grad() function in torch/optim/optimizer.py as the "
           "solution.");
  return DT_OK;
}

/* --- the table --- */

static const struct { const char *name; DtHandlerFn fn; } builtin[] = {
  { "aten.is_same_size.default", same_size },
  { "aten.is_pinned.default", is_pinned },
  { "aten.as_strided.default", as_strided },
  { "aten._amp_foreach_non_finite_check_and_unscale_.default",
   unscale_gradients },
  { "aten.argmin.default", dt_handle_argminmax },
  { "aten.argmax.default", dt_handle_argminmax },
  { "aten.convolution.default", dt_handle_conv },
  { "aten.convolution_backward.default", dt_handle_conv_backward },
};

static const DtOpDef *find_op (DtSession *s, const char *name) {
  const DtOpDef *op = dt_registry_find(s->cx, s->registry, name);
  if (op == NULL) dt_error_clear(s->cx);
  return op;
}

DtStatus dt_handlers_new (DtSession *s) {
  s->handlers = DT_NEW(s->cx, struct DtHandlers);
  if (s->handlers == NULL) return DT_E_NOMEM;
  for (size_t i = 0; i < sizeof builtin / sizeof builtin[0]; i++) {
    const DtOpDef *op = find_op(s, builtin[i].name);
    if (op == NULL) continue;
    DT_TRY(s->cx, dt_handler_set(s, op, builtin[i].fn, NULL));
  }
  s->handlers->sdpa = find_op(s, "aten.scaled_dot_product_attention.default");
  s->handlers->equal = find_op(s, "aten.equal.default");
  s->handlers->item = find_op(s, "aten._local_scalar_dense.default");
  s->handlers->detach = find_op(s, "aten.detach_.default");
  return DT_OK;
}

void dt_handlers_free (DtSession *s) {
  if (s->handlers == NULL) return;
  dt_free(s->cx, s->handlers->h);
  dt_free(s->cx, s->handlers);
  s->handlers = NULL;
}
