/* SPDX-License-Identifier: MIT
** bind/l_mesh.c: DeviceMesh: construction, slicing, flattening, questions.
** Every call here is Agreed: all ranks must make it with equal arguments. */
#include <string.h>
#include "base/error_shard.h"
#include "bind/bind.h"
#include "bind/field.h"

/* Names from a table or one string at idx; returns how many. */
static int check_names (lua_State *L, int idx, const char **out, int max) {
  int n, i;
  if (lua_type(L, idx) == LUA_TSTRING) {
    out[0] = lua_tostring(L, idx);
    return 1;
  }
  luaL_checktype(L, idx, LUA_TTABLE);
  n = (int)luaL_len(L, idx);
  if (n > max)
    dtL_errorf(L, DT_E_MESH, "%d mesh dimension names are too many (limit "
               "%d)", n, max);
  for (i = 0; i < n; i++) {
    lua_geti(L, idx, i + 1);
    if (lua_type(L, -1) != LUA_TSTRING)
      dtL_errorf(L, DT_E_TYPE, "mesh dimension name %d is a %s, want a string",
                 i, luaL_typename(L, -1));
    out[i] = lua_tostring(L, -1);           /* the table holds it */
    lua_pop(L, 1);
  }
  return n;
}

/* mesh_dim_names of the options table at idx: how many, -1 when not given. */
static int opt_names (lua_State *L, int idx, const char **buf) {
  int n;
  if (!lua_istable(L, idx)) return -1;
  lua_getfield(L, idx, "mesh_dim_names");
  if (dtL_is_none(L, -1)) { lua_pop(L, 1); return -1; }
  n = check_names(L, lua_gettop(L), buf, DT_MAX_MDIM);
  return n;                                  /* left on the stack: held */
}

/* One rank alone stands for all of the mesh (--alone). */
static void cut_down (lua_State *L, int n, int64_t *shape) {
  for (int i = 0; i < n && dtL_state(L)->o.alone; i++)
    if (shape[i] > 1) shape[i] = 1;
}

/* dt._is_alone(): is this the run on one rank that a program is compared with?
** Local. */
static int l_is_alone (lua_State *L) {
  lua_pushboolean(L, dtL_state(L)->o.alone);
  return 1;
}

static int l_init (lua_State *L) {
  DtSession *s = dtL_session(L);
  const char *dev = luaL_checkstring(L, 1);
  int64_t shape[DT_MAX_MDIM];
  const char *names[DT_MAX_MDIM];
  DtMeshRules rules = dt_mesh_rules(&s->profile);
  int n, nn;
  DtMesh **box;
  if (lua_istable(L, 2) && luaL_len(L, 2) > DT_MAX_MDIM)
    return dtL_errorf(L, DT_E_MESH, "a mesh of %d dimensions is beyond the "
                      "limit of %d", (int)luaL_len(L, 2), DT_MAX_MDIM);
  n = dtL_check_ints(L, 2, shape, DT_MAX_MDIM);
  cut_down(L, n, shape);
  nn = opt_names(L, 3, names);
  box = dtL_box_mesh(L);
  if (dt_mesh_init_as(s->cx, dev, n, shape, nn < 0 ? 0 : nn,
                      nn < 0 ? NULL : names, &rules, s->comm->rank,
                      dt_session_size(s), box) != DT_OK)
    return dtL_raise(L);
  return 1;
}

/* Flatten nested lists of ranks; returns how many. */
static int read_ranks (lua_State *L, int idx, int depth, int64_t *shape,
                       int *ndim, int64_t *out, int n, int max) {
  lua_Integer len = luaL_len(L, idx), i;
  if (depth >= DT_MAX_MDIM)
    dtL_errorf(L, DT_E_MESH, "the mesh is nested too deeply");
  if (depth >= *ndim) { shape[depth] = len; *ndim = depth + 1; }
  else if (shape[depth] != len)
    dtL_errorf(L, DT_E_VALUE, "the mesh is ragged at depth %d", depth);
  for (i = 1; i <= len; i++) {
    if (lua_geti(L, idx, i) == LUA_TTABLE)
      n = read_ranks(L, lua_gettop(L), depth + 1, shape, ndim, out, n, max);
    else {
      if (n >= max) dtL_errorf(L, DT_E_MESH, "the mesh has too many ranks");
      out[n++] = luaL_checkinteger(L, -1);
    }
    lua_pop(L, 1);
  }
  return n;
}

static int l_new (lua_State *L) {             /* DeviceMesh("cpu", {{0,1}}) */
  DtSession *s = dtL_session(L);
  const char *dev, *names[DT_MAX_MDIM];
  int64_t shape[DT_MAX_MDIM], *ranks;
  int ndim = 0, nn, max = 1 << 16;
  DtMeshRules rules;
  DtMesh **box;
  lua_remove(L, 1);                           /* the class, from __call */
  dev = luaL_checkstring(L, 1);
  ranks = (int64_t *)lua_newuserdatauv(L, sizeof *ranks * (size_t)max, 0);
  if (lua_isinteger(L, 2)) ranks[0] = lua_tointeger(L, 2);
  else {
    luaL_checktype(L, 2, LUA_TTABLE);
    if (read_ranks(L, 2, 0, shape, &ndim, ranks, 0, max) > 0 &&
        dtL_state(L)->o.alone) ranks[0] = 0;
    cut_down(L, ndim, shape);
  }
  nn = opt_names(L, 3, names);
  if (nn >= 0 && nn != ndim)
    return dtL_errorf(L, DT_E_MESH, "%d names for a mesh of %d dimensions", nn,
                      ndim);
  box = dtL_box_mesh(L);
  if (dt_mesh_new(s->cx, dev, ndim, shape, ranks, nn < 0 ? NULL : names,
                  s->comm->rank, dt_session_size(s), box) != DT_OK)
    return dtL_raise(L);
  rules = dt_mesh_rules(&s->profile);
  dt_mesh_print_as(*box, &rules);
  return 1;
}

/* Say each line of the warnings, also where the slice is refused. */
static void say_lines (DtSession *s, DtBuf *warn) {
  DtBuf one;
  const char *p = dt_buf_str(warn), *end;
  dt_buf_init(&one, s->cx);
  for (; p != NULL && *p; p = *end ? end + 1 : end) {
    end = p + strcspn(p, "\n");
    dt_buf_clear(&one);
    dt_buf_addn(&one, p, (size_t)(end - p));
    dt_session_warn(s, dt_buf_str(&one));
  }
  dt_buf_fini(&one);
}

static int slice_mesh (lua_State *L, int idx) {
  DtSession *s = dtL_session(L);
  DtMesh *m = dtL_check_mesh(L, 1);
  const char *names[DT_MAX_MDIM];
  int n = check_names(L, idx, names, DT_MAX_MDIM);
  DtMeshRules rules = dt_mesh_rules(&s->profile);
  DtMesh **box = dtL_box_mesh(L);
  DtBuf warn;
  DtStatus st;
  dt_buf_init(&warn, s->cx);
  st = dt_mesh_slice(s->cx, m, n, names, &rules, &warn, box);
  if (warn.len) say_lines(s, &warn);
  dt_buf_fini(&warn);
  return st == DT_OK ? 1 : dtL_raise(L);
}

static int m_flatten (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtMesh *m = dtL_check_mesh(L, 1);
  const char *name = luaL_optstring(L, 2, NULL);
  DtMeshRules rules = dt_mesh_rules(&s->profile);
  DtMesh **box = dtL_box_mesh(L);
  if (dt_mesh_flatten_as(s->cx, m, name, &rules, box) != DT_OK)
    return dtL_raise(L);
  return 1;
}

/* A mesh dim by number or name. */
static int check_mdim (lua_State *L, int idx, const DtMesh *m) {
  DtSession *s = dtL_session(L);
  int d;
  if (lua_type(L, idx) == LUA_TSTRING) {
    if (dt_mesh_dim(s->cx, m, lua_tostring(L, idx), &d) != DT_OK)
      dtL_raise(L);
    return d;
  }
  d = (int)luaL_checkinteger(L, idx);
  if (d < 0) d += m->ndim;
  if (d < 0 || d >= m->ndim)
    dtL_errorf(L, DT_E_INDEX, "tuple index out of range");
  return d;
}

static int m_unflatten (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtMesh *m = dtL_check_mesh(L, 1), **box;
  int64_t sizes[DT_MAX_MDIM];
  const char *names[DT_MAX_MDIM], *dim = NULL;
  int mdim = 0, n, k = 0;
  if (lua_type(L, 2) == LUA_TSTRING) dim = lua_tostring(L, 2);
  else mdim = (int)luaL_checkinteger(L, 2);
  n = dtL_check_ints(L, 3, sizes, DT_MAX_MDIM);
  if (!lua_isnoneornil(L, 4)) k = check_names(L, 4, names, DT_MAX_MDIM);
  box = dtL_box_mesh(L);
  DtMeshCut into = { n, k, sizes, k ? names : NULL };
  if (dt_mesh_unflatten(s->cx, m, dim, mdim, &into, box) != DT_OK)
    return dtL_raise(L);
  return 1;
}

static int l_concat (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtMesh *ms[DT_MAX_MDIM], **box;
  int n, i;
  luaL_checktype(L, 1, LUA_TTABLE);
  n = (int)luaL_len(L, 1);
  luaL_argcheck(L, n <= DT_MAX_MDIM, 1, "at most 16 meshes");
  for (i = 0; i < n; i++) {
    lua_geti(L, 1, i + 1);
    ms[i] = dtL_check_mesh(L, -1);
    lua_pop(L, 1);
  }
  box = dtL_box_mesh(L);
  if (dt_mesh_concat(s->cx, n, ms, box) != DT_OK) return dtL_raise(L);
  return 1;
}

static int m_size (lua_State *L) {
  DtMesh *m = dtL_check_mesh(L, 1);
  lua_pushinteger(L, lua_isnoneornil(L, 2) ? dt_mesh_size(m)
                     : m->shape[check_mdim(L, 2, m)]);
  return 1;
}

static int m_coord (lua_State *L) {
  DtMesh *m = dtL_check_mesh(L, 1);
  if (!m->member) return 0;
  dtL_push_size(L, m->coord, m->ndim);
  lua_pushnil(L);
  lua_setmetatable(L, -2);
  return 1;
}

/* The mesh and dim that own the group that argument 2 names. */
static const DtMesh *group_of (lua_State *L, bool local_rank, int *mdim) {
  DtMesh *m = dtL_check_mesh(L, 1);
  const DtMesh *gm = NULL;
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : NULL;
  int d = 0;
  bool given = !lua_isnoneornil(L, 2) && name == NULL;
  if (given) d = (int)luaL_checkinteger(L, 2);
  if (dt_mesh_group_dim(dtL_session(L)->cx, m, name, given ? &d : NULL,
                        local_rank, &gm, mdim) != DT_OK)
    dtL_raise(L);
  return gm;
}

static int m_local_rank (lua_State *L) {
  int d = 0;
  const DtMesh *m = group_of(L, true, &d);
  if (!m->member) return 0;
  lua_pushinteger(L, m->coord[d]);
  return 1;
}

/* As in PyTorch: this process's rank in the world, not in the mesh. */
static int m_rank (lua_State *L) {
  dtL_check_mesh(L, 1);
  lua_pushinteger(L, dtL_session(L)->comm->rank);
  return 1;
}

/* A group is the list of its world ranks. */
static int m_group (lua_State *L) {
  int d = 0, i, n, *ranks;
  const DtMesh *m = group_of(L, false, &d);
  if (!m->member) return 0;
  n = (int)m->shape[d];
  ranks = (int *)lua_newuserdatauv(L, sizeof *ranks * (size_t)n, 0);
  dt_mesh_group(m, d, m->my_rank, ranks);
  lua_createtable(L, n, 0);
  for (i = 0; i < n; i++) {
    lua_pushinteger(L, ranks[i]);
    lua_seti(L, -2, i + 1);
  }
  return 1;
}

static int m_ranks (lua_State *L) {
  DtMesh *m = dtL_check_mesh(L, 1);
  int64_t n = dt_mesh_size(m), *v;
  v = (int64_t *)lua_newuserdatauv(L, sizeof *v * (size_t)(n + 1), 0);
  dt_mesh_ranks(m, v);
  dtL_push_size(L, v, (int)n);
  lua_pushnil(L);
  lua_setmetatable(L, -2);
  return 1;
}

static int m_root (lua_State *L) {
  DtMesh *m = dtL_check_mesh(L, 1), **box = dtL_box_mesh(L);
  *box = dt_mesh_ref(m->root ? m->root : m);
  return 1;
}

static int m_tostring (lua_State *L) {
  DtMesh *m = dtL_check_mesh(L, 1);
  DtBuf b;
  dt_buf_init(&b, dtL_session(L)->cx);
  dt_mesh_repr(m, &b);
  dtL_push_buf(L, &b);
  return 1;
}

static int m_eq (lua_State *L) {
  DtMesh *a = dtL_test_mesh(L, 1), *b = dtL_test_mesh(L, 2);
  lua_pushboolean(L, a && b && dt_mesh_equal(a, b));
  return 1;
}

static int m_gc (lua_State *L) {
  DtMesh **b = (DtMesh **)luaL_checkudata(L, 1, DTL_MESH);
  if (*b) dt_mesh_unref(dtL_session(L)->cx, *b);
  *b = NULL;
  return 0;
}

static void push_names (lua_State *L, const DtMesh *m) {
  int i;
  if (m->ndim == 0 || m->name[0] == NULL) { lua_pushnil(L); return; }
  lua_createtable(L, m->ndim, 0);
  for (i = 0; i < m->ndim; i++) {
    lua_pushstring(L, m->name[i]);
    lua_seti(L, -2, i + 1);
  }
}

/* Push the ranks as a tensor of the mesh's shape, as DeviceMesh.mesh is one. */
static void push_ranks (lua_State *L, const DtMesh *m) {
  int top = lua_gettop(L);
  int64_t n = dt_mesh_size(m), *v;
  lua_getfield(L, LUA_REGISTRYINDEX, "dt");
  lua_getfield(L, top + 1, "tensor");
  v = (int64_t *)lua_newuserdatauv(L, sizeof *v * (size_t)(n + 1), 0);
  dt_mesh_ranks(m, v);
  dtL_push_ints(L, v, n);
  lua_remove(L, -2);
  if (m->ndim == 0) {
    lua_geti(L, -1, 1);
    lua_remove(L, -2);
  }
  lua_newtable(L);
  lua_getfield(L, top + 1, "int32");
  lua_setfield(L, -2, "dtype");
  lua_call(L, 2, 1);
  if (m->ndim < 2) return;
  lua_getfield(L, -1, "view");
  lua_insert(L, -2);
  dtL_push_ints(L, m->shape, m->ndim);
  lua_call(L, 2, 1);
}

static int m_index (lua_State *L) {
  DtMesh *m = dtL_check_mesh(L, 1);
  const char *k;
  if (lua_istable(L, 2)) return slice_mesh(L, 2);
  k = luaL_checkstring(L, 2);
  if (strcmp(k, "shape") == 0) dtL_push_size(L, m->shape, m->ndim);
  else if (strcmp(k, "ndim") == 0) lua_pushinteger(L, m->ndim);
  else if (strcmp(k, "device_type") == 0) lua_pushstring(L, m->device_name);
  else if (strcmp(k, "mesh_dim_names") == 0) push_names(L, m);
  else if (strcmp(k, "mesh") == 0) push_ranks(L, m);
  else {
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) == LUA_TNIL) return slice_mesh(L, 2);
  }
  return 1;
}

void dtL_open_mesh (lua_State *L) {
  static const luaL_Reg meta[] = {
    {"__eq", m_eq}, {"__gc", m_gc}, {"__tostring", m_tostring}, {NULL, NULL}
  };
  static const luaL_Reg methods[] = {
    {"_flatten", m_flatten}, {"_get_root_mesh", m_root},
    {"_unflatten", m_unflatten},
    {"get_coordinate", m_coord}, {"get_group", m_group},
    {"get_local_rank", m_local_rank}, {"get_rank", m_rank},
    {"ranks", m_ranks}, {"size", m_size}, {NULL, NULL}
  };
  luaL_newmetatable(L, DTL_MESH);
  luaL_setfuncs(L, meta, 0);
  luaL_newlib(L, methods);
  lua_pushcclosure(L, m_index, 1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  lua_getfield(L, LUA_REGISTRYINDEX, "dt");
  lua_pushcfunction(L, l_init);
  lua_setfield(L, -2, "init_device_mesh");
  lua_pushcfunction(L, l_is_alone);
  lua_setfield(L, -2, "_is_alone");
  lua_newtable(L);                            /* the class DeviceMesh */
  lua_pushcfunction(L, l_concat);
  lua_setfield(L, -2, "_concatenate");
  lua_newtable(L);
  lua_pushcfunction(L, l_new);
  lua_setfield(L, -2, "__call");
  lua_setmetatable(L, -2);
  lua_setfield(L, -2, "DeviceMesh");
  lua_pop(L, 1);
}
