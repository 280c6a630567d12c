/* SPDX-License-Identifier: MIT
** diag/rules_loss.c: what goes into a loss, and what is drawn from what is
** shared.
**
** - The weights of classes, counted by each rank in its own labels.
** - Labels that were shifted inside each part of a sequence: the last token of a
**   part has the first of the next one for its label, which is on another rank.
** - A mean along the cut dimension that goes on into what is not linear.
** - Tokens that each rank draws for itself from what a sum over the ranks has
**   made the same on all of them.
** - Numbers that scale terms, which began alike and were adapted by each rank.
** - The largest of the norms of parts, taken for the norm of the whole. */
#include <math.h>
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

static const DtVar *plain_input (const DtEvent *e, int i) {
  const DtVar *v = i < e->nin ? e->in[i] : NULL;
  return v && !v->spec ? v : NULL;
}

static bool is_forward (const DtDiag *g, const DtEvent *e) {
  return e->status == DT_OK && !e->backward && e->nin > 0 &&
         !dt_session_no_data(g->s);
}

/* --- weights of classes --- */

static const char *const nll[] = { "aten.nll_loss_forward.default",
  "aten.nll_loss2d_forward.default", NULL };

static bool is_weighted (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return dt_diag_named(op, nll) || strcmp(op->sig->full,
    "aten.binary_cross_entropy_with_logits.default") == 0;
}

static void weights_met (DtDiag *g, const DtEvent *e) {
  enum { OF_NLL = 2, OF_POSITIVES = 3 };
  const DtVar *w = plain_input(e, dt_diag_named(e->op, nll) ? OF_NLL
                                                           : OF_POSITIVES);
  const char *name;
  DtFact fact = { false, 0 };
  if (!is_forward(g, e) || w == NULL || w->requires_grad ||
      w->local->storage->drawn) return;
  fact.hash = dt_diag_sample(w->local);
  name = dt_diag_name(g, w);
  dt_diag_claim_all(g, e, DT_FIND_ID_OWN_WEIGHTS, NULL, -1, 0, 1, &fact,
                    *name ? name : "weight", "weights of the loss");
}

/* --- terms --- */

/* The number a term was scaled by last: as 0.025 is 0.1 / 4, it may have been
** divided by the ranks. */
static void term_scaled (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->nout > 0 ? e->out[0] : NULL, *of = plain_input(e, 0);
  if (!is_forward(g, e) || v == NULL || v->spec || of == NULL || !of->requires_grad ||
      dt_meta_numel(&v->local->m) != 1 || e->args->n < 2 ||
      !dt_arg_is_number(e->args, 1)) return;
  g->term[g->nterms++ % DT_TERMS] = (DtTerm){
    .storage = v->local->storage->id, .by = dt_arg_float(e->args, 1),
    .divided = dt_diag_is(g, e, DT_DO_DIV) || dt_diag_is(g, e, DT_DO_DIV_SCALAR) };
}

static DtFactor *factor_at (DtDiag *g, const DtEvent *e) {
  for (int i = 0; i < g->nfactors; i++)
    if (g->factor[i].at.line == e->line &&
        strcmp(g->factor[i].at.file, e->file) == 0)
      return &g->factor[i];
  if (g->nfactors == DT_FACTORS) return NULL;
  g->factor[g->nfactors] = (DtFactor){
    .at = {.op = e->op->sig->full, .file = e->file, .line = e->line, .seq = e->seq}};
  return &g->factor[g->nfactors++];
}

/* Two numbers at one line are kept as one, the last. */
static void factor_used (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->nout > 0 ? e->out[0] : NULL, *of = plain_input(e, 0);
  DtFactor *f;
  if (!is_forward(g, e) || v == NULL || v->spec || of == NULL || !of->requires_grad ||
      dt_meta_numel(&v->local->m) != 1 || e->args->n < 2 || e->line <= 0 ||
      e->args->v[1].kind != DT_V_FLOAT || (f = factor_at(g, e)) == NULL) return;
  f->last = dt_arg_float(e->args, 1);
  if (f->times++ > 0) return;
  f->first = f->last;
  f->name = dt_diag_kept_name(g, of);
}

/* A share of a count, as 3/16: what each rank has differs by right. */
static bool is_share_of_count (double x) {
  enum { MOST = 4096 };
  for (int q = 1; q <= MOST; q++)
    if (fabs(x * q - round(x * q)) < 1e-9) return true;
  return false;
}

void dt_diag_factors (DtDiag *g) {
  for (int i = 0; i < g->nfactors; i++) {
    const DtFactor *f = &g->factor[i];
    DtEvent at = dt_diag_origin(&f->at, "");
    DtFact facts[2] = {
      {true, dt_hash_bytes(DT_HASH_SEED, &f->first, sizeof f->first) | 1},
      {false, dt_hash_bytes(DT_HASH_SEED, &f->last, sizeof f->last) | 1}};
    if (f->times < 2 || f->first == f->last || is_share_of_count(f->last) ||
        is_share_of_count(1 / f->last)) continue;
    dt_diag_claim_all(g, &at, DT_FIND_ID_FACTOR_APART, g->over, g->over_dim, i, 2,
                      facts, f->name, "the number it is scaled by, "
                      "which all ranks began with alike");
  }
}

static bool is_term_whole (const DtDiag *g, const DtVar *v) {
  const int64_t n = dt_session_size(g->s);
  for (int i = 0; i < DT_TERMS; i++) {
    const DtTerm *t = &g->term[i];
    if (t->storage != v->local->storage->id) continue;
    return !t->divided && dt_diag_digits(t->by * (double)n) >=
                          dt_diag_digits(t->by);
  }
  return !(v->origin.op && strstr(v->origin.op, "aten.div"));
}

/* A loss that is divided by what all ranks hold (its gradients are summed), and
** a term of parameters alone, which every rank adds. */
static void terms_added (DtDiag *g, const DtEvent *e) {
  for (int i = 0; i < 2; i++) {
    const DtVar *a = plain_input(e, i), *b = plain_input(e, 1 - i);
    DtFact facts[2];
    DtEvent at;
    const char *name;
    if (!is_forward(g, e) || a == NULL || b == NULL || !a->requires_grad ||
        !b->requires_grad || dt_meta_numel(&a->local->m) != 1 ||
        dt_meta_numel(&b->local->m) != 1 || !is_term_whole(g, b) ||
        !dt_diag_is_part_of_mean(g, a->local)) continue;
    facts[0] = (DtFact){ true, dt_diag_hash(b->local, false) };
    facts[1] = (DtFact){ false, dt_diag_hash(a->local, false) };
    at = dt_diag_origin(&b->origin, "");
    name = dt_diag_name(g, b);
    dt_diag_claim_all(g, *name ? &at : e, DT_FIND_ID_TERM_EACH, NULL, -1, 0, 2,
                      facts, name, "a term of the loss; the other is divided by "
                      "what all ranks hold");
  }
}

static bool scales_term (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_MUL) || dt_diag_op_is(g, op, DT_DO_DIV) ||
         dt_diag_op_is(g, op, DT_DO_MUL_SCALAR) ||
         dt_diag_op_is(g, op, DT_DO_DIV_SCALAR);
}

static bool adds_terms (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_ADD);
}

/* --- labels --- */

/* Was the part's first item left out along the dimension that is cut?  A batch
** (dimension 0, a stream of tokens) may lose one. */
static bool is_shifted (const DtDiag *g, const DtPlace *w) {
  return w && (w->kind == DT_PLACE_PART || w->kind == DT_PLACE_MERGED) &&
         w->dim > 0 && w->first_len > 1 && w->off == w->first_off + 1 &&
         w->len == w->first_len - 1 &&
         w->first_len * dt_session_size(g->s) <= w->whole;
}

static void labels_met (DtDiag *g, const DtEvent *e) {
  const DtVar *t = plain_input(e, 1);
  const DtPlace *w = t && g->nplaces > 0 ? dt_diag_place(g, t) : NULL;
  DtFact fact = { false, 0 };
  DtEvent at;
  const char *name;
  if (!is_forward(g, e) || !is_shifted(g, w)) return;
  fact.hash = w->first;
  at = dt_diag_origin(&w->cut, "");
  name = dt_diag_place_name(g, w->of);
  dt_diag_claim_all(g, &at, DT_FIND_ID_SHIFTED_PART, NULL, -1, 0, 1, &fact,
                    *name ? name : "labels", "the labels leave out the first of "
                    "the part of each rank; where each part begins");
}

static bool takes_labels (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return dt_diag_named(op, nll);
}

/* --- a mean along the cut dimension --- */

void dt_diag_pooled (const DtEvent *e, DtPlace *to) {
  static const char *const means[] = { "aten.mean.dim", "aten.amax.default",
    "aten.amin.default", NULL };
  int64_t dims[DT_MAX_NDIM];
  to->pooled = to->kind == DT_PLACE_STAT && !to->columns && to->dim > 0 &&
               to->dim < e->in[0]->local->m.ndim - 1 &&
                dt_diag_named(e->op, means) &&
               dt_arg_ints(e->args, 1, dims, DT_MAX_NDIM) == 1;
}

void dt_diag_pool_met (DtDiag *g, const DtPlace *w) {
  const DtFact fact = { false, w->where };
  DtEvent at = dt_diag_origin(&w->at, "");
  const char *name = dt_diag_place_name(g, w->root);
  dt_diag_claim_all(g, &at, DT_FIND_ID_PART_ALONE, NULL, -1, DT_SALT_POOL_MET, 1, &fact, name,
                    "it is taken along this rank's part, and goes on into what is "
                    "not linear before the ranks meet; where each part begins");
}

void dt_diag_prefix_met (DtDiag *g, const DtPlace *w) {
  const DtFact fact = { false, w->where };
  DtEvent at = dt_diag_origin(&w->at, "");
  dt_diag_claim_all(g, &at, DT_FIND_ID_PART_ALONE, NULL, -1, DT_SALT_PREFIX_MET, 1, &fact,
                    dt_diag_place_name(g, w->root), "it begins anew in the part of "
                    "each rank, and what the parts before have is not added; where "
                    "each part begins");
}

/* A convolution along the cut dimension looks over the edge of the part.  Patches
** that do not overlap stay inside. */
static void conv_met (DtDiag *g, const DtEvent *e) {
  const DtVar *x = plain_input(e, 0), *kernel = plain_input(e, 1);
  const DtPlace *w = x ? dt_diag_place(g, x) : NULL;
  int64_t stride[DT_MAX_NDIM];
  int n, d;
  if (!is_forward(g, e) || w == NULL || w->kind != DT_PLACE_PART || w->columns ||
      w->dim < 2 || kernel == NULL || kernel->local->m.ndim <= w->dim) return;
  n = (int)dt_arg_ints(e->args, 3, stride, DT_MAX_NDIM);
  d = n == 1 ? 0 : w->dim - 2;
  if (d < n && kernel->local->m.shape[w->dim] > stride[d] &&
      dt_diag_is_split(g, w->len, w->whole)) {
    const DtFact fact = { false, w->where };
    dt_diag_claim_all(g, e, DT_FIND_ID_PART_ALONE, NULL, -1, DT_SALT_CONV_MET, 1, &fact,
                      dt_diag_name(g, x), "a convolution along the dimension that "
                      "is cut sees nothing beyond the edge of the part; where each "
                      "part begins");
  }
}

static bool is_convolution (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return strcmp(op->sig->full, "aten.convolution.default") == 0;
}

/* Windows that overlap along dimension `dim` of a pooling operator's input. */
static bool windows_overlap (const DtEvent *e, int dim) {
  int64_t size[DT_MAX_NDIM], step[DT_MAX_NDIM];
  const int n = (int)dt_arg_ints(e->args, 1, size, DT_MAX_NDIM);
  const int k = (int)dt_arg_ints(e->args, 2, step, DT_MAX_NDIM);
  const int d = n == 1 ? 0 : dim - (e->in[0]->local->m.ndim - n);
  if (d < 0 || d >= n || k == 0) return false;
  return size[d] > step[k == 1 ? 0 : d];
}

static const char *const between[] = { "aten.upsample_linear1d.",
  "aten.upsample_bilinear2d.", "aten.upsample_bicubic2d.",
  "aten.upsample_trilinear3d.", NULL };
static const char *const pools[] = { "aten.avg_pool1d.", "aten.avg_pool2d.",
  "aten.avg_pool3d.", "aten.max_pool2d_with_indices.",
  "aten.max_pool3d_with_indices.", NULL };

static bool begins_with (const DtOpDef *op, const char *const *names) {
  for (int i = 0; names[i]; i++)
    if (strncmp(op->sig->full, names[i], strlen(names[i])) == 0) return true;
  return false;
}

/* What lies between two items, or in one window, is made of both: at the edge of a
** part one is another rank's. */
static void edge_met (DtDiag *g, const DtEvent *e) {
  const DtVar *x = plain_input(e, 0);
  const DtPlace *w = x ? dt_diag_place(g, x) : NULL;
  const DtFact fact = { false, w ? w->where : 0 };
  if (!is_forward(g, e) || w == NULL || w->kind != DT_PLACE_PART || w->columns ||
      w->dim < 2 || w->first_len > 0 || !dt_diag_is_split(g, w->len, w->whole) ||
      (begins_with(e->op, pools) && !windows_overlap(e, w->dim))) return;
  dt_diag_claim_all(g, e, DT_FIND_ID_PART_ALONE, NULL, -1, DT_SALT_EDGE_MET, 1, &fact,
                    dt_diag_name(g, x), "it makes items of neighbours along the "
                    "dimension that is cut, and sees none beyond the edge of the "
                    "part; where each part begins");
}

static bool is_at_edges (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return begins_with(op, between) || begins_with(op, pools);
}

/* Zeros beside a part, before a convolution: its edges are still its own. */
static void padded_end (DtDiag *g, const DtEvent *e) {
  const DtPlace *w = NULL;
  DtPlace to;
  if (!is_forward(g, e) || e->nout < 1 || e->out[0] == NULL) return;
  for (int i = 0; i < e->nin; i++) {
    const DtPlace *p = plain_input(e, i) ? dt_diag_place(g, e->in[i]) : NULL;
    if (p && p->kind == DT_PLACE_PART && p->dim > 1 && w == NULL) w = p;
    else if (e->in[i] == NULL || dt_diag_sample(e->in[i]->local) != 0) return;
  }
  if (w == NULL) return;
  to = *w;
  dt_diag_place_put(g, e->out[0], &to);
}

static bool pads (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_CAT) ||
         strcmp(op->sig->full, "aten.constant_pad_nd.default") == 0;
}

/* --- drawn --- */

static void tokens_drawn (DtDiag *g, const DtEvent *e) {
  const DtVar *p = plain_input(e, 0);
  const DtPlace *w = p ? dt_diag_place(g, p) : NULL;
  DtFact facts[2];
  const char *name;
  if (!is_forward(g, e) || w == NULL || w->kind != DT_PLACE_TOTAL ||
      e->nout < 1 || e->out[0] == NULL) return;
  name = dt_diag_name(g, p);
  if (*name == '\0') name = dt_diag_place_name(g, w->root);
  facts[0] = (DtFact){ false, dt_diag_hash(e->out[0]->local, false) };
  facts[1] = (DtFact){ true, dt_diag_sample(p->local) };
  dt_diag_claim_all(g, e, DT_FIND_ID_DRAWN_APART, NULL, -1, 0, 2, facts,
                    name, "what is drawn; the probabilities "
                    "are the same on all of them");
}

static bool draws_tokens (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return strcmp(op->sig->full, "aten.multinomial.default") == 0;
}

/* Logits on their way to be drawn from. */
static void total_passed (DtDiag *g, const DtEvent *e) {
  const DtVar *v = plain_input(e, 0);
  const DtPlace *w = v ? dt_diag_place(g, v) : NULL;
  if (w && w->kind == DT_PLACE_TOTAL && is_forward(g, e) && e->nout > 0)
    dt_diag_place_put(g, e->out[0], w);
}

static bool passes_total (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten._softmax.default",
    "aten.div.Scalar", "aten.mul.Scalar", "aten.slice.Tensor", "aten.select.int",
    "aten._to_copy.default", "aten.squeeze.dim", "aten.masked_fill.Scalar", NULL };
  (void)g;
  return dt_diag_named(op, names);
}

/* --- norms of parts --- */

static void norm_taken (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->nout > 0 ? e->out[0] : NULL;
  if (!is_forward(g, e) || v == NULL || v->spec ||
      dt_meta_numel(&v->local->m) != 1 || plain_input(e, 0) == NULL) return;
  if (e->args->n > 1 && dt_arg_is_number(e->args, 1) &&
      dt_arg_float(e->args, 1) != 2) return;
  g->normed_last[g->nnorms++ % DT_NORMS] = v->local->storage->id;
}

static bool takes_norm (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return strcmp(op->sig->full, "aten.linalg_vector_norm.default") == 0;
}

/* A sum of squares is no whole number, as counts are. */
static bool is_whole_number (const DtTensor *t) {
  const double x = dt_tensor_has_data(t)
                   ? dt_tensor_get(t, (int64_t[DT_MAX_NDIM]){ 0 }).re : 0;
  return x == floor(x);
}

/* The squares of gradients are summed over ranks of which some have the same; until the
** update, for what is summed after it is none. */
static void note_squares (DtDiag *g, const DtRecRaw *raw, const DtVar *in) {
  if (!g->normed || g->since_update == 0 || raw->reduce == NULL || strcmp(raw->reduce, "sum") != 0 ||
      strcmp(raw->kind, "all_reduce") != 0 || in->spec || g->s->backward ||
      dt_meta_numel(&in->local->m) != 1 || is_whole_number(in->local) ||
      raw->mesh->shape[raw->mdim] != dt_session_size(g->s)) return;
  g->squares = dt_diag_hash(in->local, false);
  g->squares_at = dt_diag_here(g, raw->kind);
  g->squares_name = dt_diag_kept_name(g, in);
}

static void claim_squares (DtDiag *g) {
  const DtFact fact = { false, g->squares };
  DtEvent at = dt_diag_origin(&g->squares_at, "");
  DtClaim *c;
  if (g->squares_at.line == 0) return;
  at.kind = DT_EV_COLL;
  c = dt_diag_claim_all(g, &at, DT_FIND_ID_REPLICAS_COUNTED, NULL, -1, 0, 1, &fact,
                        g->squares_name, "squares of the "
                        "gradients of each rank, whose sum scales them");
  if (c) c->paired = true;
}

/* --- sums over other ranks --- */

/* One number, which is summed over so many ranks. */
static void note_total (DtDiag *g, const DtRecRaw *raw, const DtVar *in) {
  if (raw->reduce == NULL || strcmp(raw->reduce, "sum") != 0 || in->spec ||
      strcmp(raw->kind, "all_reduce") != 0 || g->s->backward ||
      dt_meta_numel(&in->local->m) != 1 || dt_session_no_data(g->s)) return;
  g->one[g->nones++ % DT_ONES] = (DtOne){
    .storage = in->local->storage->id, .over = raw->mesh->shape[raw->mdim],
    .hash = dt_diag_hash(in->local, false), .at = dt_diag_here(g, raw->kind) };
}

static const DtOne *one_of (const DtDiag *g, const DtVar *v) {
  for (unsigned i = 0; v != NULL && i < DT_ONES && i < g->nones; i++) {
    const DtOne *o = &g->one[(g->nones - 1 - i) % DT_ONES];
    if (o->storage == v->local->storage->id) return o;
  }
  return NULL;
}

/* A sum over these ranks divided by one over those: what several ranks have alike
** counts for each of them in one of both.  A division by their number mends it. */
static void totals_divided (DtDiag *g, const DtEvent *e) {
  const DtOne *a = one_of(g, plain_input(e, 0)), *b = one_of(g, plain_input(e, 1));
  const DtOne *more;
  DtEvent at;
  DtClaim *c;
  if (!is_forward(g, e) || e->nout < 1 || e->out[0] == NULL) return;
  if (g->ratio != 0 && e->in[0]->local->storage->id == g->ratio)
    dt_diag_claim_excuse(g, DT_FIND_ID_OTHER_RANKS, g->ratio_of);
  if (!dt_diag_is(g, e, DT_DO_DIV) || a == NULL || b == NULL || a->over == b->over ||
      a->over < 2 || b->over < 2) return;
  more = a->over > b->over ? a : b;
  const DtFact fact = { false, more->hash };
  at = dt_diag_origin(&more->at, "");
  at.kind = DT_EV_COLL;
  c = dt_diag_claim_all(g, &at, DT_FIND_ID_OTHER_RANKS, NULL, -1, 0, 1, &fact,
                        dt_diag_name(g, e->in[more == a ? 0 : 1]), "several ranks have "
                        "the same in it, and the other sum is over fewer; what each had");
  if (c) c->paired = true;
  g->ratio = e->out[0]->local->storage->id;
  g->ratio_of = more->hash;
}

void dt_diag_norm_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in) {
  bool is_norm = false;
  note_total(g, raw, in);
  if (g->nlearn > 0) note_squares(g, raw, in);
  if (g->nnorms == 0 || raw->reduce == NULL || strcmp(raw->reduce, "max") != 0 ||
      strcmp(raw->kind, "all_reduce") != 0 || in->spec) return;
  for (int i = 0; i < DT_NORMS && !is_norm; i++)
    is_norm = g->normed_last[i] == in->local->storage->id;
  if (!is_norm) return;
  g->most_at = dt_diag_here(g, raw->kind);
  g->most_name = dt_diag_kept_name(g, in);
}

void dt_diag_most_used (DtDiag *g, const DtVar *grad) {
  const DtFact fact = { false, dt_diag_sample(grad->local) };
  DtEvent at = dt_diag_origin(&g->most_at, "");
  claim_squares(g);
  dt_diag_tied_used(g);
  if (g->most_at.line == 0 || grad->local->storage->drawn) return;
  at.kind = DT_EV_COLL;
  dt_diag_claim_all(g, &at, DT_FIND_ID_LARGEST_NORM, NULL, -1, 0, 1, &fact,
                    g->most_name, "gradients that are scaled "
                    "by the largest of the norms of each rank's");
}

const DtDiagRule dt_rules_loss[] = {
  { DT_EV_OP_END, weights_met, is_weighted, 0 },
  { DT_EV_OP_END, term_scaled, scales_term, DT_WHEN(nshares) },
  { DT_EV_OP_END, factor_used, scales_term, 0 },
  { DT_EV_OP_END, totals_divided, scales_term, DT_WHEN(nones) },
  { DT_EV_OP_END, terms_added, adds_terms, DT_WHEN(nshares) },
  { DT_EV_OP_END, labels_met, takes_labels, DT_WHEN(nplaces) },
  { DT_EV_OP_END, edge_met, is_at_edges, DT_WHEN(nplaces) },
  { DT_EV_OP_END, conv_met, is_convolution, DT_WHEN(nplaces) },
  { DT_EV_OP_END, padded_end, pads, DT_WHEN(nplaces) },
  { DT_EV_OP_END, tokens_drawn, draws_tokens, DT_WHEN(nplaces) },
  { DT_EV_OP_END, total_passed, passes_total, DT_WHEN(nplaces) },
  { DT_EV_OP_END, norm_taken, takes_norm, DT_WHEN(nlearn) },
  { 0, NULL, NULL, 0 }
};
