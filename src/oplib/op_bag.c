/* SPDX-License-Identifier: MIT
** oplib/op_bag.c: sums of bags of rows and the loss of unaligned sequences.
**
** PyTorch has no strategy for them, but refuses some shapes before it says so;
** their arithmetic is not written. */
#include "oplib/op_unwritten.h"

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

static DtStatus check_types (DtMetaCall *c) {
  static const char *const names[] = { "indices", "offsets" };
  DtDtype w = (DtDtype)c->in[0]->dtype;
  for (int i = 1; i < 3; i++) {
    DtDtype t = (DtDtype)c->in[i]->dtype;
    DT_CHECK(c->cx, t == DT_I64 || t == DT_I32, DT_E_RUNTIME,
             "expected %s to be long or int, got %s", names[i - 1],
             dt_dtype_info(t)->torch);
  }
  DT_CHECK(c->cx, dt_dtype_info(w)->kind == DT_K_FLOAT, DT_E_RUNTIME,
           "expected weight to be floating point type, got %s",
           dt_dtype_info(w)->torch);
  return DT_OK;
}

/* The sums, the bag of each index, the bags' sizes, the largest indices. */
static DtStatus bag_meta (DtMetaCall *c) {
  DtDtype t = (DtDtype)c->in[1]->dtype;
  int64_t n, size[2];
  DT_TRY(c->cx, check_types(c));
  DT_TRY(c->cx, size_at(c, 2, 0, &n));
  n -= dt_arg_bool(c->args, 7);
  DT_CHECK(c->cx, n >= 0, DT_E_RUNTIME,
           "include_last_offset: numBags should be at least 1");
  DT_TRY(c->cx, size_at(c, 0, 1, &size[1]));
  size[0] = n;
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[0], (DtDtype)c->in[0]->dtype, 2,
                            size, c->in[0]));
  for (int i = 1; i < 4; i++)
    DT_TRY(c->cx, op_new_meta(c->cx, &c->out[i], t, 1,
                              i == 1 ? c->in[1]->shape : size, c->in[1]));
  return DT_OK;
}

static const char *const bag_samples[] = {
  "f32[16, 8], i64[16], i64[4]", NULL
};
static const char *const ctc_samples[] = {
  "f32[8, 4, 8], i64[4, 4], [8, 8, 8, 8], [4, 4, 4, 4]", NULL
};

#define BAG_ARGS "(Tensor weight, Tensor indices, Tensor offsets, bool " \
       "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? " \
       "per_sample_weights=None, bool include_last_offset=False, int " \
       "padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)"
OP_DEF(_embedding_bag, "aten::_embedding_bag" BAG_ARGS,
       "Sums of bags of rows of a table.", DT_OP_NOSTRATEGY, bag_meta,
       op_k_unwritten, op_g_unwritten, bag_samples, .row = NULL);
OP_DEF(_embedding_bag_forward_only, "aten::_embedding_bag_forward_only"
       BAG_ARGS, "Sums of bags of rows of a table that learns nothing.",
       DT_OP_NOSTRATEGY, bag_meta, op_k_unwritten, op_g_unwritten,
       bag_samples, .row = NULL);
OP_DEF(_ctc_loss, "aten::_ctc_loss(Tensor log_probs, Tensor targets, int[] "
       "input_lengths, int[] target_lengths, int blank=0, bool "
       "zero_infinity=False) -> (Tensor, Tensor)",
       "Loss of unaligned sequences.", DT_OP_DATADEP | DT_OP_NOSTRATEGY, NULL,
       op_k_unwritten, op_g_unwritten, ctc_samples, .row = NULL);
