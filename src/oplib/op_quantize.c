/* SPDX-License-Identifier: MIT
** oplib/op_quantize.c: numbers as a quantised program would see them: put on a
** grid and taken back.  The gradient passes where no end of it was in the
** way. */
#include <string.h>
#include "kernel/binned.h"
#include "oplib/op_unwritten.h"
#include "oplib/emitting.h"
#include "tensor/dtype_text.h"

#define KERNEL "fake_quantize_tensor_cachemask_kernel_type_handling"

static DtStatus two_metas (DtMetaCall *c) {
  op_like_meta(&c->out[0], c->in[0], (DtDtype)c->in[0]->dtype);
  op_like_meta(&c->out[1], c->in[0], DT_BOOL);
  return DT_OK;
}

static DtStatus check_ends (DtCtx *cx, int64_t lo, int64_t hi) {
  DT_CHECK(cx, lo <= hi, DT_E_RUNTIME, "`quant_min` should be less than or "
           "        equal to `quant_max`.");
  return DT_OK;
}

static DtStatus check_type (DtKernelCall *c) {
  DtDtype t = (DtDtype)c->in[0]->m.dtype;
  DT_CHECK(c->cx, dt_dtype_is_float(t) && dt_dtype_size(t) > 1, DT_E_NOTIMPL,
           "\"" KERNEL "\" not implemented for '%s'", dt_dtype_word(t));
  return DT_OK;
}

static DtStatus tensor_kernel (DtKernelCall *c) {
  double scale = (double)(float)dt_arg_float(c->args, 1);
  int64_t at = dt_arg_int(c->args, 2), lo = dt_arg_int(c->args, 3);
  int64_t hi = dt_arg_int(c->args, 4);
  double zero = (double)at;
  DtGrid g = { .scale = &scale, .zero = &zero, .whole = true, .nchan = 1,
               .lo = (double)lo, .hi = (double)hi };
  DT_TRY(c->cx, check_ends(c->cx, lo, hi));
  DT_CHECK(c->cx, at >= lo && at <= hi, DT_E_RUNTIME, "`zero_point` must be "
           "between `quant_min` and `quant_max`.");
  DT_TRY(c->cx, check_type(c));
  return dt_k_fake_quantize(c->cx, &g, c->in[0], c->out[0], c->out[1]);
}

/* The elements of t as doubles; *dense holds them, caller unrefs. */
static DtStatus numbers (DtKernelCall *c, DtTensor *t, DtTensor **dense) {
  DT_TRY(c->cx, op_temp(c->cx, DT_F64, t->m.ndim, t->m.shape, dense));
  return dt_k_copy(c->cx, t, *dense);
}

/* Scale, zero point and whether to do it at all are tensors. */
static DtStatus switched_kernel (DtKernelCall *c) {
  DtTensor *t[3] = { NULL };
  int64_t lo = dt_arg_int(c->args, 4), hi = dt_arg_int(c->args, 5);
  DtStatus st;
  DT_TRY(c->cx, check_ends(c->cx, lo, hi));
  DT_TRY(c->cx, check_type(c));
  for (int i = 0; i < 3; i++) {
    DT_CHECKG(c->cx, dt_meta_numel(&dt_kin(c, i + 1)->m) > 0, DT_E_RUNTIME,
              "%s: %s has no elements", c->op->sig->full,
              c->op->sig->arg[i + 1].name);
    DT_TRYG(c->cx, numbers(c, dt_kin(c, i + 1), &t[i]));
  }
  DtGrid g = { .scale = dt_tensor_cdata(t[0]), .zero = dt_tensor_cdata(t[1]),
               .whole = true, .nchan = 1, .lo = (double)lo, .hi = (double)hi };
  if (*(const double *)dt_tensor_cdata(t[2]) != 0) {
    st = dt_k_fake_quantize(c->cx, &g, c->in[0], c->out[0], c->out[1]);
    goto done;
  }
  DT_TRYG(c->cx, dt_k_copy(c->cx, c->in[0], c->out[0]));
  DT_TRYG(c->cx, dt_k_fill(c->cx, c->out[1], dt_scalar_int(1)));
done:
  for (int i = 0; i < 3; i++) dt_tensor_unref(c->cx, t[i]);
  return st;
}

static DtStatus check_channels (DtKernelCall *c, int *axis) {
  const DtMeta *m = &c->in[0]->m, *s = &dt_kin(c, 1)->m;
  const DtMeta *z = &dt_kin(c, 2)->m;
  DtDtype t = (DtDtype)z->dtype;
  DT_CHECK(c->cx, s->dtype == DT_F32 || s->dtype == DT_BF16, DT_E_RUNTIME,
           "Scale must be Float or BFloat16, found %s",
           dt_dtype_word((DtDtype)s->dtype));
  DT_CHECK(c->cx, t == DT_I32 || t == DT_F32 || t == DT_F16, DT_E_RUNTIME,
           "Zero-point must be Int32, Float or Half, found %s",
           dt_dtype_word(t));
  DT_CHECK(c->cx, s->ndim == 1, DT_E_RUNTIME, "scale should be a 1-D tensor");
  DT_CHECK(c->cx, z->ndim == 1, DT_E_RUNTIME,
           "zero point should be a 1-D tensor");
  DT_CHECK(c->cx, s->shape[0] == z->shape[0], DT_E_RUNTIME,
           "scale and zero-point need to have the same dimensions");
  DT_TRY(c->cx, op_dim(c->cx, c->args, 3, m->ndim, axis));
  DT_CHECK(c->cx, m->ndim > 0 && s->shape[0] == m->shape[*axis], DT_E_RUNTIME,
           "dimensions of scale and zero-point are not consistent with input "
           "tensor");
  return check_ends(c->cx, dt_arg_int(c->args, 4), dt_arg_int(c->args, 5));
}

static DtStatus channel_kernel (DtKernelCall *c) {
  DtTensor *s = NULL, *z = NULL;
  DtGrid g = { .lo = (double)dt_arg_int(c->args, 4),
               .hi = (double)dt_arg_int(c->args, 5) };
  DtStatus st;
  DT_TRYG(c->cx, check_channels(c, &g.axis));
  DT_TRYG(c->cx, check_type(c));
  DT_TRYG(c->cx, numbers(c, dt_kin(c, 1), &s));
  DT_TRYG(c->cx, numbers(c, dt_kin(c, 2), &z));
  g.scale = dt_tensor_cdata(s);
  g.zero = dt_tensor_cdata(z);
  g.nchan = s->m.shape[0];
  g.whole = dt_kin(c, 2)->m.dtype == DT_I32;
  for (int64_t i = 0; g.whole && i < g.nchan; i++)
    DT_CHECKG(c->cx, g.zero[i] >= g.lo && g.zero[i] <= g.hi, DT_E_RUNTIME,
              "`zero_point` must be between `quant_min` and `quant_max`.");
  if (g.nchan > 0)
    DT_TRYG(c->cx, dt_k_fake_quantize(c->cx, &g, c->in[0], c->out[0],
                                      c->out[1]));
done:
  dt_tensor_unref(c->cx, s);
  dt_tensor_unref(c->cx, z);
  return st;
}

static DtStatus masked_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", GOUT, c->out[1]));
  return op_g_finish(c);
}

/* ---- the public names ---- */

static DtStatus first_of (DtDecompCall *c, DtHandle *const *out) {
  return finish(c, out[0]);
}
static DtStatus tensor_decomp (DtDecompCall *c) {
  const DtValue *v = c->args->v;
  DtHandle *out[2] = { NULL };
  dt_emit_n(c->e, "aten.fake_quantize_per_tensor_affine_cachemask.default", out,
            2, "tvvvv", c->in[0], v[1], v[2], v[3], v[4]);
  return first_of(c, out);
}
static DtStatus qparams_decomp (DtDecompCall *c) {
  const DtValue *v = c->args->v;
  DtHandle *out[2] = { NULL };
  const int64_t one = 1;
  DtHandle *on = EMIT("aten.ones.default", "I dtype=d", 1, &one, DT_I64);
  dt_emit_n(c->e, "aten._fake_quantize_per_tensor_affine_cachemask_tensor_"
            "qparams.default", out, 2, "ttttvv", c->in[0], c->in[1], c->in[2],
            on, v[3], v[4]);
  return first_of(c, out);
}
static DtStatus channel_decomp (DtDecompCall *c) {
  const DtValue *v = c->args->v;
  DtHandle *out[2] = { NULL };
  dt_emit_n(c->e, "aten.fake_quantize_per_channel_affine_cachemask.default",
            out, 2, "tttvvv", c->in[0], c->in[1], c->in[2], v[3], v[4], v[5]);
  return first_of(c, out);
}

/* ---- definitions ---- */

#define ENDS "int quant_min, int quant_max) -> "
#define PER_TENSOR "(Tensor self, float scale, int zero_point, " ENDS
#define QPARAMS "(Tensor self, Tensor scale, Tensor zero_point, "
static const char *const tensor_samples[] = {
  "f32[8, 6], 0.1, 0, -10, 10", NULL
};
static const char *const switched_samples[] = {
  "f32[8, 6], f32[1], i32[1], i64[1], -10, 10", NULL
};
static const char *const qparams_samples[] = {
  "f32[8, 6], f32[1], i32[1], -10, 10", NULL
};
static const char *const channel_samples[] = {
  "f32[8, 6], f32[6], f32[6], 1, -10, 10", NULL
};
#define MASKED(id, args_, kernel_, samples_) \
  OP_DEF(id, "aten::" #id args_ "(Tensor output, Tensor mask)", \
         "Numbers on a grid, and where no end of it was in the way.", \
         DT_OP_NOSTRATEGY | DT_OP_SAVE_OUT, two_metas, kernel_, masked_grad, \
         samples_, .row = NULL)
#define PUBLIC(id, schema_, decomp_, samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_ "Tensor", \
    .brief = "Numbers on a grid, as a quantised program sees them.", \
    .flags = DT_OP_COMPOSITE, .decomp = decomp_, .samples = samples_ }
MASKED(fake_quantize_per_tensor_affine_cachemask, PER_TENSOR, tensor_kernel,
       tensor_samples);
MASKED(_fake_quantize_per_tensor_affine_cachemask_tensor_qparams, QPARAMS
       "Tensor fake_quant_enabled, " ENDS, switched_kernel, switched_samples);
MASKED(fake_quantize_per_channel_affine_cachemask, QPARAMS "int axis, " ENDS,
       channel_kernel, channel_samples);
PUBLIC(fake_quantize_per_tensor_affine, "fake_quantize_per_tensor_affine"
       PER_TENSOR, tensor_decomp, tensor_samples);
PUBLIC(fake_quantize_per_tensor_affine_tensor_qparams,
       "fake_quantize_per_tensor_affine.tensor_qparams" QPARAMS ENDS,
       qparams_decomp, qparams_samples);
PUBLIC(fake_quantize_per_channel_affine, "fake_quantize_per_channel_affine"
       QPARAMS "int axis, " ENDS, channel_decomp, channel_samples);
