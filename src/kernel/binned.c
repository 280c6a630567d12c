/* SPDX-License-Identifier: MIT
** kernel/binned.c: numbers put on a grid: quantised and back, or counted.
**
** Products of a number and the inverse step are rounded to f32 for all types
** but f64, as PyTorch has them: on the border between two places it counts. */
#include <math.h>
#include "kernel/binned.h"
#include "kernel/kernel_int.h"

/* A new contiguous tensor of t's shape; caller unrefs. */
static DtStatus like (DtCtx *cx, const DtTensor *t, DtDtype type,
                      DtTensor **out, void **data) {
  DtMeta m;
  dt_meta_copy(&m, &t->m);
  m.dtype = (uint8_t)type;
  m.device = DT_DEV_CPU;
  dt_meta_set_contiguous(&m);
  DT_TRY(cx, dt_tensor_new(cx, &m, false, out));
  return dt_tensor_data(cx, *out, data);
}

/* The place of x; the result lies there, but not beyond the ends. */
static double on_grid (const DtGrid *g, int64_t chan, bool wide, double x,
                       bool *inside) {
  double step = g->scale[chan], zero = g->zero[chan];
  double v = x * (double)(1.0f / (float)step);
  if (!wide) v = (double)(float)v;
  v = g->whole ? nearbyint(v) + zero : nearbyint(v + zero);
  *inside = v >= g->lo && v <= g->hi;
  return (fmin(fmax(v, g->lo), g->hi) - zero) * step;
}

DtStatus dt_k_fake_quantize (DtCtx *cx, const DtGrid *g, const DtTensor *a,
                             DtTensor *out, DtTensor *inside) {
  DtTensor *x = NULL, *y = NULL, *mask = NULL;
  bool wide = a->m.dtype == DT_F64;
  int64_t n = dt_meta_numel(&a->m), run = 1;
  void *yp, *mp;
  DtStatus st;
  DT_TRYG(cx, dt_kernel_dense(cx, a, DT_F64, &x));
  DT_TRYG(cx, like(cx, a, DT_F64, &y, &yp));
  DT_TRYG(cx, like(cx, a, DT_BOOL, &mask, &mp));
  for (int d = g->axis + 1; g->nchan > 1 && d < a->m.ndim; d++)
    run *= a->m.shape[d];
  const double *v = dt_tensor_cdata(x);
  for (int64_t i = 0; i < n; i++) {
    int64_t chan = g->nchan > 1 ? i / run % g->nchan : 0;
    ((double *)yp)[i] = on_grid(g, chan, wide, v[i], (bool *)mp + i);
  }
  DT_TRYG(cx, dt_k_copy(cx, y, out));
  DT_TRYG(cx, dt_k_copy(cx, mask, inside));
done:
  dt_tensor_unref(cx, x);
  dt_tensor_unref(cx, y);
  dt_tensor_unref(cx, mask);
  return st;
}

/* The bin of x among n edges, -1 outside. */
static int64_t bin_of (const double *edge, int64_t n, double x) {
  int64_t lo = 0, hi = n - 1;
  if (!(x >= edge[0] && x <= edge[n - 1])) return -1;
  while (hi - lo > 1) {
    int64_t mid = lo + (hi - lo) / 2;
    if (x < edge[mid]) hi = mid;
    else lo = mid;
  }
  return lo;
}

DtStatus dt_k_histogram (DtCtx *cx, const DtTensor *a, const DtTensor *weight,
                         const double *edges, int64_t n, bool density,
                         DtTensor *out) {
  DtTensor *x = NULL, *w = NULL, *sum = NULL;
  int64_t count = dt_meta_numel(&a->m);
  double total = 0, *v;
  void *p;
  DtStatus st;
  DT_TRYG(cx, dt_ctx_poll(cx));
  DT_TRYG(cx, dt_kernel_dense(cx, a, DT_F64, &x));
  if (weight) DT_TRYG(cx, dt_kernel_dense(cx, weight, DT_F64, &w));
  DT_TRYG(cx, like(cx, out, DT_F64, &sum, &p));
  DT_TRYG(cx, dt_k_fill(cx, sum, dt_scalar_int(0)));
  v = p;
  const double *from = dt_tensor_cdata(x);
  const double *by = w != NULL ? dt_tensor_cdata(w) : NULL;
  for (int64_t i = 0; i < count; i++) {
    int64_t bin = bin_of(edges, n, from[i]);
    if (bin >= 0) v[bin] += by != NULL ? by[i] : 1;
  }
  for (int64_t i = 0; density && i < n - 1; i++) total += v[i];
  for (int64_t i = 0; density && i < n - 1; i++)
    v[i] = v[i] / total / (edges[i + 1] - edges[i]);
  DT_TRYG(cx, dt_k_copy(cx, sum, out));
done:
  dt_tensor_unref(cx, x);
  dt_tensor_unref(cx, w);
  dt_tensor_unref(cx, sum);
  return st;
}
