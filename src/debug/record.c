/* SPDX-License-Identifier: MIT
** debug/record.c: the record of operators: a ring filled from the session's
** events.  Asking the record about the past is in past.c.
**
** Entries own an arena each, which is reused when the ring wraps, so a long
** run does not grow.  Values are kept by a second reference to a tensor's
** block: nothing is copied until somebody writes to it.  A block knows how
** many entries hold it, so that the bytes kept are counted once; beyond the
** limit the oldest entries lose their values first. */
#include <stddef.h>
#include <string.h>
#include "debug/record_int.h"

/* Room of an entry's first block, and the part of a rank's memory limit that
** values may take. */
enum { ENTRY = 1024, WARM = 640, LINE = 64, PART = 8 };

const DtMeta dt_record_none = { .ndim = 0 };

/* --- values --- */

static void value_drop (DtDebug *d, DtRecVar *v) {
  DtBlock *b = v->block;
  if (b == NULL) return;
  v->block = NULL;
  if (--b->kept == 0) d->rec.kept -= dt_record_cost(b);
  if (b->refs > 1) b->refs--;
  else dt_block_unref(d->s->cx, b);
}

static void values_drop (DtDebug *d, DtRecOp *r) {
  int i;
  for (i = 0; i < r->nin; i++) value_drop(d, &r->in[i]);
  for (i = 0; i < r->nout; i++) value_drop(d, &r->out[i]);
}

/* All but the small ones. */
static void values_thin (DtDebug *d, DtRecOp *r) {
  int i;
  for (i = 0; i < r->nin; i++)
    if (r->in[i].block && dt_record_cost(r->in[i].block))
      value_drop(d, &r->in[i]);
  for (i = 0; i < r->nout; i++)
    if (r->out[i].block && dt_record_cost(r->out[i].block))
      value_drop(d, &r->out[i]);
}

static int64_t limit_of (const DtDebug *d) {
  int64_t mem = d->s->cx->mem.limit / PART;
  return mem > 0 && mem < d->rec.limit ? mem : d->rec.limit;
}

/* The oldest lose their large values while there are too many; the entry
** under way keeps its own.  `drop` counts the oldest entries that have lost
** theirs, so each is thinned once; new_entry counts it down as those leave
** the ring. */
static void values_fit (DtDebug *d) {
  DtRecord *k = &d->rec;
  int64_t limit = limit_of(d);
  while (k->kept > limit && k->drop < k->n - 1) {
    values_thin(d, dt_record_at(d, k->n - 1 - k->drop++));
  }
}

/* The block is kept unless it is larger than `most`.  The second reference
** makes the next writer copy (tensor.c: storage_own); that is the price of
** looking back. */
static DtBlock *value_keep (DtDebug *d, DtBlock *b, int64_t most) {
  if (b == NULL || (int64_t)b->nbytes > most) return NULL;
  b->refs++;
  if (b->kept++ == 0) d->rec.kept += dt_record_cost(b);
  return b;
}

/* --- entries --- */

static void vars_fini (DtDebug *d, int n, DtRecVar *v) {
  int i;
  for (i = 0; i < n; i++) {
    DtSpec *s = v[i].spec;
    value_drop(d, &v[i]);
    if (s == NULL) continue;
    if (s->refs > 1) s->refs--;
    else dt_spec_unref(d->s->cx, s);
  }
}

/* What the entry holds is given back; its fields stay as they are. */
static void entry_clear (DtDebug *d, DtRecOp *r) {
  const DtArenaMark start = { NULL, 0 };
  int i;
  vars_fini(d, r->nin, r->in);
  vars_fini(d, r->nout, r->out);
  for (i = 0; i < r->nmove; i++) {
    dt_spec_unref(d->s->cx, r->move[i].src);
    dt_spec_unref(d->s->cx, r->move[i].dst);
  }
  if (r->raw) dt_mesh_unref(d->s->cx, r->raw->mesh);
  dt_arena_release(&r->arena, start);
}

/* The global meta lies in the spec, which never changes; a plain tensor's is
** its layout as well. */
static bool meta_shared (const DtVar *v) {
  return v->spec && v->spec->has_meta;
}

static size_t layout_size (const DtVar *v) {
  return v == NULL ? 0 : meta_shared(v)
    ? 2 * v->local->m.ndim * sizeof(int64_t) : sizeof(DtMeta);
}

/* The layout into `lay`, room for layout_size() of it; what is behind it. */
static int64_t *rec_layout (DtRecVar *r, const DtVar *v, int64_t *lay) {
  const DtTensor *t = v->local;
  int i, n = t->m.ndim;
  r->lndim = n;
  if (meta_shared(v)) {
    r->meta = &v->spec->meta;
    r->lshape = lay;
    r->lstride = lay + n;
    for (i = 0; i < n; i++) {
      lay[i] = t->m.shape[i];
      lay[n + i] = t->m.stride[i];
    }
    return lay + 2 * n;
  } else {
    DtMeta *meta = (DtMeta *)(void *)lay;
    dt_meta_copy(meta, &t->m);
    r->meta = meta;
    r->lshape = meta->shape;
    r->lstride = meta->stride;
    return (int64_t *)(void *)(meta + 1);
  }
}

/* Writes every field: what was there is whatever memory held. */
static int64_t *rec_var (DtDebug *d, DtRecVar *r, const DtVar *v, int64_t *lay,
                         int64_t most) {
  const DtTensor *t;
  if (v == NULL) {
    *r = (DtRecVar){ .none = true, .meta = &dt_record_none };
    return lay;
  }
  t = v->local;
  r->id = v->id;
  r->spec = v->spec;
  if (v->spec) v->spec->refs++;
  r->origin = v->origin;
  r->name = v->name;
  r->none = false;
  r->param = v->is_param;
  r->needs_grad = v->requires_grad || v->grad_fn != NULL;
  r->offset = t->offset;
  r->storage = t->storage->id;
  r->marks = t->marks;
  r->version = t->storage->version;
  r->block = value_keep(d, t->storage->block, most);
  return rec_layout(r, v, lay);
}

/* The list, and behind it what its entries point to.  Recording never fails the
** program: what does not fit is left out. */
static DtRecVar *rec_vars (DtDebug *d, DtRecOp *r, int n, DtVar *const *v) {
  const int64_t most = d->rec.values ? limit_of(d) / 2 : -1;
  size_t size = (size_t)n * sizeof(DtRecVar);
  DtRecVar *out;
  int64_t *lay;
  int i;
  for (i = 0; i < n; i++) size += layout_size(v[i]);
  out = dt_arena_raw(d->s->cx, &r->arena, size);
  if (out == NULL) { dt_error_clear(d->s->cx); return NULL; }
  lay = (int64_t *)(void *)(out + n);
  for (i = 0; i < n; i++) lay = rec_var(d, &out[i], v[i], lay, most);
  return out;
}

/* A copy of the arguments as far as they go.  Lists and strings belong to
** the caller and are gone after the call: only with one of them is a deep
** copy made, into the entry's arena, whose pointers `to` takes over. */
static void rec_args (DtDebug *d, DtRecOp *r, const DtArgs *a) {
  const size_t used = offsetof(DtArgs, v) + (size_t)a->n * sizeof a->v[0];
  DtArgs *to = &r->args, copy;
  int i;
  to->schema = a->schema;
  to->n = a->n;
  to->npos = a->npos;
  to->given = a->given;
  to->nslots = a->nslots;
  for (i = 0; i < a->n; i++) {
    if (a->v[i].kind == DT_V_LIST || a->v[i].kind == DT_V_STR) break;
    to->v[i] = a->v[i];
  }
  if (i == a->n) return;
  if (dt_args_copy(d->s->cx, &r->arena, a, &copy) == DT_OK) {
    memcpy(to, &copy, used);
  } else {
    memset(to, 0, offsetof(DtArgs, v));
    dt_error_clear(d->s->cx);
  }
}

/* Side by side, for they are gone through one after the other. */
static void entry_room (DtDebug *d, DtRecOp *r) {
  DtRecord *k = &d->rec;
  if (k->room)
    dt_arena_lend(&r->arena, k->room + (r - k->ring) * ENTRY, ENTRY);
  else dt_arena_reserve(d->s->cx, &r->arena, ENTRY);
}

/* The next row of the ring, over the oldest one. Only the fields before the
** arena are cleared: the arena and the argument array keep their memory, since
** a row is begun for every operator. */
static DtRecOp *new_entry (DtDebug *d, const DtEvent *e, const char *label) {
  DtRecord *k = &d->rec;
  DtRecOp *r = &k->ring[k->head];
  entry_clear(d, r);
  memset(r, 0, offsetof(DtRecOp, arena));
  memset(&r->args, 0, offsetof(DtArgs, v));
  if (r->arena.first == NULL) entry_room(d, r);
  if (++k->head == k->cap) k->head = 0;
  if (k->n < k->cap) k->n++;
  else if (k->drop > 0) k->drop--;
  k->total++;
  r->seq = e->seq;
  r->op = e->op;
  r->label = label;
  r->file = e->file; r->line = e->line;
  r->module = e->module;
  r->scope = d->scope ? d->scope : "";
  r->from = d->from;
  r->func = d->composite ? d->composite : d->func ? d->func : "";
  r->backward = e->backward;
  r->depth = e->depth;
  return r;
}

static void rec_draw (DtDebug *d, DtRecOp *r) {
  const DtRng *g = &d->s->rng.cpu;
  r->draw = dt_arena_raw(d->s->cx, &r->arena, sizeof *r->draw);
  if (r->draw == NULL) { dt_error_clear(d->s->cx); return; }
  *r->draw = (DtRecDraw){ g->seed, g->offset, g->pair, g->offset, g->pair };
}

static void on_op (DtDebug *d, const DtEvent *e) {
  DtRecOp *r;
  /* Variables change from line to line, and where a line comes again. */
  if (d->names && (e->line != d->names_line || e->file != d->names_file ||
                   e->op == d->names_op)) {
    d->names_file = e->file;
    d->names_line = e->line;
    d->names_op = e->op;
    d->scope = "";
    d->names(d->names_ud, d, e->seq);
  }
  r = new_entry(d, e, e->op->sig->full);
  rec_args(d, r, e->args);
  if (e->op->flags & DT_OP_RANDOM) rec_draw(d, r);
  r->in = rec_vars(d, r, e->nin, e->in);
  r->nin = r->in ? e->nin : 0;
  d->rec.cur = r;
}

static DtRecOp *open_entry (DtDebug *d, int64_t seq) {
  DtRecOp *r = d->rec.cur;
  return r && r->seq == seq ? r : seq > 0 ? dt_record_find(d, seq) : NULL;
}

/* Read one byte: a prefetch alone is dropped where the page is not known. */
static void touch_page (const void *p) {
  if (p) (void)*(const volatile char *)p;
}

static void prefetch_lines (const void *p, size_t n) {
  size_t i;
  for (i = 0; i < n; i += LINE) __builtin_prefetch((const char *)p + i, 1);
}

static void touch_blocks (int n, const DtRecVar *v) {
  int i;
  for (i = 0; i < n && i < 3; i++) touch_page(v[i].block);
}

/* Entries that come next have long left the cache.  What is asked for at one
** operator can be followed at the next: the fourth entry itself, what the third
** and the second hold, the values of the first. */
static void ring_warm (const DtRecord *k) {
  const DtRecOp *e[4];
  int i, at = k->head;
  for (i = 0; i < 4; i++) {
    e[i] = &k->ring[at];
    if (++at == k->cap) at = 0;
  }
  touch_page(&e[3]->arena);
  prefetch_lines(e[2], offsetof(DtRecOp, args.v[3]));
  touch_page(e[2]->arena.first);
  prefetch_lines(e[1]->arena.first, WARM);
  touch_blocks(e[0]->nin, e[0]->in);
  touch_blocks(e[0]->nout, e[0]->out);
}

/* A repair took the place of inputs: they are what the operator ran with.
** The new row's references are taken before the old ones are given back:
** both may be of one block. `fix_done` has a bit per input, hence 64. */
static void rec_fixed (DtDebug *d, DtRecOp *r) {
  const DtSession *s = d->s;
  int i;
  for (i = 0; i < r->nin && i < 64; i++) {
    DtRecVar *now;
    if (!(s->fix_done >> i & 1) || s->fix[i] == NULL) continue;
    now = rec_vars(d, r, 1, &s->fix[i]);
    if (now == NULL) continue;
    vars_fini(d, 1, &r->in[i]);
    r->in[i] = *now;
  }
}

static void note_error (DtDebug *d, DtRecOp *r) {
  const DtError *err = &d->s->cx->err;
  r->error = dt_arena_strdup(d->s->cx, &r->arena, dt_buf_str(&err->message));
  r->reason = err->reason;
}

static void on_end (DtDebug *d, const DtEvent *e) {
  DtRecOp *r = open_entry(d, e->seq);
  if (r == NULL || r->done) return;
  r->done = true;
  r->st = e->status;
  if (e->status == DT_OK && d->s->fix_done != 0) rec_fixed(d, r);
  if (e->status != DT_OK && d->s->cx->err.code != DT_OK) note_error(d, r);
  if (r->draw) {
    r->draw->end = d->s->rng.cpu.offset;
    r->draw->end_pair = d->s->rng.cpu.pair;
  }
  r->out = rec_vars(d, r, e->nout, e->out);
  r->nout = r->out ? e->nout : 0;
  if (d->rec.kept > limit_of(d)) values_fit(d);
  ring_warm(&d->rec);
}

/* redistribute(), distribute_tensor() and raw collectives are no operators:
** they get an entry of their own.  Its collectives are the entry's from
** `coll` on; how many is known at its end. */
static void on_redist (DtDebug *d, const DtEvent *e) {
  DtRecOp *r = open_entry(d, e->seq);
  DtRecMove *m;
  d->in_redist = true;
  d->redist_implicit = e->implicit;
  d->redist_slot = e->slot;
  if (r == NULL) r = new_entry(d, e, d->func ? d->func : "redistribute");
  d->redist_seq = r->seq;
  if (r->nmove == r->maxmove) {
    int cap = r->maxmove ? r->maxmove * 2 : 2;
    DtRecMove *more = DT_ANEWN(d->s->cx, &r->arena, DtRecMove, cap);
    if (more == NULL) { dt_error_clear(d->s->cx); return; }
    if (r->nmove) memcpy(more, r->move, sizeof *more * (size_t)r->nmove);
    r->move = more;
    r->maxmove = cap;
  }
  m = &r->move[r->nmove++];
  m->src = dt_spec_ref(e->plan->src);
  m->dst = dt_spec_ref(e->plan->dst);
  m->slot = e->slot;
  m->implicit = e->implicit;
  m->graph = e->plan->graph;
  m->nsteps = e->plan->nsteps;
  m->bytes = dt_plan_bytes(e->plan);
  m->coll = r->ncoll;
}

static void on_redist_end (DtDebug *d) {
  DtRecOp *r = open_entry(d, d->redist_seq);
  d->in_redist = false;
  if (r && r->nmove)
    r->move[r->nmove - 1].ncoll = r->ncoll - r->move[r->nmove - 1].coll;
}

/* Who takes part: two meshes may have a dimension of the same name. */
static void group_text (const DtEvent *e, DtBuf *b) {
  enum { SHOWN = 6 };
  dt_buf_add(b, "ranks ");
  for (int i = 0; e->group != NULL && i < e->ngroup && i < SHOWN; i++)
    dt_buf_addf(b, "%s%d", i > 0 ? ", " : "", e->group[i]);
  if (e->ngroup > SHOWN) dt_buf_addf(b, ", … (%d)", e->ngroup);
}

/* A collective belongs to the open row of the operator that sent it; one that
** no operator sent gets a row of its own. Names come from the session's table
** of texts, so rows may keep the pointers. */
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
  dt_buf_clear(&label);
  group_text(e, &label);
  c->group = dt_session_intern(d->s, dt_buf_str(&label));
  if (c->group == NULL) dt_error_clear(d->s->cx);
  dt_buf_fini(&label);
}

static const int64_t *copy_ints (DtDebug *d, DtRecOp *r, const int64_t *v,
                                 int n) {
  int64_t *p = dt_arena_raw(d->s->cx, &r->arena, (size_t)n * sizeof *p);
  if (p != NULL && n > 0) memcpy(p, v, (size_t)n * sizeof *p);
  return p;
}

void dt_record_raw (DtDebug *d, int64_t before, const DtRecRaw *raw,
                    DtVar *in, DtVar *out) {
  DtRecOp *r = dt_record_at(d, 0);
  DtRecRaw *own;
  if (r == NULL || d->rec.total != before + 1 || r->seq != 0 || r->raw) return;
  own = dt_arena_raw(d->s->cx, &r->arena, sizeof *own);
  if (own == NULL) { dt_error_clear(d->s->cx); return; }
  *own = *raw;
  own->in_split = copy_ints(d, r, raw->in_split, raw->nsplit);
  own->out_split = copy_ints(d, r, raw->out_split, raw->nsplit);
  if (!own->in_split || !own->out_split) {
    dt_error_clear(d->s->cx);
    return;
  }
  r->in = rec_vars(d, r, 1, &in);
  r->nin = r->in != NULL;
  r->out = rec_vars(d, r, 1, &out);
  r->nout = r->out != NULL;
  if (r->nin == 0 || r->nout == 0) return;
  own->mesh = dt_mesh_ref(raw->mesh);
  r->raw = own;
}

/* A DTensor call (distribute_tensor, to_local, FSDP's): an entry of its own,
** so that what it made can be followed back. */
static void on_call (DtDebug *d, const DtEvent *e) {
  DtRecOp *r = new_entry(d, e, e->text);
  r->in = rec_vars(d, r, e->nin, e->in);
  r->nin = r->in ? e->nin : 0;
  d->rec.cur = r;
}

/* The outermost composite names what the operators inside belong to. */
static void on_func (DtDebug *d, const DtEvent *e) {
  if (e->op == NULL) {
    d->func = e->text;
    if (e->seq > 0) on_call(d, e);
  } else if (d->composite == NULL && e->op->sig) {
    d->composite = e->op->sig->full;
    d->composite_depth = e->depth;
  }
}

static void on_func_end (DtDebug *d, const DtEvent *e) {
  if (e->op == NULL) {
    d->func = NULL;
    on_end(d, e);
  } else if (e->depth <= d->composite_depth) {
    d->composite = NULL;
  }
}

/* The recorder's ear.  While the debugger itself calls operators (muted) nothing is
** recorded but the bytes, which a repair reports; a line typed at the prompt is
** the exception, at the first level only.  Errors are heard with the record off:
** the autopsy needs them.  It never fails: a listener's error would be taken for
** the operator's. */
DtStatus dt_record_hear (void *ud, DtSession *s, const DtEvent *e) {
  DtDebug *d = (DtDebug *)ud;
  (void)s;
  if (d->muted && !(d->typing && d->muted == 1 && e->kind != DT_EV_ERROR)) {
    if (e->kind == DT_EV_COLL) {
      d->muted_bytes += e->bytes_in;
      d->muted_coll++;
    }
    return DT_OK;
  }
  if (d->rec.off && e->kind != DT_EV_ERROR) return DT_OK;
  switch (e->kind) {
    case DT_EV_FUNC: on_func(d, e); break;
    case DT_EV_FUNC_END: on_func_end(d, e); break;
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
    case DT_EV_REDIST_END: on_redist_end(d); break;
    case DT_EV_COLL: on_coll(d, e); break;
    case DT_EV_ERROR: dt_debug_failed(d, e); break;
    default: break;
  }
  return DT_OK;
}

DtStatus dt_record_start (DtDebug *d, int cap) {
  d->rec.ring = DT_NEWN(d->s->cx, DtRecOp, cap);
  if (d->rec.ring == NULL) return DT_E_NOMEM;
  d->rec.room = dt_calloc(d->s->cx, (size_t)cap, ENTRY);
  if (d->rec.room == NULL) dt_error_clear(d->s->cx);
  else dt_mem_large(d->rec.room, (size_t)cap * ENTRY);
  dt_mem_large(d->rec.ring, (size_t)cap * sizeof(DtRecOp));
  d->rec.cap = cap;
  d->rec.id = ++d->nrecords;
  return DT_OK;
}

/* Only entries that were used: the others have never been touched. */
void dt_record_stop (DtDebug *d) {
  DtRecord *k = &d->rec;
  int i, used = k->total < k->cap ? (int)k->total : k->cap;
  if (k->ring == NULL) return;
  for (i = 0; i < used; i++) {
    entry_clear(d, &k->ring[i]);
    dt_arena_fini(d->s->cx, &k->ring[i].arena);
  }
  dt_free(d->s->cx, k->ring);
  dt_free(d->s->cx, k->room);
  dt_free(d->s->cx, k->name);
  dt_free(d->s->cx, k->newest);
}

/* Moved, not copied: the ring has one owner, `old` from here until
** dt_record_give or dt_record_drop, or d again when there is no memory. */
DtStatus dt_record_take (DtDebug *d, int cap, DtRecord *old) {
  DtStatus st;
  *old = d->rec;
  memset(&d->rec, 0, sizeof d->rec);
  d->rec.off = old->off;
  d->rec.values = old->values;
  d->rec.limit = old->limit;
  st = dt_record_start(d, cap);
  if (st != DT_OK) d->rec = *old;
  return st;
}

/* dt_record_stop works on d->rec, so the two change places for the moment. */
void dt_record_drop (DtDebug *d, DtRecord *old) {
  DtRecord now = d->rec;
  d->rec = *old;
  dt_record_stop(d);
  memset(old, 0, sizeof *old);
  d->rec = now;
}

void dt_record_give (DtDebug *d, DtRecord *old) {
  dt_record_stop(d);
  d->rec = *old;
  memset(old, 0, sizeof *old);
}

DtStatus dt_record_reset (DtDebug *d, int cap) {
  DtRecord old;
  DT_TRY(d->s->cx, dt_record_take(d, cap, &old));
  dt_record_drop(d, &old);
  return DT_OK;
}

void dt_record_limit (DtDebug *d, int64_t bytes) {
  d->rec.limit = bytes;
  d->rec.values = bytes > 0;
  values_fit(d);
  for (int i = 0; bytes == 0 && i < d->rec.n; i++)
    values_drop(d, dt_record_at(d, i));
}
