/* SPDX-License-Identifier: MIT
** oplib/op_composite_cases.c: public functions that compute by other operators
** where the calls depend on flags, types or sizes: isclose, glu, statistics,
** parts.  Losses are in op_composite_loss.c, areas and slopes in
** op_composite_area.c; those without such branches are text, in
** op_composite_text.c. */
#include "oplib/casting.h"
#include "oplib/composite.h"
#include "oplib/second.h"

#include <math.h>

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
  close = EMIT("aten.eq.Tensor", "tt", x, y);
  if (dt_arg_bool(c->args, 4) && !whole) {
    ok = EMIT("aten.ne.Tensor", "tt", x, x);
    fin = EMIT("aten.ne.Tensor", "tt", y, y);
    ok = EMIT("aten.bitwise_and_.Tensor", "tt", ok, fin);
    close = EMIT("aten.bitwise_or_.Tensor", "tt", close, ok);
  }
  if (rtol == 0 && atol == 0) return finish(c, close);
  if (whole) {
    x = mx.dtype == DT_BOOL
        ? EMIT("aten._to_copy.default", "t dtype=d", x, (int)OP_DEFAULT_FLOAT)
        : x;
    y = EMIT("aten._to_copy.default", "t dtype=d", y, (int)OP_DEFAULT_FLOAT);
  }
  allow = EMIT("aten.mul.Scalar", "tf", y, rtol);
  allow = EMIT("aten.abs.default", "t", allow);
  allow = EMIT("aten.add.Scalar", "tf", allow, atol);
  off = EMIT("aten.sub.Tensor", "tt", x, y);
  off = EMIT("aten.abs.default", "t", off);
  fin = EMIT("aten.abs.default", "t", off);
  fin = EMIT("aten.ne.Scalar", "tf", fin, (double)INFINITY);
  ok = EMIT("aten.eq.Tensor", "tt", off, off);
  ok = EMIT("aten.mul.Tensor", "tt", ok, fin);
  fin = EMIT("aten.le.Tensor", "tt", off, allow);
  ok = EMIT("aten.bitwise_and_.Tensor", "tt", ok, fin);
  return finish(c, EMIT("aten.bitwise_or_.Tensor", "tt", close, ok));
}

/* isin by comparing with every test element. */
static DtStatus isin_decomp (DtDecompCall *c) {
  bool invert = dt_arg_bool(c->args, at(c, "invert"));
  int64_t shape[DT_MAX_NDIM], dims[DT_MAX_NDIM];
  DtHandle *x = c->in[0], *t = dt_hin(c, 1);
  if (t == NULL)
    return finish(c, EMIT(invert ? "aten.ne.Scalar" : "aten.eq.Scalar", "tv",
                          x,
                          ARG(1)));
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
  x = EMIT("aten.view.default", "tI", x, m.ndim + mt.ndim, shape);
  x = EMIT("aten.eq.Tensor", "tt", x, t);
  x = EMIT("aten.any.dims", "tI", x, (int)mt.ndim, dims);
  return finish(c, invert ? EMIT("aten.logical_not.default", "t", x) : x);
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
  *a = EMIT("aten.slice.Tensor", "tiii", x, (int64_t)d, (int64_t)0, n / 2);
  *b = EMIT("aten.slice.Tensor", "tiii", x, (int64_t)d, n / 2, n);
  return c->e->st;
}

static DtStatus glu_decomp (DtDecompCall *c) {
  DtHandle *a, *b;
  DT_TRY(CX, halves(c, c->in[0], 1, &a, &b));
  b = EMIT("aten.sigmoid.default", "t", b);
  return finish(c, EMIT("aten.mul.Tensor", "tt", a, b));
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
  s = EMIT("aten.sigmoid.default", "t", b);
  b = EMIT("aten.rsub.Scalar", "tf", s, 1.0);
  b = EMIT("aten.mul.Tensor", "tt", b, s);
  b = EMIT("aten.mul.Tensor", "tt", b, a);
  parts[1] = EMIT("aten.mul.Tensor", "tt", b, g);
  parts[0] = EMIT("aten.mul.Tensor", "tt", s, g);
  return finish(c, EMIT("aten.cat.default", "Tv", 2, parts, ARG(2)));
}

/* ---- types, parts, statistics ---- */

static DtStatus to_type (DtDecompCall *c, DtDtype t) {
  DtMeta m = meta_of(c, c->in[0]);
  if (t == DT_DTYPE_NONE || t == (DtDtype)m.dtype)
    return finish(c, c->in[0]);
  return finish(c, EMIT("aten._to_copy.default", "t dtype=d", c->in[0],
                        (int)t));
}

static DtStatus type_as_decomp (DtDecompCall *c) {
  return to_type(c, (DtDtype)meta_of(c, c->in[1]).dtype);
}

static DtStatus to_layout_decomp (DtDecompCall *c) {
  int copy = at(c, "copy");
  if (dt_arg_bool(c->args, copy))
    return finish(c, EMIT("aten._to_copy.default", "t dtype=v", c->in[0],
                          ARG(1)));
  return to_type(c, dt_arg_dtype(c->args, 1));
}

/* No element is false; of bytes the answer is a byte. */
static DtStatus all_dims_decomp (DtDecompCall *c) {
  DtHandle *h = EMIT("aten.logical_not.default", "t", c->in[0]);
  h = EMIT("aten.any.dims", "tvv", h, ARG(1), ARG(2));
  h = EMIT("aten.logical_not.default", "t", h);
  if (meta_of(c, c->in[0]).dtype == DT_U8)
    h = EMIT("aten._to_copy.default", "t dtype=d", h, (int)DT_U8);
  return finish(c, h);
}

/* A number is its own transpose. */
static DtStatus mT_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  DT_CHECK(CX, m.ndim != 1, DT_E_RUNTIME, "tensor.mT is only supported on "
           "matrices or batches of matrices. Got 1-D tensor.");
  if (m.ndim == 0) return finish(c, c->in[0]);
  return finish(c, EMIT("aten.transpose.int", "tii", c->in[0], (int64_t)-2,
                        (int64_t)-1));
}

static DtStatus narrow_copy_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int64_t from = dt_arg_int(c->args, 2), n = dt_arg_int(c->args, 3);
  int d;
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (!c->e->pretend && m.ndim > 0) {   /* narrow looks at the length first */
    DT_TRY(CX, op_dim(CX, c->args, 1, m.ndim, &d));
    DT_TRY(CX, op_range(CX, m.shape[d], n, &from));
  }
  DtHandle *x = EMIT("aten.narrow.default", "tvvv", c->in[0], ARG(1), ARG(2),
                     ARG(3));
  return finish(c, EMIT("aten.clone.default", "t memory_format=v", x,
                        dt_v_code(DT_V_MEMFMT, DT_MF_CONTIGUOUS)));
}

static DtStatus narrow_copy_grad (DtGradCall *c) {
  DtMeta m;
  int d;
  dt_meta_copy(&m, dt_emit_meta(c->e, dt_gin(c, 0)));
  DT_TRY(c->e->cx, op_dim(c->e->cx, c->args, 1, m.ndim, &d));
  int64_t start = dt_arg_int(c->args, 2), n = dt_arg_int(c->args, 3);
  if (start < 0) start += m.shape[d];
  op_g_set(c, 0, EMIT("aten.slice_backward.default", "tIiiii", GOUT,
                      (int)m.ndim, m.shape, (int64_t)d, start, start + n,
                      (int64_t)1));
  return op_g_finish(c);
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
            "tv correction=i keepdim=b", c->in[0], ARG(dim), k,
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
    return finish(c, EMIT("aten.gather.default", "tit", x, (int64_t)0, i));
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
  i = EMIT("aten.expand.default", "tI", i, (int)m.ndim, si);
  x = EMIT("aten.expand.default", "tI", x, (int)m.ndim, sx);
  i = EMIT("aten.remainder.Scalar", "ti", i, m.shape[d]);
  return finish(c, EMIT("aten.gather.default", "tit", x, (int64_t)d, i));
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
    n = EMIT("aten.new_zeros.default", "tI", x, 0, shape);
    return finish(c, EMIT("aten.mul.Tensor", "tt", x, n));
  }
  n = feature ? EMIT("aten.new_empty.default", "tI", x, (int)m.ndim, shape)
              : EMIT("aten.empty_like.default", "t", x);
  n = EMIT("aten.bernoulli_.float", "tf", n, 1 - p);
  if (alpha) {
    a = 1 / sqrt((k * k * p + 1) * (1 - p));
    b = EMIT("aten.add.Scalar", "ti", n, (int64_t)-1);
    b = EMIT("aten.mul_.Tensor", "tf", b, k * a);
    b = EMIT("aten.add_.Tensor", "tf", b, k * a * p);
    n = EMIT("aten.mul_.Tensor", "tf", n, a);
  } else {
    n = EMIT("aten.div_.Scalar", "tf", n, 1 - p);
  }
  x = EMIT("aten.mul.Tensor", "tt", x, n);
  return finish(c, alpha ? EMIT("aten.add_.Tensor", "tt", x, b) : x);
}

/* In place by a decomposition; partials end at the quotient. */
static DtStatus true_divide__decomp (DtDecompCall *c) {
  DtHandle *x = c->in[0];
  if (!c->e->tracing)
    return finish(c, EMIT("aten.div_.Scalar", "tv", x, ARG(1)));
  x = EMIT("prims.div.default", "tv", x, ARG(1));
  return finish(c, EMIT("aten.copy_.default", "tt", c->in[0], x));
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
    return finish(c, EMIT("aten.div_.Tensor_mode", "tt rounding_mode=s", x, y,
                          "floor"));
  y = EMIT("aten.expand.default", "tI", y, (int)m.ndim, m.shape);
  y = EMIT("aten.div.Tensor_mode", "tt rounding_mode=s", x, y, "floor");
  return finish(c, EMIT("aten.copy_.default", "tt", x, y));
}

/* The parts of split as tensors of their own history. */
static DtStatus unsafe_sizes_decomp (DtDecompCall *c) {
  c->nout = dt_arg_len(c->args, 1);
  DT_CHECK(CX, c->nout <= c->maxout, DT_E_LIMIT, "more than %d results",
           c->maxout);
  dt_emit_n(c->e, "aten.split_with_sizes.default", c->out, c->nout, "tvv",
            c->in[0], ARG(1), ARG(2));
  return c->e->st;
}

static DtStatus unsafe_sizes_grad (DtGradCall *c) {
  return dt_op_split_with_sizes.grad(c);
}

/* ---- samples and definitions ---- */

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
K(glu, "glu(Tensor self, int dim=-1) -> Tensor",
  "The first half times the sigmoid of the second.", glu_decomp,
  op_g_program, "self: glu_backward(grad, self, dim)", U);
K(glu_backward, "glu_backward(Tensor grad_output, Tensor self, int dim) -> "
  "Tensor", "Gradient of glu.", glu_back_decomp, op_gg_glu_backward, NULL,
  "f32[8, 3], f32[8, 6], 1");
C(type_as, "type_as(Tensor self, Tensor other) -> Tensor",
  "In another tensor's type.", type_as_decomp, "f32[8, 6], f64[2]");
C(to_dtype_layout, "to.dtype_layout(Tensor(a) self, *, ScalarType? "
  "dtype=None, Layout? layout=None, Device? device=None, bool? "
  "pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? "
  "memory_format=None) -> Tensor(a)", "In another type.", to_layout_decomp,
  U);
K(narrow_copy, "narrow_copy(Tensor self, int dim, SymInt start, SymInt "
  "length) -> Tensor", "A copy of a range of a dim.", narrow_copy_decomp,
  narrow_copy_grad, NULL, "f32[8, 6], 0, 2, 4");
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
