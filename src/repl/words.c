/* SPDX-License-Identifier: MIT
** repl/words.c: how near two words are, for "did you mean". */
#include "repl/cmd.h"

static int smaller_of (int a, int b) { return a < b ? a : b; }

/* Two neighbours in the wrong order count once. */
int dt_word_distance (const char *a, size_t na, const char *b, size_t nb) {
  int d[32][32];
  if (na > 30 || nb > 30)
    return 99;
  for (size_t j = 0; j <= nb; j++)
    d[0][j] = (int)j;
  for (size_t i = 1; i <= na; i++) {
    d[i][0] = (int)i;
    for (size_t j = 1; j <= nb; j++) {
      d[i][j] = smaller_of(d[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
                           smaller_of(d[i - 1][j], d[i][j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = smaller_of(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[na][nb];
}
