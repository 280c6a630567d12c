/* SPDX-License-Identifier: MIT
** diag/rules_order.c: traps of order and identity: the contracted dimension
** of a product sharded in two orders, parts of a checkpoint joined in another
** order than they were cut, a plan made for another argument.
**
** Orders are compared by what they mean, the indices that each rank holds, on
** all ranks of the mesh: every rank comes to the same verdict without a word
** to the others.  Parts are known by what the file they were read from says of
** them; that goes from storage to storage only where an operator copies. */
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"
#include "mesh/layout.h"
#include "shard/user.h"

/* --- products --- */

static const DtProduct products[] = {
  {"aten.mm.default", 0, 1, 1, 2}, {"aten.bmm.default", 0, 1, 1, 2},
  {"aten.mv.default", 0, 1, 1, 1}, {"aten.dot.default", 0, 1, 1, 1},
  {"aten.addmm.default", 1, 1, 2, 2}, {"aten.baddbmm.default", 1, 1, 2, 2},
  {"aten.addmv.default", 1, 1, 2, 1}, {"aten._cdist_forward.default", 0, 1, 1, 1},
  {"aten._int_mm.default", 0, 1, 1, 2}
};

/* What the kernel gets in slot `i`. */
static const DtSpec *kernel_spec (const DtEvent *e, int i) {
  if (i >= e->nin || e->in[i] == NULL) return NULL;
  return e->prop->moved && e->prop->moved[i] ? e->prop->in[i]
                                             : e->in[i]->spec;
}

static int times_sharded (const DtSpec *s, int dim) {
  int m, n = 0;
  for (m = 0; m < s->npl && m < s->mesh->ndim; m++)
    n += dt_pl_is_shard_like(s->pl[m]) && s->pl[m].dim == dim &&
         s->mesh->shape[m] > 1;
  return n;
}

/* Does the rank at `coord` hold the same indices of both? */
static bool same_part (DtDiag *g, const int64_t *coord, const DtSpec *a,
                       int da, const DtSpec *b, int db) {
  DtCtx *cx = g->s->cx;
  DtArenaMark top = dt_arena_mark(&cx->scratch);
  int64_t *x = NULL, *y = NULL, nx = 0, ny = 0;
  bool same = true;
  if (dt_layout_indices(cx, a, coord, da, &x, &nx) == DT_OK &&
      dt_layout_indices(cx, b, coord, db, &y, &ny) == DT_OK)
    same = nx == ny &&
           (nx == 0 || memcmp(x, y, (size_t)nx * sizeof *x) == 0);
  else dt_error_clear(cx);
  dt_arena_release(&cx->scratch, top);
  return same;
}

/* On all ranks of the mesh, of which there may be many in the fake world. */
static bool same_order (DtDiag *g, const DtSpec *a, int da, const DtSpec *b,
                        int db) {
  enum { SOME = 4096 };
  int64_t at[DT_MAX_MDIM] = { 0 };
  const DtMesh *mesh = a->mesh;
  int m, n;
  for (n = 0; n < SOME; n++) {
    if (!same_part(g, at, a, da, b, db)) return false;
    for (m = mesh->ndim - 1; m >= 0; m--) {
      if (++at[m] < mesh->shape[m]) break;
      at[m] = 0;
    }
    if (m < 0) break;
  }
  return true;
}

const DtProduct *dt_diag_product (const DtOpDef *op) {
  size_t i;
  for (i = 0; i < sizeof products / sizeof products[0]; i++)
    if (strcmp(products[i].op, op->sig->full) == 0) return &products[i];
  return NULL;
}

/* Both sides of a product are cut along the contracted dimension, by several
** mesh dimensions: the same number of parts, in another order, multiplies rows
** by the wrong columns.  Shapes fit, so nothing else notices. */
static void on_contraction (DtDiag *g, const DtEvent *e) {
  const DtProp *p = e->prop;
  const DtProduct *f;
  const DtSpec *a, *b;
  DtBuf t;
  int da, db;
  if (p->nout < 1 || p->out[0] == NULL || e->nin < 2 ||
      p->out[0]->mesh->ndim < 2 || !dt_diag_partial(p->out[0]) ||
      (f = dt_diag_product(e->op)) == NULL) return;
  a = kernel_spec(e, f->a);
  b = kernel_spec(e, f->b);
  if (a == NULL || b == NULL || !a->has_meta || !b->has_meta ||
      a->mesh != b->mesh || a->npl != a->mesh->ndim ||
      b->npl != b->mesh->ndim) return;
  da = a->meta.ndim - f->da;
  db = b->meta.ndim - f->db;
  if (da < 0 || db < 0 || times_sharded(a, da) < 2 ||
      times_sharded(a, da) != times_sharded(b, db) ||
      same_order(g, a, da, b, db)) return;
  dt_buf_init(&t, g->s->cx);
  dt_buf_addf(&t, "dim %d of ", da);
  dt_spec_print(a, &t);
  dt_buf_addf(&t, " meets dim %d of ", db);
  dt_spec_print(b, &t);
  dt_diag_add(g, e, DT_FIND_ID_CONTRACTION_ORDER, e->in[f->b], 0, NULL, "%s",
              dt_buf_str(&t));
  dt_buf_fini(&t);
}

/* --- parts of a file --- */

static const DtPart *part_find (const DtDiag *g, const DtVar *v) {
  int i, n = g->nparts < DT_PARTS ? g->nparts : DT_PARTS;
  for (i = n - 1; i >= 0; i--)
    if (dt_part_is(&g->part[i], v->local)) return &g->part[i];
  return NULL;
}

void dt_diag_part_add (DtDiag *g, const DtVar *v, const DtPart *p) {
  dt_part_note(&g->part[g->nparts++ % DT_PARTS], p, v->local);
  if (g->nparts == 2 * DT_PARTS) g->nparts = DT_PARTS;
}

void dt_diag_part (DtDiag *g, const DtVar *v, const char *name, int ndim,
                   const int64_t *shape, const int64_t *off) {
  DtPart p;
  int d;
  if (!g->on || ndim != v->local->m.ndim) return;
  memset(&p, 0, sizeof p);
  p.ndim = ndim;
  p.whole = dt_hash_str(DT_HASH_SEED, name);
  for (d = 0; d < ndim; d++) {
    p.whole = dt_hash_u64(p.whole, (uint64_t)shape[d]);
    p.shape[d] = shape[d];
    p.off[d] = off[d];
    p.len[d] = v->local->m.shape[d];
  }
  dt_diag_part_add(g, v, &p);
}

/* Copies are parts like what they were copied from. */
static void part_spread (DtDiag *g, const DtEvent *e) {
  const bool over = dt_diag_is(g, e, DT_DO_COPY);
  const DtPart *p;
  DtPart same;
  if (e->status != DT_OK || e->nin != 1 + over || e->nout != 1 ||
      e->in[over] == NULL || e->out[0] == NULL || e->in[over]->spec ||
      e->out[0]->spec ||
      (p = part_find(g, e->in[over])) == NULL ||
      memcmp(p->len, e->out[0]->local->m.shape,
             (size_t)p->ndim * sizeof p->len[0]) != 0 ||
      p->ndim != e->out[0]->local->m.ndim) return;
  same = *p;
  dt_diag_part_add(g, e->out[0], &same);
}

/* cat: every part must begin where the one before it ends. */
static void part_joined (DtDiag *g, const DtEvent *e) {
  const DtPart *p, *q = NULL;
  DtPart sum;
  int64_t dim;
  int i;
  if (e->status != DT_OK || e->nin < 2 || e->nout != 1 || e->out[0] == NULL ||
      e->args->n < 2) return;
  dim = dt_arg_int(e->args, 1);
  if (dim < 0) dim += e->out[0]->local->m.ndim;
  for (i = 0; i < e->nin; i++, q = p) {
    if (e->in[i] == NULL || (p = part_find(g, e->in[i])) == NULL ||
        dim < 0 || dim >= p->ndim || (q && q->whole != p->whole)) return;
    if (q == NULL) {
      sum = *p;
      continue;
    }
    if (p->off[dim] != q->off[dim] + q->len[dim] && p->len[dim] > 0) {
      dt_diag_add(g, e, DT_FIND_ID_PART_ORDER,
                  *dt_diag_name(g, e->out[0]) ? e->out[0] : e->in[i], 0, NULL,
                  "dim %lld: the part that begins at %lld stands behind the "
                  "one of %lld to %lld", (long long)dim,
                  (long long)p->off[dim], (long long)q->off[dim],
                  (long long)(q->off[dim] + q->len[dim] - 1));
      return;
    }
    sum.len[dim] += p->len[dim];
  }
  dt_diag_part_add(g, e->out[0], &sum);
}

/* from_local: the part must be the one that this rank is to hold. */
static void part_placed (DtDiag *g, const DtEvent *e) {
  int64_t shape[DT_MAX_NDIM], off[DT_MAX_NDIM];
  const DtPart *p;
  const DtSpec *s;
  int n = 0, d;
  if (e->op != NULL || e->status != DT_OK || e->backward ||
      e->nin < 1 || e->nout < 1 || e->in[0] == NULL || e->out[0] == NULL ||
      strcmp(e->text, "dtensor.from_local") != 0 ||
      (s = e->out[0]->spec) == NULL || !s->mesh->member || !s->has_meta ||
      s->npl != s->mesh->ndim || (p = part_find(g, e->in[0])) == NULL ||
      p->ndim != s->meta.ndim ||
      memcmp(p->shape, s->meta.shape, (size_t)p->ndim * sizeof p->shape[0]))
    return;
  if (dt_layout_local(g->s->cx, s, NULL, shape, off, &n) != DT_OK) {
    dt_error_clear(g->s->cx);
    return;
  }
  for (d = 0; d < n; d++)
    if (shape[d] > 0 && (off[d] != p->off[d] || shape[d] != p->len[d])) {
      dt_diag_add(g, e, DT_FIND_ID_PART_ORDER, e->in[0], s->npl, s->pl,
                  "dim %d: this rank is to hold what begins at %lld and got "
                  "what begins at %lld", d, (long long)off[d],
                  (long long)p->off[d]);
      return;
    }
}

/* --- plans made for another argument --- */

static bool same_plan (const DtProp *a, const DtProp *b) {
  int i;
  if (a->nout != b->nout || a->nin != b->nin) return false;
  for (i = 0; i < a->nout; i++)
    if ((a->out[i] == NULL) != (b->out[i] == NULL) ||
        (a->out[i] && !dt_spec_equal(a->out[i], b->out[i]))) return false;
  for (i = 0; i < a->nin; i++)
    if ((a->in[i] == NULL) != (b->in[i] == NULL) ||
        (a->in[i] && !dt_spec_equal(a->in[i], b->in[i]))) return false;
  return true;
}

/* The first that the key leaves out, by name. */
static const char *left_out (const DtEvent *e) {
  int i;
  for (i = 0; i < e->args->n; i++)
    if (!dt_user_key_has(e->op, i) && e->args->v[i].kind != DT_V_TENSOR)
      return e->op->sig->arg[i].name;
  return NULL;
}

static void told_reused (DtDiag *g, const DtEvent *e, const DtProp *fresh,
                         int64_t first) {
  const DtProp *p = e->prop;
  DtBuf b;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "\"%s\" is not in the key: the plan of #%lld", left_out(e),
              (long long)first);
  if (p->nout > 0 && p->out[0] && fresh->nout > 0 && fresh->out[0]) {
    dt_buf_add(&b, " gives ");
    dt_spec_print_placements(p->out[0], &b);
    dt_buf_add(&b, ", the rule now says ");
    dt_spec_print_placements(fresh->out[0], &b);
  }
  dt_diag_add(g, e, DT_FIND_ID_PLAN_REUSED, e->nin ? e->in[0] : NULL, 0, NULL,
              "%s", dt_buf_str(&b));
  dt_buf_fini(&b);
}

static void compare_plan (DtDiag *g, const DtEvent *e, int64_t first) {
  DtProp *p = dt_diag_decide(g, e, e->args);
  if (p == NULL) return;
  if (!same_plan(p, e->prop)) told_reused(g, e, p, first);
  dt_prop_unref(g->s->cx, p);
}

/* PyTorch keeps a plan by the arguments that a schema lists as static: calls
** that differ in another argument get the first one's plan (finding).  The
** latest DT_RECENT keys are kept; the counter wraps within twice that number. */
static void plan_reused (DtDiag *g, const DtEvent *e) {
  uint64_t key = DT_HASH_SEED, rest;
  DtArgs kept;
  int i;
  if (dt_registry_strategy(g->s->registry, e->op, NULL) == NULL ||
      left_out(e) == NULL) return;
  dt_user_key_args(e->op, e->args, &kept);
  key = dt_hash_str(key, e->op->sig->full);
  for (i = 0; i < e->nin; i++)
    if (e->in[i] && e->in[i]->spec)
      key = dt_hash_u64(key, e->in[i]->spec->hash);
  key = dt_args_hash(key, &kept);
  rest = dt_args_hash(DT_HASH_SEED, e->args);
  for (i = 0; i < DT_RECENT && i < g->nplans; i++)
    if (g->plan[i].key == key) {
      if (g->plan[i].rest != rest) compare_plan(g, e, g->plan[i].seq);
      return;
    }
  i = g->nplans++ % DT_RECENT;
  if (g->nplans == 2 * DT_RECENT) g->nplans = DT_RECENT;
  g->plan[i].key = key;
  g->plan[i].rest = rest;
  g->plan[i].seq = e->seq;
}

/* --- which operators --- */

static bool is_product (const DtDiag *g, const DtOpDef *op) {
  (void)g;
  return op->sig && dt_diag_product(op) != NULL;
}

static bool is_copying (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_COPY) || dt_diag_clones(g, op);
}

static bool is_joining (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_CAT);
}

const DtDiagRule dt_rules_order[] = {
  { DT_EV_PROP, on_contraction, is_product, 0 },
  { DT_EV_PROP, plan_reused, NULL, 0 },
  { DT_EV_OP_END, part_spread, is_copying, DT_WHEN(nparts) },
  { DT_EV_OP_END, part_joined, is_joining, DT_WHEN(nparts) },
  { DT_EV_FUNC_END, part_placed, NULL, DT_WHEN(nparts) },
  { 0, NULL, NULL, 0 }
};
