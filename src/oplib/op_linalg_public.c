/* SPDX-License-Identifier: MIT
** oplib/op_linalg_public.c: public functions of linear algebra that are made
** of other operators and look at shapes to decide which: inverses, solutions,
** norms, powers, products of chains.
**
** The calls, in order and with their arguments, are those of PyTorch's
** CompositeImplicit kernels.  Functions without a choice are programs in
** op_linalg_text.c. */
#include "oplib/oplib_int.h"
#include "oplib/emitting.h"

#include <math.h>
#include <string.h>

static DtStatus finish2 (DtDecompCall *c, DtHandle *a, DtHandle *b) {
  c->out[0] = a;
  c->out[1] = b;
  c->nout = 2;
  return c->e->st;
}
/* reshape: a view where strides allow, else a contiguous copy. */
static DtHandle *reshape (DtDecompCall *c, DtHandle *h, int n,
                          const int64_t *want) {
  DtMeta m = meta_of(c, h);
  int64_t shape[DT_MAX_NDIM], stride[DT_MAX_NDIM];
  if (!dt_emit_ok(c->e)) return NULL;
  memcpy(shape, want, sizeof(int64_t) * (size_t)n);
  if (op_view_strides(&m, n, shape, stride))
    return EMIT("aten.view.default", "tI", h, n, shape);
  h = EMIT("aten.clone.default", "t memory_format=v", h,
           dt_v_code(DT_V_MEMFMT, 0));
  return EMIT("aten._unsafe_view.default", "tI", h, n, shape);
}
static DtHandle *conj_of (DtDecompCall *c, DtHandle *h) {
  DtMeta m = meta_of(c, h);
  return dt_dtype_is_complex((DtDtype)m.dtype)
         ? EMIT("aten._conj.default", "t", h) : h;
}

/* ---- factor, then raise what LAPACK reported ---- */

static void check (DtDecompCall *c, DtHandle *info, const char *name) {
  int one = dt_emit_ok(c->e) && dt_emit_meta(c->e, info)->ndim == 0;
  dt_emit_n(c->e, "aten._linalg_check_errors.default", NULL, 0,
            "ts is_matrix=b", info, name, one);
}
static DtHandle *inverse (DtDecompCall *c, DtHandle *a, const char *name) {
  DtHandle *r[2] = { NULL };
  dt_emit_n(c->e, "aten.linalg_inv_ex.default", r, 2, "t", a);
  check(c, r[1], name);
  return r[0];
}
static DtStatus inv_decomp (DtDecompCall *c) {
  return finish(c, inverse(c, c->in[0], "linalg.inv"));
}
static DtStatus cholesky_decomp (DtDecompCall *c) {
  DtHandle *r[2] = { NULL };
  if (dt_arg_bool(c->args, 1))
    dt_emit_n(c->e, "aten.linalg_cholesky_ex.default", r, 2, "t upper=b",
              c->in[0], 1);
  else dt_emit_n(c->e, "aten.linalg_cholesky_ex.default", r, 2, "t", c->in[0]);
  check(c, r[1], "linalg.cholesky");
  return finish(c, r[0]);
}
static DtHandle *solve (DtDecompCall *c, DtHandle *a, DtHandle *b, bool left) {
  DtHandle *r[4] = { NULL };
  if (left) dt_emit_n(c->e, "aten._linalg_solve_ex.default", r, 4, "tt", a, b);
  else dt_emit_n(c->e, "aten._linalg_solve_ex.default", r, 4, "tt left=b", a,
                 b, 0);
  check(c, r[3], "torch.linalg.solve");
  return r[0];
}
static DtStatus solve_decomp (DtDecompCall *c) {
  return finish(c, solve(c, c->in[0], c->in[1], dt_arg_bool(c->args, 2)));
}
static DtStatus ldl_decomp (DtDecompCall *c) {
  DtHandle *r[3] = { NULL };
  if (dt_arg_bool(c->args, 1))
    dt_emit_n(c->e, "aten.linalg_ldl_factor_ex.default", r, 3, "t hermitian=b",
              c->in[0], 1);
  else dt_emit_n(c->e, "aten.linalg_ldl_factor_ex.default", r, 3, "t",
                 c->in[0]);
  check(c, r[2], "torch.linalg.ldl_factor");
  return finish2(c, r[0], r[1]);
}
static DtStatus lu_factor_decomp (DtDecompCall *c) {
  DtHandle *r[3] = { NULL };
  if (!dt_arg_bool(c->args, 1))
    dt_emit_n(c->e, "aten.linalg_lu_factor_ex.default", r, 3, "t pivot=b",
              c->in[0], 0);
  else dt_emit_n(c->e, "aten.linalg_lu_factor_ex.default", r, 3, "t",
                 c->in[0]);
  check(c, r[2], "torch.linalg.lu_factor");
  return finish2(c, r[0], r[1]);
}

static DtStatus logdet_decomp (DtDecompCall *c) {
  DtHandle *r[4] = { NULL }, *neg, *nan;
  DtMeta m = meta_of(c, c->in[0]);
  dt_emit_n(c->e, "aten._linalg_slogdet.default", r, 4, "t", c->in[0]);
  if (dt_dtype_is_complex((DtDtype)m.dtype)) {
    DtHandle *log = EMIT("aten.log.default", "t", r[0]);
    return finish(c, EMIT("aten.add.Tensor", "tt", log, r[1]));
  }
  neg = EMIT("aten.eq.Scalar", "tf", r[0], -1.0);
  nan = EMIT("aten.scalar_tensor.default", "f dtype=d", (double)NAN,
             (int)m.dtype);
  return finish(c, EMIT("aten.where.self", "ttt", neg, nan, r[1]));
}

static DtStatus svd_decomp (DtDecompCall *c) {
  bool some = dt_arg_bool(c->args, 1), uv = dt_arg_bool(c->args, 2);
  DtHandle *r[3] = { NULL }, *v;
  DtMeta m = meta_of(c, c->in[0]);
  if (some || !uv)
    dt_emit_n(c->e, "aten._linalg_svd.default", r, 3, "t", c->in[0]);
  else dt_emit_n(c->e, "aten._linalg_svd.default", r, 3, "tb", c->in[0], 1);
  if (!uv && dt_emit_ok(c->e) && m.ndim >= 2) {
    int64_t shape[DT_MAX_NDIM];
    memcpy(shape, m.shape, sizeof(int64_t) * m.ndim);
    for (int i = 0; i < 2; i++) {
      shape[m.ndim - 2] = shape[m.ndim - 1] = m.shape[m.ndim - 2 + i];
      r[2 * i] = EMIT("aten.zeros.default", "I dtype=d", (int)m.ndim, shape,
                      (int)m.dtype);
    }
  }
  v = EMIT("aten.transpose.int", "tii", r[2], (int64_t)-2, (int64_t)-1);
  c->out[0] = r[0];
  c->out[1] = r[1];
  c->out[2] = conj_of(c, v);
  c->nout = 3;
  return c->e->st;
}
static DtStatus qr_decomp (DtDecompCall *c) {
  DtHandle *r[2] = { NULL };
  if (dt_arg_bool(c->args, 1))
    dt_emit_n(c->e, "aten.linalg_qr.default", r, 2, "t", c->in[0]);
  else dt_emit_n(c->e, "aten.linalg_qr.default", r, 2, "ts", c->in[0],
                 "complete");
  return finish2(c, r[0], r[1]);
}

/* ---- tensors as matrices ---- */

static DtStatus tensorinv_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int64_t ind = dt_arg_int(c->args, 1), flat[2] = { 1, 1 };
  int64_t shape[DT_MAX_NDIM];
  int n = 0;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(c->e->cx, ind > 0, DT_E_RUNTIME,
           "Expected a strictly positive integer for 'ind'");
  if (ind > m.ndim) ind = m.ndim;
  for (int i = 0; i < m.ndim; i++) flat[i >= ind] *= m.shape[i];
  for (int i = (int)ind; i < m.ndim; i++) shape[n++] = m.shape[i];
  for (int i = 0; i < ind && i < m.ndim; i++) shape[n++] = m.shape[i];
  DT_CHECK(c->e->cx, flat[0] == flat[1], DT_E_RUNTIME, "Expected self to "
           "satisfy the requirement prod(self.shape[ind:]) == "
           "prod(self.shape[:ind]), but got %lld != %lld", (long long)flat[1],
           (long long)flat[0]);
  DtHandle *h = reshape(c, c->in[0], 2, flat);
  return finish(c, reshape(c, inverse(c, h, "inv"), n, shape));
}

static DtStatus tensorsolve_decomp (DtDecompCall *c) {
  DtHandle *a = c->in[0], *b = c->in[1];
  DtMeta m = meta_of(c, a), mb = meta_of(c, b);
  int64_t order[DT_MAX_NDIM], move[DT_MAX_NDIM], flat[2], total = 1, rows = 1;
  int nmove = op_ints(c->args, 2, move), n = 0;
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (nmove > 0) {
    uint32_t mask = 0;
    for (int i = 0; i < nmove; i++) {
      int d;
      DT_TRY(c->e->cx, dt_meta_wrap_dim(c->e->cx, move[i], m.ndim, &d));
      move[i] = d;
      mask |= 1u << d;
    }
    for (int i = 0; i < m.ndim; i++)
      if (!(mask >> i & 1u)) order[n++] = i;
    for (int i = 0; i < nmove; i++) order[n++] = move[i];
    a = EMIT("aten.permute.default", "tI", a, (int)m.ndim, order);
    m = meta_of(c, a);
  }
  for (int i = mb.ndim; i < m.ndim; i++) total *= m.shape[i];
  for (int i = 0; i < mb.ndim; i++) rows *= mb.shape[i];
  DT_CHECK(c->e->cx, total == rows, DT_E_RUNTIME, "Expected self to satisfy "
           "the requirement prod(self.shape[other.ndim:]) == "
           "prod(self.shape[:other.ndim]), but got %lld != %lld",
           (long long)total, (long long)rows);
  flat[0] = flat[1] = total;
  DtHandle *x = reshape(c, a, 2, flat), *y = reshape(c, b, 1, &rows);
  x = solve(c, x, y, true);
  return finish(c, reshape(c, x, m.ndim - mb.ndim, m.shape + mb.ndim));
}

/* ---- norms ---- */

/* The order of a norm: a number, or 'fro', 'nuc'. */
typedef struct Norm {
  DtDecompCall *c;
  double ord;
  const char *name;             /* NULL: a number */
  int d0, d1;                   /* dims of the matrix */
  bool keep;
  DtValue dtype;                /* NONE: not given */
} Norm;

static DtHandle *vector_norm (Norm *n, DtHandle *h, DtValue ord, int nd,
                              const int64_t *dims, bool keep) {
  DtDecompCall *c = n->c;
  if (n->dtype.kind != DT_V_NONE)
    return nd ? EMIT("aten.linalg_vector_norm.default", "tvIb dtype=v", h, ord,
                     nd, dims, (int)keep, n->dtype)
              : EMIT("aten.linalg_vector_norm.default", "tvnb dtype=v", h, ord,
                     (int)keep, n->dtype);
  if (keep)
    return nd ? EMIT("aten.linalg_vector_norm.default", "tvIb", h, ord, nd,
                     dims,
                     1)
              : EMIT("aten.linalg_vector_norm.default", "tvnb", h, ord, 1);
  return nd ? EMIT("aten.linalg_vector_norm.default", "tvI", h, ord, nd, dims)
            : EMIT("aten.linalg_vector_norm.default", "tv", h, ord);
}

/* amax, amin or sum over one dim. */
static DtHandle *over (DtDecompCall *c, const char *op, DtHandle *h,
                       int64_t dim, bool keep) {
  return keep ? EMIT(op, "tIb", h, 1, &dim, 1) : EMIT(op, "tI", h, 1, &dim);
}

/* Norms by singular values: the matrix dims moved to the end, and back. */
static DtHandle *singular_norm (Norm *n, DtHandle *h, const char *op) {
  DtDecompCall *c = n->c;
  DtMeta m = meta_of(c, h);
  int64_t perm[DT_MAX_NDIM], back[DT_MAX_NDIM];
  DtHandle *r[3] = { NULL };
  int k = 0;
  if (!dt_emit_ok(c->e)) return NULL;
  if (n->dtype.kind != DT_V_NONE &&
      (DtDtype)n->dtype.u.i != (DtDtype)m.dtype)
    h = EMIT("aten._to_copy.default", "t dtype=v", h, n->dtype);
  for (int i = 0; i < m.ndim; i++)
    if (i != n->d0 && i != n->d1) perm[k++] = i;
  perm[k++] = n->d0;
  perm[k++] = n->d1;
  h = EMIT("aten.permute.default", "tI", h, k, perm);
  dt_emit_n(c->e, "aten._linalg_svd.default", r, 3, "t", h);
  h = over(c, op, r[1], -1, n->keep);
  if (!n->keep) return h;
  for (int i = 0; i < k; i++) back[perm[i]] = i;
  h = EMIT("aten.unsqueeze.default", "ti", h, (int64_t)-1);
  return EMIT("aten.permute.default", "tI", h, k, back);
}

static DtHandle *matrix_norm (Norm *n, DtHandle *h) {
  DtDecompCall *c = n->c;
  double a = fabs(n->ord);
  const char *ext = n->ord > 0 ? "aten.amax.default" : "aten.amin.default";
  int64_t dims[2] = { n->d0, n->d1 }, first = n->d0, last = n->d1;
  if (n->name && strcmp(n->name, "fro") == 0)
    return vector_norm(n, h, dt_v_int(2), 2, dims, n->keep);
  if (n->name) return singular_norm(n, h, "aten.sum.dim_IntList");
  if (a == 2) return singular_norm(n, h, ext);
  if (isinf(a)) {               /* sums of rows, not of columns */
    first = n->d1;
    last = n->d0;
  }
  if (!n->keep && last > first) last--;
  h = vector_norm(n, h, dt_v_float(1), 1, &first, n->keep);
  return over(c, ext, h, last, n->keep);
}

static const char *float_word (DtDtype t) {
  return op_dtype_word(t);
}
/* Another number of dims than two; PyTorch writes them without brackets. */
static DtStatus dims_refused (DtCtx *cx, int n, const int64_t *dims) {
  DtBuf b;
  DtStatus st;
  dt_buf_init(&b, cx);
  for (int i = 0; i < n; i++)
    dt_buf_addf(&b, "%s%lld", i > 0 ? " " : "", (long long)dims[i]);
  st = dt_raise(cx, DT_E_RUNTIME, "linalg.matrix_norm: dim must be a 2-tuple. "
                "Got %s", n > 0 ? dt_buf_str(&b) : "");
  dt_buf_fini(&b);
  return st;
}

/* What matrix_norm refuses. */
static DtStatus norm_check (Norm *n, const DtMeta *m, int nd,
                            const int64_t *dims) {
  DtCtx *cx = n->c->e->cx;
  double a = fabs(n->ord);
  DT_CHECK(cx, m->ndim >= 2, DT_E_RUNTIME, "linalg.matrix_norm: The input "
           "tensor A must have at least 2 dimensions.");
  if (dt_dtype_is_integral((DtDtype)m->dtype, true))
    return op_wants_floats(cx, "linalg.matrix_norm",
                           float_word((DtDtype)m->dtype));
  if (nd != 2) return dims_refused(cx, nd, dims);
  DT_TRY(cx, dt_meta_wrap_dim(cx, dims[0], m->ndim, &n->d0));
  DT_TRY(cx, dt_meta_wrap_dim(cx, dims[1], m->ndim, &n->d1));
  DT_CHECK(cx, n->d0 != n->d1, DT_E_RUNTIME, "linalg.matrix_norm: dims must "
           "be different. Got (%lld, %lld)", (long long)dims[0],
           (long long)dims[1]);
  DT_CHECK(cx, n->name != NULL || a == 1 || a == 2 || isinf(a), DT_E_RUNTIME,
           "linalg.matrix_norm: Order %g not supported.", n->ord);
  DT_CHECK(cx, n->name == NULL || strcmp(n->name, "fro") == 0 ||
           strcmp(n->name, "nuc") == 0, DT_E_RUNTIME,
           "linalg.matrix_norm: Order %s not supported.",
           n->name ? n->name : "");
  return DT_OK;
}

static void norm_read (Norm *n, DtDecompCall *c) {
  int o = dt_schema_arg(c->args->schema, "ord");
  int k = dt_schema_arg(c->args->schema, "keepdim");
  int t = dt_schema_arg(c->args->schema, "dtype");
  memset(n, 0, sizeof *n);
  n->c = c;
  if (c->args->v[o].kind == DT_V_STR) n->name = dt_arg_str(c->args, o);
  else n->ord = dt_arg_is_none(c->args, o) ? 2 : dt_arg_float(c->args, o);
  n->keep = dt_arg_bool(c->args, k);
  n->dtype = c->args->v[t];
}

static DtStatus matrix_norm_decomp (DtDecompCall *c) {
  int64_t dims[DT_MAX_NDIM];
  int nd = op_ints(c->args, 2, dims);
  DtMeta m = meta_of(c, c->in[0]);
  Norm n;
  norm_read(&n, c);
  DT_TRY(c->e->cx, norm_check(&n, &m, nd, dims));
  return finish(c, matrix_norm(&n, c->in[0]));
}

/* The same norm by an older name, of the last two dims or of those given. */
static DtStatus nuclear_decomp (DtDecompCall *c) {
  int64_t dims[DT_MAX_NDIM] = { -2, -1 };
  int keep = dt_schema_arg(c->args->schema, "keepdim");
  int nd = keep == 2 ? op_ints(c->args, 1, dims) : 2;
  DtMeta m = meta_of(c, c->in[0]);
  Norm n;
  memset(&n, 0, sizeof n);
  n.c = c;
  n.name = "nuc";
  n.keep = dt_arg_bool(c->args, keep);
  DT_TRY(c->e->cx, norm_check(&n, &m, nd, dims));
  return finish(c, matrix_norm(&n, c->in[0]));
}

/* Which norm it is depends on ord and dim together: a name or two dims make a
** matrix norm; no ord at all flattens, even of more dims than two
** (native/LinearAlgebra.cpp:linalg_norm). */
static DtStatus norm_decomp (DtDecompCall *c) {
  int64_t dims[DT_MAX_NDIM], last2[2] = { -2, -1 };
  bool none = dt_arg_is_none(c->args, 1), whole = dt_arg_is_none(c->args, 2);
  int nd = whole ? 0 : op_ints(c->args, 2, dims);
  DtMeta m = meta_of(c, c->in[0]);
  Norm n;
  if (!dt_emit_ok(c->e)) return c->e->st;
  norm_read(&n, c);
  DT_CHECK(c->e->cx, whole || nd == 1 || nd == 2 || none, DT_E_RUNTIME,
           "linalg.norm: If dim is specified, it must be of length 1 or 2. Got "
           "%s", op_ints_text(nd, dims).s);
  DT_CHECK(c->e->cx, !whole || none || m.ndim == 1 || m.ndim == 2, DT_E_RUNTIME,
           "linalg.norm: If dim is not specified but ord is, the input must be "
           "1D or 2D. Got %dD.", m.ndim);
  if (n.name != NULL || (!none && ((!whole && nd == 2) ||
                                   (whole && m.ndim == 2)))) {
    DT_TRY(c->e->cx, norm_check(&n, &m, whole ? 2 : nd,
                                whole ? last2 : dims));
    return finish(c, matrix_norm(&n, c->in[0]));
  }
  return finish(c, vector_norm(&n, c->in[0], none ? dt_v_float(2)
                                                  : c->args->v[1], nd, dims,
                               n.keep));
}

/* Condition numbers: extremes of singular values, or the norm of the matrix
** times the norm of its inverse, where a singular one counts as infinite. */
static DtStatus cond_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  DtHandle *r[3] = { NULL }, *h = c->in[0], *x, *y;
  bool text = c->args->v[1].kind == DT_V_STR;
  double p = text ? 0 : dt_arg_is_none(c->args, 1) ? 2
                                                   : dt_arg_float(c->args, 1);
  Norm n;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(c->e->cx, m.ndim >= 2, DT_E_RUNTIME, "linalg.cond: The input tensor "
           "A must have at least 2 dimensions.");
  memset(&n, 0, sizeof n);
  n.c = c;
  n.ord = p;
  n.d0 = m.ndim - 2;
  n.d1 = m.ndim - 1;
  n.dtype = dt_v_none();
  if (text) n.name = dt_arg_str(c->args, 1);
  if (fabs(p) == 2 || (text && strcmp(n.name, "nuc") == 0)) {
    int64_t k = m.shape[n.d0] < m.shape[n.d1] ? m.shape[n.d0]
                                              : m.shape[n.d1];
    DT_CHECK(c->e->cx, !text || m.shape[n.d0] == m.shape[n.d1], DT_E_RUNTIME,
             "linalg.cond(ord=nuc): A must be batches of square matrices, but "
             "they are %lld by %lld matrices", (long long)m.shape[n.d0],
             (long long)m.shape[n.d1]);
    dt_emit_n(c->e, "aten._linalg_svd.default", r, 3, "t", h);
    if (text) {
      DtHandle *inv = EMIT("aten.reciprocal.default", "t", r[1]);
      y = over(c, "aten.sum.dim_IntList", inv, -1, false);
      x = over(c, "aten.sum.dim_IntList", r[1], -1, false);
      return finish(c, EMIT("aten.mul.Tensor", "tt", x, y));
    }
    x = EMIT("aten.slice.Tensor", "tiii", r[1], (int64_t)-1, (int64_t)0,
             (int64_t)1);
    y = EMIT("aten.slice.Tensor", "tiii", r[1], (int64_t)-1, k - 1, k);
    h = p > 0 ? EMIT("aten.div.Tensor", "tt", x, y)
              : EMIT("aten.div.Tensor", "tt", y, x);
    return finish(c, EMIT("aten.squeeze.dim", "ti", h, (int64_t)-1));
  }
  dt_emit_n(c->e, "aten.linalg_inv_ex.default", r, 2, "t", h);
  x = EMIT("aten.unsqueeze_.default", "ti", r[1], (int64_t)-1);
  x = EMIT("aten.unsqueeze_.default", "ti", x, (int64_t)-1);
  x = EMIT("aten.gt.Scalar", "ti", x, (int64_t)0);
  r[0] = EMIT("aten.masked_fill_.Scalar", "ttf", r[0], x, (double)INFINITY);
  x = matrix_norm(&n, h);
  y = matrix_norm(&n, r[0]);
  h = EMIT("aten.mul.Tensor", "tt", x, y);
  return finish(c, EMIT("aten.nan_to_num_.default", "tfff", h,
                        (double)INFINITY,
                        (double)INFINITY, -(double)INFINITY));
}

/* ---- powers and chains ---- */

static DtHandle *mul (DtDecompCall *c, DtHandle *a, DtHandle *b) {
  DtMeta m = meta_of(c, a);
  return EMIT(m.ndim == 2 ? "aten.mm.default" : "aten.matmul.default", "tt", a,
              b);
}

static DtStatus power_decomp (DtDecompCall *c) {
  DtHandle *h = c->in[0], *z = NULL, *r = NULL;
  DtMeta m = meta_of(c, h);
  bool inverts = dt_arg_int(c->args, 1) < 0;
  uint64_t n = (uint64_t)dt_arg_int(c->args, 1);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(c->e->cx, m.ndim >= 2, DT_E_RUNTIME, "linalg.matrix_power: The input"
           " tensor A must have at least 2 dimensions.");
  DT_CHECK(c->e->cx, m.shape[m.ndim - 1] == m.shape[m.ndim - 2], DT_E_RUNTIME,
           "linalg.matrix_power: A must be batches of square matrices, but "
           "they are %lld by %lld matrices", (long long)m.shape[m.ndim - 2],
           (long long)m.shape[m.ndim - 1]);
  if (n == 0) {
    DtHandle *eye = EMIT("aten.eye.default", "i dtype=d", m.shape[m.ndim - 1],
                         (int)m.dtype);
    r = EMIT("aten.clone.default", "t memory_format=v", h,
             dt_v_code(DT_V_MEMFMT, 0));
    return finish(c, EMIT("aten.copy_.default", "tt", r, eye));
  }
  if (inverts) {
    h = inverse(c, h, "linalg.inv");
    n = -n;                             /* the smallest int has no negative */
  }
  if (n == 1)
    return finish(c, inverts ? h : EMIT("aten.clone.default",
                                        "t memory_format=v",
                                        h, dt_v_code(DT_V_MEMFMT, 0)));
  if (n == 3) return finish(c, mul(c, mul(c, h, h), h));
  for (; n > 0 && dt_emit_ok(c->e); n /= 2) {
    z = z == NULL ? h : mul(c, z, z);
    if (n % 2 == 1) r = r == NULL ? z : mul(c, r, z);
  }
  return finish(c, r);
}

/* Products of a chain in the cheapest order. */
enum { CHAIN_MAX = 64 };
typedef struct Chain {
  DtDecompCall *c;
  DtHandle *const *h;
  int8_t cut[CHAIN_MAX][CHAIN_MAX];
} Chain;
static DtHandle *chain_product (const Chain *k, int i, int j) {
  if (i == j) return k->h[i];
  DtHandle *a = chain_product(k, i, k->cut[i][j]);
  DtHandle *b = chain_product(k, k->cut[i][j] + 1, j);
  return dt_emit(k->c->e, "aten.mm.default", "tt", a, b);
}
static void chain_order (Chain *k, int n, const int64_t *p) {
  double cost[CHAIN_MAX][CHAIN_MAX] = { { 0 } };
  for (int len = 1; len < n; len++)
    for (int i = 0; i + len < n; i++) {
      int j = i + len;
      cost[i][j] = INFINITY;
      for (int s = i; s < j; s++) {
        double v = cost[i][s] + cost[s + 1][j] +
                   (double)p[i] * (double)p[s + 1] * (double)p[j + 1];
        if (v < cost[i][j]) {
          cost[i][j] = v;
          k->cut[i][j] = (int8_t)s;
        }
      }
    }
}
static DtHandle *chain_of_three (DtDecompCall *c, DtHandle *const *h,
                                 const int64_t *p) {
  double left = (double)p[0] * (double)p[2] * (double)(p[1] + p[3]);
  double right = (double)p[1] * (double)p[3] * (double)(p[0] + p[2]);
  if (right > left)
    return EMIT("aten.mm.default", "tt", EMIT("aten.mm.default", "tt", h[0],
                                              h[1]),
                h[2]);
  return EMIT("aten.mm.default", "tt", h[0],
              EMIT("aten.mm.default", "tt", h[1], h[2]));
}

/* The error of neighbours i - 1 and i, with the shapes as they were given. */
static DtStatus raise_no_chain (DtDecompCall *c, int i) {
  DtMeta a = meta_of(c, c->in[i - 1]), b = meta_of(c, c->in[i]);
  return dt_raise(c->e->cx, DT_E_RUNTIME, "multi_dot(): tensors %d and %d with "
                  "shapes %s and %s cannot be multiplied", i - 1, i,
                  op_shape_text(&a).s, op_shape_text(&b).s);
}

/* Vectors at both ends become matrices and lose the dim again at the end.  p[] are
** the sizes of the chain: of two it is mm, of three the cheaper bracket, of more
** the cheapest by the usual table. */
static DtStatus multi_dot (DtDecompCall *c, int n, DtHandle **h) {
  int64_t p[CHAIN_MAX + 1], shape[2];
  int ns = 0;
  DtMeta first, last;
  DtCtx *cx = c->e->cx;
  DT_CHECK(cx, n >= 2, DT_E_RUNTIME, "multi_dot(): expected at least 2 tensors "
           "but got %d", n);
  DT_CHECK(cx, n <= CHAIN_MAX, DT_E_LIMIT, "at most %d matrices", CHAIN_MAX);
  first = meta_of(c, h[0]);
  last = meta_of(c, h[n - 1]);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(cx, first.ndim == 1 || first.ndim == 2, DT_E_RUNTIME, "multi_dot(): "
           "the first tensor must be 1D or 2D but got %dD", first.ndim);
  DT_CHECK(cx, last.ndim == 1 || last.ndim == 2, DT_E_RUNTIME, "multi_dot(): "
           "the last tensor must be 1D or 2D but got %dD", last.ndim);
  if (first.ndim == 2) shape[ns++] = first.shape[0];
  else h[0] = EMIT("aten.unsqueeze.default", "ti", h[0], (int64_t)0);
  if (last.ndim == 2) shape[ns++] = last.shape[1];
  else h[n - 1] = EMIT("aten.unsqueeze.default", "ti", h[n - 1], (int64_t)-1);
  for (int i = 0; i < n; i++) {
    DtMeta m = meta_of(c, h[i]);
    if (!dt_emit_ok(c->e)) return c->e->st;
    DT_CHECK(cx, m.ndim == 2, DT_E_RUNTIME, "multi_dot(): tensor %d must be 2D "
             "but got %dD", i, m.ndim);
    if (i > 0 && p[i] != m.shape[0]) return raise_no_chain(c, i);
    p[i] = m.shape[0];
    p[i + 1] = m.shape[1];
  }
  if (n == 2) {
    DtHandle *r = EMIT("aten.mm.default", "tt", h[0], h[1]);
    return finish(c, EMIT("aten.view.default", "tI", r, ns, shape));
  }
  if (n == 3)
    return finish(c, EMIT("aten.view.default", "tI", chain_of_three(c, h, p),
                          ns,
                          shape));
  Chain *k = DT_ANEWN(cx, c->e->arena, Chain, 1);
  if (k == NULL) return DT_E_NOMEM;
  k->c = c;
  k->h = h;
  chain_order(k, n, p);
  return finish(c, EMIT("aten.view.default", "tI", chain_product(k, 0, n - 1),
                        ns, shape));
}

static DtStatus multi_dot_decomp (DtDecompCall *c) {
  int n = dt_arg_len(c->args, 0);
  DtHandle **h = DT_ANEWN(c->e->cx, c->e->arena, DtHandle *, n + 1);
  if (h == NULL) return DT_E_NOMEM;
  for (int i = 0; i < n; i++) h[i] = c->in[i];
  if (strcmp(c->op->sig->base, "chain_matmul") == 0) {
    for (int i = 0; i < n; i++) {
      int nd = meta_of(c, h[i]).ndim;
      DT_CHECK(c->e->cx, nd == 2, DT_E_RUNTIME,
               "Tensor dimension is %d, expected 2 instead.", nd);
    }
    if (n == 1) return finish(c, h[0]);
  }
  return multi_dot(c, n, h);
}

/* ---- vectors ---- */

static DtStatus vander_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  bool given = !dt_arg_is_none(c->args, 1);
  int64_t shape[DT_MAX_NDIM], n;
  DtHandle *two[2], *x;
  int nd = m.ndim;
  if (!dt_emit_ok(c->e)) return c->e->st;
  n = given ? dt_arg_int(c->args, 1) : m.ndim ? m.shape[nd - 1] : 1;
  DT_CHECK(c->e->cx, n > 1, DT_E_RUNTIME, "N must be greater than 1.");
  x = c->in[0];
  memcpy(shape, m.shape, sizeof(int64_t) * (size_t)nd);
  if (nd == 0) {
    x = EMIT("aten.unsqueeze.default", "ti", x, (int64_t)-1);
    shape[nd++] = 1;
  }
  x = EMIT("aten.unsqueeze.default", "ti", x, (int64_t)-1);
  shape[nd] = n - 1;
  x = EMIT("aten.expand.default", "tI", x, nd + 1, shape);
  x = EMIT("aten.cumprod.default", "ti", x, (int64_t)-1);
  shape[nd] = 1;
  two[0] = EMIT("aten.new_ones.default", "tI", x, nd + 1, shape);
  two[1] = x;
  return finish(c, EMIT("aten.cat.default", "Ti", 2, two, (int64_t)-1));
}

static DtStatus vecdot_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int64_t dim = dt_arg_int(c->args, 2);
  DtHandle *x = c->in[0];
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (m.ndim == 1 && dt_emit_meta(c->e, c->in[1])->ndim == 1)
    return finish(c, EMIT("aten.vdot.default", "tt", x, c->in[1]));
  DT_CHECK_SAY(c->e->cx, !dt_dtype_is_integral((DtDtype)m.dtype, true),
               DT_E_RUNTIME, WANTS_FLOATS, "linalg.vecdot",
               op_dtype_word((DtDtype)m.dtype));
  if (dt_dtype_is_complex((DtDtype)m.dtype))
    x = EMIT("aten._conj.default", "t", x);
  x = EMIT("aten.mul.Tensor", "tt", x, c->in[1]);
  return finish(c, EMIT("aten.sum.dim_IntList", "tI", x, 1, &dim));
}

/* cross without a dim: the first of size 3. */
static DtStatus cross_at (DtDecompCall *c, int64_t *dim) {
  DtMeta m = meta_of(c, c->in[0]);
  *dim = -1;
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (!dt_arg_is_none(c->args, 2)) {
    *dim = dt_arg_int(c->args, 2);
    return DT_OK;
  }
  for (int i = m.ndim - 1; i >= 0; i--)
    if (m.shape[i] == 3) *dim = i;
  DT_CHECK(c->e->cx, *dim >= 0, DT_E_RUNTIME,
           "no dimension of size 3 in input");
  return DT_OK;
}
static DtStatus cross_decomp (DtDecompCall *c) {
  int64_t dim;
  DT_TRY(c->e->cx, cross_at(c, &dim));
  return finish(c, EMIT("aten.linalg_cross.default", "tt dim=i", c->in[0],
                        c->in[1], dim));
}
static DtStatus cross_out_decomp (DtDecompCall *c) {
  int64_t dim;
  DT_TRY(c->e->cx, cross_at(c, &dim));
  return finish(c, EMIT("aten.linalg_cross.out", "tt dim=i out=t", c->in[0],
                        c->in[1], dim, dt_hin(c, 3)));
}

/* ---- definitions ---- */

#define LP(id, schema_, brief_, decomp_, ...) \
  static const char *const id##_samples[] = { __VA_ARGS__, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = DT_OP_COMPOSITE, \
    .decomp = decomp_, .samples = id##_samples }
#define SQUARE "f32[4, 4]", "f32[2, 3, 3]"
LP(chain_matmul, "chain_matmul(Tensor[] matrices) -> Tensor",
   "Product of a chain of matrices.", multi_dot_decomp,
   "[f32[2, 3], f32[3, 4], f32[4, 2]]");
LP(cross, "cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
   "Cross product along a dim of three.", cross_decomp,
   "f32[4, 3], f32[4, 3]");
LP(cross_out, "cross.out(Tensor self, Tensor other, int? dim=None, *, "
   "Tensor(a!) out) -> Tensor(a!)", "Cross product along a dim of three.",
   cross_out_decomp, "f32[4, 3], f32[4, 3], out=f32[4, 3]");
LP(linalg_cholesky, "linalg_cholesky(Tensor self, *, bool upper=False) -> "
   "Tensor", "Cholesky factor of a positive-definite matrix.",
   cholesky_decomp, SQUARE);
LP(linalg_cond, "linalg_cond(Tensor self, Scalar? p=None) -> Tensor",
   "Condition number.", cond_decomp, SQUARE);
LP(linalg_cond_p_str, "linalg_cond.p_str(Tensor self, str p) -> Tensor",
   "Condition number in a named norm.", cond_decomp, "f32[4, 4], 'fro'");
LP(linalg_inv, "linalg_inv(Tensor A) -> Tensor", "Inverse of a matrix.",
   inv_decomp, SQUARE);
LP(linalg_ldl_factor, "linalg_ldl_factor(Tensor self, *, bool "
   "hermitian=False) -> (Tensor LD, Tensor pivots)", "LDL factors.",
   ldl_decomp, SQUARE);
LP(linalg_lu_factor, "linalg_lu_factor(Tensor A, *, bool pivot=True) -> "
   "(Tensor LU, Tensor pivots)", "LU factors.", lu_factor_decomp, SQUARE);
LP(linalg_matrix_norm, "linalg_matrix_norm(Tensor self, Scalar ord, int[] "
   "dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
   "Norm of matrices.", matrix_norm_decomp, "f32[4, 6], 1",
   "f32[2, 3, 4], 2");
LP(linalg_matrix_norm_str_ord, "linalg_matrix_norm.str_ord(Tensor self, str "
   "ord=\"fro\", int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? "
   "dtype=None) -> Tensor", "Norm of matrices by name.", matrix_norm_decomp,
   "f32[4, 6]", "f32[4, 6], 'nuc'");
LP(linalg_matrix_power, "linalg_matrix_power(Tensor self, int n) -> Tensor",
   "Product of a matrix with itself.", power_decomp, "f32[4, 4], 3",
   "f32[2, 3, 3], 5");
LP(linalg_multi_dot, "linalg_multi_dot(Tensor[] tensors) -> Tensor",
   "Product of a chain of matrices in the cheapest order.", multi_dot_decomp,
   "[f32[2, 3], f32[3, 4], f32[4, 2]]");
LP(linalg_norm, "linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, "
   "bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
   "Norm of vectors or matrices.", norm_decomp, "f32[8]", "f32[4, 6], 2");
LP(linalg_norm_ord_str, "linalg_norm.ord_str(Tensor self, str ord, int[1]? "
   "dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
   "Norm of matrices by name.", norm_decomp, "f32[4, 6], 'fro'");
LP(linalg_solve, "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> "
   "Tensor", "Solution of A X = B.", solve_decomp, "f32[4, 4], f32[4, 2]",
   "f32[3, 3], f32[3]");
LP(linalg_tensorinv, "linalg_tensorinv(Tensor self, int ind=2) -> Tensor",
   "Inverse of a tensor taken as a matrix.", tensorinv_decomp,
   "f32[2, 3, 6], 2");
LP(linalg_tensorsolve, "linalg_tensorsolve(Tensor self, Tensor other, int[]? "
   "dims=None) -> Tensor", "Solution of a system of tensors.",
   tensorsolve_decomp, "f32[2, 3, 6], f32[2, 3]");
LP(linalg_vander, "linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor",
   "Powers of the elements.", vander_decomp, "f32[4]", "f32[2, 3], N=4");
LP(linalg_vecdot, "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> "
   "Tensor", "Inner products of vectors.", vecdot_decomp,
   "f32[4, 3], f32[4, 3]");
LP(nuclear_norm, "nuclear_norm(Tensor self, bool keepdim=False) -> Tensor",
   "Sum of the singular values.", nuclear_decomp, "f32[4, 6]", "f32[2, 3, 4]");
LP(nuclear_norm_dim, "nuclear_norm.dim(Tensor self, int[2] dim, bool "
   "keepdim=False) -> Tensor", "Sum of the singular values over two dims.",
   nuclear_decomp, "f32[2, 3, 4], [0, 2]");
LP(logdet, "logdet(Tensor self) -> Tensor", "Logarithm of the determinant.",
   logdet_decomp, SQUARE);
LP(qr, "qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)",
   "QR decomposition.", qr_decomp, "f32[5, 3]");
LP(svd, "svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, "
   "Tensor S, Tensor V)", "Singular value decomposition.", svd_decomp,
   "f32[5, 3]");
