/* SPDX-License-Identifier: MIT
** repl/history.c: loading, appending, and cutting the history file.
** The file is rewritten (beside itself, then renamed) only when loading found
** doubles or too many entries; otherwise it only grows at the end, so two
** sessions at once do not lose each other's lines. */
#include "repl/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/hash.h"
#include "base/map.h"

enum { NEWLINE = 0x1e, FILE_MAX = 8 << 20 };

void dt_history_path (DtBuf *out) {
  const char *p = getenv("DTREPL_HISTORY");
  if (p != NULL) {
    dt_buf_add(out, p);
    return;
  }
  const char *state = getenv("XDG_STATE_HOME");
  const char *home = getenv("HOME");
  if (state != NULL && state[0] == '/')
    dt_buf_addf(out, "%s/dtrepl/history", state);
  else if (home != NULL && home[0] == '/')
    dt_buf_addf(out, "%s/.local/state/dtrepl/history", home);
}

/* Make the folders above `path`. */
static bool make_folders (DtCtx *cx, const char *path) {
  char *p = dt_strdup(cx, path);
  if (p == NULL)
    return false;
  bool ok = true;
  for (char *s = strchr(p + 1, '/'); s != NULL && ok; s = strchr(s + 1, '/')) {
    *s = '\0';
    ok = mkdir(p, 0700) == 0 || errno == EEXIST;
    *s = '/';
  }
  dt_free(cx, p);
  return ok;
}

static bool write_all (int fd, const char *s, size_t n) {
  while (n > 0) {
    ssize_t k = write(fd, s, n);
    if (k < 0 && errno == EINTR)
      continue;
    if (k <= 0)
      return false;
    s += k;
    n -= (size_t)k;
  }
  return true;
}

/* The end of a file that is too long, from the first whole line on: the newest
** entries stand there. */
static DtStatus read_file (int fd, DtBuf *b) {
  char part[4096];
  ssize_t n;
  bool whole = lseek(fd, 0, SEEK_END) <= FILE_MAX;
  (void)lseek(fd, whole ? 0 : -FILE_MAX, whole ? SEEK_SET : SEEK_END);
  while ((n = read(fd, part, sizeof part)) > 0) {
    const char *from = whole ? part : memchr(part, '\n', (size_t)n);
    if (from == NULL)
      continue;
    from += !whole;
    dt_buf_addn(b, from, (size_t)(part + n - from));
    whole = true;
  }
  return dt_buf_ok(b);
}

/* Split into entries; keep the last place of each and at most the newest
** DT_HISTORY_MAX.  keep[i] of line i.  True when something was dropped. */
static DtStatus choose_entries (DtCtx *cx, char *text, char ***lines, int *n,
                                bool *dropped) {
  int count = 0;
  for (const char *s = text; *s != '\0'; s++)
    count += *s == '\n';
  char **v = DT_NEWN(cx, char *, count + 1);
  if (v == NULL)
    return DT_E_NOMEM;
  DtMap seen;
  dt_map_init(&seen, cx, NULL);
  int k = 0;
  for (char *s = text, *e; (e = strchr(s, '\n')) != NULL; s = e + 1) {
    *e = '\0';
    if (*s != '\0')
      v[k++] = s;
  }
  int kept = 0;
  for (int i = k - 1; i >= 0; i--) {
    if (kept >= DT_HISTORY_MAX || dt_map_get_str(&seen, v[i]) != NULL) {
      v[i] = NULL;
      *dropped = true;
    } else if (dt_map_put_str(&seen, v[i], v[i]) == DT_OK) {
      kept++;
    }
  }
  dt_map_fini(&seen);
  *lines = v;
  *n = k;
  return DT_OK;
}

static void rewrite_file (DtCtx *cx, const char *path, char **v, int n) {
  DtBuf tmp;
  dt_buf_init(&tmp, cx);
  dt_buf_addf(&tmp, "%s.%ld", path, (long)getpid());
  int fd = open(dt_buf_str(&tmp), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                0600);
  if (fd >= 0) {
    bool ok = true;
    for (int i = 0; i < n && ok; i++)
      if (v[i] != NULL)
        ok = write_all(fd, v[i], strlen(v[i])) && write_all(fd, "\n", 1);
    close(fd);
    if (!ok || rename(dt_buf_str(&tmp), path) != 0)
      unlink(dt_buf_str(&tmp));
  }
  dt_buf_fini(&tmp);
}

DtStatus dt_history_load (DtCtx *cx, const char *path,
                          void (*add) (void *ud, const char *text), void *ud) {
  if (!make_folders(cx, path))
    return dt_raise(cx, DT_E_IO, "cannot make the folder of %s: %s", path,
                    strerror(errno));
  int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0)
    return dt_raise(cx, DT_E_IO, "cannot write %s: %s", path, strerror(errno));
  (void)fchmod(fd, 0600);
  DtBuf text;
  dt_buf_init(&text, cx);
  char **v = NULL;
  int n = 0;
  bool dropped = false;
  DtStatus st = read_file(fd, &text);
  close(fd);
  if (st == DT_OK && text.len > 0)
    st = choose_entries(cx, text.s, &v, &n, &dropped);
  if (st == DT_OK && dropped)
    rewrite_file(cx, path, v, n);
  for (int i = 0; i < n; i++) {
    if (v[i] == NULL)
      continue;
    for (char *s = v[i]; *s != '\0'; s++)
      if (*s == NEWLINE)
        *s = '\n';
    add(ud, v[i]);
  }
  dt_free(cx, v);
  dt_buf_fini(&text);
  return st;
}

DtStatus dt_history_append (DtCtx *cx, const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0)
    return dt_raise(cx, DT_E_IO, "cannot write %s: %s", path, strerror(errno));
  DtBuf b;
  dt_buf_init(&b, cx);
  for (const char *s = text; *s != '\0'; s++)
    dt_buf_addc(&b, *s == '\n' ? (char)NEWLINE : *s);
  dt_buf_addc(&b, '\n');
  DtStatus st = dt_buf_ok(&b);
  if (st == DT_OK && !write_all(fd, b.s, b.len))
    st = dt_raise(cx, DT_E_IO, "cannot write %s: %s", path, strerror(errno));
  close(fd);
  dt_buf_fini(&b);
  return st;
}
