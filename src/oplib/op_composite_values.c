/* SPDX-License-Identifier: MIT
** oplib/op_composite_values.c: public functions whose calls depend on values or
** that pick by index: one_hot, combinations, vander, pdist; and promote_types,
** which vander asks.
**
** one_hot reads its input where it can: a plain tensor's largest value is the
** number of classes and its smallest is checked, as PyTorch does.  A tensor
** that is distributed or has no data is compared with the class numbers, and
** only asked for its largest when the classes are not given. */
#include "oplib/oplib_int.h"
#include "oplib/second.h"
#include "oplib/ruling_int.h"
#include "oplib/emitting.h"
#include "oplib/op_unwritten.h"

#include <math.h>
#include <string.h>

/* ---- one_hot ---- */

static DtHandle *compare_classes (DtDecompCall *c, int64_t n) {
  DtHandle *r = EMIT("aten.arange.default", "i dtype=d", n, (int)DT_I64);
  DtHandle *x = EMIT("aten.unsqueeze.default", "ti", c->in[0], (int64_t)-1);
  x = EMIT("aten.eq.Tensor", "tt", x, r);
  return EMIT("aten._to_copy.default", "t dtype=d", x, (int)DT_I64);
}

/* The shape of the result: a dim of n more. */
static int with_classes (const DtMeta *m, int64_t n, int64_t *shape) {
  memcpy(shape, m->shape, sizeof *shape * m->ndim);
  shape[m->ndim] = n;
  return m->ndim + 1;
}

static DtStatus one_hot_read (DtDecompCall *c, const DtMeta *m, int64_t n) {
  DtHandle *ends[2], *r, *x;
  int64_t low, high, shape[DT_MAX_NDIM + 1];
  dt_emit_n(c->e, "aten.aminmax.default", ends, 2, "t", c->in[0]);
  DT_TRY(CX, dt_emit_item(c->e, ends[0], &low));
  DT_CHECK(CX, low >= 0, DT_E_RUNTIME, "Class values must be non-negative.");
  DT_TRY(CX, dt_emit_item(c->e, ends[1], &high));
  DT_CHECK(CX, n == -1 || high < n, DT_E_RUNTIME,
           "Class values must be smaller than num_classes.");
  int nd = with_classes(m, n == -1 ? high + 1 : n, shape);
  r = EMIT("aten.zeros.default", "I dtype=d", nd, shape, (int)DT_I64);
  x = EMIT("aten.unsqueeze.default", "ti", c->in[0], (int64_t)-1);
  return finish(c, EMIT("aten.scatter_.value", "titi", r, (int64_t)-1, x,
                        (int64_t)1));
}

static DtStatus one_hot_decomp (DtDecompCall *c) {
  int64_t n = dt_arg_int(c->args, 1), high, shape[DT_MAX_NDIM + 1];
  DtMeta m = meta_of(c, c->in[0]);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.dtype == DT_I64, DT_E_RUNTIME, "one_hot is only applicable "
           "to index tensor of type LongTensor.");
  DT_CHECK(CX, m.ndim < DT_MAX_NDIM, DT_E_LIMIT, "at most %d dimensions",
           DT_MAX_NDIM);
  if (dt_meta_numel(&m) == 0) {
    DT_CHECK(CX, n > 0, DT_E_RUNTIME, "Can not infer total number of classes "
             "from empty tensor.");
    if (!c->e->vt->is_dist(c->e, c->in[0]) && !c->e->pretend)
      return finish(c, EMIT("aten.empty.memory_format", "I dtype=d",
                            with_classes(&m, n, shape), shape, (int)DT_I64));
  } else if (dt_emit_has_data(c->e, c->in[0]) &&
             !c->e->vt->is_dist(c->e, c->in[0])) {
    return one_hot_read(c, &m, n);
  }
  if (n == -1) {
    DT_TRY(CX, dt_emit_item(c->e, EMIT("aten.max.default", "t", c->in[0]),
                            &high));
    n = high + 1;
  }
  DT_CHECK(CX, n > 0, DT_E_RUNTIME,
           "Class values must be smaller than num_classes.");
  return finish(c, compare_classes(c, n));
}

/* ---- combinations ---- */

/* meshgrid of n times x: x along dim i, as a view. */
static DtHandle *grid (DtDecompCall *c, DtHandle *x, int n, int i,
                       int64_t size) {
  int64_t shape[DT_MAX_NDIM], full[DT_MAX_NDIM];
  for (int k = 0; k < n; k++) {
    shape[k] = k == i ? -1 : 1;
    full[k] = size;
  }
  x = EMIT("aten.view.default", "tI", x, n, shape);
  return EMIT("aten.expand.default", "tI", x, n, full);
}

/* Which tuples of positions count: each index less than the next one, or not
** greater. */
static DtHandle *ordered_tuples (DtDecompCall *c, int n, int64_t size) {
  const char *less = dt_arg_bool(c->args, 2) ? "aten.le.Tensor"
                                             : "aten.lt.Tensor";
  DtHandle *place[DT_MAX_NDIM], *mask;
  int64_t full[DT_MAX_NDIM];
  DtHandle *index = EMIT("aten.arange.default", "i dtype=d", size,
                         (int)DT_I64);
  for (int i = 0; i < n; i++) {
    place[i] = grid(c, index, n, i, size);
    full[i] = size;
  }
  mask = EMIT("aten.full.default", "Ib dtype=d", n, full, 1, (int)DT_BOOL);
  for (int i = 0; i + 1 < n; i++)
    mask = EMIT("aten.mul_.Tensor", "tt", mask,
                EMIT(less, "tt", place[i], place[i + 1]));
  return mask;
}

static DtStatus check_combinations (DtDecompCall *c, const DtMeta *m,
                                    int64_t r) {
  DT_CHECK(CX, m->ndim == 1, DT_E_RUNTIME,
           "Expect a 1D vector, but got shape %s", op_shape_text(m).s);
  DT_CHECK(CX, r >= 0, DT_E_RUNTIME,
           "Expect a non-negative number, but got %lld", (long long)r);
  DT_CHECK(CX, r <= DT_MAX_NDIM, DT_E_LIMIT, "at most %d dimensions",
           DT_MAX_NDIM);
  return DT_OK;
}

static DtHandle *no_combination (DtDecompCall *c, const DtMeta *m) {
  int64_t zero = 0;
  return EMIT("aten.empty.memory_format", "I dtype=d", 1, &zero,
              (int)m->dtype);
}

static DtStatus combinations_decomp (DtDecompCall *c) {
  int64_t r = dt_arg_int(c->args, 1);
  DtHandle *part[DT_MAX_NDIM], *mask;
  DtMeta m = meta_of(c, c->in[0]);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_TRY(CX, check_combinations(c, &m, r));
  if (r == 0) return finish(c, no_combination(c, &m));
  int n = (int)r;
  for (int i = 0; i < n; i++) part[i] = grid(c, c->in[0], n, i, m.shape[0]);
  mask = ordered_tuples(c, n, m.shape[0]);
  for (int i = 0; i < n; i++)
    part[i] = EMIT("aten.masked_select.default", "tt", part[i], mask);
  return finish(c, EMIT("aten.stack.default", "Ti", n, part, (int64_t)1));
}

/* How many ways there are to choose k of n; 0 when k > n. */
static int64_t choose (int64_t n, int64_t k) {
  int64_t ways = k <= n;
  for (int64_t i = 1; i <= k; i++) ways = ways * (n - k + i) / i;
  return ways;
}

/* The later way knows how many there are, and indexes once. */
DtStatus op_rd_combinations (DtDecompCall *c) {
  int64_t r = dt_arg_int(c->args, 1), many;
  DtHandle *where;
  DtMeta m = meta_of(c, c->in[0]);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_TRY(CX, check_combinations(c, &m, r));
  if (r == 0) return finish(c, no_combination(c, &m));
  many = m.shape[0] + (dt_arg_bool(c->args, 2) ? r - 1 : 0);
  many = m.shape[0] == 0 ? 0 : choose(many, r);
  where = EMIT("aten.nonzero_static.default", "t size=i",
               ordered_tuples(c, (int)r, m.shape[0]), many);
  return finish(c, EMIT("aten.index.Tensor", "tT", c->in[0], 1, &where));
}

/* ---- vander ---- */

static DtStatus promote_kernel (DtKernelCall *c) {
  *c->ret = dt_v_dtype(dt_dtype_promote(dt_arg_dtype(c->args, 0),
                                        dt_arg_dtype(c->args, 1)));
  return DT_OK;
}

/* Column 0 is 1, each other one the column before times x. */
static DtStatus vander_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int64_t n, shape[2], one = 1;
  DtHandle *r, *x;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.ndim == 1, DT_E_RUNTIME,
           "x must be a one-dimensional tensor.");
  n = dt_arg_is_none(c->args, 1) ? m.shape[0] : dt_arg_int(c->args, 1);
  DT_CHECK(CX, n >= 0, DT_E_RUNTIME, "N must be non-negative.");
  dt_emit_n(c->e, "aten.promote_types.default", NULL, 0, "dd", (int)m.dtype,
            (int)DT_I64);
  shape[0] = m.shape[0];
  shape[1] = n;
  r = EMIT("aten.empty.memory_format", "I dtype=d", 2, shape,
           (int)dt_dtype_promote((DtDtype)m.dtype, DT_I64));
  if (n > 0) {
    x = EMIT("aten.select.int", "tii", r, one, (int64_t)0);
    (void)EMIT("aten.fill_.Scalar", "ti", x, one);
  }
  if (n > 1) {
    DtHandle *to = EMIT("aten.slice.Tensor", "tii", r, one, one);
    x = EMIT("aten.unsqueeze.default", "ti", c->in[0], one);
    (void)EMIT("aten.copy_.default", "tt", to, x);
    to = EMIT("aten.slice.Tensor", "tii", r, one, one);
    x = EMIT("aten.slice.Tensor", "tii", r, one, one);
    x = EMIT("aten.cumprod.default", "ti", x, one);
    (void)EMIT("aten.copy_.default", "tt", to, x);
  }
  if (!dt_arg_bool(c->args, 2)) r = EMIT("aten.flip.default", "tI", r, 1,
                                         &one);
  return finish(c, r);
}

/* ---- pdist ---- */

static DtStatus pdist_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.ndim == 2, DT_E_RUNTIME,
           "pdist only supports 2D tensors, got: %dD", m.ndim);
  DT_CHECK(CX, dt_dtype_is_float((DtDtype)m.dtype), DT_E_RUNTIME,
           "pdist only supports floating-point dtypes");
  DT_CHECK(CX, dt_arg_float(c->args, 1) >= 0, DT_E_RUNTIME,
           "pdist only supports non-negative p values");
  DtHandle *x = dt_meta_is_contiguous(&m) ? c->in[0]
                : EMIT("aten.clone.default", "t memory_format=v", c->in[0],
                       dt_v_code(DT_V_MEMFMT, 0));
  return finish(c, EMIT("aten._pdist_forward.default", "tv", x,
                        c->args->v[1]));
}

static int64_t pairs (int64_t n) {
  return n <= 1 ? 0 : (int64_t)((uint64_t)n * (uint64_t)(n - 1) / 2);
}

static DtStatus pdist_meta (DtMetaCall *c) {
  int64_t n;
  DT_CHECK(c->cx, dt_meta_is_contiguous(c->in[0]), DT_E_RUNTIME,
           "_pdist_forward requires contiguous input");
  for (int d = 0; d < 2; d++) DT_TRY(c->cx, op_has_dim(c->cx, c->in[0], d));
  n = pairs(c->in[0]->shape[0]);
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)c->in[0]->dtype, 1, &n,
                     c->in[0]);
}

static double distance (const double *a, const double *b, int64_t n,
                        double p) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) {
    double d = fabs(a[i] - b[i]);
    if (isinf(p)) sum = d > sum || isnan(d) ? d : sum;
    else if (p > 0) sum += p > 1 || p < 1 ? pow(d, p) : d;
    else sum += d < 0 || d > 0 || isnan(d);
  }
  return p > 0 && !isinf(p) && (p > 1 || p < 1) ? pow(sum, 1 / p) : sum;
}

/* What one difference has of the gradient of its distance. */
static double share (double d, double dist, double g, double p) {
  double sign = d > 0 ? 1 : d < 0 ? -1 : isnan(d) ? d : 0;
  bool same = !isnan(dist) && !(dist > 0);
  if (!(p > 0)) return 0;
  if (isinf(p))
    return isnan(dist) ? dist : sign * g * (fabs(d) < dist ? 0 : 1);
  if (!(p < 1) && !(p > 1)) return sign * g;
  if (same || (p < 1 && sign * sign < 1)) return 0;
  return sign * pow(fabs(d), p - 1) * g / pow(dist, p - 1);
}

/* A copy of t in doubles; caller unrefs. */
static DtStatus doubles (DtCtx *cx, const DtTensor *t, DtTensor **out,
                         double **data) {
  void *p;
  DT_TRY(cx, op_temp(cx, DT_F64, t->m.ndim, t->m.shape, out));
  DT_TRY(cx, dt_k_copy(cx, t, *out));
  DT_TRY(cx, dt_tensor_data(cx, *out, &p));
  *data = p;
  return DT_OK;
}

static DtStatus wide (DtCtx *cx, const char *name, const DtTensor *t) {
  DT_CHECK(cx, t->m.dtype == DT_F32 || t->m.dtype == DT_F64, DT_E_NOTIMPL,
           "\"%s\" not implemented for '%s'", name,
           op_dtype_word((DtDtype)t->m.dtype));
  return DT_OK;
}

static DtStatus pdist_kernel (DtKernelCall *c) {
  const DtTensor *in = c->in[0];
  int64_t n = in->m.shape[0], m = in->m.shape[1], at = 0;
  double p = dt_arg_float(c->args, 1), *x, *y;
  DtTensor *a = NULL, *b = NULL;
  DtStatus st;
  DT_TRY(c->cx, wide(c->cx, "pdist", in));
  if (n <= 1) return DT_OK;
  DT_TRYG(c->cx, doubles(c->cx, in, &a, &x));
  DT_TRYG(c->cx, op_temp(c->cx, DT_F64, 1, c->out[0]->m.shape, &b));
  void *data;
  DT_TRYG(c->cx, dt_tensor_data(c->cx, b, &data));
  y = data;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = i + 1; j < n; j++)
      y[at++] = distance(x + i * m, x + j * m, m, p);
  st = dt_k_copy(c->cx, b, c->out[0]);
done:
  dt_tensor_unref(c->cx, a);
  dt_tensor_unref(c->cx, b);
  return st;
}

static DtStatus pdist_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten._pdist_backward.default", "ttvt", c->gout[0],
                      c->in[0], c->args->v[1], c->out[0]));
  return op_g_finish(c);
}

/* (grad, self, p, pdist) */
static DtStatus pdist_back_meta (DtMetaCall *c) {
  const DtMeta *g = c->in[0], *x = dt_in(c, 1), *d = dt_in(c, 3);
  DT_CHECK(c->cx, x->ndim == 2 && g->ndim == 1 && d->ndim == 1 &&
           g->shape[0] == pairs(x->shape[0]) && g->shape[0] == d->shape[0],
           DT_E_RUNTIME, "_pdist_backward: gradient %s and distances %s do not "
           "fit", op_shape_text(g).s, op_shape_text(d).s);
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)x->dtype, 2, x->shape, x);
}

static DtStatus pdist_back_kernel (DtKernelCall *c) {
  const DtTensor *in = dt_kin(c, 1);
  int64_t n = in->m.shape[0], m = in->m.shape[1], at = 0;
  double p = dt_arg_float(c->args, 2), *g, *x, *d, *y;
  DtTensor *t[4] = { NULL, NULL, NULL, NULL };
  DtStatus st;
  DT_TRY(c->cx, wide(c->cx, "pdist_backward", in));
  DT_TRY(c->cx, dt_k_fill(c->cx, c->out[0], dt_scalar_int(0)));
  DT_TRYG(c->cx, doubles(c->cx, c->in[0], &t[0], &g));
  DT_TRYG(c->cx, doubles(c->cx, in, &t[1], &x));
  DT_TRYG(c->cx, doubles(c->cx, dt_kin(c, 3), &t[2], &d));
  DT_TRYG(c->cx, doubles(c->cx, c->out[0], &t[3], &y));
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = i + 1; j < n; j++, at++)
      for (int64_t k = 0; k < m; k++) {
        double diff = x[i * m + k] - x[j * m + k];
        if (in->m.dtype == DT_F32) diff = (float)diff;  /* as the distance is */
        double s = share(diff, d[at], g[at], p);
        y[i * m + k] += s;
        y[j * m + k] -= s;
      }
  st = dt_k_copy(c->cx, t[3], c->out[0]);
done:
  for (int i = 0; i < 4; i++) dt_tensor_unref(c->cx, t[i]);
  return st;
}

/* ---- samples and definitions ---- */

static const char *const one_hot_samples[] = { "i64[8], 6", "i64[0], 4", NULL };
static const char *const line_samples[] = { "f32[5]", "f32[4], 3", NULL };
static const char *const rows_samples[] = { "f32[5, 3]", "f32[4, 2], 1.5",
                                            NULL };
static const char *const back_samples[] = {
  "f32[10], f32[5, 3], 2.0, f32[10]", NULL
};
static const char *const type_samples[] = { NULL };

#define PUBLIC(id, schema_, brief_, flags_, samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, \
    .flags = DT_OP_COMPOSITE | (flags_), .decomp = id##_decomp, \
    .samples = samples_ }
PUBLIC(one_hot, "one_hot(Tensor self, int num_classes=-1) -> Tensor",
       "1 at each index, 0 elsewhere.", DT_OP_REPLICATES, one_hot_samples);
PUBLIC(combinations, "combinations(Tensor self, int r=2, bool "
       "with_replacement=False) -> Tensor",
       "Every choice of r elements, one a row.", 0, line_samples);
PUBLIC(vander, "vander(Tensor x, int? N=None, bool increasing=False) -> "
       "Tensor", "Powers of the elements, one power a column.", 0,
       line_samples);
PUBLIC(pdist, "pdist(Tensor self, float p=2.) -> Tensor",
       "Distances between all rows.", 0, rows_samples);
OP_DEF(promote_types, "aten::promote_types(ScalarType type1, ScalarType type2) "
       "-> ScalarType", "The smallest type both fit in.",
       DT_OP_FACTORY | DT_OP_NOGRAD, op_meta_scalar, promote_kernel, NULL,
       type_samples, .row = NULL);
OP_DEF(_pdist_forward, "aten::_pdist_forward(Tensor self, float p=2.) -> "
       "Tensor", "Distances between all rows of a matrix.",
       DT_OP_NOSTRATEGY | DT_OP_SAVE_OUT, pdist_meta, pdist_kernel, pdist_grad,
       rows_samples, .row = NULL);
OP_DEF(_pdist_backward, "aten::_pdist_backward(Tensor grad, Tensor self, float "
       "p, Tensor pdist) -> Tensor", "Gradient of _pdist_forward.",
       DT_OP_NOSTRATEGY, pdist_back_meta, pdist_back_kernel,
       op_gg_pdist_backward, back_samples, .row = NULL);
