/* SPDX-License-Identifier: MIT
** oplib/emitting.h: what decompositions written in C share: calls by EMIT(...),
** the context as CX, shapes of handles, a single result.  All Local. */
#ifndef DT_OPLIB_EMITTING_H
#define DT_OPLIB_EMITTING_H

#include <string.h>
#include "op/emit.h"

#define CX c->e->cx

/* Shape and type of what a call gave; nothing of one that failed (NULL). */
static inline DtMeta meta_of (DtDecompCall *c, const DtHandle *h) {
  DtMeta m;
  memset(&m, 0, sizeof m);
  if (h != NULL) dt_meta_copy(&m, dt_emit_meta(c->e, h));
  return m;
}

/* The decomposition ends with this result. */
static inline DtStatus finish (DtDecompCall *c, DtHandle *h) {
  c->out[0] = h;
  c->nout = 1;
  return c->e->st;
}

#endif
