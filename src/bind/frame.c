/* SPDX-License-Identifier: MIT
** bind/frame.c: the script's functions on the Lua stack and their variables.
**
** A frame is remembered by its place from the bottom of its stack, because
** whatever the debugger calls lies on top of it.  Variables are read raw: no
** metamethod of the script runs. */
#include "bind/frame.h"
#include "bind/pyframe.h"
#include "bind/slots.h"

#include <stdio.h>
#include <string.h>

static const char key_env[] = "dt.frame.env";
static const char key_sources[] = "dt.sources";

static int stack_size (lua_State *co) {
  lua_Debug ar;
  int lo = 0, hi = 1;
  while (lua_getstack(co, hi, &ar)) { lo = hi; hi *= 2; }
  while (lo + 1 < hi) {
    int mid = (lo + hi) / 2;
    if (lua_getstack(co, mid, &ar)) lo = mid; else hi = mid;
  }
  return lua_getstack(co, lo, &ar) ? lo + 1 : 0;
}

static bool is_script (const lua_Debug *ar) {
  return ar->currentline >= 0 && !dtL_is_ours(ar->source);
}

static const char *chunk_name (lua_State *L, const char *source) {
  const char *s = dt_session_intern(dtL_state(L)->s,
    source[0] == '@' || source[0] == '=' ? source + 1 : "script");
  if (s == NULL) { dt_error_clear(dtL_state(L)->s->cx); return "?"; }
  return s;
}

/* What stands behind "function" where it begins, "M:forward": the caller may be
** the library, whose names for it say nothing.  Length 0: none. */
static const char *written_name (lua_State *L, const lua_Debug *ar, size_t *len) {
  size_t n, i;
  const char *line = dtL_source_line(L, chunk_name(L, ar->source),
                                     ar->linedefined, &n);
  *len = 0;
  for (i = 0; line != NULL && i + 9 < n; i++) {
    if (memcmp(line + i, "function ", 9) != 0) continue;
    line += i + 9;
    *len = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789_.:");
    break;
  }
  return line;
}

static const char *function_name (lua_State *L, const lua_Debug *ar) {
  char text[128];
  size_t n = 0;
  const char *s, *name = ar->name ? ar->name : written_name(L, ar, &n);
  if (*ar->what == 'm') return "main chunk";
  snprintf(text, sizeof text, "function %.*s",
           ar->name ? 100 : n > 0 && n < 100 ? (int)n : 9,
           ar->name || (n > 0 && n < 100) ? name : "(no name)");
  s = dt_session_intern(dtL_state(L)->s, text);
  if (s == NULL) { dt_error_clear(dtL_state(L)->s->cx); return "function"; }
  return s;
}

/* The coroutine that runs, then the main one. */
lua_State *dtL_running (lua_State *L) {
  DtBind *b = dtL_state(L);
  lua_Debug ar;
  return lua_status(b->cur) == LUA_OK && lua_getstack(b->cur, 0, &ar)
           ? b->cur : b->L;
}

static const char *scope_text (lua_State *co, DtPyKey key) {
  const char *s = NULL;
  dtL_py_get(co, -1, key);
  if (lua_type(co, -1) == LUA_TSTRING)
    s = dt_session_intern(dtL_state(co)->s, lua_tostring(co, -1));
  lua_pop(co, 1);
  if (s == NULL) dt_error_clear(dtL_state(co)->s->cx);
  return s;
}

/* Of Python: which scope the frame sees (NULL: none, it is Lua's), and its
** name. */
static const void *python_scope (lua_State *co, const lua_Debug *ar,
                                 DtLuaFrame *f) {
  const void *scope;
  if (!dtL_py_scope(co, ar)) return NULL;
  scope = lua_topointer(co, -1);
  if (f) {
    const char *name = scope_text(co, DT_PY_NAME);
    f->scope = scope_text(co, DT_PY_SCOPE);
    if (name) f->name = name;
  }
  lua_pop(co, 1);
  return scope;
}

static int frames_of (lua_State *L, lua_State *co, DtLuaFrame *out, int max,
                      int n) {
  lua_Debug ar;
  const void *last = NULL, *scope;
  int level, total = out ? stack_size(co) : 0;
  if (!lua_checkstack(co, 4)) return n;
  for (level = 0; n < max && lua_getstack(co, level, &ar); level++) {
    lua_getinfo(co, "Sl", &ar);
    if (!is_script(&ar)) continue;
    scope = python_scope(co, &ar, NULL);
    if (scope && scope == last) continue;
    last = scope;
    if (out) {
      lua_getinfo(co, "n", &ar);
      out[n].co = co;
      out[n].below = total - level;
      out[n].file = chunk_name(L, ar.source);
      out[n].line = ar.currentline;
      out[n].name = function_name(L, &ar);
      out[n].defined = ar.linedefined;
      out[n].scope = NULL;
      (void)python_scope(co, &ar, &out[n]);
    }
    n++;
  }
  return n;
}

int dtL_frames (lua_State *L, DtLuaFrame *out, int max) {
  DtBind *b = dtL_state(L);
  lua_State *co = dtL_running(L);
  int n = frames_of(L, co, out, max, 0);
  if (co != b->L) n = frames_of(L, b->L, out, max, n);
  return n;
}

int dtL_frame_count (lua_State *L) {
  return dtL_frames(L, NULL, 1 << 20);
}

static bool find_frame (const DtLuaFrame *f, lua_Debug *ar) {
  int level = stack_size(f->co) - f->below;
  return level >= 0 && lua_getstack(f->co, level, ar) != 0;
}

/* --- variables --- */

/* Index of the innermost local of this name, 0 when there is none. */
static int find_local (lua_State *co, lua_Debug *ar, const char *name) {
  const char *s;
  int i, found = 0;
  for (i = 1; (s = lua_getlocal(co, ar, i)) != NULL; i++) {
    if (strcmp(s, name) == 0) found = i;
    lua_pop(co, 1);
  }
  return found;
}

/* Index of the upvalue of this name of the function on the top. */
static int find_upvalue (lua_State *co, const char *name) {
  const char *s;
  int i;
  for (i = 1; (s = lua_getupvalue(co, -1, i)) != NULL; i++) {
    lua_pop(co, 1);
    if (strcmp(s, name) == 0) return i;
  }
  return 0;
}

static void move_to (lua_State *from, lua_State *to) {
  if (from != to) lua_xmove(from, to, 1);
}

/* The same for a statement of Python, whose scope is on the top of `co`, and
** popped. */
static bool push_python (lua_State *L, lua_State *co, const char *name) {
  if (!dtL_py_holder(co, name)) return false;
  lua_pushstring(co, name);
  lua_rawget(co, -2);
  lua_remove(co, -2);
  move_to(co, L);
  return true;
}

static bool set_python (lua_State *L, lua_State *co, const char *name) {
  if (!dtL_py_holder(co, name)) return false;
  lua_pushstring(co, name);
  if (co == L) lua_pushvalue(L, -3);
  else move_to(L, co);
  lua_rawset(co, -3);
  lua_pop(co, co == L ? 2 : 1);
  return true;
}

bool dtL_top_variable (lua_State *L, DtTop *t, const char *name) {
  lua_State *co = t->co;
  int i;
  if (!lua_checkstack(co, 8)) return false;
  if (dtL_py_scope(co, &t->ar)) return push_python(L, co, name);
  i = find_local(co, &t->ar, name);
  if (i > 0) {
    lua_getlocal(co, &t->ar, i);
    move_to(co, L);
    return true;
  }
  lua_getinfo(co, "f", &t->ar);
  i = find_upvalue(co, name);
  if (i > 0) {
    lua_getupvalue(co, -1, i);
    lua_remove(co, -2);
    move_to(co, L);
    return true;
  }
  lua_pop(co, 1);
  return false;
}

bool dtL_top_scope (lua_State *L, DtTop *t) {
  if (!lua_checkstack(t->co, 8) || !dtL_py_scope(t->co, &t->ar)) return false;
  move_to(t->co, L);
  return true;
}

static bool find_top (lua_State *co, DtTop *t) {
  int level;
  t->co = co;
  for (level = 0; lua_getstack(co, level, &t->ar); level++) {
    lua_getinfo(co, "Sl", &t->ar);
    if (is_script(&t->ar)) return true;
  }
  return false;
}

bool dtL_top (lua_State *L, DtTop *t) {
  DtBind *b = dtL_state(L);
  lua_State *co = dtL_running(L);
  return find_top(co, t) || (co != b->L && find_top(b->L, t));
}

/* Push the variable; false when the frame has none of this name. */
static bool push_variable (lua_State *L, const DtLuaFrame *f,
                           const char *name) {
  DtTop t;
  t.co = f->co;
  return find_frame(f, &t.ar) && dtL_top_variable(L, &t, name);
}

/* Set it to the value on the top (popped when it was set). */
static bool set_variable (lua_State *L, const DtLuaFrame *f,
                          const char *name) {
  lua_Debug ar;
  int i;
  bool done = false;
  if (!lua_checkstack(f->co, 8) || !find_frame(f, &ar)) return false;
  if (dtL_py_scope(f->co, &ar)) return set_python(L, f->co, name);
  i = find_local(f->co, &ar, name);
  if (i > 0) {
    move_to(L, f->co);
    lua_setlocal(f->co, &ar, i);
    return true;
  }
  lua_getinfo(f->co, "f", &ar);
  i = find_upvalue(f->co, name);
  if (i > 0) {
    if (f->co == L) lua_pushvalue(L, -2);
    else move_to(L, f->co);
    lua_setupvalue(f->co, -2, i);
    if (f->co == L) lua_remove(L, -2);
    done = true;
  }
  lua_pop(f->co, 1);
  return done;
}

void dtL_push_prompt_env (lua_State *L) {
  if (lua_getfield(L, LUA_REGISTRYINDEX, key_env) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_pushglobaltable(L);
}

/* Upvalue 1: the frame. */
static int env_index (lua_State *L) {
  DtLuaFrame *f = (DtLuaFrame *)lua_touserdata(L, lua_upvalueindex(1));
  if (lua_type(L, 2) == LUA_TSTRING &&
      push_variable(L, f, lua_tostring(L, 2)))
    return 1;
  dtL_push_prompt_env(L);
  lua_pushvalue(L, 2);
  lua_gettable(L, -2);
  return 1;
}

static int env_newindex (lua_State *L) {
  DtLuaFrame *f = (DtLuaFrame *)lua_touserdata(L, lua_upvalueindex(1));
  lua_settop(L, 3);
  if (lua_type(L, 2) == LUA_TSTRING && set_variable(L, f, lua_tostring(L, 2)))
    return 0;
  dtL_push_prompt_env(L);
  lua_insert(L, 2);
  lua_settable(L, 2);
  return 0;
}

void dtL_frame_env (lua_State *L, const DtLuaFrame *f) {
  DtLuaFrame *own;
  lua_newtable(L);
  lua_createtable(L, 0, 3);
  own = (DtLuaFrame *)lua_newuserdatauv(L, sizeof *own, 0);
  *own = *f;
  lua_pushvalue(L, -1);
  lua_pushcclosure(L, env_index, 1);
  lua_setfield(L, -3, "__index");
  lua_pushcclosure(L, env_newindex, 1);
  lua_setfield(L, -2, "__newindex");
  lua_pushliteral(L, "the environment of a stop");
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
}

void dtL_script_env (lua_State *L) {
  DtLuaFrame f;
  if (dtL_frames(L, &f, 1) == 1) dtL_frame_env(L, &f);
  else dtL_push_prompt_env(L);
}

/* The value on the top is called `s`: into the table at `t`, and once into its
** list, which keeps their order.  Pops it. */
static void add_local (lua_State *L, int t, const char *s, bool hidden) {
  bool known = lua_getfield(L, t, s) != LUA_TNIL;
  lua_pop(L, 1);
  if (known && hidden) { lua_pop(L, 1); return; }
  if (lua_isnil(L, -1)) { lua_pop(L, 1); lua_pushboolean(L, 0); }
  lua_setfield(L, t, s);
  if (known) return;
  lua_pushstring(L, s);
  lua_rawseti(L, t, (lua_Integer)lua_rawlen(L, t) + 1);
}

/* What it sees of the functions around it. */
static void add_upvalues (lua_State *L, int t, lua_State *co, lua_Debug *ar) {
  const char *s;
  int fn, i;
  if (!lua_getinfo(co, "f", ar)) return;
  fn = lua_gettop(co);
  for (i = 1; (s = lua_getupvalue(co, fn, i)) != NULL; i++) {
    if (*s == '\0' || strcmp(s, "_ENV") == 0) { lua_pop(co, 1); continue; }
    move_to(co, L);
    add_local(L, t, s, true);
  }
  lua_pop(co, 1);
}

void dtL_frame_locals (lua_State *L, const DtLuaFrame *f) {
  lua_Debug ar;
  const char *s;
  int i, t;
  if (lua_checkstack(f->co, 12) && find_frame(f, &ar) &&
      dtL_py_scope(f->co, &ar)) {
    dtL_py_locals(f->co);
    move_to(f->co, L);
    return;
  }
  lua_newtable(L);
  t = lua_gettop(L);
  if (!lua_checkstack(f->co, 8) || !find_frame(f, &ar)) return;
  for (i = 1; (s = lua_getlocal(f->co, &ar, i)) != NULL; i++) {
    if (*s == '(') { lua_pop(f->co, 1); continue; }
    move_to(f->co, L);
    add_local(L, t, s, false);
  }
  add_upvalues(L, t, f->co, &ar);
}

void dtL_frame_select (lua_State *L, const DtLuaFrame *f) {
  lua_Debug ar;
  bool found = f && lua_checkstack(f->co, 4) && find_frame(f, &ar);
  dtL_py_select(L, found ? f->co : L, found ? &ar : NULL);
}

void dtL_set_prompt_env (lua_State *L) {
  lua_setfield(L, LUA_REGISTRYINDEX, key_env);
}

/* --- sources --- */

void dtL_source_add (lua_State *L, const char *name, const char *text,
                     size_t n) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, key_sources);
  lua_pushlstring(L, text, n);
  lua_setfield(L, -2, name);
  lua_pop(L, 1);
  dtL_names_from(L, text, n);
}

enum { MAX_SOURCE = 4 << 20, MAX_TYPED = 64 << 10 };

/* The first `lines` lines of `s`, each with its end; missing ones are empty,
** all are when the text is too long to be copied with every line typed. */
static void add_lines (luaL_Buffer *b, const char *s, int lines) {
  size_t n = 0;
  int have = 0;
  while (have < lines && s[n] != '\0' && n <= MAX_TYPED)
    have += s[n++] == '\n';
  if (n > MAX_TYPED) n = 0, have = 0;
  luaL_addlstring(b, s, n);
  if (have < lines) {
    size_t rest = (size_t)(lines - have);
    memset(luaL_prepbuffsize(b, rest), '\n', rest);
    luaL_addsize(b, rest);
  }
}

void dtL_source_append (lua_State *L, const char *name, int line,
                        const char *text, size_t n) {
  const char *old = "";
  luaL_Buffer b;
  luaL_getsubtable(L, LUA_REGISTRYINDEX, key_sources);
  if (lua_getfield(L, -1, name) == LUA_TSTRING) old = lua_tostring(L, -1);
  luaL_buffinit(L, &b);
  add_lines(&b, old, line - 1);
  luaL_addlstring(&b, text, n);
  luaL_pushresult(&b);
  lua_setfield(L, -3, name);
  lua_pop(L, 2);
  dtL_names_from(L, text, n);
}

/* Runs protected: push the text of the file or false, and keep it. */
static int load_file (lua_State *L) {
  const char *name = lua_tostring(L, 1);
  FILE *f = dtL_state(L)->o.sandbox ? NULL : fopen(name, "rb");
  luaL_Buffer b;
  size_t n;
  luaL_buffinit(L, &b);
  if (f) {
    do {
      char *p = luaL_prepbuffsize(&b, 8192);
      n = fread(p, 1, 8192, f);
      luaL_addsize(&b, n);
    } while (n > 0 && luaL_bufflen(&b) < MAX_SOURCE);
    fclose(f);
  }
  luaL_pushresult(&b);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, key_sources);
  lua_pushvalue(L, -2);
  lua_setfield(L, -2, name);
  return 0;
}

const char *dtL_source_text (lua_State *L, const char *name) {
  const char *text = NULL;
  int top = lua_gettop(L);
  if (!lua_checkstack(L, 8)) return NULL;
  lua_getfield(L, LUA_REGISTRYINDEX, key_sources);
  if (lua_istable(L, -1)) {
    lua_pushstring(L, name);
    if (lua_rawget(L, -2) == LUA_TSTRING) text = lua_tostring(L, -1);
  }
  lua_settop(L, top);
  return text;
}

static const char *source_text (lua_State *L, const char *name) {
  const char *text = dtL_source_text(L, name);
  int top = lua_gettop(L);
  if (text || !lua_checkstack(L, 8)) return text;
  lua_pushcfunction(L, load_file);
  lua_pushstring(L, name);
  if (lua_pcall(L, 1, 0, 0) == LUA_OK) text = dtL_source_text(L, name);
  lua_settop(L, top);
  return text;
}

const char *dtL_source_line (lua_State *L, const char *file, int line,
                             size_t *n) {
  const char *s = file ? source_text(L, file) : NULL;
  if (s == NULL || line < 1) return NULL;
  while (--line > 0) {
    s = strchr(s, '\n');
    if (s == NULL) return NULL;
    s++;
  }
  *n = strcspn(s, "\r\n");
  return *s || *n ? s : NULL;
}
