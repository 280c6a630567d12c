/* SPDX-License-Identifier: MIT
** oplib/op_linalg_int.h: what the files of linear algebra share: arithmetic
** (op_linalg_run.c) and gradients (op_linalg_grad.c) of the definitions in
** op_linalg.c.  Private to oplib. */
#ifndef DT_OP_LINALG_INT_H
#define DT_OP_LINALG_INT_H

#include "oplib/op_unwritten.h"

/* The operators with arithmetic here, by their base names. */
#define OP_LINALG_KERNELS(X) \
  X(svd) X(qr) X(eigh) X(check_errors) X(det) X(slogdet) X(solve_ex) \
  X(cholesky) X(cholesky_ex) X(cholesky_inverse) X(cholesky_solve) X(geqrf) \
  X(eig) X(eigvals) X(householder) X(inv_ex) X(ldl_factor) X(ldl_solve) \
  X(lu) X(lu_factor) X(lu_solve) X(matrix_exp) X(solve_triangular) \
  X(lu_unpack) X(ormqr) X(triangular_solve) X(cross) X(pinv) X(powsum)
#define OP_LINALG_GRADS(X) \
  X(svd) X(qr) X(eigh) X(det) X(slogdet) X(solve_ex) X(cholesky) \
  X(cholesky_ex) X(cholesky_inverse) X(cholesky_solve) X(eig) \
  X(inv_ex) X(lu) X(lu_factor) X(lu_solve) X(matrix_exp) \
  X(solve_triangular) X(lu_unpack) X(triangular_solve) X(cross) X(pinv) X(none) \
  X(geqrf) X(householder) X(ormqr)
#define X(name) DtStatus op_k_la_##name (DtKernelCall *c);
OP_LINALG_KERNELS(X)
#undef X
#define X(name) DtStatus op_g_la_##name (DtGradCall *c);
OP_LINALG_GRADS(X)
#undef X

/* Do the sizes of reflectors fit (op_linalg_reflect.c)?  RUNTIME, INDEX with
** PyTorch's texts.  Pure. */
DtStatus op_la_householder_check (DtMetaCall *c);
DtStatus op_la_ormqr_check (DtMetaCall *c, bool left);

/* Fourier transforms; row[0] of a definition says which. */
enum { OP_FFT_C2C, OP_FFT_R2C, OP_FFT_C2R };
DtStatus op_k_fft (DtKernelCall *c);
DtStatus op_g_fft (DtGradCall *c);

#endif
