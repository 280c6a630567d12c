/* SPDX-License-Identifier: MIT
** diag/rules_result.c: what nobody uses although it was made to be used.
**
** - Functional collectives return their result and leave what they are given as
**   it is.  Where no rank ever uses the result of a line, and what was given is,
**   somebody took them for the collectives in place.
** - full_tensor() of a parameter is a copy: what is written into it is lost unless
**   somebody reads it.
** - A checkpoint that was loaded into copies which nobody reads, while a model is
**   used, was not loaded. */
#include <string.h>
#include "diag/diag_int.h"

/* An entry for `v`; NULL: no room. */
static DtResult *add_result (DtDiag *g, DtFindId id, const DtVar *v,
                             const char *name) {
  DtResult *r = NULL;
  for (int i = 0; i < g->nresults && r == NULL; i++)
    if (g->result[i].used) r = &g->result[i];
  if (r == NULL && g->nresults < DT_RESULTS) r = &g->result[g->nresults++];
  if (r == NULL) return NULL;
  name = dt_session_intern(g->s, name);
  if (name == NULL) dt_error_clear(g->s->cx);
  *r = (DtResult){ .id = id, .storage = v->local->storage->id,
                   .name = name ? name : "" };
  return r;
}

void dt_diag_result (DtDiag *g, const DtVar *in, const DtVar *out) {
  DtResult *r;
  if (!g->on || g->d->muted || in->spec || out->spec ||
      in->local->storage == out->local->storage) return;
  r = add_result(g, DT_FIND_ID_RESULT_DROPPED, out, dt_diag_name(g, in));
  if (r == NULL) return;
  r->in = in->id;
  r->at = dt_diag_here(g, "all_reduce");
}

/* --- copies of parameters --- */

void dt_diag_copy_of (DtDiag *g, const DtVar *p, const DtVar *copy) {
  if (!g->on || g->d->muted || p->grad_fn || copy->spec ||
      !(p->is_param || p->requires_grad) ||
      p->local->storage == copy->local->storage) return;
  dt_idset_add(g, &g->copies, copy->local->storage->id);
}

static DtResult *find_result (DtDiag *g, DtFindId id, int64_t storage) {
  for (int i = 0; i < g->nresults; i++)
    if (g->result[i].id == id && g->result[i].storage == storage)
      return &g->result[i];
  return NULL;
}

void dt_diag_shows (DtDiag *g, const DtVar *copy, const DtVar *p) {
  const int64_t id = copy->local ? copy->local->storage->id : 0;
  DtResult *r;
  if (!g->on || g->d->muted || copy->spec || id == 0 ||
      (p && p->local->storage->id == id)) return;
  if (p) { dt_idset_add(g, &g->shown, id); return; }
  dt_idset_del(&g->shown, id);
  r = find_result(g, DT_FIND_ID_COPY_LOST, id);
  if (r == NULL) return;
  r->let_go = r->went_on = true;
  r->storage = 0;               /* nobody reads it any more */
}

/* Filled, scaled by a number or written over.  What another tensor is added to
** is kept on purpose, as an average is, but where a module shows it. */
static void copy_written (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  const bool shown = v && g->shown.n > 0 &&
                     dt_idset_has(&g->shown, v->local->storage->id);
  DtResult *r;
  if (e->status != DT_OK || e->backward || v == NULL || v->spec ||
      (!shown && !dt_idset_has(&g->copies, v->local->storage->id))) return;
  r = find_result(g, DT_FIND_ID_COPY_LOST, v->local->storage->id);
  if (!shown && e->nin > 1 && !dt_diag_is(g, e, DT_DO_COPY)) {
    dt_idset_del(&g->copies, v->local->storage->id);
    if (r) r->used = true;
    return;
  }
  if (r == NULL)
    r = add_result(g, DT_FIND_ID_COPY_LOST, v, dt_diag_name(g, v));
  if (r == NULL) return;
  r->at = (DtOrigin){ .op = e->op->sig->full, .file = e->file, .line = e->line,
                      .seq = e->seq };
}

/* The same where modules show some and nobody called full_tensor(). */
static void shown_written (DtDiag *g, const DtEvent *e) {
  if (g->copies.n == 0) copy_written(g, e);
}

void dt_diag_filled (DtDiag *g, const DtVar *v, const char *key) {
  DtResult *r;
  if (!g->on || g->d->muted) return;
  if (dt_idset_has(&g->params, v->local->storage->id)) g->filled = true;
  if (g->filled) return;                /* the model's own */
  r = add_result(g, DT_FIND_ID_LOADED_ASIDE, v, key);
  if (r) r->at = dt_diag_here(g, "load");
}

/* A few of each call tell enough. */
void dt_diag_restored (DtDiag *g, const DtVar *v, const char *key) {
  enum { FEW = 4 };
  DtResult *r;
  int n = 0;
  if (!g->on || g->d->muted || v->local == NULL) return;
  for (int i = 0; i < g->nresults; i++)
    n += g->result[i].id == DT_FIND_ID_LOADED_DROPPED && !g->result[i].used &&
         g->result[i].in == -g->nloads;
  r = n < FEW ? add_result(g, DT_FIND_ID_LOADED_DROPPED, v, key) : NULL;
  if (r == NULL) return;
  r->in = -g->nloads;           /* no variable's id */
  r->at = dt_diag_here(g, "load_state_dict");
}

void dt_diag_restoring (DtDiag *g) { g->nloads++; }

void dt_diag_moments_left (DtDiag *g, const char *name) {
  g->left = g->on && !g->d->muted && name ? dt_session_intern(g->s, name) : NULL;
  if (g->left) g->left_at = dt_diag_here(g, "load");
  else if (name) dt_error_clear(g->s->cx);
}

void dt_diag_moments_fresh (DtDiag *g) {
  DtOrigin step = dt_diag_here(g, "step");
  DtBuf b;
  if (g->left == NULL || g->left_at.line == 0) return;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "%s and others were saved and are not loaded here; the optimizer begins "
              "with moments of zero at %s:%d", g->left, step.file, step.line);
  dt_diag_put_at(g, DT_FIND_ID_MOMENTS_FRESH, &g->left_at, "", &b);
  g->left = NULL;
}

void dt_diag_param (DtDiag *g, const DtVar *v) {
  if (dt_idset_has(&g->params, v->local->storage->id))
    dt_idset_add(g, &g->tied, v->local->storage->id);
  dt_idset_add(g, &g->params, v->local->storage->id);
}

/* A copy was made when it was copied, and says nothing of the order of layers. */
static bool is_made (const DtDiag *g, const DtVar *v) {
  static const char *const copies[] = { "clone", "copy", "_like", NULL };
  const char *op = v->origin.op;
  for (int i = 0; op && copies[i]; i++)
    if (strstr(op, copies[i])) return false;
  return v->spec == NULL && dt_idset_has(&g->params, v->local->storage->id);
}

/* Numbers of storages go up. */
int dt_diag_params_between (const DtDiag *g, const DtVar *a, const DtVar *b, int *all) {
  const int64_t from = a->local->storage->id, to = b->local->storage->id;
  int n = 0;
  *all = g->params.n;
  if (!is_made(g, a) || !is_made(g, b) || to < from) return -1;
  for (int i = 0; i < g->params.cap; i++)     /* a table with gaps */
    if (g->params.v[i] > from && g->params.v[i] < to) n++;
  return n;
}

/* --- who reads them --- */

/* What one call gave is used: what others of this line gave may be thrown away, as
** losses are that are shown at every tenth step. */
static void use_result (DtDiag *g, DtResult *r) {
  r->used = true;
  if (r->at.line > 0 && (r->id == DT_FIND_ID_LOADED_DROPPED ||
                         r->id == DT_FIND_ID_RESULT_DROPPED))
    dt_idset_add(g, &g->used_lines, r->at.line);
}

static void mark_used (DtDiag *g, const DtVar *v) {
  for (int i = 0; i < g->nresults; i++) {
    DtResult *r = &g->result[i];
    if (v->local->storage->id == r->storage) use_result(g, r);
  }
}

void dt_diag_result_read (DtDiag *g, const DtVar *v) {
  if (g->nresults > 0) mark_used(g, v);
  dt_diag_unread_taken(g, v);
}

void dt_diag_result_raw (DtDiag *g, const DtVar *in) {
  if (g->nresults > 0) mark_used(g, in);
  dt_diag_unread_taken(g, in);
}

/* What looks at a tensor without reading it does not count, nor does a write. */
static void on_read (DtDiag *g, const DtEvent *e) {
  const bool over = dt_diag_inplace(g, e->op), view = dt_diag_view(g, e->op);
  bool param = false;
  for (int i = 0; i < e->nin; i++) {
    const DtVar *v = e->in[i];
    if (v == NULL) continue;
    param = param || v->is_param;
    for (int k = 0; k < g->nresults; k++) {
      DtResult *r = &g->result[k];
      const bool dropped = r->id == DT_FIND_ID_RESULT_DROPPED;
      if (v->id == r->in && !r->to_local) r->went_on = true;
      if (v->local->storage->id == r->storage &&
          (dropped || r->id == DT_FIND_ID_LOADED_DROPPED ||
           (!view && !(over && i == 0)))) use_result(g, r);
    }
  }
  for (int k = 0; k < g->nresults && param && !over && !e->backward; k++)
    if (g->result[k].id != DT_FIND_ID_RESULT_DROPPED &&
        (g->result[k].id != DT_FIND_ID_LOADED_DROPPED || g->s->grad_enabled))
      g->result[k].went_on = true;
}

/* distribute_tensor, from_local and the like are given it.  to_local() of what was
** to be reduced: somebody took redistribute() for a call in place. */
static void on_call (DtDiag *g, const DtEvent *e) {
  for (int i = 0; e->op == NULL && i < e->nin; i++) {
    if (e->in[i] == NULL) continue;
    mark_used(g, e->in[i]);
    for (int k = 0; k < g->nresults && !e->backward; k++)
      if (e->in[i]->id == g->result[k].in && strcmp(e->text, "dtensor.to_local") == 0)
        g->result[k].went_on = true;
  }
}

static void on_redistributed (DtDiag *g, const DtEvent *e) {
  DtResult *r;
  if (e->op != NULL || e->status != DT_OK || e->backward || g->nfunc > 0 ||
      e->nin < 1 || e->nout < 1 || e->in[0] == NULL || e->out[0] == NULL ||
      strcmp(e->text, "dtensor.redistribute") != 0 || e->in[0]->spec == NULL ||
      e->out[0]->spec == NULL || !dt_diag_partial(e->in[0]->spec) ||
      e->in[0]->local->storage == e->out[0]->local->storage) return;
  r = add_result(g, DT_FIND_ID_RESULT_DROPPED, e->out[0],
                 dt_diag_name(g, e->in[0]));
  if (r == NULL) return;
  r->in = e->in[0]->id;
  r->to_local = true;
  r->at = dt_diag_here(g, "redistribute");
}

static const char *why_unused (const DtResult *r) {
  const DtFindId id = r->id;
  return r->let_go
    ? "the gathered parameter was written while the module showed it, and let go of "
      "before anybody read it: its parts are as they were"
    : id == DT_FIND_ID_COPY_LOST
    ? "full_tensor() of a parameter was written, and nobody read it since"
    : id == DT_FIND_ID_LOADED_ASIDE
    ? "nobody read what was loaded, parameters were used since"
    : id == DT_FIND_ID_LOADED_DROPPED
    ? "nobody read or updated what was loaded, and training went on with others"
    : "nobody used the result; what was given went on as it was";
}

/* Something of a checkpoint was used: then it was meant so. */
static bool is_load_used (const DtDiag *g) {
  for (int i = 0; i < g->nresults; i++)
    if (g->result[i].id == DT_FIND_ID_LOADED_ASIDE && g->result[i].used)
      return true;
  return false;
}

/* Told where no rank used it: one of them may show it, and the others need not. */
static void claim_dropped (DtDiag *g, const DtResult *r) {
  const DtEvent at = dt_diag_origin(&r->at, "");
  const DtFact unused = { true, 1 };
  DtClaim *c = dt_diag_claim_all(g, &at, r->id, NULL, -1, 0, 1, &unused, r->name,
                                 why_unused(r));
  if (c) c->plain = true;
}

void dt_diag_results (DtDiag *g) {
  bool aside = g->filled || is_load_used(g);
  int64_t told = 0;             /* one of a call */
  for (int i = 0; i < g->nresults; i++) {
    const DtResult *r = &g->result[i];
    DtFinding f = { .kind = dt_find_kind(r->id), .seq = r->at.seq,
                    .op = r->at.op, .file = r->at.file, .line = r->at.line,
                    .module = "" };
    const bool dropped = r->id == DT_FIND_ID_RESULT_DROPPED;
    const bool loaded = r->id == DT_FIND_ID_LOADED_DROPPED;
    if (r->used || !r->went_on || (loaded && told == r->in) ||
        ((loaded || dropped) && dt_idset_has(&g->used_lines, r->at.line))) continue;
    if (dropped) { claim_dropped(g, r); continue; }
    if (loaded) told = r->in;
    if (r->id == DT_FIND_ID_LOADED_ASIDE) {     /* told of the first */
      if (aside) continue;
      aside = true;
    }
    dt_diag_put(g, &f, 0, NULL, r->name, why_unused(r));
  }
  g->nresults = 0;
}

const DtDiagRule dt_rules_result[] = {
  { DT_EV_OP, on_read, NULL, DT_WHEN(nresults) },
  { DT_EV_FUNC, on_call, NULL, DT_WHEN(nresults) },
  { DT_EV_FUNC_END, on_redistributed, NULL, DT_CALLED(REDISTRIBUTE) },
  { DT_EV_OP_END, copy_written, dt_diag_inplace, DT_WHEN(copies.n) },
  { DT_EV_OP_END, shown_written, dt_diag_inplace, DT_WHEN(shown.n) },
  { 0, NULL, NULL, 0 }
};
