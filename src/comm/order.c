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

static void reduce_tile (DtRedOp op, DtDtype t, int k, int64_t n, void *out,
                         const char *(*at) (const void *, int, size_t),
                         const void *in, size_t off) {
  _Alignas(64) char acc[TILE];
  size_t nb = (size_t)n * dt_dtype_size(t);
  int i;
  memcpy(acc, at(in, 0, off), nb);
  for (i = 1; i < k; i++)
    dt_k_accumulate(op, t, acc, at(in, i, off), n);
  if (op == DT_OP_AVG)
    dt_k_scale_avg(t, acc, n, k);
  memcpy((char *)out + off, acc, nb);
}

static void reduce_all (DtRedOp op, DtDtype t, int k, int64_t n, void *out,
                        const char *(*at) (const void *, int, size_t),
                        const void *in) {
  size_t es = dt_dtype_size(t);
  int64_t step = (int64_t)(TILE / es), i;
  for (i = 0; i < n; i += step)
    reduce_tile(op, t, k, n - i < step ? n - i : step, out, at, in,
                (size_t)i * es);
}

typedef struct Strided { const char *in; size_t stride; } Strided;

static const char *at_stride (const void *in, int i, size_t off) {
  const Strided *s = in;
  return s->in + (size_t)i * s->stride + off;
}

static const char *at_pointer (const void *in, int i, size_t off) {
  return (const char *)((const void *const *)in)[i] + off;
}

void dt_order_reduce (DtRedOp op, DtDtype t, const void *in, size_t stride,
                      int k, void *out, int64_t n) {
  Strided s;
  s.in = in;
  s.stride = stride;
  reduce_all(op, t, k, n, out, at_stride, &s);
}

void dt_order_reduce_v (DtRedOp op, DtDtype t, const void *const *in, int k,
                        void *out, int64_t n) {
  reduce_all(op, t, k, n, out, at_pointer, in);
}
