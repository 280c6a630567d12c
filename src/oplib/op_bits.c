/* SPDX-License-Identifier: MIT
** oplib/op_bits.c: the same bytes read as another dtype (view.dtype), as
** FSDP does to gather parameters of several dtypes at once.
**
** It is a view: the engine rescales the offset, which counts elements. */
#include <math.h>
#include <string.h>

#include "oplib/oplib_int.h"

/* Of elements b bytes large instead of a: the last dimension changes its size,
** the others their strides. */
static DtStatus other_size (DtMetaCall *c, DtMeta *m, int64_t a, int64_t b) {
  const DtMeta *in = c->in[0];
  const char *from = op_dtype_word((DtDtype)in->dtype);
  const char *to = op_dtype_word((DtDtype)m->dtype);
  int i, n = in->ndim;
  DT_CHECK(c->cx, n > 0, DT_E_RUNTIME, "self.dim() cannot be 0 to view %s as "
           "%s (different element sizes)", from, to);
  DT_CHECK(c->cx, in->shape[n - 1] * a % b == 0, DT_E_RUNTIME, "self.size(-1) "
           "must be divisible by %lld to view %s as %s (different element "
           "sizes), but got %lld", (long long)(b / a), from, to,
           (long long)in->shape[n - 1]);
  DT_CHECK(c->cx, in->stride[n - 1] == 1, DT_E_RUNTIME, "self.stride(-1) "
           "must be 1 to view %s as %s (different element sizes), but got "
           "%lld", from, to, (long long)in->stride[n - 1]);
  for (i = 0; i < n - 1; i++) {
    DT_CHECK(c->cx, in->stride[i] * a % b == 0, DT_E_RUNTIME, "self.stride(%d) "
             "must be divisible by %lld to view %s as %s (different element "
             "sizes), but got %lld", i, (long long)(b / a), from, to,
             (long long)in->stride[i]);
    m->stride[i] = in->stride[i] * a / b;
  }
  m->shape[n - 1] = in->shape[n - 1] * a / b;
  return DT_OK;
}

static DtStatus bits_meta (DtMetaCall *c) {
  const DtMeta *in = c->in[0];
  DtDtype t = op_dtype_or(c->args, 1, (DtDtype)in->dtype);
  size_t a = dt_dtype_size((DtDtype)in->dtype), b = dt_dtype_size(t);
  c->nout = 1;
  dt_meta_copy(&c->out[0], in);
  c->out[0].dtype = (uint8_t)t;
  if (a == b) return DT_OK;
  return other_size(c, &c->out[0], (int64_t)a, (int64_t)b);
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
  .flags = DT_OP_VIEW | DT_OP_NOGRAD,
  .meta = bits_meta, .strategy = bits_strategy,
  .samples = bits_samples
};
