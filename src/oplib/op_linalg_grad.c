/* SPDX-License-Identifier: MIT
** oplib/op_linalg_grad.c: gradients of the linear algebra operators.
**
** The formulas and the order of their calls are those of PyTorch's
** FunctionsManual.cpp: backward is dispatched call by call, so a sharded or
** traced backward shows the same program.  In C the operands of a product are
** written in the order PyTorch's compiler evaluates them: last one first. */
#include "oplib/grading_matrix.h"
#include "oplib/op_linalg_int.h"
#include "oplib/op_unwritten.h"

#include <math.h>
#include <string.h>

#define ST "aten.linalg_solve_triangular.default"

/* ---- determinants ---- */

/* diag(d), stored column by column as lu_solve wants it. */
static DtHandle *scaled_eye (DtGradCall *c, DtHandle *d, DtHandle *pivots) {
  DtMeta m = meta_of(c, pivots);
  d = unsq(c, d, -1);
  d = EMIT("aten.expand.default", "tI", d, (int)m.ndim, m.shape);
  d = EMIT("aten.diag_embed.default", "t", d);
  return EMIT("aten.transpose.int", "tii", d, (int64_t)-2, (int64_t)-1);
}
static bool factored_transposed (DtGradCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  return dt_meta_is_contiguous(&m) && !dt_dtype_is_complex((DtDtype)m.dtype);
}
static DtHandle *lu_solve (DtGradCall *c, DtHandle *lu, DtHandle *pivots,
                           DtHandle *b, bool left, bool adjoint) {
  if (!left)
    return EMIT("aten.linalg_lu_solve.default", "ttt left=b adjoint=b", lu,
                pivots, b, 0, (int)adjoint);
  return adjoint ? EMIT("aten.linalg_lu_solve.default", "ttt adjoint=b", lu,
                        pivots, b, 1)
                 : EMIT("aten.linalg_lu_solve.default", "ttt", lu, pivots, b);
}

/* A^-H b, or b A^-H.  Factors have no graph: where the gradient is
** differentiated again the matrix itself is solved. */
static DtHandle *solve_adjoint (DtGradCall *c, DtHandle *lu, DtHandle *pivots,
                                DtHandle *b, bool left, bool adjoint) {
  if (!c->e->recorded) return lu_solve(c, lu, pivots, b, left, adjoint);
  return EMIT("aten.linalg_solve.default", "tt left=b", mh(c, c->in[0]), b,
              (int)left);
}

/* A singular matrix is moved off by an epsilon on the diagonal of U. */
DtStatus op_g_la_det (DtGradCall *c) {
  DtHandle *lu = c->out[1], *piv = c->out[2], *g = c->gout[0], *d, *x, *y, *z;
  DtMeta m = meta_of(c, c->in[0]);
  DtDtype t = (DtDtype)m.dtype;
  bool wide = t == DT_F64 || t == DT_C128;
  if (g == NULL) return op_g_finish(c);
  if (dt_emit_ok(c->e) && dt_meta_numel(&m) == 0) {
    op_g_set(c, 0, EMIT("aten.zeros_like.default", "t", c->in[0]));
    return op_g_finish(c);
  }
  if (dt_emit_ok(c->e) && m.shape[m.ndim - 1] == 1) {
    g = unsq(c, unsq(c, g, -1), -1);
    op_g_set(c, 0, EMIT("aten.expand.default", "tI", g, (int)m.ndim, m.shape));
    return op_g_finish(c);
  }
  d = c->out[0];
  if (dt_dtype_is_complex(t))
    d = EMIT("aten._conj.default", "t", d);
  d = scaled_eye(c, mul(c, g, d), piv);
  if (c->e->recorded) {
    op_g_set(c, 0, solve_adjoint(c, lu, piv, d, true, true));
    return op_g_finish(c);
  }
  x = EMIT("aten.eq.Scalar", "tf", diagonal(c, lu), 0.0);
  y = EMIT("aten.scalar_tensor.default", "f dtype=d", 0.0, (int)t);
  z = EMIT("aten.scalar_tensor.default", "f dtype=d",
           wide ? 2.220446049250313e-16 : 1.1920928955078125e-07, (int)t);
  x = EMIT("aten.where.self", "ttt", x, z, y);
  x = EMIT("aten.diag_embed.default", "t", x);
  x = add(c, lu, x);
  op_g_set(c, 0, lu_solve(c, x, piv, d, true, !factored_transposed(c)));
  return op_g_finish(c);
}

DtStatus op_g_la_slogdet (DtGradCall *c) {
  DtHandle *g = c->gout[1];
  if (g == NULL)
    op_g_set(c, 0, EMIT("aten.zeros_like.default", "t", c->in[0]));
  else
    op_g_set(c, 0, solve_adjoint(c, c->out[2], c->out[3],
                                 scaled_eye(c, g, c->out[3]), true,
                                 !factored_transposed(c)));
  return op_g_finish(c);
}

/* ---- inverses and solutions ---- */

DtStatus op_g_la_inv_ex (DtGradCall *c) {
  DtHandle *x;
  if (c->gout[0] == NULL) return op_g_finish(c);
  x = mm(c, c->gout[0], mh(c, c->out[0]));
  op_g_set(c, 0, neg(c, mm(c, mh(c, c->out[0]), x)));
  return op_g_finish(c);
}

/* -gB X^H, or the other way round for X A = B. */
static DtHandle *of_matrix (DtGradCall *c, DtHandle *gb, DtHandle *x,
                            bool left) {
  x = mh(c, x);
  return neg(c, left ? mm(c, gb, x) : mm(c, x, gb));
}

DtStatus op_g_la_solve_ex (DtGradCall *c) {
  DtHandle *g = c->gout[0], *x = c->out[0], *gb;
  DtMeta mx = meta_of(c, x), mlu = meta_of(c, c->out[1]);
  bool vec = mx.ndim < mlu.ndim, left = dt_arg_bool(c->args, 2);
  if (g == NULL) return op_g_finish(c);
  if (vec) g = unsq(c, g, -1);
  gb = solve_adjoint(c, c->out[1], c->out[2], g, left, true);
  if (op_g_need(c, 0)) {
    if (vec) x = unsq(c, x, -1);
    op_g_set(c, 0, of_matrix(c, gb, x, left));
  }
  if (op_g_need(c, 1))
    op_g_set(c, 1, vec ? EMIT("aten.squeeze.dim", "ti", gb, (int64_t)-1) : gb);
  return op_g_finish(c);
}

DtStatus op_g_la_solve_triangular (DtGradCall *c) {
  bool upper = dt_arg_bool(c->args, 2), left = dt_arg_bool(c->args, 3);
  bool unit = dt_arg_bool(c->args, 4);
  DtHandle *g = c->gout[0], *gb;
  gb = left ? unit ? EMIT(ST, "tt upper=b unitriangular=b", mh(c, c->in[0]), g,
                          (int)!upper, 1)
                   : EMIT(ST, "tt upper=b", mh(c, c->in[0]), g, (int)!upper)
       : unit ? EMIT(ST, "tt upper=b left=b unitriangular=b", mh(c, c->in[0]),
                     g,
                     (int)!upper, 0, 1)
              : EMIT(ST, "tt upper=b left=b", mh(c, c->in[0]), g, (int)!upper,
                     0);
  if (op_g_need(c, 0)) {
    DtHandle *ga = of_matrix(c, gb, c->out[0], left);
    op_g_set(c, 0, upper ? triu(c, ga, unit) : tril(c, ga, -(int64_t)unit));
  }
  op_g_set(c, 1, op_g_need(c, 1) ? gb : NULL);
  return op_g_finish(c);
}

DtStatus op_g_la_triangular_solve (DtGradCall *c) {
  bool upper = dt_arg_bool(c->args, 2), tr = dt_arg_bool(c->args, 3);
  bool unit = dt_arg_bool(c->args, 4);
  DtHandle *r[2] = { NULL }, *ga = NULL, *x;
  if (c->gout[0] != NULL) {
    dt_emit_n(c->e, "aten.triangular_solve.default", r, 2, "ttbbb",
              c->gout[0], c->in[1], (int)upper, (int)!tr, (int)unit);
    if (op_g_need(c, 1)) {
      x = mh(c, tr ? r[0] : c->out[0]);
      ga = neg(c, tr ? mm(c, c->out[0], x) : mm(c, r[0], x));
      ga = upper ? triu(c, ga, unit) : tril(c, ga, -(int64_t)unit);
    }
  }
  if (op_g_need(c, 0)) op_g_set(c, 0, r[0]);
  if (op_g_need(c, 1)) op_g_set(c, 1, add(c, ga, c->gout[1]));
  return op_g_finish(c);
}

/* ---- Cholesky ---- */

/* L^-H sym(tril(L^H gL)) L^-1. */
static DtStatus cholesky_grad (DtGradCall *c, bool upper) {
  DtHandle *l = c->out[0], *g = c->gout[0], *x, *y;
  if (g == NULL) return op_g_finish(c);
  if (upper) {
    l = mh(c, l);
    g = mh(c, g);
  }
  x = mm(c, mh(c, l), g);
  y = tril(c, x, 0);
  x = mh(c, tril(c, x, -1));
  x = EMIT("aten.mul.Scalar", "tf", add(c, y, x), 0.5);
  x = EMIT(ST, "tt upper=b", mh(c, l), x, 1);
  op_g_set(c, 0, EMIT(ST, "tt upper=b left=b", l, x, 0, 0));
  return op_g_finish(c);
}
DtStatus op_g_la_cholesky (DtGradCall *c) {
  return cholesky_grad(c, dt_arg_bool(c->args, 1));
}
DtStatus op_g_la_cholesky_ex (DtGradCall *c) {
  return cholesky_grad(c, dt_arg_bool(c->args, 1));
}
DtStatus op_g_la_cholesky_inverse (DtGradCall *c) {
  DtHandle *inv = c->out[0], *x = mh(c, c->gout[0]);
  x = mm(c, mm(c, inv, add(c, c->gout[0], x)), inv);
  x = dt_arg_bool(c->args, 1) ? mm(c, c->in[0], x) : mm(c, x, c->in[0]);
  op_g_set(c, 0, neg(c, x));
  return op_g_finish(c);
}
DtStatus op_g_la_cholesky_solve (DtGradCall *c) {
  bool upper = dt_arg_bool(c->args, 2);
  DtHandle *gb, *x;
  gb = upper ? EMIT("aten.cholesky_solve.default", "ttb", c->gout[0], c->in[1],
                    1)
             : EMIT("aten.cholesky_solve.default", "tt", c->gout[0], c->in[1]);
  if (op_g_need(c, 0)) op_g_set(c, 0, gb);
  if (op_g_need(c, 1)) {
    x = mm(c, gb, mh(c, c->out[0]));
    x = add(c, x, mh(c, x));
    op_g_set(c, 1, neg(c, upper ? mm(c, c->in[1], x) : mm(c, x, c->in[1])));
  }
  return op_g_finish(c);
}

/* ---- QR ---- */

static DtHandle *qr_tall (DtGradCall *c, DtHandle *x) {
  DtHandle *q = c->out[0], *r = c->out[1];
  x = triu(c, x, 0);
  x = add(c, x, mh(c, x));
  (void)EMIT("aten.mul_.Scalar", "tf", diagonal(c, x), 0.5);
  x = mm(c, q, x);
  x = add(c, x, c->gout[0]);
  return EMIT(ST, "tt upper=b left=b", mh(c, r), x, 0, 0);
}
static DtHandle *qr_wide (DtGradCall *c, DtHandle *x, int64_t m, int64_t n) {
  DtHandle *q = c->out[0], *r = c->out[1], *h;
  DtMeta mr = meta_of(c, r);
  int64_t shape[DT_MAX_NDIM];
  x = neg(c, x);
  x = tril(c, sub(c, x, mh(c, x)), 0);
  x = mm(c, q, x);
  h = slice(c, r, -1, 0, m);
  x = EMIT(ST, "tt upper=b left=b", mh(c, h), x, 0, 0);
  memcpy(shape, mr.shape, sizeof(int64_t) * mr.ndim);
  shape[mr.ndim - 1] = n - m;
  h = EMIT("aten.new_zeros.default", "tI", x, (int)mr.ndim, shape);
  x = cat(c, x, h, -1);
  return add(c, x, c->gout[1] ? mm(c, q, c->gout[1]) : NULL);
}
DtStatus op_g_la_qr (DtGradCall *c) {
  DtHandle *q = c->out[0], *r = c->out[1], *gq = c->gout[0], *gr = c->gout[1];
  DtHandle *x = NULL, *y = NULL;
  const char *mode = dt_arg_str(c->args, 1);
  DtMeta mi = meta_of(c, c->in[0]);
  int64_t m, n;
  if (!dt_emit_ok(c->e)) return c->e->st;
  m = mi.shape[mi.ndim - 2];
  n = mi.shape[mi.ndim - 1];
  DT_CHECK(c->e->cx, *mode != 'r' || mode[1] != '\0', DT_E_RUNTIME, "The "
           "derivative of linalg.qr depends on Q, which is not computed when "
           "mode='r'. Please use linalg.qr(A, mode='reduced') if you are going "
           "to require gradients");
  DT_CHECK(c->e->cx, strcmp(mode, "complete") != 0 || m <= n, DT_E_RUNTIME,
           "The QR decomposition is not differentiable when mode='complete' "
           "and nrows > ncols");
  if (gq == NULL && gr == NULL) return op_g_finish(c);
  if (gq != NULL) x = mm(c, mh(c, q), gq);
  if (gr != NULL) y = mm(c, gr, mh(c, r));
  x = x && y ? sub(c, y, x) : x ? neg(c, x) : y;
  op_g_set(c, 0, m >= n ? qr_tall(c, x) : qr_wide(c, x, m, n));
  return op_g_finish(c);
}

/* ---- LU ---- */

/* Gradients of L and U to that of P^T A, then times P. */
static DtHandle *plu (DtGradCall *c, DtHandle *p, DtHandle *l, DtHandle *u,
                      DtHandle *gl, DtHandle *gu) {
  DtHandle *x = NULL, *y = NULL;
  int64_t m = rows(c, l), k = cols(c, l), n = cols(c, u);
  if (m == n) {
    if (gl) x = tril(c, mm(c, mh(c, l), gl), -1);
    if (gu) y = triu(c, mm(c, gu, mh(c, u)), 0);
    x = EMIT(ST, "tt upper=b left=b", mh(c, u), add(c, x, y), 0, 0);
    x = EMIT(ST, "tt upper=b unitriangular=b", mh(c, l), x, 1, 1);
  } else if (m < n) {
    if (gl) x = mm(c, mh(c, l), gl);
    if (gu) {
      y = triu(c, gu, 0);
      y = mm(c, y, mh(c, u));
      x = x ? sub(c, x, y) : neg(c, y);
    }
    x = tril(c, x, -1);
    y = slice(c, u, -1, 0, k);
    x = EMIT(ST, "tt upper=b left=b", mh(c, y), x, 0, 0);
    if (gu) {
      x = add(c, x, triu(c, slice(c, gu, -1, 0, k), 0));
      x = cat(c, x, slice(c, gu, -1, k, n), -1);
    } else {
      x = cat(c, x, EMIT("aten.zeros_like.default", "t", slice(c, u, -1, k,
                                                               n)),
              -1);
    }
    x = EMIT(ST, "tt upper=b unitriangular=b", mh(c, l), x, 1, 1);
  } else {
    if (gu) x = mm(c, gu, mh(c, u));
    if (gl) {
      DtHandle *lh = mh(c, l);
      y = mm(c, lh, tril(c, gl, -1));
      x = x ? sub(c, x, y) : neg(c, y);
    }
    x = triu(c, x, 0);
    y = slice(c, l, -2, 0, k);
    x = EMIT(ST, "tt upper=b unitriangular=b", mh(c, y), x, 1, 1);
    if (gl) {
      x = add(c, x, tril(c, slice(c, gl, -2, 0, k), -1));
      x = cat(c, x, slice(c, gl, -2, k, m), -2);
    } else {
      x = cat(c, x, EMIT("aten.zeros_like.default", "t", slice(c, l, -2, k,
                                                               m)),
              -2);
    }
    x = EMIT(ST, "tt upper=b left=b", mh(c, u), x, 0, 0);
  }
  return mm(c, p, x);
}
DtStatus op_g_la_lu (DtGradCall *c) {
  if (c->gout[1] || c->gout[2])
    op_g_set(c, 0, plu(c, c->out[0], c->out[1], c->out[2], c->gout[1],
                       c->gout[2]));
  return op_g_finish(c);
}
DtStatus op_g_la_lu_factor (DtGradCall *c) {
  DtHandle *r[3] = { NULL }, *gl, *gu, *g = c->gout[0];
  if (g == NULL) return op_g_finish(c);
  int64_t k = rows(c, g) < cols(c, g) ? rows(c, g) : cols(c, g);
  dt_emit_n(c->e, "aten.lu_unpack.default", r, 3, "tt", c->out[0], c->out[1]);
  gl = slice(c, g, -1, 0, k);
  gu = slice(c, g, -2, 0, k);
  op_g_set(c, 0, plu(c, r[0], r[1], r[2], gl, gu));
  return op_g_finish(c);
}
DtStatus op_g_la_lu_unpack (DtGradCall *c) {
  DtHandle *gl = c->gout[1], *gu = c->gout[2], *x = NULL, *y = NULL;
  int64_t m = rows(c, c->in[0]), n = cols(c, c->in[0]), k = m < n ? m : n;
  if (gl == NULL && gu == NULL) return op_g_finish(c);
  if (gu) y = triu(c, m < n ? slice(c, gu, -1, 0, k) : gu, 0);
  if (gl) x = tril(c, m > n ? slice(c, gl, -2, 0, k) : gl, -1);
  x = add(c, x, y);
  if (m < n)
    x = cat(c, x, gu ? slice(c, gu, -1, k, n)
            : EMIT("aten.zeros_like.default", "t", slice(c, c->in[0], -1, k,
                                                         n)),
            -1);
  else if (m > n)
    x = cat(c, x, gl ? slice(c, gl, -2, k, m)
            : EMIT("aten.zeros_like.default", "t", slice(c, c->in[0], -2, k,
                                                         m)),
            -2);
  op_g_set(c, 0, x);
  return op_g_finish(c);
}
/* Of the factors of A = P L U, from the gradient of A. */
static DtHandle *to_factors (DtGradCall *c, DtHandle *const *plu,
                             DtHandle *ga) {
  DtHandle *pga = mm(c, mh(c, plu[0]), ga);
  return add(c, tril(c, mm(c, pga, mh(c, plu[2])), -1),
             triu(c, mm(c, mh(c, plu[1]), pga), 0));
}

/* The gradient of A where X A = B, A^H X = B or X A^H = B; gb is B's. */
static DtHandle *of_other_side (DtGradCall *c, DtHandle *gb, bool left,
                                bool adj) {
  DtHandle *x = c->out[0];
  if (left) return neg(c, mm(c, x, mh(c, gb)));
  return neg(c, adj ? mm(c, mh(c, gb), x) : mm(c, mh(c, x), gb));
}

DtStatus op_g_la_lu_solve (DtGradCall *c) {
  bool left = dt_arg_bool(c->args, 3), adj = dt_arg_bool(c->args, 4);
  DtHandle *g = c->gout[0], *r[3] = { NULL }, *x, *y;
  bool plain = left && !adj;
  DtHandle *gb = op_g_need(c, 2) || !plain
                   ? lu_solve(c, c->in[0], c->in[1], g, left, !adj) : NULL;
  if (op_g_need(c, 2)) op_g_set(c, 2, gb);
  if (op_g_need(c, 0)) {
    dt_emit_n(c->e, "aten.lu_unpack.default", r, 3, "ttbb", c->in[0],
              c->in[1], 1, plain ? 0 : 1);
    if (!plain) {
      op_g_set(c, 0, to_factors(c, r, of_other_side(c, gb, left, adj)));
      return op_g_finish(c);
    }
    x = neg(c, mm(c, g, mh(c, c->out[0])));
    x = EMIT(ST, "tt upper=b", mh(c, r[2]), x, 0);
    y = mm(c, x, mh(c, r[2]));
    y = EMIT(ST, "tt upper=b unitriangular=b", mh(c, r[1]), y, 1, 1);
    y = tril(c, y, -1);
    op_g_set(c, 0, add(c, y, triu(c, x, 0)));
  }
  return op_g_finish(c);
}

/* ---- spectra ---- */

/* v_j - v_i off the diagonal, 1 on it. */
static DtHandle *differences (DtGradCall *c, DtHandle *v, double one) {
  DtHandle *col = unsq(c, v, -1), *row = unsq(c, v, -2), *x;
  DtMeta m = meta_of(c, v);
  if (dt_dtype_is_complex((DtDtype)m.dtype)) {
    row = EMIT("aten.clone.default", "t", row);
    col = EMIT("aten.clone.default", "t", col);
  }
  x = sub(c, row, col);
  (void)EMIT("aten.fill_.Scalar", "tf", diagonal(c, x), one);
  return x;
}
static DtHandle *diagonal_scatter (DtGradCall *c, DtHandle *x, DtHandle *g) {
  if (g == NULL) return x;
  return EMIT("aten.diagonal_scatter.default", "ttiii", x, g, (int64_t)0,
              (int64_t)-2, (int64_t)-1);
}

DtStatus op_g_la_eigh (DtGradCall *c) {
  DtHandle *l = c->out[0], *v = c->out[1], *gl = c->gout[0], *gv = c->gout[1];
  DtHandle *vh, *x;
  if (gl == NULL && gv == NULL) return op_g_finish(c);
  vh = mh(c, v);
  if (gv == NULL) {
    x = mul(c, v, unsq(c, gl, -2));
    op_g_set(c, 0, mm(c, x, vh));
    return op_g_finish(c);
  }
  x = mm(c, vh, gv);
  (void)diagonal(c, x);
  x = sub(c, x, mh(c, x));
  x = EMIT("aten.mul.Scalar", "tf", x, 0.5);
  x = EMIT("aten.div_.Tensor", "tt", x, differences(c, l, 1.0));
  x = diagonal_scatter(c, x, gl);
  vh = mh(c, v);
  x = mm(c, x, vh);
  op_g_set(c, 0, mm(c, v, x));
  return op_g_finish(c);
}

static DtHandle *real_part (DtGradCall *c, DtHandle *h) {
  DtMeta m = meta_of(c, h);
  h = EMIT("aten.view_as_real.default", "t", h);
  return EMIT("aten.select.int", "tii", h, (int64_t)m.ndim, (int64_t)0);
}

/* Solve V^H X = (...) V^H. */
DtStatus op_g_la_eig (DtGradCall *c) {
  DtHandle *l = c->out[0], *v = c->out[1], *gl = c->gout[0], *gv = c->gout[1];
  DtHandle *vh, *x, *y, *r[4] = { NULL };
  DtMeta m = meta_of(c, c->in[0]);
  int one = m.ndim == 2;
  if (gl == NULL && gv == NULL) return op_g_finish(c);
  vh = mh(c, v);
  if (gv == NULL) {
    x = unsq(c, gl, -1);
    x = mul(c, x, EMIT("aten.clone.default", "t", vh));
  } else {
    x = mm(c, vh, gv);
    y = unsq(c, real_part(c, diagonal(c, x)), -2);
    y = mul(c, v, y);
    y = mm(c, mh(c, v), y);
    x = sub(c, x, y);
    y = differences(c, EMIT("aten._conj.default", "t", l), 1.0);
    x = EMIT("aten.div_.Tensor", "tt", x, y);
    x = diagonal_scatter(c, x, gl);
    x = mm(c, x, mh(c, v));
  }
  vh = EMIT("aten.clone.default", "t", mh(c, v));
  dt_emit_n(c->e, "aten._linalg_solve_ex.default", r, 4, "tt", vh, x);
  dt_emit_n(c->e, "aten._linalg_check_errors.default", NULL, 0,
            "ts is_matrix=b", r[3], "torch.linalg.solve", one);
  if (!dt_dtype_is_complex((DtDtype)m.dtype)) r[0] = real_part(c, r[0]);
  op_g_set(c, 0, r[0]);
  return op_g_finish(c);
}

static DtHandle *skew (DtGradCall *c, DtHandle *x) {
  return sub(c, x, mh(c, x));
}

/* Singular vectors and values, and their gradients (NULL: none). */
typedef struct Svd { DtHandle *u, *s, *vh, *gu, *gs, *gv; } Svd;

/* Of full matrices only the vectors that have a value count. */
static Svd svd_read (DtGradCall *c) {
  Svd v = { c->out[0], c->out[1], c->out[2], c->gout[0], c->gout[1],
            c->gout[2] };
  int64_t m = rows(c, c->in[0]), n = cols(c, c->in[0]), k = m < n ? m : n;
  if (!dt_arg_bool(c->args, 1)) return v;
  v.vh = slice(c, v.vh, -2, 0, k);
  v.u = slice(c, v.u, -1, 0, k);
  if (v.gv) v.gv = slice(c, v.gv, -2, 0, k);
  if (v.gu) v.gu = slice(c, v.gu, -1, 0, k);
  return v;
}

/* Imaginary parts of the diagonal; zeros of what is missing. */
static DtHandle *phases (DtGradCall *c, DtHandle *x, DtHandle *s) {
  DtMeta m = meta_of(c, s);
  if (x == NULL) return EMIT("aten.zeros_like.default", "t", s);
  x = EMIT("aten.view_as_real.default", "t", diagonal(c, x));
  return EMIT("aten.select.int", "tii", x, (int64_t)m.ndim, (int64_t)1);
}

/* Complex singular vectors are known up to a phase, on which a loss must not
** depend: what `a` and `b`, of U and of V, have on their diagonals cancels. */
static void svd_check_phases (DtGradCall *c, const Svd *v, DtHandle *a,
                              DtHandle *b) {
  DtHandle *pa = phases(c, a, v->s), *pb = neg(c, phases(c, b, v->s));
  bool same = dt_emit_told(c->e, "aten.allclose.default", pa, pb, 1e-2, 1e-2,
                           true);
  if (!same && dt_emit_ok(c->e))
    c->e->st = dt_raise(c->e->cx, DT_E_RUNTIME, "svd_backward: The singular "
                        "vectors in the complex case are specified up to "
                        "multiplication by e^{i phi}. The specified loss "
                        "function depends on this phase term, making it "
                        "ill-defined.");
}

/* The part of the gradient that turns both phases at once: the diagonal of `a`
** over twice the singular values. */
static DtHandle *svd_turn (DtGradCall *c, const Svd *v, DtHandle *a) {
  DtHandle *twice = scale(c, v->s, 2.0);
  return EMIT("aten.diag_embed.default", "t", div_by(c, diagonal(c, a), twice));
}

/* The part of the gradient between singular vectors. */
static DtHandle *svd_middle (DtGradCall *c, const Svd *v) {
  DtHandle *s = v->s, *gu = v->gu, *gs = v->gs, *gv = v->gv;
  DtHandle *a = NULL, *b = NULL, *e, *x = NULL, *r;
  DtMeta m = meta_of(c, v->u);
  bool cplx = dt_dtype_is_complex((DtDtype)m.dtype);
  if (gu) a = skew(c, mm(c, mh(c, v->u), gu));
  if (gv) {
    r = mh(c, gv);
    b = skew(c, mm(c, v->vh, r));
  }
  if (cplx) svd_check_phases(c, v, a, b);
  e = differences(c, mul(c, s, s), 1.0);
  if (a && b) {
    r = mul(c, unsq(c, s, -1), b);
    x = mul(c, a, unsq(c, s, -2));
    x = div_by(c, add(c, x, r), e);
  } else if (a) {
    r = unsq(c, s, -2);
    x = mul(c, div_by(c, a, e), r);
  } else {
    x = div_by(c, b, e);
    x = mul(c, unsq(c, s, -1), x);
  }
  if (gs) x = add(c, x, EMIT("aten.diag_embed.default", "t", gs));
  return cplx && a && b ? add(c, x, svd_turn(c, v, a)) : x;
}
DtStatus op_g_la_svd (DtGradCall *c) {
  DtHandle *u, *s, *vh, *gu, *gs, *gv, *x, *y, *z;
  Svd v;
  int64_t m = rows(c, c->in[0]), n = cols(c, c->in[0]);
  bool tall = m >= n;
  DT_CHECK(c->e->cx, dt_arg_bool(c->args, 2), DT_E_RUNTIME, "svd_backward: "
           "cannot compute backward without singular vectors. Please compute "
           "SVD with compute_uv=True");
  if (!c->gout[0] && !c->gout[1] && !c->gout[2]) return op_g_finish(c);
  v = svd_read(c);
  u = v.u, s = v.s, vh = v.vh, gu = v.gu, gs = v.gs, gv = v.gv;
  if (!gu && !gv) {
    x = tall ? mm(c, u, mul(c, unsq(c, gs, -1), vh))
             : mm(c, mul(c, u, unsq(c, gs, -2)), vh);
    op_g_set(c, 0, x);
    return op_g_finish(c);
  }
  x = svd_middle(c, &v);
  if (m > n && gu) {
    x = mm(c, u, x);
    y = div_by(c, gu, unsq(c, s, -2));
    z = mm(c, u, mm(c, mh(c, u), y));
    x = mm(c, sub(c, add(c, x, y), z), vh);
  } else if (m < n && gv) {
    x = mm(c, x, vh);
    y = div_by(c, gv, unsq(c, s, -1));
    z = mm(c, mm(c, y, mh(c, vh)), vh);
    x = mm(c, u, sub(c, add(c, x, y), z));
  } else {
    x = tall ? mm(c, u, mm(c, x, vh)) : mm(c, mm(c, u, x), vh);
  }
  op_g_set(c, 0, x);
  return op_g_finish(c);
}

/* ---- others ---- */

/* The corner of the exponential of [[A^H, g], [0, A^H]]. */
DtStatus op_g_la_matrix_exp (DtGradCall *c) {
  DtHandle *ah = mh(c, c->in[0]), *top, *low, *x;
  int64_t n = rows(c, ah);
  top = cat(c, ah, c->gout[0], -1);
  low = EMIT("aten.zeros_like.default", "t", ah);
  low = cat(c, low, ah, -1);
  x = EMIT("aten.linalg_matrix_exp.default", "t", cat(c, top, low, -2));
  x = slice(c, x, -2, 0, n);
  op_g_set(c, 0, slice(c, x, -1, n, 2 * n));
  return op_g_finish(c);
}

DtStatus op_g_la_cross (DtGradCall *c) {
  DtHandle *g = c->gout[0];
  int64_t d = dt_arg_int(c->args, 2);
  if (op_g_need(c, 1))
    op_g_set(c, 1, EMIT("aten.linalg_cross.default", "tt dim=i", g,
                        conj_of(c, c->in[0]), d));
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.linalg_cross.default", "tt dim=i",
                        conj_of(c, c->in[1]), g, d));
  return op_g_finish(c);
}

DtStatus op_g_la_pinv (DtGradCall *c) {
  DtHandle *a = c->in[0], *p = c->out[0], *ph = mh(c, p);
  DtHandle *gh = mh(c, c->gout[0]), *k, *kp, *x, *y, *z;
  if (rows(c, a) <= cols(c, a)) {
    k = mm(c, gh, p);
    kp = mm(c, k, ph);
    x = mm(c, ph, p);
    x = mm(c, x, sub(c, gh, mm(c, k, a)));
    y = mm(c, mm(c, a, p), kp);
    z = neg(c, mh(c, mm(c, p, k)));
    x = add(c, sub(c, add(c, z, kp), y), x);
  } else {
    k = mm(c, p, gh);
    kp = mm(c, ph, k);
    x = mm(c, mm(c, kp, p), a);
    y = sub(c, gh, mm(c, a, k));
    y = mm(c, mm(c, y, p), ph);
    z = neg(c, mh(c, mm(c, k, p)));
    x = sub(c, add(c, add(c, z, y), kp), x);
  }
  op_g_set(c, 0, x);
  return op_g_finish(c);
}

DtStatus op_g_la_none (DtGradCall *c) { return op_g_absent(c); }

DtStatus op_g_la_geqrf (DtGradCall *c) {
  return dt_raise(c->e->cx, DT_E_NOTIMPL,
                  "the derivative for 'geqrf' is not implemented.");
}
