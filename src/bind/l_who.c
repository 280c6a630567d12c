/* SPDX-License-Identifier: MIT
** bind/l_who.c: which ranks hold an element of a tensor. */
#include <string.h>
#include "bind/bind.h"
#include "bind/field.h"
#include "mesh/layout.h"

/* Local position of global index `at` of dim `k` for a coordinate, -1 when it
** is not there. */
static DtStatus local_at (DtCtx *cx, const DtSpec *p, const int64_t *coord,
                          int k, int64_t at, int64_t *out) {
  DtArenaMark mark = dt_arena_mark(&cx->scratch);
  int64_t *idx, n;
  DtStatus st = dt_layout_indices(cx, p, coord, k, &idx, &n);
  *out = -1;
  for (int64_t i = 0; st == DT_OK && i < n; i++)
    if (idx[i] == at) {
      *out = i;
      break;
    }
  dt_arena_release(&cx->scratch, mark);
  return st;
}

static void push_list (lua_State *L, const int64_t *v, int n) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    lua_pushinteger(L, v[i]);
    lua_seti(L, -2, i + 1);
  }
}

static void push_holder (lua_State *L, int64_t rank, const int64_t *coord,
                         int ndim, const int64_t *at, int n) {
  lua_createtable(L, 0, 4);
  dtL_set_int(L, "rank", rank);
  push_list(L, coord, ndim);
  lua_setfield(L, -2, "coord");
  push_list(L, at, n);
  lua_setfield(L, -2, "at");
}

/* The Partials of a spec as text, "P(sum) on tp", or nil. */
static void push_partial (lua_State *L, const DtSpec *p) {
  DtBuf b;
  dt_buf_init(&b, dtL_session(L)->cx);
  for (int i = 0; i < p->npl && i < p->mesh->ndim; i++) {
    if (!dt_pl_is_partial(p->pl[i])) continue;
    if (b.len > 0) dt_buf_add(&b, ", ");
    dt_pl_print(p->pl[i], &b);
    dt_buf_add(&b, " on ");
    dt_mesh_dim_label(p->mesh, i, &b);
  }
  if (b.len > 0) {
    dtL_push_buf(L, &b);
  } else {
    dt_buf_fini(&b);
    lua_pushnil(L);
  }
}

static int plain_holders (lua_State *L, DtVar *v, const int64_t *at, int n) {
  int size = v->s->comm->size;
  lua_createtable(L, size, 0);
  for (int r = 0; r < size; r++) {
    push_holder(L, r, NULL, 0, at, n);
    lua_seti(L, -2, r + 1);
  }
  lua_pushnil(L);
  return 2;
}

static DtStatus find_local_index (DtCtx *cx, const DtSpec *p,
                                  const int64_t *coord, const int64_t *at,
                                  int n, int64_t *local, bool *here) {
  *here = true;
  for (int k = 0; k < n && *here; k++) {
    DT_TRY(cx, local_at(cx, p, coord, k, at[k], &local[k]));
    *here = local[k] >= 0;
  }
  return DT_OK;
}

/* dt.debug.holders(x, {i, j, ...}) -> list of {rank, coord, at}, and the
** Partials as text or nil.  Pure. */
static int l_holders (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  DtCtx *cx = v->s->cx;
  const DtMeta *m = dt_var_meta(v);
  int64_t at[DT_MAX_NDIM], local[DT_MAX_NDIM], coord[DT_MAX_MDIM], *ranks;
  int64_t size;
  int n = dtL_check_ints(L, 2, at, DT_MAX_NDIM), found = 0;
  if (n != m->ndim)
    return dtL_errorf(L, DT_E_INDEX, "the tensor has %d dimensions, %d indices "
                      "are given", m->ndim, n);
  for (int k = 0; k < n; k++) {
    if (at[k] < 0) at[k] += m->shape[k];
    if (at[k] < 0 || at[k] >= m->shape[k])
      return dtL_errorf(L, DT_E_INDEX, "index %d is out of range: dimension "
                        "%d has size %lld", (int)at[k], k,
                        (long long)m->shape[k]);
  }
  if (v->spec == NULL) return plain_holders(L, v, at, n);
  size = dt_mesh_size(v->spec->mesh);
  ranks = lua_newuserdatauv(L, (size_t)(size + 1) * sizeof *ranks, 0);
  dt_mesh_ranks(v->spec->mesh, ranks);
  lua_newtable(L);
  for (int64_t i = 0; i < size; i++) {
    bool here;
    if (!dt_mesh_coord_of(v->spec->mesh, (int)ranks[i], coord)) continue;
    if (find_local_index(cx, v->spec, coord, at, n, local, &here) != DT_OK)
      return dtL_raise(L);
    if (!here) continue;
    push_holder(L, ranks[i], coord, v->spec->mesh->ndim, local, n);
    lua_seti(L, -2, ++found);
  }
  push_partial(L, v->spec);
  return 2;
}

/* dt.debug.spec_text(x) -> "dt: f32[8]| S(0)  mesh (tp=4)".  Pure. */
static int l_spec_text (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  DtBuf b;
  dt_buf_init(&b, v->s->cx);
  dt_var_print(v, &b);
  if (v->spec) {
    dt_buf_add(&b, "  mesh ");
    dt_mesh_print(v->spec->mesh, &b);
  }
  dtL_push_buf(L, &b);
  return 1;
}

/* dt.debug.no_data() -> is this a world without data?  Pure. */
static int l_no_data (lua_State *L) {
  lua_pushboolean(L, dt_session_no_data(dtL_session(L)));
  return 1;
}

/* dt.debug.placements("S(0) R") -> a list of placements.  Pure. */
static int l_placements (lua_State *L) {
  DtPlacement pl[DT_MAX_MDIM];
  int n = dtL_check_placements(L, 1, pl, DT_MAX_MDIM);
  dtL_push_placements(L, pl, n);
  return 1;
}

/* dt.debug.versions() -> {dtrepl, torch, device}.  Pure. */
static int l_versions (lua_State *L) {
  const DtProfile *p = &dtL_session(L)->profile;
  lua_createtable(L, 0, 3);
  lua_pushliteral(L, DT_VERSION);
  lua_setfield(L, -2, "dtrepl");
  lua_pushfstring(L, "%d.%d", p->release / 100, p->release % 100);
  lua_setfield(L, -2, "torch");
  dtL_set_str(L, "device", p->device->name);
  return 1;
}

void dtL_open_who (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"holders", l_holders}, {"no_data", l_no_data},
    {"placements", l_placements}, {"spec_text", l_spec_text},
    {"versions", l_versions}, {NULL, NULL}
  };
  lua_getfield(L, dt, "debug");
  luaL_setfuncs(L, funcs, 0);
  lua_pop(L, 1);
}
