/* SPDX-License-Identifier: MIT
** comm/fault.c: make the n-th collective go wrong, for tests.
**
** The comm's table of members is replaced by a copy in which `agree` is
** ours; it is found again from the table itself, its first field.  All the
** rest of the world stays what it is. */
#include <time.h>
#include "base/error_comm.h"
#include "comm/board_int.h"

typedef struct Faulty {
  DtCommVt vt;                  /* first: c->vt points here */
  const DtCommVt *inner;
  DtFault fault;
  int64_t count;
} Faulty;

static void sleep_ms (int ms) {
  struct timespec t;
  t.tv_sec = ms / 1000;
  t.tv_nsec = (long)(ms % 1000) * 1000000;
  (void)nanosleep(&t, NULL);
}

static DtStatus fault_agree (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                             const DtOffer *o) {
  Faulty *f = (Faulty *)(uintptr_t)g->comm->vt;
  DtOffer mine = *o;
  int kind = DT_FAULT_NONE;
  if (++f->count == f->fault.at &&
      (f->fault.rank < 0 || f->fault.rank == g->comm->rank))
    kind = f->fault.kind;
  if (kind == DT_FAULT_DELAY)
    sleep_ms(f->fault.delay_ms);
  DT_CHECK(cx, kind != DT_FAULT_FAIL, DT_E_COMM,
           "%s failed (injected, collective %lld)", i->op,
           (long long)f->count);
  if (kind == DT_FAULT_MISMATCH)
    mine.hash++;
  if (kind == DT_FAULT_INTERRUPT && dt_comm_interrupt(g->comm) != NULL)
    atomic_store(dt_comm_interrupt(g->comm), 1);
  return f->inner->agree(cx, g, i, &mine);
}

static void fault_close (DtCtx *cx, DtComm *c) {
  Faulty *f = (Faulty *)(uintptr_t)c->vt;
  c->vt = f->inner;
  dt_free(cx, f);
  if (c->vt->close != NULL)
    c->vt->close(cx, c);
}

DtStatus dt_comm_fault (DtCtx *cx, DtComm *c, const DtFault *f) {
  Faulty *n;
  if (c->vt->agree == fault_agree) {    /* there already: arm it again */
    n = (Faulty *)(uintptr_t)c->vt;
    n->fault = *f;
    n->count = 0;
    return DT_OK;
  }
  n = DT_NEW(cx, Faulty);
  if (n == NULL)
    return DT_E_NOMEM;
  n->vt = *c->vt;
  n->vt.agree = fault_agree;
  n->vt.close = fault_close;
  n->inner = c->vt;
  n->fault = *f;
  c->vt = &n->vt;
  return DT_OK;
}
