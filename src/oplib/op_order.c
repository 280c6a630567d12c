/* SPDX-License-Identifier: MIT
** oplib/op_order.c: order statistics and spread: median, mode, kthvalue,
** running extremes, histogram, var_mean, sums that skip NaN.
**
** An order statistic of a dim needs that dim whole on every rank, of a whole
** tensor everything; sums of powers combine by addition. */
#include "oplib/op_linalg_int.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define IN (dt_gin(c, 0))

/* ---- one element along a dim, with its place ---- */

/* Row: position of dim, keepdim follows it; what is picked. */
enum { OD_DIM, OD_PICK };
static const int row_median[] = { 1, DT_PICK_MEDIAN },
                 row_nanmedian[] = { 1, DT_PICK_NANMEDIAN },
                 row_mode[] = { 1, DT_PICK_MODE },
                 row_kth[] = { 2, DT_PICK_KTH };
/* "median_cpu" not implemented for 'Bool' */
static DtStatus place_dtype (DtMetaCall *c, const char *kernel, bool bools) {
  DtDtype t = (DtDtype)c->in[0]->dtype;
  DT_CHECK(c->cx, c->fake || ((t != DT_BOOL || bools) &&
                              !dt_dtype_is_complex(t)), DT_E_NOTIMPL,
           "\"%s\" not implemented for '%s'", kernel, op_dtype_word(t));
  return DT_OK;
}

/* kthvalue has k before its dim: OD_DIM 2 tells it from median and mode. */
static DtStatus place_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  int d, at = c->op->row[OD_DIM];
  bool keep = dt_arg_bool(c->args, at + 1);
  uint32_t mask;
  DT_TRY(c->cx, op_dim(c->cx, c->args, at, m->ndim, &d));
  int pick = c->op->row[OD_PICK];
  bool mid = pick == DT_PICK_MEDIAN || pick == DT_PICK_NANMEDIAN;
  DT_CHECK(c->cx, m->ndim == 0 || m->shape[d] || c->fake, DT_E_INDEX,
           "%s(): Expected reduction dim %d to have non-zero size.",
           mid ? "median" : c->op->sig->base, d);
  DT_TRY(c->cx, place_dtype(c, mid ? "median_out" : pick == DT_PICK_KTH
                            ? "kthvalue_cpu" : "mode_cpu",
                            pick == DT_PICK_MODE));
  if (at == 2) {
    int64_t k = dt_arg_int(c->args, 1), n = m->ndim ? m->shape[d] : 1;
    DT_CHECK(c->cx, k >= 1 && k <= n, DT_E_RUNTIME,
             "kthvalue(): selected number k out of range for dimension %d", d);
  }
  mask = m->ndim ? 1u << d : 0;
  DT_TRY(c->cx, op_reduced(c->cx, m, mask, keep, (DtDtype)m->dtype,
                           &c->out[0]));
  c->nout = 2;
  return op_reduced(c->cx, m, mask, keep, DT_I64, &c->out[1]);
}

static DtStatus place_rules (DtRuleCall *c) {
  int d, nd = c->in[0]->ndim, at = c->op->row[OD_DIM];
  bool keep = dt_arg_bool(c->args, at + 1);
  DT_TRY(c->cx, op_dim(c->cx, c->args, at, nd, &d));
  for (int i = 0; i < nd; i++) {
    int o = keep || i < d ? i : i - 1;
    DtCell row[3] = { dt_c_s(o), dt_c_s(o), dt_c_s(i) };
    if (i != d) dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

/* The gradient goes to the chosen places. */
static DtStatus place_grad (DtGradCall *c) {
  DtMeta m;
  int at = c->op->row[OD_DIM];
  int64_t d = dt_arg_int(c->args, at);
  DtHandle *g = GOUT, *i = c->out[1];
  dt_meta_copy(&m, dt_emit_meta(c->e, IN));
  if (!dt_arg_bool(c->args, at + 1) && m.ndim > 0) {
    g = EMIT("aten.unsqueeze.default", "ti", g, d);
    i = EMIT("aten.unsqueeze.default", "ti", i, d);
  }
  DtHandle *z = EMIT("aten.new_zeros.default", "tI", g, (int)m.ndim, m.shape);
  op_g_set(c, 0, EMIT("aten.scatter.src", "titt", z, d, i, g));
  return op_g_finish(c);
}

/* Row: position of dim, what is picked. */
static DtStatus place_kernel (DtKernelCall *c) {
  int d, nd = c->in[0]->m.ndim, at = c->op->row[OD_DIM];
  int64_t k = at == 2 ? dt_arg_int(c->args, 1) - 1 : 0;
  DT_TRY(c->cx, op_dim(c->cx, c->args, at, nd, &d));
  if (nd == 0) {
    DT_TRY(c->cx, dt_k_fill(c->cx, c->out[1], dt_scalar_int(0)));
    return op_k_copy0(c);
  }
  return dt_k_order_stat(c->cx, (DtPick)c->op->row[OD_PICK], k, c->in[0], d,
                   c->out[0], c->out[1]);
}

/* ---- the median of everything ---- */

static const int row_all_median[] = { DT_PICK_MEDIAN },
                 row_all_nanmedian[] = { DT_PICK_NANMEDIAN };

static DtStatus whole_meta (DtMetaCall *c) {
  DT_TRY(c->cx, place_dtype(c, "median_cpu", false));
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)c->in[0]->dtype, 0, NULL,
                     c->in[0]);
}
/* Nothing has no median: NaN, and what becomes of it in an integer. */
static DtStatus whole_kernel (DtKernelCall *c) {
  DtScalar none = dt_scalar_float(NAN);
  if (dt_dtype_is_integral((DtDtype)c->in[0]->m.dtype, true))
    none = dt_scalar_int(c->in[0]->m.dtype == DT_I64 ? INT64_MIN
                         : c->in[0]->m.dtype == DT_I32 ? INT32_MIN : 0);
  if (dt_meta_numel(&c->in[0]->m) == 0)
    return dt_k_fill(c->cx, c->out[0], none);
  return dt_k_order_stat(c->cx, (DtPick)c->op->row[0], 0, c->in[0], -1, c->out[0],
                   NULL);
}
static DtStatus whole_strategy (DtStratCall *c) {
  DtPlacement r[OP_MAXPL];
  op_s_follow(c, 0, ~0u, true, r);
  return op_s_one(c, r, r, NAN);
}

/* Equal elements share; NaN equals NaN. */
static DtStatus whole_grad (DtGradCall *c) {
  DtHandle *o = c->out[0], *a = EMIT("aten.isnan.default", "t", IN);
  DtHandle *b = EMIT("aten.isnan.default", "t", o);
  a = EMIT("aten.logical_and.default", "tt", a, b);
  DtHandle *k = EMIT("aten.eq.Tensor", "tt", IN, o);
  k = EMIT("aten.logical_or_.default", "tt", k, a);
  DtHandle *n = EMIT("aten.sum.default", "t", k);
  n = EMIT("aten.div.Tensor", "tt", GOUT, n);
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", k, n));
  return op_g_finish(c);
}

/* ---- running extremes, log of a running sum ---- */

enum { RX_MAX, RX_MIN };
static const int row_cummax[] = { RX_MAX }, row_cummin[] = { RX_MIN };

static DtStatus cum_meta (DtMetaCall *c) {
  int d;
  const DtMeta *m = c->in[0];
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, m->ndim, &d));
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, m->ndim,
                            m->shape, m));
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[1], DT_I64, m->ndim, m->shape, m));
  c->nout = 2;
  return DT_OK;
}
static DtStatus cum_kernel (DtKernelCall *c) {
  int d;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->m.ndim, &d));
  if (c->in[0]->m.ndim == 0) {
    DT_TRY(c->cx, dt_k_fill(c->cx, c->out[1], dt_scalar_int(0)));
    return op_k_copy0(c);
  }
  return dt_k_scan(c->cx, c->op->row[0] == RX_MAX ? DT_SCAN_MAX : DT_SCAN_MIN,
                   c->in[0], d, c->out[0], c->out[1]);
}
static DtStatus cum_strategy (DtStratCall *c) {
  DtPlacement rows[3 * (DT_MAX_NDIM + 1)];
  int d, n = 0, nd = c->in[0]->meta.ndim;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, nd, &d));
  for (int i = -1; i < nd; i++) {
    if (i == d) continue;
    for (int k = 0; k < 3; k++)
      rows[n * 3 + k] = i < 0 ? dt_pl_replicate() : dt_pl_shard(i);
    n++;
  }
  return op_s_rows(c, n, rows, false);
}
static DtStatus cum_grad (DtGradCall *c) {
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, IN));
  if (dt_meta_numel(&m) == 0) {
    op_g_set(c, 0, GOUT);
    return op_g_finish(c);
  }
  DtHandle *z = (c->op->flags & DT_OP_LATER) != 0
    ? EMIT("aten.new_zeros.default", "tI", GOUT, (int)m.ndim, m.shape)
    : EMIT("aten.zeros.default", "I dtype=d", (int)m.ndim, m.shape,
           (int)m.dtype);
  op_g_set(c, 0, EMIT("aten.scatter_add.default", "tvtt", z, c->args->v[1],
                      c->out[1], GOUT));
  return op_g_finish(c);
}

static DtStatus lcs_meta (DtMetaCall *c) {
  int d;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->ndim, &d));
  DT_CHECK(c->cx, c->fake ||
           !dt_dtype_is_integral((DtDtype)c->in[0]->dtype, true),
           DT_E_NOTIMPL, "\"logcumsumexp_out_cpu\" not implemented for '%s'",
           op_dtype_word((DtDtype)c->in[0]->dtype));
  return op_meta_plain(c);
}
static DtStatus lcs_kernel (DtKernelCall *c) {
  int d;
  if (c->in[0]->m.ndim == 0) return op_k_copy0(c);
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->m.ndim, &d));
  return dt_k_scan(c->cx, DT_SCAN_LOGSUMEXP, c->in[0], d, c->out[0], NULL);
}
static double lowest (DtDtype t) {
  return t == DT_F64 ? -DBL_MAX : t == DT_F16 ? -65504.0
         : t == DT_BF16 ? -3.38953138925153547590470800371487866880e38
                        : -(double)FLT_MAX;
}
/* exp of (the running log-sum of `h` - out, from the end) + self */
static DtHandle *lcs_part (DtGradCall *c, DtHandle *h) {
  int64_t d = dt_arg_int(c->args, 1);
  h = EMIT("aten.sub.Tensor", "tt", h, c->out[0]);
  h = EMIT("aten.flip.default", "tI", h, 1, &d);
  h = EMIT("aten.logcumsumexp.default", "ti", h, d);
  h = EMIT("aten.flip.default", "tI", h, 1, &d);
  h = EMIT("aten.add.Tensor", "tt", h, IN);
  return EMIT("aten.exp.default", "t", h);
}
/* The parts of the gradient above and below 0 apart, each in logarithms. */
static DtStatus lcs_grad (DtGradCall *c) {
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, IN));
  if (m.ndim == 0 || dt_meta_numel(&m) == 0) {
    op_g_set(c, 0, GOUT);
    return op_g_finish(c);
  }
  DtHandle *low = op_e_scalar(c->e, lowest((DtDtype)m.dtype), &m), *a, *b, *k;
  DtHandle *l = EMIT("aten.log.default", "t", EMIT("aten.abs.default", "t",
                                                   GOUT));
  k = EMIT("aten.gt.Scalar", "ti", GOUT, (int64_t)0);
  a = EMIT("aten.where.self", "ttt", k, l, low);
  k = EMIT("aten.lt.Scalar", "ti", GOUT, (int64_t)0);
  b = EMIT("aten.where.self", "ttt", k, l, low);
  a = lcs_part(c, a);
  b = lcs_part(c, b);
  op_g_set(c, 0, EMIT("aten.sub.Tensor", "tt", a, b));
  return op_g_finish(c);
}
/* A negative dim is never matched, as in PyTorch. */
static DtStatus lcs_strategy (DtStratCall *c) {
  DtPlacement p[OP_MAXPL];
  int64_t d = dt_arg_int(c->args, 1);
  op_s_follow(c, 0, d >= 0 && d < 32 ? 1u << d : 0, true, p);
  return op_s_one(c, p, p, NAN);
}

/* ---- histogram ---- */

static OpText op_bins_text (int64_t n) {
  OpText t;
  snprintf(t.s, sizeof t.s, "torch.histogram(): bins must be > 0, but got %lld "
           "for dimension 0", (long long)n);
  return t;
}

static DtStatus histc_kernel (DtKernelCall *c) {
  return dt_k_histc(c->cx, c->in[0], dt_arg_float(c->args, 2),
                    dt_arg_float(c->args, 3), c->out[0]);
}
static DtStatus histc_meta (DtMetaCall *c) {
  int64_t n = dt_arg_int(c->args, 1);
  double lo = dt_arg_float(c->args, 2), hi = dt_arg_float(c->args, 3);
  DtDtype t = (DtDtype)c->in[0]->dtype;
  DT_CHECK(c->cx, c->fake || !dt_dtype_is_complex(t), DT_E_NOTIMPL,
           "\"aminmax_cpu\" not implemented for '%s'", op_dtype_word(t));
  DT_CHECK(c->cx, c->fake || dt_dtype_is_float(t), DT_E_NOTIMPL,
           "\"histogram_cpu\" not implemented for '%s'", op_dtype_word(t));
  DT_CHECK(c->cx, n > 0, DT_E_RUNTIME, "%s", c->fake ? "bins must be > 0" :
           op_bins_text(n).s);
  DT_CHECK(c->cx, c->fake || !(hi < lo), DT_E_RUNTIME,
           "torch.histc: max must be larger than min");
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)c->in[0]->dtype, 1, &n,
                     c->in[0]);
}
/* With the range given, parts of the data are counted apart and added. */
static DtStatus histc_strategy (DtStratCall *c) {
  DtPlacement rows[2 * (DT_MAX_NDIM + 1)];
  int n = 1;
  bool range = (c->args->given & 0xeu) == 0xeu;
  rows[0] = rows[1] = dt_pl_replicate();
  for (int d = 0; range && d < c->in[0]->meta.ndim; d++) {
    rows[2 * n] = dt_pl_partial(DT_OP_SUM);
    rows[2 * n++ + 1] = dt_pl_shard(d);
  }
  return op_s_rows(c, n, rows, false);
}

/* ---- reductions over dims ---- */

/* Row: positions of dim, keepdim, dtype (-1: none); partial or -1; outputs;
** integers too; is the first a root. */
enum { DR_DIM, DR_KEEP, DR_DTYPE, DR_LEFT, DR_NOUT, DR_INT, DR_STD };

static DtStatus dr_dims (DtCtx *cx, const DtOpDef *op, const DtArgs *a,
                         int ndim, uint32_t *mask) {
  *mask = ndim ? (uint32_t)((1u << ndim) - 1) : 0;
  if (dt_arg_is_none(a, op->row[DR_DIM])) return DT_OK;
  DT_TRY(cx, op_dims(cx, a, op->row[DR_DIM], ndim, true, mask));
  if (ndim == 0) *mask = 0;
  return DT_OK;
}
static bool dr_keep (const DtOpDef *op, const DtArgs *a) {
  return op->row[DR_KEEP] >= 0 && dt_arg_bool(a, op->row[DR_KEEP]);
}

static DtStatus dr_meta (DtMetaCall *c) {
  uint32_t mask;
  const int *r = c->op->row;
  DtDtype t = (DtDtype)c->in[0]->dtype;
  bool whole = dt_dtype_is_integral(t, true);
  DT_TRY(c->cx, dr_dims(c->cx, c->op, c->args, c->in[0]->ndim, &mask));
  if (r[DR_INT]) {
    if (whole) t = DT_I64;
  } else {
    DT_CHECK_SAY(c->cx, !whole || r[DR_NOUT] < 2, DT_E_RUNTIME, SPREAD_INTS,
                 c->op->sig->base);
    if (whole && strcmp(c->op->sig->base, "linalg__powsum") == 0)
      return dt_raise(c->cx, DT_E_NOTIMPL, "\"powsum_cpu\" not implemented for "
                      "'Long'");
    DT_CHECK_SAY(c->cx, !whole, DT_E_RUNTIME, WANTS_FLOATS, c->op->sig->base,
                 op_dtype_word(t));
  }
  if (r[DR_DTYPE] >= 0) t = op_dtype_or(c->args, r[DR_DTYPE], t);
  c->nout = r[DR_NOUT];
  for (int i = 0; i < c->nout; i++)
    DT_TRY(c->cx, op_reduced(c->cx, c->in[0], mask, dr_keep(c->op, c->args),
                             i || r[DR_INT] ? t : dt_dtype_to_real(t),
                             &c->out[i]));
  return DT_OK;
}

static DtStatus dr_strategy (DtStratCall *c) {
  uint32_t mask;
  const int *r = c->op->row;
  DtPlacement in[OP_MAXPL], out[OP_MAXPL];
  const DtSpec *s = c->in[0];
  int nd = c->mesh->ndim;
  bool keep = dr_keep(c->op, c->args), linear = r[DR_LEFT] >= 0;
  DtPlacement left = dt_pl_partial(linear ? (DtRedOp)r[DR_LEFT] : DT_OP_SUM);
  DT_TRY(c->cx, dr_dims(c->cx, c->op, c->args, s->meta.ndim, &mask));
  if (!dt_arg_is_none(c->args, r[DR_DIM]) &&
      dt_arg_len(c->args, r[DR_DIM]) == 0)
    mask = 0;
  for (int i = 0; i < nd; i++)
    linear &= !dt_pl_is_partial(s->pl[i]) || s->pl[i].op == left.op;
  if (linear) memcpy(in, s->pl, sizeof *in * (size_t)nd);
  else op_s_follow(c, 0, mask, true, in);
  for (int i = 0; i < nd; i++) {
    int d = 0;
    out[i] = in[i];
    if (!dt_pl_is_shard_like(in[i])) continue;
    for (int k = 0; k < in[i].dim; k++) d += keep || !(mask >> k & 1u);
    if (mask >> in[i].dim & 1u) out[i] = left;
    else out[i].dim = (int16_t)d;
  }
  return op_s_one(c, out, in, NAN);
}

static DtStatus nansum_kernel (DtKernelCall *c) {
  uint32_t mask;
  DT_TRY(c->cx, dr_dims(c->cx, c->op, c->args, c->in[0]->m.ndim, &mask));
  return dt_k_reduce(c->cx, DT_RED_NANSUM, NULL, c->in[0], mask, c->out[0]);
}
static DtStatus nansum_grad (DtGradCall *c) {
  uint32_t mask;
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, IN));
  DT_TRY(c->e->cx, dr_dims(c->e->cx, c->op, c->args, m.ndim, &mask));
  DtHandle *k = EMIT("aten.isnan.default", "t", IN);
  k = EMIT("aten.logical_not.default", "t", k);
  DtHandle *g = op_g_unsqueeze(c->e, GOUT, m.ndim, mask, dr_keep(c->op,
                                                                 c->args),
                               dt_arg_is_none(c->args, 1));
  g = op_g_expand(c->e, g, &m);
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", g, k));
  return op_g_finish(c);
}

static DtStatus var_mean_kernel (DtKernelCall *c) {
  uint32_t mask;
  DtScalar p[4] = { dt_scalar_int(1) };
  if (!dt_arg_is_none(c->args, 2)) p[0] = dt_arg_scalar(c->args, 2);
  DT_TRY(c->cx, dr_dims(c->cx, c->op, c->args, c->in[0]->m.ndim, &mask));
  DT_TRY(c->cx, dt_k_reduce(c->cx, DT_RED_VAR, p, c->in[0], mask, c->out[0]));
  return dt_k_reduce(c->cx, DT_RED_MEAN, NULL, c->in[0], mask, c->out[1]);
}

/* g times 2 (x - mean) / (n - correction), where the spread's gradient g
** arrives, and g / n for the mean's. */
static DtStatus var_mean_grad (DtGradCall *c) {
  uint32_t mask;
  DtMeta m;
  DtHandle *r[2] = { NULL, NULL };
  int64_t n = 1;
  double k = dt_arg_is_none(c->args, 2) ? 1 : dt_arg_float(c->args, 2);
  bool all = dt_arg_is_none(c->args, 1) || dt_arg_len(c->args, 1) == 0;
  dt_meta_copy(&m, dt_emit_meta(c->e, IN));
  DT_TRY(c->e->cx, dr_dims(c->e->cx, c->op, c->args, m.ndim, &mask));
  bool keep = dr_keep(c->op, c->args);
  for (int d = 0; d < m.ndim; d++) n *= mask >> d & 1u ? m.shape[d] : 1;
  if (c->gout[0]) {
    DtHandle *g = c->gout[0], *u;
    if (c->op->row[DR_STD]) {
      DtHandle *z;
      u = EMIT("aten.mul.Scalar", "ti", c->out[0], (int64_t)2);
      g = EMIT("aten.div.Tensor", "tt", g, u);
      z = EMIT("aten.eq.Scalar", "ti", c->out[0], (int64_t)0);
      g = EMIT("aten.masked_fill_.Scalar", "tti", g, z, (int64_t)0);
    }
    g = op_g_unsqueeze(c->e, g, m.ndim, mask, keep, all || m.ndim == 1);
    u = all ? EMIT("aten.mean.default", "t", IN)
            : EMIT("aten.mean.dim", "tvb", IN, c->args->v[1], 1);
    u = EMIT("aten.sub.Tensor", "tt", IN, u);
    g = EMIT("aten.mul.Scalar", "tf", g, 2.0 / ((double)n - k));
    r[0] = EMIT("aten.mul.Tensor", "tt", g, u);
  }
  if (c->gout[1]) {
    DtHandle *g = op_g_unsqueeze(c->e, c->gout[1], m.ndim, mask, keep, all);
    g = op_g_expand(c->e, g, &m);
    r[1] = EMIT("aten.div.Scalar", "ti", g, n);
  }
  op_g_set(c, 0, !r[0] ? r[1] : !r[1] ? r[0]
                 : EMIT("aten.add.Tensor", "tt", r[0], r[1]));
  return op_g_finish(c);
}

static DtStatus std_mean_decomp (DtDecompCall *c) {
  double k = dt_arg_is_none(c->args, 2) ? 1 : dt_arg_float(c->args, 2);
  c->out[0] = c->out[1] = NULL;
  dt_emit_n(c->e, "aten.var_mean.correction", c->out, 2,
            "tv correction=f keepdim=b", c->in[0], c->args->v[1], k,
            (int)dr_keep(c->op, c->args));
  c->out[0] = EMIT("aten.sqrt.default", "t", c->out[0]);
  c->nout = 2;
  return c->e->st;
}

static DtStatus std_mean_kernel (DtKernelCall *c) {
  uint32_t mask;
  DtScalar p[4] = { dt_scalar_int(1) };
  if (!dt_arg_is_none(c->args, 2)) p[0] = dt_arg_scalar(c->args, 2);
  DT_TRY(c->cx, dr_dims(c->cx, c->op, c->args, c->in[0]->m.ndim, &mask));
  DT_TRY(c->cx, dt_k_reduce(c->cx, DT_RED_STD, p, c->in[0], mask, c->out[0]));
  return dt_k_reduce(c->cx, DT_RED_MEAN, NULL, c->in[0], mask, c->out[1]);
}

/* ---- samples and definitions ---- */

static const char *const dim_samples[] = {
  "f32[8, 6], 1", "f32[7, 5], 0, True", "f32[4], 0", NULL
};
static const char *const kth_samples[] = {
  "f32[8, 6], 2", "f32[7, 5], 1, 0, True", "f32[4], 4", NULL
};
static const char *const all_samples[] = { "f32[8, 6]", "f32[7, 5]", "f32[1]",
                                           "f32[]", NULL };
static const char *const scan_samples[] = { "f32[8, 6], 1", "f32[7, 5], 0",
                                            "f32[4], 0", NULL };
static const char *const dims_samples[] = {
  "f32[8, 6]", "f32[7, 5], [1]", "f32[8, 6], [0], True", NULL
};
static const char *const powsum_samples[] = {
  "f32[8, 6]", "f32[7, 5], 3.0, [1]", NULL
};
static const char *const vm_samples[] = {
  "f32[8, 6]", "f32[7, 5], [1]", "f32[8, 6], [0], correction=0, keepdim=True",
  NULL
};
static const char *const histc_samples[] = { "f32[8, 6], 10, 0, 1",
                                             "f32[7], 4", NULL };

#define PAIR " -> (Tensor values, Tensor indices)"
#define DIM "Tensor self, int dim, bool keepdim=False)" PAIR
#define DTYPE ", *, ScalarType? dtype=None) -> Tensor"
#define DIMS "int[1]? dim=None, bool keepdim=False"
static const int row_nansum[] = { 1, 2, 3, DT_OP_SUM, 1, 1, 0 },
                 row_powsum[] = { 2, 3, 4, DT_OP_SUM, 1, 0, 0 },
                 row_var_mean[] = { 1, 3, -1, -1, 2, 0, 0 },
                 row_std_mean[] = { 1, 3, -1, -1, 2, 0, 1 };

OP_DEF(median_dim, "aten::median.dim(" DIM, "The middle element along a dim "
       "and its index.", DT_OP_SAVE_OUT, place_meta, place_kernel,
       place_grad, dim_samples, .rulefn = place_rules, .row = row_median);
OP_DEF(nanmedian_dim, "aten::nanmedian.dim(" DIM, "The middle of the elements "
       "that are not NaN.", DT_OP_SAVE_OUT, place_meta, place_kernel,
       place_grad, dim_samples, .rulefn = place_rules, .row = row_nanmedian);
OP_DEF(mode, "aten::mode(Tensor self, int dim=-1, bool keepdim=False)" PAIR,
       "The most frequent element along a dim.", DT_OP_SAVE_OUT, place_meta,
       place_kernel, place_grad, dim_samples, .rulefn = place_rules,
       .row = row_mode);
OP_DEF(kthvalue, "aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool "
       "keepdim=False)" PAIR, "The k-th smallest element along a dim.",
       DT_OP_SAVE_OUT, place_meta, place_kernel, place_grad, kth_samples,
       .rulefn = place_rules, .row = row_kth);
OP_DEF(median, "aten::median(Tensor self) -> Tensor", "The middle element.",
       DT_OP_SAVE_OUT, whole_meta, whole_kernel, whole_grad, all_samples,
       .strategy = whole_strategy, .row = row_all_median);
OP_DEF(nanmedian, "aten::nanmedian(Tensor self) -> Tensor",
       "The middle of the elements that are not NaN.", DT_OP_SAVE_OUT,
       whole_meta, whole_kernel, whole_grad, all_samples,
       .strategy = whole_strategy, .row = row_all_nanmedian);
OP_DEF(cummax, "aten::cummax(Tensor self, int dim)" PAIR,
       "Largest element so far along a dim, and its index.", DT_OP_SAVE_OUT,
       cum_meta, cum_kernel, cum_grad, scan_samples, .strategy = cum_strategy,
       .row = row_cummax);
OP_DEF(cummin, "aten::cummin(Tensor self, int dim)" PAIR,
       "Smallest element so far along a dim, and its index.", DT_OP_SAVE_OUT,
       cum_meta, cum_kernel, cum_grad, scan_samples, .strategy = cum_strategy,
       .row = row_cummin);
OP_DEF(logcumsumexp, "aten::logcumsumexp(Tensor self, int dim) -> Tensor",
       "log of the running sum of exponentials.", DT_OP_SAVE_OUT, lcs_meta,
       lcs_kernel, lcs_grad, scan_samples, .strategy = lcs_strategy);
OP_DEF(histc, "aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar "
       "max=0) -> Tensor", "Counts of elements in equal bins.", DT_OP_NOGRAD,
       histc_meta, histc_kernel, NULL, histc_samples,
       .strategy = histc_strategy);
OP_DEF(nansum, "aten::nansum(Tensor self, " DIMS DTYPE,
       "Sum over dims of what is not NaN.", 0, dr_meta, nansum_kernel,
       nansum_grad, dims_samples, .strategy = dr_strategy, .row = row_nansum);
OP_DEF(linalg__powsum, "aten::linalg__powsum(Tensor self, Scalar ord=2, " DIMS
       DTYPE, "Sum over dims of powers of magnitudes.", 0, dr_meta,
       op_k_la_powsum, op_g_la_none, powsum_samples,
       .strategy = dr_strategy, .row = row_powsum);
OP_DEF(var_mean_correction, "aten::var_mean.correction(Tensor self, int[1]? "
       "dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, "
       "Tensor)", "Variance and mean over dims.", 0, dr_meta, var_mean_kernel,
       var_mean_grad, vm_samples, .strategy = dr_strategy,
       .row = row_var_mean);
OP_DEF(std_mean_correction, "aten::std_mean.correction(Tensor self, int[1]? "
       "dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, "
       "Tensor)", "Standard deviation and mean over dims.", DT_OP_SAVE_OUT,
       dr_meta, std_mean_kernel, var_mean_grad, vm_samples,
       .decomp = std_mean_decomp, .row = row_std_mean);
