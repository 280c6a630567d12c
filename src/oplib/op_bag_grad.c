/* SPDX-License-Identifier: MIT
** oplib/op_bag_grad.c: gradients of bags of rows of a table.
**
** PyTorch has no strategy for them: they are for plain tensors only. */
#include "kernel/bag.h"
#include "oplib/op_bag.h"
#include "oplib/op_unwritten.h"
#include "oplib/emitting.h"
#include "tensor/dtype_text.h"


DtStatus op_bag_grad (DtGradCall *c) {
  const DtValue *v = c->args->v;
  int64_t rows = dt_emit_meta(c->e, c->in[0])->shape[0];
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten._embedding_bag_backward.default", "ttttttivvvtv",
                        GOUT,
                        c->in[1], c->in[2], c->out[1], c->out[2], c->out[3],
                        rows,
                        v[3], v[4], v[5], dt_gin(c, 6), v[8]));
  if (dt_gin(c, 6) != NULL && op_g_need(c, 6))
    op_g_set(c, 6,
             EMIT("aten._embedding_bag_per_sample_weights_backward.default",
                  "tttttvv", GOUT, c->in[0], c->in[1], c->in[2], c->out[1],
                  v[4], v[8]));
  return op_g_finish(c);
}

static DtStatus check_grad (DtMetaCall *c, const DtMeta *g) {
  DtDtype t = (DtDtype)g->dtype;
  DT_CHECK(c->cx, t == DT_F16 || t == DT_BF16 || t == DT_F32 || t == DT_F64,
           DT_E_RUNTIME, "Expected tensor for argument #1 'grad' to have one of "
           "the following scalar types: Half, BFloat16, Float, Double; but got "
           "%s instead (while checking arguments for embedding_bag)",
           dt_dtype_type_text(t));
  DT_CHECK(c->cx, g->ndim == 2, DT_E_RUNTIME, "embedding_bag: expected the "
           "gradient of a matrix, but got %d dimensions", g->ndim);
  return DT_OK;
}

/* (Tensor grad, indices, offsets, offset2bag, bag_size, maximum_indices, rows,
** scale_grad_by_freq, mode, ...) */
static DtStatus back_meta (DtMetaCall *c) {
  int64_t shape[2] = { dt_arg_int(c->args, 6), 0 };
  DT_TRY(c->cx, check_grad(c, c->in[0]));
  DT_CHECK(c->cx, !dt_arg_bool(c->args, 9), DT_E_NOTIMPL, "embedding_bag: sparse gradients are "
           "not computed");
  DT_CHECK(c->cx, shape[0] >= 0, DT_E_RUNTIME,
           "Trying to create tensor with negative dimension %lld",
           (long long)shape[0]);
  shape[1] = c->in[0]->shape[1];
  return op_new_meta(c->cx, &c->out[0], (DtDtype)c->in[0]->dtype, 2, shape,
                     c->in[0]);
}

static DtStatus back_kernel (DtKernelCall *c) {
  DtBagGrad k = { .mode = (DtBagMode)dt_arg_int(c->args, 8),
    .grad = dt_kin(c, 0), .indices = dt_kin(c, 1), .offsets = dt_kin(c, 2),
    .bag_of = dt_kin(c, 3), .by_count = dt_arg_bool(c->args, 7),
    .scale = dt_kin(c, 10), .padding = dt_arg_int(c->args, 11) };
  DT_CHECK(c->cx, k.mode >= DT_BAG_SUM && k.mode <= DT_BAG_MAX, DT_E_RUNTIME,
           "`mode` must be sum, mean, or max.");
  if (k.mode != DT_BAG_SUM) k.count = dt_kin(c, 4);
  if (k.mode == DT_BAG_MAX) k.largest = dt_kin(c, 5);
  return dt_k_bag_backward(c->cx, &k, c->out[0]);
}

static DtStatus scale_meta (DtMetaCall *c) {
  int64_t n = dt_meta_numel(dt_in(c, 2));
  DT_TRY(c->cx, check_grad(c, c->in[0]));
  DT_CHECK(c->cx, dt_arg_int(c->args, 5) == DT_BAG_SUM, DT_E_RUNTIME,
           "embedding_bag_backward: per_sample_weights only supported for "
           "mode='sum'");
  DT_CHECK(c->cx, dt_in(c, 1)->ndim == 2 &&
           dt_in(c, 1)->shape[1] == c->in[0]->shape[1], DT_E_RUNTIME,
           "Expected weight.size(1) == embedding_features to be true, but got "
           "false.  (Could this error message be improved?  If so, please "
           "report an enhancement request to PyTorch.)");
  return op_new_meta(c->cx, &c->out[0], (DtDtype)c->in[0]->dtype, 1, &n,
                     c->in[0]);
}

static DtStatus scale_kernel (DtKernelCall *c) {
  DtBagGrad k = { .mode = DT_BAG_SUM, .grad = dt_kin(c, 0),
    .indices = dt_kin(c, 2), .offsets = dt_kin(c, 3), .bag_of = dt_kin(c, 4),
    .padding = dt_arg_int(c->args, 6) };
  return dt_k_bag_scale_backward(c->cx, &k, dt_kin(c, 1), c->out[0]);
}

static const char *const back_samples[] = {
  "f32[2, 8], i64[4], i64[2], i64[4], i64[2], i64[2], 16, false, 0, false, "
  "None", NULL
};
static const char *const scale_samples[] = {
  "f32[2, 8], f32[16, 8], i64[4], i64[2], i64[4], 0", NULL
};
static DtStatus back_no_grad (DtGradCall *c) {
  return dt_raise(c->e->cx, DT_E_NOTIMPL, "the derivative for "
                  "'_embedding_bag_backward' is not implemented.");
}

OP_DEF(_embedding_bag_backward, "aten::_embedding_bag_backward(Tensor grad, "
       "Tensor indices, Tensor offsets, Tensor offset2bag, Tensor bag_size, "
       "Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, "
       "int mode, bool sparse, Tensor? per_sample_weights, int padding_idx=-1) "
       "-> Tensor", "Gradient of a table whose rows are put in bags.",
       DT_OP_NOSTRATEGY, back_meta, back_kernel, back_no_grad, back_samples,
       .row = NULL);
OP_DEF(_embedding_bag_per_sample_weights_backward,
       "aten::_embedding_bag_per_sample_weights_backward(Tensor grad, Tensor "
       "weight, Tensor indices, Tensor offsets, Tensor offset2bag, int mode, "
       "int padding_idx=-1) -> Tensor",
       "Gradient of the numbers that rows in bags are multiplied by.",
       DT_OP_NOSTRATEGY, scale_meta, scale_kernel, op_g_absent,
       scale_samples, .row = NULL);
