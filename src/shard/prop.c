/* SPDX-License-Identifier: MIT
** shard/prop.c: decide how one call is sharded.
**
** The steps of the reference's propagator: metas of the outputs first (their
** errors surface before any rule is looked up), then candidates by the first
** source the operator has (rules on one mesh dim, a user's strategy, a
** strategy, its decomposition), one choice, and the result as specs
** (result.c).  Nothing here sees data.
** Semantics: _sharding_prop.py, 2.13. */
#include <string.h>
#include "base/error_shard.h"
#include "compat/text.h"
#include "shard/known_wrong.h"
#include "shard/prop_int.h"

/* ---- metas ---- */

static int tensor_returns (const DtSchema *s) {
  int i;
  for (i = 0; i < s->nrets; i++)
    if (s->ret[i].type == DT_T_TENSOR) return s->nrets;
  return 0;
}

DtStatus dt_prop_meta (DtMetaCall *c) {
  const DtOpDef *op = c->op;
  DT_CHECK(c->cx, op->meta != NULL, (op->flags & DT_OP_DATADEP) != 0
           ? DT_E_RUNTIME : DT_E_NOTIMPL, "%s", op->sig->full);
  memset(c->none, 0, (size_t)c->maxout * sizeof *c->none);
  memset(c->offset, 0, (size_t)c->maxout * sizeof *c->offset);
  c->nout = tensor_returns(op->sig);
  DT_TRY(c->cx, op->meta(c));
  return DT_OK;
}

/* ---- a call under decision ---- */

int dt_args_positional (const DtArgs *args) {
  int i, k, n = 0;
  for (i = 0; i < args->n - args->schema->nkwonly; i++) {
    const DtValue *v = &args->v[i];
    n += v->kind == DT_V_TENSOR;
    if (v->kind != DT_V_LIST) continue;
    for (k = 0; k < v->u.list.n; k++)
      n += v->u.list.v[k].kind == DT_V_TENSOR;
  }
  return n;
}

bool dt_op_single_dim (const DtOpDef *op) {
  return op->rules != NULL || op->rulefn != NULL ||
         ((op->flags & DT_OP_POINTWISE) != 0 && op->strategy == NULL);
}

/* How many outputs there may be: a list operator's as many as its inputs. */
static int max_outs (const DtOpDef *op) {
  return op->sig->returns_list || (op->flags & DT_OP_FOREACH) != 0
         ? DT_MAX_OUTS : 16;
}

DtStatus dt_decide_metas (DtDecide *d, int max, bool fake) {
  DtMetaCall c = { .cx = d->cx, .op = d->op, .args = d->args, .nin = d->nin,
                   .in = d->meta, .maxout = max, .fake = fake };
  c.out = DT_ANEWN(d->cx, d->arena, DtMeta, max);
  c.none = DT_ANEWN(d->cx, d->arena, bool, max);
  c.offset = DT_ANEWN(d->cx, d->arena, int64_t, max);
  if (c.out == NULL || c.none == NULL || c.offset == NULL) return DT_E_NOMEM;
  d->out = c.out;
  d->none = c.none;
  DT_TRY(d->cx, d->op->meta == NULL && d->op->decomp != NULL
                ? dt_decomp_meta(d->p, &c) : dt_prop_meta(&c));
  d->nout = c.nout;
  return DT_OK;
}

/* Fused optimizers keep their step counters, argument 5, on a mesh of their
** own. */
enum { FUSED_STEPS = 5 };

static int different_mesh (const DtOpDef *op, const DtArgs *args) {
  if (strncmp(op->sig->base, "_fused_", 7) != 0 ||
      (op->flags & DT_OP_POINTWISE) == 0 || args->n <= FUSED_STEPS)
    return -1;
  return dt_arg_slot(args, FUSED_STEPS);
}

/* What a decision starts from. PyTorch finds the mesh in the first argument
** that has one; an operator without a distributed input is its ValueError. */
DtStatus dt_decide_init (DtCtx *cx, const DtDecideFor *f, DtDecide *d) {
  int i;
  memset(d, 0, sizeof *d);
  d->cx = cx;
  d->p = f->p;
  d->arena = f->arena;
  d->op = f->op;
  d->rule_op = f->rule_op;
  d->name = f->op->sig->full;
  d->holds = f->holds;
  d->args = f->args;
  d->nin = f->nin;
  d->in = f->in;
  d->npos = dt_args_positional(f->args);
  d->inplace = f->rule_op->sig->inplace;
  d->different = different_mesh(f->rule_op, f->args);
  d->meta = DT_ANEWN(cx, f->arena, const DtMeta *, f->nin + 1);
  if (d->meta == NULL) return DT_E_NOMEM;
  for (i = 0; i < f->nin; i++) d->meta[i] = &f->in[i]->meta;
  DT_CHECK(cx, f->nin > 0, DT_E_VALUE, "Cannot find device mesh from args for "
           "op : %s.", f->op->sig->full);
  d->mesh = f->in[0]->mesh;
  if (!f->no_meta) DT_TRY(cx, dt_decide_metas(d, max_outs(d->op), true));
  d->flag = dt_strided_flag_first(d, -1);
  return DT_OK;
}

/* ---- candidates ---- */

static DtStatus meshes_differ (DtDecide *d, bool single_dim,
                               const DtMesh *other) {
  DtBuf a, b;
  dt_buf_init(&a, d->cx);
  dt_buf_init(&b, d->cx);
  dt_mesh_repr(d->mesh, &a);
  dt_mesh_repr(other, &b);
  DtStatus st = single_dim
    ? DT_SAY(d->cx, DT_E_CROSSMESH, MESHES_OF_RULE, d->name, dt_buf_str(&a),
             dt_buf_str(&b))
    : DT_SAY(d->cx, DT_E_CROSSMESH, MESHES_OF_STRATEGY, d->name,
             dt_buf_str(&a), dt_buf_str(&b));
  dt_buf_fini(&b);
  dt_buf_fini(&a);
  return st;
}

/* Tensors that are arguments themselves (not in lists) share the mesh. */
static DtStatus check_meshes (DtDecide *d, bool single_dim) {
  int i, first = -1;
  for (i = 0; i < d->args->n - d->args->schema->nkwonly; i++) {
    int slot = dt_arg_slot(d->args, i);
    if (slot < 0 || slot == d->different) continue;
    if (first < 0) {
      first = slot;
      if (single_dim) d->mesh = d->in[slot]->mesh;
    }
    if (!dt_mesh_equal(d->in[slot]->mesh, d->mesh))
      return meshes_differ(d, single_dim, d->in[slot]->mesh);
  }
  return DT_OK;
}

static DtStatus by_rules (DtDecide *d, bool tuple, DtSheet *s) {
  DtExpand o;
  DtRows rows;
  bool inserted;
  DT_TRY(d->cx, check_meshes(d, true));
  DT_TRY(d->cx, dt_decide_rows(d, &rows, &inserted));
  DT_TRY(d->cx, dt_sheet_init(s, d, rows.nout, tuple));
  o.inplace = d->inplace;
  o.uneven = (d->rule_op->flags & (DT_OP_POINTWISE | DT_OP_UNEVEN)) != 0;
  o.fill = true;
  return dt_expand_rows(s, &rows, &o);
}

static DtStatus by_strategy (DtDecide *d, bool tuple, DtStratFn fn, void *ud,
                             DtSheet *s) {
  DT_TRY(d->cx, check_meshes(d, false));
  DT_TRY(d->cx, dt_sheet_init(s, d, d->nout, tuple));
  return dt_strategy_run(s, fn, ud);
}

/* An operator that the release had no strategy for. */
static DtStatus before_its_time (DtDecide *d, bool tuple, DtSheet *s,
                                 DtPropVia *via) {
  void *ud = NULL;
  bool found = false;
  DtStratFn user = dt_registry_strategy(d->p->reg, d->rule_op, &ud);
  if (user != NULL) {
    *via = DT_VIA_USER;
    return by_strategy(d, tuple, user, ud, s);
  }
  if (d->p->decomposes && d->rule_op->decomp != NULL) {
    *via = DT_VIA_DECOMP;
    DT_TRY(d->cx, dt_prop_mark_traced(d->p, d->op));
    DT_TRY(d->cx, dt_decomp_run(d, s, &found));
  }
  DT_CHECK(d->cx, found, DT_E_MISSING, "Operator %s does not have a sharding "
           "strategy registered.", d->name);
  return DT_OK;
}

DtStatus dt_decide_candidates (DtDecide *d, bool tuple, DtSheet *s,
                               DtPropVia *via) {
  void *ud = NULL;
  DtStratFn user;
  bool found = false;
  if (!dt_profile_has_op(d->rule_op->sig->full, d->p->release))
    return before_its_time(d, tuple, s, via);
  if (dt_op_single_dim(d->rule_op) &&
      !dt_registry_forced(d->p->reg, d->rule_op)) {
    *via = DT_VIA_SINGLE_DIM;
    return by_rules(d, tuple, s);
  }
  user = dt_registry_strategy(d->p->reg, d->rule_op, &ud);
  if (user != NULL) {
    *via = DT_VIA_USER;
    return by_strategy(d, tuple, user, ud, s);
  }
  if (d->rule_op->strategy != NULL) {
    *via = DT_VIA_STRATEGY;
    d->flag = -1;               /* a new spec's: order if any _S */
    return by_strategy(d, tuple, d->rule_op->strategy, NULL, s);
  }
  if (d->rule_op->decomp != NULL &&
      (d->rule_op->flags & DT_OP_NOSTRATEGY) == 0) {
    *via = DT_VIA_DECOMP;
    DT_TRY(d->cx, dt_prop_mark_traced(d->p, d->op));
    DT_TRY(d->cx, dt_decomp_run(d, s, &found));
  }
  DT_CHECK(d->cx, found, DT_E_MISSING, "Operator %s does not have a sharding "
           "strategy registered.", d->name);
  return DT_OK;
}

/* ---- deciding ---- */

DtStatus dt_decide_hold (DtDecide *d, DtPlacement p, bool adopt) {
  DtHold *h;
  if (p.kind != DT_PL_MASK_PARTIAL || p.u.mask == NULL || d->holds == NULL)
    return DT_OK;
  for (h = *d->holds; h != NULL; h = h->next)
    if (h->mask == p.u.mask) return DT_OK;
  h = DT_ANEWN(d->cx, d->arena, DtHold, 1);
  if (h == NULL) {
    if (adopt) dt_mask_unref(d->cx, p.u.mask);
    return DT_E_NOMEM;
  }
  h->mask = adopt ? p.u.mask : dt_mask_ref(p.u.mask);
  h->next = *d->holds;
  *d->holds = h;
  return DT_OK;
}

/* item(): nothing is decided, the local value is read. */
static bool reads_local (const DtOpDef *op) {
  return strcmp(op->sig->full, "aten._local_scalar_dense.default") == 0;
}

static DtStatus no_spec (DtCtx *cx, const DtOpSchema *q, DtProp **out) {
  DtProp *p = dt_prop_new(cx, q->op, q->nin, 0, 0);
  int i;
  if (p == NULL) return DT_E_NOMEM;
  for (i = 0; i < q->nin; i++) p->in[i] = dt_spec_ref(q->in[i]);
  p->no_spec = true;
  *out = p;
  return DT_OK;
}

static DtStatus decide_placements (DtDecide *d, DtWhy *why, DtProp **out) {
  DtSheet s;
  DtPropVia via = DT_VIA_NONE;
  if (dt_decide_is_list(d)) {
    DtChosen *c;
    int n;
    DT_TRY(d->cx, dt_tuple_run(d, why, &n, &c, &via));
    return dt_prop_build_list(d, n, c, via, out);
  }
  DT_TRY(d->cx, dt_decide_candidates(d, false, &s, &via));
  DT_TRY(d->cx, dt_sheet_check(&s));
  if (why != NULL) DT_TRY(d->cx, dt_why_fill(d->cx, why, &s, via));
  return dt_prop_build(d, &s, via, out);
}

/* Is slot k the k-th tensor of the call?  (Not when positional arguments were
** given by keyword in another order.) */
typedef struct Order { int next; bool ok; int *map; } Order;

static void visit_order (void *ud, int *slot) {
  Order *o = (Order *)ud;
  if (*slot != o->next) o->ok = false;
  if (o->map != NULL) {
    o->map[o->next] = *slot;
    *slot = o->next;
  }
  o->next++;
}

static void restore_slot (void *ud, int *slot) {
  *slot = ((const int *)ud)[*slot];
}

static bool in_order (const DtArgs *args) {
  Order o = { 0, true, NULL };
  int i;
  for (i = 0; i < args->n; i++) {
    DtValue v = args->v[i];             /* only read */
    dt_value_slots(&v, visit_order, &o);
  }
  return o.ok;
}

static DtStatus decide_ordered (DtCtx *cx, DtPropagator *p, DtArena *arena,
                                const DtOpSchema *q, DtWhy *why,
                                DtProp **out) {
  DtHold *holds = NULL;
  DtDecideFor f = { p, arena, q->op, q->op, q->args, q->nin, q->in, false,
                    &holds };
  DtDecide d;
  DtStatus st = dt_decide_init(cx, &f, &d);
  if (st == DT_OK) {
    d.keep = why != NULL;
    st = decide_placements(&d, why, out);
  }
  for (; holds != NULL; holds = holds->next) dt_mask_unref(cx, holds->mask);
  return st;
}

/* Back to the caller's slots. */
static DtStatus restore_order (DtCtx *cx, DtArena *arena, int n, const int *map,
                               DtProp *p) {
  const DtSpec **in = DT_ANEWN(cx, arena, const DtSpec *, n + 1);
  bool *moved = DT_ANEWN(cx, arena, bool, n + 1);
  int i;
  if (in == NULL || moved == NULL) return DT_E_NOMEM;
  memcpy(in, p->in, (size_t)n * sizeof *in);
  memcpy(moved, p->moved, (size_t)n * sizeof *moved);
  for (i = 0; i < n; i++) {
    p->in[map[i]] = in[i];
    p->moved[map[i]] = moved[i];
  }
  if (p->args != NULL)
    for (i = 0; i < p->args->n; i++)
      dt_value_slots(&p->args->v[i], restore_slot, (void *)(uintptr_t)map);
  return DT_OK;
}

static DtStatus decide_permuted (DtCtx *cx, DtPropagator *p, DtArena *arena,
                                 const DtOpSchema *q, DtWhy *why,
                                 DtProp **out) {
  const int nin = q->nin;
  int *map = DT_ANEWN(cx, arena, int, nin + 1), i;
  const DtSpec **sorted = DT_ANEWN(cx, arena, const DtSpec *, nin + 1);
  DtArgs *copy = DT_ANEWN(cx, arena, DtArgs, 1);
  Order o = { 0, true, map };
  DtStatus st;
  if (map == NULL || sorted == NULL || copy == NULL) return DT_E_NOMEM;
  DT_TRY(cx, dt_args_copy(cx, arena, q->args, copy));
  for (i = 0; i < copy->n; i++)
    dt_value_slots(&copy->v[i], visit_order, &o);
  DT_ASSERT(cx, o.next == nin);
  for (i = 0; i < nin; i++) sorted[i] = q->in[map[i]];
  DT_TRY(cx, decide_ordered(cx, p, arena,
                            &(DtOpSchema){ q->op, copy, nin, sorted }, why,
                            out));
  st = restore_order(cx, arena, nin, map, *out);
  if (st != DT_OK) dt_prop_unref(cx, *out);
  return st;
}

DtStatus dt_prop_raw (DtCtx *cx, DtPropagator *p, const DtOpSchema *q,
                      DtWhy *why, DtProp **out) {
  DtArenaMark mark;
  DtStatus st;
  if (reads_local(q->op)) return no_spec(cx, q, out);
  mark = dt_arena_mark(&cx->scratch);
  st = in_order(q->args)
       ? decide_ordered(cx, p, &cx->scratch, q, why, out)
       : decide_permuted(cx, p, &cx->scratch, q, why, out);
  dt_arena_release(&cx->scratch, mark);
  if (st != DT_OK)
    return dt_error_frame(cx, st, __func__, __FILE__, __LINE__);
  (*out)->known_wrong = dt_known_wrong_find(cx, q->op, q->args, *out);
  return DT_OK;
}

/* ---- the public way: errors name the call ---- */

/* PyTorch propagates these from handlers of their own, which add nothing. */
static bool has_handler (const DtOpDef *op) {
  return strcmp(op->sig->base, "convolution") == 0 ||
         strcmp(op->sig->base, "convolution_backward") == 0 ||
         strcmp(op->sig->base, "argmax") == 0 ||
         strcmp(op->sig->base, "argmin") == 0;
}

static bool passes_through (DtCtx *cx, DtStatus st) {
  return st == DT_E_NOMEM || st == DT_E_INTERRUPTED || st == DT_E_INTERNAL ||
         strcmp(cx->err.pyclass, "NotImplementedError") == 0;
}

/* Where a release's line hides what a rule said, that is the cause of it. */
DtStatus dt_prop_suffix (DtCtx *cx, DtStatus st, const DtOpSchema *q) {
  DtBuf own, call;
  if (passes_through(cx, st) || has_handler(q->op)) return st;
  dt_buf_init(&own, cx);
  dt_buf_init(&call, cx);
  dt_buf_add(&own, dt_buf_str(&cx->err.message));
  dt_prop_schema_str(q->op, q->args, q->in, &call);
  if (st != DT_E_INPLACE && st != DT_E_CROSSMESH) st = DT_E_PROP;
  DtStatus bst = dt_buf_ok(&own);
  if (bst == DT_OK) bst = dt_buf_ok(&call);
  if (bst == DT_OK) {
    const char *words = dt_text_words(DT_TEXT_PROPAGATION, cx->release);
    if (strncmp(words, "{1}", 3) == 0) dt_error_clear(cx);
    bst = DT_SAY(cx, st, PROPAGATION, dt_buf_str(&own), dt_buf_str(&call));
  }
  dt_buf_fini(&call);
  dt_buf_fini(&own);
  return bst;
}

DtStatus dt_prop_run (DtCtx *cx, DtPropagator *p, const DtOpSchema *q,
                      DtWhy **why, DtProp **out) {
  DtWhy *w = NULL;
  DtStatus st;
  if (why != NULL && (w = DT_NEW(cx, DtWhy)) == NULL) return DT_E_NOMEM;
  st = dt_prop_raw(cx, p, q, w, out);
  if (st != DT_OK) {
    dt_why_free(cx, w);
    return dt_prop_suffix(cx, st, q);
  }
  if (why != NULL) *why = w;
  return DT_OK;
}
