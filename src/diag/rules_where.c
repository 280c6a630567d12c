/* SPDX-License-Identifier: MIT
** diag/rules_where.c: sharding by hand, followed through operators.
**
** What is cut out of a plain tensor, or left a distributed one, is a part along
** one dimension; views, products, pointwise functions, lookups and reductions
** carry that along.  Numbers counted from 0 (arange, tril) are followed, too.
** Nothing follows from a slice alone, for x[:, :-1] is one as well: that the
** ranks hold other parts is a fact to be claimed with the rest.
**
** - Counted numbers that are the same on all ranks meet a part along its cut
**   dimension: positions, angles or masks of the part, not of the whole.
** - An index found within a part is sent to the others as if it counted in the
**   whole.
** - A sum along the cut columns of a product is an addend; what is not linear in
**   it must wait for the sum over the ranks.
** - Heads of queries and of keys that would not meet on one device. */
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

void dt_diag_carry (DtDiag *g, const DtVar *from, const DtVar *to) {
  const DtPlace *w = g->nplaces ? dt_diag_place(g, from) : NULL;
  if (w && dt_meta_same_shape(&from->local->m, &to->local->m))
    dt_diag_place_put(g, to, w);
  if (g->nrows > 0 || g->ndealt > 0) dt_diag_rows_carry(g, from, to);
}

static DtPlace *find_place (const DtDiag *g, const DtVar *v) {
  return dt_diag_place_spread(g, v);
}

static const DtPlace *look_for (const DtDiag *g, const DtEvent *e, int i,
                                DtPlaceKind kind) {
  return dt_diag_place_of(g, e, i, kind);
}

static void put_place (DtDiag *g, const DtVar *v, const DtPlace *w) {
  dt_diag_place_put(g, v, w);
}

static DtPlace derive_place (const DtPlace *w, const DtEvent *e,
                             DtPlaceKind kind) {
  return dt_diag_place_made(w, e, kind);
}

static int ndim_of (const DtVar *v) { return v->local->m.ndim; }

static int64_t dim_size (const DtVar *v, int d) { return v->local->m.shape[d]; }

/* --- products --- */

/* Both were cut where the product sums: an addend, and what was added to it. */
static void summed_end (DtDiag *g, const DtEvent *e, const DtProduct *f,
                        const DtPlace *a, const DtPlace *b) {
  const DtVar *bias = f->a > 0 ? e->in[0] : NULL;
  DtPlace w = *a;
  dt_diag_summed_parts(g, e, a, b);
  w.src = a->src && b->src ? dt_hash_u64(a->src, b->src) | 1 : 0;
  w.added = bias && !bias->spec && !find_place(g, bias)
  ? dt_diag_sample(bias->local)
                                                   : 0;
  w = derive_place(&w, e, w.added ? DT_PLACE_BIASED : DT_PLACE_ADDEND);
  put_place(g, e->out[0], &w);
}

static bool adds_up (const DtPlace *w) {
  return w && (w->kind == DT_PLACE_ADDEND || w->kind == DT_PLACE_BIASED ||
               w->kind == DT_PLACE_BENT);
}

/* The same part, merged into the batches of a product: heads. */
static bool are_batches (const DtPlace *a, const DtPlace *b) {
  return a && b && a->where == b->where && a->len == b->len &&
         a->whole == b->whole && a->before == b->before && a->before > 0 &&
         a->dim == b->dim;
}

/* Rows of this rank's batch and columns of a weight: what is fed to the columns
** must be the same on the ranks that share the product. */
static bool is_fed_rows (const DtVar *x, const DtPlace *a, const DtVar *weight) {
  return ndim_of(weight) == 2 && a->dim == 0 && !a->columns && ndim_of(x) > 1;
}

/* What is as wide as this rank's part of a weight, and no part itself: it should
** be another part on each rank.  What is drawn may be a part by being drawn. */
static void alike_end (DtDiag *g, const DtEvent *e, const DtVar *x,
                       const DtVar *weight) {
  const DtPlace *part = find_place(g, weight);
  DtPlace w;
  if (x->spec || x->is_param || x->local->storage->drawn || ndim_of(x) < 2 ||
      ndim_of(weight) != 2 || part->first_len > 0 || part->len < 2 ||
      dt_idset_has(&g->counts, x->local->storage->id)) return;
  w = derive_place(part, e, DT_PLACE_ALIKE);
  w.fed = dt_diag_sample(x->local);
  w.fed_id = x->id;
  put_place(g, e->out[0], &w);
}

/* Queries of this rank's part of a sequence, in batches, against keys of a part. */
static bool are_scores (const DtEvent *e, const DtProduct *f, const DtPlace *a,
                        const DtPlace *b) {
  const int n = ndim_of(e->in[f->a]);
  return n > 2 && ndim_of(e->in[f->b]) == n && a->dim == n - 2 && b->dim == n - 1 &&
         a->whole == b->whole && a->len == b->len;
}

/* This rank's samples against each other, as a contrastive loss has them: each rank
** among its own may be meant. */
static bool are_samples (const DtEvent *e, const DtProduct *f, const DtPlace *a,
                         const DtPlace *b) {
  return a && b && ndim_of(e->in[f->a]) == 2 && a->dim == 0 && a->of == b->of &&
         a->where == b->where && !a->columns && !b->columns;
}

/* Where the product of two matrices lies.  The cases go from the narrow to the
** wide and return; what is left is a part of rows or of columns whose other
** operand is whole on each rank.  On the way `a`, `b` and `x` become NULL, which
** says "whole" from there on, not "unknown": of a and b one must be left.  A
** dimension that is summed over is none of the result (summed_end); dimensions
** are counted from the end, since a batch may stand before either operand. */
static void follow_product (DtDiag *g, const DtEvent *e, const DtProduct *f) {
  const DtVar *x = f->a < e->nin ? e->in[f->a] : NULL;
  const DtPlace *a = look_for(g, e, f->a, DT_PLACE_PART);
  const DtPlace *b = look_for(g, e, f->b, DT_PLACE_PART);
  const int n = ndim_of(e->out[0]);
  DtPlace w;
  int back;                     /* the dimension, counted from the end */
  dt_diag_pieces_met(g, e, x ? find_place(g, x) : NULL,
                     f->b < e->nin ? find_place(g, e->in[f->b]) : NULL);
  if (x && n == 2 && look_for(g, e, f->a, DT_PLACE_MERGED) &&
      !(f->b < e->nin && find_place(g, e->in[f->b]))) {
    put_place(g, e->out[0], find_place(g, x));      /* row by row */
    return;
  }
  if (x && n == 3 && are_batches(look_for(g, e, f->a, DT_PLACE_MERGED),
                                 look_for(g, e, f->b, DT_PLACE_MERGED))) {
    put_place(g, e->out[0], find_place(g, x));      /* batch by batch */
    return;
  }
  if (x && adds_up(find_place(g, x)) && f->b < e->nin &&
      !find_place(g, e->in[f->b])) {
    w = *find_place(g, x);
    w.root = e->out[0]->id;
    put_place(g, e->out[0], &w);
    return;
  }
  if (a && b && a->dim == ndim_of(e->in[f->a]) - f->da &&
      b->dim == ndim_of(e->in[f->b]) - f->db) {
    summed_end(g, e, f, a, b);
    return;
  }
  if (b && x && x->is_param && e->in[f->b]->is_param && n == 2 && !find_place(g, x) &&
      b->dim == ndim_of(e->in[f->b]) - f->db) {
    summed_end(g, e, f, b, b);          /* the other one is cut, too */
    return;
  }
  if (b && x && !find_place(g, x) && b->dim == ndim_of(e->in[f->b]) - f->db)
    alike_end(g, e, x, e->in[f->b]);
  if (a && a->dim == ndim_of(e->in[f->a]) - f->da) a = NULL;
  else if (x && find_place(g, x) && !(a && b && (is_fed_rows(x, a, e->in[f->b]) ||
                                                 are_scores(e, f, a, b))))
    x = NULL;                   /* not whole on every rank */
  if (b && b->dim == ndim_of(e->in[f->b]) - f->db) b = NULL;
  if (are_samples(e, f, a, b)) return;
  const uint64_t rows = a && b ? a->where : 0;
  if (a && b && x && (is_fed_rows(x, a, e->in[f->b]) || are_scores(e, f, a, b)))
    a = NULL;
  if ((a == NULL) == (b == NULL)) {
    dt_diag_item_used(g, e);
    return;
  }
  w = a ? *a : *b;
  w.columns = a == NULL;
  w.grads = g->s->grad_enabled &&
            (e->in[f->a]->requires_grad || e->in[f->b]->requires_grad);
  w.rows = a == NULL ? rows : 0;
  back = a ? ndim_of(e->in[f->a]) - w.dim : ndim_of(e->in[f->b]) - w.dim;
  if (a) w.dim = ndim_of(e->in[f->b]) == 1 ? n + 1 - back : n - back;
  else w.dim = back <= 2 ? n - 1 : n - back;
  if (w.columns && ndim_of(e->in[f->b]) == 2 && x && !x->spec) {
    w.fed = x->local->storage->drawn ? 0 : dt_diag_sample(x->local);
    w.fed_id = x->id;
    w.fed_at = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                           .line = e->line, .seq = e->seq };
  }
  if (w.dim >= 0 && w.dim < n && dim_size(e->out[0], w.dim) == w.len)
    put_place(g, e->out[0], &w);
}

static void product_end (DtDiag *g, const DtEvent *e, const DtProduct *f) {
  follow_product(g, e, f);
  if (f->a < e->nin && f->b < e->nin && e->in[f->a] && ndim_of(e->in[f->a]) == 2)
    dt_diag_scored(g, e, e->in[f->b], dim_size(e->in[f->a], 0));
}

/* --- pointwise --- */

static bool is_linear (const DtDiag *g, const DtEvent *e) {
  static const char *const names[] = { "aten.neg.default", "aten.sub.Tensor",
    "aten.rsub.Scalar", "aten.sub.Scalar", "aten.add.Scalar", NULL };
  return dt_diag_named(e->op, names) || dt_diag_is(g, e, DT_DO_ADD) ||
         dt_diag_is(g, e, DT_DO_MUL) || dt_diag_is(g, e, DT_DO_DIV) ||
         dt_diag_is(g, e, DT_DO_MUL_SCALAR) ||
         dt_diag_is(g, e, DT_DO_DIV_SCALAR);
}

/* What is added to an addend, the same everywhere, as a hash; 0: nothing, or a
** share of it. */
static uint64_t hash_of_addend (DtDiag *g, const DtEvent *e, int i) {
  const DtVar *v = i < e->nin ? e->in[i] : NULL;
  if (v == NULL || v->spec || find_place(g, v) || v->local->storage->drawn ||
      !dt_dtype_is_float((DtDtype)v->local->m.dtype) ||
      dt_diag_is_scaled(v)) return 0;
  return dt_diag_sample(v->local);
}

static bool is_named (const DtEvent *e, const char *name) {
  return strcmp(e->op->sig->full, name) == 0;
}

/* Blocks of other ranks' parts are added up here, one after the other: the sum is
** no addend of this rank. */
static bool is_gathering (const DtDiag *g, const DtEvent *e, const DtPlace *a,
                          const DtPlace *b) {
  return dt_diag_is(g, e, DT_DO_ADD) && ((a && a->moved) || (b && b->moved));
}

static DtPlace weight_made (const DtPlace *lse, const DtEvent *e) {
  DtPlace w = derive_place(lse, e, DT_PLACE_ADDEND);
  w.weighs = true;
  return w;
}

/* What is bent stays so, but for two: one such times another is weighted by what
** its part says of itself, as parts of an attention are merged; and the
** exponential of the logarithm of an addend is the addend. */
static void bent_end (DtDiag *g, const DtEvent *e, const DtPlace *a,
                      const DtPlace *b) {
  DtPlace w = *(a && a->kind == DT_PLACE_BENT ? a : b);
  if (a && b && dt_diag_is(g, e, DT_DO_MUL) &&
      (a->kind == b->kind || a->weighs || b->weighs)) return;
  for (int i = 0; i < 2; i++)
    if (look_for(g, e, i, DT_PLACE_PEAK)) w.peak.line = 0;        /* put back */
  if (w.logged && dt_diag_is_power(e->op))
    w = weight_made(&w, e);
  else if (!is_linear(g, e) && e->nin != 1) return;
  w.logged = w.logged && is_linear(g, e);
  put_place(g, e->out[0], &w);
}

/* Less what has the same numbers, without its gradient: nothing, that passes a
** gradient on. */
static bool is_straight_through (const DtEvent *e) {
  return is_named(e, "aten.sub.Tensor") && e->nin > 1 && e->in[1] &&
         e->in[0]->local->storage == e->in[1]->local->storage &&
         e->in[0]->local->offset == e->in[1]->local->offset;
}

/* As on_addend of rules_part.c, for tensors that are no part of DTensor: two
** addends, or a divisor that is one, bend; a constant beside an addend is a
** bias, which would be counted once a rank. */
static void addend_end (DtDiag *g, const DtEvent *e) {
  const DtPlace *a = e->nin > 0 ? find_place(g, e->in[0]) : NULL;
  const DtPlace *b = e->nin > 1 ? find_place(g, e->in[1]) : NULL;
  const bool times = dt_diag_is(g, e, DT_DO_MUL);
  const bool over = dt_diag_is(g, e, DT_DO_DIV);
  DtPlace w;
  if (!adds_up(a)) a = NULL;
  if (!adds_up(b)) b = NULL;
  if ((a == NULL && b == NULL) || is_straight_through(e)) return;
  if (is_gathering(g, e, a, b)) return;
  if ((a && a->kind == DT_PLACE_BENT) || (b && b->kind == DT_PLACE_BENT)) {
    bent_end(g, e, a, b);
    return;
  }
  w = *(a ? a : b);
  if (!is_linear(g, e) || (a && b && (times || over)) || (b && over)) {
    w = derive_place(&w, e, DT_PLACE_BENT);
    w.logged = dt_diag_is_logarithm(e->op);
    if (a && b && a->peak.line == b->peak.line) w.peak.line = 0;
  }
  else if (dt_diag_is(g, e, DT_DO_ADD) && w.kind == DT_PLACE_ADDEND &&
           (a == NULL) != (b == NULL) &&
           (w.added = hash_of_addend(g, e, a ? 1 : 0)) != 0)
    w = derive_place(&w, e, DT_PLACE_BIASED);
  if (times && e->nin > 1 && e->in[1]) w.peak.line = 0;
  put_place(g, e->out[0], &w);
}

static bool whole_or_number (const DtVar *v) {
  return v == NULL || ndim_of(v) < 2 || dt_meta_numel(&v->local->m) == 1;
}

/* Does it lie along other dimensions than what is counted: slopes of heads? */
static bool is_across (const DtEvent *e, const DtVar *v) {
  const DtMeta *z = &e->out[0]->local->m;
  for (int i = 0; i < e->nin; i++) {
    const DtVar *o = e->in[i];
    if (o == v || o == NULL) continue;
    for (int d = 1; d <= z->ndim; d++)
      if (d <= ndim_of(v) && d <= ndim_of(o) &&
          dim_size(v, ndim_of(v) - d) > 1 && dim_size(o, ndim_of(o) - d) > 1)
        return false;
  }
  return true;
}

/* Of two that are counted, as the rows and columns of a mask, that of fewer
** elements is the part's; but frequencies, which are powers, are no positions. */
static const DtPlace *choose_counted (const DtDiag *g, const DtEvent *e,
                                      const DtPlace *was, int *last, int i) {
  const DtPlace *now = find_place(g, e->in[i]);
  if (was != NULL && (was->powers == now->powers
                      ? dt_meta_numel(&e->in[*last]->local->m) <=
                        dt_meta_numel(&e->in[i]->local->m)
                      : !was->powers)) return was;
  *last = i;
  return now;
}

/* Shifted, they are other numbers; compared, divided as whole numbers, they are not
** counted any more, but scaled they are angles of the same. */
static void counted_again (DtDiag *g, const DtEvent *e, const DtPlace *w) {
  static const char *const shifts[] = { "aten.sub.Tensor", "aten.add.Scalar",
    "aten.sub.Scalar", NULL };
  static const char *const powers[] = { "aten.pow.Scalar", "aten.exp.default",
    "aten.exp2.default", "aten.pow.Tensor_Tensor", NULL };
  DtPlace to = *w;
  if (dt_diag_is(g, e, DT_DO_ADD) || dt_diag_named(e->op, shifts))
    dt_diag_items_read(e->out[0], &to);
  else if (!dt_dtype_is_float((DtDtype)e->out[0]->local->m.dtype)) to.items = 0;
  if (dt_diag_named(e->op, powers)) {
    to.powers = true;
    to.items = 0;
  }
  put_place(g, e->out[0], &to);
}

/* Of two statistics of one part, a ratio or product is not linear in either.  That
** of a loss is left alone: some are meant for each rank's samples. */
static void stat_again (DtDiag *g, const DtEvent *e, const DtPlace *stat) {
  const DtPlace *a = look_for(g, e, 0, DT_PLACE_STAT);
  const DtPlace *b = look_for(g, e, 1, DT_PLACE_STAT);
  const bool over = dt_diag_is(g, e, DT_DO_DIV);
  DtPlace to = *stat;
  to.bent = to.bent && is_linear(g, e);
  if (!to.bent) to.added = 0;
  if (a && b && a->where == b->where && (over || dt_diag_is(g, e, DT_DO_MUL)) &&
      !e->in[0]->requires_grad && !e->in[1]->requires_grad) {
    to.fed_at = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                            .line = e->line, .seq = e->seq };
    to.fed_id = e->out[0]->id;
    to.bent = true;
    to.added = dt_diag_hash(e->in[1]->local, false);
  }
  to.adds = to.adds && !to.bent && is_linear(g, e);
  put_place(g, e->out[0], &to);
}

/* Is it data, as many as are counted? */
static bool is_data (const DtEvent *e, const DtVar *v) {
  return v && dt_dtype_is_float((DtDtype)v->local->m.dtype) &&
         dt_meta_numel(&v->local->m) > 1 &&
         dt_meta_same_shape(&v->local->m, &e->out[0]->local->m);
}

/* What elementwise operators do to places.  Rules that speak of two operands come
** first and only look; then one place is handed on, a part before anything
** else, and the first that is found: operands that lie in two ways were spoken
** of above.  An operand without a place keeps `alone` only where it is the same
** on all ranks by construction, or a mask counted on one rank would be taken for
** the positions of the whole. */
static void pointwise_end (DtDiag *g, const DtEvent *e) {
  const DtPlace *counted = NULL, *stat = NULL;
  bool alone = true;
  int i, k, last = 0;
  for (i = 0; i < e->nin; i++) {
    const DtPlace *w = find_place(g, e->in[i]);
    if (w == NULL)
      alone = alone && ((whole_or_number(e->in[i]) && !is_data(e, e->in[i])) ||
                        is_across(e, e->in[i]));
    else if (w->kind == DT_PLACE_STAT) stat = w;
    else if (w->kind == DT_PLACE_COUNTED)
      counted = choose_counted(g, e, counted, &last, i);
    else alone = false;
    if (w == NULL || w->kind != DT_PLACE_PART) continue;
    for (k = 0; k < e->nin; k++)
      if (look_for(g, e, k, DT_PLACE_COUNTED)) dt_diag_counted_met(g, e, i, k);
      else if (k != i && look_for(g, e, k, DT_PLACE_PART))
        dt_diag_parts_met(g, e, i, k);
  }
  dt_diag_stat_met(g, e);
  dt_diag_half_reduced(g, e);
  dt_diag_shifted_added(g, e);
  dt_diag_found_compared(g, e);
  if (dt_diag_total_met(g, e)) return;
  addend_end(g, e);
  for (i = 0; i < e->nin; i++) {
    const DtPlace *w = look_for(g, e, i, DT_PLACE_PART);
    DtPlace to;
    if (w == NULL) continue;
    to = *w;
    to.prefix = to.prefix && (e->nin < 2 || e->in[1] == NULL);
    if (i < 2) dt_diag_shift(g, e, i, &to);
    to.dim += ndim_of(e->out[0]) - ndim_of(e->in[i]);
    if (to.dim >= 0 && to.dim < ndim_of(e->out[0]) &&     /* a loss may reduce */
        dim_size(e->out[0], to.dim) == to.len) put_place(g, e->out[0], &to);
    return;
  }
  if (e->nin > 0 && (look_for(g, e, 0, DT_PLACE_MERGED) ||
                     look_for(g, e, 0, DT_PLACE_SCORED)))
    put_place(g, e->out[0], find_place(g, e->in[0]));
  else if (counted && alone && dt_diag_positions_compared(g, e, counted)) return;
  else if (counted && alone) counted_again(g, e, counted);
  else if (stat == NULL) dt_diag_item_used(g, e);
  else stat_again(g, e, stat);
}

/* --- along a dimension --- */

/* The values' indices are the second result. */
static void found_beside (DtDiag *g, const DtEvent *e, const DtPlace *w) {
  DtPlace to = derive_place(w, e, DT_PLACE_FOUND);
  if (e->nout < 2 || e->out[1] == NULL) return;
  to.root = e->out[1]->id;
  put_place(g, e->out[1], &to);
}

/* An operator along the dimension that is cut sees one rank's part only: its
** index counts from there, its sum is an addend, its normalisation is of the
** part.  Along another dimension the part is only handed on. */
static void along_end (DtDiag *g, const DtEvent *e) {
  static const char *const finds[] = { "aten.argmax.default",
    "aten.argmin.default", NULL };
  static const char *const pairs[] = { "aten.max.dim", "aten.min.dim",
    "aten.topk.default", "aten.sort.default", "aten.sort.stable", NULL };
  static const char *const norms[] = { "aten._softmax.default",
    "aten._log_softmax.default", "aten.logsumexp.default", NULL };
  static const char *const stats[] = { "aten.mean.dim", "aten.mean.default",
    "aten.sum.dim_IntList", "aten.sum.default", "aten.std.correction",
    "aten.std.dim", "aten.std.default", "aten.var.correction", "aten.var.dim",
    "aten.var.default", "aten.linalg_vector_norm.default",
    "aten.logsumexp.default", "aten.median.default", "aten.median.dim",
    "aten.nanmedian.default", "aten.quantile.default", "aten.quantile.scalar",
    "aten.kthvalue.default", NULL };
  static const char *const bends[] = { "aten.std.correction", "aten.std.dim",
    "aten.std.default", "aten.var.correction", "aten.var.dim",
    "aten.var.default", "aten.linalg_vector_norm.default",
    "aten.median.default", "aten.median.dim", "aten.nanmedian.default",
    "aten.quantile.default", "aten.quantile.scalar", "aten.kthvalue.default",
    NULL };
  static const char *const taken[] = { "aten.gather.default", "aten.min.default",
    "aten.max.default", NULL };
  static const char *const carries[] = { "aten.mean.default", "aten.mean.dim",
    "aten.sum.default", "aten.sum.dim_IntList", "aten.gather.default",
    "aten.nll_loss_forward.default", NULL };
  DtPlace *w = find_place(g, e->in[0]);
  const bool sums = dt_diag_is(g, e, DT_DO_SUM) ||
                    dt_diag_is(g, e, DT_DO_SUM_DIM);
  const bool means = dt_diag_is(g, e, DT_DO_MEAN) ||
                     dt_diag_is(g, e, DT_DO_MEAN_DIM);
  DtPlace to;
  if (w == NULL) return;
  if (strcmp(e->op->sig->full, "aten.nll_loss_forward.default") == 0)
    dt_diag_labels_met(g, e);
  if (w->kind == DT_PLACE_SCORED &&
      dt_meta_same_shape(&e->in[0]->local->m, &e->out[0]->local->m))
    put_place(g, e->out[0], w);
  if (w->kind == DT_PLACE_BENT || (w->kind == DT_PLACE_BIASED && sums) ||
      (w->kind == DT_PLACE_ADDEND && (sums || means))) {
    if (dt_diag_named(e->op, carries)) put_place(g, e->out[0], w);
    return;
  }
  if ((w->kind == DT_PLACE_ADDEND || w->kind == DT_PLACE_BIASED) &&
      (dt_diag_named(e->op, norms) || dt_diag_named(e->op, bends))) {
    to = derive_place(w, e, DT_PLACE_BENT);
    put_place(g, e->out[0], &to);
    return;
  }
  if (w->kind == DT_PLACE_FOUND_ALL && dt_diag_named(e->op, carries))
    put_place(g, e->out[0], w);
  if (w->kind == DT_PLACE_STAT && dt_diag_named(e->op, taken)) put_place(g, e->out[0], w);
  if (w->kind != DT_PLACE_PART) return;
  if (!dt_diag_along_dim(e, w->dim)) {
    to = *w;
    for (int d = w->dim - 1; d >= 0 && ndim_of(e->out[0]) < ndim_of(e->in[0]); d--)
      if (dt_diag_along_dim(e, d)) to.dim--;
    if (ndim_of(e->out[0]) == ndim_of(e->in[0])) to.dim = w->dim;
    if (to.dim < ndim_of(e->out[0]) && dim_size(e->out[0], to.dim) == to.len)
      put_place(g, e->out[0], &to);
    return;
  }
  if (strncmp(e->op->sig->full, "aten.cum", 8) == 0) {
    to = derive_place(w, e, DT_PLACE_PART);
    to.prefix = true;
    put_place(g, e->out[0], &to);
    return;
  }
  dt_diag_along_cut(g, e, w);
  dt_diag_peak_taken(g, e, w);
  if (dt_diag_named(e->op, pairs)) {
    to = derive_place(w, e, DT_PLACE_STAT);
    found_beside(g, e, w);
    if (strncmp(e->op->sig->full, "aten.sort.", 10) == 0 ||
        is_named(e, "aten.topk.default")) put_place(g, e->out[0], &to);
    return;
  }
  if (dt_diag_named(e->op, finds)) to = derive_place(w, e, DT_PLACE_FOUND);
  else if (w->columns && sums) to = derive_place(w, e, DT_PLACE_ADDEND);
  else if (w->columns && dt_diag_named(e->op, norms))
    to = derive_place(w, e, DT_PLACE_BENT);
  else if (dt_diag_named(e->op, stats)) to = derive_place(w, e, DT_PLACE_STAT);
  else return;
  to.bent = to.kind == DT_PLACE_STAT && dt_diag_named(e->op, bends);
  to.logged = is_named(e, "aten.logsumexp.default");
  to.adds = to.kind == DT_PLACE_STAT && sums;
  dt_diag_pooled(e, &to);
  put_place(g, e->out[0], &to);
}

/* --- lookups, attention --- */

static void lookup_end (DtDiag *g, const DtEvent *e) {
  const DtPlace *w = e->nin > 1 ? find_place(g, e->in[1]) : NULL;
  const DtPlace *rows = look_for(g, e, 0, DT_PLACE_PART);
  const bool table = strcmp(e->op->sig->full, "aten.embedding.default") == 0;
  DtPlace to;
  if (e->nin > 2) return;
  if (w) dt_diag_index_met(g, e, w);
  if (look_for(g, e, 0, DT_PLACE_FOUND_ALL)) put_place(g, e->out[0], find_place(g, e->in[0]));
  if (w && (w->kind == DT_PLACE_PART || w->kind == DT_PLACE_COUNTED)) {
    to = *w;
    if (w->kind == DT_PLACE_COUNTED &&
        !dt_dtype_is_float((DtDtype)e->out[0]->local->m.dtype)) to.items = 0;
    put_place(g, e->out[0], &to);
  }
  else if (table && rows && rows->dim == 0) {
    to = derive_place(rows, e, DT_PLACE_PICKED);
    put_place(g, e->out[0], &to);
  }
}

static void attention_end (DtDiag *g, const DtEvent *e) {
  const DtPlace *q = look_for(g, e, 0, DT_PLACE_PART);
  enum { MASK = 3 };
  dt_diag_keys_alone(g, e);
  if (q == NULL) return;
  dt_diag_heads_met(g, e);
  if (look_for(g, e, MASK, DT_PLACE_COUNTED))
    dt_diag_counted_met(g, e, 0, MASK);
  if (dt_meta_same_shape(&e->in[0]->local->m, &e->out[0]->local->m))
    put_place(g, e->out[0], find_place(g, e->in[0]));
}

/* Copied over all that was there. */
static void copied_end (DtDiag *g, const DtEvent *e) {
  const DtPlace *w = e->nin > 1 ? find_place(g, e->in[1]) : NULL;
  if (e->nin > 1) dt_diag_same_part(g, e);
  if (w && dt_meta_same_shape(&e->in[0]->local->m, &e->in[1]->local->m)) {
    const DtPlace from = *w;
    put_place(g, e->out[0], &from);
    dt_diag_part_filled(g, e->out[0], &from);
  }
}

/* repeat(): as it was, along a dimension that is not repeated. */
static void repeat_end (DtDiag *g, const DtEvent *e) {
  const DtPlace *w = find_place(g, e->in[0]);
  const int more = ndim_of(e->out[0]) - ndim_of(e->in[0]);
  DtPlace to;
  if (w == NULL || (w->kind != DT_PLACE_PART && w->kind != DT_PLACE_COUNTED)) return;
  to = *w;
  if (w->kind == DT_PLACE_PART) {
    to.dim += more;
    if (dim_size(e->out[0], to.dim) != to.len) return;
  }
  put_place(g, e->out[0], &to);
}

static void counts_end (DtDiag *g, const DtEvent *e) {
  const DtPlace none = { .kind = DT_PLACE_COUNTED };
  DtPlace w;
  if (dt_meta_numel(&e->out[0]->local->m) < 2 ||
      look_for(g, e, 0, DT_PLACE_PART)) return;
  w = derive_place(&none, e, DT_PLACE_COUNTED);
  if (strncmp(e->op->sig->full, "aten.arange", 11) == 0)
    dt_diag_items_read(e->out[0], &w);
  put_place(g, e->out[0], &w);
}

/* --- operators --- */

enum { NONE, COUNTS, VIEW, PRODUCT, LOOKUP, ATTENTION, ALONG, POINTWISE, COPY,
       JOIN, ROUTE, REPEAT };

static bool is_counting (const DtOpDef *op) {
  const char *name = op->sig->full;
  return strncmp(name, "aten.arange", 11) == 0 ||
         strcmp(name, "aten.tril.default") == 0 ||
         strcmp(name, "aten.triu.default") == 0;
}

/* Which rule follows an operator, asked once for each definition.  The order
** matters: copy_ and the writing forms of index are in place and must be asked
** before in-place operators are left out; _unsafe_view is no view by its flags. */
static int kind_of (const DtDiag *g, const DtOpDef *op) {
  static const char *const along[] = { "aten.argmax.", "aten.argmin.",
    "aten._softmax.", "aten._log_softmax.", "aten.logsumexp.", "aten.mean.",
    "aten.sum.", "aten.gather.", "aten.nll_loss_forward.", "aten.std.",
    "aten.var.", "aten.linalg_vector_norm.", "aten.native_layer_norm.d",
    "aten._fused_rms_norm.d", "aten.rms_norm.", "aten.max.dim",
    "aten.min.dim", "aten.topk.", "aten.sort.", "aten.amax.", "aten.median.",
    "aten.nanmedian.", "aten.quantile.", "aten.kthvalue.", "aten.cumsum.default",
    "aten.cumprod.default", "aten.logcumsumexp.", "aten.min.default",
    "aten.max.default", NULL };
  const char *name = op->sig->full;
  int i;
  if (is_counting(op)) return COUNTS;
  if (strcmp(name, "aten.embedding.default") == 0 ||
      strcmp(name, "aten.index.Tensor") == 0) return LOOKUP;
  if (strstr(name, "scaled_dot_product") && !strstr(name, "backward"))
    return ATTENTION;
  if (dt_diag_op_is(g, op, DT_DO_COPY)) return COPY;
  if (dt_diag_op_is(g, op, DT_DO_CAT) ||
      strcmp(name, "aten.stack.default") == 0) return JOIN;
  if (strncmp(name, "aten.index_put_", 15) == 0 ||
      strncmp(name, "aten.index_add_", 15) == 0 ||
      strncmp(name, "aten._index_put_impl_", 21) == 0 ||
      strncmp(name, "aten.index_copy_", 16) == 0) return ROUTE;
  if ((op->flags & DT_OP_INPLACE) != 0) return NONE;
  if ((op->flags & DT_OP_VIEW) || dt_diag_clones(g, op) ||
      strcmp(name, "aten._unsafe_view.default") == 0) return VIEW;
  if (strcmp(name, "aten._cdist_forward.default") == 0) return NONE;   /* a root of one */
  if (dt_diag_product(op) != NULL) return PRODUCT;
  if (strcmp(name, "aten.repeat.default") == 0) return REPEAT;
  for (i = 0; along[i]; i++)
    if (strncmp(name, along[i], strlen(along[i])) == 0) return ALONG;
  return op->flags & DT_OP_POINTWISE ? POINTWISE : NONE;
}

/* The same, remembered: it goes through many names. */
static int known_kind (DtDiag *g, const DtOpDef *op) {
  DtOpKind *k = &g->opkind[((uintptr_t)op >> 5) % DT_OPKINDS];
  if (k->op != op) *k = (DtOpKind){ .op = op, .kind = kind_of(g, op) };
  return k->kind;
}

static bool is_followed (const DtDiag *g, const DtOpDef *op) {
  return kind_of(g, op) != NONE;
}

/* A trained vector that goes along a dimension that is not cut: a gain or a bias
** of every position, of which each rank has some. */
static void gains_met (DtDiag *g, const DtEvent *e) {
  bool part = false, inner = false;
  for (int i = 0; i < e->nin && !part; i++) {
    const DtPlace *w = look_for(g, e, i, DT_PLACE_PART);
    part = w && w->dim < ndim_of(e->in[i]) - 1;
    inner = part && w->dim > 0;
  }
  for (int i = 0; i < e->nin && part; i++) {
    const DtVar *v = e->in[i];
    if (v && !v->spec && v->requires_grad && v->grad_fn == NULL &&
        ndim_of(v) == 1 && !find_place(g, v)) {
      dt_idset_add(g, &g->gains, v->local->storage->id);
      if (inner) dt_idset_add(g, &g->inner_gains, v->local->storage->id);
    }
  }
}

/* A mean along the cut dimension goes through a product with what is whole, or
** into what is not linear. */
static void pool_end (DtDiag *g, const DtEvent *e, int kind) {
  for (int i = 0; i < e->nin; i++) {
    const DtPlace *w = look_for(g, e, i, DT_PLACE_STAT);
    if (w == NULL || !w->pooled) continue;
    if (kind == PRODUCT) put_place(g, e->out[0], w);
    else if (kind == ALONG || (kind == POINTWISE && !is_linear(g, e)))
      dt_diag_pool_met(g, w);
    return;
  }
}

/* Sums that begin anew in each part go on as they are; what is added to them is
** the sum of the parts before. */
static void prefix_end (DtDiag *g, const DtEvent *e, int kind) {
  for (int i = 0; i < e->nin; i++) {
    const DtPlace *w = look_for(g, e, i, DT_PLACE_PART);
    if (w == NULL || !w->prefix) continue;
    if (kind != VIEW && !(kind == POINTWISE && is_linear(g, e) &&
                          !dt_diag_is(g, e, DT_DO_MUL) &&
                          !dt_diag_is(g, e, DT_DO_DIV)))
      dt_diag_prefix_met(g, w);
    return;
  }
}

/* Every plain operator comes here.  Counting first: aranges and masks are not
** parts of anything, but say where a part begins. */
static void op_end (DtDiag *g, const DtEvent *e) {
  int kind;
  if (e->status != DT_OK || e->backward || e->nout < 1 || e->out[0] == NULL ||
      e->out[0]->spec || dt_session_no_data(g->s)) return;
  if (known_kind(g, e->op) == COUNTS) { counts_end(g, e); return; }
  kind = known_kind(g, e->op);
  if ((g->nplaces == 0 && g->ncuts == 0 && !is_named(e, "aten.slice.Tensor")) ||
      e->nin < 1 || e->in[0] == NULL || e->in[0]->spec) return;
  if (g->nplaces > 0) gains_met(g, e);
  if (g->nplaces > 0) {
    if (kind != VIEW) dt_diag_lse_used(g, e);
    pool_end(g, e, kind);
    prefix_end(g, e, kind);
  }
  switch (kind) {
    case VIEW: dt_diag_view_end(g, e); break;
    case PRODUCT: product_end(g, e, dt_diag_product(e->op)); break;
    case LOOKUP: lookup_end(g, e); break;
    case ATTENTION: attention_end(g, e); break;
    case ALONG: along_end(g, e); break;
    case COPY: copied_end(g, e); break;
    case JOIN: dt_diag_joined(g, e); break;
    case ROUTE: dt_diag_routed(g, e); break;
    case REPEAT: repeat_end(g, e); break;
    default: pointwise_end(g, e); break;
  }
}

/* to_local() of shards along one dimension, which are cut evenly. */
static void on_to_local (DtDiag *g, const DtEvent *e) {
  const DtSpec *s;
  DtPlace w = { .kind = DT_PLACE_PART };
  int m, n = 0;
  if (e->op != NULL || e->status != DT_OK || e->backward || e->nin < 1 ||
      e->nout < 1 || e->in[0] == NULL || e->out[0] == NULL ||
      (s = e->in[0]->spec) == NULL || e->out[0]->spec || !s->has_meta ||
      !s->mesh->member || strcmp(e->text, "dtensor.to_local") != 0) return;
  for (m = 0; m < s->npl && m < s->mesh->ndim; m++) {
    if (s->mesh->shape[m] < 2 || dt_pl_is_replicate(s->pl[m])) continue;
    if (s->pl[m].kind == DT_PL_PARTIAL && s->pl[m].op == DT_OP_SUM && n == 0) {
      w.kind = DT_PLACE_ADDEND;
      w.off = s->mesh->coord[m];
      n++;
      continue;
    }
    if (!dt_pl_is_shard(s->pl[m]) || ++n > 1) {  /* cut twice: a place says one */
      dt_diag_place_drop(g, e->out[0]);
      return;
    }
    w.dim = s->pl[m].dim;       /* Shard(-1) stays so */
    if (w.dim < 0) w.dim += ndim_of(e->out[0]);
    if (w.dim < 0 || w.dim >= ndim_of(e->out[0])) return;
    w.len = dim_size(e->out[0], w.dim);
    w.whole = s->meta.shape[w.dim];
    w.off = w.len * s->mesh->coord[m];
    if (w.len * s->mesh->shape[m] != w.whole) return;
  }
  if (n == 0) return;
  w.where = dt_hash_u64(DT_HASH_SEED, (uint64_t)w.off) | 1;
  w.of = e->in[0]->id;
  w.at = w.cut = (DtOrigin){ .op = "dtensor.to_local", .file = e->file,
                             .line = e->line, .seq = e->seq };
  put_place(g, e->out[0], &w);
}

/* The gradient of a part is the same part of the gradient. */
static void on_gradient (DtDiag *g, const DtEvent *e) {
  const DtPlace *w = e->nin > 0 ? look_for(g, e, 0, DT_PLACE_PART) : NULL;
  DtPlace to;
  if (w == NULL || w->items != 0 || e->nout < 1 || e->out[0] == NULL ||
      !dt_meta_same_shape(&e->in[0]->local->m, &e->out[0]->local->m)) return;
  to = *w;
  to.src = 0;
  put_place(g, e->out[0], &to);
}

static bool scales (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_MUL) || dt_diag_op_is(g, op, DT_DO_DIV);
}

/* A statistic is added to what is kept of the earlier ones; a part is scaled by one
** of itself. */
static void kept_end (DtDiag *g, const DtEvent *e) {
  const DtPlace *w = e->nin > 1 ? look_for(g, e, 1, DT_PLACE_STAT) : NULL;
  if (w == NULL || e->status != DT_OK || e->backward || !e->out[0] ||
      e->out[0]->spec) return;
  if (scales(g, e->op)) dt_diag_stat_met(g, e);
  else if (!find_place(g, e->in[0]) && ndim_of(e->in[0]) > 0)
    put_place(g, e->out[0], w);
}

/* A statistic is bounded, or its root taken, in place. */
static void bounded_end (DtDiag *g, const DtEvent *e) {
  const DtPlace *w = e->status == DT_OK && !e->backward && e->nout > 0 && e->out[0]
                     ? dt_diag_place_before(g, e->in[0]) : NULL;
  DtPlace to;
  if (w == NULL || w->kind != DT_PLACE_STAT) return;
  to = *w;
  to.bent = true;
  put_place(g, e->out[0], &to);
}

static bool bounds (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.clamp_min_.Tensor",
    "aten.clamp_min_.default", "aten.clamp_.default", "aten.sqrt_.default",
    "aten.rsqrt_.default", "aten.reciprocal_.default", NULL };
  (void)g;
  return dt_diag_named(op, names);
}

static bool keeps (const DtDiag *g, const DtOpDef *op) {
  return (op->flags & DT_OP_INPLACE) &&
         (dt_diag_op_is(g, op, DT_DO_ADD) || scales(g, op) ||
          strncmp(op->sig->full, "aten.lerp_.", 11) == 0);
}

const DtDiagRule dt_rules_where[] = {
  { DT_EV_GRAD, on_gradient, NULL, DT_WHEN(nplaces) },
  { DT_EV_OP_END, kept_end, keeps, DT_WHEN(nplaces) },
  { DT_EV_OP_END, bounded_end, bounds, DT_WHEN(nplaces) },
  { DT_EV_FUNC_END, on_to_local, NULL, DT_CALLED(TO_LOCAL) },
  { DT_EV_OP_END, op_end, is_followed, 0 },
  { 0, NULL, NULL, 0 }
};
