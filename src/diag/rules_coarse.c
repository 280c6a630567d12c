/* SPDX-License-Identifier: MIT
** diag/rules_coarse.c: positions in a type that cannot tell them apart.
**
** bfloat16 holds whole numbers up to 256, float16 up to 2048: beyond, neighbours become
** one number.  Positions that were counted or cast so are followed through what is
** computed of them; it is told where angles are made of them (sin, cos). */
#include <math.h>
#include <string.h>
#include "diag/diag_int.h"

static DtCoarse *find (DtDiag *g, const DtVar *v) {
  for (int i = 0; v && i < DT_COARSES && i < g->ncoarse; i++)
    if (g->coarse[i].storage == v->local->storage->id) return &g->coarse[i];
  return NULL;
}

static void put (DtDiag *g, const DtVar *v, DtCoarse c) {
  DtCoarse *to = find(g, v);
  c.storage = v->local->storage->id;
  if (to == NULL) to = &g->coarse[g->ncoarse++ % DT_COARSES];
  *to = c;
}

/* The element i along the one dimension that is longer than 1. */
static double at (const DtTensor *t, int64_t i) {
  int64_t index[DT_MAX_NDIM] = { 0 };
  DtScalar x;
  for (int d = 0; d < t->m.ndim; d++)
    if (t->m.shape[d] > 1) index[d] = i;
  x = dt_tensor_get(t, index);
  return dt_dtype_is_float((DtDtype)t->m.dtype) ? x.re : (double)x.i;
}

/* Whole numbers that go up one after the other; the first that is the same as the one
** before, where `meets`: 0 there is none, -1 they are others. */
static int64_t counts (const DtTensor *t, bool meets) {
  const int64_t n = dt_meta_numel(&t->m);
  int64_t same = 0;
  double last = -INFINITY;
  for (int64_t i = 0; i < n; i++) {
    const double x = at(t, i);
    if (x != floor(x) || x < last || x < 0 || (!meets && x == last)) return -1;
    if (x == last && same == 0) same = i;
    last = x;
  }
  return same;
}

static bool is_row (const DtVar *v) {
  enum { MOST = 1 << 20 };
  int longer = 0;
  if (v == NULL || v->spec || v->requires_grad || dt_tensor_cdata(v->local) == NULL ||
      v->local->m.ndim > 4) return false;
  for (int d = 0; d < v->local->m.ndim; d++) longer += v->local->m.shape[d] > 1;
  return longer == 1 && dt_meta_numel(&v->local->m) > 256 &&
         dt_meta_numel(&v->local->m) <= MOST;
}

static bool is_arange (const char *name) { return strncmp(name, "aten.arange.", 12) == 0; }

/* Counted in such a type, or cast to it. */
static void coarsened (DtDiag *g, const DtEvent *e) {
  const DtVar *out = e->nout > 0 ? e->out[0] : NULL;
  const bool counted = is_arange(e->op->sig->full);
  int64_t same;
  if (e->status != DT_OK || e->backward || !is_row(out) ||
      !dt_dtype_is_float((DtDtype)out->local->m.dtype) ||
      dt_dtype_size((DtDtype)out->local->m.dtype) != 2) return;
  if (!counted && (e->nin < 1 || !is_row(e->in[0]) ||
                   counts(e->in[0]->local, false) < 0)) return;
  same = counts(out->local, true);
  if (same <= 0) return;
  put(g, out, (DtCoarse){ .at = dt_diag_here(g, e->op->sig->full), .id = out->id,
                          .dtype = (DtDtype)out->local->m.dtype,
                          .value = at(out->local, same) });
}

static bool makes_coarse (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_TO_COPY) || is_arange(op->sig->full);
}

static bool is_angle (const char *name) {
  return strncmp(name, "aten.cos.", 9) == 0 || strncmp(name, "aten.sin.", 9) == 0;
}

/* What is computed of them, of as many or more numbers, is followed. */
static void followed (DtDiag *g, const DtEvent *e) {
  const DtVar *out = e->nout > 0 ? e->out[0] : NULL;
  DtCoarse *c = NULL;
  const DtVar *in = NULL;
  DtBuf b;
  for (int i = 0; i < e->nin && c == NULL; i++) c = find(g, in = e->in[i]);
  if (c == NULL || e->status != DT_OK || e->backward || out == NULL) return;
  if (in->id == c->id) c->name = dt_diag_kept_name(g, in);
  if (!is_angle(e->op->sig->full)) {
    if (dt_meta_numel(&out->local->m) >= dt_meta_numel(&in->local->m) &&
        dt_dtype_is_float((DtDtype)out->local->m.dtype) && find(g, out) == NULL)
      put(g, out, *c);
    return;
  }
  if (c->at.line == 0 || dt_idset_has(&g->coarse_told, c->id)) return;
  dt_idset_add(g, &g->coarse_told, c->id);
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "in %s two of the positions become %g; angles are computed of them at "
              "%s:%d", dt_dtype_info(c->dtype)->name, c->value, e->file ? e->file : "",
              e->line);
  dt_diag_put_at(g, DT_FIND_ID_COARSE_POSITIONS, &c->at, c->name ? c->name : "", &b);
}

const DtDiagRule dt_rules_coarse[] = {
  { DT_EV_OP_END, coarsened, makes_coarse, 0 },
  { DT_EV_OP_END, followed, NULL, DT_WHEN(ncoarse) },
  { 0, NULL, NULL, 0 }
};
