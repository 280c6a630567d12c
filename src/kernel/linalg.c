/* SPDX-License-Identifier: MIT
** kernel/linalg.c: factorisations of batches of matrices, and what is read
** off them.  Solvers are in linalg_solve.c, spectra in linalg_eigen.c.
**
** Each function: scratch, one loop over the batch, stores.  LAPACK's numbers
** are kept as they come, pivots and signs included. */

#include "kernel/linalg_int.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- batches of column-major matrices ---- */

DtStatus dt_mats_init (DtCtx *cx, DtMats *m, const DtMeta *like, int drop,
                       int64_t rows, int64_t cols, DtDtype dtype,
                       const DtTensor *src, bool vector) {
  int64_t shape[DT_MAX_NDIM];
  DtMeta meta;
  int nb = like->ndim - drop;
  m->t = NULL;
  DT_CHECK(cx, rows <= INT_MAX && cols <= INT_MAX, DT_E_LIMIT,
           "a matrix side is larger than %d", INT_MAX);
  DT_CHECK(cx, nb >= 0 && nb + 2 <= DT_MAX_NDIM, DT_E_LIMIT,
           "at most %d dimensions", DT_MAX_NDIM);
  m->n = 1;
  for (int i = 0; i < nb; i++) {
    shape[i] = like->shape[i];
    m->n *= shape[i];
  }
  shape[nb] = rows;
  shape[nb + 1] = cols;
  DT_TRY(cx, dt_meta_init(cx, &meta, dtype, nb + 2, shape));
  meta.stride[nb] = 1;
  meta.stride[nb + 1] = rows > 1 ? rows : 1;
  m->rows = (int)rows;
  m->cols = (int)cols;
  m->step = (size_t)(rows * cols) * (size_t)dt_dtype_size(dtype);
  DT_TRY(cx, dt_tensor_new(cx, &meta, false, &m->t));
  DtStatus st = DT_OK;
  if (src != NULL) {
    DtTensor v = dt_stack_view(src);
    if (vector) {
      v.m.shape[v.m.ndim] = 1;
      v.m.stride[v.m.ndim++] = 1;
    }
    DT_TRYG(cx, dt_k_copy(cx, &v, m->t));
  }
  void *data = NULL;
  if (m->step > 0 && m->n > 0) DT_TRYG(cx, dt_tensor_data(cx, m->t, &data));
  m->data = data;
  if (src == NULL && data != NULL) memset(data, 0, m->step * (size_t)m->n);
done:
  if (st != DT_OK) dt_mats_fini(cx, m);
  return st;
}

DtStatus dt_mats_copy (DtCtx *cx, DtMats *m, const DtTensor *t) {
  int n = t->m.ndim;
  DtDtype d = (DtDtype)t->m.dtype;
  DT_CHECK(cx, n >= 2, DT_E_SHAPE,
           "The input tensor A must have at least 2 dimensions.");
  DT_CHECK(cx, d == DT_F32 || d == DT_F64 || d == DT_C64 || d == DT_C128,
           DT_E_DTYPE, "Expected a floating point or complex tensor as input. "
           "Got %s", dt_dtype_word(d));
  return dt_mats_init(cx, m, &t->m, 2, t->m.shape[n - 2], t->m.shape[n - 1],
                      (DtDtype)t->m.dtype, t, false);
}

DtStatus dt_mats_store (DtCtx *cx, const DtMats *m, DtTensor *out) {
  if (out == NULL || dt_meta_numel(&out->m) != dt_meta_numel(&m->t->m))
    return DT_OK;
  DtTensor v = dt_stack_view(m->t);
  v.m.ndim = out->m.ndim;       /* trailing dims of size 1 dropped */
  return dt_k_copy(cx, &v, out);
}

void dt_mats_fini (DtCtx *cx, DtMats *m) {
  dt_tensor_unref(cx, m->t);
  m->t = NULL;
}

static void put_at (const DtMats *m, int64_t i, int r, int c, double v) {
  size_t k = (size_t)r + (size_t)c * (size_t)m->rows;
  switch ((DtDtype)m->t->m.dtype) {
    case DT_F32: ((float *)dt_mats_at(m, i))[k] = (float)v; break;
    case DT_F64: ((double *)dt_mats_at(m, i))[k] = v; break;
    case DT_C64: ((float complex *)dt_mats_at(m, i))[k] = (float)v; break;
    default: ((double complex *)dt_mats_at(m, i))[k] = v; break;
  }
}

void dt_mats_triangle (DtMats *m, bool upper, bool unit) {
  for (int64_t i = 0; i < m->n; i++)
    for (int c = 0; c < m->cols; c++)
      for (int r = 0; r < m->rows; r++) {
        if (upper ? r > c : r < c) put_at(m, i, r, c, 0);
        else if (unit && r == c) put_at(m, i, r, c, 1);
      }
}

void dt_mats_eye (DtMats *m) {
  for (int64_t i = 0; i < m->n; i++)
    for (int c = 0; c < m->cols; c++)
      for (int r = 0; r < m->rows; r++) put_at(m, i, r, c, r == c);
}

/* One LAPACK report per matrix, as a batch of 1 x 1. */
static DtStatus info_init (DtCtx *cx, DtMats *m, const DtMeta *like) {
  return dt_mats_init(cx, m, like, 2, 1, 1, DT_I32, NULL, false);
}
static int *int_at (const DtMats *m, int64_t i) { return dt_mats_at(m, i); }

static int64_t rows_of (const DtTensor *t) {
  return t->m.shape[t->m.ndim - 2];
}
static int64_t cols_of (const DtTensor *t) {
  return t->m.ndim > 0 ? t->m.shape[t->m.ndim - 1] : 1;
}

/* ---- Cholesky ---- */

DtStatus dt_k_cholesky (DtCtx *cx, const DtTensor *a, bool upper,
                        DtTensor *out, DtTensor *info) {
  const DtLapack *lp = dt_lapack_of((DtDtype)a->m.dtype);
  DtMats m = {0}, f = {0};
  DtStatus st = DT_OK;
  DT_TRYG(cx, dt_mats_copy(cx, &m, a));
  DT_TRYG(cx, info_init(cx, &f, &a->m));
  for (int64_t i = 0; i < m.n; i++)
    if (m.rows > 0)
      lp->potrf(upper, m.rows, dt_mats_at(&m, i), int_at(&f, i));
  dt_mats_triangle(&m, upper, false);
  DT_TRYG(cx, dt_mats_store(cx, &m, out));
  DT_TRYG(cx, dt_mats_store(cx, &f, info));
done:
  dt_mats_fini(cx, &m);
  dt_mats_fini(cx, &f);
  return st;
}

/* The other triangle from the written one, conjugated. */
static void mirror (DtMats *m, bool upper) {
  size_t n = (size_t)m->rows;
  for (int64_t i = 0; i < m->n; i++)
    for (size_t c = 0; c < n; c++)
      for (size_t r = 0; r < c; r++) {
        size_t from = upper ? r + c * n : c + r * n;
        size_t to = upper ? c + r * n : r + c * n;
        void *p = dt_mats_at(m, i);
        switch ((DtDtype)m->t->m.dtype) {
          case DT_F32: ((float *)p)[to] = ((float *)p)[from]; break;
          case DT_F64: ((double *)p)[to] = ((double *)p)[from]; break;
          case DT_C64:
            ((float complex *)p)[to] = conjf(((float complex *)p)[from]);
            break;
          default:
            ((double complex *)p)[to] = conj(((double complex *)p)[from]);
        }
      }
}

DtStatus dt_k_cholesky_inverse (DtCtx *cx, const DtTensor *a, bool upper,
                                DtTensor *out) {
  const DtLapack *lp = dt_lapack_of((DtDtype)a->m.dtype);
  DtMats m = {0};
  DtStatus st = DT_OK;
  int info = 0;
  DT_TRYG(cx, dt_mats_copy(cx, &m, a));
  for (int64_t i = 0; i < m.n; i++) {
    if (m.rows > 0) lp->potri(upper, m.rows, dt_mats_at(&m, i), &info);
    if (info != 0) {
      st = dt_raise_as(cx, DT_E_RUNTIME, "_LinAlgError", "cholesky_inverse: The "
                       "diagonal element %d is zero, the inversion could not be "
                       "completed because the input matrix is singular.", info);
      goto done;
    }
  }
  mirror(&m, upper);
  DT_TRYG(cx, dt_mats_store(cx, &m, out));
done:
  dt_mats_fini(cx, &m);
  return st;
}

/* ---- QR ---- */

DtStatus dt_k_geqrf (DtCtx *cx, const DtTensor *a, DtTensor *qr,
                     DtTensor *tau) {
  const DtLapack *lp = dt_lapack_of((DtDtype)a->m.dtype);
  DtMats m = {0}, t = {0};
  DtStatus st = DT_OK;
  DT_TRYG(cx, dt_mats_copy(cx, &m, a));
  DT_TRYG(cx, dt_mats_init(cx, &t, &tau->m, 1, cols_of(tau), 1,
                           (DtDtype)a->m.dtype, NULL, false));
  for (int64_t i = 0; i < m.n; i++)
    if (m.step > 0)
      DT_TRYG(cx, lp->geqrf(cx, m.rows, m.cols, dt_mats_at(&m, i),
                            dt_mats_at(&t, i)));
  DT_TRYG(cx, dt_mats_store(cx, &m, qr));
  DT_TRYG(cx, dt_mats_store(cx, &t, tau));
done:
  dt_mats_fini(cx, &m);
  dt_mats_fini(cx, &t);
  return st;
}

static DtStatus householder_check (DtCtx *cx, const DtMeta *a,
                                   const DtMeta *tau) {
  static const char *const fn = "torch.linalg.householder_product";
  int n = a->ndim, k = tau->ndim;
  DT_CHECK(cx, n >= 2, DT_E_RUNTIME,
           "%s: input must have at least 2 dimensions.", fn);
  DT_CHECK(cx, a->shape[n - 2] >= a->shape[n - 1], DT_E_RUNTIME,
           "%s: input.shape[-2] must be greater than or equal to "
           "input.shape[-1]", fn);
  DT_CHECK(cx, k > 0, DT_E_INDEX,
           "Dimension specified as -1 but tensor has no dimensions");
  DT_CHECK(cx, a->shape[n - 1] >= tau->shape[k - 1], DT_E_RUNTIME,
           "%s: input.shape[-1] must be greater than or equal to "
           "tau.shape[-1]", fn);
  DT_CHECK(cx, k == n - 1, DT_E_RUNTIME, "%s: Expected tau to have one "
           "dimension less than input, but got tau.ndim equal to %d and "
           "input.ndim is equal to %d", fn, k, n);
  return DT_OK;
}

DtStatus dt_k_householder (DtCtx *cx, const DtTensor *a, const DtTensor *tau,
                           DtTensor *out) {
  const DtLapack *lp = dt_lapack_of((DtDtype)a->m.dtype);
  DtMats m = {0}, t = {0};
  DtStatus st = DT_OK;
  DT_TRY(cx, householder_check(cx, &a->m, &tau->m));
  DT_TRYG(cx, dt_mats_copy(cx, &m, a));
  DT_TRYG(cx, dt_mats_init(cx, &t, &tau->m, 1, cols_of(tau), 1,
                           (DtDtype)a->m.dtype, tau, true));
  DT_CHECKG(cx, t.n == m.n, DT_E_RUNTIME, "torch.linalg.householder_product: "
            "input and tau do not fit");
  if (t.rows == 0) dt_mats_eye(&m);
  else
    for (int64_t i = 0; i < m.n && m.step > 0; i++)
      DT_TRYG(cx, lp->orgqr(cx, m.rows, m.cols, t.rows, dt_mats_at(&m, i),
                            dt_mats_at(&t, i)));
  DT_TRYG(cx, dt_mats_store(cx, &m, out));
done:
  dt_mats_fini(cx, &m);
  dt_mats_fini(cx, &t);
  return st;
}

DtStatus dt_k_ormqr (DtCtx *cx, const DtTensor *a, const DtTensor *tau,
                     const DtTensor *c, bool left, bool ct, DtTensor *out) {
  const DtLapack *lp = dt_lapack_of((DtDtype)a->m.dtype);
  DtMats m = {0}, t = {0}, x = {0};
  DtStatus st = DT_OK;
  DT_TRYG(cx, dt_mats_copy(cx, &m, a));
  DT_TRYG(cx, dt_mats_copy(cx, &x, c));
  DT_CHECKG(cx, tau->m.ndim >= 1 && a->m.dtype == c->m.dtype, DT_E_RUNTIME,
            "torch.ormqr: input, tau and other do not fit");
  DT_TRYG(cx, dt_mats_init(cx, &t, &tau->m, 1, cols_of(tau), 1,
                           (DtDtype)a->m.dtype, tau, true));
  DT_CHECKG(cx, m.n == x.n && t.n == x.n && t.rows <= m.cols &&
            t.rows <= m.rows && m.rows == (left ? x.rows : x.cols),
            DT_E_RUNTIME, "torch.ormqr: input, tau and other do not fit");
  for (int64_t i = 0; i < x.n; i++)
    if (x.step > 0 && t.rows > 0)
      DT_TRYG(cx, lp->ormqr(cx, left, ct, x.rows, x.cols, t.rows,
                            dt_mats_at(&m, i), dt_mats_at(&t, i),
                            dt_mats_at(&x, i)));
  DT_TRYG(cx, dt_mats_store(cx, &x, out));
done:
  dt_mats_fini(cx, &m);
  dt_mats_fini(cx, &t);
  dt_mats_fini(cx, &x);
  return st;
}

/* First columns of src into dst, matrix by matrix. */
static void first_columns (const DtMats *src, const DtMats *dst) {
  size_t n = src->step < dst->step ? src->step : dst->step;
  for (int64_t i = 0; i < src->n && n > 0; i++)
    memcpy(dt_mats_at(dst, i), dt_mats_at(src, i), n);
}
/* First rows of src into dst, which has as many columns. */
static void first_rows (const DtMats *src, const DtMats *dst) {
  size_t size = (size_t)dt_dtype_size((DtDtype)src->t->m.dtype);
  size_t from = (size_t)src->rows * size, to = (size_t)dst->rows * size;
  size_t n = from < to ? from : to;
  for (int64_t i = 0; i < src->n && n > 0; i++)
    for (int c = 0; c < dst->cols; c++)
      memcpy((char *)dt_mats_at(dst, i) + (size_t)c * to,
             (char *)dt_mats_at(src, i) + (size_t)c * from, n);
}

DtStatus dt_k_qr (DtCtx *cx, const DtTensor *a, DtTensor *q, DtTensor *r) {
  const DtLapack *lp = dt_lapack_of((DtDtype)a->m.dtype);
  DtDtype type = (DtDtype)a->m.dtype;
  int64_t m = rows_of(a), n = cols_of(a), k = m < n ? m : n;
  bool want_q = q->m.ndim == a->m.ndim;
  DtMats w = {0}, t = {0}, mq = {0}, mr = {0};
  DtStatus st = DT_OK;
  DT_TRYG(cx, dt_mats_copy(cx, &w, a));
  DT_TRYG(cx, dt_mats_init(cx, &t, &a->m, 2, k, 1, type, NULL, false));
  DT_TRYG(cx, dt_mats_init(cx, &mr, &a->m, 2, rows_of(r), n, type, NULL,
                           false));
  for (int64_t i = 0; i < w.n && w.step > 0; i++)
    DT_TRYG(cx, lp->geqrf(cx, w.rows, w.cols, dt_mats_at(&w, i),
                          dt_mats_at(&t, i)));
  first_rows(&w, &mr);
  dt_mats_triangle(&mr, true, false);
  DT_TRYG(cx, dt_mats_store(cx, &mr, r));
  if (want_q) {
    DT_TRYG(cx, dt_mats_init(cx, &mq, &a->m, 2, m, cols_of(q), type, NULL,
                             false));
    first_columns(&w, &mq);
    if (k == 0) dt_mats_eye(&mq);
    for (int64_t i = 0; i < mq.n && k > 0; i++)
      DT_TRYG(cx, lp->orgqr(cx, mq.rows, mq.cols, (int)k, dt_mats_at(&mq, i),
                            dt_mats_at(&t, i)));
    DT_TRYG(cx, dt_mats_store(cx, &mq, q));
  }
done:
  dt_mats_fini(cx, &w);
  dt_mats_fini(cx, &t);
  dt_mats_fini(cx, &mq);
  dt_mats_fini(cx, &mr);
  return st;
}

/* ---- LU ---- */

DtStatus dt_k_lu (DtCtx *cx, const DtTensor *a, bool transposed, DtTensor *lu,
                  DtTensor *pivots, DtTensor *info) {
  const DtLapack *lp = dt_lapack_of((DtDtype)a->m.dtype);
  DtTensor v = dt_stack_view(a);
  DtMats m = {0}, p = {0}, f = {0};
  int n = v.m.ndim;
  DtStatus st = DT_OK;
  if (transposed) {
    int64_t s = v.m.stride[n - 1];
    v.m.stride[n - 1] = v.m.stride[n - 2];
    v.m.stride[n - 2] = s;
    s = v.m.shape[n - 1];
    v.m.shape[n - 1] = v.m.shape[n - 2];
    v.m.shape[n - 2] = s;
  }
  int64_t k = rows_of(&v) < cols_of(&v) ? rows_of(&v) : cols_of(&v);
  DT_TRYG(cx, dt_mats_copy(cx, &m, &v));
  DT_TRYG(cx, dt_mats_init(cx, &p, &v.m, 2, k, 1, DT_I32, NULL, false));
  DT_TRYG(cx, info_init(cx, &f, &v.m));
  for (int64_t i = 0; i < m.n && m.step > 0; i++)
    lp->getrf(m.rows, m.cols, dt_mats_at(&m, i), int_at(&p, i),
              int_at(&f, i));
  DT_TRYG(cx, dt_mats_store(cx, &m, lu));
  DT_TRYG(cx, dt_mats_store(cx, &p, pivots));
  DT_TRYG(cx, dt_mats_store(cx, &f, info));
done:
  dt_mats_fini(cx, &m);
  dt_mats_fini(cx, &p);
  dt_mats_fini(cx, &f);
  return st;
}

/* A permutation matrix from LAPACK's row exchanges: A = P L U. */
static DtStatus permutation (DtCtx *cx, const DtMats *pivots, DtMats *p) {
  int n = p->rows;
  int *perm = dt_alloc(cx, sizeof(int) * ((size_t)n + 1));
  DtStatus st = DT_OK;
  if (perm == NULL) return DT_E_NOMEM;
  for (int64_t i = 0; i < p->n; i++) {
    const int *v = int_at(pivots, pivots->n == 1 ? 0 : i);
    for (int r = 0; r < n; r++) perm[r] = r;
    for (int r = 0; r < pivots->rows; r++) {
      int with = v[r] - 1, t = perm[r];
      DT_CHECKG(cx, with >= 0 && with < n, DT_E_RUNTIME, "pivots passed to "
                "lu_unpack must be between 1 and LU.size(-2) inclusive.Did "
                "you properly pass the result of lu_factor?");
      perm[r] = perm[with];
      perm[with] = t;
    }
    for (int r = 0; r < n; r++) put_at(p, i, perm[r], r, 1);
  }
done:
  dt_free(cx, perm);
  return st;
}

/* Types LAPACK does not know are unpacked as doubles. */
static DtDtype lapack_type (DtDtype t) {
  switch (t) {
    case DT_F32: case DT_F64: case DT_C64: case DT_C128: return t;
    default: return DT_F64;
  }
}

DtStatus dt_k_lu_unpack (DtCtx *cx, const DtTensor *lu, const DtTensor *pivots,
                         DtTensor *p, DtTensor *l, DtTensor *u) {
  DtDtype type = lapack_type((DtDtype)lu->m.dtype);
  int64_t m = rows_of(lu), n = cols_of(lu), k = m < n ? m : n;
  DtMats w = {0}, v = {0}, mp = {0}, ml = {0}, mu = {0};
  DtStatus st = DT_OK;
  DT_TRYG(cx, dt_mats_init(cx, &w, &lu->m, 2, m, n, type, lu, false));
  if (dt_meta_numel(&p->m) > 0) {
    DT_CHECKG(cx, pivots->m.ndim >= 1 && cols_of(pivots) == k, DT_E_RUNTIME,
              "torch.lu_unpack: LU_pivots must hold %lld numbers for each "
              "matrix", (long long)k);
    DT_TRYG(cx, dt_mats_init(cx, &v, &pivots->m, 1, k, 1, DT_I32, pivots,
                             true));
    DT_TRYG(cx, dt_mats_init(cx, &mp, &lu->m, 2, m, m, type, NULL, false));
    DT_CHECKG(cx, v.n == mp.n || v.n == 1, DT_E_RUNTIME, "torch.lu_unpack: "
              "LU_data and LU_pivots are batches of %lld and %lld",
              (long long)mp.n, (long long)v.n);
    DT_TRYG(cx, permutation(cx, &v, &mp));
    DT_TRYG(cx, dt_mats_store(cx, &mp, p));
  }
  DT_TRYG(cx, dt_mats_init(cx, &ml, &lu->m, 2, m, k, type, NULL, false));
  DT_TRYG(cx, dt_mats_init(cx, &mu, &lu->m, 2, k, n, type, NULL, false));
  first_columns(&w, &ml);
  first_rows(&w, &mu);
  dt_mats_triangle(&ml, false, true);
  dt_mats_triangle(&mu, true, false);
  DT_TRYG(cx, dt_mats_store(cx, &ml, l));
  DT_TRYG(cx, dt_mats_store(cx, &mu, u));
done:
  dt_mats_fini(cx, &w);
  dt_mats_fini(cx, &v);
  dt_mats_fini(cx, &mp);
  dt_mats_fini(cx, &ml);
  dt_mats_fini(cx, &mu);
  return st;
}

static double complex get_at (const DtMats *m, int64_t i, int r, int c) {
  size_t k = (size_t)r + (size_t)c * (size_t)m->rows;
  const void *p = dt_mats_at(m, i);
  switch ((DtDtype)m->t->m.dtype) {
    case DT_F32: return (double)((const float *)p)[k];
    case DT_F64: return ((const double *)p)[k];
    case DT_C64: return (double complex)((const float complex *)p)[k];
    default: return ((const double complex *)p)[k];
  }
}
static void put_c (const DtMats *m, int64_t i, double complex v) {
  void *p = dt_mats_at(m, i);
  switch ((DtDtype)m->t->m.dtype) {
    case DT_F32: *(float *)p = (float)creal(v); break;
    case DT_F64: *(double *)p = creal(v); break;
    case DT_C64: *(float complex *)p = (float complex)v; break;
    default: *(double complex *)p = v; break;
  }
}

DtStatus dt_k_lu_det (DtCtx *cx, const DtTensor *lu, const DtTensor *pivots,
                      DtTensor *det, DtTensor *sign, DtTensor *logabs) {
  DtDtype type = (DtDtype)lu->m.dtype;
  bool cplx = dt_dtype_is_complex(type);
  DtMats w = {0}, v = {0}, d = {0}, s = {0}, l = {0};
  DtStatus st = DT_OK;
  DT_TRYG(cx, dt_mats_copy(cx, &w, lu));
  DT_TRYG(cx, dt_mats_init(cx, &v, &pivots->m, 1, cols_of(pivots), 1, DT_I32,
                           pivots, true));
  DT_TRYG(cx, dt_mats_init(cx, &d, &lu->m, 2, 1, 1, type, NULL, false));
  DT_TRYG(cx, dt_mats_init(cx, &s, &lu->m, 2, 1, 1, type, NULL, false));
  DT_TRYG(cx, dt_mats_init(cx, &l, &lu->m, 2, 1, 1, dt_dtype_to_real(type),
                           NULL, false));
  for (int64_t i = 0; i < w.n; i++) {
    double complex prod = 1, sg = 1;
    double log_abs = 0;
    for (int r = 0; r < w.rows; r++) {
      double complex x = get_at(&w, i, r, r);
      double a = cplx ? cabs(x) : fabs(creal(x));
      bool flip = int_at(&v, i)[r] != r + 1;
      if (cplx) prod *= flip ? -x : x;
      else prod = creal(prod) * (flip ? -creal(x) : creal(x));
      sg = a == 0 ? 0 : cplx ? sg * (x / a)
           : creal(sg) * (creal(x) > 0 ? 1 : creal(x) < 0 ? -1 : creal(x));
      if (flip) sg = -sg;
      log_abs += log(a);
    }
    put_c(&d, i, prod);
    put_c(&s, i, sg);
    put_c(&l, i, log_abs);
  }
  DT_TRYG(cx, dt_mats_store(cx, &d, det));
  DT_TRYG(cx, dt_mats_store(cx, &s, sign));
  DT_TRYG(cx, dt_mats_store(cx, &l, logabs));
done:
  dt_mats_fini(cx, &w);
  dt_mats_fini(cx, &v);
  dt_mats_fini(cx, &d);
  dt_mats_fini(cx, &s);
  dt_mats_fini(cx, &l);
  return st;
}

/* ---- LDL ---- */

DtStatus dt_k_ldl (DtCtx *cx, const DtTensor *a, bool hermitian, DtTensor *ld,
                   DtTensor *pivots, DtTensor *info) {
  const DtLapack *lp = dt_lapack_of((DtDtype)a->m.dtype);
  DtMats m = {0}, p = {0}, f = {0};
  DtStatus st = DT_OK;
  DT_TRYG(cx, dt_mats_copy(cx, &m, a));
  DT_TRYG(cx, dt_mats_init(cx, &p, &a->m, 2, rows_of(a), 1, DT_I32, NULL,
                           false));
  DT_TRYG(cx, info_init(cx, &f, &a->m));
  dt_mats_triangle(&m, false, false);
  for (int64_t i = 0; i < m.n && m.step > 0; i++)
    DT_TRYG(cx, lp->sytrf(cx, hermitian, m.rows, dt_mats_at(&m, i),
                          int_at(&p, i), int_at(&f, i)));
  DT_TRYG(cx, dt_mats_store(cx, &m, ld));
  DT_TRYG(cx, dt_mats_store(cx, &p, pivots));
  DT_TRYG(cx, dt_mats_store(cx, &f, info));
done:
  dt_mats_fini(cx, &m);
  dt_mats_fini(cx, &p);
  dt_mats_fini(cx, &f);
  return st;
}
