/* SPDX-License-Identifier: MIT
** diag/rules_p2p.c: messages between two ranks: rings and halos.
**
** Every rank runs the same program: what arrives from the rank before is what that
** rank sent to the one behind it, as this rank did.  So what came is known by what
** was sent the other way, shifted by a rank, and nothing is sent for it.  At an edge,
** where nothing was sent that way, nothing is known.
**
** - Pieces beside a part are its neighbours.
** - A mask that was right on the diagonal (queries and keys of one part) masks the
**   keys of another part, too.
** - What was shifted by the maximum of its own block is added to that of others. */
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

static int ranks (const DtDiag *g) { return g->s->comm ? g->s->comm->size : 1; }

void dt_diag_message_sent (DtDiag *g, int to, const DtVar *v) {
  const DtPlace *w = g->nplaces > 0 ? dt_diag_place_spread(g, v) : NULL;
  DtSentPart *p;
  DtLearn *l;
  if (!g->on || g->d->muted || v->spec) return;
  l = g->nlearn > 0 ? dt_diag_by_grad(g, v->local->storage->id) : NULL;
  if (l) l->read = true;                /* a gradient: that rank goes on with it */
  dt_diag_answer_sent(g, to, v);
  dt_diag_unread_taken(g, v);
  if (ranks(g) < 3) return;
  p = &g->sent[g->nsent++ % DT_SENT];
  if (g->nsent == 2 * DT_SENT) g->nsent = DT_SENT;
  *p = (DtSentPart){ .shift = (to - g->s->comm->rank + ranks(g)) % ranks(g),
                     .ndim = v->local->m.ndim };
  memcpy(p->shape, v->local->m.shape, sizeof p->shape);
  if (w && w->kind == DT_PLACE_PART && w->items == 0 && w->step < 2 &&
      v->local->m.shape[w->dim] == w->len) p->part = *w;
  else p->part.kind = DT_PLACE_COUNTED;         /* not known */
}

/* The first that was sent as far the other way, and not matched yet. */
static DtSentPart *matching (DtDiag *g, int from, const DtVar *v) {
  const int shift = (g->s->comm->rank - from + ranks(g)) % ranks(g);
  const int n = g->nsent < DT_SENT ? g->nsent : DT_SENT;
  for (int i = g->nsent - n; i < g->nsent; i++) {
    DtSentPart *p = &g->sent[i % DT_SENT];
    if (!p->matched && p->shift == shift && p->ndim == v->local->m.ndim &&
        memcmp(p->shape, v->local->m.shape, (size_t)p->ndim * sizeof p->shape[0])
        == 0) return p;
  }
  return NULL;
}

void dt_diag_message_came (DtDiag *g, int from, const DtVar *v) {
  DtSentPart *p;
  DtPlace w;
  int64_t each;
  if (!g->on || g->d->muted || v->spec) return;
  dt_diag_answer_came(g, from, v);
  if (g->nsent == 0 || ranks(g) < 3) return;
  if ((p = matching(g, from, v)) == NULL) return;
  p->matched = true;
  if (p->part.kind != DT_PLACE_PART) return;
  w = p->part;
  each = w.first_len > 0 ? w.first_len : w.len;
  if (each * ranks(g) != w.whole) return;
  w.off = (w.off + w.whole - p->shift * each) % w.whole;
  w.where = dt_hash_u64(DT_HASH_SEED, (uint64_t)w.off) | 1;
  w.moved = true;
  w.root = v->id;
  w.alone = 0;
  dt_diag_place_put(g, v, &w);
}

/* --- beside a part --- */

static bool follows (const DtPlace *a, const DtPlace *b) {
  return (a->off + a->len) % a->whole == b->off;
}

static const DtPlace *piece_of (const DtDiag *g, const DtEvent *e, int i) {
  const DtPlace *w = dt_diag_place_of(g, e, i, DT_PLACE_PART);
  return w ? w : dt_diag_place_of(g, e, i, DT_PLACE_GATHERED);
}

/* The edge of the wrong side was sent: by the line that cut it; or the pieces were
** swapped when they were joined. */
void dt_diag_beside (DtDiag *g, const DtEvent *e, int64_t dim) {
  for (int i = 0; i + 1 < e->nin; i++) {
    const DtPlace *a = piece_of(g, e, i), *b = piece_of(g, e, i + 1);
    const DtPlace *piece;
    DtEvent at = *e;
    if (a == NULL || b == NULL || a->of != b->of || a->dim != dim || b->dim != dim ||
        a->whole != b->whole || a->moved == b->moved || follows(a, b)) continue;
    piece = a->moved ? a : b;
    if (piece->len >= (a->moved ? b : a)->len) continue;        /* no halo */
    if (!follows(b, a)) at = dt_diag_origin(&piece->cut, "");
    dt_diag_add(g, &at, DT_FIND_ID_OTHER_EDGE, e->in[a->moved ? i : i + 1], 0, NULL,
                "items %lld to %lld of dimension %d are put before items %lld to %lld "
                "at %s:%d", (long long)a->off, (long long)(a->off + a->len - 1),
                a->dim, (long long)b->off, (long long)(b->off + b->len - 1),
                e->file ? e->file : "", e->line);
  }
}

/* What is the same everywhere, then the part less its last items: they move to the
** next rank's part, where nobody sees them. */
void dt_diag_moved_along (DtDiag *g, const DtEvent *e, int64_t dim) {
  const DtVar *first = e->in[0];
  const DtPlace *w = dt_diag_place_of(g, e, 1, DT_PLACE_PART);
  DtFact facts[2] = { { false, 0 }, { true, 0 } };
  if (w == NULL || w->dim != dim || dim == 0 || w->first_len == 0 || w->columns ||
      w->off != w->first_off || first == NULL || dt_diag_place(g, first) != NULL ||
      w->len + first->local->m.shape[dim] != w->first_len ||
      w->first_len * ranks(g) != w->whole) return;
  facts[0].hash = w->first;
  facts[1].hash = dt_diag_hash(first->local, false);
  dt_diag_claim_all(g, e, DT_FIND_ID_PART_ALONE, NULL, -1, DT_SALT_MOVED_ALONG, 2, facts,
                    dt_diag_place_name(g, e->out[0]->id), "it is moved along inside "
                    "the part of each rank; what leaves one part does not enter the "
                    "next; where each part begins");
}

/* --- scores of one part's rows and another part's columns --- */

static int64_t size_from_end (const DtVar *v, int d) {
  return v->local->m.ndim >= d ? v->local->m.shape[v->local->m.ndim - d] : 1;
}

/* Positions of keys beside those of queries: column after column of a mask, of which
** is kept what they count from. */
bool dt_diag_positions_compared (DtDiag *g, const DtEvent *e, const DtPlace *was) {
  static const char *const names[] = { "aten.gt.Tensor", "aten.lt.Tensor",
                                       "aten.ge.Tensor", "aten.le.Tensor", NULL };
  if (e->nin < 2 || !dt_diag_named(e->op, names)) return false;
  for (int k = 0; k < 2; k++) {
    const DtPlace *columns = dt_diag_place_of(g, e, k, DT_PLACE_COUNTED);
    const DtPlace *rows = dt_diag_place_of(g, e, 1 - k, DT_PLACE_COUNTED);
    DtPlace to;
    if (columns == NULL || rows == NULL || columns->items == 0 || rows->items == 0 ||
        size_from_end(e->in[k], 1) < 2 || size_from_end(e->in[k], 2) != 1 ||
        size_from_end(e->in[1 - k], 1) != 1 || size_from_end(e->in[1 - k], 2) < 2)
      continue;
    to = *was;
    to.items = 0;
    to.off = columns->off;
    to.first_at = columns->at;
    to.compared = true;
    to.against = rows->off;
    dt_diag_place_put(g, e->out[0], &to);
    return true;
  }
  return false;
}

/* How far the own block's keys are from the positions they are masked by: 0, or as
** far as a window reaches. */
static bool is_own_shift (const DtDiag *g, int64_t shift) {
  for (unsigned i = 0; i < g->nshifts && i < DT_SHIFTS; i++)
    if (g->shift[i] == shift) return true;
  return false;
}

static void keep_own_shift (DtDiag *g, int64_t shift) {
  if (!is_own_shift(g, shift)) g->shift[g->nshifts++ % DT_SHIFTS] = shift;
}

/* The rows of the mask are those of the queries; do its columns count from another
** key than the block's first, and is that not so in the own block, too? */
static bool masked_by_others (DtDiag *g, const DtEvent *e, const DtPlace *p,
                              const DtPlace *mask) {
  DtBuf b;
  if (!mask->compared || p->items != 0 || p->step > 1 || p->first_len > 0 ||
      p->rows != (dt_hash_u64(DT_HASH_SEED, (uint64_t)mask->against) | 1)) return false;
  if (!p->moved) keep_own_shift(g, mask->off - p->off);
  if (g->nshifts == 0 || is_own_shift(g, mask->off - p->off)) return true;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "the keys came from another rank and are %lld to %lld; they are masked "
              "as %lld to %lld at %s:%d", (long long)p->off,
              (long long)(p->off + p->len - 1), (long long)mask->off,
              (long long)(mask->off + p->len - 1), e->file ? e->file : "", e->line);
  dt_diag_put_at(g, DT_FIND_ID_BLOCK_POSITIONS, &mask->first_at,
                 dt_diag_place_name(g, mask->root), &b);
  return true;
}

bool dt_diag_block_masked (DtDiag *g, const DtEvent *e, const DtPlace *p,
                           const DtPlace *by, uint64_t mask) {
  if (p->rows == 0 || !p->columns) return false;
  if (masked_by_others(g, e, p, by)) return true;
  if (p->rows == p->where) {
    g->diagonal = mask;
    return true;
  }
  if (!p->moved || mask == 0 || mask != g->diagonal) return false;
  dt_diag_add(g, e, DT_FIND_ID_BLOCK_MASKED, NULL, 0, NULL, "the mask of the block "
              "where queries and keys are of one part is used for keys %lld to %lld, "
              "which are another rank's", (long long)p->off,
              (long long)(p->off + p->len - 1));
  return true;
}

void dt_diag_shifted_added (DtDiag *g, const DtEvent *e) {
  if (e->nin < 2 || e->in[1] == NULL || !dt_diag_is(g, e, DT_DO_ADD)) return;
  for (int i = 0; i < 2; i++) {
    const DtPlace *w = dt_diag_place_of(g, e, i, DT_PLACE_ADDEND);
    const DtFact fact = { false, w ? w->where : 0 };
    DtEvent at;
    if (w == NULL || w->peak.line == 0 || dt_diag_place(g, e->in[1 - i]) != NULL ||
        !dt_meta_same_shape(&e->in[0]->local->m, &e->in[1]->local->m)) continue;
    at = dt_diag_origin(&w->peak, "");
    dt_diag_claim_all(g, &at, DT_FIND_ID_PART_ALONE, NULL, -1, DT_SALT_SHIFTED_ADDED, 1, &fact,
                      dt_diag_place_name(g, e->in[i]->id), "each block is shifted by "
                      "the maximum of that block, and what was shifted by different "
                      "numbers is added up; where each part begins");
  }
}
