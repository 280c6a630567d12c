/* SPDX-License-Identifier: MIT
** oplib/ruling_reduce.c: rulings of reductions, scans, sorting and pooling,
** since 2.14 rows on one mesh dimension.
** Semantics: _ops/_math_ops.py, 2.14. */
#include "oplib/ruling_int.h"
#include "base/sat.h"

#include <math.h>
#include <string.h>

static bool keeps (const DtRuleCall *c) {
  int at = op_rl_arg(c, "keepdim");
  return at >= 0 && dt_arg_bool(c->args, at);
}

/* Place of dim d once those of `mask` are gone. */
static int after (int d, uint32_t mask, bool keep) {
  int k, gone = 0;
  for (k = 0; k < d && !keep; k++) gone += (int)(mask >> k & 1u);
  return d - gone;
}

/* Kept dims pass; a cut along a reduced one leaves `left`, when it may. */
static void reduced (DtRuleCall *c, uint32_t mask, bool keep,
                     const DtCell *left) {
  int d;
  for (d = 0; d < c->in[0]->ndim; d++) {
    if ((mask >> d & 1u) == 0)
      op_rl_to(c, dt_c_s(after(d, mask, keep)), dt_c_s(d));
    else if (left != NULL)
      op_rl_to(c, *left, dt_c_s(d));
  }
}

/* The partial that sums, products and extremes leave. */
static DtRedOp left_by (const char *name) {
  return strstr(name, "max") != NULL ? DT_OP_MAX
       : strstr(name, "min") != NULL ? DT_OP_MIN
       : strstr(name, "prod") != NULL ? DT_OP_PRODUCT : DT_OP_SUM;
}

DtStatus op_rl_reduce (DtRuleCall *c) {
  DtCell left = dt_c_p(left_by(c->args->schema->base));
  uint32_t mask;
  DT_TRY(c->cx, op_rl_dims(c->cx, c->args, c->in[0]->ndim, &mask));
  reduced(c, mask, keeps(c), &left);
  op_rl_same(c, left);
  return c->rows->st;
}

/* all, any: local answers do not combine as they are. */
DtStatus op_rl_reduce_bool (DtRuleCall *c) {
  uint32_t mask;
  DT_TRY(c->cx, op_rl_dims(c->cx, c->args, c->in[0]->ndim, &mask));
  reduced(c, mask, keeps(c), NULL);
  return c->rows->st;
}

DtStatus op_rl_spread (DtRuleCall *c) { return op_rl_reduce_bool(c); }

/* keepdim is not looked at, as in PyTorch, which reads it as a keyword. */
DtStatus op_rl_logsumexp (DtRuleCall *c) {
  uint32_t mask;
  DT_TRY(c->cx, op_rl_dims(c->cx, c->args, c->in[0]->ndim, &mask));
  reduced(c, mask, false, NULL);
  return c->rows->st;
}

DtStatus op_rl_mean (DtRuleCall *c) {
  DtCell left = dt_c_p(DT_OP_AVG);
  uint32_t mask;
  DT_TRY(c->cx, op_rl_dims(c->cx, c->args, c->in[0]->ndim, &mask));
  reduced(c, mask, keeps(c), &left);
  op_rl_same(c, left);
  return c->rows->st;
}

/* Is dim `d` cut into parts of one size?  Interleaved cuts count by all their
** pieces, also for the cuts before them. */
static bool cut_evenly (const DtFilterCall *c, const DtMeta *m, int d) {
  int64_t parts = 1;
  for (int i = 0; i < c->mesh->ndim; i++) {
    DtPlacement p = c->want[i];
    if (!dt_pl_is_shard_like(p) || p.dim != d) continue;
    parts = dt_sat_mul(parts, c->mesh->shape[i]);
    if (p.kind == DT_PL_STRIDED) parts = dt_sat_mul(parts, p.u.sf);
  }
  return parts != 0 && m->shape[d] % parts == 0;
}

/* Means of unequal parts do not average to the mean. */
DtStatus op_rf_mean (DtFilterCall *c) {
  const DtMeta *m = &c->in[0]->meta;
  uint32_t mask;
  int d;
  DT_TRY(c->cx, op_rl_dims(c->cx, c->args, m->ndim, &mask));
  for (d = 0; d < m->ndim; d++)
    if ((mask >> d & 1u) != 0 && !cut_evenly(c, m, d)) c->ok = false;
  return DT_OK;
}

/* argmax, argmin: the engine's handler gathers what is reduced, nothing
** else. */
DtStatus op_rl_arg_extreme (DtRuleCall *c) { return op_rl_reduce_bool(c); }

DtStatus op_rf_arg_extreme (DtFilterCall *c) {
  const DtSpec *s = c->in[0];
  uint32_t mask;
  int i;
  DT_TRY(c->cx, op_rl_dims(c->cx, c->args, s->meta.ndim, &mask));
  for (i = 0; i < s->npl && i < c->mesh->ndim; i++)
    if ((dt_pl_is_partial(s->pl[i]) ||
         (dt_pl_is_shard_like(s->pl[i]) && (mask >> s->pl[i].dim & 1u) != 0))
        && !dt_pl_is_replicate(c->want[i]))
      c->ok = false;
  return DT_OK;
}

/* max.dim, min.dim: values and indices alike. */
DtStatus op_rl_one_dim (DtRuleCall *c) {
  int at, nd = c->in[0]->ndim;
  DT_TRY(c->cx, op_rl_dim(c, op_rl_arg(c, "dim"), -1, nd, &at));
  reduced(c, 1u << at, keeps(c), NULL);
  return c->rows->st;
}

/* p-norms: inf is a max, 0 a count, other orders combine as p-norms; only the
** extremes' partials pass. */
DtStatus op_rl_norm (DtRuleCall *c) {
  DtScalar p = dt_arg_is_none(c->args, 1) ? dt_scalar_int(2)
                                          : dt_arg_scalar(c->args, 1);
  double v = p.kind == DT_K_INT ? (double)p.i : p.re;
  DtCell left = isinf(v) ? dt_c_p(v > 0 ? DT_OP_MAX : DT_OP_MIN)
              : v == 0 ? dt_c_p(DT_OP_SUM)
                       : dt_c_fix(dt_pl_norm(v, p.kind == DT_K_INT));
  uint32_t mask;
  DT_TRY(c->cx, op_rl_dims(c->cx, c->args, c->in[0]->ndim, &mask));
  reduced(c, mask, keeps(c), &left);
  if (isinf(v)) op_rl_same(c, left);
  return c->rows->st;
}

/* Softmax, sorting, scans: every dim but the one walked along. */
/* PyTorch does not check the dimension here: a gradient of fewer dimensions than
** the output it belongs to goes on to the local call, which refuses it. */
DtStatus op_rl_other_dims (DtRuleCall *c) {
  int at = op_rl_arg(c, "dim"), nd = c->in[0]->ndim;
  int64_t d = at >= 0 ? dt_arg_int(c->args, at) : -1;
  if (d < 0) d += nd;
  op_rl_except(c, nd, d >= 0 && d < nd ? 1u << d : 0);
  return c->rows->st;
}

DtStatus op_rl_cumsum (DtRuleCall *c) {
  DT_TRY(c->cx, op_rl_other_dims(c));
  op_rl_same(c, dt_c_p(DT_OP_SUM));
  op_rl_same(c, dt_c_p(DT_OP_AVG));
  return c->rows->st;
}

/* With the range given, parts of the data are counted apart and added. */
DtStatus op_rl_histc (DtRuleCall *c) {
  int d;
  for (d = 0; (c->args->given & 0xeu) == 0xeu && d < c->in[0]->ndim; d++)
    op_rl_to(c, dt_c_p(DT_OP_SUM), dt_c_s(d));
  return c->rows->st;
}

/* Batches; channels when there is a batch before them. */
DtStatus op_rl_pool (DtRuleCall *c) {
  const char *name = c->args->schema->base, *digit = strpbrk(name, "123");
  int rank = digit != NULL ? *digit - '0' : 1;
  op_rl_same(c, dt_c_s(0));
  if (strstr(name, "avg") != NULL) {
    op_rl_same(c, dt_c_p(DT_OP_SUM));
    op_rl_same(c, dt_c_p(DT_OP_AVG));
  }
  if (c->in[0]->ndim >= rank + 2) op_rl_same(c, dt_c_s(1));
  return c->rows->st;
}
