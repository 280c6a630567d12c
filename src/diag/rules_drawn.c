/* SPDX-License-Identifier: MIT
** diag/rules_drawn.c: traps of random numbers.
**
** Here the generators of all ranks begin alike; in PyTorch each process begins
** with a seed of its own unless somebody chooses one.  So what was drawn
** without a seed, and all that was computed from it, is equal on all ranks
** here and differs there: it is marked, is no evidence of equal data, and is
** reported where it is promised to be equal. */
#include <string.h>
#include "diag/diag_int.h"

static bool is_unseeded (const DtDiag *g, const DtVar *v) {
  return dt_session_unseeded(g->s) && !(v->spec && g->s->dist_rng);
}

static void told_unseeded (DtDiag *g, const DtEvent *e, const DtVar *v,
                           const char *what) {
  dt_diag_add(g, e, DT_FIND_ID_UNSEEDED, v, 0, NULL, "%s drawn without a seed "
              "are the same on all ranks here, and differ in PyTorch", what);
}

/* The same numbers on all shards, or others on replicas? */
static void random_op (DtDiag *g, const DtEvent *e) {
  const DtVar *v;
  uint64_t h = 0, varied = 0;
  int m;
  if (e->status != DT_OK || e->nout < 1 || dt_session_no_data(g->s)) return;
  v = e->out[0];
  if (v == NULL) return;
  v->local->storage->drawn = is_unseeded(g, v);
  if (v->spec == NULL || !v->spec->mesh->member) return;
  for (m = 0; m < v->spec->npl && m < v->spec->mesh->ndim; m++) {
    if (v->spec->mesh->shape[m] < 2) continue;
    if (dt_pl_is_replicate(v->spec->pl[m])) {
      if (h == 0) h = dt_diag_hash(v->local, false);
      if (is_unseeded(g, v)) told_unseeded(g, e, v, "random numbers");
      dt_diag_claim(g, e, DT_FIND_ID_RANDOM_DIFFERS, false, v->spec->mesh, m,
                    v, h, "random numbers");
    } else if (dt_pl_is_shard_like(v->spec->pl[m]) && !is_unseeded(g, v)) {
      if (varied == 0) varied = dt_diag_hash(v->local, true);
      dt_diag_claim(g, e, DT_FIND_ID_RANDOM_SAME, true, v->spec->mesh, m, v,
                    varied, "random numbers");
    }
  }
}

/* What is computed from such numbers is like them; what is written over with
** others is not any more. */
static bool any_drawn (const DtEvent *e, int from) {
  for (int i = from; i < e->nin; i++)
    if (e->in[i] && e->in[i]->local->storage->drawn) return true;
  return false;
}

static void set_drawn (const DtEvent *e, bool drawn) {
  for (int i = 0; i < e->nout; i++)
    if (e->out[i]) e->out[i]->local->storage->drawn = drawn;
}

static void pass_on_drawn (DtDiag *g, const DtEvent *e) {
  (void)g;
  if (e->status == DT_OK && any_drawn(e, 0)) set_drawn(e, true);
}

static void spread_over (DtDiag *g, const DtEvent *e) {
  (void)g;
  if (e->status == DT_OK) set_drawn(e, any_drawn(e, 1));
}

static bool is_call (const DtEvent *e, const char *name) {
  return e->op == NULL && e->status == DT_OK && e->nin > 0 && e->nout > 0 &&
         e->text && strcmp(e->text, name) == 0 && e->out[0] && e->in[0] &&
         e->out[0]->spec;
}

/* distribute_tensor sends the values of one rank to all. */
static void on_distribute (DtDiag *g, const DtEvent *e) {
  (void)g;
  if (is_call(e, "distribute_tensor"))
    e->out[0]->local->storage->drawn = false;
}

static void from_local (DtDiag *g, const DtEvent *e) {
  const DtSpec *s;
  int m;
  if (!is_call(e, "dtensor.from_local") || e->backward || g->nfunc > 0 ||
      dt_session_no_data(g->s) || !e->in[0]->local->storage->drawn) return;
  s = e->out[0]->spec;
  for (m = 0; m < s->npl && m < s->mesh->ndim; m++)
    if (dt_pl_is_replicate(s->pl[m]) && s->mesh->shape[m] > 1) {
      told_unseeded(g, e, e->in[0], "what is called a replica: numbers");
      return;
    }
}

/* --- which operators --- */

static bool is_random (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return (op->flags & DT_OP_RANDOM) != 0;
}

/* Writes over all that its first argument held? */
static bool writes_over (const DtDiag *g, const DtOpDef *op) {
  return !is_random(g, op) && (dt_diag_op_is(g, op, DT_DO_COPY) ||
                               dt_diag_op_is(g, op, DT_DO_FILL) ||
                               dt_diag_op_is(g, op, DT_DO_ZERO));
}

static bool is_computed (const DtDiag *g, const DtOpDef *op) {
  return !is_random(g, op) && !writes_over(g, op);
}

const DtDiagRule dt_rules_drawn[] = {
  { DT_EV_OP_END, random_op, is_random, 0 },
  { DT_EV_OP_END, pass_on_drawn, is_computed, 0 },
  { DT_EV_OP_END, spread_over, writes_over, 0 },
  { DT_EV_FUNC_END, on_distribute, NULL, DT_CALLED(DISTRIBUTE) },
  { DT_EV_FUNC_END, from_local, NULL, DT_CALLED(FROM_LOCAL) },
  { 0, NULL, NULL, 0 }
};
