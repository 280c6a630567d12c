/* SPDX-License-Identifier: MIT
** oplib/op_index.c: elements chosen by index tensors: gather, scatter,
** index_select, index_add, advanced indexing.
**
** Indices count in the global tensor, so an indexed dim stays whole, with one
** exception: gather of a single element from a cut dim looks up what it has,
** masks the rest and leaves a masked partial.  Advanced indexing puts
** the block of index dims where the indexed dims stood when these are
** adjacent, else in front. */
#include "oplib/oplib_int.h"

#include <math.h>
#include <string.h>

#define E(...) dt_emit(c->e, __VA_ARGS__)
#define G (c->gout[0])

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
  if (!c->fake)
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
  DtHandle *z = E("aten.new_zeros.default", "tI", G, (int)m.ndim, m.shape);
  op_g_set(c, 0, E("aten.scatter_add.default", "tvtt", z, c->args->v[1],
                   dt_gin(c, 2), G));
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
  if (!c->fake)
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
    op_g_set(c, 0, c->op->row[0] == DT_SC_ADD ? G
             : E("aten.scatter.value", "tvti", G, c->args->v[1], dt_gin(c, 2),
                 (int64_t)0));
  if (op_g_need(c, 3))
    op_g_set(c, 3, E("aten.gather.default", "tvt", G, c->args->v[1],
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
  DtHandle *z = E("aten.new_zeros.default", "tI dtype=d", G, (int)m.ndim,
                  m.shape, (int)m.dtype);
  op_g_set(c, 0, E("aten.index_add.default", "tvtt", z, c->args->v[1],
                   dt_gin(c, 2), G));
  return op_g_finish(c);
}

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
  return dt_k_index_add(c->cx, c->out[0], d, dt_kin(c, 2), dt_kin(c, 3),
                        dt_arg_scalar(c->args, 4));
}
/* PyTorch's decomposition: index_put with accumulation. */
static DtStatus iadd_decomp (DtDecompCall *c) {
  DtHandle *at[DT_MAX_NDIM], *src = dt_hin(c, 3), *x = c->in[0];
  int d, nd = dt_emit_meta(c->e, c->in[0])->ndim;
  DT_TRY(c->e->cx, op_dim(c->e->cx, c->args, 1, nd, &d));
  if (dt_arg_float(c->args, 4) != 1)
    src = E("aten.mul.Scalar", "tv", src, c->args->v[4]);
  for (int i = 0; i < d; i++) at[i] = NULL;
  at[d] = dt_hin(c, 2);
  if (nd == 0) x = E("aten.unsqueeze.default", "ti", x, (int64_t)0);
  x = E("aten.index_put.default", "tTtb", x, d + 1, at, src, 1);
  if (nd == 0) x = E("aten.squeeze.dim", "ti", x, (int64_t)0);
  c->out[0] = x;
  c->nout = 1;
  return c->e->st;
}

static DtStatus iadd_inplace_decomp (DtDecompCall *c) {
  DT_TRY(c->e->cx, iadd_decomp(c));
  c->out[0] = E("aten.copy_.default", "tt", c->in[0], c->out[0]);
  return c->e->st;
}
static DtStatus iadd_grad (DtGradCall *c) {
  op_g_set(c, 0, G);
  if (op_g_need(c, 3)) {
    const DtMeta *src = dt_emit_meta(c->e, dt_gin(c, 3));
    DtHandle *g = E("aten.index_select.default", "tvt", G, c->args->v[1],
                    dt_gin(c, 2));
    if (src->ndim > 0)
      g = E("aten.expand.default", "tI", g, (int)src->ndim, src->shape);
    op_g_set(c, 3, op_g_scale(c, g, 4));
  }
  return op_g_finish(c);
}

/* ---- advanced indexing ---- */

typedef struct Adv {
  int n, slot[DT_MAX_NDIM];     /* per dim; -1 = ':' */
  int nindex, first, at;        /* how many, the first, where the block goes */
  bool adjacent;
  DtMeta block;                 /* broadcast indices */
} Adv;

static bool broadcasts (const DtMeta *a, const DtMeta *b) {
  for (int i = 1; i <= a->ndim && i <= b->ndim; i++) {
    int64_t x = a->shape[a->ndim - i], y = b->shape[b->ndim - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

/* Broadcast two indices; the refusal names them all. */
static DtStatus adv_broadcast (DtCtx *cx, const DtArgs *a,
                               const DtMeta *const *in, const DtMeta *x,
                               const DtMeta *y, DtMeta *r) {
  int slot[DT_MAX_NDIM], n;
  DtBuf b;
  DtStatus st;
  if (broadcasts(x, y)) return dt_meta_broadcast(cx, x, y, r);
  n = dt_arg_slots(a, 1, slot, DT_MAX_NDIM);
  dt_buf_init(&b, cx);
  for (int i = 0, k = 0; i < n; i++) {
    if (slot[i] < 0) continue;
    dt_buf_add(&b, k++ ? ", " : "");
    dt_buf_add(&b, op_shape_text(in[slot[i]]).s);
  }
  st = dt_raise(cx, DT_E_INDEX, "shape mismatch: indexing tensors could not be "
                "broadcast together with shapes %s", dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}

static bool is_mask (const DtMeta *m) {
  return m->dtype == DT_BOOL || m->dtype == DT_U8;
}

/* The indices of a call; `masks`: a mask counts as an index of one dim with
** the mask's shape, as PyTorch's sharding rule has it. */
static DtStatus adv_scan (DtCtx *cx, const DtArgs *a, int self_ndim,
                          const DtMeta *const *in, bool masks, Adv *v) {
  int last = -1, count[2] = { dt_arg_len(a, 1), 0 };
  bool any = false;
  v->n = dt_arg_slots(a, 1, v->slot, DT_MAX_NDIM);
  for (int i = 0; i < v->n; i++)
    if (v->slot[i] >= 0 && !masks && is_mask(in[v->slot[i]]))
      return dt_raise(cx, DT_E_RUNTIME, "aten.nonzero.default");
  DT_CHECK(cx, count[0] <= self_ndim, DT_E_INDEX,
           "too many indices for tensor of dimension %d (got %d)", self_ndim,
           count[0]);
  v->nindex = 0;
  v->first = -1;
  v->adjacent = true;
  for (int i = 0; i < v->n; i++) {
    if (v->slot[i] < 0) continue;
    const DtMeta *m = in[v->slot[i]];
    DT_CHECK(cx, m->dtype == DT_I64 || m->dtype == DT_I32
             || (masks && is_mask(m)), DT_E_INDEX,
             "tensors used as indices must be long, int, byte or bool "
             "tensors");
    if (v->first < 0) v->first = i;
    if (last >= 0 && last != i - 1) v->adjacent = false;
    last = i;
    v->nindex++;
    if (!any) {
      dt_meta_copy(&v->block, m);
      any = true;
    } else {
      DtMeta r;
      DT_TRY(cx, adv_broadcast(cx, a, in, &v->block, m, &r));
      dt_meta_copy(&v->block, &r);
    }
  }
  DT_CHECK(cx, any, DT_E_INDEX, "at least one index must be given");
  v->at = v->adjacent ? v->first : 0;
  return DT_OK;
}

static DtStatus adv_read (DtCtx *cx, const DtArgs *a, int self_ndim,
                          const DtMeta *const *in, Adv *v) {
  return adv_scan(cx, a, self_ndim, in, false, v);
}

/* Shape of self[indices]. */
static DtStatus adv_shape (DtCtx *cx, const DtMeta *m, const Adv *v,
                           int64_t *shape, int *n) {
  int k = 0;
  *n = 0;
  DT_CHECK(cx, m->ndim - v->nindex + v->block.ndim <= DT_MAX_NDIM, DT_E_LIMIT,
           "at most %d dimensions", DT_MAX_NDIM);
  for (int i = 0; i <= m->ndim; i++) {
    if (k == v->at) {
      for (int b = 0; b < v->block.ndim; b++)
        shape[(*n)++] = v->block.shape[b];
      k++;
    }
    if (i == m->ndim) break;
    if (i < v->n && v->slot[i] >= 0) continue;
    shape[(*n)++] = m->shape[i];
    k++;
  }
  return DT_OK;
}

/* PyTorch's meta function takes the broadcast shape from the last index, and
** leaves one without dims as it is. */
static bool ends_in_number (const DtMetaCall *c, const Adv *v) {
  int i = v->n - 1;
  while (i >= 0 && v->slot[i] < 0) i--;
  return i >= 0 && c->in[v->slot[i]]->ndim == 0;
}

static DtStatus index_meta (DtMetaCall *c) {
  Adv v;
  int64_t shape[DT_MAX_NDIM];
  int n;
  DT_TRY(c->cx, adv_read(c->cx, c->args, c->in[0]->ndim, c->in, &v));
  if (c->fake && ends_in_number(c, &v)) v.block.ndim = 0;
  DT_TRY(c->cx, adv_shape(c->cx, c->in[0], &v, shape, &n));
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)c->in[0]->dtype, n, shape,
                     c->in[0]);
}

/* The index tensors of a call, a mask replaced by the places where it is true:
** one tensor for each of its dims.  Holds references. */
typedef struct AdvIndex { int n; DtTensor *t[DT_MAX_NDIM]; } AdvIndex;

static void adv_fini (DtCtx *cx, AdvIndex *x) {
  for (int i = 0; i < x->n; i++) dt_tensor_unref(cx, x->t[i]);
}

static DtStatus adv_mask (DtCtx *cx, const DtMeta *self, const DtTensor *mask,
                          int at, AdvIndex *x) {
  int64_t shape[2] = { dt_k_count_true(mask), mask->m.ndim };
  int64_t stride = mask->m.ndim;
  DtTensor *places = NULL;
  DtStatus st;
  for (int d = 0; d < mask->m.ndim; d++)
    DT_CHECK(cx, d + x->n < self->ndim && mask->m.shape[d] ==
                 self->shape[d + x->n], DT_E_INDEX, "The shape of the mask %s "
             "at index %d does not match the shape of the indexed tensor %s at "
             "index %d", op_shape_text(&mask->m).s, d, op_shape_text(self).s,
             d + at);
  DT_TRYG(cx, op_temp(cx, DT_I64, 2, shape, &places));
  DT_TRYG(cx, dt_k_nonzero(cx, mask, places));
  for (int d = 0; d < mask->m.ndim; d++) {
    DT_TRYG(cx, op_restride(cx, places, 1, shape, &stride, d, &x->t[x->n]));
    x->n++;
  }
done:
  dt_tensor_unref(cx, places);
  return st;
}

static DtStatus adv_expand (DtCtx *cx, const DtArgs *a, DtTensor *const *in,
                            AdvIndex *x) {
  int slot[DT_MAX_NDIM], n = dt_arg_slots(a, 1, slot, DT_MAX_NDIM);
  const DtMeta *self = &in[0]->m;
  x->n = 0;
  DT_CHECK(cx, dt_arg_len(a, 1) <= DT_MAX_NDIM, DT_E_INDEX,
           "too many indices for tensor of dimension %d (got %d)", self->ndim,
           dt_arg_len(a, 1));
  for (int i = 0; i < n; i++) {
    DtTensor *t = slot[i] < 0 ? NULL : in[slot[i]];
    DT_CHECK(cx, x->n < DT_MAX_NDIM, DT_E_INDEX,
             "too many indices for tensor of dimension %d (got %d)",
             self->ndim, n);
    if (t && is_mask(&t->m)) DT_TRY(cx, adv_mask(cx, self, t, x->n, x));
    else x->t[x->n++] = t ? dt_tensor_ref(t) : NULL;
  }
  return DT_OK;
}

/* Read the expanded list. */
static DtStatus adv_read_expanded (DtCtx *cx, const DtArgs *a,
                                   const DtMeta *self, const AdvIndex *x,
                                   Adv *v) {
  const DtMeta *m[DT_MAX_NDIM + 1];
  DtValue list[DT_MAX_NDIM];
  DtArgs args = { .schema = a->schema, .n = 2 };
  m[0] = self;
  for (int i = 0; i < x->n; i++) {
    list[i] = x->t[i] ? dt_v_slot(i + 1) : dt_v_none();
    m[i + 1] = x->t[i] ? &x->t[i]->m : NULL;
  }
  args.v[0] = dt_v_slot(0);
  args.v[1] = dt_v_list(x->n, list);
  return adv_read(cx, &args, self->ndim, m, v);
}

static bool adv_has_mask (const DtArgs *a, const DtMeta *const *in) {
  int slot[DT_MAX_NDIM], n = dt_arg_slots(a, 1, slot, DT_MAX_NDIM);
  for (int i = 0; i < n && i < DT_MAX_NDIM; i++)
    if (slot[i] >= 0 && is_mask(in[slot[i]])) return true;
  return false;
}

static DtStatus index_kernel (DtKernelCall *c) {
  Adv v;
  AdvIndex x;
  DtMeta m;
  int64_t shape[DT_MAX_NDIM];
  int n;
  DtStatus st;
  DT_TRYG(c->cx, adv_expand(c->cx, c->args, c->in, &x));
  DT_TRYG(c->cx, adv_read_expanded(c->cx, c->args, &c->in[0]->m, &x, &v));
  DT_TRYG(c->cx, adv_shape(c->cx, &c->in[0]->m, &v, shape, &n));
  DT_TRYG(c->cx, op_new_meta(c->cx, &m, (DtDtype)c->in[0]->m.dtype, n, shape,
                             &c->in[0]->m));
  DT_TRYG(c->cx, dt_tensor_new(c->cx, &m, false, &c->made[0]));
  DT_TRYG(c->cx, dt_k_index(c->cx, c->in[0], v.n,
                            (const DtTensor *const *)x.t, v.at, c->made[0]));
done:
  adv_fini(c->cx, &x);
  return st;
}

static int indexed_before (const Adv *v, int d) {
  int n = 0;
  for (int i = 0; i < v->n && i < d; i++) n += v->slot[i] >= 0;
  return n;
}

static DtStatus index_rules (DtRuleCall *c) {
  static const DtRedOp ops[] = { DT_OP_SUM, DT_OP_AVG };
  Adv v;
  DtCell row[DT_MAX_NDIM + 2];
  DT_TRY(c->cx, adv_read(c->cx, c->args, c->in[0]->ndim, c->in, &v));
  for (int d = 0; d < c->in[0]->ndim; d++) {
    if (d < v.n && v.slot[d] >= 0) continue;
    int o = d < v.at ? d : d + v.block.ndim - indexed_before(&v, d);
    row[0] = dt_c_s(o);
    row[1] = dt_c_s(d);
    for (int i = 0; i < v.nindex; i++) row[2 + i] = dt_c_r();
    dt_rows_add(c->rows, row);
  }
  for (int b = 0; b < v.block.ndim; b++) {
    int n = 2;
    bool cut = false;
    row[0] = dt_c_s(b + v.at);
    row[1] = dt_c_r();
    for (int i = 0; i < v.n; i++) {
      if (v.slot[i] < 0) continue;
      const DtMeta *m = c->in[v.slot[i]];
      int d = b - (v.block.ndim - m->ndim);
      bool whole = d < 0 || m->shape[d] <= 1;
      cut |= d >= 0 && m->shape[d] != 1;
      row[n++] = whole ? dt_c_r() : dt_c_s(d);
    }
    if (cut) dt_rows_add(c->rows, row);
  }
  for (int k = 0; k < 2; k++) {
    row[0] = row[1] = dt_c_p(ops[k]);
    for (int i = 0; i < v.nindex; i++) row[2 + i] = dt_c_r();
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

/* Handles of the index list of the call. */
static int index_handles (DtGradCall *c, DtHandle **h) {
  int slot[DT_MAX_NDIM], n = dt_arg_slots(c->args, 1, slot, DT_MAX_NDIM);
  for (int i = 0; i < n; i++) h[i] = slot[i] < 0 ? NULL : c->in[slot[i]];
  return n;
}

static DtStatus index_grad (DtGradCall *c) {
  DtHandle *h[DT_MAX_NDIM];
  DtMeta m;
  int n = index_handles(c, h);
  dt_meta_copy(&m, dt_emit_meta(c->e, dt_gin(c, 0)));
  DtHandle *z = E("aten.new_zeros.default", "tI dtype=d", G, (int)m.ndim,
                  m.shape, (int)m.dtype);
  op_g_set(c, 0, E("aten.index_put.default", "tTtb", z, n, h, G, 1));
  return op_g_finish(c);
}

static DtStatus put_dtype (DtCtx *cx, const DtMeta *into, const DtMeta *val) {
  DT_CHECK(cx, val->dtype == into->dtype, DT_E_RUNTIME,
           "Index put requires the source and destination dtypes match, got "
           "%s for the destination and %s for the source.",
           op_dtype_word((DtDtype)into->dtype),
           op_dtype_word((DtDtype)val->dtype));
  return DT_OK;
}

static DtStatus put_meta (DtMetaCall *c) {
  Adv v;
  DtMeta want, r;
  int64_t shape[DT_MAX_NDIM];
  int n;
  const DtMeta *val = dt_in(c, 2);
  if (c->fake) return op_meta_same(c);
  if (adv_has_mask(c->args, c->in)) return op_meta_same(c);
  DT_TRY(c->cx, adv_read(c->cx, c->args, c->in[0]->ndim, c->in, &v));
  DT_TRY(c->cx, adv_shape(c->cx, c->in[0], &v, shape, &n));
  if (val) {
    DT_TRY(c->cx, dt_meta_init(c->cx, &want, (DtDtype)val->dtype, n, shape));
    OpText a = op_shape_text(val), b = op_shape_text(&want);
    bool fits = broadcasts(&want, val);
    if (fits) DT_TRY(c->cx, dt_meta_broadcast(c->cx, &want, val, &r));
    DT_CHECK(c->cx, fits && dt_meta_same_shape(&r, &want), DT_E_RUNTIME,
             "shape mismatch: value tensor of shape %s cannot be broadcast to "
             "indexing result of shape %s", a.s, b.s);
    DT_TRY(c->cx, put_dtype(c->cx, c->in[0], val));
  }
  return op_meta_same(c);
}

/* What the shapes of masks could not tell put_meta. */
static DtStatus put_fits (DtKernelCall *c, const Adv *v, const DtMeta *val) {
  int64_t shape[DT_MAX_NDIM];
  int n;
  DtMeta want, r;
  DT_TRY(c->cx, adv_shape(c->cx, &c->in[0]->m, v, shape, &n));
  DT_TRY(c->cx, dt_meta_init(c->cx, &want, (DtDtype)val->dtype, n, shape));
  bool fits = broadcasts(&want, val);
  if (fits) DT_TRY(c->cx, dt_meta_broadcast(c->cx, &want, val, &r));
  DT_CHECK(c->cx, fits && dt_meta_same_shape(&r, &want), DT_E_RUNTIME,
           "shape mismatch: value tensor of shape %s cannot be broadcast to "
           "indexing result of shape %s", op_shape_text(val).s,
           op_shape_text(&want).s);
  return put_dtype(c->cx, &c->in[0]->m, val);
}

static DtStatus put_kernel (DtKernelCall *c) {
  Adv v;
  AdvIndex x;
  OpNumber num;
  const DtTensor *val = dt_kin(c, 2);
  DtStatus st;
  DT_TRYG(c->cx, adv_expand(c->cx, c->args, c->in, &x));
  DT_TRYG(c->cx, adv_read_expanded(c->cx, c->args, &c->in[0]->m, &x, &v));
  if (val) DT_TRYG(c->cx, put_fits(c, &v, &val->m));
  if (c->out[0] != c->in[0]) DT_TRYG(c->cx, op_k_copy0(c));
  if (!val)
    val = op_number(&num, dt_arg_scalar(c->args, 2),
                    (DtDtype)c->out[0]->m.dtype);
  DT_TRYG(c->cx, dt_k_index_put(c->cx, c->out[0], v.n,
                                (const DtTensor *const *)x.t, v.at, val,
                                dt_arg_bool(c->args, 3)));
done:
  adv_fini(c->cx, &x);
  return st;
}

static DtStatus put_rules (DtRuleCall *c) {
  Adv v;
  DtCell row[DT_MAX_NDIM + 3];
  const DtMeta *val = dt_rin(c, 2), *m = c->in[0];
  if (dt_arg_len(c->args, 1) > m->ndim) return c->rows->st;
  DT_TRY(c->cx, adv_scan(c->cx, c->args, m->ndim, c->in, true, &v));
  int result = v.block.ndim + m->ndim - v.nindex, plain = 0;
  for (int d = 0; d < m->ndim; d++) {
    if (d < v.n && v.slot[d] >= 0) continue;
    int o = !v.adjacent ? v.block.ndim + plain
          : d < v.first ? d : d - v.nindex + v.block.ndim;
    int at = val ? o - (result - val->ndim) : -1;
    plain++;
    row[0] = row[1] = dt_c_s(d);
    for (int i = 0; i < v.nindex; i++) row[2 + i] = dt_c_r();
    row[2 + v.nindex] = at < 0 || val->shape[at] == 1 ? dt_c_r() : dt_c_s(at);
    dt_rows_add(c->rows, row);
  }
  row[0] = row[1] = row[2 + v.nindex] = dt_c_p(DT_OP_SUM);
  for (int i = 0; i < v.nindex; i++) row[2 + i] = dt_c_r();
  dt_rows_add(c->rows, row);
  return c->rows->st;
}

static DtStatus put_grad (DtGradCall *c) {
  DtHandle *h[DT_MAX_NDIM];
  int n = index_handles(c, h);
  bool acc = dt_arg_bool(c->args, 3);
  if (op_g_need(c, 0)) {
    DtHandle *g = G;
    if (!acc) {
      DtMeta m;
      dt_meta_copy(&m, dt_emit_meta(c->e, dt_gin(c, 2)));
      DtHandle *z = E("aten.zeros.default", "I dtype=d", (int)m.ndim,
                      m.shape, (int)m.dtype);
      g = E("aten.index_put.default", "tTtb", g, n, h, z, 0);
    }
    op_g_set(c, 0, g);
  }
  if (op_g_need(c, 2)) op_g_set(c, 2, E("aten.index.Tensor", "tT", G, n, h));
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
static const char *const index_samples[] = {
  "f32[8, 6], [i64[4]]", "f32[7, 5], [None, i64[3]]",
  "f32[8, 6], [i64[4, 1], i64[1, 4]]", "f32[4, 5, 6], [i64[2], None, i64[2]]",
  "f32[4, 3], [i64[0]]", NULL
};
static const char *const put_samples[] = {
  "f32[8, 6], [i64[4]], f32[4, 6]", "f32[7, 5], [None, i64[3]], f32[3], true",
  "f32[4, 3], [i64[0]], f32[0, 3]", NULL
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
OP(index_Tensor, "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
   "Elements chosen by one index tensor for each dim.", DT_OP_DATADEP,
   index_meta,
   index_kernel, index_grad, index_samples, .rulefn = index_rules);
OP(index_put, "index_put(Tensor self, Tensor?[] indices, Tensor values, bool "
   "accumulate=False) -> Tensor", "A copy with elements written at index "
   "tensors.", 0, put_meta, put_kernel, put_grad, put_samples,
   .rulefn = put_rules);
OP(index_add_, "index_add_(Tensor(a!) self, int dim, Tensor index, Tensor "
   "source, *, Scalar alpha=1) -> Tensor(a!)",
   "Slices added at a vector of indices, in place.", DT_OP_INPLACE, iadd_meta,
   iadd_kernel, iadd_grad, iadd_samples, .decomp = iadd_inplace_decomp);
