/* SPDX-License-Identifier: MIT
** diag/rules_share.c: a mean of means by hand.
**
** A plain tensor that was summed or averaged is this rank's share of a number
** for all: each element counts in it with a weight, 1 in a sum, 1/n in a mean.
** Scaling changes the weight, copies keep it, and so does backward: a gradient
** has the weight of the loss.  Where shares are added or averaged over the
** ranks, by a collective, by from_local(Partial) or after an all_gather, an
** element must weigh the same on all of them: that is claimed.  A mean that
** was multiplied by its count before passes, as it should. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

/* Two shares that were added: equal on all ranks when both are. */
#define SECOND 1.6180339887498949

static void share_fini (DtDiag *g, DtShare *s) {
  dt_mesh_unref(g->s->cx, s->mesh);
  memset(s, 0, sizeof *s);
}

void dt_diag_shares_free (DtDiag *g) {
  int i;
  for (i = 0; i < DT_SHARES; i++) share_fini(g, &g->share[i]);
  g->nshares = 0;
}

/* The share of `t`; with `before`, as it was before the write that has just
** been made. */
static DtShare *find_share (DtDiag *g, const DtTensor *t, bool before) {
  int i, n = g->nshares < DT_SHARES ? g->nshares : DT_SHARES;
  for (i = 0; i < n; i++) {
    DtShare *s = &g->share[i];
    if (s->storage == t->storage->id &&
        (s->version == t->storage->version ||
         (before && s->version + 1 == t->storage->version))) return s;
  }
  return NULL;
}

static DtShare *put_share (DtDiag *g, const DtTensor *t, double weight) {
  DtShare *s = find_share(g, t, true);
  if (s == NULL) {
    s = &g->share[g->nshares++ % DT_SHARES];
    if (g->nshares == 2 * DT_SHARES) g->nshares = DT_SHARES;
  }
  share_fini(g, s);
  s->storage = t->storage->id;
  s->version = t->storage->version;
  s->weight = weight;
  s->total = NAN;
  return s;
}

/* The rest of what is known of `from` holds of `to`; not its ranks. */
static void same_as (DtShare *to, const DtShare *from) {
  to->total = from->total;
  to->own = from->own;
  to->sent = from->sent;
  to->sent_id = from->sent_id;
  to->over = from->over;
  to->averaged = from->averaged;
  to->divided = from->divided;
  to->factor = from->factor;
  to->by = from->by;
  to->bent = from->bent;
  to->bent_at = from->bent_at;
  to->times = from->times;
  to->line = from->line;
  to->loss = from->loss;
  to->loss_at = from->loss_at;
  to->clipped = from->clipped;
  to->rate = from->rate;
  to->reduced_at = from->reduced_at;
  to->divided_at = from->divided_at;
}

static const char weighs[] = "what an element weighs in the part of each rank (1 / its "
                             "count in a mean)";

/* 0, which no claim holds with, of a weight of 0: a rank that leaves its part out, as
** one without a batch, has no count to be compared. */
static uint64_t hash_weight (double weight) {
  char text[32];
  if (weight == 0) return 0;
  snprintf(text, sizeof text, "%.5g", fabs(weight));
  return dt_hash_str(DT_HASH_SEED, text) | 1;
}

static void claim_weight (DtDiag *g, const DtEvent *e, const DtMesh *mesh,
                          int mdim, const DtVar *v, double weight) {
  dt_diag_claim(g, e, DT_FIND_ID_MEAN_OF_MEANS, false, mesh, mdim, v,
                hash_weight(weight), weighs);
}

/* --- operators --- */

static bool is_any (const DtDiag *g, const DtOpDef *op, int from, int to) {
  int k;
  for (k = from; k <= to; k++)
    if (dt_diag_op_is(g, op, k)) return true;
  return false;
}

/* Its argument "reduction": 0 none, 1 mean, 2 sum; -1: it has none. */
static int64_t reduction_of (const DtEvent *e) {
  const DtSchema *sig = e->op->sig;
  int i;
  for (i = 0; i < sig->nargs && i < e->args->n; i++)
    if (strcmp(sig->arg[i].name, "reduction") == 0)
      return dt_arg_int(e->args, i);
  return -1;
}

static bool number_in (const DtVar *v, double *x) {
  DtScalar c;
  if (v == NULL || v->spec || dt_meta_numel(&v->local->m) != 1 ||
      !dt_tensor_has_data(v->local)) return false;
  c = dt_tensor_get(v->local, (int64_t[DT_MAX_NDIM]){ 0 });
  *x = c.re;
  return true;
}

/* The number that argument 1 is. */
static bool second_number (const DtEvent *e, double *x) {
  if (e->args->n > 1 && dt_arg_is_number(e->args, 1)) {
    *x = dt_arg_float(e->args, 1);
    return true;
  }
  return e->nin > 1 && number_in(e->in[1], x);
}

/* nll_loss divides by its second result. */
static double count_targets (const DtEvent *e) {
  double n;
  return e->nout > 1 && number_in(e->out[1], &n) ? n : NAN;
}

/* Weight of an element in what a sum, mean or loss gives; NAN: none. */
static double weight_reduced (const DtDiag *g, const DtEvent *e) {
  double n = (double)dt_meta_numel(&e->in[0]->local->m);
  double m = (double)dt_meta_numel(&e->out[0]->local->m);
  int64_t how;
  if (is_any(g, e->op, DT_DO_SUM, DT_DO_SUM_DIM)) return 1;
  if (is_any(g, e->op, DT_DO_MEAN, DT_DO_MEAN_DIM)) return m / n;
  how = reduction_of(e);
  if (how == 2) return 1;
  if (how != 1) return NAN;
  return is_any(g, e->op, DT_DO_NLL, DT_DO_NLL2D)
      ? 1 / count_targets(e) : 1 / n;
}

/* How much more all elements of a result weigh than one of them. */
static double weight_gathered (const DtDiag *g, const DtEvent *e) {
  double n = (double)dt_meta_numel(&e->in[0]->local->m);
  double m = (double)dt_meta_numel(&e->out[0]->local->m);
  if (is_any(g, e->op, DT_DO_MEAN, DT_DO_MEAN_DIM) || reduction_of(e) == 1)
    return 1;
  if (is_any(g, e->op, DT_DO_NLL, DT_DO_NLL2D))
    return e->nin > 1 && e->in[1]
           ? (double)dt_meta_numel(&e->in[1]->local->m) : NAN;
  return n / m;
}

/* Targets that are the next piece of one batch. */
static void piece_taken (DtDiag *g, const DtEvent *e) {
  const DtVar *y = e->nin > 1 ? e->in[1] : NULL;
  if (y == NULL || y->spec || y->requires_grad ||
      (dt_diag_cut_dims(g, y) & 1) == 0) return;
  if (g->piece_of != y->local->storage->id) g->pieces = 1;
  else if (g->piece_off < y->local->offset) g->pieces++;
  else g->pieces = 1;
  g->piece_of = y->local->storage->id;
  g->piece_off = y->local->offset;
}

static void on_reduction (DtDiag *g, const DtEvent *e) {
  const DtShare *in = find_share(g, e->in[0]->local, false);
  DtShare was = { .total = 1 }, *to;
  double w = weight_reduced(g, e);
  if (isnan(w)) return;
  if (g->ncuts > 0) piece_taken(g, e);
  if (in && in->mesh) {         /* those of all ranks, put together */
    claim_weight(g, e, in->mesh, in->mdim, e->in[0], in->weight);
    return;
  }
  if (in) was = *in;
  to = put_share(g, e->out[0]->local, in ? was.weight * w : w);
  same_as(to, &was);
  to->total *= weight_gathered(g, e);
}

/* Is the new weight, of what was reduced, the old one by a number that was
** computed, as a norm's, and not the count of ranks? */
static bool is_clip_factor (const DtEvent *e, const DtShare *was, double w) {
  return e->args->n > 1 && !dt_arg_is_number(e->args, 1) &&
         fabs(w * was->over - was->weight) >= 1e-6 * fabs(was->weight);
}

/* The result of an addition, as 1 + a penalty, is no count of elements: what it
** multiplies is no share any more. */
static bool is_multiplied_by_sum (const DtEvent *e) {
  const DtVar *by = e->nin > 1 ? e->in[1] : NULL;
  return !e->backward && by != NULL && by->origin.op != NULL &&
         (strncmp(by->origin.op, "aten.add.", 9) == 0 ||
          strncmp(by->origin.op, "aten.rsub.", 10) == 0);
}

/* One element times one: a product of two tensors, as longer ones would be, of which one
** is no number.  The second tensor may also be what a number's product is written to. */
static bool is_elementwise (const DtEvent *e) {
  const int other = e->args->n > 1 ? dt_arg_slot(e->args, 1) : -1;
  return other > 0 && other < e->nin && e->in[other] != NULL &&
         e->in[0]->local->m.ndim > 0 &&
         dt_meta_same_shape(&e->in[0]->local->m, &e->in[other]->local->m);
}

static bool is_near_count (double x, int n) { return fabs(x - n) < 1e-6 * n; }

/* a * b, a / b, where one is a share and the other a number. */
static void on_scale (DtDiag *g, const DtEvent *e) {
  const bool div = is_any(g, e->op, DT_DO_DIV, DT_DO_DIV_SCALAR);
  const bool own = (e->op->flags & DT_OP_INPLACE) != 0;
  const DtShare *s = find_share(g, e->in[0]->local, own);
  DtShare was, *to;
  double x, w = NAN;
  if (is_elementwise(e) || (!div && is_multiplied_by_sum(e))) return;
  if (s && s->mesh == NULL && second_number(e, &x))
    w = div ? s->weight / x : s->weight * x;
  else if (!div && !own && e->nin > 1 && e->in[1] &&
           (s = find_share(g, e->in[1]->local, false)) != NULL &&
           s->mesh == NULL &&
           number_in(e->in[0], &x))
    w = s->weight * x;
  if (isnan(w)) return;
  was = *s;
  to = put_share(g, e->out[0]->local, w);
  same_as(to, &was);
  if (was.weight != 0 && !(was.over > 0 && is_clip_factor(e, &was, w)))
    to->total *= w / was.weight;
  if (was.weight != 0) to->own *= w / was.weight;
  if (!div) to->factor = true;
  if (!div && was.over > 0 && was.weight != 0 && !is_near_count(was.weight / w, was.over))
    to->rate = (was.rate != 0 ? was.rate : 1) * w / was.weight;
  if (was.loss_at.line > 0 && e->args->n > 1 && !dt_arg_is_number(e->args, 1))
    to->clipped = true;
  if (div && was.over == 0 && was.weight == 1 && fabs(to->total - 1) < 1e-6 &&
      dt_diag_is_whole(g, x)) to->total = NAN;
  if (div && was.over > 0 && e->args->n > 1 && dt_arg_is_number(e->args, 1))
    to->by = (was.by > 0 ? was.by : 1) * x;
  if (was.over > 0 && is_near_count(was.weight / w, was.over)) {
    to->divided = true;
    to->divided_at = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                                 .line = e->line, .seq = e->seq };
  }
}

/* Many in place by one number: a list of gradients, divided or clipped. */
static void scaled_list (DtDiag *g, const DtEvent *e) {
  const bool div = strncmp(e->op->sig->full, "aten._foreach_div_", 18) == 0;
  double x;
  if (!second_number(e, &x) && !number_in(e->in[e->nin - 1], &x)) return;
  for (int i = 0; i < e->nin; i++) {
    DtShare *s = e->in[i] && !e->in[i]->spec
                 ? find_share(g, e->in[i]->local, true) : NULL;
    double w;
    if (s == NULL || s->mesh || s->version == e->in[i]->local->storage->version)
      continue;
    w = div ? s->weight / x : s->weight * x;
    if (s->over > 0 && fabs(w * s->over - s->weight) < 1e-6 * fabs(s->weight))
      s->divided = true;
    if (!(s->over > 0 && is_clip_factor(e, s, w))) s->total *= div ? 1 / x : x;
    s->factor = s->factor || !div;
    s->weight = w;
    s->version = e->in[i]->local->storage->version;
  }
}

/* Copied, joined, added: of the shares among the inputs. */
static void on_share_passed (DtDiag *g, const DtEvent *e) {
  const bool copy = dt_diag_is(g, e, DT_DO_COPY);
  const bool add = dt_diag_is(g, e, DT_DO_ADD);
  const bool own = (e->op->flags & DT_OP_INPLACE) != 0;
  const DtShare *s = copy && e->in[0] ? find_share(g, e->in[0]->local, true) : NULL;
  const double before = s && s->over == 0 && !isnan(s->total) ? s->total : 0;
  double w = 0, last = 0;
  DtMesh *mesh = NULL;
  int i, n = 0, mdim = 0;
  DtShare *to, all = { .total = NAN };
  for (i = copy ? 1 : 0; i < e->nin; i++) {
    if (e->in[i] == NULL) continue;
    s = find_share(g, e->in[i]->local, own && i == 0);
    if (s == NULL) continue;
    if (n == 0 || s->weight != last)
      w = n ? w * SECOND + s->weight : s->weight;
    last = s->weight;
    if (n == 0) all = *s;
    else if (add) all.total = NAN;      /* two losses, or two parts of one? */
    else if (all.total != s->total || all.over != s->over) all.total = NAN;
    mesh = s->mesh;
    mdim = s->mdim;
    n++;
  }
  if (n == 0 || (own && dt_diag_by_storage(g, e->out[0]->local->storage->id)))
    return;                     /* a parameter that was updated is no share */
  if (mesh) mesh = dt_mesh_ref(mesh);
  to = put_share(g, e->out[0]->local, w);
  same_as(to, &all);
  if (copy) to->own = all.sent != 0 ? before : 0;
  to->mesh = mesh;
  to->mdim = mdim;
}

/* Did plain tensors go into plain ones, with data? */
static bool plain (const DtDiag *g, const DtEvent *e) {
  return e->status == DT_OK && e->nin > 0 && e->nout > 0 && e->in[0] != NULL &&
         e->out[0] != NULL && !e->in[0]->spec && !e->out[0]->spec &&
         !dt_session_no_data(g->s);
}

static bool is_reducing (const DtDiag *g, const DtOpDef *op) {
  return is_any(g, op, DT_DO_SUM, DT_DO_MULTI_MARGIN) ||
         is_any(g, op, DT_DO_NLL, DT_DO_NLL2D);
}

static void reduce_end (DtDiag *g, const DtEvent *e) {
  if (!e->backward && plain(g, e)) on_reduction(g, e);
}

static bool is_scaling (const DtDiag *g, const DtOpDef *op) {
  return is_any(g, op, DT_DO_MUL, DT_DO_DIV_SCALAR);
}

static void scale_end (DtDiag *g, const DtEvent *e) {
  if (plain(g, e)) on_scale(g, e);
}

static bool scales_list (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten._foreach_mul_.Scalar",
    "aten._foreach_mul_.Tensor", "aten._foreach_div_.Scalar",
    "aten._foreach_div_.Tensor", NULL };
  (void)g;
  for (int i = 0; names[i]; i++)
    if (strcmp(op->sig->full, names[i]) == 0) return true;
  return false;
}

static void list_end (DtDiag *g, const DtEvent *e) {
  if (e->status == DT_OK && e->nin > 0 && !dt_session_no_data(g->s))
    scaled_list(g, e);
}

static bool is_passing (const DtDiag *g, const DtOpDef *op) {
  return is_any(g, op, DT_DO_CAT, DT_DO_ADD) || dt_diag_clones(g, op) ||
         dt_diag_op_is(g, op, DT_DO_COPY) ||
         strcmp(op->sig->full, "aten.constant_pad_nd.default") == 0;
}

static void pass_end (DtDiag *g, const DtEvent *e) {
  if (plain(g, e)) on_share_passed(g, e);
}

/* --- backward --- */

/* Of the losses of one step, which stand at one line and weigh the same each, those of
** few elements give each of them more weight.  That is a slip where the last are of
** few, as a batch is cut; documents, of any length, are meant to count alike. */
static void note_piece (DtDiag *g, double weight, double total, int line) {
  if (g->since_update == 1) {
    g->uneven = g->any_length = false;
    g->piece_weight = weight;
    g->piece_total = total;
    g->piece_line = line;
  } else if (line == g->piece_line && fabs(total - g->piece_total) < 1e-6 &&
             fabs(weight - g->piece_weight) > 1e-4 * fabs(weight)) {
    g->any_length = g->any_length || g->uneven || fabs(weight) < fabs(g->piece_weight);
    g->uneven = true;
    g->piece_weight = weight;
  }
}

/* A backward pass begins: what the loss is a share of (its weight in the mean
** over all ranks) is kept for judging the gradients that come. */
static void on_backward (DtDiag *g, const DtEvent *e) {
  const DtShare *s = NULL;
  bool own;
  g->root = g->root_total = NAN;
  g->normed = false;
  g->accumulates = g->accumulates || g->since_update > 0;
  g->since_update++;
  if (e->nin == 1 && e->in[0] && e->in[0]->spec == NULL)
    s = find_share(g, e->in[0]->local, false);
  g->root_hash = e->nin == 1 && e->in[0] && e->in[0]->spec == NULL
                 ? dt_diag_hash(e->in[0]->local, false) : 0;
  if (g->root_hash != 0) {
    g->last_loss = g->root_hash;
    g->last_line = e->line;
  }
  if (s == NULL || s->mesh) return;
  own = s->over > 0 && s->own > 0 && s->sent_id == e->in[0]->id;
  g->root_sent = own ? s->sent : g->root_hash;
  g->root = s->weight;
  g->root_total = s->over == 0 ? s->total : own ? s->own : NAN;
  g->root_factor = s->factor;
  g->root_line = e->in[0]->origin.line;
  g->root_id = e->in[0]->id;
  g->root_at = e->in[0]->origin;
  note_piece(g, s->weight, s->total, g->root_line);
}

/* A parameter is written: what comes next is another step. */
static void on_update (DtDiag *g, const DtEvent *e) {
  for (int i = 0; i < e->nin && g->since_update > 0 && !e->backward; i++)
    if (e->in[i] && e->in[i]->is_param) {
      g->since_update = 0;
      g->tied_claim = 0;
      g->squares_at.line = 0;
      g->pieces_taken = g->pieces;
      g->pieces = 0;
      g->piece_of = 0;
    }
}

/* fully_shard reduces when backward has ended: what is known of its loss is
** still there. */
const char *dt_diag_kept_place (DtDiag *g, int64_t id) {
  const char *name = dt_session_intern(g->s, dt_diag_place_name(g, id));
  if (name == NULL) dt_error_clear(g->s->cx);
  return name ? name : "";
}

void dt_diag_averaging (DtDiag *g, int64_t n) {
  if (g->on && !g->d->muted) g->units.total = g->root_factor ? NAN : g->root_total;
  if (!g->on || g->d->muted || n < 3 || g->shared_at.line > 0 ||
      isnan(g->root_total) || g->root_factor ||
      fabs(g->root_total * (double)n - 1) > 1e-4) return;
  g->shared_at = g->root_at;
  g->shared_name = dt_diag_kept_place(g, g->root_id);
  g->shared_loss = g->root_sent;
}

/* What is divided by the number of micro-batches is divided as it should be. */
void dt_diag_shared_loss (DtDiag *g) {
  const DtFact fact = { false, g->shared_loss };
  DtEvent e = dt_diag_origin(&g->shared_at, "backward");
  if (g->shared_at.line == 0 || g->accumulates) return;
  dt_diag_claim_all(g, &e, DT_FIND_ID_DIVIDED_TWICE, NULL, -1, DT_SALT_SHARED_LOSS, 1, &fact,
                    g->shared_name, "each rank's loss counts for one of the ranks "
                    "already, and its gradients are averaged over them; the "
                    "losses");
}

static void backward_end (DtDiag *g, const DtEvent *e) {
  (void)e;
  g->root = NAN;
}

/* Is the loss of the backward under way a mean, with nothing divided? */
static bool whole_mean (const DtDiag *g) {
  return fabs(g->root_total - 1) < 1e-4 && g->root < 1 && !g->root_factor;
}

static void on_gradient (DtDiag *g, const DtEvent *e) {
  const DtShare *s;
  const DtTensor *t;
  DtShare *to;
  double total = g->root_total;
  int times;
  if (isnan(g->root) || e->nout < 1 || e->out[0] == NULL) return;
  t = e->out[0]->local;
  s = find_share(g, t, true);
  if (s) total = s->over > 0 ? NAN : s->total + total;
  times = whole_mean(g) ? 1 : 0;
  if (s) times = times && s->times && s->line == g->root_line ? s->times + 1 : 0;
  to = put_share(g, t, s ? s->weight * SECOND + g->root : g->root);
  to->total = total;
  to->times = times;
  to->line = g->root_line;
  to->factor = g->root_factor;
  to->loss = g->root_id;
  to->loss_at = g->root_at;
}

bool dt_diag_whole_loss (const DtDiag *g) {
  return !isnan(g->root) && (fabs(g->root_total - 1) < 1e-4 || g->root == 1);
}

double dt_diag_share_ratio (DtDiag *g, const DtTensor *t, const DtTensor *of) {
  const DtShare *s = g->nshares > 0 ? find_share(g, t, false) : NULL;
  const DtShare *w = g->nshares > 0 ? find_share(g, of, false) : NULL;
  return s && w && w->weight != 0 ? s->weight / w->weight : 1;
}

/* What is wrong with the scale of a gradient: `total` is the weight that the
** ranks' losses have in it, 1 where each is a mean over all.  Micro-batches are
** asked before the ranks: two of them on two ranks weigh the same, and only
** one that was averaged or divided over the ranks is certain.  Numbers that
** other counts explain too (an own factor, fewer than three ranks) are left
** alone: a false alarm is worse than silence. */
DtKept dt_diag_share_kept (DtDiag *g, const DtTensor *t, int *over, int *times) {
  const DtShare *s = g->nshares > 0 ? find_share(g, t, false) : NULL;
  double r;
  if (s == NULL || s->over < 2 || s->mesh || isnan(s->total))
    return DT_KEPT_UNKNOWN;
  *over = s->over;
  *times = s->times;
  r = s->over;
  if (s->times > 1 && (s->averaged || s->divided) &&
      fabs(s->total - s->times) < 1e-4 * s->times) return DT_KEPT_MICRO;
  /* An averaged loss that is a sum of as many elements as there are ranks weighs
  ** the same: each must have been a mean. */
  if (s->times > 0 && fabs(s->total - r) < 1e-4 * r)
    return DT_KEPT_SUM;
  if (s->by == (double)dt_session_size(g->s) && s->by > r && !s->averaged &&
      !s->factor && fabs(s->total * s->by - r) < 1e-4 * r)
    return DT_KEPT_OTHER;
  if (s->by >= 2 && s->by < r && fmod(r, s->by) == 0 && !s->averaged && !s->factor &&
      fabs(s->total * s->by - r) < 1e-4 * r)
    return DT_KEPT_FEWER;
  if (fabs(s->total * r - 1) < 1e-4 &&
      ((s->averaged && s->divided) || (r > 2 && !s->factor)))
    return DT_KEPT_SHARE;
  return DT_KEPT_UNKNOWN;
}

bool dt_diag_share_step (DtDiag *g, const DtTensor *t, double *rate, DtShareStep *how) {
  const DtShare *s = g->nshares > 0 ? find_share(g, t, false) : NULL;
  double total;
  if (s == NULL || s->mesh || s->over < 2 || s->times != 1 || s->loss_at.line == 0 ||
      s->clipped || isnan(s->total) || dt_meta_numel(&t->m) < 2) return false;
  total = s->total;
  if (s->rate != 0) {
    *rate *= s->rate;
    total /= s->rate;
  }
  how->over = s->over;
  how->twice = s->averaged && s->divided && fabs(total * s->over - 1) < 1e-4;
  how->reduced_at = s->reduced_at;
  how->divided_at = s->divided_at;
  return how->twice || (!s->averaged && !s->divided &&
                        fabs(total - s->over) < 1e-4 * s->over);
}

bool dt_diag_share_reduced (DtDiag *g, const DtTensor *t) {
  const DtShare *s = g->nshares > 0 ? find_share(g, t, false) : NULL;
  return s && s->over > 1 && s->mesh == NULL && dt_meta_numel(&t->m) > 1;
}

bool dt_diag_share_whole (DtDiag *g, const DtTensor *t) {
  const DtShare *s = g->nshares > 0 ? find_share(g, t, false) : NULL;
  return s && s->mesh == NULL && s->over == 0 && s->times == 1 && !s->factor &&
         fabs(s->total - 1) < 1e-4;
}

int dt_diag_share_micro (DtDiag *g, const DtTensor *t) {
  const DtShare *s = g->nshares > 0 ? find_share(g, t, false) : NULL;
  return s && s->mesh == NULL && s->times > 1 && (s->over == 0 || s->averaged ||
         s->divided) && fabs(s->total - s->times) < 1e-4 * s->times ? s->times : 0;
}

double dt_diag_share_total (DtDiag *g, const DtTensor *t) {
  const DtShare *s = g->nshares > 0 ? find_share(g, t, false) : NULL;
  return s && s->mesh == NULL && !s->factor &&
         (s->over == 0 || s->averaged || s->divided) ? s->total : NAN;
}

bool dt_diag_is_part_of_mean (DtDiag *g, const DtTensor *t) {
  const DtShare *s = g->nshares > 0 ? find_share(g, t, false) : NULL;
  return s && s->over == 0 && s->mesh == NULL && !s->factor &&
         fabs(s->total * (double)dt_session_size(g->s) - 1) < 1e-4;
}

bool dt_diag_is_sum (DtDiag *g, const DtVar *v) {
  const DtShare *s = g->nshares > 0 ? find_share(g, v->local, false) : NULL;
  return s != NULL && s->mesh == NULL && s->weight == 1 && s->total > 1 && !s->factor;
}

bool dt_diag_share_averaged (DtDiag *g, const DtTensor *t, int *over) {
  const DtShare *s = g->nshares > 0 ? find_share(g, t, false) : NULL;
  if (s == NULL || s->over < 2 || s->mesh) return false;
  *over = s->over;
  return s->averaged || s->divided;
}

/* --- over the ranks --- */

/* A mean of this rank's part is declared an addend: the sum is as many times too
** large as there are ranks, unless it is divided by them (rules_comm.c). */
static void claim_addends (DtDiag *g, const DtEvent *e, const DtShare *s) {
  const DtSpec *p = e->out[0]->spec;
  const DtFact fact = { false, dt_diag_hash(e->in[0]->local, false) };
  if (p->npl != 1 || p->mesh->ndim != 1 || p->pl[0].kind != DT_PL_PARTIAL ||
      p->pl[0].op != DT_OP_SUM || p->mesh->shape[0] < 2 || s->over > 0 ||
      s->factor || fabs(s->total - 1) > 1e-4) return;
  dt_diag_claim_all(g, e, DT_FIND_ID_MEANS_ADDED, p->mesh, 0, 0, 1, &fact,
                    dt_diag_name(g, e->in[0]), "each is the mean over the part of "
                    "a rank");
  g->summed[g->nsummed++ % DT_SUMMED] = (DtSummed){
    .file = e->file ? e->file : "", .line = e->line, .n = p->mesh->shape[0] };
}

/* A share is declared a partial: of a sum the weights of the ranks must add up
** to the whole's, of a mean they must be equal. */
static void from_local (DtDiag *g, const DtEvent *e) {
  const DtShare *s;
  const DtSpec *p;
  int m;
  if (e->op != NULL || e->status != DT_OK || e->backward ||
      g->nfunc > 0 || e->nin < 1 || e->nout < 1 || e->in[0] == NULL ||
      e->out[0] == NULL || strcmp(e->text, "dtensor.from_local") != 0 ||
      (p = e->out[0]->spec) == NULL ||
      (s = find_share(g, e->in[0]->local, false)) == NULL || s->mesh) return;
  for (m = 0; m < p->npl && m < p->mesh->ndim; m++)
    if (p->pl[m].kind == DT_PL_PARTIAL && p->mesh->shape[m] > 1 &&
        (p->pl[m].op == DT_OP_SUM || p->pl[m].op == DT_OP_AVG))
      claim_weight(g, e, p->mesh, m, e->in[0], s->weight);
  claim_addends(g, e, s);
}

/* A gradient: of the loss, where it is a mean. */
static void told_of_loss (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                          const DtShare *s) {
  const DtEvent at = dt_diag_origin(&s->loss_at, "backward");
  const char *name = dt_diag_place_name(g, s->loss);
  if (raw->mesh->member && g->s->comm && !dt_session_no_data(g->s))
    dt_diag_claim_named(g, &at, DT_FIND_ID_MEAN_OF_MEANS, false, raw->mesh, raw->mdim,
                        *name ? name : dt_diag_name(g, in), hash_weight(s->weight),
                        weighs);
}

static void told_reduced (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                          const DtShare *s) {
  DtEvent e = { .kind = DT_EV_COLL, .text = raw->kind, .seq = g->s->seq,
                .module = g->s->module ? g->s->module : "",
                .backward = g->s->backward };
  const char *file = "";
  int line = 0;
  if (s->loss_at.line > 0) {
    told_of_loss(g, raw, in, s);
    return;
  }
  if (g->s->where) g->s->where(g->s->where_ud, &file, &line);
  e.file = file ? file : "";
  e.line = line;
  if (e.backward && g->root_at.line > 0) {      /* the library reduces: the loss is */
    e.file = g->root_at.file ? g->root_at.file : "";    /* where it is to be mended */
    e.line = g->root_at.line;
  }
  claim_weight(g, &e, raw->mesh, raw->mdim, in, s->weight);
}

/* A function of this rank's mean, which is not that of the mean of all. */
static void bends_mean (DtDiag *g, const DtEvent *e) {
  const DtShare *s = plain(g, e) && !e->backward
                     ? find_share(g, e->in[0]->local, false) : NULL;
  DtShare was, *to;
  if (s == NULL || s->mesh || s->over > 0 || e->out[0]->requires_grad ||
      dt_meta_numel(&e->in[0]->local->m) != 1 || fabs(s->total - 1) > 1e-4)
    return;
  was = *s;
  to = put_share(g, e->out[0]->local, was.weight);
  same_as(to, &was);
  to->bent = true;
  to->bent_at = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                            .line = e->line, .seq = e->seq };
}

static bool bends (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.exp.default", "aten.sqrt.default",
    "aten.log.default", "aten.log2.default", "aten.log10.default",
    "aten.reciprocal.default", "aten.square.default", "aten.rsqrt.default",
    "aten.exp2.default", "aten.pow.Tensor_Scalar", "aten.pow.Scalar", NULL };
  (void)g;
  for (int i = 0; names[i]; i++)
    if (strcmp(op->sig->full, names[i]) == 0) return true;
  return false;
}

static void told_bent (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                       const DtShare *s) {
  const DtFact fact = { false, dt_diag_hash(in->local, false) };
  DtEvent e = { .kind = DT_EV_OP, .text = s->bent_at.op, .file = s->bent_at.file,
                .line = s->bent_at.line, .seq = s->bent_at.seq, .module = "" };
  if (s->bent)
    dt_diag_claim_all(g, &e, DT_FIND_ID_BENT_ADDEND, raw->mesh, raw->mdim, DT_SALT_BENT_SHARE, 1,
                      &fact, dt_diag_name(g, in), "each rank takes it of its own "
                      "mean, and the results are reduced");
}

/* Is it this rank's mean, or that as one of n, or those of micro-batches?  Other
** totals, as that of two losses, would be taken for such once they are summed. */
static bool is_mean (const DtShare *s, int n) {
  const double total = s->times > 1 && fabs(s->total - s->times) < 1e-4
                       ? 1 : s->total;
  return fabs(total - 1) < 1e-4 || fabs(total * n - 1) < 1e-4;
}

int64_t dt_diag_raws (const DtDiag *g) { return g->nraw; }

/* A collective on plain tensors, told to every rule that wants it.  The shares come
** last and return early.  `s` points into a table that put_share fills and may
** overwrite: what is needed afterwards is copied (`was`) before. */
void dt_diag_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                  const DtVar *out) {
  const DtShare *s;
  DtShare *to;
  if (!g->on || g->d->muted || g->d->rec.off) return;
  g->nraw++;
  g->dealt_back = g->dealt_back ||
                  (g->s->backward && strncmp(raw->kind, "all_to_all", 10) == 0 &&
                   raw->mesh->shape[raw->mdim] > 1);
  dt_diag_adjoint_raw(g, raw);
  dt_diag_summed(g, raw, in);
  dt_diag_gradient_sent(g, raw, in);
  dt_diag_train_raw(g, raw, in);
  dt_diag_where_raw(g, raw, in, out);
  dt_diag_graph_raw(g, raw, in, out);
  dt_diag_state_raw(g, raw, in);
  dt_diag_rows_raw(g, raw, in, out);
  dt_diag_result_raw(g, in);
  dt_diag_average_raw(g, in);
  dt_diag_drift_met(g, in);
  if (out) dt_diag_drift_met(g, out);
  if (out && strcmp(raw->kind, "all_gather") == 0)
    dt_diag_stale_gathered(g, in, out);
  dt_diag_norm_raw(g, raw, in);
  dt_diag_noise_raw(g, raw, in);
  dt_diag_factors_raw(g, in);
  dt_diag_meter_raw(g, raw, in, out);
  dt_diag_tied_raw(g, raw, in, out);
  if (g->nwhole > 0) dt_diag_whole_raw(g, in);
  dt_diag_deviation_raw(g, raw, in, out);
  dt_diag_picked_raw(g, raw, in);
  dt_diag_clamped_raw(g, raw, in);
  dt_diag_scattered_raw(g, raw, out);
  dt_diag_shards_raw(g, raw, in, out);
  if (g->nshares == 0 ||
      (s = find_share(g, in->local, false)) == NULL || s->mesh) return;
  if (strcmp(raw->kind, "all_gather") == 0) {
    to = put_share(g, out->local, s->weight);
    to->mesh = dt_mesh_ref(raw->mesh);
    to->mdim = raw->mdim;
  } else if (strstr(raw->kind, "reduce") && raw->reduce &&
             (strcmp(raw->reduce, "sum") == 0 ||
              strcmp(raw->reduce, "avg") == 0)) {
    const DtShare was = *s;
    const int n = (int)raw->mesh->shape[raw->mdim];
    told_bent(g, raw, in, &was);
    if (!was.clipped && !dt_diag_sums_gradients(g, in))
      told_reduced(g, raw, in, &was);   /* each sample's may be, a norm's are no means */
    to = put_share(g, out->local, was.weight);
    same_as(to, &was);
    to->averaged = strcmp(raw->reduce, "avg") == 0;
    to->divided = false;
    to->sent = dt_meta_numel(&in->local->m) == 1 ? dt_diag_hash(in->local, false) : 0;
    to->sent_id = in->id;
    if (was.over > 0 || !is_mean(&was, n))
      to->total = NAN;          /* over two groups, or of several losses */
    else if (!to->averaged) to->total *= n;
    to->over = n;
    to->reduced_at = dt_diag_here(g, raw->kind);
  }
}

const DtDiagRule dt_rules_share[] = {
  { DT_EV_OP_END, reduce_end, is_reducing, 0 },
  { DT_EV_OP_END, scale_end, is_scaling, DT_WHEN(nshares) },
  { DT_EV_OP_END, list_end, scales_list, DT_WHEN(nshares) },
  { DT_EV_OP_END, pass_end, is_passing, DT_WHEN(nshares) },
  { DT_EV_OP_END, bends_mean, bends, DT_WHEN(nshares) },
  { DT_EV_BACKWARD, on_backward, NULL, 0 },
  { DT_EV_OP_END, on_update, dt_diag_inplace, DT_WHEN(since_update) },
  { DT_EV_BACKWARD_END, backward_end, NULL, 0 },
  { DT_EV_GRAD, on_gradient, NULL, 0 },
  { DT_EV_FUNC_END, from_local, NULL, DT_WHEN(nshares) },
  { 0, NULL, NULL, 0 }
};
