/* SPDX-License-Identifier: MIT
** shard/user.h: register_sharding: rules on one mesh dimension given at run
** time by a function, expanded like any op strategy.
** Source: tensor/experimental/_register_sharding.py, PyTorch 2.13. */
#ifndef DT_SHARD_USER_H
#define DT_SHARD_USER_H

#include "op/registry.h"

enum { DT_USER_MAX = 64 };      /* placements in a row */

typedef struct DtUserCell { bool none; DtPlacement pl; } DtUserCell;
/* Outputs, then inputs, as the user listed them (lengths unchecked). */
typedef struct DtUserRow { int n; DtUserCell cell[DT_USER_MAX]; } DtUserRow;
typedef struct DtUserRules {
  DtCtx *cx; DtArena *arena;
  int n, cap; DtUserRow *row;
} DtUserRules;

/* Fill `out` with rows for this call; an error passes through propagation as
** its cause. */
typedef DtStatus (*DtUserRuleFn) (void *ud, const DtStratCall *c,
                                  DtUserRules *out);

/* A new empty row; NULL + NOMEM.  Local. */
DtUserRow *dt_user_row (DtUserRules *r);
/* Give an operator rules.  Single-dim rules it already has still win.  `ud`
** is freed with the registry.  Agreed. */
DtStatus dt_user_rules_set (DtCtx *cx, DtRegistry *r, const DtOpDef *op,
                            DtUserRuleFn fn, void *ud,
                            void (*free_ud) (void *));

/* PyTorch's cache of decisions looks at the tensors of a call of an operator
** with a registered rule, at what follows the first int, and at keyword ints.
** Is argument `i` looked at?  Pure. */
bool dt_user_key_has (const DtOpDef *op, int i);
/* The arguments with the others taken out.  Pure. */
void dt_user_key_args (const DtOpDef *op, const DtArgs *args, DtArgs *out);

#endif
