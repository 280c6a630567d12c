/* SPDX-License-Identifier: MIT
** repl/out.h: the one writer of a session: results and diagnostics, to the
** terminal, to descriptors 1 and 2, to a file, to a transcript, or into a
** buffer that a session file compares. */
#ifndef DT_REPL_OUT_H
#define DT_REPL_OUT_H

#include <pthread.h>
#include "base/ctx.h"

enum { DT_OUT_SHOWN = 16384 };

typedef enum DtOutKind { DT_OUT_RESULT, DT_OUT_DIAG } DtOutKind;

typedef struct DtOutput {
  int fd[2];                    /* by kind */
  int file;                     /* :o FILE for results, -1 = none */
  int transcript;               /* -1 = none */
  DtBuf *capture;               /* instead of all others; NULL = none */
  bool (*show) (void *ud, DtCtx *live, DtOutKind kind, const char *s, size_t n);
                                /* puts it on a person's terminal; false: it
                                ** did not.  `live`: by another thread, with its
                                ** context, never through a pager */
  void *show_ud;
  bool color[2];
  bool watched;                 /* a person or an editor sees it at once */
  int failed;                   /* errno of the first result lost; 0 */
  /* A program that begins again, with more ranks, shows again what it has shown
  ** before: it is kept (keeps) for the second process, which leaves out the
  ** lines that are still the same (seen, NULL: none). */
  bool keeps;
  const char *seen;
  size_t nshown;
  char shown[DT_OUT_SHOWN];
  pthread_mutex_t lock;         /* two threads write: see stream.h */
} DtOutput;

/* Descriptors 1 and 2, nothing open.  Local. */
void dt_output_init (DtOutput *o);
/* Write; goes on after interrupted and short writes.  Local. */
void dt_output_write (DtOutput *o, DtOutKind kind, const char *s, size_t n);
/* Write results from another thread than rank 0's, whose context is not its
** own: `live` is.  Local. */
void dt_output_write_live (DtOutput *o, DtCtx *live, const char *s, size_t n);
/* Write to the descriptor of a kind, without show(), file or transcript; false
** when that failed.  Local. */
bool dt_output_put (DtOutput *o, DtOutKind kind, const char *s, size_t n);
void dt_output_add (DtOutput *o, DtOutKind kind, const char *s);
/* Lines the person typed, for the transcript.  Local. */
void dt_output_typed (DtOutput *o, const char *prompt, const char *text);
/* Open a file for results (:o) or both (:transcript); NULL closes.  IO.
** Local. */
DtStatus dt_output_open (DtCtx *cx, DtOutput *o, int *slot, const char *path);
/* Close what is open.  Local. */
void dt_output_fini (DtOutput *o);
/* The exit code of a program that would leave with `code`: results that were
** lost (a full disk, not a reader that has gone) are reported; 0 becomes 1.
** Local. */
int dt_output_code (DtOutput *o, int code);
/* Colour: --color, then NO_COLOR, CLICOLOR_FORCE, TERM=dumb, then whether it
** is a real terminal.  Local. */
bool dt_output_color (const char *when, bool terminal);

#endif
