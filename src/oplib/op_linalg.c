/* SPDX-License-Identifier: MIT
** oplib/op_linalg.c: factorisations, solvers, determinants: decisions and
** shapes.  Arithmetic is in op_linalg_run.c, gradients in op_linalg_grad.c.
**
** A matrix operator needs its last two dims whole and passes a cut of any
** batch dim; solvers are linear in the right-hand side, so a partial one
** passes too.  Shapes are data: each output is rows x columns out of M, N,
** K = min(M, N) of the matrix, in column-major (as LAPACK leaves it) or
** row-major order. */
#include "base/error_tool.h"
#include "oplib/op_linalg_int.h"

#include <math.h>
#include <string.h>

/* ---- what is not written ---- */

DtStatus op_g_unwritten (DtGradCall *c) {
  return dt_raise(c->e->cx, DT_E_NOTIMPL, "%s has no gradient",
                  c->op->sig->full);
}

DtStatus op_g_absent (DtGradCall *c) {
  return dt_raise(c->e->cx, DT_E_AUTOGRAD,
                  "derivative for %s::%s is not implemented", c->op->sig->ns,
                  c->op->sig->base);
}

/* ---- shapes ---- */

/* A dim of an output: absent, or a size of the matrix. */
enum { LD_NONE, LD_M, LD_N, LD_K, LD_EMPTY };
enum { LL_C, LL_F, LL_F_OR_EMPTY };     /* row-major, column-major */
enum { LT_SAME, LT_I32, LT_REAL, LT_COMPLEX };
/* Row: square needed, number of outputs, then rows, columns, layout, type. */
enum { LR_SQUARE, LR_NOUT, LR_OUT, LR_EACH = 4 };
#define MAT_F LD_M, LD_N, LL_F, LT_SAME
#define INFO LD_NONE, LD_NONE, LL_C, LT_I32

static void column_major (DtMeta *m) {
  int n = m->ndim;
  int64_t rows;
  dt_meta_set_contiguous(m);
  if (n < 2) return;
  rows = m->shape[n - 2];
  m->stride[n - 2] = 1;
  m->stride[n - 1] = rows > 1 ? rows : 1;
}

/* What an operator says about its matrix: the name in texts (default: the
** base name), which types its shape function refuses, and the name that
** PyTorch's meta function says where that is another. */
enum { LF_ANY, LF_FLOAT, LF_WIDE };     /* any; no integers; nor f16, bf16 */
typedef struct Check {
  const char *base, *name;
  int floats;
  const char *fake;
} Check;
static const Check checks[] = {
  { "_linalg_det", "linalg.det", LF_FLOAT, NULL },
  { "_linalg_eigh", "linalg.eigh", LF_ANY, NULL },
  { "_linalg_slogdet", "linalg.slogdet", LF_WIDE, NULL },
  { "_linalg_solve_ex", "linalg.solve", LF_FLOAT, NULL },
  { "_linalg_svd", "linalg.svd", LF_FLOAT, NULL },
  { "linalg_cholesky_ex", "linalg.cholesky", LF_FLOAT, NULL },
  { "linalg_eig", "linalg.eig", LF_ANY, NULL },
  { "linalg_inv_ex", "linalg.inv", LF_WIDE, "linalg.inv_ex" },
  { "linalg_ldl_factor_ex", "torch.linalg.ldl_factor_ex", LF_FLOAT, NULL },
  { "linalg_ldl_solve", "torch.linalg.ldl_solve", LF_FLOAT, NULL },
  { "linalg_lu_solve", "torch.linalg.lu_solve", LF_FLOAT, NULL },
  { "linalg_matrix_exp", "linalg.matrix_exp", LF_FLOAT, NULL },
  { "linalg_qr", "linalg.qr", LF_FLOAT, NULL },
  { "linalg_solve_triangular", "linalg.solve_triangular", LF_ANY, NULL }
};
/* Operators with their own words about too few dims. */
static const Check few_dims[] = {
  { "geqrf", "torch.geqrf: input must have at least 2 dimensions.", 0, NULL },
  { "linalg_householder_product", "torch.linalg.householder_product: input "
    "must have at least 2 dimensions.", 0, NULL },
  { "ormqr", "torch.ormqr: other must have at least 2 dimensions.", 0, NULL }
};
/* "... Got size: [3] instead" */
static const Check got_size[] = {
  { "linalg_lu", "linalg.lu", 0, NULL }, { "linalg_lu_factor_ex", "torch.lu_factor",
                                     0, NULL },
  { "lu_unpack", "torch.lu_unpack", 0, NULL }
};
#define FIND(table, op) \
  find_check(table, (int)(sizeof table / sizeof *table), op)
static const Check *find_check (const Check *t, int n, const DtOpDef *op) {
  for (int i = 0; i < n; i++)
    if (strcmp(t[i].base, op->sig->base) == 0) return &t[i];
  return NULL;
}

static const char *text_name (const DtMetaCall *c, const Check *k) {
  if (k == NULL) return c->op->sig->base;
  return c->fake && k->fake != NULL ? k->fake : k->name;
}

/* A dtype as C++ says it, or as PyTorch's meta functions do. */
static const char *type_text (const DtMetaCall *c, DtDtype t) {
  return c->fake ? dt_dtype_info(t)->torch : op_dtype_word(t);
}

static DtStatus check_dims (DtMetaCall *c, const DtMeta *m, bool square) {
  const Check *own = FIND(few_dims, c->op), *size = FIND(got_size, c->op);
  const Check *k = FIND(checks, c->op);
  OpText shape = op_shape_text(m);
  if (m->ndim >= 2) return DT_OK;
  if (own != NULL) return dt_raise(c->cx, DT_E_RUNTIME, "%s", own->name);
  if (size != NULL)
    return dt_raise(c->cx, DT_E_RUNTIME, "%s: Expected tensor with 2 or more "
                    "dimensions. Got size: %s instead", size->name, shape.s);
  if (c->fake && square)
    return dt_raise(c->cx, DT_E_RUNTIME, "%s: The input tensor must have at "
                    "least 2 dimensions, got %d", text_name(c, k), m->ndim);
  return dt_raise(c->cx, DT_E_RUNTIME, "%s: The input tensor A must have at "
                  "least 2 dimensions.", text_name(c, k));
}

static DtStatus check_matrix (DtMetaCall *c, const DtMeta *m, bool square) {
  const Check *k = FIND(checks, c->op);
  bool nameless = strcmp(c->op->sig->base, "cholesky_solve") == 0 ||
                  strcmp(c->op->sig->base, "triangular_solve") == 0;
  DtDtype t = (DtDtype)m->dtype;
  DT_TRY(c->cx, check_dims(c, m, square));
  DT_CHECK(c->cx, !square || m->shape[m->ndim - 1] == m->shape[m->ndim - 2],
           DT_E_RUNTIME, "%s%sA must be batches of square matrices, but they "
           "are %lld by %lld matrices", nameless ? "" : text_name(c, k), nameless ? "" : ": ",
           (long long)m->shape[m->ndim - 2], (long long)m->shape[m->ndim - 1]);
  if (k == NULL || k->floats == LF_ANY) return DT_OK;
  if (dt_dtype_is_integral(t, true))
    return op_wants_floats(c->cx, text_name(c, k), type_text(c, t));
  DT_CHECK_SAY(c->cx, k->floats == LF_FLOAT || dt_dtype_size(t) >= 4,
               DT_E_RUNTIME, LOW_PRECISION, text_name(c, k), type_text(c, t));
  return DT_OK;
}

static int64_t size_of (const DtMeta *m, int code) {
  int64_t a = m->shape[m->ndim - 2], b = m->shape[m->ndim - 1];
  return code == LD_M ? a : code == LD_N ? b : a < b ? a : b;
}

static DtDtype type_of (const DtMeta *m, int code) {
  DtDtype t = (DtDtype)m->dtype;
  switch (code) {
    case LT_I32: return DT_I32;
    case LT_REAL: return dt_dtype_to_real(t);
    case LT_COMPLEX:
      if (t == DT_C64 || t == DT_C128) return t;
      return t == DT_F64 ? DT_C128 : DT_C64;
    default: return t;
  }
}

/* One output of matrix m as four numbers of a row say. */
static DtStatus matrix_out (DtMetaCall *c, const DtMeta *m, const int *o,
                            DtMeta *out) {
  int64_t shape[DT_MAX_NDIM];
  int n = m->ndim - 2;
  if (o[0] == LD_EMPTY) {
    shape[0] = 0;
    return op_new_meta(c->cx, out, type_of(m, o[3]), 1, shape, m);
  }
  memcpy(shape, m->shape, sizeof(int64_t) * (size_t)n);
  for (int i = 0; i < 2; i++)
    if (o[i] != LD_NONE) shape[n++] = size_of(m, o[i]);
  DT_TRY(c->cx, op_new_meta(c->cx, out, type_of(m, o[3]), n, shape, m));
  if (o[2] == LL_F || (o[2] == LL_F_OR_EMPTY && dt_meta_numel(out) > 0))
    column_major(out);
  return DT_OK;
}

static DtStatus matrix_meta (DtMetaCall *c) {
  const int *r = c->op->row;
  DT_TRY(c->cx, check_matrix(c, c->in[0], r[LR_SQUARE]));
  c->nout = r[LR_NOUT];
  for (int i = 0; i < c->nout; i++)
    DT_TRY(c->cx, matrix_out(c, c->in[0], r + LR_OUT + i * LR_EACH,
                             &c->out[i]));
  return DT_OK;
}

/* Of a Hermitian matrix eigh computes, which asks in its own name. */
static DtStatus pinv_meta (DtMetaCall *c) {
  enum { A_HERMITIAN = 3 };
  const DtMeta *m = c->in[0];
  DT_TRY(c->cx, matrix_meta(c));
  if (!dt_arg_bool(c->args, A_HERMITIAN) || dt_meta_numel(m) == 0) return DT_OK;
  int64_t rows = m->shape[m->ndim - 2], cols = m->shape[m->ndim - 1];
  DT_CHECK(c->cx, rows == cols, DT_E_RUNTIME, "linalg.eigh: A must be batches of "
           "square matrices, but they are %lld by %lld matrices", (long long)rows,
           (long long)cols);
  return DT_OK;
}

/* Q and R in the modes of qr. */
static DtStatus qr_meta (DtMetaCall *c) {
  const char *mode = dt_arg_str(c->args, 1);
  bool all = strcmp(mode, "complete") == 0, r = strcmp(mode, "r") == 0;
  const int q_out[] = { r ? LD_EMPTY : LD_M, all ? LD_M : LD_K, LL_F,
                        LT_SAME };
  const int r_out[] = { all ? LD_M : LD_K, LD_N, LL_F, LT_SAME };
  DT_CHECK(c->cx, all || r || strcmp(mode, "reduced") == 0, DT_E_RUNTIME,
           "qr received unrecognized mode '%s' but expected one of 'reduced' "
           "(default), 'r', or 'complete'", mode);
  DT_TRY(c->cx, check_matrix(c, c->in[0], false));
  c->nout = 2;
  DT_TRY(c->cx, matrix_out(c, c->in[0], q_out, &c->out[0]));
  return matrix_out(c, c->in[0], r_out, &c->out[1]);
}

static DtStatus svd_meta (DtMetaCall *c) {
  bool all = dt_arg_bool(c->args, 1), uv = dt_arg_bool(c->args, 2);
  const int u[] = { uv ? LD_M : LD_EMPTY, all ? LD_M : LD_K, LL_F, LT_SAME };
  const int s[] = { LD_K, LD_NONE, LL_C, LT_REAL };
  const int v[] = { uv ? all ? LD_N : LD_K : LD_EMPTY, LD_N, LL_F, LT_SAME };
  DT_TRY(c->cx, check_matrix(c, c->in[0], false));
  c->nout = 3;
  DT_TRY(c->cx, matrix_out(c, c->in[0], u, &c->out[0]));
  DT_TRY(c->cx, matrix_out(c, c->in[0], s, &c->out[1]));
  return matrix_out(c, c->in[0], v, &c->out[2]);
}

static DtStatus eigh_meta (DtMetaCall *c) {
  const int w[] = { LD_M, LD_NONE, LL_C, LT_REAL };
  const int v[] = { dt_arg_bool(c->args, 2) ? LD_M : LD_EMPTY, LD_N, LL_F,
                    LT_SAME };
  const char *uplo = dt_arg_str(c->args, 1);
  DT_TRY(c->cx, check_matrix(c, c->in[0], true));
  DT_CHECK(c->cx, strlen(uplo) == 1 && strchr("LlUu", uplo[0]) != NULL,
           DT_E_RUNTIME, "Expected UPLO argument to be 'L' or 'U', but got %s",
           uplo);
  c->nout = 2;
  DT_TRY(c->cx, matrix_out(c, c->in[0], w, &c->out[0]));
  return matrix_out(c, c->in[0], v, &c->out[1]);
}

/* P, L, U of linalg_lu and lu_unpack.  Row: which argument says whether P is
** wanted; L and U, -1 = always. */
static DtStatus lu_meta (DtMetaCall *c) {
  bool p = dt_arg_bool(c->args, c->op->row[0]);
  bool lu = c->op->row[1] < 0 || dt_arg_bool(c->args, c->op->row[1]);
  const int o[3][LR_EACH] = {
    { p ? LD_M : LD_EMPTY, LD_M, LL_C, LT_SAME },
    { lu ? LD_M : LD_EMPTY, LD_K, LL_C, LT_SAME },
    { lu ? LD_K : LD_EMPTY, LD_N, LL_C, LT_SAME }
  };
  DT_TRY(c->cx, check_matrix(c, c->in[0], false));
  c->nout = 3;
  for (int i = 0; i < 3; i++)
    DT_TRY(c->cx, matrix_out(c, c->in[0], o[i], &c->out[i]));
  return DT_OK;
}

static DtStatus errors_meta (DtMetaCall *c) {
  c->nout = 0;
  return DT_OK;
}

/* ---- solvers ---- */

/* batch dims of a and b, broadcast, before the matrix dims of `of`. */
static DtStatus batch_out (DtMetaCall *c, const DtMeta *a, const DtMeta *b,
                           const DtMeta *of, DtMeta *out) {
  DtMeta x, y, r;
  int n;
  DT_TRY(c->cx, op_new_meta(c->cx, &x, (DtDtype)a->dtype, a->ndim - 2,
                            a->shape, a));
  DT_TRY(c->cx, op_new_meta(c->cx, &y, (DtDtype)b->dtype, b->ndim - 2,
                            b->shape, b));
  DT_TRY(c->cx, dt_meta_broadcast(c->cx, &y, &x, &r));
  n = r.ndim;
  DT_CHECK(c->cx, n + 2 <= DT_MAX_NDIM, DT_E_LIMIT, "at most %d dimensions",
           DT_MAX_NDIM);
  r.shape[n] = of->shape[of->ndim - 2];
  r.shape[n + 1] = of->shape[of->ndim - 1];
  DT_TRY(c->cx, op_new_meta(c->cx, out, (DtDtype)of->dtype, n + 2, r.shape,
                            of));
  column_major(out);
  return DT_OK;
}

static bool is_left (const DtArgs *a) {
  for (int i = 0; i < a->n; i++)
    if (strcmp(a->schema->arg[i].name, "left") == 0) return dt_arg_bool(a, i);
  return true;
}

/* A X = B or X A = B: the sides have equal rows, or equal columns. */
static DtStatus check_sides (DtMetaCall *c, const DtMeta *a, const DtMeta *b,
                             bool left, bool vector) {
  const Check *k = FIND(checks, c->op);
  const char *base = c->op->sig->base, *name = k != NULL ? k->name : base;
  int64_t rows = a->shape[a->ndim - 2], cols = a->shape[a->ndim - 1];
  int64_t br = vector ? b->shape[b->ndim - 1] : b->shape[b->ndim - 2];
  int64_t bc = vector ? 1 : b->shape[b->ndim - 1];
  bool lu = strcmp(base, "linalg_lu_solve") == 0;
  bool ldl = strcmp(base, "linalg_ldl_solve") == 0;
  bool old = ldl || strcmp(base, "cholesky_solve") == 0 ||
             strcmp(base, "triangular_solve") == 0;
  const char *mat = lu ? "LU" : "A";
  DT_CHECK(c->cx, !old || a->dtype == b->dtype, DT_E_RUNTIME, "Expected b and "
           "A to have the same dtype, but found b of type %s and A of type %s "
           "instead.", op_dtype_word((DtDtype)b->dtype),
           op_dtype_word((DtDtype)a->dtype));
  DT_CHECK(c->cx, !old || cols == br, DT_E_RUNTIME, "Incompatible matrix sizes "
           "for %s: each A matrix is %lld by %lld but each b matrix is %lld by "
           "%lld", ldl ? name : base, (long long)cols, (long long)cols, (long long)br,
           (long long)bc);
  bool any = strcmp(base, "linalg_solve_triangular") == 0;
  DT_CHECK(c->cx, old || any || c->fake || a->dtype == b->dtype, DT_E_RUNTIME,
           "%s: "
           "Expected %s and B to have the same dtype, but found %s of type %s "
           "and B of type %s instead", lu ? "linalg.lu_solve" : name, mat, mat,
           op_dtype_word((DtDtype)a->dtype), op_dtype_word((DtDtype)b->dtype));
  DT_CHECK(c->cx, left ? rows == br : cols == bc, DT_E_RUNTIME, "%s: "
           "Incompatible shapes of A and B for the equation %s (%lldx%lld and "
           "%lldx%lld)", lu ? "linalg.lu_solve" : name,
           left ? "AX = B" : "XA = B", (long long)rows,
           (long long)cols, (long long)br, (long long)bc);
  return DT_OK;
}

/* The pivots that come with the factors LU or LD. */
static DtStatus check_pivots (DtMetaCall *c, const DtMeta *a,
                              const DtMeta *p, const DtMeta *b) {
  bool lu = strcmp(c->op->sig->base, "linalg_lu_solve") == 0;
  const char *name = lu ? "linalg.lu_solve" : "torch.linalg.ldl_solve";
  DT_CHECK(c->cx, !lu || p->dtype == DT_I32, DT_E_RUNTIME, "%s: pivots should "
           "be a Tensor of scalar type torch.int32", name);
  DT_CHECK(c->cx, lu || dt_dtype_is_integral((DtDtype)p->dtype, false),
           DT_E_RUNTIME, "%s: Expected pivots to be integers. Got %s", name,
           op_dtype_word((DtDtype)p->dtype));
  DT_CHECK(c->cx, !lu || p->ndim > 0, DT_E_INDEX,
           "Dimension specified as -1 but tensor has no dimensions");
  DT_CHECK(c->cx, !lu || p->shape[p->ndim - 1] == a->shape[a->ndim - 1],
           DT_E_RUNTIME, "%s: Number of pivots per batch should be same as "
           "the dimension of the matrix", name);
  DT_CHECK(c->cx, !lu || b->ndim >= 2, DT_E_RUNTIME, "%s: The input tensor B "
           "must have at least 2 dimensions.", name);
  DT_TRY(c->cx, op_has_dim(c->cx, b, -2));
  bool same = p->ndim == a->ndim - 1;
  for (int i = 0; same && i < p->ndim; i++)
    same = p->shape[i] == a->shape[i];
  DT_CHECK(c->cx, same, DT_E_RUNTIME, "%s: Expected %s.shape[:-1] and "
           "pivots.shape to be the same, but got pivots with shape %s instead",
           name, lu ? "LU" : "LD", op_shape_text(p).s);
  return DT_OK;
}

/* Row: arguments that hold the matrix and the right-hand side; is there a
** second output, the matrix itself; the argument `left` where it decides
** the layout. */
static DtStatus solve_meta (DtMetaCall *c) {
  const int *r = c->op->row;
  const DtMeta *a = dt_in(c, r[0]), *b = dt_in(c, r[1]);
  bool other = r[1] < r[0];     /* the right-hand side is named first */
  for (int i = 0; other && i < 2; i++) {
    const DtMeta *m = i ? a : b;
    DT_CHECK(c->cx, r[2] || m->ndim >= 2, DT_E_RUNTIME, "%s should have at "
             "least 2 dimensions, but has %d dimensions instead",
             i ? "u" : "b", m->ndim);
    DT_CHECK(c->cx, m->ndim >= 2, DT_E_RUNTIME, "torch.triangular_solve: "
             "Expected %s to have at least 2 dimensions, but it has %d "
             "dimensions instead", i ? "A" : "b", m->ndim);
  }
  DT_TRY(c->cx, check_matrix(c, a, true));
  if (r[0] == 0 && r[1] == 2)           /* between them: pivots */
    DT_TRY(c->cx, check_pivots(c, a, dt_in(c, 1), b));
  DT_TRY(c->cx, check_matrix(c, b, false));
  DT_TRY(c->cx, check_sides(c, a, b, is_left(c->args), false));
  DT_TRY(c->cx, batch_out(c, a, b, b, &c->out[0]));
  if (!c->fake) c->out[0].dtype = a->dtype;
  c->nout = 1 + r[2];
  if (r[3] && !dt_arg_bool(c->args, r[3]))      /* solved as a transpose */
    dt_meta_set_contiguous(&c->out[0]);
  return r[2] ? batch_out(c, a, b, a, &c->out[1]) : DT_OK;
}

/* A vector for every matrix, or a matrix of right-hand sides. */
static bool is_vectors (const DtMeta *a, const DtMeta *b) {
  if (b->ndim == 1) return true;
  if (a->ndim - 1 != b->ndim) return false;
  for (int i = 0; i < b->ndim; i++)
    if (a->shape[i] != b->shape[i]) return false;
  return true;
}

static DtStatus solve_ex_meta (DtMetaCall *c) {
  static const int lu[] = { MAT_F }, piv[] = { LD_M, LD_NONE, LL_C, LT_I32 },
                   info[] = { INFO };
  const DtMeta *a = c->in[0], *b = dt_in(c, 1);
  DT_TRY(c->cx, check_matrix(c, a, true));
  c->nout = 4;
  bool vector = is_vectors(a, b), left = dt_arg_bool(c->args, 2);
  if (!vector) DT_TRY(c->cx, check_matrix(c, b, false));
  DT_CHECK(c->cx, a->dtype == b->dtype, DT_E_RUNTIME, "linalg.solve: Expected "
           "A and B to have the same dtype, but found A of type %s and B of "
           "type %s instead", op_dtype_word((DtDtype)a->dtype),
           op_dtype_word((DtDtype)b->dtype));
  DT_TRY(c->cx, check_sides(c, a, b, left, vector));
  DT_CHECK(c->cx, left || !vector, DT_E_RUNTIME, "linalg.solve: Vector "
           "broadcasting of the left hand side is not supported for "
           "left=False. In this case linalg.solve is equivalent to B / "
           "A.squeeze(-1)");
  if (vector) {
    int64_t shape[DT_MAX_NDIM];
    int n = a->ndim - 1;
    memcpy(shape, a->shape, sizeof(int64_t) * (size_t)n);
    DT_TRY(c->cx, op_new_meta(c->cx, &c->out[0], (DtDtype)b->dtype, n, shape,
                              b));
    column_major(&c->out[0]);
  } else {
    DT_TRY(c->cx, batch_out(c, a, b, b, &c->out[0]));
  }
  DT_TRY(c->cx, matrix_out(c, a, lu, &c->out[1]));
  DT_TRY(c->cx, matrix_out(c, a, piv, &c->out[2]));
  return matrix_out(c, a, info, &c->out[3]);
}

/* Products of reflectors: the sizes are checked in op_linalg_reflect.c. */
static DtStatus householder_meta (DtMetaCall *c) {
  DT_TRY(c->cx, check_dims(c, c->in[0], false));
  DT_TRY(c->cx, op_la_householder_check(c));
  return matrix_meta(c);
}

static DtStatus ormqr_meta (DtMetaCall *c) {
  const DtMeta *a = dt_in(c, 0), *m = dt_in(c, 2);
  static const int same[] = { MAT_F };
  DT_CHECK(c->cx, a->ndim >= 2, DT_E_RUNTIME,
           "torch.ormqr: input must have at least 2 dimensions.");
  DT_TRY(c->cx, check_matrix(c, m, false));
  DT_TRY(c->cx, op_la_ormqr_check(c, is_left(c->args)));
  c->nout = 1;
  return matrix_out(c, m, same, &c->out[0]);
}

static DtStatus cross_dim (DtCtx *cx, const DtArgs *a, const DtMeta *m,
                           int *d) {
  return dt_meta_wrap_dim(cx, dt_arg_int(a, 2), m->ndim, d);
}
static DtStatus cross_meta (DtMetaCall *c) {
  const DtMeta *a = c->in[0], *b = dt_in(c, 1);
  OpOperand o[2] = { { .m = a }, { .m = b } };
  int d;
  DT_CHECK(c->cx, a->ndim == b->ndim, DT_E_RUNTIME, "linalg.cross: inputs "
           "must have the same number of dimensions.");
  DT_TRY(c->cx, cross_dim(c->cx, c->args, a, &d));
  DT_CHECK(c->cx, a->shape[d] == 3 && b->shape[d] == 3, DT_E_RUNTIME,
           "linalg.cross: inputs dimension %lld must have length 3. Got %lld "
           "and %lld", (long long)dt_arg_int(c->args, 2),
           (long long)a->shape[d], (long long)b->shape[d]);
  c->nout = 1;
  DT_TRY(c->cx, op_broadcast(c->cx, 2, o, op_promote(c->cx, 2, o), &c->out[0]));
  DT_CHECK(c->cx, c->fake || a->dtype == b->dtype, DT_E_RUNTIME, "expected "
           "scalar type %s but found %s", op_dtype_word((DtDtype)a->dtype),
           op_dtype_word((DtDtype)b->dtype));
  if (!c->fake) dt_meta_set_contiguous(&c->out[0]);
  return DT_OK;
}

/* ---- rules ---- */

static void batch_rows (DtRuleCall *c, int ndim) {
  for (int d = 0; d < ndim - 2; d++) {
    DtCell row[DT_MAX_NDIM];
    for (int i = 0; i < c->rows->nout + c->rows->nin; i++)
      row[i] = dt_c_s(d);
    dt_rows_add(c->rows, row);
  }
}
static DtStatus batch_rules (DtRuleCall *c) {
  batch_rows(c, c->in[0]->ndim);
  return c->rows->st;
}

/* Partial right-hand side `at` and first output, all else whole. */
static void linear_row (DtRuleCall *c, int at, DtRedOp op) {
  DtCell row[DT_MAX_NDIM];
  for (int i = 0; i < c->rows->nout + c->rows->nin; i++) row[i] = dt_c_r();
  row[0] = row[c->rows->nout + at] = dt_c_p(op);
  dt_rows_add(c->rows, row);
}
static DtStatus first_rules (DtRuleCall *c) {
  batch_rows(c, c->in[0]->ndim);
  linear_row(c, 0, DT_OP_SUM);
  return c->rows->st;
}
static DtStatus last_rules (DtRuleCall *c) {
  batch_rows(c, c->in[0]->ndim);
  linear_row(c, c->rows->nin - 1, DT_OP_SUM);
  return c->rows->st;
}
static DtStatus triangular_rules (DtRuleCall *c) {
  batch_rows(c, c->in[0]->ndim);
  linear_row(c, 1, DT_OP_SUM);
  linear_row(c, 1, DT_OP_AVG);
  for (int d = 0; d < c->in[1]->ndim - 2; d++) {
    DtCell row[3] = { dt_c_s(d), dt_c_r(), dt_c_s(d) };
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}
static DtStatus pinv_rules (DtRuleCall *c) {
  for (int d = 0; d < c->in[0]->ndim - 2; d++) {
    DtCell row[4] = { dt_c_s(d), dt_c_s(d), dt_c_r(), dt_c_r() };
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}
static DtStatus cross_rules (DtRuleCall *c) {
  int at;
  DT_TRY(c->cx, cross_dim(c->cx, c->args, c->in[0], &at));
  for (int d = 0; d < c->in[0]->ndim; d++) {
    DtCell row[3] = { dt_c_s(d), dt_c_s(d), dt_c_s(d) };
    if (d != at) dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}
static DtStatus whole_strategy (DtStratCall *c) {
  DtPlacement r[OP_MAXPL];
  for (int i = 0; i < c->mesh->ndim; i++) r[i] = dt_pl_replicate();
  return op_s_one(c, r, r, NAN);
}

/* ---- samples and definitions ---- */

static const char *const square_samples[] = { "f32[4, 4]", "f32[2, 3, 3]",
                                              "f64[1, 1]", NULL };
static const char *const matrix_samples[] = { "f32[4, 4]", "f32[2, 5, 3]",
                                              "f32[2, 4]", NULL };
static const char *const pair_samples[] = {
  "f32[4, 4], f32[4, 2]", "f32[2, 3, 3], f32[2, 3, 3]", NULL
};
static const char *const tri_samples[] = {
  "f32[4, 4], f32[4, 2], upper=True", "f32[2, 3, 3], f32[3, 3], upper=False",
  NULL
};
static const char *const rhs_first_samples[] = {
  "f32[4, 2], f32[4, 4]", "f32[2, 3, 3], f32[2, 3, 3]", NULL
};
static const char *const piv_samples[] = {
  "f32[4, 4], i32[4], f32[4, 2]", "f32[2, 3, 3], i32[2, 3], f32[2, 3, 3]",
  NULL
};
static const char *const unpack_samples[] = { "f32[4, 4], i32[4]", NULL };
static const char *const tau_samples[] = { "f32[4, 4], f32[4]", NULL };
static const char *const ormqr_samples[] = { "f32[4, 4], f32[4], f32[4, 3]",
                                             NULL };
static const char *const cross_samples[] = { "f32[4, 3], f32[4, 3]",
                                             "f32[3, 2], f32[3, 2], dim=0",
                                             NULL };
static const char *const info_samples[] = {
  "i32[], \"linalg.inv\", is_matrix=True", NULL
};

#define LF(id, flags_, run_, grad_, schema_, brief_, meta_, rules_, samples_, \
           ...) \
  static const int row_##id[] = { __VA_ARGS__ }; \
  OP_DEF(id, "aten::" schema_, brief_, flags_, meta_, op_k_la_##run_, \
         op_g_la_##grad_, samples_, .rulefn = rules_, .row = row_##id)
#define L(id, ...) LF(id, 0, __VA_ARGS__)
#define W(id, run_, grad_, schema_, brief_, meta_, samples_) \
  OP_DEF(id, "aten::" schema_, brief_, 0, meta_, op_k_la_##run_, \
         op_g_la_##grad_, samples_, .strategy = whole_strategy)
#define CX_ "bool check_errors=False) -> "

W(_linalg_svd, svd, svd, "_linalg_svd(Tensor A, bool full_matrices=False, bool "
  "compute_uv=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
  "Singular value decomposition.", svd_meta, matrix_samples);
W(linalg_qr, qr, qr, "linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, "
  "Tensor R)", "QR decomposition.", qr_meta, matrix_samples);
W(_linalg_eigh, eigh, eigh, "_linalg_eigh(Tensor A, str UPLO=\"L\", bool compute_v=True) "
  "-> (Tensor eigenvalues, Tensor eigenvectors)",
  "Eigenvalues and vectors of a symmetric matrix.", eigh_meta,
  square_samples);
OP_DEF(_linalg_check_errors, "aten::_linalg_check_errors(Tensor info, str "
       "api_name, *, bool is_matrix) -> ()", "Raise what LAPACK reported.",
       DT_OP_NOGRAD, errors_meta, op_k_la_check_errors, NULL, info_samples,
       .rulefn = batch_rules);
LF(_linalg_det, DT_OP_AGAIN, det, det,
  "_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
  "Determinant, with its LU factors.", matrix_meta, batch_rules,
  square_samples, 1, 3, LD_NONE, LD_NONE, LL_C, LT_SAME, MAT_F, LD_K, LD_NONE,
  LL_C, LT_I32);
LF(_linalg_slogdet, DT_OP_AGAIN, slogdet, slogdet,
  "_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor "
  "logabsdet, Tensor LU, Tensor pivots)",
  "Sign and logarithm of the determinant.", matrix_meta, batch_rules,
  square_samples, 1, 4, LD_NONE, LD_NONE, LL_C, LT_SAME, LD_NONE, LD_NONE,
  LL_C, LT_REAL, MAT_F, LD_K, LD_NONE, LL_C, LT_I32);
LF(_linalg_solve_ex, DT_OP_AGAIN, solve_ex, solve_ex,
  "_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, "
  CX_ "(Tensor result, Tensor LU, Tensor pivots, Tensor info)",
  "Solution of A X = B.", solve_ex_meta, last_rules, pair_samples, 0);
L(cholesky, cholesky, cholesky, "cholesky(Tensor self, bool upper=False) -> Tensor",
  "Cholesky factor.", matrix_meta, batch_rules, square_samples, 1, 1, LD_M,
  LD_N, LL_F_OR_EMPTY, LT_SAME);
L(cholesky_inverse, cholesky_inverse, cholesky_inverse, "cholesky_inverse(Tensor self, bool upper=False) -> "
  "Tensor", "Inverse from a Cholesky factor.", matrix_meta, batch_rules,
  square_samples, 1, 1, MAT_F);
L(cholesky_solve, cholesky_solve, cholesky_solve, "cholesky_solve(Tensor self, Tensor input2, bool "
  "upper=False) -> Tensor", "Solution from a Cholesky factor.", solve_meta,
  first_rules, rhs_first_samples, 1, 0, 0, 0);
L(geqrf, geqrf, geqrf, "geqrf(Tensor self) -> (Tensor a, Tensor tau)",
  "QR as LAPACK stores it.", matrix_meta, batch_rules, matrix_samples, 0, 2,
  MAT_F, LD_K, LD_NONE, LL_C, LT_SAME);
L(linalg_cholesky_ex, cholesky_ex, cholesky_ex, "linalg_cholesky_ex(Tensor self, *, bool upper=False, "
  CX_ "(Tensor L, Tensor info)", "Cholesky factor and LAPACK's report.",
  matrix_meta, batch_rules, square_samples, 1, 2, MAT_F, INFO);
L(linalg_eig, eig, eig, "linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor "
  "eigenvectors)", "Eigenvalues and vectors.", matrix_meta, batch_rules,
  square_samples, 1, 2, LD_M, LD_NONE, LL_C, LT_COMPLEX, LD_M, LD_N, LL_F,
  LT_COMPLEX);
L(linalg_householder_product, householder, householder, "linalg_householder_product(Tensor input, "
  "Tensor tau) -> Tensor", "Product of Householder reflections.", householder_meta,
  batch_rules, tau_samples, 0, 1, MAT_F);
L(linalg_inv_ex, inv_ex, inv_ex, "linalg_inv_ex(Tensor A, *, " CX_ "(Tensor inverse, Tensor "
  "info)", "Inverse and LAPACK's report.", matrix_meta, batch_rules,
  square_samples, 1, 2, MAT_F, INFO);
L(linalg_ldl_factor_ex, ldl_factor, none, "linalg_ldl_factor_ex(Tensor self, *, bool "
  "hermitian=False, " CX_ "(Tensor LD, Tensor pivots, Tensor info)",
  "LDL factors and LAPACK's report.", matrix_meta, batch_rules,
  square_samples, 1, 3, MAT_F, LD_M, LD_NONE, LL_C, LT_I32, INFO);
L(linalg_ldl_solve, ldl_solve, none, "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, "
  "bool hermitian=False) -> Tensor", "Solution from LDL factors.", solve_meta,
  last_rules, piv_samples, 0, 2, 0, 0);
L(linalg_lu, lu, lu, "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor "
  "L, Tensor U)", "LU decomposition.", lu_meta, batch_rules, matrix_samples,
  1, -1);
L(linalg_lu_factor_ex, lu_factor, lu_factor, "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, "
  CX_ "(Tensor LU, Tensor pivots, Tensor info)",
  "LU as LAPACK stores it.", matrix_meta, batch_rules, matrix_samples, 0, 3,
  MAT_F, LD_K, LD_NONE, LL_C, LT_I32, INFO);
L(linalg_lu_solve, lu_solve, lu_solve, "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, "
  "bool left=True, bool adjoint=False) -> Tensor", "Solution from LU factors.",
  solve_meta, last_rules, piv_samples, 0, 2, 0, 3);
L(linalg_matrix_exp, matrix_exp, matrix_exp, "linalg_matrix_exp(Tensor self) -> Tensor",
  "Matrix exponential.", matrix_meta, batch_rules, square_samples, 1, 1, LD_M,
  LD_N, LL_C, LT_SAME);
L(linalg_solve_triangular, solve_triangular, solve_triangular, "linalg_solve_triangular(Tensor self, Tensor B, "
  "*, bool upper, bool left=True, bool unitriangular=False) -> Tensor",
  "Solution of a triangular system.", solve_meta, triangular_rules,
  tri_samples, 0, 1, 0, 0);
L(lu_unpack, lu_unpack, lu_unpack, "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool "
  "unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor "
  "U)", "P, L, U from what LAPACK stores.", lu_meta, batch_rules,
  unpack_samples, 3, 2);
L(ormqr, ormqr, ormqr, "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, "
  "bool transpose=False) -> Tensor", "Product with the Q of geqrf.",
  ormqr_meta, last_rules, ormqr_samples, 0);
L(triangular_solve, triangular_solve, triangular_solve, "triangular_solve(Tensor self, Tensor A, bool "
  "upper=True, bool transpose=False, bool unitriangular=False) -> (Tensor "
  "solution, Tensor cloned_coefficient)",
  "Solution of a triangular system, and a copy of the matrix.", solve_meta,
  batch_rules, rhs_first_samples, 1, 0, 1, 0);
L(linalg_cross, cross, cross, "linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> "
  "Tensor", "Cross product of vectors of three.", cross_meta, cross_rules,
  cross_samples, 0);
L(linalg_pinv_atol_rtol_tensor, pinv, pinv, "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? "
  "atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor",
  "Pseudo-inverse.", pinv_meta, pinv_rules, matrix_samples, 0, 1, LD_N,
  LD_M, LL_C, LT_SAME);
