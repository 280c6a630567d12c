/* SPDX-License-Identifier: MIT
** shard/pointwise.c: rows of elementwise operators.
**
** Base rows: for each dim of the broadcast shape, everything is sharded on
** it, except operands that are broadcast along it.  Class rows: which
** partial results an operator may be applied to before they are reduced.
** A class's rows are taken when the call has as many tensors as the row: so
** one list serves mul(tensor, tensor) and mul(tensor, number).
** Semantics: _ops/_pointwise_ops.py, 2.13. */
#include <string.h>
#include "shard/prop_int.h"

/* ---- classes ---- */

/* f(a + b) = f(a) + f(b) when f is linear. */
#define LINEAR "P(sum) -> P(sum)", "P(avg) -> P(avg)"
/* Decreasing: the largest becomes the smallest. */
#define DECREASING "P(max) -> P(min)", "P(min) -> P(max)"
/* Increasing in both: a replicated operand changes no order. */
#define MONOTONE "P(max), R -> P(max)", "R, P(max) -> P(max)", \
                 "P(min), R -> P(min)", "R, P(min) -> P(min)"

static const char *const additive[] = {
  "P(sum), P(sum) -> P(sum)",   /* sums add up */
  "P(avg), P(avg) -> P(avg)",
  "P(avg), R -> P(avg)",        /* the mean of a + c is mean(a) + c */
  "P(max), R -> P(max)",        /* adding a constant keeps the order */
  "P(min), R -> P(min)",
  "R, P(avg) -> P(avg)",        /* not max: alpha may be negative */
  NULL
};
static const char *const mul[] = {
  LINEAR,                       /* by a number */
  "P(sum), R -> P(sum)", "P(avg), R -> P(avg)",
  "R, P(sum) -> P(sum)", "R, P(avg) -> P(avg)", NULL
};
static const char *const divide[] = {
  LINEAR,                       /* linear in the numerator only */
  "P(sum), R -> P(sum)", "P(avg), R -> P(avg)", NULL
};
static const char *const scalar_linear[] = { LINEAR, NULL };
static const char *const negative[] = { LINEAR, DECREASING, NULL };
static const char *const nondecreasing[] = {
  "P(max) -> P(max)", "P(min) -> P(min)", NULL
};
static const char *const nonincreasing[] = { DECREASING, NULL };
static const char *const bessel_k[] = {
  "P(min) -> P(max)",           /* defined for x > 0 only */
  NULL
};
static const char *const xlog1py[] = {
  "P(sum), R -> P(sum)", "P(avg), R -> P(avg)", NULL
};
static const char *const copy[] = {
  LINEAR, "P(max) -> P(max)", "P(min) -> P(min)", NULL
};
static const char *const copy_into[] = {
  "P(sum), P(sum) -> P(sum)", "P(avg), P(avg) -> P(avg)",
  "P(max), P(max) -> P(max)", "P(min), P(min) -> P(min)", NULL
};
static const char *const monotone[] = { MONOTONE, NULL };
static const char *const maxlike[] = {
  MONOTONE, "P(max), P(max) -> P(max)", NULL
};
static const char *const minlike[] = {
  MONOTONE, "P(min), P(min) -> P(min)", NULL
};

/* ORDER DtPwClass */
static const char *const *const classes[DT_NPW] = {
  NULL, additive, mul, divide, scalar_linear, negative, nondecreasing,
  nonincreasing, bessel_k, xlog1py, copy, copy_into, monotone, maxlike,
  minlike
};

/* ---- base rows ---- */

static DtStatus common_shape (const DtDecide *d, DtMeta *out) {
  int i;
  memset(out, 0, sizeof *out);
  for (i = 0; i < d->npos; i++) {
    DtMeta next;
    DT_TRY(d->cx, dt_meta_broadcast(d->cx, out, d->meta[i], &next));
    dt_meta_copy(out, &next);
  }
  return DT_OK;
}

/* The dim of `m` that lies at dim `dim` of the common shape, -1 when the
** operand is broadcast along it. */
static int aligned_dim (const DtMeta *m, const DtMeta *common, int dim) {
  int k = dim - (common->ndim - m->ndim);
  return k >= 0 && m->shape[k] == common->shape[dim] ? k : -1;
}

/* Out arguments that PyTorch takes for mere inputs, since they are not called
** "out". */
static bool misnamed_out (const DtOpDef *op) {
  static const char *const names[] = {
    "aten.frexp.Tensor_out", "aten.logit_backward.grad_input",
    "aten.sigmoid_backward.grad_input", "aten.silu_backward.grad_input",
    "aten.tanh_backward.grad_input"
  };
  size_t i;
  for (i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(names[i], op->sig->full) == 0) return true;
  return false;
}

/* Keyword tensors: out arguments as their outputs, others (lr) replicated. */
static void add_keywords (const DtDecide *d, const DtRows *rows,
                          DtCell *cells) {
  const DtSchema *s = d->args->schema;
  int i, out = misnamed_out(d->rule_op) ? rows->nout : 0;
  int k = rows->nout + d->npos;
  for (i = 0; i < s->nargs; i++) {
    bool written = s->arg[i].kwonly && s->arg[i].write;
    if (s->arg[i].kwonly && d->args->v[i].kind == DT_V_TENSOR)
      cells[k++] = written && out < rows->nout ? cells[out] : dt_c_r();
    out += written;
  }
}

static void base_row (const DtDecide *d, const DtMeta *common, int dim,
                      DtRows *rows, DtCell *cells) {
  int i;
  for (i = 0; i < rows->nout; i++) cells[i] = dt_c_s(dim);
  for (i = 0; i < d->npos; i++) {
    int k = aligned_dim(d->meta[i], common, dim);
    cells[rows->nout + i] = k >= 0 ? dt_c_s(k) : dt_c_r();
  }
  add_keywords(d, rows, cells);
  dt_rows_add(rows, cells);
}

static DtStatus class_rows (const DtDecide *d, const char *const *text,
                            DtRows *rows, DtCell *cells) {
  DtRows one;
  int nin, nout;
  for (; *text != NULL; text++) {
    DT_TRY(d->cx, dt_row_arity(d->cx, *text, &nin, &nout));
    if (nin + nout != rows->nout + d->npos) continue;
    dt_rows_init(&one, d->cx, d->arena, nout, nin);
    dt_rows_text(&one, *text);
    if (one.st != DT_OK) return one.st;
    memcpy(cells, one.cells, (size_t)(nin + nout) * sizeof *cells);
    add_keywords(d, rows, cells);
    dt_rows_add(rows, cells);
  }
  return DT_OK;
}

DtStatus dt_pointwise_rows (DtDecide *d, DtRows *rows) {
  const char *const *text = classes[d->rule_op->pw];
  DtCell *cells = DT_ANEWN(d->cx, d->arena, DtCell,
                           rows->nout + rows->nin + 1);
  DtMeta common;
  int i;
  if (cells == NULL) return DT_E_NOMEM;
  DT_TRY(d->cx, common_shape(d, &common));
  for (i = 0; i < common.ndim; i++)
    base_row(d, &common, i, rows, cells);
  if (text != NULL) DT_TRY(d->cx, class_rows(d, text, rows, cells));
  return rows->st;
}
