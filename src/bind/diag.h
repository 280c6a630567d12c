/* SPDX-License-Identifier: MIT
** bind/diag.h: dt.debug.findings() and what belongs to it. */
#ifndef DT_BIND_DIAG_H
#define DT_BIND_DIAG_H

#include <lua.h>

/* Add findings, findings_text, findings_clear, findings_on and traps to
** dt.debug, and dt._finding for the library.  Local. */
void dtL_open_diag (lua_State *L);

#endif
