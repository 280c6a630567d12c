/* SPDX-License-Identifier: MIT
** engine/var.h: a tensor as the user has it: plain (one per rank) or
** distributed (spec + this rank's part), with autograd state and origin. */
#ifndef DT_ENGINE_VAR_H
#define DT_ENGINE_VAR_H

#include "engine/event.h"

typedef struct DtNode DtNode;         /* autograd.h */
typedef struct DtVar DtVar;
/* A hook of a node: it sees, and may replace, all gradients at once: those of
** the outputs before the node runs (gin NULL), or those of the inputs after. */
typedef DtStatus (*DtNodeFn) (DtSession *s, void *ud, const DtNode *n,
                              int nout, DtVar **gout, int nin, DtVar **gin);

/* What a hook of the program made of a tensor that autograd keeps; `unpack`
** gives it back, once for each gradient that reads it, owned by the caller. */
typedef struct DtPacked {
  DtStatus (*unpack) (DtSession *s, void *ud, DtVar **out);
  void *ud; void (*ud_free) (void *);
} DtPacked;
/* torch.autograd.graph.saved_tensors_hooks: `pack` is given each tensor that
** operators keep, outside of autograd; NULL: tensors are kept as they are. */
typedef struct DtPacking {
  DtStatus (*pack) (DtSession *s, void *ud, DtVar *v, DtPacked *out);
  void *ud; void (*ud_free) (void *);
} DtPacking;

struct DtCall;
struct DtResults;
/* Modes of the program that are given each operator in the place of the
** dispatcher, below autograd: `level` of them are entered, of which the
** innermost is asked with `level` one less.  `below`: how many are being asked;
** meanwhile nothing is recorded for backward. */
typedef struct DtModes {
  DtStatus (*ask) (DtSession *s, const struct DtCall *c,
                   struct DtResults *out);
  int level, below;
} DtModes;

/* Where it was made: always on. */
typedef struct DtOrigin {
  int64_t seq;                  /* operator that made it, 0 = none */
  const char *file; int line;   /* interned by the session */
  const char *op;               /* "aten.mm.default" or "dt.randn" */
} DtOrigin;

/* What another module knows of a tensor, which lives and dies with it. */
typedef struct DtSide {
  void (*free) (DtCtx *cx, struct DtSide *side);
} DtSide;

/* How a view came to be, for those that may not be written where autograd records
** (torch/csrc/autograd/variable.h: CreationMeta@2.15). */
typedef enum DtViewMade {
  DT_VIEW_PLAIN,                /* its history can be made again of its base's */
  DT_VIEW_NO_GRAD,              /* while no gradient was recorded */
  DT_VIEW_IN_FUNCTION,          /* by an autograd.Function, or to_local */
  DT_VIEW_OF_MANY               /* one of several results of one call */
} DtViewMade;

struct DtVar {
  int64_t refs;
  int64_t id;                   /* counts up per session */
  DtSession *s;
  DtSpec *spec;                 /* NULL: plain */
  DtTensor *local;              /* never NULL; may have no data */
  DtOrigin origin;
  const char *name;             /* interned: variable or parameter name */
  bool is_param;                /* nn.Parameter */
  bool inference;               /* made in inference mode, or a view of such */
  /* autograd */
  bool requires_grad, retains_grad;
  DtVar *grad;
  bool grad_dtype_set; int grad_dtype;  /* see dt_var_grad_dtype */
  DtNode *grad_fn; int output_nr;
  DtVar *view_base;             /* differentiable view of (owned) */
  struct DtViewOp *view;        /* how it was made from view_base; NULL where it
                                ** may not be written */
  DtViewMade view_made;
  DtNode *acc;                  /* leaf: its accumulation node (not owned) */
  int nhooks; struct DtHook *hooks;
  DtSide *types;                /* SPMD types (bind/l_spmd.c), or NULL */
};

/* Wrap a local tensor (takes a reference of its own).  Caller owns. Local. */
DtStatus dt_var_new (DtSession *s, DtTensor *local, DtSpec *spec, DtVar **out);
DtVar *dt_var_ref (DtVar *v);
void dt_var_unref (DtVar *v);                   /* NULL accepted */
static inline bool dt_var_is_dist (const DtVar *v) { return v->spec != NULL; }
/* Global meta (the spec's, or the local one).  Pure. */
const DtMeta *dt_var_meta (const DtVar *v);
/* Does autograd follow it?  Pure. */
bool dt_var_needs_grad (const DtVar *v);
/* "dt: f32[8, 32]| S(0)R" or "t: f32[4, 8]".  Pure. */
void dt_var_print (const DtVar *v, DtBuf *b);

#endif
