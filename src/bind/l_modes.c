/* SPDX-License-Identifier: MIT
** bind/l_modes.c: torch.utils._python_dispatch.TorchDispatchMode: a Lua function
** is asked in the dispatcher's place (dt._dispatch_modes). */
#include "bind/bind.h"
#include "bind/field.h"

static const char ask_key = 0;

static void push_arg (lua_State *L, const DtValue *v, DtVar *const *in) {
  luaL_checkstack(L, 6, "arguments nested too deeply");
  if (v->kind == DT_V_LIST) {
    lua_createtable(L, v->u.list.n, 0);
    for (int i = 0; i < v->u.list.n; i++) {
      push_arg(L, &v->u.list.v[i], in);
      lua_seti(L, -2, i + 1);
    }
  } else if (v->kind == DT_V_TENSOR && in[v->u.slot] != NULL) {
    dtL_share_tensor(L, in[v->u.slot]);
  } else if (v->kind == DT_V_COMPLEX) {
    lua_createtable(L, 0, 2);
    dtL_set_num(L, "re", v->u.c[0]);
    dtL_set_num(L, "im", v->u.c[1]);
  } else if (!dtL_push_plain_arg(L, v, false)) {
    dtL_push_none(L);
  }
}

static bool is_default (const DtCall *c, int i) {
  const DtArgDef *d = &c->op->sig->arg[i];
  return d->has_default && dt_value_equal(&d->dflt, &c->args->v[i]);
}

/* As PyTorch hands arguments to Python: those before the last that is not as
** by default, and keyword-only ones that are not. */
static int push_args (lua_State *L, const DtCall *c) {
  int n = c->op->sig->nargs - c->op->sig->nkwonly;
  while (n > 0 && is_default(c, n - 1)) n--;
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    const DtValue *v = &c->args->v[i];
    const DtArgDef *d = &c->op->sig->arg[i];
    bool alone = d->list && v->kind != DT_V_LIST && v->kind != DT_V_NONE;
    if (alone) lua_createtable(L, 1, 0);        /* a number for an int[1] */
    push_arg(L, v, c->in);
    if (alone) lua_seti(L, -2, 1);
    lua_seti(L, -2, i + 1);
  }
  return n;
}

static void push_keywords (lua_State *L, const DtCall *c) {
  const DtSchema *sig = c->op->sig;
  lua_newtable(L);
  for (int i = sig->nargs - sig->nkwonly; i < sig->nargs; i++) {
    if (is_default(c, i)) continue;
    push_arg(L, &c->args->v[i], c->in);
    lua_setfield(L, -2, sig->arg[i].name);
  }
}

/* How many results there are; 0 when one of them is no tensor. */
static int tensors_given (const DtSchema *sig) {
  for (int i = 0; i < sig->nrets; i++)
    if (sig->ret[i].type != DT_T_TENSOR) return 0;
  return sig->nrets;
}

/* (const DtCall *) -> what the function gives. */
static int protected_ask (lua_State *L) {
  const DtCall *c = lua_touserdata(L, 1);
  int n;
  lua_settop(L, 0);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &ask_key);
  lua_pushinteger(L, dtL_session(L)->modes.level + 1);
  lua_pushstring(L, c->op->sig->full);
  n = push_args(L, c);
  lua_pushinteger(L, n);
  push_keywords(L, c);
  lua_pushboolean(L, c->op->sig->returns_list);
  lua_pushinteger(L, tensors_given(c->op->sig));
  lua_call(L, 7, LUA_MULTRET);
  return lua_gettop(L);
}

static DtStatus take_results (lua_State *L, DtSession *s, const DtCall *c,
                              int first, DtResults *out) {
  int n = lua_gettop(L) - first + 1;
  DtStatus st = DT_OK;
  if (n == 1 && dtL_test_tensor(L, first) == NULL && !lua_isnil(L, first)
      && !dtL_is_none(L, first)) {
    DT_TRY(s->cx, dt_results_init(s, out, 0));
    if (lua_isboolean(L, first))
      out->ret = dt_v_bool(lua_toboolean(L, first));
    else if (lua_isinteger(L, first))
      out->ret = dt_v_int(lua_tointeger(L, first));
    else if (lua_isnumber(L, first))
      out->ret = dt_v_float(lua_tonumber(L, first));
    else
      return dt_raise(s->cx, DT_E_NOTIMPL, "what a TorchDispatchMode gave for "
                      "%s is not supported by dtrepl", c->op->sig->full);
    return DT_OK;
  }
  DT_TRY(s->cx, dt_results_init(s, out, n));
  out->is_list = c->op->sig->returns_list;
  for (int i = 0; i < n && st == DT_OK; i++)
    st = dt_results_take(s, c, i, dtL_test_tensor(L, first + i), out);
  if (st != DT_OK) dt_results_fini(s, out);
  return st;
}

static DtStatus ask (DtSession *s, const DtCall *call, DtResults *out) {
  lua_State *L = ((DtBind *)s->bind)->cur;
  int base = lua_gettop(L);
  DtStatus st;
  if (!lua_checkstack(L, 64))
    return dt_raise(s->cx, DT_E_LUA, "the Lua stack is full");
  lua_pushcfunction(L, dtL_traceback);
  lua_pushcfunction(L, protected_ask);
  lua_pushlightuserdata(L, (void *)(uintptr_t)call);
  if (lua_pcall(L, 1, LUA_MULTRET, base + 1) != LUA_OK)
    st = dtL_catch(L, DT_E_LUA);
  else
    st = take_results(L, s, call, base + 2, out);
  lua_settop(L, base);
  return st;
}

/* dt._dispatch_modes(by, f) -> how many modes are entered, `by` more than before.
** f(which, "aten.add.Tensor", arguments, how many, keywords, is the result a
** list, n) gives the results of the operator in the place of the dispatcher: n
** tensors, or anything where n is 0. */
static int l_dispatch_modes (lua_State *L) {
  DtSession *s = dtL_session(L);
  if (!lua_isnoneornil(L, 2)) {
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_pushvalue(L, 2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &ask_key);
  }
  s->modes.ask = ask;
  s->modes.level += (int)luaL_optinteger(L, 1, 0);
  if (s->modes.level < 0) s->modes.level = 0;
  lua_pushinteger(L, s->modes.level);
  return 1;
}

void dtL_open_modes (lua_State *L, int dt) {
  lua_pushcfunction(L, l_dispatch_modes);
  lua_setfield(L, dt, "_dispatch_modes");
}
