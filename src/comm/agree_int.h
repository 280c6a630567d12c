/* SPDX-License-Identifier: MIT
** comm/agree_int.h: what agreement, the verdict of a chunk, and meetings share.
** agree.c has the whole picture. */
#ifndef DT_COMM_AGREE_INT_H
#define DT_COMM_AGREE_INT_H

#include "comm/board_int.h"

enum { DT_NAP_MS = 10 };        /* the longest sleep in a wait */

static inline DtStatus dt_agree_alive (DtCtx *cx, DtComm *c) {
  if (c->dead)
    return dt_board_lost(cx, c, c->rank);   /* names the first one lost */
  return DT_OK;
}

/* A group counts its agreements from 1 in each epoch. */
static inline uint64_t dt_agree_next_key (DtGroup *g) {
  if (g->epoch != g->comm->epoch) {
    g->epoch = g->comm->epoch;
    g->seq = 0;
  }
  return (uint64_t)g->epoch << 32 | ++g->seq;
}

static inline bool dt_agree_interrupted (DtCtx *cx, const DtComm *c) {
  if (c->calm)
    return false;
  return (cx->interrupt != NULL && atomic_load(cx->interrupt) != 0) ||
         atomic_load(&c->board->interrupt) != 0;
}

/* --- verdict.c --- */

static inline DtStatus dt_verdict_of (const DtComm *c) {
  uint64_t v = atomic_load(&c->board->verdict[c->epoch & 1]);
  return v >> 8 == c->epoch ? (DtStatus)(v & 255) : DT_OK;
}

/* Write the verdict of this chunk, with its words, unless somebody has. */
void dt_verdict_claim (DtCtx *cx, DtComm *c, DtStatus st);
/* Raise what the chunk broke off with.  `again`: this rank has heard it. */
DtStatus dt_verdict_raise (DtCtx *cx, DtComm *c, DtStatus st, bool again);
/* The verdict is claimed; its words follow at once: wait, then raise. */
DtStatus dt_verdict_await (DtCtx *cx, DtGroup *g);

/* --- agree.c --- */

/* Decide for this key unless somebody has; true when it was us. */
bool dt_agree_decide (DtBoardGroup *bg, uint64_t key, bool broken);
/* Fill this member's cell. */
void dt_agree_arrive (DtGroup *g, uint64_t key, const DtOffer *o);
bool dt_agree_all_arrived (DtBoardGroup *bg, uint64_t key);

#endif
