/* SPDX-License-Identifier: MIT
** shard/known.h: decisions of PyTorch that are known to give wrong data
** (known.def): found when a decision is made, reported by whoever listens. */
#ifndef DT_SHARD_KNOWN_H
#define DT_SHARD_KNOWN_H

#include "shard/prop.h"

typedef enum DtKnownWhen {
  DT_KNOWN_ROW, DT_KNOWN_UNEVEN, DT_KNOWN_MOVED
} DtKnownWhen;

typedef struct DtKnown {
  const char *op;
  DtKnownWhen when;
  const char *in, *out;         /* cells of one mesh dimension */
  const char *what, *example;
} DtKnown;

/* All rows; *n tells how many.  Pure. */
const DtKnown *dt_known_rows (int *n);
/* The row that says this decision is wrong, or NULL.  `op` is the operator
** called (a derived form counts as its base).  Pure. */
const DtKnown *dt_known_find (DtCtx *cx, const DtOpDef *op, const DtProp *p);

#endif
