/* SPDX-License-Identifier: MIT
** repl/narrow.h: long lines on a narrow terminal. */
#ifndef DT_REPL_NARROW_H
#define DT_REPL_NARROW_H

#include "base/ctx.h"

/* Lines of s[0..n) that are longer than `cols` are cut between columns of a
** table, else between words, and go on indented.  A word that is too long is
** left to the terminal.  Escape sequences have no width.  With `prose` lines that
** were ended for their length are put together first: text of ours alone, not what
** a program prints.  Pure. */
void dt_narrow (const char *s, size_t n, int cols, bool prose, DtBuf *out);

#endif
