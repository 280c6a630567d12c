/* SPDX-License-Identifier: MIT
** engine/dispatch.h: run an operator on variables: PyTorch's order of
** handlers, strategies, decomposition, error; exact rules for mixed inputs
** (_dispatch.py, 2.13).  Everything that computes goes through here: Lua,
** gradients, decompositions. */
#ifndef DT_ENGINE_DISPATCH_H
#define DT_ENGINE_DISPATCH_H

#include "engine/session.h"

/* A call: the operator, its bound arguments, its variables by slot (NULL where
** an optional tensor is None).  Borrowed: it lives as long as the call of the
** function that takes it. */
typedef struct DtCall {
  const DtOpDef *op;
  const DtArgs *args;
  int nin; DtVar *const *in;
} DtCall;

/* Results: variables (owned by the caller, NULL where None) or a value. */
typedef struct DtResults {
  int n; DtVar *v[16]; DtVar **more;         /* n > 16: more has all n */
  bool is_list;                              /* Tensor[] */
  DtValue ret;                               /* non-tensor result */
  uint32_t nums; int64_t num[16];            /* bit i: result i is num[i] */
} DtResults;

/* Full call: autograd, composites, events, dispatch.  The variables of `in`
** are borrowed.  Collective when anything must move, else Local. */
DtStatus dt_call (DtSession *s, const DtOpDef *op, const DtArgs *args,
                  int nin, DtVar *const *in, DtResults *out);
/* By name with emit's argument letters (see op/emit.h; t = DtVar *).  The
** first output.  Collective when anything must move, else Local. */
DtStatus dt_call_fmt (DtSession *s, DtVar **out, const char *op,
                      const char *fmt, ...);
/* Let go of the results.  Local. */
void dt_results_fini (DtSession *s, DtResults *r);
/* The i-th result, borrowed.  Pure. */
DtVar *dt_result (const DtResults *r, int i);

/* Below autograd: dispatch one operator (plain or distributed).
** Collective when anything must move, else Local. */
DtStatus dt_dispatch (DtSession *s, const DtOpDef *op, const DtArgs *args,
                      int nin, DtVar *const *in, DtResults *out);
/* Room for what a kernel gives: at most `max` tensors, each the caller's, of
** which `n` are set (NULL where None), and the value of one that gives no
** tensor (NULL: not wanted). */
typedef struct DtLocalOut {
  DtTensor **v;
  int max, n;
  DtValue *ret;
} DtLocalOut;
/* Run the local kernel of an operator on local tensors; meta, allocation,
** views, in-place and out= handled.  Emits KERNEL events.  Local. */
DtStatus dt_run_local (DtSession *s, const DtOpDef *op, const DtArgs *args,
                       int nin, DtTensor *const *in, DtLocalOut *out);

/* A handler takes an operator over before anything else is looked at, as
** PyTorch's custom op handlers do (loss_parallel, context_parallel replace
** them at run time).  fn NULL removes it.  Agreed. */
typedef DtStatus (*DtHandlerFn) (DtSession *s, void *ud, const DtCall *c,
                                 DtResults *out);
DtStatus dt_handler_set (DtSession *s, const DtOpDef *op, DtHandlerFn fn,
                         void *ud);
/* The handler in force, NULL when there is none.  Pure. */
DtHandlerFn dt_handler_get (const DtSession *s, const DtOpDef *op, void **ud);
/* The spec that counts for the first input when an operator is decided, a new
** reference: in[0], unless the handler brings that input to another's placements
** first, as that of convolution_backward does.  NOMEM.  Local. */
DtStatus dt_handler_first_spec (DtSession *s, const DtOpDef *op, int nin,
                                const DtSpec *const *in, DtSpec **out);
/* Room for n results (all NULL).  Local. */
DtStatus dt_results_init (DtSession *s, DtResults *r, int n);

/* `v` (NULL: none) is result i of a call that the dispatcher did not make: of an
** operator in place the variable that was written; another input that is given
** back becomes a variable of its own.  NOMEM.  Local. */
DtStatus dt_results_take (DtSession *s, const DtCall *c, int i, DtVar *v,
                          DtResults *out);

/* One operator on one device: `full` are the global inputs by slot (gathered
** before), no mesh, no autograd, no events.  Used to verify and to try
** repairs.  NOTIMPL when no kernel exists.  Local. */
DtStatus dt_oracle_call (DtSession *s, const DtOpDef *op, const DtArgs *args,
                         int nin, DtTensor *const *full, DtLocalOut *out);
/* The whole of a variable on every rank; plain ones as they are.  Owned by
** the caller.  Collective over the mesh. */
DtStatus dt_oracle_gather (DtSession *s, const DtVar *v, DtTensor **out);
typedef enum DtVerdict {
  DT_SAME_BITS, DT_SAME_CLOSE, DT_SAME_NOT
} DtVerdict;
/* Tolerances of torch.testing.assert_close for a dtype.  Pure. */
void dt_oracle_tolerance (DtDtype t, double *rel, double *abs);
/* Compare two tensors by the tolerances of their dtype (those of PyTorch's
** assert_close; integers exactly).  *worst: the largest difference.  Pure. */
DtStatus dt_oracle_compare (DtSession *s, const DtTensor *got,
                            const DtTensor *want, DtVerdict *verdict,
                            double *worst);

#endif
