/* SPDX-License-Identifier: MIT
** bind/l_error.c: error objects.  An engine error becomes a table with the
** metatable dt.error: code, id, class, message, torch, where, rank, op,
** explain, traceback; tostring() is readable; `fixes` is computed when asked.
** This is the only place that raises engine errors. */
#include <stdarg.h>
#include <string.h>
#include "bind/bind.h"
#include "bind/field.h"
#include "bind/names.h"
#include "bind/pyframe.h"
#include "bind/slots.h"
#include "compat/text.h"
#include "debug/autopsy.h"
#include "debug/control.h"
#include "debug/debug.h"

/* "repro.lua:14" of the running script line. */
static void push_where (lua_State *L) {
  DtSession *s = dtL_session(L);
  const char *file = "";
  int line = 0;
  if (s->where) s->where(s->where_ud, &file, &line);
  if (line > 0) lua_pushfstring(L, "%s:%d", file, line);
  else lua_pushliteral(L, "");
}

/* Build the object of an error on the stack. */
static void push_object (lua_State *L, DtStatus code, const char *pyclass,
                         const char *message, const char *explain) {
  const DtErrorInfo *info = dt_error_info(code);
  DtSession *s = dtL_session(L);
  lua_createtable(L, 0, 12);
  dtL_set_str(L, "code", info->name);
  dtL_set_str(L, "id", info->id);
  dtL_set_str(L, "class", pyclass ? pyclass : info->pyclass);
  dtL_set_str(L, "message", message);
  dtL_set_str(L, "torch", message);
  dtL_set_str(L, "summary", info->text);
  dtL_set_str(L, "hint", info->hint);
  if (explain && *explain) dtL_set_str(L, "explain", explain);
  push_where(L);
  lua_setfield(L, -2, "where");
  dtL_set_int(L, "rank", s->comm ? s->comm->rank : 0);
  dtL_set_int(L, "seq", s->seq);
  luaL_setmetatable(L, DTL_ERROR);
}

static void push_error (lua_State *L, DtStatus code, const char *pyclass,
                        const char *message, const char *explain) {
  push_object(L, code, pyclass, message, explain);
  dtL_note_raised(L);
}

/* Runs protected: (message, code) -> object. */
static int stopped_object (lua_State *L) {
  const char *message = (const char *)lua_touserdata(L, 1);
  push_object(L, (DtStatus)lua_tointeger(L, 2), NULL, message, NULL);
  dtL_set_bool(L, "stopped", true);
  return 1;
}

void dtL_note_stopped (lua_State *L, DtStatus code, const char *message) {
  lua_State *co = dtL_state(L)->cur;
  if (co == NULL || !lua_checkstack(co, 8)) return;
  lua_pushcfunction(co, stopped_object);
  lua_pushlightuserdata(co, (void *)(uintptr_t)message);
  lua_pushinteger(co, (lua_Integer)code);
  if (lua_pcall(co, 2, 1, 0) == LUA_OK) dtL_note_raised(co);
  lua_pop(co, 1);
}

static const char *verdict_name (DtRepairVerdict v) {
  switch (v) {
    case DT_VD_EQUAL: return "equal";
    case DT_VD_CLOSE: return "close";
    case DT_VD_WRONG: return "different";
    case DT_VD_FAILED: return "failed";
    default: return "untried";
  }
}

/* fixes = { {lua=, torch=, verdict=, bytes=, note=, result=, warned=}, ... } */
static void set_fixes (lua_State *L, const DtRepairs *r) {
  int i;
  lua_createtable(L, r->n, 0);
  for (i = 0; i < r->n; i++) {
    const DtRepair *x = &r->r[i];
    lua_createtable(L, 0, 8);
    dtL_set_str(L, "lua", x->lua);
    dtL_set_str(L, "torch", x->torch);
    dtL_set_str(L, "note", x->note);
    dtL_set_str(L, "result", x->result);
    dtL_set_str(L, "verdict", verdict_name(x->verdict));
    dtL_set_int(L, "bytes", x->bytes);
    dtL_set_bool(L, "warned", x->warned);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "fixes");
}

/* args = { "self  h  dt: f32[4]| S(0)", ... } */
static void set_args (lua_State *L, const DtFailed *f, DtBuf *b) {
  int i;
  lua_createtable(L, f->nin, 0);
  for (i = 0; i < f->nin; i++) {
    dt_buf_clear(b);
    dt_autopsy_arg(f, i, b);
    lua_pushstring(L, dt_buf_str(b));
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "args");
}

typedef struct Report {
  const DtFailed *f; const DtRepairs *r; DtBuf *text; const char *op;
} Report;

/* Runs protected, since Lua may run out of memory: (object, Report *). */
static int fill_object (lua_State *L) {
  Report *p = (Report *)lua_touserdata(L, 2);
  lua_settop(L, 1);
  dtL_set_str(L, "autopsy", dt_buf_str(p->text));
  dtL_set_str(L, "op", p->op);
  set_fixes(L, p->r);
  set_args(L, p->f, p->text);
  return 0;
}

/* The report on the failed call, when there is one, into the object.  The
** texts are ours to free, so Lua's part is protected: raising from in
** between would leave them behind. */
static void attach_autopsy (lua_State *L, DtSession *s, DtStatus code) {
  DtDebug *d = dt_debug_of(s);
  DtBuf text;
  DtRepairs r;
  if (d == NULL || d->muted || !d->failed.valid || !d->failed.fresh
      || d->failed.code != code)
    return;
  dtL_name_failed(L, &d->failed);
  dt_buf_init(&text, s->cx);
  memset(&r, 0, sizeof r);
  if (dt_autopsy_text(s, code, &r, &text)) {
    Report p = { &d->failed, &r, &text, dt_autopsy_op(s) };
    lua_pushcfunction(L, fill_object);
    lua_pushvalue(L, -2);
    lua_pushlightuserdata(L, &p);
    if (lua_pcall(L, 2, 0, 0) != LUA_OK) lua_pop(L, 1);
  }
  dt_repairs_fini(d, &r);
  dt_buf_fini(&text);
}

/* A field of the object as a string, "" when it has none.  Raw: __index of
** an error object computes, and may raise itself. */
static const char *string_field (lua_State *L, int idx, const char *key) {
  const char *s = "";
  idx = lua_absindex(L, idx);
  lua_pushstring(L, key);
  if (lua_rawget(L, idx) == LUA_TSTRING) s = lua_tostring(L, -1);
  lua_pop(L, 1);                  /* still held by the object */
  return s;
}

/* An error object that passed through the engine (a Lua function called by
** an operator raised it) comes out as itself, with its line and its report.
** Taken out of the registry in any case: an error that comes later must not
** find it. Code and words are compared, since the engine may have met
** another one on its way out. */
static bool push_caught (lua_State *L, DtStatus code, const char *message) {
  DtBind *b = dtL_state(L);
  bool same;
  if (b->last_ref == LUA_NOREF) return false;
  lua_rawgeti(L, LUA_REGISTRYINDEX, b->last_ref);
  luaL_unref(L, LUA_REGISTRYINDEX, b->last_ref);
  b->last_ref = LUA_NOREF;
  same = dt_error_find(string_field(L, lua_gettop(L), "code")) == code
         && strcmp(string_field(L, lua_gettop(L), "message"), message) == 0;
  if (!same) lua_pop(L, 1);
  return same;
}

/* Push the lines of the script that are under way, of Python by the names of
** its functions; Lua's own trace where no script runs. */
static void push_trace (lua_State *L) {
  const DtControl *c = dt_control_of(dtL_session(L));
  DtBuf b;
  dt_buf_init(&b, dtL_session(L)->cx);
  dt_buf_add(&b, "stack traceback:");
  size_t head = b.len;
  if (c && c->h.trace) c->h.trace(c->h.ud, &b);
  if (b.oom || b.len == head) {
    dt_buf_fini(&b);
    luaL_traceback(L, L, NULL, 1);
  } else dtL_push_buf(L, &b);
}

/* Python raises KeyboardInterrupt once: `except` and `finally` run then, until
** Ctrl-C is pressed again.  Lua has no word for it, there no pcall outlives it;
** nor does a try of Python outlive :kill. */
static bool may_be_handled (lua_State *L) {
  const DtControl *c = dt_control_of(dtL_session(L));
  lua_Debug ar;
  if ((c && c->abort) || lua_gethook(L) != dtL_state(L)->interrupt_hook)
    return false;
  for (int level = 0; lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "S", &ar);
    if (!dtL_py_scope(L, &ar)) continue;
    lua_pop(L, 1);
    return true;
  }
  return false;
}

/* Ctrl-C raises again and again until nothing runs, also in handlers and in the
** library's own cleaning up, where no line of the script is left to be named.
** Its object is the first one, which knows where the rank was, and, from a wait,
** who waited for whom.  Gives that object, which may learn the rest from the
** later one on the top, in its place. */
static void push_first_interrupt (lua_State *L) {
  static const char *const learn[] = {"explain", "where", "traceback"};
  DtBind *b = dtL_state(L);
  if (b->ref_interrupt == 0) {
    lua_pushvalue(L, -1);
    b->ref_interrupt = luaL_ref(L, LUA_REGISTRYINDEX);
    if (may_be_handled(L)) lua_sethook(L, NULL, 0, 0);
    return;
  }
  lua_rawgeti(L, LUA_REGISTRYINDEX, b->ref_interrupt);
  bool placed = *string_field(L, -1, "where") != '\0';
  for (size_t i = 0; i < (placed ? 1 : 3); i++) {
    if (i == 0 && *string_field(L, -1, learn[0])) continue;
    lua_pushstring(L, learn[i]);
    lua_pushvalue(L, -1);
    lua_rawget(L, -4);          /* __index gives "explain" a hint for prompts */
    lua_rawset(L, -3);
  }
  lua_remove(L, -2);
}

void dtL_forget_interrupt (lua_State *L) {
  DtBind *b = dtL_state(L);
  if (b->ref_interrupt != 0) luaL_unref(L, LUA_REGISTRYINDEX, b->ref_interrupt);
  b->ref_interrupt = 0;
}

/* The pending error of the context becomes a Lua error object. The error is
** cleared before the autopsy is attached: trying repairs runs operators, which
** raise and clear errors of their own. An exception of a program that passed
** through the engine (push_caught) is raised again as the same object. */
int dtL_raise (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtError *e = &s->cx->err;
  DtStatus code = e->code ? e->code : DT_E_INTERNAL;
  if (push_caught(L, code, dt_buf_str(&e->message))) {
    dt_error_clear(s->cx);
    return lua_error(L);
  }
  push_object(L, code, e->pyclass, dt_buf_str(&e->message),
              dt_buf_str(&e->explain));
  if (e->reason) dtL_set_str(L, "reason", e->reason);
  dtL_note_raised(L);           /* with its reason */
  if (e->cause) {
    dtL_set_str(L, "cause", e->cause);
    if (e->cause_pyclass) dtL_set_str(L, "cause_class", e->cause_pyclass);
  }
  dt_error_clear(s->cx);        /* repairs run operators of their own */
  attach_autopsy(L, s, code);
  push_trace(L);
  lua_setfield(L, -2, "traceback");
  if (code == DT_E_INTERRUPTED && !dtL_state(L)->exiting)
    push_first_interrupt(L);
  return lua_error(L);
}

int dtL_errorf (lua_State *L, DtStatus code, const char *fmt, ...) {
  DtBuf b;
  va_list ap;
  dt_buf_init(&b, dtL_session(L)->cx);
  va_start(ap, fmt);
  dt_buf_addv(&b, fmt, ap);
  va_end(ap);
  dt_error_clear(dtL_session(L)->cx);
  (void)dt_raise(dtL_session(L)->cx, code, "%s", dt_buf_str(&b));
  dt_buf_fini(&b);
  return dtL_raise(L);
}

static bool is_error (lua_State *L, int idx) {
  bool yes = false;
  if (lua_istable(L, idx) && lua_getmetatable(L, idx)) {
    luaL_getmetatable(L, DTL_ERROR);
    yes = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
  }
  return yes;
}

/* Lua's own words for it, also when they were passed on as text. */
static bool out_of_memory (const char *msg) {
  return strcmp(msg, "not enough memory") == 0;
}

void dtL_add_trace (lua_State *L, int idx) {
  if (!is_error(L, idx)) return;
  lua_pushliteral(L, "traceback");
  if (lua_rawget(L, idx) == LUA_TNIL) {
    push_trace(L);
    lua_setfield(L, idx, "traceback");
  }
  lua_pop(L, 1);
}

/* Did the script call a method of the library with a dot, which leaves its object
** out?  Its name, "step" of opt.step(), or "" after a tail call, which has none;
** else NULL. */
static const char *method_without_object (lua_State *L, const char *msg) {
  lua_Debug ar, own;
  bool found = false;
  if (strncmp(msg, "[dt.", 4) != 0) return NULL;
  for (int level = 0; lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "Snt", &ar);
    if (*ar.what == 'C') continue;
    if (!dtL_is_ours(ar.source)) break;
    own = ar;
    found = true;
    if (ar.istailcall) break;
  }
  if (!found || (!own.istailcall && strcmp(own.namewhat, "field") != 0))
    return NULL;
  const char *first = lua_getlocal(L, &own, 1);
  if (first == NULL) return NULL;
  bool object = lua_istable(L, -1) || lua_isuserdata(L, -1);
  lua_pop(L, 1);
  if (object || (strcmp(first, "self") != 0 && strcmp(first, "m") != 0))
    return NULL;
  return own.name ? own.name : "";
}

int dtL_traceback (lua_State *L) {
  if (luaL_testudata(L, 1, DTL_ERROR)) return 1;
  if (lua_istable(L, 1)) {
    dtL_add_trace(L, 1);
    return 1;
  }
  {
    const char *msg = luaL_tolstring(L, 1, NULL);
    const char *method = method_without_object(L, msg);
    if (method)
      msg = lua_pushfstring(L, "%s%s without its object: a method is called "
                            "with a colon, x:%s()", *method ? method
                            : "a method", *method ? "()" : "",
                            *method ? method : "step");
    push_error(L, out_of_memory(msg) ? DT_E_NOMEM : method ? DT_E_TYPE
               : DT_E_LUA, NULL, msg, NULL);
    push_trace(L);
    lua_setfield(L, -2, "traceback");
  }
  return 1;
}

/* Each line of the text below the ones before it. */
static void add_lines (const char *text, DtBuf *out) {
  while (*text) {
    size_t n = strcspn(text, "\n");
    dt_buf_addf(out, "\n  %.*s", (int)n, text);
    text += n + (text[n] == '\n');
  }
}

/* An error as a person reads it: the autopsy if there is one, since it says
** all the rest, else class, message, place, hints and cause. Any other value
** of error() prints as tostring() would. */
void dtL_error_text (lua_State *L, int idx, DtBuf *out) {
  int top = lua_gettop(L);
  idx = lua_absindex(L, idx);
  if (!is_error(L, idx)) {
    if (lua_type(L, idx) == LUA_TSTRING || lua_type(L, idx) == LUA_TNUMBER
        || luaL_getmetafield(L, idx, "__tostring") != LUA_TNIL)
      dt_buf_add(out, luaL_tolstring(L, idx, NULL));
    else dt_buf_addf(out, "(error object is a %s value)",
                     luaL_typename(L, idx));
    lua_settop(L, top);
    return;
  }
  if (*string_field(L, idx, "autopsy")) {
    dt_buf_add(out, string_field(L, idx, "autopsy"));
    return;
  }
  dt_buf_addf(out, "%s %s: %s", string_field(L, idx, "id"),
              string_field(L, idx, "class"),
              string_field(L, idx, "message"));
  if (*string_field(L, idx, "where"))
    dt_buf_addf(out, "\n  at %s", string_field(L, idx, "where"));
  add_lines(string_field(L, idx, "explain"), out);
  if (*string_field(L, idx, "cause"))
    dt_buf_addf(out, "\n  caused by: %s", string_field(L, idx, "cause"));
}

/* What the error on top of the stack is in the context. */
static DtStatus raise_caught (lua_State *L, DtStatus code) {
  DtCtx *cx = dtL_session(L)->cx;
  DtStatus st = code;
  if (is_error(L, -1)) {
    DtStatus own = dt_error_find(string_field(L, lua_absindex(L, -1), "code"));
    const char *cls = dt_error_info(own ? own : code)->pyclass;
    const char *have = string_field(L, lua_absindex(L, -1), "class");
    for (DtStatus row = dt_error_next(DT_OK);
         row != DT_OK && strcmp(cls, have) != 0; row = dt_error_next(row))
      cls = dt_error_info(row)->pyclass;            /* the literal */
    st = dt_raise_as(cx, own ? own : code, cls, "%s",
                     string_field(L, lua_absindex(L, -1), "message"));
    const char *reason = string_field(L, lua_absindex(L, -1), "reason");
    if (*reason)
      (void)dt_error_reason(cx, st, dt_session_intern(dtL_session(L), reason));
    luaL_unref(L, LUA_REGISTRYINDEX, dtL_state(L)->last_ref);
    lua_pushvalue(L, -1);
    dtL_state(L)->last_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  } else {
    const char *msg = luaL_tolstring(L, -1, NULL);
    st = dt_raise(cx, out_of_memory(msg) ? DT_E_NOMEM : code, "%s", msg);
    lua_pop(L, 1);
  }
  return st;
}

typedef struct Caught { DtStatus code, st; } Caught;

static int catch_protected (lua_State *L) {
  Caught *c = (Caught *)lua_touserdata(L, 2);
  lua_settop(L, 1);
  c->st = raise_caught(L, c->code);
  return 0;
}

/* The callers hold references: reading the error, for which Lua may want memory,
** must not jump over them. */
DtStatus dtL_catch (lua_State *L, DtStatus code) {
  DtCtx *cx = dtL_session(L)->cx;
  Caught c = { code, DT_E_NOMEM };
  dt_error_clear(cx);
  lua_pushcfunction(L, catch_protected);
  lua_insert(L, -2);
  lua_pushlightuserdata(L, &c);
  if (lua_pcall(L, 2, 0, 0) == LUA_OK) return c.st;
  lua_pop(L, 1);
  dt_error_clear(cx);
  return dt_raise(cx, DT_E_NOMEM, "out of memory");
}

/* The function and its argument are values that Lua makes without memory; all
** that wants some, the call's own frame included, is inside. */
DtStatus dtL_protected (lua_State *L, lua_CFunction f, void *ud) {
  if (!lua_checkstack(L, 4))
    return dt_raise(dtL_session(L)->cx, DT_E_NOMEM, "out of memory");
  lua_pushcfunction(L, f);
  lua_pushlightuserdata(L, ud);
  if (lua_pcall(L, 1, 0, 0) == LUA_OK) return DT_OK;
  return dtL_catch(L, DT_E_LUA);
}

static int e_tostring (lua_State *L) {
  DtBuf b;
  dt_buf_init(&b, dtL_session(L)->cx);
  dtL_error_text(L, 1, &b);
  dtL_push_buf(L, &b);
  return 1;
}

/* Fields every error object answers to, whatever it knows of itself. */
static int e_index (lua_State *L) {
  const char *key = lua_tostring(L, 2);
  if (key == NULL || strcmp(key, "explain") != 0) return 0;
  lua_settop(L, 1);
  if (*string_field(L, 1, "autopsy"))
    lua_pushstring(L, string_field(L, 1, "autopsy"));
  else if (*string_field(L, 1, "hint"))
    lua_pushstring(L, string_field(L, 1, "hint"));
  else return 0;
  return 1;
}

/* error("text") of another class: dt.error{class=, message=} is raised by
** Lua's error(); this builds the object. */
static int e_new (lua_State *L) {
  DtStatus code = dt_error_find(luaL_checkstring(L, 1));
  push_error(L, code ? code : DT_E_RUNTIME, NULL, luaL_checkstring(L, 2), NULL);
  if (lua_isstring(L, 3)) {
    lua_pushvalue(L, 3);
    lua_setfield(L, -2, "class");
  }
  return 1;
}

/* dt._said(KEY, arguments...): class and words of a text that releases word
** differently. */
static int e_said (lua_State *L) {
  DtCtx *cx = dtL_session(L)->cx;
  const char *arg[DT_TEXT_MAX_ARGS] = { NULL };
  int nargs, n = lua_gettop(L) - 1;
  DtText key = dt_text_find(luaL_checkstring(L, 1), &nargs);
  luaL_argcheck(L, key != DT_NTEXTS && n == nargs && n <= DT_TEXT_MAX_ARGS, 1,
                "no text of that name with so many arguments");
  for (int i = 0; i < n; i++) arg[i] = luaL_tolstring(L, i + 2, NULL);
  dt_error_clear(cx);
  (void)dt_say(cx, DT_E_RUNTIME, key, arg);
  lua_pushstring(L, cx->err.pyclass);
  lua_pushstring(L, dt_buf_str(&cx->err.message));
  dt_error_clear(cx);
  return 2;
}

void dtL_open_error (lua_State *L) {
  luaL_newmetatable(L, DTL_ERROR);
  lua_pushcfunction(L, e_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_pushcfunction(L, e_index);
  lua_setfield(L, -2, "__index");
  lua_pushliteral(L, "dt.error");
  lua_setfield(L, -2, "__name");
  lua_pop(L, 1);
  lua_getfield(L, LUA_REGISTRYINDEX, "dt");
  lua_pushcfunction(L, e_new);
  lua_setfield(L, -2, "error");
  lua_pushcfunction(L, e_said);
  lua_setfield(L, -2, "_said");
  lua_pop(L, 1);
}
