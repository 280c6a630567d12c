/* SPDX-License-Identifier: MIT
** oplib/op_unwritten.h: what operators say whose arithmetic is not written:
** they decide and infer shapes, and refuse data by name.  Private to oplib. */
#ifndef DT_OP_UNWRITTEN_H
#define DT_OP_UNWRITTEN_H

#include "oplib/oplib_int.h"

/* A gradient that raises NOTIMPL with the operator's name. */
DtStatus op_g_unwritten (DtGradCall *c);
/* A gradient that PyTorch has no formula for: AUTOGRAD, in its words. */
DtStatus op_g_absent (DtGradCall *c);

/* One definition of the families that share these fields. */
#define OP_DEF(id, schema_, brief_, flags_, meta_, kernel_, grad_, samples_, \
               ...) \
  const DtOpDef dt_op_##id = { \
    .schema = schema_, .brief = brief_, .flags = flags_, \
    .meta = meta_, .kernel = kernel_, .grad = grad_, .samples = samples_, \
    __VA_ARGS__ }

#endif
