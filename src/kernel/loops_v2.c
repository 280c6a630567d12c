/* SPDX-License-Identifier: MIT
** kernel/loops_v2.c: the loops for any processor, and the choice among them. */

#define DT_LEVEL(name) name##_v2
#include "kernel/loops_int.h"

const DtLoops *dt_loops (void) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return &dt_loops_v4;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return &dt_loops_v3;
#endif
  return &dt_loops_v2;
}
