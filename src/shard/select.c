/* SPDX-License-Identifier: MIT
** shard/select.c: what a candidate costs, and which one is chosen.
**
** Candidates are looked at once, in order, so that losers need not be kept:
** a negative total wins (smallest, then first), then a total of exactly zero
** that moves nothing (the LAST one), then zero that moves something (first),
** then the smallest (first).  That order is PyTorch's; see
** _select_min_cost_strategy in _sharding_prop.py, 2.13. */
#include <math.h>
#include <stddef.h>
#include <string.h>
#include "shard/plan_int.h"
#include "shard/prop_int.h"

/* ---- the flag of _S specs ---- */

static bool has_strided (const DtPlacement *pl, int n) {
  int i;
  for (i = 0; i < n; i++)
    if (pl[i].kind == DT_PL_STRIDED) return true;
  return false;
}

int dt_strided_flag_first (const DtDecide *d, int dflt) {
  int i;
  for (i = 0; i < d->nin; i++)
    if (dt_spec_has_strided(d->in[i])) return d->in[i]->strided_is_order;
  return dflt;
}

int dt_strided_flag_final (const DtDecide *d, int dflt) {
  int i, flag = -1;
  for (i = 0; i < d->npos; i++) {
    if (!dt_spec_has_strided(d->in[i])) continue;
    if (flag >= 0 && flag != d->in[i]->strided_is_order) flag = 1;
    else flag = d->in[i]->strided_is_order;
  }
  return flag >= 0 ? flag : dt_strided_flag_first(d, dflt);
}

/* ---- costs ---- */

typedef union Room {
  DtSpec s;
  char bytes[sizeof(DtSpec) + DT_MAX_MDIM * sizeof(DtPlacement)];
} Room;

/* A spec on the stack: enough for the cost of a greedy plan, which neither
** keeps nor hashes it. */
static DtSpec *stack_spec (Room *r, const DtDecide *d, const DtSpec *like,
                           const DtPlacement *pl) {
  int n = d->mesh->ndim;
  memset(&r->s, 0, offsetof(DtSpec, meta));
  r->s.refs = 1;
  r->s.mesh = d->mesh;
  r->s.has_meta = true;
  r->s.default_order = true;
  dt_meta_copy(&r->s.meta, &like->meta);
  r->s.npl = n;
  memcpy(r->s.pl, pl, (size_t)n * sizeof *pl);
  return &r->s;
}

DtStatus dt_decide_cost (DtDecide *d, int i, const DtPlacement *pl,
                         double *out) {
  const DtSpec *cur = d->in[i];
  int n = d->mesh->ndim;
  Room room;
  DtSpec *tgt;
  DtStatus st;
  if (!has_strided(pl, n) && cur->default_order &&
      !dt_spec_has_strided(cur) &&
      dt_planner_mode(d->p->plan) != DT_PLAN_GRAPH)
    return dt_cost_redistribute(d->cx, d->p->plan,
                                dt_planner_topo(d->p->plan), cur,
                                stack_spec(&room, d, cur, pl), out);
  DT_TRY(d->cx, dt_spec_new(d->cx, d->mesh, n, pl, &cur->meta, NULL,
                            has_strided(pl, n) ? d->flag : 0, &tgt));
  st = dt_cost_redistribute(d->cx, d->p->plan, dt_planner_topo(d->p->plan),
                            cur, tgt, out);
  dt_spec_unref(d->cx, tgt);
  return st;
}

int64_t dt_decide_bytes (DtDecide *d, int i, const DtPlacement *pl) {
  DtSpec *tgt;
  DtPlan *plan = NULL;
  int64_t bytes = 0;
  int n = d->mesh->ndim;
  DtStatus st = dt_spec_new(d->cx, d->mesh, n, pl, &d->in[i]->meta, NULL,
                            has_strided(pl, n) ? d->flag : 0, &tgt);
  if (st == DT_OK) {
    st = dt_plan_search(d->cx, d->p->plan, d->in[i], tgt, DT_PLAN_AUTO,
                        &plan);
    dt_spec_unref(d->cx, tgt);
  }
  if (st == DT_OK) bytes = dt_plan_bytes(plan);
  else dt_error_clear(d->cx);
  dt_plan_unref(d->cx, plan);
  return bytes;
}

/* ---- the sheet ---- */

DtStatus dt_sheet_init (DtSheet *s, DtDecide *d, int nout, bool tuple) {
  size_t ndim;
  memset(s, 0, sizeof *s);
  s->d = d;
  s->nout = nout;
  s->nin = d->nin;
  s->ndim = d->mesh->ndim;
  s->tuple = tuple;
  s->neg = s->same = s->zero = s->least = s->winner = -1;
  ndim = (size_t)s->ndim;
  s->best.out = DT_ANEWN(d->cx, d->arena, DtPlacement,
                         (size_t)nout * ndim + 1);
  s->best.in = DT_ANEWN(d->cx, d->arena, DtPlacement,
                        (size_t)d->nin * ndim + 1);
  s->best.cost = DT_ANEWN(d->cx, d->arena, double, d->nin + 1);
  return s->best.out == NULL || s->best.in == NULL || s->best.cost == NULL
         ? DT_E_NOMEM : DT_OK;
}

static bool take_least (DtSheet *s, int64_t i, double total) {
  if (s->least >= 0 && !(total < s->least_total)) return false;
  s->least = i;
  s->least_total = total;
  return true;
}

/* Python compares floats with ==: a total of -0.0 is zero. */
static bool is_zero (double x) { return !(x < 0) && !(x > 0) && !isnan(x); }

/* The next candidate's cost; is it the best so far?  The order of precedence
** is PyTorch's (`_sharding_prop.py:_select_min_redistribute_cost`; "Ties" in
** src/README.md): the least negative total, the LAST that costs zero and moves
** nothing, the first that costs zero and moves, the first of the least. */
bool dt_sheet_next (DtSheet *s, double total, bool moves) {
  int64_t i = s->n++;
  bool wins;
  if (s->tuple) {
    wins = take_least(s, i, total);
  } else if (total < 0) {
    wins = s->neg < 0 || total < s->neg_total;
    if (wins) {
      s->neg = i;
      s->neg_total = total;
    }
  } else if (is_zero(total)) {
    wins = s->neg < 0 && (!moves || (s->same < 0 && s->zero < 0));
    if (!moves) s->same = i;
    else if (s->zero < 0) s->zero = i;
  } else {
    wins = take_least(s, i, total) && s->neg < 0 && s->same < 0 &&
           s->zero < 0;
  }
  if (wins) s->winner = i;
  return wins;
}

static void cand_copy (const DtSheet *s, DtCand *to, const DtPlacement *out,
                       const DtPlacement *in, const double *cost,
                       double total) {
  size_t ndim = (size_t)s->ndim;
  if (out != NULL)
    memcpy(to->out, out, (size_t)s->nout * ndim * sizeof *out);
  if (in != NULL)
    memcpy(to->in, in, (size_t)s->nin * ndim * sizeof *in);
  if (cost != NULL)
    memcpy(to->cost, cost, (size_t)s->nin * sizeof *cost);
  else
    memset(to->cost, 0, (size_t)s->nin * sizeof *cost);
  to->total = total;
}

static DtStatus keep_candidate (DtSheet *s, const DtPlacement *out,
                                const DtPlacement *in, const double *cost,
                                double total) {
  DtCtx *cx = s->d->cx;
  DtArena *a = s->d->arena;
  size_t ndim = (size_t)s->ndim;
  DtCand *c;
  if (s->ncand == s->cap) {
    int cap = s->cap > 0 ? 2 * s->cap : 64;
    DtCand *v = DT_ANEWN(cx, a, DtCand, cap);
    if (v == NULL) return DT_E_NOMEM;
    if (s->ncand > 0) memcpy(v, s->cand, (size_t)s->ncand * sizeof *v);
    s->cand = v;
    s->cap = cap;
  }
  c = &s->cand[s->ncand];
  c->out = DT_ANEWN(cx, a, DtPlacement, (size_t)s->nout * ndim + 1);
  c->cost = DT_ANEWN(cx, a, double, s->nin + 1);
  c->in = in != NULL ? DT_ANEWN(cx, a, DtPlacement,
                                (size_t)s->nin * ndim + 1) : NULL;
  if (c->out == NULL || c->cost == NULL || (in != NULL && c->in == NULL))
    return DT_E_NOMEM;
  cand_copy(s, c, out, in, cost, total);
  s->ncand++;
  return DT_OK;
}

static DtStatus hold_all (const DtSheet *s, const DtPlacement *pl, int n) {
  int i;
  for (i = 0; pl != NULL && i < n * s->ndim; i++)
    DT_TRY(s->d->cx, dt_decide_hold(s->d, pl[i], false));
  return DT_OK;
}

DtStatus dt_sheet_put (DtSheet *s, bool wins, const DtPlacement *out,
                       const DtPlacement *in, const double *cost,
                       double total) {
  if (wins || s->d->keep) {
    DT_TRY(s->d->cx, hold_all(s, out, s->nout));
    DT_TRY(s->d->cx, hold_all(s, in, s->nin));
  }
  if (wins) {
    s->best_in = in != NULL;
    s->best_cost = cost != NULL;
    cand_copy(s, &s->best, out, in, cost, total);
  }
  return s->d->keep ? keep_candidate(s, out, in, cost, total) : DT_OK;
}

DtStatus dt_sheet_check (DtSheet *s) {
  DT_CHECK(s->d->cx, s->n > 0 || !s->d->p->checks_rows, DT_E_RUNTIME,
           "%s: no valid sharding strategy for the input placements.",
           s->d->name);
  DT_CHECK(s->d->cx, s->n > 0, DT_E_VALUE, "min() arg is an empty sequence");
  return DT_OK;
}
