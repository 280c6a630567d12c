/* SPDX-License-Identifier: MIT
** shard/plan_int.h: what the planners, the cost model and the plan cache
** share.  Private to shard/. */
#ifndef DT_SHARD_PLAN_INT_H
#define DT_SHARD_PLAN_INT_H

#include "base/map.h"
#include "shard/plan.h"

/* A step without its shapes: enough for a cost. */
typedef struct DtMove {
  int mdim;
  DtPlacement src, dst;
} DtMove;
enum { DT_MAX_GREEDY = 2 * DT_MAX_MDIM };

/* The greedy planner; needs no memory.  INDEX when the number of placements
** does not fit (as Python fails).  Pure. */
DtStatus dt_greedy_moves (DtCtx *cx, const DtSpec *src, const DtSpec *dst,
                          DtMove *moves, int *n);
/* Logical shapes of greedy steps: shape[i] is what mesh dim i splits, for
** this rank.  ASSERT when it has no coordinate.  Pure. */
DtStatus dt_greedy_shapes (DtCtx *cx, const DtSpec *src,
                           int64_t shape[][DT_MAX_NDIM]);

/* True when PyTorch needs the graph planner. */
bool dt_plan_needs_graph (const DtSpec *src, const DtSpec *dst);
/* Greedy or graph steps, allocated into plan->steps.  NOPLAN, ASSERT;
** plan_graph's *decoded false (and nothing made) when a _StridedShard is no
** shard order.  `to_sum`: shards may become the target's P(sum).  Pure. */
DtStatus dt_plan_greedy (DtCtx *cx, DtPlan *plan);
DtStatus dt_plan_graph (DtCtx *cx, const DtTopo *t, DtPlan *plan, bool to_sum,
                        bool *decoded);
/* Merge steps where the root has the flattened mesh.  Pure. */
DtStatus dt_plan_flatten (DtCtx *cx, DtPlan *plan);

/* Bandwidth and latency of each mesh dim. */
typedef struct DtLinks {
  double bw[DT_MAX_MDIM], lat[DT_MAX_MDIM];
} DtLinks;
void dt_links_make (const DtTopo *t, const DtMesh *mesh, DtLinks *out);
/* Cost of one placement change on one mesh dim; *gb is what is left to move
** after it.  Pure. */
double dt_cost_move (const DtLinks *l, const DtMesh *mesh, int mdim,
                     DtPlacement src, DtPlacement dst, double *gb);
/* GiB that one rank holds of `s`.  Pure. */
double dt_cost_local_gb (const DtSpec *s);
/* Cost of a list of steps before flattening, INFINITY when impossible. */
double dt_cost_steps (const DtTopo *t, const DtSpec *src, int n,
                      const DtStep *steps);

#endif
