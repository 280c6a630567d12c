/* SPDX-License-Identifier: MIT
** shard/plan_greedy.c: the greedy planner, and steps that carry shapes.
**
** Two passes over the mesh dims: from the last to the first undo what is
** nested wrongly (a shard whose outer shards of the same tensor dim differ
** between source and target must go through Replicate), then from the first
** to the last do what is left.  It does not look at costs and does not see
** _StridedShard as nesting; that is PyTorch's behaviour.
** Facts: _redistribute.py, PyTorch 2.13. */
#include <string.h>
#include "mesh/layout.h"
#include "shard/plan_int.h"

/* Mesh dims below m that shard tensor dim d, as a bit set. */
static uint32_t outer_shards (const DtPlacement *pl, int m, int d) {
  uint32_t set = 0;
  for (int i = 0; i < m; i++)
    if (dt_pl_is_shard(pl[i]) && pl[i].dim == d)
      set |= UINT32_C(1) << i;
  return set;
}

static void add_move (DtMove *moves, int *n, int m, DtPlacement *cur,
                      DtPlacement dst) {
  moves[*n].mdim = m;
  moves[*n].src = *cur;
  moves[*n].dst = dst;
  (*n)++;
  *cur = dst;
}

DtStatus dt_greedy_moves (DtCtx *cx, const DtSpec *src, const DtSpec *dst,
                          DtMove *moves, int *n) {
  DtPlacement cur[DT_MAX_MDIM];
  int k = 0, both = src->npl < dst->npl ? src->npl : dst->npl;
  DT_CHECK(cx, src->mesh->ndim != 1 || both > 0, DT_E_INDEX,
           "tuple index out of range");
  if (src->mesh->ndim == 1) {
    DtPlacement first = src->pl[0];
    if (!dt_pl_equal(first, dst->pl[0]))
      add_move(moves, &k, 0, &first, dst->pl[0]);
    *n = k;
    return DT_OK;
  }
  DT_CHECK(cx, src->npl <= src->mesh->ndim, DT_E_INDEX,
           "tuple index out of range");
  for (int m = 0; m < src->npl; m++)
    cur[m] = src->pl[m];
  if (dt_spec_num_shards(src) > 1) {
    DT_CHECK(cx, dst->npl >= src->npl, DT_E_INDEX,
             "list index out of range");
    for (int m = src->npl - 1; m >= 0; m--) {
      DtPlacement to = dst->pl[m];
      if (dt_pl_is_shard(to) && outer_shards(cur, m, to.dim) !=
                                outer_shards(dst->pl, m, to.dim))
        to = dt_pl_replicate();
      if (!dt_pl_equal(cur[m], to))
        add_move(moves, &k, m, &cur[m], to);
    }
  }
  for (int m = 0; m < both; m++)
    if (!dt_pl_equal(cur[m], dst->pl[m]))
      add_move(moves, &k, m, &cur[m], dst->pl[m]);
  *n = k;
  return DT_OK;
}

DtStatus dt_greedy_shapes (DtCtx *cx, const DtSpec *src,
                           int64_t shape[][DT_MAX_NDIM]) {
  const DtMesh *mesh = src->mesh;
  size_t bytes = src->meta.ndim * sizeof shape[0][0];
  memcpy(shape[0], src->meta.shape, bytes);
  if (mesh->ndim == 1)
    return DT_OK;
  for (int m = 0; m + 1 < DT_MAX_MDIM && m < src->npl; m++) {
    int64_t off;
    int d = src->pl[m].dim;
    memcpy(shape[m + 1], shape[m], bytes);
    if (!dt_pl_is_shard(src->pl[m]) || m >= mesh->ndim - 1)
      continue;
    DT_CHECK(cx, d >= 0 && d < src->meta.ndim, DT_E_INDEX,
             "list index out of range");
    dt_shard_size(shape[m][d], mesh->shape[m], mesh->coord[m],
                  &shape[m + 1][d], &off);
  }
  return DT_OK;
}

/* Mesh dims from left to right, nested shards unwound from the inside first
** (dt_greedy_moves); each step has the logical shape on its mesh dim. */
DtStatus dt_plan_greedy (DtCtx *cx, DtPlan *plan) {
  DtMove moves[DT_MAX_GREEDY];
  int64_t shape[DT_MAX_MDIM][DT_MAX_NDIM];
  int n = 0, ndim = plan->src->meta.ndim;
  DT_TRY(cx, dt_greedy_moves(cx, plan->src, plan->dst, moves, &n));
  DT_TRY(cx, dt_greedy_shapes(cx, plan->src, shape));
  DtStep *steps = DT_NEWN(cx, DtStep, n);
  if (steps == NULL)
    return DT_E_NOMEM;
  for (int i = 0; i < n; i++) {
    steps[i].mdim = moves[i].mdim;
    steps[i].src = moves[i].src;
    steps[i].dst = moves[i].dst;
    steps[i].ndim = ndim;
    memcpy(steps[i].lshape, shape[moves[i].mdim],
           (size_t)ndim * sizeof shape[0][0]);
    steps[i].scale = 1.0;
  }
  plan->steps = steps;
  plan->nsteps = n;
  return DT_OK;
}
