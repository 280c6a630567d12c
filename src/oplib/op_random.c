/* SPDX-License-Identifier: MIT
** oplib/op_random.c: random fills, Bernoulli, multinomial.
**
** A fill follows its tensor, whatever dim is cut; a partial one cannot be
** filled.  multinomial needs the categories (the last dim) whole.  The
** numbers of a cpu tensor are PyTorch's; those of an accelerator are a function
** of the stream and of the element's place (kernel/factory.c).  The functional
** forms of PyTorch, which have no rules, propagate by the program their
** decomposition is. */
#include "oplib/fill.h"

#include <math.h>
#include <string.h>


/* ---- rules ---- */

DtStatus op_r_fill (DtRuleCall *c) {
  DtCell row[DT_MAX_ARGS];
  int n = c->rows->nout + c->rows->nin;
  DT_ASSERT(c->cx, n <= DT_MAX_ARGS);
  for (int d = 0; d < c->in[0]->ndim; d++) {
    for (int i = 0; i < n; i++) row[i] = dt_c_s(d);
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

static DtStatus multinomial_rules (DtRuleCall *c) {
  DtCell row[DT_MAX_ARGS];
  int n = c->rows->nout + c->rows->nin;
  DT_ASSERT(c->cx, n <= DT_MAX_ARGS);
  for (int d = 0; d < c->in[0]->ndim - 1; d++) {
    for (int i = 0; i < n; i++) row[i] = dt_c_s(d);
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

/* ---- kernels ---- */

/* Of a tensor without elements most do not ask the type. */
static bool nothing (const DtKernelCall *c) {
  return dt_meta_numel(&c->out[0]->m) == 0;
}

/* The type may be filled so; the generator is there. */
static DtStatus ready (DtKernelCall *c, const char *name) {
  DT_ASSERT(c->cx, c->rng);
  if (nothing(c)) return DT_OK;
  return op_kernel_allows(c->cx, NULL, name, (DtDtype)c->out[0]->m.dtype,
                          false);
}

/* A temporary as PyTorch's empty_like() makes one: numbers are drawn in the
** order of its memory. */
static DtStatus temp_like (DtCtx *cx, DtDtype t, const DtMeta *m,
                           DtTensor **out) {
  DtMeta like;
  DT_TRY(cx, dt_meta_init(cx, &like, t, m->ndim, m->shape));
  dt_meta_strides_like(&like, m);
  return dt_tensor_new(cx, &like, false, out);
}

static DtStatus normal_kernel (DtKernelCall *c) {
  double std = dt_arg_float(c->args, 2);
  DT_CHECK(c->cx, std >= 0, DT_E_RUNTIME,
           "normal expects std >= 0.0, but found std %g", std);
  DT_TRY(c->cx, ready(c, "normal_"));
  return dt_k_normal(c->cx, c->out[0], c->rng, dt_arg_float(c->args, 1), std);
}

/* normal() of means and deviations, tensors or numbers: as wide as both. */
static DtStatus normal_of_meta (DtMetaCall *c) {
  const DtMeta *m = dt_in(c, 0), *s = dt_in(c, 1);
  c->nout = 1;
  dt_meta_copy(&c->out[0], m ? m : s);
  if (m && s) DT_TRY(c->cx, dt_meta_broadcast(c->cx, m, s, &c->out[0]));
  c->out[0].dtype = (m ? m : s)->dtype;
  c->out[0].wrapped = false;
  dt_meta_set_contiguous(&c->out[0]);
  return DT_OK;
}

static DtStatus all_positive (DtCtx *cx, const DtTensor *t) {
  DtTensor *d = NULL;
  DtStatus st;
  bool ok = true;
  int64_t n = dt_meta_numel(&t->m);
  DT_TRYG(cx, op_temp(cx, DT_F64, t->m.ndim, t->m.shape, &d));
  DT_TRYG(cx, dt_k_copy(cx, t, d));
  const double *v = dt_tensor_cdata(d);
  for (int64_t i = 0; v != NULL && i < n; i++) ok &= v[i] >= 0;
  if (!ok) st = dt_raise(cx, DT_E_RUNTIME,
                         "normal expects all elements of std >= 0.0");
done:
  dt_tensor_unref(cx, d);
  return st;
}

/* The deviation, checked, and the mean. */
static DtStatus normal_of_kernel (DtKernelCall *c) {
  DtTensor *part[2] = { dt_kin(c, 1), dt_kin(c, 0) }, *u = NULL;
  static const DtBinary how[] = { DT_B_mul, DT_B_add };
  const DtMeta *m = &c->out[0]->m;
  OpNumber num;
  DtStatus st;
  DtDtype t = (DtDtype)m->dtype;
  DT_TRY(c->cx, ready(c, "normal_kernel_cpu"));
  DT_CHECK(c->cx, dt_dtype_is_float(t), DT_E_NOTIMPL,
           "\"normal_kernel_cpu\" not implemented for '%s'", op_dtype_word(t));
  double std = part[0] ? 0 : dt_arg_float(c->args, 1);
  DT_CHECK(c->cx, std >= 0, DT_E_RUNTIME,
           "normal expects std >= 0.0, but found std %g", std);
  if (part[0]) DT_TRY(c->cx, all_positive(c->cx, part[0]));
  DT_TRYG(c->cx, op_temp(c->cx, t, m->ndim, m->shape, &u));
  DT_TRYG(c->cx, dt_k_normal(c->cx, u, c->rng, 0, 1));
  for (int i = 0; i < 2; i++) {
    DtTensor *by = part[i];
    if (by == NULL)
      by = op_number(&num, dt_scalar_float(dt_arg_float(c->args, 1 - i)),
                     DT_F64);
    DT_TRYG(c->cx, dt_k_binary(c->cx, how[i], t, NULL, u, by,
                               i ? c->out[0] : u));
  }
done:
  dt_tensor_unref(c->cx, u);
  return st;
}

static DtStatus uniform_kernel (DtKernelCall *c) {
  double lo = dt_arg_float(c->args, 1), hi = dt_arg_float(c->args, 2);
  DT_ASSERT(c->cx, c->rng);
  DT_TRY(c->cx, op_kernel_allows(c->cx, NULL, "uniform_",
                                 (DtDtype)c->out[0]->m.dtype, false));
  DT_CHECK(c->cx, lo <= hi, DT_E_RUNTIME, "uniform_ expects to return a "
           "[from, to) range, but found from=%g > to=%g", lo, hi);
  return dt_k_uniform(c->cx, c->out[0], c->rng, lo, hi);
}

static DtStatus bernoulli_p_kernel (DtKernelCall *c) {
  double p = dt_arg_float(c->args, 1);
  DT_CHECK(c->cx, p >= 0 && p <= 1, DT_E_RUNTIME,
           "bernoulli_ expects p to be in [0, 1], but got p=%g", p);
  DT_TRY(c->cx, ready(c, "bernoulli_float"));
  return dt_k_bernoulli(c->cx, c->out[0], c->rng, p);
}

/* 1 where a uniform number lies under the element of `p`. */
static DtStatus bernoulli_into (DtKernelCall *c, const DtTensor *p) {
  DtTensor *u = NULL;
  const DtMeta *m = &c->out[0]->m;
  DtDtype t = (DtDtype)p->m.dtype, o = (DtDtype)m->dtype;
  DtStatus st = DT_OK;
  DT_ASSERT(c->cx, c->rng);
  DT_TRYG(c->cx, op_kernel_allows(c->cx, NULL, "bernoulli_self", o, false));
  DT_TRYG(c->cx, op_kernel_allows(c->cx, NULL, "bernoulli_p", t, false));
  DT_TRYG(c->cx, temp_like(c->cx, t == DT_F64 ? t : DT_F32, m, &u));
  DT_TRYG(c->cx, dt_k_uniform(c->cx, u, c->rng, 0, 1));
  DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_lt, DT_F64, NULL, u, p, c->out[0]));
done:
  dt_tensor_unref(c->cx, u);
  return st;
}
static DtStatus bernoulli_kernel (DtKernelCall *c) {
  return bernoulli_into(c, c->in[0]);
}
static DtStatus bernoulli_t_kernel (DtKernelCall *c) {
  return bernoulli_into(c, c->in[1]);
}

/* Distributions that are a function of one or two numbers: what they say of
** types and parameters, and their generator. */
static DtStatus continuous (DtKernelCall *c, const char *name, bool cpp) {
  DtDtype t = (DtDtype)c->out[0]->m.dtype;
  if (!cpp && nothing(c)) return DT_OK;
  DT_CHECK(c->cx, dt_dtype_is_float(t), DT_E_RUNTIME, "%s distribution is a "
           "continuous probability distribution. dtype must be a floating "
           "point but you specified %s", name,
           cpp ? dt_dtype_info(t)->cpp : dt_dtype_word(t));
  return ready(c, cpp ? "cauchy_" : "exponential_");
}

static DtStatus fill_random (DtKernelCall *c, DtRandom kind, double a,
                             double b) {
  DT_ASSERT(c->cx, c->rng);
  return dt_k_random(c->cx, kind, c->out[0], c->rng, a, b);
}

static DtStatus exponential_kernel (DtKernelCall *c) {
  double l = dt_arg_float(c->args, 1);
  DT_TRY(c->cx, continuous(c, "Exponential", false));
  DT_CHECK(c->cx, l > 0, DT_E_RUNTIME,
           "exponential_ expects lambda > 0.0, but found lambda=%g", l);
  return fill_random(c, DT_RND_EXPONENTIAL, l, 0);
}

static DtStatus cauchy_kernel (DtKernelCall *c) {
  double s = dt_arg_float(c->args, 2);
  DT_TRY(c->cx, continuous(c, "Cauchy", true));
  DT_CHECK(c->cx, s > 0, DT_E_RUNTIME,
           "cauchy_ expects sigma > 0.0, but found sigma=%g", s);
  return fill_random(c, DT_RND_CAUCHY, dt_arg_float(c->args, 1), s);
}

static DtStatus geometric_kernel (DtKernelCall *c) {
  double p = dt_arg_float(c->args, 1);
  DT_CHECK(c->cx, p > 0 && p < 1, DT_E_RUNTIME,
           "geometric_ expects p to be in (0, 1), but got p=%g", p);
  DT_TRY(c->cx, ready(c, "geometric_"));
  return fill_random(c, DT_RND_GEOMETRIC, p, 0);
}

static DtStatus log_normal_kernel (DtKernelCall *c) {
  double s = dt_arg_float(c->args, 2);
  DT_CHECK(c->cx, s > 0, DT_E_RUNTIME,
           "log_normal_ expects std > 0.0, but found std=%g", s);
  DT_TRY(c->cx, ready(c, "log_normal_"));
  return fill_random(c, DT_RND_LOG_NORMAL, dt_arg_float(c->args, 1), s);
}

/* ---- randint ---- */

/* What a type can hold: floats up to the integers they hold exactly. */
static void type_range (DtDtype t, int64_t *lo, int64_t *hi) {
  int bits = (int)dt_dtype_size(t) * 8;
  switch (t) {
    case DT_BOOL: *lo = 0; *hi = 1; return;
    case DT_U8: *lo = 0; *hi = 255; return;
    case DT_F16: *hi = 65504; break;
    case DT_I8: case DT_I16: case DT_I32:
      *hi = (INT64_C(1) << (bits - 1)) - 1;
      *lo = -*hi - 1;
      return;
    default: *lo = INT64_MIN; *hi = INT64_MAX; return;
  }
  *lo = -*hi;
}

/* The ends of an interval, where a float type rounds them out of it, move in by
** the distance of its numbers there. */
static void held_bounds (DtDtype t, int64_t *lo, int64_t *hi) {
  const int bits = t == DT_F16 ? 11 : t == DT_BF16 ? 8 : t == DT_F32 ? 24 : 53;
  for (int end = 0; end < 2; end++) {
    int64_t x = end ? *hi - 1 : *lo + 1, step = 1;
    double held = op_held(t, (double)x);
    if (!(fabs(held) < 0x1p63)) continue;
    for (uint64_t a = (uint64_t)(x < 0 ? -x : x); a >> bits != 0; a >>= 1)
      step *= 2;
    if (end && (int64_t)held > x) *hi = (int64_t)held - step;
    if (!end && (int64_t)held < x - 1) *lo = (int64_t)held + step;
  }
}

DtStatus op_randint (DtCtx *cx, DtTensor *dst, DtRng *r, int64_t lo,
                     int64_t hi) {
  int64_t least, most;
  DtDtype t = (DtDtype)dst->m.dtype;
  type_range(t, &least, &most);
  DT_CHECK(cx, lo < hi, DT_E_RUNTIME, "random_ expects 'from' to be less than "
           "'to', but got from=%lld >= to=%lld", (long long)lo,
           (long long)hi);
  DT_CHECK(cx, !dt_dtype_is_complex(t), DT_E_RUNTIME, "check_random_bounds "
           "handles only integral, floating-point and boolean types");
  DT_CHECK(cx, t != DT_F8E5M2 && t != DT_F8E4M3, DT_E_NOTIMPL,
           "\"random_update_from_to\" not implemented for '%s'",
           op_dtype_word(t));
  if (dt_dtype_is_float(t)) held_bounds(t, &lo, &hi);
  DT_CHECK(cx, lo < hi, DT_E_RUNTIME, "random_from_to_impl expects 'from' "
           "casted to dtype to be less than 'to' casted to dtype, but got "
           "from=%lld >= to=%lld", (long long)lo, (long long)hi);
  DT_CHECK(cx, lo >= least && lo <= most, DT_E_RUNTIME,
           "from is out of bounds for %s", dt_dtype_info(t)->cpp);
  DT_CHECK(cx, hi - 1 >= least && hi - 1 <= most, DT_E_RUNTIME,
           "to - 1 is out of bounds for %s", dt_dtype_info(t)->cpp);
  return dt_k_randint(cx, dst, r, lo, hi);
}

/* ---- random_ ---- */

/* The largest number drawn where no end is given: floats up to the last of
** the integers they hold. */
static int64_t last_drawn (DtDtype t) {
  int64_t least, most;
  switch (t) {
    case DT_F16: return INT64_C(1) << 11;
    case DT_BF16: return INT64_C(1) << 8;
    case DT_F32: return INT64_C(1) << 24;
    case DT_F64: return INT64_C(1) << 53;
    default: type_range(t, &least, &most); return most;
  }
}

/* Numbers from lo to the last that is drawn, that one too: beyond the greatest
** of all the counting goes round. */
static DtStatus draw_to_last (DtKernelCall *c, int64_t lo) {
  DtTensor *out = c->out[0];
  int64_t hi = last_drawn((DtDtype)out->m.dtype);
  if (out->m.dtype == DT_I32 && c->args->schema->nargs == 2)
    return dt_k_random(c->cx, DT_RND_WORD, out, c->rng, (double)hi + 1, 0);
  return hi < INT64_MAX ? op_randint(c->cx, out, c->rng, lo, hi + 1)
                        : dt_k_randint(c->cx, out, c->rng, lo, INT64_MIN);
}

/* random_(), random_(to), random_(from, to): the last argument is a generator
** throughout. */
static DtStatus random_kernel (DtKernelCall *c) {
  DtTensor *out = c->out[0];
  DtDtype t = (DtDtype)out->m.dtype;
  int n = c->args->schema->nargs;
  bool given = n > 2 && !dt_arg_is_none(c->args, n - 2);
  int64_t lo = n == 4 ? dt_arg_int(c->args, 1) : 0;
  DT_ASSERT(c->cx, c->rng);
  if (given) {
    DT_TRY(c->cx, op_randint(c->cx, out, c->rng, lo,
                             dt_arg_int(c->args, n - 2)));
  } else if (n == 4) {
    DT_CHECK(c->cx, !dt_dtype_is_complex(t), DT_E_RUNTIME,
             "random_from_to_impl handles only integral, floating-point and "
             "boolean types");
    DT_TRY(c->cx, op_kernel_allows(c->cx, NULL, "random_.from", t, false));
    DT_CHECK(c->cx, t != DT_BOOL || lo == 0 || lo == 1, DT_E_RUNTIME,
             "from is out of bounds for bool");
    DT_TRY(c->cx, draw_to_last(c, lo));
  } else {
    DT_TRY(c->cx, op_kernel_allows(c->cx, NULL, "random_", t, false));
    DT_TRY(c->cx, draw_to_last(c, lo));
  }
  return DT_OK;
}

/* ---- multinomial ---- */

static DtStatus multinomial_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  int64_t n = dt_arg_int(c->args, 1), shape[2];
  bool fits = m->ndim == 1 || m->ndim == 2;
  DT_CHECK(c->cx, fits || !c->fake, DT_E_RUNTIME, "The probability "
           "distributions dimensions must be 1 or 2, but got %d", m->ndim);
  DT_CHECK(c->cx, fits, DT_E_RUNTIME, "prob_dist must be 1 or 2 dim");
  DT_CHECK(c->cx, c->fake || dt_dtype_is_float((DtDtype)m->dtype), DT_E_RUNTIME,
           "multinomial only supports floating-point dtypes for input, got: "
           "%s", dt_dtype_word((DtDtype)m->dtype));
  DT_CHECK(c->cx, c->fake || n > 0, DT_E_RUNTIME,
           "cannot sample n_sample <= 0 samples");
  DT_CHECK(c->cx, c->fake || dt_arg_bool(c->args, 2) || n <= m->shape[m->ndim - 1],
           DT_E_RUNTIME, "cannot sample n_sample > prob_dist.size(-1) samples "
           "without replacement");
  shape[0] = m->ndim == 2 ? m->shape[0] : n;
  shape[1] = n;
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], DT_I64, m->ndim, shape, m);
}

/* n of the k weights, each as often as it likes. */
static void draw_again (const double *w, int64_t k, int64_t n, DtRng *r,
                        uint64_t at, int64_t *out) {
  double total = 0;
  for (int64_t i = 0; i < k; i++) total += w[i];
  for (int64_t j = 0; j < n; j++) {
    double u = r->twister ? dt_twist_f64(r)
                          : dt_rng_uniform_f64(r, at + (uint64_t)j);
    int64_t i = 0, last = 0;
    u *= total;
    for (; i < k; i++) {
      if (w[i] <= 0) continue;
      last = i;
      if (u < w[i]) break;
      u -= w[i];
    }
    out[j] = i == k ? last : i;
  }
}

/* Each weight over a time as long as an exponential number, in the input's own
** type. */
static DtStatus over_waits (DtKernelCall *c, DtTensor *w) {
  const DtTensor *in = c->in[0];
  DtDtype t = (DtDtype)in->m.dtype;
  DtTensor *q = NULL;
  DtStatus st = temp_like(c->cx, t, &in->m, &q);
  if (st == DT_OK)
    st = dt_k_random(c->cx, DT_RND_EXPONENTIAL, q, c->rng, 1, 0);
  if (st == DT_OK) st = dt_k_binary(c->cx, DT_B_div, t, NULL, in, q, q);
  if (st == DT_OK) st = dt_k_copy(c->cx, q, w);
  dt_tensor_unref(c->cx, q);
  return st;
}

/* The n greatest of w[k], which become its own: what comes first. */
static void take_first (double *w, int64_t k, int64_t n, int64_t *out) {
  for (int64_t j = 0; j < n; j++) {
    int64_t best = 0;
    for (int64_t i = 1; i < k; i++) if (w[i] > w[best]) best = i;
    out[j] = best;
    w[best] = -1;
  }
}

static DtStatus check_weights (DtCtx *cx, const double *w, int64_t k,
                               int64_t n) {
  double total = 0;
  int64_t some = 0;
  for (int64_t i = 0; i < k; i++) {
    DT_CHECK(cx, w[i] >= 0 && w[i] < INFINITY, DT_E_RUNTIME, "probability "
             "tensor contains either `inf`, `nan` or element < 0");
    total += w[i];
    some += w[i] > 0;
  }
  DT_CHECK(cx, total > 0, DT_E_RUNTIME, "invalid multinomial distribution "
           "(sum of probabilities <= 0)");
  DT_CHECK(cx, n == 0 || some >= n, DT_E_RUNTIME, "invalid multinomial "
           "distribution (with replacement=False, not enough non-negative "
           "category to sample)");
  return DT_OK;
}

/* Without replacement, and for one draw, each weight is divided by a wait drawn from
** an exponential distribution and the largest win; with it each draw is one uniform
** number looked up in the running sum.  The generator ends where PyTorch's ends. */
static DtStatus multinomial_kernel (DtKernelCall *c) {
  const DtMeta *m = &c->in[0]->m;
  int64_t k = m->shape[m->ndim - 1], n = dt_arg_int(c->args, 1);
  int64_t rows = m->ndim == 2 ? m->shape[0] : 1;
  bool again = dt_arg_bool(c->args, 2), apart = !again || n == 1;
  DtTensor *w = NULL, *o = NULL;
  void *wp, *op;
  DtStatus st = DT_OK;
  DT_ASSERT(c->cx, c->rng);
  if (rows == 0) return DT_OK;
  DT_TRYG(c->cx, op_temp(c->cx, DT_F64, m->ndim, m->shape, &w));
  DT_TRYG(c->cx, op_temp(c->cx, DT_I64, c->out[0]->m.ndim,
                         c->out[0]->m.shape, &o));
  DT_TRYG(c->cx, dt_k_copy(c->cx, c->in[0], w));
  DT_TRYG(c->cx, dt_tensor_data(c->cx, w, &wp));
  DT_TRYG(c->cx, dt_tensor_data(c->cx, o, &op));
  for (int64_t i = 0; i < rows; i++)
    DT_TRYG(c->cx, check_weights(c->cx, (double *)wp + i * k, k, again ? 0 : n));
  if (apart) DT_TRYG(c->cx, over_waits(c, w));
  for (int64_t i = 0; i < rows; i++) {
    double *p = (double *)wp + i * k;
    int64_t *to = (int64_t *)op + i * n;
    if (apart) take_first(p, k, n, to);
    else draw_again(p, k, n, c->rng, (uint64_t)(i * n), to);
  }
  if (!apart && c->rng->twister == NULL) dt_rng_spend(c->rng, rows * n);
  DT_TRYG(c->cx, dt_k_copy(c->cx, o, c->out[0]));
done:
  dt_tensor_unref(c->cx, w);
  dt_tensor_unref(c->cx, o);
  return st;
}

/* ---- samples ---- */

static const char *const fill_samples[] = { "f32[8, 6]", "f32[7]",
                                            "f32[0, 4]", "f32[]", NULL };
static const char *const p_samples[] = { "f32[8, 6], 0.5", "f32[7], 0.25",
                                         NULL };
static const char *const to_samples[] = { "f32[8, 6], 10", "i64[7], 3", NULL };
static const char *const from_samples[] = { "f32[8, 6], -3, 10",
                                            "i64[7], 3, 5", NULL };
static const char *const multinomial_samples[] = { "f32[8, 6], 2",
                                                   "f32[7], 3", NULL };
static const char *const std_samples[] = { "0.5, f32[0, 6]", NULL };
static const char *const spread_samples[] = { "f32[0, 6], f32[6]",
                                              "f32[0], f32[1]", NULL };
static const char *const p_t_samples[] = { "f32[8, 6], f32[8, 6]", NULL };

/* ---- definitions ---- */

#define GEN_ ", *, Generator? generator=None) -> Tensor"
#define RANDOM(id, schema_, brief_, flags_, meta_, kernel_, grad_, samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, \
    .flags = DT_OP_RANDOM | DT_OP_UNEVEN | (flags_), .meta = meta_, \
    .kernel = kernel_, .rulefn = op_r_fill, .grad = grad_, \
    .samples = samples_ }
#define FILL(id, args_, brief_, kernel_, samples_) \
  RANDOM(id, #id "(Tensor(a!) self, " args_ GEN_ "(a!)", brief_, \
         DT_OP_INPLACE, op_meta_inplace, kernel_, op_g_zeros, samples_)
/* The functional form: no rule, its decomposition places it. */
#define FREE(id, args_, brief_, kernel_, program_, samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" #id "(Tensor self, " args_ GEN_, .brief = brief_, \
    .flags = DT_OP_RANDOM, .meta = op_meta_same, .kernel = kernel_, \
    .decomp = op_d_program, .program = program_, .grad = op_g_zeros, \
    .samples = samples_ }

#define NORMAL_ "float mean=0., float std=1."
#define UNIFORM_ "float from=0., float to=1."
FILL(normal_, NORMAL_, "Every element a normal random number.", normal_kernel,
     fill_samples);
FILL(uniform_, UNIFORM_, "Every element a uniform random number.",
     uniform_kernel, fill_samples);
FILL(exponential_, "float lambd=1.",
     "Every element an exponential random number.", exponential_kernel,
     fill_samples);
FILL(geometric_, "float p", "Every element a geometric random number.",
     geometric_kernel, p_samples);
FILL(log_normal_, "float mean=1., float std=2.",
     "Every element a log-normal random number.", log_normal_kernel,
     fill_samples);
FREE(cauchy, "float median=0., float sigma=1.",
     "Random numbers of the Cauchy distribution.", cauchy_kernel,
     "x = rand_like(self); y = tan(x); mul.Scalar(y, sigma)", fill_samples);
FREE(exponential, "float lambd=1.", "Exponential random numbers.",
     exponential_kernel, "x = rand_like(self); y = log(x); "
     "mul.Scalar(y, lambd)", fill_samples);
FREE(geometric, "float p", "Geometric random numbers.", geometric_kernel,
     "x = rand_like(self); y = log1p(x); ceil(y)", p_samples);
FREE(log_normal, "float mean=1., float std=2.", "Log-normal random numbers.",
     log_normal_kernel, "x = randn_like(self); y = mul.Scalar(x, std); "
     "z = add.Scalar(y, mean); exp(z)", fill_samples);

RANDOM(bernoulli__float, "bernoulli_.float(Tensor(a!) self, float p=0.5" GEN_
       "(a!)", "Every element 1 with probability p, else 0.", DT_OP_INPLACE,
       op_meta_inplace, bernoulli_p_kernel, op_g_zeros, p_samples);
RANDOM(bernoulli, "bernoulli(Tensor self" GEN_,
       "1 with the probability given by each element, else 0.", 0,
       op_meta_plain, bernoulli_kernel, op_g_zeros, fill_samples);
/* Without a rule in PyTorch. */
#define PLAIN(id, schema_, brief_, meta_, kernel_, samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_ GEN_, .brief = brief_, \
    .flags = DT_OP_RANDOM | DT_OP_NOSTRATEGY, .meta = meta_, \
    .kernel = kernel_, .grad = op_g_zeros, .samples = samples_ }
PLAIN(bernoulli_p, "bernoulli.p(Tensor self, float p",
      "1 with probability p, else 0, for each element.", op_meta_plain,
      bernoulli_p_kernel, p_samples);
PLAIN(normal_Tensor_float, "normal.Tensor_float(Tensor mean, float std=1.",
      "Normal random numbers around given means.", normal_of_meta,
      normal_of_kernel, p_samples);
PLAIN(normal_float_Tensor, "normal.float_Tensor(float mean, Tensor std",
      "Normal random numbers with given deviations.", normal_of_meta,
      normal_of_kernel, std_samples);
PLAIN(normal_Tensor_Tensor, "normal.Tensor_Tensor(Tensor mean, Tensor std",
      "Normal random numbers with given means and deviations.",
      normal_of_meta, normal_of_kernel, spread_samples);
const DtOpDef dt_op_bernoulli__Tensor = {
  .schema = "aten::bernoulli_.Tensor(Tensor(a!) self, Tensor p" GEN_ "(a!)",
  .brief = "Every element 1 with the probability an element of p says.",
  .flags = DT_OP_RANDOM | DT_OP_INPLACE | DT_OP_NOSTRATEGY,
  .meta = op_meta_inplace, .kernel = bernoulli_t_kernel, .grad = op_g_zeros,
  .samples = p_t_samples
};
#define RANDOM_(id, args_, brief_, samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::random_" args_ "*, Generator? generator=None) -> " \
              "Tensor(a!)", .brief = brief_, \
    .flags = DT_OP_RANDOM | DT_OP_INPLACE | DT_OP_NOSTRATEGY, \
    .meta = op_meta_inplace, .kernel = random_kernel, .grad = op_g_zeros, \
    .samples = samples_ }
RANDOM_(random_, "(Tensor(a!) self, ", "Every element a random integer that "
        "its type holds.", fill_samples);
RANDOM_(random__to, ".to(Tensor(a!) self, int to, ",
        "Every element a random integer below `to`.", to_samples);
RANDOM_(random__from, ".from(Tensor(a!) self, int from, int? to, ",
        "Every element a random integer of an interval.", from_samples);
const DtOpDef dt_op_multinomial = {
  .schema = "aten::multinomial(Tensor self, SymInt num_samples, bool "
            "replacement=False" GEN_,
  .brief = "Indices drawn by the given weights.",
  .flags = DT_OP_RANDOM | DT_OP_NOGRAD, .meta = multinomial_meta,
  .kernel = multinomial_kernel, .rulefn = multinomial_rules,
  .samples = multinomial_samples
};
