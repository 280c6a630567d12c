/* SPDX-License-Identifier: MIT
** base/hash.h: stable 64-bit hashing (same on every rank and machine). */
#ifndef DT_BASE_HASH_H
#define DT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Mix a value into a hash; start with DT_HASH_SEED.  Pure. */
#define DT_HASH_SEED UINT64_C(0x9e3779b97f4a7c15)
static inline uint64_t dt_hash_u64 (uint64_t h, uint64_t v) {
  h ^= v + UINT64_C(0x9e3779b97f4a7c15) + (h << 6) + (h >> 2);
  h ^= h >> 32; h *= UINT64_C(0xd6e8feb86659fd93);
  h ^= h >> 32;
  return h;
}
uint64_t dt_hash_bytes (uint64_t h, const void *p, size_t n);
uint64_t dt_hash_str (uint64_t h, const char *s);

#endif
