/* SPDX-License-Identifier: MIT
** kernel/loops.h: the inner loops that decide the speed of large tensors.
**
** They are written once (loops_int.h), in plain C, and compiled for several
** instruction sets (loops_v2.c, loops_v3.c, loops_v4.c); the widest the
** processor has is used.  Results do not depend on which: no loop is left to
** the compiler to reorder, contraction is off, and a fused multiply-add is
** asked for by name and computed exactly where the processor has none. */
#ifndef DT_KERNEL_LOOPS_H
#define DT_KERNEL_LOOPS_H

#include "kernel/kernel_int.h"

/* ---- reductions (reduce.c) ---- */

enum { DT_RED_LEVELS = 36 };

/* What is done to an element before it is combined, and how they combine. */
typedef enum DtMap {
  DT_M_ID, DT_M_NONZERO, DT_M_NAN0, DT_M_SQUARE, DT_M_ABS, DT_M_POW, DT_M_EXP,
  DT_M_DEV2,
  /* Elements and their squares: acc has two results of each output, the sums
  ** first.  Only added, only floats of 16 and 32 bits, at most
  ** DT_RED_TILE / 2 outputs. */
  DT_M_SPREAD
} DtMap;
typedef enum DtComb { DT_C_ADD, DT_C_MUL, DT_C_MAX, DT_C_MIN } DtComb;

typedef struct DtRedDim { int64_t n, in, out; } DtRedDim;  /* byte strides */

typedef struct DtRedJob {
  DtReduce f;
  double p;                     /* order or correction */
  DtClass cl;                   /* F64, I64 or C128 */
  DtDtype in_t, out_t;
  int nkept, nred;
  DtRedDim kept[DT_MAX_NDIM], red[DT_MAX_NDIM];
  int64_t len;                  /* elements for one output */
  bool along;                   /* outputs are made one by one */
} DtRedJob;

/* Outputs done at a time, for elements of 8 and 16 bytes. */
enum { DT_RED_TILE = 1024, DT_RED_TILE_Z = 256 };

/* One pass over the elements of w outputs that start at `p`, `step` bytes
** apart: map, combine; acc[w] receives the results.  `aux` is what the map
** needs for each output. */
typedef struct DtRedPass {
  const DtRedJob *j;
  const char *p;
  int64_t step, w;
  DtMap m;
  DtComb c;
  const void *aux;
  void *acc;
} DtRedPass;

/* Sums of floats in PyTorch's order (cascade.c): for j < n1, to out[j] is added
** the sum of in[i, j], i < n0.  Strides in bytes. */
typedef struct DtCascade {
  DtDtype t;                    /* F32 or F64 */
  char *out;
  const char *in;
  int64_t n0, n1, in0, in1, out1;
} DtCascade;

/* ---- the table ---- */

typedef struct DtLoops {
  const DtPwTable *pw_f32;
  /* The same for operands and results stored as bf16; NULL: use pw_f32. */
  const DtPwTable *pw_bf16;
  void (*load) (DtClass c, void *dst, DtDtype t, const void *src,
                int64_t stride, int64_t n);
  void (*store) (DtClass c, const void *src, DtDtype t, void *dst,
                 int64_t stride, int64_t n);
  void (*reduce) (const DtRedPass *pass);
  void (*cascade) (const DtCascade *c);
  /* out[n] = softmax or log_softmax of x[n], which may be the same; `t`: the
  ** type PyTorch keeps the sum in. */
  void (*softmax_f32) (bool log_form, DtDtype t, const float *x, float *out,
                       int64_t n);
  /* The same for a line of bf16; buf[n + 32]. */
  void (*softmax_bf16) (bool log_form, DtDtype t, const uint16_t *x,
                        uint16_t *out, float *buf, int64_t n);
  /* out[n] = normal numbers i.. of the stream. */
  void (*normal) (const DtRng *r, int64_t i, int64_t n, double mean,
                  double std, double *out);
  void (*uniform_f32) (const DtRng *r, int64_t i, int64_t n, float lo,
                       float width, float *out);
} DtLoops;

extern const DtPwTable dt_pw_f32_v2, dt_pw_f32_v3, dt_pw_f32_v4;
extern const DtLoops dt_loops_v2, dt_loops_v3, dt_loops_v4;

/* Those for this processor.  Pure. */
const DtLoops *dt_loops (void);

#endif
