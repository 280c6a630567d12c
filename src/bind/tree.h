/* SPDX-License-Identifier: MIT
** bind/tree.h: trees of Python texts, read at build time. */
#ifndef DT_BIND_TREE_H
#define DT_BIND_TREE_H

#include <stddef.h>
#include <lua.h>

/* Push the tree that scripts/tree_writer.lua wrote as these `n` bytes: a new
** table each time, which the caller may change.  Raises for bytes that end too
** soon, go on too long, or count beyond their lists.  Local. */
void dtL_push_tree (lua_State *L, const char *bytes, size_t n);

#endif
