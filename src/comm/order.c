/* SPDX-License-Identifier: MIT
** comm/order.c: the one order in which every world reduces.
**
** Block 0 is the start, blocks 1, 2, ... are added one after the other; so a
** result depends on nothing but the inputs and their ranks.  Each element is
** independent of its neighbours: how a buffer is cut over ranks or tiles
** does not show.  A tile at a time is reduced in a small local buffer, so
** that the output may be one of the inputs and the accumulator stays in the
** nearest cache. */
#include <string.h>
#include "comm/comm.h"
#include "comm/board_int.h"

enum { TILE = 8192 };             /* bytes */

/* Where the k blocks lie: each at its own place, or `stride` bytes apart. */
typedef struct Blocks {
  int k;
  const void *const *each;      /* NULL: by stride */
  const char *first;
  size_t stride;
} Blocks;

static const char *at (const Blocks *b, int i, size_t off) {
  const char *p = b->each ? b->each[i] : b->first + (size_t)i * b->stride;
  return p + off;
}

/* `n` elements from byte `off` on. */
static void reduce_tile (const DtReduction *r, const Blocks *b, int64_t n,
                         size_t off) {
  _Alignas(64) char acc[TILE];
  size_t nb = (size_t)n * dt_dtype_size(r->dtype);
  memcpy(acc, at(b, 0, off), nb);
  for (int i = 1; i < b->k; i++)
    dt_k_accumulate(r->op, r->dtype, acc, at(b, i, off), n);
  if (r->op == DT_OP_AVG)
    dt_k_scale_avg(r->dtype, acc, n, b->k);
  memcpy((char *)r->out + off, acc, nb);
}

static void reduce_all (const DtReduction *r, const Blocks *b) {
  size_t es = dt_dtype_size(r->dtype);
  int64_t step = (int64_t)(TILE / es);
  for (int64_t i = 0; i < r->n; i += step)
    reduce_tile(r, b, r->n - i < step ? r->n - i : step, (size_t)i * es);
}

void dt_order_reduce (const DtReduction *r, size_t stride, int k) {
  const Blocks b = { .k = k, .first = r->in, .stride = stride };
  reduce_all(r, &b);
}

void dt_order_reduce_v (const DtReduction *r, const void *const *blocks,
                        int k) {
  const Blocks b = { .k = k, .each = blocks };
  reduce_all(r, &b);
}
