/* SPDX-License-Identifier: MIT
** bind/bound.c: which variable of the script holds which tensor, recorded as
** the script goes.
**
** It is asked when the script's line changes: the locals of the functions under
** way, the prompt's locals, and globals.  Of the globals only those a source
** assigns to are looked at, since walking all of them at each line would cost
** more than the operators. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "bind/frame.h"
#include "bind/pyframe.h"
#include "bind/slots.h"

enum { MAX_LEVELS = 40, MAX_FRAMES = DTL_FRAMES };

/* --- what is asked beside the functions --- */

/* The stack of DtBind.asked: the globals, the prompt's locals, then names of
** globals, the same as in DtBind.global. */
enum { GLOBALS = 1, LOCALS, FIRST };

/* Reading what lies on a stack of its own is cheaper than finding it in the
** registry at every operator.  The registry keeps the thread as long as the
** state lives; its number there is not needed again. */
static lua_State *stack_for_queries (lua_State *L) {
  DtBind *b = dtL_state(L);
  if (b->asked == NULL) {
    lua_State *g = lua_newthread(L);
    lua_pushglobaltable(g);
    lua_newtable(g);
    (void)luaL_ref(L, LUA_REGISTRYINDEX);
    b->asked = g;
  }
  return b->asked;
}

void dtL_set_prompt_locals (lua_State *L) {
  lua_State *g = stack_for_queries(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, DTL_PROMPT_LOCALS);
  lua_xmove(L, g, 1);
  lua_replace(g, LOCALS);
}

void dtL_push_prompt_locals (lua_State *L) {
  lua_State *g = stack_for_queries(L);
  lua_pushvalue(g, LOCALS);
  lua_xmove(g, L, 1);
}

/* --- globals a source assigns to --- */

static bool is_word (char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_spaces (const char *s, const char *end) {
  while (s < end && (*s == ' ' || *s == '\t')) s++;
  return s;
}

static const char *skip_word (const char *s, const char *end) {
  while (s < end && is_word(*s)) s++;
  return s;
}

static bool is_one (const char *s, size_t n, const char *w) {
  return strlen(w) == n && strncmp(s, w, n) == 0;
}

/* Add the name, once: the set on the stack at `set` has those that are there. */
static void add_name (lua_State *L, int set, const char *s, size_t n) {
  DtBind *b = dtL_state(L);
  lua_State *g = stack_for_queries(L);
  const char *name;
  lua_pushlstring(L, s, n);
  lua_pushvalue(L, -1);
  if (lua_rawget(L, set) != LUA_TNIL || b->nglobals == DTL_GLOBALS ||
      !lua_checkstack(g, 4)) {
    lua_pop(L, 2);
    return;
  }
  name = dt_session_intern(b->s, lua_tostring(L, -2));
  lua_pop(L, 1);
  if (name == NULL) {
    dt_error_clear(b->s->cx);
    lua_pop(L, 1);
    return;
  }
  lua_pushvalue(L, -1);
  lua_pushboolean(L, 1);
  lua_rawset(L, set);
  lua_xmove(L, g, 1);
  b->global[b->nglobals++] = name;
}

/* A statement begins at `s`: "a, b = " assigns to its names. */
static void scan_statement (lua_State *L, int set, const char *s,
                            const char *end) {
  const char *name[8];
  size_t len[8];
  int n = 0, i;
  for (s = skip_spaces(s, end); n < 8; s = skip_spaces(s + 1, end)) {
    const char *e = skip_word(s, end);
    if (e == s || isdigit((unsigned char)*s)) return;
    name[n] = s;
    len[n++] = (size_t)(e - s);
    s = skip_spaces(e, end);
    if (s >= end || *s != ',') break;
  }
  if (s + 1 >= end || *s != '=' || s[1] == '=') return;
  for (i = 0; i < n; i++) add_name(L, set, name[i], len[i]);
}

/* Statements begin at lines, after ';' and after a few words. */
void dtL_names_from (lua_State *L, const char *text, size_t n) {
  static const char *const before[] = { "then", "do", "else" };
  const char *s = text, *end = text + n;
  DtBind *b = dtL_state(L);
  size_t i;
  int set;
  if (b->ref_globals == 0) {
    lua_newtable(L);
    b->ref_globals = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  lua_rawgeti(L, LUA_REGISTRYINDEX, b->ref_globals);
  set = lua_gettop(L);
  scan_statement(L, set, s, end);
  while (s < end) {
    const char *w = s;
    if (!is_word(*s)) {
      s++;
      if (*w == '\n' || *w == ';') scan_statement(L, set, s, end);
      continue;
    }
    s = skip_word(s, end);
    for (i = 0; i < sizeof before / sizeof before[0]; i++)
      if (is_one(w, (size_t)(s - w), before[i])) scan_statement(L, set, s, end);
  }
  lua_settop(L, set - 1);
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

/* The table at `idx`, from the bottom. */
static void bind_table (lua_State *L, DtDebug *d, int64_t seq,
                        const char *scope, int idx) {
  lua_pushnil(L);
  while (lua_next(L, idx)) {
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
    if (scope && lua_istable(co, -1))
      bind_table(co, d, seq, scope, lua_gettop(co));
    lua_pop(co, 1);
  } while (dtL_py_up(co));
}

/* A hit is verified as in name_of: a source that was collected may have left
** its address to another. */
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
static bool is_at_same_place (const DtBind *b, const DtDebug *d,
                              const lua_Debug *ar, DtSeenFrame *f) {
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

/* The locals of a function that hold tensors, but for those that held the
** same when it was last here.  What was found at the start as it was stays
** where it is in `f`; only the rest is copied back. */
static void bind_locals (lua_State *co, DtDebug *d, int64_t seq,
                         const lua_Debug *inner, const lua_Debug *ar,
                         const char *scope, DtSeenFrame *f) {
  DtBind *b = dtL_state(co);
  DtSlots slots = dtL_slots_of(b, inner, ar);
  int i, old = is_at_same_place(b, d, ar, f) ? f->n : 0, same = 0, k, n;
  DtVar *v;
  DtSeenFrame now;
  bool all = true;
  for (i = dtL_slots_next(&slots, 1, &v); v != NULL && same < old &&
       f->v[same].local == i && f->v[same].id == v->id; same++)
    i = dtL_slots_next(&slots, i + 1, &v);
  for (k = n = same; i != INT_MAX; i = dtL_slots_next(&slots, i + 1, &v)) {
    while (k < old && f->v[k].local < i) k++;
    if ((k == old || f->v[k].local != i || v == NULL || f->v[k].id != v->id) &&
        !bind_local(co, d, seq, ar, scope, i, v)) break;
    all = all && v != NULL && n < DTL_SEEN;
    if (v == NULL || n == DTL_SEEN) continue;
    now.v[n].local = i;
    now.v[n++].id = v->id;
  }
  if (n > same)
    memcpy(f->v + same, now.v + same, sizeof now.v[0] * (size_t)(n - same));
  f->n = n;
  f->all = all;
}

/* The innermost function of the script. */
static void stands_at (DtBind *b, DtDebug *d, const char *scope, int line) {
  b->names_in = scope;
  b->names_line = line;
  d->scope = scope;
}

static bool is_one_of (const char *scope, int n, const char *const *list) {
  while (n > 0)
    if (list[--n] == scope) return true;
  return false;
}

/* --- where nothing has changed --- */

/* Are calls known well enough to be compared?  Variables of Python are not
** locals of the calls. */
static bool are_calls_comparable (const DtBind *b) {
  return b->links && b->pcs && b->boxes && b->box_tag != 0 &&
         b->lua_tag != 0 && b->tensor_meta != NULL && b->ref_py[0] == 0;
}

/* A level is gone through; `seen`: which of the script's that were asked, -1:
** none. */
static void note_call (const DtBind *b, DtSeenCalls *c, int level,
                       const lua_Debug *ar, int seen) {
  DtSeenCall *k = &c->v[level];
  if (level >= DTL_CALLS || !are_calls_comparable(b)) return;
  k->pc = dtL_slots_pc(b, ar, &k->func);
  if (dtL_slots_is_c(b, ar)) k->pc = NULL;
  k->ci = (const void *)ar->i_ci;
  k->seen = seen;
}

/* Do the locals from slot 0 at `func` to the slot at `end` hold the tensors
** that they held?.  By id: a tensor's address is used again by the next one,
** its id never. */
static bool holds_same (const DtBind *b, const char *func, const char *end,
                        const DtSeenFrame *f) {
  DtSlots s = { func, end > func ? (int)((end - func) / DTL_SLOT) - 1 : 0,
                b->box_tag, b->tensor_meta };
  int i = 0, k;
  DtVar *v;
  for (k = 0; k < f->n; k++) {
    i = dtL_slots_next(&s, i + 1, &v);
    if (v == NULL || f->v[k].local != i || f->v[k].id != v->id) return false;
  }
  return dtL_slots_next(&s, i + 1, &v) == INT_MAX && f->all;
}

/* Are the calls that were all asked last where they were, with the same
** tensors?  Where a line of a loop comes again, that is all there is to ask.
** Another record (a new ring) has none of the names yet, so nothing may be
** skipped for it. The instruction is compared and not the line, since one
** line may hold several operators. */
static bool all_stand (const DtBind *b, const DtDebug *d,
                       const DtSeenCalls *c, const DtSeenFrame *seen,
                       const lua_Debug *innermost) {
  const void *ci = (const void *)innermost->i_ci;
  const char *end = NULL;
  if (c->n == 0 || c->record != d->rec.id ||
      !are_calls_comparable(b)) return false;
  for (const DtSeenCall *k = c->v; k < c->v + c->n; k++) {
    const char *func = (const char *)dtL_slots_at(ci, DTL_CI_FUNC);
    if (ci != k->ci || dtL_slots_at(func, 0) != k->func ||
        (k->pc && dtL_slots_at(ci, DTL_CI_PC) != k->pc) ||
        (k->seen >= 0 && !holds_same(b, func, end, &seen[k->seen])))
      return false;
    end = func;
    ci = dtL_slots_at(ci, DTL_CI_CALLER);
  }
  return true;
}

/* The functions under way.  While one of them goes down its lines, those that
** called it wait and keep their variables: only where a line comes again, or
** another function runs, are all of them asked.  Of a function that calls
** itself the innermost call counts. */
static void bind_frames (lua_State *co, DtDebug *d, int64_t seq) {
  DtBind *b = dtL_state(co);
  DtSeenFrame *seen = b->seen[co != b->L];
  DtSeenCalls *calls = &b->calls[co != b->L];
  const char *scopes[MAX_FRAMES];
  lua_Debug here, inside, *ar = &here;  /* a level and the one inside it */
  int level = 0, n = 0, most = MAX_FRAMES;
  bool more = lua_getstack(co, 0, ar) != 0;
  if (more && all_stand(b, d, calls, seen, ar)) {
    stands_at(b, d, calls->scope, calls->line);
    return;
  }
  if (!lua_checkstack(co, 8)) return;
  for (; more && level < MAX_LEVELS && n < most;
       inside.i_ci = here.i_ci, more = dtL_slots_out(co, b, level++, ar)) {
    const char *scope = level_scope(co, b, seq, n == 0, ar), *python;
    note_call(b, calls, level, ar, -1);
    if (scope == NULL) continue;
    python = b->ref_py[0] != 0 ? python_scope(co, ar) : NULL;
    if (python) scope = python;
    if (n++ == 0) {
      if (b->names_in == scope && ar->currentline > b->names_line) most = 1;
      stands_at(b, d, scope, ar->currentline);
      calls->scope = scope;
      calls->line = ar->currentline;
    }
    scopes[n - 1] = scope;
    if (is_one_of(scope, n - 1, scopes)) continue;
    note_call(b, calls, level, ar, n - 1);
    if (python) bind_python(co, d, seq, ar);
    else bind_locals(co, d, seq, level > 0 ? &inside : NULL, ar, scope,
                     &seen[n - 1]);
  }
  /* what was not asked in full may not be taken for unchanged next time */
  calls->n = most == 1 || n == 0 || level > DTL_CALLS ||
             !are_calls_comparable(b)
             ? 0 : level;
  calls->record = d->rec.id;
}

static void bind_globals (DtBind *b, DtDebug *d, int64_t seq) {
  lua_State *g = b->asked;
  if (g == NULL) return;
  bind_table(g, d, seq, "", LOCALS);
  for (int i = 0; i < b->nglobals; i++) {
    lua_pushvalue(g, FIRST + i);
    if (lua_rawget(g, GLOBALS) == LUA_TUSERDATA) {
      const DtVar *v = dtL_test_tensor(g, -1);
      if (v) dt_record_bind(d, seq, "", b->global[i], v->id);
    }
    lua_pop(g, 1);
  }
}

void dtL_bound (void *ud, DtDebug *d, int64_t seq) {
  DtBind *b = (DtBind *)ud;
  if (b->raised != 0 && seq >= b->raised && !d->typing &&
      lua_checkstack(b->L, 8)) dtL_forget_raised(b->L);
  if (b->cur != b->L) bind_frames(b->L, d, seq);
  bind_frames(b->cur, d, seq);
  bind_globals(b, d, seq);
}
