/* SPDX-License-Identifier: MIT
** diag/rules_master.c: copies of parameters that are trained in their place.
**
** Master weights of more digits, or all parameters in one flat tensor: gradients of
** the parameters update the copy, which must come back, or share its memory with them.
** Where it does neither, the parameters stay as they were, and each gradient is that of
** the same values again.
**
** A copy that is updated once (a step that is tried out) says nothing, nor do
** parameters that get new memory in each step. */
#include <string.h>
#include "diag/diag_int.h"

enum { MASTERS = 32, FED = 512 };

/* Made of parameters alone; updated with their gradients so often, the last time with
** those of the `pass`-th backward. */
typedef struct Master {
  int64_t storage, version;
  int times, pass;
  const char *name;             /* interned */
  DtOrigin at;
} Master;

struct DtMasters {
  Master v[MASTERS];            /* a ring */
  int passes, behind;           /* gradients of the first parameter; those that came
                                ** after a copy was updated */
  int64_t fed[FED];             /* storages made with gradients, by their number */
};

static Master *find_master (const DtDiag *g, const DtVar *v) {
  for (int i = 0; v && !v->spec && i < MASTERS; i++)
    if (g->masters->v[i].storage == v->local->storage->id) return &g->masters->v[i];
  return NULL;
}

static Master *add_master (DtDiag *g, const DtTensor *t) {
  Master *m;
  if (g->masters == NULL && (g->masters = DT_NEW(g->s->cx, struct DtMasters)) == NULL) {
    dt_error_clear(g->s->cx);
    return NULL;
  }
  m = &g->masters->v[g->nmasters++ % MASTERS];
  *m = (Master){ .storage = t->storage->id, .version = t->storage->version, .name = "" };
  return m;
}

void dt_diag_masters_free (DtDiag *g) {
  dt_free(g->s->cx, g->masters);
  g->masters = NULL;
  g->nmasters = 0;
}

/* --- made --- */

void dt_diag_param_moved (DtDiag *g, const DtVar *v) {
  if (g->on && v->local && g->nlearn == 0)
    dt_idset_add(g, &g->moved_params, v->local->storage->id);
}

static bool is_of_param (const DtDiag *g, const DtVar *v) {
  return dt_idset_has(&g->params, v->local->storage->id) ||
         dt_idset_has(&g->moved_params, v->local->storage->id);
}

static void on_copied (DtDiag *g, const DtEvent *e) {
  if (e->status != DT_OK || e->backward || g->nlearn > 0 || e->nin < 1 || e->nout < 1 ||
      e->out[0] == NULL || e->out[0]->spec || e->out[0]->grad_fn) return;
  for (int i = 0; i < e->nin; i++)
    if (e->in[i] && !is_of_param(g, e->in[i])) return;
  if (!is_of_param(g, e->out[0])) add_master(g, e->out[0]->local);
}

static bool copies (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_clones(g, op) || dt_diag_flattens(g, op) ||
         dt_diag_op_is(g, op, DT_DO_STACK);
}

/* --- updated --- */

static bool is_fed (const DtDiag *g, const DtVar *v) {
  const int64_t id = v->local->storage->id;
  return g->masters->fed[(uint64_t)id % FED] == id || dt_diag_by_grad(g, id) != NULL;
}

static void update (DtDiag *g, Master *m, const DtEvent *e, const DtVar *v) {
  if (m->pass == g->masters->passes) return;
  if (*m->name == '\0') m->name = dt_diag_kept_name(g, v);
  m->pass = g->masters->passes;
  m->times++;
  m->at = (DtOrigin){ .op = e->op->sig->full, .file = e->file, .line = e->line,
                      .seq = e->seq };
}

/* A copy that was written: its own memory, or by what takes its place. */
static void on_met (DtDiag *g, Master *m, const DtEvent *e, const DtVar *v) {
  const int64_t version = v->local->storage->version;
  if (m->version == version) return;
  m->version = version;
  update(g, m, e, v);
}

static void replaced (DtDiag *g, const Master *by, const DtEvent *e) {
  const Master was = *by;
  const DtVar *out = e->out[0];
  Master *m = add_master(g, out->local);
  m->times = was.times;
  m->pass = was.pass;
  m->name = was.name;
  update(g, m, e, out);
}

static void feed (DtDiag *g, const DtVar *v) {
  if (v && !v->spec && !find_master(g, v))
    g->masters->fed[(uint64_t)v->local->storage->id % FED] = v->local->storage->id;
}

/* What comes of gradients is fed by them, also the moments of an optimizer; a copy
** that they meet is updated.  Lists of tensors are met as a whole. */
static void on_computed (DtDiag *g, const DtEvent *e) {
  const bool inplace = dt_diag_inplace(g, e->op);
  bool fed = false;
  if (g->updates > 0 || g->masters->passes == 0 || e->status != DT_OK || e->backward)
    return;
  for (int i = 0; i < e->nin && !fed; i++)
    fed = e->in[i] && !e->in[i]->spec && is_fed(g, e->in[i]);
  if (!fed) return;
  for (int i = 0; inplace && i < e->nin; i++) {
    Master *m = find_master(g, e->in[i]);
    if (m) on_met(g, m, e, e->in[i]);
    else feed(g, e->in[i]);
  }
  if (inplace || e->nout < 1 || e->out[0] == NULL || e->out[0]->spec) return;
  if (find_master(g, e->in[0])) replaced(g, find_master(g, e->in[0]), e);
  else for (int k = 0; k < e->nout; k++) feed(g, e->out[k]);
}

static bool computes (const DtDiag *g, const DtOpDef *op) {
  return !dt_diag_view(g, op);
}

/* --- gradients of the parameters --- */

static bool any_updated (const DtDiag *g) {
  for (int i = 0; i < MASTERS; i++)
    if (g->masters->v[i].times > 0) return true;
  return false;
}

static void on_gradient (DtDiag *g, const DtEvent *e) {
  const DtVar *p = e->nin > 0 ? e->in[0] : NULL;
  if (p == NULL || p->spec || g->nlearn == 0 ||
      dt_diag_by_storage(g, p->local->storage->id) != &g->learn[0]) return;
  g->masters->passes++;
  if (any_updated(g)) g->masters->behind++;
}

/* What ranks that train for themselves send each other: how far a parameter is from
** where they began. */
static void on_difference (DtDiag *g, const DtEvent *e) {
  const DtVar *out = e->nout > 0 ? e->out[0] : NULL;
  if (e->status != DT_OK || e->backward || out == NULL || out->spec || out->requires_grad)
    return;
  for (int i = 0; i < e->nin; i++)
    if (e->in[i] && !e->in[i]->spec &&
        dt_meta_same_shape(&e->in[i]->local->m, &out->local->m) &&
        dt_diag_by_storage(g, e->in[i]->local->storage->id) != NULL)
      dt_idset_add(g, &g->differences, out->local->storage->id);
}

static bool subtracts (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.sub.Tensor", NULL };
  (void)g;
  return dt_diag_named(op, names);
}

/* --- when somebody asks --- */

void dt_diag_masters (DtDiag *g) {
  enum { OFTEN = 2 };
  const Master *m = NULL;
  DtBuf b;
  if (g->masters == NULL || g->masters->behind < OFTEN || g->updates > 0) return;
  for (int i = 0; i < MASTERS; i++)
    if (g->masters->v[i].times >= OFTEN) m = &g->masters->v[i];
  for (int i = 0; i < g->nlearn; i++)
    if (g->learn[i].steps > 0) return;
  if (m == NULL) return;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "a copy of parameters was updated with their gradients %d times; %s, "
              "whose gradients come from %s:%d, has the values it began with",
              m->times, dt_diag_learn_name(&g->learn[0]), g->learn[0].file,
              g->learn[0].line);
  dt_diag_put_at(g, DT_FIND_ID_COPY_TRAINED, &m->at,
                 *m->name ? m->name : dt_diag_learn_name(&g->learn[0]), &b);
}

const DtDiagRule dt_rules_master[] = {
  { DT_EV_OP_END, on_copied, copies, DT_WHEN(params.n) },
  { DT_EV_GRAD, on_gradient, NULL, DT_WHEN(nmasters) },
  { DT_EV_OP_END, on_computed, computes, DT_WHEN(nmasters) },
  { DT_EV_OP_END, on_difference, subtracts, DT_WHEN(nlearn) },
  { 0, NULL, NULL, 0 }
};
