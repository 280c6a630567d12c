/* SPDX-License-Identifier: MIT
** diag/rules_train.c: training by hand: plain parameters that all ranks hold.
**
** Of each plain leaf that gets a gradient a hash of a few of its values is kept
** at its first gradient and after its last update, and one of the gradient, as
** it came from backward and as it was when the parameter was updated.  Across
** the ranks over which gradients are reduced: equal at first, another gradient,
** not equal in the end: its gradient was not reduced.  Never equal, but the same
** gradient after a reduction: the copies began apart.  All gradients equal
** before a reduction: every rank has the same batch.  A program that moves
** activations between ranks (pipelines, experts) or averages parameters means
** them to differ: nothing is said of it.
**
** Values that are all the same (zeros, ones) are equal by chance: no evidence. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

/* As dt_diag_hash with `varied`, of 64 values only: taken of each parameter at
** each step. */
uint64_t dt_diag_sample (const DtTensor *t) {
  enum { FEW = 64 };
  const DtMeta *m = &t->m;
  const int64_t n = dt_meta_numel(m);
  const int64_t size = (int64_t)dt_dtype_size((DtDtype)m->dtype);
  const int64_t step = n > FEW ? n / FEW | 1 : 1;
  int64_t i;
  const char *p = dt_tensor_cdata(t), *first = NULL;
  uint64_t h = dt_hash_u64(DT_HASH_SEED, (uint64_t)n);
  bool same = true;
  if (p == NULL || n < 2) return 0;
  for (i = 0; i < n; i += step) {
    int64_t rest = i, off = 0;
    const char *at;
    for (int d = m->ndim - 1; d >= 0; d--) {
      off += rest % m->shape[d] * m->stride[d];
      rest /= m->shape[d];
    }
    at = p + off * size;
    if (first == NULL) first = at;
    else if (memcmp(first, at, (size_t)size) != 0) same = false;
    h = dt_hash_bytes(h, at, (size_t)size);
  }
  return same ? 0 : h | 1;
}

/* A single number is compared, too; that it begins alike says little, see
** claim_no_drift(). */
static uint64_t sample_of (const DtTensor *t) {
  return dt_meta_numel(&t->m) == 1 ? dt_diag_hash(t, false) : dt_diag_sample(t);
}

DtLearn *dt_diag_by_storage (const DtDiag *g, int64_t storage) {
  int i = g->learn_at[(uint64_t)storage % DT_LEARN_SLOTS] - 1;
  return i >= 0 && g->learn[i].storage == storage ? &g->learn[i] : NULL;
}

static DtLearn *by_storage (DtDiag *g, int64_t storage) {
  return dt_diag_by_storage(g, storage);
}

DtLearn *dt_diag_by_grad (const DtDiag *g, int64_t storage) {
  int i = g->grad_at[(uint64_t)storage % DT_LEARN_SLOTS] - 1;
  return i >= 0 && g->learn[i].grad == storage ? &g->learn[i] : NULL;
}

static DtLearn *by_grad (DtDiag *g, int64_t storage) {
  return dt_diag_by_grad(g, storage);
}

void dt_diag_learn_free (DtDiag *g) {
  for (int i = 0; i < g->nlearn; i++) {
    dt_free(g->s->cx, g->learn[i].first);
    dt_mesh_unref(g->s->cx, g->learn[i].mesh);
    dt_mesh_unref(g->s->cx, g->learn[i].near);
  }
  g->nflat = 0;
  g->kept_aside = false;
  g->cleared_at.line = 0;
  dt_mesh_unref(g->s->cx, g->over);
  dt_mesh_unref(g->s->cx, g->split);
  dt_mesh_unref(g->s->cx, g->pieces_over);
  g->pieces_over = NULL;
  dt_free(g->s->cx, g->learn);
  g->over = g->split = NULL;
  g->reordered = false;
  g->sampled_at.line = 0;
  g->learn = NULL;
  g->nlearn = g->nlow = 0;
  g->moved = g->piped = g->averaged = g->idle = g->normed = false;
  g->stages = 0;
  g->nclipped = g->sender = 0;
  g->many_send = false;
  g->alone_at.line = g->idle_at.line = g->void_at.line = g->frozen_at.line = 0;
  g->frozen = 0;
  g->solo_words = NULL;
  g->shared_at.line = g->most_at.line = g->squares_at.line = g->since_update = g->pieces = 0;
  g->tied_claim = 0;
  dt_diag_units_free(g);
  g->modes = 0;
  g->nmodes = g->evaluates_at.line = 0;
  g->rate = (DtRate){ .times = 0 };
  g->accumulates = g->told_pieces = g->filled = false;
  g->nfactors = g->nsummed = g->padded = g->ndealt = g->nnorms = 0;
  memset(g->met, 0, sizeof g->met);
  g->piece_normed = false;
  g->piece_scaled = DT_HASH_SEED;
  g->piece_at.line = 0;
  g->scattered.n = 0;
  memset(g->summed, 0, sizeof g->summed);
  memset(g->chosen, 0, sizeof g->chosen);
  g->sent_some.n = 0;
  g->nones = 0;
  g->ratio = 0;
  memset(g->dealt, 0, sizeof g->dealt);
  memset(g->learn_at, 0, sizeof g->learn_at);
  memset(g->grad_at, 0, sizeof g->grad_at);
  memset(g->low, 0, sizeof g->low);
}

/* The row of a parameter that an optimizer changes for the first time. Found
** by storage in a small table of which two storages may want the same slot:
** then the later one is not followed. */
static DtLearn *begin_learning (DtDiag *g, const DtEvent *e, const DtVar *p) {
  const int64_t id = p->local->storage->id;
  DtLearn *l;
  if (g->learn == NULL &&
      (g->learn = DT_NEWN(g->s->cx, DtLearn, DT_LEARNS)) == NULL) {
    dt_error_clear(g->s->cx);
    return NULL;
  }
  if (g->nlearn == DT_LEARNS ||
      g->learn_at[(uint64_t)id % DT_LEARN_SLOTS] != 0) return NULL;
  l = &g->learn[g->nlearn++];
  g->learn_at[(uint64_t)id % DT_LEARN_SLOTS] = g->nlearn;
  l->storage = id;
  l->version = p->local->storage->version;
  l->numel = dt_meta_numel(&p->local->m);
  l->start = l->last = sample_of(p->local);
  if (l->start == 0 && dt_idset_has(&g->gains, id))
    l->start = dt_diag_hash(p->local, false);
  l->at_first = dt_diag_hash(p->local, false);
  l->drawn = p->local->storage->drawn;
  l->piece = dt_diag_place_spread(g, p) != NULL;
  l->made = p->origin;
  l->param = p->is_param;
  l->clipped = DT_HASH_SEED;
  l->still_from = -1;
  dt_diag_keep_first(g, l, p);
  l->name = dt_diag_kept_name(g, p);
  l->file = e->file;
  l->line = e->line;
  return l;
}

/* The first mesh dimension over which a trained parameter is cut. */
static void note_cut (DtDiag *g, const DtSpec *s) {
  for (int d = 0; d < s->npl && g->split == NULL; d++)
    if (s->pl[d].kind == DT_PL_SHARD && s->mesh->shape[d] > 1) {
      g->split = dt_mesh_ref(s->mesh);
      g->split_dim = d;
    }
}

void dt_diag_cuts (DtDiag *g, DtMesh *mesh, int mdim) {
  if (!g->on || g->d->muted || mesh->shape[mdim] < 2) return;
  dt_diag_wraps(g, mesh);
  if (g->split) return;
  g->split = dt_mesh_ref(mesh);
  g->split_dim = mdim;
}

/* A distributed parameter got a gradient: it waits for its update. */
static void await_update (DtDiag *g, const DtEvent *e) {
  const DtVar *p = e->nin > 0 ? e->in[0] : NULL;
  if (p == NULL || p->spec == NULL || !p->is_param) return;
  note_cut(g, p->spec);
  if (g->waiting.n == 0) {
    g->waits = dt_diag_kept_name(g, p);
    g->waits_file = e->file ? e->file : "";
    g->waits_line = e->line;
  }
  dt_idset_add(g, &g->waiting, p->local->storage->id);
}

static void end_waiting (DtDiag *g, const DtEvent *e) {
  for (int i = 0; e->status == DT_OK && !e->backward && i < e->nin; i++)
    if (e->in[i] && e->in[i]->spec)
      dt_idset_del(&g->waiting, e->in[i]->local->storage->id);
}

/* A gradient came. */
static void on_gradient (DtDiag *g, const DtEvent *e) {
  const DtVar *p = e->nin > 0 ? e->in[0] : NULL;
  const DtVar *d = e->nout > 0 ? e->out[0] : NULL;
  const DtTensor *t;
  DtLearn *l;
  if (p == NULL || d == NULL || p->spec || d->spec ||
      !dt_dtype_is_float((DtDtype)p->local->m.dtype) ||
      dt_session_no_data(g->s)) return;
  l = by_storage(g, p->local->storage->id);
  if (l == NULL && (l = begin_learning(g, e, p)) == NULL) return;
  t = d->local;
  l->came_often++;
  if (l->came == 0) {
    l->came = sample_of(t);
    l->gdrawn = t->storage->drawn;
    l->loss = g->root_hash;
  }
  dt_diag_gradient_came(g, e, l, t->storage->id);
  dt_diag_scaled_added(g, e, l, t->storage->id);
  if (l->grad != t->storage->id) l->sums = 0;
  else if (l->sums > 0) l->added = true;        /* to what was summed */
  l->grad = t->storage->id;
  g->grad_at[(uint64_t)l->grad % DT_LEARN_SLOTS] = (int)(l - g->learn) + 1;
}

/* Nothing came of an update: it was too small for the type's digits. */
static void note_lost_update (DtDiag *g, const DtEvent *e, const DtVar *v,
                              DtLearn *l) {
  enum { OFTEN = 2 };
  const DtDtype type = (DtDtype)v->local->m.dtype;
  if ((type != DT_BF16 && type != DT_F16) || v->grad == NULL || v->grad->spec ||
      dt_diag_sample(v->grad->local) == 0 || !dt_diag_is(g, e, DT_DO_ADD)) return;
  if (dt_diag_alpha(e) == 0) return;
  if (++l->lost == OFTEN && l->steps == OFTEN)
    dt_diag_add(g, e, DT_FIND_ID_LOST_UPDATE, v, 0, NULL, "%d updates with a "
                "gradient changed none of its values in %s", (int)OFTEN,
                dt_dtype_info(type)->name);
}

bool dt_diag_scales (const DtDiag *g, const DtEvent *e, double *x) {
  const bool div = dt_diag_is(g, e, DT_DO_DIV) ||
                   dt_diag_is(g, e, DT_DO_DIV_SCALAR);
  const DtVar *by = e->nin > 1 ? e->in[e->nin - 1] : NULL;
  *x = 1;
  if (!div && !dt_diag_is(g, e, DT_DO_MUL) && !dt_diag_is(g, e, DT_DO_MUL_SCALAR))
    return false;
  if (e->args->n > 1 && dt_arg_is_number(e->args, 1))
    *x = dt_arg_float(e->args, 1);
  else if (by && !by->spec && dt_meta_numel(&by->local->m) == 1 &&
           dt_tensor_has_data(by->local))
    *x = dt_tensor_get(by->local, (int64_t[DT_MAX_NDIM]){ 0 }).re;
  return *x != 1;
}

/* A gradient is multiplied or divided by a number after a norm was taken. */
static void note_scaled_gradient (DtDiag *g, const DtEvent *e, DtLearn *l) {
  double x;
  if (!g->normed || dt_idset_has(&g->own_pieces, l->storage) ||
      !dt_diag_scales(g, e, &x)) return;
  dt_diag_most_used(g, e->in[0]);
  l->clipped = dt_hash_bytes(l->clipped, &x, sizeof x);
  if (l->clip.line == 0)
    l->clip = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                          .line = e->line, .seq = e->seq };
}

/* In backward a product with a part of a gradient is the chain rule's. */
static void norm_taken (DtDiag *g, const DtEvent *e) {
  for (int i = 0; !e->backward && i < e->nin && !g->normed; i++)
    g->normed = e->in[i] && !e->in[i]->spec &&
                (by_grad(g, e->in[i]->local->storage->id) != NULL ||
                 dt_diag_share_reduced(g, e->in[i]->local));
}

bool dt_diag_takes_norm (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.linalg_vector_norm.default",
    "aten.norm.", "aten._foreach_norm.", "aten.pow.Tensor_Scalar",
    "aten.square.", "aten.dot.", "aten.abs.", "aten.mul.Tensor", NULL };
  (void)g;
  for (int i = 0; names[i]; i++)
    if (strncmp(op->sig->full, names[i], strlen(names[i])) == 0) return true;
  return false;
}

/* The gradients of all updates, and where the last one was. */
static void note_update (const DtDiag *g, const DtEvent *e, const DtVar *v, DtLearn *l) {
  const DtTensor *t = v->grad && !v->grad->spec ? v->grad->local : NULL;
  l->fresh = true;
  if (dt_diag_is(g, e, DT_DO_COPY)) l->by_copy = true;
  else l->by_step = true;
  l->wrote = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                         .line = e->line, .seq = e->seq };
  if (t == NULL) return;
  l->all_used = dt_hash_u64(l->all_used, sample_of(t)) | 1;
  if (t->storage->id != l->grad) l->touched = true;
}

/* A part whose gradient did not come from backward but from a reduce_scatter:
** how was that scaled? */
static void part_updated (DtDiag *g, const DtEvent *e, const DtVar *v) {
  DtLearn *l;
  int over, times;
  if (v == NULL || v->spec || !v->requires_grad || v->grad_fn || v->grad == NULL ||
      v->grad->spec || g->last_loss == 0 ||
      dt_diag_share_kept(g, v->grad->local, &over, &times) == DT_KEPT_UNKNOWN ||
      (l = begin_learning(g, e, v)) == NULL) return;
  l->step = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                        .line = e->line, .seq = e->seq };
  l->line = g->last_line;
  l->loss = g->last_loss;
  dt_diag_step_scaled(g, e, v, l);
}

/* An update of a parameter, or a change of a gradient. */
static void on_write (DtDiag *g, const DtEvent *e) {
  int i;
  if (e->status != DT_OK || e->backward || dt_session_no_data(g->s)) return;
  for (i = 0; i < e->nin; i++) {
    const DtVar *v = e->in[i];
    DtLearn *l = v && !v->spec ? by_storage(g, v->local->storage->id) : NULL;
    if (l != NULL && l->version != v->local->storage->version) {
      if (l->step.line == 0) {
        l->step = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                              .line = e->line, .seq = e->seq };
        if (v->grad && !v->grad->spec) {
          l->used = sample_of(v->grad->local);
          dt_diag_step_scaled(g, e, v, l);
        }
      }
      l->steps++;
      dt_diag_rate_used(g, e, l);
      dt_diag_drift_updated(g, e);
      note_update(g, e, v, l);
      dt_diag_look_still(l, v);
      if (sample_of(v->local) == l->last) note_lost_update(g, e, v, l);
      l->version = v->local->storage->version;
      l->last = sample_of(v->local);
    } else if (l == NULL && g->nshares > 0 && i == 0 && v && v->requires_grad) {
      part_updated(g, e, v);
    } else if (v && !v->spec &&
               (l = by_grad(g, v->local->storage->id)) != NULL && i == 0 &&
               !dt_diag_is(g, e, DT_DO_COPY)) {
      double x;
      note_scaled_gradient(g, e, l);
      dt_diag_gradient_scaled(g, e, l);
      dt_diag_gradient_added(g, e, l);
      if (dt_diag_scales(g, e, &x)) l->extra_summed = false;
      l->touched = true;
      l->sums = 0;              /* divided, cleared, clipped */
      l->added = false;
    } else if (i == 0 && l == NULL && g->normed && v && !v->spec) {
      double x;                 /* a part of a gradient, as reduce_scatter gave it */
      if (dt_diag_scales(g, e, &x) && dt_diag_share_reduced(g, v->local))
        dt_diag_most_used(g, v);
    }
  }
}

/* --- collectives --- */

/* A broadcast from a rank that did not update the parameter, over one that has.
** A source that has makes no claim: then nothing is found. */
static void update_sent (DtDiag *g, const DtRecRaw *raw, const DtLearn *l) {
  const DtFact fact = { false, l->fresh ? 3 : 2 };
  DtOrigin here;
  DtEvent e;
  if (raw->mesh->coord[raw->mdim] == raw->root && l->fresh) return;
  here = dt_diag_here(g, raw->kind);
  e = (DtEvent){ .kind = DT_EV_COLL, .text = raw->kind, .file = here.file,
                 .line = here.line, .seq = here.seq, .module = "" };
  dt_diag_claim_all(g, &e, DT_FIND_ID_UPDATE_DROPPED, raw->mesh, raw->mdim,
                    l - g->learn, 1, &fact, l->name, "was it updated here? the "
                    "source of the broadcast did not update it");
}

void dt_diag_frozen (DtDiag *g, const DtVar *v) {
  if (!g->on || g->d->muted || v->spec || !v->is_param) return;
  dt_diag_drift_frozen(g, v);
  dt_idset_add(g, &g->thawed, v->local->storage->id);
  for (int d = 0; d < v->local->m.ndim; d++)
    g->frozen = dt_hash_u64(g->frozen, (uint64_t)v->local->m.shape[d]);
  g->frozen = dt_hash_u64(g->frozen, 1) | 1;
  if (g->frozen_at.line == 0) g->frozen_at = dt_diag_here(g, "requires_grad_");
}

/* The largest of the ranks' gradients, their product: of no loss. */
static void gradient_reduced_by (DtDiag *g, const DtRecRaw *raw, const DtVar *in) {
  static const char *const others[] = { "max", "min", "product", NULL };
  const DtOrigin here = dt_diag_here(g, raw->kind);
  const DtEvent e = dt_diag_origin(&here, raw->kind);
  for (int i = 0; raw->reduce && others[i]; i++)
    if (strcmp(raw->reduce, others[i]) == 0)
      dt_diag_add(g, &e, DT_FIND_ID_OTHER_REDUCTION, in, 0, NULL, "the gradient of %s "
                  "is reduced over %lld ranks by %s",
                  *by_grad(g, in->local->storage->id)->name
                  ? by_grad(g, in->local->storage->id)->name : "a parameter",
                  (long long)raw->mesh->shape[raw->mdim], raw->reduce);
}

/* Has one of the parameters that get gradients as many elements? */
static bool is_like_learned (const DtDiag *g, const DtVar *p) {
  const int64_t n = dt_meta_numel(&p->local->m);
  for (int i = 0; i < g->nlearn; i++)
    if (g->learn[i].numel == n && n > 1) return true;
  return false;
}

static void set_over (DtDiag *g, DtMesh *mesh, int mdim) {
  dt_mesh_unref(g->s->cx, g->over);
  g->over = dt_mesh_ref(mesh);
  g->over_dim = mdim;
  g->over_number = false;
}

/* Gradients that are sent as whole numbers, or gathered to be summed: over these
** ranks they are reduced, though no sum of floating numbers tells. */
static void over_in_short (DtDiag *g, const DtRecRaw *raw, const DtVar *in) {
  const bool sum = strcmp(raw->kind, "all_reduce") == 0 && raw->reduce &&
                   strcmp(raw->reduce, "sum") == 0;
  if (g->over != NULL || raw->mesh->shape[raw->mdim] < 2) return;
  if ((sum && !dt_dtype_is_float((DtDtype)in->local->m.dtype) &&
       is_like_learned(g, in)) ||
      (strcmp(raw->kind, "all_gather") == 0 && dt_meta_numel(&in->local->m) > 1 &&
       by_grad(g, in->local->storage->id) != NULL))
    set_over(g, raw->mesh, raw->mdim);
}

/* What a collective does to parameters and to their gradients.  Broadcasts are
** looked at first: they say which parameters are meant to be equal, and by
** whom.  The group is set before the gradient is looked for, since a bucket or a
** copy of it is reduced as well and has no entry of its own.  l->mesh is NULL
** until the first reduction: `near` and reduced_at are that one's and must be
** taken before.  A sum of what backward has added to since the last sum counts
** the part that was summed once more. */
void dt_diag_train_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in) {
  const bool sum = raw->reduce && strcmp(raw->reduce, "sum") == 0;
  DtLearn *l;
  if (strstr(raw->kind, "all_to_all")) g->moved = true;
  if (g->nlearn > 0 && !in->spec && raw->mesh->shape[raw->mdim] > 1 &&
      dt_meta_numel(&in->local->m) > 1 &&
      by_grad(g, in->local->storage->id) != NULL) gradient_reduced_by(g, raw, in);
  if (strcmp(raw->kind, "broadcast") == 0 && !in->spec && raw->mesh->shape[raw->mdim] > 1 &&
      raw->mesh->shape[raw->mdim] < dt_session_size(g->s)) {
    if (g->sent_some.n == 0) g->sent_at = dt_diag_here(g, raw->kind);
    dt_idset_add(g, &g->sent_some, in->local->storage->id);
  }
  if (strcmp(raw->kind, "broadcast") == 0 &&
      (l = by_storage(g, in->local->storage->id)) != NULL) {
    update_sent(g, raw, l);
    if (l->fresh && g->sender > 0 && g->sender != raw->root + 1) g->many_send = true;
    if (l->fresh) g->sender = raw->root + 1;
    l->synced = true;
    l->fresh = false;
  }
  if (g->nlearn > 0 && !in->spec) over_in_short(g, raw, in);
  if (g->alone_at.line == 0 && g->nlearn > 0 && !in->spec &&
      strcmp(raw->kind, "all_reduce") == 0 && raw->mesh->shape[raw->mdim] == 1 &&
      dt_session_size(g->s) > 1 && by_grad(g, in->local->storage->id) != NULL)
    g->alone_at = dt_diag_here(g, raw->kind);
  if (g->nlearn == 0 || in->spec ||
      !dt_dtype_is_float((DtDtype)in->local->m.dtype) ||
      strstr(raw->kind, "reduce") == NULL ||
      !(sum || (raw->reduce && strcmp(raw->reduce, "avg") == 0))) return;
  if (dt_idset_has(&g->lowered, in->local->storage->id))
    dt_diag_tell(g, DT_FIND_ID_LOW_SUM, NULL, raw->kind, "gradients of more "
                 "digits were cast before they are summed over the ranks");
  if (by_storage(g, in->local->storage->id) != NULL ||
      dt_idset_has(&g->differences, in->local->storage->id)) {
    g->averaged = true;         /* parameters themselves, or by how much they moved */
    return;
  }
  if (raw->mesh->shape[raw->mdim] > 1 &&
      (dt_meta_numel(&in->local->m) > 1 || g->over == NULL)) {
    set_over(g, raw->mesh, raw->mdim);
    g->over_number = dt_meta_numel(&in->local->m) == 1;
  }
  if ((l = by_grad(g, in->local->storage->id)) == NULL) return;
  l->reduced = true;
  if (l->mesh == NULL) {
    l->reduced_at = dt_diag_here(g, raw->kind);
    l->near = dt_mesh_ref(raw->mesh);
    l->near_dim = raw->mdim;
  }
  dt_mesh_unref(g->s->cx, l->mesh);
  l->mesh = dt_mesh_ref(raw->mesh);
  l->mdim = raw->mdim;
  if (sum && l->sums > 0 && l->added)
    dt_diag_tell(g, DT_FIND_ID_SUMMED_TWICE, NULL, raw->kind,
                 "backward added to a gradient that was summed over the ranks, "
                 "then all of it is summed again");
  if (sum) {
    l->sums++;
    l->added = false;
  }
  l->scaled_at.line = 0;
  dt_diag_bounded_reduced(g, raw, in, l);
  l->extra_summed = sum && l->extra != 0;
}

void dt_diag_reduced (DtDiag *g, const DtVar *p, DtMesh *mesh, int mdim) {
  DtLearn *l = g->nlearn > 0 && !p->spec ? by_storage(g, p->local->storage->id)
                                         : NULL;
  if (l == NULL || !g->on || g->d->muted || mesh->shape[mdim] < 2) return;
  l->reduced = true;
  set_over(g, mesh, mdim);
}

void dt_diag_gradient_given (DtDiag *g, const DtVar *grad, DtMesh *mesh, int mdim) {
  DtLearn *l = g->nlearn > 0 && !grad->spec ? by_grad(g, grad->local->storage->id) : NULL;
  if (l == NULL || !g->on || g->d->muted || mesh->shape[mdim] < 2) return;
  l->given = true;
  if (g->over == NULL) set_over(g, mesh, mdim);
}

int64_t dt_diag_updates (const DtDiag *g) {
  int64_t n = 0;
  for (int i = 0; i < g->nlearn; i++) n += g->learn[i].steps;
  return n;
}

void dt_diag_unreduced (DtDiag *g, const DtVar *p, bool on) {
  if (!g->on || g->d->muted || p->local == NULL) return;
  if (on) dt_idset_add(g, &g->unreduced, p->local->storage->id);
  else dt_idset_del(&g->unreduced, p->local->storage->id);
}

bool dt_diag_keeps_back (const DtDiag *g) { return g->unreduced.n > 0; }

/* fully_shard keeps the gradients back that the step is for. */
void dt_diag_step_without (DtDiag *g, const DtVar *p) {
  const DtOrigin here = dt_diag_here(g, "step");
  const DtEvent e = dt_diag_origin(&here, "step");
  if (!g->on || g->d->muted || p->local == NULL) return;
  if (dt_idset_has(&g->unreduced, p->local->storage->id))
    dt_diag_add(g, &e, DT_FIND_ID_KEPT_BACK, p, 0, NULL, "gradient "
                "synchronization, or the all-reduce over the copies, is off, and was "
                "so in the last backward");
}

/* A step of an optimizer reaches parameter `p` with n gradients.  What is noted is
** where a step did nothing, and only the first time: a program that steps two
** optimizers in turn would overwrite the line that matters.  A parameter that
** learned before is no fault of the step that leaves it out. */
void dt_diag_step (DtDiag *g, int n, const DtVar *p) {
  const DtLearn *l = p && !p->spec && g->nlearn > 0
                     ? by_storage(g, p->local->storage->id) : NULL;
  DtEvent e;
  if (!g->on || g->d->muted || p == NULL) return;
  if (g->unreduced.n > 0) dt_diag_step_without(g, p);
  if (n == 0 && g->waiting.n > 0 && g->void_at.line == 0 &&
      !dt_idset_has(&g->waiting, p->local->storage->id))
    g->void_at = dt_diag_here(g, "step");
  if (g->nlearn == 0) return;
  if (n == 0 && l == NULL && g->void_at.line == 0 && is_like_learned(g, p))
    g->void_at = dt_diag_here(g, "step");
  if (l == NULL) {
    g->idle = g->idle || n > 0;
    if (n > 0 && g->idle_at.line == 0) g->idle_at = dt_diag_here(g, "step");
    return;
  }
  if (n > 0 || l->steps > 0) return;
  g->idle_at = dt_diag_here(g, "step");
  e = (DtEvent){ .kind = DT_EV_OP, .text = "step", .file = g->idle_at.file,
                 .line = g->idle_at.line, .seq = g->s->seq, .module = "" };
  dt_diag_add(g, &e, DT_FIND_ID_NOTHING_STEPPED, p, 0, NULL, "none of the "
              "optimizer's parameters has a gradient; backward gave one at "
              "%s:%d", l->file, l->line);
}

void dt_diag_moved (DtDiag *g) { g->moved = g->piped = true; }

/* --- when somebody asks --- */

/* A hash of what the vector of one value in `storage` was first used with, if that is
** not of one value itself; 0: no evidence. */
static uint64_t find_met (const DtDiag *g, int64_t storage) {
  const DtMet *m = &g->met[(uint64_t)storage % DT_METS];
  return m->storage == storage ? m->hash : 0;
}

/* What a vector of one value began with: what it met, too, and what all others began
** with that are not known to be a part of a whole.  An expert or a model of this rank's
** own has others that differ, and its norm is its own as well. */
static uint64_t met_with (const DtDiag *g, const DtLearn *l) {
  uint64_t h = dt_hash_u64(l->at_first, find_met(g, l->storage));
  for (int i = 0; i < g->nlearn; i++)
    if (g->learn[i].start != 0 && !g->learn[i].piece)
      h = dt_hash_u64(h, g->learn[i].start);
  return h | 1;
}

/* What a parameter began with, as evidence that it is a copy; 0: none.  Zeros or ones
** are, where a function joins the ranks in one model and what they were first used with
** says so (rules_met.c).  Those of a module are, where its optimizer steps what was
** reduced as well, and all others that were not reduced are equal, too: beside a part or
** an expert they would say nothing, and a tensor by itself may be meant to be this
** rank's. */
uint64_t dt_diag_began_with (const DtDiag *g, const DtLearn *l) {
  uint64_t h = l->at_first;
  bool beside = false;
  if (l->start != 0) return l->start;
  if (g->joint && find_met(g, l->storage) != 0) return met_with(g, l);
  if (g->over == NULL || strchr(l->name, '.') == NULL) return 0;
  for (int i = 0; i < g->nlearn; i++) {
    const DtLearn *o = &g->learn[i];
    if (o->reduced)
      beside = beside || (o->numel > 1 && o->step.line == l->step.line &&
                          o->step.file == l->step.file);
    else if (o->start != 0) h = dt_hash_u64(h, o->start);
  }
  return beside ? h : 0;
}

void dt_diag_set_apart (DtDiag *g, const DtVar *v) {
  if (!g->on || g->d->muted || v->local == NULL) return;
  if (g->apart.n == 0) g->apart_at = dt_diag_here(g, "ignore");
  dt_idset_add(g, &g->apart, v->local->storage->id);
}

/* Whether its gradients are to be summed or averaged hangs on the ranks' losses: one,
** or parts of one, or each of its own batch. */
static void claim_drift (DtDiag *g, const DtLearn *l, const DtMesh *mesh, int mdim,
                         int64_t nr, int n, DtFact *facts) {
  const bool alone = g->over == NULL && g->alone_at.line > 0;
  const DtOrigin *at = alone ? &g->alone_at     /* where it is to be mended */
                     : dt_idset_has(&g->apart, l->storage) ? &g->apart_at : &l->step;
  const DtEvent e = dt_diag_origin(at, "update");
  const double ranks = (double)(mesh == NULL ? dt_session_size(g->s)
                                : mdim < 0 ? dt_mesh_size(mesh) : mesh->shape[mdim]);
  const bool parts = fabs(g->root_total * ranks - 1) < 1e-4;   /* of one mean */
  DtClaim *c;
  const char *what = dt_diag_learn_words(
    g, l, alone ? "%s was equal; its gradient, from %s:%d, is another on each rank and "
                  "was reduced over groups of one rank only"
                : "%s was equal; its gradient, from %s:%d, is another "
                  "on each rank and was not reduced");
  facts[n] = (DtFact){ DT_ADVISES, parts ? 1 : g->last_loss };
  c = what ? dt_diag_claim_all(g, &e, DT_FIND_ID_DRIFT, mesh, mdim, nr, n + 1, facts,
                               l->name, what) : NULL;
  if (c) c->fix = DT_OF_ONE_LOSS;
}

/* Claims that a gradient differs between ranks whose parameters were equal.  Each
** fact alone is common (draws, buffers, one number); together they are a fault.
** `others`: of a model of single numbers it must be seen that others are reduced,
** or each of its losses would be one. */
static void claim_no_drift (DtDiag *g, const DtLearn *l, const DtMesh *mesh,
                            int mdim, int64_t nr) {
  const uint64_t start = dt_diag_began_with(g, l);
  DtFact facts[DT_FACTS] = { { false, l->last }, { true, start },
                            { false, l->came }, { false, l->all_used },
                            { true, (uint64_t)l->steps + 1 } };
  /* A gradient that was reduced here and there, or updates by other tensors. */
  const int n = l->all_used == 0 ? 3 : l->reduced || l->touched ? 5 : 4;
  bool others = l->numel > 1 || g->batch.mesh;  /* of one number: are others reduced? */
  for (int i = 0; i < g->nlearn && !others; i++)
    others = g->learn[i].numel > 1 && g->learn[i].reduced;
  if (l->step.line == 0 || l->drawn || start == 0 || l->last == 0 ||
      l->came == 0 || !others || (g->alone_at.line == 0 && dt_idset_has(&g->own_pieces,
                                                                        l->storage)))
    return;                     /* pieces of norms begin alike, too */
  claim_drift(g, l, mesh, mdim, nr, n, facts);
}

static void began_apart (DtDiag *g, const DtLearn *l, int64_t nr) {
  const DtFact facts[3] = { { false, l->start }, { false, l->came },
                            { true, l->used } };
  const bool some = dt_idset_has(&g->sent_some, l->storage);    /* not from one to all */
  const DtOrigin *after = dt_diag_rewrote(g, l->storage);
  const DtOrigin *load = after ? NULL : dt_diag_load_of(g, l->storage);
  DtEvent e = dt_diag_origin(some ? &g->sent_at : g->moved ? &l->reduced_at
                             : after ? after : load ? load : &l->made, "update");
  const char *what;
  if (l->start == 0 || l->numel < 2 || l->came == 0 || l->used == 0) return;
  what = dt_diag_learn_words(
    g, l, after ? "%s was written after a broadcast had made it equal; what it is when "
                  "its first gradient comes at %s:%d"
       : load ? "%s as it was loaded, when its first gradient came at %s:%d"
                : "%s when its first gradient came at %s:%d");
  if (what) dt_diag_claim_all(g, &e, DT_FIND_ID_NEVER_EQUAL,
                              l->mesh ? l->mesh : g->over,
                              l->mesh ? l->mdim : g->over_dim, nr, 3, facts,
                              l->name, what);
}

/* One rank updates it with the gradient of its own data, and sends it to all.
** Where one rank sends all parameters, it alone may be meant to learn. */
static bool updated_by_one (DtDiag *g, const DtLearn *l) {
  const DtFact facts[2] = { { false, l->came }, { true, l->start } };
  DtEvent e = { .kind = DT_EV_OP, .text = "update", .file = "", .module = "" };
  const char *what;
  DtClaim *c;
  if (!g->many_send || !l->synced || l->reduced || l->drawn || l->numel < 2 ||
      l->step.line == 0) return false;
  what = dt_diag_learn_words(g, l, "%s was equal, its gradient, from %s:%d, was not "
                             "reduced, and a broadcast sends it after an update; the "
                             "gradient");
  c = what ? dt_diag_claim_all(g, &e, DT_FIND_ID_UPDATED_BY_ONE, NULL, -1,
                               DT_SALT_UPDATED_BY_ONE, 2,
                               facts, l->name, what) : NULL;
  if (c == NULL) return false;
  c->file = l->step.file;
  c->line = l->step.line;
  c->seq = l->step.seq;
  return true;
}

/* A parameter that was equal, and its gradient too: but for how often it was
** updated. */
static void steps_apart (DtDiag *g, const DtLearn *l, int64_t nr) {
  const DtFact facts[4] = { { false, (uint64_t)l->steps + 1 },
                            { true, l->start }, { false, l->last }, { true, l->used } };
  const bool replaced = !l->reduced && l->touched && l->used != 0;
  DtEvent e = { .kind = DT_EV_GRAD, .text = "backward", .file = l->file,
                .line = l->line, .module = "", .backward = true };
  const char *what;
  DtClaim *c;
  if (l->drawn || !(l->reduced || l->given || replaced) || l->synced || l->numel < 2 || g->lets_go)
    return;
  what = dt_diag_learn_words(
    g, l, "%s: how often it was updated with its gradient, "
          "which is reduced, from %s:%d");
  c = what ? dt_diag_claim_all(g, &e, DT_FIND_ID_STEPS_APART, g->over,
                               g->over_dim, nr, replaced ? 4 : 3, facts, l->name,
                               what) : NULL;
  if (c && l->step.line > 0) {          /* reported where it was updated */
    c->op = l->step.op;
    c->file = l->step.file;
    c->line = l->step.line;
    c->seq = l->step.seq;
  } else if (c) c->quiet = true;
}

/* Equal at first, always updated with the same gradient, as often: the updates
** differed all the same. */
static void updates_apart (DtDiag *g, const DtLearn *l, int64_t nr) {
  const DtFact facts[4] = { { false, l->last }, { true, l->start },
                            { true, l->all_used },
                            { true, (uint64_t)l->steps + 1 } };
  DtEvent e = dt_diag_origin(&l->wrote, "update");
  const char *what;
  if (l->drawn || !l->reduced || l->synced || l->wrote.line == 0 ||
      l->numel < 2) return;
  what = dt_diag_learn_words(
    g, l, "%s was equal, and so were the gradients of all its "
          "updates (backward at %s:%d); what it is now");
  if (what) dt_diag_claim_all(g, &e, DT_FIND_ID_UPDATES_APART, g->over,
                              g->over_dim, nr, 4, facts, l->name, what);
}

/* Equal at first, and its gradient was reduced over these ranks; what it is updated
** with differs all the same, as where only some of them went on to reduce it. */
static void reduced_apart (DtDiag *g, const DtLearn *l, int64_t nr) {
  const DtFact facts[3] = { { false, l->used }, { true, l->start },
                            { false, l->last } };
  DtEvent e = dt_diag_origin(&l->reduced_at, "all_reduce");
  const char *what;
  if (l->drawn || l->near == NULL || l->synced || l->numel < 2) return;
  what = dt_diag_learn_words(
    g, l, "%s was equal, and its gradient (backward at %s:%d) is reduced over these "
          "ranks here; it is another on them when it is used");
  if (what) dt_diag_claim_all(g, &e, DT_FIND_ID_DRIFT, l->near, l->near_dim, nr, 3,
                              facts, l->name, what);
}

/* Some ranks do not train what the others do. */
static void frozen_apart (DtDiag *g) {
  const DtFact fact = { false, g->frozen | 1 };
  const DtLearn *l = &g->learn[0];
  DtEvent e = { .kind = DT_EV_OP, .text = "requires_grad_", .file = "",
                .module = "" };
  DtClaim *c;
  if (g->nlearn == 0) return;
  c = dt_diag_claim_all(g, &e, DT_FIND_ID_FROZEN_APART, g->over, g->over_dim, 0,
                        1, &fact, "", "parameters that get no gradient, by their "
                        "shapes");
  if (c == NULL) return;
  c->quiet = g->frozen_at.line == 0;
  c->file = l->file;
  if (c->quiet) return;
  c->file = g->frozen_at.file;
  c->line = g->frozen_at.line;
  c->seq = g->frozen_at.seq;
}

/* Does another rank update it with its gradient, and send it? */
static bool is_owned_elsewhere (const DtLearn *l) {
  return l->all_used == 0 && l->synced;
}

/* Is it trained apart on each rank and brought together now and then, by a copy of what
** an outer optimizer has?  Each rank clips its own gradients then. */
static bool is_trained_apart (const DtLearn *l) {
  return l->by_copy && l->by_step && !l->reduced;
}

/* Clipped by a norm that each rank took of what it has. */
static void claim_equal_clip (DtDiag *g, const DtLearn *l, int64_t nr) {
  const DtFact fact = { false, l->clipped };
  DtEvent e = { .kind = DT_EV_GRAD, .text = "clip", .file = l->file,
                .line = l->line, .module = "" };
  const char *what = dt_diag_learn_words(
    g, l, "the gradient of %s, from %s:%d, is scaled by another number on each "
          "rank, after a norm was taken");
  DtClaim *c;
  if (what == NULL || l->gdrawn || l->anew || is_owned_elsewhere(l) ||
      is_trained_apart(l)) return;
  c = dt_diag_claim_all(g, &e, DT_FIND_ID_LOCAL_CLIP, g->over, g->over_dim, nr,
                        1, &fact, l->name, what);
  if (c == NULL) return;
  c->quiet = l->clip.line == 0;         /* not on this rank */
  if (c->quiet) return;
  c->op = l->clip.op;
  c->file = l->clip.file;
  c->line = l->clip.line;
  c->seq = l->clip.seq;
}

/* Does this rank update some, and other ranks others? */
static bool owns_some (const DtDiag *g) {
  bool updates = false, gets = false;
  for (int i = 0; i < g->nlearn; i++) {
    updates = updates || g->learn[i].all_used != 0;
    gets = gets || is_owned_elsewhere(&g->learn[i]);
  }
  return updates && gets;
}

/* Are this rank's parameters scaled by several numbers?  Then each by its own norm,
** which is whole, or in groups. */
static bool clips_apart (const DtDiag *g, const DtLearn *of) {
  for (int i = 0; i < g->nlearn; i++) {
    const DtLearn *l = &g->learn[i];
    if (l->clip.line > 0 && !is_owned_elsewhere(l) && l->clipped != of->clipped)
      return true;
  }
  return false;
}

/* Stages of a pipeline, or owners of parameters, each of which clips by the norm of its
** own. */
static void claim_clip_of_stages (DtDiag *g) {
  const DtLearn *l = NULL;
  DtFact fact = { false, DT_HASH_SEED };
  DtEvent e = { .kind = DT_EV_GRAD, .text = "clip", .file = "", .module = "" };
  const char *what;
  DtClaim *c;
  for (int i = 0; i < g->nlearn && (l == NULL || l->clip.line == 0); i++)
    l = &g->learn[i];
  if (l == NULL || l->gdrawn || clips_apart(g, l)) return;
  fact.hash = l->clipped;
  what = dt_diag_learn_words(g, l, g->piped
    ? "the gradient of %s, from %s:%d, is scaled by another number on each stage, after a "
      "norm was taken"
    : "the gradient of %s, from %s:%d, is scaled by another number than those that other "
      "ranks update, after a norm was taken");
  c = what ? dt_diag_claim_all(g, &e, DT_FIND_ID_LOCAL_CLIP, NULL, -1, 0, 1, &fact,
                               l->name, what) : NULL;
  if (c == NULL) return;
  c->quiet = c->mute = l->clip.line == 0;
  if (c->quiet) return;
  c->op = l->clip.op;
  c->file = l->clip.file;
  c->line = l->clip.line;
  c->seq = l->clip.seq;
}

/* Some parameters get gradients and no update, and an optimizer has some that
** get none: it was made before they were replaced. */
static void left_behind (DtDiag *g) {
  const DtLearn *lost = NULL;
  DtEvent e = dt_diag_origin(&g->idle_at, "update");
  bool some = false;
  for (int i = 0; i < g->nlearn; i++) {
    const DtLearn *l = &g->learn[i];
    some = some || l->steps > 0;
    if (l->param && l->steps == 0 && lost == NULL) lost = l;
  }
  if (!g->idle || lost == NULL || !some) return;
  dt_diag_add(g, &e, DT_FIND_ID_STALE_PARAM, NULL, 0, NULL, "%s gets gradients "
              "(%s:%d) and no update; the optimizer holds another that gets none",
              dt_diag_learn_name(lost), lost->file, lost->line);
}

/* One parameter gets gradients and no update; another of as many elements is updated
** again and again with the gradient of an earlier backward: it was replaced. */
static void report_outdated (DtDiag *g) {
  for (int i = 0; i < g->nlearn; i++)
    for (int k = 0; k < g->nlearn; k++) {
      const DtLearn *l = &g->learn[i], *old = &g->learn[k];
      DtBuf b;
      if (!l->param || l->steps > 0 || l->came_often < 2 || !old->param ||
          old->steps < old->came_step + 2 || old->numel != l->numel || l->numel < 2)
        continue;
      dt_buf_init(&b, g->s->cx);
      dt_buf_addf(&b, "it gets gradients (%s:%d) and no update; the optimizer holds "
                  "another of as many elements, and updates it with a gradient from "
                  "before", l->file, l->line);
      dt_diag_put_at(g, DT_FIND_ID_STALE_PARAM, &old->wrote, dt_diag_learn_name(l), &b);
      return;
    }
}

/* None of an optimizer's parameters has a gradient, and those that have one are
** nobody's: all were replaced. */
static void report_replaced (DtDiag *g) {
  DtEvent e = dt_diag_origin(&g->void_at, "update");
  bool none = g->nlearn > 0 && g->batch.units == 0 && g->unreduced.n == 0;
  for (int i = 0; i < g->nlearn && none; i++)
    none = g->learn[i].param && g->learn[i].steps == 0;
  if (none && g->void_at.line > 0)
    dt_diag_add(g, &e, DT_FIND_ID_STALE_PARAM, NULL, 0, NULL, "%s gets gradients "
                "(%s:%d) and no update; none of the optimizer's parameters has one",
                dt_diag_learn_name(&g->learn[0]),
                g->learn[0].file, g->learn[0].line);
  if (g->void_at.line == 0 || g->waiting.n == 0) return;
  dt_diag_add(g, &e, DT_FIND_ID_STALE_PARAM, NULL, 0, NULL, "%s gets gradients "
              "(%s:%d) and no update; none of the optimizer's parameters has one",
              *g->waits ? g->waits : "a parameter", g->waits_file,
              g->waits_line);
}

/* The gradients of all parameters, as they came. */
static void same_batch (DtDiag *g) {
  static const char words[] = "gradients of all parameters as backward gave them";
  DtClaim *c;
  uint64_t h = DT_HASH_SEED;
  const DtLearn *one = NULL;
  DtFact fact = { true, 0 };
  DtEvent e;
  int i;
  for (i = 0; i < g->nlearn; i++) {
    const DtLearn *l = &g->learn[i];
    if (l->gdrawn) return;
    if (l->came && l->numel > 1) h = dt_hash_u64(h, l->came);
    if (l->came && l->numel > 1 && l->reduced && one == NULL) one = l;
  }
  if (one == NULL) return;
  fact.hash = h | 1;
  e = (DtEvent){ .kind = DT_EV_GRAD, .text = "backward", .file = one->file,
                 .line = one->line, .module = "", .backward = true };
  dt_diag_claim_all(g, &e, DT_FIND_ID_SAME_BATCH, g->over, g->over_dim, 0, 1,
                    &fact, one->name, words);
  fact.same = false;
  if (g->sampled_at.line > 0) e = dt_diag_origin(&g->sampled_at, "DistributedSampler");
  c = dt_diag_claim_all(g, &e, DT_FIND_ID_SAME_BATCH_SOME, g->over, g->over_dim, 0, 1,
                        &fact, one->name, words);
  if (c) c->paired = true;
}

void dt_diag_sampled (DtDiag *g, int64_t ranks) {
  if (ranks == dt_session_size(g->s)) g->sampled_all = true;
  if (g->on && !g->d->muted && ranks < dt_session_size(g->s))
    g->sampled_at = dt_diag_here(g, "DistributedSampler");
}

/* Gradients that are divided, or reduced, after backward make up for a sum that
** backward made: nothing is said of it. */
static void mute_back (DtDiag *g) {
  bool mended = false;
  for (int i = 0; i < g->nlearn && !mended; i++)
    mended = g->learn[i].touched || g->learn[i].reduced;
  for (int i = 0; i < g->nclaim; i++)
    if (g->claim[i].kind->id == DT_FIND_ID_SUMMED_BACK)
      g->claim[i].mute = mended || g->nlearn == 0;
}

/* fully_shard reduces the gradients of its units: a plain parameter beside them
** is a copy on each of those ranks, also where it began as ones. */
static void outside_units (DtDiag *g) {
  if (g->batch.mesh == NULL) return;
  if (g->over == NULL) {
    g->over = dt_mesh_ref(g->batch.mesh);
    g->over_dim = g->batch.mdim;
  }
  for (int i = 0; i < g->nlearn; i++)
    if (g->learn[i].start == 0) g->learn[i].start = g->learn[i].at_first;
}

/* What the steps of the whole run say, asked at its end.  Where something was
** moved between ranks (experts, stages) or the parameters themselves were
** averaged, "its gradient differs" is no fault: those return early, after the
** claims that hold there, too.  Without a reduction only what is surely a copy
** is claimed; with one, every parameter, unless broadcasts say which are equal. */
void dt_diag_train (DtDiag *g) {
  bool chosen = false;          /* a broadcast says which are to be equal */
  int i;
  if (g->nlearn > 0) left_behind(g);
  if (!g->idle) report_outdated(g);
  report_replaced(g);
  for (i = 0; i < g->nclaim && g->nlearn > 0; i++)
    if (g->claim[i].untrained) g->claim[i].mute = true;
  mute_back(g);
  dt_diag_lost(g);
  dt_diag_masters(g);
  for (i = 0; i < g->nlearn; i++)
    if (g->learn[i].kept == DT_KEPT_DEALT) dt_diag_kept(g, &g->learn[i], i);
  for (i = 0; i < g->nlearn && g->moved && !g->averaged; i++)
    if (g->learn[i].mesh) began_apart(g, &g->learn[i], i);
  if (g->piped && !g->averaged) claim_clip_of_stages(g);
  if (g->moved || g->averaged) return;
  for (i = 0; i < g->nlearn; i++) dt_diag_parts_stepped(g, &g->learn[i], i);
  for (i = 0; i < g->nlearn && g->over == NULL; i++)    /* nothing is reduced */
    if (dt_idset_has(&g->inner_gains, g->learn[i].storage))
      claim_no_drift(g, &g->learn[i], NULL, 0, i);
    else if (g->alone_at.line > 0)
      claim_no_drift(g, &g->learn[i], NULL, 0, i);
    else if (g->split && g->batch.mesh == NULL)   /* beside what is cut: a copy */
      claim_no_drift(g, &g->learn[i], g->split, g->split_dim, i);
  if (g->over == NULL || g->over_number)        /* one tells of all */
    for (i = 0; i < g->nlearn && !updated_by_one(g, &g->learn[i]); i++) ;
  outside_units(g);
  if (g->over == NULL) return;
  for (i = 0; i < g->nlearn; i++)
    chosen = chosen || dt_diag_chosen(g, g->learn[i].storage);
  /* First what began with values of its own: of several at one line the first is
  ** told of, and ones and zeros are the weaker evidence. */
  for (int weak = 0; weak < 2 && !chosen; weak++)
    for (i = 0; i < g->nlearn; i++)
      if ((g->learn[i].start == 0) == (weak == 1) &&
          !dt_diag_copied(g, g->learn[i].storage))
        claim_no_drift(g, &g->learn[i], g->over, g->over_dim, i);
  for (i = 0; i < g->nlearn; i++) {
    began_apart(g, &g->learn[i], i);
    dt_diag_kept(g, &g->learn[i], i);
    steps_apart(g, &g->learn[i], i);
    updates_apart(g, &g->learn[i], i);
    reduced_apart(g, &g->learn[i], i);
    claim_equal_clip(g, &g->learn[i], i);
  }
  frozen_apart(g);
  dt_diag_modes(g);
  if (owns_some(g)) claim_clip_of_stages(g);
  same_batch(g);
  dt_diag_lagging(g);
  dt_diag_factors(g);
}

/* --- statistics of normalisation --- */

static int arg_named (const DtEvent *e, const char *name) {
  const DtSchema *sig = e->op->sig;
  for (int i = 0; i < sig->nargs && i < e->args->n; i++)
    if (strcmp(sig->arg[i].name, name) == 0) return i;
  return -1;
}

/* Statistics that are taken without gradients, after the training, are so on purpose:
** that line is to be mended where they differ. */
static void note_statistics (DtDiag *g, const DtEvent *e, int mean) {
  if (e->backward || e->nin <= mean || e->in[mean] == NULL || e->in[mean]->spec) return;
  g->taken_of = e->in[mean]->local->storage->id;
  g->taken_at = (DtOrigin){ .op = e->op->sig->full, .file = e->file, .line = e->line,
                            .seq = e->seq };
  if (g->s->grad_enabled) g->taken_at.line = 0;
}

/* Evaluation with running statistics: equal where the weights are. */
static void on_batch_norm_eval (DtDiag *g, const DtEvent *e) {
  enum { WEIGHT = 1, MEAN = 3, VAR = 4 };
  int k = arg_named(e, "training");
  DtFact facts[2];
  const DtVar *mean;
  DtEvent at = *e;
  if (k >= 0 && dt_arg_bool(e->args, k)) note_statistics(g, e, MEAN);
  if (e->backward || (k >= 0 && dt_arg_bool(e->args, k)) || e->nin <= VAR ||
      (mean = e->in[MEAN]) == NULL || mean->spec || e->in[WEIGHT] == NULL ||
      e->in[WEIGHT]->spec || dt_session_no_data(g->s)) return;
  facts[0] = (DtFact){ false, sample_of(mean->local) };
  facts[1] = (DtFact){ true, sample_of(e->in[WEIGHT]->local) };
  if (g->taken_of == mean->local->storage->id && g->taken_at.line > 0) {
    at.file = g->taken_at.file;
    at.line = g->taken_at.line;
    at.seq = g->taken_at.seq;
  }
  dt_diag_claim_all(g, &at, DT_FIND_ID_STATE_APART, NULL, -1,
                    (int64_t)(facts[1].hash >> 1), 2, facts,
                    dt_diag_name(g, mean), "running mean in evaluation, the "
                    "weight is the same on all ranks");
}

static bool is_batch_norm (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return strstr(op->sig->full, "batch_norm") != NULL &&
         strstr(op->sig->full, "backward") == NULL;
}

/* --- sums in low precision --- */

static bool is_low_precision (const DtVar *v) {
  return v && !v->spec && (v->local->m.dtype == DT_BF16 ||
                           v->local->m.dtype == DT_F16);
}

enum { MANY_LOW = 16 };         /* addends */

/* A sum of one number, as of a meter, counts where digits were lost: it is a hundredth
** off.  What is written into it besides, as at the start of an epoch, begins it anew. */
static bool is_lossy (DtLow *w, const DtEvent *e) {
  const int64_t at[DT_MAX_NDIM] = { 0 };
  const DtTensor *acc = e->in[0]->local, *x = e->in[1]->local;
  double now;
  if (dt_meta_numel(&acc->m) > 1) return true;
  if (dt_meta_numel(&acc->m) < 1 || dt_meta_numel(&x->m) != 1 ||
      !dt_tensor_has_data(acc) || !dt_tensor_has_data(x)) return false;
  now = dt_tensor_get(acc, at).re;
  if (acc->storage->version != w->version + 1 || dt_diag_alpha(e) != 1) {
    w->count = 0;
    w->sum = now;
  } else w->sum += dt_tensor_get(x, at).re;
  w->version = acc->storage->version;
  return w->count + 1 < MANY_LOW || fabs(now - w->sum) > 0.01 * fabs(w->sum);
}

/* One more addend into a plain tensor that nobody trains. */
static void low_sum (DtDiag *g, const DtEvent *e) {
  const DtVar *acc = e->nin > 0 ? e->in[0] : NULL;
  const DtVar *x = e->nin > 1 ? e->in[1] : NULL;
  DtLow *w = NULL;
  int i;
  if (e->status != DT_OK || e->backward || !is_low_precision(acc) ||
      x == NULL || x->spec ||
      acc->requires_grad || x->requires_grad ||
      (is_low_precision(x) && !(x->origin.op &&
                                strcmp(x->origin.op,
                                       "aten._to_copy.default") == 0))) return;
  for (i = 0; i < DT_LOWS && w == NULL; i++)
    if (g->low[i].storage == acc->local->storage->id) w = &g->low[i];
  if (w == NULL) {
    w = &g->low[g->nlow++ % DT_LOWS];
    *w = (DtLow){ .storage = acc->local->storage->id };
  }
  if (is_lossy(w, e) && ++w->count == MANY_LOW)
    dt_diag_add(g, e, DT_FIND_ID_LOW_SUM, acc, 0, NULL,
                "%d addends of more digits were cast and added to a sum in %s",
                (int)MANY_LOW, dt_dtype_info((DtDtype)acc->local->m.dtype)->name);
}

/* A gradient is cast to fewer digits. */
static void on_gradient_cast (DtDiag *g, const DtEvent *e) {
  if (e->status == DT_OK && !e->backward && e->nin > 0 && e->nout > 0 &&
      e->in[0] && !e->in[0]->spec && !is_low_precision(e->in[0]) &&
      is_low_precision(e->out[0]) &&
      dt_meta_numel(&e->in[0]->local->m) > 1 &&
      by_grad(g, e->in[0]->local->storage->id) != NULL)
    dt_idset_add(g, &g->lowered, e->out[0]->local->storage->id);
}

static bool is_casting (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_TO_COPY);
}

static bool adds_into (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_inplace(g, op) && dt_diag_op_is(g, op, DT_DO_ADD);
}

const DtDiagRule dt_rules_train[] = {
  { DT_EV_GRAD, on_gradient, NULL, 0 },
  { DT_EV_GRAD, await_update, NULL, 0 },
  { DT_EV_OP_END, end_waiting, dt_diag_inplace, DT_WHEN(waiting.n) },
  { DT_EV_OP_END, on_write, dt_diag_inplace, DT_WHEN(nlearn) },
  { DT_EV_OP_END, norm_taken, dt_diag_takes_norm, DT_WHEN(nlearn) },
  { DT_EV_OP_END, low_sum, adds_into, 0 },
  { DT_EV_OP_END, on_gradient_cast, is_casting, DT_WHEN(nlearn) },
  { DT_EV_OP, on_batch_norm_eval, is_batch_norm, 0 },
  { 0, NULL, NULL, 0 }
};
