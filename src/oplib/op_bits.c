/* SPDX-License-Identifier: MIT
** oplib/op_bits.c: the same bytes read as another dtype (view.dtype), as
** FSDP does to gather parameters of several dtypes at once.
**
** PyTorch returns a view.  Here offsets are counted in elements, so the
** result is a copy of the bytes: nobody may write through it. */
#include <math.h>
#include <string.h>

#include "oplib/oplib_int.h"

static DtStatus bits_meta (DtMetaCall *c) {
  const DtMeta *in = c->in[0];
  DtDtype t = op_dtype_or(c->args, 1, (DtDtype)in->dtype);
  int64_t a = (int64_t)dt_dtype_size((DtDtype)in->dtype);
  int64_t b = (int64_t)dt_dtype_size(t), shape[DT_MAX_NDIM];
  int n = in->ndim;
  memcpy(shape, in->shape, sizeof *shape * (size_t)n);
  if (a != b) {
    DT_CHECK(c->cx, n > 0, DT_E_RUNTIME, "self.dim() cannot be 0 to view %s as "
             "%s (different element sizes)",
             dt_dtype_info((DtDtype)in->dtype)->torch,
             dt_dtype_info(t)->torch);
    DT_CHECK(c->cx, shape[n - 1] * a % b == 0, DT_E_RUNTIME, "self.size(-1) "
             "must be divisible by %lld to view %s as %s (different element "
             "sizes), but got %lld", (long long)(b / a),
             dt_dtype_info((DtDtype)in->dtype)->torch,
             dt_dtype_info(t)->torch, (long long)shape[n - 1]);
    DT_CHECK(c->cx, in->stride[n - 1] == 1, DT_E_RUNTIME, "self.stride(-1) "
             "must be 1 to view %s as %s (different element sizes), but got "
             "%lld", dt_dtype_info((DtDtype)in->dtype)->torch,
             dt_dtype_info(t)->torch, (long long)in->stride[n - 1]);
    shape[n - 1] = shape[n - 1] * a / b;
  }
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], t, n, shape, in);
}

static DtStatus bits_kernel (DtKernelCall *c) {
  const DtTensor *in = c->in[0];
  DtTensor *packed = NULL;
  DtMeta m;
  void *p = NULL, *q = NULL;
  DtStatus st;
  DT_TRY(c->cx, op_new_meta(c->cx, &m, (DtDtype)in->m.dtype, in->m.ndim,
                            in->m.shape, &in->m));
  DT_TRY(c->cx, dt_tensor_new(c->cx, &m, false, &packed));
  st = dt_k_copy(c->cx, in, packed);
  if (st == DT_OK && dt_meta_numel(&m) > 0) {
    st = dt_tensor_data(c->cx, packed, &p);
    if (st == DT_OK) st = dt_tensor_data(c->cx, c->out[0], &q);
    if (st == DT_OK)
      memcpy(q, p, (size_t)dt_meta_numel(&m)
                   * dt_dtype_size((DtDtype)m.dtype));
  }
  dt_tensor_unref(c->cx, packed);
  return st;
}

/* PyTorch lets the placements through. */
static DtStatus bits_strategy (DtStratCall *c) {
  return op_s_one(c, c->in[0]->pl, c->in[0]->pl, NAN);
}

static const char *const bits_samples[] = {
  "f32[4, 6], dtype=i32", "f32[3, 4], dtype=u8", "f64[2], dtype=f32", NULL
};
const DtOpDef dt_op_view_dtype = {
  .schema = "aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
  .brief = "The same bytes read as another dtype.",
  .flags = DT_OP_NOGRAD,
  .meta = bits_meta, .kernel = bits_kernel, .strategy = bits_strategy,
  .samples = bits_samples
};
