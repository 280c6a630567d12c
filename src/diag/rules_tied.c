/* SPDX-License-Identifier: MIT
** diag/rules_tied.c: a norm over ranks of which some share a gradient.
**
** The first and the last stage of a pipeline have the embedding, and sum its gradient
** among themselves; the norms' gradients of a tensor parallel model are summed over its
** ranks.  Where the squares of such a gradient are summed with those of each rank's own
** parameters, and the sum goes over all these ranks, the shared gradient counts once for
** each.  One rank that leaves it out is enough to make it right, so each rank says what
** it counted, and two must have counted the same.  A sum that is divided, or from which
** something is taken away, was mended by the program. */
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

enum { MOST_RANKS = 64 };

/* The ranks of a group, a bit each; 0: too many. */
static uint64_t ranks_of (const DtMesh *mesh, int mdim) {
  const int64_t n = mdim >= 0 ? mesh->shape[mdim] : dt_mesh_size(mesh);
  uint64_t all = 0;
  int one[MOST_RANKS];
  int64_t every[MOST_RANKS];
  if (n > MOST_RANKS) return 0;
  if (mdim >= 0) dt_mesh_group(mesh, mdim, mesh->my_rank, one);
  else dt_mesh_ranks(mesh, every);
  for (int i = 0; i < n; i++) {
    const int64_t r = mdim >= 0 ? one[i] : every[i];
    if (r >= MOST_RANKS) return 0;
    all |= UINT64_C(1) << r;
  }
  return all;
}

static bool are_several (uint64_t ranks) { return (ranks & (ranks - 1)) != 0; }

static DtTied *tied_slot (DtDiag *g, const DtVar *v) {
  return &g->ties[(uint64_t)v->local->storage->id % DT_TIED];
}

static DtTiedSum *sum_slot (DtDiag *g, const DtVar *v) {
  return &g->tied_sum[(uint64_t)v->local->storage->id % DT_TIED];
}

/* A gradient has been reduced over these ranks. */
static void note_tied (DtDiag *g, const DtVar *grad, uint64_t ranks) {
  DtTied *t = tied_slot(g, grad);
  const int64_t id = grad->local->storage->id;
  if (t->storage != id) *t = (DtTied){ .storage = id };
  t->ranks |= ranks;
  t->name = dt_diag_learn_name(dt_diag_by_grad(g, id));
  g->nties++;
}

/* Shares of this rank's squares by the ranks that have the same. */
static void add_term (DtTiedSum *to, uint64_t ranks, uint64_t hash, const char *name) {
  for (int i = 0; i < to->n; i++) {
    if (to->term[i].ranks != ranks) continue;
    to->term[i].hash = dt_hash_u64(to->term[i].hash, hash) | 1;
    return;
  }
  if (to->n < DT_TIED_TERMS)
    to->term[to->n++] = (DtTiedTerm){ ranks, hash | 1, name };
}

/* What `v` adds to a sum of squares: it is one already, or a whole gradient. */
static void add_squares (DtDiag *g, const DtVar *v, DtTiedSum *to) {
  const DtTiedSum *q = sum_slot(g, v);
  const DtTied *t = tied_slot(g, v);
  const int64_t id = v->local->storage->id;
  const DtLearn *l;
  if (q->storage == id) {
    for (int i = 0; i < q->n; i++)
      add_term(to, q->term[i].ranks, q->term[i].hash, q->term[i].name);
    return;
  }
  if ((l = dt_diag_by_grad(g, id)) == NULL || v->local->offset != 0 ||
      (size_t)dt_meta_numel(&v->local->m) * dt_dtype_size((DtDtype)v->local->m.dtype) !=
          v->local->storage->nbytes) return;
  if (t->storage == id) add_term(to, t->ranks, dt_diag_hash(v->local, false), t->name);
  else add_term(to, 0, 1, NULL);
}

static bool sums_squares (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.square.default",
    "aten.pow.Tensor_Scalar", "aten.mul.Tensor", "aten.linalg_vector_norm.default",
    "aten.sum.default", "aten.stack.default", "aten._to_copy.default",
    "aten.add.Tensor", "aten.add.Scalar", "aten.add_.Tensor", "aten.detach.default",
    "aten.clone.default", NULL };
  (void)g;
  return dt_diag_named(op, names);
}

static void squares_end (DtDiag *g, const DtEvent *e) {
  DtTiedSum sum = { 0 };
  if (e->status != DT_OK || e->backward || e->nout < 1 || e->out[0] == NULL ||
      e->out[0]->spec || dt_session_no_data(g->s) ||
      dt_diag_by_grad(g, e->out[0]->local->storage->id)) return;
  if (strcmp(e->op->sig->full, "aten.mul.Tensor") == 0 &&
      (e->nin < 2 || e->in[0] != e->in[1])) return;
  for (int i = 0; i < e->nin; i++)
    if (e->in[i] && !e->in[i]->spec && (i == 0 || e->in[i] != e->in[0]))
      add_squares(g, e->in[i], &sum);
  if (sum.n == 0) return;
  sum.storage = e->out[0]->local->storage->id;
  *sum_slot(g, e->out[0]) = sum;
}

bool dt_diag_sums_gradients (DtDiag *g, const DtVar *v) {
  return g->nties > 0 && sum_slot(g, v)->storage == v->local->storage->id;
}

/* The sum over the ranks is made smaller. */
static bool mends (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return strncmp(op->sig->full, "aten.sub", 8) == 0 ||
         strncmp(op->sig->full, "aten.div", 8) == 0 ||
         strncmp(op->sig->full, "aten.mul", 8) == 0;
}

static void mended_end (DtDiag *g, const DtEvent *e) {
  const int64_t id = e->nin > 0 && e->in[0] ? e->in[0]->local->storage->id : 0;
  if (id == 0 || (id != g->norm_sum[0] && id != g->norm_sum[1])) return;
  g->tied_claim = 0;
  g->squares_at.line = 0;
}

/* Squares of which these ranks share some, and have others of their own.  Told when
** gradients are scaled by what came of the sum. */
static void note_sum (DtDiag *g, const DtRecRaw *raw, const DtVar *in) {
  const DtTiedSum *q = sum_slot(g, in);
  const uint64_t ranks = ranks_of(raw->mesh, raw->mdim);
  DtFact fact = { true, 0 };
  const char *name = NULL;
  bool own = false;
  DtClaim *c;
  DtOrigin here;
  DtEvent at;
  g->tied_claim = 0;
  if (q->storage != in->local->storage->id || ranks == 0) return;
  for (int i = 0; i < q->n; i++) {
    if (!are_several(q->term[i].ranks & ranks)) { own = true; continue; }
    fact.hash = dt_hash_u64(fact.hash, q->term[i].hash) | 1;
    name = q->term[i].name;
  }
  if (fact.hash == 0 || !own) return;
  here = dt_diag_here(g, raw->kind);
  at = dt_diag_origin(&here, raw->kind);
  at.kind = DT_EV_COLL;
  c = dt_diag_claim_all(g, &at, DT_FIND_ID_SHARED_SQUARES, raw->mesh, raw->mdim, 0, 1, &fact,
                        name, "squares of a gradient that was reduced over these ranks, "
                        "among those of each rank's own, are summed over them and scale "
                        "the gradients; the shared gradient");
  if (c == NULL) return;
  c->some = DT_SOME;
  c->mute = true;
  g->tied_claim = c->key;
}

void dt_diag_tied_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in, const DtVar *out) {
  if (g->nlearn == 0 || in->spec || raw->mesh == NULL || raw->reduce == NULL ||
      strcmp(raw->kind, "all_reduce") != 0 || g->s->backward) return;
  if (dt_diag_by_grad(g, in->local->storage->id)) {
    note_tied(g, in, ranks_of(raw->mesh, raw->mdim));
  } else if (strcmp(raw->reduce, "sum") == 0 && dt_meta_numel(&in->local->m) == 1) {
    g->nnorm_sums = 1;
    g->norm_sum[0] = in->local->storage->id;
    g->norm_sum[1] = out ? out->local->storage->id : 0;
    if (g->nties > 0) note_sum(g, raw, in);
  }
}

/* Gradients are scaled by what came of the sum. */
void dt_diag_tied_used (DtDiag *g) {
  for (int i = 0; g->tied_claim != 0 && i < g->nclaim; i++)
    if (g->claim[i].key == g->tied_claim) g->claim[i].mute = false;
  g->tied_claim = 0;
}

const DtDiagRule dt_rules_tied[] = {
  { DT_EV_OP_END, squares_end, sums_squares, DT_WHEN(nties) },
  { DT_EV_OP_END, mended_end, mends, DT_WHEN(nnorm_sums) },
  { 0, NULL, NULL, 0 }
};
