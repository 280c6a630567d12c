/* SPDX-License-Identifier: MIT
** comm/hosts.c: rank 0's side of a world over several hosts: it listens, and
** runs a deputy for each rank that cannot see the board.
**
** A deputy is a thread with a context and a DtComm of its own, of the far
** rank's number; to the board it is that rank.  It reads a question, does
** what a rank on this host would have done, and sends what came of it.  When
** the far end closes without a good-bye, its post says that it died. */
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/error_comm.h"
#include "comm/hosts_int.h"
#include "comm/p2p_int.h"

enum { PATIENCE_MS = 30000, NOBODY = INT_MAX };

typedef struct Deputy {
  DtHosts *h;
  DtCtx *cx;
  DtComm *c;
  DtWire wire;
  atomic_int interrupt;
  pthread_t thread;
  bool runs;
} Deputy;

struct DtHosts {
  DtBoard *board;
  int size, nfar, fd;
  unsigned char token[DT_HOSTS_TOKEN];
  Deputy *deputy;
};

static const DtCommVt deputy_vt = {
  .name = "mpi",
  .kind = DT_WORLD_MPI,
  .agree = dt_agree_group,
  .meet = dt_agree_meet,
  .share = dt_agree_share,
  .stop = dt_agree_stop,
  .alive = dt_board_alive,
  .status = dt_board_status
};

/* --- one question -------------------------------------------------------- */

static void put_status (Deputy *d, DtStatus st) {
  DtError *e = &d->cx->err;
  const char *text = dt_buf_str(&e->message), *more = dt_buf_str(&e->explain);
  dt_wire_num(&d->wire, (uint64_t)st);
  if (st == DT_OK) text = more = "";
  dt_wire_text(&d->wire, text, strlen(text));
  dt_wire_text(&d->wire, more, strlen(more));
  dt_error_clear(d->cx);
}

static DtStatus get_group (Deputy *d, DtGroup **out) {
  uint64_t n = dt_wire_get(&d->wire);
  DtStatus st = DT_E_NOMEM;
  int *ranks;
  if (n > (uint64_t)d->c->size) n = 0;
  ranks = DT_NEWN(d->cx, int, n);
  for (uint64_t k = 0; ranks != NULL && k < n; k++)
    ranks[k] = (int)dt_wire_get(&d->wire);
  if (ranks != NULL) st = dt_comm_group(d->cx, d->c, (int)n, ranks, out);
  dt_free(d->cx, ranks);
  return st;
}

static void do_agree (Deputy *d) {
  DtWire *w = &d->wire;
  DtCollInfo room;
  const DtCollInfo *i;
  DtOffer o = {0, NULL, NULL, 0};
  DtGroup *g = NULL;
  DtStatus st;
  o.hash = dt_wire_get(w);
  i = dt_wire_get_info(w, &room);
  st = get_group(d, &g);
  if (st == DT_OK) st = dt_agree_group(d->cx, g, i, &o);
  put_status(d, st);
}

/* One side of a message: posted, or waited for. */
static void do_message (Deputy *d, bool both) {
  DtWire *w = &d->wire;
  int src = (int)dt_wire_get(w), dst = (int)dt_wire_get(w);
  uint64_t salt = dt_wire_get(w), key = dt_wire_get(w);
  DtCollInfo room;
  const DtCollInfo *i = both ? dt_wire_get_info(w, &room) : NULL;
  DtGroup *g;
  DtStatus st = dt_comm_channel(d->cx, d->c, src, dst, salt, &g);
  if (st == DT_OK && both) st = dt_agree_posted_by_both(d->cx, g, key, i);
  else if (st == DT_OK) dt_agree_posted(g, key);
  put_status(d, st);
}

static void do_meet (Deputy *d) {
  DtCollInfo room;
  DtStatus mine = (DtStatus)dt_wire_get(&d->wire);
  const DtCollInfo *i = dt_wire_get_info(&d->wire, &room);
  put_status(d, dt_agree_meet(d->cx, d->c, mine, i, NULL));
  for (int r = 0; r < d->c->size; r++)
    dt_wire_num(&d->wire, (uint64_t)d->c->statuses[r]);
}

static void do_share (Deputy *d) {
  char *text = NULL;
  size_t n = 0;
  put_status(d, dt_agree_share(d->cx, d->c, &text, &n));
  dt_wire_text(&d->wire, text != NULL ? text : "", n);
  dt_free(d->cx, text);
}

static void do_stop (Deputy *d) {
  DtCollInfo room;
  const DtCollInfo *i = dt_wire_get_info(&d->wire, &room);
  DtGroup *g = NULL;
  bool all = false;
  DtStatus st = get_group(d, &g);
  if (st == DT_OK) st = dt_comm_stop(d->cx, g, i, &all);
  put_status(d, st);
  dt_wire_num(&d->wire, all);
}

static void do_status (Deputy *d) {
  DtBuf b;
  dt_buf_init(&b, d->cx);
  dt_board_status(d->c, &b);
  put_status(d, DT_OK);
  dt_wire_text(&d->wire, dt_buf_str(&b), b.len);
  dt_buf_fini(&b);
}

/* False when the far rank has left. */
static bool answer (Deputy *d) {
  DtAsk what = (DtAsk)dt_wire_get(&d->wire);
  uint64_t flags = dt_wire_get(&d->wire);
  d->c->calm = (flags & 1) != 0;
  atomic_store(&d->interrupt, (flags & 2) != 0);
  switch (what) {
  case DT_ASK_AGREE: do_agree(d); break;
  case DT_ASK_MEET: do_meet(d); break;
  case DT_ASK_SHARE: do_share(d); break;
  case DT_ASK_STOP: do_stop(d); break;
  case DT_ASK_ALIVE: put_status(d, dt_board_alive(d->cx, d->c)); break;
  case DT_ASK_STATUS: do_status(d); break;
  case DT_ASK_POSTED: do_message(d, false); break;
  case DT_ASK_BOTH: do_message(d, true); break;
  default: return false;
  }
  return dt_wire_send(&d->wire);
}

/* A post without a process of its own cannot be looked up in /proc, so a pid
** that cannot be (NOBODY) says that it died. */
static void *work (void *ud) {
  Deputy *d = ud;
  DtPost *post = &d->c->board->posts[d->c->rank];
  bool on = true;
  while (on && dt_wire_recv(&d->wire)) on = answer(d);
  if (d->wire.broken) atomic_store(&post->pid, NOBODY);
  else atomic_store(&post->state, DT_POST_GONE);
  return NULL;
}

/* --- listening ------------------------------------------------------------ */

/* IPv4 addresses of this host, those of its own loop last. */
static uint32_t addresses (uint32_t *out, int max) {
  struct ifaddrs *all = NULL;
  int n = 0;
  if (getifaddrs(&all) != 0) return 0;
  for (int loop = 0; loop <= 1; loop++) {
    for (const struct ifaddrs *a = all; a != NULL && n < max;
         a = a->ifa_next) {
      struct sockaddr_in in;
      if (a->ifa_addr == NULL || a->ifa_addr->sa_family != AF_INET ||
          (a->ifa_flags & IFF_UP) == 0 ||
          ((a->ifa_flags & IFF_LOOPBACK) != 0) != (loop == 1))
        continue;
      memcpy(&in, a->ifa_addr, sizeof in);
      out[n++] = in.sin_addr.s_addr;
    }
  }
  freeifaddrs(all);
  return (uint32_t)n;
}

static DtStatus listen_on (DtCtx *cx, DtHosts *h, DtHostsWhere *where) {
  struct sockaddr_in a;
  socklen_t len = sizeof a;
  memset(&a, 0, sizeof a);
  a.sin_family = AF_INET;
  a.sin_addr.s_addr = htonl(INADDR_ANY);
  h->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  DT_CHECK(cx, h->fd >= 0 && bind(h->fd, (struct sockaddr *)&a, len) == 0 &&
               listen(h->fd, h->nfar + 8) == 0 &&
               getsockname(h->fd, (struct sockaddr *)&a, &len) == 0,
           DT_E_COMM, "rank 0 cannot listen for the ranks of other hosts");
  where->port = ntohs(a.sin_port);
  where->naddr = addresses(where->addr, DT_HOSTS_ADDRS);
  DT_CHECK(cx, where->naddr > 0, DT_E_COMM,
           "rank 0's host has no IPv4 address for the ranks of other hosts");
  DT_CHECK(cx, getrandom(h->token, sizeof h->token, 0) ==
               (ssize_t)sizeof h->token, DT_E_COMM, "no random bytes");
  memcpy(where->token, h->token, sizeof h->token);
  return DT_OK;
}

DtStatus dt_hosts_listen (DtCtx *cx, DtComm *c, int nfar, DtHosts **out,
                          DtHostsWhere *where) {
  DtHosts *h = DT_NEW(cx, DtHosts);
  DtStatus st = DT_OK;
  if (h == NULL) return DT_E_NOMEM;
  memset(where, 0, sizeof *where);
  h->board = c->board;
  h->size = c->size;
  h->nfar = nfar;
  h->fd = -1;
  h->deputy = DT_NEWN(cx, Deputy, nfar);
  DT_CHECKG(cx, h->deputy != NULL, DT_E_NOMEM, "no memory for %d deputies",
            nfar);
  for (int i = 0; i < nfar; i++) h->deputy[i].wire.fd = -1;
  DT_TRYG(cx, listen_on(cx, h, where));
  *out = h;
  return DT_OK;
done:
  dt_hosts_free(cx, h, true);
  return st;
}

static DtStatus deputy_new (DtHosts *h, Deputy *d, int rank) {
  DtStatus st;
  d->h = h;
  st = dt_comm_new(d->cx, &deputy_vt, rank, h->size, &d->c);
  if (st != DT_OK) return st;
  d->c->board = h->board;
  d->cx->interrupt = &d->interrupt;
  return dt_comm_setup(d->cx, d->c);
}

/* A connection says its secret and its rank, and hears it again. */
static DtStatus take_in (DtCtx *cx, DtHosts *h, Deputy *d, int fd) {
  uint64_t rank = UINT64_MAX;
  const char *token;
  size_t n;
  int on = 1;
  struct timeval soon = {5, 0}, never = {0, 0};
  (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  DT_TRY(cx, dt_ctx_new(&d->cx));
  dt_wire_init(&d->wire, d->cx, fd);
  if (!dt_wire_recv(&d->wire)) return DT_OK;          /* a stranger */
  token = dt_wire_get_text(&d->wire, &n);
  rank = dt_wire_get(&d->wire);
  if (d->wire.broken || n != DT_HOSTS_TOKEN ||
      memcmp(token, h->token, n) != 0 || rank >= (uint64_t)h->size)
    return DT_OK;
  DT_CHECK(cx, deputy_new(h, d, (int)rank) == DT_OK, DT_E_NOMEM,
           "no memory for the deputy of rank %d", (int)rank);
  (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &never, sizeof never);
  dt_wire_num(&d->wire, rank);
  DT_CHECK(cx, dt_wire_send(&d->wire), DT_E_COMM,
           "rank %d has left before it began", (int)rank);
  DT_CHECK(cx, pthread_create(&d->thread, NULL, work, d) == 0, DT_E_COMM,
           "no thread for the deputy of rank %d", (int)rank);
  d->runs = true;
  return DT_OK;
}

static void deputy_free (Deputy *d) {
  if (d->cx == NULL) return;
  dt_comm_free(d->cx, d->c);
  dt_wire_fini(&d->wire);
  dt_ctx_free(d->cx);
  d->cx = NULL;
  d->c = NULL;
}

DtStatus dt_hosts_accept (DtCtx *cx, DtHosts *h) {
  uint64_t end = dt_board_ms() + PATIENCE_MS;
  int n = 0;
  while (n < h->nfar) {
    struct pollfd p = {h->fd, POLLIN, 0};
    uint64_t now = dt_board_ms();
    int fd;
    DT_CHECK(cx, now < end, DT_E_COMM, "%d of %d ranks of other hosts did not "
             "come within %d s", h->nfar - n, h->nfar, PATIENCE_MS / 1000);
    if (poll(&p, 1, (int)(end - now)) <= 0) continue;
    fd = accept4(h->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) continue;
    DT_TRY(cx, take_in(cx, h, &h->deputy[n], fd));
    if (h->deputy[n].runs) n++;
    else deputy_free(&h->deputy[n]);
  }
  return DT_OK;
}

/* After a loss deputies may wait for a far rank for ever: shutting the
** connection ends their read. Joined before anything they use is freed. */
void dt_hosts_free (DtCtx *cx, DtHosts *h, bool dead) {
  if (h == NULL) return;
  for (int i = 0; h->deputy != NULL && i < h->nfar; i++) {
    Deputy *d = &h->deputy[i];
    if (dead && d->wire.fd >= 0) (void)shutdown(d->wire.fd, SHUT_RDWR);
    if (d->runs) (void)pthread_join(d->thread, NULL);
    deputy_free(d);
  }
  if (h->fd >= 0) (void)close(h->fd);
  dt_free(cx, h->deputy);
  dt_free(cx, h);
}
