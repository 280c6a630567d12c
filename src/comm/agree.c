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
#include "base/hash.h"
#include "comm/p2p_int.h"

enum { NAP_MS = 10, IDLE_NAP_MS = 50 };

static DtStatus check_alive (DtCtx *cx, DtComm *c) {
  if (c->dead)
    return dt_board_lost(cx, c, c->rank);   /* names the first one lost */
  return DT_OK;
}

static uint64_t next_key (DtGroup *g) {
  if (g->epoch != g->comm->epoch) {
    g->epoch = g->comm->epoch;
    g->seq = 0;
  }
  return (uint64_t)g->epoch << 32 | ++g->seq;
}

/* --- the verdict of a chunk --------------------------------------------- */

static DtStatus verdict_of (const DtComm *c) {
  uint64_t v = atomic_load(&c->board->verdict[c->epoch & 1]);
  return v >> 8 == c->epoch ? (DtStatus)(v & 255) : DT_OK;
}

static void take_snapshot (DtComm *c) {
  int r;
  for (r = 0; r < c->size; r++) {
    (void)dt_board_read(c, r, &c->snap[r]);
    c->snap[r].color = 0;
  }
}

static bool same_doing (const DtSnap *a, const DtSnap *b) {
  if (a->state != b->state)
    return false;
  if (a->state == DT_POST_MEET)
    return a->hash == b->hash;
  if (a->state != DT_POST_WAIT)
    return true;
  return a->hash == b->hash && a->slot == b->slot &&
         memcmp(&a->text, &b->text, sizeof a->text) == 0;
}

/* A line for each set of ranks that do the same. */
static void write_groups (DtComm *c, DtBuf *b) {
  int r, q;
  for (r = 0; r < c->size; r++)
    c->snap[r].color = 0;
  for (r = 0; r < c->size; r++) {
    if (c->snap[r].color != 0)
      continue;
    for (q = 0; q < c->size; q++) {
      c->snap[q].mark = q >= r && same_doing(&c->snap[r], &c->snap[q]);
      if (c->snap[q].mark)
        c->snap[q].color = 1;
    }
    dt_board_ranklist(b, c->snap, c->size);
    dt_buf_add(b, ": ");
    dt_board_doing(c->board, b, &c->snap[r]);
    dt_buf_addc(b, '\n');
  }
}

/* Two ranks wait at the same place under the same name, yet differ. */
static bool only_sizes_differ (const DtComm *c) {
  int r, q;
  for (r = 0; r < c->size; r++) {
    for (q = 0; q < r; q++) {
      const DtSnap *a = &c->snap[r], *b = &c->snap[q];
      if (a->state == DT_POST_WAIT && b->state == DT_POST_WAIT &&
          a->slot == b->slot && a->key == b->key && a->hash != b->hash &&
          memcmp(&a->text, &b->text, sizeof a->text) == 0)
        return true;
    }
  }
  return false;
}

/* The first to claim writes the verdict of this chunk. */
static void claim (DtCtx *cx, DtComm *c, DtStatus st) {
  DtBoard *b = c->board;
  unsigned par = c->epoch & 1;
  uint64_t old = atomic_load(&b->claimed[par]);
  uint64_t mine = (uint64_t)c->epoch << 8 | (uint64_t)st;
  while (old >> 8 != c->epoch) {
    if (!atomic_compare_exchange_weak(&b->claimed[par], &old, mine))
      continue;
    if (st == DT_E_DIVERGED) {
      DtBuf text;
      size_t n;
      dt_buf_init(&text, cx);
      take_snapshot(c);
      write_groups(c, &text);
      if (only_sizes_differ(c))
        dt_buf_add(&text, "the sizes or specs differ\n");
      n = text.len < DT_BOARD_EXPLAIN ? text.len : DT_BOARD_EXPLAIN - 1;
      memcpy(b->explain[par], dt_buf_str(&text), n);
      b->explain[par][n] = '\0';
      dt_buf_fini(&text);
    }
    atomic_store(&b->verdict[par], mine);
    return;
  }
}

/* Raise what the chunk broke off with; the words are on the board.  Who goes
** on behind a pcall hears that the chunk is over: where each rank stands is
** not known, so nothing can be sent before they have met at its end. */
static DtStatus raise_verdict (DtCtx *cx, DtComm *c, DtStatus st,
                               bool again) {
  const char *text = c->board->explain[c->epoch & 1], *p = text;
  DtBuf line;
  c->told = c->epoch + 1;
  if (st == DT_E_INTERRUPTED)
    return dt_raise(cx, st, "interrupted");
  dt_buf_init(&line, cx);
  for (; *p != '\0'; p++) {
    if (*p != '\n')
      dt_buf_addc(&line, *p);
    else if (p[1] != '\0')
      dt_buf_add(&line, "; ");
  }
  (void)dt_raise(cx, st, again ? "this chunk is over on all ranks, no "
                 "collective works until it ends: ranks took different paths "
                 "before: %s" : "ranks took different paths: %s",
                 dt_buf_str(&line));
  dt_buf_fini(&line);
  dt_buf_add(&cx->err.explain, text);
  return st;
}

/* --- circles of needs --------------------------------------------------- */

static bool in_circle (DtComm *c, int r);

static bool needs_circle (DtComm *c, int r) {
  if (c->snap[r].color == 1)
    return true;
  return c->snap[r].color == 0 && in_circle(c, r);
}

/* How many members of its group, from the first on, a rank may wait for. */
static int may_need (const DtSnap *s, DtBoardGroup *bg) {
  switch (s->state) {
  case DT_POST_WAIT: case DT_POST_MEET:
    return atomic_load(&bg->decided) >> 1 >= s->key ? 0 : bg->size;
  case DT_POST_STOP:            /* it gives way: only to itself it is bound */
    return s->color == 3 && atomic_load(&bg->decided) >> 1 < s->key
             ? bg->size : 0;
  case DT_POST_IDLE:
    return 1;
  case DT_POST_LINE:
    return bg->size;
  default:
    return 0;
  }
}

static bool still_needs (const DtSnap *s, const DtCell *cell) {
  if (s->state == DT_POST_LINE)
    return atomic_load(&cell->done) < s->key * 2;
  return atomic_load(&cell->key) < s->key;
}

/* A rank posts first and arrives then: in between it is not waiting. */
static bool not_yet_there (DtBoardGroup *bg, const DtSnap *s, int r, int n) {
  int m;
  for (m = 0; m < n; m++) {
    if (dt_board_ranks(bg)[m] == r)
      return still_needs(s, &dt_board_cells(bg)[m]);
  }
  return false;
}

/* Can rank r, as copied, reach a circle?  color: 0 new, 1 on the way here,
** 2 reaches none. */
static bool in_circle (DtComm *c, int r) {
  DtSnap *s = &c->snap[r];
  DtBoardGroup *bg = dt_board_at(c->board, s->slot);
  int m, n;
  if (r == c->rank && s->state == DT_POST_STOP)
    s->color = 3;
  n = may_need(s, bg);
  s->color = 1;
  if (not_yet_there(bg, s, r, n))
    n = 0;
  for (m = 0; m < n; m++) {
    if (still_needs(s, &dt_board_cells(bg)[m]) &&
        needs_circle(c, dt_board_ranks(bg)[m]))
      return true;
  }
  s->color = 2;
  return false;
}

bool dt_agree_stuck (DtComm *c) {
  take_snapshot(c);
  return in_circle(c, c->rank);
}

/* --- agreement ---------------------------------------------------------- */

/* Decide for this key unless somebody has; true when it was us. */
static bool decide (DtBoardGroup *bg, uint64_t key, bool broken) {
  uint64_t old = atomic_load(&bg->decided);
  while (old >> 1 < key) {
    if (atomic_compare_exchange_weak(&bg->decided, &old,
                                     key << 1 | (broken ? 1 : 0)))
      return true;
  }
  return false;
}

static void arrive (DtGroup *g, uint64_t key, const DtOffer *o) {
  DtCell *cell = &dt_board_cells(g->slot)[g->me];
  atomic_store_explicit(&cell->hash, o->hash, memory_order_release);
  atomic_store_explicit(&cell->in, (uint64_t)(uintptr_t)o->in,
                        memory_order_release);
  atomic_store_explicit(&cell->out, (uint64_t)(uintptr_t)o->out,
                        memory_order_release);
  if (o->small > 0)
    memcpy(cell->data[key & 1], o->in, o->small);
  atomic_store(&cell->key, key);
}

static bool all_arrived (DtBoardGroup *bg, uint64_t key) {
  const DtCell *cell = dt_board_cells(bg);
  int i;
  for (i = 0; i < bg->size; i++) {
    if (atomic_load(&cell[i].key) < key)
      return false;
  }
  return true;
}

static bool all_equal (DtBoardGroup *bg) {
  const DtCell *cell = dt_board_cells(bg);
  uint64_t h = atomic_load(&cell[0].hash);
  int i;
  for (i = 1; i < bg->size; i++) {
    if (atomic_load(&cell[i].hash) != h)
      return false;
  }
  return true;
}

/* The last to arrive decides. */
static void try_decide (DtCtx *cx, DtGroup *g, uint64_t key) {
  bool equal;
  if (!all_arrived(g->slot, key))
    return;
  equal = all_equal(g->slot);
  if (decide(g->slot, key, !equal)) {
    if (!equal)
      claim(cx, g->comm, DT_E_DIVERGED);
    dt_bell_ring(g->slot);
  }
}

static bool interrupted (DtCtx *cx, const DtComm *c) {
  if (c->calm)
    return false;
  return (cx->interrupt != NULL && atomic_load(cx->interrupt) != 0) ||
         atomic_load(&c->board->interrupt) != 0;
}

/* Reasons to leave a wait, looked at after each sleep. */
static DtStatus reasons_to_leave (DtCtx *cx, DtComm *c, DtWait *w) {
  if (verdict_of(c) != DT_OK)
    return verdict_of(c);
  if (interrupted(cx, c)) {
    claim(cx, c, DT_E_INTERRUPTED);
    return DT_E_INTERRUPTED;
  }
  dt_wait_check(c, w);
  if (w->lost < 0 && dt_agree_stuck(c)) {
    claim(cx, c, DT_E_DIVERGED);
    return DT_E_DIVERGED;
  }
  return DT_OK;
}

/* The verdict is claimed; its words follow at once. */
static DtStatus await_verdict (DtCtx *cx, DtGroup *g) {
  DtWait w;
  DtStatus st;
  dt_wait_init(&w, g->comm->board, g->slot, 1);
  for (;;) {
    dt_wait_look(&w);
    st = verdict_of(g->comm);
    if (st != DT_OK)
      return raise_verdict(cx, g->comm, st, false);
    if (w.lost >= 0)
      return dt_board_lost(cx, g->comm, w.lost);
    if (dt_wait_pause(&w))
      dt_wait_check(g->comm, &w);
  }
}

static DtStatus await_decision (DtCtx *cx, DtGroup *g, uint64_t key) {
  DtBoardGroup *bg = g->slot;
  uint64_t d;
  DtWait w;
  dt_wait_init(&w, g->comm->board, bg, NAP_MS);
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
    if (st != DT_OK && decide(bg, key, true))
      dt_bell_ring(bg);
  }
  if (d == (key << 1 | 1))
    return await_verdict(cx, g);
  return DT_OK;
}

DtStatus dt_agree_group (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                         const DtOffer *o) {
  DtComm *c = g->comm;
  DtStatus st;
  uint64_t key;
  DT_TRY(cx, check_alive(cx, c));
  if (interrupted(cx, c))
    claim(cx, c, DT_E_INTERRUPTED);
  st = verdict_of(c);
  if (st != DT_OK)
    return raise_verdict(cx, c, st, c->told == c->epoch + 1);
  key = next_key(g);
  dt_board_post(c, DT_POST_WAIT, g->slot, key, o->hash, i);
  arrive(g, key, o);
  try_decide(cx, g, key);
  st = await_decision(cx, g, key);
  dt_board_post(c, st == DT_OK ? DT_POST_MOVE : DT_POST_RUN, g->slot, key,
                o->hash, NULL);
  return st;
}

/* --- messages: each side only counts ------------------------------------- */

void dt_agree_posted (DtGroup *g, uint64_t key) {
  atomic_store(&dt_board_cells(g->slot)[g->me].key, key);
  dt_bell_ring(g->slot);
}

static DtStatus await_other (DtCtx *cx, DtGroup *g, uint64_t key) {
  DtComm *c = g->comm;
  DtCell *other = &dt_board_cells(g->slot)[1 - g->me];
  DtWait w;
  dt_wait_init(&w, c->board, g->slot, NAP_MS);
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
      return await_verdict(cx, g);
  }
}

/* A channel never decides anything: who waits in it needs the other's count
** (may_need, still_needs), which only grows. */
DtStatus dt_agree_posted_by_both (DtCtx *cx, DtGroup *g, uint64_t key,
                                  const DtCollInfo *i) {
  DtComm *c = g->comm;
  DtStatus st;
  DT_TRY(cx, check_alive(cx, c));
  st = verdict_of(c);
  if (st != DT_OK)
    return raise_verdict(cx, c, st, c->told == c->epoch + 1);
  dt_board_post(c, DT_POST_WAIT, g->slot, key, 0, i);
  st = await_other(cx, g, key);
  dt_board_post(c, st == DT_OK ? DT_POST_MOVE : DT_POST_RUN, g->slot, key, 0,
                NULL);
  return st;
}

/* `done` counts in halves: an agreement may have one meeting in between. */
DtStatus dt_agree_done (DtCtx *cx, DtGroup *g, bool half) {
  DtCell *cell = dt_board_cells(g->slot);
  uint64_t key = atomic_load(&cell[g->me].key) * 2 - (half ? 1 : 0);
  DtWait w;
  int i = 0;
  atomic_store(&cell[g->me].done, key);
  dt_wait_init(&w, g->comm->board, g->slot, NAP_MS);
  for (;;) {
    dt_wait_look(&w);
    while (i < g->size && atomic_load(&cell[i].done) >= key)
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

/* --- the end of a chunk ------------------------------------------------- */

static DtStatus raise_failed (DtCtx *cx, DtComm *c, const DtStatus *all) {
  DtStatus first = DT_OK;
  DtBuf b;
  int r;
  for (r = c->size - 1; r >= 0; r--) {
    c->snap[r].mark = all[r] != DT_OK;
    if (all[r] != DT_OK)
      first = all[r];
  }
  if (first == DT_OK)
    return DT_OK;
  dt_buf_init(&b, cx);
  dt_board_ranklist(&b, c->snap, c->size);
  (void)dt_raise(cx, first, "%s failed: %s", dt_buf_str(&b),
                 dt_error_info(first)->text);
  dt_buf_fini(&b);
  return first;
}

/* My own error, else the chunk's verdict, else others' errors. */
static DtStatus sum_up (DtCtx *cx, DtComm *c, DtStatus mine,
                        const DtStatus *all) {
  if (mine != DT_OK)
    return mine;
  if (verdict_of(c) != DT_OK)
    return raise_verdict(cx, c, verdict_of(c), false);
  return raise_failed(cx, c, all);
}

static DtStatus await_all (DtCtx *cx, DtComm *c, uint64_t key) {
  DtBoardGroup *bg = c->meet->slot;
  DtWait w;
  dt_wait_init(&w, c->board, bg, NAP_MS);
  for (;;) {
    dt_wait_look(&w);
    if (atomic_load(&bg->decided) >> 1 >= key)
      return DT_OK;
    if (w.lost >= 0)
      return dt_board_lost(cx, c, w.lost);
    if (dt_wait_pause(&w))
      dt_wait_check(c, &w);
  }
}

DtStatus dt_agree_meet (DtCtx *cx, DtComm *c, DtStatus mine,
                        const DtCollInfo *i, DtStatus *all) {
  static const DtOffer nothing = {0, NULL, NULL, 0};
  DtStatus *seen = c->statuses, st;
  unsigned par = c->epoch & 1;
  uint64_t key = c->epoch;
  int r;
  DT_TRY(cx, check_alive(cx, c));
  if (mine == DT_E_INTERRUPTED)
    claim(cx, c, mine);
  dt_board_post(c, DT_POST_MEET, c->meet->slot, key, (uint64_t)mine, i);
  atomic_store(&c->board->posts[c->rank].status[par], (int)mine);
  arrive(c->meet, key, &nothing);
  if (all_arrived(c->meet->slot, key) && decide(c->meet->slot, key, false))
    dt_bell_ring(c->meet->slot);
  DT_TRY(cx, await_all(cx, c, key));
  for (r = 0; r < c->size; r++)
    seen[r] = (DtStatus)atomic_load(&c->board->posts[r].status[par]);
  st = sum_up(cx, c, mine, seen);
  if (st != DT_OK)
    c->era = c->epoch + 1;
  if (all != NULL)
    memcpy(all, seen, (size_t)c->size * sizeof *all);
  c->epoch++;
  dt_board_post(c, DT_POST_RUN, NULL, 0, 0, NULL);
  return st;
}

/* --- the next line ------------------------------------------------------ */

/* A line is not broken off by Ctrl-C nor by the verdict; only a circle, as
** when ranks stop at different places, ends the wait. */
static DtStatus check_line (DtCtx *cx, DtComm *c, DtWait *w) {
  dt_wait_check(c, w);
  if (w->lost < 0 && dt_agree_stuck(c)) {
    claim(cx, c, DT_E_DIVERGED);
    return await_verdict(cx, c->line);
  }
  return DT_OK;
}

/* This rank has taken the piece; all others must. */
static DtStatus await_taken (DtCtx *cx, DtGroup *g, uint64_t key) {
  DtCell *cell = dt_board_cells(g->slot);
  DtWait w;
  int i = 0;
  dt_board_post(g->comm, DT_POST_LINE, g->slot, key, 0, NULL);
  atomic_store(&cell[g->me].done, key * 2);
  dt_bell_ring(g->slot);
  dt_wait_init(&w, g->comm->board, g->slot, NAP_MS);
  for (;;) {
    dt_wait_look(&w);
    while (i < g->size && atomic_load(&cell[i].done) >= key * 2)
      i++;
    if (i == g->size)
      break;
    if (w.lost >= 0)
      return dt_board_lost(cx, g->comm, w.lost);
    if (dt_wait_pause(&w))
      DT_TRY(cx, check_line(cx, g->comm, &w));
  }
  dt_board_post(g->comm, DT_POST_RUN, NULL, 0, 0, NULL);
  return DT_OK;
}

/* One piece: rank 0 lays it on the board, the others wait for it. */
static DtStatus pass_piece (DtCtx *cx, DtGroup *g, uint64_t key,
                            uint64_t *total) {
  static const DtCollInfo next_line = {"next line", 0, "", ""};
  DtCell *root = &dt_board_cells(g->slot)[0];
  DtWait w;
  if (g->me == 0) {
    atomic_store(&root->hash, *total);
    atomic_store(&root->key, key);
    dt_bell_ring(g->slot);
    return DT_OK;
  }
  dt_board_post(g->comm, DT_POST_IDLE, g->slot, key, 0, &next_line);
  dt_wait_init(&w, g->comm->board, g->slot, IDLE_NAP_MS);
  for (;;) {
    dt_wait_look(&w);
    if (atomic_load(&root->key) >= key)
      break;
    if (w.lost >= 0)
      return dt_board_lost(cx, g->comm, w.lost);
    if (dt_wait_pause(&w))
      DT_TRY(cx, check_line(cx, g->comm, &w));
  }
  atomic_store(&dt_board_cells(g->slot)[g->me].key, key);
  *total = atomic_load(&root->hash);
  return DT_OK;
}

/* A rank without memory for the text goes through the motions all the same,
** so that the others are not held up. */
DtStatus dt_agree_share (DtCtx *cx, DtComm *c, char **text, size_t *n) {
  DtStatus st = DT_OK;
  bool root = c->rank == 0;
  uint64_t total = root ? *n : 0, off = 0;
  char *mine = root ? *text : NULL;
  DT_TRY(cx, check_alive(cx, c));
  do {
    size_t len = total - off < DT_BOARD_PIECE ? (size_t)(total - off)
                                              : DT_BOARD_PIECE;
    uint64_t key = next_key(c->line);
    if (root && len > 0)
      memcpy(c->board->piece, mine + off, len);
    DT_TRYG(cx, pass_piece(cx, c->line, key, &total));
    if (!root && off == 0) {
      mine = dt_alloc(cx, (size_t)total + 1);
      len = total < DT_BOARD_PIECE ? (size_t)total : DT_BOARD_PIECE;
    }
    if (!root && mine != NULL && len > 0)
      memcpy(mine + off, c->board->piece, len);
    off += len;
    DT_TRYG(cx, await_taken(cx, c->line, key));
  } while (off < total);
  DT_CHECKG(cx, mine != NULL, DT_E_NOMEM, "no memory for the next line");
done:
  dt_board_post(c, DT_POST_RUN, NULL, 0, 0, NULL);
  if (root)
    return st;
  if (st != DT_OK) {
    dt_free(cx, mine);
    return st;
  }
  mine[total] = '\0';
  *text = mine;
  *n = (size_t)total;
  return DT_OK;
}

/* --- a debugger's stop -------------------------------------------------- */

/* One try.  A rank that finds that it can never be joined breaks the try for
** all: the others begin the next one, under the next key. */
static DtStatus try_stop (DtCtx *cx, DtComm *c, uint64_t key, bool *gone) {
  DtBoardGroup *bg = c->stop->slot;
  DtWait w;
  dt_wait_init(&w, c->board, bg, NAP_MS);
  for (;;) {
    dt_wait_look(&w);
    if (atomic_load(&bg->decided) >> 1 >= key)
      return DT_OK;
    if (w.lost >= 0)
      return dt_board_lost(cx, c, w.lost);
    if (!dt_wait_pause(&w))
      continue;
    dt_wait_check(c, &w);
    *gone = verdict_of(c) != DT_OK || interrupted(cx, c) ||
            (w.lost < 0 && dt_agree_stuck(c));
    if (*gone && decide(bg, key, true)) {
      dt_bell_ring(bg);
      return DT_OK;
    }
  }
}

DtStatus dt_agree_stop (DtCtx *cx, DtComm *c, const DtCollInfo *i, bool *all) {
  static const DtOffer nothing = {0, NULL, NULL, 0};
  DtBoardGroup *bg = c->stop->slot;
  DtStatus st = check_alive(cx, c);
  uint64_t key = 0;
  bool gone = false;
  *all = false;
  while (st == DT_OK && !gone && !*all) {
    key = (atomic_load(&bg->decided) >> 1) + 1;
    dt_board_post(c, DT_POST_STOP, bg, key, 0, i);
    arrive(c->stop, key, &nothing);
    if (all_arrived(bg, key) && decide(bg, key, false))
      dt_bell_ring(bg);
    st = try_stop(cx, c, key, &gone);
    *all = st == DT_OK && atomic_load(&bg->decided) == key << 1;
    gone = gone && !*all;
  }
  dt_board_post(c, DT_POST_RUN, NULL, 0, 0, NULL);
  if (st == DT_OK && !*all && interrupted(cx, c))
    return dt_raise(cx, DT_E_INTERRUPTED, "interrupted");
  return st;
}
