/* SPDX-License-Identifier: MIT
** oplib/op_matmul_more.c: the less common matrix products: addmv, addr,
** addbmm, vdot.
**
** Those that PyTorch decomposes for sharding carry that program; those with a
** rule of their own follow the letters of a matrix product (op_matmul.c). */
#include "oplib/define.h"
#include "oplib/oplib_int.h"
#include "oplib/ruling_int.h"

#include <math.h>


static DtHandle *conj_of (DtEmit *e, DtHandle *h) {
  if (!dt_emit_ok(e) ||
      !dt_dtype_is_complex((DtDtype)dt_emit_meta(e, h)->dtype))
    return h;
  return dt_emit(e, "aten._conj.default", "t", h);
}

/* ---- addmv ---- */

static DtStatus addmv_meta (DtMetaCall *c) {
  const DtMeta *s = c->in[0], *m = c->in[1], *v = c->in[2];
  if (c->fake) {
    DtMeta o;
    DT_TRY(c->cx, op_check_mv(c->cx, m, v));
    DT_TRY(c->cx, op_new_meta(c->cx, &o, (DtDtype)v->dtype, 1, m->shape, v));
    c->nout = 1;
    if ((c->op->flags & DT_OP_LATER) == 0)
      return op_py_pair(c->cx, &o, s, &c->out[0]);
    dt_meta_copy(&c->out[0], &o);
    return op_check_expand(c, s, &o);
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
  DT_TRYG(c->cx, op_k_combine(c, c->in[0], dt_arg_scalar(c->args, 3),
                         dt_arg_scalar(c->args, 4)));
done:
  dt_tensor_unref(c->cx, a);
  dt_tensor_unref(c->cx, b);
  return st;
}

/* The later way expands self, whatever its size. */
DtStatus op_rd_addmv (DtDecompCall *c) {
  int64_t n = dt_emit_meta(c->e, c->in[1])->shape[0];
  DtHandle *x = EMIT("aten.mv.default", "tt", c->in[1], c->in[2]), *s;
  x = EMIT("aten.mul.Tensor", "tv", x, c->args->v[4]);
  s = EMIT("aten.expand.default", "tI", c->in[0], 1, &n);
  s = EMIT("aten.mul.Tensor", "tv", s, c->args->v[3]);
  c->out[0] = EMIT("aten.add.Tensor", "tt", x, s);
  c->nout = 1;
  return c->e->st;
}

static DtStatus addmv_grad (DtGradCall *c) {
  DtHandle *g = c->gout[0], *x;
  if (op_g_need(c, 1)) {
    int64_t col[2] = { dt_emit_meta(c->e, g)->shape[0], 1 };
    DtHandle *v = conj_of(c->e, c->in[2]);
    x = EMIT("aten.view.default", "tI", g, 2, col);
    x = EMIT("aten.mul.Tensor", "tt", x, v);
    op_g_set(c, 1, op_g_scale(c, x, 4));
  }
  if (op_g_need(c, 0)) op_g_set(c, 0, op_g_scale(c, g, 3));
  if (op_g_need(c, 2)) {
    x = EMIT("aten.t.default", "t", c->in[1]);
    x = EMIT("aten.mv.default", "tt", conj_of(c->e, x), g);
    op_g_set(c, 2, op_g_scale(c, x, 4));
  }
  return op_g_finish(c);
}

/* ---- addr ---- */

static DtStatus addr_meta (DtMetaCall *c) {
  const DtMeta *s = c->in[0], *a = c->in[1], *b = c->in[2];
  OpOperand o[3] = { { .m = s }, { .m = a }, { .m = b } };
  DtDtype t = op_promote(c->cx, 3, o);
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
  bool follows = !c->fake && dt_meta_same_shape(s, &c->out[0]);
  return follows ? op_broadcast(c->cx, 1, o, t, &c->out[0]) : DT_OK;
}

/* Types of 16 bits hold the factors and each product: alpha * vec1 comes first. */
static DtStatus addr_kernel (DtKernelCall *c) {
  DtTensor *a = c->in[1], *col = NULL, *scaled = NULL;
  int64_t shape[2] = { a->m.shape[0], 1 }, stride[2] = { a->m.stride[0], 1 };
  DtScalar beta = dt_arg_scalar(c->args, 3), alpha = dt_arg_scalar(c->args, 4);
  DtDtype t = (DtDtype)c->out[0]->m.dtype;
  DtStatus st;
  DT_TRYG(c->cx, op_restride(c->cx, a, 2, shape, stride, 0, &col));
  if (t == DT_BF16 || t == DT_F16) {
    DT_TRYG(c->cx, op_number_fits(c->cx, beta, t));
    DT_TRYG(c->cx, op_number_fits(c->cx, alpha, t));
    beta = dt_scalar_float(op_held(t, dt_arg_float(c->args, 3)));
    alpha = dt_scalar_float(op_held(t, dt_arg_float(c->args, 4)));
    DT_TRYG(c->cx, op_temp(c->cx, t, 2, shape, &scaled));
    DT_TRYG(c->cx, dt_k_unary(c->cx, DT_U_mul_scalar, t, &alpha, col, scaled));
    alpha = dt_scalar_int(1);
  }
  DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_mul, t, NULL, scaled ? scaled : col,
                             c->in[2], c->out[0]));
  DT_TRYG(c->cx, op_k_combine(c, c->in[0], beta, alpha));
done:
  dt_tensor_unref(c->cx, col);
  dt_tensor_unref(c->cx, scaled);
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
  s = EMIT("aten.expand.default", "tI", c->in[0], 2, shape);
  if (beta.re != 0) s = EMIT("aten.mul.Tensor", "tv", s, c->args->v[3]);
  x = EMIT("aten.view.default", "tI", c->in[1], 2, col);
  x = EMIT("aten.mul.Tensor", "tt", x, c->in[2]);
  x = EMIT("aten.mul.Tensor", "tv", x, c->args->v[4]);
  if (beta.re != 0) x = EMIT("aten.add.Tensor", "tt", s, x);
  c->out[0] = x;
  c->nout = 1;
  return c->e->st;
}

static DtStatus addr_grad (DtGradCall *c) {
  DtHandle *g = c->gout[0], *x;
  if (op_g_need(c, 0)) op_g_set(c, 0, op_g_scale(c, g, 3));
  if (op_g_need(c, 1)) {
    x = EMIT("aten.mv.default", "tt", g, conj_of(c->e, c->in[2]));
    op_g_set(c, 1, op_g_scale(c, x, 4));
  }
  if (op_g_need(c, 2)) {
    DtHandle *t = EMIT("aten.t.default", "t", g);
    x = EMIT("aten.mv.default", "tt", t, conj_of(c->e, c->in[1]));
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

/* t += alpha times the sum of the products. */
static DtStatus add_products (DtKernelCall *c, double alpha, DtTensor *t) {
  int64_t n = c->in[1]->m.shape[0];
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
    DT_TRY(c->cx, dt_k_gemm(c->cx, alpha, &v[0], &v[1], 1, t));
  }
  return DT_OK;
}

static DtStatus addbmm_kernel (DtKernelCall *c) {
  DtTensor *out = c->out[0], *t = NULL;
  DtDtype ty = (DtDtype)out->m.dtype;
  double alpha = dt_arg_float(c->args, 4), beta = dt_arg_float(c->args, 3);
  DtScalar s = dt_scalar_float(beta);
  DtStatus st = op_k_factors_fit(c, ty);
  if (st != DT_OK) return st;
  if (dt_dtype_is_complex(ty)) {
    DT_TRY(c->cx, dt_k_fill(c->cx, out, dt_scalar_int(0)));
    DT_TRY(c->cx, add_products(c, 1, out));
    return op_k_combine(c, c->in[0], dt_arg_scalar(c->args, 3),
                        dt_arg_scalar(c->args, 4));
  }
  if (dt_dtype_is_integral(ty, true)) {
    alpha = trunc(alpha);
    s = dt_scalar_int((int64_t)beta);
  }
  DT_TRYG(c->cx, op_temp(c->cx, ty, 2, out->m.shape, &t));
  if (beta == 0) DT_TRYG(c->cx, dt_k_fill(c->cx, t, dt_scalar_int(0)));
  else DT_TRYG(c->cx, dt_k_copy(c->cx, c->in[0], t));
  if (beta != 0 && beta != 1)
    DT_TRYG(c->cx, dt_k_unary(c->cx, DT_U_mul_scalar, ty, &s, t, t));
  DT_TRYG(c->cx, add_products(c, alpha, t));
  DT_TRYG(c->cx, dt_k_copy(c->cx, t, out));
done:
  dt_tensor_unref(c->cx, t);
  return st;
}

static DtHandle *spread (DtGradCall *c, DtHandle *g, int64_t n) {
  const DtMeta *m = dt_emit_meta(c->e, g);
  int64_t shape[3] = { n, m->shape[0], m->shape[1] };
  g = EMIT("aten.unsqueeze.default", "ti", g, (int64_t)0);
  return EMIT("aten.expand.default", "tI", g, 3, shape);
}
static DtHandle *turned (DtGradCall *c, DtHandle *h) {
  return conj_of(c->e, EMIT("aten.transpose.int", "tii", h, (int64_t)1,
                            (int64_t)2));
}
static DtStatus addbmm_grad (DtGradCall *c) {
  DtHandle *g = c->gout[0], *x;
  int64_t n = dt_emit_meta(c->e, c->in[1])->shape[0];
  if (op_g_need(c, 1)) {
    x = spread(c, g, n);
    x = EMIT("aten.bmm.default", "tt", x, turned(c, c->in[2]));
    op_g_set(c, 1, op_g_scale(c, x, 4));
  }
  if (op_g_need(c, 2)) {
    x = turned(c, c->in[1]);
    x = EMIT("aten.bmm.default", "tt", x, spread(c, g, n));
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
  c->out[0] = EMIT("aten.dot.default", "tt", conj_of(c->e, c->in[0]),
                   c->in[1]);
  c->nout = 1;
  return c->e->st;
}
static DtStatus vdot_grad (DtGradCall *c) {
  DtHandle *g = c->gout[0];
  if (op_g_need(c, 1))
    op_g_set(c, 1, EMIT("aten.mul.Tensor", "tt", g, c->in[0]));
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", conj_of(c->e, g), c->in[1]));
  return op_g_finish(c);
}

/* ---- definitions ---- */

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
