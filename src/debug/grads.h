/* SPDX-License-Identifier: MIT
** debug/grads.h: which gradients reached which leaves: layouts of both.  Kept
** beside the record, because a gradient is no operator's result. */
#ifndef DT_DEBUG_GRADS_H
#define DT_DEBUG_GRADS_H

#include "debug/debug.h"

/* The last gradient that reached a leaf. */
typedef struct DtGradRow {
  int64_t leaf;                 /* id of the leaf */
  const char *name;             /* its name or NULL; interned */
  bool param;
  DtSpec *spec, *gspec;         /* owned; NULL = plain */
  DtMeta meta, gmeta;
  int64_t storage;              /* of the gradient; DtStorage.id */
  int64_t seq;                  /* operator under way then */
  const char *file; int line;
  int64_t count;                /* how many reached it */
} DtGradRow;

/* A leaf that had no gradient got one: a new tensor, where a later one is
** added to what is there.  `set`: the program did it, or took it away (storage
** 0). */
typedef struct DtGradNew {
  int64_t leaf, storage, seq;
  bool set;
} DtGradNew;

typedef struct DtGradLog DtGradLog;

/* Listen to a debugger's session; the log is d->grads, freed with it.  NOMEM.
** Local. */
DtStatus dt_grads_new (DtDebug *d);
void dt_grads_free (DtDebug *d);
/* The program sets the gradient of a leaf (`g` NULL: takes it away).  Local. */
void dt_grads_set (DtDebug *d, const DtVar *leaf, const DtVar *g);
/* The storage of the gradient that a leaf had just before operator #seq; 0
** when it had none, or that is not known.  Pure. */
int64_t dt_grads_before (const DtDebug *d, int64_t leaf, int64_t seq);
/* Rows in the order in which leaves were first reached; their number in *n.
** Borrowed until the next gradient.  Pure. */
const DtGradRow *dt_grads_rows (const DtDebug *d, int *n);
/* The new gradients in their order, the latest ones at least; *n tells how
** many.  Borrowed until the next gradient.  Pure. */
const DtGradNew *dt_grads_new_ones (const DtDebug *d, int *n);

#endif
