/* SPDX-License-Identifier: MIT
** comm/verdict.c: why a chunk broke off: Ctrl-C, or ranks that took different
** paths, in words that all ranks say; and the search for circles of needs,
** which finds the latter. */
#include <stddef.h>
#include <string.h>
#include "base/error_comm.h"
#include "comm/agree_int.h"

enum { ARRIVAL_MS = 1000 };     /* at most, for ranks that still compute */

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

/* Do they wait at the same place under the same name? */
static bool same_name (const DtSnap *a, const DtSnap *b) {
  return a->state == DT_POST_WAIT && b->state == DT_POST_WAIT &&
         a->slot == b->slot && a->key == b->key &&
         memcmp(&a->text, &b->text, offsetof(DtPostText, s.size)) == 0;
}

/* A line for each set of ranks that do the same. */
static void write_groups (DtComm *c, bool sizes, DtBuf *b) {
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
    dt_board_doing(c->board, b, &c->snap[r], sizes);
    dt_buf_addc(b, '\n');
  }
}

/* How two ranks that wait at the same place under the same name differ. */
typedef enum Differ {
  DIFFER_NOT,                 /* there are no two such ranks */
  DIFFER_SIZE,                /* in what they give, as far as that is known */
  DIFFER_REST,                /* in the reduction, or in the root */
  DIFFER_ELSE
} Differ;

/* "f32[2], sum, root 1": the part of the tensor. */
static size_t length_of_size (const char *size) {
  const char *end = strchr(size, ']');
  return end != NULL ? (size_t)(end - size) : strcspn(size, ",");
}

static Differ how_texts_differ (const char *a, const char *b) {
  size_t n = length_of_size(a);
  if (strcmp(a, b) == 0) return DIFFER_ELSE;
  return n != length_of_size(b) || memcmp(a, b, n) != 0 ? DIFFER_SIZE : DIFFER_REST;
}

static Differ what_differs (const DtComm *c) {
  for (int r = 0; r < c->size; r++)
    for (int q = 0; q < r; q++) {
      const DtSnap *a = &c->snap[r], *b = &c->snap[q];
      if (same_name(a, b) && a->hash != b->hash)
        return how_texts_differ(a->text.s.size, b->text.s.size);
    }
  return DIFFER_NOT;
}

static bool some_run (const DtComm *c) {
  int r;
  for (r = 0; r < c->size; r++)
    if (c->snap[r].state == DT_POST_RUN || c->snap[r].state == DT_POST_MOVE)
      return true;
  return false;
}

/* Copy what all ranks do.  Who still computes is most often about to arrive,
** and the verdict should say where: it gets a moment.  Ctrl-C and a rank that
** is gone end the moment, too. */
static void await_arrivals (DtCtx *cx, DtComm *c) {
  uint64_t end = dt_board_ms() + ARRIVAL_MS;
  DtWait w;
  dt_wait_init(&w, c->board, c->meet->slot, 1);
  for (;;) {
    dt_wait_look(&w);
    take_snapshot(c);
    if (!some_run(c) || w.lost >= 0 || dt_agree_interrupted(cx, c))
      return;
    if (!dt_wait_pause(&w))
      continue;
    dt_wait_check(c, &w);
    if (dt_board_ms() >= end) {
      take_snapshot(c);
      return;
    }
  }
}

static bool some_wait (const DtComm *c) {
  for (int r = 0; r < c->size; r++)
    if (c->snap[r].state == DT_POST_WAIT)
      return true;
  return false;
}

/* Does every rank wait for a message that another one is to send? */
static bool all_receive (const DtComm *c) {
  for (int r = 0; r < c->size; r++)
    if (c->snap[r].state != DT_POST_WAIT ||
        strncmp(c->snap[r].text.s.op, "recv", 4) != 0)
      return false;
  return true;
}

/* Why ranks took different paths; or, where Ctrl-C ended a wait, who waited and
** for whom: nobody knows better what hung. */
static void explain (DtCtx *cx, DtComm *c, DtStatus st, DtBuf *text) {
  if (st == DT_E_INTERRUPTED) {
    take_snapshot(c);
    if (some_wait(c))
      write_groups(c, false, text);
  } else if (st == DT_E_DIVERGED) {
    await_arrivals(cx, c);
    static const char *const words[] = {
      [DIFFER_NOT] = "", [DIFFER_SIZE] = "the sizes differ\n",
      [DIFFER_REST] = "the reductions or the roots differ\n",
      [DIFFER_ELSE] = "the sizes or specs differ\n"
    };
    Differ differs = what_differs(c);
    write_groups(c, differs == DIFFER_SIZE || differs == DIFFER_REST, text);
    dt_buf_add(text, words[differs]);
    if (all_receive(c))
      dt_buf_add(text, "all ranks receive and none sends: send first on one "
                 "side, or exchange by batch_isend_irecv\n");
  }
}

/* The first to claim writes the verdict of this chunk.  Two words: `claimed`
** picks the writer, `verdict` is stored when the text is complete, so who
** sees a verdict can read its words. */
void dt_verdict_claim (DtCtx *cx, DtComm *c, DtStatus st) {
  DtBoard *b = c->board;
  unsigned par = c->epoch & 1;
  uint64_t old = atomic_load(&b->claimed[par]);
  uint64_t mine = (uint64_t)c->epoch << 8 | (uint64_t)st;
  while (old >> 8 != c->epoch) {
    if (!atomic_compare_exchange_weak(&b->claimed[par], &old, mine))
      continue;
    DtBuf text;
    size_t n;
    dt_buf_init(&text, cx);
    explain(cx, c, st, &text);
    n = text.len < DT_BOARD_EXPLAIN ? text.len : DT_BOARD_EXPLAIN - 1;
    memcpy(b->explain[par], dt_buf_str(&text), n);
    b->explain[par][n] = '\0';
    dt_buf_fini(&text);
    atomic_store(&b->verdict[par], mine);
    return;
  }
}

/* Raise what the chunk broke off with; the words are on the board.  Who goes
** on behind a pcall hears that the chunk is over: the place of each rank is
** not known, so nothing can be sent before they have met at its end. */
DtStatus dt_verdict_raise (DtCtx *cx, DtComm *c, DtStatus st,
                           bool again) {
  const char *text = c->board->explain[c->epoch & 1], *p = text;
  DtBuf line;
  c->told = c->epoch + 1;
  if (st == DT_E_INTERRUPTED) {
    (void)dt_raise(cx, st, "interrupted");
    dt_buf_add(&cx->err.explain, text);
    return st;
  }
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

DtStatus dt_verdict_await (DtCtx *cx, DtGroup *g) {
  DtWait w;
  DtStatus st;
  dt_wait_init(&w, g->comm->board, g->slot, 1);
  for (;;) {
    dt_wait_look(&w);
    st = dt_verdict_of(g->comm);
    if (st != DT_OK)
      return dt_verdict_raise(cx, g->comm, st, false);
    if (w.lost >= 0)
      return dt_board_lost(cx, g->comm, w.lost);
    if (dt_wait_pause(&w))
      dt_wait_check(g->comm, &w);
  }
}

/* --- circles of needs --------------------------------------------------- */

static bool in_circle (DtComm *c, int r);

static bool needs_circle (DtComm *c, int r) {
  if (c->snap[r].color == 1)
    return true;
  return c->snap[r].color == 0 && in_circle(c, r);
}

/* Who gives way is bound for nobody but itself; ranks that have stopped are for
** one that a breakpoint holds, too: they will not come to its place. */
static bool gives_way (const DtComm *c, const DtSnap *s) {
  const DtSnap *me = &c->snap[c->rank];
  if (s->state == DT_POST_PACE)
    return s != me;
  return me->state != DT_POST_STOP && me->state != DT_POST_PACE;
}

/* How many members of its group, from the first on, a rank may wait for. */
static int may_need (const DtComm *c, const DtSnap *s, DtBoardGroup *bg) {
  switch (s->state) {
  case DT_POST_WAIT: case DT_POST_MEET:
    return atomic_load(&bg->decided) >> 1 >= s->key ? 0 : bg->size;
  case DT_POST_STOP:
    return !gives_way(c, s) && atomic_load(&bg->decided) >> 1 < s->key
           ? bg->size : 0;
  case DT_POST_PACE:
    return !gives_way(c, s) && atomic_load(&bg->decided) >> 32 < s->key
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
      return still_needs(s, dt_board_cell(bg, m));
  }
  return false;
}

/* Can rank r, as copied, reach a circle?  color: 0 new, 1 on the way here, 2
** reaches none.  Each rank is entered once, which bounds the recursion by
** the size of the world. */
static bool in_circle (DtComm *c, int r) {
  DtSnap *s = &c->snap[r];
  DtBoardGroup *bg = dt_board_at(c->board, s->slot);
  int m, n = may_need(c, s, bg);
  s->color = 1;
  if (not_yet_there(bg, s, r, n))
    n = 0;
  for (m = 0; m < n; m++) {
    if (still_needs(s, dt_board_cell(bg, m)) &&
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
