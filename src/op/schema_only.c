/* SPDX-License-Identifier: MIT
** op/schema_only.c: what overloads do that are known by their schema only: refuse,
** in propagation as PyTorch does where nothing is registered, and otherwise
** by saying that they are not computed here. */
#include "base/error_shard.h"
#include "op/registry_int.h"

static DtStatus refuse (DtMetaCall *c) {
  const char *name = c->op->sig->full;
  DT_CHECK(c->cx, !c->fake, DT_E_MISSING, "Operator %s does not have a "
           "sharding strategy registered.", name);
  return dt_raise(c->cx, DT_E_NOTIMPL, "%s is known by its schema; it is not "
                  "computed here", name);
}

void dt_schema_only_fill (DtOpDef *def) {
  def->brief = "Known by its schema: has no rules, is not computed here.";
  def->flags = DT_OP_SCHEMA_ONLY | DT_OP_NOSTRATEGY | DT_OP_NOGRAD;
  def->meta = refuse;
}
