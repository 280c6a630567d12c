/* SPDX-License-Identifier: MIT
** comm/threads.c: the ranks are threads of this process.
**
** The agreement shows every member's buffers to the others (the cells'
** `in` and `out`); each then copies what it needs straight from there, and
** all wait once more so that no buffer is reused too early.  So a byte is
** copied once.  All-reduce: member i reduces part i of all inputs into its
** own output, then all copy the parts from each other; nobody but member i
** reads part i of an input, so input and output may be the same. */
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include "base/error_comm.h"
#include "comm/p2p_int.h"

enum { MAX_THREADS = 1024, SMALL = 4096 };

/* The messages that a rank has sent, for who receives them. */
typedef struct Outbox {
  atomic_flag lock;
  DtMsg *first;
  char apart[DT_BOARD_LINE];    /* from the next rank's */
} Outbox;

struct DtHub {
  DtBoard *board;
  size_t bytes;
  Outbox *out;                  /* by rank */
};

/* A rank's own state. */
typedef struct DtThreads {
  DtHub *hub;
  const void **at;              /* room for a pointer per member */
} DtThreads;

/* --- moving data -------------------------------------------------------- */

static const char *input_of (DtGroup *g, int m) {
  uint64_t p = atomic_load(&dt_board_cell(g->slot, m)->in);
  return (const char *)(uintptr_t)p;
}

static const char *output_of (DtGroup *g, int m) {
  uint64_t p = atomic_load(&dt_board_cell(g->slot, m)->out);
  return (const char *)(uintptr_t)p;
}

static void copy_bytes (char *dst, const char *src, size_t n) {
  if (n > 0 && dst != src)
    memcpy(dst, src, n);
}

static DtStatus threads_all_gather (DtCtx *cx, DtGroup *g, const void *in,
                                    size_t nbytes, void *out) {
  int k, m;
  (void)in;
  for (k = 0; k < g->size; k++) {   /* start at home: spread the reads */
    m = (g->me + k) % g->size;
    copy_bytes((char *)out + (size_t)m * nbytes, input_of(g, m), nbytes);
  }
  return dt_agree_done(cx, g, false);
}

static DtStatus threads_all_to_all (DtCtx *cx, DtGroup *g, const void *in,
                                    size_t nbytes, void *out) {
  int k, m;
  (void)in;
  for (k = 0; k < g->size; k++) {
    m = (g->me + k) % g->size;
    copy_bytes((char *)out + (size_t)m * nbytes,
               input_of(g, m) + (size_t)g->me * nbytes, nbytes);
  }
  return dt_agree_done(cx, g, false);
}

static DtStatus threads_broadcast (DtCtx *cx, DtGroup *g, void *buf,
                                   size_t nbytes, int root) {
  copy_bytes(buf, input_of(g, root), nbytes);
  return dt_agree_done(cx, g, false);
}

static DtStatus threads_scatter (DtCtx *cx, DtGroup *g, const void *in,
                                 size_t nbytes, void *out, int root) {
  (void)in;
  if (nbytes > 0)
    copy_bytes(out, input_of(g, root) + (size_t)g->me * nbytes, nbytes);
  return dt_agree_done(cx, g, false);
}

/* Reduce r->n elements of all inputs, from byte `off` on, into r->out. */
static void reduce_part (DtGroup *g, size_t off, const DtReduction *r) {
  const DtThreads *w = g->comm->impl;
  int m;
  if (r->n <= 0)
    return;
  for (m = 0; m < g->size; m++)
    w->at[m] = input_of(g, m) + off;
  dt_order_reduce_v(r, w->at, g->size);
}

static int64_t part_begin (const DtGroup *g, int m, int64_t n) {
  int64_t q = n / g->size, r = n % g->size;
  return q * m + (m < r ? m : r);
}

/* Small: everybody reduces everything; the result waits until nobody reads
** the inputs any more.  One meeting instead of two, at the price of
** everybody adding everything. */
static DtStatus reduce_small (DtCtx *cx, DtGroup *g, const DtReduction *r) {
  _Alignas(64) char tmp[SMALL];
  DtReduction aside = *r;
  aside.out = tmp;
  reduce_part(g, 0, &aside);
  DT_TRY(cx, dt_agree_done(cx, g, false));
  copy_bytes(r->out, tmp, (size_t)r->n * dt_dtype_size(r->dtype));
  return DT_OK;
}

/* Each member reduces its part, then all take the others' parts. */
static DtStatus threads_all_reduce (DtCtx *cx, DtGroup *g,
                                    const DtReduction *r) {
  size_t es = dt_dtype_size(r->dtype), off;
  int64_t b = part_begin(g, g->me, r->n);
  DtReduction part = *r;
  if ((size_t)r->n * es <= SMALL)
    return reduce_small(cx, g, r);
  off = (size_t)b * es;
  part.out = (char *)r->out + off;
  part.n = part_begin(g, g->me + 1, r->n) - b;
  reduce_part(g, off, &part);
  DT_TRY(cx, dt_agree_done(cx, g, true));
  for (int k = 1; k < g->size; k++) {
    int m = (g->me + k) % g->size;
    b = part_begin(g, m, r->n);
    off = (size_t)b * es;
    copy_bytes((char *)r->out + off, output_of(g, m) + off,
               (size_t)(part_begin(g, m + 1, r->n) - b) * es);
  }
  return dt_agree_done(cx, g, false);
}

static DtStatus threads_reduce_scatter (DtCtx *cx, DtGroup *g,
                                        const DtReduction *r) {
  reduce_part(g, (size_t)g->me * (size_t)r->n * dt_dtype_size(r->dtype), r);
  return dt_agree_done(cx, g, false);
}

/* --- messages ----------------------------------------------------------- */

static Outbox *open_box (DtComm *c, int rank) {
  Outbox *b = &((DtThreads *)c->impl)->hub->out[rank];
  while (atomic_flag_test_and_set(&b->lock))
    sched_yield();
  return b;
}

static void close_box (Outbox *b) {
  atomic_flag_clear(&b->lock);
}

static DtStatus threads_msg_begin (DtCtx *cx, DtComm *c, DtMsg *m) {
  Outbox *b;
  (void)cx;
  if (!dt_msg_sends(m))
    return DT_OK;
  b = open_box(c, c->rank);
  m->impl = b->first;           /* the next one in the box */
  b->first = m;
  close_box(b);
  return DT_OK;
}

/* The sender keeps its copy until it is taken.  The box stays locked during
** the copy: the sender may not free the message under it. */
static DtStatus threads_msg_end (DtCtx *cx, DtComm *c, DtMsg *m) {
  Outbox *b;
  DtMsg *o;
  if (dt_msg_sends(m))
    return DT_OK;
  b = open_box(c, m->channel->ranks[0]);
  for (o = b->first; o != NULL; o = o->impl) {
    if (o->channel->slot == m->channel->slot && o->key == m->key)
      break;
  }
  if (o != NULL) {
    dt_msg_head(m)->nbytes = o->nbytes;
    if (o->nbytes <= m->nbytes)
      memcpy(m->buf, o->buf, sizeof(DtMsgHead) + o->nbytes);
    atomic_store(&o->taken, true);
  }
  close_box(b);
  DT_CHECK(cx, o != NULL, DT_E_COMM, "a message was given up by its sender");
  return DT_OK;
}

static bool threads_msg_gone (DtComm *c, DtMsg *m) {
  (void)c;
  return !dt_msg_sends(m) || atomic_load(&m->taken);
}

static void threads_msg_free (DtCtx *cx, DtComm *c, DtMsg *m) {
  Outbox *b;
  DtMsg *o;
  (void)cx;
  if (!dt_msg_sends(m))
    return;
  b = open_box(c, c->rank);
  if (b->first == m)
    b->first = m->impl;
  for (o = b->first; o != NULL; o = o->impl) {
    if (o->impl == m)
      o->impl = m->impl;
  }
  close_box(b);
}

/* --- life --------------------------------------------------------------- */

static void threads_close (DtCtx *cx, DtComm *c) {
  DtThreads *w = c->impl;
  if (w != NULL) {
    dt_hub_leave(w->hub, c->rank);
    dt_free(cx, w->at);
    dt_free(cx, w);
  }
}

static const DtCommVt threads_vt = {
  .name = "threads",
  .kind = DT_WORLD_THREADS,
  .agree = dt_agree_group,
  .all_gather = threads_all_gather,
  .all_to_all = threads_all_to_all,
  .all_reduce = threads_all_reduce,
  .reduce_scatter = threads_reduce_scatter,
  .broadcast = threads_broadcast,
  .scatter = threads_scatter,
  .msg_begin = threads_msg_begin,
  .msg_end = threads_msg_end,
  .msg_gone = threads_msg_gone,
  .msg_free = threads_msg_free,
  .meet = dt_agree_meet,
  .share = dt_agree_share,
  .stop = dt_agree_stop,
  .alive = dt_board_alive,
  .status = dt_board_status,
  .close = threads_close
};

/* The board lives in pages of its own that are zero and cost nothing until
** touched, as it is sized for the largest world. */
DtStatus dt_hub_new (DtCtx *cx, int size, DtHub **out) {
  DtHub *h;
  void *p;
  DT_CHECK(cx, size > 0 && size <= MAX_THREADS, DT_E_VALUE,
           "the threads world has 1 to %d ranks, not %d", (int)MAX_THREADS,
           size);
  h = DT_NEW(cx, DtHub);
  if (h == NULL)
    return DT_E_NOMEM;
  h->out = DT_NEWN(cx, Outbox, size);
  if (h->out == NULL) {
    dt_free(cx, h);
    return DT_E_NOMEM;
  }
  h->bytes = dt_board_bytes(size);
  p = mmap(NULL, h->bytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    dt_free(cx, h->out);
    dt_free(cx, h);
    return dt_raise(cx, DT_E_NOMEM, "no memory for a world of %d ranks",
                    size);
  }
  h->board = p;
  dt_board_init(h->board, size);
  *out = h;
  return DT_OK;
}

void dt_hub_free (DtCtx *cx, DtHub *h) {
  if (h == NULL)
    return;
  (void)munmap(h->board, h->bytes);
  dt_free(cx, h->out);
  dt_free(cx, h);
}

/* Sleepers find out within their nap: nobody rings. */
void dt_hub_leave (DtHub *h, int rank) {
  atomic_store(&h->board->posts[rank].state, DT_POST_GONE);
}

DtStatus dt_comm_threads (DtCtx *cx, DtHub *h, int rank, DtComm **out) {
  DtThreads *w;
  DtComm *c;
  DtStatus st = DT_OK;
  DT_CHECK(cx, rank >= 0 && rank < h->board->size, DT_E_VALUE,
           "rank %d is not in the world of %d", rank, h->board->size);
  DT_TRY(cx, dt_comm_new(cx, &threads_vt, rank, h->board->size, &c));
  c->board = h->board;
  w = DT_NEW(cx, DtThreads);
  c->impl = w;
  DT_CHECKG(cx, w != NULL, DT_E_NOMEM, "no memory for a rank");
  w->hub = h;
  w->at = DT_NEWN(cx, const void *, c->size);
  DT_CHECKG(cx, w->at != NULL, DT_E_NOMEM, "no memory for a rank");
  DT_TRYG(cx, dt_comm_setup(cx, c));
  *out = c;
  return DT_OK;
done:
  dt_comm_free(cx, c);
  return st;
}
