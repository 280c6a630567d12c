/* SPDX-License-Identifier: MIT
** base/ctx.c: life of a context.
**
** The context itself comes straight from the C library: it is what all
** other allocations are counted in.  Its message buffer gets its first room
** here, so that "out of memory" can always be said. */
#include <stdlib.h>
#include "base/ctx.h"
#include "base/mem_int.h"

enum { MESSAGE_ROOM = 512 };

DtStatus dt_ctx_new (DtCtx **out) {
  DtCtx *cx = calloc(1, sizeof *cx);
  if (cx == NULL)
    return DT_E_NOMEM;
  cx->size = 1;
  dt_buf_init(&cx->err.message, cx);
  dt_buf_init(&cx->err.explain, cx);
  cx->err.message.s = dt_mem_realloc_quiet(cx, NULL, MESSAGE_ROOM);
  if (cx->err.message.s == NULL) {
    free(cx);
    return DT_E_NOMEM;
  }
  cx->err.message.cap = MESSAGE_ROOM;
  cx->err.message.s[0] = '\0';
  *out = cx;
  return DT_OK;
}

void dt_ctx_free (DtCtx *cx) {
  if (cx == NULL)
    return;
  dt_error_clear(cx);
  dt_buf_fini(&cx->err.message);
  dt_buf_fini(&cx->err.explain);
  dt_arena_fini(cx, &cx->scratch);
  dt_mem_trim(cx);
  free(cx);
}

DtStatus dt_ctx_poll (DtCtx *cx) {
  if (cx->interrupt != NULL &&
      atomic_load_explicit(cx->interrupt, memory_order_relaxed) != 0)
    return dt_raise(cx, DT_E_INTERRUPTED, "interrupted");
  return DT_OK;
}
