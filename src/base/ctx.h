/* SPDX-License-Identifier: MIT
** base/ctx.h: DtCtx, the first argument of every engine function: allocator,
** pending error, scratch arena, interrupt flag.  One context per rank; ranks
** never share one.  [Lua's L, SQLite's db] */
#ifndef DT_BASE_CTX_H
#define DT_BASE_CTX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "base/mem.h"
#include "base/buf.h"

enum { DT_MAX_FRAMES = 24 };

typedef struct DtFrame { const char *func, *file; int line; } DtFrame;

/* The pending error.  `message` is PyTorch's own text wherever PyTorch has
** one; `explain` holds the facts that dtrepl adds. */
typedef struct DtError {
  DtStatus code;
  const char *pyclass;
  const char *reason;             /* a literal for code that decides by the
                                  ** error, whose text is PyTorch's; or NULL */
  DtBuf message;
  DtBuf explain;
  char *cause;                    /* message of an earlier, kept error */
  const char *cause_pyclass;
  int nframes;
  DtFrame frames[DT_MAX_FRAMES];
} DtError;

struct DtCtx {
  DtMem mem;                      /* allocator, counters, fail-nth */
  DtError err;
  DtArena scratch;                /* see dt_arena_mark() */
  atomic_int *interrupt;          /* set by Ctrl-C; NULL = cannot */
  int rank, size;                 /* in the world; for messages */
  /* Of the release, see compat/profiles.def: */
  int release;                    /* as in compat/release.h; 0: none is followed */
  bool bf16_complex;              /* bf16 with a complex number is bcomplex32,
                                  ** not complex64 */
  bool arange_in_float;           /* arange's count */
  bool linspace_in_float;         /* linspace of 16-bit types */
};

/* Make a context that owns nothing yet; `out` is freed by dt_ctx_free().
** Local. */
DtStatus dt_ctx_new (DtCtx **out);
void dt_ctx_free (DtCtx *cx);

/* Forget the pending error.  Local. */
void dt_error_clear (DtCtx *cx);

/* INTERRUPTED when Ctrl-C was pressed; called at each op and in waits.
** The flag stays set: the shell clears it.  Local. */
DtStatus dt_ctx_poll (DtCtx *cx);

#endif
