/* SPDX-License-Identifier: MIT
** oplib/op_repeat.c: indices of elements taken as often as a tensor of
** counts says.  The result's size is known only from the counts. */
#include "oplib/op_unwritten.h"

#include <string.h>

static int64_t count_at (const DtTensor *t, int64_t i) {
  const char *p = dt_tensor_cdata(t);
  if (t->m.dtype == DT_I32) {
    int32_t v;
    memcpy(&v, p + i * t->m.stride[0] * 4, sizeof v);
    return v;
  }
  int64_t v;
  memcpy(&v, p + i * t->m.stride[0] * 8, sizeof v);
  return v;
}

static void put_at (const DtTensor *t, char *p, int64_t i, int64_t v) {
  int32_t w = (int32_t)v;
  if (t->m.dtype == DT_I32) memcpy(p + i * 4, &w, sizeof w);
  else memcpy(p + i * 8, &v, sizeof v);
}

static DtStatus repeat_kernel (DtKernelCall *c) {
  const DtTensor *t = c->in[0];
  DtMeta m;
  void *p = NULL;
  int64_t n = 0, at = 0, size[1];
  DT_CHECK(c->cx, t->m.ndim == 1, DT_E_RUNTIME,
           "repeat_interleave only accept 1D vector as repeat");
  DT_CHECK(c->cx, t->m.dtype == DT_I64 || t->m.dtype == DT_I32, DT_E_RUNTIME,
           "repeats has to be Long or Int tensor");
  for (int64_t i = 0; i < t->m.shape[0]; i++) {
    int64_t v = count_at(t, i);
    DT_CHECK(c->cx, v >= 0, DT_E_RUNTIME, "repeats can not be negative");
    DT_CHECK(c->cx, v <= INT64_MAX / 16 - n, DT_E_RUNTIME,
             "repeats add up to too many elements");
    n += v;
  }
  if (!dt_arg_is_none(c->args, 1))
    DT_CHECK(c->cx, dt_arg_int(c->args, 1) == n, DT_E_RUNTIME,
             "allocated size does not match required size");
  size[0] = n;
  DT_TRY(c->cx, op_new_meta(c->cx, &m, (DtDtype)t->m.dtype, 1, size, &t->m));
  DT_TRY(c->cx, dt_tensor_new(c->cx, &m, false, &c->made[0]));
  DT_TRY(c->cx, dt_tensor_data(c->cx, c->made[0], &p));
  for (int64_t i = 0; i < t->m.shape[0]; i++)
    for (int64_t k = count_at(t, i); k > 0; k--)
      put_at(t, p, at++, i);
  return DT_OK;
}

static const char *const samples[] = { "i64[8]", NULL };

OP_DEF(repeat_interleave_Tensor, "aten::repeat_interleave.Tensor(Tensor "
       "repeats, *, SymInt? output_size=None) -> Tensor",
       "Indices, each as often as its count says.",
       DT_OP_DATADEP | DT_OP_NOSTRATEGY | DT_OP_NOGRAD, NULL, repeat_kernel,
       NULL, samples, .row = NULL);
