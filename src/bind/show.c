/* SPDX-License-Identifier: MIT
** bind/show.c: a value as the prompt shows it: tensors by their own printing,
** tables through dt.inspect, strings quoted, the rest by tostring. */
#include "bind/bind.h"
#include "bind/slots.h"

static int show_value (lua_State *L) {
  if (lua_type(L, 1) == LUA_TTABLE || lua_type(L, 1) == LUA_TSTRING) {
    lua_getglobal(L, "require");
    lua_pushliteral(L, "dt.tensor.inspect");
    lua_call(L, 1, 1);
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
  } else if (dtL_is_none(L, 1) && !lua_isnil(L, 1)) {
    lua_pushliteral(L, "None");
  } else luaL_tolstring(L, 1, NULL);
  return 1;
}

/* A function by where it is written: its address would be another on every
** rank. */
static void show_function (lua_State *L, int idx, DtBuf *out) {
  lua_Debug ar;
  lua_pushvalue(L, idx);
  lua_getinfo(L, ">S", &ar);
  if (*ar.what == 'C' || dtL_is_ours(ar.source)) dt_buf_add(out, "function");
  else dt_buf_addf(out, "function at %s:%d", ar.short_src, ar.linedefined);
}

void dtL_show_value (lua_State *L, int idx, DtBuf *out) {
  size_t n;
  const char *s;
  idx = lua_absindex(L, idx);
  if (lua_isfunction(L, idx)) {
    show_function(L, idx, out);
    return;
  }
  lua_pushcfunction(L, show_value);
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
