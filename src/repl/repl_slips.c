/* SPDX-License-Identifier: MIT
** repl/repl_slips.c: the right spelling of what a PyTorch user types by habit.
** What is one, and what to write, is lua/repl/slips.lua's business. */
#include "repl/repl_int.h"

#include <ctype.h>
#include <lauxlib.h>
#include <lua.h>
#include <string.h>
#include "repl/cmd.h"

typedef struct Slip { const char *f, *text, *more; DtBuf *diag; } Slip;

/* Protected, with all it makes: memory may run out. */
static int ask_correction (lua_State *L) {
  const Slip *k = lua_touserdata(L, 1);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "repl.slips");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, k->f);
  lua_pushstring(L, k->text);
  lua_pushstring(L, k->more);
  lua_call(L, 2, 1);
  if (lua_isstring(L, -1))
    dt_buf_addf(k->diag, "  %s\n", lua_tostring(L, -1));
  return 0;
}

void dt_slip_hint (lua_State *L, const char *f, const char *text,
                   const char *more, DtBuf *diag) {
  Slip k = {f, text, more, diag};
  if (!lua_checkstack(L, 12) || strlen(text) > 2000)
    return;
  lua_pushcfunction(L, ask_correction);
  lua_pushlightuserdata(L, &k);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK)
    lua_pop(L, 1);
  dt_error_clear(dtL_session(L)->cx);
}

/* At a stop fingers know one letter; elsewhere that is a variable's name. */
enum { SHORT = 2 };

bool dt_slip_command (DtRepl *r, const char *text, DtBuf *diag) {
  const char *s = text + strspn(text, " \t");
  size_t n = 0, gap;
  while (isalpha((unsigned char)s[n])) n++;
  gap = strspn(s + n, " \t");
  bool alone = s[n + gap] == '\0' || s[n + gap] == '\n';
  bool word = gap > 0 && (isalnum((unsigned char)s[n + gap]) ||
                          strchr("_#\"'", s[n + gap]) != NULL);
  if (n == 0 || (!alone && !word) || strchr(s, '\n') != NULL ||
      (n <= SHORT && r->at == NULL) || dt_cmd_named(s, n) == NULL)
    return false;
  dt_buf_addf(diag, "  commands begin with a colon: :%s\n", s);
  return true;
}

/* Is the owner of a field, "x" of "x.T", a tensor or a mesh? */
static bool owner_has_methods (lua_State *L, const char *text) {
  const char *dot = strrchr(text, '.');
  char name[128];
  bool expression, yes = false;
  int top = lua_gettop(L);
  size_t n = dot == NULL ? 0 : (size_t)(dot - text);
  if (n == 0 || n >= sizeof name ||
      strspn(text, " \tabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                   "0123456789_.") != strlen(text))
    return false;
  memcpy(name, text, n);
  name[n] = '\0';
  if (dt_eval_compile(L, name, &expression) && expression &&
      lua_pcall(L, 0, 1, 0) == LUA_OK)
    yes = dtL_test_tensor(L, -1) != NULL || dtL_test_mesh(L, -1) != NULL;
  lua_settop(L, top);
  dt_error_clear(dtL_session(L)->cx);
  return yes;
}

/* "x == y" where x is a tensor: a comparison of elements is meant. */
static bool compares_tensors (lua_State *L, const char *text) {
  size_t n = strcspn(text, "=~");
  char name[128];
  bool expression, yes = false;
  int top = lua_gettop(L);
  if (n == 0 || n >= sizeof name || text[n] == '\0' || text[n + 1] != '=')
    return false;
  memcpy(name, text, n);
  name[n] = '\0';
  if (strspn(name, " \tabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                   "0123456789_.") == n &&
      dt_eval_compile(L, name, &expression) && expression &&
      lua_pcall(L, 0, 1, 0) == LUA_OK)
    yes = dtL_test_tensor(L, -1) != NULL;
  lua_settop(L, top);
  dt_error_clear(dtL_session(L)->cx);
  return yes;
}

/* A field of the library that is not there: names near it, as for its call. */
static void add_near (lua_State *L, const char *text, DtBuf *diag) {
  const char *dot = strrchr(text, '.');
  DtBuf report;
  if (dot == NULL)
    return;
  dt_buf_init(&report, dtL_session(L)->cx);
  dt_buf_addf(&report, "prompt:%d: a nil value (field '%.*s')\n",
              dtL_state(L)->floor.line, (int)strcspn(dot + 1, " \t\n"),
              dot + 1);
  size_t from = report.len;
  dt_near_hint(L, &report, 0);
  if (!report.oom && report.len > from)
    dt_buf_add(diag, dt_buf_str(&report) + from);
  dt_buf_fini(&report);
}

/* "losses[0]" or "state["lr"]" of what Python made: Lua reads it otherwise. */
static bool slip_python (lua_State *L, const char *text, DtBuf *diag) {
  size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                          "0123456789_");
  char name[128];
  bool expression, yes = false;
  int top = lua_gettop(L);
  if (n == 0 || n >= sizeof name || text[n] != '[' || strchr(text, '\n') != NULL)
    return false;
  memcpy(name, text, n);
  name[n] = '\0';
  if (dt_eval_compile(L, name, &expression) && expression &&
      lua_pcall(L, 0, 1, 0) == LUA_OK && lua_istable(L, -1) &&
      luaL_getmetafield(L, -1, "__name") == LUA_TSTRING) {
    const char *kind = lua_tostring(L, -1);
    yes = strcmp(kind, "dict") == 0 || strcmp(kind, "list") == 0 ||
          strcmp(kind, "tuple") == 0;
    if (yes)
      dt_buf_addf(diag, "  %s is a %s of Python: :python %s\n", name, kind, text);
  }
  lua_settop(L, top);
  dt_error_clear(dtL_session(L)->cx);
  return yes;
}

void dt_slip_value (lua_State *L, int idx, const char *text, DtBuf *diag) {
  size_t before = diag->len;
  DtRepl *r = dtL_state(L)->stop_ud;
  if (lua_isnil(L, idx)) {
    if (slip_python(L, text, diag)) return;
    dt_slip_hint(L, "value", text, "nil", diag);
    if (diag->len == before && r != NULL)
      dt_slip_command(r, text, diag);
    else if (diag->len > before)
      add_near(L, text, diag);
  } else if (lua_isboolean(L, idx) && compares_tensors(L, text))
    dt_slip_hint(L, "value", text, "tensors", diag);
  else if (lua_isfunction(L, idx) && owner_has_methods(L, text))
    dt_slip_hint(L, "value", text, "method", diag);
}
