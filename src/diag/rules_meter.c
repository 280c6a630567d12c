/* SPDX-License-Identifier: MIT
** diag/rules_meter.c: numbers that are summed over the wrong ranks.
**
** On a mesh the ranks of a tensor parallel group have the same rows, and count the
** same.  A meter (hits, losses, counts) that is summed over them, and not over the
** ranks that have other rows, is the number of some rows several times.  Where the sum
** goes to other ranks later, or is divided by their number, nothing is said. */
#include <math.h>
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

static int64_t ranks_of (const DtMesh *mesh, int mdim) {
  return mdim >= 0 ? mesh->shape[mdim] : dt_mesh_size(mesh);
}

/* The elements of a small tensor; 0: it has no data, or more. */
static int values_of (const DtTensor *t, double *v) {
  const int n = (int)dt_meta_numel(&t->m);
  int64_t at[DT_MAX_NDIM] = { 0 };
  if (n < 1 || n > DT_METER || t->m.ndim > 1 || !dt_tensor_has_data(t)) return 0;
  for (int i = 0; i < n; i++) {
    at[0] = i;
    const DtScalar x = dt_tensor_get(t, at);
    v[i] = dt_dtype_is_float((DtDtype)t->m.dtype) ? x.re : (double)x.i;
  }
  return n;
}

/* What a group sums is kept until the sum is there. */
static void about_to_sum (DtDiag *g, const DtEvent *e) {
  DtMeter *m = &g->meter;
  m->n = 0;
  if (e->nlocal < 1 || e->local[0] == NULL || e->backward || g->nfunc > 0 ||
      g->s->cur_op != NULL || e->mesh == NULL || e->reduce == NULL ||
      strcmp(e->reduce, "sum") != 0 || dt_session_no_data(g->s) ||
      ranks_of(e->mesh, e->mdim) < 2 ||
      ranks_of(e->mesh, e->mdim) >= dt_session_size(g->s)) return;
  m->n = values_of(e->local[0], m->v);
  m->ranks = (double)ranks_of(e->mesh, e->mdim);
  m->at = (DtOrigin){ .file = e->file, .line = e->line, .seq = e->seq };
}

/* Did every rank of the group bring what this one did? */
static bool is_multiple (const DtMeter *m, const DtVar *out) {
  double v[DT_METER];
  bool any = false;
  if (values_of(out->local, v) != m->n) return false;
  for (int i = 0; i < m->n; i++) {
    if (fabs(v[i] - m->ranks * m->v[i]) > 1e-6 * fabs(v[i])) return false;
    any = any || v[i] != 0;
  }
  return any;
}

static void excuse (DtDiag *g, const DtVar *v) {
  for (int i = 0; i < g->nmetered && i < DT_METERED; i++) {
    const DtMetered *k = &g->metered[i];
    if (k->storage != v->local->storage->id) continue;
    for (int c = 0; c < g->nclaim; c++)
      if (g->claim[c].key == k->claim) g->claim[c].fact[0].hash = 0;
  }
}

void dt_diag_meter_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                        const DtVar *out) {
  DtMeter *m = &g->meter;
  const int n = m->n;
  DtFact facts[2];
  DtClaim *c;
  DtEvent at = dt_diag_origin(&m->at, "all_reduce");
  if (g->nmetered > 0) excuse(g, in);
  m->n = 0;
  if (n == 0 || out == NULL || strcmp(raw->kind, "all_reduce") != 0) return;
  m->n = n;
  facts[0] = (DtFact){ false, dt_hash_bytes(DT_HASH_SEED, m->v,
                                            (size_t)n * sizeof m->v[0]) | 1 };
  facts[1] = (DtFact){ true, is_multiple(m, out) && !dt_diag_is_scaled(in)
                             ? 1 : (uint64_t)g->s->comm->rank + 2 };
  m->n = 0;
  c = dt_diag_claim_all(g, &at, DT_FIND_ID_METER_GROUP, NULL, -1, 0, 2, facts,
                        dt_diag_name(g, in), "what each rank had");
  if (c == NULL) return;
  c->paired = true;
  g->metered[g->nmetered++ % DT_METERED] = (DtMetered){
    .storage = in->local->storage->id, .claim = c->key, .ranks = m->ranks };
  if (out->local->storage->id != in->local->storage->id)
    g->metered[g->nmetered++ % DT_METERED] = (DtMetered){
      .storage = out->local->storage->id, .claim = c->key, .ranks = m->ranks };
}

/* What is made of the sum and goes on to other ranks, is divided by their number. */
static void used_end (DtDiag *g, const DtEvent *e) {
  double x;
  if (e->status != DT_OK || e->backward) return;
  for (int i = 0; i < e->nin; i++)
    for (int k = 0; e->in[i] && k < g->nmetered && k < DT_METERED; k++) {
      const DtMetered one = g->metered[k];
      if (one.storage != e->in[i]->local->storage->id) continue;
      if (dt_diag_scales(g, e, &x) && (fabs(x * one.ranks - 1) < 1e-9 ||
                                       fabs(x - one.ranks) < 1e-9))
        excuse(g, e->in[i]);
      if (e->nout > 0 && e->out[0] && e->out[0]->local->storage->id != one.storage)
        g->metered[g->nmetered++ % DT_METERED] = (DtMetered){
          .storage = e->out[0]->local->storage->id, .claim = one.claim,
          .ranks = one.ranks };
      break;
    }
}

const DtDiagRule dt_rules_meter[] = {
  { DT_EV_COLL, about_to_sum, NULL, 0 },
  { DT_EV_OP_END, used_end, NULL, DT_WHEN(nmetered) },
  { 0, NULL, NULL, 0 }
};
