/* SPDX-License-Identifier: MIT
** repl/history.h: the history file: private (0600), without doubles, one
** entry a line (newlines inside an entry are stored as byte 0x1e).  Every
** entry is written at once, so that nothing is lost when the session dies. */
#ifndef DT_REPL_HISTORY_H
#define DT_REPL_HISTORY_H

#include "base/ctx.h"

enum { DT_HISTORY_MAX = 5000 };

/* Where the history lies: $DTREPL_HISTORY, or dtrepl/history below
** $XDG_STATE_HOME or ~/.local/state.  Empty when there is no home or the
** variable is empty.  Local. */
void dt_history_path (DtBuf *out);

/* Read the file, oldest first, each entry once (its latest place), and call
** add() for each.  A missing file is an empty one.  IO when the folder cannot
** be made or the file not be written.  Local. */
DtStatus dt_history_load (DtCtx *cx, const char *path,
                          void (*add) (void *ud, const char *text), void *ud);
/* Append one entry.  IO.  Local. */
DtStatus dt_history_append (DtCtx *cx, const char *path, const char *text);

#endif
