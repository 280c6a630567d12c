/* SPDX-License-Identifier: MIT
** oplib/oplib_int.h: what the family files share: the declarations of all
** operators, shape inference for classes of operators, gradients' and
** kernels' small tools, lists of samples.
**
** Everything here is private to oplib.  Functions are Pure unless they take
** a kernel call (Local) or an emitter (they dispatch operators). */
#ifndef DT_OPLIB_INT_H
#define DT_OPLIB_INT_H

#include "compat/text.h"
#include "kernel/kernel.h"
#include "mesh/layout.h"
#include "op/registry.h"
#include "oplib/ops.h"

/* Operators that another family asks for.  All others are known to ops.c only,
** so that a new one compiles its family and the table. */
extern const DtOpDef dt_op_dot, dt_op_matmul, dt_op_mul_Tensor, dt_op_clamp,
  dt_op_clamp_Tensor, dt_op_clamp_max_Tensor, dt_op_clamp_min_Tensor,
  dt_op_split_with_sizes;

/* ---- promotion ---- */

/* How the result type of a pointwise operator follows from its operands. */
typedef enum OpPromo {
  PK_SAME,              /* the promoted type */
  PK_FLOAT,             /* integers become the default float */
  PK_BOOL,              /* the result is bool, computed in the promoted type */
  PK_REAL,              /* complex becomes its real type (abs) */
  PK_FIRST              /* the first operand's type, no promotion */
} OpPromo;

/* One operand: a tensor (meta, and data in kernels) or a number. */
typedef struct OpOperand {
  const DtMeta *m;              /* NULL: a number, or absent */
  DtTensor *t;                  /* kernels only */
  DtScalar num;
  bool is_num;
} OpOperand;

/* A 0-dim tensor on the stack that holds a number.  Valid while it lives. */
typedef struct OpNumber {
  DtTensor t; DtStorage s; DtBlock b; double data[2];
} OpNumber;
DtTensor *op_number (OpNumber *n, DtScalar v, DtDtype dtype);

/* Type of a number as promotion sees it. */
DtDtype op_number_dtype (DtScalar v);
/* RUNTIME "value cannot be converted to type ... without overflow". */
DtStatus op_number_fits (DtCtx *cx, DtScalar v, DtDtype t);
/* The same of a number that is to fill `out`: into one element of 16 bits
** PyTorch writes it by way of a double. */
DtStatus op_number_fills (DtCtx *cx, DtScalar v, const DtTensor *out);
/* Promote n operands; DT_DTYPE_NONE when PyTorch refuses to. */
DtDtype op_promote (const DtCtx *cx, int n, const OpOperand *o);
void op_promote_all (DtPromote *p, int n, const OpOperand *o);
/* RUNTIME with PyTorch's text when the operands do not promote. */
DtStatus op_promotable (DtCtx *cx, int n, const OpOperand *o);
/* Result and compute type under a kind. */
void op_promo_types (const DtCtx *cx, OpPromo k, int n, const OpOperand *o,
                     DtDtype *ct, DtDtype *rt);
/* Default float type of factories and of integer promotion. */
enum { OP_DEFAULT_FLOAT = DT_F32 };

/* ---- shapes ---- */

/* Broadcast n operands into *out (shape and TensorIterator's strides). */
DtStatus op_broadcast (DtCtx *cx, int n, const OpOperand *o, DtDtype rt,
                       DtMeta *out);
/* Do operands broadcast, as PyTorch's Python decompositions ask it?  Numbers
** and absent ones are passed over.  Errors: SHAPE "Attempting to broadcast a
** dimension of length 3 at -1! ...".  Local. */
DtStatus op_py_broadcast (DtCtx *cx, int n, const OpOperand *o);
/* The same of two; `out` (NULL allowed): what they broadcast to. */
DtStatus op_py_pair (DtCtx *cx, const DtMeta *a, const DtMeta *b,
                     DtMeta *out);

/* Can `s` be expanded to the shape of `o`?  PyTorch's words if not.  Pure. */
DtStatus op_check_expand (DtMetaCall *c, const DtMeta *s, const DtMeta *o);
/* Parameters of a normalisation (NULL: absent) beside an input of dtype t:
** all of its dtype, or all f32 beside 16 bits, as the first one says. */
DtStatus op_mixed_params (DtCtx *cx, DtDtype t, const DtMeta *const *p, int n);
/* New meta of a shape: contiguous, device of `like`. */
DtStatus op_new_meta (DtCtx *cx, DtMeta *m, DtDtype t, int ndim,
                      const int64_t *shape, const DtMeta *like);
/* A factory's result: dtype, device and the like from keywords, the type `dflt`
** where none is given.  Errors: RUNTIME for negative sizes. */
DtStatus op_factory (DtMetaCall *c, DtDtype dflt, int n, const int64_t *shape);
/* out := in with its dim order kept (preserve_format), another dtype. */
void op_like_meta (DtMeta *m, const DtMeta *in, DtDtype t);
/* Meta functions for whole classes. */
DtStatus op_meta_same (DtMetaCall *c);          /* output as input 0 */
DtStatus op_meta_plain (DtMetaCall *c);         /* and contiguous, with data */
DtStatus op_meta_alias (DtMetaCall *c);         /* the same with strides */
DtStatus op_meta_inplace (DtMetaCall *c);       /* the written input */
DtStatus op_meta_scalar (DtMetaCall *c);        /* no tensor output */
/* Dims of argument i as a bit mask (None or [] = all when `empty_all`). */
DtStatus op_dims (DtCtx *cx, const DtArgs *a, int i, int ndim, bool empty_all,
                  uint32_t *mask);
/* A wrapped dim; 0-dim counts as one dim. */
DtStatus op_dim (DtCtx *cx, const DtArgs *a, int i, int ndim, int *out);
/* A range of `n` entries of a dim lies in it; its start is then counted from the
** front.  Errors: INDEX, RUNTIME. */
DtStatus op_range (DtCtx *cx, int64_t size, int64_t n, int64_t *start);
/* m.size(d): is there such a dim?  Local.  Errors: IndexError. */
DtStatus op_has_dim (DtCtx *cx, const DtMeta *m, int d);
/* The shapes of a matrix times a vector, in the words of PyTorch's
** propagation.  Local.  Errors: SHAPE. */
DtStatus op_check_mv (DtCtx *cx, const DtMeta *a, const DtMeta *b);
/* The numbers in arguments 3 and 4 (beta, alpha) as a matrix product of type t
** takes them: halves are counted in float.  Local.  Errors: RUNTIME. */
DtStatus op_k_factors_fit (DtKernelCall *c, DtDtype t);
/* beta * self + alpha * x into the output, where x is already: self is
** broadcast, and not read when beta is 0.  Local.  Errors: RUNTIME for a
** number that the output's type cannot hold. */
DtStatus op_k_combine (DtKernelCall *c, const DtTensor *self, DtScalar beta,
                       DtScalar alpha);
/* out := shape of m without (keepdim: with size 1 at) the dims of mask. */
DtStatus op_reduced (DtCtx *cx, const DtMeta *m, uint32_t mask, bool keepdim,
                     DtDtype t, DtMeta *out);
/* dtype argument i, or `dflt`. */
DtDtype op_dtype_or (const DtArgs *a, int i, DtDtype dflt);
/* "[8, 128]" into a static-size text. */
typedef struct OpText { char s[240]; } OpText;
OpText op_shape_text (const DtMeta *m);
OpText op_ints_text (int n, const int64_t *v);
/* The same as the call's side of PyTorch writes it: "torch.Size([8, 128])"
** where it propagates, which is Python. */
OpText op_size_text (const DtMetaCall *c, const DtMeta *m);
/* Is this the form with out= (whatever its result is called: out, grad_input)?
** Pure. */
bool op_is_out (const DtMetaCall *c);
/* Do index `x` and source `s` (NULL: a number) of a scatter along dim d fit
** input 0?  RUNTIME with PyTorch's text. */
DtStatus op_scatter_fits (DtMetaCall *c, int d, const DtMeta *x,
                          const DtMeta *s);
/* "Float", "Long": names in error texts. */
const char *op_dtype_word (DtDtype t);
/* RUNTIME: an operator of linear algebra was given integers.  `type` as C++ says
** it, or as a meta function does ("torch.int64"), whose class never changed. */
DtStatus op_wants_floats (DtCtx *cx, const char *name, const char *type);
int op_ints (const DtArgs *a, int i, int64_t *out);   /* up to DT_MAX_NDIM */

/* ---- pointwise families ---- */

/* Row of a pointwise operator: kernel function, promotion, number of operands
** and their argument positions, number of parameters and theirs. */
enum { PWR_FN, PWR_PROMO, PWR_N, PWR_ARG, PWR_NPAR = 6, PWR_PAR, PWR_LEN = 11,
       PWR_MAXN = 3 };
DtStatus op_pw_meta (DtMetaCall *c);
DtStatus op_pw_kernel (DtKernelCall *c);
/* What PyTorch refuses before shapes: operands' types, promotion, the
** promoted type `t`. */
DtStatus op_pw_allows (DtCtx *cx, const DtOpDef *op, int n,
                       const OpOperand *o, DtDtype t);
/* What its CPU kernel refuses: NOTIMPL with its text.  `name`: the row of
** "kernel-refuses", NULL = the operator's; `one`: operand 1 has one element. */
DtStatus op_kernel_allows (DtCtx *cx, const DtOpDef *op, const char *name,
                           DtDtype t, bool one);
/* Run kernel function `fn` over the operands, cast as PyTorch does. */
DtStatus op_pw_run (DtCtx *cx, const DtOpDef *op, int fn, DtDtype ct,
                    const DtScalar *p, int n, const OpOperand *o,
                    DtTensor *out);
/* Gather the operands of a pointwise row. */
int op_pw_operands (const DtOpDef *op, const DtArgs *a,
                    const DtMeta *const *in, DtTensor *const *tin,
                    OpOperand *o);

/* ---- kernels' tools ---- */

/* A temporary tensor of this shape; caller unrefs. */
DtStatus op_temp (DtCtx *cx, DtDtype t, int ndim, const int64_t *shape,
                  DtTensor **out);
/* x as a float of type t holds it.  Pure. */
double op_held (DtDtype t, double x);
/* A view of t with other shape and strides; caller unrefs. */
DtStatus op_restride (DtCtx *cx, DtTensor *t, int ndim, const int64_t *shape,
                      const int64_t *stride, int64_t offset, DtTensor **out);
/* Copy input 0 into output 0. */
DtStatus op_k_copy0 (DtKernelCall *c);
/* Random integers of [lo, hi), PyTorch's checks of the range first. */
DtStatus op_randint (DtCtx *cx, DtTensor *dst, DtRng *r, int64_t lo,
                     int64_t hi);
/* Nothing to compute. */
DtStatus op_k_nothing (DtKernelCall *c);

/* ---- words of gradients and decompositions ---- */

/* In a body whose call is `c` (DtGradCall, DtDecompCall): call an operator, the
** gradient of the output, the tensor of argument i, argument i as given. */
#define EMIT(...) dt_emit(c->e, __VA_ARGS__)
#define GOUT (c->gout[0])
#define TENSOR(i) (dt_gin(c, i))
#define ARG(i) (c->args->v[i])

/* ---- gradients' tools (handles; errors stick in the emitter) ---- */

/* Sum g down to the shape of `like` and cast to its type, as autograd does
** with every gradient. */
DtHandle *op_g_sum_to (DtEmit *e, DtHandle *g, const DtMeta *like);
/* The conjugate where `h` is complex (a view), `h` itself elsewhere. */
DtHandle *op_g_conj (DtEmit *e, DtHandle *h);
/* Put a gradient of argument i into gin (NULL allowed). */
void op_g_set (DtGradCall *c, int i, DtHandle *g);
bool op_g_need (const DtGradCall *c, int i);
/* Reduce every gradient to its input's shape. */
DtStatus op_g_finish (DtGradCall *c);

/* The gradient of permute(self, dims): the dims go back. */
DtStatus op_g_permute (DtGradCall *c);
/* The gradient of a p-norm's input `x`: `g` and the norm `o` have the input's dims, those of `mask` (0: all, not named in the call)
** reduced to 1; NULL where it is zero.  Local. */
DtHandle *op_g_norm (DtGradCall *c, DtHandle *x, DtHandle *g, DtHandle *o,
                     double p, uint32_t mask);
/* op(h, argument i) whether that is a tensor or a number. */
DtHandle *op_g_with (DtGradCall *c, const char *op, DtHandle *h, int i);
DtHandle *op_g_arg_with (DtGradCall *c, const char *op, int i, DtHandle *h);
/* mul.Scalar unless the number is 1. */
DtHandle *op_g_scale (DtGradCall *c, DtHandle *g, int i);
/* Is the call a form with a number (overload "Scalar...")? */
bool op_is_scalar_form (const DtOpDef *op);
DtStatus op_g_zeros (DtGradCall *c);            /* zeros_like for input 0 */
/* The gradient of the larger or smaller of `a` and `b`: half of it to each side
** where they are equal; the second also leaves it out where `loses`. */
DtHandle *op_g_halved_at_ties (DtGradCall *c, DtHandle *a, DtHandle *b);
DtHandle *op_g_where_not (DtGradCall *c, DtHandle *loses, DtHandle *a,
                          DtHandle *b);
/* Insert dims at the places of a reduction (unless keepdim). */
DtHandle *op_g_unsqueeze (DtEmit *e, DtHandle *g, int ndim, uint32_t mask,
                          bool keepdim, bool all);
DtHandle *op_g_expand (DtEmit *e, DtHandle *g, const DtMeta *like);
DtHandle *op_e_scalar (DtEmit *e, double v, const DtMeta *like);
/* reshape as autograd sees it: a view where strides allow, else a copy. */
DtHandle *op_e_reshape (DtEmit *e, DtHandle *h, int n, const int64_t *want);

/* ---- what attention kernels rely on (op_attention.c) ---- */

/* Four-dimensional q, k, v of one call.  RUNTIME naming the operator. */
DtStatus op_attention_heads (DtCtx *cx, const char *op, const DtMeta *q,
                             const DtMeta *k, const DtMeta *v);
/* The bias (NULL allowed) broadcasts to the scores. */
DtStatus op_attention_bias (DtCtx *cx, const DtMeta *bias, const DtMeta *q,
                            const DtMeta *k);
/* A saved tensor of shape (B, H, L[, last]); `padded`: at least L. */
DtStatus op_attention_saved (DtCtx *cx, const char *op, const char *name,
                             const DtMeta *m, const DtMeta *q, int64_t last,
                             bool padded);

/* ---- decompositions as text (op_program.c) ---- */

/* Run a program on the operator's arguments. */
DtStatus op_program (DtDecompCall *c, const char *program);
/* Run the definition's own. */
DtStatus op_d_program (DtDecompCall *c);
/* The same for a gradient: runs the operator's `backward`. */
DtStatus op_g_program (DtGradCall *c);

/* ---- strategies' tools ---- */

enum { OP_MAXPL = DT_MAX_MDIM };
/* Follow input 0: partials (when `no_partial`) and shards on the dims of
** `mask` become Replicate; `out` = `in`. */
void op_s_follow (const DtStratCall *c, int slot, uint32_t mask,
                  bool no_partial, DtPlacement *pl);
/* One candidate whose outputs all have the same placements. */
DtStatus op_s_one (DtStratCall *c, const DtPlacement *out,
                   const DtPlacement *in, double cost);
/* Candidates from rows on one mesh dim (outputs, then inputs; fixed
** placements), expanded over the mesh as expand_to_full_mesh_op_strategy. */
enum { OP_ROW_MAX = 24 };
DtStatus op_s_rows (DtStratCall *c, int nrows, const DtPlacement *rows,
                    bool inplace);

/* nll_loss and nll_loss2d, their gradients (op_loss.c). */
DtStatus op_nll_strategy (DtStratCall *c);
DtStatus op_nll_back_strategy (DtStratCall *c);

/* ---- local rewriting of shape arguments (shard/prop.h) ---- */

/* Replace int-list argument i by the local shape of output 0 when sharded. */
DtStatus op_rw_shape (DtRewriteCall *c, int i);
DtStatus op_rw_shape1 (DtRewriteCall *c);       /* argument 1 */
DtStatus op_rw_set_ints (DtRewriteCall *c, int i, int n, const int64_t *v);

/* ---- view algebra (view_map.c) ---- */

typedef enum OpViewKind {
  OV_INPUT,             /* in[0] */
  OV_SINGLETON, OV_NEW,
  OV_BROADCAST,         /* of in[0] (nin 1) or of nothing */
  OV_REPEAT,            /* in[0], several times */
  OV_FLATTEN,           /* in[0..nin-1] joined */
  OV_SPLIT              /* member `id` of `group`, a split of in[] joined */
} OpViewKind;
/* One output dim as a function of input dims. */
typedef struct OpView {
  uint8_t kind;
  int8_t nin, in[DT_MAX_NDIM];
  int8_t ngroup, id;
  int64_t group[DT_MAX_NDIM];
} OpView;
typedef struct OpViewMap { int n; OpView v[DT_MAX_NDIM]; } OpViewMap;
/* Append one output dim. */
void op_vm_add (OpViewMap *m, OpViewKind k, int in);
/* view_groups: from one shape to another. */
DtStatus op_vm_groups (DtCtx *cx, int nf, const int64_t *from, int nt,
                       const int64_t *to, OpViewMap *m);
/* Candidate of a view: propagate input 0 through the map. */
DtStatus op_vm_strategy (DtStratCall *c, const OpViewMap *m, bool strict);
/* Infer one -1 of a shape.  RUNTIME with PyTorch's text. */
DtStatus op_infer_size (DtCtx *cx, int64_t numel, int n, int64_t *shape);
/* Strides of a view, false when a copy is needed. */
bool op_view_strides (const DtMeta *m, int n, const int64_t *shape,
                      int64_t *stride);

/* ---- kernels shared by families ---- */
/* aten.frexp and prims.frexp: mantissa and exponent; one may be unwanted. */
DtStatus op_frexp_kernel (DtKernelCall *c);
/* f(a, b) of two tensors that broadcast, computed in type t with parameters p
** (or NULL), then summed or averaged over all into output 0 of type `to`. */
DtStatus op_reduced_binary (DtKernelCall *c, DtBinary f, DtDtype t, DtDtype to,
                            const DtScalar *p, DtTensor *a, DtTensor *b,
                            DtReduce how);

/* ---- samples shared by families ---- */
extern const char *const op_samples_unary[];
extern const char *const op_samples_binary[];
extern const char *const op_samples_int_unary[];
extern const char *const op_samples_int_binary[];

#endif
