/* SPDX-License-Identifier: MIT
** comm/far.c: a rank on another host than rank 0: what needs the board is
** asked of its deputy (hosts.c), one question at a time.
**
** A question can take as long as the other ranks do; the deputy's end closing
** means that rank 0 has gone.  Ctrl-C here is sent with the next question; in
** the middle of one it is rank 0's that breaks off. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/error_comm.h"
#include "comm/hosts_int.h"
#include "comm/p2p_int.h"

struct DtFar { DtWire wire; };

enum { MAX_NAP_MS = 10, ROUNDS_PER_MS = 256 };

static bool pressed (const DtCtx *cx, const DtComm *c) {
  return !c->calm && cx->interrupt != NULL && atomic_load(cx->interrupt) != 0;
}

static DtWire *question (DtCtx *cx, DtComm *c, DtAsk what) {
  DtWire *w = &c->far->wire;
  dt_buf_clear(&w->out);
  dt_wire_num(w, what);
  dt_wire_num(w, (c->calm ? 1u : 0u) | (pressed(cx, c) ? 2u : 0u));
  return w;
}

/* While messages are on their way they only move when MPI is called, and
** whom the answer waits for may wait for one of them. */
static bool hear (DtComm *c, DtWire *w) {
  struct pollfd p = {w->fd, POLLIN, 0};
  int round = 0, nap = 1;
  while (!w->broken && c->vt->progress != NULL && c->vt->progress(c) &&
         poll(&p, 1, nap) <= 0) {
    if (nap < MAX_NAP_MS) nap = 1 + ++round / ROUNDS_PER_MS;
  }
  return dt_wire_recv(w);
}

/* The answer begins with a status and its words.  Any break in the
** connection is taken for rank 0's death, since a far rank has no board to
** look for another reason. */
static DtStatus answer (DtCtx *cx, DtComm *c, DtWire *w) {
  DtStatus st;
  const char *message, *explain;
  if (c->dead || !dt_wire_send(w) || !hear(c, w)) {
    c->dead = true;
    return dt_raise(cx, DT_E_RANK_LOST, "rank 0 died");
  }
  st = (DtStatus)dt_wire_get(w);
  message = dt_wire_get_text(w, NULL);
  explain = dt_wire_get_text(w, NULL);
  if (st == DT_OK) return DT_OK;
  if (st == DT_E_RANK_LOST) c->dead = true;
  (void)dt_raise(cx, st, "%s", message);
  dt_buf_add(&cx->err.explain, explain);
  return st;
}

static void put_ranks (DtWire *w, const DtGroup *g) {
  dt_wire_num(w, (uint64_t)g->size);
  for (int k = 0; k < g->size; k++) dt_wire_num(w, (uint64_t)g->ranks[k]);
}

DtStatus dt_far_agree (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                       const DtOffer *o) {
  DtComm *c = g->comm;
  DtWire *w = question(cx, c, DT_ASK_AGREE);
  dt_wire_num(w, o->hash);
  dt_wire_info(w, i);
  put_ranks(w, g);
  return answer(cx, c, w);
}

static void put_channel (DtWire *w, const DtGroup *g, uint64_t key) {
  dt_wire_num(w, (uint64_t)g->ranks[0]);
  dt_wire_num(w, (uint64_t)g->ranks[1]);
  dt_wire_num(w, g->salt);
  dt_wire_num(w, key);
}

DtStatus dt_far_posted (DtCtx *cx, DtGroup *g, uint64_t key) {
  DtWire *w = question(cx, g->comm, DT_ASK_POSTED);
  put_channel(w, g, key);
  return answer(cx, g->comm, w);
}

DtStatus dt_far_posted_by_both (DtCtx *cx, DtGroup *g, uint64_t key,
                                const DtCollInfo *i) {
  DtWire *w = question(cx, g->comm, DT_ASK_BOTH);
  put_channel(w, g, key);
  dt_wire_info(w, i);
  return answer(cx, g->comm, w);
}

/* Statuses come whether the meeting went well or not.  The answer is read to
** its end whatever it says, or the next question would read the rest of it.
** Epoch and era go up as in dt_agree_meet. */
DtStatus dt_far_meet (DtCtx *cx, DtComm *c, DtStatus mine,
                      const DtCollInfo *i, DtStatus *all) {
  DtWire *w = question(cx, c, DT_ASK_MEET);
  DtStatus st;
  dt_wire_num(w, (uint64_t)mine);
  dt_wire_info(w, i);
  if (mine == DT_OK) {
    st = answer(cx, c, w);
  } else {                      /* my own error is pending: it stays */
    if (c->dead || !dt_wire_send(w) || !hear(c, w)) {
      c->dead = true;
      return mine;
    }
    (void)dt_wire_get(w);
    (void)dt_wire_get_text(w, NULL);
    (void)dt_wire_get_text(w, NULL);
    st = mine;
  }
  for (int r = 0; r < c->size && !c->dead; r++) {
    DtStatus his = (DtStatus)dt_wire_get(w);
    if (all != NULL) all[r] = his;
  }
  if (st != DT_OK) c->era = c->epoch + 1;
  c->epoch++;
  return st;
}

DtStatus dt_far_share (DtCtx *cx, DtComm *c, char **text, size_t *n) {
  DtWire *w = question(cx, c, DT_ASK_SHARE);
  const char *s;
  size_t len;
  DT_TRY(cx, answer(cx, c, w));
  s = dt_wire_get_text(w, &len);
  *text = dt_alloc(cx, len + 1);
  DT_CHECK(cx, *text != NULL, DT_E_NOMEM, "no memory for the next line");
  memcpy(*text, s, len + 1);
  *n = len;
  return DT_OK;
}

DtStatus dt_far_stop (DtCtx *cx, DtGroup *g, const DtCollInfo *i, bool *all) {
  DtWire *w = question(cx, g->comm, DT_ASK_STOP);
  dt_wire_info(w, i);
  put_ranks(w, g);
  *all = false;
  DT_TRY(cx, answer(cx, g->comm, w));
  *all = dt_wire_get(w) != 0;
  return DT_OK;
}

DtStatus dt_far_alive (DtCtx *cx, DtComm *c) {
  return answer(cx, c, question(cx, c, DT_ASK_ALIVE));
}

void dt_far_status (DtComm *c, DtBuf *b) {
  DtCtx *cx = b->cx;
  DtWire *w = question(cx, c, DT_ASK_STATUS);
  if (answer(cx, c, w) != DT_OK) {
    dt_error_clear(cx);
    dt_buf_add(b, "rank 0's host does not answer\n");
    return;
  }
  dt_buf_add(b, dt_wire_get_text(w, NULL));
}

/* --- coming and leaving -------------------------------------------------- */

/* Limits only until both know each other: later a question takes as long as
** the other ranks do. */
static int connect_to (uint32_t addr, uint32_t port) {
  struct sockaddr_in a;
  struct timeval limit = {5, 0}, none = {0, 0};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
  if (fd < 0) return -1;
  memset(&a, 0, sizeof a);
  a.sin_family = AF_INET;
  a.sin_addr.s_addr = addr;
  a.sin_port = htons((uint16_t)port);
  (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (connect(fd, (struct sockaddr *)&a, sizeof a) != 0) {
    (void)close(fd);
    return -1;
  }
  (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none);
  (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  return fd;
}

/* Rank 0's host has several addresses; it may not be the first that leads
** there, nor that what answers there is rank 0: it says so. */
DtStatus dt_far_join (DtCtx *cx, DtComm *c, const DtHostsWhere *where) {
  char first[INET_ADDRSTRLEN] = "no address";
  struct DtFar *f = DT_NEW(cx, struct DtFar);
  if (f == NULL) return DT_E_NOMEM;
  for (uint32_t k = 0; k < where->naddr; k++) {
    int fd = connect_to(where->addr[k], where->port);
    if (k == 0)
      (void)inet_ntop(AF_INET, &where->addr[0], first, sizeof first);
    if (fd < 0) continue;
    dt_wire_init(&f->wire, cx, fd);
    dt_wire_text(&f->wire, (const char *)where->token, DT_HOSTS_TOKEN);
    dt_wire_num(&f->wire, (uint64_t)c->rank);
    if (dt_wire_send(&f->wire) && dt_wire_recv(&f->wire) &&
        dt_wire_get(&f->wire) == (uint64_t)c->rank) {
      struct timeval none = {0, 0};
      (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
      c->far = f;
      return DT_OK;
    }
    dt_wire_fini(&f->wire);
  }
  dt_free(cx, f);
  return dt_raise(cx, DT_E_COMM, "rank %d does not reach rank 0's host at %s "
                  "(%u addresses tried), port %u", c->rank, first,
                  where->naddr, where->port);
}

void dt_far_leave (DtCtx *cx, DtComm *c) {
  if (c->far == NULL) return;
  if (!c->dead) (void)dt_wire_send(question(cx, c, DT_ASK_BYE));
  dt_wire_fini(&c->far->wire);
  dt_free(cx, c->far);
  c->far = NULL;
}
