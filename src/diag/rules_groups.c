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
**   though a function of the program joins those and others in one model. */
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
      l->numel < 2 || l->start == 0 || l->last == 0 || l->reduced_at.line == 0 ||
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

static void claim_in_group (DtDiag *g, const DtLearn *l, int64_t nr) {
  const DtFact facts[4] = { { false, l->last }, { true, l->start }, { false, l->used },
                            { true, (uint64_t)l->steps + 1 } };
  DtEvent e = dt_diag_origin(&l->reduced_at, "all_reduce");
  const char *what = is_reduced_in_group(g, l) ? dt_diag_learn_words(
    g, l, "%s was equal on all ranks; its gradient, from %s:%d, is reduced over some of "
          "them only, and the model goes over others, too") : NULL;
  if (what) dt_diag_claim_all(g, &e, DT_FIND_ID_DRIFT, NULL, -1, DT_SALT_IN_GROUP + nr,
                              4, facts, l->name, what);
}

void dt_diag_groups (DtDiag *g) {
  bool reduced = false;
  for (int i = 0; i < g->nlearn && !g->moved && !g->averaged; i++)
    claim_in_group(g, &g->learn[i], i);
  for (int i = 0; i < g->nlearn; i++) reduced = reduced || g->learn[i].reduced;
  for (int i = 0; i < g->nlearn && g->moved && !g->averaged; i++)
    if (g->piped) {
      claim_tied(g, &g->learn[i]);
      claim_stage(g, &g->learn[i], i);
    }
    else if (reduced) claim_expert(g, &g->learn[i], i);
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
  { 0, NULL, NULL, 0 }
};
