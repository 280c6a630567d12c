/* SPDX-License-Identifier: MIT
** repl/repl_python.c: a prompt of Python (:set python on): lines that are no
** commands are run as :python runs a text, go on as Python's own shell lets
** them, and are completed with Python's names.  What is typed is read and run
** in Lua (lua/torch/prompt.lua, lua/python/typed.lua). */
#include "repl/repl_int.h"

#include <lauxlib.h>
#include <lua.h>
#include <string.h>

/* Protected: 1 module, 2 function, 3... its arguments -> its first result. */
static int call_module (lua_State *L) {
  int n = lua_gettop(L);
  lua_getglobal(L, "require");
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  lua_pushvalue(L, 2);
  lua_gettable(L, -2);
  for (int i = 3; i <= n; i++)
    lua_pushvalue(L, i);
  lua_call(L, n - 2, 1);
  return 1;
}

bool dt_python_incomplete (lua_State *L, const char *text, bool pasted) {
  lua_pushcfunction(L, call_module);
  lua_pushliteral(L, "python.typed");
  lua_pushliteral(L, "needs_more");
  lua_pushstring(L, text);
  lua_pushboolean(L, pasted);
  bool more = lua_pcall(L, 4, 1, 0) == LUA_OK && lua_toboolean(L, -1);
  lua_pop(L, 1);
  dt_error_clear(dtL_session(L)->cx);
  return more;
}

void dt_python_names (lua_State *L, const char *path, const char *prefix,
                      DtLineAdd add, void *sink) {
  int top = lua_gettop(L);
  lua_pushcfunction(L, call_module);
  lua_pushliteral(L, "torch.prompt");
  lua_pushliteral(L, "complete");
  lua_pushstring(L, path);
  lua_pushstring(L, prefix);
  if (lua_pcall(L, 4, 1, 0) == LUA_OK && lua_istable(L, -1))
    for (int i = 1; lua_rawgeti(L, -1, i) == LUA_TSTRING; i++) {
      add(sink, lua_tostring(L, -1));
      lua_pop(L, 1);
    }
  lua_settop(L, top);
  dt_error_clear(dtL_session(L)->cx);
}
