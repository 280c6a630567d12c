/* SPDX-License-Identifier: MIT
** bind/process.h: other programs, pipes and a loopback port for subcommands
** that are written in Lua (tool.h). */
#ifndef DT_BIND_PROCESS_H
#define DT_BIND_PROCESS_H

#include "bind/bind.h"

/* Add spawn, wait_any, read, write, close, kill, reap, listen, accept, connect
** and setenv to the table on the top of the stack.  LUA.  Local. */
void dtL_process_open (lua_State *L);

/* tool.decode(text) -> the value of a JSON text, null is left out; nil and why
** when it is none.  LUA.  Local. */
int dtL_json_plain (lua_State *L);

#endif
