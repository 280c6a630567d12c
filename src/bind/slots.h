/* SPDX-License-Identifier: MIT
** bind/slots.h: which locals of a Lua function under way are boxes.
** All functions here are Local. */
#ifndef DT_BIND_SLOTS_H
#define DT_BIND_SLOTS_H

#include "bind/bind.h"

/* Try how this Lua lays out its stack; once per state.  Without memory nothing
** is learned. */
void dtL_slots_learn (lua_State *L);

/* The locals of a frame: local i lies in slot i. */
typedef struct DtSlots {
  const char *func;             /* slot 0; NULL: not known, ask for each */
  int n;                        /* slots from 1 to n */
  unsigned char box;            /* tag of a full userdata */
} DtSlots;

/* Those of the frame `ar`, which called the frame `inner` of the same stack;
** `inner` NULL: not known.  Valid until something runs on that stack.  Pure. */
DtSlots dtL_slots_of (const DtBind *b, const lua_Debug *inner,
                      const lua_Debug *ar);

/* May local i be a tensor?  False only when it is none.  Pure. */
bool dtL_slots_may (const DtSlots *s, int i);

#endif
