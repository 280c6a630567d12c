/* SPDX-License-Identifier: MIT
** shard/plan_flat.c: merge neighbouring steps into one collective over a
** flattened mesh.
**
** Only runs of equal steps are looked at, a run is merged whole or not at
** all, and only when somebody flattened exactly these mesh dims before.  Sums
** and averages may share a run: they are summed and divided afterwards.
** Facts: _redistribute.py, PyTorch 2.13. */
#include <string.h>
#include "base/hash.h"
#include "shard/plan_int.h"

typedef enum Comm { LOCAL, ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER,
                    ALL_TO_ALL } Comm;

static Comm comm_of (DtPlacement src, DtPlacement dst) {
  if (dt_pl_is_partial(src) && dt_pl_is_replicate(dst))
    return ALL_REDUCE;
  if (dt_pl_is_partial(src) && dt_pl_is_shard_like(dst))
    return REDUCE_SCATTER;
  if (dt_pl_is_shard_like(src) && dt_pl_is_replicate(dst))
    return ALL_GATHER;
  if (dt_pl_is_shard_like(src) && dt_pl_is_shard_like(dst))
    return ALL_TO_ALL;
  return LOCAL;
}

const char *dt_step_kind (DtPlacement src, DtPlacement dst) {
  switch (comm_of(src, dst)) {
    case ALL_REDUCE: return "all_reduce";
    case REDUCE_SCATTER: return "reduce_scatter";
    case ALL_GATHER: return "all_gather";
    case ALL_TO_ALL: return "all_to_all";
    case LOCAL: break;
  }
  return "local";
}

static bool is_mergeable (const DtStep *s) {
  Comm c = comm_of(s->src, s->dst);
  return c == ALL_REDUCE || c == REDUCE_SCATTER || c == ALL_GATHER;
}

static bool sum_or_avg (DtPlacement p) {
  return dt_pl_is_partial(p) && (p.op == DT_OP_SUM || p.op == DT_OP_AVG);
}

static bool are_alike (const DtStep *a, const DtStep *b) {
  if (!dt_pl_equal(a->dst, b->dst))
    return false;
  return dt_pl_equal(a->src, b->src) ||
         (sum_or_avg(a->src) && sum_or_avg(b->src));
}

/* {==== One run ==== */

typedef struct Run {
  DtPlan *plan;
  const DtStep *s;
  int n;
  int mdims[DT_MAX_MDIM];       /* ascending */
  Comm comm;
} Run;

static void run_init (Run *r, DtPlan *plan, const DtStep *s, int n) {
  r->plan = plan;
  r->s = s;
  r->n = n;
  r->comm = comm_of(s[0].src, s[0].dst);
  for (int i = 0; i < n; i++) {
    int k = i;
    for (; k > 0 && r->mdims[k - 1] > s[i].mdim; k--)
      r->mdims[k] = r->mdims[k - 1];
    r->mdims[k] = s[i].mdim;
  }
}

/* Sharded tensor dim that a gather or a scatter works on. */
static int run_dim (const Run *r) {
  return r->comm == ALL_GATHER ? r->s[0].src.dim : r->s[0].dst.dim;
}

/* The step that sees the largest tensor; the first of equals. */
static const DtStep *find_largest_step (const Run *r) {
  const DtStep *best = r->s;
  int d = run_dim(r);
  for (int i = 1; r->comm != ALL_REDUCE && i < r->n; i++)
    if (r->s[i].lshape[d] > best->lshape[d])
      best = &r->s[i];
  return best;
}

typedef enum Why { MERGE, NOT_ASCENDING, NO_MESH, UNEVEN } Why;

static Why judge_run (const Run *r, DtMesh **flat) {
  const DtMesh *mesh = r->plan->src->mesh;
  int64_t parts = 1;
  for (int i = 0; i < r->n; i++) {
    int want = r->comm == ALL_GATHER ? r->mdims[r->n - 1 - i] : r->mdims[i];
    if (r->comm != ALL_REDUCE && r->s[i].mdim != want)
      return NOT_ASCENDING;
    parts *= mesh->shape[r->s[i].mdim];
  }
  *flat = dt_mesh_find_flat(mesh, r->n, r->mdims);
  if (*flat == NULL)
    return NO_MESH;
  if (r->comm == REDUCE_SCATTER &&
      find_largest_step(r)->lshape[run_dim(r)] % parts != 0)
    return UNEVEN;
  return MERGE;
}

static void merge_run (const Run *r, DtMesh *flat, DtStep *out) {
  const DtMesh *mesh = r->plan->src->mesh;
  int64_t scale = 1;
  *out = *find_largest_step(r);
  out->mdim = -1;
  out->src = r->s[0].src;
  out->dst = r->s[0].dst;
  out->flat = dt_mesh_ref(flat);
  out->nflat = r->n;
  for (int i = 0; i < r->n; i++) {
    out->flat_mdims[i] = r->mdims[i];
    if (dt_pl_is_partial(r->s[i].src) && r->s[i].src.op == DT_OP_AVG)
      scale *= mesh->shape[r->s[i].mdim];
  }
  if (scale > 1) {
    out->src = dt_pl_partial(DT_OP_SUM);
    out->scale = (double)scale;
  }
}

/* }==== Warnings ==== */

static void add_reprs (DtBuf *b, const DtSpec *s) {
  dt_buf_addc(b, '(');
  for (int m = 0; m < s->npl; m++) {
    dt_buf_add(b, m > 0 ? ", " : "");
    dt_pl_repr(s->pl[m], b);
  }
  dt_buf_add(b, s->npl == 1 ? ",)" : ")");
}

static void add_dims (DtBuf *b, const Run *r) {
  const DtMesh *mesh = r->plan->src->mesh;
  bool named = mesh->name[0] != NULL;
  dt_buf_add(b, named ? "" : "dims ");
  for (int i = 0; i < r->n; i++) {
    dt_buf_add(b, i > 0 ? ", " : "");
    if (named)
      dt_buf_addf(b, "\"%s\"", mesh->name[r->mdims[i]]);
    else
      dt_buf_addf(b, "%d", r->mdims[i]);
  }
  if (!named) {
    dt_buf_add(b, " of ");
    dt_mesh_repr(mesh, b);
  }
}

static void add_warning (DtBuf *b, const Run *r, Why why) {
  const char *kind = dt_step_kind(r->s[0].src, r->s[0].dst);
  uint64_t h = dt_hash_u64(r->plan->src->mesh->hash, (uint64_t)why);
  for (int i = 0; i < r->n; i++)
    h = dt_hash_u64(h, (uint64_t)r->mdims[i]);
  if (r->plan->nwarn < DT_MAX_MDIM)
    r->plan->warn_key[r->plan->nwarn++] = h;
  dt_buf_add(b, b->len > 0 ? "\nWhile redistributing from "
                           : "While redistributing from ");
  add_reprs(b, r->plan->src);
  dt_buf_add(b, " to ");
  add_reprs(b, r->plan->dst);
  dt_buf_addf(b, ", %d sequential %s operations will be performed. This is "
              "suboptimal: multiple collective operations have higher latency "
              "(separate kernel launches and synchronization points) and may "
              "give inconsistent results between ranks due to different "
              "reduction orders. ", r->n, kind);
  if (why == NO_MESH) {
    dt_buf_add(b, "To optimize, flatten mesh dimensions [");
    add_dims(b, r);
    dt_buf_add(b, "] so DTensor can use a single operation instead.");
  }
  else if (why == UNEVEN)
    dt_buf_add(b, "(' Unfortunately, because the tensor dimension is not "
               "evenly divisible by the product of the mesh dim sizes that "
               "would need to be flattened for the optimization to work, it "
               "can not be optimized.',)");
  else
    dt_buf_addf(b, "it is not possible to merge non-ascending order %s "
                "operations.", kind);
}

/* }==== A plan ==== */

static void one_run (DtPlan *plan, const DtStep *s, int n, DtStep *out,
                     int *nout, DtBuf *warning) {
  DtMesh *flat = NULL;
  Why why = NO_MESH;
  Run r;
  if (n >= 2) {
    run_init(&r, plan, s, n);
    why = judge_run(&r, &flat);
  }
  if (why == MERGE) {
    merge_run(&r, flat, &out[(*nout)++]);
    return;
  }
  for (int i = 0; i < n; i++)
    out[(*nout)++] = s[i];
  if (n >= 2)
    add_warning(warning, &r, why);
}

/* Runs of equal steps along mesh dims for which a flattened mesh exists become
** one step; why a run did not is a warning, worded as PyTorch words it. */
DtStatus dt_plan_flatten (DtCtx *cx, DtPlan *plan) {
  const DtMeshFlat *f = dt_mesh_root(plan->src->mesh)->flat;
  DtStatus st = DT_OK;
  DtBuf warning;
  int n = 0;
  plan->raw = plan->steps;
  plan->nraw = plan->nsteps;
  plan->nflat = f != NULL ? f->n : 0;
  if (plan->nsteps < 2)
    return DT_OK;
  dt_buf_init(&warning, cx);
  DtStep *out = DT_NEWN(cx, DtStep, plan->nsteps);
  if (out == NULL)
    return DT_E_NOMEM;
  for (int i = 0, j; i < plan->nraw; i = j) {
    const DtStep *s = &plan->raw[i];
    j = i + 1;
    while (is_mergeable(s) && j < plan->nraw && is_mergeable(&plan->raw[j]) &&
           are_alike(&plan->raw[j], s))
      j++;
    one_run(plan, s, j - i, out, &n, &warning);
  }
  plan->steps = out;
  plan->nsteps = n;
  st = dt_buf_ok(&warning);
  if (st == DT_OK && warning.len > 0) {
    plan->warning = dt_strdup(cx, dt_buf_str(&warning));
    st = plan->warning == NULL ? DT_E_NOMEM : DT_OK;
  }
  dt_buf_fini(&warning);
  return st;
}

/* }==== */
