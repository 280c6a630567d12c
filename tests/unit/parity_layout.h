/* SPDX-License-Identifier: MIT
** tests/unit/parity_layout.h: local shapes, offsets and shard orders against
** layout/shards.jsonl, layout/shard_order.jsonl and redist/values.jsonl.
** Header only and free of the test library, so that a command of the program
** can run the same checkers. */
#ifndef DT_TESTS_PARITY_LAYOUT_H
#define DT_TESTS_PARITY_LAYOUT_H

#include "parity.h"

/* {==== Parity: shards.jsonl ==== */

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

/* }==== */

static const ParitySuite parity_layout_suites[] = {
  { "layout/shards.jsonl", shards_line },
  { "layout/shard_order.jsonl", order_line },
  { "redist/values.jsonl", values_line },
};

#endif
