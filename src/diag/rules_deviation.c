/* SPDX-License-Identifier: MIT
** diag/rules_deviation.c: what lies between the ranks is lost from a variance.
**
** Each rank takes the mean and the variance of what it has; both are reduced over the
** ranks, and values less the mean are scaled by what was made of the variance.  That of
** all values is larger: the means of the ranks differ, too.  Nothing need be known of
** the values but that they differ between the ranks. */
#include <string.h>
#include "diag/diag_int.h"

static bool begins (const DtOpDef *op, const char *with) {
  return strncmp(op->sig->full, with, strlen(with)) == 0;
}

static bool is_moment (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return begins(op, "aten.mean.") || begins(op, "aten.var.") || begins(op, "aten.std.");
}

static int64_t storage_of (const DtVar *v) {
  return v && v->spec == NULL ? v->local->storage->id : 0;
}

static DtDeviation *of_values (DtDiag *g, int64_t x) {
  DtDeviation *d;
  for (int i = 0; i < g->ndeviations && i < DT_DEVIATIONS; i++)
    if (g->deviation[i].x == x) return &g->deviation[i];
  d = &g->deviation[g->ndeviations++ % DT_DEVIATIONS];
  *d = (DtDeviation){ .x = x };
  return d;
}

static void on_moment (DtDiag *g, const DtEvent *e) {
  const int64_t x = e->nin > 0 ? storage_of(e->in[0]) : 0;
  const int64_t out = e->nout > 0 ? storage_of(e->out[0]) : 0;
  DtDeviation *d;
  if (e->status != DT_OK || e->backward || x == 0 || out == 0) return;
  d = of_values(g, x);
  if (begins(e->op, "aten.mean.")) {
    d->mean = out;
    d->mean_sent = false;
    return;
  }
  d->values = dt_diag_sample(e->in[0]->local);
  d->spread = out;
  d->spread_sent = false;
  d->at = (DtOrigin){ .op = e->op->sig->full, .file = e->file, .line = e->line,
                      .seq = e->seq };
  d->name = dt_diag_kept_name(g, e->in[0]);
}

/* What is made of `v` with a number, or alone, still stands for it; a sum with another
** tensor may be that of the variance and what lies between the means. */
static int64_t follow (const DtEvent *e, int64_t v) {
  int64_t out = storage_of(e->nout > 0 ? e->out[0] : NULL);
  if (v != 0 && e->nin > 1 && begins(e->op, "aten.copy_.") && storage_of(e->in[1]) == v)
    return storage_of(e->in[0]);        /* the sum goes back where it came from */
  if (v == 0 || e->nin < 1 || storage_of(e->in[0]) != v || out == 0) return v;
  if (e->nin > 1 && e->in[1] && dt_meta_numel(&e->in[1]->local->m) > 1)
    return out == v ? 0 : v;
  if (begins(e->op, "aten.add") && e->nin > 1 && e->in[1] && !e->in[1]->local->m.wrapped)
    return out == v ? 0 : v;
  return out;
}

/* Values that were centred meet what was made of the variance. */
static void meet (DtDiag *g, const DtEvent *e, const DtDeviation *d) {
  const int64_t a = storage_of(e->in[0]), b = storage_of(e->in[1]);
  const DtFact fact = { false, d->values };
  const DtEvent at = dt_diag_origin(&d->at, "");
  if (!d->mean_sent || !d->spread_sent || d->centred == 0 || d->spread == 0 ||
      !((a == d->centred && b == d->spread) || (a == d->spread && b == d->centred)) ||
      !(begins(e->op, "aten.mul") || begins(e->op, "aten.div"))) return;
  dt_diag_claim_all(g, &at, DT_FIND_ID_BENT_ADDEND, NULL, -1, DT_SALT_DEVIATION, 1, &fact,
                    d->name, "the ranks' deviations from their own means are averaged; "
                    "how far their means lie apart is lost; what each rank has");
}

static void on_use (DtDiag *g, const DtEvent *e) {
  const bool subtracts = begins(e->op, "aten.sub");
  if (e->status != DT_OK || e->backward || e->nin < 1) return;
  for (int i = 0; i < g->ndeviations && i < DT_DEVIATIONS; i++) {
    DtDeviation *d = &g->deviation[i];
    const int64_t in = storage_of(e->in[0]);
    if (e->nin > 1) meet(g, e, d);
    if (in == d->x && subtracts && e->nin > 1 && d->mean && e->nout > 0 &&
             storage_of(e->in[1]) == d->mean)
      d->centred = storage_of(e->out[0]);
    else if (in != d->x) {
      d->mean = follow(e, d->mean);
      d->spread = follow(e, d->spread);
    }
  }
}

static bool is_sum (const DtRecRaw *raw) {
  return strcmp(raw->kind, "all_reduce") == 0 && raw->reduce &&
         (strcmp(raw->reduce, "sum") == 0 || strcmp(raw->reduce, "avg") == 0);
}

void dt_diag_deviation_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                            const DtVar *out) {
  const int64_t v = storage_of(in), to = out ? storage_of(out) : v;
  for (int i = 0; v && i < g->ndeviations && i < DT_DEVIATIONS && is_sum(raw); i++) {
    DtDeviation *d = &g->deviation[i];
    if (v == d->mean) { d->mean_sent = true; d->mean = to; }
    if (v == d->spread) { d->spread_sent = true; d->spread = to; }
  }
}

const DtDiagRule dt_rules_deviation[] = {
  { DT_EV_OP_END, on_use, NULL, DT_WHEN(ndeviations) },
  { DT_EV_OP_END, on_moment, is_moment, 0 },
  { 0, NULL, NULL, 0 }
};
