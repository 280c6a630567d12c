/* SPDX-License-Identifier: MIT
** parity/folder.c: a folder on the command line stands for the suites in it. */
#include "parity/parity_int.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool ends (const char *s, const char *with) {
  size_t n = strlen(s), k = strlen(with);
  return n > k && strcmp(s + n - k, with) == 0;
}

static int by_name (const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* One more; takes over `name`, which is NULL when memory has run out. */
static DtStatus add (DtCtx *cx, DtParityFiles *f, char *name) {
  if (name != NULL && f->n == f->room) {
    int room = f->room > 0 ? 2 * f->room : 16;
    char **more = DT_NEWN(cx, char *, room);
    if (more == NULL) {
      dt_free(cx, name);
      return DT_E_NOMEM;
    }
    if (f->n > 0)
      memcpy(more, f->name, (size_t)f->n * sizeof *more);
    dt_free(cx, f->name);
    f->name = more;
    f->room = room;
  }
  if (name == NULL)
    return DT_E_NOMEM;
  f->name[f->n++] = name;
  return DT_OK;
}

static DtStatus add_folder (DtCtx *cx, DtParityFiles *f, const char *dir) {
  DIR *d = opendir(dir);
  struct dirent *e;
  DtStatus st = DT_OK;
  int first = f->n;
  DT_CHECK(cx, d != NULL, DT_E_IO, "%s: cannot be read", dir);
  while (st == DT_OK && (e = readdir(d)) != NULL) {
    DtBuf path;
    if (!ends(e->d_name, ".jsonl") && !ends(e->d_name, ".program.json"))
      continue;
    dt_buf_init(&path, cx);
    dt_buf_addf(&path, "%s%s%s", dir, ends(dir, "/") ? "" : "/", e->d_name);
    st = dt_buf_ok(&path);
    if (st == DT_OK)
      st = add(cx, f, dt_strdup(cx, dt_buf_str(&path)));
    dt_buf_fini(&path);
  }
  (void)closedir(d);
  if (st != DT_OK)
    return st;
  DT_CHECK(cx, f->n > first, DT_E_IO, "%s: no .jsonl and no .program.json file "
           "in this folder", dir);
  qsort(f->name + first, (size_t)(f->n - first), sizeof *f->name, by_name);
  return DT_OK;
}

DtStatus dt_parity_files (DtCtx *cx, int n, char *const *given,
                          DtParityFiles *out) {
  memset(out, 0, sizeof *out);
  for (int i = 0; i < n; i++) {
    struct stat s;
    bool folder = stat(given[i], &s) == 0 && S_ISDIR(s.st_mode);
    DT_TRY(cx, folder ? add_folder(cx, out, given[i])
                      : add(cx, out, dt_strdup(cx, given[i])));
  }
  return DT_OK;
}

void dt_parity_files_fini (DtCtx *cx, DtParityFiles *f) {
  for (int i = 0; i < f->n; i++)
    dt_free(cx, f->name[i]);
  dt_free(cx, f->name);
  memset(f, 0, sizeof *f);
}
