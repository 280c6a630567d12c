/* SPDX-License-Identifier: MIT
** kernel/linalg_type_int.h: LAPACK for one element type: included four times
** by linalg_lapack.c with
**   T, R       element and real type
**   F(name)    LAPACKE's function for it ("LAPACKE_sgetrf_work")
**   N(name)    our static function ("getrf_f32")
**   CPLX       1 for complex types
** Column-major LAPACKE "_work" calls go straight to LAPACK: nothing is
** transposed, checked or allocated there. */

#if CPLX
#define REAL_OF(x) creal(x)
#else
#define REAL_OF(x) ((double)(x))
#endif

static void N(potrf) (bool upper, int n, void *a, int *info) {
  *info = F(potrf_work)(LAPACK_COL_MAJOR, upper ? 'U' : 'L', n, a, ld(n));
}
static void N(potri) (bool upper, int n, void *a, int *info) {
  *info = F(potri_work)(LAPACK_COL_MAJOR, upper ? 'U' : 'L', n, a, ld(n));
}
static void N(potrs) (bool upper, int n, int nrhs, const void *a, void *b,
                      int *info) {
  *info = F(potrs_work)(LAPACK_COL_MAJOR, upper ? 'U' : 'L', n, nrhs, a,
                        ld(n), b, ld(n));
}
static DtStatus N(geqrf) (DtCtx *cx, int m, int n, void *a, void *tau) {
  T ask = 0, *work;
  (void)F(geqrf_work)(LAPACK_COL_MAJOR, m, n, a, ld(m), tau, &ask, -1);
  int lw = (int)REAL_OF(ask);
  if ((work = dt_alloc(cx, sizeof(T) * (size_t)(lw + 1))) == NULL)
    return DT_E_NOMEM;
  (void)F(geqrf_work)(LAPACK_COL_MAJOR, m, n, a, ld(m), tau, work, lw);
  dt_free(cx, work);
  return DT_OK;
}
static DtStatus N(orgqr) (DtCtx *cx, int m, int n, int k, void *a,
                          const void *tau) {
  T ask = 0, *work;
  (void)F(QNAME(gqr))(LAPACK_COL_MAJOR, m, n, k, a, ld(m), tau, &ask, -1);
  int lw = (int)REAL_OF(ask);
  if ((work = dt_alloc(cx, sizeof(T) * (size_t)(lw + 1))) == NULL)
    return DT_E_NOMEM;
  (void)F(QNAME(gqr))(LAPACK_COL_MAJOR, m, n, k, a, ld(m), tau, work, lw);
  dt_free(cx, work);
  return DT_OK;
}
static DtStatus N(ormqr) (DtCtx *cx, bool left, bool ct, int m, int n, int k,
                          const void *a, const void *tau, void *c) {
  T ask = 0, *work;
  char s = left ? 'L' : 'R', t = !ct ? 'N' : CPLX ? 'C' : 'T';
  int la = ld(left ? m : n);
  (void)F(QNAME(mqr))(LAPACK_COL_MAJOR, s, t, m, n, k, a, la, tau, c, ld(m),
                      &ask, -1);
  int lw = (int)REAL_OF(ask);
  if ((work = dt_alloc(cx, sizeof(T) * (size_t)(lw + 1))) == NULL)
    return DT_E_NOMEM;
  (void)F(QNAME(mqr))(LAPACK_COL_MAJOR, s, t, m, n, k, a, la, tau, c, ld(m),
                      work, lw);
  dt_free(cx, work);
  return DT_OK;
}
static void N(getrf) (int m, int n, void *a, int *pivots, int *info) {
  *info = F(getrf_work)(LAPACK_COL_MAJOR, m, n, a, ld(m), pivots);
}
static void N(getrs) (char trans, int n, int nrhs, const void *a,
                      const int *pivots, void *b, int *info) {
  *info = F(getrs_work)(LAPACK_COL_MAJOR, trans, n, nrhs, a, ld(n), pivots, b,
                        ld(n));
}

static int N(sytrf_call) (bool herm, int n, void *a, int *pivots, T *work,
                          int lw) {
#if CPLX
  if (herm)
    return F(hetrf_work)(LAPACK_COL_MAJOR, 'L', n, a, ld(n), pivots, work, lw);
#else
  (void)herm;
#endif
  return F(sytrf_work)(LAPACK_COL_MAJOR, 'L', n, a, ld(n), pivots, work, lw);
}
static DtStatus N(sytrf) (DtCtx *cx, bool herm, int n, void *a, int *pivots,
                          int *info) {
  T ask = 0, *work;
  (void)N(sytrf_call)(herm, n, a, pivots, &ask, -1);
  int lw = (int)REAL_OF(ask);
  if ((work = dt_alloc(cx, sizeof(T) * (size_t)(lw + 1))) == NULL)
    return DT_E_NOMEM;
  *info = N(sytrf_call)(herm, n, a, pivots, work, lw);
  dt_free(cx, work);
  return DT_OK;
}
static void N(sytrs) (bool herm, int n, int nrhs, const void *a,
                      const int *pivots, void *b, int *info) {
#if CPLX
  if (herm) {
    *info = F(hetrs_work)(LAPACK_COL_MAJOR, 'L', n, nrhs, a, ld(n), pivots, b,
                          ld(n));
    return;
  }
#else
  (void)herm;
#endif
  *info = F(sytrs_work)(LAPACK_COL_MAJOR, 'L', n, nrhs, a, ld(n), pivots, b,
                        ld(n));
}

static DtStatus N(eigh) (DtCtx *cx, bool upper, bool vectors, int n, void *a,
                         void *w, int *info) {
  char job = vectors ? 'V' : 'N', uplo = upper ? 'U' : 'L';
  T ask = 0, *work = NULL;
  int iask = 0, *iwork = NULL, lw, li;
  DtStatus st = DT_OK;
#if CPLX
  R rask = 0, *rwork = NULL;
  (void)F(heevd_work)(LAPACK_COL_MAJOR, job, uplo, n, a, ld(n), w, &ask, -1,
                      &rask, -1, &iask, -1);
  int lr = (int)rask;
  rwork = dt_alloc(cx, sizeof(R) * (size_t)(lr + 1));
#else
  (void)F(syevd_work)(LAPACK_COL_MAJOR, job, uplo, n, a, ld(n), w, &ask, -1,
                      &iask, -1);
#endif
  lw = (int)REAL_OF(ask);
  li = iask;
  work = dt_alloc(cx, sizeof(T) * (size_t)(lw + 1));
  iwork = dt_alloc(cx, sizeof(int) * (size_t)(li + 1));
#if CPLX
  if (work == NULL || iwork == NULL || rwork == NULL) st = DT_E_NOMEM;
  else *info = F(heevd_work)(LAPACK_COL_MAJOR, job, uplo, n, a, ld(n), w, work,
                             lw, rwork, lr, iwork, li);
  dt_free(cx, rwork);
#else
  if (work == NULL || iwork == NULL) st = DT_E_NOMEM;
  else *info = F(syevd_work)(LAPACK_COL_MAJOR, job, uplo, n, a, ld(n), w, work,
                             lw, iwork, li);
#endif
  dt_free(cx, work);
  dt_free(cx, iwork);
  return st;
}

#if CPLX
static DtStatus N(eig) (DtCtx *cx, bool vectors, int n, void *a, void *w,
                        void *v, int *info) {
  char job = vectors ? 'V' : 'N';
  T ask = 0, none = 0, *work;
  R *rwork = dt_alloc(cx, sizeof(R) * (size_t)(2 * n + 1));
  DtStatus st = DT_OK;
  (void)F(geev_work)(LAPACK_COL_MAJOR, 'N', job, n, a, ld(n), w, &none, 1, v,
                     ld(n), &ask, -1, rwork);
  int lw = (int)REAL_OF(ask);
  work = dt_alloc(cx, sizeof(T) * (size_t)(lw + 1));
  if (work == NULL || rwork == NULL) st = DT_E_NOMEM;
  else *info = F(geev_work)(LAPACK_COL_MAJOR, 'N', job, n, a, ld(n), w, &none,
                            1, v, ld(n), work, lw, rwork);
  dt_free(cx, work);
  dt_free(cx, rwork);
  return st;
}
#else
/* LAPACK gives real and imaginary parts apart, and vectors of conjugate pairs
** as two real columns. */
static void N(join_pairs) (int n, const R *wr, const R *wi, const R *vr, C *w,
                           C *v) {
  for (int j = 0; j < n; j++) w[j] = CMPLXOF(wr[j], wi[j]);
  for (int j = 0; v != NULL && j < n; j++) {
    const R *re = vr + (size_t)j * (size_t)n, *im = re + n;
    C *to = v + (size_t)j * (size_t)n;
    bool pair = wi[j] != 0 && j + 1 < n;
    for (int i = 0; i < n; i++) {
      to[i] = CMPLXOF(re[i], pair ? im[i] : 0);
      if (pair) to[n + i] = CMPLXOF(re[i], -im[i]);
    }
    j += pair;
  }
}
static DtStatus N(eig) (DtCtx *cx, bool vectors, int n, void *a, void *w,
                        void *v, int *info) {
  char job = vectors ? 'V' : 'N';
  size_t nn = (size_t)n;
  T ask = 0, none = 0, *work = NULL;
  R *wr = dt_alloc(cx, sizeof(R) * (2 * nn + 1));
  R *vr = vectors ? dt_alloc(cx, sizeof(R) * (nn * nn + 1)) : NULL;
  DtStatus st = DT_OK;
  if (wr == NULL || (vectors && vr == NULL)) st = DT_E_NOMEM;
  if (st == DT_OK) {
    R *wi = wr + nn;
    (void)F(geev_work)(LAPACK_COL_MAJOR, 'N', job, n, a, ld(n), wr, wi, &none,
                       1, vectors ? vr : &none, ld(n), &ask, -1);
    int lw = (int)REAL_OF(ask);
    work = dt_alloc(cx, sizeof(T) * (size_t)(lw + 1));
    if (work == NULL) st = DT_E_NOMEM;
    else {
      *info = F(geev_work)(LAPACK_COL_MAJOR, 'N', job, n, a, ld(n), wr, wi,
                           &none, 1, vectors ? vr : &none, ld(n), work, lw);
      N(join_pairs)(n, wr, wi, vr, w, vectors ? v : NULL);
    }
  }
  dt_free(cx, work);
  dt_free(cx, wr);
  dt_free(cx, vr);
  return st;
}
#endif

static DtStatus N(svd) (DtCtx *cx, char job, int m, int n, void *a, void *s,
                        void *u, void *vh, int *info) {
  int k = m < n ? m : n, l = m < n ? n : m, lv = ld(job == 'A' ? n : k);
  T ask = 0, *work = NULL;
  int *iwork = dt_alloc(cx, sizeof(int) * (size_t)(8 * k + 1));
  DtStatus st = DT_OK;
#if CPLX
  size_t lr = (size_t)k * (size_t)(5 * k + 7 > 2 * l + 2 * k + 1
                                   ? 5 * k + 7 : 2 * l + 2 * k + 1);
  R *rwork = dt_alloc(cx, sizeof(R) * (lr + 1));
  (void)F(gesdd_work)(LAPACK_COL_MAJOR, job, m, n, a, ld(m), s, u, ld(m), vh,
                      lv, &ask, -1, rwork, iwork);
#else
  (void)l;
  (void)F(gesdd_work)(LAPACK_COL_MAJOR, job, m, n, a, ld(m), s, u, ld(m), vh,
                      lv, &ask, -1, iwork);
#endif
  int lw = (int)REAL_OF(ask);
  work = dt_alloc(cx, sizeof(T) * (size_t)(lw + 1));
#if CPLX
  if (work == NULL || iwork == NULL || rwork == NULL) st = DT_E_NOMEM;
  else *info = F(gesdd_work)(LAPACK_COL_MAJOR, job, m, n, a, ld(m), s, u,
                             ld(m), vh, lv, work, lw, rwork, iwork);
  dt_free(cx, rwork);
#else
  if (work == NULL || iwork == NULL) st = DT_E_NOMEM;
  else *info = F(gesdd_work)(LAPACK_COL_MAJOR, job, m, n, a, ld(m), s, u,
                             ld(m), vh, lv, work, lw, iwork);
#endif
  dt_free(cx, work);
  dt_free(cx, iwork);
  return st;
}

static DtStatus N(lstsq) (DtCtx *cx, int m, int n, int nrhs, void *a, void *b,
                          double rcond, int *rank, int *info) {
  T ask = 0, *work = NULL;
  int *jpvt = dt_calloc(cx, (size_t)n + 1, sizeof(int)), lb = ld(m > n ? m : n);
  DtStatus st = DT_OK;
#if CPLX
  R *rwork = dt_alloc(cx, sizeof(R) * (size_t)(2 * n + 1));
  (void)F(gelsy_work)(LAPACK_COL_MAJOR, m, n, nrhs, a, ld(m), b, lb, jpvt,
                      (R)rcond, rank, &ask, -1, rwork);
#else
  (void)F(gelsy_work)(LAPACK_COL_MAJOR, m, n, nrhs, a, ld(m), b, lb, jpvt,
                      (R)rcond, rank, &ask, -1);
#endif
  int lw = (int)REAL_OF(ask);
  work = dt_alloc(cx, sizeof(T) * (size_t)(lw + 1));
#if CPLX
  if (work == NULL || jpvt == NULL || rwork == NULL) st = DT_E_NOMEM;
  else *info = F(gelsy_work)(LAPACK_COL_MAJOR, m, n, nrhs, a, ld(m), b, lb,
                             jpvt, (R)rcond, rank, work, lw, rwork);
  dt_free(cx, rwork);
#else
  if (work == NULL || jpvt == NULL) st = DT_E_NOMEM;
  else *info = F(gelsy_work)(LAPACK_COL_MAJOR, m, n, nrhs, a, ld(m), b, lb,
                             jpvt, (R)rcond, rank, work, lw);
#endif
  dt_free(cx, work);
  dt_free(cx, jpvt);
  return st;
}

/* Element (i, j) of op(a). */
static T N(tri_at) (const T *a, int lda, char trans, int i, int j) {
  T v = trans == 'N' ? a[(size_t)i + (size_t)j * (size_t)lda]
                     : a[(size_t)j + (size_t)i * (size_t)lda];
#if CPLX
  if (trans == 'C') v = (T)CONJOF(v);
#endif
  return v;
}
/* By substitution: one division for each unknown, as BLAS does it, so that a
** zero on the diagonal gives infinities and not an error. */
static void N(trsm) (bool left, bool upper, char trans, bool unit, int m,
                     int n, const void *va, int lda, void *vb) {
  const T *a = va;
  T *b = vb;
  bool forward = (upper != (trans != 'N')) != left;
  int k = left ? m : n, others = left ? n : m;
  size_t step = left ? 1 : (size_t)m, across = left ? (size_t)m : 1;
  for (int o = 0; o < others; o++) {
    T *x = b + (size_t)o * across;
    for (int s = 0; s < k; s++) {
      int i = forward ? s : k - 1 - s;
      T sum = x[(size_t)i * step];
      for (int r = 0; r < s; r++) {
        int j = forward ? r : k - 1 - r;
        sum -= x[(size_t)j * step] * (left ? N(tri_at)(a, lda, trans, i, j)
                                           : N(tri_at)(a, lda, trans, j, i));
      }
      x[(size_t)i * step] = unit ? sum : sum / N(tri_at)(a, lda, trans, i, i);
    }
  }
}

const DtLapack N(dt_lapack) = {
  N(potrf), N(potri), N(potrs), N(geqrf), N(orgqr), N(ormqr), N(getrf),
  N(getrs), N(sytrf), N(sytrs), N(eigh), N(eig), N(svd), N(lstsq), N(trsm)
};

#undef REAL_OF
