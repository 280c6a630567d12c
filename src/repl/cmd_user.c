/* SPDX-License-Identifier: MIT
** repl/cmd_user.c: commands of the person's own, made with dt.command(name,
** help, function).  They are kept in the registry, name -> {help, function},
** and are listed with the built-in ones in help, completion and abbreviation.
** */
#include "repl/cmd.h"

#include <stdio.h>
#include <string.h>

/* Push the table of commands; false, with nothing pushed, when there is
** none. */
static bool push_all (lua_State *L) {
  if (lua_getfield(L, LUA_REGISTRYINDEX, "dt.commands") == LUA_TTABLE)
    return true;
  lua_pop(L, 1);
  return false;
}

/* Push the entry of name[0..n), or of the only one that begins with it.  By
** going through them: asking Lua would make a string, which may fail. */
static bool push_entry (lua_State *L, const char *name, size_t n, bool whole) {
  int all, found = 0;
  if (!push_all(L))
    return false;
  all = lua_gettop(L);
  lua_pushnil(L);
  while (lua_next(L, all) != 0) {
    const char *k = lua_tostring(L, -2);
    if (strncmp(k, name, n) == 0 && (!whole || k[n] == '\0') &&
        found++ == 0) {
      lua_pushvalue(L, -1);
      lua_insert(L, all + 1);
    }
    lua_pop(L, 1);
  }
  return found == 1;
}

bool dt_user_command (DtRepl *r, const char *name, size_t n, const char *arg,
                      bool whole, DtStatus *st) {
  lua_State *L = r->L;
  int top = lua_gettop(L);
  bool found = push_entry(L, name, n, whole);
  if (found) {
    lua_rawgeti(L, -1, 2);
    lua_pushstring(L, arg);
    *st = dt_eval_call(L, 1, 0, &r->diag);
  }
  lua_settop(L, top);
  return found;
}

void dt_user_commands (lua_State *L, const char *before, const char *prefix,
                       DtLineAdd add, void *sink) {
  int top = lua_gettop(L);
  if (push_all(L)) {
    lua_pushnil(L);
    while (lua_next(L, top + 1) != 0) {
      char full[80];
      lua_pop(L, 1);
      const char *k = lua_tostring(L, -1);
      if (strncmp(k, prefix, strlen(prefix)) != 0)
        continue;
      snprintf(full, sizeof full, "%s%s", before, k);
      add(sink, full);
    }
  }
  lua_settop(L, top);
}

/* The help of the entry on the top. */
static const char *help_of (lua_State *L) {
  lua_rawgeti(L, -1, 1);
  const char *s = lua_tostring(L, -1);
  lua_pop(L, 1);                /* the entry holds it */
  return s != NULL ? s : "";
}

bool dt_user_help (lua_State *L, const char *name, DtBuf *out) {
  int top = lua_gettop(L);
  name += *name == ':';
  bool found = push_entry(L, name, strlen(name), true);
  if (found)
    dt_buf_addf(out, ":%s\n%s\n", name, help_of(L));
  lua_settop(L, top);
  return found;
}

void dt_user_list (lua_State *L, DtBuf *out) {
  int top = lua_gettop(L);
  if (push_all(L)) {
    dt_buf_add(out, "\nyour own\n");
    lua_pushnil(L);
    while (lua_next(L, top + 1) != 0) {
      const char *help = help_of(L);
      dt_buf_addf(out, "  :%-11s %.*s\n", lua_tostring(L, -2),
                  (int)strcspn(help, "\n"), help);
      lua_pop(L, 1);
    }
  }
  lua_settop(L, top);
}
