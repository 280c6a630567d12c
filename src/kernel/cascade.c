/* SPDX-License-Identifier: MIT
** kernel/cascade.c: sums and means of f32 and f64 to the bit as PyTorch's.
**
** The order of operations depends on how the elements lie in memory, as it does
** in PyTorch: dims are sorted (reduced ones first, then by stride) and joined
** where they can be; two at a time are summed by cascade_int.h, and those
** sums are added to the output one after the other. */
#include <string.h>
#include "kernel/loops.h"
#include "tensor/iter.h"

typedef struct Sum {
  int nd;
  DtRedDim dim[DT_MAX_NDIM];    /* innermost first; out: 0 of reduced ones */
} Sum;

bool dt_cascades (DtReduce f, DtDtype in, DtDtype out) {
  return (f == DT_RED_SUM || f == DT_RED_MEAN) && in == out &&
         (in == DT_F32 || in == DT_F64);
}

/* Which of two dims comes first: above 0 the second, 0 undecided.  No total
** order: with qsort, or a sort that stops at undecided dims, elements would
** be added in another order and the last bits differ. */
static int order_of (const DtRedDim *a, const DtRedDim *b) {
  if ((a->out == 0) != (b->out == 0)) return b->out == 0 ? 1 : -1;
  if (a->out != 0 && a->out != b->out) return a->out < b->out ? -1 : 1;
  if (a->out != 0 && a->n > b->n) return 1;
  if (a->in == 0 || b->in == 0) return 0;
  if (a->in != b->in) return a->in < b->in ? -1 : 1;
  return a->n > b->n ? 1 : 0;
}

/* What is undecided stays where it is, and what is behind it is looked at. */
static void sort (Sum *s) {
  for (int i = 1; i < s->nd; i++)
    for (int at = i, k = i - 1; k >= 0; k--) {
      const int o = order_of(&s->dim[k], &s->dim[at]);
      if (o < 0) break;
      if (o == 0) continue;
      const DtRedDim t = s->dim[k];
      s->dim[k] = s->dim[at];
      s->dim[at] = t;
      at = k;
    }
}

static bool joins (DtRedDim *a, const DtRedDim *b) {
  if (b->n != 1 && a->n != 1 && (a->in * a->n != b->in || a->out * a->n != b->out))
    return false;
  if (a->n == 1) {
    a->in = b->in;
    a->out = b->out;
  }
  a->n *= b->n;
  return true;
}

static void join (Sum *s) {
  int n = 0;
  for (int i = 1; i < s->nd; i++)
    if (!joins(&s->dim[n], &s->dim[i])) s->dim[++n] = s->dim[i];
  if (s->nd > 0) s->nd = n + 1;
}

static void sum_init (Sum *s, const DtTensor *a, uint32_t dims,
                      const DtTensor *out) {
  const int64_t es = (int64_t)dt_dtype_size((DtDtype)a->m.dtype);
  const bool keeps = out->m.ndim == a->m.ndim;
  int o = 0;
  s->nd = a->m.ndim;
  for (int d = 0; d < s->nd; d++) {
    DtRedDim *x = &s->dim[s->nd - 1 - d];
    const bool reduced = (dims >> d) & 1;
    *x = (DtRedDim){a->m.shape[d], a->m.stride[d] * es, 0};
    if (!reduced) x->out = out->m.stride[o] * es;
    o += !reduced || keeps;
  }
  sort(s);
  join(s);
}

/* Dims 0 and 1. */
static void sum_plane (const Sum *s, DtDtype t, const char *in, char *out) {
  const DtRedDim one = {1, 0, 0};
  const DtRedDim *a = s->nd > 0 ? &s->dim[0] : &one;
  const DtRedDim *b = s->nd > 1 ? &s->dim[1] : &one;
  if (a->out == 0) {
    const DtCascade c = {t, out, in, a->n, b->n, a->in, b->in, b->out};
    dt_loops()->cascade(&c);
    return;
  }
  for (int64_t i = 0; i < b->n; i++) {          /* nothing is reduced */
    const DtCascade c = {t, out + i * b->out, in + i * b->in, 1, a->n, 0,
                         a->in, a->out};
    dt_loops()->cascade(&c);
  }
}

static void sum_run (const Sum *s, DtDtype t, const char *in, char *out) {
  int64_t count[DT_MAX_NDIM] = {0};
  for (;;) {
    int d = 2;
    sum_plane(s, t, in, out);
    for (; d < s->nd; d++) {
      in += s->dim[d].in;
      out += s->dim[d].out;
      if (++count[d] < s->dim[d].n) break;
      count[d] = 0;
      in -= s->dim[d].in * s->dim[d].n;
      out -= s->dim[d].out * s->dim[d].n;
    }
    if (d >= s->nd) return;
  }
}

static void divide (DtTensor *out, void *data, double n) {
  const DtMeta *m = &out->m;
  DtIter it;
  for (dt_iter_init(&it, 1, &m, &data); !it.done; dt_iter_next(&it))
    for (int64_t i = 0; i < it.n; i++) {
      void *p = it.ptr[0] + i * it.inner[0];
      if (out->m.dtype == DT_F32) *(float *)p /= (float)n;
      else *(double *)p /= n;
    }
}

/* The output is filled with 0 first because planes are added to it one by
** one. */
DtStatus dt_cascade_sum (DtCtx *cx, DtReduce f, const DtTensor *a,
                         uint32_t dims, DtTensor *out) {
  int64_t len = 1;
  const void *in = NULL;
  void *o;
  Sum s;
  DT_TRY(cx, dt_kernel_data(cx, out, &o, 1, &a, &in));
  if (o == NULL) return DT_OK;
  DT_TRY(cx, dt_k_fill(cx, out, dt_scalar_int(0)));
  sum_init(&s, a, dims, out);
  if (in != NULL) sum_run(&s, (DtDtype)a->m.dtype, in, o);
  if (f == DT_RED_SUM) return DT_OK;
  for (int d = 0; d < a->m.ndim; d++)
    if ((dims >> d) & 1) len *= a->m.shape[d];
  divide(out, o, (double)len);
  return DT_OK;
}
