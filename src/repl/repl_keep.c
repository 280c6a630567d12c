/* SPDX-License-Identifier: MIT
** repl/repl_keep.c: what a program leaves to the prompt that follows it: the
** locals of its main chunk become the prompt's, as Python's globals do.
**
** A chunk's locals live as long as the chunk runs.  So the text is compiled
** with one more call at its end, on a line of its own that no source has; a
** text that ends in `return` cannot take it and keeps its globals only.  A
** program that fails is asked where it raises. */
#include "repl/repl_int.h"

#include <lauxlib.h>
#include <lua.h>
#include <string.h>

static const char key_kinds[] = "dt.repl.kinds";

static bool is_keep_wanted (lua_State *L) {
  const DtRepl *r = dtL_state(L)->stop_ud;
  return r != NULL && r->keep;
}

/* The active locals of the function in `ar`, later ones of a name last. */
static void keep_locals (lua_State *L, const lua_Debug *ar) {
  const char *name;
  dt_eval_push_locals(L);
  lua_getfield(L, LUA_REGISTRYINDEX, key_kinds);
  int locals = lua_gettop(L) - 1;
  for (int i = 1; (name = lua_getlocal(L, ar, i)) != NULL; i++) {
    if (name[0] == '(') {
      lua_pop(L, 1);
      continue;
    }
    lua_setfield(L, locals, name);
    lua_pushboolean(L, 0);
    lua_setfield(L, locals + 1, name);
  }
  lua_settop(L, locals - 1);
}

/* Called at the end of the main chunk. */
static int at_end (lua_State *L) {
  lua_Debug ar;
  if (lua_getstack(L, 1, &ar))
    keep_locals(L, &ar);
  lua_pushnil(L);
  lua_setglobal(L, DT_KEEP);
  return 0;
}

void dt_keep_raised (lua_State *L) {
  lua_Debug ar;
  if (!is_keep_wanted(L) || !lua_checkstack(L, 10))
    return;
  for (int level = 0; lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "S", &ar);
    if (strcmp(ar.what, "main") == 0 && ar.source[0] == '@') {
      keep_locals(L, &ar);
      return;
    }
  }
}

int dt_keep_load (lua_State *L, const char *text, size_t n, const char *name) {
  luaL_Buffer b;
  if (!is_keep_wanted(L))
    return luaL_loadbufferx(L, text, n, name, "t");
  luaL_buffinit(L, &b);
  luaL_addlstring(&b, text, n);
  luaL_addstring(&b, "\n;" DT_KEEP "()");
  luaL_pushresult(&b);
  size_t k;
  const char *longer = lua_tolstring(L, -1, &k);
  int st = luaL_loadbufferx(L, longer, k, name, "t");
  lua_remove(L, -2);
  if (st != LUA_OK) {
    lua_pop(L, 1);
    return luaL_loadbufferx(L, text, n, name, "t");
  }
  lua_pushcfunction(L, at_end);
  lua_setglobal(L, DT_KEEP);
  return st;
}

/* What a program of Python left goes to Lua, too. */
DtStatus dt_keep_python (lua_State *L, DtBuf *diag) {
  static const char chunk[] = "require('torch.prompt').keep()";
  if (luaL_loadbufferx(L, chunk, sizeof chunk - 1, "=[dt.python]", "t") !=
      LUA_OK) {
    lua_pop(L, 1);
    return DT_E_NOMEM;
  }
  return dt_eval_call(L, 0, 0, diag);
}
