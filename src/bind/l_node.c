/* SPDX-License-Identifier: MIT
** bind/l_node.c: nodes of the graph of gradients, as programs walk them:
** dt._grad_node(t) gives the node of a tensor, or nil; a node says its name, a
** number that is its own, where its gradients go, and the leaf it adds to, and
** takes hooks. */
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

/* The inputs of a node as PyTorch counts them, the caller's to free: those of
** the engine, and -1 for each number in a tensor's place. */
static int *inputs_of (DtCtx *cx, const DtNode *n, int *count) {
  const DtArgs *a = &n->args;
  int nargs = n->op ? n->op->sig->nargs : 0, k = 0, *out;
  out = DT_NEWN(cx, int, n->nin + nargs + 1);
  if (out == NULL) return NULL;
  for (int j = 0; j < nargs; j++) {
    int slot = dt_arg_slot(a, j);
    if (slot >= 0) {
      while (k > 0 && out[k - 1] >= slot) k--;
      out[k++] = slot;
    } else if (n->op->sig->arg[j].type == DT_T_TENSOR && dt_arg_is_number(a, j))
      out[k++] = -1;
  }
  for (int i = 0, known = 0; i < n->nin; i++, known = 0) {  /* of lists */
    for (int j = 0; j < k; j++) known |= out[j] == i;
    if (!known) out[k++] = i;
  }
  *count = k;
  return out;
}

/* {{node or false, which of its results}, ...}, by input. */
static int n_next (lua_State *L) {
  const DtNode *n = check_node(L);
  DtCtx *cx = dtL_session(L)->cx;
  int count, *inputs = inputs_of(cx, n, &count);
  if (inputs == NULL) return dtL_raise(L);
  lua_createtable(L, count, 0);
  for (int i = 0; i < count; i++) {
    const DtEdge *edge = inputs[i] < 0 ? NULL : &n->next[inputs[i]];
    lua_createtable(L, 2, 0);
    if (edge != NULL && edge->fn != NULL) push_node(L, edge->fn);
    else lua_pushboolean(L, 0);
    lua_rawseti(L, -2, 1);
    lua_pushinteger(L, edge ? edge->nr : 0);
    lua_rawseti(L, -2, 2);
    lua_rawseti(L, -2, i + 1);
  }
  dt_free(cx, inputs);
  return 1;
}

/* A function of Lua that a node calls. */
typedef struct NodeCall { lua_State *L; DtCtx *cx; int ref; } NodeCall;

static void call_free (void *ud) {
  NodeCall *c = (NodeCall *)ud;
  luaL_unref(c->L, LUA_REGISTRYINDEX, c->ref);
  dt_free(c->cx, c);
}

static NodeCall *call_new (lua_State *L, int idx) {
  DtCtx *cx = dtL_session(L)->cx;
  NodeCall *c = DT_NEW(cx, NodeCall);
  luaL_checktype(L, idx, LUA_TFUNCTION);
  if (c == NULL) (void)dtL_raise(L);
  c->L = dtL_state(L)->L;
  c->cx = cx;
  lua_pushvalue(L, idx);
  c->ref = luaL_ref(L, LUA_REGISTRYINDEX);
  return c;
}

/* Push {tensor or None, ...} of n variables, of those that `at` names. */
static void push_grads (lua_State *L, int n, DtVar *const *v, const int *at) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    DtVar *g = at == NULL ? v[i] : at[i] < 0 ? NULL : v[at[i]];
    if (g != NULL) dtL_share_tensor(L, g);
    else dtL_push_none(L);
    lua_rawseti(L, -2, i + 1);
  }
}

/* What a hook gave back, a list on the stack's top, into the variables. */
static void take_grads (lua_State *L, int n, DtVar **v, const int *at) {
  for (int i = 0; i < n; i++) {
    DtVar **place = at == NULL ? &v[i] : at[i] < 0 ? NULL : &v[at[i]];
    DtVar *g;
    lua_rawgeti(L, -1, i + 1);
    g = dtL_test_tensor(L, -1);
    if (place != NULL && g != *place) {
      if (g != NULL) dt_var_ref(g);
      dt_var_unref(*place);
      *place = g;
    }
    lua_pop(L, 1);
  }
}

/* f(gradients of inputs or nil, gradients of outputs, the node's name) -> nil,
** or the list that takes their place. */
static DtStatus node_call (DtSession *s, void *ud, const DtNode *n, int nout,
                           DtVar **gout, int nin, DtVar **gin) {
  NodeCall *c = (NodeCall *)ud;
  lua_State *L = c->L;
  int count = 0, *inputs = NULL;
  (void)nin;
  if (!lua_checkstack(L, 12)) return dt_raise(s->cx, DT_E_LUA, "stack overflow");
  if (gin != NULL) {
    inputs = inputs_of(s->cx, n, &count);
    if (inputs == NULL) return DT_E_NOMEM;
  }
  lua_pushcfunction(L, dtL_traceback);
  lua_rawgeti(L, LUA_REGISTRYINDEX, c->ref);
  if (gin != NULL) push_grads(L, count, gin, inputs);
  else lua_pushnil(L);
  push_grads(L, nout, gout, NULL);
  lua_pushstring(L, n->name != NULL ? n->name : "Node");
  if (lua_pcall(L, 3, 1, -5) != LUA_OK) {
    dt_free(s->cx, inputs);
    lua_remove(L, -2);
    return dtL_catch(L, DT_E_LUA);
  }
  if (lua_istable(L, -1)) {
    if (gin != NULL) take_grads(L, count, gin, inputs);
    else take_grads(L, nout, gout, NULL);
  }
  dt_free(s->cx, inputs);
  lua_pop(L, 2);
  return DT_OK;
}

static int hook_remove (lua_State *L) {
  DtNode **box = luaL_checkudata(L, lua_upvalueindex(1), NODE);
  dt_node_unhook(*box, (int)lua_tointeger(L, lua_upvalueindex(2)));
  return 0;
}

/* node:hook(f, before) -> a function that takes it away again. */
static int n_hook (lua_State *L) {
  DtNode *n = check_node(L);
  NodeCall *c = call_new(L, 2);
  int id;
  if (dt_node_hook(dtL_session(L), n, lua_toboolean(L, 3), node_call, c,
                   call_free, &id) != DT_OK) {
    call_free(c);
    return dtL_raise(L);
  }
  lua_pushvalue(L, 1);
  lua_pushinteger(L, id);
  lua_pushcclosure(L, hook_remove, 2);
  return 1;
}

/* dt._see_nodes(f): f sees each node that has run backwards, as a hook does;
** nil: nobody does. */
static int l_see_nodes (lua_State *L) {
  static const char key = 0;                /* holds the call: freed with L */
  DtSession *s = dtL_session(L);
  NodeCall *c = NULL, *old = (NodeCall *)s->node_seen_ud;
  if (old != NULL) luaL_unref(L, LUA_REGISTRYINDEX, old->ref);
  if (!lua_isnoneornil(L, 1)) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    c = lua_newuserdatauv(L, sizeof *c, 1);
    *c = (NodeCall){ dtL_state(L)->L, s->cx, LUA_NOREF };
    lua_pushvalue(L, 1);
    c->ref = luaL_ref(L, LUA_REGISTRYINDEX);
  } else lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
  s->node_seen = c == NULL ? NULL : node_call;
  s->node_seen_ud = c;
  return 0;
}

static int l_grad_node (lua_State *L) {
  DtNode *n = dtL_check_tensor(L, 1)->grad_fn;
  if (n == NULL) return 0;
  push_node(L, n);
  return 1;
}

void dtL_open_node (lua_State *L, int dt) {
  static const luaL_Reg methods[] = { {"name", n_name}, {"id", n_id},
    {"hook", n_hook}, {"leaf", n_leaf}, {"next", n_next}, {NULL, NULL} };
  luaL_newmetatable(L, NODE);
  lua_pushcfunction(L, n_gc);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, methods);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  lua_pushcfunction(L, l_grad_node);
  lua_setfield(L, dt, "_grad_node");
  lua_pushcfunction(L, l_see_nodes);
  lua_setfield(L, dt, "_see_nodes");
}
