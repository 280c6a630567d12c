/* SPDX-License-Identifier: MIT
** oplib/op_second_window.c: gradients of the gradients of pooling, resizing and
** padding.  Each is linear in the gradient it is given: its own gradient there
** is the forward, or for maxima what the forward picked. */
#include <stdio.h>
#include <string.h>

#include "oplib/grading.h"
#include "oplib/oplib_int.h"
#include "oplib/second.h"

/* The input is read for its shape and places alone: zeros, made of its shape as
** PyTorch keeps it (TypeAndSize), so that the input itself is not kept. */
static DtStatus finish_linear (DtGradCall *c, DtHandle *h) {
  if (op_g_need(c, 0)) op_g_set(c, 0, h);
  if (op_g_need(c, 1)) op_g_set(c, 1, zeros_of(c, TENSOR(1)));
  return op_g_finish(c);
}

/* The elements of GOUT at the places that the forward took, over the last `nd`
** dims as one. */
static DtHandle *pick (DtGradCall *c, DtHandle *index, int nd) {
  DtMeta m;
  int64_t shape[DT_MAX_NDIM];
  dt_meta_copy(&m, dt_emit_meta(c->e, index));
  if (!dt_emit_ok(c->e)) return NULL;
  int lead = m.ndim - nd;
  memcpy(shape, m.shape, sizeof(int64_t) * (size_t)lead);
  shape[lead] = -1;
  DtHandle *at = EMIT("aten.reshape.default", "tI", index, lead + 1, shape);
  DtHandle *flat = EMIT("aten.reshape.default", "tI", GOUT, lead + 1, shape);
  flat = EMIT("aten.gather.default", "tit", flat, (int64_t)-1, at);
  return EMIT("aten.view.default", "tI", flat, (int)m.ndim, m.shape);
}

/* The number before the last 'd' of avg_pool2d_backward: dims of a window. */
static int window_dims (const DtGradCall *c) {
  const char *s = strstr(c->op->sig->base, "d_backward");
  if (s == NULL) s = strstr(c->op->sig->base, "d_with_indices");
  return s[-1] - '0';
}

DtStatus op_gg_max_pool_backward (DtGradCall *c) {
  return finish_linear(c, pick(c, TENSOR(7), window_dims(c)));
}

DtStatus op_gg_adaptive_max_pool_backward (DtGradCall *c) {
  return finish_linear(c, pick(c, TENSOR(2), window_dims(c)));
}

DtStatus op_gg_fractional_max_pool_backward (DtGradCall *c) {
  return finish_linear(c, pick(c, TENSOR(4), window_dims(c)));
}

DtStatus op_gg_avg_pool_backward (DtGradCall *c) {
  return finish_linear(c, EMIT(window_dims(c) == 3 ? "aten.avg_pool3d.default"
                                                   : "aten.avg_pool2d.default",
                               "tvvvvvv", GOUT, ARG(2), ARG(3), ARG(4), ARG(5),
                               ARG(6), ARG(7)));
}

DtStatus op_gg_adaptive_avg_pool_backward (DtGradCall *c) {
  const DtMeta *m = dt_emit_meta(c->e, TENSOR(0));
  int nd = window_dims(c);
  if (!dt_emit_ok(c->e)) return c->e->st;
  return finish_linear(c, EMIT(nd == 3 ? "aten._adaptive_avg_pool3d.default"
                                       : "aten._adaptive_avg_pool2d.default",
                               "tI", GOUT, nd, m->shape + m->ndim - nd));
}

/* "reflection_pad2d_backward" -> "aten.reflection_pad2d.default" */
static void name_forward (const DtGradCall *c, size_t size, char *name) {
  const char *base = c->op->sig->base;
  snprintf(name, size, "aten.%.*s.default",
           (int)(strlen(base) - strlen("_backward")), base);
}

DtStatus op_gg_pad_backward (DtGradCall *c) {
  char name[64];
  name_forward(c, sizeof name, name);
  return finish_linear(c, EMIT(name, "tv", GOUT, ARG(2)));
}

/* X_backward(g, output_size, input_size, ...) to X(g, output_size, ...). */
DtStatus op_gg_upsample_backward (DtGradCall *c) {
  DtValue pos[8];
  DtHandle *in = GOUT, *out = NULL;
  DtOutputs got = { &out, 1, 0, NULL };
  char name[80];
  int n = 0;
  name_forward(c, sizeof name, name);
  pos[n++] = dt_v_slot(0);
  pos[n++] = ARG(1);
  for (int i = 3; i < c->args->schema->nargs && n < 8; i++) pos[n++] = ARG(i);
  DT_TRY(c->e->cx, c->e->vt->call(c->e, name, &(DtGiven){ .npos = n, .pos = pos },
                                  1, &in, &got));
  op_g_set(c, 0, out);
  return op_g_finish(c);
}
