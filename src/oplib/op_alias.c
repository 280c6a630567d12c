/* SPDX-License-Identifier: MIT
** oplib/op_alias.c: windows of a dim, views of given strides, detach_.
**
** The views have no strategy in PyTorch. */
#include "base/sat.h"
#include "oplib/op_unwritten.h"

#include <math.h>
#include <string.h>

#define IN (dt_gin(c, 0))

/* ---- unfold: windows of a dim as a last dim ---- */

static DtStatus unfold_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  DtMeta *o = &c->out[0];
  int64_t size = dt_arg_int(c->args, 2), step = dt_arg_int(c->args, 3), have;
  int d;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, m->ndim, &d));
  have = m->ndim ? m->shape[d] : 1;
  DT_CHECK(c->cx, size >= 0, DT_E_RUNTIME, "size is %lld but must be >= 0",
           (long long)size);
  DT_CHECK(c->cx, size <= have, DT_E_RUNTIME, "maximum size for tensor at "
           "dimension %d is %lld but size is %lld", d, (long long)have,
           (long long)size);
  DT_CHECK(c->cx, step > 0, DT_E_RUNTIME, "step is %lld but must be > 0",
           (long long)step);
  DT_CHECK(c->cx, m->ndim < DT_MAX_NDIM, DT_E_LIMIT, "at most %d dimensions",
           DT_MAX_NDIM);
  dt_meta_copy(o, m);
  o->wrapped = false;
  o->ndim++;
  o->shape[m->ndim] = size;
  o->stride[m->ndim] = m->ndim ? m->stride[d] : 1;
  if (m->ndim) {
    o->shape[d] = (have - size) / step + 1;
    o->stride[d] = dt_sat_mul(m->stride[d], step);
  }
  c->nout = 1;
  return DT_OK;
}
static DtStatus unfold_grad (DtGradCall *c) {
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, IN));
  op_g_set(c, 0, EMIT("aten.unfold_backward.default", "tIvvv", GOUT,
                      (int)m.ndim,
                      m.shape, c->args->v[1], c->args->v[2], c->args->v[3]));
  return op_g_finish(c);
}

static DtStatus unfold_back_meta (DtMetaCall *c) {
  int64_t shape[DT_MAX_NDIM];
  int n = op_ints(c->args, 1, shape);
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)c->in[0]->dtype, n, shape,
                     c->in[0]);
}
/* Windows may share elements: they are added one after the other. */
static DtStatus unfold_back_kernel (DtKernelCall *c) {
  DtTensor *o = c->out[0], *g = c->in[0];
  int64_t step = dt_arg_int(c->args, 4), shape[DT_MAX_NDIM];
  DtScalar one[4] = { dt_scalar_int(1) };
  int d, nd = o->m.ndim;
  DT_TRY(c->cx, dt_k_fill(c->cx, o, dt_scalar_int(0)));
  DT_TRY(c->cx, op_dim(c->cx, c->args, 2, nd, &d));
  if (nd == 0)                  /* one window of the number, or none */
    return dt_k_reduce(c->cx, DT_RED_SUM, NULL, g, 1u, o);
  memcpy(shape, o->m.shape, sizeof *shape * (size_t)nd);
  shape[d] = g->m.shape[nd];
  for (int64_t i = 0; i < g->m.shape[d]; i++) {
    DtTensor *to = NULL, *from = NULL;
    int64_t stride[DT_MAX_NDIM];
    DtStatus st;
    memcpy(stride, g->m.stride, sizeof *stride * (size_t)nd);
    stride[d] = g->m.stride[nd];
    DT_TRYG(c->cx, op_restride(c->cx, o, nd, shape, o->m.stride,
                               i * dt_sat_mul(step, o->m.stride[d]), &to));
    DT_TRYG(c->cx, op_restride(c->cx, g, nd, shape, stride,
                               i * g->m.stride[d], &from));
    DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_add, (DtDtype)o->m.dtype, one, to,
                               from, to));
done:
    dt_tensor_unref(c->cx, to);
    dt_tensor_unref(c->cx, from);
    if (st != DT_OK) return st;
  }
  return DT_OK;
}

/* ---- passing through ---- */

static DtStatus pass_strategy (DtStratCall *c) {
  return op_s_one(c, c->in[0]->pl, c->in[0]->pl, NAN);
}

static DtStatus reshape_alias_meta (DtMetaCall *c) {
  int64_t shape[DT_MAX_NDIM], stride[DT_MAX_NDIM];
  int n = op_ints(c->args, 1, shape), k = op_ints(c->args, 2, stride);
  DT_CHECK(c->cx, n == k, DT_E_RUNTIME,
           "mismatch in length of strides and shape");
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[0], (DtDtype)c->in[0]->dtype, n,
                            shape, c->in[0]));
  memcpy(c->out[0].stride, stride, sizeof *stride * (size_t)n);
  c->nout = 1;
  return DT_OK;
}
static DtStatus reshape_alias_grad (DtGradCall *c) {
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, IN));
  op_g_set(c, 0, EMIT("aten.view.default", "tI", GOUT, (int)m.ndim, m.shape));
  return op_g_finish(c);
}

static const char *const unfold_samples[] = { "f32[8, 6], 0, 3, 2",
                                              "f32[7], 0, 2, 1", NULL };
static DtStatus unfold_back_grad (DtGradCall *c) {
  const DtValue *v = c->args->v;
  op_g_set(c, 0, dt_emit(c->e, "aten.unfold.default", "tvvv", c->gout[0], v[2],
                         v[3], v[4]));
  return op_g_finish(c);
}

static const char *const unfold_back_samples[] = {
  "f32[3, 6, 3], [8, 6], 0, 3, 2", NULL
};
static const char *const alias_samples[] = { "f32[8, 6], [48], [1]", NULL };

OP_DEF(unfold, "aten::unfold(Tensor(a) self, int dimension, int size, int "
       "step) -> Tensor(a)", "Windows along a dim, as a last dim.",
       DT_OP_VIEW | DT_OP_NOSTRATEGY, unfold_meta, NULL, unfold_grad,
       unfold_samples, .row = NULL);
OP_DEF(unfold_copy, "aten::unfold_copy(Tensor self, int dimension, int size, "
       "int step) -> Tensor", "A copy of the windows of a dim, as a last dim.",
       DT_OP_NOSTRATEGY, NULL, NULL, unfold_grad, unfold_samples,
       .decomp = op_d_program,
       .program = "x = unfold(self, dimension, size, step); "
                  "clone(x, memory_format=!contiguous_format)");
OP_DEF(unfold_backward, "aten::unfold_backward(Tensor grad_in, SymInt[] "
       "input_sizes, int dim, int size, int step) -> Tensor",
       "Gradient of unfold.", DT_OP_NOSTRATEGY, unfold_back_meta,
       unfold_back_kernel, unfold_back_grad, unfold_back_samples, .row = NULL);
OP_DEF(_reshape_alias, "aten::_reshape_alias(Tensor(a) self, SymInt[] size, "
       "SymInt[] stride) -> Tensor(a)", "A view of given strides.",
       DT_OP_VIEW | DT_OP_NOSTRATEGY, reshape_alias_meta, NULL,
       reshape_alias_grad, alias_samples, .row = NULL);
OP_DEF(detach_, "aten::detach_(Tensor(a!) self) -> Tensor(a!)",
       "The tensor itself, without history from now on.",
       DT_OP_INPLACE | DT_OP_NOGRAD | DT_OP_ALIAS_SAFE, op_meta_inplace, op_k_nothing, NULL,
       op_samples_unary, .strategy = pass_strategy);
