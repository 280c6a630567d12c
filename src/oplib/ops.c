/* SPDX-License-Identifier: MIT
** oplib/ops.c: the tables of all built-in operators, from the lists
** that scripts/gen-operators.lua makes of the .ops texts: ops.def (written out),
** variants.def (derived from a base), schema_only.def (known by schema). */
#include "oplib/oplib_int.h"

#define X(id) extern const DtOpDef dt_op_##id;
#include "oplib/ops.def"
#undef X

const DtOpDef *const dt_ops[] = {
#define X(id) &dt_op_##id,
#include "oplib/ops.def"
#undef X
  NULL
};

const DtVariant dt_variants[] = {
#define ROW(schema, base, kind, bare) \
  { "aten::" schema, "aten." base, DT_VAR_##kind, bare },
#define V(schema, base, kind) ROW(schema, base, kind, false)
#define U(schema, base, kind) ROW(schema, base, kind, true)
#include "oplib/variants.def"
#undef U
#undef V
#undef ROW
#define N(schema) { "aten::" schema, NULL, DT_VAR_KNOWN, true },
#include "oplib/schema_only.def"
#undef N
  { NULL, NULL, DT_VAR_INPLACE, false }
};
