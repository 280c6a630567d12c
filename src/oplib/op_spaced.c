/* SPDX-License-Identifier: MIT
** oplib/op_spaced.c: windows of signal processing; numbers at equal steps,
** also of a logarithm and between numbers in tensors.
**
** A window is built in steps in PyTorch, each rounded to its dtype; so it is
** here. */
#include "kernel/special.h"
#include "oplib/oplib_int.h"
#include "oplib/op_unwritten.h"

#include <math.h>
#include <string.h>

static double num (DtScalar s) {
  return s.kind <= DT_K_INT ? (double)s.i : s.re;
}

/* The number as the dtype holds it. */
static double rounded (DtDtype t, double x) {
  double room[2];
  dt_dtype_store(t, room, dt_scalar_float(x));
  return num(dt_dtype_load(t, room));
}

/* One number into an element of a 1-d tensor. */
static void put (DtTensor *out, void *data, int64_t i, double v) {
  DtDtype t = (DtDtype)out->m.dtype;
  size_t at = (size_t)(i * out->m.stride[0]) * dt_dtype_size(t);
  DtScalar s = dt_scalar_float(v);
  dt_dtype_store(t, (char *)data + at, s);
}

/* ---- windows ---- */

typedef enum Kind { HANN, HAMMING, BLACKMAN, BARTLETT, KAISER } Kind;
static const int row_hann[] = { HANN }, row_hamming[] = { HAMMING },
                 row_blackman[] = { BLACKMAN }, row_bartlett[] = { BARTLETT },
                 row_kaiser[] = { KAISER };

static int named (const DtArgs *a, const char *name) {
  return a->schema ? dt_schema_arg(a->schema, name) : -1;
}

static DtStatus window_meta (DtMetaCall *c) {
  const char *name = c->op->sig->base;
  int64_t n = dt_arg_int(c->args, 0);
  int at = named(c->args, "dtype");
  DtDtype t = op_dtype_or(c->args, at, (DtDtype)OP_DEFAULT_FLOAT);
  DT_CHECK(c->cx, dt_dtype_is_float(t) || dt_dtype_is_complex(t),
           DT_E_RUNTIME, "%s expects floating point dtypes, got: TensorOptions("
           "dtype=%s, device=cpu (default), layout=Strided (default), "
           "requires_grad=false (default), pinned_memory=false (default), "
           "memory_format=(nullopt))",
           name, dt_dtype_info(t)->cpp);
  DT_CHECK(c->cx, n >= 0, DT_E_RUNTIME, "%s requires non-negative "
           "window_length, got window_length=%lld", name, (long long)n);
  return op_factory(c, (DtDtype)OP_DEFAULT_FLOAT, 1, &n);
}

typedef struct Window {
  Kind kind; DtDtype t;
  double n;                     /* elements, with the one periods leave out */
  double alpha, beta;
} Window;

static double cosines (const Window *w, double x) {
  DtDtype t = w->t;
  double v = rounded(t, cos(rounded(t, x)));
  v = rounded(t, v * rounded(t, -w->beta));
  return rounded(t, v + rounded(t, w->alpha));
}

static double blackman (const Window *w, double x) {
  DtDtype t = w->t;
  double a = rounded(t, cos(rounded(t, x * 4)));
  double b = rounded(t, cos(rounded(t, x * 2)));
  a = rounded(t, a * rounded(t, 0.08));
  a = rounded(t, a - rounded(t, b * 0.5));
  return rounded(t, a + rounded(t, 0.42));
}

static double element (const Window *w, int64_t i) {
  double pi = 3.14159265358979323846, last = w->n - 1, x = (double)i;
  switch (w->kind) {
    case HANN: case HAMMING:
      return cosines(w, rounded(w->t, x * rounded(w->t, 2 * pi / last)));
    case BLACKMAN:
      return blackman(w, rounded(w->t, x * rounded(w->t, pi / last)));
    case BARTLETT:
      x = rounded(w->t, x * rounded(w->t, 2 / last));
      return i > (int64_t)last / 2 ? rounded(w->t, rounded(w->t, -x) + 2) : x;
    default:
      x = (x - last / 2) / (last / 2);
      return dt_sp_i0(w->beta * sqrt(fmax(0, 1 - x * x))) / dt_sp_i0(w->beta);
  }
}

static double arg_or (const DtArgs *a, const char *name, double dflt) {
  int i = named(a, name);
  return i < 0 ? dflt : dt_arg_float(a, i);
}

static DtStatus window_kernel (DtKernelCall *c) {
  DtTensor *out = c->out[0];
  int p = named(c->args, "periodic");
  int64_t n = out->m.shape[0];
  Window w = { .kind = (Kind)c->op->row[0], .t = (DtDtype)out->m.dtype };
  void *data;
  if (n <= 1) return dt_k_fill(c->cx, out, dt_scalar_int(1));
  DT_CHECK(c->cx, !dt_dtype_is_complex(w.t), DT_E_NOTIMPL,
           "\"arange_cpu\" not implemented for '%s'", op_dtype_word(w.t));
  w.n = (double)n + (p < 0 || dt_arg_bool(c->args, p));
  w.alpha = arg_or(c->args, "alpha", w.kind == HANN ? 0.5 : 0.54);
  w.beta = arg_or(c->args, "beta", w.kind == HANN ? 0.5
                                   : w.kind == KAISER ? 12 : 0.46);
  DT_TRY(c->cx, dt_tensor_data(c->cx, out, &data));
  for (int64_t i = 0; i < n; i++)
    put(out, data, i, element(&w, i));
  return DT_OK;
}

#define ARGS ", *, ScalarType? dtype=None, Layout? layout=None, " \
             "Device? device=None, bool? pin_memory=None) -> Tensor"
static const char *const win_samples[] = { "5", NULL };
static const char *const per_samples[] = { "5, false", NULL };
static const char *const alpha_samples[] = { "5, true, 0.3", NULL };
static const char *const beta_samples[] = { "5, true, 0.3, 0.6", NULL };
#define WIN(id, schema_, brief_, samples_, row_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_ ARGS, .brief = brief_, \
    .flags = DT_OP_FACTORY | DT_OP_NOGRAD, .meta = window_meta, \
    .kernel = window_kernel, .samples = samples_, .row = row_ }
#define WIN2(name, brief_) \
  WIN(name##_window, #name "_window(int window_length", brief_, win_samples, \
      row_##name); \
  WIN(name##_window_periodic, #name "_window.periodic(int window_length, bool " \
      "periodic", brief_, per_samples, row_##name)

WIN2(hann, "One period of a raised cosine.");
WIN2(hamming, "A raised cosine that does not reach zero.");
WIN2(blackman, "A sum of three cosines.");
WIN2(bartlett, "A triangle.");
WIN2(kaiser, "A window of modified Bessel functions.");
WIN(hamming_window_periodic_alpha, "hamming_window.periodic_alpha(int "
    "window_length, bool periodic, float alpha", "A raised cosine.",
    alpha_samples, row_hamming);
WIN(hamming_window_periodic_alpha_beta, "hamming_window.periodic_alpha_beta("
    "int window_length, bool periodic, float alpha, float beta",
    "A raised cosine.", beta_samples, row_hamming);
WIN(kaiser_window_beta, "kaiser_window.beta(int window_length, bool periodic, "
    "float beta", "A window of modified Bessel functions.", alpha_samples,
    row_kaiser);

/* ---- equal steps ---- */

static bool is_log (const DtOpDef *op) {
  return strncmp(op->sig->base, "log", 3) == 0;
}

/* PyTorch looks at both ends before it reads them. */
static DtStatus spaced_meta (DtMetaCall *c) {
  const char *name = c->op->sig->base;
  int64_t n = dt_arg_int(c->args, 2);
  const DtMeta *a = c->args->v[0].kind == DT_V_TENSOR ? dt_in(c, 0) : NULL;
  const DtMeta *b = c->args->v[1].kind == DT_V_TENSOR ? dt_in(c, 1) : NULL;
  DtDtype t = (DtDtype)OP_DEFAULT_FLOAT;
  bool odd = (a && a->ndim > 0) || (b && b->ndim > 0);
  DT_CHECK(c->cx, !odd || !a || !b, DT_E_RUNTIME, "%s only supports "
           "0-dimensional start and end tensors, but got start with %d "
           "dimension(s) and end with %d dimension(s).", name, a->ndim,
           b->ndim);
  DT_CHECK(c->cx, !odd, DT_E_RUNTIME, "%s only supports 0-dimensional start "
           "and end tensors, but got %s with %d dimension(s).", name,
           a ? "start" : "end", a ? a->ndim : b->ndim);
  DT_CHECK(c->cx, n >= 0, DT_E_RUNTIME,
           "number of steps must be non-negative");
  if ((a && dt_dtype_is_complex((DtDtype)a->dtype)) ||
      (b && dt_dtype_is_complex((DtDtype)b->dtype)))
    t = DT_C64;
  return op_factory(c, t, 1, &n);
}

static double end_of (DtKernelCall *c, int i) {
  int64_t none[1] = { 0 };
  if (c->args->v[i].kind != DT_V_TENSOR) return num(dt_arg_scalar(c->args, i));
  return num(dt_tensor_get(dt_kin(c, i), none));
}

/* Numbers at equal steps, from both ends towards the middle, so that both are
** met exactly. */
typedef struct Steps {
  DtDtype t;
  bool each;                    /* is every operation rounded to t? */
  int64_t n;
  double from, to, step;
} Steps;

static double kept (const Steps *s, double x) {
  return s->each ? rounded(s->t, x) : x;
}

/* PyTorch's kernel of linspace works in the dtype of the result: ends without
** their fraction for integers (the step keeps it), every operation rounded for
** floats, but for the product that is added in one step in the wider ones.
** Powers of a base round the step of float32 alone. */
static Steps steps_between (DtDtype t, bool is_log, double from, double to,
                            int64_t n) {
  Steps s = { t, t == DT_F32 || (!is_log && dt_dtype_is_float(t)), n, 0, 0, 0 };
  bool cut = !is_log && dt_dtype_is_integral(t, true);
  double a = cut ? rounded(t, from) : kept(&s, from);
  double b = cut ? rounded(t, to) : kept(&s, to);
  if (n > 1)
    s.step = kept(&s, kept(&s, b - a) / kept(&s, (double)(n - 1)));
  s.from = is_log ? from : a;
  s.to = is_log ? to : b;
  s.each = s.each && !is_log;
  return s;
}

static double step_number (const Steps *s, int64_t i) {
  bool low = i < s->n / 2 || s->n == 1;
  double k = kept(s, (double)(low ? i : s->n - 1 - i));
  double step = low ? s->step : -s->step, end = low ? s->from : s->to;
  if (s->t == DT_F16 || s->t == DT_BF16) return end + kept(s, step * k);
  return fma(step, k, end);
}

static DtStatus spaced_kernel (DtKernelCall *c) {
  DtTensor *out = c->out[0];
  bool log = is_log(c->op);
  double base = log ? dt_arg_float(c->args, 3) : 0;
  int64_t n = out->m.shape[0];
  DtDtype t = (DtDtype)out->m.dtype;
  bool wide = (t == DT_F16 || t == DT_BF16) && !log &&
              c->cx->linspace_in_float;
  double from = end_of(c, 0), to = end_of(c, 1);
  Steps s = steps_between(wide ? DT_F32 : t, log, wide ? rounded(t, from) : from,
                          wide ? rounded(t, to) : to, n);
  void *data;
  DT_TRY(c->cx, dt_tensor_data(c->cx, out, &data));
  for (int64_t i = 0; i < n; i++) {
    double x = step_number(&s, i);
    put(out, data, i, log ? pow(base, x) : x);
  }
  return DT_OK;
}

static const char *const lin_samples[] = { "0.0, 1.0, 5", "-1, 1, 4", NULL };
static const char *const log_samples[] = { "0.0, 2.0, 5", NULL };
static const char *const ts_samples[] = { "f32[], 2.0, 5", NULL };
static const char *const st_samples[] = { "0.0, f32[], 5", NULL };
static const char *const tt_samples[] = { "f32[], f32[], 5", NULL };
#define SPACED(id, flags_, schema_, brief_, samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_ ARGS, .brief = brief_, \
    .flags = (flags_), .meta = spaced_meta, .grad = op_g_absent, \
    .kernel = spaced_kernel, .samples = samples_ }
#define SPACED3(name, more, brief_) \
  SPACED(name##_Tensor_Tensor, DT_OP_NOSTRATEGY, #name ".Tensor_Tensor(Tensor " \
         "start, Tensor end, int steps" more, brief_, tt_samples); \
  SPACED(name##_Tensor_Scalar, DT_OP_NOSTRATEGY, #name ".Tensor_Scalar(Tensor " \
         "start, Scalar end, int steps" more, brief_, ts_samples); \
  SPACED(name##_Scalar_Tensor, DT_OP_NOSTRATEGY, #name ".Scalar_Tensor(Scalar " \
         "start, Tensor end, int steps" more, brief_, st_samples)

SPACED(linspace, DT_OP_FACTORY | DT_OP_NOGRAD, "linspace(Scalar start, Scalar end, int "
       "steps", "Numbers at equal steps, both ends included.", lin_samples);
SPACED3(linspace, "", "Numbers at equal steps, both ends included.");
SPACED3(logspace, ", float base=10.", "Powers of a base, exponents at equal "
        "steps.");
SPACED(logspace, DT_OP_FACTORY | DT_OP_NOGRAD, "logspace(Scalar start, Scalar end, int "
       "steps, float base=10.", "Powers of a base, exponents at equal steps.",
       log_samples);
