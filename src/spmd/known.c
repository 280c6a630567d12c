/* SPDX-License-Identifier: MIT
** spmd/known.c: what was found out once: types, which are kept in one copy
** each and have numbers, and calls that were legal, by the function, the
** operands' types and the mode.  Nothing is ever forgotten: a program has few
** of either. */
#include <string.h>
#include "base/hash.h"
#include "base/map.h"
#include "spmd/rule_int.h"

typedef struct Mode { int nmesh, mesh[DT_SPMD_AXES]; bool strict; } Mode;

typedef struct DtSpmdKnown {
  DtMap types, calls;           /* DtSpmdType -> node, DtSpmdKey -> node */
  DtSpmdNode **node; int n, cap;
  Mode *mode; int nmodes;
} DtSpmdKnown;

/* {==== Types ==== */

static bool same_spec (const DtSpmdType *a, const DtSpmdType *b) {
  if (a->ndim != b->ndim) return false;
  for (int i = 0; i < a->ndim; i++) {
    if (a->dim[i].n != b->dim[i].n) return false;
    for (int k = 0; k < a->dim[i].n; k++)
      if (a->dim[i].axis[k] != b->dim[i].axis[k]) return false;
  }
  return true;
}

static bool same_type (const void *x, const void *y) {
  const DtSpmdType *a = (const DtSpmdType *)x, *b = (const DtSpmdType *)y;
  if (a->n != b->n) return false;
  for (int i = 0; i < a->n; i++)
    if (a->at[i].axis != b->at[i].axis || a->at[i].type != b->at[i].type)
      return false;
  return same_spec(a, b);
}

static uint64_t hash_type (const DtSpmdType *t) {
  uint64_t h = dt_hash_u64(DT_HASH_SEED, (uint64_t)(t->ndim + 1));
  for (int i = 0; i < t->n; i++)
    h = dt_hash_u64(h, (uint64_t)t->at[i].axis << 8 |
                         (unsigned char)t->at[i].type);
  for (int i = 0; i < t->ndim; i++) {
    h = dt_hash_u64(h, (uint64_t)t->dim[i].n);
    for (int k = 0; k < t->dim[i].n; k++)
      h = dt_hash_u64(h, (uint64_t)t->dim[i].axis[k]);
  }
  return h;
}

/* }==== */

static bool same_key (const void *x, const void *y) {
  const DtSpmdKey *a = (const DtSpmdKey *)x, *b = (const DtSpmdKey *)y;
  return a->function == b->function && a->mode == b->mode && a->n == b->n &&
         memcmp(a->in, b->in, sizeof a->in[0] * (size_t)a->n) == 0;
}

static uint64_t hash_key (const DtSpmdKey *k) {
  uint64_t h = dt_hash_u64(DT_HASH_SEED, (uint64_t)k->function << 32 |
                                           (uint32_t)k->mode);
  for (int i = 0; i < k->n; i++) h = dt_hash_u64(h, k->in[i]);
  return h;
}

static DtStatus known_of (DtSpmd *s, DtSpmdKnown **out) {
  if (s->known == NULL) {
    s->known = DT_NEW(s->cx, DtSpmdKnown);
    if (s->known == NULL) return DT_E_NOMEM;
    dt_map_init(&s->known->types, s->cx, same_type);
    dt_map_init(&s->known->calls, s->cx, same_key);
  }
  *out = s->known;
  return DT_OK;
}

void dt_spmd_forget_known (DtSpmd *s) {
  DtSpmdKnown *k = s->known;
  DtMapEntry *e;
  int32_t it = 0;
  if (k == NULL) return;
  while ((e = dt_map_next(&k->calls, &it)) != NULL)
    dt_free(s->cx, (void *)(uintptr_t)e->key);
  dt_map_fini(&k->calls);
  dt_map_fini(&k->types);
  for (int i = 0; i < k->n; i++) dt_free(s->cx, k->node[i]);
  dt_free(s->cx, k->node);
  dt_free(s->cx, k->mode);
  dt_free(s->cx, k);
  s->known = NULL;
}

/* Nodes are allocated one by one: the map's keys and the callers hold their
** addresses, which an array that grows would change. */
static DtStatus add_node (DtSpmd *s, DtSpmdKnown *k, const DtSpmdType *t,
                          uint64_t hash, const DtSpmdNode **out) {
  DtSpmdNode *node;
  DtStatus st;
  if (k->n == k->cap) {
    int cap = k->cap ? 2 * k->cap : 32;
    DtSpmdNode **more = (DtSpmdNode **)dt_realloc(s->cx, k->node,
      sizeof *more * (size_t)cap);
    if (more == NULL) return DT_E_NOMEM;
    k->node = more;
    k->cap = cap;
  }
  if ((node = DT_NEW(s->cx, DtSpmdNode)) == NULL) return DT_E_NOMEM;
  node->type = *t;
  node->id = k->n + 1;
  st = dt_map_put(&k->types, hash, &node->type, node);
  if (st != DT_OK) {
    dt_free(s->cx, node);
    return st;
  }
  k->node[k->n++] = node;
  *out = node;
  return DT_OK;
}

DtStatus dt_spmd_intern (DtSpmd *s, const DtSpmdType *t,
                         const DtSpmdNode **out) {
  uint64_t hash = hash_type(t);
  DtSpmdKnown *k;
  DT_TRY(s->cx, known_of(s, &k));
  *out = (const DtSpmdNode *)dt_map_get(&k->types, hash, t);
  return *out != NULL ? DT_OK : add_node(s, k, t, hash, out);
}

const DtSpmdNode *dt_spmd_node (const DtSpmd *s, int id) {
  return s->known != NULL && id >= 1 && id <= s->known->n
           ? s->known->node[id - 1] : NULL;
}

/* {==== Modes ==== */

static bool is_mode (const Mode *m, int nmesh, const int *mesh, bool strict) {
  if (m->nmesh != nmesh || m->strict != strict) return false;
  for (int i = 0; i < nmesh; i++)
    if (m->mesh[i] != mesh[i]) return false;
  return true;
}

/* The number of the mode is part of the key of calls, so a mode that comes
** again has to get its old one. */
DtStatus dt_spmd_set_mode (DtSpmd *s, int nmesh, const int *mesh,
                           bool strict) {
  DtSpmdKnown *k;
  Mode *more;
  DT_TRY(s->cx, known_of(s, &k));
  s->nmesh = nmesh;
  s->strict = strict;
  for (int i = 0; i < nmesh; i++) s->mesh[i] = mesh[i];
  for (s->mode = 0; s->mode < k->nmodes; s->mode++)
    if (is_mode(&k->mode[s->mode], nmesh, mesh, strict)) return DT_OK;
  more = (Mode *)dt_realloc(s->cx, k->mode,
                            sizeof *more * (size_t)(k->nmodes + 1));
  if (more == NULL) return DT_E_NOMEM;
  k->mode = more;
  memset(&more[k->nmodes], 0, sizeof *more);
  more[k->nmodes].nmesh = nmesh;
  more[k->nmodes].strict = strict;
  for (int i = 0; i < nmesh; i++) more[k->nmodes].mesh[i] = mesh[i];
  k->nmodes++;
  return DT_OK;
}

/* }==== */

/* {==== Calls ==== */

/* A word an operand: 24 bits of the type's number, 6 of the argument's, 2
** flags. What does not fit is not kept, and checked anew each time. */
bool dt_spmd_key_add (DtSpmdKey *k, const DtSpmdNode *type, bool number,
                      bool takes_grad, int arg) {
  if (k->n == DT_SPMD_KNOWN || arg > 60 || (type && type->id >= 1 << 22))
    return false;
  k->in[k->n++] = (uint32_t)(type ? type->id : 0) << 8 |
                  (uint32_t)(arg + 1) << 2 | (uint32_t)number << 1 |
                  (uint32_t)takes_grad;
  return true;
}

const DtSpmdNode *dt_spmd_find_call (const DtSpmd *s, const DtSpmdKey *k) {
  return s->known == NULL ? NULL : (const DtSpmdNode *)dt_map_get(
    &s->known->calls, hash_key(k), k);
}

DtStatus dt_spmd_keep_call (DtSpmd *s, const DtSpmdKey *k,
                            const DtSpmdNode *out) {
  DtSpmdKnown *known;
  DtSpmdKey *own;
  DtStatus st;
  DT_TRY(s->cx, known_of(s, &known));
  if (dt_map_get(&known->calls, hash_key(k), k) != NULL) return DT_OK;
  if ((own = DT_NEW(s->cx, DtSpmdKey)) == NULL) return DT_E_NOMEM;
  *own = *k;
  st = dt_map_put(&known->calls, hash_key(k), own, (void *)(uintptr_t)out);
  if (st != DT_OK) dt_free(s->cx, own);
  return st;
}

/* }==== */
