/* SPDX-License-Identifier: MIT
** oplib/op_complex.c: complex numbers as pairs of reals and back, parts,
** conjugates.
**
** view_as_real and view_as_complex share storage: the engine rescales offsets
** where the element size changes.  Conjugates are views (op_math.c). */
#include "oplib/oplib_int.h"
#include "oplib/ruling_int.h"
#include "oplib/emitting.h"

#include <math.h>
#include <string.h>

static bool is_complex (const DtMeta *m) {
  return dt_dtype_is_complex((DtDtype)m->dtype);
}

/* ---- views ---- */

static DtStatus as_real_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  DtMeta *o = &c->out[0];
  int64_t shape[DT_MAX_NDIM];
  int n = m->ndim;
  DT_CHECK_SAY0(c->cx, is_complex(m), DT_E_RUNTIME, AS_REAL);
  DT_CHECK(c->cx, n < DT_MAX_NDIM, DT_E_LIMIT, "at most %d dimensions",
           DT_MAX_NDIM);
  memcpy(shape, m->shape, sizeof(int64_t) * (size_t)n);
  shape[n] = 2;
  DT_TRY(c->cx, op_new_meta(c->cx, o, dt_dtype_to_real((DtDtype)m->dtype),
                            n + 1, shape, m));
  for (int i = 0; i < n; i++) o->stride[i] = 2 * m->stride[i];
  o->stride[n] = 1;
  c->nout = 1;
  return DT_OK;
}

static DtStatus as_complex_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  DtMeta *o = &c->out[0];
  DtDtype t = (DtDtype)m->dtype;
  int n = m->ndim;
  DT_CHECK_SAY(c->cx, !dt_dtype_is_complex(t), DT_E_RUNTIME,
               AS_COMPLEX_OF_COMPLEX, op_dtype_word(t));
  DT_CHECK_SAY(c->cx, t == DT_F16 || t == DT_F32 || t == DT_F64,
               DT_E_RUNTIME, AS_COMPLEX, op_dtype_word(t));
  DT_CHECK(c->cx, n > 0, DT_E_RUNTIME,
           "Input tensor must have one or more dimensions");
  DT_CHECK(c->cx, m->shape[n - 1] == 2, DT_E_RUNTIME,
           "Tensor must have a last dimension of size 2");
  DT_CHECK(c->cx, m->stride[n - 1] == 1, DT_E_RUNTIME,
           "Tensor must have a last dimension with stride 1");
  for (int i = 0; i < n - 1; i++)
    DT_CHECK(c->cx, m->stride[i] % 2 == 0, DT_E_RUNTIME, "Tensor must have a "
             "stride divisible by 2 for all but last dimension");
  DT_TRY(c->cx, op_new_meta(c->cx, o, dt_dtype_to_complex(t), n - 1, m->shape,
                            m));
  for (int i = 0; i < n - 1; i++) o->stride[i] = m->stride[i] / 2;
  c->nout = 1;
  return DT_OK;
}

/* PyTorch splits the last dim in itself and the pair. */
static DtStatus as_real_strategy (DtStratCall *c) {
  OpViewMap m = { .n = 0 };
  const DtMeta *in = &c->in[0]->meta;
  int n = in->ndim;
  DT_CHECK(c->cx, n > 0, DT_E_INDEX, "tuple index out of range");
  for (int i = 0; i < n - 1; i++) op_vm_add(&m, OV_INPUT, i);
  for (int id = 0; id < 2; id++) {
    op_vm_add(&m, OV_SPLIT, n - 1);
    OpView *v = &m.v[m.n - 1];
    v->ngroup = 2;
    v->group[0] = in->shape[n - 1];
    v->group[1] = 2;
    v->id = (int8_t)id;
  }
  return op_vm_strategy(c, &m, false);
}

static DtStatus as_complex_rules (DtRuleCall *c) {
  static const DtRedOp ops[] = { DT_OP_SUM, DT_OP_AVG };
  for (int d = 0; d < c->in[0]->ndim - 1; d++) {
    DtCell row[2] = { dt_c_s(d), dt_c_s(d) };
    dt_rows_add(c->rows, row);
  }
  for (int i = 0; i < 2; i++) {
    DtCell row[2] = { dt_c_p(ops[i]), dt_c_p(ops[i]) };
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

static DtHandle *contiguous (DtEmit *e, DtHandle *h) {
  if (!dt_emit_ok(e) || dt_meta_is_contiguous(dt_emit_meta(e, h))) return h;
  return dt_emit(e, "aten.clone.default", "t memory_format=v", h,
                 dt_v_code(DT_V_MEMFMT, 0));
}
static DtStatus as_real_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten.view_as_complex.default", "t",
                      contiguous(c->e, c->gout[0])));
  return op_g_finish(c);
}
static DtStatus as_complex_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten.view_as_real.default", "t",
                      contiguous(c->e, c->gout[0])));
  return op_g_finish(c);
}

/* ---- parts ---- */

static DtHandle *part (DtEmit *e, DtHandle *h, int which) {
  const DtMeta *m = dt_emit_meta(e, h);
  int n = m->ndim;
  if (!dt_emit_ok(e) || !is_complex(m)) return h;
  bool conj = (dt_emit_marks(e, h) & DT_MARK_CONJ) != 0;
  if (conj) h = dt_emit(e, "aten._conj.default", "t", h);
  h = dt_emit(e, "aten.view_as_real.default", "t", h);
  if (conj && which == 1) h = dt_emit(e, "aten._neg_view.default", "t", h);
  return dt_emit(e, "aten.select.int", "tii", h, (int64_t)n, (int64_t)which);
}
static DtStatus isreal_decomp (DtDecompCall *c) {
  const DtMeta *m = dt_emit_meta(c->e, c->in[0]);
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (!is_complex(m))
    return finish(c, EMIT("aten.ones_like.default",
                          "t dtype=d memory_format=v",
                          c->in[0], (int)DT_BOOL, dt_v_code(DT_V_MEMFMT,
                          (int64_t)dt_memfmt_find("preserve_format"))));
  return finish(c, EMIT("aten.eq.Scalar", "ti", part(c->e, c->in[0], 1),
                        (int64_t)0));
}

/* ---- conjugates ---- */

static DtHandle *conjugate (DtEmit *e, DtHandle *h) {
  if (!dt_emit_ok(e) || !is_complex(dt_emit_meta(e, h))) return h;
  return dt_emit(e, "aten._conj.default", "t", h);
}

/* ---- complex, polar: two reals to one complex ---- */

static DtStatus join_meta (DtMetaCall *c) {
  const DtMeta *a = c->in[0], *b = c->in[1];
  OpOperand o[2] = { { .m = a }, { .m = b } };
  DtDtype t = (DtDtype)a->dtype;
  DT_CHECK_SAY(c->cx, (t == DT_F16 || t == DT_F32 || t == DT_F64) &&
               (b->dtype == DT_F16 || b->dtype == DT_F32 ||
                b->dtype == DT_F64), DT_E_RUNTIME, JOIN_FLOATS,
               op_dtype_word(t), op_dtype_word((DtDtype)b->dtype));
  DT_CHECK(c->cx, a->dtype == b->dtype, DT_E_RUNTIME, "Expected object of "
           "scalar type %s but got scalar type %s for second argument",
           op_dtype_word(t), op_dtype_word((DtDtype)b->dtype));
  if (c->fake) DT_TRY(c->cx, op_py_broadcast(c->cx, 2, o));
  c->nout = 1;
  return op_broadcast(c->cx, 2, o, dt_dtype_to_complex(t), &c->out[0]);
}

/* Write `src` into one part of a complex tensor. */
static DtStatus put_part (DtKernelCall *c, const DtTensor *src, int which) {
  DtTensor v = *c->out[0];
  v.m.dtype = (uint8_t)dt_dtype_to_real((DtDtype)v.m.dtype);
  v.offset = 2 * v.offset + which;
  for (int i = 0; i < v.m.ndim; i++) v.m.stride[i] *= 2;
  return dt_k_copy(c->cx, src, &v);
}
static DtStatus complex_kernel (DtKernelCall *c) {
  DT_TRY(c->cx, put_part(c, c->in[0], 0));
  return put_part(c, c->in[1], 1);
}
static DtStatus polar_kernel (DtKernelCall *c) {
  static const DtUnary turn[] = { DT_U_cos, DT_U_sin };
  DtTensor *out = c->out[0], *t = NULL;
  DtDtype r = (DtDtype)c->in[0]->m.dtype;
  DtStatus st = DT_OK;
  if ((c->op->flags & DT_OP_LATER) == 0)        /* later also halves */
    DT_TRYG(c->cx, op_kernel_allows(c->cx, c->op, NULL, r, false));
  DT_TRYG(c->cx, op_temp(c->cx, r, out->m.ndim, out->m.shape, &t));
  for (int i = 0; i < 2; i++) {
    DT_TRYG(c->cx, dt_k_copy(c->cx, c->in[1], t));
    DT_TRYG(c->cx, dt_k_unary(c->cx, turn[i], r, NULL, t, t));
    DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_mul, r, NULL, t, c->in[0], t));
    DT_TRYG(c->cx, put_part(c, t, i));
  }
done:
  dt_tensor_unref(c->cx, t);
  return st;
}

/* Traced as PyTorch's Python does it: an empty result, written part by part.
** No kernel runs this. */
static DtHandle *empty_pair (DtDecompCall *c) {
  DtMeta a, b, r;
  dt_meta_copy(&a, dt_emit_meta(c->e, c->in[0]));
  dt_meta_copy(&b, dt_emit_meta(c->e, c->in[1]));
  if (!dt_emit_ok(c->e)) return NULL;
  if ((c->e->st = dt_meta_broadcast(c->e->cx, &a, &b, &r)) != DT_OK)
    return NULL;
  return EMIT("aten.new_empty.default", "tI dtype=d", c->in[0], (int)r.ndim,
              r.shape, (int)dt_dtype_to_complex((DtDtype)a.dtype));
}
static void write_part (DtDecompCall *c, DtHandle *to, int which,
                        DtHandle *from) {
  (void)EMIT("aten.copy_.default", "tt", part(c->e, to, which), from);
}
static DtStatus complex_decomp (DtDecompCall *c) {
  DtHandle *r = empty_pair(c);
  write_part(c, r, 0, c->in[0]);
  write_part(c, r, 1, c->in[1]);
  return finish(c, r);
}
static DtStatus polar_decomp (DtDecompCall *c) {
  DtHandle *r, *x;
  DT_TRY(c->e->cx, complex_decomp(c));
  r = c->out[0];
  x = EMIT("aten.cos.default", "t", c->in[1]);
  write_part(c, r, 0, EMIT("aten.mul.Tensor", "tt", c->in[0], x));
  x = EMIT("aten.sin.default", "t", c->in[1]);
  write_part(c, r, 1, EMIT("aten.mul.Tensor", "tt", c->in[0], x));
  return finish(c, r);
}
/* The later way: both parts first, then joined. */
DtStatus op_rd_polar (DtDecompCall *c) {
  DtHandle *re, *im;
  re = EMIT("aten.cos.default", "t", c->in[1]);
  re = EMIT("aten.mul.Tensor", "tt", c->in[0], re);
  im = EMIT("aten.sin.default", "t", c->in[1]);
  im = EMIT("aten.mul.Tensor", "tt", c->in[0], im);
  return finish(c, EMIT("aten.complex.default", "tt", re, im));
}

static DtStatus complex_grad (DtGradCall *c) {
  for (int i = 1; i >= 0; i--)          /* imag, real: by name */
    if (op_g_need(c, i)) op_g_set(c, i, part(c->e, c->gout[0], i));
  return op_g_finish(c);
}
static DtStatus polar_grad (DtGradCall *c) {
  DtHandle *g = conjugate(c->e, c->gout[0]), *x;
  if (op_g_need(c, 0)) {
    x = EMIT("aten.sgn.default", "t", c->out[0]);
    op_g_set(c, 0, part(c->e, EMIT("aten.mul.Tensor", "tt",
                                   EMIT("aten.clone.default", "t", g), x), 0));
  }
  if (op_g_need(c, 1)) {
    x = EMIT("aten.mul.Scalar", "tv", c->out[0], dt_v_complex(0, 1));
    op_g_set(c, 1, part(c->e, EMIT("aten.mul.Tensor", "tt",
                                   EMIT("aten.clone.default", "t", g), x), 0));
  }
  return op_g_finish(c);
}

/* ---- definitions ---- */

static const char *const c_samples[] = { "c64[4, 3]", "c128[2]", NULL };
static const char *const pair_samples[] = { "f32[4, 2]", "f64[3, 5, 2]",
                                            NULL };
static const char *const any_samples[] = { "f32[4, 3]", "c64[4, 3]", NULL };
static const char *const two_samples[] = { "f32[4, 3], f32[4, 3]",
                                           "f64[4, 1], f64[3]", NULL };

const DtOpDef dt_op_view_as_real = {
  .schema = "aten::view_as_real(Tensor(a) self) -> Tensor(a)",
  .brief = "Complex numbers as pairs of reals.", .flags = DT_OP_VIEW,
  .meta = as_real_meta, .strategy = as_real_strategy, .grad = as_real_grad,
  .samples = c_samples
};
const DtOpDef dt_op_view_as_complex = {
  .schema = "aten::view_as_complex(Tensor(a) self) -> Tensor(a)",
  .brief = "Pairs of reals as complex numbers.", .flags = DT_OP_VIEW,
  .meta = as_complex_meta, .rulefn = as_complex_rules,
  .grad = as_complex_grad, .samples = pair_samples
};
const DtOpDef dt_op_complex = {
  .schema = "aten::complex(Tensor real, Tensor imag) -> Tensor",
  .brief = "Complex numbers of two parts.", .meta = join_meta,
  .kernel = complex_kernel, .decomp = complex_decomp, .grad = complex_grad,
  .samples = two_samples
};
const DtOpDef dt_op_polar = {
  .schema = "aten::polar(Tensor abs, Tensor angle) -> Tensor",
  .brief = "Complex numbers of length and angle.", .flags = DT_OP_SAVE_OUT,
  .meta = join_meta, .kernel = polar_kernel, .decomp = polar_decomp,
  .grad = polar_grad, .samples = two_samples
};

#define CV(id, schema_, brief_, decomp_, samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = DT_OP_COMPOSITE, \
    .decomp = decomp_, .samples = samples_ }
CV(isreal, "isreal(Tensor self) -> Tensor", "Is the imaginary part 0?",
   isreal_decomp, any_samples);
