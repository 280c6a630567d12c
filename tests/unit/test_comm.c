/* SPDX-License-Identifier: MIT
** test_comm.c: one suite of rank programs, run in the threads world, and,
** when mpirun and dtrepl-mpi.so are there, by this same program in the mpi
** world; both must give the same bits.  Ranks cannot use cmocka's asserts
** (they are threads): they count failures. */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/error_comm.h"
#include "base/hash.h"
#include "base/rng.h"
#include "comm/hosts_int.h"
#include "engine/world.h"

enum { LOOPS = 110 };

typedef struct Shared {
  atomic_int fails;
  atomic_int interrupt;
  _Atomic uint64_t digest;
  const char *only;
} Shared;

#define CHECK(cond) \
  do { if (!(cond)) { \
    fprintf(stderr, "rank %d: %s:%d: %s (%s)\n", c->rank, __FILE__, \
            __LINE__, #cond, dt_buf_str(&cx->err.message)); \
    atomic_fetch_add(&sh->fails, 1); } } while (0)

static double now_s (clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void nap_us (long us) {
  struct timespec t = {us / 1000000, us % 1000000 * 1000};
  nanosleep(&t, NULL);
}

static DtCollInfo info (const char *op, const char *where) {
  DtCollInfo i = {op, 7, "aten.test.default #1", where, ""};
  return i;
}

/* Ranks of pattern `k` that contain me: evens/odds, halves, all reversed,
** pairs across, alone. */
static DtGroup *some_group (DtCtx *cx, DtComm *c, int k) {
  DtGroup *g = NULL;
  int *r = malloc(sizeof *r * (size_t)c->size), n = 0, i;
  for (i = 0; i < c->size; i++) {
    bool in = k == 0 ? true : k == 1 ? i % 2 == c->rank % 2
      : k == 2 ? i / 2 == c->rank / 2 : k == 3 ? true : i == c->rank;
    if (in)
      r[n++] = i;
  }
  for (i = 0; k == 3 && i < n; i++)
    r[i] = n - 1 - i;
  if (dt_comm_group(cx, c, n, r, &g) != DT_OK)
    g = NULL;
  free(r);
  return g;
}

/* --- moving data -------------------------------------------------------- */

static unsigned char byte_of (int from, int to, size_t i) {
  return (unsigned char)(from * 31 + to * 7 + (int)(i % 251) + (int)(i >> 9));
}

static void fill (unsigned char *p, size_t n, int from, int to) {
  size_t i;
  for (i = 0; i < n; i++)
    p[i] = byte_of(from, to, i);
}

static bool same (const unsigned char *p, size_t n, int from, int to) {
  size_t i;
  for (i = 0; i < n; i++) {
    if (p[i] != byte_of(from, to, i))
      return false;
  }
  return true;
}

static void moves (DtCtx *cx, DtComm *c, Shared *sh, DtGroup *g, size_t n) {
  unsigned char *in = malloc(n * (size_t)g->size + 1);
  unsigned char *out = malloc(n * (size_t)g->size + 1);
  DtCollInfo i = info("move", "moves.lua:1");
  int m, root = g->size - 1;
  fill(in, n, c->rank, -1);
  CHECK(dt_comm_all_gather(cx, g, &i, in, n, out) == DT_OK);
  for (m = 0; m < g->size; m++)
    CHECK(same(out + (size_t)m * n, n, g->ranks[m], -1));
  for (m = 0; m < g->size; m++)
    fill(in + (size_t)m * n, n, c->rank, g->ranks[m]);
  CHECK(dt_comm_all_to_all(cx, g, &i, in, n, out) == DT_OK);
  for (m = 0; m < g->size; m++)
    CHECK(same(out + (size_t)m * n, n, g->ranks[m], c->rank));
  CHECK(dt_comm_scatter(cx, g, &i, g->me == root ? in : NULL, n, out, root)
        == DT_OK);
  CHECK(same(out, n, g->ranks[root], c->rank));
  fill(out, n, c->rank, 99);
  CHECK(dt_comm_broadcast(cx, g, &i, out, n, root) == DT_OK);
  CHECK(same(out, n, g->ranks[root], 99));
  CHECK(dt_comm_barrier(cx, g, &i) == DT_OK);
  free(in);
  free(out);
}

static void test_moves (DtCtx *cx, DtComm *c, Shared *sh) {
  static const size_t sizes[] = {0, 1, 7, 64, 4097, 300001};
  size_t s;
  int k;
  for (k = 0; k < 5; k++) {
    DtGroup *g = some_group(cx, c, k);
    CHECK(g != NULL);
    for (s = 0; g != NULL && s < sizeof sizes / sizeof *sizes; s++)
      moves(cx, c, sh, g, sizes[s]);
  }
}

/* --- reductions --------------------------------------------------------- */

static void numbers (DtDtype t, int rank, int64_t n, void *out) {
  DtRng r = {.seed = 42, .offset = (uint64_t)rank << 32};
  size_t es = dt_dtype_size(t);
  int64_t i;
  for (i = 0; i < n; i++) {
    double x = dt_rng_normal(&r, (uint64_t)i) * (i % 3 == 0 ? 1e3 : 1.0);
    DtScalar v = t == DT_I64 ? dt_scalar_int((int64_t)(x * 10))
                             : dt_scalar_float(x);
    dt_dtype_store(t, (char *)out + (size_t)i * es, v);
  }
}

static void reduce_one (DtCtx *cx, DtComm *c, Shared *sh, DtGroup *g,
                        DtDtype t, DtRedOp op, int64_t n) {
  size_t nb = (size_t)n * dt_dtype_size(t), k = (size_t)g->size;
  char *all = malloc(nb * k * k + 1), *want = malloc(nb * k + 1);
  char *out = malloc(nb * k + 1), *in = malloc(nb * k + 1);
  DtCollInfo i = info(dt_redop_name(op), "reduce.lua:3");
  int m;
  for (m = 0; m < g->size; m++)
    numbers(t, g->ranks[m], n * g->size, all + (size_t)m * nb * k);
  dt_order_reduce(&(DtReduction){ op, t, all, want, n * g->size }, nb * k,
                  g->size);
  memcpy(in, all + (size_t)g->me * nb * k, nb * k);
  CHECK(dt_comm_all_reduce(cx, g, &i,
      &(DtReduction){ op, t, in, out, n * g->size }) == DT_OK);
  CHECK(memcmp(out, want, nb * k) == 0);
  CHECK(dt_comm_reduce_scatter(cx, g, &i,
      &(DtReduction){ op, t, in, out, n }) == DT_OK);
  CHECK(memcmp(out, want + (size_t)g->me * nb, nb) == 0);
  CHECK(dt_comm_all_reduce(cx, g, &i,
      &(DtReduction){ op, t, in, in, n * g->size }) == DT_OK);
  CHECK(memcmp(in, want, nb * k) == 0);
  if (n > 0)            /* a length that does not divide: a part of it */
    CHECK(dt_comm_all_reduce(cx, g, &i,
        &(DtReduction){ op, t, in, out, n * g->size - 1 })
          == DT_OK);
  if (c->rank == 0)
    atomic_store(&sh->digest, dt_hash_bytes(dt_hash_bytes(
      atomic_load(&sh->digest), want, nb * k), out, nb * k > 0 ? nb * k -
      dt_dtype_size(t) : 0));
  free(all);
  free(want);
  free(out);
  free(in);
}

static void test_reductions (DtCtx *cx, DtComm *c, Shared *sh) {
  static const DtDtype types[] = {DT_F32, DT_F64, DT_BF16, DT_I64};
  static const DtRedOp ops[] = {DT_OP_SUM, DT_OP_MAX, DT_OP_AVG};
  static const int64_t sizes[] = {0, 1, 5, 1000, 20011};
  size_t a, b, d;
  int k;
  for (k = 0; k < 4; k++) {
    DtGroup *g = some_group(cx, c, k);
    for (a = 0; g != NULL && a < 4; a++)
      for (b = 0; b < 3; b++)
        for (d = 0; d < 5; d++)
          if (types[a] != DT_I64 || ops[b] != DT_OP_AVG)
            reduce_one(cx, c, sh, g, types[a], ops[b], sizes[d]);
  }
}

static DtStatus one (DtCtx *cx, DtGroup *g, const char *op) {
  DtCollInfo i = info(op, "repro.lua:14");
  float in = 1, out[64];
  return dt_comm_all_gather(cx, g, &i, &in, sizeof in, out);
}

/* --fast, --fast-reduce: the world's own order; integers are exact. */
static void test_fast (DtCtx *cx, DtComm *c, Shared *sh) {
  enum { N = 3001 };
  DtCollInfo i = info("sum", "");
  int64_t *v = malloc(N * sizeof *v), k, bad = 0;
  float x = 0.5f;
  if (c->fast) {
    for (k = 0; k < N; k++)
      v[k] = k + c->rank;
    CHECK(dt_comm_all_reduce(cx, c->world, &i,
        &(DtReduction){ DT_OP_SUM, DT_I64, v, v, N })
          == DT_OK);
    for (k = 0; k < N; k++)
      bad += v[k] != k * c->size + c->size * (c->size - 1) / 2;
    CHECK(bad == 0);
    CHECK(dt_comm_all_reduce(cx, c->world, &i,
        &(DtReduction){ DT_OP_AVG, DT_F32, &x, &x, 1 })
          == DT_OK);
    CHECK(x == 0.5f);
  }
  free(v);
}

/* --- texts, statuses, lines --------------------------------------------- */

static void test_services (DtCtx *cx, DtComm *c, Shared *sh) {
  DtCollInfo i = info("text", "");
  char text[64], *outs[64], *line = NULL;
  size_t lens[64], n = 0, big = 200000, k;
  DtStatus all[64];
  int r, len;
  len = snprintf(text, sizeof text, "%.*srank %d", c->rank, "....", c->rank);
  CHECK(dt_comm_gather_text(cx, c->world, &i, text, (size_t)len, outs, lens)
        == DT_OK);
  for (r = 0; r < c->size; r++) {
    len = snprintf(text, sizeof text, "%.*srank %d", r, "....", r);
    CHECK(strcmp(outs[r], text) == 0 && lens[r] == (size_t)len);
    dt_free(cx, outs[r]);
  }
  CHECK(dt_comm_agree(cx, c->world, &i, DT_OK) == DT_OK);
  if (c->size > 1) {
    DtStatus mine = DT_OK;
    if (c->rank == c->size - 1)
      mine = dt_raise(cx, DT_E_IO, "no such file");
    CHECK(dt_comm_agree(cx, c->world, &i, mine) == DT_E_IO);
    CHECK(strstr(dt_buf_str(&cx->err.message),
                 mine == DT_OK ? "failed" : "no such file") != NULL);
    dt_error_clear(cx);
    CHECK(dt_comm_meet(cx, c, mine, NULL, all) == DT_E_IO);
    CHECK(all[0] == DT_OK && all[c->size - 1] == DT_E_IO);
    dt_error_clear(cx);
  }
  /* between chunks Ctrl-C breaks nothing off */
  c->calm = true;
  if (c->rank == 0)
    atomic_store(cx->interrupt, 1);
  CHECK(dt_comm_agree(cx, c->world, &i, DT_OK) == DT_OK);
  CHECK(one(cx, c->world, "all_gather") == DT_OK);
  if (c->rank == 0)
    atomic_store(cx->interrupt, 0);
  CHECK(one(cx, c->world, "all_gather") == DT_OK);
  c->calm = false;
  for (k = 0; k < 3; k++) {
    size_t want = k == 0 ? 0 : k == 1 ? 5 : big, q, bad = 0;
    char *mine = malloc(want + 1);
    for (q = 0; q < want; q++)
      mine[q] = (char)('a' + q % 23);
    line = c->rank == 0 ? mine : NULL;
    n = c->rank == 0 ? want : 0;
    CHECK(dt_comm_share(cx, c, &line, &n) == DT_OK && n == want);
    for (q = 0; q < n; q++)
      bad += line[q] != mine[q];
    CHECK(bad == 0 && (c->rank == 0 || line[n] == '\0'));
    if (c->rank != 0)
      dt_free(cx, line);
    free(mine);
  }
}

/* --- divergence --------------------------------------------------------- */

static DtGroup *pair (DtCtx *cx, DtComm *c, int a, int b) {
  int r[2];
  DtGroup *g = NULL;
  r[0] = a < b ? a : b;
  r[1] = a < b ? b : a;
  (void)dt_comm_group(cx, c, 2, r, &g);
  return g;
}

static DtStatus a_line (DtCtx *cx, DtComm *c) {
  char *line = NULL, word[] = "step";
  size_t n = 4;
  DtStatus st;
  if (c->rank == 0)
    line = word;
  st = dt_comm_share(cx, c, &line, &n);
  if (c->rank != 0 && st == DT_OK)
    dt_free(cx, line);
  return st;
}

enum { NSCENES = 13 };

/* What this rank does in scene k; size 4.  *want: what the meeting says. */
static DtStatus scene (DtCtx *cx, DtComm *c, Shared *sh, int k,
                       DtStatus *want) {
  int me = c->rank, n;
  DtStatus st = DT_OK;
  *want = DT_E_DIVERGED;
  switch (k) {
  case 0:                       /* if rank == 0 then full_tensor() */
    return me == 0 ? one(cx, c->world, "all_gather") : DT_OK;
  case 1:                       /* two different collectives */
    return one(cx, c->world, me < 2 ? "all_gather" : "all_to_all");
  case 2:                       /* a pair, one of which ends; two more run */
    return me == 0 ? one(cx, pair(cx, c, 0, 1), "all_gather")
      : me == 1 ? DT_OK : one(cx, pair(cx, c, 2, 3), "all_gather");
  case 3:                       /* a chain that ends in an ended rank */
    return me >= 2 ? DT_OK : one(cx, pair(cx, c, me, me + 1), "all_gather");
  case 4:                       /* a circle of pairs */
    return me == 3 ? DT_OK
      : one(cx, pair(cx, c, me, (me + 1) % 3), "all_gather");
  case 5: {                     /* the same words, other sizes */
    DtCollInfo i = info("all_gather", "repro.lua:14");
    char in[8] = "", out[64];
    return dt_comm_all_gather(cx, c->world, &i, in, me == 3 ? 8 : 4, out);
  }
  case 6:                       /* no divergence: pairs in turn, slow ranks */
    *want = DT_OK;
    for (n = 0; n < 6 && st == DT_OK; n++) {
      if (me == n % 4)
        nap_us(2000);
      if (me == n % 4 || me == (n + 1) % 4)
        st = one(cx, pair(cx, c, n % 4, (n + 1) % 4), "all_gather");
    }
    return st;
  case 7:                       /* an error of one rank's own */
    if (me == 1)
      return dt_raise(cx, DT_E_SHAPE, "shapes differ");
    return one(cx, c->world, "all_gather");
  case 8:                       /* going on after the error */
    if (me == 3)
      return DT_OK;
    st = one(cx, c->world, "all_gather");
    CHECK(st == DT_E_DIVERGED);
    dt_error_clear(cx);
    st = one(cx, pair(cx, c, me == 2 ? 3 : me, 2), "all_gather");
    CHECK(st == DT_E_DIVERGED);
    return st;
  case 9:                       /* Ctrl-C while the others wait */
    *want = DT_E_INTERRUPTED;
    if (me != 0)
      return one(cx, c->world, "all_gather");
    nap_us(3000);
    atomic_store(cx->interrupt, 1);
    return dt_ctx_poll(cx);
  case 11:                      /* a prompt where rank 2 has not stopped */
    if (me == 0)
      nap_us(3000);
    return me == 2 ? one(cx, c->world, "all_gather") : a_line(cx, c);
  case 12:                      /* and one where rank 0 has not */
    return me == 0 ? one(cx, c->world, "all_gather") : a_line(cx, c);
  default:                      /* a pair waits, then both ends and third */
    return me == 0 ? one(cx, c->world, "all_gather")
      : me == 1 ? one(cx, pair(cx, c, 1, 2), "all_gather")
      : me == 2 ? one(cx, pair(cx, c, 2, 3), "all_gather") : DT_OK;
  }
}

static void after_scene (DtCtx *cx, DtComm *c, Shared *sh) {
  DtCollInfo i = info("all_reduce", "next.lua:1");
  double x = c->rank, sum = 0;
  CHECK(dt_comm_all_reduce(cx, c->world, &i,
      &(DtReduction){ DT_OP_SUM, DT_F64, &x, &sum, 1 })
        == DT_OK);
  CHECK(sum == c->size * (c->size - 1) / 2.0);
  CHECK(one(cx, pair(cx, c, c->rank, c->rank ^ 1), "all_gather") == DT_OK);
  CHECK(one(cx, pair(cx, c, c->rank, (c->rank + 2) % 4), "x") == DT_OK);
  CHECK(dt_comm_meet(cx, c, DT_OK, NULL, NULL) == DT_OK);
}

static void test_divergence (DtCtx *cx, DtComm *c, Shared *sh) {
  unsigned seed = (unsigned)c->rank * 7919 + 1;
  double fastest[NSCENES];
  int n;
  if (c->size != 4)
    return;
  for (n = 0; n < NSCENES; n++)
    fastest[n] = HUGE_VAL;
  for (n = 0; n < LOOPS; n++) {
    double t0 = now_s(CLOCK_MONOTONIC);
    DtStatus want, st, end, all[64];
    int k = n % NSCENES;
    seed = seed * 1103515245u + 12345u;
    if (seed >> 16 & 1)
      nap_us((long)(seed >> 17 & 2047));
    st = scene(cx, c, sh, k, &want);
    CHECK(st == DT_OK || st == want || st == DT_E_SHAPE);
    if (st == DT_E_DIVERGED) {
      const char *x = dt_buf_str(&cx->err.explain);
      CHECK(strstr(x, "rank") != NULL);
      CHECK(k != 0 || strcmp(x, "rank 0: waiting in all_gather (aten.test."
        "default #1) at repro.lua:14\nranks 1-3: ended the chunk\n") == 0);
      CHECK(strstr(x, "running") == NULL);
    }
    if (st != DT_OK)
      dt_error_clear(cx);
    end = dt_comm_meet(cx, c, st, NULL, all);
    CHECK(end == (st != DT_OK ? st : want));
    CHECK(all[c->rank] == st);
    dt_error_clear(cx);
    fastest[k] = fmin(fastest[k], now_s(CLOCK_MONOTONIC) - t0);
    if (k == 9 && c->rank == 0)
      atomic_store(cx->interrupt, 0);
    /* the next line comes from rank 0 */
    CHECK(a_line(cx, c) == DT_OK);
    after_scene(cx, c, sh);
    if (atomic_load(&sh->fails) > 20)
      return;
  }
  /* No scene ends by waiting long.  Each took milliseconds in the best of its
  ** rounds, however busy the machine was in the others. */
  for (n = 0; n < NSCENES; n++)
    CHECK(fastest[n] < 5);
}

/* --- random programs ---------------------------------------------------- */

/* The group of step `s` that holds this rank: a random cut of the ranks,
** the same on all. */
static DtGroup *cut (DtCtx *cx, DtComm *c, const DtRng *r, uint64_t s) {
  int ranks[64], n = 0, i, k = 1 + (int)(dt_rng_u64(r, s * 100) % 3);
  uint64_t mine = dt_rng_u64(r, s * 100 + 1 + (uint64_t)c->rank) % (uint64_t)k;
  DtGroup *g = NULL;
  for (i = 0; i < c->size; i++) {
    if (dt_rng_u64(r, s * 100 + 1 + (uint64_t)i) % (uint64_t)k == mine)
      ranks[n++] = i;
  }
  return dt_comm_group(cx, c, n, ranks, &g) == DT_OK ? g : NULL;
}

/* Programs that fit together must run; when one rank ends early or does one
** collective more, all must learn it. */
static void test_random (DtCtx *cx, DtComm *c, Shared *sh) {
  enum { STEPS = 12 };
  int n;
  for (n = 0; n < LOOPS / 2 && atomic_load(&sh->fails) < 10; n++) {
    DtRng r = {.seed = 1234, .offset = (uint64_t)n << 20};
    DtRng own = {.seed = (uint64_t)c->rank + 5, .offset = (uint64_t)n << 9};
    int how = c->size == 1 ? 0 : n % 3;   /* 0 right, 1 early, 2 one more */
    int bad = (int)(dt_rng_u64(&r, 1u << 18) % (uint64_t)c->size);
    uint64_t at = dt_rng_u64(&r, (1u << 18) + 1) % STEPS, s;
    DtStatus st = DT_OK, end;
    for (s = 0; s < STEPS && st == DT_OK; s++) {
      DtGroup *g = s == STEPS - 1 ? c->world : cut(cx, c, &r, s);
      if (dt_rng_u64(&own, s) % 8 == 0)
        nap_us((long)(dt_rng_u64(&own, s + 50) % 3000));
      if (how == 1 && c->rank == bad && s == at)
        break;
      if (how == 2 && c->rank == bad && s == at)
        st = one(cx, c->world, "all_gather_more");
      if (st == DT_OK)
        st = one(cx, g, "all_gather");
    }
    CHECK(st == DT_OK || (how != 0 && st == DT_E_DIVERGED));
    dt_error_clear(cx);
    end = dt_comm_meet(cx, c, st, NULL, NULL);
    CHECK(end == (how == 0 ? DT_OK : DT_E_DIVERGED));
    dt_error_clear(cx);
  }
}

/* Rank 1's memory fails at each allocation in turn: an error there, and the
** others learn it. */
static void test_no_memory (DtCtx *cx, DtComm *c, Shared *sh) {
  int k, r;
  for (k = 1; k < 12; k++) {
    int32_t *v = calloc(5000, sizeof *v);
    char *outs[64];
    size_t lens[64];
    DtCollInfo i = info("text", "");
    DtStatus st;
    if (c->rank == 1 || c->size == 1)
      cx->mem.fail_at = cx->mem.nalloc + k;
    st = dt_comm_all_reduce(cx, c->world, &i,
        &(DtReduction){ DT_OP_SUM, DT_F32, v, v, 5000 });
    if (st == DT_OK)
      st = dt_comm_agree(cx, c->world, &i, DT_OK);
    if (st == DT_OK)
      st = dt_comm_gather_text(cx, c->world, &i, "abc", 3, outs, lens);
    for (r = 0; st == DT_OK && r < c->size; r++)
      dt_free(cx, outs[r]);
    cx->mem.fail_at = 0;
    CHECK(st == DT_OK || st == DT_E_NOMEM || st == DT_E_DIVERGED);
    dt_error_clear(cx);
    (void)dt_comm_meet(cx, c, st, NULL, NULL);
    dt_error_clear(cx);
    free(v);
  }
}

/* --- idle, many groups, faults ------------------------------------------ */

static void test_idle (DtCtx *cx, DtComm *c, Shared *sh) {
  char *line = NULL, word[] = "x";
  size_t n = 1;
  double cpu = now_s(CLOCK_THREAD_CPUTIME_ID), t = now_s(CLOCK_MONOTONIC);
  if (c->rank == 0) {
    nap_us(1000000);
    line = word;
  }
  CHECK(dt_comm_share(cx, c, &line, &n) == DT_OK);
  if (c->rank != 0) {
    cpu = now_s(CLOCK_THREAD_CPUTIME_ID) - cpu;
    t = now_s(CLOCK_MONOTONIC) - t;
    CHECK(cpu < 0.01 * t);
    dt_free(cx, line);
  }
}

static void test_groups (DtCtx *cx, DtComm *c, Shared *sh) {
  int a, b, n;
  for (n = 0; n < 20; n++)
    for (a = 0; a < c->size; a++)
      for (b = a + 1; b < c->size; b++)
        if (c->rank == a || c->rank == b)
          CHECK(one(cx, pair(cx, c, a, b), "all_gather") == DT_OK);
  { int bad[2] = {0, 0}; DtGroup *g;
    CHECK(dt_comm_group(cx, c, 2, bad, &g) == DT_E_VALUE);
    dt_error_clear(cx);
    bad[0] = c->rank == 0 ? 1 : 0;
    if (c->size > 1) {
      CHECK(dt_comm_group(cx, c, 1, bad, &g) == DT_E_NOTMEMBER);
      dt_error_clear(cx); } }
}

static void test_faults (DtCtx *cx, DtComm *c, Shared *sh) {
  static const int kinds[] = {
    DT_FAULT_DELAY, DT_FAULT_FAIL, DT_FAULT_MISMATCH, DT_FAULT_INTERRUPT
  };
  int k, n;
  DtFault f = {0, 0, 1, 20};
  if (c->size < 2)
    return;
  for (k = 0; k < 4; k++) {
    DtStatus st = DT_OK, end;
    f.at = 3;
    f.kind = kinds[k];
    CHECK(dt_comm_fault(cx, c, &f) == DT_OK);
    for (n = 0; n < 6 && st == DT_OK; n++)
      st = one(cx, c->world, "all_gather");
    CHECK((st == DT_OK) == (kinds[k] == DT_FAULT_DELAY));
    CHECK(n == (st == DT_OK ? 6 : 3));
    dt_error_clear(cx);
    end = dt_comm_meet(cx, c, st, NULL, NULL);
    CHECK(end == st);
    dt_error_clear(cx);
    if (c->rank == 0)
      atomic_store(dt_comm_interrupt(c), 0);
    CHECK(dt_comm_meet(cx, c, DT_OK, NULL, NULL) == DT_OK);
  }
}

static int suite (DtCtx *cx, DtComm *c, void *ud) {
  static const struct {
    const char *name;
    void (*fn) (DtCtx *cx, DtComm *c, Shared *sh);
  } tests[] = {
    {"moves", test_moves}, {"reductions", test_reductions},
    {"services", test_services}, {"divergence", test_divergence},
    {"fast", test_fast}, {"random", test_random}, {"memory", test_no_memory}, {"idle", test_idle}, {"groups", test_groups}, {"faults", test_faults}
  };
  Shared *sh = ud;
  size_t k;
  for (k = 0; k < sizeof tests / sizeof *tests; k++) {
    if (sh->only == NULL || strcmp(sh->only, tests[k].name) == 0) {
      tests[k].fn(cx, c, sh);
      CHECK(dt_comm_meet(cx, c, DT_OK, NULL, NULL) == DT_OK);
    }
  }
  return atomic_load(&sh->fails) > 0;
}

/* What the context itself keeps aside, everything was freed. */
static void check_freed (DtCtx *cx) {
  dt_error_clear(cx);
  dt_arena_fini(cx, &cx->scratch);
  dt_buf_fini(&cx->err.message);
  dt_buf_fini(&cx->err.explain);
  assert_int_equal(cx->mem.nlive, 0);
  dt_ctx_free(cx);
}

/* --- running ------------------------------------------------------------ */

static void run_world (int size, const char *only, uint64_t *digest) {
  Shared sh = {0};
  DtWorldOpts o = {0};
  DtCtx *cx;
  int code = -1;
  sh.only = only;
  o.kind = DT_WORLD_THREADS;
  o.size = size;
  o.interrupt = &sh.interrupt;
  assert_int_equal(dt_ctx_new(&cx), DT_OK);
  assert_int_equal(dt_world_run(cx, &o, suite, &sh, &code), DT_OK);
  assert_int_equal(code, 0);
  check_freed(cx);
  if (digest != NULL)
    *digest = atomic_load(&sh.digest);
}

static void threads_four (void **state) { (void)state; run_world(4, NULL, NULL); }
static void threads_one (void **state) { (void)state; run_world(1, NULL, NULL); }
static void threads_three (void **state) {
  (void)state;
  run_world(3, NULL, NULL);
}
static void threads_many (void **state) {
  (void)state;
  run_world(16, "moves", NULL);
  run_world(8, "random", NULL);
}

/* A rank that leaves: the others learn its number. */
static int leaver (DtCtx *cx, DtComm *c, void *ud) {
  Shared *sh = ud;
  DtStatus st;
  if (c->rank == 2)
    return 0;
  if (c->rank == 3)
    nap_us(250000);
  st = one(cx, c->world, "all_gather");
  CHECK(st == DT_E_RANK_LOST);
  CHECK(strstr(dt_buf_str(&cx->err.message), "rank 2 has left") != NULL);
  dt_error_clear(cx);
  CHECK(dt_comm_meet(cx, c, st, NULL, NULL) == DT_E_RANK_LOST);
  return 0;
}

/* One that leaves is nothing to a group that it is not in. */
static int other_leaver (DtCtx *cx, DtComm *c, void *ud) {
  const int pair[2] = {2, 3};
  Shared *sh = ud;
  DtGroup *g;
  if (c->rank < 2)
    return 0;
  CHECK(dt_comm_group(cx, c, 2, pair, &g) == DT_OK);
  if (c->rank == 3)
    nap_us(250000);
  CHECK(one(cx, g, "all_gather") == DT_OK);
  return 0;
}

static void four_ranks (int (*fn) (DtCtx *, DtComm *, void *)) {
  Shared sh = {0};
  DtWorldOpts o = {0};
  DtCtx *cx;
  int code;
  o.size = 4;
  assert_int_equal(dt_ctx_new(&cx), DT_OK);
  assert_int_equal(dt_world_run(cx, &o, fn, &sh, &code), DT_OK);
  assert_int_equal(atomic_load(&sh.fails), 0);
  dt_ctx_free(cx);
}

static void rank_leaves (void **state) {
  (void)state;
  four_ranks(leaver);
}

static void other_leaves (void **state) {
  (void)state;
  four_ranks(other_leaver);
}

/* Somebody asks what the others do. */
static int asker (DtCtx *cx, DtComm *c, void *ud) {
  Shared *sh = ud;
  if (c->rank == 0) {
    DtBuf b;
    dt_buf_init(&b, cx);
    nap_us(100000);
    dt_comm_status(c, &b);
    CHECK(strstr(dt_buf_str(&b), "rank 0: running\n") != NULL);
    CHECK(strstr(dt_buf_str(&b), "rank 1: waiting in all_gather (aten.test."
                 "default #1) at repro.lua:14") != NULL);
    dt_buf_fini(&b);
  }
  CHECK(one(cx, c->world, "all_gather") == DT_OK);
  return 0;
}

static void status_of_ranks (void **state) {
  Shared sh = {0};
  DtWorldOpts o = {0};
  DtCtx *cx;
  int code;
  (void)state;
  o.size = 2;
  assert_int_equal(dt_ctx_new(&cx), DT_OK);
  assert_int_equal(dt_world_run(cx, &o, asker, &sh, &code), DT_OK);
  assert_int_equal(atomic_load(&sh.fails), 0);
  dt_ctx_free(cx);
}

static int pretend (DtCtx *cx, DtComm *c, void *ud) {
  Shared *sh = ud;
  DtCollInfo i = info("all_gather", "");
  CHECK(c->size == 1 << 20 && c->rank == 77 && c->world->size == 1 << 20);
  CHECK(dt_comm_all_gather(cx, c->world, &i, NULL, 1u << 30, NULL) == DT_OK);
  CHECK(dt_comm_all_reduce(cx, c->world, &i,
      &(DtReduction){ DT_OP_SUM, DT_F32, NULL, NULL, INT64_C(1) << 40 }) == DT_OK);
  CHECK(dt_comm_reduce_scatter(cx, c->world, &i,
      &(DtReduction){ DT_OP_SUM, DT_F32, NULL, NULL, 5 }) == DT_OK);
  CHECK(dt_comm_meet(cx, c, DT_OK, NULL, NULL) == DT_OK);
  return 3;
}

/* The world itself cannot be made: an error, nobody waits, nothing leaks. */
static int nothing (DtCtx *cx, DtComm *c, void *ud) {
  (void)cx; (void)c; (void)ud;
  return 0;
}

static void world_no_memory (void **state) {
  DtWorldOpts o = {0};
  int k, failed = 0;
  (void)state;
  o.size = 3;
  for (k = 1; k < 25; k++) {
    DtCtx *cx;
    int code = 0;
    DtStatus st;
    assert_int_equal(dt_ctx_new(&cx), DT_OK);
    cx->mem.fail_at = cx->mem.nalloc + k;
    st = dt_world_run(cx, &o, nothing, NULL, &code);
    assert_true(st == DT_OK || st == DT_E_NOMEM);
    failed += st != DT_OK;
    check_freed(cx);
  }
  assert_in_range(failed, 5, 24);
}

static void fake_world (void **state) {
  Shared sh = {0};
  DtWorldOpts o = {0};
  DtCtx *cx;
  int code;
  (void)state;
  o.kind = DT_WORLD_FAKE;
  o.size = 1 << 20;
  o.rank = 77;
  assert_int_equal(dt_ctx_new(&cx), DT_OK);
  assert_int_equal(dt_world_run(cx, &o, pretend, &sh, &code), DT_OK);
  assert_int_equal(code, 3);
  assert_int_equal(atomic_load(&sh.fails), 0);
  o.size = (1 << 20) + 1;
  assert_int_equal(dt_world_run(cx, &o, pretend, &sh, &code), DT_E_VALUE);
  check_freed(cx);
}

/* --- the mpi world ------------------------------------------------------ */

/* "DIR" of this program, or of the build: DIR/../.. */
static void self_dir (char *out, size_t n, int up) {
  ssize_t len = readlink("/proc/self/exe", out, n - 1);
  out[len > 0 ? len : 0] = '\0';
  for (; up >= 0; up--) {
    char *slash = strrchr(out, '/');
    if (slash != NULL)
      *slash = '\0';
  }
}

/* Rank 2 is killed; the others wait for it. */
static int dying (DtCtx *cx, DtComm *c, void *ud) {
  Shared *sh = ud;
  if (c->rank == 2)
    raise(SIGKILL);
  CHECK(one(cx, c->world, "all_gather") == DT_E_RANK_LOST);
  fprintf(stderr, "%s\n", dt_buf_str(&cx->err.message));
  return 1;
}

/* One rank under mpirun: the same suite; rank 0 prints the digest. */
static int mpi_rank (const char *dir, const char *only, bool fast) {
  Shared sh = {0};
  DtWorldOpts o = {0};
  DtCtx *cx;
  DtStatus st;
  int code = 1;
  if (dt_ctx_new(&cx) != DT_OK)
    return 1;
  sh.only = only;
  o.kind = DT_WORLD_MPI;
  o.exe_dir = dir;
  o.fast = o.fast_reduce = fast;
  st = dt_world_run(cx, &o, only != NULL && strcmp(only, "die") == 0 ? dying
                    : suite, &sh, &code);
  if (st != DT_OK)
    fprintf(stderr, "%s\n", dt_buf_str(&cx->err.message));
  if (cx->rank == 0)
    printf("digest %llx\n", (unsigned long long)atomic_load(&sh.digest));
  fflush(stdout);
  dt_ctx_free(cx);
  return st != DT_OK ? 1 : code;
}

/* dtrepl-mpi.so looks for these in the program that loads it; named here, the
** linker takes them out of the library. */
DtStatus (*const needs_far) (DtCtx *, DtComm *, const DtHostsWhere *) =
  dt_far_join;
void (*const needs_hosts) (DtCtx *, DtHosts *, bool) = dt_hosts_free;

/* Sanitizers and MPI do not go together. */
static bool can_mpi (char *self, char *dir, size_t n) {
  char cmd[2 * PATH_MAX];
  self_dir(self, n, -1);
  self_dir(dir, n, 2);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  (void)cmd;
  return false;
#else
  snprintf(cmd, sizeof cmd, "command -v mpirun >/dev/null && "
           "test -f '%s/dtrepl-mpi.so'", dir);
  return getenv("DT_TEST_NO_MPI") == NULL && system(cmd) == 0;
#endif
}

static FILE *mpirun (const char *self, const char *dir, const char *what) {
  char cmd[3 * PATH_MAX];
  FILE *f;
  snprintf(cmd, sizeof cmd, "mpirun --allow-run-as-root --oversubscribe -n 4 "
           "'%s' --mpi '%s' %s 2>&1", self, dir, what);
  f = popen(cmd, "r");
  assert_non_null(f);
  return f;
}

/* Rank 2 is killed while the others wait for it: they say so, and the job
** ends at once with an error. */
static void mpi_rank_dies (void **state) {
  char self[PATH_MAX], dir[PATH_MAX], line[256];
  double t = now_s(CLOCK_MONOTONIC);
  bool named = false;
  FILE *f;
  (void)state;
  if (!can_mpi(self, dir, sizeof self))
    skip();
  f = mpirun(self, dir, "die");
  while (fgets(line, sizeof line, f) != NULL)
    named = named || strstr(line, "rank 2 died") != NULL;
  assert_int_not_equal(pclose(f), 0);
  assert_true(named);
  /* Idle it takes less than a second, MPI's start-up included; that is no
  ** measure on a busy machine, or where names resolve slowly. */
  assert_true(now_s(CLOCK_MONOTONIC) - t < 60);
}

/* The suite's part `what` passes; *digest: of the results. */
static void mpi_passes (const char *self, const char *dir, const char *what,
                        uint64_t *digest) {
  FILE *f = mpirun(self, dir, what);
  char line[256];
  unsigned long long d;
  while (fgets(line, sizeof line, f) != NULL) {
    if (sscanf(line, "digest %llx", &d) == 1)
      *digest = d;
    else
      fputs(line, stderr);
  }
  assert_int_equal(pclose(f), 0);
}

static void mpi_same_bits (void **state) {
  char self[PATH_MAX], dir[PATH_MAX];
  uint64_t want = 0, got = 0, other;
  (void)state;
  if (!can_mpi(self, dir, sizeof self))
    skip();
  run_world(4, "reductions", &want);
  mpi_passes(self, dir, "", &got);
  assert_true(got == want);
  mpi_passes(self, dir, "fast fast", &other);
  mpi_passes(self, dir, "moves fast", &other);
}

int main (int argc, char **argv) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(threads_four), cmocka_unit_test(threads_one),
    cmocka_unit_test(threads_three), cmocka_unit_test(threads_many),
    cmocka_unit_test(rank_leaves), cmocka_unit_test(other_leaves),
    cmocka_unit_test(status_of_ranks),
    cmocka_unit_test(world_no_memory), cmocka_unit_test(fake_world), cmocka_unit_test(mpi_same_bits),
    cmocka_unit_test(mpi_rank_dies)
  };
  if (argc > 2 && strcmp(argv[1], "--mpi") == 0)
    return mpi_rank(argv[2], argc > 3 ? argv[3] : NULL, argc > 4);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
