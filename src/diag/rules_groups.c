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
**   its own. */
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

void dt_diag_groups (DtDiag *g) {
  bool reduced = false;
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
