/* SPDX-License-Identifier: MIT
** diag/rules_units.c: by how much the gradients of distributed parameters are
** scaled, where no plain gradient is seen on its way (those: rules_share.c).
**
** - fully_shard divides by a number that the program gave it, which is not that of
**   the ranks it sums over.
** - It cuts parameters that only some ranks loaded from a checkpoint.
** - What fully_shard has averaged is summed over other ranks by hand (HSDP by hand)
**   and not divided by their number.
** - The loss is the mean over what to_local() gave of a batch that is cut: backward
**   takes its gradient for a part of that of one loss, and sums over the ranks.
** - An optimizer that is written by hand steps with a gradient that was reduced over
**   the ranks and not divided, or was averaged and then divided again.
**
** Each holds only where the ranks' losses differ, which is claimed.  Nothing is told
** where the program scales such a gradient by the missing number itself, or has
** divided its rate by it (0.025 is 0.1 / 4: dt_diag_digits). */
#include <math.h>
#include <string.h>
#include "diag/diag_int.h"

static bool is_near (double a, double b) { return fabs(a - b) <= 1e-4 * fabs(b); }

/* Is the loss of the backward under way a mean that nobody scaled? */
static bool is_mean_back (const DtDiag *g) {
  return is_near(g->root_total, 1) && !g->root_factor;
}

void dt_diag_units_free (DtDiag *g) {
  DtUnits *u = &g->units;
  dt_mesh_unref(g->s->cx, u->off.mesh);
  dt_mesh_unref(g->s->cx, u->local.mesh);
  for (int i = 0; i < u->nhand; i++) dt_mesh_unref(g->s->cx, u->hand[i].scale.mesh);
  dt_free(g->s->cx, u->divided.v);
  memset(u, 0, sizeof *u);
}

/* Note what is scaled by `times` too much, over that dimension of a mesh. */
static void note_scale (DtDiag *g, DtScale *to, const DtOrigin *at, const char *name,
                        const DtMesh *mesh, int mdim, double times) {
  dt_mesh_unref(g->s->cx, to->mesh);
  *to = (DtScale){ .at = *at, .name = name, .mesh = dt_mesh_ref((DtMesh *)mesh),
                   .mdim = mdim, .times = times, .loss = g->last_loss,
                   .loss_at = g->root_at };
}

/* --- a factor of the program's own --- */

void dt_diag_factor_given (DtDiag *g) {
  if (g->on && !g->d->muted && g->units.given_at.line == 0)
    g->units.given_at = dt_diag_here(g, "set_gradient_divide_factor");
}

/* fully_shard sums the gradients of the backward that has ended over `d` ranks, those
** of a dimension of `mesh` and their copies, and divides by `f`. */
void dt_diag_divides (DtDiag *g, const DtMesh *mesh, int mdim, double d, double f) {
  DtUnits *u = &g->units;
  if (!g->on || g->d->muted || isnan(g->root_total) || f <= 0) return;
  u->total = g->root_factor ? NAN : g->root_total * d / f;
  if (!is_mean_back(g) || f >= d || d < 2 || fmod(d, f) != 0 || u->off.at.line > 0 ||
      u->given_at.line == 0) return;
  note_scale(g, &u->off, &u->given_at, dt_diag_kept_place(g, g->root_id), mesh, mdim,
             d / f);
}

/* --- cut from what only some ranks loaded --- */

int dt_diag_cut_whole (DtDiag *g, const DtVar *v) {
  if (!g->on || g->d->muted || v->spec || g->ncut >= DT_CUT_WHOLES) return -1;
  g->cut_whole[g->ncut] = (DtCutWhole){
    .hash = dt_diag_hash(v->local, false), .at = dt_diag_here(g, "fully_shard"),
    .loaded = dt_idset_has(&g->loaded, v->local->storage->id),
    .name = dt_diag_kept_name(g, v) };
  return g->ncut++;
}

void dt_diag_cut_used (DtDiag *g, int cut, const DtMesh *mesh, int mdim) {
  const DtCutWhole *c = cut >= 0 && cut < g->ncut ? &g->cut_whole[cut] : NULL;
  DtFact facts[2];
  DtEvent at;
  if (c == NULL || !g->on || c->hash == 0) return;
  facts[0] = (DtFact){ false, c->loaded ? 3 : 2 };
  facts[1] = (DtFact){ false, c->hash };
  at = dt_diag_origin(&c->at, "fully_shard");
  dt_diag_claim_all(g, &at, DT_FIND_ID_OTHER_WHOLE, mesh, mdim, DT_SALT_CUT_WHOLE, 2, facts,
                    c->name, "some ranks loaded a checkpoint into it and others did not, "
                    "before each kept its own part; which did, and what they had");
}

/* --- summed by hand --- */

static DtHandSum *find_hand (DtDiag *g, int64_t storage) {
  for (int i = 0; i < g->units.nhand; i++)
    if (g->units.hand[i].storage == storage) return &g->units.hand[i];
  return NULL;
}

/* The ranks of the group hold the same part: their gradients belong together. */
static bool reaches_other_parts (const DtRecRaw *raw, const DtHeld *h) {
  int mine[DT_UNIT_RANKS], theirs[DT_UNIT_RANKS];
  const int64_t n = raw->mesh->shape[raw->mdim], m = h->mesh->shape[h->mdim];
  if (n > DT_UNIT_RANKS || m > DT_UNIT_RANKS) return true;
  dt_mesh_group(raw->mesh, raw->mdim, dt_mesh_rank_at(raw->mesh, raw->mesh->coord), mine);
  dt_mesh_group(h->mesh, h->mdim, dt_mesh_rank_at(h->mesh, h->mesh->coord), theirs);
  for (int i = 0, same = 0; i < n; i++)
    for (int k = 0; k < m; k++)
      if (mine[i] == theirs[k] && ++same > 1) return true;
  return false;
}

void dt_diag_units_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                        const DtHeld *h) {
  DtUnits *u = &g->units;
  const DtOrigin here = dt_diag_here(g, raw->kind);
  DtHandSum *s;
  if (h->mesh == NULL || h->mdim < 0 || g->s->backward || !is_near(u->total, 1) ||
      strcmp(raw->kind, "all_reduce") != 0 || raw->reduce == NULL ||
      strcmp(raw->reduce, "sum") != 0 || raw->mesh->shape[raw->mdim] < 2 ||
      dt_meta_numel(&in->local->m) < 2 || reaches_other_parts(raw, h) ||
      dt_idset_has(&u->divided, in->local->storage->id)) return;
  s = find_hand(g, in->local->storage->id);
  if (s == NULL && u->nhand < DT_UNIT_HANDS) s = &u->hand[u->nhand++];
  if (s == NULL) return;
  s->storage = in->local->storage->id;
  note_scale(g, &s->scale, &here, dt_diag_kept_name(g, in), raw->mesh, raw->mdim,
             (double)raw->mesh->shape[raw->mdim]);
  s->scale.came = dt_diag_hash(in->local, false);
}

/* What an update by hand may be made of: it is divided first, and not in place. */
static bool is_for_update (const DtVar *v) {
  return v->spec != NULL && !v->requires_grad && dt_meta_numel(&v->local->m) > 1;
}

/* A number: of a gradient that was summed by hand, in place, or one that makes up for
** the rest. */
static void scaled (DtDiag *g, const DtEvent *e) {
  DtUnits *u = &g->units;
  const DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  DtHandSum *s;
  double x;
  if (e->status != DT_OK || e->backward || v == NULL || v->is_param ||
      !dt_diag_scales(g, e, &x)) return;
  if (!dt_diag_inplace(g, e->op)) {
    if (!is_for_update(v)) return;
  }
  else if ((s = find_hand(g, v->local->storage->id)) != NULL) s->scale.at.line = 0;
  else if (is_near(u->total, 1) && is_near(fmax(x, 1 / x), round(fmax(x, 1 / x))))
    dt_idset_add(g, &u->divided, v->local->storage->id);
  for (int i = 0; i < 2; i++) {
    DtScale *c = i == 0 ? &u->off : &u->local;
    if (c->at.line > 0 && (is_near(x, c->times) || is_near(x * c->times, 1)))
      c->excused = true;
  }
}

static bool scales (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_DIV) || dt_diag_op_is(g, op, DT_DO_DIV_SCALAR) ||
         dt_diag_op_is(g, op, DT_DO_MUL) || dt_diag_op_is(g, op, DT_DO_MUL_SCALAR);
}

/* --- a mean of the local part --- */

/* Where to_local() was taken of what is cut, and the loss is a mean. */
static void local_back (DtDiag *g, const DtEvent *e) {
  DtUnits *u = &g->units;
  const DtSpec *s = e->nout > 0 && e->out[0] ? e->out[0]->spec : NULL;
  if (e->op != NULL || e->status != DT_OK || s == NULL || u->local.at.line > 0 ||
      !is_mean_back(g) || g->root_at.line == 0 || g->root == 1 ||
      strcmp(e->text, "dtensor.to_local_backward") != 0) return;
  for (int m = 0; m < s->npl && m < s->mesh->ndim; m++)
    if (dt_pl_is_shard_like(s->pl[m]) && s->pl[m].dim == 0 && s->mesh->shape[m] > 1) {
      note_scale(g, &u->local, &g->root_at, dt_diag_kept_place(g, g->root_id), s->mesh, m,
                 (double)s->mesh->shape[m]);
      return;
    }
}

/* The parameter is the same on all those ranks: its gradient is their sum. */
static void local_summed (DtDiag *g, const DtEvent *e) {
  DtScale *c = &g->units.local;
  const DtSpec *s = e->nin > 0 && e->in[0] ? e->in[0]->spec : NULL;
  if (c->at.line > 0 && s != NULL && dt_mesh_equal(s->mesh, c->mesh) &&
      c->mdim < s->npl && dt_pl_is_replicate(s->pl[c->mdim])) c->summed = true;
}

/* --- at the first update --- */

static void claim_scale (DtDiag *g, const DtScale *c, DtFindId id, double rate,
                         const char *what) {
  const DtFact facts[2] = { { false, c->loss }, { false, c->came } };
  const DtEvent at = dt_diag_origin(&c->at, "backward");
  if (c->at.line == 0 || c->excused || c->loss == 0 ||
      (rate != 0 && dt_diag_digits(rate * c->times) < dt_diag_digits(rate))) return;
  dt_diag_claim_all(g, &at, id, c->mesh, c->mdim, DT_SALT_UNITS, c->came ? 2 : 1, facts,
                    c->name, what);
}

static const char *loss_words (DtDiag *g, const DtScale *c, const char *how) {
  const char *text;
  DtBuf b;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "each rank's loss (%s:%d) is a mean over its own part, and %s, so that "
              "the gradients are %g times those of the mean over all; the losses",
              c->loss_at.file ? c->loss_at.file : "", c->loss_at.line, how, c->times);
  text = dt_session_intern(g->s, dt_buf_str(&b));
  if (text == NULL) dt_error_clear(g->s->cx);
  dt_buf_fini(&b);
  return text ? text : "";
}

/* A distributed parameter is written: with what rate, and is its gradient as it is to
** be? */
static void updated (DtDiag *g, const DtEvent *e) {
  DtUnits *u = &g->units;
  const DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  const DtHandSum *s;
  double rate;
  if (e->status != DT_OK || e->backward || v == NULL || !v->is_param ||
      v->spec == NULL || v->grad == NULL) return;
  rate = dt_diag_alpha(e);
  if (rate == 1) rate = 0;
  s = find_hand(g, v->grad->local->storage->id);
  if (s && !u->told_hand) {
    u->told_hand = true;
    claim_scale(g, &s->scale, DT_FIND_ID_SUMMED_MEANS, rate,
                loss_words(g, &s->scale, "fully_shard averages over other ranks before "
                           "they are summed here"));
  }
  if (u->off.at.line > 0 && !u->told_off && !g->accumulates) {
    u->told_off = true;
    claim_scale(g, &u->off, DT_FIND_ID_UNITS_FACTOR, rate,
                loss_words(g, &u->off, "fully_shard divides the sum of their gradients by "
                           "another number than that of the ranks"));
  }
  if (u->local.summed && !u->told_local) {
    u->told_local = true;
    claim_scale(g, &u->local, DT_FIND_ID_LOCAL_MEAN, rate,
                loss_words(g, &u->local, "backward sums their gradients as those of parts "
                           "of one loss"));
  }
}

static bool writes_in_place (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_inplace(g, op);
}

/* --- a step that is written by hand --- */

/* What is subtracted, or added times a negative rate, is a gradient: how was it
** scaled on its way over the ranks? */
static void stepped (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->nin > 1 ? e->in[0] : NULL;
  const bool sub = strstr(e->op->sig->full, "sub_") != NULL;
  double rate = dt_diag_alpha(e);
  DtShareStep how;
  DtScale c;
  if (v == NULL || e->in[1] == NULL || e->status != DT_OK || e->backward || v->spec ||
      e->in[1]->spec || v->requires_grad || g->units.told_step ||
      dt_diag_by_grad(g, v->local->storage->id) != NULL ||
      !dt_diag_share_step(g, e->in[1]->local, &rate, &how)) return;
  if (!(sub ? rate > 0 : rate < 0) || fabs(rate) >= 1) return;
  c = (DtScale){ .at = how.twice ? how.divided_at : how.reduced_at,
                 .name = dt_diag_kept_name(g, e->in[1]), .times = how.over,
                 .loss = g->last_loss, .loss_at = g->root_at };
  g->units.told_step = true;
  if (how.twice)
    claim_scale(g, &c, DT_FIND_ID_DIVIDED_TWICE, 0, "a gradient that is averaged over the "
                "ranks is divided by their number again before it updates what the rank "
                "keeps; the losses");
  else
    claim_scale(g, &c, DT_FIND_ID_SUMMED_MEANS, rate,
                loss_words(g, &c, "their gradients are summed and not divided"));
}

static bool steps (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_inplace(g, op) && (dt_diag_op_is(g, op, DT_DO_ADD) ||
                                    strncmp(op->sig->full, "aten.sub_.", 10) == 0);
}

const DtDiagRule dt_rules_units[] = {
  { DT_EV_FUNC_END, local_back, NULL, 0 },
  { DT_EV_GRAD, local_summed, NULL, 0 },
  { DT_EV_OP_END, scaled, scales, 0 },
  { DT_EV_OP_END, updated, writes_in_place, 0 },
  { DT_EV_OP_END, stepped, steps, DT_WHEN(nshares) },
  { 0, NULL, NULL, 0 }
};
