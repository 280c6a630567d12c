/* SPDX-License-Identifier: MIT
** bind/show.c: a value as the prompt shows it: tensors by their own printing,
** tables through dt.inspect, strings quoted, the rest by tostring. */
#include "bind/bind.h"

static int show (lua_State *L) {
  if (lua_type(L, 1) == LUA_TTABLE || lua_type(L, 1) == LUA_TSTRING) {
    lua_getglobal(L, "require");
    lua_pushliteral(L, "dt.tensor.inspect");
    lua_call(L, 1, 1);
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
  } else luaL_tolstring(L, 1, NULL);
  return 1;
}

void dtL_show_value (lua_State *L, int idx, DtBuf *out) {
  size_t n;
  const char *s;
  idx = lua_absindex(L, idx);
  lua_pushcfunction(L, show);
  lua_pushvalue(L, idx);
  if (lua_pcall(L, 1, 1, 0) != LUA_OK) {
    dt_buf_add(out, "(cannot be shown: ");
    dt_buf_add(out, luaL_tolstring(L, -1, NULL));
    dt_buf_addc(out, ')');
    lua_pop(L, 2);
    return;
  }
  s = lua_tolstring(L, -1, &n);
  if (s) dt_buf_addn(out, s, n);
  lua_pop(L, 1);
}
