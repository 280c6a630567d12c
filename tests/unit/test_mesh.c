/* SPDX-License-Identifier: MIT
** TEST: tags=one_thread
** tests/unit/test_mesh.c: device meshes by hand and against the
** reference (parity/mesh.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include "fixture.h"
#include "mesh/layout.h"
#include "suites.h"

/* {==== By hand ==== */

static DtMesh *make (DtCtx *cx, int ndim, const int64_t *shape,
                     const char *const *names, int rank, int world) {
  DtMesh *m = NULL;
  assert_int_equal(dt_mesh_init(cx, "cpu", ndim, shape, names, rank, world,
                                &m), DT_OK);
  return m;
}

static void check_repr (DtCtx *cx, const DtMesh *m, const char *want) {
  DtBuf b;
  dt_buf_init(&b, cx);
  dt_mesh_repr(m, &b);
  assert_string_equal(dt_buf_str(&b), want);
  dt_buf_fini(&b);
}

static void test_basic (void **state) {
  static const char *const names[] = { "dp", "tp" };
  DtCtx *cx = fixture_cx(state);
  int64_t shape[2] = { 2, 4 };
  int ranks[4];
  DtMesh *m = make(cx, 2, shape, names, 5, 8), *tp = NULL, *again = NULL;
  check_repr(cx, m, "DeviceMesh((dp=2, tp=4), 'cpu', stride=(4, 1))");
  assert_int_equal(dt_mesh_slice(cx, m, 1, names + 1, NULL, NULL, &tp),
                   DT_OK);
  assert_int_equal(dt_mesh_slice(cx, m, 1, names + 1, NULL, NULL, &again),
                   DT_OK);
  assert_ptr_not_equal(tp, again);
  assert_true(dt_mesh_equal(tp, again));
  assert_true(tp->hash == again->hash);
  assert_false(dt_mesh_equal(tp, m));
  dt_mesh_group(m, 0, 5, ranks);
  assert_int_equal(ranks[0], 1);
  assert_int_equal(ranks[1], 5);
  assert_int_equal(tp->coord[0], 1);
  dt_mesh_unref(cx, again);
  /* a slice keeps its root alive */
  dt_mesh_unref(cx, m);
  assert_int_equal(dt_mesh_root(tp)->shape[0], 2);
  dt_mesh_unref(cx, tp);
}

/* A mesh and what is made of it print as the release they were made for. */
static void test_style (void **state) {
  static const char *const names[] = { "dp", "tp" };
  const DtMeshRules old = { .style = DT_MESH_COLONS };
  DtCtx *cx = fixture_cx(state);
  const int64_t shape[2] = { 2, 4 };
  DtMesh *m = NULL, *tp = NULL;
  assert_int_equal(dt_mesh_init_as(cx, "cpu", 2, shape, 2, names, &old, 0, 8,
                                   &m), DT_OK);
  check_repr(cx, m, "DeviceMesh((dp=2, tp=4), device: 'cpu', "
             "stride: (4, 1))");
  assert_int_equal(dt_mesh_slice(cx, m, 1, names + 1, NULL, NULL, &tp),
                   DT_OK);
  check_repr(cx, tp, "DeviceMesh((tp=4), device: 'cpu', stride: (1,))");
  dt_mesh_print_as(tp, NULL);
  check_repr(cx, tp, "DeviceMesh((tp=4), 'cpu', stride=(1,))");
  dt_mesh_unref(cx, m);
  dt_mesh_unref(cx, tp);
}

/* A flattened mesh alone keeps the root alive, and the other way round. */
static void test_flat_life (void **state) {
  static const char *const names[] = { "dp", "tp" };
  DtCtx *cx = fixture_cx(state);
  int64_t shape[2] = { 2, 4 };
  int dims[2] = { 0, 1 };
  DtMesh *m = make(cx, 2, shape, names, 0, 8), *f = NULL, *g = NULL;
  assert_null(dt_mesh_find_flat(m, 2, dims));
  assert_int_equal(dt_mesh_flatten(cx, m, NULL, &f), DT_OK);
  assert_int_equal(dt_mesh_flatten(cx, m, "dp_tp", &g), DT_OK);
  assert_ptr_equal(f, g);
  assert_ptr_equal(dt_mesh_find_flat(m, 2, dims), f);
  dt_mesh_unref(cx, g);
  dt_mesh_unref(cx, m);
  assert_int_equal(dt_mesh_size(f), 8);
  assert_int_equal(dt_mesh_root(f)->ndim, 2);
  dt_mesh_unref(cx, f);
}

static void test_ranks (void **state) {
  DtCtx *cx = fixture_cx(state);
  int64_t shape[2] = { 2, 2 }, listed[4] = { 6, 2, 0, 4 }, got[4], coord[2];
  int ranks[2];
  DtMesh *m = NULL;
  assert_int_equal(dt_mesh_new(cx, "cpu", 2, shape, listed, NULL, 4, 8, &m),
                   DT_OK);
  dt_mesh_ranks(m, got);
  assert_memory_equal(got, listed, sizeof got);
  assert_true(dt_mesh_coord_of(m, 0, coord));
  assert_int_equal(coord[0], 1);
  assert_int_equal(coord[1], 0);
  assert_false(dt_mesh_coord_of(m, 5, coord));
  dt_mesh_group(m, 0, 4, ranks);
  assert_int_equal(ranks[0], 2);
  assert_int_equal(ranks[1], 4);
  dt_mesh_unref(cx, m);
}

/* }==== Parity ==== */

static void test_parity (void **state) {
  static const char *const files[] = {
    "mesh/programs.jsonl",
    "mesh/init.jsonl",
    "seeds/submesh_by_release.jsonl",
    "seeds/seed3.jsonl"
  };
  suites_check(fixture_cx(state), files, 4, NULL);
}

/* }==== */

#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, \
                                             fixture_teardown)

int main (void) {
  static const struct CMUnitTest tests[] = {
    T(test_basic),
    T(test_style),
    T(test_flat_life),
    T(test_ranks),
    T(test_parity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
