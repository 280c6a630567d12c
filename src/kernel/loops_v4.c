/* SPDX-License-Identifier: MIT
** kernel/loops_v4.c: the loops for processors with AVX-512; the Makefile
** gives this file their flags. */

#define DT_LEVEL(name) name##_v4
#include "kernel/loops_int.h"
