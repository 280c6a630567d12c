/* SPDX-License-Identifier: MIT
** comm/p2p.c: send and receive, the same for every world.
**
** A message is posted (its data copied and on its way) and later waited for;
** the wait ends when the other side has posted its half, so a send that nobody
** receives is as stuck as a receive that nobody serves.  Posts are counted
** within an era: a chunk that failed ends one, and what was under way then is
** forgotten by all ranks alike. */
#include <string.h>
#include "base/error_comm.h"
#include "base/hash.h"
#include "comm/p2p_int.h"

static void msg_free (DtCtx *cx, DtComm *c, DtMsg *m) {
  if (c->vt->msg_free != NULL)
    c->vt->msg_free(cx, c, m);
  dt_free(cx, m->buf);
  dt_free(cx, m);
}

/* Nobody needs it any more: its data is where it goes, be it that a sender
** never asked, or the chunk it was for has failed.  What nobody has dropped
** is still the program's, however long ago it arrived. */
static bool is_done (DtComm *c, DtMsg *m) {
  if (!m->dropped)
    return false;
  return m->key >> 32 != c->era ||
         ((m->met || dt_msg_sends(m)) &&
          (c->vt->msg_gone == NULL || c->vt->msg_gone(c, m)));
}

static void sweep (DtCtx *cx, DtComm *c, bool all) {
  DtMsg **at = &c->msgs, *m;
  while ((m = *at) != NULL) {
    if (all || is_done(c, m)) {
      *at = m->next;
      msg_free(cx, c, m);
    } else {
      at = &m->next;
    }
  }
}

void dt_msgs_free (DtCtx *cx, DtComm *c) {
  sweep(cx, c, true);
}

/* A channel counts from 1 in each era. */
static uint64_t next_key (DtGroup *g) {
  if (g->epoch != g->comm->era) {
    g->epoch = g->comm->era;
    g->seq = 0;
  }
  return (uint64_t)g->epoch << 32 | ++g->seq;
}

/* The data is copied at once: the program may change the tensor before the
** other side asks. New messages go to the end, as progress is made in their
** order. */
static DtStatus msg_new (DtCtx *cx, DtComm *c, DtGroup *g,
                         const DtLetter *l, DtMsg **out) {
  DtMsg *m = DT_NEW(cx, DtMsg), **at = &c->msgs;
  if (m == NULL)
    return DT_E_NOMEM;
  m->channel = g;
  m->nbytes = l->nbytes;
  m->buf = dt_alloc(cx, sizeof(DtMsgHead) + l->nbytes);
  if (m->buf == NULL) {
    dt_free(cx, m);
    return DT_E_NOMEM;
  }
  dt_msg_head(m)->nbytes = l->nbytes;
  dt_msg_head(m)->salt = g->salt;
  dt_msg_head(m)->dtype = (uint64_t)l->dtype;
  if (dt_msg_sends(m) && l->nbytes > 0)
    memcpy(m->buf + sizeof(DtMsgHead), l->data, l->nbytes);
  while (*at != NULL)
    at = &(*at)->next;
  *at = m;
  *out = m;
  return DT_OK;
}

/* Channels of different groups and tags are different.  The number is "p2p2"
** in ASCII: it keeps these hashes apart from others of the same group. Both
** sides have to come to the same salt, so nothing of one rank alone may go
** in. */
static uint64_t salt_of (const DtLetter *l) {
  uint64_t h = dt_hash_u64(dt_hash_u64(l->group, 0x70327032), (uint64_t)l->tag);
  return h < FOR_MESSAGES ? h + FOR_MESSAGES : h;
}

static DtStatus say_posted (DtCtx *cx, DtMsg *m) {
  DtComm *c = m->channel->comm;
  if (c->no_data || c->fast)
    return DT_OK;
  if (c->far != NULL)
    return dt_far_posted(cx, m->channel, m->key);
  if (c->board != NULL)
    dt_agree_posted(m->channel, m->key);
  return DT_OK;
}

/* Begin to send or receive one message. Finished messages of earlier calls are
** swept first, so that a program that never waits does not keep them all. */
DtStatus dt_comm_post (DtCtx *cx, DtComm *c, const DtLetter *l, DtMsg **out) {
  DtGroup *g;
  DtMsg *m;
  int src = l->send ? c->rank : l->peer, dst = l->send ? l->peer : c->rank;
  DtStatus st = DT_OK;
  DT_CHECK(cx, l->peer != c->rank && l->peer >= 0 && l->peer < c->size,
           DT_E_VALUE, "rank %d cannot exchange a message with rank %d",
           c->rank, l->peer);
  DT_TRY(cx, dt_ctx_poll(cx));
  sweep(cx, c, false);
  DT_TRY(cx, dt_comm_channel(cx, c, src, dst, salt_of(l), &g));
  DT_TRY(cx, msg_new(cx, c, g, l, &m));
  m->key = next_key(g);
  if (c->vt->msg_begin != NULL && !c->no_data)
    st = c->vt->msg_begin(cx, c, m);
  if (st == DT_OK)
    st = say_posted(cx, m);
  if (st == DT_OK)
    *out = m;
  else
    dt_comm_drop(m);
  return st;
}

static DtStatus await_both (DtCtx *cx, DtMsg *m, const DtCollInfo *i) {
  DtComm *c = m->channel->comm;
  if (c->fast)
    return dt_ctx_poll(cx);
  if (c->far != NULL)
    return dt_far_posted_by_both(cx, m->channel, m->key, i);
  return dt_agree_posted_by_both(cx, m->channel, m->key, i);
}

/* Has what came the letter's type, and room?  Gloo writes bytes: it takes another
** type's for numbers of this one without a word, and what came too much ends its
** process. */
static DtStatus check_arrival (DtCtx *cx, DtMsg *m, const DtLetter *l) {
  const DtMsgHead *h = dt_msg_head(m);
  DT_CHECK(cx, h->salt == m->channel->salt, DT_E_COMM,
           "messages of two tags or groups were mixed up: use other tags");
  DT_CHECK(cx, h->nbytes <= m->nbytes, DT_E_RUNTIME, "rank %d sent more than the "
           "tensor that receives it has room for, %zu bytes",
           m->channel->ranks[0], m->nbytes);
  DT_CHECK(cx, h->dtype == (uint64_t)l->dtype || h->nbytes == 0, DT_E_RUNTIME,
           "rank %d sent %s to rank %d, which receives it as %s: its bytes would be "
           "taken for other numbers", m->channel->ranks[0],
           dt_dtype_info((DtDtype)h->dtype)->tag, m->channel->ranks[1],
           dt_dtype_info(l->dtype)->tag);
  return DT_OK;
}

size_t dt_comm_came (DtMsg *m) {
  return m->met && !m->channel->comm->no_data ? (size_t)dt_msg_head(m)->nbytes
                                              : m->nbytes;
}

/* `met` is set even when the end failed: a second wait must not wait for
** what has gone. */
DtStatus dt_comm_await (DtCtx *cx, DtComm *c, DtMsg *m, const DtLetter *l,
                        const DtCollInfo *i) {
  DtStatus st = DT_OK;
  size_t n;
  if (m->met)
    return DT_OK;
  if (c->vt->msg_end == NULL || c->no_data) {
    m->met = true;              /* the fake world: nothing comes */
    return dt_ctx_poll(cx);
  }
  DT_CHECK(cx, m->key >> 32 == c->era, DT_E_COMM,
           "this message was given up when a line before failed");
  DT_TRY(cx, await_both(cx, m, i));
  st = c->vt->msg_end(cx, c, m);
  m->met = true;
  if (c->board != NULL)
    dt_board_post(c, DT_POST_RUN, NULL, 0, 0, NULL);
  if (st != DT_OK || dt_msg_sends(m))
    return st;
  n = (size_t)dt_msg_head(m)->nbytes;
  DT_TRY(cx, check_arrival(cx, m, l));
  if (n > 0)
    memcpy(l->data, m->buf + sizeof(DtMsgHead), n);
  return DT_OK;
}

/* The key that the next message of a channel has. */
static uint64_t coming_key (const DtGroup *g) {
  uint64_t era = g->comm->era;
  return era << 32 | (g->epoch == era ? g->seq + 1 : 1);
}

DtStatus dt_comm_sender (DtCtx *cx, DtComm *c, const DtLetter *l, int n,
                         const int *ranks, int *peer) {
  *peer = -1;
  DT_CHECK(cx, c->board != NULL && !c->fast, DT_E_NOTIMPL,
           "recv from any source is not built in here: name the rank, src =");
  for (int i = 0; i < n && *peer < 0; i++) {
    DtGroup *g;
    if (ranks[i] == c->rank)
      continue;
    DT_TRY(cx, dt_comm_channel(cx, c, ranks[i], c->rank, salt_of(l), &g));
    if (atomic_load(&dt_board_cell(g->slot, 0)->key) >= coming_key(g))
      *peer = ranks[i];
  }
  return DT_OK;
}

bool dt_comm_all_wait (DtComm *c, int n, const int *ranks) {
  DtSnap s;
  for (int i = 0; i < n; i++) {
    if (ranks[i] == c->rank)
      continue;
    if (!dt_board_read(c, ranks[i], &s) || s.state == DT_POST_RUN ||
        s.state == DT_POST_MOVE || s.state == DT_POST_STOP)
      return false;
  }
  return true;
}

void dt_comm_drop (DtMsg *m) {
  m->dropped = true;
}

bool dt_comm_arrived (DtComm *c, DtMsg *m) {
  const DtGroup *g = m->channel;
  if (m->met || c->no_data)
    return true;
  if (c->fast)                  /* nothing is posted */
    return c->vt->msg_gone == NULL || c->vt->msg_gone(c, m);
  if (c->board == NULL)
    return false;
  return atomic_load(&dt_board_cell(g->slot, 1 - g->me)->key) >= m->key;
}
