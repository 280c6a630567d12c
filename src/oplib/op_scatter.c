/* SPDX-License-Identifier: MIT
** oplib/op_scatter.c: writing parts of a tensor, looking values up, moving
** elements around, transforms along dims: slice_scatter, select_scatter,
** diagonal_scatter, index_fill, index_reduce, bucketize, roll, fft, diag.
**
** A dim that is written or walked along must be whole on every rank; other
** dims pass.  Where local results combine, partial inputs pass as well. */
#include "base/sat.h"
#include "oplib/op_linalg_int.h"
#include "oplib/op_slices_grad.h"

#include <math.h>
#include <inttypes.h>
#include <string.h>


static const DtRedOp pass_ops[] = { DT_OP_SUM, DT_OP_AVG, DT_OP_MAX,
                                    DT_OP_MIN };

/* ---- slice_scatter, select_scatter, diagonal_scatter ---- */

/* Python's rules for start, end, step of a slice of `size`. */
static DtStatus slice_range (DtCtx *cx, const DtArgs *a, int64_t size,
                             int64_t *start, int64_t *len, int64_t *step) {
  int64_t end = dt_arg_int_or(a, 4, INT64_MAX);
  *start = dt_arg_int_or(a, 3, 0);
  *step = dt_arg_int(a, 5);
  DT_CHECK(cx, *step > 0, DT_E_RUNTIME, "slice step must be positive");
  if (*start < 0) *start += size;
  if (end < 0) end += size;
  if (*start < 0) *start = 0;
  if (*start > size) *start = size;
  if (end < *start) end = *start;
  if (end > size) end = size;
  *len = dt_ceil_div(end - *start, *step);
  return DT_OK;
}

/* The part of m that is written: a view, for shapes and kernels alike. */
static DtStatus slice_part (DtCtx *cx, const DtArgs *a, const DtMeta *m,
                            DtMeta *v, int64_t *offset) {
  int d;
  int64_t start = 0, len = 0, step = 1;
  DT_TRY(cx, op_dim(cx, a, 2, m->ndim, &d));
  DT_CHECK(cx, m->ndim > 0, DT_E_INDEX,
           "slice() cannot be applied to a 0-dim tensor.");
  DT_TRY(cx, slice_range(cx, a, m->shape[d], &start, &len, &step));
  dt_meta_copy(v, m);
  v->shape[d] = len;
  v->stride[d] = dt_sat_mul(m->stride[d], step);
  *offset = start * m->stride[d];
  return DT_OK;
}
static void drop_dim (DtMeta *v, int d) {
  v->ndim--;
  for (int k = d; k < v->ndim; k++) {
    v->shape[k] = v->shape[k + 1];
    v->stride[k] = v->stride[k + 1];
  }
}
static DtStatus select_part (DtCtx *cx, const DtArgs *a, const DtMeta *m,
                             DtMeta *v, int64_t *offset) {
  int d;
  int64_t i = dt_arg_int(a, 3);
  DT_CHECK(cx, m->ndim > 0, DT_E_INDEX,
           "select() cannot be applied to a 0-dim tensor.");
  DT_TRY(cx, op_dim(cx, a, 2, m->ndim, &d));
  DT_CHECK(cx, i >= -m->shape[d] && i < m->shape[d], DT_E_INDEX,
           "select(): index %lld out of range for tensor of size %s at "
           "dimension %d", (long long)i, op_shape_text(m).s, d);
  if (i < 0) i += m->shape[d];
  dt_meta_copy(v, m);
  *offset = i * m->stride[d];
  drop_dim(v, d);
  return DT_OK;
}
/* The diagonal of dims at arguments `at` (offset, dim1, dim2). */
static DtStatus diag_dims (DtCtx *cx, const DtArgs *a, int at, int ndim,
                           int *d1, int *d2) {
  DT_TRY(cx, dt_meta_wrap_dim(cx, dt_arg_int(a, at + 1), ndim, d1));
  DT_TRY(cx, dt_meta_wrap_dim(cx, dt_arg_int(a, at + 2), ndim, d2));
  DT_CHECK(cx, *d1 != *d2, DT_E_RUNTIME,
           "diagonal dimensions cannot be identical %lld, %lld",
           (long long)dt_arg_int(a, at + 1), (long long)dt_arg_int(a, at + 2));
  return DT_OK;
}
static void diagonal_of (const DtMeta *m, int64_t off, int d1, int d2,
                         DtMeta *v, int64_t *offset) {
  int64_t rows = m->shape[d1], cols = m->shape[d2], n, step;
  *offset = 0;
  step = dt_sat_add(m->stride[d1], m->stride[d2]);
  if (off >= 0) {
    int64_t left = dt_sat_sub(cols, off);
    n = rows < left ? rows : left;
    if (n > 0) *offset = dt_sat_mul(off, m->stride[d2]);
  } else {
    int64_t left = dt_sat_add(rows, off);
    n = left < cols ? left : cols;
    if (n > 0) *offset = dt_sat_mul(dt_sat_sub(0, off), m->stride[d1]);
  }
  if (n < 0) n = 0;
  dt_meta_copy(v, m);
  v->wrapped = false;
  drop_dim(v, d1 > d2 ? d1 : d2);
  drop_dim(v, d1 < d2 ? d1 : d2);
  v->shape[v->ndim] = n;
  v->stride[v->ndim++] = step;
}
static DtStatus diagonal_part (DtCtx *cx, const DtArgs *a, const DtMeta *m,
                               DtMeta *v, int64_t *offset) {
  int d1, d2;
  DT_TRY(cx, diag_dims(cx, a, 2, m->ndim, &d1, &d2));
  diagonal_of(m, dt_arg_int(a, 2), d1, d2, v, offset);
  return DT_OK;
}

enum { PT_SLICE, PT_SELECT, PT_DIAGONAL };
static const int row_slice[] = { PT_SLICE }, row_select[] = { PT_SELECT },
                 row_diagonal[] = { PT_DIAGONAL };

static DtStatus part_of (DtCtx *cx, const DtOpDef *op, const DtArgs *a,
                         const DtMeta *m, DtMeta *v, int64_t *offset) {
  switch (op->row[0]) {
    case PT_SLICE: return slice_part(cx, a, m, v, offset);
    case PT_SELECT: return select_part(cx, a, m, v, offset);
    default: return diagonal_part(cx, a, m, v, offset);
  }
}

/* Has each element its own place?  (Strides of 0 are what repeats one.) */
static bool lies_apart (const DtMeta *m) {
  for (int d = 0; d < m->ndim; d++)
    if (m->stride[d] == 0 && m->shape[d] > 1) return false;
  return true;
}

static DtStatus part_meta (DtMetaCall *c) {
  DtMeta v;
  int64_t offset;
  const DtMeta *s = dt_in(c, 1);
  if (c->fake) return op_meta_same(c);
  DT_TRY(c->cx, part_of(c->cx, c->op, c->args, c->in[0], &v, &offset));
  if (c->op->row[0] == PT_SLICE) {
    DT_CHECK(c->cx, dt_meta_same_shape(s, &v), DT_E_RUNTIME,
             "expected src to have a size equal to the slice of self. src "
             "size = %s, slice size = %s", op_shape_text(s).s,
             op_shape_text(&v).s);
  } else {
    DT_CHECK(c->cx, dt_meta_same_shape(s, &v), DT_E_RUNTIME,
             "expected src to have a size equal to the slice of self. src "
             "size = %s, slice size = %s", op_shape_text(s).s,
             op_shape_text(&v).s);
  }
  DT_TRY(c->cx, op_meta_same(c));
  if (lies_apart(c->in[0]))       /* gaps are kept, too */
    memcpy(c->out[0].stride, c->in[0]->stride,
           sizeof(int64_t) * c->in[0]->ndim);
  return DT_OK;
}

static DtStatus part_kernel (DtKernelCall *c) {
  DtMeta v;
  int64_t offset;
  DtTensor *part = NULL;
  DtStatus st;
  DT_TRYG(c->cx, op_k_copy0(c));
  DT_TRYG(c->cx, part_of(c->cx, c->op, c->args, &c->out[0]->m, &v, &offset));
  DT_TRYG(c->cx, op_restride(c->cx, c->out[0], v.ndim, v.shape, v.stride,
                             offset, &part));
  DT_TRYG(c->cx, dt_k_copy(c->cx, dt_kin(c, 1), part));
done:
  dt_tensor_unref(c->cx, part);
  return st;
}

/* The part is taken from the gradient, the rest of it is self's. */
static DtStatus part_grad (DtGradCall *c) {
  DtMeta m;
  const DtValue *v = c->args->v;
  dt_meta_copy(&m, dt_emit_meta(c->e, dt_gin(c, 1)));
  if (op_g_need(c, 0)) {
    DtHandle *z = EMIT("aten.zeros.default", "I dtype=d", (int)m.ndim, m.shape,
                       (int)m.dtype);
    op_g_set(c, 0, c->op->row[0] == PT_SLICE
             ? EMIT("aten.slice_scatter.default", "ttvvvv", GOUT, z, v[2],
                    v[3],
                    v[4], v[5])
             : c->op->row[0] == PT_SELECT
             ? EMIT("aten.select_scatter.default", "ttvv", GOUT, z, v[2], v[3])
             : EMIT("aten.diagonal_scatter.default", "ttvvv", GOUT, z, v[2],
                    v[3],
                    v[4]));
  }
  if (op_g_need(c, 1))
    op_g_set(c, 1, c->op->row[0] == PT_SLICE
             ? EMIT("aten.slice.Tensor", "tvvvv", GOUT, v[2], v[3], v[4], v[5])
             : c->op->row[0] == PT_SELECT
             ? EMIT("aten.select.int", "tvv", GOUT, v[2], v[3])
             : EMIT("aten.diagonal.default", "tvvv", GOUT, v[2], v[3], v[4]));
  return op_g_finish(c);
}

static DtStatus slice_s_strategy (DtStratCall *c) {
  DtPlacement in[2 * OP_MAXPL];
  int d, nd = c->mesh->ndim;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 2, c->in[0]->meta.ndim, &d));
  op_s_follow(c, 0, 1u << d, false, in);
  bool same = dt_pls_equal(in, c->in[0]->pl, nd);
  for (int i = 0; i < nd; i++) same &= !dt_pl_is_partial(in[i]);
  if (!same) op_s_follow(c, 0, 1u << d, true, in);
  memcpy(in + nd, in, sizeof *in * (size_t)nd);
  return dt_strat_add(c, in, in, NAN);
}

static DtStatus select_s_rules (DtRuleCall *c) {
  int at, nd = c->in[0]->ndim;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 2, nd, &at));
  for (int d = 0; d < nd; d++) {
    DtCell row[3] = { dt_c_s(d), dt_c_s(d), dt_c_s(d < at ? d : d - 1) };
    if (d != at) dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}
static DtStatus diag_s_rules (DtRuleCall *c) {
  int a, b, nd = c->in[0]->ndim;
  if (nd < 2) return c->rows->st;       /* refused by the local operator */
  DT_TRY(c->cx, diag_dims(c->cx, c->args, 2, nd, &a, &b));
  for (int d = 0; d < nd; d++) {
    DtCell row[3] = { dt_c_s(d), dt_c_s(d), dt_c_s(d - (d > a) - (d > b)) };
    if (d != a && d != b) dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

/* ---- diagonals ---- */

static DtStatus diagonal_meta (DtMetaCall *c) {
  int a, b;
  const DtMeta *m = c->in[0];
  DtMeta v;
  int64_t offset;
  DT_TRY(c->cx, diag_dims(c->cx, c->args, 1, m->ndim, &a, &b));
  diagonal_of(m, dt_arg_int(c->args, 1), a, b, &v, &offset);
  c->nout = 1;
  if (!(c->op->flags & DT_OP_VIEW))
    return op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, v.ndim, v.shape,
                       m);
  dt_meta_copy(&c->out[0], &v);
  c->offset[0] = offset;
  return DT_OK;
}
static DtStatus copy_view (DtKernelCall *c, const DtMeta *v, int64_t offset,
                           DtTensor *of, DtTensor *other, bool read) {
  DtTensor *t = NULL;
  DtStatus st;
  DT_TRYG(c->cx, op_restride(c->cx, of, v->ndim, v->shape, v->stride, offset,
                             &t));
  DT_TRYG(c->cx, read ? dt_k_copy(c->cx, t, other)
                      : dt_k_copy(c->cx, other, t));
done:
  dt_tensor_unref(c->cx, t);
  return st;
}
static DtStatus diagonal_copy_kernel (DtKernelCall *c) {
  int a, b;
  DtMeta v;
  int64_t offset;
  DT_TRY(c->cx, diag_dims(c->cx, c->args, 1, c->in[0]->m.ndim, &a, &b));
  diagonal_of(&c->in[0]->m, dt_arg_int(c->args, 1), a, b, &v, &offset);
  return copy_view(c, &v, offset, c->in[0], c->out[0], true);
}

static DtStatus diagonal_grad (DtGradCall *c) {
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, dt_gin(c, 0)));
  op_g_set(c, 0, EMIT("aten.diagonal_backward.default", "tIvvv", GOUT,
                      (int)m.ndim,
                      m.shape, c->args->v[1], c->args->v[2], c->args->v[3]));
  return op_g_finish(c);
}
static DtStatus embed_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten.diagonal.default", "tvvv", GOUT, c->args->v[1],
                      c->args->v[2], c->args->v[3]));
  return op_g_finish(c);
}
static DtStatus embed_meta (DtMetaCall *c) {
  int d1, d2, k = 0;
  const DtMeta *m = c->in[0];
  int64_t off = dt_arg_int(c->args, 1), shape[DT_MAX_NDIM], n;
  DT_CHECK(c->cx, m->ndim < DT_MAX_NDIM, DT_E_LIMIT, "at most %d dimensions",
           DT_MAX_NDIM);
  DT_TRY(c->cx, diag_dims(c->cx, c->args, 1, m->ndim + 1, &d1, &d2));
  DT_CHECK(c->cx, m->ndim > 0, DT_E_RUNTIME,
           "diag_embed: cannot embed a 0-dim tensor");
  n = dt_sat_add(m->shape[m->ndim - 1],
                 off < 0 ? dt_sat_sub(0, off) : off);
  for (int d = 0; d <= m->ndim; d++)
    shape[d] = d == d1 || d == d2 ? n : m->shape[k++];
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, m->ndim + 1, shape,
                     m);
}
static DtStatus embed_kernel (DtKernelCall *c) {
  int a, b;
  DtMeta v;
  int64_t offset;
  DT_TRY(c->cx, diag_dims(c->cx, c->args, 1, c->out[0]->m.ndim, &a, &b));
  DT_TRY(c->cx, dt_k_fill(c->cx, c->out[0], dt_scalar_int(0)));
  diagonal_of(&c->out[0]->m, dt_arg_int(c->args, 1), a, b, &v, &offset);
  return copy_view(c, &v, offset, c->out[0], c->in[0], false);
}

/* diag: a vector becomes a matrix, a matrix its diagonal. */
static DtStatus diag_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  int64_t k = dt_arg_int(c->args, 1), n = k < 0 ? -k : k, offset;
  int64_t shape[2] = { 0, 0 };
  DtMeta v;
  DT_CHECK(c->cx, m->ndim == 1 || m->ndim == 2, DT_E_RUNTIME, "diag(): "
           "Supports 1D or 2D tensors. Got %dD", m->ndim);
  c->nout = 1;
  if (m->ndim == 1) {
    shape[0] = shape[1] = m->shape[0] + n;
    return op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, 2, shape, m);
  }
  diagonal_of(m, k, 0, 1, &v, &offset);
  return op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, 1, v.shape, m);
}
static DtStatus diag_kernel (DtKernelCall *c) {
  DtMeta v;
  int64_t offset;
  bool take = c->in[0]->m.ndim == 2;
  if (!take) DT_TRY(c->cx, dt_k_fill(c->cx, c->out[0], dt_scalar_int(0)));
  diagonal_of(take ? &c->in[0]->m : &c->out[0]->m, dt_arg_int(c->args, 1), 0,
              1, &v, &offset);
  return take ? copy_view(c, &v, offset, c->in[0], c->out[0], true)
              : copy_view(c, &v, offset, c->out[0], c->in[0], false);
}
static DtStatus whole_strategy (DtStratCall *c) {
  DtPlacement r[OP_MAXPL];
  for (int i = 0; i < c->mesh->ndim; i++) r[i] = dt_pl_replicate();
  return op_s_one(c, r, r, NAN);
}

/* ---- index_fill, index_reduce ---- */

static bool fills_complex (const DtMetaCall *c) {
  const DtMeta *v = dt_in(c, 3);
  return v ? dt_dtype_is_complex((DtDtype)v->dtype)
           : dt_arg_scalar(c->args, 3).kind == DT_K_COMPLEX;
}
/* Fake tensors pass the checks of PyTorch's kernel and have those of its Python: the
** same faults in other words. */
static DtStatus fill_meta (DtMetaCall *c) {
  int d;
  const DtMeta *v = dt_in(c, 3);
  DT_CHECK(c->cx, c->fake || dt_dtype_is_complex((DtDtype)c->in[0]->dtype) ||
           !fills_complex(c), DT_E_RUNTIME, "index_fill_(): Converting complex "
           "Scalar to non-complex type is not supported");
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->ndim, &d));
  DT_CHECK(c->cx, c->fake || dt_in(c, 2)->dtype == DT_I64, DT_E_INDEX,
           "index_fill_(): Expected dtype int64 for index.");
  DT_CHECK(c->cx, c->fake || dt_in(c, 2)->ndim <= 1, DT_E_RUNTIME,
           "Index has to be a vector/scalar");
  DT_CHECK(c->cx, dt_in(c, 2)->ndim <= 1, DT_E_RUNTIME,
           "Index should have dimension 1 or 0 (got %d)", dt_in(c, 2)->ndim);
  DT_CHECK(c->cx, !c->fake || !v || v->ndim == 0, DT_E_RUNTIME, "Only "
           "supports 0-dimensional value tensor. Got a tensor with %d "
           "dimensions.", v ? v->ndim : 0);
  DT_CHECK(c->cx, !v || v->ndim == 0, DT_E_RUNTIME, "index_fill_ only "
           "supports a 0-dimensional value tensor, but got tensor with %d "
           "dimension(s).", v ? v->ndim : 0);
  return op_meta_same(c);
}
static DtStatus fill_rules (DtRuleCall *c) {
  static const DtRedOp num[] = { DT_OP_AVG, DT_OP_MAX, DT_OP_MIN };
  static const DtRedOp all[] = { DT_OP_SUM, DT_OP_AVG, DT_OP_MIN, DT_OP_MAX,
                                 DT_OP_PRODUCT };
  int at, nd = c->in[0]->ndim;
  bool tensor = dt_rin(c, 3) != NULL;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, nd, &at));
  for (int d = 0; d < nd; d++) {
    DtCell row[4] = { dt_c_s(d), dt_c_s(d), dt_c_r(), dt_c_r() };
    if (d != at) dt_rows_add(c->rows, row);
  }
  for (int i = 0; i < (tensor ? 5 : 3); i++) {
    DtRedOp op = tensor ? all[i] : num[i];
    DtCell row[4] = { dt_c_p(op), dt_c_p(op), dt_c_r(), dt_c_p(op) };
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}
static DtStatus fill_kernel (DtKernelCall *c) {
  int d;
  OpNumber num;
  DtTensor *v = dt_kin(c, 3);
  if (c->out[0] != c->in[0]) DT_TRY(c->cx, op_k_copy0(c));
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->m.ndim, &d));
  if (!v) {
    DtDtype t = (DtDtype)c->out[0]->m.dtype;
    DtScalar x = dt_arg_scalar(c->args, 3);
    DT_TRY(c->cx, op_number_fits(c->cx, x, t));
    v = op_number(&num, x, t);
  }
  return dt_k_index_fill(c->cx, c->out[0], d, dt_kin(c, 2), v);
}
static DtStatus fill_grad (DtGradCall *c) {
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.index_fill.int_Scalar", "tvti", GOUT,
                        c->args->v[1],
                        dt_gin(c, 2), (int64_t)0));
  if (op_g_need(c, 3)) {
    /* An index that occurs twice wrote one element. */
    DtHandle *u[2] = { NULL, NULL };
    dt_emit_n(c->e, "aten._unique.default", u, 2, "tb", dt_gin(c, 2), 0);
    DtHandle *g = EMIT("aten.index_select.default", "tvt", GOUT, c->args->v[1], u[0]);
    op_g_set(c, 3, EMIT("aten.sum.default", "t", g));
  }
  return op_g_finish(c);
}

/* Propagation checks only the name of the reduction and the dim,
** execution as native/TensorAdvancedIndexing.cpp:index_func_meta_impl. */
static DtStatus ireduce_meta (DtMetaCall *c) {
  static const char *const names[] = { "prod", "mean", "amax", "amin" };
  const DtMeta *m = c->in[0], *x = dt_in(c, 2), *s = dt_in(c, 3);
  const char *how = dt_arg_str(c->args, 4);
  bool known = false;
  int d;
  for (int i = 0; i < 4; i++) known |= strcmp(names[i], how) == 0;
  DT_CHECK(c->cx, known, DT_E_RUNTIME, "index_reduce(): Expected reduce to be "
           "one of prod, mean, amax or amin but got %s.", how);
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, m->ndim, &d));
  if (c->fake) return op_meta_same(c);
  DT_CHECK(c->cx, x->ndim <= 1, DT_E_INDEX, "index_reduce_(): Index is "
           "supposed to be a vector, but got dim: %d with type: %s and size: "
           "%s", x->ndim, op_dtype_word((DtDtype)x->dtype),
           op_shape_text(x).s);
  DT_CHECK(c->cx, x->dtype == DT_I64 || x->dtype == DT_I32, DT_E_RUNTIME,
           "index_reduce_(): Expected dtype int32/int64 for index but got: %s",
           op_dtype_word((DtDtype)x->dtype));
  DT_CHECK(c->cx, s->dtype == m->dtype, DT_E_RUNTIME, "index_reduce_(): self "
           "(%s) and source (%s) must have the same scalar type",
           op_dtype_word((DtDtype)m->dtype), op_dtype_word((DtDtype)s->dtype));
  DT_TRY(c->cx, s->ndim == 0 && dt_meta_numel(x) != 1
                  ? op_has_dim(c->cx, s, d) : DT_OK);
  DT_CHECK(c->cx, d < s->ndim || s->ndim == 0, DT_E_RUNTIME,
           "index_reduce_(): Indexing dim %d is out of bounds of the source "
           "tensor with shape %s", d, op_shape_text(s).s);
  DT_CHECK(c->cx, dt_meta_numel(x) == (s->ndim ? s->shape[d] : 1),
           DT_E_RUNTIME, "index_reduce_(): Number of indices (%lld) should be "
           "equal to source.size(dim): (%lld), for dim: %d",
           (long long)dt_meta_numel(x), (long long)(s->ndim ? s->shape[d] : 1),
           d);
  bool ok = s->ndim == m->ndim;
  for (int i = 0; ok && i < m->ndim; i++)
    ok = i == d || m->shape[i] == s->shape[i];
  DT_CHECK(c->cx, ok, DT_E_RUNTIME, "source tensor shape must match self "
           "tensor shape, excluding the specified dimension. Got self.shape = "
           "%s source.shape = %s", op_shape_text(m).s, op_shape_text(s).s);
  return op_meta_plain(c);
}
static DtStatus ireduce_kernel (DtKernelCall *c) {
  const char *how = dt_arg_str(c->args, 4);
  bool mean = strcmp(how, "mean") == 0;
  DtScatter f = strcmp(how, "prod") == 0 ? DT_SC_MUL : mean ? DT_SC_ADD
                : strcmp(how, "amax") == 0 ? DT_SC_MAX : DT_SC_MIN;
  int d;
  if (c->out[0] != c->in[0]) DT_TRY(c->cx, op_k_copy0(c));
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->m.ndim, &d));
  return dt_k_index_reduce(c->cx,
                           (DtReduceHow){ f, mean, dt_arg_bool(c->args, 5) },
                           c->out[0], d, dt_kin(c, 2), dt_kin(c, 3));
}
static DtStatus ireduce_rules (DtRuleCall *c) {
  int at, nd = c->in[0]->ndim;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, nd, &at));
  for (int d = 0; d < nd; d++) {
    DtCell row[4] = { dt_c_s(d), dt_c_s(d), dt_c_r(), dt_c_s(d) };
    if (d != at) dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

/* ---- bucketize ---- */

static DtStatus bucket_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  DT_CHECK(c->cx, c->fake || dt_in(c, 1)->ndim == 1, DT_E_RUNTIME, "boundaries tensor "
           "must be 1 dimension, but got dim(%d)", dt_in(c, 1)->ndim);
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0],
                     dt_arg_bool(c->args, 2) ? DT_I32 : DT_I64, m->ndim,
                     m->shape, m);
}
static DtStatus bucket_kernel (DtKernelCall *c) {
  return dt_k_bucket(c->cx, c->in[0], dt_kin(c, 1), NULL,
                     dt_arg_bool(c->args, 3), c->out[0]);
}
static DtStatus bucket_rules (DtRuleCall *c) {
  for (int d = 0; d < c->in[0]->ndim; d++) {
    DtCell row[3] = { dt_c_s(d), dt_c_s(d), dt_c_r() };
    dt_rows_add(c->rows, row);
  }
  DtCell cut[3] = { dt_c_p(DT_OP_SUM), dt_c_r(), dt_c_s(0) };
  dt_rows_add(c->rows, cut);
  for (int i = 2; i < 4; i++) {
    DtCell row[3] = { dt_c_p(pass_ops[i]), dt_c_p(pass_ops[i]), dt_c_r() };
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

/* ---- roll, fft: dims not walked along pass, partials pass ---- */

static DtStatus inactive_rows (DtRuleCall *c, uint32_t mask) {
  for (int d = 0; d < c->in[0]->ndim; d++) {
    DtCell row[2] = { dt_c_s(d), dt_c_s(d) };
    if (!(mask >> d & 1u)) dt_rows_add(c->rows, row);
  }
  for (int i = 0; i < 4; i++) {
    DtCell row[2] = { dt_c_p(pass_ops[i]), dt_c_p(pass_ops[i]) };
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}
static int64_t first_int (const DtArgs *a, int i) {
  int64_t v[DT_MAX_NDIM];
  return op_ints(a, i, v) > 0 ? v[0] : 0;
}
static DtStatus roll_meta (DtMetaCall *c) {
  int ns = dt_arg_len(c->args, 1), nd = dt_arg_len(c->args, 2);
  uint32_t mask;
  DT_CHECK(c->cx, ns > 0, DT_E_RUNTIME, "`shifts` required");
  DT_CHECK(c->cx, nd == 0 ? ns == 1 : ns == nd, DT_E_RUNTIME, "shifts and "
           "dimensions must align. shifts: %d, dims:%s%d", ns,
           c->fake ? " " : "", nd);
  DT_CHECK(c->cx, c->fake || nd == 0 || c->in[0]->ndim > 0, DT_E_INDEX,
           "Dimension specified as %" PRId64 " but tensor has no dimensions",
           first_int(c->args, 2));
  DT_TRY(c->cx, op_dims(c->cx, c->args, 2, c->in[0]->ndim, true, &mask));
  return op_meta_plain(c);
}
/* All elements in one row, rolled. */
static DtStatus roll_flat (DtKernelCall *c, int64_t shift) {
  DtTensor *a = NULL, *b = NULL, *flat[2] = { NULL, NULL };
  const DtMeta *m = &c->in[0]->m;
  int64_t n = dt_meta_numel(m), zero = 0, one = 1;
  DtStatus st;
  DT_TRYG(c->cx, op_temp(c->cx, (DtDtype)m->dtype, m->ndim, m->shape, &a));
  DT_TRYG(c->cx, op_temp(c->cx, (DtDtype)m->dtype, m->ndim, m->shape, &b));
  DT_TRYG(c->cx, dt_k_copy(c->cx, c->in[0], a));
  DT_TRYG(c->cx, op_restride(c->cx, a, 1, &n, &one, 0, &flat[0]));
  DT_TRYG(c->cx, op_restride(c->cx, b, 1, &n, &one, 0, &flat[1]));
  DT_TRYG(c->cx, dt_k_roll(c->cx, flat[0], 1, &shift, &zero, flat[1]));
  DT_TRYG(c->cx, dt_k_copy(c->cx, b, c->out[0]));
done:
  for (int i = 0; i < 2; i++) dt_tensor_unref(c->cx, flat[i]);
  dt_tensor_unref(c->cx, a);
  dt_tensor_unref(c->cx, b);
  return st;
}
static DtStatus roll_kernel (DtKernelCall *c) {
  int64_t shift[DT_MAX_NDIM], dims[DT_MAX_NDIM];
  int n = op_ints(c->args, 1, shift), nd = op_ints(c->args, 2, dims);
  if (c->in[0]->m.ndim == 0) return op_k_copy0(c);
  if (nd == 0) return roll_flat(c, shift[0]);
  for (int i = 0; i < nd; i++) {
    int d;
    DT_TRY(c->cx, dt_meta_wrap_dim(c->cx, dims[i], c->in[0]->m.ndim, &d));
    dims[i] = d;
  }
  return dt_k_roll(c->cx, c->in[0], n, shift, dims, c->out[0]);
}
static DtStatus roll_rules (DtRuleCall *c) {
  uint32_t mask;
  DT_TRY(c->cx, op_dims(c->cx, c->args, 2, c->in[0]->ndim, true, &mask));
  return inactive_rows(c, mask);
}
static DtStatus roll_grad (DtGradCall *c) {
  int64_t s[DT_MAX_NDIM];
  int n = op_ints(c->args, 1, s);
  for (int i = 0; i < n; i++) s[i] = -s[i];
  op_g_set(c, 0, EMIT("aten.roll.default", "tIv", GOUT, n, s, c->args->v[2]));
  return op_g_finish(c);
}

static DtStatus fft_rules (DtRuleCall *c) {
  uint32_t mask;
  DT_TRY(c->cx, op_dims(c->cx, c->args, 1, c->in[0]->ndim, false, &mask));
  return inactive_rows(c, mask);
}
static const int row_c2c[] = { OP_FFT_C2C }, row_r2c[] = { OP_FFT_R2C },
                 row_c2r[] = { OP_FFT_C2R };

/* Insert d behind the dims of larger or equal stride in list[from..n). */
static void by_stride (int *list, int from, int n, int d, const DtMeta *m) {
  int i = n;
  for (; i > from && m->stride[list[i - 1]] < m->stride[d]; i--)
    list[i] = list[i - 1];
  list[i] = d;
}

/* The library transforms with the given dims innermost, the other dims
** outside, both by falling stride (the last of `fixed_last` stays last). */
static void fft_strides (DtMeta *m, const DtMeta *in, int n, const int *dims,
                         bool fixed_last) {
  int list[DT_MAX_NDIM], k = 0, from;
  uint32_t mask = 0;
  int64_t step = 1;
  for (int i = 0; i < n; i++) mask |= 1u << dims[i];
  for (int d = 0; d < m->ndim; d++)
    if (!(mask >> d & 1u)) by_stride(list, 0, k++, d, in);
  from = k;
  for (int i = 0; i < n - fixed_last; i++) by_stride(list, from, k++, dims[i],
                                                     in);
  if (fixed_last) list[k++] = dims[n - 1];
  for (int i = k - 1; i >= 0; i--) {
    m->stride[list[i]] = step;
    if (m->shape[list[i]] > 1) step = dt_sat_mul(step, m->shape[list[i]]);
  }
}

static DtStatus fft_meta (DtMetaCall *c) {
  int64_t given[DT_MAX_NDIM], shape[DT_MAX_NDIM];
  const DtMeta *m = c->in[0];
  DtMeta *o = &c->out[0], half;
  int n = op_ints(c->args, 1, given), dims[DT_MAX_NDIM], last = 0;
  int kind = c->op->row[0];
  DtDtype t = (DtDtype)m->dtype;
  memcpy(shape, m->shape, sizeof(int64_t) * m->ndim);
  for (int i = 0; i < n; i++)
    DT_TRY(c->cx, dt_meta_wrap_dim(c->cx, given[i], m->ndim, &dims[i]));
  if (n > 0) last = dims[n - 1];
  if (kind == OP_FFT_R2C) {
    if (n > 0 && dt_arg_bool(c->args, 3)) shape[last] = shape[last] / 2 + 1;
    t = t == DT_F64 ? DT_C128 : DT_C64;
  } else if (kind == OP_FFT_C2R) {
    if (n > 0) shape[last] = dt_arg_int(c->args, 3);
    t = dt_dtype_to_real(t);
  }
  c->nout = 1;
  DT_TRY(c->cx, op_new_meta(c->cx, o, t, m->ndim, shape, m));
  /* Nothing to transform: PyTorch makes the result as any new tensor. */
  if (n == 0 || dt_meta_numel(m) == 0) return DT_OK;
  dt_meta_copy(&half, m);
  if (kind == OP_FFT_C2R && n > 1) fft_strides(&half, m, n - 1, dims, false);
  if (kind == OP_FFT_C2R) fft_strides(o, &half, 1, &last, false);
  else fft_strides(o, m, n, dims, kind == OP_FFT_R2C);
  return DT_OK;
}

/* ---- samples and definitions ---- */

static const char *const slice_samples[] = {
  "f32[8, 6], f32[2, 6], 0, 0, 2", "f32[7, 5], f32[7, 2], 1, 1, 4, 2", NULL
};
static const char *const select_samples[] = {
  "f32[8, 6], f32[6], 0, 1", "f32[7, 5], f32[7], 1, -1", NULL
};
static const char *const diag_s_samples[] = {
  "f32[8, 6], f32[6]", "f32[4, 4], f32[3], 1", NULL
};
static const char *const diagonal_samples[] = {
  "f32[8, 6]", "f32[4, 4], 1", "f32[2, 3, 4], -1, 1, 2", NULL
};
static const char *const embed_samples[] = { "f32[4]", "f32[2, 3], 1", NULL };
static const char *const diag_samples[] = { "f32[4]", "f32[5, 3], -1", NULL };
static const char *const fill_samples[] = {
  "f32[8, 6], 0, i64[2], 1.0", "f32[7, 5], 1, i64[3], 2.5", NULL
};
static const char *const fill_t_samples[] = {
  "f32[8, 6], 0, i64[2], f32[]", NULL
};
static const char *const ireduce_samples[] = {
  "f32[8, 6], 0, i64[2], f32[2, 6], \"amax\"", NULL
};
static const char *const bucket_samples[] = { "f32[8, 6], f32[4]",
                                              "f32[], f32[3]", NULL };
static const char *const roll_samples[] = { "f32[8, 6], [1], [0]",
                                            "f32[7, 5], [3]", NULL };
static const char *const c2c_samples[] = { "c64[8, 6], [1], 0, True", NULL };
static const char *const r2c_samples[] = { "f32[8, 6], [1], 0, True", NULL };
static const char *const c2r_samples[] = { "c64[8, 4], [1], 0, 6", NULL };

#define DIAG_ "int offset=0, int dim1=0, int dim2=1"
OP_DEF(slice_scatter, "aten::slice_scatter(Tensor self, Tensor src, int "
       "dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor",
       "A copy with a slice overwritten.", 0, part_meta, part_kernel,
       part_grad, slice_samples, .strategy = slice_s_strategy,
       .row = row_slice);
OP_DEF(select_scatter, "aten::select_scatter(Tensor self, Tensor src, int "
       "dim, SymInt index) -> Tensor", "A copy with one index overwritten.",
       0, part_meta, part_kernel, part_grad, select_samples,
       .rulefn = select_s_rules, .row = row_select);
OP_DEF(diagonal_scatter, "aten::diagonal_scatter(Tensor self, Tensor src, "
       DIAG_ ") -> Tensor", "A copy with a diagonal overwritten.", 0,
       part_meta, part_kernel, part_grad, diag_s_samples,
       .rulefn = diag_s_rules, .row = row_diagonal);
/* What autograd sees of diag. */
static DtStatus diag_decomp (DtDecompCall *c) {
  const DtMeta *m = dt_emit_meta(c->e, c->in[0]);
  bool vector = m != NULL && m->ndim == 1;
  DT_CHECK(c->e->cx, m == NULL || m->ndim == 1 || m->ndim == 2, DT_E_RUNTIME,
           "diag(): Supports 1D or 2D tensors. Got %dD", m->ndim);
  c->out[0] = dt_emit(c->e, vector ? "aten.diag_embed.default"
                                   : "aten.diagonal_copy.default", "tv",
                      c->in[0], c->args->v[1]);
  c->nout = 1;
  return c->e->st;
}

OP_DEF(diagonal, "aten::diagonal(Tensor(a) self, " DIAG_ ") -> Tensor(a)",
       "A diagonal of two dims, as the last dim.", DT_OP_VIEW, diagonal_meta,
       NULL, diagonal_grad, diagonal_samples, .strategy = whole_strategy);
OP_DEF(diagonal_copy, "aten::diagonal_copy(Tensor self, " DIAG_ ") -> Tensor",
       "A copy of a diagonal of two dims.", 0, diagonal_meta,
       diagonal_copy_kernel, diagonal_grad, diagonal_samples,
       .strategy = whole_strategy);
OP_DEF(diag_embed, "aten::diag_embed(Tensor self, int offset=0, int dim1=-2, "
       "int dim2=-1) -> Tensor", "Matrices with the last dim on a diagonal.",
       0, embed_meta, embed_kernel, embed_grad, embed_samples,
       .strategy = whole_strategy);
OP_DEF(diag, "aten::diag(Tensor self, int diagonal=0) -> Tensor",
       "A diagonal of a matrix, or a matrix with that diagonal.",
       DT_OP_COMPOSITE, diag_meta, diag_kernel, NULL, diag_samples,
       .strategy = whole_strategy, .decomp = diag_decomp);
OP_DEF(index_fill_int_Scalar, "aten::index_fill.int_Scalar(Tensor self, int "
       "dim, Tensor index, Scalar value) -> Tensor",
       "A copy with a number written at indices of a dim.", 0, fill_meta,
       fill_kernel, fill_grad, fill_samples, .rulefn = fill_rules);
OP_DEF(index_fill_int_Tensor, "aten::index_fill.int_Tensor(Tensor self, int "
       "dim, Tensor index, Tensor value) -> Tensor",
       "A copy with a value written at indices of a dim.", 0, fill_meta,
       fill_kernel, fill_grad, fill_t_samples, .rulefn = fill_rules);
OP_DEF(index_reduce, "aten::index_reduce(Tensor self, int dim, Tensor index, "
       "Tensor source, str reduce, *, bool include_self=True) -> Tensor",
       "A copy with slices reduced into indices of a dim.", DT_OP_SAVE_OUT, ireduce_meta,
       ireduce_kernel, op_g_index_reduce, ireduce_samples,
       .rulefn = ireduce_rules);
OP_DEF(bucketize_Tensor, "aten::bucketize.Tensor(Tensor self, Tensor "
       "boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
       "Index of the interval each element falls in.", DT_OP_NOGRAD,
       bucket_meta, bucket_kernel, NULL, bucket_samples,
       .rulefn = bucket_rules);
OP_DEF(roll, "aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> "
       "Tensor", "Elements moved along dims, round the end.", 0, roll_meta,
       roll_kernel, roll_grad, roll_samples, .rulefn = roll_rules);
OP_DEF(_fft_c2c, "aten::_fft_c2c(Tensor self, SymInt[] dim, int "
       "normalization, bool forward) -> Tensor", "Fourier transform.", 0,
       fft_meta, op_k_fft, op_g_fft, c2c_samples,
       .rulefn = fft_rules, .row = row_c2c);
OP_DEF(_fft_r2c, "aten::_fft_r2c(Tensor self, int[] dim, int normalization, "
       "bool onesided) -> Tensor", "Fourier transform of real data.", 0,
       fft_meta, op_k_fft, op_g_fft, r2c_samples,
       .rulefn = fft_rules, .row = row_r2c);
OP_DEF(_fft_c2r, "aten::_fft_c2r(Tensor self, int[] dim, int normalization, "
       "SymInt last_dim_size) -> Tensor",
       "Fourier transform back to real data.", 0, fft_meta, op_k_fft,
       op_g_fft, c2r_samples, .rulefn = fft_rules, .row = row_c2r);
