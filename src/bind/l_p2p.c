/* SPDX-License-Identifier: MIT
** bind/l_p2p.c: dt._p2p(send, tensor, mesh, mdim, peer, tag) -> a message under
** way, with m:wait(), which gives what was received, and m:arrived(); and the
** ranks' notes, which need no meeting. */
#include "bind/bind.h"
#include "diag/finding.h"

#define DTL_MESSAGE "dt.message"

/* dt._p2p(send?, tensor, mesh, mesh dim from 0, rank of the world, tag) */
static int l_p2p (lua_State *L) {
  DtSession *s = dtL_session(L);
  bool send = lua_toboolean(L, 1);
  DtVar *t = dtL_check_tensor(L, 2);
  DtMesh *m = dtL_check_mesh(L, 3);
  int mdim = (int)luaL_checkinteger(L, 4);
  int peer = (int)luaL_checkinteger(L, 5);
  lua_Integer tag = luaL_optinteger(L, 6, 0);
  DtPostcard *p;
  luaL_argcheck(L, mdim >= 0 && mdim < m->ndim, 4, "a mesh dimension");
  luaL_argcheck(L, tag == (int)tag, 6, "a tag of 32 bits");
  p = (DtPostcard *)lua_newuserdatauv(L, sizeof *p, 0);
  *p = (DtPostcard){ .over = true };
  luaL_setmetatable(L, DTL_MESSAGE);
  if (dt_diag_of(s)) dt_diag_moved(dt_diag_of(s));
  if (dt_p2p_post(s, m, mdim, send, peer, (int)tag, t->local, p) != DT_OK)
    return dtL_raise(L);
  if (send && dt_diag_of(s)) dt_diag_message_sent(dt_diag_of(s), peer, t);
  return 1;
}

/* dt._p2p_sender(mesh, mesh dim from 0, tag) -> a rank that has sent something. */
static int l_p2p_sender (lua_State *L) {
  DtMesh *m = dtL_check_mesh(L, 1);
  int mdim = (int)luaL_checkinteger(L, 2), peer = -1;
  luaL_argcheck(L, mdim >= 0 && mdim < m->ndim, 2, "a mesh dimension");
  if (dt_p2p_sender(dtL_session(L), m, mdim, (int)luaL_optinteger(L, 3, 0),
                    &peer) != DT_OK) return dtL_raise(L);
  lua_pushinteger(L, peer);
  return 1;
}

/* dt._note(read, text) -> was it written after the `read` bytes of notes that its
** writer knows?  dt._notes(read) -> what stands from there on.  dt._nap(): a
** moment later others may have written. */
static int l_note (lua_State *L) {
  DtSession *s = dtL_session(L);
  size_t n;
  bool written = false;
  const char *text = luaL_checklstring(L, 2, &n);
  if (dt_comm_note(s->cx, s->comm, (uint64_t)luaL_checkinteger(L, 1), text, n,
                   &written) != DT_OK) return dtL_raise(L);
  lua_pushboolean(L, written);
  return 1;
}

static int l_notes (lua_State *L) {
  DtSession *s = dtL_session(L);
  const char *text;
  size_t n;
  lua_Integer read = luaL_checkinteger(L, 1);
  luaL_argcheck(L, read >= 0, 1, "a place in the notes");
  if (dt_comm_notes(s->cx, s->comm, (uint64_t)read, &text, &n) != DT_OK)
    return dtL_raise(L);
  lua_pushlstring(L, text, n);
  return 1;
}

static int l_nap (lua_State *L) {
  DtSession *s = dtL_session(L);
  return dt_comm_nap(s->cx, s->comm) == DT_OK ? 0 : dtL_raise(L);
}

static DtPostcard *check_message (lua_State *L) {
  return (DtPostcard *)luaL_checkudata(L, 1, DTL_MESSAGE);
}

/* m:wait() -> the tensor: the one sent, or a new one that was received; how many
** bytes of it came. */
static int p_wait (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtPostcard *p = check_message(L);
  DtVar **box;
  if (dt_p2p_wait(s, p) != DT_OK) return dtL_raise(L);
  box = dtL_box_tensor(L);
  if (dt_var_new(s, p->t, NULL, box) != DT_OK) return dtL_raise(L);
  if (!p->letter.send && dt_diag_of(s))
    dt_diag_message_came(dt_diag_of(s), p->letter.peer, *box);
  lua_pushinteger(L, (lua_Integer)(p->msg ? dt_comm_came(p->msg) : p->letter.nbytes));
  return 2;
}

static int p_arrived (lua_State *L) {
  lua_pushboolean(L, dt_p2p_arrived(dtL_session(L), check_message(L)));
  return 1;
}

static int p_gc (lua_State *L) {
  dt_p2p_drop(dtL_state(L)->s, check_message(L));
  return 0;
}

void dtL_open_p2p (lua_State *L, int dt) {
  static const luaL_Reg methods[] = {
    {"arrived", p_arrived}, {"wait", p_wait}, {NULL, NULL}
  };
  static const luaL_Reg functions[] = {
    {"_p2p", l_p2p}, {"_p2p_sender", l_p2p_sender}, {"_note", l_note},
    {"_notes", l_notes}, {"_nap", l_nap}, {NULL, NULL}
  };
  luaL_newmetatable(L, DTL_MESSAGE);
  lua_pushcfunction(L, p_gc);
  lua_setfield(L, -2, "__gc");
  lua_newtable(L);
  luaL_setfuncs(L, methods, 0);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  lua_pushvalue(L, dt);
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 1);
}
