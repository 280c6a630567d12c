/* SPDX-License-Identifier: MIT
** debug/grads.c: a row for each leaf that a gradient reached.  A leaf that is
** reached again replaces its row, so the log is as long as the model has
** parameters, however long it trains; beyond MOST the oldest rows go. */
#include <string.h>
#include "debug/control.h"
#include "debug/grads.h"

enum { MOST = 1 << 16, MOST_NEW = 1 << 14 };

struct DtGradLog {
  int listener;
  DtGradRow *row; int n, cap;
  DtGradNew *came; int ncame, capcame;
};

static void row_clear (DtDebug *d, DtGradRow *r) {
  dt_spec_unref(d->s->cx, r->spec);
  dt_spec_unref(d->s->cx, r->gspec);
  r->spec = r->gspec = NULL;
}

/* Newest first: a model's leaves come again in the same order. */
static DtGradRow *row_of (DtDebug *d, int64_t leaf) {
  DtGradLog *k = d->grads;
  for (int i = 0; i < k->n; i++)
    if (k->row[i].leaf == leaf) return &k->row[i];
  if (k->n == MOST) {
    row_clear(d, &k->row[0]);
    memmove(k->row, k->row + 1, sizeof *k->row * (size_t)--k->n);
  }
  if (k->n == k->cap) {
    int cap = k->cap ? 2 * k->cap : 16;
    DtGradRow *more = dt_realloc(d->s->cx, k->row,
                                 sizeof *more * (size_t)cap);
    if (more == NULL) return NULL;
    k->row = more;
    k->cap = cap;
  }
  memset(&k->row[k->n], 0, sizeof *k->row);
  k->row[k->n].leaf = leaf;
  return &k->row[k->n++];
}

/* Forget what came before the oldest operator that is still recorded: nobody
** can go back there. */
static void forget_old (DtDebug *d, DtGradLog *k) {
  const DtRecOp *first = d->rec.n > 0 ? dt_record_of(&d->rec, d->rec.n - 1)
                                      : NULL;
  int old = 0;
  while (first != NULL && old < k->ncame && k->came[old].seq < first->seq) old++;
  if (old == 0) return;
  k->ncame -= old;
  memmove(k->came, k->came + old, sizeof *k->came * (size_t)k->ncame);
}

/* Remember a new gradient; beyond MOST_NEW the older half goes. */
static void note_new (DtDebug *d, DtGradNew one) {
  DtGradLog *k = d->grads;
  if (k->ncame == k->capcame) forget_old(d, k);
  if (k->ncame == MOST_NEW) {
    k->ncame /= 2;
    memmove(k->came, k->came + k->ncame, sizeof one * (size_t)k->ncame);
  }
  if (k->ncame == k->capcame) {
    int cap = k->capcame ? 2 * k->capcame : 16;
    DtGradNew *more = dt_realloc(d->s->cx, k->came, sizeof one * (size_t)cap);
    if (more == NULL) { dt_error_clear(d->s->cx); return; }
    k->came = more;
    k->capcame = cap;
  }
  k->came[k->ncame++] = one;
}

void dt_grads_set (DtDebug *d, const DtVar *leaf, const DtVar *g) {
  if (d->grads == NULL || d->muted || d->rec.off || (!g && !leaf->grad)) return;
  note_new(d, (DtGradNew){ leaf->id, g ? g->local->storage->id : 0, d->s->seq,
                           true });
}

int64_t dt_grads_before (const DtDebug *d, int64_t leaf, int64_t seq) {
  const DtGradLog *k = d->grads;
  for (int i = k ? k->ncame - 1 : -1; i >= 0; i--)
    if (k->came[i].leaf == leaf && k->came[i].seq < seq)
      return k->came[i].storage;
  return 0;
}

/* What the script calls a leaf, now that it is first reached: a parameter by
** the path of its modules.  NULL: nothing of the script holds it. */
static const char *name_of (DtDebug *d, const DtVar *leaf) {
  const DtControl *c = dt_control_of(d->s);
  DtVar *one = (DtVar *)leaf;
  const char *name = NULL;
  if (c && c->h.names) c->h.names(c->h.ud, 1, &one, &name);
  return name ? name : leaf->name;
}

/* Recording never fails the program: a row that does not fit is left out. */
static DtStatus on_event (void *ud, DtSession *s, const DtEvent *e) {
  DtDebug *d = ud;
  DtVar *leaf = e->in[0], *g = e->out[0];
  DtGradRow *r;
  if (d->muted || d->rec.off || leaf == NULL || g == NULL) return DT_OK;
  r = row_of(d, leaf->id);
  if (r == NULL) {
    dt_error_clear(s->cx);
    return DT_OK;
  }
  if (r->count == 0 || r->storage != g->local->storage->id)
    note_new(d, (DtGradNew){ leaf->id, g->local->storage->id, s->seq, false });
  row_clear(d, r);
  if (r->count == 0) r->name = name_of(d, leaf);
  r->param = leaf->is_param;
  r->spec = leaf->spec ? dt_spec_ref(leaf->spec) : NULL;
  r->gspec = g->spec ? dt_spec_ref(g->spec) : NULL;
  dt_meta_copy(&r->meta, dt_var_meta(leaf));
  dt_meta_copy(&r->gmeta, dt_var_meta(g));
  r->storage = g->local->storage->id;
  r->seq = s->seq;
  r->file = e->file;
  r->line = e->line;
  r->count++;
  return DT_OK;
}

DtStatus dt_grads_new (DtDebug *d) {
  DtStatus st;
  d->grads = DT_NEW(d->s->cx, DtGradLog);
  if (d->grads == NULL) return DT_E_NOMEM;
  st = dt_event_listen(d->s, UINT64_C(1) << DT_EV_GRAD, on_event, d,
                       &d->grads->listener);
  if (st != DT_OK) {
    dt_free(d->s->cx, d->grads);
    d->grads = NULL;
  }
  return st;
}

void dt_grads_free (DtDebug *d) {
  DtGradLog *k = d->grads;
  if (k == NULL) return;
  dt_event_unlisten(d->s, k->listener);
  for (int i = 0; i < k->n; i++) row_clear(d, &k->row[i]);
  dt_free(d->s->cx, k->row);
  dt_free(d->s->cx, k->came);
  dt_free(d->s->cx, k);
  d->grads = NULL;
}

const DtGradRow *dt_grads_rows (const DtDebug *d, int *n) {
  *n = d->grads ? d->grads->n : 0;
  return d->grads ? d->grads->row : NULL;
}

const DtGradNew *dt_grads_new_ones (const DtDebug *d, int *n) {
  *n = d->grads ? d->grads->ncame : 0;
  return d->grads ? d->grads->came : NULL;
}
