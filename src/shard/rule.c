/* SPDX-License-Identifier: MIT
** shard/rule.c: the rows of an operator on one mesh dimension.
**
** They come as text, from a function of the arguments, or from the
** operator's class; out= forms get a column per out argument that repeats its
** output; the all-Replicate row is put first where no row says it.  No
** placement is looked at here: the rows depend on shapes and arguments. */
#include <string.h>
#include "shard/prop_int.h"

static bool checks_rows (const DtDecide *d) {
  return d->p != NULL && d->p->checks_rows;
}

/* ---- out= ---- */

/* Out arguments that are tensors: columns not written in the base's rows. */
static int out_columns (const DtDecide *d) {
  const DtSchema *s = d->args->schema;
  int i, n = 0;
  if ((d->rule_op->flags & DT_OP_WIDEN) == 0 &&
      (d->rule_op->base == NULL || (d->rule_op->flags & DT_OP_OUT) == 0))
    return 0;
  for (i = 0; i < s->nargs; i++)
    n += s->arg[i].kwonly && s->arg[i].write &&
         d->args->v[i].kind == DT_V_TENSOR;
  return n;
}

/* Append to each row the cells of its outputs for the out arguments. */
static DtStatus add_out_columns (DtDecide *d, const DtRows *from, int ncols,
                                 DtRows *to) {
  int i, k, width = from->nout + from->nin;
  DtCell *cells = DT_ANEWN(d->cx, d->arena, DtCell, width + ncols + 1);
  if (cells == NULL) return DT_E_NOMEM;
  dt_rows_init(to, d->cx, d->arena, from->nout, from->nin + ncols);
  for (i = 0; i < from->n; i++) {
    memcpy(cells, from->cells + (size_t)i * (size_t)width,
           (size_t)width * sizeof *cells);
    for (k = 0; k < ncols; k++)
      cells[width + k] = k < from->nout ? cells[k] : dt_c_r();
    dt_rows_add(to, cells);
  }
  return to->st;
}

/* ---- sources ---- */

/* Rows whose number of inputs is another are for calls without an optional
** tensor. */
static DtStatus text_rows (DtDecide *d, DtRows *rows) {
  const char *const *t;
  int nin, nout, used = 0;
  for (t = d->rule_op->rules; *t != NULL; t++) {
    DT_TRY(d->cx, dt_row_arity(d->cx, *t, &nin, &nout));
    if (nin != rows->nin) continue;
    dt_rows_text(rows, *t);
    used++;
  }
  DT_CHECK(d->cx, used > 0 || d->rule_op->rules[0] == NULL, DT_E_ASSERT,
           "no rule of %s has %d inputs", d->op->sig->full, rows->nin);
  return rows->st;
}

static DtStatus function_rows (DtDecide *d, DtRows *rows) {
  DtRuleCall c;
  memset(&c, 0, sizeof c);
  c.cx = d->cx;
  c.op = d->rule_op;
  c.args = d->args;
  c.nin = d->nin;
  c.in = d->meta;
  c.nout = d->nout;
  c.out = d->out;
  c.none = d->none;
  c.rows = rows;
  DT_TRY(d->cx, d->rule_op->rulefn(&c));
  return rows->st;
}

/* The rows own the masks a function made: the decision takes them over. */
static DtStatus adopt_masks (DtDecide *d, const DtRows *rows) {
  int i, n = rows->n * (rows->nout + rows->nin);
  for (i = 0; i < n; i++)
    if (rows->cells[i].kind == DT_C_FIXED)
      DT_TRY(d->cx, dt_decide_hold(d, rows->cells[i].pl, true));
  return DT_OK;
}

/* Rows of one input, asked with its out argument. */
static DtStatus narrow_rows (const DtDecide *d) {
  int n = d->nout + d->nin;
  DT_CHECK(d->cx, n == 2, DT_E_ASSERT, "Strategy length 2 != expected %d "
           "(schema_outputs=%d + inputs=%d) for %s. Strategies must include "
           "placements for all outputs, args, and tensor kwargs.", n, d->nout,
           d->nin, d->name);
  return DT_OK;
}

static DtStatus source_rows (DtDecide *d, DtRows *rows) {
  int ncols = out_columns(d);
  DtRows narrow;
  DtStatus st;
  if ((d->rule_op->flags & DT_OP_POINTWISE) != 0 &&
      d->rule_op->rulefn == NULL && d->rule_op->rules == NULL) {
    dt_rows_init(rows, d->cx, d->arena, d->nout, d->nin);
    return dt_pointwise_rows(d, rows);
  }
  if ((d->rule_op->flags & DT_OP_NARROW) != 0) DT_TRY(d->cx, narrow_rows(d));
  dt_rows_init(&narrow, d->cx, d->arena, d->nout, d->nin - ncols);
  st = d->rule_op->rulefn != NULL ? function_rows(d, &narrow)
                                  : text_rows(d, &narrow);
  DT_TRY(d->cx, st);
  DT_TRY(d->cx, adopt_masks(d, &narrow));
  if (ncols > 0) return add_out_columns(d, &narrow, ncols, rows);
  *rows = narrow;
  return DT_OK;
}

/* ---- the all-Replicate row ---- */

/* An output that no row gives a placement. */
static bool never_placed (const DtRows *r, int col) {
  int i, width = r->nout + r->nin;
  for (i = 0; i < r->n; i++)
    if (r->cells[(size_t)i * (size_t)width + (size_t)col].kind != DT_C_NONE)
      return false;
  return r->n > 0;
}

static bool all_replicate (const DtRows *r, int row) {
  int i, width = r->nout + r->nin;
  const DtCell *c = r->cells + (size_t)row * (size_t)width;
  for (i = 0; i < width; i++)
    if (c[i].kind != DT_C_NONE && c[i].kind != DT_C_R) return false;
  return true;
}

static DtStatus insert_replicate (DtDecide *d, DtRows *rows) {
  DtRows with;
  int i, width = rows->nout + rows->nin;
  DtCell *cells = DT_ANEWN(d->cx, d->arena, DtCell, width + 1);
  if (cells == NULL) return DT_E_NOMEM;
  for (i = 0; i < width; i++)
    cells[i] = i < d->nout && (d->none[i] || (checks_rows(d) &&
                                              never_placed(rows, i)))
               ? dt_c_none() : dt_c_r();
  dt_rows_init(&with, d->cx, d->arena, rows->nout, rows->nin);
  dt_rows_add(&with, cells);
  for (i = 0; i < rows->n; i++)
    dt_rows_add(&with, rows->cells + (size_t)i * (size_t)width);
  *rows = with;
  return with.st;
}

DtStatus dt_decide_rows (DtDecide *d, DtRows *rows, bool *inserted) {
  int i;
  DT_TRY(d->cx, source_rows(d, rows));
  *inserted = true;
  for (i = 0; i < rows->n; i++)
    if (all_replicate(rows, i)) *inserted = false;
  return *inserted ? insert_replicate(d, rows) : DT_OK;
}

/* ---- for :rules and parity ---- */

/* A list operator's rows are those of its element 0. */
static DtStatus first_element (DtDecide *d) {
  DtArgs *args = DT_ANEWN(d->cx, d->arena, DtArgs, 1);
  int *slot = DT_ANEWN(d->cx, d->arena, int, d->nin + 1), i, n;
  const DtMeta **meta = DT_ANEWN(d->cx, d->arena, const DtMeta *,
                                 d->nin + 1);
  if (args == NULL || slot == NULL || meta == NULL) return DT_E_NOMEM;
  DT_TRY(d->cx, dt_element_args(d, 0, args, slot, &n));
  for (i = 0; i < n; i++) meta[i] = d->meta[slot[i]];
  d->args = args;
  d->nin = n;
  d->meta = meta;
  if (d->rule_op->base != NULL) d->op = d->rule_op->base;
  return DT_OK;
}

static DtStatus rows_metas (DtDecide *d) {
  if (dt_decide_is_list(d)) {
    DT_TRY(d->cx, first_element(d));
    if (d->op->base == NULL && d->op == d->rule_op) return DT_OK;
  }
  return dt_decide_metas(d, DT_MAX_OUTS, false);
}

DtStatus dt_prop_rows (DtCtx *cx, DtPropagator *p, const DtOpDef *op,
                       const DtArgs *args, int nin, const DtMeta *const *in,
                       DtArena *arena, DtRows *rows, bool *inserted) {
  DtDecide d;
  const DtMeta **meta = DT_ANEWN(cx, arena, const DtMeta *, nin + 1);
  int i;
  if (meta == NULL) return DT_E_NOMEM;
  DT_CHECK(cx, dt_op_single_dim(op), DT_E_VALUE,
           "%s has no rules for one mesh dimension", op->sig->full);
  memset(&d, 0, sizeof d);
  for (i = 0; i < nin; i++) meta[i] = in[i];
  d.cx = cx;
  d.p = p;
  d.arena = arena;
  d.op = d.rule_op = op;
  d.args = args;
  d.nin = nin;
  d.meta = meta;
  d.different = -1;
  DT_TRY(cx, rows_metas(&d));
  d.npos = dt_args_positional(d.args);
  DT_TRY(cx, dt_decide_rows(&d, rows, inserted));
  dt_rows_unref_masks(rows);            /* a table to read needs none */
  return DT_OK;
}
