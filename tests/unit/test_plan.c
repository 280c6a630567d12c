/* SPDX-License-Identifier: MIT
** tests/unit/test_plan.c: cost model and redistribution plans, by hand and
** against layout/cost.jsonl, redist/plans.jsonl, redist/plans_flat.jsonl and
** the bytes of redist/collectives.jsonl. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/rng.h"
#include "fixture.h"
#include "parity.h"
#include "shard/plan.h"

/* {==== Helpers ==== */

static DtMesh *mesh_of (DtCtx *cx, int ndim, const int64_t *shape, int rank) {
  static const char *const names[] = { "a", "b", "c", "d" };
  int64_t world = 1;
  DtMesh *m = NULL;
  for (int i = 0; i < ndim; i++)
    world *= shape[i];
  assert_int_equal(dt_mesh_init(cx, "cpu", ndim, shape,
                                ndim <= 4 ? names : NULL, rank, (int)world,
                                &m), DT_OK);
  return m;
}

static DtSpec *spec_of (DtCtx *cx, DtMesh *mesh, const char *text,
                        const DtMeta *meta) {
  DtPlacement pl[DT_MAX_MDIM];
  DtSpec *s = NULL;
  int n = 0;
  assert_int_equal(dt_pls_parse(cx, text, pl, DT_MAX_MDIM, &n), DT_OK);
  assert_int_equal(dt_spec_new(cx, mesh, n, pl, meta, NULL, -1, &s), DT_OK);
  return s;
}

static void check_trace (DtCtx *cx, DtMesh *mesh, const char *src,
                         const char *dst, DtPlanMode mode, const char *want) {
  static const int64_t shape[2] = { 16, 24 };
  DtPlan *plan = NULL;
  DtMeta meta;
  DtBuf b;
  assert_int_equal(dt_meta_init(cx, &meta, DT_F32, 2, shape), DT_OK);
  DtSpec *s = spec_of(cx, mesh, src, &meta);
  DtSpec *d = spec_of(cx, mesh, dst, &meta);
  assert_int_equal(dt_plan_new(cx, NULL, s, d, mode, &plan), DT_OK);
  dt_buf_init(&b, cx);
  dt_plan_print(plan, &b);
  assert_string_equal(dt_buf_str(&b), want);
  dt_buf_fini(&b);
  dt_plan_unref(cx, plan);
  dt_spec_unref(cx, s);
  dt_spec_unref(cx, d);
}

/* }==== By hand ==== */

static void test_traces (void **state) {
  DtCtx *cx = fixture_cx(state);
  int64_t shape[2] = { 2, 4 };
  DtMesh *m = mesh_of(cx, 2, shape, 0), *flat = NULL;
  check_trace(cx, m, "S0 S0", "R S0", DT_PLAN_AUTO,
              "S(0)[0]S(0)[1]->S(0)R->RR->RS(0)");
  check_trace(cx, m, "R S0", "S0 S0", DT_PLAN_AUTO,
              "RS(0)->RR->S(0)R->S(0)[0]S(0)[1]");
  check_trace(cx, m, "S0 S1", "S1 S0", DT_PLAN_GREEDY,
              "S(0)S(1)->S(0)R->S(1)R->S(1)S(0)");
  check_trace(cx, m, "S0 S1", "S1 S0", DT_PLAN_GRAPH,
              "S(0)S(1)->RS(1)->RR->S(1)R->S(1)S(0)");
  check_trace(cx, m, "P P", "R R", DT_PLAN_AUTO,
              "P(sum)P(sum)->RP(sum)->RR");
  check_trace(cx, m, "P S0", "S0 R", DT_PLAN_AUTO,
              "P(sum)S(0)->P(sum)R->S(0)R");
  assert_int_equal(dt_mesh_flatten(cx, m, NULL, &flat), DT_OK);
  check_trace(cx, m, "P P", "R R", DT_PLAN_AUTO, "P(sum)P(sum)-->RR");
  dt_mesh_unref(cx, flat);
  dt_mesh_unref(cx, m);
}

static void test_mixed (void **state) {
  DtCtx *cx = fixture_cx(state);
  int64_t shape[2] = { 2, 2 }, other[2] = { 4, 1 }, tshape[1] = { 8 };
  DtMesh *m = mesh_of(cx, 2, shape, 0), *w = mesh_of(cx, 2, other, 0);
  DtPlan *plan = NULL;
  DtMeta meta;
  assert_int_equal(dt_meta_init(cx, &meta, DT_F32, 1, tshape), DT_OK);
  DtSpec *a = spec_of(cx, m, "P(sum) P(max)", &meta);
  DtSpec *b = spec_of(cx, m, "R R", &meta), *c = spec_of(cx, w, "R R", &meta);
  assert_int_equal(dt_plan_new(cx, NULL, a, b, DT_PLAN_AUTO, &plan),
                   DT_E_VALUE);
  dt_error_clear(cx);
  assert_int_equal(dt_plan_new(cx, NULL, b, c, DT_PLAN_AUTO, &plan),
                   DT_E_SPEC);
  assert_string_equal(cx->err.pyclass, "NotImplementedError");
  dt_spec_unref(cx, a);
  dt_spec_unref(cx, b);
  dt_spec_unref(cx, c);
  dt_mesh_unref(cx, m);
  dt_mesh_unref(cx, w);
}

static void test_cache (void **state) {
  DtCtx *cx = fixture_cx(state);
  int64_t shape[2] = { 2, 2 }, tshape[1] = { 7 };
  DtMesh *m = mesh_of(cx, 2, shape, 0), *flat = NULL;
  DtPlan *p = NULL, *q = NULL;
  DtPlanner *planner = NULL;
  DtMeta meta;
  assert_int_equal(dt_meta_init(cx, &meta, DT_F32, 1, tshape), DT_OK);
  DtSpec *a = spec_of(cx, m, "P P", &meta), *b = spec_of(cx, m, "R R", &meta);
  DtSpec *a2 = spec_of(cx, m, "P P", &meta);
  assert_int_equal(dt_planner_new(cx, NULL, &planner), DT_OK);
  assert_int_equal(dt_plan_new(cx, planner, a, b, DT_PLAN_AUTO, &p), DT_OK);
  assert_int_equal(dt_plan_new(cx, planner, a2, b, DT_PLAN_AUTO, &q), DT_OK);
  assert_ptr_equal(p, q);
  assert_non_null(dt_planner_warning(cx, planner, p));
  assert_null(dt_planner_warning(cx, planner, p));
  dt_plan_unref(cx, q);
  /* a new flattened mesh changes the plan */
  assert_int_equal(dt_mesh_flatten(cx, m, NULL, &flat), DT_OK);
  assert_int_equal(dt_plan_new(cx, planner, a, b, DT_PLAN_AUTO, &q), DT_OK);
  assert_int_equal(p->nsteps, 2);
  assert_int_equal(q->nsteps, 1);
  assert_int_equal(dt_plan_bytes(q), 7 * 4);
  dt_plan_unref(cx, p);
  dt_plan_unref(cx, q);
  dt_spec_unref(cx, a);
  dt_spec_unref(cx, a2);
  dt_spec_unref(cx, b);
  dt_planner_free(cx, planner);
  dt_mesh_unref(cx, flat);
  dt_mesh_unref(cx, m);
}

/* }==== Properties: random specs ==== */

static uint64_t draw (DtRng *r) {
  return dt_rng_u64(r, r->offset++);
}

static DtPlacement random_pl (DtRng *r, int ndim) {
  static const DtRedOp ops[] = { DT_OP_SUM, DT_OP_AVG };
  uint64_t k = draw(r) % 4;
  if (k == 0)
    return dt_pl_partial(ops[draw(r) % 2]);
  if (k == 1)
    return dt_pl_replicate();
  return dt_pl_shard((int)(draw(r) % (uint64_t)ndim));
}

/* The plan reaches its target, and the search is never dearer than greedy.
** Partial targets are left out: greedy plans steps to them that cannot run. */
static void test_reaches (void **state) {
  DtCtx *cx = fixture_cx(state);
  int64_t shape[3] = { 2, 3, 2 }, tshape[2] = { 13, 24 };
  DtMesh *m = mesh_of(cx, 3, shape, 7);
  DtRng r = { 4, 0 };
  DtMeta meta;
  assert_int_equal(dt_meta_init(cx, &meta, DT_F32, 2, tshape), DT_OK);
  for (int i = 0; i < 1500; i++) {
    DtPlacement a[3], b[3], cur[3];
    DtSpec *s = NULL, *d = NULL;
    DtPlan *g = NULL, *w = NULL;
    for (int k = 0; k < 3; k++) {
      a[k] = random_pl(&r, 2);
      do b[k] = random_pl(&r, 2); while (dt_pl_is_partial(b[k]));
    }
    assert_int_equal(dt_spec_new(cx, m, 3, a, &meta, NULL, -1, &s), DT_OK);
    assert_int_equal(dt_spec_new(cx, m, 3, b, &meta, NULL, -1, &d), DT_OK);
    assert_int_equal(dt_plan_new(cx, NULL, s, d, DT_PLAN_GREEDY, &g), DT_OK);
    assert_int_equal(dt_plan_new(cx, NULL, s, d, DT_PLAN_GRAPH, &w), DT_OK);
    /* one-step costs depend on bytes after earlier steps the same way in
    ** both planners, but the search prices each step from its own state */
    memcpy(cur, a, sizeof cur);
    for (int k = 0; k < g->nsteps; k++) {
      assert_true(dt_pl_equal(cur[g->steps[k].mdim], g->steps[k].src));
      cur[g->steps[k].mdim] = g->steps[k].dst;
    }
    assert_true(dt_pls_equal(cur, b, 3));
    memcpy(cur, a, sizeof cur);
    for (int k = 0; k < w->nsteps; k++) {
      assert_true(dt_pl_equal(cur[w->steps[k].mdim], w->steps[k].src));
      cur[w->steps[k].mdim] = w->steps[k].dst;
    }
    assert_true(dt_pls_equal(cur, b, 3));
    assert_true(dt_plan_cost(NULL, w) <= dt_plan_cost(NULL, g) + 1e-9);
    dt_plan_unref(cx, g);
    dt_plan_unref(cx, w);
    dt_spec_unref(cx, s);
    dt_spec_unref(cx, d);
  }
  dt_mesh_unref(cx, m);
}

/* The common path must not allocate. */
static void test_no_alloc (void **state) {
  DtCtx *cx = fixture_cx(state);
  int64_t shape[3] = { 2, 2, 2 }, tshape[2] = { 64, 64 };
  DtMesh *m = mesh_of(cx, 3, shape, 0);
  DtTopo t;
  DtMeta meta;
  double c = 0;
  dt_topo_default(&t);
  assert_int_equal(dt_meta_init(cx, &meta, DT_F32, 2, tshape), DT_OK);
  DtSpec *a = spec_of(cx, m, "S0 S0 P", &meta);
  DtSpec *b = spec_of(cx, m, "R S0 S1", &meta);
  int64_t before = cx->mem.nalloc;
  assert_int_equal(dt_cost_redistribute(cx, NULL, &t, a, b, &c), DT_OK);
  assert_int_equal(cx->mem.nalloc, before);
  assert_true(c > 0);
  dt_spec_unref(cx, a);
  dt_spec_unref(cx, b);
  dt_mesh_unref(cx, m);
}

/* }==== Allocation failure ==== */

/* Everything in mesh/ and shard/ that allocates, once. */
typedef struct Tour {
  DtMesh *root, *listed, *sub, *flat, *split, *both;
  DtSpec *src, *dst, *ordered;
  DtPlanner *planner;
  DtPlan *greedy, *graph, *merged;
} Tour;

static DtStatus tour_meshes (DtCtx *cx, Tour *t) {
  static const char *const names[] = { "a", "b", "c" };
  static const char *const uv[] = { "u", "v" };
  static const int64_t shape[] = { 2, 2, 4 }, two[] = { 2, 2 };
  static const int64_t ranks[] = { 3, 1, 2, 0 };
  DtMesh *list[2];
  DT_TRY(cx, dt_mesh_init(cx, "cpu", 3, shape, names, 5, 16, &t->root));
  DT_TRY(cx, dt_mesh_new(cx, "cpu", 2, two, ranks, names, 1, 16,
                         &t->listed));
  DT_TRY(cx, dt_mesh_slice(cx, t->root, 2, names, NULL, NULL, &t->sub));
  DT_TRY(cx, dt_mesh_flatten(cx, t->sub, NULL, &t->flat));
  DT_TRY(cx, dt_mesh_unflatten(cx, t->root, 2, 2, two, uv, &t->split));
  list[0] = t->flat;
  DT_TRY(cx, dt_mesh_slice(cx, t->root, 1, names + 2, NULL, NULL, &list[1]));
  DtStatus st = dt_mesh_concat(cx, 2, list, &t->both);
  dt_mesh_unref(cx, list[1]);
  return st;
}

static DtStatus tour_specs (DtCtx *cx, Tour *t) {
  static const int64_t shape[] = { 7, 16 };
  DtPlacement p = dt_pl_partial(DT_OP_SUM), s = dt_pl_shard(0);
  DtPlacement src[3] = { p, p, s }, dst[3] = { dt_pl_replicate(),
      dt_pl_replicate(), dt_pl_shard(1) }, ord[3] = { s, s, p };
  DtShardOrder o = { .known = true, .n = 1 };
  DtMeta meta;
  o.e[0].tdim = 0;
  o.e[0].n = 2;
  o.e[0].mdims[0] = 1;
  o.e[0].mdims[1] = 0;
  DT_TRY(cx, dt_meta_init(cx, &meta, DT_F32, 2, shape));
  DT_TRY(cx, dt_spec_new(cx, t->root, 3, src, &meta, NULL, -1, &t->src));
  DT_TRY(cx, dt_spec_new(cx, t->root, 3, dst, &meta, NULL, -1, &t->dst));
  return dt_spec_new(cx, t->root, 3, ord, &meta, &o, -1, &t->ordered);
}

static DtStatus tour_plans (DtCtx *cx, Tour *t) {
  int64_t *idx, n;
  DtBuf b;
  DT_TRY(cx, dt_planner_new(cx, NULL, &t->planner));
  DT_TRY(cx, dt_plan_new(cx, t->planner, t->src, t->dst, DT_PLAN_AUTO,
                         &t->merged));
  DT_TRY(cx, dt_plan_new(cx, NULL, t->dst, t->src, DT_PLAN_GREEDY,
                         &t->greedy));
  DT_TRY(cx, dt_plan_new(cx, t->planner, t->ordered, t->dst, DT_PLAN_AUTO,
                         &t->graph));
  DT_TRY(cx, dt_layout_indices(cx, t->ordered, NULL, 0, &idx, &n));
  dt_buf_init(&b, cx);
  dt_plan_print(t->graph, &b);
  dt_mesh_repr(t->both, NULL, &b);
  DtStatus st = dt_buf_ok(&b);
  dt_buf_fini(&b);
  return st;
}

static void tour_free (DtCtx *cx, Tour *t) {
  dt_plan_unref(cx, t->greedy);
  dt_plan_unref(cx, t->graph);
  dt_plan_unref(cx, t->merged);
  dt_planner_free(cx, t->planner);
  dt_spec_unref(cx, t->src);
  dt_spec_unref(cx, t->dst);
  dt_spec_unref(cx, t->ordered);
  dt_mesh_unref(cx, t->both);
  dt_mesh_unref(cx, t->split);
  dt_mesh_unref(cx, t->flat);
  dt_mesh_unref(cx, t->sub);
  dt_mesh_unref(cx, t->listed);
  dt_mesh_unref(cx, t->root);
}

static void test_no_memory (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtStatus st = DT_E_NOMEM;
  int n = 0;
  for (; st != DT_OK && n < 2000; n++) {
    Tour t;
    memset(&t, 0, sizeof t);
    dt_error_clear(cx);
    dt_arena_fini(cx, &cx->scratch);
    int64_t live = cx->mem.nlive;
    cx->mem.fail_at = cx->mem.nalloc + 1 + n;
    cx->mem.fail_on = true;
    st = tour_meshes(cx, &t);
    st = st == DT_OK ? tour_specs(cx, &t) : st;
    st = st == DT_OK ? tour_plans(cx, &t) : st;
    cx->mem.fail_on = false;
    cx->mem.fail_at = 0;
    tour_free(cx, &t);
    dt_arena_fini(cx, &cx->scratch);
    assert_true(st == DT_OK || st == DT_E_NOMEM);
    assert_int_equal(cx->mem.nlive, live);
  }
  assert_int_equal(st, DT_OK);
  assert_true(n > 40);
}

/* }==== Parity: cost.jsonl ==== */

static DtTopo topo_of (const json_t *o) {
  DtTopo t;
  dt_topo_default(&t);
  t.devices_per_host = jint(o, "devices_per_host", 1);
  return t;
}

/* bandwidth and latency of a mesh dim, from the outside: cost of nothing
** over 2 parts, and of one GiB */
static bool cost_topo (Parity *p, const json_t *o, const DtMesh *mesh) {
  const json_t *bw = json_object_get(o, "mesh_dim_bandwidth");
  const json_t *lat = json_object_get(o, "mesh_dim_latency");
  DtTopo t = topo_of(o);
  int64_t total = 1;
  for (int m = mesh->ndim - 1; m >= 0; m--) {
    total *= mesh->shape[m];
    bool inter = total > t.devices_per_host;
    if (!same_num(p, "bandwidth", json_array_get(bw, (size_t)m),
                  inter ? t.bandwidth * t.inter_bandwidth_factor
                        : t.bandwidth) ||
        !same_num(p, "latency", json_array_get(lat, (size_t)m),
                  inter ? t.inter_latency : t.latency))
      return false;
  }
  return true;
}

static bool cost_collective (Parity *p, const json_t *o, const DtMesh *mesh) {
  const char *fn = jstr(o, "fn");
  double gb = jnum(json_object_get(o, "bytes_gb")), c;
  int m = (int)jint(o, "mesh_dim", 0);
  DtTopo t = topo_of(o);
  int64_t total = 1, n = mesh->shape[m];
  for (int i = m; i < mesh->ndim; i++)
    total *= mesh->shape[i];
  bool inter = total > t.devices_per_host;
  double bw = inter ? t.bandwidth * t.inter_bandwidth_factor : t.bandwidth;
  double lat = inter ? t.inter_latency : t.latency;
  c = strcmp(fn, "allgather_cost") == 0 ? dt_cost_allgather(gb, n, bw, lat)
      : strcmp(fn, "allreduce_cost") == 0 ? dt_cost_allreduce(gb, n, bw, lat)
      : dt_cost_reduce_scatter(gb, n, bw, lat);
  return same_num(p, fn, json_object_get(o, "cost"), c);
}

/* "bytes" is what a rank holds: a spec of bytes * num_shards bytes. */
static bool cost_step (Parity *p, const json_t *o, DtMesh *mesh) {
  DtPlacement a[DT_MAX_MDIM], b[DT_MAX_MDIM];
  const char *src = jstr(o, "src"), *dst = jstr(o, "dst");
  int m = (int)jint(o, "mesh_dim", 0);
  DtSpec *x = NULL, *y = NULL;
  DtTopo t = topo_of(o);
  int64_t shape[1] = { jint(o, "bytes", 0) };
  double c = 0;
  DtMeta meta;
  for (int i = 0; i < mesh->ndim; i++)
    a[i] = b[i] = dt_pl_replicate();
  if (dt_pl_parse(p->cx, &src, &a[m]) != DT_OK ||
      dt_pl_parse(p->cx, &dst, &b[m]) != DT_OK)
    return false;
  if (dt_pl_is_shard_like(a[m]))
    shape[0] *= mesh->shape[m];
  bool ok = dt_meta_init(p->cx, &meta, DT_U8, 1, shape) == DT_OK &&
      no_error(p, dt_spec_new(p->cx, mesh, mesh->ndim, a, &meta, NULL, 0,
                              &x)) &&
      no_error(p, dt_spec_new(p->cx, mesh, mesh->ndim, b, &meta, NULL, 0,
                              &y)) &&
      no_error(p, dt_cost_one_step(p->cx, &t, x, y, &c)) &&
      same_num(p, "cost", json_object_get(o, "cost"), c);
  dt_spec_unref(p->cx, x);
  dt_spec_unref(p->cx, y);
  return ok;
}

static bool cost_redistribute (Parity *p, const json_t *o, DtMesh *mesh) {
  DtPlacement a[DT_MAX_MDIM], b[DT_MAX_MDIM];
  DtSpec *x = NULL, *y = NULL;
  DtTopo t = topo_of(o);
  DtMeta meta;
  double c = 0;
  int n = jpls(p, json_object_get(o, "src"), a);
  int k = jpls(p, json_object_get(o, "dst"), b);
  bool ok = jmeta(p, o, &meta) &&
      no_error(p, dt_spec_new(p->cx, mesh, n, a, &meta, NULL, -1, &x)) &&
      no_error(p, dt_spec_new(p->cx, mesh, k, b, &meta, NULL, -1, &y)) &&
      no_error(p, dt_cost_redistribute(p->cx, NULL, &t, x, y, &c)) &&
      same_num(p, "cost", json_object_get(o, "cost"), c);
  dt_spec_unref(p->cx, x);
  dt_spec_unref(p->cx, y);
  return ok;
}

static bool cost_line (Parity *p, const json_t *o) {
  const char *fn = jstr(o, "fn");
  DtMesh *mesh = jmesh(p, o, 0);
  if (mesh == NULL)
    return false;
  bool ok = strcmp(fn, "MeshTopoInfo") == 0 ? cost_topo(p, o, mesh)
      : strcmp(fn, "redistribute_cost") == 0 ? cost_redistribute(p, o, mesh)
      : strncmp(fn, "_compute", 8) == 0 ? cost_step(p, o, mesh)
      : cost_collective(p, o, mesh);
  dt_mesh_unref(p->cx, mesh);
  return ok;
}

/* }==== Parity: plans ==== */

static bool same_step (Parity *p, const json_t *want, const DtStep *s) {
  DtBuf b;
  dt_buf_init(&b, p->cx);
  dt_pl_print(s->src, &b);
  bool ok = same_text(p, "from", jstr(want, "from"), dt_buf_str(&b));
  dt_buf_clear(&b);
  dt_pl_print(s->dst, &b);
  ok = ok && same_text(p, "to", jstr(want, "to"), dt_buf_str(&b)) &&
       same_text(p, "kind", jstr(want, "kind"),
                 dt_step_kind(s->src, s->dst)) &&
       same_ints(p, "logical", json_object_get(want, "logical_shape"),
                 s->lshape, s->ndim);
  dt_buf_fini(&b);
  const json_t *dims = json_object_get(want, "mesh_dims");
  if (ok && dims != NULL) {
    int64_t wide[DT_MAX_MDIM];
    for (int i = 0; i < s->nflat; i++)
      wide[i] = s->flat_mdims[i];
    ok = same_flag(p, "merged", true, s->flat != NULL) &&
         same_ints(p, "mesh_dims", dims, wide, s->nflat) &&
         same_text(p, "group", json_string_value(json_array_get(
                   json_object_get(want, "group"), 0)), s->flat->name[0]);
    const json_t *scale = json_object_get(want, "avg_scale");
    double got = s->scale > 1 ? s->scale : 0;
    ok = ok && (scale != NULL ? same_num(p, "scale", scale, got)
                              : same_flag(p, "scaled", false, got > 0));
  }
  else if (ok)
    ok = same_flag(p, "mesh_dim", true,
                   jint(want, "mesh_dim", -1) == s->mdim && s->flat == NULL);
  return ok;
}

static bool same_steps (Parity *p, const char *what, const json_t *want,
                        const DtStep *s, int n) {
  bool ok = (int)json_array_size(want) == n;
  if (!ok)
    dt_buf_addf(&p->why, "%s: want %d steps, got %d", what,
                (int)json_array_size(want), n);
  for (int i = 0; ok && i < n; i++) {
    ok = same_step(p, json_array_get(want, (size_t)i), &s[i]);
    if (!ok)
      dt_buf_addf(&p->why, " (%s, step %d)", what, i);
  }
  return ok;
}

typedef struct Request {
  DtMesh *mesh;
  DtSpec *src, *dst;
} Request;

static bool request_make (Parity *p, const json_t *o, int rank,
                          const char *dtype, Request *r) {
  DtPlacement a[DT_MAX_MDIM], b[DT_MAX_MDIM];
  DtShardOrder oa, ob;
  DtMeta meta;
  memset(r, 0, sizeof *r);
  int n = jpls(p, json_object_get(o, "src"), a);
  int k = jpls(p, json_object_get(o, "dst"), b);
  r->mesh = jmesh(p, o, rank);
  if (r->mesh == NULL || n < 0 || k < 0 || !jmeta(p, o, &meta))
    return false;
  if (dtype != NULL)
    meta.dtype = (uint8_t)dt_dtype_find(dtype);
  return no_error(p, dt_spec_new(p->cx, r->mesh, n, a, &meta,
                     jorder(json_object_get(o, "src_order"), &oa), -1,
                     &r->src)) &&
         no_error(p, dt_spec_new(p->cx, r->mesh, k, b, &meta,
                     jorder(json_object_get(o, "dst_order"), &ob), -1,
                     &r->dst));
}

static void request_free (Parity *p, Request *r) {
  dt_spec_unref(p->cx, r->src);
  dt_spec_unref(p->cx, r->dst);
  dt_mesh_unref(p->cx, r->mesh);
}

static DtPlanMode mode_of (const json_t *o) {
  const char *planner = jstr(o, "planner");
  return planner != NULL && strcmp(planner, "graph") == 0 ? DT_PLAN_GRAPH
                                                          : DT_PLAN_AUTO;
}

/* Logical shapes of a rank that sees others than rank 0. */
static bool plan_rank (Parity *p, const json_t *o, int rank,
                       const json_t *logical) {
  Request r;
  DtPlan *plan = NULL;
  bool ok = request_make(p, o, rank, NULL, &r) &&
            no_error(p, dt_plan_search(p->cx, NULL, r.src, r.dst, mode_of(o),
                                       &plan));
  for (int i = 0; ok && i < plan->nraw; i++)
    ok = same_ints(p, "logical of a rank", json_array_get(logical, (size_t)i),
                   plan->raw[i].lshape, plan->raw[i].ndim);
  dt_plan_unref(p->cx, plan);
  request_free(p, &r);
  return ok;
}

static bool plan_ranks (Parity *p, const json_t *o) {
  const json_t *by = json_object_get(o, "logical_by_rank");
  bool ok = true;
  for (size_t i = 0; ok && i < json_array_size(by); i++) {
    const json_t *e = json_array_get(by, i);
    const json_t *ranks = json_object_get(e, "ranks");
    for (size_t k = 0; ok && k < json_array_size(ranks); k++)
      ok = plan_rank(p, o, (int)json_integer_value(json_array_get(ranks, k)),
                     json_object_get(e, "logical"));
  }
  return ok;
}

/* redistribute_cost under the line's planner. */
static bool plan_cost (Parity *p, const json_t *o, const Request *r) {
  const json_t *want = json_object_get(o, "cost");
  const json_t *error = json_object_get(want, "error");
  DtPlanner *planner = NULL;
  double c = 0;
  bool ok = no_error(p, dt_planner_new(p->cx, NULL, &planner));
  if (!ok)
    return false;
  dt_planner_set_mode(planner, mode_of(o));
  DtStatus st = dt_cost_redistribute(p->cx, planner,
                                     dt_planner_topo(planner), r->src, r->dst,
                                     &c);
  ok = error != NULL ? same_flag(p, "cost fails", true, st != DT_OK)
                     : no_error(p, st) && same_num(p, "cost", want, c);
  dt_planner_free(p->cx, planner);
  return ok;
}

/* dt_plan_new refuses mixed partials as execution does. */
static bool plan_checks (Parity *p, const json_t *o, const Request *r) {
  const json_t *e = json_object_get(o, "exec_error");
  const char *text = e != NULL ? jstr(e, "text") : "";
  DtPlan *plan = NULL;
  bool mixed = strncmp(text, "Mixed Partial", 13) == 0;
  DtStatus st = dt_plan_new(p->cx, NULL, r->src, r->dst, mode_of(o), &plan);
  dt_plan_unref(p->cx, plan);
  if (mixed)
    return same_flag(p, "mixed refused", true, st == DT_E_VALUE &&
                     strncmp(dt_buf_str(&p->cx->err.message), text, 70) == 0);
  return e == NULL || same_flag(p, "planned", true, st == DT_OK);
}

static bool plan_line (Parity *p, const json_t *o) {
  const json_t *error = json_object_get(o, "error");
  const char *used = jstr(o, "used");
  DtPlan *plan = NULL;
  Request r;
  bool ok = request_make(p, o, 0, NULL, &r);
  DtStatus st = ok ? dt_plan_search(p->cx, NULL, r.src, r.dst, mode_of(o),
                                    &plan) : DT_E_INTERNAL;
  if (ok && error != NULL) {
    ok = same_error(p, error, st);
    dt_error_clear(p->cx);
    ok = ok && plan_cost(p, o, &r);
  }
  else if (ok) {
    ok = no_error(p, st) &&
         same_flag(p, "graph", strncmp(used, "graph", 5) == 0, plan->graph) &&
         same_flag(p, "undecodable", strcmp(used, "graph+greedy") == 0,
                   plan->undecodable) &&
         same_steps(p, "steps", json_object_get(o, "steps"), plan->raw,
                    plan->nraw) &&
         plan_cost(p, o, &r) && plan_checks(p, o, &r);
    dt_error_clear(p->cx);
    ok = ok && plan_ranks(p, o);
  }
  dt_plan_unref(p->cx, plan);
  request_free(p, &r);
  return ok;
}

/* }==== Parity: plans_flat.jsonl ==== */

/* Flatten what a line says was flattened; the meshes live with the root. */
static bool flatten_all (Parity *p, const json_t *o, DtMesh *mesh) {
  const json_t *list = json_object_get(o, "flatten");
  bool ok = true;
  for (size_t i = 0; ok && i < json_array_size(list); i++) {
    const char *names[DT_MAX_MDIM];
    DtMesh *sub = NULL, *flat = NULL;
    int n = jstrs(json_array_get(list, i), names, DT_MAX_MDIM);
    ok = no_error(p, dt_mesh_slice(p->cx, mesh, n, names, NULL, NULL,
                                   &sub)) &&
         no_error(p, dt_mesh_flatten(p->cx, sub, NULL, &flat));
    dt_mesh_unref(p->cx, flat);
    dt_mesh_unref(p->cx, sub);
  }
  return ok;
}

static bool flat_warning (Parity *p, const json_t *o, const DtPlan *plan) {
  const json_t *warn = json_object_get(o, "warn");
  DtBuf b;
  dt_buf_init(&b, p->cx);
  for (size_t i = 0; i < json_array_size(warn); i++) {
    dt_buf_add(&b, i > 0 ? "\n" : "");
    dt_buf_add(&b, json_string_value(json_array_get(warn, i)));
  }
  bool ok = same_text(p, "warning", dt_buf_str(&b),
                      plan->warning != NULL ? plan->warning : "");
  dt_buf_fini(&b);
  return ok;
}

static bool flat_line (Parity *p, const json_t *o) {
  const json_t *opt = json_object_get(o, "opt");
  DtPlan *plan = NULL;
  Request r;
  bool ok = request_make(p, o, 0, NULL, &r) && flatten_all(p, o, r.mesh) &&
            no_error(p, dt_plan_search(p->cx, NULL, r.src, r.dst,
                                       mode_of(o), &plan)) &&
            same_steps(p, "steps", json_object_get(o, "steps"), plan->raw,
                       plan->nraw) &&
            same_steps(p, "opt", json_is_string(opt)
                       ? json_object_get(o, "steps") : opt, plan->steps,
                       plan->nsteps) &&
            flat_warning(p, o, plan);
  dt_plan_unref(p->cx, plan);
  request_free(p, &r);
  return ok;
}

/* }==== Parity: bytes of collectives.jsonl ==== */

static int64_t bytes_of (const json_t *ops) {
  int64_t sum = 0;
  for (size_t i = 0; i < json_array_size(ops); i++)
    sum += jint(json_array_get(ops, i), "bytes_in", 0);
  return sum;
}

static bool bytes_rank (Parity *p, const json_t *o, int rank,
                        const json_t *forward) {
  DtPlan *plan = NULL;
  Request r;
  bool ok = request_make(p, o, rank, jstr(o, "fwd_dt"), &r) &&
            flatten_all(p, o, r.mesh) &&
            no_error(p, dt_plan_new(p->cx, NULL, r.src, r.dst, DT_PLAN_AUTO,
                                    &plan));
  if (ok && bytes_of(forward) != dt_plan_bytes(plan)) {
    dt_buf_addf(&p->why, "rank %d: want %lld bytes, got %lld", rank,
                (long long)bytes_of(forward),
                (long long)dt_plan_bytes(plan));
    ok = false;
  }
  dt_plan_unref(p->cx, plan);
  request_free(p, &r);
  return ok;
}

static bool bytes_line (Parity *p, const json_t *o) {
  const json_t *forward = json_object_get(o, "forward");
  const json_t *by = json_object_get(o, "by_rank");
  if (forward == NULL) {
    p->skipped = true;
    return true;
  }
  bool ok = bytes_rank(p, o, 0, forward);
  for (size_t i = 0; ok && i < json_array_size(by); i++) {
    const json_t *e = json_array_get(by, i);
    const json_t *ranks = json_object_get(e, "ranks");
    const json_t *f = json_object_get(e, "forward");
    if (json_object_get(e, "forward_error") != NULL)
      continue;
    for (size_t k = 0; ok && k < json_array_size(ranks); k++)
      ok = bytes_rank(p, o,
                      (int)json_integer_value(json_array_get(ranks, k)),
                      f != NULL ? f : forward);
  }
  return ok;
}

static void run (void **state, const char *file, ParityFn fn) {
  Parity p;
  parity_init(&p, fixture_cx(state));
  int failed = parity_file(&p, file, fn);
  parity_fini(&p);
  assert_int_equal(failed, 0);
  assert_true(p.pass > 0);
}

static void test_parity_cost (void **state) {
  run(state, "layout/cost.jsonl", cost_line);
}

static void test_parity_plans (void **state) {
  run(state, "redist/plans.jsonl", plan_line);
}

static void test_parity_flat (void **state) {
  run(state, "redist/plans_flat.jsonl", flat_line);
}

static void test_parity_bytes (void **state) {
  run(state, "redist/collectives.jsonl", bytes_line);
}

/* }==== */

#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, \
                                             fixture_teardown)

int main (void) {
  static const struct CMUnitTest tests[] = {
    T(test_traces),
    T(test_mixed),
    T(test_cache),
    T(test_reaches),
    T(test_no_alloc),
    T(test_no_memory),
    T(test_parity_cost),
    T(test_parity_plans),
    T(test_parity_flat),
    T(test_parity_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
