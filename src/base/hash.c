/* SPDX-License-Identifier: MIT
** base/hash.c: hashing of bytes.
**
** Words are eight bytes with the first the least, whatever the machine's order
** of bytes, so the value does not depend on it.  Not for secrets. */
#include <string.h>
#include "base/hash.h"

/* The first n of eight bytes, the others 0. */
static uint64_t word_of (const unsigned char *s, size_t n) {
  uint64_t word = 0;
  size_t i;
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  if (n == sizeof word) {
    memcpy(&word, s, sizeof word);
    return word;
  }
#endif
  for (i = 0; i < n; i++)
    word |= (uint64_t)s[i] << (8 * i);
  return word;
}

uint64_t dt_hash_bytes (uint64_t h, const void *p, size_t n) {
  const unsigned char *s = p, *end = s + (n & ~(size_t)7);
  for (; s < end; s += 8)
    h = dt_hash_u64(h, word_of(s, 8));
  return dt_hash_u64(dt_hash_u64(h, word_of(s, n & 7)), (uint64_t)n);
}

uint64_t dt_hash_str (uint64_t h, const char *s) {
  return dt_hash_bytes(h, s, strlen(s));
}
