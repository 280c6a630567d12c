/* SPDX-License-Identifier: MIT
** oplib/fill.h: what fills of tensors with random numbers share. */
#ifndef DT_OPLIB_FILL_H
#define DT_OPLIB_FILL_H

#include "oplib/oplib_int.h"

/* Any shard, no partial: each element is drawn once, wherever it lies.
** Source: torch/distributed/tensor/_ops/_random_ops.py:
** _random_inplace_single_dim_strategy@2.13. */
DtStatus op_r_fill (DtRuleCall *c);

#endif
