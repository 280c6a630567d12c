/* SPDX-License-Identifier: MIT
** test_embed.c: the library that is compiled into the program loads from its
** compiled form only where that fits, and says the same lines either way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>
#include <string.h>
#include "bind/bind.h"
#include "bind/embed.h"
#include "bind/tree.h"

/* Text and code differ, so that the answer tells which one was loaded. */
#define TEXT "return 'text'"
#define CODE "return 'code'"

typedef struct Case { lua_State *L; char release[16]; } Case;

/* What Lua compiled something to: names, constants, lines and all. */
typedef struct Code { size_t n; char byte[1 << 20]; } Code;

static int add (lua_State *L, const void *p, size_t n, void *ud) {
  Code *code = ud;
  (void)L;
  if (n > sizeof code->byte - code->n) return 1;
  memcpy(code->byte + code->n, p, n);
  code->n += n;
  return 0;
}

/* "Lua 5.4.6", the release that runs. */
static void setup (Case *c) {
  const char *at = strstr(lua_ident, "Lua 5");
  size_t n = strcspn(at + 4, " ") + 4;
  c->L = luaL_newstate();
  luaL_openlibs(c->L);
  assert_true(n < sizeof c->release);
  memcpy(c->release, at, n);
  c->release[n] = '\0';
}

/* What the module's main function returns when its code is the first `n`
** bytes of CODE compiled, byte `at` of it another (-1: none). */
static char answer (Case *c, const char *release, size_t n, int at) {
  lua_State *L = c->L;
  static Code code;
  code.n = 0;
  lua_settop(L, 0);
  assert_int_equal(luaL_loadbufferx(L, CODE, sizeof CODE - 1, "=[x]", "t"), 0);
  assert_int_equal(lua_dump(L, add, &code, 0), 0);
  if (at >= 0) code.byte[at] ^= 1;
  DtEmbed m = {"x", "x.lua", TEXT, sizeof TEXT - 1, code.byte,
               n < code.n ? n : code.n};
  dtL_load_embed(L, &m, release);
  assert_int_equal(lua_gettop(L), 2);
  lua_call(L, 0, 1);
  return *lua_tostring(L, -1);
}

static void test_falls_back (void **state) {
  Case c;
  (void)state;
  setup(&c);
  const size_t all = SIZE_MAX;
  assert_int_equal(answer(&c, c.release, all, -1), 'c');
  assert_int_equal(answer(&c, "", all, -1), 't');
  assert_int_equal(answer(&c, "Lua 5.4.", all, -1), 't');
  assert_int_equal(answer(&c, "Lua 5.3.6", all, -1), 't');
  /* signature, version, format, the bytes that show damage, sizes, numbers */
  for (int i = 0; i < 31; i++)
    assert_int_equal(answer(&c, c.release, all, i), 't');
  for (size_t n = 0; n < 60; n += 3)
    assert_int_equal(answer(&c, c.release, n, -1), 't');
  lua_close(c.L);
}

/* Push the name of the chunk on the top and the table of its lines. */
static void push_lines (lua_State *L, lua_Debug *ar) {
  lua_pushvalue(L, -1);
  assert_int_equal(lua_getinfo(L, ">SL", ar), 1);
}

/* Every module is the same from code and from text: its instructions, constants
** and the lines of its functions; of the chunk itself its name and every line.
** Names of variables differ: scripts/bytecode.lua leaves out most. */
static void test_every_module (void **state) {
  static Code code[2];
  Case c;
  size_t n;
  (void)state;
  setup(&c);
  const DtEmbed *all = dt_embed_all(&n);
  assert_true(n > 100);
  for (size_t i = 0; i < n; i++) {
    assert_ptr_equal(dt_embed_find(all[i].name), &all[i]);
    if (strncmp(all[i].name, "py:", 3) == 0) continue;   /* Python's texts */
    lua_Debug ar[2];
    for (int with = 0; with < 2; with++) {
      code[with].n = 0;
      dtL_load_embed(c.L, &all[i], with ? dt_embed_release() : "");
      assert_int_equal(lua_dump(c.L, add, &code[with], 1), 0);
      push_lines(c.L, &ar[with]);
      lua_remove(c.L, -2);
    }
    assert_int_equal(code[0].n, code[1].n);
    assert_memory_equal(code[0].byte, code[1].byte, code[0].n);
    assert_string_equal(ar[0].source, ar[1].source);
    for (int t = -1; t >= -2; t--)
      for (lua_pushnil(c.L); lua_next(c.L, t - 1) != 0; lua_pop(c.L, 1)) {
        lua_pushvalue(c.L, -2);
        lua_rawget(c.L, t == -1 ? -5 : -4);
        assert_true(lua_toboolean(c.L, -1));
        lua_pop(c.L, 1);
      }
    lua_pop(c.L, 2);
  }
  lua_close(c.L);
}

static int load_bad (lua_State *L) {
  dtL_load_embed(L, lua_touserdata(L, 1), "");
  return 1;
}

static void test_errors (void **state) {
  Case c;
  (void)state;
  setup(&c);
  /* The name in messages; all but the shell's are told from a script by it. */
  static const char *const names[][2] = {
    {"a.b", "[dt:a.b]:2: "}, {"dt.nn", "[dt.nn]:2: "},
    {"repl.slips", "[repl.slips]:2: "},
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    DtEmbed m = {names[i][0], "a/b.lua", "return\n+", 8, NULL, 0};
    lua_pushcfunction(c.L, load_bad);
    lua_pushlightuserdata(c.L, &m);
    assert_int_equal(lua_pcall(c.L, 1, 1, 0), LUA_ERRRUN);
    assert_non_null(strstr(lua_tostring(c.L, -1), names[i][1]));
    lua_settop(c.L, 0);
  }
  lua_close(c.L);
}

static int read_tree (lua_State *L) {
  size_t n;
  const char *bytes = lua_tolstring(L, 1, &n);
  dtL_push_tree(L, bytes, n);
  return 1;
}

/* What reading these bytes comes to; its answer, or its words, are left. */
static int try_tree (Case *c, const char *bytes, size_t n) {
  lua_settop(c->L, 0);
  lua_pushcfunction(c->L, read_tree);
  lua_pushlstring(c->L, bytes, n);
  return lua_pcall(c->L, 1, 1, 0);
}

/* {a = -3, "yes", 0.5, true, 1 << 62} as scripts/tree_writer.lua writes it. */
static const char tree[] =
  "\2\1a\3yes" "\1\1\1" "\15\4" "\3\5" "\22"
  "\4\0\0\0\0\0\0\340\77" "\1" "\3\200\200\200\200\200\200\200\200\200\1";

static void test_tree (void **state) {
  Case c;
  (void)state;
  setup(&c);
  assert_int_equal(try_tree(&c, tree, sizeof tree - 1), LUA_OK);
  lua_setglobal(c.L, "t");
  assert_int_equal(luaL_dostring(c.L, "assert(t.a == -3 and #t == 4)\n"
    "assert(t[1] == 'yes' and t[2] == 0.5 and t[3] == true)\n"
    "assert(t[4] == 1 << 62 and next(t, 'a') == nil)"), LUA_OK);
  lua_close(c.L);
}

/* Bytes that end too soon, go on, or were changed: an error or another tree. */
static void test_damaged_tree (void **state) {
  Case c;
  const char *words = "damaged";
  char copy[sizeof tree];
  (void)state;
  setup(&c);
  for (size_t n = 0; n < sizeof tree - 1; n++) {
    assert_int_equal(try_tree(&c, tree, n), LUA_ERRRUN);
    assert_non_null(strstr(lua_tostring(c.L, -1), words));
  }
  assert_int_equal(try_tree(&c, tree, sizeof tree), LUA_ERRRUN);
  for (size_t i = 0; i < sizeof tree - 1; i++)
    for (int bit = 0; bit < 8; bit++) {
      memcpy(copy, tree, sizeof tree);
      copy[i] ^= (char)(1 << bit);
      if (try_tree(&c, copy, sizeof tree - 1) != LUA_OK)
        assert_non_null(strstr(lua_tostring(c.L, -1), words));
    }
  lua_close(c.L);
}

int main (void) {
  static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_falls_back), cmocka_unit_test(test_every_module),
    cmocka_unit_test(test_errors), cmocka_unit_test(test_tree),
    cmocka_unit_test(test_damaged_tree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
