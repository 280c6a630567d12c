/* SPDX-License-Identifier: MIT
** bind/l_past.c: the past as Lua sees it: a line can be evaluated as if an
** operator had not yet run.  Which variable held which tensor then is recorded
** by bound.c. */
#include "bind/frame.h"
#include "bind/field.h"
#include "bind/slots.h"

/* --- the environment of the past --- */

typedef struct Past { DtDebug *d; int64_t seq; const char *scope; } Past;

/* A living tensor of which the record knows more than now. */
static bool push_past (lua_State *L, const Past *p, int64_t id) {
  DtVar **v = dtL_box_tensor(L);
  if (dt_record_revive(p->d, id, p->seq, v) != DT_OK) {
    dt_error_clear(p->d->s->cx);
    lua_pop(L, 1);
    return false;
  }
  dtL_count_tensor(L, *v);
  return true;
}

enum { DEPTH = 60, TABLES = 1 << 16 };

/* A library is no state of the program. */
static bool is_library (lua_State *L, int idx) {
  bool yes = false;
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  for (lua_pushnil(L); !yes && lua_next(L, -2); lua_pop(L, 1))
    yes = lua_rawequal(L, -1, idx);
  lua_pop(L, yes ? 2 : 1);
  return yes;
}

static void copy_past (lua_State *L, const Past *p, int done, int depth);

/* Did the program make it at that time or later?  What was typed at a stop has
** numbers of its own and is there. */
static bool is_made_later (const Past *p, const DtVar *v) {
  const DtRecOp *r = v->origin.seq >= p->seq
    ? dt_record_find(p->d, v->origin.seq) : NULL;
  for (int i = 0; r && i < r->nout; i++)
    if (!r->out[i].none && r->out[i].id == v->id) return true;
  return false;
}

/* Replace the value on the top: tensors by what they were, by nil where they
** were made later, tables by copies that hold such; `done` has those that are
** made, [1] their number. */
static void make_past (lua_State *L, const Past *p, int done, int depth) {
  DtVar *v = dtL_test_tensor(L, -1);
  if (v && push_past(L, p, v->id)) {
    lua_remove(L, -2);
  } else if (v && is_made_later(p, v)) {
    lua_pop(L, 1);
    lua_pushnil(L);
  } else if (!v && lua_istable(L, -1) && depth < DEPTH)
    copy_past(L, p, done, depth);
}

static bool made_before (lua_State *L, int done) {
  lua_pushvalue(L, -1);
  if (lua_rawget(L, done) != LUA_TNIL) {
    lua_remove(L, -2);
    return true;
  }
  lua_pop(L, 1);
  return false;
}

/* Fields of tables and modules: the objects are today's, what they hold is
** not.  They are copied, so that what is read is a table with its metatable. */
static void copy_past (lua_State *L, const Past *p, int done, int depth) {
  int from = lua_gettop(L);
  if (made_before(L, done) || !lua_checkstack(L, 12)) return;
  lua_rawgeti(L, done, 1);
  lua_Integer n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  if (n >= TABLES || is_library(L, from)) return;
  lua_pushinteger(L, n + 1);
  lua_rawseti(L, done, 1);
  lua_newtable(L);
  lua_pushvalue(L, from);
  lua_pushvalue(L, from + 1);
  lua_rawset(L, done);
  for (lua_pushnil(L); lua_next(L, from); ) {
    make_past(L, p, done, depth + 1);
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, from + 1);
  }
  if (lua_getmetatable(L, from)) lua_setmetatable(L, from + 1);
  lua_remove(L, from);
}

/* Upvalues: Past, the environment of now (or false).  A tensor as key asks
** whether it was made later. */
static int past_index (lua_State *L) {
  const Past *p = (const Past *)lua_touserdata(L, lua_upvalueindex(1));
  const DtVar *v = dtL_test_tensor(L, 2);
  if (v) {
    lua_pushboolean(L, is_made_later(p, v));
    return 1;
  }
  int64_t id = lua_type(L, 2) == LUA_TSTRING
    ? dt_record_name(p->d, p->scope, lua_tostring(L, 2), p->seq) : 0;
  if (id != 0 && push_past(L, p, id)) return 1;
  if (!lua_istable(L, lua_upvalueindex(2))) return 0;
  lua_pushvalue(L, 2);
  lua_gettable(L, lua_upvalueindex(2));
  lua_newtable(L);              /* what copies are made: [table] = copy */
  lua_pushinteger(L, 0);
  lua_rawseti(L, -2, 1);
  lua_insert(L, -2);
  make_past(L, p, lua_gettop(L) - 1, 0);
  return 1;
}

static int past_newindex (lua_State *L) {
  return dtL_errorf(L, DT_E_RUNTIME, "the past cannot be changed; :goto now "
                    "comes back");
}

/* Replaces the environment on the top by that of the past. */
void dtL_past_env (lua_State *L, int64_t seq, const char *scope) {
  Past *p;
  lua_newtable(L);
  lua_createtable(L, 0, 3);
  p = (Past *)lua_newuserdatauv(L, sizeof *p, 0);
  p->d = dt_debug_of(dtL_session(L));
  p->seq = seq;
  p->scope = scope;
  lua_pushvalue(L, -4);
  lua_pushcclosure(L, past_index, 2);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, past_newindex);
  lua_setfield(L, -2, "__newindex");
  lua_pushliteral(L, "the environment of the past");
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
  lua_remove(L, -2);
}

/* --- dt.debug --- */

static DtRecOp *check_op (lua_State *L, int idx, DtDebug *d) {
  int64_t seq = luaL_checkinteger(L, idx);
  DtRecOp *r = dt_record_find(d, seq);
  if (r == NULL)
    dtL_errorf(L, DT_E_INDEX, "operator #%lld is not in the record",
               (long long)seq);
  return r;
}

/* dt.debug.at(n) -> names and tensors as they were just before operator #n. */
static int l_at (lua_State *L) {
  enum { MAX = 1024 };
  DtDebug *d = dtL_check_debug(L);
  DtRecOp *r = check_op(L, 1, d);
  const DtRecName **names;
  Past p = { d, r->seq, r->scope };
  int i, n;
  names = (const DtRecName **)lua_newuserdatauv(L, MAX * sizeof *names, 0);
  n = dt_record_names(d, r->seq, names, MAX);
  lua_newtable(L);
  for (i = n - 1; i >= 0; i--) {
    int64_t id = dt_record_name(d, r->scope, names[i]->name, r->seq);
    if (id != names[i]->var) continue;      /* another scope's */
    if (push_past(L, &p, names[i]->var))
      lua_setfield(L, -2, names[i]->name);
  }
  return 1;
}

/* dt.debug.value(x, n): tensor or name as it was just before operator #n. */
static int l_value (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  DtRecOp *r = check_op(L, 2, d);
  DtVar *v = dtL_test_tensor(L, 1), **out;
  int64_t id = v ? v->id : dt_record_name(d, r->scope, luaL_checkstring(L, 1),
                                          r->seq);
  if (id == 0)
    return dtL_errorf(L, DT_E_KEY, "no tensor was called %s before #%lld",
                      lua_tostring(L, 1), (long long)r->seq);
  out = dtL_box_tensor(L);
  if (dt_record_revive(d, id, r->seq, out) != DT_OK) return dtL_raise(L);
  dtL_count_tensor(L, *out);
  return 1;
}

/* The newest number: collectives of the script's have none. */
static int64_t last_seq (DtDebug *d) {
  int64_t seq = 0;
  for (int i = 0; i < d->rec.n && seq == 0; i++) seq = dt_record_at(d, i)->seq;
  return seq;
}

/* dt.debug.recording([{ring=, limit=, on=}]) -> its state after the change. */
static int l_recording (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  DtRecord *k = &d->rec;
  if (lua_istable(L, 1)) {
    lua_getfield(L, 1, "ring");
    if (!lua_isnil(L, -1)) {
      lua_Integer n = luaL_checkinteger(L, -1);
      luaL_argcheck(L, n >= 1 && n <= 1 << 20, 1,
                    "ring: wanted 1 to 1048576 operators");
      if (dt_record_reset(d, (int)n) != DT_OK) return dtL_raise(L);
    }
    lua_getfield(L, 1, "limit");
    if (!lua_isnil(L, -1)) dt_record_limit(d, luaL_checkinteger(L, -1));
    lua_getfield(L, 1, "on");
    if (!lua_isnil(L, -1)) k->off = !lua_toboolean(L, -1);
    lua_settop(L, 1);
  }
  lua_createtable(L, 0, 8);
  dtL_set_int(L, "ring", k->cap);
  dtL_set_int(L, "operators", k->n);
  dtL_set_int(L, "total", k->total);
  dtL_set_int(L, "limit", k->limit);
  dtL_set_int(L, "bytes", k->kept);
  dtL_set_int(L, "first", k->n ? dt_record_at(d, k->n - 1)->seq : 0);
  dtL_set_int(L, "last", last_seq(d));
  dtL_set_bool(L, "on", !k->off);
  return 1;
}

/* dt._slots([on]) -> is Lua's stack looked at, or its interface asked for
** everything?  Switches, for tests. */
static int l_slots (lua_State *L) {
  DtBind *b = dtL_state(L);
  if (lua_isboolean(L, 1)) {
    if (lua_toboolean(L, 1)) dtL_slots_learn(L);
    else dtL_slots_forget(b);
  }
  lua_pushboolean(L, b->box_tag != 0 && b->protos && b->boxes && b->pcs);
  return 1;
}

void dtL_open_past (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"at", l_at}, {"recording", l_recording}, {"value", l_value},
    {NULL, NULL}
  };
  DtDebug *d = dt_debug_of(dtL_session(L));
  lua_pushcfunction(L, l_slots);
  lua_setfield(L, dt, "_slots");
  lua_getfield(L, dt, "debug");
  luaL_setfuncs(L, funcs, 0);
  lua_pop(L, 1);
  if (d) {
    d->names = dtL_bound;
    d->names_ud = dtL_state(L);
  }
}
