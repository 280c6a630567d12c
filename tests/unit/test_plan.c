/* SPDX-License-Identifier: MIT
** TEST: tags=one_thread
** tests/unit/test_plan.c: cost model and redistribution plans, by hand and
** against layout/cost.jsonl, redist/plans.jsonl, redist/plans_flat.jsonl. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "base/error_shard.h"
#include "base/rng.h"
#include "fixture.h"
#include "mesh/layout.h"
#include "suites.h"
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
  DtRng r = {.seed = 4, .offset = 0 };
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
  DtMeshCut into = { 2, 2, two, uv };
  DT_TRY(cx, dt_mesh_unflatten(cx, t->root, NULL, 2, &into, &t->split));
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
  dt_mesh_repr(t->both, &b);
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

/* }==== Parity ==== */

static void test_parity (void **state) {
  static const char *const files[] = {
    "layout/cost.jsonl",
    "redist/plans.jsonl",
    "redist/plans_flat.jsonl"
  };
  suites_check(fixture_cx(state), files, 3, NULL);
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
    T(test_parity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
