/* SPDX-License-Identifier: MIT
** debug/record.c: the record of operators: a ring filled from the session's
** events.  Entries own an arena each, which is reused when the ring wraps, so
** a long run does not grow. */
#include <string.h>
#include "debug/debug.h"

#define MASK ((UINT64_C(1) << DT_EV_FUNC) | (UINT64_C(1) << DT_EV_FUNC_END) \
  | (UINT64_C(1) << DT_EV_OP) | (UINT64_C(1) << DT_EV_PROP) \
  | (UINT64_C(1) << DT_EV_OP_END) | (UINT64_C(1) << DT_EV_REDIST) \
  | (UINT64_C(1) << DT_EV_REDIST_END) | (UINT64_C(1) << DT_EV_COLL) \
  | (UINT64_C(1) << DT_EV_ERROR))

static void entry_clear (DtDebug *d, DtRecOp *r) {
  int i;
  DtArena keep = r->arena;
  for (i = 0; i < r->nin; i++) dt_spec_unref(d->s->cx, r->in[i].spec);
  for (i = 0; i < r->nout; i++) dt_spec_unref(d->s->cx, r->out[i].spec);
  memset(r, 0, sizeof *r);
  r->arena = keep;
  {
    DtArenaMark start = { NULL, 0 };
    dt_arena_release(&r->arena, start);
  }
}

static void rec_var (DtRecVar *r, const DtVar *v) {
  if (v == NULL) { r->none = true; return; }
  r->id = v->id;
  r->spec = v->spec ? dt_spec_ref(v->spec) : NULL;
  dt_meta_copy(&r->meta, dt_var_meta(v));
  r->origin = v->origin;
  r->name = v->name;
}

/* Recording never fails the program: what does not fit is left out. */
static DtRecVar *rec_vars (DtDebug *d, DtRecOp *r, int n, DtVar *const *v) {
  int i;
  DtRecVar *out = DT_ANEWN(d->s->cx, &r->arena, DtRecVar, n + 1);
  if (out == NULL) { dt_error_clear(d->s->cx); return NULL; }
  for (i = 0; i < n; i++) rec_var(&out[i], v[i]);
  return out;
}

static DtRecOp *new_entry (DtDebug *d, const DtEvent *e, const char *label) {
  DtRecOp *r = &d->ring[d->head];
  entry_clear(d, r);
  d->head = (d->head + 1) % d->cap;
  if (d->n < d->cap) d->n++;
  r->seq = e->seq;
  r->op = e->op;
  r->label = label;
  r->file = e->file; r->line = e->line;
  r->module = e->module;
  r->backward = e->backward;
  r->depth = e->depth;
  return r;
}

static void on_op (DtDebug *d, const DtEvent *e) {
  DtRecOp *r = new_entry(d, e, e->op->sig->full);
  if (dt_args_copy(d->s->cx, &r->arena, e->args, &r->args) != DT_OK)
    dt_error_clear(d->s->cx);
  r->in = rec_vars(d, r, e->nin, e->in);
  r->nin = r->in ? e->nin : 0;
  d->cur = r;
}

static DtRecOp *open_entry (DtDebug *d, int64_t seq) {
  return d->cur && d->cur->seq == seq ? d->cur : dt_record_find(d, seq);
}

static void on_end (DtDebug *d, const DtEvent *e) {
  DtRecOp *r = open_entry(d, e->seq);
  if (r == NULL || r->done) return;
  r->done = true;
  r->st = e->status;
  r->out = rec_vars(d, r, e->nout, e->out);
  r->nout = r->out ? e->nout : 0;
}

/* redistribute(), distribute_tensor() and raw collectives are no operators:
** they get an entry of their own. */
static void on_redist (DtDebug *d, const DtEvent *e) {
  d->in_redist = true;
  d->redist_implicit = e->implicit;
  d->redist_slot = e->slot;
  if (open_entry(d, e->seq) == NULL)
    new_entry(d, e, d->func ? d->func : "redistribute");
}

static void on_coll (DtDebug *d, const DtEvent *e) {
  DtRecOp *r = open_entry(d, e->seq);
  DtRecColl *c;
  DtBuf label;
  if (r == NULL) r = new_entry(d, e, d->func ? d->func : e->coll);
  if (r->ncoll == r->maxcoll) {
    int cap = r->maxcoll ? r->maxcoll * 2 : 4;
    DtRecColl *more = DT_ANEWN(d->s->cx, &r->arena, DtRecColl, cap);
    if (more == NULL) { dt_error_clear(d->s->cx); return; }
    if (r->ncoll) memcpy(more, r->coll, sizeof *more * (size_t)r->ncoll);
    r->coll = more;
    r->maxcoll = cap;
  }
  c = &r->coll[r->ncoll++];
  memset(c, 0, sizeof *c);
  c->coll = e->coll; c->reduce = e->reduce;
  c->ngroup = e->ngroup;
  c->bytes_in = e->bytes_in; c->bytes_out = e->bytes_out;
  c->implicit = d->in_redist && d->redist_implicit;
  c->slot = d->in_redist ? d->redist_slot : -1;
  dt_buf_init(&label, d->s->cx);
  if (e->mesh && e->mdim >= 0) dt_mesh_dim_label(e->mesh, e->mdim, &label);
  else dt_buf_add(&label, "world");
  c->mdim = dt_session_intern(d->s, dt_buf_str(&label));
  if (c->mdim == NULL) { c->mdim = "?"; dt_error_clear(d->s->cx); }
  dt_buf_fini(&label);
}

static void failed_clear (DtDebug *d) {
  DtFailed *f = &d->failed;
  DtArenaMark start = { NULL, 0 };
  int i;
  for (i = 0; i < f->nin; i++) dt_var_unref(f->in[i]);
  dt_arena_release(&f->arena, start);
  {
    DtArena keep = f->arena;
    memset(f, 0, sizeof *f);
    f->arena = keep;
  }
}

/* Keep the failed call whole: arguments, inputs, words. */
static void on_error (DtDebug *d, const DtEvent *e) {
  DtFailed *f = &d->failed;
  DtCtx *cx = d->s->cx;
  DtArena *a = &f->arena;
  int i;
  if (e->op == NULL || e->err == NULL) return;
  if (f->valid && f->fresh && f->seq == e->seq) return;   /* the first counts */
  failed_clear(d);
  f->in = DT_ANEWN(cx, a, DtVar *, e->nin + 1);
  f->name = DT_ANEWN(cx, a, const char *, e->nin + 1);
  f->message = dt_arena_strdup(cx, a, dt_buf_str(&e->err->err.message));
  if (!f->in || !f->name || !f->message) return;
  if (dt_args_copy(cx, a, e->args, &f->args) != DT_OK) return;
  for (i = 0; i < e->nin; i++) f->in[i] = dt_var_ref(e->in[i]);
  f->nin = e->nin;
  f->code = e->status;
  f->op = e->op;
  f->seq = e->seq;
  f->file = e->file; f->line = e->line;
  f->backward = e->backward;
  f->valid = f->fresh = true;
}

static DtStatus listen (void *ud, DtSession *s, const DtEvent *e) {
  DtDebug *d = (DtDebug *)ud;
  (void)s;
  if (d->muted) {
    if (e->kind == DT_EV_COLL) {
      d->muted_bytes += e->bytes_in;
      d->muted_coll++;
    }
    return DT_OK;
  }
  switch (e->kind) {
    case DT_EV_FUNC: if (e->op == NULL) d->func = e->text; break;
    case DT_EV_FUNC_END: if (e->op == NULL) d->func = NULL; break;
    case DT_EV_OP: on_op(d, e); break;
    case DT_EV_PROP: {
      DtRecOp *r = open_entry(d, e->seq);
      if (r && e->prop) {
        r->via = e->prop->via; r->cost = e->prop->cost; r->hit = e->cache_hit;
      }
      break;
    }
    case DT_EV_OP_END: on_end(d, e); break;
    case DT_EV_REDIST: on_redist(d, e); break;
    case DT_EV_REDIST_END: d->in_redist = false; break;
    case DT_EV_COLL: on_coll(d, e); break;
    case DT_EV_ERROR: on_error(d, e); break;
    default: break;
  }
  return DT_OK;
}

DtStatus dt_debug_new (DtSession *s, int cap, DtDebug **out) {
  DtDebug *d = DT_NEW(s->cx, DtDebug);
  DtStatus st;
  if (d == NULL) return DT_E_NOMEM;
  d->s = s;
  d->cap = cap;
  d->ring = DT_NEWN(s->cx, DtRecOp, cap);
  if (d->ring == NULL) { dt_free(s->cx, d); return DT_E_NOMEM; }
  st = dt_event_listen(s, MASK, listen, d, &d->listener);
  if (st != DT_OK) {
    dt_free(s->cx, d->ring);
    dt_free(s->cx, d);
    return st;
  }
  s->debug = d;
  if (out) *out = d;
  return DT_OK;
}

void dt_debug_free (DtSession *s) {
  DtDebug *d = dt_debug_of(s);
  int i;
  if (d == NULL) return;
  dt_event_unlisten(s, d->listener);
  failed_clear(d);
  dt_arena_fini(s->cx, &d->failed.arena);
  for (i = 0; i < d->cap; i++) {
    entry_clear(d, &d->ring[i]);
    dt_arena_fini(s->cx, &d->ring[i].arena);
  }
  dt_free(s->cx, d->ring);
  dt_free(s->cx, d);
  s->debug = NULL;
}

DtRecOp *dt_record_at (DtDebug *d, int i) {
  if (i < 0 || i >= d->n) return NULL;
  return &d->ring[(d->head - 1 - i + 2 * d->cap) % d->cap];
}

/* Numbers rise along the ring: a bisection would do, but the newest are asked
** for most, so look from the end. */
DtRecOp *dt_record_find (DtDebug *d, int64_t seq) {
  int i;
  if (seq <= 0) return dt_record_at(d, 0);
  for (i = 0; i < d->n; i++) {
    DtRecOp *r = dt_record_at(d, i);
    if (r->seq == seq) return r;
    if (r->seq < seq) return NULL;
  }
  return NULL;
}

void dt_debug_mute (DtDebug *d, DtMute *m) {
  m->seq = d->s->seq;
  m->rng = d->s->rng;
  m->grad = d->s->grad_enabled;
  d->s->grad_enabled = false;
  m->traced = dt_prop_traced_mode(d->s->prop, DT_TRACED_FROZEN);
  d->muted++;
  d->muted_bytes = 0;
  d->muted_coll = 0;
}

void dt_debug_unmute (DtDebug *d, const DtMute *m) {
  d->muted--;
  d->s->seq = m->seq;
  d->s->rng = m->rng;
  d->s->grad_enabled = m->grad;
  (void)dt_prop_traced_mode(d->s->prop, m->traced);
}
