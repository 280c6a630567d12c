/* SPDX-License-Identifier: MIT
** repl/pager.c: what a person sees: lines cut for a narrow terminal (narrow.c),
** results longer than the screen through a pager.
**
** Never for pipes, files, tests.  Which: DTREPL_PAGER, else PAGER, else less
** where there is one; an empty variable means none.  No other program can read
** the keys that a launcher forwards, so under one the pages are turned here. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "repl/repl_int.h"
#include "repl/narrow.h"

/* Lines on a screen of `cols` columns. */
static int screen_lines (const char *s, size_t n, int cols) {
  int lines = 0, at = 0;
  for (size_t i = 0; i < n; i++) {
    if (s[i] == '\n') {
      lines++;
      at = 0;
    } else if (((unsigned char)s[i] & 0xc0) != 0x80 && ++at > cols) {
      lines++;
      at = 1;
    }
  }
  return lines + (at > 0);
}

static const char *pager_command (void) {
  const char *p = getenv("DTREPL_PAGER");
  if (p == NULL)
    p = getenv("PAGER");
  return p != NULL ? p
    : "if command -v less >/dev/null; then exec less -FRX; else exec cat; fi";
}

/* Leaving it early is no error; one that cannot be started is. */
static bool pipe_through (const char *command, const char *s, size_t n) {
  struct sigaction ignore, int_was;
  memset(&ignore, 0, sizeof ignore);
  ignore.sa_handler = SIG_IGN;
  FILE *f = popen(command, "w");
  int rc = -1;
  if (f != NULL) {
    sigaction(SIGINT, &ignore, &int_was);       /* the pager's, now */
    (void)fwrite(s, 1, n, f);
    rc = pclose(f);
    sigaction(SIGINT, &int_was, NULL);
  }
  return rc != -1 && !(WIFEXITED(rc) && WEXITSTATUS(rc) >= 126);
}

/* ---- pages turned here ---- */

enum { KEY_ESC = 27, KEY_CTRL_C = 3, KEY_CTRL_D = 4 };

typedef enum Turn { TURN_NOT, TURN_LINE, TURN_PAGE, TURN_ALL, TURN_BACK,
                    TURN_LEAVE } Turn;

/* What the person wants; keys of an arrow or a page key come as three or four. */
static Turn read_turn (DtLine *l) {
  int c = dt_line_key(l);
  bool sequence = c == KEY_ESC;
  if (sequence && (c = dt_line_key(l)) == '[')
    c = dt_line_key(l);
  if (sequence && (c == '5' || c == '6'))
    (void)dt_line_key(l);
  switch (c) {
    case ' ': case 'f': case '6': return TURN_PAGE;
    case '\r': case '\n': case 'j': case 'B': return TURN_LINE;
    case 'b': case 'k': case '5': case 'A': return TURN_BACK;
    case 'G': case 'F': return TURN_ALL;
    case 'q': case 'Q': case KEY_CTRL_C: case KEY_CTRL_D: case -1:
      return TURN_LEAVE;
    default: return TURN_NOT;
  }
}

typedef struct Pages {
  DtRepl *r;
  const char *s, *end;
  const char *at;               /* what comes next */
  const char *top;              /* the first line of the page that is shown */
  int cols, rows;
} Pages;

static const char *line_after (const Pages *p, const char *s) {
  const char *nl = memchr(s, '\n', (size_t)(p->end - s));
  return nl != NULL ? nl + 1 : p->end;
}

/* Whole lines from `at` on that fill `rows` rows; one at least. */
static void show_rows (Pages *p, int rows) {
  const char *from = p->at, *next = line_after(p, from);
  do {
    rows -= screen_lines(p->at, (size_t)(next - p->at), p->cols);
    p->at = next;
    next = line_after(p, p->at);
  } while (p->at < p->end &&
           screen_lines(p->at, (size_t)(next - p->at), p->cols) <= rows);
  (void)dt_output_put(&p->r->app->out, DT_OUT_RESULT, from,
                      (size_t)(p->at - from));
}

/* The page before the one that begins at `top`. */
static void go_back (Pages *p) {
  int rows = p->rows;
  const char *s = p->top;
  while (s > p->s && rows > 0) {
    const char *end = s--;
    while (s > p->s && s[-1] != '\n')
      s--;
    rows -= screen_lines(s, (size_t)(end - s), p->cols);
  }
  p->at = s;
}

static int lines_between (const char *s, const char *end) {
  int n = 0;
  for (; s < end && (s = memchr(s, '\n', (size_t)(end - s))) != NULL; s++)
    n++;
  return n;
}

/* Show pages until the person has seen all or leaves. */
static void turn_pages (DtRepl *r, const char *s, size_t n, int cols, int rows) {
  Pages p = {r, s, s + n, s, s, cols, rows - 1};
  DtOutput *out = &r->app->out;
  Turn turn = TURN_PAGE;
  while (p.at < p.end && turn != TURN_LEAVE) {
    char ask[160];
    if (turn == TURN_BACK)
      go_back(&p);
    if (turn == TURN_PAGE || turn == TURN_BACK)
      p.top = p.at;
    else if (turn == TURN_LINE)
      p.top = line_after(&p, p.top);
    if (turn != TURN_NOT)
      show_rows(&p, turn == TURN_LINE ? 1 : turn == TURN_ALL ? (int)n : p.rows);
    if (p.at == p.end)
      break;
    int k = snprintf(ask, sizeof ask, "\033[7m%d of %d lines%s\033[0m",
                     lines_between(s, p.at), lines_between(s, p.end),
                     cols < 60 ? "; Space, b, q"
                     : "; Space: more, Enter: a line, b: back, q: leave");
    (void)dt_output_put(out, DT_OUT_RESULT, ask, (size_t)k);
    turn = read_turn(r->line);
    (void)dt_output_put(out, DT_OUT_RESULT, "\r\033[K", 4);
  }
}

static bool needs_pager (const DtRepl *r, DtOutKind kind, const char *s,
                         size_t n, int cols, int rows) {
  const char *command = pager_command();
  return kind == DT_OUT_RESULT && r->set.pager &&
         (!r->app->tty.forwarded || dt_line_has_keys(r->line)) &&
         command[strspn(command, " ")] != '\0' &&
         screen_lines(s, n, cols) >= rows;
}

static bool show_pages (DtRepl *r, const char *s, size_t n, int cols, int rows) {
  if (!r->app->tty.forwarded)
    return pipe_through(pager_command(), s, n);
  turn_pages(r, s, n, cols, rows);
  return true;
}

static bool show_paged (void *ud, DtCtx *live, DtOutKind kind, const char *s,
                        size_t n) {
  DtRepl *r = ud;
  int cols, rows;
  bool shown = false;
  DtBuf b;
  if (!dt_tty_is_output(r->app->launched, kind == DT_OUT_RESULT ? 1 : 2))
    return false;
  dt_tty_size(&r->app->tty, &cols, &rows);
  dt_buf_init(&b, live != NULL ? live : r->cx);
  if (r->set.wrap)
    dt_narrow(s, n, cols, r->prose && kind == DT_OUT_RESULT, &b);
  else
    dt_buf_addn(&b, s, n);
  if (!b.oom && b.len > 0)
    shown = (live == NULL && needs_pager(r, kind, b.s, b.len, cols, rows) &&
             show_pages(r, b.s, b.len, cols, rows)) ||
            dt_output_put(&r->app->out, kind, b.s, b.len);
  dt_buf_fini(&b);
  return shown;
}

/* Where nobody is asked, what a program prints is its own; what is said of it is
** cut for the terminal. */
static bool show_narrow (void *ud, DtCtx *live, DtOutKind kind, const char *s,
                         size_t n) {
  DtRepl *r = ud;
  int cols, rows;
  DtBuf b;
  if (kind != DT_OUT_DIAG || !r->set.wrap)
    return false;
  dt_tty_size_now(&cols, &rows);
  dt_buf_init(&b, live != NULL ? live : r->cx);
  dt_narrow(s, n, cols, false, &b);
  bool shown = !b.oom && dt_output_put(&r->app->out, kind, b.s, b.len);
  dt_buf_fini(&b);
  return shown;
}

void dt_narrow_open (DtRepl *r) {
  DtOutput *out = &r->app->out;
  if (!dt_repl_first(r) || out->show != NULL ||
      !dt_tty_is_output(r->app->launched, 2))
    return;
  out->show = show_narrow;
  out->show_ud = r;
}

void dt_pager_close (DtRepl *r) {
  if (r->app->out.show_ud == r)
    r->app->out.show = NULL;
}

void dt_pager_open (DtRepl *r) {
  if (!dt_repl_first(r) || !r->app->interactive || r->app->tty.fd < 0)
    return;
  r->app->out.show = show_paged;
  r->app->out.show_ud = r;
}
