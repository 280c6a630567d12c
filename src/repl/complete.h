/* SPDX-License-Identifier: MIT
** repl/complete.h: the parts of completion. */
#ifndef DT_REPL_COMPLETE_H
#define DT_REPL_COMPLETE_H

#include "repl/cmd.h"

/* What may follow the command's name on `line`; *start is where the word
** begins.  False: it says nothing, or Lua's names may follow too.  Local. */
bool dt_complete_arg (DtRepl *r, const char *line, int point, int *start,
                      DtLineAdd add, void *sink);
/* Operators that begin with `prefix`: "mm", "aten.m", "aten.add.T".  Local. */
void dt_complete_ops (DtRepl *r, const char *prefix, DtLineAdd add,
                      void *sink);

#endif
