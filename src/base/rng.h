/* SPDX-License-Identifier: MIT
** base/rng.h: random numbers, two kinds of generator.
**
** Counter-based (Philox 4x32-10), for accelerators: a number is a pure
** function of (seed, offset, index), so any rank can compute any part.
**
** PyTorch's generator of the CPU (MT19937): words drawn one after the other,
** and the same numbers as PyTorch's after the same seed.  The state is a
** count of words, so that it is kept and set back like the other; the words
** themselves are made again by a DtTwister. */
#ifndef DT_BASE_RNG_H
#define DT_BASE_RNG_H

#include <stdint.h>

typedef struct DtTwister DtTwister;

typedef struct DtRng {
  uint64_t seed;
  uint64_t offset;      /* the next counter; or words drawn since the seed */
  uint64_t pair;        /* MT19937: 1 + the word where the pair of normal
                        ** numbers began whose second is not yet given, or 0 */
  DtTwister *twister;   /* MT19937; NULL: counter-based */
} DtRng;

/* The generators of a rank. */
typedef struct DtGenerators { DtRng cpu, device; } DtGenerators;

/* Four 32-bit words for counter `ctr` in stream `stream`.  Pure. */
void dt_philox (uint64_t seed, uint64_t ctr, uint64_t stream, uint32_t out[4]);
/* Counter-based: uniform in [0, 1) with 24 or 53 bits; standard normal.
** Element `i` of the sequence that starts at `r->offset`.  Pure. */
float dt_rng_uniform_f32 (const DtRng *r, uint64_t i);
double dt_rng_uniform_f64 (const DtRng *r, uint64_t i);
double dt_rng_normal (const DtRng *r, uint64_t i);
uint64_t dt_rng_u64 (const DtRng *r, uint64_t i);
/* Counter-based: n numbers were taken.  Local. */
void dt_rng_spend (DtRng *r, int64_t n);

/* ---- MT19937 ---- */

enum { DT_TWIST = 624 };

/* Where the words of one seed are made: a cache, no state of its own. */
struct DtTwister {
  uint64_t seed, at;            /* `block` holds words at.. of that seed */
  uint32_t raw[DT_TWIST];       /* the generator's own state */
  uint32_t block[DT_TWIST];
  int ready;                    /* 0: nothing here yet */
  uint64_t pair_seed, pair;     /* DtRng.pair whose second number this is */
  double second;
};

/* The next word; the next two as one number; r->offset moves on.  Local. */
uint32_t dt_twist32 (DtRng *r);
uint64_t dt_twist64 (DtRng *r);
/* Uniform in [0, 1) with 24 or 53 bits.  Local. */
static inline float dt_twist_f32 (DtRng *r) {
  return (float)(int32_t)(dt_twist32(r) & 0xffffff) * 0x1p-24f;
}
static inline double dt_twist_f64 (DtRng *r) {
  return (double)(int64_t)(dt_twist64(r) & ((UINT64_C(1) << 53) - 1)) * 0x1p-53;
}

#endif
