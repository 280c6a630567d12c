/* SPDX-License-Identifier: MIT
** oplib/ops.h: the built-in operators, handed to the session at start. */
#ifndef DT_OPLIB_OPS_H
#define DT_OPLIB_OPS_H

#include "op/registry.h"

/* Sorted by name, NULL-terminated; and the derived forms. */
extern const DtOpDef *const dt_ops[];
extern const DtVariant dt_variants[];
/* What later releases rule, ended by a NULL name. */
extern const DtRuling dt_rulings[];

#endif
