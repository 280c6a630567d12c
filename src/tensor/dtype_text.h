/* SPDX-License-Identifier: MIT
** tensor/dtype_text.h: what PyTorch's errors call a tensor's type, and which
** results may be written to it. */
#ifndef DT_TENSOR_DTYPE_TEXT_H
#define DT_TENSOR_DTYPE_TEXT_H

#include "tensor/dtype.h"

/* A tensor's type in errors: "torch.FloatTensor", "CPUBoolType".  Static text.
** Pure. */
const char *dt_dtype_type_text (DtDtype t);

/* torch.can_cast: may a result of type `from` be written to a `to`?
** Pure. */
bool dt_dtype_can_cast (DtDtype from, DtDtype to);

#endif
