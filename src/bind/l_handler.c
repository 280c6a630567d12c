/* SPDX-License-Identifier: MIT
** bind/l_handler.c: operators that Lua takes over (dt._set_handler): the
** handler comes before everything else the dispatcher does, and makes the
** results itself, as PyTorch's custom op handlers.
**
** The functions are kept in a table of the registry by the operator's name,
** so the engine's table needs no reference to free. */
#include "bind/bind.h"

static const char table_key[] = "dt.handlers";

/* (const DtCall *): all arguments by position, defaults included. */
static int protected_call (lua_State *L) {
  const DtCall *c = lua_touserdata(L, 1);
  const DtArgs *a = c->args;
  int top;
  luaL_checkstack(L, a->n + 8, "too many arguments");
  lua_settop(L, 0);
  lua_getfield(L, LUA_REGISTRYINDEX, table_key);
  top = lua_gettop(L);
  lua_getfield(L, top, c->op->sig->full);
  for (int i = 0; i < a->n; i++) dtL_push_value(L, &a->v[i], c->in);
  lua_call(L, a->n, LUA_MULTRET);
  lua_remove(L, top);
  return lua_gettop(L);
}

/* Results are variables of their own: what Lua still holds is not shared. */
static DtStatus take_results (lua_State *L, DtSession *s, int first,
                              DtResults *out) {
  int n = lua_gettop(L) - first + 1;
  DtStatus st;
  DT_TRY(s->cx, dt_results_init(s, out, n));
  st = DT_OK;
  for (int i = 0; i < n && st == DT_OK; i++) {
    const DtVar *v = dtL_test_tensor(L, first + i);
    if (v == NULL && lua_isinteger(L, first + i) && i < 16) {
      out->nums |= 1u << i;
      out->num[i] = lua_tointeger(L, first + i);
    } else if (v != NULL)
      st = dt_var_new(s, v->local, v->spec,
                      out->more != NULL ? &out->more[i] : &out->v[i]);
  }
  if (st != DT_OK) dt_results_fini(s, out);
  return st;
}

static DtStatus run_handler (DtSession *s, void *ud, const DtCall *call,
                             DtResults *out) {
  lua_State *L = ((DtBind *)s->bind)->cur;
  int base = lua_gettop(L);
  bool grad = s->grad_enabled;
  DtStatus st;
  (void)ud;
  if (!lua_checkstack(L, 64))
    return dt_raise(s->cx, DT_E_LUA, "the Lua stack is full");
  s->grad_enabled = false;
  lua_pushcfunction(L, dtL_traceback);
  lua_pushcfunction(L, protected_call);
  lua_pushlightuserdata(L, (void *)(uintptr_t)call);
  if (lua_pcall(L, 1, LUA_MULTRET, base + 1) != LUA_OK)
    st = dtL_catch(L, DT_E_LUA);
  else
    st = take_results(L, s, base + 2, out);
  s->grad_enabled = grad;
  lua_settop(L, base);
  return st;
}

/* dt._set_handler("aten.op.overload", f or nil) -> was there one?  Of an
** operator that is not built in nothing is asked: true. */
static int l_set_handler (lua_State *L) {
  DtSession *s = dtL_session(L);
  const char *name = luaL_checkstring(L, 1);
  const DtOpDef *op = dt_registry_find(s->cx, s->registry, name);
  void *ud;
  bool was;
  if (op == NULL) {
    dt_error_clear(s->cx);
    lua_pushboolean(L, 1);
    return 1;
  }
  lua_settop(L, 2);
  was = dt_handler_get(s, op, &ud) == run_handler;
  if (!lua_isnil(L, 2)) luaL_checktype(L, 2, LUA_TFUNCTION);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, table_key);
  lua_pushvalue(L, 2);
  lua_setfield(L, -2, op->sig->full);
  if (dt_handler_set(s, op, lua_isnil(L, 2) ? NULL : run_handler, NULL)
      != DT_OK)
    return dtL_raise(L);
  lua_pushboolean(L, was);
  return 1;
}

void dtL_open_handler (lua_State *L, int dt) {
  lua_pushcfunction(L, l_set_handler);
  lua_setfield(L, dt, "_set_handler");
}
