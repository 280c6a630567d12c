/* SPDX-License-Identifier: MIT
** diag/rules_shuffled.c: what was gathered is in another order than the whole.
**
** Each rank had every n-th item, or several pieces; joined one rank after the
** other they are no whole in its order.  A mean does not mind, nor does what is
** gathered in the same way; what is still in the order of the whole does: labels,
** masks, weights of positions. */
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

static const DtPlace *shuffled (const DtDiag *g, const DtEvent *e, int i) {
  const DtPlace *w = i < e->nin ? dt_diag_place(g, e->in[i]) : NULL;
  return w && w->kind == DT_PLACE_SHUFFLED &&
         w->dim < e->in[i]->local->m.ndim &&
         e->in[i]->local->m.shape[w->dim] == w->whole ? w : NULL;
}

void dt_diag_shuffle (DtDiag *g, const DtPlace *part, const DtOrigin *at,
                      const DtVar *out) {
  DtPlace w = *part;
  if ((w.items == 0 && w.step < 2) || w.len * dt_session_size(g->s) != w.whole ||
      w.dim >= out->local->m.ndim || out->local->m.shape[w.dim] != w.whole) return;
  w.kind = DT_PLACE_SHUFFLED;
  w.root = out->id;
  w.at = *at;
  dt_diag_place_put(g, out, &w);
  g->nshuffled++;
}

/* Has it as many items there, in an order that nobody changed? */
static bool in_order (const DtDiag *g, const DtVar *v, int from_end, int64_t n) {
  const DtPlace *w;
  int d;
  if (v == NULL || v->spec || (d = v->local->m.ndim - from_end) < 0 ||
      v->local->m.shape[d] != n || v->local->storage->drawn) return false;
  w = dt_diag_place(g, v);
  return w == NULL || w->kind == DT_PLACE_COUNTED;
}

static void order_met (DtDiag *g, const DtEvent *e, const DtPlace *w,
                       const DtVar *other) {
  const int64_t first = w->off - (int64_t)g->s->comm->rank * w->len;
  const DtFact facts[3] = { { false, w->where },
                            { true, dt_diag_hash(other->local, true) },
                            { false, dt_hash_u64(DT_HASH_SEED, (uint64_t)first) | 1 } };
  DtEvent at = dt_diag_origin(&w->at, "");
  const char *what;
  DtBuf b;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "%s; joined one rank after the other, they meet what is in the "
              "order of the whole, at %s:%d; where each part begins",
              w->items ? "each rank had several pieces" : "each rank had every "
              "n-th item", e->file ? e->file : "", e->line);
  what = dt_diag_intern(g, &b);
  if (what) dt_diag_claim_all(g, &at, DT_FIND_ID_PART_ORDER, NULL, -1, DT_SALT_ORDER_MET, 3, facts,
                              dt_diag_place_name(g, w->root), what);
}

/* Rows in the ranks' order meet rows in their own.  nll_loss has its targets in the
** second input and rows in dimension 0; elsewhere dimensions are counted from the
** end, as broadcasting does. */
static void op_end (DtDiag *g, const DtEvent *e) {
  const bool nll = strncmp(e->op->sig->full, "aten.nll_loss", 13) == 0;
  const DtPlace *w = NULL;
  int i;
  if (e->status != DT_OK || e->backward || e->nout < 1 || e->out[0] == NULL) return;
  for (i = 0; i < e->nin && w == NULL; i++) w = shuffled(g, e, i);
  if (w == NULL) return;
  i--;
  for (int k = 0; k < e->nin; k++)
    if (k != i && e->in[k] &&
        in_order(g, e->in[k], nll ? 1 : e->in[i]->local->m.ndim - w->dim, w->whole) &&
        (!nll || w->dim == 0)) order_met(g, e, w, e->in[k]);
  if (w->dim < e->out[0]->local->m.ndim &&
      e->out[0]->local->m.shape[w->dim] == w->whole)
    dt_diag_place_put(g, e->out[0], w);
}

static bool keeps_order (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten._softmax.default",
    "aten._log_softmax.default", "aten.argmax.default", "aten.nll_loss_forward."
    "default", "aten.clone.default", "aten._to_copy.default", "aten.sum.dim_IntList",
    "aten.mean.dim", "aten.mse_loss.default", NULL };
  (void)g;
  return op->flags & DT_OP_POINTWISE || dt_diag_named(op, names);
}

const DtDiagRule dt_rules_shuffled[] = {
  { DT_EV_OP_END, op_end, keeps_order, DT_WHEN(nshuffled) },
  { 0, NULL, NULL, 0 }
};
