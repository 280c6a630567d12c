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

static void push_tag (lua_State *L, const char *key, const char *v) {
  lua_createtable(L, 0, 1);
  dtL_set_str(L, key, v);
}

static void push_dtype (lua_State *L, DtDtype t, bool torch) {
  const DtDtypeInfo *info = dt_dtype_info(t);
  push_tag(L, "dtype", torch ? info->torch : info->name);
}

bool dtL_push_plain_arg (lua_State *L, const DtValue *v, bool torch) {
  switch ((DtValueKind)v->kind) {
    case DT_V_BOOL: lua_pushboolean(L, v->u.b); return true;
    case DT_V_INT: lua_pushinteger(L, v->u.i); return true;
    case DT_V_FLOAT: lua_pushnumber(L, v->u.f); return true;
    case DT_V_STR: lua_pushstring(L, v->u.s); return true;
    case DT_V_DTYPE: push_dtype(L, (DtDtype)v->u.i, torch); return true;
    case DT_V_DEVICE:
      push_tag(L, "device", dt_device_name((DtDevice)v->u.i));
      return true;
    case DT_V_LAYOUT:
      push_tag(L, "layout", dt_layout_name(v->u.i));
      return true;
    case DT_V_MEMFMT:
      push_tag(L, "memory_format", dt_memfmt_name(v->u.i));
      return true;
    default: return false;
  }
}

DtDebug *dtL_check_debug (lua_State *L) {
  DtDebug *d = dt_debug_of(dtL_session(L));
  if (d == NULL) dtL_errorf(L, DT_E_RUNTIME, "no debugger is attached");
  dt_debug_look(d);
  return d;
}
