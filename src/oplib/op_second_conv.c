/* SPDX-License-Identifier: MIT
** oplib/op_second_conv.c: gradients of the gradients of convolution.
**
** convolution_backward is bilinear in what it reads.  Given the gradients a (of
** its result for the input), b (for the weight) and d (for the bias), those of
** what it was made of are convolutions again:
**   grad_output: conv(a, weight) + conv(input, b) + d beside them
**   weight: of grad_output with a, over the batch: stride and dilation change
**           places, batch and channels, too; what is too large is cut off
**   input: of grad_output with b, the other way round (transposed)
** All are computed, whichever are wanted: _convolution_double_backward@2.15
** (native/Convolution.cpp) is one function, and its calls stand in traces. */
#include <string.h>

#include "oplib/grading.h"
#include "oplib/oplib_int.h"
#include "oplib/second.h"

#define G (TENSOR(0))
#define INPUT (TENSOR(1))
#define WEIGHT (TENSOR(2))

static DtHandle *conv (DtGradCall *c, DtHandle *x, DtHandle *w) {
  return EMIT("aten.convolution.default", "ttnvvvvvv", x, w, ARG(4), ARG(5),
              ARG(6), ARG(7), ARG(8), ARG(9));
}

static DtHandle *of_grad (DtGradCall *c, DtHandle *a, DtHandle *b, DtHandle *d) {
  DtHandle *g = a ? conv(c, a, WEIGHT) : NULL;
  if (b != NULL) g = add(c, g, conv(c, INPUT, b));
  if (d == NULL) return g;
  DtMeta m;
  int64_t shape[DT_MAX_NDIM];
  dt_meta_copy(&m, dt_emit_meta(c->e, G));
  for (int i = 0; i < m.ndim; i++) shape[i] = 1;
  shape[1] = m.shape[1];
  d = EMIT("aten.view.default", "tI", d, (int)m.ndim, shape);
  return add(c, g, EMIT("aten.expand.default", "tI", d, (int)m.ndim, m.shape));
}

static DtHandle *swap (DtGradCall *c, DtHandle *h) {
  return EMIT("aten.transpose.int", "tii", h, (int64_t)0, (int64_t)1);
}

/* The convolution over the batch, of channels of one group. */
static DtHandle *over_batch (DtGradCall *c, DtHandle *at, DtHandle *gt) {
  bool transposed = dt_arg_bool(c->args, 7);
  return EMIT("aten.convolution.default", "ttnvvvbvi", transposed ? gt : at,
              transposed ? at : gt, ARG(6), ARG(5), ARG(4), 0, ARG(8),
              (int64_t)1);
}

/* Channels of group k out of n, in dimension 0. */
static DtHandle *group (DtGradCall *c, DtHandle *h, int64_t k, int64_t n) {
  const DtMeta *m = dt_emit_meta(c->e, h);
  int64_t size = m ? m->shape[0] / n : 0;
  return EMIT("aten.slice.Tensor", "tiii", h, (int64_t)0, k * size,
              (k + 1) * size);
}

/* By groups: their channels apart, results side by side. */
static DtHandle *over_batch_groups (DtGradCall *c, DtHandle *at, DtHandle *gt) {
  int64_t n = dt_arg_int(c->args, 9);
  if (n == 1) return over_batch(c, at, gt);
  DtHandle **part = DT_ANEWN(c->e->cx, c->e->arena, DtHandle *, n);
  if (part == NULL) {
    c->e->st = DT_E_NOMEM;
    return NULL;
  }
  for (int64_t k = 0; k < n; k++) {
    DtHandle *a = group(c, at, k, n);
    part[k] = over_batch(c, a, group(c, gt, k, n));
  }
  return EMIT("aten.cat.default", "Ti", (int)n, part, (int64_t)1);
}

static DtHandle *of_weight (DtGradCall *c, DtHandle *a) {
  DtHandle *gt = swap(c, G), *h = over_batch_groups(c, swap(c, a), gt);
  DtMeta want, m;
  h = swap(c, h);
  dt_meta_copy(&want, dt_emit_meta(c->e, WEIGHT));
  dt_meta_copy(&m, dt_emit_meta(c->e, h));
  for (int i = 2; dt_emit_ok(c->e) && i < m.ndim; i++)
    if (m.shape[i] > want.shape[i])
      h = EMIT("aten.slice.Tensor", "tiii", h, (int64_t)i, (int64_t)0,
               want.shape[i]);
  return h;
}

/* Argument `i`, of one number or one a dimension. */
static int64_t nth (DtGradCall *c, int i, int d) {
  int64_t v[DT_MAX_NDIM] = { 0 };
  int n = dt_arg_ints(c->args, i, v, DT_MAX_NDIM);
  return v[n == 1 ? 0 : d];
}

/* How much longer than the shortest fitting one the input was: padding of the
** transposed convolution's result. */
static void left_over (DtGradCall *c, int nd, int64_t *left) {
  const DtMeta *g = dt_emit_meta(c->e, G), *x = dt_emit_meta(c->e, INPUT);
  const DtMeta *w = dt_emit_meta(c->e, WEIGHT);
  for (int d = 0; d < nd; d++)
    left[d] = x->shape[d + 2] + 2 * nth(c, 5, d) - 1 -
              (w->shape[d + 2] - 1) * nth(c, 6, d) -
              (g->shape[d + 2] - 1) * nth(c, 4, d);
}

static DtHandle *of_input (DtGradCall *c, DtHandle *b) {
  int64_t left[DT_MAX_NDIM];
  if (dt_arg_bool(c->args, 7))
    return EMIT("aten.convolution.default", "ttnvvvbvv", G, b, ARG(4), ARG(5),
                ARG(6), 0, ARG(8), ARG(9));
  int nd = dt_emit_meta(c->e, G)->ndim - 2;
  left_over(c, nd, left);
  return EMIT("aten.convolution.default", "ttnvvvbIv", G, b, ARG(4), ARG(5),
              ARG(6), 1, nd, left, ARG(9));
}

DtStatus op_gg_convolution_backward (DtGradCall *c) {
  DtHandle *a = c->gout[0], *b = c->gout[1];
  DtHandle *g = of_grad(c, a, b, c->gout[2]);
  DtHandle *weight = a ? of_weight(c, a) : NULL;
  DtHandle *input = b && dt_emit_ok(c->e) ? of_input(c, b) : NULL;
  if (op_g_need(c, 0)) op_g_set(c, 0, g);
  if (op_g_need(c, 1)) op_g_set(c, 1, input);
  if (op_g_need(c, 2)) op_g_set(c, 2, weight);
  return op_g_finish(c);
}
