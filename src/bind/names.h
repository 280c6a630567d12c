/* SPDX-License-Identifier: MIT
** bind/names.h: names of the script's variables that hold given tensors. */
#ifndef DT_BIND_NAMES_H
#define DT_BIND_NAMES_H

#include "bind/bind.h"

#include "debug/debug.h"

/* For each v[i] without a name in out[i], the local, upvalue, table field or
** global of the script that holds it; names are interned.  Local. */
void dtL_find_names (lua_State *L, int n, DtVar *const *v, const char **out);
/* The names of a failed call's inputs: variables; in a program of Python what
** its line says for those that no variable holds.  Local. */
void dtL_name_failed (lua_State *L, DtFailed *f);
/* Adds dt._python_operands(), by which the function that reads a line comes.
** Local. */
void dtL_open_names (lua_State *L, int dt);

#endif
