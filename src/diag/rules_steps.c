/* SPDX-License-Identifier: MIT
** diag/rules_steps.c: by how much gradients are scaled when a parameter is
** updated, and states that are updated without a gradient.
**
** rules_share.c says how the gradient at an update stands to that of the mean
** over all elements: summed over the ranks and not divided, divided twice or by
** the number of other ranks, micro-batches added up.  A learning rate that was
** divided in its place is seen by its digits: 0.025 is 0.1 / 4, 0.1 is not.
**
** A moving average (x * 0.9 + new) that began equal on all ranks and does not
** stay so was fed by what each rank has. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

/* --- divided somewhere else --- */

int dt_diag_digits (double x) {
  char text[32], *end;
  int n = 0;
  snprintf(text, sizeof text, "%.6e", fabs(x));
  if ((end = strchr(text, 'e')) == NULL) return 0;
  while (end > text && (end[-1] == '0' || end[-1] == '.')) end--;
  for (char *c = text; c < end; c++) n += *c >= '0' && *c <= '9';
  return n;
}

static int named (const DtEvent *e, const char *name) {
  const DtSchema *sig = e->op->sig;
  for (int i = 0; i < sig->nargs && i < e->args->n; i++)
    if (strcmp(sig->arg[i].name, name) == 0) return i;
  return -1;
}

double dt_diag_alpha (const DtEvent *e) {
  const int alpha = named(e, "alpha");
  return alpha > 0 ? dt_arg_float(e->args, alpha) : 1;
}

/* The factor of the gradient in an update: an alpha, or that of what is added. */
static double rate (DtDiag *g, const DtEvent *e, const DtVar *grad) {
  const double a = dt_diag_alpha(e);
  if (a != 1 || e->nin < 2 || e->in[1] == NULL || e->in[1]->spec) return a;
  return dt_diag_share_ratio(g, e->in[1]->local, grad->local);
}

/* Each rank knows it of its own batch; told of one parameter. */
static void tell_pieces (DtDiag *g, const DtLearn *l, double x) {
  DtBuf b;
  if (g->told_pieces ||
      (x != 0 && dt_diag_digits(x * g->pieces_taken) < dt_diag_digits(x))) return;
  g->told_pieces = true;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "each is the mean over one of %d pieces of a batch; the gradient "
              "of %s is their sum when it is updated at %s:%d", g->pieces_taken,
              dt_diag_learn_name(l), l->step.file ? l->step.file : "", l->step.line);
  dt_diag_put_at(g, DT_FIND_ID_MICRO_OF_BATCH, &g->root_at,
                 dt_diag_place_name(g, g->root_id), &b);
}

/* Adam and the like do not mind how a gradient is scaled. */
static bool is_plain_step (const DtDiag *g, const DtEvent *e) {
  return dt_diag_is(g, e, DT_DO_ADD) || strstr(e->op->sig->full, "sub_") ||
         strstr(e->op->sig->full, "_foreach_add_");
}

/* The losses of the first step's micro-batches are means that were divided by their
** number twice.  They are known to be pieces of one batch, or there are stages:
** nothing else divides by their number then. */
static void tell_micro_twice (DtDiag *g, const DtLearn *l, const DtTensor *grad) {
  const int n = l->came_often;
  const double total = dt_diag_share_total(g, grad);
  DtBuf b;
  if (g->told_pieces || n < 2 || !(fabs(total * n - 1) < 1e-4) ||
      g->root_at.line == 0 ||
      !(g->piped || (g->pieces_taken == n && n != dt_session_size(g->s)))) return;
  g->told_pieces = true;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "the losses of the %d micro-batches together weigh 1/%d of the mean "
              "over them when %s is updated at %s:%d", n, n,
              dt_diag_learn_name(l), l->step.file ? l->step.file : "", l->step.line);
  dt_diag_put_at(g, DT_FIND_ID_MICRO_TWICE, &g->root_at,
                 dt_diag_place_name(g, g->root_id), &b);
}

/* --- scaled between micro-batches --- */

/* Divided before or after the ranks' sum it is a mean, and may be added to. */
void dt_diag_gradient_scaled (DtDiag *g, const DtEvent *e, DtLearn *l) {
  double x;
  l->scaled_at.line = 0;
  if (l->sums > 0 || l->came_step != l->steps || !dt_diag_scales(g, e, &x) || x == 0)
    return;
  l->scaled_step = l->steps;
  l->scaled_at = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                             .line = e->line, .seq = e->seq };
}

/* Of one backward that runs again: what two losses at two lines count for is one's own
** business. */
void dt_diag_scaled_added (DtDiag *g, const DtEvent *e, DtLearn *l, int64_t storage) {
  const DtOrigin at = l->scaled_at;
  const bool added = at.line > 0 && l->grad == storage && l->scaled_step == l->steps &&
                     at.seq > g->cleared_seq && l->scaled_after == e->line;
  DtBuf b;
  l->anew = l->anew || (l->grad != 0 && l->grad != storage && l->came_step == l->steps);
  l->came_step = l->steps;
  l->scaled_after = e->line;
  l->scaled_at.line = l->bounded_at.line = 0;
  l->met = l->passed = false;
  if (!added) return;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "the gradient is scaled before backward at %s:%d adds the next "
              "micro-batch's to it: each weighs another share of the step",
              l->file ? l->file : "", l->line);
  dt_diag_put_at(g, DT_FIND_ID_SCALED_BETWEEN, &at, dt_diag_learn_name(l), &b);
}

/* Pieces of one batch of other sizes, whose means count alike. */
static void tell_uneven (DtDiag *g, const DtLearn *l) {
  DtBuf b;
  if (!g->uneven || g->any_length || g->told_pieces || g->pieces_taken != l->came_often ||
      g->root_at.line == 0) return;
  g->told_pieces = true;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "each is the mean over one of %d pieces of a batch, which are not all "
              "of one size; they count alike when %s is updated at %s:%d",
              g->pieces_taken, dt_diag_learn_name(l), l->step.file ? l->step.file : "",
              l->step.line);
  dt_diag_put_at(g, DT_FIND_ID_MEAN_OF_MEANS, &g->root_at,
                 dt_diag_place_name(g, g->root_id), &b);
}

/* --- rates --- */

void dt_diag_rate_used (DtDiag *g, const DtEvent *e, const DtLearn *l) {
  const int alpha = named(e, "alpha");
  const int value = alpha > 0 ? alpha : named(e, "value");
  DtRate *r = &g->rate;
  if (!g->piped || l != &g->learn[0] || value < 1 ||
      !dt_arg_is_number(e->args, value)) return;
  r->last = dt_arg_float(e->args, value);
  r->at = (DtOrigin){ .op = e->op->sig->full, .file = e->file, .line = e->line,
                      .seq = e->seq };
  r->name = l->name;
  if (r->times++ == 0) r->first = r->last;
}

/* Stages begin with one rate and end with several; their parameters have nothing to be
** compared with. */
void dt_diag_rates (DtDiag *g) {
  const DtRate *r = &g->rate;
  const DtFact facts[3] = {
    { false, dt_hash_bytes(DT_HASH_SEED, &r->last, sizeof r->last) | 1 },
    { true, dt_hash_bytes(DT_HASH_SEED, &r->first, sizeof r->first) | 1 },
    { true, (uint64_t)r->times + 1 } };
  const DtEvent e = dt_diag_origin(&r->at, "update");
  if (r->times > 1 && !g->averaged)
    dt_diag_claim_all(g, &e, DT_FIND_ID_RATES_APART, NULL, -1, 0, 3, facts,
                      r->name ? r->name : "", "the learning rate of the last update, of "
                      "stages that began with one");
}

/* --- values of gradients that are cut off --- */

/* Is an element as large as a number among the arguments? */
static bool touches_bound (const DtEvent *e, const DtTensor *t) {
  enum { MOST = 4096 };
  const int64_t n = dt_meta_numel(&t->m);
  int64_t at[DT_MAX_NDIM] = { 0 };
  if (!dt_tensor_has_data(t)) return false;
  for (int64_t i = 0; i < n && i < MOST; i++) {
    const double x = dt_tensor_get(t, at).re;
    for (int k = 1; k < e->args->n; k++)
      if (dt_arg_is_number(e->args, k) &&
          fabs(x - dt_arg_float(e->args, k)) <= 1e-6 * fabs(x)) return true;
    for (int d = t->m.ndim - 1; d >= 0 && ++at[d] == t->m.shape[d]; d--) at[d] = 0;
  }
  return false;
}

static void bounded (DtDiag *g, const DtEvent *e) {
  if (e->status != DT_OK || e->backward || dt_session_no_data(g->s)) return;
  for (int i = 0; i < e->nin; i++) {
    const DtVar *v = e->in[i];
    DtLearn *l = v && !v->spec ? dt_diag_by_grad(g, v->local->storage->id) : NULL;
    if (l == NULL || l->met || l->came_step != l->steps ||
        !touches_bound(e, v->local)) continue;
    l->bounded_at = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                                .line = e->line, .seq = e->seq };
  }
}

static bool bounds (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.clamp_", "aten.clip_", "aten.hardtanh_",
    "aten._foreach_clamp_", NULL };
  for (int i = 0; names[i] && dt_diag_inplace(g, op); i++)
    if (strncmp(op->sig->full, names[i], strlen(names[i])) == 0) return true;
  return false;
}

void dt_diag_bounded_reduced (DtDiag *g, const DtRecRaw *raw, const DtVar *grad,
                              DtLearn *l) {
  const DtEvent at = dt_diag_origin(&l->bounded_at, "clamp");
  DtFact fact = { false, 0 };
  l->met = true;
  if (l->bounded_at.line == 0) return;
  fact.hash = dt_diag_hash(grad->local, false);
  l->bounded_at.line = 0;
  dt_diag_claim_all(g, &at, DT_FIND_ID_BOUNDED_FIRST, raw->mesh, raw->mdim,
                    l - g->learn, 1, &fact, l->name, "values of its gradient are cut off "
                    "where they are this rank's own, then reduced over the ranks");
}

/* What the first step of a parameter says of its gradient's scale.  The kinds are
** asked from the surest to the weakest and only as long as none is known.  At the
** end a rate that has fewer digits when it is multiplied (0.0625 on 4 ranks: 0.25)
** takes it back: the program has divided its rate by the ranks on purpose. */
void dt_diag_step_scaled (DtDiag *g, const DtEvent *e, const DtVar *p,
                          DtLearn *l) {
  int n;
  l->rate = rate(g, e, p->grad);
  l->kept = (uint64_t)dt_diag_share_kept(g, p->grad->local, &l->over, &l->times);
  if (l->kept == DT_KEPT_UNKNOWN && g->put_back &&
      dt_diag_share_averaged(g, p->grad->local, &l->over)) l->kept = DT_KEPT_OWN;
  l->averaged = dt_diag_share_averaged(g, p->grad->local, &n);
  if (l->kept == DT_KEPT_UNKNOWN && g->dealt_back && is_plain_step(g, e) &&
      dt_diag_share_whole(g, p->grad->local)) l->kept = DT_KEPT_DEALT;
  if (g->pieces_taken > 1 &&
      dt_diag_share_micro(g, p->grad->local) == g->pieces_taken)
    tell_pieces(g, l, l->rate);
  if (is_plain_step(g, e)) tell_micro_twice(g, l, p->grad->local);
  tell_uneven(g, l);
  if (l->kept != DT_KEPT_SUM && l->kept != DT_KEPT_MICRO) return;
  if (dt_diag_is(g, e, DT_DO_COPY)) {   /* from a copy that was updated: unknown */
    l->kept = DT_KEPT_UNKNOWN;
    return;
  }
  n = l->kept == DT_KEPT_SUM ? l->over : l->times;
  if (l->rate != 0 && dt_diag_digits(l->rate * n) < dt_diag_digits(l->rate))
    l->kept = DT_KEPT_UNKNOWN;
  if (fabs(l->divided_apart - n) < 1e-9 * n)
    l->kept = DT_KEPT_UNKNOWN;
}

/* --- when somebody asks --- */

static const struct { DtFindId id; const char *what; } scales[] = {
  [DT_KEPT_SUM] = { DT_FIND_ID_SUMMED_MEANS, "%s: each rank's loss is a mean over "
    "its own part, the gradients from %s:%d are summed over the ranks and not "
    "divided; the losses" },
  [DT_KEPT_SHARE] = { DT_FIND_ID_DIVIDED_TWICE, "%s: each rank's loss counts for "
    "one of the ranks already when backward gives its gradient at %s:%d, and the "
    "average divides by them again; the losses" },
  [DT_KEPT_MICRO] = { DT_FIND_ID_MICRO_SUMMED, "%s: backward at %s:%d adds up the "
    "gradients of %d batches, whose losses are means, and nothing divides by that "
    "number; the losses" },
  [DT_KEPT_OTHER] = { DT_FIND_ID_OTHER_DIVISOR, "%s: the gradient from %s:%d is "
    "summed over some of the ranks and divided by the number of all; the losses" },
  [DT_KEPT_FEWER] = { DT_FIND_ID_FEWER_DIVIDED, "%s: the gradient from %s:%d, the same "
    "on several ranks, is summed over all and divided by the number of some; what each "
    "rank had" },
  [DT_KEPT_OWN] = { DT_FIND_ID_OWN_AVERAGED, "%s: the loss is the same on all ranks, "
    "but its gradient from %s:%d is that of what this rank put among the others; "
    "it is averaged" },
  [DT_KEPT_DEALT] = { DT_FIND_ID_EXPERT_SCALED, "%s: its rows came from all ranks, so "
    "that its gradient from %s:%d is the sum of those of their means; others are "
    "divided by the number of ranks, this one is not; the losses" },
};

/* Is a gradient averaged whose parameter takes the same share of it as `l` does? */
static bool some_averaged (const DtDiag *g, const DtLearn *l) {
  for (int i = 0; i < g->nlearn; i++)
    if (g->learn[i].averaged &&
        fabs(g->learn[i].rate - l->rate) <= 1e-6 * fabs(l->rate)) return true;
  return false;
}

/* Claims that a parameter's gradient has the wrong scale.  Which fact must differ
** between the ranks depends on what is claimed: the gradient where copies were
** reduced (own, fewer), else the loss; experts must differ themselves, too.  One
** micro-batched loss scales all gradients alike: where they do not agree there
** were several losses, and none is claimed. */
void dt_diag_kept (DtDiag *g, const DtLearn *l, int64_t nr) {
  const bool own = l->kept == DT_KEPT_OWN;      /* one loss, several gradients */
  const bool dealt = l->kept == DT_KEPT_DEALT;  /* another expert on each rank */
  const bool fewer = l->kept == DT_KEPT_FEWER;  /* copies, not all of them the same */
  const DtFact facts[3] = { { false, own || fewer ? l->came : l->loss },
                            { true, l->kept },
                            { !dealt, dealt ? l->at_first : l->loss } };
  const bool at_sum = l->reduced_at.line > 0 && (l->kept == DT_KEPT_SUM || fewer ||
                                                  l->kept == DT_KEPT_SHARE);
  DtEvent e = dt_diag_origin(at_sum ? &l->reduced_at : own && g->own_back.line > 0
                             ? &g->own_back : &l->step, "update");
  const char *what;
  if (l->kept == DT_KEPT_UNKNOWN || l->loss == 0) return;
  if (dealt && !some_averaged(g, l)) return;
  for (int i = 0; i < g->nlearn && l->kept == DT_KEPT_MICRO; i++)
    if (g->learn[i].kept != DT_KEPT_MICRO || g->learn[i].times != l->times)
      return;                   /* several losses, each of other parameters */
  what = dt_diag_learn_words(g, l, scales[l->kept].what);
  DtClaim *c = what ? dt_diag_claim_all(g, &e, scales[l->kept].id, g->over, g->over_dim,
                                        nr, own || dealt ? 3 : 2, facts, l->name, what)
                    : NULL;
  if (c) c->paired = fewer;
}

void dt_diag_parts_stepped (DtDiag *g, const DtLearn *l, int64_t nr) {
  const DtFact facts[3] = { { false, (uint64_t)l->steps + 1 },
                            { true, l->loss },
                            { true, (uint64_t)l->came_often + 1 } };
  DtEvent e = dt_diag_origin(&l->step, "update");
  const char *what;
  DtClaim *c;
  if (l->reduced || l->synced || l->drawn) return;
  what = dt_diag_learn_words(
    g, l, "%s is a part, the loss (backward at %s:%d) is the same on "
          "all ranks; how often it was updated");
  c = what ? dt_diag_claim_all(g, &e, DT_FIND_ID_STEPS_APART, NULL, -1, DT_SALT_PARTS_STEPPED + nr,
                               3, facts, l->name, what) : NULL;
  if (c) c->quiet = l->step.line == 0;
}

/* --- moving averages --- */

static DtAverage *average_of (DtDiag *g, int64_t storage) {
  for (int i = 0; i < g->naverages; i++)
    if (g->average[i].storage == storage) return &g->average[i];
  return NULL;
}

/* x is multiplied by a number below 1, in place: what it was before the first
** time is not known any more, so its maker's values are kept. */
static void faded (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  DtAverage *a;
  const char *name;
  if (e->status != DT_OK || e->backward || v == NULL || v->spec || v->is_param ||
      v->requires_grad || v->local->storage->drawn ||
      e->args->n < 2 || !dt_arg_is_number(e->args, 1) ||
      dt_meta_numel(&v->local->m) < 2 || dt_session_no_data(g->s)) return;
  if (!(fabs(dt_arg_float(e->args, 1)) < 1)) return;
  a = average_of(g, v->local->storage->id);
  if (a == NULL) {
    if (g->naverages == DT_AVERAGES) return;
    name = dt_session_intern(g->s, dt_diag_name(g, v));
    if (name == NULL) { dt_error_clear(g->s->cx); return; }
    a = &g->average[g->naverages++];
    *a = (DtAverage){ .storage = v->local->storage->id, .name = name,
                      .start = dt_diag_sample(v->local) };
  }
  a->faded = true;
}

static void fed (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  DtAverage *a = v && !v->spec ? average_of(g, v->local->storage->id) : NULL;
  if (a == NULL || !a->faded || e->status != DT_OK || e->nin < 2) return;
  a->faded = false;
  a->times++;
  a->last = dt_diag_sample(v->local);
  a->at = (DtOrigin){ .op = e->op->sig->full, .file = e->file, .line = e->line,
                      .seq = e->seq };
}

void dt_diag_average_raw (DtDiag *g, const DtVar *in) {
  DtAverage *a = g->naverages > 0 ? average_of(g, in->local->storage->id) : NULL;
  if (a) a->start = 0;          /* the ranks meet in it */
}

void dt_diag_averages (DtDiag *g) {
  for (int i = 0; i < g->naverages && !g->moved && !g->averaged; i++) {
    const DtAverage *a = &g->average[i];
    const DtFact facts[3] = { { false, a->last }, { true, a->start },
                              { true, (uint64_t)a->times + 1 } };
    DtEvent e = dt_diag_origin(&a->at, "update");
    if (a->times > 1)
      dt_diag_claim_all(g, &e, DT_FIND_ID_STATE_APART, NULL, -1, DT_SALT_AVERAGES + i, 3,
                        facts, a->name, "a moving average that began equal, and is "
                        "fed by what each rank has");
  }
  g->naverages = 0;
}

/* --- which operators --- */

static bool fades (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_inplace(g, op) && (dt_diag_op_is(g, op, DT_DO_MUL) ||
                                    dt_diag_op_is(g, op, DT_DO_MUL_SCALAR));
}

static bool feeds (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_inplace(g, op) && dt_diag_op_is(g, op, DT_DO_ADD);
}

const DtDiagRule dt_rules_steps[] = {
  { DT_EV_OP_END, faded, fades, 0 },
  { DT_EV_OP_END, fed, feeds, DT_WHEN(naverages) },
  { DT_EV_OP_END, bounded, bounds, DT_WHEN(nlearn) },
  { 0, NULL, NULL, 0 }
};
