/* SPDX-License-Identifier: MIT
** debug/bp_int.h: what the files of breakpoints share. */
#ifndef DT_DEBUG_BP_INT_H
#define DT_DEBUG_BP_INT_H

#include "debug/control.h"

/* "aten.mm*" matches by the full name, "mm" and "aten.mm" by the base. */
bool dt_bp_op_matches (const char *glob, const char *full);
/* By what a collective does, which is how people call it, or by its name. */
bool dt_bp_coll_matches (const char *glob, const char *name);
/* Read "op aten.mm* if COND" into `out`, whose texts the caller frees, also
** after an error: COMMAND with what is wrong, NOMEM.  Local. */
DtStatus dt_bp_read (DtControl *c, const char *text, DtBreak *out);

#endif
