/* SPDX-License-Identifier: MIT
** debug/record_int.h: what the record and the debugger that owns it share. */
#ifndef DT_DEBUG_RECORD_INT_H
#define DT_DEBUG_RECORD_INT_H

#include "debug/debug.h"

/* The listener of the session's events (DtListenFn).  Local. */
DtStatus dt_record_hear (void *ud, DtSession *s, const DtEvent *e);
/* A new ring of `cap` operators.  NOMEM.  Local. */
DtStatus dt_record_start (DtDebug *d, int cap);
/* Free what the record holds.  Local. */
void dt_record_stop (DtDebug *d);
/* A call has failed: keep it whole.  Local. */
void dt_debug_failed (DtDebug *d, const DtEvent *e);

#endif
