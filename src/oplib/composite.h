/* SPDX-License-Identifier: MIT
** oplib/composite.h: how functions that compute by other operators are written.
**
** C: a composite.  K: an operator that PyTorch dispatches whole; its program
** stands for its kernel, and its gradient is text as well. */
#ifndef DT_OPLIB_COMPOSITE_H
#define DT_OPLIB_COMPOSITE_H

#include "oplib/oplib_int.h"
#include "oplib/emitting.h"


/* Place of the argument `name`.  Pure. */
static inline int at (const DtDecompCall *c, const char *name) {
  return dt_schema_arg(c->args->schema, name);
}

#define C(id, schema_, brief_, decomp_, ...) \
  static const char *const id##_samples[] = { __VA_ARGS__, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = DT_OP_COMPOSITE, \
    .decomp = decomp_, .samples = id##_samples }
#define K(id, schema_, brief_, decomp_, grad_, backward_, ...) \
  static const char *const id##_samples[] = { __VA_ARGS__, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .decomp = decomp_, \
    .grad = grad_, .backward = backward_, .samples = id##_samples }

#define U "f32[8, 6]"
#define B "f32[8, 6], f32[8, 6]"

#endif
