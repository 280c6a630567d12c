/* SPDX-License-Identifier: MIT
** oplib/op_reduce_composite.c: reductions and normalisations made of
** others: aminmax, trace, rot90, count_nonzero, var_mean by dims, renorm, weight
** norm, batch and instance norm as users call them.
**
** What PyTorch computes in one kernel but decides by a decomposition is an
** operator with that decomposition and no kernel of its own. */
#include "base/sat.h"
#include "oplib/op_slices_grad.h"
#include "oplib/op_spatial.h"
#include "oplib/op_unwritten.h"
#include "oplib/emitting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>


/* ---- aminmax, count_nonzero, trace, rot90 ---- */

static DtStatus aminmax_decomp (DtDecompCall *c) {
  static const char *const op[] = { "aten.amin.default", "aten.amax.default" };
  bool keep = dt_arg_bool(c->args, 2), all = dt_arg_is_none(c->args, 1);
  DtMeta m = meta_of(c, c->in[0]);
  int64_t d = all ? 0 : dt_arg_int(c->args, 1);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, !all || dt_meta_numel(&m) > 0, DT_E_RUNTIME, "aminmax(): cannot "
           "compute aminmax over an empty dimension as the operation has no "
           "identity.");
  int64_t at = d < 0 ? d + m.ndim : d;
  DT_CHECK(CX, all || c->e->pretend || at < 0 || at >= m.ndim || m.shape[at] > 0,
           DT_E_INDEX, "aminmax: Expected reduction dim %lld to have non-zero "
           "size.", (long long)at);
  for (int i = 0; i < 2; i++)
    c->out[i] = all ? EMIT(op[i], keep ? "tIb" : "t", c->in[0], 0,
                           (int64_t *)NULL, 1)
                    : EMIT(op[i], "tIb", c->in[0], 1, &d, (int)keep);
  c->nout = 2;
  return c->e->st;
}

/* The gradient of one extreme, shared by the elements that are it. */
static DtHandle *extreme_share (DtGradCall *c, int k) {
  bool all = dt_arg_is_none(c->args, 1), keep = dt_arg_bool(c->args, 2);
  int64_t dims[DT_MAX_NDIM], shape[DT_MAX_NDIM];
  DtHandle *g = c->gout[k], *r = c->out[k], *x;
  DtMeta m;
  int n = 0, at = 0;
  dt_meta_copy(&m, dt_emit_meta(c->e, c->in[0]));
  if (!all && op_dim(c->e->cx, c->args, 1, m.ndim, &at) != DT_OK) {
    c->e->st = DT_E_INDEX;
    return NULL;
  }
  for (int d = 0; d < m.ndim; d++) {
    bool gone = all || d == at;
    shape[d] = gone ? 1 : m.shape[d];
    if (gone) dims[n++] = d;
  }
  int lead = m.ndim;
  if (m.ndim == 0 && !all) {    /* a number has the dim 0 here */
    shape[0] = 1;
    lead = n = 1;
    dims[0] = 0;
  }
  if (!keep) {
    g = EMIT("aten.view.default", "tI", g, lead, shape);
    r = EMIT("aten.view.default", "tI", r, lead, shape);
  }
  x = EMIT("aten.eq.Tensor", "tt", c->in[0], r);
  r = EMIT("aten.sum.dim_IntList", "tIb", x, n, dims, 1);
  g = EMIT("aten.div.Tensor", "tt", g, r);
  return EMIT("aten.mul.Tensor", "tt", g, x);
}

static DtStatus aminmax_grad (DtGradCall *c) {
  DtHandle *g = c->gout[0] ? extreme_share(c, 0) : NULL;
  DtHandle *h = c->gout[1] ? extreme_share(c, 1) : NULL;
  op_g_set(c, 0, g && h ? EMIT("aten.add.Tensor", "tt", g, h) : g ? g : h);
  return op_g_finish(c);
}

static DtStatus count_decomp (DtDecompCall *c) {
  DtHandle *h = EMIT("aten.ne.Scalar", "ti", c->in[0], (int64_t)0);
  int64_t d = dt_arg_int_or(c->args, 1, 0);
  if (dt_arg_is_none(c->args, 1))
    return finish(c, EMIT("aten.sum.dim_IntList", "tn", h));
  return finish(c, EMIT("aten.sum.dim_IntList", "tI", h, 1, &d));
}

static DtStatus trace_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.ndim == 2, DT_E_RUNTIME, "trace: expected a matrix, but got "
           "tensor with dim %d", m.ndim);
  DT_CHECK(CX, c->e->tracing || m.dtype != DT_BOOL, DT_E_NOTIMPL,
           "\"trace\" not implemented for 'Bool'");
  DtHandle *h = EMIT("aten.diagonal_copy.default", "t", c->in[0]);
  return finish(c, EMIT("aten.sum.default", "t", h));
}
/* The gradient written along the diagonal of flat zeros. */
static DtStatus trace_grad (DtGradCall *c) {
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, c->in[0]));
  int64_t n = dt_meta_numel(&m), zero = 0;
  DtHandle *z = EMIT("aten.zeros.default", "I dtype=d", 1, &n, (int)m.dtype);
  int64_t step = m.ndim > 1 ? m.shape[1] + 1 : 1;
  int64_t last = m.ndim > 1 && m.shape[0] < m.shape[1] ? m.shape[0]
               : m.ndim > 1 ? m.shape[1] : n;
  DtHandle *i = EMIT("aten.arange.start_step", "iii dtype=d", zero,
                     last * step,
                     step, (int)DT_I64);
  z = EMIT("aten.index_fill.int_Tensor", "titt", z, zero, i, c->gout[0]);
  op_g_set(c, 0, EMIT("aten.view.default", "tI", z, (int)m.ndim, m.shape));
  return op_g_finish(c);
}

static DtStatus rot90_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int64_t dims[DT_MAX_NDIM], k = dt_arg_int(c->args, 1);
  int n = op_ints(c->args, 2, dims), d[2];
  DtHandle *h = c->in[0];
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, n == 2, DT_E_RUNTIME, "expected total rotation dims == 2, but "
           "got dims = %d", n);
  DT_CHECK(CX, m.ndim >= 2, DT_E_RUNTIME,
           "expected total dims >= 2, but got total dims = %d", m.ndim);
  DT_CHECK(CX, dims[0] != dims[1] && llabs(dims[0] - dims[1]) != m.ndim,
           DT_E_RUNTIME, "expected rotation dims to be different, but got dim0 "
           "= %lld and dim1 = %lld", (long long)dims[0], (long long)dims[1]);
  for (int i = 0; i < 2; i++) {
    DT_CHECK(CX, dims[i] < m.ndim && dims[i] >= -m.ndim, DT_E_RUNTIME,
             "Rotation dim%d out of range, dim%d = %lld", i, i,
             (long long)dims[i]);
    d[i] = (int)(dims[i] < 0 ? dims[i] + m.ndim : dims[i]);
    dims[i] = d[i];
  }
  k = ((k % 4) + 4) % 4;
  if (k == 2) return finish(c, EMIT("aten.flip.default", "tI", h, 2, dims));
  if (k == 0) {
    DtValue f = dt_v_none();
    f.kind = DT_V_MEMFMT;
    f.u.i = DT_MF_CONTIGUOUS;
    return finish(c, EMIT("aten.clone.default", "t memory_format=v", h, f));
  }
  h = EMIT("aten.flip.default", "tI", h, 1, &dims[k == 1]);
  h = EMIT("aten.transpose.int", "tii", h, dims[0], dims[1]);
  return finish(c, h);
}
static DtStatus rot90_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten.rot90.default", "tiv", c->gout[0],
                      -dt_arg_int(c->args, 1), c->args->v[2]));
  return op_g_finish(c);
}

/* ---- var_mean by dims ---- */

/* Traced as PyTorch's reference does, with the mean's sum apart. */
static DtStatus var_mean_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  bool dims = c->op->row[0] != 0;
  bool keep = dims && dt_arg_bool(c->args, 3);
  double k = dt_arg_bool(c->args, dims ? 2 : 1) ? 1 : 0;
  int64_t v[DT_MAX_NDIM], count = 1;
  int n = dims ? op_ints(c->args, 1, v) : 0;
  if (!dt_emit_ok(c->e)) return c->e->st;
  c->out[0] = c->out[1] = NULL;
  c->nout = 2;
  if (!c->e->tracing) {
    dt_emit_n(c->e, "aten.var_mean.correction", c->out, 2,
              "tv correction=i keepdim=b", c->in[0],
              dims ? c->args->v[1] : dt_v_none(), (int64_t)k, (int)keep);
    return c->e->st;
  }
  DT_CHECK(CX, !keep, DT_E_NOTIMPL, "var_mean cannot be traced with keepdim");
  for (int i = 0; i < n; i++) {
    int d;
    DT_TRY(CX, dt_meta_wrap_dim(CX, v[i], m.ndim, &d));
    v[i] = d;
  }
  if (n == 0)
    for (n = 0; n < m.ndim; n++) v[n] = n;
  for (int i = 0; i < n; i++) count *= m.ndim ? m.shape[v[i]] : 1;
  c->out[0] = EMIT("prims.var.default", "tIf", c->in[0], n, v, k);
  c->out[1] = EMIT("prims.sum.default", "tI", c->in[0], n, v);
  c->out[1] = EMIT("prims.div.default", "tf", c->out[1], (double)count);
  return c->e->st;
}

/* ---- norms ---- */

static DtStatus renorm_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  double p = dt_arg_float(c->args, 1), most = dt_arg_float(c->args, 3);
  int d;
  DT_CHECK(c->cx, p > 0, DT_E_RUNTIME, "renorm: non-positive-norm not "
           "supported");
  DT_CHECK(c->cx, most >= 0, DT_E_RUNTIME,
           "renorm: expected maxnorm to be >= 0 but got %g", most);
  DT_CHECK(c->cx, m->ndim > 1, DT_E_RUNTIME, "renorm: input needs at least 2 "
           "dimensions, got %d dimensions", m->ndim);
  DT_TRY(c->cx, op_dim(c->cx, c->args, 2, m->ndim, &d));
  DT_CHECK_SAY(c->cx, dt_dtype_is_float((DtDtype)m->dtype) ||
               dt_dtype_is_complex((DtDtype)m->dtype), DT_E_RUNTIME,
               WANTS_FLOATS, "linalg.vector_norm",
               op_dtype_word((DtDtype)m->dtype));
  op_like_meta(&c->out[0], m, (DtDtype)m->dtype);
  dt_meta_set_contiguous(&c->out[0]);
  c->nout = 1;
  return DT_OK;
}
/* Slices of a dim whose norm is too large are scaled down to it. */
static DtStatus renorm_kernel (DtKernelCall *c) {
  DtTensor *in = c->in[0], *norm = NULL;
  DtScalar p[4] = { dt_arg_scalar(c->args, 1) }, none[4] = { { 0 } };
  double most = dt_arg_float(c->args, 3);
  int64_t shape[DT_MAX_NDIM];
  int d, nd = in->m.ndim;
  void *v;
  DtStatus st;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 2, nd, &d));
  for (int i = 0; i < nd; i++) shape[i] = i == d ? in->m.shape[d] : 1;
  DT_TRYG(c->cx, op_temp(c->cx, DT_F64, nd, shape, &norm));
  DT_TRYG(c->cx, dt_k_reduce(c->cx, DT_RED_NORM, p, in,
                             (uint32_t)((1u << nd) - 1) & ~(1u << d), norm));
  DT_TRYG(c->cx, dt_tensor_data(c->cx, norm, &v));
  for (int64_t i = 0; v && i < shape[d]; i++) {
    double *x = (double *)v + i;
    *x = *x > most ? most / (*x + 1e-7) : 1;
  }
  DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_mul, dt_dtype_acc(
                             (DtDtype)in->m.dtype), none, in, norm,
                             c->out[0]));
done:
  dt_tensor_unref(c->cx, norm);
  return st;
}

/* PyTorch's kernel reads memory in order, whatever the strides say. */
static DtHandle *as_it_lies (DtDecompCall *c, DtHandle *h) {
  DtMeta m = meta_of(c, h), dense = m;
  dt_meta_set_contiguous(&dense);
  if (c->e->tracing || !dt_emit_ok(c->e) || dt_meta_is_contiguous(&m)) return h;
  return EMIT("aten.as_strided.default", "tII", h, (int)m.ndim, m.shape,
              (int)m.ndim, dense.stride);
}

static DtStatus weight_norm_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int64_t dims[DT_MAX_NDIM];
  DtDtype t = (DtDtype)m.dtype;
  int d, n = 0;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_TRY(CX, op_dim(CX, c->args, 2, m.ndim, &d));
  for (int i = 0; i < m.ndim; i++)
    if (i != d) dims[n++] = i;
  if (!c->e->tracing) {
    DtDtype u = (DtDtype)meta_of(c, c->in[1]).dtype;
    DT_TRY(CX, op_sp_dtype(CX, "weight_norm_kernel", t, OP_T_FLOAT));
    DT_CHECK(CX, t == u, DT_E_RUNTIME, "expected scalar type %s but found %s",
             op_dtype_word(t), op_dtype_word(u));
  }
  DtDtype wide = dt_dtype_acc(t);
  bool narrow = !c->e->tracing && wide != t;    /* its norms are wide */
  DtHandle *v = as_it_lies(c, c->in[0]), *g = as_it_lies(c, c->in[1]);
  DtHandle *h = narrow
    ? EMIT("aten.linalg_vector_norm.default", "tiIb dtype=d", v, (int64_t)2, n,
           dims, 1, (int)wide)
    : EMIT("aten.linalg_vector_norm.default", "tiIb", v, (int64_t)2, n, dims,
           1);
  DtHandle *q = EMIT("aten.mul.Tensor", "tt", v, EMIT("aten.div.Tensor", "tt", g, h));
  if (narrow) q = EMIT("aten._to_copy.default", "t dtype=d", q, (int)t);
  c->out[0] = c->e->tracing ? q : EMIT("aten.contiguous.default", "t", q);
  c->out[1] = h;
  c->nout = 2;
  return c->e->st;
}

static DtStatus frobenius_decomp (DtDecompCall *c) {
  DtDtype t = (DtDtype)meta_of(c, c->in[0]).dtype;
  DT_CHECK_SAY(CX, c->e->tracing || !dt_dtype_is_integral(t, true),
               DT_E_RUNTIME, NORM_INTS, op_dtype_word(t));
  return finish(c, EMIT("aten.linalg_vector_norm.default", "tivv", c->in[0],
                        (int64_t)2, c->args->v[1], c->args->v[2]));
}

/* ---- batch norm, instance norm ---- */

static DtHandle *norm_of (DtDecompCall *c, DtHandle *x, DtHandle *w,
                          DtHandle *b, DtHandle *mean, DtHandle *var) {
  DtHandle *r[3] = { NULL, NULL, NULL };
  int64_t none = 0;
  if (dt_emit_ok(c->e) && dt_meta_numel(dt_emit_meta(c->e, x)) == 0) {
    x = EMIT("aten.clone.default", "t", x);
    if (w) x = EMIT("aten.mul.Tensor", "tt", x,
                    EMIT("aten.select.int", "tii", w, none, none));
    if (b) x = EMIT("aten.add.Tensor", "tt", x,
                    EMIT("aten.select.int", "tii", b, none, none));
    return x;
  }
  if (!c->e->tracing)           /* what other devices would keep */
    (void)EMIT("aten.empty.memory_format", "I dtype=d", 1, &none, (int)DT_U8);
  dt_emit_n(c->e, "aten.native_batch_norm.default", r, 3, "tttttvvv", x, w, b,
            mean, var, c->args->v[5], c->args->v[6], c->args->v[7]);
  return r[0];
}
/* In PyTorch's order: statistics, then weight and bias. */
static DtStatus norm_sizes (DtDecompCall *c, int64_t n) {
  static const char *const name[] = { "running_mean", "running_var", "weight",
                                      "bias" };
  for (int i = 0; i < 4; i++) {
    DtHandle *h = dt_hin(c, i < 2 ? 3 + i : i - 1);
    if (h == NULL) continue;
    int64_t have = dt_meta_numel(dt_emit_meta(c->e, h));
    DT_CHECK(CX, have == n, DT_E_RUNTIME, "%s should contain %lld elements "
             "not %lld", name[i], (long long)n, (long long)have);
  }
  return DT_OK;
}

static DtStatus batch_norm_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  bool train = dt_arg_bool(c->args, 5);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, train || (dt_hin(c, 3) && dt_hin(c, 4)), DT_E_RUNTIME,
           "running_%s must be defined in evaluation mode",
           dt_hin(c, 3) ? "var" : "mean");
  DT_TRY(CX, norm_sizes(c, m.ndim > 1 ? m.shape[1] : 0));
  DT_CHECK(CX, m.ndim >= 2, DT_E_RUNTIME, "Expected 2D or more input");
  return finish(c, norm_of(c, c->in[0], dt_hin(c, 1), dt_hin(c, 2),
                           dt_hin(c, 3), dt_hin(c, 4)));
}

/* Samples become channels of one sample. */
static DtStatus instance_norm_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  DtHandle *h[4], *x = c->in[0];
  int64_t shape[DT_MAX_NDIM], b, bc[2];
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.ndim >= 2, DT_E_RUNTIME, "Expected 2D or more input");
  DT_CHECK(CX, dt_arg_bool(c->args, 5) || (dt_hin(c, 3) && dt_hin(c, 4)),
           DT_E_RUNTIME, "Expected running_mean and running_var to be defined "
           "when use_input_stats is false");
  b = bc[0] = m.shape[0];
  bc[1] = m.shape[1];
  memcpy(shape, m.shape, sizeof *shape * m.ndim);
  shape[0] = 1;
  shape[1] = m.shape[0] * m.shape[1];
  for (int i = 0; i < 4; i++) {
    h[i] = dt_hin(c, 1 + i);
    if (h[i]) h[i] = EMIT("aten.repeat.default", "tI", h[i], 1, &b);
  }
  if (!dt_meta_is_contiguous(&m)) {
    DtValue f = dt_v_none();
    f.kind = DT_V_MEMFMT;
    f.u.i = DT_MF_CONTIGUOUS;
    x = EMIT("aten.clone.default", "t memory_format=v", x, f);
  }
  x = EMIT("aten.view.default", "tI", x, (int)m.ndim, shape);
  x = norm_of(c, x, h[0], h[1], h[2], h[3]);
  for (int i = 2; i < 4; i++) {         /* the samples' mean is kept */
    int64_t zero = 0;
    if (!h[i]) continue;
    DtHandle *v = EMIT("aten.view.default", "tI", h[i], 2, bc);
    v = EMIT("aten.mean.dim", "tIb", v, 1, &zero, 0);
    DtHandle *a = EMIT("aten.alias.default", "t", dt_hin(c, 1 + i));
    (void)EMIT("aten.copy_.default", "tt", a, v);
  }
  return finish(c, EMIT("aten.view.default", "tI", x, (int)m.ndim, m.shape));
}

static DtHandle *per_channel (DtDecompCall *c, DtHandle *h, int nd) {
  for (int i = 0; i < nd; i++)
    if (i != 1) h = EMIT("aten.unsqueeze.default", "ti", h, (int64_t)i);
  return h;
}

/* As batch_norm_backward is traced: the statistics saved when training, the
** running ones else. */
static DtStatus bnb_decomp (DtDecompCall *c) {
  DtHandle *g = c->in[0], *x = c->in[1], *w = dt_hin(c, 2), *mean, *rstd;
  DtMeta m = meta_of(c, x);
  int64_t mask[3] = { 1, 1, 1 }, dims[DT_MAX_NDIM];
  bool train = dt_arg_bool(c->args, 7);
  double n = 1;
  int k = 0;
  if (!dt_emit_ok(c->e)) return c->e->st;
  (void)dt_arg_ints(c->args, 9, mask, 3);
  for (int i = 0; i < m.ndim; i++) {
    if (i == 1) continue;
    dims[k++] = i;
    n *= (double)m.shape[i];
  }
  if (c->e->pretend && dt_meta_numel(&m) == 0) {  /* 1 / (all / channels) */
    bool none = m.ndim > 1 && m.shape[1] == 0;
    return dt_raise_as(CX, DT_E_RUNTIME, "ZeroDivisionError",
                       "%sdivision by zero", none ? "" : "float ");
  }
  if (train) {
    mean = dt_hin(c, 5);
    rstd = dt_hin(c, 6);
  } else {
    mean = dt_hin(c, 3);
    rstd = EMIT("aten.add.Tensor", "tv", dt_hin(c, 4), c->args->v[8]);
    rstd = EMIT("aten.rsqrt.default", "t", rstd);
  }
  DtHandle *mb = per_channel(c, mean, m.ndim), *sum, *dot, *a, *b, *p;
  sum = EMIT("aten.sum.dim_IntList", "tI", g, k, dims);
  dot = EMIT("aten.sub.Tensor", "tt", x, mb);
  dot = EMIT("aten.mul.Tensor", "tt", g, dot);
  dot = EMIT("aten.sum.dim_IntList", "tI", dot, k, dims);
  a = per_channel(c, EMIT("aten.mul.Tensor", "tf", sum, 1 / n), m.ndim);
  p = EMIT("aten.mul.Tensor", "tf", dot, 1 / n);
  b = EMIT("aten.mul.Tensor", "tt", rstd, rstd);
  p = per_channel(c, EMIT("aten.mul.Tensor", "tt", p, b), m.ndim);
  b = rstd;
  if (w) b = EMIT("aten.mul.Tensor", "tt", b, w);
  b = per_channel(c, b, m.ndim);
  if (train) {
    DtHandle *d = EMIT("aten.sub.Tensor", "tt", x, mb);
    d = EMIT("aten.mul.Tensor", "tt", d, p);
    d = EMIT("aten.sub.Tensor", "tt", g, d);
    d = EMIT("aten.sub.Tensor", "tt", d, a);
    c->out[0] = EMIT("aten.mul.Tensor", "tt", d, b);
  } else {
    c->out[0] = EMIT("aten.mul.Tensor", "tt", g, b);
  }
  c->out[1] = mask[1] ? EMIT("aten.mul.Tensor", "tt", dot, rstd) : NULL;
  c->out[2] = mask[2] ? sum : NULL;
  c->nout = 3;
  return c->e->st;
}

/* ---- the parts as events ---- */

static DtStatus unsafe_split_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int64_t size = dt_arg_int(c->args, 1), n = 1;
  int d;
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (m.ndim > 0) {
    DT_TRY(CX, op_dim(CX, c->args, 2, m.ndim, &d));
    if (size > 0 && m.shape[d] > 0) n = dt_ceil_div(m.shape[d], size);
  }
  DT_CHECK(CX, n <= c->maxout, DT_E_LIMIT, "more than %d parts", c->maxout);
  c->nout = (int)n;
  dt_emit_n(c->e, "aten.split.Tensor", c->out, c->nout, "tvv", c->in[0],
            c->args->v[1], c->args->v[2]);
  return c->e->st;
}
static DtStatus unbind_copy_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  DtValue f = dt_v_none();
  int d;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.ndim > 0, DT_E_INDEX, "Dimension specified as %lld but tensor "
           "has no dimensions", (long long)dt_arg_int(c->args, 1));
  DT_TRY(CX, op_dim(CX, c->args, 1, m.ndim, &d));
  DT_CHECK(CX, m.shape[d] <= c->maxout, DT_E_LIMIT, "more than %d parts",
           c->maxout);
  c->nout = (int)m.shape[d];
  f.kind = DT_V_MEMFMT;
  f.u.i = DT_MF_CONTIGUOUS;
  dt_emit_n(c->e, "aten.unbind.int", c->out, c->nout, "tv", c->in[0],
            c->args->v[1]);
  for (int i = 0; i < c->nout; i++)
    c->out[i] = EMIT("aten.clone.default", "t memory_format=v", c->out[i], f);
  return c->e->st;
}
static DtStatus slice_copy_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  const DtValue *v = c->args->v;
  DtValue f = dt_v_none();
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.ndim > 0, DT_E_INDEX,
           "slice() cannot be applied to a 0-dim tensor.");
  f.kind = DT_V_MEMFMT;
  f.u.i = DT_MF_CONTIGUOUS;
  DtHandle *h = EMIT("aten.slice.Tensor", "tvvvv", c->in[0], v[1], v[2], v[3],
                     v[4]);
  return finish(c, EMIT("aten.clone.default", "t memory_format=v", h, f));
}

/* ---- definitions ---- */

#define K(id, schema_, brief_, flags_, decomp_, grad_, v_, ...) \
  static const int row_##id[] = { v_ }; \
  static const char *const id##_samples[] = { __VA_ARGS__, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = flags_, \
    .decomp = decomp_, .grad = grad_, .samples = id##_samples, \
    .row = row_##id }
#define COMP DT_OP_COMPOSITE
#define SAVE DT_OP_SAVE_OUT
#define U "f32[8, 6]"
#define BN "f32[4, 3, 2], f32[3], f32[3], f32[3], f32[3], "

K(aminmax, "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> "
  "(Tensor min, Tensor max)", "Smallest and largest element.", SAVE,
  aminmax_decomp, aminmax_grad, 0, U, "f32[8, 6], dim=1");
K(count_nonzero, "count_nonzero(Tensor self, int? dim=None) -> Tensor",
  "How many elements are not 0.", DT_OP_NOGRAD, count_decomp, NULL, 0, U,
  "f32[8, 6], 1");
K(trace, "trace(Tensor self) -> Tensor", "Sum of the diagonal.", 0,
  trace_decomp, trace_grad, 0, U);
K(rot90, "rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor",
  "A plane turned by quarters.", 0, rot90_decomp, rot90_grad, 0, U,
  "f32[8, 6], 2");
K(var_mean, "var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
  "Variance and mean of all elements.", COMP, var_mean_decomp, NULL, 0, U);
K(var_mean_dim, "var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, "
  "bool keepdim=False) -> (Tensor, Tensor)", "Variance and mean over dims.",
  COMP, var_mean_decomp, NULL, 1, "f32[8, 6], [1]");
K(_weight_norm_interface, "_weight_norm_interface(Tensor v, Tensor g, int "
  "dim=0) -> (Tensor, Tensor)", "Directions scaled to given lengths.", 0,
  weight_norm_decomp, NULL, 0, "f32[8, 6], f32[8, 1]");
K(frobenius_norm_dim, "frobenius_norm.dim(Tensor self, int[1] dim, bool "
  "keepdim=False) -> Tensor", "Root of the sum of squares over dims.", COMP,
  frobenius_decomp, NULL, 0, "f32[8, 6], [0, 1]");
K(batch_norm, "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
  "running_mean, Tensor? running_var, bool training, float momentum, float "
  "eps, bool cudnn_enabled) -> Tensor", "Batch normalisation.", COMP,
  batch_norm_decomp, NULL, 0, BN "True, 0.1, 1e-05, False");
K(instance_norm, "instance_norm(Tensor input, Tensor? weight, Tensor? bias, "
  "Tensor? running_mean, Tensor? running_var, bool use_input_stats, float "
  "momentum, float eps, bool cudnn_enabled) -> Tensor",
  "Each channel of each sample normalised.", COMP, instance_norm_decomp, NULL,
  0, BN "True, 0.1, 1e-05, False");
K(batch_norm_backward, "batch_norm_backward(Tensor grad_out, Tensor input, "
  "Tensor weight, Tensor? running_mean, Tensor? running_var, Tensor? "
  "save_mean, Tensor? save_var, bool update, float eps, bool[3] output_mask, "
  "Tensor reserve) -> (Tensor, Tensor, Tensor)",
  "Gradient of batch normalisation.", DT_OP_NOGRAD, bnb_decomp, NULL, 0,
  "f32[4, 3, 2], f32[4, 3, 2], f32[3], f32[3], f32[3], f32[3], f32[3], True, "
  "1e-05, [True, True, True], u8[0]");
K(unsafe_split_Tensor, "unsafe_split.Tensor(Tensor self, SymInt split_size, "
  "int dim=0) -> Tensor[]", "Parts of equal size.", COMP, unsafe_split_decomp,
  NULL, 0, "f32[8, 6], 4");
K(unbind_copy_int, "unbind_copy.int(Tensor self, int dim=0) -> Tensor[]",
  "Copies of the slices of a dim.", COMP, unbind_copy_decomp, NULL, 0,
  "f32[4, 6]");
K(slice_copy_Tensor, "slice_copy.Tensor(Tensor self, int dim=0, SymInt? "
  "start=None, SymInt? end=None, SymInt step=1) -> Tensor",
  "A copy of a slice.", COMP, slice_copy_decomp, NULL, 0,
  "f32[8, 6], 0, 2, 4");
static const char *const renorm_samples[] = { "f32[8, 6], 2, 0, 0.5",
                                              NULL };
OP_DEF(renorm, "aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) "
       "-> Tensor", "Slices of a dim scaled down to a largest norm.",
       DT_OP_NOSTRATEGY, renorm_meta, renorm_kernel, op_g_renorm,
       renorm_samples, .row = NULL);
