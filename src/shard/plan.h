/* SPDX-License-Identifier: MIT
** shard/plan.h: the steps that turn one spec into another: greedy, graph
** search, flattening (core.md section 6).  Pure: plans are executed by
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
  char *warning;                /* text PyTorch warns with, or NULL */
  DtStep *steps;
} DtPlan;

typedef enum DtPlanMode {
  DT_PLAN_AUTO,                 /* as PyTorch chooses (core.md 6.1) */
  DT_PLAN_GREEDY, DT_PLAN_GRAPH
} DtPlanMode;

/* Planner with its cache; owned by a session. */
DtStatus dt_planner_new (DtCtx *cx, const DtTopo *topo, DtPlanner **out);
void dt_planner_free (DtCtx *cx, DtPlanner *p);
/* Forget cached plans. */
void dt_planner_clear (DtCtx *cx, DtPlanner *p);
const DtTopo *dt_planner_topo (const DtPlanner *p);

/* Plan `src` -> `dst`.  Steps follow this rank's coordinate (uneven shapes).
** The plan belongs to the caller: dt_plan_unref().  SPEC when the meshes
** differ, NOPLAN, VALUE for mixed partials.  Pure but for the cache. */
DtStatus dt_plan_new (DtCtx *cx, DtPlanner *p, const DtSpec *src,
                      const DtSpec *dst, DtPlanMode mode, DtPlan **out);
DtPlan *dt_plan_ref (DtPlan *p);
void dt_plan_unref (DtCtx *cx, DtPlan *p);
/* Sum of the steps' costs, INFINITY when a step is impossible.  Pure. */
double dt_plan_cost (const DtPlanner *p, const DtPlan *plan);
/* Bytes this rank sends into collectives (FORMAT.md's bytes_in), summed. */
int64_t dt_plan_bytes (const DtPlan *plan);
/* "S(0)R->RR", "-->" for flattened steps: DebugMode's trace.  Pure. */
void dt_plan_print (const DtPlan *plan, DtBuf *b);

#endif
