/* SPDX-License-Identifier: MIT
** kernel/search.c: places among sorted values, and histograms.
**
** Values and bounds are compared as i64 when both are integers, else as
** double, which holds every value of the other dtypes. */

#include <math.h>
#include "kernel/kernel_int.h"

typedef struct Search {
  bool exact, right;
  int64_t n;                    /* bounds in a row */
  const void *bound;            /* of one row */
  const int64_t *order;         /* of one row, NULL: as they are */
} Search;

/* Does bound k come before the value?  A NaN value comes after all. */
static bool before (const Search *s, int64_t k, const void *value) {
  if (s->order != NULL) k = s->order[k];
  if (s->exact) {
    int64_t b = ((const int64_t *)s->bound)[k], v = *(const int64_t *)value;
    return s->right ? b <= v : b < v;
  }
  double b = ((const double *)s->bound)[k], v = *(const double *)value;
  return s->right ? !(b > v) : !(b >= v);
}

static int64_t place (const Search *s, const void *value) {
  int64_t lo = 0, hi = s->n;
  while (lo < hi) {
    int64_t mid = lo + (hi - lo) / 2;
    if (before(s, mid, value)) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/* Rows of bounds: one for all values, or one for each row of them. */
static void search_rows (Search *s, const char *value, const char *bound,
                         const int64_t *order, int64_t rows, int64_t len,
                         bool shared, int64_t *out) {
  for (int64_t r = 0; r < rows; r++) {
    int64_t at = shared ? 0 : r * s->n;
    s->bound = bound + at * 8;
    s->order = order == NULL ? NULL : order + at;
    for (int64_t i = 0; i < len; i++)
      out[r * len + i] = place(s, value + (r * len + i) * 8);
  }
}

static DtStatus order_in_range (DtCtx *cx, const Search *s, const int64_t *v,
                                int64_t total) {
  for (int64_t i = 0; i < total; i++)
    DT_CHECK(cx, v[i] >= 0 && v[i] < s->n, DT_E_RUNTIME,
             "torch.searchsorted(): sorter index out of range");
  return DT_OK;
}

DtStatus dt_k_bucket (DtCtx *cx, const DtTensor *values, const DtTensor *bounds,
                      const DtTensor *order, bool right, DtTensor *out) {
  DtStatus st = DT_OK;
  DtTensor *v = NULL, *b = NULL, *ord = NULL, *o = NULL;
  DtMeta m;
  void *p;
  int64_t total = dt_meta_numel(&values->m), nd = values->m.ndim;
  Search s = {.right = right};
  s.exact = dt_class_of((DtDtype)values->m.dtype) == DT_CL_I64 &&
            dt_class_of((DtDtype)bounds->m.dtype) == DT_CL_I64;
  DtDtype t = s.exact ? DT_I64 : DT_F64;
  s.n = bounds->m.ndim > 0 ? bounds->m.shape[bounds->m.ndim - 1] : 1;
  bool shared = bounds->m.ndim <= 1;
  int64_t len = shared || nd == 0 ? total : values->m.shape[nd - 1];
  DT_TRYG(cx, dt_ctx_poll(cx));
  DT_TRYG(cx, dt_kernel_dense(cx, values, t, &v));
  DT_TRYG(cx, dt_kernel_dense(cx, bounds, t, &b));
  if (order != NULL) {
    DT_TRYG(cx, dt_kernel_dense(cx, order, DT_I64, &ord));
    if (dt_tensor_cdata(ord) != NULL)
      DT_TRYG(cx, order_in_range(cx, &s, dt_tensor_cdata(ord),
                                 dt_meta_numel(&ord->m)));
  }
  dt_meta_copy(&m, &out->m);
  m.dtype = DT_I64;
  m.device = DT_DEV_CPU;
  dt_meta_set_contiguous(&m);
  DT_TRYG(cx, dt_tensor_new(cx, &m, false, &o));
  DT_TRYG(cx, dt_tensor_data(cx, o, &p));
  if (p != NULL && total > 0)
    search_rows(&s, dt_tensor_cdata(v), dt_tensor_cdata(b),
                ord == NULL ? NULL : dt_tensor_cdata(ord),
                len > 0 ? total / len : 0, len, shared, p);
  DT_TRYG(cx, dt_k_copy(cx, o, out));
done:
  dt_tensor_unref(cx, v);
  dt_tensor_unref(cx, b);
  dt_tensor_unref(cx, ord);
  dt_tensor_unref(cx, o);
  return st;
}

/* ---- histogram ---------------------------------------------------------------- */

static void bounds_of (const double *v, int64_t n, double *lo, double *hi) {
  for (int64_t i = 0; i < n; i++) {
    if (i == 0 || v[i] < *lo || v[i] != v[i]) *lo = v[i];
    if (i == 0 || v[i] > *hi || v[i] != v[i]) *hi = v[i];
    if (v[i] != v[i]) return;
  }
}

/* `narrow`: the place is computed in float, as for f32 data. */
static void count_bins (const double *v, int64_t n, double lo, double hi,
                        bool narrow, double *bin, int64_t bins) {
  for (int64_t i = 0; i < n; i++) {
    if (!(v[i] >= lo && v[i] <= hi)) continue;
    double x = (v[i] - lo) * (double)bins / (hi - lo);
    if (narrow)
      x = (double)(((float)v[i] - (float)lo) * (float)bins /
                   ((float)hi - (float)lo));
    int64_t at = (int64_t)x;
    bin[at >= bins ? bins - 1 : at] += 1;
  }
}

DtStatus dt_k_histc (DtCtx *cx, const DtTensor *a, double lo, double hi,
                     DtTensor *out) {
  DtStatus st = DT_OK;
  DtTensor *d = NULL, *o = NULL;
  DtMeta m;
  void *p;
  int64_t n = dt_meta_numel(&a->m), bins = out->m.shape[0];
  DT_TRYG(cx, dt_ctx_poll(cx));
  DT_TRYG(cx, dt_kernel_dense(cx, a, DT_F64, &d));
  const double *v = dt_tensor_cdata(d);
  if (lo == hi && n > 0 && v != NULL) bounds_of(v, n, &lo, &hi);
  if (lo == hi) {
    lo -= 1;
    hi += 1;
  }
  DT_CHECKG(cx, isfinite(lo) && isfinite(hi), DT_E_RUNTIME,
            "torch.histc: range of [%g, %g] is not finite", lo, hi);
  DT_CHECKG(cx, lo < hi, DT_E_RUNTIME,
            "torch.histc: max must be larger than min");
  dt_meta_copy(&m, &out->m);
  m.dtype = DT_F64;
  m.device = DT_DEV_CPU;
  dt_meta_set_contiguous(&m);
  DT_TRYG(cx, dt_tensor_new(cx, &m, false, &o));
  DT_TRYG(cx, dt_k_fill(cx, o, dt_scalar_int(0)));
  DT_TRYG(cx, dt_tensor_data(cx, o, &p));
  if (p != NULL && v != NULL)
    count_bins(v, n, lo, hi, out->m.dtype != DT_F64, p, bins);
  DT_TRYG(cx, dt_k_copy(cx, o, out));
done:
  dt_tensor_unref(cx, d);
  dt_tensor_unref(cx, o);
  return st;
}
