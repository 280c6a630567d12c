/* SPDX-License-Identifier: MIT
** repl/line.h: lines from the person, behind a few functions.  Two kinds:
** line_readline.c edits on a terminal, line_plain.c reads a pipe, a file or
** a terminal that cannot be edited on. */
#ifndef DT_REPL_LINE_H
#define DT_REPL_LINE_H

#include "base/ctx.h"
#include "repl/tty.h"

typedef struct DtLine DtLine;

typedef enum DtLineResult {
  DT_LINE_TEXT,                 /* a line, without its newline */
  DT_LINE_DROPPED,              /* Ctrl-C: the line is forgotten */
  DT_LINE_END                   /* Ctrl-D or end of file */
} DtLineResult;

/* Candidates for the word of `line` that ends at `point`: call add() for each
** full replacement of that word; *start is where the word begins. */
typedef void (*DtLineAdd) (void *sink, const char *word);
typedef void (*DtLineComplete) (void *ud, const char *line, int point,
                                int *start, DtLineAdd add, void *sink);

typedef struct DtLineOpts {
  DtTty *tty;                   /* NULL: plain */
  const char *history;          /* file; NULL = none */
  bool color;
  DtLineComplete complete;      /* may be NULL */
  void (*stop) (void *ud);      /* Ctrl-C while a command runs; any thread */
  bool (*idle) (void *ud);      /* now and then at the prompt; false: leave */
  void (*warn) (void *ud, const char *text);
  void *ud;                     /* for all four */
} DtLineOpts;

typedef struct DtLineVt {
  DtLineResult (*read) (DtLine *l, const char *prompt, DtBuf *out);
  void (*remember) (DtLine *l, const char *text);
  void (*running) (DtLine *l, bool yes);
  int (*key) (DtLine *l);       /* NULL: keys cannot be had one by one */
  void (*close) (DtLine *l);
} DtLineVt;

struct DtLine { const DtLineVt *vt; DtCtx *cx; };

/* Open the kind that fits: with a terminal that can be edited on, or plain.
** Freed by dt_line_close().  NOMEM, IO.  Local. */
DtStatus dt_line_open (DtCtx *cx, const DtLineOpts *o, DtLine **out);

/* Read one line into `out` (cleared first).  A bracketed paste is one line
** with newlines inside.  Local. */
static inline DtLineResult dt_line_read (DtLine *l, const char *prompt,
                                         DtBuf *out) {
  return l->vt->read(l, prompt, out);
}
/* Keep a whole chunk in the history.  Local. */
static inline void dt_line_remember (DtLine *l, const char *text) {
  l->vt->remember(l, text);
}
/* A command starts (true) or ended (false).  Local. */
static inline void dt_line_running (DtLine *l, bool yes) {
  l->vt->running(l, yes);
}
/* Can a command ask for keys, whole lines apart?  Pure. */
static inline bool dt_line_has_keys (const DtLine *l) {
  return l != NULL && l->vt->key != NULL;
}
/* Wait for the person's next key, Ctrl-C among them, also while a command runs;
** -1 when there will be none.  Only where dt_line_has_keys().  Local. */
static inline int dt_line_key (DtLine *l) {
  return l->vt->key(l);
}
static inline void dt_line_close (DtLine *l) {
  if (l != NULL)
    l->vt->close(l);
}

/* The two kinds.  Local. */
DtStatus dt_line_open_readline (DtCtx *cx, const DtLineOpts *o, DtLine **out);
DtStatus dt_line_open_plain (DtCtx *cx, const DtLineOpts *o, DtLine **out);

#endif
