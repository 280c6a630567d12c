/* SPDX-License-Identifier: MIT
** oplib/op_linalg_text.c: public functions of linear algebra that are always
** the same few calls: each is its program (op_program.c).  Functions that look
** at shapes first are in op_linalg_public.c. */
#include "oplib/oplib_int.h"

#define D(id, schema_, brief_, program_, ...) \
  static const char *const id##_samples[] = { __VA_ARGS__, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = DT_OP_COMPOSITE, \
    .decomp = op_d_program, .program = program_, .samples = id##_samples }

D(det, "det(Tensor self) -> Tensor", "Determinants.",
  "d, l, p = _linalg_det(self); return d", "f32[3, 3]");
D(inverse, "inverse(Tensor self) -> Tensor", "Inverse of a matrix.",
  "linalg_inv(self)", "f32[3, 3]");
D(linalg_diagonal, "linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, "
  "int dim2=-1) -> Tensor(a)", "Diagonals of matrices.",
  "diagonal(A, offset, dim1, dim2)", "f32[4, 4]");
D(linalg_matmul, "linalg_matmul(Tensor self, Tensor other) -> Tensor",
  "Matrix product.", "matmul(self, other)", "f32[8, 6], f32[6, 4]");
D(orgqr, "orgqr(Tensor self, Tensor input2) -> Tensor",
  "Product of Householder reflections.",
  "linalg_householder_product(self, input2)", "f32[4, 3], f32[3]");
D(slogdet, "slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)",
  "Sign and logarithm of determinants.",
  "s, l, a, p = _linalg_slogdet(self); return s, l", "f32[3, 3]");
