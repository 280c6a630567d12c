/* SPDX-License-Identifier: MIT
** shard/plan.h: the steps that turn one spec into another: greedy, graph
** search, flattening (_redistribute.py, 2.13).  Pure: plans are executed by
** engine/redist.c. */
#ifndef DT_SHARD_PLAN_H
#define DT_SHARD_PLAN_H

#include "shard/cost.h"

typedef struct DtStep {
  int mdim;                     /* mesh dim; -1 for a flattened step */
  DtPlacement src, dst;
  int64_t lshape[DT_MAX_NDIM];  /* logical shape this step pads against */
  int ndim;
  DtMesh *flat;                 /* flattened mesh of the step (owned) or NULL */
  int nflat; int flat_mdims[DT_MAX_MDIM];
  double scale;                 /* divide after (mixed sum/avg); 1 = none */
} DtStep;

typedef struct DtPlan {
  int64_t refs;
  int nsteps;
  bool graph;                   /* which planner made it */
  DtSpec *src, *dst;            /* owned */
  char *warning;                /* texts PyTorch warns with, one a line, or
                                ** NULL; see dt_planner_warning() */
  DtStep *steps;
  bool undecodable;             /* a _StridedShard was no shard order: greedy
                                ** after all */
  int nraw;                     /* steps before merging; raw == steps when */
  DtStep *raw;                  /* nothing was merged */
  double cost;                  /* of the raw steps, as redistribute_cost */
  int nflat;                    /* flattened meshes the root had then */
  int nwarn; uint64_t warn_key[DT_MAX_MDIM];
} DtPlan;

typedef enum DtPlanMode {
  DT_PLAN_AUTO,                 /* as PyTorch chooses */
  DT_PLAN_GREEDY, DT_PLAN_GRAPH
} DtPlanMode;

/* Planner with its cache; owned by a session, which frees it before its
** context.  `topo` NULL = the defaults.  NOMEM.  Local. */
DtStatus dt_planner_new (DtCtx *cx, const DtTopo *topo, DtPlanner **out);
void dt_planner_free (DtCtx *cx, DtPlanner *p);
/* Forget cached plans.  Local. */
void dt_planner_clear (DtCtx *cx, DtPlanner *p);
/* The topology it was made with.  Pure. */
const DtTopo *dt_planner_topo (const DtPlanner *p);
/* use_min_cost_redistribution_plan: what DT_PLAN_AUTO means from now on (AUTO
** = PyTorch's default).  As there it wins over an explicit mode, but not over
** specs that need the graph.  Local. */
void dt_planner_set_mode (DtPlanner *p, DtPlanMode mode);
/* May plans turn Shard into the Partial(sum) of their target, as releases since
** 2.14 do?  Cached plans are forgotten.  Local. */
void dt_planner_shard_to_sum (DtCtx *cx, DtPlanner *p, bool on);
/* That mode; AUTO for NULL.  Pure. */
DtPlanMode dt_planner_mode (const DtPlanner *p);

/* Plan `src` -> `dst`.  Steps follow this rank's coordinate (uneven shapes).
** The plan belongs to the caller: dt_plan_unref().  SPEC when the meshes
** differ, NOPLAN, VALUE for mixed partials.  Pure but for the cache. */
DtStatus dt_plan_new (DtCtx *cx, DtPlanner *p, const DtSpec *src,
                      const DtSpec *dst, DtPlanMode mode, DtPlan **out);
/* The same without the check of mixed partials, which PyTorch makes before it
** executes and not when it only plans.  `p` may be NULL (default topology, no
** cache).  Pure but for the cache. */
DtStatus dt_plan_search (DtCtx *cx, DtPlanner *p, const DtSpec *src,
                         const DtSpec *dst, DtPlanMode mode, DtPlan **out);
/* The plan's warning the first time this planner sees it for these mesh dims,
** NULL afterwards.  The text belongs to the plan.  Local. */
const char *dt_planner_warning (DtCtx *cx, DtPlanner *p, const DtPlan *plan);
/* "all_gather", "all_reduce", "reduce_scatter", "all_to_all" or "local".
** Pure. */
const char *dt_step_kind (DtPlacement src, DtPlacement dst);
DtPlan *dt_plan_ref (DtPlan *p);
void dt_plan_unref (DtCtx *cx, DtPlan *p);
/* redistribute_cost along this plan's steps, as PyTorch before merging;
** INFINITY when a step is impossible.  Pure. */
double dt_plan_cost (const DtPlanner *p, const DtPlan *plan);
/* Bytes this rank sends into collectives ("bytes_in" of captured plans),
** summed.  Pure. */
int64_t dt_plan_bytes (const DtPlan *plan);
/* "S(0)R->RR", "-->" for flattened steps: DebugMode's trace.  Pure. */
void dt_plan_print (const DtPlan *plan, DtBuf *b);

#endif
