/* SPDX-License-Identifier: MIT
** diag/places.c: what is known of plain tensors, found again by the variable or
** by its memory.
**
** Each is noted twice: a Parameter made of a part, or its `.data`, is another
** variable over the same memory.  Both tables have a fixed size, and what is
** pushed out is no longer known: nothing is claimed of it. */
#include "base/hash.h"
#include "diag/diag_int.h"

void dt_diag_places_free (DtDiag *g) {
  dt_free(g->s->cx, g->place);
  dt_free(g->s->cx, g->place_id);
  g->place = NULL;
  g->place_id = NULL;
  g->nplaces = 0;
  g->diagonal = 0;
  g->nshifts = 0;
}

/* The same memory in the same shape: a Parameter made of a part, or its
** `.data`, is another variable.  A square weight turned is not. */
static int64_t memory_of (const DtTensor *t) {
  uint64_t h = dt_hash_u64(DT_HASH_SEED, (uint64_t)t->storage->id);
  h = dt_hash_u64(h, (uint64_t)t->offset);
  for (int d = 0; d < t->m.ndim; d++) {
    h = dt_hash_u64(h, (uint64_t)t->m.shape[d]);
    if (d > 0 && t->m.shape[d] > 1 && t->m.shape[d] == t->m.shape[d - 1])
      h = dt_hash_u64(h, (uint64_t)t->m.stride[d]);
  }
  return (int64_t)(h | 1ull << 63);     /* below 0, unlike a variable's id */
}

/* Two halves: by the variable, and by its memory. */
static DtPlace *slot_of (const DtDiag *g, const DtVar *v) {
  return &g->place[(uint64_t)v->id % DT_PLACES];
}

/* A part's offset is another on each rank, and so is its slot: a part that is
** pushed out on one rank alone would be missed by that rank only, and the ranks
** would then compare different things.  So each may lie in several slots, and
** one is taken over when all are in use: the slot of `memory`, else a free one,
** else the one its bits choose. */
static DtPlace *memory_slot (const DtDiag *g, int64_t memory) {
  enum { WAYS = 16 };
  const uint64_t h = (uint64_t)memory;
  const size_t at = DT_PLACES + h % (DT_PLACES / WAYS) * WAYS;
  const int64_t *id = &g->place_id[at];
  int free = -1;
  for (int i = 0; i < WAYS; i++) {
    if (id[i] == memory) return &g->place[at + (size_t)i];
    if (id[i] == 0 && free < 0) free = i;
  }
  return &g->place[at + (free >= 0 ? (size_t)free : (h >> 32) % WAYS)];
}

DtPlace *dt_diag_place (const DtDiag *g, const DtVar *v) {
  DtPlace *w;
  if (g->place == NULL || v == NULL || v->spec) return NULL;
  w = slot_of(g, v);
  if (g->place_id[w - g->place] != v->id) {
    const int64_t memory = memory_of(v->local);
    w = memory_slot(g, memory);
    if (g->place_id[w - g->place] != memory) return NULL;
  }
  return w->kind == DT_PLACE_PART || w->version == v->local->storage->version
         ? w : NULL;
}

/* An even split among p ranks gives parts of whole / p, one more, or what is left over. */
bool dt_diag_is_split (const DtDiag *g, int64_t len, int64_t whole) {
  const int n = dt_session_size(g->s);
  if (whole <= len) return true;        /* it is not known */
  for (int p = 2; p <= n; p++) {
    const int64_t most = (whole + p - 1) / p;
    if (n % p == 0 && (len == most || len == whole / p || len == whole - (p - 1) * most))
      return true;
  }
  return false;
}

bool dt_diag_is_whole (const DtDiag *g, double n) {
  for (int i = 0; g->place != NULL && i < 2 * DT_PLACES; i++)
    if (g->place_id[i] != 0 && g->place[i].kind == DT_PLACE_PART &&
        (double)g->place[i].whole == n) return true;
  return false;
}

const DtPlace *dt_diag_place_before (const DtDiag *g, const DtVar *v) {
  const DtPlace *w = g->place && v && !v->spec ? slot_of(g, v) : NULL;
  return w && w->id == v->id && w->version + 1 == v->local->storage->version
         ? w : NULL;
}

DtPlace *dt_diag_place_spread (const DtDiag *g, const DtVar *v) {
  DtPlace *w = dt_diag_place(g, v);
  return w && w->kind != DT_PLACE_TOTAL && w->kind != DT_PLACE_SHUFFLED ? w : NULL;
}

const DtPlace *dt_diag_place_of (const DtDiag *g, const DtEvent *e, int i,
                                 DtPlaceKind kind) {
  const DtPlace *w = i < e->nin ? dt_diag_place_spread(g, e->in[i]) : NULL;
  return w && w->kind == kind ? w : NULL;
}

static bool make_places (DtDiag *g) {
  g->place = DT_NEWN(g->s->cx, DtPlace, 2 * DT_PLACES);
  g->place_id = g->place ? DT_NEWN(g->s->cx, int64_t, 2 * DT_PLACES) : NULL;
  if (g->place_id != NULL) return true;
  dt_error_clear(g->s->cx);
  dt_free(g->s->cx, g->place);
  g->place = NULL;
  return false;
}

static void fill_slot (DtDiag *g, DtPlace *to, const DtPlace *w, int64_t id) {
  *to = *w;
  to->id = g->place_id[to - g->place] = id;
}

void dt_diag_place_put_at (DtDiag *g, const DtTensor *t, const DtPlace *w) {
  const int64_t memory = memory_of(t);
  DtPlace one = *w;
  if (g->place == NULL && !make_places(g)) return;
  one.version = t->storage->version;
  fill_slot(g, memory_slot(g, memory), &one, memory);
  g->nplaces++;
}

void dt_diag_place_put (DtDiag *g, const DtVar *v, const DtPlace *w) {
  DtPlace one = *w;             /* it may lie in the slot */
  if (v == NULL || v->spec || one.dim < 0 ||
      (one.kind == DT_PLACE_PART && one.dim >= v->local->m.ndim)) return;
  if (g->place == NULL && !make_places(g)) return;
  one.version = v->local->storage->version;
  fill_slot(g, slot_of(g, v), &one, v->id);
  dt_diag_place_put_at(g, v->local, &one);
}

void dt_diag_place_drop (DtDiag *g, const DtVar *v) {
  while (true) {                /* by the variable, then by its memory */
    const DtPlace *w = dt_diag_place(g, v);
    if (w == NULL) return;
    g->place_id[w - g->place] = 0;
  }
}

DtPlace dt_diag_place_made (const DtPlace *w, const DtEvent *e,
                            DtPlaceKind kind) {
  DtPlace p = *w;
  p.kind = kind;
  p.at = (DtOrigin){ .op = e->op->sig->full, .file = e->file, .line = e->line,
                     .seq = e->seq };
  p.root = e->nout > 0 && e->out[0] ? e->out[0]->id : 0;
  return p;
}

const char *dt_diag_place_name (const DtDiag *g, int64_t id) {
  enum { FEW = 512 };
  const DtRecord *r = &g->d->rec;
  for (int i = r->nname - 1; i >= 0 && i >= r->nname - FEW; i--)
    if (r->name[i].var == id && id != 0) return r->name[i].name;
  return "";
}
