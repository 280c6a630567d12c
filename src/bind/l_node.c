/* SPDX-License-Identifier: MIT
** bind/l_node.c: nodes of the graph of gradients, as programs walk them:
** dt._grad_node(t) gives the node of a tensor, or nil; a node says its name, a
** number that is its own, where its gradients go, and the leaf it adds to. */
#include "bind/bind.h"
#include "engine/autograd.h"

#define NODE "dt.node"

/* Push a box with a reference of its own. */
static void push_node (lua_State *L, DtNode *n) {
  DtNode **box = lua_newuserdatauv(L, sizeof *box, 0);
  *box = NULL;
  luaL_setmetatable(L, NODE);
  *box = dt_node_ref(n);
}

static DtNode *check_node (lua_State *L) {
  return *(DtNode **)luaL_checkudata(L, 1, NODE);
}

static int n_gc (lua_State *L) {
  DtNode **box = luaL_checkudata(L, 1, NODE);
  dt_node_unref(dtL_state(L)->s, *box);
  *box = NULL;
  return 0;
}

static int n_name (lua_State *L) {
  const DtNode *n = check_node(L);
  lua_pushstring(L, n->leaf != NULL ? "AccumulateGrad"
                                    : n->name != NULL ? n->name : "Node");
  return 1;
}

/* Its own while the box holds it; sequence numbers are not: nodes that add to
** leaves share the last. */
static int n_id (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)(uintptr_t)check_node(L));
  return 1;
}

/* The leaf whose .grad it adds to, or nil. */
static int n_leaf (lua_State *L) {
  const DtNode *n = check_node(L);
  if (n->leaf == NULL) return 0;
  dtL_share_tensor(L, n->leaf);
  return 1;
}

/* {{node or false, which of its results}, ...}, by input. */
static int n_next (lua_State *L) {
  const DtNode *n = check_node(L);
  lua_createtable(L, n->nin, 0);
  for (int i = 0; i < n->nin; i++) {
    lua_createtable(L, 2, 0);
    if (n->next[i].fn != NULL) push_node(L, n->next[i].fn);
    else lua_pushboolean(L, 0);
    lua_rawseti(L, -2, 1);
    lua_pushinteger(L, n->next[i].nr);
    lua_rawseti(L, -2, 2);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static int l_grad_node (lua_State *L) {
  DtNode *n = dtL_check_tensor(L, 1)->grad_fn;
  if (n == NULL) return 0;
  push_node(L, n);
  return 1;
}

void dtL_open_node (lua_State *L, int dt) {
  static const luaL_Reg methods[] = { {"name", n_name}, {"id", n_id},
    {"leaf", n_leaf}, {"next", n_next}, {NULL, NULL} };
  luaL_newmetatable(L, NODE);
  lua_pushcfunction(L, n_gc);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, methods);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  lua_pushcfunction(L, l_grad_node);
  lua_setfield(L, dt, "_grad_node");
}
