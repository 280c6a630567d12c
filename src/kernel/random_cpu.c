/* SPDX-License-Identifier: MIT
** kernel/random_cpu.c: how PyTorch's kernels turn words of the CPU's generator
** into numbers.  Which word goes into which element, and the order of the
** words, are PyTorch's; checked against it in tests/parity.
**
** The logarithm and the cosine are our own (math_int.h): the last bit of a
** normal number may differ from PyTorch's, whose differ between processors. */
#include "kernel/random_cpu.h"

#include <math.h>
#include <string.h>
#include "kernel/kernel_int.h"
#include "kernel/loops.h"
#include "kernel/special.h"
#include "tensor/narrow.h"
#include "kernel/math_int.h"

#define TURN (1 / 6.283185307179586476925286766559)

/* ---- one at a time ---- */

/* The pair of normal numbers that begins at word `at`. */
static double pair_at (DtRng *r, double *second) {
  double turn = dt_twist_f64(r), u = dt_twist_f64(r);
  double radius = sqrt(-2 * log_f64(1 - u));
  *second = radius * cos_turn_f64(turn - 0.25);
  return radius * cos_turn_f64(turn);
}

/* The second number of a pair is kept in the generator, under the seed and
** the place it was made at: a generator that was set back may have another
** one there, and makes it again. */
double dt_cpu_normal (DtRng *r) {
  DtTwister *t = r->twister;
  uint64_t pair = r->pair;
  if (pair == 0) {
    r->pair = 1 + r->offset;
    t->pair = r->pair;
    t->pair_seed = r->seed;
    return pair_at(r, &t->second);
  }
  r->pair = 0;
  if (t->pair != pair || t->pair_seed != r->seed) {     /* set back to there */
    DtRng again = *r;
    again.offset = pair - 1;
    (void)pair_at(&again, &t->second);
    t->pair = pair;
    t->pair_seed = r->seed;
  }
  return t->second;
}

static float narrowed (DtDtype t, float x) {
  if (t == DT_BF16) return dt_bf16_to_f32(dt_f32_to_bf16(x));
  return t == DT_F16 ? dt_f16_to_f32(dt_f32_to_f16(x)) : x;
}

/* PyTorch's x * (to - from) + from is rounded once. */
static void uniform_f32 (DtRng *r, DtDtype t, float lo, float hi, int64_t n,
                         float *out) {
  float width = hi - lo;
  for (int64_t k = 0; k < n; k++) {
    double x = (double)dt_twist_f32(r) * (double)width + (double)lo;
    float v = narrowed(t, (float)x);
    out[k] = v == hi && t != DT_F32 ? lo : v;
  }
}

void dt_cpu_uniform (DtRng *r, DtDtype t, double lo, double hi, int64_t n,
                     void *out) {
  double *o = out;
  if (dt_class_of(t) == DT_CL_F32) {
    uniform_f32(r, t, narrowed(t, (float)lo), narrowed(t, (float)hi), n, out);
    return;
  }
  for (int64_t k = 0; k < n; k++) o[k] = fma(dt_twist_f64(r), hi - lo, lo);
}

/* Ranges of 2^28 and more take two words, so that the remainder is fair. */
void dt_cpu_randint (DtRng *r, int64_t lo, int64_t hi, int64_t n,
                     int64_t *out) {
  uint64_t width = (uint64_t)hi - (uint64_t)lo;
  bool wide = width == 0 || width >= UINT64_C(1) << 28;
  for (int64_t k = 0; k < n; k++) {
    uint64_t v = wide ? dt_twist64(r) : dt_twist32(r);
    out[k] = (int64_t)(width ? (uint64_t)lo + v % width : v);
  }
}

/* ---- sixteen at a time ---- */

enum { HALF = 8, BLOCK = 2 * HALF };

/* Uniform numbers into normal ones: element j and j + 8 are a pair. */
static void turned_f32 (float *d, float mean, float std) {
  const float turn = 6.2831855f;
  for (int j = 0; j < HALF; j++) {
    float u = 1 - d[j], angle = turn * d[j + HALF];
    float l = (float)log_f64((double)u);
    float radius = sqrtf(-2 * l);
    double t = (double)angle * TURN;
    d[j] = radius * (float)cos_turn_f64(t) * std + mean;
    d[j + HALF] = radius * (float)cos_turn_f64(t - 0.25) * std + mean;
  }
}

static void turned_f64 (double *d, double mean, double std) {
  for (int j = 0; j < HALF; j++) {
    double u = 1 - d[j], t = d[j + HALF];
    double radius = sqrt(-2 * log_f64(u));
    d[j] = radius * cos_turn_f64(t) * std + mean;
    d[j + HALF] = radius * cos_turn_f64(t - 0.25) * std + mean;
  }
}

typedef union Block { float f[BLOCK]; double d[BLOCK]; } Block;

static void draw_block (DtRng *r, DtClass c, double mean, double std,
                        Block *b) {
  for (int j = 0; j < BLOCK; j++) {
    if (c == DT_CL_F32) b->f[j] = dt_twist_f32(r);
    else b->d[j] = dt_twist_f64(r);
  }
  if (c == DT_CL_F32) turned_f32(b->f, (float)mean, (float)std);
  else turned_f64(b->d, mean, std);
}

/* What does not fill a block is made again with the elements before it, from
** new words; types of 32 bits and more have drawn for it once already. */
DtStatus dt_cpu_normal_fill (DtCtx *cx, DtTensor *dst, DtRng *r, double mean,
                             double std) {
  DtDtype t = (DtDtype)dst->m.dtype;
  DtClass c = dt_class_of(t);
  int64_t n = dt_meta_numel(&dst->m), es = (int64_t)dt_dtype_size(t);
  Block b;
  void *p;
  DT_TRY(cx, dt_kernel_data(cx, dst, &p, 0, NULL, NULL));
  if (p == NULL) return DT_OK;
  char *d = p;
  for (int64_t i = 0; i + BLOCK <= n; i += BLOCK) {
    draw_block(r, c, mean, std, &b);
    dt_run_store(c, &b, t, d + i * es, es, BLOCK);
  }
  if (n % BLOCK == 0) return DT_OK;
  if (es >= 4)
    for (int64_t k = n % BLOCK * (c == DT_CL_F32 ? 1 : 2); k > 0; k--)
      (void)dt_twist32(r);
  draw_block(r, c, mean, std, &b);
  dt_run_store(c, &b, t, d + (n - BLOCK) * es, es, BLOCK);
  return DT_OK;
}
