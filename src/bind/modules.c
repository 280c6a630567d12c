/* SPDX-License-Identifier: MIT
** bind/modules.c: dt.debug.variables(): the modules (nn.Module) and tensors that
** the script's variables hold, wherever it is stopped or after its end.  Reads
** raw: no metamethod runs. */
#include "bind/frame.h"

enum { MOST_FRAMES = 64 };

static bool is_wanted (lua_State *L) {
  bool yes;
  if (dtL_test_tensor(L, -1)) return true;
  if (!lua_istable(L, -1)) return false;
  lua_pushliteral(L, "_parameters");
  yes = lua_rawget(L, -2) == LUA_TTABLE;
  lua_pop(L, 1);
  return yes;
}

/* Those among the named values of the table on the top, which is popped; a name
** that is there already stays. */
static void add_values (lua_State *L, int out) {
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    if (lua_type(L, -2) == LUA_TSTRING && is_wanted(L)) {
      lua_pushvalue(L, -2);
      if (lua_rawget(L, out) == LUA_TNIL) {
        lua_pushvalue(L, -3);
        lua_pushvalue(L, -3);
        lua_rawset(L, out);
      }
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

int dtL_variables (lua_State *L) {
  DtLuaFrame f[MOST_FRAMES];
  int n = dtL_frames(L, f, MOST_FRAMES);
  luaL_checkstack(L, 16, "modules");
  lua_newtable(L);
  int out = lua_gettop(L);
  for (int i = 0; i < n; i++) {
    dtL_frame_locals(L, &f[i]);
    add_values(L, out);
  }
  dtL_push_prompt_locals(L);
  add_values(L, out);
  lua_pushglobaltable(L);
  add_values(L, out);
  return 1;
}
