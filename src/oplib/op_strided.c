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

/* The dims of size 1 go away. */
static void drop_ones (DtMeta *v) {
  int n = 0;
  for (int i = 0; i < v->ndim; i++) {
    if (v->shape[i] == 1) continue;
    v->shape[n] = v->shape[i];
    v->stride[n++] = v->stride[i];
  }
  v->ndim = (uint8_t)n;
}

/* The gradient's dims of size 1 go away and those of stride 0 are summed; `v` is
** what is left of the view. */
static DtHandle *without_repeats (DtGradCall *c, DtHandle *g, DtMeta *v) {
  for (int i = v->ndim - 1; i >= 0; i--) {
    int64_t d = i;
    if (v->shape[i] != 1 && v->stride[i] != 0) continue;
    g = v->shape[i] == 1 ? EMIT("aten.squeeze.dim", "ti", g, d)
                         : EMIT("aten.sum.dim_IntList", "tI", g, 1, &d);
    v->shape[i] = 1;
  }
  drop_ones(v);
  return g;
}

/* May two elements of the view lie in one place?  By the dims in order of their
** strides, as PyTorch asks: each has to step over all before it. */
static bool may_overlap (const DtMeta *v) {
  uint32_t seen = 0;
  int64_t last = 0;
  for (int k = 0; k < v->ndim; k++) {
    int at = -1;
    for (int i = 0; i < v->ndim; i++)
      if ((seen >> i & 1u) == 0 && (at < 0 || v->stride[i] < v->stride[at])) at = i;
    seen |= 1u << at;
    if (v->stride[at] <= last) return true;
    last += v->stride[at] * (v->shape[at] - 1);
  }
  return false;
}

/* The view of the call, as a meta. */
static DtMeta viewed (DtGradCall *c) {
  DtMeta v;
  const DtValue *strides = &c->args->v[2];
  dt_meta_copy(&v, dt_emit_meta(c->e, c->gout[0]));
  for (int i = 0; i < v.ndim && i < strides->u.list.n; i++)
    v.stride[i] = strides->u.list.v[i].u.i;
  return v;
}

/* The elements of the view in `all`, from place `at` on. */
static DtHandle *view_in (DtGradCall *c, DtHandle *all, const DtMeta *v,
                          int64_t at) {
  return EMIT("aten.as_strided.default", "tIIi", all, (int)v->ndim, v->shape,
              (int)v->ndim, v->stride, at);
}

static DtHandle *in_a_row (DtGradCall *c, DtHandle *h) {
  const int64_t flat = -1;
  return op_e_reshape(c->e, h, 1, &flat);
}

/* What elements of the input that lie in one place get, each its part. */
static DtHandle *shared_out (DtGradCall *c, DtHandle *z, DtHandle *i) {
  const int64_t one = 1;
  DtHandle *counts = EMIT("aten.zeros_like.default", "t", z);
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, i));
  DtHandle *ones = EMIT("aten.ones.default", "I dtype=d", 1, &one,
                        (int)dt_emit_meta(c->e, z)->dtype);
  ones = EMIT("aten.expand.default", "tI", ones, (int)m.ndim, m.shape);
  EMIT("aten.index_add_.default", "titt", counts, (int64_t)0, i, ones);
  return EMIT("aten.div_.Tensor", "tt", z, counts);
}

static DtStatus strided_grad (DtGradCall *c) {
  DtMeta m, v = viewed(c), in;
  int64_t n, at = dt_arg_int_or(c->args, 3, 0);
  DtHandle *z, *all = NULL, *g = c->gout[0];
  if (!op_g_need(c, 0)) return DT_OK;
  dt_meta_copy(&m, dt_emit_meta(c->e, c->in[0]));
  if (dt_meta_numel(&v) == 0 || dt_meta_numel(&m) == 0) {
    op_g_set(c, 0, EMIT("aten.zeros.default", "I dtype=d", (int)m.ndim, m.shape,
                        (int)v.dtype));
    return c->e->st;
  }
  dt_meta_copy(&in, &m);
  drop_ones(&in);
  n = span(&m) > span(&v) + at ? span(&m) : span(&v) + at;
  g = without_repeats(c, g, &v);
  z = EMIT("aten.new_zeros.default", "tI", g, 1, &n);
  if (may_overlap(&v) || may_overlap(&in))
    all = EMIT("aten.arange.start", "ii dtype=d", (int64_t)0, n, (int)DT_I64);
  if (may_overlap(&v)) {
    DtHandle *i = view_in(c, all, &v, at);
    g = in_a_row(c, g);
    z = EMIT("aten.index_add_.default", "titt", z, (int64_t)0, in_a_row(c, i), g);
  } else {
    EMIT("aten.copy_.default", "tt", view_in(c, z, &v, at), g);
  }
  if (may_overlap(&in)) z = shared_out(c, z, in_a_row(c, view_in(c, all, &in, 0)));
  op_g_set(c, 0, view_in(c, z, &m, 0));
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
static const char *const strided_copy_samples[] = {
  "f32[12], [2, 3], [3, 1]", NULL
};
const DtOpDef dt_op_as_strided_copy = {
  .schema = "aten::as_strided_copy(Tensor self, SymInt[] size, SymInt[] stride, "
            "SymInt? storage_offset=None) -> Tensor",
  .brief = "A copy of elements at places of the storage.",
  .decomp = op_d_program, .program = "x = as_strided(self, size, stride, "
  "storage_offset); clone(x, memory_format=!contiguous_format)",
  .grad = strided_grad, .samples = strided_copy_samples
};
const DtOpDef dt_op_is_pinned = {
  .schema = "aten::is_pinned(Tensor self, Device? device=None) -> bool",
  .brief = "Does the tensor lie in pinned memory?",
  .flags = DT_OP_HANDLER | DT_OP_NODATA | DT_OP_NOGRAD | DT_OP_NOSTRATEGY,
  .meta = pinned_meta, .kernel = pinned_kernel, .samples = pinned_samples
};
