/* SPDX-License-Identifier: MIT
** bind/l_misc.c: the rest of `dt`: rank and world, seeds, tensors from Lua
** data, profile, warnings, names of variables, JSON for tests. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "bind/bind.h"
#include "bind/field.h"
#include "bind/process.h"
#include "kernel/kernel.h"

#define HEARS "dt.hears_warnings"

static int l_rank (lua_State *L) {
  lua_pushinteger(L, dtL_session(L)->comm->rank);
  return 1;
}

static int l_world_size (lua_State *L) {
  lua_pushinteger(L, dt_session_size(dtL_session(L)));
  return 1;
}

static int l_world (lua_State *L) {
  lua_pushstring(L, dtL_session(L)->comm->vt->name);
  return 1;
}

static int l_is_fake (lua_State *L) {
  lua_pushboolean(L, dtL_session(L)->comm->no_data);
  return 1;
}

/* dt._pretend_data(on): tensors of a fake world made from now on have data. */
static int l_pretend (lua_State *L) {
  dt_comm_pretend(dtL_session(L)->comm, lua_toboolean(L, 1));
  return 0;
}

static int l_manual_seed (lua_State *L) {
  (void)dt_session_seed(dtL_session(L), (uint64_t)luaL_checkinteger(L, 1));
  return 0;
}

/* The generators of a rank as a string, and back. */
typedef struct RngState { uint64_t cpu[3], device[2]; } RngState;

static void rng_state (const DtGenerators *g, RngState *to) {
  *to = (RngState){ { g->cpu.seed, g->cpu.offset, g->cpu.pair },
                    { g->device.seed, g->device.offset } };
}

/* Words that nobody draws: a state that counts as many is none, and the way to
** them would take hours. */
static const uint64_t never_drawn = UINT64_C(1) << 40;

/* dt._rng([state [, lent]]) -> the state as it was: where the random numbers of
** this rank are.  `lent`: true, they are another generator's; false, its own
** again. */
static int l_rng (lua_State *L) {
  DtGenerators *g = &dtL_session(L)->rng;
  RngState old, now;
  size_t n;
  rng_state(g, &old);
  if (!lua_isnoneornil(L, 1)) {
    const char *p = luaL_checklstring(L, 1, &n);
    luaL_argcheck(L, n == sizeof now, 1, "RNG state is wrong size");
    memcpy(&now, p, n);
    if (now.cpu[1] > never_drawn || now.cpu[2] > now.cpu[1])
      return dtL_errorf(L, DT_E_RUNTIME, "Invalid mt19937 state");
    g->cpu.seed = now.cpu[0];
    g->cpu.offset = now.cpu[1];
    g->cpu.pair = now.cpu[2];
    g->device.seed = now.device[0];
    g->device.offset = now.device[1];
  }
  if (!lua_isnoneornil(L, 2))
    dtL_session(L)->rng_lent = lua_toboolean(L, 2);
  lua_pushlstring(L, (const char *)&old, sizeof old);
  return 1;
}

/* dt._rng_seeded(seed) -> the state after that seed */
static int l_rng_seeded (lua_State *L) {
  uint64_t seed = (uint64_t)luaL_checkinteger(L, 1);
  RngState s = { { seed, 0, 0 }, { seed, 0 } };
  lua_pushlstring(L, (const char *)&s, sizeof s);
  return 1;
}

/* dt._rng_offsets(mesh, shape, placements) -> start, end, first shard */
static int l_rng_offsets (lua_State *L) {
  DtSession *s = dtL_session(L);
  int64_t v[DT_MAX_NDIM], first[DT_MAX_NDIM], start, end;
  DtPlacement pl[DT_MAX_MDIM];
  DtMesh *m = dtL_check_mesh(L, 1);
  int n = dtL_check_ints(L, 2, v, DT_MAX_NDIM);
  int npl = dtL_check_placements(L, 3, pl, DT_MAX_MDIM);
  DtMeta meta;
  DtSpec *spec;
  if (dt_meta_init(s->cx, &meta, DT_F32, n, v) != DT_OK
      || dt_spec_new(s->cx, m, npl, pl, &meta, NULL, -1, &spec) != DT_OK)
    return dtL_raise(L);
  dt_rng_offsets(spec, &start, &end, first);
  dt_spec_unref(s->cx, spec);
  lua_pushinteger(L, start);
  lua_pushinteger(L, end);
  dtL_push_size(L, first, n);
  return 3;
}

static int l_barrier (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtCollInfo i = { "barrier", 0, "dt.barrier", "", "" };
  if (s->comm->no_data) return 0;
  if (dt_comm_barrier(s->cx, dt_session_ranks(s), &i) != DT_OK) return dtL_raise(L);
  return 0;
}

/* dt._clocks() -> seconds since 1970, seconds of a clock that only goes on. */
static int l_clocks (lua_State *L) {
  static const clockid_t ids[] = { CLOCK_REALTIME, CLOCK_MONOTONIC };
  for (int i = 0; i < 2; i++) {
    struct timespec t;
    clock_gettime(ids[i], &t);
    lua_pushnumber(L, (lua_Number)t.tv_sec + (lua_Number)t.tv_nsec * 1e-9);
  }
  return 2;
}

static int l_warn (lua_State *L) {
  dt_session_warn(dtL_session(L), luaL_checkstring(L, 1));
  return 0;
}

/* f(text) of dt._hear_warnings; what goes wrong in it is nobody's. */
static DtStatus tell_warning (void *ud, DtSession *s, const DtEvent *e) {
  lua_State *L = (lua_State *)ud;
  (void)s;
  if (!lua_checkstack(L, 4)) return DT_OK;
  lua_getfield(L, LUA_REGISTRYINDEX, HEARS);
  lua_pushstring(L, e->text);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) lua_pop(L, 1);
  return DT_OK;
}

/* dt._hear_warnings(f): f(text) for each warning from now on; nil: nobody.
** -> the one that heard before. */
static int l_hear_warnings (lua_State *L) {
  DtSession *s = dtL_session(L);
  int id = 0;
  lua_getfield(L, LUA_REGISTRYINDEX, HEARS "_id");
  if (lua_isinteger(L, -1)) dt_event_unlisten(s, (int)lua_tointeger(L, -1));
  lua_pushnil(L);
  lua_setfield(L, LUA_REGISTRYINDEX, HEARS "_id");
  lua_getfield(L, LUA_REGISTRYINDEX, HEARS);
  lua_pushvalue(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, HEARS);
  if (lua_isnoneornil(L, 1)) return 1;
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  if (dt_event_listen(s, UINT64_C(1) << DT_EV_WARNING, tell_warning,
                      lua_tothread(L, -1), &id) != DT_OK)
    return dtL_raise(L);
  lua_pop(L, 1);
  lua_pushinteger(L, id);
  lua_setfield(L, LUA_REGISTRYINDEX, HEARS "_id");
  return 1;
}

/* dt._warn_always(on): texts said before are said again. */
static int l_warn_always (lua_State *L) {
  dtL_session(L)->warn_all = lua_toboolean(L, 1);
  return 0;
}

static int l_seq (lua_State *L) {
  lua_pushinteger(L, dtL_session(L)->seq);
  return 1;
}

/* --- tensors from Lua data --- */

typedef struct Data {
  int ndim; int64_t shape[DT_MAX_NDIM];
  DtKind kind;
} Data;

/* Shape and kind of nested tables, as torch.tensor() sees nested lists: the
** first element at each depth says how long its siblings must be; a number
** where the first sibling had a list is an error, and so is the reverse. The
** kind is the widest that occurs (bool, int, float). */
static void scan_data (lua_State *L, int idx, int depth, Data *d) {
  lua_Integer n, i;
  DtKind k = DT_K_BOOL;
  double re, im;
  if (dtL_test_complex(L, idx, &re, &im))
    dtL_errorf(L, DT_E_TYPE, "must be real number, not complex");
  if (!lua_istable(L, idx)) {
    if (depth < d->ndim)
      dtL_errorf(L, DT_E_VALUE, "expected sequence of length %lld at dim %d "
                 "(got a number)", (long long)d->shape[depth], depth);
    if (lua_isinteger(L, idx)) k = DT_K_INT;
    else if (lua_type(L, idx) == LUA_TNUMBER) k = DT_K_FLOAT;
    else if (lua_type(L, idx) == LUA_TSTRING)
      dtL_errorf(L, DT_E_TYPE, "new(): invalid data type 'str'");
    else if (!lua_isboolean(L, idx))
      dtL_errorf(L, DT_E_TYPE, "a %s cannot be an element of a tensor",
                 luaL_typename(L, idx));
    if (k > d->kind) d->kind = k;
    return;
  }
  n = luaL_len(L, idx);
  if (depth >= DT_MAX_NDIM)
    dtL_errorf(L, DT_E_LIMIT, "data nested deeper than %d", DT_MAX_NDIM);
  if (depth >= d->ndim) { d->ndim = depth + 1; d->shape[depth] = n; }
  else if (d->shape[depth] != n)
    dtL_errorf(L, DT_E_VALUE, "expected sequence of length %lld at dim %d "
               "(got %lld)", (long long)d->shape[depth], depth, (long long)n);
  luaL_checkstack(L, 3, "data nested too deeply");
  for (i = 1; i <= n; i++) {
    lua_geti(L, idx, i);
    scan_data(L, lua_gettop(L), depth + 1, d);
    lua_pop(L, 1);
  }
}

static char *fill_data (lua_State *L, int idx, DtDtype t, char *p) {
  lua_Integer n, i;
  if (!lua_istable(L, idx)) {
    DtScalar v = lua_isinteger(L, idx) ? dt_scalar_int(lua_tointeger(L, idx))
      : lua_isboolean(L, idx) ? dt_scalar_bool(lua_toboolean(L, idx))
      : dt_scalar_float(lua_tonumber(L, idx));
    dt_dtype_store(t, p, v);
    return p + dt_dtype_size(t);
  }
  n = luaL_len(L, idx);
  for (i = 1; i <= n; i++) {
    lua_geti(L, idx, i);
    p = fill_data(L, lua_gettop(L), t, p);
    lua_pop(L, 1);
  }
  return p;
}

/* dt._from_data(number or nested table [, dtype]) */
static int l_from_data (lua_State *L) {
  DtSession *s = dtL_session(L);
  Data d;
  DtDtype t;
  DtMeta m;
  DtTensor *local = NULL;
  DtVar **box;
  DtStatus st;
  void *p;
  memset(&d, 0, sizeof d);
  luaL_checkany(L, 1);
  scan_data(L, 1, 0, &d);
  if (!lua_isnoneornil(L, 2)) t = dtL_check_dtype(L, 2);
  else if (d.ndim && d.shape[d.ndim - 1] == 0) t = DT_F32;
  else t = d.kind == DT_K_BOOL ? DT_BOOL : d.kind == DT_K_INT ? DT_I64 : DT_F32;
  if (dt_meta_init(s->cx, &m, t, d.ndim, d.shape) != DT_OK) return dtL_raise(L);
  box = dtL_box_tensor(L);
  st = dt_tensor_new(s->cx, &m, dt_session_no_data(s), &local);
  if (st == DT_OK && dt_tensor_has_data(local) && dt_meta_numel(&m) > 0) {
    st = dt_tensor_data(s->cx, local, &p);
    if (st == DT_OK) fill_data(L, 1, t, (char *)p);
  }
  if (st == DT_OK) st = dt_var_new(s, local, NULL, box);
  dt_tensor_unref(s->cx, local);
  if (st != DT_OK) return dtL_raise(L);
  (*box)->origin.op = "dt.tensor";
  if (s->where) s->where(s->where_ud, &(*box)->origin.file,
                         &(*box)->origin.line);
  return 1;
}

/* --- profile --- */

static int l_profile (lua_State *L) {
  const DtProfile *p = &dtL_session(L)->profile;
  lua_createtable(L, 0, 6);
  lua_pushinteger(L, p->release); lua_setfield(L, -2, "release");
  lua_pushfstring(L, "%d.%d", p->release / 100, p->release % 100);
  lua_setfield(L, -2, "torch");
  lua_pushstring(L, p->device->name); lua_setfield(L, -2, "device");
  lua_pushstring(L, p->device->sdpa); lua_setfield(L, -2, "sdpa");
  lua_pushstring(L, p->device->own_type); lua_setfield(L, -2, "own_type");
  return 1;
}

/* dt._set_profile(release or nil, device or nil): for examples and tests. */
static int l_set_profile (lua_State *L) {
  DtSession *s = dtL_session(L);
  char rel[16];
  snprintf(rel, sizeof rel, "%d.%d", s->profile.release / 100,
           s->profile.release % 100);
  if (dt_session_profile(s, luaL_optstring(L, 1, rel),
                         luaL_optstring(L, 2, s->profile.device->name)) != DT_OK)
    return dtL_raise(L);
  return 0;
}

static int l_switch (lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  int i;
  for (i = 0; i < DT_NSWITCHES; i++)
    if (strcmp(dt_switch_info((DtSwitch)i)->name, name) == 0) {
      lua_pushinteger(L, dt_switch(&dtL_session(L)->profile, (DtSwitch)i));
      return 1;
    }
  return dtL_errorf(L, DT_E_KEY, "no switch called '%s'", name);
}

/* --- modules: the path shown in traces --- */

static int l_module (lua_State *L) {        /* enter(path) -> old; nil leaves */
  DtSession *s = dtL_session(L);
  const char *path = luaL_optstring(L, 1, "");
  DtEvent e;
  const char *name = dt_session_intern(s, path);
  bool end = lua_toboolean(L, 2);
  if (name == NULL) return dtL_raise(L);
  lua_pushstring(L, s->module ? s->module : "");
  memset(&e, 0, sizeof e);
  e.kind = end ? DT_EV_MODULE_END : DT_EV_MODULE;
  e.text = end ? s->module : name;
  const char *outer = s->module;
  if (!end) s->module = name;
  DtStatus st = s->listen_mask ? dt_event_emit(s, &e) : DT_OK;
  /* A stop that ends the script here has left the module, or never come in. */
  s->module = end || st == DT_OK ? name : outer;
  if (st != DT_OK) return dtL_raise(L);
  return 1;
}

/* dt._label(text): a labelled part of the program begins; dt._label(): it ends. */
static int l_label (lua_State *L) {
  DtSession *s = dtL_session(L);
  const char *text = lua_isnoneornil(L, 1) ? NULL : luaL_checkstring(L, 1);
  DtEvent e;
  memset(&e, 0, sizeof e);
  e.kind = text != NULL ? DT_EV_LABEL : DT_EV_LABEL_END;
  e.text = text;
  if (s->listen_mask != 0 && dt_event_emit(s, &e) != DT_OK)
    return dtL_raise(L);
  return 0;
}

/* dt._mem(): this rank's counters of allocations. */
static int l_mem (lua_State *L) {
  const DtMem *m = &dtL_session(L)->cx->mem;
  lua_createtable(L, 0, 4);
  dtL_set_int(L, "nalloc", m->nalloc);
  dtL_set_int(L, "nlive", m->nlive);
  dtL_set_int(L, "bytes_live", m->bytes_live);
  dtL_set_int(L, "bytes_peak", m->bytes_peak);
  return 1;
}

/* dt._gather_text(text): the texts of all ranks, by rank (Collective). */
static int l_gather_text (lua_State *L) {
  DtSession *s = dtL_session(L);
  size_t n, *len;
  const char *text = luaL_checklstring(L, 1, &n);
  DtCollInfo i = { "all_gather_object", 0, "dt._gather_text", "", "" };
  int size = s->comm->no_data ? 1 : dt_session_size(s);
  char **all = DT_NEWN(s->cx, char *, size);
  DtStatus st = DT_OK;
  len = DT_NEWN(s->cx, size_t, size);
  if (all == NULL || len == NULL) st = DT_E_NOMEM;
  lua_createtable(L, size, 0);
  if (st == DT_OK && size > 1)
    st = dt_comm_gather_text(s->cx, dt_session_ranks(s), &i, text, n, all,
                             len);
  for (int r = 0; st == DT_OK && r < size; r++) {
    if (size > 1) lua_pushlstring(L, all[r], len[r]);
    else lua_pushvalue(L, 1);
    lua_seti(L, -2, r + 1);
  }
  for (int r = 0; all != NULL && r < size; r++) dt_free(s->cx, all[r]);
  dt_free(s->cx, all);
  dt_free(s->cx, len);
  return st == DT_OK ? 1 : dtL_raise(L);
}

void dtL_open_misc (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"_from_data", l_from_data}, {"_gather_text", l_gather_text},
    {"_label", l_label}, {"_mem", l_mem}, {"_module", l_module}, {"_profile", l_profile},
    {"_seq", l_seq},
    {"_set_profile", l_set_profile}, {"_switch", l_switch}, {"_warn", l_warn},
    {"_clocks", l_clocks},
    {"_warn_always", l_warn_always}, {"_hear_warnings", l_hear_warnings},
    {"_pretend_data", l_pretend},
    {"barrier", l_barrier}, {"is_fake", l_is_fake},
    {"manual_seed", l_manual_seed}, {"_rng", l_rng},
    {"_rng_seeded", l_rng_seeded},
    {"_rng_offsets", l_rng_offsets},
    {"rank", l_rank}, {"world", l_world},
    {"world_size", l_world_size}, {NULL, NULL}
  };
  lua_pushvalue(L, dt);
  luaL_setfuncs(L, funcs, 0);
  dtL_push_none(L);
  lua_setfield(L, dt, "None");
  lua_pushnumber(L, (lua_Number)INFINITY);
  lua_setfield(L, dt, "inf");
  lua_pushnumber(L, (lua_Number)NAN);
  lua_setfield(L, dt, "nan");
  lua_pop(L, 1);
}
