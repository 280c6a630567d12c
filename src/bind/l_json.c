/* SPDX-License-Identifier: MIT
** bind/l_json.c: Lua values as JSON, for --json and dt.debug.json().  Keys are
** sorted, so the bytes are the same on all ranks; a table with 1..n is an
** array; tensors and other objects are their text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "bind/frame.h"

enum { MAX_DEPTH = 24, MAX_KEYS = 512 };

static int by_bytes (const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void write_value (lua_State *L, int idx, int depth, DtBuf *b);

static void write_array (lua_State *L, int idx, lua_Integer n, int depth,
                         DtBuf *b) {
  lua_Integer i;
  dt_buf_addc(b, '[');
  for (i = 1; i <= n; i++) {
    if (i > 1) dt_buf_addc(b, ',');
    lua_rawgeti(L, idx, i);
    write_value(L, lua_gettop(L), depth, b);
    lua_pop(L, 1);
  }
  dt_buf_addc(b, ']');
}

static void write_object (lua_State *L, int idx, int depth, DtBuf *b) {
  const char *key[MAX_KEYS];
  int n = 0, i;
  lua_pushnil(L);
  while (lua_next(L, idx)) {
    lua_pop(L, 1);
    if (lua_type(L, -1) == LUA_TSTRING && n < MAX_KEYS)
      key[n++] = lua_tostring(L, -1);   /* held by the table */
  }
  qsort(key, (size_t)n, sizeof key[0], by_bytes);
  dt_buf_addc(b, '{');
  for (i = 0; i < n; i++) {
    if (i) dt_buf_addc(b, ',');
    dt_json_string(b, key[i], strlen(key[i]));
    dt_buf_addc(b, ':');
    lua_pushstring(L, key[i]);
    lua_rawget(L, idx);
    write_value(L, lua_gettop(L), depth, b);
    lua_pop(L, 1);
  }
  dt_buf_addc(b, '}');
}

static void write_other (lua_State *L, int idx, DtBuf *b) {
  size_t n;
  DtVar *v = dtL_test_tensor(L, idx);
  if (v) {                      /* what it is, not what it holds */
    DtBuf t;
    dt_buf_init(&t, b->cx);
    dt_var_print(v, &t);
    dt_json_string(b, dt_buf_str(&t), t.len);
    dt_buf_fini(&t);
    return;
  }
  n = 0;
  const char *s = luaL_tolstring(L, idx, &n);
  dt_json_string(b, s, n);
  lua_pop(L, 1);
}

static void write_value (lua_State *L, int idx, int depth, DtBuf *b) {
  size_t n;
  luaL_checkstack(L, 8, "json");
  switch (lua_type(L, idx)) {
    case LUA_TNIL: dt_buf_add(b, "null"); break;
    case LUA_TBOOLEAN:
      dt_buf_add(b, lua_toboolean(L, idx) ? "true" : "false"); break;
    case LUA_TNUMBER:
      if (lua_isinteger(L, idx))
        dt_buf_addf(b, "%lld", (long long)lua_tointeger(L, idx));
      else if (isfinite(lua_tonumber(L, idx)))
        dt_buf_addf(b, "%.17g", lua_tonumber(L, idx));
      else dt_buf_add(b, "null");
      break;
    case LUA_TSTRING: {
      const char *s = lua_tolstring(L, idx, &n);
      dt_json_string(b, s, n);
      break;
    }
    case LUA_TTABLE: {
      lua_Integer len = (lua_Integer)lua_rawlen(L, idx);
      lua_pushnil(L);
      if (depth >= MAX_DEPTH) { lua_pop(L, 1); write_other(L, idx, b); break; }
      if (len == 0 && lua_next(L, idx)) {
        lua_pop(L, 2);
        write_object(L, idx, depth + 1, b);
      } else if (len == 0) dt_buf_add(b, "[]");
      else { lua_pop(L, 1); write_array(L, idx, len, depth + 1, b); }
      break;
    }
    default: write_other(L, idx, b);
  }
}

void dtL_to_json (lua_State *L, int idx, DtBuf *b) {
  write_value(L, lua_absindex(L, idx), 0, b);
}
