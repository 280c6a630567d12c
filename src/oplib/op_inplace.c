/* SPDX-License-Identifier: MIT
** oplib/op_inplace.c: composites that write their first argument: dropouts and
** the random leaky relu; and copies of views whose dims are arguments. */
#include <math.h>
#include "oplib/oplib_int.h"
#include "oplib/emitting.h"

/* ---- dropouts ---- */

/* alpha: what is left out becomes a constant, and all is scaled so that mean
** and variance stay.  noise: 1 where an element stays. */
static void alpha_drop (DtDecompCall *c, DtHandle *noise, double p) {
  const double alpha = 1.7580993408473766;
  double a = 1 / sqrt((alpha * alpha * p + 1) * (1 - p));
  DtHandle *b = EMIT("aten.add.Scalar", "ti", noise, INT64_C(-1));
  EMIT("aten.mul_.Scalar", "tf", b, alpha * a);
  EMIT("aten.add_.Scalar", "tf", b, alpha * a * p);
  EMIT("aten.mul_.Scalar", "tf", noise, a);
  EMIT("aten.mul_.Tensor", "tt", c->in[0], noise);
  EMIT("aten.add_.Tensor", "tt", c->in[0], b);
}

static DtStatus dropout_decomp (DtDecompCall *c) {
  bool feature = strstr(c->op->schema, "feature") != NULL;
  bool alpha = strstr(c->op->schema, "alpha") != NULL;
  double p = dt_arg_float(c->args, 1);
  DtHandle *x = c->in[0], *noise;
  DtMeta m = meta_of(c, x);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, p >= 0 && p <= 1, DT_E_RUNTIME, "dropout probability has to be "
           "between 0 and 1, but got %g", p);
  if (p == 0 || !dt_arg_bool(c->args, 2) || dt_meta_numel(&m) == 0)
    return finish(c, x);
  if (p == 1) {
    noise = EMIT("aten.zeros.default", "I dtype=d", 0, m.shape,
                 (DtDtype)m.dtype);
    EMIT("aten.mul_.Tensor", "tt", x, noise);
    return finish(c, x);
  }
  DT_CHECK(CX, !feature || m.ndim >= 2, DT_E_RUNTIME, "Feature dropout requires "
           "at least 2 dimensions in the input");
  for (int d = 2; feature && d < m.ndim; d++) m.shape[d] = 1;
  noise = feature ? EMIT("aten.new_empty.default", "tI", x, (int)m.ndim,
                         m.shape)
                  : EMIT("aten.empty_like.default", "t", x);
  EMIT("aten.bernoulli_.float", "tf", noise, 1 - p);
  if (alpha) {
    alpha_drop(c, noise, p);
    return finish(c, x);
  }
  EMIT("aten.div_.Scalar", "tf", noise, 1 - p);
  EMIT("aten.mul_.Tensor", "tt", x, noise);
  return finish(c, x);
}

static DtStatus rrelu_decomp (DtDecompCall *c) {
  const DtValue *v = c->args->v;
  DtValue f = dt_v_code(DT_V_MEMFMT, DT_MF_CONTIGUOUS);
  DtHandle *noise = EMIT("aten.empty_like.default", "t memory_format=v",
                         c->in[0],
                         f);
  return finish(c, EMIT("aten.rrelu_with_noise_.default", "ttvvvv", c->in[0],
                        noise, v[1], v[2], v[3], v[4]));
}

/* ---- pieces given by a tensor ---- */

static DtStatus tensor_split_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[1]);
  int64_t at[DT_MAX_NDIM * 8], n = 0;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.dtype == DT_I64, DT_E_RUNTIME, "tensor_split expected "
           "tensor_indices_or_sections to have dtype of long, but got %s",
           op_dtype_word((DtDtype)m.dtype));
  DT_CHECK(CX, m.ndim < 2, DT_E_RUNTIME, "tensor_split expected "
           "tensor_indices_or_sections to be a zero-dimensional or "
           "one-dimensional tensor, but got a tensor with %d dims", m.ndim);
  n = m.ndim == 0 ? 1 : m.shape[0];
  DT_CHECK(CX, n <= (int64_t)(sizeof at / sizeof *at), DT_E_NOTIMPL,
           "tensor_split: more than %d places", (int)(sizeof at / sizeof *at));
  for (int64_t i = 0; i < n; i++) {
    DtHandle *one = m.ndim == 0 ? c->in[1]
      : EMIT("aten.select.int", "tii", c->in[1], INT64_C(0), i);
    DT_TRY(CX, dt_emit_item(c->e, one, &at[i]));
  }
  c->nout = m.ndim == 0 ? (int)at[0] : (int)n + 1;
  DT_CHECK(CX, c->nout > 0, DT_E_RUNTIME, "number of sections must be larger "
           "than 0, got %d", c->nout);
  DT_CHECK(CX, c->nout <= c->maxout, DT_E_NOTIMPL,
           "tensor_split: more than %d pieces", c->maxout);
  if (m.ndim == 0)
    dt_emit_n(c->e, "aten.tensor_split.sections", c->out, c->nout, "tiv",
              c->in[0], at[0], c->args->v[2]);
  else
    dt_emit_n(c->e, "aten.tensor_split.indices", c->out, c->nout, "tIv",
              c->in[0], (int)n, at, c->args->v[2]);
  return c->e->st;
}

/* ---- definitions ---- */

#define C(id, schema_, brief_, decomp_, ...) \
  static const char *const id##_samples[] = { __VA_ARGS__, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = DT_OP_COMPOSITE, \
    .decomp = decomp_, .samples = id##_samples }
#define DROP(id, brief_) \
  C(id, #id "(Tensor(a!) self, float p, bool train) -> Tensor(a!)", brief_, \
    dropout_decomp, "f32[8, 6], 0.5, false")
/* Dispatched whole; the program stands for the kernel. */
#define T(id, schema_, brief_, program_, backward_, ...) \
  static const char *const id##_samples[] = { __VA_ARGS__, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .decomp = op_d_program, \
    .program = program_, .grad = op_g_program, .backward = backward_, \
    .samples = id##_samples }
DROP(dropout_, "Elements left out at random, in place.");
DROP(alpha_dropout_, "Elements left out at random, mean and variance kept, in "
     "place.");
DROP(feature_dropout_, "Channels left out at random, in place.");
DROP(feature_alpha_dropout_, "Channels left out at random, mean and variance "
     "kept, in place.");
C(rrelu_, "rrelu_(Tensor(a!) self, Scalar lower=0.125, Scalar "
  "upper=0.33333333333333331, bool training=False, Generator? generator=None) "
  "-> Tensor(a!)", "relu with random slopes below 0, in place.", rrelu_decomp,
  "f32[8, 6]");
C(tensor_split_tensor_indices_or_sections,
  "tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor "
  "tensor_indices_or_sections, int dim=0) -> Tensor(a)[]",
  "Pieces whose ends or number a tensor holds.", tensor_split_decomp,
  "f32[8, 6], i64[1]");
T(as_strided_scatter, "as_strided_scatter(Tensor self, Tensor src, SymInt[] "
  "size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor",
  "A copy with elements written at places of the storage.",
  "x = clone(self); y = as_strided(x, size, stride, storage_offset); "
  "copy_(y, src); return x",
  "self: g = as_strided(grad, size, stride, storage_offset); z = "
  "new_zeros(grad, shape(self)); x = as_strided(z, shape(self), "
  "strides(self)); y = as_strided(z, size, stride, storage_offset); "
  "copy_(y, g); return x | src: as_strided(grad, size, stride, storage_offset)",
  "f32[12], f32[2, 3], [2, 3], [3, 1]");
static const char *const permute_copy_samples[] = { "f32[8, 6], [1, 0]", NULL };
const DtOpDef dt_op_permute_copy = {
  .schema = "aten::permute_copy(Tensor self, int[] dims) -> Tensor",
  .brief = "A copy with its dims in another order.", .decomp = op_d_program,
  .program = "x = permute(self, dims); clone(x, "
             "memory_format=!contiguous_format)",
  .grad = op_g_permute, .samples = permute_copy_samples
};
