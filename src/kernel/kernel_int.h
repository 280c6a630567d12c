/* SPDX-License-Identifier: MIT
** kernel/kernel_int.h: what the kernels share: compute classes, conversion of
** runs of elements, pointwise rows.
**
** Every dtype is computed in one of four classes: f32 (also f16, bf16, f8),
** f64, i64 (all integers and bool, wrapped when stored) and c128.  A kernel
** is written for classes; runs of elements are converted on the way in and
** out, in blocks that stay in the first-level cache, unless they already have
** the class's type.  Adding a dtype touches convert.c only. */
#ifndef DT_KERNEL_KERNEL_INT_H
#define DT_KERNEL_KERNEL_INT_H

#include <complex.h>
#include "kernel/kernel.h"
#include "tensor/iter.h"

typedef double complex DtC128;
#ifndef CMPLX                   /* C11's, which some headers give gcc only */
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif

typedef enum DtClass { DT_CL_F32, DT_CL_F64, DT_CL_I64, DT_CL_C128 } DtClass;

/* Bytes of a conversion buffer; elements of it per class. */
enum { DT_RUN_BYTES = 4096 };

/* Class a dtype is computed in; bytes of its elements; is `t` stored exactly
** as the class is?  Pure. */
DtClass dt_class_of (DtDtype t);
size_t dt_class_size (DtClass c);
bool dt_class_is_native (DtClass c, DtDtype t);

/* dst[0..n) of class `c` = elements of type `t` at src, src+stride...
** (stride in bytes).  Local. */
void dt_run_load (DtClass c, void *dst, DtDtype t, const void *src,
                  int64_t stride, int64_t n);
/* Elements of type `t` at dst, dst+stride... = src[0..n) of class `c`. */
void dt_run_store (DtClass c, const void *src, DtDtype t, void *dst,
                   int64_t stride, int64_t n);
/* n elements of `size` bytes, both sides strided (in bytes); no overlap. */
void dt_run_move (size_t size, void *dst, int64_t dstride, const void *src,
                  int64_t sstride, int64_t n);

/* A scalar as an element of a class. */
void dt_class_put (DtClass c, void *dst, DtScalar v);

/* Does an operand spread over a result of this shape?  Local.  Errors: SHAPE
** with PyTorch's text about the two sizes. */
DtStatus dt_kernel_fits (DtCtx *cx, const DtMeta *m, const DtMeta *out);
/* Data pointers: `out` for writing (taken out of sharing first), inputs for
** reading.  META_NO_DATA, NOMEM. */
DtStatus dt_kernel_data (DtCtx *cx, DtTensor *out, void **data, int nin,
                         const DtTensor *const *in, const void **cdata);
/* The product over `dims` into an output of f16 or bf16, rounded after each
** factor in PyTorch's order.  Local.  Errors: META_NO_DATA, NOMEM. */
DtStatus dt_k_product_narrow (DtCtx *cx, const DtTensor *a, uint32_t dims,
                              DtTensor *out);
/* Is this reduction one of dt_cascade_sum's?  Pure. */
bool dt_cascades (DtReduce f, DtDtype in, DtDtype out);
/* A sum or mean of f32 or f64, to the bit as PyTorch's.  Local.  Errors:
** META_NO_DATA, NOMEM. */
DtStatus dt_cascade_sum (DtCtx *cx, DtReduce f, const DtTensor *a,
                         uint32_t dims, DtTensor *out);
/* A contiguous tensor of `dtype` with the values of `t`: `t` itself with a
** new reference when it is one already.  Caller owns a reference. */
DtStatus dt_kernel_dense (DtCtx *cx, const DtTensor *t, DtDtype dtype,
                          DtTensor **out);

/* ---- lines along one dim -------------------------------------------------- */

/* Walks the lines along dim `dim` of operands of one shape (their sizes along
** `dim` may differ).  p[k] is the start of operand k's line, stride[k] its
** step in bytes, len[k] its length.  A 0-dim operand is one line of one
** element.  Use: for (; !l.done; dt_lines_next(&l)). */
typedef struct DtLines {
  DtIter it;
  int64_t i;                            /* within the iterator's run */
  char *p[DT_ITER_MAX];
  int64_t stride[DT_ITER_MAX], len[DT_ITER_MAX];
  bool done;
} DtLines;
void dt_lines_init (DtLines *l, int nops, const DtMeta *const *metas,
                    void *const *data, int dim);
void dt_lines_next (DtLines *l);

/* A view of `t` on the stack: same storage, its meta to be changed by the
** caller.  Valid while `t` is; never unref'd. */
DtTensor dt_stack_view (const DtTensor *t);
/* Narrow a stack view along dim, or drop the dim at position i.  Pure. */
void dt_stack_narrow (DtTensor *v, int dim, int64_t start, int64_t len);
void dt_stack_select (DtTensor *v, int dim, int64_t i);

/* ---- sums ------------------------------------------------------------------ */

/* Sum of n doubles in the kernels' fixed order.  Pure. */
double dt_sum_f64 (const double *v, int64_t n);

/* A dense f64 tensor of the shape of `t`, its memory not set, and its elements
** in *v (NULL: it has none).  The caller unrefs.  NOMEM. */
DtStatus dt_f64_like (DtCtx *cx, const DtTensor *t, DtTensor **out,
                      double **v);

/* ---- pointwise rows ------------------------------------------------------ */

typedef void (*DtPwFn) (int64_t n, void *out, const void *const *in,
                        const void *params, int kb);

enum { DT_DOM_F = 1, DT_DOM_I = 2, DT_DOM_Z = 4, DT_DOM_V = 8,
       DT_DOM_FI = 3, DT_DOM_FZ = 5, DT_DOM_FIZ = 7, DT_DOM_FIV = 11 };

typedef struct DtPwTable {
  const DtPwFn *unary, *binary, *ternary;
} DtPwTable;
extern const DtPwTable dt_pw_f64, dt_pw_i64, dt_pw_c128;

/* Vectorise: operands are equal or disjoint, never shifted. */
#if defined(__clang__)
#define DT_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define DT_IVDEP _Pragma("GCC ivdep")
#else
#define DT_IVDEP
#endif

#endif
