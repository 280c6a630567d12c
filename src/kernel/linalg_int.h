/* SPDX-License-Identifier: MIT
** kernel/linalg_int.h: what the files of linear algebra share: LAPACK behind
** one table per element type, and batches of column-major matrices.
**
** A kernel copies its operands into column-major scratch (which also
** converts, broadcasts and makes strides dense), calls the table on each
** matrix of the batch, and copies the scratch to the outputs.  So no kernel
** knows strides and none is written four times. */
#ifndef DT_KERNEL_LINALG_INT_H
#define DT_KERNEL_LINALG_INT_H

#include "kernel/kernel_int.h"
#include "kernel/linalg.h"

/* LAPACK for one element type.  Matrices are dense and column-major, `info`
** is LAPACK's (0 = fine).  Functions fail only with NOMEM (workspace).
** "herm" and "ct" (conjugate transpose) mean plain transposes for reals. */
typedef struct DtLapack {
  void (*potrf) (bool upper, int n, void *a, int *info);
  void (*potri) (bool upper, int n, void *a, int *info);
  void (*potrs) (bool upper, int n, int nrhs, const void *a, void *b,
                 int *info);
  DtStatus (*geqrf) (DtCtx *cx, int m, int n, void *a, void *tau);
  DtStatus (*orgqr) (DtCtx *cx, int m, int n, int k, void *a,
                     const void *tau);
  DtStatus (*ormqr) (DtCtx *cx, bool left, bool ct, int m, int n, int k,
                     const void *a, const void *tau, void *c);
  void (*getrf) (int m, int n, void *a, int *pivots, int *info);
  void (*getrs) (char trans, int n, int nrhs, const void *a,
                 const int *pivots, void *b, int *info);
  DtStatus (*sytrf) (DtCtx *cx, bool herm, int n, void *a, int *pivots,
                     int *info);
  void (*sytrs) (bool herm, int n, int nrhs, const void *a,
                 const int *pivots, void *b, int *info);
  DtStatus (*eigh) (DtCtx *cx, bool upper, bool vectors, int n, void *a,
                    void *w, int *info);
  /* w and v are complex whatever the type. */
  DtStatus (*eig) (DtCtx *cx, bool vectors, int n, void *a, void *w, void *v,
                   int *info);
  /* job: 'A' all of U and Vh, 'S' the first min(m, n), 'N' none. */
  DtStatus (*svd) (DtCtx *cx, char job, int m, int n, void *a, void *s,
                   void *u, void *vh, int *info);
  DtStatus (*lstsq) (DtCtx *cx, int m, int n, int nrhs, void *a, void *b,
                     double rcond, int *rank, int *info);
  /* b := inverse of op(a) times b (left), or b times it. */
  void (*trsm) (bool left, bool upper, char trans, bool unit, int m, int n,
                const void *a, int lda, void *b);
} DtLapack;
extern const DtLapack dt_lapack_f32, dt_lapack_f64, dt_lapack_c64,
                      dt_lapack_c128;
/* The table of f32, f64, c64 or c128.  Pure. */
const DtLapack *dt_lapack_of (DtDtype t);

/* A batch of column-major matrices.  Element i of the batch is at data +
** i * step bytes. */
typedef struct DtMats {
  DtTensor *t;
  char *data;
  int rows, cols;
  int64_t n;                            /* matrices */
  size_t step;
} DtMats;

/* Scratch of `dtype` with the batch shape of `like` without its last `drop`
** dims; copied from `src` (which broadcasts; a vector counts as one column
** when `vector`), or uninitialised when src is NULL.  Owner calls dt_mats_fini.
** NOMEM, LIMIT for sides beyond int. */
DtStatus dt_mats_init (DtCtx *cx, DtMats *m, const DtMeta *like, int drop,
                       int64_t rows, int64_t cols, DtDtype dtype,
                       const DtTensor *src, bool vector);
/* The matrices of t as they are. */
DtStatus dt_mats_copy (DtCtx *cx, DtMats *m, const DtTensor *t);
/* Write into a tensor of the same matrices (or columns, when it has one dim
** less; or nothing, when it is NULL or has none of their elements). */
DtStatus dt_mats_store (DtCtx *cx, const DtMats *m, DtTensor *out);
void dt_mats_fini (DtCtx *cx, DtMats *m);
static inline void *dt_mats_at (const DtMats *m, int64_t i) {
  return m->data + (size_t)i * m->step;
}
/* Zero what is not in the upper (lower) triangle; `unit`: 1 on the diagonal.
** Other sizes than rows x cols of m allowed.  Local. */
void dt_mats_triangle (DtMats *m, bool upper, bool unit);
void dt_mats_eye (DtMats *m);

#endif
