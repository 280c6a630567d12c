/* SPDX-License-Identifier: MIT
** comm/pace.c: ranks keep pace with each other while a debugger looks for what
** may be true on some of them only.
**
** Wherever such a breakpoint is asked, a rank says which place it has come to
** and whether it was hit, and waits until all are at the same place: who was
** hit is then known to all before anybody goes on.  Nobody's program may
** depend on that, so a rank that can never be joined gives way: one that the
** others wait for elsewhere (it then keeps no pace until its next collective,
** where they are together again), and one that is at a place where fewer
** ranks are than at another, as in a branch of one rank.
**
** The word `decided` of the group counts tries in its upper half and meetings
** in its lower half: a try ends with all at one place, or because somebody
** gave way, and the first who writes decides for all.  A rank takes part in
** one try after the other, so at most one meeting can pass between its two
** looks. */
#include "comm/agree_int.h"

static uint64_t tries_of (uint64_t word) { return word >> 32; }

/* What a member says is kept in two words, by parity of the meeting: one that
** has gone on may overwrite only the other. */
static _Atomic uint64_t *hit_of (DtBoardGroup *bg, int m, uint64_t word) {
  DtCell *cell = dt_board_cell(bg, m);
  return word & 1 ? &cell->in : &cell->out;
}

static void arrive (DtGroup *g, uint64_t word, uint64_t place, int id) {
  DtCell *cell = dt_board_cell(g->slot, g->me);
  uint64_t key = tries_of(word) + 1;
  dt_board_post(g->comm, DT_POST_PACE, g->slot, key, place, NULL);
  atomic_store(&cell->hash, place);
  atomic_store(hit_of(g->slot, g->me, word), (uint64_t)id);
  atomic_store(&cell->key, key);
}

/* End this try; false when somebody has. */
static bool decide (DtBoardGroup *bg, uint64_t word, bool met) {
  uint64_t next = word + (UINT64_C(1) << 32) + (met ? 1 : 0);
  if (!atomic_compare_exchange_strong(&bg->decided, &word, next))
    return false;
  dt_bell_ring(bg);
  return true;
}

/* How many stand where member m does. */
static int crowd (DtBoardGroup *bg, int m) {
  uint64_t place = atomic_load(&dt_board_cell(bg, m)->hash);
  int n = 0;
  for (int i = 0; i < bg->size; i++)
    n += atomic_load(&dt_board_cell(bg, i)->hash) == place;
  return n;
}

/* All have come, to several places: the place of the most, of several the one
** of the lowest rank, is waited at. */
static bool must_go (const DtGroup *g) {
  int most = 0, at = 0;
  for (int i = 0; i < g->size; i++) {
    int n = crowd(g->slot, i);
    if (n > most) { most = n; at = i; }
  }
  return atomic_load(&dt_board_cell(g->slot, at)->hash) !=
         atomic_load(&dt_board_cell(g->slot, g->me)->hash);
}

static bool somebody_stops (const DtComm *c) {
  return atomic_load(&c->board->ask) != 0;
}

/* Reasons to leave, looked at after each sleep. */
static bool hopeless (DtCtx *cx, DtComm *c, DtWait *w, bool *astray) {
  dt_wait_check(c, w);
  *astray = w->lost < 0 && dt_agree_stuck(c);
  return *astray || dt_verdict_of(c) != DT_OK ||
         dt_agree_interrupted(cx, c) || somebody_stops(c);
}

/* Wait for the end of the try that began at `word`.  *gone: it ended because
** this rank gives way. */
static DtStatus await_try (DtCtx *cx, DtGroup *g, uint64_t word, bool *gone) {
  DtComm *c = g->comm;
  DtBoardGroup *bg = g->slot;
  bool astray = false;
  DtWait w;
  dt_wait_init(&w, c->board, bg, DT_NAP_MS);
  for (;;) {
    dt_wait_look(&w);
    if (tries_of(atomic_load(&bg->decided)) > tries_of(word))
      return DT_OK;
    if (w.lost >= 0)
      return dt_board_lost(cx, c, w.lost);
    bool there = dt_agree_all_arrived(bg, tries_of(word) + 1);
    bool met = there && crowd(bg, g->me) == g->size;
    if (there && (met || must_go(g))) {
      *gone = decide(bg, word, met) && !met;
    } else if (dt_wait_pause(&w) && hopeless(cx, c, &w, &astray)) {
      *gone = decide(bg, word, false);
      c->astray = *gone && astray;
    }
  }
}

DtStatus dt_agree_pace (DtCtx *cx, DtGroup *g, uint64_t place, int id,
                        DtPace *out) {
  DtComm *c = g->comm;
  DtBoardGroup *bg = g->slot;
  DtStatus st = dt_agree_alive(cx, c);
  bool gone = c->astray || somebody_stops(c);
  *out = (DtPace){false, -1, 0};
  while (st == DT_OK && !gone && !out->together) {
    uint64_t word = atomic_load(&bg->decided);
    arrive(g, word, place, id);
    st = await_try(cx, g, word, &gone);
    out->together = st == DT_OK && (uint32_t)atomic_load(&bg->decided) !=
                    (uint32_t)word;
    for (int i = g->size - 1; i >= 0 && out->together; i--) {
      int hit = (int)atomic_load(hit_of(bg, i, word));
      if (hit != 0) { out->rank = g->ranks[i]; out->id = hit; }
    }
  }
  dt_board_post(c, DT_POST_RUN, NULL, 0, 0, NULL);
  return st;
}
