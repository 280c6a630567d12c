/* SPDX-License-Identifier: MIT
** kernel/gemm.c: matrix products, batched.  The only file that calls BLAS.
**
** f32, f64 and complex operands go to BLAS as they lie in memory when one of
** their strides is 1 (transposed or not); others are copied first.  f16,
** bf16 and f8 are widened to f32 and rounded once at the end.  Integers are
** multiplied here, wrapping.
** Threads inside BLAS are the program's business; one thread per product
** keeps results the same everywhere. */

#include <cblas.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "kernel/kernel_int.h"

/* One 2-D operand as BLAS wants it. */
typedef struct Mat {
  const DtTensor *t;
  DtTensor *own;                /* the copy, or a reference; may be NULL */
  char *data;
  CBLAS_TRANSPOSE trans;
  int ld;
  int64_t rs, cs, bs;           /* row, column, batch stride in elements */
} Mat;

typedef struct Gemm {
  DtDtype t;                    /* type computed in */
  int m, n, k;
  int64_t batch;
  double alpha, beta;
  Mat a, b;
  DtTensor *c;                  /* where the product is written */
  DtTensor *own_c;
} Gemm;

static int64_t dim_of (const DtTensor *t, int from_end) {
  return t->m.shape[t->m.ndim - from_end];
}

/* Can BLAS read (rows x cols) with these strides?  Sets trans and ld.  A
** side of one element leaves its stride free, and BLAS still wants a leading
** dimension that is no smaller than the other side. Expanded strides (0) fit
** neither way and are copied. */
static bool fits (Mat *m, int64_t rows, int64_t cols) {
  if ((m->cs == 1 || cols <= 1) && (m->rs >= cols || rows <= 1)) {
    m->trans = CblasNoTrans;
    m->ld = (int)(rows <= 1 || m->rs < 1 ? (cols > 0 ? cols : 1) : m->rs);
    return m->rs <= INT_MAX;
  }
  if ((m->rs == 1 || rows <= 1) && (m->cs >= rows || cols <= 1)) {
    m->trans = CblasTrans;
    m->ld = (int)(cols <= 1 || m->cs < 1 ? (rows > 0 ? rows : 1) : m->cs);
    return m->cs <= INT_MAX;
  }
  return false;
}

static void strides (Mat *m, const DtTensor *t) {
  int nd = t->m.ndim;
  m->rs = t->m.stride[nd - 2];
  m->cs = t->m.stride[nd - 1];
  m->bs = nd == 3 && t->m.shape[0] > 1 ? t->m.stride[0] : 0;
}

/* The product of integers takes any strides, so nothing is copied for it. */
static DtStatus mat_init (DtCtx *cx, Mat *m, const DtTensor *t, DtDtype type) {
  m->t = t;
  strides(m, t);
  bool as_is = t->m.dtype == type &&
               (fits(m, dim_of(t, 2), dim_of(t, 1)) || type == DT_I64);
  if (!as_is) {
    DT_TRY(cx, dt_kernel_dense(cx, t, type, &m->own));
    m->t = m->own;
    strides(m, m->own);
    DT_ASSERT(cx, fits(m, dim_of(t, 2), dim_of(t, 1)));
  }
  m->data = (char *)(uintptr_t)dt_tensor_cdata(m->t);
  return DT_OK;
}

static bool writes_direct (const Gemm *g, const DtTensor *out) {
  Mat m = {0};
  if (out->m.dtype != g->t) return false;
  if (g->t == DT_I64) return true;
  strides(&m, out);
  return fits(&m, g->m, g->n) && m.trans == CblasNoTrans;
}

static DtStatus gemm_init (DtCtx *cx, Gemm *g, const DtTensor *a,
                           const DtTensor *b, DtTensor *out) {
  int64_t m = dim_of(a, 2), n = dim_of(b, 1), k = dim_of(a, 1);
  DT_CHECK(cx, m <= INT_MAX && n <= INT_MAX && k <= INT_MAX, DT_E_LIMIT,
           "a matrix side is larger than %d", INT_MAX);
  g->m = (int)m;
  g->n = (int)n;
  g->k = (int)k;
  g->batch = out->m.ndim == 3 ? out->m.shape[0] : 1;
  DtDtype t = dt_dtype_acc((DtDtype)out->m.dtype);
  g->t = dt_class_of(t) == DT_CL_I64 ? DT_I64 : t;
  DT_TRY(cx, mat_init(cx, &g->a, a, g->t));
  DT_TRY(cx, mat_init(cx, &g->b, b, g->t));
  g->c = out;
  if (!writes_direct(g, out)) {
    DtMeta cm;
    dt_meta_copy(&cm, &out->m);
    cm.dtype = (uint8_t)g->t;
    dt_meta_set_contiguous(&cm);
    DT_TRY(cx, dt_tensor_new(cx, &cm, false, &g->own_c));
    g->c = g->own_c;
    if (g->beta != 0) DT_TRY(cx, dt_k_copy(cx, out, g->own_c));
  }
  return DT_OK;
}

/* ---- one product --------------------------------------------------------- */

/* Unsigned, since overflow has to wrap and may not be undefined. With beta 0
** the old value is not read, as BLAS does not: it may be anything. */
static void product_i64 (const Gemm *g, const int64_t *a, const int64_t *b,
                         int64_t *c, int64_t crs, int64_t ccs) {
  uint64_t alpha = (uint64_t)(int64_t)g->alpha;
  uint64_t beta = (uint64_t)(int64_t)g->beta;
  for (int64_t i = 0; i < g->m; i++)
    for (int64_t j = 0; j < g->n; j++) {
      uint64_t s = 0;
      for (int64_t k = 0; k < g->k; k++)
        s += (uint64_t)a[i * g->a.rs + k * g->a.cs] *
             (uint64_t)b[k * g->b.rs + j * g->b.cs];
      int64_t *o = &c[i * crs + j * ccs];
      *o = (int64_t)(alpha * s + (g->beta != 0 ? beta * (uint64_t)*o : 0));
    }
}

static void product_blas (const Gemm *g, const void *a, const void *b,
                          void *c, int ldc) {
  const double alpha[2] = {g->alpha, 0}, beta[2] = {g->beta, 0};
  const float alphaf[2] = {(float)g->alpha, 0}, betaf[2] = {(float)g->beta, 0};
  switch (g->t) {
    case DT_F32:
      cblas_sgemm(CblasRowMajor, g->a.trans, g->b.trans, g->m, g->n, g->k,
                  alphaf[0], a, g->a.ld, b, g->b.ld, betaf[0], c, ldc);
      break;
    case DT_F64:
      cblas_dgemm(CblasRowMajor, g->a.trans, g->b.trans, g->m, g->n, g->k,
                  alpha[0], a, g->a.ld, b, g->b.ld, beta[0], c, ldc);
      break;
    case DT_C64:
      cblas_cgemm(CblasRowMajor, g->a.trans, g->b.trans, g->m, g->n, g->k,
                  alphaf, a, g->a.ld, b, g->b.ld, betaf, c, ldc);
      break;
    default:
      cblas_zgemm(CblasRowMajor, g->a.trans, g->b.trans, g->m, g->n, g->k,
                  alpha, a, g->a.ld, b, g->b.ld, beta, c, ldc);
  }
}

/* Ctrl-C is looked for between the matrices of a batch; BLAS itself cannot
** be broken off. */
static DtStatus run (DtCtx *cx, const Gemm *g) {
  void *c;
  Mat o = {0};
  size_t es = dt_dtype_size(g->t);
  DT_TRY(cx, dt_tensor_data(cx, g->c, &c));
  strides(&o, g->c);
  (void)fits(&o, g->m, g->n);
  for (int64_t i = 0; i < g->batch; i++) {
    size_t n = (size_t)i * es;
    const char *a = g->a.data + n * (size_t)g->a.bs;
    const char *b = g->b.data + n * (size_t)g->b.bs;
    char *d = (char *)c + n * (size_t)o.bs;
    DT_TRY(cx, dt_ctx_poll(cx));
    if (g->t == DT_I64)
      product_i64(g, (const int64_t *)a, (const int64_t *)b, (int64_t *)d,
                  o.rs, o.cs);
    else
      product_blas(g, a, b, d, o.ld);
  }
  return DT_OK;
}

/* Without an inner dim the product is 0: out = beta * out.  Filled and not
** multiplied when beta is 0: what was there may be NaN. */
static DtStatus scale_only (DtCtx *cx, double beta, DtTensor *out) {
  if (beta == 0) return dt_k_fill(cx, out, dt_scalar_int(0));
  DtScalar p = dt_scalar_float(beta);
  return dt_k_unary(cx, DT_U_mul_scalar, (DtDtype)out->m.dtype, &p, out, out);
}

DtStatus dt_k_gemm (DtCtx *cx, double alpha, const DtTensor *a,
                    const DtTensor *b, double beta, DtTensor *out) {
  void *o;
  const DtTensor *in[2] = {a, b};
  const void *data[2] = {NULL};
  DtStatus st = DT_OK;
  Gemm g = {.alpha = alpha, .beta = beta};
  DT_TRY(cx, dt_kernel_data(cx, out, &o, 2, in, data));
  if (o == NULL) return DT_OK;
  if (dt_meta_numel(&a->m) == 0) return scale_only(cx, beta, out);
  DT_TRYG(cx, gemm_init(cx, &g, a, b, out));
  DT_TRYG(cx, run(cx, &g));
  if (g.own_c != NULL) DT_TRYG(cx, dt_k_copy(cx, g.own_c, out));
done:
  dt_tensor_unref(cx, g.a.own);
  dt_tensor_unref(cx, g.b.own);
  dt_tensor_unref(cx, g.own_c);
  return st;
}

/* What OpenBLAS does before a fork: end its threads.  Not in its headers, and
** not in every build of it. */
extern int blas_thread_shutdown_ (void) __attribute__((weak));

/* The processor that OpenBLAS should be told this one is, in the words of its variable,
** where it took it for `core`; NULL: it knows. */
static const char *better_core (const char *core) {
#if defined(__x86_64__)
  /* What has no vectors of eight floats, where the processor has. */
  if (strcmp(core, "Prescott") != 0 && strcmp(core, "Core2") != 0 &&
      strcmp(core, "Nehalem") != 0) return NULL;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd")) return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  (void)core;
  return NULL;
}

/* What OpenBLAS chooses its kernels with when it is loaded.  Not in its headers, and
** not in builds for one processor only. */
extern void gotoblas_dynamic_init (void) __attribute__((weak));
extern void gotoblas_dynamic_quit (void) __attribute__((weak));

/* An OpenBLAS that is older than the processor takes it for the oldest it has: a third
** as fast, and other last digits than PyTorch's.  Let it choose again, knowing better,
** before anything is computed.  A person's own choice stands. */
static void choose_core (void) {
  static const char variable[] = "OPENBLAS_CORETYPE";
  const char *core = better_core(openblas_get_corename());
  if (core == NULL || getenv(variable) != NULL || gotoblas_dynamic_init == NULL ||
      gotoblas_dynamic_quit == NULL || setenv(variable, core, 1) != 0) return;
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  (void)unsetenv(variable);
}

/* Loading OpenBLAS starts a thread per core, and each spins for some 30 ms
** before it sleeps: more than a short program takes.  To set the number first
** is necessary, as that starts them again. */
void dt_k_gemm_one_thread (void) {
  choose_core();
  openblas_set_num_threads(1);
  if (blas_thread_shutdown_ != NULL) blas_thread_shutdown_();
}
