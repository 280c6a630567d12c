/* SPDX-License-Identifier: MIT
** op/out_types.h: which types an out= of an operator may have. */
#ifndef DT_OP_OUT_TYPES_H
#define DT_OP_OUT_TYPES_H

#include "base/ctx.h"
#include "op/schema.h"
#include "tensor/dtype.h"

/* DTYPE (TYPE, where PyTorch raises that) with the words of the operator
** `sig`, an out= form called with `args`, unless its result of type `from` may
** be written to a tensor of type `to`.  Pure. */
DtStatus dt_out_type_check (DtCtx *cx, const DtSchema *sig, const DtArgs *args,
                            DtDtype from, DtDtype to);

#endif
