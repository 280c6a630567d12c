/* SPDX-License-Identifier: MIT
** oplib/op_matmul.c: matrix products and the public functions made of them.
**
** mm, bmm, addmm, baddbmm share one description: batch dims, then m, k, n.
** Rules of one mesh dim follow from which letter is cut: batch,
** contracted (the result is a partial sum), rows, columns.  A bias is placed
** as the output seen through broadcasting.  Source: _matrix_ops.py and
** _einsum_strategy.py of PyTorch 2.13. */
#include "oplib/oplib_int.h"
#include "tensor/dtype_text.h"

#include <stdio.h>
#include <math.h>
#include <string.h>

/* Row: position of the first matrix; 0 without a bias.  Batch dims. */
enum { MM_A, MM_BATCH };
static const int row_mm[] = { 0, 0 }, row_bmm[] = { 0, 1 },
                 row_addmm[] = { 1, 0 }, row_baddbmm[] = { 1, 1 };

/* C's name of a type, as PyTorch's dtype checks print it. */
static const char *c_name (const DtMeta *m) {
  return dt_dtype_info((DtDtype)m->dtype)->cpp;
}

/* One matrix of two, in the words that the later way has. */
static DtStatus check_matrix (DtMetaCall *c, const DtMeta *m, bool second,
                              bool bias) {
  if (m->ndim == 2) return DT_OK;
  if (c->fake)
    return dt_raise(c->cx, DT_E_SHAPE, "%c must be 2D", second ? 'b' : 'a');
  if ((c->op->flags & DT_OP_LATER) != 0)
    return dt_raise(c->cx, DT_E_SHAPE, "%s: %s must be a matrix, got %d-D "
                    "tensor", bias ? "addmm" : "mm", second ? "mat2" : "self",
                    m->ndim);
  if (bias)
    return dt_raise(c->cx, DT_E_SHAPE, "mat%d must be a matrix, got %d-D "
                    "tensor", second ? 2 : 1, m->ndim);
  return dt_raise(c->cx, DT_E_SHAPE, "%s must be a matrix",
                  second ? "mat2" : "self");
}

static DtStatus check_mm (DtMetaCall *c, const DtMeta *a, const DtMeta *b,
                          bool bias) {
  const char *name = (c->op->flags & DT_OP_LATER) == 0 ? ""
                     : bias ? "addmm: " : "mm: ";
  DT_TRY(c->cx, check_matrix(c, a, false, bias));
  DT_TRY(c->cx, check_matrix(c, b, true, bias));
  if (c->fake) {
    DT_CHECK(c->cx, a->shape[1] == b->shape[0], DT_E_SHAPE,
             "a and b must have same reduction dim, but got "
             "[%lld, %lld] X [%lld, %lld].", (long long)a->shape[0],
             (long long)a->shape[1], (long long)b->shape[0],
             (long long)b->shape[1]);
    return DT_OK;
  }
  DT_CHECK(c->cx, a->shape[1] == b->shape[0], DT_E_SHAPE,
           "%smat1 and mat2 shapes cannot be multiplied "
           "(%lldx%lld and %lldx%lld)", name, (long long)a->shape[0],
           (long long)a->shape[1], (long long)b->shape[0],
           (long long)b->shape[1]);
  return DT_OK;
}

static DtStatus check_bmm (DtMetaCall *c, const DtMeta *a, const DtMeta *b) {
  DT_CHECK(c->cx, a->ndim == 3, DT_E_SHAPE, "batch1 must be a 3D tensor");
  DT_CHECK(c->cx, b->ndim == 3, DT_E_SHAPE, "batch2 must be a 3D tensor");
  DT_CHECK(c->cx, a->shape[0] == b->shape[0] && a->shape[2] == b->shape[1],
           DT_E_SHAPE, "Expected size for first two dimensions of batch2 "
           "tensor to be: [%lld, %lld] but got: [%lld, %lld].",
           (long long)a->shape[0], (long long)a->shape[2],
           (long long)b->shape[0], (long long)b->shape[1]);
  return DT_OK;
}

DtStatus op_check_expand (DtMetaCall *c, const DtMeta *s, const DtMeta *o) {
  OpText want = op_shape_text(o), got = op_shape_text(s);
  char meta[40];
  bool later = c->fake && (c->op->flags & DT_OP_LATER) != 0;
  (void)snprintf(meta, sizeof meta, "Meta%sType",
                 op_dtype_word((DtDtype)s->dtype));
  DT_CHECK(c->cx, s->ndim <= o->ndim, DT_E_SHAPE,
           "expand(%s{%s}, size=%s): the number of sizes provided (%d) must be "
           "greater or equal to the number of dimensions in the tensor (%d)",
           later ? meta : dt_dtype_type_text((DtDtype)s->dtype), got.s, want.s,
           o->ndim, s->ndim);
  for (int i = s->ndim - 1; i >= 0; i--) {     /* from the last, as expand */
    int d = o->ndim - s->ndim + i;
    DT_CHECK(c->cx, s->shape[i] == 1 || s->shape[i] == o->shape[d],
             DT_E_SHAPE, "The expanded size of the tensor (%lld) must match "
             "the existing size (%lld) at non-singleton dimension %d.  Target "
             "sizes: %s.  Tensor sizes: %s", (long long)o->shape[d],
             (long long)s->shape[i], d, want.s, got.s);
  }
  return DT_OK;
}

/* Meta functions of single matrices broadcast; the later way expands. */
static DtStatus check_bias (DtMetaCall *c, const DtMeta *s, const DtMeta *o) {
  if (c->fake && !c->op->row[MM_BATCH] && (c->op->flags & DT_OP_LATER) == 0)
    return op_py_pair(c->cx, o, s, NULL);
  return op_check_expand(c, s, o);
}

/* What is written in place has the product's shape and type. */
static DtStatus check_written (DtMetaCall *c, const DtMeta *s, const DtMeta *a,
                               const DtMeta *b) {
  int nb = c->op->row[MM_BATCH];
  int64_t shape[3];
  shape[0] = a->shape[0];
  shape[nb] = a->shape[nb];
  shape[nb + 1] = b->shape[nb + 1];
  bool same = s->ndim == nb + 2;
  for (int i = 0; same && i < nb + 2; i++) same = s->shape[i] == shape[i];
  OpText got = op_shape_text(s), want = op_ints_text(nb + 2, shape);
  for (int i = 0; nb && i < s->ndim && s->ndim <= 3; i++)
    same |= s->shape[i] != 1 && s->shape[i] != shape[3 - s->ndim + i];
  if (nb && same) return DT_OK;         /* other words: it cannot expand */
  DT_CHECK(c->cx, same, DT_E_SHAPE, "Bad in-place call: input tensor size %s "
           "and output tensor size %s should match", got.s, want.s);
  return DT_OK;
}

/* A dtype's name in C++, or in PyTorch's meta functions. */
static const char *type_name (const DtMetaCall *c, const DtMeta *m) {
  return c->fake ? dt_dtype_info((DtDtype)m->dtype)->torch : c_name(m);
}

/* baddbmm expands its bias before it looks at the matrices. */
static DtStatus expand_first (DtMetaCall *c, const DtMeta *a,
                              const DtMeta *b) {
  DtMeta want;
  DT_TRY(c->cx, op_has_dim(c->cx, a, 0));
  DT_TRY(c->cx, op_has_dim(c->cx, a, 1));
  DT_TRY(c->cx, op_has_dim(c->cx, b, 2));
  int64_t shape[3] = { a->shape[0], a->shape[1], b->shape[2] };
  DT_TRY(c->cx, op_new_meta(c->cx, &want, (DtDtype)a->dtype, 3, shape, a));
  return check_bias(c, dt_in(c, 0), &want);
}

/* addmm looks at types before it looks at shapes. */
static DtStatus check_types (DtMetaCall *c, const DtMeta *s, const DtMeta *a,
                             const DtMeta *b) {
  DT_CHECK(c->cx, s == NULL || s->dtype == b->dtype, DT_E_DTYPE,
           "self and mat2 must have the same dtype, but got %s and %s",
           op_dtype_word((DtDtype)s->dtype), op_dtype_word((DtDtype)b->dtype));
  DT_CHECK(c->cx, a->dtype == b->dtype, DT_E_DTYPE,
           "mat1 and mat2 must have the same dtype, but got %s and %s",
           op_dtype_word((DtDtype)a->dtype), op_dtype_word((DtDtype)b->dtype));
  return DT_OK;
}

/* baddbmm asks for one type of its bias and its first batch, then of the
** second. */
static DtStatus check_batch_types (DtMetaCall *c, const DtMeta *s,
                                   const DtMeta *a, const DtMeta *b) {
  bool first = s->dtype == a->dtype;
  DT_CHECK(c->cx, first && (!c->fake || s->dtype == b->dtype), DT_E_DTYPE,
           "Input dtypes must be the same, got: input%s %s, batch1: %s, "
           "batch2: %s", c->fake ? ":" : "", type_name(c, s), type_name(c, a),
           type_name(c, b));
  if (c->args->schema->inplace)
    DT_CHECK(c->cx, s->dtype == b->dtype, DT_E_DTYPE, "Bad in-place call: "
             "input tensor dtype %s and output tensor dtype %s should match",
             c_name(s), c_name(b));
  return DT_OK;
}

/* mm, bmm, addmm, baddbmm: `at` is where the two matrices begin, `nb` whether
** there is a batch.  The order of the checks is PyTorch's: several may fail at
** once, and the first one's text is what is raised. */
static DtStatus mm_meta (DtMetaCall *c) {
  int at = c->op->row[MM_A], nb = c->op->row[MM_BATCH];
  const DtMeta *a = dt_in(c, at), *b = dt_in(c, at + 1);
  int64_t shape[3];
  DT_ASSERT(c->cx, a && b);
  if (at == 1 && !nb && !c->fake)
    DT_TRY(c->cx, check_types(c, dt_in(c, 0), a, b));
  if (nb && at == 1) DT_TRY(c->cx, expand_first(c, a, b));
  if (nb) DT_TRY(c->cx, check_bmm(c, a, b));
  else DT_TRY(c->cx, check_mm(c, a, b, at == 1));
  if (at == 1 && nb && dt_in(c, 0))
    DT_TRY(c->cx, check_batch_types(c, dt_in(c, 0), a, b));
  if (at == 1 && c->args->schema->inplace && !c->fake)
    DT_TRY(c->cx, check_written(c, c->in[0], a, b));
  bool check = nb || !c->fake;  /* mm's meta function looks at no dtype */
  DT_CHECK(c->cx, a->dtype == b->dtype || !nb, DT_E_DTYPE,
           "expected scalar type %s but found %s",
           c->fake ? type_name(c, a) : op_dtype_word((DtDtype)a->dtype),
           c->fake ? type_name(c, b) : op_dtype_word((DtDtype)b->dtype));
  DT_CHECK(c->cx, a->dtype == b->dtype || !check, DT_E_DTYPE,
           "expected m1 and m2 to have the same dtype, but got: %s != %s",
           c_name(a), c_name(b));
  shape[0] = a->shape[0];
  shape[nb] = a->shape[nb];
  shape[nb + 1] = b->shape[nb + 1];
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[0], (DtDtype)a->dtype, nb + 2,
                            shape, a));
  if (at == 1 && dt_in(c, 0))
    DT_TRY(c->cx, check_bias(c, dt_in(c, 0), &c->out[0]));
  c->nout = 1;
  return DT_OK;
}

DtStatus op_k_factors_fit (DtKernelCall *c, DtDtype t) {
  DtDtype wide = dt_dtype_acc(t);
  DT_TRY(c->cx, op_number_fits(c->cx, dt_arg_scalar(c->args, 3), wide));
  return op_number_fits(c->cx, dt_arg_scalar(c->args, 4), wide);
}

DtStatus op_k_combine (DtKernelCall *c, const DtTensor *self, DtScalar beta,
                       DtScalar alpha) {
  DtTensor *out = c->out[0], *t = NULL;
  DtDtype ty = (DtDtype)out->m.dtype;
  DtStatus st = DT_OK;
  DT_TRY(c->cx, op_number_fits(c->cx, beta, ty));
  DT_TRY(c->cx, op_number_fits(c->cx, alpha, ty));
  if (alpha.re != 1 || alpha.im != 0)
    DT_TRYG(c->cx, dt_k_unary(c->cx, DT_U_mul_scalar, ty, &alpha, out, out));
  if (beta.re == 0 && beta.im == 0) return DT_OK;
  DT_TRYG(c->cx, op_temp(c->cx, ty, out->m.ndim, out->m.shape, &t));
  DT_TRYG(c->cx, dt_k_copy(c->cx, self, t));
  if (beta.re != 1 || beta.im != 0)
    DT_TRYG(c->cx, dt_k_unary(c->cx, DT_U_mul_scalar, ty, &beta, t, t));
  DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_add, ty, NULL, out, t, out));
done:
  dt_tensor_unref(c->cx, t);
  return st;
}

static DtStatus mm_kernel (DtKernelCall *c) {
  int at = c->op->row[MM_A];
  double alpha = 1, beta = 0;
  DtDtype t = (DtDtype)c->out[0]->m.dtype;
  bool f8 = dt_dtype_is_float(t) && dt_dtype_size(t) == 1;
  if (t == DT_BOOL || (f8 && c->op->row[MM_BATCH] != 0))
    return dt_raise(c->cx, DT_E_NOTIMPL, "\"%s\" not implemented for '%s'",
                    c->op->row[MM_BATCH] == 0 ? "addmm_impl_cpu_"
                    : at == 1 ? "baddbmm" : "bmm", op_dtype_word(t));
  if (at == 1 && dt_dtype_is_complex(t)) {      /* gemm's factors are real */
    DT_TRY(c->cx, dt_k_gemm(c->cx, 1, dt_kin(c, at), dt_kin(c, at + 1), 0,
                            c->out[0]));
    return op_k_combine(c, dt_kin(c, 0), dt_arg_scalar(c->args, 3),
                        dt_arg_scalar(c->args, 4));
  }
  if (at == 1) {
    DT_TRY(c->cx, op_k_factors_fit(c, t));
    beta = dt_arg_float(c->args, 3);
    alpha = dt_arg_float(c->args, 4);
    if (beta != 0)
      DT_TRY(c->cx, dt_k_copy(c->cx, dt_kin(c, 0), c->out[0]));
  }
  return dt_k_gemm(c->cx, alpha, dt_kin(c, at), dt_kin(c, at + 1), beta,
                   c->out[0]);
}

/* Cell of a bias for an output placement: aligned from the right. */
static DtCell bias_cell (const DtMeta *bias, const DtMeta *out, DtCell o) {
  if (o.kind != DT_C_SHARD) return o;
  int d = o.dim - (out->ndim - bias->ndim);
  if (d < 0 || bias->shape[d] == 1) return dt_c_r();
  return dt_c_s(d);
}

static void mm_row (DtRuleCall *c, DtCell o, DtCell a, DtCell b) {
  DtCell cell[4];
  int n = 0;
  cell[n++] = o;
  if (c->op->row[MM_A] == 1 && dt_rin(c, 0))
    cell[n++] = bias_cell(dt_rin(c, 0), &c->out[0], o);
  cell[n++] = a;
  cell[n++] = b;
  dt_rows_add(c->rows, cell);
}

static DtStatus mm_rules (DtRuleCall *c) {
  static const DtRedOp linear[] = { DT_OP_SUM, DT_OP_AVG };
  int nb = c->op->row[MM_BATCH];
  DtCell r = dt_c_r();
  for (int d = 0; d < nb; d++) mm_row(c, dt_c_s(d), dt_c_s(d), dt_c_s(d));
  mm_row(c, dt_c_p(DT_OP_SUM), dt_c_s(nb + 1), dt_c_s(nb));  /* contracted */
  mm_row(c, dt_c_s(nb), dt_c_s(nb), r);                      /* rows */
  mm_row(c, dt_c_s(nb + 1), r, dt_c_s(nb + 1));              /* columns */
  for (int i = 0; i < 2; i++) {
    DtCell p = dt_c_p(linear[i]);
    mm_row(c, p, p, r);
    mm_row(c, p, r, p);
  }
  return c->rows->st;
}

/* ---- gradients ---- */

static DtHandle *mt (DtGradCall *c, DtHandle *h) {
  return c->op->row[MM_BATCH]
    ? dt_emit(c->e, "aten.transpose.int", "tii", h, (int64_t)1, (int64_t)2)
    : dt_emit(c->e, "aten.t.default", "t", h);
}
/* Conjugated where complex; products read a conjugate as it is. */
static DtHandle *conj_of (DtGradCall *c, DtHandle *h) {
  if (!dt_emit_ok(c->e) ||
      !dt_dtype_is_complex((DtDtype)dt_emit_meta(c->e, h)->dtype))
    return h;
  return dt_emit(c->e, "aten._conj.default", "t", h);
}
static DtHandle *mul2 (DtGradCall *c, DtHandle *a, DtHandle *b) {
  return dt_emit(c->e, c->op->row[MM_BATCH] ? "aten.bmm.default"
                                            : "aten.mm.default", "tt", a, b);
}
/* Was the matrix stored column by column?  Then its gradient is made so. */
static bool column_major (DtGradCall *c, DtHandle *h) {
  const DtMeta *m = dt_emit_meta(c->e, h);
  return !c->op->row[MM_BATCH] && m->ndim == 2 && m->stride[0] == 1 &&
         m->stride[1] == m->shape[0];
}

static void left_grad (DtGradCall *c, int at, DtHandle *g) {
  DtHandle *a = dt_gin(c, at), *b = dt_gin(c, at + 1), *r;
  if (!op_g_need(c, at)) return;
  if (column_major(c, a)) {
    r = mt(c, g);
    r = mt(c, mul2(c, conj_of(c, b), r));
  } else {
    r = mul2(c, g, conj_of(c, mt(c, b)));
  }
  op_g_set(c, at, at ? op_g_scale(c, r, 4) : r);
}

static void right_grad (DtGradCall *c, int at, DtHandle *g) {
  DtHandle *a = dt_gin(c, at), *b = dt_gin(c, at + 1), *r;
  if (!op_g_need(c, at + 1)) return;
  if (column_major(c, b)) {
    r = mt(c, g);
    r = mt(c, mul2(c, r, conj_of(c, a)));
  } else {
    r = mul2(c, conj_of(c, mt(c, a)), g);
  }
  op_g_set(c, at + 1, at ? op_g_scale(c, r, 4) : r);
}

/* PyTorch makes gradients in the order of the arguments' names: mat1, mat2,
** self of addmm, but mat2 before self of mm. */
static DtStatus mm_grad (DtGradCall *c) {
  int at = c->op->row[MM_A];
  DtHandle *g = c->gout[0];
  if (at) left_grad(c, at, g);
  right_grad(c, at, g);
  if (!at) left_grad(c, at, g);
  if (at) op_g_set(c, 0, op_g_need(c, 0) ? op_g_scale(c, g, 3) : NULL);
  return op_g_finish(c);
}

/* ---- dot, mv ---- */

static DtStatus dot_meta (DtMetaCall *c) {
  const DtMeta *a = c->in[0], *b = c->in[1];
  DT_CHECK(c->cx, a->ndim == 1 && b->ndim == 1, DT_E_SHAPE,
           "1D tensors expected, but got %dD and %dD tensors", a->ndim,
           b->ndim);
  DT_CHECK(c->cx, a->dtype == b->dtype, DT_E_DTYPE,
           "dot : expected both vectors to have same dtype, but found %s and "
           "%s", c->fake ? type_name(c, a) : op_dtype_word((DtDtype)a->dtype),
           c->fake ? type_name(c, b) : op_dtype_word((DtDtype)b->dtype));
  DT_CHECK(c->cx, a->shape[0] == b->shape[0], DT_E_SHAPE,
           "inconsistent tensor size, expected tensor [%lld] and src [%lld] to "
           "have the%ssame number of elements, but got %lld and %lld elements "
           "respectively", (long long)a->shape[0], (long long)b->shape[0],
           c->fake ? "" : " ", (long long)a->shape[0],
           (long long)b->shape[0]);
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)a->dtype, 0, NULL, a);
}

/* A vector as an n x 1 or 1 x n matrix, through gemm. */
static DtStatus vec_gemm (DtKernelCall *c, bool dot) {
  DtTensor *a = c->in[0], *b = c->in[1], *ma = NULL, *mb = NULL, *mo = NULL;
  int64_t k = b->m.shape[0], one = 1, rows = dot ? 1 : a->m.shape[0];
  int64_t sa[2] = { rows, k }, ta[2] = { a->m.stride[0], a->m.stride[0] };
  int64_t sb[2] = { k, one }, tb[2] = { b->m.stride[0], 1 };
  int64_t so[2] = { rows, one };
  int64_t to[2] = { dot ? 1 : c->out[0]->m.stride[0], 1 };
  DtStatus st;
  if (!dot) ta[1] = a->m.stride[1];
  DT_TRYG(c->cx, op_restride(c->cx, a, 2, sa, ta, 0, &ma));
  DT_TRYG(c->cx, op_restride(c->cx, b, 2, sb, tb, 0, &mb));
  DT_TRYG(c->cx, op_restride(c->cx, c->out[0], 2, so, to, 0, &mo));
  DT_TRYG(c->cx, dt_k_gemm(c->cx, 1, ma, mb, 0, mo));
done:
  dt_tensor_unref(c->cx, ma);
  dt_tensor_unref(c->cx, mb);
  dt_tensor_unref(c->cx, mo);
  return st;
}
static DtStatus dot_kernel (DtKernelCall *c) {
  DT_CHECK(c->cx, c->in[0]->m.dtype != DT_BOOL, DT_E_NOTIMPL,
           "\"dot\" not implemented for 'Bool'");
  return vec_gemm(c, true);
}
static DtStatus mv_kernel (DtKernelCall *c) { return vec_gemm(c, false); }

/* The rows of an inner product as whole-mesh candidates: per mesh dim either
** all R, or both sides cut. */
static DtStatus dot_strategy (DtStratCall *c) {
  DtPlacement out[OP_MAXPL], in[2 * OP_MAXPL];
  int nd = c->mesh->ndim;
  for (int code = 0; code < 1 << nd; code++) {
    for (int i = 0; i < nd; i++) {
      bool cut = code >> (nd - 1 - i) & 1;
      out[i] = cut ? dt_pl_partial(DT_OP_SUM) : dt_pl_replicate();
      in[i] = in[nd + i] = cut ? dt_pl_shard(0) : dt_pl_replicate();
    }
    bool ok = true;
    for (int k = 0; k < 2; k++)
      ok &= dt_layout_shardable(c->mesh, &c->in[k]->meta, in + k * nd, nd);
    if (ok) DT_TRY(c->cx, dt_strat_add(c, out, in, NAN));
  }
  return DT_OK;
}

static DtStatus dot_grad (DtGradCall *c) {
  DtHandle *g = c->gout[0];
  if (op_g_need(c, 0))
    op_g_set(c, 0, dt_emit(c->e, "aten.mul.Tensor", "tt", g,
                           conj_of(c, c->in[1])));
  if (op_g_need(c, 1))
    op_g_set(c, 1, dt_emit(c->e, "aten.mul.Tensor", "tt", g,
                           conj_of(c, c->in[0])));
  return op_g_finish(c);
}

DtStatus op_check_mv (DtCtx *cx, const DtMeta *a, const DtMeta *b) {
  DT_CHECK(cx, a->ndim == 2 && b->ndim == 1, DT_E_SHAPE,
           "matrix @ vector expected, got %d, %d", a->ndim, b->ndim);
  DT_CHECK(cx, a->shape[1] == b->shape[0], DT_E_SHAPE,
           "size mismatch, got input (%lldx%lld), vec (%lld)",
           (long long)a->shape[0], (long long)a->shape[1],
           (long long)b->shape[0]);
  return DT_OK;
}

static DtStatus mv_meta (DtMetaCall *c) {
  const DtMeta *a = c->in[0], *b = c->in[1];
  if (c->fake) DT_TRY(c->cx, op_check_mv(c->cx, a, b));
  DT_CHECK(c->cx, a->ndim == 2 && b->ndim == 1, DT_E_SHAPE,
           "vector + matrix @ vector expected, got %d, %d, %d", 1, a->ndim,
           b->ndim);
  DT_CHECK(c->cx, a->shape[1] == b->shape[0], DT_E_SHAPE,
           "size mismatch, got input (%lld), mat (%lldx%lld), vec (%lld)",
           (long long)a->shape[0], (long long)a->shape[0],
           (long long)a->shape[1], (long long)b->shape[0]);
  DT_CHECK(c->cx, a->dtype == b->dtype, DT_E_DTYPE,
           "addmv input tensors must have the same dtype, but got %s, %s, and "
           "%s", op_dtype_word((DtDtype)b->dtype),
           op_dtype_word((DtDtype)a->dtype),
           op_dtype_word((DtDtype)b->dtype));
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)a->dtype, 1, a->shape, a);
}

/* PyTorch decomposes mv for sharding: (self * vec).sum(1). */
static DtStatus mv_decomp (DtDecompCall *c) {
  int64_t one = 1;
  DtHandle *p = dt_emit(c->e, "aten.mul.Tensor", "tt", c->in[0], c->in[1]);
  c->out[0] = dt_emit(c->e, "aten.sum.dim_IntList", "tI", p, 1, &one);
  c->nout = 1;
  return c->e->st;
}

static DtStatus mv_grad (DtGradCall *c) {
  DtHandle *g = c->gout[0];
  if (op_g_need(c, 0)) {
    const DtMeta *v = dt_emit_meta(c->e, c->in[1]);
    const DtMeta *m = dt_emit_meta(c->e, g);
    int64_t col[2] = { m->shape[0], 1 };
    (void)v;
    DtHandle *x = conj_of(c, c->in[1]);
    DtHandle *gc = dt_emit(c->e, "aten.view.default", "tI", g, 2, col);
    op_g_set(c, 0, dt_emit(c->e, "aten.mul.Tensor", "tt", gc, x));
  }
  if (op_g_need(c, 1)) {
    DtHandle *t = conj_of(c, c->in[0]);
    t = dt_emit(c->e, "aten.t.default", "t", t);
    op_g_set(c, 1, dt_emit(c->e, "aten.mv.default", "tt", t, g));
  }
  return op_g_finish(c);
}

/* ---- definitions ---- */

static const char *const mm_samples[] = {
  "f32[8, 6], f32[6, 4]", "f32[7, 5], f32[5, 3]", "f32[1, 1], f32[1, 1]",
  "f32[0, 4], f32[4, 3]", "f64[4, 0], f64[0, 2]", NULL
};
static const char *const bmm_samples[] = {
  "f32[4, 2, 3], f32[4, 3, 2]", "f32[3, 5, 1], f32[3, 1, 5]",
  "f32[0, 2, 3], f32[0, 3, 4]", NULL
};
static const char *const addmm_samples[] = {
  "f32[4], f32[8, 6], f32[6, 4]", "f32[7, 3], f32[7, 5], f32[5, 3]",
  "f32[8, 1], f32[8, 6], f32[6, 4], beta=0.5, alpha=2.0",
  "f32[3], f32[0, 4], f32[4, 3]", "f32[], f32[2, 2], f32[2, 2]", NULL
};
static const char *const baddbmm_samples[] = {
  "f32[4, 2, 2], f32[4, 2, 3], f32[4, 3, 2]",
  "f32[2], f32[3, 5, 1], f32[3, 1, 2], beta=0.5, alpha=2.0",
  "f32[0, 2, 4], f32[0, 2, 3], f32[0, 3, 4]", NULL
};
static const char *const dot_samples[] = {
  "f32[8], f32[8]", "f32[7], f32[7]", "f32[1], f32[1]", "f32[0], f32[0]", NULL
};
static const char *const mv_samples[] = {
  "f32[8, 6], f32[6]", "f32[7, 5], f32[5]", "f32[1, 1], f32[1]",
  "f32[0, 4], f32[4]", NULL
};

const DtOpDef dt_op_mm = {
  .schema = "aten::mm(Tensor self, Tensor mat2) -> Tensor",
  .brief = "Matrix product of two 2-D tensors.",
  .doc = "out[i,j] = sum over k of self[i,k] * mat2[k,j]",
  .meta = mm_meta, .kernel = mm_kernel, .rulefn = mm_rules, .grad = mm_grad,
  .samples = mm_samples, .row = row_mm
};
const DtOpDef dt_op_bmm = {
  .schema = "aten::bmm(Tensor self, Tensor mat2) -> Tensor",
  .brief = "Matrix products of two batches of matrices.",
  .doc = "out[b,i,j] = sum over k of self[b,i,k] * mat2[b,k,j]",
  .meta = mm_meta, .kernel = mm_kernel, .rulefn = mm_rules, .grad = mm_grad,
  .samples = bmm_samples, .row = row_bmm
};
const DtOpDef dt_op_addmm = {
  .schema = "aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, "
            "Scalar beta=1, Scalar alpha=1) -> Tensor",
  .brief = "Matrix product plus a bias that broadcasts.",
  .doc = "out = beta * self + alpha * (mat1 @ mat2).  A P(sum) output makes "
         "the bias P(sum) too: an R bias is divided over the ranks.",
  .meta = mm_meta, .kernel = mm_kernel, .rulefn = mm_rules, .grad = mm_grad,
  .samples = addmm_samples, .row = row_addmm
};
const DtOpDef dt_op_baddbmm = {
  .schema = "aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, "
            "Scalar beta=1, Scalar alpha=1) -> Tensor",
  .brief = "Batched matrix products plus a bias that broadcasts.",
  .doc = "out = beta * self + alpha * (batch1 @ batch2)",
  .meta = mm_meta, .kernel = mm_kernel, .rulefn = mm_rules, .grad = mm_grad,
  .samples = baddbmm_samples, .row = row_baddbmm
};
const DtOpDef dt_op_dot = {
  .schema = "aten::dot(Tensor self, Tensor tensor) -> Tensor",
  .brief = "Inner product of two vectors.",
  .doc = "out = sum over i of self[i] * tensor[i]",
  .meta = dot_meta, .kernel = dot_kernel, .strategy = dot_strategy,
  .grad = dot_grad, .samples = dot_samples
};
const DtOpDef dt_op_mv = {
  .schema = "aten::mv(Tensor self, Tensor vec) -> Tensor",
  .brief = "Product of a matrix and a vector.",
  .doc = "out[i] = sum over k of self[i,k] * vec[k].  PyTorch has no rule for "
         "it; sharding follows from (self * vec).sum(1).",
  .meta = mv_meta, .kernel = mv_kernel, .decomp = mv_decomp, .grad = mv_grad,
  .samples = mv_samples
};
