/* SPDX-License-Identifier: MIT
** base/twister.c: MT19937 (Matsumoto and Nishimura, "Mersenne Twister", 1998),
** PyTorch's generator on the CPU.
**
** Words come in blocks of 624.  Asked for words before its block, as after
** :back, the twister begins again at the seed and walks there: about a
** nanosecond a word, once. */
#include <string.h>
#include "base/rng.h"

enum { MIDDLE = 397 };

static void begin (DtTwister *t, uint64_t seed) {
  t->seed = seed;
  t->raw[0] = (uint32_t)seed;
  for (uint32_t i = 1; i < DT_TWIST; i++) {
    uint32_t before = t->raw[i - 1];
    t->raw[i] = 1812433253u * (before ^ before >> 30) + i;
  }
}

static uint32_t mixed (uint32_t high, uint32_t low, uint32_t far) {
  uint32_t y = (high & 0x80000000u) | (low & 0x7fffffffu);
  return far ^ y >> 1 ^ (low & 1 ? 0x9908b0dfu : 0);
}

/* The next 624 words of the state. */
static void twist (uint32_t *s) {
  int i = 0;
  for (; i < DT_TWIST - MIDDLE; i++) s[i] = mixed(s[i], s[i + 1], s[i + MIDDLE]);
  for (; i < DT_TWIST - 1; i++)
    s[i] = mixed(s[i], s[i + 1], s[i + MIDDLE - DT_TWIST]);
  s[i] = mixed(s[i], s[0], s[MIDDLE - 1]);
}

static void temper (const uint32_t *s, uint32_t *out) {
  for (int i = 0; i < DT_TWIST; i++) {
    uint32_t y = s[i];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    out[i] = y ^ y >> 18;
  }
}

/* The block that holds word `at`. */
static void fetch (DtTwister *t, uint64_t seed, uint64_t at) {
  uint64_t first = at - at % DT_TWIST;
  if (!t->ready || t->seed != seed || first < t->at) {
    begin(t, seed);
    twist(t->raw);
    t->at = 0;
    t->ready = 1;
  }
  for (; t->at < first; t->at += DT_TWIST) twist(t->raw);
  temper(t->raw, t->block);
}

uint32_t dt_twist32 (DtRng *r) {
  DtTwister *t = r->twister;
  uint64_t at = r->offset++;
  if (!t->ready || t->seed != r->seed || at - t->at >= DT_TWIST)
    fetch(t, r->seed, at);
  return t->block[at - t->at];
}

uint64_t dt_twist64 (DtRng *r) {
  uint64_t high = dt_twist32(r);
  return high << 32 | dt_twist32(r);
}
