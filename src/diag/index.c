/* SPDX-License-Identifier: MIT
** diag/index.c: which items of the whole a part has, and which numbers a counted
** tensor has, so that the two can be compared: the first, and a hash of how far
** the others are from it.
**
** A part may be in several pieces (the first and the last of eight, as balanced
** causal attention has them) or every n-th item. */
#include <math.h>
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

enum { MOST = 1 << 14 };        /* items looked at */

static uint64_t run_on (uint64_t h, int64_t from, int64_t n, int64_t step) {
  for (int64_t i = 0; i < n && i < MOST; i++)
    h = dt_hash_u64(h, (uint64_t)(from + i * step));
  return h;
}

uint64_t dt_diag_items_of (const DtPlace *w) {
  if (w->items != 0) return w->items;
  return run_on(DT_HASH_SEED, 0, w->len, w->step > 1 ? w->step : 1) | 1;
}

/* Numbers in one dimension, the others being 1. */
static bool in_a_row (const DtMeta *m, int64_t n) {
  for (int d = 0; d < m->ndim; d++)
    if (m->shape[d] != 1 && m->shape[d] != n) return false;
  return n > 1 && n <= MOST;
}

void dt_diag_items_read (const DtVar *v, DtPlace *w) {
  const DtTensor *t = v->local;
  const int64_t n = dt_meta_numel(&t->m);
  uint64_t h = DT_HASH_SEED;
  int64_t at[DT_MAX_NDIM] = { 0 }, first = 0;
  int dim = 0;
  w->items = 0;
  if (!in_a_row(&t->m, n) || !dt_tensor_has_data(t)) return;
  while (t->m.shape[dim] != n) dim++;
  for (int64_t i = 0; i < n; i++) {
    DtScalar x;
    at[dim] = i;
    x = dt_tensor_get(t, at);
    if (x.re != trunc(x.re) || fabs(x.re) > 1e15) return;
    if (i == 0) first = (int64_t)x.re;
    h = dt_hash_u64(h, (uint64_t)((int64_t)x.re - first));
  }
  w->off = first;
  w->items = h | 1;
}

bool dt_diag_pieces_joined (const DtDiag *g, const DtEvent *e, DtPlace *to) {
  uint64_t h = DT_HASH_SEED, where = DT_HASH_SEED;
  int64_t len = 0;
  for (int i = 0; i < e->nin; i++) {
    const DtPlace *p = dt_diag_place_of(g, e, i, DT_PLACE_PART);
    if (p == NULL || p->of != to->of || p->dim != to->dim || p->items != 0 ||
        p->whole != to->whole || p->first_len > 0) return false;
    h = run_on(h, p->off - to->off, p->len, p->step > 1 ? p->step : 1);
    where = dt_hash_u64(where, (uint64_t)p->off);
    len += p->len;
  }
  if (len >= to->whole) return false;   /* all of it, in another order */
  to->len = len;
  to->where = where | 1;
  to->items = h | 1;            /* also on a rank where they follow each other */
  return true;
}

bool dt_diag_every_nth (const DtTensor *whole, const DtTensor *t, DtPlace *w) {
  int dim = -1;
  if (t->m.ndim != whole->m.ndim) return false;
  for (int d = 0; d < t->m.ndim; d++) {
    if (t->m.shape[d] == whole->m.shape[d] && t->m.stride[d] == whole->m.stride[d])
      continue;
    if (dim >= 0) return false;
    dim = d;
  }
  if (dim < 0 || whole->m.stride[dim] <= 0 || t->m.shape[dim] < 2 ||
      t->m.stride[dim] % whole->m.stride[dim] != 0) return false;
  *w = (DtPlace){ .kind = DT_PLACE_PART, .dim = dim, .len = t->m.shape[dim],
                  .whole = whole->m.shape[dim],
                  .step = t->m.stride[dim] / whole->m.stride[dim],
                  .off = (t->offset - whole->offset) / whole->m.stride[dim] };
  return w->step > 1 && w->off < w->step &&
         w->len == (w->whole - w->off + w->step - 1) / w->step;
}
