/* SPDX-License-Identifier: MIT
** comm/comm.c: the public collectives, the same for every world: agree, then
** let the world move the bytes.  Also the cache of groups.
**
** Room for intermediate results is allocated before the agreement: a rank
** that has none then fails before the others have started.  Reductions are
** made of moves and of order.c, so their order does not depend on the world:
** small ones gather everything everywhere, large ones give each member one
** block to reduce. */
#include <string.h>
#include "base/error_comm.h"
#include "base/hash.h"
#include "comm/p2p_int.h"

enum { SMALL = 512,               /* bytes: gather rather than exchange */
       CHAINS = 256 };            /* of channels */

typedef enum Kind {
  K_BARRIER, K_ALL_GATHER, K_ALL_TO_ALL, K_ALL_REDUCE, K_REDUCE_SCATTER,
  K_BROADCAST, K_SCATTER
} Kind;

/* --- making and freeing ------------------------------------------------- */

static void group_free (DtCtx *cx, DtGroup *g) {
  if (g == NULL)
    return;
  if (g->comm->vt->group_close != NULL)
    g->comm->vt->group_close(cx, g->comm, g);
  dt_free(cx, g->ranks);
  dt_free(cx, g);
}

/* `salt` keeps groups of the same ranks apart; those from FOR_MESSAGES on are channels
** for messages. */
static DtStatus group_new (DtCtx *cx, DtComm *c, int n, const int *ranks,
                           uint64_t salt, DtGroup **out) {
  DtGroup *g = DT_NEW(cx, DtGroup);
  DtStatus st = DT_OK;
  int i;
  if (g == NULL)
    return DT_E_NOMEM;
  g->comm = c;
  g->salt = salt;
  g->channel = salt >= FOR_MESSAGES;
  g->size = n;
  g->me = -1;
  g->ranks = DT_NEWN(cx, int, n);
  DT_CHECKG(cx, g->ranks != NULL, DT_E_NOMEM, "no memory for a group");
  g->hash = dt_hash_u64(dt_hash_u64(DT_HASH_SEED, salt), (uint64_t)n);
  for (i = 0; i < n; i++) {
    g->ranks[i] = ranks == NULL ? i : ranks[i];
    g->hash = dt_hash_u64(g->hash, (uint64_t)g->ranks[i]);
    if (g->ranks[i] == c->rank)
      g->me = i;
  }
  if (c->board != NULL)
    DT_TRYG(cx, dt_board_group(cx, c, g));
  if (c->vt->group_open != NULL)
    DT_TRYG(cx, c->vt->group_open(cx, c, g));
  *out = g;
  return DT_OK;
done:
  dt_free(cx, g->ranks);
  dt_free(cx, g);
  return st;
}

DtStatus dt_comm_new (DtCtx *cx, const DtCommVt *vt, int rank, int size,
                      DtComm **out) {
  DtComm *c = DT_NEW(cx, DtComm);
  if (c == NULL)
    return DT_E_NOMEM;
  c->vt = vt;
  c->rank = rank;
  c->size = size;
  c->epoch = c->era = 1;
  *out = c;
  return DT_OK;
}

DtStatus dt_comm_setup (DtCtx *cx, DtComm *c) {
  int n = c->board == NULL ? 0 : c->size;
  c->channels = DT_NEWN(cx, DtGroup *, CHAINS);
  cx->rank = c->rank;
  cx->size = c->size;
  c->snap = DT_NEWN(cx, DtSnap, n);
  c->statuses = DT_NEWN(cx, DtStatus, n);
  if (c->channels == NULL || c->snap == NULL || c->statuses == NULL)
    return DT_E_NOMEM;
  DT_TRY(cx, group_new(cx, c, c->size, NULL, FOR_DATA, &c->world));
  c->groups = c->world;
  if (c->board != NULL) {
    DT_TRY(cx, group_new(cx, c, c->size, NULL, FOR_MEET, &c->meet));
    DT_TRY(cx, group_new(cx, c, c->size, NULL, FOR_LINE, &c->line));
  }
  return DT_OK;
}

static void groups_free (DtCtx *cx, DtGroup *g) {
  while (g != NULL) {
    DtGroup *next = g->next;
    group_free(cx, g);
    g = next;
  }
}

void dt_comm_free (DtCtx *cx, DtComm *c) {
  int i;
  if (c == NULL)
    return;
  groups_free(cx, c->groups);
  groups_free(cx, c->stops);
  dt_msgs_free(cx, c);
  for (i = 0; c->channels != NULL && i < CHAINS; i++)
    groups_free(cx, c->channels[i]);
  dt_free(cx, c->channels);
  group_free(cx, c->meet);
  group_free(cx, c->line);
  group_free(cx, c->pace);
  dt_free(cx, c->snap);
  dt_free(cx, c->statuses);
  if (c->vt->close != NULL)
    c->vt->close(cx, c);
  dt_free(cx, c);
}

static bool same_ranks (const DtGroup *g, int n, const int *ranks) {
  return g->size == n &&
         memcmp(g->ranks, ranks, (size_t)n * sizeof *ranks) == 0;
}

/* Every rank in range and named once; checks through a bitmap. */
static DtStatus check_ranks (DtCtx *cx, const DtComm *c, int n,
                             const int *ranks) {
  DtArenaMark mark = dt_arena_mark(&cx->scratch);
  unsigned char *seen;
  DtStatus st = DT_OK;
  bool member = false;
  int i;
  DT_CHECK(cx, n > 0 && n <= c->size, DT_E_VALUE,
           "a group of %d ranks in a world of %d", n, c->size);
  seen = dt_arena_alloc(cx, &cx->scratch, (size_t)c->size);
  if (seen == NULL)
    return DT_E_NOMEM;
  for (i = 0; i < n; i++) {
    int r = ranks[i];
    DT_CHECKG(cx, r >= 0 && r < c->size, DT_E_VALUE,
              "rank %d is not in the world of %d", r, c->size);
    DT_CHECKG(cx, seen[r] == 0, DT_E_VALUE, "rank %d is twice in a group", r);
    seen[r] = 1;
    member = member || r == c->rank;
  }
  DT_CHECKG(cx, member, DT_E_NOTMEMBER, "rank %d is not in the group",
            c->rank);
done:
  dt_arena_release(&cx->scratch, mark);
  return st;
}

/* By the list as it is: [1, 0] is not [0, 1], since the order says whose
** block comes where. Groups are kept until the world ends, as their place on
** the board cannot be given back. */
DtStatus dt_comm_group (DtCtx *cx, DtComm *c, int n, const int *ranks,
                        DtGroup **out) {
  DtGroup *g, **at = &c->groups;
  for (; (g = *at) != NULL; at = &g->next) {
    if (same_ranks(g, n, ranks)) {
      *out = g;
      return DT_OK;
    }
  }
  DT_TRY(cx, check_ranks(cx, c, n, ranks));
  DT_TRY(cx, group_new(cx, c, n, ranks, FOR_DATA, &g));
  *at = g;
  *out = g;
  return DT_OK;
}

DtStatus dt_comm_channel (DtCtx *cx, DtComm *c, int src, int dst,
                          uint64_t salt, DtGroup **out) {
  int ranks[2] = {src, dst};
  DtGroup *g, **at = &c->channels[dt_hash_u64(DT_HASH_SEED, salt) % CHAINS];
  for (g = *at; g != NULL; g = g->next) {
    if (g->salt == salt && same_ranks(g, 2, ranks)) {
      *out = g;
      return DT_OK;
    }
  }
  DT_TRY(cx, group_new(cx, c, 2, ranks, salt, &g));
  g->next = *at;
  *at = g;
  *out = g;
  return DT_OK;
}

/* --- one collective ----------------------------------------------------- */

/* The part of a collective's offer that the caller knows. */
static DtOffer offer (const DtCollInfo *i, Kind kind, uint64_t size,
                      uint64_t more, const void *in, void *out) {
  DtOffer o;
  o.hash = dt_hash_u64(i->hash, (uint64_t)kind << 56 ^ size);
  o.hash = dt_hash_u64(o.hash, more);
  o.hash = dt_hash_str(o.hash, i->op == NULL ? "" : i->op);
  o.in = in;
  o.out = out;
  o.small = 0;
  return o;
}

/* Can `n` bytes of each member travel with the agreement?.  Every member
** must come to the same answer: it depends on the size, which the agreement
** compares, and on switches that hold for the whole world. */
static bool fits (const DtGroup *g, size_t n) {
  return g->comm->board != NULL && !g->comm->fast && !g->comm->wide &&
         n <= DT_CELL_SMALL;
}

/* All members are here with the same collective, or an error. */
static DtStatus start (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                       const DtOffer *o) {
  g->comm->seq++;
  return g->comm->vt->agree(cx, g, i, o);
}

/* The collective is over for this rank. */
static DtStatus finish (DtCtx *cx, DtGroup *g, DtStatus st) {
  if (g->comm->board != NULL)
    dt_board_post(g->comm, DT_POST_RUN, NULL, 0, 0, NULL);
  if (st != DT_OK)
    return dt_error_frame(cx, st, __func__, __FILE__, __LINE__);
  return DT_OK;
}

static void copy_small (void *out, const char *from, size_t n) {
  if (n > 0)
    memcpy(out, from, n);
}

DtStatus dt_comm_barrier (DtCtx *cx, DtGroup *g, const DtCollInfo *i) {
  DtOffer o = offer(i, K_BARRIER, 0, 0, NULL, NULL);
  DT_TRY(cx, start(cx, g, i, &o));
  if (g->comm->fast)              /* data is the only meeting then */
    return dt_comm_agree(cx, g, i, DT_OK);
  return finish(cx, g, DT_OK);
}

DtStatus dt_comm_all_gather (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                             const void *in, size_t nbytes, void *out) {
  DtOffer o = offer(i, K_ALL_GATHER, nbytes, 0, in, out);
  bool small = fits(g, nbytes);
  int m;
  o.small = small ? nbytes : 0;
  DT_TRY(cx, start(cx, g, i, &o));
  for (m = 0; small && m < g->size; m++)
    copy_small((char *)out + (size_t)m * nbytes, dt_board_small(g, m), nbytes);
  return finish(cx, g, small ? DT_OK
                : g->comm->vt->all_gather(cx, g, in, nbytes, out));
}

DtStatus dt_comm_all_to_all (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                             const void *in, size_t nbytes, void *out) {
  DtOffer o = offer(i, K_ALL_TO_ALL, nbytes, 0, in, out);
  bool small = fits(g, nbytes) && fits(g, nbytes * (size_t)g->size);
  int m;
  o.small = small ? nbytes * (size_t)g->size : 0;
  DT_TRY(cx, start(cx, g, i, &o));
  for (m = 0; small && m < g->size; m++)
    copy_small((char *)out + (size_t)m * nbytes,
               dt_board_small(g, m) + (size_t)g->me * nbytes, nbytes);
  return finish(cx, g, small ? DT_OK
                : g->comm->vt->all_to_all(cx, g, in, nbytes, out));
}

static DtStatus check_root (DtCtx *cx, const DtGroup *g, int root) {
  DT_CHECK(cx, root >= 0 && root < g->size, DT_E_VALUE,
           "root %d is not in the group of %d", root, g->size);
  return DT_OK;
}

DtStatus dt_comm_broadcast (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                            void *buf, size_t nbytes, int root) {
  DtOffer o = offer(i, K_BROADCAST, nbytes, (uint64_t)root, buf, buf);
  bool small = fits(g, nbytes);
  DT_TRY(cx, check_root(cx, g, root));
  o.small = small && g->me == root ? nbytes : 0;
  DT_TRY(cx, start(cx, g, i, &o));
  if (small && g->me != root)
    copy_small(buf, dt_board_small(g, root), nbytes);
  return finish(cx, g, small ? DT_OK
                : g->comm->vt->broadcast(cx, g, buf, nbytes, root));
}

DtStatus dt_comm_scatter (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                          const void *in, size_t nbytes, void *out,
                          int root) {
  DtOffer o = offer(i, K_SCATTER, nbytes, (uint64_t)root, in, out);
  bool small = fits(g, nbytes) && fits(g, nbytes * (size_t)g->size);
  DT_TRY(cx, check_root(cx, g, root));
  o.small = small && g->me == root ? nbytes * (size_t)g->size : 0;
  DT_TRY(cx, start(cx, g, i, &o));
  if (small)
    copy_small(out, dt_board_small(g, root) + (size_t)g->me * nbytes, nbytes);
  return finish(cx, g, small ? DT_OK
                : g->comm->vt->scatter(cx, g, in, nbytes, out, root));
}

/* --- reductions --------------------------------------------------------- */

/* Bytes of one block. */
static DtStatus bytes_of (DtCtx *cx, const DtReduction *r, size_t *out) {
  size_t es = dt_dtype_size(r->dtype);
  DT_CHECK(cx, r->n >= 0, DT_E_VALUE, "a collective of %lld elements",
           (long long)r->n);
  DT_CHECK(cx, es == 0 || (uint64_t)r->n <= SIZE_MAX / 4 / es, DT_E_OVERFLOW,
           "a collective of %lld elements is too large", (long long)r->n);
  *out = (size_t)r->n * es;
  return DT_OK;
}

static DtOffer offer_of (const DtCollInfo *i, Kind kind, size_t nbytes,
                         const DtReduction *r) {
  return offer(i, kind, nbytes, (uint64_t)r->op << 8 | (uint64_t)r->dtype,
               r->in, r->out);
}

/* The k blocks that were received one after the other in `tmp`, into out. */
static void reduce_received (const DtGroup *g, const DtReduction *r,
                             const char *tmp) {
  DtReduction received = *r;
  received.in = tmp;
  dt_order_reduce(&received, (size_t)r->n * dt_dtype_size(r->dtype), g->size);
}

/* Everybody gets everything and reduces it. */
static DtStatus reduce_gathered (DtCtx *cx, DtGroup *g, const DtReduction *r,
                                 char *tmp) {
  size_t nb = (size_t)r->n * dt_dtype_size(r->dtype);
  if (r->n == 0)
    return DT_OK;
  DT_TRY(cx, g->comm->vt->all_gather(cx, g, r->in, nb, tmp));
  reduce_received(g, r, tmp);
  return DT_OK;
}

/* Member i reduces block i of g->size blocks of r->n elements, then all gather
** the blocks. */
static DtStatus reduce_blocks (DtCtx *cx, DtGroup *g, const DtReduction *r,
                               char *tmp) {
  size_t nb = (size_t)r->n * dt_dtype_size(r->dtype);
  DtReduction mine = *r;
  mine.out = (char *)r->out + (size_t)g->me * nb;
  DT_TRY(cx, g->comm->vt->all_to_all(cx, g, r->in, nb, tmp));
  reduce_received(g, &mine, tmp);
  return g->comm->vt->all_gather(cx, g, mine.out, nb, r->out);
}

/* A world may have its own way: always, or when any order will do. */
typedef DtStatus (*OwnReduce) (DtCtx *cx, DtGroup *g, const DtReduction *r);
/* The quick one may add in another order, which changes the last bits: only
** by --fast-reduce. */
static OwnReduce own_reduce (const DtComm *c, const DtReduction *r) {
  const DtCommVt *vt = c->vt;
  if (c->fast_reduce && vt->fast_can != NULL && vt->fast_can(r))
    return vt->fast_reduce;
  return vt->all_reduce;
}

/* As many elements as divide in blocks, then the rest.  `tmp` serves both
** halves, one after the other (reduce_room). */
static DtStatus all_reduce_moves (DtCtx *cx, DtGroup *g, const DtReduction *r,
                                  char *tmp, bool small) {
  DtReduction blocks = *r, rest = *r;
  size_t off;
  blocks.n = small ? 0 : r->n / g->size;
  rest.n = r->n - blocks.n * g->size;
  off = (size_t)(blocks.n * g->size) * dt_dtype_size(r->dtype);
  rest.in = (const char *)r->in + off;
  rest.out = (char *)r->out + off;
  if (blocks.n > 0)
    DT_TRY(cx, reduce_blocks(cx, g, &blocks, tmp));
  return reduce_gathered(cx, g, &rest, tmp);
}

/* Every member's input came with the agreement. */
static void reduce_cells (DtGroup *g, const DtReduction *r) {
  DtReduction cells = *r;
  cells.in = dt_board_small(g, 0);
  dt_order_reduce(&cells, g->slot->stride, g->size);
}

/* Room for the blocks, or for the rest that does not divide. */
static size_t reduce_room (const DtGroup *g, DtDtype t, size_t nb,
                           bool small) {
  size_t k = (size_t)g->size, rest = k * k * dt_dtype_size(t);
  if (small)
    return nb * k;
  return nb > rest ? nb : rest;
}

DtStatus dt_comm_all_reduce (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                             const DtReduction *r) {
  OwnReduce own = own_reduce(g->comm, r);
  bool small, cells;
  char *tmp = NULL;
  DtStatus st = DT_OK;
  size_t nb;
  DtOffer o;
  DT_TRY(cx, bytes_of(cx, r, &nb));
  small = nb <= SMALL || r->n < g->size;
  cells = fits(g, nb);
  if (own == NULL && !cells) {
    tmp = dt_alloc(cx, reduce_room(g, r->dtype, nb, small));
    if (tmp == NULL)
      return DT_E_NOMEM;
  }
  o = offer_of(i, K_ALL_REDUCE, nb, r);
  o.small = cells ? nb : 0;
  DT_TRYG(cx, start(cx, g, i, &o));
  if (cells)
    reduce_cells(g, r);
  else if (own != NULL)
    st = own(cx, g, r);
  else
    st = all_reduce_moves(cx, g, r, tmp, small);
  st = finish(cx, g, st);
done:
  dt_free(cx, tmp);
  return st;
}

DtStatus dt_comm_reduce_scatter (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                                 const DtReduction *r) {
  const DtCommVt *vt = g->comm->vt;
  char *tmp = NULL;
  DtStatus st = DT_OK;
  size_t nb;
  DtOffer o;
  DT_TRY(cx, bytes_of(cx, r, &nb));
  if (vt->reduce_scatter == NULL) {
    DT_CHECK(cx, nb <= SIZE_MAX / 4 / (size_t)g->size, DT_E_OVERFLOW,
             "a collective of %lld elements is too large", (long long)r->n);
    tmp = dt_alloc(cx, nb * (size_t)g->size);
    if (tmp == NULL)
      return DT_E_NOMEM;
  }
  o = offer_of(i, K_REDUCE_SCATTER, nb, r);
  DT_TRYG(cx, start(cx, g, i, &o));
  if (tmp == NULL) {
    st = vt->reduce_scatter(cx, g, r);
  } else {
    st = vt->all_to_all(cx, g, r->in, nb, tmp);
    if (st == DT_OK)
      reduce_received(g, r, tmp);
  }
  st = finish(cx, g, st);
done:
  dt_free(cx, tmp);
  return st;
}

/* --- small services ----------------------------------------------------- */

/* One text per member out of the padded blocks; all or none.  No rank waits
** any more: this may fail on one alone. */
static DtStatus cut_texts (DtCtx *cx, int k, const char *all, size_t block,
                           const size_t *lens, char **outs) {
  int i;
  for (i = 0; i < k; i++) {
    outs[i] = dt_alloc(cx, lens[i] + 1);        /* a text may hold zero bytes */
    if (outs[i] != NULL) {
      memcpy(outs[i], all + (size_t)i * block, lens[i]);
      outs[i][lens[i]] = '\0';
    } else {
      while (i-- > 0) {
        dt_free(cx, outs[i]);
        outs[i] = NULL;
      }
      return DT_E_NOMEM;
    }
  }
  return DT_OK;
}

int dt_comm_running (const DtComm *c) {
  return c == NULL || c->vt->kind == DT_WORLD_FAKE ? 1 : c->size;
}

DtStatus dt_comm_gather_text (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                              const char *text, size_t n, char **outs,
                              size_t *lens) {
  const size_t none = SIZE_MAX;
  size_t most = 0;
  char *all = NULL, *mine = NULL;
  DtStatus st = DT_OK;
  bool room;
  int r;
  for (r = 0; r < g->size; r++)
    lens[r] = n;                  /* the fake world: all say the same */
  DT_TRY(cx, dt_comm_all_gather(cx, g, i, &n, sizeof n, lens));
  for (r = 0; r < g->size; r++)
    most = lens[r] > most ? lens[r] : most;
  mine = dt_calloc(cx, most + 1, 1);
  all = dt_alloc(cx, most * (size_t)g->size + 1);
  room = mine != NULL && all != NULL;
  /* One without room must not leave the others waiting for its text. */
  if (most > 0)
    DT_TRYG(cx, dt_comm_all_gather(cx, g, i, room ? &n : &none, sizeof n,
                                   lens));
  for (r = 0; r < g->size; r++)
    room = room && lens[r] != none;
  DT_CHECKG(cx, room, DT_E_NOMEM, "no memory for the texts of %d ranks",
            g->size);
  if (n > 0)
    memcpy(mine, text, n);
  if (g->comm->no_data) {
    for (r = 0; r < g->size; r++)
      memcpy(all + (size_t)r * most, mine, most);
  }
  if (most > 0)
    DT_TRYG(cx, dt_comm_all_gather(cx, g, i, mine, most, all));
  DT_TRYG(cx, cut_texts(cx, g->size, all, most, lens, outs));
done:
  dt_free(cx, mine);
  dt_free(cx, all);
  return st;
}

static DtStatus raise_worst (DtCtx *cx, const DtGroup *g, const int32_t *all) {
  int r;
  for (r = 0; r < g->size; r++) {
    if (all[r] != DT_OK)
      return dt_raise(cx, (DtStatus)all[r], "rank %d failed: %s", g->ranks[r],
                      dt_error_info((DtStatus)all[r])->text);
  }
  return DT_OK;
}

DtStatus dt_comm_agree (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                        DtStatus mine) {
  int32_t me = (int32_t)mine, *all;
  DtStatus st;
  if (g->comm->no_data)
    return mine;
  all = DT_NEWN(cx, int32_t, g->size);
  if (all == NULL)
    return DT_E_NOMEM;
  st = dt_comm_all_gather(cx, g, i, &me, sizeof me, all);
  if (mine != DT_OK)              /* my own error is pending: it stays */
    st = mine;
  else if (st == DT_OK)
    st = raise_worst(cx, g, all);
  dt_free(cx, all);
  return st;
}

DtStatus dt_comm_meet (DtCtx *cx, DtComm *c, DtStatus mine,
                       const DtCollInfo *i, DtStatus *all) {
  return c->vt->meet(cx, c, mine, i, all);
}

DtStatus dt_comm_share (DtCtx *cx, DtComm *c, char **text, size_t *n) {
  return c->vt->share(cx, c, text, n);
}

DtStatus dt_comm_alive (DtCtx *cx, DtComm *c) {
  return c->vt->alive(cx, c);
}

atomic_int *dt_comm_interrupt (DtComm *c) {
  return c->board == NULL ? NULL : &c->board->interrupt;
}

/* The group of the same ranks in which they wait for stops. */
static DtStatus stop_twin (DtCtx *cx, const DtGroup *g, DtGroup **out) {
  DtComm *c = g->comm;
  DtGroup **at = &c->stops;
  while (*at != NULL && !same_ranks(*at, g->size, g->ranks))
    at = &(*at)->next;
  if (*at == NULL)
    DT_TRY(cx, group_new(cx, c, g->size, g->ranks, FOR_STOP, at));
  *out = *at;
  return DT_OK;
}

DtStatus dt_comm_stop (DtCtx *cx, DtGroup *g, const DtCollInfo *i, bool *all) {
  *all = true;
  if (g->comm->vt->stop == NULL || g->size == 1)
    return DT_OK;
  DT_TRY(cx, stop_twin(cx, g, &g));
  return g->comm->vt->stop(cx, g, i, all);
}

DtStatus dt_comm_pace (DtCtx *cx, DtComm *c, uint64_t place, int id,
                       DtPace *out) {
  *out = (DtPace){c->size == 1, id == 0 ? -1 : c->rank, id};
  if (c->size == 1 || c->board == NULL || c->vt->stop == NULL || c->wide)
    return DT_OK;
  if (c->pace == NULL)
    DT_TRY(cx, group_new(cx, c, c->size, NULL, FOR_PACE, &c->pace));
  return dt_agree_pace(cx, c->pace, place, id, out);
}

atomic_int *dt_comm_ask (DtComm *c) {
  return c->board == NULL ? NULL : &c->board->ask;
}

void dt_comm_status (DtComm *c, DtBuf *b) {
  c->vt->status(c, b);
}
