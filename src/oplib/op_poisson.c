/* SPDX-License-Identifier: MIT
** oplib/op_poisson.c: random counts with given means.  PyTorch has no strategy
** for it. */
#include "oplib/op_unwritten.h"
#include "oplib/emitting.h"
#include "tensor/dtype_text.h"

static DtStatus poisson_kernel (DtKernelCall *c) {
  DtDtype t = (DtDtype)c->in[0]->m.dtype;
  DT_ASSERT(c->cx, c->rng);
  DT_CHECK(c->cx, dt_dtype_is_float(t) && dt_dtype_size(t) > 1, DT_E_NOTIMPL,
           "\"poisson_cpu\" not implemented for '%s'", dt_dtype_word(t));
  return dt_k_poisson(c->cx, c->in[0], c->out[0], c->rng);
}

static const char *const samples[] = { "f32[8, 6]", NULL };
OP_DEF(poisson, "aten::poisson(Tensor self, Generator? generator=None) -> "
       "Tensor", "Random counts, each with the mean its element says.",
       DT_OP_RANDOM | DT_OP_NOSTRATEGY, op_meta_plain, poisson_kernel,
       op_g_zeros, samples, .row = NULL);
