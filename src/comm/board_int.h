/* SPDX-License-Identifier: MIT
** comm/board_int.h: the board, a piece of memory that all ranks see (threads:
** this process; mpi: shared between processes).  It holds no pointers, only
** offsets: ranks may see it at different addresses.
**
** Each rank posts what it does; each group has a cell per member where it
** posts its arrival.  Everything that changes is an atomic and, within one
** chunk, only grows, so that what one rank reads late is still true. */
#ifndef DT_COMM_BOARD_INT_H
#define DT_COMM_BOARD_INT_H

#include "comm/comm.h"

enum { DT_BOARD_EXPLAIN = 8192, DT_BOARD_PIECE = 32768,
       DT_BOARD_LINE = 64, DT_POST_WORDS = 31,
       DT_CELL_SMALL = 512, DT_BOARD_CHAINS = 1024,
       DT_LANE_BYTES = 16384, DT_NOTES_BYTES = 4 << 20 };

typedef enum DtPostState {
  DT_POST_RUN,                /* computes */
  DT_POST_WAIT,               /* waits for its group to agree */
  DT_POST_MOVE,               /* moves data: everybody is there */
  DT_POST_MEET,               /* has ended its chunk */
  DT_POST_IDLE,               /* waits for rank 0's next line */
  DT_POST_LINE,               /* has it, waits until all others have */
  DT_POST_GONE,               /* has left */
  DT_POST_STOP,               /* the debugger waits for the others */
  DT_POST_PACE                /* so does a breakpoint, see pace.c */
} DtPostState;

/* What a collective is, as a fixed block of text that can be copied word by
** word: op, what, where; size is no part of its name. */
typedef union DtPostText {
  struct { char op[48], what[80], where[64], size[56]; } s;
  uint64_t word[DT_POST_WORDS];
} DtPostText;

/* One rank's post.  `ver` is odd while it is being written. */
typedef struct DtPost {
  _Alignas(DT_BOARD_LINE) _Atomic uint64_t ver;
  _Atomic uint64_t state, slot, key, hash, since;
  _Atomic uint64_t text[DT_POST_WORDS];
  atomic_int pid;             /* 0: a thread of this process */
  atomic_int status[2];       /* at the end of the chunk, by epoch parity */
} DtPost;

/* A member's place in a group.  key = epoch << 32 | number in the epoch.
** The cells of a channel for messages end before `data`. */
typedef struct DtCell {
  _Alignas(DT_BOARD_LINE) _Atomic uint64_t key;
  _Atomic uint64_t done;      /* 2 * key: its data is no longer needed */
  _Atomic uint64_t hash, in, out;
  /* Small data, by parity of the key: a member that overwrites its data of
  ** two agreements ago knows that all have arrived at the one between. */
  _Alignas(DT_BOARD_LINE) char data[2][DT_CELL_SMALL];
} DtCell;

/* A group; its cells, then its ranks, follow in memory. */
typedef struct DtBoardGroup {
  _Alignas(DT_BOARD_LINE) uint64_t next;   /* offset, 0 = last */
  uint64_t hash, self;        /* self: own offset */
  int size;
  uint32_t stride;            /* bytes from cell to cell */
  _Atomic uint64_t decided;   /* key << 1 | broken; the first writer wins */
  _Alignas(DT_BOARD_LINE) atomic_uint bell;
  atomic_int sleepers;
} DtBoardGroup;

/* What one rank printed and rank 0 has not taken yet: a ring, with one writer
** and one reader (lane.c). */
typedef struct DtLane {
  _Alignas(DT_BOARD_LINE) _Atomic uint64_t head;      /* bytes written, ever */
  _Atomic uint64_t passed;    /* where this rank is: epoch << 32 | number of
                              ** agreements of all ranks; at the end of the
                              ** chunk the largest of the epoch */
  _Alignas(DT_BOARD_LINE) _Atomic uint64_t tail;      /* bytes taken, ever */
  char data[DT_LANE_BYTES];
} DtLane;

typedef struct DtBoard {
  size_t total;
  uint64_t lanes;             /* offset of DtLane[size] */
  atomic_uint text_bell;      /* rung with new text */
  atomic_int text_sleeper;    /* somebody sleeps on it */
  atomic_int text_taken;      /* somebody takes text */
  int size;
  int looks, offers;          /* turns of a wait before it sleeps */
  _Atomic uint64_t used;
  uint64_t notes;             /* offset of the ranks' notes (notes.c) */
  _Atomic uint64_t noted;     /* bytes of them, which only grow */
  atomic_int noting;          /* their lock */
  atomic_int lock, interrupt;
  atomic_int ask;             /* a rank has stopped: the others shall, too */
  atomic_int lost;            /* the first rank found gone, as 2 * rank + 2, + 1
                              ** if it died; later ones left because of it */
  _Atomic uint64_t first[DT_BOARD_CHAINS];    /* groups, by their hash */
  /* Why this chunk broke off: epoch << 8 | status, by epoch parity. */
  _Atomic uint64_t claimed[2], verdict[2];
  char explain[2][DT_BOARD_EXPLAIN];
  char piece[DT_BOARD_PIECE]; /* of rank 0's line */
  DtPost posts[];
} DtBoard;

/* A copy of a post, taken at one moment. */
typedef struct DtSnap {
  DtPostState state;
  uint64_t slot, key, hash, since;
  int color;                  /* of the search */
  bool mark;                  /* of the list that is being written */
  DtPostText text;
} DtSnap;

static inline DtCell *dt_board_cell (DtBoardGroup *bg, int m) {
  return (DtCell *)(void *)((char *)(bg + 1) + (size_t)m * bg->stride);
}
static inline int32_t *dt_board_ranks (DtBoardGroup *bg) {
  return (int32_t *)(void *)dt_board_cell(bg, bg->size);
}
/* Member m's small data of the agreement this rank is in. */
static inline const char *dt_board_small (DtGroup *g, int m) {
  return dt_board_cell(g->slot, m)->data[g->seq & 1];
}
static inline DtBoardGroup *dt_board_at (DtBoard *b, uint64_t off) {
  return (DtBoardGroup *)((char *)b + off);
}

/* --- board.c --- */

/* Bytes to map for a world; write the head of zeroed memory.  Pure; Local. */
size_t dt_board_bytes (int size);
void dt_board_init (DtBoard *b, int size);
/* Find or make a group's place.  LIMIT when the board is full.  Local. */
DtStatus dt_board_group (DtCtx *cx, DtComm *c, DtGroup *g);
/* Say what this rank does now.  `i` NULL: keep the text.  Local. */
void dt_board_post (DtComm *c, DtPostState s, const DtBoardGroup *bg,
                    uint64_t key, uint64_t hash, const DtCollInfo *i);
/* Copy a rank's post; false when it was being written all the time. */
bool dt_board_read (const DtComm *c, int rank, DtSnap *out);
/* Milliseconds of a clock that all ranks of a host share.  Pure. */
uint64_t dt_board_ms (void);
/* Letter of /proc/PID/stat; 'X' when the process is no more. */
char dt_board_procstate (int pid);
/* After a loss: wait until rank 0 has left, a second at most.  A launcher ends the
** job with the first rank that fails, and rank 0 has to say before it which one was
** lost.  Local. */
void dt_board_let_tell (const DtComm *c);
/* RANK_LOST about this rank; sets c->dead.  Local. */
DtStatus dt_board_lost (DtCtx *cx, DtComm *c, int rank);
/* RANK_LOST when a rank has gone.  Sets c->dead.  Local. */
DtStatus dt_board_alive (DtCtx *cx, DtComm *c);
void dt_board_status (DtComm *c, DtBuf *b);
/* "ranks 0,2-3" of those whose mark is set; what a rank does, in words,
** `sizes`: and of which size is what it gives. */
void dt_board_ranklist (DtBuf *b, const DtSnap *snap, int n);
void dt_board_doing (DtBoard *board, DtBuf *b, const DtSnap *s, bool sizes);

/* One wait: spins for a moment, then sleeps on the group's bell. */
typedef struct DtWait {
  DtBoardGroup *bg;
  int turns, looks, offers;
  unsigned bell;
  long nap_ns, nap_max;
  uint64_t began, looked;
  bool told;
  int lost;                   /* a rank that is gone, -1 = none */
} DtWait;
void dt_wait_init (DtWait *w, DtBoard *b, DtBoardGroup *bg, long nap_max_ms);
/* Remember the bell; call before looking whether the wait is over. */
static inline void dt_wait_look (DtWait *w) {
  w->bell = atomic_load(&w->bg->bell);
}
/* Spin or sleep a little.  True when it slept (time for the slow checks). */
bool dt_wait_pause (DtWait *w);
/* Everyone's slow check, at most every 100 ms: sets w->lost when a rank is
** gone.  It may have gone after the wait was over: look again, then raise. */
void dt_wait_check (DtComm *c, DtWait *w);
void dt_bell_ring (DtBoardGroup *bg);

/* --- lane.c --- */

static inline DtLane *dt_board_lane (DtBoard *b, int rank) {
  return (DtLane *)(void *)((char *)b + b->lanes) + rank;
}
/* This rank has come to an agreement of all ranks / to the end of its chunk:
** what it prints from here on lies behind it.  Local. */
void dt_lane_pass (DtComm *c);
void dt_lane_end (DtComm *c);

/* --- agree.c, verdict.c, meet.c --- */

/* The members agree, meet and share of worlds that have a board. */
DtStatus dt_agree_group (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                         const DtOffer *o);
DtStatus dt_agree_meet (DtCtx *cx, DtComm *c, DtStatus mine,
                        const DtCollInfo *i, DtStatus *all);
/* After agreement: this rank needs nobody's data any more; return when that
** is true of all members.  `half`: a step in between, at most one.
** RANK_LOST. */
DtStatus dt_agree_done (DtCtx *cx, DtGroup *g, bool half);
/* Is there a circle of waiting ranks that contains this one? */
bool dt_agree_stuck (DtComm *c);
DtStatus dt_agree_share (DtCtx *cx, DtComm *c, char **text, size_t *n);
DtStatus dt_agree_stop (DtCtx *cx, DtGroup *g, const DtCollInfo *i, bool *all);
DtStatus dt_agree_pace (DtCtx *cx, DtGroup *g, uint64_t place, int id,
                        DtPace *out);

/* --- comm.c --- */

/* Lay out what all worlds share: world group, snapshot room.  Local. */
DtStatus dt_comm_setup (DtCtx *cx, DtComm *c);
/* A comm with its vtable; the caller fills the rest. */
DtStatus dt_comm_new (DtCtx *cx, const DtCommVt *vt, int rank, int size,
                      DtComm **out);

#endif
