/* SPDX-License-Identifier: MIT
** diag/rules_factors.c: matrices that are decomposed part by part.
**
** The singular vectors, eigenvectors or the inverse of some rows of a matrix are none
** of the matrix.  An optimizer that projects or preconditions a gradient by them, and has
** a part of that gradient (FSDP, tensor parallelism), does on each rank something else
** than on one.  What is sent to other ranks afterwards may be merged there, as the
** triangles of a tall QR are: then nothing is said. */
#include <string.h>
#include "diag/diag_int.h"

static bool takes_apart (const char *op) {
  static const char *const names[] = { "aten._linalg_svd.", "aten._linalg_eigh.",
    "aten.linalg_qr.", "aten.linalg_eig.", "aten.linalg_inv_ex.", "aten.linalg_lu" };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strncmp(op, names[i], strlen(names[i])) == 0) return true;
  return false;
}

static bool is_factor (const DtDiag *g, const DtVar *v) {
  return v && dt_idset_has(&g->factors, v->local->storage->id);
}

static bool both_cut (uint32_t dims) { return (dims & (dims - 1)) != 0; }

/* Only of what the optimizer has: samples that a rank analyses may be its own.  A block
** on the diagonal, cut along both dimensions, is meant to be taken alone. */
static void taken_apart (DtDiag *g, const DtEvent *e) {
  const DtPlace *w = dt_diag_place_of(g, e, 0, DT_PLACE_PART);
  const DtVar *m = w ? e->in[0] : NULL;
  DtFact fact = { false, 0 };
  const char *what;
  DtBuf b;
  if (e->status != DT_OK || e->backward || w == NULL || m->requires_grad ||
      g->s->grad_enabled || m->local->m.ndim < 2 || w->dim < m->local->m.ndim - 2 ||
      w->len == w->whole || w->first_len > 0 || both_cut(dt_diag_cut_dims(g, m))) return;
  fact.hash = w->where;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "each rank has %lld of %lld along dimension %d, and takes that for the "
              "matrix; where each part begins", (long long)w->len, (long long)w->whole,
              w->dim);
  what = dt_diag_intern(g, &b);
  if (what == NULL) return;
  dt_diag_claim_all(g, e, DT_FIND_ID_PART_ALONE, NULL, -1, DT_SALT_FACTORS, 1, &fact,
                    dt_diag_place_name(g, m->id), what);
  for (int i = 0; i < e->nout; i++)
    if (e->out[i]) dt_idset_add(g, &g->factors, e->out[i]->local->storage->id);
}

/* What is made of them, but not what that is added to. */
static void follow (DtDiag *g, const DtEvent *e) {
  enum { MOST = 4096 };
  bool of = false;
  if (e->status != DT_OK || e->backward || g->factors.n >= MOST) return;
  for (int i = 0; i < e->nin; i++) of = of || is_factor(g, e->in[i]);
  for (int i = 0; of && i < e->nout; i++)
    if (e->out[i]) dt_idset_add(g, &g->factors, e->out[i]->local->storage->id);
}

void dt_diag_factors_raw (DtDiag *g, const DtVar *in) {
  if (g->factors.n == 0 || !is_factor(g, in)) return;
  for (int k = 0; k < g->nclaim; k++)
    if (g->claim[k].kind->id == DT_FIND_ID_PART_ALONE && takes_apart(g->claim[k].op))
      g->claim[k].fact[0].hash = 0;
}

static bool decomposes (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return takes_apart(op->sig->full);
}

static bool is_followed (const DtDiag *g, const DtOpDef *op) {
  return (op->flags & DT_OP_INPLACE) == 0 && !dt_diag_view(g, op);
}

const DtDiagRule dt_rules_factors[] = {
  { DT_EV_OP_END, taken_apart, decomposes, 0 },
  { DT_EV_OP_END, follow, is_followed, DT_WHEN(factors.n) },
  { 0, NULL, NULL, 0 }
};
