/* SPDX-License-Identifier: MIT
** parity/values.c: redistribution with data against redist/values.jsonl: the
** ranks are threads, every rank runs the line and compares its own part.
**
** A line is one world: a rank that raises where others do not would leave
** them waiting, so each step ends in a meeting, and the line's errors are
** compared by each rank before. */
#include "base/error_tool.h"
#include "parity/parity_int.h"

#include <stdio.h>
#include "engine/autograd.h"
#include "engine/dist.h"
#include "engine/world.h"
#include "oplib/ops.h"

enum { MAX_RANKS = 64, WHY = 400 };

/* A line for all its ranks. */
typedef struct Line {
  const json_t *o;
  const char *release;
  bool ok[MAX_RANKS];
  char why[MAX_RANKS][WHY];
} Line;

/* One rank of it. */
typedef struct Rank {
  DtParity p;
  const json_t *o;
  DtSession *s;
  DtMesh *mesh;
  int rank;
  int nsrc, ndst, ngpl, nfrom;
  DtPlacement src[DT_MAX_MDIM], dst[DT_MAX_MDIM], gpl[DT_MAX_MDIM],
    from[DT_MAX_MDIM];
  DtVar *in, *x, *y, *z, *full;
} Rank;

static void rank_fini (Rank *r) {
  dt_var_unref(r->in);
  dt_var_unref(r->x);
  dt_var_unref(r->y);
  dt_var_unref(r->z);
  dt_var_unref(r->full);
  if (r->mesh != NULL)
    dt_mesh_unref(r->p.cx, r->mesh);
  dt_session_free(r->s);
  dt_parity_fini(&r->p);
}

/* "key" of this rank, where the key holds a list by rank. */
static const json_t *mine (const Rank *r, const char *key) {
  const json_t *v = json_array_get(json_object_get(r->o, key),
                                   (size_t)r->rank);
  return json_is_null(v) ? NULL : v;
}

static const json_t *error_of (const Rank *r) {
  const json_t *e = json_object_get(r->o, "error");
  return e != NULL ? e : mine(r, "error_by_rank");
}

/* {==== Making ==== */

static DtStatus line_var (Rank *r, const DtMeta *m, const json_t *data,
                          double first, DtVar **out) {
  DtCtx *cx = r->p.cx;
  DtTensor *t = NULL;
  void *to = NULL;
  DT_TRY(cx, dt_tensor_new(cx, m, false, &t));
  DtStatus st = dt_tensor_data(cx, t, &to);
  size_t size = dt_dtype_size((DtDtype)m->dtype);
  for (int64_t i = 0; st == DT_OK && i < dt_meta_numel(m); i++) {
    const json_t *v = json_array_get(data, (size_t)i);
    double x = data == NULL ? first + (double)i
               : json_is_boolean(v) ? json_is_true(v) : dt_jnum(v);
    dt_dtype_store((DtDtype)m->dtype, (char *)to + (size_t)i * size,
                   dt_dtype_is_integral((DtDtype)m->dtype, true)
                   ? dt_scalar_int((int64_t)x) : dt_scalar_float(x));
  }
  if (st == DT_OK)
    st = dt_var_new(r->s, t, NULL, out);
  dt_tensor_unref(cx, t);
  return st;
}

static DtStatus data_var (Rank *r, const json_t *v, DtVar **out) {
  const char *dt = dt_jstr(r->o, "dtype");
  const char *each = json_string_value(mine(r, "local_dtypes"));
  int64_t shape[DT_MAX_NDIM];
  DtMeta m;
  int n = dt_jints(json_object_get(v, "shape"), shape, DT_MAX_NDIM);
  DT_TRY(r->p.cx, dt_meta_init(r->p.cx, &m, dt_dtype_find(
      each != NULL ? each : dt != NULL ? dt : "f32"), n, shape));
  return line_var(r, &m, json_object_get(v, "data"), 0, out);
}

/* The part this rank would hold, where the line gives no data. */
static DtStatus part_var (Rank *r, DtVar **out) {
  DtCtx *cx = r->p.cx;
  DtSpec *s = NULL;
  DtMeta m, part;
  int64_t shape[DT_MAX_NDIM];
  const json_t *own = mine(r, "local_shapes");
  if (own != NULL) {
    int n = dt_jints(own, shape, DT_MAX_NDIM);
    DT_TRY(cx, dt_meta_init(cx, &part, DT_F32, n, shape));
    return line_var(r, &part, NULL, 0, out);
  }
  if (!dt_jmeta(&r->p, r->o, &m))
    return cx->err.code;
  DT_TRY(cx, dt_spec_new(cx, r->mesh, r->nsrc, r->src, &m, NULL, -1, &s));
  DtStatus st = dt_layout_local_meta(cx, s, NULL, &part);
  dt_spec_unref(cx, s);
  return st == DT_OK ? line_var(r, &part, NULL, 0, out) : st;
}

static bool same_part (Rank *r, const char *what, const json_t *want,
                       const DtVar *got) {
  if (want == NULL)
    return true;
  return dt_same_ints(&r->p, what, json_object_get(want, "shape"),
                      got->local->m.shape, got->local->m.ndim) &&
         dt_same_data(&r->p, what, json_object_get(want, "data"), got->local,
                      false);
}

/* distribute_tensor(arange): the same on all ranks, or each rank's own. */
static DtStatus make_global (Rank *r) {
  const json_t *rank = json_object_get(r->o, "src_data_rank");
  int64_t from = rank == NULL ? 0 : json_is_null(rank) ? -1
                 : json_integer_value(rank);
  bool own = strcmp(dt_jstr(r->o, "kind"), "src_data_rank") == 0;
  DtMeta m;
  if (!dt_jmeta(&r->p, r->o, &m))
    return r->p.cx->err.code;
  DT_TRY(r->p.cx, line_var(r, &m, NULL, own ? 100.0 * r->rank : 0, &r->in));
  return dt_distribute_tensor(r->s, r->in, r->mesh, r->nsrc, r->src,
                              (int)from, &r->x);
}

static DtStatus make_local (Rank *r) {
  const json_t *local = mine(r, "local_src");
  const json_t *shape = json_object_get(r->o, "gshape");
  const json_t *stride = json_object_get(r->o, "gstride");
  bool grad = strcmp(dt_jstr(r->o, "kind"), "grad_local") == 0;
  bool whole = json_object_get(r->o, "shape") != NULL;
  DtMeta m;
  if (local != NULL)
    DT_TRY(r->p.cx, data_var(r, local, &r->in));
  else
    DT_TRY(r->p.cx, part_var(r, &r->in));
  if (grad)
    DT_TRY(r->p.cx, dt_var_set_requires_grad(r->in, true));
  if (whole && !dt_jmeta(&r->p, r->o, &m))
    return r->p.cx->err.code;
  if (shape != NULL) {
    int64_t sizes[DT_MAX_NDIM];
    int n = dt_jints(shape, sizes, DT_MAX_NDIM);
    DT_TRY(r->p.cx, dt_meta_init(r->p.cx, &m,
                                 (DtDtype)r->in->local->m.dtype, n, sizes));
    dt_jints(stride, m.stride, DT_MAX_NDIM);
    whole = true;
  }
  return dt_from_local(r->s, r->in, r->mesh, r->nsrc, r->src,
                       dt_jtrue(r->o, "run_check"), whole ? &m : NULL,
                       r->nfrom > 0 ? r->from : NULL, &r->x);
}

/* }==== Steps ==== */

static DtStatus run_move (Rank *r) {
  if (r->ndst == 0) {
    r->y = dt_var_ref(r->x);
    return DT_OK;
  }
  return dt_redistribute(r->s, r->x, r->mesh, r->ndst, r->dst, DT_DTYPE_NONE,
                         DT_DTYPE_NONE, &r->y);
}

/* z = full_tensor() or to_local(); its gradient is w. */
static DtStatus run_grad (Rank *r) {
  const DtPlacement *g = r->ngpl > 0 ? r->gpl : NULL;
  bool full = dt_jtrue(r->o, "full");
  DtVar *w = NULL, *leaf;
  bool global = strcmp(dt_jstr(r->o, "kind"), "grad_global") == 0;
  DtCtx *cx = r->p.cx;
  leaf = global ? r->x : r->in;
  DT_TRY(cx, full ? dt_full_tensor(r->s, r->y, g, &r->z)
                  : dt_to_local(r->s, r->y, g, r->ngpl, &r->z));
  if (mine(r, "w") == NULL) {   /* the gradient is refused */
    DT_TRY(cx, line_var(r, &r->z->local->m, NULL, 0, &w));
  } else {
    DT_TRY(cx, data_var(r, mine(r, "w"), &w));
  }
  DtStatus st = dt_backward(r->s, &(DtBackward){ 1, &r->z, &w, false, false });
  const DtVar *grad = leaf->grad;
  if (st == DT_OK && !same_part(r, "out", mine(r, "out"), r->z))
    st = DT_E_EXPECT;
  if (st == DT_OK && !same_part(r, "grad", mine(r, "grad"), grad))
    st = DT_E_EXPECT;
  if (st == DT_OK && global && json_object_get(r->o, "grad_pl") != NULL &&
      !dt_same_pls(&r->p, "grad_pl", json_object_get(r->o, "grad_pl"),
                   grad->spec->pl, grad->spec->npl))
    st = DT_E_EXPECT;
  dt_var_unref(w);
  return st;
}

static DtStatus run_full (Rank *r) {
  const json_t *each = mine(r, "full_by_rank");
  const json_t *want = json_object_get(r->o, "full");
  if (json_object_get(r->o, "error") != NULL)
    return dt_full_tensor(r->s, r->y, NULL, &r->full);
  if (each == NULL && !json_is_object(want))
    return DT_OK;
  DT_TRY(r->p.cx, dt_full_tensor(r->s, r->x, NULL, &r->full));
  return same_part(r, "full", each != NULL ? each : want, r->full)
         ? DT_OK : DT_E_EXPECT;
}

static DtStatus check_made (Rank *r) {
  const json_t *gs = mine(r, "global_shape_by_rank");
  const json_t *pl = json_object_get(r->o, "pl_src");
  const DtSpec *s = r->x->spec;
  if (gs == NULL)
    gs = json_object_get(r->o, "global_shape");
  bool ok = (gs == NULL || dt_same_ints(&r->p, "global_shape", gs,
                                        s->meta.shape, s->meta.ndim)) &&
            (pl == NULL || dt_same_pls(&r->p, "pl_src", pl, s->pl, s->npl)) &&
            same_part(r, "local_src", mine(r, mine(r, "to_local") != NULL
                                        ? "to_local" : "local_src"), r->x);
  return ok ? DT_OK : DT_E_EXPECT;
}

static DtStatus run_line (Rank *r) {
  const char *kind = dt_jstr(r->o, "kind");
  bool local = strcmp(kind, "partial") == 0 ||
               strcmp(kind, "from_local") == 0 ||
               strcmp(kind, "grad_local") == 0;
  DtCtx *cx = r->p.cx;
  if (local)
    DT_TRY(cx, make_local(r));
  else
    DT_TRY(cx, make_global(r));
  DT_TRY(cx, check_made(r));
  if (strcmp(kind, "grad_global") == 0)
    DT_TRY(cx, dt_var_set_requires_grad(r->x, true));
  if (strncmp(kind, "grad", 4) == 0) {
    DT_TRY(cx, run_move(r));
    return run_grad(r);
  }
  DT_TRY(cx, run_move(r));
  if (!same_part(r, "local_dst", mine(r, "local_dst"), r->y))
    return DT_E_EXPECT;
  return run_full(r);
}

/* }==== Ranks ==== */

static bool rank_init (Rank *r, DtCtx *cx, DtComm *comm, const json_t *o,
                       const char *release) {
  DtSessionOpts so = { dt_ops, dt_variants, release, "cpu", 0, dt_rulings };
  memset(r, 0, sizeof *r);
  if (dt_parity_init(&r->p, cx) != DT_OK ||
      dt_session_new(cx, comm, &so, &r->s) != DT_OK)
    return dt_no_error(&r->p, DT_E_RUNTIME);
  r->o = o;
  r->rank = comm->rank;
  r->mesh = dt_jmesh(&r->p, o, comm->rank);
  r->nsrc = dt_jpls(&r->p, json_object_get(o, "src"), r->src);
  if (json_array_size(json_object_get(o, "src")) == 0)
    for (int i = 0; r->mesh != NULL && i < r->mesh->ndim; i++)
      r->src[r->nsrc++] = dt_pl_replicate();    /* the default */
  r->ndst = dt_jpls(&r->p, json_object_get(o, "dst"), r->dst);
  r->ngpl = dt_jpls(&r->p, json_object_get(o, "grad_placements"), r->gpl);
  r->nfrom = dt_jpls(&r->p, json_object_get(o, "from_grad"), r->from);
  return r->mesh != NULL && r->nsrc >= 0 && r->ndst >= 0;
}

static int rank_main (DtCtx *cx, DtComm *comm, void *ud) {
  Line *l = ud;
  Rank r;
  bool ok = rank_init(&r, cx, comm, l->o, l->release);
  DtStatus st = ok ? run_line(&r) : DT_E_EXPECT;
  if (st != DT_E_EXPECT && ok) {
    const json_t *error = error_of(&r);
    ok = error != NULL ? dt_same_error(&r.p, error, st)
                       : dt_no_error(&r.p, st);
  } else {
    ok = false;
  }
  l->ok[comm->rank] = ok;
  (void)snprintf(l->why[comm->rank], WHY, "%s", dt_buf_str(&r.p.why));
  rank_fini(&r);
  dt_error_clear(cx);
  return 0;
}

/* Lines that have no answer here: a shape without its stride is refused by
** the caller's language, and data that PyTorch itself loses is no fact to
** keep (the result is right here). */
static bool foreign (const json_t *o) {
  return (json_object_get(o, "gshape") != NULL &&
          json_object_get(o, "gstride") == NULL) ||
         json_is_false(json_object_get(o, "full_equals_input"));
}

/* PyTorch fails on some ranks only and would hang on the others: there is no
** answer to compare in a world that agrees first. */
static bool hangs (const json_t *o) {
  const json_t *by = json_object_get(o, "error_by_rank");
  int n = 0;
  for (size_t i = 0; i < json_array_size(by); i++)
    n += !json_is_null(json_array_get(by, i));
  return n > 0 && n < (int)json_array_size(by);
}

bool dt_check_values (DtParity *p, const json_t *o) {
  int64_t shape[DT_MAX_MDIM], world = 1;
  int code = 0, k = dt_jints(json_object_get(json_object_get(o, "mesh"),
                                             "shape"), shape, DT_MAX_MDIM);
  DtWorldOpts w;
  Line *l;
  if (!dt_check_values_layout(p, o))
    return false;
  if (p->skipped && hangs(o))
    return true;
  p->skipped = false;
  for (int i = 0; i < k; i++)
    world *= shape[i];
  if (world > MAX_RANKS || hangs(o) || foreign(o))
    return dt_parity_skip(p);
  l = DT_ANEWN(p->cx, &p->arena, Line, 1);
  if (l == NULL)
    return dt_no_error(p, DT_E_NOMEM);
  memset(&w, 0, sizeof w);
  w.kind = DT_WORLD_THREADS;
  w.size = (int)world;
  l->o = o;
  l->release = p->release;
  dt_error_clear(p->cx);
  if (!dt_no_error(p, dt_world_run(p->cx, &w, rank_main, l, &code)))
    return false;
  for (int i = 0; i < world; i++)
    if (!l->ok[i])
      return dt_fails(p, "%s (rank %d)", l->why[i], i);
  return true;
}

/* }==== */
