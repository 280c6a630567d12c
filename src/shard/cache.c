/* SPDX-License-Identifier: MIT
** shard/cache.c: decisions remembered.
**
** The key is everything a decision depends on: operator, specs of all
** tensors, all other arguments (with a user's rule only those that PyTorch's
** key has: a rule that looks at others gets an old plan there, and here).
** Specs are compared by pointer first, so a hit hashes a few words, compares
** them, and allocates nothing.  When the table is full it is emptied: a
** program that makes that many different calls does not live from the cache. */
#include <string.h>
#include "base/hash.h"
#include "shard/twin_int.h"
#include "shard/user.h"

enum { CACHE_MAX = 4096, CACHE_PLACES = 4 * CACHE_MAX };

typedef struct DtPropEntry {
  uint64_t hash;
  const DtOpDef *op;
  int nin;
  DtSpec **in;
  DtArgs args;
  DtArena arena;                /* of args */
  DtProp *prop;
  DtValue number;               /* called with, where the key has a tensor */
} DtPropEntry;

static uint64_t key_hash (const DtOpSchema *q) {
  uint64_t h = dt_hash_u64(DT_HASH_SEED, (uint64_t)(uintptr_t)q->op);
  int i;
  for (i = 0; i < q->nin; i++)
    h = dt_hash_u64(h, q->in[i]->hash + q->in[i]->strided_is_order);
  return dt_args_hash(h, q->args);
}

static bool key_equal (const DtPropEntry *e, uint64_t h, const DtOpSchema *q) {
  int i;
  if (e->hash != h || e->op != q->op || e->nin != q->nin) return false;
  for (i = 0; i < q->nin; i++)
    if (e->in[i] != q->in[i] &&
        (!dt_spec_equal(e->in[i], q->in[i]) ||
         e->in[i]->strided_is_order != q->in[i]->strided_is_order))
      return false;
  return dt_args_equal(&e->args, q->args);
}

static void entry_free (DtCtx *cx, DtPropEntry *e) {
  int i;
  if (e == NULL) return;
  for (i = 0; i < e->nin; i++) dt_spec_unref(cx, e->in[i]);
  dt_free(cx, e->in);
  dt_arena_fini(cx, &e->arena);
  dt_prop_unref(cx, e->prop);
  dt_free(cx, e);
}

static bool holds_list (const DtArgs *a) {
  int i;
  for (i = 0; i < a->n; i++)
    if (a->v[i].kind == DT_V_LIST || a->v[i].kind == DT_V_STR) return true;
  return false;
}

static DtStatus entry_new (DtCtx *cx, uint64_t h, const DtOpSchema *q,
                           DtProp *prop, DtPropEntry **out) {
  DtPropEntry *e = DT_NEW(cx, DtPropEntry);
  DtStatus st;
  int i;
  if (e == NULL) return DT_E_NOMEM;
  e->hash = h;
  e->op = q->op;
  e->in = DT_NEWN(cx, DtSpec *, q->nin + 1);
  st = e->in == NULL ? DT_E_NOMEM : DT_OK;
  for (i = 0; st == DT_OK && i < q->nin; i++) e->in[i] = dt_spec_ref(q->in[i]);
  if (st == DT_OK) {
    e->nin = q->nin;
    if (holds_list(q->args))
      st = dt_args_copy(cx, &e->arena, q->args, &e->args);
    else e->args = *q->args;
  }
  if (st != DT_OK) {
    entry_free(cx, e);
    return st;
  }
  e->prop = dt_prop_ref(prop);
  *out = e;
  return DT_OK;
}

static uint32_t find_place (const DtPropagator *p, uint64_t h,
                            const DtOpSchema *q) {
  uint32_t mask = p->ntable - 1, i = (uint32_t)h & mask;
  while (p->table[i] != NULL && !key_equal(p->table[i], h, q))
    i = (i + 1) & mask;
  return i;
}

static DtStatus store_entry (DtCtx *cx, DtPropagator *p, uint64_t h,
                             const DtOpSchema *q, DtProp *prop) {
  DtPropEntry *e;
  uint32_t at;
  if (p->count >= CACHE_MAX) dt_prop_clear(cx, p);
  DT_TRY(cx, entry_new(cx, h, q, prop, &e));
  at = find_place(p, h, q);
  if (p->table[at] != NULL) {           /* decided again inside */
    entry_free(cx, p->table[at]);
    p->count--;
  }
  p->table[at] = e;
  p->count++;
  return DT_OK;
}

DtStatus dt_prop_raw_cached (DtCtx *cx, DtPropagator *p, const DtOpSchema *q,
                             DtProp **out, bool *hit) {
  bool user = dt_registry_strategy(p->reg, q->op, NULL) != NULL &&
              !dt_registry_forced(p->reg, q->op);
  DtOpSchema key = *q;
  DtArgs kept;
  uint64_t h;
  uint32_t at;
  DtProp *prop;
  DtStatus st;
  if (user) {
    dt_user_key_args(q->op, q->args, &kept);
    key.args = &kept;
  }
  h = key_hash(&key);
  at = find_place(p, h, &key);
  *hit = p->table[at] != NULL;
  if (*hit) {
    p->hits++;
    *out = dt_prop_ref(p->table[at]->prop);
    return DT_OK;
  }
  p->misses++;
  DT_TRY(cx, dt_prop_raw(cx, p, q, NULL, &prop));
  st = store_entry(cx, p, h, &key, prop);
  if (st != DT_OK) {
    dt_prop_unref(cx, prop);
    return dt_error_frame(cx, st, __func__, __FILE__, __LINE__);
  }
  *out = prop;
  return DT_OK;
}

/* Twins have keys of their own: nothing else looks them up. */
static uint64_t twin_hash (uint64_t h) { return dt_hash_u64(h, 1); }

/* The call had a number: its decision is there for the tensor, too. */
static DtStatus store_twin (DtCtx *cx, DtPropagator *p, const DtOpSchema *key,
                            DtValue number, uint64_t h, DtProp *prop) {
  DT_TRY(cx, store_entry(cx, p, h, key, prop));
  p->table[find_place(p, h, key)]->number = number;
  return DT_OK;
}

/* An entry nobody finds again; its place stays taken. */
static void forget_entry (DtPropagator *p, const DtOpSchema *q) {
  DtPropEntry *e = p->table[find_place(p, key_hash(q), q)];
  if (e != NULL) e->op = NULL;
}

/* A call decided for the first time: was its twin before it? */
static DtStatus settle_twin (DtCtx *cx, DtPropagator *p, const DtOpSchema *q,
                             const DtTwin *t, DtProp **out) {
  const DtOpSchema key = { q->op, &t->args, t->nin, t->in };
  uint64_t h = key_hash(&key), th = twin_hash(h);
  DtPropEntry *tensor, *number;
  DtArgs first;
  DtProp *own = *out, *now = NULL;
  tensor = p->table[find_place(p, h, &key)];
  number = p->table[find_place(p, th, &key)];
  first = t->args;
  if (t->number && tensor != NULL)
    DT_TRY(cx, dt_twin_follow(cx, t, q->in, own, &first, tensor->prop, &now));
  else if (t->number && number == NULL)
    return store_twin(cx, p, &key, q->args->v[t->at], th, own);
  else if (!t->number && number != NULL) {
    first.v[t->at] = number->number;
    DT_TRY(cx, dt_twin_follow(cx, t, q->in, own, &first, number->prop, &now));
  }
  if (now == NULL) return DT_OK;
  *out = now;
  dt_prop_unref(cx, own);
  return store_entry(cx, p, key_hash(q), q, now);
}

static DtStatus with_twin (DtCtx *cx, DtPropagator *p, const DtOpSchema *q,
                           DtProp **out) {
  DtTwin t;
  DtStatus st;
  if (!p->twins || p->traced_mode == DT_TRACED_FROZEN)
    return DT_OK;
  st = dt_twin_init(cx, q->args, q->nin, q->in, &t);
  if (st == DT_OK && t.on) st = settle_twin(cx, p, q, &t, out);
  dt_twin_fini(cx, &t);
  if (st == DT_OK) return DT_OK;
  forget_entry(p, q);
  dt_prop_unref(cx, *out);
  *out = NULL;
  return st;
}

DtStatus dt_prop_cached (DtCtx *cx, DtPropagator *p, const DtOpSchema *q,
                         DtProp **out, bool *hit) {
  DtStatus st = dt_prop_raw_cached(cx, p, q, out, hit);
  if (st != DT_OK) return dt_prop_suffix(cx, st, q);
  return *hit ? DT_OK : with_twin(cx, p, q, out);
}

static bool same_op (const void *a, const void *b) { return a == b; }

static uint64_t op_hash (const DtOpDef *op) {
  return dt_hash_u64(DT_HASH_SEED, (uint64_t)(uintptr_t)op);
}

bool dt_prop_was_traced (const DtPropagator *p, const DtOpDef *op) {
  return p->traced_mode == DT_TRACED_ALL
         || dt_map_get(&p->traced, op_hash(op), op) != NULL;
}

DtTracedMode dt_prop_traced_mode (DtPropagator *p, DtTracedMode mode) {
  DtTracedMode old = p->traced_mode;
  p->traced_mode = mode;
  return old;
}

void dt_prop_outside_dispatch (DtCtx *cx, DtPropagator *p, bool outside) {
  p->outside_dispatch = outside;
  dt_prop_clear(cx, p);
}

void dt_prop_hash_seed (DtCtx *cx, DtPropagator *p, unsigned seed) {
  p->hash_seed = seed;
  dt_prop_clear(cx, p);
}

DtStatus dt_prop_mark_traced (DtPropagator *p, const DtOpDef *op) {
  if (p->traced_mode != DT_TRACED_KEEP || dt_prop_was_traced(p, op))
    return DT_OK;
  return dt_map_put(&p->traced, op_hash(op), op, p);
}

DtStatus dt_propagator_new (DtCtx *cx, DtRegistry *r, DtPlanner *pl,
                            DtPropagator **out) {
  DtPropagator *p = DT_NEW(cx, DtPropagator);
  if (p == NULL) return DT_E_NOMEM;
  p->reg = r;
  p->plan = pl;
  p->ntable = CACHE_PLACES;
  p->table = DT_NEWN(cx, struct DtPropEntry *, p->ntable);
  if (p->table == NULL) {
    dt_free(cx, p);
    return DT_E_NOMEM;
  }
  dt_map_init(&p->traced, cx, same_op);
  p->release = DT_BASE_RELEASE;
  p->twins = p->decomposes = true;
  *out = p;
  return DT_OK;
}

void dt_prop_release (DtCtx *cx, DtPropagator *p, const DtProfile *profile) {
  p->release = profile->release;
  p->twins = dt_switch(profile, DT_SW_TWINS) != 0;
  p->decomposes = dt_switch(profile, DT_SW_DECOMPOSES) != 0;
  p->views = dt_profile_views(profile);
  p->checks_rows = dt_switch(profile, DT_SW_ROWS_CHECKED) != 0;
  if (p->plan != NULL)
    dt_planner_shard_to_sum(cx, p->plan,
                            dt_switch(profile, DT_SW_SHARD_TO_PARTIAL) != 0);
  dt_prop_clear(cx, p);
}

void dt_propagator_free (DtCtx *cx, DtPropagator *p) {
  if (p == NULL) return;
  dt_prop_clear(cx, p);
  dt_mesh_unref(cx, p->one);
  dt_map_fini(&p->traced);
  dt_free(cx, p->table);
  dt_free(cx, p);
}

void dt_prop_clear (DtCtx *cx, DtPropagator *p) {
  uint32_t i;
  for (i = 0; i < p->ntable; i++) {
    entry_free(cx, p->table[i]);
    p->table[i] = NULL;
  }
  p->count = 0;
}

int64_t dt_prop_resized (const DtPropagator *p) { return p->resized; }

