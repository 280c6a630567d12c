/* SPDX-License-Identifier: MIT
** diag/rules_clamped.c: rows that were looked up in another rank's place, and summed.
**
** Where each rank holds a part of a table, as of a vocabulary, it moves the indices by the
** part's begin and brings those of other ranks to a row that it has.  What it finds there
** belongs to nobody and must be masked before the sum over the ranks.  Told when it is
** summed as it was found; the claim is that the indices and the tables are not the same on
** all ranks, as those of parts are not. */
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

enum { CLAMPS = 32 };

typedef struct Clamped {
  int64_t storage;
  int version;                  /* of the storage: it was not written since */
  uint64_t index, table;        /* hashes; table 0: these are the indices */
  const char *name;             /* of the indices (interned) */
} Clamped;

struct DtClamps { Clamped v[CLAMPS]; };

static Clamped *slot_of (const DtDiag *g, int64_t storage) {
  return &g->clamps->v[(uint64_t)storage % CLAMPS];
}

static const Clamped *find_clamped (const DtDiag *g, const DtVar *v) {
  const Clamped *c = g->clamps && v && !v->spec && v->local
                     ? slot_of(g, v->local->storage->id) : NULL;
  return c && c->storage == v->local->storage->id &&
         c->version == (int)v->local->storage->version ? c : NULL;
}

void dt_diag_clamps_free (DtDiag *g) {
  dt_free(g->s->cx, g->clamps);
  g->clamps = NULL;
  g->nclamps = 0;
}

static void put_clamped (DtDiag *g, const DtVar *v, Clamped c) {
  if (g->clamps == NULL && (g->clamps = DT_NEW(g->s->cx, struct DtClamps)) == NULL) {
    dt_error_clear(g->s->cx);
    return;
  }
  c.storage = v->local->storage->id;
  c.version = (int)v->local->storage->version;
  *slot_of(g, c.storage) = c;
  g->nclamps++;
}

static bool is_plain (const DtVar *v) {
  return v && !v->spec && v->local && dt_tensor_has_data(v->local) &&
         dt_meta_numel(&v->local->m) > 1;
}

static bool is_index (const DtVar *v) {
  return is_plain(v) && v->local->m.dtype == DT_I64;
}

/* --- indices --- */

/* All of them may be at one end of the part. */
static uint64_t hash_index (const DtVar *v) {
  const double first = dt_tensor_get(v->local, (int64_t[DT_MAX_NDIM]){ 0 }).re;
  return dt_hash_u64(dt_diag_hash(v->local, true), (uint64_t)(int64_t)first) | 1;
}

static bool clamps (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.clamp.default", "aten.clamp_min.default",
    "aten.clamp_max.default", "aten.clamp_.default", "aten.clamp_min_.default",
    "aten.clamp_max_.default", "aten.masked_fill.Scalar", "aten.masked_fill_.Scalar",
    "aten.where.ScalarOther", "aten.index_put_.default", NULL };
  (void)g;
  return dt_diag_named(op, names);
}

/* What is clamped and was within its bounds is as it was. */
static void on_clamped (DtDiag *g, const DtEvent *e) {
  const bool own = (e->op->flags & DT_OP_INPLACE) != 0;
  const DtVar *from = e->nin > 0 ? e->in[strstr(e->op->sig->full, "where") && e->nin > 1]
                                 : NULL;
  Clamped c = { .table = 0 };
  if (e->status != DT_OK || e->backward || e->nout < 1 || !is_index(from) ||
      !is_index(e->out[0]) || dt_session_no_data(g->s)) return;
  c.index = hash_index(e->out[0]);
  if (!own && c.index == hash_index(from) && find_clamped(g, from) == NULL) return;
  c.name = dt_diag_kept_name(g, from);
  put_clamped(g, e->out[0], c);
}

/* --- rows --- */

/* A row of zeros may be there for the indices of others. */
static bool has_zero (const DtTensor *t) {
  enum { MOST = 4096 };
  const int64_t n = dt_meta_numel(&t->m);
  int64_t at[DT_MAX_NDIM] = { 0 };
  for (int64_t i = 0; i < n && i < MOST; i++) {
    if (dt_tensor_get(t, at).re == 0) return true;
    for (int d = t->m.ndim - 1; d >= 0 && ++at[d] == t->m.shape[d]; d--) at[d] = 0;
  }
  return n > MOST;
}

static bool looks_up (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.embedding.default", "aten.index.Tensor",
    "aten.gather.default", "aten.index_select.default", NULL };
  (void)g;
  return dt_diag_named(op, names) || dt_diag_clones(g, op);
}

static void on_looked_up (DtDiag *g, const DtEvent *e) {
  const Clamped *c = NULL;
  Clamped to;
  if (e->status != DT_OK || e->backward || e->nin < 1 || e->nout < 1 ||
      !is_plain(e->out[0]) || dt_session_no_data(g->s)) return;
  if (dt_diag_clones(g, e->op)) c = find_clamped(g, e->in[0]);
  for (int i = 1; i < e->nin && c == NULL; i++) c = find_clamped(g, e->in[i]);
  if (c == NULL) return;
  to = *c;
  if (!dt_diag_clones(g, e->op) && c->table == 0) {
    if (!is_plain(e->in[0]) || has_zero(e->out[0]->local)) return;
    to.table = dt_diag_hash(e->in[0]->local, false);
  }
  put_clamped(g, e->out[0], to);
}

void dt_diag_clamped_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in) {
  const Clamped *c = g->nclamps > 0 ? find_clamped(g, in) : NULL;
  DtEvent at;
  DtOrigin here;
  if (c == NULL || c->table == 0 || g->s->backward || raw->reduce == NULL ||
      strstr(raw->kind, "reduce") == NULL || strcmp(raw->reduce, "sum") != 0) return;
  here = dt_diag_here(g, raw->kind);
  at = dt_diag_origin(&here, raw->kind);
  const DtFact facts[2] = { { false, c->index }, { false, c->table } };
  dt_diag_claim_all(g, &at, DT_FIND_ID_UNMASKED_ROWS, raw->mesh, raw->mdim, 0, 2, facts,
                    dt_diag_kept_name(g, in), "it was looked up as it is summed, by indices "
                    "that were brought into this rank's part; the indices");
}

const DtDiagRule dt_rules_clamped[] = {
  { DT_EV_OP_END, on_clamped, clamps, 0 },
  { DT_EV_OP_END, on_looked_up, looks_up, DT_WHEN(nclamps) },
  { 0, NULL, NULL, 0 }
};
