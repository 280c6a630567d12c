/* SPDX-License-Identifier: MIT
** diag/listen.c: the listener: which rules are asked of an event.
**
** Every recorded operator comes here three times, and most of the rules have
** nothing to say of it.  What that takes of the operator alone is asked once
** and kept as a set; what takes that something else was met first is a count
** that is looked at before. */
#include "diag/diag_int.h"

/* --- which rules --- */

static void add_rule (DtRuleSet *set, int i) {
  set->word[i / 64] |= UINT64_C(1) << i % 64;
}

static void asked_fill (const DtDiag *g, const DtOpDef *op, DtDiagAsked *a) {
  a->op = op;
  for (int k = 0; k < DT_NEVENTS; k++) {
    a->set[k] = (DtRuleSet){ { 0 } };
    for (int i = 0; i < g->nrule[k]; i++)
      if (g->rule[k][i]->may == NULL || g->rule[k][i]->may(g, op))
        add_rule(&a->set[k], i);
  }
}

static DtDiagAsked *asked_slot (DtDiagAsked *v, int cap, const DtOpDef *op) {
  uint64_t h = (uint64_t)(uintptr_t)op * UINT64_C(0x9e3779b97f4a7c15) >> 32;
  int i = (int)(h & (uint64_t)(cap - 1));
  while (v[i].op != NULL && v[i].op != op) i = (i + 1) & (cap - 1);
  return &v[i];
}

/* Room for one more; false without memory. */
static bool asked_room (DtDiag *g) {
  int cap = g->capasked ? g->capasked * 2 : 64;
  DtDiagAsked *v;
  if (2 * (g->nasked + 1) <= g->capasked) return true;
  v = DT_NEWN(g->s->cx, DtDiagAsked, cap);
  if (v == NULL) { dt_error_clear(g->s->cx); return false; }
  for (int i = 0; i < g->capasked; i++)
    if (g->asked[i].op != NULL)
      *asked_slot(v, cap, g->asked[i].op) = g->asked[i];
  dt_free(g->s->cx, g->asked);
  g->asked = v;
  g->capasked = cap;
  g->last = NULL;
  return true;
}

static DtRuleSet asked_of (DtDiag *g, const DtOpDef *op, DtEventKind k) {
  DtDiagAsked *a, one;
  if (g->last != NULL && g->last->op == op) return g->last->set[k];
  if (!asked_room(g)) {
    asked_fill(g, op, &one);
    return one.set[k];
  }
  a = asked_slot(g->asked, g->capasked, op);
  if (a->op == NULL) {
    asked_fill(g, op, a);
    g->nasked++;
  }
  g->last = a;
  return a->set[k];
}

/* --- of calls --- */

static DtCallName call_of (const char *text) {
  static const char *const names[DT_NCALLS] = {
    [DT_CALL_TO_LOCAL] = "dtensor.to_local",
    [DT_CALL_TO_LOCAL_BACK] = "dtensor.to_local_backward",
    [DT_CALL_FROM_LOCAL] = "dtensor.from_local",
    [DT_CALL_REDISTRIBUTE] = "dtensor.redistribute",
    [DT_CALL_DISTRIBUTE] = "distribute_tensor",
  };
  if (text == NULL || *text != 'd') return DT_CALL_OTHER;
  for (int i = 1; i < DT_NCALLS; i++)
    if (strcmp(text, names[i]) == 0) return (DtCallName)i;
  return DT_CALL_OTHER;
}

static void fill_call_sets (DtDiag *g) {
  for (int c = 0; c < DT_NCALLS; c++) {
    g->called[c] = 1;
    for (int k = 0; k < DT_NEVENTS; k++)
      for (int i = 0; i < g->nrule[k]; i++) {
        const size_t when = g->rule[k][i]->when;
        const bool named = when >= DT_CALLED(OTHER) &&
                           when < offsetof(DtDiag, called) + sizeof g->called;
        if (!named || when == offsetof(DtDiag, called) + (size_t)c * sizeof (int))
          add_rule(&g->call_set[c][k], i);
      }
  }
}

static bool is_condition_met (const DtDiag *g, uint32_t when) {
  return when == 0 ||
         *(const int *)(const void *)((const char *)g + when) != 0;
}

DtStatus dt_diag_hear (void *ud, DtSession *s, const DtEvent *e) {
  DtDiag *g = (DtDiag *)ud;
  const DtDiagRule *const *rule = g->rule[e->kind];
  DtRuleSet set;
  (void)s;
  if ((g->d->muted && !g->judging) || g->d->rec.off) return DT_OK;
  set = e->op ? asked_of(g, e->op, e->kind)
              : g->call_set[call_of(e->text)][e->kind];
  for (int w = 0; w < DT_RULE_WORDS; w++)
    for (uint64_t left = set.word[w]; left != 0; left &= left - 1) {
      const int i = 64 * w + __builtin_ctzll(left);
      if (is_condition_met(g, g->when[e->kind][i])) rule[i]->fn(g, e);
    }
  return DT_OK;
}

/* --- of which operators --- */

bool dt_diag_inplace (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return (op->flags & DT_OP_INPLACE) != 0;
}

bool dt_diag_view (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return (op->flags & DT_OP_VIEW) != 0;
}

bool dt_diag_clones (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_CLONE) ||
         dt_diag_op_is(g, op, DT_DO_TO_COPY);
}

bool dt_diag_flattens (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_CAT);
}

bool dt_diag_copies_over (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_COPY);
}

/* --- the tables --- */

static DtStatus add_rules (DtDiag *g, const DtDiagRule *r) {
  for (; r->fn; r++) {
    DT_CHECK(g->s->cx, g->nrule[r->event] < DT_MOST_RULES, DT_E_INTERNAL,
             "more than %d rules of an event: DT_MOST_RULES", DT_MOST_RULES);
    g->when[r->event][g->nrule[r->event]] = (uint32_t)r->when;
    g->rule[r->event][g->nrule[r->event]++] = r;
  }
  return DT_OK;
}

static void find_ops (DtDiag *g) {
  static const char *const names[DT_NDO] = {
    [DT_DO_ITEM] = "aten._local_scalar_dense.default",
    [DT_DO_LOG_SOFTMAX] = "aten._log_softmax.default",
    [DT_DO_LOG_SOFTMAX_BACK] = "aten._log_softmax_backward_data.default",
    [DT_DO_NLL] = "aten.nll_loss_forward.default",
    [DT_DO_NLL2D] = "aten.nll_loss2d_forward.default",
    [DT_DO_TO_COPY] = "aten._to_copy.default",
    [DT_DO_FILL] = "aten.fill_.Scalar",
    [DT_DO_EMPTY] = "aten.empty.memory_format",
    [DT_DO_EMPTY_LIKE] = "aten.empty_like.default",
    [DT_DO_NEW_EMPTY] = "aten.new_empty.default",
    [DT_DO_EMPTY_STRIDED] = "aten.empty_strided.default",
    [DT_DO_NEW_EMPTY_STRIDED] = "aten.new_empty_strided.default",
    [DT_DO_COPY] = "aten.copy_.default",
    [DT_DO_ZERO] = "aten.zero_.default",
    [DT_DO_CAT] = "aten.cat.default",
    [DT_DO_CLONE] = "aten.clone.default",
    [DT_DO_STACK] = "aten.stack.default",
    [DT_DO_ADD] = "aten.add.Tensor",
    [DT_DO_MUL] = "aten.mul.Tensor",
    [DT_DO_MUL_SCALAR] = "aten.mul.Scalar",
    [DT_DO_DIV] = "aten.div.Tensor",
    [DT_DO_DIV_SCALAR] = "aten.div.Scalar",
    [DT_DO_SUM] = "aten.sum.default",
    [DT_DO_SUM_DIM] = "aten.sum.dim_IntList",
    [DT_DO_MEAN] = "aten.mean.default",
    [DT_DO_MEAN_DIM] = "aten.mean.dim",
    [DT_DO_MSE] = "aten.mse_loss.default",
    [DT_DO_SMOOTH_L1] = "aten.smooth_l1_loss.default",
    [DT_DO_HUBER] = "aten.huber_loss.default",
    [DT_DO_BCE] = "aten.binary_cross_entropy.default",
    [DT_DO_SOFT_MARGIN] = "aten.soft_margin_loss.default",
    [DT_DO_MULTI_MARGIN] = "aten.multi_margin_loss.default",
  };
  int i;
  for (i = 0; i < DT_NDO; i++) {
    g->op[i] = dt_registry_find(g->s->cx, g->s->registry, names[i]);
    dt_error_clear(g->s->cx);
  }
}

DtStatus dt_diag_rules (DtDiag *g) {
  const DtDiagRule *const rules[] = {
    dt_rules_spec, dt_rules_mem, dt_rules_grad, dt_rules_comm, dt_rules_mark,
    dt_rules_order, dt_rules_drawn, dt_rules_share, dt_rules_cut,
    dt_rules_part, dt_rules_copies, dt_rules_train,
    dt_rules_where, dt_rules_steps, dt_rules_graph, dt_rules_state, dt_rules_rows,
    dt_rules_result, dt_rules_loss, dt_rules_batch, dt_rules_shards,
    dt_rules_lost, dt_rules_shuffled, dt_rules_padded, dt_rules_drift,
    dt_rules_groups, dt_rules_lag, dt_rules_picked, dt_rules_stale, dt_rules_noise,
    dt_rules_clamped, dt_rules_capped, dt_rules_meet, dt_rules_reorder,
    dt_rules_answer, dt_rules_master, dt_rules_met, dt_rules_perm,
    dt_rules_scattered, dt_rules_adjoint, dt_rules_units, dt_rules_unread,
    dt_rules_coarse, dt_rules_dealt, dt_rules_factors, dt_rules_meter,
    dt_rules_deviation, dt_rules_tied, dt_rules_whole
  };
  size_t i;
  find_ops(g);
  for (i = 0; i < sizeof rules / sizeof rules[0]; i++)
    DT_TRY(g->s->cx, add_rules(g, rules[i]));
  fill_call_sets(g);
  return DT_OK;
}

void dt_diag_rules_free (DtDiag *g) {
  dt_free(g->s->cx, g->asked);
}
