/* SPDX-License-Identifier: MIT
** engine/dispatch.h: run an operator on variables: PyTorch's order of
** handlers, strategies, decomposition, error; exact rules for mixed inputs
** (core.md section 3).  Everything that computes goes through here: Lua,
** gradients, decompositions. */
#ifndef DT_ENGINE_DISPATCH_H
#define DT_ENGINE_DISPATCH_H

#include "engine/session.h"

/* A call with its variables.  `in` by slot. */
typedef struct DtCall {
  const DtOpDef *op;
  DtArgs args;
  int nin; DtVar *in[64]; DtVar **in_more;   /* lists beyond 64 slots */
} DtCall;

/* Results: variables (owned by the caller, NULL where None) or a value. */
typedef struct DtResults {
  int n; DtVar *v[16]; DtVar **more;         /* n > 16: more has all n */
  bool is_list;                              /* Tensor[] */
  DtValue ret;                               /* non-tensor result */
} DtResults;

/* Full call: autograd, composites, events, dispatch.  The variables of `in`
** are borrowed.  Collective when anything must move, else Local. */
DtStatus dt_call (DtSession *s, const DtOpDef *op, const DtArgs *args,
                  int nin, DtVar *const *in, DtResults *out);
/* By name with emit's argument letters (see op/emit.h; t = DtVar *).  The
** first output. */
DtStatus dt_call_fmt (DtSession *s, DtVar **out, const char *op,
                      const char *fmt, ...);
void dt_results_fini (DtSession *s, DtResults *r);
/* The i-th result, borrowed. */
DtVar *dt_result (const DtResults *r, int i);

/* Below autograd: dispatch one operator (plain or distributed). */
DtStatus dt_dispatch (DtSession *s, const DtOpDef *op, const DtArgs *args,
                      int nin, DtVar *const *in, DtResults *out);
/* Run the local kernel of an operator on local tensors; meta, allocation,
** views, in-place and out= handled.  Emits KERNEL events. */
DtStatus dt_run_local (DtSession *s, const DtOpDef *op, const DtArgs *args,
                       int nin, DtTensor *const *in, int max,
                       DtTensor **out, int *nout, DtValue *ret);
/* Replace an argument of the call that failed last and run it again
** (`:fix 2`, then `:continue`). */

#endif
