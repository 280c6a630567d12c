/* SPDX-License-Identifier: MIT
** diag/rules_total.c: what becomes of a sum over the ranks of addends
** (rules_where.c follows those).
**
** - The logarithm of a sum of exponentials, or a division by such a sum, without
**   the gradient that the addends had: they were detached to be reduced.  A
**   maximum may be, for it cancels out; a sum does not.
** - The sum less this rank's own addend, which then is added again with its
**   gradient: the sum. */
#include <string.h>
#include "diag/diag_int.h"

static const DtPlace *total_of (const DtDiag *g, const DtEvent *e, int i) {
  const DtPlace *w = i < e->nin ? dt_diag_place(g, e->in[i]) : NULL;
  return w && w->kind == DT_PLACE_TOTAL ? w : NULL;
}

void dt_diag_total_sent (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                         DtPlace *to) {
  const DtOrigin here = dt_diag_here(g, raw->kind);
  to->kind = DT_PLACE_TOTAL;
  to->logged = to->rest = false;
  to->root = in->id;
  if (!to->grads || in->requires_grad) to->detached.line = 0;
  else if (to->detached.line == 0) to->detached = here;
}

static void cut_off (DtDiag *g, const DtPlace *w) {
  const DtFact fact = { false, w->where };
  DtEvent at = dt_diag_origin(&w->detached, "");
  const char *name = dt_diag_place_name(g, w->root);
  at.kind = DT_EV_COLL;
  dt_diag_claim_all(g, &at, DT_FIND_ID_GRAPH_CUT, NULL, -1, DT_SALT_CUT_OFF, 1, &fact, name,
                    "the sum over the ranks has no gradient, and divides what has "
                    "one, or its logarithm is taken from it; where each part begins");
}

bool dt_diag_is_logarithm (const DtOpDef *op) {
  static const char *const names[] = { "aten.log.default", "aten.log2.default",
    "aten.log10.default", NULL };
  return dt_diag_named(op, names);
}

bool dt_diag_is_power (const DtOpDef *op) {
  static const char *const names[] = { "aten.exp.default", "aten.exp2.default",
    "aten.pow.Scalar", NULL };
  return dt_diag_named(op, names);
}

/* A mean along the part of each rank beside the logarithm of a sum over all parts. */
static void mean_met (DtDiag *g, const DtEvent *e, const DtPlace *mean) {
  const DtFact fact = { false, mean->where };
  DtEvent at = dt_diag_origin(&mean->at, "");
  const char *what;
  DtBuf t;
  dt_buf_init(&t, g->s->cx);
  dt_buf_addf(&t, "a mean along %lld of %lld on each rank, not reduced, meets what "
              "was summed over all of them, at %s:%d; where each part begins",
              (long long)mean->len, (long long)mean->whole, e->file ? e->file : "",
              e->line);
  what = dt_diag_intern(g, &t);
  if (what) dt_diag_claim_all(g, &at, DT_FIND_ID_PART_ALONE, NULL, -1, DT_SALT_MEAN_MET, 1, &fact,
                              dt_diag_place_name(g, mean->root), what);
}

static bool is_mean (const DtPlace *w) {
  return w->kind == DT_PLACE_STAT && w->columns && w->at.op &&
         strncmp(w->at.op, "aten.mean.", 10) == 0;
}

/* A sum over all ranks (t) meets another operand; true: what comes of it is
** followed.  A log-sum-exp of parts is that sum's logarithm, with each rank's
** own maximum added or taken away: `rest` notes that one was taken, so that
** only then an addition is the other half.  The last case is a fault: the total
** was detached, or made by a collective that sends no gradient back, and what
** it divides or is added to wants one. */
bool dt_diag_total_met (DtDiag *g, const DtEvent *e) {
  const DtPlace *t = total_of(g, e, 0), *other;
  const int at = t ? 0 : 1;
  const bool over = dt_diag_is(g, e, DT_DO_DIV);
  const bool sub = strcmp(e->op->sig->full, "aten.sub.Tensor") == 0;
  const bool add = dt_diag_is(g, e, DT_DO_ADD);
  DtPlace w;
  if (t == NULL && (t = total_of(g, e, 1)) == NULL) return false;
  w = *t;
  if (dt_diag_is_logarithm(e->op)) {
    w.logged = true;
    dt_diag_place_put(g, e->out[0], &w);
    return true;
  }
  if (e->nin < 2 || e->in[1 - at] == NULL) return false;
  other = dt_diag_place_of(g, e, 1 - at, DT_PLACE_ADDEND);
  if (other == NULL) other = dt_diag_place_of(g, e, 1 - at, DT_PLACE_STAT);
  if (other && other->of == w.of && other->where == w.where && w.logged && sub &&
      is_mean(other)) {
    mean_met(g, e, other);
    return false;
  }
  if (other && other->of == w.of && other->where == w.where &&
      ((sub && at == 0) || (add && w.rest))) {
    w.rest = sub;
    w.detached.line = 0;
    dt_diag_place_put(g, e->out[0], &w);
    return true;
  }
  if (dt_diag_is(g, e, DT_DO_MUL) && !e->in[1 - at]->requires_grad) {
    dt_diag_place_put(g, e->out[0], &w);        /* masked */
    return true;
  }
  if (w.detached.line > 0 && !e->in[at]->requires_grad &&
      e->in[1 - at]->requires_grad && g->s->grad_enabled &&
      ((w.logged && (sub || add)) || (over && at == 1))) cut_off(g, &w);
  return false;
}
