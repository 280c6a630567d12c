/* SPDX-License-Identifier: MIT
** base/hash.c: hashing of bytes.
**
** Bytes are gathered into words by arithmetic, not by reading words, so the
** value does not depend on byte order.  Not for secrets. */
#include <string.h>
#include "base/hash.h"

uint64_t dt_hash_bytes (uint64_t h, const void *p, size_t n) {
  const unsigned char *s = p;
  size_t i;
  uint64_t word = 0;
  for (i = 0; i < n; i++) {
    word |= (uint64_t)s[i] << (8 * (i & 7));
    if ((i & 7) == 7) {
      h = dt_hash_u64(h, word);
      word = 0;
    }
  }
  return dt_hash_u64(dt_hash_u64(h, word), (uint64_t)n);
}

uint64_t dt_hash_str (uint64_t h, const char *s) {
  return dt_hash_bytes(h, s, strlen(s));
}
