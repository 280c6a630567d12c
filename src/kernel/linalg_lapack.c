/* SPDX-License-Identifier: MIT
** kernel/linalg_lapack.c: LAPACK as one table of functions per element type.
** No tensors, no batches.
**
** linalg_type_int.h is written once and included for each type.  Workspaces
** come from the context's allocator: LAPACKE's own would not be counted. */

#include "kernel/linalg_int.h"

#include <lapacke.h>

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

/* Leading dimension of n rows: LAPACK wants at least 1. */
static int ld (int n) { return n > 1 ? n : 1; }

#define CPLX 0
#define QNAME(x) PASTE(or, x##_work)
#define C float complex
#define CMPLXOF(a, b) ((float)(a) + (float)(b) * (float complex)_Complex_I)
#define T float
#define R float
#define F(x) PASTE(LAPACKE_s, x)
#define N(x) PASTE(x, _f32)
#include "kernel/linalg_type_int.h"
#undef C
#undef CMPLXOF
#undef T
#undef R
#undef F
#undef N

#define C double complex
#define CMPLXOF(a, b) ((a) + (b) * _Complex_I)
#define T double
#define R double
#define F(x) PASTE(LAPACKE_d, x)
#define N(x) PASTE(x, _f64)
#include "kernel/linalg_type_int.h"
#undef T
#undef R
#undef F
#undef N
#undef CPLX
#undef QNAME

#define CPLX 1
#define QNAME(x) PASTE(un, x##_work)
#define CONJOF(v) conjf(v)
#define T float complex
#define R float
#define F(x) PASTE(LAPACKE_c, x)
#define N(x) PASTE(x, _c64)
#include "kernel/linalg_type_int.h"
#undef CONJOF
#undef T
#undef R
#undef F
#undef N

#define CONJOF(v) conj(v)
#define T double complex
#define R double
#define F(x) PASTE(LAPACKE_z, x)
#define N(x) PASTE(x, _c128)
#include "kernel/linalg_type_int.h"

const DtLapack *dt_lapack_of (DtDtype t) {
  switch (t) {
    case DT_F32: return &dt_lapack_f32;
    case DT_F64: return &dt_lapack_f64;
    case DT_C64: return &dt_lapack_c64;
    default: return &dt_lapack_c128;
  }
}
