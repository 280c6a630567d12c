/* SPDX-License-Identifier: MIT
** parity/parity.h: reads suites of reference data and checks the engine
** against them.  A suite is a kind of line, known by the prefix of its "id";
** files may have any name.  Data: one JSON object a line, encodings in
** tests/parity/2.13/FORMAT.md. */
#ifndef DT_PARITY_PARITY_H
#define DT_PARITY_PARITY_H

#include "base/ctx.h"

/* Where the lines of a report go (ends with a newline). */
typedef void (*DtParityPut) (void *ud, const char *line);

typedef struct DtParityCount { int64_t pass, fail, skip, open; } DtParityCount;

typedef struct DtParityOpts DtParityOpts;
/* Runs a traced program (a file called *.program.json), a table of them, or the
** lines of a file whose ids are in o->only, each after a line end, on
** `world` ranks (negative: one of a pretend world), reports and counts what
** differs: somebody who has Lua. */
typedef DtStatus (*DtParityProgram) (void *ud, const char *file, int world,
                                     const DtParityOpts *o,
                                     DtParityCount *count);

struct DtParityOpts {
  int nfiles;
  const char *const *files;
  const char *only;             /* lines whose id contains this; NULL = all */
  int show;                     /* lines that differ to print; < 0 = all */
  const char *torch;            /* release, "2.15"; NULL: the base one */
  bool assumed;                 /* `torch` was not given: said after failures */
  bool by_op;                   /* also one line per operator that differs */
  DtParityPut put;
  DtParityPut progress;         /* work of more than a second; may be NULL:
                                ** a text to be overwritten, "" at the end */
  void *ud;
  DtParityProgram program;      /* NULL: programs are skipped */
};

/* Check files: one line per case that differs, one per operator that is not
** known, then "N passed, N failed[, N skipped][, N
** undetermined]" (undetermined.def).  A file that cannot be read
** is an error (IO), a line that differs is not: see *count.  Local (it makes
** ranks of its own). */
DtStatus dt_parity_run (DtCtx *cx, const DtParityOpts *o,
                        DtParityCount *count);
/* `dtrepl parity --operators`: is a row missing of some operator?  Tells the
** first.  Exit code 0 or 3.  Local. */
int dt_parity_operators (DtCtx *cx, DtParityPut put, void *ud);
/* `torch` is the release asked for, NULL if none is.
** `dtrepl parity [--only TEXT] [--show N] [--by-op] [--torch X] FILE...` for the
** caller.  A folder means the suites in it and below; without --torch the release
** is the one that the files' folders name (the base one: none).  Returns the exit
** code: 0, 1 unreadable file, 2 usage, 3 something differs.  Local. */
int dt_parity_main (DtCtx *cx, int argc, char **argv, const char *torch,
                    DtParityPut put, DtParityPut progress,
                    DtParityProgram program, void *ud);

#endif
