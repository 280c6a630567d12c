/* SPDX-License-Identifier: MIT
** TEST: tags=one_thread
** tests/unit/test_prop.c: propagation: every reference case of the operators
** that exist (by the checkers of parity/), the cache, the order of slots,
** errors, the table of candidates, failing allocations. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "fixture.h"
#include "base/error_shard.h"
#include "oplib/ops.h"
#include "shard/prop.h"
#include "suites.h"

/* ---- a propagator over the built-in operators ---- */

typedef struct World {
  DtCtx *cx;
  DtRegistry *reg;
  DtPlanner *plan;
  DtPropagator *prop;
  DtMesh *mesh;
} World;

static DtStatus world_try (World *w, DtCtx *cx, int ndim) {
  static const int64_t shape[3] = { 2, 2, 2 };
  static const char *const names[3] = { "a", "b", "c" };
  DtTopo topo;
  memset(w, 0, sizeof *w);
  w->cx = cx;
  dt_topo_default(&topo);
  DT_TRY(cx, dt_registry_new(cx, dt_ops, dt_variants, &w->reg));
  DT_TRY(cx, dt_planner_new(cx, &topo, &w->plan));
  DT_TRY(cx, dt_propagator_new(cx, w->reg, w->plan, &w->prop));
  return dt_mesh_init(cx, "cpu", ndim, shape, names, 0, 1 << ndim, &w->mesh);
}

static void world_fini (World *w) {
  dt_mesh_unref(w->cx, w->mesh);
  dt_propagator_free(w->cx, w->prop);
  dt_planner_free(w->cx, w->plan);
  dt_registry_free(w->cx, w->reg);
}

static DtStatus spec_try (World *w, const char *pls, int64_t rows,
                          int64_t cols, DtSpec **out) {
  const int64_t shape[2] = { rows, cols };
  DtPlacement pl[DT_MAX_MDIM];
  DtMeta m;
  int n;
  DT_TRY(w->cx, dt_pls_parse(w->cx, pls, pl, DT_MAX_MDIM, &n));
  DT_TRY(w->cx, dt_meta_init(w->cx, &m, DT_F32, 2, shape));
  return dt_spec_new(w->cx, w->mesh, n, pl, &m, NULL, -1, out);
}

static DtSpec *spec (World *w, const char *pls, int64_t rows, int64_t cols) {
  DtSpec *s = NULL;
  assert_int_equal(spec_try(w, pls, rows, cols, &s), DT_OK);
  return s;
}

static void bind_two (World *w, const DtOpDef *op, DtArgs *args) {
  const DtValue v[2] = { dt_v_slot(0), dt_v_slot(1) };
  assert_int_equal(dt_schema_bind(w->cx, op->sig, &(DtGiven){ .npos = 2, .pos = v },
    args),
                   DT_OK);
}

static void assert_pls (DtCtx *cx, const DtSpec *s, const char *want) {
  DtBuf b;
  assert_non_null(s);
  dt_buf_init(&b, cx);
  dt_pls_print(s->pl, s->npl, &b);
  assert_string_equal(dt_buf_str(&b), want);
  dt_buf_fini(&b);
}

/* ---- the cache ---- */

/* A hit gives the same decision and allocates nothing; any argument counts. */
static void test_cache (void **state) {
  DtCtx *cx = fixture_cx(state);
  World w;
  assert_int_equal(world_try(&w, cx, 2), DT_OK);
  const DtOpDef *op = dt_registry_find(cx, w.reg, "aten.add.Tensor");
  DtSpec *in[2] = { spec(&w, "S(0) R", 8, 8), spec(&w, "R R", 8, 8) };
  const DtSpec *const *specs = (const DtSpec *const *)in;
  DtProp *a = NULL, *b = NULL, *c = NULL;
  DtArgs args;
  bool hit = true;
  bind_two(&w, op, &args);
  assert_int_equal(dt_prop_cached(cx, w.prop,
                                  &(DtOpSchema){ op, &args, 2, specs }, &a,
                                  &hit),
                   DT_OK);
  assert_false(hit);
  int64_t made = cx->mem.nalloc;
  assert_int_equal(dt_prop_cached(cx, w.prop,
                                  &(DtOpSchema){ op, &args, 2, specs }, &b,
                                  &hit),
                   DT_OK);
  assert_true(hit);
  assert_int_equal(cx->mem.nalloc, made);
  assert_ptr_equal(a, b);
  args.v[2] = dt_v_int(2);
  assert_int_equal(dt_prop_cached(cx, w.prop,
                                  &(DtOpSchema){ op, &args, 2, specs }, &c,
                                  &hit),
                   DT_OK);
  assert_false(hit);
  dt_prop_clear(cx, w.prop);
  assert_pls(cx, a->out[0], "S(0)R");
  dt_prop_unref(cx, a);
  dt_prop_unref(cx, b);
  dt_prop_unref(cx, c);
  for (int i = 0; i < 2; i++) dt_spec_unref(cx, in[i]);
  world_fini(&w);
}

/* ---- slots in another order than the schema's ---- */

static void test_slots (void **state) {
  DtCtx *cx = fixture_cx(state);
  World w;
  assert_int_equal(world_try(&w, cx, 1), DT_OK);
  const DtOpDef *op = dt_registry_find(cx, w.reg, "aten.mm.default");
  DtSpec *in[2] = { spec(&w, "R", 8, 4), spec(&w, "S(0)", 8, 8) };
  const DtValue v[2] = { dt_v_slot(1), dt_v_slot(0) };
  DtArgs args;
  DtProp *p = NULL;
  assert_int_equal(dt_schema_bind(cx, op->sig, &(DtGiven){ .npos = 2, .pos = v },
    &args),
                   DT_OK);
  const DtOpSchema q = { op, &args, 2, (const DtSpec *const *)in };
  assert_int_equal(dt_prop_run(cx, w.prop, &q, NULL, &p), DT_OK);
  assert_pls(cx, p->out[0], "S(0)");
  assert_pls(cx, p->in[0], "R");
  assert_pls(cx, p->in[1], "S(0)");
  assert_false(p->needs_redist);
  dt_prop_unref(cx, p);
  for (int i = 0; i < 2; i++) dt_spec_unref(cx, in[i]);
  world_fini(&w);
}

/* ---- errors ---- */

static void test_inplace_error (void **state) {
  DtCtx *cx = fixture_cx(state);
  World w;
  assert_int_equal(world_try(&w, cx, 1), DT_OK);
  const DtOpDef *op = dt_registry_find(cx, w.reg, "aten.mul_.Tensor");
  DtSpec *in[2] = { spec(&w, "P(max)", 8, 8), spec(&w, "S(0)", 8, 8) };
  DtArgs args;
  DtProp *p = NULL;
  bind_two(&w, op, &args);
  const DtOpSchema q = { op, &args, 2, (const DtSpec *const *)in };
  assert_int_equal(dt_prop_run(cx, w.prop, &q, NULL, &p),
                   DT_E_INPLACE);
  assert_null(p);
  assert_string_equal(cx->err.pyclass, "RuntimeError");
  assert_string_equal(dt_buf_str(&cx->err.message),
    "aten.mul_.Tensor: in-place operations that require placement changes are "
    "not supported. The input has placement (Partial(max),), but no valid "
    "strategy preserves this placement. Please use the out-of-place version "
    "of this operation instead.\n\nSharding propagation failed for "
    "aten.mul_.Tensor(Spec(f32[8, 8](P(max))), Spec(f32[8, 8](S(0)))) on "
    "DeviceMesh((a=2), 'cpu', stride=(1,)))");
  dt_error_clear(cx);
  for (int i = 0; i < 2; i++) dt_spec_unref(cx, in[i]);
  world_fini(&w);
}

static void test_missing (void **state) {
  DtCtx *cx = fixture_cx(state);
  World w;
  DtOpDef def = { .schema = "npu::pair(Tensor x, Tensor y) -> Tensor",
                  .brief = "No rules." };
  const DtOpDef *op = NULL;
  DtArgs args;
  DtProp *p = NULL;
  assert_int_equal(world_try(&w, cx, 1), DT_OK);
  def.meta = dt_registry_find(cx, w.reg, "aten.relu.default")->meta;
  def.row = dt_registry_find(cx, w.reg, "aten.relu.default")->row;
  assert_int_equal(dt_registry_add(cx, w.reg, &def, &op), DT_OK);
  DtSpec *in[2] = { spec(&w, "R", 8, 8), spec(&w, "R", 8, 8) };
  bind_two(&w, op, &args);
  const DtOpSchema q = { op, &args, 2, (const DtSpec *const *)in };
  assert_int_equal(dt_prop_run(cx, w.prop, &q, NULL, &p),
                   DT_E_MISSING);
  assert_string_equal(dt_buf_str(&cx->err.message), "Operator "
    "npu.pair.default does not have a sharding strategy registered.");
  dt_error_clear(cx);
  for (int i = 0; i < 2; i++) dt_spec_unref(cx, in[i]);
  world_fini(&w);
}

/* ---- why ---- */

/* mm has 8 rules on one mesh dim; the table agrees with the decision. */
static void test_why (void **state) {
  DtCtx *cx = fixture_cx(state);
  World w;
  assert_int_equal(world_try(&w, cx, 2), DT_OK);
  const DtOpDef *op = dt_registry_find(cx, w.reg, "aten.mm.default");
  DtSpec *in[2] = { spec(&w, "S(0) S(1)", 8, 8), spec(&w, "R S(0)", 8, 8) };
  DtArgs args;
  DtWhy *why = NULL;
  DtProp *p = NULL;
  bind_two(&w, op, &args);
  const DtOpSchema q = { op, &args, 2, (const DtSpec *const *)in };
  assert_int_equal(dt_prop_run(cx, w.prop, &q, &why, &p), DT_OK);
  assert_int_equal(why->ncand + why->nexcluded, 64);
  assert_int_equal(why->via, DT_VIA_SINGLE_DIM);
  const DtCand *c = &why->cand[why->winner];
  assert_true(dt_pls_equal(c->out, p->out[0]->pl, 2));
  assert_true(c->total >= p->cost && c->total <= p->cost);
  assert_int_equal(c->bytes, 0);
  assert_pls(cx, p->out[0], "S(0)P(sum)");
  dt_why_free(cx, why);
  dt_prop_unref(cx, p);
  for (int i = 0; i < 2; i++) dt_spec_unref(cx, in[i]);
  world_fini(&w);
}

/* ---- failing allocations ---- */

static DtStatus decide_once (World *w) {
  DtSpec *in[2] = { NULL, NULL };
  const DtOpDef *op = dt_registry_find(w->cx, w->reg, "aten.mm.default");
  const DtValue v[2] = { dt_v_slot(0), dt_v_slot(1) };
  DtProp *p = NULL;
  DtWhy *why = NULL;
  DtArgs args;
  const DtOpSchema q = { op, &args, 2, (const DtSpec *const *)in };
  bool hit;
  DtStatus st = op == NULL ? DT_E_NOMEM : DT_OK;
  if (st == DT_OK) st = spec_try(w, "S(0) P(sum)", 8, 8, &in[0]);
  if (st == DT_OK) st = spec_try(w, "R S(1)", 8, 8, &in[1]);
  if (st == DT_OK)
    st = dt_schema_bind(w->cx, op->sig, &(DtGiven){ .npos = 2, .pos = v },
    &args);
  if (st == DT_OK)
    st = dt_prop_cached(w->cx, w->prop, &q, &p, &hit);
  dt_prop_unref(w->cx, p);
  p = NULL;
  if (st == DT_OK)
    st = dt_prop_run(w->cx, w->prop, &q, &why, &p);
  dt_prop_unref(w->cx, p);
  dt_why_free(w->cx, st == DT_OK ? why : NULL);
  for (int i = 0; i < 2; i++) dt_spec_unref(w->cx, in[i]);
  return st;
}

static void test_no_memory (void **state) {
  DtCtx *cx = fixture_cx(state);
  bool done = false;
  for (int64_t k = 0; !done && k < 2000; k++) {
    World w;
    dt_arena_fini(cx, &cx->scratch);
    cx->mem.fail_at = cx->mem.nalloc + k;
    cx->mem.fail_on = true;
    DtStatus st = world_try(&w, cx, 2);
    if (st == DT_OK) st = decide_once(&w);
    cx->mem.fail_on = false;
    done = st == DT_OK;
    if (!done) assert_int_equal(st, DT_E_NOMEM);
    dt_error_clear(cx);
    world_fini(&w);
  }
  assert_true(done);
}

/* ---- the reference ---- */

static void test_reference (void **state) {
  static const char *const files[] = {
    "registry/single_dim_rules.jsonl", "prop/pointwise.jsonl",
    "prop/inplace_out.jsonl", "prop/foreach.jsonl", "prop/math.jsonl",
    "prop/matrix.jsonl", "prop/tensor.jsonl",
    "prop/new_factory.jsonl", "prop/embedding.jsonl", "prop/loss.jsonl",
    "prop/random.jsonl", "prop/attention.jsonl", "prop/conv.jsonl"
  };                      /* view, decomp: tests/parity/suites.lua counts */
  suites_check(fixture_cx(state), files,
               (int)(sizeof files / sizeof files[0]), NULL);
}

int main (void) {
#define T(name) \
  cmocka_unit_test_setup_teardown(test_##name, fixture_setup, fixture_teardown)
  const struct CMUnitTest tests[] = {
    T(cache), T(slots), T(inplace_error), T(missing), T(why), T(no_memory),
    T(reference)
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
