/* SPDX-License-Identifier: MIT
** engine/world.h: start the ranks and run one function on each: N threads,
** the processes mpirun started, or one pretend rank.  Also the services that
** all ranks share: agreeing on a status, rank 0's line for everybody. */
#ifndef DT_ENGINE_WORLD_H
#define DT_ENGINE_WORLD_H

#include "comm/comm.h"

typedef struct DtWorldOpts {
  DtWorldKind kind;
  int size;                    /* threads and fake; mpi: from the launcher */
  int rank;                    /* fake: whose eyes */
  bool fast, fast_reduce;
  const char *exe_dir;         /* folder of the program (finds the mpi part) */
  int64_t mem_limit;           /* bytes per rank, 0 = none */
  /* threads and fake: the flag all ranks poll; NULL: one is made.  mpi: not
  ** used, the flag lies in memory all ranks share.  In every world rank 0
  ** finds the flag in cx->interrupt of its DtRankMain: its signal handler
  ** sets it, and it clears it after the meeting, before the next line. */
  atomic_int *interrupt;
} DtWorldOpts;

typedef struct DtWorld DtWorld;   /* one per process */

/* The function each rank runs; its own context and comm are given.  Returns
** the exit code of the rank. */
typedef int (*DtRankMain) (DtCtx *cx, DtComm *comm, void *ud);

/* Run `fn(ud)` on every rank this process holds; rank 0 on the calling thread.
** *exit_code: the largest of the ranks.  A rank thread that fails to start
** is an error.  COMM, NOMEM.  Local; the fn is Collective. */
DtStatus dt_world_run (DtCtx *cx, const DtWorldOpts *o, DtRankMain fn,
                       void *ud, int *exit_code);

/* For a process that computes without ranks: one BLAS thread, as dt_world_run
** has it, so that the bits do not depend on the cores.  Once.  Local. */
void dt_world_prepare_alone (void);

/* Rank 0's text reaches all ranks (others pass NULL, get an allocated copy).
** Waiting ranks sleep.  See dt_comm_share().  Collective over the world. */
DtStatus dt_world_share (DtCtx *cx, DtComm *c, char **text, size_t *n);

/* A process died / a rank left: is the world still whole?  RANK_LOST names
** it.  All waits ask this by themselves; the prompt asks it while it waits for
** the person, and when SIGTERM comes (mpirun sends it when another rank died).
** Local. */
DtStatus dt_world_alive (DtCtx *cx, DtComm *c);

#endif
