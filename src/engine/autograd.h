/* SPDX-License-Identifier: MIT
** engine/autograd.h: a graph of nodes run by sequence number as in PyTorch,
** above the dispatcher: backward calls operators that dispatch again, and with
** create_graph these are recorded, too. */
#ifndef DT_ENGINE_AUTOGRAD_H
#define DT_ENGINE_AUTOGRAD_H

#include "engine/dispatch.h"

typedef struct DtEdge { DtNode *fn; int nr; } DtEdge;

/* Custom backward: gout[nout] (NULL = none) to gin[nin] (owned by caller). */
typedef DtStatus (*DtBackwardFn) (DtSession *s, void *ud, int nout,
                                  DtVar *const *gout, int nin, DtVar **gin);

/* A kept tensor that was packed: its place among the inputs, or nin + its
** place among the outputs.  PyTorch reads them in the order in which it keeps
** them. */
struct DtPack { int at; DtPacked as; };

/* Of the memory when it was kept: as autograd counts, and all writes. */
struct DtSavedVersion { int64_t counted, whole; };

struct DtNode {
  int64_t refs, seq;
  const char *name;             /* "MmBackward0" */
  int nin; DtEdge *next;        /* per input: where its gradient goes */
  int nout;
  /* operator node: the saved call */
  const DtOpDef *op; DtArgs args; DtArena arena;
  DtVar **saved_in, **saved_out;        /* packed ones without data */
  int npacks; struct DtPack *packs;
  struct DtSavedVersion *saved_version;         /* in, then out */
  DtMeta *out_meta;
  /* custom node */
  DtBackwardFn fn; void *ud; void (*ud_free) (void *);
  /* accumulation node: the leaf (owned); the leaf's `acc` points back */
  DtVar *leaf;
  bool released, packed;        /* packed: kept by an activation checkpoint */
  DtOrigin origin;              /* of the forward call */
  const char *module;           /* of the forward call */
  int nprehooks; struct DtNodeHook *prehooks;   /* on outputs' gradients */
  int ncalls; struct DtNodeCall *calls;         /* hooks of the node itself */
  DtVar **retain;               /* nout outputs that want .grad (not owned) */
  DtNode *inner;                /* of a slice written in place (owned) */
  DtNode *free_next;            /* freeing without recursion */
};

typedef DtStatus (*DtHookFn) (DtSession *s, void *ud, DtVar *grad,
                              DtVar **out);
/* `after`: on a leaf, called with the leaf when its .grad has been added to. */
struct DtHook { DtHookFn fn; void *ud; void (*ud_free) (void *); int id;
                bool after; };
struct DtNodeHook { int nr; struct DtHook hook; };
struct DtNodeCall { DtNodeFn fn; void *ud; void (*ud_free) (void *); int id;
                    bool before; };

/* Nodes are reference counted; NULL is accepted.  Local. */
DtNode *dt_node_ref (DtNode *n);
void dt_node_unref (DtSession *s, DtNode *n);
/* Record a custom function (from_local, redistribute, autograd.Function,
** custom operators' backward).  Local. */
DtStatus dt_autograd_custom (DtSession *s, const char *name, int nin,
                             DtVar *const *in, int nout, DtVar *const *out,
                             DtBackwardFn fn, void *ud,
                             void (*ud_free) (void *));
/* `out` becomes a view of `base` (or of what that is a view of) that may not be written
** while autograd records, for the reason `made`.  Local. */
void dt_view_forbid (DtVar *out, DtVar *base, DtViewMade made);
/* Where backward begins, and what stays of the graph.  Borrowed. */
typedef struct DtBackward {
  int n;
  DtVar *const *roots, *const *grads;   /* grads NULL: all ones */
  bool retain_graph, create_graph;
} DtBackward;
/* With create_graph the gradients have a graph of their own, of the operators
** that made them; what cannot be differentiated twice is refused by name.
** torch.autograd.backward / tensor.backward.  grads[i] NULL = ones (scalar
** outputs only: "grad can be implicitly created only for scalar outputs").  Collective
** when a gradient must move. */
DtStatus dt_backward (DtSession *s, const DtBackward *b);
/* torch.autograd.grad: gradients of `inputs` returned, not accumulated.
** Collective when a gradient must move. */
DtStatus dt_grad (DtSession *s, const DtBackward *b, int nin,
                  DtVar *const *inputs, bool allow_unused, DtVar **out);
/* In a gradient that is executed: keep a variable until the gradient is done
** and give it as the handle the formula returns.  Takes the reference.
** NULL after an error.  Local. */
DtHandle *dt_grad_keep (DtEmit *e, DtVar *owned);
DtStatus dt_detach (DtSession *s, DtVar *v, DtVar **out);
/* requires_grad_(): "you can only change requires_grad flags of leaf
** variables", "only Tensors of floating point dtype can require gradients".
** Local. */
DtStatus dt_var_set_requires_grad (DtVar *v, bool on);
/* Tensor.grad_dtype of a leaf: the dtype to which its gradient is brought, by
** default the leaf's own; DT_GRAD_ANY: none, gradients stay as they come.
** Pure. */
enum { DT_GRAD_ANY = -1 };
int dt_var_grad_dtype (const DtVar *v);
/* Set it, a DtDtype or DT_GRAD_ANY.  Errors: not a leaf; a gradient of another
** dtype is there.  Local. */
DtStatus dt_var_set_grad_dtype (DtVar *v, int dtype);
/* May `g` become v.grad: its shape and dtype.  Local. */
DtStatus dt_var_check_grad (DtVar *v, const DtVar *g);
/* retain_grad().  Local. */
DtStatus dt_var_retain_grad (DtVar *v);
/* register_hook, or with `after` register_post_accumulate_grad_hook; sets *id
** for removing.  Local. */
DtStatus dt_var_hook (DtVar *v, bool after, DtHookFn fn, void *ud,
                      void (*ud_free)(void *), int *id);
void dt_var_unhook (DtVar *v, int id);
/* Node.register_hook, or with `before` register_prehook; sets *id for
** removing.  Takes `ud` over when it succeeds.  Local. */
DtStatus dt_node_hook (DtSession *s, DtNode *n, bool before, DtNodeFn fn,
                       void *ud, void (*ud_free) (void *), int *id);
void dt_node_unhook (DtNode *n, int id);
/* fn before the first node of `v`'s graph that reads what the forward kept,
** after other hooks there (for activation checkpoints).  Local. */
DtStatus dt_var_hook_saving (DtVar *v, DtHookFn fn, void *ud,
                             void (*ud_free) (void *));

#endif
