/* SPDX-License-Identifier: MIT
** kernel/loops_int.h: everything loops.h names, for the instruction set the
** including file is compiled for; DT_LEVEL(name) makes its public name. */
#ifndef DT_KERNEL_LOOPS_INT_H
#define DT_KERNEL_LOOPS_INT_H

#include <math.h>
#include <string.h>
#include "kernel/loops.h"
#include "kernel/special.h"
#include "tensor/narrow.h"

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif
#include "kernel/math_int.h"
#include "kernel/convert_int.h"
#include "kernel/reduce_int.h"
#include "kernel/cascade_int.h"
#include "kernel/softmax_int.h"
#include "kernel/softmax_bf16_int.h"
#include "kernel/random_int.h"
#include "kernel/pw_f32_int.h"
#include "kernel/pw_bf16_int.h"

const DtLoops DT_LEVEL(dt_loops) = {
  &DT_LEVEL(dt_pw_f32), &pw_bf16, run_load, run_store, reduce_pass, cascade,
  softmax_line_f32, softmax_line_bf16, random_normal, random_uniform_f32
};

#endif
