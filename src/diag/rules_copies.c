/* SPDX-License-Identifier: MIT
** diag/rules_copies.c: parameters that a program keeps equal by hand, as data
** parallel training does: made equal by a broadcast, they must get equal
** updates.  Where a reduction of a gradient was forgotten they drift apart.
**
** What a parameter holds after an update is claimed to be equal; that is said
** only when somebody asks, of what it holds then.  A program that averages its
** parameters themselves from time to time wants them to differ in between:
** what it reduces is forgotten for good. */
#include <string.h>
#include "diag/diag_int.h"

static int index_of (const DtDiag *g, int64_t storage) {
  for (int i = 0; i < g->ncopies; i++)
    if (g->copy[i].storage == storage) return i;
  return -1;
}

static DtCopy *find_copy (DtDiag *g, const DtTensor *t) {
  const int i = index_of(g, t->storage->id);
  return i < 0 ? NULL : &g->copy[i];
}

bool dt_diag_copied (const DtDiag *g, int64_t storage) {
  return index_of(g, storage) >= 0;
}

/* What was written after it was made equal says why the copies differ. */
const DtOrigin *dt_diag_rewrote (const DtDiag *g, int64_t storage) {
  const int i = index_of(g, storage);
  return i >= 0 && g->copy[i].rewrote.line > 0 ? &g->copy[i].rewrote : NULL;
}

bool dt_diag_chosen (const DtDiag *g, int64_t storage) {
  const int i = index_of(g, storage);
  return i >= 0 && !g->copy[i].managed;
}

static void drop_copy (DtDiag *g, DtCopy *c) {
  dt_mesh_unref(g->s->cx, c->mesh);
  *c = g->copy[--g->ncopies];
}

void dt_diag_copies_free (DtDiag *g) {
  while (g->ncopies > 0) drop_copy(g, &g->copy[0]);
}

/* `v` is a copy that is meant to be equal along the mesh dim; mesh NULL: its
** copies are averaged by the program, so they may differ in between. */
void dt_diag_replica (DtDiag *g, const DtVar *v, DtMesh *mesh, int mdim, bool managed) {
  DtCopy *c = find_copy(g, v->local);
  if (mesh == NULL) {
    if (c) c->averaged = true;
    return;
  }
  if (!g->on || g->d->muted || g->d->rec.off || v->spec ||
      !dt_dtype_is_float((DtDtype)v->local->m.dtype)) return;
  if (c == NULL) {
    if (g->ncopies == DT_COPIES) return;
    c = &g->copy[g->ncopies++];
    memset(c, 0, sizeof *c);
    c->storage = v->local->storage->id;
  }
  dt_mesh_unref(g->s->cx, c->mesh);
  c->mesh = dt_mesh_ref(mesh);
  c->mdim = mdim;
  c->version = v->local->storage->version;
  c->changed = false;
  c->rewrote.line = 0;
  c->managed = managed;
  if (managed) dt_diag_buffers_unread(g);
}

void dt_diag_replicated (DtDiag *g, const DtVar *local, const DtVar *p) {
  const DtSpec *s = p->spec;
  DtCopy *c;
  if (!p->is_param || g->s->grad_enabled) return;       /* it is about to be updated */
  for (int d = 0; d < s->npl; d++)
    if (dt_pl_is_replicate(s->pl[d]) && s->mesh->shape[d] > 1) {
      if (find_copy(g, local->local)) return;
      dt_diag_replica(g, local, s->mesh, d, true);
      c = find_copy(g, local->local);
      if (c) c->whole = true;
      return;
    }
}

void dt_diag_gradient_passed (DtDiag *g, const DtVar *v) {
  DtLearn *l = g->nlearn > 0 && !v->spec
               ? dt_diag_by_grad(g, v->local->storage->id) : NULL;
  if (l) l->passed = true;
}

/* A broadcast writes the root's gradient over those that the others computed.  Where
** another collective or a message took them before, the root may have made its own of all. */
void dt_diag_gradient_sent (DtDiag *g, const DtRecRaw *raw, const DtVar *in) {
  DtLearn *l = g->nlearn > 0 && !in->spec && !g->s->backward
               ? dt_diag_by_grad(g, in->local->storage->id) : NULL;
  const DtFact facts[2] = { { false, l ? l->came : 0 },
                            { false, l ? dt_diag_hash(in->local, false) : 0 } };
  const char *what;
  DtOrigin here;
  DtEvent at;
  if (l && strcmp(raw->kind, "broadcast") != 0) l->passed = true;
  if (l == NULL || l->met || l->passed || l->drawn || l->numel < 2) return;
  here = dt_diag_here(g, raw->kind);
  at = dt_diag_origin(&here, raw->kind);
  at.kind = DT_EV_COLL;
  what = dt_diag_learn_words(g, l, "%s: each rank computes a gradient of its own at %s:%d, "
                             "and gets another rank's in its place; the gradients");
  if (what) dt_diag_claim_all(g, &at, DT_FIND_ID_GRADS_REPLACED, raw->mesh, raw->mdim, 0, 2,
                              facts, l->name, what);
}

static void name_copy (DtDiag *g, DtCopy *c, const DtVar *p) {
  DtBuf b;
  dt_buf_init(&b, g->s->cx);
  c->name = dt_diag_kept_name(g, p);
  dt_buf_addf(&b, "the parameter %s%safter its update (%s)", c->name,
              *c->name ? " " : "", c->whole
              ? "it is Replicate, and its local tensors were written"
              : "a broadcast had made it equal");
  c->what = dt_diag_intern(g, &b);
}

/* Only what learns is a parameter. */
static void on_gradient (DtDiag *g, const DtEvent *e) {
  const DtVar *p = e->nin > 0 ? e->in[0] : NULL;
  DtCopy *c = p && !p->spec ? find_copy(g, p->local) : NULL;
  if (c && c->what == NULL) name_copy(g, c, p);
}

/* The library has averaged the gradient, and the program then made another in its place:
** where that differs between the ranks it is to be mended. */
static void made_anew (const DtDiag *g, DtCopy *c, const DtVar *p) {
  const DtOrigin *o = p->grad && !p->grad->spec ? &p->grad->origin : NULL;
  const DtLearn *l = dt_diag_by_storage(g, c->storage);
  if (o == NULL || !c->managed || o->op == NULL || o->line == 0 || l == NULL ||
      o->line == l->line || o->line == c->line ||
      l->grad == p->grad->local->storage->id) return;
  c->file = o->file;
  c->line = o->line;
  c->seq = o->seq;
}

/* A hook may update it while backward runs, before others' gradients met its own. */
static void on_update (DtDiag *g, const DtEvent *e) {
  int i;
  if (e->status != DT_OK || dt_session_no_data(g->s)) return;
  for (i = 0; i < e->nin; i++) {
    DtCopy *c = e->in[i] && !e->in[i]->spec
    ? find_copy(g, e->in[i]->local) : NULL;
    if (c && c->managed && c->what == NULL)
      name_copy(g, c, e->in[i]);        /* a gradient of torch.autograd.grad() */
    else if (c && c->what == NULL && i == 0 && e->line > 0 &&
             c->version != e->in[i]->local->storage->version)
      c->rewrote = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                               .line = e->line, .seq = e->seq };
    if (c == NULL || c->what == NULL ||
        c->version == e->in[i]->local->storage->version) continue;
    c->version = e->in[i]->local->storage->version;
    c->hash = dt_diag_hash(e->in[i]->local, false);
    c->changed = true;
    c->op = e->op;
    c->file = e->file;
    c->line = e->line;
    c->seq = e->seq;
    c->module = e->module;
    made_anew(g, c, e->in[i]);
  }
}

/* Where its gradient was reduced, that must differ too: else it is the update that does
** (rules_train.c says so). */
static bool updated_apart (DtDiag *g, const DtCopy *c, const DtEvent *e) {
  const DtLearn *l = dt_diag_by_storage(g, c->storage);
  DtFact facts[2] = { { false, c->hash } };
  if (l == NULL || !l->reduced || l->used == 0) return false;
  facts[1] = (DtFact){ false, l->used };
  dt_diag_claim_all(g, e, DT_FIND_ID_UNREDUCED, c->mesh, c->mdim, 0, 2, facts, c->name,
                    c->what);
  return true;
}

void dt_diag_let_go (DtDiag *g, const DtVar *v) {
  if (dt_dtype_is_float((DtDtype)v->local->m.dtype)) g->lets_go = true;
}

void dt_diag_copies (DtDiag *g) {
  int i;
  for (i = 0; i < g->ncopies; i++) {
    DtCopy *c = &g->copy[i];
    DtEvent e = { .kind = DT_EV_OP, .op = c->op, .file = c->file,
                  .line = c->line, .seq = c->seq,
                  .module = c->module ? c->module : "" };
    if (!c->changed || c->averaged || c->rewrote.line > 0) continue;
    c->changed = false;
    if (g->lets_go) continue;
    if (updated_apart(g, c, &e)) continue;
    dt_diag_claim_named(g, &e, DT_FIND_ID_UNREDUCED, false, c->mesh, c->mdim,
                        c->name, c->hash, c->what);
  }
}

const DtDiagRule dt_rules_copies[] = {
  { DT_EV_GRAD, on_gradient, NULL, DT_WHEN(ncopies) },
  { DT_EV_OP_END, on_update, dt_diag_inplace, DT_WHEN(ncopies) },
  { 0, NULL, NULL, 0 }
};
