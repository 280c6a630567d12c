/* SPDX-License-Identifier: MIT
** bind/l_dist.c: the DTensor calls and raw collectives.  Argument order and
** defaults are PyTorch's; keyword arguments come in a final table. */
#include <string.h>
#include "bind/bind.h"
#include "debug/debug.h"
#include "diag/finding.h"
#include "mesh/layout.h"

/* Push option `key` of the table at `idx` (nil when there is no table). */
static bool push_option (lua_State *L, int idx, const char *key) {
  if (!lua_istable(L, idx)) { lua_pushnil(L); return false; }
  lua_getfield(L, idx, key);
  return !lua_isnil(L, -1);
}

/* Is the value at idx a table of options (some string key)? */
static bool is_opts (lua_State *L, int idx) {
  bool yes = false;
  if (!lua_istable(L, idx)) return false;
  lua_pushnil(L);
  while (!yes && lua_next(L, idx)) {
    yes = lua_type(L, -2) == LUA_TSTRING;
    lua_pop(L, 1);
  }
  if (yes) lua_pop(L, 1);
  return yes;
}

static int opt_placements (lua_State *L, int idx, const char *key,
                           DtPlacement *out) {
  int n = -1;
  if (push_option(L, idx, key))
    n = dtL_check_placements(L, -1, out, DT_MAX_MDIM);
  lua_pop(L, 1);
  return n;
}

static int l_distribute (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtVar *t = dtL_param_tensor(L, 1, "distribute_tensor", "tensor"), **box;
  DtMesh *m = dtL_param_mesh(L, 2, "distribute_tensor", "device_mesh");
  DtPlacement pl[DT_MAX_MDIM];
  int n, src = 0;
  if (lua_isnoneornil(L, 3)) {
    for (n = 0; n < m->ndim; n++) pl[n] = dt_pl_replicate();
  } else n = dtL_check_placements(L, 3, pl, DT_MAX_MDIM);
  if (push_option(L, 4, "src_data_rank"))
    src = dtL_is_none(L, -1) ? -1 : (int)luaL_checkinteger(L, -1);
  box = dtL_box_tensor(L);
  if (dt_distribute_tensor(s, t, m, n, pl, src, box) != DT_OK)
    return dtL_raise(L);
  return 1;
}

/* Push sizes as Python prints a tuple. */
static const char *push_tuple (lua_State *L, const int64_t *v, int n) {
  luaL_Buffer b;
  int i;
  luaL_buffinit(L, &b);
  luaL_addchar(&b, '(');
  for (i = 0; i < n; i++) {
    lua_pushfstring(L, i > 0 ? ", %I" : "%I", (LUAI_UACINT)v[i]);
    luaL_addvalue(&b);
  }
  luaL_addstring(&b, n == 1 ? ",)" : ")");
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

/* from_local's shape and stride, which go together or not at all. Both are
** read as they stand: PyTorch does not check that they fit the local part
** (finding, not error). */
static bool opt_meta (lua_State *L, int idx, DtVar *local, DtMeta *m) {
  int64_t v[DT_MAX_NDIM];
  int n = 0, i;
  bool shape = push_option(L, idx, "shape");
  if (shape) {
    n = dtL_check_ints(L, -1, v, DT_MAX_NDIM);
    if (dt_meta_init(dtL_session(L)->cx, m, (DtDtype)local->local->m.dtype, n,
                     v) != DT_OK)
      dtL_raise(L);
  }
  if (push_option(L, idx, "stride") != shape) {
    const char *text;
    if (!shape) n = dtL_check_ints(L, -1, v, DT_MAX_NDIM);
    text = push_tuple(L, v, n);
    dtL_errorf(L, DT_E_RUNTIME, "('Found shape:%s, stride:%s.', 'Please pass "
               "both shape and stride at the same time.')",
               shape ? text : "None", shape ? "None" : text);
  }
  if (shape) {
    n = dtL_check_ints(L, -1, v, DT_MAX_NDIM);
    for (i = 0; i < n && i < m->ndim; i++) m->stride[i] = v[i];
  }
  lua_pop(L, 2);
  return shape;
}

static int l_from_local (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtVar *t = dtL_param_tensor(L, 1, "from_local", "local_tensor"), **box;
  DtMesh *m = dtL_param_mesh(L, 2, "from_local", "device_mesh");
  DtPlacement pl[DT_MAX_MDIM], gpl[DT_MAX_MDIM];
  DtMeta meta;
  int n, ng, o = is_opts(L, 3) ? 3 : 4;
  bool check, have;
  if (o == 3 || lua_isnoneornil(L, 3)) {
    n = o == 3 ? opt_placements(L, 3, "placements", pl) : -1;
    if (n < 0) for (n = 0; n < m->ndim; n++) pl[n] = dt_pl_replicate();
  } else n = dtL_check_placements(L, 3, pl, DT_MAX_MDIM);
  check = push_option(L, o, "run_check") && lua_toboolean(L, -1);
  have = opt_meta(L, o, t, &meta);
  ng = opt_placements(L, o, "grad_placements", gpl);
  box = dtL_box_tensor(L);
  if (dt_from_local(s, t, m, n, pl, check, have ? &meta : NULL,
                    ng >= 0 ? gpl : NULL, box) != DT_OK)
    return dtL_raise(L);
  return 1;
}

static DtVar *check_dtensor (lua_State *L, int idx, const char *what) {
  DtVar *t = dtL_param_tensor(L, idx, what, "self");
  if (t->spec == NULL)
    dtL_errorf(L, DT_E_ATTR, "'Tensor' object has no attribute '%s'", what);
  return t;
}

static int m_to_local (lua_State *L) {
  DtVar *t = check_dtensor(L, 1, "to_local"), **box;
  DtPlacement gpl[DT_MAX_MDIM];
  int ng = opt_placements(L, 2, "grad_placements", gpl);
  box = dtL_box_tensor(L);
  if (dt_to_local(dtL_session(L), t, ng >= 0 ? gpl : NULL, ng, box) != DT_OK)
    return dtL_raise(L);
  return 1;
}

static int m_redistribute (lua_State *L) {
  DtVar *t = check_dtensor(L, 1, "redistribute"), **box;
  DtMesh *m = dtL_test_mesh(L, 2);
  DtPlacement pl[DT_MAX_MDIM];
  DtDtype fwd = DT_DTYPE_NONE, bwd = DT_DTYPE_NONE;
  int n = -1, at = m || dtL_is_none(L, 2) ? 3 : 2, o;
  if (m == NULL) m = t->spec->mesh;
  if (!lua_isnoneornil(L, at) && !is_opts(L, at))
    n = dtL_check_placements(L, at++, pl, DT_MAX_MDIM);
  o = at;
  if (n < 0) n = opt_placements(L, o, "placements", pl);
  if (push_option(L, o, "device_mesh"))
    m = dtL_param_mesh(L, -1, "redistribute", "device_mesh");
  if (push_option(L, o, "forward_dtype")) fwd = dtL_check_dtype(L, -1);
  if (push_option(L, o, "backward_dtype")) bwd = dtL_check_dtype(L, -1);
  box = dtL_box_tensor(L);
  if (dt_redistribute(dtL_session(L), t, m, n, pl, fwd, bwd, box) != DT_OK)
    return dtL_raise(L);
  return 1;
}

static int m_full_tensor (lua_State *L) {
  DtVar *t = check_dtensor(L, 1, "full_tensor"), **box;
  DtPlacement gpl[DT_MAX_MDIM];
  int ng = opt_placements(L, 2, "grad_placements", gpl);
  box = dtL_box_tensor(L);
  if (dt_full_tensor(dtL_session(L), t, ng >= 0 ? gpl : NULL, box) != DT_OK)
    return dtL_raise(L);
  if (dt_diag_of(dtL_session(L)))
    dt_diag_copy_of(dt_diag_of(dtL_session(L)), t, *box);
  return 1;
}

/* dt._local_shape(shape, mesh, placements [, coordinate]) -> shape, offset */
static int l_local_shape (lua_State *L) {
  DtSession *s = dtL_session(L);
  int64_t v[DT_MAX_NDIM], ls[DT_MAX_NDIM], off[DT_MAX_NDIM];
  int64_t coord[DT_MAX_MDIM];
  DtPlacement pl[DT_MAX_MDIM];
  DtMesh *m = dtL_check_mesh(L, 2);
  DtMeta meta;
  DtSpec *spec;
  DtStatus st;
  int n = dtL_check_ints(L, 1, v, DT_MAX_NDIM), nd = 0;
  int npl = dtL_check_placements(L, 3, pl, DT_MAX_MDIM);
  bool at = !lua_isnoneornil(L, 4);
  if (at) dtL_check_ints(L, 4, coord, DT_MAX_MDIM);
  if (dt_meta_init(s->cx, &meta, DT_F32, n, v) != DT_OK
      || dt_spec_new(s->cx, m, npl, pl, &meta, NULL, -1, &spec) != DT_OK)
    return dtL_raise(L);
  st = dt_layout_local(s->cx, spec, at ? coord : NULL, ls, off, &nd);
  dt_spec_unref(s->cx, spec);
  if (st != DT_OK) return dtL_raise(L);
  dtL_push_size(L, ls, nd);
  dtL_push_size(L, off, nd);
  return 2;
}

/* {[dim] = {mesh dims}}: the order in which mesh dims cut a tensor dim. */
static DtShardOrder *opt_order (lua_State *L, int idx, DtShardOrder *o) {
  int64_t v[DT_MAX_MDIM];
  int d, i;
  if (lua_isnoneornil(L, idx)) return NULL;
  luaL_checktype(L, idx, LUA_TTABLE);
  memset(o, 0, sizeof *o);
  o->known = true;
  for (d = 0; d < DT_MAX_NDIM; d++) {
    if (lua_geti(L, idx, d) == LUA_TTABLE && o->n < DT_MAX_MDIM) {
      DtShardOrderEntry *e = &o->e[o->n++];
      e->tdim = (int8_t)d;
      e->n = (int8_t)dtL_check_ints(L, lua_gettop(L), v, DT_MAX_MDIM);
      for (i = 0; i < e->n; i++) e->mdims[i] = (int8_t)v[i];
    }
    lua_pop(L, 1);
  }
  return o;
}

/* dt._wrap_local(local, mesh, placements, shape, stride, dtype, order): no
** checks. */
static int l_wrap_local (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtVar *t = dtL_check_tensor(L, 1), **box;
  DtMesh *m = dtL_check_mesh(L, 2);
  DtPlacement pl[DT_MAX_MDIM];
  int64_t v[DT_MAX_NDIM];
  DtMeta meta;
  DtSpec *spec = NULL;
  DtShardOrder order;
  int npl = dtL_check_placements(L, 3, pl, DT_MAX_MDIM), n, i;
  lua_settop(L, 7);
  n = dtL_check_ints(L, 4, v, DT_MAX_NDIM);
  if (dt_meta_init(s->cx, &meta, (DtDtype)t->local->m.dtype, n, v) != DT_OK)
    return dtL_raise(L);
  if (!lua_isnoneornil(L, 5)) {
    n = dtL_check_ints(L, 5, v, DT_MAX_NDIM);
    for (i = 0; i < n && i < meta.ndim; i++) meta.stride[i] = v[i];
  }
  if (!lua_isnoneornil(L, 6))      /* what the operator's meta promised */
    meta.dtype = (uint8_t)dtL_check_dtype(L, 6);
  box = dtL_box_tensor(L);
  if (dt_spec_new(s->cx, m, npl, pl, &meta, opt_order(L, 7, &order), -1, &spec)
      != DT_OK || dt_session_spec(s, spec, &spec) != DT_OK)
    return dtL_raise(L);
  if (dt_var_new(s, t->local, spec, box) != DT_OK) {
    dt_spec_unref(s->cx, spec);
    return dtL_raise(L);
  }
  (*box)->origin = t->origin;
  dt_spec_unref(s->cx, spec);
  return 1;
}

/* --- raw collectives: dt._coll(kind, tensor, mesh, mdim, opts) --- */

enum { MAX_SPLIT = DT_MAX_NDIM * 4 };

/* A call of dt._coll, read. */
typedef struct RawCall {
  DtRecRaw r;
  DtRedOp op;
  int64_t in[MAX_SPLIT], out[MAX_SPLIT];
} RawCall;

/* Dims, root and reduction from the options at index 5. */
static DtStatus read_coll (lua_State *L, RawCall *c) {
  DtSession *s = dtL_session(L);
  c->op = DT_OP_SUM;
  if (push_option(L, 5, "op")) c->op = dt_redop_find(luaL_checkstring(L, -1));
  if (c->op == DT_NREDOPS) dtL_errorf(L, DT_E_VALUE, "unknown reduce op");
  c->r.reduce = dt_redop_name(c->op);
  if (push_option(L, 5, "dim")) c->r.dim = (int)luaL_checkinteger(L, -1);
  if (push_option(L, 5, "split_dim")) c->r.dim = (int)luaL_checkinteger(L, -1);
  if (push_option(L, 5, "concat_dim"))
    c->r.dim2 = (int)luaL_checkinteger(L, -1);
  if (push_option(L, 5, "src")) c->r.root = (int)luaL_checkinteger(L, -1);
  if (push_option(L, 5, "root")) s->coll_root = (int)luaL_checkinteger(L, -1) + 1;
  if (push_option(L, 5, "name")) {
    const DtCollName *name = dt_coll_find(luaL_checkstring(L, -1));
    DT_CHECK(s->cx, name != NULL, DT_E_VALUE, "unknown collective '%s'",
             lua_tostring(L, -1));
    s->coll_as = name->name;
  }
  return DT_OK;
}

static DtStatus read_splits (lua_State *L, RawCall *c) {
  DtCtx *cx = dtL_session(L)->cx;
  int n = (int)c->r.mesh->shape[c->r.mdim], na, nb;
  DT_CHECK(cx, push_option(L, 5, "input_splits"), DT_E_VALUE,
           "input_splits is missing");
  na = dtL_check_ints(L, -1, c->in, MAX_SPLIT);
  DT_CHECK(cx, push_option(L, 5, "output_splits"), DT_E_VALUE,
           "output_splits is missing");
  nb = dtL_check_ints(L, -1, c->out, MAX_SPLIT);
  DT_CHECK(cx, na == n && nb == n, DT_E_RUNTIME,
           "Number of tensor splits not equal to group size");
  for (int i = 0; i < n; i++)
    DT_CHECK(cx, c->in[i] >= 0 && c->out[i] >= 0, DT_E_RUNTIME,
             "Split sizes must be non-negative");
  c->r.nsplit = n;
  return DT_OK;
}

static DtStatus run_coll (lua_State *L, RawCall *c, DtTensor *in,
                          DtTensor **out) {
  DtSession *s = dtL_session(L);
  const char *kind = c->r.kind;
  DtMesh *m = c->r.mesh;
  int mdim = c->r.mdim, d1, d2;
  DT_TRY(s->cx, read_coll(L, c));
  d1 = c->r.dim;
  d2 = c->r.dim2;
  if (strcmp(kind, "all_reduce") == 0)
    return dt_coll_all_reduce(s, m, mdim, c->op, in, out);
  if (strcmp(kind, "all_gather") == 0)
    return dt_coll_all_gather(s, m, mdim, d1, in, out);
  if (strcmp(kind, "reduce_scatter") == 0)
    return dt_coll_reduce_scatter(s, m, mdim, c->op, d1, in, out);
  if (strcmp(kind, "all_to_all_v") == 0) {
    DT_TRY(s->cx, read_splits(L, c));
    return dt_coll_all_to_all_v(s, m, mdim, c->in, c->out, in, out);
  }
  if (strcmp(kind, "all_to_all") == 0)
    return dt_coll_all_to_all(s, m, mdim, d1, d2, in, out);
  if (strcmp(kind, "broadcast") == 0) {
    DtStatus st = dt_coll_broadcast(s, m, mdim, c->r.root, in);
    if (st == DT_OK) *out = dt_tensor_ref(in);
    return st;
  }
  return dt_raise(s->cx, DT_E_VALUE, "unknown collective '%s'", kind);
}

/* The script's own tensor, of which `t` is a view or a copy: it has a name. */
static const DtVar *script_tensor_of (lua_State *L, const DtVar *t) {
  const DtVar *of = push_option(L, 5, "of") ? dtL_test_tensor(L, -1) : NULL;
  return of != NULL && of->spec == NULL ? of : t;
}

/* dt._coll(kind, tensor, mesh, dim, options): a collective of plain tensors.
** What was recorded since `before` belongs to this call: the entry made
** since then is the collective, and diag learns which tensor of the script was
** sent. */
static int l_coll (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtDebug *d = dt_debug_of(s);
  int64_t before = d ? d->rec.total : 0;
  const char *kind = luaL_checkstring(L, 1);
  DtVar *t = dtL_check_tensor(L, 2), **box;
  DtMesh *m = dtL_check_mesh(L, 3);
  int mdim = 0;
  DtTensor *out = NULL;
  DtStatus st;
  RawCall c = { .op = DT_OP_SUM };
  if (lua_type(L, 4) == LUA_TSTRING) {
    if (dt_mesh_dim(s->cx, m, lua_tostring(L, 4), &mdim) != DT_OK)
      return dtL_raise(L);
  } else mdim = (int)luaL_optinteger(L, 4, 0);
  if (mdim < 0 || mdim >= m->ndim)
    return dtL_errorf(L, DT_E_INDEX, "mesh dim %d is out of range", mdim);
  lua_settop(L, 5);
  box = dtL_box_tensor(L);
  lua_insert(L, 1 + 5);
  c.r = (DtRecRaw){ .kind = dt_session_intern(s, kind), .mesh = m,
                    .mdim = mdim, .in_split = c.in, .out_split = c.out };
  st = c.r.kind ? run_coll(L, &c, t->local, &out) : DT_E_NOMEM;
  s->coll_as = NULL;            /* one that failed before it began took neither */
  s->coll_root = 0;
  if (st == DT_OK) {
    st = dt_var_new(s, out, NULL, box);
    dt_tensor_unref(s->cx, out);
  }
  if (st == DT_OK && d) dt_record_raw(d, before, &c.r, t, *box);
  if (st == DT_OK && dt_diag_of(s))
    dt_diag_raw(dt_diag_of(s), &c.r, script_tensor_of(L, t), *box);
  lua_settop(L, 6);
  return st == DT_OK ? 1 : dtL_raise(L);
}

/* dt._spec_text(x) -> "Spec(f32[8, 8](S(0)))": as error texts have it. */
static int l_spec (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  DtBuf b;
  luaL_argcheck(L, v->spec != NULL, 1, "a distributed tensor");
  dt_buf_init(&b, dtL_session(L)->cx);
  dt_spec_str(v->spec, &b);
  dtL_push_buf(L, &b);
  return 1;
}

void dtL_open_dist (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"_coll", l_coll}, {"_local_shape", l_local_shape}, {"_spec_text", l_spec},
    {"_wrap_local", l_wrap_local}, {"distribute_tensor", l_distribute},
    {NULL, NULL}
  };
  static const luaL_Reg methods[] = {
    {"full_tensor", m_full_tensor}, {"redistribute", m_redistribute},
    {"to_local", m_to_local}, {NULL, NULL}
  };
  lua_pushvalue(L, dt);
  luaL_setfuncs(L, funcs, 0);
  lua_getfield(L, dt, "Tensor");
  luaL_setfuncs(L, methods, 0);
  lua_pop(L, 2);
  lua_newtable(L);
  lua_pushcfunction(L, l_from_local);
  lua_setfield(L, -2, "from_local");
  lua_setfield(L, dt, "DTensor");
}
