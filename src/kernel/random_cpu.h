/* SPDX-License-Identifier: MIT
** kernel/random_cpu.h: numbers of PyTorch's CPU generator (base/rng.h), as
** its kernels draw them.  Private to src/kernel. */
#ifndef DT_KERNEL_RANDOM_CPU_H
#define DT_KERNEL_RANDOM_CPU_H

#include <stdbool.h>
#include "kernel/kernel.h"

/* One standard normal number: they are made in pairs, the second is kept for
** the next call.  Local. */
double dt_cpu_normal (DtRng *r);
/* Uniform in [lo, hi) as type `t` keeps it: what it rounds up to hi is lo.
** n <= 0 does nothing.  Local. */
void dt_cpu_uniform (DtRng *r, DtDtype t, double lo, double hi, int64_t n,
                     void *out);
/* Integers in [lo, hi), hi - lo modulo 2^64 (0: all).  Local. */
void dt_cpu_randint (DtRng *r, int64_t lo, int64_t hi, int64_t n,
                     int64_t *out);
/* dst, contiguous, 16 elements or more: normal numbers, made 16 at a time.
** Type errors as dt_kernel_data().  Local. */
DtStatus dt_cpu_normal_fill (DtCtx *cx, DtTensor *dst, DtRng *r, double mean,
                             double std);

#endif
