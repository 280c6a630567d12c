/* SPDX-License-Identifier: MIT
** bind/l_base.c: what differs from plain Lua: print goes to a buffer of the
** shell, pairs has one order on all ranks, files and processes are limited. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bind/bind.h"

/* As luaL_tolstring, but what Lua would show by its address gets a number in
** the order of being shown: the same on all ranks and in every run. */
static const char *to_text (lua_State *L, int idx, size_t *len) {
  lua_Integer n;
  int t = lua_type(L, idx);
  if ((t != LUA_TTABLE && t != LUA_TFUNCTION && t != LUA_TTHREAD
       && t != LUA_TUSERDATA)
      || luaL_getmetafield(L, idx, "__tostring") != LUA_TNIL) {
    if (t == LUA_TTABLE || t == LUA_TUSERDATA) lua_pop(L, 1);
    return luaL_tolstring(L, idx, len);
  }
  idx = lua_absindex(L, idx);
  lua_getfield(L, LUA_REGISTRYINDEX, "dt.shown");
  lua_pushvalue(L, idx);
  if (lua_rawget(L, -2) == LUA_TNIL) {
    lua_rawgeti(L, -2, 1);
    n = lua_tointeger(L, -1) + 1;
    lua_pushinteger(L, n);
    lua_rawseti(L, -4, 1);
    lua_pushvalue(L, idx);
    lua_pushinteger(L, n);
    lua_rawset(L, -5);
    lua_pop(L, 1);
  } else n = lua_tointeger(L, -1);
  lua_pop(L, 2);
  if (luaL_getmetafield(L, idx, "__name") == LUA_TSTRING)
    lua_pushfstring(L, "%s: #%I", lua_tostring(L, -1), (LUAI_UACINT)n),
      lua_remove(L, -2);
  else lua_pushfstring(L, "%s: #%I", lua_typename(L, t), (LUAI_UACINT)n);
  return lua_tolstring(L, -1, len);
}

static int b_tostring (lua_State *L) {
  luaL_checkany(L, 1);
  (void)to_text(L, 1, NULL);
  return 1;
}

/* What ranks print is folded and carried as texts that end at a zero byte: a
** zero of the program's would cut off all that is printed behind it. */
static void add_printed (DtBuf *out, const char *s, size_t len) {
  const char *zero;
  while ((zero = memchr(s, '\0', len)) != NULL) {
    dt_buf_addn(out, s, (size_t)(zero - s));
    dt_buf_add(out, "\\0");
    len -= (size_t)(zero - s) + 1;
    s = zero + 1;
  }
  dt_buf_addn(out, s, len);
}

static int b_print (lua_State *L) {
  DtBuf *out = dtL_out(L);
  int n = lua_gettop(L), i;
  for (i = 1; i <= n; i++) {
    size_t len;
    const char *s = to_text(L, i, &len);
    if (i > 1) dt_buf_addc(out, '\t');
    add_printed(out, s, len);
    lua_pop(L, 1);
  }
  dt_buf_addc(out, '\n');
  if (dt_buf_ok(out) != DT_OK) return dtL_raise(L);
  DtBind *k = dtL_state(L);
  if (k->on_print != NULL) k->on_print(k->on_print_ud);
  return 0;
}

/* --- pairs: integers, then strings in byte order, then the rest --- */

static int key_class (lua_State *L, int idx) {
  if (lua_type(L, idx) == LUA_TNUMBER) return 0;
  if (lua_type(L, idx) == LUA_TSTRING) return 1;
  if (lua_type(L, idx) == LUA_TBOOLEAN) return 2;
  return 3;
}

static int key_less (lua_State *L) {        /* table.sort comparator */
  int a = key_class(L, 1), b = key_class(L, 2);
  if (a != b) lua_pushboolean(L, a < b);
  else if (a < 2) lua_pushboolean(L, lua_compare(L, 1, 2, LUA_OPLT));
  else if (a == 2) lua_pushboolean(L, !lua_toboolean(L, 1)
                                      && lua_toboolean(L, 2));
  else lua_pushboolean(L, 0);
  return 1;
}

/* Closure: upvalue 1 the table, 2 the sorted keys, 3 the position. */
static int pairs_next (lua_State *L) {
  lua_Integer i = lua_tointeger(L, lua_upvalueindex(3));
  for (;;) {
    lua_pushinteger(L, ++i);
    lua_replace(L, lua_upvalueindex(3));
    if (lua_geti(L, lua_upvalueindex(2), i) == LUA_TNIL) return 1;
    lua_pushvalue(L, -1);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 2;
    lua_pop(L, 2);                          /* removed meanwhile */
  }
}

/* Keys of 1..n and nothing else need no sorting.  As many keys as the length
** says are not enough: with holes the length is any border. */
static bool is_sequence (lua_State *L, int t, lua_Integer *count) {
  lua_Integer n = (lua_Integer)lua_rawlen(L, t), seen = 0;
  lua_pushnil(L);
  while (lua_next(L, t)) {
    lua_pop(L, 1);
    seen++;
    if (seen > n || !lua_isinteger(L, -1) || lua_tointeger(L, -1) < 1 ||
        lua_tointeger(L, -1) > n) {
      lua_pop(L, 1);
      return false;
    }
  }
  *count = n;
  return seen == n;
}

/* Upvalue 1: how many there were; fields may become nil on the way. */
static int seq_next (lua_State *L) {
  lua_Integer i = luaL_optinteger(L, 2, 0);
  lua_Integer n = lua_tointeger(L, lua_upvalueindex(1));
  while (++i <= n) {
    lua_pushinteger(L, i);
    if (lua_rawgeti(L, 1, i) != LUA_TNIL) return 2;
    lua_pop(L, 2);
  }
  lua_pushnil(L);
  return 1;
}

/* pairs() in the same order in every run and on every rank: Lua's own order
** follows addresses, so ranks would call collectives in different orders.
** Sequences go by index, every other table by its sorted keys, copied before
** the loop begins: a body may write to the table. */
static int b_pairs (lua_State *L) {
  lua_Integer n = 0;
  luaL_checkany(L, 1);
  if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
    lua_pushvalue(L, 1);
    lua_call(L, 1, 3);
    return 3;
  }
  luaL_checktype(L, 1, LUA_TTABLE);
  if (is_sequence(L, 1, &n)) {
    lua_pushinteger(L, n);
    lua_pushcclosure(L, seq_next, 1);
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    return 3;
  }
  lua_settop(L, 1);
  lua_newtable(L);
  lua_pushnil(L);
  for (n = 1; lua_next(L, 1); n++) {
    lua_pop(L, 1);
    lua_pushvalue(L, -1);
    lua_rawseti(L, 2, n);
  }
  lua_getfield(L, LUA_REGISTRYINDEX, "dt.sort");
  lua_pushvalue(L, 2);
  lua_pushcfunction(L, key_less);
  lua_call(L, 2, 0);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, pairs_next, 3);
  return 1;
}

/* --- limits --- */

bool dtL_path_is_below (const char *p) {
  const char *s = p;
  if (*p == '/' || *p == '\0') return false;
  while (s) {
    const char *e = strchr(s, '/');
    size_t n = e ? (size_t)(e - s) : strlen(s);
    if (n == 2 && s[0] == '.' && s[1] == '.') return false;
    s = e ? e + 1 : NULL;
  }
  return true;
}

const char *dtL_temp_root (void) {
  const char *root = getenv("TMPDIR");
  return root != NULL && *root == '/' ? root : "/tmp";
}

/* Below a folder that dt._temp_dir made, on this rank or another. */
static bool path_is_temp (const char *p) {
  const char *root = dtL_temp_root();
  size_t n = strlen(root), k = strlen(DTL_TEMP_NAME);
  return strncmp(p, root, n) == 0 && p[n] == '/' &&
         strncmp(p + n + 1, DTL_TEMP_NAME, k) == 0 &&
         dtL_path_is_below(p + n + 1);
}

/* The working folder's own name before a path that stays below it. */
static bool path_is_here (const char *p) {
  char here[PATH_MAX];
  size_t n;
  if (*p != '/' || getcwd(here, sizeof here) == NULL) return false;
  n = strlen(here);
  return n > 1 && strncmp(p, here, n) == 0 && p[n] == '/' &&
         dtL_path_is_below(p + n + 1);
}

void dtL_check_path (lua_State *L, const char *path) {
  const DtBindOpts *o = &dtL_state(L)->o;
  if (o->trust) return;
  if (o->sandbox)
    dtL_errorf(L, DT_E_SANDBOX, "no files in the sandbox: %s", path);
  if (!dtL_path_is_below(path) && !path_is_temp(path) && !path_is_here(path))
    dtL_errorf(L, DT_E_SANDBOX, "'%s' lies outside the working folder; run "
               "with --trust to allow it", path);
}

/* Call the original function (upvalue 1) after looking at a path. */
static int checked_path (lua_State *L) {
  dtL_check_path(L, luaL_checkstring(L, 1));
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static int raise_refusal (lua_State *L) {
  return dtL_errorf(L, DT_E_SANDBOX, "%s is not available; run with --trust "
                    "to allow it", lua_tostring(L, lua_upvalueindex(1)));
}

/* load(chunk, name, mode, env): text only. */
static int b_load (lua_State *L) {
  if (lua_gettop(L) < 3) lua_settop(L, 3);
  lua_pushliteral(L, "t");
  lua_replace(L, 3);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static void exit_again (lua_State *L, lua_Debug *ar) {
  (void)ar;
  dtL_errorf(L, DT_E_INTERRUPTED, "exit");
}

/* os.exit: the shell ends the ranks together; no pcall outlives it. */
static int b_exit (lua_State *L) {
  DtBind *b = dtL_state(L);
  b->exiting = true;
  b->exit_code = lua_isnoneornil(L, 1) || lua_isboolean(L, 1)
    ? (lua_isnoneornil(L, 1) || lua_toboolean(L, 1) ? 0 : 1)
    : (int)luaL_checkinteger(L, 1);
  lua_sethook(L, exit_again, LUA_MASKCOUNT | LUA_MASKLINE, 1);
  if (L != b->L) lua_sethook(b->L, exit_again, LUA_MASKCOUNT | LUA_MASKLINE, 1);
  return dtL_errorf(L, DT_E_INTERRUPTED, "exit");
}

static void wrap_library_function (lua_State *L, const char *lib,
                                   const char *name, lua_CFunction f) {
  lua_getglobal(L, lib);
  lua_getfield(L, -1, name);
  lua_pushcclosure(L, f, 1);
  lua_setfield(L, -2, name);
  lua_pop(L, 1);
}

static void refuse_library_function (lua_State *L, const char *lib,
                                     const char *name) {
  lua_getglobal(L, lib);
  lua_pushfstring(L, "%s.%s", lib, name);
  lua_pushcclosure(L, raise_refusal, 1);
  lua_setfield(L, -2, name);
  lua_pop(L, 1);
}

/* What a program that is not trusted loses: files go through checked_path, and
** what could leave the sandbox (processes, hooks, the registry, metatables of
** basic types) raises by name. */
static void open_limits (lua_State *L) {
  static const char *const files[] = { "io.open", "io.lines", "io.input",
                                       "io.output", "os.remove", NULL };
  static const char *const never[] = { "os.execute", "io.popen", "os.tmpname",
    "os.rename", "io.tmpfile", "os.setlocale", "debug.sethook",
    "debug.setmetatable", "debug.setuservalue", "debug.upvaluejoin",
    "debug.getregistry", "debug.debug", NULL };
  char lib[16];
  int i;
  for (i = 0; files[i]; i++) {
    const char *dot = strchr(files[i], '.');
    memcpy(lib, files[i], (size_t)(dot - files[i]));
    lib[dot - files[i]] = '\0';
    wrap_library_function(L, lib, dot + 1, checked_path);
  }
  for (i = 0; never[i]; i++) {
    const char *dot = strchr(never[i], '.');
    memcpy(lib, never[i], (size_t)(dot - never[i]));
    lib[dot - never[i]] = '\0';
    refuse_library_function(L, lib, dot + 1);
  }
  wrap_library_function(L, "_G", "dofile", checked_path);
  wrap_library_function(L, "_G", "loadfile", checked_path);
}

/* The order matters: "dt.sort" keeps table.sort before a program can replace
** it, and `load` is wrapped after the limits, which look it up by name. */
void dtL_open_base (lua_State *L) {
  static const luaL_Reg funcs[] = { {"pairs", b_pairs}, {"print", b_print},
                                    {"tostring", b_tostring}, {NULL, NULL} };
  lua_getglobal(L, "table");
  lua_getfield(L, -1, "sort");
  lua_setfield(L, LUA_REGISTRYINDEX, "dt.sort");
  lua_newtable(L);                          /* weak keys: to_text's numbers */
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_setfield(L, LUA_REGISTRYINDEX, "dt.shown");
  lua_pop(L, 1);
  lua_pushglobaltable(L);
  luaL_setfuncs(L, funcs, 0);
  lua_pop(L, 1);
  if (!dtL_state(L)->o.trust) {
    open_limits(L);
    wrap_library_function(L, "_G", "load", b_load);
  }
  lua_getglobal(L, "os");
  lua_pushcfunction(L, b_exit);
  lua_setfield(L, -2, "exit");
  lua_pop(L, 1);
  lua_getglobal(L, "math");                 /* the same numbers everywhere */
  lua_getfield(L, -1, "randomseed");
  lua_pushinteger(L, 0);
  lua_call(L, 1, 0);
  lua_pop(L, 1);
}
