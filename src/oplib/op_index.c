/* SPDX-License-Identifier: MIT
** oplib/op_index.c: elements chosen by index tensors along one dim: gather,
** scatter, index_select, index_add.
**
** Indices count in the global tensor, so an indexed dim stays whole, with one
** exception: gather of a single element from a cut dim looks up what it has,
** masks the rest and leaves a masked partial. */
#include "base/error_tool.h"
#include "oplib/oplib_int.h"

#include <string.h>


static DtStatus check_index (DtCtx *cx, const DtMeta *m, const char *text) {
  DT_CHECK(cx, m->dtype == DT_I64 || m->dtype == DT_I32, DT_E_RUNTIME, "%s",
           text);
  return DT_OK;
}

/* ---- gather, scatter, scatter_add ---- */

static DtStatus gather_meta (DtMetaCall *c) {
  int d;
  const DtMeta *x = dt_in(c, 2);
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->ndim, &d));
  if (!c->fake && dt_meta_numel(x) > 0)
    DT_TRY(c->cx, check_index(c->cx, x, "gather(): Expected dtype int32/int64 "
                              "for index"));
  DT_CHECK(c->cx, (x->ndim ? x->ndim : 1) ==
                  (c->in[0]->ndim ? c->in[0]->ndim : 1) ||
                  dt_meta_numel(x) == 0, DT_E_RUNTIME,
           "Index tensor must have the same number of dimensions as input "
           "tensor");
  OpText xt = op_size_text(c, x), mt = op_size_text(c, c->in[0]);
  for (int i = 0; dt_meta_numel(x) > 0 && i < x->ndim; i++)
    DT_CHECK(c->cx, i == d || x->shape[i] <= (c->in[0]->ndim
                                              ? c->in[0]->shape[i] : 1),
             DT_E_RUNTIME, "Size does not match at dimension %d expected "
             "index %s to be no larger than self %s apart from dimension %d",
             i, xt.s, mt.s, d);
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)c->in[0]->dtype, x->ndim,
                     x->shape, c->in[0]);
}
static DtStatus gather_kernel (DtKernelCall *c) {
  int d;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->m.ndim, &d));
  return dt_k_gather(c->cx, c->in[0], d, dt_kin(c, 2), c->out[0]);
}

static void same_row (DtPlacement *row, int n, DtPlacement p) {
  for (int i = 0; i < n; i++) row[i] = p;
}

static DtStatus gather_strategy (DtStratCall *c) {
  DtPlacement rows[3 * (DT_MAX_NDIM + 3)];
  const DtMeta *m = &c->in[0]->meta, *x = &c->in[1]->meta;
  DtMaskBuf *mask = NULL;
  int d, n = 0;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, m->ndim, &d));
  same_row(rows + 3 * n++, 3, dt_pl_replicate());
  if (d < x->ndim && x->shape[d] == 1) {
    mask = dt_mask_new(c->cx, m->ndim, m->shape, d);
    if (!mask) return DT_E_NOMEM;
    same_row(rows + 3 * n, 3, dt_pl_mask(DT_OP_SUM, mask));
    rows[3 * n++ + 1] = dt_pl_shard(d);
  }
  same_row(rows + 3 * n, 3, dt_pl_shard(d));
  rows[3 * n++ + 1] = dt_pl_replicate();
  for (int i = 0; m->ndim == x->ndim && i < m->ndim; i++)
    if (i != d) same_row(rows + 3 * n++, 3, dt_pl_shard(i));
  DtStatus st = op_s_rows(c, n, rows, false);
  if (mask) dt_mask_unref(c->cx, mask);
  return st;
}

static DtStatus gather_grad (DtGradCall *c) {
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, dt_gin(c, 0)));
  DtHandle *z = EMIT("aten.new_zeros.default", "tI", GOUT, (int)m.ndim,
                     m.shape);
  op_g_set(c, 0, EMIT("aten.scatter_add.default", "tvtt", z, c->args->v[1],
                      dt_gin(c, 2), GOUT));
  return op_g_finish(c);
}

/* Row: is it an addition. */
static const int row_set[] = { DT_SC_SET }, row_add[] = { DT_SC_ADD };

/* The forms that say in words what they do. */
static DtStatus scatter_word (DtCtx *cx, const DtArgs *a, DtScatter *f) {
  const char *word = dt_arg_str(a, 4);
  *f = word && strcmp(word, "add") == 0 ? DT_SC_ADD : DT_SC_MUL;
  DT_CHECK(cx, *f == DT_SC_ADD || (word && strcmp(word, "multiply") == 0),
           DT_E_RUNTIME, "reduce argument must be either add or multiply.");
  return DT_OK;
}

/* PyTorch's propagation looks at self and then at the source, the CPU's check
** at both together. */
DtStatus op_scatter_fits (DtMetaCall *c, int d, const DtMeta *x,
                          const DtMeta *s) {
  const DtMeta *m = c->in[0];
  int nx = x->ndim ? x->ndim : 1;
  bool in_self = true, in_src = true;
  if (dt_meta_numel(x) == 0) return DT_OK;
  DT_CHECK(c->cx, nx == (m->ndim ? m->ndim : 1), DT_E_RUNTIME,
           "Index tensor must have the same number of dimensions as self "
           "tensor");
  for (int i = 0; i < nx; i++)          /* a 0-dim one is as long as 1 */
    in_self &= i == d || (x->ndim ? x->shape[i] : 1) <=
                         (m->ndim ? m->shape[i] : 1);
  OpText xt = op_size_text(c, x), mt = op_size_text(c, m);
  DT_CHECK(c->cx, in_self || (s && !c->fake), DT_E_RUNTIME, "Expected index %s "
           "to be no larger than self %s apart from dimension %d", xt.s, mt.s,
           d);
  if (!s) return DT_OK;
  DT_CHECK(c->cx, (s->ndim ? s->ndim : 1) == nx, DT_E_RUNTIME,
           "Index tensor must have the same number of dimensions as src "
           "tensor");
  for (int i = 0; i < nx; i++)
    in_src &= (x->ndim ? x->shape[i] : 1) <= (s->ndim ? s->shape[i] : 1);
  OpText st = op_size_text(c, s);
  DT_CHECK(c->cx, in_src || !c->fake, DT_E_RUNTIME, "Expected index %s to be "
           "no larger than src %s", xt.s, st.s);
  DT_CHECK(c->cx, in_self && in_src, DT_E_RUNTIME, "Expected index %s to be no "
           "larger than self %s apart from dimension %d and to be no larger "
           "size than src %s", xt.s, mt.s, d, st.s);
  return DT_OK;
}

static DtStatus scatter_meta (DtMetaCall *c) {
  int d;
  const DtMeta *m = c->in[0], *x = dt_in(c, 2), *s = dt_in(c, 3);
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, m->ndim, &d));
  if (!c->fake && dt_meta_numel(x) > 0)
    DT_TRY(c->cx, check_index(c->cx, x, "scatter(): Expected dtype int32/"
                              "int64 for index"));
  DT_CHECK(c->cx, !s || s->dtype == m->dtype, DT_E_RUNTIME,
           "scatter(): Expected self.dtype to be equal to src.dtype");
  DT_TRY(c->cx, op_scatter_fits(c, d, x, s));
  return op_meta_plain(c);
}

/* A number as source: read everywhere through strides of 0. */
static DtStatus scatter_kernel (DtKernelCall *c) {
  int d;
  OpNumber num;
  DtTensor *src = dt_kin(c, 3), *x = dt_kin(c, 2), fake;
  DtScatter f = c->op->row ? (DtScatter)c->op->row[0] : DT_SC_SET;
  if (!c->op->row) DT_TRY(c->cx, scatter_word(c->cx, c->args, &f));
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->m.ndim, &d));
  if (c->out[0] != c->in[0]) DT_TRY(c->cx, op_k_copy0(c));
  if (!src) {
    fake = *op_number(&num, dt_arg_scalar(c->args, 3),
                      (DtDtype)c->out[0]->m.dtype);
    fake.m.ndim = x->m.ndim;
    memcpy(fake.m.shape, x->m.shape, sizeof(int64_t) * x->m.ndim);
    memset(fake.m.stride, 0, sizeof(int64_t) * x->m.ndim);
    src = &fake;
  }
  return dt_k_scatter(c->cx, f, c->out[0], d, x, src);
}

static DtStatus scatter_strategy (DtStratCall *c) {
  DtPlacement rows[4 * (DT_MAX_NDIM + 1)];
  const DtMeta *m = &c->in[0]->meta, *x = &c->in[1]->meta;
  const DtMeta *s = c->nin > 2 ? &c->in[2]->meta : NULL;
  bool add = c->op->row[0] == DT_SC_ADD;
  int d, n = 0, w = 1 + c->nin;
  DT_ASSERT(c->cx, w <= 4);
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, m->ndim, &d));
  same_row(rows + w * n++, w, dt_pl_replicate());
  for (int i = 0; m->ndim == x->ndim && i < m->ndim; i++) {
    if (i == d || m->shape[i] != x->shape[i]) continue;
    if (s && !add && s->shape[i] != x->shape[i]) continue;
    same_row(rows + w * n++, w, dt_pl_shard(i));
  }
  return op_s_rows(c, n, rows, (c->op->flags & DT_OP_INPLACE) && !add);
}

static DtStatus scatter_grad (DtGradCall *c) {
  if (op_g_need(c, 0))
    op_g_set(c, 0, c->op->row[0] == DT_SC_ADD ? GOUT
             : EMIT("aten.scatter.value", "tvti", GOUT, c->args->v[1],
                    dt_gin(c, 2),
                    (int64_t)0));
  if (op_g_need(c, 3))
    op_g_set(c, 3, EMIT("aten.gather.default", "tvt", GOUT, c->args->v[1],
                        dt_gin(c, 2)));
  return op_g_finish(c);
}

/* ---- index_select, index_add ---- */

/* Propagation puts the number of indices into the list of sizes. */
static DtStatus iselect_fake (DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  int64_t shape[DT_MAX_NDIM], d = dt_arg_int(c->args, 1);
  memcpy(shape, m->shape, sizeof(int64_t) * m->ndim);
  if (m->ndim > 0) {
    if (d < 0) d += m->ndim;
    DT_CHECK(c->cx, d >= 0 && d < m->ndim, DT_E_INDEX,
             "list assignment index out of range");
    shape[d] = dt_meta_numel(dt_in(c, 2));
  }
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, m->ndim, shape, m);
}

static DtStatus iselect_meta (DtMetaCall *c) {
  int d;
  int64_t shape[DT_MAX_NDIM];
  const DtMeta *m = c->in[0], *x = dt_in(c, 2);
  if (c->fake) return iselect_fake(c);
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, m->ndim, &d));
  DT_TRY(c->cx, check_index(c->cx, x, "index_select(): Expected dtype int32 "
                            "or int64 for index"));
  DT_CHECK(c->cx, x->ndim <= 1, DT_E_INDEX,
           "index_select(): Index is supposed to be a vector");
  DT_CHECK(c->cx, m->ndim > 0 || dt_meta_numel(x) == 1, DT_E_RUNTIME,
           "index_select(): Index to scalar can have only 1 value, got %lld "
           "value(s)", (long long)dt_meta_numel(x));
  DT_CHECK(c->cx, m->ndim == 0 || m->shape[d] > 0 || dt_meta_numel(x) == 0,
           DT_E_RUNTIME,
           "index_select(): self indexing axis dim should be positive");
  memcpy(shape, m->shape, sizeof(int64_t) * m->ndim);
  if (m->ndim) shape[d] = dt_meta_numel(x);
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, m->ndim, shape, m);
}
static DtStatus iselect_kernel (DtKernelCall *c) {
  int d;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->m.ndim, &d));
  return dt_k_index_select(c->cx, c->in[0], d, dt_kin(c, 2), c->out[0]);
}
static DtStatus iselect_rules (DtRuleCall *c) {
  static const DtRedOp ops[] = { DT_OP_SUM, DT_OP_AVG, DT_OP_MIN, DT_OP_MAX,
                                 DT_OP_PRODUCT };
  int d, nd = c->in[0]->ndim;
  if (nd == 0) return c->rows->st;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, nd, &d));
  for (int i = 0; i < nd; i++) {
    DtCell row[3] = { dt_c_s(i), dt_c_s(i), dt_c_r() };
    if (i != d) dt_rows_add(c->rows, row);
  }
  DtCell cut[3] = { dt_c_s(d), dt_c_r(), dt_c_s(0) };
  dt_rows_add(c->rows, cut);
  for (int i = 0; i < 5; i++) {
    DtCell row[3] = { dt_c_p(ops[i]), dt_c_p(ops[i]), dt_c_r() };
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}
static DtStatus iselect_grad (DtGradCall *c) {
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, dt_gin(c, 0)));
  DtHandle *z = EMIT("aten.new_zeros.default", "tI dtype=d", GOUT, (int)m.ndim,
                     m.shape, (int)m.dtype);
  op_g_set(c, 0, EMIT("aten.index_add.default", "tvtt", z, c->args->v[1],
                      dt_gin(c, 2), GOUT));
  return op_g_finish(c);
}

/* Two sources with checks of their own: torch/_decomp/decompositions.py:
** _index_add in propagation, native/TensorAdvancedIndexing.cpp:
** index_func_meta_impl in execution. */
static DtStatus iadd_meta (DtMetaCall *c) {
  int d;
  const DtMeta *m = c->in[0], *x = dt_in(c, 2), *s = dt_in(c, 3);
  bool ok;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, m->ndim, &d));
  if (c->fake) {
    int64_t k = x->ndim ? x->shape[0] : 1, size = 1;
    DT_CHECK(c->cx, x->ndim <= 1, DT_E_RUNTIME,
             "Index should have dimension 1 or 0 (got %d)", x->ndim);
    if (s->ndim > 0) {
      DT_TRY(c->cx, op_has_dim(c->cx, s, d));
      size = s->shape[d];
    }
    DT_CHECK(c->cx, k == size, DT_E_RUNTIME, "Number of indices (%lld) should "
             "be equal to tensor.size(dim) (%lld), for dim=%d", (long long)k,
             (long long)size, d);
    return op_meta_same(c);
  }
  DT_CHECK(c->cx, x->ndim <= 1, DT_E_INDEX, "index_add_(): Index is supposed "
           "to be a vector, but got dim: %d with type: %s and size: %s",
           x->ndim, op_dtype_word((DtDtype)x->dtype), op_shape_text(x).s);
  DT_CHECK(c->cx, x->dtype == DT_I64 || x->dtype == DT_I32, DT_E_RUNTIME,
           "index_add_(): Expected dtype int32/int64 for index but got: %s",
           op_dtype_word((DtDtype)x->dtype));
  DT_CHECK(c->cx, s->dtype == m->dtype, DT_E_RUNTIME, "index_add_(): self (%s) "
           "and source (%s) must have the same scalar type",
           op_dtype_word((DtDtype)m->dtype), op_dtype_word((DtDtype)s->dtype));
  DT_CHECK(c->cx, d == 0 || d < s->ndim, DT_E_RUNTIME, "index_add_(): "
           "Indexing dim %d is out of bounds of the source tensor with dim %d",
           d, s->ndim);
  int64_t have = s->ndim ? s->shape[d] : 1;
  if (s->ndim == 0 && dt_meta_numel(x) != 1)
    DT_TRY(c->cx, op_has_dim(c->cx, s, d));
  DT_CHECK(c->cx, dt_meta_numel(x) == have, DT_E_RUNTIME, "index_add_(): "
           "Number of indices (%lld) should be equal to source.size(dim): "
           "(%lld), for dim: %d", (long long)dt_meta_numel(x),
           (long long)have, d);
  ok = m->ndim == s->ndim;
  for (int i = 0; ok && i < m->ndim; i++)
    ok = i == d || m->shape[i] == s->shape[i];
  OpText a = op_shape_text(m), b = op_shape_text(s);
  DT_CHECK(c->cx, ok, DT_E_RUNTIME, "source tensor shape must match self "
           "tensor shape, excluding the specified dimension. Got self.shape = "
           "%s source.shape = %s", a.s, b.s);
  return op_meta_plain(c);
}
static DtStatus iadd_kernel (DtKernelCall *c) {
  int d;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->m.ndim, &d));
  if (c->out[0] != c->in[0]) DT_TRY(c->cx, op_k_copy0(c));
  DT_TRY(c->cx, op_number_fits(c->cx, dt_arg_scalar(c->args, 4),
                               (DtDtype)c->in[0]->m.dtype));
  return dt_k_index_add(c->cx, c->out[0], d, dt_kin(c, 2), dt_kin(c, 3),
                        dt_arg_scalar(c->args, 4));
}
/* PyTorch's decomposition: index_put with accumulation. */
static DtStatus iadd_decomp (DtDecompCall *c) {
  DtHandle *at[DT_MAX_NDIM], *src = dt_hin(c, 3), *x = c->in[0];
  int d, nd = dt_emit_meta(c->e, c->in[0])->ndim;
  DT_TRY(c->e->cx, op_dim(c->e->cx, c->args, 1, nd, &d));
  if (dt_arg_float(c->args, 4) != 1)
    src = EMIT("aten.mul.Scalar", "tv", src, c->args->v[4]);
  for (int i = 0; i < d; i++) at[i] = NULL;
  at[d] = dt_hin(c, 2);
  if (nd == 0) x = EMIT("aten.unsqueeze.default", "ti", x, (int64_t)0);
  x = EMIT("aten.index_put.default", "tTtb", x, d + 1, at, src, 1);
  if (nd == 0) x = EMIT("aten.squeeze.dim", "ti", x, (int64_t)0);
  c->out[0] = x;
  c->nout = 1;
  return c->e->st;
}

static DtStatus iadd_inplace_decomp (DtDecompCall *c) {
  DT_TRY(c->e->cx, iadd_decomp(c));
  c->out[0] = EMIT("aten.copy_.default", "tt", c->in[0], c->out[0]);
  return c->e->st;
}
static DtStatus iadd_grad (DtGradCall *c) {
  op_g_set(c, 0, GOUT);
  if (op_g_need(c, 3)) {
    const DtMeta *src = dt_emit_meta(c->e, dt_gin(c, 3));
    DtHandle *x = dt_gin(c, 2), *g;
    if (src->ndim == 0)
      x = EMIT("aten.squeeze.dim", "ti", x, (int64_t)0);
    g = EMIT("aten.index_select.default", "tvt", GOUT, c->args->v[1], x);
    if (src->ndim > 0)
      g = EMIT("aten.expand.default", "tI", g, (int)src->ndim, src->shape);
    op_g_set(c, 3, op_g_scale(c, g, 4));
  }
  return op_g_finish(c);
}

/* ---- samples and definitions ---- */

static const char *const gather_samples[] = {
  "f32[8, 6], 1, i64[8, 6]", "f32[7, 5], 0, i64[2, 5]", "f32[1], 0, i64[3]",
  "f32[4, 3], 1, i64[4, 1]", NULL
};
static const char *const scatter_samples[] = {
  "f32[8, 6], 1, i64[8, 6], f32[8, 6]", "f32[7, 5], 0, i64[2, 5], f32[2, 5]",
  "f32[4], 0, i64[0], f32[0]", NULL
};
static const char *const scatter_v_samples[] = {
  "f32[8, 6], 1, i64[8, 6], 2.0", "f32[7, 5], 0, i64[2, 5], 1.0", NULL
};
static const char *const scatter_r_samples[] = {
  "f32[8, 6], 1, i64[8, 6], f32[8, 6], reduce='add'", NULL
};
static const char *const scatter_vr_samples[] = {
  "f32[8, 6], 1, i64[8, 6], 2.0, reduce='multiply'", NULL
};
static const char *const iselect_samples[] = {
  "f32[8, 6], 0, i64[4]", "f32[7, 5], 1, i64[3]", "f32[4], 0, i64[0]", NULL
};
static const char *const iadd_samples[] = {
  "f32[8, 6], 0, i64[4], f32[4, 6]", "f32[7, 5], 1, i64[3], f32[7, 3]", NULL
};
static DtStatus scatter_r_grad (DtGradCall *c) {
  return dt_raise(c->e->cx, DT_E_AUTOGRAD,
                  "derivative for aten::scatter is not implemented");
}

#define OP(id, schema_, brief_, flags_, meta_, kernel_, grad_, samples_, ...) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = flags_, \
    .meta = meta_, .kernel = kernel_, .grad = grad_, .samples = samples_, \
    __VA_ARGS__ }

OP(gather, "gather(Tensor self, int dim, Tensor index, *, bool "
   "sparse_grad=False) -> Tensor", "Elements along a dim chosen by an index.",
   0, gather_meta, gather_kernel, gather_grad, gather_samples,
   .strategy = gather_strategy);
OP(scatter_src, "scatter.src(Tensor self, int dim, Tensor index, Tensor src) "
   "-> Tensor", "A copy with elements overwritten at an index.", 0,
   scatter_meta, scatter_kernel, scatter_grad, scatter_samples,
   .strategy = scatter_strategy, .row = row_set);
OP(scatter_value, "scatter.value(Tensor self, int dim, Tensor index, Scalar "
   "value) -> Tensor", "A copy with a number written at an index.", 0,
   scatter_meta, scatter_kernel, scatter_grad, scatter_v_samples,
   .strategy = scatter_strategy, .row = row_set);
OP(scatter_reduce, "scatter.reduce(Tensor self, int dim, Tensor index, Tensor "
   "src, *, str reduce) -> Tensor", "A copy with elements added or multiplied "
   "at an index.", DT_OP_NOSTRATEGY, scatter_meta, scatter_kernel,
   scatter_r_grad, scatter_r_samples, .row = NULL);
OP(scatter_value_reduce, "scatter.value_reduce(Tensor self, int dim, Tensor "
   "index, Scalar value, *, str reduce) -> Tensor", "A copy with a number "
   "added or multiplied at an index.", DT_OP_NOSTRATEGY, scatter_meta,
   scatter_kernel, scatter_r_grad, scatter_vr_samples, .row = NULL);
OP(scatter_add, "scatter_add(Tensor self, int dim, Tensor index, Tensor src) "
   "-> Tensor", "A copy with elements added at an index.", 0, scatter_meta,
   scatter_kernel, scatter_grad, scatter_samples,
   .strategy = scatter_strategy, .row = row_add);
OP(index_select, "index_select(Tensor self, int dim, Tensor index) -> Tensor",
   "Slices of a dim chosen by a vector.", 0, iselect_meta, iselect_kernel,
   iselect_grad, iselect_samples, .rulefn = iselect_rules);
OP(index_add, "index_add(Tensor self, int dim, Tensor index, Tensor source, "
   "*, Scalar alpha=1) -> Tensor", "A copy with slices added at a vector of "
   "indices.", 0, iadd_meta, iadd_kernel, iadd_grad,
   iadd_samples, .decomp = iadd_decomp);
OP(index_add_, "index_add_(Tensor(a!) self, int dim, Tensor index, Tensor "
   "source, *, Scalar alpha=1) -> Tensor(a!)",
   "Slices added at a vector of indices, in place.", DT_OP_INPLACE, iadd_meta,
   iadd_kernel, iadd_grad, iadd_samples, .decomp = iadd_inplace_decomp);
