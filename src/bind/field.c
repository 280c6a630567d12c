/* SPDX-License-Identifier: MIT
** bind/field.c: fields of the table on the top of the stack. */
#include "bind/field.h"

#include "bind/bind.h"

void dtL_set_str (lua_State *L, const char *k, const char *v) {
  lua_pushstring(L, v);
  lua_setfield(L, -2, k);
}

void dtL_set_int (lua_State *L, const char *k, int64_t v) {
  lua_pushinteger(L, v);
  lua_setfield(L, -2, k);
}

void dtL_set_num (lua_State *L, const char *k, double v) {
  lua_pushnumber(L, v);
  lua_setfield(L, -2, k);
}

void dtL_set_bool (lua_State *L, const char *k, bool v) {
  lua_pushboolean(L, v);
  lua_setfield(L, -2, k);
}

void dtL_push_ints (lua_State *L, const int64_t *v, int64_t n) {
  lua_createtable(L, (int)n, 0);
  for (int64_t i = 0; i < n; i++) {
    lua_pushinteger(L, v[i]);
    lua_seti(L, -2, i + 1);
  }
}

DtDebug *dtL_check_debug (lua_State *L) {
  DtDebug *d = dt_debug_of(dtL_session(L));
  if (d == NULL) dtL_errorf(L, DT_E_RUNTIME, "no debugger is attached");
  dt_debug_look(d);
  return d;
}
