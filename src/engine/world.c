/* SPDX-License-Identifier: MIT
** engine/world.c: start the ranks, run one function on each, collect the exit
** codes.  What ranks say to each other is comm's business.
**
** Rank 0 is the calling thread in every world: it alone has the terminal and
** handles signals; the other rank threads block them all.  A rank that ends
** marks itself as gone, so that nobody waits for it for ever. */
#include <pthread.h>
#include <signal.h>
#include "base/error_comm.h"
#include "engine/world.h"

enum { STACK_BYTES = 8 << 20 };

/* What one rank thread needs. */
typedef struct RankThread {
  const DtWorldOpts *opts;
  DtHub *hub;
  DtRankMain fn;
  void *ud;
  pthread_t thread;
  int rank, code;
  bool started;
} RankThread;

static void apply_opts (DtCtx *cx, DtComm *c, const DtWorldOpts *o) {
  cx->rank = c->rank;
  cx->size = c->size;
  cx->mem.limit = o->mem_limit;
  cx->interrupt = o->interrupt;
  if (o->kind == DT_WORLD_MPI || o->interrupt == NULL)
    cx->interrupt = dt_comm_interrupt(c);
  c->fast = o->fast;
  c->fast_reduce = o->fast_reduce;
}

/* --- threads ------------------------------------------------------------ */

/* A rank that cannot start leaves at once; the others learn it from comm. */
static void *rank_main (void *arg) {
  RankThread *t = arg;
  DtComm *c = NULL;
  DtCtx *cx = NULL;
  t->code = 1;
  if (dt_ctx_new(&cx) != DT_OK) {
    dt_hub_leave(t->hub, t->rank);
    return NULL;
  }
  if (dt_comm_threads(cx, t->hub, t->rank, &c) == DT_OK) {
    apply_opts(cx, c, t->opts);
    t->code = t->fn(cx, c, t->ud);
  }
  dt_hub_leave(t->hub, t->rank);
  dt_comm_free(cx, c);
  dt_ctx_free(cx);
  return NULL;
}

static bool start_thread (RankThread *t) {
  pthread_attr_t attr;
  sigset_t all, old;
  if (pthread_attr_init(&attr) != 0)
    return false;
  (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &old);
  t->started = pthread_create(&t->thread, &attr, rank_main, t) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
  (void)pthread_attr_destroy(&attr);
  return t->started;
}

/* Rank 0 here; its own context is the caller's. */
static DtStatus run_rank0 (DtCtx *cx, RankThread *t) {
  DtComm *c;
  DT_TRY(cx, dt_comm_threads(cx, t->hub, 0, &c));
  apply_opts(cx, c, t->opts);
  t->code = t->fn(cx, c, t->ud);
  dt_comm_free(cx, c);
  cx->interrupt = t->opts->interrupt;
  return DT_OK;
}

static int worst_code (const RankThread *t, int n) {
  int r, code = 0;
  for (r = 0; r < n; r++)
    code = t[r].code > code ? t[r].code : code;
  return code;
}

static DtStatus run_all (DtCtx *cx, RankThread *t, int n) {
  DtStatus st = DT_OK;
  int r;
  for (r = 1; r < n && st == DT_OK; r++) {
    if (!start_thread(&t[r]))
      st = dt_raise(cx, DT_E_COMM, "the thread of rank %d cannot be started",
                    r);
  }
  if (st == DT_OK)
    st = run_rank0(cx, &t[0]);
  for (r = 0; r < n && st != DT_OK; r++) {
    if (!t[r].started)
      dt_hub_leave(t[r].hub, r);
  }
  for (r = 1; r < n; r++) {
    if (t[r].started)
      (void)pthread_join(t[r].thread, NULL);
  }
  return st;
}

void dt_world_prepare_alone (void) { dt_k_gemm_one_thread(); }

static DtStatus run_threads (DtCtx *cx, const DtWorldOpts *o, DtRankMain fn,
                             void *ud, int *exit_code) {
  DtHub *hub = NULL;
  RankThread *t = NULL;
  DtStatus st;
  int r;
  dt_k_gemm_one_thread();
  DT_TRY(cx, dt_hub_new(cx, o->size, &hub));
  t = DT_NEWN(cx, RankThread, o->size);
  DT_CHECKG(cx, t != NULL, DT_E_NOMEM, "no memory for %d ranks", o->size);
  for (r = 0; r < o->size; r++) {
    t[r].opts = o;
    t[r].hub = hub;
    t[r].fn = fn;
    t[r].ud = ud;
    t[r].rank = r;
  }
  DT_TRYG(cx, run_all(cx, t, o->size));
  *exit_code = worst_code(t, o->size);
done:
  dt_free(cx, t);
  dt_hub_free(cx, hub);
  return st;
}

/* --- one rank of this process ------------------------------------------- */

static DtStatus run_single (DtCtx *cx, const DtWorldOpts *o, DtRankMain fn,
                            void *ud, int *exit_code) {
  DtComm *c;
  dt_k_gemm_one_thread();
  if (o->kind == DT_WORLD_FAKE)
    DT_TRY(cx, dt_comm_fake(cx, o->size, o->rank, &c));
  else
    DT_TRY(cx, dt_comm_mpi(cx, o->exe_dir, &c));
  apply_opts(cx, c, o);
  *exit_code = fn(cx, c, ud);
  dt_comm_free(cx, c);
  cx->interrupt = o->interrupt;     /* the board is gone */
  return DT_OK;
}

DtStatus dt_world_run (DtCtx *cx, const DtWorldOpts *o, DtRankMain fn,
                       void *ud, int *exit_code) {
  if (o->kind == DT_WORLD_THREADS)
    return run_threads(cx, o, fn, ud, exit_code);
  return run_single(cx, o, fn, ud, exit_code);
}

DtStatus dt_world_share (DtCtx *cx, DtComm *c, char **text, size_t *n) {
  return dt_comm_share(cx, c, text, n);
}

DtStatus dt_world_alive (DtCtx *cx, DtComm *c) {
  return dt_comm_alive(cx, c);
}
