/* SPDX-License-Identifier: MIT
** base/mem.h: allocation with counters and injected failure, and arenas.
** All functions here are Local: they touch nothing but the context. */
#ifndef DT_BASE_MEM_H
#define DT_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

/* Freed blocks of up to this many granules of 16 bytes are kept for reuse. */
enum { DT_POOL_CLASSES = 128 };

typedef struct DtMem {
  int64_t nalloc, nlive;        /* allocations made; not yet freed */
  int64_t bytes_live, bytes_peak;
  int64_t nfailed;              /* allocations refused */
  int64_t limit;                /* bytes; 0 = none */
  int64_t fail_at;              /* test: allocation number that fails, */
  bool fail_on;                 /*   and every one after it */
  size_t pooled;                /* bytes of free blocks in the pool */
  union DtMemHead *pool[DT_POOL_CLASSES + 1];   /* by granules */
  bool leaving;                 /* see dt_mem_leave */
} DtMem;

/* Memory for `n` bytes, uninitialised (poisoned in test builds).  NULL and a
** NOMEM error in `cx` on failure; n == 0 gives a valid pointer.  Local. */
void *dt_alloc (DtCtx *cx, size_t n);
/* The same, zeroed, n * size checked for overflow. */
void *dt_calloc (DtCtx *cx, size_t n, size_t size);
/* Grow or shrink; the old block stays valid on failure. */
void *dt_realloc (DtCtx *cx, void *p, size_t n);
/* Free; NULL is accepted. */
void dt_free (DtCtx *cx, void *p);
/* A copy of a C string, owned by the caller; of at most n characters of it,
** with room for n: what comes after its end is 0. */
char *dt_strdup (DtCtx *cx, const char *s);
char *dt_strndup (DtCtx *cx, const char *s, size_t n);

/* A wish: what is far inside these bytes, which are gone through again and
** again, shall lie on large pages, so that its places are found faster.  Those
** that are used first stay small: a short program must not pay for a long one.
** Where the system has no such pages nothing happens. */
void dt_mem_large (void *p, size_t n);
/* The process ends with this context: small blocks that are freed from now on are
** left to it, which takes a fifth of a short program's time less.  The counters
** stay exact; the context must not be used for long any more.  No effect under
** ASan and in test builds, which look for what is left.  Local. */
void dt_mem_leave (DtCtx *cx);

#define DT_NEW(cx, T)        ((T *)dt_calloc((cx), 1, sizeof(T)))
#define DT_NEWN(cx, T, n)    ((T *)dt_calloc((cx), (size_t)(n), sizeof(T)))

/* Bump allocator: things that die together.  Blocks are kept for reuse. */
typedef struct DtArenaBlock DtArenaBlock;
typedef struct DtArena { DtArenaBlock *first, *cur; } DtArena;
typedef struct DtArenaMark { DtArenaBlock *block; size_t used; } DtArenaMark;

/* `n` bytes, zeroed, aligned for any type; NULL + NOMEM on failure. */
void *dt_arena_alloc (DtCtx *cx, DtArena *a, size_t n);
/* The same, not zeroed. */
void *dt_arena_raw (DtCtx *cx, DtArena *a, size_t n);
/* Make the first block of an empty arena this large instead of the usual.
** Without memory nothing changes. */
void dt_arena_reserve (DtCtx *cx, DtArena *a, size_t n);
/* The first block of an empty arena lies in `n` bytes at `p`, aligned for any
** type: they stay the caller's, and outlive the arena.  Too few are no use. */
void dt_arena_lend (DtArena *a, void *p, size_t n);
char *dt_arena_strdup (DtCtx *cx, DtArena *a, const char *s);
char *dt_arena_printf (DtCtx *cx, DtArena *a, const char *fmt, ...)
#if defined(__GNUC__)
  __attribute__((format(printf, 3, 4)))
#endif
;
#define DT_ANEWN(cx, a, T, n) \
  ((T *)dt_arena_alloc((cx), (a), (size_t)(n) * sizeof(T)))
/* Remember the top, and go back to it: everything after it is gone. */
DtArenaMark dt_arena_mark (DtArena *a);
void dt_arena_release (DtArena *a, DtArenaMark m);
void dt_arena_fini (DtCtx *cx, DtArena *a);

#endif
