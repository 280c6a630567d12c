/* SPDX-License-Identifier: MIT
** bind/slots.h: which locals of a Lua function under way are boxes, and where
** it was written.
** All functions here are Local. */
#ifndef DT_BIND_SLOTS_H
#define DT_BIND_SLOTS_H

#include <limits.h>
#include <string.h>
#include "bind/bind.h"

enum { DTL_SLOT = 16, DTL_TAG = 8 };    /* bytes of a slot; its tag's place */

/* Try how this Lua lays out its stack; once per state.  Without memory nothing
** is learned. */
void dtL_slots_learn (lua_State *L);

/* Slot 0 of a frame, its function.  Only where something was learned.  Pure. */
static inline const char *dtL_slots_func (const lua_Debug *ar) {
  const char *p;
  memcpy(&p, (const void *)ar->i_ci, sizeof p);
  return p;
}

/* Is the frame surely that of a C function?  Pure. */
static inline bool dtL_slots_is_c (const DtBind *b, const lua_Debug *ar) {
  return b->lua_tag != 0 &&
         (unsigned char)dtL_slots_func(ar)[DTL_TAG] != b->lua_tag;
}

/* Where the function of a frame comes from: its source, valid while it is on
** the stack, and its first line.  False for one of C. */
bool dtL_slots_source (lua_State *L, const DtBind *b, lua_Debug *ar,
                       const char **source, int *line);

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

/* The first local from i on that may be a tensor; INT_MAX when all others are
** none.  Pure. */
static inline int dtL_slots_next (const DtSlots *s, int i) {
  if (s->func == NULL) return i;
  for (; i <= s->n; i++)
    if ((unsigned char)s->func[i * DTL_SLOT + DTL_TAG] == s->box) return i;
  return INT_MAX;
}

#endif
