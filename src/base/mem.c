/* SPDX-License-Identifier: MIT
** base/mem.c: allocation with counters, a limit and injected failure; arenas.
**
** Every block carries a small header with its size, so that the counters
** are exact without asking the C library.  It does not track who owns a
** block (ASan does that better), and does not align beyond max_align_t.
**
** Small blocks come in sizes of whole granules.  One that is freed goes on
** its context's list of that size, where the next one wanted is taken from:
** an operator makes and drops the same few sizes as the one before, and a
** list is much cheaper than the C library's bins.  A context has one thread,
** so no lock is needed.  What lies there is bounded, and not counted as live.
** Under ASan there is no pool, for it would hide a use after free.
**
** Injected failure: attempts are numbered from 1 in `nalloc`, whether they
** succeed or not; number `fail_at` fails, and with `fail_on` all later ones
** too (Lua, for one, tries again after a collection, so failing just once
** is too weak a test). */
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/ctx.h"
#include "base/mem_int.h"
#include "base/testing.h"

typedef union DtMemHead {
  alignas(max_align_t) size_t size;
  union DtMemHead *next;        /* while it lies in the pool */
} MemHead;

enum { POISON_NEW = 0xa5, POISON_OLD = 0x5a };

/* A granule, the largest size with a list, and how much the lists hold. */
enum { GRAIN = 16, POOL_MAX = DT_POOL_CLASSES * GRAIN, POOL_KEEP = 4 << 20 };

/* Blocks from here on go back even when the process ends: another rank, which is
** still at work, may want the pages. */
enum { LARGE = 64 << 10 };

#if defined(__SANITIZE_ADDRESS__)
#define USE_POOL false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define USE_POOL false
#endif
#endif
#if !defined(USE_POOL)
#define USE_POOL true
#endif

static void poison (void *p, int byte, size_t n) {
#if defined(DT_TESTMODE)
  memset(p, byte, n);
#else
  (void)p; (void)byte; (void)n;
#endif
}

static bool mem_over (const DtMem *m, size_t old, size_t n) {
  if (m->fail_at > 0 &&
      (m->nalloc == m->fail_at || (m->fail_on && m->nalloc > m->fail_at)))
    return true;
  if (n > (size_t)PTRDIFF_MAX - sizeof(MemHead))
    return true;
  return m->limit > 0 && n > old &&
         (int64_t)(n - old) > m->limit - m->bytes_live;
}

/* Count one attempt to get `n` bytes instead of `old`; may it go on? */
static bool mem_admit (DtMem *m, size_t old, size_t n) {
  m->nalloc++;
  if (!mem_over(m, old, n))
    return true;
  m->nfailed++;
  return false;
}

static void mem_count (DtMem *m, size_t old, size_t n) {
  m->bytes_live += (int64_t)n - (int64_t)old;
  if (m->bytes_live > m->bytes_peak)
    m->bytes_peak = m->bytes_live;
}

/* ---- the pool --------------------------------------------------------- */

static bool pool_has (size_t n) {
  return USE_POOL && n <= POOL_MAX;
}

static size_t grains (size_t n) {
  return (n + GRAIN - 1) / GRAIN;
}

/* Room for `n` bytes from the C library. */
static MemHead *raw_new (size_t n, bool zero) {
  return zero ? calloc(1, sizeof(MemHead) + n) : malloc(sizeof(MemHead) + n);
}

static MemHead *block_new (DtCtx *cx, size_t n, bool zero) {
  DtMem *m = &cx->mem;
  size_t k = grains(n);
  MemHead *h;
  if (!pool_has(n))
    return raw_new(n, zero);
  h = m->pool[k];
  if (h == NULL)
    return raw_new(k * GRAIN, zero);
  m->pool[k] = h->next;
  __builtin_prefetch(h->next, 1);       /* it may have left the cache */
  m->pooled -= k * GRAIN;
  if (zero)
    memset(h + 1, 0, n);
  return h;
}

static void block_free (DtCtx *cx, MemHead *h) {
  DtMem *m = &cx->mem;
  size_t k = grains(h->size);
  if (m->leaving && h->size < LARGE) return;
  if (!pool_has(h->size) || m->pooled >= POOL_KEEP) {
    free(h);
    return;
  }
  h->next = m->pool[k];
  m->pool[k] = h;
  m->pooled += k * GRAIN;
}

void dt_mem_leave (DtCtx *cx) {
#if !defined(DT_TESTMODE)
  cx->mem.leaving = USE_POOL;
#else
  (void)cx;
#endif
}

void dt_mem_trim (DtCtx *cx) {
  if (cx->mem.leaving) return;
  for (int k = 0; k <= DT_POOL_CLASSES; k++)
    while (cx->mem.pool[k] != NULL) {
      MemHead *h = cx->mem.pool[k];
      cx->mem.pool[k] = h->next;
      free(h);
    }
  cx->mem.pooled = 0;
}

/* The C library has no more: what lies in the pool may help. */
static MemHead *block_hard (DtCtx *cx, size_t n, bool zero) {
  if (cx->mem.pooled == 0)
    return NULL;
  dt_mem_trim(cx);
  return block_new(cx, n, zero);
}

/* NULL when there is no memory; `h` stays valid then.  Getting smaller does
** not fail: Lua counts on that. */
static MemHead *block_resize (DtCtx *cx, MemHead *h, size_t n) {
  size_t old = h->size;
  MemHead *to;
  if (!pool_has(old) && !pool_has(n))
    return realloc(h, sizeof(MemHead) + n);
  if (pool_has(old) && pool_has(n) && grains(old) == grains(n))
    return h;
  to = block_new(cx, n, false);
  if (to == NULL)
    return n <= old ? h : NULL;
  memcpy(to + 1, h + 1, old < n ? old : n);
  block_free(cx, h);
  return to;
}

/* ---- blocks ----------------------------------------------------------- */

static void *mem_new (DtCtx *cx, size_t n, bool zero) {
  MemHead *h;
  if (!mem_admit(&cx->mem, 0, n))
    return NULL;
  h = block_new(cx, n, zero);
  if (h == NULL)
    h = block_hard(cx, n, zero);
  if (h == NULL)
    return NULL;
  h->size = n;
  cx->mem.nlive++;
  mem_count(&cx->mem, 0, n);
  if (!zero)
    poison(h + 1, POISON_NEW, n);
  return h + 1;
}

static void *mem_raise (DtCtx *cx, size_t n) {
  (void)dt_raise(cx, DT_E_NOMEM, "out of memory: tried to allocate %zu bytes",
                 n);
  return NULL;
}

void *dt_mem_realloc_quiet (DtCtx *cx, void *p, size_t n) {
  MemHead *h;
  size_t old;
  if (p == NULL)
    return mem_new(cx, n, false);
  h = (MemHead *)p - 1;
  old = h->size;
  if (!mem_admit(&cx->mem, old, n))
    return NULL;
  h = block_resize(cx, h, n);
  if (h == NULL)
    return NULL;
  h->size = n;
  mem_count(&cx->mem, old, n);
  if (n > old)
    poison((char *)(h + 1) + old, POISON_NEW, n - old);
  return h + 1;
}

void *dt_alloc (DtCtx *cx, size_t n) {
  void *p = mem_new(cx, n, false);
  return p != NULL ? p : mem_raise(cx, n);
}

void *dt_calloc (DtCtx *cx, size_t n, size_t size) {
  size_t total = SIZE_MAX;
  void *p;
  if (size == 0 || n <= SIZE_MAX / size)
    total = n * size;
  p = mem_new(cx, total, true);
  return p != NULL ? p : mem_raise(cx, total);
}

void *dt_realloc (DtCtx *cx, void *p, size_t n) {
  void *q = dt_mem_realloc_quiet(cx, p, n);
  return q != NULL ? q : mem_raise(cx, n);
}

void dt_free (DtCtx *cx, void *p) {
  MemHead *h;
  if (p == NULL)
    return;
  h = (MemHead *)p - 1;
  cx->mem.nlive--;
  mem_count(&cx->mem, h->size, 0);
  poison(p, POISON_OLD, h->size);
  block_free(cx, h);
}

void dt_mem_large (void *p, size_t n) {
#if defined(MADV_HUGEPAGE)
  const uintptr_t page = (uintptr_t)2 << 20;
  uintptr_t from = ((uintptr_t)p + 2 * page - 1) & ~(page - 1);
  uintptr_t to = ((uintptr_t)p + n) & ~(page - 1);
  if (from < to)
    (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
#else
  (void)p; (void)n;
#endif
}

char *dt_strndup (DtCtx *cx, const char *s, size_t n) {
  size_t len = strnlen(s, n);
  char *p = dt_alloc(cx, n + 1);
  if (p == NULL)
    return NULL;
  memcpy(p, s, len);
  memset(p + len, 0, n + 1 - len);
  return p;
}

char *dt_strdup (DtCtx *cx, const char *s) {
  return dt_strndup(cx, s, strlen(s));
}

/* ---- arenas ---------------------------------------------------------- */

/* Blocks form a list in order of use; those after `cur` are empty and kept
** for reuse. */
struct DtArenaBlock {
  DtArenaBlock *next;
  size_t size, used;
  bool lent;                    /* another's memory */
  max_align_t data[];
};

static size_t arena_round (size_t n) {
  size_t a = alignof(max_align_t);
  return (n + a - 1) / a * a;
}

static bool arena_fits (const DtArenaBlock *b, size_t n) {
  return b != NULL && b->size - b->used >= n;
}

/* Make a block with room for `n` the current one. */
static DtArenaBlock *arena_grow (DtCtx *cx, DtArena *a, size_t n) {
  DtArenaBlock *b = a->cur != NULL ? a->cur->next : a->first;
  size_t size;
  if (arena_fits(b, n)) {
    a->cur = b;
    return b;
  }
  size = a->cur != NULL ? a->cur->size * 2 : (size_t)DT_ARENA_BLOCK;
  if (size < n)
    size = n;
  b = dt_alloc(cx, sizeof *b + size);
  if (b == NULL)
    return NULL;
  b->size = size;
  b->used = 0;
  b->lent = false;
  if (a->cur != NULL) {
    b->next = a->cur->next;
    a->cur->next = b;
  } else {
    b->next = a->first;
    a->first = b;
  }
  a->cur = b;
  return b;
}

void *dt_arena_raw (DtCtx *cx, DtArena *a, size_t n) {
  DtArenaBlock *b = a->cur;
  char *p;
  if (n > (size_t)PTRDIFF_MAX / 2)
    return mem_raise(cx, n);
  n = arena_round(n > 0 ? n : 1);
  if (!arena_fits(b, n)) {
    b = arena_grow(cx, a, n);
    if (b == NULL)
      return NULL;
  }
  p = (char *)b->data + b->used;
  b->used += n;
  return p;
}

void *dt_arena_alloc (DtCtx *cx, DtArena *a, size_t n) {
  void *p = dt_arena_raw(cx, a, n);
  if (p != NULL)
    memset(p, 0, n);
  return p;
}

void dt_arena_reserve (DtCtx *cx, DtArena *a, size_t n) {
  if (a->first != NULL)
    return;
  DtArenaBlock *b = dt_mem_realloc_quiet(cx, NULL, sizeof *b + n);
  if (b == NULL)
    return;
  *b = (DtArenaBlock){ .size = n };
  a->first = b;
}

void dt_arena_lend (DtArena *a, void *p, size_t n) {
  DtArenaBlock *b = p;
  if (a->first != NULL || n <= sizeof *b)
    return;
  *b = (DtArenaBlock){ .size = n - sizeof *b, .lent = true };
  a->first = b;
}

char *dt_arena_strdup (DtCtx *cx, DtArena *a, const char *s) {
  size_t n = strlen(s) + 1;
  char *p = dt_arena_alloc(cx, a, n);
  if (p != NULL)
    memcpy(p, s, n);
  return p;
}

char *dt_arena_printf (DtCtx *cx, DtArena *a, const char *fmt, ...) {
  va_list ap;
  char *p;
  int n;
  va_start(ap, fmt);
  n = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  p = dt_arena_alloc(cx, a, n < 0 ? 1 : (size_t)n + 1);
  if (p == NULL || n < 0)
    return p;
  va_start(ap, fmt);
  (void)vsnprintf(p, (size_t)n + 1, fmt, ap);
  va_end(ap);
  return p;
}

DtArenaMark dt_arena_mark (DtArena *a) {
  DtArenaMark m = { a->cur, a->cur != NULL ? a->cur->used : 0 };
  return m;
}

static void arena_cut (DtArenaBlock *b, size_t used) {
  poison((char *)b->data + used, POISON_OLD, b->used - used);
  b->used = used;
}

void dt_arena_release (DtArena *a, DtArenaMark m) {
  DtArenaBlock *b = m.block != NULL ? m.block->next : a->first;
  for (; b != NULL; b = b->next)
    arena_cut(b, 0);
  if (m.block != NULL)
    arena_cut(m.block, m.used);
  a->cur = m.block;
}

void dt_arena_fini (DtCtx *cx, DtArena *a) {
  DtArenaBlock *b = a->first;
  while (b != NULL) {
    DtArenaBlock *next = b->next;
    if (!b->lent)
      dt_free(cx, b);
    b = next;
  }
  a->first = a->cur = NULL;
}
