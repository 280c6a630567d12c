/* SPDX-License-Identifier: MIT
** kernel/loops_v3.c: the loops for processors with AVX2 and FMA; the Makefile
** gives this file their flags. */

#define DT_LEVEL(name) name##_v3
#include "kernel/loops_int.h"
