/* SPDX-License-Identifier: MIT
** bind/embed.c: modules of the embedded library, for `require`. */
#include <string.h>
#include "bind/bind.h"
#include "bind/embed.h"

/* lua_ident: "$LuaVersion: Lua 5.4.6  Copyright ..." of the library that
** runs, which need not be the one the program was built with. */
static bool is_running_release (const char *release) {
  const char *s = *release ? strstr(lua_ident, release) : NULL;
  return s != NULL && s[strlen(release)] == ' ';
}

void dtL_load_embed (lua_State *L, const DtEmbed *m, const char *release) {
  /* As scripts/embed.lua names the compiled ones: what is not the shell's
  ** begins with "dt", so that one test separates scripts from the library. */
  bool named = strncmp(m->name, "dt", 2) == 0 ||
               strncmp(m->name, "repl.", 5) == 0;
  const char *chunk = lua_pushfstring(L, "=[%s%s]", named ? "" : "dt:", m->name);
  int rc = LUA_ERRSYNTAX;
  if (m->code != NULL && is_running_release(release)) {
    rc = luaL_loadbufferx(L, m->code, m->ncode, chunk, "b");
    if (rc == LUA_ERRSYNTAX) lua_pop(L, 1);     /* another format: no matter */
  }
  if (rc == LUA_ERRSYNTAX)
    rc = luaL_loadbufferx(L, m->text, m->len, chunk, "t");
  if (rc != LUA_OK) lua_error(L);
  lua_remove(L, -2);
}

int dtL_search_embed (lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  const DtEmbed *m = dt_embed_find(name);
  if (m == NULL) {
    lua_pushfstring(L, "no built-in module '%s'", name);
    return 1;
  }
  dtL_load_embed(L, m, dt_embed_release());
  lua_pushstring(L, m->file);
  return 2;
}
