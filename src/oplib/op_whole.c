/* SPDX-License-Identifier: MIT
** oplib/op_whole.c: activations and losses that PyTorch computes whole but
** places by their decomposition.
**
** Each has a kernel and the program by which its placements are found; its
** gradient is another whole operator.  Losses are pairs of elements, then
** reduced as the argument says. */
#include "oplib/casting.h"
#include "oplib/pw_rows.h"
#include "oplib/second.h"

#include <string.h>

enum { RED_NONE, RED_MEAN, RED_SUM };

/* ---- losses: (self, target, reduction, parameter) ---- */

enum { LO_FN, LO_PAR, LO_OWN_TYPE };    /* a row of a loss */

/* Any other number means none, as in PyTorch. */
static int reduction (const DtArgs *a) {
  int64_t r = dt_arg_int(a, dt_schema_arg(a->schema, "reduction"));
  return r == RED_MEAN || r == RED_SUM ? (int)r : RED_NONE;
}

static DtDtype loss_type (const DtMetaCall *c, const OpOperand *o) {
  return c->op->row[LO_OWN_TYPE] ? (DtDtype)o[0].m->dtype
                                 : op_promote(c->cx, 2, o);
}

static DtStatus loss_meta (DtMetaCall *c) {
  const char *name = c->op->sig != NULL ? c->op->sig->base : "";
  bool smooth = strcmp(name, "smooth_l1_loss") == 0;
  double at = smooth || strcmp(name, "huber_loss") == 0
              ? dt_arg_float(c->args, 3) : 1;
  DT_CHECK(c->cx, !smooth || !(at < 0), DT_E_RUNTIME, "smooth_l1_loss does "
           "not support negative values for beta.");
  DT_CHECK(c->cx, smooth || at > 0, DT_E_RUNTIME, "huber_loss does not "
           "support non-positive values for delta.");
  OpOperand o[2] = { { .m = dt_in(c, 0) }, { .m = dt_in(c, 1) } };
  DtMeta m;
  DT_TRY(c->cx, op_promotable(c->cx, 2, o));
  DT_TRY(c->cx, op_broadcast(c->cx, 2, o, loss_type(c, o), &m));
  if (!c->fake)
    DT_TRY(c->cx, op_castable(c->cx, op_promote(c->cx, 2, o),
                              (DtDtype)m.dtype));
  c->nout = 1;
  if (reduction(c->args) == RED_NONE) {
    dt_meta_copy(&c->out[0], &m);
    return DT_OK;
  }
  return op_new_meta(c->cx, &c->out[0], (DtDtype)m.dtype, 0, NULL, &m);
}

static void loss_params (const DtKernelCall *c, DtScalar *p) {
  memset(p, 0, 4 * sizeof *p);
  if (c->op->row[LO_PAR] >= 0)
    p[0] = dt_arg_scalar(c->args, c->op->row[LO_PAR]);
}

DtStatus op_reduced_binary (DtKernelCall *c, DtBinary f, DtDtype t, DtDtype to,
                            const DtScalar *p, DtTensor *a, DtTensor *b,
                            DtReduce how) {
  DtTensor *tmp = NULL;
  DtMeta m;
  DtStatus st;
  DT_TRYG(c->cx, dt_meta_broadcast(c->cx, &a->m, &b->m, &m));
  DT_TRYG(c->cx, op_temp(c->cx, to, m.ndim, m.shape, &tmp));
  DT_TRYG(c->cx, dt_k_binary(c->cx, f, t, p, a, b, tmp));
  DT_TRYG(c->cx, dt_k_reduce(c->cx, how, NULL, tmp,
                             m.ndim ? (1u << m.ndim) - 1 : 0, c->out[0]));
done:
  dt_tensor_unref(c->cx, tmp);
  return st;
}

static DtStatus loss_kernel (DtKernelCall *c) {
  DtTensor *a = dt_kin(c, 0), *b = dt_kin(c, 1);
  OpOperand o[2] = { { .m = &a->m }, { .m = &b->m } };
  DtDtype ct = op_promote(c->cx, 2, o), t = (DtDtype)c->out[0]->m.dtype;
  DtBinary fn = (DtBinary)c->op->row[LO_FN];
  int red = reduction(c->args);
  DtScalar p[4];
  DT_TRY(c->cx, op_kernel_allows(c->cx, c->op, NULL, ct, false));
  loss_params(c, p);
  if (red == RED_NONE)
    return dt_k_binary(c->cx, fn, ct, p, a, b, c->out[0]);
  return op_reduced_binary(c, fn, ct, t, p, a, b,
                           red == RED_MEAN ? DT_RED_MEAN : DT_RED_SUM);
}

/* Gradients: (grad, self, target, reduction, parameter). */
static DtStatus loss_back_meta (DtMetaCall *c) {
  OpOperand o[3] = { { .m = dt_in(c, 0) }, { .m = dt_in(c, 1) },
                     { .m = dt_in(c, 2) } };
  DT_TRY(c->cx, op_promotable(c->cx, 3, o));
  c->nout = 1;
  DT_TRY(c->cx, op_broadcast(c->cx, 3, o, op_promote(c->cx, 3, o), &c->out[0]));
  if (!c->fake) dt_meta_set_contiguous(&c->out[0]);
  return DT_OK;
}

static DtStatus loss_back_kernel (DtKernelCall *c) {
  OpOperand o[3];
  DtScalar p[4];
  DtTensor *in[3];
  int64_t n = dt_meta_numel(&dt_kin(c, 1)->m);
  memset(o, 0, sizeof o);
  for (int i = 0; i < 3; i++) {
    in[i] = dt_kin(c, i);
    o[i].m = &in[i]->m;
  }
  DtDtype ct = op_promote(c->cx, 3, o);
  DT_TRY(c->cx, op_kernel_allows(c->cx, c->op, NULL, ct, false));
  loss_params(c, p);
  p[1] = dt_scalar_float(reduction(c->args) == RED_MEAN && n
                         ? 1.0 / (double)n : 1.0);
  return dt_k_ternary(c->cx, (DtTernary)c->op->row[LO_FN], ct, p, in[0],
                      in[1], in[2], c->out[0]);
}

/* ---- log_sigmoid, prelu ---- */

static DtStatus log_sigmoid_meta (DtMetaCall *c) {
  const DtMeta *m = dt_in(c, 0);
  int64_t none = 0;
  op_like_meta(&c->out[0], m, (DtDtype)m->dtype);
  op_like_meta(&c->out[1], m, (DtDtype)m->dtype);
  for (int i = 0; i < 2 && !c->fake; i++) dt_meta_set_contiguous(&c->out[i]);
  c->nout = 2;
  return m->device == DT_DEV_CUDA       /* no buffer there */
         ? op_new_meta(c->cx, &c->out[1], (DtDtype)m->dtype, 1, &none, m)
         : DT_OK;
}

static DtStatus log_sigmoid_kernel (DtKernelCall *c) {
  DtTensor *x = dt_kin(c, 0);
  DtDtype t = (DtDtype)x->m.dtype;
  DT_TRY(c->cx, op_kernel_allows(c->cx, c->op, NULL, t, false));
  if (dt_meta_same_shape(&x->m, &c->out[1]->m))
    DT_TRY(c->cx, dt_k_unary(c->cx, DT_U_log_sigmoid_buffer, t, NULL, x,
                             c->out[1]));
  return dt_k_unary(c->cx, DT_U_log_sigmoid, t, NULL, x, c->out[0]);
}

static DtStatus log_sigmoid_back_meta (DtMetaCall *c) {
  OpOperand o[2] = { { .m = dt_in(c, 0) }, { .m = dt_in(c, 1) } };
  DtDtype t = (DtDtype)dt_in(c, 1)->dtype;
  for (int i = 0; i < 3 && !c->fake; i += 2)
    DT_TRY(c->cx, op_found_type(c->cx, dt_in(c, i), t));
  DT_TRY(c->cx, op_promotable(c->cx, 2, o));
  c->nout = 1;
  return op_broadcast(c->cx, 2, o, op_promote(c->cx, 2, o), &c->out[0]);
}

static DtStatus log_sigmoid_back_kernel (DtKernelCall *c) {
  DtDtype t = (DtDtype)c->out[0]->m.dtype;
  DT_TRY(c->cx, op_kernel_allows(c->cx, c->op, NULL, t, false));
  DtTensor *x = dt_kin(c, 1), *buf = dt_kin(c, 2), *own = NULL;
  DtStatus st = DT_OK;
  if (dt_meta_numel(&buf->m) == 0 && dt_meta_numel(&x->m) != 0) {
    DT_TRY(c->cx, op_temp(c->cx, t, x->m.ndim, x->m.shape, &own));
    st = dt_k_unary(c->cx, DT_U_log_sigmoid_buffer, t, NULL, x, own);
    buf = own;
  }
  if (st == DT_OK)
    st = dt_k_ternary(c->cx, DT_T3_log_sigmoid_backward, t, NULL,
                      dt_kin(c, 0), x, buf, c->out[0]);
  dt_tensor_unref(c->cx, own);
  return st;
}

/* Shapes before types, as PyTorch's iterator looks at them. */
static DtStatus prelu_meta (DtMetaCall *c) {
  DtMeta all;
  if (!c->fake) {
    DT_TRY(c->cx, dt_meta_broadcast(c->cx, c->in[0], dt_in(c, 1), &all));
    DT_TRY(c->cx, op_found_type(c->cx, dt_in(c, 1),
                                (DtDtype)c->in[0]->dtype));
  }
  return op_pw_meta(c);
}

static DtStatus prelu_back_meta (DtMetaCall *c) {
  OpOperand o[3] = { { .m = dt_in(c, 0) }, { .m = dt_in(c, 1) },
                     { .m = dt_in(c, 2) } };
  DtDtype t = op_promote(c->cx, 3, o);
  DT_TRY(c->cx, op_promotable(c->cx, 3, o));
  if (!c->fake) {               /* laid out as the input */
    o[0].m = dt_in(c, 1);
    o[1].m = dt_in(c, 0);
  }
  DT_TRY(c->cx, op_broadcast(c->cx, 3, o, t, &c->out[0]));
  c->nout = 2;
  return op_broadcast(c->cx, 3, o, t, &c->out[1]);
}

static DtStatus prelu_back_kernel (DtKernelCall *c) {
  static const DtTernary fn[] = { DT_T3_prelu_backward_input,
                                  DT_T3_prelu_backward_weight };
  for (int i = 0; i < 2; i++)
    if (c->out[i])
      DT_TRY(c->cx, dt_k_ternary(c->cx, fn[i], (DtDtype)c->out[i]->m.dtype,
                                 NULL, dt_kin(c, 0), dt_kin(c, 1),
                                 dt_kin(c, 2), c->out[i]));
  return DT_OK;
}

static DtStatus g_prelu (DtGradCall *c) {
  DtHandle *h[2];
  dt_emit_n(c->e, "aten._prelu_kernel_backward.default", h, 2, "ttt", GOUT,
            TENSOR(0),
            TENSOR(1));
  for (int i = 0; i < 2; i++)
    if (op_g_need(c, i)) op_g_set(c, i, h[i]);
  return op_g_finish(c);
}

/* One weight, or one for each channel, put along dim 1. */
static DtStatus prelu_decomp (DtDecompCall *c) {
  DtHandle *x = c->in[0], *w = c->in[1];
  DtMeta mx, mw;
  dt_meta_copy(&mx, dt_emit_meta(c->e, x));
  dt_meta_copy(&mw, dt_emit_meta(c->e, w));
  int64_t n = dt_meta_numel(&mw), shape[DT_MAX_NDIM];
  int64_t channels = mx.ndim > 1 ? mx.shape[1] : 1;
  DT_CHECK(c->e->cx, mx.dtype == mw.dtype, DT_E_RUNTIME,
           "prelu: Type promoting not supported. Got %s and %s",
           dt_dtype_word((DtDtype)mx.dtype), dt_dtype_word((DtDtype)mw.dtype));
  if (n != 1) {
    DT_CHECK(c->e->cx, mx.ndim > 0, DT_E_RUNTIME,
             "Not allow zero-dim input tensor.");
    DT_CHECK(c->e->cx, channels == n, DT_E_RUNTIME, "Mismatch of parameter "
             "numbers and input channel size. Found parameter numbers = %lld "
             "and channel size = %lld.", (long long)n, (long long)channels);
  }
  DT_CHECK(c->e->cx, mw.ndim <= 1, DT_E_RUNTIME, "prelu: Expected `weight` to "
           "be a scalar or 1D tensor, but got: ndim = %d", (int)mw.ndim);
  if (mw.ndim != mx.ndim) {
    for (int d = 0; d < mx.ndim; d++) shape[d] = 1;
    if (mx.ndim > 1) shape[1] = n;
    else if (mx.ndim == 1) shape[0] = n;
    w = dt_emit(c->e, "aten.view.default", "tI", w, (int)mx.ndim, shape);
  }
  c->out[0] = dt_emit(c->e, "aten._prelu_kernel.default", "tt", x, w);
  c->nout = 1;
  return c->e->st;
}

/* ---- rounded quotients ---- */

static DtStatus floor_divide_kernel (DtKernelCall *c) {
  OpOperand o[PWR_MAXN];
  int n = op_pw_operands(c->op, c->args, NULL, c->in, o);
  DtDtype ct = op_promote(c->cx, n, o);
  bool one = o[1].is_num || dt_meta_numel(o[1].m) == 1;
  DT_TRY(c->cx, op_kernel_allows(c->cx, c->op, "div_floor", ct, one));
  return op_pw_run(c->cx, c->op, DT_B_div_floor, ct, NULL, n, o, c->out[0]);
}
NOT_DIFFERENTIABLE(g_floor_divide,
                   "derivative for aten::floor_divide is not implemented")

/* ---- samples ---- */

static const char *const two[] = { "f32[8, 6], f32[8, 6]", "f32[7], f32[7]",
                                   "f32[0], f32[0]", NULL };
static const char *const num[] = { "f32[8, 6], 2.0", "i64[7], 3", NULL };
static const char *const back[] = {
  "f32[8, 6], f32[8, 6], f32[8, 6], 0, 1.0",
  "f32[], f32[8, 6], f32[8, 6], 1, 1.0", NULL
};
static const char *const three[] = { "f32[8, 6], f32[8, 6], f32[8, 6]", NULL };
static const char *const log_back[] = {
  "f32[8, 6], f32[8, 6], f32[8, 6]", "f32[7], f32[7], f32[7]", NULL
};
static const char *const prelu_samples[] = { "f32[8, 6], f32[6]",
                                             "f32[7], f32[1]", NULL };

/* ---- definitions ---- */

#define W(id, schema_, brief_, flags_, meta_, kernel_, program_, grad_, \
          backward_, samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = flags_, \
    .meta = meta_, .kernel = kernel_, .decomp = op_d_program, \
    .program = program_, .grad = grad_, .backward = backward_, \
    .samples = samples_, .row = row_##id }
#define BACK_ARGS "(Tensor grad_output, Tensor self, Tensor target, int " \
                  "reduction, float "

static const int row_huber_loss[] = { DT_B_huber_loss, 3, 1 };
W(huber_loss, "huber_loss(Tensor self, Tensor target, int reduction=1, float "
  "delta=1.) -> Tensor", "Square for small errors, linear for large ones.", 0,
  loss_meta, loss_kernel, "d = sub.Tensor(self, target); a = abs(d); m = "
  "lt.Scalar(a, delta); h = mul.Tensor(a, 0.5); q = mul.Tensor(h, a); l = "
  "sub.Tensor(a, 0.5*delta); s = mul.Tensor(l, delta); w = "
  "where.self(m, q, s); reduced(w)", op_g_program,
  "self: huber_loss_backward(grad, self, target, reduction, delta) | target: "
  "huber_loss_backward(grad, target, self, reduction, delta)", two);
static const int row_huber_loss_backward[] = { DT_T3_huber_loss_backward, 4,
                                               0 };
W(huber_loss_backward, "huber_loss_backward" BACK_ARGS "delta) -> Tensor",
  "Gradient of huber_loss.", 0, loss_back_meta, loss_back_kernel,
  "x = sub.Tensor(self, target); m = lt.Scalar(x, -1*delta); a = "
  "mul.Tensor(grad_output, -1*norm); b = mul.Tensor(a, delta); n = "
  "gt.Scalar(x, delta); c = mul.Tensor(grad_output, 1*norm); d = "
  "mul.Tensor(c, delta); e = mul.Tensor(x, 1*norm); f = "
  "mul.Tensor(e, grad_output); g = where.self(n, d, f); "
  "where.self(m, b, g)", op_gg_huber_loss_backward, NULL, back);
static const int row_smooth_l1_loss[] = { DT_B_smooth_l1_loss, 3, 0 };
W(smooth_l1_loss, "smooth_l1_loss(Tensor self, Tensor target, int "
  "reduction=1, float beta=1.) -> Tensor",
  "Square below beta, linear above.", 0, loss_meta, loss_kernel,
  "d = sub.Tensor(self, target); a = abs(d); m = lt.Scalar(a, beta); "
  "p = pow.Tensor_Scalar(a, 2); h = mul.Tensor(p, 0.5); q = "
  "div.Tensor(h, beta); l = sub.Tensor(a, 0.5*beta); w = "
  "where.self(m, q, l); reduced(w)", op_g_program,
  "self: smooth_l1_loss_backward(grad, self, target, reduction, beta) | "
  "target: smooth_l1_loss_backward(grad, target, self, reduction, beta)",
  two);
static const int row_smooth_l1_loss_backward[] = {
  DT_T3_smooth_l1_loss_backward, 4, 0
};
W(smooth_l1_loss_backward, "smooth_l1_loss_backward" BACK_ARGS
  "beta) -> Tensor", "Gradient of smooth_l1_loss.", 0, loss_back_meta,
  loss_back_kernel, "d = sub.Tensor(self, target); a = abs(d); g = "
  "mul.Tensor(grad_output, 1*norm); m = lt.Scalar(a, beta); x = "
  "mul.Tensor(g, d); y = div.Tensor(x, beta); s = sign(d); z = "
  "mul.Tensor(g, s); where.self(m, y, z)", op_gg_smooth_l1_loss_backward, NULL,
  back);

ROW1(hardswish, hardswish, PK_SAME, 0, 0);
W(hardswish, "hardswish(Tensor self) -> Tensor",
  "self times relu6(self + 3) / 6.", DT_OP_ALIAS_SAFE, op_pw_meta,
  op_pw_kernel, "a = add.Tensor(self, 3); b = clamp(a, 0); c = "
  "clamp(b, none, 6); d = mul.Tensor(self, c); div.Tensor(d, 6)",
  op_g_program, "self: hardswish_backward(grad, self)", op_samples_unary);
ROW2(hardswish_backward, hardswish_backward, PK_SAME, 0, 0);
const DtOpDef dt_op_hardswish_backward = {
  .schema = "aten::hardswish_backward(Tensor grad_output, Tensor self) -> "
            "Tensor",
  .brief = "Gradient of hardswish.",
  .flags = DT_OP_ALIAS_SAFE | DT_OP_NOSTRATEGY, .meta = op_pw_meta,
  .kernel = op_pw_kernel, .grad = op_gg_hardswish_backward, .samples = two,
  .row = row_hardswish_backward
};

static const int row_log_sigmoid_forward[] = { 0 };
W(log_sigmoid_forward, "log_sigmoid_forward(Tensor self) -> (Tensor output, "
  "Tensor buffer)", "log(sigmoid(self)) and what its gradient reads.",
  SAVE | DT_OP_AGAIN, log_sigmoid_meta, log_sigmoid_kernel,
  "z = new_zeros(self, [], pin_memory=false); m = minimum(z, self); "
  "a = abs(self); n = neg(a); e = exp(n); l = log1p(e); o = "
  "sub.Tensor(m, l); return o, e", op_g_program,
  "self: log_sigmoid_backward(grad, self, result1)", op_samples_unary);
const DtOpDef dt_op_log_sigmoid_backward = {
  .schema = "aten::log_sigmoid_backward(Tensor grad_output, Tensor self, "
            "Tensor buffer) -> Tensor",
  .brief = "Gradient of log_sigmoid.", .flags = DT_OP_NOSTRATEGY,
  .meta = log_sigmoid_back_meta, .kernel = log_sigmoid_back_kernel,
  .grad = op_gg_log_sigmoid_backward,
  .samples = log_back
};

ROW2(_prelu_kernel, prelu, PK_SAME, 0, 0);
W(_prelu_kernel, "_prelu_kernel(Tensor self, Tensor weight) -> Tensor",
  "self where positive, weight times self elsewhere.", 0, prelu_meta,
  op_pw_kernel, "m = gt.Scalar(self, 0); w = mul.Tensor(weight, self); "
  "where.self(m, self, w)", g_prelu, NULL, two);
const DtOpDef dt_op__prelu_kernel_backward = {
  .schema = "aten::_prelu_kernel_backward(Tensor grad_output, Tensor self, "
            "Tensor weight) -> (Tensor, Tensor)",
  .brief = "Gradients of _prelu_kernel.", .flags = DT_OP_NOSTRATEGY,
  .meta = prelu_back_meta, .kernel = prelu_back_kernel,
  .grad = op_gg_prelu_kernel_backward, .samples = three
};
const DtOpDef dt_op_prelu = {
  .schema = "aten::prelu(Tensor self, Tensor weight) -> Tensor",
  .brief = "self where positive, a weight of its channel times self elsewhere.",
  .flags = DT_OP_COMPOSITE, .decomp = prelu_decomp, .samples = prelu_samples
};

ROW2(floor_divide, div_floor, PK_SAME, 0, 0);
W(floor_divide, "floor_divide(Tensor self, Tensor other) -> Tensor",
  "Quotient, rounded down.", DT_OP_ALIAS_SAFE, op_pw_meta,
  floor_divide_kernel, "div.Tensor_mode(self, other, rounding_mode='floor')",
  g_floor_divide, NULL, two);
ROW2(floor_divide_Scalar, div_floor, PK_SAME, 0, 0);
W(floor_divide_Scalar, "floor_divide.Scalar(Tensor self, Scalar other) -> "
  "Tensor", "Quotient by a number, rounded down.", DT_OP_ALIAS_SAFE,
  op_pw_meta, floor_divide_kernel,
  "div.Tensor_mode(self, other, rounding_mode='floor')", g_floor_divide, NULL,
  num);
