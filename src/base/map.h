/* SPDX-License-Identifier: MIT
** base/map.h: hash map from 64-bit hash + caller's equality to a pointer, and
** from strings to pointers.  Iteration is in insertion order.  Removing during
** an iteration is allowed, inserting is not.
** All functions here are Local unless they say Pure. */
#ifndef DT_BASE_MAP_H
#define DT_BASE_MAP_H

#include "base/ctx.h"

typedef bool (*DtMapEq) (const void *key, const void *other);

typedef struct DtMapEntry {
  uint64_t hash; const void *key; void *value; bool used;
} DtMapEntry;

typedef struct DtMap {
  DtCtx *cx; DtMapEq eq;
  DtMapEntry *e; int32_t *index;   /* entries in order; open addressing */
  int32_t n, ndead, cap, nindex;
} DtMap;

/* `eq` NULL: keys are C strings (not copied). */
void dt_map_init (DtMap *m, DtCtx *cx, DtMapEq eq);
void dt_map_fini (DtMap *m);
void dt_map_clear (DtMap *m);
/* The value or NULL.  Pure. */
void *dt_map_get (const DtMap *m, uint64_t hash, const void *key);
/* Insert or replace; the map does not own key or value.  Local. */
DtStatus dt_map_put (DtMap *m, uint64_t hash, const void *key, void *value);
/* Remove; returns the value or NULL.  Local. */
void *dt_map_del (DtMap *m, uint64_t hash, const void *key);
void *dt_map_get_str (const DtMap *m, const char *key);
DtStatus dt_map_put_str (DtMap *m, const char *key, void *value);
void *dt_map_del_str (DtMap *m, const char *key);
int32_t dt_map_count (const DtMap *m);
/* Next used entry at or after *it, NULL at the end; advances *it. */
DtMapEntry *dt_map_next (const DtMap *m, int32_t *it);

#endif
