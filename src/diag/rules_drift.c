/* SPDX-License-Identifier: MIT
** diag/rules_drift.c: what a program keeps from step to step beside its
** parameters: moving averages of them, queues, centers, statistics.
**
** A tensor that is no parameter and is written in place step after step, and that
** comes into the loss, must be the same on all ranks when the parameters are kept
** so.  It began equal and does not stay so, or it began as a constant and is added
** to: each rank fed it with its own data, and no collective took it.  A frozen
** parameter (of a teacher, of an average) must be equal where it is read, also where
** nothing is trained with it: it began so, or each rank has the whole model.
**
** What only one rank reads, what else the ranks began with otherwise, what an
** optimizer keeps, and what is set anew in each step is not looked at. */
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

enum { DRIFTS = 256, NEAR = 16, MADE = 2048 };

typedef struct Drift {
  int64_t storage;
  uint64_t start, last;         /* values before the first write, and now; 0: one
                                ** number only */
  uint64_t whole;               /* as `last`, also of one number */
  uint64_t nr;                  /* which it is: where the ranks write alike, the
                                ** same on all */
  int64_t order;                /* how many there were before it */
  int times; int64_t step;      /* steps that wrote it; the last of them */
  bool frozen;                  /* a parameter without gradient */
  bool added;                   /* every write took what was there: +=, *= */
  bool used;                    /* it came into what has a gradient */
  bool met, dropped;            /* a collective took it; it is none of these */
  bool parted;                  /* one of forward took what was made of it: each rank
                                ** may have a part */
  const char *name;             /* interned */
  DtOrigin wrote, read, made_at;
} Drift;

struct DtDrifts {
  Drift drift[DRIFTS];          /* by storage */
  struct { int64_t storage, of; } made[MADE];   /* by storage: made with which */
};

/* The i-th of the places where a storage may be.  Numbers of storages depend on
** what else was allocated: what is kept must not be lost by chance. */
static Drift *place_of (const DtDiag *g, int64_t storage, int i) {
  return &g->drifts->drift[((uint64_t)storage + (uint64_t)i) % DRIFTS];
}

/* Also what was dropped. */
static Drift *find_known (const DtDiag *g, int64_t storage) {
  for (int i = 0; g->drifts && i < NEAR; i++)
    if (place_of(g, storage, i)->storage == storage)
      return place_of(g, storage, i);
  return NULL;
}

static Drift *find_drift (const DtDiag *g, int64_t storage) {
  Drift *d = find_known(g, storage);
  return d && !d->dropped ? d : NULL;
}

/* Written in one step only, and not in this or the last: most likely gone. */
static bool is_stale (const DtDiag *g, const Drift *d) {
  return !d->frozen && d->times < 2 && d->step + 1 < g->updates;
}

/* A place for a new one, NULL where all are taken. */
static Drift *free_place (const DtDiag *g, int64_t storage) {
  for (int i = 0; i < NEAR; i++)
    if (place_of(g, storage, i)->storage == 0) return place_of(g, storage, i);
  for (int i = 0; i < NEAR; i++)
    if (is_stale(g, place_of(g, storage, i))) return place_of(g, storage, i);
  return NULL;
}

void dt_diag_drifts_free (DtDiag *g) {
  dt_free(g->s->cx, g->drifts);
  g->drifts = NULL;
  g->ndrifts = 0;
}

/* All of the memory, as one row. */
static uint64_t sample (const DtVar *v, bool constant) {
  const int64_t size = (int64_t)dt_dtype_size((DtDtype)v->local->m.dtype);
  DtTensor t = *v->local;
  t.m.ndim = 1;
  t.m.shape[0] = (int64_t)t.storage->nbytes / size;
  t.m.stride[0] = 1;
  t.offset = 0;
  return constant ? dt_diag_hash(&t, false) : dt_diag_sample(&t);
}

/* Its name here, interned; "" where it has none. */
static const char *name_of (DtDiag *g, const DtVar *v) {
  const char *name = dt_session_intern(
    g->s, dt_diag_name(g, v->view_base ? v->view_base : v));
  if (name == NULL) dt_error_clear(g->s->cx);
  return name ? name : "";
}

static Drift *add_drift (DtDiag *g, const DtVar *v) {
  const char *name = name_of(g, v);
  Drift *d;
  if (g->drifts == NULL) {
    g->drifts = DT_NEW(g->s->cx, struct DtDrifts);
    if (g->drifts == NULL) { dt_error_clear(g->s->cx); return NULL; }
  }
  d = free_place(g, v->local->storage->id);
  if (d == NULL) return NULL;
  *d = (Drift){ .storage = v->local->storage->id, .name = name, .added = true,
                .step = -1 };
  d->order = g->ndrifts;
  d->start = d->last = sample(v, false);
  d->whole = sample(v, true);
  d->nr = dt_hash_str(dt_hash_u64(DT_HASH_SEED, (uint64_t)g->ndrifts++), name);
  d->nr = dt_hash_u64(d->nr, (uint64_t)v->local->storage->nbytes);
  return d;
}

/* May it be such a tensor: plain, of floats, more than one, nobody's gradient? */
static bool may_drift (const DtDiag *g, const DtVar *v) {
  return v != NULL && v->spec == NULL && !v->local->storage->drawn &&
         dt_dtype_is_float((DtDtype)v->local->m.dtype) && v->grad_fn == NULL &&
         v->local->storage->nbytes > dt_dtype_size((DtDtype)v->local->m.dtype) &&
         dt_diag_by_storage(g, v->local->storage->id) == NULL &&
         dt_diag_by_grad(g, v->local->storage->id) == NULL;
}

void dt_diag_drift_frozen (DtDiag *g, const DtVar *v) {
  Drift *d;
  if (!may_drift(g, v) || !dt_tensor_has_data(v->local)) return;
  d = add_drift(g, v);
  if (d == NULL) return;
  d->frozen = true;
  d->made_at = v->origin;
}

void dt_diag_drift_updated (DtDiag *g, const DtEvent *e) {
  g->updates++;
  g->update_file = e->file;
  g->update_line = e->line;
}

/* Is it one, or made with one? */
static Drift *drift_in (const DtDiag *g, const DtVar *v) {
  const int64_t id = v->local->storage->id;
  const int k = (int)((uint64_t)id % MADE);
  Drift *d = find_drift(g, id);
  if (d == NULL && g->drifts->made[k].storage == id)
    d = find_drift(g, g->drifts->made[k].of);
  return d;
}

void dt_diag_drift_met (DtDiag *g, const DtVar *v) {
  Drift *d = v->spec || g->drifts == NULL ? NULL : drift_in(g, v);
  if (d == NULL) return;
  if (d->storage == v->local->storage->id) d->met = true;
  else if (!g->s->backward && dt_meta_numel(&v->local->m) > 1) d->parted = true;
}

/* --- written --- */

/* Does the operator take what was there into what it writes? */
static bool adds (const DtEvent *e) {
  static const char *const names[] = { "aten.add_.", "aten.sub_.", "aten.mul_.",
    "aten.div_.", "aten.lerp_.", "aten.addcmul_.", "aten.addcdiv_.",
    "aten.index_add_.", "aten.scatter_add_.", "aten.addmm_.", NULL };
  for (int i = 0; names[i]; i++)
    if (strncmp(e->op->sig->full, names[i], strlen(names[i])) == 0) return true;
  return false;
}

static bool writes (const DtDiag *g, const DtOpDef *op) {
  static const char *const made[] = { "aten.zero_.", "aten.fill_.",
    "aten.normal_.", "aten.uniform_.", "aten.random_.", NULL };
  for (int i = 0; made[i]; i++)
    if (strncmp(op->sig->full, made[i], strlen(made[i])) == 0) return false;
  return dt_diag_inplace(g, op);
}

static bool resets (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_inplace(g, op) && !writes(g, op);
}

/* About to be written: what it holds is where it begins.  What is written
** where parameters are updated is an optimizer's. */
static void before_write (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  if (e->backward || !may_drift(g, v) || dt_session_no_data(g->s) ||
      (g->nlearn == 0 && !adds(e)) ||
      find_known(g, v->local->storage->id) != NULL) return;
  if (e->line == g->update_line && e->file == g->update_file) return;
  add_drift(g, v);
}

/* What is fed by gradients is an optimizer's. */
static bool is_fed_gradients (const DtDiag *g, const DtEvent *e) {
  for (int i = 1; i < e->nin; i++)
    if (e->in[i] && !e->in[i]->spec &&
        dt_diag_by_grad(g, e->in[i]->local->storage->id)) return true;
  return false;
}

static void after_write (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  Drift *d = v && !v->spec ? find_drift(g, v->local->storage->id) : NULL;
  if (d == NULL || e->status != DT_OK || e->backward) return;
  if (is_fed_gradients(g, e)) { d->dropped = true; return; }
  d->last = sample(v, false);
  d->whole = sample(v, true);
  d->added = d->added && adds(e);
  if (d->step != g->updates) d->times++;
  d->step = g->updates;
  d->wrote = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                         .line = e->line, .seq = e->seq };
  if (d->frozen && *d->name == '\0') d->name = dt_diag_kept_name(g, v);
}

static void on_reset (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  Drift *d = v && !v->spec ? find_drift(g, v->local->storage->id) : NULL;
  if (d) d->dropped = true;
}

/* --- read --- */

/* Does something with a gradient go into the operator? */
static bool is_trained (const DtEvent *e) {
  for (int i = 0; i < e->nin; i++)
    if (e->in[i] && e->in[i]->requires_grad) return true;
  return false;
}

/* Notes which tensors are made of one that the ranks changed each for itself, and
** where it was read first.  `made` is a table by storage without chains: a newer
** storage takes an older one's place, which forgets and never confuses, since the
** storage is compared when it is asked for. */
static void on_read (DtDiag *g, const DtEvent *e) {
  const bool trained = is_trained(e);
  if (e->status != DT_OK || e->backward) return;
  for (int i = 0; i < e->nin; i++) {
    Drift *d = e->in[i] && !e->in[i]->spec ? drift_in(g, e->in[i]) : NULL;
    if (d == NULL) continue;
    if (d->frozen && g->nlearn > 0 && d->storage == e->in[i]->local->storage->id &&
        !dt_diag_view(g, e->op)) {
      if (*d->name == '\0') d->name = name_of(g, e->in[i]);
      d->read = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                            .line = e->line, .seq = e->seq };
    }
    for (int k = 0; k < e->nout; k++) {
      const DtVar *out = e->out[k];
      if (out == NULL || out->spec) continue;
      if (trained && !d->used && *d->name == '\0') d->name = name_of(g, e->in[i]);
      d->used = d->used || trained;
      if (trained || out->local->storage->id == d->storage) continue;
      g->drifts->made[(uint64_t)out->local->storage->id % MADE].storage =
        out->local->storage->id;
      g->drifts->made[(uint64_t)out->local->storage->id % MADE].of = d->storage;
    }
  }
}

static bool reads (const DtDiag *g, const DtOpDef *op) {
  return !dt_diag_inplace(g, op);
}

/* --- when somebody asks --- */

static void claim_apart (DtDiag *g, const Drift *d, const DtLearn *l) {
  const bool zero = d->added && d->start == 0;
  const DtFact facts[4] = { { false, zero ? d->whole : d->last },
                            { true, l->last }, { true, (uint64_t)d->times + 1 },
                            { true, d->start } };
  DtEvent e = dt_diag_origin(&d->wrote, "update");
  if (d->times < 2 || !d->used || d->wrote.line == 0) return;
  dt_diag_claim_all(g, &e, DT_FIND_ID_KEPT_APART, g->over, g->over_dim,
                    (int64_t)d->nr, zero ? 3 : 4, facts, d->name,
                    "it is fed by what each rank has, and comes into the loss; the "
                    "parameters are the same");
}

/* What was written before the first update alone may be made a part there. */
static void claim_frozen_apart (DtDiag *g, const Drift *d, const DtLearn *l) {
  const DtFact facts[3] = { { false, d->last }, { true, d->start },
                            { true, l->last } };
  DtEvent e = dt_diag_origin(&d->read, "read");
  DtClaim *c;
  if (d->read.line == 0 || (d->parted && d->step <= 0)) return;
  c = dt_diag_claim_all(g, &e, DT_FIND_ID_KEPT_APART, g->over, g->over_dim,
                        (int64_t)d->nr, 3, facts, d->name, "it began equal, gets no "
                        "gradient and was written on some ranks, or otherwise on each, "
                        "and is read; the trained parameters are the same");
  if (c == NULL || d->last == d->start) {
    if (c) c->quiet = true;             /* a rank that wrote it tells where */
    return;
  }
  if (d->wrote.line == 0) return;
  c->op = d->wrote.op;
  c->file = d->wrote.file;
  c->line = d->wrote.line;
  c->seq = d->wrote.seq;
}

/* It began otherwise on each rank, where each has the whole model: nothing that was made
** of it, and no function of the program, sends anything between layers. */
static void claim_frozen_own (DtDiag *g, const Drift *d, const DtLearn *l) {
  const DtFact facts[3] = { { false, d->start }, { true, l->start }, { true, l->last } };
  DtEvent e = dt_diag_origin(&d->made_at, "made");
  if (d->read.line == 0 || d->made_at.line == 0 || d->parted || g->joint ||
      g->severed[0].mesh || g->severed[1].mesh) return;
  dt_diag_claim_all(g, &e, DT_FIND_ID_KEPT_APART, g->over, g->over_dim,
                    (int64_t)d->nr, 3, facts, d->name, "it gets no gradient, and was "
                    "never the same on the ranks; the trained parameters are");
}

static int compare_order (const void *a, const void *b) {
  const Drift *const *x = a, *const *y = b;
  return (*x)->order < (*y)->order ? -1 : (*x)->order > (*y)->order;
}

/* In the order in which they came: of several at one line the first is told of. */
void dt_diag_drifts (DtDiag *g) {
  const DtLearn *l = g->over ? dt_diag_any_reduced(g) : NULL;
  const Drift *all[DRIFTS];
  int n = 0;
  for (int i = 0; i < g->nlearn && g->over && l == NULL; i++)  /* in a flat tensor */
    if (g->learn[i].steps > 0 && g->learn[i].last != 0) l = &g->learn[i];
  if (g->drifts == NULL || l == NULL || g->moved || g->averaged) return;
  for (int i = 0; i < DRIFTS; i++)
    if (g->drifts->drift[i].storage != 0) all[n++] = &g->drifts->drift[i];
  qsort(all, (size_t)n, sizeof *all, compare_order);
  for (int i = 0; i < n; i++) {
    const Drift *d = all[i];
    if (d->dropped || d->met || dt_diag_by_storage(g, d->storage) != NULL) continue;
    if (d->frozen) {
      claim_frozen_apart(g, d, l);
      claim_frozen_own(g, d, l);
    }
    else claim_apart(g, d, l);
  }
}

const DtDiagRule dt_rules_drift[] = {
  { DT_EV_OP, before_write, writes, 0 },
  { DT_EV_OP_END, after_write, writes, DT_WHEN(ndrifts) },
  { DT_EV_OP, on_reset, resets, DT_WHEN(ndrifts) },
  { DT_EV_OP_END, on_read, reads, DT_WHEN(ndrifts) },
  { 0, NULL, NULL, 0 }
};
