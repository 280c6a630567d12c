/* SPDX-License-Identifier: MIT
** diag/rules_grad.c: traps of backward: gradients that should be equal on all
** replicas, gradients laid out otherwise than their parameter, losses that
** count locally, the replaced log_softmax. */
#include <string.h>
#include "diag/diag_int.h"

/* Replicas of `v` must be equal, along every dimension it is Replicate on.  subject NULL:
** it is the gradient of `of`. */
static void claim_equal_replicas (DtDiag *g, const DtEvent *e, DtFindId id,
                                  const DtVar *v, const char *subject,
                                  const DtVar *of, const char *what) {
  const DtSpec *s = v->spec;
  uint64_t h = 0;
  int m;
  if (s == NULL || dt_session_no_data(g->s)) return;
  for (m = 0; m < s->npl && m < s->mesh->ndim; m++) {
    if (!dt_pl_is_replicate(s->pl[m]) || s->mesh->shape[m] < 2) continue;
    if (h == 0) h = dt_diag_hash(v->local, false);
    if (subject) dt_diag_claim_named(g, e, id, false, s->mesh, m, subject, h, what);
    else dt_diag_claim(g, e, id, false, s->mesh, m, of, h, what);
  }
}

void dt_diag_mapped (DtDiag *g, const DtVar *v) {
  if (g->on && !g->d->muted) dt_idset_add(g, &g->mapped, v->id);
}

/* Told where the tensor left, for there its gradient is laid out. */
static void to_local_back (DtDiag *g, const DtEvent *e) {
  const DtOrigin *from = g->s->back_at;
  DtEvent at = *e;
  if (e->op != NULL || e->status != DT_OK || e->nout < 1 ||
      e->out[0] == NULL || e->nin < 1 ||
      strcmp(e->text, "dtensor.to_local_backward") != 0) return;
  if (from && from->line > 0) {
    at.file = from->file;
    at.line = from->line;
  }
  const bool mapped = dt_idset_has(&g->mapped, g->s->back_var);
  claim_equal_replicas(g, &at, mapped ? DT_FIND_ID_MAP_NOT_REDUCED
                                      : DT_FIND_ID_GRAD_NOT_REDUCED, e->out[0],
                       dt_diag_place_name(g, g->s->back_var), NULL, mapped
                       ? "gradient of an input of local_map()"
                       : "gradient of a tensor that left by to_local()");
}

static void on_leaf_gradient (DtDiag *g, const DtEvent *e) {
  const DtVar *p = e->nin > 0 ? e->in[0] : NULL;
  const DtVar *d = e->nout > 0 ? e->out[0] : NULL;
  const DtSpec *a, *b;
  int m;
  if (p == NULL || d == NULL || p->spec == NULL) return;
  if (d->spec == NULL) {
    dt_diag_add(g, e, DT_FIND_ID_GRAD_PLAIN, p, p->spec->npl, p->spec->pl,
                "the parameter is distributed, its gradient is not");
    return;
  }
  a = p->spec;
  b = d->spec;
  for (m = 0; m < a->npl && m < b->npl; m++)
    if (dt_pl_is_shard_like(a->pl[m]) && dt_pl_is_shard_like(b->pl[m]) &&
        a->pl[m].dim != b->pl[m].dim) {
      dt_diag_add(g, e, DT_FIND_ID_GRAD_LAYOUT, p, a->npl, a->pl,
                  "parameter on dim %d, gradient on dim %d", a->pl[m].dim,
                  b->pl[m].dim);
      break;
    }
  claim_equal_replicas(g, e, DT_FIND_ID_GRAD_DRIFT, d, NULL, p, "gradient");
}

static bool is_nll (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_NLL) ||
         dt_diag_op_is(g, op, DT_DO_NLL2D);
}

/* nll_loss with mean: each rank divides by its own weight of targets, which
** is its second result. */
static void on_nll_loss (DtDiag *g, const DtEvent *e) {
  const DtVar *loss, *weight;
  int m;
  if (e->status != DT_OK || e->nout < 2) return;
  loss = e->out[0];
  weight = e->out[1];
  if (loss == NULL || weight == NULL || loss->spec == NULL) return;
  for (m = 0; m < loss->spec->npl && m < loss->spec->mesh->ndim; m++)
    if (loss->spec->pl[m].kind == DT_PL_PARTIAL &&
        loss->spec->pl[m].op == DT_OP_AVG)
      dt_diag_claim(g, e, DT_FIND_ID_MEAN_OF_MEANS, false, loss->spec->mesh, m,
                    e->in[0], dt_diag_hash(weight->local, false),
                    "weight of the targets that each rank divides by "
                    "(ignored and weighted classes count)");
}

/* --- loss_parallel --- */

static int lsm_find (const DtDiag *g, const DtVar *v) {
  int i, n = g->lsm.n < DT_RECENT ? g->lsm.n : DT_RECENT;
  for (i = n - 1; i >= 0; i--)
    if (g->lsm.v[i].storage == v->local->storage->id) return i;
  return -1;
}

static void lsm_made (DtDiag *g, const DtEvent *e) {
  int k = g->lsm.n % DT_RECENT;
  void *ud;
  if (e->status != DT_OK || e->nout < 1 || e->out[0] == NULL ||
      e->out[0]->spec == NULL || dt_handler_get(g->s, e->op, &ud) == NULL) return;
  g->lsm.v[k].id = e->out[0]->id;
  g->lsm.v[k].storage = e->out[0]->local->storage->id;
  g->lsm.v[k].at.file = e->file;
  g->lsm.v[k].at.line = e->line;
  g->lsm.v[k].used = false;
  g->lsm.n++;
}

/* Where it was taken: its backward only feels it. */
static void lsm_alone (DtDiag *g, const DtEvent *e, const DtOrigin *made) {
  DtEvent at = *e;
  at.file = made->file;
  at.line = made->line;
  dt_diag_add(g, made->line > 0 ? &at : e, DT_FIND_ID_LOSS_PARALLEL_SCOPE, e->in[1],
              0, NULL, "log_softmax at %s:%d never met nll_loss; its gradient, at "
              "%s:%d, is given on as it came", made->file ? made->file : "",
              made->line, e->file ? e->file : "", e->line);
}

static void lsm_used (DtDiag *g, const DtEvent *e) {
  int k;
  if (e->nin < 1 || e->in[0] == NULL) return;
  if (is_nll(g, e->op)) {
    k = lsm_find(g, e->in[0]);
    if (k >= 0) g->lsm.v[k].used = true;
  } else if (e->nin > 1 && e->in[1]) {
    void *ud;
    k = lsm_find(g, e->in[1]);
    if (k >= 0 && !g->lsm.v[k].used && dt_handler_get(g->s, e->op, &ud))
      lsm_alone(g, e, &g->lsm.v[k].at);
  }
}

/* --- which operators --- */

static bool is_lsm (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_LOG_SOFTMAX);
}

static bool uses_lsm (const DtDiag *g, const DtOpDef *op) {
  return is_nll(g, op) || dt_diag_op_is(g, op, DT_DO_LOG_SOFTMAX_BACK);
}

const DtDiagRule dt_rules_grad[] = {
  { DT_EV_FUNC_END, to_local_back, NULL, DT_CALLED(TO_LOCAL_BACK) },
  { DT_EV_GRAD, on_leaf_gradient, NULL, 0 },
  { DT_EV_OP_END, on_nll_loss, is_nll, 0 },
  { DT_EV_OP_END, lsm_made, is_lsm, 0 },
  { DT_EV_OP, lsm_used, uses_lsm, DT_WHEN(lsm.n) },
  { 0, NULL, NULL, 0 }
};
