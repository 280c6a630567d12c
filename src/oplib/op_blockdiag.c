/* SPDX-License-Identifier: MIT
** oplib/op_blockdiag.c: block_diag, matrices along a diagonal.
**
** PyTorch has no rule for it: distributed tensors refuse.  Numbers count as
** matrices of one element, vectors as matrices of one row. */
#include "base/sat.h"
#include "oplib/oplib_int.h"
#include "oplib/emitting.h"

#include <string.h>

static int64_t rows_of (const DtMeta *m) {
  return m->ndim == 2 ? m->shape[0] : 1;
}
static int64_t cols_of (const DtMeta *m) {
  return m->ndim == 0 ? 1 : m->shape[m->ndim - 1];
}

static DtStatus blocks_meta (DtMetaCall *c) {
  OpOperand o[DT_MAX_OUTS];
  int64_t shape[2] = { 0, 0 }, one[2] = { 1, 0 };
  DT_CHECK(c->cx, c->nin <= DT_MAX_OUTS, DT_E_LIMIT, "at most %d tensors",
           DT_MAX_OUTS);
  memset(o, 0, sizeof o);
  for (int i = 0; i < c->nin; i++) {
    DT_CHECK(c->cx, c->in[i]->ndim <= 2, DT_E_RUNTIME, "torch.block_diag: "
             "Input tensors must have 2 or fewer dimensions. Input %d has %d "
             "dimensions", i, c->in[i]->ndim);
    o[i].m = c->in[i];
    shape[0] = dt_sat_add(shape[0], rows_of(c->in[i]));
    shape[1] = dt_sat_add(shape[1], cols_of(c->in[i]));
  }
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], c->nin ? op_promote(c->cx, c->nin, o) : DT_F32,
                     2, c->nin ? shape : one, c->nin ? c->in[0] : NULL);
}

static DtStatus blocks_kernel (DtKernelCall *c) {
  DtTensor *out = c->out[0];
  int64_t at = 0;
  DT_TRY(c->cx, dt_k_fill(c->cx, out, dt_scalar_int(0)));
  for (int i = 0; i < c->nin; i++) {
    const DtMeta *m = &c->in[i]->m;
    int64_t shape[2] = { rows_of(m), cols_of(m) };
    DtTensor *part = NULL;
    DtStatus st = DT_OK;
    if (dt_meta_numel(m) > 0) {
      st = op_restride(c->cx, out, m->ndim, shape + 2 - m->ndim,
                       out->m.stride + 2 - m->ndim, at, &part);
      if (st == DT_OK) st = dt_k_copy(c->cx, c->in[i], part);
    }
    dt_tensor_unref(c->cx, part);
    if (st != DT_OK) return st;
    at += shape[0] * out->m.stride[0] + shape[1] * out->m.stride[1];
  }
  return DT_OK;
}

/* Each matrix has its block of the gradient. */
static DtStatus blocks_grad (DtGradCall *c) {
  int64_t row = 0, col = 0;
  for (int i = 0; i < c->nin; i++) {
    DtMeta m;
    dt_meta_copy(&m, dt_emit_meta(c->e, c->in[i]));
    if (!dt_emit_ok(c->e)) return c->e->st;
    int64_t r = rows_of(&m), k = cols_of(&m);
    if (c->need[i]) {         /* one list: operands are counted, not arguments */
      DtHandle *h = EMIT("aten.slice.Tensor", "tiii", c->gout[0], (int64_t)0,
                         row,
                         row + r);
      h = EMIT("aten.slice.Tensor", "tiii", h, (int64_t)1, col, col + k);
      if (m.ndim < 2)           /* one row stays: the engine reduces it */
        h = EMIT("aten.squeeze.dim", "ti", h, (int64_t)-1);
      c->gin[i] = h;
    }
    row += r;
    col += k;
  }
  return op_g_finish(c);
}

static const char *const samples[] = { "[f32[3, 2], f32[4], f32[]]",
                                       "[f32[0, 2], f32[1, 1]]", NULL };
const DtOpDef dt_op_block_diag = {
  .schema = "aten::block_diag(Tensor[] tensors) -> Tensor",
  .brief = "Matrices along the diagonal of one.", .flags = DT_OP_NOSTRATEGY,
  .meta = blocks_meta, .kernel = blocks_kernel, .grad = blocks_grad,
  .samples = samples
};
