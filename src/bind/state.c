/* SPDX-License-Identifier: MIT
** bind/state.c: from a Lua state to what the binding and the engine keep for
** its rank.  The floor of bind: it calls nothing of the module. */
#include "bind/slots.h"

DtBind *dtL_state (lua_State *L) {
  return *(DtBind **)lua_getextraspace(L);
}

/* The registry holds it as long as it is pointed to. */
void dtL_set_current (lua_State *L) {
  DtBind *b = dtL_state(L);
  if (b->cur != L && lua_checkstack(L, 2)) {
    b->cur = b->L;
    lua_pushthread(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &b->cur);
    b->cur = L;
  }
}

/* Every binding function comes through here, so this is where the running
** coroutine is learned. */
DtSession *dtL_session (lua_State *L) {
  DtBind *b = dtL_state(L);
  if (b->cur != L) dtL_set_current(L);
  return b->s;
}

DtBuf *dtL_out (lua_State *L) { return &dtL_state(L)->out; }
