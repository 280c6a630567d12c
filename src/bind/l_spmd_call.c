/* SPDX-License-Identifier: MIT
** bind/l_spmd_call.c: what is asked of the SPMD types of calls, the second
** half of dt._spmd.
**
**   infer(key, name, values, places, grads) -> types of the results
**     values: tensors, types (of typed numbers), true (a plain number that is
**     an addend); places: the position of each one's argument, -1 by name;
**     grads: may a gradient reach it
**   outside(values) -> is one of another mesh than the current one
**
** Most calls of a program are like one that it made before: the same function
** on the same types.  For these nothing is built:
**   known(f, args, sums) -> number of the results' type; or nil, ticket
**     f: the caller's number for the function; args: a list as Python's, `n`
**     long; sums: plain numbers among the first two are addends
**   keep(types, ticket)      what the call gives that known() did not know
**   give(out, type, f, args) -> false, and nothing is done, where one of the
**     results is an argument of another type
** All functions here are Local. */
#include <string.h>
#include "bind/spmd.h"

/* {==== Rules ==== */

static int l_takes_grad (lua_State *L) {
  lua_pushboolean(L, dt_var_needs_grad(dtL_check_tensor(L, 1)));
  return 1;
}

/* Read the operands; types that are no tensor's go to `own`, of room for n. */
static int read_operands (lua_State *L, DtSpmd *s, DtSpmdOperand *in,
                          DtSpmdType *own) {
  int n = (int)luaL_len(L, 3);
  for (int i = 0; i < n; i++) {
    DtVar *v;
    memset(&in[i], 0, sizeof in[i]);
    lua_geti(L, 3, i + 1);
    lua_geti(L, 4, i + 1);
    lua_geti(L, 5, i + 1);
    in[i].arg = (int)luaL_checkinteger(L, -2);
    in[i].takes_grad = lua_toboolean(L, -1);
    v = dtL_test_tensor(L, -3);
    if (v != NULL) {
      in[i].type = dtL_spmd_type(v);
    } else if (lua_istable(L, -3)) {
      dtL_check_spmd_type(L, s, lua_gettop(L) - 2, own);
      in[i].type = own++;
    } else
      in[i].number = true;
    lua_pop(L, 3);
  }
  return n;
}

/* How many of the list at i are types of their own. */
static int count_types (lua_State *L, int i) {
  int n = (int)luaL_len(L, i), found = 0;
  if (n > DT_SPMD_OPERANDS) luaL_argerror(L, i, "too many operands");
  for (int k = 0; k < n; k++) {
    found += lua_geti(L, i, k + 1) == LUA_TTABLE;
    lua_pop(L, 1);
  }
  return found;
}

static int l_infer (lua_State *L) {
  DtSpmd *s = &dtL_spmd(L)->s;
  DtSpmdOperand in[DT_SPMD_OPERANDS];
  DtSpmdType *own, out;
  DtSpmdCall c;
  c.cls = dt_spmd_class(luaL_checkstring(L, 1));
  c.name = luaL_checkstring(L, 2);
  luaL_checktype(L, 3, LUA_TTABLE);
  luaL_checktype(L, 4, LUA_TTABLE);
  luaL_checktype(L, 5, LUA_TTABLE);
  own = (DtSpmdType *)lua_newuserdatauv(
    L, sizeof *own * (size_t)(count_types(L, 3) + 1), 0);
  c.n = read_operands(L, s, in, own);
  c.in = in;
  if (dt_spmd_check(s, &c, &out) != DT_OK) return dtL_raise(L);
  dtL_push_spmd_type(L, &out);
  return 1;
}

/* outside(values): has one of these tensors a type on an axis that is not of
** the current mesh? */
static int l_outside (lua_State *L) {
  DtSpmd *s = &dtL_spmd(L)->s;
  bool found = false;
  luaL_checktype(L, 1, LUA_TTABLE);
  for (lua_Integer i = 1, n = luaL_len(L, 1); i <= n && !found; i++) {
    const DtVar *v;
    const DtSpmdType *t;
    lua_geti(L, 1, i);
    v = dtL_test_tensor(L, -1);
    t = v != NULL && s->nmesh >= 0 ? dtL_spmd_type(v) : NULL;
    for (int k = 0; t != NULL && k < t->n; k++) {
      bool inside = false;
      for (int m = 0; m < s->nmesh; m++) inside |= s->mesh[m] == t->at[k].axis;
      found |= !inside;
    }
    lua_pop(L, 1);
  }
  lua_pushboolean(L, found);
  return 1;
}

/* check_write(name, t, types, had_grad): what t holds becomes of these types */
static int l_check_write (lua_State *L) {
  DtSpmd *s = &dtL_spmd(L)->s;
  const char *name = luaL_checkstring(L, 1);
  const DtSpmdType *old = dtL_spmd_type(dtL_check_tensor(L, 2));
  DtSpmdType now;
  dtL_check_spmd_type(L, s, 3, &now);
  if (dt_spmd_check_write(s, name, old, &now, lua_toboolean(L, 4)) != DT_OK)
    return dtL_raise(L);
  return 0;
}

static int l_class (lua_State *L) {
  static const char *const names[] = {
    "nonlinear", "linear1", "linear2", "linear_list", "multilinear", "divide",
    "rdivide", "sum_product", "replicated", "follows" };
  lua_pushstring(L, names[dt_spmd_class(luaL_checkstring(L, 1))]);
  return 1;
}

/* message(key) -> class, text with {places} */
static int l_message (lua_State *L) {
  int m = dt_spmd_message(luaL_checkstring(L, 1));
  if (m < 0) luaL_argerror(L, 1, "no such message");
  lua_pushstring(L, dt_spmd_message_class((DtSpmdMessage)m));
  lua_pushstring(L, dt_spmd_message_text((DtSpmdMessage)m));
  return 2;
}

/* }==== */

/* {==== Calls that are known ==== */

/* sequences(list's metatable, tuple's): which tables known() goes into. */
static int l_sequences (lua_State *L) {
  DtLuaSpmd *s = dtL_spmd(L);
  s->list = lua_topointer(L, 1);
  s->tuple = lua_topointer(L, 2);
  return 0;
}

/* Is the table at i a sequence?  How many items it has, or -1. */
static int items_of (lua_State *L, const DtLuaSpmd *s, int i) {
  const void *mt;
  int n;
  if (!lua_getmetatable(L, i)) return -1;
  mt = lua_topointer(L, -1);
  lua_pop(L, 1);
  if (mt != s->list && mt != s->tuple) return -1;
  lua_pushliteral(L, "n");
  lua_rawget(L, i);
  n = (int)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n;
}

/* Call f for the tensors of the value at i, those in sequences down to
** `depth` too; ends where f gives false. */
typedef bool (*EachTensor) (void *ud, DtVar *v);
static bool each_tensor (lua_State *L, const DtLuaSpmd *s, int i, int depth,
                         EachTensor f, void *ud) {
  DtVar *v = dtL_test_tensor(L, i);
  int n;
  if (v != NULL) return f(ud, v);
  if (depth == 0 || !lua_istable(L, i) || (n = items_of(L, s, i)) < 0)
    return true;
  luaL_checkstack(L, 4, "sequence in sequences");
  for (int k = 1; k <= n; k++) {
    bool go;
    lua_rawgeti(L, i, k);
    go = each_tensor(L, s, lua_gettop(L), depth - 1, f, ud);
    lua_pop(L, 1);
    if (!go) return false;
  }
  return true;
}

typedef struct Asked { DtSpmdKey *key; int arg; } Asked;

static bool add_tensor (void *ud, DtVar *v) {
  Asked *a = (Asked *)ud;
  return !dt_var_is_dist(v) &&
         dt_spmd_key_add(a->key, dtL_spmd_node(v), false,
                         dt_var_needs_grad(v), a->arg);
}

/* Is the value at i a number with types? */
static bool has_types (lua_State *L, int i) {
  bool found;
  if (!lua_istable(L, i)) return false;
  i = lua_absindex(L, i);
  lua_pushliteral(L, "_spmd_scalar");
  found = lua_rawget(L, i) != LUA_TNIL;
  lua_pop(L, 1);
  return found;
}

static bool any_has_types (lua_State *L, int i, int n) {
  bool found = false;
  for (int k = 1; k <= n && !found; k++) {
    lua_rawgeti(L, i, k);
    found = has_types(L, -1);
    lua_pop(L, 1);
  }
  return found;
}

/* Add the argument at i; false where the call is one to look at closely. */
static bool add_argument (lua_State *L, const DtLuaSpmd *s, int i, Asked *a,
                          bool addend) {
  if (addend && lua_type(L, i) == LUA_TNUMBER)
    return dt_spmd_key_add(a->key, NULL, true, false, a->arg);
  if (lua_istable(L, i) && (has_types(L, i) ||
                            any_has_types(L, i, items_of(L, s, i))))
    return false;
  return each_tensor(L, s, i, 1, add_tensor, a);
}

/* Has this call been typed before? The key is the function, the mode (grad
** mode is a part of it: an inference rule may differ) and the types of the
** arguments in order. Returns the node's id, or nil and a ticket under which
** the result is stored. */
static int l_known (lua_State *L) {
  DtLuaSpmd *s = dtL_spmd(L);
  bool sums = lua_toboolean(L, 3);
  const DtSpmdNode *node;
  Asked a = { &s->asked, 0 };
  int n;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  s->ticket++;
  s->asked.n = 0;
  s->asked.function = (int)luaL_checkinteger(L, 1);
  s->asked.mode = s->s.mode << 1 | dtL_session(L)->grad_enabled;
  n = items_of(L, s, 2);
  for (a.arg = 0; a.arg < n; a.arg++) {
    bool go;
    lua_rawgeti(L, 2, a.arg + 1);
    go = add_argument(L, s, 3, &a, sums && a.arg < 2);
    lua_pop(L, 1);
    if (!go) return 0;
  }
  node = dt_spmd_find_call(&s->s, &s->asked);
  if (node != NULL) {
    lua_pushinteger(L, node->id);
    return 1;
  }
  lua_pushnil(L);
  lua_pushinteger(L, s->ticket);
  return 2;
}

static int l_keep (lua_State *L) {
  DtLuaSpmd *s = dtL_spmd(L);
  const DtSpmdNode *node;
  DtSpmdType t;
  if (luaL_checkinteger(L, 2) != s->ticket) return 0;
  dtL_check_spmd_type(L, &s->s, 1, &t);
  if (dt_spmd_intern(&s->s, &t, &node) != DT_OK ||
      dt_spmd_keep_call(&s->s, &s->asked, node) != DT_OK)
    return dtL_raise(L);
  return 0;
}

typedef struct Given {
  lua_State *L;
  const DtLuaSpmd *s;
  const DtSpmdNode *node;
  const DtVar *found;           /* a result that is looked for */
  int made;
  DtStatus st;
} Given;

static bool is_other (void *ud, DtVar *v) {
  return v != ((Given *)ud)->found;
}

/* Is the result new, or of this type already? */
static bool is_free (void *ud, DtVar *v) {
  Given *g = (Given *)ud;
  if (dtL_spmd_node(v) == g->node) return true;
  g->found = v;
  return each_tensor(g->L, g->s, 4, 2, is_other, g);
}

static bool give_one (void *ud, DtVar *v) {
  Given *g = (Given *)ud;
  if (dtL_spmd_node(v) == g->node) return true;
  g->st = dtL_spmd_give(g->s->s.cx, v, g->node, g->made);
  return g->st == DT_OK;
}

static int l_give (lua_State *L) {
  DtLuaSpmd *s = dtL_spmd(L);
  Given g = { L, s, dt_spmd_node(&s->s, (int)luaL_checkinteger(L, 2)), NULL,
              (int)luaL_checkinteger(L, 3), DT_OK };
  lua_settop(L, 4);
  if (g.node == NULL) luaL_argerror(L, 2, "no such type");
  if (!each_tensor(L, s, 1, 3, is_free, &g)) {
    lua_pushboolean(L, 0);
    return 1;
  }
  each_tensor(L, s, 1, 3, give_one, &g);
  if (g.st != DT_OK) return dtL_raise(L);
  lua_pushboolean(L, 1);
  return 1;
}

/* type_id(t) -> number of its type, 0: none */
static int l_type_id (lua_State *L) {
  const DtSpmdNode *node = dtL_spmd_node(dtL_check_tensor(L, 1));
  lua_pushinteger(L, node != NULL ? node->id : 0);
  return 1;
}

/* mode_id() -> number of the mesh and strictness the program stands in */
static int l_mode_id (lua_State *L) {
  lua_pushinteger(L, dtL_spmd(L)->s.mode);
  return 1;
}

/* made(t) -> number of the function that gave its type, and where; 0: none */
static int l_made (lua_State *L) {
  const DtVar *v = dtL_check_tensor(L, 1);
  lua_pushinteger(L, v->types ? ((const DtVarType *)v->types)->made : 0);
  lua_pushstring(L, v->origin.file ? v->origin.file : "");
  lua_pushinteger(L, v->origin.line);
  return 3;
}

/* look(on): does the watcher of operators see them (l_op.c)? */
static int l_look (lua_State *L) {
  dtL_look_at_ops(L, lua_toboolean(L, 1));
  return 0;
}

/* place() -> file and line of the program that are running */
static int l_place (lua_State *L) {
  DtSession *s = dtL_session(L);
  const char *file = "";
  int line = 0;
  if (s->where != NULL) s->where(s->where_ud, &file, &line);
  lua_pushstring(L, file);
  lua_pushinteger(L, line);
  return 2;
}

/* }==== */

void dtL_open_spmd_call (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"check_write", l_check_write}, {"class", l_class}, {"give", l_give},
    {"infer", l_infer}, {"keep", l_keep}, {"known", l_known},
    {"look", l_look}, {"made", l_made}, {"message", l_message},
    {"mode_id", l_mode_id}, {"outside", l_outside},
    {"place", l_place}, {"sequences", l_sequences},
    {"takes_grad", l_takes_grad}, {"type_id", l_type_id}, {NULL, NULL}
  };
  lua_getfield(L, dt, "_spmd");
  luaL_setfuncs(L, funcs, 0);
  lua_pop(L, 1);
}
