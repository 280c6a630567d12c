/* SPDX-License-Identifier: MIT
** kernel/linalg_solve.c: linear systems from factors, triangular systems,
** least squares, the matrix exponential.
**
** The right-hand side is copied into scratch of the output's batch, solved in
** place and stored; factors broadcast to that batch the same way. */

#include "kernel/linalg_int.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static int64_t rows_of (const DtTensor *t) {
  return t->m.shape[t->m.ndim - 2];
}
static int64_t cols_of (const DtTensor *t) {
  return t->m.shape[t->m.ndim - 1];
}

/* Factors broadcast to the batch of `like`. */
static DtStatus factor (DtCtx *cx, DtMats *m, const DtMeta *like, int drop,
                        const DtTensor *a) {
  DtDtype d = (DtDtype)a->m.dtype;
  DT_CHECK(cx, d == DT_F32 || d == DT_F64 || d == DT_C64 || d == DT_C128,
           DT_E_DTYPE, "Expected a floating point or complex tensor as input. "
           "Got %s", dt_dtype_word(d));
  return dt_mats_init(cx, m, like, drop, rows_of(a), cols_of(a),
                      (DtDtype)a->m.dtype, a, false);
}
/* LAPACK follows pivots without looking: wrong ones would swap rows outside
** of the matrix.  A negative one (`blocks`) stands for half of a block of two
** rows. */
static bool blocks_fit (const int *v, int n) {
  int k, run = 0;
  for (k = 0; k < n; k++) {
    if (v[k] == 0 || v[k] > n || v[k] < -n) return false;
    if (v[k] < 0) run++;
    else if (run % 2 != 0) return false;
    else run = 0;
  }
  return run % 2 == 0;
}
static DtStatus pivots_in (DtCtx *cx, const int *v, int n) {
  for (int k = 0; k < n; k++) {
    DT_CHECK(cx, v[k] >= 1, DT_E_RUNTIME, "Pivots given to lu_solve must all "
             "be greater or equal to 1. Did you properly pass the result of "
             "lu_factor?");
    DT_CHECK(cx, v[k] <= n, DT_E_RUNTIME, "Pivots given to lu_solve must all "
             "be smaller or equal to LU.size(-2). Did you properly pass the "
             "result of lu_factor?");
  }
  return DT_OK;
}
/* As ldl_factor gives them; LAPACK would read beyond a matrix by others. */
static DtStatus blocks_in (DtCtx *cx, const int *v, int n) {
  for (int k = 0; k < n; k++)
    DT_CHECK(cx, v[k] != 0, DT_E_RUNTIME, "Pivots given to ldl_solve must all "
             "satisfy |pivot| >= 1. Did you properly pass the result of "
             "ldl_factor?");
  DT_CHECK(cx, blocks_fit(v, n), DT_E_VALUE, "pivots must be row numbers from "
           "1 to %d; are they the ones that came with the factors?", n);
  return DT_OK;
}
static DtStatus pivots_of (DtCtx *cx, DtMats *m, const DtMeta *like, int drop,
                           const DtTensor *p, bool blocks) {
  DT_TRY(cx, dt_mats_init(cx, m, like, drop, cols_of(p), 1, DT_I32, p, true));
  for (int64_t i = 0; i < m->n && m->step > 0; i++)
    if (!blocks)
      DT_TRY(cx, pivots_in(cx, (const int *)dt_mats_at(m, i), m->rows));
    else
      DT_TRY(cx, blocks_in(cx, (const int *)dt_mats_at(m, i), m->rows));
  return DT_OK;
}

DtStatus dt_k_cholesky_solve (DtCtx *cx, const DtTensor *b, const DtTensor *a,
                              bool upper, DtTensor *out) {
  const DtLapack *lp = dt_lapack_of((DtDtype)a->m.dtype);
  DtMats m = {0}, x = {0};
  DtStatus st = DT_OK;
  int info;
  DT_TRYG(cx, factor(cx, &m, &out->m, 2, a));
  DT_TRYG(cx, factor(cx, &x, &out->m, 2, b));
  for (int64_t i = 0; i < x.n && x.step > 0; i++)
    lp->potrs(upper, m.rows, x.cols, dt_mats_at(&m, i), dt_mats_at(&x, i),
              &info);
  DT_TRYG(cx, dt_mats_store(cx, &x, out));
done:
  dt_mats_fini(cx, &m);
  dt_mats_fini(cx, &x);
  return st;
}

/* Transposed (conjugated: a real matrix is its own conjugate) in place into
** other scratch. */
static DtStatus transposed (DtCtx *cx, const DtMats *m, const DtMeta *like,
                            int drop, bool conjugate, DtMats *out) {
  DtTensor v = dt_stack_view(m->t);
  int n = v.m.ndim;
  int64_t s = v.m.shape[n - 1];
  v.m.shape[n - 1] = v.m.shape[n - 2];
  v.m.shape[n - 2] = s;
  s = v.m.stride[n - 1];
  v.m.stride[n - 1] = v.m.stride[n - 2];
  v.m.stride[n - 2] = s;
  DT_TRY(cx, dt_mats_init(cx, out, like, drop, m->cols, m->rows,
                          (DtDtype)m->t->m.dtype, &v, false));
  size_t count = (size_t)out->n * out->step;
  if (!conjugate || out->data == NULL) return DT_OK;
  if (m->t->m.dtype == DT_C64)
    for (size_t i = 0; i < count / sizeof(float complex); i++)
      ((float complex *)(void *)out->data)[i] =
        conjf(((float complex *)(void *)out->data)[i]);
  else if (m->t->m.dtype == DT_C128)
    for (size_t i = 0; i < count / sizeof(double complex); i++)
      ((double complex *)(void *)out->data)[i] =
        conj(((double complex *)(void *)out->data)[i]);
  return DT_OK;
}

DtStatus dt_k_lu_solve (DtCtx *cx, const DtTensor *lu, const DtTensor *pivots,
                        const DtTensor *b, bool left, bool adjoint,
                        bool vectors, DtTensor *out) {
  const DtLapack *lp = dt_lapack_of((DtDtype)lu->m.dtype);
  bool cplx = dt_dtype_is_complex((DtDtype)lu->m.dtype);
  int drop = vectors ? 1 : 2, info;
  char trans = left == adjoint ? cplx ? 'C' : 'T' : 'N';
  DtMats m = {0}, p = {0}, x = {0}, y = {0};
  DtStatus st = DT_OK;
  DT_TRYG(cx, factor(cx, &m, &out->m, drop, lu));
  DT_TRYG(cx, pivots_of(cx, &p, &out->m, drop, pivots, false));
  DT_TRYG(cx, dt_mats_init(cx, &x, &out->m, drop,
                           vectors ? cols_of(b) : rows_of(b),
                           vectors ? 1 : cols_of(b), (DtDtype)lu->m.dtype, b,
                           vectors));
  DT_CHECKG(cx, p.rows == m.rows && p.n == m.n && x.n == m.n &&
            m.rows == (left ? x.rows : x.cols), DT_E_RUNTIME,
            "linalg.lu_solve: LU, pivots and B do not fit");
  /* X A = B is A^H X^H = B^H. */
  if (!left) DT_TRYG(cx, transposed(cx, &x, &out->m, drop, true, &y));
  DtMats *w = left ? &x : &y;
  for (int64_t i = 0; i < w->n && w->step > 0; i++)
    lp->getrs(trans, m.rows, w->cols, dt_mats_at(&m, i), dt_mats_at(&p, i),
              dt_mats_at(w, i), &info);
  if (!left) {
    dt_mats_fini(cx, &x);
    DT_TRYG(cx, transposed(cx, &y, &out->m, drop, true, &x));
  }
  DT_TRYG(cx, dt_mats_store(cx, &x, out));
done:
  dt_mats_fini(cx, &m);
  dt_mats_fini(cx, &p);
  dt_mats_fini(cx, &x);
  dt_mats_fini(cx, &y);
  return st;
}

DtStatus dt_k_ldl_solve (DtCtx *cx, const DtTensor *ld, const DtTensor *pivots,
                         const DtTensor *b, bool hermitian, DtTensor *out) {
  const DtLapack *lp = dt_lapack_of((DtDtype)ld->m.dtype);
  DtMats m = {0}, p = {0}, x = {0};
  DtStatus st = DT_OK;
  int info;
  DT_TRYG(cx, factor(cx, &m, &out->m, 2, ld));
  DT_TRYG(cx, pivots_of(cx, &p, &out->m, 2, pivots, true));
  DT_TRYG(cx, factor(cx, &x, &out->m, 2, b));
  DT_CHECKG(cx, b->m.dtype == ld->m.dtype && p.rows == m.rows &&
            p.n == m.n && x.n == m.n && x.rows == m.rows, DT_E_RUNTIME,
            "torch.linalg.ldl_solve: LD, pivots and B do not fit");
  for (int64_t i = 0; i < x.n && x.step > 0; i++)
    lp->sytrs(hermitian, m.rows, x.cols, dt_mats_at(&m, i), dt_mats_at(&p, i),
              dt_mats_at(&x, i), &info);
  DT_TRYG(cx, dt_mats_store(cx, &x, out));
done:
  dt_mats_fini(cx, &m);
  dt_mats_fini(cx, &p);
  dt_mats_fini(cx, &x);
  return st;
}

DtStatus dt_k_solve_triangular (DtCtx *cx, const DtTensor *a,
                                const DtTensor *b, bool upper, bool left,
                                char trans, bool unit, DtTensor *out) {
  const DtLapack *lp = dt_lapack_of((DtDtype)a->m.dtype);
  DtMats m = {0}, x = {0};
  DtStatus st = DT_OK;
  DT_TRYG(cx, factor(cx, &m, &out->m, 2, a));
  DT_TRYG(cx, factor(cx, &x, &out->m, 2, b));
  for (int64_t i = 0; i < x.n && x.step > 0; i++)
    lp->trsm(left, upper, trans, unit, x.rows, x.cols, dt_mats_at(&m, i),
             m.rows, dt_mats_at(&x, i));
  DT_TRYG(cx, dt_mats_store(cx, &x, out));
done:
  dt_mats_fini(cx, &m);
  dt_mats_fini(cx, &x);
  return st;
}

/* ---- matrix exponential ---- */

/* Largest column sum of absolute values. */
static double norm_1 (const DtMats *m, int64_t i) {
  bool cplx = m->t->m.dtype == DT_C128;
  double best = 0;
  for (int c = 0; c < m->cols; c++) {
    double s = 0;
    for (int r = 0; r < m->rows; r++) {
      size_t k = (size_t)r + (size_t)c * (size_t)m->rows;
      s += cplx ? cabs(((double complex *)dt_mats_at(m, i))[k])
                : fabs(((double *)dt_mats_at(m, i))[k]);
    }
    if (!(s <= best)) best = s;         /* NaN wins */
  }
  return best;
}

/* One matrix of a batch as a tensor on the stack. */
static DtTensor one (const DtMats *m, int64_t i) {
  DtTensor v = dt_stack_view(m->t);
  int n = v.m.ndim;
  v.offset += i * m->rows * m->cols;
  for (int k = 0; k < 2; k++) {
    v.m.shape[k] = v.m.shape[n - 2 + k];
    v.m.stride[k] = v.m.stride[n - 2 + k];
  }
  v.m.ndim = 2;
  return v;
}

/* exp(A) = (sum over k of (A/2^s)^k / k!)^(2^s): the series to degree 18 by
** Horner's rule, exact to double precision below norm 1/2, then squared. */
enum { EXP_DEGREE = 18 };

static DtStatus exp_one (DtCtx *cx, const DtMats *a, const DtMats *x,
                         const DtMats *y, const DtMats *eye, int64_t i) {
  double norm = norm_1(a, i);
  int s = 0;
  DtTensor ta = one(a, i), tx = one(x, i), ty = one(y, i), id = one(eye, 0);
  DtTensor *from = &tx, *to = &ty, *t;
  if (norm > 0.5 && isfinite(norm)) (void)frexp(norm * 2, &s);
  double scale = ldexp(1, -s);
  DT_TRY(cx, dt_k_copy(cx, &id, from));
  for (int k = EXP_DEGREE; k > 0; k--) {
    DT_TRY(cx, dt_k_copy(cx, &id, to));
    DT_TRY(cx, dt_k_gemm(cx, scale / k, &ta, from, 1, to));
    t = from;
    from = to;
    to = t;
  }
  for (int k = 0; k < s; k++) {
    DT_TRY(cx, dt_k_gemm(cx, 1, from, from, 0, to));
    t = from;
    from = to;
    to = t;
  }
  return from == &tx ? DT_OK : dt_k_copy(cx, from, &tx);
}

/* In double whatever the dtype: the terms of the series cancel. */
DtStatus dt_k_matrix_exp (DtCtx *cx, const DtTensor *a, DtTensor *out) {
  DtDtype type = dt_dtype_is_complex((DtDtype)a->m.dtype) ? DT_C128 : DT_F64;
  int64_t n = rows_of(a);
  DtMeta single;
  DtMats m = {0}, x = {0}, y = {0}, eye = {0};
  DtStatus st = DT_OK;
  DT_TRYG(cx, dt_meta_init(cx, &single, type, 0, NULL));
  DT_TRYG(cx, dt_mats_init(cx, &m, &a->m, 2, n, n, type, a, false));
  DT_TRYG(cx, dt_mats_init(cx, &x, &a->m, 2, n, n, type, NULL, false));
  DT_TRYG(cx, dt_mats_init(cx, &y, &a->m, 2, n, n, type, NULL, false));
  DT_TRYG(cx, dt_mats_init(cx, &eye, &single, 0, n, n, type, NULL, false));
  if (n > 0) dt_mats_eye(&eye);
  for (int64_t i = 0; i < m.n && n > 0; i++)
    DT_TRYG(cx, exp_one(cx, &m, &x, &y, &eye, i));
  DT_TRYG(cx, dt_mats_store(cx, &x, out));
done:
  dt_mats_fini(cx, &m);
  dt_mats_fini(cx, &x);
  dt_mats_fini(cx, &y);
  dt_mats_fini(cx, &eye);
  return st;
}
