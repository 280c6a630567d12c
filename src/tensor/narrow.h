/* SPDX-License-Identifier: MIT
** tensor/narrow.h: conversions of the 16- and 8-bit float formats, inline and
** without branches, so that loops over them vectorise.
** Rounding is to nearest even everywhere.  Narrowing to f8e4m3 saturates (it
** has no infinity), narrowing to f8e5m2 overflows to infinity: what PyTorch
** 2.13's CPU casts do.  All functions are Pure. */
#ifndef DT_TENSOR_NARROW_H
#define DT_TENSOR_NARROW_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t dt_nw_bits (float v) {
  uint32_t u;
  memcpy(&u, &v, sizeof u);
  return u;
}

static inline float dt_nw_float (uint32_t u) {
  float v;
  memcpy(&v, &u, sizeof v);
  return v;
}

static inline float dt_nw_from_bf16 (uint16_t v) {
  return dt_nw_float((uint32_t)v << 16);
}

static inline uint16_t dt_nw_to_bf16 (float v) {
  uint32_t u = dt_nw_bits(v);
  uint32_t r = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  return (uint16_t)((u & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : r);
}

/* The bits of a half, shifted to a float's place, are the value scaled by
** 2^-112: also for subnormals. */
static inline float dt_nw_from_f16 (uint16_t v) {
  uint32_t mag = ((uint32_t)v & 0x7fffu) << 13;
  uint32_t sign = ((uint32_t)v & 0x8000u) << 16;
  uint32_t fin = dt_nw_bits(dt_nw_float(mag) * 0x1p112f);
  uint32_t big = mag | 0x7f800000u;             /* infinity, NaN */
  return dt_nw_float(sign | (mag >= 0x0f800000u ? big : fin));
}

/* Below 2^-14, adding 0.5 leaves the rounded subnormal in the low bits. */
static inline uint16_t dt_nw_to_f16 (float v) {
  uint32_t u = dt_nw_bits(v), mag = u & 0x7fffffffu;
  uint32_t sub = dt_nw_bits(dt_nw_float(mag) + 0.5f) - 0x3f000000u;
  uint32_t nor = (mag - 0x38000000u + 0xfffu + ((mag >> 13) & 1u)) >> 13;
  uint32_t r = mag < 0x38800000u ? sub : nor;
  r = mag >= 0x477ff000u ? 0x7c00u : r;
  r = mag > 0x7f800000u ? 0x7e00u : r;
  return (uint16_t)(r | (u >> 16 & 0x8000u));
}

static inline float dt_nw_from_f8e4m3 (uint8_t v) {
  uint32_t mag = ((uint32_t)v & 0x7fu) << 20;
  uint32_t sign = ((uint32_t)v & 0x80u) << 24;
  uint32_t fin = dt_nw_bits(dt_nw_float(mag) * 0x1p120f);
  return dt_nw_float(sign | (mag == 0x07f00000u ? 0x7fc00000u : fin));
}

static inline uint8_t dt_nw_to_f8e4m3 (float v) {
  uint32_t u = dt_nw_bits(v), mag = u & 0x7fffffffu;
  uint32_t sub = dt_nw_bits(dt_nw_float(mag) + 0x1p14f) - 0x46800000u;
  uint32_t nor = (mag - 0x3c000000u + 0x7ffffu + ((mag >> 20) & 1u)) >> 20;
  uint32_t r = mag < 0x3c800000u ? sub : nor;
  r = mag >= 0x43e00000u ? 0x7eu : r;           /* from 448 on */
  r = mag > 0x7f800000u ? 0x7fu : r;
  return (uint8_t)(r | (u >> 24 & 0x80u));
}

static inline float dt_nw_from_f8e5m2 (uint8_t v) {
  return dt_nw_from_f16((uint16_t)(v << 8));
}

static inline uint8_t dt_nw_to_f8e5m2 (float v) {
  uint32_t u = dt_nw_bits(v), mag = u & 0x7fffffffu;
  uint32_t sub = dt_nw_bits(dt_nw_float(mag) + 0x1p7f) - 0x43000000u;
  uint32_t nor = (mag - 0x38000000u + 0xfffffu + ((mag >> 21) & 1u)) >> 21;
  uint32_t r = mag < 0x38800000u ? sub : nor;
  r = mag >= 0x47700000u ? 0x7cu : r;           /* from 61440 on */
  r = mag > 0x7f800000u ? 0x7fu : r;
  return (uint8_t)(r | (u >> 24 & 0x80u));
}

/* Float to integer as x86 does it, which PyTorch's CPU casts show: what does
** not fit becomes the most negative number; narrower types wrap from i32. */
static inline int64_t dt_nw_to_i64 (double v) {
  return v >= -0x1p63 && v < 0x1p63 ? (int64_t)v : INT64_MIN;
}

static inline int32_t dt_nw_to_i32 (double v) {
  return v > -2147483649.0 && v < 2147483648.0 ? (int32_t)v : INT32_MIN;
}

#endif
