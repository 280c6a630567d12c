/* SPDX-License-Identifier: MIT
** oplib/op_index_adv.c: advanced indexing: one index tensor for each dim.
**
** Indices count in the global tensor, so an indexed dim stays whole.  The block
** of index dims stands where the indexed dims stood when these are adjacent,
** else in front. */
#include "oplib/oplib_int.h"

#include <string.h>


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

/* x[index]: dimensions that no index touches may be cut; so may those of the
** indices themselves, whose dimensions are in the result as one block at
** `v.at`; and addends stay addends where the indices are whole. */
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
  DtHandle *z = EMIT("aten.new_zeros.default", "tI dtype=d", GOUT, (int)m.ndim,
                     m.shape, (int)m.dtype);
  op_g_set(c, 0, EMIT("aten.index_put.default", "tTtb", z, n, h, GOUT, 1));
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

/* What put_meta cannot know from the shapes of masks. */
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
    DtHandle *g = GOUT;
    if (!acc) {
      DtMeta m;
      dt_meta_copy(&m, dt_emit_meta(c->e, dt_gin(c, 2)));
      DtHandle *z = EMIT("aten.zeros.default", "I dtype=d", (int)m.ndim,
                         m.shape, (int)m.dtype);
      g = EMIT("aten.index_put.default", "tTtb", g, n, h, z, 0);
    }
    op_g_set(c, 0, g);
  }
  if (op_g_need(c, 2)) op_g_set(c, 2, EMIT("aten.index.Tensor", "tT", GOUT, n,
                                           h));
  return op_g_finish(c);
}

/* ---- samples and definitions ---- */

static const char *const index_samples[] = {
  "f32[8, 6], [i64[4]]", "f32[7, 5], [None, i64[3]]",
  "f32[8, 6], [i64[4, 1], i64[1, 4]]", "f32[4, 5, 6], [i64[2], None, i64[2]]",
  "f32[4, 3], [i64[0]]", NULL
};
static const char *const put_samples[] = {
  "f32[8, 6], [i64[4]], f32[4, 6]", "f32[7, 5], [None, i64[3]], f32[3], true",
  "f32[4, 3], [i64[0]], f32[0, 3]", NULL
};

#define OP(id, schema_, brief_, flags_, meta_, kernel_, grad_, samples_, ...) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = flags_, \
    .meta = meta_, .kernel = kernel_, .grad = grad_, .samples = samples_, \
    __VA_ARGS__ }

OP(index_Tensor, "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
   "Elements chosen by one index tensor for each dim.", DT_OP_DATADEP,
   index_meta,
   index_kernel, index_grad, index_samples, .rulefn = index_rules);
OP(index_put, "index_put(Tensor self, Tensor?[] indices, Tensor values, bool "
   "accumulate=False) -> Tensor", "A copy with elements written at index "
   "tensors.", 0, put_meta, put_kernel, put_grad, put_samples,
   .rulefn = put_rules);
