/* SPDX-License-Identifier: MIT
** diag/rules_meet.c: what does not belong together meets in one operator
** (rules_where.c follows the parts, and says who met whom).
**
** - Counted numbers meet a part along its cut dimension, and are the same on
**   all ranks.
** - Two parts of as long wholes lie side by side, but begin at other places: a
**   table of positions, of which every rank takes the first rows.
** - A part is shifted by its own maximum before it is summed over the ranks.
** - Indices that were found within parts are gathered and used in the whole;
**   an order of which every rank drew its own.
** - What was summed over the ranks is added to an addend that was not.
** - Labels of this rank's rows count from 0 among the rows of all ranks.
** - Rows that were routed to an item of this rank's part (an expert) are the
**   same on all ranks. */
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

static int ndim (const DtVar *v) { return v->local->m.ndim; }

/* "they meet dimension 1, 4 of 16 positions on each rank, at x.py:3" */
static const char *met_words (DtDiag *g, const DtEvent *e, const DtPlace *p) {
  DtBuf b;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "they meet dimension %d, %lld of %lld positions on each rank, "
              "at %s:%d", p->dim, (long long)p->len, (long long)p->whole,
              e->file ? e->file : "", e->line);
  return dt_diag_intern(g, &b);
}

/* They are not the numbers of the part's items, nor as far from them on each rank. */
static void counted_apart (DtDiag *g, const DtEvent *at, const DtPlace *p,
                           const DtPlace *c, uint64_t numbers, const char *what) {
  const uint64_t items = dt_diag_items_of(p);
  const uint64_t other = items == c->items ? 0 : dt_hash_u64(items, c->items);
  const DtFact facts[3] = {
    { false, dt_hash_u64(other, (uint64_t)(c->off - p->off)) | 1 },
    { false, p->where }, { false, numbers } };
  dt_diag_claim_all(g, at, DT_FIND_ID_COUNTED_APART, NULL, -1, DT_SALT_COUNTED_APART, 3, facts,
                    dt_diag_place_name(g, c->root), what);
}

void dt_diag_counted_met (DtDiag *g, const DtEvent *e, int part, int count) {
  const DtPlace *p = dt_diag_place(g, e->in[part]);
  const DtPlace *c = dt_diag_place(g, e->in[count]);
  const int d = ndim(e->in[count]) - (ndim(e->in[part]) - p->dim);
  DtEvent at = dt_diag_origin(&c->at, "");
  DtFact facts[2];
  const char *what;
  if (d < 0 || e->in[count]->local->m.shape[d] != p->len || p->len < 2) return;
  facts[0] = (DtFact){ true, dt_diag_hash(e->in[count]->local, true) };
  if (d > 0 && e->in[count]->local->m.shape[d - 1] > 1 &&
      dt_diag_block_masked(g, e, p, c, facts[0].hash)) return;
  facts[1] = (DtFact){ false, p->where };
  what = met_words(g, e, p);
  if (what == NULL) return;
  dt_diag_claim_all(g, &at, DT_FIND_ID_COUNTED_ALIKE, NULL, -1, 0, 2, facts,
                    dt_diag_place_name(g, c->root), what);
  if (c->items != 0) counted_apart(g, &at, p, c, facts[0].hash, what);
}

/* `a` is another part on each rank, `b` begins at the same place on all. */
static void begins_alike (DtDiag *g, const DtEvent *e, const DtPlace *a,
                          const DtPlace *b, int64_t salt) {
  const DtFact facts[2] = { { true, b->where }, { false, a->where } };
  DtEvent at = dt_diag_origin(&b->cut, "");
  const char *what = met_words(g, e, a);
  if (what)
    dt_diag_claim_all(g, &at, DT_FIND_ID_COUNTED_ALIKE, NULL, -1, salt, 2,
                      facts, dt_diag_place_name(g, b->of), what);
}

void dt_diag_parts_met (DtDiag *g, const DtEvent *e, int i, int k) {
  const DtPlace *a = dt_diag_place(g, e->in[i]);
  const DtPlace *b = dt_diag_place(g, e->in[k]);
  if (a->whole != b->whole || a->len != b->len || a->of == b->of || a->len < 2 ||
      a->first_len > 0 || b->first_len > 0 ||
      ndim(e->in[i]) - a->dim != ndim(e->in[k]) - b->dim) return;
  begins_alike(g, e, a, b, i < k ? DT_SALT_BEGINS_ALIKE : DT_SALT_ALIKE_BEGINS);
}

/* `b` is another part on each rank, `a` the same on all: columns of the one would
** meet rows of the other that are not theirs. */
static void summed_alike (DtDiag *g, const DtEvent *e, const DtPlace *a,
                          const DtPlace *b, int64_t salt) {
  const DtFact facts[2] = { { true, a->where }, { false, b->where } };
  DtEvent at = dt_diag_origin(&a->cut, "");
  const char *what = met_words(g, e, b);
  if (what)
    dt_diag_claim_all(g, &at, DT_FIND_ID_OTHER_PART, NULL, -1, salt, 2, facts,
                      dt_diag_place_name(g, a->of), what);
}

void dt_diag_summed_parts (DtDiag *g, const DtEvent *e, const DtPlace *a,
                           const DtPlace *b) {
  if (a->whole != b->whole || a->len != b->len || a->of == b->of || a->len < 2 ||
      a->first_len > 0 || b->first_len > 0) return;
  summed_alike(g, e, a, b, DT_SALT_SUMMED_ALIKE);
  summed_alike(g, e, b, a, DT_SALT_ALIKE_SUMMED);
}

/* --- shifted by one's own maximum --- */

void dt_diag_peak_taken (DtDiag *g, const DtEvent *e, const DtPlace *w) {
  DtPlace to;
  if (!w->columns || (strcmp(e->op->sig->full, "aten.max.dim") != 0 &&
                      strcmp(e->op->sig->full, "aten.amax.default") != 0)) return;
  to = dt_diag_place_made(w, e, DT_PLACE_PEAK);
  dt_diag_place_put(g, e->out[0], &to);
}

void dt_diag_shift (DtDiag *g, const DtEvent *e, int i, DtPlace *to) {
  const DtPlace *peak = e->nin > 1 && i == 0
                        ? dt_diag_place_of(g, e, 1, DT_PLACE_PEAK) : NULL;
  if (peak && peak->of == to->of && peak->where == to->where &&
      strcmp(e->op->sig->full, "aten.sub.Tensor") == 0) to->peak = peak->at;
  else if (e->nin > 1 && e->in[1 - i]) to->peak.line = 0;
}

void dt_diag_shifted_sum (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                          const DtPlace *w) {
  const DtFact fact = { false, w->where };
  DtEvent at = dt_diag_origin(&w->peak, "");
  if (w->peak.line > 0)
    dt_diag_claim_all(g, &at, DT_FIND_ID_PART_ALONE, raw->mesh, raw->mdim, DT_SALT_SHIFTED_SUM, 1,
                      &fact, dt_diag_place_name(g, in->id), "each rank shifts its "
                      "part by the maximum of that part, and what was shifted by "
                      "different numbers is summed; where each part begins");
}

/* --- indices --- */

void dt_diag_index_met (DtDiag *g, const DtEvent *e, const DtPlace *w) {
  const uint64_t where = w->first_len > 0 ? w->first : w->where;
  const DtFact order[2] = { { false, w->src }, { false, where } };
  const DtFact found = { false, w->where };
  DtEvent at = dt_diag_origin(w->first_len > 0 ? &w->first_at : &w->cut, "");
  if (dt_dtype_is_float((DtDtype)e->in[1]->local->m.dtype)) return;
  if (w->kind == DT_PLACE_PART && w->src != 0)
    dt_diag_claim_all(g, &at, DT_FIND_ID_OTHER_WHOLE, NULL, -1, DT_SALT_INDEX_WHOLE, 2, order,
                      dt_diag_place_name(g, w->of), "each rank takes its part of "
                      "an order that it drew itself: items are taken twice or "
                      "not at all; the orders");
  if (w->kind != DT_PLACE_FOUND_ALL) return;
  at = dt_diag_origin(&w->at, "");
  dt_diag_claim_all(g, &at, DT_FIND_ID_PART_ALONE, NULL, -1, DT_SALT_INDEX_MET, 1, &found,
                    dt_diag_place_name(g, w->root), "indices within the parts "
                    "are gathered, and used as if they counted in the whole; "
                    "where each part begins");
}

/* Compared with indices of the whole, as labels are. */
void dt_diag_found_compared (DtDiag *g, const DtEvent *e) {
  static const char *const names[] = { "aten.eq.Tensor", "aten.ne.Tensor", NULL };
  if (e->nin < 2 || !dt_diag_named(e->op, names)) return;
  for (int i = 0; i < 2; i++) {
    const DtPlace *w = dt_diag_place_of(g, e, i, DT_PLACE_FOUND);
    const DtVar *other = e->in[1 - i];
    DtFact facts[2];
    DtEvent at;
    if (w == NULL || other == NULL || other->spec || dt_diag_place(g, other)) continue;
    facts[0] = (DtFact){ true, dt_diag_hash(other->local, true) };
    facts[1] = (DtFact){ false, w->where };
    at = dt_diag_origin(&w->at, "");
    dt_diag_claim_all(g, &at, DT_FIND_ID_PART_ALONE, NULL, -1, DT_SALT_FOUND_COMPARED, 2, facts,
                      dt_diag_place_name(g, w->root), "indices within the part of "
                      "each rank are compared with those of the whole, as labels are");
  }
}

/* --- items of a part --- */

void dt_diag_item_taken (DtDiag *g, const DtEvent *e, const DtPlace *part) {
  const DtVar *v = e->in[0], *out = e->out[0];
  DtPlace w = { .kind = DT_PLACE_ITEM };
  if (ndim(v) < 2 || !dt_dtype_is_float((DtDtype)v->local->m.dtype) ||
      ndim(out) != ndim(v) - 1) return;
  w.of = part ? part->of : v->id;
  w.where = part ? part->where
                 : dt_hash_u64(DT_HASH_SEED, (uint64_t)(out->local->offset -
                                                        v->local->offset)) | 1;
  w.added = DT_HASH_SEED;
  w = dt_diag_place_made(&w, e, DT_PLACE_ITEM);
  w.cut = w.at;
  dt_diag_place_put(g, out, &w);
}

void dt_diag_item_used (DtDiag *g, const DtEvent *e) {
  const DtPlace *item = NULL;
  DtPlace to;
  for (int i = 0; i < e->nin && item == NULL; i++)
    item = dt_diag_place_of(g, e, i, DT_PLACE_ITEM);
  if (item == NULL) return;
  to = *item;
  for (int i = 0; i < e->nin; i++)
    if (e->in[i] && !dt_diag_place_of(g, e, i, DT_PLACE_ITEM))
      to.added = dt_hash_u64(to.added, dt_diag_hash(e->in[i]->local, false));
  dt_diag_place_put(g, e->out[0], &to);
}

/* Results of an item are put into rows of `in[0]`, which its indices chose. */
void dt_diag_routed (DtDiag *g, const DtEvent *e) {
  const DtVar *out = e->in[0];
  const DtPlace *was = dt_diag_place_before(g, out), *item = NULL;
  uint64_t h = was && was->kind == DT_PLACE_ROUTED ? was->added : DT_HASH_SEED;
  DtPlace to;
  for (int i = 1; i < e->nin; i++) {
    const DtPlace *w = dt_diag_place_of(g, e, i, DT_PLACE_ITEM);
    if (w) item = w;
    if (w) h = dt_hash_u64(h, w->added);
    else if (e->in[i]) h = dt_hash_u64(h, dt_diag_hash(e->in[i]->local, false));
  }
  if (item == NULL) return;
  to = dt_diag_place_made(item, e, DT_PLACE_ROUTED);
  to.added = h | 1;
  to.root = out->id;
  dt_diag_place_put(g, out, &to);
}

void dt_diag_routed_sum (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                         const DtPlace *w) {
  const DtFact facts[2] = { { true, w->added }, { false, w->where } };
  DtEvent at = dt_diag_origin(&w->at, "");
  if (w->kind == DT_PLACE_ROUTED)
    dt_diag_claim_all(g, &at, DT_FIND_ID_OTHER_PART, raw->mesh, raw->mdim, DT_SALT_ROUTED_SUM, 2,
                      facts, dt_diag_place_name(g, in->id), "each rank sends the "
                      "same rows through other experts, and the results are "
                      "summed: the choice does not count in the whole; the rows");
}

/* --- a sum over the ranks, and an addend --- */

/* A sum over all ranks plus a sum over this rank's part alone, in either order.
** Equal shapes are asked for, since a number beside a tensor may be a bias.  A sum
** plus this rank's share of that same sum gives it its gradient, and the share less
** its own detached copy is nothing.
** That what was added differs is claimed, not seen: one rank has its own only. */
void dt_diag_half_reduced (DtDiag *g, const DtEvent *e) {
  const DtPlace *a, *b;
  DtFact fact = { false, 0 };
  DtEvent at;
  const char *what, *name;
  int64_t addend = 0;
  DtBuf t;
  if (e->nin < 2 || !dt_diag_is(g, e, DT_DO_ADD)) return;
  a = dt_diag_place(g, e->in[0]);
  b = dt_diag_place(g, e->in[1]);
  if (e->in[1]) addend = e->in[1]->id;
  if (a && b && b->kind == DT_PLACE_TOTAL) {
    const DtPlace *c = a;
    a = b;
    b = c;
    addend = e->in[0]->id;
  }
  if (a == NULL || b == NULL || a->kind != DT_PLACE_TOTAL || a->rest ||
      (b->kind != DT_PLACE_ADDEND && b->kind != DT_PLACE_BIASED) ||
      (a->at.seq > 0 && a->at.seq == b->at.seq) ||
      !dt_meta_same_shape(&e->in[0]->local->m, &e->in[1]->local->m)) return;
  fact.hash = b->where;
  at = dt_diag_origin(&b->at, "");
  dt_buf_init(&t, g->s->cx);
  dt_buf_addf(&t, "a sum along %lld of %lld on each rank, not reduced, is added to "
              "one that was, at %s:%d; where each part begins",
              (long long)b->len, (long long)b->whole, e->file ? e->file : "",
              e->line);
  what = dt_diag_intern(g, &t);
  name = dt_diag_place_name(g, addend);
  if (*name == '\0') name = dt_diag_place_name(g, b->root);
  if (what)
    dt_diag_claim_all(g, &at, DT_FIND_ID_HALF_REDUCED, NULL, -1, DT_SALT_HALF_REDUCED, 1, &fact,
                      name, what);
}

/* --- rows of this rank against those of all --- */

void dt_diag_scored (DtDiag *g, const DtEvent *e, const DtVar *keys, int64_t n) {
  const int64_t ranks = g->s->comm ? g->s->comm->size : 1;
  DtPlace *was = dt_diag_place_spread(g, e->out[0]), w;
  if (ranks < 2 || n < 2 || ndim(e->out[0]) != 2 || keys == NULL || keys->spec ||
      e->out[0]->local->m.shape[0] != n ||
      e->out[0]->local->m.shape[1] != n * ranks) return;
  if (was) {
    was->keys = dt_diag_sample(keys->local);
    w = *was;
  } else {
    const DtPlace none = { .kind = DT_PLACE_SCORED };
    w = dt_diag_place_made(&none, e, DT_PLACE_SCORED);
    w.keys = dt_diag_sample(keys->local);
  }
  dt_diag_place_put(g, e->out[0], &w);
}

/* The row's own column lies `rank` times so many further on, unless each rank
** puts its own rows first: then the columns are not the same on all. */
void dt_diag_labels_met (DtDiag *g, const DtEvent *e) {
  const DtPlace *p = dt_diag_place(g, e->in[0]), *c;
  DtFact facts[3];
  DtEvent at;
  const char *what;
  DtBuf t;
  if (p == NULL || p->keys == 0 || e->nin < 2 ||
      (c = dt_diag_place_of(g, e, 1, DT_PLACE_COUNTED)) == NULL) return;
  facts[0] = (DtFact){ true, dt_diag_hash(e->in[1]->local, true) };
  facts[1] = (DtFact){ true, p->keys };
  facts[2] = (DtFact){ false, dt_diag_sample(e->in[0]->local) };
  at = dt_diag_origin(&c->at, "");
  dt_buf_init(&t, g->s->cx);
  dt_buf_addf(&t, "they choose among %lld columns, made of the rows of all ranks, at "
              "%s:%d", (long long)e->in[0]->local->m.shape[1],
              e->file ? e->file : "", e->line);
  what = dt_diag_intern(g, &t);
  if (what)
    dt_diag_claim_all(g, &at, DT_FIND_ID_LABELS_ALIKE, NULL, -1, DT_SALT_LABELS_MET, 3, facts,
                      dt_diag_place_name(g, c->root), what);
}

/* Is `t` true at (i, i), and nowhere else? */
static bool is_diagonal (const DtTensor *t) {
  for (int64_t i = 0; i < t->m.shape[0]; i++)
    for (int64_t j = 0; j < t->m.shape[1]; j++)
      if ((dt_tensor_get(t, (int64_t[DT_MAX_NDIM]){ i, j }).re != 0) != (i == j))
        return false;
  return true;
}

/* The rows' own columns are to be left out: they lie where the labels would. */
static void on_masked (DtDiag *g, const DtEvent *e) {
  const DtPlace *p = e->nin > 1 ? dt_diag_place(g, e->in[0]) : NULL;
  const DtVar *mask = p ? e->in[1] : NULL;
  DtFact facts[3];
  if (p == NULL || p->keys == 0 || e->status != DT_OK || e->backward || mask == NULL ||
      mask->spec || !dt_tensor_has_data(mask->local) ||
      !dt_meta_same_shape(&mask->local->m, &e->in[0]->local->m) ||
      !is_diagonal(mask->local)) return;
  facts[0] = (DtFact){ true, dt_diag_hash(mask->local, true) };
  facts[1] = (DtFact){ true, p->keys };
  facts[2] = (DtFact){ false, dt_diag_sample(e->in[0]->local) };
  dt_diag_claim_all(g, e, DT_FIND_ID_MASK_ALIKE, NULL, -1, 0, 3, facts,
                    dt_diag_kept_name(g, mask), "it leaves out column i of row i, among "
                    "columns that are made of the rows of all ranks; the mask");
}

static bool masks (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.masked_fill.Scalar",
    "aten.masked_fill_.Scalar", NULL };
  (void)g;
  return dt_diag_named(op, names);
}

const DtDiagRule dt_rules_meet[] = {
  { DT_EV_OP_END, on_masked, masks, DT_WHEN(nplaces) },
  { 0, NULL, NULL, 0 }
};
