/* SPDX-License-Identifier: MIT
** tensor/redop.h: reduction operators of collectives and of Partial. */
#ifndef DT_TENSOR_REDOP_H
#define DT_TENSOR_REDOP_H

/* ORDER as PyTorch's ALL_REDUCE_OPS first (sum, avg, min, max, product). */
typedef enum DtRedOp {
  DT_OP_SUM, DT_OP_AVG, DT_OP_MIN, DT_OP_MAX, DT_OP_PRODUCT,
  DT_OP_BAND, DT_OP_BOR, DT_OP_BXOR, DT_NREDOPS
} DtRedOp;
/* "sum", "avg", ...; "?" out of range.  Pure. */
const char *dt_redop_name (DtRedOp op);
/* DT_NREDOPS when unknown.  Pure. */
DtRedOp dt_redop_find (const char *name);

#endif
