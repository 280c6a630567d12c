/* SPDX-License-Identifier: MIT
** repl/stream.h: what ranks print is shown while the chunk runs.
**
** Ranks send whole lines to rank 0 (comm/lane.c), where a thread shows what is
** decided: a line that all ranks have printed; all that was printed before an
** agreement of all ranks that all have passed, or that only the one that printed
** has not; and, so that nobody waits for a
** rank that is far behind, what has lain for a while.  What remains is written
** at the end of the chunk.  Only the last of these depends on the clock: the
** output of a program whose ranks meet now and then is always the same. */
#ifndef DT_REPL_STREAM_H
#define DT_REPL_STREAM_H

#include "engine/world.h"
#include "repl/out.h"

typedef struct DtStream DtStream;

/* Rank 0's end, with its thread; the comm and the output outlive it.  NOMEM;
** without a thread all is shown at the end of the chunk.  Local. */
DtStatus dt_stream_new (DtCtx *cx, DtComm *c, DtOutput *o, DtStream **out);
/* From now on what comes is shown, at first after delay_ms; `raw`: under each
** rank's own name, not folded, rank by rank.  Local. */
void dt_stream_begin (DtStream *s, bool raw, int delay_ms);
/* The chunk has ended, and its ranks have met: all that came in it and then
** text[r], what rank r did not send, is written, and nothing more is shown until
** the next begin.  NULL:
** what was not shown is forgotten.  NOMEM.  Local. */
DtStatus dt_stream_end (DtStream *s, const char *const *text);
/* End the thread; NULL is accepted.  Local. */
void dt_stream_free (DtCtx *cx, DtStream *s);

#endif
