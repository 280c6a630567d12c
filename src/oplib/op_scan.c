/* SPDX-License-Identifier: MIT
** oplib/op_scan.c: operators that walk along one dim: running sums and
** products, extremes with their place, sorting, topk, flip.
**
** The dim must be whole on every rank; other shards pass. */
#include "base/sat.h"
#include "oplib/oplib_int.h"

#include <math.h>
#include <string.h>

#define IN (dt_gin(c, 0))

/* ---- cumsum, cumprod ---- */

static const int row_cumsum[] = { DT_SCAN_SUM }, row_cumprod[] = {
  DT_SCAN_PROD };

static DtStatus scan_meta (DtMetaCall *c) {
  int d;
  DtDtype t = (DtDtype)c->in[0]->dtype;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->ndim, &d));
  bool inplace = c->args->schema != NULL && c->args->schema->inplace;
  DT_CHECK(c->cx, c->fake || !inplace || t != DT_BOOL, DT_E_NOTIMPL,
           "\"%s_out_cpu\" not implemented for 'Bool'",
           c->op->row[0] == DT_SCAN_SUM ? "cumsum" : "cumprod");
  if (dt_dtype_is_integral(t, true)) t = DT_I64;
  t = op_dtype_or(c->args, 2, t);
  DT_CHECK(c->cx, !inplace || dt_arg_is_none(c->args, 2) || t == c->in[0]->dtype, DT_E_RUNTIME,
           "Bad in-place call: input tensor dtype %s and output tensor dtype "
           "%s should match", dt_dtype_info((DtDtype)c->in[0]->dtype)->cpp,
           dt_dtype_info(t)->cpp);
  op_like_meta(&c->out[0], c->in[0], t);
  dt_meta_set_contiguous(&c->out[0]);
  c->nout = 1;
  return DT_OK;
}
static DtStatus scan_kernel (DtKernelCall *c) {
  int d;
  if (c->in[0]->m.ndim == 0) return op_k_copy0(c);
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->m.ndim, &d));
  DT_CHECK(c->cx, c->out[0]->m.dtype != DT_BOOL, DT_E_NOTIMPL,
           "\"%s_out_cpu\" not implemented for 'Bool'",
           c->op->row[0] == DT_SCAN_SUM ? "cumsum" : "cumprod");
  return dt_k_scan(c->cx, (DtScan)c->op->row[0], c->in[0], d, c->out[0], NULL);
}

/* The dim is not normalised: a negative one is never matched, as in
** PyTorch. */
static DtStatus scan_strategy (DtStratCall *c) {
  DtPlacement p[OP_MAXPL];
  int64_t d = dt_arg_int(c->args, 1);
  op_s_follow(c, 0, d >= 0 && d < 32 ? 1u << d : 0, true, p);
  return op_s_one(c, p, p, NAN);
}

static DtStatus cumsum_grad (DtGradCall *c) {
  DtMeta m;
  int64_t d = dt_arg_int(c->args, 1);
  DtHandle *g = GOUT;
  dt_meta_copy(&m, dt_emit_meta(c->e, IN));
  int at;
  DT_TRY(c->e->cx, dt_meta_wrap_dim(c->e->cx, d, m.ndim, &at));
  if (!dt_arg_is_none(c->args, 2) && dt_arg_dtype(c->args, 2) != m.dtype)
    g = EMIT("aten._to_copy.default", "t dtype=d", g, (int)m.dtype);
  if (m.ndim && dt_meta_numel(&m) > 1 && m.shape[at] != 1) {
    g = EMIT("aten.flip.default", "tI", g, 1, &d);
    g = EMIT("aten.cumsum.default", "ti", g, d);
    g = EMIT("aten.flip.default", "tI", g, 1, &d);
  }
  op_g_set(c, 0, g);
  return op_g_finish(c);
}

/* Running sum from the end of h along d. */
static DtHandle *suffix_sum (DtGradCall *c, DtHandle *h, int64_t d) {
  h = EMIT("aten.flip.default", "tI", h, 1, &d);
  h = EMIT("aten.cumsum.default", "ti", h, d);
  return EMIT("aten.flip.default", "tI", h, 1, &d);
}

/* Where the first zero stands, of `z` (which are zero), `mask` (after one zero
** and before the next) and at[1], the place of its first true. */
static DtHandle *first_zero (DtGradCall *c, DtHandle *z, DtHandle *mask,
                             DtHandle *place, int64_t d) {
  DtHandle *first;
  if ((c->op->flags & DT_OP_LATER) != 0)
    return EMIT("aten.logical_and.default", "tt", mask, z);
  first = EMIT("aten.zeros_like.default", "t", mask);
  first = EMIT("aten.scatter_.value", "titi", first, d, place, (int64_t)1);
  return EMIT("aten.logical_and_.default", "tt", first, mask);
}

/* cumprod: before the first zero, the suffix sum of g * out over x; at the
** first zero, what comes before it times the sum of g times the products that
** skip it; after it 0. */
static DtStatus cumprod_grad (DtGradCall *c) {
  DtHandle *x = IN, *o = c->out[0], *w, *z, *n, *mask, *not, *r, *at[2], *first;
  int64_t d = dt_arg_int(c->args, 1), one = 1;
  bool later = (c->op->flags & DT_OP_LATER) != 0;
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, x));
  if (dt_meta_numel(&m) <= 1) {
    op_g_set(c, 0, GOUT);
    return op_g_finish(c);
  }
  x = op_g_conj(c->e, x);
  o = op_g_conj(c->e, o);
  w = EMIT("aten.mul.Tensor", "tt", o, GOUT);
  z = EMIT("aten.eq.Scalar", "ti", x, (int64_t)0);
  r = later ? EMIT("aten.new_zeros.default", "tI", GOUT, (int)m.ndim, m.shape)
            : EMIT("aten.zeros.default", "I dtype=d", (int)m.ndim, m.shape,
                   (int)m.dtype);
  n = EMIT("aten.cumsum.default", "ti", z, d);
  mask = EMIT("aten.eq.Scalar", "ti", n, (int64_t)0);
  not = EMIT("aten.bitwise_not.default", "t", mask);
  w = EMIT("aten.masked_fill.Scalar", "ttf", w, not, 0.0);
  w = EMIT("aten.div.Tensor", "tt", suffix_sum(c, w, d), x);
  r = EMIT("aten.where.self", "ttt", mask, w, r);
  mask = EMIT("aten.eq.Scalar", "ti", n, one);
  at[0] = at[1] = NULL;
  dt_emit_n(c->e, "aten.max.dim", at, 2, "tib", mask, d, 1);
  first = first_zero(c, z, mask, at[1], d);
  not = EMIT("aten.bitwise_not.default", "t", first);
  mask = EMIT("aten.bitwise_and_.Tensor", "tt", mask, not);
  not = EMIT("aten.bitwise_not.default", "t", mask);
  w = EMIT("aten.masked_fill.Scalar", "ttf", x, not, 1.0);
  w = EMIT("aten.cumprod.default", "ti", w, d);
  /* what skips the first zero counts up to the second one */
  not = EMIT("aten.ne.Scalar", "ti", n, one);
  n = EMIT("aten.masked_fill.Scalar", "ttf", later ? GOUT : w, not, 0.0);
  z = EMIT("aten.sub.Scalar", "ti", at[1], one);
  z = EMIT("aten.relu_.default", "t", z);
  o = EMIT("aten.gather.default", "tit", o, d, z);
  z = EMIT("aten.eq.Scalar", "ti", at[1], (int64_t)0);
  o = EMIT("aten.masked_fill_.Scalar", "ttf", o, z, 1.0);
  w = EMIT("aten.mul.Tensor", "tt", later ? w : GOUT, n);
  w = EMIT("aten.sum.dim_IntList", "tIb", w, 1, &d, 1);
  w = EMIT("aten.mul.Tensor", "tt", w, o);
  op_g_set(c, 0, EMIT("aten.where.self", "ttt", first, w, r));
  return op_g_finish(c);
}

/* ---- extremes with indices ---- */

enum { EX_MIN, EX_MAX };
static const int row_min[] = { EX_MIN }, row_max[] = { EX_MAX };

static DtStatus extreme_meta (DtMetaCall *c) {
  int d;
  const DtMeta *m = c->in[0];
  uint32_t mask;
  bool keep = dt_arg_bool(c->args, 2);
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, m->ndim, &d));
  DT_CHECK(c->cx, m->ndim == 0 || m->shape[d] || c->fake,
           DT_E_INDEX, "%s(): Expected reduction dim %d to have non-zero "
           "size.", c->op->row[0] == EX_MAX ? "max" : "min", d);
  mask = m->ndim ? 1u << d : 0;
  DT_TRY(c->cx, op_reduced(c->cx, m, mask, keep, (DtDtype)m->dtype,
                           &c->out[0]));
  DT_TRY(c->cx, op_reduced(c->cx, m, mask, keep, DT_I64, &c->out[1]));
  c->nout = 2;
  return DT_OK;
}
static DtStatus extreme_kernel (DtKernelCall *c) {
  int d;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->m.ndim, &d));
  return dt_k_arg_reduce(c->cx, c->op->row[0] == EX_MAX, c->in[0],
                         c->in[0]->m.ndim ? d : -1, c->out[0], c->out[1]);
}

static DtStatus extreme_rules (DtRuleCall *c) {
  int d, nd = c->in[0]->ndim;
  bool keep = dt_arg_bool(c->args, 2);
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, nd, &d));
  for (int i = 0; i < nd; i++) {
    int o = keep || i < d ? i : i - 1;
    DtCell row[3] = { dt_c_s(o), dt_c_s(o), dt_c_s(i) };
    if (i != d) dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

/* Zeros with the gradient at the chosen places. */
static DtStatus place_grad (DtGradCall *c, DtHandle *g, DtHandle *index,
                            int64_t dim) {
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, IN));
  DtHandle *z = EMIT("aten.new_zeros.default", "tI", g, (int)m.ndim, m.shape);
  op_g_set(c, 0, EMIT("aten.scatter.src", "titt", z, dim, index, g));
  return op_g_finish(c);
}
static DtStatus extreme_grad (DtGradCall *c) {
  int64_t d = dt_arg_int(c->args, 1);
  DtHandle *g = GOUT, *i = c->out[1];
  if (!dt_arg_bool(c->args, 2) && dt_emit_meta(c->e, IN)->ndim > 0) {
    g = EMIT("aten.unsqueeze.default", "ti", g, d);
    i = EMIT("aten.unsqueeze.default", "ti", i, d);
  }
  return place_grad(c, g, i, d);
}

/* argmax, argmin */
static DtStatus arg_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  int d = 0;
  bool all = dt_arg_is_none(c->args, 1), keep = dt_arg_bool(c->args, 2);
  const char *name = c->op->row[0] == EX_MAX ? "argmax" : "argmin";
  uint32_t mask = m->ndim ? (uint32_t)((1u << m->ndim) - 1) : 0;
  DT_CHECK_SAY(c->cx, c->fake || m->dtype != DT_BOOL, DT_E_RUNTIME, NO_BOOL,
               name);
  if (!all) {
    DT_TRY(c->cx, op_dim(c->cx, c->args, 1, m->ndim, &d));
    mask = m->ndim ? 1u << d : 0;
    DT_CHECK(c->cx, m->ndim == 0 || m->shape[d], DT_E_INDEX, "%s(): Expected "
             "reduction dim %d to have non-zero size.", name, d);
  }
  DT_CHECK(c->cx, !all || dt_meta_numel(m), DT_E_INDEX, "%s(): Expected "
           "reduction dim to be specified for input.numel() == 0.", name);
  c->nout = 1;
  return op_reduced(c->cx, m, mask, keep, DT_I64, &c->out[0]);
}
static DtStatus arg_kernel (DtKernelCall *c) {
  int d = -1, nd = c->in[0]->m.ndim;
  if (!dt_arg_is_none(c->args, 1) && nd)
    DT_TRY(c->cx, op_dim(c->cx, c->args, 1, nd, &d));
  return dt_k_arg_reduce(c->cx, c->op->row[0] == EX_MAX, c->in[0], d, NULL,
                         c->out[0]);
}
/* Local indices do not combine: the dims are gathered (the engine's handler
** compares values instead; this is what propagation answers). */
static DtStatus arg_strategy (DtStratCall *c) {
  DtPlacement in[OP_MAXPL], out[OP_MAXPL];
  int d = 0, nd = c->in[0]->meta.ndim;
  bool keep = dt_arg_bool(c->args, 2), all = dt_arg_is_none(c->args, 1);
  if (!all) DT_TRY(c->cx, op_dim(c->cx, c->args, 1, nd, &d));
  op_s_follow(c, 0, all ? ~0u : 1u << d, true, in);
  for (int i = 0; i < c->mesh->ndim; i++) {
    out[i] = in[i];
    if (dt_pl_is_shard_like(in[i]) && !keep && in[i].dim > d) out[i].dim--;
  }
  return op_s_one(c, out, in, NAN);
}

/* ---- topk, sort: values and indices of the input's other dims ---- */

enum { TS_TOPK, TS_SORT, TS_STABLE };
static const int row_topk[] = { TS_TOPK, 2 }, row_sort[] = { TS_SORT, 1 },
                 row_stable[] = { TS_STABLE, 2 };

static DtStatus order_meta (DtMetaCall *c) {
  int d;
  const DtMeta *m = c->in[0];
  int64_t shape[DT_MAX_NDIM];
  DT_TRY(c->cx, op_dim(c->cx, c->args, c->op->row[1], m->ndim, &d));
  memcpy(shape, m->shape, sizeof(int64_t) * m->ndim);
  if (c->op->row[0] == TS_TOPK) {
    int64_t k = dt_arg_int(c->args, 1);
    DT_CHECK_SAY0(c->cx, c->fake || m->dtype != DT_BOOL, DT_E_RUNTIME,
                  TOPK_BOOL);
    DT_CHECK(c->cx, k >= 0 && k <= (m->ndim ? m->shape[d] : 1), DT_E_RUNTIME,
             c->fake ? "k not in range for dimension"
             : "selected index k out of range");
    if (m->ndim) shape[d] = k;
  }
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, m->ndim,
                            shape, m));
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[1], DT_I64, m->ndim, shape, m));
  if (c->op->row[0] != TS_TOPK && dt_meta_is_dense(m))
    for (int i = 0; i < 2; i++)
      memcpy(c->out[i].stride, m->stride, sizeof(int64_t) * m->ndim);
  c->nout = 2;
  return DT_OK;
}
static DtStatus order_kernel (DtKernelCall *c) {
  int d;
  DT_TRY(c->cx, op_dim(c->cx, c->args, c->op->row[1], c->in[0]->m.ndim, &d));
  if (c->in[0]->m.ndim == 0) {
    DT_TRY(c->cx, dt_k_fill(c->cx, c->out[1], dt_scalar_int(0)));
    return op_k_copy0(c);
  }
  switch (c->op->row[0]) {
    case TS_TOPK:
      return dt_k_topk(c->cx, c->in[0], dt_arg_int(c->args, 1), d,
                       dt_arg_bool(c->args, 3), c->out[0], c->out[1]);
    case TS_SORT:
      return dt_k_sort(c->cx, c->in[0], d, dt_arg_bool(c->args, 2), true,
                       c->out[0], c->out[1]);
    default:
      return dt_k_sort(c->cx, c->in[0], d, dt_arg_bool(c->args, 3), true,
                       c->out[0], c->out[1]);
  }
}
static DtStatus order_strategy (DtStratCall *c) {
  DtPlacement rows[3 * (DT_MAX_NDIM + 1)];
  int d, n = 0, nd = c->in[0]->meta.ndim;
  DT_TRY(c->cx, op_dim(c->cx, c->args, c->op->row[1], nd, &d));
  for (int i = -1; i < nd; i++) {
    if (i == d) continue;
    for (int k = 0; k < 3; k++)
      rows[n * 3 + k] = i < 0 ? dt_pl_replicate() : dt_pl_shard(i);
    n++;
  }
  return op_s_rows(c, n, rows, false);
}
static DtStatus order_grad (DtGradCall *c) {
  return place_grad(c, GOUT, c->out[1], dt_arg_int(c->args, c->op->row[1]));
}

/* ---- flip, repeat, constant_pad_nd ---- */

static DtStatus flip_kernel (DtKernelCall *c) {
  uint32_t mask;
  if (c->in[0]->m.ndim == 0) return op_k_copy0(c);
  DT_TRY(c->cx, op_dims(c->cx, c->args, 1, c->in[0]->m.ndim, false, &mask));
  return dt_k_flip(c->cx, c->in[0], mask, c->out[0]);
}
static DtStatus flip_meta (DtMetaCall *c) {
  uint32_t mask;
  DT_TRY(c->cx, op_dims(c->cx, c->args, 1, c->in[0]->ndim, false, &mask));
  return op_meta_same(c);
}
static const DtRedOp pass_ops[] = { DT_OP_SUM, DT_OP_AVG, DT_OP_MAX,
                                    DT_OP_MIN };
static DtStatus flip_rules (DtRuleCall *c) {
  uint32_t mask;
  DT_TRY(c->cx, op_dims(c->cx, c->args, 1, c->in[0]->ndim, false, &mask));
  for (int d = 0; d < c->in[0]->ndim; d++) {
    DtCell row[2] = { dt_c_s(d), dt_c_s(d) };
    if (!(mask >> d & 1u)) dt_rows_add(c->rows, row);
  }
  for (int i = 0; i < 4; i++) {
    DtCell row[2] = { dt_c_p(pass_ops[i]), dt_c_p(pass_ops[i]) };
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}
static DtStatus flip_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten.flip.default", "tv", GOUT, c->args->v[1]));
  return op_g_finish(c);
}

static DtStatus repeat_meta (DtMetaCall *c) {
  int64_t times[DT_MAX_NDIM];
  const DtMeta *m = c->in[0];
  int n = op_ints(c->args, 1, times);
  DT_CHECK(c->cx, n >= m->ndim, DT_E_RUNTIME, "Number of dimensions of repeat "
           "dims can not be smaller than number of dimensions of tensor");
  for (int i = 0; i < n; i++) {
    DT_CHECK(c->cx, times[i] >= 0 || !c->fake, DT_E_RUNTIME,
             "Trying to create tensor with negative dimension %lld",
             (long long)times[i]);
    int k = i - (n - m->ndim);
    times[i] = dt_sat_mul(times[i], k >= 0 ? m->shape[k] : 1);
  }
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, n, times, m);
}

/* The output seen as [times, size] pairs takes the input, broadcast. */
static DtStatus repeat_kernel (DtKernelCall *c) {
  int64_t times[DT_MAX_NDIM], shape[DT_MAX_NDIM], so[DT_MAX_NDIM],
          si[DT_MAX_NDIM];
  DtTensor *o = NULL, *in = NULL;
  const DtMeta *m = &c->in[0]->m, *om = &c->out[0]->m;
  DtStatus st;
  int n = op_ints(c->args, 1, times), k = 0;
  if (dt_meta_numel(om) == 0) return DT_OK;
  for (int i = 0; i < n; i++) {
    int d = i - (n - m->ndim);
    int64_t size = d >= 0 ? m->shape[d] : 1;
    DT_CHECK(c->cx, k + 2 <= DT_MAX_NDIM || times[i] == 1, DT_E_LIMIT,
             "repeat: too many dimensions");
    if (times[i] != 1) {
      shape[k] = times[i];
      so[k] = om->stride[i] * size;
      si[k++] = 0;
    }
    shape[k] = size;
    so[k] = om->stride[i];
    si[k++] = d >= 0 ? m->stride[d] : 0;
  }
  DT_TRYG(c->cx, op_restride(c->cx, c->out[0], k, shape, so, 0, &o));
  DT_TRYG(c->cx, op_restride(c->cx, c->in[0], k, shape, si, 0, &in));
  DT_TRYG(c->cx, dt_k_copy(c->cx, in, o));
done:
  dt_tensor_unref(c->cx, o);
  dt_tensor_unref(c->cx, in);
  return st;
}

static DtStatus repeat_strategy (DtStratCall *c) {
  OpViewMap m = { .n = 0 };
  int64_t times[DT_MAX_NDIM];
  int n = op_ints(c->args, 1, times), lead = n - c->in[0]->meta.ndim;
  for (int i = 0; i < n; i++) {
    if (i < lead)
      op_vm_add(&m, times[i] == 1 ? OV_SINGLETON : OV_BROADCAST, -1);
    else
      op_vm_add(&m, times[i] == 1 ? OV_INPUT : OV_REPEAT, i - lead);
  }
  return op_vm_strategy(c, &m, false);
}

static DtStatus repeat_grad (DtGradCall *c) {
  int64_t times[DT_MAX_NDIM], shape[2 * DT_MAX_NDIM], dims[DT_MAX_NDIM];
  DtMeta m;
  DtHandle *g = GOUT;
  dt_meta_copy(&m, dt_emit_meta(c->e, IN));
  int n = op_ints(c->args, 1, times), lead = n - m.ndim, k = 0, nd = 0;
  bool zero = false, split = false;
  for (int i = 0; i < n; i++) zero |= times[i] == 0;
  if (zero) {
    op_g_set(c, 0, EMIT("aten.zeros.default", "I dtype=d", (int)m.ndim,
                        m.shape,
                        (int)m.dtype));
    return op_g_finish(c);
  }
  for (int i = 0; i < n; i++) {
    if (i < lead) {
      dims[nd++] = k;
      shape[k++] = times[i];
    } else {
      if (times[i] != 1) {
        dims[nd++] = k;
        shape[k++] = times[i];
        split = true;
      }
      shape[k++] = m.shape[i - lead];
    }
  }
  if (split) g = EMIT("aten.view.default", "tI", g, k, shape);
  if (nd) g = EMIT("aten.sum.dim_IntList", "tI", g, nd, dims);
  op_g_set(c, 0, g);
  return op_g_finish(c);
}

static DtStatus pad_meta (DtMetaCall *c) {
  int64_t pad[2 * DT_MAX_NDIM], shape[DT_MAX_NDIM];
  const DtMeta *m = c->in[0];
  bool cut = true;
  int n = dt_arg_ints(c->args, 1, pad, 2 * DT_MAX_NDIM);
  DT_CHECK(c->cx, n % 2 == 0, DT_E_RUNTIME,
           "Length of pad must be even but instead it equals %d", n);
  DT_CHECK(c->cx, n / 2 <= m->ndim, DT_E_RUNTIME, "Length of pad should be no "
           "more than twice the number of dimensions of the input. Pad length "
           "is %d while the input has %d dimensions.", n, m->ndim);
  for (int d = 0; d < m->ndim; d++) {
    int k = (m->ndim - 1 - d) * 2;
    int64_t left = m->shape[d];
    for (int i = k; i < k + 2 && i < n; i++) {
      if (pad[i] < 0) left = dt_sat_add(left, pad[i]);
      DT_CHECK(c->cx, left >= 0, DT_E_RUNTIME,
               "narrow(): length must be non-negative.");
    }
    shape[d] = m->shape[d];
    for (int i = k; i < k + 2 && i < n; i++)
      shape[d] = dt_sat_add(shape[d], pad[i]);
    DT_CHECK(c->cx, shape[d] >= 0, DT_E_RUNTIME, "The input size %lld, plus "
             "negative padding %lld and %lld, resulted in a negative output "
             "size, which is invalid. Check dimension %d of your input.",
             (long long)m->shape[d], (long long)pad[k], (long long)pad[k + 1],
             d);
  }
  c->nout = 1;
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, m->ndim,
                            shape, m));
  for (int i = 0; i < n; i++) cut &= pad[i] <= 0;
  if (cut) {                    /* a clone of a narrowed view */
    DtMeta v;
    dt_meta_copy(&v, &c->out[0]);
    memcpy(v.stride, m->stride, sizeof(int64_t) * m->ndim);
    if (dt_meta_is_dense(&v)) dt_meta_copy(&c->out[0], &v);
  }
  return DT_OK;
}
static DtStatus pad_kernel (DtKernelCall *c) {
  int64_t pad[2 * DT_MAX_NDIM];
  int n = dt_arg_ints(c->args, 1, pad, 2 * DT_MAX_NDIM);
  return dt_k_constant_pad(c->cx, c->in[0], n, pad, dt_arg_scalar(c->args, 2),
                           c->out[0]);
}
static DtStatus pad_rules (DtRuleCall *c) {
  int64_t pad[2 * DT_MAX_NDIM];
  int n = dt_arg_ints(c->args, 1, pad, 2 * DT_MAX_NDIM), nd = c->in[0]->ndim;
  bool any = false;
  for (int d = 0; d < nd; d++) {
    int k = (nd - 1 - d) * 2;
    DtCell row[2] = { dt_c_s(d), dt_c_s(d) };
    bool padded = k < n && (pad[k] || pad[k + 1]);
    any |= padded;
    if (!padded) dt_rows_add(c->rows, row);
  }
  for (int i = 0; i < 4; i++) {
    DtCell row[2] = { dt_c_p(pass_ops[i]), dt_c_p(pass_ops[i]) };
    if (i > 0 || !any || dt_arg_float(c->args, 2) == 0)
      dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}
static DtStatus pad_grad (DtGradCall *c) {
  int64_t pad[2 * DT_MAX_NDIM];
  int n = dt_arg_ints(c->args, 1, pad, 2 * DT_MAX_NDIM);
  for (int i = 0; i < n; i++) pad[i] = -pad[i];
  op_g_set(c, 0, EMIT("aten.constant_pad_nd.default", "tIi", GOUT, n, pad,
                      (int64_t)0));
  return op_g_finish(c);
}

/* ---- samples and definitions ---- */

static const char *const scan_samples[] = {
  "f32[8, 6], 1", "f32[7, 5], 0", "f32[1], 0", "f32[0, 4], 0", "i64[4], 0",
  NULL
};
static const char *const extreme_samples[] = {
  "f32[8, 6], 1", "f32[7, 5], 0, true", "f32[1], 0", "f32[4, 3], -1", NULL
};
static const char *const arg_samples[] = {
  "f32[8, 6], 1", "f32[7, 5]", "f32[1], 0, true", "f32[]", NULL
};
static const char *const topk_samples[] = {
  "f32[8, 6], 3", "f32[7, 5], 2, 0, false", "f32[1], 1", "f32[0, 4], 2", NULL
};
static const char *const sort_samples[] = {
  "f32[8, 6]", "f32[7, 5], 0, true", "f32[1]", "f32[0, 4]", NULL
};
static const char *const stable_samples[] = {
  "f32[8, 6], stable=true", "i64[7], stable=true, descending=true", NULL
};
static const char *const flip_samples[] = {
  "f32[8, 6], [1]", "f32[7, 5], [0, 1]", "f32[0, 4], [0]", "f32[3], [-1]",
  NULL
};
static const char *const repeat_samples[] = {
  "f32[8, 6], [2, 1]", "f32[7], [2, 3]", "f32[1], [4]", "f32[0, 4], [2, 2]",
  "f32[], [2]", NULL
};
static const char *const pad_samples[] = {
  "f32[8, 6], [1, 2]", "f32[7, 5], [0, 1, 2, 0], 1.0", "f32[4], [-1, 0]",
  "f32[0, 4], [1, 1]", NULL
};

#define OP(id, schema_, brief_, flags_, meta_, kernel_, grad_, samples_, ...) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = flags_, \
    .meta = meta_, .kernel = kernel_, .grad = grad_, .samples = samples_, \
    __VA_ARGS__ }
#define PAIR " -> (Tensor values, Tensor indices)"

OP(cumsum, "cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
   "Running sum along a dim.", 0, scan_meta, scan_kernel, cumsum_grad,
   scan_samples, .strategy = scan_strategy, .row = row_cumsum);
OP(cumprod, "cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> "
   "Tensor", "Running product along a dim.", DT_OP_SAVE_OUT, scan_meta,
   scan_kernel, cumprod_grad, scan_samples, .strategy = scan_strategy,
   .row = row_cumprod);
OP(max_dim, "max.dim(Tensor self, int dim, bool keepdim=False)" PAIR,
   "Largest element along a dim and its index.", DT_OP_SAVE_OUT, extreme_meta,
   extreme_kernel, extreme_grad, extreme_samples, .rulefn = extreme_rules,
   .row = row_max);
OP(min_dim, "min.dim(Tensor self, int dim, bool keepdim=False)" PAIR,
   "Smallest element along a dim and its index.", DT_OP_SAVE_OUT, extreme_meta,
   extreme_kernel, extreme_grad, extreme_samples, .rulefn = extreme_rules,
   .row = row_min);
OP(argmax, "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
   "Index of the largest element.", DT_OP_NOGRAD | DT_OP_HANDLER, arg_meta,
   arg_kernel, NULL, arg_samples, .strategy = arg_strategy, .row = row_max);
OP(argmin, "argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
   "Index of the smallest element.", DT_OP_NOGRAD | DT_OP_HANDLER, arg_meta,
   arg_kernel, NULL, arg_samples, .strategy = arg_strategy, .row = row_min);
OP(topk, "topk(Tensor self, SymInt k, int dim=-1, bool largest=True, "
   "bool sorted=True)" PAIR, "The k largest elements along a dim.", DT_OP_SAVE_OUT,
   order_meta, order_kernel, order_grad, topk_samples,
   .strategy = order_strategy, .row = row_topk);
OP(sort, "sort(Tensor self, int dim=-1, bool descending=False)" PAIR,
   "Elements in order along a dim.", DT_OP_SAVE_OUT, order_meta, order_kernel, order_grad,
   sort_samples, .strategy = order_strategy, .row = row_sort);
OP(sort_stable, "sort.stable(Tensor self, *, bool? stable, int dim=-1, "
   "bool descending=False)" PAIR,
   "Elements in order, equal ones as they were.", DT_OP_SAVE_OUT, order_meta, order_kernel,
   order_grad, stable_samples, .strategy = order_strategy, .row = row_stable);
OP(flip, "flip(Tensor self, int[] dims) -> Tensor", "Dims read backwards.", 0,
   flip_meta, flip_kernel, flip_grad, flip_samples, .rulefn = flip_rules);
OP(repeat, "repeat(Tensor self, SymInt[] repeats) -> Tensor",
   "Copies laid side by side along each dim.", 0, repeat_meta, repeat_kernel,
   repeat_grad, repeat_samples, .strategy = repeat_strategy);
OP(constant_pad_nd, "constant_pad_nd(Tensor self, SymInt[] pad, "
   "Scalar value=0) -> Tensor",
   "A number added around the last dims; negative cuts.", 0, pad_meta,
   pad_kernel, pad_grad, pad_samples, .rulefn = pad_rules);
