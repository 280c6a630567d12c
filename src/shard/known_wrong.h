/* SPDX-License-Identifier: MIT
** shard/known_wrong.h: decisions of PyTorch that are known to give wrong data
** (lines "wrong" in the .ops texts of oplib): found when a decision is made, reported by whoever
** listens. */
#ifndef DT_SHARD_KNOWN_WRONG_H
#define DT_SHARD_KNOWN_WRONG_H

#include "shard/prop.h"

typedef enum DtWrongWhen {
  DT_WRONG_ROW, DT_WRONG_UNEVEN, DT_WRONG_MEAN, DT_WRONG_MOVED, DT_WRONG_SELF
} DtWrongWhen;

typedef struct DtKnownWrong {
  const char *op;
  DtWrongWhen when;
  const char *in, *out;         /* cells of one mesh dimension */
  const char *what, *example;
  int until;                    /* the last release that decides so */
} DtKnownWrong;

/* All rows; their number in *n.  Pure. */
const DtKnownWrong *dt_known_wrong_rows (int *n);
/* Has an operator any row?  Pure. */
bool dt_known_wrong_has (const DtOpDef *op);
/* PyTorch's cache takes a number for a 0-dim tensor in its place, and gives it
** the tensor's decision (shard/twin.c).  The row for a call with such a number
** whose outputs were not placed as it would be decided by itself, `own`; NULL:
** no such call, or placed so.  `out` are the placed outputs, NULL where None or
** plain.  Pure. */
const DtKnownWrong *dt_known_wrong_shared (const DtArgs *args,
                                           const DtProp *own, int nout,
                                           const DtSpec *const *out);
/* The row that says this decision about a call with `args` is wrong, or NULL.
** `op` is the operator called (a derived form counts as its base).  Along mesh
** dimensions of one rank nothing is.  Pure. */
const DtKnownWrong *dt_known_wrong_find (DtCtx *cx, const DtOpDef *op,
                                         const DtArgs *args, const DtProp *p);

#endif
