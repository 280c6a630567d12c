/* SPDX-License-Identifier: MIT
** oplib/op_second_norm.c: gradients of the gradients of layer and batch
** normalisation.
**
** With u = (x - mean) rstd, m the mean over the dims that are normalised, h =
** g weight, and P(v) = rstd (v - m(v) - u m(v u)), the gradients are dx = P(h),
** dweight = g u and dbias = g, both summed over the rest.  Given the gradients
** a, b, d of these three, those of what they were made of are
**   g: P(a) weight + b u + d          weight: P(a) g, summed
**   x: P(q) - rstd u m(a dx),         q = b g - rstd (a m(h u) + h m(a u)).
** Statistics that were given, not taken from x, are numbers: P(v) = rstd v.
** Types of 16 bits are computed in float32, as the kernels do.  The saved
** statistics have no graph.  Where this gradient is differentiated once more,
** layer norm takes them for numbers, as PyTorch does; batch norm, where PyTorch
** refuses, takes them from x again. */
#include "oplib/grading.h"
#include "oplib/oplib_int.h"
#include "oplib/second.h"

typedef struct Norm {
  DtGradCall *c;
  DtHandle *x, *g, *weight;     /* weight beside x; NULL: none */
  DtHandle *mean, *rstd;        /* beside x */
  DtHandle *a, *b, *d;          /* gradients of dx, dweight, dbias, beside x;
                                ** NULL: none */
  bool given;                   /* statistics that are not those of x */
  int ndims;
  int64_t dim[DT_MAX_NDIM];     /* the dims that are normalised */
  DtHandle *to_g, *to_x, *to_weight;    /* out; the last before its sum */
} Norm;

static DtHandle *average (Norm *v, DtHandle *h) {
  if (h == NULL) return NULL;
  return dt_emit(v->c->e, "aten.mean.dim", "tIb", h, v->ndims, v->dim, 1);
}

/* The gradient of the input for the gradient h of u. */
static DtHandle *project (Norm *v, DtHandle *u, DtHandle *h) {
  DtGradCall *c = v->c;
  if (!v->given && h != NULL)
    h = sub(c, sub(c, h, average(v, h)), mul(c, u, average(v, mul(c, h, u))));
  return mul(c, v->rstd, h);
}

static DtHandle *widen (Norm *v, DtHandle *h) {
  const DtMeta *m = h != NULL ? dt_emit_meta(v->c->e, h) : NULL;
  if (m == NULL || !dt_emit_ok(v->c->e) ||
      dt_dtype_size((DtDtype)m->dtype) > 2)
    return h;
  return dt_emit(v->c->e, "aten._to_copy.default", "t dtype=d", h, (int)DT_F32);
}

static void widen_all (Norm *v) {
  DtHandle **all[] = { &v->x, &v->g, &v->weight, &v->mean, &v->rstd, &v->a,
                       &v->b, &v->d };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    *all[i] = widen(v, *all[i]);
}

static void find_gradients (Norm *v) {
  DtGradCall *c = v->c;
  widen_all(v);
  DtHandle *u = mul(c, sub(c, v->x, v->mean), v->rstd);
  DtHandle *pa = project(v, u, v->a), *q = mul(c, v->b, v->g);
  DtHandle *weighted = v->weight ? mul(c, pa, v->weight) : pa;
  v->to_g = add(c, add(c, weighted, mul(c, v->b, u)), v->d);
  v->to_weight = mul(c, pa, v->g);
  if (v->given || v->a == NULL) {
    v->to_x = project(v, u, q);
    return;
  }
  DtHandle *h = v->weight ? mul(c, v->g, v->weight) : v->g;
  DtHandle *turn = add(c, mul(c, v->a, average(v, mul(c, h, u))),
                       mul(c, h, average(v, mul(c, v->a, u))));
  q = sub(c, q, mul(c, v->rstd, turn));
  DtHandle *along = average(v, mul(c, v->a, project(v, u, h)));
  v->to_x = sub(c, project(v, u, q), mul(c, mul(c, v->rstd, u), along));
}

/* grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask */
DtStatus op_gg_layer_norm_backward (DtGradCall *c) {
  Norm v = { .c = c, .x = dt_gin(c, 1), .g = dt_gin(c, 0), .mean = dt_gin(c, 3),
             .rstd = dt_gin(c, 4), .weight = dt_gin(c, 5), .a = c->gout[0],
             .b = c->gout[1], .d = c->gout[2] };
  const DtMeta *m = dt_emit_meta(c->e, v.x);
  if (!dt_emit_ok(c->e)) return c->e->st;
  v.ndims = dt_arg_len(c->args, 2);
  for (int i = 0; i < v.ndims; i++) v.dim[i] = m->ndim - v.ndims + i;
  find_gradients(&v);
  op_g_set(c, 0, v.to_g);
  op_g_set(c, 1, v.to_x);
  op_g_set(c, 5, v.to_weight);
  for (int i = 3; i <= 4; i++)
    DT_CHECK(c->e->cx, !op_g_need(c, i), DT_E_NOTIMPL, "the derivative for "
             "'native_layer_norm_backward %s' is not implemented.",
             i == 3 ? "mean" : "rstd");
  return op_g_finish(c);
}

/* One number a channel beside a tensor [N, C, ...]. */
static DtHandle *put_beside (DtGradCall *c, DtHandle *h, int ndim) {
  int64_t shape[DT_MAX_NDIM] = { -1 };
  if (h == NULL) return NULL;
  for (int i = 1; i < ndim - 1; i++) shape[i] = 1;
  return EMIT("aten.view.default", "tI", h, ndim - 1, shape);
}

/* grad_out, input, weight, running_mean, running_var, save_mean, save_invstd,
** train, eps, output_mask */
DtStatus op_gg_batch_norm_backward (DtGradCall *c) {
  bool train = dt_arg_bool(c->args, 7);
  DtHandle *x = dt_gin(c, 1);
  const DtMeta *m = dt_emit_meta(c->e, x);
  if (!dt_emit_ok(c->e)) return c->e->st;
  int nd = m->ndim;
  int64_t dims[DT_MAX_NDIM] = { 0 };
  for (int d = 2; d < nd; d++) dims[d - 1] = d;
  DtHandle *mean = dt_gin(c, train ? 5 : 3), *rstd = dt_gin(c, 6);
  DtHandle *var = train ? NULL : dt_gin(c, 4);
  if (train && c->e->recorded) {
    mean = EMIT("aten.mean.dim", "tI", x, nd - 1, dims);
    var = EMIT("aten.var.correction", "tI correction=i", x, nd - 1, dims,
               (int64_t)0);
  }
  if (var)
    rstd = EMIT("aten.rsqrt.default", "t",
                EMIT("aten.add.Scalar", "tf", var, dt_arg_float(c->args, 8)));
  Norm v = { .c = c, .x = x, .g = dt_gin(c, 0), .given = !train,
             .weight = put_beside(c, dt_gin(c, 2), nd),
             .mean = put_beside(c, mean, nd), .rstd = put_beside(c, rstd, nd),
             .a = c->gout[0], .b = put_beside(c, c->gout[1], nd),
             .d = put_beside(c, c->gout[2], nd) };
  for (; v.ndims < nd - 1; v.ndims++) v.dim[v.ndims] = dims[v.ndims];
  find_gradients(&v);
  op_g_set(c, 0, v.to_g);
  op_g_set(c, 1, v.to_x);
  if (op_g_need(c, 2) && v.to_weight)
    op_g_set(c, 2, EMIT("aten.sum.dim_IntList", "tI", v.to_weight, v.ndims,
                        v.dim));
  return op_g_finish(c);
}
