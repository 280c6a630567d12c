/* SPDX-License-Identifier: MIT
** shard/decomp.c: operators without rules: their decomposition is traced.
**
** For each combination of placements the inputs might have, the program is
** run on specs over a mesh of size 1 (so every rank traces the same thing);
** each operator inside is propagated as any other.  A combination that would
** need communication inside is dropped, the others become rows on one mesh
** dim.  The same emitter, without specs, infers shapes of composites.
** Semantics: _decompositions.py, 2.13. */
#include <string.h>
#include "op/saved.h"
#include "shard/prop_int.h"

enum { MAX_TRACES = 1 << 14, MAX_NESTED = 24, TRACE_OUTS = 64 };

/* What the emitter's handles point to. */
typedef struct Tensor {
  DtMeta meta;
  DtSpec *spec;                 /* NULL when only shapes are traced */
  bool is_out;                  /* given as out= */
  struct Tensor *next;          /* to be let go at the end */
} Tensor;

/* A decision about an out= form met inside. */
typedef struct Seen {
  const DtOpDef *op;
  DtArena arena;                /* of args */
  DtArgs args;
  int nin;                      /* positional tensors only */
  DtSpec **in;
  DtProp *prop;
  struct Seen *next;
} Seen;

typedef struct Trace {
  DtEmit e;
  DtPropagator *p;
  Tensor *made;
  Seen **seen;                  /* of all combinations */
  bool specs;
} Trace;

static DtStatus new_tensor (Trace *t, const DtMeta *m, DtSpec *spec,
                            Tensor **out) {
  Tensor *x = DT_ANEWN(t->e.cx, t->e.arena, Tensor, 1);
  if (x == NULL) return DT_E_NOMEM;
  dt_meta_copy(&x->meta, m);
  x->spec = dt_spec_ref(spec);
  x->next = t->made;
  t->made = x;
  *out = x;
  return DT_OK;
}

static void trace_end (Trace *t) {
  for (; t->made != NULL; t->made = t->made->next)
    dt_spec_unref(t->e.cx, t->made->spec);
}

/* ---- operators inside ---- */

static DtStatus run_program (Trace *t, const DtOpDef *op, const DtArgs *args,
                             int nin, DtHandle *const *in, DtOutputs *out) {
  DtDecompCall c;
  DtStatus st;
  DT_CHECK(t->e.cx, t->p->depth < MAX_NESTED, DT_E_NOTIMPL,
           "decompositions are nested too deeply in %s", op->sig->full);
  memset(&c, 0, sizeof c);
  c.e = &t->e;
  c.op = op;
  c.args = args;
  c.nin = nin;
  c.in = in;
  c.out = out->v;
  c.maxout = out->max;
  t->p->depth++;
  st = op->decomp(&c);
  t->p->depth--;
  if (st == DT_OK) st = t->e.st;
  out->n = c.nout;
  return st;
}

/* Would anything have to move?  Rewritten shapes do not count. */
static bool must_move (const DtProp *p, int npos, const DtSpec *const *in) {
  int i;
  for (i = 0; i < npos && i < p->nin; i++)
    if (p->in[i] != NULL &&
        !dt_pls_equal(in[i]->pl, p->in[i]->pl, in[i]->npl))
      return true;
  return false;
}

static DtStatus keep_outputs (Trace *t, const DtProp *p, DtOutputs *out) {
  int i;
  for (i = 0; i < p->nout && i < out->max; i++) {
    Tensor *x;
    if (p->out[i] == NULL) {
      out->v[i] = NULL;
      continue;
    }
    DT_TRY(t->e.cx, new_tensor(t, &p->out[i]->meta, p->out[i], &x));
    out->v[i] = (DtHandle *)(void *)x;
  }
  out->n = i;
  return DT_OK;
}

static void seen_free (DtCtx *cx, Seen *s) {
  int i;
  for (i = 0; s->in != NULL && i < s->nin; i++) dt_spec_unref(cx, s->in[i]);
  dt_free(cx, s->in);
  dt_arena_fini(cx, &s->arena);
  dt_prop_unref(cx, s->prop);
  dt_free(cx, s);
}

static DtStatus seen_add (Trace *t, const DtOpDef *op, const DtArgs *args,
                          int nin, const DtSpec *const *in, DtProp *prop) {
  DtCtx *cx = t->e.cx;
  Seen *s = DT_NEW(cx, Seen);
  int i;
  if (s == NULL) return DT_E_NOMEM;
  s->op = op;
  s->in = DT_NEWN(cx, DtSpec *, nin + 1);
  if (s->in == NULL || dt_args_copy(cx, &s->arena, args, &s->args) != DT_OK) {
    seen_free(cx, s);
    return DT_E_NOMEM;
  }
  s->nin = nin;
  for (i = 0; i < nin; i++) s->in[i] = dt_spec_ref(in[i]);
  s->prop = dt_prop_ref(prop);
  s->next = *t->seen;
  *t->seen = s;
  return DT_OK;
}

static DtProp *seen_find (const Trace *t, const DtOpDef *op,
                          const DtArgs *args, int nin,
                          const DtSpec *const *in) {
  const Seen *s;
  for (s = *t->seen; s != NULL; s = s->next) {
    int i;
    if (s->op != op || s->nin != nin || !dt_args_equal(&s->args, args))
      continue;
    for (i = 0; i < nin && dt_spec_equal(s->in[i], in[i]); i++) continue;
    if (i == nin) return dt_prop_ref(s->prop);
  }
  return NULL;
}

/* PyTorch's cache, which answers inside a trace, looks at tensors given by
** keyword only where their registration names them, as pointwise ones do: else
** what was decided for the first out= holds for all. */
static bool key_has_out (const DtOpDef *op) {
  return (op->flags & DT_OP_POINTWISE) != 0 &&
         (op->flags & DT_OP_FOREACH) == 0;
}

static DtStatus decide_inside (Trace *t, const DtOpDef *op,
                               const DtArgs *args, int nin,
                               const DtSpec *const *in, DtProp **out) {
  DtCtx *cx = t->e.cx;
  int npos = dt_args_positional(args);
  bool hit;
  DtStatus st;
  if (npos == nin || t->seen == NULL || key_has_out(op))
    return dt_prop_raw_cached(cx, t->p, &(DtOpSchema){ op, args, nin, in },
                              out, &hit);
  *out = seen_find(t, op, args, npos, in);
  if (*out != NULL) return DT_OK;
  DT_TRY(cx, dt_prop_raw_cached(cx, t->p, &(DtOpSchema){ op, args, nin, in },
                                out, &hit));
  st = seen_add(t, op, args, npos, in, *out);
  if (st != DT_OK) dt_prop_unref(cx, *out);
  return st;
}

static DtStatus call_specs (Trace *t, const DtOpDef *op, const DtArgs *args,
                            int nin, DtHandle *const *in, DtOutputs *out) {
  DtCtx *cx = t->e.cx;
  const DtSpec **spec = DT_ANEWN(cx, t->e.arena, const DtSpec *, nin + 1);
  DtProp *p = NULL;
  DtStatus st = DT_OK;
  int i;
  if (spec == NULL) return DT_E_NOMEM;
  DT_CHECK(cx, nin > 0, DT_E_NOTIMPL,
           "No DTensorSpec found in args/kwargs for %s", op->sig->full);
  for (i = 0; i < nin; i++) {
    spec[i] = ((const Tensor *)(const void *)in[i])->spec;
    DT_CHECK(cx, spec[i] != NULL, DT_E_NOTIMPL, "%s meets a tensor without "
             "placements", op->sig->full);
  }
  DT_TRY(cx, decide_inside(t, op, args, nin, spec, &p));
  if (must_move(p, dt_args_positional(args), spec))
    st = dt_raise(cx, DT_E_RUNTIME, "Decomposition requires redistribution "
                  "for %s", op->sig->full);
  else
    st = keep_outputs(t, p, out);
  dt_prop_unref(cx, p);
  return st;
}

static DtStatus call_metas (Trace *t, const DtOpDef *op, const DtArgs *args,
                            int nin, DtHandle *const *in, DtOutputs *out) {
  DtCtx *cx = t->e.cx;
  const DtMeta **meta = DT_ANEWN(cx, t->e.arena, const DtMeta *, nin + 1);
  DtMeta *res = DT_ANEWN(cx, t->e.arena, DtMeta, DT_MAX_OUTS);
  bool *none = DT_ANEWN(cx, t->e.arena, bool, DT_MAX_OUTS);
  int64_t *off = DT_ANEWN(cx, t->e.arena, int64_t, DT_MAX_OUTS);
  int i;
  if (meta == NULL || res == NULL || none == NULL || off == NULL)
    return DT_E_NOMEM;
  for (i = 0; i < nin; i++)
    meta[i] = &((const Tensor *)(const void *)in[i])->meta;
  DtMetaCall c = { .cx = cx, .op = op, .args = args, .nin = nin, .in = meta,
                   .maxout = DT_MAX_OUTS, .out = res, .none = none,
                   .offset = off, .fake = true };
  DT_TRY(cx, dt_prop_meta(&c));
  for (i = 0; i < c.nout && i < out->max; i++) {
    Tensor *x = NULL;
    if (!none[i]) DT_TRY(cx, new_tensor(t, &res[i], NULL, &x));
    out->v[i] = (DtHandle *)(void *)x;
  }
  out->n = i;
  return DT_OK;
}

/* A copy into an out= of another shape, which would be resized first: that
** has no strategy. */
static bool resizes_out (const char *name, int nin, DtHandle *const *in) {
  const Tensor *x, *y;
  if (nin != 2 || strcmp(name, "aten.copy_.default") != 0) return false;
  x = (const Tensor *)(const void *)in[0];
  y = (const Tensor *)(const void *)in[1];
  return x->is_out && !dt_meta_same_shape(&x->meta, &y->meta);
}

static DtStatus resize_out (Trace *t, DtHandle *const *in, DtOutputs *out) {
  const Tensor *x = (const Tensor *)(const void *)in[0];
  const Tensor *y = (const Tensor *)(const void *)in[1];
  Tensor *res;
  DtMeta m;
  t->p->resized += dt_meta_numel(&x->meta) != 0;
  DT_CHECK(t->e.cx, !t->specs, DT_E_NOTIMPL, "Operator aten.resize_.default "
           "does not have a sharding strategy registered.");
  dt_meta_copy(&m, &y->meta);
  m.dtype = x->meta.dtype;
  dt_meta_set_contiguous(&m);
  DT_TRY(t->e.cx, new_tensor(t, &m, NULL, &res));
  out->v[0] = (DtHandle *)(void *)res;
  out->n = 1;
  return DT_OK;
}

static bool runs_inline (const Trace *t, const DtOpDef *op) {
  if (op->decomp == NULL) return false;
  if (!t->specs) return op->meta == NULL;
  return (op->flags & DT_OP_COMPOSITE) != 0 && !dt_op_single_dim(op) &&
         op->strategy == NULL;
}

static DtStatus trace_call (DtEmit *e, const char *name,
                            const DtGiven *given, int nin, DtHandle *const *in,
                            DtOutputs *out) {
  Trace *t = (Trace *)e->ud;
  const DtOpDef *op = dt_registry_find(e->cx, t->p->reg, name);
  DtArgs *args = DT_ANEWN(e->cx, e->arena, DtArgs, 1);
  if (args == NULL) return DT_E_NOMEM;
  if (resizes_out(name, nin, in)) return resize_out(t, in, out);
  if (op == NULL) {
    if (e->cx->err.code != DT_OK) return e->cx->err.code;
    return dt_raise(e->cx, DT_E_NOTIMPL, "there is no operator %s", name);
  }
  DT_TRY(e->cx, dt_schema_bind(e->cx, op->sig, given, args));
  if (runs_inline(t, op))
    return run_program(t, op, args, nin, in, out);
  return t->specs ? call_specs(t, op, args, nin, in, out)
                  : call_metas(t, op, args, nin, in, out);
}

static const DtMeta *trace_meta (DtEmit *e, const DtHandle *h) {
  (void)e;
  return &((const Tensor *)(const void *)h)->meta;
}

static bool trace_is_dist (DtEmit *e, const DtHandle *h) {
  (void)e;
  return ((const Tensor *)(const void *)h)->spec != NULL;
}

static const DtEmitVt trace_vt = { trace_call, trace_meta, trace_is_dist,
                                   NULL, NULL, NULL };

static void trace_init (Trace *t, DtCtx *cx, DtPropagator *p, DtArena *arena,
                        bool specs) {
  memset(t, 0, sizeof *t);
  t->e.cx = cx;
  t->e.vt = &trace_vt;
  t->e.arena = arena;
  t->e.ud = t;
  t->p = p;
  t->specs = specs;
  t->e.tracing = specs;
  t->e.keeps_reshape = specs && !p->outside_dispatch;
  t->e.pretend = true;
}

/* Is the tensor at `slot` what a result goes into, by keyword? */
static bool is_out_slot (const DtOpDef *op, const DtArgs *args, int slot) {
  int i;
  for (i = 0; i < op->sig->nargs; i++)
    if (op->sig->arg[i].kwonly && op->sig->arg[i].write &&
        dt_arg_slot(args, i) == slot)
      return true;
  return false;
}

/* ---- shapes ---- */

/* Shapes of an operator without a meta function: its decomposition is run on
** tensors without data. */
DtStatus dt_decomp_meta (DtPropagator *p, DtMetaCall *c) {
  DtCtx *cx = c->cx;
  Trace t;
  DtHandle **h = DT_ANEWN(cx, &cx->scratch, DtHandle *, c->nin + 1);
  DtHandle **res = DT_ANEWN(cx, &cx->scratch, DtHandle *, c->maxout + 1);
  DtOutputs out = { res, c->maxout, 0, NULL };
  DtStatus st = DT_OK;
  int i;
  if (h == NULL || res == NULL) return DT_E_NOMEM;
  trace_init(&t, cx, p, &cx->scratch, false);
  for (i = 0; i < c->nin && st == DT_OK; i++) {
    Tensor *x = NULL;
    st = new_tensor(&t, c->in[i], NULL, &x);
    if (st == DT_OK) x->is_out = is_out_slot(c->op, c->args, i);
    h[i] = (DtHandle *)(void *)x;
  }
  if (st == DT_OK)
    st = run_program(&t, c->op, c->args, c->nin, h, &out);
  c->nout = out.n;
  for (i = 0; st == DT_OK && i < c->nout; i++) {
    c->none[i] = res[i] == NULL;
    c->offset[i] = 0;
    if (res[i] != NULL)
      dt_meta_copy(&c->out[i], &((const Tensor *)(void *)res[i])->meta);
  }
  trace_end(&t);
  return st;
}

/* ---- candidates ---- */

typedef struct Options { int n; DtPlacement *pl; } Options;

static DtStatus add_kinds (DtDecide *d, const DtPySet *all, int ndim,
                           DtPySet *set) {
  DtPlacement list[256];
  int n = dt_pyset_list(all, list, 256), i, k;
  for (i = 0; i < n; i++) {
    DtPySet more;
    if (!dt_pl_is_shard_like(list[i])) continue;
    DT_TRY(d->cx, dt_pyset_init(d->cx, d->arena, d->p->hash_seed, &more));
    for (k = 0; k < ndim; k++) {
      DtPlacement p = list[i];
      p.dim = (int16_t)k;
      DT_TRY(d->cx, dt_pyset_add(d->cx, d->arena, &more, p));
    }
    DT_TRY(d->cx, dt_pyset_merge(d->cx, d->arena, set, &more));
  }
  return DT_OK;
}

/* What each input may be: every placement that occurs, Replicate, and every
** kind of shard that occurs on each of its dims. */
static DtStatus make_options (DtDecide *d, Options *o, int64_t *count) {
  DtPySet all;
  int i, m;
  *count = 1;
  DT_TRY(d->cx, dt_pyset_init(d->cx, d->arena, d->p->hash_seed, &all));
  DT_TRY(d->cx, dt_pyset_add(d->cx, d->arena, &all, dt_pl_replicate()));
  for (i = 0; i < d->nin; i++)
    for (m = 0; m < d->in[i]->npl; m++)
      DT_TRY(d->cx, dt_pyset_add(d->cx, d->arena, &all, d->in[i]->pl[m]));
  for (i = 0; i < d->nin; i++) {
    DtPySet set;
    DT_TRY(d->cx, dt_pyset_copy(d->cx, d->arena, &all, &set));
    DT_TRY(d->cx, add_kinds(d, &all, d->meta[i]->ndim, &set));
    o[i].pl = DT_ANEWN(d->cx, d->arena, DtPlacement, set.n + 1);
    if (o[i].pl == NULL) return DT_E_NOMEM;
    o[i].n = dt_pyset_list(&set, o[i].pl, set.n);
    *count *= o[i].n;
    DT_CHECK(d->cx, *count <= MAX_TRACES, DT_E_LIMIT,
             "%s: more than %d combinations of placements to trace",
             d->op->sig->full, MAX_TRACES);
  }
  return DT_OK;
}

typedef enum Outcome { T_ROW, T_SKIP, T_GIVE_UP } Outcome;

/* What an error inside means. */
static DtStatus judge (DtCtx *cx, DtStatus st, Outcome *out) {
  const char *c = cx->err.pyclass;
  if (st == DT_E_NOMEM || st == DT_E_INTERRUPTED || st == DT_E_INTERNAL)
    return st;
  *out = strcmp(c, "RuntimeError") == 0 || strcmp(c, "KeyError") == 0 ||
         strcmp(c, "IndexError") == 0 ? T_SKIP : T_GIVE_UP;
  dt_error_clear(cx);
  return DT_OK;
}

static DtStatus fake_mesh (DtCtx *cx, DtPropagator *p, const DtMesh *like,
                           DtMesh **out) {
  const int64_t shape[1] = { 1 };
  if (p->one != NULL && strcmp(p->one->device_name, like->device_name) != 0) {
    dt_mesh_unref(cx, p->one);
    p->one = NULL;
  }
  if (p->one == NULL)
    DT_TRY(cx, dt_mesh_init(cx, like->device_name, 1, shape, NULL, 0, 1,
                            &p->one));
  p->one->style = like->style;
  *out = p->one;
  return DT_OK;
}

/* Trace one combination; placements of the results go into cells[0..]. */
static DtStatus trace_one (DtDecide *d, DtMesh *mesh, const DtPlacement *pl,
                           Seen **seen, DtCell *cells, int *ncells) {
  Trace t;
  DtHandle **h = DT_ANEWN(d->cx, d->arena, DtHandle *, d->nin + 1);
  DtHandle *res[TRACE_OUTS];
  DtOutputs out = { res, TRACE_OUTS, 0, NULL };
  DtStatus st = DT_OK;
  int i;
  if (h == NULL) return DT_E_NOMEM;
  trace_init(&t, d->cx, d->p, d->arena, true);
  t.seen = seen;
  for (i = 0; i < d->nin && st == DT_OK; i++) {
    DtSpec *spec = NULL;
    Tensor *x = NULL;
    st = dt_spec_new(d->cx, mesh, 1, &pl[i], d->meta[i], NULL, -1, &spec);
    if (st == DT_OK) st = new_tensor(&t, d->meta[i], spec, &x);
    if (st == DT_OK) x->is_out = is_out_slot(d->rule_op, d->args, i);
    dt_spec_unref(d->cx, spec);
    h[i] = (DtHandle *)(void *)x;
  }
  if (st == DT_OK)
    st = run_program(&t, d->rule_op, d->args, d->nin, h, &out);
  *ncells = 0;
  for (i = 0; i < out.n && st == DT_OK; i++)
    if (res[i] != NULL) {
      const Tensor *x = (const Tensor *)(const void *)res[i];
      if (x->spec == NULL) continue;
      if (x->spec->pl[0].kind == DT_PL_MASK_PARTIAL)
        (void)dt_mask_ref(x->spec->pl[0].u.mask);       /* see hold_masks */
      cells[(*ncells)++] = dt_c_fix(x->spec->pl[0]);
    }
  trace_end(&t);
  return st;
}

static bool next_choice (int n, const Options *o, int *at) {
  int i;
  for (i = n - 1; i >= 0; i--) {
    if (++at[i] < o[i].n) return true;
    at[i] = 0;
  }
  return false;
}

typedef struct Tracing {
  Options *opt;
  int *at;
  DtPlacement *pl;
  DtCell *cells;
  DtRows rows;
  Seen *seen;
  bool any, gave_up;
} Tracing;

/* Results that are masked partials: the trace counted their masks, because it
** could not keep a note of them in its own memory. */
static DtStatus hold_masks (DtDecide *d, int n, const DtCell *cells) {
  DtStatus st = DT_OK;
  int i;
  for (i = 0; i < n; i++) {
    if (cells[i].pl.kind != DT_PL_MASK_PARTIAL) continue;
    if (st == DT_OK) st = dt_decide_hold(d, cells[i].pl, false);
    dt_mask_unref(d->cx, cells[i].pl.u.mask);
  }
  return st;
}

/* One combination of input placements is run through the decomposition; what
** comes out is a row of rules. A combination that the decomposition refuses
** has no row. */
static DtStatus trace_step (DtDecide *d, DtMesh *mesh, Tracing *t) {
  DtArenaMark mark;
  Outcome o = T_ROW;
  DtStatus st;
  int i, n = 0;
  for (i = 0; i < d->nin; i++) t->pl[i] = t->opt[i].pl[t->at[i]];
  mark = dt_arena_mark(d->arena);
  st = trace_one(d, mesh, t->pl, &t->seen, t->cells, &n);
  dt_arena_release(d->arena, mark);
  DT_TRY(d->cx, hold_masks(d, n, t->cells));
  if (st != DT_OK) {
    DT_TRY(d->cx, judge(d->cx, st, &o));
    if (o == T_GIVE_UP) t->gave_up = true;
    return DT_OK;
  }
  if (!t->any) dt_rows_init(&t->rows, d->cx, d->arena, n, d->nin);
  t->any = true;
  if (n != t->rows.nout) return DT_OK;
  for (i = 0; i < d->nin; i++) t->cells[n + i] = dt_c_fix(t->pl[i]);
  dt_rows_add(&t->rows, t->cells);
  return t->rows.st;
}

static bool is_default (const DtOpDef *op) {
  return strcmp(op->sig->overload, "default") == 0;
}

/* Results that are not None. */
static int count_tensors (const DtDecide *d) {
  int n = 0;
  for (int i = 0; i < d->nout; i++) n += !d->none[i];
  return n;
}

/* Rules of an operator that has none, by tracing what it is made of: every
** combination of placements of its inputs on one mesh dimension is pushed
** through its parts, and those that need no move are rows.  PyTorch's is
** `_decompositions.py:DecompShardingStrategy`.  Those marked untraced are left
** out, as there.  *found is false where tracing gave up or found nothing. */
DtStatus dt_decomp_run (DtDecide *d, DtSheet *s, bool *found) {
  DtExpand o = { false, false, false };
  Tracing t;
  DtMesh *mesh = NULL;
  DtStatus st = DT_OK;
  int64_t count;
  memset(&t, 0, sizeof t);
  *found = false;
  if (dt_untraced_has(d->op->sig->full, d->p->release)) return DT_OK;
  t.opt = DT_ANEWN(d->cx, d->arena, Options, d->nin + 1);
  t.at = DT_ANEWN(d->cx, d->arena, int, d->nin + 1);
  t.pl = DT_ANEWN(d->cx, d->arena, DtPlacement, d->nin + 1);
  t.cells = DT_ANEWN(d->cx, d->arena, DtCell, d->nin + TRACE_OUTS);
  if (t.opt == NULL || t.at == NULL || t.pl == NULL || t.cells == NULL)
    return DT_E_NOMEM;
  DT_TRY(d->cx, fake_mesh(d->cx, d->p, d->mesh, &mesh));
  DT_TRY(d->cx, make_options(d, t.opt, &count));
  do
    st = trace_step(d, mesh, &t);
  while (st == DT_OK && !t.gave_up && next_choice(d->nin, t.opt, t.at));
  while (t.seen != NULL) {
    Seen *s0 = t.seen;
    t.seen = s0->next;
    seen_free(d->cx, s0);
  }
  DT_TRY(d->cx, st);
  if (t.gave_up || !t.any) return DT_OK;
  *found = true;
  DT_CHECK(d->cx, !d->op->sig->returns_list || t.rows.nout != 1 ||
           d->p->checks_rows, DT_E_VALUE,
           "For the op %s::%s%s%s, `output_specs` has 1 output which does not "
           "equal the number of op outputs: 1.", d->op->sig->ns,
           d->op->sig->base, is_default(d->op) ? "" : ".",
           is_default(d->op) ? "" : d->op->sig->overload);
  DT_TRY(d->cx, dt_sheet_init(s, d, t.rows.nout, false));
  s->alone = t.rows.nout <= 1 && t.rows.nout == count_tensors(d);
  DT_TRY(d->cx, dt_expand_rows(s, &t.rows, &o));
  if (s->n == 0 && d->p->checks_rows) *found = false;
  return DT_OK;
}
