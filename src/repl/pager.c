/* SPDX-License-Identifier: MIT
** repl/pager.c: results longer than the screen go through a pager.
**
** Only for a person at a terminal of our own: never for pipes, files, tests,
** nor under a launcher, whose terminal no other program could read.  Which:
** DTREPL_PAGER, else PAGER, else less where there is one; an empty variable
** means none. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "repl/repl_int.h"

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

static const char *pager (void) {
  const char *p = getenv("DTREPL_PAGER");
  if (p == NULL)
    p = getenv("PAGER");
  return p != NULL ? p
    : "if command -v less >/dev/null; then exec less -FRX; else exec cat; fi";
}

/* Leaving it early is no error; one that cannot be started is. */
static bool through (const char *command, const char *s, size_t n) {
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

static bool show (void *ud, const char *s, size_t n) {
  DtRepl *r = ud;
  int cols, rows;
  const char *command = pager();
  if (!r->set.pager || command[strspn(command, " ")] == '\0')
    return false;
  dt_tty_size(&r->app->tty, &cols, &rows);
  if (screen_lines(s, n, cols > 0 ? cols : 80) < rows)
    return false;
  return through(command, s, n);
}

void dt_pager_open (DtRepl *r) {
  if (!dt_repl_first(r) || !r->app->interactive || r->app->tty.forwarded ||
      r->app->tty.fd < 0 || !dt_tty_is_output(r->app->launched, 1))
    return;
  r->app->out.page = show;
  r->app->out.page_ud = r;
}
