/* SPDX-License-Identifier: MIT
** diag/rules_lag.c: ranks that go through the same batches one after the other, and
** averages that stand still.
**
** A loader that begins at the rank's place and goes on by one batch, not by one batch
** of every rank, gives each rank what its neighbour had before.  Told by the targets
** that the losses of the first steps compare with: those of one rank, some steps on,
** are another's from the start.
**
** An average in few digits, scaled by a number so near 1 that each value is rounded
** back to what it was, is what it was; what is added is as small, and is lost, too. */
#include <math.h>
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

enum { IN_ROW = 3, MANY = 8 };  /* batches that are compared together; elements of one
                                ** that says as much as several */

/* --- batches --- */

static bool is_loss (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.nll_loss_forward.default",
    "aten.nll_loss2d_forward.default", "aten.mse_loss.default",
    "aten.binary_cross_entropy_with_logits.default", NULL };
  (void)g;
  return dt_diag_named(op, names);
}

/* Batches that come again say nothing: then no more are kept. */
static void on_compared (DtDiag *g, const DtEvent *e) {
  const DtVar *t = e->nin > 1 ? e->in[1] : NULL;
  DtTargets *k = &g->targets;
  uint64_t h;
  if (k->n == DT_TARGETS || e->status != DT_OK || e->backward || t == NULL ||
      e->in[0] == NULL || t->spec || dt_var_needs_grad(t) || !dt_var_needs_grad(e->in[0]) ||
      dt_session_no_data(g->s)) return;
  h = dt_diag_hash(t->local, true);
  for (int i = 0; i < k->n && h != 0; i++)
    if (k->hash[i] == h) h = 0;
  if (k->n == 0) {
    k->at = (DtOrigin){ .op = dt_diag_op(e), .file = e->file, .line = e->line,
                        .seq = e->seq };
    k->name = dt_diag_kept_name(g, t);
  }
  if (k->n == 0 || dt_meta_numel(&t->local->m) < k->least)
    k->least = dt_meta_numel(&t->local->m);
  k->hash[k->n++] = h;
}

/* The first batches, and those from the second on, from the third on... */
void dt_diag_lagging (DtDiag *g) {
  const DtTargets *k = &g->targets;
  const DtEvent e = dt_diag_origin(&k->at, k->at.op);
  DtFact fact[DT_FACTS] = { { false, 0 } };
  int n = 0, i = 0, row = IN_ROW;
  DtClaim *c;
  while (i < k->n && k->hash[i] != 0) i++;
  if (i <= IN_ROW && k->least >= MANY) row = 1;         /* a short epoch */
  for (; n < DT_FACTS - 1 && n + row <= i; n++)
    fact[n] = (DtFact){ false, dt_hash_bytes(DT_HASH_SEED, &k->hash[n], (size_t)row *
                                             sizeof k->hash[0]) | 1 };
  if (n < 2) return;
  c = dt_diag_claim_all(g, &e, DT_FIND_ID_BATCHES_LAG, g->over, g->over_dim, 0, n, fact,
                        k->name, "the targets of the first steps; a rank's are those of "
                        "another some steps later");
  if (c) c->lagging = row == 1 ? DT_LAGS_ONLY : DT_LAGS;
}

/* With `only`, one rank has what no other begins with: else the batches may go round. */
bool dt_diag_is_lagging (uint64_t (*hash)[DT_FACTS], int nrank, int nfact, bool only) {
  if (only && nrank < 3) return false;
  for (int by = 1; by < nfact; by++) {
    int after = 0;
    for (int i = 0; i < nrank; i++)
      for (int j = 0; j < nrank; j++) after += j != i && hash[i][by] == hash[j][0];
    if (after == nrank - 1 || (after == nrank && !only)) return true;
  }
  return false;
}

/* --- averages --- */

/* Half of the distance of neighbours, at most, for a value of 1; 0: enough digits. */
static double half_a_digit (const DtVar *v) {
  return v->local->m.dtype == DT_BF16 ? ldexp(1, -9)
       : v->local->m.dtype == DT_F16 ? ldexp(1, -12) : 0;
}

static bool averages (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.mul_.Tensor", "aten.mul_.Scalar",
    "aten.add_.Tensor", "aten.lerp_.Scalar", NULL };
  (void)g;
  return dt_diag_named(op, names);
}

static bool number_at (const DtEvent *e, int i, double *x) {
  if (i >= e->args->n || !dt_arg_is_number(e->args, i)) return false;
  *x = dt_arg_float(e->args, i);
  return true;
}

/* Is a share of something added to what was scaled before by 1 less that share? */
static bool is_average (DtDiag *g, const DtEvent *e, double *share) {
  const int64_t id = e->in[0]->local->storage->id;
  const char *name = e->op->sig->full;
  double x;
  if (strncmp(name, "aten.lerp_", 10) == 0) return number_at(e, 2, share);
  if (strncmp(name, "aten.mul_", 9) == 0) {
    if (number_at(e, 1, &x)) {
      g->scaled_last = id;
      g->scaled_by = x;
    }
    return false;
  }
  *share = dt_diag_alpha(e);
  return g->scaled_last == id && fabs(g->scaled_by + *share - 1) < 1e-9;
}

static void on_average (DtDiag *g, const DtEvent *e) {
  enum { OFTEN = 4 };
  const DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  double share, least;
  if (e->status != DT_OK || e->backward || v == NULL || (least = half_a_digit(v)) == 0 ||
      v->requires_grad || !is_average(g, e, &share) || share <= 0 || share >= least ||
      ++g->stood_still != OFTEN) return;
  dt_diag_add(g, e, DT_FIND_ID_LOW_SUM, v, 0, NULL, "a share of %.4g is added to it in %s, "
              "whose values are rounded back to what they were", share,
              dt_dtype_info((DtDtype)v->local->m.dtype)->name);
}

const DtDiagRule dt_rules_lag[] = {
  { DT_EV_OP_END, on_compared, is_loss, 0 },
  { DT_EV_OP_END, on_average, averages, 0 },
  { 0, NULL, NULL, 0 }
};
