/* SPDX-License-Identifier: MIT
** base/file.c: files that are written whole or not at all. */
#include "base/file.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error_tool.h"
#include "base/mem.h"

static DtStatus cannot (DtCtx *cx, const char *path, int why) {
  return dt_raise(cx, DT_E_IO, "cannot write %s: %s", path, strerror(why));
}

/* The name beside `path`: of this process and, among its threads, of this
** context alone. */
static char *name_beside (DtCtx *cx, const char *path) {
  size_t n = strlen(path) + 48;
  char *s = dt_alloc(cx, n);
  if (s != NULL)
    snprintf(s, n, "%s.%ld-%lx.part", path, (long)getpid(),
             (unsigned long)((uintptr_t)cx >> 4 & 0xffffffff));
  return s;
}

static void forget (DtCtx *cx, DtFile *w) {
  dt_free(cx, w->path);
  dt_free(cx, w->beside);
  w->path = w->beside = NULL;
}

/* Open the file beside; without one, `path` itself where it is there, or where
** only the name beside it is too long.  A link to nothing is written through. */
static void open_it (DtCtx *cx, DtFile *w, const struct stat *old) {
  bool there = old != NULL;
  struct stat link;
  if (there ? S_ISREG(old->st_mode) : lstat(w->path, &link) != 0) {
    w->f = fopen(w->beside, "wb");
    if (w->f != NULL) {
      if (there) (void)fchmod(fileno(w->f), old->st_mode & 07777);
      return;
    }
    if (!there && errno != ENAMETOOLONG) return;
  }
  dt_free(cx, w->beside);
  w->beside = NULL;
  w->f = fopen(w->path, "wb");
}

DtStatus dt_file_begin (DtCtx *cx, DtFile *w, const char *path) {
  char real[PATH_MAX];
  struct stat old;
  bool there = stat(path, &old) == 0;
  int why;
  w->f = NULL;
  if (there && S_ISREG(old.st_mode) && realpath(path, real) != NULL) {
    w->path = dt_strdup(cx, real);
  } else {
    w->path = dt_strdup(cx, path);
  }
  w->beside = w->path != NULL ? name_beside(cx, w->path) : NULL;
  if (w->beside == NULL) {
    forget(cx, w);
    return DT_E_NOMEM;
  }
  open_it(cx, w, there ? &old : NULL);
  why = errno;
  if (w->f != NULL) return DT_OK;
  forget(cx, w);
  return cannot(cx, path, why);
}

/* A stream keeps that it failed. */
void dt_file_add (DtFile *w, const char *s, size_t n) {
  if (n > 0) (void)!fwrite(s, 1, n, w->f);
}

DtStatus dt_file_end (DtCtx *cx, DtFile *w, const char *path) {
  bool ok = fflush(w->f) == 0 && !ferror(w->f);
  int why = ok ? 0 : errno;
  if (ok && w->beside != NULL && fsync(fileno(w->f)) != 0) {
    why = errno;                /* what cannot be synced is no file of a disk */
    ok = why == EINVAL || why == EROFS;
  }
  if (fclose(w->f) != 0 && ok) {
    why = errno;                /* a full disk may fail only here */
    ok = false;
  }
  if (ok && w->beside != NULL && rename(w->beside, w->path) != 0) {
    why = errno;
    ok = false;
  }
  if (!ok && w->beside != NULL) (void)remove(w->beside);
  forget(cx, w);
  return ok ? DT_OK : cannot(cx, path, why ? why : EIO);
}

DtStatus dt_file_write (DtCtx *cx, const char *path, const char *s, size_t n) {
  DtFile w;
  DtStatus st = dt_file_begin(cx, &w, path);
  if (st != DT_OK) return st;
  dt_file_add(&w, s, n);
  return dt_file_end(cx, &w, path);
}
