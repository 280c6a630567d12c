/* SPDX-License-Identifier: MIT
** oplib/op_segment.c: reductions of runs of elements along one dim, whose lengths
** or ends another tensor gives.  PyTorch has no strategy for it.
**
** Elements are combined one after the other, each result held in the data's
** type, as PyTorch's loop does. */
#include <math.h>
#include <string.h>
#include "base/sat.h"
#include "oplib/op_unwritten.h"

typedef enum Kind { SUM, PROD, MEAN, MAX, MIN, NONE_OF_THEM } Kind;

static Kind kind_of (const DtOpDef *op, const DtArgs *a) {
  static const struct { const char *name; Kind kind; } names[] = {
    { "sum", SUM }, { "prod", PROD }, { "mean", MEAN }, { "max", MAX },
    { "amax", MAX }, { "min", MIN }, { "amin", MIN }
  };
  const char *s = dt_arg_str(a, dt_schema_arg(op->sig, "reduce"));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i].name, s) == 0) return names[i].kind;
  return NONE_OF_THEM;
}

/* Where an argument stands, or -1 where the call has none or None. */
static int given_at (const DtOpDef *op, const DtArgs *a, const char *name) {
  int i = dt_schema_arg(op->sig, name);
  return i < 0 || dt_arg_is_none(a, i) ? -1 : i;
}

/* ---- what the call says ---- */

typedef struct Segments {
  DtTensor *data, *ends;        /* data in f64; lengths or offsets in i64 */
  bool offsets;
  int64_t outer, len, inner, n; /* n: segments of each outer row */
  Kind kind;
  DtDtype type;
  double initial;
  bool has_initial;
} Segments;

static double start_of (Kind k) {
  switch (k) {
    case PROD: return 1;
    case MAX: return -INFINITY;
    case MIN: return INFINITY;
    default: return 0;
  }
}

static DtStatus check_ends (DtMetaCall *c, const DtMeta *data, const DtMeta *ends,
                            const char *name, int axis) {
  DT_CHECK(c->cx, data->ndim >= ends->ndim, DT_E_RUNTIME, "Expected "
           "data.dim() >= %s_value.dim() to be true, but got false.  (Could this "
           "error message be improved?  If so, please report an enhancement "
           "request to PyTorch.)", name);
  DT_CHECK(c->cx, axis == ends->ndim - 1, DT_E_RUNTIME, "segment_reduce(): "
           "Expected axis to be the last dimension of %s but got %d.", name,
           axis);
  /* PyTorch asks nothing here and reads memory of others. */
  for (int d = 0; d < axis; d++)
    DT_CHECK(c->cx, ends->shape[d] == data->shape[d], DT_E_LIMIT,
             "segment_reduce(): %s must have as many rows as data: expected size "
             "%lld in dimension %d but got %lld", name, (long long)data->shape[d],
             d, (long long)ends->shape[d]);
  return DT_OK;
}

/* The shape of what the segments of `m` become. */
static DtStatus result_shape (DtMetaCall *c, const DtMeta *m, int64_t *shape) {
  int off = given_at(c->op, c->args, "offsets");
  int len = given_at(c->op, c->args, "lengths"), axis;
  DT_TRY(c->cx, op_dim(c->cx, c->args, dt_schema_arg(c->op->sig, "axis"), m->ndim,
                       &axis));
  DT_CHECK(c->cx, given_at(c->op, c->args, "indices") < 0, DT_E_RUNTIME,
           "segment_reduce(): indices based reduction is not supported yet.");
  DT_CHECK(c->cx, off >= 0 || len >= 0, DT_E_RUNTIME,
           "segment_reduce(): Either lengths or offsets must be defined.");
  DT_CHECK(c->cx, kind_of(c->op, c->args) != NONE_OF_THEM, DT_E_RUNTIME,
           "reduce argument must be either sum, prod, mean, amax or amin, got %s",
           dt_arg_str(c->args, dt_schema_arg(c->op->sig, "reduce")));
  const DtMeta *ends = dt_in(c, off >= 0 ? off : len);
  DT_TRY(c->cx, check_ends(c, m, ends, off >= 0 ? "offsets" : "lengths", axis));
  memcpy(shape, m->shape, sizeof *shape * (size_t)m->ndim);
  shape[axis] = ends->shape[axis] - (off >= 0);
  return DT_OK;
}

static DtStatus seg_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  int64_t shape[DT_MAX_NDIM];
  DT_TRY(c->cx, result_shape(c, m, shape));
  return op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, m->ndim, shape, m);
}

static DtStatus held_as (DtCtx *cx, DtDtype t, const DtTensor *x,
                         DtTensor **out) {
  DT_TRY(cx, op_temp(cx, t, x->m.ndim, x->m.shape, out));
  return dt_k_copy(cx, x, *out);
}

/* Lengths that are negative or do not fill the dim, unless the call is unsafe. */
static DtStatus check_lengths (DtKernelCall *c, const Segments *s) {
  const int64_t *v = dt_tensor_cdata(s->ends);
  int at = dt_schema_arg(c->op->sig, "unsafe");
  bool fills = true;
  if (s->offsets || at < 0 || dt_arg_bool(c->args, at)) return DT_OK;
  DT_CHECK(c->cx, s->outer * s->n > 0, DT_E_RUNTIME, "min(): Expected reduction "
           "dim to be specified for input.numel() == 0. Specify the reduction dim "
           "with the 'dim' argument.");
  for (int64_t i = 0; i < s->outer * s->n; i++)
    DT_CHECK(c->cx, v[i] >= 0, DT_E_RUNTIME, "lengths contains negative value!");
  for (int64_t o = 0; o < s->outer; o++) {
    int64_t sum = 0;
    for (int64_t i = 0; i < s->n; i++)
      sum = dt_sat_add(sum, v[o * s->n + i]);
    fills &= sum == s->len;
  }
  DT_CHECK(c->cx, fills, DT_E_RUNTIME, "segment_reduce(): Expected all rows of "
           "lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe.");
  return DT_OK;
}

/* Read a call whose data is `data`; seg_fini() after it, also when it failed. */
static DtStatus seg_read (DtKernelCall *c, const DtTensor *data, Segments *s) {
  const DtMeta *m = &data->m;
  int off = given_at(c->op, c->args, "offsets");
  int init = given_at(c->op, c->args, "initial"), axis;
  const DtTensor *ends = dt_kin(c, off >= 0 ? off
                                   : given_at(c->op, c->args, "lengths"));
  DtDtype index = (DtDtype)ends->m.dtype;
  memset(s, 0, sizeof *s);
  s->type = (DtDtype)m->dtype;
  s->offsets = off >= 0;
  s->kind = kind_of(c->op, c->args);
  s->has_initial = init >= 0;
  s->initial = init >= 0 ? op_held(s->type, dt_arg_float(c->args, init))
                         : start_of(s->kind);
  axis = ends->m.ndim - 1;
  s->outer = s->inner = 1;
  for (int d = 0; d < m->ndim; d++)
    if (d != axis) *(d < axis ? &s->outer : &s->inner) *= m->shape[d];
  s->len = m->shape[axis];
  s->n = ends->m.shape[axis] - s->offsets;
  DT_TRY(c->cx, held_as(c->cx, DT_I64, ends, &s->ends));
  DT_TRY(c->cx, check_lengths(c, s));
  DT_CHECK(c->cx, index == DT_I64 || index == DT_I32, DT_E_NOTIMPL,
           "\"_segment_reduce_%s_cpu_kernel1\" not implemented for '%s'",
           s->offsets ? "offsets" : "lengths", dt_dtype_word(index));
  DT_CHECK(c->cx, !dt_dtype_is_integral(s->type, true) &&
           !dt_dtype_is_complex(s->type), DT_E_NOTIMPL,
           "\"_segment_reduce_cpu\" not implemented for '%s'",
           dt_dtype_word(s->type));
  if (init >= 0)
    DT_TRY(c->cx, op_number_fits(c->cx, dt_arg_scalar(c->args, init), s->type));
  return held_as(c->cx, DT_F64, data, &s->data);
}

static void seg_fini (DtCtx *cx, Segments *s) {
  dt_tensor_unref(cx, s->data);
  dt_tensor_unref(cx, s->ends);
}

/* From where to where segment i of row o goes, along the dim; nothing beyond it,
** whatever an unsafe call says.  `to` is where the segment before it ended. */
static void bounds (const Segments *s, int64_t o, int64_t i, int64_t *from,
                    int64_t *to) {
  const int64_t *v = dt_tensor_cdata(s->ends);
  if (s->offsets) {
    v += o * (s->n + 1);
    *from = v[i];
    *to = v[i + 1];
  } else {
    *from = i == 0 ? 0 : *to;
    *to = dt_sat_add(*from, v[o * s->n + i]);
  }
  *from = *from < 0 ? 0 : *from > s->len ? s->len : *from;
  *to = *to < *from ? *from : *to > s->len ? s->len : *to;
}

/* ---- forward ---- */

static double combined (const Segments *s, double a, double x) {
  switch (s->kind) {
    case PROD: return op_held(s->type, a * x);
    case MAX: return x != x || a < x ? x : a;
    case MIN: return x != x || x < a ? x : a;
    default: return op_held(s->type, a + x);
  }
}

static double reduced (const Segments *s, const double *x, int64_t n) {
  double a = s->initial;
  for (int64_t k = 0; k < n; k++) a = combined(s, a, x[k * s->inner]);
  if (s->kind != MEAN) return a;
  if (n == 0) return s->has_initial ? a : NAN;
  return a != a ? a : op_held(s->type, a / (double)n);
}

static DtStatus seg_kernel (DtKernelCall *c) {
  Segments s;
  DtTensor *out = NULL;
  void *p;
  DtStatus st;
  DT_TRYG(c->cx, seg_read(c, c->in[0], &s));
  DT_TRYG(c->cx, op_temp(c->cx, DT_F64, c->out[0]->m.ndim, c->out[0]->m.shape,
                         &out));
  DT_TRYG(c->cx, dt_tensor_data(c->cx, out, &p));
  const double *x = dt_tensor_cdata(s.data);
  double *to = p;
  for (int64_t o = 0, a, b = 0; o < s.outer; o++)
    for (int64_t i = 0; i < s.n; i++) {
      bounds(&s, o, i, &a, &b);
      for (int64_t k = 0; k < s.inner; k++) {
        int64_t at = (o * s.len + a) * s.inner + k;
        *to++ = reduced(&s, a < b ? x + at : NULL, b - a);
      }
    }
  DT_TRYG(c->cx, dt_k_copy(c->cx, out, c->out[0]));
done:
  dt_tensor_unref(c->cx, out);
  seg_fini(c->cx, &s);
  return st;
}

/* ---- backward ---- */

/* The extremes share the gradient; PyTorch divides it only where it is above 0. */
static void back_extreme (const Segments *s, const double *x, int64_t n, double g,
                          double o, double *to) {
  int64_t count = 0;
  for (int64_t k = 0; k < n; k++) {
    double v = x[k * s->inner];
    if (v != v || v == o) {
      to[k * s->inner] = g;
      count++;
    }
  }
  for (int64_t k = 0; k < n && count > 1; k++)
    if (to[k * s->inner] > 0)
      to[k * s->inner] = op_held(s->type, g / (double)count);
}

/* g * out / x; where that cannot be divided, g times the product of the others. */
static void back_product (const Segments *s, const double *x, int64_t n, double g,
                          double o, double *to) {
  double whole = op_held(s->type, g * o);
  for (int64_t k = 0; k < n; k++) {
    double v = x[k * s->inner], others = s->initial;
    if (v == v && v != 0) {
      to[k * s->inner] = op_held(s->type, whole / v);
      continue;
    }
    for (int64_t j = 0; j < n; j++)
      if (j != k) others = op_held(s->type, others * x[j * s->inner]);
    to[k * s->inner] = op_held(s->type, g * others);
  }
}

static void back_segment (const Segments *s, const double *x, int64_t n, double g,
                          double o, double *to) {
  if (s->kind == MAX || s->kind == MIN) {
    back_extreme(s, x, n, g, o, to);
  } else if (s->kind == PROD) {
    back_product(s, x, n, g, o, to);
  } else {
    if (s->kind == MEAN) g = op_held(s->type, g / (double)n);
    for (int64_t k = 0; k < n; k++) to[k * s->inner] = g;
  }
}

enum { B_GRAD = 0, B_OUT = 1, B_DATA = 2 };

static DtStatus back_meta (DtMetaCall *c) {
  const DtMeta *m = dt_in(c, B_DATA);
  int64_t shape[DT_MAX_NDIM];
  DT_TRY(c->cx, result_shape(c, m, shape));
  for (int i = B_GRAD; i <= B_OUT; i++) {
    const DtMeta *g = dt_in(c, i);
    DT_CHECK(c->cx, g->ndim == m->ndim &&
             memcmp(g->shape, shape, sizeof *shape * (size_t)m->ndim) == 0,
             DT_E_RUNTIME, "_segment_reduce_backward: grad and output must have "
             "the shape of the result");
  }
  return op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, m->ndim, m->shape, m);
}

static DtStatus back_kernel (DtKernelCall *c) {
  Segments s;
  DtTensor *t[3] = { NULL, NULL, NULL };
  void *p;
  DtStatus st;
  DT_TRYG(c->cx, seg_read(c, dt_kin(c, B_DATA), &s));
  for (int i = 0; i < 2; i++)
    DT_TRYG(c->cx, held_as(c->cx, DT_F64, dt_kin(c, i), &t[i]));
  DT_TRYG(c->cx, op_temp(c->cx, DT_F64, s.data->m.ndim, s.data->m.shape, &t[2]));
  DT_TRYG(c->cx, dt_tensor_data(c->cx, t[2], &p));
  const double *x = dt_tensor_cdata(s.data), *g = dt_tensor_cdata(t[B_GRAD]);
  const double *out = dt_tensor_cdata(t[B_OUT]);
  if (p != NULL) memset(p, 0, sizeof *x * (size_t)dt_meta_numel(&s.data->m));
  for (int64_t o = 0, a, b = 0; o < s.outer; o++)
    for (int64_t i = 0; i < s.n; i++) {
      bounds(&s, o, i, &a, &b);
      for (int64_t k = 0; k < s.inner; k++, g++, out++) {
        int64_t at = (o * s.len + a) * s.inner + k;
        if (a < b) back_segment(&s, x + at, b - a, *g, *out, (double *)p + at);
      }
    }
  DT_TRYG(c->cx, dt_k_copy(c->cx, t[2], c->out[0]));
done:
  for (int i = 0; i < 3; i++) dt_tensor_unref(c->cx, t[i]);
  seg_fini(c->cx, &s);
  return st;
}

static DtHandle *given (DtGradCall *c, const char *name) {
  int at = given_at(c->op, c->args, name);
  return at < 0 ? NULL : dt_gin(c, at);
}

static DtStatus seg_grad (DtGradCall *c) {
  const DtValue *v = c->args->v;
  op_g_set(c, 0, EMIT("aten._segment_reduce_backward.default",
                      "tttv lengths=t offsets=t axis=v initial=v", GOUT,
                      c->out[0], dt_gin(c, 0), v[1], given(c, "lengths"),
                      given(c, "offsets"),
                      v[dt_schema_arg(c->op->sig, "axis")],
                      v[dt_schema_arg(c->op->sig, "initial")]));
  return op_g_finish(c);
}

/* ---- definitions ---- */

static const char *const samples[] = {
  "f32[8, 6], \"sum\", lengths=i64[2], unsafe=true", NULL
};
static const char *const back_samples[] = {
  "f32[2, 6], f32[2, 6], f32[8, 6], \"max\", lengths=i64[2]", NULL
};
OP_DEF(segment_reduce, "aten::segment_reduce(Tensor data, str reduce, *, Tensor? "
       "lengths=None, Tensor? indices=None, Tensor? offsets=None, int axis=0, "
       "bool unsafe=False, Scalar? initial=None) -> Tensor", "Reductions of runs "
       "of elements along a dim.", DT_OP_NOSTRATEGY | DT_OP_SAVE_OUT, seg_meta,
       seg_kernel, seg_grad, samples, .row = NULL);
OP_DEF(_segment_reduce_backward, "aten::_segment_reduce_backward(Tensor grad, "
       "Tensor output, Tensor data, str reduce, *, Tensor? lengths=None, Tensor? "
       "offsets=None, int axis=0, Scalar? initial=None) -> Tensor",
       "Gradient of segment_reduce.", DT_OP_NOSTRATEGY, back_meta, back_kernel,
       op_g_absent, back_samples, .row = NULL);
