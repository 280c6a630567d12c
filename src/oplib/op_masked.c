/* SPDX-License-Identifier: MIT
** oplib/op_masked.c: elements picked by masks, values and indices: nonzero,
** masked_select, unique, bincount, put, index_copy, scatter_reduce
** and searchsorted.
**
** The first four have results whose shapes depend on data: their kernels make
** them, and they cannot be propagated. */
#include "oplib/grading.h"
#include "oplib/op_unwritten.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define IN (dt_gin(c, 0))

/* ---- results made by the kernel ---- */

static DtStatus make (DtKernelCall *c, int i, DtDtype t, int n,
                      const int64_t *shape) {
  DtMeta m;
  DT_TRY(c->cx, op_new_meta(c->cx, &m, t, n, shape, &c->in[0]->m));
  return dt_tensor_new(c->cx, &m, false, &c->made[i]);
}

static DtStatus nonzero_kernel (DtKernelCall *c) {
  int64_t shape[2] = { dt_k_count_true(c->in[0]), c->in[0]->m.ndim };
  DtTensor *t = NULL;
  DtMeta m;
  if (dt_dtype_is_float((DtDtype)c->in[0]->m.dtype) ||
      dt_dtype_is_complex((DtDtype)c->in[0]->m.dtype)) {
    DtTensor *n = NULL;
    int64_t v = 0;
    DtStatus st = op_temp(c->cx, DT_I64, 0, NULL, &n);
    if (st == DT_OK)
      st = dt_k_reduce(c->cx, DT_RED_COUNT_NONZERO, NULL, c->in[0],
                       c->in[0]->m.ndim
                       ? (uint32_t)((1u << c->in[0]->m.ndim) - 1) : 0, n);
    if (st == DT_OK) memcpy(&v, dt_tensor_cdata(n), sizeof v);
    dt_tensor_unref(c->cx, n);
    DT_TRY(c->cx, st);
    shape[0] = v;
  }
  DT_TRY(c->cx, op_new_meta(c->cx, &m, DT_I64, 2, shape, &c->in[0]->m));
  m.stride[0] = 1;              /* one dim's places after the other's */
  m.stride[1] = shape[0];
  if (shape[0] <= 1 || shape[1] <= 1) dt_meta_set_contiguous(&m);
  DT_TRY(c->cx, dt_tensor_new(c->cx, &m, false, &t));
  c->made[0] = t;
  return dt_k_nonzero(c->cx, c->in[0], t);
}

/* So many rows as are asked for: the first places, then the fill value. */
static DtStatus nonzero_static_meta (DtMetaCall *c) {
  int64_t shape[2] = { dt_arg_int(c->args, 1), c->in[0]->ndim };
  DT_CHECK(c->cx, shape[0] >= 0, DT_E_RUNTIME,
           "nonzero_static: 'size' must be an non-negative integer");
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], DT_I64, 2, shape, c->in[0]);
}
static DtStatus nonzero_static_kernel (DtKernelCall *c) {
  DT_TRY(c->cx, dt_k_fill(c->cx, c->out[0], dt_arg_scalar(c->args, 2)));
  if (dt_meta_numel(&c->in[0]->m) == 0) return DT_OK;
  return dt_k_nonzero(c->cx, c->in[0], c->out[0]);
}

/* A contiguous copy of t broadcast to m. */
static DtStatus spread (DtCtx *cx, DtTensor *t, DtDtype type, const DtMeta *m,
                        DtTensor **out) {
  DT_TRY(cx, op_temp(cx, type, m->ndim, m->shape, out));
  return dt_k_copy(cx, t, *out);
}

static DtStatus select_kernel (DtKernelCall *c) {
  DtTensor *a = NULL, *k = NULL, *mask = dt_kin(c, 1);
  DtMeta m;
  int64_t n;
  DtStatus st;
  DT_CHECK(c->cx, mask->m.dtype == DT_BOOL, DT_E_RUNTIME,
           "masked_select: expected BoolTensor for mask");
  DT_TRYG(c->cx, dt_meta_broadcast(c->cx, &mask->m, &c->in[0]->m, &m));
  DT_TRYG(c->cx, spread(c->cx, c->in[0], (DtDtype)c->in[0]->m.dtype, &m, &a));
  DT_TRYG(c->cx, spread(c->cx, mask, DT_BOOL, &m, &k));
  n = dt_k_count_true(k);
  DT_TRYG(c->cx, make(c, 0, (DtDtype)a->m.dtype, 1, &n));
  DT_TRYG(c->cx, dt_k_masked_move(c->cx, a, k, c->made[0], true));
done:
  dt_tensor_unref(c->cx, a);
  dt_tensor_unref(c->cx, k);
  return st;
}
static DtStatus select_grad (DtGradCall *c) {
  DtMeta m, k;
  DtHandle *x = IN, *mask = dt_gin(c, 1);
  dt_meta_copy(&m, dt_emit_meta(c->e, x));
  dt_meta_copy(&k, dt_emit_meta(c->e, mask));
  DtMeta r;
  DT_TRY(c->e->cx, dt_meta_broadcast(c->e->cx, &m, &k, &r));
  DtValue f = dt_v_none();
  f.kind = DT_V_MEMFMT;
  f.u.i = DT_MF_PRESERVE;
  DtHandle *z = EMIT("aten.expand.default", "tI", x, (int)r.ndim, r.shape);
  z = EMIT("aten.zeros_like.default", "t memory_format=v", z, f);
  op_g_set(c, 0, EMIT("aten.masked_scatter.default", "ttt", z, mask, GOUT));
  return op_g_finish(c);
}

/* The distinct elements in order, where each stands among them, how many. */
static DtStatus unique_kernel (DtKernelCall *c) {
  DtTensor *in = c->in[0], *flat = NULL, *view = NULL, *v = NULL, *ix = NULL;
  int counted = dt_schema_arg(c->op->sig, "return_counts");
  bool inverse = dt_arg_bool(c->args, 2);
  bool counts = counted >= 0 && dt_arg_bool(c->args, counted);
  int64_t n = dt_meta_numel(&in->m), zero = 0, one = 1, k = 0;
  DtDtype t = (DtDtype)in->m.dtype;
  size_t es = dt_dtype_size(t);
  int64_t *group = NULL, *inv = NULL, *cnt = NULL;
  void *p;
  DtStatus st;
  DT_TRYG(c->cx, op_temp(c->cx, t, in->m.ndim, in->m.shape, &flat));
  DT_TRYG(c->cx, dt_k_copy(c->cx, in, flat));
  DT_TRYG(c->cx, op_restride(c->cx, flat, 1, &n, &one, 0, &view));
  DT_TRYG(c->cx, op_temp(c->cx, t, 1, &n, &v));
  DT_TRYG(c->cx, op_temp(c->cx, DT_I64, 1, &n, &ix));
  if (n > 0) DT_TRYG(c->cx, dt_k_sort(c->cx, view, 0, false, true, v, ix));
  group = dt_calloc(c->cx, (size_t)n + 1, sizeof *group);
  if (group == NULL) { st = DT_E_NOMEM; goto done; }
  const char *s = dt_tensor_cdata(v);
  const int64_t *at = dt_tensor_cdata(ix);
  for (int64_t i = 0; i < n; i++) {
    DtScalar a = dt_dtype_load(t, s + (size_t)i * es), b = a;
    if (i > 0) b = dt_dtype_load(t, s + (size_t)(i - 1) * es);
    bool same = i > 0 && (a.kind < DT_K_FLOAT ? a.i == b.i
                                              : a.re == b.re && a.im == b.im);
    if (!same) k++;
    group[i] = k - 1;
  }
  DT_TRYG(c->cx, make(c, 0, t, 1, &k));
  DT_TRYG(c->cx, make(c, 1, DT_I64, inverse ? in->m.ndim : 1,
                      inverse ? in->m.shape : &zero));
  if (counted >= 0)
    DT_TRYG(c->cx, make(c, 2, DT_I64, 1, counts ? &k : &zero));
  DT_TRYG(c->cx, dt_tensor_data(c->cx, c->made[0], &p));
  for (int64_t i = 0; i < n; i++)
    if (i == 0 || group[i] != group[i - 1])
      memcpy((char *)p + (size_t)group[i] * es, s + (size_t)i * es, es);
  DT_TRYG(c->cx, dt_tensor_data(c->cx, c->made[1], &p));
  inv = p;
  if (counts) {
    DT_TRYG(c->cx, dt_tensor_data(c->cx, c->made[2], &p));
    cnt = p;
    if (k > 0) memset(cnt, 0, (size_t)k * sizeof *cnt);
  }
  for (int64_t i = 0; i < n; i++) {
    if (inverse) inv[at[i]] = group[i];
    if (counts) cnt[group[i]]++;
  }
done:
  dt_free(c->cx, group);
  dt_tensor_unref(c->cx, flat);
  dt_tensor_unref(c->cx, view);
  dt_tensor_unref(c->cx, v);
  dt_tensor_unref(c->cx, ix);
  return st;
}

/* The result's size is a matter of the data: checks that look at elements come
** after those of shapes, as in native/SummaryOps.cpp:_bincount_cpu_template. */
static DtStatus bincount_kernel (DtKernelCall *c) {
  DtTensor *x = c->in[0], *w = dt_kin(c, 1), *ix = NULL, *wt = NULL;
  int64_t n = dt_meta_numel(&x->m), size = dt_arg_int(c->args, 2);
  DtDtype t = (DtDtype)x->m.dtype;
  DtScalar one[4] = { dt_scalar_int(1) };
  OpNumber num;
  DtStatus st;
  DT_CHECK(c->cx, t != DT_BOOL || c->op == NULL, DT_E_NOTIMPL,
           "\"bincount_cpu\" not implemented for 'Bool'");
  DT_CHECK(c->cx, dt_dtype_is_integral(t, false), DT_E_NOTIMPL,
           "\"bincount_cpu\" not implemented for '%s'", op_dtype_word(t));
  DT_CHECK(c->cx, size >= 0, DT_E_RUNTIME, "minlength should be >= 0");
  DT_CHECK(c->cx, x->m.ndim == 1 || n == 0, DT_E_RUNTIME,
           "bincount only supports 1-d non-negative integral inputs.");
  DT_CHECK(c->cx, !w || (w->m.ndim == 1 && dt_meta_numel(&w->m) == n),
           DT_E_RUNTIME, "weights should be 1-d and have the same length as "
           "input");
  DT_TRYG(c->cx, op_temp(c->cx, DT_I64, 1, &n, &ix));
  if (n > 0) DT_TRYG(c->cx, dt_k_copy(c->cx, x, ix));
  const int64_t *v = dt_tensor_cdata(ix);
  for (int64_t i = 0; i < n; i++) {
    DT_CHECKG(c->cx, v[i] >= 0, DT_E_RUNTIME,
              "bincount only supports 1-d non-negative integral inputs.");
    DT_CHECKG(c->cx, v[i] < INT64_MAX, DT_E_OVERFLOW,
              "Storage size calculation overflowed");
    if (v[i] >= size) size = v[i] + 1;
  }
  t = !w ? DT_I64 : w->m.dtype == DT_F32 ? DT_F32 : DT_F64;
  DT_TRYG(c->cx, make(c, 0, t, 1, &size));
  DT_TRYG(c->cx, dt_k_fill(c->cx, c->made[0], dt_scalar_int(0)));
  if (n == 0) goto done;
  if (!w) w = op_number(&num, one[0], DT_I64);
  DT_TRYG(c->cx, op_temp(c->cx, t, 1, &n, &wt));
  DT_TRYG(c->cx, dt_k_copy(c->cx, w, wt));
  DT_TRYG(c->cx, dt_k_scatter(c->cx, DT_SC_ADD, c->made[0], 0, ix, wt));
done:
  dt_tensor_unref(c->cx, ix);
  dt_tensor_unref(c->cx, wt);
  return st;
}

static DtStatus unique_grad (DtGradCall *c) {
  return dt_raise(c->e->cx, DT_E_NOTIMPL,
                  "the derivative for '%s' is not implemented.",
                  c->op->sig->base);
}

/* ---- masked_scatter, put ---- */

static DtStatus mscatter_meta (DtMetaCall *c) {
  DtMeta r;
  const DtMeta *m = c->in[0], *k = dt_in(c, 1), *s = dt_in(c, 2);
  DT_CHECK(c->cx, s->dtype == m->dtype, DT_E_RUNTIME, "masked_scatter: expected "
           "self and source to have same dtypes but got%s and %s",
           op_dtype_word((DtDtype)m->dtype), op_dtype_word((DtDtype)s->dtype));
  DT_CHECK(c->cx, k->dtype == DT_BOOL, DT_E_RUNTIME, "masked_scatter_ only "
           "supports boolean masks, but got mask with dtype %s",
           op_dtype_word((DtDtype)k->dtype));
  DT_TRY(c->cx, dt_meta_broadcast(c->cx, k, m, &r));
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, r.ndim, r.shape, m);
}
static DtStatus mscatter_kernel (DtKernelCall *c) {
  DtTensor *a = NULL, *k = NULL, *s = NULL, *src = dt_kin(c, 2);
  const DtMeta *m = &c->out[0]->m;
  DtStatus st;
  DT_TRYG(c->cx, spread(c->cx, c->in[0], (DtDtype)m->dtype, m, &a));
  DT_TRYG(c->cx, spread(c->cx, dt_kin(c, 1), DT_BOOL, m, &k));
  DT_TRYG(c->cx, spread(c->cx, src, (DtDtype)m->dtype, &src->m, &s));
  DT_CHECKG(c->cx, dt_k_count_true(k) <= dt_meta_numel(&src->m), DT_E_RUNTIME,
            "Number of elements of source < number of ones in mask");
  DT_TRYG(c->cx, dt_k_masked_move(c->cx, a, k, s, false));
  DT_TRYG(c->cx, dt_k_copy(c->cx, a, c->out[0]));
done:
  dt_tensor_unref(c->cx, a);
  dt_tensor_unref(c->cx, k);
  dt_tensor_unref(c->cx, s);
  return st;
}
static DtStatus mscatter_grad (DtGradCall *c) {
  DtHandle *mask = dt_gin(c, 1);
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.masked_fill.Scalar", "tti", GOUT, mask,
                        (int64_t)0));
  if (op_g_need(c, 2)) {
    DtMeta m;
    dt_meta_copy(&m, dt_emit_meta(c->e, dt_gin(c, 2)));
    op_g_set(c, 2, EMIT("aten.masked_scatter_backward.default", "ttI", GOUT,
                        mask,
                        (int)m.ndim, m.shape));
  }
  return op_g_finish(c);
}

static DtStatus mback_meta (DtMetaCall *c) {
  int64_t shape[DT_MAX_NDIM];
  int n = op_ints(c->args, 2, shape);
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)c->in[0]->dtype, n, shape,
                     c->in[0]);
}
static DtStatus mback_kernel (DtKernelCall *c) {
  DtTensor *a = NULL, *k = NULL, *o = c->out[0];
  DtStatus st;
  DT_TRYG(c->cx, spread(c->cx, c->in[0], (DtDtype)o->m.dtype, &c->in[0]->m,
                        &a));
  DT_TRYG(c->cx, spread(c->cx, dt_kin(c, 1), DT_BOOL, &a->m, &k));
  DT_TRYG(c->cx, dt_k_fill(c->cx, o, dt_scalar_int(0)));
  DT_TRYG(c->cx, dt_k_masked_move(c->cx, a, k, o, true));
done:
  dt_tensor_unref(c->cx, a);
  dt_tensor_unref(c->cx, k);
  return st;
}

static DtStatus put_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0], *x = dt_in(c, 1), *s = dt_in(c, 2);
  if (c->fake) return op_meta_same(c);
  DT_CHECK(c->cx, x->dtype == DT_I64, DT_E_INDEX, "put_(): Expected a long "
           "tensor for index, but got %s", op_dtype_word((DtDtype)x->dtype));
  DT_CHECK(c->cx, s->dtype == m->dtype, DT_E_RUNTIME, "put_(): self and source "
           "expected to have the same dtype, but got self.dtype = %s and "
           "source.dtype = %s", op_dtype_word((DtDtype)m->dtype),
           op_dtype_word((DtDtype)s->dtype));
  DT_CHECK(c->cx, dt_meta_numel(x) == dt_meta_numel(s), DT_E_INDEX,
           "put_(): Expected source and index to have the same number of "
           "elements, but got source.numel() = %lld, index.numel() = %lld",
           (long long)dt_meta_numel(s), (long long)dt_meta_numel(x));
  return op_meta_same(c);
}
/* All three as one dim each, so that it is a scatter; indices are checked before
** anything is written. */
static DtStatus put_kernel (DtKernelCall *c) {
  DtTensor *a = NULL, *ix = NULL, *s = NULL, *flat[3] = { NULL, NULL, NULL };
  DtTensor *x = dt_kin(c, 1), *src = dt_kin(c, 2);
  int64_t n = dt_meta_numel(&c->in[0]->m), k = dt_meta_numel(&x->m), one = 1;
  DtDtype t = (DtDtype)c->out[0]->m.dtype;
  void *p;
  DtStatus st;
  DT_TRYG(c->cx, spread(c->cx, c->in[0], t, &c->in[0]->m, &a));
  DT_TRYG(c->cx, spread(c->cx, x, DT_I64, &x->m, &ix));
  DT_TRYG(c->cx, spread(c->cx, src, t, &src->m, &s));
  DT_TRYG(c->cx, dt_tensor_data(c->cx, ix, &p));
  for (int64_t i = 0, *v = p; i < k; i++) {
    DT_CHECKG(c->cx, v[i] >= -n && v[i] < n, DT_E_INDEX, "out of range: tried "
              "to access index %lld on a tensor of %lld elements.",
              (long long)v[i], (long long)n);
    if (v[i] < 0) v[i] += n;
  }
  DT_TRYG(c->cx, op_restride(c->cx, a, 1, &n, &one, 0, &flat[0]));
  DT_TRYG(c->cx, op_restride(c->cx, ix, 1, &k, &one, 0, &flat[1]));
  DT_TRYG(c->cx, op_restride(c->cx, s, 1, &k, &one, 0, &flat[2]));
  if (k > 0)
    DT_TRYG(c->cx, dt_k_scatter(c->cx, dt_arg_bool(c->args, 3) ? DT_SC_ADD
                                : DT_SC_SET, flat[0], 0, flat[1], flat[2]));
  DT_TRYG(c->cx, dt_k_copy(c->cx, a, c->out[0]));
done:
  for (int i = 0; i < 3; i++) dt_tensor_unref(c->cx, flat[i]);
  dt_tensor_unref(c->cx, a);
  dt_tensor_unref(c->cx, ix);
  dt_tensor_unref(c->cx, s);
  return st;
}
static DtStatus put_grad (DtGradCall *c) {
  DtHandle *x = dt_gin(c, 1);
  if (op_g_need(c, 0)) {
    DtHandle *g = GOUT;
    if (!dt_arg_bool(c->args, 3)) {
      DtMeta s;
      dt_meta_copy(&s, dt_emit_meta(c->e, dt_gin(c, 2)));
      DtHandle *z = EMIT("aten.zeros.default", "I dtype=d", (int)s.ndim, s.shape,
                         (int)s.dtype);
      g = EMIT("aten.put.default", "tttb", GOUT, x, z, 0);
    }
    op_g_set(c, 0, g);
  }
  if (op_g_need(c, 2)) {          /* as many elements as the index, another shape */
    DtMeta m;
    dt_meta_copy(&m, dt_emit_meta(c->e, dt_gin(c, 2)));
    DtHandle *g = EMIT("aten.take.default", "tt", GOUT, x);
    op_g_set(c, 2, EMIT("aten.view.default", "tI", g, (int)m.ndim, m.shape));
  }
  return op_g_finish(c);
}

/* ---- index_copy ---- */

/* The sizes but that of dim d: "3 2", in propagation "torch.Size([3, 2])". */
static OpText slice_text (const DtMetaCall *c, const DtMeta *m, int d) {
  DtMeta rest;
  OpText r;
  size_t k = 0;
  dt_meta_copy(&rest, m);
  rest.ndim = 0;
  for (int i = 0; i < m->ndim; i++)
    if (i != d) rest.shape[rest.ndim++] = m->shape[i];
  if (c->fake) return op_size_text(c, &rest);
  r.s[0] = '\0';
  for (int i = 0; i < rest.ndim && k + 32 < sizeof r.s; i++)
    k += (size_t)snprintf(r.s + k, sizeof r.s - k, "%s%lld", k ? " " : "",
                          (long long)rest.shape[i]);
  return r;
}

/* Propagation checks as torch/_decomp/decompositions.py:_index_copy, execution
** as native/TensorAdvancedIndexing.cpp:index_copy; classes of errors and the
** texts of shapes differ. */
static DtStatus icopy_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0], *x = dt_in(c, 2), *s = dt_in(c, 3);
  int d, n = s->ndim;
  int64_t k = dt_meta_numel(x), have;
  bool ok = true;
  DtStatus wrong = c->fake ? DT_E_RUNTIME : DT_E_INDEX;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, m->ndim, &d));
  DT_CHECK(c->cx, !c->fake || m->ndim > 0 || n <= 1, DT_E_RUNTIME,
           "index_copy_(): Source/destination tensor must have same slice "
           "shapes. Destination slice shape: () at dimension 0 and source "
           "slice shape: torch.Size(%s) at dimension 0.",
           n > 1 ? op_ints_text(n - 1, s->shape + 1).s : "");
  DT_CHECK(c->cx, x->ndim <= 1, wrong, "%sIndex should have dimension 1 or 0 "
           "(got %d)", c->fake ? "" : "index_copy_(): ", x->ndim);
  DT_CHECK(c->cx, n > 0 || k == 1, wrong, "index_copy_(): When source is "
           "scalar, index should have one element (got %lld)", (long long)k);
  DT_CHECK(c->cx, n == m->ndim || n == 0 || m->ndim == 0, wrong,
           "index_copy_(): When source and destination are not scalars, their "
           "dimensionality must match. Source dimensionality (%d), "
           "destination dimensionality (%d)", n, m->ndim);
  DT_CHECK(c->cx, x->dtype == DT_I64 || c->fake, DT_E_RUNTIME,
           "index_copy_(): Expected a "
           "long tensor for index, but got %s",
           op_dtype_word((DtDtype)x->dtype));
  DT_CHECK(c->cx, s->dtype == m->dtype, DT_E_RUNTIME, "index_copy_(): self and "
           "source expected to have the same dtype, but got (self) %s and "
           "(source) %s", op_dtype_word((DtDtype)m->dtype),
           op_dtype_word((DtDtype)s->dtype));
  for (int i = 0; n == m->ndim && i < n; i++)
    ok &= i == d || s->shape[i] == m->shape[i];
  OpText into = slice_text(c, m, d), from = slice_text(c, s, d);
  DT_CHECK(c->cx, ok, DT_E_RUNTIME, "index_copy_(): Source/destination tensor "
           "must have same slice shapes. Destination slice shape: %s at "
           "dimension %d and source slice shape: %s at dimension 0.",
           into.s, d, from.s);
  have = n ? s->shape[d < n ? d : 0] : 1;
  DT_CHECK(c->cx, n == 0 || k == have, wrong, "index_copy_(): Number of "
           "indices (%lld) should be equal to source.size(dim) (%lld)",
           (long long)k, (long long)have);
  return op_meta_plain(c);
}
static DtStatus icopy_kernel (DtKernelCall *c) {
  int d;
  if (c->out[0] != c->in[0]) DT_TRY(c->cx, op_k_copy0(c));
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->m.ndim, &d));
  return dt_k_index_copy(c->cx, c->out[0], d, dt_kin(c, 2), dt_kin(c, 3));
}
static DtStatus icopy_decomp (DtDecompCall *c) {
  DtHandle *at[DT_MAX_NDIM], *h = c->in[0];
  int d, nd = dt_emit_meta(c->e, h)->ndim;
  bool inplace = (c->op->flags & DT_OP_INPLACE) != 0;
  const char *op = inplace ? "aten.index_put_.default"
                           : "aten.index_put.default";
  DT_TRY(c->e->cx, op_dim(c->e->cx, c->args, 1, nd, &d));
  if (nd == 0) h = EMIT("aten.unsqueeze.default", "ti", h, (int64_t)0);
  for (int i = 0; i < d; i++) at[i] = NULL;
  at[d] = dt_hin(c, 2);
  h = EMIT(op, "tTt", h, d + 1, at, dt_hin(c, 3));
  if (nd == 0)
    h = inplace ? c->in[0] : EMIT("aten.squeeze.dim", "ti", h, (int64_t)0);
  c->out[0] = h;
  c->nout = 1;
  return c->e->st;
}
static DtStatus icopy_grad (DtGradCall *c) {
  DtHandle *x = dt_gin(c, 2);
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.index_fill.int_Scalar", "tvti", GOUT,
                        c->args->v[1], x,
                        (int64_t)0));
  if (op_g_need(c, 3)) {
    DtMeta m;
    dt_meta_copy(&m, dt_emit_meta(c->e, dt_gin(c, 3)));
    if (m.ndim == 0) x = EMIT("aten.squeeze.dim", "ti", x, (int64_t)0);
    DtHandle *g = EMIT("aten.index_select.default", "tvt", GOUT, c->args->v[1],
                       x);
    if (m.ndim > 0) g = op_g_expand(c->e, g, &m);
    op_g_set(c, 3, g);
  }
  return op_g_finish(c);
}

/* ---- scatter_reduce ---- */

static const char *const sr_names[] = { "sum", "prod", "mean", "amax", "amin",
                                        "max", "min" };
enum { SR_NAMES = 7 };

static DtStatus sreduce_meta (DtMetaCall *c) {
  int d;
  const DtMeta *m = c->in[0], *x = dt_in(c, 2), *s = dt_in(c, 3);
  const char *how = dt_arg_str(c->args, 4);
  bool known = false;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, m->ndim, &d));
  for (int i = 0; i < SR_NAMES; i++) known |= strcmp(sr_names[i], how) == 0;
  DT_CHECK(c->cx, known, DT_E_RUNTIME, "reduce argument must be either sum, "
           "prod, mean, amax or amin, got %s", how);
  DT_CHECK(c->cx, x->dtype == DT_I64 || x->dtype == DT_I32, DT_E_RUNTIME,
           "scatter(): Expected dtype int32/int64 for index");
  DT_CHECK(c->cx, s->dtype == m->dtype, DT_E_RUNTIME,
           "scatter(): Expected self.dtype to be equal to src.dtype");
  DT_TRY(c->cx, op_scatter_fits(c, d, x, s));
  return op_meta_plain(c);
}
static DtStatus sreduce_kernel (DtKernelCall *c) {
  static const DtScatter f[] = { DT_SC_ADD, DT_SC_MUL, DT_SC_ADD, DT_SC_MAX,
                                 DT_SC_MIN, DT_SC_MAX, DT_SC_MIN };
  const char *how = dt_arg_str(c->args, 4);
  int d, k = 0;
  while (strcmp(sr_names[k], how) != 0) k++;
  if (c->out[0] != c->in[0]) DT_TRY(c->cx, op_k_copy0(c));
  if (dt_meta_numel(&dt_kin(c, 2)->m) == 0) return DT_OK;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->m.ndim, &d));
  DtReduceHow into = { f[k], k == 2, dt_arg_bool(c->args, 5) };
  return dt_k_scatter_reduce(c->cx, into, c->out[0], d, dt_kin(c, 2),
                             dt_kin(c, 3));
}

static DtHandle *gather (DtGradCall *c, DtHandle *h) {
  return EMIT("aten.gather.default", "tvt", h, c->args->v[1], dt_gin(c, 2));
}
static DtHandle *add_at (DtGradCall *c, DtHandle *to, DtHandle *h) {
  return EMIT("aten.scatter_add.default", "tvtt", to, c->args->v[1],
              dt_gin(c, 2), h);
}
static DtHandle *as_type (DtGradCall *c, DtHandle *h, DtDtype t) {
  return EMIT("aten._to_copy.default", "t dtype=d", h, (int)t);
}

static void sreduce_mean (DtGradCall *c, DtHandle **gs, DtHandle **gx) {
  bool self = dt_arg_bool(c->args, 5);
  DtHandle *n = EMIT(self ? "aten.ones_like.default" : "aten.zeros_like.default",
                     "t", GOUT);
  DtHandle *z = EMIT("aten.ones_like.default", "t", dt_gin(c, 3));
  n = add_at(c, n, z);
  z = EMIT("aten.eq.Scalar", "ti", n, (int64_t)0);
  n = EMIT("aten.masked_fill_.Scalar", "tti", n, z, (int64_t)1);
  *gs = EMIT("aten.div.Tensor", "tt", GOUT, n);
  z = gather(c, GOUT);
  n = gather(c, n);
  *gx = EMIT("aten.div.Tensor", "tt", z, n);
}

static void sreduce_extreme (DtGradCall *c, DtHandle **gs, DtHandle **gx) {
  DtDtype t = (DtDtype)dt_emit_meta(c->e, IN)->dtype;
  DtHandle *o = c->out[0], *v = gather(c, o), *a, *b, *n;
  a = as_type(c, EMIT("aten.eq.Tensor", "tt", IN, o), t);
  b = as_type(c, EMIT("aten.eq.Tensor", "tt", dt_gin(c, 3), v), t);
  n = add_at(c, a, b);
  n = EMIT("aten.div.Tensor", "tt", GOUT, n);
  a = EMIT("aten.eq.Tensor", "tt", IN, o);
  *gs = EMIT("aten.mul.Tensor", "tt", a, n);
  n = gather(c, n);
  b = EMIT("aten.eq.Tensor", "tt", dt_gin(c, 3), v);
  *gx = EMIT("aten.mul.Tensor", "tt", b, n);
}

/* Products: what is left without one factor, zeros counted apart. */
static void sreduce_prod (DtGradCall *c, DtHandle **gs, DtHandle **gx) {
  DtHandle *s = dt_gin(c, 3), *x = IN, *z, *m, *r, *one, *n;
  DtDtype t = (DtDtype)dt_emit_meta(c->e, x)->dtype;
  const DtValue dim = c->args->v[1], self = c->args->v[5];
  z = EMIT("aten.eq.Scalar", "ti", x, (int64_t)0);
  m = EMIT("aten.masked_fill.Scalar", "tti", x, z, (int64_t)1);
  r = EMIT("aten.scatter_reduce.two", "tvtts include_self=v", m, dim,
           dt_gin(c, 2), s, "prod", self);
  r = EMIT("aten.mul.Tensor", "tt", GOUT, r);
  *gs = EMIT("aten.div.Tensor", "tt", r, m);
  z = EMIT("aten.eq.Scalar", "ti", s, (int64_t)0);
  n = EMIT("aten.zeros_like.default", "t", x);
  n = add_at(c, n, as_type(c, z, t));
  n = gather(c, n);
  one = EMIT("aten.eq.Scalar", "ti", n, (int64_t)1);
  one = EMIT("aten.bitwise_and.Tensor", "tt", z, one);
  r = EMIT("aten.masked_fill.Scalar", "tti", s, one, (int64_t)1);
  r = EMIT("aten.scatter_reduce.two", "tvtts include_self=v", x, dim,
           dt_gin(c, 2), r, "prod", self);
  m = EMIT("aten.masked_fill.Scalar", "tti", s, z, (int64_t)1);
  n = EMIT("aten.mul.Tensor", "tt", GOUT, c->out[0]);
  n = gather(c, n);
  n = EMIT("aten.div.Tensor", "tt", n, m);
  r = EMIT("aten.mul.Tensor", "tt", GOUT, r);
  r = gather(c, r);
  *gx = EMIT("aten.where.self", "ttt", one, r, n);
}

static DtStatus sreduce_grad (DtGradCall *c) {
  const char *how = dt_arg_str(c->args, 4);
  DtHandle *gs = NULL, *gx = NULL;
  if (strcmp(how, "sum") == 0) {
    gs = GOUT;
    if (op_g_need(c, 3)) gx = gather(c, GOUT);
  } else if (strcmp(how, "mean") == 0) {
    sreduce_mean(c, &gs, &gx);
  } else if (strcmp(how, "prod") == 0) {
    sreduce_prod(c, &gs, &gx);
  } else {
    sreduce_extreme(c, &gs, &gx);
  }
  if (!dt_arg_bool(c->args, 5) && op_g_need(c, 0))
    gs = EMIT("aten.scatter.value", "tvti", gs, c->args->v[1], dt_gin(c, 2),
              (int64_t)0);
  op_g_set(c, 0, gs);
  op_g_set(c, 3, gx);
  return op_g_finish(c);
}

/* ---- searchsorted ---- */

/* searchsorted: the checks are in PyTorch's order (BucketizationUtils.h); a
** real call with several faults raises the first of them. */
static DtStatus search_meta (DtMetaCall *c) {
  const DtMeta *b = c->in[0], *v = dt_in(c, 1), *s = dt_in(c, 5);
  const char *side = dt_arg_is_none(c->args, 4) ? NULL
                                                : dt_arg_str(c->args, 4);
  bool ok = b->ndim == 1 || b->ndim == v->ndim;
  for (int i = 0; ok && b->ndim > 1 && i + 1 < b->ndim; i++)
    ok = b->shape[i] == v->shape[i];
  DT_CHECK(c->cx, !side || strcmp(side, "left") == 0 ||
           strcmp(side, "right") == 0, DT_E_RUNTIME, "torch.searchsorted(): "
           "side can only be 'left' or 'right' but got %s", side);
  DT_CHECK(c->cx, !side || !dt_arg_bool(c->args, 3) ||
           strcmp(side, "right") == 0, DT_E_RUNTIME, "torch.searchsorted(): "
           "side and right can't be set to opposites, got side of left while "
           "right was True");
  DT_CHECK(c->cx, !s || dt_meta_same_shape(s, b), DT_E_RUNTIME,
           "torch.searchsorted(): boundary and sorter must have the same size, "
           "but got boundary tensor %s and got sorter tensor %s",
           op_shape_text(b).s, op_shape_text(s).s);
  DT_CHECK(c->cx, !s || s->dtype == DT_I64, DT_E_RUNTIME,
           "torch.searchsorted(): sorter must be a tensor of long dtype but "
           "got dtype %s", op_dtype_word((DtDtype)(s ? s->dtype : DT_I64)));
  DT_CHECK(c->cx, c->fake || b->ndim > 0, DT_E_RUNTIME, "torch.searchsorted(): boundaries "
           "tensor should have positive dimension, but got 0 dimension");
  DT_CHECK(c->cx, ok || (c->fake && b->ndim == 0), DT_E_RUNTIME,
           "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
           "tensor and input value tensor must match, but we got boundaries "
           "tensor %s and input value tensor %s", op_shape_text(b).s,
           op_shape_text(v).s);
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], dt_arg_bool(c->args, 2) ? DT_I32
                     : DT_I64, v->ndim, v->shape, v);
}
static DtStatus search_kernel (DtKernelCall *c) {
  bool right = dt_arg_bool(c->args, 3) ||
               (!dt_arg_is_none(c->args, 4) &&
                strcmp(dt_arg_str(c->args, 4), "right") == 0);
  return dt_k_bucket(c->cx, dt_kin(c, 1), c->in[0], dt_kin(c, 5), right,
                     c->out[0]);
}

/* ---- samples and definitions ---- */

static const char *const mask_samples[] = { "f32[8, 6], bool[8, 6]", NULL };
static const char *const mscatter_samples[] = {
  "f32[4], bool[4], f32[4]", NULL
};
static const char *const mback_samples[] = { "f32[4], bool[4], [4]", NULL };
static const char *const put_samples[] = { "f32[8, 6], i64[4], f32[4]", NULL };
static const char *const icopy_samples[] = {
  "f32[8, 6], 0, i64[4], f32[4, 6]", "f32[7, 5], 1, i64[3], f32[7, 3]", NULL
};
static const char *const sreduce_samples[] = {
  "f32[8, 6], 0, i64[4, 6], f32[4, 6], \"sum\"",
  "f32[7, 5], 1, i64[7, 3], f32[7, 3], \"amax\"", NULL
};
static const char *const search_samples[] = { "f32[4], f32[8, 6]", NULL };
static const char *const count_samples[] = { "i64[8]", NULL };
static const char *const static_samples[] = {
  "f32[4, 6], size=7", "bool[3], size=9, fill_value=-2", NULL
};

#define DATA (DT_OP_DATADEP | DT_OP_NOSTRATEGY)
OP_DEF(nonzero, "aten::nonzero(Tensor self) -> Tensor",
       "Places of the elements that are not 0.", DATA | DT_OP_NOGRAD, NULL,
       nonzero_kernel, NULL, op_samples_unary, .row = NULL);
OP_DEF(nonzero_static, "aten::nonzero_static(Tensor self, *, SymInt size, int "
       "fill_value=-1) -> Tensor", "As many places of elements that are not 0 "
       "as are asked for.", DT_OP_NOSTRATEGY | DT_OP_NOGRAD,
       nonzero_static_meta, nonzero_static_kernel, NULL, static_samples,
       .row = NULL);
OP_DEF(masked_select, "aten::masked_select(Tensor self, Tensor mask) -> Tensor",
       "The elements where a mask is true.", DATA, NULL, select_kernel,
       select_grad, mask_samples, .row = NULL);
OP_DEF(_unique2, "aten::_unique2(Tensor self, bool sorted=True, bool "
       "return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, "
       "Tensor)", "Distinct elements, their places and counts.",
       DATA, NULL, unique_kernel, unique_grad, op_samples_unary,
       .row = NULL);
OP_DEF(_unique, "aten::_unique(Tensor self, bool sorted=True, bool "
       "return_inverse=False) -> (Tensor, Tensor)",
       "Distinct elements and their places.", DATA, NULL, unique_kernel,
       unique_grad, op_samples_unary, .row = NULL);
OP_DEF(bincount, "aten::bincount(Tensor self, Tensor? weights=None, SymInt "
       "minlength=0) -> Tensor", "How often each small integer stands there.",
       DATA | DT_OP_NOGRAD, NULL, bincount_kernel, NULL, count_samples,
       .row = NULL);
OP_DEF(masked_scatter, "aten::masked_scatter(Tensor self, Tensor mask, Tensor "
       "source) -> Tensor", "A copy with elements of source, in order, where "
       "a mask is true.", DT_OP_NOSTRATEGY, mscatter_meta, mscatter_kernel,
       mscatter_grad, mscatter_samples, .row = NULL);
/* Back at the places, 0 elsewhere. */
static DtStatus mback_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten.masked_scatter.default", "ttt",
                      zeros_of(c, TENSOR(0)), TENSOR(1), GOUT));
  return op_g_finish(c);
}

OP_DEF(masked_scatter_backward, "aten::masked_scatter_backward(Tensor "
       "grad_output, Tensor mask, SymInt[] sizes) -> Tensor",
       "Gradient of masked_scatter for its source.", DT_OP_NOSTRATEGY,
       mback_meta, mback_kernel, mback_grad, mback_samples, .row = NULL);
OP_DEF(put, "aten::put(Tensor self, Tensor index, Tensor source, bool "
       "accumulate=False) -> Tensor", "A copy with elements written at places "
       "of the flattened tensor.", DT_OP_NOSTRATEGY, put_meta, put_kernel,
       put_grad, put_samples, .row = NULL);
OP_DEF(index_copy, "aten::index_copy(Tensor self, int dim, Tensor index, "
       "Tensor source) -> Tensor", "A copy with slices written at a vector of "
       "indices.", 0, icopy_meta, icopy_kernel, icopy_grad, icopy_samples,
       .decomp = icopy_decomp);
OP_DEF(index_copy_, "aten::index_copy_(Tensor(a!) self, int dim, Tensor index, "
       "Tensor source) -> Tensor(a!)", "Slices written at a vector of "
       "indices, in place.", DT_OP_INPLACE, icopy_meta, icopy_kernel,
       icopy_grad, icopy_samples, .decomp = icopy_decomp);
OP_DEF(scatter_reduce_two, "aten::scatter_reduce.two(Tensor self, int dim, "
       "Tensor index, Tensor src, str reduce, *, bool include_self=True) -> "
       "Tensor", "A copy with elements reduced at an index.",
       DT_OP_NOSTRATEGY | DT_OP_SAVE_OUT, sreduce_meta, sreduce_kernel,
       sreduce_grad, sreduce_samples, .row = NULL);
OP_DEF(searchsorted_Tensor, "aten::searchsorted.Tensor(Tensor sorted_sequence, "
       "Tensor self, *, bool out_int32=False, bool right=False, str? "
       "side=None, Tensor? sorter=None) -> Tensor",
       "Where values belong in a sorted sequence.",
       DT_OP_NOSTRATEGY | DT_OP_NOGRAD, search_meta, search_kernel, NULL,
       search_samples, .row = NULL);
