/* SPDX-License-Identifier: MIT
** parity/mesh.c: device meshes against mesh/programs.jsonl and
** mesh/init.jsonl: a small machine runs the calls of a line on every rank. */
#include <stdio.h>
#include <stdlib.h>
#include "parity/mesh_int.h"

enum { MAX_VARS = 8 };

/* {==== Comparing a mesh ==== */

/* Nested list of ranks, against the flat ones. */
static bool same_nested (const json_t *want, const int64_t *got, int64_t *k) {
  if (!json_is_array(want))
    return json_integer_value(want) == got[(*k)++];
  bool ok = true;
  for (size_t i = 0; ok && i < json_array_size(want); i++)
    ok = same_nested(json_array_get(want, i), got, k);
  return ok;
}

bool dt_same_ranks (DtParity *p, const json_t *want, const DtMesh *m) {
  int64_t n = dt_mesh_size(m), k = 0;
  int64_t *got = DT_NEWN(p->cx, int64_t, n + 1);
  bool ok = got != NULL;
  if (ok) {
    dt_mesh_ranks(m, got);
    ok = same_nested(want, got, &k) && k == n;
  }
  dt_free(p->cx, got);
  return dt_same_flag(p, "ranks", true, ok);
}

bool dt_same_names (DtParity *p, const json_t *want, const DtMesh *m) {
  bool named = m->ndim > 0 && m->name[0] != NULL;
  if (json_is_null(want) || want == NULL)
    return dt_same_flag(p, "named", false, named);
  for (int i = 0; i < m->ndim; i++)
    if (!dt_same_text(p, "name", json_string_value(json_array_get(want,
                   (size_t)i)), m->name[i] != NULL ? m->name[i] : "-"))
      return false;
  return true;
}

static bool same_group (DtParity *p, const json_t *want, const DtMesh *m,
                        int dim, int rank) {
  int64_t wide[64];
  int ranks[64];
  dt_mesh_group(m, dim, rank, ranks);
  for (int i = 0; i < (int)m->shape[dim]; i++)
    wide[i] = ranks[i];
  return dt_same_ints(p, "group", want, wide, (int)m->shape[dim]);
}

static bool same_groups (DtParity *p, const json_t *want, const DtMesh *m,
                         int rank) {
  bool ok = dt_same_flag(p, "number of groups", true,
                      (int)json_array_size(want) == m->ndim);
  for (int i = 0; ok && i < m->ndim; i++)
    ok = same_group(p, json_array_get(want, (size_t)i), m, i, rank);
  return ok;
}

bool dt_same_coord (DtParity *p, const json_t *want, const DtMesh *m) {
  if (json_is_null(want))
    return dt_same_flag(p, "member", false, m->member);
  return dt_same_flag(p, "member", true, m->member) &&
         dt_same_ints(p, "coord", want, m->coord, m->ndim);
}

bool dt_same_repr (DtParity *p, const char *want, const DtMesh *m) {
  DtBuf b;
  dt_buf_init(&b, p->cx);
  dt_mesh_repr(m, &b);
  bool ok = dt_same_text(p, "repr", want, dt_buf_str(&b));
  dt_buf_fini(&b);
  return ok;
}

/* What every rank of a mesh must be asked: keys of "by_rank" replace those
** of "result". */
static const json_t *key_of (const json_t *o, int rank, const char *key) {
  char text[16];
  (void)snprintf(text, sizeof text, "%d", rank);
  const json_t *by = json_object_get(json_object_get(o, "by_rank"), text);
  const json_t *v = json_object_get(by, key);
  return v != NULL ? v : json_object_get(json_object_get(o, "result"), key);
}

/* A mesh against a capture, whose keys are either each rank's or all ranks'. */
static bool same_mesh (DtParity *p, const json_t *o, const DtMesh *m,
                       int rank) {
  const json_t *flat = key_of(o, rank, "flattened");
  const json_t *coords = key_of(o, rank, "coord");
  const json_t *locals = key_of(o, rank, "local_rank");
  const json_t *root = key_of(o, rank, "is_root");
  const DtMeshFlat *f = dt_mesh_root(m)->flat;
  bool ok = dt_same_ints(p, "shape", key_of(o, rank, "shape"), m->shape,
                      m->ndim) &&
            dt_same_names(p, key_of(o, rank, "names"), m) &&
            dt_same_ranks(p, key_of(o, rank, "ranks"), m) &&
            dt_same_repr(p, json_string_value(key_of(o, rank, "repr")), m) &&
            dt_same_coord(p, json_array_get(coords, (size_t)rank), m) &&
            dt_same_flag(p, "size", true, dt_mesh_size(m) ==
                      json_integer_value(key_of(o, rank, "size")));
  const json_t *local = json_array_get(locals, (size_t)rank);
  if (ok && json_is_array(local) && m->member)
    ok = dt_same_ints(p, "local_rank", local, m->coord, m->ndim);
  if (ok && root != NULL)
    ok = dt_same_flag(p, "is_root", json_is_true(root),
                   dt_mesh_root(m) == m) &&
         dt_same_flag(p, "eq_root", json_is_true(key_of(o, rank, "eq_root")),
                   dt_mesh_equal(m, dt_mesh_root(m)));
  for (size_t i = 0; ok && i < json_array_size(flat); i++)
    ok = f != NULL && (int)json_array_size(flat) == f->n &&
         dt_same_text(p, "flattened",
                      json_string_value(json_array_get(flat, i)),
                      f->mesh[i]->name[0]);
  return ok;
}

/* }==== Parity: programs.jsonl ==== */

typedef struct Machine {
  DtParity *p;
  int rank;
  DtMesh *root, *cur;
  const char *name[MAX_VARS];
  DtMesh *var[MAX_VARS];
  int nvars;
  DtBuf warning;
} Machine;

static void set_cur (Machine *k, DtMesh *m) {
  dt_mesh_unref(k->p->cx, k->cur);
  k->cur = m;
}

static DtMesh *lookup (Machine *k, const char *name) {
  if (strcmp(name, "root") == 0)
    return k->root;
  for (int i = k->nvars - 1; i >= 0; i--)
    if (strcmp(k->name[i], name) == 0)
      return k->var[i];
  return NULL;
}

static DtStatus op_slice (Machine *k, const json_t *call, DtMesh **out) {
  const char *names[DT_MAX_MDIM];
  const json_t *a = json_array_get(call, 1);
  if (json_is_integer(a))       /* Python stops at the type */
    return dt_raise(k->p->cx, DT_E_TYPE, "'int' object is not iterable");
  int n = dt_jstrs(a, names, DT_MAX_MDIM);
  return dt_mesh_slice(k->p->cx, k->cur, n, names, NULL, &k->warning, out);
}

static DtStatus op_unflatten (Machine *k, const json_t *call, DtMesh **out) {
  const json_t *d = json_array_get(call, 1);
  const char *names[DT_MAX_MDIM];
  int64_t sizes[DT_MAX_MDIM];
  int n = dt_jints(json_array_get(call, 2), sizes, DT_MAX_MDIM);
  int nn = dt_jstrs(json_array_get(call, 3), names, DT_MAX_MDIM);
  DtMeshCut into = { n, nn, sizes, names };
  return dt_mesh_unflatten(k->p->cx, k->cur, json_string_value(d),
                           (int)json_integer_value(d), &into, out);
}

static DtStatus op_concat (Machine *k, const json_t *call, DtMesh **out) {
  const char *names[DT_MAX_MDIM];
  DtMesh *m[DT_MAX_MDIM];
  int n = dt_jstrs(json_array_get(call, 1), names, DT_MAX_MDIM);
  for (int i = 0; i < n; i++) {
    m[i] = lookup(k, names[i]);
    if (m[i] == NULL)                   /* a name that was not saved */
      m[i] = k->root;
  }
  return dt_mesh_concat(k->p->cx, n, m, out);
}

static DtStatus op_load (Machine *k, const char *name, DtMesh **out) {
  DtMesh *m = lookup(k, name);
  if (m == NULL)
    return dt_raise(k->p->cx, DT_E_KEY, "'%s'", name);
  *out = dt_mesh_ref(m);
  return DT_OK;
}

/* A call that ends in a mesh; *done when it was one. */
static DtStatus do_mesh_op (Machine *k, const json_t *call, bool *done) {
  const char *op = json_string_value(json_array_get(call, 0));
  const char *arg = json_string_value(json_array_get(call, 1));
  DtMesh *out = NULL;
  DtStatus st = DT_OK;
  *done = true;
  if (strcmp(op, "slice") == 0)
    st = op_slice(k, call, &out);
  else if (strcmp(op, "flatten") == 0)
    st = dt_mesh_flatten(k->p->cx, k->cur, arg, &out);
  else if (strcmp(op, "unflatten") == 0)
    st = op_unflatten(k, call, &out);
  else if (strcmp(op, "concat") == 0)
    st = op_concat(k, call, &out);
  else if (strcmp(op, "root") == 0)
    out = dt_mesh_ref(k->root);
  else if (strcmp(op, "get_root") == 0)
    out = dt_mesh_ref(k->cur->root != NULL ? k->cur->root : k->cur);
  else if (strcmp(op, "load") == 0)
    st = op_load(k, arg, &out);
  else if (strcmp(op, "save") == 0 && k->nvars < MAX_VARS) {
    k->name[k->nvars] = arg;
    k->var[k->nvars++] = dt_mesh_ref(k->cur);
    out = dt_mesh_ref(k->root);
  }
  else
    *done = false;
  if (*done && st == DT_OK)
    set_cur(k, out);
  return st;
}

static DtStatus find_group (Machine *k, const json_t *arg, bool local,
                            const DtMesh **gm, int *gdim) {
  int dim = (int)json_integer_value(arg);
  return dt_mesh_group_dim(k->p->cx, k->cur, json_string_value(arg),
                           json_is_integer(arg) ? &dim : NULL, local, gm,
                           gdim);
}

/* PyTorch reuses the world's group for a dim that covers it. */
static bool same_desc (Machine *k, const char *want, const DtMesh *m,
                       int dim) {
  DtBuf b;
  dt_buf_init(&b, k->p->cx);
  if (m->shape[dim] == dt_mesh_root(m)->nranks)
    dt_buf_add(&b, "default_pg");
  else {
    dt_buf_add(&b, "mesh_");
    if (m->name[dim] != NULL)
      dt_buf_add(&b, m->name[dim]);
    else
      dt_buf_addf(&b, "dim_%d", dim);
  }
  bool ok = dt_same_text(k->p, "desc", want, dt_buf_str(&b));
  dt_buf_fini(&b);
  return ok;
}

static bool same_submeshes (Machine *k, const json_t *want, const char *name,
                            DtStatus *st) {
  enum { MOST = 64 };
  int64_t wide[MOST];
  int dim = 0, ranks[MOST];
  *st = dt_mesh_dim(k->p->cx, k->cur, name, &dim);
  if (*st != DT_OK)
    return true;
  if (k->cur->shape[dim] > MOST)
    return dt_fails(k->p, "submeshes of more than %d ranks", MOST);
  bool ok = dt_same_flag(k->p, "number", true,
                         (int64_t)json_array_size(want) ==
                         dt_mesh_ngroups(k->cur, dim));
  for (size_t g = 0; ok && g < json_array_size(want); g++) {
    ok = dt_no_error(k->p, dt_mesh_nth_group(k->p->cx, k->cur, dim, (int64_t)g,
                                          ranks));
    for (int i = 0; ok && i < (int)k->cur->shape[dim]; i++)
      wide[i] = ranks[i];
    ok = ok && dt_same_ints(k->p, "submesh", json_array_get(want, g), wide,
                         (int)k->cur->shape[dim]);
  }
  return ok;
}

/* Ask the current mesh.  *st receives an error of ours. */
static bool do_query (Machine *k, const json_t *o, const json_t *call,
                      DtStatus *st) {
  const char *op = json_string_value(json_array_get(call, 0));
  const json_t *arg = json_array_get(call, 1), *v = key_of(o, k->rank,
                                                          "value");
  const DtMesh *m = k->cur, *gm = NULL;
  DtParity *p = k->p;
  int d = 0;
  if (strcmp(op, "get_group") == 0) {
    *st = find_group(k, arg, false, &gm, &d);
    return *st != DT_OK ||
           (same_group(p, key_of(o, k->rank, "group"), gm, d, k->rank) &&
            same_desc(k, json_string_value(key_of(o, k->rank, "desc")), gm,
                      d));
  }
  if (strcmp(op, "get_local_rank") == 0) {
    *st = find_group(k, arg, true, &gm, &d);
    return *st != DT_OK || dt_same_num(p, op, v, (double)gm->coord[d]);
  }
  if (strcmp(op, "all_submeshes") == 0)
    return same_submeshes(k, v, json_string_value(arg), st);
  if (strcmp(op, "size") == 0 && arg != NULL) {
    d = (int)json_integer_value(arg);
    d = d < 0 ? d + m->ndim : d;
    if (d < 0 || d >= m->ndim)  /* Python's tuple says it */
      *st = dt_raise(p->cx, DT_E_INDEX, "tuple index out of range");
    return *st != DT_OK || dt_same_num(p, op, v, (double)m->shape[d]);
  }
  if (strcmp(op, "size") == 0)
    return dt_same_num(p, op, v, (double)dt_mesh_size(m));
  if (strcmp(op, "get_rank") == 0)
    return dt_same_num(p, op, v, (double)m->my_rank);
  if (strcmp(op, "ndim") == 0)
    return dt_same_num(p, op, v, (double)m->ndim);
  if (strcmp(op, "get_all_groups") == 0)
    return same_groups(p, v, m, k->rank);
  if (strcmp(op, "get_coordinate") == 0)
    return dt_same_coord(p, v, m);
  if (strcmp(op, "shape") == 0)
    return dt_same_ints(p, op, v, m->shape, m->ndim);
  if (strcmp(op, "mesh_dim_names") == 0)
    return dt_same_names(p, v, m);
  if (strcmp(op, "device_type") == 0)
    return dt_same_text(p, op, json_string_value(v), m->device_name);
  if (strcmp(op, "eq") == 0) {
    const DtMesh *w = lookup(k, json_string_value(arg));
    if (w == NULL)
      *st = dt_raise(p->cx, DT_E_KEY, "'%s'", json_string_value(arg));
    if (w == NULL)
      return true;
    return dt_same_flag(p, "eq", json_is_true(v), dt_mesh_equal(m, w)) &&
           dt_same_flag(p, "same_object", m == w,
                     json_is_true(key_of(o, k->rank, "same_object")));
  }
  dt_buf_addf(&p->why, "unknown call %s", op);
  return false;
}

static bool same_warnings (Machine *k, const json_t *o) {
  const char *want = json_string_value(json_array_get(
      json_object_get(o, "warn"), 0));
  const char *got = dt_buf_str(&k->warning), *end = strchr(got, '\n');
  DtBuf first;
  if (k->rank != 0)
    return true;
  /* the reference shows a text that comes twice once */
  dt_buf_init(&first, k->p->cx);
  dt_buf_addn(&first, got, end != NULL ? (size_t)(end - got) : strlen(got));
  bool ok = dt_same_text(k->p, "warning", want != NULL ? want : "",
                      dt_buf_str(&first));
  dt_buf_fini(&first);
  return ok;
}

/* The calls of one line, in order, up to the one that must fail.  Only where no
** call asked anything is the mesh itself compared. */
static bool run_program (Machine *k, const json_t *o) {
  const json_t *calls = json_object_get(o, "calls");
  const json_t *error = json_object_get(o, "error");
  bool ok = true, query = false;
  for (size_t i = 0; ok && i < json_array_size(calls); i++) {
    const json_t *call = json_array_get(calls, i);
    DtStatus st;
    bool done = false;
    st = do_mesh_op(k, call, &done);
    if (!done) {
      query = true;
      ok = do_query(k, o, call, &st);
    }
    if (ok && st != DT_OK && error == NULL)
      ok = dt_no_error(k->p, st);
    else if (ok && st != DT_OK)
      return dt_same_num(k->p, "failing call", json_object_get(error, "at"),
                      (double)i) && dt_same_error(k->p, error, st) &&
             same_warnings(k, o);
  }
  if (ok && error != NULL)
    return dt_same_error(k->p, error, DT_OK);
  if (ok && !query)
    ok = same_mesh(k->p, o, k->cur, k->rank) &&
         same_groups(k->p, key_of(o, k->rank, "groups"), k->cur, k->rank);
  return ok && same_warnings(k, o);
}

static bool program_rank (DtParity *p, const json_t *o, int rank) {
  Machine k;
  memset(&k, 0, sizeof k);
  k.p = p;
  k.rank = rank;
  dt_buf_init(&k.warning, p->cx);
  dt_error_clear(p->cx);
  k.root = dt_jmesh(p, o, rank);
  k.cur = dt_mesh_ref(k.root);
  bool ok = k.root != NULL && run_program(&k, o);
  for (int i = 0; i < k.nvars; i++)
    dt_mesh_unref(p->cx, k.var[i]);
  dt_mesh_unref(p->cx, k.cur);
  dt_mesh_unref(p->cx, k.root);
  dt_buf_fini(&k.warning);
  if (!ok)
    dt_buf_addf(&p->why, " (rank %d)", rank);
  return ok;
}

bool dt_check_program (DtParity *p, const json_t *o) {
  int64_t shape[DT_MAX_MDIM], world = 1;
  int n = dt_jints(json_object_get(json_object_get(o, "mesh"), "shape"), shape,
                DT_MAX_MDIM);
  bool ok = true;
  for (int i = 0; i < n; i++)
    world *= shape[i];
  for (int r = 0; ok && r < (int)world; r++)
    ok = program_rank(p, o, r);
  return ok;
}

/* }==== Parity: init.jsonl ==== */

/* Shape and ranks of a nested list, as torch.tensor reads it. */
static bool read_nested (DtParity *p, const json_t *a, int depth,
                         int64_t *shape, int *ndim, int64_t *ranks, int *n) {
  if (!json_is_array(a)) {
    ranks[(*n)++] = (int64_t)json_number_value(a);
    return true;
  }
  int64_t len = (int64_t)json_array_size(a);
  if (depth == *ndim) {
    shape[depth] = len;
    (*ndim)++;
  }
  else if (shape[depth] != len) {   /* torch.tensor's own complaint */
    (void)dt_raise(p->cx, DT_E_VALUE, "expected sequence of length %lld at "
                   "dim %d (got %lld)", (long long)shape[depth], depth,
                   (long long)len);
    return false;
  }
  for (size_t i = 0; i < json_array_size(a); i++)
    if (!read_nested(p, json_array_get(a, i), depth + 1, shape, ndim, ranks,
                     n))
      return false;
  return true;
}

static DtStatus init_make (DtParity *p, const json_t *o, int rank,
                           DtMesh **out) {
  const json_t *arg = json_object_get(o, "arg");
  const json_t *names = json_object_get(o, "names");
  const char *device = dt_jstr(o, "device"), *name[DT_MAX_MDIM];
  int world = (int)dt_jint(o, "world", 0), ndim = 0, n = 0;
  int64_t shape[DT_MAX_MDIM], ranks[64];
  int nn = dt_jstrs(names, name, DT_MAX_MDIM);
  const char *const *given = json_is_array(names) ? name : NULL;
  if (strcmp(dt_jstr(o, "fn"), "init_device_mesh") == 0)
    return dt_mesh_init_as(p->cx, device, dt_jints(arg, shape, DT_MAX_MDIM),
                           shape, nn, given, &p->mesh_rules, rank, world, out);
  if (!read_nested(p, arg, 0, shape, &ndim, ranks, &n))
    return DT_E_VALUE;
  DT_TRY(p->cx, dt_mesh_new(p->cx, device, ndim, shape, ranks,
                            nn >= ndim ? given : NULL, rank, world, out));
  dt_mesh_print_as(*out, &p->mesh_rules);
  return DT_OK;
}

static bool init_rank (DtParity *p, const json_t *o, int rank) {
  const json_t *error = json_object_get(o, "error");
  const json_t *each = json_object_get(o, "per_rank");
  DtMesh *m = NULL;
  bool ok;
  dt_error_clear(p->cx);
  DtStatus st = init_make(p, o, rank, &m);
  if (each != NULL) {
    const json_t *mine = json_array_get(each, (size_t)rank);
    error = json_object_get(mine, "error");
    ok = error != NULL ? dt_same_error(p, error, st)
         : dt_no_error(p, st) &&
           dt_same_coord(p, json_object_get(mine, "coord"), m) &&
           dt_same_ranks(p, json_object_get(mine, "ranks"), m);
  }
  else if (error != NULL)
    ok = dt_same_error(p, error, st);
  else {
    const json_t *groups = key_of(o, rank, "groups");
    ok = dt_no_error(p, st) && same_mesh(p, o, m, rank);
    if (ok && m->member)
      ok = same_groups(p, json_array_get(groups, (size_t)rank), m, rank);
  }
  dt_mesh_unref(p->cx, m);
  if (!ok)
    dt_buf_addf(&p->why, " (rank %d)", rank);
  return ok;
}

/* Lines that compare two prepared meshes, by their letters. */
static DtStatus prepared (DtParity *p, const char *name, DtMesh **out) {
  static const char *const dp[] = { "dp", "tp" }, *const ab[] = { "a", "b" };
  static const int64_t rev[] = { 7, 6, 5, 4, 3, 2, 1, 0 };
  static const int64_t up[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
  static const int64_t s24[] = { 2, 4 }, s42[] = { 4, 2 }, s8[] = { 8 },
                       s18[] = { 1, 8 }, s4[] = { 4 };
  const char *dev = strncmp(name, "cuda", 4) == 0 ? "cuda" : "cpu";
  DtCtx *cx = p->cx;
  if (strcmp(name, "m24") == 0)
    return dt_mesh_init(cx, dev, 2, s24, NULL, 0, 8, out);
  if (strcmp(name, "m24n") == 0)
    return dt_mesh_init(cx, dev, 2, s24, dp, 0, 8, out);
  if (strcmp(name, "m24x") == 0)
    return dt_mesh_init(cx, dev, 2, s24, ab, 0, 8, out);
  if (strcmp(name, "m42") == 0)
    return dt_mesh_init(cx, dev, 2, s42, NULL, 0, 8, out);
  if (strcmp(name, "m8") == 0 || strcmp(name, "cuda8") == 0)
    return dt_mesh_init(cx, dev, 1, s8, NULL, 0, 8, out);
  if (strcmp(name, "m18") == 0)
    return dt_mesh_init(cx, dev, 2, s18, NULL, 0, 8, out);
  if (strcmp(name, "m4") == 0)
    return dt_mesh_init(cx, dev, 1, s4, NULL, 0, 8, out);
  if (strcmp(name, "d8") == 0)
    return dt_mesh_new(cx, dev, 1, s8, up, NULL, 0, 8, out);
  if (strcmp(name, "d24") == 0)
    return dt_mesh_new(cx, dev, 2, s24, up, NULL, 0, 8, out);
  if (strcmp(name, "d8rev") == 0)
    return dt_mesh_new(cx, dev, 1, s8, rev, NULL, 0, 8, out);
  if (strcmp(name, "d4") == 0)
    return dt_mesh_new(cx, dev, 1, s4, up, NULL, 0, 8, out);
  return dt_mesh_new(cx, dev, 1, s4, up + 4, NULL, 0, 8, out);  /* d4b */
}

static bool init_equal (DtParity *p, const json_t *o) {
  DtMesh *a = NULL, *b = NULL;
  bool ok = dt_no_error(p, prepared(p, dt_jstr(o, "a"), &a)) &&
            dt_no_error(p, prepared(p, dt_jstr(o, "b"), &b)) &&
            dt_same_repr(p, dt_jstr(o, "a_repr"), a) &&
            dt_same_repr(p, dt_jstr(o, "b_repr"), b) &&
            dt_same_flag(p, "eq", json_is_true(json_object_get(o, "eq")),
                      dt_mesh_equal(a, b)) &&
            (!dt_mesh_equal(a, b) || a->hash == b->hash);
  dt_mesh_unref(p->cx, a);
  dt_mesh_unref(p->cx, b);
  return ok;
}

static bool init_detail (DtParity *p, const json_t *o) {
  DtMesh *a = NULL;
  DtBuf b;
  dt_buf_init(&b, p->cx);
  bool ok = dt_no_error(p, prepared(p, dt_jstr(o, "a"), &a));
  if (ok)
    dt_mesh_repr_detail(a, &b);
  ok = ok && dt_same_text(p, "repr", dt_jstr(o, "repr"), dt_buf_str(&b));
  dt_buf_fini(&b);
  dt_mesh_unref(p->cx, a);
  return ok;
}

bool dt_check_init (DtParity *p, const json_t *o) {
  const char *fn = dt_jstr(o, "fn");
  bool ok = true;
  if (strcmp(fn, "eq") == 0)
    return init_equal(p, o);
  if (strncmp(fn, "repr with", 9) == 0)
    return init_detail(p, o);
  if (strcmp(fn, "init_device_mesh") != 0 && strcmp(fn, "DeviceMesh") != 0) {
    p->skipped = true;          /* the stack of meshes is the session's */
    return true;
  }
  for (int r = 0; ok && r < (int)dt_jint(o, "world", 0); r++)
    ok = init_rank(p, o, r);
  return ok;
}
