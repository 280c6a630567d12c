/* SPDX-License-Identifier: MIT
** oplib/casting.h: results that are written to a type of the operator's
** choice.  Pure. */
#ifndef DT_OPLIB_CASTING_H
#define DT_OPLIB_CASTING_H

#include "oplib/oplib_int.h"
#include "tensor/dtype_text.h"

/* DTYPE with PyTorch's text unless a result may be written to another type. */
static inline DtStatus op_castable (DtCtx *cx, DtDtype from, DtDtype to) {
  DT_CHECK(cx, dt_dtype_can_cast(from, to), DT_E_DTYPE,
           "result type %s can't be cast to the desired output type %s",
           dt_dtype_word(from), dt_dtype_word(to));
  return DT_OK;
}

#endif
