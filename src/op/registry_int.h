/* SPDX-License-Identifier: MIT
** op/registry_int.h: what the registry's parts share.  Private to op/. */
#ifndef DT_OP_REGISTRY_INT_H
#define DT_OP_REGISTRY_INT_H

#include "base/map.h"
#include "op/registry.h"

enum { DT_MAX_OVERLOADS = 48 };

/* Put the overloads of a packet in the order PyTorch's parser tries them.
** Pure but for scratch. */
DtStatus dt_packet_sort (DtCtx *cx, int n, const DtOpDef **op);
/* Fill `def` (schema parsed into def->sig) from its base.  INTERNAL when the
** schemas do not correspond.  Pure. */
DtStatus dt_variant_fill (DtCtx *cx, DtVariantKind kind, const DtOpDef *base,
                          DtOpDef *def);
/* Fill `def` with what an overload known by its schema does: refuse.  Pure. */
void dt_schema_only_fill (DtOpDef *def);
/* What selfcheck asks of one operator.  INTERNAL naming it.  Pure. */
DtStatus dt_opdef_check (DtCtx *cx, const DtOpDef *op);

#endif
