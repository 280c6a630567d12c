/* SPDX-License-Identifier: MIT
** op/saved.c: what autograd keeps, from the tables saved.def, kept.def
** and untraced.def, which are made from the .ops texts of oplib. */
#include "op/saved.h"
#include "compat/release.h"

#include <string.h>

#define ALL UINT32_MAX
#define X(name, keep, diff, self) { name, keep, diff, self },
static const DtSaved rows[] = {
#include "op/saved.def"
};
#undef X

static const DtSaved no_row = { "", 0, ALL, NULL };

/* Order of "base.overload" (".default" left out) against a row's name. */
static int compare (const DtSchema *sig, const char *row) {
  size_t n = strlen(sig->base);
  int c = strncmp(sig->base, row, n);
  if (c != 0) return c;
  if (strcmp(sig->overload, "default") == 0) return row[n] == '\0' ? 0 : -1;
  if (row[n] != '.') return '.' - (int)(unsigned char)row[n];
  return strcmp(sig->overload, row + n + 1);
}

#define X(name, args) { name, args },
static const struct Kept { const char *name, *args; } kept[] = {
#include "op/kept.def"
};
#undef X

/* The row of `n` that begin with a name, `size` bytes each; NULL if none. */
static const void *find (const DtSchema *sig, const void *row, size_t n,
                         size_t size) {
  size_t lo = 0, hi = n;
  if (strcmp(sig->ns, "aten") != 0) return NULL;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    const char *at = (const char *)row + mid * size;
    int c = compare(sig, *(const char *const *)(const void *)at);
    if (c == 0) return at;
    if (c < 0) hi = mid;
    else lo = mid + 1;
  }
  return NULL;
}

const DtSaved *dt_saved_find (const DtSchema *sig) {
  const DtSaved *r = find(sig, rows, sizeof rows / sizeof *rows, sizeof *rows);
  return r != NULL ? r : &no_row;
}

const char *dt_saved_args (const DtSchema *sig) {
  const struct Kept *r = find(sig, kept, sizeof kept / sizeof *kept,
                              sizeof *kept);
  return r != NULL && r->args[0] != '\0' ? r->args : NULL;
}

bool dt_saved_said (const DtSchema *sig) {
  return find(sig, kept, sizeof kept / sizeof *kept, sizeof *kept) != NULL;
}

bool dt_saved_results_said (const DtSchema *sig) {
  return find(sig, rows, sizeof rows / sizeof *rows, sizeof *rows) != NULL;
}

const char *dt_saved_name (int i) {
  int n = (int)(sizeof rows / sizeof *rows);
  if (i < n) return rows[i].name;
  i -= n;
  return i < (int)(sizeof kept / sizeof *kept) ? kept[i].name : NULL;
}

static const struct { const char *name; int last; } untraced[] = {
#define X(name, last) { name, last },
#include "op/untraced.def"
#undef X
};

bool dt_untraced_has (const char *full, int release) {
  for (size_t i = 0; i < sizeof untraced / sizeof *untraced; i++)
    if (strcmp(untraced[i].name, full) == 0)
      return release <= untraced[i].last;
  return false;
}

const char *dt_untraced_name (int i) {
  return i < (int)(sizeof untraced / sizeof *untraced) ? untraced[i].name
                                                       : NULL;
}
