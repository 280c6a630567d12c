/* SPDX-License-Identifier: MIT
** diag/rules_noise.c: random numbers that ranks which share one activation, or one
** gradient, draw each for itself.
**
** What the ranks have alike meets such noise, element by element, then a part of a
** weight on each rank, and the results are summed: addends of different things (the
** experts, the router's choice, the masked tokens differ).  A gradient that each rank
** multiplies with its own random matrix and that is summed after: projections onto
** different rows.  Noise on what each rank has for itself (its batch, its columns) is
** as it should be, and so is noise that is the same on all. */
#include <string.h>
#include "diag/diag_int.h"

enum { NOISES = 256 };

typedef enum Met {
  MET_NOTHING,                  /* the numbers themselves, or a function of them */
  MET_PART,                     /* mixed with a part that each rank has of its own, */
  MET_ALIKE,                    /* with another tensor, element by element */
  MET_WEIGHT,                   /* ... then with a part of a weight */
  MET_GRADIENT,                 /* a gradient times them */
  MET_OTHER                     /* as MET_WEIGHT, the other one being the noise */
} Met;

typedef struct Noise {
  int64_t storage, version;
  Met met;
  uint64_t drawn, with;         /* values: of the numbers, of what they met, */
  bool either;                  /* which was drawn, too: either may be the noise */
  bool one;                     /* a single number: only a promise tells of it */
  DtOrigin at, begun;           /* there; where they were drawn */
  const char *name, *met_name;  /* theirs there, of what they met (interned) */
} Noise;

struct DtNoises { Noise v[NOISES]; };

void dt_diag_noises_free (DtDiag *g) {
  dt_free(g->s->cx, g->noises);
  g->noises = NULL;
  g->nnoises = 0;
}

static Noise *slot_of (const DtDiag *g, int64_t storage) {
  return &g->noises->v[(uint64_t)storage % NOISES];
}

static const Noise *find_noise (const DtDiag *g, const DtVar *v) {
  const Noise *w;
  if (g->noises == NULL || v == NULL || v->spec || v->is_param) return NULL;
  w = slot_of(g, v->local->storage->id);
  return w->storage == v->local->storage->id &&
         w->version == v->local->storage->version ? w : NULL;
}

bool dt_diag_is_noise (const DtDiag *g, const DtVar *v) {
  const Noise *w = find_noise(g, v);
  return w != NULL && w->met == MET_NOTHING;
}

static void put_noise (DtDiag *g, const DtVar *v, const Noise *w) {
  Noise one = *w;               /* it may lie in the slot */
  if (g->noises == NULL && (g->noises = DT_NEW(g->s->cx, struct DtNoises)) == NULL) {
    dt_error_clear(g->s->cx);
    return;
  }
  one.storage = v->local->storage->id;
  one.version = v->local->storage->version;
  *slot_of(g, one.storage) = one;
  g->nnoises++;
}

static bool is_plain (const DtVar *v) {
  return v != NULL && v->spec == NULL && !v->is_param && !v->local->storage->drawn &&
         dt_tensor_has_data(v->local);
}

/* What the noise `own` meets is noted where it does. */
static Noise noise_met (DtDiag *g, const DtEvent *e, const Noise *w, Met met,
                        const DtVar *own, const DtVar *with) {
  Noise to = *w;
  to.met = met;
  to.with = dt_diag_sample(with->local);
  to.at = (DtOrigin){ .op = e->op->sig->full, .file = e->file, .line = e->line,
                      .seq = e->seq };
  to.name = dt_diag_kept_name(g, own);
  to.met_name = dt_diag_kept_name(g, with);
  return to;
}

/* --- what passes it on --- */

static void on_drawn (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->nout > 0 ? e->out[0] : NULL;
  const bool dropout = e->nout > 1 && e->nin > 0;
  const Noise fresh = { .drawn = 0 };
  Noise to;
  if (e->status != DT_OK || e->backward || dt_session_no_data(g->s) || !is_plain(v) ||
      !dt_dtype_is_float((DtDtype)v->local->m.dtype)) return;
  if (!dropout) {
    to = fresh;
    to.begun = (DtOrigin){ .op = e->op->sig->full, .file = e->file, .line = e->line,
                           .seq = e->seq };
    to.one = dt_meta_numel(&v->local->m) == 1;
    to.drawn = to.one ? dt_diag_hash(v->local, false) : dt_diag_sample(v->local);
    put_noise(g, v, &to);
  } else if (is_plain(e->in[0]) && is_plain(e->out[1]) && !dt_diag_place(g, e->in[0])) {
    to = noise_met(g, e, &fresh, MET_ALIKE, NULL, e->in[0]);
    to.drawn = dt_diag_sample(e->out[1]->local);
    put_noise(g, v, &to);
  }
}

/* Mixed with `v`, element by element.  A part is each rank's own. */
static void mixed (DtDiag *g, const DtEvent *e, int at, const DtVar *v) {
  const DtVar *out = e->out[0];
  const Noise *w = find_noise(g, e->in[at]);
  Noise to;
  if (!is_plain(v) || g->s->backward ||
      !dt_meta_same_shape(&v->local->m, &out->local->m)) return;
  to = noise_met(g, e, w, dt_diag_place(g, v) ? MET_PART : MET_ALIKE, e->in[at], v);
  to.either = find_noise(g, v) != NULL;
  if (to.met == MET_PART) to.drawn = dt_diag_sample(e->in[at]->local);  /* a piece of it */
  put_noise(g, out, &to);
}

/* A gradient times the numbers. */
static void projected (DtDiag *g, const DtEvent *e, int at, const DtVar *v) {
  const Noise *w = find_noise(g, e->in[at]);
  Noise to;
  if (v == NULL || v->spec || !dt_diag_by_grad(g, v->local->storage->id)) return;
  to = noise_met(g, e, w, MET_GRADIENT, e->in[at], v);
  put_noise(g, e->out[0], &to);
}

static bool is_part_of_weight (const DtDiag *g, const DtVar *v) {
  const DtPlace *w = v && !v->spec && (v->is_param || v->requires_grad)
                     ? dt_diag_place(g, v) : NULL;
  return w && w->kind == DT_PLACE_PART;
}

/* One input is, or comes of, such numbers. */
static void passed (DtDiag *g, const DtEvent *e, int at) {
  const Noise *w = find_noise(g, e->in[at]);
  Noise to = *w;
  const Met was = w->met;
  int others = 0;
  if (was == MET_GRADIENT || (was == MET_PART && e->nin > 1)) return;
  for (int i = 0; i < e->nin; i++) {
    const DtVar *v = e->in[i];
    if (i == at || v == NULL || v->local->storage->id == to.storage) continue;
    if (dt_meta_numel(&v->local->m) == 1) continue;
    others++;
    if (was == MET_NOTHING && others == 1) {
      if (dt_diag_product(e->op)) projected(g, e, at, v);
      else mixed(g, e, at, v);
    }
    if (is_part_of_weight(g, v)) to.met = MET_WEIGHT;
  }
  if (was != MET_NOTHING || others == 0) put_noise(g, e->out[0], &to);
}

static void on_op (DtDiag *g, const DtEvent *e) {
  int at = -1;
  if (e->status != DT_OK || e->backward || e->nout < 1 || e->out[0] == NULL ||
      e->out[0]->spec || e->out[0]->is_param || dt_session_no_data(g->s)) return;
  for (int i = 0; i < e->nin; i++) {
    const Noise *w = find_noise(g, e->in[i]);
    if (w && (at < 0 || w->met > find_noise(g, e->in[at])->met)) at = i;
  }
  if (at >= 0) passed(g, e, at);
}

/* --- summed over the ranks --- */

static void claim_own (DtDiag *g, const DtRecRaw *raw, const Noise *w, uint64_t drawn,
                       uint64_t with, const char *name, int64_t salt) {
  const DtFact facts[2] = { { false, drawn }, { w->met == MET_WEIGHT, with } };
  const DtEvent e = dt_diag_origin(&w->at, raw->kind);
  dt_diag_claim_all(g, &e, DT_FIND_ID_OWN_NOISE, raw->mesh, raw->mdim, salt, 2, facts,
                    name, w->met == MET_WEIGHT
                    ? "it meets what is the same on all ranks, and that meets each "
                      "one's part of a weight; what was drawn"
                    : "each rank's gradient is multiplied with it, the products are "
                      "summed; what was drawn");
}

/* Parts of rows or columns were mixed with numbers that are the same on all ranks, and
** are then said to be those of one tensor.  A batch may have them: dimension 0. */
static void repeated (DtDiag *g, const DtSpec *s, int m, const Noise *w) {
  const DtFact facts[2] = { { true, w->drawn }, { false, w->with } };
  const DtEvent at = dt_diag_origin(w->begun.line > 0 ? &w->begun : &w->at, "from_local");
  if (!dt_pl_is_shard(s->pl[m]) || s->pl[m].dim == 0 || s->mesh->shape[m] < 2) return;
  dt_diag_claim_all(g, &at, DT_FIND_ID_SAME_NOISE, s->mesh, m, MET_PART, 2, facts, w->name,
                    "it meets a part on each rank; what was drawn");
}

/* What is the same on all ranks was mixed with numbers of each one's own, and is then
** said to be Replicate. */
static void promised (DtDiag *g, const DtEvent *e) {
  const DtSpec *s = e->nout > 0 && e->out[0] ? e->out[0]->spec : NULL;
  const Noise *w = e->nin > 0 ? find_noise(g, e->in[0]) : NULL;
  if (s == NULL || w == NULL || (w->met != MET_ALIKE && w->met != MET_PART) ||
      w->at.line == 0 || e->status != DT_OK || e->backward) return;
  for (int m = 0; m < s->npl && m < s->mesh->ndim && w->met == MET_PART; m++)
    repeated(g, s, m, w);
  for (int m = 0; m < s->npl && m < s->mesh->ndim && w->met == MET_ALIKE; m++) {
    const DtFact facts[2] = { { false, w->drawn }, { true, w->with } };
    const DtEvent at = dt_diag_origin(&w->at, "from_local");
    if (!dt_pl_is_replicate(s->pl[m]) || s->mesh->shape[m] < 2) continue;
    dt_diag_claim_all(g, &at, DT_FIND_ID_OWN_NOISE, s->mesh, m, MET_ALIKE, 2, facts,
                      w->name, "it meets what is the same on all ranks, and the result is "
                      "said to be Replicate; what was drawn");
  }
}

void dt_diag_noise_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in) {
  const Noise *w = find_noise(g, in);
  const bool sum = strstr(raw->kind, "reduce") && raw->reduce &&
                   (strcmp(raw->reduce, "sum") == 0 || strcmp(raw->reduce, "avg") == 0);
  if (w == NULL || w->one || !sum || g->s->backward || w->met < MET_WEIGHT) return;
  claim_own(g, raw, w, w->drawn, w->with, w->name, w->met);
  if (w->either && w->met == MET_WEIGHT)
    claim_own(g, raw, w, w->with, w->drawn, w->met_name, MET_OTHER);
}

static bool draws (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return (op->flags & DT_OP_RANDOM) != 0;
}

static bool passes_on (const DtDiag *g, const DtOpDef *op) { return !draws(g, op); }

const DtDiagRule dt_rules_noise[] = {
  { DT_EV_OP_END, on_drawn, draws, 0 },
  { DT_EV_FUNC_END, promised, NULL, DT_CALLED(FROM_LOCAL) },
  { DT_EV_OP_END, on_op, passes_on, DT_WHEN(nnoises) },
  { 0, NULL, NULL, 0 }
};
