/* SPDX-License-Identifier: MIT
** bind/pyframe.c: variables of Python programs, where stops, errors and the
** record look for those of Lua functions. */
#include "bind/pyframe.h"

#include <string.h>
#include "debug/control.h"

static const char key_selected[] = "dt.python.scope";
static const char key_past[] = "dt.python.past";
static const char *const keys[DTL_PY_KEYS] = {"vars", "up", "scope", "name"};

bool dtL_py_scope (lua_State *co, const lua_Debug *ar) {
  const char *name;
  if (dtL_state(co)->ref_py[0] == 0 ||
      (name = lua_getlocal(co, ar, 1)) == NULL) return false;
  if (lua_type(co, -1) == LUA_TTABLE && strcmp(name, "python_scope") == 0)
    return true;
  lua_pop(co, 1);
  return false;
}

void dtL_py_get (lua_State *co, int idx, DtPyKey key) {
  idx = lua_absindex(co, idx);
  lua_rawgeti(co, LUA_REGISTRYINDEX, dtL_state(co)->ref_py[key]);
  lua_rawget(co, idx);
}

bool dtL_py_up (lua_State *co) {
  dtL_py_get(co, -1, DT_PY_UP);
  lua_remove(co, -2);
  if (lua_istable(co, -1)) return true;
  lua_pop(co, 1);
  return false;
}

bool dtL_py_holder (lua_State *co, const char *name) {
  do {
    dtL_py_get(co, -1, DT_PY_VARS);
    if (lua_istable(co, -1)) {
      lua_pushstring(co, name);
      if (lua_rawget(co, -2) != LUA_TNIL) {
        lua_pop(co, 1);
        lua_remove(co, -2);
        return true;
      }
      lua_pop(co, 1);
    }
    lua_pop(co, 1);
  } while (dtL_py_up(co));
  return false;
}

/* --- the variables of one scope ------------------------------------------- */

/* Push the outline that dt._python_frames() gave for the table at `idx`. */
static void push_outline (lua_State *co, int idx) {
  idx = lua_absindex(co, idx);
  lua_rawgeti(co, LUA_REGISTRYINDEX, dtL_state(co)->ref_py_data);
  lua_pushvalue(co, idx);
  if (lua_pcall(co, 1, 1, 0) == LUA_OK) return;
  lua_pop(co, 1);
  lua_pushboolean(co, 1);
}

/* Is what is on the top no function, class or module? */
static bool is_data (lua_State *co) {
  bool data;
  if (lua_type(co, -1) == LUA_TFUNCTION) return false;
  if (lua_type(co, -1) != LUA_TTABLE) return true;
  push_outline(co, -1);
  data = lua_toboolean(co, -1);
  lua_pop(co, 1);
  return data;
}

bool dtL_py_outline (lua_State *L, int idx, DtBuf *out) {
  bool text;
  if (dtL_state(L)->ref_py[0] == 0 || !lua_istable(L, idx)) return false;
  push_outline(L, idx);
  text = lua_type(L, -1) == LUA_TSTRING;
  if (text) dt_buf_add(out, lua_tostring(L, -1));
  lua_pop(L, 1);
  return text;
}

static int sort_names (lua_State *co) {
  lua_getglobal(co, "table");
  lua_getfield(co, -1, "sort");
  lua_pushvalue(co, 1);
  lua_call(co, 1, 0);
  return 0;
}

/* The variables of a Python frame as a sorted list of names with their values
** beside; dunder names and functions, which a person did not set, are left
** out. */
void dtL_py_locals (lua_State *co) {
  int out, vars;
  dtL_py_get(co, -1, DT_PY_VARS);
  lua_remove(co, -2);
  lua_newtable(co);
  lua_insert(co, -2);
  vars = lua_gettop(co);
  out = vars - 1;
  if (lua_istable(co, vars)) {
    lua_pushnil(co);
    while (lua_next(co, vars)) {
      if (lua_type(co, -2) == LUA_TSTRING && is_data(co) &&
          strncmp(lua_tostring(co, -2), "__", 2) != 0) {
        lua_pushvalue(co, -2);
        lua_rawseti(co, out, (lua_Integer)lua_rawlen(co, out) + 1);
        lua_pushvalue(co, -2);
        lua_pushvalue(co, -2);
        lua_rawset(co, out);
      }
      lua_pop(co, 1);
    }
  }
  lua_settop(co, out);
  lua_pushcfunction(co, sort_names);
  lua_pushvalue(co, out);
  if (lua_pcall(co, 1, 0, 0) != LUA_OK) lua_pop(co, 1);
}

/* --- the frame that lines see --------------------------------------------- */

void dtL_py_select (lua_State *L, lua_State *co, const lua_Debug *ar) {
  if (ar != NULL && dtL_py_scope(co, ar)) {
    if (co != L) lua_xmove(co, L, 1);
  } else {
    lua_pushnil(L);
  }
  lua_setfield(L, LUA_REGISTRYINDEX, key_selected);
}

void dtL_py_leave (lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, key_selected);
  if (lua_istable(L, -1)) {
    lua_pushvalue(L, -1);
    while (dtL_py_up(L)) lua_copy(L, -1, -2);
  }
  lua_setfield(L, LUA_REGISTRYINDEX, key_selected);
  dtL_py_past(L, false);
}

void dtL_py_past (lua_State *L, bool past) {
  if (past) lua_pushvalue(L, -1);
  else lua_pushnil(L);
  lua_setfield(L, LUA_REGISTRYINDEX, key_past);
}

/* dt._python_scope() -> the scope of the frame of Python that a stop looks at,
** or nil; the environment of the past it looks at, or nil; is a program under
** way? */
static int l_scope (lua_State *L) {
  const DtControl *c = dt_control_of(dtL_state(L)->s);
  lua_getfield(L, LUA_REGISTRYINDEX, key_selected);
  lua_getfield(L, LUA_REGISTRYINDEX, key_past);
  lua_pushboolean(L, c && c->attached);
  return 3;
}

/* dt._python_frames(outline): there are statements of Python from now on;
** outline(table): false for a function, class or module, a text for what has
** items, true for other values. */
static int l_frames (lua_State *L) {
  DtBind *b = dtL_state(L);
  int i;
  luaL_checktype(L, 1, LUA_TFUNCTION);
  if (b->ref_py[0] != 0) return 0;
  lua_settop(L, 1);
  b->ref_py_data = luaL_ref(L, LUA_REGISTRYINDEX);
  for (i = DTL_PY_KEYS - 1; i >= 0; i--) {
    lua_pushstring(L, keys[i]);
    b->ref_py[i] = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  return 0;
}

/* dt._python_reading(yes) -> what it was: lines that are reached while the
** functions of statements are made are not reached by the program. */
static int l_reading (lua_State *L) {
  DtBind *b = dtL_state(L);
  lua_pushboolean(L, b->py_reading);
  b->py_reading = lua_toboolean(L, 1) != 0;
  return 1;
}

void dtL_open_pyframe (lua_State *L, int dt) {
  lua_pushcfunction(L, l_reading);
  lua_setfield(L, dt, "_python_reading");
  lua_pushcfunction(L, l_frames);
  lua_setfield(L, dt, "_python_frames");
  lua_pushcfunction(L, l_scope);
  lua_setfield(L, dt, "_python_scope");
}
