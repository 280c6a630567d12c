/* SPDX-License-Identifier: MIT
** kernel/place.c: slices named by an index vector overwritten, filled or
** reduced; elements chosen by a mask.
**
** Indices are applied in order.  The callers have checked shapes; what depends
** on the values of indices and masks is checked here. */

#include <math.h>
#include <string.h>
#include "kernel/kernel_int.h"

/* ---- slices at indices ---- */

static DtTensor slice (const DtTensor *t, int dim, int64_t i) {
  DtTensor v = dt_stack_view(t);
  if (t->m.ndim > 0) dt_stack_select(&v, dim, i);
  return v;
}

/* The indices as i64, negative ones counted from the end when `wrap`. */
static DtStatus indices (DtCtx *cx, const DtTensor *index, int64_t size,
                         int dim, bool wrap, const char *who,
                         DtTensor **out) {
  DtMeta m;
  void *p;
  int64_t n = dt_meta_numel(&index->m);
  DT_TRY(cx, dt_ctx_poll(cx));
  dt_meta_copy(&m, &index->m);
  m.dtype = DT_I64;
  m.device = DT_DEV_CPU;
  dt_meta_set_contiguous(&m);
  DT_TRY(cx, dt_tensor_new(cx, &m, false, out));
  DT_TRY(cx, dt_k_copy(cx, index, *out));
  DT_TRY(cx, dt_tensor_data(cx, *out, &p));
  for (int64_t i = 0, *v = p; v != NULL && i < n; i++) {
    int64_t at = v[i];
    DT_CHECK(cx, at >= (wrap ? -size : 0) && at < size, DT_E_INDEX, "%sindex "
             "%lld is out of bounds for dimension %d with size %lld", who,
             (long long)at, dim, (long long)size);
    if (at < 0) v[i] = at + size;
  }
  return DT_OK;
}

static int64_t size_of (const DtTensor *t, int dim) {
  return t->m.ndim == 0 ? 1 : t->m.shape[dim];
}

DtStatus dt_k_index_fill (DtCtx *cx, DtTensor *dst, int dim,
                          const DtTensor *index, const DtTensor *value) {
  DtTensor *ix = NULL;
  DtStatus st = indices(cx, index, size_of(dst, dim), dim, true, "", &ix);
  int64_t n = dt_meta_numel(&index->m);
  const int64_t *v = st == DT_OK ? dt_tensor_cdata(ix) : NULL;
  for (int64_t i = 0; v != NULL && i < n && st == DT_OK; i++) {
    DtTensor d = slice(dst, dim, v[i]);
    st = dt_k_copy(cx, value, &d);
  }
  dt_tensor_unref(cx, ix);
  return st;
}

DtStatus dt_k_index_copy (DtCtx *cx, DtTensor *dst, int dim,
                          const DtTensor *index, const DtTensor *src) {
  DtTensor *ix = NULL;
  DtStatus st = indices(cx, index, size_of(dst, dim), dim, false,
                        "index_copy_(): ", &ix);
  int64_t n = dt_meta_numel(&index->m);
  const int64_t *v = st == DT_OK ? dt_tensor_cdata(ix) : NULL;
  for (int64_t i = 0; v != NULL && i < n && st == DT_OK; i++) {
    DtTensor d = slice(dst, dim, v[i]);
    DtTensor s = src->m.ndim == dst->m.ndim ? slice(src, dim, i)
                                            : dt_stack_view(src);
    st = dt_k_copy(cx, &s, &d);
  }
  dt_tensor_unref(cx, ix);
  return st;
}

/* What a reduction starts from: multiplying by 1, adding 0, the least of all
** for a maximum. */
static DtScalar identity (DtScatter f, DtDtype t) {
  if (f == DT_SC_ADD) return dt_scalar_int(0);
  if (f == DT_SC_MUL) return dt_scalar_int(1);
  if (!dt_dtype_is_integral(t, true))
    return dt_scalar_float(f == DT_SC_MAX ? -INFINITY : INFINITY);
  switch (t) {
    case DT_BOOL: return dt_scalar_int(f == DT_SC_MIN);
    case DT_U8: return dt_scalar_int(f == DT_SC_MAX ? 0 : UINT8_MAX);
    case DT_I8: return dt_scalar_int(f == DT_SC_MAX ? INT8_MIN : INT8_MAX);
    case DT_I16: return dt_scalar_int(f == DT_SC_MAX ? INT16_MIN : INT16_MAX);
    case DT_I32: return dt_scalar_int(f == DT_SC_MAX ? INT32_MIN : INT32_MAX);
    default: return dt_scalar_int(f == DT_SC_MAX ? INT64_MIN : INT64_MAX);
  }
}

/* One operand each of a number of ones.  All of it lies on the caller's
** stack, with a count of 1 that nobody gives back: it must not be kept or
** unreferenced. */
static DtTensor number (DtStorage *s, DtBlock *b, double *v, double x) {
  DtTensor t = {.refs = 1, .storage = s};
  *v = x;
  *b = (DtBlock){.refs = 1, .nbytes = sizeof *v, .data = v};
  *s = (DtStorage){.refs = 1, .nbytes = sizeof *v, .block = b};
  t.m.dtype = DT_F64;
  return t;
}

/* dst = dst / count where the count is not 0; integers round down. */
static DtStatus divide (DtCtx *cx, DtTensor *dst, const DtTensor *count) {
  DtStorage s;
  DtBlock b;
  double v;
  DtTensor one = number(&s, &b, &v, 1), *c = NULL;
  DtScalar none[4] = {dt_scalar_int(0)};
  DtDtype t = (DtDtype)dst->m.dtype;
  bool whole = dt_dtype_is_integral(t, true);
  DtStatus st;
  DT_TRYG(cx, dt_kernel_dense(cx, count, whole ? DT_I64 : dt_dtype_acc(t),
                              &c));
  one.m.dtype = DT_F64;
  DT_TRYG(cx, dt_k_binary(cx, DT_B_maximum, (DtDtype)c->m.dtype, none, c, &one,
                          c));
  DT_TRYG(cx, dt_k_binary(cx, whole ? DT_B_div_floor : DT_B_div,
                          whole ? DT_I64 : dt_dtype_acc(t), none, dst, c,
                          dst));
done:
  dt_tensor_unref(cx, c);
  return st;
}

static DtStatus ones_like (DtCtx *cx, const DtTensor *t, double x,
                           DtTensor **out) {
  DtMeta m;
  dt_meta_copy(&m, &t->m);
  m.dtype = DT_F64;
  m.device = DT_DEV_CPU;
  dt_meta_set_contiguous(&m);
  DT_TRY(cx, dt_tensor_new(cx, &m, false, out));
  return dt_k_fill(cx, *out, dt_scalar_float(x));
}

DtStatus dt_k_scatter_reduce (DtCtx *cx, DtReduceHow how, DtTensor *dst,
                              int dim, const DtTensor *index,
                              const DtTensor *src) {
  DtStorage s;
  DtBlock b;
  double v;
  DtTensor one = number(&s, &b, &v, 1), *count = NULL, *start = NULL;
  DtStatus st;
  if (!how.self) {
    DT_TRYG(cx, ones_like(cx, index, 0, &start));
    DtTensor *conv = NULL;
    start->m.dtype = DT_F64;
    DT_TRYG(cx, dt_kernel_dense(cx, start, (DtDtype)dst->m.dtype, &conv));
    st = dt_k_fill(cx, conv, identity(how.f, (DtDtype)dst->m.dtype));
    if (st == DT_OK) st = dt_k_scatter(cx, DT_SC_SET, dst, dim, index, conv);
    dt_tensor_unref(cx, conv);
    if (st != DT_OK) goto done;
  }
  DT_TRYG(cx, dt_k_scatter(cx, how.f, dst, dim, index, src));
  if (!how.mean) goto done;
  DT_TRYG(cx, ones_like(cx, dst, how.self, &count));
  one.m.ndim = index->m.ndim;
  memcpy(one.m.shape, index->m.shape, sizeof(int64_t) * index->m.ndim);
  DT_TRYG(cx, dt_k_scatter(cx, DT_SC_ADD, count, dim, index, &one));
  DT_TRYG(cx, divide(cx, dst, count));
done:
  dt_tensor_unref(cx, count);
  dt_tensor_unref(cx, start);
  return st;
}

static const DtBinary reducers[] = {
  [DT_SC_ADD] = DT_B_add, [DT_SC_MUL] = DT_B_mul, [DT_SC_MAX] = DT_B_maximum,
  [DT_SC_MIN] = DT_B_minimum
};

static DtStatus reduce_slices (DtCtx *cx, DtScatter f, DtTensor *dst, int dim,
                               const int64_t *ix, int64_t n,
                               const DtTensor *src, DtTensor *count) {
  DtScalar p[4] = {dt_scalar_int(1)};
  DtStorage s;
  DtBlock b;
  double v;
  DtTensor one = number(&s, &b, &v, 1);
  for (int64_t i = 0; i < n; i++) {
    DtTensor d = slice(dst, dim, ix[i]), x = slice(src, dim, i);
    DT_TRY(cx, dt_k_binary(cx, reducers[f], (DtDtype)dst->m.dtype, p, &d, &x,
                           &d));
    if (count == NULL) continue;
    d = slice(count, dim, ix[i]);
    DT_TRY(cx, dt_k_binary(cx, DT_B_add, DT_F64, p, &d, &one, &d));
  }
  return DT_OK;
}

DtStatus dt_k_index_reduce (DtCtx *cx, DtReduceHow how, DtTensor *dst, int dim,
                            const DtTensor *index, const DtTensor *src) {
  DtTensor *ix = NULL, *count = NULL;
  int64_t n = dt_meta_numel(&index->m);
  DtStatus st;
  DT_TRYG(cx, dt_kernel_dense(cx, index, DT_I64, &ix));
  const int64_t *v = dt_tensor_cdata(ix);
  if (v == NULL || n == 0) goto done;
  for (int64_t i = 0; i < n; i++)
    DT_CHECKG(cx, v[i] >= 0 && v[i] < size_of(dst, dim), DT_E_INDEX,
              "index out of range in self");
  for (int64_t i = 0; !how.self && i < n; i++) {
    DtTensor d = slice(dst, dim, v[i]);
    DT_TRYG(cx, dt_k_fill(cx, &d, identity(how.f, (DtDtype)dst->m.dtype)));
  }
  if (how.mean) DT_TRYG(cx, ones_like(cx, dst, how.self, &count));
  DT_TRYG(cx, reduce_slices(cx, how.f, dst, dim, v, n, src, count));
  if (how.mean) DT_TRYG(cx, divide(cx, dst, count));
done:
  dt_tensor_unref(cx, ix);
  dt_tensor_unref(cx, count);
  return st;
}

/* ---- masks and flat places ---- */

int64_t dt_k_count_true (const DtTensor *mask) {
  DtIter it;
  const DtMeta *m[1] = {&mask->m};
  void *d[1] = {(void *)(uintptr_t)dt_tensor_cdata(mask)};
  int64_t n = 0, v[64];
  if (d[0] == NULL) return 0;
  dt_iter_init(&it, 1, m, d);
  for (; !it.done; dt_iter_next(&it))
    for (int64_t i = 0; i < it.n; i += 64) {
      int64_t k = it.n - i < 64 ? it.n - i : 64;
      dt_run_load(DT_CL_I64, v, (DtDtype)mask->m.dtype,
                  it.ptr[0] + i * it.inner[0], it.inner[0], k);
      for (int64_t j = 0; j < k; j++) n += v[j] != 0;
    }
  return n;
}

/* Move elements between `dense` (in its order) and the places of `a` where
** `mask` is true; all contiguous. */
DtStatus dt_k_masked_move (DtCtx *cx, DtTensor *a, const DtTensor *mask,
                           DtTensor *dense, bool gather) {
  DtTensor *m = NULL;
  void *p, *q;
  size_t es = dt_dtype_size((DtDtype)a->m.dtype);
  int64_t n = dt_meta_numel(&a->m), k = 0, have = dt_meta_numel(&dense->m);
  DtStatus st;
  DT_TRYG(cx, dt_kernel_dense(cx, mask, DT_BOOL, &m));
  DT_TRYG(cx, dt_tensor_data(cx, a, &p));
  DT_TRYG(cx, dt_tensor_data(cx, dense, &q));
  const uint8_t *t = dt_tensor_cdata(m);
  for (int64_t i = 0; p != NULL && q != NULL && t != NULL && i < n; i++) {
    if (!t[i] || k >= have) continue;
    char *x = (char *)p + (size_t)i * es, *y = (char *)q + (size_t)k++ * es;
    memcpy(gather ? y : x, gather ? x : y, es);
  }
done:
  dt_tensor_unref(cx, m);
  return st;
}
