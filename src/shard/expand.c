/* SPDX-License-Identifier: MIT
** shard/expand.c: rows on one mesh dim become candidates over the mesh.
**
** Placeholders are filled with the kinds of shards the inputs have, then every
** combination of rows over the mesh dims is a candidate, mesh dim 0 slowest.
** A row's placement of one tensor is one of few, so everything that depends
** on one tensor alone (its cost, whether it can be cut so) is computed once
** per tensor and list of placements and looked up by a mixed-radix key: 512
** candidates of mm on a 3-D mesh need 250 costs, not 1536.
** Semantics: _expand_single_dim_strategy_to_mesh (single_dim_strategy.py) and
** expand_to_full_mesh_op_strategy (_ops/utils.py), 2.13. */
#include <math.h>
#include <string.h>
#include "base/error_shard.h"
#include "mesh/layout.h"
#include "shard/prop_int.h"

enum { MAX_COMBINATIONS = 1 << 24, MAX_KINDS = 64 };

enum { K_DONE = 1, K_MIXED = 2, K_SAME = 4, K_SHARDABLE = 8, K_COST = 16 };

/* What is known of one tensor under one list of placements. */
typedef struct Known {
  double cost;
  uint8_t flags;
} Known;

/* One tensor: a column of the rows. */
typedef struct Column {
  int ndistinct;
  DtPlacement *pl;              /* distinct placements */
  bool *none;
  int *id;                      /* of each row, into the distinct ones */
  size_t weight[DT_MAX_MDIM];   /* of a mesh dim in the key */
  Known *known;
  bool mixes;                   /* some rows say None, others a placement */
  const DtSpec *ref;            /* spec that SAME compares with, or NULL */
  Known *now;                   /* under the combination at hand */
} Column;

typedef struct Expand {
  DtSheet *s;
  DtDecide *d;
  DtExpand opt;
  int nrows, ncols, nout, ndim;
  const DtCell *cells;          /* filled */
  Column *col;
  int row[DT_MAX_MDIM];         /* the combination */
  bool blocked;                 /* dropped for being in place */
  bool strict;                  /* None on some mesh dims only is refused */
  bool out_form;
  DtPlacement *out, *in;        /* a candidate being written */
  double *cost;
} Expand;

/* ---- filling placeholders ---- */

/* Shard kinds of the inputs, in the order of PyTorch's set: one placement
** each, whose dim does not matter. */
static DtStatus shard_kinds (DtDecide *d, DtPlacement *kind, int *n) {
  DtPySet set;
  DtPlacement all[256];
  int i, m, k, count;
  DT_TRY(d->cx, dt_pyset_init(d->cx, d->arena, d->p->hash_seed, &set));
  for (i = 0; i < d->nin; i++)
    for (m = 0; m < d->in[i]->npl; m++)
      DT_TRY(d->cx, dt_pyset_add(d->cx, d->arena, &set, d->in[i]->pl[m]));
  count = dt_pyset_list(&set, all, 256);
  *n = 0;
  for (i = 0; i < count; i++) {
    DtPlacement p = all[i];
    if (!dt_pl_is_shard_like(p)) continue;
    p.dim = 0;
    for (k = 0; k < *n && !dt_pl_equal(kind[k], p); k++) {}
    if (k == *n && *n < MAX_KINDS) kind[(*n)++] = p;
  }
  return DT_OK;
}

static bool has_placeholder (const DtCell *row, int width) {
  int i;
  for (i = 0; i < width; i++)
    if (row[i].kind == DT_C_SHARD) return true;
  return false;
}

static void fill_row (DtCell *to, const DtCell *row, int width,
                      DtPlacement kind) {
  int i;
  for (i = 0; i < width; i++) {
    to[i] = row[i];
    if (row[i].kind != DT_C_SHARD) continue;
    to[i].kind = DT_C_FIXED;
    to[i].pl = kind;
    to[i].pl.dim = row[i].dim;
  }
}

/* Rows with a placeholder stand for all kinds of shards that occur among the
** inputs: Shard, and strided ones with their factors. */
static DtStatus fill_rows (Expand *x, const DtRows *rows) {
  DtDecide *d = x->d;
  DtPlacement kind[MAX_KINDS];
  DtCell *cells;
  int nkinds = 0, i, k, width = rows->nout + rows->nin;
  DT_TRY(d->cx, shard_kinds(d, kind, &nkinds));
  cells = DT_ANEWN(d->cx, d->arena, DtCell,
                   (size_t)rows->n * (size_t)(nkinds + 1) * (size_t)width + 1);
  if (cells == NULL) return DT_E_NOMEM;
  x->cells = cells;
  for (i = 0; i < rows->n; i++) {
    const DtCell *row = rows->cells + (size_t)i * (size_t)width;
    if (!has_placeholder(row, width)) {
      memcpy(cells, row, (size_t)width * sizeof *cells);
      cells += width;
      x->nrows++;
      continue;
    }
    for (k = 0; k < nkinds; k++) {
      fill_row(cells, row, width, kind[k]);
      cells += width;
      x->nrows++;
    }
  }
  return DT_OK;
}

/* ---- columns ---- */

static DtPlacement cell_placement (const DtCell *c) {
  return c->kind == DT_C_FIXED ? c->pl : dt_pl_replicate();
}

/* A column of the product of rows over mesh dims: its distinct placements get
** numbers, and `weight` makes one number of a choice per mesh dim, by which
** what is known of it is found again. */
static DtStatus column_init (Expand *x, int c) {
  DtDecide *d = x->d;
  Column *col = &x->col[c];
  size_t size = 1;
  int i, k;
  col->id = DT_ANEWN(d->cx, d->arena, int, x->nrows + 1);
  col->pl = DT_ANEWN(d->cx, d->arena, DtPlacement, x->nrows + 1);
  col->none = DT_ANEWN(d->cx, d->arena, bool, x->nrows + 1);
  if (col->id == NULL || col->pl == NULL || col->none == NULL)
    return DT_E_NOMEM;
  for (i = 0; i < x->nrows; i++) {
    const DtCell *cell = &x->cells[(size_t)i * (size_t)x->ncols + (size_t)c];
    DtPlacement p = cell_placement(cell);
    bool none = cell->kind == DT_C_NONE;
    for (k = 0; k < col->ndistinct; k++)
      if (col->none[k] == none && dt_pl_equal(col->pl[k], p)) break;
    if (k == col->ndistinct) {
      col->pl[k] = p;
      col->none[k] = none;
      col->ndistinct++;
    }
    col->id[i] = k;
    col->mixes |= col->none[k] != col->none[0];
  }
  for (i = x->ndim - 1; i >= 0; i--) {
    col->weight[i] = size;
    size *= (size_t)col->ndistinct;
  }
  col->known = DT_ANEWN(d->cx, d->arena, Known, size + 1);
  return col->known == NULL ? DT_E_NOMEM : DT_OK;
}

/* The tensors written by keyword (out=), output by output. */
static void column_refs (Expand *x) {
  const DtSchema *sig = x->d->op->sig;
  int i, k = 0;
  for (i = 0; i < x->d->nin; i++) x->col[x->nout + i].ref = x->d->in[i];
  if (x->d->args->schema != sig) return;
  for (i = 0; i < sig->nargs; i++) {
    int slot;
    if (!sig->arg[i].kwonly || !sig->arg[i].write) continue;
    x->out_form = true;
    slot = dt_arg_slot(x->d->args, i);
    if (slot >= 0 && k < x->nout) x->col[k].ref = x->d->in[slot];
    k++;
  }
}

static bool mixed_partials (const DtPlacement *pl, int n) {
  bool linear = true;
  int i, first = -1;
  for (i = 0; i < n; i++) {
    if (!dt_pl_is_partial(pl[i])) continue;
    if (first < 0) {
      first = i;
      linear = pl[i].op == DT_OP_SUM || pl[i].op == DT_OP_AVG;
    } else if (pl[i].kind != pl[first].kind) {
      return true;
    } else if (pl[i].op != pl[first].op) {
      if (!linear || (pl[i].op != DT_OP_SUM && pl[i].op != DT_OP_AVG))
        return true;
    }
  }
  return false;
}

static bool is_foreign (const Expand *x, int input) {
  return x->d->different == input &&
         !dt_mesh_equal(x->d->in[input]->mesh, x->d->mesh);
}

static void column_placements (const Expand *x, int c, DtPlacement *pl) {
  const Column *col = &x->col[c];
  int m;
  for (m = 0; m < x->ndim; m++)
    pl[m] = col->pl[col->id[x->row[m]]];
}

static bool is_none (const Expand *x, int c) {
  const Column *col = &x->col[c];
  return col->none[col->id[x->row[0]]];
}

/* Facts of column `c` under the combination at hand. */
static void column_learn (Expand *x, int c, Known *k) {
  Column *col = &x->col[c];
  DtPlacement pl[DT_MAX_MDIM];
  int input = c - x->nout;
  k->flags = K_DONE;
  if (is_none(x, c)) {
    k->flags |= K_SHARDABLE;
    return;
  }
  if (input >= 0 && is_foreign(x, input)) {
    k->flags |= K_SAME | K_SHARDABLE | K_COST;
    return;
  }
  column_placements(x, c, pl);
  if (mixed_partials(pl, x->ndim)) k->flags |= K_MIXED;
  if (col->ref != NULL && col->ref->npl == x->ndim &&
      dt_pls_equal(col->ref->pl, pl, x->ndim))
    k->flags |= K_SAME;
  if (input >= 0 && dt_layout_shardable(x->d->mesh, &x->d->in[input]->meta,
                                        pl, x->ndim))
    k->flags |= K_SHARDABLE;
}

/* ---- one candidate ---- */

/* Look up every column; false when one mixes kinds of partials. */
static bool look_up (Expand *x) {
  int c, m;
  for (c = 0; c < x->ncols; c++) {
    Column *col = &x->col[c];
    size_t key = 0;
    for (m = 0; m < x->ndim; m++)
      key += (size_t)col->id[x->row[m]] * col->weight[m];
    col->now = &col->known[key];
    if (col->now->flags == 0) column_learn(x, c, col->now);
    if ((col->now->flags & K_MIXED) != 0) return false;
  }
  return true;
}

static bool is_same (const Expand *x, int c) {
  return (x->col[c].now->flags & K_SAME) != 0;
}

/* Must self move, or would the result be cut otherwise than self?  An out=
** form named as in place (__lshift__) is asked the same, besides blocked_out(). */
static bool blocked_inplace (const Expand *x) {
  const Column *out = &x->col[0], *self = &x->col[x->nout];
  if (!x->opt.inplace || x->d->nin == 0) return false;
  if (!is_same(x, x->nout)) return true;
  if (x->nout == 0 || is_none(x, 0)) return false;
  for (int m = 0; m < x->ndim; m++)
    if (!dt_pl_equal(out->pl[out->id[x->row[m]]],
                     self->pl[self->id[x->row[m]]]))
      return true;
  return false;
}

static bool blocked_out (const Expand *x) {
  int c;
  if (!x->out_form) return false;
  for (c = 0; c < x->nout; c++)
    if (x->col[c].ref != NULL && (is_none(x, c) || !is_same(x, c)))
      return true;
  return false;
}

static bool shardable (const Expand *x) {
  int i;
  for (i = 0; i < x->d->nin; i++) {
    uint8_t f = x->col[x->nout + i].now->flags;
    if ((f & K_SHARDABLE) == 0 && !(x->opt.uneven && (f & K_SAME) != 0))
      return false;
  }
  return true;
}

static bool possible (Expand *x) {
  if (!look_up(x)) return false;
  if (blocked_inplace(x)) {
    x->blocked = true;
    return false;
  }
  return !blocked_out(x) && shardable(x);
}

/* A total that is already too large needs no more terms: costs are never
** negative here. */
static bool hopeless (const Expand *x, double total) {
  const DtSheet *s = x->s;
  if (x->d->keep || s->n == 0 || !(total > 0)) return false;
  if (!s->tuple && (s->neg >= 0 || s->same >= 0 || s->zero >= 0)) return true;
  return s->least >= 0 && total >= s->least_total;
}

static DtStatus candidate_cost (Expand *x, double *total, bool *moves) {
  int i;
  *total = 0;
  *moves = false;
  for (i = 0; i < x->d->nin && !hopeless(x, *total); i++) {
    Known *k = x->col[x->nout + i].now;
    if ((k->flags & K_COST) == 0) {
      DtPlacement pl[DT_MAX_MDIM];
      column_placements(x, x->nout + i, pl);
      DT_TRY(x->d->cx, dt_decide_cost(x->d, i, pl, &k->cost));
      k->flags |= K_COST;
    }
    x->cost[i] = k->cost;
    *total += k->cost;
    if (i < x->d->npos && (k->flags & K_SAME) == 0) *moves = true;
  }
  return DT_OK;
}

/* The tuple of one column's cells over the mesh dims. */
static DtStatus raise_mixed (Expand *x, int c) {
  const Column *col = &x->col[c];
  DtBuf b;
  DtStatus st;
  int m;
  dt_buf_init(&b, x->d->cx);
  for (m = 0; m < x->ndim; m++) {
    int k = col->id[x->row[m]];
    if (m > 0) dt_buf_add(&b, ", ");
    if (col->none[k]) dt_buf_add(&b, "None");
    else dt_pl_repr(col->pl[k], &b);
  }
  st = dt_buf_ok(&b);
  if (st == DT_OK)
    st = dt_raise(x->d->cx, DT_E_ASSERT, "%s: strategy position %d mixes None "
                  "with placements across mesh dims: (%s)", x->d->name, c,
                  dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}

/* None over the whole mesh, or nowhere. */
static DtStatus check_mixed (Expand *x) {
  int c, m;
  for (c = 0; x->strict && c < x->ncols; c++) {
    const Column *col = &x->col[c];
    for (m = 1; col->mixes && m < x->ndim; m++)
      if (col->none[col->id[x->row[m]]] != col->none[col->id[x->row[0]]])
        return raise_mixed(x, c);
  }
  return DT_OK;
}

/* The operator's own word about a candidate. */
static DtStatus filtered (Expand *x, bool *ok) {
  DtFilterCall f;
  int i;
  *ok = true;
  if (x->d->rule_op->filter == NULL || x->d->op->sig->nrets == 0) return DT_OK;
  for (i = 0; i < x->d->nin; i++)
    column_placements(x, x->nout + i, x->in + (size_t)i * (size_t)x->ndim);
  memset(&f, 0, sizeof f);
  f.cx = x->d->cx;
  f.op = x->d->rule_op;
  f.args = x->d->args;
  f.mesh = x->d->mesh;
  f.nin = x->d->nin;
  f.in = x->d->in;
  f.want = x->in;
  f.ok = true;
  DT_TRY(x->d->cx, x->d->rule_op->filter(&f));
  *ok = f.ok;
  return DT_OK;
}

static DtStatus candidate (Expand *x) {
  double total;
  bool moves, wins, ok;
  int c;
  DT_TRY(x->d->cx, check_mixed(x));
  ok = possible(x);
  if (ok) DT_TRY(x->d->cx, filtered(x, &ok));
  if (!ok) {
    x->s->nexcluded++;
    return DT_OK;
  }
  DT_TRY(x->d->cx, candidate_cost(x, &total, &moves));
  wins = dt_sheet_next(x->s, total, moves);
  if (!wins && !x->d->keep) return DT_OK;
  for (c = 0; c < x->ncols; c++)
    column_placements(x, c, c < x->nout
                      ? x->out + (size_t)c * (size_t)x->ndim
                      : x->in + (size_t)(c - x->nout) * (size_t)x->ndim);
  return dt_sheet_put(x->s, wins, x->out, x->in, x->cost, total);
}

/* ---- all of them ---- */

static bool next_combination (Expand *x) {
  int m;
  for (m = x->ndim - 1; m >= 0; m--) {
    if (++x->row[m] < x->nrows) return true;
    x->row[m] = 0;
  }
  return false;
}

static DtStatus raise_inplace (Expand *x) {
  DtBuf b;
  DtStatus st;
  const DtSpec *self = x->d->in[0];
  dt_buf_init(&b, x->d->cx);
  dt_pls_repr(self->pl, self->npl, &b);
  st = dt_buf_ok(&b);
  if (st == DT_OK)
    st = dt_raise(x->d->cx, DT_E_INPLACE, "%s: in-place operations that "
                  "require placement changes are not supported. The input has "
                  "placement %s, but no valid strategy preserves this "
                  "placement. Please use the out-of-place version of this "
                  "operation instead.", x->d->name, dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}

static DtStatus check_foreign (Expand *x) {
  int i = x->d->different;
  DtBuf b;
  DtStatus st = DT_OK;
  if (i < 0 || i >= x->d->npos || !is_foreign(x, i) ||
      dt_spec_is_replicated(x->d->in[i]))
    return DT_OK;
  dt_buf_init(&b, x->d->cx);
  dt_pls_repr(x->d->in[i]->pl, x->d->in[i]->npl, &b);
  st = dt_raise(x->d->cx, DT_E_CROSSMESH, "Cross-mesh input at index %d must "
                "be Replicate, but got %s", i, dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}

/* The product of the rows over the mesh dims: bounded before anything is
** allocated for it. */
static DtStatus expand_init (Expand *x, const DtRows *rows) {
  DtDecide *d = x->d;
  size_t ndim = (size_t)x->ndim;
  int c;
  if (x->opt.fill) {
    DT_TRY(d->cx, fill_rows(x, rows));
  } else {
    x->cells = rows->cells;
    x->nrows = rows->n;
  }
  DT_CHECK(d->cx, pow(x->nrows, x->ndim) <= MAX_COMBINATIONS, DT_E_LIMIT,
           "%d rules over %d mesh dimensions are too many combinations",
           x->nrows, x->ndim);
  x->col = DT_ANEWN(d->cx, d->arena, Column, x->ncols + 1);
  x->out = DT_ANEWN(d->cx, d->arena, DtPlacement,
                    (size_t)x->nout * ndim + 1);
  x->in = DT_ANEWN(d->cx, d->arena, DtPlacement, (size_t)d->nin * ndim + 1);
  x->cost = DT_ANEWN(d->cx, d->arena, double, d->nin + 1);
  if (x->col == NULL || x->out == NULL || x->in == NULL || x->cost == NULL)
    return DT_E_NOMEM;
  for (c = 0; c < x->ncols; c++) {
    DT_TRY(d->cx, column_init(x, c));
    x->strict |= x->col[c].mixes && d->p->checks_rows;
  }
  column_refs(x);
  return DT_OK;
}

DtStatus dt_expand_rows (DtSheet *s, const DtRows *rows, const DtExpand *o) {
  Expand x;
  memset(&x, 0, sizeof x);
  x.s = s;
  x.d = s->d;
  x.opt = *o;
  x.nout = rows->nout;
  x.ncols = rows->nout + rows->nin;
  x.ndim = s->ndim;
  DT_TRY(s->d->cx, expand_init(&x, rows));
  if (x.nrows > 0) {
    DT_TRY(s->d->cx, check_foreign(&x));
    do
      DT_TRY(s->d->cx, candidate(&x));
    while (next_combination(&x));
  }
  return s->n == 0 && x.blocked ? raise_inplace(&x) : DT_OK;
}
