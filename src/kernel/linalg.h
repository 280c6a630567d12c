/* SPDX-License-Identifier: MIT
** kernel/linalg.h: factorisations, solvers, spectra, transforms.
**
** As kernel.h: outputs arrive allocated, any strides; matrices are the last
** two dims, the dims before are a batch; operands broadcast to the outputs'
** batch.  Types f32, f64, c64, c128.  LAPACK's reports go to `info` (i32, one
** per matrix; NULL = nobody asks).  A NULL output is not wanted.  All fail
** with NOMEM, LIMIT or INTERRUPTED. */
#ifndef DT_KERNEL_LINALG_H
#define DT_KERNEL_LINALG_H

#include "kernel/kernel.h"

/* {==== Factors and what they solve ==== */

/* Cholesky factor.  Local. */
DtStatus dt_k_cholesky (DtCtx *cx, const DtTensor *a, bool upper,
                        DtTensor *out, DtTensor *info);
/* Inverse from a factor.  Local. */
DtStatus dt_k_cholesky_inverse (DtCtx *cx, const DtTensor *a, bool upper,
                                DtTensor *out);
/* Solutions from a factor.  Local. */
DtStatus dt_k_cholesky_solve (DtCtx *cx, const DtTensor *b, const DtTensor *a,
                              bool upper, DtTensor *out);
/* QR as LAPACK stores it.  Local. */
DtStatus dt_k_geqrf (DtCtx *cx, const DtTensor *a, DtTensor *qr,
                     DtTensor *tau);
/* The product of its reflections.  Local. */
DtStatus dt_k_householder (DtCtx *cx, const DtTensor *a, const DtTensor *tau,
                           DtTensor *out);
/* That product times a matrix.  Local. */
DtStatus dt_k_ormqr (DtCtx *cx, const DtTensor *a, const DtTensor *tau,
                     const DtTensor *c, bool left, bool ct, DtTensor *out);
/* Q and R; Q without elements: R alone.  Local. */
DtStatus dt_k_qr (DtCtx *cx, const DtTensor *a, DtTensor *q, DtTensor *r);
/* LU of a, or of its transpose.  Local. */
DtStatus dt_k_lu (DtCtx *cx, const DtTensor *a, bool transposed, DtTensor *lu,
                  DtTensor *pivots, DtTensor *info);
/* P, L and U from it; RUNTIME for pivots that are no row numbers.  Local. */
DtStatus dt_k_lu_unpack (DtCtx *cx, const DtTensor *lu, const DtTensor *pivots,
                         DtTensor *p, DtTensor *l, DtTensor *u);
/* A X = B (or X A = B when not `left`; A's conjugate transpose when
** `adjoint`).  `b` may be vectors: one dim less than `lu`'s batch + 2.  VALUE
** for pivots that are no row numbers.  Local. */
DtStatus dt_k_lu_solve (DtCtx *cx, const DtTensor *lu, const DtTensor *pivots,
                        const DtTensor *b, bool left, bool adjoint,
                        bool vectors, DtTensor *out);
/* det, or its sign and log|det|, from LU.  Local. */
DtStatus dt_k_lu_det (DtCtx *cx, const DtTensor *lu, const DtTensor *pivots,
                      DtTensor *det, DtTensor *sign, DtTensor *logabs);
/* LDL of a symmetric or hermitian matrix.  Local. */
DtStatus dt_k_ldl (DtCtx *cx, const DtTensor *a, bool hermitian, DtTensor *ld,
                   DtTensor *pivots, DtTensor *info);
/* Solutions from it; VALUE for pivots that are no row numbers.  Local. */
DtStatus dt_k_ldl_solve (DtCtx *cx, const DtTensor *ld, const DtTensor *pivots,
                         const DtTensor *b, bool hermitian, DtTensor *out);
/* trans: 'N', 'T' or 'C'.  Local. */
DtStatus dt_k_solve_triangular (DtCtx *cx, const DtTensor *a,
                                const DtTensor *b, bool upper, bool left,
                                char trans, bool unit, DtTensor *out);

/* {==== Spectra ==== */

/* Eigenvalues, ascending, and vectors of a hermitian matrix.  Local. */
DtStatus dt_k_eigh (DtCtx *cx, const DtTensor *a, bool upper, DtTensor *w,
                    DtTensor *v, DtTensor *info);
/* Of any square matrix, complex.  Local. */
DtStatus dt_k_eig (DtCtx *cx, const DtTensor *a, DtTensor *w, DtTensor *v,
                   DtTensor *info);
/* U or Vh without elements where one should have some: S alone.  Local. */
DtStatus dt_k_svd (DtCtx *cx, const DtTensor *a, bool full, DtTensor *u,
                   DtTensor *s, DtTensor *vh, DtTensor *info);
/* exp of a matrix.  Local. */
DtStatus dt_k_matrix_exp (DtCtx *cx, const DtTensor *a, DtTensor *out);

/* {==== Fourier transforms ==== */

/* Over which dims, and how results are scaled: `norm` 0 not, 1 by 1/sqrt(n), 2
** by 1/n (n = product of the lengths transformed). */
typedef struct DtFftDims { int n; const int *dims; int norm; } DtFftDims;
/* Complex to complex.  Local. */
DtStatus dt_k_fft_c2c (DtCtx *cx, const DtTensor *a, const DtFftDims *d,
                       bool forward, DtTensor *out);
/* Real to complex; `onesided`: the last dim has n/2 + 1.  Local. */
DtStatus dt_k_fft_r2c (DtCtx *cx, const DtTensor *a, const DtFftDims *d,
                       bool onesided, DtTensor *out);
/* Half-complex to real.  Local. */
DtStatus dt_k_fft_c2r (DtCtx *cx, const DtTensor *a, const DtFftDims *d,
                       DtTensor *out);

#endif
