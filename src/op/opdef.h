/* SPDX-License-Identifier: MIT
** op/opdef.h: struct DtOpDef: everything about one operator overload.
**
** To add an operator: write one DtOpDef in its family file oplib/op_X.c and one
** block in the text op_X.ops beside it.  Binding, help, completion, validators,
** docs follow.  The struct is code and schema; the text has all other facts:
** forms (in-place, out=, foreach, Scalar), which are not written but derived from
** their base (variant.c), what autograd keeps, refused types, releases, rulings. */
#ifndef DT_OP_OPDEF_H
#define DT_OP_OPDEF_H

#include "base/rng.h"
#include "mesh/spec.h"
#include "op/emit.h"
#include "op/refuse.h"
#include "op/rows.h"
#include "op/saved.h"

typedef struct DtOpDef DtOpDef;

enum { DT_MAX_OUTS = 512 };

/* Shape inference.  Inputs by slot; fill out[0..]. */
typedef struct DtMetaCall {
  DtCtx *cx;
  const DtOpDef *op;
  const DtArgs *args;
  int nin; const DtMeta *const *in;     /* by slot; entries never NULL */
  int nout;                             /* set by the function for Tensor[] */
  int maxout;
  DtMeta *out;                          /* maxout entries */
  bool *none;                           /* output i is None */
  int64_t *offset;                      /* views: offset relative to input's,
                                        ** in elements */
  bool fake;                            /* propagation: errors with the texts
                                        ** of PyTorch's meta functions */
} DtMetaCall;
typedef DtStatus (*DtMetaFn) (DtMetaCall *c);

/* Local arithmetic.  Outputs are allocated as meta said (views are not
** computed at all).  In-place forms: out[0] == in[0]'s storage; derived by
** the engine unless DT_OP_INPLACE_SAFE is missing (then via a temporary). */
typedef struct DtKernelCall {
  DtCtx *cx;
  const DtOpDef *op;
  const DtArgs *args;
  int nin; DtTensor *const *in;         /* by slot */
  int nout; DtTensor *const *out;       /* NULL where None */
  DtValue *ret;                         /* non-tensor result (item, equal) */
  DtRng *rng;                           /* random ops; advance ->offset */
  DtTensor **made;                      /* DATADEP: results the kernel makes,
                                        ** one reference each; out is NULL */
} DtKernelCall;
typedef DtStatus (*DtKernelFn) (DtKernelCall *c);

/* Rules on one mesh dimension that depend on arguments.  Tensors appear only
** as metas.  Rows have c->rows.nout outputs and nin inputs. */
typedef struct DtRuleCall {
  DtCtx *cx;
  const DtOpDef *op;
  const DtArgs *args;
  int nin; const DtMeta *const *in;     /* by slot, global */
  int nout; const DtMeta *out; const bool *none;
  DtRows *rows;
} DtRuleCall;
typedef DtStatus (*DtRuleFn) (DtRuleCall *c);

/* Strategies over the whole mesh, for operators PyTorch writes by hand. */
typedef struct DtStratCall {
  DtCtx *cx;
  const DtOpDef *op;
  const DtArgs *args;
  int nin; const DtSpec *const *in;     /* by slot */
  int nout; const DtMeta *out; const bool *none;
  const DtMesh *mesh;
  void *sink;                           /* dt_strat_add() */
  int views;                            /* DtViewRules of the release */
} DtStratCall;
/* What strict views did in earlier releases; 0 in the last.  The values of
** the switches VIEW_REPLICATES, VIEW_FLATTEN_REFUSED. */
typedef enum DtViewRules {
  DT_VIEWS_REPLICATE = 1, DT_VIEWS_NO_FLATTEN = 2
} DtViewRules;
typedef DtStatus (*DtStratFn) (DtStratCall *c);
/* Add a candidate: `out` nout x mesh->ndim placements (row i = output i),
** `in` nin x ndim or NULL (inputs as they are).  `cost` < 0 or >= 0 forces
** the cost per input list to that single number; NAN = compute from
** redistribution; -INFINITY = "no cost set" (counts 0).  `npl` = mesh->ndim.  Local. */
DtStatus dt_strat_add (DtStratCall *c, const DtPlacement *out,
                       const DtPlacement *in, double cost);
/* Candidates added from now on build specs whose _S are real strides (flag
** false; views), not a shard order.  Local. */
void dt_strat_real_strides (DtStratCall *c);
/* PyTorch's text for an error of the strategy itself goes through dt_raise. */

/* May a candidate over the whole mesh stand?  Asked last, of rows. */
typedef struct DtFilterCall {
  DtCtx *cx;
  const DtOpDef *op;
  const DtArgs *args;
  const DtMesh *mesh;
  int nin; const DtSpec *const *in;     /* by slot: as the call has them */
  const DtPlacement *want;              /* nin x mesh->ndim: the candidate's */
  bool ok;                              /* set it false to drop it */
} DtFilterCall;
typedef DtStatus (*DtFilterFn) (DtFilterCall *c);

/* After a strategy is chosen: replace arguments for the local call. */
typedef struct DtRewriteCall {
  DtCtx *cx; DtArena *arena;
  const DtOpDef *op;            /* may be replaced (squeeze -> squeeze.dims) */
  DtArgs *args;                 /* copy, to be changed */
  int nin; const DtSpec *const *in;     /* chosen input specs */
  int nout; DtSpec *const *out;         /* output specs, NULL where None */
  bool changed;                 /* set it when anything was rewritten */
} DtRewriteCall;
typedef DtStatus (*DtRewriteFn) (DtRewriteCall *c);

/* A decomposition: calls operators, returns outputs. */
typedef struct DtDecompCall {
  DtEmit *e;
  const DtOpDef *op;
  const DtArgs *args;
  int nin; DtHandle *const *in;         /* by slot */
  DtHandle **out; int maxout; int nout; /* results */
} DtDecompCall;
typedef DtStatus (*DtDecompFn) (DtDecompCall *c);

/* What an operator's sharding is from release `since` on (compat/release.h):
** it takes the place of the definition's own; all else (kernel, metas,
** gradient, samples) stays.  In order of names, several of one by `since`.
** Flags: DT_OP_UNEVEN, DT_OP_NARROW, DT_OP_WIDEN, DT_OP_LATER, DT_OP_LATEST. */
typedef struct DtRuling {
  const char *op;               /* "aten.clone.default" */
  int since;
  uint32_t flags;
  const char *const *rules;     /* or rulefn; neither: the definition's
                                ** own, with the flags added */
  DtRuleFn rulefn;
  DtFilterFn filter;
  DtDecompFn decomp;            /* NULL: the definition's */
} DtRuling;

/* A gradient: from grads of outputs (NULL = none) to grads of inputs by slot;
** need[slot] says which are wanted. */
typedef struct DtGradCall {
  DtEmit *e;
  const DtOpDef *op;
  const DtArgs *args;
  int nin; DtHandle *const *in;         /* saved inputs by slot */
  int nout; DtHandle *const *out;       /* saved outputs */
  DtHandle *const *gout;                /* nout */
  const bool *need;                     /* nin */
  DtHandle **gin;                       /* nin, to be filled */
} DtGradCall;
typedef DtStatus (*DtGradFn) (DtGradCall *c);

/* Sample inputs for every validator.  One line each, in the notation
** of captured cases: "f32[8, 6], f32[6, 4]", "f32[7, 5], dim=0",
** "[f32[2], f32[3]], 1".  Values are made by the validator. */
typedef const char *const *DtSamples;

enum {                                   /* flags */
  DT_OP_POINTWISE   = 1 << 0,   /* rules of shard/pointwise.c */
  DT_OP_UNEVEN      = 1 << 1,   /* allow_uneven_sharding */
  DT_OP_VIEW        = 1 << 2,   /* outputs alias input 0: meta is enough */
  DT_OP_COMPOSITE   = 1 << 3,   /* CompositeImplicit: decomposed above
                                ** autograd (unless inference mode) */
  DT_OP_RANDOM      = 1 << 4,
  DT_OP_INPLACE     = 1 << 5,   /* writes input 0 */
  DT_OP_OUT         = 1 << 6,
  DT_OP_FACTORY     = 1 << 7,   /* no tensor inputs */
  DT_OP_NOGRAD      = 1 << 8,   /* not differentiable, said on purpose */
  DT_OP_NODATA      = 1 << 9,   /* result depends on shapes only */
  DT_OP_CUSTOM      = 1 << 10,  /* registered by a user */
  DT_OP_DATADEP     = 1 << 11,  /* output shape depends on data: no meta */
  DT_OP_FOREACH     = 1 << 12,  /* TupleStrategy over lists */
  DT_OP_ALIAS_SAFE  = 1 << 13,  /* kernel may write out over its inputs */
  DT_OP_SAVE_OUT    = 1 << 14,  /* grad reads outputs */
  DT_OP_HANDLER     = 1 << 15,  /* dispatched by a handler (engine) */
  DT_OP_NOSTRATEGY  = 1 << 16,  /* PyTorch has none: missing on purpose */
  /* What propagation says of an in-place form whose result is larger than
  ** self: a pointwise one lets it pass (the local call refuses), unless */
  DT_OP_PYMETA      = 1 << 17,  /* its shapes are inferred in Python */
  DT_OP_ITERMETA    = 1 << 18,  /* it refuses as the local call does */
  DT_OP_SCHEMA_ONLY = 1 << 19,  /* by name and schema only (schema_only.ops) */
  DT_OP_ABSOLUTE    = 1 << 20,  /* a view whose last argument, when given,
                                ** is its place in the storage */
  DT_OP_SHARES      = 1 << 21,  /* outputs share input 0's storage, as views
                                ** do, yet autograd takes them for new */
  DT_OP_UNDEFINED   = 1 << 22,  /* takes None for tensors that another call
                                ** may leave undefined, whatever its schema
                                ** says: bias, philox_*, cum_seq_* */
  DT_OP_REPLICATES  = 1 << 23,  /* composite: plain tensors that it makes count
                                ** as replicated */
  DT_OP_TURNS       = 1 << 24,  /* a view that conjugates or negates: it turns
                                ** the marks of its input (tensor.h) */
  DT_OP_NARROW      = 1 << 25,  /* its rows have no columns for out arguments:
                                ** with one they are refused, as PyTorch does */
  DT_OP_WIDEN       = 1 << 26,  /* not derived, yet its rows are its base's: a
                                ** column is added for each out argument */
  DT_OP_LATER       = 1 << 27,  /* of two ways that its definition knows (shapes,
                                ** words, gradient) the later one; set by a
                                ** ruling, never by the definition */
  DT_OP_LATEST      = 1 << 28,  /* the same for what changed once more */
  DT_OP_AGAIN       = 1 << 29   /* results without gradients that its gradient
                                ** reads are no matter for gradients of it */
};

/* Classes of partial rows for pointwise operators (_ops/_pointwise_ops.py): one
** rule list each, in shard/pointwise.c. */
typedef enum DtPwClass {
  DT_PW_NONE, DT_PW_ADDITIVE, DT_PW_MUL, DT_PW_DIV, DT_PW_SCALAR_LINEAR,
  DT_PW_NEG, DT_PW_NONDECREASING, DT_PW_NONINCREASING, DT_PW_BESSEL_K,
  DT_PW_XLOG1PY, DT_PW_COPY, DT_PW_COPY_, DT_PW_MONOTONE, DT_PW_MAXLIKE,
  DT_PW_MINLIKE, DT_NPW
} DtPwClass;

struct DtOpDef {
  const char *schema;           /* PyTorch's text: name, types, defaults */
  const char *brief;            /* one sentence */
  const char *doc;              /* formula, traps; may be NULL */
  uint32_t flags;
  DtPwClass pw;                 /* with DT_OP_POINTWISE */
  DtMetaFn meta;
  DtKernelFn kernel;
  /* sharding: rules, or rulefn, or strategy; none: decomp or missing */
  const char *const *rules;     /* NULL-terminated rows in text */
  DtRuleFn rulefn;
  DtFilterFn filter;            /* of candidates made from rows, or NULL */
  DtStratFn strategy;
  DtRewriteFn rewrite;
  DtDecompFn decomp;
  DtGradFn grad;
  DtSamples samples;
  const int *row;               /* family data (e.g. kernel function number) */
  const char *program;          /* a decomposition as text (op_program.c) */
  const char *backward;         /* a gradient as text (op_program.c) */
  /* ---- filled at registration ---- */
  const DtSchema *sig;
  const DtSaved *saved;         /* what autograd keeps */
  const DtRefusal *refusal;     /* types the local call refuses, NULL: none */
  const DtOpDef *base;          /* of a derived variant */
  void *user;                   /* custom operators: the binding's data */
};

/* Shorthands for the functions above. */
static inline const DtMeta *dt_in (const DtMetaCall *c, int i) {
  int s = dt_arg_slot(c->args, i);
  return s < 0 ? NULL : c->in[s];
}
static inline DtTensor *dt_kin (const DtKernelCall *c, int i) {
  int s = dt_arg_slot(c->args, i);
  return s < 0 ? NULL : c->in[s];
}
static inline const DtMeta *dt_rin (const DtRuleCall *c, int i) {
  int s = dt_arg_slot(c->args, i);
  return s < 0 ? NULL : c->in[s];
}
static inline const DtSpec *dt_sin (const DtStratCall *c, int i) {
  int s = dt_arg_slot(c->args, i);
  return s < 0 ? NULL : c->in[s];
}
static inline DtHandle *dt_gin (const DtGradCall *c, int i) {
  int s = dt_arg_slot(c->args, i);
  return s < 0 ? NULL : c->in[s];
}
static inline DtHandle *dt_hin (const DtDecompCall *c, int i) {
  int s = dt_arg_slot(c->args, i);
  return s < 0 ? NULL : c->in[s];
}

#endif
