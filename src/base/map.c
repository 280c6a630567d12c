/* SPDX-License-Identifier: MIT
** base/map.c: the hash map.
**
** Entries lie in one array in the order they were inserted; `index` is an
** open-addressing table (linear probing, a power of two, at most half full)
** of positions in it, -1 for a free place.  A removed entry stays in both as
** a dead one until the array is full, then the array is packed: deleting
** while iterating is therefore safe, inserting is not. */
#include <string.h>
#include "base/hash.h"
#include "base/map.h"
#include "base/testing.h"

void dt_map_init (DtMap *m, DtCtx *cx, DtMapEq eq) {
  memset(m, 0, sizeof *m);
  m->cx = cx;
  m->eq = eq;
}

void dt_map_fini (DtMap *m) {
  dt_free(m->cx, m->e);
  dt_free(m->cx, m->index);
  dt_map_init(m, m->cx, m->eq);
}

static void index_reset (int32_t *index, int32_t n) {
  int32_t i;
  for (i = 0; i < n; i++)
    index[i] = -1;
}

void dt_map_clear (DtMap *m) {
  m->n = m->ndead = 0;
  index_reset(m->index, m->nindex);
}

static bool key_eq (const DtMap *m, const void *a, const void *b) {
  return m->eq != NULL ? m->eq(a, b) : strcmp(a, b) == 0;
}

static DtMapEntry *map_find (const DtMap *m, uint64_t hash,
                             const void *key) {
  uint64_t mask = (uint64_t)m->nindex - 1, i;
  if (m->nindex == 0)
    return NULL;
  for (i = hash & mask; m->index[i] >= 0; i = (i + 1) & mask) {
    DtMapEntry *e = &m->e[m->index[i]];
    if (e->used && e->hash == hash && key_eq(m, e->key, key))
      return e;
  }
  return NULL;
}

static void index_add (DtMap *m, int32_t pos) {
  uint64_t mask = (uint64_t)m->nindex - 1;
  uint64_t i = m->e[pos].hash & mask;
  while (m->index[i] >= 0)
    i = (i + 1) & mask;
  m->index[i] = pos;
}

/* Drop dead entries and build the index again. */
static void map_pack (DtMap *m) {
  int32_t i, n = 0;
  index_reset(m->index, m->nindex);
  for (i = 0; i < m->n; i++) {
    if (m->e[i].used) {
      m->e[n] = m->e[i];
      index_add(m, n++);
    }
  }
  m->n = n;
  m->ndead = 0;
}

/* Make room for one more entry; the map is unchanged on failure. */
static DtStatus map_grow (DtMap *m) {
  int32_t cap = m->cap, *index;
  DtMapEntry *e;
  if (m->n < m->cap)
    return DT_OK;
  if (m->ndead <= m->n / 2) {
    DT_CHECK(m->cx, cap < INT32_MAX / 8, DT_E_LIMIT,
             "a map cannot hold more than %d entries", (int)cap);
    cap = cap > 0 ? cap * 2 : (int32_t)DT_MAP_FIRST;
    e = dt_realloc(m->cx, m->e, (size_t)cap * sizeof *e);
    if (e == NULL)
      return DT_E_NOMEM;
    m->e = e;
    index = dt_realloc(m->cx, m->index, (size_t)cap * 2 * sizeof *index);
    if (index == NULL)
      return DT_E_NOMEM;
    m->index = index;
    m->cap = cap;
    m->nindex = cap * 2;
  }
  map_pack(m);
  return DT_OK;
}

void *dt_map_get (const DtMap *m, uint64_t hash, const void *key) {
  DtMapEntry *e = map_find(m, hash, key);
  return e != NULL ? e->value : NULL;
}

DtStatus dt_map_put (DtMap *m, uint64_t hash, const void *key, void *value) {
  DtMapEntry *e = map_find(m, hash, key);
  if (e == NULL) {
    DT_TRY(m->cx, map_grow(m));
    e = &m->e[m->n];
    e->hash = hash;
    e->used = true;
    e->key = key;
    index_add(m, m->n++);
  }
  e->key = key;                   /* the old key may die with its value */
  e->value = value;
  return DT_OK;
}

void *dt_map_del (DtMap *m, uint64_t hash, const void *key) {
  DtMapEntry *e = map_find(m, hash, key);
  if (e == NULL)
    return NULL;
  e->used = false;
  m->ndead++;
  return e->value;
}

void *dt_map_get_str (const DtMap *m, const char *key) {
  return dt_map_get(m, dt_hash_str(DT_HASH_SEED, key), key);
}

DtStatus dt_map_put_str (DtMap *m, const char *key, void *value) {
  return dt_map_put(m, dt_hash_str(DT_HASH_SEED, key), key, value);
}

void *dt_map_del_str (DtMap *m, const char *key) {
  return dt_map_del(m, dt_hash_str(DT_HASH_SEED, key), key);
}

int32_t dt_map_count (const DtMap *m) {
  return m->n - m->ndead;
}

DtMapEntry *dt_map_next (const DtMap *m, int32_t *it) {
  while (*it < m->n) {
    DtMapEntry *e = &m->e[(*it)++];
    if (e->used)
      return e;
  }
  return NULL;
}
