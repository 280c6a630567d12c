/* SPDX-License-Identifier: MIT
** bind/l_placement.c: Shard, Replicate, Partial, _StridedShard as values with
** PyTorch's predicates, printing and equality; dtype and Size objects. */
#include <math.h>
#include <string.h>
#include "base/error_shard.h"
#include "bind/bind.h"

static DtPlacement check_pl (lua_State *L, int idx) {
  DtPlacement p;
  if (!dtL_test_placement(L, idx, &p)) luaL_typeerror(L, idx, "placement");
  return p;
}

/* Value of keyword `key` when argument 1 is a table, else argument `idx`. */
static void arg_or_key (lua_State *L, int idx, const char *key) {
  if (lua_istable(L, 1)) lua_getfield(L, 1, key);
  else lua_pushvalue(L, idx);
}

static int p_shard (lua_State *L) {
  int ok;
  lua_Integer d;
  arg_or_key(L, 1, "dim");
  d = lua_tointegerx(L, -1, &ok);
  if (!ok)
    return dtL_errorf(L, DT_E_TYPE, "Shard(dim): dim must be an integer, got "
                      "%s", luaL_typename(L, -1));
  if (d < -32768 || d > 32767)
    return dtL_errorf(L, DT_E_PLACEMENT, "Shard(dim): dim %lld is no tensor "
                      "dimension", (long long)d);
  dtL_push_placement(L, dt_pl_shard((int)d));
  return 1;
}

static int p_replicate (lua_State *L) {
  dtL_push_placement(L, dt_pl_replicate());
  return 1;
}

static int p_partial (lua_State *L) {
  const char *name;
  DtRedOp op;
  arg_or_key(L, 1, "reduce_op");
  name = lua_isnil(L, -1) || lua_isnone(L, -1) ? "sum" : lua_tostring(L, -1);
  op = name ? dt_redop_find(name) : DT_NREDOPS;
  if (op == DT_NREDOPS)
    return dtL_errorf(L, DT_E_PLACEMENT, "Partial(reduce_op): unknown '%s'; "
                      "one of sum avg min max product band bor bxor",
                      name ? name : "?");
  dtL_push_placement(L, dt_pl_partial(op));
  return 1;
}

static int p_strided (lua_State *L) {
  lua_Integer d, sf;
  arg_or_key(L, 1, "dim");
  d = luaL_checkinteger(L, -1);
  arg_or_key(L, 2, "split_factor");
  if (lua_isnil(L, -1) && lua_istable(L, 1)) lua_getfield(L, 1, "sf");
  sf = luaL_optinteger(L, -1, 1);
  dtL_push_placement(L, dt_pl_strided((int)d, sf));
  return 1;
}

/* dt._MaskPartial(reduce_op?, offset_shape?, offset_dim?): the placement of a
** lookup in a table of that shape whose dim is cut, with a mask of its own. */
static int p_mask (lua_State *L) {
  const char *name = luaL_optstring(L, 1, "sum");
  DtRedOp op = dt_redop_find(name);
  lua_Integer dim = luaL_optinteger(L, 3, 0);
  int64_t shape[8];
  lua_Integer n = -1, i;
  DtMaskBuf *m;
  if (op == DT_NREDOPS)
    return dtL_errorf(L, DT_E_RUNTIME, "Unrecognized reduce_op: %s", name);
  if (!lua_isnoneornil(L, 2)) {
    n = luaL_len(L, 2);
    luaL_argcheck(L, n <= 8, 2, "at most 8 sizes");
    for (i = 0; i < n; i++) {
      lua_geti(L, 2, i + 1);
      shape[i] = luaL_checkinteger(L, -1);
      lua_pop(L, 1);
    }
  }
  luaL_argcheck(L, dim == (int)dim, 3, "a dimension");
  m = dt_mask_new(dtL_session(L)->cx, (int)n, shape, (int)dim);
  if (m == NULL) return dtL_raise(L);
  dtL_push_placement(L, dt_pl_mask(op, m));
  dt_mask_unref(dtL_session(L)->cx, m);
  return 1;
}

static int pl_gc (lua_State *L) {
  DtPlacement *p = (DtPlacement *)luaL_checkudata(L, 1, DTL_PLACEMENT);
  if (p->kind == DT_PL_MASK_PARTIAL)
    dt_mask_unref(dtL_state(L)->s->cx, p->u.mask);
  *p = dt_pl_replicate();
  return 0;
}

static int pl_tostring (lua_State *L) {
  DtBuf b;
  dt_buf_init(&b, dtL_session(L)->cx);
  dt_pl_print(check_pl(L, 1), &b);
  dtL_push_buf(L, &b);
  return 1;
}

static int pl_repr (lua_State *L) {
  DtBuf b;
  dt_buf_init(&b, dtL_session(L)->cx);
  dt_pl_repr(check_pl(L, 1), &b);
  dtL_push_buf(L, &b);
  return 1;
}

static int pl_eq (lua_State *L) {
  DtPlacement a, b;
  lua_pushboolean(L, dtL_test_placement(L, 1, &a)
                     && dtL_test_placement(L, 2, &b) && dt_pl_equal(a, b));
  return 1;
}

/* How many placements the list holds; -1 when it holds anything else. */
static int only_placements (lua_State *L, int idx, DtPlacement *out) {
  int n;
  if (lua_type(L, idx) != LUA_TTABLE) return -1;
  for (n = 0; n < DT_MAX_MDIM; n++) {
    bool is;
    if (lua_rawgeti(L, idx, n + 1) == LUA_TNIL) { lua_pop(L, 1); return n; }
    is = dtL_test_placement(L, -1, &out[n]);
    lua_pop(L, 1);
    if (!is) return -1;
  }
  return -1;
}

/* dt._same_lists(a, b): are two lists of placements the same?  nil when their
** texts must decide: one is anything else, or they differ in a partial. */
static int p_same_lists (lua_State *L) {
  DtPlacement a[DT_MAX_MDIM], b[DT_MAX_MDIM];
  int n = only_placements(L, 1, a), i;
  if (n < 0 || only_placements(L, 2, b) != n) return 0;
  for (i = 0; i < n && dt_pl_equal(a[i], b[i]); i++) continue;
  if (i < n && !dt_pl_is_shard(a[i]) && !dt_pl_is_replicate(a[i])) return 0;
  lua_pushboolean(L, i == n);
  return 1;
}

static int pl_is_shard (lua_State *L) {
  DtPlacement p = check_pl(L, 1);
  lua_pushboolean(L, dt_pl_is_shard(p) && (lua_isnoneornil(L, 2)
                     || p.dim == luaL_checkinteger(L, 2)));
  return 1;
}

static int pl_is_replicate (lua_State *L) {
  lua_pushboolean(L, dt_pl_is_replicate(check_pl(L, 1)));
  return 1;
}

static int pl_is_partial (lua_State *L) {
  DtPlacement p = check_pl(L, 1);
  lua_pushboolean(L, dt_pl_is_partial(p) && (lua_isnoneornil(L, 2)
    || strcmp(dt_redop_name((DtRedOp)p.op), luaL_checkstring(L, 2)) == 0));
  return 1;
}

/* Pushes offset_shape or offset_dim, when k is one of these. */
static bool mask_field (lua_State *L, const DtMaskBuf *m, const char *k) {
  int i;
  if (strcmp(k, "offset_dim") == 0) lua_pushinteger(L, m->dim);
  else if (strcmp(k, "offset_shape") != 0) return false;
  else if (m->ndim < 0) lua_pushnil(L);
  else {
    lua_createtable(L, m->ndim, 0);
    for (i = 0; i < m->ndim; i++) {
      lua_pushinteger(L, m->shape[i]);
      lua_seti(L, -2, i + 1);
    }
    luaL_setmetatable(L, DTL_SIZE);
  }
  return true;
}

static int pl_index (lua_State *L) {
  DtPlacement p = check_pl(L, 1);
  const char *k = luaL_checkstring(L, 2);
  if (strcmp(k, "dim") == 0 && dt_pl_is_shard_like(p))
    lua_pushinteger(L, p.dim);
  else if (strcmp(k, "split_factor") == 0 && p.kind == DT_PL_STRIDED)
    lua_pushinteger(L, p.u.sf);
  else if (strcmp(k, "reduce_op") == 0 && dt_pl_is_partial(p))
    lua_pushstring(L, dt_redop_name((DtRedOp)p.op));
  else if (p.kind == DT_PL_MASK_PARTIAL && p.u.mask != NULL
           && mask_field(L, p.u.mask, k))
    return 1;
  else lua_pushvalue(L, lua_upvalueindex(1)), lua_getfield(L, -1, k);
  return 1;
}

/* A list of placements prints as PyTorch prints the tuple. */
static int pls_tostring (lua_State *L) {
  DtPlacement p[64];
  DtBuf b;
  int n = dtL_check_placements(L, 1, p, 64), i;
  dt_buf_init(&b, dtL_session(L)->cx);
  dt_buf_addc(&b, '(');
  for (i = 0; i < n; i++) {
    if (i) dt_buf_add(&b, ", ");
    dt_pl_repr(p[i], &b);
  }
  dt_buf_add(&b, n == 1 ? ",)" : ")");
  dtL_push_buf(L, &b);
  return 1;
}

static int list_eq (lua_State *L) {
  lua_Integer n = luaL_len(L, 1), i;
  bool same = n == luaL_len(L, 2);
  for (i = 1; same && i <= n; i++) {
    lua_geti(L, 1, i);
    lua_geti(L, 2, i);
    same = lua_compare(L, -1, -2, LUA_OPEQ);
    lua_pop(L, 2);
  }
  lua_pushboolean(L, same);
  return 1;
}

static int size_tostring (lua_State *L) {
  DtBuf b;
  lua_Integer n = luaL_len(L, 1), i;
  dt_buf_init(&b, dtL_session(L)->cx);
  dt_buf_add(&b, "torch.Size([");
  for (i = 1; i <= n; i++) {
    lua_geti(L, 1, i);
    dt_buf_addf(&b, i > 1 ? ", %lld" : "%lld",
                (long long)lua_tointeger(L, -1));
    lua_pop(L, 1);
  }
  dt_buf_add(&b, "])");
  dtL_push_buf(L, &b);
  return 1;
}

static int dtype_tostring (lua_State *L) {
  DtDtype t = dtL_check_dtype(L, 1);
  lua_pushstring(L, dt_dtype_info(t)->torch);
  return 1;
}

/* d.abbr, d.scalar_type: its names in DebugMode and in errors; d.real: the
** type of its parts; d.complex: of what a number of it becomes beside a complex
** one. */
static int dtype_index (lua_State *L) {
  DtDtype t = dtL_check_dtype(L, 1);
  const char *name = luaL_checkstring(L, 2);
  const DtDtypeInfo *d = dt_dtype_info(t);
  if (strcmp(name, "abbr") == 0)
    lua_pushstring(L, d->tag);
  else if (strcmp(name, "scalar_type") == 0)
    lua_pushstring(L, d->word);
  else if (strcmp(name, "real") == 0)
    dtL_push_dtype(L, dt_dtype_to_real(t));
  else if (strcmp(name, "complex") == 0)
    dtL_push_dtype(L, t == DT_BF16 && dtL_state(L)->s->cx->bf16_complex
                        ? DT_BC32 : dt_dtype_to_complex(t));
  else
    lua_pushnil(L);
  return 1;
}

/* One userdata for each dtype for the whole session, so that dtypes compare by
** identity; short names (dt.f32) and PyTorch's (dt.float32) are the same
** object. */
static void open_dtypes (lua_State *L) {
  int i;
  luaL_newmetatable(L, DTL_DTYPE);
  lua_pushcfunction(L, dtype_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_pushcfunction(L, dtype_index);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  lua_newtable(L);
  for (i = 0; i < DT_NDTYPES; i++) {
    uint8_t *p = (uint8_t *)lua_newuserdatauv(L, 1, 0);
    *p = (uint8_t)i;
    luaL_setmetatable(L, DTL_DTYPE);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, LUA_REGISTRYINDEX, "dt.dtypes");
  lua_getfield(L, LUA_REGISTRYINDEX, "dt");
  for (i = 0; i < DT_NDTYPES; i++) {
    const DtDtypeInfo *d = dt_dtype_info((DtDtype)i);
    dtL_push_dtype(L, (DtDtype)i);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, d->name);
    lua_setfield(L, -2, strchr(d->torch, '.') + 1);
  }
  lua_pop(L, 1);
}

/* Lists begin at 1, dimensions at 0: shape[0] and shape[-1], written by habit,
** would be nil and fail far from here. */
static int list_index (lua_State *L) {
  lua_Integer i = lua_isinteger(L, 2) ? lua_tointeger(L, 2) : 1;
  if (i < 1)
    return dtL_errorf(L, DT_E_INDEX, "a list counts from 1 in Lua: [1] is the "
                      "first, [#list] the last, not [%lld]; x:size(0) counts "
                      "as in PyTorch", (long long)i);
  lua_pushnil(L);
  return 1;
}

void dtL_open_placement (lua_State *L) {
  static const luaL_Reg make[] = {
    {"Partial", p_partial}, {"Replicate", p_replicate}, {"Shard", p_shard},
    {"_MaskPartial", p_mask}, {"_StridedShard", p_strided},
    {"_same_lists", p_same_lists}, {NULL, NULL}
  };
  static const luaL_Reg methods[] = {
    {"is_partial", pl_is_partial}, {"is_replicate", pl_is_replicate},
    {"is_shard", pl_is_shard}, {"repr", pl_repr}, {NULL, NULL}
  };
  luaL_newmetatable(L, DTL_PLACEMENT);
  lua_pushcfunction(L, pl_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_pushcfunction(L, pl_eq);
  lua_setfield(L, -2, "__eq");
  lua_pushcfunction(L, pl_gc);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, methods);
  lua_pushcclosure(L, pl_index, 1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  luaL_newmetatable(L, "dt.placements");
  lua_pushcfunction(L, pls_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_pushcfunction(L, list_eq);
  lua_setfield(L, -2, "__eq");
  lua_pushcfunction(L, list_index);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  luaL_newmetatable(L, DTL_SIZE);
  lua_pushcfunction(L, size_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_pushcfunction(L, list_eq);
  lua_setfield(L, -2, "__eq");
  lua_pushcfunction(L, list_index);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  lua_getfield(L, LUA_REGISTRYINDEX, "dt");
  luaL_setfuncs(L, make, 0);
  lua_pop(L, 1);
  open_dtypes(L);
}
