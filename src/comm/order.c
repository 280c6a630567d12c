/* SPDX-License-Identifier: MIT
** comm/order.c: the one order in which every world reduces.
**
** It is that of the ring by which gloo reduces for PyTorch on CPUs: a buffer is
** cut in as many parts as there are members, and a part goes round from one
** member to the one before it, so that its own member adds last.  A result
** depends on nothing but the inputs, their ranks, and where in the whole buffer
** an element stands: how the work is cut over ranks or tiles does not show.  A
** tile at a time is reduced in a small local buffer, so that the output may be
** one of the inputs and the accumulator stays in the nearest cache. */
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

/* Elements of a part: gloo takes a whole number of segments, two for each member
** and more where they would be larger than 1 MiB. */
static int64_t part_len (int64_t whole, int64_t es, int k) {
  const int64_t most = INT64_C(1) << 20, bytes = whole * es;
  int64_t n = (bytes + most - 1) / most;
  n = n < 2 * k ? 2 * k : (n + k - 1) / k * k;
  return ((bytes + n - 1) / n + es - 1) / es * (n / k);
}

/* `n` elements of part `part` from byte `off` on. */
static void reduce_tile (const DtReduction *r, const Blocks *b, int64_t n,
                         size_t off, int part) {
  _Alignas(64) char acc[TILE];
  size_t nb = (size_t)n * dt_dtype_size(r->dtype);
  memcpy(acc, at(b, (part + b->k - 1) % b->k, off), nb);
  for (int i = 2; i <= b->k; i++)
    dt_k_accumulate(r->op, r->dtype, acc, at(b, (part + b->k - i) % b->k, off),
                    n);
  if (r->op == DT_OP_AVG)
    dt_k_scale_avg(r->dtype, acc, n, b->k);
  memcpy((char *)r->out + off, acc, nb);
}

static void reduce_all (const DtReduction *r, const Blocks *b, DtStretch in) {
  const int64_t es = (int64_t)dt_dtype_size(r->dtype), step = TILE / es;
  const int64_t len = part_len(in.whole, es, b->k);
  for (int64_t i = 0, n; i < r->n; i += n) {
    const int64_t part = (in.from + i) / len;
    const int64_t left = (part + 1) * len - in.from - i;
    n = r->n - i < step ? r->n - i : step;
    n = n < left ? n : left;
    reduce_tile(r, b, n, (size_t)(i * es), (int)part);
  }
}

void dt_order_reduce (const DtReduction *r, size_t stride, int k,
                      DtStretch in) {
  const Blocks b = { .k = k, .first = r->in, .stride = stride };
  reduce_all(r, &b, in);
}

void dt_order_reduce_v (const DtReduction *r, const void *const *blocks,
                        int k, DtStretch in) {
  const Blocks b = { .k = k, .each = blocks };
  reduce_all(r, &b, in);
}
