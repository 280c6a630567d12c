/* SPDX-License-Identifier: MIT
** oplib/op_slices_grad.c: gradients of operators that change whole slices of a
** dim: index_reduce and renorm.  The calls come in PyTorch's order. */
#include "oplib/op_slices_grad.h"
#include "oplib/op_unwritten.h"

#include <string.h>

#define SELF (dt_gin(c, 0))

/* ---- index_reduce(self, dim, index, source, reduce) ---- */

#define SOURCE (dt_gin(c, 3))

static DtHandle *select_at (DtGradCall *c, DtHandle *h) {
  return EMIT("aten.index_select.default", "tvt", h, c->args->v[1],
              dt_gin(c, 2));
}
static DtHandle *add_at (DtGradCall *c, DtHandle *to, DtHandle *h) {
  return EMIT("aten.index_add.default", "tvtt", to, c->args->v[1],
              dt_gin(c, 2), h);
}
static DtHandle *reduce_at (DtGradCall *c, DtHandle *to, DtHandle *h) {
  return EMIT("aten.index_reduce.default", "tvtts include_self=v", to,
              c->args->v[1], dt_gin(c, 2), h, "prod", c->args->v[5]);
}
static DtHandle *to_self_type (DtGradCall *c, DtHandle *h) {
  return EMIT("aten._to_copy.default", "t dtype=d", h,
              (int)dt_emit_meta(c->e, SELF)->dtype);
}

static void mean_grad (DtGradCall *c, DtHandle **gs, DtHandle **gx) {
  DtHandle *n = EMIT(dt_arg_bool(c->args, 5) ? "aten.ones_like.default"
                                             : "aten.zeros_like.default",
                     "t", GOUT);
  n = add_at(c, n, EMIT("aten.ones_like.default", "t", SOURCE));
  DtHandle *z = EMIT("aten.eq.Scalar", "ti", n, (int64_t)0);
  n = EMIT("aten.masked_fill_.Scalar", "tti", n, z, (int64_t)1);
  *gs = EMIT("aten.div.Tensor", "tt", GOUT, n);
  z = select_at(c, GOUT);
  *gx = EMIT("aten.div.Tensor", "tt", z, select_at(c, n));
}

/* The gradient is shared by all that are the extreme. */
static void extreme_grad (DtGradCall *c, DtHandle **gs, DtHandle **gx) {
  DtHandle *value = select_at(c, c->out[0]);
  DtHandle *a = to_self_type(c, EMIT("aten.eq.Tensor", "tt", SELF, c->out[0]));
  DtHandle *b = to_self_type(c, EMIT("aten.eq.Tensor", "tt", SOURCE, value));
  DtHandle *g = EMIT("aten.div.Tensor", "tt", GOUT, add_at(c, a, b));
  *gs = EMIT("aten.mul.Tensor", "tt", a, g);
  *gx = EMIT("aten.mul.Tensor", "tt", b, select_at(c, g));
}

/* What is left without one factor; a single zero among the factors keeps a
** gradient, so zeros are counted apart. */
static void product_grad (DtGradCall *c, DtHandle **gs, DtHandle **gx) {
  DtHandle *z = EMIT("aten.eq.Scalar", "ti", SELF, (int64_t)0);
  DtHandle *m = EMIT("aten.masked_fill.Scalar", "tti", SELF, z, (int64_t)1);
  DtHandle *r = EMIT("aten.mul.Tensor", "tt", GOUT, reduce_at(c, m, SOURCE));
  *gs = EMIT("aten.div.Tensor", "tt", r, m);
  z = EMIT("aten.eq.Scalar", "ti", SOURCE, (int64_t)0);
  DtHandle *n = EMIT("aten.zeros_like.default", "t", SELF);
  n = select_at(c, add_at(c, n, to_self_type(c, z)));
  n = EMIT("aten.eq.Scalar", "ti", n, (int64_t)1);
  DtHandle *single = EMIT("aten.bitwise_and.Tensor", "tt", z, n);
  r = EMIT("aten.masked_fill.Scalar", "tti", SOURCE, single, (int64_t)1);
  r = EMIT("aten.mul.Tensor", "tt", GOUT, reduce_at(c, SELF, r));
  r = select_at(c, r);
  n = select_at(c, EMIT("aten.mul.Tensor", "tt", GOUT, c->out[0]));
  m = EMIT("aten.masked_fill.Scalar", "tti", SOURCE, z, (int64_t)1);
  n = EMIT("aten.div.Tensor", "tt", n, m);
  *gx = EMIT("aten.where.self", "ttt", single, r, n);
}

DtStatus op_g_index_reduce (DtGradCall *c) {
  const char *how = dt_arg_str(c->args, 4);
  DtHandle *gs = NULL, *gx = NULL;
  if (strcmp(how, "mean") == 0) mean_grad(c, &gs, &gx);
  else if (strcmp(how, "prod") == 0) product_grad(c, &gs, &gx);
  else extreme_grad(c, &gs, &gx);
  if (!dt_arg_bool(c->args, 5) && op_g_need(c, 0))
    gs = EMIT("aten.index_fill.int_Scalar", "tvti", gs, c->args->v[1],
              dt_gin(c, 2), (int64_t)0);
  op_g_set(c, 0, gs);
  op_g_set(c, 3, gx);
  return op_g_finish(c);
}

/* ---- renorm(self, p, dim, maxnorm) ---- */

/* Slices that are scaled lose what lies along them; others pass.  Norms are in
** the type that sums are in, which float32 has wider than itself on a CPU. */
DtStatus op_g_renorm (DtGradCall *c) {
  double p = dt_arg_float(c->args, 1), most = dt_arg_float(c->args, 3);
  int64_t dims[DT_MAX_NDIM];
  DtMeta m;
  int d, n = 0;
  dt_meta_copy(&m, dt_emit_meta(c->e, SELF));
  if (dt_dtype_is_complex((DtDtype)m.dtype)) return op_g_unwritten(c);
  DT_TRY(c->e->cx, op_dim(c->e->cx, c->args, 2, m.ndim, &d));
  uint32_t mask = ((1u << m.ndim) - 1) & ~(1u << d);
  for (int i = 0; i < m.ndim; i++)
    if (i != d) dims[n++] = i;
  DtDtype t = (DtDtype)m.dtype, wide = t == DT_F32 ? DT_F64 : dt_dtype_acc(t);
  DtHandle *norm = EMIT("aten.linalg_vector_norm.default", "tfIb dtype=d", SELF,
                        p, n, dims, 1, (int)wide);
  DtHandle *along = EMIT("aten.mul.Tensor", "tt", SELF, GOUT);
  along = EMIT("aten.sum.dim_IntList", "tIb dtype=d", along, n, dims, 1,
               (int)wide);
  along = op_g_norm(c, SELF, along, norm, p, mask);
  DtHandle *inv = EMIT("aten.add.Scalar", "tf", norm, 1e-7);
  inv = EMIT("aten.reciprocal.default", "t", inv);
  DtHandle *g = EMIT("aten.mul.Tensor", "tt", inv, along);
  g = EMIT("aten.sub.Tensor", "tt", GOUT, g);
  g = EMIT("aten.mul.Tensor", "tt", EMIT("aten.mul.Scalar", "tf", inv, most),
           g);
  if (t != wide) g = EMIT("aten._to_copy.default", "t dtype=d", g, (int)t);
  DtHandle *large = EMIT("aten.gt.Scalar", "tf", norm, most);
  op_g_set(c, 0, EMIT("aten.where.self", "ttt", large, g, GOUT));
  return op_g_finish(c);
}
