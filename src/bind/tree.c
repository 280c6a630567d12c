/* SPDX-License-Identifier: MIT
** bind/tree.c: makes the trees that scripts/tree_writer.lua wrote; their
** format is described there. */
#include <string.h>
#include "bind/bind.h"
#include "bind/tree.h"

typedef enum Tag {
  TAG_FALSE, TAG_TRUE, TAG_STRING, TAG_INTEGER, TAG_FLOAT, TAG_TABLE
} Tag;

typedef struct Reader {
  lua_State *L;
  const unsigned char *at, *end;
  int strings, shapes;          /* where the lists stand on the stack */
} Reader;

static int raise_damaged (lua_State *L) {
  return luaL_error(L, "the tree of a module is damaged");
}

static lua_Unsigned read_number (Reader *r) {
  lua_Unsigned n = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (r->at == r->end) break;
    unsigned char byte = *r->at++;
    n |= (lua_Unsigned)(byte & 127) << shift;
    if (byte < 128) return n;
  }
  return (lua_Unsigned)raise_damaged(r->L);
}

/* A number of things of at least one byte each. */
static int read_count (Reader *r) {
  lua_Unsigned n = read_number(r);
  if (n > (lua_Unsigned)(r->end - r->at)) raise_damaged(r->L);
  return (int)n;
}

static const char *read_bytes (Reader *r, size_t n) {
  const char *s = (const char *)r->at;
  if (n > (size_t)(r->end - r->at)) raise_damaged(r->L);
  r->at += n;
  return s;
}

/* Push the list of strings. */
static void push_strings (Reader *r) {
  int n = read_count(r);
  lua_createtable(r->L, n, 0);
  for (int i = 1; i <= n; i++) {
    int size = read_count(r);
    lua_pushlstring(r->L, read_bytes(r, (size_t)size), (size_t)size);
    lua_rawseti(r->L, -2, i);
  }
}

/* Push the list of shapes: of each its keys. */
static void push_shapes (Reader *r) {
  int n = read_count(r);
  lua_createtable(r->L, n, 0);
  for (int i = 1; i <= n; i++) {
    int keys = read_count(r);
    lua_createtable(r->L, keys, 0);
    for (int j = 1; j <= keys; j++) {
      if (lua_rawgeti(r->L, r->strings, (lua_Integer)read_number(r)) !=
          LUA_TSTRING)
        raise_damaged(r->L);
      lua_rawseti(r->L, -2, j);
    }
    lua_rawseti(r->L, -2, i);
  }
}

static void push_value (Reader *r);

static void push_table (Reader *r, lua_Integer shape) {
  lua_State *L = r->L;
  luaL_checkstack(L, 5, "a tree is too deep");
  if (lua_rawgeti(L, r->shapes, shape) != LUA_TTABLE) raise_damaged(L);
  int keys = (int)lua_rawlen(L, -1), items = read_count(r);
  lua_createtable(L, items, keys);
  for (int j = 1; j <= keys; j++) {
    lua_rawgeti(L, -2, j);
    push_value(r);
    lua_rawset(L, -3);
  }
  for (int i = 1; i <= items; i++) {
    push_value(r);
    lua_rawseti(L, -2, i);
  }
  lua_remove(L, -2);
}

static double read_float (Reader *r) {
  double v;
  memcpy(&v, read_bytes(r, sizeof v), sizeof v);
  return v;
}

/* One value of a tree: the low three bits of the number say what follows, the
** rest is its payload. Integers are zigzag coded. A damaged tree raises; it is
** never read past its end. */
static void push_value (Reader *r) {
  lua_Unsigned n = read_number(r), rest;
  switch ((Tag)(n & 7)) {
  case TAG_FALSE: case TAG_TRUE:
    lua_pushboolean(r->L, (n & 7) == TAG_TRUE);
    return;
  case TAG_STRING:
    if (lua_rawgeti(r->L, r->strings, (lua_Integer)(n >> 3)) != LUA_TSTRING)
      raise_damaged(r->L);
    return;
  case TAG_INTEGER:
    rest = read_number(r);
    lua_pushinteger(r->L, (lua_Integer)(rest >> 1 ^ (0 - (rest & 1))));
    return;
  case TAG_FLOAT:
    lua_pushnumber(r->L, read_float(r));
    return;
  case TAG_TABLE:
    push_table(r, (lua_Integer)(n >> 3));
    return;
  }
  raise_damaged(r->L);
}

void dtL_push_tree (lua_State *L, const char *bytes, size_t n) {
  Reader r = {.L = L, .at = (const unsigned char *)bytes};
  r.end = r.at + n;
  r.strings = lua_gettop(L) + 1;
  r.shapes = r.strings + 1;
  luaL_checkstack(L, 8, NULL);
  push_strings(&r);
  push_shapes(&r);
  push_value(&r);
  if (r.at != r.end) raise_damaged(L);
  lua_replace(L, r.strings);
  lua_settop(L, r.strings);
}
