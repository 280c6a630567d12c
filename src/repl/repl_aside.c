/* SPDX-License-Identifier: MIT
** repl/repl_aside.c: a call beside the thread that has stopped.
**
** Lua turns the hooks of a thread off while one of them runs.  At a stop that a
** hook made, Ctrl-C could thus not end what is typed, as it comes by a hook.
** So it runs in a new thread, which has hooks of its own.  Elsewhere it runs
** where it is called. */
#include "repl/repl_int.h"

#include <lua.h>

static int new_thread (lua_State *L) {
  lua_newthread(L);
  return 1;
}

/* Push a new thread with room for n values; NULL (and nothing is pushed)
** without memory. */
static lua_State *push_thread (lua_State *L, int n) {
  if (!lua_checkstack(L, 2))
    return NULL;
  lua_pushcfunction(L, new_thread);
  if (lua_pcall(L, 0, 1, 0) == LUA_OK) {
    lua_State *co = lua_tothread(L, -1);
    if (lua_checkstack(co, n))
      return co;
  }
  lua_pop(L, 1);
  return NULL;
}

static int call_here (lua_State *L, int nargs, int nresults,
                      lua_CFunction handler) {
  int base = lua_gettop(L) - nargs;
  lua_pushcfunction(L, handler);
  lua_insert(L, base);
  int rc = lua_pcall(L, nargs, nresults, base);
  lua_remove(L, base);
  return rc;
}

/* The thread has the hook of L, be it that of an earlier Ctrl-C. */
int dt_eval_pcall (lua_State *L, int nargs, int nresults,
                   lua_CFunction handler) {
  int base = lua_gettop(L) - nargs;
  lua_State *co = dtL_state(L)->hooked == L ? push_thread(L, nargs + 2) : NULL;
  if (co == NULL)
    return call_here(L, nargs, nresults, handler);
  lua_insert(L, base);          /* held by L while it runs */
  lua_pushcfunction(co, handler);
  lua_xmove(L, co, nargs + 1);
  lua_State *was = dt_stop_running(co);
  int rc = lua_pcall(co, nargs, nresults, 1);
  (void)dt_stop_running(was);
  int n = lua_gettop(co) - 1;
  if (!lua_checkstack(L, n)) {  /* the error is dropped */
    lua_settop(co, 1);
    lua_pushliteral(co, "too many results");
    rc = LUA_ERRRUN;
    n = 1;
  }
  lua_xmove(co, L, n);
  lua_remove(L, base);
  return rc;
}
