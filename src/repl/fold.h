/* SPDX-License-Identifier: MIT
** repl/fold.h: what several ranks said, written once where they agree. */
#ifndef DT_REPL_FOLD_H
#define DT_REPL_FOLD_H

#include "base/ctx.h"

/* Write texts text[0..n) of ranks rank[0..n) to `out`.  Lines that all share
** stand once and plainly; where they differ, ranks of equal text form a group
** and the group's name "[0,2]" comes before its lines.  `last`: the name of the
** block that what was written before ended with, "" for none: lines of the same
** ranks go on in that block; updated; NULL: nothing was written before.  NOMEM.
** Pure. */
DtStatus dt_fold (DtCtx *cx, int n, const int *rank, const char *const *text,
                  DtBuf *last, DtBuf *out);
/* How many bytes at the beginning of all n texts are whole lines that all
** share, up to the first row of a table: its columns depend on what follows, or to
** a value (a tensor's rows) that is not at its end.  Pure. */
size_t dt_fold_head (int n, const char *const *text);
/* The same without folding: each rank's text under its own name.  Pure. */
void dt_fold_raw (int n, const int *rank, const char *const *text,
                  DtBuf *out);
/* "[0,2]", "[0-3]", "[0,2-5]" of sorted ranks.  Pure. */
void dt_fold_name (int n, const int *rank, DtBuf *out);

#endif
