/* SPDX-License-Identifier: MIT
** repl/fold.h: what several ranks said, written once where they agree. */
#ifndef DT_REPL_FOLD_H
#define DT_REPL_FOLD_H

#include "base/ctx.h"

/* Write texts text[0..n) of ranks rank[0..n) to `out`.  Lines that all share
** stand once and plainly; where they differ, ranks of equal text form a group
** and the group's name "[0,2]" comes before its lines.  NOMEM.  Pure. */
DtStatus dt_fold (DtCtx *cx, int n, const int *rank, const char *const *text,
                  DtBuf *out);
/* The same without folding: each rank's text under its own name.  Pure. */
void dt_fold_raw (int n, const int *rank, const char *const *text,
                  DtBuf *out);
/* "[0,2]", "[0-3]", "[0,2-5]" of sorted ranks.  Pure. */
void dt_fold_name (int n, const int *rank, DtBuf *out);

#endif
