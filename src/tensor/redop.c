/* SPDX-License-Identifier: MIT
** tensor/redop.c: the names of reduction operators. */

#include <string.h>
#include "tensor/redop.h"

static const char *const names[DT_NREDOPS] = {
  [DT_OP_SUM] = "sum", [DT_OP_AVG] = "avg", [DT_OP_MIN] = "min",
  [DT_OP_MAX] = "max", [DT_OP_PRODUCT] = "product", [DT_OP_BAND] = "band",
  [DT_OP_BOR] = "bor", [DT_OP_BXOR] = "bxor",
};

const char *dt_redop_name (DtRedOp op) {
  return (unsigned)op < DT_NREDOPS ? names[op] : "?";
}

DtRedOp dt_redop_find (const char *name) {
  for (int i = 0; name != NULL && i < DT_NREDOPS; i++)
    if (strcmp(name, names[i]) == 0) return (DtRedOp)i;
  return DT_NREDOPS;
}
