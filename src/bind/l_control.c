/* SPDX-License-Identifier: MIT
** bind/l_control.c: dt.debug's part of stopping: breakpoints, steps, frames,
** dt.breakpoint(), dt.debug.run(); and the hooks by which the core
** (debug/control.h) asks this state. */
#include <stdio.h>
#include <string.h>
#include "base/error_tool.h"
#include "bind/frame.h"
#include "bind/field.h"
#include "bind/names.h"
#include "bind/slots.h"

/* --- hooks --- */

static lua_State *main_of (void *ud) { return ((DtBind *)ud)->L; }

/* A line behind the end of a text that is known: the shell's own call there
** (repl_keep.c) is no line of the script. */
static bool behind_the_end (lua_State *L, const char *file, int line) {
  size_t n;
  return dtL_source_line(L, file, line, &n) == NULL &&
         dtL_source_line(L, file, 1, &n) != NULL;
}

static void hook_line (lua_State *L, lua_Debug *ar) {
  DtBind *b = dtL_state(L);
  DtControl *c = dt_control_of(b->s);
  const char *file;
  lua_State *outer = b->hooked;
  DtStatus st;
  lua_getinfo(L, "l", ar);
  if (c == NULL || b->py_reading ||
      !dt_control_wants_line(c, ar->currentline)) return;
  lua_getinfo(L, "S", ar);
  if (ar->currentline < 0 || dtL_is_ours(ar->source)) return;
  file = dt_session_intern(b->s, ar->source[0] == '@' || ar->source[0] == '='
                                 ? ar->source + 1 : "script");
  if (file == NULL) { dt_error_clear(b->s->cx); return; }
  if (behind_the_end(L, file, ar->currentline)) return;
  (void)dtL_session(L);                     /* this coroutine runs */
  b->hooked = L;
  st = dt_control_line(c, file, ar->currentline, dtL_frame_count(L));
  b->hooked = outer;
  if (st != DT_OK) dtL_raise(L);
}

/* The stop may lie in a coroutine of the script: hook that one too. */
static void h_lines (void *ud, bool on) {
  DtBind *b = (DtBind *)ud;
  lua_Hook h = on ? hook_line : NULL;
  lua_State *co[2] = { b->L, b->cur };
  int i;
  for (i = 0; i < 2; i++) {
    lua_Hook now = lua_gethook(co[i]);
    if (now == NULL || now == hook_line)    /* not Ctrl-C's, not exit's */
      lua_sethook(co[i], h, on ? LUA_MASKLINE : 0, 0);
  }
}

static DtStatus call_handler (DtBind *b, DtControl *c, DtStopAt *at);

static DtStatus h_stop (void *ud, DtControl *c, DtStopAt *at) {
  DtBind *b = (DtBind *)ud;
  if (b->handler != LUA_NOREF) return call_handler(b, c, at);
  return b->on_stop(b->stop_ud, c, at);
}

static bool h_present (void *ud) {
  DtBind *b = (DtBind *)ud;
  if (b->exiting) return false;
  return b->handler != LUA_NOREF ||
         (b->on_stop && b->can_stop && b->can_stop(b->stop_ud));
}

static const char catching_key = 0;

/* dt._catching(f): a pcall that the library makes inside f ends the error, as
** a try of Python does. */
static int l_catching (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &catching_key);
  return 0;
}

/* dt._handled(e): Python's except, finally or __exit__ of e begins.  After Ctrl-C
** what it does counts as not interrupted. */
static int l_handled (lua_State *L) {
  DtBind *b = dtL_state(L);
  if (b->ref_interrupt == 0 || !b->on_handled) return 0;
  lua_settop(L, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, b->ref_interrupt);
  if (lua_rawequal(L, 1, 2)) b->on_handled(b->stop_ud);
  return 0;
}

/* Is the function of `ar` the one that was given to dt._catching()? */
static bool is_catching (lua_State *co, lua_Debug *ar) {
  bool yes;
  lua_getinfo(co, "f", ar);
  lua_rawgetp(co, LUA_REGISTRYINDEX, &catching_key);
  yes = lua_rawequal(co, -1, -2) != 0;
  lua_pop(co, 2);
  return yes;
}

/* A pcall of the library restores things and raises again: only the script's
** own counts, and Python's try. */
static bool caught_in (lua_State *co, lua_CFunction pc, lua_CFunction xpc,
                       lua_CFunction resume) {
  lua_Debug ar;
  int level;
  for (level = 0; lua_getstack(co, level, &ar); level++) {
    lua_CFunction f;
    lua_getinfo(co, "f", &ar);
    f = lua_tocfunction(co, -1);
    lua_pop(co, 1);
    if (f == NULL || (f != pc && f != xpc && f != resume)) continue;
    if (!lua_getstack(co, level + 1, &ar)) return true;
    lua_getinfo(co, "S", &ar);
    if (!dtL_is_ours(ar.source) || is_catching(co, &ar)) return true;
  }
  return false;
}

static lua_CFunction base_function (lua_State *L, const char *key) {
  lua_CFunction f;
  lua_getfield(L, LUA_REGISTRYINDEX, key);
  f = lua_tocfunction(L, -1);
  lua_pop(L, 1);
  return f;
}

static bool h_caught (void *ud) {
  DtBind *b = (DtBind *)ud;
  lua_State *L = b->L;
  lua_CFunction p, x, r;
  if (!lua_checkstack(L, 4) || !lua_checkstack(b->cur, 4)) return true;
  p = base_function(L, "dt.pcall");
  x = base_function(L, "dt.xpcall");
  r = base_function(L, "dt.resume");
  return caught_in(L, p, x, r) || (b->cur != L && caught_in(b->cur, p, x, r));
}

/* dt._raised(e): an error passes through the library, which will raise it
** again; its trace is taken here, and the shell may stop. */
static int l_raised (lua_State *L) {
  DtBind *b = dtL_state(L);
  lua_settop(L, 1);
  if (h_caught(b)) return 0;
  dtL_add_trace(L, 1);
  if (b->on_raised && b->stop_ud) b->on_raised(L);
  return 0;
}

/* dt._traced(e) -> e: where it was raised is noted, unless that was done before. */
static int l_traced (lua_State *L) {
  lua_settop(L, 1);
  dtL_add_trace(L, 1);
  return 1;
}

static bool h_typed (void *ud) {
  DtLuaFrame f[32];
  lua_State *L = main_of(ud);
  int n = dtL_frames(L, f, 32), i;
  for (i = 0; i < n; i++) if (strcmp(f[i].file, "prompt") != 0) return false;
  return true;
}

static int h_level (void *ud) { return dtL_frame_count(main_of(ud)); }

static void h_trace (void *ud, DtBuf *out) {
  DtLuaFrame f[64];
  int n = dtL_frames(main_of(ud), f, 64);
  for (int i = 0; i < n; i++)
    dt_buf_addf(out, "\n\t%s:%d: in %s", f[i].file, f[i].line, f[i].name);
}

static const char *h_source (void *ud, const char *file, int line,
                             size_t *n) {
  return dtL_source_line(main_of(ud), file, line, n);
}

static void h_names (void *ud, int n, DtVar *const *v, const char **out) {
  DtBind *b = (DtBind *)ud;
  dtL_find_names(b->cur, n, v, out);
  if (b->cur != b->L) dtL_find_names(b->L, n, v, out);
}

static int get_variable (lua_State *L) {
  dtL_script_env(L);
  lua_pushvalue(L, 1);
  lua_gettable(L, -2);
  return 1;
}

static DtVar *h_variable (void *ud, const char *name) {
  lua_State *L = main_of(ud);
  DtVar *v = NULL;
  if (!lua_checkstack(L, 8)) return NULL;
  lua_pushcfunction(L, get_variable);
  lua_pushstring(L, name);
  if (lua_pcall(L, 1, 1, 0) == LUA_OK) v = dtL_test_tensor(L, -1);
  lua_pop(L, 1);                /* the variable still holds it */
  return v;
}

static bool h_cond (void *ud, const DtBreak *b, const DtEvent *e,
                    DtBuf *why) {
  return dtL_cond(dtL_running(main_of(ud)), b, e, why);
}

DtStatus dtL_control_open (lua_State *L) {
  DtBind *b = dtL_state(L);
  DtDebug *d = dt_debug_of(b->s);
  DtHooks h = { b, h_stop, h_present, h_cond, h_lines, h_caught, h_typed,
                h_level, h_trace, h_source, h_names, h_variable };
  if (d == NULL || d->control) return DT_OK;
  return dt_control_new(d, &h, NULL);
}

/* --- dt.debug: breakpoints --- */

static DtControl *check_control (lua_State *L) {
  DtControl *c = dt_control_of(dtL_session(L));
  if (c == NULL) dtL_errorf(L, DT_E_RUNTIME, "no debugger is attached");
  return c;
}

static DtBreak *check_break (lua_State *L, DtControl *c, int idx) {
  int id = (int)luaL_checkinteger(L, idx);
  DtBreak *b = dt_bp_find(c, id);
  if (b == NULL) dtL_errorf(L, DT_E_INDEX, "there is no breakpoint %d", id);
  return b;
}

/* A condition must at least be an expression. */
static void check_cond (lua_State *L, const char *expr) {
  DtBuf why;
  if (expr == NULL) return;
  dt_buf_init(&why, dtL_session(L)->cx);
  if (dtL_cond_reads(L, expr, &why)) return;
  dtL_push_buf(L, &why);
  dtL_errorf(L, DT_E_COMMAND, "%s", lua_tostring(L, -1));
}

static void push_break (lua_State *L, const DtBreak *b) {
  DtBuf text;
  lua_createtable(L, 0, 10);
  dtL_set_int(L, "id", b->id);
  dtL_set_str(L, "kind", b->kind->name);
  dtL_set_str(L, "where", b->text);
  dtL_set_str(L, "condition", b->cond);
  dtL_set_str(L, "commands", b->commands);
  dtL_set_int(L, "hits", b->hits);
  dtL_set_int(L, "ignore", b->ignore);
  dtL_set_bool(L, "enabled", !b->off);
  dtL_set_bool(L, "once", b->once);
  dt_buf_init(&text, dtL_session(L)->cx);
  dt_bp_print(b, &text);
  dtL_push_buf(L, &text);
  lua_setfield(L, -2, "text");
}

static int set_break (lua_State *L, bool once) {
  DtControl *c = check_control(L);
  const char *text = luaL_checkstring(L, 1), *cond = strstr(text, " if ");
  int id = 0;
  check_cond(L, cond ? cond + 4 : NULL);
  if (dt_bp_add(c, text, once, &id) != DT_OK) return dtL_raise(L);
  push_break(L, dt_bp_find(c, id));
  return 1;
}

static int l_break (lua_State *L) { return set_break(L, false); }
static int l_tbreak (lua_State *L) { return set_break(L, true); }

static int l_breakpoints (lua_State *L) {
  DtControl *c = check_control(L);
  int i;
  lua_createtable(L, c->nbp, 0);
  for (i = 0; i < c->nbp; i++) {
    push_break(L, &c->bp[i]);
    lua_seti(L, -2, i + 1);
  }
  return 1;
}

static int l_delete (lua_State *L) {
  DtControl *c = check_control(L);
  if (dt_bp_delete(c, (int)luaL_optinteger(L, 1, 0)) != DT_OK)
    return dtL_raise(L);
  return 0;
}

static int set_off (lua_State *L, bool off) {
  DtControl *c = check_control(L);
  int i;
  if (!lua_isnoneornil(L, 1)) check_break(L, c, 1)->off = off;
  else for (i = 0; i < c->nbp; i++) c->bp[i].off = off;
  if (c->at == NULL) dt_control_arm(c);
  return 0;
}

static int l_enable (lua_State *L) { return set_off(L, false); }
static int l_disable (lua_State *L) { return set_off(L, true); }

static int l_condition (lua_State *L) {
  DtControl *c = check_control(L);
  DtBreak *b = check_break(L, c, 1);
  const char *expr = luaL_optstring(L, 2, NULL);
  check_cond(L, expr);
  if (dt_bp_set_cond(c, b, expr) != DT_OK) return dtL_raise(L);
  push_break(L, b);
  return 1;
}

static int l_ignore (lua_State *L) {
  DtControl *c = check_control(L);
  DtBreak *b = check_break(L, c, 1);
  b->ignore = luaL_checkinteger(L, 2);
  if (b->ignore < 0) b->ignore = 0;
  push_break(L, b);
  return 1;
}

static int l_commands (lua_State *L) {
  DtControl *c = check_control(L);
  DtBreak *b = check_break(L, c, 1);
  if (dt_bp_set_commands(c, b, luaL_optstring(L, 2, NULL)) != DT_OK)
    return dtL_raise(L);
  push_break(L, b);
  return 1;
}

static int l_save (lua_State *L) {
  DtControl *c = check_control(L);
  DtBuf b;
  dt_buf_init(&b, dtL_session(L)->cx);
  dt_bp_save(c, &b);
  dtL_push_buf(L, &b);
  return 1;
}

static int l_load (lua_State *L) {
  if (dt_bp_load(check_control(L), luaL_checkstring(L, 1)) != DT_OK)
    return dtL_raise(L);
  return l_breakpoints(L);
}

static int l_kinds (lua_State *L) {
  const DtBpKind *k;
  int i;
  lua_newtable(L);
  for (i = 0; (k = dt_bp_kind(i)) != NULL; i++) {
    lua_createtable(L, 0, 3);
    dtL_set_str(L, "kind", k->name);
    dtL_set_str(L, "args", k->args);
    dtL_set_str(L, "text", k->text);
    lua_seti(L, -2, i + 1);
  }
  return 1;
}

/* --- dt.debug: where we are --- */

static const char *why_name (DtStopWhy w) {
  static const char *const names[] = {
    "none", "start", "step", "breakpoint", "error", "call", "interrupt",
    "asked", "lua", "end"
  };
  return names[w];
}

/* The table a stop handler gets: the event's fields when an event stopped us,
** else a bare line, and on top of both what is common: why, where, the
** breakpoints that were hit. */
static void push_stop (lua_State *L, DtControl *c, const DtStopAt *at) {
  DtBuf b;
  int i;
  if (at->e) dtL_push_event(L, at->e);
  else lua_createtable(L, 0, 12);
  dtL_set_str(L, "why", why_name(at->why));
  dtL_set_str(L, "kind", at->e ? dtL_event_kind(at->e->kind) : "LINE");
  dtL_set_str(L, "file", at->file);
  dtL_set_int(L, "line", at->line);
  dtL_set_int(L, "seq", at->seq);
  dtL_set_str(L, "note", *at->note ? at->note : NULL);
  dtL_set_str(L, "message", at->message);
  lua_createtable(L, at->nhit, 0);
  for (i = 0; i < at->nhit; i++) {
    lua_pushinteger(L, at->hit[i]);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "breakpoints");
  dt_buf_init(&b, dtL_session(L)->cx);
  dt_stop_text(c, at, &b);
  dtL_push_buf(L, &b);
  lua_setfield(L, -2, "text");
}

/* dt.debug.stop() -> what is stopped and where, or nil. */
static int l_stop (lua_State *L) {
  DtControl *c = check_control(L);
  if (c->at == NULL) { lua_pushnil(L); return 1; }
  push_stop(L, c, c->at);
  return 1;
}

static int l_frames (lua_State *L) {
  DtLuaFrame f[64];
  int n = dtL_frames(L, f, 64), i;
  lua_createtable(L, n, 0);
  for (i = 0; i < n; i++) {
    lua_createtable(L, 0, 4);
    dtL_set_str(L, "file", f[i].file);
    dtL_set_int(L, "line", f[i].line);
    dtL_set_str(L, "name", f[i].name);
    dtL_frame_locals(L, &f[i]);
    lua_setfield(L, -2, "locals");
    lua_seti(L, -2, i + 1);
  }
  return 1;
}

/* --- dt.debug: going on --- */

static bool go_word (DtControl *c, const char *s) {
  static const struct { const char *name; DtStepMode mode; } words[] = {
    {"continue", DT_GO_ON}, {"step", DT_GO_STEP}, {"next", DT_GO_NEXT},
    {"finish", DT_GO_FINISH}, {"line", DT_GO_LINE}, {"op", DT_GO_OP},
    {"quit", DT_GO_QUIT}
  };
  size_t i;
  for (i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcmp(words[i].name, s) == 0) {
      dt_control_go(c, words[i].mode);
      return true;
    }
  return false;
}

/* dt.debug.go("next"): how to go on from the stop. */
static int l_go (lua_State *L) {
  const char *s = luaL_checkstring(L, 1);
  if (!go_word(check_control(L), s))
    return dtL_errorf(L, DT_E_VALUE, "go: wanted continue, step, next, "
                      "finish, line, op or quit, not \"%s\"", s);
  return 0;
}

/* dt.debug.until(7): to operator #7; until(line, file): to a line. */
static int l_until (lua_State *L) {
  DtControl *c = check_control(L);
  lua_Integer n = luaL_checkinteger(L, 1);
  if (lua_isstring(L, 2)) {
    const char *f = dt_session_intern(c->d->s, lua_tostring(L, 2));
    if (f == NULL) return dtL_raise(L);
    dt_control_until(c, 0, f, (int)n);
  } else dt_control_until(c, n, NULL, 0);
  return 0;
}

/* dt.breakpoint([note]): stop here, when somebody is there to see it. */
static int l_breakpoint (lua_State *L) {
  DtControl *c = dt_control_of(dtL_session(L));
  DtSession *s = dtL_session(L);
  const char *file = "", *note = luaL_optstring(L, 1, NULL);
  int line = 0;
  if (c == NULL) return 0;
  if (s->where) s->where(s->where_ud, &file, &line);
  if (dt_control_stop(c, DT_WHY_CALL, file, line, note) != DT_OK)
    return dtL_raise(L);
  return 0;
}

/* --- dt.debug.run --- */

typedef struct Handled { DtControl *c; DtStopAt *at; } Handled;

static int run_handler (lua_State *L) {
  Handled *h = (Handled *)lua_touserdata(L, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, dtL_state(L)->handler);
  push_stop(L, h->c, h->at);
  lua_call(L, 1, 1);
  if (lua_isnil(L, -1)) return 0;
  if (lua_isinteger(L, -1)) {
    dt_control_until(h->c, lua_tointeger(L, -1), NULL, 0);
    return 0;
  }
  if (!lua_isstring(L, -1) || !go_word(h->c, lua_tostring(L, -1)))
    return dtL_errorf(L, DT_E_VALUE, "the handler of dt.debug.run must give "
                      "continue, step, next, finish, line, op, quit or an "
                      "operator's number");
  return 0;
}

/* The handler may run whole operators, so everything it could disturb is put
** aside: the pending error (a stop can be at one), the mute state and grad
** mode, which muting turns off and the handler wants as the program has it. If
** the handler fails, its error replaces the saved one. */
static DtStatus call_handler (DtBind *b, DtControl *c, DtStopAt *at) {
  DtDebug *d = c->d;
  DtError saved = b->s->cx->err;
  Handled h = { c, at };
  lua_State *L = b->L;
  DtStatus st = DT_OK;
  DtMute m;
  bool grad = b->s->grad_enabled;
  memset(&b->s->cx->err, 0, sizeof b->s->cx->err);
  dt_buf_init(&b->s->cx->err.message, b->s->cx);
  dt_buf_init(&b->s->cx->err.explain, b->s->cx);
  dt_debug_mute(d, &m);
  b->s->grad_enabled = grad;
  lua_pushcfunction(L, run_handler);
  lua_pushlightuserdata(L, &h);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) st = dtL_catch(L, DT_E_LUA);
  dt_debug_unmute(d, &m);
  if (st != DT_OK) {
    dt_buf_fini(&saved.message);
    dt_buf_fini(&saved.explain);
    return st;
  }
  dt_error_clear(b->s->cx);
  dt_buf_fini(&b->s->cx->err.message);
  dt_buf_fini(&b->s->cx->err.explain);
  b->s->cx->err = saved;
  return DT_OK;
}

/* dt.debug.run(f, handler [, mode]) -> ok, result: run f with
** handler(stop) called at each stop; what it gives says how to go on.  `mode`
** says how to begin ("op": stop at the first operator). */
static int l_run (lua_State *L) {
  DtControl *c = check_control(L);
  DtBind *b = dtL_state(L);
  const char *mode = luaL_optstring(L, 3, "op");
  int old = b->handler, rc;
  bool attached = c->attached;
  luaL_checktype(L, 1, LUA_TFUNCTION);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_pushvalue(L, 2);
  b->handler = luaL_ref(L, LUA_REGISTRYINDEX);
  c->attached = true;
  if (!go_word(c, mode)) dt_control_go(c, DT_GO_OP);
  dt_control_arm(c);
  lua_pushvalue(L, 1);
  rc = lua_pcall(L, 0, 1, 0);
  luaL_unref(L, LUA_REGISTRYINDEX, b->handler);
  b->handler = old;
  c->attached = attached;
  dt_control_rest(c);
  lua_pushboolean(L, rc == LUA_OK);
  lua_insert(L, -2);
  return 2;
}

static int l_json (lua_State *L) {
  DtBuf b;
  luaL_checkany(L, 1);
  dt_buf_init(&b, dtL_session(L)->cx);
  dtL_to_json(L, 1, &b);
  dtL_push_buf(L, &b);
  return 1;
}

static void keep_base (lua_State *L, const char *name, const char *key) {
  lua_getglobal(L, name);
  lua_setfield(L, LUA_REGISTRYINDEX, key);
}

void dtL_open_control (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"breakpoint", l_break}, {"breakpoints", l_breakpoints},
    {"commands", l_commands}, {"condition", l_condition},
    {"delete", l_delete}, {"disable", l_disable}, {"enable", l_enable},
    {"frames", l_frames}, {"go", l_go}, {"ignore", l_ignore},
    {"json", l_json}, {"kinds", l_kinds}, {"load_breakpoints", l_load},
    {"run", l_run}, {"save_breakpoints", l_save}, {"stop", l_stop},
    {"tbreak", l_tbreak}, {"until_op", l_until}, {NULL, NULL}
  };
  keep_base(L, "pcall", "dt.pcall");
  keep_base(L, "xpcall", "dt.xpcall");
  lua_getglobal(L, "coroutine");
  lua_getfield(L, -1, "resume");
  lua_setfield(L, LUA_REGISTRYINDEX, "dt.resume");
  lua_pop(L, 1);
  lua_getfield(L, dt, "debug");
  luaL_setfuncs(L, funcs, 0);
  lua_pop(L, 1);
  lua_pushcfunction(L, l_breakpoint);
  lua_setfield(L, dt, "breakpoint");
  lua_pushcfunction(L, l_raised);
  lua_setfield(L, dt, "_raised");
  lua_pushcfunction(L, l_traced);
  lua_setfield(L, dt, "_traced");
  lua_pushcfunction(L, l_catching);
  lua_setfield(L, dt, "_catching");
  lua_pushcfunction(L, l_handled);
  lua_setfield(L, dt, "_handled");
  if (dtL_control_open(L) != DT_OK) dtL_raise(L);
}
