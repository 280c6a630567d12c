/* SPDX-License-Identifier: MIT
** oplib/op_embedding.c: rows of a table by number, and the table's gradient.
**
** A table cut by rows looks up what it has, masks the rest and leaves a
** masked partial; the mask object is one for output and index.  The shards in
** these rules are plain ones only, as in PyTorch. */
#include "oplib/oplib_int.h"
#include "oplib/second.h"
#include "tensor/dtype_text.h"

#include <string.h>


static const char *dims_text (const DtMeta *m) {
  static const char *const text[] = { "0-D", "1-D", "2-D", "3-D", "4-D", "5-D",
                                      "6-D", "7-D", "8-D" };
  return m->ndim < 9 ? text[m->ndim] : "many-D";
}

static DtStatus embedding_meta (DtMetaCall *c) {
  int64_t shape[DT_MAX_NDIM];
  const DtMeta *w = c->in[0], *x = dt_in(c, 1);
  DT_CHECK(c->cx, w->ndim == 2, DT_E_RUNTIME, "'weight' must be 2-D%s%s",
           c->fake ? ", got " : "", c->fake ? dims_text(w) : "");
  DT_CHECK(c->cx, !c->fake || x->dtype == DT_I64 || x->dtype == DT_I32,
           DT_E_RUNTIME, "Expected tensor for argument #1 'indices' to have "
           "one of the following scalar types: Long, Int; but got %s instead",
           dt_dtype_info((DtDtype)x->dtype)->torch);
  DT_CHECK(c->cx, x->dtype == DT_I64 || x->dtype == DT_I32, DT_E_RUNTIME,
           "Expected tensor for argument #1 'indices' to have one of the "
           "following scalar types: Long, Int; but got %s instead "
           "(while checking arguments for embedding)",
           dt_dtype_type_text((DtDtype)x->dtype));
  DT_CHECK(c->cx, x->ndim < DT_MAX_NDIM, DT_E_LIMIT, "at most %d dimensions",
           DT_MAX_NDIM);
  memcpy(shape, x->shape, sizeof(int64_t) * x->ndim);
  shape[x->ndim] = w->shape[1];
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)w->dtype, x->ndim + 1, shape,
                     w);
}

/* index_select of rows, the indices read flat. */
static DtStatus embedding_kernel (DtKernelCall *c) {
  DtTensor *x = c->in[1], *flat = NULL, *o = NULL, *view = NULL;
  int64_t n = dt_meta_numel(&x->m), shape[2] = { n, c->in[0]->m.shape[1] };
  DtStatus st;
  DT_TRYG(c->cx, op_temp(c->cx, (DtDtype)x->m.dtype, 1, &n, &flat));
  DT_TRYG(c->cx, op_restride(c->cx, flat, x->m.ndim, x->m.shape, NULL, 0,
                             &view));
  DT_TRYG(c->cx, dt_k_copy(c->cx, x, view));
  DT_TRYG(c->cx, op_restride(c->cx, c->out[0], 2, shape, NULL, 0, &o));
  DT_TRYG(c->cx, dt_k_index_select(c->cx, c->in[0], 0, flat, o));
done:
  dt_tensor_unref(c->cx, flat);
  dt_tensor_unref(c->cx, view);
  dt_tensor_unref(c->cx, o);
  return st;
}

static DtStatus embedding_rules (DtRuleCall *c) {
  const DtMeta *w = c->in[0], *x = dt_rin(c, 1);
  DtMaskBuf *mask = dt_mask_new(c->cx, w->ndim, w->shape, 0);
  if (!mask) return DT_E_NOMEM;
  DtCell p = dt_c_fix(dt_pl_mask(DT_OP_SUM, mask)), r = dt_c_r();
  DtCell cols[3] = { dt_c_fix(dt_pl_shard(x->ndim)),
                     dt_c_fix(dt_pl_shard(1)), r };
  DtCell rows[3] = { p, dt_c_fix(dt_pl_shard(0)), p };
  dt_rows_add(c->rows, cols);
  dt_rows_add(c->rows, rows);
  for (int i = 0; i < x->ndim; i++) {
    DtCell row[3] = { dt_c_fix(dt_pl_shard(i)), r, dt_c_fix(dt_pl_shard(i)) };
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

static DtStatus embedding_grad (DtGradCall *c) {
  int64_t rows = dt_emit_meta(c->e, c->in[0])->shape[0];
  op_g_set(c, 0, EMIT("aten.embedding_dense_backward.default", "ttivv", GOUT,
                      c->in[1], rows, c->args->v[2], c->args->v[3]));
  return op_g_finish(c);
}

static DtStatus embedding_back_meta (DtMetaCall *c) {
  const DtMeta *g = c->in[0], *x = dt_in(c, 1);
  DT_CHECK(c->cx, c->fake || x->dtype == DT_I64 || x->dtype == DT_I32,
           DT_E_RUNTIME, "Expected tensor for argument #2 'indices' to have one "
           "of the following scalar types: Long, Int; but got %s instead (while "
           "checking arguments for embedding_backward)",
           dt_dtype_type_text((DtDtype)x->dtype));
  DT_CHECK(c->cx, g->ndim > 0, DT_E_INDEX,
           "Dimension specified as -1 but tensor has no dimensions");
  /* PyTorch's shape function of this form does not know its result. */
  DT_CHECK(c->cx, !c->fake || !c->args->schema->is_out, DT_E_TYPE,
           "meta_embedding_dense_backward() got an unexpected keyword argument "
           "'out'");
  int64_t shape[2] = { dt_arg_int(c->args, 2), g->shape[g->ndim - 1] };
  int64_t have = dt_meta_numel(g), rows = dt_meta_numel(x);
  DT_CHECK(c->cx, c->fake || have == rows * shape[1], DT_E_RUNTIME,
           "shape '[%lld, %lld]' is invalid for input of size %lld",
           (long long)rows, (long long)shape[1], (long long)have);
  DT_CHECK(c->cx, shape[0] >= 0, DT_E_RUNTIME, "Trying to create tensor with "
           "negative dimension %lld: [%lld, %lld]", (long long)shape[0],
           (long long)shape[0], (long long)shape[1]);
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)g->dtype, 2, shape, g);
}
static DtStatus embedding_back_kernel (DtKernelCall *c) {
  return dt_k_embedding_backward(c->cx, c->in[0], c->in[1],
                                 dt_arg_int(c->args, 3),
                                 dt_arg_bool(c->args, 4), c->out[0]);
}
static DtStatus embedding_back_rules (DtRuleCall *c) {
  int last = c->in[0]->ndim - 1;
  DtCell p = dt_c_p(DT_OP_SUM), r = dt_c_r();
  DtCell cols[3] = { dt_c_fix(dt_pl_shard(1)), dt_c_fix(dt_pl_shard(last)),
                     r };
  DtCell sum[3] = { p, p, r };
  dt_rows_add(c->rows, cols);
  for (int i = 0; i < c->in[1]->ndim; i++) {
    DtCell s = dt_c_fix(dt_pl_shard(i)), row[3] = { p, s, s };
    dt_rows_add(c->rows, row);
  }
  dt_rows_add(c->rows, sum);
  return c->rows->st;
}

/* ---- samples and definitions ---- */

static const char *const emb_samples[] = {
  "f32[16, 8], i64[4]", "f32[7, 5], i64[2, 3]", "f32[4, 3], i64[]",
  "f32[4, 3], i64[0]", NULL
};
static const char *const emb_back_samples[] = {
  "f32[4, 8], i64[4], 16, -1, false", "f32[2, 3, 5], i64[2, 3], 7, 0, false",
  NULL
};

#define OP(id, schema_, brief_, flags_, meta_, kernel_, grad_, samples_, ...) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = flags_, \
    .meta = meta_, .kernel = kernel_, .grad = grad_, .samples = samples_, \
    __VA_ARGS__ }

OP(embedding, "embedding(Tensor weight, Tensor indices, SymInt "
   "padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> "
   "Tensor", "Rows of a table.", 0, embedding_meta, embedding_kernel,
   embedding_grad, emb_samples, .rulefn = embedding_rules);
OP(embedding_dense_backward, "embedding_dense_backward(Tensor grad_output, "
   "Tensor indices, SymInt num_weights, SymInt padding_idx, bool "
   "scale_grad_by_freq) -> Tensor", "Gradient of a table.", 0,
   embedding_back_meta, embedding_back_kernel, op_gg_embedding_dense_backward,
   emb_back_samples,
   .rulefn = embedding_back_rules);
