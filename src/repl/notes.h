/* SPDX-License-Identifier: MIT
** repl/notes.h: one line for each operator that communicated:
** "#7 aten.mm: 1 all_gather on tp, 768 B/rank, implicit". */
#ifndef DT_REPL_NOTES_H
#define DT_REPL_NOTES_H

#include "engine/session.h"

typedef struct DtNotes DtNotes;

/* Listen to the session's collectives; nothing is kept while off.  Local. */
DtStatus dt_notes_new (DtSession *s, DtNotes **out);
void dt_notes_free (DtNotes *n);
void dt_notes_enable (DtNotes *n, bool on);
/* The lines since the last call; forgotten afterwards.  Local. */
void dt_notes_take (DtNotes *n, DtBuf *out);

#endif
