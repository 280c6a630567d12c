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

/* Try how this Lua lays out its stack; once per state.  Without memory, or with
** a Lua that is not known, nothing is learned. */
void dtL_slots_learn (lua_State *L);
/* Ask the interface for everything from now on. */
void dtL_slots_forget (DtBind *b);

/* The record of a call, as `i_ci` of its lua_Debug: places of slot 0, of the
** call outside it and of where its function stands. */
enum { DTL_CI_FUNC = 0, DTL_CI_CALLER = 16, DTL_CI_PC = 32 };

static inline const void *dtL_slots_at (const void *p, int at) {
  const void *q;
  memcpy(&q, (const char *)p + at, sizeof q);
  return q;
}

/* Slot 0 of a frame, its function.  Only where something was learned.  Pure. */
static inline const char *dtL_slots_func (const lua_Debug *ar) {
  return (const char *)dtL_slots_at((const void *)ar->i_ci, DTL_CI_FUNC);
}

/* Is the frame surely that of a C function?  Pure. */
static inline bool dtL_slots_is_c (const DtBind *b, const lua_Debug *ar) {
  return b->lua_tag != 0 &&
         (unsigned char)dtL_slots_func(ar)[DTL_TAG] != b->lua_tag;
}

/* From the frame of `level`, in *ar, to the one that called it: that of
** level + 1.  False, and *ar is of no use, when there is none. */
static inline bool dtL_slots_out (lua_State *L, const DtBind *b, int level,
                                  lua_Debug *ar) {
  const void *ci;
  if (!b->links) return lua_getstack(L, level + 1, ar) != 0;
  ci = dtL_slots_at((const void *)ar->i_ci, DTL_CI_CALLER);
  memcpy(&ar->i_ci, &ci, sizeof ci);
  return dtL_slots_at(ci, DTL_CI_CALLER) != NULL;       /* the lowest is none */
}

/* The general way of the next function. */
bool dtL_slots_ask (lua_State *L, lua_Debug *ar, const char **source, int *line);

/* Bytes from a function of Lua to its prototype, from there to its first line
** and its source, and in that to the text. */
enum { DTL_PROTO = 24, DTL_LINE = 44, DTL_SOURCE = 112, DTL_TEXT = 24 };

/* NULL when the source was left out.  Pure. */
static inline const char *dtL_source_of (const void *func, int *line) {
  const char *proto, *s;
  memcpy(&proto, (const char *)func + DTL_PROTO, sizeof proto);
  memcpy(&s, proto + DTL_SOURCE, sizeof s);
  memcpy(line, proto + DTL_LINE, sizeof *line);
  return s ? s + DTL_TEXT : NULL;
}

/* Where the function of a frame comes from: its source, valid while it is on
** the stack, and its first line.  False for one of C. */
static inline bool dtL_slots_source (lua_State *L, const DtBind *b,
                                     lua_Debug *ar, const char **source,
                                     int *line) {
  const void *func;
  if (dtL_slots_is_c(b, ar)) return false;
  if (b->protos) {
    memcpy(&func, dtL_slots_func(ar), sizeof func);
    *source = dtL_source_of(func, line);
    if (*source != NULL) return true;
  }
  return dtL_slots_ask(L, ar, source, line);
}

/* Is a source the library's: "=[dt.nn]", or "=[dt:python.values]" of the trees
** beside dt (embed.c)?  Pure. */
static inline bool dtL_is_ours (const char *source) {
  return source[0] == '=' && source[1] == '[' && source[2] == 'd' &&
         source[3] == 't';
}

/* The function of a frame and where it is: two times the same pair with the
** same `i_ci` is the same point of the same function.  NULL: not known. */
static inline const void *dtL_slots_pc (const DtBind *b, const lua_Debug *ar,
                                        const void **func) {
  if (!b->pcs) return NULL;
  *func = dtL_slots_at(dtL_slots_func(ar), 0);
  return dtL_slots_at((const void *)ar->i_ci, DTL_CI_PC);
}

/* The locals of a frame: local i lies in slot i. */
typedef struct DtSlots {
  const char *func;             /* slot 0; NULL: not known, ask for each */
  int n;                        /* slots from 1 to n */
  unsigned char box;            /* tag of a full userdata */
  const void *meta;             /* metatable of tensors; NULL: boxes cannot be
                                ** looked into */
} DtSlots;

/* Those of the frame `ar`, which called the frame `inner` of the same stack;
** `inner` NULL: not known.  Valid until something runs on that stack.  Pure. */
static inline DtSlots dtL_slots_of (const DtBind *b, const lua_Debug *inner,
                                    const lua_Debug *ar) {
  DtSlots s = { NULL, 0, b->box_tag, b->boxes ? b->tensor_meta : NULL };
  const char *end;
  if (b->box_tag == 0 || inner == NULL) return s;
  s.func = dtL_slots_func(ar);
  end = dtL_slots_func(inner);
  s.n = end > s.func ? (int)((end - s.func) / DTL_SLOT) - 1 : 0;
  return s;
}

/* A full userdata's metatable, and what is in it when it has one value of the
** user's as boxes of tensors do: places from where it begins. */
enum { DTL_BOX_META = 24, DTL_BOX_MEMORY = 56 };

/* The first local from i on that may be a tensor; INT_MAX when all others are
** none.  *v is its tensor when that is known, else NULL.  Pure. */
static inline int dtL_slots_next (const DtSlots *s, int i, DtVar **v) {
  *v = NULL;
  if (s->func == NULL) return i;
  for (; i <= s->n; i++) {
    const char *slot = s->func + i * DTL_SLOT, *box;
    const void *meta;
    if ((unsigned char)slot[DTL_TAG] != s->box) continue;
    if (s->meta == NULL) return i;
    memcpy(&box, slot, sizeof box);
    memcpy(&meta, box + DTL_BOX_META, sizeof meta);
    if (meta != s->meta) continue;
    memcpy(v, box + DTL_BOX_MEMORY, sizeof *v);
    if (*v != NULL) return i;
  }
  return INT_MAX;
}

#endif
