/* SPDX-License-Identifier: MIT
** comm/notes.c: what the ranks tell each other without meeting: notes at the end
** of one list, which all of them read.  A note is written only if its writer has
** read everything before it, so that no two ranks write from the same state:
** the stores of torch.distributed are such lists. */
#include <sched.h>
#include <string.h>
#include <time.h>
#include "base/error_comm.h"
#include "comm/board_int.h"

enum { NAP_NS = 500 * 1000 };

static DtStatus check_board (DtCtx *cx, const DtComm *c) {
  DT_CHECK(cx, c->board != NULL, DT_E_NOTIMPL,
           "a store of ranks on several hosts is not built in");
  return DT_OK;
}

static char *notes_of (DtBoard *b) {
  return (char *)b + b->notes;
}

DtStatus dt_comm_note (DtCtx *cx, DtComm *c, uint64_t read, const char *text,
                       size_t n, bool *written) {
  DtBoard *b = c->board;
  uint64_t end;
  int free_word = 0, turns = 0;
  DT_TRY(cx, check_board(cx, c));
  while (!atomic_compare_exchange_weak(&b->noting, &free_word, 1)) {
    free_word = 0;
    sched_yield();
    if (++turns % 4096 == 0)            /* its holder may have died */
      DT_TRY(cx, dt_board_alive(cx, c));
  }
  end = atomic_load(&b->noted);
  *written = end == read;
  if (*written && n <= DT_NOTES_BYTES - end) {
    memcpy(notes_of(b) + end, text, n);
    atomic_store(&b->noted, end + n);
  }
  atomic_store(&b->noting, 0);
  DT_CHECK(cx, !*written || n <= DT_NOTES_BYTES - end, DT_E_LIMIT,
           "the stores of this session are full (%d bytes)", DT_NOTES_BYTES);
  return DT_OK;
}

DtStatus dt_comm_notes (DtCtx *cx, DtComm *c, uint64_t read, const char **text,
                        size_t *n) {
  uint64_t end;
  DT_TRY(cx, check_board(cx, c));
  end = atomic_load(&c->board->noted);
  *text = notes_of(c->board) + read;
  *n = end > read ? (size_t)(end - read) : 0;
  return DT_OK;
}

DtStatus dt_comm_nap (DtCtx *cx, DtComm *c) {
  struct timespec t = { 0, NAP_NS };
  DT_TRY(cx, dt_ctx_poll(cx));
  if (c->board != NULL)
    DT_TRY(cx, dt_board_alive(cx, c));
  (void)nanosleep(&t, NULL);
  return DT_OK;
}
