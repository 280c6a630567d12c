/* SPDX-License-Identifier: MIT
** bind/l_raised.c: the call of the script's that raised an error: the function
** of the library and what it was given.  :report and :export write it down
** where no operator was recorded, because the call was refused before.
**
** It is looked up while the stack still stands: the frame of the library (or
** of C) that the innermost frame of the script called.  The parameters of a
** C function are the first slots of its frame; what lies behind them is its
** own, so the list ends with what no script would give: a box that is empty
** yet, a table of options that is not the last.  Tensors are kept by the
** number that the record knows them by; tables (with what is in them) and the
** function live until the program goes on or the next error. */
#include <string.h>
#include "bind/bind.h"
#include "bind/field.h"
#include "bind/slots.h"
#include "debug/debug.h"

static bool is_script (const lua_Debug *ar) {
  return ar->currentline >= 0 && !dtL_is_ours(ar->source);
}

/* pcall and xpcall: the error will be caught there. */
static bool is_protected_call (lua_State *L, lua_Debug *ar) {
  bool yes;
  lua_getinfo(L, "f", ar);
  lua_getglobal(L, "pcall");
  lua_getglobal(L, "xpcall");
  yes = lua_rawequal(L, -3, -2) || lua_rawequal(L, -3, -1);
  lua_pop(L, 3);
  return yes;
}

static bool script_at (lua_State *L, int level) {
  lua_Debug ar;
  return lua_getstack(L, level, &ar) && lua_getinfo(L, "Sl", &ar) &&
         is_script(&ar);
}

/* Level of the frame that the script called; 0 when the script raised it
** itself or the library catches it. */
static int find_call (lua_State *L) {
  lua_Debug ar;
  int found = 0;
  for (int level = 1; lua_getstack(L, level, &ar); level++) {
    if (script_at(L, level)) return found;
    if (is_protected_call(L, &ar)) return script_at(L, level + 1) ? found : 0;
    found = level;
  }
  return found;
}

/* Options: a table with a key that is a string. */
static bool has_options (lua_State *L) {
  bool yes = false;
  if (!lua_istable(L, -1)) return false;
  lua_pushnil(L);
  while (!yes && lua_next(L, -2)) {
    yes = lua_type(L, -2) == LUA_TSTRING;
    lua_pop(L, yes ? 2 : 1);
  }
  return yes;
}

/* Put the value on the top into the list; tensors as {id =}. */
static void append_value (lua_State *L, int list, int i) {
  DtVar *v = dtL_test_tensor(L, -1);
  if (v != NULL) {
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    dtL_set_int(L, "id", v->id);
  }
  lua_rawseti(L, list, i);
}

/* A box without its tensor or mesh yet. */
static bool empty_box (lua_State *L) {
  void **p = lua_touserdata(L, -1);
  if (lua_type(L, -1) == LUA_TLIGHTUSERDATA) return true;
  return p != NULL && (luaL_testudata(L, -1, DTL_TENSOR) ||
                       luaL_testudata(L, -1, DTL_MESH)) && *p == NULL;
}

static int c_arguments (lua_State *L, lua_Debug *call, int list) {
  int n = 0;
  while (lua_getlocal(L, call, n + 1) != NULL) {
    bool last = has_options(L);
    if (empty_box(L) || lua_rawequal(L, -1, 1) ||
        (lua_isnil(L, -1) && n > 0)) {
      lua_pop(L, 1);
      break;
    }
    append_value(L, list, ++n);
    if (last) break;
  }
  return n;
}

static int lua_arguments (lua_State *L, lua_Debug *call, int list) {
  int n = 0;
  int given = 0;
  for (int i = 1; i <= call->nparams; i++) {
    if (lua_getlocal(L, call, i) == NULL) break;
    if (!lua_isnil(L, -1)) given = i;
    append_value(L, list, ++n);
  }
  if (!call->isvararg) n = given;
  for (int i = 1; lua_getlocal(L, call, -i) != NULL; i++)
    append_value(L, list, ++n);
  return n;
}

static void copy_field (lua_State *L, int from, const char *key,
                        const char *as) {
  lua_pushstring(L, key);
  lua_rawget(L, from);
  lua_setfield(L, -2, as);
}

/* A C function may have handed all it was given on to the next. */
static int append_arguments (lua_State *L, int level, int list) {
  lua_Debug ar;
  int n = 0;
  for (; n == 0 && level > 0 && lua_getstack(L, level, &ar); level--) {
    lua_getinfo(L, "Su", &ar);
    n = *ar.what == 'C' ? c_arguments(L, &ar, list)
                        : lua_arguments(L, &ar, list);
  }
  return n;
}

/* Keep what is on the top. */
static void keep_raised (lua_State *L) {
  DtBind *b = dtL_state(L);
  if (b->ref_raised == 0) b->ref_raised = luaL_ref(L, LUA_REGISTRYINDEX);
  else lua_rawseti(L, LUA_REGISTRYINDEX, b->ref_raised);
  b->raised = b->s->seq + 1;
}

void dtL_forget_raised (lua_State *L) {
  DtBind *b = dtL_state(L);
  if (b->ref_raised == 0 || !lua_checkstack(L, 1)) return;
  lua_pushboolean(L, 0);        /* nil would free the slot for luaL_ref() */
  lua_rawseti(L, LUA_REGISTRYINDEX, b->ref_raised);
  b->raised = 0;
}

/* The call into the table on the top: what, and with what. */
static void set_call (lua_State *L, lua_Debug *call, int level) {
  int n;
  lua_getinfo(L, "n", call);
  lua_newtable(L);
  n = append_arguments(L, level, lua_gettop(L));
  lua_setfield(L, -2, "args");
  dtL_set_int(L, "n", n);
  if (call->name) dtL_set_str(L, "name", call->name);
  dtL_set_bool(L, "method", strcmp(call->namewhat, "method") == 0);
  dtL_set_bool(L, "meta", strcmp(call->namewhat, "metamethod") == 0);
  lua_getinfo(L, "f", call);
  lua_setfield(L, -2, "call");
}

/* Runs protected: (error object).  Where the program is stopped inside, it is
** noted even if the library catches it on its way. */
static int note_raised (lua_State *L) {
  lua_Debug call;
  int level = find_call(L);
  bool known = level > 0 && lua_getstack(L, level, &call) != 0, stopped;
  lua_pushliteral(L, "stopped");
  lua_rawget(L, 1);
  stopped = lua_toboolean(L, -1);
  lua_settop(L, 1);
  if (!known && !stopped) return 0;
  lua_createtable(L, 0, 12);
  if (known) set_call(L, &call, level);
  dtL_set_int(L, "seq", dtL_session(L)->seq);
  copy_field(L, 1, "message", "message");
  copy_field(L, 1, "reason", "reason");
  copy_field(L, 1, "id", "code");
  copy_field(L, 1, "class", "class");
  copy_field(L, 1, "where", "where");
  dtL_set_bool(L, "stopped", stopped);
  keep_raised(L);
  return 0;
}

void dtL_note_raised (lua_State *L) {
  DtDebug *d = dt_debug_of(dtL_session(L));
  if (d == NULL || d->muted || d->rec.off || !lua_checkstack(L, 16)) return;
  lua_pushcfunction(L, note_raised);
  lua_pushvalue(L, -2);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) lua_pop(L, 1);
}

/* dt.debug.raised() -> the last call that raised: {call = function, args, n,
** name, method, meta, seq = operators before, message, reason, code, class,
** where, stopped = true inside of it}; nothing when none did, or operators of
** the program came after it.  Local. */
static int l_raised (lua_State *L) {
  const DtBind *b = dtL_state(L);
  if (b->raised == 0) lua_pushnil(L);
  else lua_rawgeti(L, LUA_REGISTRYINDEX, b->ref_raised);
  return 1;
}

void dtL_open_raised (lua_State *L, int dt) {
  lua_getfield(L, dt, "debug");
  lua_pushcfunction(L, l_raised);
  lua_setfield(L, -2, "raised");
  lua_pop(L, 1);
}
