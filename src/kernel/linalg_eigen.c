/* SPDX-License-Identifier: MIT
** kernel/linalg_eigen.c: eigenvalues and singular values of batches of
** matrices.
**
** Signs and phases of vectors are LAPACK's: they are not determined by the
** matrix, and another LAPACK may choose others. */

#include "kernel/linalg_int.h"

#include <string.h>

static DtDtype complex_of (DtDtype t) {
  return t == DT_F64 || t == DT_C128 ? DT_C128 : DT_C64;
}

DtStatus dt_k_eigh (DtCtx *cx, const DtTensor *a, bool upper, DtTensor *w,
                    DtTensor *v, DtTensor *info) {
  const DtLapack *lp = dt_lapack_of((DtDtype)a->m.dtype);
  bool vectors = v != NULL && v->m.ndim == a->m.ndim;
  DtMats m = {0}, e = {0}, f = {0};
  DtStatus st = DT_OK;
  DT_TRYG(cx, dt_mats_copy(cx, &m, a));
  DT_TRYG(cx, dt_mats_init(cx, &e, &a->m, 2, m.rows, 1,
                           dt_dtype_to_real((DtDtype)a->m.dtype), NULL,
                           false));
  DT_TRYG(cx, dt_mats_init(cx, &f, &a->m, 2, 1, 1, DT_I32, NULL, false));
  for (int64_t i = 0; i < m.n && m.step > 0; i++)
    DT_TRYG(cx, lp->eigh(cx, upper, vectors, m.rows, dt_mats_at(&m, i),
                         dt_mats_at(&e, i), dt_mats_at(&f, i)));
  DT_TRYG(cx, dt_mats_store(cx, &e, w));
  if (vectors) DT_TRYG(cx, dt_mats_store(cx, &m, v));
  DT_TRYG(cx, dt_mats_store(cx, &f, info));
done:
  dt_mats_fini(cx, &m);
  dt_mats_fini(cx, &e);
  dt_mats_fini(cx, &f);
  return st;
}

DtStatus dt_k_eig (DtCtx *cx, const DtTensor *a, DtTensor *w, DtTensor *v,
                   DtTensor *info) {
  const DtLapack *lp = dt_lapack_of((DtDtype)a->m.dtype);
  DtDtype type = complex_of((DtDtype)a->m.dtype);
  DtMats m = {0}, e = {0}, x = {0}, f = {0};
  DtStatus st = DT_OK;
  DT_TRYG(cx, dt_mats_copy(cx, &m, a));
  DT_TRYG(cx, dt_mats_init(cx, &e, &a->m, 2, m.rows, 1, type, NULL, false));
  DT_TRYG(cx, dt_mats_init(cx, &x, &a->m, 2, m.rows, m.rows, type, NULL,
                           false));
  DT_TRYG(cx, dt_mats_init(cx, &f, &a->m, 2, 1, 1, DT_I32, NULL, false));
  for (int64_t i = 0; i < m.n && m.step > 0; i++)
    DT_TRYG(cx, lp->eig(cx, v != NULL, m.rows, dt_mats_at(&m, i),
                        dt_mats_at(&e, i), dt_mats_at(&x, i),
                        dt_mats_at(&f, i)));
  DT_TRYG(cx, dt_mats_store(cx, &e, w));
  DT_TRYG(cx, dt_mats_store(cx, &x, v));
  DT_TRYG(cx, dt_mats_store(cx, &f, info));
done:
  dt_mats_fini(cx, &m);
  dt_mats_fini(cx, &e);
  dt_mats_fini(cx, &x);
  dt_mats_fini(cx, &f);
  return st;
}

/* LAPACK destroys its input, hence the copy. It is not called for matrices
** without rows or columns, for which PyTorch's U and V are unit matrices. */
DtStatus dt_k_svd (DtCtx *cx, const DtTensor *a, bool full, DtTensor *u,
                   DtTensor *s, DtTensor *vh, DtTensor *info) {
  const DtLapack *lp = dt_lapack_of((DtDtype)a->m.dtype);
  DtDtype type = (DtDtype)a->m.dtype;
  bool vectors = u != NULL && u->m.ndim == a->m.ndim;
  char job = !vectors ? 'N' : full ? 'A' : 'S';
  DtMats m = {0}, mu = {0}, ms = {0}, mv = {0}, f = {0};
  DtStatus st = DT_OK;
  DT_TRYG(cx, dt_mats_copy(cx, &m, a));
  int k = m.rows < m.cols ? m.rows : m.cols;
  DT_TRYG(cx, dt_mats_init(cx, &ms, &a->m, 2, k, 1, dt_dtype_to_real(type),
                           NULL, false));
  DT_TRYG(cx, dt_mats_init(cx, &mu, &a->m, 2, m.rows, full ? m.rows : k, type,
                           NULL, false));
  DT_TRYG(cx, dt_mats_init(cx, &mv, &a->m, 2, full ? m.cols : k, m.cols, type,
                           NULL, false));
  DT_TRYG(cx, dt_mats_init(cx, &f, &a->m, 2, 1, 1, DT_I32, NULL, false));
  for (int64_t i = 0; i < m.n && k > 0; i++)
    DT_TRYG(cx, lp->svd(cx, job, m.rows, m.cols, dt_mats_at(&m, i),
                        dt_mats_at(&ms, i), dt_mats_at(&mu, i),
                        dt_mats_at(&mv, i), dt_mats_at(&f, i)));
  if (k == 0) {
    if (mu.data != NULL) dt_mats_eye(&mu);
    if (mv.data != NULL) dt_mats_eye(&mv);
  }
  if (vectors) {
    DT_TRYG(cx, dt_mats_store(cx, &mu, u));
    DT_TRYG(cx, dt_mats_store(cx, &mv, vh));
  }
  DT_TRYG(cx, dt_mats_store(cx, &ms, s));
  DT_TRYG(cx, dt_mats_store(cx, &f, info));
done:
  dt_mats_fini(cx, &m);
  dt_mats_fini(cx, &mu);
  dt_mats_fini(cx, &ms);
  dt_mats_fini(cx, &mv);
  dt_mats_fini(cx, &f);
  return st;
}
