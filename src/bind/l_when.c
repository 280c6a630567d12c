/* SPDX-License-Identifier: MIT
** bind/l_when.c: which operators made, changed and used a tensor, those typed at
** stops among them. */
#include "bind/bind.h"
#include "bind/field.h"
#include "debug/debug.h"

typedef struct Search {
  int64_t id;                   /* of the tensor, as the record has it */
  int n;                        /* rows in the list on the top */
} Search;

static bool same_origin (const DtOrigin *a, const DtOrigin *b) {
  return a->seq == b->seq && a->line == b->line && a->op == b->op &&
         a->file == b->file;
}

static bool is_it (const Search *s, const DtRecVar *r) {
  return !r->none && r->id == s->id;
}

/* A tensor looked at in the past is another one with the same origin, of the
** same name where one operator made several. */
static void find_recorded_twin (const DtVar *v, int n, const DtRecVar *r,
                                int64_t *id, bool *named) {
  for (int i = 0; i < n && !*named; i++)
    if (!r[i].none && r[i].storage != 0 &&
        same_origin(&r[i].origin, &v->origin)) {
      *named = r[i].name == v->name;
      if (*named || *id == 0) *id = r[i].id;
    }
}

static int64_t revived_id (const DtDebug *d, const DtVar *v) {
  const DtRecord *all[] = {&d->rec, &d->typed};
  int64_t id = 0;
  bool named = false;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < all[k]->n && !named; i++) {
      const DtRecOp *r = dt_record_of(all[k], i);
      find_recorded_twin(v, r->nout, r->out, &id, &named);
      find_recorded_twin(v, r->nin, r->in, &id, &named);
    }
  return id;
}

static bool is_among (const Search *s, int n, const DtRecVar *r) {
  for (int i = 0; i < n; i++)
    if (is_it(s, &r[i])) return true;
  return false;
}

/* Append {seq, typed, op, file, line, what}. */
static void append_row (lua_State *L, Search *s, const DtRecOp *r, bool typed) {
  bool in = is_among(s, r->nin, r->in), out = is_among(s, r->nout, r->out);
  if (!in && !out) return;
  lua_createtable(L, 0, 6);
  dtL_set_int(L, "seq", typed ? r->from : r->seq);
  if (typed) dtL_set_int(L, "typed", r->seq - r->from);
  dtL_set_str(L, "op", r->label);
  dtL_set_str(L, "file", r->file);
  dtL_set_int(L, "line", r->line);
  dtL_set_str(L, "what", !in ? "made" : out ? "changed" : "used");
  lua_seti(L, -2, ++s->n);
}

static void append_rows (lua_State *L, Search *s, const DtDebug *d) {
  for (int i = d->rec.n - 1; i >= 0; i--)
    append_row(L, s, dt_record_of(&d->rec, i), false);
  for (int i = d->typed.n - 1; i >= 0; i--)
    append_row(L, s, dt_record_of(&d->typed, i), true);
}

/* dt.debug.life(x) -> list of {seq, typed, op, file, line, what}: operators of
** the record that made, changed or used the tensor; `typed`: it was typed at a
** stop, the so-manieth after the program's operator `seq`.  The program's come
** first.  Local. */
static int l_life (lua_State *L) {
  const DtVar *v = dtL_check_tensor(L, 1);
  Search s = { .id = v->id };
  DtDebug *d = dtL_check_debug(L);
  lua_newtable(L);
  append_rows(L, &s, d);
  if (s.n == 0 && v->origin.seq > 0) {
    s.id = revived_id(d, v);
    if (s.id != 0) append_rows(L, &s, d);
  }
  return 1;
}

/* dt.debug.origin_id(x) -> the number under which the record knows what x was
** made as, or nil: a parameter is another tensor than the one it was made from.
** Local. */
static int l_origin_id (lua_State *L) {
  const DtVar *v = dtL_check_tensor(L, 1);
  DtDebug *d = dtL_check_debug(L);
  const DtRecOp *r = v->origin.seq > 0 ? dt_record_find(d, v->origin.seq)
                                       : NULL;
  int64_t id = 0;
  bool named = false;
  if (r) find_recorded_twin(v, r->nout, r->out, &id, &named);
  if (id != 0) lua_pushinteger(L, (lua_Integer)id);
  else lua_pushnil(L);
  return 1;
}

void dtL_open_when (lua_State *L, int dt) {
  lua_getfield(L, dt, "debug");
  lua_pushcfunction(L, l_life);
  lua_setfield(L, -2, "life");
  lua_pushcfunction(L, l_origin_id);
  lua_setfield(L, -2, "origin_id");
  lua_pop(L, 1);
}
