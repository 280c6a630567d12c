/* SPDX-License-Identifier: MIT
** TEST: tags=one_thread
** tests/unit/test_layout.c: placements, specs, shard orders, layouts; first
** by hand, then against layout/shards.jsonl and layout/shard_order.jsonl. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include "fixture.h"
#include "mesh/layout.h"
#include "suites.h"

/* {==== Placements ==== */

static void check_parse (DtCtx *cx, const char *in, const char *out) {
  DtPlacement pl[DT_MAX_MDIM];
  DtBuf b;
  int n = 0;
  assert_int_equal(dt_pls_parse(cx, in, pl, DT_MAX_MDIM, &n), DT_OK);
  dt_buf_init(&b, cx);
  dt_pls_print(pl, n, &b);
  assert_string_equal(dt_buf_str(&b), out);
  dt_buf_fini(&b);
}

static void test_parse (void **state) {
  DtCtx *cx = fixture_cx(state);
  check_parse(cx, "S(0) R", "S(0)R");
  check_parse(cx, "S(0)R", "S(0)R");
  check_parse(cx, "S0,R", "S(0)R");
  check_parse(cx, "[S(0), R]", "S(0)R");
  check_parse(cx, "(Shard(dim=-1), Replicate())", "S(-1)R");
  check_parse(cx, "Shard(2) _S(0, 2) _StridedShard(dim=1, sf=3)",
              "S(2)_S(0, 2)_S(1, 3)");
  check_parse(cx, "P P(avg) Partial() Partial(\"max\") Partial(min)",
              "P(sum)P(avg)P(sum)P(max)P(min)");
  check_parse(cx, "MaskP(sum) _NormP(2) _NormPartial(2.5)",
              "MaskP(sum)_NormP(2)_NormP(2.5)");
  check_parse(cx, "", "");
  check_parse(cx, "[]", "");
}

static void check_parse_error (DtCtx *cx, const char *in, const char *part) {
  DtPlacement pl[2];
  int n = 0;
  assert_int_equal(dt_pls_parse(cx, in, pl, 2, &n), DT_E_PARSE);
  assert_non_null(strstr(dt_buf_str(&cx->err.message), part));
  dt_error_clear(cx);
}

static void test_parse_errors (void **state) {
  DtCtx *cx = fixture_cx(state);
  check_parse_error(cx, "S(x)", "column 3");
  check_parse_error(cx, "Q", "column 1");
  check_parse_error(cx, "S(0) P(foo)", "column 8");
  check_parse_error(cx, "[S(0)", "column 6");
  check_parse_error(cx, "R R R", "column 5");
  check_parse_error(cx, "R,", "column 3");
  check_parse_error(cx, "S(99999)", "column 3");
  check_parse_error(cx, "S(0", "column 4");
  check_parse_error(cx, "Replicate", "column 10");
  check_parse_error(cx, "_NormP(x)", "column 8");
  check_parse_error(cx, "[R] R", "column 5");
}

static void test_partials (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtPlacement pl[3] = { dt_pl_partial(DT_OP_SUM), dt_pl_partial(DT_OP_AVG),
                        dt_pl_norm(2, true) };
  assert_int_equal(dt_pls_check_partials(cx, pl, 3), DT_OK);
  pl[2] = dt_pl_partial(DT_OP_MAX);
  assert_int_equal(dt_pls_check_partials(cx, pl, 3), DT_E_VALUE);
  assert_non_null(strstr(dt_buf_str(&cx->err.message), "Mixed Partial"));
  dt_error_clear(cx);
}

static void test_norms (void **state) {
  const double norm[] = { 1, 2, INFINITY, NAN };
  (void)state;
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 4; k++)
      assert_int_equal(dt_pl_equal(dt_pl_norm(norm[i], false),
                                   dt_pl_norm(norm[k], false)), i == k);
}

static void test_mask (void **state) {
  DtCtx *cx = fixture_cx(state);
  int64_t shape[2] = { 4, 3 };
  DtMaskBuf *m = dt_mask_new(cx, 2, shape, 0), *w = dt_mask_new(cx, 0, NULL, 0);
  DtPlacement p = dt_pl_mask(DT_OP_SUM, m), q = dt_pl_mask(DT_OP_SUM, w);
  DtBuf b;
  assert_true(dt_pl_equal(p, p));
  assert_false(dt_pl_equal(p, q));
  assert_false(dt_pl_equal(p, dt_pl_partial(DT_OP_SUM)));
  dt_buf_init(&b, cx);
  dt_pl_print(p, &b);
  dt_pl_repr(p, &b);
  assert_string_equal(dt_buf_str(&b),
      "MaskP(sum, torch.Size([4, 3]), 0)_MaskPartial(reduce_op=sum, "
      "offset_shape=torch.Size([4, 3]), offset_dim=0)");
  dt_buf_fini(&b);
  dt_mask_unref(cx, m);
  dt_mask_unref(cx, w);
}

/* }==== Layout by hand ==== */

static void test_shards (void **state) {
  int64_t len, off, idx[9];
  static const int64_t lens[4] = { 2, 2, 1, 0 }, offs[4] = { 0, 2, 4, 5 };
  (void)state;
  for (int r = 0; r < 4; r++) {
    dt_shard_size(5, 4, r, &len, &off);
    assert_int_equal(len, lens[r]);
    assert_int_equal(off, offs[r]);
  }
  /* size 9, factor 2 over 4: [0,1,5] [2,3,6] [4,7] [8] */
  assert_int_equal(dt_strided_indices(9, 2, 4, 0, idx), 3);
  assert_int_equal(idx[2], 5);
  assert_int_equal(dt_strided_indices(9, 2, 4, 3, idx), 1);
  assert_int_equal(idx[0], 8);
  dt_strided_size(0, 2, 4, 1, &len, &off);
  assert_int_equal(len, 0);
  assert_int_equal(off, -1);
}

static void test_global (void **state) {
  DtCtx *cx = fixture_cx(state);
  int64_t mshape[2] = { 2, 2 }, lshape[2] = { 2, 3 };
  DtPlacement pl[2] = { dt_pl_shard(0), dt_pl_shard(0) };
  DtMesh *mesh = NULL;
  DtMeta local, global;
  assert_int_equal(dt_mesh_init(cx, "cpu", 2, mshape, NULL, 0, 4, &mesh),
                   DT_OK);
  assert_int_equal(dt_meta_init(cx, &local, DT_F32, 2, lshape), DT_OK);
  assert_int_equal(dt_layout_global(cx, mesh, 2, pl, &local, &global), DT_OK);
  assert_int_equal(global.shape[0], 8);
  assert_int_equal(global.stride[0], 3);
  pl[1] = dt_pl_shard(1);
  assert_int_equal(dt_layout_global(cx, mesh, 2, pl, &local, &global), DT_OK);
  assert_int_equal(global.shape[1], 6);
  assert_int_equal(global.stride[0], 6);
  pl[1] = dt_pl_shard(-1);
  assert_int_equal(dt_layout_global(cx, mesh, 2, pl, &local, &global),
                   DT_E_RUNTIME);
  dt_error_clear(cx);
  pl[1] = dt_pl_shard(2);
  assert_int_equal(dt_layout_global(cx, mesh, 2, pl, &local, &global),
                   DT_E_RUNTIME);
  assert_string_equal(dt_buf_str(&cx->err.message), "Sharding dim 2 greater "
                      "than tensor ndim 2 for placement number 1");
  dt_error_clear(cx);
  dt_mesh_unref(cx, mesh);
}

static void test_shardable (void **state) {
  DtCtx *cx = fixture_cx(state);
  int64_t mshape[1] = { 4 }, shape[2] = { 5, 8 };
  DtPlacement s0 = dt_pl_shard(0), s1 = dt_pl_shard(1);
  DtPlacement x2 = dt_pl_strided(0, 2), s7 = dt_pl_shard(7);
  DtMesh *mesh = NULL;
  DtMeta m;
  assert_int_equal(dt_mesh_init(cx, "cpu", 1, mshape, NULL, 0, 4, &mesh),
                   DT_OK);
  assert_int_equal(dt_meta_init(cx, &m, DT_F32, 2, shape), DT_OK);
  assert_true(dt_layout_shardable(mesh, &m, &s0, 1));
  assert_false(dt_layout_evenly_shardable(mesh, &m, &s0, 1));
  assert_true(dt_layout_evenly_shardable(mesh, &m, &s1, 1));
  assert_true(dt_layout_evenly_shardable_on(mesh, &m, &s0, 1, 1));
  assert_false(dt_layout_evenly_shardable_on(mesh, &m, &s0, 1, 0));
  assert_false(dt_layout_shardable(mesh, &m, &x2, 1));
  assert_false(dt_layout_shardable(mesh, &m, &s7, 1));
  dt_mesh_unref(cx, mesh);
}

/* A mesh of a million ranks costs no memory that grows with it. */
static void test_large (void **state) {
  DtCtx *cx = fixture_cx(state);
  int64_t mshape[16], shape[2] = { 1 << 22, 7 }, lshape[2], off[2], c[16];
  DtPlacement pl[16];
  DtMesh *mesh = NULL;
  DtSpec *s = NULL;
  DtMeta m;
  int ndim = 0;
  for (int i = 0; i < 16; i++) {
    mshape[i] = i < 4 ? 4 : i < 15 ? 2 : 2;
    pl[i] = i < 10 ? dt_pl_shard(0) : dt_pl_replicate();
  }
  assert_int_equal(dt_mesh_init(cx, "cpu", 16, mshape, NULL, 12345, 1 << 20,
                                &mesh), DT_OK);
  assert_true(cx->mem.bytes_live < 64 * 1024);
  assert_int_equal(dt_meta_init(cx, &m, DT_F32, 2, shape), DT_OK);
  assert_int_equal(dt_spec_new(cx, mesh, 16, pl, &m, NULL, -1, &s), DT_OK);
  assert_true(dt_spec_valid(cx, s));
  assert_int_equal(dt_layout_local(cx, s, NULL, lshape, off, &ndim), DT_OK);
  assert_int_equal(lshape[0], (1 << 22) >> 14);
  assert_true(dt_mesh_coord_of(mesh, 1048575, c));
  assert_int_equal(dt_mesh_rank_at(mesh, c), 1048575);
  dt_spec_unref(cx, s);
  dt_mesh_unref(cx, mesh);
}

/* }==== Parity ==== */

static void test_parity (void **state) {
  static const char *const files[] = {
    "layout/shards.jsonl",
    "layout/shard_order.jsonl"
  };
  suites_check(fixture_cx(state), files, 2, NULL);
}

/* }==== */

#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, \
                                             fixture_teardown)

int main (void) {
  static const struct CMUnitTest tests[] = {
    T(test_parse),
    T(test_parse_errors),
    T(test_partials),
    T(test_norms),
    T(test_mask),
    T(test_shards),
    T(test_global),
    T(test_shardable),
    T(test_large),
    T(test_parity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
