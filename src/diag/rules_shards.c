/* SPDX-License-Identifier: MIT
** diag/rules_shards.c: what is done by hand to the local part of a distributed
** tensor, in the memory that the distributed tensor goes on to use.
**
** - A part is scaled by a number that is another one on each rank: the parts do
**   not belong to one tensor any more (a gradient clipped by a local norm).
** - Different parts are summed in place, element by element, as if they were
**   replicas (an all_reduce of the gradients that fully_shard has cut).
** - The norm of a part is read as that of the whole.
** - Random numbers are written into the parts of a parameter, the same on all ranks.
** - A part of a parameter is made orthogonal by itself.
** - Squares of parts and of replicas are summed together over the ranks: what is
**   replicated counts once for each of them. */
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

/* --- local parts --- */

static DtHeld *held_slot (DtDiag *g, int64_t storage) {
  return &g->held[(uint64_t)storage % DT_HELD];
}

static DtHeld *find_held (DtDiag *g, const DtVar *v) {
  DtHeld *h;
  if (g->nheld == 0 || v == NULL || v->spec) return NULL;
  h = held_slot(g, v->local->storage->id);
  return h->storage == v->local->storage->id ? h : NULL;
}

static void drop_held (DtDiag *g, DtHeld *h) {
  if (h->mesh) dt_mesh_unref(g->s->cx, h->mesh);
  memset(h, 0, sizeof *h);
}

void dt_diag_shards_free (DtDiag *g) {
  for (int i = 0; i < DT_HELD; i++) drop_held(g, &g->held[i]);
  g->nheld = 0;
}

/* The dimension of the mesh that cuts `s`, with -1 where none does; *norm: it
** holds norms of parts. */
static int cut_by (const DtSpec *s, bool *norm) {
  *norm = false;
  for (int m = 0; m < s->npl && m < s->mesh->ndim; m++) {
    if (s->mesh->shape[m] < 2) continue;
    *norm = s->pl[m].kind == DT_PL_NORM_PARTIAL;
    if (*norm || dt_pl_is_shard_like(s->pl[m])) return m;
  }
  return -1;
}

static void on_to_local (DtDiag *g, const DtEvent *e) {
  const DtSpec *s;
  DtHeld *h;
  bool norm;
  int m;
  if (e->op != NULL || e->status != DT_OK || e->backward || e->nin < 1 ||
      e->nout < 1 || e->in[0] == NULL || e->out[0] == NULL ||
      (s = e->in[0]->spec) == NULL || e->out[0]->spec || !s->mesh->member ||
      strcmp(e->text, "dtensor.to_local") != 0 ||
      e->out[0]->local->storage != e->in[0]->local->storage) return;
  m = cut_by(s, &norm);
  dt_diag_replicated(g, e->out[0], e->in[0]);
  h = held_slot(g, e->out[0]->local->storage->id);
  if (h->storage == e->out[0]->local->storage->id && h->of == e->in[0]->id) return;
  drop_held(g, h);
  *h = (DtHeld){ .storage = e->out[0]->local->storage->id, .of = e->in[0]->id,
                 .mesh = dt_mesh_ref(s->mesh), .mdim = m, .norm = norm,
                 .numel = dt_meta_numel(&e->out[0]->local->m),
                 .param = e->in[0]->is_param };
  g->nheld++;
}

static const char *name_of (DtDiag *g, const DtVar *v, const DtHeld *h) {
  const char *name = dt_diag_name(g, v);
  return *name ? name : dt_diag_place_name(g, h->of);
}

/* --- squares of parts and of replicas --- */

enum { OF_PARTS = 1, OF_REPLICAS = 2 };

static DtSquares *squares_slot (DtDiag *g, const DtVar *v) {
  return &g->squares_of[(uint64_t)v->local->storage->id % DT_SQUARES];
}

static int find_squares (DtDiag *g, const DtVar *v) {
  const DtSquares *q = squares_slot(g, v);
  const DtHeld *h;
  if (q->storage == v->local->storage->id) return q->of;
  if ((h = find_held(g, v)) == NULL || h->norm) return 0;
  return h->mdim < 0 ? OF_REPLICAS : OF_PARTS;
}

/* What a norm is summed up from; a replica's share of it is not. */
static bool sums_squares (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.square.default",
    "aten.pow.Tensor_Scalar", "aten.mul.Tensor", "aten.linalg_vector_norm.default",
    "aten.sum.default", "aten.stack.default", "aten._to_copy.default",
    "aten.add.Tensor", "aten.add_.Tensor", "aten.detach.default", NULL };
  (void)g;
  return dt_diag_named(op, names);
}

static void squares_end (DtDiag *g, const DtEvent *e) {
  int of = 0;
  DtSquares *q;
  if (e->status != DT_OK || e->backward || e->nout < 1 || e->out[0] == NULL ||
      e->out[0]->spec) return;
  for (int i = 0; i < e->nin; i++)
    if (e->in[i] && !e->in[i]->spec) of |= find_squares(g, e->in[i]);
  if (of == 0 || find_held(g, e->out[0])) return;
  if (strcmp(e->op->sig->full, "aten.mul.Tensor") == 0 &&
      (e->nin < 2 || e->in[0] != e->in[1])) return;
  q = squares_slot(g, e->out[0]);
  *q = (DtSquares){ e->out[0]->local->storage->id, of };
}

static void mixed_summed (DtDiag *g, const DtRecRaw *raw, const DtVar *in) {
  if (in->spec || raw->reduce == NULL || strcmp(raw->reduce, "sum") != 0 ||
      strcmp(raw->kind, "all_reduce") != 0 || g->s->backward ||
      dt_meta_numel(&in->local->m) != 1 ||
      find_squares(g, in) != (OF_PARTS | OF_REPLICAS)) return;
  g->mixed = dt_diag_hash(in->local, false);
  g->mixed_at = dt_diag_here(g, raw->kind);
  g->mixed_name = dt_diag_kept_name(g, in);
}

/* Something is scaled by what came of it. */
static void claim_mixed (DtDiag *g) {
  const DtFact fact = { false, g->mixed };
  DtEvent at = dt_diag_origin(&g->mixed_at, "");
  if (g->mixed_at.line == 0) return;
  at.kind = DT_EV_COLL;
  dt_diag_claim_all(g, &at, DT_FIND_ID_REPLICAS_COUNTED, NULL, -1, DT_SALT_MIXED, 1, &fact,
                    g->mixed_name, "squares of each rank's "
                    "parts, and with them those of what it holds as the others do");
}

/* --- scaled --- */

static void on_scaled (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  const DtHeld *h = find_held(g, v);
  DtFact fact = { false, 0 };
  double x;
  if (h == NULL || e->status != DT_OK || e->backward || h->norm ||
      !dt_diag_scales(g, e, &x)) return;
  claim_mixed(g);
  if (h->mdim < 0 || dt_session_no_data(g->s)) return;
  fact.hash = dt_hash_bytes(DT_HASH_SEED, &x, sizeof x) | 1;
  dt_diag_claim_all(g, e, DT_FIND_ID_SHARD_SCALED, h->mesh, h->mdim, 0, 1, &fact,
                    name_of(g, v, h), "the number that the part of each rank is "
                    "multiplied with");
}

/* --- drawn --- */

/* Random numbers are written into this rank's part of a parameter. */
static void on_drawn_into (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  const DtHeld *h = find_held(g, v);
  if (h == NULL || !h->param || h->mdim < 0 || e->status != DT_OK || e->backward ||
      dt_session_no_data(g->s)) return;
  const DtFact fact = { true, dt_diag_sample(v->local) };
  dt_diag_claim_all(g, e, DT_FIND_ID_SAME_NOISE, h->mesh, h->mdim, 0, 1, &fact,
                    name_of(g, v, h), "it is written into each rank's part of a parameter; "
                    "what was drawn");
}

static bool draws_into (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return (op->flags & DT_OP_RANDOM) != 0 && (op->flags & DT_OP_INPLACE) != 0;
}

/* --- orthogonal --- */

static void basis_end (DtDiag *g, const DtEvent *e) {
  if (e->status != DT_OK || e->backward || e->nout < 1 || e->out[0] == NULL ||
      e->out[0]->spec) return;
  g->basis = e->out[0]->local->storage->id;
}

static bool takes_basis (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return strcmp(op->sig->full, "aten.linalg_qr.default") == 0;
}

/* Rows that are orthogonal to each other are written into the whole of this rank's
** part of a parameter: those of two ranks are not. */
static void on_basis (DtDiag *g, const DtEvent *e, const DtHeld *h) {
  const DtPlace *w = dt_diag_place(g, e->in[0]);
  const DtFact fact = { true, 1 };
  const DtVar *q = e->in[1];
  if (g->basis == 0 || q->local->storage->id != g->basis || !h->param || h->mdim < 0 ||
      e->in[0]->local->m.ndim != 2 || (w && w->first_len > 0) ||
      dt_meta_numel(&q->local->m) != h->numel) return;
  dt_diag_claim_all(g, e, DT_FIND_ID_PART_ALONE, h->mesh, h->mdim, DT_SALT_BASIS, 1, &fact,
                    name_of(g, e->in[0], h), "what is orthogonal among this rank's part is "
                    "written into that part of a parameter, and is not so between the ranks");
}

/* --- reduced --- */

/* Claimed here, where the group is known, and told when the result is written
** back: a functional all_reduce leaves the part as it is. */
static void parts_reduced (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                           const DtVar *out) {
  DtHeld *h = find_held(g, in);
  const DtPlace *w = h && h->mdim >= 0 && !h->norm ? dt_diag_place(g, in) : NULL;
  DtFact fact = { false, 0 };
  DtClaim *c;
  DtOrigin here;
  DtEvent at;
  if (w == NULL || w->kind != DT_PLACE_PART || raw->reduce == NULL ||
      strcmp(raw->kind, "all_reduce") != 0 || g->s->backward ||
      dt_meta_numel(&in->local->m) < 2) return;
  fact.hash = w->where;
  here = dt_diag_here(g, raw->kind);
  at = dt_diag_origin(&here, raw->kind);
  at.kind = DT_EV_COLL;
  c = dt_diag_claim_all(g, &at, DT_FIND_ID_SHARDS_REDUCED, raw->mesh, raw->mdim,
                        0, 1, &fact, name_of(g, in, h), "parts that are reduced "
                        "element by element; where each part begins");
  if (c == NULL) return;
  c->mute = true;
  h->claim = c->key;
  h->result = out->local->storage->id;
}

static void reduced_back (DtDiag *g, const DtEvent *e) {
  DtHeld *h = e->nin > 1 && e->in[1] ? find_held(g, e->in[0]) : NULL;
  if (h && e->status == DT_OK && !e->backward) on_basis(g, e, h);
  if (h == NULL || h->claim == 0 || e->status != DT_OK ||
      e->in[1]->local->storage->id != h->result) return;
  for (int i = 0; i < g->nclaim; i++)
    if (g->claim[i].key == h->claim) g->claim[i].mute = false;
  h->claim = 0;
}

static bool is_copying (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_COPY);
}

void dt_diag_shards_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                         const DtVar *out) {
  const DtHeld *h = find_held(g, in);
  if (g->nheld == 0) return;
  if (h) dt_diag_units_raw(g, raw, in, h);
  parts_reduced(g, raw, in, out);
  mixed_summed(g, raw, in);
}

/* --- read --- */

static void norm_read (DtDiag *g, const DtEvent *e) {
  DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  const DtHeld *h = find_held(g, v);
  if (h && h->norm && !e->backward)
    dt_diag_add(g, e, DT_FIND_ID_PARTIAL_READ, v, 0, NULL, "to_local() of a norm "
                "that is not reduced yet is read: the norm of this rank's part");
}

static bool is_number_read (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_ITEM);
}

const DtDiagRule dt_rules_shards[] = {
  { DT_EV_FUNC_END, on_to_local, NULL, DT_CALLED(TO_LOCAL) },
  { DT_EV_OP_END, on_scaled, dt_diag_inplace, DT_WHEN(nheld) },
  { DT_EV_OP_END, on_drawn_into, draws_into, DT_WHEN(nheld) },
  { DT_EV_OP_END, reduced_back, is_copying, DT_WHEN(nheld) },
  { DT_EV_OP_END, basis_end, takes_basis, DT_WHEN(nheld) },
  { DT_EV_OP_END, squares_end, sums_squares, DT_WHEN(nheld) },
  { DT_EV_OP, norm_read, is_number_read, DT_WHEN(nheld) },
  { 0, NULL, NULL, 0 }
};
