/* SPDX-License-Identifier: MIT
** comm/agree.c: nobody starts a collective alone.
**
** Before its data moves, a group agrees: each member writes (key, hash) into
** its cell; the member that sees all cells filled compares the hashes and
** decides GO or BROKEN by one compare-and-swap on the group's `decided` word.
** A member that wants to leave (Ctrl-C, divergence) tries to write BROKEN
** there itself: whoever is first decides for all, so either all members start
** or none does, and only agreement ever needs breaking off.
**
** Divergence: a waiting rank needs every member of its group that has not
** arrived; one at the end of its chunk needs every rank that is not there.
** A circle of needs can never dissolve.  Ranks look for one that they can
** reach whenever they have slept a little.  Such a search is sound without a
** lock: posts are copied first, cells read afterwards, and a waiting rank
** cannot move before those it needs have.  Slow ranks are in no circle: there
** is no timeout to guess, and local work is never compared.
**
** The verdict holds for the chunk: everyone who waits, or comes to wait
** later, breaks off with the same words.  All meet at the end of the chunk,
** where the epoch, upper half of every key, is counted up: whatever was left
** half done is older than anything that follows.  What is written per epoch
** has two places, since a rank can be ahead of another by one. */
#include <string.h>
#include "base/error_comm.h"
#include "comm/agree_int.h"
#include "comm/p2p_int.h"

bool dt_agree_decide (DtBoardGroup *bg, uint64_t key, bool broken) {
  uint64_t old = atomic_load(&bg->decided);
  while (old >> 1 < key) {
    if (atomic_compare_exchange_weak(&bg->decided, &old,
                                     key << 1 | (broken ? 1 : 0)))
      return true;
  }
  return false;
}

/* The key is stored last: who reads it may read everything before it. The
** small data of the agreement before stays, as others may not have read it
** yet. */
void dt_agree_arrive (DtGroup *g, uint64_t key, const DtOffer *o) {
  DtCell *cell = dt_board_cell(g->slot, g->me);
  atomic_store_explicit(&cell->hash, o->hash, memory_order_release);
  atomic_store_explicit(&cell->in, (uint64_t)(uintptr_t)o->in,
                        memory_order_release);
  atomic_store_explicit(&cell->out, (uint64_t)(uintptr_t)o->out,
                        memory_order_release);
  if (o->small > 0)
    memcpy(cell->data[key & 1], o->in, o->small);
  atomic_store(&cell->key, key);
}

bool dt_agree_all_arrived (DtBoardGroup *bg, uint64_t key) {
  int i;
  for (i = 0; i < bg->size; i++) {
    if (atomic_load(&dt_board_cell(bg, i)->key) < key)
      return false;
  }
  return true;
}

static bool all_equal (DtBoardGroup *bg) {
  uint64_t h = atomic_load(&dt_board_cell(bg, 0)->hash);
  int i;
  for (i = 1; i < bg->size; i++) {
    if (atomic_load(&dt_board_cell(bg, i)->hash) != h)
      return false;
  }
  return true;
}

/* The last to arrive decides.  A slow rank may compare hashes that already
** belong to a later key; the word is decided by then, and what it found is
** thrown away. */
static void try_decide (DtCtx *cx, DtGroup *g, uint64_t key) {
  bool equal;
  if (!dt_agree_all_arrived(g->slot, key))
    return;
  equal = all_equal(g->slot);
  if (dt_agree_decide(g->slot, key, !equal)) {
    if (!equal)
      dt_verdict_claim(cx, g->comm, DT_E_DIVERGED);
    dt_bell_ring(g->slot);
  }
}

/* Reasons to leave a wait, looked at after each sleep. */
static DtStatus reasons_to_leave (DtCtx *cx, DtComm *c, DtWait *w) {
  if (dt_verdict_of(c) != DT_OK)
    return dt_verdict_of(c);
  if (dt_agree_interrupted(cx, c)) {
    dt_verdict_claim(cx, c, DT_E_INTERRUPTED);
    return DT_E_INTERRUPTED;
  }
  dt_wait_check(c, w);
  if (w->lost < 0 && dt_agree_stuck(c)) {
    dt_verdict_claim(cx, c, DT_E_DIVERGED);
    return DT_E_DIVERGED;
  }
  return DT_OK;
}

/* Wait until the key, or a later one, is decided. The word `decided` holds key
** * 2 + stop: a key passed over by a later one counts as decided to go on. A
** rank with a reason of its own to leave (Ctrl-C, a lost rank) proposes to
** stop; the first proposal wins on all ranks. */
static DtStatus await_decision (DtCtx *cx, DtGroup *g, uint64_t key) {
  DtBoardGroup *bg = g->slot;
  uint64_t d;
  DtWait w;
  dt_wait_init(&w, g->comm->board, bg, DT_NAP_MS);
  for (;;) {
    DtStatus st;
    dt_wait_look(&w);
    d = atomic_load(&bg->decided);
    if (d >> 1 >= key)
      break;
    if (w.lost >= 0)
      return dt_board_lost(cx, g->comm, w.lost);
    if (!dt_wait_pause(&w))
      continue;
    st = reasons_to_leave(cx, g->comm, &w);
    if (st != DT_OK && dt_agree_decide(bg, key, true))
      dt_bell_ring(bg);
  }
  if (d == (key << 1 | 1))
    return dt_verdict_await(cx, g);
  return DT_OK;
}

/* Post before arriving: a rank that has arrived without having posted would
** look as if it still ran, and a rank that has only posted is in no circle
** yet (not_yet_there). */
DtStatus dt_agree_group (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                         const DtOffer *o) {
  DtComm *c = g->comm;
  DtStatus st;
  uint64_t key;
  DT_TRY(cx, dt_agree_alive(cx, c));
  if (dt_agree_interrupted(cx, c))
    dt_verdict_claim(cx, c, DT_E_INTERRUPTED);
  st = dt_verdict_of(c);
  c->astray = false;
  if (st != DT_OK)
    return dt_verdict_raise(cx, c, st, c->told == c->epoch + 1);
  key = dt_agree_next_key(g);
  if (g->size == c->size)
    dt_lane_pass(c);
  dt_board_post(c, DT_POST_WAIT, g->slot, key, o->hash, i);
  dt_agree_arrive(g, key, o);
  try_decide(cx, g, key);
  st = await_decision(cx, g, key);
  dt_board_post(c, st == DT_OK ? DT_POST_MOVE : DT_POST_RUN, g->slot, key,
                o->hash, NULL);
  return st;
}

/* --- messages: each side only counts ------------------------------------- */

void dt_agree_posted (DtGroup *g, uint64_t key) {
  atomic_store(&dt_board_cell(g->slot, g->me)->key, key);
  dt_bell_ring(g->slot);
}

static DtStatus await_other (DtCtx *cx, DtGroup *g, uint64_t key) {
  DtComm *c = g->comm;
  DtCell *other = dt_board_cell(g->slot, 1 - g->me);
  DtWait w;
  dt_wait_init(&w, c->board, g->slot, DT_NAP_MS);
  for (;;) {
    DtStatus st;
    dt_wait_look(&w);
    if (atomic_load(&other->key) >= key)
      return DT_OK;
    if (w.lost >= 0)
      return dt_board_lost(cx, c, w.lost);
    if (!dt_wait_pause(&w))
      continue;
    st = reasons_to_leave(cx, c, &w);
    if (st != DT_OK && atomic_load(&other->key) < key)
      return dt_verdict_await(cx, g);
  }
}

/* A channel never decides anything: who waits in it needs the other's count
** (may_need, still_needs), which only grows. */
DtStatus dt_agree_posted_by_both (DtCtx *cx, DtGroup *g, uint64_t key,
                                  const DtCollInfo *i) {
  DtComm *c = g->comm;
  DtStatus st;
  DT_TRY(cx, dt_agree_alive(cx, c));
  st = dt_verdict_of(c);
  c->astray = false;
  if (st != DT_OK)
    return dt_verdict_raise(cx, c, st, c->told == c->epoch + 1);
  dt_board_post(c, DT_POST_WAIT, g->slot, key, 0, i);
  st = await_other(cx, g, key);
  dt_board_post(c, st == DT_OK ? DT_POST_MOVE : DT_POST_RUN, g->slot, key, 0,
                NULL);
  return st;
}

/* `done` counts in halves: an agreement may have one meeting in between.
** Ctrl-C and the verdict do not end this wait: the others may be reading
** this rank's buffers, which the caller frees when it unwinds. */
DtStatus dt_agree_done (DtCtx *cx, DtGroup *g, bool half) {
  DtCell *mine = dt_board_cell(g->slot, g->me);
  uint64_t key = atomic_load(&mine->key) * 2 - (half ? 1 : 0);
  DtWait w;
  int i = 0;
  atomic_store(&mine->done, key);
  dt_wait_init(&w, g->comm->board, g->slot, DT_NAP_MS);
  for (;;) {
    dt_wait_look(&w);
    while (i < g->size && atomic_load(&dt_board_cell(g->slot, i)->done) >= key)
      i++;
    if (i == g->size)
      break;
    if (w.lost >= 0)
      return dt_board_lost(cx, g->comm, w.lost);
    if (dt_wait_pause(&w))
      dt_wait_check(g->comm, &w);
  }
  if (w.turns == 0)                   /* the last one: others may sleep */
    dt_bell_ring(g->slot);
  return DT_OK;
}
