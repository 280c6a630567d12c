/* SPDX-License-Identifier: MIT
** bind/l_json_read.c: JSON as Lua values, by jansson: for tests, exports, the
** editor's messages, and the module json of Python programs. */
#include <jansson.h>
#include "bind/bind.h"
#include "bind/process.h"

/* What becomes of null and of objects. */
typedef enum Form {
  PLAIN,                /* null is nil */
  NONE,                 /* null is dt.None */
  ORDERED               /* likewise; {object = true, n, k1, v1, …}, and
                        ** arrays have their n */
} Form;

static void push_json (lua_State *L, const json_t *j, Form form);

/* ORDERED keeps Python's dictionaries in the file's order: {key, value, ..., n
** = pairs * 2, object = true}, to be taken by lua/python. */
static void push_object (lua_State *L, const json_t *j, Form form) {
  const char *k;
  json_t *v;
  lua_Integer n = 0;
  int size = (int)json_object_size(j);
  lua_createtable(L, form == ORDERED ? 2 * size : 0, size);
  json_object_foreach((json_t *)(uintptr_t)j, k, v) {
    if (form == ORDERED) {
      lua_pushstring(L, k);
      lua_rawseti(L, -2, ++n);
      push_json(L, v, form);
      lua_rawseti(L, -2, ++n);
    } else {
      push_json(L, v, form);
      lua_setfield(L, -2, k);
    }
  }
  if (form != ORDERED) return;
  lua_pushinteger(L, n);
  lua_setfield(L, -2, "n");
  lua_pushboolean(L, 1);
  lua_setfield(L, -2, "object");
}

static void push_array (lua_State *L, const json_t *j, Form form) {
  size_t i;
  json_t *v;
  lua_createtable(L, (int)json_array_size(j), form == ORDERED);
  json_array_foreach(j, i, v) {
    push_json(L, v, form);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  if (form != ORDERED) return;
  lua_pushinteger(L, (lua_Integer)json_array_size(j));
  lua_setfield(L, -2, "n");
}

static void push_json (lua_State *L, const json_t *j, Form form) {
  luaL_checkstack(L, 4, "JSON nested too deeply");
  switch (json_typeof(j)) {
    case JSON_OBJECT: push_object(L, j, form); break;
    case JSON_ARRAY: push_array(L, j, form); break;
    case JSON_STRING:
      lua_pushlstring(L, json_string_value(j), json_string_length(j));
      break;
    case JSON_INTEGER: lua_pushinteger(L, json_integer_value(j)); break;
    case JSON_REAL: lua_pushnumber(L, json_real_value(j)); break;
    case JSON_TRUE: lua_pushboolean(L, 1); break;
    case JSON_FALSE: lua_pushboolean(L, 0); break;
    default: if (form == PLAIN) lua_pushnil(L); else dtL_push_none(L); break;
  }
}

int dtL_json_plain (lua_State *L) {
  size_t n;
  const char *s = luaL_checklstring(L, 1, &n);
  json_error_t e;
  json_t *j = json_loadb(s, n, JSON_ALLOW_NUL, &e);
  if (j == NULL) {
    lua_pushnil(L);
    lua_pushfstring(L, "%s at line %d column %d", e.text, e.line, e.column);
    return 2;
  }
  push_json(L, j, PLAIN);
  json_decref(j);
  return 1;
}

/* dt._json_decode(text): null becomes dt.None. */
static int l_json_decode (lua_State *L) {
  size_t n;
  const char *s = luaL_checklstring(L, 1, &n);
  json_error_t e;
  json_t *j = json_loadb(s, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
  if (j == NULL)
    return dtL_errorf(L, DT_E_PARSE, "JSON: %s at line %d column %d", e.text,
                      e.line, e.column);
  push_json(L, j, NONE);
  json_decref(j);
  return 1;
}

/* dt._json_ordered(text): keys in their order; nil where jansson cannot say
** what Python would: text that is not right, integers and reals beyond C's, a
** key that comes twice. */
static int l_json_ordered (lua_State *L) {
  size_t n;
  const char *s = luaL_checklstring(L, 1, &n);
  json_t *j = json_loadb(s, n, JSON_DECODE_ANY | JSON_ALLOW_NUL |
                         JSON_REJECT_DUPLICATES, NULL);
  if (j == NULL) return 0;
  push_json(L, j, ORDERED);
  json_decref(j);
  return 1;
}

void dtL_open_json_read (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = { {"_json_decode", l_json_decode},
    {"_json_ordered", l_json_ordered}, {NULL, NULL} };
  lua_pushvalue(L, dt);
  luaL_setfuncs(L, funcs, 0);
  lua_pop(L, 1);
}
