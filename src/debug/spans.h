/* SPDX-License-Identifier: MIT
** debug/spans.h: when things happened: the events that begin and end, with
** their times, for timelines.  The record (record.h) says what they did. */
#ifndef DT_DEBUG_SPANS_H
#define DT_DEBUG_SPANS_H

#include "debug/debug.h"

typedef enum DtSpanKind {
  DT_SPAN_FUNC, DT_SPAN_OP, DT_SPAN_REDIST, DT_SPAN_COLL, DT_SPAN_BACKWARD,
  DT_SPAN_MODULE, DT_NSPANS
} DtSpanKind;

typedef struct DtSpan {
  double t0, t1;                /* seconds of the monotonic clock; t1 < t0
                                ** while it runs */
  int64_t seq, bytes;
  const char *name;             /* interned or static */
  const char *mdim;             /* collectives: "tp", else "" */
  const char *file; int line;
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

/* As lines of text, one a span, the last `max`, to be sent to other ranks;
** and back: those of one rank, whose strings belong to the arena.  NOMEM.
** Local. */
void dt_spans_write (const DtSpans *p, int max, DtBuf *out);
DtStatus dt_spans_read (DtCtx *cx, DtArena *a, const char *text, DtSpan **v,
                        int *n);

#endif
