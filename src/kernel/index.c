/* SPDX-License-Identifier: MIT
** kernel/index.c: gather, scatter, index_select, index_add, and the gradient
** of an embedding: one index per element or per slice along a dim.
**
** Does not do advanced indexing (advindex.c).  Where several indices name the
** same place, they are applied in order. */

#include <math.h>
#include <string.h>
#include "kernel/kernel_int.h"

enum { BLOCK = 256 };

static DtStatus out_of_bounds (DtCtx *cx, DtStatus code, int64_t i, int dim,
                               int64_t size) {
  return dt_raise(cx, code,
                  "index %lld is out of bounds for dimension %d with size %lld",
                  (long long)i, dim, (long long)size);
}

/* The first index not in [0, size), or -1 - as a position - when all are. */
static int64_t first_bad (const int64_t *v, int64_t n, int64_t size) {
  for (int64_t i = 0; i < n; i++)
    if (v[i] < 0 || v[i] >= size) return i;
  return -1;
}

/* ---- gather ---------------------------------------------------------------- */

static DtStatus gather_line (DtCtx *cx, const DtLines *l, DtDtype it,
                             DtDtype t, int dim) {
  int64_t ix[BLOCK];
  size_t es = dt_dtype_size(t);
  for (int64_t i = 0; i < l->len[0]; i += BLOCK) {
    int64_t n = l->len[0] - i < BLOCK ? l->len[0] - i : BLOCK;
    dt_run_load(DT_CL_I64, ix, it, l->p[1] + i * l->stride[1], l->stride[1],
                n);
    int64_t bad = first_bad(ix, n, l->len[2]);
    if (bad >= 0)
      return out_of_bounds(cx, DT_E_RUNTIME, ix[bad], dim, l->len[2]);
    char *o = l->p[0] + i * l->stride[0];
    for (int64_t k = 0; k < n; k++)
      memcpy(o + k * l->stride[0], l->p[2] + ix[k] * l->stride[2], es);
  }
  return DT_OK;
}

DtStatus dt_k_gather (DtCtx *cx, const DtTensor *a, int dim,
                      const DtTensor *index, DtTensor *out) {
  const DtTensor *in[2] = {index, a};
  const DtMeta *metas[3] = {&out->m, &index->m, &a->m};
  const void *cdata[2] = {NULL};
  void *data[3];
  DtLines l;
  DT_TRY(cx, dt_kernel_data(cx, out, &data[0], 2, in, cdata));
  if (data[0] == NULL) return DT_OK;
  for (int k = 0; k < 2; k++) data[k + 1] = (void *)(uintptr_t)cdata[k];
  dt_lines_init(&l, 3, metas, data, dim);
  for (; !l.done; dt_lines_next(&l))
    DT_TRY(cx, gather_line(cx, &l, (DtDtype)index->m.dtype,
                           (DtDtype)a->m.dtype, dim));
  return DT_OK;
}

/* ---- scatter ---------------------------------------------------------------- */

/* One element as a number of each class. */
typedef union Num { double f; int64_t i; DtC128 z; } Num;

static DtClass wide_class (DtDtype t) {
  DtClass c = dt_class_of(t);
  return c == DT_CL_F32 ? DT_CL_F64 : c;
}

static double pick_f64 (DtScatter f, double a, double b) {
  switch (f) {
    case DT_SC_SET: return b;
    case DT_SC_ADD: return a + b;
    case DT_SC_MUL: return a * b;
    case DT_SC_MAX: return a != a || b != b ? NAN : (b > a ? b : a);
    case DT_SC_MIN: return a != a || b != b ? NAN : (b < a ? b : a);
  }
  return b;
}

static int64_t pick_i64 (DtScatter f, int64_t a, int64_t b) {
  switch (f) {
    case DT_SC_SET: return b;
    case DT_SC_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
    case DT_SC_MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
    case DT_SC_MAX: return b > a ? b : a;
    case DT_SC_MIN: return b < a ? b : a;
  }
  return b;
}

static void pick (DtScatter f, DtClass c, Num *a, const Num *b) {
  if (c == DT_CL_I64) a->i = pick_i64(f, a->i, b->i);
  else if (c == DT_CL_F64) a->f = pick_f64(f, a->f, b->f);
  else a->z = f == DT_SC_ADD ? a->z + b->z : f == DT_SC_MUL ? a->z * b->z
                                                            : b->z;
}

typedef struct Scatter {
  DtScatter f;
  DtClass c;
  DtDtype index, dst, src;
  int dim;
} Scatter;

/* Operands of the lines: index, dst, src. */
static DtStatus scatter_line (DtCtx *cx, const Scatter *s, const DtLines *l) {
  for (int64_t i = 0; i < l->len[0]; i++) {
    int64_t at;
    Num a = {0}, b;
    dt_run_load(DT_CL_I64, &at, s->index, l->p[0] + i * l->stride[0], 0, 1);
    if (at < 0 || at >= l->len[1])
      return out_of_bounds(cx, DT_E_RUNTIME, at, s->dim, l->len[1]);
    char *d = l->p[1] + at * l->stride[1];
    const char *v = l->p[2] + i * l->stride[2];
    if (s->f == DT_SC_SET && s->dst == s->src) {
      memcpy(d, v, dt_dtype_size(s->dst));
      continue;
    }
    dt_run_load(s->c, &b, s->src, v, 0, 1);
    if (s->f != DT_SC_SET) dt_run_load(s->c, &a, s->dst, d, 0, 1);
    pick(s->f, s->c, &a, &b);
    dt_run_store(s->c, &a, s->dst, d, 0, 1);
  }
  return DT_OK;
}

DtStatus dt_k_scatter (DtCtx *cx, DtScatter f, DtTensor *dst, int dim,
                       const DtTensor *index, const DtTensor *src) {
  const DtTensor *in[2] = {index, src};
  const DtMeta *metas[3] = {&index->m, &dst->m, &src->m};
  const void *cdata[2] = {NULL};
  void *data[3];
  DtLines l;
  Scatter s = {f, wide_class((DtDtype)dst->m.dtype), (DtDtype)index->m.dtype,
               (DtDtype)dst->m.dtype, (DtDtype)src->m.dtype, dim};
  DT_TRY(cx, dt_kernel_data(cx, dst, &data[1], 2, in, cdata));
  data[0] = (void *)(uintptr_t)cdata[0];
  data[2] = (void *)(uintptr_t)cdata[1];
  if (data[0] == NULL) return DT_OK;
  dt_lines_init(&l, 3, metas, data, dim);
  if (src->m.ndim == 0) l.stride[2] = 0;
  for (; !l.done; dt_lines_next(&l)) DT_TRY(cx, scatter_line(cx, &s, &l));
  return DT_OK;
}

/* ---- slices along a dim ------------------------------------------------------- */

/* The indices as i64, in a new block that the caller frees. */
static DtStatus index_list (DtCtx *cx, const DtTensor *index, int64_t **out) {
  const void *p = dt_tensor_cdata(index);
  int64_t n = dt_meta_numel(&index->m), *v;
  v = dt_alloc(cx, (size_t)n * sizeof *v);
  if (v == NULL) return DT_E_NOMEM;
  const DtMeta *metas[1] = {&index->m};
  void *data[1] = {(void *)(uintptr_t)p};
  DtLines l;
  dt_lines_init(&l, 1, metas, data, index->m.ndim > 0 ? index->m.ndim - 1 : 0);
  if (p != NULL)                /* at most one-dimensional: one line */
    dt_run_load(DT_CL_I64, v, (DtDtype)index->m.dtype, l.p[0], l.stride[0],
                n);
  *out = v;
  return DT_OK;
}

static int64_t size_along (const DtTensor *t, int dim) {
  return t->m.ndim == 0 ? 1 : t->m.shape[dim];
}

static DtTensor slice (const DtTensor *t, int dim, int64_t i) {
  DtTensor v = dt_stack_view(t);
  if (t->m.ndim > 0) dt_stack_select(&v, dim, i);
  return v;
}

static DtStatus select_all (DtCtx *cx, const DtTensor *a, int dim,
                            const int64_t *ix, int64_t n, DtTensor *out) {
  int64_t size = size_along(a, dim);
  int64_t bad = first_bad(ix, n, size);
  if (bad >= 0 && dim > 0)
    return dt_raise(cx, DT_E_RUNTIME, "INDICES element is out of DATA bounds, "
                    "id=%lld axis_dim=%lld", (long long)ix[bad],
                    (long long)size);
  DT_CHECK(cx, bad < 0, DT_E_INDEX, "index out of range in self");
  for (int64_t i = 0; i < n; i++) {
    DtTensor s = slice(a, dim, ix[i]), d = slice(out, dim, i);
    DT_TRY(cx, dt_k_copy(cx, &s, &d));
  }
  return DT_OK;
}

/* Rows of contiguous tensors, without a view for each. */
static void select_rows (const char *a, const int64_t *ix, int64_t n,
                         size_t row, char *out) {
  for (int64_t i = 0; i < n; i++)
    memcpy(out + (size_t)i * row, a + (size_t)ix[i] * row, row);
}

DtStatus dt_k_index_select (DtCtx *cx, const DtTensor *a, int dim,
                            const DtTensor *index, DtTensor *out) {
  void *o;
  const void *p = NULL;
  int64_t *ix = NULL, n = dt_meta_numel(&index->m);
  DT_TRY(cx, dt_kernel_data(cx, out, &o, 1, &a, &p));
  DT_TRY(cx, index_list(cx, index, &ix));
  bool rows = dim == 0 && p != NULL && a->m.ndim > 0 &&
              a->m.dtype == out->m.dtype && dt_meta_is_contiguous(&a->m) &&
              dt_meta_is_contiguous(&out->m) &&
              first_bad(ix, n, a->m.shape[0]) < 0;
  DtStatus st = DT_OK;
  if (rows)
    select_rows(p, ix, n, (size_t)(dt_meta_nbytes(&a->m) / a->m.shape[0]), o);
  else
    st = select_all(cx, a, dim, ix, n, out);
  dt_free(cx, ix);
  return st;
}

static DtStatus add_all (DtCtx *cx, DtTensor *dst, int dim, const int64_t *ix,
                         int64_t n, const DtTensor *src, DtScalar alpha) {
  int64_t size = size_along(dst, dim), bad = first_bad(ix, n, size);
  if (bad >= 0 && dst->m.ndim > 1)
    return out_of_bounds(cx, DT_E_RUNTIME, ix[bad], dim, size);
  DT_CHECK(cx, bad < 0, DT_E_INDEX, "index out of range in self");
  for (int64_t i = 0; i < n; i++) {
    DtTensor d = slice(dst, dim, ix[i]), s = slice(src, dim, i);
    DT_TRY(cx, dt_k_binary(cx, DT_B_add, (DtDtype)dst->m.dtype, &alpha, &d,
                           &s, &d));
  }
  return DT_OK;
}

DtStatus dt_k_index_add (DtCtx *cx, DtTensor *dst, int dim,
                         const DtTensor *index, const DtTensor *src,
                         DtScalar alpha) {
  int64_t *ix = NULL;
  DT_TRY(cx, dt_ctx_poll(cx));
  if (dt_meta_numel(&dst->m) == 0) return DT_OK;   /* indices are not looked at */
  DT_TRY(cx, index_list(cx, index, &ix));
  DtStatus st = add_all(cx, dst, dim, ix, dt_meta_numel(&index->m), src,
                        alpha);
  dt_free(cx, ix);
  return st;
}

/* ---- embedding ------------------------------------------------------------------ */

/* How often each row is named, as 1 / count in place of the count. */
static void inverse_counts (const int64_t *ix, int64_t n, double *w,
                            int64_t rows) {
  for (int64_t r = 0; r < rows; r++) w[r] = 0;
  for (int64_t i = 0; i < n; i++)
    if (ix[i] >= 0 && ix[i] < rows) w[ix[i]] += 1;
  for (int64_t r = 0; r < rows; r++) w[r] = w[r] > 0 ? 1 / w[r] : 1;
}

static void add_rows (const double *g, const int64_t *ix, int64_t n,
                      int64_t padding, const double *w, int64_t rows,
                      int64_t len, double *acc) {
  for (int64_t i = 0; i < n; i++) {
    if (ix[i] == padding || ix[i] < 0 || ix[i] >= rows) continue;
    double f = w == NULL ? 1 : w[ix[i]];
    double *d = acc + ix[i] * len;
    const double *s = g + i * len;
    for (int64_t k = 0; k < len; k++) d[k] += s[k] * f;
  }
}

DtStatus dt_k_embedding_backward (DtCtx *cx, const DtTensor *grad,
                                  const DtTensor *index, int64_t padding_idx,
                                  bool scale_by_freq, DtTensor *out) {
  DtStatus st = DT_OK;
  DtTensor *g = NULL, *ix = NULL, *acc = NULL;
  double *w = NULL;
  void *p;
  DtMeta m;
  int64_t rows = out->m.shape[0], len = out->m.shape[1];
  int64_t n = dt_meta_numel(&index->m);
  dt_meta_copy(&m, &out->m);
  m.dtype = DT_F64;
  m.device = DT_DEV_CPU;
  dt_meta_set_contiguous(&m);
  DT_TRYG(cx, dt_ctx_poll(cx));
  DT_TRYG(cx, dt_kernel_dense(cx, grad, DT_F64, &g));
  DT_TRYG(cx, dt_kernel_dense(cx, index, DT_I64, &ix));
  DT_TRYG(cx, dt_tensor_new(cx, &m, false, &acc));
  DT_TRYG(cx, dt_k_fill(cx, acc, dt_scalar_int(0)));
  if (scale_by_freq) {
    w = dt_alloc(cx, (size_t)rows * sizeof *w);
    if (w == NULL) { st = DT_E_NOMEM; goto done; }
    inverse_counts(dt_tensor_cdata(ix), n, w, rows);
  }
  DT_TRYG(cx, dt_tensor_data(cx, acc, &p));
  if (p != NULL && n > 0)
    add_rows(dt_tensor_cdata(g), dt_tensor_cdata(ix), n, padding_idx, w, rows,
             len, p);
  DT_TRYG(cx, dt_k_copy(cx, acc, out));
done:
  dt_free(cx, w);
  dt_tensor_unref(cx, g);
  dt_tensor_unref(cx, ix);
  dt_tensor_unref(cx, acc);
  return st;
}
