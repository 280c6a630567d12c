/* SPDX-License-Identifier: MIT
** bind/l_custom.c: operators written in Lua, and sharding rules given to
** operators at run time.
**
**   dt.library._define(schema, impl, meta, backward, fake)
**     impl(args...) gets plain local tensors and computes the results;
**     meta(args...) the same on tensors without data (default: impl itself,
**       since shapes follow from the operators it calls);
**     fake(args...) in its place where the result's placements are worked out;
**     backward(ctx, grads...) is called on the tensors of the forward call:
**       ctx.args, ctx.outputs; returns a gradient per argument (nil = none).
**   dt._register_sharding(overload, fn)
**     fn(args...) gets specs in place of tensors and returns a list of
**     {outputs, inputs} placements on one mesh dimension. */
#include <stdio.h>
#include <string.h>
#include "bind/bind.h"
#include "bind/field.h"
#include "kernel/kernel.h"
#include "shard/user.h"

typedef struct LuaOp {
  lua_State *L;
  DtSession *s;
  int impl, meta, backward, fake;       /* registry references */
  int64_t ints[16];             /* non-tensor results of the last run */
} LuaOp;

/* What a protected call of a Lua function needs to know. */
typedef struct Call {
  LuaOp *o;
  int ref;                      /* the function */
  const DtArgs *args;
  DtVar *const *v;              /* tensors by slot */
  DtStatus (*read) (LuaOp *o, void *ud);        /* takes the results, on top */
  void *ud;
  DtStatus st;                  /* of reading them */
} Call;

/* (Call *, nres): push the arguments, call, read the results; Lua may run out of
** memory in all three, so all are protected: what the caller holds is not lost. */
static int protected_call (lua_State *L) {
  Call *c = (Call *)lua_touserdata(L, 1);
  int i, nres = (int)lua_tointeger(L, 2);
  lua_rawgeti(L, LUA_REGISTRYINDEX, c->ref);
  luaL_checkstack(L, c->args->n + 8, "too many arguments");
  for (i = 0; i < c->args->n; i++) dtL_push_value(L, &c->args->v[i], c->v);
  lua_call(L, c->args->n, nres);
  c->st = c->read(c->o, c->ud);
  return 0;
}

/* Call `f` with a pointer and a number, traceback included; the results stay,
** an error becomes the pending one. */
static DtStatus run_protected (lua_State *L, DtCtx *cx, lua_CFunction f,
                               void *p, int n, int nres) {
  int base = lua_gettop(L);
  if (!lua_checkstack(L, 64))
    return dt_raise(cx, DT_E_LUA, "the Lua stack is full");
  lua_pushcfunction(L, dtL_traceback);
  lua_pushcfunction(L, f);
  lua_pushlightuserdata(L, p);
  lua_pushinteger(L, n);
  if (lua_pcall(L, 2, nres, base + 1) != LUA_OK) {
    lua_remove(L, base + 1);
    return dtL_catch(L, DT_E_LUA);
  }
  lua_remove(L, base + 1);
  return DT_OK;
}

/* Call a referenced function with the arguments; `read` takes its results. */
static DtStatus call_ref (LuaOp *o, int ref, const DtArgs *a,
                          DtVar *const *v, int nres,
                          DtStatus (*read) (LuaOp *, void *), void *ud) {
  Call c = { o, ref, a, v, read, ud, DT_OK };
  DtStatus st = run_protected(o->L, o->s->cx, protected_call, &c, nres, 0);
  return st == DT_OK ? c.st : st;
}

static void unref_all (int n, DtVar **v) {
  int i;
  for (i = 0; i < n; i++) dt_var_unref(v[i]);
}

/* Variables around local tensors, without history. */
static DtStatus wrap_locals (LuaOp *o, int n, DtTensor *const *t,
                             DtVar **out) {
  int i;
  for (i = 0; i < n; i++) {
    DtStatus st = dt_var_new(o->s, t[i], NULL, &out[i]);
    if (st != DT_OK) { unref_all(i, out); return st; }
  }
  return DT_OK;
}

enum { MAX_CUSTOM_IN = 64 };

/* Result i of the n on top of the stack. */
static DtStatus check_result (LuaOp *o, const DtOpDef *op, int i, int n,
                              DtVar **v) {
  *v = dtL_test_tensor(o->L, i - n);
  if (*v == NULL)
    return dt_raise(o->s->cx, DT_E_TYPE, "%s: result %d of the implementation "
                    "is a %s, want a tensor", op->sig->full, i,
                    luaL_typename(o->L, i - n));
  return DT_OK;
}

/* Puts the tensors of a returned list in place of the list; *n: how many
** results the stack then has on top. */
static DtStatus unpack_list (LuaOp *o, const DtOpDef *op, int *n) {
  lua_State *L = o->L;
  lua_Unsigned len, i;
  *n = op->sig->nrets;
  if (!op->sig->returns_list) return DT_OK;
  if (!lua_istable(L, -1))
    return dt_raise(o->s->cx, DT_E_TYPE, "%s: the implementation returned a "
                    "%s, want a list of tensors", op->sig->full,
                    luaL_typename(L, -1));
  len = lua_rawlen(L, -1);
  if (len > MAX_CUSTOM_IN || !lua_checkstack(L, (int)len + 2))
    return dt_raise(o->s->cx, DT_E_LIMIT, "more than %d tensors",
                    MAX_CUSTOM_IN);
  for (i = 1; i <= len; i++) lua_rawgeti(L, -(int)i, (lua_Integer)i);
  *n = (int)len;
  return DT_OK;
}

/* What the script's function returned goes into the outputs that were
** allocated from its meta function. Results that are no tensors wait in
** o->ints (16 at most) until the call is finished. A shape other than the
** announced one is the script's mistake and is raised here, where its name is
** known. */
static DtStatus store_results (LuaOp *o, void *ud) {
  DtKernelCall *c = (DtKernelCall *)ud;
  const DtSchema *sig = c->op->sig;
  int i, n;
  DT_TRY(c->cx, unpack_list(o, c->op, &n));
  if (sig->returns_list && n != c->nout)
    return dt_raise(c->cx, DT_E_SHAPE, "%s: %d results, its meta function said "
                    "%d", sig->full, n, c->nout);
  for (i = 0; i < n; i++) {
    DtVar *v;
    if (!sig->returns_list && sig->ret[i].type != DT_T_TENSOR) {
      if (i < 16) o->ints[i] = lua_tointeger(o->L, i - n);
      continue;
    }
    DT_TRY(c->cx, check_result(o, c->op, i, n, &v));
    if (!dt_meta_same_shape(&v->local->m, &c->out[i]->m))
      return dt_raise(c->cx, DT_E_SHAPE, "%s: result %d has another shape than "
                      "its meta function said", sig->full, i);
    DT_TRY(c->cx, dt_k_copy(c->cx, v->local, c->out[i]));
  }
  return DT_OK;
}

static DtStatus custom_kernel (DtKernelCall *c) {
  LuaOp *o = (LuaOp *)c->op->user;
  DtVar *v[MAX_CUSTOM_IN];
  bool grad = o->s->grad_enabled;
  int top = lua_gettop(o->L);
  DtStatus st;
  if (c->nin > MAX_CUSTOM_IN)
    return dt_raise(c->cx, DT_E_LIMIT, "more than %d tensors", MAX_CUSTOM_IN);
  DT_TRY(c->cx, wrap_locals(o, c->nin, c->in, v));
  o->s->grad_enabled = false;
  st = call_ref(o, o->impl, c->args, v, c->op->sig->nrets, store_results, c);
  o->s->grad_enabled = grad;
  lua_settop(o->L, top);
  unref_all(c->nin, v);
  return st;
}

/* Tensors of these shapes without data. */
static DtStatus meta_vars (LuaOp *o, const DtMetaCall *c, DtVar **v) {
  int i;
  for (i = 0; i < c->nin; i++) {
    DtTensor *t = NULL;
    DtStatus st = dt_tensor_new(c->cx, c->in[i], true, &t);
    if (st == DT_OK) {
      st = dt_var_new(o->s, t, NULL, &v[i]);
      dt_tensor_unref(c->cx, t);
    }
    if (st != DT_OK) { unref_all(i, v); return st; }
  }
  return DT_OK;
}

static DtStatus read_metas (LuaOp *o, void *ud) {
  DtMetaCall *c = (DtMetaCall *)ud;
  const DtSchema *sig = c->op->sig;
  int i, n;
  DT_TRY(c->cx, unpack_list(o, c->op, &n));
  DT_CHECK(c->cx, n <= c->maxout, DT_E_LIMIT, "%s: more than %d results",
           sig->full, c->maxout);
  for (i = 0; i < n; i++) {
    DtVar *v;
    c->none[i] = !sig->returns_list && sig->ret[i].type != DT_T_TENSOR;
    if (c->none[i]) continue;
    DT_TRY(c->cx, check_result(o, c->op, i, n, &v));
    dt_meta_copy(&c->out[i], &v->local->m);
    if (c->nin) c->out[i].device = c->in[0]->device;
  }
  c->nout = n;
  return DT_OK;
}

/* The function that gives the shapes of a call's results. */
static int shapes_ref (const LuaOp *o, const DtMetaCall *c) {
  if (c->fake && o->fake != LUA_NOREF) return o->fake;
  return o->meta != LUA_NOREF ? o->meta : o->impl;
}

/* Shapes come from running meta (or impl) without data; operators it calls
** are not the user's, so they are neither numbered nor recorded. */
static DtStatus custom_meta (DtMetaCall *c) {
  LuaOp *o = (LuaOp *)c->op->user;
  DtSession *s = o->s;
  DtVar *v[MAX_CUSTOM_IN];
  bool grad = s->grad_enabled, nodata = s->no_data;
  uint64_t mask = s->listen_mask;
  int64_t seq = s->seq;
  int top = lua_gettop(o->L);
  DtStatus st;
  if (c->nin > MAX_CUSTOM_IN)
    return dt_raise(c->cx, DT_E_LIMIT, "more than %d tensors", MAX_CUSTOM_IN);
  DT_TRY(c->cx, meta_vars(o, c, v));
  s->grad_enabled = false;
  s->no_data = true;
  s->listen_mask = 0;
  st = call_ref(o, shapes_ref(o, c), c->args, v, c->op->sig->nrets, read_metas,
                c);
  s->grad_enabled = grad;
  s->no_data = nodata;
  s->listen_mask = mask;
  s->seq = seq;
  lua_settop(o->L, top);
  unref_all(c->nin, v);
  return st;
}

/* --- gradient: handles of an executing emitter are variables --- */

static void push_ctx (lua_State *L, DtGradCall *c) {
  int i;
  lua_createtable(L, 0, 2);
  lua_createtable(L, c->args->n, 0);
  for (i = 0; i < c->args->n; i++) {
    dtL_push_value(L, &c->args->v[i], (DtVar *const *)c->in);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "args");
  lua_createtable(L, c->nout, 0);
  for (i = 0; i < c->nout; i++) {
    DtVar *v = (DtVar *)c->out[i];
    if (v) dtL_share_tensor(L, v); else dtL_push_none(L);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "outputs");
}

/* Run under lua_pcall: calls backward(ctx, grads...) and stores what comes
** back by slot. An operator of lists gets its gradients as one table, with
** None in the places that have none, since a Lua table cannot hold nil. */
static int protected_grad (lua_State *L) {
  DtGradCall *c = (DtGradCall *)lua_touserdata(L, 1);
  int i, n = c->args->n, base = lua_gettop(L);
  luaL_checkstack(L, n + c->nout + 8, "too many gradients");
  lua_rawgeti(L, LUA_REGISTRYINDEX, ((LuaOp *)c->op->user)->backward);
  push_ctx(L, c);
  if (c->op->sig->returns_list) lua_createtable(L, c->nout, 0);
  for (i = 0; i < c->nout; i++) {
    DtVar *g = (DtVar *)c->gout[i];
    bool listed = c->op->sig->returns_list;
    if (g) dtL_share_tensor(L, g);
    else if (listed) dtL_push_none(L);
    else lua_pushnil(L);
    if (listed) lua_rawseti(L, -2, i + 1);
  }
  lua_call(L, c->op->sig->returns_list ? 2 : 1 + c->nout, n);
  for (i = 0; i < n; i++) {
    int slot = dt_arg_slot(c->args, i);
    DtVar *g = dtL_test_tensor(L, base + 1 + i);
    if (slot >= 0 && g && c->need[slot])
      c->gin[slot] = dt_grad_keep(c->e, dt_var_ref(g));
  }
  return 0;
}

static DtStatus custom_grad (DtGradCall *c) {
  LuaOp *o = (LuaOp *)c->op->user;
  return run_protected(o->L, c->e->cx, protected_grad, c, 0, 0);
}

static int opt_ref (lua_State *L, int idx) {
  if (lua_isnoneornil(L, idx)) return LUA_NOREF;
  luaL_checktype(L, idx, LUA_TFUNCTION);
  lua_pushvalue(L, idx);
  return luaL_ref(L, LUA_REGISTRYINDEX);
}

/* dt.library._define(schema, impl [, meta, backward, fake]): the userdata that
** holds the references is stored in the registry by its own address, so it
** lives as long as the operator, which is as long as the session. */
static int l_define (lua_State *L) {
  DtSession *s = dtL_session(L);
  const char *schema = luaL_checkstring(L, 1);
  LuaOp *o;
  DtOpDef def;
  const DtOpDef *out = NULL;
  luaL_checktype(L, 2, LUA_TFUNCTION);
  o = (LuaOp *)lua_newuserdatauv(L, sizeof *o, 0);
  memset(o, 0, sizeof *o);
  o->L = dtL_state(L)->L;
  o->s = s;
  o->impl = opt_ref(L, 2);
  o->meta = opt_ref(L, 3);
  o->backward = opt_ref(L, 4);
  o->fake = opt_ref(L, 5);
  memset(&def, 0, sizeof def);
  def.schema = schema;
  def.brief = "An operator defined by the script.";
  def.flags = DT_OP_CUSTOM | DT_OP_SAVE_OUT
              | (o->backward == LUA_NOREF ? DT_OP_NOGRAD : 0u);
  def.meta = custom_meta;
  def.kernel = custom_kernel;
  def.grad = o->backward == LUA_NOREF ? NULL : custom_grad;
  def.user = o;
  if (dt_registry_add(s->cx, s->registry, &def, &out) != DT_OK)
    return dtL_raise(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, o);       /* keep it */
  lua_pushstring(L, out->sig->full);
  return 1;
}

/* Results that are no tensors, of the last run of a custom operator. */
bool dtL_custom_int (const DtOpDef *op, int i, int64_t *out) {
  if (!(op->flags & DT_OP_CUSTOM) || op->user == NULL || i >= 16
      || i >= op->sig->nrets || op->sig->ret[i].type == DT_T_TENSOR)
    return false;
  *out = ((LuaOp *)op->user)->ints[i];
  return true;
}

/* --- register_sharding --- */

typedef struct LuaRule { lua_State *L; DtSession *s; int ref; } LuaRule;

static void rule_free (void *ud) {
  LuaRule *r = (LuaRule *)ud;
  DtCtx *cx = r->s->cx;
  if (r->s->bind) luaL_unref(r->L, LUA_REGISTRYINDEX, r->ref);
  dt_free(cx, r);
}

/* A spec as the rule function sees it. */
static void push_spec (lua_State *L, const DtSpec *s) {
  DtBuf b;
  lua_createtable(L, 0, 6);
  dtL_push_size(L, s->meta.shape, s->meta.ndim);
  lua_setfield(L, -2, "shape");
  dtL_set_int(L, "ndim", s->meta.ndim);
  dtL_push_placements(L, s->pl, s->npl);
  lua_setfield(L, -2, "placements");
  dtL_push_dtype(L, (DtDtype)s->meta.dtype);
  lua_setfield(L, -2, "dtype");
  *dtL_box_mesh(L) = dt_mesh_ref(s->mesh);
  lua_setfield(L, -2, "mesh");
  dt_buf_init(&b, dtL_session(L)->cx);
  dt_spec_str(s, &b);
  dtL_push_buf(L, &b);
  lua_setfield(L, -2, "text");
}

static void push_rule_value (lua_State *L, const DtValue *v,
                             const DtSpec *const *in) {
  int i;
  if (v->kind == DT_V_TENSOR) push_spec(L, in[v->u.slot]);
  else if (v->kind == DT_V_LIST) {
    lua_createtable(L, v->u.list.n, 0);
    for (i = 0; i < v->u.list.n; i++) {
      push_rule_value(L, &v->u.list.v[i], in);
      lua_seti(L, -2, i + 1);
    }
  } else dtL_push_value(L, v, NULL);
}

/* One side of a row: placements, text or None each. */
static DtStatus read_side (LuaRule *r, int idx, DtUserRow *row) {
  lua_State *L = r->L;
  int n, i;
  idx = lua_absindex(L, idx);
  if (!lua_istable(L, idx))
    return dt_raise_as(r->s->cx, DT_E_TYPE, "TypeError", "a rule is a list of "
                       "{outputs, inputs}; one side is a %s",
                       luaL_typename(L, idx));
  n = (int)lua_rawlen(L, idx);
  for (i = 0; i < n && row->n < DT_USER_MAX; i++) {
    DtUserCell *c = &row->cell[row->n++];
    lua_geti(L, idx, i + 1);
    c->none = dtL_is_none(L, -1);
    if (!c->none && !dtL_test_placement(L, -1, &c->pl)) {
      const char *s = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1)
                                                     : "?";
      DT_TRY(r->s->cx, dt_pl_parse(r->s->cx, &s, &c->pl));
    }
    lua_pop(L, 1);
  }
  return DT_OK;
}

/* The table of rules on top of the stack: a list of {outputs, inputs}.
** PyTorch's strategy functions that return None raise the TypeError of their
** caller's loop, so that is what comes out here. */
static DtStatus read_rules (LuaRule *r, DtUserRules *out) {
  lua_State *L = r->L;
  int n, i;
  if (!lua_istable(L, -1))
    return dt_raise_as(r->s->cx, DT_E_TYPE, "TypeError",
                       "'NoneType' object is not iterable");
  n = (int)lua_rawlen(L, -1);
  for (i = 0; i < n; i++) {
    DtUserRow *row = dt_user_row(out);
    DtStatus st;
    if (row == NULL) return DT_E_NOMEM;
    lua_geti(L, -1, i + 1);
    if (!lua_istable(L, -1))
      st = dt_raise_as(r->s->cx, DT_E_TYPE, "TypeError", "rule %d is a %s, "
                       "want {outputs, inputs}", i, luaL_typename(L, -1));
    else {
      lua_geti(L, -1, 1);
      lua_geti(L, -2, 2);
      st = read_side(r, -2, row);
      if (st == DT_OK) st = read_side(r, -1, row);
      lua_pop(L, 2);
    }
    lua_pop(L, 1);
    if (st != DT_OK) return st;
  }
  return DT_OK;
}

typedef struct RuleCall { LuaRule *r; const DtStratCall *c; } RuleCall;

static int protected_rule (lua_State *L) {
  const RuleCall *p = (const RuleCall *)lua_touserdata(L, 1);
  const DtArgs *a = p->c->args;
  int i;
  luaL_checkstack(L, a->n + 8, "too many arguments");
  lua_rawgeti(L, LUA_REGISTRYINDEX, p->r->ref);
  for (i = 0; i < a->n; i++) push_rule_value(L, &a->v[i], p->c->in);
  lua_call(L, a->n, 1);
  return 1;
}

static DtStatus rule_call (void *ud, const DtStratCall *c, DtUserRules *out) {
  RuleCall p = { (LuaRule *)ud, c };
  lua_State *L = p.r->L;
  int base = lua_gettop(L);
  DtStatus st = run_protected(L, c->cx, protected_rule, &p, 0, 1);
  if (st == DT_OK) st = read_rules(p.r, out);
  lua_settop(L, base);
  return st;
}

/* A rule of the script for an operator. Cached decisions were made without it,
** so the cache of propagation is emptied. */
static int l_register (lua_State *L) {
  DtSession *s = dtL_session(L);
  const DtOpDef *op;
  LuaRule *r;
  const char *name = luaL_checkstring(L, 1);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  op = dt_registry_find(s->cx, s->registry, name);
  if (op == NULL) {
    dt_error_clear(s->cx);
    return dtL_errorf(L, DT_E_KEY, "no operator called '%s'", name);
  }
  r = DT_NEW(s->cx, LuaRule);
  if (r == NULL) return dtL_raise(L);
  r->L = dtL_state(L)->L;
  r->s = s;
  lua_pushvalue(L, 2);
  r->ref = luaL_ref(L, LUA_REGISTRYINDEX);
  if (dt_user_rules_set(s->cx, s->registry, op, rule_call, r, rule_free)
      != DT_OK) {
    rule_free(r);
    return dtL_raise(L);
  }
  if (lua_toboolean(L, 3)) dt_registry_force(s->registry, op);
  dt_prop_clear(s->cx, s->prop);
  return 0;
}

/* dt._plan_mode("auto" | "greedy" | "graph"): how redistributions are planned
** from now on. */
static int l_plan_mode (lua_State *L) {
  static const char *const names[] = { "auto", "greedy", "graph", NULL };
  static const DtPlanMode modes[] = {
    DT_PLAN_AUTO, DT_PLAN_GREEDY, DT_PLAN_GRAPH
  };
  DtSession *s = dtL_session(L);
  dt_planner_set_mode(s->planner, modes[luaL_checkoption(L, 1, NULL, names)]);
  dt_prop_clear(s->cx, s->prop);
  return 0;
}

void dtL_open_custom (lua_State *L, int dt) {
  lua_newtable(L);
  lua_pushcfunction(L, l_define);
  lua_setfield(L, -2, "_define");
  lua_setfield(L, dt, "library");
  lua_pushcfunction(L, l_register);
  lua_setfield(L, dt, "_register_sharding");
  lua_pushcfunction(L, l_plan_mode);
  lua_setfield(L, dt, "_plan_mode");
}
