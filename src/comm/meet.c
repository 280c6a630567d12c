/* SPDX-License-Identifier: MIT
** comm/meet.c: where all ranks come together: at the end of a chunk, for the
** next line of the prompt, at a debugger's stop. */
#include <string.h>
#include "base/error_comm.h"
#include "comm/agree_int.h"

enum { IDLE_NAP_MS = 50 };      /* at the prompt */

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
  if (dt_verdict_of(c) != DT_OK)
    return dt_verdict_raise(cx, c, dt_verdict_of(c), false);
  return raise_failed(cx, c, all);
}

/* Wait until the key is decided.  `gone` NULL: as long as that takes; else
** break it for all when this rank can never be joined, and say so there. */
static DtStatus await_decided (DtCtx *cx, DtGroup *g, uint64_t key,
                               bool *gone) {
  DtComm *c = g->comm;
  DtBoardGroup *bg = g->slot;
  DtWait w;
  dt_wait_init(&w, c->board, bg, DT_NAP_MS);
  for (;;) {
    dt_wait_look(&w);
    if (atomic_load(&bg->decided) >> 1 >= key)
      return DT_OK;
    if (w.lost >= 0)
      return dt_board_lost(cx, c, w.lost);
    if (!dt_wait_pause(&w))
      continue;
    dt_wait_check(c, &w);
    if (gone == NULL)
      continue;
    *gone = dt_verdict_of(c) != DT_OK || dt_agree_interrupted(cx, c) ||
            (w.lost < 0 && dt_agree_stuck(c));
    if (*gone && dt_agree_decide(bg, key, true))
      dt_bell_ring(bg);
  }
}

/* The key is the epoch itself, so no rank can meet twice in one. The epoch
** goes up only behind the meeting, on all ranks, and a new era begins where
** messages of the chunk that failed must not be taken for later ones. */
DtStatus dt_agree_meet (DtCtx *cx, DtComm *c, DtStatus mine,
                        const DtCollInfo *i, DtStatus *all) {
  static const DtOffer nothing = {0, NULL, NULL, 0};
  DtStatus *seen = c->statuses, st;
  unsigned par = c->epoch & 1;
  uint64_t key = c->epoch;
  int r;
  DT_TRY(cx, dt_agree_alive(cx, c));
  if (mine == DT_E_INTERRUPTED)
    dt_verdict_claim(cx, c, mine);
  dt_lane_end(c);
  dt_board_post(c, DT_POST_MEET, c->meet->slot, key, (uint64_t)mine, i);
  atomic_store(&c->board->posts[c->rank].status[par], (int)mine);
  dt_agree_arrive(c->meet, key, &nothing);
  if (dt_agree_all_arrived(c->meet->slot, key) &&
      dt_agree_decide(c->meet->slot, key, false))
    dt_bell_ring(c->meet->slot);
  DT_TRY(cx, await_decided(cx, c->meet, key, NULL));
  for (r = 0; r < c->size; r++)
    seen[r] = (DtStatus)atomic_load(&c->board->posts[r].status[par]);
  st = sum_up(cx, c, mine, seen);
  if (st != DT_OK)
    c->era = c->epoch + 1;
  if (all != NULL)
    memcpy(all, seen, (size_t)c->size * sizeof *all);
  c->epoch++;
  c->astray = false;
  dt_board_post(c, DT_POST_RUN, NULL, 0, 0, NULL);
  return st;
}

/* --- the next line ------------------------------------------------------ */

/* A line is not broken off by Ctrl-C nor by the verdict; only a circle, as
** when ranks stop at different places, ends the wait. */
static DtStatus check_line (DtCtx *cx, DtComm *c, DtWait *w) {
  dt_wait_check(c, w);
  if (w->lost < 0 && dt_agree_stuck(c)) {
    dt_verdict_claim(cx, c, DT_E_DIVERGED);
    return dt_verdict_await(cx, c->line);
  }
  return DT_OK;
}

/* This rank has taken the piece; all others must. */
static DtStatus await_taken (DtCtx *cx, DtGroup *g, uint64_t key) {
  DtWait w;
  int i = 0;
  dt_board_post(g->comm, DT_POST_LINE, g->slot, key, 0, NULL);
  atomic_store(&dt_board_cell(g->slot, g->me)->done, key * 2);
  dt_bell_ring(g->slot);
  dt_wait_init(&w, g->comm->board, g->slot, DT_NAP_MS);
  for (;;) {
    dt_wait_look(&w);
    while (i < g->size &&
           atomic_load(&dt_board_cell(g->slot, i)->done) >= key * 2)
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

/* One piece: rank 0 lays it on the board, the others wait for it.  The board
** has room for one piece, so rank 0 may write the next only when all have
** taken this one (await_taken). */
static DtStatus pass_piece (DtCtx *cx, DtGroup *g, uint64_t key,
                            uint64_t *total) {
  static const DtCollInfo next_line = {"next line", 0, "", "", ""};
  DtCell *root = dt_board_cell(g->slot, 0);
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
  atomic_store(&dt_board_cell(g->slot, g->me)->key, key);
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
  DT_TRY(cx, dt_agree_alive(cx, c));
  do {
    size_t len = total - off < DT_BOARD_PIECE ? (size_t)(total - off)
                                              : DT_BOARD_PIECE;
    uint64_t key = dt_agree_next_key(c->line);
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

/* A rank that finds that it can never be joined breaks the try for all: the
** others begin the next one, under the next key. */
DtStatus dt_agree_stop (DtCtx *cx, DtGroup *g, const DtCollInfo *i, bool *all) {
  static const DtOffer nothing = {0, NULL, NULL, 0};
  DtComm *c = g->comm;
  DtBoardGroup *bg = g->slot;
  DtStatus st = dt_agree_alive(cx, c);
  bool gone = false;
  *all = false;
  while (st == DT_OK && !gone && !*all) {
    uint64_t key = (atomic_load(&bg->decided) >> 1) + 1;
    dt_board_post(c, DT_POST_STOP, bg, key, 0, i);
    dt_agree_arrive(g, key, &nothing);
    if (dt_agree_all_arrived(bg, key) && dt_agree_decide(bg, key, false))
      dt_bell_ring(bg);
    st = await_decided(cx, g, key, &gone);
    *all = st == DT_OK && atomic_load(&bg->decided) == key << 1;
    gone = gone && !*all;
  }
  dt_board_post(c, DT_POST_RUN, NULL, 0, 0, NULL);
  if (st == DT_OK && !*all && dt_agree_interrupted(cx, c))
    return dt_raise(cx, DT_E_INTERRUPTED, "interrupted");
  return st;
}
