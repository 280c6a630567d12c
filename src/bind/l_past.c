/* SPDX-License-Identifier: MIT
** bind/l_past.c: the past as Lua sees it: names of script variables are
** recorded, and a line can be evaluated as if an operator had not yet run.
**
** Which variable holds which tensor is asked when the script's line changes:
** the locals of the functions under way, the prompt's locals, and globals.  Of
** the globals only those a source assigns to are looked at, since walking all
** of them at each line would cost more than the operators. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "bind/frame.h"
#include "bind/field.h"
#include "bind/pyframe.h"
#include "bind/slots.h"

enum { MAX_CAND = 400, MAX_LEVELS = 40, MAX_FRAMES = DTL_FRAMES };

/* --- globals a source assigns to --- */

static bool is_word (char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static const char *spaces (const char *s, const char *end) {
  while (s < end && (*s == ' ' || *s == '\t')) s++;
  return s;
}

static const char *word (const char *s, const char *end) {
  while (s < end && is_word(*s)) s++;
  return s;
}

static bool is_one (const char *s, size_t n, const char *w) {
  return strlen(w) == n && strncmp(s, w, n) == 0;
}

/* Add the name to the list on the stack, once. */
static void add_name (lua_State *L, int list, const char *s, size_t n) {
  lua_pushlstring(L, s, n);
  lua_pushvalue(L, -1);
  if (lua_rawget(L, list) == LUA_TNIL && lua_rawlen(L, list) < MAX_CAND) {
    lua_pop(L, 1);
    lua_pushvalue(L, -1);
    lua_pushboolean(L, 1);
    lua_rawset(L, list);
    lua_rawseti(L, list, (lua_Integer)lua_rawlen(L, list) + 1);
  } else lua_pop(L, 2);
}

/* A statement begins at `s`: "a, b = " assigns to its names. */
static void statement (lua_State *L, int list, const char *s,
                       const char *end) {
  const char *name[8];
  size_t len[8];
  int n = 0, i;
  for (s = spaces(s, end); n < 8; s = spaces(s + 1, end)) {
    const char *e = word(s, end);
    if (e == s || isdigit((unsigned char)*s)) return;
    name[n] = s;
    len[n++] = (size_t)(e - s);
    s = spaces(e, end);
    if (s >= end || *s != ',') break;
  }
  if (s + 1 >= end || *s != '=' || s[1] == '=') return;
  for (i = 0; i < n; i++) add_name(L, list, name[i], len[i]);
}

/* Statements begin at lines, after ';' and after a few words. */
void dtL_names_from (lua_State *L, const char *text, size_t n) {
  static const char *const before[] = { "then", "do", "else" };
  const char *s = text, *end = text + n;
  DtBind *b = dtL_state(L);
  size_t i;
  int list;
  if (b->ref_globals == 0) {
    lua_newtable(L);                    /* list and set of names */
    b->ref_globals = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  lua_rawgeti(L, LUA_REGISTRYINDEX, b->ref_globals);
  list = lua_gettop(L);
  statement(L, list, s, end);
  while (s < end) {
    const char *w = s;
    if (!is_word(*s)) {
      s++;
      if (*w == '\n' || *w == ';') statement(L, list, s, end);
      continue;
    }
    s = word(s, end);
    for (i = 0; i < sizeof before / sizeof before[0]; i++)
      if (is_one(w, (size_t)(s - w), before[i])) statement(L, list, s, end);
  }
  lua_settop(L, list - 1);
}

/* --- binding --- */

/* Interned forms of what was asked last: the same few names and functions come
** again and again.  A hit is verified, for a freed string's place may be
** another's. */
static const char *name_of (DtBind *b, const char *name) {
  unsigned k = (unsigned)((uintptr_t)name >> 4) % DTL_NAMES;
  if (b->name_key[k] != name || strcmp(b->name_val[k], name) != 0) {
    const char *s = dt_session_intern(b->s, name);
    if (s == NULL) { dt_error_clear(b->s->cx); return NULL; }
    b->name_key[k] = name;
    b->name_val[k] = s;
  }
  return b->name_val[k];
}

static void bind_var (DtBind *b, DtDebug *d, int64_t seq, const char *scope,
                      const char *name, const DtVar *v) {
  const char *s = name_of(b, name);
  if (s) dt_record_bind(d, seq, scope, s, v->id);
}

/* The value on the top is called as the string below it. */
static void bind_top (lua_State *L, DtDebug *d, int64_t seq,
                      const char *scope) {
  const DtVar *v = lua_type(L, -1) == LUA_TUSERDATA ? dtL_test_tensor(L, -1)
                                                    : NULL;
  if (v) bind_var(dtL_state(L), d, seq, scope, lua_tostring(L, -2), v);
}

static void bind_table (lua_State *L, DtDebug *d, int64_t seq,
                        const char *scope) {
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    if (lua_type(L, -2) == LUA_TSTRING) bind_top(L, d, seq, scope);
    lua_pop(L, 1);
  }
}

/* What the scope of Python on the top is called; NULL when it has no name. */
static const char *scope_name (lua_State *co) {
  const char *s = NULL;
  dtL_py_get(co, -1, DT_PY_SCOPE);
  if (lua_type(co, -1) == LUA_TSTRING)
    s = name_of(dtL_state(co), lua_tostring(co, -1));
  lua_pop(co, 1);
  return s;
}

/* Of a statement of Python; NULL when the frame runs none. */
static const char *python_scope (lua_State *co, const lua_Debug *ar) {
  const char *s;
  if (!dtL_py_scope(co, ar)) return NULL;
  s = scope_name(co);
  lua_pop(co, 1);
  return s;
}

/* The variables of the function of Python that the frame is in, and of what is
** around it: the module's are often far down the stack. */
static void bind_python (lua_State *co, DtDebug *d, int64_t seq,
                         const lua_Debug *ar) {
  if (!dtL_py_scope(co, ar)) return;
  do {
    const char *scope = scope_name(co);
    dtL_py_get(co, -1, DT_PY_VARS);
    if (scope && lua_istable(co, -1)) bind_table(co, d, seq, scope);
    lua_pop(co, 1);
  } while (dtL_py_up(co));
}

static const char *scope_of (DtBind *b, const char *source, int line) {
  unsigned k = (unsigned)(((uintptr_t)source >> 4) + (unsigned)line) %
               DTL_SCOPES;
  DtScopeName *c = &b->scope[k];
  const char *name = *source == '@' || *source == '=' ? source + 1 : "script";
  const char *s;
  char text[300];
  if (c->source == source && c->line == line && strcmp(c->name, name) == 0)
    return c->text;
  snprintf(text, sizeof text, "%.250s:%d", name, line);
  name = dt_session_intern(b->s, name);
  s = name ? dt_session_intern(b->s, text) : NULL;
  if (s == NULL) { dt_error_clear(b->s->cx); return ""; }
  *c = (DtScopeName){ source, line, name, s };
  return s;
}

/* The scope of a level; NULL when it is not the script's.  What was found for
** this operator is not asked for again. */
static const char *level_scope (lua_State *co, DtBind *b, int64_t seq,
                                bool first, lua_Debug *ar) {
  const char *source;
  int line;
  if ((const void *)ar->i_ci == b->at.ci && b->at.seq == seq) {
    source = b->at.source;
    line = b->at.defined;
    ar->currentline = b->at.line;
  } else {
    if (!dtL_slots_source(co, b, ar, &source, &line)) return NULL;
    if (first) lua_getinfo(co, "l", ar);
  }
  if (dtL_is_ours(source) || (source[0] == '=' && source[1] == '?' &&
                              source[2] == '\0'))
    return NULL;                        /* the library's, or stripped */
  return scope_of(b, source, line);
}

/* Does the function stand where it stood when its locals were recorded last?
** Then their names are the same, and only the tensors may be others. */
static bool stands (const DtBind *b, const DtDebug *d, const lua_Debug *ar,
                    DtSeenFrame *f) {
  const void *func = NULL, *pc = dtL_slots_pc(b, ar, &func);
  const void *ci = (const void *)ar->i_ci;
  bool same = pc != NULL && f->pc == pc && f->func == func && f->ci == ci &&
              f->record == d->rec.id;
  f->ci = ci;
  f->func = func;
  f->pc = pc;
  f->record = d->rec.id;
  return same;
}

/* A local by its name; false when there are no more.  `v`: its tensor when that
** is known. */
static bool bind_local (lua_State *co, DtDebug *d, int64_t seq,
                        const lua_Debug *ar, const char *scope, int i,
                        const DtVar *v) {
  const char *name = lua_getlocal(co, ar, i);
  if (name == NULL) return false;
  if (v == NULL && lua_type(co, -1) == LUA_TUSERDATA)
    v = dtL_test_tensor(co, -1);
  if (v && *name != '(') bind_var(dtL_state(co), d, seq, scope, name, v);
  lua_pop(co, 1);
  return true;
}

/* The locals of a function that hold tensors, but for those that held the same
** when it stood here before. */
static void bind_locals (lua_State *co, DtDebug *d, int64_t seq,
                         const lua_Debug *inner, const lua_Debug *ar,
                         const char *scope, DtSeenFrame *f) {
  DtBind *b = dtL_state(co);
  DtSlots slots = dtL_slots_of(b, inner, ar);
  int i, old = stands(b, d, ar, f) ? f->n : 0, same = 0, k, n;
  DtVar *v;
  DtSeenFrame now;
  for (i = dtL_slots_next(&slots, 1, &v); v != NULL && same < old &&
       f->v[same].local == i && f->v[same].id == v->id; same++)
    i = dtL_slots_next(&slots, i + 1, &v);
  for (k = n = same; i != INT_MAX; i = dtL_slots_next(&slots, i + 1, &v)) {
    while (k < old && f->v[k].local < i) k++;
    if ((k == old || f->v[k].local != i || v == NULL || f->v[k].id != v->id) &&
        !bind_local(co, d, seq, ar, scope, i, v)) break;
    if (v == NULL || n == DTL_SEEN) continue;
    now.v[n].local = i;
    now.v[n++].id = v->id;
  }
  if (n > same)
    memcpy(f->v + same, now.v + same, sizeof now.v[0] * (size_t)(n - same));
  f->n = n;
}

static bool is_one_of (const char *scope, int n, const char *const *list) {
  while (n > 0)
    if (list[--n] == scope) return true;
  return false;
}

/* The functions under way.  While one of them goes down its lines, those that
** called it wait and keep their variables: only where a line comes again, or
** another function runs, are all of them asked.  Of a function that calls
** itself the innermost call counts. */
static void bind_frames (lua_State *co, DtDebug *d, int64_t seq) {
  DtBind *b = dtL_state(co);
  DtSeenFrame *seen = b->seen[co != b->L];
  const char *scopes[MAX_FRAMES];
  lua_Debug here, inside, *ar = &here;  /* a level and the one inside it */
  int level = 0, n = 0, most = MAX_FRAMES;
  bool more = lua_getstack(co, 0, ar) != 0;
  for (; more && level < MAX_LEVELS && n < most;
       inside.i_ci = here.i_ci, more = dtL_slots_out(co, b, level++, ar)) {
    const char *scope = level_scope(co, b, seq, n == 0, ar), *python;
    if (scope == NULL) continue;
    python = b->ref_py[0] != 0 ? python_scope(co, ar) : NULL;
    if (python) scope = python;
    if (n++ == 0) {
      if (b->names_in == scope && ar->currentline > b->names_line) most = 1;
      b->names_in = scope;
      b->names_line = ar->currentline;
      d->scope = scope;
    }
    scopes[n - 1] = scope;
    if (is_one_of(scope, n - 1, scopes)) continue;
    if (python) bind_python(co, d, seq, ar);
    else bind_locals(co, d, seq, level > 0 ? &inside : NULL, ar, scope,
                     &seen[n - 1]);
  }
}

static void bind_globals (lua_State *L, DtDebug *d, int64_t seq) {
  const DtBind *b = dtL_state(L);
  int top = lua_gettop(L), i, n;
  if (b->ref_locals != 0 &&
      lua_rawgeti(L, LUA_REGISTRYINDEX, b->ref_locals) == LUA_TTABLE)
    bind_table(L, d, seq, "");
  lua_settop(L, top);
  if (b->ref_globals == 0) return;
  lua_rawgeti(L, LUA_REGISTRYINDEX, b->ref_globals);
  lua_pushglobaltable(L);
  n = (int)lua_rawlen(L, top + 1);
  for (i = 1; i <= n; i++) {
    lua_rawgeti(L, top + 1, i);
    lua_pushvalue(L, -1);
    lua_rawget(L, top + 2);
    bind_top(L, d, seq, "");
    lua_pop(L, 2);
  }
  lua_settop(L, top);
}

static void record_names (void *ud, DtDebug *d, int64_t seq) {
  DtBind *b = (DtBind *)ud;
  if (!lua_checkstack(b->L, 8) || !lua_checkstack(b->cur, 8)) return;
  if (b->raised != 0 && seq >= b->raised && !d->typing)
    dtL_forget_raised(b->L);
  if (b->cur != b->L) bind_frames(b->L, d, seq);
  bind_frames(b->cur, d, seq);
  bind_globals(b->L, d, seq);
}

/* --- the environment of the past --- */

typedef struct Past { DtDebug *d; int64_t seq; const char *scope; } Past;

/* A living tensor of which the record knows more than now. */
static bool push_past (lua_State *L, const Past *p, int64_t id) {
  DtVar *v = NULL;
  if (dt_record_revive(p->d, id, p->seq, &v) != DT_OK) {
    dt_error_clear(p->d->s->cx);
    return false;
  }
  dtL_push_tensor(L, v);
  return true;
}

/* Upvalues: Past, the environment of now (or false). */
static int past_index (lua_State *L) {
  const Past *p = (const Past *)lua_touserdata(L, lua_upvalueindex(1));
  int64_t id = lua_type(L, 2) == LUA_TSTRING
    ? dt_record_name(p->d, p->scope, lua_tostring(L, 2), p->seq) : 0;
  DtVar *v;
  if (id != 0 && push_past(L, p, id)) return 1;
  if (!lua_istable(L, lua_upvalueindex(2))) return 0;
  lua_pushvalue(L, 2);
  lua_gettable(L, lua_upvalueindex(2));
  v = dtL_test_tensor(L, -1);
  if (v && push_past(L, p, v->id)) return 1;
  return 1;
}

static int past_newindex (lua_State *L) {
  return dtL_errorf(L, DT_E_RUNTIME, "the past cannot be changed; :goto now "
                    "comes back");
}

/* Replaces the environment on the top by that of the past. */
void dtL_past_env (lua_State *L, int64_t seq, const char *scope) {
  Past *p;
  lua_newtable(L);
  lua_createtable(L, 0, 3);
  p = (Past *)lua_newuserdatauv(L, sizeof *p, 0);
  p->d = dt_debug_of(dtL_session(L));
  p->seq = seq;
  p->scope = scope;
  lua_pushvalue(L, -4);
  lua_pushcclosure(L, past_index, 2);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, past_newindex);
  lua_setfield(L, -2, "__newindex");
  lua_pushliteral(L, "the environment of the past");
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
  lua_remove(L, -2);
}

/* --- dt.debug --- */

static DtRecOp *check_op (lua_State *L, int idx, DtDebug *d) {
  int64_t seq = luaL_checkinteger(L, idx);
  DtRecOp *r = dt_record_find(d, seq);
  if (r == NULL)
    dtL_errorf(L, DT_E_INDEX, "operator #%lld is not in the record",
               (long long)seq);
  return r;
}

/* dt.debug.at(n) -> names and tensors as they were just before operator #n. */
static int l_at (lua_State *L) {
  enum { MAX = 1024 };
  DtDebug *d = dtL_check_debug(L);
  DtRecOp *r = check_op(L, 1, d);
  const DtRecName **names;
  Past p = { d, r->seq, r->scope };
  int i, n;
  names = (const DtRecName **)lua_newuserdatauv(L, MAX * sizeof *names, 0);
  n = dt_record_names(d, r->seq, names, MAX);
  lua_newtable(L);
  for (i = n - 1; i >= 0; i--) {
    int64_t id = dt_record_name(d, r->scope, names[i]->name, r->seq);
    if (id != names[i]->var) continue;      /* another scope's */
    if (push_past(L, &p, names[i]->var))
      lua_setfield(L, -2, names[i]->name);
  }
  return 1;
}

/* dt.debug.value(x, n): tensor or name as it was just before operator #n. */
static int l_value (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  DtRecOp *r = check_op(L, 2, d);
  DtVar *v = dtL_test_tensor(L, 1), *out = NULL;
  int64_t id = v ? v->id : dt_record_name(d, r->scope, luaL_checkstring(L, 1),
                                          r->seq);
  if (id == 0)
    return dtL_errorf(L, DT_E_KEY, "no tensor was called %s before #%lld",
                      lua_tostring(L, 1), (long long)r->seq);
  if (dt_record_revive(d, id, r->seq, &out) != DT_OK) return dtL_raise(L);
  dtL_push_tensor(L, out);
  return 1;
}

/* dt.debug.recording([{ring=, limit=, on=}]) -> its state after the change. */
static int l_recording (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  DtRecord *k = &d->rec;
  if (lua_istable(L, 1)) {
    lua_getfield(L, 1, "ring");
    if (!lua_isnil(L, -1)) {
      lua_Integer n = luaL_checkinteger(L, -1);
      luaL_argcheck(L, n >= 1 && n <= 1 << 20, 1,
                    "ring: wanted 1 to 1048576 operators");
      if (dt_record_reset(d, (int)n) != DT_OK) return dtL_raise(L);
    }
    lua_getfield(L, 1, "limit");
    if (!lua_isnil(L, -1)) dt_record_limit(d, luaL_checkinteger(L, -1));
    lua_getfield(L, 1, "on");
    if (!lua_isnil(L, -1)) k->off = !lua_toboolean(L, -1);
    lua_settop(L, 1);
  }
  lua_createtable(L, 0, 8);
  dtL_set_int(L, "ring", k->cap);
  dtL_set_int(L, "operators", k->n);
  dtL_set_int(L, "total", k->total);
  dtL_set_int(L, "limit", k->limit);
  dtL_set_int(L, "bytes", k->kept);
  dtL_set_int(L, "first", k->n ? dt_record_at(d, k->n - 1)->seq : 0);
  dtL_set_int(L, "last", k->n ? dt_record_at(d, 0)->seq : 0);
  dtL_set_bool(L, "on", !k->off);
  return 1;
}

/* dt._slots([on]) -> is Lua's stack looked at, or its interface asked for
** everything?  Switches, for tests. */
static int l_slots (lua_State *L) {
  DtBind *b = dtL_state(L);
  if (lua_isboolean(L, 1)) {
    if (lua_toboolean(L, 1)) dtL_slots_learn(L);
    else dtL_slots_forget(b);
  }
  lua_pushboolean(L, b->box_tag != 0 && b->protos && b->boxes && b->pcs);
  return 1;
}

void dtL_open_past (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"at", l_at}, {"recording", l_recording}, {"value", l_value},
    {NULL, NULL}
  };
  DtDebug *d = dt_debug_of(dtL_session(L));
  lua_pushcfunction(L, l_slots);
  lua_setfield(L, dt, "_slots");
  lua_getfield(L, dt, "debug");
  luaL_setfuncs(L, funcs, 0);
  lua_pop(L, 1);
  if (d) {
    d->names = record_names;
    d->names_ud = dtL_state(L);
  }
}
