/* SPDX-License-Identifier: MIT
** repl/repl_names.c: names in a Lua state, for completion.
**
** Raw access only: pressing Tab must not run anybody's code.  Where a value
** has a metatable with a table as __index, that table is looked at too, a few
** steps deep, so methods of tensors and classes are found. */
#include "repl/repl_int.h"

#include <ctype.h>
#include <lauxlib.h>
#include <lua.h>
#include <string.h>

enum { MAX_STEPS = 8, MAX_NAMES = 4000 };

static const char *const words[] = {
  "and", "break", "do", "else", "elseif", "end", "false", "for", "function",
  "goto", "if", "in", "local", "nil", "not", "or", "repeat", "return", "then",
  "true", "until", "while"};

static bool is_name (const char *s) {
  if (isdigit((unsigned char)*s) || *s == '\0')
    return false;
  for (; *s != '\0'; s++)
    if (!isalnum((unsigned char)*s) && *s != '_')
      return false;
  return true;
}

/* Names of the table on the top that begin with `prefix`, after `before`. */
static void from_table (lua_State *L, const char *before, const char *prefix,
                        bool hidden, DtLineAdd add, void *sink) {
  size_t n = strlen(prefix);
  int count = 0;
  lua_pushnil(L);
  while (lua_next(L, -2) != 0) {
    lua_pop(L, 1);
    if (lua_type(L, -1) != LUA_TSTRING || count++ > MAX_NAMES)
      continue;
    const char *s = lua_tostring(L, -1);
    if (strncmp(s, prefix, n) != 0 || !is_name(s) ||
        (s[0] == '_' && n == 0 && !hidden))
      continue;
    lua_pushfstring(L, "%s%s", before, s);
    add(sink, lua_tostring(L, -1));
    lua_pop(L, 1);
  }
}

/* Replace the value on the top by the table its fields come from next; false
** (and popped) when there is none. */
static bool next_table (lua_State *L) {
  if (!lua_getmetatable(L, -1)) {
    lua_pop(L, 1);
    return false;
  }
  lua_remove(L, -2);
  lua_pushliteral(L, "__index");
  lua_rawget(L, -2);
  if (!lua_istable(L, -1)) {    /* an __index function: its class table */
    lua_pop(L, 1);
    lua_pushliteral(L, "__methods");
    lua_rawget(L, -2);
  }
  lua_remove(L, -2);
  if (lua_istable(L, -1))
    return true;
  lua_pop(L, 1);
  return false;
}

/* Replace the value on the top by its field `s[0..n)`, raw, along __index. */
static bool field (lua_State *L, const char *s, size_t n) {
  for (int i = 0; i < MAX_STEPS; i++) {
    if (lua_istable(L, -1)) {
      lua_pushlstring(L, s, n);
      if (lua_rawget(L, -2) != LUA_TNIL) {
        lua_remove(L, -2);
        return true;
      }
      lua_pop(L, 1);
    }
    if (!next_table(L))
      return false;
  }
  lua_pop(L, 1);
  return false;
}

/* Push the locals of the selected frame of a stop; false when there is none. */
static bool frame_locals (lua_State *L) {
  DtRepl *r = dtL_state(L)->stop_ud;
  if (r == NULL || r->at == NULL || r->nframe == 0)
    return false;
  dtL_frame_locals(L, &r->frame[r->here]);
  return true;
}

/* Push the first name of a path: a local of the stopped function, a prompt's
** local, else a global. */
static bool first_name (lua_State *L, const char *s, size_t n) {
  if (frame_locals(L)) {
    lua_pushlstring(L, s, n);
    int kind = lua_rawget(L, -2);
    lua_remove(L, -2);
    if (kind != LUA_TNIL)
      return true;
    lua_pop(L, 1);
  }
  dt_eval_push_locals(L);
  lua_pushlstring(L, s, n);
  int t = lua_rawget(L, -2);
  lua_remove(L, -2);
  if (t != LUA_TNIL)
    return true;
  lua_pop(L, 1);
  lua_pushglobaltable(L);
  return field(L, s, n);
}

static void fields_of (lua_State *L, const char *path, const char *prefix,
                       DtLineAdd add, void *sink) {
  size_t n = strcspn(path, ".:");
  if (!first_name(L, path, n))
    return;
  const char *s = path + n;
  while (s[0] != '\0' && s[1] != '\0') {
    n = strcspn(s + 1, ".:");
    if (!field(L, s + 1, n))
      return;
    s += n + 1;
  }
  for (int i = 0; i < MAX_STEPS; i++) {
    if (lua_istable(L, -1))
      from_table(L, path, prefix, *prefix != '\0', add, sink);
    if (!next_table(L))
      return;
  }
  lua_pop(L, 1);
}

static int names (lua_State *L) {
  const char *path = lua_tostring(L, 1), *prefix = lua_tostring(L, 2);
  DtLineAdd *add = lua_touserdata(L, 3);
  void *sink = lua_touserdata(L, 4);
  if (*path != '\0') {
    fields_of(L, path, prefix, *add, sink);
    return 0;
  }
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (*prefix != '\0' && strncmp(words[i], prefix, strlen(prefix)) == 0)
      (*add)(sink, words[i]);
  if (frame_locals(L)) {
    from_table(L, "", prefix, false, *add, sink);
    lua_pop(L, 1);
  }
  dt_eval_push_locals(L);
  from_table(L, "", prefix, false, *add, sink);
  lua_pushglobaltable(L);
  from_table(L, "", prefix, false, *add, sink);
  return 0;
}

void dt_names_lua (lua_State *L, const char *path, const char *prefix,
                   DtLineAdd add, void *sink) {
  int top = lua_gettop(L);
  lua_pushcfunction(L, names);
  lua_pushstring(L, path);
  lua_pushstring(L, prefix);
  lua_pushlightuserdata(L, &add);
  lua_pushlightuserdata(L, sink);
  (void)lua_pcall(L, 4, 0, 0);
  lua_settop(L, top);
}
