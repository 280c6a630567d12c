/* SPDX-License-Identifier: MIT
** bind/names.h: names of the script's variables that hold given tensors. */
#ifndef DT_BIND_NAMES_H
#define DT_BIND_NAMES_H

#include "bind/bind.h"

/* For each v[i] without a name in out[i], the local, upvalue, table field or
** global of the script that holds it; names are interned.  Local. */
void dtL_find_names (lua_State *L, int n, DtVar *const *v, const char **out);

#endif
