/* SPDX-License-Identifier: MIT
** shard/user.c: rows from a function given at run time, checked and expanded
** as PyTorch's register_sharding does.
**
** A row is outputs then inputs, one entry per schema return and per argument;
** None stands for what is no tensor and is dropped among the inputs.  Shards
** are meant as written: no placeholders, and no all-Replicate row is added. */
#include "shard/user.h"

#include <string.h>
#include "shard/prop_int.h"

typedef struct User {
  DtCtx *cx;
  DtUserRuleFn fn;
  void *ud;
  void (*free_ud) (void *);
} User;

DtUserRow *dt_user_row (DtUserRules *r) {
  if (r->n == r->cap) {
    int cap = r->cap ? r->cap * 2 : 8;
    DtUserRow *more = DT_ANEWN(r->cx, r->arena, DtUserRow, cap);
    if (more == NULL) return NULL;
    if (r->n) memcpy(more, r->row, sizeof *more * (size_t)r->n);
    r->row = more;
    r->cap = cap;
  }
  return &r->row[r->n++];
}

static DtCell cell_of (const DtUserCell *c) {
  if (c->none) return dt_c_none();
  if (dt_pl_is_replicate(c->pl)) return dt_c_r();
  return dt_c_fix(c->pl);
}

/* One row as cells; ASSERT when the inputs are not as many as the call's. */
static DtStatus add_row (DtDecide *d, const DtUserRow *u, DtRows *rows) {
  DtCell cells[DT_USER_MAX * 2];
  int nrets = d->op->sig->nrets, i, n = 0;
  memset(cells, 0, sizeof cells);
  for (i = 0; i < d->nout && i < DT_USER_MAX; i++)
    cells[i] = i < u->n ? cell_of(&u->cell[i]) : dt_c_none();
  for (i = nrets; i < u->n; i++)
    if (!u->cell[i].none) cells[d->nout + n++] = cell_of(&u->cell[i]);
  if (n != d->nin)
    return dt_raise(d->cx, DT_E_ASSERT, "input_specs(%d) != strategies(%d: %d "
                    "args + %d kwargs)", n, d->nin, d->npos,
                    d->nin - d->npos);
  dt_rows_add(rows, cells);
  return rows->st;
}

/* A row has one spec for an operator that returns a list; PyTorch wants one
** for each of its tensors. */
static DtStatus check_list (const DtDecide *d) {
  const DtSchema *s = d->op->sig;
  bool plain = strcmp(s->overload, "default") == 0;
  DT_CHECK(d->cx, !s->returns_list, DT_E_VALUE, "For the op %s::%s%s%s, "
           "`output_specs` has 1 output which does not equal the number of op "
           "outputs: %d.", s->ns, s->base, plain ? "" : ".",
           plain ? "" : s->overload, d->nout);
  return DT_OK;
}

static DtStatus user_strategy (DtStratCall *c) {
  DtSheet *s = (DtSheet *)c->sink;
  DtDecide *d = s->d;
  const User *u = (const User *)s->ud;
  DtUserRules rules;
  DtExpand o;
  DtRows rows;
  int i;
  memset(&rules, 0, sizeof rules);
  memset(&o, 0, sizeof o);
  rules.cx = c->cx;
  rules.arena = d->arena;
  DT_CHECK(c->cx, d->nout + d->nin <= DT_USER_MAX, DT_E_LIMIT,
           "%s: more than %d tensors in a registered rule", d->op->sig->full,
           DT_USER_MAX);
  DT_TRY(c->cx, u->fn(u->ud, c, &rules));
  dt_rows_init(&rows, c->cx, d->arena, d->nout, d->nin);
  for (i = 0; i < rules.n; i++)
    DT_TRY(c->cx, add_row(d, &rules.row[i], &rows));
  DT_TRY(c->cx, check_list(d));
  o.inplace = d->op->sig->inplace;
  return dt_expand_rows(s, &rows, &o);
}

static bool is_int (const DtArgDef *a) {
  return a->type == DT_T_INT && !a->list;
}

bool dt_user_key_has (const DtOpDef *op, int i) {
  const DtSchema *s = op->sig;
  int first = 0;
  if (i >= s->nargs || s->arg[i].type == DT_T_TENSOR) return true;
  if (s->arg[i].kwonly) return is_int(&s->arg[i]);
  while (first < i && !is_int(&s->arg[first])) first++;
  return is_int(&s->arg[first]);
}

void dt_user_key_args (const DtOpDef *op, const DtArgs *args, DtArgs *out) {
  int i;
  *out = *args;
  for (i = 0; i < args->n; i++)
    if (!dt_user_key_has(op, i)) memset(&out->v[i], 0, sizeof out->v[i]);
}

static void user_free (void *p) {
  User *u = (User *)p;
  if (u->free_ud) u->free_ud(u->ud);
  dt_free(u->cx, u);
}

DtStatus dt_user_rules_set (DtCtx *cx, DtRegistry *r, const DtOpDef *op,
                            DtUserRuleFn fn, void *ud,
                            void (*free_ud) (void *)) {
  User *u = DT_NEW(cx, User);
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
