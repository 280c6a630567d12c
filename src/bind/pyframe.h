/* SPDX-License-Identifier: MIT
** bind/pyframe.h: variables of Python programs.
**
** A statement of a Python file runs in a Lua function of its line whose one
** parameter is the scope it sees (lua/python/stmt.lua): a table
** {vars =, up =, scope =, name =}.  `vars` holds the names of the function,
** `up` is the scope around it, `scope` is where it begins ("f.py:12"; of a
** module "f.py:0"), `name` what it is called.  All of it is read raw, and
** reading does not allocate: names are asked for inside the engine.
**
** All functions here are Local. */
#ifndef DT_BIND_PYFRAME_H
#define DT_BIND_PYFRAME_H

#include "bind/bind.h"

typedef enum DtPyKey { DT_PY_VARS, DT_PY_UP, DT_PY_SCOPE, DT_PY_NAME } DtPyKey;

/* Push the scope of the frame of `co`; false, and nothing is pushed, when it
** runs no statement of Python. */
bool dtL_py_scope (lua_State *co, const lua_Debug *ar);
/* Push a part of the scope at `idx`. */
void dtL_py_get (lua_State *co, int idx, DtPyKey key);
/* Replace the scope on the top by the one around it; false, and it is popped,
** when there is none. */
bool dtL_py_up (lua_State *co);
/* Replace the scope on the top by the variables of the innermost scope that
** has the name; false, and it is popped, when none has. */
bool dtL_py_holder (lua_State *co, const char *name);
/* Replace the scope on the top by a table name -> value of its variables: what
** is data (no functions, classes, modules); the list part has the names in
** order.  Allocates. */
void dtL_py_locals (lua_State *co);
/* "list of 2" for a container of Python at `idx`, else false.  Allocates. */
bool dtL_py_outline (lua_State *L, int idx, DtBuf *out);
/* Remember the frame's scope, or none, for dt._python_scope(). */
void dtL_py_select (lua_State *L, lua_State *co, const lua_Debug *ar);
/* The stop is over: lines see the module that was stopped in, as it goes on,
** and nothing of its functions or of the past. */
void dtL_py_leave (lua_State *L);
/* Remember the environment on the top (which stays) as that of the past which
** is looked at, or that it is not. */
void dtL_py_past (lua_State *L, bool past);

#endif
