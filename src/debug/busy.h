/* SPDX-License-Identifier: MIT
** debug/busy.h: how much of a stretch of work is local arithmetic and how
** much communication (waiting included); the rest is dispatch and Lua. */
#ifndef DT_DEBUG_BUSY_H
#define DT_DEBUG_BUSY_H

#include "engine/session.h"

typedef struct DtBusy {
  double wall, kernels, collectives;    /* seconds; the last two of the first */
  double since, began;
  int depth;                            /* of spans that count */
  bool coll;                            /* the outermost is a collective */
  int listener;
} DtBusy;

/* Seconds of the monotonic clock.  Pure. */
double dt_busy_clock (void);
/* Begin to count; `b` stays where it is until dt_busy_end().  NOMEM.
** Local. */
DtStatus dt_busy_begin (DtSession *s, DtBusy *b);
/* The sums are complete; open spans end now.  Local. */
void dt_busy_end (DtSession *s, DtBusy *b);

#endif
