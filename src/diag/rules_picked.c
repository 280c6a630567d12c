/* SPDX-License-Identifier: MIT
** diag/rules_picked.c: elements that each rank picked for itself, summed place by place.
**
** The largest of a gradient are sent alone, to send fewer bytes.  Each rank's are others:
** what an all_reduce adds up are elements of different places, which each rank then puts
** back at its own.  Told when they are put back; the claim is that the places are not
** the same on all ranks. */
#include <string.h>
#include "diag/diag_int.h"

enum { PICKS = 32 };

typedef struct Picked {
  int64_t storage;              /* of the elements */
  uint64_t places;              /* hash of the indices */
  DtMesh *mesh; int mdim;       /* over which they were summed; owned, NULL: not yet */
  DtOrigin at;                  /* there */
  const char *name;
} Picked;

struct DtPicks { Picked v[PICKS]; };

static Picked *slot_of (const DtDiag *g, int64_t storage) {
  return &g->picks->v[(uint64_t)storage % PICKS];
}

static Picked *find_picked (const DtDiag *g, const DtVar *v) {
  Picked *p = g->picks && v && !v->spec && v->local
              ? slot_of(g, v->local->storage->id) : NULL;
  return p && p->storage == v->local->storage->id ? p : NULL;
}

void dt_diag_picks_free (DtDiag *g) {
  for (int i = 0; g->picks && i < PICKS; i++)
    dt_mesh_unref(g->s->cx, g->picks->v[i].mesh);
  dt_free(g->s->cx, g->picks);
  g->picks = NULL;
  g->npicks = 0;
}

static void put_picked (DtDiag *g, const DtVar *v, Picked p) {
  Picked *to;
  if (g->picks == NULL && (g->picks = DT_NEW(g->s->cx, struct DtPicks)) == NULL) {
    dt_error_clear(g->s->cx);
    return;
  }
  to = slot_of(g, v->local->storage->id);
  if (p.mesh) dt_mesh_ref(p.mesh);
  dt_mesh_unref(g->s->cx, to->mesh);
  p.storage = v->local->storage->id;
  *to = p;
  g->npicks++;
}

static bool is_plain (const DtVar *v) {
  return v && !v->spec && v->local && !dt_var_needs_grad(v) &&
         dt_meta_numel(&v->local->m) > 1 && dt_tensor_has_data(v->local);
}

static uint64_t places_in (const DtVar *v) {
  return is_plain(v) && v->local->m.dtype == DT_I64 ? dt_diag_hash(v->local, true) : 0;
}

/* --- what picks them, and passes them on --- */

static bool picks (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.index.Tensor", "aten.gather.default",
    "aten.index_select.default", "aten.take.default", NULL };
  (void)g;
  return dt_diag_named(op, names);
}

static void on_picked (DtDiag *g, const DtEvent *e) {
  Picked p = { .places = 0 };
  if (e->status != DT_OK || e->backward || e->nin < 2 || e->nout < 1 ||
      !is_plain(e->in[0]) || !is_plain(e->out[0]) || dt_session_no_data(g->s) ||
      !dt_dtype_is_float((DtDtype)e->out[0]->local->m.dtype) ||
      (p.places = places_in(e->in[e->nin - 1])) == 0) return;
  put_picked(g, e->out[0], p);
}

static bool scales (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return (op->flags & DT_OP_POINTWISE) != 0;
}

static void on_scaled (DtDiag *g, const DtEvent *e) {
  const Picked *p = e->nin > 0 ? find_picked(g, e->in[0]) : NULL;
  double x;
  if (p && e->status == DT_OK && e->nout > 0 && is_plain(e->out[0]) &&
      dt_diag_scales(g, e, &x)) put_picked(g, e->out[0], *p);
}

void dt_diag_picked_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in) {
  Picked *p = find_picked(g, in);
  if (p == NULL || g->s->backward || strcmp(raw->kind, "all_reduce") != 0 ||
      raw->mesh->shape[raw->mdim] < 2) return;
  dt_mesh_unref(g->s->cx, p->mesh);
  p->mesh = dt_mesh_ref(raw->mesh);
  p->mdim = raw->mdim;
  p->at = dt_diag_here(g, "all_reduce");
  p->name = dt_diag_kept_name(g, in);
}

/* --- put back --- */

static bool puts_back (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.index_put_.default", "aten.index_put.default",
    "aten.scatter_.src", "aten.scatter.src", "aten.index_copy_.default",
    "aten.index_copy.default", "aten.index_add_.default", "aten.index_add.default",
    "aten.scatter_add_.default", "aten.scatter_add.default", "aten.put_.default", NULL };
  (void)g;
  return dt_diag_named(op, names);
}

static void on_put_back (DtDiag *g, const DtEvent *e) {
  const Picked *p = NULL;
  bool same = false;
  DtFact fact;
  DtEvent at;
  if (e->status != DT_OK || e->backward) return;
  for (int i = 1; i < e->nin && p == NULL; i++) p = find_picked(g, e->in[i]);
  for (int i = 1; i < e->nin && p && p->mesh; i++)
    same = same || places_in(e->in[i]) == p->places;
  if (!same) return;
  fact = (DtFact){ false, p->places };
  at = dt_diag_origin(&p->at, "all_reduce");
  dt_diag_claim_all(g, &at, DT_FIND_ID_PICKED_APART, p->mesh, p->mdim, 0, 1, &fact, p->name,
                    "each rank picked them by indices of its own, and puts the sum back at "
                    "those; the indices");
}

const DtDiagRule dt_rules_picked[] = {
  { DT_EV_OP_END, on_picked, picks, DT_WHEN(nlearn) },
  { DT_EV_OP_END, on_scaled, scales, DT_WHEN(npicks) },
  { DT_EV_OP_END, on_put_back, puts_back, DT_WHEN(npicks) },
  { 0, NULL, NULL, 0 }
};
