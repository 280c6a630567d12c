/* SPDX-License-Identifier: MIT
** bind/l_value.c: Lua values to engine values and back.  Tensors become slots;
** a final table with any string key holds the keyword arguments.  Temporary
** memory is the context's scratch arena, released by the caller. */
#include <string.h>
#include "bind/bind.h"

enum { MAX_LUA_SLOTS = 512 };

typedef struct Conv {
  lua_State *L;
  DtLuaArgs *a;
  int maxin;
  DtArenaMark mark;             /* where the scratch arena was before */
} Conv;

/* Before raising: give back what the conversion took. */
static lua_State *release_conversion (Conv *c) {
  dt_arena_release(c->a->arena, c->mark);
  return c->L;
}

static void *check_memory (Conv *c, void *p) {
  if (p == NULL) dtL_raise(release_conversion(c));
  return p;
}

static int add_slot (Conv *c, DtVar *v) {
  if (c->a->nin >= c->maxin)
    dtL_errorf(release_conversion(c), DT_E_LIMIT,
               "more than %d tensors in one call",
               c->maxin);
  c->a->in[c->a->nin] = v;
  return c->a->nin++;
}

static DtValue number_value (lua_State *L, int idx) {
  if (lua_isinteger(L, idx)) return dt_v_int(lua_tointeger(L, idx));
  return dt_v_float(lua_tonumber(L, idx));
}

/* The key of the weak table that says which tables are Python's sequences. */
static const char sequences = 0;

static uint8_t python_kind (lua_State *L, int idx) {
  lua_Integer kind = 0;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &sequences) == LUA_TTABLE) {
    lua_pushvalue(L, idx);
    lua_rawget(L, -2);
    kind = lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return (uint8_t)kind;
}

/* dt._sequence(t, kind): table `t` stands for Python's list (1) or tuple (2);
** returns it.  dt._sequence(t): the kind that was said of it, or 0. */
int dtL_sequence (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  if (lua_isnoneornil(L, 2)) {
    lua_pushinteger(L, python_kind(L, 1));
    return 1;
  }
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &sequences) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_newtable(L);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &sequences);
  }
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_rawset(L, -3);
  lua_settop(L, 1);
  return 1;
}

static DtValue to_value (Conv *c, int idx, int depth);

static DtValue list_value (Conv *c, int idx, int depth) {
  lua_State *L = c->L;
  lua_Integer n = luaL_len(L, idx), i;
  DtValue *v, out;
  if (n > 65536)
    dtL_errorf(release_conversion(c), DT_E_LIMIT,
               "a list of %lld values is too long "
               "(limit 65536)", (long long)n);
  v = (DtValue *)check_memory(c, dt_arena_alloc(dtL_session(L)->cx, c->a->arena,
                                                (size_t)(n + 1) * sizeof *v));
  for (i = 0; i < n; i++) {
    lua_geti(L, idx, i + 1);
    v[i] = to_value(c, lua_gettop(L), depth + 1);
    lua_pop(L, 1);
  }
  out = dt_v_list((int)n, v);
  out.py = python_kind(L, idx);
  return out;
}

static DtValue tensor_value (Conv *c, DtVar *t) {
  DtValue v = dt_v_slot(add_slot(c, t));
  v.py = (uint8_t)(t->spec != NULL ? DT_CLASS_DTENSOR
                   : t->is_param   ? DT_CLASS_PARAMETER
                                   : DT_CLASS_TENSOR);
  return v;
}

/* torch.strided, torch.preserve_format: what they are called, NULL for other
** tables. */
static const char *constant_name (lua_State *L, int idx) {
  const char *kind = NULL, *name = NULL;
  if (!lua_getmetatable(L, idx)) return NULL;
  if (lua_getfield(L, -1, "__name") == LUA_TSTRING) kind = lua_tostring(L, -1);
  if (kind != NULL && (strcmp(kind, "torch.layout") == 0 ||
                       strcmp(kind, "torch.memory_format") == 0)) {
    lua_getfield(L, idx, "name");
    name = lua_tostring(L, -1);         /* the constant holds it */
    lua_pop(L, 1);
  }
  lua_pop(L, 2);
  return name;
}

/* A Lua value as an operator's argument. Numbers and strings come before
** userdata, as most arguments are such; every error first gives back the
** scratch memory of the conversion. */
static DtValue to_value (Conv *c, int idx, int depth) {
  const char *name;
  lua_State *L = c->L;
  DtVar *t;
  DtDtype d;
  double re, im;
  if (depth > 8)
    dtL_errorf(release_conversion(c), DT_E_VALUE,
               "lists are nested too deeply");
  if (dtL_is_none(L, idx)) return dt_v_none();
  switch (lua_type(L, idx)) {
    case LUA_TBOOLEAN: return dt_v_bool(lua_toboolean(L, idx));
    case LUA_TNUMBER: return number_value(L, idx);
    case LUA_TSTRING: return dt_v_str(lua_tostring(L, idx));
    case LUA_TTABLE:
      if (dtL_test_complex(L, idx, &re, &im)) return dt_v_complex(re, im);
      if ((name = constant_name(L, idx)) != NULL) return dt_v_str(name);
      return list_value(c, idx, depth);
    default: break;
  }
  if ((t = dtL_test_tensor(L, idx)) != NULL) return tensor_value(c, t);
  if ((d = dtL_to_dtype(L, idx)) != DT_DTYPE_NONE) return dt_v_dtype(d);
  dtL_errorf(release_conversion(c), DT_E_TYPE,
             "a %s cannot be an operator's argument",
             luaL_typename(L, idx));
  return dt_v_none();
}

/* Does the table at idx have a string key? */
static bool has_string_key (lua_State *L, int idx) {
  double re, im;
  if (!lua_istable(L, idx) || dtL_test_complex(L, idx, &re, &im)) return false;
  lua_pushnil(L);
  while (lua_next(L, idx)) {
    lua_pop(L, 1);
    if (lua_type(L, -1) == LUA_TSTRING) { lua_pop(L, 1); return true; }
  }
  return false;
}

static void keyword_values (Conv *c, int idx) {
  lua_State *L = c->L;
  DtLuaArgs *a = c->a;
  DtCtx *cx = dtL_session(L)->cx;
  a->kwname = (const char **)check_memory(
    c, dt_arena_alloc(cx, a->arena, DT_MAX_ARGS * sizeof(char *)));
  a->kw = (DtValue *)check_memory(
    c, dt_arena_alloc(cx, a->arena, DT_MAX_ARGS * sizeof(DtValue)));
  lua_pushnil(L);
  while (lua_next(L, idx)) {
    if (lua_type(L, -2) == LUA_TSTRING) {
      if (a->nkw >= DT_MAX_ARGS)
        dtL_errorf(release_conversion(c), DT_E_TYPE,
                   "too many keyword arguments");
      a->kwname[a->nkw] = lua_tostring(L, -2);
      a->kw[a->nkw++] = to_value(c, lua_gettop(L), 0);
    }
    lua_pop(L, 1);
  }
}

/* Positional arguments, then the keyword table if the last argument is one. A
** mixed table f{8, 4, k=v} counts as both: its list continues the positional
** arguments. */
void dtL_to_args (lua_State *L, int first, DtLuaArgs *a) {
  DtCtx *cx = dtL_session(L)->cx;
  Conv c;
  int top = lua_gettop(L), i, npos, extra = 0, kw = 0;
  memset(a, 0, sizeof *a);
  a->arena = &cx->scratch;
  c.L = L; c.a = a; c.maxin = MAX_LUA_SLOTS;
  c.mark = dt_arena_mark(a->arena);
  luaL_checkstack(L, 32, "too many arguments");
  if (top >= first && has_string_key(L, top)) {
    kw = top;
    extra = (int)luaL_len(L, top);          /* one mixed table: f{8, 4, k=v} */
  }
  npos = top - first + 1 - (kw ? 1 : 0);
  if (npos + extra > 64)
    dtL_errorf(release_conversion(&c), DT_E_TYPE, "%d arguments are too many",
               npos + extra);
  a->pos = (DtValue *)check_memory(
    &c, dt_arena_alloc(cx, a->arena,
                       (size_t)(npos + extra + 1) * sizeof *a->pos));
  a->in = (DtVar **)check_memory(
    &c, dt_arena_raw(cx, a->arena, MAX_LUA_SLOTS * sizeof *a->in));
  for (i = 0; i < npos; i++) a->pos[i] = to_value(&c, first + i, 0);
  for (i = 0; i < extra; i++) {
    lua_geti(L, kw, i + 1);
    a->pos[npos + i] = to_value(&c, lua_gettop(L), 0);
    lua_pop(L, 1);
  }
  a->npos = npos + extra;
  if (kw) keyword_values(&c, kw);
}

typedef struct Order {
  int *place;                   /* by old slot; -1: not met yet */
  int nin, n;
} Order;

static void number_slot (void *ud, int *slot) {
  Order *o = ud;
  if (*slot < 0 || *slot >= o->nin) return;
  if (o->place[*slot] < 0) o->place[*slot] = o->n++;
  *slot = o->place[*slot];
}

DtStatus dtL_order_slots (DtCtx *cx, DtLuaArgs *a, DtArgs *args) {
  if (a->nkw == 0 || a->nin < 2) return DT_OK;
  Order o = { DT_ANEWN(cx, a->arena, int, a->nin), a->nin, 0 };
  DtVar **in = DT_ANEWN(cx, a->arena, DtVar *, a->nin);
  if (o.place == NULL || in == NULL) return DT_E_NOMEM;
  for (int i = 0; i < a->nin; i++) o.place[i] = -1;
  for (int i = 0; i < args->schema->nargs; i++)
    dt_value_slots(&args->v[i], number_slot, &o);
  for (int i = 0; i < a->nin; i++) {
    if (o.place[i] < 0) o.place[i] = o.n++;     /* bound to nothing */
    in[o.place[i]] = a->in[i];
  }
  a->in = in;
  return DT_OK;
}

/* The reverse of to_value: tensors by the slot they have among `in`. A None
** inside a list is the None object, since nil would shorten the table;
** elsewhere it is nil. */
void dtL_push_value (lua_State *L, const DtValue *v, DtVar *const *in) {
  int i;
  switch ((DtValueKind)v->kind) {
    case DT_V_BOOL: lua_pushboolean(L, v->u.b); break;
    case DT_V_INT: lua_pushinteger(L, v->u.i); break;
    case DT_V_FLOAT: lua_pushnumber(L, v->u.f); break;
    case DT_V_STR: lua_pushstring(L, v->u.s); break;
    case DT_V_DTYPE: dtL_push_dtype(L, (DtDtype)v->u.i); break;
    case DT_V_DEVICE: lua_pushstring(L, dt_device_name((DtDevice)v->u.i));
      break;
    case DT_V_COMPLEX:
      lua_createtable(L, 2, 0);
      lua_pushnumber(L, v->u.c[0]); lua_seti(L, -2, 1);
      lua_pushnumber(L, v->u.c[1]); lua_seti(L, -2, 2);
      break;
    case DT_V_TENSOR:
      if (in && v->u.slot >= 0 && in[v->u.slot])
        dtL_share_tensor(L, in[v->u.slot]);
      else lua_pushnil(L);
      break;
    case DT_V_LIST:
      lua_createtable(L, v->u.list.n, 0);
      for (i = 0; i < v->u.list.n; i++) {
        if (v->u.list.v[i].kind == DT_V_NONE) dtL_push_none(L);
        else dtL_push_value(L, &v->u.list.v[i], in);
        lua_seti(L, -2, i + 1);
      }
      break;
    default: lua_pushnil(L); break;
  }
}
