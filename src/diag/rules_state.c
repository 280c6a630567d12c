/* SPDX-License-Identifier: MIT
** diag/rules_state.c: what a module keeps beside its parameters, and what was
** loaded.
**
** - A buffer that each rank updates from its own data, and that its forward
**   reads, where the parameters are kept equal.
** - A broadcast from a rank that loaded nothing, over what another has loaded.
** - Dropout that hits the same places on all parts of one activation. */
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

/* --- training and evaluation --- */

void dt_diag_mode (DtDiag *g, bool training) {
  if (!g->on || g->d->muted || !g->s->grad_enabled) return;
  g->modes = dt_hash_u64(g->modes, training ? 1 : 2);
  g->nmodes++;
}

void dt_diag_evaluates (DtDiag *g) {
  if (g->on && !g->d->muted) g->evaluates_at = dt_diag_here(g, "eval");
}

/* Whoever stays in evaluation mode on some ranks (the one that validates) goes on to
** train without dropout, and with other statistics. */
void dt_diag_modes (DtDiag *g) {
  const DtFact facts[2] = { { false, g->modes | 1 }, { true, (uint64_t)g->nmodes + 1 } };
  DtEvent e = { .kind = DT_EV_OP, .text = "eval", .file = "", .module = "" };
  DtClaim *c;
  if (g->nmodes == 0 || g->nlearn == 0) return;
  c = dt_diag_claim_all(g, &e, DT_FIND_ID_MODE_APART, g->over, g->over_dim, 0, 2, facts,
                        "", "whether dropout and batch normalization were in training "
                        "mode, each time that gradients were to come of it");
  if (c == NULL) return;
  c->quiet = g->evaluates_at.line == 0;
  c->file = g->learn[0].file;
  if (c->quiet) return;
  c->file = g->evaluates_at.file;
  c->line = g->evaluates_at.line;
  c->seq = g->evaluates_at.seq;
}

/* --- buffers --- */

void dt_diag_buffer (DtDiag *g, const DtVar *v, const char *name) {
  DtBuffer *b;
  const char *own;
  dt_diag_param(g, v);
  if (!g->on || v->spec || g->nbuffers == DT_BUFFERS ||
      !dt_dtype_is_float((DtDtype)v->local->m.dtype)) return;
  own = dt_session_intern(g->s, name);
  if (own == NULL) { dt_error_clear(g->s->cx); return; }
  b = &g->buffer[g->nbuffers++];
  *b = (DtBuffer){ .storage = v->local->storage->id, .name = own,
                   .version = v->local->storage->version,
                   .random = dt_diag_is_noise(g, v) };
}

static DtBuffer *find_buffer (DtDiag *g, const DtVar *v) {
  for (int i = 0; i < g->nbuffers; i++)
    if (g->buffer[i].storage == v->local->storage->id) return &g->buffer[i];
  return NULL;
}

/* Of several tensors under one name a checkpoint keeps one.  The statistics of a batch
** norm are each rank's own by right. */
void dt_diag_saved (DtDiag *g, const DtVar *v, const char *key) {
  const DtOrigin here = dt_diag_here(g, "dcp.save");
  const DtEvent e = dt_diag_origin(&here, "dcp.save");
  const uint64_t name = dt_hash_str(DT_HASH_SEED, key) | 1;
  DtFact facts[2] = { { false, 0 }, { true, name } };
  if (!g->on || g->d->muted || v->spec || find_buffer(g, v) ||
      !dt_dtype_is_float((DtDtype)v->local->m.dtype) || dt_meta_numel(&v->local->m) < 2)
    return;
  facts[0].hash = dt_diag_sample(v->local);
  dt_diag_claim_all(g, &e, DT_FIND_ID_SAVED_ALONE, NULL, -1, (int64_t)(name >> 2), 2, facts,
                    key, "what each rank gives for it");
}

/* That which `v` is, unless it is as it was registered, or a number computed of it. */
static DtBuffer *written_buffer (DtDiag *g, const DtVar *v) {
  DtBuffer *b = find_buffer(g, v);
  if (b != NULL) return b->version != v->local->storage->version ? b : NULL;
  for (int i = 0; i < g->nbuffers; i++)
    if (g->buffer[i].number == v->local->storage->id) return &g->buffer[i];
  return NULL;
}

/* Random numbers that are as they were registered. */
static DtBuffer *kept_buffer (DtDiag *g, const DtVar *v) {
  DtBuffer *b = find_buffer(g, v);
  return b && b->random && b->version == v->local->storage->version ? b : NULL;
}

/* Numbers among themselves are those of a meter: added up, divided, put together to be
** reduced, printed. */
static bool takes_numbers (const DtEvent *e) {
  for (int i = 0; i < e->nin; i++)
    if (e->in[i] && dt_meta_numel(&e->in[i]->local->m) != 1) return false;
  return true;
}

/* A batch norm reads its statistics to update them: rules_train.c looks at
** what it does in evaluation.  Copies are made to be sent or kept. */
static bool is_reading_statistics (const DtDiag *g, const DtOpDef *op) {
  static const char *const copies[] = { "aten.clone.default", "aten.cat.default",
                                        NULL };
  return !dt_diag_inplace(g, op) && !dt_diag_view(g, op) &&
         !dt_diag_named(op, copies) &&
         strstr(op->sig->full, "batch_norm") == NULL;
}

static DtBuffer *buffer_written (DtDiag *g, const DtEvent *e) {
  return e->nin > 0 && e->in[0] && !e->in[0]->spec ? find_buffer(g, e->in[0]) : NULL;
}

/* Is it the first time that this line writes to it? */
static bool is_new_line (const DtBuffer *b, const DtEvent *e) {
  for (int i = 0; i < b->nwrites; i++)
    if (b->write[i].at.line == e->line && b->write[i].at.file == e->file) return false;
  return b->nwrites < DT_WRITES && e->line > 0;
}

static void before_buffer_write (DtDiag *g, const DtEvent *e) {
  DtBuffer *b = buffer_written(g, e);
  if (b != NULL && !dt_session_no_data(g->s))
    b->before = is_new_line(b, e) ? dt_diag_hash(e->in[0]->local, false) : 0;
}

static void on_buffer_write (DtDiag *g, const DtEvent *e) {
  DtBuffer *b = buffer_written(g, e);
  if (b == NULL || e->status != DT_OK) return;
  b->wrote = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                         .line = e->line, .seq = e->seq };
  if (b->before == 0 || !is_new_line(b, e)) return;
  b->write[b->nwrites++] = (DtWrite){
    b->wrote, b->before, dt_diag_hash(e->in[0]->local, false) };
}

/* A collective gives it other values: what was written before does not count. */
static void buffer_met (DtDiag *g, const DtVar *v) {
  DtBuffer *b = g->nbuffers > 0 && !v->spec ? find_buffer(g, v) : NULL;
  if (b) b->nwrites = 0;
}

/* The model is made one rank's before it is trained: what its buffers were made of, and
** read as until then, does not count. */
void dt_diag_buffers_unread (DtDiag *g) {
  for (int i = 0; i < g->nbuffers && g->nlearn == 0; i++) g->buffer[i].used = 0;
}

/* Two kinds of readers: what takes the numbers out (item, printing) remembers where
** they went, what computes with a buffer that was written remembers its value then,
** to be held against the other ranks' at the end.  In a graph, a buffer that was not
** written is only marked as kept. */
static void on_buffer_read (DtDiag *g, const DtEvent *e) {
  if (e->status != DT_OK || e->backward || dt_session_no_data(g->s)) return;
  const bool numbers = takes_numbers(e);
  for (int i = 0; i < e->nin; i++) {
    DtBuffer *b = e->in[i] && !e->in[i]->spec ? written_buffer(g, e->in[i]) : NULL;
    if (b == NULL && !numbers && g->s->grad_enabled && e->in[i] && !e->in[i]->spec &&
        (b = kept_buffer(g, e->in[i])) != NULL) b->kept = true;
    if (b == NULL) continue;
    if (numbers) {
      if (e->nout > 0 && e->out[0] && dt_meta_numel(&e->out[0]->local->m) == 1)
        b->number = e->out[0]->local->storage->id;
      continue;
    }
    b->used = dt_diag_hash(e->in[i]->local, false);
    b->at = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                        .line = e->line, .seq = e->seq };
  }
}

const DtLearn *dt_diag_any_reduced (const DtDiag *g) {
  for (int i = 0; i < g->nlearn; i++)
    if (g->learn[i].reduced && g->learn[i].last) return &g->learn[i];
  return NULL;
}

/* The write after which the ranks hold other values, and held the same before: of all
** that are claimed, one holds.  Where they began with others, or parted later, the last
** write stands for it. */
static void claim_parted (DtDiag *g, const DtBuffer *b, const DtLearn *l, int nr,
                          const char *what) {
  const DtEvent last = dt_diag_origin(b->wrote.line > 0 ? &b->wrote : &b->at, "");
  DtFact facts[4] = { { false, b->used }, { true, l->last } };
  uint64_t all = DT_HASH_SEED;
  int n = 2;
  for (int i = 0; i < b->nwrites; i++) {
    const DtWrite *w = &b->write[i];
    const DtEvent e = dt_diag_origin(&w->at, "");
    facts[2] = (DtFact){ true, w->before };
    facts[3] = (DtFact){ false, w->after };
    all = dt_hash_u64(all, w->after);
    dt_diag_claim_all(g, &e, DT_FIND_ID_STATE_APART, g->over, g->over_dim, nr, 4, facts,
                      b->name, what);
  }
  if (b->nwrites > 0) {
    facts[n++] = (DtFact){ false, b->write[0].before };
    dt_diag_claim_all(g, &last, DT_FIND_ID_STATE_APART, g->over, g->over_dim,
                      nr + 2 * DT_BUFFERS, n, facts, b->name, what);
    facts[2] = (DtFact){ true, all | 1 };
  }
  dt_diag_claim_all(g, &last, DT_FIND_ID_STATE_APART, g->over, g->over_dim,
                    nr + DT_BUFFERS, n, facts, b->name, what);
}

/* Beside parameters that are this rank's own a buffer may be, too. */
static bool are_all_reduced (const DtDiag *g) {
  for (int i = 0; i < g->nlearn; i++)
    if (!g->learn[i].reduced) return false;
  return true;
}

/* Each rank drew its own, and the model's parameters were made one rank's. */
static void claim_drawn (DtDiag *g, const DtBuffer *b, const DtLearn *l, int nr) {
  const DtEvent at = dt_diag_origin(g->params_sent.line > 0 ? &g->params_sent : &b->at, "");
  const DtFact facts[2] = { { false, b->used }, { true, l->last } };
  const char *what;
  DtBuf t;
  dt_buf_init(&t, g->s->cx);
  dt_buf_addf(&t, "a buffer of random numbers, read at %s:%d; the parameters are the "
              "same%s", b->at.file ? b->at.file : "", b->at.line,
              g->params_sent.line > 0 ? ", and are sent here" : "");
  what = dt_diag_intern(g, &t);
  if (what) dt_diag_claim_all(g, &at, DT_FIND_ID_BUFFER_DRAWN, g->over, g->over_dim, nr, 2,
                              facts, b->name, what);
}

void dt_diag_state (DtDiag *g) {
  const DtLearn *l = g->over ? dt_diag_any_reduced(g) : NULL;
  if (l == NULL || g->moved || g->averaged) return;
  for (int i = 0; i < g->nbuffers; i++) {
    const DtBuffer *b = &g->buffer[i];
    const char *what;
    DtBuf t;
    if (b->at.line == 0) continue;
    if (b->kept && b->wrote.line == 0) {
      if (are_all_reduced(g)) claim_drawn(g, b, l, DT_SALT_STATE + i);
      continue;
    }
    dt_buf_init(&t, g->s->cx);
    dt_buf_addf(&t, "a buffer that is written by each rank, and read at %s:%d; the "
                "parameters are the same", b->at.file ? b->at.file : "", b->at.line);
    what = dt_diag_intern(g, &t);
    if (what) claim_parted(g, b, l, DT_SALT_STATE + i, what);
  }
}

/* --- what was loaded --- */

void dt_diag_loaded (DtDiag *g, const DtVar *v) {
  if (!g->on || v->spec) return;
  dt_idset_add(g, &g->loaded, v->local->storage->id);
  g->load[g->nfilled++ % DT_LOADS] = (DtLoaded){ v->local->storage->id,
                                                dt_diag_here(g, "load") };
}

const DtOrigin *dt_diag_load_of (const DtDiag *g, int64_t storage) {
  for (int i = 0; i < g->nfilled && i < DT_LOADS; i++)
    if (g->load[i].storage == storage) return &g->load[i].at;
  return NULL;
}

/* One rank made it by itself, and another one's is sent. */
static void claim_made_alone (DtDiag *g, const DtRecRaw *raw, const DtVar *in) {
  uint64_t h = dt_hash_str(DT_HASH_SEED, in->origin.file ? in->origin.file : "");
  const DtOrigin here = dt_diag_here(g, raw->kind);
  const DtEvent e = { .kind = DT_EV_COLL, .text = raw->kind, .file = here.file,
                      .line = here.line, .seq = here.seq, .module = "" };
  DtFact fact = { false, 0 };
  DtClaim *c;
  if (in->spec || in->origin.line == 0) return;
  h = dt_hash_u64(h, (uint64_t)in->origin.line);
  fact.hash = dt_hash_str(h, in->origin.op ? in->origin.op : "") | 1;
  c = dt_diag_claim_all(g, &e, DT_FIND_ID_MADE_DROPPED, raw->mesh, raw->mdim, DT_SALT_MADE_ALONE,
                        1, &fact, dt_diag_name(g, in), "one rank made it by "
                        "itself, at another place of the program than the source "
                        "and the others; by where it was made");
  if (c) c->lone = 1 + raw->root;
}

/* Only one rank read the checkpoint, and another one's values are sent. */
void dt_diag_state_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in) {
  const bool loaded = dt_idset_has(&g->loaded, in->local->storage->id);
  const bool src = raw->mesh->coord[raw->mdim] == raw->root;
  DtFact fact = { false, loaded ? 3 : 2 };
  DtOrigin here;
  DtEvent e;
  DtClaim *c;
  buffer_met(g, in);
  if (strcmp(raw->kind, "broadcast") != 0 || g->s->backward) return;
  if (dt_idset_has(&g->params, in->local->storage->id) && !find_buffer(g, in))
    g->params_sent = dt_diag_here(g, raw->kind);
  if (dt_idset_has(&g->params, in->local->storage->id)) dt_diag_buffers_unread(g);
  claim_made_alone(g, raw, in);
  dt_idset_del(&g->loaded, in->local->storage->id);
  if (src && loaded) return;            /* then there is no claim of all */
  here = dt_diag_here(g, raw->kind);
  e = (DtEvent){ .kind = DT_EV_COLL, .text = raw->kind, .file = here.file,
                 .line = here.line, .seq = here.seq, .module = "" };
  c = dt_diag_claim_all(g, &e, DT_FIND_ID_LOAD_DROPPED, raw->mesh, raw->mdim, 0,
                        1, &fact, dt_diag_name(g, in), "was it loaded here? the "
                        "source of the broadcast did not load it");
  if (c) c->quiet = !loaded;
}

void dt_diag_same_part (DtDiag *g, const DtEvent *e) {
  const DtPlace *w = dt_diag_place_of(g, e, 0, DT_PLACE_PART);
  const DtVar *v = e->in[1];
  DtFact facts[2];
  if (w == NULL || v == NULL || v->spec || v->local->storage->drawn ||
      !e->in[0]->is_param || v->local->m.ndim != e->in[0]->local->m.ndim) return;
  facts[0] = (DtFact){ true, dt_diag_sample(v->local) };
  facts[1] = (DtFact){ false, w->where };
  dt_diag_claim_all(g, e, DT_FIND_ID_SAME_PART, NULL, -1, DT_SALT_SAME_PART, 2, facts,
                    dt_diag_place_name(g, e->in[0]->id), "what is copied over the "
                    "part of each rank");
}

/* --- what the library says of the ranks --- */

void dt_diag_claim_of (DtDiag *g, DtFindId id, const char *op,
                       const char *subject, const char *what, uint64_t differ,
                       uint64_t same, bool mute) {
  const DtFact facts[2] = { { false, differ }, { true, same } };
  const DtOrigin here = dt_diag_here(g, op);
  const DtEvent e = dt_diag_origin(&here, op);
  DtClaim *c;
  if (!g->on || g->d->muted) return;
  c = dt_diag_claim_all(g, &e, id, NULL, -1, 0, 2, facts, subject, what);
  if (c) c->mute = mute;
}

void dt_diag_claim_excuse (DtDiag *g, DtFindId id, uint64_t hash) {
  for (int i = 0; i < g->nclaim; i++)
    if (g->claim[i].kind->id == id && (hash == 0 || g->claim[i].fact[0].hash == hash))
      g->claim[i].fact[0].hash = 0;
}

/* --- dropout --- */

/* `mask` hits the columns of each rank, or what a sum over the ranks has made
** the same on all of them. */
static void on_masked_columns (DtDiag *g, const DtEvent *e, const DtVar *x,
                               const DtVar *mask) {
  const DtPlace *w = x && g->nplaces ? dt_diag_place(g, x) : NULL;
  DtFact facts[2];
  if (w == NULL || mask->spec || mask->local->storage->drawn) return;
  if ((w->kind == DT_PLACE_PART && w->columns) ||
      (w->kind == DT_PLACE_BENT && w->at.op &&     /* scores of one's own heads */
       strcmp(w->at.op, "aten._softmax.default") == 0)) {
    facts[0] = (DtFact){ true, dt_diag_sample(mask->local) };
    facts[1] = (DtFact){ false, w->where };
    dt_diag_claim_all(g, e, DT_FIND_ID_SAME_MASK, NULL, -1, 0, 2, facts,
                      dt_diag_place_name(g, x->id), "what is dropped of the "
                      "columns of each rank");
  } else if (w->kind == DT_PLACE_TOTAL) {
    facts[0] = (DtFact){ false, dt_diag_hash(mask->local, false) };
    facts[1] = (DtFact){ true, dt_diag_sample(x->local) };
    dt_diag_claim_all(g, e, DT_FIND_ID_OTHER_MASK, NULL, -1, 0, 2, facts,
                      dt_diag_place_name(g, x->id), "what is dropped of it; the "
                      "sum itself is the same on all of them");
  }
}

static void on_dropout (DtDiag *g, const DtEvent *e) {
  if (e->status == DT_OK && !e->backward && e->nin > 0 && e->nout > 1 &&
      e->out[1] != NULL) on_masked_columns(g, e, e->in[0], e->out[1]);
}

static bool is_dropout (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return strcmp(op->sig->full, "aten.native_dropout.default") == 0;
}

/* F.dropout draws its mask by itself. */
static void noise_drawn (DtDiag *g, const DtEvent *e) {
  if (e->status == DT_OK && e->nout > 0 && e->out[0] && !e->out[0]->spec &&
      g->nplaces > 0) dt_idset_add(g, &g->noise, e->out[0]->local->storage->id);
}

static bool draws_noise (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return strncmp(op->sig->full, "aten.bernoulli", 14) == 0;
}

/* What a mask of one's own is made of: uniform numbers below a number. */
static void uniform_drawn (DtDiag *g, const DtEvent *e) {
  if (e->status == DT_OK && e->nout > 0 && e->out[0] && !e->out[0]->spec &&
      g->nplaces > 0)
    dt_idset_add(g, &g->uniform, e->out[0]->local->storage->id);
}

static bool draws_uniform (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return strncmp(op->sig->full, "aten.rand.", 10) == 0 ||
         strncmp(op->sig->full, "aten.rand_like.", 15) == 0 ||
         strncmp(op->sig->full, "aten.uniform_.", 14) == 0;
}

/* The mask of such numbers; and what scales or casts a mask. */
static void noise_made (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  if (e->status != DT_OK || v == NULL || v->spec || e->nout < 1 ||
      e->out[0] == NULL || (e->nin > 1 && e->in[1])) return;
  if (dt_idset_has(dt_diag_clones(g, e->op) || dt_diag_is(g, e, DT_DO_DIV) ||
                   dt_diag_is(g, e, DT_DO_MUL) ? &g->noise : &g->uniform,
                   v->local->storage->id))
    dt_idset_add(g, &g->noise, e->out[0]->local->storage->id);
}

static bool makes_noise (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.lt.Scalar", "aten.gt.Scalar",
    "aten.le.Scalar", "aten.ge.Scalar", NULL };
  for (int i = 0; names[i]; i++)
    if (strcmp(op->sig->full, names[i]) == 0) return true;
  return dt_diag_clones(g, op) || dt_diag_op_is(g, op, DT_DO_DIV) ||
         dt_diag_op_is(g, op, DT_DO_MUL);
}

static void noise_met (DtDiag *g, const DtEvent *e) {
  if (e->status != DT_OK || e->backward || e->nin < 2) return;
  for (int i = 0; i < 2; i++) {
    const DtVar *mask = e->in[i];
    if (mask && !mask->spec &&
        dt_idset_has(&g->noise, mask->local->storage->id)) {
      dt_idset_del(&g->noise, mask->local->storage->id);
      on_masked_columns(g, e, e->in[1 - i], mask);
      return;
    }
  }
}

static bool is_multiplying (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_MUL);
}

const DtDiagRule dt_rules_state[] = {
  { DT_EV_OP, before_buffer_write, dt_diag_inplace, DT_WHEN(nbuffers) },
  { DT_EV_OP_END, on_buffer_write, dt_diag_inplace, DT_WHEN(nbuffers) },
  { DT_EV_OP_END, on_buffer_read, is_reading_statistics, DT_WHEN(nbuffers) },
  { DT_EV_OP_END, on_dropout, is_dropout, DT_WHEN(nplaces) },
  { DT_EV_OP_END, noise_drawn, draws_noise, DT_WHEN(nplaces) },
  { DT_EV_OP_END, uniform_drawn, draws_uniform, DT_WHEN(nplaces) },
  { DT_EV_OP_END, noise_made, makes_noise, DT_WHEN(uniform.n) },
  { DT_EV_OP_END, noise_met, is_multiplying, DT_WHEN(noise.n) },
  { 0, NULL, NULL, 0 }
};
