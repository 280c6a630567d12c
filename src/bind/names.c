/* SPDX-License-Identifier: MIT
** bind/names.c: which variable of the script holds this tensor?  Locals of the
** frames on the stack first, then their upvalues' tables one level deep (the
** prompt's environment among them), then globals.  Reads raw: no metamethod
** runs. */
#include <string.h>
#include "bind/names.h"
#include "bind/pyframe.h"

typedef struct Find {
  int n; DtVar *const *v; const char **out;
  uint64_t open;                /* named in the tables at hand: of several names
                                ** the first in the alphabet, on every rank */
} Find;

/* Does v[i] still want a name? */
static bool wants (const Find *f, int i) {
  return f->out[i] == NULL || (i < 64 && f->open >> i & 1);
}

/* The value on the top is a tensor we look for, and wants a name? */
static bool sought (lua_State *L, const Find *f) {
  const DtVar *t;
  int i;
  if (lua_type(L, -1) != LUA_TUSERDATA) return false;
  t = dtL_test_tensor(L, -1);
  for (i = 0; t && i < f->n; i++)
    if (f->v[i] == t && wants(f, i)) return true;
  return false;
}

/* The value on the top is called `name`. */
static void match (lua_State *L, Find *f, const char *name) {
  const DtVar *t;
  int i;
  if (name == NULL || !sought(L, f)) return;
  t = dtL_test_tensor(L, -1);
  for (i = 0; i < f->n; i++) {
    if (f->v[i] != t || !wants(f, i)) continue;
    if (f->out[i] != NULL && strcmp(name, f->out[i]) >= 0) continue;
    f->out[i] = dt_session_intern(dtL_session(L), name);
    if (i < 64) f->open |= UINT64_C(1) << i;
  }
}

static void table_fields (lua_State *L, Find *f, const char *prefix) {
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    if (lua_type(L, -2) == LUA_TSTRING && sought(L, f)) {
      const char *k = lua_tostring(L, -2);
      if (*prefix) lua_pushfstring(L, "%s.%s", prefix, k);
      else lua_pushstring(L, k);
      lua_insert(L, -2);
      match(L, f, lua_tostring(L, -2));
      lua_remove(L, -2);
    }
    lua_pop(L, 1);
  }
}

/* What an object has: its fields, and parameters and buffers of a module. */
static void object_fields (lua_State *L, Find *f, const char *name) {
  static const char *const maps[] = {"_parameters", "_buffers"};
  size_t i;
  table_fields(L, f, name);
  for (i = 0; i < sizeof maps / sizeof maps[0]; i++) {
    lua_pushstring(L, maps[i]);
    lua_rawget(L, -2);
    if (lua_istable(L, -1)) {
      lua_pushliteral(L, "map");
      lua_rawget(L, -2);
      if (lua_istable(L, -1)) table_fields(L, f, name);
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
}

/* Variables of a statement of Python; its scope is on the top, and popped. */
static void python_frame (lua_State *L, Find *f) {
  do {
    dtL_py_get(L, -1, DT_PY_VARS);
    if (lua_istable(L, -1)) {
      table_fields(L, f, "");
      f->open = 0;
      lua_pushnil(L);
      while (lua_next(L, -2)) {
        if (lua_istable(L, -1) && lua_type(L, -2) == LUA_TSTRING)
          object_fields(L, f, lua_tostring(L, -2));
        lua_pop(L, 1);
      }
      f->open = 0;
    }
    lua_pop(L, 1);
  } while (dtL_py_up(L));
}

static void frame (lua_State *L, lua_Debug *ar, Find *f) {
  const char *name;
  int i;
  if (dtL_py_scope(L, ar)) {
    python_frame(L, f);
    return;
  }
  for (i = 1; (name = lua_getlocal(L, ar, i)) != NULL; i++) {
    if (name[0] != '(') {
      match(L, f, name);
      f->open = 0;
      if (lua_type(L, -1) == LUA_TTABLE) object_fields(L, f, name);
      f->open = 0;
    }
    lua_pop(L, 1);
  }
  lua_getinfo(L, "f", ar);
  for (i = 1; (name = lua_getupvalue(L, -1, i)) != NULL; i++) {
    if (strcmp(name, "_ENV") == 0 && lua_type(L, -1) == LUA_TTABLE)
      table_fields(L, f, "");
    else match(L, f, name);
    f->open = 0;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

void dtL_find_names (lua_State *L, int n, DtVar *const *v, const char **out) {
  Find f = { n, v, out, 0 };
  lua_Debug ar;
  int level;
  if (!lua_checkstack(L, 16)) return;
  for (level = 0; level < 64 && lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "Sl", &ar);
    if (ar.currentline < 0 || strncmp(ar.source, "=[dt", 4) == 0) continue;
    frame(L, &ar, &f);
  }
  lua_pushglobaltable(L);
  table_fields(L, &f, "");
  lua_pop(L, 1);
  dt_error_clear(dtL_session(L)->cx);
}
