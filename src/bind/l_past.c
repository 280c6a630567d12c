/* SPDX-License-Identifier: MIT
** bind/l_past.c: dt.debug's part of the record: names of script variables as
** they are recorded, and the state at any operator as data. */
#include <stdio.h>
#include <string.h>
#include "bind/frame.h"

void dtL_open_past (lua_State *L, int dt) {
  (void)L; (void)dt;
}
