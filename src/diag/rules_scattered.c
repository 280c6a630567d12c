/* SPDX-License-Identifier: MIT
** diag/rules_scattered.c: pieces of gradients that a reduce_scatter gave, clipped by
** the norm of the piece.
**
** A rank that keeps the optimizer's state of its piece only has no more of the summed
** gradient than that piece.  Its norm says nothing of the whole gradient, and pieces
** that are scaled by numbers of their own are not a gradient any more.  What the ranks of the
** reduce_scatter scale by tells: where the squares were summed first, it is one number.
** Two kinds of pieces are scaled apart by right: a whole layer's gradient, whose owner
** has all of its norm (LARS), and one that is quantized by its largest element. */
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

/* Is `v` such a piece, or made of one? */
static bool is_scattered (const DtDiag *g, const DtVar *v) {
  return g->scattered.n > 0 && v && !v->spec && v->local &&
         dt_idset_has(&g->scattered, v->local->storage->id);
}

/* Is it as large as a parameter of which backward gives a gradient here?  Then it may be
** all of that gradient. */
static bool may_be_whole (const DtDiag *g, const DtTensor *piece) {
  for (int i = 0; i < g->nlearn; i++)
    if (g->learn[i].came != 0 && g->learn[i].numel == dt_meta_numel(&piece->m))
      return true;
  return false;
}

void dt_diag_scattered_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *out) {
  if (g->nlearn == 0 || g->s->backward || out == NULL || out->spec ||
      strcmp(raw->kind, "reduce_scatter") != 0 || raw->mesh->shape[raw->mdim] < 2 ||
      dt_meta_numel(&out->local->m) < 2 ||
      !dt_dtype_is_float((DtDtype)out->local->m.dtype) ||
      may_be_whole(g, out->local)) return;
  dt_mesh_unref(g->s->cx, g->pieces_over);
  g->pieces_over = dt_mesh_ref(raw->mesh);
  g->pieces_dim = raw->mdim;
  dt_idset_add(g, &g->scattered, out->local->storage->id);
  g->piece_normed = false;
}

/* What is made of a piece element by element, with a number, is that piece. */
static void pass_on (DtDiag *g, const DtEvent *e) {
  const DtVar *a = e->nin > 0 ? e->in[0] : NULL, *out = e->nout > 0 ? e->out[0] : NULL;
  double x;
  if (dt_diag_is(g, e, DT_DO_COPY)) {
    if (e->nin > 1 && is_scattered(g, e->in[1]) && a && !a->spec)
      dt_idset_add(g, &g->scattered, a->local->storage->id);
    return;
  }
  if (out && !out->spec && is_scattered(g, a) &&
      dt_meta_numel(&out->local->m) == dt_meta_numel(&a->local->m) &&
      dt_diag_scales(g, e, &x))
    dt_idset_add(g, &g->scattered, out->local->storage->id);
}

/* The largest element is what pieces are quantized by. */
static bool takes_piece_norm (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_takes_norm(g, op) && strncmp(op->sig->full, "aten.abs.", 9) != 0;
}

/* A norm of pieces, or one of them scaled after it. */
static void on_op (DtDiag *g, const DtEvent *e) {
  double x;
  if (e->status != DT_OK || e->backward || e->nin == 0) return;
  if (takes_piece_norm(g, e->op)) {
    for (int i = 0; i < e->nin && !g->piece_normed; i++)
      g->piece_normed = is_scattered(g, e->in[i]);
  }
  if (is_scattered(g, e->in[0]) && g->piece_normed && dt_diag_scales(g, e, &x)) {
    g->piece_scaled = dt_hash_bytes(g->piece_scaled, &x, sizeof x) | 1;
    if (g->piece_at.line == 0) {
      g->piece_at = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                                .line = e->line, .seq = e->seq };
      g->piece_name = dt_diag_kept_name(g, e->in[0]);
    }
  }
  pass_on(g, e);
}

static bool is_followed (const DtDiag *g, const DtOpDef *op) {
  return takes_piece_norm(g, op) || (op->flags & DT_OP_POINTWISE) != 0 ||
         dt_diag_op_is(g, op, DT_DO_COPY);
}

void dt_diag_scattered_clips (DtDiag *g) {
  const DtFact fact = { false, g->piece_scaled };
  const DtEvent e = dt_diag_origin(&g->piece_at, "clip");
  if (g->scattered.n == 0) return;
  /* One that had nothing to clip says so, too: its number is another. */
  dt_diag_claim_all(g, &e, DT_FIND_ID_LOCAL_CLIP, g->pieces_over, g->pieces_dim,
                    DT_SALT_PIECES_CLIPPED, 1, &fact, g->piece_name ? g->piece_name : "",
                    "each rank has a piece of the summed gradient, from a reduce_scatter, "
                    "and takes its norm alone; what the pieces are scaled by");
}

const DtDiagRule dt_rules_scattered[] = {
  { DT_EV_OP_END, on_op, is_followed, DT_WHEN(scattered.n) },
  { 0, NULL, NULL, 0 }
};
