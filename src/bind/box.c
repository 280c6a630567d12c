/* SPDX-License-Identifier: MIT
** bind/box.c: userdata boxes: one engine pointer each, collected by Lua.
** Also the small conversions everybody needs: placements, dtypes, sizes. */
#include <string.h>
#include "base/error_shard.h"
#include "bind/bind.h"

/* Tensors are invisible to Lua's collector, which sees only a small box; so
** their bytes are counted, and a full collection runs now and then. */
#define GC_BYTES ((int64_t)96 << 20)

/* "Tensor", "str", "None": what Python would call the value. */
static const char *python_type (lua_State *L, int idx) {
  if (dtL_is_none(L, idx)) return "NoneType";
  if (luaL_testudata(L, idx, DTL_TENSOR)) return "Tensor";
  if (luaL_testudata(L, idx, DTL_MESH)) return "DeviceMesh";
  switch (lua_type(L, idx)) {
    case LUA_TBOOLEAN: return "bool";
    case LUA_TNUMBER: return lua_isinteger(L, idx) ? "int" : "float";
    case LUA_TSTRING: return "str";
    case LUA_TTABLE: return "list";
    case LUA_TFUNCTION: return "function";
    default: return "object";
  }
}

DtVar *dtL_param_tensor (lua_State *L, int idx, const char *fn,
                         const char *param) {
  if (!luaL_testudata(L, idx, DTL_TENSOR))
    dtL_errorf(L, DT_E_TYPE, "%s(): argument '%s' must be Tensor, not %s", fn,
               param, python_type(L, idx));
  return dtL_check_tensor(L, idx);
}

DtMesh *dtL_param_mesh (lua_State *L, int idx, const char *fn,
                        const char *param) {
  if (!luaL_testudata(L, idx, DTL_MESH))
    dtL_errorf(L, DT_E_TYPE, "%s(): argument '%s' must be DeviceMesh, not %s",
               fn, param, python_type(L, idx));
  return dtL_check_mesh(L, idx);
}

DtVar **dtL_box_tensor (lua_State *L) {
  DtVar **b = (DtVar **)lua_newuserdatauv(L, sizeof *b, 1);
  *b = NULL;
  luaL_setmetatable(L, DTL_TENSOR);
  return b;
}

/* 256 stands for what a tensor costs beside its bytes, so that many small
** ones count, too. May collect: everything that is needed has to be on the
** stack. */
void dtL_count_tensor (lua_State *L, const DtVar *v) {
  DtBind *b = dtL_state(L);
  int64_t bytes = dt_meta_nbytes(&v->local->m);
  /* an expanded view has many elements and few bytes */
  if (bytes > (int64_t)v->local->storage->nbytes)
    bytes = (int64_t)v->local->storage->nbytes;
  b->pending += 256 + (dt_tensor_has_data(v->local) ? bytes : 0);
  if (b->pending > GC_BYTES) {
    b->pending = 0;
    lua_gc(L, LUA_GCCOLLECT);
  }
}

/* The box is made first and empty: its collector may run at once.  There is none
** that takes over a reference: where Lua has no memory for the box, nobody would
** own it. */
void dtL_share_tensor (lua_State *L, DtVar *v) {
  DtVar **b;
  if (v == NULL) { lua_pushnil(L); return; }
  b = dtL_box_tensor(L);
  *b = dt_var_ref(v);
  dtL_count_tensor(L, v);
}

/* luaL_testudata(), which looks the name up, at most once per state: the
** metatable stays as long as the state does. */
static DtVar **test_box (lua_State *L, int idx) {
  DtBind *b = dtL_state(L);
  DtVar **box = (DtVar **)lua_touserdata(L, idx);
  const void *meta;
  if (box == NULL || !lua_getmetatable(L, idx)) return NULL;
  meta = lua_topointer(L, -1);
  lua_pop(L, 1);
  if (meta == b->tensor_meta) return box;
  if (b->tensor_meta != NULL ||
      luaL_testudata(L, idx, DTL_TENSOR) == NULL) return NULL;
  b->tensor_meta = meta;
  return box;
}

DtVar *dtL_test_tensor (lua_State *L, int idx) {
  DtVar **b = test_box(L, idx);
  return b ? *b : NULL;
}

DtVar *dtL_check_tensor (lua_State *L, int idx) {
  DtVar **b = test_box(L, idx);
  if (b == NULL) b = (DtVar **)luaL_checkudata(L, idx, DTL_TENSOR);
  if (*b == NULL) luaL_argerror(L, idx, "tensor was closed");
  return *b;
}

DtMesh **dtL_box_mesh (lua_State *L) {
  DtMesh **b = (DtMesh **)lua_newuserdatauv(L, sizeof *b, 0);
  *b = NULL;
  luaL_setmetatable(L, DTL_MESH);
  return b;
}

DtMesh *dtL_test_mesh (lua_State *L, int idx) {
  DtMesh **b = (DtMesh **)luaL_testudata(L, idx, DTL_MESH);
  return b ? *b : NULL;
}

DtMesh *dtL_check_mesh (lua_State *L, int idx) {
  DtMesh **b = (DtMesh **)luaL_checkudata(L, idx, DTL_MESH);
  if (*b == NULL) luaL_argerror(L, idx, "mesh was closed");
  return *b;
}

void dtL_push_placement (lua_State *L, DtPlacement p) {
  DtPlacement *b = (DtPlacement *)lua_newuserdatauv(L, sizeof p, 0);
  *b = p;
  if (p.kind == DT_PL_MASK_PARTIAL) (void)dt_mask_ref(p.u.mask);
  luaL_setmetatable(L, DTL_PLACEMENT);
}

bool dtL_test_placement (lua_State *L, int idx, DtPlacement *out) {
  DtPlacement *b = (DtPlacement *)luaL_testudata(L, idx, DTL_PLACEMENT);
  if (b) *out = *b;
  return b != NULL;
}

static int placements_from_table (lua_State *L, int idx, DtPlacement *out,
                                  int max) {
  int n = (int)luaL_len(L, idx), i;
  if (n > max)
    dtL_errorf(L, DT_E_PLACEMENT, "%d placements are too many (limit %d)", n,
               max);
  for (i = 0; i < n; i++) {
    lua_geti(L, idx, i + 1);
    if (!dtL_test_placement(L, -1, &out[i])) {
      const char *s = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1)
                                                     : NULL;
      if (s == NULL)
        dtL_errorf(L, DT_E_PLACEMENT,
                   "placement %d is a %s; want Shard(d), Replicate(), "
                   "Partial(op) or text such as \"S(0)\"", i,
                   luaL_typename(L, -1));
      if (dt_pl_parse(dtL_session(L)->cx, &s, &out[i]) != DT_OK) dtL_raise(L);
    }
    lua_pop(L, 1);
  }
  return n;
}

int dtL_check_placements (lua_State *L, int idx, DtPlacement *out, int max) {
  int n = 0;
  idx = lua_absindex(L, idx);
  if (dtL_test_placement(L, idx, &out[0])) return 1;
  if (lua_type(L, idx) == LUA_TSTRING) {
    if (dt_pls_parse(dtL_session(L)->cx, lua_tostring(L, idx), out, max, &n)
        != DT_OK)
      dtL_raise(L);
    return n;
  }
  if (lua_type(L, idx) != LUA_TTABLE)
    dtL_errorf(L, DT_E_TYPE, "placements must be a list such as {Shard(0), "
               "Replicate()} or text such as \"S(0) R\", not %s",
               python_type(L, idx));
  return placements_from_table(L, idx, out, max);
}

void dtL_push_placements (lua_State *L, const DtPlacement *p, int n) {
  int i;
  lua_createtable(L, n, 0);
  for (i = 0; i < n; i++) {
    dtL_push_placement(L, p[i]);
    lua_seti(L, -2, i + 1);
  }
  luaL_setmetatable(L, "dt.placements");
}

void dtL_push_dtype (lua_State *L, DtDtype t) {
  lua_getfield(L, LUA_REGISTRYINDEX, "dt.dtypes");
  lua_geti(L, -1, (lua_Integer)t + 1);
  lua_remove(L, -2);
}

bool dtL_test_complex (lua_State *L, int idx, double *re, double *im) {
  idx = lua_absindex(L, idx);
  if (lua_type(L, idx) != LUA_TTABLE ||
      luaL_getmetafield(L, idx, "complex_number") == LUA_TNIL) return false;
  lua_pop(L, 1);
  lua_getfield(L, idx, "re");
  lua_getfield(L, idx, "im");
  *re = lua_tonumber(L, -2);
  *im = lua_tonumber(L, -1);
  lua_pop(L, 2);
  return true;
}

DtDtype dtL_to_dtype (lua_State *L, int idx) {
  uint8_t *p = (uint8_t *)luaL_testudata(L, idx, DTL_DTYPE);
  if (p) return (DtDtype)*p;
  if (lua_type(L, idx) == LUA_TSTRING)
    return dt_dtype_find(lua_tostring(L, idx));
  return DT_DTYPE_NONE;
}

DtDtype dtL_check_dtype (lua_State *L, int idx) {
  DtDtype t = dtL_to_dtype(L, idx);
  if (t == DT_DTYPE_NONE) luaL_typeerror(L, idx, "dtype");
  return t;
}

int dtL_check_ints (lua_State *L, int idx, int64_t *out, int max) {
  int n, i;
  idx = lua_absindex(L, idx);
  if (lua_isinteger(L, idx)) { out[0] = lua_tointeger(L, idx); return 1; }
  luaL_checktype(L, idx, LUA_TTABLE);
  n = (int)luaL_len(L, idx);
  if (n > max)
    dtL_errorf(L, DT_E_LIMIT, "a list of %d numbers is too long here "
               "(limit %d)", n, max);
  for (i = 0; i < n; i++) {
    int ok;
    lua_geti(L, idx, i + 1);
    out[i] = lua_tointegerx(L, -1, &ok);
    if (!ok)
      dtL_errorf(L, DT_E_TYPE, "element %d of the list is %s, want an integer",
                 i, luaL_tolstring(L, -1, NULL));
    lua_pop(L, 1);
  }
  return n;
}

static int push_text (lua_State *L) {
  const DtBuf *b = (const DtBuf *)lua_touserdata(L, 1);
  lua_pushlstring(L, dt_buf_str(b), b->len);
  return 1;
}

/* Protected: a failure of Lua's allocator must not leave the buffer behind. */
void dtL_push_buf (lua_State *L, DtBuf *b) {
  int rc;
  lua_pushcfunction(L, push_text);
  lua_pushlightuserdata(L, b);
  rc = lua_pcall(L, 1, 1, 0);
  dt_buf_fini(b);
  if (rc != LUA_OK) lua_error(L);
}

void dtL_push_size (lua_State *L, const int64_t *v, int n) {
  int i;
  lua_createtable(L, n, 0);
  for (i = 0; i < n; i++) {
    lua_pushinteger(L, v[i]);
    lua_seti(L, -2, i + 1);
  }
  luaL_setmetatable(L, DTL_SIZE);
}

/* dt.None is one light userdata: an address nobody else has. */
static const char none_key = 0;

void dtL_push_none (lua_State *L) {
  lua_pushlightuserdata(L, (void *)(uintptr_t)&none_key);
}

bool dtL_is_none (lua_State *L, int idx) {
  return lua_isnoneornil(L, idx)
         || (lua_islightuserdata(L, idx)
             && lua_touserdata(L, idx) == (void *)(uintptr_t)&none_key);
}
