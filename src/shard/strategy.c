/* SPDX-License-Identifier: MIT
** shard/strategy.c: candidates over the whole mesh: operators whose mesh dims
** depend on each other (views); users' rules (user.c) come this way too.
**
** A strategy function offers candidates one by one; costs are computed here
** unless it forces one. */
#include <math.h>
#include <string.h>
#include "shard/prop_int.h"

static bool moves_inputs (const DtSheet *s, const DtPlacement *out,
                          const DtPlacement *in) {
  const DtDecide *d = s->d;
  int i;
  if (d->nin == 1 && in == d->in[0]->pl) return false;  /* the very spec */
  for (i = 0; i < d->npos; i++) {
    const DtPlacement *pl = in == NULL ? out
                            : in + (size_t)i * (size_t)s->ndim;
    if (d->in[i]->npl != s->ndim ||
        !dt_pls_equal(d->in[i]->pl, pl, s->ndim))
      return true;
  }
  return false;
}

DtStatus dt_strat_add (DtStratCall *c, const DtPlacement *out,
                       const DtPlacement *in, double cost) {
  DtSheet *s = (DtSheet *)c->sink;
  DtDecide *d = s->d;
  double *costs = DT_ANEWN(d->cx, d->arena, double, d->nin + 1);
  double total = 0;
  bool set = !(isinf(cost) && cost < 0), wins;
  bool whole = d->nin == 1 && in == d->in[0]->pl && out == in;
  int i;
  if (costs == NULL) return DT_E_NOMEM;
  for (i = 0; i < d->nin && set; i++) {
    costs[i] = i == 0 && !isnan(cost) ? cost : 0;
    if (isnan(cost) && in != NULL)
      DT_TRY(d->cx, dt_decide_cost(d, i, in + (size_t)i * (size_t)s->ndim,
                                   &costs[i]));
    total += costs[i];
  }
  wins = dt_sheet_next(s, total, moves_inputs(s, out, in));
  if (wins) s->best_whole = whole && d->in[0]->npl != s->ndim;
  return dt_sheet_put(s, wins, out, in, set ? costs : NULL, total);
}

void dt_strat_real_strides (DtStratCall *c) {
  DtSheet *s = (DtSheet *)c->sink;
  s->d->flag = 0;
}

DtStatus dt_strategy_run (DtSheet *s, DtStratFn fn, void *ud) {
  DtDecide *d = s->d;
  DtStratCall c;
  memset(&c, 0, sizeof c);
  c.cx = d->cx;
  c.op = d->rule_op;
  c.args = d->args;
  c.nin = d->nin;
  c.in = d->in;
  c.nout = d->nout;
  c.out = d->out;
  c.none = d->none;
  c.mesh = d->mesh;
  c.sink = s;
  c.views = d->p->views;
  s->ud = ud;
  return fn(&c);
}
