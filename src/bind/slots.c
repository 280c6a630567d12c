/* SPDX-License-Identifier: MIT
** bind/slots.c: which locals of a Lua function under way are boxes, and where
** it was written.
**
** Names are recorded at every operator, and of the locals of all functions
** under way only the few that hold tensors matter.  Lua's interface copies one
** local at a time, searching its name; that costs more than everything else a
** recorded operator does.  So the tags of the values are looked at where they
** lie, and only boxes are asked for by the interface, which remains the one
** to give names and values.
**
** How Lua 5.4 lays out its stack is no promise of its interface.  So it is
** looked at only where both the headers and the library that runs are a release
** whose layout was read, with pointers of 64 bits; and then it is tried out
** when a state is made, with values of every type whose address or number is
** known: a call's record begins with the address of its function's slot and
** knows where the function is and which call is outside; the function's
** locals follow in slots of
** one size, each with the value first and its tag behind it; a box has its
** metatable and its memory at fixed places; a function's prototype knows its
** source and first line, which the interface would spell out anew each time.
** Where that is not so nothing is learned, the interface is asked for all, and
** the answers are the same.  Reads no values but the pointers in boxes of
** tensors, and never writes. */
#include <stdint.h>
#include <string.h>
#include "bind/slots.h"

/* Releases 5.4.0 to 5.4.8, headers and library. */
#define NEWEST 8
#if LUA_VERSION_NUM == 504 && LUA_VERSION_RELEASE_NUM <= 50400 + NEWEST && \
    UINTPTR_MAX == UINT64_MAX
#define HEADERS_KNOWN true
#else
#define HEADERS_KNOWN false
#endif

/* "$LuaVersion: Lua 5.4.6  Copyright ..." of the library. */
static bool release_known (void) {
  static const char before[] = "Lua 5.4.";
  const char *s = strstr(lua_ident, before);
  if (!HEADERS_KNOWN || s == NULL) return false;
  s += sizeof before - 1;
  return *s >= '0' && *s <= '0' + NEWEST && (s[1] < '0' || s[1] > '9');
}

static unsigned char tag_of (const char *func, int i) {
  return (unsigned char)func[i * DTL_SLOT + DTL_TAG];
}

static bool slot_holds (const char *func, int i, const void *p) {
  const void *q;
  memcpy(&q, func + i * DTL_SLOT, sizeof q);
  return p == q;
}

/* Arguments: two tables, an integer, a light userdata, a C function, one with
** an upvalue, nil, a boolean, a string, a float, a thread, then a Lua function
** and two full userdata. */
enum { TABLE = 1, TABLE2, NUMBER, LIGHT, FUNC, CLOSURE, NIL, BOOL, STR, FLOAT,
       THREAD, SCRIPT, BOX, BOX2 };
static const lua_Integer number = 0x123456789abcdef;

static bool as_thought (lua_State *L, const char *func) {
  unsigned char box = tag_of(func, BOX), script = tag_of(func, SCRIPT);
  lua_Integer n;
  int i;
  memcpy(&n, func + NUMBER * DTL_SLOT, sizeof n);
  for (i = TABLE; i < SCRIPT; i++)
    if (tag_of(func, i) == box || tag_of(func, i) == script) return false;
  return box != script && script != 0 && box != 0 && n == number &&
         tag_of(func, BOX2) == box &&
         tag_of(func, TABLE) == tag_of(func, TABLE2) &&
         slot_holds(func, TABLE, lua_topointer(L, TABLE)) &&
         slot_holds(func, TABLE2, lua_topointer(L, TABLE2)) &&
         slot_holds(func, THREAD, lua_topointer(L, THREAD)) &&
         slot_holds(func, LIGHT, lua_touserdata(L, LIGHT));
}

/* ---- functions ---- */

static const void *pointer_at (const void *p, int at) {
  const void *q;
  memcpy(&q, (const char *)p + at, sizeof q);
  return q;
}

bool dtL_slots_ask (lua_State *L, lua_Debug *ar, const char **source,
                    int *line) {
  lua_getinfo(L, "S", ar);
  *source = ar->source;
  *line = ar->linedefined;
  return *ar->what != 'C';
}

/* Is the function on the top, which is popped, laid out as thought? */
static bool proto_as_thought (lua_State *L, int defined) {
  const void *func = lua_topointer(L, -1);
  const char *s;
  lua_Debug ar;
  int line;
  lua_getinfo(L, ">S", &ar);
  s = dtL_source_of(func, &line);
  return s == ar.source && line == ar.linedefined && line == defined;
}

/* Two functions of two sources, one inside the other's chunk. */
static bool protos_as_thought (lua_State *L) {
  static const char chunk[] = "\n\n\nreturn function ()\nend";
  bool ok;
  if (luaL_loadbufferx(L, chunk, sizeof chunk - 1, "@dt", "t") != LUA_OK)
    return lua_error(L) != 0;
  lua_pushvalue(L, -1);
  lua_call(L, 0, 1);
  ok = proto_as_thought(L, 4) && proto_as_thought(L, 0);
  lua_pushvalue(L, SCRIPT);
  return proto_as_thought(L, 0) && ok;
}

/* ---- boxes ---- */

/* BOX has one value of the user's, as boxes of tensors do, and a metatable. */
static bool boxes_as_thought (lua_State *L, const char *func) {
  const void *box = pointer_at(func, BOX * DTL_SLOT);
  bool ok;
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setmetatable(L, BOX);
  ok = pointer_at(box, DTL_BOX_META) == lua_topointer(L, -1) &&
       (const char *)box + DTL_BOX_MEMORY ==
         (const char *)lua_touserdata(L, BOX);
  lua_pop(L, 1);
  return ok;
}

/* ---- the place of a function ---- */

/* Does every call know the one outside it, the outermost that there is none? */
static bool links_as_thought (lua_State *L, DtBind *b) {
  lua_Debug in, out;
  int level = 0;
  bool more = lua_getstack(L, 0, &in) != 0, ok = more;
  while (more && ok) {
    more = lua_getstack(L, level + 1, &out) != 0;
    b->links = true;
    ok = dtL_slots_out(L, b, level++, &in) == more &&
         (!more || in.i_ci == out.i_ci);
    b->links = false;
  }
  return ok && level > 2;
}

/* (calls): keeps where the function that calls it stands. */
static int note_place (lua_State *L) {
  DtBind *b = dtL_state(L);
  const void *func;
  lua_Debug ar;
  b->links = links_as_thought(L, b);
  if (lua_getstack(L, 1, &ar)) {
    b->pcs = true;
    lua_pushlightuserdata(L, (void *)(uintptr_t)dtL_slots_pc(b, &ar, &func));
    b->pcs = false;
    lua_rawseti(L, 1, (lua_Integer)lua_rawlen(L, 1) + 1);
  }
  return 0;
}

static const char *noted_place (lua_State *L, int i) {
  const char *p;
  lua_rawgeti(L, -1, i);
  p = (const char *)lua_touserdata(L, -1);
  lua_pop(L, 1);
  return p;
}

/* It moves on from call to call, by a few instructions, and is the same when
** the same call comes again. */
static bool pcs_as_thought (lua_State *L) {
  static const char chunk[] =
    "local f, t = ... f(t) f(t) for _ = 1, 2 do f(t) end";
  enum { FEW = 40 };
  const char *p[4];
  int i;
  lua_newtable(L);
  if (luaL_loadbufferx(L, chunk, sizeof chunk - 1, "=[dt]", "t") != LUA_OK)
    return lua_error(L) != 0;
  lua_pushcfunction(L, note_place);
  lua_pushvalue(L, -3);
  lua_call(L, 2, 0);
  for (i = 0; i < 4; i++) p[i] = noted_place(L, i + 1);
  lua_pop(L, 1);
  return p[0] < p[1] && p[1] < p[0] + FEW && p[1] < p[2] &&
         p[2] < p[1] + FEW && p[2] == p[3];
}

static int try_out (lua_State *L) {
  DtBind *b = dtL_state(L);
  lua_Debug ar;
  if (lua_gettop(L) == BOX2 && lua_getstack(L, 0, &ar) && ar.i_ci != NULL) {
    const char *func = dtL_slots_func(&ar);
    if (as_thought(L, func)) {
      unsigned char box = tag_of(func, BOX), script = tag_of(func, SCRIPT);
      bool boxes = boxes_as_thought(L, func);
      bool pcs = pcs_as_thought(L);     /* the stack may move from here on */
      b->protos = protos_as_thought(L);
      b->box_tag = box;
      b->lua_tag = script;
      b->boxes = boxes;
      b->pcs = pcs;
    }
  }
  return 0;
}

static int learn_layout (lua_State *L) {
  luaL_checkstack(L, BOX2 + 1, NULL);
  lua_pushcfunction(L, try_out);
  lua_newtable(L);
  lua_newtable(L);
  lua_pushinteger(L, number);
  lua_pushlightuserdata(L, L);
  lua_pushcfunction(L, learn_layout);
  lua_pushinteger(L, 1);
  lua_pushcclosure(L, learn_layout, 1);
  lua_pushnil(L);
  lua_pushboolean(L, 1);
  lua_pushliteral(L, "box");
  lua_pushnumber(L, 0.5);
  lua_newthread(L);
  if (luaL_loadbufferx(L, "", 0, "=[dt]", "t") != LUA_OK) return lua_error(L);
  (void)lua_newuserdatauv(L, sizeof(void *), 1);
  (void)lua_newuserdatauv(L, sizeof(void *), 0);
  lua_call(L, BOX2, 0);
  return 0;
}

void dtL_slots_forget (DtBind *b) {
  b->box_tag = b->lua_tag = 0;
  b->protos = b->boxes = b->pcs = b->links = false;
}

void dtL_slots_learn (lua_State *L) {
  dtL_slots_forget(dtL_state(L));
  if (!release_known()) return;
  lua_pushcfunction(L, learn_layout);
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) lua_pop(L, 1);
}
