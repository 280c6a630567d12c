/* SPDX-License-Identifier: MIT
** oplib/op_strided.c: as_strided, which sees the storage, and is_pinned.
**
** On distributed tensors handlers decide (engine/handlers.c), so there are no
** rules.  The gradient of as_strided adds what overlaps: every element of the
** result is added at its place of the storage. */
#include "oplib/oplib_int.h"

#include <string.h>


static DtStatus strided_meta (DtMetaCall *c) {
  const DtMeta *m = dt_in(c, 0);
  int64_t size[DT_MAX_NDIM], stride[DT_MAX_NDIM];
  int n = op_ints(c->args, 1, size), k = op_ints(c->args, 2, stride);
  DT_CHECK(c->cx, n == k, DT_E_RUNTIME,
           "mismatch in length of strides and shape");
  for (int i = 0; i < n; i++)
    DT_CHECK(c->cx, stride[i] >= 0, DT_E_RUNTIME, "as_strided: Negative "
             "strides are not supported at the moment, got strides: %s",
             op_ints_text(k, stride).s);
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, n, size,
                            m));
  memcpy(c->out[0].stride, stride, sizeof(int64_t) * (size_t)n);
  c->offset[0] = dt_arg_int_or(c->args, 3, 0);
  return DT_OK;
}

/* Elements of the storage that a tensor of this meta spans. */
static int64_t span (const DtMeta *m) {
  int64_t n = 1;
  for (int i = 0; i < m->ndim; i++) {
    if (m->shape[i] == 0) return 0;
    n += (m->shape[i] - 1) * m->stride[i];
  }
  return n;
}

static DtStatus strided_grad (DtGradCall *c) {
  const DtMeta *m = dt_emit_meta(c->e, c->in[0]);
  int64_t n = span(m), flat = -1, at = dt_arg_int_or(c->args, 3, 0);
  DtHandle *z, *i, *g = c->gout[0];
  if (!op_g_need(c, 0)) return DT_OK;
  z = EMIT("aten.new_zeros.default", "tI", g, 1, &n);
  i = EMIT("aten.arange.start", "ii dtype=d", (int64_t)0, n, (int)DT_I64);
  i = EMIT("aten.as_strided.default", "tvvi", i, c->args->v[1], c->args->v[2],
           at);
  g = op_e_reshape(c->e, g, 1, &flat);
  i = op_e_reshape(c->e, i, 1, &flat);
  z = EMIT("aten.index_add_.default", "titt", z, (int64_t)0, i, g);
  op_g_set(c, 0, EMIT("aten.as_strided.default", "tIIi", z, (int)m->ndim,
                      m->shape, (int)m->ndim, m->stride, (int64_t)0));
  return c->e->st;
}

static DtStatus pinned_meta (DtMetaCall *c) {
  c->nout = 0;
  return DT_OK;
}

static DtStatus pinned_kernel (DtKernelCall *c) {
  *c->ret = dt_v_bool(false);
  return DT_OK;
}

static const char *const strided_samples[] = {
  "f32[8, 6], [6, 8], [1, 6]", "f32[6], [2], [2], 1", NULL
};
static const char *const pinned_samples[] = { "f32[8, 6]", NULL };

const DtOpDef dt_op_as_strided = {
  .schema = "aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, "
            "SymInt? storage_offset=None) -> Tensor(a)",
  .brief = "A view of the storage by sizes and strides.",
  .flags = DT_OP_VIEW | DT_OP_HANDLER | DT_OP_NOSTRATEGY | DT_OP_ABSOLUTE,
  .meta = strided_meta, .grad = strided_grad, .samples = strided_samples
};
const DtOpDef dt_op_is_pinned = {
  .schema = "aten::is_pinned(Tensor self, Device? device=None) -> bool",
  .brief = "Does the tensor lie in pinned memory?",
  .flags = DT_OP_HANDLER | DT_OP_NODATA | DT_OP_NOGRAD | DT_OP_NOSTRATEGY,
  .meta = pinned_meta, .kernel = pinned_kernel, .samples = pinned_samples
};
