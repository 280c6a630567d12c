/* SPDX-License-Identifier: MIT
** engine/call_int.h: between a call and the graph it leaves behind
** (call.c, autograd.c, backward.c, node.c). */
#ifndef DT_ENGINE_CALL_INT_H
#define DT_ENGINE_CALL_INT_H

#include "engine/engine_int.h"

static inline DtVar *dt_run_var (DtHandle *h) { return (DtVar *)(void *)h; }

/* Only the first of the results stays. */
void dt_call_keep_first (DtSession *s, DtResults *r);

/* What must be kept from before an operator ran. */
typedef struct DtGradCtx {
  int written;                  /* slot written in place, -1 = none */
  DtVar *before;                /* that input as it was, or NULL */
  int64_t version;              /* of its storage before */
  bool record;
} DtGradCtx;
/* Checks (leaf written in place, out= with gradients) and keeps copies. */
DtStatus dt_grad_begin (DtSession *s, const DtOpDef *op, const DtArgs *args,
                        int nin, DtVar *const *in, DtGradCtx *g);
/* Records the call. */
DtStatus dt_grad_end (DtSession *s, const DtOpDef *op, const DtArgs *args,
                      int nin, DtVar *const *in, DtGradCtx *g,
                      DtResults *out);
void dt_grad_fini (DtSession *s, DtGradCtx *g);

/* --- slices.c --- */
/* `v`, a view, was written in place by `n`: its base's history becomes the
** old one with that slice replaced, and v becomes a view of it again. */
DtStatus dt_copyslices (DtSession *s, DtVar *v, DtNode *n, int nr);
/* RUNTIME when `v` is one of several views made at once: those are not
** written in place while autograd looks. */
DtStatus dt_view_check_written (DtSession *s, const DtVar *v);
/* From now on `v` is output `nr` of the node. */
void dt_node_set_history (DtSession *s, DtVar *v, DtNode *n, int nr);
/* Run the gradient of an operator node; gin[nin] filled with owned ones. */
DtStatus dt_node_exec (DtSession *s, DtNode *n, DtVar *const *gout,
                       const bool *need, DtVar **gin);

/* The k-th output to keep: PyTorch saves and reads them in the order of their
** names.  Pure. */
int dt_kept_output (const DtNode *n, int k);
/* Does PyTorch keep output `i`, which is `v`?  Pure. */
bool dt_output_kept (const DtOpDef *op, int i, const DtVar *v);
/* The kept outputs, owned, into out[nout]; those that are differentiable
** are detached by an operator, as PyTorch unpacks them. */
DtStatus dt_node_unpack (DtSession *s, DtNode *n, DtVar **out);

/* --- node.c --- */
DtStatus dt_node_new (DtSession *s, const char *name, int nin, int nout,
                      DtNode **out);
/* Where a gradient of `v` goes: its node and output, or the leaf's
** accumulation node (made on demand).  fn NULL: nowhere.  Owned. */
DtStatus dt_node_edge (DtSession *s, DtVar *v, DtEdge *out);
/* saving.c: an operator with a gradient is about to run.  RUNTIME where a
** recomputed forward ends.  Local. */
DtStatus dt_saving_count (DtSession *s, const DtOpDef *op,
                          const DtArgs *args, DtVar *const *in);
/* RUNTIME when it would keep a tensor of inference mode for its gradient. */
DtStatus dt_saving_check (DtSession *s, const DtOpDef *op, const DtArgs *args,
                          DtVar *const *in);
/* Detach the arguments that it keeps, as far as they want gradients: in the
** forward, or (`node`) as kept by a node.  Local. */
DtStatus dt_saving_copies (DtSession *s, const DtOpDef *op,
                           const DtArgs *args, DtVar *const *in,
                           const DtNode *node);
/* Did the node's operator save a number that stands for a tensor?  PyTorch
** saves it as one (x * 2), freed with the rest.  Pure. */
bool dt_saving_number (const DtNode *node);
/* The first node of `v`'s graph that backward reads kept tensors in, and
** which of its outputs leads there; NULL if none.  Borrowed.  Pure. */
DtNode *dt_saving_node (DtVar *v, int *nr);
/* packing.c: hand what the node keeps to the program's hook, and let go of it.
** `before`: what stands for the input at slot `written`, or NULL.  Collective
** when the hook is. */
DtStatus dt_packs_keep (DtSession *s, DtNode *n, DtVar *const *in,
                        const DtGradCtx *g, DtVar *const *out);
/* What the hooks give back, owned, into the places of in[nin] and out[nout]
** that were packed; the others stay.  Collective when the hook is. */
DtStatus dt_packs_read (DtSession *s, const DtNode *n, DtVar **in, DtVar **out);
void dt_packs_free (DtSession *s, DtNode *n);
/* The shape stays, the data goes.  Local. */
void dt_var_drop_data (DtSession *s, DtVar *v);
/* RUNTIME when `v` is saved by the node and was overwritten or freed. */
DtStatus dt_node_check_saved (DtSession *s, const DtNode *n, const DtVar *v);
/* What backward says of a node whose saved values are gone.  RUNTIME. */
DtStatus dt_node_freed (DtSession *s);
/* Let go of what the node saved (after backward). */
void dt_node_release (DtSession *s, DtNode *n);

#endif
