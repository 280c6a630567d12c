/* SPDX-License-Identifier: MIT
** op/refuse.h: element types that PyTorch's CPU kernels of operators other
** than pointwise ones refuse, and with which words. */
#ifndef DT_OP_REFUSE_H
#define DT_OP_REFUSE_H

#include "op/value.h"
#include "op/schema.h"

typedef struct DtRefusal DtRefusal;

/* The rows for an operator, or the one it is derived from; NULL: none.
** Pure. */
const DtRefusal *dt_refusal_find (const DtSchema *sig);
/* NOTIMPL (or RUNTIME) with PyTorch's text when the computation's type, which
** is argument dtype's or else input 0's, is refused.  Pure. */
DtStatus dt_refuse (DtCtx *cx, const DtRefusal *r, const DtSchema *sig,
                    const DtArgs *args, int nin, const DtMeta *const *in);

#endif
