/* SPDX-License-Identifier: MIT
** tests/unit/parity_values.h: redist/values.jsonl: distribute_tensor,
** from_local, redistribute, full_tensor and their gradients on 2 to 8 ranks,
** value by value.
**
** All lines of one world size run in one world of threads; every rank reads
** the same lines and compares its own entries.  After each line the ranks
** meet, so that a failure in one does not shift the others.  Header only. */
#ifndef DT_TESTS_PARITY_VALUES_H
#define DT_TESTS_PARITY_VALUES_H

#include <pthread.h>
#include "engine/autograd.h"
#include "engine/dist.h"
#include "engine/world.h"
#include "oplib/ops.h"
#include "parity.h"

typedef struct ValuesRun {
  json_t **line;
  int nlines, size;
  int pass, fail, skip;
  pthread_mutex_t lock;
} ValuesRun;

/* What one rank has while it checks a line. */
typedef struct ValuesRank {
  DtSession *s;
  DtCtx *cx;
  const json_t *o;
  DtMesh *mesh;
  int rank;
  DtBuf *why;
} ValuesRank;

static inline const json_t *at_rank (const ValuesRank *r, const char *key) {
  return json_array_get(json_object_get(r->o, key), (size_t)r->rank);
}

static inline DtDtype dtype_of (const ValuesRank *r) {
  const char *t = jstr(r->o, "dtype");
  return t ? dt_dtype_find(t) : DT_F32;
}

/* A plain variable of these numbers; data NULL: start, start + 1, ... */
static inline DtStatus make_plain (ValuesRank *r, DtDtype t, int ndim,
                                   const int64_t *shape, const json_t *data,
                                   double start, DtVar **out) {
  DtMeta m;
  DtTensor *x;
  DtStatus st;
  DT_TRY(r->cx, dt_meta_init(r->cx, &m, t, ndim, shape));
  DT_TRY(r->cx, dt_tensor_new(r->cx, &m, false, &x));
  int64_t n = dt_meta_numel(&m);
  void *p = NULL;
  st = n > 0 ? dt_tensor_data(r->cx, x, &p) : DT_OK;
  for (int64_t i = 0; st == DT_OK && i < n; i++) {
    double v = data ? json_number_value(json_array_get(data, (size_t)i))
                    : start + (double)i;
    dt_dtype_store(t, (char *)p + (size_t)i * dt_dtype_size(t),
                   dt_scalar_float(v));
  }
  if (st == DT_OK)
    st = dt_var_new(r->s, x, NULL, out);
  dt_tensor_unref(r->cx, x);
  return st;
}

static inline DtStatus make_from (ValuesRank *r, DtDtype t, const json_t *o,
                                  DtVar **out) {
  int64_t shape[DT_MAX_NDIM];
  int n = jints(json_object_get(o, "shape"), shape, DT_MAX_NDIM);
  return make_plain(r, t, n, shape, json_object_get(o, "data"), 0, out);
}

static inline DtStatus make_arange (ValuesRank *r, double start,
                                    DtVar **out) {
  int64_t shape[DT_MAX_NDIM];
  int n = jints(json_object_get(r->o, "shape"), shape, DT_MAX_NDIM);
  return make_plain(r, dtype_of(r), n, shape, NULL, start, out);
}

static inline bool same_tensor (ValuesRank *r, const char *what,
                                const json_t *want, const DtTensor *got) {
  int64_t shape[DT_MAX_NDIM], index[DT_MAX_NDIM] = { 0 };
  const json_t *data = json_object_get(want, "data");
  int n = jints(json_object_get(want, "shape"), shape, DT_MAX_NDIM);
  if (want == NULL || json_is_null(want))
    return true;
  bool ok = n == got->m.ndim;
  for (int i = 0; ok && i < n; i++)
    ok = shape[i] == got->m.shape[i];
  if (!ok) {
    dt_buf_addf(r->why, "%s: shape want ", what);
    dt_buf_add_i64s(r->why, shape, n);
    dt_buf_add(r->why, ", got ");
    dt_buf_add_i64s(r->why, got->m.shape, got->m.ndim);
    return false;
  }
  for (size_t i = 0; i < json_array_size(data); i++) {
    DtScalar v = dt_tensor_get(got, index);
    double x = v.kind == DT_K_INT || v.kind == DT_K_BOOL ? (double)v.i : v.re;
    double w = json_number_value(json_array_get(data, i));
    double gap = fabs(x - w);
    if (gap > 1e-5 * fabs(w) || isnan(x)) {
      dt_buf_addf(r->why, "%s: element %zu want %.9g, got %.9g", what, i, w,
                  x);
      return false;
    }
    for (int k = n - 1; k >= 0; k--) {
      if (++index[k] < shape[k])
        break;
      index[k] = 0;
    }
  }
  return true;
}

static inline bool same_spec (ValuesRank *r, const char *what,
                              const char *key, const DtVar *v) {
  const json_t *want = json_object_get(r->o, key);
  Parity p = { .cx = r->cx };
  bool ok;
  if (want == NULL || v->spec == NULL)
    return true;
  dt_buf_init(&p.why, r->cx);
  ok = same_pls(&p, what, want, v->spec->pl, v->spec->npl);
  if (!ok)
    dt_buf_add(r->why, dt_buf_str(&p.why));
  dt_buf_fini(&p.why);
  return ok;
}

static inline int read_pls (ValuesRank *r, const char *key,
                            DtPlacement *out) {
  Parity p = { .cx = r->cx };
  const json_t *a = json_object_get(r->o, key);
  if (json_is_null(a)) {        /* not given: replicated */
    for (int i = 0; i < r->mesh->ndim; i++)
      out[i] = dt_pl_replicate();
    return r->mesh->ndim;
  }
  return a ? jpls(&p, a, out) : -1;
}

static inline DtStatus values_redistribute (ValuesRank *r, DtVar *x,
                                            DtVar **out) {
  DtPlacement pl[DT_MAX_MDIM];
  int n = read_pls(r, "dst", pl);
  if (n < 0) {
    *out = dt_var_ref(x);
    return DT_OK;
  }
  return dt_redistribute(r->s, x, r->mesh, n, pl, DT_DTYPE_NONE,
                         DT_DTYPE_NONE, out);
}

/* {==== The kinds ==== */

/* The source: distributed, or made from the local parts. */
static inline DtStatus values_source (ValuesRank *r, DtVar **out) {
  DtPlacement pl[DT_MAX_MDIM];
  const json_t *o = r->o;
  const char *kind = jstr(o, "kind");
  const json_t *root = json_object_get(o, "src_data_rank");
  int n = read_pls(r, "src", pl);
  DtVar *x = NULL;
  DtStatus st;
  if (strcmp(kind, "partial") == 0) {
    int64_t shape[DT_MAX_NDIM];
    DtMeta m;
    int nd = jints(json_object_get(o, "shape"), shape, DT_MAX_NDIM);
    st = dt_meta_init(r->cx, &m, dtype_of(r), nd, shape);
    if (st == DT_OK)
      st = make_from(r, dtype_of(r), at_rank(r, "local_src"), &x);
    if (st == DT_OK)
      st = dt_from_local(r->s, x, r->mesh, n, pl, false, &m, NULL, out);
  } else {
    bool each = strcmp(kind, "src_data_rank") == 0;
    st = make_arange(r, each ? 100.0 * r->rank : 0, &x);
    if (st == DT_OK)
      st = dt_distribute_tensor(r->s, x, r->mesh, n, pl,
                                root == NULL ? 0 : json_is_null(root) ? -1
                                : (int)json_integer_value(root), out);
  }
  dt_var_unref(x);
  return st;
}

static inline bool same_full (ValuesRank *r, const DtTensor *full) {
  const json_t *by = json_object_get(r->o, "full_by_rank");
  return same_tensor(r, "full", by ? json_array_get(by, (size_t)r->rank)
                                   : json_object_get(r->o, "full"), full);
}

static inline DtStatus values_moved (ValuesRank *r, bool *ok) {
  DtVar *x = NULL, *y = NULL, *f = NULL;
  DtStatus st = values_source(r, &x);
  bool partial = strcmp(jstr(r->o, "kind"), "partial") == 0;
  if (st == DT_OK && !partial)
    *ok = same_tensor(r, "local_src", at_rank(r, "local_src"), x->local) &&
          same_spec(r, "pl_src", "pl_src", x);
  if (st == DT_OK)
    st = values_redistribute(r, x, &y);
  if (st == DT_OK && *ok)
    *ok = same_tensor(r, "local_dst", at_rank(r, "local_dst"), y->local);
  if (st == DT_OK && json_object_get(r->o, "local_dst") == NULL &&
      json_object_get(r->o, "full") == NULL &&
      json_object_get(r->o, "full_by_rank") == NULL) {
    dt_var_unref(x);
    dt_var_unref(y);
    return st;
  }
  if (st == DT_OK)
    st = dt_full_tensor(r->s, partial ? x : y, NULL, &f);
  if (st == DT_OK && *ok)
    *ok = same_full(r, f->local);
  dt_var_unref(x);
  dt_var_unref(y);
  dt_var_unref(f);
  return st;
}

static inline DtStatus values_from_local (ValuesRank *r, bool *ok) {
  DtPlacement pl[DT_MAX_MDIM];
  const json_t *o = r->o, *gs = json_object_get(o, "gshape");
  const json_t *types = json_object_get(o, "local_dtypes");
  DtDtype t = types ? dt_dtype_find(json_string_value(at_rank(r,
                                    "local_dtypes"))) : DT_F32;
  DtVar *x = NULL, *y = NULL, *z = NULL, *f = NULL;
  DtMeta m = {0};
  int n = read_pls(r, "src", pl);
  DtStatus st = make_from(r, t, at_rank(r, "local_src"), &x);
  if (st == DT_OK && gs) {
    m.ndim = (uint8_t)jints(gs, m.shape, DT_MAX_NDIM);
    (void)jints(json_object_get(o, "gstride"), m.stride, DT_MAX_NDIM);
  }
  if (st == DT_OK)
    st = dt_from_local(r->s, x, r->mesh, n, pl,
                       json_is_true(json_object_get(o, "run_check")),
                       gs ? &m : NULL, NULL, &y);
  if (st == DT_OK) {
    Parity p = { .cx = r->cx };
    const json_t *want = json_object_get(o, "global_shape");
    dt_buf_init(&p.why, r->cx);
    *ok = (want == NULL ||
           same_ints(&p, "global_shape", want, dt_var_meta(y)->shape,
                     dt_var_meta(y)->ndim)) && same_spec(r, "pl_src",
                                                         "pl_src", y);
    dt_buf_add(r->why, dt_buf_str(&p.why));
    dt_buf_fini(&p.why);
    st = dt_to_local(r->s, y, NULL, 0, &z);
  }
  if (st == DT_OK && *ok)
    *ok = same_tensor(r, "to_local", at_rank(r, "to_local"), z->local);
  if (st == DT_OK && (json_object_get(o, "full") ||
                      json_object_get(o, "full_by_rank"))) {
    st = dt_full_tensor(r->s, y, NULL, &f);
    if (st == DT_OK && *ok)
      *ok = same_full(r, f->local);
  }
  dt_var_unref(x);
  dt_var_unref(y);
  dt_var_unref(z);
  dt_var_unref(f);
  return st;
}

/* The leaf and the distributed tensor made of it. */
static inline DtStatus values_leaf (ValuesRank *r, DtVar **leaf, DtVar **x) {
  DtPlacement pl[DT_MAX_MDIM], fg[DT_MAX_MDIM];
  DtVar *y = NULL;
  int n = read_pls(r, "src", pl), nf = read_pls(r, "from_grad", fg);
  if (strcmp(jstr(r->o, "kind"), "grad_local") == 0) {
    int64_t shape[DT_MAX_NDIM], part[DT_MAX_NDIM];
    DtMeta m;
    DtSpec *spec;
    int nd = jints(json_object_get(r->o, "shape"), shape, DT_MAX_NDIM), lnd;
    DT_TRY(r->cx, dt_meta_init(r->cx, &m, dtype_of(r), nd, shape));
    DT_TRY(r->cx, dt_spec_new(r->cx, r->mesh, n, pl, &m, NULL, -1, &spec));
    DtStatus lst = dt_layout_local(r->cx, spec, NULL, part, NULL, &lnd);
    dt_spec_unref(r->cx, spec);
    DT_TRY(r->cx, lst);
    if (at_rank(r, "local_src"))
      DT_TRY(r->cx, make_from(r, dtype_of(r), at_rank(r, "local_src"), leaf));
    else                        /* lines that fail do not tell their input */
      DT_TRY(r->cx, make_plain(r, dtype_of(r), lnd, part, NULL, 0, leaf));
    (*leaf)->requires_grad = true;
    return dt_from_local(r->s, *leaf, r->mesh, n, pl, false, &m,
                         nf >= 0 ? fg : NULL, x);
  }
  DT_TRY(r->cx, make_arange(r, 0, &y));
  DtStatus st = dt_distribute_tensor(r->s, y, r->mesh, n, pl, 0, leaf);
  dt_var_unref(y);
  if (st != DT_OK)
    return st;
  (*leaf)->requires_grad = true;
  *x = dt_var_ref(*leaf);
  return DT_OK;
}

static inline DtStatus values_grad (ValuesRank *r, bool *ok) {
  DtPlacement gp[DT_MAX_MDIM];
  DtVar *leaf = NULL, *x = NULL, *y = NULL, *z = NULL, *w = NULL;
  int n = read_pls(r, "grad_placements", gp);
  DtStatus st = values_leaf(r, &leaf, &x);
  if (st == DT_OK)
    st = values_redistribute(r, x, &y);
  if (st == DT_OK && json_is_true(json_object_get(r->o, "full")))
    st = dt_full_tensor(r->s, y, n >= 0 ? gp : NULL, &z);
  else if (st == DT_OK)
    st = dt_to_local(r->s, y, n >= 0 ? gp : NULL, n, &z);
  if (st == DT_OK)
    *ok = same_tensor(r, "out", at_rank(r, "out"), z->local);
  if (st == DT_OK && at_rank(r, "w"))
    st = make_from(r, dtype_of(r), at_rank(r, "w"), &w);
  else if (st == DT_OK)
    st = make_plain(r, dtype_of(r), z->local->m.ndim, z->local->m.shape, NULL,
                    1, &w);
  if (st == DT_OK)
    st = dt_backward(r->s, 1, &z, &w, false);
  if (st == DT_OK && *ok)
    *ok = leaf->grad != NULL &&
          same_tensor(r, "grad", at_rank(r, "grad"), leaf->grad->local) &&
          same_spec(r, "grad_pl", "grad_pl", leaf->grad);
  dt_var_unref(leaf);
  dt_var_unref(x);
  dt_var_unref(y);
  dt_var_unref(z);
  dt_var_unref(w);
  return st;
}

/* }==== */

static inline bool values_error (ValuesRank *r, DtStatus st) {
  const json_t *want = json_object_get(r->o, "error");
  Parity p = { .cx = r->cx };
  bool ok;
  if (json_object_get(r->o, "error_by_rank"))
    want = json_is_null(at_rank(r, "error_by_rank"))
             ? NULL : at_rank(r, "error_by_rank");
  if (want == NULL && st == DT_OK)
    return true;
  dt_buf_init(&p.why, r->cx);
  if (want == NULL)
    ok = no_error(&p, st);
  else
    ok = same_error(&p, want, st);
  if (!ok)
    dt_buf_add(r->why, dt_buf_str(&p.why));
  dt_buf_fini(&p.why);
  return ok;
}

static inline bool values_line (ValuesRank *r) {
  const char *kind = jstr(r->o, "kind");
  const char *names[DT_MAX_MDIM];
  const json_t *m = json_object_get(r->o, "mesh");
  int64_t shape[DT_MAX_MDIM], world = 1;
  bool ok = true;
  DtStatus st;
  int n = jints(json_object_get(m, "shape"), shape, DT_MAX_MDIM);
  int k = jstrs(json_object_get(m, "names"), names, DT_MAX_MDIM);
  for (int i = 0; i < n; i++)
    world *= shape[i];
  st = dt_mesh_init(r->cx, "cpu", n, shape, k == n ? names : NULL, r->rank,
                    (int)world, &r->mesh);
  if (st == DT_OK && strncmp(kind, "grad", 4) == 0)
    st = values_grad(r, &ok);
  else if (st == DT_OK && strcmp(kind, "from_local") == 0)
    st = values_from_local(r, &ok);
  else if (st == DT_OK)
    st = values_moved(r, &ok);
  ok = values_error(r, st) && ok;
  if (r->mesh != NULL)
    dt_mesh_unref(r->cx, r->mesh);
  r->mesh = NULL;
  return ok;
}

/* Lines this binding level cannot say: a shape without a stride is refused
** above; and lines where only some ranks fail (they would wait). */
static inline bool values_skip (const json_t *o) {
  return json_object_get(o, "error_by_rank") != NULL ||
         (json_object_get(o, "gshape") && !json_object_get(o, "gstride"));
}

static inline int values_rank (DtCtx *cx, DtComm *comm, void *ud) {
  ValuesRun *run = ud;
  DtSessionOpts o = { .ops = dt_ops, .variants = dt_variants };
  DtSession *s;
  DtBuf why;
  if (dt_session_new(cx, comm, &o, &s) != DT_OK) {
    (void)fprintf(stderr, "session: %s\n", dt_buf_str(&cx->err.message));
    return 1;
  }
  dt_buf_init(&why, cx);
  for (int i = 0; i < run->nlines; i++) {
    ValuesRank r = { s, cx, run->line[i], NULL, comm->rank, &why };
    if (values_skip(r.o)) {
      if (comm->rank == 0)
        run->skip++;
      continue;
    }
    dt_buf_clear(&why);
    dt_error_clear(cx);
    bool ok = values_line(&r);
    dt_error_clear(cx);
    (void)pthread_mutex_lock(&run->lock);
    if (!ok && run->fail++ < PARITY_SHOW)
      (void)fprintf(stderr, "%s rank %d: %s\n", jstr(r.o, "id"), comm->rank,
                    dt_buf_str(&why));
    if (ok && comm->rank == 0)
      run->pass++;
    (void)pthread_mutex_unlock(&run->lock);
    DtStatus all[64];
    DtCollInfo info = { "line", (uint64_t)i, "", "" };
    if (dt_comm_meet(cx, comm, DT_OK, &info, all) != DT_OK)
      (void)fprintf(stderr, "meet: %s\n", dt_buf_str(&cx->err.message));
    dt_error_clear(cx);
  }
  dt_buf_fini(&why);
  dt_session_free(s);
  return 0;
}

static inline int values_size (const json_t *o) {
  int64_t shape[DT_MAX_MDIM], world = 1;
  int n = jints(json_object_get(json_object_get(o, "mesh"), "shape"), shape,
                DT_MAX_MDIM);
  for (int i = 0; i < n; i++)
    world *= shape[i];
  return (int)world;
}

/* All lines; the number of failures, -1 when the file cannot be read. */
static inline int values_file (DtCtx *cx, const char *name) {
  char path[512], *line = NULL;
  size_t cap = 0;
  json_t *all = json_array();
  int failed = 0, pass = 0, skip = 0;
  (void)snprintf(path, sizeof path, "%s/%s", parity_dir(), name);
  FILE *f = fopen(path, "r");
  if (f == NULL) {
    (void)fprintf(stderr, "cannot read %s\n", path);
    json_decref(all);
    return -1;
  }
  while (getline(&line, &cap, f) >= 0)
    (void)json_array_append_new(all, json_loads(line, 0, NULL));
  free(line);
  (void)fclose(f);
  for (int size = 1; size <= 16; size++) {
    ValuesRun run = { .size = size };
    DtWorldOpts w = { .kind = DT_WORLD_THREADS, .size = size };
    int code = 0;
    (void)pthread_mutex_init(&run.lock, NULL);
    run.line = calloc(json_array_size(all) + 1, sizeof *run.line);
    for (size_t i = 0; i < json_array_size(all); i++)
      if (values_size(json_array_get(all, i)) == size)
        run.line[run.nlines++] = json_array_get(all, i);
    if (run.nlines > 0 &&
        (dt_world_run(cx, &w, values_rank, &run, &code) != DT_OK || code))
      run.fail++;
    failed += run.fail;
    pass += run.pass;
    skip += run.skip;
    free(run.line);
    (void)pthread_mutex_destroy(&run.lock);
  }
  json_decref(all);
  (void)fprintf(stderr, "%s: %d pass, %d fail, %d skip\n", name, pass, failed,
                skip);
  return failed;
}

#endif
