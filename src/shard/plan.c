/* SPDX-License-Identifier: MIT
** shard/plan.c: plans: which planner, the cache, life time, cost, bytes and
** the trace line.
**
** Nothing is executed here.  A cached plan is reused by pointer; it is made
** again when its mesh's root has got new flattened meshes since, because they
** change how steps merge.  Facts: _redistribute.py, PyTorch 2.13. */
#include <math.h>
#include <string.h>
#include "base/error_shard.h"
#include "base/hash.h"
#include "base/sat.h"
#include "mesh/layout.h"
#include "shard/plan_int.h"

enum { MAX_PLANS = 4096, MAX_WARNED = 4096 };

struct DtPlanner {
  DtTopo topo;
  DtPlanMode mode;
  bool to_sum;                  /* see dt_planner_shard_to_sum() */
  DtMap plans;                  /* DtPlan to itself, by source and target */
  uint64_t warned[MAX_WARNED];
  int nwarned;
};

/* {==== Planner ==== */

/* Plans are their own keys.  The mode is part of the hash only through
** `graph`: a graph plan where greedy would do is another plan. */
static bool same_request (const void *a, const void *b) {
  const DtPlan *x = a, *y = b;
  return x->graph == y->graph &&
         x->src->strided_is_order == y->src->strided_is_order &&
         x->dst->strided_is_order == y->dst->strided_is_order &&
         dt_spec_equal(x->src, y->src) && dt_spec_equal(x->dst, y->dst);
}

DtStatus dt_planner_new (DtCtx *cx, const DtTopo *topo, DtPlanner **out) {
  DtPlanner *p = DT_NEW(cx, DtPlanner);
  if (p == NULL)
    return DT_E_NOMEM;
  if (topo != NULL)
    p->topo = *topo;
  else
    dt_topo_default(&p->topo);
  dt_map_init(&p->plans, cx, same_request);
  *out = p;
  return DT_OK;
}

void dt_planner_clear (DtCtx *cx, DtPlanner *p) {
  DtMapEntry *e;
  int32_t it = 0;
  while ((e = dt_map_next(&p->plans, &it)) != NULL)
    dt_plan_unref(cx, e->value);
  dt_map_clear(&p->plans);
}

void dt_planner_free (DtCtx *cx, DtPlanner *p) {
  if (p == NULL)
    return;
  dt_planner_clear(cx, p);
  dt_map_fini(&p->plans);
  dt_free(cx, p);
}

const DtTopo *dt_planner_topo (const DtPlanner *p) {
  return &p->topo;
}

void dt_planner_set_mode (DtPlanner *p, DtPlanMode mode) {
  p->mode = mode;
}

void dt_planner_shard_to_sum (DtCtx *cx, DtPlanner *p, bool on) {
  if (p->to_sum != on) dt_planner_clear(cx, p);
  p->to_sum = on;
}

DtPlanMode dt_planner_mode (const DtPlanner *p) {
  return p != NULL ? p->mode : DT_PLAN_AUTO;
}

const char *dt_planner_warning (DtCtx *cx, DtPlanner *p, const DtPlan *plan) {
  bool fresh = false;
  (void)cx;
  for (int i = 0; i < plan->nwarn; i++) {
    int k = 0;
    while (k < p->nwarned && p->warned[k] != plan->warn_key[i])
      k++;
    if (k < p->nwarned || k == MAX_WARNED)
      continue;
    p->warned[p->nwarned++] = plan->warn_key[i];
    fresh = true;
  }
  return fresh ? plan->warning : NULL;
}

/* }==== Plans ==== */

DtPlan *dt_plan_ref (DtPlan *p) {
  if (p != NULL)
    p->refs++;
  return p;
}

void dt_plan_unref (DtCtx *cx, DtPlan *p) {
  if (p == NULL || --p->refs > 0)
    return;
  for (int i = 0; i < p->nsteps; i++)
    dt_mesh_unref(cx, p->steps[i].flat);
  if (p->raw != p->steps)
    dt_free(cx, p->raw);
  dt_free(cx, p->steps);
  dt_free(cx, p->warning);
  dt_spec_unref(cx, p->src);
  dt_spec_unref(cx, p->dst);
  dt_free(cx, p);
}

bool dt_plan_needs_graph (const DtSpec *src, const DtSpec *dst) {
  return !src->default_order || !dst->default_order ||
         dt_spec_has_strided(src) || dt_spec_has_strided(dst);
}

static DtStatus plan_make (DtCtx *cx, const DtTopo *t, const DtSpec *src,
                           const DtSpec *dst, bool graph, bool to_sum,
                           DtPlan **out) {
  DtStatus st = DT_OK;
  bool decoded = false;
  DtPlan *plan = DT_NEW(cx, DtPlan);
  if (plan == NULL)
    return DT_E_NOMEM;
  plan->refs = 1;
  plan->graph = graph;
  plan->src = dt_spec_ref(src);
  plan->dst = dt_spec_ref(dst);
  if (src->mesh->member) {      /* others have nothing to do */
    if (graph)
      DT_TRYG(cx, dt_plan_graph(cx, t, plan, to_sum, &decoded));
    plan->undecodable = graph && !decoded;
    if (!decoded)
      DT_TRYG(cx, dt_plan_greedy(cx, plan));
  }
  plan->raw = plan->steps;
  plan->nraw = plan->nsteps;
  plan->cost = dt_cost_steps(t, src, plan->nsteps, plan->steps);
  DT_TRYG(cx, dt_plan_flatten(cx, plan));
  *out = plan;
  return DT_OK;
done:
  dt_plan_unref(cx, plan);
  return st;
}

static uint64_t request_hash (const DtSpec *src, const DtSpec *dst,
                              bool graph) {
  uint64_t h = dt_hash_u64(src->hash, dst->hash);
  return dt_hash_u64(h, (uint64_t)((graph ? 1 : 0) +
                                   (src->strided_is_order ? 2 : 0) +
                                   (dst->strided_is_order ? 4 : 0)));
}

static int flat_count (const DtMesh *m) {
  const DtMeshFlat *f = dt_mesh_root(m)->flat;
  return f != NULL ? f->n : 0;
}

/* A plan of the cache that is still true; stale ones are dropped. */
static DtPlan *find_cached_plan (DtCtx *cx, DtPlanner *p, uint64_t h,
                                 const DtSpec *src, const DtSpec *dst,
                                 bool graph) {
  DtPlan key;
  memset(&key, 0, sizeof key);
  key.graph = graph;
  key.src = (DtSpec *)(uintptr_t)src;   /* looked at only */
  key.dst = (DtSpec *)(uintptr_t)dst;
  DtPlan *plan = dt_map_get(&p->plans, h, &key);
  if (plan == NULL)
    return NULL;
  /* logical shapes follow the rank's coordinate, which meshes that are equal
  ** share within one session */
  if (plan->nflat == flat_count(src->mesh))
    return dt_plan_ref(plan);
  (void)dt_map_del(&p->plans, h, plan);
  dt_plan_unref(cx, plan);
  return NULL;
}

DtStatus dt_plan_search (DtCtx *cx, DtPlanner *p, const DtSpec *src,
                         const DtSpec *dst, DtPlanMode mode, DtPlan **out) {
  DtTopo topo;
  DtPlan *plan = NULL;
  if (!dt_mesh_equal(src->mesh, dst->mesh))
    return dt_raise_as(cx, DT_E_SPEC, "NotImplementedError",
                       "Cross device mesh comm not supported yet!");
  DT_CHECK(cx, src->has_meta, DT_E_ASSERT, "%s", "");
  if (dt_planner_mode(p) != DT_PLAN_AUTO)
    mode = p->mode;
  bool graph = mode == DT_PLAN_GRAPH || dt_plan_needs_graph(src, dst);
  if (p == NULL) {
    dt_topo_default(&topo);
    return plan_make(cx, &topo, src, dst, graph, false, out);
  }
  uint64_t h = request_hash(src, dst, graph);
  plan = find_cached_plan(cx, p, h, src, dst, graph);
  if (plan == NULL) {
    DT_TRY(cx, plan_make(cx, &p->topo, src, dst, graph, p->to_sum, &plan));
    if (dt_map_count(&p->plans) >= MAX_PLANS)
      dt_planner_clear(cx, p);
    DtStatus st = dt_map_put(&p->plans, h, plan, plan);
    if (st != DT_OK) {
      dt_plan_unref(cx, plan);
      return dt_error_frame(cx, st, __func__, __FILE__, __LINE__);
    }
    (void)dt_plan_ref(plan);
  }
  *out = plan;
  return DT_OK;
}

DtStatus dt_plan_new (DtCtx *cx, DtPlanner *p, const DtSpec *src,
                      const DtSpec *dst, DtPlanMode mode, DtPlan **out) {
  if (!dt_mesh_equal(src->mesh, dst->mesh))
    return dt_raise_as(cx, DT_E_SPEC, "NotImplementedError",
                       "Cross device mesh comm not supported yet!");
  DT_TRY(cx, dt_pls_check_partials(cx, src->pl, src->npl));
  DT_TRY(cx, dt_pls_check_partials(cx, dst->pl, dst->npl));
  return dt_plan_search(cx, p, src, dst, mode, out);
}

double dt_plan_cost (const DtPlanner *p, const DtPlan *plan) {
  return p == NULL ? plan->cost
                   : dt_cost_steps(&p->topo, plan->src, plan->nraw,
                                   plan->raw);
}

/* }==== Bytes ==== */

/* Parts and own position of the group a step works on. */
static int64_t step_size (const DtPlan *plan, const DtStep *s,
                          int64_t *coord) {
  if (s->flat == NULL) {
    *coord = plan->src->mesh->coord[s->mdim];
    return plan->src->mesh->shape[s->mdim];
  }
  *coord = s->flat->coord[0];
  return dt_mesh_size(s->flat);
}

static int64_t count_elements (const int64_t *shape, int ndim) {
  int64_t n = 1;
  for (int d = 0; d < ndim; d++)
    n = dt_sat_mul(n, shape[d]);
  return n;
}

static int64_t part_len (DtPlacement p, int64_t size, int64_t n, int64_t r) {
  int64_t len, off;
  if (p.kind == DT_PL_STRIDED)
    dt_strided_size(size, p.u.sf, n, r, &len, &off);
  else
    dt_shard_size(size, n, r, &len, &off);
  return len;
}

/* Elements one step sends; *shape becomes the local shape after it. */
static int64_t step_elements (const DtStep *s, int64_t n, int64_t r,
                              int64_t *shape) {
  int a = s->src.dim, b = s->dst.dim, ndim = s->ndim;
  bool from = dt_pl_is_shard_like(s->src), to = dt_pl_is_shard_like(s->dst);
  int64_t sent = 0;
  if ((from && (a < 0 || a >= ndim)) || (to && (b < 0 || b >= ndim)))
    return 0;
  if (from && dt_pl_is_partial(s->dst)) {       /* zeros around the own part */
    shape[a] = s->lshape[a];
    return 0;
  }
  if (from) {                   /* all ranks send the largest part */
    int64_t whole = s->lshape[a];
    shape[a] = s->src.kind == DT_PL_STRIDED
               ? part_len(s->src, whole, n, 0) : dt_ceil_div(whole, n);
    if (to && dt_pl_is_shard(s->src) && dt_pl_is_shard(s->dst)) {
      if (s->lshape[b] % n != 0) {      /* padded against the logical size */
        shape[b] = dt_sat_mul(dt_ceil_div(s->lshape[b], n), n);
        sent = count_elements(shape, ndim);
        shape[b] = s->lshape[b];
      }
      else
        sent = count_elements(shape, ndim);
    }
    else
      sent = count_elements(shape, ndim);
    shape[a] = whole;
  }
  else if (dt_pl_is_partial(s->src) && to && dt_pl_is_shard(s->dst)) {
    int64_t keep = shape[b];
    shape[b] = dt_sat_mul(dt_ceil_div(keep, n), n);
    sent = count_elements(shape, ndim);
    shape[b] = keep;
  }
  else if (dt_pl_is_partial(s->src))
    sent = count_elements(shape, ndim);
  if (to)
    shape[b] = part_len(s->dst, shape[b], n, r);
  return sent;
}

int64_t dt_plan_bytes (const DtPlan *plan) {
  const DtSpec *s = plan->src;
  int64_t shape[DT_MAX_NDIM], sum = 0, r, len, off;
  if (!s->mesh->member)
    return 0;
  for (int d = 0; d < s->meta.ndim; d++)
    shape[d] = s->meta.shape[d];
  for (int m = 0; m < s->npl && m < s->mesh->ndim; m++) {
    int d = s->pl[m].dim;
    if (!dt_pl_is_shard_like(s->pl[m]) || d < 0 || d >= s->meta.ndim)
      continue;
    len = part_len(s->pl[m], shape[d], s->mesh->shape[m], s->mesh->coord[m]);
    shape[d] = len;
  }
  for (int i = 0; i < plan->nsteps; i++) {
    int64_t n = step_size(plan, &plan->steps[i], &r);
    off = n > 1 ? step_elements(&plan->steps[i], n, r, shape) : 0;
    sum += off;
  }
  return sum * (int64_t)dt_dtype_size((DtDtype)s->meta.dtype);
}

/* }==== Trace ==== */

typedef struct Trace {
  DtPlacement pl[DT_MAX_MDIM];
  DtShardOrder order;
  int npl;
} Trace;

/* Take mesh dim m out of the order of its tensor dim. */
static void order_drop (DtShardOrder *o, int m) {
  for (int i = 0; i < o->n; i++)
    for (int k = 0; k < o->e[i].n; k++)
      if (o->e[i].mdims[k] == m) {
        for (int j = k + 1; j < o->e[i].n; j++)
          o->e[i].mdims[j - 1] = o->e[i].mdims[j];
        o->e[i].n--;
        k--;
      }
}

static void order_append (DtShardOrder *o, int tdim, int m) {
  int i = 0;
  while (i < o->n && o->e[i].tdim != tdim)
    i++;
  if (i == o->n) {
    if (o->n == DT_MAX_MDIM)
      return;
    o->e[o->n].tdim = (int8_t)tdim;
    o->e[o->n++].n = 0;
  }
  if (o->e[i].n < DT_MAX_MDIM)
    o->e[i].mdims[o->e[i].n++] = (int8_t)m;
}

static void trace_step (Trace *t, const DtStep *s) {
  int n = s->flat != NULL ? s->nflat : 1;
  for (int i = 0; i < n; i++) {
    int m = s->flat != NULL ? s->flat_mdims[i] : s->mdim;
    if (m < 0 || m >= t->npl)
      continue;
    order_drop(&t->order, m);
    if (dt_pl_is_shard_like(s->dst))
      order_append(&t->order, s->dst.dim, m);
    t->pl[m] = s->dst;
  }
}

void dt_plan_print (const DtPlan *plan, DtBuf *b) {
  const DtSpec *s = plan->src;
  Trace t;
  t.npl = s->npl;
  if (!s->strided_is_order ||
      !dt_strided_to_order(s->mesh, s->npl, s->pl, t.pl, &t.order)) {
    for (int m = 0; m < s->npl; m++)
      t.pl[m] = s->pl[m];
    if (s->strided_is_order)
      dt_order_default(s->pl, s->npl, &t.order);
    else
      dt_spec_order(s, &t.order);
  }
  dt_order_print(t.pl, t.npl, &t.order, b);
  for (int i = 0; i < plan->nsteps; i++) {
    trace_step(&t, &plan->steps[i]);
    dt_buf_add(b, plan->steps[i].flat != NULL ? "-->" : "->");
    dt_order_print(t.pl, t.npl, &t.order, b);
  }
}

/* }==== */
