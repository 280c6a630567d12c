/* SPDX-License-Identifier: MIT
** repl/options.h: the command line: one table from which parsing, --help,
** the man page and shell completion follow. */
#ifndef DT_REPL_OPTIONS_H
#define DT_REPL_OPTIONS_H

#include "base/ctx.h"

/* -e and -l in the order given. */
typedef struct DtPrelude { char kind; const char *text; } DtPrelude;

enum { DT_MAX_PRELUDE = 64 };

typedef struct DtOptions {
  int nprelude;
  DtPrelude prelude[DT_MAX_PRELUDE];
  bool interactive;             /* -i */
  bool version, help, quiet, debug;
  bool no_env, warnings;        /* -E -W */
  int ranks;                    /* -n; 0 = not given */
  int mpi;                      /* --mpi; 0 = not given */
  int64_t fake;                 /* --fake; 0 = not given */
  int64_t fake_rank;
  const char *record, *open;    /* files of records */
  bool alone;                   /* --alone: on one rank, to be compared */
  bool json, verify;
  bool strict;                  /* findings make the exit status 3 */
  const char *check;            /* session file */
  const char *color;            /* "auto", "always", "never" */
  bool python;                  /* lines of the prompt are Python's */
  bool raw, fast, bare, no_rc, no_history, trust, sandbox;
  const char *torch, *device;   /* NULL = default */
  const char *script;           /* NULL = none, "-" = stdin */
  int nargs;                    /* arguments of the script */
  char **args;
} DtOptions;

/* Exit codes, the same on every rank. */
enum { DT_EXIT_OK = 0, DT_EXIT_ERROR = 1, DT_EXIT_USAGE = 2, DT_EXIT_CHECK = 3,
       DT_EXIT_INTERRUPTED = 130 };

/* Fill `o` from the command line; strings are borrowed from argv.  COMMAND
** with one sentence for the person.  Local. */
DtStatus dt_options_parse (DtCtx *cx, int argc, char **argv, DtOptions *o);
/* What --help prints.  Pure. */
void dt_options_help (DtBuf *b);
/* One line on how to call the program.  Pure. */
const char *dt_options_usage (void);
/* Settings a script states in its head, "-- dtrepl: ranks=8 torch=2.5";
** only those the command line left open are filled in.  Strings are copied
** into the scratch arena of `cx`.  COMMAND for an unknown word.  Local. */
DtStatus dt_options_script (DtCtx *cx, const char *text, size_t n,
                            DtOptions *o);

#endif
