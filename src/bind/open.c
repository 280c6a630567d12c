/* SPDX-License-Identifier: MIT
** bind/open.c: makes and frees the Lua state of a rank: allocator, libraries,
** `dt`, presets, and the answer to "which script line is this?".  It knows
** every file of bind and none but the shell knows it: what they all need of a
** state is in state.c. */
#include <string.h>
#include <lualib.h>
#include "bind/names.h"
#include "bind/slots.h"

/* Lua's allocator over the context's, so that counters, limits and injected
** failures cover both.  Lua reports its own failures: the engine's pending
** error is not touched. */
static void *bind_alloc (void *ud, void *p, size_t osize, size_t nsize) {
  DtBind *b = (DtBind *)ud;
  DtCtx *cx = b->s->cx;
  void *q;
  (void)osize;
  if (nsize == 0) { dt_free(cx, p); return NULL; }
  q = dt_realloc(cx, p, nsize);
  if (q == NULL && cx->err.code == DT_E_NOMEM) dt_error_clear(cx);
  return q;
}

/* The name of a source as origins show it, interned.  The last one is
** remembered by its address, and compared, for a string that was freed may
** have left its place to another. */
static const char *source_name (DtBind *b, const char *source) {
  const char *name = *source == '@' || *source == '=' ? source + 1 : "script";
  if (source == b->src_key && strcmp(name, b->src_name) == 0)
    return b->src_name;
  name = dt_session_intern(b->s, name);
  if (name == NULL) { dt_error_clear(b->s->cx); return NULL; }
  b->src_key = source;
  b->src_name = name;
  return name;
}

/* First Lua function of the user's on the stack of `L`, false: none.  C
** functions and chunks of the library ("=[dt...]") are passed over; the
** line, which costs most to learn, is asked for once.  `b->at` lets the
** record of the same operator start at this call (bound.c: level_scope); its
** number says for how long that holds. */
static bool find_line_of (DtBind *b, lua_State *L, const char **file,
                          int *line) {
  lua_Debug ar;
  int level = 0;
  bool more = lua_getstack(L, 0, &ar) != 0;
  for (; more; more = dtL_slots_out(L, b, level++, &ar)) {
    const char *source;
    int defined;
    if (b->floor.ci && b->floor.ci == (const void *)ar.i_ci) {
      *file = b->floor.file;
      *line = b->floor.line;
      return true;
    }
    if (!dtL_slots_source(L, b, &ar, &source, &defined) || dtL_is_ours(source))
      continue;
    lua_getinfo(L, "l", &ar);
    if (ar.currentline < 0) continue;
    *file = source_name(b, source);
    if (*file == NULL) { *file = ""; return true; }
    *line = ar.currentline;
    b->at.ci = (const void *)ar.i_ci;
    b->at.seq = b->s->cur_seq;
    b->at.source = source;
    b->at.line = *line;
    b->at.defined = defined;
    return true;
  }
  return false;
}

/* A coroutine of the library's, as an iterator of a data loader, has no line of
** the user's: the loop that goes through it is on the main stack. */
static void find_script_line (void *ud, const char **file, int *line) {
  DtBind *b = (DtBind *)ud;
  *file = ""; *line = 0;
  if (lua_status(b->cur) == LUA_OK && find_line_of(b, b->cur, file, line)) return;
  if (b->cur != b->L && find_line_of(b, b->L, file, line)) return;
  if (b->floor.file && *b->floor.file) {  /* its call has taken its place */
    *file = b->floor.file;
    *line = b->floor.line;
  }
}

DtFloor dtL_floor (lua_State *L, const char *file, int line) {
  DtBind *b = dtL_state(L);
  DtFloor before = b->floor;
  lua_Debug ar;
  b->floor.ci = lua_getstack(L, 0, &ar) ? (const void *)ar.i_ci : NULL;
  b->floor.file = file;
  b->floor.line = line;
  return before;
}

/* Built-in modules first, then the user's own Lua files; C libraries only
** with --trust. */
static void open_searchers (lua_State *L, const DtBindOpts *o) {
  if (!o->sandbox) dtL_preload_lpeg(L);
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "searchers");
  lua_geti(L, -1, 2);                       /* Lua files */
  lua_pushcfunction(L, dtL_search_embed);
  lua_seti(L, -3, 2);
  if (o->sandbox) lua_pop(L, 1), lua_pushnil(L);
  lua_seti(L, -2, 3);
  if (!o->trust) {
    lua_pushnil(L); lua_seti(L, -2, 4);
    lua_pushnil(L); lua_setfield(L, -3, "loadlib");
    lua_pushliteral(L, "./?.lua;./?/init.lua");
    lua_setfield(L, -3, "path");
    lua_pushliteral(L, ""); lua_setfield(L, -3, "cpath");
  }
  lua_pop(L, 2);
}

/* The table `dt`: C parts first, then the Lua library fills the rest. */
static void open_dt (lua_State *L) {
  int dt;
  lua_newtable(L);
  dt = lua_gettop(L);
  lua_pushvalue(L, dt);
  lua_setfield(L, LUA_REGISTRYINDEX, "dt");
  dtL_open_error(L);
  dtL_open_placement(L);
  dtL_open_mesh(L);
  dtL_open_tensor(L);
  dtL_open_op(L, dt);
  dtL_open_misc(L, dt);
  dtL_open_libm(L, dt);
  dtL_open_regex(L, dt);
  dtL_open_json_read(L, dt);
  dtL_open_dist(L, dt);
  dtL_open_p2p(L, dt);
  dtL_open_pyframe(L, dt);
  dtL_open_names(L, dt);
  dtL_open_autograd(L, dt);
  dtL_open_node(L, dt);
  dtL_open_custom(L, dt);
  dtL_open_debug(L, dt);
  dtL_open_control(L, dt);
  dtL_open_past(L, dt);
  dtL_open_rules(L, dt);
  dtL_open_file(L, dt);
  dtL_open_storage(L, dt);
  dtL_open_entry(L, dt);
  dtL_open_raised(L, dt);
  dtL_open_who(L, dt);
  dtL_open_when(L, dt);
  dtL_open_verify(L, dt);
  dtL_open_nested(L, dt);
  dtL_open_record(L, dt);
  dtL_open_named(L, dt);
  dtL_open_handler(L, dt);
  dtL_open_modes(L, dt);
  dtL_open_diag(L, dt);
  dtL_open_answers(L, dt);
  dtL_open_export(L, dt);
  dtL_open_spmd(L, dt);
  dtL_open_spmd_call(L, dt);
  dtL_open_program(L, dt);
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_pushvalue(L, dt);
  lua_setfield(L, -2, "dt");
  lua_pop(L, 1);
  lua_pushvalue(L, dt);
  lua_setglobal(L, "dt");
  lua_getglobal(L, "require");
  lua_pushliteral(L, "dt.init");
  lua_call(L, 1, 1);                        /* a function(dt, bare) */
  lua_pushvalue(L, dt);
  lua_pushboolean(L, dtL_state(L)->o.bare);
  lua_call(L, 2, 0);
  lua_settop(L, dt - 1);
}

static int open_all (lua_State *L) {
  DtBind *b = dtL_state(L);
  luaL_openlibs(L);
  dtL_open_base(L);
  open_searchers(L, &b->o);
  open_dt(L);
  return 0;
}

/* Generations suit worlds with data: tensors die young and are worth having
** back.  A fake world has none, its program is mostly the model it builds,
** which lives: there the collector waits until eight times as much is in use. */
static void collect_as_world (lua_State *L, const DtSession *s) {
  if (s->comm->vt->kind == DT_WORLD_FAKE) lua_gc(L, LUA_GCINC, 800, 400, 0);
  else lua_gc(L, LUA_GCGEN, 0, 0);
}

/* The Lua state of one rank. The extra space of the state holds its DtBind,
** so every C function finds its session without a global; opening runs under
** pcall, and only a state that is complete gets the hook that finds script
** lines.  The memory limit is set before the library is opened: it counts,
** too. */
DtStatus dtL_state_new (DtSession *s, const DtBindOpts *o, lua_State **out) {
  DtCtx *cx = s->cx;
  DtBind *b = DT_NEW(cx, DtBind);
  lua_State *L;
  if (b == NULL) return DT_E_NOMEM;
  b->s = s;
  if (o) b->o = *o;
  b->last_ref = b->handler = LUA_NOREF;
  dt_buf_init(&b->out, cx);
  L = lua_newstate(bind_alloc, b);
  if (L == NULL) {
    dt_buf_fini(&b->out);
    dt_free(cx, b);
    return dt_raise(cx, DT_E_NOMEM, "no memory for a Lua state");
  }
  b->L = b->cur = L;
  if (b->o.mem_limit > 0) cx->mem.limit = b->o.mem_limit;
  *(DtBind **)lua_getextraspace(L) = b;
  s->bind = b;
  collect_as_world(L, s);
  dtL_slots_learn(L);
  lua_pushcfunction(L, dtL_traceback);
  lua_pushcfunction(L, open_all);
  {
    int rc = lua_pcall(L, 0, 0, 1);
    if (rc != LUA_OK) {
      DtStatus st = rc == LUA_ERRMEM
        ? dt_raise(cx, DT_E_NOMEM, "no memory for the Lua library")
        : dtL_catch(L, DT_E_LUA);
      dtL_state_free(L);
      return st;
    }
  }
  lua_settop(L, 0);
  s->where = find_script_line;
  s->where_ud = b;
  *out = L;
  return DT_OK;
}

void dtL_state_free (lua_State *L) {
  DtBind *b;
  DtSession *s;
  DtCtx *cx;
  if (L == NULL) return;
  b = dtL_state(L);
  s = b->s;
  cx = s->cx;
  dtL_pack_nothing(s);
  lua_close(L);                   /* uses b: free it after */
  s->where = NULL; s->where_ud = NULL; s->bind = NULL;
  dt_buf_fini(&b->out);
  dt_free(cx, b);
}
