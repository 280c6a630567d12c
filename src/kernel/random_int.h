/* SPDX-License-Identifier: MIT
** kernel/random_int.h: random numbers by the block, for loops_int.h: the
** numbers of base/rng.h, a function of stream and index alone.  No include
** guard. */

enum { RANDOM_BLOCK = 256 };

/* The words of n <= RANDOM_BLOCK consecutive counters: dt_philox() for all of
** them, round by round, so that the rounds vectorise.  w[q][k] is word q. */
static void philox_block (const DtRng *r, int64_t i, int64_t n,
                          uint32_t w[4][RANDOM_BLOCK]) {
  uint32_t k0 = (uint32_t)r->seed, k1 = (uint32_t)(r->seed >> 32);
  for (int64_t k = 0; k < n; k++) {
    uint64_t c = r->offset + (uint64_t)(i + k);
    w[0][k] = (uint32_t)c;
    w[1][k] = (uint32_t)(c >> 32);
    w[2][k] = w[3][k] = 0;
  }
  for (int q = 0; q < 10; q++) {
    for (int64_t k = 0; k < n; k++) {
      uint64_t p0 = UINT64_C(0xD2511F53) * w[0][k];
      uint64_t p1 = UINT64_C(0xCD9E8D57) * w[2][k];
      w[0][k] = (uint32_t)(p1 >> 32) ^ w[1][k] ^ k0;
      w[1][k] = (uint32_t)p1;
      w[2][k] = (uint32_t)(p0 >> 32) ^ w[3][k] ^ k1;
      w[3][k] = (uint32_t)p0;
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

static void random_uniform_f32 (const DtRng *r, int64_t i, int64_t n,
                                float lo, float width, float *out) {
  uint32_t w[4][RANDOM_BLOCK];
  for (int64_t at = 0; at < n; at += RANDOM_BLOCK) {
    int64_t m = n - at < RANDOM_BLOCK ? n - at : RANDOM_BLOCK;
    philox_block(r, i + at, m, w);
    for (int64_t k = 0; k < m; k++)
      out[at + k] = (float)(int32_t)(w[0][k] >> 8) * 0x1p-24f * width + lo;
  }
}

static inline double unit53 (uint32_t hi, uint32_t lo) {
  return (double)(int64_t)(((uint64_t)hi << 32 | lo) >> 11) * 0x1p-53;
}

/* Box and Muller; 1 - u keeps the logarithm away from zero. */
static void random_normal (const DtRng *r, int64_t i, int64_t n, double mean,
                           double std, double *out) {
  uint32_t w[4][RANDOM_BLOCK];
  for (int64_t at = 0; at < n; at += RANDOM_BLOCK) {
    int64_t m = n - at < RANDOM_BLOCK ? n - at : RANDOM_BLOCK;
    philox_block(r, i + at, m, w);
    for (int64_t k = 0; k < m; k++) {
      double q = -2.0 * log_f64(1.0 - unit53(w[0][k], w[1][k]));
      double v = sqrt(q) * cos_turn_f64(unit53(w[2][k], w[3][k]));
      out[at + k] = v * std + mean;
    }
  }
}
