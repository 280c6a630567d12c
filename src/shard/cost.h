/* SPDX-License-Identifier: MIT
** shard/cost.h: cost of collectives and of a redistribution, as PyTorch's
** _collective_utils.py, 2.13.  Pure. */
#ifndef DT_SHARD_COST_H
#define DT_SHARD_COST_H

#include "mesh/spec.h"

/* Input of the cost model; defaults are the reference's for a cpu mesh. */
typedef struct DtTopo {
  int64_t devices_per_host;     /* cpu: 1 */
  double bandwidth, latency;    /* inside a host: 87.7 GB/s, 0.6 us */
  double inter_bandwidth_factor, inter_latency;   /* 0.22, 2.7 */
} DtTopo;
/* The defaults: a cpu mesh, one device a host.  Pure. */
void dt_topo_default (DtTopo *t);

/* Microseconds of one collective over n ranks; `gb` is in GiB.  Pure. */
double dt_cost_allgather (double gb, int64_t n, double bw, double lat);
double dt_cost_allreduce (double gb, int64_t n, double bw, double lat);
double dt_cost_reduce_scatter (double gb, int64_t n, double bw, double lat);

typedef struct DtPlanner DtPlanner;
/* redistribute_cost(cur, tgt): microseconds, INFINITY when impossible.
** `pl` may be NULL (greedy, nothing cached).  Pure but for the plan cache. */
DtStatus dt_cost_redistribute (DtCtx *cx, DtPlanner *pl, const DtTopo *t,
                               const DtSpec *cur, const DtSpec *tgt,
                               double *out);
/* one_step_redistribute_cost: specs differ in one mesh dim.  Pure. */
DtStatus dt_cost_one_step (DtCtx *cx, const DtTopo *t, const DtSpec *cur,
                           const DtSpec *tgt, double *out);

#endif
