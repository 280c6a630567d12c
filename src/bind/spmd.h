/* SPDX-License-Identifier: MIT
** bind/spmd.h: what the files of dt._spmd share: the types of tensors, kept
** with them.  All functions here are Local. */
#ifndef DT_BIND_SPMD_H
#define DT_BIND_SPMD_H

#include "bind/bind.h"
#include "spmd/spmd.h"

/* DtVar.types: the type, and the function that gave it (its number; 0: given
** otherwise). */
typedef struct DtVarType {
  DtSide side;
  const DtSpmdNode *node;
  int made;
} DtVarType;

/* The state of a rank. */
typedef struct DtLuaSpmd {
  DtSpmd s;
  DtSpmdKey asked;              /* of the call that was not known */
  lua_Integer ticket;           /* of that call */
  const void *list, *tuple;     /* metatables of sequences */
} DtLuaSpmd;

DtLuaSpmd *dtL_spmd (lua_State *L);
/* The type of a tensor; NULL when none was given. */
const DtSpmdNode *dtL_spmd_node (const DtVar *v);
const DtSpmdType *dtL_spmd_type (const DtVar *v);
/* Give it one; `made`: the number of the function, 0: as before.  NOMEM. */
DtStatus dtL_spmd_give (DtCtx *cx, DtVar *v, const DtSpmdNode *node, int made);
/* A list of {axis, type} at i.  Raises. */
void dtL_check_spmd_type (lua_State *L, DtSpmd *s, int i, DtSpmdType *t);
void dtL_push_spmd_type (lua_State *L, const DtSpmdType *t);
#endif
