/* SPDX-License-Identifier: MIT
** diag/rules_perm.c: inputs and targets that are shuffled apart.
**
** Rows that a drawn permutation chooses are in its order, and so is what is computed of
** them row by row.  A prediction in one order that a loss compares with targets in
** another is trained on targets of other rows.  Permutations are told apart by what
** they hold: drawn twice from generators seeded alike they are one. */
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

enum { SLOTS = 256 };

typedef struct Order {
  int64_t storage, version;
  uint64_t order;               /* the permutation's values; with one that rows were in
                                ** before, both */
  int64_t n;                    /* rows that it has */
  bool rows;                    /* rows in its order; else the permutation itself */
  DtOrigin at;                  /* where it was drawn */
} Order;

struct DtPerms { Order v[SLOTS]; };

void dt_diag_perms_free (DtDiag *g) {
  dt_free(g->s->cx, g->perms);
  g->perms = NULL;
  g->nperms = 0;
}

static const Order *order_of (const DtDiag *g, const DtVar *v) {
  const Order *w;
  if (g->perms == NULL || v == NULL || v->spec || v->is_param) return NULL;
  w = &g->perms->v[(uint64_t)v->local->storage->id % SLOTS];
  return w->storage == v->local->storage->id && w->order != 0 &&
         w->version == v->local->storage->version ? w : NULL;
}

static void put_order (DtDiag *g, const DtVar *v, Order one) {
  if (g->perms == NULL && (g->perms = DT_NEW(g->s->cx, struct DtPerms)) == NULL) {
    dt_error_clear(g->s->cx);
    return;
  }
  one.storage = v->local->storage->id;
  one.version = v->local->storage->version;
  g->perms->v[(uint64_t)one.storage % SLOTS] = one;
  g->nperms++;
}

static int64_t rows_of (const DtVar *v) {
  return v->local->m.ndim > 0 ? v->local->m.shape[0] : 0;
}

static void drawn_end (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->nout > 0 ? e->out[0] : NULL;
  if (e->status != DT_OK || v == NULL || v->spec || !dt_tensor_has_data(v->local) ||
      rows_of(v) < 4) return;   /* few rows may well lie in the same order */
  put_order(g, v, (Order){ .order = dt_diag_hash(v->local, false) | 1, .n = rows_of(v),
    .at = { .op = e->op->sig->full, .file = e->file, .line = e->line, .seq = e->seq } });
}

/* x[permutation], or of a piece of it. */
static void chosen_end (DtDiag *g, const DtEvent *e) {
  const DtVar *x = e->nin > 1 ? e->in[0] : NULL, *at = x ? e->in[1] : NULL;
  const Order *by = order_of(g, at), *was = order_of(g, x);
  Order to;
  if (e->status != DT_OK || by == NULL || by->rows || e->nout < 1 || e->out[0] == NULL ||
      at->local->m.ndim != 1 || rows_of(x) != by->n || rows_of(e->out[0]) != rows_of(at))
    return;
  to = *by;
  to.rows = true;
  if (was != NULL) to.order = dt_hash_u64(was->order, by->order) | 1;
  put_order(g, e->out[0], to);
}

/* Where does a loss have its prediction and its targets? */
static bool is_loss (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = {
    "aten.nll_loss_forward.default", "aten.nll_loss.default", "aten.mse_loss.default",
    "aten.l1_loss.default", "aten.smooth_l1_loss.default", "aten.huber_loss.default",
    "aten.binary_cross_entropy.default", "aten.binary_cross_entropy_with_logits.default",
    "aten.nll_loss2d_forward.default", "aten.kl_div.default", NULL };
  (void)g;
  return dt_diag_named(op, names);
}

static void compared_end (DtDiag *g, const DtEvent *e) {
  const DtVar *y = e->nin > 1 ? e->in[0] : NULL, *t = y ? e->in[1] : NULL;
  const Order *a = order_of(g, y), *b = order_of(g, t);
  DtEvent at;
  if (e->status != DT_OK || e->backward || a == NULL || b == NULL || !a->rows ||
      !b->rows || a->order == b->order || a->n != b->n || rows_of(y) != rows_of(t) ||
      dt_var_needs_grad(t) || !dt_var_needs_grad(y)) return;
  at = dt_diag_origin(&b->at, "");
  dt_diag_add(g, &at, DT_FIND_ID_TARGETS_APART, t, 0, NULL, "of %lld rows, the targets "
              "are in the order of the permutation drawn here, the inputs in that of "
              "another (%s:%d); they are compared at %s:%d", (long long)b->n,
              a->at.file ? a->at.file : "", a->at.line, e->file ? e->file : "", e->line);
}

/* Row by row: what all that is in an order agrees on.  With a permutation itself rows may
** be put back (index_copy, scatter): no order is known then. */
static void passed_end (DtDiag *g, const DtEvent *e) {
  const Order *w = NULL;
  const DtVar *out = e->nout > 0 ? e->out[0] : NULL;
  if (e->status != DT_OK || e->backward || out == NULL || out->spec) return;
  for (int i = 0; i < e->nin; i++) {
    const Order *one = order_of(g, e->in[i]);
    if (one != NULL && !one->rows) return;
    if (one == NULL || rows_of(e->in[i]) != rows_of(out)) continue;
    if (w != NULL && w->order != one->order) return;
    w = one;
  }
  if (w != NULL) put_order(g, out, *w);
}

static bool draws_order (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return strncmp(op->sig->full, "aten.randperm.", 14) == 0;
}

static bool chooses_rows (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.index.Tensor", "aten.index_select.default",
                                       NULL };
  (void)g;
  return dt_diag_named(op, names);
}

/* A view is the same memory, and has its order.  What is written into may have been in
** another order, of which some stays (rows that are mixed). */
static bool passes_rows (const DtDiag *g, const DtOpDef *op) {
  return !draws_order(g, op) && !chooses_rows(g, op) && !is_loss(g, op) &&
         !dt_diag_view(g, op) &&
         (op->flags & (DT_OP_RANDOM | DT_OP_INPLACE)) == 0;
}

const DtDiagRule dt_rules_perm[] = {
  { DT_EV_OP_END, drawn_end, draws_order, 0 },
  { DT_EV_OP_END, chosen_end, chooses_rows, DT_WHEN(nperms) },
  { DT_EV_OP_END, compared_end, is_loss, DT_WHEN(nperms) },
  { DT_EV_OP_END, passed_end, passes_rows, DT_WHEN(nperms) },
  { 0, NULL, NULL, 0 }
};
