/* SPDX-License-Identifier: MIT
** parity/layout.c: local shapes, offsets and shard orders against
** layout/shards.jsonl and layout/shard_order.jsonl, and the shapes that
** distribute_tensor leaves (redist/values.jsonl). */
#include "parity/parity_int.h"

/* {==== Parity: shards.jsonl ==== */

/* [[start,len],...] against a list of indices. */
static bool same_runs (DtParity *p, const json_t *want, const int64_t *idx,
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
  return dt_same_flag(p, "count of indices", true, k == n);
}

static bool shards_rank (DtParity *p, const DtSpec *s, const json_t *want) {
  int64_t coord[DT_MAX_MDIM], lshape[DT_MAX_NDIM], off[DT_MAX_NDIM];
  int ndim = 0;
  bool ok = dt_mesh_coord_of(s->mesh, (int)dt_jint(want, "rank", -1), coord);
  if (!ok || !dt_no_error(p, dt_layout_local(p->cx, s, coord, lshape, off,
                                          &ndim)))
    return false;
  if (!dt_same_ints(p, "shape", json_object_get(want, "shape"), lshape,
                    ndim) ||
      !dt_same_ints(p, "offset", json_object_get(want, "offset"), off,
                    ndim))
    return false;
  const json_t *own = json_object_get(want, "own");
  for (size_t i = 0; ok && i < json_array_size(own); i++) {
    const json_t *e = json_array_get(own, i);
    DtArenaMark mark = dt_arena_mark(&p->cx->scratch);
    int64_t *idx = NULL, n = 0;
    int d = (int)json_integer_value(json_array_get(e, 0));
    ok = dt_no_error(p, dt_layout_indices(p->cx, s, coord, d, &idx, &n)) &&
         same_runs(p, json_array_get(e, 1), idx, n);
    dt_arena_release(&p->cx->scratch, mark);
  }
  return ok;
}

bool dt_check_shards (DtParity *p, const json_t *o) {
  DtPlacement pl[DT_MAX_MDIM], strided[DT_MAX_MDIM];
  DtShardOrder order, *given = dt_jorder(json_object_get(o, "order"), &order);
  DtMesh *mesh = dt_jmesh(p, o, 0);
  DtSpec *s = NULL;
  DtMeta meta;
  int n = dt_jpls(p, json_object_get(o, "pl"), pl);
  bool ok = mesh != NULL && n >= 0 && dt_jmeta(p, o, &meta);
  if (ok && given != NULL)
    ok = dt_no_error(p, dt_order_to_strided(p->cx, mesh, n, pl, given,
                                         strided)) &&
         dt_same_pls(p, "strided", json_object_get(o, "pl_as_strided"),
                     strided, n);
  ok = ok && dt_no_error(p, dt_spec_new(p->cx, mesh, n, pl, &meta, given, -1,
                                     &s));
  const json_t *local = json_object_get(o, "local");
  for (size_t i = 0; ok && i < json_array_size(local); i++)
    ok = shards_rank(p, s, json_array_get(local, i));
  dt_spec_unref(p->cx, s);
  dt_mesh_unref(p->cx, mesh);
  return ok;
}

/* }==== Parity: shard_order.jsonl ==== */

static bool spec_facts (DtParity *p, const json_t *o, const DtSpec *s) {
  DtShardOrder order;
  DtBuf b;
  dt_spec_order(s, &order);
  dt_buf_init(&b, p->cx);
  dt_spec_str(s, &b);
  bool ok = dt_same_order(p, "spec_order", json_object_get(o, "spec_order"),
                       &order) &&
            dt_same_text(p, "spec_str", dt_jstr(o, "spec_str"),
                         dt_buf_str(&b));
  const json_t *flag = json_object_get(o,
                                       "use_strided_shard_as_shard_order");
  ok = ok && (flag == NULL || dt_same_flag(p, "flag", json_is_true(flag),
                                        s->strided_is_order));
  if (ok && json_object_get(o, "is_default") != NULL)
    ok = dt_same_flag(p, "is_default",
                   json_is_true(json_object_get(o, "is_default")),
                   s->default_order);
  if (ok && json_object_get(o, "num_shards") != NULL)
    ok = dt_same_flag(p, "num_shards", true, dt_jint(o, "num_shards", -1) ==
                   dt_spec_num_shards(s));
  dt_buf_fini(&b);
  return ok;
}

static bool order_spec (DtParity *p, const json_t *o, DtMesh *mesh,
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
    return dt_same_error(p, error, st);
  }
  bool ok = dt_no_error(p, st) && spec_facts(p, o, s);
  dt_spec_unref(p->cx, s);
  return ok;
}

static bool order_encode (DtParity *p, const json_t *o, DtMesh *mesh,
                          const DtPlacement *pl, int n) {
  DtPlacement strided[DT_MAX_MDIM], back[DT_MAX_MDIM];
  DtShardOrder order, got, *given;
  given = dt_jorder(json_object_get(o, "order"), &order);
  if (!dt_no_error(p, dt_order_to_strided(p->cx, mesh, n, pl, given,
                                          strided)) ||
      !dt_same_pls(p, "strided", json_object_get(o, "strided"), strided, n))
    return false;
  got.known = false;
  got.n = 0;
  (void)dt_strided_to_order(mesh, n, strided, back, &got);
  DtBuf b;
  dt_buf_init(&b, p->cx);
  dt_order_print(pl, n, given, &b);
  bool ok = dt_same_order(p, "back", json_object_get(o, "back"), &got) &&
            dt_same_text(p, "str", dt_jstr(o, "str"), dt_buf_str(&b));
  dt_buf_fini(&b);
  return ok && order_spec(p, o, mesh, pl, n, given);
}

static bool order_decode (DtParity *p, const json_t *o, DtMesh *mesh,
                          const DtPlacement *pl, int n) {
  const json_t *norm = json_object_get(o, "normalized");
  DtPlacement plain[DT_MAX_MDIM];
  DtShardOrder got = { .known = false }, def;
  DtStatus st = dt_strided_normalize(p->cx, mesh, n, pl, plain, &got);
  if (norm != NULL
      ? !dt_no_error(p, st) ||
        !dt_same_pls(p, "normalized", json_object_get(norm, "pl"), plain, n) ||
        !dt_same_order(p, "normalized order", json_object_get(norm, "order"),
                    &got)
      : !dt_same_error(p, json_object_get(o, "normalize_error"), st))
    return false;
  dt_error_clear(p->cx);
  dt_order_default(pl, n, &def);
  return dt_same_order(p, "order", json_object_get(o, "order"), &got) &&
         dt_same_order(p, "default_order", json_object_get(o, "default_order"),
                    &def) &&
         order_spec(p, o, mesh, pl, n, NULL);
}

static bool order_print (DtParity *p, const json_t *o, const DtPlacement *pl) {
  DtBuf b;
  dt_buf_init(&b, p->cx);
  dt_pl_print(pl[0], &b);
  bool ok = dt_same_text(p, "str", dt_jstr(o, "str"), dt_buf_str(&b));
  dt_buf_clear(&b);
  dt_pl_repr(pl[0], &b);
  ok = ok && dt_same_text(p, "repr", dt_jstr(o, "repr"), dt_buf_str(&b)) &&
       dt_same_flag(p, "is_shard", dt_jtrue(o, "is_shard"),
                    dt_pl_is_shard(pl[0])) &&
       dt_same_flag(p, "is_replicate",
                 json_is_true(json_object_get(o, "is_replicate")),
                 dt_pl_is_replicate(pl[0])) &&
       dt_same_flag(p, "is_partial",
                 json_is_true(json_object_get(o, "is_partial")),
                 dt_pl_is_partial(pl[0]));
  dt_buf_fini(&b);
  return ok;
}

bool dt_check_order (DtParity *p, const json_t *o) {
  const char *what = dt_jstr(o, "what");
  DtPlacement pl[DT_MAX_MDIM];
  DtShardOrder order;
  int n = dt_jpls(p, json_object_get(o, "pl"), pl);
  if (n < 0)
    return dt_no_error(p, DT_E_PARSE);
  if (strcmp(what, "print") == 0)
    return order_print(p, o, pl);
  if (strcmp(what, "equal") == 0)
    return dt_same_flag(p, "eq", json_is_true(json_object_get(o, "eq")),
                     dt_pl_equal(pl[0], pl[1])) &&
           dt_same_flag(p, "eq_reversed",
                     json_is_true(json_object_get(o, "eq_reversed")),
                     dt_pl_equal(pl[1], pl[0]));
  DtMesh *mesh = dt_jmesh(p, o, 0);
  if (mesh == NULL)
    return false;
  bool ok = strcmp(what, "order_to_strided") == 0
              ? order_encode(p, o, mesh, pl, n)
            : strcmp(what, "strided_to_order") == 0
              ? order_decode(p, o, mesh, pl, n)
              : order_spec(p, o, mesh, pl, n,
                           dt_jorder(json_object_get(o, "order"), &order));
  dt_mesh_unref(p->cx, mesh);
  return ok;
}

/* }==== Parity: from_local of redist/values.jsonl ==== */

static bool values_from_local (DtParity *p, const json_t *o) {
  DtPlacement pl[DT_MAX_MDIM];
  DtMeta local, global;
  int64_t shape[DT_MAX_NDIM];
  const json_t *first = json_array_get(json_object_get(o, "local_shapes"), 0);
  const json_t *error = json_object_get(o, "error");
  int n = dt_jpls(p, json_object_get(o, "src"), pl);
  if (json_object_get(o, "gshape") != NULL ||
      (error != NULL && strstr(dt_jstr(error, "text"), "Sharding") == NULL)) {
    p->skipped = true;
    return true;
  }
  DtMesh *mesh = dt_jmesh(p, o, 0);
  bool ok = mesh != NULL && dt_meta_init(p->cx, &local, DT_F32,
                                         dt_jints(first, shape, DT_MAX_NDIM),
                                         shape) == DT_OK;
  DtStatus st = ok ? dt_layout_global(p->cx, mesh, n, pl, &local, &global)
                   : DT_E_INTERNAL;
  if (error != NULL)
    ok = dt_same_error(p, error, st);
  else
    ok = dt_no_error(p, st) &&
         (json_object_get(o, "global_shape") == NULL ||
          dt_same_ints(p, "shape", json_object_get(o, "global_shape"),
                    global.shape, global.ndim)) &&
         dt_same_ints(p, "stride", json_object_get(o, "global_stride"),
                   global.stride, global.ndim);
  dt_mesh_unref(p->cx, mesh);
  return ok;
}

/* Local shapes that distribute_tensor leaves. */
bool dt_check_values_layout (DtParity *p, const json_t *o) {
  const char *kind = dt_jstr(o, "kind");
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
  int n = dt_jpls(p, json_object_get(o, "pl_src"), pl);
  if (n == 0)
    n = dt_jpls(p, json_object_get(o, "src"), pl);
  DtMesh *mesh = dt_jmesh(p, o, 0);
  bool ok = mesh != NULL && dt_jmeta(p, o, &meta) &&
            dt_no_error(p, dt_spec_new(p->cx, mesh, n, pl, &meta, NULL, -1,
                                       &s));
  for (size_t r = 0; ok && r < json_array_size(local); r++) {
    int64_t coord[DT_MAX_MDIM], lshape[DT_MAX_NDIM];
    int ndim = 0;
    ok = dt_mesh_coord_of(mesh, (int)r, coord) &&
         dt_no_error(p, dt_layout_local(p->cx, s, coord, lshape, NULL,
                                        &ndim)) &&
         dt_same_ints(p, "local shape",
                   json_object_get(json_array_get(local, r), "shape"), lshape,
                   ndim);
  }
  dt_spec_unref(p->cx, s);
  dt_mesh_unref(p->cx, mesh);
  return ok;
}

/* }==== */
