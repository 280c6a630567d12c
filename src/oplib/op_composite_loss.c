/* SPDX-License-Identifier: MIT
** oplib/op_composite_loss.c: losses that compute by other operators: kl_div,
** poisson, triplet, binary cross entropy, soft margin. */
#include "oplib/casting.h"
#include "oplib/composite.h"
#include "oplib/second.h"

/* 0 none, 1 mean, 2 sum. */
static DtHandle *reduced (DtDecompCall *c, DtHandle *h) {
  int64_t r = dt_arg_int(c->args, at(c, "reduction"));
  if (r == 1) return EMIT("aten.mean.default", "t", h);
  return r == 2 ? EMIT("aten.sum.default", "t", h) : h;
}

static DtStatus kl_div_decomp (DtDecompCall *c) {
  DtHandle *x = c->in[0], *t = c->in[1], *a, *b;
  for (int i = 0; i < 2 && !c->e->tracing; i++) {
    DtDtype d = (DtDtype)meta_of(c, c->in[i]).dtype;
    DT_CHECK(CX, !dt_dtype_is_complex(d), DT_E_RUNTIME,
             "kl_div: Complex inputs not supported.");
    DT_CHECK(CX, !dt_dtype_is_integral(d, true), DT_E_RUNTIME,
             "kl_div: Integral inputs not supported.");
  }
  if (dt_arg_bool(c->args, 3)) {
    a = EMIT("aten.sub.Tensor", "tt", t, x);
    b = EMIT("aten.exp.default", "t", t);
    return finish(c, reduced(c, EMIT("aten.mul.Tensor", "tt", b, a)));
  }
  a = EMIT("aten.mul.Tensor", "tt", t, x);
  b = EMIT("aten.xlogy.Tensor", "tt", t, t);
  return finish(c, reduced(c, EMIT("aten.sub.Tensor", "tt", b, a)));
}

/* The missing terms of Stirling's formula. */
static DtHandle *stirling (DtDecompCall *c, DtHandle *t) {
  DtHandle *a, *b;
  a = EMIT("aten.mul.Scalar", "tf", t, 2 * 3.14159265358979323846);
  a = EMIT("aten.log.default", "t", a);
  a = EMIT("aten.mul.Scalar", "tf", a, 0.5);
  b = EMIT("aten.log.default", "t", t);
  b = EMIT("aten.mul.Tensor", "tt", t, b);
  b = EMIT("aten.sub.Tensor", "tt", b, t);
  b = EMIT("aten.add.Tensor", "tt", b, a);
  a = EMIT("aten.le.Scalar", "ti", t, (int64_t)1);
  return EMIT("aten.masked_fill.Scalar", "tti", b, a, (int64_t)0);
}

static DtStatus poisson_decomp (DtDecompCall *c) {
  DtHandle *x = c->in[0], *t = c->in[1], *a, *b;
  if (dt_arg_bool(c->args, 2)) {
    a = EMIT("aten.mul.Tensor", "tt", t, x);
    b = EMIT("aten.exp.default", "t", x);
    a = EMIT("aten.sub.Tensor", "tt", b, a);
  } else {
    a = EMIT("aten.add.Scalar", "tv", x, ARG(4));
    a = EMIT("aten.log.default", "t", a);
    a = EMIT("aten.mul.Tensor", "tt", t, a);
    a = EMIT("aten.sub.Tensor", "tt", x, a);
  }
  if (dt_arg_bool(c->args, 3))
    a = EMIT("aten.add_.Tensor", "tt", a, stirling(c, t));
  return finish(c, reduced(c, a));
}

static DtHandle *distance (DtDecompCall *c, DtHandle *a, DtHandle *b) {
  int64_t last = -1;
  DtHandle *d = EMIT("aten.sub.Tensor", "tt", a, b);
  d = EMIT("aten.add.Scalar", "tv", d, ARG(5));
  if (c->e->tracing)
    return EMIT("aten.linalg_vector_norm.default", "tvI", d, ARG(4), 1, &last);
  return EMIT("aten.norm.ScalarOpt_dim", "tvI", d, ARG(4), 1, &last);
}

static DtStatus triplet_decomp (DtDecompCall *c) {
  int nd[3];
  for (int i = 0; i < 3; i++) nd[i] = meta_of(c, c->in[i]).ndim;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, nd[0] == nd[1] && nd[1] == nd[2], DT_E_RUNTIME, "The anchor, "
           "positive, and negative tensors are expected to have the same "
           "number of dimensions, but got: anchor %dD, positive %dD, and "
           "negative %dD inputs", nd[0], nd[1], nd[2]);
  DtHandle *pos = distance(c, c->in[0], c->in[1]);
  DtHandle *neg = distance(c, c->in[0], c->in[2]), *r;
  if (dt_arg_bool(c->args, 6)) {
    r = distance(c, c->in[1], c->in[2]);
    neg = EMIT("aten.minimum.default", "tt", neg, r);
  }
  r = EMIT("aten.add.Scalar", "tv", pos, ARG(3));
  r = EMIT("aten.sub.Tensor", "tt", r, neg);
  r = EMIT("aten.clamp_min.default", "ti", r, (int64_t)0);
  return finish(c, reduced(c, r));
}

static DtStatus nll_nd_decomp (DtDecompCall *c) {
  DtHandle *out[2];
  DtMeta m = meta_of(c, c->in[0]);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.ndim >= 1, DT_E_VALUE,
           "Expected 1 or more dimensions (got %d)", m.ndim);
  const char *op = m.ndim == 3 || m.ndim == 4
                   ? "aten.nll_loss2d_forward.default"
                   : "aten.nll_loss_forward.default";
  DtHandle *x = c->in[0], *t = c->in[1];
  DtMeta tm = meta_of(c, t);
  int64_t batch = tm.ndim ? tm.shape[0] : 0;
  DT_CHECK(CX, m.ndim == 1 || m.shape[0] == batch, DT_E_VALUE,
           "Expected input batch_size (%lld) to match target batch_size "
           "(%lld).", (long long)m.shape[0], (long long)batch);
  if (m.ndim == 3) {
    x = EMIT("aten.unsqueeze.default", "ti", x, (int64_t)3);
    t = EMIT("aten.unsqueeze.default", "ti", t, (int64_t)2);
  }
  dt_emit_n(c->e, op, out, 2, "tttvv", x, t, dt_hin(c, 2), ARG(3), ARG(4));
  if (m.ndim == 3 && dt_arg_int(c->args, 3) == 0)
    out[0] = EMIT("aten.squeeze.dim", "ti", out[0], (int64_t)2);
  return finish(c, out[0]);
}

static DtHandle *log_floor (DtDecompCall *c, DtHandle *x, bool minus) {
  DtHandle *l, *m;
  if (minus) {
    l = EMIT("aten.neg.default", "t", x);
    l = EMIT("aten.log1p.default", "t", l);
  } else {
    l = EMIT("aten.log.default", "t", x);
  }
  m = EMIT("aten.new_full.default", "tIi pin_memory=b", x, 0, NULL,
           (int64_t)-100, 0);
  return EMIT("aten.maximum.default", "tt", l, m);
}

/* Every element of a local tensor is a probability. */
static DtStatus probabilities (DtDecompCall *c, DtHandle *x,
                               const char *name) {
  int64_t yes;
  if (!dt_emit_has_data(c->e, x)) return DT_OK;
  DtHandle *a = EMIT("aten.ge.Scalar", "ti", x, (int64_t)0);
  DtHandle *b = EMIT("aten.le.Scalar", "ti", x, (int64_t)1);
  a = EMIT("aten.logical_and.default", "tt", a, b);
  DT_TRY(CX, dt_emit_item(c->e, EMIT("aten.all.default", "t", a), &yes));
  DT_CHECK(CX, yes, DT_E_RUNTIME, "all elements of %s should be between 0 and "
           "1", name);
  return DT_OK;
}

/* What PyTorch's kernel asks of its operands, and no decomposition. */
static DtStatus bce_check (DtDecompCall *c) {
  DtHandle *x = c->in[0], *t = c->in[1];
  DtMeta mx = meta_of(c, x), mt = meta_of(c, t), all;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_TRY(CX, dt_meta_broadcast(CX, &mx, &mt, &all));
  DT_CHECK(CX, mx.dtype == mt.dtype, DT_E_RUNTIME, "Found dtype %s but "
           "expected %s", op_dtype_word((DtDtype)mt.dtype),
           op_dtype_word((DtDtype)mx.dtype));
  DtDtype d = (DtDtype)mx.dtype;
  DT_CHECK(CX, dt_dtype_is_float(d) && dt_dtype_size(d) > 1, DT_E_NOTIMPL,
           "\"binary_cross_entropy\" not implemented for '%s'",
           op_dtype_word(d));
  DT_TRY(CX, probabilities(c, x, "input"));
  return probabilities(c, t, "target");
}

static DtStatus bce_decomp (DtDecompCall *c) {
  DtHandle *x = c->in[0], *t = c->in[1], *w = dt_hin(c, 2), *a, *b;
  if (!c->e->pretend) DT_TRY(CX, bce_check(c));
  a = EMIT("aten.sub.Tensor", "ti", t, (int64_t)1);
  a = EMIT("aten.mul.Tensor", "tt", a, log_floor(c, x, true));
  b = log_floor(c, x, false);
  b = EMIT("aten.mul.Tensor", "tt", t, b);
  a = EMIT("aten.sub.Tensor", "tt", a, b);
  if (w != NULL) a = EMIT("aten.mul.Tensor", "tt", a, w);
  return finish(c, reduced(c, a));
}

static DtHandle *mean_part (DtDecompCall *c, DtHandle *r, DtHandle *x) {
  DtMeta m = meta_of(c, x);
  if (dt_arg_int(c->args, at(c, "reduction")) != 1) return r;
  return EMIT("aten.div.Tensor", "ti", r, dt_meta_numel(&m));
}

/* All operands of the gradient have one type, and that one a kernel. */
static DtStatus bce_back_check (DtDecompCall *c) {
  DtMeta g = meta_of(c, c->in[0]), x = meta_of(c, c->in[1]);
  DtMeta t = meta_of(c, c->in[2]);
  DtDtype d = (DtDtype)g.dtype;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_TRY(CX, op_found_type(CX, &x, d));
  DT_TRY(CX, op_found_type(CX, &t, d));
  DT_CHECK(CX, dt_dtype_is_float(d) && dt_dtype_size(d) > 1, DT_E_NOTIMPL,
           "\"binary_cross_entropy_backward\" not implemented for '%s'",
           op_dtype_word(d));
  return DT_OK;
}

static DtStatus bce_back_decomp (DtDecompCall *c) {
  DtHandle *g = c->in[0], *x = c->in[1], *t = c->in[2], *w = dt_hin(c, 3);
  DtHandle *a, *b;
  if (!c->e->pretend) DT_TRY(CX, bce_back_check(c));
  a = EMIT("aten.sub.Tensor", "tt", x, t);
  a = EMIT("aten.mul.Tensor", "tt", g, a);
  b = EMIT("aten.rsub.Scalar", "ti", x, (int64_t)1);
  b = EMIT("aten.mul.Tensor", "tt", x, b);
  b = EMIT("aten.clamp.default", "tf", b, 1e-12);
  a = EMIT("aten.div.Tensor", "tt", a, b);
  if (w != NULL) a = EMIT("aten.mul.Tensor", "tt", a, w);
  a = mean_part(c, a, x);
  if (c->e->tracing || !dt_emit_ok(c->e)) return finish(c, a);
  DtMeta m = meta_of(c, a), want = meta_of(c, x);       /* as the input lies */
  if (!dt_meta_same_shape(&m, &want) || m.dtype != want.dtype)
    return finish(c, a);
  b = EMIT("aten.empty_like.default", "t", x);
  return finish(c, EMIT("aten.copy_.default", "tt", b, a));
}

/* PyTorch's kernels, but not its decompositions, multiply in place. */
static DtHandle *times (DtDecompCall *c, DtHandle *x, DtHandle *y) {
  return EMIT(c->e->pretend ? "aten.mul.Tensor" : "aten.mul_.Tensor", "tt", x,
              y);
}

static DtStatus bce_logits_decomp (DtDecompCall *c) {
  DtHandle *x = c->in[0], *t = c->in[1], *w = dt_hin(c, 2);
  DtHandle *pw = dt_hin(c, 3), *l[2], *a, *b;
  a = EMIT("aten.rsub.Scalar", "ti", t, (int64_t)1);
  a = times(c, a, x);
  if (pw != NULL) {
    b = EMIT("aten.sub.Tensor", "ti", pw, (int64_t)1);
    b = EMIT("aten.mul.Tensor", "tt", b, t);
    b = EMIT("aten.add.Tensor", "ti", b, (int64_t)1);
    dt_emit_n(c->e, "aten.log_sigmoid_forward.default", l, 2, "t", x);
    b = EMIT("aten.mul.Tensor", "tt", b, l[0]);
  } else {
    dt_emit_n(c->e, "aten.log_sigmoid_forward.default", l, 2, "t", x);
    b = l[0];
  }
  a = EMIT("aten.sub.Tensor", "tt", a, b);
  if (w != NULL) a = EMIT("aten.mul.Tensor", "tt", a, w);
  return finish(c, reduced(c, a));
}

/* The gradient's last steps: weight, and the mean where argument `reduction`
** asks for it. */
static DtHandle *bce_end (DtGradCall *c, DtHandle *g, int reduction) {
  DtHandle *w = dt_gin(c, 2);
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, c->in[0]));
  if (w != NULL) g = EMIT("aten.mul.Tensor", "tt", g, w);
  if (dt_arg_int(c->args, reduction) == 1)
    g = EMIT("aten.div_.Scalar", "ti", g, dt_meta_numel(&m));
  return g;
}

/* To the target: -logit(self), also where that is infinite. */
static DtStatus bce_grad (DtGradCall *c) {
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.binary_cross_entropy_backward.default", "ttttv",
                        c->gout[0], dt_gin(c, 0), dt_gin(c, 1), dt_gin(c, 2),
                        c->args->v[3]));
  if (op_g_need(c, 1)) {
    DtHandle *a = EMIT("aten.logit.default", "t", dt_gin(c, 0));
    a = EMIT("aten.neg_.default", "t", a);
    a = EMIT("aten.mul.Tensor", "tt", a, c->gout[0]);
    op_g_set(c, 1, bce_end(c, a, 3));
  }
  return op_g_finish(c);
}

static DtStatus bce_logits_grad (DtGradCall *c) {
  DtHandle *x = dt_gin(c, 0), *t = dt_gin(c, 1), *pw = dt_gin(c, 3), *a, *b;
  DtHandle *l[2], *k[2];
  if (op_g_need(c, 0)) {
    if (pw != NULL) {
      a = EMIT("aten.mul.Tensor", "tt", pw, t);
      b = EMIT("aten.add.Scalar", "ti", a, (int64_t)1);
      b = EMIT("aten.sub.Tensor", "tt", b, t);
      k[0] = EMIT("aten.sigmoid.default", "t", x);
      b = EMIT("aten.mul.Tensor", "tt", b, k[0]);
      a = EMIT("aten.sub.Tensor", "tt", b, a);
    } else {
      a = EMIT("aten.sigmoid.default", "t", x);
      a = EMIT("aten.sub.Tensor", "tt", a, t);
    }
    a = EMIT("aten.mul.Tensor", "tt", a, c->gout[0]);
    op_g_set(c, 0, bce_end(c, a, 4));
  }
  if (op_g_need(c, 1)) {
    if (pw != NULL) {
      a = EMIT("aten.neg.default", "t", x);
      dt_emit_n(c->e, "aten.log_sigmoid_forward.default", k, 2, "t", a);
      dt_emit_n(c->e, "aten.log_sigmoid_forward.default", l, 2, "t", x);
      b = EMIT("aten.mul.Tensor", "tt", l[0], pw);
      a = EMIT("aten.sub.Tensor", "tt", k[0], b);
    } else {
      a = EMIT("aten.neg.default", "t", x);
    }
    a = EMIT("aten.mul.Tensor", "tt", a, c->gout[0]);
    op_g_set(c, 1, bce_end(c, a, 4));
  }
  return c->e->st;
}

static DtStatus soft_margin_decomp (DtDecompCall *c) {
  DtHandle *x = EMIT("aten.neg.default", "t", c->in[0]);
  x = times(c, x, c->in[1]);
  DtDtype d = (DtDtype)meta_of(c, c->in[0]).dtype;
  if (!c->e->pretend && dt_emit_ok(c->e) && dt_dtype_is_integral(d, true))
    DT_TRY(CX, op_castable(CX, DT_F32, d));
  x = EMIT("aten.exp.default", "t", x);
  return finish(c, reduced(c, EMIT("aten.log1p.default", "t", x)));
}

static DtStatus soft_margin_back_decomp (DtDecompCall *c) {
  DtHandle *a, *b;
  a = EMIT("aten.mul.Tensor", "tt", c->in[2], c->in[0]);
  b = EMIT("aten.mul.Tensor", "tt", c->in[2], c->in[1]);
  b = EMIT("aten.sigmoid.default", "t", b);
  b = EMIT("aten.sub.Tensor", "ti", b, (int64_t)1);
  a = EMIT("aten.mul.Tensor", "tt", a, b);
  return finish(c, mean_part(c, a, c->in[1]));
}

/* ---- definitions ---- */

C(kl_div, "kl_div(Tensor self, Tensor target, int reduction=1, *, bool "
  "log_target=False) -> Tensor", "Divergence of two distributions.",
  kl_div_decomp, B);
C(poisson_nll_loss, "poisson_nll_loss(Tensor input, Tensor target, bool "
  "log_input, bool full, float eps, int reduction) -> Tensor",
  "Negative log likelihood of a Poisson distribution.", poisson_decomp,
  "f32[8, 6], f32[8, 6], true, false, 1e-08, 1");
C(triplet_margin_loss, "triplet_margin_loss(Tensor anchor, Tensor positive, "
  "Tensor negative, float margin=1., float p=2., float "
  "eps=9.9999999999999995e-07, bool swap=False, int reduction=1) -> Tensor",
  "Nearer to the positive than to the negative, by a margin.",
  triplet_decomp, "f32[8, 6], f32[8, 6], f32[8, 6]");
C(nll_loss_nd, "nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, "
  "int reduction=1, SymInt ignore_index=-100) -> Tensor",
  "Negative log likelihood of classes.", nll_nd_decomp,
  "f32[8, 6], i64[8], None, 0");
K(binary_cross_entropy, "binary_cross_entropy(Tensor self, Tensor target, "
  "Tensor? weight=None, int reduction=1) -> Tensor",
  "Cross entropy of probabilities.", bce_decomp, bce_grad, NULL, B);
K(binary_cross_entropy_backward, "binary_cross_entropy_backward(Tensor "
  "grad_output, Tensor self, Tensor target, Tensor? weight=None, int "
  "reduction=1) -> Tensor", "Gradient of binary_cross_entropy.",
  bce_back_decomp, op_gg_binary_cross_entropy_backward, NULL, "f32[], f32[8, 6], f32[8, 6]");
K(binary_cross_entropy_with_logits, "binary_cross_entropy_with_logits(Tensor "
  "self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int "
  "reduction=1) -> Tensor", "Cross entropy of logits.", bce_logits_decomp,
  bce_logits_grad, NULL, B);
K(soft_margin_loss, "soft_margin_loss(Tensor self, Tensor target, int "
  "reduction=1) -> Tensor", "log(1 + exp(-target self)).",
  soft_margin_decomp, op_g_program,
  "self: soft_margin_loss_backward(grad, self, target, reduction)", B);
K(soft_margin_loss_backward, "soft_margin_loss_backward(Tensor grad_output, "
  "Tensor self, Tensor target, int reduction) -> Tensor",
  "Gradient of soft_margin_loss.", soft_margin_back_decomp,
  op_gg_soft_margin_loss_backward, NULL,
  "f32[], f32[8, 6], f32[8, 6], 1");
