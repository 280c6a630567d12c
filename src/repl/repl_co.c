/* SPDX-License-Identifier: MIT
** repl/repl_co.c: coroutine.resume and coroutine.wrap that Ctrl-C reaches.
**
** A hook belongs to one coroutine, and Lua does not say which one runs.  Here
** the thread says so (repl/stop.h), and what a Ctrl-C left goes along: into a
** coroutine that is entered, out of one that is left, so that neither a caller
** that catches errors nor a moment between two of them loses it.  Otherwise
** they are Lua's own, with its words.
**
** In a finalizer Lua calls no hook of the thread that collects.  So finalizers
** written in Lua run in a coroutine of their own. */
#include "repl/repl_int.h"

#include <lauxlib.h>
#include <lua.h>
#include "repl/stop.h"

/* The hook that stops at a prompt moves, to stop once; the one that ends what
** runs is left in the callers too. */
static void carry_hook (lua_State *from, lua_State *to, bool in) {
  lua_Hook h = lua_gethook(from);
  bool soft = dt_stop_is_soft(h);
  if (!soft && !dt_repl_is_hook(h))
    return;
  lua_sethook(to, h, lua_gethookmask(from), lua_gethookcount(from));
  if (soft || !in)
    lua_sethook(from, NULL, 0, 0);
}

/* Nothing between the two sets of the running coroutine raises. */
static int resume_there (lua_State *L, lua_State *co, int nargs, int *nres) {
  lua_State *was = dt_stop_running(co);
  carry_hook(L, co, true);
  int rc = lua_resume(co, L, nargs, nres);
  (void)dt_stop_running(was);
  carry_hook(co, L, false);
  return rc;
}

/* Arguments on the top of L.  How many results lie there; -1: an error does. */
static int resume_with_hook (lua_State *L, lua_State *co, int nargs) {
  int n = 0;
  if (!lua_checkstack(co, nargs)) {
    lua_pushliteral(L, "too many arguments to resume");
    return -1;
  }
  lua_xmove(L, co, nargs);
  int rc = resume_there(L, co, nargs, &n);
  if (rc != LUA_OK && rc != LUA_YIELD) {
    lua_xmove(co, L, 1);
    return -1;
  }
  if (!lua_checkstack(L, n + 1)) {
    lua_pop(co, n);
    lua_pushliteral(L, "too many results to resume");
    return -1;
  }
  lua_xmove(co, L, n);
  return n;
}

static int co_resume (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  luaL_argexpected(L, co != NULL, 1, "coroutine");
  int n = resume_with_hook(L, co, lua_gettop(L) - 1);
  lua_pushboolean(L, n >= 0);
  n = n >= 0 ? n : 1;
  lua_insert(L, -(n + 1));
  return n + 1;
}

/* What coroutine.wrap gives: upvalue 1 is the coroutine. */
static int call_wrapped (lua_State *L) {
  lua_State *co = lua_tothread(L, lua_upvalueindex(1));
  int n = resume_with_hook(L, co, lua_gettop(L));
  if (n >= 0)
    return n;
  int st = lua_status(co);
  if (st != LUA_OK && st != LUA_YIELD) {        /* close what is to be closed */
    lua_pushvalue(L, -1);
    lua_xmove(L, co, 1);
    st = lua_resetthread(co);
    lua_xmove(co, L, 1);
  }
  if (st != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

static int co_wrap (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_State *co = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  lua_pushcclosure(L, call_wrapped, 1);
  return 1;
}

/* ---- finalizers ---- */

/* What stands as __gc; upvalue 1 is the script's. */
static int run_finalizer (lua_State *L) {
  lua_State *co = lua_newthread(L);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 2);
  int n = 0, rc = resume_there(L, co, 1, &n);
  if (rc == LUA_OK || rc == LUA_YIELD)
    return 0;
  lua_xmove(co, L, 1);
  return lua_error(L);          /* Lua makes a warning of it */
}

/* Lua looks for __gc when a metatable is set, so this is where it is replaced.
*/
static void replace_finalizer (lua_State *L, int meta) {
  lua_pushliteral(L, "__gc");
  if (lua_rawget(L, meta) == LUA_TFUNCTION && !lua_iscfunction(L, -1)) {
    lua_pushcclosure(L, run_finalizer, 1);
    lua_pushliteral(L, "__gc");
    lua_insert(L, -2);
    lua_rawset(L, meta);
  } else {
    lua_pop(L, 1);
  }
}

/* setmetatable(), with Lua's words. */
static int set_metatable (lua_State *L) {
  bool none = lua_isnil(L, 2);
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_argexpected(L, none || lua_istable(L, 2), 2, "nil or table");
  if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
    return luaL_error(L, "cannot change a protected metatable");
  if (!none)
    replace_finalizer(L, 2);
  lua_settop(L, 2);
  lua_setmetatable(L, 1);
  return 1;
}

void dt_co_open (lua_State *L) {
  static const luaL_Reg funcs[] = {{"resume", co_resume}, {"wrap", co_wrap},
                                   {NULL, NULL}};
  lua_getglobal(L, "coroutine");
  luaL_setfuncs(L, funcs, 0);
  lua_getfield(L, -1, "resume");        /* it catches errors: l_control.c */
  lua_setfield(L, LUA_REGISTRYINDEX, "dt.resume");
  lua_pop(L, 1);
  lua_pushcfunction(L, set_metatable);
  lua_setglobal(L, "setmetatable");
}
