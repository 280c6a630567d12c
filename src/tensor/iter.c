/* SPDX-License-Identifier: MIT
** tensor/iter.c: walk several operands of one shape.
**
** The dims are put in an order that suits operand 0 (then the others), those
** of size 1 dropped, and neighbours that every operand can walk as one are
** merged.  What is left of a contiguous tensor is one inner loop. */

#include "base/sat.h"
#include "tensor/iter.h"

/* Should dim x be walked inside dim y?  The first operand that has a
** preference decides. */
static bool is_inner (const DtIter *it, int x, int y) {
  for (int i = 0; i < it->nops; i++) {
    int64_t sx = it->stride[i][x], sy = it->stride[i][y];
    if (sx == 0 || sy == 0) continue;   /* broadcast: no preference */
    if (sx != sy) return sx < sy;
    if (it->shape[x] != it->shape[y]) return it->shape[x] < it->shape[y];
  }
  return false;
}

static void swap_dims (DtIter *it, int x, int y) {
  int64_t t = it->shape[x];
  it->shape[x] = it->shape[y];
  it->shape[y] = t;
  for (int i = 0; i < it->nops; i++) {
    t = it->stride[i][x];
    it->stride[i][x] = it->stride[i][y];
    it->stride[i][y] = t;
  }
}

/* Innermost dim first, by insertion: few dims, mostly sorted.  Not qsort:
** is_inner is no total order, as a broadcast operand has no preference, and
** equal dims must stay where they are. */
static void sort_dims (DtIter *it) {
  for (int d = 1; d < it->ndim; d++)
    for (int k = d; k > 0 && is_inner(it, k, k - 1); k--)
      swap_dims(it, k, k - 1);
}

static bool can_merge (const DtIter *it, int in, int out) {
  for (int i = 0; i < it->nops; i++)
    if (it->stride[i][out] != dt_sat_mul(it->stride[i][in], it->shape[in]))
      return false;
  return true;
}

static void merge_dims (DtIter *it) {
  int k = 0;                            /* last kept dim */
  for (int d = 1; d < it->ndim; d++) {
    if (can_merge(it, k, d)) {
      it->shape[k] *= it->shape[d];
      continue;
    }
    k++;
    it->shape[k] = it->shape[d];
    for (int i = 0; i < it->nops; i++) it->stride[i][k] = it->stride[i][d];
  }
  if (it->ndim > 0) it->ndim = k + 1;
}

/* Operand 0 gives the shape; the others are broadcast to it by strides of 0,
** and nobody checks here that they can be. */
void dt_iter_init (DtIter *it, int nops, const DtMeta *const *metas,
                   void *const *data) {
  const DtMeta *m0 = metas[0];
  it->nops = nops;
  it->ndim = 0;
  it->done = dt_meta_numel(m0) == 0;
  for (int d = m0->ndim - 1; d >= 0; d--) {     /* innermost first */
    if (m0->shape[d] == 1) continue;
    int k = it->ndim++;
    it->shape[k] = m0->shape[d];
    for (int i = 0; i < nops; i++) {
      int at = metas[i]->ndim - (m0->ndim - d);
      bool walks = at >= 0 && metas[i]->shape[at] != 1;
      int64_t es = (int64_t)dt_dtype_size((DtDtype)metas[i]->dtype);
      it->stride[i][k] = walks ? dt_sat_mul(metas[i]->stride[at], es) : 0;
    }
  }
  sort_dims(it);
  merge_dims(it);
  it->n = it->ndim > 0 ? it->shape[0] : 1;
  for (int i = 0; i < nops; i++) {
    it->ptr[i] = data[i];
    it->inner[i] = it->ndim > 0 ? it->stride[i][0] : 0;
  }
  for (int d = 0; d < it->ndim; d++) it->count[d] = 0;
}

void dt_iter_next (DtIter *it) {
  for (int d = 1; d < it->ndim; d++) {
    it->count[d]++;
    for (int i = 0; i < it->nops; i++) it->ptr[i] += it->stride[i][d];
    if (it->count[d] < it->shape[d]) return;
    it->count[d] = 0;
    for (int i = 0; i < it->nops; i++)
      it->ptr[i] -= it->stride[i][d] * it->shape[d];
  }
  it->done = true;
}
