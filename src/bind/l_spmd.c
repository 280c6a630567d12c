/* SPDX-License-Identifier: MIT
** bind/l_spmd.c: SPMD types for Lua, the table dt._spmd.  The rules are
** src/spmd's; what is written here are arguments and results.
**
** An axis is a number (axis(), axis_of_ranks()); a type is a list of
** {axis, "R"|"I"|"V"|"P"}; a spec is a list with an entry for each dimension,
** false or a list of axes, outermost first.
**
**   types(t) -> list or nil     spec(t) -> list or nil     set(t, types, spec)
** What is asked of calls is in l_spmd_call.c.
** All functions here are Local. */
#include <string.h>
#include "bind/bind.h"
#include "bind/field.h"
#include "bind/spmd.h"

/* Its address is the registry's key. */
static const char key_of_spmd = 0;

DtLuaSpmd *dtL_spmd (lua_State *L) {
  DtLuaSpmd *s;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &key_of_spmd);
  s = (DtLuaSpmd *)lua_touserdata(L, -1);
  lua_pop(L, 1);
  return s;
}

static DtSpmd *spmd_of (lua_State *L) { return &dtL_spmd(L)->s; }

static int spmd_gc (lua_State *L) {
  dt_spmd_fini(&((DtLuaSpmd *)lua_touserdata(L, 1))->s);
  return 0;
}

static void free_type (DtCtx *cx, DtSide *side) { dt_free(cx, side); }

const DtSpmdNode *dtL_spmd_node (const DtVar *v) {
  return v->types != NULL ? ((const DtVarType *)v->types)->node : NULL;
}

const DtSpmdType *dtL_spmd_type (const DtVar *v) {
  const DtSpmdNode *node = dtL_spmd_node(v);
  return node != NULL ? &node->type : NULL;
}

DtStatus dtL_spmd_give (DtCtx *cx, DtVar *v, const DtSpmdNode *node,
                        int made) {
  DtVarType *own = (DtVarType *)v->types;
  if (own == NULL) {
    own = DT_NEW(cx, DtVarType);
    if (own == NULL) return DT_E_NOMEM;
    own->side.free = free_type;
    v->types = &own->side;
  }
  own->node = node;
  if (made != 0) own->made = made;
  return DT_OK;
}

/* {==== Axes ==== */

static int check_axis (lua_State *L, const DtSpmd *s, int i) {
  lua_Integer a = luaL_checkinteger(L, i);
  if (a < 1 || a > s->naxes) luaL_argerror(L, i, "no such mesh axis");
  return (int)a;
}

/* A list of axes at i; returns how many. */
static int check_axes (lua_State *L, const DtSpmd *s, int i, int *out,
                       int max) {
  int n;
  luaL_checktype(L, i, LUA_TTABLE);
  n = (int)luaL_len(L, i);
  if (n > max) luaL_argerror(L, i, "too many mesh axes");
  for (int k = 0; k < n; k++) {
    lua_geti(L, i, k + 1);
    out[k] = check_axis(L, s, lua_gettop(L));
    lua_pop(L, 1);
  }
  return n;
}

static void push_axes (lua_State *L, const int *axis, int n) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    lua_pushinteger(L, axis[i]);
    lua_seti(L, -2, i + 1);
  }
}

/* axis({{size, stride}, ...}) -> number */
static int l_axis (lua_State *L) {
  DtSpmd *s = spmd_of(L);
  int64_t size[32], stride[32];
  int n, out;
  luaL_checktype(L, 1, LUA_TTABLE);
  n = (int)luaL_len(L, 1);
  if (n > 32) luaL_argerror(L, 1, "too many parts");
  for (int i = 0; i < n; i++) {
    lua_geti(L, 1, i + 1);
    luaL_checktype(L, -1, LUA_TTABLE);
    lua_geti(L, -1, 1);
    lua_geti(L, -2, 2);
    size[i] = luaL_checkinteger(L, -2);
    stride[i] = luaL_checkinteger(L, -1);
    lua_pop(L, 3);
  }
  if (dt_spmd_axis(s, n, size, stride, &out) != DT_OK) return dtL_raise(L);
  lua_pushinteger(L, out);
  return 1;
}

/* axis_of_ranks({0, 2}, name?) -> number */
static int l_axis_of_ranks (lua_State *L) {
  DtSpmd *s = spmd_of(L);
  const char *name = luaL_optstring(L, 2, NULL);
  int64_t *ranks;
  int n, out;
  luaL_checktype(L, 1, LUA_TTABLE);
  n = (int)luaL_len(L, 1);
  ranks = (int64_t *)lua_newuserdatauv(L, sizeof *ranks * (size_t)(n + 1), 0);
  for (int i = 0; i < n; i++) {
    lua_geti(L, 1, i + 1);
    ranks[i] = luaL_checkinteger(L, -1);
    lua_pop(L, 1);
  }
  if (dt_spmd_axis_of_ranks(s, n, ranks, &out) != DT_OK ||
      (name != NULL && dt_spmd_name_axis(s, out, name) != DT_OK))
    return dtL_raise(L);
  lua_pushinteger(L, out);
  return 1;
}

static int l_name_axis (lua_State *L) {
  DtSpmd *s = spmd_of(L);
  if (dt_spmd_name_axis(s, check_axis(L, s, 1), luaL_checkstring(L, 2))
      != DT_OK)
    return dtL_raise(L);
  return 0;
}

static int l_forget_names (lua_State *L) {
  dt_spmd_forget_names(spmd_of(L));
  return 0;
}

/* axis_info(axis) -> {size, name, layout, names} */
static int l_axis_info (lua_State *L) {
  DtSpmd *s = spmd_of(L);
  int axis = check_axis(L, s, 1);
  const DtSpmdAxis *a = dt_spmd_axis_at(s, axis);
  DtBuf b;
  lua_createtable(L, 0, 4);
  dtL_set_int(L, "size", dt_spmd_axis_size(s, axis));
  lua_createtable(L, a->n, 0);
  for (int i = 0; i < a->n; i++) {
    int64_t part[2] = { a->size[i], a->stride[i] };
    dtL_push_ints(L, part, 2);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "layout");
  lua_createtable(L, a->nnames, 0);
  for (int i = 0; i < a->nnames; i++) {
    lua_pushstring(L, a->name[i]);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "names");
  dt_buf_init(&b, s->cx);
  dt_spmd_axis_text(s, axis, &b);
  dtL_push_buf(L, &b);
  lua_setfield(L, -2, "name");
  return 1;
}

static int l_axis_within (lua_State *L) {
  DtSpmd *s = spmd_of(L);
  lua_pushboolean(L, dt_spmd_within(s, check_axis(L, s, 1),
                                    check_axis(L, s, 2)));
  return 1;
}

static int l_orthogonal (lua_State *L) {
  DtSpmd *s = spmd_of(L);
  lua_pushboolean(L, dt_spmd_orthogonal(s, check_axis(L, s, 1),
                                        check_axis(L, s, 2)));
  return 1;
}

static int l_axes_text (lua_State *L) {
  DtSpmd *s = spmd_of(L);
  int axis[DT_SPMD_AXES * 4];
  int n = check_axes(L, s, 1, axis, DT_SPMD_AXES * 4);
  DtBuf b;
  dt_buf_init(&b, s->cx);
  dt_spmd_axes_text(s, n, axis, &b);
  dtL_push_buf(L, &b);
  return 1;
}

/* parts(axis, {axes}) -> list or nil */
static int l_parts (lua_State *L) {
  DtSpmd *s = spmd_of(L);
  int list[DT_SPMD_AXES * 4], out[DT_SPMD_AXES * 4];
  int axis = check_axis(L, s, 1);
  int n = check_axes(L, s, 2, list, DT_SPMD_AXES * 4);
  n = dt_spmd_parts(s, axis, n, list, out);
  if (n == 0) return 0;
  push_axes(L, out, n);
  return 1;
}

/* mode(mesh|nil, strict, grad mode): where the program is. */
static int l_mode (lua_State *L) {
  DtSpmd *s = spmd_of(L);
  int mesh[DT_SPMD_AXES];
  int n = lua_isnil(L, 1) ? -1 : check_axes(L, s, 1, mesh, DT_SPMD_AXES);
  s->grad_mode = lua_toboolean(L, 3);
  if (dt_spmd_set_mode(s, n, mesh, lua_toboolean(L, 2)) != DT_OK)
    return dtL_raise(L);
  return 0;
}

/* named_axes() -> {axis, ...} */
static int l_named_axes (lua_State *L) {
  DtSpmd *s = spmd_of(L);
  lua_Integer n = 0;
  lua_newtable(L);
  for (int i = 1; i <= s->naxes; i++) {
    if (dt_spmd_axis_at(s, i)->nnames == 0) continue;
    lua_pushinteger(L, i);
    lua_seti(L, -2, ++n);
  }
  return 1;
}

/* }==== */

/* {==== Types ==== */

void dtL_push_spmd_type (lua_State *L, const DtSpmdType *t) {
  lua_createtable(L, t->n, 0);
  for (int i = 0; i < t->n; i++) {
    lua_createtable(L, 2, 0);
    lua_pushinteger(L, t->at[i].axis);
    lua_seti(L, -2, 1);
    lua_pushlstring(L, &t->at[i].type, 1);
    lua_seti(L, -2, 2);
    lua_seti(L, -2, i + 1);
  }
}

static int l_types (lua_State *L) {
  const DtSpmdType *t = dtL_spmd_type(dtL_check_tensor(L, 1));
  if (t == NULL) return 0;
  dtL_push_spmd_type(L, t);
  return 1;
}

static int l_spec (lua_State *L) {
  const DtSpmdType *t = dtL_spmd_type(dtL_check_tensor(L, 1));
  if (t == NULL || t->ndim < 0) return 0;
  lua_createtable(L, t->ndim, 0);
  for (int i = 0; i < t->ndim; i++) {
    if (t->dim[i].n == 0) lua_pushboolean(L, 0);
    else push_axes(L, t->dim[i].axis, t->dim[i].n);
    lua_seti(L, -2, i + 1);
  }
  return 1;
}

static int l_type_on (lua_State *L) {
  DtSpmd *s = spmd_of(L);
  const DtSpmdType *t = dtL_spmd_type(dtL_check_tensor(L, 1));
  char c = dt_spmd_type_on(t, check_axis(L, s, 2));
  if (c == 0) return 0;
  lua_pushlstring(L, &c, 1);
  return 1;
}

void dtL_check_spmd_type (lua_State *L, DtSpmd *s, int i, DtSpmdType *t) {
  int n;
  dt_spmd_type_init(t);
  luaL_checktype(L, i, LUA_TTABLE);
  n = (int)luaL_len(L, i);
  for (int k = 0; k < n; k++) {
    const char *c;
    int axis;
    lua_geti(L, i, k + 1);
    luaL_checktype(L, -1, LUA_TTABLE);
    lua_geti(L, -1, 1);
    lua_geti(L, -2, 2);
    axis = check_axis(L, s, lua_gettop(L) - 1);
    c = luaL_checkstring(L, -1);
    if (strchr("RIVP", c[0]) == NULL || c[0] == '\0' || c[1] != '\0')
      luaL_argerror(L, i, "a type is R, I, V or P");
    if (dt_spmd_type_put(s, t, axis, c[0]) != DT_OK) dtL_raise(L);
    lua_pop(L, 3);
  }
}

static void check_spec (lua_State *L, const DtSpmd *s, int i, DtSpmdType *t) {
  int n;
  if (lua_isnoneornil(L, i)) return;
  luaL_checktype(L, i, LUA_TTABLE);
  n = (int)luaL_len(L, i);
  if (n > DT_MAX_NDIM) luaL_argerror(L, i, "too many dimensions");
  t->ndim = n;
  for (int k = 0; k < n; k++) {
    t->dim[k].n = 0;
    lua_geti(L, i, k + 1);
    if (lua_istable(L, -1))
      t->dim[k].n = check_axes(L, s, lua_gettop(L), t->dim[k].axis,
                               DT_SPMD_DEEP);
    lua_pop(L, 1);
  }
}

/* set(t, types|nil, spec|nil) */
static int l_set (lua_State *L) {
  DtSpmd *s = spmd_of(L);
  DtVar *v = dtL_check_tensor(L, 1);
  const DtSpmdNode *node;
  DtSpmdType t;
  if (lua_isnoneornil(L, 2)) {
    if (v->types != NULL) v->types->free(s->cx, v->types);
    v->types = NULL;
    return 0;
  }
  dtL_check_spmd_type(L, s, 2, &t);
  check_spec(L, s, 3, &t);
  if (dt_spmd_intern(s, &t, &node) != DT_OK ||
      dtL_spmd_give(s->cx, v, node, 0) != DT_OK)
    return dtL_raise(L);
  return 0;
}

/* "f32[4, 6] {mesh_tp: R} PartitionSpec(None, mesh_tp)" */
static int l_tensor_text (lua_State *L) {
  DtSpmd *s = spmd_of(L);
  const DtVar *v = dtL_check_tensor(L, 1);
  const DtSpmdType *t = dtL_spmd_type(v);
  DtBuf b;
  dt_buf_init(&b, s->cx);
  dt_meta_print(dt_var_meta(v), &b);
  dt_buf_addc(&b, ' ');
  dt_spmd_type_text(s, t, &b);
  if (t != NULL && t->ndim >= 0) {
    dt_buf_addc(&b, ' ');
    dt_spmd_spec_text(s, t, &b);
  }
  dtL_push_buf(L, &b);
  return 1;
}

/* type_text(types, spec?) -> "{mesh_tp: R}", "PartitionSpec(...)" or nil */
static int l_type_text (lua_State *L) {
  DtSpmd *s = spmd_of(L);
  DtSpmdType t;
  DtBuf b;
  dtL_check_spmd_type(L, s, 1, &t);
  check_spec(L, s, 2, &t);
  dt_buf_init(&b, s->cx);
  dt_spmd_type_text(s, &t, &b);
  dtL_push_buf(L, &b);
  if (t.ndim < 0) return 1;
  dt_buf_init(&b, s->cx);
  dt_spmd_spec_text(s, &t, &b);
  dtL_push_buf(L, &b);
  return 2;
}

/* }==== */

void dtL_open_spmd (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"axes_text", l_axes_text}, {"axis", l_axis}, {"axis_info", l_axis_info},
    {"axis_of_ranks", l_axis_of_ranks}, {"axis_within", l_axis_within},
    {"forget_names", l_forget_names}, {"mode", l_mode}, {"name_axis", l_name_axis},
    {"named_axes", l_named_axes}, {"orthogonal", l_orthogonal},
    {"parts", l_parts}, {"set", l_set}, {"spec", l_spec},
    {"tensor_text", l_tensor_text}, {"type_on", l_type_on},
    {"type_text", l_type_text}, {"types", l_types},
    {"watch_ops", dtL_watch_ops}, {NULL, NULL}
  };
  DtLuaSpmd *s = (DtLuaSpmd *)lua_newuserdatauv(L, sizeof *s, 0);
  memset(s, 0, sizeof *s);
  dt_spmd_init(&s->s, dtL_session(L)->cx);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, spmd_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key_of_spmd);
  luaL_newlib(L, funcs);
  lua_setfield(L, dt, "_spmd");
}
