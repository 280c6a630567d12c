/* SPDX-License-Identifier: MIT
** oplib/op_bag.c: sums of bags of rows; op_bag_grad.c has their gradients.
**
** PyTorch has no strategy for them, but refuses some shapes before it says
** so. */
#include "kernel/bag.h"
#include "oplib/op_bag.h"
#include "oplib/op_unwritten.h"
#include "oplib/emitting.h"
#include "tensor/dtype_text.h"

static DtStatus size_at (DtMetaCall *c, int slot, int d, int64_t *n) {
  const DtMeta *m = c->in[slot];
  DT_CHECK(c->cx, m->ndim > 0, DT_E_RUNTIME, "Dimension specified as %d but "
           "tensor has no dimensions", d);
  DT_CHECK(c->cx, d < m->ndim, DT_E_INDEX, "Dimension out of range (expected "
           "to be in range of [%d, %d], but got %d)", -m->ndim, m->ndim - 1,
           d);
  *n = m->shape[d];
  return DT_OK;
}

/* Of indices and offsets together. */
static DtDtype index_type (const DtMetaCall *c) {
  return dt_dtype_promote((DtDtype)c->in[1]->dtype, (DtDtype)c->in[2]->dtype);
}

/* Types as the kernel checks them, and as propagation's shape function. */
static DtStatus check_types (DtMetaCall *c) {
  static const char *const names[] = { "indices", "offsets" };
  DtDtype w = (DtDtype)c->in[0]->dtype, both = index_type(c);
  bool word = w == DT_F16 || w == DT_BF16 || w == DT_F32 || w == DT_F64;
  for (int i = 1; i < 3; i++) {
    DtDtype t = (DtDtype)c->in[i]->dtype;
    DT_CHECK(c->cx, t == DT_I64 || t == DT_I32 || !c->fake, DT_E_RUNTIME,
             "expected %s to be long or int, got %s", names[i - 1],
             dt_dtype_info(t)->torch);
  }
  DT_CHECK(c->cx, both != DT_DTYPE_NONE, DT_E_RUNTIME, "Promotion for Float8 "
           "Types is not supported, attempted to promote %s and %s",
           dt_dtype_word((DtDtype)c->in[1]->dtype),
           dt_dtype_word((DtDtype)c->in[2]->dtype));
  DT_CHECK(c->cx, both == DT_I64 || both == DT_I32, DT_E_RUNTIME, "Expected "
           "tensor for argument #1 'indices' to have one of the following "
           "scalar types: Long, Int; but got %s instead (while checking "
           "arguments for embedding_bag)", dt_dtype_type_text(both));
  DT_CHECK(c->cx, c->fake || word, DT_E_RUNTIME, "Expected tensor for argument "
           "#1 'weight' to have one of the following scalar types: Half, "
           "BFloat16, Float, Double; but got %s instead (while checking "
           "arguments for embedding_bag)", dt_dtype_type_text(w));
  DT_CHECK(c->cx, dt_dtype_info(w)->kind == DT_K_FLOAT, DT_E_RUNTIME,
           "expected weight to be floating point type, got %s",
           dt_dtype_info(w)->torch);
  return DT_OK;
}

/* How PyTorch computes: its fast way numbers no bags and counts no rows. */
static bool is_fast (const DtArgs *args, const DtMeta *weight) {
  return dt_arg_int(args, 4) != DT_BAG_MAX && dt_arg_int(args, 8) < 0 &&
         weight->dtype != DT_F64;
}

static DtStatus check_dims (DtMetaCall *c) {
  const DtMeta *w = c->in[0], *ix = c->in[1], *off = c->in[2];
  int slot = dt_arg_slot(c->args, 6);
  DT_CHECK(c->cx, ix->ndim == 1 || ix->ndim == 2, DT_E_RUNTIME, "input has to "
           "be a 1D or 2D Tensor, but got Tensor of dimension %d", ix->ndim);
  DT_CHECK(c->cx, off->ndim == 1, DT_E_RUNTIME, "offsets has to be a 1D Tensor, "
           "but got Tensor of dimension %d", off->ndim);
  DT_CHECK(c->cx, w->ndim == 2, DT_E_RUNTIME, "weight has to be a 2D Tensor, "
           "but got Tensor of dimension %d", w->ndim);
  DT_CHECK(c->cx, slot < 0 || c->in[slot]->ndim == 1, DT_E_RUNTIME, "Expected "
           "per_sample_weights.value().dim() == 1 to be true, but got false.  "
           "(Could this error message be improved?  If so, please report an "
           "enhancement request to PyTorch.)");
  DT_CHECK(c->cx, ix->ndim == 1, DT_E_NOTIMPL, "bags of a two-dimensional "
           "index are not computed: flatten it and give offsets");
  return DT_OK;
}

/* The sums, the bag of each index, the bags' sizes, the largest indices. */
static DtStatus bag_meta (DtMetaCall *c) {
  DtDtype t = index_type(c);
  int64_t n, len, size[2], mode = dt_arg_int(c->args, 4);
  bool forward = strstr(c->op->schema, "_forward_only") != NULL;
  if (!c->fake) DT_TRY(c->cx, check_dims(c));
  DT_TRY(c->cx, check_types(c));
  DT_TRY(c->cx, size_at(c, 2, 0, &len));
  n = len - dt_arg_bool(c->args, 7);
  DT_CHECK(c->cx, n >= 0, DT_E_RUNTIME,
           "include_last_offset: %s should be at least 1",
           c->fake ? "numBags" : "number of offset");
  DT_TRY(c->cx, size_at(c, 0, 1, &size[1]));
  size[0] = n;
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[0], (DtDtype)c->in[0]->dtype, 2,
                            size, c->in[0]));
  bool empty = !c->fake && mode == DT_BAG_SUM && is_fast(c->args, c->in[0]);
  int64_t none = 0, counts = !c->fake && forward && mode == DT_BAG_SUM ? len : n;
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[1], t, 1,
                            empty ? &none : c->in[1]->shape, c->in[1]));
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[2], t, 1, &counts, c->in[1]));
  if (!c->fake && mode == DT_BAG_MAX)
    return op_new_meta(c->cx, &c->out[3], t, 2, size, c->in[1]);
  return op_new_meta(c->cx, &c->out[3], t, 1, &counts, c->in[1]);
}

/* Sizes and values that only PyTorch's kernel looks at. */
static DtStatus check_call (DtKernelCall *c) {
  int64_t n = dt_meta_numel(&c->in[1]->m), mode = dt_arg_int(c->args, 4);
  int slot = dt_arg_slot(c->args, 6);
  DT_CHECK(c->cx, mode >= DT_BAG_SUM && mode <= DT_BAG_MAX, DT_E_RUNTIME,
           "`mode` must be sum, mean, or max.");
  if (slot < 0) return DT_OK;
  const DtMeta *m = &c->in[slot]->m;
  DT_CHECK(c->cx, mode == DT_BAG_SUM, DT_E_RUNTIME,
           "embedding_bag: per_sample_weights only supported with mode='sum'");
  DT_CHECK(c->cx, m->dtype == c->in[0]->m.dtype, DT_E_RUNTIME, "Expected "
           "tensor for argument #1 'weight' to have the same type as tensor for "
           "argument #1 'per_sample_weights'; but type %s does not equal %s "
           "(while checking arguments for embedding_bag)",
           dt_dtype_type_text((DtDtype)c->in[0]->m.dtype),
           dt_dtype_type_text((DtDtype)m->dtype));
  DT_CHECK(c->cx, dt_meta_numel(m) == n, DT_E_RUNTIME, "Expected "
           "per_sample_weights.value().numel() == indices.numel() to be true, "
           "but got false.  (Could this error message be improved?  If so, "
           "please report an enhancement request to PyTorch.)");
  return DT_OK;
}

/* A list of integers the kernel fills, if the output has room for it. */
static DtStatus list_for (DtKernelCall *c, int out, DtTensor **t,
                          int64_t **data) {
  void *p = NULL;
  int64_t n = dt_meta_numel(&c->out[out]->m);
  DT_TRY(c->cx, op_temp(c->cx, DT_I64, 1, &n, t));
  DT_TRY(c->cx, dt_k_fill(c->cx, *t, dt_scalar_int(0)));
  DT_TRY(c->cx, dt_tensor_data(c->cx, *t, &p));
  *data = n > 0 ? p : NULL;
  return DT_OK;
}

static DtStatus bag_kernel (DtKernelCall *c) {
  DtBagCall k = { .mode = (DtBagMode)dt_arg_int(c->args, 4),
    .weight = c->in[0], .indices = c->in[1], .offsets = c->in[2],
    .padding = dt_arg_int(c->args, 8), .out = c->out[0] };
  DtTensor *list[4] = { NULL }, *flat = NULL;
  int64_t *data[4] = { NULL };
  int slot = dt_arg_slot(c->args, 6);
  bool counts = k.mode != DT_BAG_SUM;
  DtStatus st = DT_OK;
  DT_TRYG(c->cx, check_call(c));
  for (int i = 1; i < 4; i++) DT_TRYG(c->cx, list_for(c, i, &list[i], &data[i]));
  k.scale = slot >= 0 ? c->in[slot] : NULL;
  k.last_given = dt_arg_bool(c->args, 7) && is_fast(c->args, &c->in[0]->m);
  k.bag_of = data[1];
  k.count = counts ? data[2] : NULL;
  k.largest = k.mode == DT_BAG_MAX ? data[3] : NULL;
  DT_TRYG(c->cx, dt_k_bag(c->cx, &k));
  for (int i = 1; i < 4; i++) { /* the mean's counts are checked twice */
    DtTensor *from = list[i == 3 && k.mode == DT_BAG_MEAN ? 2 : i];
    DT_TRYG(c->cx, op_restride(c->cx, from, c->out[i]->m.ndim,
                               c->out[i]->m.shape, NULL, 0, &flat));
    DT_TRYG(c->cx, dt_k_copy(c->cx, flat, c->out[i]));
    dt_tensor_unref(c->cx, flat);
    flat = NULL;
  }
done:
  for (int i = 1; i < 4; i++) dt_tensor_unref(c->cx, list[i]);
  dt_tensor_unref(c->cx, flat);
  return st;
}

/* The public names: as for a table that learns. */
static DtStatus public_decomp (DtDecompCall *c) {
  int at = dt_schema_arg(c->args->schema, "padding_idx");
  const DtValue *v = c->args->v;
  DtMeta w = meta_of(c, c->in[0]);
  int64_t pad = at >= 0 ? dt_arg_int_or(c->args, at, -1) : -1;
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (at >= 0 && !dt_arg_is_none(c->args, at)) {
    int64_t rows = w.shape[0];
    DT_CHECK(CX, pad >= -rows && pad < rows, DT_E_RUNTIME, "padding_idx must be "
             "within the number of embeddings, -%lld through %lld, but got "
             "%lld", (long long)rows, (long long)rows - 1, (long long)pad);
    if (pad < 0) pad += rows;
  }
  c->nout = 4;
  dt_emit_n(c->e, "aten._embedding_bag.default", c->out, 4,
            at >= 0 ? "tttvvvvvi" : "tttvvvvv", c->in[0],
            c->in[1], c->in[2], v[3], v[4], v[5], v[6], v[7], pad);
  return c->e->st;
}

static const char *const bag_samples[] = {
  "f32[16, 8], i64[16], i64[4]", NULL
};
#define BAG_ARGS "(Tensor weight, Tensor indices, Tensor offsets, bool " \
       "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? " \
       "per_sample_weights=None, bool include_last_offset=False, int " \
       "padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)"
OP_DEF(_embedding_bag, "aten::_embedding_bag" BAG_ARGS,
       "Sums of bags of rows of a table.", DT_OP_NOSTRATEGY | DT_OP_SAVE_OUT,
       bag_meta, bag_kernel, op_bag_grad, bag_samples, .row = NULL);
OP_DEF(_embedding_bag_forward_only, "aten::_embedding_bag_forward_only"
       BAG_ARGS, "Sums of bags of rows of a table that learns nothing.",
       DT_OP_NOSTRATEGY, bag_meta, bag_kernel, op_g_unwritten,
       bag_samples, .row = NULL);
static const char *const public_samples[] = {
  "f32[6, 4], i64[0], i64[1]", NULL
};
#define PUBLIC(id, args_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" args_ " -> (Tensor, Tensor, Tensor, Tensor)", \
    .brief = "Bags of rows of a table, summed, averaged or their largest.", \
    .flags = DT_OP_COMPOSITE, .decomp = public_decomp, \
    .samples = public_samples }
PUBLIC(embedding_bag, "embedding_bag(Tensor weight, Tensor indices, Tensor "
       "offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, "
       "Tensor? per_sample_weights=None, bool include_last_offset=False)");
PUBLIC(embedding_bag_padding_idx, "embedding_bag.padding_idx(Tensor weight, "
       "Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool "
       "sparse, Tensor? per_sample_weights, bool include_last_offset, int? "
       "padding_idx)");
