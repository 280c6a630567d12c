/* SPDX-License-Identifier: MIT
** bind/l_regex.c: PCRE2 for the module re of Python programs.
** dt._regex.compile(pattern, options) gives a pattern, or nil and PCRE2's
** code; pattern:search(subject, first, stop, how) gives where it matches.
**
** Patterns come translated into PCRE2's syntax (python/std/regex.lua). */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>
#include "bind/bind.h"

#define PATTERN "dt.regex"

/* A search that goes back more often than this ends in an error: a pattern
** such as (a+)+b takes for ever on the wrong text, and holds its rank. */
enum { MATCH_LIMIT = 10000000, HEAP_LIMIT_KIB = 65536 };

typedef struct Pattern {
  pcre2_code *code;
  pcre2_match_data *match;
  pcre2_match_context *limits;
} Pattern;

/* Letters of options: those of Python's flags, and "b" for bytes. */
static uint32_t read_options (const char *letters) {
  uint32_t o = PCRE2_NEVER_BACKSLASH_C | PCRE2_ALT_CIRCUMFLEX;
  if (strchr(letters, 'i')) o |= PCRE2_CASELESS;
  if (strchr(letters, 'm')) o |= PCRE2_MULTILINE;
  if (strchr(letters, 's')) o |= PCRE2_DOTALL;
  if (strchr(letters, 'b')) return o;
  o |= PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
  if (!strchr(letters, 'a')) o |= PCRE2_UCP;
  return o;
}

static void free_pattern (Pattern *p) {
  pcre2_match_context_free(p->limits);
  pcre2_match_data_free(p->match);
  pcre2_code_free(p->code);
  *p = (Pattern){ 0 };
}

static int r_gc (lua_State *L) {
  free_pattern(luaL_checkudata(L, 1, PATTERN));
  return 0;
}

/* The userdata comes first, so that an error of Lua's leaks nothing. */
static int r_compile (lua_State *L) {
  size_t n;
  const char *text = luaL_checklstring(L, 1, &n);
  uint32_t options = read_options(luaL_checkstring(L, 2));
  Pattern *p = lua_newuserdatauv(L, sizeof *p, 0);
  int code;
  PCRE2_SIZE at;
  *p = (Pattern){ 0 };
  luaL_setmetatable(L, PATTERN);
  p->code = pcre2_compile((PCRE2_SPTR)text, n, options, &code, &at, NULL);
  if (!p->code) {
    lua_pushnil(L);
    lua_pushinteger(L, code);
    return 2;
  }
  p->match = pcre2_match_data_create_from_pattern(p->code, NULL);
  p->limits = pcre2_match_context_create(NULL);
  if (!p->match || !p->limits)
    return dtL_errorf(L, DT_E_NOMEM, "out of memory in re.compile");
  pcre2_set_match_limit(p->limits, MATCH_LIMIT);
  pcre2_set_heap_limit(p->limits, HEAP_LIMIT_KIB);
  return 1;
}

/* Letters of `how`: "a" the match begins at `first`, "w" and ends at the end,
** "n" it is not empty if it begins at `first`. */
static uint32_t read_how (const char *letters) {
  uint32_t o = 0;
  if (strchr(letters, 'a')) o |= PCRE2_ANCHORED;
  if (strchr(letters, 'w')) o |= PCRE2_ENDANCHORED;
  if (strchr(letters, 'n')) o |= PCRE2_NOTEMPTY_ATSTART;
  return o;
}

/* search(subject, first, stop, how): nil, or {[2g] = byte where group g
** begins, [2g + 1] = byte behind it}; bytes count from 1, group 0 is all, a
** group that took no part is left out.  The subject ends before byte `stop`. */
static int r_search (lua_State *L) {
  Pattern *p = luaL_checkudata(L, 1, PATTERN);
  size_t n;
  const char *s = luaL_checklstring(L, 2, &n);
  lua_Integer first = luaL_checkinteger(L, 3), stop = luaL_checkinteger(L, 4);
  uint32_t how = read_how(luaL_checkstring(L, 5)), groups;
  if (stop < 1 || (size_t)stop > n + 1) stop = (lua_Integer)n + 1;
  if (first < 1 || first > stop) return 0;
  int r = pcre2_match(p->code, (PCRE2_SPTR)s, (size_t)stop - 1,
                      (size_t)first - 1, how, p->match, p->limits);
  if (r == PCRE2_ERROR_NOMATCH) return 0;
  if (r < 0)
    return dtL_errorf(L, DT_E_RUNTIME,
                      "this regular expression takes too many steps");
  const PCRE2_SIZE *at = pcre2_get_ovector_pointer(p->match);
  groups = pcre2_get_ovector_count(p->match);
  lua_createtable(L, 2 * (int)groups, 0);
  for (uint32_t g = 0; g < groups; g++) {
    if (at[2 * g] == PCRE2_UNSET) continue;
    for (uint32_t k = 2 * g; k <= 2 * g + 1; k++) {
      lua_pushinteger(L, (lua_Integer)at[k] + 1);
      lua_rawseti(L, -2, (lua_Integer)k);
    }
  }
  return 1;
}

void dtL_open_regex (lua_State *L, int dt) {
  static const luaL_Reg methods[] = { {"search", r_search}, {NULL, NULL} };
  static const luaL_Reg functions[] = { {"compile", r_compile}, {NULL, NULL} };
  luaL_newmetatable(L, PATTERN);
  lua_pushcfunction(L, r_gc);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, methods);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  luaL_newlib(L, functions);
  lua_setfield(L, dt, "_regex");
}
