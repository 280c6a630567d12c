/* SPDX-License-Identifier: MIT
** kernel/product.c: products of 16-bit floats, rounded after each factor.
**
** Does not do other reductions (reduce.c): those keep more digits until the
** end.  PyTorch rounds a product of f16 or bf16 to its dtype after every
** factor, so the order decides every digit.  It is this: reduced dims are
** walked as they lie in memory, the one with the smallest stride innermost.
** A run that is dense is folded into four accumulators of sixteen lanes, as
** far as it fills them; these are combined, (0 1) (2 3), then lane by lane.
** What is left of the run, and runs that are not dense, go one by one. */

#include <string.h>
#include "kernel/kernel_int.h"

enum { LANES = 16, WAYS = 4, FRONT = LANES * WAYS };

typedef struct Walk {
  int n;
  int64_t size[DT_MAX_NDIM], step[DT_MAX_NDIM];         /* bytes */
} Walk;

typedef struct Product {
  DtDtype in_t, out_t;
  Walk red;                     /* the innermost dim first */
} Product;

static float rounded (DtDtype t, float v) {
  return t == DT_BF16 ? dt_bf16_to_f32(dt_f32_to_bf16(v))
                      : dt_f16_to_f32(dt_f32_to_f16(v));
}

static float times (DtDtype t, float a, float b) { return rounded(t, a * b); }

/* n elements that were loaded, as the product's dtype holds them. */
static void load (const Product *j, const char *p, int64_t step, float *v,
                  int64_t n) {
  double wide[FRONT];
  dt_run_load(DT_CL_F64, wide, j->in_t, p, step, n);
  for (int64_t i = 0; i < n; i++) v[i] = rounded(j->out_t, (float)wide[i]);
}

/* The accumulators of the front part of a dense run, as one factor. */
static float front (const Product *j, const char *p, int64_t n) {
  float acc[FRONT], v[FRONT], r;
  int64_t step = j->red.step[0];
  load(j, p, step, acc, FRONT);
  for (int64_t i = FRONT; i < n; i += FRONT) {
    load(j, p + i * step, step, v, FRONT);
    for (int k = 0; k < FRONT; k++) acc[k] = times(j->out_t, acc[k], v[k]);
  }
  for (int w = 0; w < WAYS; w += 2)
    for (int k = 0; k < LANES; k++)
      acc[w * LANES + k] = times(j->out_t, acc[w * LANES + k],
                                 acc[(w + 1) * LANES + k]);
  for (int k = 0; k < LANES; k++)
    acc[k] = times(j->out_t, acc[k], acc[2 * LANES + k]);
  r = acc[0];
  for (int k = 1; k < LANES; k++) r = times(j->out_t, r, acc[k]);
  return r;
}

/* r times the elements of one innermost run. */
static float run (const Product *j, const char *p, float r) {
  int64_t n = j->red.size[0], step = j->red.step[0], at = 0;
  float v[FRONT];
  if (step == (int64_t)dt_dtype_size(j->in_t) && n >= FRONT) {
    at = n / FRONT * FRONT;
    r = times(j->out_t, r, front(j, p, at));
  }
  while (at < n) {
    int64_t k = n - at < FRONT ? n - at : FRONT;
    load(j, p + at * step, step, v, k);
    for (int64_t i = 0; i < k; i++) r = times(j->out_t, r, v[i]);
    at += k;
  }
  return r;
}

/* Step `at` through all but the first `from` dims; false at the end. */
static bool next (const Walk *w, int from, int64_t *count, int64_t *at) {
  for (int d = from; d < w->n; d++) {
    *at += w->step[d];
    if (++count[d] < w->size[d]) return true;
    count[d] = 0;
    *at -= w->step[d] * w->size[d];
  }
  return false;
}

static float product (const Product *j, const char *p) {
  int64_t count[DT_MAX_NDIM] = {0}, at = 0;
  float r = 1;
  do r = run(j, p + at, r); while (next(&j->red, 1, count, &at));
  return r;
}

/* A dim into a walk, by stride.  One of stride 0 is undecided against any
** other and keeps its place, as in PyTorch's TensorIterator. */
static void add (Walk *w, int64_t size, int64_t step) {
  int at = w->n++;
  for (int i = at - 1; i >= 0 && step != 0; i--) {
    if (w->step[i] == 0) continue;
    if (w->step[i] <= step) break;
    w->size[at] = w->size[i];
    w->step[at] = w->step[i];
    at = i;
  }
  w->size[at] = size;
  w->step[at] = step;
}

static void join (Walk *w) {
  int n = 0;
  for (int i = 1; i < w->n; i++) {
    if (w->step[i] == w->size[n] * w->step[n]) w->size[n] *= w->size[i];
    else {
      n++;
      w->size[n] = w->size[i];
      w->step[n] = w->step[i];
    }
  }
  w->n = n + 1;
}

/* The dims of `a` apart: those that are reduced, and those that stay with the
** outputs' strides. */
static void split (Product *j, const DtTensor *a, uint32_t dims,
                   const DtTensor *out, Walk *in, Walk *to) {
  int64_t es = (int64_t)dt_dtype_size(j->in_t);
  int o = 0;
  bool keeps = out->m.ndim == a->m.ndim;
  for (int d = 0; d < a->m.ndim; d++) {
    int64_t n = a->m.shape[d], step = a->m.stride[d] * es;
    if ((dims >> d) & 1) {
      o += keeps;
      continue;
    }
    in->size[in->n] = to->size[to->n] = n;
    in->step[in->n++] = step;
    to->step[to->n++] = out->m.stride[o++] *
                        (int64_t)dt_dtype_size(j->out_t);
  }
  for (int d = a->m.ndim - 1; d >= 0; d--)
    if (((dims >> d) & 1) && a->m.shape[d] != 1)
      add(&j->red, a->m.shape[d], a->m.stride[d] * es);
  if (j->red.n == 0) add(&j->red, 1, es);
  join(&j->red);
}

DtStatus dt_k_product_narrow (DtCtx *cx, const DtTensor *a, uint32_t dims,
                              DtTensor *out) {
  Product j = { .in_t = (DtDtype)a->m.dtype, .out_t = (DtDtype)out->m.dtype };
  Walk in = {0}, to = {0};
  int64_t ci[DT_MAX_NDIM] = {0}, co[DT_MAX_NDIM] = {0}, i = 0, o = 0;
  const void *from = NULL;
  void *data;
  DT_TRY(cx, dt_kernel_data(cx, out, &data, 1, &a, &from));
  if (data == NULL) return DT_OK;
  split(&j, a, dims, out, &in, &to);
  do {
    double r = from == NULL ? 1 : (double)product(&j, (const char *)from + i);
    dt_run_store(DT_CL_F64, &r, j.out_t, (char *)data + o, 0, 1);
    (void)next(&to, 0, co, &o);
  } while (next(&in, 0, ci, &i));
  return DT_OK;
}
