/* SPDX-License-Identifier: MIT
** op/saved.h: what autograd keeps of a call besides what the gradient's own
** code reads: which outputs are kept (each is detached when it is kept and
** again when it is used), which outputs are differentiable at all, and when
** an in-place operator keeps a clone of what it overwrites. */
#ifndef DT_OP_SAVED_H
#define DT_OP_SAVED_H

#include <stdbool.h>
#include <stdint.h>
#include "op/schema.h"

typedef struct DtSaved {
  const char *name;             /* "exp", "max.dim" */
  uint32_t keep;                /* bits: kept differentiable outputs; bit 0
                                ** of an operator that returns a list means
                                ** every element */
  uint32_t diff;                /* bits: differentiable outputs */
  const char *self;             /* in-place: the argument whose gradient reads
                                ** the old self, "*" always, NULL never */
} DtSaved;

/* The row of an operator of namespace aten; never NULL.  Pure. */
const DtSaved *dt_saved_find (const DtSchema *sig);

/* The arguments it keeps: "mat1:mat2 mat2:mat1", each alone or with the one
** whose gradient it is kept for; NULL if none.  Pure. */
const char *dt_saved_args (const DtSchema *sig);
/* Does a text of oplib say what it keeps, were it nothing?  Pure. */
bool dt_saved_said (const DtSchema *sig);
/* The same of its results.  Pure. */
bool dt_saved_results_said (const DtSchema *sig);

/* Names of the rows of all those tables by their number, without namespace and
** ".default"; NULL behind the last.  Pure. */
const char *dt_saved_name (int i);

/* Operators ("aten.vstack.default") whose decomposition PyTorch gives up on in
** `release`; the i-th of them all, NULL behind the last.  Pure. */
bool dt_untraced_has (const char *full, int release);
const char *dt_untraced_name (int i);

#endif
