/* SPDX-License-Identifier: MIT
** bind/l_op.c: every operator, by one path: dt.ops.aten.mm.default(...),
** dt.mm(...), x:mm(...) find a packet, resolve the overload by PyTorch's
** parser rules, and call the engine.  Nothing is bound by hand. */
#include <stdio.h>
#include <string.h>
#include "bind/bind.h"
#include "bind/field.h"

/* Results on the stack, how many returned. A list is one table; integers among
** the results (r->nums) are marked by bit, so only the first 16 can be any; a
** single missing result is None, which a mode may have answered with. */
int dtL_push_results (lua_State *L, const DtOpDef *op, DtResults *r) {
  int i;
  if (r->is_list) {
    lua_createtable(L, r->n, 0);
    for (i = 0; i < r->n; i++) {
      DtVar *v = dt_result(r, i);
      dtL_share_tensor(L, v);
      lua_seti(L, -2, i + 1);
    }
    return 1;
  }
  if (r->n == 0) {
    if (r->ret.kind == DT_V_NONE) return 0;
    dtL_push_value(L, &r->ret, NULL);
    return 1;
  }
  luaL_checkstack(L, r->n + 4, "too many results");
  for (i = 0; i < r->n; i++) {
    DtVar *v = dt_result(r, i);
    int64_t k;
    if (v == NULL && i < 16 && (r->nums >> i & 1u))
      lua_pushinteger(L, r->num[i]);
    else if (v == NULL && dtL_custom_int(op, i, &k)) lua_pushinteger(L, k);
    else if (v == NULL && r->n == 1) dtL_push_none(L);  /* a mode gave it */
    else dtL_share_tensor(L, v);
  }
  return r->n;
}

/* view(8, 4): ints from argument k on, where the schema wants one list. */
static bool pack_ints (DtCtx *cx, const DtOpDef *op, DtLuaArgs *a) {
  int k, i;
  DtValue *v;
  for (k = 0; k < a->npos; k++)
    if (a->pos[k].kind == DT_V_INT) break;
  if (k > 1 || k >= a->npos || op->sig == NULL || k >= op->sig->nargs)
    return false;
  if (!op->sig->arg[k].list || op->sig->arg[k].type != DT_T_INT) return false;
  for (i = k; i < a->npos; i++)
    if (a->pos[i].kind != DT_V_INT) return false;
  v = DT_ANEWN(cx, a->arena, DtValue, a->npos - k);
  if (v == NULL) return false;
  memcpy(v, a->pos + k, sizeof *v * (size_t)(a->npos - k));
  a->pos[k] = dt_v_list(a->npos - k, v);
  a->npos = k + 1;
  return true;
}

/* A list that is followed by nothing and stands where the packet's overload
** wants one int list needs no packing; several ints do. */
static bool pack_for_packet (DtCtx *cx, const DtPacket *p, DtLuaArgs *a) {
  int i;
  for (i = 0; i < p->n; i++)
    if (pack_ints(cx, p->op[i], a)) return true;
  return false;
}

static bool want_pack (const DtLuaArgs *a) {
  int n = 0, i;
  for (i = 0; i < a->npos; i++) n += a->pos[i].kind == DT_V_INT;
  return n > 1 || (n == 1 && a->npos && a->pos[a->npos - 1].kind == DT_V_INT);
}

/* What is called: one overload, or the first of a packet that fits; how it is
** written decides which errors are raised. */
typedef struct Callee {
  const DtOpDef *op;            /* NULL: any of `packet` */
  const DtPacket *packet;
  DtLuaStyle style;
} Callee;

static DtStatus resolve_packet (DtCtx *cx, const Callee *f, const DtLuaArgs *a,
                                const DtOpDef **out, DtArgs *args) {
  const DtGiven given = dtL_given(a);
  return (f->style == DTL_METHOD ? dt_packet_resolve_method
          : f->style == DTL_PACKET ? dt_packet_resolve_ops
          : dt_packet_resolve)(cx, f->packet, &given, out, args);
}

static DtStatus resolve_overload (DtCtx *cx, const Callee *f, DtLuaArgs *a,
                                  const DtOpDef **out, DtArgs *args) {
  DtStatus st;
  if (f->op) {
    const DtGiven given = dtL_given(a);
    *out = f->op;
    return dt_schema_bind(cx, f->op->sig, &given, args);
  }
  st = resolve_packet(cx, f, a, out, args);
  if (st == DT_E_TYPE && f->style != DTL_PACKET && want_pack(a) &&
      pack_for_packet(cx, f->packet, a)) {
    dt_error_clear(cx);
    st = resolve_packet(cx, f, a, out, args);
  }
  return st;
}

/* A tensor without dimensions as the number it is, where PyTorch takes one in a
** number's place: sizes, lengths, dimensions. */
static bool number_of (DtCtx *cx, const DtVar *t, DtValue *out) {
  const DtMeta *m = dt_var_meta(t);
  DtScalar x;
  if (m->ndim != 0 || t->spec != NULL || t->requires_grad ||
      !dt_tensor_has_data(t->local))
    return false;
  if (dt_tensor_item(cx, t->local, &x) != DT_OK) return false;
  if (dt_dtype_is_complex((DtDtype)m->dtype)) *out = dt_v_complex(x.re, x.im);
  else if (dt_dtype_is_float((DtDtype)m->dtype)) *out = dt_v_float(x.re);
  else *out = dt_v_int(x.i);
  return m->dtype != DT_BOOL;
}

/* The tensors of a value become numbers, `first` the first of them that may;
** the others get new slots.  What was a list is a new one.  Says how many did,
** -1 without memory. */
static int take_numbers (DtCtx *cx, DtLuaArgs *a, DtValue *v, DtVar **in,
                         int *nin, int first) {
  int done = 0;
  if (v->kind == DT_V_TENSOR) {
    DtVar *t = a->in[v->u.slot];
    if (v->u.slot >= first && number_of(cx, t, v)) return 1;
    in[*nin] = t;
    v->u.slot = (*nin)++;
  } else if (v->kind == DT_V_LIST) {
    int n = v->u.list.n;
    DtValue *e = DT_ANEWN(cx, a->arena, DtValue, n + 1);
    if (e == NULL) return -1;
    for (int i = 0; i < n; i++) {
      int k;
      e[i] = v->u.list.v[i];
      k = take_numbers(cx, a, &e[i], in, nin, first);
      if (k < 0) return -1;
      done += k;
    }
    *v = dt_v_list(n, e);
  }
  return done;
}

/* Once more where no overload took the arguments, with numbers for tensors: a
** method's own tensor stays, a function's first goes last. */
static DtStatus resolve_numbers (DtCtx *cx, const Callee *f, DtLuaArgs *a,
                                 const DtOpDef **out, DtArgs *args,
                                 DtStatus st) {
  for (int first = 1; first >= (f->style == DTL_METHOD ? 1 : 0); first--) {
    DtLuaArgs b = *a;
    int done = 0;
    b.in = DT_ANEWN(cx, a->arena, DtVar *, a->nin + 1);
    b.pos = DT_ANEWN(cx, a->arena, DtValue, a->npos + 1);
    b.kw = DT_ANEWN(cx, a->arena, DtValue, a->nkw + 1);
    if (!b.in || !b.pos || !b.kw) return st;
    b.nin = 0;
    for (int i = 0; i < a->npos + a->nkw && done >= 0; i++) {
      DtValue *v = i < a->npos ? &b.pos[i] : &b.kw[i - a->npos];
      int k;
      *v = i < a->npos ? a->pos[i] : a->kw[i - a->npos];
      k = take_numbers(cx, a, v, b.in, &b.nin, first);
      done = k < 0 ? -1 : done + k;
    }
    if (done <= 0) continue;
    dt_error_clear(cx);
    if (resolve_overload(cx, f, &b, out, args) == DT_OK) {
      *a = b;
      return DT_OK;
    }
    dt_error_clear(cx);               /* the first error is the one to say */
    st = resolve_overload(cx, f, a, out, args);
  }
  return st;
}

typedef struct Push { const DtOpDef *op; DtResults *r; } Push;

static int protected_push (lua_State *L) {
  Push *p = (Push *)lua_touserdata(L, 1);
  return dtL_push_results(L, p->op, p->r);
}

/* One tensor goes into the box that was made before the call; anything else
** is pushed protected, since Lua may run out of memory. */
static int give_results (lua_State *L, DtVar **box, const DtOpDef *op,
                         DtResults *r, DtArenaMark mark) {
  DtSession *s = dtL_session(L);
  Push p = { op, r };
  int rc;
  if (r->n == 1 && !r->is_list && dt_result(r, 0)) {
    *box = dt_var_ref(dt_result(r, 0));
    dtL_count_tensor(L, *box);
    lua_copy(L, -1, 1);
    lua_settop(L, 1);
    dt_results_fini(s, r);
    dt_arena_release(&s->cx->scratch, mark);
    return 1;
  }
  lua_settop(L, 0);
  lua_pushcfunction(L, protected_push);
  lua_pushlightuserdata(L, &p);
  rc = lua_pcall(L, 1, LUA_MULTRET, 0);
  dt_results_fini(s, r);
  dt_arena_release(&s->cx->scratch, mark);      /* values may lie there */
  return rc == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/* Where the Lua function lies that changes arguments before an operator is
** chosen (lua/dt/torch/autocast.lua); none while no scope is open. */
static const char autocast_key = 0;

/* The arguments from `first` on, as that function gives them back. */
static void apply_autocast (lua_State *L, const char *name, int first) {
  int n = lua_gettop(L) - first + 1;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &autocast_key) != LUA_TFUNCTION) {
    lua_pop(L, 1);
    return;
  }
  lua_insert(L, first);
  lua_pushstring(L, name);
  lua_insert(L, first + 1);
  lua_call(L, n + 1, LUA_MULTRET);
}

/* dt._set_autocast(f or nil): f(operator, arguments...) gives the arguments
** back that an operator called by name gets. */
static int l_set_autocast (lua_State *L) {
  lua_settop(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &autocast_key);
  return 0;
}

/* Where the Lua function lies that looks at the operators a program calls
** (lua/dt/spmd/watch.lua); only asked for while DtBind.watched. */
static const char watcher_key = 0;

static int call_plain (lua_State *L, const DtPacket *p, const DtOpDef *op,
                       int first, DtLuaStyle style);

/* The call itself, for the watcher: upvalues packet, overload, style. */
static int call_again (lua_State *L) {
  return call_plain(L,
    (const DtPacket *)lua_touserdata(L, lua_upvalueindex(1)),
    (const DtOpDef *)lua_touserdata(L, lua_upvalueindex(2)), 1,
    (DtLuaStyle)lua_tointeger(L, lua_upvalueindex(3)));
}

/* watcher(name, call, arguments...) -> results */
static int call_watched (lua_State *L, const DtPacket *p, const DtOpDef *op,
                         int first, DtLuaStyle style) {
  int n = lua_gettop(L) - first + 1;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &watcher_key);
  lua_pushstring(L, p != NULL ? p->base : op->sig->base);
  lua_pushlightuserdata(L, (void *)(uintptr_t)p);
  lua_pushlightuserdata(L, (void *)(uintptr_t)op);
  lua_pushinteger(L, style);
  lua_pushcclosure(L, call_again, 3);
  lua_rotate(L, first, 3);
  lua_call(L, n + 2, LUA_MULTRET);
  return lua_gettop(L) - first + 1;
}

/* dt._spmd.watch_ops(f or nil) */
int dtL_watch_ops (lua_State *L) {
  lua_settop(L, 1);
  dtL_state(L)->watched = !lua_isnil(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &watcher_key);
  return 0;
}

void dtL_look_at_ops (lua_State *L, bool on) {
  if (on) {
    on = lua_rawgetp(L, LUA_REGISTRYINDEX, &watcher_key) != LUA_TNIL;
    lua_pop(L, 1);
  }
  dtL_state(L)->watched = on;
}

int dtL_call_op (lua_State *L, const DtPacket *p, const DtOpDef *op,
                 int first, DtLuaStyle style) {
  if (dtL_state(L)->watched) return call_watched(L, p, op, first, style);
  return call_plain(L, p, op, first, style);
}

static int call_plain (lua_State *L, const DtPacket *p, const DtOpDef *op,
                       int first, DtLuaStyle style) {
  DtSession *s = dtL_session(L);
  DtArenaMark mark = dt_arena_mark(&s->cx->scratch);
  DtLuaArgs a;
  DtArgs args;
  const Callee f = { op, p, style };
  const DtOpDef *chosen = NULL;
  DtResults r;
  DtStatus st;
  DtVar **box;
  if (p && style != DTL_PACKET) apply_autocast(L, p->base, first);
  dtL_to_args(L, first, &a);
  box = dtL_box_tensor(L);
  args.nslots = a.nin;
  st = resolve_overload(s->cx, &f, &a, &chosen, &args);
  if (st != DT_OK && a.nin > 0)
    st = resolve_numbers(s->cx, &f, &a, &chosen, &args, st);
  memset(&r, 0, sizeof r);
  if (st == DT_OK) st = dtL_order_slots(s->cx, &a, &args);
  if (st == DT_OK) st = dt_call(s, chosen, &args, a.nin, a.in, &r);
  if (st == DT_OK) return give_results(L, box, chosen, &r, mark);
  dt_arena_release(&s->cx->scratch, mark);
  return dtL_raise(L);
}

/* upvalue 1: packet; upvalue 2: is it called as a method? */
static int call_closure (lua_State *L) {
  return dtL_call_op(L, (const DtPacket *)lua_touserdata(L, lua_upvalueindex(1)),
                     NULL, 1, lua_toboolean(L, lua_upvalueindex(2))
                     ? DTL_METHOD : DTL_FUNCTION);
}

static void push_closure (lua_State *L, const DtPacket *p, bool method) {
  lua_pushlightuserdata(L, (void *)(uintptr_t)p);
  lua_pushboolean(L, method);
  lua_pushcclosure(L, call_closure, 2);
}

/* dt.ops.aten.mm is a callable table; its fields are overloads. */
static int packet_call (lua_State *L) {
  const DtPacket *p;
  lua_getfield(L, 1, "_packet");
  p = (const DtPacket *)lua_touserdata(L, -1);
  lua_pop(L, 1);
  return dtL_call_op(L, p, NULL, 2, DTL_PACKET);
}

static int overload_call (lua_State *L) {
  const DtOpDef *op;
  lua_getfield(L, 1, "_op");
  op = (const DtOpDef *)lua_touserdata(L, -1);
  lua_pop(L, 1);
  return dtL_call_op(L, NULL, op, 2, DTL_PACKET);
}

static int named_tostring (lua_State *L) {
  lua_getfield(L, 1, "name");
  return 1;
}

/* __index of an operator: an overload that is not there is an error with
** PyTorch's text, and the nearest ones. */
static int packet_index (lua_State *L) {
  const DtPacket *p;
  const char *name = lua_tostring(L, 2), *near;
  if (lua_type(L, 2) != LUA_TSTRING || *name == '_') return 0;
  lua_pushliteral(L, "_packet");
  if (lua_rawget(L, 1) != LUA_TLIGHTUSERDATA) return 0;
  p = (const DtPacket *)lua_touserdata(L, -1);
  near = dt_packet_near(p, name);
  return dtL_errorf(L, DT_E_ATTR,
                    "The underlying op of '%s.%s' has no overload name '%s'"
                    "%s%s%s", p->ns, p->base, name,
                    near ? "; did you mean " : "", near ? near : "",
                    near ? "?" : "");
}

static void push_overload (lua_State *L, const DtOpDef *op) {
  lua_createtable(L, 0, 4);
  lua_pushlightuserdata(L, (void *)(uintptr_t)op);
  lua_setfield(L, -2, "_op");
  dtL_set_str(L, "name", op->sig->full);
  dtL_set_str(L, "schema", op->schema);
  lua_pushfstring(L, "<OpOverload(op='%s.%s', overload='%s')>", op->sig->ns,
                  op->sig->base, op->sig->overload);
  lua_setfield(L, -2, "shown");
  luaL_setmetatable(L, "dt.overload");
}

static void push_packet (lua_State *L, const DtPacket *p) {
  int i;
  lua_createtable(L, 0, p->n + 3);
  lua_pushlightuserdata(L, (void *)(uintptr_t)p);
  lua_setfield(L, -2, "_packet");
  lua_pushfstring(L, "%s.%s", p->ns, p->base);
  lua_setfield(L, -2, "name");
  lua_pushfstring(L, "<OpOverloadPacket(op='%s.%s')>", p->ns, p->base);
  lua_setfield(L, -2, "shown");
  for (i = 0; i < p->n; i++) {
    push_overload(L, p->op[i]);
    lua_setfield(L, -2, p->op[i]->sig->overload);
  }
  luaL_setmetatable(L, "dt.packet");
}

/* The packet made last for this name, if it is still that one: when an overload
** is added the registry makes another. */
static bool push_made (lua_State *L, const DtPacket *p) {
  bool same;
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TTABLE) return false;
  lua_pushliteral(L, "_packet");
  same = lua_rawget(L, -2) == LUA_TLIGHTUSERDATA && lua_touserdata(L, -1) == p;
  lua_pop(L, 1);
  return same;
}

/* __index of a namespace table: upvalue 1 its name, 2 the packets made. */
static int ns_index (lua_State *L) {
  DtSession *s = dtL_session(L);
  const char *ns = lua_tostring(L, lua_upvalueindex(1));
  const char *base = luaL_checkstring(L, 2);
  const DtPacket *p = dt_registry_packet(s->cx, s->registry, ns, base);
  if (p == NULL) {
    const char *near[3];
    char full[160];
    int n;
    if (s->cx->err.code) return dtL_raise(L);
    snprintf(full, sizeof full, "%.40s.%.100s", ns, base);
    n = dt_registry_near(s->cx, s->registry, full, near, 3);
    return dtL_errorf(L, DT_E_ATTR,
                      "'_OpNamespace' '%s' object has no attribute '%s'%s%s",
                      ns, base, n ? "; did you mean " : "", n ? near[0] : "");
  }
  if (push_made(L, p)) return 1;
  push_packet(L, p);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, -2);
  lua_rawset(L, lua_upvalueindex(2));
  return 1;
}

static int ops_index (lua_State *L) {
  lua_newtable(L);
  lua_newtable(L);
  lua_pushvalue(L, 2);
  lua_newtable(L);
  lua_pushcclosure(L, ns_index, 2);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, -2);
  lua_rawset(L, 1);
  return 1;
}

/* dt._find(name, method): a function calling the aten packet, or nil.  Used by
** dt's and the tensors' __index, as what it is called. */
static int l_find (lua_State *L) {
  DtSession *s = dtL_session(L);
  const DtPacket *p = dt_registry_packet(s->cx, s->registry, "aten",
                                         luaL_checkstring(L, 1));
  if (p == NULL) {
    if (s->cx->err.code) return dtL_raise(L);
    return 0;
  }
  push_closure(L, p, lua_toboolean(L, 2));
  return 1;
}

/* dt._op_names(): base names of all aten operators, for completion. */
static int l_names (lua_State *L) {
  DtSession *s = dtL_session(L);
  const DtPacket *p;
  int it = 0, n = 0;
  lua_newtable(L);
  while ((p = dt_registry_next(s->cx, s->registry, &it)) != NULL) {
    lua_pushfstring(L, "%s.%s", p->ns, p->base);
    lua_seti(L, -2, ++n);
  }
  return 1;
}

void dtL_open_op (lua_State *L, int dt) {
  luaL_newmetatable(L, "dt.packet");
  lua_pushcfunction(L, packet_call);
  lua_setfield(L, -2, "__call");
  lua_pushcfunction(L, named_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_pushcfunction(L, packet_index);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  luaL_newmetatable(L, "dt.overload");
  lua_pushcfunction(L, overload_call);
  lua_setfield(L, -2, "__call");
  lua_pushcfunction(L, named_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_pop(L, 1);
  lua_newtable(L);
  lua_newtable(L);
  lua_pushcfunction(L, ops_index);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_setfield(L, dt, "ops");
  lua_pushcfunction(L, l_find);
  lua_setfield(L, dt, "_find");
  lua_pushcfunction(L, dtL_sequence);
  lua_setfield(L, dt, "_sequence");
  lua_pushcfunction(L, l_names);
  lua_setfield(L, dt, "_op_names");
  lua_pushcfunction(L, l_set_autocast);
  lua_setfield(L, dt, "_set_autocast");
}
