/* SPDX-License-Identifier: MIT
** bind/l_nested.c: dt.debug.world(): a world inside a rank.  Replays for other
** meshes, other sizes and other releases need no second program and no
** mpirun: every command that tries things runs them in such a world.
**
** The ranks are threads (or one pretend rank) with contexts of their own;
** nothing is shared with the rank that asks but its interrupt flag.  The text
** is run on each; what rank 0 returns, a string, comes back.  It may do no
** more than who asks: never trusted, in the sandbox when that one is. */
#include <lualib.h>
#include <stdio.h>
#include <string.h>
#include "bind/bind.h"
#include "debug/debug.h"
#include "diag/finding.h"
#include "engine/world.h"
#include "oplib/ops.h"

enum { RECORD = 2000, MAX_RANKS = 64 };

typedef struct Nested {
  const char *text, *name, *arg;
  size_t ntext, narg;
  DtSessionOpts so;
  DtBindOpts bo;
  DtBuf out;                    /* rank 0's: the calling thread's context */
  bool failed, findings;
  char release[16];             /* the asking session's */
} Nested;

static int run_text (lua_State *L) {
  Nested *n = lua_touserdata(L, 1);
  lua_settop(L, 0);
  if (luaL_loadbufferx(L, n->text, n->ntext, n->name, "t") != LUA_OK)
    return lua_error(L);
  lua_pushlstring(L, n->arg, n->narg);
  lua_call(L, 1, 1);
  if (!lua_isnil(L, -1)) luaL_tolstring(L, -1, NULL);
  return 1;
}

/* Rank 0 writes; the context of `out` is used by no other thread meanwhile.
** An error on another rank is in the exit code alone: only rank 0 may write
** into the Nested. */
static int rank_main (DtCtx *cx, DtComm *comm, void *ud) {
  Nested *n = ud;
  DtSession *s = NULL;
  lua_State *L = NULL;
  DtDiag *g = NULL;
  DtStatus st = dt_session_new(cx, comm, &n->so, &s);
  bool first = comm->rank == 0 || comm->no_data;
  if (st == DT_OK) st = dt_debug_new(s, RECORD, NULL);
  if (st == DT_OK && n->findings) st = dt_diag_new(s, &g);
  if (st == DT_OK) st = dtL_state_new(s, &n->bo, &L);
  if (st == DT_OK) {
    lua_pushcfunction(L, dtL_traceback);
    lua_pushcfunction(L, run_text);
    lua_pushlightuserdata(L, n);
    if (lua_pcall(L, 1, 1, 1) != LUA_OK) st = DT_E_LUA;
    if (first && st != DT_OK) {
      n->failed = true;
      dtL_error_text(L, -1, &n->out);
    } else if (first && lua_isstring(L, -1)) {
      size_t len;
      const char *text = lua_tolstring(L, -1, &len);
      dt_buf_addn(&n->out, text, len);
    }
    lua_settop(L, 0);
  } else if (first) {
    n->failed = true;
    dt_buf_add(&n->out, dt_buf_str(&cx->err.message));
  }
  dtL_state_free(L);
  dt_diag_free(g);
  if (s != NULL) dt_debug_free(s);
  dt_session_free(s);
  return st == DT_OK ? 0 : 1;
}

static void get_options (lua_State *L, int idx, Nested *n, DtWorldOpts *w,
                         DtSession *s) {
  const DtBindOpts *mine = &dtL_state(L)->o;
  snprintf(n->release, sizeof n->release, "%d.%d", s->profile.release / 100,
           s->profile.release % 100);
  n->so = (DtSessionOpts){dt_ops, dt_variants, n->release,
                          s->profile.device->name, 0, dt_rulings};
  n->bo.sandbox = mine->sandbox;
  n->bo.mem_limit = mine->mem_limit;
  if (!lua_istable(L, idx)) return;
  lua_getfield(L, idx, "fake");
  if (!lua_isnil(L, -1)) {
    w->kind = DT_WORLD_FAKE;
    w->rank = (int)luaL_checkinteger(L, -1);
  }
  lua_getfield(L, idx, "torch");
  if (!lua_isnil(L, -1)) n->so.torch_release = luaL_checkstring(L, -1);
  lua_getfield(L, idx, "device");
  if (!lua_isnil(L, -1)) n->so.device = luaL_checkstring(L, -1);
  lua_getfield(L, idx, "sandbox");
  n->bo.sandbox = n->bo.sandbox || lua_toboolean(L, -1);
  lua_getfield(L, idx, "findings");
  n->findings = lua_toboolean(L, -1);
}

/* dt.debug.world(n, text[, arg[, {fake = rank, torch =, device =, sandbox =,
** findings =}]]) -> true and the string that rank 0's chunk returned, or false
** and the error's text.  The chunk gets `arg`; with
** `findings` silent traps are looked for.  Local: the asking rank alone does
** it. */
static int l_world (lua_State *L) {
  DtSession *s = dtL_session(L);
  Nested n;
  DtWorldOpts w;
  DtCtx *cx = NULL;
  int code = 1;
  memset(&n, 0, sizeof n);
  memset(&w, 0, sizeof w);
  w.kind = DT_WORLD_THREADS;
  w.size = (int)luaL_checkinteger(L, 1);
  n.text = luaL_checklstring(L, 2, &n.ntext);
  n.arg = luaL_optlstring(L, 3, "", &n.narg);
  n.name = "=replay";
  lua_settop(L, 4);
  get_options(L, 4, &n, &w, s);
  luaL_argcheck(L, w.size >= 1 && (w.kind == DT_WORLD_FAKE
                                   ? w.size <= 1 << 20 && w.rank >= 0 &&
                                     w.rank < w.size
                                   : w.size <= MAX_RANKS), 1,
                "the number of ranks is out of range");
  w.interrupt = s->cx->interrupt;
  if (dt_ctx_new(&cx) != DT_OK) return luaL_error(L, "out of memory");
  dt_buf_init(&n.out, s->cx);
  DtStatus st = dt_world_run(cx, &w, rank_main, &n, &code);
  if (st != DT_OK) {
    dt_buf_clear(&n.out);
    dt_buf_add(&n.out, dt_buf_str(&cx->err.message));
  }
  dt_ctx_free(cx);
  lua_pushboolean(L, st == DT_OK && code == 0 && !n.failed);
  if (st == DT_OK && code != 0 && !n.failed && n.out.len == 0)
    dt_buf_add(&n.out, "another rank failed");
  dtL_push_buf(L, &n.out);
  return 2;
}

void dtL_open_nested (lua_State *L, int dt) {
  lua_getfield(L, dt, "debug");
  lua_pushcfunction(L, l_world);
  lua_setfield(L, -2, "world");
  lua_pop(L, 1);
}
