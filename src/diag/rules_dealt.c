/* SPDX-License-Identifier: MIT
** diag/rules_dealt.c: inputs and targets that are dealt to the ranks in two ways.
**
** x[rank::world] takes rows in turn, y.chunk(world)[rank] takes a block of them.  Two
** tensors of as many rows, one dealt so and the other so, give a rank inputs of some
** rows and targets of others.  Rows that are taken of either, and what is computed of
** them, are followed to a loss that compares both.  A tensor that is cut in both ways
** says nothing. */
#include <string.h>
#include "diag/diag_int.h"

enum { DECKS = 16, HANDS = 256 };

typedef enum DtDealtHow { UNKNOWN, IN_TURN, IN_BLOCKS } DtDealtHow;

/* How the rows of a storage were dealt, and how many there were. */
typedef struct Deck {
  int64_t storage, version, rows;
  DtDealtHow how;
  const char *name;
  DtOrigin at;
} Deck;

struct DtDecks {
  Deck whole[DECKS];            /* what was cut */
  int n;
  Deck made[HANDS];             /* what was made of rows of it */
  bool told;
};

void dt_diag_decks_free (DtDiag *g) {
  dt_free(g->s->cx, g->decks);
  g->decks = NULL;
  g->ndecks = 0;
}

static const Deck *made_of (const DtDiag *g, const DtVar *v) {
  const Deck *d = g->decks ? &g->decks->made[(uint64_t)v->local->storage->id % HANDS]
                           : NULL;
  return d && d->storage == v->local->storage->id &&
         d->version == v->local->storage->version ? d : NULL;
}

static Deck *whole_of (const DtDiag *g, int64_t storage) {
  for (int i = 0; g->decks && i < g->decks->n; i++)
    if (g->decks->whole[i].storage == storage) return &g->decks->whole[i];
  return NULL;
}

/* Rows of what was dealt, or made of them; NULL: neither, or the whole of it. */
static const Deck *deck_of (const DtDiag *g, const DtVar *v) {
  const Deck *d;
  if (v == NULL || v->spec || v->is_param) return NULL;
  if ((d = made_of(g, v)) != NULL) return d;
  d = whole_of(g, v->local->storage->id);
  return d && d->how != UNKNOWN && dt_meta_numel(&v->local->m) *
         (int64_t)dt_dtype_size((DtDtype)v->local->m.dtype) <
         (int64_t)v->local->storage->nbytes ? d : NULL;
}

/* How `part` lies in `base`, a whole tensor whose rows the ranks share. */
static DtDealtHow how_dealt (const DtDiag *g, const DtVar *base, const DtVar *part) {
  const DtMeta *b = &base->local->m, *p = &part->local->m;
  const int64_t n = (int64_t)dt_session_size(g->s);
  int64_t off;
  if (b->ndim < 1 || p->ndim != b->ndim || b->shape[0] < 2 * n || b->stride[0] <= 0 ||
      p->shape[0] * n != b->shape[0] || !dt_meta_is_contiguous(b) ||
      dt_meta_numel(b) * (int64_t)dt_dtype_size((DtDtype)b->dtype) !=
      (int64_t)base->local->storage->nbytes) return UNKNOWN;
  for (int d = 1; d < b->ndim; d++)
    if (p->shape[d] != b->shape[d]) return UNKNOWN;
  off = (part->local->offset - base->local->offset) / b->stride[0];
  if (p->stride[0] == n * b->stride[0]) return off < n ? IN_TURN : UNKNOWN;
  return p->stride[0] == b->stride[0] && off % p->shape[0] == 0 ? IN_BLOCKS : UNKNOWN;
}

/* Are two tensors of as many rows dealt in two ways? */
static bool any_apart (const struct DtDecks *k) {
  for (int i = 0; i < k->n; i++)
    for (int j = 0; j < i; j++)
      if (k->whole[i].rows == k->whole[j].rows && k->whole[i].how != UNKNOWN &&
          k->whole[j].how != UNKNOWN && k->whole[i].how != k->whole[j].how) return true;
  return false;
}

static void cut_end (DtDiag *g, const DtEvent *e) {
  const DtVar *base = e->nin > 0 ? e->in[0] : NULL;
  DtDealtHow how;
  Deck *d;
  if (e->status != DT_OK || e->backward || base == NULL || base->spec || base->is_param ||
      base->requires_grad || e->nout < 1 || e->out[0] == NULL ||
      dt_session_size(g->s) < 2 || made_of(g, base) ||
      (how = how_dealt(g, base, e->out[0])) == UNKNOWN) return;
  if (g->decks == NULL && (g->decks = DT_NEW(g->s->cx, struct DtDecks)) == NULL) {
    dt_error_clear(g->s->cx);
    return;
  }
  d = whole_of(g, base->local->storage->id);
  if (d != NULL) {
    if (d->how != how) d->how = UNKNOWN;
  } else if (g->decks->n < DECKS) {
    g->decks->whole[g->decks->n++] = (Deck){
      .storage = base->local->storage->id, .rows = base->local->m.shape[0], .how = how,
      .name = dt_diag_kept_name(g, base),
      .at = { .op = e->op->sig->full, .file = e->file, .line = e->line, .seq = e->seq } };
  }
  g->ndecks = any_apart(g->decks);
}

static bool cuts (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.slice.Tensor", "aten.split.Tensor",
    "aten.chunk.default", "aten.narrow.default", "aten.tensor_split.sections", NULL };
  (void)g;
  return dt_diag_named(op, names);
}

static bool compares (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = {
    "aten.nll_loss_forward.default", "aten.nll_loss.default", "aten.mse_loss.default",
    "aten.l1_loss.default", "aten.smooth_l1_loss.default", "aten.huber_loss.default",
    "aten.binary_cross_entropy.default", "aten.binary_cross_entropy_with_logits.default",
    "aten.sub.Tensor", NULL };
  (void)g;
  return dt_diag_named(op, names);
}

static void tell (DtDiag *g, const DtEvent *e, const Deck *x, const Deck *y) {
  const char *turn = "every n-th", *block = "a block";
  DtBuf b;
  g->decks->told = true;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "of %lld rows, each rank has %s of the targets and, at %s:%d, %s of the "
              "inputs; they are compared at %s:%d", (long long)y->rows,
              y->how == IN_TURN ? turn : block, x->at.file ? x->at.file : "", x->at.line,
              x->how == IN_TURN ? turn : block, e->file ? e->file : "", e->line);
  dt_diag_put_at(g, DT_FIND_ID_DEALT_APART, &y->at, y->name ? y->name : "", &b);
}

/* Does a row of the result belong to the same row of input `i`? */
static bool keeps_rows (const DtDiag *g, const DtEvent *e, int i) {
  static const char *const along[] = { "aten.mean.dim", "aten.sum.dim_IntList",
    "aten._softmax.default", "aten._log_softmax.default", NULL };
  static const char *const whole[] = { "aten.index.Tensor", "aten.index_select.default",
    "aten.native_layer_norm.default", "aten.convolution.default", NULL };
  const DtMeta *in = &e->in[i]->local->m, *out = &e->out[0]->local->m;
  if (dt_diag_op_is(g, e->op, DT_DO_CAT) || dt_diag_op_is(g, e->op, DT_DO_STACK))
    return true;
  if (dt_diag_named(e->op, whole) && i == 0) return out->ndim > 0;
  if (in->ndim < 1 || out->ndim < 1 || in->shape[0] != out->shape[0]) return false;
  if (dt_diag_product(e->op)) return i < e->nin - 1;    /* not the rows it sums with */
  if (strncmp(e->op->sig->full, "aten.embedding.", 15) == 0) return i == 1;
  if (dt_diag_named(e->op, along)) return i == 0 && !dt_diag_along_dim(e, 0);
  return (e->op->flags & DT_OP_POINTWISE) != 0 ? in->ndim == out->ndim
                                               : dt_diag_clones(g, e->op);
}

/* What is made of rows that were dealt in one way, beside what nothing is known of, is of
** these rows; what is joined must be all of them. */
static void used_end (DtDiag *g, const DtEvent *e) {
  const bool joins = dt_diag_op_is(g, e->op, DT_DO_CAT) ||
                     dt_diag_op_is(g, e->op, DT_DO_STACK);
  const Deck *w = NULL;
  int at = 0;
  Deck one;
  if (e->status != DT_OK || e->backward || g->decks == NULL || e->nout < 1 ||
      e->out[0] == NULL) return;
  for (int i = 0; i < e->nin; i++) {
    const Deck *d = deck_of(g, e->in[i]);
    if (d == NULL && joins) return;
    if (d == NULL) continue;
    if (!compares(g, e->op) && !keeps_rows(g, e, i)) return;
    if (w != NULL && (w->how != d->how || w->rows != d->rows)) {
      if (!g->decks->told && i == 1 && compares(g, e->op) && w->rows == d->rows &&
          dt_var_needs_grad(e->in[0]) && !dt_var_needs_grad(e->in[1])) tell(g, e, w, d);
      return;
    }
    w = d;
    at = i;
  }
  if (w == NULL || !keeps_rows(g, e, at)) return;
  one = *w;
  for (int i = 0; i < e->nout; i++) {
    if (e->out[i] == NULL || e->out[i]->spec) continue;
    one.storage = e->out[i]->local->storage->id;
    one.version = e->out[i]->local->storage->version;
    g->decks->made[(uint64_t)one.storage % HANDS] = one;
  }
}

static bool makes (const DtDiag *g, const DtOpDef *op) {
  return !dt_diag_view(g, op) && (op->flags & DT_OP_INPLACE) == 0;
}

const DtDiagRule dt_rules_dealt[] = {
  { DT_EV_OP_END, cut_end, cuts, 0 },
  { DT_EV_OP_END, used_end, makes, DT_WHEN(ndecks) },
  { 0, NULL, NULL, 0 }
};
