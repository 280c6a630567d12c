/* SPDX-License-Identifier: MIT
** oplib/op_matmul_narrow.c: products of int8 matrices and of scaled float8
** ones, products of groups of rows, columns or matrices. */
#include "oplib/define.h"
#include "oplib/oplib_int.h"
#include "oplib/ruling_int.h"

#include <math.h>
#include <string.h>


/* ---- int8, float8, groups ---- */

static DtStatus int_mm_meta (DtMetaCall *c) {
  const DtMeta *a = c->in[0], *b = c->in[1];
  int64_t shape[2];
  DT_CHECK(c->cx, a->ndim == 2, DT_E_SHAPE, "Expected self to be of dimension "
           "2 but got %d", a->ndim);
  DT_CHECK(c->cx, b->ndim == 2, DT_E_SHAPE, "Expected mat2 to be of dimension "
           "2 but got %d", b->ndim);
  DT_CHECK(c->cx, a->shape[1] == b->shape[0], DT_E_SHAPE, "self.size(1) needs "
           "to match mat2.size(0) but got %lld and %lld",
           (long long)a->shape[1], (long long)b->shape[0]);
  DT_CHECK(c->cx, a->dtype == DT_I8, DT_E_RUNTIME, "Expected self dtype to be "
           "of type int8 but got %s", dt_dtype_word((DtDtype)a->dtype));
  DT_CHECK(c->cx, b->dtype == DT_I8, DT_E_RUNTIME, "Expected mat2 dtype to be "
           "of type int8 but got %s", dt_dtype_word((DtDtype)b->dtype));
  shape[0] = a->shape[0];
  shape[1] = b->shape[1];
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], DT_I32, 2, shape, a);
}
static DtStatus int_mm_kernel (DtKernelCall *c) {
  return dt_k_gemm(c->cx, 1, c->in[0], c->in[1], 0, c->out[0]);
}

/* "[2, 1]" of a shape, "[1, 1]" of its strides. */
static OpText strides_text (const DtMeta *m) {
  return op_ints_text(m->ndim, m->stride);
}
static DtStatus scaling_error (DtMetaCall *c) {
  const DtMeta *a = c->in[0], *b = c->in[1], *sa = c->in[2], *sb = c->in[3];
  OpText za = op_shape_text(sa), zb = op_shape_text(sb);
  OpText ta = strides_text(sa), tb = strides_text(sb);
  return dt_raise(c->cx, DT_E_VALUE, "Invalid scaling configuration.\n- For "
    "TensorWise scaling, a and b should be float8, scales should be float and "
    "singletons.\n- For RowWise scaling, a and b should be float8, scales "
    "should be float, scale_a should be (%lld, 1) and scale_b should be (1, "
    "%lld), and both should be contiguous.\nGot mat_a.dtype()=%s, "
    "scale_a.dtype()=%s, scale_a.size()=%s, scale_a.stride()=%s, "
    "mat_b.dtype()=%s, scale_b.dtype()=%s, scale_b.size()=%s and "
    "scale_b.stride()=%s", (long long)a->shape[0], (long long)b->shape[1],
    op_dtype_word((DtDtype)a->dtype), op_dtype_word((DtDtype)sa->dtype), za.s,
    ta.s, op_dtype_word((DtDtype)b->dtype), op_dtype_word((DtDtype)sb->dtype),
    zb.s, tb.s);
}
/* _scaled_mm: one scale for each matrix, or one for each row of the first and
** each column of the second.  Propagation only looks at what the result needs;
** the kernel refuses the rest. */
static DtStatus scaled_mm_meta (DtMetaCall *c) {
  const DtMeta *a = dt_in(c, 0), *b = dt_in(c, 1), *sa = dt_in(c, 2),
               *sb = dt_in(c, 3);
  int64_t shape[2];
  DtDtype t;
  DT_CHECK(c->cx, a->ndim == 2 && b->ndim == 2, DT_E_SHAPE, "Inputs must be 2D "
           "but got self.dim()=%d and mat2.dim()=%d", a->ndim, b->ndim);
  DT_CHECK(c->cx, c->fake || a->shape[1] == b->shape[0], DT_E_SHAPE, "mat_a "
           "and mat_b shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
           (long long)a->shape[0], (long long)a->shape[1],
           (long long)b->shape[0], (long long)b->shape[1]);
  if (!c->fake) {
    bool f8 = dt_dtype_size((DtDtype)a->dtype) == 1 &&
              dt_dtype_size((DtDtype)b->dtype) == 1 &&
              !dt_dtype_is_integral((DtDtype)a->dtype, true);
    bool one = dt_meta_numel(sa) == 1 && dt_meta_numel(sb) == 1;
    bool rows = sa->ndim == 2 && sb->ndim == 2 &&
                sa->shape[0] == a->shape[0] && sa->shape[1] == 1 &&
                sb->shape[0] == 1 && sb->shape[1] == b->shape[1];
    if (!f8 || sa->dtype != DT_F32 || sb->dtype != DT_F32 || !(one || rows))
      return scaling_error(c);
  }
  DT_CHECK(c->cx, sa->dtype == DT_F32 && sb->dtype == DT_F32, DT_E_RUNTIME,
           "For %s scaling, both scale_a and scale_b must be float (fp32) "
           "tensors.", dt_meta_numel(sa) == 1 && dt_meta_numel(sb) == 1
           ? "tensorwise" : "rowwise");
  shape[0] = a->shape[0];
  shape[1] = b->shape[1];
  t = op_dtype_or(c->args, 6, (DtDtype)a->dtype);
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], t, 2, shape, a);
}
static DtStatus scaled_mm_kernel (DtKernelCall *c) {
  DtTensor *out = c->out[0], *t = NULL;
  DtStatus st = DT_OK;
  DT_TRYG(c->cx, op_temp(c->cx, DT_F32, 2, out->m.shape, &t));
  DT_TRYG(c->cx, dt_k_gemm(c->cx, 1, dt_kin(c, 0), dt_kin(c, 1), 0, t));
  for (int i = 2; i < 4; i++)
    DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_mul, DT_F32, NULL, t, dt_kin(c, i),
                               t));
  if (dt_kin(c, 4) != NULL)
    DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_add, DT_F32, NULL, t, dt_kin(c, 4),
                               t));
  DT_TRYG(c->cx, dt_k_copy(c->cx, t, out));
done:
  dt_tensor_unref(c->cx, t);
  return st;
}

/* A scale follows its matrix; one number is whole everywhere; a list of blocks
** follows rows or columns and cannot be cut with the contracted dim. */
static bool scale_cell (const DtMeta *s, DtCell data, int contracted,
                        DtCell *out) {
  *out = data;
  if (dt_meta_numel(s) == 1) *out = dt_c_r();
  else if (s->ndim == 1) {
    if (data.kind == DT_C_SHARD && data.dim == contracted) return false;
    *out = data.kind == DT_C_SHARD ? dt_c_s(0) : dt_c_r();
  }
  return true;
}
static DtStatus scaled_mm_rules (DtRuleCall *c) {
  DtCell r = dt_c_r(), ps = dt_c_p(DT_OP_SUM), pa = dt_c_p(DT_OP_AVG);
  const DtCell mm[][3] = {
    { ps, dt_c_s(1), dt_c_s(0) }, { dt_c_s(0), dt_c_s(0), r },
    { dt_c_s(1), r, dt_c_s(1) }, { ps, ps, r }, { ps, r, ps }, { pa, pa, r },
    { pa, r, pa }
  };
  DT_CHECK(c->cx, c->args->npos > 5 || !dt_arg_is_none(c->args, 6) ||
           dt_arg_bool(c->args, 7), DT_E_INDEX, "tuple index out of range");
  DT_CHECK(c->cx, dt_rin(c, 4) == NULL, DT_E_ASSERT,
           "_scaled_mm on DTensors doesn't support bias");
  DT_CHECK(c->cx, dt_rin(c, 5) == NULL, DT_E_ASSERT,
           "_scaled_mm on DTensors doesn't support scale_result");
  for (size_t i = 0; i < sizeof mm / sizeof *mm; i++) {
    DtCell row[5];
    memcpy(row, mm[i], sizeof mm[i]);
    if (scale_cell(dt_rin(c, 2), mm[i][1], 1, &row[3]) &&
        scale_cell(dt_rin(c, 3), mm[i][2], 0, &row[4]))
      dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

/* Rows or columns of a factor must start at multiples of 16 bytes. */
static DtStatus grouped_strides (DtMetaCall *c, const char *name,
                                 const DtMeta *m) {
  int d = m->ndim - 1;
  int64_t align = 16 / (int64_t)dt_dtype_size((DtDtype)m->dtype);
  bool by_column = m->stride[d - 1] == 1 &&
                   m->stride[d] >= 1 && m->stride[d] >= m->shape[d - 1];
  bool by_row = m->stride[d] == 1 &&
                m->stride[d - 1] >= 1 && m->stride[d - 1] >= m->shape[d];
  int outer = by_column ? d : d - 1;
  OpText strides = strides_text(m), sizes = op_size_text(c, m);
  if (c->fake) {                        /* a tuple, as Python prints it */
    strides.s[0] = '(';
    strides.s[strlen(strides.s) - 1] = ')';
  }
  DT_CHECK(c->cx, by_column || by_row, DT_E_RUNTIME, "Invalid strides/sizes, "
           "got %s for strides and %s for sizes", strides.s, sizes.s);
  bool aligned = m->stride[outer] % align == 0;
  DT_CHECK(c->cx, aligned || c->fake, DT_E_RUNTIME,
           "strides should be multiple of 16 bytes");
  DT_CHECK(c->cx, aligned, DT_E_RUNTIME, "Expected %s stride along %d dim to "
           "be multiple of 16 bytes, got %lld.", name, outer, (long long)m->stride[outer]);
  return DT_OK;
}

/* Types of the factors; propagation knows bf16 only. */
static DtStatus grouped_types (DtMetaCall *c, const DtMeta *a,
                               const DtMeta *b) {
  const DtMeta *m[2] = { a, b };
  DT_CHECK(c->cx, !c->fake || (a->dtype == DT_BF16 && b->dtype == DT_BF16),
           DT_E_RUNTIME, "Expected inputs of BF16 type but got mat_a.dtype=%s "
           "and mat_b.dtype=%s.", dt_dtype_info((DtDtype)a->dtype)->torch,
           dt_dtype_info((DtDtype)b->dtype)->torch);
  for (int i = 0; i < 2; i++)
    DT_CHECK(c->cx, m[i]->dtype == DT_F32 || m[i]->dtype == DT_BF16 ||
             m[i]->dtype == DT_F16, DT_E_RUNTIME, "Expected mat_%c to be "
             "Float32, BFloat16 or Float16 matrix, got %s", "ab"[i],
             op_dtype_word((DtDtype)m[i]->dtype));
  return DT_OK;
}

/* The ends of groups, and how many there are. */
static DtStatus grouped_offs (DtMetaCall *c, const DtMeta *a, const DtMeta *b,
                              const DtMeta *offs) {
  bool a3 = a->ndim == 3, b3 = b->ndim == 3, needed = !(a3 && b3);
  DT_CHECK(c->cx, !c->fake || (offs != NULL) == needed, DT_E_RUNTIME,
           "Offsets tensor %sprovided, but is %sneeded for %dD/%dD "
           "multiplicand layouts.", needed ? "not " : "", needed ? "" : "not ",
           a->ndim, b->ndim);
  DT_CHECK(c->cx, (offs != NULL) == needed, DT_E_RUNTIME,
           "Have to provide offsets if there is a 2d matrix, or no offset if "
           "both matrices are 3d");
  DT_CHECK(c->cx, offs == NULL || offs->ndim == 1, DT_E_RUNTIME,
           c->fake ? "Offsets tensor must be 1D" : "offs has to be 1D");
  DT_CHECK(c->cx, offs == NULL || offs->dtype == DT_I32 || c->fake,
           DT_E_RUNTIME, "Offsets have to be int32");
  if (c->fake) return DT_OK;
  DT_CHECK(c->cx, needed || a->shape[0] == b->shape[0], DT_E_RUNTIME,
           "batched dimension has to match");
  DT_CHECK(c->cx, !needed || ((!a3 || a->shape[0] == offs->shape[0]) &&
                              (!b3 || b->shape[0] == offs->shape[0])),
           DT_E_RUNTIME, "matrix batch sizes have to match");
  DT_CHECK(c->cx, a->dtype == b->dtype, DT_E_RUNTIME, "Expected out tensor to "
           "have dtype %s, but got %s instead",
           dt_dtype_info((DtDtype)b->dtype)->cpp,
           dt_dtype_info((DtDtype)a->dtype)->cpp);
  return DT_OK;
}

/* Rows of the result start at multiples of 16 bytes. */
static DtStatus grouped_meta (DtMetaCall *c) {
  const DtMeta *a = dt_in(c, 0), *b = dt_in(c, 1), *offs = dt_in(c, 2);
  DtMeta *o = &c->out[0];
  int64_t shape[3], step;
  int n = 0;
  bool a3 = a->ndim == 3, b3 = b->ndim == 3;
  DtDtype t = op_dtype_or(c->args, 4, (DtDtype)a->dtype);
  DT_CHECK(c->cx, !c->fake || ((a->ndim == 2 || a3) && (b->ndim == 2 || b3)),
           DT_E_RUNTIME, "Multiplicands must be 2D or 3D but got mat_a.dim()="
           "%d and mat_b.dim()=%d", a->ndim, b->ndim);
  DT_CHECK(c->cx, (a->ndim == 2 || a3) && (b->ndim == 2 || b3), DT_E_RUNTIME,
           "mat_a has to be 2 or 3d");
  DT_TRY(c->cx, grouped_types(c, a, b));
  DT_CHECK(c->cx, !(a3 || b3) || a->shape[a->ndim - 1] ==
           b->shape[b->ndim - 2], DT_E_RUNTIME, "contraction dimension of "
           "mat_a and mat_b must match");
  DT_TRY(c->cx, grouped_strides(c, "mat_a", a));
  DT_TRY(c->cx, grouped_strides(c, "mat_b", b));
  DT_TRY(c->cx, grouped_offs(c, a, b, offs));
  if (a3 && b3) shape[n++] = a->shape[0];
  else if (!a3 && !b3) shape[n++] = offs->shape[0];
  shape[n++] = a->shape[a->ndim - 2];
  shape[n++] = b->shape[b->ndim - 1];
  c->nout = 1;
  DT_TRY(c->cx, op_new_meta(c->cx, o, t, n, shape, a));
  step = 16 / (int64_t)dt_dtype_size(t);
  o->stride[n - 2] = (o->shape[n - 1] + step - 1) / step * step;
  if (n == 3) o->stride[0] = o->stride[1] * o->shape[1];
  return DT_OK;
}

/* One factor of a group: entry g of a 3-D operand, or the range of a 2-D one
** along `dim` (-1: all of it). */
static DtTensor group_of (const DtTensor *t, int64_t g, int dim, int64_t from,
                          int64_t to) {
  DtTensor v = *t;
  if (t->m.ndim == 3) {
    v.offset += g * t->m.stride[0];
    for (int d = 0; d < 2; d++) {
      v.m.shape[d] = t->m.shape[d + 1];
      v.m.stride[d] = t->m.stride[d + 1];
    }
    v.m.ndim = 2;
  } else if (dim >= 0) {
    v.offset += from * t->m.stride[dim];
    v.m.shape[dim] = to - from;
  }
  return v;
}
static DtStatus grouped_kernel (DtKernelCall *c) {
  DtTensor *a = dt_kin(c, 0), *b = dt_kin(c, 1), *offs = dt_kin(c, 2);
  DtTensor *out = c->out[0];
  bool a3 = a->m.ndim == 3, b3 = b->m.ndim == 3;
  int64_t n = offs ? offs->m.shape[0] : a->m.shape[0], from = 0;
  if (!a3 || !b3) DT_TRY(c->cx, dt_k_fill(c->cx, out, dt_scalar_int(0)));
  for (int64_t g = 0; g < n; g++) {
    int64_t to = offs ? dt_tensor_get(offs, &g).i : 0;
    int64_t limit = a3 ? b->m.shape[1] : b3 ? a->m.shape[0] : a->m.shape[1];
    DT_CHECK(c->cx, offs == NULL || (to >= from && to <= limit), DT_E_RUNTIME,
             "_grouped_mm: offs must increase up to %lld, got %lld",
             (long long)limit, (long long)to);
    DtTensor va = group_of(a, g, b3 ? 0 : 1, from, to);
    DtTensor vb = group_of(b, g, a3 ? 1 : 0, from, to);
    DtTensor vo = group_of(out, g, a3 ? 1 : 0, from, to);
    DT_TRY(c->cx, dt_k_gemm(c->cx, 1, &va, &vb, 0, &vo));
    from = to;
  }
  return DT_OK;
}

/* Rows (output, first, second) on one mesh dim, by the ranks of the two. */
static int grouped_rows (int na, int nb, DtPlacement (*row)[3]) {
  DtPlacement r = dt_pl_replicate(), p = dt_pl_partial(DT_OP_SUM);
  DtPlacement s0 = dt_pl_shard(0), s1 = dt_pl_shard(1), s2 = dt_pl_shard(2);
  int n = 0;
#define ROW(o, a, b) row[n][0] = o, row[n][1] = a, row[n][2] = b, n++
  ROW(r, r, r);
  ROW(p, p, r);
  ROW(p, r, p);
  if (na == 2 && nb == 3) { ROW(s1, r, s2); ROW(p, s1, s1); }
  if (na == 3 && nb == 2) { ROW(p, s2, s0); ROW(s0, s1, r); }
  if (na == 2 && nb == 2) { ROW(s2, r, s1); ROW(s1, s0, r); }
  if (na == 3 && nb == 3) {
    ROW(s2, r, s2);
    ROW(s1, s1, r);
    ROW(p, s2, s1);
    ROW(s0, s0, s0);
  }
#undef ROW
  return n;
}
/* Would the kernel take a shard with these strides?  16-byte rows or columns.
*/
static bool aligned (const DtMesh *mesh, const DtMeta *m,
                     const DtPlacement *pl) {
  int64_t shape[DT_MAX_NDIM], stride[DT_MAX_NDIM];
  int64_t step = 16 / (int64_t)dt_dtype_size((DtDtype)m->dtype), swap;
  int n = m->ndim, e = n - 1, order[DT_MAX_NDIM];
  for (int i = 0; i < n; i++) {
    shape[i] = m->shape[i];
    order[i] = i;
  }
  for (int k = 0; k < mesh->ndim; k++)          /* the first rank's share */
    if (dt_pl_is_shard_like(pl[k])) {
      int64_t parts = mesh->shape[k], *s = &shape[pl[k].dim];
      *s = (*s + parts - 1) / parts;
    }
  for (int i = 1; i < n; i++)                   /* by falling stride */
    for (int j = i; j > 0 && m->stride[order[j]] > m->stride[order[j - 1]];
         j--) {
      swap = order[j];
      order[j] = order[j - 1];
      order[j - 1] = (int)swap;
    }
  swap = 1;
  for (int i = n - 1; i >= 0; i--) {
    stride[order[i]] = swap;
    swap *= shape[order[i]] > 1 ? shape[order[i]] : 1;
  }
  if (stride[e - 1] == 1 && stride[e] >= (shape[e - 1] > 1 ? shape[e - 1] : 1))
    return stride[e] % step == 0;
  if (stride[e] == 1 && stride[e - 1] >= (shape[e] > 1 ? shape[e] : 1))
    return stride[e - 1] % step == 0;
  return false;
}

/* Since 2.14 the same as rows, a shard standing for any kind of shard. */
static DtCell grouped_cell (DtPlacement p) {
  return dt_pl_is_replicate(p) ? dt_c_r()
       : dt_pl_is_shard(p) ? dt_c_s(p.dim) : dt_c_fix(p);
}
DtStatus op_rl_grouped_mm (DtRuleCall *c) {
  DtPlacement row[8][3];
  int n = grouped_rows(c->in[0]->ndim, c->in[1]->ndim, row);
  DT_CHECK(c->cx, dt_rin(c, 3) == NULL, DT_E_ASSERT,
           "grouped_mm doesn't support bias yet");
  for (int i = 1; i < n; i++) {
    DtCell cell[4] = { dt_c_r(), dt_c_r(), dt_c_r(), dt_c_r() };
    for (int k = 0; k < 3; k++) cell[k] = grouped_cell(row[i][k]);
    dt_rows_add(c->rows, cell);
  }
  return c->rows->st;
}
DtStatus op_rf_grouped_mm (DtFilterCall *c) {
  int n = c->mesh->ndim;
  for (int i = 0; i < 2; i++)
    c->ok = c->ok && aligned(c->mesh, &c->in[i]->meta, c->want + i * n);
  return DT_OK;
}

static DtStatus grouped_strategy (DtStratCall *c) {
  DtPlacement row[8][3], buf[4 * OP_MAXPL];
  const DtSpec *a = dt_sin(c, 0), *b = dt_sin(c, 1);
  int nd = c->mesh->ndim, digit[OP_MAXPL] = { 0 };
  int n = grouped_rows(a->meta.ndim, b->meta.ndim, row);
  DT_CHECK(c->cx, dt_sin(c, 3) == NULL, DT_E_ASSERT,
           "grouped_mm doesn't support bias yet");
  for (;;) {
    DtPlacement *in = buf + nd;
    bool mixed[3] = { false }, ok = true;
    for (int k = 0; k < nd; k++) {
      for (int i = 0; i < 3; i++) buf[i * nd + k] = row[digit[k]][i];
      buf[3 * nd + k] = dt_pl_replicate();
    }
    (void)mixed;
    for (int i = 0; i < 2 && ok; i++)
      ok = dt_layout_shardable(c->mesh, i ? &b->meta : &a->meta, in + i * nd,
                               nd) &&
           aligned(c->mesh, i ? &b->meta : &a->meta, in + i * nd);
    if (ok) DT_TRY(c->cx, dt_strat_add(c, buf, in, NAN));
    int k = nd - 1;
    while (k >= 0 && ++digit[k] == n) digit[k--] = 0;
    if (k < 0) return DT_OK;
  }
}

/* The transpose of a group's factor, as PyTorch's gradient takes it. */
static DtStatus grouped_grad (DtGradCall *c) {
  DtHandle *a = dt_gin(c, 0), *b = dt_gin(c, 1), *offs = dt_gin(c, 2);
  DtHandle *g = c->gout[0], *x;
  if (op_g_need(c, 1)) {        /* mat2 comes first there */
    x = EMIT("aten.transpose.int", "tii", a, (int64_t)-2, (int64_t)-1);
    op_g_set(c, 1, EMIT("aten._grouped_mm.default", "ttt", x, g, offs));
  }
  if (op_g_need(c, 0)) {
    x = EMIT("aten.transpose.int", "tii", b, (int64_t)-2, (int64_t)-1);
    op_g_set(c, 0, EMIT("aten._grouped_mm.default", "ttt", g, x, offs));
  }
  return op_g_finish(c);
}

/* ---- definitions ---- */

MD(_grouped_mm, "_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, "
   "Tensor? bias=None, ScalarType? out_dtype=None) -> Tensor",
   "Products of groups of rows, columns or matrices.", 0,
   "bf16[2, 8, 8], bf16[2, 8, 8]", .meta = grouped_meta,
   .kernel = grouped_kernel, .strategy = grouped_strategy,
   .grad = grouped_grad);
MD(_int_mm, "_int_mm(Tensor self, Tensor mat2) -> Tensor",
   "Product of int8 matrices as int32.", DT_OP_NOGRAD | DT_OP_NOSTRATEGY,
   "i8[4, 3], i8[3, 5]", .meta = int_mm_meta, .kernel = int_mm_kernel);
MD(_scaled_mm, "_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor "
   "scale_b, Tensor? bias=None, Tensor? scale_result=None, ScalarType? "
   "out_dtype=None, bool use_fast_accum=False) -> Tensor",
   "Product of float8 matrices times their scales.", DT_OP_NOGRAD,
   "f8_e4m3fn[16, 16], f8_e4m3fn[16, 16], f32[], f32[], out_dtype=bf16",
   .meta = scaled_mm_meta, .kernel = scaled_mm_kernel,
   .rulefn = scaled_mm_rules);
