/* SPDX-License-Identifier: MIT
** shard/cost.c: what collectives and redistributions cost, in microseconds.
**
** Strategy selection compares these numbers exactly, so every formula keeps
** PyTorch's order of floating point operations.  The common case (default
** orders, no _StridedShard) plans greedily on the stack and allocates
** nothing.  Facts: _collective_utils.py, PyTorch 2.13. */
#include <math.h>
#include "shard/plan_int.h"

void dt_topo_default (DtTopo *t) {
  t->devices_per_host = 1;
  t->bandwidth = 87.7;
  t->latency = 0.6;
  t->inter_bandwidth_factor = 0.22;
  t->inter_latency = 2.7;
}

static double ring_cost (double gb, int64_t hops, int64_t n, double bw,
                         double lat) {
  double latency = 6.6 + (double)hops * lat;
  return latency + gb * (double)hops / (double)n / bw * 1e6;
}

double dt_cost_allgather (double gb, int64_t n, double bw, double lat) {
  return ring_cost(gb, n - 1, n, bw, lat);
}

double dt_cost_allreduce (double gb, int64_t n, double bw, double lat) {
  return ring_cost(gb, 2 * (n - 1), n, bw, lat);
}

double dt_cost_reduce_scatter (double gb, int64_t n, double bw, double lat) {
  return ring_cost(gb, n - 1, n, bw, lat);
}

void dt_links_make (const DtTopo *t, const DtMesh *mesh, DtLinks *out) {
  int64_t total = 1;
  for (int m = mesh->ndim - 1; m >= 0; m--) {
    total *= mesh->shape[m];
    bool inter = total > t->devices_per_host;
    out->bw[m] = inter ? t->bandwidth * t->inter_bandwidth_factor
                       : t->bandwidth;
    out->lat[m] = inter ? t->inter_latency : t->latency;
  }
}

double dt_cost_move (const DtLinks *l, const DtMesh *mesh, int mdim,
                     DtPlacement src, DtPlacement dst, double *gb) {
  double cost, n = (double)mesh->shape[mdim];
  int64_t ni = mesh->shape[mdim];
  if (dt_pl_equal(src, dst))
    return 0.0;
  if (dt_pl_is_shard(src)) {
    if (dt_pl_is_replicate(dst)) {
      *gb *= n;
      return dt_cost_allgather(*gb, ni, l->bw[mdim], l->lat[mdim]);
    }
    if (dt_pl_is_shard(dst))
      return dt_cost_allgather(*gb, ni, l->bw[mdim], l->lat[mdim]) + 1.0;
    return dt_pl_is_partial(dst) ? INFINITY : 0.0;
  }
  if (dt_pl_is_partial(src)) {
    if (dt_pl_is_replicate(dst))
      return dt_cost_allreduce(*gb, ni, l->bw[mdim], l->lat[mdim]);
    if (dt_pl_is_shard(dst)) {
      cost = dt_cost_reduce_scatter(*gb, ni, l->bw[mdim], l->lat[mdim]);
      *gb /= n;
      return cost;
    }
    return dt_pl_is_partial(dst) ? INFINITY : 0.0;
  }
  if (dt_pl_is_replicate(src) && dt_pl_is_shard(dst))
    *gb /= n;
  return 0.0;
}

double dt_cost_local_gb (const DtSpec *s) {
  double bytes = (double)dt_meta_nbytes(&s->meta);
  return bytes / (double)dt_spec_num_shards(s) / 1024 / 1024 / 1024;
}

double dt_cost_steps (const DtTopo *t, const DtSpec *src, int n,
                      const DtStep *steps) {
  DtLinks l;
  double gb = dt_cost_local_gb(src), sum = 0.0;
  dt_links_make(t, src->mesh, &l);
  for (int i = 0; i < n; i++) {
    double c = dt_cost_move(&l, src->mesh, steps[i].mdim, steps[i].src,
                            steps[i].dst, &gb);
    if (isinf(c))
      return INFINITY;
    sum += c;
  }
  return sum;
}

/* The greedy plan's cost, nothing allocated. */
static DtStatus greedy_cost (DtCtx *cx, const DtTopo *t, const DtSpec *cur,
                             const DtSpec *tgt, double *out) {
  DtMove moves[DT_MAX_GREEDY];
  DtLinks l;
  double gb, sum = 0.0;
  int n = 0;
  DT_TRY(cx, dt_greedy_moves(cx, cur, tgt, moves, &n));
  gb = dt_cost_local_gb(cur);
  dt_links_make(t, cur->mesh, &l);
  for (int i = 0; i < n; i++) {
    double c = dt_cost_move(&l, cur->mesh, moves[i].mdim, moves[i].src,
                            moves[i].dst, &gb);
    if (isinf(c)) {
      sum = INFINITY;
      break;
    }
    sum += c;
  }
  *out = sum;
  return DT_OK;
}

/* The cases that need no plan; true when *out is set. */
static bool easy_cost (const DtSpec *cur, const DtSpec *tgt, double *out) {
  if (!dt_mesh_equal(cur->mesh, tgt->mesh))
    *out = INFINITY;
  else if (dt_spec_is_replicated(cur))
    *out = 0.0;
  else if (cur->npl == tgt->npl && dt_pls_equal(cur->pl, tgt->pl, cur->npl) &&
           dt_spec_same_order(cur, tgt))
    *out = 0.0;
  else if (!cur->mesh->member)
    *out = 0.0;
  else if ((!cur->default_order && cur->order == NULL) ||
           (!tgt->default_order && tgt->order == NULL))
    *out = INFINITY;
  else
    return false;
  return true;
}

DtStatus dt_cost_redistribute (DtCtx *cx, DtPlanner *pl, const DtTopo *t,
                               const DtSpec *cur, const DtSpec *tgt,
                               double *out) {
  DtPlan *plan = NULL;
  if (easy_cost(cur, tgt, out))
    return DT_OK;
  DT_CHECK(cx, cur->has_meta, DT_E_ASSERT,
           "spec should have tensor meta defined!");
  if (!dt_plan_needs_graph(cur, tgt) &&
      dt_planner_mode(pl) != DT_PLAN_GRAPH)
    return greedy_cost(cx, t, cur, tgt, out);
  DT_TRY(cx, dt_plan_search(cx, pl, cur, tgt, DT_PLAN_AUTO, &plan));
  *out = dt_cost_steps(t, cur, plan->nraw, plan->raw);
  dt_plan_unref(cx, plan);
  return DT_OK;
}

DtStatus dt_cost_one_step (DtCtx *cx, const DtTopo *t, const DtSpec *cur,
                           const DtSpec *tgt, double *out) {
  DtLinks l;
  int at = -1, n = cur->npl < tgt->npl ? cur->npl : tgt->npl;
  if (!dt_mesh_equal(cur->mesh, tgt->mesh)) {
    *out = INFINITY;
    return DT_OK;
  }
  for (int m = 0; m < n; m++)
    if (!dt_pl_equal(cur->pl[m], tgt->pl[m])) {
      DT_CHECK(cx, at < 0, DT_E_VALUE, "one_step_redistribute_cost expects "
               "specs that differ by exactly one placement");
      at = m;
    }
  if (at < 0) {
    *out = 0.0;
    return DT_OK;
  }
  DT_CHECK(cx, cur->has_meta, DT_E_VALUE, "tensor_meta is not set");
  double gb = dt_cost_local_gb(cur);
  dt_links_make(t, cur->mesh, &l);
  *out = dt_cost_move(&l, cur->mesh, at, cur->pl[at], tgt->pl[at], &gb);
  return DT_OK;
}
