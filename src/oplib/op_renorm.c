/* SPDX-License-Identifier: MIT
** oplib/op_renorm.c: rows of a table that are too long are cut, in place.
** PyTorch has no strategy for it. */
#include "kernel/bag.h"
#include "oplib/op_unwritten.h"
#include "tensor/dtype_text.h"

static DtStatus renorm_kernel (DtKernelCall *c) {
  const DtMeta *ix = &dt_kin(c, 1)->m;
  DtDtype t = (DtDtype)ix->dtype;
  DT_CHECK(c->cx, c->out[0]->m.ndim == 2, DT_E_RUNTIME, "Expected 2-dimensional "
           "tensor, but got %d-dimensional tensor for argument #1 'self' (while "
           "checking arguments for embedding_renorm_)", c->out[0]->m.ndim);
  DT_CHECK(c->cx, t == DT_I64 || t == DT_I32, DT_E_RUNTIME, "Expected tensor for "
           "argument #2 'indices' to have one of the following scalar types: "
           "Long, Int; but got %s instead (while checking arguments for "
           "embedding_renorm_)", dt_dtype_type_text(t));
  return dt_k_renorm_rows(c->cx, c->out[0], dt_kin(c, 1),
                          dt_arg_float(c->args, 2), dt_arg_float(c->args, 3));
}

static DtStatus no_grad (DtGradCall *c) {
  return dt_raise(c->e->cx, DT_E_NOTIMPL,
                  "the derivative for 'embedding_renorm' is not implemented.");
}

static const char *const samples[] = { "f32[8, 6], i64[4], 1.0, 2.0", NULL };
OP_DEF(embedding_renorm_, "aten::embedding_renorm_(Tensor(a!) self, Tensor "
       "indices, float max_norm, float norm_type) -> Tensor(a!)",
       "Named rows that are longer than max_norm are cut to it, in place.",
       DT_OP_INPLACE | DT_OP_NOSTRATEGY | DT_OP_ALIAS_SAFE, op_meta_inplace,
       renorm_kernel, no_grad, samples, .row = NULL);
