/* SPDX-License-Identifier: MIT
** debug/busy.c: adds up the time between begin and end events.  Of nested
** spans the outermost counts: data that a collective copies is its own. */
#include <string.h>
#include <time.h>

#include "debug/busy.h"
#include "engine/event.h"

double dt_busy_clock (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void close_span (DtBusy *b, double t) {
  if (b->coll) b->collectives += t - b->since;
  else b->kernels += t - b->since;
}

static DtStatus on_event (void *ud, DtSession *s, const DtEvent *e) {
  DtBusy *b = (DtBusy *)ud;
  (void)s;
  if (e->kind == DT_EV_KERNEL || e->kind == DT_EV_COLL) {
    if (b->depth++ > 0) return DT_OK;
    b->coll = e->kind == DT_EV_COLL;
    b->since = dt_busy_clock();
  } else if (b->depth > 0 && --b->depth == 0) {
    close_span(b, dt_busy_clock());
  }
  return DT_OK;
}

DtStatus dt_busy_begin (DtSession *s, DtBusy *b) {
  const uint64_t mask = UINT64_C(1) << DT_EV_KERNEL |
    UINT64_C(1) << DT_EV_KERNEL_END | UINT64_C(1) << DT_EV_COLL |
    UINT64_C(1) << DT_EV_COLL_END;
  memset(b, 0, sizeof *b);
  DT_TRY(s->cx, dt_event_listen(s, mask, on_event, b, &b->listener));
  b->began = dt_busy_clock();
  return DT_OK;
}

void dt_busy_end (DtSession *s, DtBusy *b) {
  double t = dt_busy_clock();
  if (b->depth > 0) close_span(b, t);
  b->wall = t - b->began;
  dt_event_unlisten(s, b->listener);
}
