/* SPDX-License-Identifier: MIT
** shard/user.h: sharding rules given by a script (register_sharding).
**
** The rule function sees the call as a strategy does and returns rows on one
** mesh dim: placements of the results, one per schema return (None where it
** is no tensor), then of the arguments (None for what is no tensor).  The
** engine multiplies them over the mesh.
** Semantics: experimental/_register_sharding.py, 2.13 (core.md 4.12). */
#ifndef DT_SHARD_USER_H
#define DT_SHARD_USER_H

#include "shard/prop.h"

enum { DT_USER_MAX = 64 };      /* placements in one row */

typedef struct DtUserCell { bool none; DtPlacement pl; } DtUserCell;
typedef struct DtUserRow { int n; DtUserCell cell[DT_USER_MAX]; } DtUserRow;
typedef struct DtUserRules {
  DtCtx *cx; DtArena *arena;
  int n, cap;
  DtUserRow *row;
} DtUserRules;

/* Append an empty row; NULL + NOMEM.  Local. */
DtUserRow *dt_user_row (DtUserRules *r);

/* Fills `out`; errors become the cause of the propagation error. */
typedef DtStatus (*DtUserFn) (void *ud, const DtStratCall *c,
                              DtUserRules *out);
/* Give `op` rules; `ud` belongs to the registry from now on (not when this
** fails).  Forget cached decisions afterwards: dt_prop_clear().  Agreed. */
DtStatus dt_user_rules_set (DtCtx *cx, DtRegistry *r, const DtOpDef *op,
                            DtUserFn fn, void *ud,
                            void (*free_ud) (void *));

#endif
