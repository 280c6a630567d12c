/* SPDX-License-Identifier: MIT
** engine/parts.h: agreement on the sizes of the parts that ranks exchange. */
#ifndef DT_ENGINE_PARTS_H
#define DT_ENGINE_PARTS_H

#include "comm/comm.h"

/* What this rank gives and wants, in rows: `in[i]` go to member i of the group,
** `out[i]` come from it. */
typedef struct DtParts {
  DtDtype dtype;
  int64_t row;                  /* elements of a row */
  const int64_t *in, *out;
} DtParts;

/* Does each part arrive as it is expected, in size and type?  *largest: of all, in
** elements.  RUNTIME with the two ranks that do not agree, on every rank alike; not
** in a fake world.  Collective. */
DtStatus dt_parts_agree (DtCtx *cx, DtGroup *g, const DtCollInfo *i, const DtParts *p,
                         int64_t *largest);

#endif
