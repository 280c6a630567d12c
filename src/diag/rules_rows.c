/* SPDX-License-Identifier: MIT
** diag/rules_rows.c: rows that were sorted, sent to other ranks and came back,
** as a mixture of experts sends its tokens.
**
** x[order], where the indices were sorted, has the rows of x in another order;
** what is computed row by row keeps that.  An all_to_all sends them, and one with
** the same counts the other way round brings the answers back, whatever the
** experts did between.  If they meet x itself then, without having been put
** back, each row meets that of another. */
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

static DtSorted *find_rows (DtDiag *g, const DtVar *v) {
  int i, n = g->nrows < DT_ROWS ? g->nrows : DT_ROWS;
  if (v == NULL || v->spec || v->local->m.ndim < 1) return NULL;
  for (i = 0; i < n; i++)
    if (g->rows[i].storage == v->local->storage->id &&
        g->rows[i].numel == dt_meta_numel(&v->local->m)) return &g->rows[i];
  return NULL;
}

static void put_rows (DtDiag *g, const DtVar *v, const DtSorted *from) {
  DtSorted one = *from, *to = find_rows(g, v);
  if (to == NULL) {
    to = &g->rows[g->nrows++ % DT_ROWS];
    if (g->nrows == 2 * DT_ROWS) g->nrows = DT_ROWS;
  }
  one.storage = v->local->storage->id;
  one.count = from->count;
  one.numel = dt_meta_numel(&v->local->m);
  *to = one;
}

/* --- sorted --- */

/* Two rows that change places are back after both. */
static bool is_own_inverse (const DtTensor *order) {
  const int64_t n = order->m.shape[0];
  for (int64_t i = 0; i < n; i++) {
    const int64_t to = (int64_t)dt_tensor_get(order, (int64_t[DT_MAX_NDIM]){ i }).re;
    if (to < 0 || to >= n ||
        (int64_t)dt_tensor_get(order, (int64_t[DT_MAX_NDIM]){ to }).re != i) return false;
  }
  return true;
}

/* What came back in an order is taken by the same order. */
static void order_again (DtDiag *g, const DtEvent *e, const DtVar *x, const DtVar *order) {
  const DtSorted *r = g->nrows > 0 ? find_rows(g, x) : NULL;
  if (r == NULL || r->sent < 2 || e->status != DT_OK || e->backward || e->nout < 1 ||
      order == NULL || order->spec || order->local->m.ndim != 1 ||
      order->local->storage->id != r->order || !dt_tensor_has_data(order->local) ||
      is_own_inverse(order->local)) return;
  dt_diag_add(g, e, DT_FIND_ID_ORDER_AGAIN, x, 0, NULL, "%lld rows, sorted by %s, "
              "came back from the other ranks in that order and are taken by it again",
              (long long)r->count, *r->name ? r->name : "indices");
}

/* x[order], where a sort made `order`: rows that are sorted to be sent, and
** must be put back by the same order after they came home. */
static void on_rows_taken (DtDiag *g, const DtEvent *e) {
  const DtVar *x = e->nin > 0 ? e->in[0] : NULL;
  const DtVar *order = e->nin > 1 ? e->in[e->nin - 1] : NULL;
  DtSorted r;
  order_again(g, e, x, order);
  if (e->status != DT_OK || e->backward || e->nin != 2 || e->nout < 1 ||
      x == NULL || x->spec || order == NULL || order->spec ||
      x->local->m.ndim < 1 || order->local->m.ndim != 1 ||
      order->origin.op == NULL || strstr(order->origin.op, "sort") == NULL ||
      e->out[0]->local->m.ndim != x->local->m.ndim ||
      order->local->m.shape[0] != x->local->m.shape[0] ||
      e->out[0]->local->m.shape[0] != x->local->m.shape[0]) return;
  r = (DtSorted){ .order = order->local->storage->id,
                  .count = x->local->m.shape[0],
                .source = x->local->storage->id, .name = dt_diag_kept_name(g, order) };
  put_rows(g, e->out[0], &r);
}

static bool is_taking_rows (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return strcmp(op->sig->full, "aten.index.Tensor") == 0 ||
         strcmp(op->sig->full, "aten.index_select.default") == 0;
}

/* --- row by row --- */

static void on_rows_used (DtDiag *g, const DtEvent *e, const DtSorted *r) {
  for (int i = 0; i < e->nin; i++) {
    const DtVar *v = e->in[i];
    if (r->sent < 2 || v == NULL || v->spec || v->local->m.ndim < 1 ||
        v->local->storage->id != r->source) continue;
    dt_diag_add(g, e, DT_FIND_ID_ROWS_ORDER, e->out[0], 0, NULL, "%lld rows, "
                "sorted by %s, came back from the other ranks in that order",
                (long long)r->count, *r->name ? r->name : "indices");
    return;
  }
}

static void on_rows_kept (DtDiag *g, const DtEvent *e) {
  if (e->status != DT_OK || e->backward || e->nout < 1 || e->out[0] == NULL ||
      e->out[0]->spec || e->out[0]->local->m.ndim < 1) return;
  for (int i = 0; i < e->nin; i++) {
    DtSorted *r = find_rows(g, e->in[i]);
    if (r == NULL) continue;
    if (e->nin > 1 && (e->op->flags & DT_OP_POINTWISE)) on_rows_used(g, e, r);
    if (e->out[0]->local->m.shape[0] == e->in[i]->local->m.shape[0] &&
        !find_rows(g, e->out[0]))
      put_rows(g, e->out[0], r);
    return;
  }
}

static bool is_keeping_rows (const DtDiag *g, const DtOpDef *op) {
  return (op->flags & DT_OP_POINTWISE) || dt_diag_product(op) != NULL ||
         dt_diag_clones(g, op);
}

/* --- sent --- */

static uint64_t hash_of_counts (const int64_t *n, int ranks) {
  return n ? dt_hash_bytes(DT_HASH_SEED, (const char *)n,
                           (size_t)ranks * sizeof *n) : 0;
}

/* --- what an all_to_all brought, one rank's after the other's --- */

static void dealt_put (DtDiag *g, const DtVar *v, int64_t each) {
  g->dealt[g->ndealt++ % DT_DEALT] = (DtDealt){
    .storage = v->local->storage->id, .version = v->local->storage->version,
    .each = each };
}

static DtDealt *dealt_of (DtDiag *g, const DtTensor *t) {
  for (int i = 0; i < DT_DEALT && g->ndealt > 0; i++)
    if (g->dealt[i].storage == t->storage->id &&
        g->dealt[i].version == t->storage->version) return &g->dealt[i];
  return NULL;
}

static void note_dealt (DtDiag *g, const DtRecRaw *raw, const DtVar *out) {
  const int64_t n = raw->mesh->shape[raw->mdim];
  if (strncmp(raw->kind, "all_to_all", 10) != 0 || n < 2 || out->spec ||
      !dt_meta_is_contiguous(&out->local->m) ||
      dt_meta_numel(&out->local->m) == 0 ||       /* an expert without tokens */
      dt_meta_numel(&out->local->m) % n != 0) return;
  for (int i = 1; i < raw->nsplit; i++)
    if (raw->out_split[i] != raw->out_split[0]) return;
  dealt_put(g, out, dt_meta_numel(&out->local->m) / n);
}

/* Does a shape keep what came from each rank together: whole rows of it, or the
** ranks as dimensions of their own? */
static bool keeps_together (const DtMeta *m, int64_t each) {
  int64_t rest = dt_meta_numel(m);
  int d = 0;
  while (d < m->ndim && m->shape[d] == 1) d++;
  if (d == m->ndim) return true;
  if (each % (rest / m->shape[d]) == 0) return true;
  for (; d < m->ndim; d++) {
    if (rest == each) return true;
    rest /= m->shape[d];
  }
  return false;
}

static void dealt_viewed (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  const DtDealt *w;
  if (e->status != DT_OK || e->backward || v == NULL || v->spec || e->nout < 1 ||
      e->out[0] == NULL || !dt_meta_is_contiguous(&v->local->m) ||
      (w = dealt_of(g, v->local)) == NULL ||
      dt_meta_numel(&e->out[0]->local->m) == 0 ||
      dt_meta_numel(&e->out[0]->local->m) % w->each != 0 ||
      dt_meta_numel(&e->out[0]->local->m) == w->each ||
      keeps_together(&e->out[0]->local->m, w->each)) return;
  dt_diag_add(g, e, DT_FIND_ID_PART_ORDER, v, 0, NULL, "all_to_all gave %lld "
              "numbers of each rank, one rank's after the other's; the view puts "
              "those of several into one row", (long long)w->each);
}

static bool is_regrouping (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return strcmp(op->sig->full, "aten.view.default") == 0 ||
         strcmp(op->sig->full, "aten._unsafe_view.default") == 0;
}

void dt_diag_rows_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                       const DtVar *out) {
  const DtSorted *r;
  DtSorted back;
  DtSend s;
  if (out != NULL) note_dealt(g, raw, out);
  if (g->nrows == 0 || out == NULL || out->local->m.ndim < 1 ||
      strcmp(raw->kind, "all_to_all_v") != 0) return;
  s = (DtSend){ .in = hash_of_counts(raw->in_split, raw->nsplit),
                .out = hash_of_counts(raw->out_split, raw->nsplit) };
  r = find_rows(g, in);
  if (r != NULL && r->sent == 0) {
    s.rows = *r;
    g->send[g->nsends++ % DT_SENDS] = s;
    return;
  }
  for (int i = 0; i < g->nsends && i < DT_SENDS; i++) {
    if (g->send[i].in != s.out || g->send[i].out != s.in) continue;
    if (g->send[i].rows.count != out->local->m.shape[0]) continue;
    back = g->send[i].rows;
    back.sent = 2;
    put_rows(g, out, &back);
    return;
  }
}

void dt_diag_rows_carry (DtDiag *g, const DtVar *from, const DtVar *to) {
  const DtSorted *r = find_rows(g, from);
  const DtDealt *w = dealt_of(g, from->local);
  if (w && !to->spec && dt_meta_is_contiguous(&to->local->m))
    dealt_put(g, to, w->each);
  if (r && to->local->m.ndim > 0 && !to->spec &&
      to->local->m.shape[0] == r->count) put_rows(g, to, r);
}

const DtDiagRule dt_rules_rows[] = {
  { DT_EV_OP_END, on_rows_taken, is_taking_rows, 0 },
  { DT_EV_OP_END, on_rows_kept, is_keeping_rows, DT_WHEN(nrows) },
  { DT_EV_OP_END, dealt_viewed, is_regrouping, DT_WHEN(ndealt) },
  { 0, NULL, NULL, 0 }
};
