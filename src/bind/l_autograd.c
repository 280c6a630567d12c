/* SPDX-License-Identifier: MIT
** bind/l_autograd.c: backward, grad, detach, hooks, gradient modes, custom
** functions whose backward is a Lua function. */
#include <string.h>
#include "bind/bind.h"
#include "diag/finding.h"

enum { MAX_ROOTS = 256 };

/* A registry reference to a Lua function, owned by a node or a hook. */
typedef struct LuaRef { lua_State *L; DtCtx *cx; int ref; } LuaRef;

static void ref_free (void *ud) {
  LuaRef *r = (LuaRef *)ud;
  luaL_unref(r->L, LUA_REGISTRYINDEX, r->ref);
  dt_free(r->cx, r);
}

static LuaRef *ref_new (lua_State *L, int idx) {
  DtCtx *cx = dtL_session(L)->cx;
  LuaRef *r = DT_NEW(cx, LuaRef);
  if (r == NULL) dtL_raise(L);
  r->L = dtL_state(L)->L;                   /* the main thread outlives all */
  r->cx = cx;
  lua_pushvalue(L, idx);
  r->ref = luaL_ref(L, LUA_REGISTRYINDEX);
  return r;
}

/* Tensors of a table (or one tensor) into out. */
static int check_tensors (lua_State *L, int idx, DtVar **out, bool none_ok) {
  int n, i;
  if (dtL_test_tensor(L, idx)) { out[0] = dtL_check_tensor(L, idx); return 1; }
  luaL_checktype(L, idx, LUA_TTABLE);
  n = (int)luaL_len(L, idx);
  luaL_argcheck(L, n <= MAX_ROOTS, idx, "too many tensors");
  for (i = 0; i < n; i++) {
    lua_geti(L, idx, i + 1);
    out[i] = none_ok && dtL_is_none(L, -1) ? NULL : dtL_check_tensor(L, -1);
    lua_pop(L, 1);
  }
  return n;
}

static bool opt_bool (lua_State *L, int idx, const char *key, bool dflt) {
  bool v = dflt;
  if (lua_istable(L, idx)) {
    lua_getfield(L, idx, key);
    if (!lua_isnil(L, -1)) v = lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
  return v;
}

typedef struct Keep { bool retain, create; } Keep;

/* What follows the gradients of a backward pass: retain_graph and create_graph
** by position, or a table of options.  A graph of the gradients needs that of
** the values. */
static Keep read_keep (lua_State *L, int o) {
  Keep k = { false, false };
  bool given = !lua_isnone(L, o) && !lua_istable(L, o), said = false;
  if (given) {
    said = lua_isboolean(L, o);
    k.retain = said && lua_toboolean(L, o);
    o++;
  }
  if (given && lua_isboolean(L, o)) k.create = lua_toboolean(L, o++);
  k.create = opt_bool(L, o, "create_graph", k.create);
  if (!said) k.retain = k.create;
  if (lua_istable(L, o)) {
    lua_getfield(L, o, "inputs");
    if (!dtL_is_none(L, -1))
      dtL_errorf(L, DT_E_NOTIMPL, "inputs= of backward is not supported by "
                 "dtrepl: autograd.grad gives the gradients of some tensors");
    lua_pop(L, 1);
  }
  k.retain = opt_bool(L, o, "retain_graph", k.retain);
  return k;
}

/* The way back is nobody's call: the operators that it takes in Lua are not
** looked at (DtBind.watched). */
static int run_backward (lua_State *L, int n, DtVar *const *roots,
                         DtVar *const *grads, Keep keep) {
  DtBind *b = dtL_state(L);
  bool watched = b->watched;
  DtStatus st;
  b->watched = false;
  st = dt_backward(b->s, &(DtBackward){ n, roots, grads, keep.retain,
                                        keep.create });
  b->watched = watched;
  return st == DT_OK ? 0 : dtL_raise(L);
}

static int m_backward (lua_State *L) {
  DtVar *root = dtL_check_tensor(L, 1), *grad = NULL;
  int o = 2;
  if (!dtL_is_none(L, 2) && !lua_istable(L, 2)) {
    grad = dtL_check_tensor(L, 2);
    o = 3;
  } else if (!lua_istable(L, 2)) o = 3;
  if (lua_istable(L, o)) {
    lua_getfield(L, o, "gradient");
    if (!dtL_is_none(L, -1)) grad = dtL_check_tensor(L, -1);
  }
  return run_backward(L, 1, &root, &grad, read_keep(L, o));
}

/* autograd.backward(tensors, grads, opts); the grads may be among the options,
** which then come second: backward(tensors, {grad_tensors = ...}). */
static int l_backward (lua_State *L) {
  DtVar *roots[MAX_ROOTS], *grads[MAX_ROOTS];
  int n = check_tensors(L, 1, roots, false), i, o = 3;
  for (i = 0; i < n; i++) grads[i] = NULL;
  if (lua_istable(L, 2) && luaL_len(L, 2) == 0 && lua_isnoneornil(L, 3)) {
    o = 2;
    lua_getfield(L, 2, "grad_tensors");
    if (!dtL_is_none(L, -1)) check_tensors(L, lua_gettop(L), grads, true);
    lua_pop(L, 1);
  } else if (!dtL_is_none(L, 2)) check_tensors(L, 2, grads, true);
  return run_backward(L, n, roots, grads, read_keep(L, o));
}

/* autograd.grad(outputs, inputs, opts) -> table of gradients */
static int l_grad (lua_State *L) {
  DtVar *roots[MAX_ROOTS], *grads[MAX_ROOTS], *in[MAX_ROOTS], *out[MAX_ROOTS];
  DtVar **box[MAX_ROOTS];
  int n = check_tensors(L, 1, roots, false), nin, i;
  DtBind *b = dtL_state(L);
  bool watched;
  DtStatus st;
  nin = check_tensors(L, 2, in, false);
  for (i = 0; i < n; i++) grads[i] = NULL;
  if (lua_istable(L, 3)) {
    lua_getfield(L, 3, "grad_outputs");
    if (!dtL_is_none(L, -1)) check_tensors(L, lua_gettop(L), grads, true);
    lua_pop(L, 1);
  }
  bool create = opt_bool(L, 3, "create_graph", false);
  const DtBackward from = { n, roots, grads,
                            opt_bool(L, 3, "retain_graph", create), create };
  bool unused = opt_bool(L, 3, "allow_unused", false);
  lua_createtable(L, nin, 0);
  for (i = 0; i < nin; i++) {
    box[i] = dtL_box_tensor(L);
    lua_seti(L, -2, i + 1);
  }
  watched = b->watched;
  b->watched = false;
  st = dt_grad(b->s, &from, nin, in, unused, out);
  b->watched = watched;
  for (i = 0; i < nin; i++) *box[i] = out[i];
  if (st != DT_OK) return dtL_raise(L);
  for (i = 0; i < nin; i++) {
    if (out[i]) { dtL_count_tensor(L, out[i]); continue; }
    dtL_push_none(L);
    lua_seti(L, -2, i + 1);
  }
  return 1;
}

static int m_detach (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  DtVar **box = dtL_box_tensor(L);
  if (dt_detach(dtL_session(L), v, box) != DT_OK) return dtL_raise(L);
  return 1;
}

static int m_retain_grad (lua_State *L) {
  if (dt_var_retain_grad(dtL_check_tensor(L, 1)) != DT_OK)
    return dtL_raise(L);
  return 0;
}

static DtStatus hook_call (DtSession *s, void *ud, DtVar *grad, DtVar **out) {
  LuaRef *r = (LuaRef *)ud;
  lua_State *L = r->L;
  DtVar *v;
  (void)s;
  *out = NULL;
  if (!lua_checkstack(L, 8)) return dt_raise(r->cx, DT_E_LUA, "stack overflow");
  lua_pushcfunction(L, dtL_traceback);
  lua_rawgeti(L, LUA_REGISTRYINDEX, r->ref);
  dtL_share_tensor(L, grad);
  if (lua_pcall(L, 1, 1, -3) != LUA_OK) {
    lua_remove(L, -2);
    return dtL_catch(L, DT_E_LUA);
  }
  v = dtL_test_tensor(L, -1);
  if (v) *out = dt_var_ref(v);
  lua_pop(L, 2);
  return DT_OK;
}

/* x:register_hook(f) -> function that removes it */
static int hook_remove (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, lua_upvalueindex(1));
  dt_var_unhook(v, (int)lua_tointeger(L, lua_upvalueindex(2)));
  return 0;
}

static int add_hook (lua_State *L, bool after) {
  DtVar *v = dtL_check_tensor(L, 1);
  LuaRef *r;
  int id = 0;
  luaL_checktype(L, 2, LUA_TFUNCTION);
  if (!dt_var_needs_grad(v))
    return dtL_errorf(L, DT_E_RUNTIME, "cannot register a hook on a tensor "
                      "that doesn't require gradient");
  r = ref_new(L, 2);
  if (dt_var_hook(v, after, hook_call, r, ref_free, &id) != DT_OK) {
    ref_free(r);
    return dtL_raise(L);
  }
  lua_pushvalue(L, 1);
  lua_pushinteger(L, id);
  lua_pushcclosure(L, hook_remove, 2);
  return 1;
}

/* dt._hook_saved(x, f): f() when backward first reads what was kept for x. */
static int l_hook_saved (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  LuaRef *r;
  luaL_checktype(L, 2, LUA_TFUNCTION);
  r = ref_new(L, 2);
  if (dt_var_hook_saving(v, hook_call, r, ref_free) != DT_OK) {
    ref_free(r);
    return dtL_raise(L);
  }
  return 0;
}

/* dt._saving(): how many operators have kept something so far. */
static int l_saving (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)dtL_session(L)->saving);
  return 1;
}

/* dt._saving_end(n, old): the forward that follows ends at its n-th operator
** that keeps something; 0: nowhere, -1: nowhere, and what it keeps are not
** copies; without n as it was before (`old`).  -> did it end, old. */
static int l_saving_end (lua_State *L) {
  DtSession *s = dtL_session(L);
  lua_Integer n = luaL_optinteger(L, 1, 0), old = luaL_optinteger(L, 2, 0);
  lua_pushboolean(L, s->saving_ended);
  lua_pushinteger(L, (lua_Integer)s->saving_end);
  s->saving_ended = false;
  s->saving_end = old != 0 ? old : n > 0 ? s->saving + n : n;
  return 2;
}

/* Call the Lua function `r` with `v` (NULL: nothing), its one result on the
** stack. */
static DtStatus call_ref (LuaRef *r, DtVar *v) {
  lua_State *L = r->L;
  if (!lua_checkstack(L, 8)) return dt_raise(r->cx, DT_E_LUA, "stack overflow");
  lua_pushcfunction(L, dtL_traceback);
  lua_rawgeti(L, LUA_REGISTRYINDEX, r->ref);
  if (v != NULL) dtL_share_tensor(L, v);
  if (lua_pcall(L, v != NULL, 1, v != NULL ? -3 : -2) != LUA_OK) {
    lua_remove(L, -2);
    return dtL_catch(L, DT_E_LUA);
  }
  lua_remove(L, -2);
  return DT_OK;
}

static DtStatus unpack_saved (DtSession *s, void *ud, DtVar **out) {
  LuaRef *r = (LuaRef *)ud;
  (void)s;
  DT_TRY(r->cx, call_ref(r, NULL));
  *out = dt_var_ref(dtL_test_tensor(r->L, -1));
  lua_pop(r->L, 1);
  DT_CHECK(r->cx, *out != NULL, DT_E_TYPE, "Output of saved tensor unpack_hook "
           "expected to be a Tensor");
  return DT_OK;
}

static DtStatus pack_saved (DtSession *s, void *ud, DtVar *v, DtPacked *out) {
  LuaRef *r = (LuaRef *)ud, *back;
  (void)s;
  DT_TRY(r->cx, call_ref(r, v));
  back = lua_isfunction(r->L, -1) ? ref_new(r->L, -1) : NULL;
  lua_pop(r->L, 1);
  DT_CHECK(r->cx, back != NULL, DT_E_TYPE, "a hook that packs gives a function");
  *out = (DtPacked){ unpack_saved, back, ref_free };
  return DT_OK;
}

void dtL_pack_nothing (DtSession *s) {
  if (s->packing.ud_free) s->packing.ud_free(s->packing.ud);
  s->packing = (DtPacking){ NULL, NULL, NULL };
}

/* dt._pack_saved(f): from now on f(t) is asked about each tensor that an
** operator keeps for its gradient; it gives the function that gives it back,
** whenever a gradient reads it.  Without f nobody is asked. */
static int l_pack_saved (lua_State *L) {
  DtSession *s = dtL_session(L);
  LuaRef *r = NULL;
  if (!lua_isnoneornil(L, 1)) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    r = ref_new(L, 1);
  }
  dtL_pack_nothing(s);
  if (r != NULL) s->packing = (DtPacking){ pack_saved, r, ref_free };
  return 0;
}

static int m_hook (lua_State *L) { return add_hook(L, false); }

/* x:register_post_accumulate_grad_hook(f): f(x) when x.grad was added to. */
static int m_hook_after (lua_State *L) { return add_hook(L, true); }

/* The gradient at i of what a custom function returned, the caller's: a
** tensor of the table, or one tensor alone; where the table says `grads_of`
** its tensor's gradient, taken from it, so that nobody else holds it. */
static DtVar *returned_grad (lua_State *L, int i) {
  DtVar *v = NULL;
  bool of;
  if (!lua_istable(L, -1)) {
    v = i == 0 ? dtL_test_tensor(L, -1) : NULL;
    return v ? dt_var_ref(v) : NULL;
  }
  lua_getfield(L, -1, "grads_of");
  of = lua_toboolean(L, -1);
  lua_geti(L, -2, i + 1);
  v = dtL_test_tensor(L, -1);
  lua_pop(L, 2);
  if (v == NULL || !of) return v ? dt_var_ref(v) : NULL;
  DtVar *g = v->grad;
  v->grad = NULL;
  return g;
}

/* Backward of a custom function: the Lua function gets a table of gradients
** (dt.None for missing ones) and returns a table of gradients. */
static DtStatus custom_backward (DtSession *s, void *ud, int nout,
                                 DtVar *const *gout, int nin, DtVar **gin) {
  LuaRef *r = (LuaRef *)ud;
  lua_State *L = r->L;
  int i;
  (void)s;
  if (!lua_checkstack(L, 16))
    return dt_raise(r->cx, DT_E_LUA, "stack overflow");
  lua_pushcfunction(L, dtL_traceback);
  lua_rawgeti(L, LUA_REGISTRYINDEX, r->ref);
  lua_createtable(L, nout, 0);
  for (i = 0; i < nout; i++) {
    if (gout[i]) dtL_share_tensor(L, gout[i]);
    else dtL_push_none(L);
    lua_seti(L, -2, i + 1);
  }
  if (lua_pcall(L, 1, 1, -3) != LUA_OK) {
    lua_remove(L, -2);
    return dtL_catch(L, DT_E_LUA);
  }
  for (i = 0; i < nin; i++) gin[i] = returned_grad(L, i);
  lua_pop(L, 2);
  return DT_OK;
}

/* dt._custom_node(name, inputs, outputs, backward): outputs get a grad_fn. */
static int l_custom_node (lua_State *L) {
  DtSession *s = dtL_session(L);
  const char *name = dt_session_intern(s, luaL_checkstring(L, 1));
  DtVar *in[MAX_ROOTS], *out[MAX_ROOTS];
  int nin = check_tensors(L, 2, in, true), nout;
  LuaRef *r;
  nout = check_tensors(L, 3, out, false);
  luaL_checktype(L, 4, LUA_TFUNCTION);
  if (name == NULL) return dtL_raise(L);
  r = ref_new(L, 4);
  if (dt_autograd_custom(s, name, nin, in, nout, out, custom_backward, r,
                         ref_free) != DT_OK) {
    ref_free(r);
    return dtL_raise(L);
  }
  return 0;
}

/* Put a node on the stack of those to visit, once; `seen` has visited ones. */
static void push_node_once (lua_State *L, int seen, int stack, DtNode *n) {
  if (n == NULL) return;
  if (lua_rawgetp(L, seen, n) == LUA_TNIL) {
    lua_pushboolean(L, 1);
    lua_rawsetp(L, seen, n);
    lua_pushlightuserdata(L, n);
    lua_rawseti(L, stack, (lua_Integer)lua_rawlen(L, stack) + 1);
  }
  lua_pop(L, 1);
}

/* dt._reached(outputs, leaves) -> per leaf: does an output come from it? */
static int l_reached (lua_State *L) {
  int i, nout, nleaf, seen, stack;
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TTABLE);
  nout = (int)luaL_len(L, 1);
  nleaf = (int)luaL_len(L, 2);
  lua_newtable(L);
  seen = lua_gettop(L);
  lua_newtable(L);
  stack = seen + 1;
  for (i = 1; i <= nout; i++) {
    lua_geti(L, 1, i);
    push_node_once(L, seen, stack, dtL_check_tensor(L, -1)->grad_fn);
    lua_pop(L, 1);
  }
  for (lua_Integer top; (top = (lua_Integer)lua_rawlen(L, stack)) > 0;) {
    lua_rawgeti(L, stack, top);
    const DtNode *n = (const DtNode *)lua_touserdata(L, -1);
    lua_pushnil(L);
    lua_rawseti(L, stack, top);
    lua_pop(L, 1);
    for (i = 0; i < n->nin; i++) push_node_once(L, seen, stack, n->next[i].fn);
  }
  lua_createtable(L, nleaf, 0);
  for (i = 1; i <= nleaf; i++) {
    DtVar *v;
    lua_geti(L, 2, i);
    v = dtL_check_tensor(L, -1);
    lua_pop(L, 1);
    if (v->acc) lua_rawgetp(L, seen, v->acc);
    else lua_pushnil(L);
    lua_pushboolean(L, !lua_isnil(L, -1));
    lua_replace(L, -2);
    lua_rawseti(L, -2, i);
  }
  return 1;
}

/* --- modes: each sets and returns the old value --- */

static int set_flag (lua_State *L, bool *flag) {
  lua_pushboolean(L, *flag);
  if (!lua_isnone(L, 1)) *flag = lua_toboolean(L, 1);
  return 1;
}

static int l_grad_enabled (lua_State *L) {
  return set_flag(L, &dtL_session(L)->grad_enabled);
}
static int l_inference (lua_State *L) {
  return set_flag(L, &dtL_session(L)->inference);
}
static int l_implicit (lua_State *L) {
  return set_flag(L, &dtL_session(L)->implicit_replication);
}
static int l_warn_random (lua_State *L) {
  return set_flag(L, &dtL_session(L)->warn_random);
}

static int l_no_data (lua_State *L) {
  return set_flag(L, &dtL_session(L)->no_data);
}
static int l_explicit (lua_State *L) {
  DtSession *s = dtL_session(L);
  lua_pushinteger(L, s->explicit_redist);
  if (!lua_isnone(L, 1)) s->explicit_redist = (int)luaL_checkinteger(L, 1);
  return 1;
}

/* Push a second variable over the data of `v`, as a leaf. */
static DtVar *push_alias (lua_State *L, DtVar *v, DtSpec *spec) {
  DtVar **box = dtL_box_tensor(L);
  if (dt_var_new(dtL_session(L), v->local, spec, box) != DT_OK) {
    (void)dtL_raise(L);
    return NULL;
  }
  (*box)->origin = v->origin;
  (*box)->inference = v->inference;
  return *box;
}

/* dt._make_param(t, requires_grad): an nn.Parameter sharing the data.  Of a
** distributed tensor PyTorch takes detach(), which is dispatched. */
static int l_make_param (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtVar *v = dtL_check_tensor(L, 1), *p, **box;
  if (v->spec != NULL) {
    box = dtL_box_tensor(L);
    if (dt_call_fmt(s, box, "aten.detach.default", "t", v) != DT_OK)
      return dtL_raise(L);
    v = *box;
  }
  p = push_alias(L, v, v->spec);
  p->is_param = true;
  if (dt_diag_of(p->s)) dt_diag_param(dt_diag_of(p->s), p);
  p->requires_grad = lua_isnoneornil(L, 2) || lua_toboolean(L, 2);
  return 1;
}

/* dt._view_base(t): t._base of PyTorch, or nil where t is no view. */
static int l_view_base (lua_State *L) {
  DtVar *base = dtL_check_tensor(L, 1)->view_base;
  if (base == NULL) return 0;
  dtL_share_tensor(L, base);
  return 1;
}

/* dt._function_view(t, of, many): t, a result of an autograd.Function, is a view:
** of `of`, or, where that is nil, of what it already is a view of.  `many`: beside
** other results that have gradients. */
static int l_function_view (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  DtVar *of = lua_isnoneornil(L, 2) ? v->view_base : dtL_check_tensor(L, 2);
  if (of != NULL)
    dt_view_forbid(v, of, lua_toboolean(L, 3) ? DT_VIEW_OF_MANY : DT_VIEW_IN_FUNCTION);
  return 0;
}

/* dt._forget_decisions(): the next call of every kind is a first one. */
static int l_forget (lua_State *L) {
  DtSession *s = dtL_session(L);
  dt_prop_clear(s->cx, s->prop);
  return 0;
}

/* dt._forget_history(t): t is a leaf that wants no gradient (detach_). */
static int l_forget_history (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  DtNode *n = v->grad_fn;
  if (v->view_base != NULL)
    return dtL_errorf(L, DT_E_RUNTIME, "Can't detach views in-place. Use "
                      "detach() instead. If you are using DistributedDataParallel"
                      " (DDP) for training, and gradient_as_bucket_view is set "
                      "as True, gradients are views of DDP buckets, and hence "
                      "detach_() cannot be called on these gradients. To fix "
                      "this error, please refer to the Optimizer.zero_grad() "
                      "function in torch/optim/optimizer.py as a solution.");
  if (n != NULL && n->retain && n->retain[v->output_nr] == v)
    n->retain[v->output_nr] = NULL;
  v->grad_fn = NULL;
  v->output_nr = 0;
  v->requires_grad = v->retains_grad = false;
  dt_node_unref(v->s, n);
  return 0;
}

/* dt._creates_graph(): is a backward under way whose operators are recorded? */
static int l_creates_graph (lua_State *L) {
  lua_pushboolean(L, dtL_state(L)->s->create_graph);
  return 1;
}

/* dt._alias_of(t): the same elements without a history. */
static int l_alias_of (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  (void)push_alias(L, v, v->spec);
  return 1;
}

/* dt._data_view(t): t.data, whose writes autograd does not see. */
static int l_data_view (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1), **box = dtL_box_tensor(L);
  DtTensor *t;
  if (dt_tensor_apart(v->s->cx, v->local, &t) != DT_OK) return dtL_raise(L);
  DtStatus st = dt_var_new(v->s, t, v->spec, box);
  dt_tensor_unref(v->s->cx, t);
  if (st != DT_OK) return dtL_raise(L);
  (*box)->origin = v->origin;
  return 1;
}

/* dt._local_of(t): t._local_tensor.  The local tensor of what from_local gave is
** the caller's, with its flag; the local tensors of operators' results have none. */
static int l_local_of (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1), *local = push_alias(L, v, NULL);
  local->requires_grad = v->grad_fn && v->grad_fn->name &&
    strcmp(v->grad_fn->name, "_FromTorchTensorBackward") == 0;
  return 1;
}

/* dt._set_data(t, other): t.data = other (placements too). */
static int l_set_data (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1), *o = dtL_check_tensor(L, 2);
  DtTensor *t = dt_tensor_ref(o->local);
  DtSpec *spec = o->spec ? dt_spec_ref(o->spec) : NULL;
  dt_tensor_unref(v->s->cx, v->local);
  dt_spec_unref(v->s->cx, v->spec);
  v->local = t;
  v->spec = spec;
  if (v->is_param && dt_diag_of(v->s)) dt_diag_param_moved(dt_diag_of(v->s), v);
  return 0;
}

void dtL_open_autograd (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"_autograd_backward", l_backward}, {"_autograd_grad", l_grad},
    {"_custom_node", l_custom_node}, {"_alias_of", l_alias_of},
    {"_data_view", l_data_view},
    {"_forget_history", l_forget_history}, {"_reached", l_reached},
    {"_hook_saved", l_hook_saved}, {"_saving", l_saving},
    {"_saving_end", l_saving_end}, {"_pack_saved", l_pack_saved},
    {"_creates_graph", l_creates_graph}, {"_local_of", l_local_of}, {"_make_param", l_make_param},
    {"_set_data", l_set_data}, {"_set_explicit_redist", l_explicit},
    {"_set_grad_enabled", l_grad_enabled},
    {"_set_implicit_replication", l_implicit},
    {"_set_inference", l_inference}, {"_set_no_data", l_no_data},
    {"_view_base", l_view_base}, {"_function_view", l_function_view},
    {"_forget_decisions", l_forget},
    {"_set_warn_random", l_warn_random},
    {NULL, NULL}
  };
  static const luaL_Reg methods[] = {
    {"backward", m_backward}, {"detach", m_detach}, {"register_hook", m_hook},
    {"register_post_accumulate_grad_hook", m_hook_after},
    {"retain_grad", m_retain_grad}, {NULL, NULL}
  };
  lua_pushvalue(L, dt);
  luaL_setfuncs(L, funcs, 0);
  lua_getfield(L, dt, "Tensor");
  luaL_setfuncs(L, methods, 0);
  lua_pop(L, 2);
}
