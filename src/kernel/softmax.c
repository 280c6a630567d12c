/* SPDX-License-Identifier: MIT
** kernel/softmax.c: softmax and log_softmax along a dim, and gradients.
**
** Line by line, in single precision when the result has no more (softmax_int.h)
** and in double otherwise: the largest element is taken off first, so that no
** exponential overflows.  A line whose largest element is -inf gives NaN, as
** PyTorch's does. */

#include <math.h>
#include "kernel/loops.h"

typedef struct Work {
  double *x, *y;                /* a line each, as double */
  int64_t n;
} Work;

static DtStatus work_init (DtCtx *cx, Work *w, int64_t n) {
  w->n = n;
  w->x = dt_alloc(cx, (size_t)n * 2 * sizeof(double));
  if (w->x == NULL) return DT_E_NOMEM;
  w->y = w->x + n;
  return DT_OK;
}

/* x[n] to its softmax, in place; e: n more. */
static void softmax_line (bool log_form, double *x, double *e, int64_t n) {
  double max = -INFINITY;
  for (int64_t i = 0; i < n; i++)
    max = x[i] > max || x[i] != x[i] ? x[i] : max;
  for (int64_t i = 0; i < n; i++) x[i] -= max;
  for (int64_t i = 0; i < n; i++) e[i] = exp(x[i]);
  double sum = dt_sum_f64(e, n), ls = log(sum);
  if (log_form) for (int64_t i = 0; i < n; i++) x[i] -= ls;
  else for (int64_t i = 0; i < n; i++) x[i] = e[i] / sum;
}

/* A line of single precision, through buf[n] where it is stored otherwise. */
static void line_f32 (const DtLines *l, bool log_form, DtDtype from,
                      DtDtype to, DtDtype sum_t, float *buf) {
  int64_t n = l->len[0], es = (int64_t)sizeof(float);
  bool in = from == DT_F32 && l->stride[1] == es;
  bool out = to == DT_F32 && l->stride[0] == es;
  const float *x = in ? (const float *)(const void *)l->p[1] : buf;
  float *y = out ? (float *)(void *)l->p[0] : buf;
  if (!in) dt_run_load(DT_CL_F32, buf, from, l->p[1], l->stride[1], n);
  dt_loops()->softmax_f32(log_form, sum_t, x, y, n);
  if (!out) dt_run_store(DT_CL_F32, buf, to, l->p[0], l->stride[0], n);
}

static int64_t line_len (const DtTensor *t, int dim) {
  return t->m.ndim == 0 ? 1 : t->m.shape[dim];
}

/* All lines of bf16: as they lie in memory, or through `own`.  The buffer
** begins where a cache line does. */
static DtStatus all_bf16 (DtCtx *cx, DtLines *l, bool log_form, DtDtype sum_t,
                          int64_t n) {
  enum { SIZE = sizeof(uint16_t), PAD = 32, LINE = 64 };
  float *base = dt_alloc(cx, (size_t)(n + PAD) * sizeof *base +
                             (size_t)n * SIZE + LINE);
  if (base == NULL) return DT_E_NOMEM;
  float *buf = base + (-(uintptr_t)base & (LINE - 1)) / sizeof *base;
  uint16_t *own = (uint16_t *)(void *)(buf + n + PAD);
  for (; !l->done; dt_lines_next(l)) {
    const uint16_t *x = (const uint16_t *)(const void *)l->p[1];
    const bool in_place = l->stride[0] == SIZE;
    uint16_t *y = in_place ? (uint16_t *)(void *)l->p[0] : own;
    if (l->stride[1] != SIZE) {
      dt_run_move(SIZE, own, SIZE, x, l->stride[1], n);
      x = own;
    }
    dt_loops()->softmax_bf16(log_form, sum_t, x, y, buf, n);
    if (!in_place) dt_run_move(SIZE, l->p[0], l->stride[0], y, SIZE, n);
  }
  dt_free(cx, base);
  return DT_OK;
}

DtStatus dt_k_softmax (DtCtx *cx, bool log, const DtTensor *a, int dim,
                       DtTensor *out) {
  const DtMeta *metas[2] = {&out->m, &a->m};
  void *data[2];
  const void *in = NULL;
  Work w;
  DtLines l;
  DT_TRY(cx, dt_kernel_data(cx, out, &data[0], 1, &a, &in));
  if (data[0] == NULL) return DT_OK;
  data[1] = (void *)(uintptr_t)in;
  DtDtype from = (DtDtype)a->m.dtype, to = (DtDtype)out->m.dtype;
  DtClass c = dt_class_of(to) == DT_CL_F32 ? DT_CL_F32 : DT_CL_F64;
  /* The sum is kept in the result's type along the last dim only. */
  DtDtype sum_t = dim >= a->m.ndim - 1 ? to : DT_F64;
  dt_lines_init(&l, 2, metas, data, dim);
  if (from == DT_BF16 && to == DT_BF16)
    return all_bf16(cx, &l, log, sum_t, line_len(a, dim));
  DT_TRY(cx, work_init(cx, &w, line_len(a, dim)));
  for (; !l.done; dt_lines_next(&l)) {
    if (c == DT_CL_F32) {
      line_f32(&l, log, from, to, sum_t, (float *)w.x);
      continue;
    }
    dt_run_load(c, w.x, from, l.p[1], l.stride[1], w.n);
    softmax_line(log, w.x, w.y, w.n);
    dt_run_store(c, w.x, to, l.p[0], l.stride[0], w.n);
  }
  dt_free(cx, w.x);
  return DT_OK;
}

/* softmax: (g - sum(g y)) y;  log_softmax: g - exp(y) sum(g) */
static void backward_line (bool log_form, double *g, double *y, int64_t n) {
  if (log_form) {
    double s = dt_sum_f64(g, n);
    for (int64_t i = 0; i < n; i++) g[i] -= exp(y[i]) * s;
    return;
  }
  for (int64_t i = 0; i < n; i++) g[i] *= y[i];
  double s = dt_sum_f64(g, n);
  for (int64_t i = 0; i < n; i++) g[i] -= y[i] * s;
}

DtStatus dt_k_softmax_backward (DtCtx *cx, bool log, const DtTensor *grad,
                                const DtTensor *output, int dim,
                                DtTensor *out) {
  const DtTensor *in[2] = {grad, output};
  const DtMeta *metas[3] = {&out->m, &grad->m, &output->m};
  void *data[3];
  const void *cdata[2] = {NULL};
  Work w;
  DtLines l;
  DT_TRY(cx, dt_kernel_data(cx, out, &data[0], 2, in, cdata));
  if (data[0] == NULL) return DT_OK;
  for (int k = 0; k < 2; k++) data[k + 1] = (void *)(uintptr_t)cdata[k];
  DT_TRY(cx, work_init(cx, &w, line_len(out, dim)));
  dt_lines_init(&l, 3, metas, data, dim);
  for (; !l.done; dt_lines_next(&l)) {
    dt_run_load(DT_CL_F64, w.x, (DtDtype)grad->m.dtype, l.p[1], l.stride[1],
                w.n);
    dt_run_load(DT_CL_F64, w.y, (DtDtype)output->m.dtype, l.p[2],
                l.stride[2], w.n);
    backward_line(log, w.x, w.y, w.n);
    dt_run_store(DT_CL_F64, w.x, (DtDtype)out->m.dtype, l.p[0], l.stride[0],
                 w.n);
  }
  dt_free(cx, w.x);
  return DT_OK;
}
