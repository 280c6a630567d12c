/* SPDX-License-Identifier: MIT
** oplib/op_bag.h: the gradient of bags of rows.  Private to oplib. */
#ifndef DT_OPLIB_OP_BAG_H
#define DT_OPLIB_OP_BAG_H

#include "op/opdef.h"

/* For the table and the numbers its rows are multiplied by: one operator
** each.  Local. */
DtStatus op_bag_grad (DtGradCall *c);

#endif
