/* SPDX-License-Identifier: MIT
** repl/line_plain.c: lines without editing: from a pipe, from the text of a
** file, or from a terminal that cannot be edited on (TERM=dumb); and the
** choice between the kinds.
**
** Reading goes by descriptor, not by FILE, so that an interrupt (EINTR) is
** seen and drops the line. */
#include "repl/line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Plain {
  DtLine base;
  DtLineOpts o;
  bool tty;                     /* show prompts */
  char *text;                   /* the whole input, when it is text */
  char buf[4096];
  size_t pos, n;                /* unread part of buf or text */
} Plain;

static void show_text (const Plain *p, const char *s) {
  if (p->tty) {
    ssize_t n = write(p->o.tty->fd, s, strlen(s));
    (void)n;
  }
}

/* The next byte; -1 at the end, -2 interrupted. */
static int next_byte (Plain *p) {
  if (p->pos < p->n)
    return (unsigned char)(p->text != NULL ? p->text : p->buf)[p->pos++];
  if (p->text != NULL)
    return -1;
  ssize_t n = read(0, p->buf, sizeof p->buf);
  if (n < 0 && errno == EINTR)
    return -2;
  if (n <= 0)
    return -1;
  p->pos = 1;
  p->n = (size_t)n;
  return (unsigned char)p->buf[0];
}

static DtLineResult plain_read (DtLine *l, const char *prompt, DtBuf *out) {
  Plain *p = (Plain *)l;
  dt_buf_clear(out);
  show_text(p, prompt);
  for (;;) {
    int c = next_byte(p);
    if (c == '\n')
      return DT_LINE_TEXT;
    if (c == -1) {
      if (out->len == 0)
        show_text(p, "\n");
      return out->len > 0 ? DT_LINE_TEXT : DT_LINE_END;
    }
    if (c == -2 && p->tty) {
      show_text(p, "\n");
      return DT_LINE_DROPPED;
    }
    if (c >= 0)
      dt_buf_addc(out, (char)c);
  }
}

static void plain_remember (DtLine *l, const char *text) {
  (void)l;
  (void)text;
}

static void plain_running (DtLine *l, bool yes) {
  (void)l;
  (void)yes;
}

static void plain_close (DtLine *l) {
  Plain *p = (Plain *)l;
  dt_free(l->cx, p->text);
  dt_free(l->cx, p);
}

static const DtLineVt plain_vt = {plain_read, plain_remember, plain_running,
                                  NULL, plain_close};

DtStatus dt_line_open_plain (DtCtx *cx, const DtLineOpts *o, DtLine **out) {
  Plain *p = DT_NEW(cx, Plain);
  if (p == NULL)
    return DT_E_NOMEM;
  p->base.vt = &plain_vt;
  p->base.cx = cx;
  p->o = *o;
  p->tty = o->tty != NULL && o->tty->fd >= 0;
  *out = &p->base;
  return DT_OK;
}

DtStatus dt_line_open (DtCtx *cx, const DtLineOpts *o, DtLine **out) {
  const char *term = getenv("TERM");
  bool dumb = term == NULL || *term == '\0' || strcmp(term, "dumb") == 0;
  if (o->tty == NULL || o->tty->fd < 0)
    return dt_line_open_plain(cx, o, out);
  if (dumb) {
    o->warn(o->ud, "this terminal cannot be edited on (TERM); plain input");
    return dt_line_open_plain(cx, o, out);
  }
  return dt_line_open_readline(cx, o, out);
}
