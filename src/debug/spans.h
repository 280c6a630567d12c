/* SPDX-License-Identifier: MIT
** debug/spans.h: when things happened: the events that begin and end, with
** their times, for timelines.  The record (record.h) says what they did. */
#ifndef DT_DEBUG_SPANS_H
#define DT_DEBUG_SPANS_H

#include "debug/debug.h"

typedef enum DtSpanKind {
  DT_SPAN_FUNC, DT_SPAN_OP, DT_SPAN_REDIST, DT_SPAN_COLL, DT_SPAN_BACKWARD,
  DT_SPAN_MODULE, DT_SPAN_MEMORY, DT_NSPANS
} DtSpanKind;

typedef struct DtSpan {
  double t0, t1;                /* seconds of the monotonic clock; t1 < t0
                                ** while it runs */
  int64_t seq, bytes;
  const char *name;             /* interned or static */
  const char *mdim;             /* collectives: "tp", else "" */
  const char *file; int line;
  uint64_t group;               /* collectives: hash of the ranks; else 0 */
  const char *note;             /* of other ranks: "f32[4]| R -> f32[]| R", of
                                ** MEMORY bytes by kind as JSON; else "" */
  uint8_t kind, depth;
  bool backward, implicit;
} DtSpan;

typedef struct DtSpans {
  DtSession *s;
  DtDebug *d;
  int listener;
  DtSpan *v; int n, cap;
  int64_t dropped;              /* the oldest, when it was full */
  int open[64], nopen;
} DtSpans;

/* Begin to listen; NOMEM.  Local. */
DtStatus dt_spans_new (DtDebug *d, DtSpans **out);
void dt_spans_free (DtSpans *p);
/* "op", "collective", ...  Pure. */
const char *dt_span_kind (DtSpanKind k);

/* As lines of text, one a span, the last `max`, to be sent to other ranks (with
** `notes`, what each took and gave);
** and back: those of one rank, whose strings belong to the arena.  NOMEM.
** Local. */
void dt_spans_write (const DtSpans *p, int max, bool notes, DtBuf *out);
/* A line of MEMORY: bytes by kind (JSON) when operator #seq began, or when it
** had ended; nothing where its time is not known.  `*at` (0 at first) makes the
** search quick where operators come in order.  Local. */
void dt_spans_write_memory (const DtSpans *p, int64_t seq, bool end,
                            const char *json, int *at, DtBuf *out);
DtStatus dt_spans_read (DtCtx *cx, DtArena *a, const char *text, DtSpan **v,
                        int *n);

#endif
