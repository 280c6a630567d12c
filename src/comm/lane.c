/* SPDX-License-Identifier: MIT
** comm/lane.c: what a rank prints, on its way to rank 0 while the chunk runs.
**
** Each rank has a ring on the board.  It writes pieces (where it is, how long,
** bytes); rank 0's process takes them.  `head` and `tail` only grow; each has
** one writer, so no lock is needed.  A rank that finds no room waits for the
** reader, who is fast; should he be asleep, it keeps its text.
**
** "Where it is" counts the agreements of all ranks in this chunk.  A rank counts
** itself past one before it arrives there, after it has sent what it printed:
** who sees all ranks past a number has, on the board, all that was printed
** before it. */
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "comm/board_int.h"

/* Before the bytes of a piece. */
typedef struct Head { uint64_t passed; uint32_t n; } Head;
enum {
  HEAD = 12,                    /* its bytes in the ring, unpadded */
  PATIENCE_MS = 2000            /* for a reader that does not run */
};

bool dt_comm_has_lanes (const DtComm *c) {
  return c->board != NULL && !c->wide && !c->no_data;
}

/* --- where a rank is ---------------------------------------------------- */

static uint64_t count_from (const DtComm *c, uint64_t passed) {
  uint64_t first = (uint64_t)c->epoch << 32;
  return passed > first ? passed : first;
}

void dt_lane_pass (DtComm *c) {
  DtLane *l = dt_board_lane(c->board, c->rank);
  uint64_t at = atomic_load_explicit(&l->passed, memory_order_relaxed);
  atomic_store_explicit(&l->passed, count_from(c, at) + 1,
                        memory_order_release);
}

void dt_lane_end (DtComm *c) {
  DtLane *l = dt_board_lane(c->board, c->rank);
  atomic_store_explicit(&l->passed, (uint64_t)c->epoch << 32 | UINT32_MAX,
                        memory_order_release);
}

uint64_t dt_comm_passed (const DtComm *c, int rank) {
  return atomic_load_explicit(&dt_board_lane(c->board, rank)->passed,
                              memory_order_acquire);
}

/* --- pieces ------------------------------------------------------------- */

static void copy_in (DtLane *l, uint64_t at, const void *from, size_t n) {
  size_t i = (size_t)(at % DT_LANE_BYTES), k = DT_LANE_BYTES - i;
  k = k < n ? k : n;
  memcpy(l->data + i, from, k);
  memcpy(l->data, (const char *)from + k, n - k);
}

static void copy_out (const DtLane *l, uint64_t at, void *to, size_t n) {
  size_t i = (size_t)(at % DT_LANE_BYTES), k = DT_LANE_BYTES - i;
  k = k < n ? k : n;
  memcpy(to, l->data + i, k);
  memcpy((char *)to + k, l->data, n - k);
}

void dt_comm_text_open (DtComm *c, bool open) {
  atomic_store(&c->board->text_taken, open);
}

/* Room in the ring behind `head`; waits for some while the reader lives.
** Nobody rings for room: this is rare, and the reader does not know who
** waits. */
static size_t await_room (DtComm *c, DtLane *l, uint64_t head) {
  static const struct timespec nap = {0, 1000000};
  for (int turns = 0; ; turns++) {
    uint64_t tail = atomic_load_explicit(&l->tail, memory_order_acquire);
    size_t room = DT_LANE_BYTES - (size_t)(head - tail);
    if (room > HEAD || turns == PATIENCE_MS || c->dead ||
        atomic_load(&c->board->text_taken) == 0)
      return room;
    (void)nanosleep(&nap, NULL);
  }
}

/* One piece: how much of the text went into it. */
static size_t send_piece (DtComm *c, const char *s, size_t n) {
  DtLane *l = dt_board_lane(c->board, c->rank);
  uint64_t head = atomic_load_explicit(&l->head, memory_order_relaxed);
  size_t room = await_room(c, l, head);
  Head h;
  if (room <= HEAD)
    return 0;
  h.passed = count_from(c, atomic_load_explicit(&l->passed,
                                                memory_order_relaxed));
  h.n = (uint32_t)(n < room - HEAD ? n : room - HEAD);
  copy_in(l, head, &h.passed, sizeof h.passed);
  copy_in(l, head + sizeof h.passed, &h.n, sizeof h.n);
  copy_in(l, head + HEAD, s, h.n);
  atomic_store_explicit(&l->head, head + HEAD + h.n, memory_order_release);
  dt_comm_text_wake(c);
  return h.n;
}

size_t dt_comm_send_text (DtComm *c, const char *s, size_t n) {
  size_t sent = 0, k;
  while (sent < n && (k = send_piece(c, s + sent, n - sent)) > 0)
    sent += k;
  return sent;
}

bool dt_comm_take_text (DtComm *c, int rank, uint64_t *passed, DtBuf *out) {
  DtLane *l = dt_board_lane(c->board, rank);
  uint64_t tail = atomic_load_explicit(&l->tail, memory_order_relaxed);
  uint64_t head = atomic_load_explicit(&l->head, memory_order_acquire);
  char part[1024];
  Head h;
  if (head == tail)
    return false;
  copy_out(l, tail, &h.passed, sizeof h.passed);
  copy_out(l, tail + sizeof h.passed, &h.n, sizeof h.n);
  for (size_t i = 0, k; i < h.n; i += k) {
    k = h.n - i < sizeof part ? h.n - i : sizeof part;
    copy_out(l, tail + HEAD + i, part, k);
    dt_buf_addn(out, part, k);
  }
  atomic_store_explicit(&l->tail, tail + HEAD + h.n, memory_order_release);
  *passed = h.passed;
  return true;
}

/* --- the bell ----------------------------------------------------------- */

unsigned dt_comm_text_bell (DtComm *c) {
  return atomic_load(&c->board->text_bell);
}

/* `bell` was read before the caller looked for text, and the waker changes
** it before it looks for a sleeper: no wake-up is lost. There is one reader,
** so a flag will do. */
void dt_comm_text_sleep (DtComm *c, unsigned bell, int ms) {
  struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
  atomic_store(&c->board->text_sleeper, 1);
  (void)syscall(SYS_futex, &c->board->text_bell, FUTEX_WAIT, bell,
                ms < 0 ? NULL : &t, NULL, 0);
  atomic_store(&c->board->text_sleeper, 0);
}

void dt_comm_text_wake (DtComm *c) {
  atomic_fetch_add(&c->board->text_bell, 1);
  if (atomic_load(&c->board->text_sleeper) != 0)
    (void)syscall(SYS_futex, &c->board->text_bell, FUTEX_WAKE, 1, NULL, NULL,
                  0);
}
