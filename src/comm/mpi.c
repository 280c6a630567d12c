/* SPDX-License-Identifier: MIT
** comm/mpi.c: real ranks, by MPI.  The only file that sees mpi.h; it becomes
** dtrepl-mpi.so, which only the mpi world loads.
**
** MPI moves the data and nothing else.  Agreement, meetings, the next line
** and who is alive go over the board, which lies in memory that the ranks of
** a host share: there a rank can sleep, be woken at once, and break off a
** wait; an MPI call can do none of these.  When MPI is called, all members of
** the group have agreed to call it, so it finishes as fast as data moves and
** the loop around it may be busy.  Should a rank die or be stopped right
** there, the loop finds out and naps.
**
** Ranks on other hosts than rank 0's have no board: they ask a deputy there
** (far.c, hosts.c). */
#include <limits.h>
#include <mpi.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/error_comm.h"
#include "comm/hosts_int.h"
#include "comm/p2p_int.h"

enum {
  LOOK_EVERY = 512,               /* tests between looks at the clock */
  PATIENCE_MS = 500,              /* of no end, before napping */
  ASK_MS = 200                    /* between questions who is alive */
};

typedef struct DtMpi {
  MPI_Comm world;
  MPI_Win window;
  DtHosts *hosts;                 /* rank 0 of a world over several hosts */
  bool ours;                      /* we initialised MPI */
} DtMpi;

/* A group's communicator, made when data first moves. */
typedef struct MpiGroup { MPI_Comm comm; } MpiGroup;

DtStatus dt_comm_open_mpi (DtCtx *cx, DtComm *c);

static DtStatus check (DtCtx *cx, int rc, const char *call) {
  char text[MPI_MAX_ERROR_STRING];
  int n = 0;
  if (rc == MPI_SUCCESS)
    return DT_OK;
  if (MPI_Error_class(rc, &n) == MPI_SUCCESS && n == MPI_ERR_TRUNCATE)
    return dt_raise(cx, DT_E_LIMIT, "%s: a message is too large", call);
  n = 0;
  if (MPI_Error_string(rc, text, &n) != MPI_SUCCESS)
    n = 0;
  return dt_raise(cx, DT_E_COMM, "%s failed: %.*s", call, n, text);
}

/* --- waiting for data --------------------------------------------------- */

static void nap (void) {
  struct timespec t = {0, 1000000};
  (void)nanosleep(&t, NULL);
}

/* The same on another host: who is alive is a question, asked seldom. */
static DtStatus finish_far (DtCtx *cx, DtGroup *g, MPI_Request *req,
                            uint64_t patience, const char *call) {
  uint64_t began = dt_board_ms(), asked = began;
  int done = 0, turns = 0;
  for (;;) {
    DT_TRY(cx, check(cx, MPI_Test(req, &done, MPI_STATUS_IGNORE), call));
    if (done)
      return DT_OK;
    if (++turns % LOOK_EVERY != 0 || dt_board_ms() - began <= patience)
      continue;
    if (dt_board_ms() - asked > ASK_MS) {
      DT_TRY(cx, dt_far_alive(cx, g->comm));
      asked = dt_board_ms();
    }
    nap();
  }
}

/* Busy while data moves; a rank that died or stopped ends that.  The
** patience grows by a millisecond for each 50 kB: at 50 MB/s data still
** moves, and naps would slow it down. */
static DtStatus finish (DtCtx *cx, DtGroup *g, MPI_Request *req, size_t bytes,
                        const char *call) {
  uint64_t patience = PATIENCE_MS + bytes / 50000;
  int done = 0, turns = 0;
  DtWait w;
  if (g->comm->board == NULL)
    return finish_far(cx, g, req, patience, call);
  dt_wait_init(&w, g->comm->board, g->slot, 1);
  for (;;) {
    DT_TRY(cx, check(cx, MPI_Test(req, &done, MPI_STATUS_IGNORE), call));
    if (done)
      return DT_OK;
    if (w.lost >= 0)
      return dt_board_lost(cx, g->comm, w.lost);
    if (++turns % LOOK_EVERY != 0)
      continue;
    if (w.began == 0)
      w.began = w.looked = dt_board_ms();
    dt_wait_check(g->comm, &w);
    if (dt_board_ms() - w.began > patience)
      nap();
  }
}

/* --- groups and counts -------------------------------------------------- */

static bool is_world (const DtGroup *g) {
  int i;
  for (i = 0; i < g->size; i++) {
    if (g->ranks[i] != i)
      return false;
  }
  return g->size == g->comm->size;
}

static DtStatus mpi_group_open (DtCtx *cx, DtComm *c, DtGroup *g) {
  MpiGroup *m = DT_NEW(cx, MpiGroup);
  if (m == NULL)
    return DT_E_NOMEM;
  m->comm = is_world(g) ? ((DtMpi *)c->impl)->world : MPI_COMM_NULL;
  g->impl = m;
  return DT_OK;
}

/* The communicators themselves go with MPI_Finalize: freeing one is a
** collective call, and a rank may be leaving alone. */
static void mpi_group_close (DtCtx *cx, DtComm *c, DtGroup *g) {
  (void)c;
  dt_free(cx, g->impl);
}

/* All members are in the same collective now, so they make it together.  Not
** MPI_Comm_create: that is collective over the whole world, and the other
** ranks are elsewhere. */
static DtStatus make_comm (DtCtx *cx, DtGroup *g, MpiGroup *m) {
  DtMpi *w = g->comm->impl;
  MPI_Group all, sub;
  MPI_Comm comm = MPI_COMM_NULL;
  int tag = (int)(g->hash & 0x7fff), rc;
  DT_TRY(cx, check(cx, MPI_Comm_group(w->world, &all), "MPI_Comm_group"));
  rc = MPI_Group_incl(all, g->size, g->ranks, &sub);
  (void)MPI_Group_free(&all);
  DT_TRY(cx, check(cx, rc, "MPI_Group_incl"));
  rc = MPI_Comm_create_group(w->world, sub, tag, &comm);
  (void)MPI_Group_free(&sub);
  DT_TRY(cx, check(cx, rc, "MPI_Comm_create_group"));
  m->comm = comm;
  return DT_OK;
}

static DtStatus comm_of (DtCtx *cx, DtGroup *g, MPI_Comm *out) {
  MpiGroup *m = g->impl;
  if (m->comm == MPI_COMM_NULL)
    DT_TRY(cx, make_comm(cx, g, m));
  *out = m->comm;
  return DT_OK;
}

/* A block of any size: bytes while an int can count them, else one element
** of a type made of whole mebibytes and the rest. */
typedef struct Block { MPI_Datatype type; int count; bool made; } Block;

/* MPI counts in int: a block beyond 2 GiB is one element of a type made of
** mebibytes and a remainder. */
static DtStatus block_init (DtCtx *cx, size_t nbytes, Block *b) {
  enum { MIB = 1 << 20 };
  MPI_Datatype mib, parts[2];
  MPI_Aint at[2];
  int lens[2], rc;
  b->type = MPI_BYTE;
  b->count = (int)nbytes;
  b->made = false;
  if (nbytes <= INT_MAX)
    return DT_OK;
  DT_CHECK(cx, nbytes / MIB <= INT_MAX, DT_E_LIMIT,
           "a block of %zu bytes is too large for MPI", nbytes);
  DT_TRY(cx, check(cx, MPI_Type_contiguous(MIB, MPI_BYTE, &mib),
                   "MPI_Type_contiguous"));
  lens[0] = (int)(nbytes / MIB);
  lens[1] = (int)(nbytes % MIB);
  at[0] = 0;
  at[1] = (MPI_Aint)(nbytes - nbytes % MIB);
  parts[0] = mib;
  parts[1] = MPI_BYTE;
  rc = MPI_Type_create_struct(2, lens, at, parts, &b->type);
  (void)MPI_Type_free(&mib);
  DT_TRY(cx, check(cx, rc, "MPI_Type_create_struct"));
  b->made = true;
  b->count = 1;
  return check(cx, MPI_Type_commit(&b->type), "MPI_Type_commit");
}

static void block_fini (Block *b) {
  if (b->made)
    (void)MPI_Type_free(&b->type);
}

/* --- moving data -------------------------------------------------------- */

typedef enum Move { M_GATHER, M_EXCHANGE, M_BROADCAST, M_SCATTER } Move;

static int begin (Move how, const void *in, void *out, const Block *b,
                  int root, MPI_Comm comm, MPI_Request *req) {
  switch (how) {
  case M_GATHER:
    return MPI_Iallgather(in, b->count, b->type, out, b->count, b->type, comm,
                          req);
  case M_EXCHANGE:
    return MPI_Ialltoall(in, b->count, b->type, out, b->count, b->type, comm,
                         req);
  case M_BROADCAST:
    return MPI_Ibcast(out, b->count, b->type, root, comm, req);
  default:
    return MPI_Iscatter(in, b->count, b->type, out, b->count, b->type, root,
                        comm, req);
  }
}

static DtStatus move (DtCtx *cx, DtGroup *g, Move how, const void *in,
                      size_t nbytes, void *out, int root) {
  static const char *const calls[] = {
    "MPI_Iallgather", "MPI_Ialltoall", "MPI_Ibcast", "MPI_Iscatter"
  };
  MPI_Request req;
  MPI_Comm comm;
  Block b;
  DtStatus st;
  if (nbytes == 0)
    return DT_OK;
  DT_TRY(cx, comm_of(cx, g, &comm));
  DT_TRY(cx, block_init(cx, nbytes, &b));
  DT_TRYG(cx, check(cx, begin(how, in, out, &b, root, comm, &req),
                    calls[how]));
  DT_TRYG(cx, finish(cx, g, &req, nbytes * (size_t)g->size, calls[how]));
done:
  block_fini(&b);
  return st;
}

static DtStatus mpi_all_gather (DtCtx *cx, DtGroup *g, const void *in,
                                size_t nbytes, void *out) {
  const char *mine = (const char *)out + (size_t)g->me * nbytes;
  return move(cx, g, M_GATHER, in == mine ? MPI_IN_PLACE : in, nbytes, out, 0);
}

static DtStatus mpi_all_to_all (DtCtx *cx, DtGroup *g, const void *in,
                                size_t nbytes, void *out) {
  return move(cx, g, M_EXCHANGE, in, nbytes, out, 0);
}

static DtStatus mpi_broadcast (DtCtx *cx, DtGroup *g, void *buf,
                               size_t nbytes, int root) {
  return move(cx, g, M_BROADCAST, NULL, nbytes, buf, root);
}

static DtStatus mpi_scatter (DtCtx *cx, DtGroup *g, const void *in,
                             size_t nbytes, void *out, int root) {
  return move(cx, g, M_SCATTER, in, nbytes, out, root);
}

/* --- messages ----------------------------------------------------------- */

/* MPI keeps the order of messages of one tag, so era and tag name a channel
** of two ranks; its own count is not needed. */
enum { TAG_BITS = 16, ERA_BITS = 13 };

static int mpi_tag (const DtMsg *m) {
  unsigned tag = (unsigned)m->channel->salt & ((1u << TAG_BITS) - 1);
  unsigned era = (unsigned)(m->key >> 32) & ((1u << ERA_BITS) - 1);
  return (int)(era << TAG_BITS | tag);
}

typedef struct MpiMsg { MPI_Request req; Block block; } MpiMsg;

static DtStatus mpi_msg_begin (DtCtx *cx, DtComm *c, DtMsg *m) {
  MPI_Comm world = ((DtMpi *)c->impl)->world;
  size_t n = sizeof(DtMsgHead) + m->nbytes;
  MpiMsg *x = DT_NEW(cx, MpiMsg);
  if (x == NULL)
    return DT_E_NOMEM;
  x->req = MPI_REQUEST_NULL;
  m->impl = x;
  DT_TRY(cx, block_init(cx, n, &x->block));
  if (dt_msg_sends(m))
    return check(cx, MPI_Isend(m->buf, x->block.count, x->block.type,
                               m->channel->ranks[1], mpi_tag(m), world,
                               &x->req), "MPI_Isend");
  return check(cx, MPI_Irecv(m->buf, x->block.count, x->block.type,
                             m->channel->ranks[0], mpi_tag(m), world,
                             &x->req), "MPI_Irecv");
}

static DtStatus mpi_msg_end (DtCtx *cx, DtComm *c, DtMsg *m) {
  MpiMsg *x = m->impl;
  DtStatus st = finish(cx, m->channel, &x->req, m->nbytes,
                       dt_msg_sends(m) ? "MPI_Isend" : "MPI_Irecv");
  (void)c;
  if (st != DT_E_LIMIT)
    return st;
  dt_error_clear(cx);           /* reported by who waits, as in every world */
  dt_msg_head(m)->nbytes = m->nbytes + 1;
  dt_msg_head(m)->salt = m->channel->salt;
  return DT_OK;
}

/* What has come is left for the wait, which hears of an error. */
static bool mpi_msg_gone (DtComm *c, DtMsg *m) {
  MpiMsg *x = m->impl;
  int done = 0;
  if (x == NULL || x->req == MPI_REQUEST_NULL)
    return true;
  if (c->dead)
    return false;
  if (dt_msg_sends(m))
    (void)MPI_Test(&x->req, &done, MPI_STATUS_IGNORE);
  else
    (void)MPI_Request_get_status(x->req, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

/* Data only moves while both sides call MPI. */
static bool mpi_progress (DtComm *c) {
  bool moving = false;
  DtMsg *m;
  for (m = c->msgs; m != NULL && !c->dead; m = m->next)
    moving = !mpi_msg_gone(c, m) || moving;
  return moving;
}

/* What was given up is cancelled; its buffer is left to MPI, which may still
** use it. */
static void mpi_msg_free (DtCtx *cx, DtComm *c, DtMsg *m) {
  MpiMsg *x = m->impl;
  if (x == NULL)
    return;
  if (x->req != MPI_REQUEST_NULL) {
    m->buf = NULL;
    if (!c->dead && !dt_msg_sends(m)) (void)MPI_Cancel(&x->req);
    if (!c->dead) (void)MPI_Request_free(&x->req);
  }
  block_fini(&x->block);
  dt_free(cx, x);
}

/* --- MPI's own reduction (--fast-reduce) -------------------------------- */

static MPI_Datatype type_of (DtDtype t) {
  switch (t) {
  case DT_F32: return MPI_FLOAT;
  case DT_F64: return MPI_DOUBLE;
  case DT_I32: return MPI_INT32_T;
  case DT_I64: return MPI_INT64_T;
  default: return MPI_DATATYPE_NULL;
  }
}

static MPI_Op op_of (DtRedOp op) {
  switch (op) {
  case DT_OP_SUM: return MPI_SUM;
  case DT_OP_MIN: return MPI_MIN;
  case DT_OP_MAX: return MPI_MAX;
  case DT_OP_PRODUCT: return MPI_PROD;
  default: return MPI_OP_NULL;
  }
}

static bool mpi_fast_can (const DtReduction *r) {
  return type_of(r->dtype) != MPI_DATATYPE_NULL &&
         op_of(r->op) != MPI_OP_NULL && r->n <= INT_MAX;
}

static DtStatus mpi_fast_reduce (DtCtx *cx, DtGroup *g, const DtReduction *r) {
  MPI_Request req;
  MPI_Comm comm;
  DT_TRY(cx, comm_of(cx, g, &comm));
  DT_TRY(cx, check(cx, MPI_Iallreduce(r->in == r->out ? MPI_IN_PLACE : r->in,
                                      r->out, (int)r->n, type_of(r->dtype),
                                      op_of(r->op), comm, &req),
                   "MPI_Iallreduce"));
  return finish(cx, g, &req, (size_t)r->n * dt_dtype_size(r->dtype),
                "MPI_Iallreduce");
}

/* --fast: the data itself is the meeting. */
static DtStatus mpi_agree (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                           const DtOffer *o) {
  if (g->comm->fast)
    return dt_ctx_poll(cx);
  if (g->comm->far != NULL)
    return dt_far_agree(cx, g, i, o);
  return dt_agree_group(cx, g, i, o);
}

/* --- life --------------------------------------------------------------- */

/* With a lost rank MPI would wait for ever: leave without a word to it; the
** launcher ends the job. */
static void mpi_close (DtCtx *cx, DtComm *c) {
  DtMpi *w = c->impl;
  if (w == NULL)
    return;
  if (c->board != NULL && c->dead)
    dt_board_let_tell(c);
  if (c->board != NULL)
    atomic_store(&c->board->posts[c->rank].state, DT_POST_GONE);
  dt_far_leave(cx, c);
  dt_hosts_free(cx, w->hosts, c->dead);
  if (w->ours && !c->dead)
    (void)MPI_Finalize();
  dt_free(cx, w);
}

/* What MPI moves, wherever the ranks are. */
#define MPI_MOVES \
  .name = "mpi", \
  .kind = DT_WORLD_MPI, \
  .group_open = mpi_group_open, \
  .group_close = mpi_group_close, \
  .agree = mpi_agree, \
  .all_gather = mpi_all_gather, \
  .all_to_all = mpi_all_to_all, \
  .fast_can = mpi_fast_can, \
  .fast_reduce = mpi_fast_reduce, \
  .broadcast = mpi_broadcast, \
  .msg_begin = mpi_msg_begin, \
  .msg_end = mpi_msg_end, \
  .msg_gone = mpi_msg_gone, \
  .msg_free = mpi_msg_free, \
  .progress = mpi_progress, \
  .scatter = mpi_scatter

static const DtCommVt mpi_vt = {
  MPI_MOVES,
  .meet = dt_agree_meet,
  .share = dt_agree_share,
  .stop = dt_agree_stop,
  .alive = dt_board_alive,
  .status = dt_board_status,
  .close = mpi_close
};

/* On another host than rank 0's. */
static const DtCommVt far_vt = {
  MPI_MOVES,
  .meet = dt_far_meet,
  .share = dt_far_share,
  .stop = dt_far_stop,
  .alive = dt_far_alive,
  .status = dt_far_status,
  .close = mpi_close
};

static DtStatus start_mpi (DtCtx *cx, DtMpi *w) {
  int on = 0, got = 0;
  DT_TRY(cx, check(cx, MPI_Initialized(&on), "MPI_Initialized"));
  if (!on) {
    DT_TRY(cx, check(cx, MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED,
                                         &got), "MPI_Init_thread"));
    w->ours = true;
  }
  DT_TRY(cx, check(cx, MPI_Comm_dup(MPI_COMM_WORLD, &w->world),
                   "MPI_Comm_dup"));
  return check(cx, MPI_Comm_set_errhandler(w->world, MPI_ERRORS_RETURN),
               "MPI_Comm_set_errhandler");
}

/* --- the board, and who cannot see it ------------------------------------ */

/* Rank 0 gives the memory, all of its host map it. */
static DtStatus map_board (DtCtx *cx, DtComm *c, DtMpi *w, MPI_Comm host) {
  MPI_Aint bytes = 0;
  int unit, rc;
  void *p = NULL;
  if (c->rank == 0)
    bytes = (MPI_Aint)dt_board_bytes(c->size);
  rc = MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, host, &p, &w->window);
  DT_TRY(cx, check(cx, rc, "MPI_Win_allocate_shared"));
  DT_TRY(cx, check(cx, MPI_Win_shared_query(w->window, 0, &bytes, &unit, &p),
                   "MPI_Win_shared_query"));
  if (c->rank == 0)
    dt_board_init(p, c->size);
  DT_TRY(cx, check(cx, MPI_Barrier(host), "MPI_Barrier"));
  c->board = p;
  atomic_store(&c->board->posts[c->rank].pid, (int)getpid());
  return check(cx, MPI_Barrier(host), "MPI_Barrier");
}

/* Errors of some ranks become errors of all: nobody waits for who gave up. */
static DtStatus all_well (DtCtx *cx, const DtMpi *w, DtStatus mine) {
  int bad = mine != DT_OK, any = 0;
  DT_TRY(cx, check(cx, MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX,
                                     w->world), "MPI_Allreduce"));
  if (mine == DT_OK && any)
    return dt_raise(cx, DT_E_COMM, "ranks on several hosts did not find each "
                    "other");
  return mine;
}

/* Rank 0 listens, says where, and takes in who comes. */
static DtStatus join_hosts (DtCtx *cx, DtComm *c, DtMpi *w, int nfar) {
  DtHostsWhere where;
  DtStatus st = DT_OK;
  memset(&where, 0, sizeof where);
  if (c->rank == 0)
    st = dt_hosts_listen(cx, c, nfar, &w->hosts, &where);
  DT_TRY(cx, all_well(cx, w, st));
  DT_TRY(cx, check(cx, MPI_Bcast(&where, (int)sizeof where, MPI_BYTE, 0,
                                 w->world), "MPI_Bcast"));
  if (c->board == NULL)
    st = dt_far_join(cx, c, &where);
  else if (c->rank == 0)
    st = dt_hosts_accept(cx, w->hosts);
  return all_well(cx, w, st);
}

static DtStatus find_board (DtCtx *cx, DtComm *c, DtMpi *w) {
  MPI_Comm host;
  int first = 0, far, nfar = 0;
  DT_TRY(cx, check(cx, MPI_Comm_split_type(w->world, MPI_COMM_TYPE_SHARED, 0,
                                           MPI_INFO_NULL, &host),
                   "MPI_Comm_split_type"));
  DT_TRY(cx, check(cx, MPI_Allreduce(&c->rank, &first, 1, MPI_INT, MPI_MIN,
                                     host), "MPI_Allreduce"));
  far = first != 0;
  DT_TRY(cx, check(cx, MPI_Allreduce(&far, &nfar, 1, MPI_INT, MPI_SUM,
                                     w->world), "MPI_Allreduce"));
  c->wide = nfar > 0;
  if (far)
    c->vt = &far_vt;
  else
    DT_TRY(cx, map_board(cx, c, w, host));
  return nfar > 0 ? join_hosts(cx, c, w, nfar) : DT_OK;
}

DtStatus dt_comm_open_mpi (DtCtx *cx, DtComm *c) {
  DtMpi *w = DT_NEW(cx, DtMpi);
  if (w == NULL)
    return DT_E_NOMEM;
  w->world = MPI_COMM_NULL;
  c->vt = &mpi_vt;
  c->impl = w;
  DT_TRY(cx, start_mpi(cx, w));
  DT_TRY(cx, check(cx, MPI_Comm_rank(w->world, &c->rank), "MPI_Comm_rank"));
  DT_TRY(cx, check(cx, MPI_Comm_size(w->world, &c->size), "MPI_Comm_size"));
  return find_board(cx, c, w);
}
