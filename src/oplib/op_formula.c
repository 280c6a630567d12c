/* SPDX-License-Identifier: MIT
** oplib/op_formula.c: public functions that compute by other operators where
** the calls depend on flags, types or sizes: isclose, kl_div and other
** losses, trapezoid, diff, gradient, glu, binary cross entropy.
**
** Those without such branches are text, in op_decomp_text.c.  K: operators
** that PyTorch dispatches whole; their program stands for their kernel, and
** their gradient is text as well. */
#include "oplib/casting.h"
#include "oplib/emitting.h"

#include <math.h>
#include <string.h>

#define V(i) c->args->v[i]

static int at (const DtDecompCall *c, const char *name) {
  return dt_schema_arg(c->args->schema, name);
}

/* 0 none, 1 mean, 2 sum. */
static DtHandle *reduced (DtDecompCall *c, DtHandle *h) {
  int64_t r = dt_arg_int(c->args, at(c, "reduction"));
  if (r == 1) return E("aten.mean.default", "t", h);
  return r == 2 ? E("aten.sum.default", "t", h) : h;
}

/* ---- comparisons ---- */

static DtStatus isclose_decomp (DtDecompCall *c) {
  DtHandle *x = c->in[0], *y = c->in[1], *close, *allow, *off, *ok, *fin;
  double rtol = dt_arg_float(c->args, 2), atol = dt_arg_float(c->args, 3);
  DtMeta mx = meta_of(c, x), my = meta_of(c, y);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, mx.dtype == my.dtype, DT_E_RUNTIME, "%s did not match %s",
           op_dtype_word((DtDtype)mx.dtype), op_dtype_word((DtDtype)my.dtype));
  DT_CHECK(CX, rtol >= 0, DT_E_RUNTIME,
           "rtol must be greater than or equal to zero, but got %g", rtol);
  DT_CHECK(CX, atol >= 0, DT_E_RUNTIME,
           "atol must be greater than or equal to zero, but got %g", atol);
  bool whole = dt_dtype_is_integral((DtDtype)mx.dtype, true);
  close = E("aten.eq.Tensor", "tt", x, y);
  if (dt_arg_bool(c->args, 4) && !whole) {
    ok = E("aten.ne.Tensor", "tt", x, x);
    fin = E("aten.ne.Tensor", "tt", y, y);
    ok = E("aten.bitwise_and_.Tensor", "tt", ok, fin);
    close = E("aten.bitwise_or_.Tensor", "tt", close, ok);
  }
  if (rtol == 0 && atol == 0) return finish(c, close);
  if (whole) {
    x = mx.dtype == DT_BOOL
        ? E("aten._to_copy.default", "t dtype=d", x, (int)OP_DEFAULT_FLOAT)
        : x;
    y = E("aten._to_copy.default", "t dtype=d", y, (int)OP_DEFAULT_FLOAT);
  }
  allow = E("aten.mul.Scalar", "tf", y, rtol);
  allow = E("aten.abs.default", "t", allow);
  allow = E("aten.add.Scalar", "tf", allow, atol);
  off = E("aten.sub.Tensor", "tt", x, y);
  off = E("aten.abs.default", "t", off);
  fin = E("aten.abs.default", "t", off);
  fin = E("aten.ne.Scalar", "tf", fin, (double)INFINITY);
  ok = E("aten.eq.Tensor", "tt", off, off);
  ok = E("aten.mul.Tensor", "tt", ok, fin);
  fin = E("aten.le.Tensor", "tt", off, allow);
  ok = E("aten.bitwise_and_.Tensor", "tt", ok, fin);
  return finish(c, E("aten.bitwise_or_.Tensor", "tt", close, ok));
}

/* isin by comparing with every test element. */
static DtStatus isin_decomp (DtDecompCall *c) {
  bool invert = dt_arg_bool(c->args, at(c, "invert"));
  int64_t shape[DT_MAX_NDIM], dims[DT_MAX_NDIM];
  DtHandle *x = c->in[0], *t = dt_hin(c, 1);
  if (t == NULL)
    return finish(c, E(invert ? "aten.ne.Scalar" : "aten.eq.Scalar", "tv", x,
                       V(1)));
  DtMeta m = meta_of(c, x), mt = meta_of(c, t);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.ndim + mt.ndim <= DT_MAX_NDIM, DT_E_LIMIT,
           "at most %d dimensions", DT_MAX_NDIM);
  /* with many test elements PyTorch sorts, which cannot be traced */
  for (int i = 0; i < 2 && !c->e->tracing; i++) {
    DtDtype d = (DtDtype)(i ? mt : m).dtype;
    DT_CHECK(CX, !dt_dtype_is_complex(d), DT_E_RUNTIME, "Unsupported input type "
             "encountered for isin(): %s", op_dtype_word(d));
  }
  DT_CHECK(CX, !c->e->tracing || (double)dt_meta_numel(&mt) <
           10 * pow((double)dt_meta_numel(&m), 0.145), DT_E_NOTIMPL,
           "isin cannot be traced with so many test elements");
  for (int i = 0; i < m.ndim; i++) shape[i] = m.shape[i];
  for (int i = 0; i < mt.ndim; i++) {
    shape[m.ndim + i] = 1;
    dims[i] = -1 - i;
  }
  x = E("aten.view.default", "tI", x, m.ndim + mt.ndim, shape);
  x = E("aten.eq.Tensor", "tt", x, t);
  x = E("aten.any.dims", "tI", x, (int)mt.ndim, dims);
  return finish(c, invert ? E("aten.logical_not.default", "t", x) : x);
}

/* ---- losses ---- */

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
    a = E("aten.sub.Tensor", "tt", t, x);
    b = E("aten.exp.default", "t", t);
    return finish(c, reduced(c, E("aten.mul.Tensor", "tt", b, a)));
  }
  a = E("aten.mul.Tensor", "tt", t, x);
  b = E("aten.xlogy.Tensor", "tt", t, t);
  return finish(c, reduced(c, E("aten.sub.Tensor", "tt", b, a)));
}

/* The missing terms of Stirling's formula. */
static DtHandle *stirling (DtDecompCall *c, DtHandle *t) {
  DtHandle *a, *b;
  a = E("aten.mul.Scalar", "tf", t, 2 * 3.14159265358979323846);
  a = E("aten.log.default", "t", a);
  a = E("aten.mul.Scalar", "tf", a, 0.5);
  b = E("aten.log.default", "t", t);
  b = E("aten.mul.Tensor", "tt", t, b);
  b = E("aten.sub.Tensor", "tt", b, t);
  b = E("aten.add.Tensor", "tt", b, a);
  a = E("aten.le.Scalar", "ti", t, (int64_t)1);
  return E("aten.masked_fill.Scalar", "tti", b, a, (int64_t)0);
}

static DtStatus poisson_decomp (DtDecompCall *c) {
  DtHandle *x = c->in[0], *t = c->in[1], *a, *b;
  if (dt_arg_bool(c->args, 2)) {
    a = E("aten.mul.Tensor", "tt", t, x);
    b = E("aten.exp.default", "t", x);
    a = E("aten.sub.Tensor", "tt", b, a);
  } else {
    a = E("aten.add.Scalar", "tv", x, V(4));
    a = E("aten.log.default", "t", a);
    a = E("aten.mul.Tensor", "tt", t, a);
    a = E("aten.sub.Tensor", "tt", x, a);
  }
  if (dt_arg_bool(c->args, 3))
    a = E("aten.add_.Tensor", "tt", a, stirling(c, t));
  return finish(c, reduced(c, a));
}

static DtHandle *distance (DtDecompCall *c, DtHandle *a, DtHandle *b) {
  int64_t last = -1;
  DtHandle *d = E("aten.sub.Tensor", "tt", a, b);
  d = E("aten.add.Scalar", "tv", d, V(5));
  if (c->e->tracing)
    return E("aten.linalg_vector_norm.default", "tvI", d, V(4), 1, &last);
  return E("aten.norm.ScalarOpt_dim", "tvI", d, V(4), 1, &last);
}

static DtStatus triplet_decomp (DtDecompCall *c) {
  DtHandle *pos = distance(c, c->in[0], c->in[1]);
  DtHandle *neg = distance(c, c->in[0], c->in[2]), *r;
  if (dt_arg_bool(c->args, 6)) {
    r = distance(c, c->in[1], c->in[2]);
    neg = E("aten.minimum.default", "tt", neg, r);
  }
  r = E("aten.add.Scalar", "tv", pos, V(3));
  r = E("aten.sub.Tensor", "tt", r, neg);
  r = E("aten.clamp_min.default", "ti", r, (int64_t)0);
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
    x = E("aten.unsqueeze.default", "ti", x, (int64_t)3);
    t = E("aten.unsqueeze.default", "ti", t, (int64_t)2);
  }
  dt_emit_n(c->e, op, out, 2, "tttvv", x, t, dt_hin(c, 2), V(3), V(4));
  if (m.ndim == 3 && dt_arg_int(c->args, 3) == 0)
    out[0] = E("aten.squeeze.dim", "ti", out[0], (int64_t)2);
  return finish(c, out[0]);
}

static DtHandle *log_floor (DtDecompCall *c, DtHandle *x, bool minus) {
  DtHandle *l, *m;
  if (minus) {
    l = E("aten.neg.default", "t", x);
    l = E("aten.log1p.default", "t", l);
  } else {
    l = E("aten.log.default", "t", x);
  }
  m = E("aten.new_full.default", "tIi pin_memory=b", x, 0, NULL,
        (int64_t)-100, 0);
  return E("aten.maximum.default", "tt", l, m);
}

/* Every element of a local tensor is a probability. */
static DtStatus probabilities (DtDecompCall *c, DtHandle *x,
                               const char *name) {
  int64_t yes;
  if (!dt_emit_has_data(c->e, x)) return DT_OK;
  DtHandle *a = E("aten.ge.Scalar", "ti", x, (int64_t)0);
  DtHandle *b = E("aten.le.Scalar", "ti", x, (int64_t)1);
  a = E("aten.logical_and.default", "tt", a, b);
  DT_TRY(CX, dt_emit_item(c->e, E("aten.all.default", "t", a), &yes));
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
  a = E("aten.sub.Tensor", "ti", t, (int64_t)1);
  a = E("aten.mul.Tensor", "tt", a, log_floor(c, x, true));
  b = log_floor(c, x, false);
  b = E("aten.mul.Tensor", "tt", t, b);
  a = E("aten.sub.Tensor", "tt", a, b);
  if (w != NULL) a = E("aten.mul.Tensor", "tt", a, w);
  return finish(c, reduced(c, a));
}

static DtHandle *mean_part (DtDecompCall *c, DtHandle *r, DtHandle *x) {
  DtMeta m = meta_of(c, x);
  if (dt_arg_int(c->args, at(c, "reduction")) != 1) return r;
  return E("aten.div.Tensor", "ti", r, dt_meta_numel(&m));
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
  a = E("aten.sub.Tensor", "tt", x, t);
  a = E("aten.mul.Tensor", "tt", g, a);
  b = E("aten.rsub.Scalar", "ti", x, (int64_t)1);
  b = E("aten.mul.Tensor", "tt", x, b);
  b = E("aten.clamp.default", "tf", b, 1e-12);
  a = E("aten.div.Tensor", "tt", a, b);
  if (w != NULL) a = E("aten.mul.Tensor", "tt", a, w);
  a = mean_part(c, a, x);
  if (c->e->tracing || !dt_emit_ok(c->e)) return finish(c, a);
  DtMeta m = meta_of(c, a), want = meta_of(c, x);       /* as the input lies */
  if (!dt_meta_same_shape(&m, &want) || m.dtype != want.dtype)
    return finish(c, a);
  b = E("aten.empty_like.default", "t", x);
  return finish(c, E("aten.copy_.default", "tt", b, a));
}

/* PyTorch's kernels, but not its decompositions, multiply in place. */
static DtHandle *times (DtDecompCall *c, DtHandle *x, DtHandle *y) {
  return E(c->e->pretend ? "aten.mul.Tensor" : "aten.mul_.Tensor", "tt", x, y);
}

static DtStatus bce_logits_decomp (DtDecompCall *c) {
  DtHandle *x = c->in[0], *t = c->in[1], *w = dt_hin(c, 2);
  DtHandle *pw = dt_hin(c, 3), *l[2], *a, *b;
  a = E("aten.rsub.Scalar", "ti", t, (int64_t)1);
  a = times(c, a, x);
  if (pw != NULL) {
    b = E("aten.sub.Tensor", "ti", pw, (int64_t)1);
    b = E("aten.mul.Tensor", "tt", b, t);
    b = E("aten.add.Tensor", "ti", b, (int64_t)1);
    dt_emit_n(c->e, "aten.log_sigmoid_forward.default", l, 2, "t", x);
    b = E("aten.mul.Tensor", "tt", b, l[0]);
  } else {
    dt_emit_n(c->e, "aten.log_sigmoid_forward.default", l, 2, "t", x);
    b = l[0];
  }
  a = E("aten.sub.Tensor", "tt", a, b);
  if (w != NULL) a = E("aten.mul.Tensor", "tt", a, w);
  return finish(c, reduced(c, a));
}

/* The gradient's last steps: weight, upstream, mean. */
static DtHandle *bce_logits_end (DtGradCall *c, DtHandle *g) {
  DtHandle *w = dt_gin(c, 2);
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, c->in[0]));
  if (w != NULL) g = E("aten.mul.Tensor", "tt", g, w);
  if (dt_arg_int(c->args, 4) == 1)
    g = E("aten.div_.Scalar", "ti", g, dt_meta_numel(&m));
  return g;
}

static DtStatus bce_logits_grad (DtGradCall *c) {
  DtHandle *x = dt_gin(c, 0), *t = dt_gin(c, 1), *pw = dt_gin(c, 3), *a, *b;
  DtHandle *l[2], *k[2];
  if (op_g_need(c, 0)) {
    if (pw != NULL) {
      a = E("aten.mul.Tensor", "tt", pw, t);
      b = E("aten.add.Scalar", "ti", a, (int64_t)1);
      b = E("aten.sub.Tensor", "tt", b, t);
      k[0] = E("aten.sigmoid.default", "t", x);
      b = E("aten.mul.Tensor", "tt", b, k[0]);
      a = E("aten.sub.Tensor", "tt", b, a);
    } else {
      a = E("aten.sigmoid.default", "t", x);
      a = E("aten.sub.Tensor", "tt", a, t);
    }
    a = E("aten.mul.Tensor", "tt", a, c->gout[0]);
    op_g_set(c, 0, bce_logits_end(c, a));
  }
  if (op_g_need(c, 1)) {
    if (pw != NULL) {
      a = E("aten.neg.default", "t", x);
      dt_emit_n(c->e, "aten.log_sigmoid_forward.default", k, 2, "t", a);
      dt_emit_n(c->e, "aten.log_sigmoid_forward.default", l, 2, "t", x);
      b = E("aten.mul.Tensor", "tt", l[0], pw);
      a = E("aten.sub.Tensor", "tt", k[0], b);
    } else {
      a = E("aten.neg.default", "t", x);
    }
    a = E("aten.mul.Tensor", "tt", a, c->gout[0]);
    op_g_set(c, 1, bce_logits_end(c, a));
  }
  return c->e->st;
}

static DtStatus soft_margin_decomp (DtDecompCall *c) {
  DtHandle *x = E("aten.neg.default", "t", c->in[0]);
  x = times(c, x, c->in[1]);
  DtDtype d = (DtDtype)meta_of(c, c->in[0]).dtype;
  if (!c->e->pretend && dt_emit_ok(c->e) && dt_dtype_is_integral(d, true))
    DT_TRY(CX, op_castable(CX, DT_F32, d));
  x = E("aten.exp.default", "t", x);
  return finish(c, reduced(c, E("aten.log1p.default", "t", x)));
}

static DtStatus soft_margin_back_decomp (DtDecompCall *c) {
  DtHandle *a, *b;
  a = E("aten.mul.Tensor", "tt", c->in[2], c->in[0]);
  b = E("aten.mul.Tensor", "tt", c->in[2], c->in[1]);
  b = E("aten.sigmoid.default", "t", b);
  b = E("aten.sub.Tensor", "ti", b, (int64_t)1);
  a = E("aten.mul.Tensor", "tt", a, b);
  return finish(c, mean_part(c, a, c->in[1]));
}

/* ---- gated linear units ---- */

/* Halves of `x` along argument `arg`. */
static DtStatus halves (DtDecompCall *c, DtHandle *x, int arg, DtHandle **a,
                        DtHandle **b) {
  DtMeta m = meta_of(c, x);
  int d;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.ndim > 0, DT_E_RUNTIME,
           "glu does not support 0-dimensional tensors");
  DT_TRY(CX, op_dim(CX, c->args, arg, m.ndim, &d));
  int64_t n = m.shape[d];
  DT_CHECK(CX, n % 2 == 0, DT_E_RUNTIME, "Halving dimension must be even, "
           "but dimension %d is size %lld", d, (long long)n);
  *a = E("aten.slice.Tensor", "tiii", x, (int64_t)d, (int64_t)0, n / 2);
  *b = E("aten.slice.Tensor", "tiii", x, (int64_t)d, n / 2, n);
  return c->e->st;
}

static DtStatus glu_decomp (DtDecompCall *c) {
  DtHandle *a, *b;
  DT_TRY(CX, halves(c, c->in[0], 1, &a, &b));
  b = E("aten.sigmoid.default", "t", b);
  return finish(c, E("aten.mul.Tensor", "tt", a, b));
}

/* What PyTorch's kernel asks of the gradient beside a half of the input. */
static DtStatus glu_back_check (DtDecompCall *c, DtHandle *g, DtHandle *half) {
  DtMeta mg = meta_of(c, g), m = meta_of(c, half), all;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_TRY(CX, dt_meta_broadcast(CX, &m, &mg, &all));
  DT_CHECK(CX, dt_meta_same_shape(&all, &m), DT_E_RUNTIME, "output with shape "
           "%s doesn't match the broadcast shape %s", op_shape_text(&m).s,
           op_shape_text(&all).s);
  DT_CHECK(CX, !dt_dtype_is_integral((DtDtype)m.dtype, true), DT_E_RUNTIME,
           "result type Float can't be cast to the desired output type %s",
           op_dtype_word((DtDtype)m.dtype));
  DT_CHECK(CX, mg.dtype == m.dtype, DT_E_RUNTIME, "Found dtype %s but expected "
           "%s", op_dtype_word((DtDtype)mg.dtype),
           op_dtype_word((DtDtype)m.dtype));
  return DT_OK;
}

static DtStatus glu_back_decomp (DtDecompCall *c) {
  DtHandle *g = c->in[0], *a, *b, *s, *parts[2];
  DT_TRY(CX, halves(c, c->in[1], 2, &a, &b));
  if (!c->e->tracing) DT_TRY(CX, glu_back_check(c, g, a));
  s = E("aten.sigmoid.default", "t", b);
  b = E("aten.rsub.Scalar", "tf", s, 1.0);
  b = E("aten.mul.Tensor", "tt", b, s);
  b = E("aten.mul.Tensor", "tt", b, a);
  parts[1] = E("aten.mul.Tensor", "tt", b, g);
  parts[0] = E("aten.mul.Tensor", "tt", s, g);
  return finish(c, E("aten.cat.default", "Tv", 2, parts, V(2)));
}

/* ---- areas, differences ---- */

static DtHandle *neighbours (DtDecompCall *c, DtHandle *y, int64_t dim,
                             const char *op) {
  DtHandle *l = E("aten.slice.Tensor", "tiii", y, dim, (int64_t)0,
                  (int64_t)-1);
  DtHandle *r = E("aten.slice.Tensor", "tii", y, dim, (int64_t)1);
  return strcmp(op, "aten.sub.Tensor") == 0 ? E(op, "tt", r, l)
                                            : E(op, "tt", l, r);
}

/* y's sample points: x shaped for broadcasting along dim. */
static DtHandle *points (DtDecompCall *c, DtHandle *x, int d) {
  DtMeta m = meta_of(c, c->in[0]), mx = meta_of(c, x);
  int64_t shape[DT_MAX_NDIM];
  if (!dt_emit_ok(c->e) || mx.ndim >= m.ndim) return x;
  for (int i = 0; i < m.ndim; i++)
    shape[i] = mx.ndim == 1 ? (i == d ? mx.shape[0] : 1)
               : i < m.ndim - mx.ndim ? 1 : mx.shape[i - (m.ndim - mx.ndim)];
  return E("aten.view.default", "tI", x, (int)m.ndim, shape);
}

/* What both forms ask of y, and of x where points are given. */
static DtStatus trapezoid_check (DtDecompCall *c, int dim_at, bool points) {
  bool all = c->args->schema->base[0] == 'c';
  DtMeta m = meta_of(c, c->in[0]);
  bool bad = m.dtype == DT_BOOL ||
             (points && meta_of(c, c->in[1]).dtype == DT_BOOL);
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (!all) DT_TRY(CX, op_has_dim(CX, &m, (int)dt_arg_int(c->args, dim_at)));
  DT_CHECK(CX, !bad || c->e->pretend, DT_E_RUNTIME, "%strapezoid: received a "
           "bool input for %s`y`, but bool is not supported",
           all ? "cumulative_" : "", points ? "`x` or " : "");
  return DT_OK;
}

/* trapezoid, trapz, cumulative_trapezoid with given points. */
static DtStatus trapezoid_x_decomp (DtDecompCall *c) {
  bool all = c->args->schema->base[0] == 'c';
  DtMeta m = meta_of(c, c->in[0]), mx = meta_of(c, c->in[1]);
  int64_t dim;
  DtHandle *dx, *r;
  int d;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_TRY(CX, trapezoid_check(c, 2, true));
  DT_TRY(CX, op_dim(CX, c->args, 2, m.ndim, &d));
  DT_CHECK(CX, mx.ndim != 1 || m.ndim == 0 || mx.shape[0] == m.shape[d],
           DT_E_RUNTIME, "%strapezoid: There must be one `x` value for each "
           "sample point", all ? "cumulative_" : "");
  dim = d;
  dx = neighbours(c, points(c, c->in[1], d), dim, "aten.sub.Tensor");
  r = neighbours(c, c->in[0], dim, "aten.add.Tensor");
  r = E("aten.mul.Tensor", "tt", r, dx);
  r = all ? E("aten.cumsum.default", "ti", r, dim)
          : E("aten.sum.dim_IntList", "tI", r, 1, &dim);
  return finish(c, E("aten.div.Scalar", "tf", r, 2.0));
}

static DtStatus trapezoid_dx_decomp (DtDecompCall *c) {
  bool all = c->args->schema->base[0] == 'c';
  int64_t dim = dt_arg_int(c->args, 2);
  double dx = dt_arg_float(c->args, 1);
  DtHandle *y = c->in[0], *a, *b;
  DT_TRY(CX, trapezoid_check(c, 2, false));
  if (all) {
    a = neighbours(c, y, dim, "aten.add.Tensor");
    a = E("aten.mul.Scalar", "tf", a, dx / 2);
    return finish(c, E("aten.cumsum.default", "ti", a, dim));
  }
  b = E("aten.select.int", "tii", y, dim, (int64_t)-1);
  a = E("aten.select.int", "tii", y, dim, (int64_t)0);
  a = E("aten.add.Tensor", "tt", a, b);
  a = E("aten.mul.Scalar", "tf", a, 0.5);
  b = E("aten.sum.dim_IntList", "tI", y, 1, &dim);
  a = E("aten.sub.Tensor", "tt", b, a);
  return finish(c, E("aten.mul.Scalar", "tf", a, dx));
}

static DtHandle *cut (DtDecompCall *c, DtHandle *x, int64_t d, int64_t from,
                      int64_t to) {
  return to == 0 ? E("aten.slice.Tensor", "tii", x, d, from)
                 : E("aten.slice.Tensor", "tiii", x, d, from, to);
}

static DtStatus diff_decomp (DtDecompCall *c) {
  DtHandle *x = c->in[0], *part[3], *a, *b;
  DtMeta m = meta_of(c, x);
  int64_t n = dt_arg_int(c->args, 1);
  int d, k = 0;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.ndim >= 1, DT_E_RUNTIME,
           "diff expects input to be at least one-dimensional");
  DT_CHECK(CX, n >= 0, DT_E_RUNTIME, "order must be non-negative but got "
           "%lld", (long long)n);
  DT_TRY(CX, op_dim(CX, c->args, 2, m.ndim, &d));
  if (dt_hin(c, 3)) part[k++] = dt_hin(c, 3);
  part[k++] = x;
  if (dt_hin(c, 4)) part[k++] = dt_hin(c, 4);
  if (n == 0 && k == 1) {
    a = E("aten.zeros_like.default", "t", x);
    return finish(c, E("aten.copy_.default", "tt", a, x));
  }
  if (k > 1) x = E("aten.cat.default", "Ti", k, part, (int64_t)d);
  for (; n > 0; n--) {
    int64_t size;
    dt_meta_copy(&m, dt_emit_meta(c->e, x));
    if (!dt_emit_ok(c->e)) return c->e->st;
    size = m.shape[d];
    if (size == 0) break;
    a = E("aten.slice.Tensor", "tvii", x, V(2), (int64_t)0, size - 1);
    b = E("aten.slice.Tensor", "tvii", x, V(2), (int64_t)1, size);
    x = m.dtype == DT_BOOL ? E("aten.logical_xor.default", "tt", b, a)
                           : E("aten.sub.Tensor", "tt", b, a);
  }
  return finish(c, x);
}

/* One border of gradient() by points o, p, q of the dim. */
static DtHandle *border (DtDecompCall *c, int64_t d, bool last,
                         int64_t order, double step) {
  DtHandle *x = c->in[0], *a, *b, *e;
  if (order == 1) {
    a = last ? cut(c, x, d, -2, -1) : cut(c, x, d, 0, 1);
    b = last ? cut(c, x, d, -1, 0) : cut(c, x, d, 1, 2);
    a = E("aten.sub.Tensor", "tt", b, a);
    return E("aten.div.Scalar", "tf", a, step);
  }
  a = last ? cut(c, x, d, -1, 0) : cut(c, x, d, 2, 3);
  a = E("aten.mul.Scalar", "tf", a, last ? 1.5 : 0.5);
  b = last ? cut(c, x, d, -2, -1) : cut(c, x, d, 1, 2);
  b = E("aten.mul.Scalar", "ti", b, (int64_t)2);
  e = last ? cut(c, x, d, -3, -2) : cut(c, x, d, 0, 1);
  e = E("aten.mul.Scalar", "tf", e, last ? 0.5 : -1.5);
  e = last ? E("aten.sub.Tensor", "tt", e, b) : E("aten.add.Tensor", "tt", e,
                                                  b);
  e = last ? E("aten.add.Tensor", "tt", e, a) : E("aten.sub.Tensor", "tt", e,
                                                  a);
  return E("aten.div.Scalar", "tf", e, step);
}

static DtHandle *slope (DtDecompCall *c, int64_t d, int64_t order,
                        double step) {
  DtHandle *part[3], *a, *b;
  a = cut(c, c->in[0], d, 0, -2);
  b = cut(c, c->in[0], d, 2, 0);
  a = E("aten.sub.Tensor", "tt", b, a);
  a = E("aten.div.Scalar", "tf", a, step);
  part[0] = border(c, d, false, order, step);
  part[2] = border(c, d, true, order, step);
  part[1] = E("aten.div.Scalar", "ti", a, (int64_t)2);
  return E("aten.cat.default", "Ti", 3, part, d);
}

static double number_at (const DtValue *v, int i) {
  if (v->kind == DT_V_LIST) v = &v->u.list.v[i];
  return v->kind == DT_V_FLOAT ? v->u.f : v->kind == DT_V_INT
         ? (double)v->u.i : 1;
}

/* gradient with equal spacing: scalarint, scalararray, array,
** scalarrayint, scalarrayarray. */
static DtStatus gradient_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int spacing = at(c, "spacing"), which = at(c, "dim");
  int64_t dims[DT_MAX_NDIM], order = dt_arg_int(c->args, at(c, "edge_order"));
  int n = 0;
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (dt_arg_is_none(c->args, which))
    for (; n < m.ndim; n++) dims[n] = n;
  else
    n = op_ints(c->args, which, dims);
  DT_CHECK(CX, order == 1 || order == 2, DT_E_RUNTIME, "torch.gradient only "
           "supports edge_order=1 and edge_order=2.");
  for (int i = 0; i < n; i++) {
    int64_t d = dims[i] < 0 ? dims[i] + m.ndim : dims[i];
    DT_CHECK(CX, d >= 0 && d < m.ndim, DT_E_INDEX,
             "Dimension out of range (expected to be in range of [%d, %d], "
             "but got %lld)", -m.ndim, m.ndim - 1, (long long)dims[i]);
    DT_CHECK(CX, m.shape[d] > order, DT_E_RUNTIME, "torch.gradient expected "
             "each dimension size to be at least edge_order+1");
    c->out[i] = slope(c, d, order, spacing < 0 ? 1
                      : number_at(&c->args->v[spacing], i));
  }
  c->nout = n;
  return c->e->st;
}

/* ---- types, parts, statistics ---- */

static DtStatus to_type (DtDecompCall *c, DtDtype t) {
  DtMeta m = meta_of(c, c->in[0]);
  if (t == DT_DTYPE_NONE || t == (DtDtype)m.dtype)
    return finish(c, c->in[0]);
  return finish(c, E("aten._to_copy.default", "t dtype=d", c->in[0],
                     (int)t));
}

static DtStatus type_as_decomp (DtDecompCall *c) {
  return to_type(c, (DtDtype)meta_of(c, c->in[1]).dtype);
}

static DtStatus to_layout_decomp (DtDecompCall *c) {
  int copy = at(c, "copy");
  if (dt_arg_bool(c->args, copy))
    return finish(c, E("aten._to_copy.default", "t dtype=v", c->in[0],
                       V(1)));
  return to_type(c, dt_arg_dtype(c->args, 1));
}

/* No element is false; of bytes the answer is a byte. */
static DtStatus all_dims_decomp (DtDecompCall *c) {
  DtHandle *h = E("aten.logical_not.default", "t", c->in[0]);
  h = E("aten.any.dims", "tvv", h, V(1), V(2));
  h = E("aten.logical_not.default", "t", h);
  if (meta_of(c, c->in[0]).dtype == DT_U8)
    h = E("aten._to_copy.default", "t dtype=d", h, (int)DT_U8);
  return finish(c, h);
}

/* A number is its own transpose. */
static DtStatus mT_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  DT_CHECK(CX, m.ndim != 1, DT_E_RUNTIME, "tensor.mT is only supported on "
           "matrices or batches of matrices. Got 1-D tensor.");
  if (m.ndim == 0) return finish(c, c->in[0]);
  return finish(c, E("aten.transpose.int", "tii", c->in[0], (int64_t)-2,
                     (int64_t)-1));
}

static DtStatus narrow_copy_decomp (DtDecompCall *c) {
  DtHandle *x = E("aten.narrow.default", "tvvv", c->in[0], V(1), V(2), V(3));
  return finish(c, E("aten.clone.default", "t memory_format=v", x,
                     dt_v_code(DT_V_MEMFMT, DT_MF_CONTIGUOUS)));
}

static DtStatus std_mean_decomp (DtDecompCall *c) {
  int dim = at(c, "dim");
  int64_t k = dt_arg_bool(c->args, at(c, "unbiased"));
  c->nout = 2;
  if (dim < 0) {
    dt_emit_n(c->e, "aten.std_mean.correction", c->out, 2, "tn correction=i",
              c->in[0], k);
    return c->e->st;
  }
  DT_CHECK(CX, !c->e->tracing || c->args->npos <= 2, DT_E_NOTIMPL,
           "std_mean.dim cannot be traced with these arguments");
  dt_emit_n(c->e, "aten.std_mean.correction", c->out, 2,
            "tv correction=i keepdim=b", c->in[0], V(dim), k,
            (int)dt_arg_bool(c->args, at(c, "keepdim")));
  return c->e->st;
}

static DtStatus take_along_decomp (DtDecompCall *c) {
  DtHandle *x = c->in[0], *i = c->in[1];
  DtMeta m = meta_of(c, x), mi = meta_of(c, i);
  int64_t sx[DT_MAX_NDIM], si[DT_MAX_NDIM], all = -1;
  int d;
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (dt_arg_is_none(c->args, 2)) {
    x = op_e_reshape(c->e, x, 1, &all);
    i = op_e_reshape(c->e, i, 1, &all);
    return finish(c, E("aten.gather.default", "tit", x, (int64_t)0, i));
  }
  DT_CHECK(CX, m.ndim == mi.ndim, DT_E_RUNTIME, "torch.take_along_dim(): "
           "input and indices should have the same number of dimensions, but "
           "got %d dimensions for input, and %d dimensions for indices",
           m.ndim, mi.ndim);
  DT_TRY(CX, op_dim(CX, c->args, 2, m.ndim, &d));
  for (int k = 0; k < m.ndim; k++) {
    int64_t a = m.shape[k], b = mi.shape[k];
    si[k] = k == d ? b : a == 1 ? b : a;
    sx[k] = k == d ? a : b == 1 ? a : b;
  }
  i = E("aten.expand.default", "tI", i, (int)m.ndim, si);
  x = E("aten.expand.default", "tI", x, (int)m.ndim, sx);
  i = E("aten.remainder.Scalar", "ti", i, m.shape[d]);
  return finish(c, E("aten.gather.default", "tit", x, (int64_t)d, i));
}

/* dropout with the noise of whole channels, or the one that keeps mean and
** variance of SELU's outputs. */
static DtStatus noise_decomp (DtDecompCall *c) {
  const char *name = c->args->schema->base;
  bool feature = strncmp(name, "feature", 7) == 0;
  bool alpha = strstr(name, "alpha") != NULL;
  double p = dt_arg_float(c->args, 1), k = 1.7580993408473766, a;
  DtHandle *x = c->in[0], *n, *b = NULL;
  DtMeta m = meta_of(c, x);
  int64_t shape[DT_MAX_NDIM];
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, p >= 0 && p <= 1, DT_E_RUNTIME, "dropout probability has to "
           "be between 0 and 1, but got %g", p);
  if (p == 0 || !dt_arg_bool(c->args, 2) || dt_meta_numel(&m) == 0)
    return finish(c, x);
  DT_CHECK(CX, !feature || m.ndim >= 2, DT_E_RUNTIME, "Feature dropout "
           "requires at least 2 dimensions in the input");
  for (int i = 0; i < m.ndim; i++) shape[i] = i < 2 ? m.shape[i] : 1;
  if (p == 1) {
    n = E("aten.new_zeros.default", "tI", x, 0, shape);
    return finish(c, E("aten.mul.Tensor", "tt", x, n));
  }
  n = feature ? E("aten.new_empty.default", "tI", x, (int)m.ndim, shape)
              : E("aten.empty_like.default", "t", x);
  n = E("aten.bernoulli_.float", "tf", n, 1 - p);
  if (alpha) {
    a = 1 / sqrt((k * k * p + 1) * (1 - p));
    b = E("aten.add.Scalar", "ti", n, (int64_t)-1);
    b = E("aten.mul_.Tensor", "tf", b, k * a);
    b = E("aten.add_.Tensor", "tf", b, k * a * p);
    n = E("aten.mul_.Tensor", "tf", n, a);
  } else {
    n = E("aten.div_.Scalar", "tf", n, 1 - p);
  }
  x = E("aten.mul.Tensor", "tt", x, n);
  return finish(c, alpha ? E("aten.add_.Tensor", "tt", x, b) : x);
}

/* In place by a decomposition that goes over a copy: partials end there. */
static DtStatus true_divide__decomp (DtDecompCall *c) {
  DtHandle *x = c->in[0];
  if (!c->e->tracing)
    return finish(c, E("aten.div_.Scalar", "tv", x, V(1)));
  x = E("aten.clone.default", "t", x);
  x = E("aten.div.Scalar", "tv", x, V(1));
  return finish(c, E("aten.copy_.default", "tt", c->in[0], x));
}

/* floor_divide_: for floats PyTorch's decomposition makes a plain tensor, at
** which tracing gives up. */
static DtStatus floor_divide__decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  DtHandle *x = c->in[0], *y = c->in[1];
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, !c->e->tracing || dt_dtype_is_integral((DtDtype)m.dtype, true),
           DT_E_NOTIMPL, "floor_divide_ makes a tensor without placements");
  if (!c->e->tracing)
    return finish(c, E("aten.div_.Tensor_mode", "tt rounding_mode=s", x, y,
                       "floor"));
  y = E("aten.expand.default", "tI", y, (int)m.ndim, m.shape);
  y = E("aten.div.Tensor_mode", "tt rounding_mode=s", x, y, "floor");
  return finish(c, E("aten.copy_.default", "tt", x, y));
}

/* The parts of split as tensors of their own history. */
static DtStatus unsafe_sizes_decomp (DtDecompCall *c) {
  c->nout = dt_arg_len(c->args, 1);
  DT_CHECK(CX, c->nout <= c->maxout, DT_E_LIMIT, "more than %d results",
           c->maxout);
  dt_emit_n(c->e, "aten.split_with_sizes.default", c->out, c->nout, "tvv",
            c->in[0], V(1), V(2));
  return c->e->st;
}

static DtStatus unsafe_sizes_grad (DtGradCall *c) {
  return dt_op_split_with_sizes.grad(c);
}

/* ---- samples and definitions ---- */

#define C(id, schema_, brief_, decomp_, ...) \
  static const char *const id##_samples[] = { __VA_ARGS__, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = DT_OP_COMPOSITE, \
    .decomp = decomp_, .samples = id##_samples }
#define K(id, schema_, brief_, decomp_, grad_, backward_, ...) \
  static const char *const id##_samples[] = { __VA_ARGS__, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .decomp = decomp_, \
    .grad = grad_, .backward = backward_, .samples = id##_samples }

#define U "f32[8, 6]"
#define B "f32[8, 6], f32[8, 6]"

K(all_dims, "all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> "
  "Tensor", "Are all elements true, over dims?", all_dims_decomp, NULL, NULL,
  "bool[8, 6], [1]");
C(mT, "mT(Tensor(a) self) -> Tensor(a)", "The last two dims exchanged.",
  mT_decomp, U);
C(isclose, "isclose(Tensor self, Tensor other, float rtol="
  "1.0000000000000001e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
  "Equal but for rounding.", isclose_decomp, B);
K(isin_Tensor_Tensor, "isin.Tensor_Tensor(Tensor elements, Tensor "
  "test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor",
  "Is each element among the others?", isin_decomp, NULL, NULL,
  "i64[8], i64[4]");
K(isin_Tensor_Scalar, "isin.Tensor_Scalar(Tensor elements, Scalar "
  "test_element, *, bool assume_unique=False, bool invert=False) -> Tensor",
  "Is each element this number?", isin_decomp, NULL, NULL, "i64[8], 2");
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
  "Cross entropy of probabilities.", bce_decomp, op_g_program,
  "self: binary_cross_entropy_backward(grad, self, target, weight, reduction)",
  B);
K(binary_cross_entropy_backward, "binary_cross_entropy_backward(Tensor "
  "grad_output, Tensor self, Tensor target, Tensor? weight=None, int "
  "reduction=1) -> Tensor", "Gradient of binary_cross_entropy.",
  bce_back_decomp, NULL, NULL, "f32[], f32[8, 6], f32[8, 6]");
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
  "Gradient of soft_margin_loss.", soft_margin_back_decomp, NULL, NULL,
  "f32[], f32[8, 6], f32[8, 6], 1");
K(glu, "glu(Tensor self, int dim=-1) -> Tensor",
  "The first half times the sigmoid of the second.", glu_decomp,
  op_g_program, "self: glu_backward(grad, self, dim)", U);
K(glu_backward, "glu_backward(Tensor grad_output, Tensor self, int dim) -> "
  "Tensor", "Gradient of glu.", glu_back_decomp, NULL, NULL,
  "f32[8, 3], f32[8, 6], 1");
C(trapezoid_x, "trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
  "Area below the points.", trapezoid_x_decomp, B);
C(trapezoid_dx, "trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> "
  "Tensor", "Area below equidistant points.", trapezoid_dx_decomp, U);
C(trapz_x, "trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
  "Area below the points.", trapezoid_x_decomp, B);
C(trapz_dx, "trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor",
  "Area below equidistant points.", trapezoid_dx_decomp, U);
C(cumulative_trapezoid_x, "cumulative_trapezoid.x(Tensor y, Tensor x, *, int "
  "dim=-1) -> Tensor", "Area up to each point.", trapezoid_x_decomp, B);
C(cumulative_trapezoid_dx, "cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1,"
  " int dim=-1) -> Tensor", "Area up to each equidistant point.",
  trapezoid_dx_decomp, U);
C(diff, "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor?"
  " append=None) -> Tensor", "Differences of neighbours.", diff_decomp, U);
#define GRADIENT(id, args_) \
  C(gradient_##id, "gradient." #id "(Tensor self, *, " args_ "int " \
    "edge_order=1) -> Tensor[]", "Slopes along dims.", gradient_decomp, U)
GRADIENT(scalarint, "Scalar? spacing=None, int? dim=None, ");
GRADIENT(scalararray, "Scalar spacing, int[] dim, ");
GRADIENT(array, "int[] dim, ");
GRADIENT(scalarrayint, "Scalar[] spacing, int? dim=None, ");
GRADIENT(scalarrayarray, "Scalar[] spacing, int[] dim, ");
C(type_as, "type_as(Tensor self, Tensor other) -> Tensor",
  "In another tensor's type.", type_as_decomp, "f32[8, 6], f64[2]");
C(to_dtype_layout, "to.dtype_layout(Tensor(a) self, *, ScalarType? "
  "dtype=None, Layout? layout=None, Device? device=None, bool? "
  "pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? "
  "memory_format=None) -> Tensor(a)", "In another type.", to_layout_decomp,
  U);
K(narrow_copy, "narrow_copy(Tensor self, int dim, SymInt start, SymInt "
  "length) -> Tensor", "A copy of a range of a dim.", narrow_copy_decomp,
  NULL, NULL, "f32[8, 6], 0, 2, 4");
C(std_mean, "std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
  "Standard deviation and mean.", std_mean_decomp, U);
C(std_mean_dim, "std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, "
  "bool keepdim=False) -> (Tensor, Tensor)",
  "Standard deviation and mean over dims.", std_mean_decomp,
  "f32[8, 6], [1]");
C(take_along_dim, "take_along_dim(Tensor self, Tensor indices, int? dim=None)"
  " -> Tensor", "Elements by index along a dim.", take_along_decomp,
  "f32[8, 6], i64[8, 2], 1", "f32[8, 6], i64[4]");
C(alpha_dropout, "alpha_dropout(Tensor input, float p, bool train) -> Tensor",
  "Dropout that keeps mean and variance.", noise_decomp,
  "f32[8, 6], 0.0, true");
C(feature_dropout, "feature_dropout(Tensor input, float p, bool train) -> "
  "Tensor", "Dropout of whole channels.", noise_decomp,
  "f32[8, 6, 2], 0.0, true");
C(feature_alpha_dropout, "feature_alpha_dropout(Tensor input, float p, bool "
  "train) -> Tensor", "Dropout of whole channels that keeps mean and "
  "variance.", noise_decomp, "f32[8, 6, 2], 0.0, true");
C(true_divide__Scalar, "true_divide_.Scalar(Tensor(a!) self, Scalar other) -> "
  "Tensor(a!)", "Quotient by a number, in place.", true_divide__decomp,
  "f32[8, 6], 2.0");
K(floor_divide__Tensor, "floor_divide_.Tensor(Tensor(a!) self, Tensor other) "
  "-> Tensor(a!)", "Quotient, rounded down, in place.", floor_divide__decomp,
  NULL, NULL, B);
K(unsafe_split_with_sizes, "unsafe_split_with_sizes(Tensor self, SymInt[] "
  "split_sizes, int dim=0) -> Tensor[]", "Parts of given sizes, not views.",
  unsafe_sizes_decomp, unsafe_sizes_grad, NULL, "f32[8, 6], [3, 5]");
