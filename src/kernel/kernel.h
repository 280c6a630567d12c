/* SPDX-License-Identifier: MIT
** kernel/kernel.h: arithmetic on local tensors.  No placement, no mesh, no
** allocation of results: outputs arrive allocated with the right shape; any
** strides are accepted everywhere.  Inputs may have another dtype than the
** output: kernels convert as PyTorch does (compute in the output's type or
** its accumulation type).  All functions are Local, check nothing the meta
** function has checked, and fail only with NOMEM, INTERRUPTED or RUNTIME.
** Results are bit-stable: the same on every rank and in every world. */
#ifndef DT_KERNEL_KERNEL_H
#define DT_KERNEL_KERNEL_H

#include "tensor/tensor.h"
#include "tensor/redop.h"
#include "base/rng.h"

/* Pointwise functions of one operand.  Rows: X(NAME, "aten name", float expr
** of double x, ...) in pw_unary.def; one row adds a function. */
typedef enum DtUnary {
#define X(name, ...) DT_U_##name,
#include "kernel/pw_unary.def"
#undef X
  DT_NUNARY
} DtUnary;

/* Pointwise functions of two operands, in pw_binary.def. */
typedef enum DtBinary {
#define X(name, ...) DT_B_##name,
#include "kernel/pw_binary.def"
#undef X
  DT_NBINARY
} DtBinary;

/* Pointwise functions of three operands, in pw_ternary.def (where, lerp,
** addcmul, addcdiv, clamp...). */
typedef enum DtTernary {
#define X(name, ...) DT_T3_##name,
#include "kernel/pw_ternary.def"
#undef X
  DT_NTERNARY
} DtTernary;

/* out = f(a; p[0..3]).  Computed in `ct` (a dtype; comparisons and integer
** functions compute in the promoted type and write bool/int). */
DtStatus dt_k_unary (DtCtx *cx, DtUnary f, DtDtype ct, const DtScalar *p,
                     const DtTensor *a, DtTensor *out);
DtStatus dt_k_binary (DtCtx *cx, DtBinary f, DtDtype ct, const DtScalar *p,
                      const DtTensor *a, const DtTensor *b, DtTensor *out);
/* Has function `f` of n operands an expression for compute type `ct`?  Pure. */
bool dt_k_computes (int n, int f, DtDtype ct);
DtStatus dt_k_ternary (DtCtx *cx, DtTernary f, DtDtype ct, const DtScalar *p,
                       const DtTensor *a, const DtTensor *b,
                       const DtTensor *c, DtTensor *out);

/* dst = src converted to dst's dtype; src broadcasts.  Overlap-safe. */
DtStatus dt_k_copy (DtCtx *cx, const DtTensor *src, DtTensor *dst);
/* A tensor without marks (tensor.h) and the elements of `t`; copies know
** marks, other kernels do not.  NOMEM. */
DtStatus dt_kernel_resolved (DtCtx *cx, const DtTensor *t, DtTensor **out);
DtStatus dt_k_fill (DtCtx *cx, DtTensor *dst, DtScalar v);
DtStatus dt_k_arange (DtCtx *cx, DtTensor *dst, DtScalar start, DtScalar step);
DtStatus dt_k_eye (DtCtx *cx, DtTensor *dst);
/* Keep the lower (upper) triangle, zero elsewhere; `diag` as torch.tril. */
DtStatus dt_k_tri (DtCtx *cx, const DtTensor *a, int64_t diag, bool upper,
                   DtTensor *out);
/* Random fill: the next numbers of `r`, which moves on.  Of a counter-based
** generator element i is a function of r->seed, r->offset and i. */
DtStatus dt_k_uniform (DtCtx *cx, DtTensor *dst, DtRng *r, double lo,
                       double hi);
DtStatus dt_k_normal (DtCtx *cx, DtTensor *dst, DtRng *r, double mean,
                      double std);
DtStatus dt_k_bernoulli (DtCtx *cx, DtTensor *dst, DtRng *r, double p);
/* Other distributions: exponential (a = rate), geometric (a = probability),
** log-normal (a, b = mean and deviation of the logarithm), Cauchy (a, b =
** median and scale); a word of 32 bits modulo a. */
typedef enum DtRandom {
  DT_RND_EXPONENTIAL, DT_RND_GEOMETRIC, DT_RND_LOG_NORMAL, DT_RND_CAUCHY,
  DT_RND_WORD
} DtRandom;
DtStatus dt_k_random (DtCtx *cx, DtRandom kind, DtTensor *dst, DtRng *r,
                      double a, double b);
DtStatus dt_k_randint (DtCtx *cx, DtTensor *dst, DtRng *r, int64_t lo,
                       int64_t hi);
/* Random counts whose means are the elements of `a`, of dst's shape.  RUNTIME
** for a mean below 0. */
DtStatus dt_k_poisson (DtCtx *cx, const DtTensor *a, DtTensor *dst, DtRng *r);

typedef enum DtReduce {
  DT_RED_SUM, DT_RED_PROD, DT_RED_MEAN, DT_RED_MAX, DT_RED_MIN, DT_RED_ANY,
  DT_RED_ALL, DT_RED_NORM,      /* p[0] = order */
  DT_RED_VAR, DT_RED_STD,       /* p[0] = correction */
  DT_RED_LOGSUMEXP, DT_RED_NANSUM, DT_RED_COUNT_NONZERO, DT_RED_SUMSQ,
  DT_NREDUCE
} DtReduce;
/* Reduce the dims whose bit is set in `dims`; `out` has those dims kept with
** size 1 or removed (both accepted).  Sums are in a fixed order, those and
** means of f32 and f64 in PyTorch's. */
DtStatus dt_k_reduce (DtCtx *cx, DtReduce f, const DtScalar *p,
                      const DtTensor *a, uint32_t dims, DtTensor *out);
/* Value and index of the extreme along `dim` (either output may be NULL);
** first index on ties, NaN wins.  dim -1: flattened. */
DtStatus dt_k_arg_reduce (DtCtx *cx, bool max, const DtTensor *a, int dim,
                          DtTensor *value, DtTensor *index);
typedef enum DtScan {
  DT_SCAN_SUM, DT_SCAN_PROD, DT_SCAN_MAX, DT_SCAN_MIN, DT_SCAN_LOGSUMEXP
} DtScan;
/* Running value along `dim`; `index` only for MAX and MIN. */
DtStatus dt_k_scan (DtCtx *cx, DtScan f, const DtTensor *a, int dim,
                    DtTensor *value, DtTensor *index);
DtStatus dt_k_sort (DtCtx *cx, const DtTensor *a, int dim, bool descending,
                    bool stable, DtTensor *value, DtTensor *index);
DtStatus dt_k_topk (DtCtx *cx, const DtTensor *a, int64_t k, int dim,
                    bool largest, DtTensor *value, DtTensor *index);

/* One element of each line along `dim` (-1: flattened), and its place; either
** output may be NULL.  KTH: the k-th smallest, from 0.  Nothing is written for
** lines without elements. */
typedef enum DtPick {
  DT_PICK_MEDIAN, DT_PICK_NANMEDIAN, DT_PICK_KTH, DT_PICK_MODE
} DtPick;
DtStatus dt_k_order_stat (DtCtx *cx, DtPick f, int64_t k, const DtTensor *a, int dim,
                    DtTensor *value, DtTensor *index);
/* Counts of elements of `a` in the equal bins of [lo, hi]; out is 1-D.
** RUNTIME when the bounds are no numbers; lo == hi: those of the data. */
DtStatus dt_k_histc (DtCtx *cx, const DtTensor *a, double lo, double hi,
                     DtTensor *out);
/* Where each value stands among sorted `bounds`: 1-D, or of the values' shape
** but for the last dim.  `right`: after equal ones.  `order` (NULL allowed)
** are indices that sort the bounds. */
DtStatus dt_k_bucket (DtCtx *cx, const DtTensor *values, const DtTensor *bounds,
                      const DtTensor *order, bool right, DtTensor *out);

/* One BLAS thread for each caller from now on: ranks share the machine, and
** the bits must not depend on how many cores it has.  And the kernels for this
** processor, where OpenBLAS does not know it.  Once per process, before ranks
** start.  Local. */
void dt_k_gemm_one_thread (void);
/* out[b] = beta * out[b] + alpha * a[b] @ b[b] for 2-D or 3-D (batched)
** operands of one dtype; OpenBLAS for f32/f64, f32 accumulation for f16 and
** bf16 (rounded once), integers exactly.  beta == 0 does not read out. */
DtStatus dt_k_gemm (DtCtx *cx, double alpha, const DtTensor *a,
                    const DtTensor *b, double beta, DtTensor *out);

/* softmax / log_softmax along dim, and their gradients from the output. */
DtStatus dt_k_softmax (DtCtx *cx, bool log, const DtTensor *a, int dim,
                       DtTensor *out);
DtStatus dt_k_softmax_backward (DtCtx *cx, bool log, const DtTensor *grad,
                                const DtTensor *output, int dim,
                                DtTensor *out);
/* What scales and shifts normalised elements; weight and bias may be NULL. */
typedef struct DtAffine {
  const DtTensor *weight, *bias;
  double eps;                   /* added to the variance */
} DtAffine;
/* What a norm gives out; mean and rstd NULL: not wanted. */
typedef struct DtNormed { DtTensor *out, *mean, *rstd; } DtNormed;
/* What the backward of a norm reads beside the gradient: its input, what it
** saved and its weight (NULL: none). */
typedef struct DtNormSaved {
  const DtTensor *a, *mean, *rstd, *weight;
} DtNormSaved;
/* Where the gradients of a norm go, NULL when not wanted. */
typedef struct DtNormGrads { DtTensor *in, *weight, *bias; } DtNormGrads;
/* Layer norm over the last `k` dims; mean, rstd have size 1 there.  rms: no
** mean, no bias. */
DtStatus dt_k_layer_norm (DtCtx *cx, bool rms, const DtTensor *a, int k,
                          const DtAffine *scale, const DtNormed *to);
DtStatus dt_k_layer_norm_backward (DtCtx *cx, bool rms, const DtTensor *grad,
                                   const DtNormSaved *x, int k,
                                   const DtNormGrads *to);

/* Batch norm of a [samples, channels, ...].  `train`: statistics of the batch,
** given out in mean and rstd (tensors of another size are left alone), and
** new_* = running_* moved by momentum (NULL: not); else running_* are used. */
typedef struct DtBatchNorm {
  const DtTensor *a, *weight, *bias;            /* weight, bias: NULL allowed */
  const DtTensor *running_mean, *running_var;
  DtTensor *new_mean, *new_var;                 /* may be running_* */
  bool train;
  double momentum, eps;
  DtTensor *out, *mean, *rstd;
} DtBatchNorm;
DtStatus dt_k_batch_norm (DtCtx *cx, const DtBatchNorm *p);
/* Its gradients.  mean and rstd of `x` are those saved by a training pass, the
** running mean and variance otherwise. */
DtStatus dt_k_batch_norm_backward (DtCtx *cx, const DtTensor *grad,
                                   const DtNormSaved *x, bool train, double eps,
                                   const DtNormGrads *to);
/* How group norm sees its input: samples, channels, length of a channel, and in
** how many groups the channels are. */
typedef struct DtGroups { int64_t n, c, l, groups; } DtGroups;
DtStatus dt_k_group_norm (DtCtx *cx, const DtTensor *a, const DtGroups *g,
                          const DtAffine *scale, const DtNormed *to);
DtStatus dt_k_group_norm_backward (DtCtx *cx, const DtTensor *grad,
                                   const DtNormSaved *x, const DtGroups *g,
                                   const DtNormGrads *to);

/* Indexing.  Indices are i64 or i32; INDEX error with PyTorch's text when out
** of range. */
DtStatus dt_k_gather (DtCtx *cx, const DtTensor *a, int dim,
                      const DtTensor *index, DtTensor *out);
typedef enum DtScatter { DT_SC_SET, DT_SC_ADD, DT_SC_MUL, DT_SC_MAX,
                         DT_SC_MIN } DtScatter;
/* dst (already holding self) at index along dim op= src. */
DtStatus dt_k_scatter (DtCtx *cx, DtScatter f, DtTensor *dst, int dim,
                       const DtTensor *index, const DtTensor *src);
DtStatus dt_k_index_select (DtCtx *cx, const DtTensor *a, int dim,
                            const DtTensor *index, DtTensor *out);
DtStatus dt_k_index_add (DtCtx *cx, DtTensor *dst, int dim,
                         const DtTensor *index, const DtTensor *src,
                         DtScalar alpha);
/* Advanced indexing: `index[d]` NULL = ':'; `at` = position of the block of
** broadcast index dims in the output (as the meta function computed). */
DtStatus dt_k_index (DtCtx *cx, const DtTensor *a, int nindex,
                     const DtTensor *const *index, int at, DtTensor *out);
DtStatus dt_k_index_put (DtCtx *cx, DtTensor *dst, int nindex,
                         const DtTensor *const *index, int at,
                         const DtTensor *values, bool accumulate);
/* Places of the elements that are not 0 (NaN is not), in row-major order:
** out is (count, ndim of a), i64, the count as DT_RED_COUNT_NONZERO gives it.
** Column d is what indexing by a mask uses as index[d]. */
DtStatus dt_k_nonzero (DtCtx *cx, const DtTensor *a, DtTensor *out);
/* Concatenate along dim; outputs hold the sum of sizes. */
DtStatus dt_k_cat (DtCtx *cx, int n, const DtTensor *const *in, int dim,
                   DtTensor *out);
DtStatus dt_k_embedding_backward (DtCtx *cx, const DtTensor *grad,
                                  const DtTensor *index, int64_t padding_idx,
                                  bool scale_by_freq, DtTensor *out);
/* How what is there is reduced with what comes. */
typedef struct DtReduceHow {
  DtScatter f;
  bool mean;                    /* f is ADD; the sum divided by how many */
  bool self;                    /* what was there counts */
} DtReduceHow;
/* Slices of dst at the indices overwritten by a value, by the slices of src, or
** reduced with them.  Negative indices count from the end in fill only. */
DtStatus dt_k_index_fill (DtCtx *cx, DtTensor *dst, int dim,
                          const DtTensor *index, const DtTensor *value);
DtStatus dt_k_index_copy (DtCtx *cx, DtTensor *dst, int dim,
                          const DtTensor *index, const DtTensor *src);
DtStatus dt_k_index_reduce (DtCtx *cx, DtReduceHow how, DtTensor *dst, int dim,
                            const DtTensor *index, const DtTensor *src);
/* The same by elements, as scatter. */
DtStatus dt_k_scatter_reduce (DtCtx *cx, DtReduceHow how, DtTensor *dst,
                              int dim, const DtTensor *index,
                              const DtTensor *src);
/* How many elements are not 0. */
int64_t dt_k_count_true (const DtTensor *mask);
/* Elements of contiguous `a` where `mask` (of its shape) is true: taken into
** `dense` in order (gather), or given from it. */
DtStatus dt_k_masked_move (DtCtx *cx, DtTensor *a, const DtTensor *mask,
                           DtTensor *dense, bool gather);
DtStatus dt_k_constant_pad (DtCtx *cx, const DtTensor *a, int npad,
                            const int64_t *pad, DtScalar value,
                            DtTensor *out);
DtStatus dt_k_flip (DtCtx *cx, const DtTensor *a, uint32_t dims,
                    DtTensor *out);
DtStatus dt_k_roll (DtCtx *cx, const DtTensor *a, int n, const int64_t *shift,
                    const int64_t *dims, DtTensor *out);

/* What attention reads; `bias` may be NULL, a bool one keeps where true. */
typedef struct DtAttention {
  const DtTensor *q, *k, *v, *bias;
  bool causal;
  double scale;
} DtAttention;
/* out = softmax(q k^T * scale + bias) v, per batch and head; `lse` may be NULL. */
DtStatus dt_k_attention (DtCtx *cx, const DtAttention *p, DtTensor *out,
                         DtTensor *lse);
/* Its gradients for q, k and v; `out` and `lse` are its outputs. */
DtStatus dt_k_attention_backward (DtCtx *cx, const DtAttention *p,
                                  const DtTensor *dout, const DtTensor *out,
                                  const DtTensor *lse, DtTensor *const *dqkv);

/* Reduction of buffers, one rank after the other: the one order used by every
** world (comm/order.c). */
/* acc[i] = acc[i] (op) x[i]; AVG adds (the caller divides at the end). */
void dt_k_accumulate (DtRedOp op, DtDtype t, void *acc, const void *x,
                      int64_t n);
/* acc[i] /= n, for AVG. */
void dt_k_scale_avg (DtDtype t, void *acc, int64_t count, int64_t n);

#endif
