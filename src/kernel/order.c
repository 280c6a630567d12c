/* SPDX-License-Identifier: MIT
** kernel/order.c: what depends on the order of elements along a dim: extremes
** with their index, running values, sorting, the k largest.
**
** A line is loaded as double or i64 (both hold every value of the dtypes they
** stand for), worked on, and stored.  NaN counts as the largest number.
** Sorting is a merge sort of indices, hence stable always.  Order statistics
** name one of several equal elements: which one follows from the method. */

#include <math.h>
#include <string.h>
#include "kernel/kernel_int.h"

/* One line: values of one of the classes, and indices. */
typedef struct Line {
  bool exact;                   /* i64 rather than double */
  int64_t n;
  double *f;
  int64_t *i, *ix, *tmp;
} Line;

/* One allocation of three rows of eight bytes: values, indices, room to
** sort. `f` and `i` are the same memory, of which `exact` says the type. */
static DtStatus line_init (DtCtx *cx, Line *l, const DtTensor *a, int64_t n) {
  l->exact = dt_class_of((DtDtype)a->m.dtype) == DT_CL_I64;
  l->n = n;
  l->f = dt_alloc(cx, (size_t)n * 3 * 8);
  if (l->f == NULL) return DT_E_NOMEM;
  l->i = (int64_t *)(void *)l->f;
  l->ix = l->i + n;
  l->tmp = l->ix + n;
  return DT_OK;
}

static void line_load (Line *l, DtDtype t, const char *p, int64_t stride) {
  dt_run_load(l->exact ? DT_CL_I64 : DT_CL_F64, l->f, t, p, stride, l->n);
}

/* Is element a before b in increasing order?  Equal: no. */
static bool less (const Line *l, int64_t a, int64_t b) {
  if (l->exact) return l->i[a] < l->i[b];
  double x = l->f[a], y = l->f[b];
  return x < y || (x == x && y != y);
}

/* ---- extremes with their index ------------------------------------------------ */

static int64_t best_of (const Line *l, bool max) {
  int64_t best = 0;
  for (int64_t k = 0; k < l->n; k++) {
    if (!l->exact && l->f[k] != l->f[k]) return k;      /* NaN wins */
    if (max ? less(l, best, k) : less(l, k, best)) best = k;
  }
  return best;
}

/* A dense copy seen as one dim, for dim -1. */
static DtStatus flatten (DtCtx *cx, const DtTensor *a, DtTensor **out) {
  DtTensor *d = NULL;
  DtMeta m = {.dtype = a->m.dtype, .device = a->m.device, .ndim = 1};
  DT_TRY(cx, dt_kernel_dense(cx, a, (DtDtype)a->m.dtype, &d));
  m.shape[0] = dt_meta_numel(&a->m);
  m.stride[0] = 1;
  DtStatus st = dt_tensor_view(cx, d, &m, d->offset, out);
  dt_tensor_unref(cx, d);
  return st;
}

/* Remember which operands are there: NULL ones are not walked. */
typedef struct Outs {
  int n;                        /* operands; input first */
  const DtMeta *metas[3];
  void *data[3];
  DtMeta kept[2];
  int value, index;             /* positions, 0 = absent */
} Outs;

/* Outputs may have lost `dim`: give it back with size 1. */
static const DtMeta *restore_dim (const DtMeta *m, int ndim, int dim,
                                  DtMeta *kept) {
  if (m->ndim == ndim) return m;
  dt_meta_copy(kept, m);
  kept->ndim = (uint8_t)ndim;
  for (int d = ndim - 1; d > dim; d--) {
    kept->shape[d] = kept->shape[d - 1];
    kept->stride[d] = kept->stride[d - 1];
  }
  kept->shape[dim] = 1;
  kept->stride[dim] = 0;
  return kept;
}

static DtStatus outs_init (DtCtx *cx, Outs *o, const DtTensor *a, int dim,
                           DtTensor *value, DtTensor *index) {
  DT_TRY(cx, dt_ctx_poll(cx));
  *o = (Outs){.n = 1};
  if (value != NULL) {
    o->value = o->n++;
    DT_TRY(cx, dt_tensor_data(cx, value, &o->data[o->value]));
    o->metas[o->value] = restore_dim(&value->m, a->m.ndim, dim, &o->kept[0]);
  }
  if (index != NULL) {
    o->index = o->n++;
    DT_TRY(cx, dt_tensor_data(cx, index, &o->data[o->index]));
    o->metas[o->index] = restore_dim(&index->m, a->m.ndim, dim, &o->kept[1]);
  }
  DT_CHECK(cx, dt_tensor_has_data(a), DT_E_META_NO_DATA,
           "Cannot copy out of meta tensor; no data!");
  o->metas[0] = &a->m;
  o->data[0] = (void *)(uintptr_t)dt_tensor_cdata(a);
  return DT_OK;
}

static int64_t line_len (const DtTensor *t, int dim) {
  return t->m.ndim == 0 ? 1 : t->m.shape[dim];
}

/* Which element of a line, by its place. */
typedef struct Picker { int64_t (*place) (Line *l, const struct Picker *p);
                        bool max; DtPick f; int64_t k; } Picker;

/* Of every line of `dim` (negative: of all elements as one line) the picked
** element and its place. */
static DtStatus pick_lines (DtCtx *cx, const Picker *p, const DtTensor *a,
                            int dim, DtTensor *value, DtTensor *index) {
  DtTensor *flat = NULL;
  Outs o;
  Line l = {0};
  DtLines w;
  DtStatus st = DT_OK;
  if (dim < 0) {
    DT_TRYG(cx, flatten(cx, a, &flat));
    a = flat;
    dim = 0;
  }
  DT_TRYG(cx, outs_init(cx, &o, a, dim, value, index));
  DT_TRYG(cx, line_init(cx, &l, a, line_len(a, dim)));
  dt_lines_init(&w, o.n, o.metas, o.data, dim);
  for (; !w.done && o.data[0] != NULL && l.n > 0; dt_lines_next(&w)) {
    line_load(&l, (DtDtype)a->m.dtype, w.p[0], w.stride[0]);
    int64_t at = p->place(&l, p);
    if (o.value)
      dt_run_store(l.exact ? DT_CL_I64 : DT_CL_F64, l.i + at,
                   (DtDtype)value->m.dtype, w.p[o.value], 0, 1);
    if (o.index)
      dt_run_store(DT_CL_I64, &at, (DtDtype)index->m.dtype, w.p[o.index], 0,
                   1);
  }
done:
  dt_free(cx, l.f);
  dt_tensor_unref(cx, flat);
  return st;
}

static int64_t extreme_of (Line *l, const Picker *p) {
  return best_of(l, p->max);
}

DtStatus dt_k_arg_reduce (DtCtx *cx, bool max, const DtTensor *a, int dim,
                          DtTensor *value, DtTensor *index) {
  Picker p = {.place = extreme_of, .max = max};
  return pick_lines(cx, &p, a, dim, value, index);
}

/* ---- running values -------------------------------------------------------------- */

static double log_add (double a, double b) {
  if (a != a || b != b) return NAN;
  double m = a > b ? a : b, d = a > b ? b : a;
  return isinf(m) ? m : m + log1p(exp(d - m));
}

/* The same of complex numbers, with the phase of the one whose real part is
** larger; of two of -inf the first. */
static DtC128 zlog_add (DtC128 a, DtC128 b) {
  DtC128 lo = creal(a) < creal(b) ? a : b, hi = creal(a) < creal(b) ? b : a;
  if (creal(a) != creal(a) || creal(b) != creal(b)) return CMPLX(NAN, NAN);
  if (isinf(creal(lo)) && creal(lo) == creal(hi))
    return creal(lo) < 0 ? a : clog(cexp(a) + cexp(b));
  return hi + clog(1 + cexp(lo - hi));
}

/* The compensation is dropped once the sum is not finite, where it would be
** NaN and spread. */
static void scan_f64 (DtScan f, double *v, int64_t n) {
  double c = 0;                 /* compensation of a running sum */
  for (int64_t k = 1; k < n; k++) {
    if (f == DT_SCAN_PROD) v[k] *= v[k - 1];
    if (f == DT_SCAN_LOGSUMEXP) v[k] = log_add(v[k - 1], v[k]);
    if (f != DT_SCAN_SUM) continue;
    double y = v[k] - c, s = v[k - 1] + y;
    c = isfinite(s) ? (s - v[k - 1]) - y : 0;
    v[k] = s;
  }
}

static void scan_i64 (DtScan f, int64_t *v, int64_t n) {
  for (int64_t k = 1; k < n; k++) {
    uint64_t a = (uint64_t)v[k - 1], b = (uint64_t)v[k];
    v[k] = (int64_t)(f == DT_SCAN_PROD ? a * b : a + b);
  }
}

static void scan_c128 (DtScan f, DtC128 *v, int64_t n) {
  if (f == DT_SCAN_LOGSUMEXP && n > 0) v[0] = zlog_add(-INFINITY, v[0]);
  for (int64_t k = 1; k < n; k++) {
    if (f == DT_SCAN_PROD) v[k] *= v[k - 1];
    else if (f == DT_SCAN_LOGSUMEXP) v[k] = zlog_add(v[k - 1], v[k]);
    else v[k] += v[k - 1];
  }
}

/* Put the values in the order of l->ix.  Bytes are moved, as they may be of
** either class.  Overwrites l->tmp: sorting is over by now. */
static void permute (Line *l) {
  const char *from = (const char *)l->f;
  char *to = (char *)l->tmp;
  for (int64_t k = 0; k < l->n; k++) memcpy(to + k * 8, from + l->ix[k] * 8, 8);
  memcpy(l->f, to, (size_t)l->n * 8);
}

/* Running extreme: later elements win ties, a NaN stays. */
static void scan_extreme (bool max, Line *l) {
  int64_t best = 0;
  for (int64_t k = 0; k < l->n; k++) {
    bool nan_k = !l->exact && l->f[k] != l->f[k];
    bool nan_b = !l->exact && l->f[best] != l->f[best];
    if (nan_k || (!nan_b && !(max ? less(l, k, best) : less(l, best, k))))
      best = k;
    l->ix[k] = best;
  }
  permute(l);
}

/* Sums, products: in the class of the output. */
static DtStatus scan_plain (DtCtx *cx, DtScan f, const DtTensor *a, int dim,
                            DtTensor *value) {
  Outs o;
  DtLines w;
  DtClass c = dt_class_of((DtDtype)value->m.dtype);
  int64_t n = line_len(a, dim);
  if (c == DT_CL_F32) c = DT_CL_F64;
  DT_TRY(cx, outs_init(cx, &o, a, dim, value, NULL));
  void *buf = dt_alloc(cx, (size_t)n * dt_class_size(c));
  if (buf == NULL) return DT_E_NOMEM;
  dt_lines_init(&w, o.n, o.metas, o.data, dim);
  for (; !w.done && o.data[0] != NULL; dt_lines_next(&w)) {
    dt_run_load(c, buf, (DtDtype)a->m.dtype, w.p[0], w.stride[0], n);
    if (c == DT_CL_F64) scan_f64(f, buf, n);
    else if (c == DT_CL_I64) scan_i64(f, buf, n);
    else scan_c128(f, buf, n);
    dt_run_store(c, buf, (DtDtype)value->m.dtype, w.p[1], w.stride[1], n);
  }
  dt_free(cx, buf);
  return DT_OK;
}

/* Store the first k values and indices of a worked line. */
static void line_store (const Line *l, const Outs *o, const DtLines *w,
                        const DtTensor *value, const DtTensor *index,
                        int64_t k) {
  if (o->value)
    dt_run_store(l->exact ? DT_CL_I64 : DT_CL_F64, l->f,
                 (DtDtype)value->m.dtype, w->p[o->value], w->stride[o->value],
                 k);
  if (o->index)
    dt_run_store(DT_CL_I64, l->ix, (DtDtype)index->m.dtype, w->p[o->index],
                 w->stride[o->index], k);
}

DtStatus dt_k_scan (DtCtx *cx, DtScan f, const DtTensor *a, int dim,
                    DtTensor *value, DtTensor *index) {
  if (f != DT_SCAN_MAX && f != DT_SCAN_MIN)
    return scan_plain(cx, f, a, dim, value);
  Outs o;
  Line l;
  DtLines w;
  DT_TRY(cx, outs_init(cx, &o, a, dim, value, index));
  DT_TRY(cx, line_init(cx, &l, a, line_len(a, dim)));
  dt_lines_init(&w, o.n, o.metas, o.data, dim);
  for (; !w.done && o.data[0] != NULL; dt_lines_next(&w)) {
    line_load(&l, (DtDtype)a->m.dtype, w.p[0], w.stride[0]);
    scan_extreme(f == DT_SCAN_MAX, &l);
    line_store(&l, &o, &w, value, index, l.n);
  }
  dt_free(cx, l.f);
  return DT_OK;
}

/* ---- sorting ------------------------------------------------------------------------ */

/* Bottom-up merge sort of l->ix; equal elements keep their order. */
static void sort_indices (Line *l, bool descending) {
  int64_t n = l->n, *from = l->ix, *to = l->tmp;
  for (int64_t k = 0; k < n; k++) from[k] = k;
  for (int64_t w = 1; w < n; w *= 2) {
    for (int64_t lo = 0; lo < n; lo += 2 * w) {
      int64_t mid = lo + w < n ? lo + w : n, hi = lo + 2 * w < n ? lo + 2 * w
                                                                 : n;
      for (int64_t i = lo, j = mid, k = lo; k < hi; k++) {
        bool right = j < hi && (i >= mid ||
          (descending ? less(l, from[i], from[j]) : less(l, from[j],
                                                         from[i])));
        to[k] = right ? from[j++] : from[i++];
      }
    }
    int64_t *t = from;
    from = to;
    to = t;
  }
  if (from != l->ix) memcpy(l->ix, from, (size_t)n * 8);
}

static void sort_line (Line *l, bool descending) {
  sort_indices(l, descending);
  permute(l);
}

/* Sort each line, keep its first k (all when k < 0). */
static DtStatus sort_lines (DtCtx *cx, const DtTensor *a, int dim,
                            bool descending, int64_t k, DtTensor *value,
                            DtTensor *index) {
  Outs o;
  Line l;
  DtLines w;
  DT_TRY(cx, outs_init(cx, &o, a, dim, value, index));
  DT_TRY(cx, line_init(cx, &l, a, line_len(a, dim)));
  if (k < 0) k = l.n;
  dt_lines_init(&w, o.n, o.metas, o.data, dim);
  for (; !w.done && o.data[0] != NULL; dt_lines_next(&w)) {
    line_load(&l, (DtDtype)a->m.dtype, w.p[0], w.stride[0]);
    sort_line(&l, descending);
    line_store(&l, &o, &w, value, index, k);
  }
  dt_free(cx, l.f);
  return DT_OK;
}

DtStatus dt_k_sort (DtCtx *cx, const DtTensor *a, int dim, bool descending,
                    bool stable, DtTensor *value, DtTensor *index) {
  (void)stable;                 /* always */
  return sort_lines(cx, a, dim, descending, -1, value, index);
}

DtStatus dt_k_topk (DtCtx *cx, const DtTensor *a, int64_t k, int dim,
                    bool largest, DtTensor *value, DtTensor *index) {
  return sort_lines(cx, a, dim, largest, k, value, index);
}

/* ---- order statistics ---------------------------------------------------------- */

/* Is element a after b?  NaN is the last of all.  The reverse of less(). */
static bool after (const Line *l, int64_t a, int64_t b) {
  return less(l, b, a);
}

static void swap (int64_t *v, int64_t a, int64_t b) {
  int64_t t = v[a];
  v[a] = v[b];
  v[b] = t;
}

/* The median of v[a], v[b], v[c] to v[to]. */
static void median_to (const Line *l, int64_t *v, int64_t to, int64_t a,
                       int64_t b, int64_t c) {
  bool ab = less(l, v[a], v[b]), bc = less(l, v[b], v[c]);
  bool ac = less(l, v[a], v[c]);
  if (ab) swap(v, to, bc ? b : ac ? c : a);
  else swap(v, to, ac ? a : bc ? c : b);
}

/* Partition v[lo, hi) about v[lo]; where the upper part begins.  No bounds
** are tested in the inner loops: the median of three leaves an element on
** each side that stops them. */
static int64_t partition (const Line *l, int64_t *v, int64_t lo, int64_t hi) {
  median_to(l, v, lo, lo + 1, lo + (hi - lo) / 2, hi - 1);
  int64_t i = lo + 1, j = hi;
  for (;;) {
    while (less(l, v[i], v[lo])) i++;
    j--;
    while (less(l, v[lo], v[j])) j--;
    if (i >= j) return i;
    swap(v, i++, j);
  }
}

/* Bring the nth of l->ix (a permutation of the line) to its place.  Among
** equal elements the one that arrives depends on the method: this is the
** introspective selection of the C++ library, as the reference uses it. */
static int64_t nth_by_partition (Line *l, int64_t nth) {
  int64_t *v = l->ix, lo = 0, hi = l->n;
  while (hi - lo > 3) {
    int64_t cut = partition(l, v, lo, hi);
    if (cut <= nth) lo = cut;
    else hi = cut;
  }
  for (int64_t i = lo + 1; i < hi; i++)
    for (int64_t j = i; j > lo && less(l, v[j], v[j - 1]); j--)
      swap(v, j, j - 1);
  return v[nth];
}

/* The same by Hoare's method with three sentinels, as kthvalue does. */
static int64_t nth_by_sentinels (Line *l, int64_t k) {
  int64_t *v = l->ix, lo = 0, hi = l->n - 1;
  while (hi > lo + 1) {
    int64_t i = lo + 1, j = hi;
    swap(v, (lo + hi) >> 1, lo + 1);
    if (after(l, v[lo + 1], v[hi])) swap(v, lo + 1, hi);
    if (after(l, v[lo], v[hi])) swap(v, lo, hi);
    if (after(l, v[lo + 1], v[lo])) swap(v, lo + 1, lo);
    for (;;) {
      do i++; while (after(l, v[lo], v[i]));
      do j--; while (after(l, v[j], v[lo]));
      if (j < i) break;
      swap(v, i, j);
    }
    swap(v, lo, j);
    if (j <= k) lo = i;
    if (j >= k) hi = j - 1;
  }
  if (hi == lo + 1 && after(l, v[lo], v[hi])) swap(v, lo, hi);
  return v[k];
}

/* Place of the lower median; the first NaN when there is one that counts. */
static int64_t median_of (Line *l, bool skip_nan) {
  int64_t nan = 0;
  for (int64_t k = 0; k < l->n; k++) {
    l->ix[k] = k;
    if (l->exact || l->f[k] == l->f[k]) continue;
    if (!skip_nan) return k;
    nan++;
  }
  int64_t counted = l->n - nan;
  return nth_by_partition(l, counted > 0 ? (counted - 1) / 2 : 0);
}

static int64_t kth_of (Line *l, int64_t k) {
  for (int64_t i = 0; i < l->n; i++) l->ix[i] = i;
  return nth_by_sentinels(l, k);
}

/* Sort l->ix by insertion with the plain <, which no NaN passes: where NaNs lie
** among up to 16 elements after std::sort (mode_kernel_impl@2.15). */
static void sort_by_less (Line *l) {
  int64_t *v = l->ix;
  for (int64_t k = 0; k < l->n; k++) v[k] = k;
  for (int64_t k = 1; k < l->n; k++) {
    int64_t it = v[k], to = k;
    bool first = l->f[it] < l->f[v[0]];
    while (to > 0 && (first || l->f[it] < l->f[v[to - 1]])) {
      v[to] = v[to - 1];
      to--;
    }
    v[to] = it;
  }
}

static bool has_nan (const Line *l) {
  for (int64_t k = 0; k < l->n && !l->exact; k++)
    if (l->f[k] != l->f[k]) return true;
  return false;
}

/* Place of the last of the most frequent value, the smallest such. */
static int64_t mode_of (Line *l) {
  enum { INSERTED = 16 };       /* up to so many std::sort inserts */
  int64_t best = 0, most = 0, run = 0;
  if (l->n <= INSERTED && has_nan(l)) sort_by_less(l);
  else sort_indices(l, false);
  for (int64_t k = 0; k < l->n; k++) {
    run++;
    bool same = k + 1 < l->n &&
                (l->exact ? l->i[l->ix[k]] == l->i[l->ix[k + 1]]
                          : l->f[l->ix[k]] == l->f[l->ix[k + 1]]);
    if (same) continue;
    if (run > most) {
      most = run;
      best = l->ix[k];
    }
    run = 0;
  }
  return best;
}

static int64_t ordered_of (Line *l, const Picker *p) {
  switch (p->f) {
    case DT_PICK_MEDIAN: return median_of(l, false);
    case DT_PICK_NANMEDIAN: return median_of(l, true);
    case DT_PICK_KTH: return kth_of(l, p->k);
    case DT_PICK_MODE: return mode_of(l);
  }
  return 0;
}

DtStatus dt_k_order_stat (DtCtx *cx, DtPick f, int64_t k, const DtTensor *a,
                          int dim, DtTensor *value, DtTensor *index) {
  Picker p = {.place = ordered_of, .f = f, .k = k};
  return pick_lines(cx, &p, a, dim, value, index);
}
