/* SPDX-License-Identifier: MIT
** bind/l_answers.c: what :why, :plan, :show and :rules know, as tables.  The
** pages of the same names are texts of debug and render; dt/debug/answers.lua
** puts the two together. */
#include <math.h>
#include "bind/bind.h"
#include "bind/field.h"
#include "mesh/layout.h"

static void set_placements (lua_State *L, const char *key, int n,
                            const DtPlacement *pl) {
  DtBuf b;
  dt_buf_init(&b, dtL_session(L)->cx);
  dt_pls_print(pl, n, &b);
  dtL_push_buf(L, &b);
  lua_setfield(L, -2, key);
}

/* A list of texts, one a tensor. */
static void set_side (lua_State *L, const char *key, const DtPlacement *p,
                      int n, int ndim) {
  lua_createtable(L, n, 0);
  for (int i = 0; p != NULL && i < n; i++) {
    DtBuf b;
    dt_buf_init(&b, dtL_session(L)->cx);
    dt_pls_print(p + (size_t)i * (size_t)ndim, ndim, &b);
    dtL_push_buf(L, &b);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, key);
}

/* --- why --- */

/* The decision of one call as a table: candidates with both sides, cost and
** bytes, and, for an operator of lists, one such table an element. A candidate
** that cannot be reached has an infinite cost and no field `cost`. */
static void push_why (lua_State *L, const DtWhy *w) {
  luaL_checkstack(L, 8, NULL);
  lua_createtable(L, 0, 6);
  dtL_set_str(L, "via", dt_via_name(w->via));
  dtL_set_int(L, "winner", w->winner);
  dtL_set_int(L, "cheapest", dt_why_cheapest(w));
  dtL_set_int(L, "excluded", w->nexcluded);
  lua_createtable(L, w->ncand, 0);
  for (int i = 0; i < w->ncand; i++) {
    const DtCand *c = &w->cand[i];
    lua_createtable(L, 0, 5);
    set_side(L, "inputs", c->in, w->nin, w->ndim);
    set_side(L, "outputs", c->out, w->nout, w->ndim);
    if (!isinf(c->total)) dtL_set_num(L, "cost", c->total);
    dtL_set_int(L, "bytes", c->bytes);
    dtL_set_bool(L, "chosen", i == w->winner);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "candidates");
  lua_createtable(L, w->nchild, 0);
  for (int i = 0; i < w->nchild; i++) {
    push_why(L, w->child[i]);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "elements");
}

/* dt.debug.why_data([n]) -> {seq, op, via, winner, cheapest, candidates =
** {{inputs, outputs, cost, bytes, chosen}}, elements} of recorded operator n;
** candidates are counted from 0, without `cost` one cannot be reached; without
** `via` nothing was to decide.  Local. */
static int l_why_data (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  const DtRecOp *r = dtL_check_recorded(L, 1, d);
  DtWhy *w = NULL;
  DtProp *p = NULL;
  if (r->op && dt_record_mesh(r) &&
      dt_record_decide(d, r, &r->args, &w, &p) != DT_OK) {
    lua_createtable(L, 0, 3);
    dtL_set_str(L, "error", dt_buf_str(&d->s->cx->err.message));
    dt_error_clear(d->s->cx);
  } else if (w) push_why(L, w);
  else lua_createtable(L, 0, 2);
  dtL_set_int(L, "seq", r->seq);
  dtL_set_str(L, "op", r->label);
  if (p && p->known_wrong)
    dtL_set_bool(L, "known_wrong", true);
  dt_why_free(d->s->cx, w);
  dt_prop_unref(d->s->cx, p);
  return 1;
}

/* --- plan --- */

static void push_plan (lua_State *L, DtSession *s, const DtPlan *p) {
  double cost = dt_plan_cost(s->planner, p);
  lua_createtable(L, 0, 3);
  lua_createtable(L, p->nsteps, 0);
  for (int i = 0; i < p->nsteps; i++) {
    const DtStep *q = &p->steps[i];
    lua_createtable(L, 0, 4);
    dtL_set_int(L, "mesh_dim", q->mdim);
    set_placements(L, "from", 1, &q->src);
    set_placements(L, "to", 1, &q->dst);
    dtL_set_str(L, "kind", dt_step_kind(q->src, q->dst));
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "steps");
  dtL_set_int(L, "bytes", dt_plan_bytes(p));
  if (!isinf(cost)) dtL_set_num(L, "cost", cost);
}

/* dt.debug.plan_data(x, placements) -> {from, to, greedy = {steps, bytes,
** cost} or {error}, graph}.  Local. */
static int l_plan_data (lua_State *L) {
  static const struct { DtPlanMode mode; const char *name; } modes[] = {
    { DT_PLAN_GREEDY, "greedy" }, { DT_PLAN_GRAPH, "graph" }
  };
  DtVar *v = dtL_check_tensor(L, 1);
  DtPlacement pl[DT_MAX_MDIM];
  int n = dtL_check_placements(L, 2, pl, DT_MAX_MDIM);
  DtSession *s = v->s;
  DtSpec *dst = NULL;
  if (v->spec == NULL)
    return dtL_errorf(L, DT_E_TYPE, "a plain tensor has no placements; "
                      "distribute_tensor() it first");
  if (dt_spec_new(s->cx, v->spec->mesh, n, pl, &v->spec->meta, NULL, -1,
                  &dst) != DT_OK) return dtL_raise(L);
  lua_createtable(L, 0, 4);
  set_placements(L, "from", v->spec->npl, v->spec->pl);
  set_placements(L, "to", n, pl);
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    DtPlan *p = NULL;
    if (dt_plan_new(s->cx, s->planner, v->spec, dst, modes[i].mode, &p)
        == DT_OK) {
      push_plan(L, s, p);
      dt_plan_unref(s->cx, p);
    } else {
      lua_createtable(L, 0, 1);
      dtL_set_str(L, "error", dt_buf_str(&s->cx->err.message));
      dt_error_clear(s->cx);
    }
    lua_setfield(L, -2, modes[i].name);
  }
  dt_spec_unref(s->cx, dst);
  return 1;
}

/* --- show --- */

enum { MAX_RANKS = 4096 };      /* of a mesh, listed one by one */

static DtStatus push_part (lua_State *L, DtSession *s, const DtSpec *p,
                           int rank) {
  int64_t x[DT_MAX_MDIM], shape[DT_MAX_NDIM], off[DT_MAX_NDIM];
  int ndim = 0;
  if (!dt_mesh_coord_of(p->mesh, rank, x))
    return dt_raise(s->cx, DT_E_INTERNAL, "rank %d has no coordinate", rank);
  DT_TRY(s->cx, dt_layout_local(s->cx, p, x, shape, off, &ndim));
  lua_createtable(L, 0, 4);
  dtL_set_int(L, "rank", rank);
  dtL_push_ints(L, x, p->mesh->ndim);
  lua_setfield(L, -2, "coordinate");
  dtL_push_ints(L, shape, ndim);
  lua_setfield(L, -2, "shape");
  dtL_push_ints(L, off, ndim);
  lua_setfield(L, -2, "offset");
  return DT_OK;
}

/* dt.debug.show_data(x) -> {shape, placements, partial, parts = {{rank,
** coordinate, shape, offset}}}: where each rank's part lies.  Local. */
static int l_show_data (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  DtSession *s = v->s;
  const DtSpec *p = v->spec;
  int64_t n, *ranks;
  DtStatus st = DT_OK;
  if (p == NULL)
    return dtL_errorf(L, DT_E_TYPE, "a plain tensor lies whole on every rank; "
                      ":show draws distributed ones");
  n = dt_mesh_size(p->mesh);
  ranks = DT_NEWN(s->cx, int64_t, n);
  if (ranks == NULL) return dtL_raise(L);
  dt_mesh_ranks(p->mesh, ranks);
  lua_createtable(L, 0, 4);
  dtL_push_ints(L, p->meta.shape, p->meta.ndim);
  lua_setfield(L, -2, "shape");
  set_placements(L, "placements", p->npl, p->pl);
  dtL_set_bool(L, "partial", dt_spec_has_partial(p));
  lua_createtable(L, 0, 0);
  for (int64_t i = 0; i < n && i < MAX_RANKS && st == DT_OK; i++) {
    st = push_part(L, s, p, (int)ranks[i]);
    if (st == DT_OK) lua_seti(L, -2, i + 1);
  }
  dt_free(s->cx, ranks);
  if (st != DT_OK) return dtL_raise(L);
  lua_setfield(L, -2, "parts");
  return 1;
}

/* dt.debug.status_text(): the world and what each rank is doing.  Local. */
static int l_status_text (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtBuf b;
  dt_buf_init(&b, s->cx);
  if (s->comm) dt_comm_status(s->comm, &b);
  dtL_push_buf(L, &b);
  return 1;
}

/* --- lines of tail calls --- */

static int call_as_prompt (lua_State *L) {
  const char *method = lua_tostring(L, lua_upvalueindex(2));
  if (method) dtL_param_tensor(L, 1, method, "self");
  int n = lua_gettop(L);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, n, LUA_MULTRET);
  return lua_gettop(L);
}

/* dt._framed(f, method): f, called in such a way that `return f(x)` keeps the
** caller's frame, and with it the line of the script: a Lua function called
** last takes its caller's place, a C function does not.  With the name of a
** method, its first argument must be a tensor. */
static int l_framed (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 2);
  if (lua_iscfunction(L, 1))
    lua_settop(L, 1);
  else
    lua_pushcclosure(L, call_as_prompt, 2);
  return 1;
}

void dtL_open_answers (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"why_data", l_why_data}, {"plan_data", l_plan_data},
    {"show_data", l_show_data}, {"status_text", l_status_text},
    {NULL, NULL}
  };
  lua_getfield(L, dt, "debug");
  luaL_setfuncs(L, funcs, 0);
  lua_pop(L, 1);
  lua_pushcfunction(L, l_framed);
  lua_setfield(L, dt, "_framed");
}
