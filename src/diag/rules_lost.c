/* SPDX-License-Identifier: MIT
** diag/rules_lost.c: gradients, and parts of parameters, that get lost.
**
** - A gradient that backward gave is cleared before anybody read it, and comes
**   again from the same line: only the last micro-batch counts.
** - Some elements of a parameter keep their first values although they have a
**   gradient: an update by parts leaves them out.
** - What was flattened into one tensor is taken apart in another order.
** - A function whose forward gathers the parts of all ranks gives backward this
**   rank's gradient alone, while the ranks have other gradients of the whole.
** - The same is added to the gradient of every rank, and then summed.
** - A parameter was frozen when the optimizer was made, and gets gradients later. */
#include <math.h>
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

/* --- cleared before they are used --- */

void dt_diag_gradient_came (DtDiag *g, const DtEvent *e, DtLearn *l,
                            int64_t storage) {
  if (l->grad == storage) return;       /* it is added to */
  if (l->grad != 0 && !l->read && l->steps == l->steps_before &&
      l->came_line == e->line) {
    l->cleared++;
    dt_idset_add(g, &g->unread, l->grad);
  }
  l->read = false;
  l->steps_before = l->steps;
  l->came_line = e->line;
}

/* Somebody looks at a gradient: what comes of it is his business. */
static void on_gradient_read (DtDiag *g, const DtEvent *e) {
  if (e->backward) return;
  for (int i = 0; i < e->nin; i++) {
    DtLearn *l = e->in[i] && !e->in[i]->spec
                 ? dt_diag_by_grad(g, e->in[i]->local->storage->id) : NULL;
    if (e->in[i] && g->unread.n > 0 &&
        dt_idset_has(&g->unread, e->in[i]->local->storage->id)) g->kept_aside = true;
    if (l && !(i == 0 && dt_diag_is(g, e, DT_DO_ZERO))) l->read = true;
  }
}

/* A finding of the parameter `l`, whose name is known already. */
static void report_learn (DtDiag *g, const DtLearn *l, DtFindId id, DtEvent *e,
                          DtBuf *b) {
  DtFinding f = { .kind = dt_find_kind((int)id), .seq = e->seq, .op = e->text,
                  .file = e->file, .line = e->line, .module = "" };
  if (!b->oom) dt_diag_put(g, &f, 0, NULL, l->name, dt_buf_str(b));
  else dt_error_clear(g->s->cx);
  dt_buf_fini(b);
}

static void report_cleared (DtDiag *g) {
  enum { OFTEN = 2 };
  const DtLearn *l = NULL;
  DtEvent e;
  DtBuf b;
  for (int i = 0; i < g->nlearn && l == NULL && !g->kept_aside; i++)
    if (g->learn[i].cleared >= OFTEN && g->learn[i].steps > 0) l = &g->learn[i];
  if (l == NULL) return;
  e = (DtEvent){ .kind = DT_EV_GRAD, .text = "zero_grad",
                 .file = g->cleared_at.line ? g->cleared_at.file : l->file,
                 .line = g->cleared_at.line ? g->cleared_at.line : l->line,
                 .module = "" };
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "the gradient of %s from backward at %s:%d was cleared %d times "
              "before anybody read it, and %d times used",
              dt_diag_learn_name(l), l->file, l->line, l->cleared,
              l->steps);
  report_learn(g, l, DT_FIND_ID_CLEARED_UNUSED, &e, &b);
}

void dt_diag_clearing (DtDiag *g) {
  const DtLearn *l = g->nlearn > 0 ? &g->learn[0] : NULL;
  g->cleared_seq = g->s->seq;
  if (!g->on || l == NULL || l->read || l->grad == 0 ||
      l->steps != l->steps_before) return;
  g->cleared_at = dt_diag_here(g, "zero_grad");
}

/* --- never updated --- */

enum { MOST = 2048 };

void dt_diag_keep_first (DtDiag *g, DtLearn *l, const DtVar *v) {
  const DtTensor *t = v->local;
  const int64_t n = dt_meta_numel(&t->m);
  const size_t size = dt_dtype_size((DtDtype)t->m.dtype);
  if (n < 4 || n > MOST || !dt_meta_is_contiguous(&t->m) ||
      !dt_tensor_has_data(t) ||
      t->storage->nbytes < (size_t)n * size) return;    /* freed meanwhile */
  l->first = DT_NEWN(g->s->cx, char, (size_t)n * size);
  if (l->first == NULL) dt_error_clear(g->s->cx);
  else memcpy(l->first, dt_tensor_cdata(t), (size_t)n * size);
}

/* Is the gradient of element i large enough to change it? */
static bool counts (const DtVar *v, int64_t i) {
  int64_t at[DT_MAX_NDIM] = { 0 };
  double x, d;
  for (int k = v->local->m.ndim - 1; k >= 0; k--) {
    at[k] = i % v->local->m.shape[k];
    i /= v->local->m.shape[k];
  }
  x = dt_tensor_get(v->local, at).re;
  d = dt_tensor_get(v->grad->local, at).re;
  return isfinite(d) && fabs(d) > 1e-3 * fabs(x) && fabs(d) > 1e-6;
}

/* One run of elements that are as they were at first; all others changed.  A single one
** may have come back by chance: it must have been so after the update before. */
void dt_diag_look_still (DtLearn *l, const DtVar *v) {
  enum { FEW = 4 };
  const DtTensor *t = v->local;
  const int64_t n = dt_meta_numel(&t->m);
  const size_t size = dt_dtype_size((DtDtype)t->m.dtype);
  const int64_t was = l->still_from;
  const char *now;
  int64_t from = -1, end = -1;
  if (l->first == NULL || (l->steps > FEW && l->still_from < 0) || n != l->numel ||
      !dt_meta_is_contiguous(&t->m)) return;
  now = dt_tensor_cdata(t);
  l->still_from = -1;
  for (int64_t i = 0; i < n; i++) {
    if (memcmp(l->first + (size_t)i * size, now + (size_t)i * size, size) != 0)
      continue;
    if (from < 0) from = i;
    else if (end != i) return;
    end = i + 1;
  }
  if (end - from == 1 && l->steps > 1 && was != from) return;
  if (from < 0 || end - from == n || v->grad == NULL || v->grad->spec ||
      !dt_meta_same_shape(&v->grad->local->m, &t->m)) return;
  for (int64_t i = from; i < end; i++)
    if (!counts(v, i)) return;
  l->still_from = from;
  l->still_end = end;
}

/* The program sends the largest of so many elements: others wait. */
static void on_chosen (DtDiag *g, const DtEvent *e) {
  enum { SIZES = sizeof g->chosen / sizeof g->chosen[0] };
  const DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  if (v != NULL && !v->requires_grad && v->local->m.ndim == 1)
    g->chosen[g->nchosen++ % SIZES] = dt_meta_numel(&v->local->m);
}

static bool chooses_largest (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return strcmp(op->sig->full, "aten.topk.default") == 0;
}

static bool is_chosen_from (const DtDiag *g, int64_t numel) {
  for (size_t i = 0; i < sizeof g->chosen / sizeof g->chosen[0]; i++)
    if (g->chosen[i] == numel) return true;
  return false;
}

static void report_still (DtDiag *g) {
  for (int i = 0; i < g->nlearn; i++) {
    const DtLearn *l = &g->learn[i];
    DtEvent e = dt_diag_origin(&l->wrote, "update");
    DtBuf b;
    if (l->still_from < 0 || l->steps < 2 || l->drawn || l->first == NULL ||
        is_chosen_from(g, l->numel)) continue;
    dt_buf_init(&b, g->s->cx);
    dt_buf_addf(&b, "elements %lld to %lld of the %lld of %s have the values they "
                "began with after %d updates; their gradient from %s:%d is not 0",
                (long long)l->still_from, (long long)l->still_end - 1,
                (long long)l->numel, dt_diag_learn_name(l), l->steps,
                l->file, l->line);
    report_learn(g, l, DT_FIND_ID_NEVER_UPDATED, &e, &b);
    return;
  }
}

/* --- flattened --- */

static void on_flattened (DtDiag *g, const DtEvent *e) {
  DtFlat *f;
  int64_t at = 0;
  if (e->status != DT_OK || e->backward || e->nin < 2 || e->nin > DT_FLAT_PARTS ||
      e->nout < 1 || e->out[0] == NULL || e->out[0]->spec ||
      e->out[0]->local->m.ndim != 1) return;
  for (int i = 0; i < e->nin; i++)
    if (e->in[i] == NULL || e->in[i]->spec || e->in[i]->local->m.ndim != 1) return;
  f = &g->flat[g->nflat++ % DT_FLATS];
  *f = (DtFlat){ .storage = e->out[0]->local->storage->id, .n = e->nin };
  for (int i = 0; i < e->nin; i++) {
    f->part[i] = e->in[i]->local->storage->id;
    f->off[i] = at;
    at += dt_meta_numel(&e->in[i]->local->m);
  }
}

/* A piece of it is copied into what was put into it elsewhere. */
static void on_unflattened (DtDiag *g, const DtEvent *e) {
  const DtVar *to = e->in[0], *from = e->nin > 1 ? e->in[1] : NULL;
  if (e->status != DT_OK || e->backward || to == NULL || from == NULL || to->spec ||
      from->spec) return;
  for (int i = 0; i < DT_FLATS && i < g->nflat; i++) {
    const DtFlat *f = &g->flat[i];
    int there = -1;
    if (f->storage != from->local->storage->id) continue;
    for (int k = 0; k < f->n; k++)
      if (f->part[k] == to->local->storage->id) {
        if (f->off[k] == from->local->offset || there >= 0) return;
        there = k;
      }
    if (there >= 0)
      dt_diag_add(g, e, DT_FIND_ID_FLAT_ORDER, to, 0, NULL, "what comes from element "
                  "%lld of the flat tensor is copied into it; its own lie at %lld",
                  (long long)from->local->offset, (long long)f->off[there]);
    return;
  }
}

/* --- the gradient of a gather --- */

/* How many of its elements are not 0. */
static int64_t count_set (const DtTensor *t) {
  static const char zero[16];
  const DtMeta *m = &t->m;
  const int64_t n = dt_meta_numel(m);
  const int64_t size = (int64_t)dt_dtype_size((DtDtype)m->dtype);
  const char *p = dt_tensor_cdata(t);
  int64_t found = 0;
  for (int64_t i = 0; p && i < n; i++) {
    int64_t rest = i, off = 0;
    for (int d = m->ndim - 1; d >= 0; d--) {
      off += rest % m->shape[d] * m->stride[d];
      rest /= m->shape[d];
    }
    found += memcmp(p + off * size, zero, (size_t)size) != 0;
  }
  return found;
}

/* Each rank may go on with its own rows of what was gathered, as a layer of experts
** does: then there is nothing in the gradient but what this rank keeps. */
static bool keeps_all (const DtTensor *grad, const DtTensor *back) {
  enum { LARGE = 1 << 20 };
  return dt_meta_numel(&grad->m) <= LARGE && count_set(grad) == count_set(back);
}

void dt_diag_gather_back (DtDiag *g, const DtVar *out, const DtVar *grad,
                          const DtVar *back) {
  DtFact facts[2];
  DtOrigin at = back->origin;
  const DtOrigin here = dt_diag_here(g, "backward");
  DtEvent e;
  if (!g->on || g->d->muted || out->spec || grad->spec || back->spec ||
      dt_session_no_data(g->s)) return;
  if (at.line == 0) at = here;
  if (at.line == here.line && out->origin.line > 0) at = out->origin;
  g->put_back = true;
  if (g->own_back.line == 0) g->own_back = at;
  if (keeps_all(grad->local, back->local)) return;
  facts[0] = (DtFact){ false, dt_diag_sample(grad->local) };
  facts[1] = (DtFact){ true, dt_diag_sample(out->local) };
  e = dt_diag_origin(&at, "backward");
  e.backward = true;
  dt_diag_claim_all(g, &e, DT_FIND_ID_GATHER_BACK, NULL, -1, DT_SALT_GATHER_BACK, 2, facts,
                    dt_diag_name(g, back), "what all ranks gathered is the same, its "
                    "gradient is not, and was not reduced; the gradients");
}

/* --- the same, added to each --- */

void dt_diag_gradient_added (DtDiag *g, const DtEvent *e, DtLearn *l) {
  const DtVar *x = e->nin > 1 ? e->in[1] : NULL;
  if (!dt_diag_is(g, e, DT_DO_ADD) || x == NULL || x->spec ||
      dt_meta_numel(&x->local->m) < 2 || l->reduced ||
      dt_diag_by_grad(g, x->local->storage->id) != NULL) return;
  l->extra = dt_diag_sample(x->local);
  l->extra_at = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                            .line = e->line, .seq = e->seq };
}

static void claim_extra (DtDiag *g, const DtLearn *l, int64_t nr) {
  const DtFact facts[2] = { { true, l->extra }, { false, l->came } };
  DtEvent e = dt_diag_origin(&l->extra_at, "add");
  const char *what;
  DtBuf b;
  if (l->extra == 0 || !l->extra_summed) return;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "what is added to the gradient of %s on each rank, before the sum",
              dt_diag_learn_name(l));
  what = dt_diag_intern(g, &b);
  if (what) dt_diag_claim_all(g, &e, DT_FIND_ID_ADDED_EACH, g->over, g->over_dim,
                              nr + DT_SALT_EXTRA, 2, facts, l->name, what);
}

/* --- unfrozen when the optimizer was made already --- */

/* That it was frozen once and is no more says that it is to be trained; one that the
** optimizer was never to have is often left as it is. */
static void report_thawed (DtDiag *g) {
  enum { OFTEN = 2 };
  const DtLearn *left = NULL, *other = NULL;
  DtEvent e;
  DtBuf b;
  for (int i = 0; i < g->nlearn; i++) {
    const DtLearn *l = &g->learn[i];
    if (l->steps >= OFTEN && (other == NULL || l->wrote.seq > other->wrote.seq)) other = l;
    if (left == NULL && l->param && l->steps == 0 && l->came_often >= OFTEN &&
        dt_idset_has(&g->thawed, l->storage)) left = l;
  }
  if (left == NULL || other == NULL || other->wrote.line == 0) return;
  e = dt_diag_origin(&other->wrote, "step");
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "it was frozen, gets gradients since (%s:%d, %d times) and no update; "
              "others are updated", left->file, left->line, left->came_often);
  report_learn(g, left, DT_FIND_ID_THAWED_ALONE, &e, &b);
}

/* --- in the end --- */

void dt_diag_lost (DtDiag *g) {
  report_cleared(g);
  report_still(g);
  if (g->thawed.n > 0) report_thawed(g);
  for (int i = 0; i < g->nlearn && g->over != NULL && !g->moved; i++)
    claim_extra(g, &g->learn[i], i);
}

const DtDiagRule dt_rules_lost[] = {
  { DT_EV_OP, on_gradient_read, NULL, DT_WHEN(nlearn) },
  { DT_EV_OP_END, on_chosen, chooses_largest, DT_WHEN(nlearn) },
  { DT_EV_OP_END, on_flattened, dt_diag_flattens, 0 },
  { DT_EV_OP_END, on_unflattened, dt_diag_copies_over, DT_WHEN(nflat) },
  { 0, NULL, NULL, 0 }
};
