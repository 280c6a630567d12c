/* SPDX-License-Identifier: MIT
** oplib/op_linalg_rank.c: pseudo-inverses and ranks with their tolerances in
** all forms, eigenvalues alone.
**
** A tolerance that is a number becomes a double tensor first, as PyTorch
** makes it: plain, so a sharded matrix meets a plain tensor there. */
#include "oplib/op_linalg_int.h"
#include "oplib/emitting.h"

#include <math.h>
#include <string.h>

static DtHandle *number (DtDecompCall *c, double v) {
  return EMIT("aten.full.default", "If dtype=d", 0, (const int64_t *)NULL, v,
              (int)DT_F64);
}
/* eps of the matrix's type times its larger side. */
static double default_rtol (const DtMeta *m) {
  bool wide = m->dtype == DT_F64 || m->dtype == DT_C128;
  int64_t a = m->shape[m->ndim - 1], b = m->shape[m->ndim - 2];
  return (wide ? 2.220446049250313e-16 : 1.1920928955078125e-07) *
         (double)(a > b ? a : b);
}

/* Tolerances of any form: "atol"/"rtol" tensors or numbers, or one "rcond",
** "tol", tensor or number, which is relative for pinv, absolute for rank. */
static DtStatus tolerances (DtDecompCall *c, bool rank, DtHandle **atol,
                            DtHandle **rtol) {
  const DtSchema *s = c->args->schema;
  DtHandle *h[2] = { NULL };
  double v[2] = { 0, 0 };
  bool given[2] = { false, false }, tensor[2] = { false, false };
  static const char *const names[][2] = { { "atol", "rtol" },
                                          { "tol", "rcond" } };
  DtMeta m = meta_of(c, c->in[0]);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.ndim >= 2, DT_E_RUNTIME, "linalg.%s: The input tensor %s must "
           "have at least 2 dimensions.", rank ? "matrix_rank" : "pinv",
           rank ? "input" : "A");
  for (int k = 0; k < 2; k++)
    for (int j = 0; j < 2; j++) {
      int i = dt_schema_arg(s, names[k][j]);
      if (i < 0 || dt_arg_is_none(c->args, i)) continue;
      given[j] = true;
      tensor[j] = c->args->v[i].kind == DT_V_TENSOR;
      if (tensor[j]) h[j] = dt_hin(c, i);
      else v[j] = dt_arg_float(c->args, i);
    }
  if (!given[0]) v[0] = 0;
  if (!given[1])        /* an absolute tolerance alone: nothing relative */
    v[1] = given[0] && (!tensor[0] ? v[0] > 0 : true) ? 0 : default_rtol(&m);
  if (h[0] == NULL)
    h[0] = tensor[1] || (rank && !given[0] && !given[1])
           ? EMIT("aten.zeros.default", "I dtype=d", 0, (const int64_t *)NULL,
                  (int)DT_F64) : number(c, v[0]);
  if (h[1] == NULL) h[1] = number(c, v[1]);
  *atol = h[0];
  *rtol = h[1];
  return c->e->st;
}
static bool hermitian (DtDecompCall *c) {
  int i = dt_schema_arg(c->args->schema, "hermitian");
  return i >= 0 && dt_arg_bool(c->args, i);
}

static DtStatus pinv_decomp (DtDecompCall *c) {
  DtHandle *a, *r;
  DT_TRY(CX, tolerances(c, false, &a, &r));
  if (hermitian(c))
    return finish(c, EMIT("aten.linalg_pinv.atol_rtol_tensor",
                          "t atol=t rtol=t hermitian=b", c->in[0], a, r, 1));
  return finish(c, EMIT("aten.linalg_pinv.atol_rtol_tensor", "t atol=t rtol=t",
                        c->in[0], a, r));
}

static DtStatus rank_decomp (DtDecompCall *c) {
  DtHandle *a, *r, *s[3] = { NULL }, *top;
  int64_t last = -1;
  DT_TRY(CX, tolerances(c, true, &a, &r));
  if (hermitian(c)) {
    dt_emit_n(c->e, "aten._linalg_eigh.default", s, 2, "t", c->in[0]);
    s[1] = EMIT("aten.abs.default", "t", s[0]);
    top = EMIT("aten.amax.default", "tIb", s[1], 1, &last, 1);
  } else {
    dt_emit_n(c->e, "aten._linalg_svd.default", s, 3, "t", c->in[0]);
    top = EMIT("aten.slice.Tensor", "tiii", s[1], last, (int64_t)0,
               (int64_t)1);
  }
  r = EMIT("aten.unsqueeze.default", "ti", r, last);
  r = EMIT("aten.mul.Tensor", "tt", r, top);
  a = EMIT("aten.unsqueeze.default", "ti", a, last);
  a = EMIT("aten.maximum.default", "tt", a, r);
  a = EMIT("aten.gt.Tensor", "tt", s[1], a);
  return finish(c, EMIT("aten.sum.dim_IntList", "tI", a, 1, &last));
}

/* ---- eigenvalues alone ---- */

static DtStatus eigvals_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  DtDtype t = (DtDtype)m->dtype;
  DT_CHECK(c->cx, m->ndim >= 2 &&
           m->shape[m->ndim - 1] == m->shape[m->ndim - 2], DT_E_RUNTIME,
           "linalg.eigvals: A must be batches of square matrices");
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], t == DT_F64 || t == DT_C128 ? DT_C128
                                                                    : DT_C64,
                     m->ndim - 1, m->shape, m);
}

/* ---- definitions ---- */

#define RK(id, schema_, brief_, decomp_, ...) \
  static const char *const id##_samples[] = { __VA_ARGS__, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = DT_OP_COMPOSITE, \
    .decomp = decomp_, .samples = id##_samples }
#define FLOATS "*, float? atol=None, float? rtol=None, bool hermitian=False"
RK(linalg_matrix_rank, "linalg_matrix_rank(Tensor self, float tol, bool "
   "hermitian=False) -> Tensor", "Singular values above a tolerance, counted.",
   rank_decomp, "f32[4, 3], 0.1");
RK(linalg_matrix_rank_atol_rtol_float, "linalg_matrix_rank.atol_rtol_float("
   "Tensor self, " FLOATS ") -> Tensor",
   "Singular values above a tolerance, counted.", rank_decomp, "f32[4, 3]");
RK(linalg_matrix_rank_atol_rtol_tensor, "linalg_matrix_rank.atol_rtol_tensor("
   "Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool "
   "hermitian=False) -> Tensor",
   "Singular values above a tolerance, counted.", rank_decomp, "f32[4, 3]");
RK(linalg_matrix_rank_tol_tensor, "linalg_matrix_rank.tol_tensor(Tensor input, "
   "Tensor tol, bool hermitian=False) -> Tensor",
   "Singular values above a tolerance, counted.", rank_decomp,
   "f32[4, 3], f32[]");
RK(linalg_pinv, "linalg_pinv(Tensor self, float rcond, bool hermitian=False) "
   "-> Tensor", "Pseudo-inverse.", pinv_decomp, "f32[4, 3], 0.1");
RK(linalg_pinv_atol_rtol_float, "linalg_pinv.atol_rtol_float(Tensor self, "
   FLOATS ") -> Tensor", "Pseudo-inverse.", pinv_decomp, "f32[4, 3]");
RK(linalg_pinv_rcond_tensor, "linalg_pinv.rcond_tensor(Tensor self, Tensor "
   "rcond, bool hermitian=False) -> Tensor", "Pseudo-inverse.", pinv_decomp,
   "f32[4, 3], f32[]");
RK(pinverse, "pinverse(Tensor self, float rcond=1.0000000000000001e-15) -> "
   "Tensor", "Pseudo-inverse.", pinv_decomp, "f32[4, 3]");
static const char *const eigvals_samples[] = { "f32[3, 3]", NULL };
const DtOpDef dt_op__linalg_eigvals = {
  .schema = "aten::_linalg_eigvals(Tensor self) -> Tensor",
  .brief = "Eigenvalues.", .flags = DT_OP_NOGRAD | DT_OP_NOSTRATEGY,
  .meta = eigvals_meta, .kernel = op_k_la_eigvals, .samples = eigvals_samples
};
