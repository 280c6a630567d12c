/* SPDX-License-Identifier: MIT
** oplib/op_linalg_reflect.c: do the sizes of Householder reflectors (ormqr,
** householder_product) fit?  `tau` has one number for each; in propagation
** PyTorch checks in Python, with other words and less strictly. */
#include "oplib/op_linalg_int.h"

#define ORMQR "torch.ormqr"
#define PRODUCT "torch.linalg.householder_product"

/* The batch of m, which has `own` dims of its own, is that of `a`. */
static DtStatus same_batch (const DtMetaCall *c, const char *fn, const DtMeta *a,
                            const DtMeta *m, int own, const char *name) {
  DtMeta b = *m;
  bool same = true;
  for (int i = 0; i < a->ndim - 2; i++)
    if (m->shape[i] != a->shape[i]) same = false;
  if (same) return DT_OK;
  b.ndim = (uint8_t)(m->ndim - own);
  return dt_raise(c->cx, DT_E_RUNTIME, "%s: Expected batch dimensions of %s to "
                  "be equal to input.shape[:-2], but got %s", fn, name,
                  op_size_text(c, &b).s);
}

static DtStatus tau_dims (DtCtx *cx, const char *fn, const DtMeta *a,
                          const DtMeta *tau) {
  DT_CHECK(cx, tau->ndim == a->ndim - 1, DT_E_RUNTIME, "%s: Expected tau to "
           "have one dimension less than input, but got tau.ndim equal to %d "
           "and input.ndim is equal to %d", fn, tau->ndim, a->ndim);
  return DT_OK;
}

DtStatus op_la_householder_check (DtMetaCall *c) {
  const DtMeta *a = c->in[0], *tau = dt_in(c, 1);
  int n = a->ndim;
  DT_CHECK(c->cx, a->shape[n - 2] >= a->shape[n - 1], DT_E_RUNTIME, PRODUCT
           ": input.shape[-2] must be greater than or equal to "
           "input.shape[-1]");
  DT_CHECK(c->cx, tau->ndim > 0, DT_E_INDEX,
           "Dimension specified as -1 but tensor has no dimensions");
  DT_CHECK(c->cx, a->shape[n - 1] >= tau->shape[tau->ndim - 1], DT_E_RUNTIME,
           PRODUCT ": input.shape[-1] must be greater than or equal to "
           "tau.shape[-1]");
  DT_TRY(c->cx, tau_dims(c->cx, PRODUCT, a, tau));
  return same_batch(c, PRODUCT, a, tau, 1, "tau");
}

/* How many reflectors there are: in propagation not too many, else exactly as
** many as LAPACK wants. */
static DtStatus ormqr_count (DtMetaCall *c, const DtMeta *a, const DtMeta *tau,
                             int64_t rows, int side) {
  int64_t cols = a->shape[a->ndim - 1], least = rows < cols ? rows : cols;
  int64_t k = tau->ndim > 0 ? tau->shape[tau->ndim - 1] : least;
  DT_CHECK(c->cx, !c->fake || rows >= k, DT_E_RUNTIME, ORMQR ": other.shape[-%d]"
           " must be greater than or equal to tau.shape[-1]", side);
  DT_CHECK(c->cx, rows == a->shape[a->ndim - 2], DT_E_RUNTIME, ORMQR
           ": other.shape[-%d] must be equal to input.shape[-2]", side);
  DT_CHECK(c->cx, !c->fake || k <= cols, DT_E_RUNTIME, ORMQR ": tau.shape[-1] "
           "must be less than or equal to input.shape[-1]");
  DT_CHECK(c->cx, c->fake || k == least, DT_E_RUNTIME, ORMQR ": tau.shape[-1] "
           "must be equal to min(other.shape[-%d], input.shape[-1])", side);
  return DT_OK;
}

DtStatus op_la_ormqr_check (DtMetaCall *c, bool left) {
  static const char *const types = ORMQR ": Expected input and %s to have the "
    "same dtype, but input has dtype%s and %s has dtype %s";
  const DtMeta *a = dt_in(c, 0), *tau = dt_in(c, 1), *m = dt_in(c, 2);
  int side = left ? 2 : 1;
  DT_TRY(c->cx, ormqr_count(c, a, tau, m->shape[m->ndim - side], side));
  DT_TRY(c->cx, tau_dims(c->cx, ORMQR, a, tau));
  DT_CHECK(c->cx, m->ndim == a->ndim, DT_E_RUNTIME, ORMQR ": Expected other to "
           "have the same number of dimensions as input, but got other.ndim "
           "equal to %d and input.ndim is equal to %d", m->ndim, a->ndim);
  DT_TRY(c->cx, same_batch(c, ORMQR, a, tau, 1, "tau"));
  DT_TRY(c->cx, same_batch(c, ORMQR, a, m, 2, "other"));
  for (int i = 0; i < 2; i++) {
    const DtMeta *o = i ? m : tau;
    DT_CHECK(c->cx, a->dtype == o->dtype, DT_E_RUNTIME, types,
             i ? "other" : "tau", op_dtype_word((DtDtype)a->dtype),
             i ? "other" : "tau", op_dtype_word((DtDtype)o->dtype));
  }
  return DT_OK;
}
