/* SPDX-License-Identifier: MIT
** diag/rules_met.c: what vectors of one value meet first.
**
** The ones of a norm and the zeros of a bias are the same on all ranks by chance: a
** bias of this rank's columns begins so, too.  What tells a copy from a part is what
** it is first used with.  Where everything else that goes into that operator is the
** same on all ranks, and not of one value, each rank computes the same with it: it is
** a copy, and must stay one. */
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

static DtMet *met_slot (DtDiag *g, int64_t storage) {
  return &g->met[(uint64_t)storage % DT_METS];
}

/* The hash of all inputs but `leaf`; 0: all of them are of one value, or one is
** distributed, or there is no other. */
static uint64_t hash_others (const DtEvent *e, const DtVar *leaf) {
  uint64_t h = DT_HASH_SEED;
  bool varied = false;
  for (int i = 0; i < e->nin; i++) {
    const DtVar *v = e->in[i];
    if (v == NULL || v == leaf) continue;
    if (v->spec || !dt_tensor_has_data(v->local)) return 0;
    h = dt_hash_u64(h, dt_diag_hash(v->local, false));
    varied = varied || dt_diag_sample(v->local) != 0;
  }
  return varied ? h | 1 : 0;
}

/* The first use in forward counts: later ones see what was trained. */
static void on_use (DtDiag *g, const DtEvent *e) {
  if (e->status != DT_OK || e->backward || e->nin < 2 || dt_session_no_data(g->s))
    return;
  for (int i = 0; i < e->nin; i++) {
    const DtVar *v = e->in[i];
    if (v == NULL || v->spec || !v->requires_grad || v->grad_fn != NULL ||
        v->local->m.ndim != 1) continue;
    DtMet *m = met_slot(g, v->local->storage->id);
    if (m->storage != 0) continue;      /* seen, or the place is taken */
    m->storage = v->local->storage->id;
    m->hash = dt_diag_sample(v->local) == 0 ? hash_others(e, v) : 0;
  }
}

static bool uses_vectors (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.native_layer_norm.", "aten.addmm.",
    "aten._fused_rms_norm.", "aten.rms_norm.", "aten.native_group_norm.", NULL };
  (void)g;
  for (int i = 0; names[i]; i++)
    if (strncmp(op->sig->full, names[i], strlen(names[i])) == 0) return true;
  return (op->flags & DT_OP_POINTWISE) != 0 && (op->flags & DT_OP_INPLACE) == 0;
}

const DtDiagRule dt_rules_met[] = {
  { DT_EV_OP_END, on_use, uses_vectors, 0 },
  { 0, NULL, NULL, 0 }
};
