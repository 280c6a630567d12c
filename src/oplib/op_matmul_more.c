/* SPDX-License-Identifier: MIT
** oplib/op_matmul_more.c: the less common matrix products: addmv, addr,
** addbmm, vdot, int8 and scaled float8 products, products of groups, sums of
** three factors, distances of rows.
**
** Those that PyTorch decomposes for sharding carry that program; those with a
** rule of their own follow the letters of a matrix product (op_matmul.c). */
#include "oplib/oplib_int.h"

#include <math.h>
#include <string.h>

#define E(...) dt_emit(c->e, __VA_ARGS__)

static DtHandle *conj_of (DtEmit *e, DtHandle *h) {
  if (!dt_emit_ok(e) ||
      !dt_dtype_is_complex((DtDtype)dt_emit_meta(e, h)->dtype))
    return h;
  return dt_emit(e, "aten._conj.default", "t", h);
}

/* beta * self + alpha * x, x already in out; self is not read when beta is
** 0. */
static DtStatus combine (DtKernelCall *c, const DtTensor *self, DtScalar beta,
                         DtScalar alpha) {
  DtTensor *out = c->out[0], *t = NULL;
  DtDtype ty = (DtDtype)out->m.dtype;
  DtStatus st = DT_OK;
  if (alpha.re != 1 || alpha.im != 0)
    DT_TRYG(c->cx, dt_k_unary(c->cx, DT_U_mul_scalar, ty, &alpha, out, out));
  if (beta.re == 0 && beta.im == 0) return DT_OK;
  DT_TRYG(c->cx, op_temp(c->cx, ty, out->m.ndim, out->m.shape, &t));
  DT_TRYG(c->cx, dt_k_copy(c->cx, self, t));
  if (beta.re != 1 || beta.im != 0)
    DT_TRYG(c->cx, dt_k_unary(c->cx, DT_U_mul_scalar, ty, &beta, t, t));
  DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_add, ty, NULL, out, t, out));
done:
  dt_tensor_unref(c->cx, t);
  return st;
}

/* ---- addmv ---- */

static DtStatus addmv_meta (DtMetaCall *c) {
  const DtMeta *s = c->in[0], *m = c->in[1], *v = c->in[2];
  if (c->fake) {
    DtMeta o;
    DT_TRY(c->cx, op_check_mv(c->cx, m, v));
    DT_TRY(c->cx, op_new_meta(c->cx, &o, (DtDtype)v->dtype, 1, m->shape, v));
    c->nout = 1;
    return op_py_pair(c->cx, &o, s, &c->out[0]);
  }
  DT_CHECK(c->cx, m->ndim == 2 && v->ndim == 1 && s->ndim <= 1, DT_E_SHAPE,
           "vector + matrix @ vector expected, got %d, %d, %d", s->ndim,
           m->ndim, v->ndim);
  DT_CHECK(c->cx, m->shape[1] == v->shape[0] &&
           (s->ndim == 0 || s->shape[0] == m->shape[0] || s->shape[0] == 1),
           DT_E_SHAPE, "size mismatch, got input (%lld), mat (%lldx%lld), vec "
           "(%lld)", (long long)(s->ndim ? s->shape[0] : 1),
           (long long)m->shape[0], (long long)m->shape[1],
           (long long)v->shape[0]);
  DT_CHECK(c->cx, m->dtype == v->dtype && s->dtype == v->dtype,
           DT_E_DTYPE, "addmv input tensors must have the same dtype, but got "
           "%s, %s, and %s", op_dtype_word((DtDtype)s->dtype),
           op_dtype_word((DtDtype)m->dtype), op_dtype_word((DtDtype)v->dtype));
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)v->dtype, 1, m->shape, v);
}

static DtStatus addmv_kernel (DtKernelCall *c) {
  DtTensor *m = c->in[1], *v = c->in[2], *out = c->out[0], *a = NULL, *b = NULL;
  int64_t sa[2] = { v->m.shape[0], 1 }, ta[2] = { v->m.stride[0], 1 };
  int64_t so[2] = { out->m.shape[0], 1 }, to[2] = { out->m.stride[0], 1 };
  DtStatus st;
  DT_TRYG(c->cx, op_restride(c->cx, v, 2, sa, ta, 0, &a));
  DT_TRYG(c->cx, op_restride(c->cx, out, 2, so, to, 0, &b));
  DT_TRYG(c->cx, dt_k_gemm(c->cx, 1, m, a, 0, b));
  DT_TRYG(c->cx, combine(c, c->in[0], dt_arg_scalar(c->args, 3),
                         dt_arg_scalar(c->args, 4)));
done:
  dt_tensor_unref(c->cx, a);
  dt_tensor_unref(c->cx, b);
  return st;
}

static DtStatus addmv_grad (DtGradCall *c) {
  DtHandle *g = c->gout[0], *x;
  if (op_g_need(c, 1)) {
    int64_t col[2] = { dt_emit_meta(c->e, g)->shape[0], 1 };
    DtHandle *v = conj_of(c->e, c->in[2]);
    x = E("aten.view.default", "tI", g, 2, col);
    x = E("aten.mul.Tensor", "tt", x, v);
    op_g_set(c, 1, op_g_scale(c, x, 4));
  }
  if (op_g_need(c, 0)) op_g_set(c, 0, op_g_scale(c, g, 3));
  if (op_g_need(c, 2)) {
    x = E("aten.t.default", "t", c->in[1]);
    x = E("aten.mv.default", "tt", conj_of(c->e, x), g);
    op_g_set(c, 2, op_g_scale(c, x, 4));
  }
  return op_g_finish(c);
}

/* ---- addr ---- */

static DtStatus addr_meta (DtMetaCall *c) {
  const DtMeta *s = c->in[0], *a = c->in[1], *b = c->in[2];
  OpOperand o[3] = { { .m = s }, { .m = a }, { .m = b } };
  DtDtype t = op_promote(3, o);
  int64_t shape[2];
  static const char *const name[] = { "", "", "", "beta", "alpha" };
  DT_CHECK(c->cx, a->ndim == 1, DT_E_SHAPE, "addr: Expected 1-D argument vec1, "
           "but got %d-D", a->ndim);
  DT_CHECK(c->cx, b->ndim == 1, DT_E_SHAPE, "addr: Expected 1-D argument vec2, "
           "but got %d-D", b->ndim);
  for (int i = 4; i >= 3; i--) {
    DtScalar v = dt_arg_scalar(c->args, i);
    DT_CHECK(c->cx, v.kind <= DT_K_INT || !dt_dtype_is_integral(t, true),
             DT_E_RUNTIME, "For integral input tensors, argument %s must not "
             "be a floating point number.", name[i]);
  }
  shape[0] = a->shape[0];
  shape[1] = b->shape[0];
  c->nout = 1;
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[0], t, 2, shape, s));
  OpText want = op_shape_text(&c->out[0]), got = op_shape_text(s);
  for (int i = s->ndim - 1; i >= 0; i--) {
    int d = 2 - s->ndim + i;
    DT_CHECK(c->cx, s->ndim <= 2 && (s->shape[i] == 1 ||
                                     s->shape[i] == shape[d]), DT_E_SHAPE,
             "The expanded size of the tensor (%lld) must match the existing "
             "size (%lld) at non-singleton dimension %d.  Target sizes: %s.  "
             "Tensor sizes: %s", (long long)shape[d < 0 ? 0 : d],
             (long long)s->shape[i], d, want.s, got.s);
  }
  return DT_OK;
}

static DtStatus addr_kernel (DtKernelCall *c) {
  DtTensor *a = c->in[1], *col = NULL;
  int64_t shape[2] = { a->m.shape[0], 1 }, stride[2] = { a->m.stride[0], 1 };
  DtStatus st;
  DT_TRYG(c->cx, op_restride(c->cx, a, 2, shape, stride, 0, &col));
  DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_mul, (DtDtype)c->out[0]->m.dtype,
                             NULL, col, c->in[2], c->out[0]));
  DT_TRYG(c->cx, combine(c, c->in[0], dt_arg_scalar(c->args, 3),
                         dt_arg_scalar(c->args, 4)));
done:
  dt_tensor_unref(c->cx, col);
  return st;
}

/* expand(self) * beta + outer * alpha; without self when beta is 0. */
static DtStatus addr_decomp (DtDecompCall *c) {
  DtMeta a, b;
  int64_t shape[2], col[2];
  DtHandle *x, *s;
  DtScalar beta = dt_arg_scalar(c->args, 3);
  dt_meta_copy(&a, dt_emit_meta(c->e, c->in[1]));
  dt_meta_copy(&b, dt_emit_meta(c->e, c->in[2]));
  if (!dt_emit_ok(c->e)) return c->e->st;
  shape[0] = col[0] = a.shape[0];
  shape[1] = b.shape[0];
  col[1] = 1;
  s = E("aten.expand.default", "tI", c->in[0], 2, shape);
  if (beta.re != 0) s = E("aten.mul.Tensor", "tv", s, c->args->v[3]);
  x = E("aten.view.default", "tI", c->in[1], 2, col);
  x = E("aten.mul.Tensor", "tt", x, c->in[2]);
  x = E("aten.mul.Tensor", "tv", x, c->args->v[4]);
  if (beta.re != 0) x = E("aten.add.Tensor", "tt", s, x);
  c->out[0] = x;
  c->nout = 1;
  return c->e->st;
}

static DtStatus addr_grad (DtGradCall *c) {
  DtHandle *g = c->gout[0], *x;
  if (op_g_need(c, 0)) op_g_set(c, 0, op_g_scale(c, g, 3));
  if (op_g_need(c, 1)) {
    x = E("aten.mv.default", "tt", g, conj_of(c->e, c->in[2]));
    op_g_set(c, 1, op_g_scale(c, x, 4));
  }
  if (op_g_need(c, 2)) {
    DtHandle *t = E("aten.t.default", "t", g);
    x = E("aten.mv.default", "tt", t, conj_of(c->e, c->in[1]));
    op_g_set(c, 2, op_g_scale(c, x, 4));
  }
  return op_g_finish(c);
}

/* ---- addbmm: the products of a batch, added up ---- */

/* The sum is expanded before the matrices are looked at. */
static DtStatus addbmm_meta (DtMetaCall *c) {
  const DtMeta *s = c->in[0], *a = c->in[1], *b = c->in[2];
  DT_TRY(c->cx, op_has_dim(c->cx, a, 1));
  DT_TRY(c->cx, op_has_dim(c->cx, b, 2));
  int64_t shape[2] = { a->shape[1], b->shape[2] };
  c->nout = 1;
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[0], (DtDtype)s->dtype, 2, shape,
                            s));
  OpText want = op_shape_text(&c->out[0]), got = op_shape_text(s);
  for (int i = 0; i < s->ndim; i++) {
    int d = 2 - s->ndim + i;
    DT_CHECK(c->cx, d >= 0 && (s->shape[i] == 1 || s->shape[i] == shape[d]),
             DT_E_SHAPE, "The expanded size of the tensor (%lld) must match "
             "the existing size (%lld) at non-singleton dimension %d.  Target "
             "sizes: %s.  Tensor sizes: %s", (long long)shape[d < 0 ? 0 : d],
             (long long)s->shape[i], d, want.s, got.s);
  }
  DT_CHECK(c->cx, a->ndim == 3, DT_E_SHAPE, "batch1 must be a 3D tensor");
  DT_CHECK(c->cx, b->ndim == 3, DT_E_SHAPE, "batch2 must be a 3D tensor");
  DT_CHECK(c->cx, a->shape[0] == b->shape[0], DT_E_SHAPE, "batch1 and batch2 "
           "must have same number of batches, got %lld and %lld",
           (long long)a->shape[0], (long long)b->shape[0]);
  DT_CHECK(c->cx, a->shape[2] == b->shape[1], DT_E_SHAPE, "Incompatible matrix "
           "sizes for bmm (%lldx%lld and %lldx%lld)", (long long)a->shape[1],
           (long long)a->shape[2], (long long)b->shape[1],
           (long long)b->shape[2]);
  DT_CHECK(c->cx, s->dtype == b->dtype, DT_E_DTYPE, "self and mat2 must have "
           "the same dtype, but got %s and %s",
           op_dtype_word((DtDtype)s->dtype), op_dtype_word((DtDtype)b->dtype));
  DT_CHECK(c->cx, a->dtype == b->dtype, DT_E_DTYPE, "mat1 and mat2 must have "
           "the same dtype, but got %s and %s",
           op_dtype_word((DtDtype)a->dtype), op_dtype_word((DtDtype)b->dtype));
  return DT_OK;
}

static DtStatus addbmm_kernel (DtKernelCall *c) {
  DtTensor *out = c->out[0], *t = NULL;
  DtDtype ty = (DtDtype)out->m.dtype;
  int64_t n = c->in[1]->m.shape[0];
  double alpha = dt_arg_float(c->args, 4), beta = dt_arg_float(c->args, 3);
  DtScalar s = dt_scalar_float(beta);
  DtStatus st = DT_OK;
  if (dt_dtype_is_integral(ty, true)) {
    alpha = trunc(alpha);
    s = dt_scalar_int((int64_t)beta);
  }
  DT_TRYG(c->cx, op_temp(c->cx, ty, 2, out->m.shape, &t));
  if (beta == 0) DT_TRYG(c->cx, dt_k_fill(c->cx, t, dt_scalar_int(0)));
  else DT_TRYG(c->cx, dt_k_copy(c->cx, c->in[0], t));
  if (beta != 0 && beta != 1)
    DT_TRYG(c->cx, dt_k_unary(c->cx, DT_U_mul_scalar, ty, &s, t, t));
  for (int64_t i = 0; i < n; i++) {
    DtTensor v[2];
    for (int k = 0; k < 2; k++) {
      v[k] = *c->in[1 + k];
      v[k].offset += i * v[k].m.stride[0];
      for (int d = 0; d < 2; d++) {
        v[k].m.shape[d] = v[k].m.shape[d + 1];
        v[k].m.stride[d] = v[k].m.stride[d + 1];
      }
      v[k].m.ndim = 2;
    }
    DT_TRYG(c->cx, dt_k_gemm(c->cx, alpha, &v[0], &v[1], 1, t));
  }
  DT_TRYG(c->cx, dt_k_copy(c->cx, t, out));
done:
  dt_tensor_unref(c->cx, t);
  return st;
}

static DtHandle *spread (DtGradCall *c, DtHandle *g, int64_t n) {
  const DtMeta *m = dt_emit_meta(c->e, g);
  int64_t shape[3] = { n, m->shape[0], m->shape[1] };
  g = E("aten.unsqueeze.default", "ti", g, (int64_t)0);
  return E("aten.expand.default", "tI", g, 3, shape);
}
static DtHandle *turned (DtGradCall *c, DtHandle *h) {
  return conj_of(c->e, E("aten.transpose.int", "tii", h, (int64_t)1,
                         (int64_t)2));
}
static DtStatus addbmm_grad (DtGradCall *c) {
  DtHandle *g = c->gout[0], *x;
  int64_t n = dt_emit_meta(c->e, c->in[1])->shape[0];
  if (op_g_need(c, 1)) {
    x = spread(c, g, n);
    x = E("aten.bmm.default", "tt", x, turned(c, c->in[2]));
    op_g_set(c, 1, op_g_scale(c, x, 4));
  }
  if (op_g_need(c, 2)) {
    x = turned(c, c->in[1]);
    x = E("aten.bmm.default", "tt", x, spread(c, g, n));
    op_g_set(c, 2, op_g_scale(c, x, 4));
  }
  if (op_g_need(c, 0)) op_g_set(c, 0, op_g_scale(c, g, 3));
  return op_g_finish(c);
}

/* ---- vdot ---- */

static DtStatus vdot_meta (DtMetaCall *c) { return dt_op_dot.meta(c); }

static DtStatus vdot_kernel (DtKernelCall *c) {
  DtTensor *a = c->in[0], *t = NULL, *in[2];
  DtDtype ty = (DtDtype)a->m.dtype;
  DtKernelCall k = *c;
  DtStatus st = DT_OK;
  if (!dt_dtype_is_complex(ty)) return dt_op_dot.kernel(c);
  DT_TRYG(c->cx, op_temp(c->cx, ty, 1, a->m.shape, &t));
  DT_TRYG(c->cx, dt_k_unary(c->cx, DT_U_conj_physical, ty, NULL, a, t));
  in[0] = t;
  in[1] = c->in[1];
  k.in = in;
  DT_TRYG(c->cx, dt_op_dot.kernel(&k));
done:
  dt_tensor_unref(c->cx, t);
  return st;
}
static DtStatus vdot_decomp (DtDecompCall *c) {
  c->out[0] = E("aten.dot.default", "tt", conj_of(c->e, c->in[0]), c->in[1]);
  c->nout = 1;
  return c->e->st;
}
static DtStatus vdot_grad (DtGradCall *c) {
  DtHandle *g = c->gout[0];
  if (op_g_need(c, 1))
    op_g_set(c, 1, E("aten.mul.Tensor", "tt", g, c->in[0]));
  if (op_g_need(c, 0))
    op_g_set(c, 0, E("aten.mul.Tensor", "tt", conj_of(c->e, g), c->in[1]));
  return op_g_finish(c);
}

/* ---- int8, float8, groups ---- */

static DtStatus int_mm_meta (DtMetaCall *c) {
  const DtMeta *a = c->in[0], *b = c->in[1];
  int64_t shape[2];
  DT_CHECK(c->cx, a->ndim == 2, DT_E_SHAPE, "Expected self to be of dimension "
           "2 but got %d", a->ndim);
  DT_CHECK(c->cx, b->ndim == 2, DT_E_SHAPE, "Expected mat2 to be of dimension "
           "2 but got %d", b->ndim);
  DT_CHECK(c->cx, a->shape[1] == b->shape[0], DT_E_SHAPE, "self.size(1) needs "
           "to match mat2.size(0) but got %lld and %lld",
           (long long)a->shape[1], (long long)b->shape[0]);
  DT_CHECK(c->cx, a->dtype == DT_I8, DT_E_RUNTIME, "Expected self dtype to be "
           "of type int8 but got %s", dt_dtype_word((DtDtype)a->dtype));
  DT_CHECK(c->cx, b->dtype == DT_I8, DT_E_RUNTIME, "Expected mat2 dtype to be "
           "of type int8 but got %s", dt_dtype_word((DtDtype)b->dtype));
  shape[0] = a->shape[0];
  shape[1] = b->shape[1];
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], DT_I32, 2, shape, a);
}
static DtStatus int_mm_kernel (DtKernelCall *c) {
  return dt_k_gemm(c->cx, 1, c->in[0], c->in[1], 0, c->out[0]);
}

/* "[2, 1]" of a shape, "[1, 1]" of its strides. */
static OpText strides_text (const DtMeta *m) {
  return op_ints_text(m->ndim, m->stride);
}
static DtStatus scaling_error (DtMetaCall *c) {
  const DtMeta *a = c->in[0], *b = c->in[1], *sa = c->in[2], *sb = c->in[3];
  OpText za = op_shape_text(sa), zb = op_shape_text(sb);
  OpText ta = strides_text(sa), tb = strides_text(sb);
  return dt_raise(c->cx, DT_E_VALUE, "Invalid scaling configuration.\n- For "
    "TensorWise scaling, a and b should be float8, scales should be float and "
    "singletons.\n- For RowWise scaling, a and b should be float8, scales "
    "should be float, scale_a should be (%lld, 1) and scale_b should be (1, "
    "%lld), and both should be contiguous.\nGot mat_a.dtype()=%s, "
    "scale_a.dtype()=%s, scale_a.size()=%s, scale_a.stride()=%s, "
    "mat_b.dtype()=%s, scale_b.dtype()=%s, scale_b.size()=%s and "
    "scale_b.stride()=%s", (long long)a->shape[0], (long long)b->shape[1],
    op_dtype_word((DtDtype)a->dtype), op_dtype_word((DtDtype)sa->dtype), za.s,
    ta.s, op_dtype_word((DtDtype)b->dtype), op_dtype_word((DtDtype)sb->dtype),
    zb.s, tb.s);
}
static DtStatus scaled_mm_meta (DtMetaCall *c) {
  const DtMeta *a = dt_in(c, 0), *b = dt_in(c, 1), *sa = dt_in(c, 2),
               *sb = dt_in(c, 3);
  int64_t shape[2];
  DtDtype t;
  DT_CHECK(c->cx, a->ndim == 2 && b->ndim == 2, DT_E_SHAPE, "Inputs must be 2D "
           "but got self.dim()=%d and mat2.dim()=%d", a->ndim, b->ndim);
  DT_CHECK(c->cx, c->fake || a->shape[1] == b->shape[0], DT_E_SHAPE, "mat_a "
           "and mat_b shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
           (long long)a->shape[0], (long long)a->shape[1],
           (long long)b->shape[0], (long long)b->shape[1]);
  if (!c->fake) {
    bool f8 = dt_dtype_size((DtDtype)a->dtype) == 1 &&
              dt_dtype_size((DtDtype)b->dtype) == 1 &&
              !dt_dtype_is_integral((DtDtype)a->dtype, true);
    bool one = dt_meta_numel(sa) == 1 && dt_meta_numel(sb) == 1;
    bool rows = sa->ndim == 2 && sb->ndim == 2 &&
                sa->shape[0] == a->shape[0] && sa->shape[1] == 1 &&
                sb->shape[0] == 1 && sb->shape[1] == b->shape[1];
    if (!f8 || sa->dtype != DT_F32 || sb->dtype != DT_F32 || !(one || rows))
      return scaling_error(c);
  }
  DT_CHECK(c->cx, sa->dtype == DT_F32 && sb->dtype == DT_F32, DT_E_RUNTIME,
           "For %s scaling, both scale_a and scale_b must be float (fp32) "
           "tensors.", dt_meta_numel(sa) == 1 && dt_meta_numel(sb) == 1
           ? "tensorwise" : "rowwise");
  shape[0] = a->shape[0];
  shape[1] = b->shape[1];
  t = op_dtype_or(c->args, 6, (DtDtype)a->dtype);
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], t, 2, shape, a);
}
static DtStatus scaled_mm_kernel (DtKernelCall *c) {
  DtTensor *out = c->out[0], *t = NULL;
  DtStatus st = DT_OK;
  DT_TRYG(c->cx, op_temp(c->cx, DT_F32, 2, out->m.shape, &t));
  DT_TRYG(c->cx, dt_k_gemm(c->cx, 1, dt_kin(c, 0), dt_kin(c, 1), 0, t));
  for (int i = 2; i < 4; i++)
    DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_mul, DT_F32, NULL, t, dt_kin(c, i),
                               t));
  if (dt_kin(c, 4) != NULL)
    DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_add, DT_F32, NULL, t, dt_kin(c, 4),
                               t));
  DT_TRYG(c->cx, dt_k_copy(c->cx, t, out));
done:
  dt_tensor_unref(c->cx, t);
  return st;
}

/* A scale follows its matrix; one number is whole everywhere; a list of blocks
** follows rows or columns and cannot be cut with the contracted dim. */
static bool scale_cell (const DtMeta *s, DtCell data, int contracted,
                        DtCell *out) {
  *out = data;
  if (dt_meta_numel(s) == 1) *out = dt_c_r();
  else if (s->ndim == 1) {
    if (data.kind == DT_C_SHARD && data.dim == contracted) return false;
    *out = data.kind == DT_C_SHARD ? dt_c_s(0) : dt_c_r();
  }
  return true;
}
static DtStatus scaled_mm_rules (DtRuleCall *c) {
  DtCell r = dt_c_r(), ps = dt_c_p(DT_OP_SUM), pa = dt_c_p(DT_OP_AVG);
  const DtCell mm[][3] = {
    { ps, dt_c_s(1), dt_c_s(0) }, { dt_c_s(0), dt_c_s(0), r },
    { dt_c_s(1), r, dt_c_s(1) }, { ps, ps, r }, { ps, r, ps }, { pa, pa, r },
    { pa, r, pa }
  };
  DT_CHECK(c->cx, c->args->npos > 5 || !dt_arg_is_none(c->args, 6) ||
           dt_arg_bool(c->args, 7), DT_E_INDEX, "tuple index out of range");
  DT_CHECK(c->cx, dt_rin(c, 4) == NULL, DT_E_ASSERT,
           "_scaled_mm on DTensors doesn't support bias");
  DT_CHECK(c->cx, dt_rin(c, 5) == NULL, DT_E_ASSERT,
           "_scaled_mm on DTensors doesn't support scale_result");
  for (size_t i = 0; i < sizeof mm / sizeof *mm; i++) {
    DtCell row[5];
    memcpy(row, mm[i], sizeof mm[i]);
    if (scale_cell(dt_rin(c, 2), mm[i][1], 1, &row[3]) &&
        scale_cell(dt_rin(c, 3), mm[i][2], 0, &row[4]))
      dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

/* Rows or columns of a factor must start at multiples of 16 bytes. */
static DtStatus grouped_strides (DtMetaCall *c, const char *name,
                                 const DtMeta *m) {
  int d = m->ndim - 1;
  int64_t align = 16 / (int64_t)dt_dtype_size((DtDtype)m->dtype);
  bool by_column = m->stride[d - 1] == 1 &&
                   m->stride[d] >= 1 && m->stride[d] >= m->shape[d - 1];
  bool by_row = m->stride[d] == 1 &&
                m->stride[d - 1] >= 1 && m->stride[d - 1] >= m->shape[d];
  int outer = by_column ? d : d - 1;
  OpText strides = strides_text(m), sizes = op_size_text(c, m);
  if (c->fake) {                        /* a tuple, as Python prints it */
    strides.s[0] = '(';
    strides.s[strlen(strides.s) - 1] = ')';
  }
  DT_CHECK(c->cx, by_column || by_row, DT_E_RUNTIME, "Invalid strides/sizes, "
           "got %s for strides and %s for sizes", strides.s, sizes.s);
  bool aligned = m->stride[outer] % align == 0;
  DT_CHECK(c->cx, aligned || c->fake, DT_E_RUNTIME,
           "strides should be multiple of 16 bytes");
  DT_CHECK(c->cx, aligned, DT_E_RUNTIME, "Expected %s stride along %d dim to be multiple of 16 bytes, got "
           "%lld.", name, outer, (long long)m->stride[outer]);
  return DT_OK;
}

/* Types of the factors; propagation knows bf16 only. */
static DtStatus grouped_types (DtMetaCall *c, const DtMeta *a,
                               const DtMeta *b) {
  const DtMeta *m[2] = { a, b };
  DT_CHECK(c->cx, !c->fake || (a->dtype == DT_BF16 && b->dtype == DT_BF16),
           DT_E_RUNTIME, "Expected inputs of BF16 type but got mat_a.dtype=%s "
           "and mat_b.dtype=%s.", dt_dtype_info((DtDtype)a->dtype)->torch,
           dt_dtype_info((DtDtype)b->dtype)->torch);
  for (int i = 0; i < 2; i++)
    DT_CHECK(c->cx, m[i]->dtype == DT_F32 || m[i]->dtype == DT_BF16 ||
             m[i]->dtype == DT_F16, DT_E_RUNTIME, "Expected mat_%c to be "
             "Float32, BFloat16 or Float16 matrix, got %s", "ab"[i],
             op_dtype_word((DtDtype)m[i]->dtype));
  return DT_OK;
}

/* The ends of groups, and how many there are. */
static DtStatus grouped_offs (DtMetaCall *c, const DtMeta *a, const DtMeta *b,
                              const DtMeta *offs) {
  bool a3 = a->ndim == 3, b3 = b->ndim == 3, needed = !(a3 && b3);
  DT_CHECK(c->cx, !c->fake || (offs != NULL) == needed, DT_E_RUNTIME,
           "Offsets tensor %sprovided, but is %sneeded for %dD/%dD "
           "multiplicand layouts.", needed ? "not " : "", needed ? "" : "not ",
           a->ndim, b->ndim);
  DT_CHECK(c->cx, (offs != NULL) == needed, DT_E_RUNTIME,
           "Have to provide offsets if there is a 2d matrix, or no offset if "
           "both matrices are 3d");
  DT_CHECK(c->cx, offs == NULL || offs->ndim == 1, DT_E_RUNTIME,
           c->fake ? "Offsets tensor must be 1D" : "offs has to be 1D");
  DT_CHECK(c->cx, offs == NULL || offs->dtype == DT_I32 || c->fake,
           DT_E_RUNTIME, "Offsets have to be int32");
  if (c->fake) return DT_OK;
  DT_CHECK(c->cx, needed || a->shape[0] == b->shape[0], DT_E_RUNTIME,
           "batched dimension has to match");
  DT_CHECK(c->cx, !needed || ((!a3 || a->shape[0] == offs->shape[0]) &&
                              (!b3 || b->shape[0] == offs->shape[0])),
           DT_E_RUNTIME, "matrix batch sizes have to match");
  DT_CHECK(c->cx, a->dtype == b->dtype, DT_E_RUNTIME, "Expected out tensor to "
           "have dtype %s, but got %s instead",
           dt_dtype_info((DtDtype)b->dtype)->cpp,
           dt_dtype_info((DtDtype)a->dtype)->cpp);
  return DT_OK;
}

/* Rows of the result start at multiples of 16 bytes. */
static DtStatus grouped_meta (DtMetaCall *c) {
  const DtMeta *a = dt_in(c, 0), *b = dt_in(c, 1), *offs = dt_in(c, 2);
  DtMeta *o = &c->out[0];
  int64_t shape[3], step;
  int n = 0;
  bool a3 = a->ndim == 3, b3 = b->ndim == 3;
  DtDtype t = op_dtype_or(c->args, 4, (DtDtype)a->dtype);
  DT_CHECK(c->cx, !c->fake || ((a->ndim == 2 || a3) && (b->ndim == 2 || b3)),
           DT_E_RUNTIME, "Multiplicands must be 2D or 3D but got mat_a.dim()="
           "%d and mat_b.dim()=%d", a->ndim, b->ndim);
  DT_CHECK(c->cx, (a->ndim == 2 || a3) && (b->ndim == 2 || b3), DT_E_RUNTIME,
           "mat_a has to be 2 or 3d");
  DT_TRY(c->cx, grouped_types(c, a, b));
  DT_CHECK(c->cx, !(a3 || b3) || a->shape[a->ndim - 1] ==
           b->shape[b->ndim - 2], DT_E_RUNTIME, "contraction dimension of "
           "mat_a and mat_b must match");
  DT_TRY(c->cx, grouped_strides(c, "mat_a", a));
  DT_TRY(c->cx, grouped_strides(c, "mat_b", b));
  DT_TRY(c->cx, grouped_offs(c, a, b, offs));
  if (a3 && b3) shape[n++] = a->shape[0];
  else if (!a3 && !b3) shape[n++] = offs->shape[0];
  shape[n++] = a->shape[a->ndim - 2];
  shape[n++] = b->shape[b->ndim - 1];
  c->nout = 1;
  DT_TRY(c->cx, op_new_meta(c->cx, o, t, n, shape, a));
  step = 16 / (int64_t)dt_dtype_size(t);
  o->stride[n - 2] = (o->shape[n - 1] + step - 1) / step * step;
  if (n == 3) o->stride[0] = o->stride[1] * o->shape[1];
  return DT_OK;
}

/* One factor of a group: entry g of a 3-D operand, or the range of a 2-D one
** along `dim` (-1: all of it). */
static DtTensor group_of (const DtTensor *t, int64_t g, int dim, int64_t from,
                          int64_t to) {
  DtTensor v = *t;
  if (t->m.ndim == 3) {
    v.offset += g * t->m.stride[0];
    for (int d = 0; d < 2; d++) {
      v.m.shape[d] = t->m.shape[d + 1];
      v.m.stride[d] = t->m.stride[d + 1];
    }
    v.m.ndim = 2;
  } else if (dim >= 0) {
    v.offset += from * t->m.stride[dim];
    v.m.shape[dim] = to - from;
  }
  return v;
}
static DtStatus grouped_kernel (DtKernelCall *c) {
  DtTensor *a = dt_kin(c, 0), *b = dt_kin(c, 1), *offs = dt_kin(c, 2);
  DtTensor *out = c->out[0];
  bool a3 = a->m.ndim == 3, b3 = b->m.ndim == 3;
  int64_t n = offs ? offs->m.shape[0] : a->m.shape[0], from = 0;
  if (!a3 || !b3) DT_TRY(c->cx, dt_k_fill(c->cx, out, dt_scalar_int(0)));
  for (int64_t g = 0; g < n; g++) {
    int64_t to = offs ? dt_tensor_get(offs, &g).i : 0;
    int64_t limit = a3 ? b->m.shape[1] : b3 ? a->m.shape[0] : a->m.shape[1];
    DT_CHECK(c->cx, offs == NULL || (to >= from && to <= limit), DT_E_RUNTIME,
             "_grouped_mm: offs must increase up to %lld, got %lld",
             (long long)limit, (long long)to);
    DtTensor va = group_of(a, g, b3 ? 0 : 1, from, to);
    DtTensor vb = group_of(b, g, a3 ? 1 : 0, from, to);
    DtTensor vo = group_of(out, g, a3 ? 1 : 0, from, to);
    DT_TRY(c->cx, dt_k_gemm(c->cx, 1, &va, &vb, 0, &vo));
    from = to;
  }
  return DT_OK;
}

/* Rows (output, first, second) on one mesh dim, by the ranks of the two. */
static int grouped_rows (int na, int nb, DtPlacement (*row)[3]) {
  DtPlacement r = dt_pl_replicate(), p = dt_pl_partial(DT_OP_SUM);
  DtPlacement s0 = dt_pl_shard(0), s1 = dt_pl_shard(1), s2 = dt_pl_shard(2);
  int n = 0;
#define ROW(o, a, b) row[n][0] = o, row[n][1] = a, row[n][2] = b, n++
  ROW(r, r, r);
  ROW(p, p, r);
  ROW(p, r, p);
  if (na == 2 && nb == 3) { ROW(s1, r, s2); ROW(p, s1, s1); }
  if (na == 3 && nb == 2) { ROW(p, s2, s0); ROW(s0, s1, r); }
  if (na == 2 && nb == 2) { ROW(s2, r, s1); ROW(s1, s0, r); }
  if (na == 3 && nb == 3) {
    ROW(s2, r, s2);
    ROW(s1, s1, r);
    ROW(p, s2, s1);
    ROW(s0, s0, s0);
  }
#undef ROW
  return n;
}
/* Would the kernel take a shard with these strides?  16-byte rows or columns.
*/
static bool aligned (const DtStratCall *c, const DtMeta *m,
                     const DtPlacement *pl) {
  int64_t shape[DT_MAX_NDIM], stride[DT_MAX_NDIM];
  int64_t step = 16 / (int64_t)dt_dtype_size((DtDtype)m->dtype), swap;
  int n = m->ndim, e = n - 1, order[DT_MAX_NDIM];
  for (int i = 0; i < n; i++) {
    shape[i] = m->shape[i];
    order[i] = i;
  }
  for (int k = 0; k < c->mesh->ndim; k++)       /* the first rank's share */
    if (dt_pl_is_shard_like(pl[k])) {
      int64_t parts = c->mesh->shape[k], *s = &shape[pl[k].dim];
      *s = (*s + parts - 1) / parts;
    }
  for (int i = 1; i < n; i++)                   /* by falling stride */
    for (int j = i; j > 0 && m->stride[order[j]] > m->stride[order[j - 1]];
         j--) {
      swap = order[j];
      order[j] = order[j - 1];
      order[j - 1] = (int)swap;
    }
  swap = 1;
  for (int i = n - 1; i >= 0; i--) {
    stride[order[i]] = swap;
    swap *= shape[order[i]] > 1 ? shape[order[i]] : 1;
  }
  if (stride[e - 1] == 1 && stride[e] >= (shape[e - 1] > 1 ? shape[e - 1] : 1))
    return stride[e] % step == 0;
  if (stride[e] == 1 && stride[e - 1] >= (shape[e] > 1 ? shape[e] : 1))
    return stride[e - 1] % step == 0;
  return false;
}
static DtStatus grouped_strategy (DtStratCall *c) {
  DtPlacement row[8][3], buf[4 * OP_MAXPL];
  const DtSpec *a = dt_sin(c, 0), *b = dt_sin(c, 1);
  int nd = c->mesh->ndim, digit[OP_MAXPL] = { 0 };
  int n = grouped_rows(a->meta.ndim, b->meta.ndim, row);
  DT_CHECK(c->cx, dt_sin(c, 3) == NULL, DT_E_ASSERT,
           "grouped_mm doesn't support bias yet");
  for (;;) {
    DtPlacement *in = buf + nd;
    bool mixed[3] = { false }, ok = true;
    for (int k = 0; k < nd; k++) {
      for (int i = 0; i < 3; i++) buf[i * nd + k] = row[digit[k]][i];
      buf[3 * nd + k] = dt_pl_replicate();
    }
    (void)mixed;
    for (int i = 0; i < 2 && ok; i++)
      ok = dt_layout_shardable(c->mesh, i ? &b->meta : &a->meta, in + i * nd,
                               nd) &&
           aligned(c, i ? &b->meta : &a->meta, in + i * nd);
    if (ok) DT_TRY(c->cx, dt_strat_add(c, buf, in, NAN));
    int k = nd - 1;
    while (k >= 0 && ++digit[k] == n) digit[k--] = 0;
    if (k < 0) return DT_OK;
  }
}

/* The transpose of a group's factor, as PyTorch's gradient takes it. */
static DtStatus grouped_grad (DtGradCall *c) {
  DtHandle *a = dt_gin(c, 0), *b = dt_gin(c, 1), *offs = dt_gin(c, 2);
  DtHandle *g = c->gout[0], *x;
  if (op_g_need(c, 1)) {        /* mat2 comes first there */
    x = E("aten.transpose.int", "tii", a, (int64_t)-2, (int64_t)-1);
    op_g_set(c, 1, E("aten._grouped_mm.default", "ttt", x, g, offs));
  }
  if (op_g_need(c, 0)) {
    x = E("aten.transpose.int", "tii", b, (int64_t)-2, (int64_t)-1);
    op_g_set(c, 0, E("aten._grouped_mm.default", "ttt", g, x, offs));
  }
  return op_g_finish(c);
}

/* ---- distances of rows ---- */

static DtStatus cdist_meta (DtMetaCall *c) {
  const DtMeta *a = c->in[0], *b = c->in[1];
  DtMeta x, y, r;
  int n;
  DT_CHECK(c->cx, a->ndim >= 2 && b->ndim >= 2, DT_E_RUNTIME,
           "cdist only supports at least 2D tensors");
  DT_CHECK(c->cx, a->shape[a->ndim - 1] == b->shape[b->ndim - 1],
           DT_E_RUNTIME, "X1 and X2 must have the same number of columns. X1: "
           "%lld X2: %lld", (long long)a->shape[a->ndim - 1],
           (long long)b->shape[b->ndim - 1]);
  dt_meta_copy(&x, a);
  dt_meta_copy(&y, b);
  x.ndim = (uint8_t)(x.ndim - 2);
  y.ndim = (uint8_t)(y.ndim - 2);
  DT_TRY(c->cx, dt_meta_broadcast(c->cx, &x, &y, &r));
  for (int i = 0; i < 2; i++) {
    DtDtype t = (DtDtype)(i ? b : a)->dtype;
    DT_CHECK(c->cx, dt_dtype_is_float(t), DT_E_RUNTIME, "cdist only supports "
             "floating-point dtypes, X%d got: %s", i + 1, op_dtype_word(t));
  }
  DT_CHECK(c->cx, c->fake || dt_dtype_size((DtDtype)a->dtype) > 1,
           DT_E_NOTIMPL, "\"cdist\" not implemented for '%s'",
           op_dtype_word((DtDtype)a->dtype));
  n = r.ndim;
  r.shape[n] = a->shape[a->ndim - 2];
  r.shape[n + 1] = b->shape[b->ndim - 2];
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)a->dtype, n + 2, r.shape, a);
}

/* A operand of shape (..., rows, width) seen as (..., rows or 1, rows or 1,
** width): pairs of rows by broadcasting. */
static DtTensor pair_view (const DtTensor *t, bool first) {
  DtTensor v = *t;
  int n = t->m.ndim;
  v.m.ndim = (uint8_t)(n + 1);
  v.m.shape[n] = t->m.shape[n - 1];
  v.m.stride[n] = t->m.stride[n - 1];
  v.m.shape[first ? n - 2 : n - 1] = t->m.shape[n - 2];
  v.m.stride[first ? n - 2 : n - 1] = t->m.stride[n - 2];
  v.m.shape[first ? n - 1 : n - 2] = 1;
  v.m.stride[first ? n - 1 : n - 2] = 0;
  return v;
}
static DtStatus cdist_kernel (DtKernelCall *c) {
  DtTensor *out = c->out[0], *t = NULL;
  DtTensor a = pair_view(c->in[0], true), b = pair_view(c->in[1], false);
  int n = out->m.ndim;
  int64_t shape[DT_MAX_NDIM];
  DtScalar one = dt_scalar_int(1), p = dt_scalar_float(dt_arg_float(c->args,
                                                                    2));
  DtStatus st = DT_OK;
  if (dt_meta_numel(&out->m) == 0) return DT_OK;
  DT_CHECK(c->cx, n < DT_MAX_NDIM, DT_E_LIMIT, "at most %d dimensions",
           DT_MAX_NDIM);
  memcpy(shape, out->m.shape, sizeof(int64_t) * (size_t)n);
  shape[n] = a.m.shape[a.m.ndim - 1];
  DT_TRYG(c->cx, op_temp(c->cx, (DtDtype)out->m.dtype, n + 1, shape, &t));
  DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_sub, (DtDtype)out->m.dtype, &one, &a,
                             &b, t));
  DT_TRYG(c->cx, dt_k_reduce(c->cx, DT_RED_NORM, &p, t, 1u << n, out));
done:
  dt_tensor_unref(c->cx, t);
  return st;
}
static DtStatus cdist_grad (DtGradCall *c) {
  double p = dt_arg_float(c->args, 2);
  DtHandle *g = c->gout[0], *d = c->out[0];
  DtValue f = dt_v_code(DT_V_MEMFMT, 0);
  if (op_g_need(c, 0))
    op_g_set(c, 0, E("aten._cdist_backward.default", "tttft", g, c->in[0],
                     c->in[1], p, d));
  if (op_g_need(c, 1)) {
    DtHandle *h[2] = { g, d };
    for (int i = 0; i < 2; i++) {
      h[i] = E("aten.transpose.int", "tii", h[i], (int64_t)-2, (int64_t)-1);
      h[i] = E("aten.clone.default", "t memory_format=v", h[i], f);
    }
    op_g_set(c, 1, E("aten._cdist_backward.default", "tttft", h[0], c->in[1],
                     c->in[0], p, h[1]));
  }
  return op_g_finish(c);
}

static DtStatus cdist_back_meta (DtMetaCall *c) {
  const DtMeta *g = c->in[0], *a = dt_in(c, 1), *b = dt_in(c, 2);
  const DtMeta *d = dt_in(c, 4);
  int64_t shape[DT_MAX_NDIM];
  int n = d->ndim;
  DT_CHECK(c->cx, n >= 2 && a->ndim >= 2 && b->ndim >= 2 && a->ndim <= n &&
           b->ndim <= n, DT_E_RUNTIME, "%s: x1, x2 and the distances must be "
           "batches of matrices, but have %d, %d and %d dimensions",
           c->op->sig->full, a->ndim, b->ndim, n);
  bool ok = dt_meta_same_shape(g, d) &&
            d->shape[n - 2] == a->shape[a->ndim - 2] &&
            d->shape[n - 1] == b->shape[b->ndim - 2] &&
            a->shape[a->ndim - 1] == b->shape[b->ndim - 1];
  for (int i = 1; i <= n - 2; i++) {
    int64_t want = d->shape[n - 2 - i];
    if (a->ndim - 2 >= i)
      ok &= a->shape[a->ndim - 2 - i] == 1 ||
            a->shape[a->ndim - 2 - i] == want;
    if (b->ndim - 2 >= i)
      ok &= b->shape[b->ndim - 2 - i] == 1 ||
            b->shape[b->ndim - 2 - i] == want;
  }
  DT_CHECK(c->cx, ok, DT_E_RUNTIME, "%s: x1 of shape %s and x2 of shape %s do "
           "not have distances of shape %s", c->op->sig->full,
           op_shape_text(a).s, op_shape_text(b).s, op_shape_text(d).s);
  memcpy(shape, d->shape, sizeof(int64_t) * (size_t)n);
  shape[n - 1] = a->shape[a->ndim - 1];
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)a->dtype, n, shape, a);
}

/* d|x|_p / dx for one component `diff` of a distance `d`. */
static double cdist_slope (double p, double diff, double d, double g) {
  double s = diff > 0 ? 1 : diff < 0 ? -1 : 0;
  if (p == 0 || d == 0) return 0;
  if (p == 1) return g * s;
  if (p == 2) return g * diff / d;
  if (isinf(p)) return fabs(diff) == d ? g * s : 0;
  if (p < 2) return s * pow(fabs(diff), p - 1) * g / pow(d, p - 1);
  return diff * pow(fabs(diff), p - 2) * g / pow(d, p - 1);
}

/* Element `index` of an operand that broadcasts to ndim dims, the last two of
** them row and column. */
static double at (const DtTensor *t, int ndim, const int64_t *index,
                  int64_t row, int64_t col) {
  int64_t ix[DT_MAX_NDIM];
  int lack = ndim - t->m.ndim, n = t->m.ndim;
  for (int d = 0; d < n - 2; d++)
    ix[d] = t->m.shape[d] == 1 ? 0 : index[d + lack];
  ix[n - 2] = row;
  ix[n - 1] = col;
  return dt_tensor_get(t, ix).re;
}
static DtStatus cdist_back_kernel (DtKernelCall *c) {
  DtTensor *out = c->out[0], *t = NULL;
  int n = out->m.ndim;
  int64_t total = dt_meta_numel(&out->m), ix[DT_MAX_NDIM] = { 0 };
  int64_t rows = c->in[2]->m.shape[c->in[2]->m.ndim - 2];
  double p = dt_arg_float(c->args, 3), *v;
  void *data;
  DtStatus st = DT_OK;
  if (total == 0) return DT_OK;
  DT_TRYG(c->cx, op_temp(c->cx, DT_F64, n, out->m.shape, &t));
  DT_TRYG(c->cx, dt_tensor_data(c->cx, t, &data));
  v = data;
  for (int64_t i = 0; i < total; i++) {
    int64_t r = ix[n - 2], k = ix[n - 1];
    v[i] = 0;
    for (int64_t j = 0; j < rows; j++)
      v[i] += cdist_slope(p, at(c->in[1], n, ix, r, k) -
                             at(c->in[2], n, ix, j, k),
                          at(dt_kin(c, 4), n, ix, r, j),
                          at(c->in[0], n, ix, r, j));
    for (int d = n - 1; d >= 0; d--) {
      if (++ix[d] < out->m.shape[d]) break;
      ix[d] = 0;
    }
  }
  DT_TRYG(c->cx, dt_k_copy(c->cx, t, out));
done:
  dt_tensor_unref(c->cx, t);
  return st;
}

/* ---- the sum of products of three tensors with dims of 1 inserted ---- */

typedef struct Tri { DtMeta m[3]; uint32_t sum; int n; } Tri;

static DtStatus tri_shapes (DtCtx *cx, const DtArgs *a,
                            const DtMeta *const *in, Tri *t) {
  int64_t list[DT_MAX_NDIM];
  t->n = in[0]->ndim + op_ints(a, 3, list);
  t->sum = 0;
  DT_CHECK(cx, t->n <= DT_MAX_NDIM, DT_E_LIMIT, "at most %d dimensions",
           DT_MAX_NDIM);
  for (int i = 0; i < 3; i++) {
    int k = op_ints(a, 3 + i, list), from = 0;
    uint32_t ones = 0;
    for (int j = 0; j < k; j++) {
      DT_CHECK(cx, list[j] >= 0 && list[j] < t->n, DT_E_RUNTIME,
               "_trilinear: dim %lld is out of range", (long long)list[j]);
      ones |= 1u << list[j];
    }
    DT_CHECK(cx, in[i]->ndim + k == t->n, DT_E_RUNTIME,
             "_trilinear: expanded operands differ in their dims");
    t->m[i] = *in[i];
    t->m[i].ndim = (uint8_t)t->n;
    for (int d = 0; d < t->n; d++) {
      bool one = ones >> d & 1u;
      t->m[i].shape[d] = one ? 1 : in[i]->shape[from];
      t->m[i].stride[d] = one ? 0 : in[i]->stride[from];
      from += !one;
    }
  }
  int k = op_ints(a, 6, list);
  for (int j = 0; j < k; j++)
    if (list[j] >= 0 && list[j] < t->n) t->sum |= 1u << list[j];
  return DT_OK;
}
static DtStatus trilinear_meta (DtMetaCall *c) {
  Tri t;
  DtMeta r;
  DT_TRY(c->cx, tri_shapes(c->cx, c->args, c->in, &t));
  OpOperand o[3] = { { .m = &t.m[0] }, { .m = &t.m[1] }, { .m = &t.m[2] } };
  DT_TRY(c->cx, op_broadcast(c->cx, 3, o, (DtDtype)c->in[0]->dtype, &r));
  c->nout = 1;
  return op_reduced(c->cx, &r, t.sum, false, (DtDtype)r.dtype, &c->out[0]);
}
static DtStatus trilinear_kernel (DtKernelCall *c) {
  const DtMeta *in[3];
  DtTensor v[3], *x = NULL;
  DtMeta r;
  DtDtype ty = (DtDtype)c->out[0]->m.dtype;
  Tri t;
  DtStatus st = DT_OK;
  for (int i = 0; i < 3; i++) in[i] = &c->in[i]->m;
  DT_TRY(c->cx, tri_shapes(c->cx, c->args, in, &t));
  for (int i = 0; i < 3; i++) {
    v[i] = *c->in[i];
    v[i].m = t.m[i];
  }
  OpOperand o[3] = { { .m = &t.m[0] }, { .m = &t.m[1] }, { .m = &t.m[2] } };
  DT_TRY(c->cx, op_broadcast(c->cx, 3, o, ty, &r));
  DT_TRYG(c->cx, op_temp(c->cx, ty, r.ndim, r.shape, &x));
  DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_mul, ty, NULL, &v[0], &v[1], x));
  DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_mul, ty, NULL, x, &v[2], x));
  DT_TRYG(c->cx, dt_k_reduce(c->cx, DT_RED_SUM, NULL, x, t.sum, c->out[0]));
done:
  dt_tensor_unref(c->cx, x);
  return st;
}
/* Each gradient is the same sum with the result's gradient in its place. */
static DtStatus trilinear_grad (DtGradCall *c) {
  DtHandle *g = c->gout[0];
  const DtValue *v = c->args->v;
  if (op_g_need(c, 0))
    op_g_set(c, 0, E("aten._trilinear.default", "tttvvvv", g, c->in[1],
                     c->in[2], v[6], v[4], v[5], v[3]));
  if (op_g_need(c, 1))
    op_g_set(c, 1, E("aten._trilinear.default", "tttvvvv", c->in[0], g,
                     c->in[2], v[3], v[6], v[5], v[4]));
  if (op_g_need(c, 2))
    op_g_set(c, 2, E("aten._trilinear.default", "tttvvvv", c->in[0], c->in[1],
                     g, v[3], v[4], v[6], v[5]));
  return op_g_finish(c);
}

/* ---- definitions ---- */

#define MD(id, schema_, brief_, flags_, samples_, ...) \
  static const char *const id##_samples[] = { samples_, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = flags_, \
    .samples = id##_samples, __VA_ARGS__ }
MD(_cdist_backward, "_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float "
   "p, Tensor cdist) -> Tensor", "Gradient of distances by the first rows.",
   DT_OP_NOGRAD | DT_OP_NOSTRATEGY,
   "f32[4, 5], f32[4, 3], f32[5, 3], 2.0, f32[4, 5]", .meta = cdist_back_meta,
   .kernel = cdist_back_kernel);
MD(_cdist_forward, "_cdist_forward(Tensor x1, Tensor x2, float p, int? "
   "compute_mode) -> Tensor", "Distances of all pairs of rows.",
   DT_OP_SAVE_OUT | DT_OP_NOSTRATEGY, "f32[4, 3], f32[5, 3], 2.0, None",
   .meta = cdist_meta, .kernel = cdist_kernel, .grad = cdist_grad);
MD(_grouped_mm, "_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, "
   "Tensor? bias=None, ScalarType? out_dtype=None) -> Tensor",
   "Products of groups of rows, columns or matrices.", 0,
   "bf16[2, 8, 8], bf16[2, 8, 8]", .meta = grouped_meta,
   .kernel = grouped_kernel, .strategy = grouped_strategy,
   .grad = grouped_grad);
MD(_int_mm, "_int_mm(Tensor self, Tensor mat2) -> Tensor",
   "Product of int8 matrices as int32.", DT_OP_NOGRAD | DT_OP_NOSTRATEGY,
   "i8[4, 3], i8[3, 5]", .meta = int_mm_meta, .kernel = int_mm_kernel);
MD(_scaled_mm, "_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor "
   "scale_b, Tensor? bias=None, Tensor? scale_result=None, ScalarType? "
   "out_dtype=None, bool use_fast_accum=False) -> Tensor",
   "Product of float8 matrices times their scales.", DT_OP_NOGRAD,
   "f8_e4m3fn[16, 16], f8_e4m3fn[16, 16], f32[], f32[], out_dtype=bf16",
   .meta = scaled_mm_meta, .kernel = scaled_mm_kernel,
   .rulefn = scaled_mm_rules);
MD(_trilinear, "_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, "
   "int[] expand2, int[] expand3, int[] sumdim, int unroll_dim=1) -> Tensor",
   "Products of three tensors with dims inserted, summed.", DT_OP_NOSTRATEGY,
   "f32[2, 3], f32[5, 3, 4], f32[2, 4], [1, 3], [0], [1, 2], [2, 3]",
   .meta = trilinear_meta, .kernel = trilinear_kernel,
   .grad = trilinear_grad);
MD(addbmm, "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar "
   "beta=1, Scalar alpha=1) -> Tensor",
   "beta self + alpha times the sum of a batch's products.", DT_OP_NOSTRATEGY,
   "f32[2, 4], f32[3, 2, 5], f32[3, 5, 4]", .meta = addbmm_meta,
   .kernel = addbmm_kernel, .grad = addbmm_grad);
MD(addmv, "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar "
   "alpha=1) -> Tensor", "beta self + alpha mat vec.", 0,
   "f32[8], f32[8, 6], f32[6]", .meta = addmv_meta, .kernel = addmv_kernel,
   .grad = addmv_grad, .decomp = op_d_program,
   .program = "m = mv(mat, vec); a = mul.Tensor(m, alpha); b = "
              "mul.Tensor(self, beta); add.Tensor(a, b)");
MD(addr, "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar "
   "alpha=1) -> Tensor", "beta self + alpha times all products of two vectors.",
   0, "f32[8, 6], f32[8], f32[6]", .meta = addr_meta, .kernel = addr_kernel,
   .grad = addr_grad, .decomp = addr_decomp);
MD(vdot, "vdot(Tensor self, Tensor other) -> Tensor",
   "Inner product of two vectors, the first conjugated.", 0,
   "f32[8], f32[8]", .meta = vdot_meta, .kernel = vdot_kernel,
   .grad = vdot_grad, .decomp = vdot_decomp);
