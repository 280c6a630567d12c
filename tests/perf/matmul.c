/* SPDX-License-Identifier: MIT
** Matrix products against the BLAS they are made with, called by itself: how
** much longer one takes.  The two take turns, in one thread as each rank's do,
** and the best of each counts, in processor time.
** Prints "name value unit budget". */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "kernel/kernel.h"

enum { TURNS = 25 };

typedef struct Bench {
  DtCtx *cx;
  DtTensor *a, *b, *out;
  int n;
  bool turned;                  /* the second operand is a transpose */
} Bench;

static double now (void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void must (DtCtx *cx, DtStatus st) {
  if (st == DT_OK) return;
  printf("error: %s\n", dt_buf_str(&cx->err.message));
  exit(1);
}

static DtTensor *make (DtCtx *cx, DtDtype t, int n, bool turned) {
  const int64_t shape[2] = { n, n };
  DtRng rng = { .seed = 7 };
  DtMeta m;
  DtTensor *r = NULL;
  must(cx, dt_meta_init(cx, &m, t, 2, shape));
  if (turned) {
    m.stride[0] = 1;
    m.stride[1] = n;
  }
  must(cx, dt_tensor_new(cx, &m, false, &r));
  must(cx, dt_k_uniform(cx, r, &rng, -1, 1));
  return r;
}

static void by_blas (const Bench *b) {
  const void *x = dt_tensor_cdata(b->a), *y = dt_tensor_cdata(b->b);
  const CBLAS_TRANSPOSE t = b->turned ? CblasTrans : CblasNoTrans;
  const int n = b->n;
  void *o = NULL;
  must(b->cx, dt_tensor_data(b->cx, b->out, &o));
  if (b->a->m.dtype == DT_F32)
    cblas_sgemm(CblasRowMajor, CblasNoTrans, t, n, n, n, 1, x, n, y, n, 0, o, n);
  else
    cblas_dgemm(CblasRowMajor, CblasNoTrans, t, n, n, n, 1, x, n, y, n, 0, o, n);
}

static void measure (DtCtx *cx, DtDtype t, const char *type, int n,
                     bool turned) {
  Bench b = { cx, make(cx, t, n, false), make(cx, t, n, turned),
              make(cx, t, n, false), n, turned };
  const int times = n < 512 ? 64 : 1;
  double mine = 0, theirs = 0;
  for (int i = 0; i < TURNS; i++) {
    const double t0 = now();
    for (int k = 0; k < times; k++)
      must(cx, dt_k_gemm(cx, 1, b.a, b.b, 0, b.out));
    const double t1 = now();
    for (int k = 0; k < times; k++) by_blas(&b);
    const double t2 = now();
    if (i == 0 || t1 - t0 < mine) mine = t1 - t0;
    if (i == 0 || t2 - t1 < theirs) theirs = t2 - t1;
  }
  printf("matmul.%d%s.%s %.3f x_blas 1.03\n", n, turned ? ".t" : "", type,
         mine / theirs);
  dt_tensor_unref(cx, b.a);
  dt_tensor_unref(cx, b.b);
  dt_tensor_unref(cx, b.out);
}

int main (void) {
  DtCtx *cx = NULL;
  if (dt_ctx_new(&cx) != DT_OK) return 1;
  dt_k_gemm_one_thread();
  measure(cx, DT_F32, "f32", 128, false);
  measure(cx, DT_F32, "f32", 768, false);
  measure(cx, DT_F32, "f32", 768, true);
  measure(cx, DT_F64, "f64", 768, false);
  dt_ctx_free(cx);
  return 0;
}
