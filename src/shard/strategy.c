/* SPDX-License-Identifier: MIT
** shard/strategy.c: candidates over the whole mesh: operators whose mesh dims
** depend on each other (views), and users' rules.
**
** A strategy function offers candidates one by one; costs are computed here
** unless it forces one. */
#include <math.h>
#include <string.h>
#include "shard/prop_int.h"
#include "shard/user.h"

static bool moves (const DtSheet *s, const DtPlacement *out,
                   const DtPlacement *in) {
  const DtDecide *d = s->d;
  int i;
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
  bool set = !(isinf(cost) && cost < 0), m;
  int i;
  if (costs == NULL) return DT_E_NOMEM;
  for (i = 0; i < d->nin && set; i++) {
    costs[i] = i == 0 && !isnan(cost) ? cost : 0;
    if (isnan(cost) && in != NULL)
      DT_TRY(d->cx, dt_decide_cost(d, i, in + (size_t)i * (size_t)s->ndim,
                                   &costs[i]));
    total += costs[i];
  }
  m = moves(s, out, in);
  return dt_sheet_put(s, dt_sheet_next(s, total, m), out, in,
                      set ? costs : NULL, total);
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
  s->ud = ud;
  return fn(&c);
}

/* ---- users' rules ---- */

typedef struct UserData {
  DtCtx *cx;
  DtUserFn fn;
  void *ud;
  void (*free_ud) (void *);
} UserData;

DtUserRow *dt_user_row (DtUserRules *r) {
  DtUserRow *row;
  if (r->n == r->cap) {
    int cap = r->cap > 0 ? 2 * r->cap : 16;
    DtUserRow *v = DT_ANEWN(r->cx, r->arena, DtUserRow, cap);
    if (v == NULL) return NULL;
    if (r->n > 0) memcpy(v, r->row, (size_t)r->n * sizeof *v);
    r->row = v;
    r->cap = cap;
  }
  row = &r->row[r->n++];
  row->n = 0;
  return row;
}

static int inputs_of (const DtUserRow *row, int nret) {
  int i, n = 0;
  for (i = nret; i < row->n; i++) n += !row->cell[i].none;
  return n;
}

static DtStatus check_row (DtDecide *d, const DtUserRow *row, int nret) {
  int n = inputs_of(row, nret);
  DT_CHECK(d->cx, n == d->nin, DT_E_ASSERT,
           "input_specs(%d) != strategies(%d: %d args + %d kwargs)", n,
           d->nin, d->npos, d->nin - d->npos);
  return DT_OK;
}

static DtCell user_cell (const DtUserRow *row, int i) {
  if (i >= row->n || row->cell[i].none) return dt_c_none();
  return dt_c_fix(row->cell[i].pl);
}

static void add_row (const DtUserRow *row, int nret, DtCell *cells,
                     DtRows *rows) {
  int i, k = nret;
  for (i = 0; i < nret; i++) cells[i] = user_cell(row, i);
  for (i = nret; i < row->n; i++)
    if (!row->cell[i].none) cells[k++] = user_cell(row, i);
  dt_rows_add(rows, cells);
}

/* Rows given by the user are taken as they are: no all-Replicate row, no
** placeholders. */
static DtStatus user_expand (DtSheet *s, const DtUserRules *r) {
  DtDecide *d = s->d;
  int nret = d->op->sig->nrets, i;
  DtExpand o = { d->op->sig->inplace, false, false };
  DtRows rows;
  DtCell *cells = DT_ANEWN(d->cx, d->arena, DtCell, nret + DT_USER_MAX);
  if (cells == NULL) return DT_E_NOMEM;
  dt_rows_init(&rows, d->cx, d->arena, nret, d->nin);
  for (i = 0; i < r->n; i++) {
    DT_CHECK(d->cx, r->row[i].n == r->row[0].n || d->mesh->ndim == 1,
             DT_E_VALUE, "zip() argument 2 is %s than argument 1",
             r->row[i].n < r->row[0].n ? "shorter" : "longer");
    DT_TRY(d->cx, check_row(d, &r->row[i], nret));
    add_row(&r->row[i], nret, cells, &rows);
  }
  if (rows.st != DT_OK) return rows.st;
  DT_TRY(d->cx, dt_sheet_init(s, d, nret, s->tuple));
  return dt_expand_rows(s, &rows, &o);
}

static DtStatus user_strategy (DtStratCall *c) {
  DtSheet *s = (DtSheet *)c->sink;
  UserData *u = (UserData *)s->ud;
  DtUserRules r;
  memset(&r, 0, sizeof r);
  r.cx = c->cx;
  r.arena = s->d->arena;
  DT_TRY(c->cx, u->fn(u->ud, c, &r));
  return user_expand(s, &r);
}

static void user_free (void *p) {
  UserData *u = (UserData *)p;
  if (u->free_ud != NULL) u->free_ud(u->ud);
  dt_free(u->cx, u);
}

DtStatus dt_user_rules_set (DtCtx *cx, DtRegistry *r, const DtOpDef *op,
                            DtUserFn fn, void *ud,
                            void (*free_ud) (void *)) {
  UserData *u = DT_NEW(cx, UserData);
  DtStatus st;
  if (u == NULL) return DT_E_NOMEM;
  u->cx = cx;
  u->fn = fn;
  u->ud = ud;
  u->free_ud = free_ud;
  st = dt_registry_set_strategy(cx, r, op, user_strategy, u, user_free);
  if (st != DT_OK) dt_free(cx, u);
  return st;
}
