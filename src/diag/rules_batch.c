/* SPDX-License-Identifier: MIT
** diag/rules_batch.c: the same batch on every rank, under fully_shard; and what
** a sampler added so that every rank has as many items; and a schedule that counts
** the steps of all ranks.
**
** Each unit hands over the gradients of all its parameters before they are
** reduced.  One unit's may be equal on all ranks although the batches differ (a
** weight decay in the loss); all units' are equal only where every rank computed
** the same.  A few values of each are folded into one hash, of the units that
** come first. */
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

enum { UNITS = 32 };

void dt_diag_batch_free (DtDiag *g) {
  dt_mesh_unref(g->s->cx, g->batch.mesh);
  g->batch = (DtBatch){ .mesh = NULL };
}

void dt_diag_scattered (DtDiag *g, const DtVar *grads, const DtVar *p,
                        DtMesh *mesh, int mdim) {
  DtBatch *b = &g->batch;
  uint64_t h;
  if (!g->on || g->d->muted || mesh->shape[mdim] < 2 || b->units == UNITS ||
      dt_session_no_data(g->s)) return;
  if (b->mesh == NULL) {
    *b = (DtBatch){ .mesh = dt_mesh_ref(mesh), .mdim = mdim,
                    .hash = DT_HASH_SEED, .at = grads->origin };
    b->name = dt_diag_kept_name(g, p);
  } else if (!dt_mesh_equal(b->mesh, mesh) || b->mdim != mdim) {
    return;                     /* mesh["dp"] is another object each time */
  }
  b->units++;
  if ((h = dt_diag_sample(grads->local)) == 0) return;
  b->hash = dt_hash_u64(b->hash, h);
  b->telling = true;
}

void dt_diag_batch (DtDiag *g) {
  DtBatch *b = &g->batch;
  DtFact fact = { true, b->hash | 1 };
  DtEvent e = { .kind = DT_EV_GRAD, .text = "backward", .file = b->at.file,
                .line = b->at.line, .seq = b->at.seq, .module = "",
                .backward = true };
  if (!b->telling) return;
  b->telling = false;           /* once, until more of them come */
  /* also over the dimension whose ranks hold copies */
  for (int d = 0; d < b->mesh->ndim; d++)
    if (b->mesh->shape[d] > 1)
      dt_diag_claim_all(g, &e, DT_FIND_ID_SAME_BATCH, b->mesh, d, d, 1, &fact,
                        b->name, "gradients of fully_shard's units as backward "
                        "gave them");
}

/* --- what a sampler deals out --- */

/* A few bytes of all the memory that `t` is a view of, as a hash. */
static uint64_t sample_memory (const DtTensor *t, size_t size) {
  enum { LOOKS = 64 };
  const char *p = dt_tensor_cdata(t);
  const size_t n = t->storage->nbytes, step = n / LOOKS / size * size + size;
  uint64_t h = dt_hash_u64(DT_HASH_SEED, (uint64_t)n);
  if (p == NULL) return 0;
  p -= (size_t)t->offset * size;
  for (size_t i = 0; i + size <= n; i += step) h = dt_hash_bytes(h, p + i, size);
  return h | 1;
}

/* Rows of a data set of which each rank has its part already: a sampler that deals
** them out once more leaves out the most. */
void dt_diag_dealt_out (DtDiag *g, const DtVar *rows) {
  const DtTensor *t = rows->local;
  const DtOrigin here = dt_diag_here(g, "DistributedSampler");
  const DtEvent e = dt_diag_origin(&here, "DistributedSampler");
  const int64_t n = dt_session_size(g->s), mine = dt_meta_numel(&t->m);
  const size_t size = dt_dtype_size((DtDtype)t->m.dtype);
  DtFact facts[2];
  if (!g->on || g->d->muted || rows->spec || dt_session_no_data(g->s) || mine < 2 ||
      t->m.ndim == 0 || (mine - mine / t->m.shape[0]) * n >
                        (int64_t)(t->storage->nbytes / size)) return;
  facts[0] = (DtFact){ false, dt_hash_u64(DT_HASH_SEED, (uint64_t)t->offset) | 1 };
  facts[1] = (DtFact){ true, sample_memory(t, size) };
  dt_diag_claim_all(g, &e, DT_FIND_ID_DEALT_AGAIN, NULL, -1, DT_SALT_DEALT_OUT, 2, facts,
                    dt_diag_name(g, rows), "rows of each rank, which a sampler deals "
                    "out among the ranks; where its part begins");
}

/* --- what a sampler added --- */

static void tell_padding (const DtDiag *g, char *text, size_t n) {
  snprintf(text, n, "%lld items for %d ranks, without gradients",
           (long long)g->items, g->padded);
}

void dt_diag_piece (DtDiag *g, const DtVar *v) {
  if (v->local) dt_idset_add(g, &g->own_pieces, v->local->storage->id);
}

void dt_diag_clipped (DtDiag *g, const DtVar *p, const DtVar *by) {
  enum { FEW = 4 };
  const DtOrigin here = dt_diag_here(g, "clip");
  const DtEvent e = dt_diag_origin(&here, "clip");
  DtFact fact = { false, 0 };
  if (!g->on || g->d->muted || g->own_pieces.n == 0 || p->local == NULL || by->spec ||
      dt_session_no_data(g->s) || g->nclipped == FEW ||
      !dt_idset_has(&g->own_pieces, p->local->storage->id)) return;
  fact.hash = dt_diag_hash(by->local, false);
  dt_diag_claim_all(g, &e, DT_FIND_ID_LOCAL_CLIP, NULL, -1,
                    DT_SALT_CLIPPED + g->nclipped++, 1, &fact, dt_diag_name(g, p),
                    "each rank has pieces of the parameters and takes the norm of "
                    "their gradients alone; what they are scaled by");
}

void dt_diag_padded (DtDiag *g, int64_t items, int ranks) {
  char text[96];
  if (!g->on || g->d->muted || ranks < 1) return;
  g->items = items;
  g->padded = ranks;
  g->with_padding = (items + ranks - 1) / ranks * ranks;
  tell_padding(g, text, sizeof text);
  dt_diag_tell(g, DT_FIND_ID_COUNTED_TWICE, NULL, "DistributedSampler", text);
}

static int64_t rows_of (const DtVar *v) {
  return v && v->local->m.ndim > 0 ? v->local->m.shape[0] : -1;
}

/* The items of all ranks were gathered, and those that were added are left out: by
** a slice, or because each is put where it belongs, a second time over the first. */
static void on_left_out (DtDiag *g, const DtEvent *e) {
  const DtVar *first = e->nin > 0 ? e->in[0] : NULL;
  const DtVar *rest = e->nout > 0 ? e->out[0] : NULL;
  bool all = false;
  char text[96];
  if (e->status != DT_OK || rows_of(rest) != g->items) return;
  if (rows_of(first) == g->with_padding) all = true;
  for (int i = 1; i < e->nin && rows_of(first) == g->items; i++)
    all = all || rows_of(e->in[i]) == g->with_padding;
  if (!all) return;
  tell_padding(g, text, sizeof text);
  dt_diag_withdraw(g, DT_FIND_ID_COUNTED_TWICE, text);
}

static bool leaves_out (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.slice.Tensor", "aten.narrow.default",
    "aten.index_put_.default", "aten.index_put.default", "aten.scatter_.src",
    "aten.scatter.src", "aten.index_copy_.default", "aten.index_copy.default",
    "aten._unique2.default", "aten.unique_dim.default", NULL };
  (void)g;
  return dt_diag_named(op, names);
}

/* --- schedules --- */

void dt_diag_scheduled (DtDiag *g, double total, int64_t step) {
  if (!g->on || g->d->muted) return;
  if (step == 0) {
    g->planned = total;
    g->scheduled = 0;
    g->scheduler_at = dt_diag_here(g, "lr_scheduler");
  } else if (total == g->planned) g->scheduled = step;
}

void dt_diag_pass_begins (DtDiag *g, int ranks) {
  if (!g->on || g->d->muted || !g->s->grad_enabled) return;
  g->passes++;
  g->dealt_to = ranks;
}

/* Made for the steps that one rank would make alone.  In each pass the last batch may
** be a smaller one.  What is stepped once a pass counts passes. */
void dt_diag_schedule (DtDiag *g) {
  const int64_t n = g->dealt_to, k = g->scheduled;
  const DtEvent e = dt_diag_origin(&g->scheduler_at, "lr_scheduler");
  if (n > 1 && k > g->passes && g->planned <= (double)(k * n) &&
      g->planned >= (double)((k - g->passes) * n) && g->planned > (double)k)
    dt_diag_add(g, &e, DT_FIND_ID_SCHEDULE_LENGTH, NULL, 0, NULL, "it is made for %.15g "
                "steps; %lld were made, in %d pass%s over what a sampler deals out to "
                "%d ranks", g->planned, (long long)k, g->passes,
                g->passes == 1 ? "" : "es", (int)n);
  g->passes = g->dealt_to = 0;
}

const DtDiagRule dt_rules_batch[] = {
  { DT_EV_OP_END, on_left_out, leaves_out, DT_WHEN(padded) },
  { 0, NULL, NULL, 0 }
};
