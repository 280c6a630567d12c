/* SPDX-License-Identifier: MIT
** comm/comm.h: collectives behind one vtable.  The code above cannot tell the
** worlds apart: `threads` (N ranks in this process), `mpi` (real processes),
** `fake` (one rank of a pretend world; no data moves).
**
** Reduction order: every world reduces in rank order (comm/order.c), so
** results are equal bit for bit.  All waits sleep and can be broken off:
** dt_ctx_poll() is asked in every wait, and INTERRUPTED ends it.
**
** Agreement: every public collective first agrees with its group on
** (sequence, operator, hash of specs, caller's text): a mismatched collective
** never starts.  A mismatch, or a rank that ended its chunk instead, raises
** DIVERGED on all ranks of the group with the groups of ranks in `explain`. */
#ifndef DT_COMM_COMM_H
#define DT_COMM_COMM_H

#include "base/ctx.h"
#include "kernel/kernel.h"

typedef struct DtComm DtComm;       /* a world as one rank sees it */
typedef struct DtGroup DtGroup;     /* some of its ranks, in an order */
typedef struct DtMsg DtMsg;         /* one side of a message under way */

/* What a rank is about to do; hashed for agreement, printed on divergence. */
typedef struct DtCollInfo {
  const char *op;           /* "all_gather_into_tensor" */
  uint64_t hash;            /* of specs and sizes: must be equal on all ranks */
  const char *what;         /* "aten.mm.default #7" or "" */
  const char *where;        /* "repro.lua:14" or "" */
  const char *size;         /* "f32[4, 2]", what this rank gives, or "" */
} DtCollInfo;

typedef enum DtWorldKind { DT_WORLD_THREADS, DT_WORLD_MPI, DT_WORLD_FAKE }
  DtWorldKind;

/* What a member brings to an agreement: the hash that must be equal, and the
** buffers of the collective that follows (threads shows them to the others;
** the first `small` bytes of `in`, if any, travel with the agreement). */
typedef struct DtOffer {
  uint64_t hash;
  const void *in;
  void *out;
  size_t small;
} DtOffer;

/* out = op over `n` elements of every member; both borrowed. */
typedef struct DtReduction {
  DtRedOp op;
  DtDtype dtype;
  const void *in;
  void *out;
  int64_t n;
} DtReduction;

/* The members every world implements.  Sizes are bytes or elements as said.
** The data movers are called only when the whole group has agreed: nobody
** waits in them for a rank that does not come, so they need not be broken
** off (RANK_LOST ends them).  Optional members may be NULL; the default is
** stated. */
typedef struct DtCommVt {
  const char *name;                           /* "threads" */
  DtWorldKind kind;
  /* Make what a group needs; NULL: nothing is needed.  Local. */
  DtStatus (*group_open) (DtCtx *cx, DtComm *c, DtGroup *g);
  void (*group_close) (DtCtx *cx, DtComm *c, DtGroup *g);
  /* All members arrive with the same `hash`, or all break off.  Sleeps and
  ** polls. */
  DtStatus (*agree) (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                     const DtOffer *o);
  /* in may be block `me` of out. */
  DtStatus (*all_gather) (DtCtx *cx, DtGroup *g, const void *in,
                          size_t nbytes, void *out);
  /* Block i of `in` (nbytes each) goes to member i. */
  DtStatus (*all_to_all) (DtCtx *cx, DtGroup *g, const void *in,
                          size_t nbytes, void *out);
  /* out = op over members, in group order; NULL: all_to_all + order.c. */
  DtStatus (*all_reduce) (DtCtx *cx, DtGroup *g, const DtReduction *r);
  /* in has g->size blocks of n elements; NULL: all_to_all + order.c. */
  DtStatus (*reduce_scatter) (DtCtx *cx, DtGroup *g, const DtReduction *r);
  /* --fast-reduce: the world's own all_reduce, in any order, for the pairs it
  ** can do; NULL: none. */
  bool (*fast_can) (const DtReduction *r);
  DtStatus (*fast_reduce) (DtCtx *cx, DtGroup *g, const DtReduction *r);
  DtStatus (*broadcast) (DtCtx *cx, DtGroup *g, void *buf, size_t nbytes,
                         int root);
  /* root's block i goes to member i. */
  DtStatus (*scatter) (DtCtx *cx, DtGroup *g, const void *in, size_t nbytes,
                       void *out, int root);
  /* Messages between two ranks (p2p_int.h); NULL: nothing comes.  Begin to
  ** move one side, which is posted next; end when both sides are posted: the
  ** receiver has the data then. */
  DtStatus (*msg_begin) (DtCtx *cx, DtComm *c, DtMsg *m);
  DtStatus (*msg_end) (DtCtx *cx, DtComm *c, DtMsg *m);
  /* Has the message gone: is the sender's copy no longer needed, has the
  ** receiver the data?  NULL: at once. */
  bool (*msg_gone) (DtComm *c, DtMsg *m);
  /* Let go of what the world has for it, moved or not; NULL: nothing. */
  void (*msg_free) (DtCtx *cx, DtComm *c, DtMsg *m);
  /* Called in every wait: move what has begun; true while something is on its
  ** way.  NULL: it moves by itself. */
  bool (*progress) (DtComm *c);
  /* See dt_comm_meet(), dt_comm_share(), dt_comm_alive(). */
  DtStatus (*meet) (DtCtx *cx, DtComm *c, DtStatus mine, const DtCollInfo *i,
                    DtStatus *all);
  DtStatus (*share) (DtCtx *cx, DtComm *c, char **text, size_t *n);
  DtStatus (*alive) (DtCtx *cx, DtComm *c);
  /* See dt_comm_stop(); NULL: this rank is alone. */
  DtStatus (*stop) (DtCtx *cx, DtGroup *g, const DtCollInfo *i, bool *all);
  /* What every rank is doing, for :status. */
  void (*status) (DtComm *c, DtBuf *b);
  void (*close) (DtCtx *cx, DtComm *c);
} DtCommVt;

struct DtComm {
  const DtCommVt *vt;
  int rank, size;
  uint64_t seq;                 /* collectives started on this rank */
  uint32_t epoch;               /* chunks: counts dt_comm_meet() */
  uint32_t era;                 /* the first epoch after the last chunk that
                                ** failed: messages count in it */
  uint32_t told;                /* epoch + 1 whose breaking off this rank has
                                ** heard of */
  bool fast;                    /* --fast: no agreement (mpi) */
  bool fast_reduce;             /* --fast-reduce: MPI's own reduction */
  bool no_data;                 /* fake */
  bool calm;                    /* the shell's own collectives, between the
                                ** meeting and the next chunk: Ctrl-C does not
                                ** break them off (set on all ranks) */
  bool dead;                    /* a rank was lost: nothing works any more */
  bool wide;                    /* several hosts: no data with agreement */
  DtGroup *groups;              /* cache of opened groups */
  DtGroup **channels;           /* and of channels for messages: chains */
  DtMsg *msgs;                  /* under way, in the order they were posted */
  DtGroup *world;               /* all ranks, in their order */
  /* Called at most once per wait, after two seconds for a rank that is
  ** stopped (same host); may be NULL.  The text lives during the call. */
  void (*notice) (void *ud, const char *line);
  void *notice_ud;
  DtGroup *meet, *line;         /* all ranks too: end of chunk, next line */
  DtGroup *stops;               /* twins of groups, for debuggers' stops */
  DtGroup *pace;                /* all ranks: dt_comm_pace(), NULL: not yet */
  bool astray;                  /* keeps no pace until its next collective */
  struct DtBoard *board;        /* shared by the ranks of rank 0's host; NULL
                                ** in fake and on other hosts */
  struct DtFar *far;            /* on another host: the way to rank 0's */
  struct DtSnap *snap;          /* room to copy the posts to, */
  DtStatus *statuses;           /* and the statuses */
  void *impl;                   /* the world's own state */
};

struct DtGroup {
  DtGroup *next;
  DtComm *comm;
  int size, me;                 /* me: my index in the group */
  int *ranks;                   /* world ranks in group order */
  uint64_t hash, salt;          /* salt: apart from others of these ranks */
  uint32_t seq, epoch;          /* agreements in this group, this chunk */
  struct DtBoardGroup *slot;    /* its place on the board */
  void *impl;
  bool channel;                 /* for messages: agrees on nothing */
};

/* The group of these world ranks, opened once and cached (borrowed).
** NOTMEMBER when this rank is not in it, VALUE for bad ranks.  Local. */
DtStatus dt_comm_group (DtCtx *cx, DtComm *c, int n, const int *ranks,
                        DtGroup **out);
/* Leave the world and free the comm; NULL is accepted.  Never waits long:
** with a lost rank or an error nothing is exchanged.  Local. */
void dt_comm_free (DtCtx *cx, DtComm *c);

/* The public collectives.  Each agrees first, then moves bytes.  Sizes are
** equal on all members (hashed).  in and out do not overlap unless equal where
** said.  Collective over the group.  COMM, DIVERGED, RANK_LOST, INTERRUPTED.
** In a fake world without data nothing moves and pointers may be NULL. */
DtStatus dt_comm_all_gather (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                             const void *in, size_t nbytes, void *out);
DtStatus dt_comm_all_to_all (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                             const void *in, size_t nbytes, void *out);
DtStatus dt_comm_all_reduce (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                             const DtReduction *r);     /* in == out allowed */
DtStatus dt_comm_reduce_scatter (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                                 const DtReduction *r);  /* in: n per member */
DtStatus dt_comm_broadcast (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                            void *buf, size_t nbytes, int root);
DtStatus dt_comm_scatter (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                          const void *in, size_t nbytes, void *out, int root);
DtStatus dt_comm_barrier (DtCtx *cx, DtGroup *g, const DtCollInfo *i);
/* A message to or from one other rank (p2p.c).  `data` is borrowed: read when
** a sender posts, written when a receiver's wait is over.  `group` keeps apart
** what is sent in different groups of ranks. */
typedef struct DtLetter {
  bool send;
  int peer, tag;                /* peer: rank of the world */
  uint64_t group;
  void *data;
  size_t nbytes;                /* a receiver may get fewer, never more */
  DtDtype dtype;                /* of what is in it: equal on both sides */
} DtLetter;
/* Post one side: never waits for the other.  *out lives until it is dropped.
** VALUE, NOMEM, COMM.  Local. */
DtStatus dt_comm_post (DtCtx *cx, DtComm *c, const DtLetter *l, DtMsg **out);
/* Nobody will wait for it any more; what was posted goes on its way.  Local. */
void dt_comm_drop (DtMsg *m);
/* Wait until the other side is posted, too; `l` as posted.  DIVERGED when
** that can never be, RANK_LOST, INTERRUPTED, RUNTIME when more came than there
** is room, or another type.  Collective over the two ranks. */
DtStatus dt_comm_await (DtCtx *cx, DtComm *c, DtMsg *m, const DtLetter *l,
                        const DtCollInfo *i);
/* How many bytes came, after the wait.  Local. */
size_t dt_comm_came (DtMsg *m);
/* Would the wait end at once?  On other hosts: false until it has.  Local. */
bool dt_comm_arrived (DtComm *c, DtMsg *m);
/* Which of these ranks has sent this one a message that it has not received:
** *peer, or -1 while there is none.  `l`: its tag and group.  NOTIMPL where the
** ranks are on several hosts.  Local. */
DtStatus dt_comm_sender (DtCtx *cx, DtComm *c, const DtLetter *l, int n,
                         const int *ranks, int *peer);
/* Is each of these ranks waiting for others, or has it ended?  Local. */
bool dt_comm_all_wait (DtComm *c, int n, const int *ranks);
/* The ranks' notes (notes.c): one list of bytes.  Write at its end if it has
** `read` bytes, else *written is false; what stands from byte `read` on (lives as
** long as the world).  NOTIMPL on several hosts, LIMIT.  Local. */
DtStatus dt_comm_note (DtCtx *cx, DtComm *c, uint64_t read, const char *text,
                       size_t n, bool *written);
DtStatus dt_comm_notes (DtCtx *cx, DtComm *c, uint64_t read, const char **text,
                        size_t *n);
/* Sleep for half a millisecond.  INTERRUPTED, RANK_LOST.  Local. */
DtStatus dt_comm_nap (DtCtx *cx, DtComm *c);
/* Ranks that run: 1 without a world, and in a fake one, which is one rank alone also
** where it pretends to have data.  Pure. */
int dt_comm_running (const DtComm *c);
/* Gather a small variable-length text from every member (for folding output
** and reports): outs[i] allocated, owned by the caller.  Collective
** over the group. */
DtStatus dt_comm_gather_text (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                              const char *text, size_t n, char **outs,
                              size_t *lens);
/* The end of a chunk: all ranks of the world meet with their status.  DT_OK
** only when all are OK; otherwise every rank gets an error (its own, or one
** naming the ranks that failed).  A rank that waits in a collective for one
** that is here learns it (DIVERGED).  Cannot be broken off but by RANK_LOST;
** after it, all ranks count from the same place again.  Only the shell calls
** it, exactly once per chunk on each rank, whatever happened in the chunk.
** A collective that was broken off before (verdict DIVERGED or INTERRUPTED)
** makes all later ones fail until this meeting, and they say so: the first
** error wins, pcall does not bring the chunk back.
** `i` may be NULL; `all` may be NULL.  Collective over the world. */
DtStatus dt_comm_meet (DtCtx *cx, DtComm *c, DtStatus mine,
                       const DtCollInfo *i, DtStatus *all /* size entries */);
/* In the middle of a chunk: agree on a status that depends on data or files.
** A collective like the others (`i` must be equal on all).  DT_OK only when
** all are OK, else my own error or one naming the ranks that failed.
** Collective over the group. */
DtStatus dt_comm_agree (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                        DtStatus mine);
/* Rank 0's text reaches all ranks: others pass *text == NULL and get an
** allocated copy.  The idle wait between chunks: sleeps, is not broken off by
** Ctrl-C.  DIVERGED when a rank waits elsewhere for ever (only possible inside
** a chunk: a prompt at which not all ranks have stopped); then all must go to
** dt_comm_meet().  RANK_LOST, NOMEM.  Collective over the world. */
DtStatus dt_comm_share (DtCtx *cx, DtComm *c, char **text, size_t *n);
/* A debugger's stop in the middle of a chunk: *all when every rank of the
** group has come to one, each wherever it is; those of the world may then
** share lines and meet.  Not *all when some rank can never come, because it waits for this
** one: the caller goes on and may try again later.  Nothing is broken off by
** trying.  The wait ends with INTERRUPTED by Ctrl-C, and RANK_LOST.
** Collective over the group, softly. */
DtStatus dt_comm_stop (DtCtx *cx, DtGroup *g, const DtCollInfo *i, bool *all);
/* Before a debugger decides on what may be true on some ranks only: say which
** place this rank has come to (a hash) and what was hit here (0: nothing), and
** wait until all ranks of the world are there.  `together`: they do, and
** `rank` is the first that was hit (-1: none), `id` what.  Not together when
** some rank can never come, or has stopped, or lives on another host; nothing
** is broken off by trying.  RANK_LOST.  Collective over the world, softly. */
typedef struct DtPace { bool together; int rank, id; } DtPace;
DtStatus dt_comm_pace (DtCtx *cx, DtComm *c, uint64_t place, int id,
                       DtPace *out);
/* Text on its way to rank 0 while a chunk runs (lane.c).  All ranks live on one
** host and share a board, or there is no way.  Pure. */
bool dt_comm_has_lanes (const DtComm *c);
/* Somebody in rank 0's process takes text from now on, or does not any more.
** Local. */
void dt_comm_text_open (DtComm *c, bool open);
/* Send text from this rank: how many bytes there was room for; the caller keeps
** the rest.  Waits a little for room when somebody takes text.  Local. */
size_t dt_comm_send_text (DtComm *c, const char *s, size_t n);
/* How far a rank is: grows with every agreement of all ranks, which all pass in
** one order, and is the same for all behind the same one; text that a rank
** sends carries the number it was sent at.  Read it before taking text: what
** was sent at smaller numbers is complete then.  Any thread of rank 0's
** process.  Local. */
uint64_t dt_comm_passed (const DtComm *c, int rank);
/* Take the next piece that a rank has sent: appended to `out`, with its number
** in *passed; false when there is none.  One reader at a time, in rank 0's
** process.  Local. */
bool dt_comm_take_text (DtComm *c, int rank, uint64_t *passed, DtBuf *out);
/* Sleep until text is sent after `bell` was read, at most so long (ms, -1: no
** limit); dt_comm_text_wake() ends it, too.  One thread.  Local. */
unsigned dt_comm_text_bell (DtComm *c);
void dt_comm_text_sleep (DtComm *c, unsigned bell, int ms);
void dt_comm_text_wake (DtComm *c);
/* A flag all ranks see: somebody has stopped and waits for the others.  NULL
** in fake.  Local. */
atomic_int *dt_comm_ask (DtComm *c);
/* Are all ranks still there?  RANK_LOST names the one that is not.  Local. */
DtStatus dt_comm_alive (DtCtx *cx, DtComm *c);
/* The interrupt flag that all ranks of the world can see; NULL in fake.
** mpi: rank 0's signal handler sets it to stop all ranks.  Local. */
atomic_int *dt_comm_interrupt (DtComm *c);
/* What each rank is doing now, a line each.  Local. */
void dt_comm_status (DtComm *c, DtBuf *b);

/* Reduction in rank order (order.c): out = op over k blocks of n elements at
** in + i * stride bytes, or at blocks[i] (r->in is not looked at).  out may be
** one of the blocks.  Pure. */
void dt_order_reduce (const DtReduction *r, size_t stride, int k);
void dt_order_reduce_v (const DtReduction *r, const void *const *blocks, int k);

/* --- making worlds --- */

/* N ranks of this process: a hub shared by the threads, then one DtComm per
** rank.  The hub outlives the comms.  VALUE, NOMEM.  Local. */
typedef struct DtHub DtHub;
DtStatus dt_hub_new (DtCtx *cx, int size, DtHub **out);
void dt_hub_free (DtCtx *cx, DtHub *h);
DtStatus dt_comm_threads (DtCtx *cx, DtHub *h, int rank, DtComm **out);
/* A rank ended (or never started): waiting ranks get RANK_LOST.  Local. */
void dt_hub_leave (DtHub *h, int rank);

/* One rank of a pretend world of `size` ranks (up to 2^20).  VALUE.  Local. */
DtStatus dt_comm_fake (DtCtx *cx, int size, int rank, DtComm **out);
/* From now on tensors of a fake world have data (or have none, as at first):
** what would come from other ranks is this rank's own, as in PyTorch's fake
** process group.  Other worlds: nothing.  Local. */
void dt_comm_pretend (DtComm *c, bool data);

/* Real ranks.  Lives in a shared object that is loaded only here, so that
** other worlds do not pay for MPI's start-up.  `dir` is where dtrepl's own
** binary lies.  Ranks on other hosts than rank 0's reach it over TCP.  COMM
** when MPI cannot be loaded or started, or a host is not reached.  Collective
** over the processes of the job. */
DtStatus dt_comm_mpi (DtCtx *cx, const char *dir, DtComm **out);
/* True when this process was started by an MPI launcher (environment only).
** Local. */
bool dt_mpi_launched (void);

/* Symbol of the shared object: fills `c`. */
typedef DtStatus (*DtMpiOpen) (DtCtx *cx, DtComm *c);

/* Make the n-th collective (from 1) of this comm go wrong (tests).  The comm
** stays the caller's; `rank` -1: on every rank.  A second call arms it
** again, counting from 1.  Local. */
typedef enum DtFaultKind {
  DT_FAULT_NONE, DT_FAULT_DELAY,      /* sleep delay_ms first */
  DT_FAULT_FAIL,                      /* COMM instead of starting */
  DT_FAULT_MISMATCH,                  /* another hash than the others */
  DT_FAULT_INTERRUPT                  /* as if Ctrl-C was pressed */
} DtFaultKind;
typedef struct DtFault { int64_t at; int kind; int rank; int delay_ms; } DtFault;
DtStatus dt_comm_fault (DtCtx *cx, DtComm *c, const DtFault *f);

#endif
