/* SPDX-License-Identifier: MIT
** oplib/op_conv.c: convolution over one to three dims, plain and transposed,
** and its gradients.
**
** One kernel (kernel/conv.c) serves all of it: with big X, window W and small Y
** of a plain convolution it makes one of the three from the other two.  Forward
** makes Y; the gradients make X and W; a transposed convolution makes X from
** Y. */
#include "base/sat.h"
#include "oplib/op_spatial.h"
#include "oplib/second.h"
#include "tensor/dtype_text.h"

#include <stdio.h>
#include <string.h>

enum { SP = 3 };                /* spatial dims, missing ones have size 1 */
enum { A_STRIDE = 3, A_PAD, A_DIL, A_TRANSPOSED, A_OUTPAD, A_GROUPS };

/* A call, as the plain convolution it is or reverses. */
typedef struct Conv {
  int nd;                       /* spatial dims really there */
  bool transposed;
  int64_t n, c, o, groups;      /* batch, channels of X, channels of Y */
  int64_t x[SP], y[SP], k[SP];
  int64_t stride[SP], pad[SP], dil[SP], outpad[SP];
} Conv;

/* ---- shapes ---- */

static DtStatus spread (DtCtx *cx, const DtArgs *a, int i, const char *name,
                        int nd, int64_t dflt, int64_t *out) {
  int64_t v[DT_MAX_NDIM];
  int n = dt_arg_len(a, i);
  OpText t = op_ints_text(dt_arg_ints(a, i, v, DT_MAX_NDIM), v);
  DT_CHECK(cx, n == 1 || n == nd, DT_E_RUNTIME, "expected %s to be a single "
           "integer value or a list of %d values to match the convolution "
           "dimensions, but got %s=%s", name, nd, name, t.s);
  for (int d = 0; d < SP; d++) {
    out[d] = d >= nd ? dflt : v[n == 1 ? 0 : d];
    DT_CHECK(cx, out[d] < INT32_MAX && out[d] > -INT32_MAX, DT_E_OVERFLOW,
             "%s is too large", name);
  }
  return DT_OK;
}

static DtStatus check_channels (DtCtx *cx, const Conv *v, const DtMeta *in,
                                const DtMeta *w) {
  int64_t want = v->transposed ? w->shape[0]
                                : dt_sat_mul(w->shape[1], v->groups);
  const char *what = v->transposed ? "transposed" : "groups";
  DT_CHECK(cx, w->shape[0] >= v->groups, DT_E_RUNTIME, "Given groups=%lld, "
           "expected weight to be at least %lld at dimension 0, but got weight "
           "of size %s instead", (long long)v->groups, (long long)v->groups,
           op_shape_text(w).s);
  DT_CHECK(cx, w->shape[0] % v->groups == 0, DT_E_RUNTIME,
           "Given groups=%lld, expected weight to be divisible by %lld at "
           "dimension 0, but got weight of size [%s] instead",
           (long long)v->groups, (long long)v->groups, op_shape_text(w).s);
  DT_CHECK(cx, in->shape[1] == want, DT_E_RUNTIME, "Given %s=%lld, weight "
           "of size %s, expected input%s to have %lld channels, but got %lld "
           "channels instead", what, v->transposed ? 1 : (long long)v->groups,
           op_shape_text(w).s, op_shape_text(in).s, (long long)want,
           (long long)in->shape[1]);
  return DT_OK;
}

/* "(3 x 3)" as the error texts have it. */
static OpText by_text (int n, const int64_t *v) {
  OpText t = { "" };
  size_t k = 0;
  for (int i = 0; i < n && k < sizeof t.s; i++) {
    int got = snprintf(t.s + k, sizeof t.s - k, "%s%lld", i ? " x " : "",
                       (long long)v[i]);
    k += got > 0 ? (size_t)got : 0;
  }
  return t;
}

static DtStatus check_windows (DtCtx *cx, const Conv *v) {
  int64_t in[SP], win[SP];
  bool small = false;
  for (int d = 0; d < v->nd; d++) {
    in[d] = v->x[d] + 2 * v->pad[d];
    win[d] = v->dil[d] * (v->k[d] - 1) + 1;
    small = small || in[d] < win[d];
  }
  DT_CHECK(cx, !small, DT_E_RUNTIME, "Calculated padded input size per "
           "channel: (%s). Kernel size: (%s). Kernel size can't be greater "
           "than actual input size", by_text(v->nd, in).s,
           by_text(v->nd, win).s);
  return DT_OK;
}

static DtStatus check_signs (DtCtx *cx, const Conv *v) {
  bool pad = true, out = true, step = true, dil = true, least = true;
  for (int d = 0; d < v->nd; d++) {
    pad = pad && v->pad[d] >= 0;
    out = out && v->outpad[d] >= 0;
    step = step && v->stride[d] > 0;
    least = least && v->dil[d] >= 0;
    dil = dil && v->dil[d] > 0;
  }
  DT_CHECK(cx, pad, DT_E_RUNTIME, "negative padding is not supported");
  DT_CHECK(cx, out, DT_E_RUNTIME, "negative output_padding is not supported");
  DT_CHECK(cx, step, DT_E_RUNTIME, "non-positive stride is not supported");
  DT_CHECK(cx, least, DT_E_RUNTIME, "dilation should be greater than zero");
  DT_CHECK(cx, dil, DT_E_RUNTIME, "dilation should be greater than zero, but "
           "got %s", op_ints_text(v->nd, v->dil).s);
  return DT_OK;
}

/* " name_height: 1 name_width: 2" appended to a text. */
static void name_dims (OpText *t, const Conv *v, const char *name,
                       const int64_t *x) {
  static const char *const axis[] = { "depth", "height", "width" };
  int from = v->nd == 3 ? 0 : 1;        /* one dim is done as two */
  for (int k = from; k < 3; k++) {
    size_t n = strlen(t->s);
    int d = k - (3 - v->nd);
    snprintf(t->s + n, sizeof t->s - n, " %s_%s: %lld", name, axis[k],
             (long long)(d >= 0 ? x[d] : x == v->outpad ? 0 : 1));
  }
}

static DtStatus check_outpad (DtCtx *cx, const Conv *v) {
  OpText t = { "" };
  bool ok = true;
  for (int d = 0; d < v->nd; d++)
    ok = ok && (v->outpad[d] < v->stride[d] || v->outpad[d] < v->dil[d]);
  if (ok) return DT_OK;
  name_dims(&t, v, "output_padding", v->outpad);
  name_dims(&t, v, "stride", v->stride);
  name_dims(&t, v, "dilation", v->dil);
  return dt_raise(cx, DT_E_RUNTIME, "output padding must be smaller than "
                  "either stride or dilation, but got%s", t.s);
}

/* No data: results are zeros, and of no channels where the input has none. */
static bool is_empty (const Conv *v, const DtMeta *in) {
  return v->n == 0 || in->shape[1] == 0;
}

/* An input of no elements has an empty batch or no channels; one dim is done
** as two. */
static DtStatus check_empty (DtCtx *cx, const Conv *v, const DtMeta *in) {
  int64_t shape[DT_MAX_NDIM];
  int n = 0;
  if (is_empty(v, in) || dt_meta_numel(in) != 0) return DT_OK;
  for (int d = 0; d < in->ndim; d++) {
    if (d == 2 && v->nd == 1) shape[n++] = 1;
    shape[n++] = in->shape[d];
  }
  return dt_raise(cx, DT_E_RUNTIME, "Only zero batch or zero channel inputs are "
                  "supported, but got input shape: %s",
                  op_ints_text(n, shape).s);
}

/* A transposed convolution's result has elements; one dim is done as two. */
static DtStatus check_result (DtCtx *cx, const Conv *v, bool fake) {
  bool ok = true;
  OpText in, out;
  for (int d = 0; d < v->nd; d++) ok = ok && v->x[d] >= 1;
  if (ok || !v->transposed) return DT_OK;
  if (fake)
    return dt_raise(cx, DT_E_RUNTIME, "Given input size per channel: %s. "
                    "Calculated output size per channel: %s. Output size is "
                    "too small", op_ints_text(v->nd, v->y).s,
                    op_ints_text(v->nd, v->x).s);
  in = by_text(v->nd, v->y);
  out = by_text(v->nd, v->x);
  const char *one = v->nd == 1 ? "1 x " : "";
  return dt_raise(cx, DT_E_RUNTIME, "Given input size per channel: (%s%s). "
                  "Calculated output size per channel: (%s%s). Output size is "
                  "too small", one, in.s, one, out.s);
}

/* Read a call; `at` = position of stride.  Fills the side not given. */
static DtStatus conv_read (DtCtx *cx, const DtArgs *a, int at,
                           const DtMeta *in, const DtMeta *w, Conv *v) {
  int64_t *given, *made;
  memset(v, 0, sizeof *v);
  v->nd = w->ndim - 2;
  v->transposed = dt_arg_bool(a, at + A_TRANSPOSED - A_STRIDE);
  v->groups = dt_arg_int(a, at + A_GROUPS - A_STRIDE);
  DT_CHECK(cx, v->nd <= SP, DT_E_LIMIT, "at most %d spatial dimensions", SP);
  DT_CHECK(cx, v->groups > 0, DT_E_RUNTIME,
           "non-positive groups is not supported");
  DT_TRY(cx, spread(cx, a, at, "stride", v->nd, 1, v->stride));
  DT_TRY(cx, spread(cx, a, at + 1, "padding", v->nd, 0, v->pad));
  DT_TRY(cx, spread(cx, a, at + 2, "dilation", v->nd, 1, v->dil));
  DT_TRY(cx, spread(cx, a, at + 4, "output_padding", v->nd, 0, v->outpad));
  DT_TRY(cx, check_signs(cx, v));
  DT_CHECK(cx, v->nd >= 1, DT_E_RUNTIME,
           "weight should have at least three dimensions");
  DT_CHECK(cx, in->ndim == w->ndim, DT_E_RUNTIME, "Expected %d-dimensional "
           "input for %d-dimensional weight %s, but got %d-dimensional input "
           "of size %s instead", w->ndim, w->ndim, op_shape_text(w).s,
           in->ndim, op_shape_text(in).s);
  DT_TRY(cx, check_channels(cx, v, in, w));
  v->n = in->shape[0];
  v->o = v->transposed ? in->shape[1] : w->shape[0];
  v->c = v->transposed ? w->shape[1] * v->groups : in->shape[1];
  given = v->transposed ? v->y : v->x;
  made = v->transposed ? v->x : v->y;
  for (int d = 0; d < SP; d++) {
    given[d] = d < v->nd ? in->shape[2 + d] : 1;
    v->k[d] = d < v->nd ? w->shape[2 + d] : 1;
  }
  if (!v->transposed) DT_TRY(cx, check_windows(cx, v));
  else DT_TRY(cx, check_outpad(cx, v));
  for (int d = 0; d < SP; d++) {
    int64_t reach = v->dil[d] * (v->k[d] - 1) + 1;
    made[d] = v->transposed
      ? (given[d] - 1) * v->stride[d] - 2 * v->pad[d] + reach + v->outpad[d]
      : (given[d] + 2 * v->pad[d] - reach) / v->stride[d] + 1;
  }
  return DT_OK;
}

static DtStatus conv_meta (DtMetaCall *c) {
  const DtMeta *in = c->in[0], *b = dt_in(c, 2);
  int64_t shape[DT_MAX_NDIM];
  Conv v;
  DT_TRY(c->cx, conv_read(c->cx, c->args, A_STRIDE, in, c->in[1], &v));
  shape[0] = v.n;
  shape[1] = v.transposed ? v.c : v.o;
  DT_CHECK(c->cx, b == NULL || (b->ndim == 1 && b->shape[0] == shape[1]),
           DT_E_RUNTIME, "Given %sweight of size %s, expected bias to be "
           "1-dimensional with %lld elements, but got bias of size %s instead",
           v.transposed ? "transposed=1, " : "", op_shape_text(c->in[1]).s,
           (long long)shape[1], op_shape_text(b ? b : in).s);
  DT_TRY(c->cx, check_empty(c->cx, &v, in));
  DT_TRY(c->cx, check_result(c->cx, &v, c->fake));
  for (int d = 0; d < v.nd; d++)
    shape[2 + d] = v.transposed ? v.x[d] : v.y[d];
  if (in->shape[1] == 0) shape[1] = 0;
  c->nout = 1;
  DtMeta like;                  /* the order of dims of either operand */
  dt_meta_copy(&like, op_sp_channels_last(in) ? in : c->in[1]);
  return op_sp_result(c->cx, &like, (DtDtype)in->dtype, v.nd + 2, shape, true,
                      &c->out[0]);
}

/* ---- kernels ---- */

/* The same for the kernel: dims that are missing come first. */
static DtConv kernel_form (const Conv *v) {
  DtConv k = { .n = v->n, .c = v->c, .o = v->o, .groups = v->groups };
  for (int d = 0; d < SP; d++) {
    int from = (d + v->nd) % SP;        /* of 2: 2 0 1; of 1: 1 2 0 */
    k.x[d] = v->x[from];
    k.y[d] = v->y[from];
    k.k[d] = v->k[from];
    k.stride[d] = v->stride[from];
    k.pad[d] = v->pad[from];
    k.dil[d] = v->dil[from];
  }
  return k;
}

/* A weight of another type.  Bfloat16 goes to a library of its own, before
** which whole types of tensors are compared. */
static DtStatus other_types (DtCtx *cx, DtDtype in, DtDtype w) {
  if (in == DT_BF16)
    return dt_raise(cx, DT_E_RUNTIME, "Input type (%s) and weight type (%s) "
                    "should be the same or input should be a MKLDNN tensor and "
                    "weight is a dense tensor", dt_dtype_type_text(in),
                    dt_dtype_type_text(w));
  return dt_raise(cx, DT_E_RUNTIME, "expected scalar type %s but found %s",
                  op_dtype_word(in), op_dtype_word(w));
}

static DtStatus check_types (DtKernelCall *c) {
  static const char *const name[2][2] = {
    { "slow_conv2d_cpu", "slow_conv_transpose2d_out_cpu" },
    { "compute_columns3d", "slow_conv_transpose3d_out_cpu" }
  };
  const DtMeta *in = &c->in[0]->m, *w = &c->in[1]->m;
  bool transposed = dt_arg_bool(c->args, A_TRANSPOSED);
  if (in->dtype != w->dtype)
    return other_types(c->cx, (DtDtype)in->dtype, (DtDtype)w->dtype);
  return op_sp_dtype(c->cx, name[w->ndim == 5][transposed],
                     (DtDtype)in->dtype,
                     OP_T_FLOAT | (transposed ? OP_T_I64 : OP_T_INTS));
}

static DtStatus conv_kernel (DtKernelCall *c) {
  Conv v;
  DT_TRY(c->cx, check_types(c));
  DT_TRY(c->cx, conv_read(c->cx, c->args, A_STRIDE, &c->in[0]->m,
                          &c->in[1]->m, &v));
  if (is_empty(&v, &c->in[0]->m)) return DT_OK;
  DtConv k = kernel_form(&v);
  if (v.transposed)
    return dt_k_conv(c->cx, DT_CONV_X, &k, c->out[0], c->in[1], c->in[0],
                     dt_kin(c, 2));
  return dt_k_conv(c->cx, DT_CONV_Y, &k, c->in[0], c->in[1], c->out[0],
                   dt_kin(c, 2));
}

/* ---- gradients ---- */

enum { B_SIZES = 3, B_STRIDE = 4, B_TURNED = 7, B_MASK = 10 };

static bool wanted (const DtArgs *a, int i) {
  const DtValue *m = &a->v[B_MASK];
  return i < m->u.list.n && m->u.list.v[i].u.b;
}

/* Sizes of the bias' gradient: propagation and empty calls take those that are
** given, others the gradient's channels. */
static DtStatus bias_sizes (DtMetaCall *c, bool empty, int *n, int64_t *size) {
  const DtMeta *g = c->in[0];
  bool given = !dt_arg_is_none(c->args, B_SIZES);
  DT_CHECK(c->cx, given || !c->fake || !wanted(c->args, 2), DT_E_TYPE,
           "new_empty(): argument 'size' (position 1) must be tuple of ints, "
           "not NoneType");
  *n = 1;
  size[0] = g->ndim > 1 ? g->shape[1] : 0;
  if (given && (c->fake || empty))
    *n = dt_arg_ints(c->args, B_SIZES, size, DT_MAX_NDIM);
  return DT_OK;
}

static DtStatus back_meta (DtMetaCall *c) {
  const DtMeta *g = c->in[0];
  int64_t size[DT_MAX_NDIM];
  int n = 0;
  Conv v;
  DT_TRY(c->cx, conv_read(c->cx, c->args, B_STRIDE, c->in[1], c->in[2], &v));
  DT_TRY(c->cx, check_empty(c->cx, &v, c->in[1]));
  DT_TRY(c->cx, bias_sizes(c, is_empty(&v, c->in[1]), &n, size));
  c->nout = 3;
  for (int i = 0; i < 3; i++) c->none[i] = !wanted(c->args, i);
  op_like_meta(&c->out[0], c->in[1], (DtDtype)g->dtype);
  op_like_meta(&c->out[1], c->in[2], (DtDtype)g->dtype);
  return op_new_meta(c->cx, &c->out[2], (DtDtype)g->dtype, n, size, g);
}

static DtStatus bias_grad (DtKernelCall *c) {
  uint32_t dims = 0;
  for (int d = 0; d < c->in[0]->m.ndim; d++)
    if (d != 1) dims |= UINT32_C(1) << d;
  return dt_k_reduce(c->cx, DT_RED_SUM, NULL, c->in[0], dims, c->out[2]);
}

/* One of the two gradients: `which` 0 = input's, 1 = weight's. */
static DtStatus back_one (DtKernelCall *c, const Conv *v, int which) {
  DtConv k = kernel_form(v);
  DtTensor *grad = c->in[0], *in = which == 0 ? c->out[0] : c->in[1];
  DtTensor *w = which == 1 ? c->out[1] : c->in[2];
  DtConvMake make = which == 1 ? DT_CONV_W
                  : v->transposed ? DT_CONV_Y : DT_CONV_X;
  return v->transposed ? dt_k_conv(c->cx, make, &k, grad, w, in, NULL)
                       : dt_k_conv(c->cx, make, &k, in, w, grad, NULL);
}

static DtStatus back_zeros (DtKernelCall *c) {
  for (int i = 0; i < 3; i++)
    if (c->out[i]) DT_TRY(c->cx, dt_k_fill(c->cx, c->out[i], dt_scalar_float(0)));
  return DT_OK;
}

/* Of a transposed convolution (B_TURNED) the forward is the other's backward, so that
** the gradient's sizes are those of the input there.  What out_mask leaves out has no
** output. */
static DtStatus back_kernel (DtKernelCall *c) {
  Conv v;
  bool turned = dt_arg_bool(c->args, B_TURNED);
  DtDtype t = (DtDtype)c->in[turned ? 0 : 1]->m.dtype;
  DT_TRY(c->cx, op_sp_dtype(c->cx, turned
                              ? "slow_conv_transpose2d_backward_out_cpu"
                              : "slow_conv2d_cpu_grad_input", t, OP_T_FLOAT));
  for (int i = 0; i < 3; i++)
    DT_CHECK(c->cx, c->in[i]->m.dtype == t, DT_E_RUNTIME, "expected scalar "
             "type %s but found %s", op_dtype_word(t),
             op_dtype_word((DtDtype)c->in[i]->m.dtype));
  DT_TRY(c->cx, conv_read(c->cx, c->args, B_STRIDE, &c->in[1]->m,
                          &c->in[2]->m, &v));
  if (is_empty(&v, &c->in[1]->m)) return back_zeros(c);
  const DtMeta *g = &c->in[0]->m;
  DT_CHECK(c->cx, g->ndim == v.nd + 2 && g->shape[0] == v.n &&
           g->shape[1] == (v.transposed ? v.c : v.o), DT_E_RUNTIME,
           "convolution_backward: the gradient's size %s does not fit",
           op_shape_text(g).s);
  for (int d = 0; d < v.nd; d++)
    DT_CHECK(c->cx, c->in[0]->m.shape[2 + d] == (v.transposed ? v.x : v.y)[d],
             DT_E_RUNTIME, "convolution_backward: the gradient's size %s does "
             "not fit", op_shape_text(&c->in[0]->m).s);
  if (c->out[0]) DT_TRY(c->cx, back_one(c, &v, 0));
  if (c->out[1]) DT_TRY(c->cx, back_one(c, &v, 1));
  return c->out[2] ? bias_grad(c) : DT_OK;
}

static DtStatus conv_grad (DtGradCall *c) {
  DtHandle *out[3] = { NULL, NULL, NULL };
  DtHandle *bias = dt_gin(c, 2);
  DtValue mask[3], n[1], sizes = dt_v_list(1, n);
  for (int i = 0; i < 3; i++) mask[i] = dt_v_bool(op_g_need(c, i));
  n[0] = dt_v_int(bias ? dt_emit_meta(c->e, bias)->shape[0] : 0);
  dt_emit_n(c->e, "aten.convolution_backward.default", out, 3, "tttvvvvvvvv",
            c->gout[0], c->in[0], c->in[1], sizes, c->args->v[3],
            c->args->v[4], c->args->v[5], c->args->v[6], c->args->v[7],
            c->args->v[8], dt_v_list(3, mask));
  for (int i = 0; i < 3; i++) op_g_set(c, i, out[i]);
  return op_g_finish(c);
}

/* ---- rules and definitions ---- */

static const char *const conv_rules[] = {
  "S(0), R -> S(0)", "S(0), R, R -> S(0)", NULL
};

/* The bias' gradient has a placement when sizes of it are given, whether it is
** asked for or not. */
static DtStatus back_rules (DtRuleCall *c) {
  bool bias = !dt_arg_is_none(c->args, B_SIZES);
  DtCell row[6] = { dt_c_s(0), dt_c_p(DT_OP_SUM),
                    bias ? dt_c_p(DT_OP_SUM) : dt_c_none(),
                    dt_c_s(0), dt_c_s(0), dt_c_r() };
  dt_rows_add(c->rows, row);
  return c->rows->st;
}

static const char *const conv_samples[] = {
  "f32[2, 4, 6, 6], f32[6, 4, 3, 3], f32[6], [1, 1], [1, 1], [1, 1], false, "
  "[0, 0], 1",
  "f32[2, 4, 7], f32[6, 2, 3], None, [2], [0], [1], false, [0], 2",
  "f32[2, 3, 4, 4], f32[3, 2, 3, 3], None, [2, 2], [1, 1], [1, 1], true, "
  "[1, 1], 1", NULL
};
static const char *const back_samples[] = {
  "f32[2, 6, 6, 6], f32[2, 4, 6, 6], f32[6, 4, 3, 3], [6], [1, 1], [1, 1], "
  "[1, 1], false, [0, 0], 1, [true, true, true]",
  "f32[2, 6, 3], f32[2, 4, 7], f32[6, 2, 3], None, [2], [0], [1], false, [0], "
  "2, [true, true, false]", NULL
};

const DtOpDef dt_op_convolution = {
  .schema = "aten::convolution(Tensor input, Tensor weight, Tensor? bias, "
            "SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool "
            "transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
  .brief = "Convolution over one to three dims, or its transpose.",
  .doc = "out[n,o,i] = bias[o] + sum over c, k of weight[o,c,k] * "
         "input[n,c,i*stride + k*dilation - padding]",
  .meta = conv_meta, .kernel = conv_kernel, .rules = conv_rules,
  .grad = conv_grad, .samples = conv_samples
};

const DtOpDef dt_op_convolution_backward = {
  .schema = "aten::convolution_backward(Tensor grad_output, Tensor input, "
            "Tensor weight, SymInt[]? bias_sizes, SymInt[] stride, SymInt[] "
            "padding, SymInt[] dilation, bool transposed, SymInt[] "
            "output_padding, SymInt groups, bool[3] output_mask) -> (Tensor, "
            "Tensor, Tensor)",
  .brief = "Gradients of convolution.", .grad = op_gg_convolution_backward,
  .meta = back_meta, .kernel = back_kernel, .rulefn = back_rules,
  .samples = back_samples
};
