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

enum { MAX_DEPTH = 24 };

/* A key: a text, or a number beside them, which is written as its text. */
typedef struct Key {
  const char *text;             /* held by the table; NULL: a number */
  size_t len;
  lua_Number number;
  lua_Integer whole;            /* the number, if it is one without a fraction */
} Key;

static int by_bytes (const void *a, const void *b) {
  const Key *x = a, *y = b;
  if (x->text == NULL || y->text == NULL)
    return x->text == y->text ? (x->number > y->number) - (x->number < y->number)
                              : x->text == NULL ? -1 : 1;
  const int c = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);
  return c != 0 ? c : (x->len > y->len) - (x->len < y->len);
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

/* The keys of the table at idx, sorted: the same table gives the same text on
** each rank and in each run.  They lie in a userdata left on the stack. */
static Key *sorted_keys (lua_State *L, int idx, size_t *count) {
  size_t n = 0, i = 0;
  for (lua_pushnil(L); lua_next(L, idx); n++) lua_pop(L, 1);
  Key *key = lua_newuserdatauv(L, (n + 1) * sizeof *key, 0);
  lua_pushnil(L);
  while (lua_next(L, idx)) {
    lua_pop(L, 1);
    key[i] = (Key){0};
    if (lua_type(L, -1) == LUA_TSTRING)
      key[i].text = lua_tolstring(L, -1, &key[i].len);
    else if (lua_isinteger(L, -1))
      key[i].number = (lua_Number)(key[i].whole = lua_tointeger(L, -1));
    else if (lua_type(L, -1) == LUA_TNUMBER) key[i].number = lua_tonumber(L, -1);
    else continue;
    i++;
  }
  qsort(key, i, sizeof *key, by_bytes);
  *count = i;
  return key;
}

/* Keys in order of their bytes: the same table gives the same text on each
** rank and in each run. */
static void write_object (lua_State *L, int idx, int depth, DtBuf *b) {
  size_t n;
  const Key *key = sorted_keys(L, idx, &n);
  dt_buf_addc(b, '{');
  for (size_t i = 0; i < n; i++) {
    if (i) dt_buf_addc(b, ',');
    if (key[i].text != NULL) {
      dt_json_string(b, key[i].text, key[i].len);
      lua_pushlstring(L, key[i].text, key[i].len);
    } else {
      const bool whole = (lua_Number)key[i].whole == key[i].number;
      if (whole) lua_pushinteger(L, key[i].whole);
      else lua_pushnumber(L, key[i].number);
      lua_pushvalue(L, -1);     /* tostring changes what it is given */
      dt_buf_addf(b, "\"%s\"", lua_tostring(L, -1));
      lua_pop(L, 1);
    }
    dt_buf_addc(b, ':');
    lua_rawget(L, idx);
    write_value(L, lua_gettop(L), depth, b);
    lua_pop(L, 1);
  }
  dt_buf_addc(b, '}');
  lua_pop(L, 1);
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

/* NaN and infinities have no JSON and become null; a table deeper than
** MAX_DEPTH, functions and userdata are written as what they are
** (write_other), so a circle ends. */
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
