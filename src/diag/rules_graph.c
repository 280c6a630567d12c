/* SPDX-License-Identifier: MIT
** diag/rules_graph.c: collectives that autograd does not see.
**
** What all_gather, reduce_scatter or all_to_all gives has no gradient: where it
** takes part in a loss, what was sent learns nothing from it, unless the rank's
** own part was put back among the others.  An all_reduce in place keeps the
** gradient as if the sum were this rank's alone, which is right where all ranks
** go on alike (a sum after cut rows) and wrong where each has a loss of its own.
** A storage is marked where that happens and as long as operators make others
** from it; nothing is looked at before the first one. */
#include <string.h>
#include "diag/diag_int.h"

void dt_diag_graph_free (DtDiag *g) {
  for (int i = 0; i < 2; i++) {
    dt_mesh_unref(g->s->cx, g->severed[i].mesh);
    memset(&g->severed[i], 0, sizeof g->severed[i]);
  }
  g->nsevered = 0;
  dt_mesh_unref(g->s->cx, g->wide);
  dt_mesh_unref(g->s->cx, g->joint);
  g->wide = g->joint = NULL;
  g->put_back = false;
  g->own_back.line = 0;
}

static void mark_severed (DtDiag *g, int i, const DtRecRaw *raw,
                          const DtVar *in) {
  DtSevered *s = &g->severed[i];
  g->nsevered++;
  if (s->mesh != NULL) return;
  s->at = dt_diag_here(g, raw->kind);
  s->name = dt_diag_kept_name(g, in);
  s->mesh = dt_mesh_ref(raw->mesh);
  s->mdim = raw->mdim;
}

bool dt_diag_function_sent (DtDiag *g, int64_t before) {
  if (g->nraw <= before) return false;
  if (g->wide && g->wide->shape[g->wide_dim] > 1) {
    dt_mesh_unref(g->s->cx, g->joint);
    g->joint = dt_mesh_ref(g->wide);
    g->joint_dim = g->wide_dim;
  }
  return true;
}

static void note_wide (DtDiag *g, const DtRecRaw *raw, const DtVar *in) {
  if (dt_meta_numel(&in->local->m) < 2) return;
  dt_mesh_ref(raw->mesh);
  dt_mesh_unref(g->s->cx, g->wide);
  g->wide = raw->mesh;
  g->wide_dim = raw->mdim;
}

void dt_diag_graph_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                        const DtVar *out) {
  int i;
  note_wide(g, raw, in);
  if (out != NULL) out->local->storage->cut |= in->local->storage->cut;
  if (!in->requires_grad || in->spec || out == NULL || !g->s->grad_enabled ||
      g->s->backward || raw->mesh->shape[raw->mdim] < 2) return;
  i = strcmp(raw->kind, "all_reduce") == 0;
  if (strcmp(raw->kind, "broadcast") == 0) return;
  mark_severed(g, i, raw, in);
  out->local->storage->cut |= (uint8_t)(i ? DT_CUT_SUMMED : DT_CUT_LOST);
}

/* Does it put pieces side by side, so that one with a gradient mends the rest? */
static bool is_joining (const DtDiag *g, const DtEvent *e) {
  return dt_diag_is(g, e, DT_DO_CAT) || dt_diag_is(g, e, DT_DO_STACK) ||
         dt_diag_is(g, e, DT_DO_COPY);
}

static void pass_on_severed (DtDiag *g, const DtEvent *e) {
  const bool over = dt_diag_is(g, e, DT_DO_COPY) && e->nin > 1;
  uint8_t cut = 0;
  bool mended = false;
  int i;
  if (e->status != DT_OK || e->backward) return;
  for (i = over ? 1 : 0; i < e->nin; i++) {
    const DtVar *v = e->in[i];
    if (v == NULL) continue;
    cut |= v->local->storage->cut;
    mended = mended || (v->requires_grad && !v->local->storage->cut);
  }
  if (mended && is_joining(g, e)) {
    if (cut & DT_CUT_LOST) g->put_back = true;
    cut &= (uint8_t)~DT_CUT_LOST;
  }
  for (i = 0; i < e->nout; i++)
    if (e->out[i]) e->out[i]->local->storage->cut = cut;
}

static void on_backward_root (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  const DtSevered *s;
  DtFact fact = { false, g->root_hash };
  DtEvent at;
  int cut;
  if (v == NULL || v->spec || (cut = v->local->storage->cut) == 0) return;
  s = &g->severed[(cut & DT_CUT_LOST) ? 0 : 1];
  at = (DtEvent){ .kind = DT_EV_COLL, .text = s->at.op, .file = s->at.file,
                  .line = s->at.line, .seq = s->at.seq, .module = "" };
  if (s->mesh == NULL) return;
  if (cut & DT_CUT_LOST) fact = (DtFact){ true, 1 };    /* whatever the loss is */
  dt_diag_claim_all(g, &at, DT_FIND_ID_GRAPH_CUT, s->mesh, s->mdim, cut, 1,
                    &fact, s->name, (cut & DT_CUT_LOST)
                    ? "its result has no gradient and takes part in a loss; so it "
                      "is"
                    : "backward takes the sum for this rank's alone, each rank "
                      "has a loss of its own; the losses");
}

const DtDiagRule dt_rules_graph[] = {
  { DT_EV_OP_END, pass_on_severed, NULL, DT_WHEN(nsevered) },
  { DT_EV_BACKWARD, on_backward_root, NULL, DT_WHEN(nsevered) },
  { 0, NULL, NULL, 0 }
};
