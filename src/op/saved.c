/* SPDX-License-Identifier: MIT
** op/saved.c: look up the rows of saved.def. */
#include "op/saved.h"

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

const DtSaved *dt_saved_find (const DtSchema *sig) {
  size_t lo = 0, hi = sizeof rows / sizeof rows[0];
  if (strcmp(sig->ns, "aten") != 0) return &no_row;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    int c = compare(sig, rows[mid].name);
    if (c == 0) return &rows[mid];
    if (c < 0) hi = mid;
    else lo = mid + 1;
  }
  return &no_row;
}
