/* SPDX-License-Identifier: MIT
** spmd/class.c: what a function does with addends, from functions.def. */
#include <string.h>
#include "spmd/spmd.h"

static const struct { DtSpmdClass cls; const char *names; } rows[] = {
#define X(CLASS, NAMES) { DT_SPMD_##CLASS, NAMES },
#include "spmd/functions.def"
#undef X
};

/* Is the word in the list of words? */
static bool listed (const char *list, const char *word) {
  size_t n = strlen(word);
  for (const char *p = list; *p != '\0';) {
    size_t len = strcspn(p, " ");
    if (len == n && strncmp(p, word, n) == 0) return true;
    p += len + (p[len] == ' ');
  }
  return false;
}

DtSpmdClass dt_spmd_class (const char *key) {
  const char *dot = strrchr(key, '.');
  const char *bare = dot != NULL ? dot + 1 : key;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (listed(rows[i].names, key) || listed(rows[i].names, bare))
      return rows[i].cls;
  return DT_SPMD_NONLINEAR;
}
