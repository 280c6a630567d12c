/* SPDX-License-Identifier: MIT
** diag/rules_whole.c: an addend is written into a parameter that is whole on every rank.
**
** The product of two low-rank matrices that are cut along the rank dimension is one
** addend of their product.  Merged into a weight that all ranks have, without the sum
** over the ranks, it makes each rank's weight another one.  Ranks that average their
** parameters now and then write addends of their gradients into them too: nothing is
** said of a parameter that a collective takes later. */
#include <string.h>
#include "diag/diag_int.h"

static bool is_whole_param (const DtDiag *g, const DtVar *v) {
  return v && v->spec == NULL && dt_meta_numel(&v->local->m) > 1 &&
         (v->is_param || dt_idset_has(&g->params, v->local->storage->id)) &&
         dt_diag_place(g, v) == NULL;
}

static void written (DtDiag *g, const DtEvent *e) {
  const DtVar *to = e->nin > 1 ? e->in[0] : NULL;
  const DtPlace *w = to && e->in[1] ? dt_diag_place_of(g, e, 1, DT_PLACE_ADDEND) : NULL;
  DtFact facts[2];
  DtClaim *c;
  if (w == NULL || e->backward || dt_session_no_data(g->s) || !is_whole_param(g, to) ||
      !dt_meta_same_shape(&to->local->m, &e->in[1]->local->m)) return;
  facts[0] = (DtFact){ false, dt_diag_hash(e->in[1]->local, true) };
  facts[1] = (DtFact){ true, dt_diag_hash(to->local, true) };
  c = dt_diag_claim_all(g, e, DT_FIND_ID_ADDEND_KEPT, NULL, -1, 0, 2, facts,
                        dt_diag_name(g, to), "what this rank's part adds to a product; "
                        "the parameter was the same on all ranks before; the addend");
  if (c)
    g->whole[g->nwhole++ % DT_WHOLE] = (DtWhole){ to->local->storage->id, c->key };
}

static bool adds_into (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return strcmp(op->sig->full, "aten.add_.Tensor") == 0 ||
         strcmp(op->sig->full, "aten.sub_.Tensor") == 0;
}

void dt_diag_whole_raw (DtDiag *g, const DtVar *in) {
  for (int i = 0; i < g->nwhole && i < DT_WHOLE; i++)
    for (int k = 0; g->whole[i].storage == in->local->storage->id && k < g->nclaim; k++)
      if (g->claim[k].key == g->whole[i].claim) g->claim[k].fact[0].hash = 0;
}

const DtDiagRule dt_rules_whole[] = {
  { DT_EV_OP, written, adds_into, DT_WHEN(nplaces) },
  { 0, NULL, NULL, 0 }
};
