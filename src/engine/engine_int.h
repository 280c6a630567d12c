/* SPDX-License-Identifier: MIT
** engine/engine_int.h: what the files of engine/ share and nobody else sees:
** emitting events, moving data on one rank, steps of dispatch. */
#ifndef DT_ENGINE_ENGINE_INT_H
#define DT_ENGINE_ENGINE_INT_H

#include "engine/autograd.h"
#include "engine/dist.h"

/* --- var.c --- */
/* A variable with its origin set from the operator under way. */
DtStatus dt_var_result (DtSession *s, DtTensor *local, DtSpec *spec,
                        DtVar **out);
/* The same tensor without history (shares data and spec). */
DtStatus dt_var_alias (DtVar *v, DtVar **out);

/* --- session.c --- */
void dt_specs_free (DtSession *s);
/* A shared spec with these placements on the mesh of `like` and its meta,
** or another meta. */
DtStatus dt_spec_make (DtSession *s, DtMesh *mesh, int npl,
                       const DtPlacement *pl, const DtMeta *meta,
                       int strided_is_order, DtSpec **out);

/* --- event.c --- */
void dt_events_free (DtSession *s);
DtStatus dt_ev_text (DtSession *s, DtEventKind kind, const char *text);
/* Where the script is now. */
DtOrigin dt_ev_where (DtSession *s);
/* Tell listeners of the pending error `st`; *again when an argument was
** replaced and the call should be repeated.  Gives the status to return. */
DtStatus dt_ev_error (DtSession *s, const DtCall *c, DtStatus st, bool *again);
/* Tell listeners that a call (an operator: DT_EV_OP_END, a function:
** DT_EV_FUNC_END) came back with `st`.  Gives the status to return; the
** results are let go when a listener fails. */
DtStatus dt_ev_end (DtSession *s, DtEventKind kind, const DtCall *c,
                    DtResults *out, DtStatus st);

/* Let go of a result that will not be given: no dangling pointer stays. */
static inline void dt_drop_tensor (DtSession *s, DtTensor **t) {
  dt_tensor_unref(s->cx, *t);
  *t = NULL;
}
static inline void dt_drop_var (DtVar **v) {
  dt_var_unref(*v);
  *v = NULL;
}

/* --- move.c: data on one rank, with the events of PyTorch's aten calls --- */
static inline bool dt_mv_told (const DtSession *s) {
  return (s->listen_mask & (UINT64_C(1) << DT_EV_KERNEL |
                            UINT64_C(1) << DT_EV_KERNEL_END)) != 0;
}
DtStatus dt_mv_contiguous (DtSession *s, DtTensor *t, DtTensor **out);
DtStatus dt_mv_clone (DtSession *s, DtTensor *t, DtTensor **out);
DtStatus dt_mv_narrow (DtSession *s, DtTensor *t, int dim, int64_t start,
                       int64_t len, DtTensor **out);
/* Zeros added at the end of `dim`; n == 0 gives the tensor itself. */
DtStatus dt_mv_pad (DtSession *s, DtTensor *t, int dim, int64_t n,
                    DtTensor **out);
/* Zeros with `size` along dim and t at `offset` there. */
DtStatus dt_mv_embed (DtSession *s, DtTensor *t, int dim, int64_t size,
                      int64_t offset, DtTensor **out);
DtStatus dt_mv_cat (DtSession *s, int n, DtTensor *const *in, int dim,
                    DtTensor **out);
/* n blocks stacked on dim 0 joined along `dim`, and back. */
DtStatus dt_mv_rejoin (DtSession *s, DtTensor *t, int64_t n, int dim,
                       DtTensor **out);
DtStatus dt_mv_unjoin (DtSession *s, DtTensor *t, int64_t n, int dim,
                       DtTensor **out);
/* torch.chunk filled with empty pieces up to n; out[n], all owned. */
DtStatus dt_mv_chunk (DtSession *s, DtTensor *t, int64_t n, int dim,
                      DtTensor **out);
void dt_mv_unref_all (DtSession *s, int64_t n, DtTensor **t);
DtStatus dt_mv_div (DtSession *s, DtTensor *t, DtScalar by, DtTensor **out);
DtStatus dt_mv_pow (DtSession *s, DtTensor *t, DtScalar p, DtTensor **out);
DtStatus dt_mv_cast (DtSession *s, DtTensor *t, DtDtype to, DtTensor **out);
DtStatus dt_mv_select (DtSession *s, DtTensor *t, int dim, int64_t n,
                       const int64_t *index, DtTensor **out);
/* A new tensor like `m` but of this shape, contiguous. */
DtStatus dt_mv_empty (DtSession *s, const DtMeta *like, int ndim,
                      const int64_t *shape, DtTensor **out);

/* --- redist.c --- */
/* Part `r` of `t` split by shard-like `p` in n (owned, cloned). */
DtStatus dt_redist_part (DtSession *s, DtTensor *t, DtPlacement p, int64_t n,
                         int64_t r, DtTensor **out);
/* All n parts, padded to one size; pad[i] what was added. */
DtStatus dt_redist_parts (DtSession *s, DtTensor *t, DtPlacement p, int64_t n,
                          DtTensor **out, int64_t *pad);
/* R to P. */
DtStatus dt_redist_partition (DtSession *s, DtTensor *t, const DtMesh *m,
                              int mdim, DtPlacement p, DtTensor **out);

/* --- mask.c --- */
DtStatus dt_mask_partition (DtSession *s, DtTensor *t, const DtMesh *m,
                            int mdim, DtPlacement p, DtTensor **out);
/* Zero what the buffer masks (in place when it can), and release it. */
DtStatus dt_mask_apply (DtSession *s, DtMaskBuf *b, DtTensor *t,
                        DtTensor **out);

/* --- unwrap.c --- */
typedef struct DtUnwrapped {
  DtMesh *mesh;                 /* borrowed */
  int nin;
  const DtSpec **spec;          /* by slot; owned where `made` says so */
  int nmade;                    /* replicated plain tensors */
  int nwarn;                    /* warnings about them */
  uint64_t made[(DT_MAX_OUTS + 63) / 64];
  const DtSpec *specs_[16];
  bool on_heap;
} DtUnwrapped;
bool dt_unwrap_any_dist (int nin, DtVar *const *in);
DtStatus dt_unwrap (DtSession *s, const DtCall *c, DtUnwrapped *u);
void dt_unwrap_fini (DtSession *s, DtUnwrapped *u);
/* Say that a tensor of one element counts as replicated. */
void dt_unwrap_warn (DtSession *s);
/* Argument position a slot belongs to. */
int dt_unwrap_arg_of (const DtArgs *args, int slot);

/* --- resized.c: warnings about tensors that calls resize --- */

/* The local call resizes an out= of shape `have`, if it holds anything. */
void dt_resized_warn (DtSession *s, const DtMeta *have, const DtMeta *want);
/* The local call begins: does it resize what it starts from? */
void dt_resized_like (DtSession *s, const DtOpDef *op, int nin,
                      DtTensor *const *in);
/* A decision was made that is not remembered: what pretending resized, and so
** did `traced` traces. */
void dt_resized_pretend (DtSession *s, const DtOpDef *op, const DtArgs *args,
                         const DtUnwrapped *u, int64_t traced);
/* What the operator says whenever it is called (a session: once). */
void dt_warn_called (DtSession *s, const DtOpDef *op, const DtArgs *args);

/* --- handlers.c --- */
DtStatus dt_handlers_new (DtSession *s);
void dt_handlers_free (DtSession *s);
/* argminmax.c: argmin and argmax over sharded dims. */
DtStatus dt_handle_argminmax (DtSession *s, void *ud, const DtCall *c,
                              DtResults *out);
/* conv.c */
DtStatus dt_handle_conv (DtSession *s, void *ud, const DtCall *c,
                         DtResults *out);
DtStatus dt_handle_conv_backward (DtSession *s, void *ud, const DtCall *c,
                                  DtResults *out);
const DtOpDef *dt_handlers_sdpa (const DtSession *s);
/* RUNTIME when the operator is detach_ and `v` is a view.  Local. */
DtStatus dt_handlers_detach (DtSession *s, const DtOpDef *op, const DtVar *v);
/* Does the operator give a number of Lua's, not tensors (equal, item)?  Pure. */
bool dt_handlers_reads (const DtSession *s, const DtOpDef *op);
/* After the local part of an operator that gives a number: aten.equal is
** agreed upon by the whole world. */
DtStatus dt_handlers_scalar (DtSession *s, const DtOpDef *op, bool member,
                             DtValue *ret);

/* --- wrap.c --- */
/* Local results to results of the call: new variables with the specs of the
** decision, the argument itself for in-place and out= forms. */
DtStatus dt_wrap (DtSession *s, const DtCall *c, int n, DtTensor **local,
                  DtSpec *const *spec, DtResults *out);
/* Results of a rank outside the mesh. */
DtStatus dt_wrap_outside (DtSession *s, const DtOpDef *op, const DtProp *p,
                          DtResults *out);
/* Slot of the argument that return `i` of `op` is, -1 for none. */
int dt_wrap_ret_slot (const DtOpDef *op, const DtArgs *args, int i);

/* --- slices.c --- */
/* `out` is a view of `in`, made by output `nr` of this call. */
DtStatus dt_view_remember (DtSession *s, DtVar *out, DtVar *in,
                           const DtOpDef *op, const DtArgs *args, int nr);
void dt_view_unref (DtSession *s, struct DtViewOp *w);

/* --- dispatch.c --- */
/* Everything after unwrapping, with specs given. */
DtStatus dt_dispatch_specs (DtSession *s, const DtCall *c,
                            const DtUnwrapped *u, DtResults *out);

/* --- marks.c --- */
/* Do marks of inputs keep the operator from being called as it is?  Pure. */
bool dt_marks_stop (const DtOpDef *op, int nin, DtVar *const *in);
/* Then this calls it, with clones. */
DtStatus dt_marks_dispatch (DtSession *s, const DtCall *c, DtResults *out);
/* Inputs for a kernel, written out (owned, in the scratch arena), or NULL when
** they are good as they are.  Drop them after either answer. */
DtStatus dt_marks_inputs (DtSession *s, const DtOpDef *op, int nin,
                          DtTensor *const *in, DtTensor ***out);
void dt_marks_drop (DtSession *s, int nin, DtTensor **in);

/* --- random.c --- */
/* Around the local kernel of a random operator on a distributed tensor. */
typedef struct DtRngRegion { bool on; uint64_t old, end; } DtRngRegion;
DtStatus dt_rng_region_begin (DtSession *s, const DtOpDef *op,
                              const DtSpec *spec, DtRngRegion *r);
void dt_rng_region_end (DtSession *s, const DtRngRegion *r);

/* --- local.c --- */
/* What is to be copied into `out`, a tensor given as out=, has the meta `m`:
** resize `out` to its shape where it has another.  Local. */
DtStatus dt_local_resize_out (DtCtx *cx, DtTensor *out, const DtMeta *m);

/* --- call.c --- */
/* Run an operator's decomposition on variables. */
DtStatus dt_call_decomp (DtSession *s, const DtCall *c, DtResults *out);
typedef struct DtRun {          /* an emitter that executes */
  DtEmit e;
  DtSession *s;
  DtVar **own; int n, cap;      /* handles alive until the end */
  const DtNode *node;           /* backward: whose saved variables these are */
  DtTensor *given;              /* a kernel's program: its out=, which copy_
                                ** resizes; borrowed */
} DtRun;
void dt_run_init (DtRun *r, DtSession *s, DtArena *arena);
void dt_run_fini (DtRun *r);
/* Keep a reference until the end; gives it back as a handle. */
DtHandle *dt_run_keep (DtRun *r, DtVar *owned);

/* --- sdpa.c --- */
/* scaled_dot_product_attention by the device's fused operator; *done false
** when the mathematical form is right. */
DtStatus dt_sdpa_call (DtSession *s, const DtArgs *args, int nin,
                       DtVar *const *in, DtResults *out, bool *done);

/* --- results --- */
static inline DtVar **dt_results_at (DtResults *r, int i) {
  return r->more ? &r->more[i] : &r->v[i];
}

/* --- dtype words of messages --- */
const char *dt_dtype_legacy (DtDtype t);   /* "Float", "Long" */

/* May the operator write what it is given?  RUNTIME when elements of it share
** memory, or part of it is an input's.  Local. */
DtStatus dt_check_overlap (DtSession *s, const DtOpDef *op,
                           const DtArgs *args, int nin, DtTensor *const *in);

#endif
