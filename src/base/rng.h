/* SPDX-License-Identifier: MIT
** base/rng.h: counter-based random numbers (Philox 4x32-10).  The value is a
** pure function of (seed, offset, index), so any rank can compute any part. */
#ifndef DT_BASE_RNG_H
#define DT_BASE_RNG_H

#include <stdint.h>

typedef struct DtRng { uint64_t seed, offset; } DtRng;

/* Four 32-bit words for counter `ctr` in stream `stream`.  Pure. */
void dt_philox (uint64_t seed, uint64_t ctr, uint64_t stream, uint32_t out[4]);
/* Uniform in [0, 1) with 24 or 53 bits; standard normal.  Element `i` of the
** sequence that starts at `r->offset`.  Pure. */
float dt_rng_uniform_f32 (const DtRng *r, uint64_t i);
double dt_rng_uniform_f64 (const DtRng *r, uint64_t i);
double dt_rng_normal (const DtRng *r, uint64_t i);
uint64_t dt_rng_u64 (const DtRng *r, uint64_t i);

#endif
