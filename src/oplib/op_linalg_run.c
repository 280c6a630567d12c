/* SPDX-License-Identifier: MIT
** oplib/op_linalg_run.c: arithmetic of the linear algebra operators: which
** kernel with which arguments, and what PyTorch says when LAPACK reports.
** No shapes, no rules. */
#include "oplib/op_linalg_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernel/linalg.h"

/* LAPACK knows four types. */
static DtStatus lapack_type (DtKernelCall *c, const DtTensor *t,
                             const char *kernel) {
  switch ((DtDtype)t->m.dtype) {
    case DT_F32: case DT_F64: case DT_C64: case DT_C128: return DT_OK;
    default:
      return dt_raise(c->cx, DT_E_NOTIMPL, "\"%s\" not implemented for '%s'",
                      kernel, op_dtype_word((DtDtype)t->m.dtype));
  }
}

/* ---- LAPACK's reports ---- */

static DtStatus complain (DtCtx *cx, const char *name, const char *batch,
                          int64_t info) {
#define LINALG(...) dt_raise_as(cx, DT_E_RUNTIME, "_LinAlgError", __VA_ARGS__)
  long long k = (long long)info;
  bool svd = strstr(name, "svd") != NULL;
  if (svd && info == -4)
    return LINALG("%s%s: The algorithm failed to converge because the input "
                  "matrix contained non-finite values.", name, batch);
  if (info < 0)
    return dt_raise(cx, DT_E_RUNTIME, "%s%s: Argument %lld has illegal value. "
                    "Most certainly there is a bug in the implementation "
                    "calling the backend library.", name, batch, -k);
  if (strstr(name, "inv"))
    return LINALG("%s%s: The diagonal element %lld is zero, the inversion "
                  "could not be completed because the input matrix is "
                  "singular.", name, batch, k);
  if (strstr(name, "solve"))
    return LINALG("%s%s: The solver failed because the input matrix is "
                  "singular.", name, batch);
  if (strstr(name, "cholesky"))
    return LINALG("%s%s: The factorization could not be completed because the "
                  "input is not positive-definite (the leading minor of order "
                  "%lld is not positive-definite).", name, batch, k);
  if (svd || strstr(name, "eig"))
    return LINALG("%s%s: The algorithm failed to converge because the input "
                  "matrix is ill-conditioned or has too many repeated %s "
                  "(error code: %lld).", name, batch,
                  svd ? "singular values" : "eigenvalues", k);
  if (strstr(name, "lstsq"))
    return LINALG("%s%s: The least squares solution could not be computed "
                  "because the input matrix does not have full rank (error "
                  "code: %lld).", name, batch, k);
  if (strstr(name, "lu_factor"))
    return dt_raise(cx, DT_E_RUNTIME, "%s%s: U[%lld,%lld] is zero and using "
                    "it on lu_solve would result in a division by zero. If "
                    "you still want to perform the factorization, consider "
                    "calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, "
                    "pivot)", name, batch, k, k);
  return dt_raise(cx, DT_E_RUNTIME, "%s%s: Unknown error code: %lld.", name,
                  batch, k);
#undef LINALG
}

static DtStatus check_info (DtCtx *cx, const DtTensor *info, const char *name,
                            bool is_matrix) {
  int64_t n = dt_meta_numel(&info->m), index[DT_MAX_NDIM] = {0};
  for (int64_t i = 0; i < n; i++) {
    char batch[48] = "";
    DtScalar v = dt_tensor_get(info, index);
    if (v.i != 0) {
      if (!is_matrix)
        (void)snprintf(batch, sizeof batch, ": (Batch element %lld)",
                       (long long)i);
      return complain(cx, name, batch, v.i);
    }
    for (int d = info->m.ndim - 1; d >= 0; d--) {
      if (++index[d] < info->m.shape[d]) break;
      index[d] = 0;
    }
  }
  return DT_OK;
}

DtStatus op_k_la_check_errors (DtKernelCall *c) {
  return check_info(c->cx, c->in[0], dt_arg_str(c->args, 1),
                    dt_arg_bool(c->args, 2));
}

/* Where the argument check_errors asks for it. */
static DtStatus maybe_check (DtKernelCall *c, const DtTensor *info,
                             const char *name) {
  int i = dt_schema_arg(c->args->schema, "check_errors");
  if (!dt_arg_bool(c->args, i)) return DT_OK;
  return check_info(c->cx, info, name, c->in[0]->m.ndim == 2);
}

/* An i32 tensor of the batch shape of `a` for reports nobody returns. */
static DtStatus info_temp (DtCtx *cx, const DtTensor *a, DtTensor **out) {
  return op_temp(cx, DT_I32, a->m.ndim - 2, a->m.shape, out);
}

/* ---- factorisations ---- */

DtStatus op_k_la_cholesky (DtKernelCall *c) {
  DtTensor *a = c->in[0], *info = NULL;
  DtStatus st;
  DT_TRYG(c->cx, info_temp(c->cx, a, &info));
  if (dt_meta_numel(&a->m) > 0) {
    DT_TRYG(c->cx, lapack_type(c, a, "cholesky_cpu"));
    DT_TRYG(c->cx, dt_k_cholesky(c->cx, a, dt_arg_bool(c->args, 1), c->out[0],
                                 info));
    DT_TRYG(c->cx, check_info(c->cx, info, "cholesky", a->m.ndim == 2));
  }
done:
  dt_tensor_unref(c->cx, info);
  return st;
}
DtStatus op_k_la_cholesky_ex (DtKernelCall *c) {
  DtTensor *a = c->in[0];
  DT_TRY(c->cx, lapack_type(c, a, "cholesky_cpu"));
  DT_TRY(c->cx, dt_k_cholesky(c->cx, a, dt_arg_bool(c->args, 1), c->out[0],
                              c->out[1]));
  return maybe_check(c, c->out[1], "linalg.cholesky_ex");
}
DtStatus op_k_la_cholesky_inverse (DtKernelCall *c) {
  DT_TRY(c->cx, lapack_type(c, c->in[0], "cholesky_inverse_out_cpu"));
  return dt_k_cholesky_inverse(c->cx, c->in[0], dt_arg_bool(c->args, 1),
                               c->out[0]);
}
DtStatus op_k_la_cholesky_solve (DtKernelCall *c) {
  DT_TRY(c->cx, lapack_type(c, c->in[0], "cholesky_solve_cpu"));
  return dt_k_cholesky_solve(c->cx, c->in[0], c->in[1],
                             dt_arg_bool(c->args, 2), c->out[0]);
}
DtStatus op_k_la_geqrf (DtKernelCall *c) {
  DT_TRY(c->cx, lapack_type(c, c->in[0], "geqrf_cpu"));
  return dt_k_geqrf(c->cx, c->in[0], c->out[0], c->out[1]);
}
DtStatus op_k_la_householder (DtKernelCall *c) {
  DtDtype t = (DtDtype)c->in[0]->m.dtype, u = (DtDtype)c->in[1]->m.dtype;
  DT_CHECK(c->cx, t == u, DT_E_RUNTIME, "torch.linalg.householder_product: tau "
           "dtype %s does not match input dtype %s", op_dtype_word(u),
           op_dtype_word(t));
  DT_TRY(c->cx, lapack_type(c, c->in[0], "orgqr_cpu"));
  return dt_k_householder(c->cx, c->in[0], c->in[1], c->out[0]);
}
DtStatus op_k_la_ormqr (DtKernelCall *c) {
  DT_TRY(c->cx, lapack_type(c, c->in[0], "ormqr_cpu"));
  return dt_k_ormqr(c->cx, c->in[0], c->in[1], c->in[2],
                    dt_arg_bool(c->args, 3), dt_arg_bool(c->args, 4),
                    c->out[0]);
}
DtStatus op_k_la_qr (DtKernelCall *c) {
  DT_TRY(c->cx, lapack_type(c, c->in[0], "geqrf_cpu"));
  return dt_k_qr(c->cx, c->in[0], c->out[0], c->out[1]);
}

/* The CPU has no LU without exchanges. */
static DtStatus pivoting (DtKernelCall *c) {
  int i = dt_schema_arg(c->args->schema, "pivot");
  DT_CHECK(c->cx, dt_arg_bool(c->args, i), DT_E_RUNTIME, "linalg.lu_factor: LU "
           "without pivoting is not implemented on the CPU");
  return lapack_type(c, c->in[0], "lu_cpu");
}
DtStatus op_k_la_lu_factor (DtKernelCall *c) {
  DT_TRY(c->cx, pivoting(c));
  DT_TRY(c->cx, dt_k_lu(c->cx, c->in[0], false, c->out[0], c->out[1],
                        c->out[2]));
  return maybe_check(c, c->out[2], "torch.linalg.lu_factor_ex");
}

/* Scratch for LU and pivots of a; caller unrefs both. */
static DtStatus lu_temp (DtKernelCall *c, const DtTensor *a, DtTensor **lu,
                         DtTensor **pivots) {
  int n = a->m.ndim;
  int64_t shape[DT_MAX_NDIM];
  memcpy(shape, a->m.shape, sizeof(int64_t) * (size_t)n);
  DT_TRY(c->cx, op_temp(c->cx, (DtDtype)a->m.dtype, n, shape, lu));
  if (shape[n - 1] < shape[n - 2]) shape[n - 2] = shape[n - 1];
  return op_temp(c->cx, DT_I32, n - 1, shape, pivots);
}

DtStatus op_k_la_lu (DtKernelCall *c) {
  DtTensor *lu = NULL, *pivots = NULL;
  DtStatus st;
  DT_TRYG(c->cx, pivoting(c));
  DT_TRYG(c->cx, lu_temp(c, c->in[0], &lu, &pivots));
  DT_TRYG(c->cx, dt_k_lu(c->cx, c->in[0], false, lu, pivots, NULL));
  DT_TRYG(c->cx, dt_k_lu_unpack(c->cx, lu, pivots, c->out[0], c->out[1],
                                c->out[2]));
done:
  dt_tensor_unref(c->cx, lu);
  dt_tensor_unref(c->cx, pivots);
  return st;
}
DtStatus op_k_la_lu_unpack (DtKernelCall *c) {
  return dt_k_lu_unpack(c->cx, c->in[0], c->in[1], c->out[0], c->out[1],
                        c->out[2]);
}
DtStatus op_k_la_ldl_factor (DtKernelCall *c) {
  DT_TRY(c->cx, lapack_type(c, c->in[0], "ldl_factor_kernel_cpu"));
  DT_TRY(c->cx, dt_k_ldl(c->cx, c->in[0], dt_arg_bool(c->args, 1), c->out[0],
                         c->out[1], c->out[2]));
  return maybe_check(c, c->out[2], "torch.linalg.ldl_factor_ex");
}

/* ---- solvers ---- */

DtStatus op_k_la_ldl_solve (DtKernelCall *c) {
  DT_TRY(c->cx, lapack_type(c, c->in[0], "ldl_solve_kernel_cpu"));
  return dt_k_ldl_solve(c->cx, c->in[0], c->in[1], c->in[2],
                        dt_arg_bool(c->args, 3), c->out[0]);
}
DtStatus op_k_la_lu_solve (DtKernelCall *c) {
  DT_TRY(c->cx, lapack_type(c, c->in[0], "linalg.lu_solve_cpu"));
  return dt_k_lu_solve(c->cx, c->in[0], c->in[1], c->in[2],
                       dt_arg_bool(c->args, 3), dt_arg_bool(c->args, 4), false,
                       c->out[0]);
}
DtStatus op_k_la_solve_triangular (DtKernelCall *c) {
  DtTensor *b = c->in[1], *own = NULL;
  DtStatus st;
  DT_TRY(c->cx, lapack_type(c, c->in[0], "triangular_solve_cpu"));
  if (b->m.dtype != c->in[0]->m.dtype) {        /* copied to the matrix's */
    DT_TRYG(c->cx, op_temp(c->cx, (DtDtype)c->in[0]->m.dtype, b->m.ndim,
                           b->m.shape, &own));
    DT_TRYG(c->cx, dt_k_copy(c->cx, b, own));
    b = own;
  }
  st = dt_k_solve_triangular(c->cx, c->in[0], b, dt_arg_bool(c->args, 2),
                             dt_arg_bool(c->args, 3), 'N',
                             dt_arg_bool(c->args, 4), c->out[0]);
done:
  dt_tensor_unref(c->cx, own);
  return st;
}
DtStatus op_k_la_triangular_solve (DtKernelCall *c) {
  DT_TRY(c->cx, lapack_type(c, c->in[0], "triangular_solve_cpu"));
  DT_TRY(c->cx, dt_k_solve_triangular(c->cx, c->in[1], c->in[0],
                                      dt_arg_bool(c->args, 2), true,
                                      dt_arg_bool(c->args, 3) ? 'T' : 'N',
                                      dt_arg_bool(c->args, 4), c->out[0]));
  return dt_k_copy(c->cx, c->in[1], c->out[1]);
}

/* Row-major real matrices are factored as their transposes: LAPACK then reads
** them as they lie. */
static bool as_transpose (const DtTensor *a) {
  return dt_meta_is_contiguous(&a->m) &&
         !dt_dtype_is_complex((DtDtype)a->m.dtype);
}

DtStatus op_k_la_solve_ex (DtKernelCall *c) {
  DtTensor *a = c->in[0], *b = c->in[1];
  bool left = dt_arg_bool(c->args, 2);
  bool vectors = c->out[0]->m.ndim < c->out[1]->m.ndim;
  DT_TRY(c->cx, lapack_type(c, a, "lu_cpu"));
  DT_TRY(c->cx, dt_k_lu(c->cx, a, false, c->out[1], c->out[2],
                        c->out[3]));
  DT_TRY(c->cx, maybe_check(c, c->out[3], "torch.linalg.solve_ex"));
  return dt_k_lu_solve(c->cx, c->out[1], c->out[2], b, left, false, vectors,
                       c->out[0]);
}

/* Solve A X = 1. */
DtStatus op_k_la_inv_ex (DtKernelCall *c) {
  DtTensor *a = c->in[0], *lu = NULL, *pivots = NULL, *eye = NULL;
  int n = a->m.ndim;
  DtStatus st;
  DT_TRYG(c->cx, lapack_type(c, a, "lu_cpu"));
  DT_TRYG(c->cx, lu_temp(c, a, &lu, &pivots));
  DT_TRYG(c->cx, op_temp(c->cx, (DtDtype)a->m.dtype, 2, a->m.shape + n - 2,
                         &eye));
  DT_TRYG(c->cx, dt_k_eye(c->cx, eye));
  DT_TRYG(c->cx, dt_k_lu(c->cx, a, false, lu, pivots, c->out[1]));
  DT_TRYG(c->cx, maybe_check(c, c->out[1], "linalg.inv_ex"));
  DT_TRYG(c->cx, dt_k_lu_solve(c->cx, lu, pivots, eye, true, false, false,
                               c->out[0]));
done:
  dt_tensor_unref(c->cx, lu);
  dt_tensor_unref(c->cx, pivots);
  dt_tensor_unref(c->cx, eye);
  return st;
}

/* ---- determinants ---- */

DtStatus op_k_la_det (DtKernelCall *c) {
  DtTensor *a = c->in[0];
  DT_TRY(c->cx, lapack_type(c, a, "lu_cpu"));
  DT_TRY(c->cx, dt_k_lu(c->cx, a, as_transpose(a), c->out[1], c->out[2],
                        NULL));
  return dt_k_lu_det(c->cx, c->out[1], c->out[2], c->out[0], NULL, NULL);
}
DtStatus op_k_la_slogdet (DtKernelCall *c) {
  DtTensor *a = c->in[0];
  DT_TRY(c->cx, lapack_type(c, a, "lu_cpu"));
  DT_TRY(c->cx, dt_k_lu(c->cx, a, as_transpose(a), c->out[2], c->out[3],
                        NULL));
  return dt_k_lu_det(c->cx, c->out[2], c->out[3], NULL, c->out[0], c->out[1]);
}

/* ---- spectra ---- */

DtStatus op_k_la_eigh (DtKernelCall *c) {
  DtTensor *a = c->in[0], *info = NULL;
  const char *uplo = dt_arg_str(c->args, 1);
  DtStatus st;
  DT_TRYG(c->cx, lapack_type(c, a, "linalg_eigh_cpu"));
  DT_TRYG(c->cx, info_temp(c->cx, a, &info));
  DT_TRYG(c->cx, dt_k_eigh(c->cx, a, *uplo == 'U' || *uplo == 'u', c->out[0],
                           c->out[1], info));
  DT_TRYG(c->cx, check_info(c->cx, info, "linalg.eigh", a->m.ndim == 2));
done:
  dt_tensor_unref(c->cx, info);
  return st;
}

static DtStatus all_finite (DtKernelCall *c, const DtTensor *a) {
  int64_t n = dt_meta_numel(&a->m), index[DT_MAX_NDIM] = {0};
  for (int64_t i = 0; i < n; i++) {
    DtScalar v = dt_tensor_get(a, index);
    DT_CHECK(c->cx, isfinite(v.re) && isfinite(v.im), DT_E_RUNTIME,
             "torch.linalg.eig: input tensor should not contain infs or NaNs.");
    for (int d = a->m.ndim - 1; d >= 0; d--) {
      if (++index[d] < a->m.shape[d]) break;
      index[d] = 0;
    }
  }
  return DT_OK;
}
static DtStatus eig (DtKernelCall *c, DtTensor *v) {
  DtTensor *a = c->in[0], *info = NULL;
  DtStatus st;
  DtDtype t = (DtDtype)a->m.dtype;
  if (!dt_dtype_is_complex(t) && (dt_dtype_is_integral(t, true) ||
                                  dt_dtype_size(t) < 2))
    return dt_raise(c->cx, DT_E_RUNTIME, "Unknown Complex ScalarType for %s",
                    dt_dtype_word(t));
  DT_TRYG(c->cx, lapack_type(c, a, "linalg_eig_out_cpu"));
  DT_TRYG(c->cx, all_finite(c, a));
  DT_TRYG(c->cx, info_temp(c->cx, a, &info));
  DT_TRYG(c->cx, dt_k_eig(c->cx, a, c->out[0], v, info));
  DT_TRYG(c->cx, check_info(c->cx, info, "linalg.eig", a->m.ndim == 2));
done:
  dt_tensor_unref(c->cx, info);
  return st;
}
DtStatus op_k_la_eig (DtKernelCall *c) { return eig(c, c->out[1]); }
DtStatus op_k_la_eigvals (DtKernelCall *c) { return eig(c, NULL); }

DtStatus op_k_la_svd (DtKernelCall *c) {
  DtTensor *a = c->in[0], *info = NULL;
  DtStatus st;
  DT_TRYG(c->cx, lapack_type(c, a, "linalg_svd_cpu"));
  DT_CHECKG(c->cx, dt_arg_is_none(c->args, 3), DT_E_RUNTIME, "torch.linalg.svd:"
            " keyword argument `driver=` is only supported on CUDA inputs with "
            "cuSOLVER backend.");
  DT_TRYG(c->cx, info_temp(c->cx, a, &info));
  DT_TRYG(c->cx, dt_k_svd(c->cx, a, dt_arg_bool(c->args, 1), c->out[0],
                          c->out[1], c->out[2], info));
  DT_TRYG(c->cx, check_info(c->cx, info, "linalg.svd", a->m.ndim == 2));
done:
  dt_tensor_unref(c->cx, info);
  return st;
}

DtStatus op_k_la_matrix_exp (DtKernelCall *c) {
  return dt_k_matrix_exp(c->cx, c->in[0], c->out[0]);
}

/* ---- pseudo-inverse: V diag(1/s) U^H over the large s ---- */

static double element (const DtTensor *t, const int64_t *index) {
  DtScalar v;
  if (t == NULL) return 0;
  if (t->m.ndim == 0) v = dt_tensor_get(t, NULL);
  else v = dt_tensor_get(t, index);
  return v.re;
}

/* Singular values below the tolerance become 0, others their inverses. */
static DtStatus invert_values (DtKernelCall *c, const DtTensor *a,
                               DtTensor *s) {
  DtTensor *atol = dt_kin(c, 1), *rtol = dt_kin(c, 2);
  int n = s->m.ndim;
  int64_t k = s->m.shape[n - 1], rows = dt_meta_numel(&s->m), at[DT_MAX_NDIM];
  int64_t m = a->m.shape[a->m.ndim - 1], l = a->m.shape[a->m.ndim - 2];
  double eps = s->m.dtype == DT_F32 ? 1.1920928955078125e-07
                                    : 2.220446049250313e-16;
  void *data;
  if (rows == 0) return DT_OK;
  DT_TRY(c->cx, dt_tensor_data(c->cx, s, &data));
  memset(at, 0, sizeof at);
  for (int64_t b = 0; b < rows / k; b++) {
    double av = element(atol, at), rv = element(rtol, at), top = 0;
    if (rtol == NULL) rv = av > 0 ? 0 : eps * (double)(m > l ? m : l);
    for (int pass = 0; pass < 2; pass++)
      for (int64_t i = b * k; i < (b + 1) * k; i++) {
        bool single = s->m.dtype == DT_F32;
        double v = single ? (double)((float *)data)[i] : ((double *)data)[i];
        double tol = av > rv * top ? av : rv * top;
        if (pass == 0) {
          if (fabs(v) > top) top = fabs(v);
          continue;
        }
        v = fabs(v) > tol ? 1 / v : 0;
        if (single) ((float *)data)[i] = (float)v;
        else ((double *)data)[i] = v;
      }
    for (int d = n - 2; d >= 0; d--) {
      if (++at[d] < s->m.shape[d]) break;
      at[d] = 0;
    }
  }
  return DT_OK;
}

/* The last two dims exchanged. */
static void flip_view (DtTensor *t) {
  int n = t->m.ndim;
  int64_t s = t->m.shape[n - 1], p = t->m.stride[n - 1];
  t->m.shape[n - 1] = t->m.shape[n - 2];
  t->m.shape[n - 2] = s;
  t->m.stride[n - 1] = t->m.stride[n - 2];
  t->m.stride[n - 2] = p;
}

/* Batched product out = a @ b of dense operands with any batch dims. */
static DtStatus batch_product (DtKernelCall *c, DtTensor *a, DtTensor *b,
                               DtTensor *out) {
  DtTensor *v[3] = { a, b, out }, *f[3] = { NULL };
  int64_t nb = 1;
  DtStatus st = DT_OK;
  for (int i = 0; i < out->m.ndim - 2; i++) nb *= out->m.shape[i];
  for (int i = 0; i < 3; i++) {
    int n = v[i]->m.ndim;
    int64_t shape[3] = { nb, v[i]->m.shape[n - 2], v[i]->m.shape[n - 1] };
    int64_t stride[3] = { shape[1] * shape[2], v[i]->m.stride[n - 2],
                          v[i]->m.stride[n - 1] };
    DT_TRYG(c->cx, op_restride(c->cx, v[i], 3, shape, stride, 0, &f[i]));
  }
  DT_TRYG(c->cx, dt_k_gemm(c->cx, 1, f[0], f[1], 0, f[2]));
done:
  for (int i = 0; i < 3; i++) dt_tensor_unref(c->cx, f[i]);
  return st;
}

/* Numbers on the diagonal of Hermitian matrices are real: what else stands there
** is not looked at.  `t` is contiguous. */
static DtStatus real_diagonal (DtCtx *cx, DtTensor *t) {
  int64_t n = t->m.shape[t->m.ndim - 1];
  int64_t all = n > 0 ? dt_meta_numel(&t->m) / (n * n) : 0;
  size_t size = dt_dtype_size((DtDtype)t->m.dtype);
  void *p;
  DT_TRY(cx, dt_tensor_data(cx, t, &p));
  for (int64_t b = 0; b < all; b++)
    for (int64_t i = 0; i < n; i++)
      memset((char *)p + (size_t)((b * n + i) * n + i) * size + size / 2, 0,
             size / 2);
  return DT_OK;
}

/* The Hermitian matrices whose lower triangles are those of `a`: PyTorch does
** not look at the upper ones. */
static DtStatus from_lower (DtKernelCall *c, const DtTensor *a,
                            DtTensor **out) {
  DtDtype t = (DtDtype)a->m.dtype;
  DtTensor *low = NULL;
  DtStatus st = DT_OK;
  DT_TRYG(c->cx, op_temp(c->cx, t, a->m.ndim, a->m.shape, out));
  DT_TRYG(c->cx, op_temp(c->cx, t, a->m.ndim, a->m.shape, &low));
  DT_TRYG(c->cx, dt_k_tri(c->cx, a, 0, false, *out));
  DT_TRYG(c->cx, dt_k_tri(c->cx, a, -1, false, low));
  if (dt_dtype_is_complex(t))
    DT_TRYG(c->cx, dt_k_unary(c->cx, DT_U_conj_physical, t, NULL, low, low));
  flip_view(low);
  DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_add, t, NULL, *out, low, *out));
  if (dt_dtype_is_complex(t)) DT_TRYG(c->cx, real_diagonal(c->cx, *out));
done:
  dt_tensor_unref(c->cx, low);
  return st;
}

DtStatus op_k_la_pinv (DtKernelCall *c) {
  DtTensor *a = c->in[0], *whole = NULL, *u = NULL, *s = NULL, *vh = NULL, *w = NULL;
  DtTensor *r = NULL, *sv = NULL;
  int n = a->m.ndim;
  int64_t m = a->m.shape[n - 2], l = a->m.shape[n - 1], k = m < l ? m : l;
  int64_t shape[DT_MAX_NDIM];
  DtDtype t = (DtDtype)a->m.dtype;
  DtStatus st = DT_OK;
  if (dt_meta_numel(&c->out[0]->m) == 0) return DT_OK;
  if (dt_arg_bool(c->args, 3)) {
    DT_TRYG(c->cx, from_lower(c, a, &whole));
    a = whole;
  }
  memcpy(shape, a->m.shape, sizeof(int64_t) * (size_t)n);
  shape[n - 1] = k;
  DT_TRYG(c->cx, op_temp(c->cx, t, n, shape, &u));
  shape[n - 2] = k;
  DT_TRYG(c->cx, op_temp(c->cx, dt_dtype_to_real(t), n - 1, shape, &s));
  shape[n - 1] = l;
  DT_TRYG(c->cx, op_temp(c->cx, t, n, shape, &vh));
  DT_TRYG(c->cx, op_temp(c->cx, t, n, shape, &w));
  DT_TRYG(c->cx, op_temp(c->cx, t, n, c->out[0]->m.shape, &r));
  DT_TRYG(c->cx, dt_k_svd(c->cx, a, false, u, s, vh, NULL));
  DT_TRYG(c->cx, invert_values(c, a, s));
  /* w = diag(1/s) Vh, then out = conj(w)^T conj(u)^T */
  memcpy(shape, s->m.shape, sizeof(int64_t) * (size_t)(n - 1));
  shape[n - 1] = 1;
  int64_t stride[DT_MAX_NDIM];
  memcpy(stride, s->m.stride, sizeof(int64_t) * (size_t)(n - 1));
  stride[n - 1] = 1;
  DT_TRYG(c->cx, op_restride(c->cx, s, n, shape, stride, 0, &sv));
  DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_mul, t, NULL, vh, sv, w));
  if (dt_dtype_is_complex(t)) {
    DT_TRYG(c->cx, dt_k_unary(c->cx, DT_U_conj_physical, t, NULL, w, w));
    DT_TRYG(c->cx, dt_k_unary(c->cx, DT_U_conj_physical, t, NULL, u, u));
  }
  flip_view(w);
  flip_view(u);
  DT_TRYG(c->cx, batch_product(c, w, u, r));
  DT_TRYG(c->cx, dt_k_copy(c->cx, r, c->out[0]));
done:
  dt_tensor_unref(c->cx, whole);
  dt_tensor_unref(c->cx, u);
  dt_tensor_unref(c->cx, s);
  dt_tensor_unref(c->cx, vh);
  dt_tensor_unref(c->cx, w);
  dt_tensor_unref(c->cx, r);
  dt_tensor_unref(c->cx, sv);
  return st;
}

/* ---- cross product ---- */

/* t broadcast to `like`, one component of dim d; on the stack. */
static DtTensor component (const DtTensor *t, const DtMeta *like, int d,
                           int64_t i) {
  DtTensor v = *t;
  int lack = like->ndim - t->m.ndim, n = 0;
  for (int k = 0; k < like->ndim; k++) {
    int64_t size = k < lack ? 1 : t->m.shape[k - lack];
    int64_t step = k < lack || size != like->shape[k] ? 0
                   : t->m.stride[k - lack];
    if (k == d) {
      v.offset += i * step;
      continue;
    }
    v.m.shape[n] = like->shape[k];
    v.m.stride[n++] = step;
  }
  v.m.ndim = (uint8_t)n;
  return v;
}

DtStatus op_k_la_cross (DtKernelCall *c) {
  DtTensor *out = c->out[0], *t = NULL;
  DtDtype type = (DtDtype)out->m.dtype;
  DtScalar one = dt_scalar_int(1);
  int d;
  DtStatus st = DT_OK;
  DT_CHECK(c->cx, type != DT_BOOL, DT_E_NOTIMPL,
           "\"cross\" not implemented for 'Bool'");
  DT_TRY(c->cx, dt_meta_wrap_dim(c->cx, dt_arg_int(c->args, 2), out->m.ndim,
                                 &d));
  for (int64_t i = 0; i < 3; i++) {
    int64_t j = (i + 1) % 3, k = (i + 2) % 3;
    DtTensor aj = component(c->in[0], &out->m, d, j);
    DtTensor ak = component(c->in[0], &out->m, d, k);
    DtTensor bj = component(c->in[1], &out->m, d, j);
    DtTensor bk = component(c->in[1], &out->m, d, k);
    DtTensor o = component(out, &out->m, d, i);
    if (t == NULL)
      DT_TRYG(c->cx, op_temp(c->cx, type, o.m.ndim, o.m.shape, &t));
    DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_mul, type, NULL, &ak, &bj, t));
    DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_mul, type, NULL, &aj, &bk, &o));
    DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_sub, type, &one, &o, t, &o));
  }
done:
  dt_tensor_unref(c->cx, t);
  return st;
}

/* ---- sums of powers of magnitudes ---- */

DtStatus op_k_la_powsum (DtKernelCall *c) {
  DtTensor *a = c->in[0], *out = c->out[0], *t = NULL;
  DtDtype type = (DtDtype)out->m.dtype;
  DtScalar p = dt_scalar_float(dt_arg_float(c->args, 1));
  uint32_t mask;
  DtStatus st = DT_OK;
  DtDtype from = (DtDtype)a->m.dtype;
  bool whole = dt_dtype_is_integral(from, true);
  DT_CHECK(c->cx, !whole && dt_dtype_size(from) > 1, DT_E_NOTIMPL,
           "\"powsum_cpu\" not implemented for '%s'",
           op_dtype_word(whole ? DT_I64 : from));
  DT_TRY(c->cx, op_dims(c->cx, c->args, 2, a->m.ndim, true, &mask));
  DtDtype wide = dt_dtype_acc(type) == DT_F64 ? DT_F64 : DT_F32;
  DT_TRYG(c->cx, op_temp(c->cx, wide, a->m.ndim, a->m.shape, &t));
  DT_TRYG(c->cx, dt_k_unary(c->cx, DT_U_abs, dt_dtype_is_complex(from)
                              ? dt_dtype_to_complex(wide) : wide, NULL, a, t));
  DT_TRYG(c->cx, dt_k_unary(c->cx, DT_U_pow_scalar, wide, &p, t, t));
  DT_TRYG(c->cx, dt_k_reduce(c->cx, DT_RED_SUM, NULL, t, mask, out));
done:
  dt_tensor_unref(c->cx, t);
  return st;
}
