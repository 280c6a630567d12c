/* SPDX-License-Identifier: MIT
** shard/pyset.c: the order in which CPython walks a set of placements.
**
** PyTorch collects placements in sets and lists candidates in the order the
** set happens to have; the first of equal candidates wins, so that order is
** part of its answers.  It is deterministic for Replicate and the shards
** (their hashes are made of integers); strings hash differently in every
** process, so a partial gets a fixed stand-in here.
** Facts: Objects/setobject.c and tupleobject.c, CPython 3.11. */
#include <string.h>
#include "base/hash.h"
#include "shard/prop_int.h"

enum { LINEAR_PROBES = 9, MIN_SIZE = 8, PERTURB_SHIFT = 5 };

/* xxHash of a tuple of two small integers. */
static uint64_t hash_pair (int64_t a, int64_t b) {
  const uint64_t p1 = UINT64_C(11400714785074694791);
  const uint64_t p2 = UINT64_C(14029467366897019727);
  const uint64_t p5 = UINT64_C(2870177450012600261);
  uint64_t acc = p5, lane[2] = { (uint64_t)a, (uint64_t)b };
  int i;
  for (i = 0; i < 2; i++) {
    acc += lane[i] * p2;
    acc = (acc << 31) | (acc >> 33);
    acc *= p1;
  }
  return acc + (2 ^ (p5 ^ UINT64_C(3527539)));
}

static uint64_t hash_int (int64_t v) {
  return (uint64_t)(v == -1 ? -2 : v);
}

static uint64_t placement_hash (unsigned seed, DtPlacement p) {
  uint64_t text = UINT64_C(0x7c3a5eb1) * (p.op + 1u) + p.kind;
  switch (p.kind) {
    case DT_PL_REPLICATE: return (uint64_t)-2;
    case DT_PL_SHARD: return hash_int(p.dim);
    case DT_PL_STRIDED: return hash_pair(p.dim, p.u.sf);
    default: return seed == 0 ? text : dt_hash_u64(text, seed);
  }
}

static DtStatus table_new (DtCtx *cx, DtArena *a, DtPySet *s, int size) {
  s->cell = DT_ANEWN(cx, a, struct DtPyCell, size);
  s->mask = size - 1;
  s->fill = s->n = 0;
  return s->cell == NULL ? DT_E_NOMEM : DT_OK;
}

DtStatus dt_pyset_init (DtCtx *cx, DtArena *a, unsigned seed, DtPySet *s) {
  s->seed = seed;
  return table_new(cx, a, s, MIN_SIZE);
}

/* The place of `p`, or the free place where it goes. */
static int find_cell (const DtPySet *s, DtPlacement p, uint64_t h) {
  uint64_t mask = (uint64_t)s->mask, i = h & mask, perturb = h;
  for (;;) {
    int probes = i + LINEAR_PROBES <= mask ? LINEAR_PROBES : 0, k;
    for (k = 0; k <= probes; k++) {
      const struct DtPyCell *c = &s->cell[i + (uint64_t)k];
      if (!c->used || (c->hash == h && dt_pl_equal(c->pl, p)))
        return (int)i + k;
    }
    perturb >>= PERTURB_SHIFT;
    i = (i * 5 + 1 + perturb) & mask;
  }
}

static void insert_placement (DtPySet *s, DtPlacement p, uint64_t h) {
  struct DtPyCell *c = &s->cell[find_cell(s, p, h)];
  if (c->used) return;
  c->used = true;
  c->hash = h;
  c->pl = p;
  s->n++;
  s->fill++;
}

static DtStatus resize_set (DtCtx *cx, DtArena *a, DtPySet *s, int minused) {
  DtPySet t;
  int size = MIN_SIZE, i;
  while (size <= minused) size *= 2;
  DT_TRY(cx, table_new(cx, a, &t, size));
  t.seed = s->seed;
  for (i = 0; i <= s->mask; i++)
    if (s->cell[i].used) insert_placement(&t, s->cell[i].pl, s->cell[i].hash);
  *s = t;
  return DT_OK;
}

DtStatus dt_pyset_add (DtCtx *cx, DtArena *a, DtPySet *s, DtPlacement p) {
  int before = s->n;
  insert_placement(s, p, placement_hash(s->seed, p));
  if (s->n == before || s->fill * 5 < s->mask * 3) return DT_OK;
  return resize_set(cx, a, s, s->n * 4);
}

DtStatus dt_pyset_merge (DtCtx *cx, DtArena *a, DtPySet *s,
                         const DtPySet *other) {
  int i;
  if ((s->fill + other->n) * 5 >= s->mask * 3)
    DT_TRY(cx, resize_set(cx, a, s, (s->n + other->n) * 2));
  if (s->fill == 0 && s->mask == other->mask) {
    memcpy(s->cell, other->cell, (size_t)(s->mask + 1) * sizeof *s->cell);
    s->n = s->fill = other->n;
    return DT_OK;
  }
  for (i = 0; i <= other->mask; i++)
    if (other->cell[i].used)
      DT_TRY(cx, dt_pyset_add(cx, a, s, other->cell[i].pl));
  return DT_OK;
}

DtStatus dt_pyset_copy (DtCtx *cx, DtArena *a, const DtPySet *src,
                        DtPySet *out) {
  DT_TRY(cx, dt_pyset_init(cx, a, src->seed, out));
  return dt_pyset_merge(cx, a, out, src);
}

int dt_pyset_list (const DtPySet *s, DtPlacement *out, int max) {
  int i, n = 0;
  for (i = 0; i <= s->mask && n < max; i++)
    if (s->cell[i].used) out[n++] = s->cell[i].pl;
  return n;
}
