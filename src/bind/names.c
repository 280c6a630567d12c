/* SPDX-License-Identifier: MIT
** bind/names.c: which variable of the script holds this tensor?  Locals of the
** frames on the stack first, then their upvalues' tables one level deep (the
** prompt's environment among them), then globals; what has no name yet may be
** a parameter of a module or its gradient, perhaps detached.  Reads raw: no
** metamethod runs. */
#include <string.h>
#include "bind/names.h"
#include "bind/field.h"
#include "bind/frame.h"
#include "bind/pyframe.h"
#include "bind/slots.h"

typedef struct Find {
  int n; DtVar *const *v; const char **out;
  bool *open;                   /* v[i] was named in the tables at hand: of
                                ** several names the first in the alphabet, on
                                ** every rank */
  bool any;                     /* one of them was */
} Find;

/* Does v[i] still want a name? */
static bool wants_name (const Find *f, int i) {
  return f->out[i] == NULL || f->open[i];
}

/* The tables at hand have been gone through. */
static void close_tables (Find *f) {
  if (f->any) memset(f->open, 0, (size_t)f->n * sizeof *f->open);
  f->any = false;
}

/* The value on the top is a tensor we look for, and wants a name? */
static bool is_sought (lua_State *L, const Find *f) {
  const DtVar *t;
  int i;
  if (lua_type(L, -1) != LUA_TUSERDATA) return false;
  t = dtL_test_tensor(L, -1);
  for (i = 0; t && i < f->n; i++)
    if (f->v[i] == t && wants_name(f, i)) return true;
  return false;
}

/* One of the prompt's last values, _ and _1, or of its parts: a name that nobody
** gave. */
static bool is_last_value (const char *name) {
  if (*name++ != '_') return false;
  name += strspn(name, "0123456789");
  return *name == '\0' || *name == '.' || *name == '[';
}

/* Members on the way to what is called so, but for the "module" of a wrapper. */
static int depth_of (const char *name) {
  static const char wrapped[] = ".module.";
  int n = 0;
  for (const char *s = name; *s != '\0'; s++)
    n += (*s == '.' || *s == '[') &&
         strncmp(s, wrapped, sizeof wrapped - 1) != 0;
  return n;
}

/* Is one name better than the other?  What somebody gave; of modules in each
** other the outermost's, not what a loop left; the first in the alphabet. */
static bool is_better (const char *name, const char *old) {
  int last = is_last_value(name) - is_last_value(old);
  int deep = depth_of(name) - depth_of(old);
  return last != 0 ? last < 0 : deep != 0 ? deep > 0 : strcmp(name, old) < 0;
}

/* v[i] is called `name`, unless it has a better name. */
static void call_it (lua_State *L, Find *f, int i, const char *name) {
  if (f->out[i] != NULL && !is_better(name, f->out[i])) return;
  f->out[i] = dt_session_intern(dtL_session(L), name);
  f->open[i] = f->any = true;
}

/* The value on the top is called `name`. */
static void name_value (lua_State *L, Find *f, const char *name) {
  const DtVar *t;
  int i;
  if (name == NULL || !is_sought(L, f)) return;
  t = dtL_test_tensor(L, -1);
  for (i = 0; i < f->n; i++)
    if (f->v[i] == t && wants_name(f, i)) call_it(L, f, i, name);
}

/* How a script writes the member of an object; those of lists have numbers. */
static const char *member_form (const char *key) {
  return key[strspn(key, "0123456789")] ? "%s.%s" : "%s[%s]";
}

static void table_fields (lua_State *L, Find *f, const char *prefix) {
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    if (lua_type(L, -2) == LUA_TSTRING && is_sought(L, f)) {
      const char *k = lua_tostring(L, -2);
      if (*prefix) lua_pushfstring(L, member_form(k), prefix, k);
      else lua_pushstring(L, k);
      lua_insert(L, -2);
      name_value(L, f, lua_tostring(L, -2));
      lua_remove(L, -2);
    }
    lua_pop(L, 1);
  }
}

/* What an object has: its fields, and parameters and buffers of a module. */
static void object_fields (lua_State *L, Find *f, const char *name) {
  static const char *const maps[] = {"_parameters", "_buffers"};
  size_t i;
  table_fields(L, f, name);
  lua_pushliteral(L, "_attrs");
  lua_rawget(L, -2);
  if (lua_istable(L, -1)) table_fields(L, f, name);
  lua_pop(L, 1);
  for (i = 0; i < sizeof maps / sizeof maps[0]; i++) {
    lua_pushstring(L, maps[i]);
    lua_rawget(L, -2);
    if (lua_istable(L, -1)) {
      lua_pushliteral(L, "map");
      lua_rawget(L, -2);
      if (lua_istable(L, -1)) table_fields(L, f, name);
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
}

/* Variables of a statement of Python; its scope is on the top, and popped. */
static void python_frame (lua_State *L, Find *f) {
  do {
    dtL_py_get(L, -1, DT_PY_VARS);
    if (lua_istable(L, -1)) {
      table_fields(L, f, "");
      close_tables(f);
      lua_pushnil(L);
      while (lua_next(L, -2)) {
        if (lua_istable(L, -1) && lua_type(L, -2) == LUA_TSTRING)
          object_fields(L, f, lua_tostring(L, -2));
        lua_pop(L, 1);
      }
      close_tables(f);
    }
    lua_pop(L, 1);
  } while (dtL_py_up(L));
}

/* --- parameters of modules, wherever they hang --- */

enum { DEEPEST = 12 };          /* modules inside modules */

/* Inputs that are the tensor `t`, or t.detach(). */
static void same_memory (lua_State *L, Find *f, const DtVar *t,
                         const char *name, const char *what) {
  for (int i = 0; t != NULL && i < f->n; i++) {
    if (f->v[i]->local->storage != t->local->storage || !wants_name(f, i) ||
        !dt_meta_same_shape(&f->v[i]->local->m, &t->local->m))
      continue;
    lua_pushfstring(L, "%s%s", name, what);
    call_it(L, f, i, lua_tostring(L, -1));
    lua_pop(L, 1);
  }
}

/* The ordered map `maps` of the object on the top: its names and its values by
** them, pushed; false: none. */
static bool push_map (lua_State *L, const char *maps) {
  int top = lua_gettop(L);
  lua_pushstring(L, maps);
  if (lua_rawget(L, top) == LUA_TTABLE) {
    lua_pushliteral(L, "keys");
    lua_rawget(L, top + 1);
    lua_pushliteral(L, "map");
    lua_rawget(L, top + 1);
    lua_remove(L, top + 1);
    if (lua_istable(L, -2) && lua_istable(L, -1)) return true;
  }
  lua_settop(L, top);
  return false;
}

/* What push_map() pushed is on the top: its entry i, "name.of it" (or
** "name[0]", as a script would write it) and the value, pushed.  False: there is
** none, nothing is pushed. */
static bool push_entry (lua_State *L, int i, const char *name) {
  if (lua_rawgeti(L, -2, i) != LUA_TSTRING) {
    lua_pop(L, 1);
    return false;
  }
  const char *key = lua_tostring(L, -1);
  lua_pushfstring(L, member_form(key), name, key);
  lua_insert(L, -2);
  lua_rawget(L, -3);
  return true;
}

/* The module on the top is called `name`: its parameters, their gradients, and
** those of the modules in it, each once: the table at `seen` has those that
** were met, for they may hold each other. */
static void module_tree (lua_State *L, Find *f, const char *name, int deep,
                         int seen) {
  if (deep > DEEPEST || !lua_checkstack(L, 8)) return;
  lua_pushvalue(L, -1);
  if (lua_rawget(L, seen) != LUA_TNIL) {
    lua_pop(L, 1);
    return;
  }
  lua_pop(L, 1);
  lua_pushvalue(L, -1);
  lua_pushboolean(L, true);
  lua_rawset(L, seen);
  if (push_map(L, "_parameters")) {
    for (int i = 1; push_entry(L, i, name); i++, lua_pop(L, 2)) {
      const DtVar *t = dtL_test_tensor(L, -1);
      if (t == NULL) continue;
      same_memory(L, f, t, lua_tostring(L, -2), "");
      same_memory(L, f, t->grad, lua_tostring(L, -2), ".grad");
    }
    lua_pop(L, 2);
  }
  if (push_map(L, "_modules")) {
    for (int i = 1; push_entry(L, i, name); i++, lua_pop(L, 2))
      if (lua_istable(L, -1))
        module_tree(L, f, lua_tostring(L, -2), deep + 1, seen);
    lua_pop(L, 2);
  }
}

/* All of the value on the top, if it is a module. */
static void module_of (lua_State *L, Find *f, const char *name) {
  if (!lua_istable(L, -1) || !lua_checkstack(L, 4)) return;
  lua_newtable(L);
  lua_insert(L, -2);
  module_tree(L, f, name, 0, lua_gettop(L) - 1);
  lua_remove(L, -2);
}

/* The modules among the named values of the table on the top. */
static void modules_of (lua_State *L, Find *f) {
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
    if (lua_type(L, -2) == LUA_TSTRING) module_of(L, f, lua_tostring(L, -2));
}

/* Modules that the frame can reach: a Python frame through its scopes from
** inner to outer, a Lua frame through locals, upvalues and globals. Names in
** parentheses are Lua's own temporaries. */
static void frame_modules (lua_State *L, lua_Debug *ar, Find *f) {
  const char *name;
  int i;
  if (dtL_py_scope(L, ar)) {
    do {
      dtL_py_get(L, -1, DT_PY_VARS);
      if (lua_istable(L, -1)) modules_of(L, f);
      lua_pop(L, 1);
    } while (dtL_py_up(L));
    return;
  }
  for (i = 1; (name = lua_getlocal(L, ar, i)) != NULL; i++) {
    if (name[0] != '(') module_of(L, f, name);
    lua_pop(L, 1);
  }
  lua_getinfo(L, "f", ar);
  for (i = 1; (name = lua_getupvalue(L, -1, i)) != NULL; i++) {
    if (strcmp(name, "_ENV") != 0) module_of(L, f, name);
    else if (lua_type(L, -1) == LUA_TTABLE) modules_of(L, f);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* --- frames --- */

/* Names for the tensors of one frame. Locals first: a tensor that has a name
** already keeps it, and the nearest name is the one a person would use. */
static void name_frame (lua_State *L, lua_Debug *ar, Find *f) {
  const char *name;
  int i;
  if (dtL_py_scope(L, ar)) {
    python_frame(L, f);
    return;
  }
  for (i = 1; (name = lua_getlocal(L, ar, i)) != NULL; i++) {
    if (name[0] != '(') {
      name_value(L, f, name);
      close_tables(f);
      if (lua_type(L, -1) == LUA_TTABLE) object_fields(L, f, name);
      close_tables(f);
    }
    lua_pop(L, 1);
  }
  lua_getinfo(L, "f", ar);
  for (i = 1; (name = lua_getupvalue(L, -1, i)) != NULL; i++) {
    if (strcmp(name, "_ENV") == 0 && lua_type(L, -1) == LUA_TTABLE)
      table_fields(L, f, "");
    else name_value(L, f, name);
    close_tables(f);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* Does an input want a name still? */
static bool any_unnamed (const Find *f) {
  for (int i = 0; i < f->n; i++) if (f->out[i] == NULL) return true;
  return false;
}

/* Every frame of the script's, innermost first. */
static void each_frame (lua_State *L, Find *f,
                        void (*look) (lua_State *, lua_Debug *, Find *)) {
  lua_Debug ar;
  for (int level = 0; level < 64 && lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "Sl", &ar);
    if (ar.currentline < 0 || dtL_is_ours(ar.source)) continue;
    look(L, &ar, f);
    close_tables(f);
  }
}

/* The prompt's locals, which a program may have left, on top of the globals. */
static void push_outer (lua_State *L) {
  lua_pushglobaltable(L);
  lua_getfield(L, LUA_REGISTRYINDEX, DTL_PROMPT_LOCALS);
  if (lua_istable(L, -1)) return;
  lua_pop(L, 1);
  lua_newtable(L);
}

static int find_protected (lua_State *L) {
  Find *f = (Find *)lua_touserdata(L, 1);
  luaL_checkstack(L, 16, "names of tensors");
  each_frame(L, f, name_frame);
  push_outer(L);
  for (int i = 0; i < 2; i++, lua_pop(L, 1)) table_fields(L, f, "");
  close_tables(f);
  if (any_unnamed(f)) each_frame(L, f, frame_modules);
  if (!any_unnamed(f)) return 0;
  push_outer(L);
  for (int i = 0; i < 2; i++, lua_pop(L, 1)) modules_of(L, f);
  close_tables(f);
  return 0;
}

/* The engine asks in the middle of its work: where Lua has no memory for it, a
** name is not found, and nothing jumps over what the engine holds. */
void dtL_find_names (lua_State *L, int n, DtVar *const *v, const char **out) {
  DtCtx *cx = dtL_session(L)->cx;
  DtArenaMark top = dt_arena_mark(&cx->scratch);
  Find f = { n, v, out, DT_ANEWN(cx, &cx->scratch, bool, n), false };
  if (f.open != NULL && lua_checkstack(L, 4)) {
    lua_pushcfunction(L, find_protected);
    lua_pushlightuserdata(L, &f);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK) lua_pop(L, 1);
  }
  dt_arena_release(&cx->scratch, top);
  dt_error_clear(cx);
}

/* --- what the line says --- */

static const char key_operands[] = "dt.python.operands";

/* dt._python_operands(f): f(scope, file, line, operator, inputs) says what
** stands in a line of Python for inputs (lua/python/operands.lua). */
static int l_operands (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, key_operands);
  return 0;
}

/* The innermost statement of the program: its scope pushed, its place in `ar`.
** False, and nothing is pushed: it is none of Python's. */
static bool push_python_frame (lua_State *L, lua_Debug *ar) {
  for (int level = 0; level < 64 && lua_getstack(L, level, ar); level++) {
    lua_getinfo(L, "Sl", ar);
    if (ar->currentline < 0 || dtL_is_ours(ar->source)) continue;
    return ar->source[0] == '@' && dtL_py_scope(L, ar);
  }
  return false;
}

/* What the function of l_operands() is told of an input. */
static void push_input (lua_State *L, const DtFailed *f, int slot,
                        const char *file) {
  const DtVar *v = f->in[slot];
  int pos, at = dt_slot_index(&f->args, slot);
  lua_createtable(L, 0, 6);
  dtL_share_tensor(L, f->in[slot]);
  lua_setfield(L, -2, "tensor");
  dtL_set_str(L, "arg", dt_slot_arg(&f->args, slot, &pos));
  dtL_set_int(L, "pos", pos);
  if (at >= 0) dtL_set_int(L, "at", at);
  if (v->origin.op) dtL_set_str(L, "op", v->origin.op);
  if (v->origin.file && strcmp(v->origin.file, file) == 0)
    dtL_set_int(L, "line", v->origin.line);
}

/* The recorded call that made a tensor in this line, or NULL. */
static const DtRecOp *made_here (DtDebug *d, int64_t seq, const lua_Debug *ar) {
  const DtRecOp *r = seq > 0 ? dt_record_find(d, seq) : NULL;
  return r && r->seq == seq && r->op && r->line == ar->currentline && r->file &&
         strcmp(r->file, ar->source + 1) == 0 ? r : NULL;
}

/* The one input of a recorded call that is distributed, or plain, as asked for;
** NULL: none, or several. */
static const DtRecVar *only_input (const DtRecOp *r, bool dist) {
  const DtRecVar *one = NULL;
  for (int i = 0; i < r->nin; i++) {
    if (r->in[i].none || (r->in[i].spec != NULL) != dist) continue;
    if (one) return NULL;
    one = &r->in[i];
  }
  return one;
}

/* What the line says for the tensor that functions called in it made input v
** of, one from the other, and whether it is a module's parameter; the list of
** what the line holds is on the top. */
static const char *made_of (lua_State *L, DtDebug *d, const DtVar *v,
                            const lua_Debug *ar, bool *param) {
  const char *found = NULL;
  int64_t seq = v->origin.seq;
  for (int deep = 0; deep < 8 && found == NULL; deep++) {
    const DtRecOp *r = made_here(d, seq, ar);
    const DtRecVar *in = r ? only_input(r, v->spec != NULL) : NULL;
    if (in == NULL) return NULL;
    seq = in->origin.seq;
    for (int i = 1; found == NULL && lua_rawgeti(L, -1, i) == LUA_TTABLE; i++) {
      lua_rawgeti(L, -1, 1);
      lua_rawgeti(L, -2, 2);
      if (dtL_test_tensor(L, -2) && dtL_test_tensor(L, -2)->id == in->id) {
        found = dt_session_intern(dtL_session(L), lua_tostring(L, -1));
        lua_rawgeti(L, -3, 3);
        *param = lua_toboolean(L, -1);
        lua_pop(L, 1);
      }
      lua_pop(L, 3);
    }
    if (found == NULL) lua_pop(L, 1);
  }
  return found;
}

/* (DtFailed *): runs protected, for Lua may have no memory. */
static int name_operands (lua_State *L) {
  DtFailed *f = (DtFailed *)lua_touserdata(L, 1);
  DtDebug *d = dt_debug_of(dtL_session(L));
  lua_Debug ar;
  if (lua_getfield(L, LUA_REGISTRYINDEX, key_operands) != LUA_TFUNCTION ||
      !push_python_frame(L, &ar)) return 0;
  lua_pushstring(L, ar.source + 1);
  lua_pushinteger(L, ar.currentline);
  lua_pushstring(L, f->op->sig->full);
  lua_newtable(L);
  for (int i = 0; i < f->nin; i++) {
    push_input(L, f, i, ar.source + 1);
    lua_rawseti(L, -2, i + 1);
  }
  lua_call(L, 5, 2);
  for (int i = 0; i < f->nin; i++) {
    lua_rawgeti(L, -2, i + 1);
    if (lua_type(L, -1) == LUA_TSTRING)
      f->said[i] = dt_session_intern(dtL_session(L), lua_tostring(L, -1));
    lua_pop(L, 1);
    if (d && !f->said[i]) f->of[i] = made_of(L, d, f->in[i], &ar, &f->param[i]);
  }
  return 0;
}

/* (Find *): names by the modules of the program alone, runs protected. */
static int find_in_modules (lua_State *L) {
  Find *f = (Find *)lua_touserdata(L, 1);
  luaL_checkstack(L, 16, "names of parameters");
  each_frame(L, f, frame_modules);
  lua_pushglobaltable(L);
  modules_of(L, f);
  lua_pop(L, 1);
  return 0;
}

/* Parameters that the line does not say: a variable that still holds one, of a
** loop that is over, is not what an optimizer's list is called by. */
static void name_parameters (lua_State *L, DtFailed *f) {
  DtCtx *cx = dtL_session(L)->cx;
  DtArenaMark top = dt_arena_mark(&cx->scratch);
  const char **out = DT_ANEWN(cx, &cx->scratch, const char *, f->nin + 1);
  Find k = { f->nin, f->in, out, DT_ANEWN(cx, &cx->scratch, bool, f->nin + 1),
             false };
  if (out && k.open) {
    lua_pushcfunction(L, find_in_modules);
    lua_pushlightuserdata(L, &k);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK) lua_pop(L, 1);
    for (int i = 0; i < f->nin; i++) {
      size_t n = out[i] ? strlen(out[i]) : 0;
      if (n == 0 || f->said[i]) continue;
      if (f->name[i] == NULL || dt_slot_index(&f->args, i) >= 0)
        f->name[i] = out[i];
      f->param[i] = strcmp(f->name[i], out[i]) == 0 &&
                    (n < 5 || strcmp(out[i] + n - 5, ".grad") != 0);
    }
  }
  dt_arena_release(&cx->scratch, top);
  dt_error_clear(cx);
}

void dtL_name_failed (lua_State *L, DtFailed *f) {
  int top = lua_gettop(L);
  dtL_find_names(L, f->nin, f->in, f->name);
  if (!f->python || !lua_checkstack(L, 8)) return;
  lua_pushcfunction(L, name_operands);
  lua_pushlightuserdata(L, f);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) lua_settop(L, top);
  name_parameters(L, f);
  for (int i = 0; i < f->nin; i++)
    if (f->name[i] == NULL) f->name[i] = f->said[i];
}

void dtL_open_names (lua_State *L, int dt) {
  lua_pushcfunction(L, l_operands);
  lua_setfield(L, dt, "_python_operands");
}
