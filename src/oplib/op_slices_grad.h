/* SPDX-License-Identifier: MIT
** oplib/op_slices_grad.h: gradients of operators that change whole slices of a
** dim (op_slices_grad.c).  Private to oplib. */
#ifndef DT_OP_SLICES_GRAD_H
#define DT_OP_SLICES_GRAD_H

#include "oplib/oplib_int.h"

/* index_reduce and renorm: fields `grad` of their definitions.  Local. */
DtStatus op_g_index_reduce (DtGradCall *c);
DtStatus op_g_renorm (DtGradCall *c);

#endif
