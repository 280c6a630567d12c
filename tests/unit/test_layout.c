/* SPDX-License-Identifier: MIT
** tests/unit/test_layout.c: placements, specs, shard orders, layouts; first
** by hand, then against layout/shards.jsonl and layout/shard_order.jsonl. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "fixture.h"
#include "parity.h"

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

/* }==== Parity: shards.jsonl ==== */

/* [[start,len],...] against a list of indices. */
static bool same_runs (Parity *p, const json_t *want, const int64_t *idx,
                       int64_t n) {
  int64_t k = 0;
  for (size_t i = 0; i < json_array_size(want); i++) {
    const json_t *run = json_array_get(want, i);
    int64_t start = json_integer_value(json_array_get(run, 0));
    int64_t len = json_integer_value(json_array_get(run, 1));
    for (int64_t j = 0; j < len; j++, k++)
      if (k >= n || idx[k] != start + j) {
        dt_buf_addf(&p->why, "index %lld differs", (long long)k);
        return false;
      }
  }
  return same_flag(p, "count of indices", true, k == n);
}

static bool shards_rank (Parity *p, const DtSpec *s, const json_t *want) {
  int64_t coord[DT_MAX_MDIM], lshape[DT_MAX_NDIM], off[DT_MAX_NDIM];
  int ndim = 0;
  bool ok = dt_mesh_coord_of(s->mesh, (int)jint(want, "rank", -1), coord);
  if (!ok || !no_error(p, dt_layout_local(p->cx, s, coord, lshape, off,
                                          &ndim)))
    return false;
  if (!same_ints(p, "shape", json_object_get(want, "shape"), lshape, ndim) ||
      !same_ints(p, "offset", json_object_get(want, "offset"), off, ndim))
    return false;
  const json_t *own = json_object_get(want, "own");
  for (size_t i = 0; ok && i < json_array_size(own); i++) {
    const json_t *e = json_array_get(own, i);
    DtArenaMark mark = dt_arena_mark(&p->cx->scratch);
    int64_t *idx = NULL, n = 0;
    int d = (int)json_integer_value(json_array_get(e, 0));
    ok = no_error(p, dt_layout_indices(p->cx, s, coord, d, &idx, &n)) &&
         same_runs(p, json_array_get(e, 1), idx, n);
    dt_arena_release(&p->cx->scratch, mark);
  }
  return ok;
}

static bool shards_line (Parity *p, const json_t *o) {
  DtPlacement pl[DT_MAX_MDIM], strided[DT_MAX_MDIM];
  DtShardOrder order, *given = jorder(json_object_get(o, "order"), &order);
  DtMesh *mesh = jmesh(p, o, 0);
  DtSpec *s = NULL;
  DtMeta meta;
  int n = jpls(p, json_object_get(o, "pl"), pl);
  bool ok = mesh != NULL && n >= 0 && jmeta(p, o, &meta);
  if (ok && given != NULL)
    ok = no_error(p, dt_order_to_strided(p->cx, mesh, n, pl, given,
                                         strided)) &&
         same_pls(p, "strided", json_object_get(o, "pl_as_strided"), strided,
                  n);
  ok = ok && no_error(p, dt_spec_new(p->cx, mesh, n, pl, &meta, given, -1,
                                     &s));
  const json_t *local = json_object_get(o, "local");
  for (size_t i = 0; ok && i < json_array_size(local); i++)
    ok = shards_rank(p, s, json_array_get(local, i));
  dt_spec_unref(p->cx, s);
  dt_mesh_unref(p->cx, mesh);
  return ok;
}

/* }==== Parity: shard_order.jsonl ==== */

static bool spec_facts (Parity *p, const json_t *o, const DtSpec *s) {
  DtShardOrder order;
  DtBuf b;
  dt_spec_order(s, &order);
  dt_buf_init(&b, p->cx);
  dt_spec_str(s, &b);
  bool ok = same_order(p, "spec_order", json_object_get(o, "spec_order"),
                       &order) &&
            same_text(p, "spec_str", jstr(o, "spec_str"), dt_buf_str(&b));
  const json_t *flag = json_object_get(o,
                                       "use_strided_shard_as_shard_order");
  ok = ok && (flag == NULL || same_flag(p, "flag", json_is_true(flag),
                                        s->strided_is_order));
  if (ok && json_object_get(o, "is_default") != NULL)
    ok = same_flag(p, "is_default",
                   json_is_true(json_object_get(o, "is_default")),
                   s->default_order);
  if (ok && json_object_get(o, "num_shards") != NULL)
    ok = same_flag(p, "num_shards", true, jint(o, "num_shards", -1) ==
                   dt_spec_num_shards(s));
  dt_buf_fini(&b);
  return ok;
}

static bool order_spec (Parity *p, const json_t *o, DtMesh *mesh,
                        const DtPlacement *pl, int n,
                        const DtShardOrder *given) {
  static const int64_t shape[2] = { 48, 48 };
  const json_t *error = json_object_get(o, "error");
  DtSpec *s = NULL;
  DtMeta meta;
  if (dt_meta_init(p->cx, &meta, DT_F32, 2, shape) != DT_OK)
    return false;
  DtStatus st = dt_spec_new(p->cx, mesh, n, pl, &meta, given, -1, &s);
  if (error != NULL) {
    dt_spec_unref(p->cx, s);
    return same_error(p, error, st);
  }
  bool ok = no_error(p, st) && spec_facts(p, o, s);
  dt_spec_unref(p->cx, s);
  return ok;
}

static bool order_encode (Parity *p, const json_t *o, DtMesh *mesh,
                          const DtPlacement *pl, int n) {
  DtPlacement strided[DT_MAX_MDIM], back[DT_MAX_MDIM];
  DtShardOrder order, got, *given;
  given = jorder(json_object_get(o, "order"), &order);
  if (!no_error(p, dt_order_to_strided(p->cx, mesh, n, pl, given, strided)) ||
      !same_pls(p, "strided", json_object_get(o, "strided"), strided, n))
    return false;
  got.known = false;
  got.n = 0;
  (void)dt_strided_to_order(mesh, n, strided, back, &got);
  DtBuf b;
  dt_buf_init(&b, p->cx);
  dt_order_print(pl, n, given, &b);
  bool ok = same_order(p, "back", json_object_get(o, "back"), &got) &&
            same_text(p, "str", jstr(o, "str"), dt_buf_str(&b));
  dt_buf_fini(&b);
  return ok && order_spec(p, o, mesh, pl, n, given);
}

static bool order_decode (Parity *p, const json_t *o, DtMesh *mesh,
                          const DtPlacement *pl, int n) {
  const json_t *norm = json_object_get(o, "normalized");
  DtPlacement plain[DT_MAX_MDIM];
  DtShardOrder got = { .known = false }, def;
  DtStatus st = dt_strided_normalize(p->cx, mesh, n, pl, plain, &got);
  if (norm != NULL
      ? !no_error(p, st) ||
        !same_pls(p, "normalized", json_object_get(norm, "pl"), plain, n) ||
        !same_order(p, "normalized order", json_object_get(norm, "order"),
                    &got)
      : !same_error(p, json_object_get(o, "normalize_error"), st))
    return false;
  dt_error_clear(p->cx);
  dt_order_default(pl, n, &def);
  return same_order(p, "order", json_object_get(o, "order"), &got) &&
         same_order(p, "default_order", json_object_get(o, "default_order"),
                    &def) &&
         order_spec(p, o, mesh, pl, n, NULL);
}

static bool order_print (Parity *p, const json_t *o, const DtPlacement *pl) {
  DtBuf b;
  dt_buf_init(&b, p->cx);
  dt_pl_print(pl[0], &b);
  bool ok = same_text(p, "str", jstr(o, "str"), dt_buf_str(&b));
  dt_buf_clear(&b);
  dt_pl_repr(pl[0], &b);
  ok = ok && same_text(p, "repr", jstr(o, "repr"), dt_buf_str(&b)) &&
       same_flag(p, "is_shard", json_is_true(json_object_get(o, "is_shard")),
                 dt_pl_is_shard(pl[0])) &&
       same_flag(p, "is_replicate",
                 json_is_true(json_object_get(o, "is_replicate")),
                 dt_pl_is_replicate(pl[0])) &&
       same_flag(p, "is_partial",
                 json_is_true(json_object_get(o, "is_partial")),
                 dt_pl_is_partial(pl[0]));
  dt_buf_fini(&b);
  return ok;
}

static bool order_line (Parity *p, const json_t *o) {
  const char *what = jstr(o, "what");
  DtPlacement pl[DT_MAX_MDIM];
  DtShardOrder order;
  int n = jpls(p, json_object_get(o, "pl"), pl);
  if (n < 0)
    return no_error(p, DT_E_PARSE);
  if (strcmp(what, "print") == 0)
    return order_print(p, o, pl);
  if (strcmp(what, "equal") == 0)
    return same_flag(p, "eq", json_is_true(json_object_get(o, "eq")),
                     dt_pl_equal(pl[0], pl[1])) &&
           same_flag(p, "eq_reversed",
                     json_is_true(json_object_get(o, "eq_reversed")),
                     dt_pl_equal(pl[1], pl[0]));
  DtMesh *mesh = jmesh(p, o, 0);
  if (mesh == NULL)
    return false;
  bool ok = strcmp(what, "order_to_strided") == 0
              ? order_encode(p, o, mesh, pl, n)
            : strcmp(what, "strided_to_order") == 0
              ? order_decode(p, o, mesh, pl, n)
              : order_spec(p, o, mesh, pl, n,
                           jorder(json_object_get(o, "order"), &order));
  dt_mesh_unref(p->cx, mesh);
  return ok;
}

/* }==== Parity: from_local of redist/values.jsonl ==== */

static bool values_from_local (Parity *p, const json_t *o) {
  DtPlacement pl[DT_MAX_MDIM];
  DtMeta local, global;
  int64_t shape[DT_MAX_NDIM];
  const json_t *first = json_array_get(json_object_get(o, "local_shapes"), 0);
  const json_t *error = json_object_get(o, "error");
  int n = jpls(p, json_object_get(o, "src"), pl);
  if (json_object_get(o, "gshape") != NULL ||
      (error != NULL && strstr(jstr(error, "text"), "Sharding") == NULL)) {
    p->skipped = true;
    return true;
  }
  DtMesh *mesh = jmesh(p, o, 0);
  bool ok = mesh != NULL && dt_meta_init(p->cx, &local, DT_F32,
                                         jints(first, shape, DT_MAX_NDIM),
                                         shape) == DT_OK;
  DtStatus st = ok ? dt_layout_global(p->cx, mesh, n, pl, &local, &global)
                   : DT_E_INTERNAL;
  if (error != NULL)
    ok = same_error(p, error, st);
  else
    ok = no_error(p, st) &&
         (json_object_get(o, "global_shape") == NULL ||
          same_ints(p, "shape", json_object_get(o, "global_shape"),
                    global.shape, global.ndim)) &&
         same_ints(p, "stride", json_object_get(o, "global_stride"),
                   global.stride, global.ndim);
  dt_mesh_unref(p->cx, mesh);
  return ok;
}

/* Local shapes that distribute_tensor leaves. */
static bool values_line (Parity *p, const json_t *o) {
  const char *kind = jstr(o, "kind");
  const json_t *local = json_object_get(o, "local_src");
  DtPlacement pl[DT_MAX_MDIM];
  DtSpec *s = NULL;
  DtMeta meta;
  if (strcmp(kind, "from_local") == 0)
    return values_from_local(p, o);
  if (local == NULL || (strcmp(kind, "distribute") != 0 &&
                        strcmp(kind, "partial") != 0)) {
    p->skipped = true;
    return true;
  }
  /* negative dims are the user API's to normalise */
  int n = jpls(p, json_object_get(o, "pl_src"), pl);
  if (n == 0)
    n = jpls(p, json_object_get(o, "src"), pl);
  DtMesh *mesh = jmesh(p, o, 0);
  bool ok = mesh != NULL && jmeta(p, o, &meta) &&
            no_error(p, dt_spec_new(p->cx, mesh, n, pl, &meta, NULL, -1, &s));
  for (size_t r = 0; ok && r < json_array_size(local); r++) {
    int64_t coord[DT_MAX_MDIM], lshape[DT_MAX_NDIM];
    int ndim = 0;
    ok = dt_mesh_coord_of(mesh, (int)r, coord) &&
         no_error(p, dt_layout_local(p->cx, s, coord, lshape, NULL, &ndim)) &&
         same_ints(p, "local shape",
                   json_object_get(json_array_get(local, r), "shape"), lshape,
                   ndim);
  }
  dt_spec_unref(p->cx, s);
  dt_mesh_unref(p->cx, mesh);
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

static void test_parity_shards (void **state) {
  run(state, "layout/shards.jsonl", shards_line);
}

static void test_parity_order (void **state) {
  run(state, "layout/shard_order.jsonl", order_line);
}

static void test_parity_values (void **state) {
  run(state, "redist/values.jsonl", values_line);
}

/* }==== */

#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, \
                                             fixture_teardown)

int main (void) {
  static const struct CMUnitTest tests[] = {
    T(test_parse),
    T(test_parse_errors),
    T(test_partials),
    T(test_mask),
    T(test_shards),
    T(test_global),
    T(test_shardable),
    T(test_large),
    T(test_parity_shards),
    T(test_parity_order),
    T(test_parity_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
