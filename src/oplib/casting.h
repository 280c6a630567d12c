/* SPDX-License-Identifier: MIT
** oplib/casting.h: results whose type or order of dims is the operator's
** choice.  Pure. */
#ifndef DT_OPLIB_CASTING_H
#define DT_OPLIB_CASTING_H

#include "oplib/oplib_int.h"
#include "tensor/dtype_text.h"

/* DTYPE with PyTorch's text unless a result may be written to another type.
** Pure. */
static inline DtStatus op_castable (DtCtx *cx, DtDtype from, DtDtype to) {
  DT_CHECK(cx, dt_dtype_can_cast(from, to), DT_E_DTYPE,
           "result type %s can't be cast to the desired output type %s",
           dt_dtype_word(from), dt_dtype_word(to));
  return DT_OK;
}

/* As op_pw_meta; the dims of the result lie as the second operand has them.
** Pure. */
static inline DtStatus op_pw_meta_second (DtMetaCall *c) {
  DtMeta r;
  OpOperand o[2] = { { .m = c->in[1] }, { .m = c->in[0] } };
  DT_TRY(c->cx, op_pw_meta(c));
  if (c->fake) return DT_OK;
  DT_TRY(c->cx, op_broadcast(c->cx, 2, o, (DtDtype)c->out[0].dtype, &r));
  dt_meta_copy(&c->out[0], &r);
  return DT_OK;
}

/* RUNTIME with the words of PyTorch's iterators unless a type is the expected
** one.  Pure. */
static inline DtStatus op_found_type (DtCtx *cx, const DtMeta *m, DtDtype want) {
  DT_CHECK(cx, m == NULL || m->dtype == want, DT_E_RUNTIME,
           "Found dtype %s but expected %s",
           dt_dtype_word(m != NULL ? (DtDtype)m->dtype : want),
           dt_dtype_word(want));
  return DT_OK;
}

#endif
