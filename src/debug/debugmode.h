/* SPDX-License-Identifier: MIT
** debug/debugmode.h: events as the lines of PyTorch's DebugMode, so that a
** trace can be laid beside one from PyTorch. */
#ifndef DT_DEBUG_DEBUGMODE_H
#define DT_DEBUG_DEBUGMODE_H

#include "engine/event.h"

typedef struct DtTrace DtTrace;

/* Listen to a session and write lines into a buffer of the trace.  Caller
** frees with dt_trace_free(), which stops listening.  With `torch` collectives,
** lists and defaults are written as PyTorch does, to the letter; a group's name
** is left to the caller: \1, its world ranks with blanks between, \1.  Without
** `outputs` results are not written.  Local. */
DtStatus dt_trace_new (DtSession *s, bool torch, bool outputs, DtTrace **out);
void dt_trace_free (DtSession *s, DtTrace *t);
/* The lines so far.  Local. */
const char *dt_trace_text (const DtTrace *t);

#endif
