/* SPDX-License-Identifier: MIT
** kernel/blocks.c: sliding blocks as columns (im2col) and back (col2im).
**
** Columns hold, for each position of the window, one value of each channel
** and window offset: cols[n][c][k][y].  Outside the input they are zero.
** Unfolding copies elements whatever their type; folding sums in f64. */
#include <string.h>
#include "kernel/kernel_int.h"
#include "kernel/spatial.h"

typedef void (*RowFn) (const DtBlocks *b, size_t es, char *x, char *y,
                       int64_t p0);

/* Positions [*from, *to) of the last dim that lie within the input, for an
** offset k of the window.  Both ends round up: the first position that is
** not in front of the input, and the first that is behind it. */
static void inside (const DtBlocks *b, int d, int64_t k, int64_t *from,
                    int64_t *to) {
  int64_t first = k * b->dil[d] - b->pad[d], s = b->stride[d];
  int64_t lo = first < 0 ? (-first + s - 1) / s : 0;
  int64_t left = b->x[d] - first;
  int64_t hi = left > 0 ? (left + s - 1) / s : 0;
  *from = lo < b->y[d] ? lo : b->y[d];
  *to = hi < b->y[d] ? hi : b->y[d];
  if (*to < *from) *to = *from;
}

static void row_move (const DtBlocks *b, size_t es, char *x, char *y,
                      int64_t n) {
  dt_run_move(es, y, (int64_t)es, x, b->stride[2] * (int64_t)es, n);
}

/* Elements are one or two doubles. */
static void row_add (const DtBlocks *b, size_t es, char *x, char *y,
                     int64_t n) {
  int64_t w = (int64_t)(es / sizeof(double)), s = b->stride[2] * w;
  double *to = (double *)(void *)x;
  const double *from = (const double *)(void *)y;
  for (int64_t i = 0; i < n; i++)
    for (int64_t c = 0; c < w; c++) to[i * s + c] += from[i * w + c];
}

/* One channel and one offset k of the window: rows of positions. */
static void offset_rows (const DtBlocks *b, RowFn f, size_t es,
                         const int64_t *k, char *x, char *y) {
  int64_t from[3], to[3], i[3], p[3];
  for (int d = 0; d < 3; d++) inside(b, d, k[d], &from[d], &to[d]);
  if (to[2] == from[2]) return;
  p[2] = from[2] * b->stride[2] + k[2] * b->dil[2] - b->pad[2];
  for (i[0] = from[0]; i[0] < to[0]; i[0]++)
    for (i[1] = from[1]; i[1] < to[1]; i[1]++) {
      p[0] = i[0] * b->stride[0] + k[0] * b->dil[0] - b->pad[0];
      p[1] = i[1] * b->stride[1] + k[1] * b->dil[1] - b->pad[1];
      int64_t at = (p[0] * b->x[1] + p[1]) * b->x[2] + p[2];
      int64_t to_y = (i[0] * b->y[1] + i[1]) * b->y[2] + from[2];
      f(b, es, x + (size_t)at * es, y + (size_t)to_y * es, to[2] - from[2]);
    }
}

static int64_t volume (const int64_t *s) { return s[0] * s[1] * s[2]; }

static void all_rows (const DtBlocks *b, RowFn f, size_t es, char *x,
                      char *y) {
  size_t vx = (size_t)volume(b->x) * es, vy = (size_t)volume(b->y) * es;
  int64_t k[3];
  if (vx == 0 || vy == 0) return;
  for (int64_t c = 0; c < b->n * b->c; c++, x += vx)
    for (k[0] = 0; k[0] < b->k[0]; k[0]++)
      for (k[1] = 0; k[1] < b->k[1]; k[1]++)
        for (k[2] = 0; k[2] < b->k[2]; k[2]++, y += vy)
          offset_rows(b, f, es, k, x, y);
}

static DtStatus zeros (DtCtx *cx, const DtTensor *t, DtDtype d,
                       DtTensor **out, void **data) {
  DtMeta m;
  DT_TRY(cx, dt_meta_init(cx, &m, d, t->m.ndim, t->m.shape));
  DT_TRY(cx, dt_tensor_new(cx, &m, false, out));
  DT_TRY(cx, dt_k_fill(cx, *out, dt_scalar_int(0)));
  return dt_tensor_data(cx, *out, data);
}

DtStatus dt_k_unfold (DtCtx *cx, const DtBlocks *b, const DtTensor *in,
                      DtTensor *cols) {
  DtTensor *x = NULL, *y = NULL;
  DtDtype d = (DtDtype)in->m.dtype;
  DtStatus st;
  void *p;
  DT_TRYG(cx, dt_kernel_dense(cx, in, d, &x));
  DT_TRYG(cx, zeros(cx, cols, d, &y, &p));
  if (dt_tensor_cdata(x) != NULL)
    all_rows(b, row_move, dt_dtype_size(d),
             (char *)(uintptr_t)dt_tensor_cdata(x), (char *)p);
  st = dt_k_copy(cx, y, cols);
done:
  dt_tensor_unref(cx, x);
  dt_tensor_unref(cx, y);
  return st;
}

DtStatus dt_k_fold (DtCtx *cx, const DtBlocks *b, const DtTensor *cols,
                    DtTensor *out) {
  DtTensor *x = NULL, *y = NULL;
  DtDtype d = dt_dtype_is_complex((DtDtype)out->m.dtype) ? DT_C128 : DT_F64;
  DtStatus st;
  void *p;
  DT_TRYG(cx, dt_kernel_dense(cx, cols, d, &y));
  DT_TRYG(cx, zeros(cx, out, d, &x, &p));
  if (dt_tensor_cdata(y) != NULL)
    all_rows(b, row_add, dt_dtype_size(d), (char *)p,
             (char *)(uintptr_t)dt_tensor_cdata(y));
  st = dt_k_copy(cx, x, out);
done:
  dt_tensor_unref(cx, x);
  dt_tensor_unref(cx, y);
  return st;
}
