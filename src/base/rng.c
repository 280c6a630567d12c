/* SPDX-License-Identifier: MIT
** base/rng.c: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as
** easy as 1, 2, 3", 2011) and the distributions built on it.
**
** One counter value per element: three quarters of the words are thrown
** away for f32, but element i needs nothing but i, which is what lets every
** rank of any mesh compute its own part.  The sequence is ours, not that of
** PyTorch's accelerators. */
#include <math.h>
#include "base/rng.h"

enum { ROUNDS = 10 };
static const uint32_t MUL0 = 0xD2511F53u, MUL1 = 0xCD9E8D57u;
static const uint32_t KEY0 = 0x9E3779B9u, KEY1 = 0xBB67AE85u;

static uint32_t lo32 (uint64_t x) { return (uint32_t)(x & 0xffffffffu); }
static uint32_t hi32 (uint64_t x) { return (uint32_t)(x >> 32); }

void dt_philox (uint64_t seed, uint64_t ctr, uint64_t stream,
                uint32_t out[4]) {
  uint32_t c0 = lo32(ctr), c1 = hi32(ctr);
  uint32_t c2 = lo32(stream), c3 = hi32(stream);
  uint32_t k0 = lo32(seed), k1 = hi32(seed);
  int i;
  for (i = 0; i < ROUNDS; i++) {
    uint64_t p0 = (uint64_t)MUL0 * c0, p1 = (uint64_t)MUL1 * c2;
    c0 = hi32(p1) ^ c1 ^ k0;
    c2 = hi32(p0) ^ c3 ^ k1;
    c1 = lo32(p1);
    c3 = lo32(p0);
    k0 += KEY0;
    k1 += KEY1;
  }
  out[0] = c0; out[1] = c1; out[2] = c2; out[3] = c3;
}

static double unit53 (uint32_t hi, uint32_t lo) {
  uint64_t u = ((uint64_t)hi << 32 | lo) >> 11;
  return (double)u * 0x1p-53;
}

float dt_rng_uniform_f32 (const DtRng *r, uint64_t i) {
  uint32_t w[4];
  dt_philox(r->seed, r->offset + i, 0, w);
  return (float)(w[0] >> 8) * 0x1p-24f;
}

double dt_rng_uniform_f64 (const DtRng *r, uint64_t i) {
  uint32_t w[4];
  dt_philox(r->seed, r->offset + i, 0, w);
  return unit53(w[0], w[1]);
}

/* Box and Muller; 1 - u keeps the logarithm away from zero. */
double dt_rng_normal (const DtRng *r, uint64_t i) {
  const double two_pi = 6.283185307179586476925286766559;
  uint32_t w[4];
  dt_philox(r->seed, r->offset + i, 0, w);
  return sqrt(-2.0 * log(1.0 - unit53(w[0], w[1]))) *
         cos(two_pi * unit53(w[2], w[3]));
}

uint64_t dt_rng_u64 (const DtRng *r, uint64_t i) {
  uint32_t w[4];
  dt_philox(r->seed, r->offset + i, 0, w);
  return (uint64_t)w[0] << 32 | w[1];
}

/* In steps of four, as PyTorch's trackers count. */
void dt_rng_spend (DtRng *r, int64_t n) {
  r->offset += ((uint64_t)n + 3) / 4 * 4;
}
