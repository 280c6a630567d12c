/* SPDX-License-Identifier: MIT
** diag/rules_capped.c: gradients that are clipped while they are the sum over the ranks,
** and divided by their number afterwards.
**
** The bound was chosen for the mean: clipped before, the mean comes out as many times
** below it.  A bound that was multiplied by the ranks on purpose is known by its digits:
** 4 is 1 * 4, while a quarter of 1 has more digits than it. */
#include <math.h>
#include <string.h>
#include "diag/diag_int.h"

enum { CAPS = 64 };

typedef struct Capped {
  int64_t storage;              /* of the gradient */
  int over;                     /* ranks that it is the sum of */
  double most, by;              /* the bound; what it was multiplied by */
  int line;                     /* there */
  const char *file;
} Capped;

struct DtCaps {
  int64_t factor;               /* id of bound / norm, or of that below 1 */
  double most;                  /* the bound */
  Capped v[CAPS];
};

void dt_diag_caps_free (DtDiag *g) {
  dt_free(g->s->cx, g->caps);
  g->caps = NULL;
  g->ncaps = 0;
}

static bool is_one (const DtVar *v) {
  return v && !v->spec && v->local && dt_meta_numel(&v->local->m) == 1 &&
         dt_tensor_has_data(v->local);
}

/* --- the factor --- */

static bool makes_factor (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.clamp.default", "aten.clamp_max.default",
    NULL };
  return dt_diag_named(op, names) ||
         (!dt_diag_inplace(g, op) && (dt_diag_op_is(g, op, DT_DO_MUL) ||
                                      dt_diag_op_is(g, op, DT_DO_MUL_SCALAR)));
}

/* bound / norm is the norm's reciprocal, times the bound. */
static void on_factor (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  if (e->status != DT_OK || e->backward || e->nout < 1 || !is_one(v) ||
      !is_one(e->out[0]) || v->origin.op == NULL || !g->normed) return;
  if (strstr(e->op->sig->full, "clamp")) {
    if (g->caps && g->caps->factor == v->id) g->caps->factor = e->out[0]->id;
    return;
  }
  if (strncmp(v->origin.op, "aten.reciprocal.", 16) != 0 || e->args->n < 2 ||
      !dt_arg_is_number(e->args, 1)) return;
  if (g->caps == NULL && (g->caps = DT_NEW(g->s->cx, struct DtCaps)) == NULL) {
    dt_error_clear(g->s->cx);
    return;
  }
  g->caps->factor = e->out[0]->id;
  g->caps->most = dt_arg_float(e->args, 1);
  g->ncaps++;
}

/* --- clipped, then divided --- */

static bool scales (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_inplace(g, op) &&
         (dt_diag_op_is(g, op, DT_DO_MUL) || dt_diag_op_is(g, op, DT_DO_MUL_SCALAR) ||
          dt_diag_op_is(g, op, DT_DO_DIV) || dt_diag_op_is(g, op, DT_DO_DIV_SCALAR) ||
          strncmp(op->sig->full, "aten._foreach_mul_.", 19) == 0 ||
          strncmp(op->sig->full, "aten._foreach_div_.", 19) == 0);
}

static void clipped (DtDiag *g, const DtEvent *e, const DtVar *v, double by) {
  int over = 0, times = 0;
  if (!(by < 1) || dt_diag_share_kept(g, v->local, &over, &times) != DT_KEPT_SUM ||
      times > 1 ||
      dt_diag_digits(g->caps->most / over) <= dt_diag_digits(g->caps->most)) return;
  g->caps->v[(uint64_t)v->local->storage->id % CAPS] = (Capped){
    .storage = v->local->storage->id, .over = over, .most = g->caps->most, .by = by,
    .line = e->line, .file = e->file };
}

static void divided (DtDiag *g, const DtEvent *e, const DtVar *v, double by) {
  Capped *c = &g->caps->v[(uint64_t)v->local->storage->id % CAPS];
  const DtLearn *l = dt_diag_by_grad(g, v->local->storage->id);
  const DtOrigin at = { .op = e->op->sig->full, .file = e->file, .line = e->line,
                        .seq = e->seq };
  DtBuf b;
  if (c->storage != v->local->storage->id || c->over < 2 || l == NULL ||
      fabs(by * c->over - 1) > 1e-6) return;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "the gradient was the sum over %d ranks when it was clipped to a norm of "
              "%g (multiplied by %.3g) at %s:%d; what is left is %g", c->over, c->most,
              c->by, c->file ? c->file : "", c->line, c->most / c->over);
  dt_diag_put_at(g, DT_FIND_ID_CLIPPED_SUM, &at, dt_diag_learn_name(l), &b);
  c->storage = 0;
}

static void on_scaled (DtDiag *g, const DtEvent *e) {
  const bool div = strstr(e->op->sig->full, "div") != NULL;
  const bool list = strstr(e->op->sig->full, "_foreach_") != NULL;
  const DtVar *factor = e->nin > 1 ? e->in[e->nin - 1] : NULL;
  double x = 1;
  if (e->status != DT_OK || e->backward || dt_session_no_data(g->s)) return;
  if (e->args->n > 1 && dt_arg_is_number(e->args, 1)) x = dt_arg_float(e->args, 1);
  else if (is_one(factor))
    x = dt_tensor_get(factor->local, (int64_t[DT_MAX_NDIM]){ 0 }).re;
  if (!(x > 0)) return;
  for (int i = 0; i < e->nin && (list || i == 0); i++) {
    if (e->in[i] == NULL || e->in[i]->spec || e->in[i] == factor) continue;
    if (!div && is_one(factor) && factor->id == g->caps->factor)
      clipped(g, e, e->in[i], x);
    else divided(g, e, e->in[i], div ? 1 / x : x);
  }
}

/* Other gradients come into the same memory. */
static void on_backward (DtDiag *g, const DtEvent *e) {
  (void)e;
  memset(g->caps->v, 0, sizeof g->caps->v);
}

const DtDiagRule dt_rules_capped[] = {
  { DT_EV_OP_END, on_factor, makes_factor, DT_WHEN(nlearn) },
  { DT_EV_OP_END, on_scaled, scales, DT_WHEN(ncaps) },
  { DT_EV_BACKWARD, on_backward, NULL, DT_WHEN(ncaps) },
  { 0, NULL, NULL, 0 }
};
