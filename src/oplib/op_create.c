/* SPDX-License-Identifier: MIT
** oplib/op_create.c: tensors from nothing: zeros, full, arange, eye, random;
** and the triangles of a matrix.
**
** Without tensor inputs there is nothing to shard: the engine runs them as
** plain operators.  tril and triu need the whole matrix on every rank. */
#include "base/sat.h"
#include "oplib/oplib_int.h"

#include <math.h>
#include <string.h>

/* Row: where the size stands, what fills it (an argument or a constant). */
enum { CR_SIZE, CR_FILL };
enum { FILL_ZERO = -1, FILL_ONE = -2, FILL_NONE = -3 };
static const int row_zeros[] = { 0, FILL_ZERO }, row_ones[] = { 0, FILL_ONE },
                 row_empty[] = { 0, FILL_NONE }, row_full[] = { 0, 1 },
                 row_scalar[] = { -1, 0 };

static int kw (const DtArgs *a, const char *name) {
  return a->schema ? dt_schema_arg(a->schema, name) : -1;
}

DtStatus op_factory (DtMetaCall *c, DtDtype dflt, int n,
                     const int64_t *shape) {
  int t = kw(c->args, "dtype"), d = kw(c->args, "device");
  int pin = kw(c->args, "pin_memory");
  const char *name = c->op->sig ? c->op->sig->base : "tensor";
  for (int i = 0; i < n; i++) {
    DT_CHECK(c->cx, shape[i] >= 0 || strcmp(name, "zeros") == 0, DT_E_RUNTIME,
             "Trying to create tensor with negative dimension %lld: %s",
             (long long)shape[i], op_ints_text(n, shape).s);
    DT_CHECK(c->cx, shape[i] >= 0, DT_E_RUNTIME,
             "%s: Dimension size must be non-negative.", name);
  }
  DT_CHECK(c->cx, pin < 0 || c->args->v[pin].kind != DT_V_BOOL ||
           !c->args->v[pin].u.b, DT_E_RUNTIME, "pin_memory=True requires a "
           "CUDA or other accelerator backend; no pinned memory allocator is "
           "available on this system.");
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[0],
                            t < 0 ? dflt : op_dtype_or(c->args, t, dflt), n,
                            shape, NULL));
  if (d >= 0 && !dt_arg_is_none(c->args, d))
    c->out[0].device = (uint8_t)c->args->v[d].u.i;
  c->nout = 1;
  return DT_OK;
}

static DtDtype number_dtype (DtScalar s) {
  switch (s.kind) {
    case DT_K_BOOL: return DT_BOOL;
    case DT_K_INT: return DT_I64;
    case DT_K_FLOAT: return (DtDtype)OP_DEFAULT_FLOAT;
    default: return DT_C64;
  }
}

static DtStatus size_meta (DtMetaCall *c) {
  int64_t shape[DT_MAX_NDIM];
  int at = c->op->row[CR_SIZE], n = at < 0 ? 0 : op_ints(c->args, at, shape);
  DtDtype t = (DtDtype)OP_DEFAULT_FLOAT;
  if (at >= 0 && c->op->row[CR_FILL] > 0)
    t = number_dtype(dt_arg_scalar(c->args, c->op->row[CR_FILL]));
  return op_factory(c, t, n, shape);
}

static DtStatus empty_strided_meta (DtMetaCall *c) {
  int64_t stride[DT_MAX_NDIM];
  DT_TRY(c->cx, size_meta(c));
  int n = op_ints(c->args, 1, stride);
  DT_CHECK(c->cx, n == c->out[0].ndim, DT_E_RUNTIME,
           "dimensionality of sizes (%d) must match dimensionality of strides "
           "(%d)", c->out[0].ndim, n);
  memcpy(c->out[0].stride, stride, sizeof(int64_t) * (size_t)n);
  return DT_OK;
}

static DtStatus fill_kernel (DtKernelCall *c) {
  int f = c->op->row[CR_FILL];
  if (f == FILL_NONE) return DT_OK;
  if (f != FILL_ZERO && f != FILL_ONE)
    DT_TRY(c->cx, op_number_fills(c->cx, dt_arg_scalar(c->args, f), c->out[0]));
  return dt_k_fill(c->cx, c->out[0], f == FILL_ZERO ? dt_scalar_int(0)
                   : f == FILL_ONE ? dt_scalar_int(1)
                                   : dt_arg_scalar(c->args, f));
}

/* ---- arange ---- */

enum { AR_END, AR_START, AR_STEP };
static const int row_ar_end[] = { AR_END }, row_ar_start[] = { AR_START },
                 row_ar_step[] = { AR_STEP };

static void arange_args (const DtOpDef *op, const DtArgs *a, DtScalar *start,
                         DtScalar *end, DtScalar *step) {
  *start = dt_scalar_int(0);
  *step = dt_scalar_int(1);
  if (op->row[0] == AR_END) {
    *end = dt_arg_scalar(a, 0);
    return;
  }
  *start = dt_arg_scalar(a, 0);
  *end = dt_arg_scalar(a, 1);
  if (op->row[0] == AR_STEP) *step = dt_arg_scalar(a, 2);
}
static double num (DtScalar s) {
  return s.kind <= DT_K_INT ? (double)s.i : s.re;
}

/* A number as PyTorch prints it: NaN has no sign. */
static double plain_nan (double x) { return isnan(x) ? fabs(x) : x; }

/* A bound or step as the kernel of int64 takes it: without its fraction. */
static int64_t cut (DtScalar s) {
  return s.kind <= DT_K_INT ? s.i : (int64_t)s.re;
}

/* How many numbers from `s` below `e` there are, exact beyond 2^53. */
static DtStatus arange_count (DtCtx *cx, int64_t s, int64_t e, int64_t st,
                              int64_t *size) {
  DT_CHECK(cx, st != 0, DT_E_VALUE, "step must be nonzero");
  uint64_t span = st > 0 ? (uint64_t)e - (uint64_t)s
                         : (uint64_t)s - (uint64_t)e;
  uint64_t by = st > 0 ? (uint64_t)st : 0 - (uint64_t)st;
  *size = (int64_t)(span / by + (span % by != 0));
  return DT_OK;
}

/* The type that the call asks for, or else `dflt`. */
static DtDtype arange_type (const DtMetaCall *c, DtDtype dflt) {
  int t = kw(c->args, "dtype");
  return t < 0 ? dflt : op_dtype_or(c->args, t, dflt);
}

/* The size is counted in double, which is what PyTorch does unless all are integers
** or the result is int64: there it is exact, also beyond 2^53. */
static DtStatus arange_meta (DtMetaCall *c) {
  DtScalar s, e, st;
  arange_args(c->op, c->args, &s, &e, &st);
  bool whole = s.kind <= DT_K_INT && e.kind <= DT_K_INT &&
               st.kind <= DT_K_INT;
  double n = ceil((num(e) - num(s)) / num(st));
  DT_CHECK(c->cx, num(st) != 0, DT_E_RUNTIME, "step must be nonzero");
  DT_CHECK(c->cx, isfinite(num(s)) && isfinite(num(e)), DT_E_RUNTIME,
           "unsupported range: %g -> %g", plain_nan(num(s)), plain_nan(num(e)));
  DT_CHECK(c->cx, num(st) > 0 ? num(e) >= num(s) : num(e) <= num(s),
           DT_E_RUNTIME, "upper bound and lower bound inconsistent with step "
           "sign");
  DT_CHECK(c->cx, n < 9e18, DT_E_RUNTIME, "invalid size, possible overflow?");
  DtDtype dflt = whole ? DT_I64 : (DtDtype)OP_DEFAULT_FLOAT;
  DtDtype t = arange_type(c, dflt);
  DT_CHECK(c->cx, t != DT_BOOL && !dt_dtype_is_complex(t), DT_E_NOTIMPL,
           "\"arange_cpu\" not implemented for '%s'", op_dtype_word(t));
  int64_t size = (int64_t)n;
  if (whole || (t == DT_I64 && !c->cx->arange_in_float))
    DT_TRY(c->cx, arange_count(c->cx, cut(s), cut(e), cut(st), &size));
  return op_factory(c, dflt, 1, &size);
}

static DtStatus arange_kernel (DtKernelCall *c) {
  DtScalar s, e, st;
  arange_args(c->op, c->args, &s, &e, &st);
  return dt_k_arange(c->cx, c->out[0], s, st);
}

/* ---- indices of triangles ---- */

typedef struct TriCall { int64_t rows, cols, diag; bool upper; } TriCall;

/* Columns [from, to) of row i that belong to the triangle. */
static void tri_row (const TriCall *t, int64_t i, int64_t *from,
                     int64_t *to) {
  int64_t k = i + t->diag + (t->upper ? 0 : 1);
  k = k < 0 ? 0 : k > t->cols ? t->cols : k;
  *from = t->upper ? k : 0;
  *to = t->upper ? t->cols : k;
}

/* Diagonals beyond the corners are those at the corners. */
static TriCall tri_call (const DtOpDef *op, const DtArgs *a) {
  TriCall t = { dt_arg_int(a, 0), dt_arg_int(a, 1), dt_arg_int(a, 2),
                op->row[0] != 0 };
  if (t.rows >= 0 && t.diag < -t.rows) t.diag = -t.rows;
  if (t.cols >= 0 && t.diag > t.cols) t.diag = t.cols;
  return t;
}

/* How many elements: rows that grow by one, and full ones.  No loop: the
** sizes are not yet known to fit memory.  Exact below 2^62. */
static DtStatus tri_count (DtCtx *cx, TriCall t, int64_t *count) {
  /* the upper triangle, turned by half, is a lower one */
  int64_t k = t.upper ? dt_sat_sub(t.cols - t.rows, t.diag) : t.diag;
  int64_t low = k < 0 ? dt_sat_sub(0, k) : 0;
  int64_t full = dt_sat_sub(t.cols - 1, k);
  long double n;
  full = full < low ? low : full > t.rows ? t.rows : full;
  /* row i holds i + 1 + k of them, from row low to before row full */
  n = (long double)(full - low) *
      ((long double)low + 1 + (long double)k +
       (long double)full + (long double)k) / 2 +
      (long double)(t.rows - full) * (long double)t.cols;
  DT_CHECK(cx, n < 0x1p62L, DT_E_OVERFLOW,
           "Storage size calculation overflowed");
  *count = (int64_t)n;
  return DT_OK;
}

static DtStatus tri_indices_meta (DtMetaCall *c) {
  TriCall t = tri_call(c->op, c->args);
  int64_t shape[2] = { 2, 0 };
  DT_CHECK(c->cx, t.rows >= 0, DT_E_RUNTIME,
           "row must be non-negative, got%lld", (long long)t.rows);
  DT_CHECK(c->cx, t.cols >= 0, DT_E_RUNTIME,
           "col must be non-negative, got%lld", (long long)t.cols);
  DT_TRY(c->cx, tri_count(c->cx, t, &shape[1]));
  return op_factory(c, DT_I64, 2, shape);
}

static DtStatus tri_indices_kernel (DtKernelCall *c) {
  TriCall t = tri_call(c->op, c->args);
  DtTensor *tmp = NULL, *out = c->out[0];
  int64_t n = out->m.shape[1], k = 0, from, to;
  void *p;
  if (n == 0) return DT_OK;
  DT_TRY(c->cx, op_temp(c->cx, DT_I64, 2, out->m.shape, &tmp));
  DtStatus st = dt_tensor_data(c->cx, tmp, &p);
  /* only the rows that hold some: there may be many others */
  for (int64_t i = !t.upper && t.diag < 0 ? -t.diag : 0;
       st == DT_OK && i < t.rows && k < n; i++) {
    tri_row(&t, i, &from, &to);
    for (int64_t j = from; j < to; j++, k++) {
      ((int64_t *)p)[k] = i;
      ((int64_t *)p)[n + k] = j;
    }
  }
  if (st == DT_OK) st = dt_k_copy(c->cx, tmp, out);
  dt_tensor_unref(c->cx, tmp);
  return st;
}

/* ---- eye, random ---- */

enum { EYE_N, EYE_NM };
static const int row_eye[] = { EYE_N }, row_eye_m[] = { EYE_NM };

static DtStatus eye_meta (DtMetaCall *c) {
  int64_t shape[2] = { dt_arg_int(c->args, 0), dt_arg_int(c->args, 0) };
  if (c->op->row[0] == EYE_NM) shape[1] = dt_arg_int(c->args, 1);
  for (int i = 0; i < 2; i++)
    DT_CHECK(c->cx, shape[i] >= 0, DT_E_RUNTIME,
             "%c must be greater or equal to 0, got %lld", "nm"[i],
             (long long)shape[i]);
  return op_factory(c, (DtDtype)OP_DEFAULT_FLOAT, 2, shape);
}
static DtStatus eye_kernel (DtKernelCall *c) {
  return dt_k_eye(c->cx, c->out[0]);
}

/* The out= form is of the type of `out`, and lies as `out` does. */
static DtStatus eye_out_meta (DtMetaCall *c) {
  DT_TRY(c->cx, eye_meta(c));
  c->out[0].dtype = dt_in(c, 2)->dtype;
  return DT_OK;
}
static DtStatus eye_out_strategy (DtStratCall *c) {
  const DtSpec *out = dt_sin(c, 2);
  return op_s_one(c, out->pl, out->pl, 0);
}

static DtStatus rand_kernel (DtKernelCall *c) {
  DT_ASSERT(c->cx, c->rng);
  DT_TRY(c->cx, op_kernel_allows(c->cx, NULL, "uniform_",
                                 (DtDtype)c->out[0]->m.dtype, false));
  return dt_k_uniform(c->cx, c->out[0], c->rng, 0, 1);
}
static DtStatus randn_kernel (DtKernelCall *c) {
  DT_ASSERT(c->cx, c->rng);
  if (dt_meta_numel(&c->out[0]->m) > 0)
    DT_TRY(c->cx, op_kernel_allows(c->cx, NULL, "normal_",
                                   (DtDtype)c->out[0]->m.dtype, false));
  return dt_k_normal(c->cx, c->out[0], c->rng, 0, 1);
}

/* randint: high, or low and high, before the size. */
static const int row_randint[] = { 1, FILL_NONE },
                 row_randint_low[] = { 2, FILL_NONE };
static void randint_range (const DtOpDef *op, const DtArgs *a, int64_t *lo,
                           int64_t *hi) {
  bool two = op->row[CR_SIZE] == 2;
  *lo = two ? dt_arg_int(a, 0) : 0;
  *hi = dt_arg_int(a, two ? 1 : 0);
}
static DtStatus randint_meta (DtMetaCall *c) {
  int64_t shape[DT_MAX_NDIM], lo, hi;
  int n = op_ints(c->args, c->op->row[CR_SIZE], shape);
  randint_range(c->op, c->args, &lo, &hi);
  DT_CHECK(c->cx, lo < hi, DT_E_RUNTIME, "random_ expects 'from' to be less "
           "than 'to', but got from=%lld >= to=%lld", (long long)lo,
           (long long)hi);
  return op_factory(c, DT_I64, n, shape);
}
static DtStatus randint_kernel (DtKernelCall *c) {
  int64_t lo, hi;
  DT_ASSERT(c->cx, c->rng);
  randint_range(c->op, c->args, &lo, &hi);
  return op_randint(c->cx, c->out[0], c->rng, lo, hi);
}

/* randperm: 0, 1, ... n - 1, shuffled: with the CPU's generator from the
** beginning, as PyTorch does. */
static void swap (int64_t *v, int64_t i, int64_t k) {
  int64_t x = v[i];
  v[i] = v[k];
  v[k] = x;
}
static void shuffle (DtRng *r, int64_t *v, int64_t n) {
  if (r->twister) {
    for (int64_t i = 0; i < n - 1; i++)
      swap(v, i, i + (int64_t)((uint64_t)dt_twist32(r) % (uint64_t)(n - i)));
    return;
  }
  for (int64_t i = n - 1; i > 0; i--) {
    double u = dt_rng_uniform_f64(r, (uint64_t)i);
    swap(v, i, (int64_t)(u * (double)(i + 1)));
  }
  dt_rng_spend(r, n);
}
static DtStatus randperm_meta (DtMetaCall *c) {
  int64_t n = dt_arg_int(c->args, 0);
  return op_factory(c, DT_I64, 1, &n);
}
static DtStatus randperm_kernel (DtKernelCall *c) {
  int64_t n = dt_arg_int(c->args, 0), *v;
  DtTensor *t = NULL;
  DtDtype type = (DtDtype)c->out[0]->m.dtype;
  void *p;
  DtStatus st;
  DT_ASSERT(c->cx, c->rng);
  DT_CHECK(c->cx, type != DT_F16 || n <= 2049, DT_E_RUNTIME,
           "n cannot be greater than 2049 for Half type.");
  DT_TRY(c->cx, op_kernel_allows(c->cx, NULL, "randperm", type, false));
  DT_TRY(c->cx, op_number_fits(c->cx, dt_scalar_int(n), type));
  DT_TRYG(c->cx, op_temp(c->cx, DT_I64, 1, &n, &t));
  DT_TRYG(c->cx, dt_tensor_data(c->cx, t, &p));
  v = p;
  for (int64_t i = 0; i < n; i++) v[i] = i;
  shuffle(c->rng, v, n);
  st = dt_k_copy(c->cx, t, c->out[0]);
done:
  dt_tensor_unref(c->cx, t);
  return st;
}

/* ---- triangles ---- */

enum { TRI_LOWER, TRI_UPPER };
static const int row_tril[] = { TRI_LOWER }, row_triu[] = { TRI_UPPER };

static DtStatus tri_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  DT_CHECK(c->cx, m->ndim >= 2, DT_E_RUNTIME,
           "%s: input tensor must have at least 2 dimensions",
           c->op->row[0] == TRI_UPPER ? "triu" : "tril");
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, m->ndim, m->shape,
                     m);
}
static DtStatus tri_kernel (DtKernelCall *c) {
  return dt_k_tri(c->cx, c->in[0], dt_arg_int(c->args, 1),
                  c->op->row[0] == TRI_UPPER, c->out[0]);
}
static DtStatus tri_strategy (DtStratCall *c) {
  DtPlacement r[OP_MAXPL];
  for (int i = 0; i < c->mesh->ndim; i++) r[i] = dt_pl_replicate();
  return op_s_one(c, r, r, NAN);
}
static DtStatus tri_grad (DtGradCall *c) {
  const char *op = c->op->row[0] == TRI_UPPER ? "aten.triu.default"
                                              : "aten.tril.default";
  op_g_set(c, 0, dt_emit(c->e, op, "tv", c->gout[0], c->args->v[1]));
  return op_g_finish(c);
}

/* ---- samples and definitions ---- */

static const char *const size_samples[] = {
  "[8, 6]", "[7]", "[1]", "[0, 4]", "[]", "[2, 3], dtype=f64", NULL
};
static const char *const full_samples[] = {
  "[8, 6], 2.5", "[7], 3", "[0, 4], True", "[], -1.0", NULL
};
static const char *const strided_samples[] = { "[8, 6], [1, 8]", "[], []",
                                               NULL };
static const char *const scalar_samples[] = { "2.5", "3, dtype=i64", NULL };
static const char *const ar_end_samples[] = { "8", "2.5", "0", NULL };
static const char *const ar_start_samples[] = { "2, 8", "0.5, 3.0", "3, 3",
                                                NULL };
static const char *const ar_step_samples[] = { "2, 8, 3", "8, 2, -2",
                                               "0.0, 1.0, 0.25", NULL };
static const char *const eye_samples[] = { "4", "1", "0", NULL };
static const char *const eye_m_samples[] = { "4, 3", "2, 5", "0, 3", NULL };
static const char *const eye_out_samples[] = { "4, 3, out=f32[4, 3]", NULL };
static const char *const randint_samples[] = { "10, [8, 6]", "3, [7]",
                                               "2, [0]", NULL };
static const char *const randperm_samples[] = { "8", "1", "0", NULL };
static const char *const randint_low_samples[] = { "-5, 10, [8, 6]",
                                                   "2, 3, [7]", NULL };
static const char *const tri_samples[] = {
  "f32[8, 6]", "f32[7, 5], 1", "f32[2, 3, 3], -1", "f32[0, 4]", "f32[1, 1]",
  NULL
};

#define ARGS ", *, ScalarType? dtype=None, Layout? layout=None, " \
             "Device? device=None, bool? pin_memory=None"
#define NEW(id, schema_, brief_, flags_, meta_, kernel_, samples_, row_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_ " -> Tensor", .brief = brief_, \
    .flags = DT_OP_FACTORY | DT_OP_NOGRAD | (flags_), .meta = meta_, \
    .kernel = kernel_, .samples = samples_, .row = row_ }

NEW(zeros, "zeros(SymInt[] size" ARGS ")", "Zeros.", 0, size_meta,
    fill_kernel, size_samples, row_zeros);
NEW(ones, "ones(SymInt[] size" ARGS ")", "Ones.", 0, size_meta, fill_kernel,
    size_samples, row_ones);
NEW(full, "full(SymInt[] size, Scalar fill_value" ARGS ")",
    "One number everywhere.", 0, size_meta, fill_kernel, full_samples,
    row_full);
NEW(empty_memory_format, "empty.memory_format(SymInt[] size" ARGS ", "
    "MemoryFormat? memory_format=None)", "Values not set.", 0, size_meta,
    fill_kernel, size_samples, row_empty);
NEW(empty_strided, "empty_strided(SymInt[] size, SymInt[] stride" ARGS ")",
    "Values not set, given strides.", 0, empty_strided_meta, fill_kernel,
    strided_samples, row_empty);
NEW(scalar_tensor, "scalar_tensor(Scalar s" ARGS ")", "A 0-dim tensor.", 0,
    size_meta, fill_kernel, scalar_samples, row_scalar);
NEW(arange, "arange(Scalar end" ARGS ")", "0, 1, ... below end.", 0,
    arange_meta, arange_kernel, ar_end_samples, row_ar_end);
NEW(arange_start, "arange.start(Scalar start, Scalar end" ARGS ")",
    "start, start + 1, ... below end.", 0, arange_meta, arange_kernel,
    ar_start_samples, row_ar_start);
NEW(arange_start_step, "arange.start_step(Scalar start, Scalar end, "
    "Scalar step=1" ARGS ")", "start, start + step, ... before end.", 0,
    arange_meta, arange_kernel, ar_step_samples, row_ar_step);
NEW(eye, "eye(SymInt n" ARGS ")", "Identity matrix.", 0, eye_meta, eye_kernel,
    eye_samples, row_eye);
NEW(eye_m, "eye.m(SymInt n, SymInt m" ARGS ")",
    "Ones on the diagonal of an n x m matrix.", 0, eye_meta, eye_kernel,
    eye_m_samples, row_eye_m);
const DtOpDef dt_op_eye_m_out = {
  .schema = "aten::eye.m_out(SymInt n, SymInt m, *, Tensor(a!) out) -> "
            "Tensor(a!)",
  .brief = "Ones on the diagonal, into a tensor.",
  .flags = DT_OP_NOGRAD | DT_OP_OUT, .meta = eye_out_meta,
  .kernel = eye_kernel, .strategy = eye_out_strategy,
  .samples = eye_out_samples, .row = row_eye_m
};
static const char *const ind_samples[] = { "3, 3", "4, 2, 1", NULL };
static const int row_low_ind[] = { 0 }, row_up_ind[] = { 1 };
#define LONG ", *, ScalarType? dtype=long, Layout? layout=None, " \
             "Device? device=None, bool? pin_memory=None"
NEW(tril_indices, "tril_indices(int row, int col, int offset=0" LONG ")",
    "Rows and columns of a lower triangle.", 0, tri_indices_meta,
    tri_indices_kernel, ind_samples, row_low_ind);
NEW(triu_indices, "triu_indices(int row, int col, int offset=0" LONG ")",
    "Rows and columns of an upper triangle.", 0, tri_indices_meta,
    tri_indices_kernel, ind_samples, row_up_ind);
NEW(rand, "rand(SymInt[] size" ARGS ")", "Uniform random numbers.",
    DT_OP_RANDOM, size_meta, rand_kernel, size_samples, row_empty);
NEW(randn, "randn(SymInt[] size" ARGS ")", "Normal random numbers.",
    DT_OP_RANDOM, size_meta, randn_kernel, size_samples, row_empty);
NEW(randint, "randint(SymInt high, SymInt[] size, *, ScalarType? dtype=long, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None)",
    "Random integers below high.", DT_OP_RANDOM, randint_meta, randint_kernel,
    randint_samples, row_randint);
NEW(randint_low, "randint.low(SymInt low, SymInt high, SymInt[] size, *, "
    "ScalarType? dtype=long, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None)", "Random integers from low to below high.",
    DT_OP_RANDOM, randint_meta, randint_kernel, randint_low_samples,
    row_randint_low);
NEW(randperm, "randperm(SymInt n, *, ScalarType? dtype=long, Layout? "
    "layout=None, Device? device=None, bool? pin_memory=None)",
    "0, 1, ... n - 1 in random order.", DT_OP_RANDOM, randperm_meta,
    randperm_kernel, randperm_samples, NULL);

#define TRI(id, brief_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" #id "(Tensor self, SymInt diagonal=0) -> Tensor", \
    .brief = brief_, .meta = tri_meta, .kernel = tri_kernel, \
    .strategy = tri_strategy, .grad = tri_grad, .samples = tri_samples, \
    .row = row_##id }
TRI(tril, "The lower triangle, zeros above.");
TRI(triu, "The upper triangle, zeros below.");
