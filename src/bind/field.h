/* SPDX-License-Identifier: MIT
** bind/field.h: what nearly every binding does with the table on the top of
** the stack: set a field.  All functions here are Local. */
#ifndef DT_BIND_FIELD_H
#define DT_BIND_FIELD_H

#include <lua.h>
#include "debug/debug.h"
#include "op/value.h"

/* Set field k of the table on the top.  NULL text leaves the field nil. */
void dtL_set_str (lua_State *L, const char *k, const char *v);
void dtL_set_int (lua_State *L, const char *k, int64_t v);
void dtL_set_num (lua_State *L, const char *k, double v);
void dtL_set_bool (lua_State *L, const char *k, bool v);

/* Push a list of n integers. */
void dtL_push_ints (lua_State *L, const int64_t *v, int64_t n);

/* Push an argument that is no tensor, list or None: numbers and texts as they
** are, others as {dtype = name} and alike; a dtype's name is torch's with
** `torch`, else ours.  False, with nothing pushed, for those three. */
bool dtL_push_plain_arg (lua_State *L, const DtValue *v, bool torch);

/* The debugger of this state's session; raises RuntimeError without one.
** A line typed at a stop sees the program's record from here on. */
DtDebug *dtL_check_debug (lua_State *L);
/* The recorded operator at idx: a number, or "#7+2" for the second typed at a
** stop after #7; nothing: the last.  INDEX.  Local. */
const DtRecOp *dtL_check_recorded (lua_State *L, int idx, DtDebug *d);

#endif
