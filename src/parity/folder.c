/* SPDX-License-Identifier: MIT
** parity/folder.c: a folder on the command line stands for the suites in it. */
#include "base/error_tool.h"
#include "parity/parity_int.h"
#include "compat/release.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
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

static bool is_folder (const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* Links within a folder are not followed: they may lead back. */
static bool is_folder_itself (const char *path) {
  struct stat s;
  return lstat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool is_suite (const char *name) {
  return ends(name, ".jsonl") || ends(name, ".program.json");
}

/* What a folder holds that may be suites or hold them: files and folders, by
** name. */
static DtStatus list_folder (DtCtx *cx, DtParityFiles *f, const char *dir) {
  DIR *d = opendir(dir);
  struct dirent *e;
  DtStatus st = DT_OK;
  DT_CHECK(cx, d != NULL, DT_E_IO, "%s: cannot be read", dir);
  while (st == DT_OK && (e = readdir(d)) != NULL) {
    DtBuf path;
    if (e->d_name[0] == '.')
      continue;
    dt_buf_init(&path, cx);
    dt_buf_addf(&path, "%s%s%s", dir, ends(dir, "/") ? "" : "/", e->d_name);
    st = dt_buf_ok(&path);
    if (st == DT_OK && (is_suite(e->d_name) || is_folder_itself(dt_buf_str(&path))))
      st = add(cx, f, dt_strdup(cx, dt_buf_str(&path)));
    dt_buf_fini(&path);
  }
  (void)closedir(d);
  if (f->n > 1)
    qsort(f->name, (size_t)f->n, sizeof *f->name, by_name);
  return st;
}

/* The suites in a folder and in the folders in it. */
static DtStatus add_folder (DtCtx *cx, DtParityFiles *f, const char *dir) {
  DtParityFiles inside = { 0 };
  DtStatus st = list_folder(cx, &inside, dir);
  for (int i = 0; st == DT_OK && i < inside.n; i++) {
    const char *name = inside.name[i];
    st = is_folder_itself(name) ? add_folder(cx, f, name)
                                : add(cx, f, dt_strdup(cx, name));
  }
  dt_parity_files_fini(cx, &inside);
  return st;
}

/* A file as it is, a folder as the suites in it. */
static DtStatus add_given (DtCtx *cx, DtParityFiles *f, const char *given) {
  int first = f->n;
  if (!is_folder(given))
    return add(cx, f, dt_strdup(cx, given));
  DT_TRY(cx, add_folder(cx, f, given));
  DT_CHECK(cx, f->n > first, DT_E_IO, "%s: no .jsonl and no .program.json file "
           "in this folder", given);
  return DT_OK;
}

DtStatus dt_parity_files (DtCtx *cx, int n, char *const *given,
                          DtParityFiles *out) {
  memset(out, 0, sizeof *out);
  for (int i = 0; i < n; i++)
    DT_TRY(cx, add_given(cx, out, given[i]));
  return DT_OK;
}

/* Whether s[0..n) is called as a release is, N.N; it is then in `name`. */
static bool read_release (const char *s, size_t n, char name[16]) {
  size_t major = strspn(s, "0123456789"), minor;
  if (major == 0 || major >= n || s[major] != '.')
    return false;
  minor = strspn(s + major + 1, "0123456789");
  if (minor == 0 || major + 1 + minor != n || n >= 16)
    return false;
  memcpy(name, s, n);
  name[n] = '\0';
  return true;
}

/* How many folders above a file may name its release: those of a suite, as in
** 2.15/prop/view.jsonl.  Not more: people keep checkouts in folders of any
** name. */
#define FOLDERS_ABOVE 3

/* The nearest folder of a path that is called as a release is. */
static bool find_release (const char *path, char name[16]) {
  const char *end = strrchr(path, '/');
  for (int i = 0; end != NULL && i < FOLDERS_ABOVE; i++) {
    const char *s = end;
    while (s > path && s[-1] != '/')
      s--;
    if (read_release(s, (size_t)(end - s), name))
      return true;
    end = s > path ? s - 1 : NULL;
  }
  return false;
}

/* The same of a file from wherever it is named: `prop/view.jsonl` within the
** folder 2.15 is of 2.15. */
static bool find_file_release (const char *path, char name[16]) {
  char whole[PATH_MAX];
  return find_release(realpath(path, whole) != NULL ? whole : path, name);
}

DtStatus dt_parity_files_release (DtCtx *cx, const DtParityFiles *f,
                                  char name[16]) {
  char other[16];
  name[0] = '\0';
  for (int i = 0; i < f->n; i++) {
    if (!find_file_release(f->name[i], other))
      (void)snprintf(other, sizeof other, "%s", DT_BASE_RELEASE_NAME);
    DT_CHECK(cx, i == 0 || strcmp(other, name) == 0, DT_E_COMMAND,
             "the files are of PyTorch %s and %s: compare them one after the "
             "other, or say --torch", name, other);
    memcpy(name, other, sizeof other);
  }
  return DT_OK;
}

void dt_parity_files_fini (DtCtx *cx, DtParityFiles *f) {
  for (int i = 0; i < f->n; i++)
    dt_free(cx, f->name[i]);
  dt_free(cx, f->name);
  memset(f, 0, sizeof *f);
}
