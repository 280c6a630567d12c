/* SPDX-License-Identifier: MIT
** repl/pager.c: what a person sees: lines cut for a narrow terminal (narrow.c),
** results longer than the screen through a pager.
**
** Never for pipes, files, tests; no pager under a launcher, whose terminal no
** other program could read.  Which: DTREPL_PAGER, else PAGER, else less where
** there is one; an empty variable means none. */
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

static bool needs_pager (const DtRepl *r, DtOutKind kind, const char *s,
                         size_t n, int cols, int rows) {
  const char *command = pager_command();
  return kind == DT_OUT_RESULT && r->set.pager && !r->app->tty.forwarded &&
         command[strspn(command, " ")] != '\0' &&
         screen_lines(s, n, cols) >= rows;
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
    dt_narrow(s, n, cols, &b);
  else
    dt_buf_addn(&b, s, n);
  if (!b.oom && b.len > 0)
    shown = (live == NULL && needs_pager(r, kind, b.s, b.len, cols, rows) &&
             pipe_through(pager_command(), b.s, b.len)) ||
            dt_output_put(&r->app->out, kind, b.s, b.len);
  dt_buf_fini(&b);
  return shown;
}

void dt_pager_open (DtRepl *r) {
  if (!dt_repl_first(r) || !r->app->interactive || r->app->tty.fd < 0)
    return;
  r->app->out.show = show_paged;
  r->app->out.show_ud = r;
}
