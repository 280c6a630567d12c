/* SPDX-License-Identifier: MIT
** comm/board.c: the memory that all ranks see: posts, groups, sleeping.
** What the posts mean together (agreement, divergence) is agree.c's business.
**
** Waiting: a few looks, a few offers of the core to others, then a futex on
** the group's bell with a timeout, so that Ctrl-C, dead ranks and divergence
** are seen.  The ringer changes the bell before it counts the sleepers, a
** sleeper counts itself before the kernel compares the bell: one of the two
** sees the other. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/error_comm.h"
#include "base/hash.h"
#include "comm/board_int.h"

enum {
  POOL = 8 << 20,               /* room for groups; untouched pages are free */
  POOL_RANK = 512 << 10,        /* and this for each rank */
  LOOKS = 2000, OFFERS = 100,   /* turns of a wait before the first sleep */
  ALIVE_MS = 100, NOTICE_MS = 2000
};

static size_t round_line (size_t n) {
  return (n + DT_BOARD_LINE - 1) & ~(size_t)(DT_BOARD_LINE - 1);
}

static size_t cell_bytes (const DtGroup *g) {
  return g->channel ? offsetof(DtCell, data) : sizeof(DtCell);
}

static size_t group_bytes (const DtGroup *g) {
  return round_line(sizeof(DtBoardGroup) +
                    (size_t)g->size * (cell_bytes(g) + sizeof(int32_t)));
}

static size_t head_bytes (int size) {
  return round_line(sizeof(DtBoard) + (size_t)size * sizeof(DtPost));
}

size_t dt_board_bytes (int size) {
  return head_bytes(size) + (size_t)size * (sizeof(DtLane) + POOL_RANK) +
         DT_NOTES_BYTES + POOL;
}

void dt_board_init (DtBoard *b, int size) {
  memset(b, 0, head_bytes(size));
  b->total = dt_board_bytes(size);
  b->size = size;
  /* With fewer cores than ranks looking on only keeps the others away. */
  b->looks = sysconf(_SC_NPROCESSORS_ONLN) >= size ? LOOKS : 1;
  b->offers = OFFERS;
  b->lanes = head_bytes(size);        /* zeroed: pages that are not used are
                                      ** not touched */
  b->notes = b->lanes + (size_t)size * sizeof(DtLane);
  atomic_store(&b->used, b->notes + DT_NOTES_BYTES);
}

/* --- groups ------------------------------------------------------------- */

static bool same_group (DtBoardGroup *bg, const DtGroup *g) {
  const int32_t *r = dt_board_ranks(bg);
  int i;
  if (bg->hash != g->hash || bg->size != g->size)
    return false;
  for (i = 0; i < g->size; i++) {
    if (r[i] != g->ranks[i])
      return false;
  }
  return true;
}

static _Atomic uint64_t *chain_of (DtBoard *b, const DtGroup *g) {
  return &b->first[g->hash % DT_BOARD_CHAINS];
}

/* Needs no lock: a group is filled before its offset is stored in the chain,
** goes in at the front, and is never changed or taken out again. */
static DtBoardGroup *find_group (DtBoard *b, const DtGroup *g) {
  uint64_t off = atomic_load(chain_of(b, g));
  while (off != 0) {
    DtBoardGroup *bg = dt_board_at(b, off);
    if (same_group(bg, g))
      return bg;
    off = bg->next;
  }
  return NULL;
}

/* The lock is held.  The store into the chain must be the last, as it is
** what find_group sees. */
static DtBoardGroup *add_group (DtBoard *b, const DtGroup *g) {
  size_t n = group_bytes(g);
  uint64_t off = atomic_load(&b->used);
  DtBoardGroup *bg;
  int i;
  if (n > b->total || off > b->total - n)
    return NULL;
  bg = dt_board_at(b, off);
  memset(bg, 0, n);
  bg->hash = g->hash;
  bg->self = off;
  bg->size = g->size;
  bg->stride = (uint32_t)cell_bytes(g);
  for (i = 0; i < g->size; i++)
    dt_board_ranks(bg)[i] = g->ranks[i];
  bg->next = atomic_load(chain_of(b, g));
  atomic_store(&b->used, off + n);
  atomic_store(chain_of(b, g), off);
  return bg;
}

/* Find or add the group under the board's lock. Looked up again under the
** lock, as another rank may have added it meanwhile; every 4096 turns somebody
** checks that the holder of the lock still lives. */
DtStatus dt_board_group (DtCtx *cx, DtComm *c, DtGroup *g) {
  DtBoard *b = c->board;
  DtBoardGroup *bg = find_group(b, g);
  if (bg == NULL) {
    int free_word = 0, turns = 0;
    while (!atomic_compare_exchange_weak(&b->lock, &free_word, 1)) {
      free_word = 0;
      sched_yield();
      if (++turns % 4096 == 0)        /* its holder may have died */
        DT_TRY(cx, dt_board_alive(cx, c));
    }
    bg = find_group(b, g);
    if (bg == NULL)
      bg = add_group(b, g);
    atomic_store(&b->lock, 0);
  }
  DT_CHECK(cx, bg != NULL, DT_E_LIMIT,
           g->channel ? "too many message tags in one session"
           : "too many groups of ranks in one session (group of %d)", g->size);
  g->slot = bg;
  return DT_OK;
}

/* --- posts -------------------------------------------------------------- */

static void copy_text (char *dst, size_t n, const char *src) {
  size_t len = src == NULL ? 0 : strlen(src);
  if (len >= n)
    len = n - 1;
  if (len > 0)
    memcpy(dst, src, len);
  memset(dst + len, 0, n - len);
}

/* `i` NULL leaves the text of the post before: a rank that goes from waiting
** to moving data is still in that collective. The releases keep every word
** between the two stores of `ver`; only this rank writes here. */
void dt_board_post (DtComm *c, DtPostState s, const DtBoardGroup *bg,
                    uint64_t key, uint64_t hash, const DtCollInfo *i) {
  DtPost *p = &c->board->posts[c->rank];
  uint64_t ver = atomic_load_explicit(&p->ver, memory_order_relaxed);
  atomic_store(&p->ver, ver + 1);
  atomic_store_explicit(&p->state, (uint64_t)s, memory_order_release);
  atomic_store_explicit(&p->slot, bg == NULL ? 0 : bg->self,
                        memory_order_release);
  atomic_store_explicit(&p->key, key, memory_order_release);
  atomic_store_explicit(&p->hash, hash, memory_order_release);
  if (i != NULL) {
    DtPostText t;
    int w;
    copy_text(t.s.op, sizeof t.s.op, i->op);
    copy_text(t.s.what, sizeof t.s.what, i->what);
    copy_text(t.s.where, sizeof t.s.where, i->where);
    copy_text(t.s.size, sizeof t.s.size, i->size);
    for (w = 0; w < DT_POST_WORDS; w++)
      atomic_store_explicit(&p->text[w], t.word[w], memory_order_release);
    atomic_store_explicit(&p->since, dt_board_ms(), memory_order_release);
  }
  atomic_store(&p->ver, ver + 2);
}

/* Who is caught writing eight times counts as running: that is in no circle
** of needs, so the mistake can only delay a verdict, never cause one. */
bool dt_board_read (const DtComm *c, int rank, DtSnap *out) {
  DtPost *p = &c->board->posts[rank];
  int tries, w;
  for (tries = 0; tries < 8; tries++) {
    uint64_t ver = atomic_load(&p->ver);
    out->state = (DtPostState)atomic_load(&p->state);
    out->slot = atomic_load(&p->slot);
    out->key = atomic_load(&p->key);
    out->hash = atomic_load(&p->hash);
    out->since = atomic_load(&p->since);
    for (w = 0; w < DT_POST_WORDS; w++)
      out->text.word[w] = atomic_load(&p->text[w]);
    if (ver % 2 == 0 && atomic_load(&p->ver) == ver)
      return true;
  }
  out->state = DT_POST_RUN;
  return false;
}

uint64_t dt_board_ms (void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* --- who is there ------------------------------------------------------- */

char dt_board_procstate (int pid) {
  char path[40], text[256];
  const char *p;
  ssize_t n;
  int fd;
  (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
  fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return kill(pid, 0) == 0 || errno == EPERM ? '?' : 'X';
  n = read(fd, text, sizeof text - 1);
  (void)close(fd);
  if (n <= 0)
    return 'X';
  text[n] = '\0';
  p = strrchr(text, ')');       /* the name may hold anything */
  return p != NULL && p[1] == ' ' ? p[2] : '?';
}

/* A zombie is dead to MPI but has a /proc entry until its launcher waits for
** it. */
static bool rank_gone (const DtPost *p) {
  int pid = atomic_load(&p->pid);
  char s;
  if (atomic_load(&p->state) == DT_POST_GONE)
    return true;
  if (pid == 0)
    return false;
  s = dt_board_procstate(pid);
  return s == 'X' || s == 'Z';
}

static bool is_member (DtBoardGroup *bg, int rank) {
  const int32_t *r = dt_board_ranks(bg);
  for (int i = 0; i < bg->size; i++)
    if (r[i] == rank) return true;
  return false;
}

/* A rank that died is missed by all; one that has left in order only by the
** groups it is in (bg, or NULL: the world). */
static int find_lost (const DtComm *c, DtBoardGroup *bg) {
  int r;
  for (r = 0; r < c->size; r++) {
    const DtPost *p = &c->board->posts[r];
    if (r == c->rank || !rank_gone(p)) continue;
    if (bg == NULL || atomic_load(&p->state) != DT_POST_GONE ||
        is_member(bg, r))
      return r;
  }
  return -1;
}

/* The first loss found is the one all report: those who leave because of it
** would otherwise be named as the cause. */
DtStatus dt_board_lost (DtCtx *cx, DtComm *c, int rank) {
  uint64_t s = atomic_load(&c->board->posts[rank].state);
  int first = 0, mine = 2 * rank + 2 + (s == DT_POST_GONE ? 0 : 1);
  if (atomic_compare_exchange_strong(&c->board->lost, &first, mine))
    first = mine;
  c->dead = true;
  return dt_raise(cx, DT_E_RANK_LOST, "rank %d %s", first / 2 - 1,
                  first % 2 == 0 ? "has left" : "died");
}

DtStatus dt_board_alive (DtCtx *cx, DtComm *c) {
  int r = find_lost(c, NULL);
  return r < 0 ? DT_OK : dt_board_lost(cx, c, r);
}

void dt_board_let_tell (const DtComm *c) {
  enum { NAPS = 200, NAP_NS = 5 * 1000 * 1000 };
  struct timespec t = { 0, NAP_NS };
  for (int i = 0; i < NAPS && c->rank != 0 && !rank_gone(&c->board->posts[0]); i++)
    (void)nanosleep(&t, NULL);
}

/* The first stopped rank (SIGSTOP, a debugger) is named once per wait. */
static void tell_stopped (DtComm *c, DtWait *w) {
  char line[128];
  int r;
  for (r = 0; r < c->size; r++) {
    int pid = atomic_load(&c->board->posts[r].pid);
    char s = pid == 0 ? '?' : dt_board_procstate(pid);
    if (s == 'T' || s == 't') {
      (void)snprintf(line, sizeof line,
                     "waiting for rank %d, which is stopped (process %d)", r,
                     pid);
      w->told = true;
      c->notice(c->notice_ud, line);
      return;
    }
  }
}

/* Progress on every call, since messages move only while somebody calls MPI;
** the rest costs a read of /proc for each rank. */
void dt_wait_check (DtComm *c, DtWait *w) {
  uint64_t now = dt_board_ms();
  if (c->vt->progress != NULL)
    (void)c->vt->progress(c);
  if (now - w->looked < ALIVE_MS)
    return;
  w->looked = now;
  if (now - w->began >= NOTICE_MS && !w->told && c->notice != NULL)
    tell_stopped(c, w);
  w->lost = find_lost(c, w->bg);
}

/* --- status ------------------------------------------------------------- */

void dt_board_ranklist (DtBuf *b, const DtSnap *snap, int n) {
  int r, count = 0, last = -1;
  const char *sep = "";
  for (r = 0; r < n; r++)
    count += snap[r].mark;
  dt_buf_add(b, count == 1 ? "rank " : "ranks ");
  for (r = 0; r < n; r++) {
    if (!snap[r].mark)
      continue;
    last = r;
    while (last + 1 < n && snap[last + 1].mark)
      last++;
    dt_buf_addf(b, "%s%d", sep, r);
    if (last > r)
      dt_buf_addf(b, "%c%d", last == r + 1 ? ',' : '-', last);
    sep = ",";
    r = last;
  }
}

/* " over ranks 0,2" when that is not the whole world. */
static void add_members (DtBoard *board, DtBuf *b, uint64_t slot) {
  DtBoardGroup *bg = dt_board_at(board, slot);
  const int32_t *r = dt_board_ranks(bg);
  int i;
  if (slot == 0 || bg->size == board->size)
    return;
  dt_buf_add(b, " over ranks ");
  for (i = 0; i < bg->size; i++)
    dt_buf_addf(b, i == 0 ? "%d" : ",%d", (int)r[i]);
}

void dt_board_doing (DtBoard *board, DtBuf *b, const DtSnap *s, bool sizes) {
  static const char *const words[] = {
    "running", "waiting in ", "moving data in ", "ended the chunk",
    "waiting for the next line", "waiting for others to take a line", "left",
    "stopped by the debugger", "held by a breakpoint until all have come"
  };
  dt_buf_add(b, words[s->state]);
  if (s->state == DT_POST_WAIT || s->state == DT_POST_MOVE) {
    dt_buf_add(b, s->text.s.op);
    if (sizes && s->text.s.size[0] != '\0')
      dt_buf_addf(b, " of %s", s->text.s.size);
    if (s->text.s.what[0] != '\0')
      dt_buf_addf(b, " (%s)", s->text.s.what);
    if (s->text.s.where[0] != '\0')
      dt_buf_addf(b, " at %s", s->text.s.where);
    add_members(board, b, s->slot);
  } else if (s->state == DT_POST_MEET && s->hash != DT_OK) {
    dt_buf_addf(b, " with an error (%s)",
                dt_error_info((DtStatus)s->hash)->text);
  }
}

void dt_board_status (DtComm *c, DtBuf *b) {
  uint64_t now = dt_board_ms();
  int r;
  for (r = 0; r < c->size; r++) {
    DtSnap s;
    int pid = atomic_load(&c->board->posts[r].pid);
    char p = pid == 0 ? '?' : dt_board_procstate(pid);
    (void)dt_board_read(c, r, &s);
    dt_buf_addf(b, "rank %d: ", r);
    if (p == 'X' || p == 'Z') {
      dt_buf_add(b, "died");
    } else {
      dt_board_doing(c->board, b, &s, false);
      if (s.state != DT_POST_RUN && s.state != DT_POST_GONE)
        dt_buf_addf(b, ", %.1f s",
                    now > s.since ? (double)(now - s.since) / 1000 : 0.0);
      if (p == 'T' || p == 't')
        dt_buf_addf(b, ", stopped (process %d)", pid);
    }
    dt_buf_addc(b, '\n');
  }
}

/* --- waiting ------------------------------------------------------------ */

void dt_wait_init (DtWait *w, DtBoard *b, DtBoardGroup *bg,
                   long nap_max_ms) {
  memset(w, 0, sizeof *w);
  w->bg = bg;
  w->looks = b->looks;
  w->offers = b->looks + b->offers;
  w->lost = -1;
  w->nap_ns = 1000000;
  w->nap_max = nap_max_ms * 1000000;
}

static void cpu_relax (void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/* Wait a little, longer each time: first spin, then yield, then sleep on the
** group's bell, which another rank rings. Returns false while it does not
** sleep: only after a nap is it time for the costly looks (dead ranks,
** Ctrl-C). The bell's value was read before the caller looked, so no ring is
** lost.  The naps double up to the caller's limit, which bounds how late a
** wake-up can be that nobody rings for (a death, Ctrl-C). */
bool dt_wait_pause (DtWait *w) {
  struct timespec t;
  if (w->turns < w->offers) {
    if (w->turns++ < w->looks)
      cpu_relax();
    else
      sched_yield();
    return false;
  }
  if (w->began == 0)
    w->began = w->looked = dt_board_ms();
  t.tv_sec = 0;
  t.tv_nsec = w->nap_ns;
  atomic_fetch_add(&w->bg->sleepers, 1);
  (void)syscall(SYS_futex, &w->bg->bell, FUTEX_WAIT, w->bell, &t, NULL, 0);
  atomic_fetch_sub(&w->bg->sleepers, 1);
  if (w->nap_ns < w->nap_max)
    w->nap_ns *= 2;
  if (w->nap_ns > w->nap_max)
    w->nap_ns = w->nap_max;
  return true;
}

void dt_bell_ring (DtBoardGroup *bg) {
  atomic_fetch_add(&bg->bell, 1);
  if (atomic_load(&bg->sleepers) > 0)
    (void)syscall(SYS_futex, &bg->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
