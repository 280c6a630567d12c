/* SPDX-License-Identifier: MIT
** bind/tool.h: subcommands that are written in Lua and need no ranks. */
#ifndef DT_BIND_TOOL_H
#define DT_BIND_TOOL_H

#include "base/ctx.h"

/* In the environment of every program that a tool starts. */
#define DT_TOOL_CHILD "DTREPL_TOOL_CHILD"

/* Run module `name` of the library in a state of its own, with Lua's standard
** libraries and LPeg but without `dt`: the module is a function(tool, args)
** that returns the exit code.  LUA, NOMEM.  Local. */
DtStatus dtL_tool_run (DtCtx *cx, const char *name, int argc, char **argv,
                       int *code);

#endif
