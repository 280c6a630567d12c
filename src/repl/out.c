/* SPDX-License-Identifier: MIT
** repl/out.c: the one writer.  No stdio: what is written is out at once, and
** the bytes of results and diagnostics keep their order on a terminal. */
#include "repl/out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void dt_output_init (DtOutput *o) {
  memset(o, 0, sizeof *o);
  o->fd[DT_OUT_RESULT] = 1;
  o->fd[DT_OUT_DIAG] = 2;
  o->file = o->transcript = -1;
  pthread_mutex_init(&o->lock, NULL);
}

/* EAGAIN: a terminal or pipe that somebody else has put into non-blocking
** mode is waited for, not lost. */
static bool write_all (int fd, const char *s, size_t n) {
  while (n > 0) {
    ssize_t k = write(fd, s, n);
    if (k < 0 && errno == EAGAIN) {
      struct pollfd p = {fd, POLLOUT, 0};
      (void)poll(&p, 1, 100);
    } else if (k < 0 && errno != EINTR) {
      return false;
    } else if (k > 0) {
      s += k;
      n -= (size_t)k;
    }
  }
  return true;
}

bool dt_output_put (DtOutput *o, DtOutKind kind, const char *s, size_t n) {
  return write_all(o->fd[kind], s, n);
}

/* A file of the person's cannot be written (errno): it is closed, and the
** screen has the output again. */
static void give_up (DtOutput *o, int *slot, const char *what) {
  char text[160];
  int n = snprintf(text, sizeof text, "dtrepl: %s cannot be written: %s; it is "
                   "closed\n", what, strerror(errno));
  close(*slot);
  *slot = -1;
  (void)write_all(o->fd[DT_OUT_DIAG], text, (size_t)n);
}

/* Bytes before the next colour, and of that. */
static size_t before_colour (const char *s, size_t n, size_t *colour) {
  const char *esc = memchr(s, '\033', n);
  size_t at = esc != NULL ? (size_t)(esc - s) : n, i = at + 2;
  *colour = 0;
  if (at + 1 >= n || s[at + 1] != '[')
    return at + 1 < n ? at + 1 : n;
  while (i < n && s[i] >= ' ' && s[i] < '@')
    i++;
  *colour = (i < n && s[i] >= '@' && s[i] <= '~' ? i + 1 : i) - at;
  return at;
}

/* Without colours: it is read in a file, or pasted. */
static void write_transcript (DtOutput *o, const char *s, size_t n) {
  while (n > 0 && o->transcript >= 0) {
    size_t colour, k = before_colour(s, n, &colour);
    if (!write_all(o->transcript, s, k))
      give_up(o, &o->transcript, "the transcript");
    s += k + colour;
    n -= k + colour;
  }
}

/* Lines at the head of s[0..n) that an earlier process has shown; the first one
** that differs ends it. */
static size_t skip_seen (DtOutput *o, const char *s, size_t n) {
  size_t done = 0;
  while (o->seen != NULL && done < n) {
    const char *end = memchr(s + done, '\n', n - done);
    size_t k = (end != NULL ? (size_t)(end - s) + 1 : n) - done;
    if (*o->seen == '\0' || strncmp(o->seen, s + done, k) != 0) {
      o->seen = NULL;
      break;
    }
    o->seen += k;
    done += k;
  }
  return done;
}

/* Only the whole output is of use to the process that begins again: too much
** for the buffer, and nothing is kept. */
static void keep_shown (DtOutput *o, const char *s, size_t n) {
  if (!o->keeps || n >= sizeof o->shown - o->nshown) {
    o->keeps = false;
    return;
  }
  memcpy(o->shown + o->nshown, s, n);
  o->nshown += n;
}

/* The transcript comes last, after what the person sees, and lacks what an
** earlier process has shown and written there. */
static void write_locked (DtOutput *o, DtCtx *live, DtOutKind kind,
                          const char *s, size_t n) {
  size_t seen = kind == DT_OUT_RESULT ? skip_seen(o, s, n) : 0;
  s += seen;
  n -= seen;
  if (n == 0)
    return;
  if (kind == DT_OUT_RESULT)
    keep_shown(o, s, n);
  bool filed = kind == DT_OUT_RESULT && o->file >= 0;
  if (filed && !write_all(o->file, s, n)) {
    give_up(o, &o->file, "the file of :o");
    filed = false;
  }
  bool shown = filed || (o->show != NULL &&
                         o->show(o->show_ud, live, kind, s, n));
  if (!shown && !write_all(o->fd[kind], s, n) && kind == DT_OUT_RESULT &&
      o->failed == 0)
    o->failed = errno;
  write_transcript(o, s, n);
}

void dt_output_write (DtOutput *o, DtOutKind kind, const char *s, size_t n) {
  if (o->capture != NULL && n > 0) {
    dt_buf_addn(o->capture, s, n);
    return;
  }
  pthread_mutex_lock(&o->lock);
  write_locked(o, NULL, kind, s, n);
  pthread_mutex_unlock(&o->lock);
}

void dt_output_write_live (DtOutput *o, DtCtx *live, const char *s, size_t n) {
  pthread_mutex_lock(&o->lock);
  write_locked(o, live, DT_OUT_RESULT, s, n);
  pthread_mutex_unlock(&o->lock);
}

void dt_output_add (DtOutput *o, DtOutKind kind, const char *s) {
  dt_output_write(o, kind, s, strlen(s));
}

void dt_output_typed (DtOutput *o, const char *prompt, const char *text) {
  if (o->transcript < 0)
    return;
  while (*text != '\0') {
    size_t n = strcspn(text, "\n");
    write_transcript(o, prompt, strlen(prompt));
    write_transcript(o, text, n);
    write_transcript(o, "\n", 1);
    text += n + (text[n] == '\n');
    prompt = "..> ";
  }
}

DtStatus dt_output_open (DtCtx *cx, DtOutput *o, int *slot,
                         const char *path) {
  (void)o;
  int fd = -1;
  if (path != NULL && *path != '\0') {
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    DT_CHECK(cx, fd >= 0, DT_E_IO, "cannot write %s: %s", path,
             strerror(errno));
  }
  if (*slot >= 0)
    close(*slot);
  *slot = fd;
  return DT_OK;
}

void dt_output_fini (DtOutput *o) {
  if (o->file >= 0)
    close(o->file);
  if (o->transcript >= 0)
    close(o->transcript);
  o->file = o->transcript = -1;
}

int dt_output_code (DtOutput *o, int code) {
  if (o->failed == 0 || o->failed == EPIPE)
    return code;
  dt_output_add(o, DT_OUT_DIAG, "dtrepl: results were lost, they could not be "
                "written: ");
  dt_output_add(o, DT_OUT_DIAG, strerror(o->failed));
  dt_output_add(o, DT_OUT_DIAG, "\n");
  return code != 0 ? code : 1;
}

static bool is_set (const char *name) {
  const char *v = getenv(name);
  return v != NULL && *v != '\0';
}

bool dt_output_color (const char *when, bool terminal) {
  if (strcmp(when, "always") == 0)
    return true;
  if (strcmp(when, "never") == 0 || is_set("NO_COLOR"))
    return false;
  const char *force = getenv("CLICOLOR_FORCE");
  if (force != NULL && *force != '\0' && strcmp(force, "0") != 0)
    return true;
  const char *term = getenv("TERM");
  return terminal && term != NULL && strcmp(term, "dumb") != 0;
}
