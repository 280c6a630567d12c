/* SPDX-License-Identifier: MIT
** diag/rules_groups.c: parameters that some ranks hold copies of and others do not,
** where activations travel between the ranks.
**
** Who holds a copy is not known by a group of the program, but by the values that
** the parameter began with: ranks with the same ones claim under one key.
**
** - A weight that two stages of a pipeline share, as input and output embeddings
**   do: two modules had it, or one stage looks rows up in it and the other multiplies
**   with it.  Stages that were merely drawn with one seed are none.
** - A stage that several pipelines have, as with data parallelism beside it: each
**   trained its copy on its own.
** - Experts: some ranks, not all, began with the same one, and each trained it on
**   its own.
** - A weight that all ranks began with, whose gradient is reduced over some of them,
**   though a function of the program joins those and others in one model.
** - A parameter that fully_shard or a placement cuts over some of the ranks, while the
**   data are dealt out to all of them, or one model goes over others, too.  Groups that
**   were merely begun alike, and are meant to part, share no data. */
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

/* `more`: what must differ besides, 0: nothing. */
static DtClaim *claim_copies (DtDiag *g, const DtLearn *l, DtFindId id,
                              uint64_t salt, uint64_t more, const char *words) {
  const DtFact facts[3] = { { false, l->last }, { false, l->came },
                            { false, more } };
  /* Of no line: the ranks may have it at different ones. */
  DtEvent e = { .kind = DT_EV_OP, .text = "update", .file = "", .module = "" };
  const char *what = dt_diag_learn_words(g, l, words);
  DtClaim *c;
  if (what == NULL || l->start == 0 || l->step.line == 0 || l->drawn) return NULL;
  c = dt_diag_claim_all(g, &e, id, NULL, -1, (int64_t)salt, more ? 3 : 2, facts,
                        l->name, what);
  if (c == NULL) return NULL;
  c->op = l->step.op;
  c->file = l->step.file;
  c->line = l->step.line;
  c->seq = l->step.seq;
  return c;
}

/* Looked up on one stage, multiplied with on another; or two modules had it. */
static void claim_tied (DtDiag *g, const DtLearn *l) {
  const uint64_t role = dt_idset_has(&g->looked, l->storage) ? 3 : 2;
  const bool tied = dt_idset_has(&g->tied, l->storage);
  DtClaim *c = claim_copies(g, l, DT_FIND_ID_TIED_APART, l->start, tied ? 0 : role,
                            "%s began with the values that another stage has of it; "
                            "its gradient, from %s:%d, is that of this stage's use "
                            "alone");
  if (c) c->some = DT_SOME;
}

static void claim_expert (DtDiag *g, const DtLearn *l, int64_t nr) {
  DtClaim *c = l->reduced || l->synced ? NULL : claim_copies(
    g, l, DT_FIND_ID_DRIFT, dt_hash_u64(l->start, (uint64_t)nr), 0,
    "%s was equal on some of the ranks; its gradient, from %s:%d, is another on each of "
    "them and was not reduced");
  if (c) c->some = DT_SOME_NOT_ALL;
}

void dt_diag_stage (DtDiag *g, int64_t index) {
  if (g->on && !g->d->muted)
    g->stages = dt_hash_u64(g->stages, (uint64_t)index + 1) | 1;
}

static void claim_stage (DtDiag *g, const DtLearn *l, int64_t nr) {
  const uint64_t salt = dt_hash_u64(dt_hash_u64(g->stages, l->start), (uint64_t)nr);
  DtClaim *c = g->stages == 0 || l->reduced || l->synced ? NULL : claim_copies(
    g, l, DT_FIND_ID_DRIFT, salt, 0,
    "%s began with the values that another copy of this stage has; its gradient, from "
    "%s:%d, is another on each of them and was not reduced");
  if (c) c->some = DT_SOME;
}

/* Does the group of this rank along `dim` of `mesh` have a rank that is not in that
** along `of_dim` of `of`?  Of groups of more ranks than are looked at: no. */
static bool reaches_beyond (const DtMesh *mesh, int dim, const DtMesh *of, int of_dim) {
  enum { MOST = 64 };
  int a[MOST], b[MOST];
  const int na = (int)mesh->shape[dim], nb = (int)of->shape[of_dim];
  if (!mesh->member || !of->member || na > MOST || nb > MOST) return false;
  dt_mesh_group(mesh, dim, mesh->my_rank, a);
  dt_mesh_group(of, of_dim, of->my_rank, b);
  for (int i = 0; i < na; i++) {
    bool found = false;
    for (int k = 0; k < nb && !found; k++) found = a[i] == b[k];
    if (!found) return true;
  }
  return false;
}

/* Reduced over a group that the model goes beyond, as those of all others are: nobody
** left some of them out on purpose. */
static bool is_reduced_in_group (const DtDiag *g, const DtLearn *l) {
  if (l->near == NULL || l->mesh == NULL || g->joint == NULL || l->drawn || l->synced ||
      l->numel < 2 || dt_diag_began_with(g, l) == 0 || l->last == 0 || l->reduced_at.line == 0 ||
      !reaches_beyond(g->joint, g->joint_dim, l->near, l->near_dim)) return false;
  for (int i = 0; i < g->nlearn; i++) {
    const DtLearn *other = &g->learn[i];
    if ((other->near && reaches_beyond(other->near, other->near_dim, l->near,
                                       l->near_dim)) ||
        (other->mesh && reaches_beyond(other->mesh, other->mdim, l->near,
                                       l->near_dim))) return false;
  }
  return true;
}

/* Of a vector of one value the ranks that first used it with the same claim under one
** key: others have other data, and say nothing of it. */
static void claim_in_group (DtDiag *g, const DtLearn *l, int64_t nr) {
  const uint64_t began = dt_diag_began_with(g, l);
  const uint64_t salt = l->start != 0 ? (uint64_t)(DT_SALT_IN_GROUP + nr)
                                      : dt_hash_u64(began, (uint64_t)(DT_SALT_IN_GROUP + nr));
  const DtFact facts[4] = { { false, l->last }, { true, began }, { false, l->used },
                            { true, (uint64_t)l->steps + 1 } };
  DtEvent e = dt_diag_origin(&l->reduced_at, "all_reduce");
  const char *what = is_reduced_in_group(g, l) ? dt_diag_learn_words(
    g, l, "%s was equal on all ranks; its gradient, from %s:%d, is reduced over some of "
          "them only, and the model goes over others, too") : NULL;
  DtClaim *c = what ? dt_diag_claim_all(g, &e, DT_FIND_ID_DRIFT, NULL, -1, (int64_t)salt,
                                        4, facts, l->name, what) : NULL;
  if (c && l->start == 0) c->some = DT_SOME;
}

void dt_diag_groups (DtDiag *g) {
  bool reduced = false;
  for (int weak = 0; weak < 2; weak++)  /* ones and zeros last, as in dt_diag_train */
    for (int i = 0; i < g->nlearn && !g->moved && !g->averaged; i++)
      if ((g->learn[i].start == 0) == (weak == 1)) claim_in_group(g, &g->learn[i], i);
  for (int i = 0; i < g->nlearn; i++) reduced = reduced || g->learn[i].reduced;
  for (int i = 0; i < g->nlearn && g->moved && !g->averaged; i++)
    if (g->piped) {
      claim_tied(g, &g->learn[i]);
      claim_stage(g, &g->learn[i], i);
    }
    else if (reduced) claim_expert(g, &g->learn[i], i);
}

/* --- pieces of groups that do not know of each other --- */

void dt_diag_besides_free (DtDiag *g) {
  for (int i = 0; i < g->nbesides; i++) dt_mesh_unref(g->s->cx, g->beside[i].mesh);
  for (int i = 0; i < g->nwraps; i++) dt_mesh_unref(g->s->cx, g->wrap[i].mesh);
  g->nbesides = g->nwraps = 0;
  g->sampled_all = false;
}

enum { WRAPS = sizeof ((DtDiag *)0)->wrap / sizeof ((DtDiag *)0)->wrap[0] };

void dt_diag_wraps (DtDiag *g, DtMesh *mesh) {
  if (g->nwraps == WRAPS || dt_mesh_size(mesh) >= dt_session_size(g->s)) return;
  for (int i = 0; i < g->nwraps; i++)
    if (dt_mesh_equal(g->wrap[i].mesh, mesh)) return;
  g->wrap[g->nwraps].mesh = dt_mesh_ref(mesh);
  g->wrap[g->nwraps++].at = dt_diag_here(g, "fully_shard");
}

/* Where it was cut; else where it is updated. */
static const DtOrigin *wrapped_at (const DtDiag *g, const DtBeside *b) {
  for (int i = 0; i < g->nwraps; i++)
    if (g->wrap[i].at.line > 0 && dt_mesh_equal(g->wrap[i].mesh, b->mesh))
      return &g->wrap[i].at;
  return &b->step;
}

static DtBeside *find_beside (DtDiag *g, const DtVar *p) {
  for (int i = 0; i < g->nbesides; i++)
    if (g->beside[i].storage == p->local->storage->id) return &g->beside[i];
  return NULL;
}

static bool is_cut (const DtSpec *s) {
  for (int m = 0; m < s->npl && m < s->mesh->ndim; m++)
    if (dt_pl_is_shard_like(s->pl[m]) && s->mesh->shape[m] > 1) return true;
  return false;
}

/* Before its first update a piece is what it began as. */
static void before_piece_update (DtDiag *g, const DtEvent *e) {
  for (int i = 0; !dt_session_no_data(g->s) && i < e->nin; i++) {
    const DtVar *p = e->in[i];
    if (p == NULL || p->spec == NULL || !p->is_param || p->grad == NULL ||
        !p->spec->mesh->member || !is_cut(p->spec) ||
        dt_mesh_size(p->spec->mesh) >= dt_session_size(g->s) ||
        g->nbesides == DT_BESIDES || find_beside(g, p)) continue;
    g->beside[g->nbesides++] = (DtBeside){
      .storage = p->local->storage->id, .mesh = dt_mesh_ref(p->spec->mesh),
      .start = dt_diag_sample(p->local), .came = dt_diag_sample(p->grad->local),
      .name = dt_diag_kept_name(g, p) };
  }
}

static void on_piece_update (DtDiag *g, const DtEvent *e) {
  for (int i = 0; e->status == DT_OK && i < e->nin; i++) {
    const DtVar *p = e->in[i];
    DtBeside *b = p && p->spec && p->is_param ? find_beside(g, p) : NULL;
    if (b == NULL) continue;
    b->last = dt_diag_sample(p->local);
    b->step = (DtOrigin){ .op = e->op->sig->full, .file = e->file, .line = e->line,
                          .seq = e->seq };
  }
}

/* What goes over other ranks, too, is not trained by this group alone: forget how it
** began, and nothing is claimed of it. */
static void on_piece_sent (DtDiag *g, const DtEvent *e) {
  if (e->mesh == NULL) return;
  for (int i = 0; i < e->nlocal; i++)
    for (int k = 0; e->local[i] && k < g->nbesides; k++) {
      DtBeside *b = &g->beside[k];
      if (b->storage == e->local[i]->storage->id && b->mesh->ndim == 1 &&
          (e->mdim < 0 ? dt_mesh_size(e->mesh) > dt_mesh_size(b->mesh)
                       : reaches_beyond(e->mesh, e->mdim, b->mesh, 0))) b->start = 0;
    }
}

static void claim_beside (DtDiag *g, const DtBeside *b, int64_t nr) {
  const DtFact facts[2] = { { false, b->last }, { false, b->came } };
  /* Each group has its own: they are known by what the pieces began with. */
  const uint64_t salt = dt_hash_u64(b->start, (uint64_t)nr);
  const DtEvent e = dt_diag_origin(wrapped_at(g, b), "update");
  DtClaim *c;
  DtBuf w;
  const char *what;
  if (b->start == 0 || b->came == 0 || b->last == 0 || b->step.line == 0) return;
  dt_buf_init(&w, g->s->cx);
  dt_buf_addf(&w, "%s is cut over groups of %lld ranks, which began with the same; its "
              "gradient is not reduced over the groups before %s:%d", b->name,
              (long long)dt_mesh_size(b->mesh), b->step.file, b->step.line);
  what = dt_diag_intern(g, &w);
  c = what ? dt_diag_claim_all(g, &e, DT_FIND_ID_GROUPS_APART, NULL, -1, (int64_t)salt, 2,
                               facts, b->name, what) : NULL;
  if (c) c->some = DT_SOME;
}

/* Does one model go over ranks that do not have the parameter's mesh? */
static bool is_joined (const DtDiag *g, const DtMesh *mesh) {
  return g->joint != NULL && mesh->ndim == 1 &&
         reaches_beyond(g->joint, g->joint_dim, mesh, 0);
}

void dt_diag_solo (DtDiag *g, const DtVar *v, const char *evidence) {
  if (!g->on || g->d->muted || g->solo_words || v->origin.line == 0) return;
  g->solo = v->local->storage->id;
  g->solo_at = v->origin;
  g->solo_words = dt_session_intern(g->s, evidence);
  if (g->solo_words == NULL) dt_error_clear(g->s->cx);
}

/* Not where the program itself reduces the gradients, or all ranks have one batch. */
static void claim_solo (DtDiag *g) {
  const DtLearn *l = g->solo_words ? dt_diag_by_storage(g, g->solo) : NULL;
  const DtFact facts[2] = { { false, l ? l->last : 0 }, { false, l ? l->came : 0 } };
  const DtEvent e = dt_diag_origin(&g->solo_at, "update");
  if (l && l->last != 0 && l->came != 0)
    dt_diag_claim_all(g, &e, DT_FIND_ID_GROUPS_APART, NULL, -1, DT_SALT_SOLO, 2, facts,
                      l->name, g->solo_words);
}

void dt_diag_besides (DtDiag *g) {
  if (g->moved || g->piped || g->averaged) return;
  claim_solo(g);
  for (int i = 0; i < g->nbesides; i++)
    if (g->sampled_all || is_joined(g, g->beside[i].mesh))
      claim_beside(g, &g->beside[i], i);
}

/* --- looked up --- */

static void on_lookup (DtDiag *g, const DtEvent *e) {
  const DtVar *w = e->nin > 0 ? e->in[0] : NULL;
  if (e->status == DT_OK && !e->backward && w && !w->spec && w->requires_grad)
    dt_idset_add(g, &g->looked, w->local->storage->id);
}

static bool looks_up (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.embedding.default",
    "aten.index.Tensor", "aten.index_select.default", "aten.embedding_bag.", NULL };
  (void)g;
  for (int i = 0; names[i]; i++)
    if (strncmp(op->sig->full, names[i], strlen(names[i])) == 0) return true;
  return false;
}

const DtDiagRule dt_rules_groups[] = {
  { DT_EV_OP_END, on_lookup, looks_up, 0 },
  { DT_EV_OP, before_piece_update, dt_diag_inplace, 0 },
  { DT_EV_COLL, on_piece_sent, NULL, DT_WHEN(nbesides) },
  { DT_EV_OP_END, on_piece_update, dt_diag_inplace, DT_WHEN(nbesides) },
  { 0, NULL, NULL, 0 }
};
