/* SPDX-License-Identifier: MIT
** mesh/spec_int.h: shard order helpers between spec.c and order.c. */
#ifndef DT_MESH_SPEC_INT_H
#define DT_MESH_SPEC_INT_H

#include "mesh/spec.h"

/* Shard dims are not negative (the default order needs that).  ASSERT.
** Pure. */
DtStatus dt_order_check_dims (DtCtx *cx, const DtPlacement *pl, int npl);
/* An explicit order fits the placements; not looked at when any placement is
** strided.  ASSERT with PyTorch's (often empty) text.  Pure. */
DtStatus dt_order_verify (DtCtx *cx, const DtPlacement *pl, int npl,
                          const DtShardOrder *order);

#endif
