/* SPDX-License-Identifier: MIT
** bind/names.c: which variable of the script holds this tensor?  Locals of the
** frames on the stack first, then their upvalues' tables one level deep (the
** prompt's environment among them), then globals.  Reads raw: no metamethod
** runs. */
#include <string.h>
#include "bind/names.h"

typedef struct Find { int n; DtVar *const *v; const char **out; } Find;

/* The value on the top is a tensor we look for, and has no name yet? */
static bool sought (lua_State *L, const Find *f) {
  const DtVar *t;
  int i;
  if (lua_type(L, -1) != LUA_TUSERDATA) return false;
  t = dtL_test_tensor(L, -1);
  for (i = 0; t && i < f->n; i++)
    if (f->v[i] == t && f->out[i] == NULL) return true;
  return false;
}

/* The value on the top is called `name`. */
static void match (lua_State *L, Find *f, const char *name) {
  const DtVar *t;
  int i;
  if (name == NULL || !sought(L, f)) return;
  t = dtL_test_tensor(L, -1);
  for (i = 0; i < f->n; i++)
    if (f->v[i] == t && f->out[i] == NULL)
      f->out[i] = dt_session_intern(dtL_session(L), name);
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

static void frame (lua_State *L, lua_Debug *ar, Find *f) {
  const char *name;
  int i;
  for (i = 1; (name = lua_getlocal(L, ar, i)) != NULL; i++) {
    if (name[0] != '(') {
      match(L, f, name);
      if (lua_type(L, -1) == LUA_TTABLE) table_fields(L, f, name);
    }
    lua_pop(L, 1);
  }
  lua_getinfo(L, "f", ar);
  for (i = 1; (name = lua_getupvalue(L, -1, i)) != NULL; i++) {
    if (strcmp(name, "_ENV") == 0 && lua_type(L, -1) == LUA_TTABLE)
      table_fields(L, f, "");
    else match(L, f, name);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

void dtL_find_names (lua_State *L, int n, DtVar *const *v, const char **out) {
  Find f = { n, v, out };
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
