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

/* What a rank is about to do; hashed for agreement, printed on divergence. */
typedef struct DtCollInfo {
  const char *op;           /* "all_gather_into_tensor" */
  uint64_t hash;            /* of specs and sizes: must be equal on all ranks */
  const char *what;         /* "aten.mm.default #7" or "" */
  const char *where;        /* "repro.lua:14" or "" */
} DtCollInfo;

typedef enum DtWorldKind { DT_WORLD_THREADS, DT_WORLD_MPI, DT_WORLD_FAKE }
  DtWorldKind;

/* The members every world implements.  Sizes are bytes or elements as said.
** Optional members may be NULL; the default is stated. */
typedef struct DtCommVt {
  const char *name;                           /* "threads" */
  DtWorldKind kind;
  /* Make what a group needs (a communicator); NULL: nothing is needed. */
  DtStatus (*group_open) (DtCtx *cx, DtComm *c, DtGroup *g);
  void (*group_close) (DtCtx *cx, DtComm *c, DtGroup *g);
  /* Exchange `n` bytes with every member: in is n bytes, out g->size * n in
  ** group order.  The base of agreement; must sleep and poll.  `tag` keeps
  ** rounds apart. */
  DtStatus (*exchange) (DtCtx *cx, DtComm *c, DtGroup *g, const void *in,
                        size_t n, void *out);
  DtStatus (*all_gather) (DtCtx *cx, DtComm *c, DtGroup *g, const void *in,
                          size_t nbytes, void *out);
  /* Block i of `in` (nbytes each) goes to member i. */
  DtStatus (*all_to_all) (DtCtx *cx, DtComm *c, DtGroup *g, const void *in,
                          size_t nbytes, void *out);
  /* out = op over members, in group order; NULL: all_to_all + order.c. */
  DtStatus (*all_reduce) (DtCtx *cx, DtComm *c, DtGroup *g, DtRedOp op,
                          DtDtype t, const void *in, void *out, int64_t n);
  /* in has g->size blocks of n elements; NULL: all_to_all + order.c. */
  DtStatus (*reduce_scatter) (DtCtx *cx, DtComm *c, DtGroup *g, DtRedOp op,
                              DtDtype t, const void *in, void *out, int64_t n);
  DtStatus (*broadcast) (DtCtx *cx, DtComm *c, DtGroup *g, void *buf,
                         size_t nbytes, int root);
  /* root's block i goes to member i. */
  DtStatus (*scatter) (DtCtx *cx, DtComm *c, DtGroup *g, const void *in,
                       size_t nbytes, void *out, int root);
  /* Rank 0's text to all, and back: the shell's line (see engine/world.h). */
  DtStatus (*share) (DtCtx *cx, DtComm *c, char **text, size_t *n);
  /* What every rank is doing, for :status; NULL: unknown. */
  void (*status) (DtComm *c, DtBuf *b);
  void (*close) (DtCtx *cx, DtComm *c);
} DtCommVt;

struct DtComm {
  const DtCommVt *vt;
  int rank, size;
  uint64_t seq;                 /* collectives started on this rank */
  bool fast;                    /* --fast: no agreement */
  bool no_data;                 /* fake */
  DtGroup *groups;              /* cache of opened groups */
  DtGroup *world;               /* all ranks */
  void *impl;                   /* the world's own state */
};

struct DtGroup {
  DtGroup *next;
  DtComm *comm;
  int size, me;                 /* me: my index in the group, -1 = outside */
  int *ranks;                   /* world ranks in group order */
  uint64_t hash;
  uint64_t seq;                 /* collectives on this group */
  void *impl;
};

/* The group of these world ranks, opened once and cached (borrowed).
** NOTMEMBER when this rank is not in it.  Collective over the group. */
DtStatus dt_comm_group (DtCtx *cx, DtComm *c, int n, const int *ranks,
                        DtGroup **out);
void dt_comm_free (DtCtx *cx, DtComm *c);

/* The public collectives.  Each agrees first, then moves bytes.  Sizes are
** equal on all members (hashed).  in and out do not overlap unless equal where
** said.  Collective over the group.  COMM, DIVERGED, RANK_LOST, INTERRUPTED,
** META_NO_DATA (fake with data asked). */
DtStatus dt_comm_all_gather (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                             const void *in, size_t nbytes, void *out);
DtStatus dt_comm_all_to_all (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                             const void *in, size_t nbytes, void *out);
DtStatus dt_comm_all_reduce (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                             DtRedOp op, DtDtype t, const void *in, void *out,
                             int64_t n);       /* in == out allowed */
DtStatus dt_comm_reduce_scatter (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                                 DtRedOp op, DtDtype t, const void *in,
                                 void *out, int64_t n);
DtStatus dt_comm_broadcast (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                            void *buf, size_t nbytes, int root);
DtStatus dt_comm_scatter (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                          const void *in, size_t nbytes, void *out, int root);
DtStatus dt_comm_barrier (DtCtx *cx, DtGroup *g, const DtCollInfo *i);
/* Gather a small variable-length text from every member (for folding output
** and reports): outs[i] allocated, owned by the caller. */
DtStatus dt_comm_gather_text (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                              const char *text, size_t n, char **outs,
                              size_t *lens);
/* All ranks of the world meet with their status: DT_OK only when all are OK;
** otherwise every rank gets an error (its own, or one naming the ranks that
** failed).  The end of every chunk is such a meeting, so a rank that waits in
** a collective for one that has finished learns it (DIVERGED).  Collective. */
DtStatus dt_comm_meet (DtCtx *cx, DtComm *c, DtStatus mine,
                       const DtCollInfo *i, DtStatus *all /* size entries */);
/* What each rank is doing now, a line each.  Local. */
void dt_comm_status (DtComm *c, DtBuf *b);

/* Reduction of blocks in rank order (order.c): out = op over k blocks of n
** elements at in + i * stride bytes.  Pure. */
void dt_order_reduce (DtRedOp op, DtDtype t, const void *in, size_t stride,
                      int k, void *out, int64_t n);

/* --- making worlds --- */

/* N ranks of this process: a hub shared by the threads, then one DtComm per
** rank.  The hub outlives the comms. */
typedef struct DtHub DtHub;
DtStatus dt_hub_new (DtCtx *cx, int size, DtHub **out);
void dt_hub_free (DtCtx *cx, DtHub *h);
DtStatus dt_comm_threads (DtCtx *cx, DtHub *h, int rank, DtComm **out);
/* Another rank ended (crashed or left): waiting ranks get RANK_LOST. */
void dt_hub_leave (DtHub *h, int rank, bool failed);

/* One rank of a pretend world of `size` ranks. */
DtStatus dt_comm_fake (DtCtx *cx, int size, int rank, DtComm **out);

/* Real ranks.  Lives in a shared object that is loaded only here, so that
** other worlds do not pay for MPI's start-up.  `dir` is where dtrepl's own
** binary lies.  COMM when MPI cannot be loaded or started. */
DtStatus dt_comm_mpi (DtCtx *cx, const char *dir, DtComm **out);
/* True when this process was started by an MPI launcher (environment only). */
bool dt_mpi_launched (void);

/* Symbol of the shared object: fills `c`. */
typedef DtStatus (*DtMpiOpen) (DtCtx *cx, DtComm *c);

/* Wrap a comm: inject delay, failure or mismatch at the n-th collective
** (tests).  Takes ownership of `inner`. */
typedef struct DtFault { int64_t at; int kind; int rank; int delay_ms; } DtFault;
DtStatus dt_comm_fault (DtCtx *cx, DtComm *inner, const DtFault *f,
                        DtComm **out);

#endif
