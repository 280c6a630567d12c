/* SPDX-License-Identifier: MIT
** oplib/op_shuffle.c: elements moved between channels and space: pixel_shuffle
** and its inverse, channel_shuffle, sliding blocks as columns and back.
**
** The shuffles split a dim of the source and of the result into factors; with
** the factors as dims of their own, the work is one strided copy.  PyTorch
** decides them by decomposing: view, permute, reshape. */
#include "base/sat.h"
#include "oplib/op_spatial.h"

#include <stdio.h>
#include <string.h>


/* ---- shapes ---- */

static DtStatus pixel_check (DtCtx *cx, const DtMeta *m, int64_t r, bool up) {
  const char *fn = up ? "pixel_shuffle" : "pixel_unshuffle";
  const char *by = up ? "upscale_factor" : "downscale_factor";
  DT_CHECK(cx, m->ndim >= 3, DT_E_RUNTIME, "%s expects input to have at least "
           "3 dimensions, but got input with %d dimension(s)", fn, m->ndim);
  DT_CHECK(cx, r > 0, DT_E_RUNTIME, "%s expects a positive %s, but got %lld",
           fn, by, (long long)r);
  DT_CHECK(cx, r < 1 << 20, DT_E_OVERFLOW, "%s: the factor is too large", fn);
  if (up) {
    int64_t ch = m->shape[m->ndim - 3];
    DT_CHECK(cx, ch % (r * r) == 0, DT_E_RUNTIME, "pixel_shuffle expects its "
             "input's 'channel' dimension to be divisible by the square of "
             "upscale_factor, but input.size(-3)=%lld is not divisible by "
             "%lld", (long long)ch, (long long)(r * r));
  }
  for (int d = 2; !up && d >= 1; d--) {
    int64_t size = m->shape[m->ndim - d];
    DT_CHECK(cx, size % r == 0, DT_E_RUNTIME, "pixel_unshuffle expects %s to "
             "be divisible by downscale_factor, but input.size(-%d)=%lld is "
             "not divisible by %lld", d == 2 ? "height" : "width", d,
             (long long)size, (long long)r);
  }
  return DT_OK;
}

static void pixel_sizes (const DtMeta *m, int64_t r, bool up, int64_t *s) {
  const int64_t *in = m->shape + m->ndim - 3;
  s[0] = up ? in[0] / (r * r) : in[0] * r * r;
  for (int d = 1; d < 3; d++) s[d] = up ? in[d] * r : in[d] / r;
}

static DtStatus pixel_meta (DtMetaCall *c, bool up) {
  const DtMeta *in = c->in[0];
  int64_t r = dt_arg_int(c->args, 1), size[3];
  DT_TRY(c->cx, pixel_check(c->cx, in, r, up));
  pixel_sizes(in, r, up, size);
  /* PyTorch gives an empty input back as it is. */
  bool same = !up && dt_meta_numel(in) == 0;
  c->nout = 1;
  return op_sp_result(c->cx, in, (DtDtype)in->dtype, same ? 0 : 3, size, true,
                      &c->out[0]);
}
static DtStatus up_meta (DtMetaCall *c) { return pixel_meta(c, true); }
static DtStatus down_meta (DtMetaCall *c) { return pixel_meta(c, false); }

static DtStatus channel_check (DtCtx *cx, const DtMeta *m, int64_t g) {
  DT_CHECK(cx, m->ndim > 2, DT_E_RUNTIME, "channel_shuffle expects input with "
           "> 2 dims, but got input with sizes %s", op_shape_text(m).s);
  DT_CHECK(cx, g > 0, DT_E_RUNTIME, "Number of groups to divide channels in "
           "must be positive. Value of groups:%lld", (long long)g);
  DT_CHECK(cx, m->shape[1] % g == 0, DT_E_RUNTIME, "Number of channels must "
           "be divisible by groups. Got %lld channels and %lld groups.",
           (long long)m->shape[1], (long long)g);
  return DT_OK;
}
static DtStatus channel_meta (DtMetaCall *c) {
  const DtMeta *in = c->in[0];
  DT_TRY(c->cx, channel_check(c->cx, in, dt_arg_int(c->args, 1)));
  c->nout = 1;
  return op_sp_result(c->cx, in, (DtDtype)in->dtype, 0, NULL, true,
                      &c->out[0]);
}

/* ---- kernels ---- */

/* A shape and strides that grow dim by dim. */
typedef struct Dims {
  int n;
  int64_t shape[DT_MAX_NDIM + 4], stride[DT_MAX_NDIM + 4];
} Dims;

static void add_dim (Dims *d, int64_t size, int64_t stride) {
  if (d->n < DT_MAX_NDIM + 4) {
    d->shape[d->n] = size;
    d->stride[d->n++] = stride;
  }
}

/* Copy between the two, both split into the same factors. */
static DtStatus copy_split (DtKernelCall *c, const Dims *a, const Dims *b) {
  DtTensor *x = NULL, *y = NULL;
  DtStatus st;
  DT_CHECK(c->cx, a->n <= DT_MAX_NDIM, DT_E_LIMIT, "at most %d dimensions",
           DT_MAX_NDIM);
  DT_TRYG(c->cx, op_restride(c->cx, c->in[0], a->n, a->shape, a->stride, 0,
                             &x));
  DT_TRYG(c->cx, op_restride(c->cx, c->out[0], b->n, b->shape, b->stride, 0,
                             &y));
  st = dt_k_copy(c->cx, x, y);
done:
  dt_tensor_unref(c->cx, x);
  dt_tensor_unref(c->cx, y);
  return st;
}

/* Deep (channels C*r*r) and wide (H*r, W*r) as (C, r, r, H, W). */
static void split_pixels (const DtMeta *deep, const DtMeta *wide, int64_t r,
                          Dims *a, Dims *b) {
  int k = deep->ndim - 3;
  int64_t sc = deep->stride[k], channels = wide->shape[k];
  for (int d = 0; d < k; d++) {
    add_dim(a, deep->shape[d], deep->stride[d]);
    add_dim(b, wide->shape[d], wide->stride[d]);
  }
  add_dim(a, channels, sc * r * r);
  add_dim(a, r, sc * r);
  add_dim(a, r, sc);
  add_dim(b, channels, wide->stride[k]);
  add_dim(b, r, wide->stride[k + 1]);
  add_dim(b, r, wide->stride[k + 2]);
  for (int d = 1; d < 3; d++) {
    add_dim(a, deep->shape[k + d], deep->stride[k + d]);
    add_dim(b, deep->shape[k + d], wide->stride[k + d] * r);
  }
}

enum { MOVED = OP_T_FLOAT | OP_T_INTS | OP_T_BOOL | OP_T_COMPLEX };

static DtStatus pixel_kernel (DtKernelCall *c) {
  bool up = strcmp(c->op->sig->base, "pixel_shuffle") == 0;
  const DtMeta *x = &c->in[0]->m, *y = &c->out[0]->m;
  Dims a = { 0 }, b = { 0 };
  DT_TRY(c->cx, op_sp_dtype(c->cx, c->op->sig->base, (DtDtype)x->dtype,
                            MOVED));
  if (dt_meta_numel(x) == 0) return DT_OK;
  split_pixels(up ? x : y, up ? y : x, dt_arg_int(c->args, 1), &a, &b);
  return up ? copy_split(c, &a, &b) : copy_split(c, &b, &a);
}

static DtStatus channel_kernel (DtKernelCall *c) {
  const DtMeta *x = &c->in[0]->m, *y = &c->out[0]->m;
  int64_t g = dt_arg_int(c->args, 1), per = x->shape[1] / g;
  Dims a = { 0 }, b = { 0 };
  DT_TRY(c->cx, op_sp_dtype(c->cx, "channel_shuffle", (DtDtype)x->dtype,
                            MOVED));
  for (int d = 0; d < x->ndim; d++) {
    if (d != 1) {
      add_dim(&a, x->shape[d], x->stride[d]);
      add_dim(&b, y->shape[d], y->stride[d]);
      continue;
    }
    add_dim(&a, g, dt_sat_mul(x->stride[1], per));
    add_dim(&a, per, x->stride[1]);
    add_dim(&b, g, y->stride[1]);
    add_dim(&b, per, dt_sat_mul(y->stride[1], g));
  }
  return copy_split(c, &a, &b);
}

/* ---- decompositions: how they are decided ---- */

static DtHandle *reshaped (DtDecompCall *c, DtHandle *h, int n,
                           const int64_t *shape) {
  int64_t stride[DT_MAX_NDIM];
  DtMeta m;
  if (c->e->keeps_reshape)
    return EMIT("aten.reshape.default", "tI", h, n, shape);
  dt_meta_copy(&m, dt_emit_meta(c->e, h));
  if (!dt_emit_ok(c->e)) return NULL;
  if (op_view_strides(&m, n, shape, stride))
    return EMIT("aten.view.default", "tI", h, n, shape);
  h = EMIT("aten.clone.default", "t memory_format=v", h,
           dt_v_code(DT_V_MEMFMT, DT_MF_CONTIGUOUS));
  return EMIT("aten._unsafe_view.default", "tI", h, n, shape);
}

static DtStatus pixel_decomp (DtDecompCall *c) {
  bool up = strcmp(c->op->sig->base, "pixel_shuffle") == 0;
  static const int up_order[5] = { 0, 3, 1, 4, 2 };
  static const int down_order[5] = { 0, 2, 4, 1, 3 };
  int64_t r = dt_arg_int(c->args, 1), out[3], shape[DT_MAX_NDIM + 2];
  int64_t order[DT_MAX_NDIM + 2];
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, c->in[0]));
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_TRY(c->e->cx, pixel_check(c->e->cx, &m, r, up));
  DT_CHECK(c->e->cx, m.ndim + 2 <= DT_MAX_NDIM, DT_E_LIMIT,
           "at most %d dimensions", DT_MAX_NDIM);
  int k = m.ndim - 3;
  const int64_t *in = m.shape + k;
  int64_t up5[5] = { in[0] / (r * r), r, r, in[1], in[2] };
  int64_t down5[5] = { in[0], in[1] / r, r, in[2] / r, r };
  memcpy(shape, m.shape, sizeof(int64_t) * (size_t)k);
  memcpy(shape + k, up ? up5 : down5, sizeof up5);
  for (int d = 0; d < k; d++) order[d] = d;
  for (int d = 0; d < 5; d++)
    order[k + d] = k + (up ? up_order : down_order)[d];
  DtHandle *h = EMIT("aten.view.default", "tI", c->in[0], k + 5, shape);
  h = EMIT("aten.permute.default", "tI", h, k + 5, order);
  pixel_sizes(&m, r, up, out);
  memcpy(shape + k, out, sizeof out);
  h = reshaped(c, h, k + 3, shape);
  c->nout = 1;
  c->out[0] = EMIT("aten.clone.default", "t memory_format=v", h,
                   dt_v_code(DT_V_MEMFMT, DT_MF_CONTIGUOUS));
  return c->e->st;
}

static DtStatus channel_decomp (DtDecompCall *c) {
  int64_t g = dt_arg_int(c->args, 1), shape[DT_MAX_NDIM + 1];
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, c->in[0]));
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_TRY(c->e->cx, channel_check(c->e->cx, &m, g));
  DT_CHECK(c->e->cx, m.ndim < DT_MAX_NDIM, DT_E_LIMIT,
           "at most %d dimensions", DT_MAX_NDIM);
  shape[0] = m.shape[0];
  shape[1] = g;
  shape[2] = m.shape[1] / g;
  for (int d = 2; d < m.ndim; d++) shape[d + 1] = m.shape[d];
  c->nout = 1;
  if (dt_meta_numel(&m) == 0) {
    c->out[0] = EMIT("aten.view.default", "tI", c->in[0], (int)m.ndim,
                     m.shape);
    return c->e->st;
  }
  DtHandle *h = reshaped(c, c->in[0], m.ndim + 1, shape);
  h = EMIT("aten.transpose.int", "tii", h, (int64_t)1, (int64_t)2);
  c->out[0] = reshaped(c, h, m.ndim, m.shape);
  return c->e->st;
}

static DtStatus native_channel_decomp (DtDecompCall *c) {
  c->out[0] = EMIT("aten.channel_shuffle.default", "tv", c->in[0], ARG(1));
  c->nout = 1;
  return c->e->st;
}

/* ---- gradients ---- */

static DtStatus pixel_grad (DtGradCall *c) {
  bool up = strcmp(c->op->sig->base, "pixel_shuffle") == 0;
  op_g_set(c, 0, EMIT(up ? "aten.pixel_unshuffle.default"
                         : "aten.pixel_shuffle.default", "tv", c->gout[0],
                      ARG(1)));
  return op_g_finish(c);
}
static DtStatus channel_grad (DtGradCall *c) {
  int64_t channels = dt_emit_meta(c->e, c->in[0])->shape[1];
  if (!dt_emit_ok(c->e)) return c->e->st;
  op_g_set(c, 0, EMIT("aten.channel_shuffle.default", "ti", c->gout[0],
                      channels / dt_arg_int(c->args, 1)));
  return op_g_finish(c);
}

/* ---- sliding blocks ---- */

typedef struct Cols { int64_t k[2], dil[2], pad[2], stride[2]; } Cols;

static DtStatus pair (DtCtx *cx, const DtArgs *a, int i, const char *name,
                      int64_t *out) {
  int64_t v[DT_MAX_NDIM];
  int n = op_ints(a, i, v);
  DT_CHECK(cx, n == 2, DT_E_RUNTIME, "It is expected %s equals to 2, but got "
           "size %d", name, n);
  for (int d = 0; d < 2; d++) {
    DT_CHECK(cx, v[d] < INT32_MAX && v[d] > -INT32_MAX, DT_E_OVERFLOW,
             "%s is too large", name);
    out[d] = v[d];
  }
  return DT_OK;
}

static DtStatus read_cols (DtCtx *cx, const DtArgs *a, int at, Cols *v) {
  static const char *const text[4] = {
    "kernel size should be greater than zero, but got kernel_height: %lld "
    "kernel_width: %lld", "dilation should be greater than zero, but got "
    "dilation_height: %lld dilation_width: %lld",
    "padding should be non-negative, but got pad_height: %lld pad_width: %lld",
    "stride should be greater than zero, but got stride_height: %lld "
    "stride_width: %lld"
  };
  int64_t *const p[4] = { v->k, v->dil, v->pad, v->stride };
  DT_TRY(cx, pair(cx, a, at, "kernel_size", v->k));
  DT_TRY(cx, pair(cx, a, at + 1, "dilation", v->dil));
  DT_TRY(cx, pair(cx, a, at + 2, "padding", v->pad));
  DT_TRY(cx, pair(cx, a, at + 3, "stride", v->stride));
  for (int i = 0; i < 4; i++) {
    int64_t least = i == 2 ? 0 : 1;
    char s[160];
    snprintf(s, sizeof s, text[i], (long long)p[i][0], (long long)p[i][1]);
    DT_CHECK(cx, p[i][0] >= least && p[i][1] >= least, DT_E_RUNTIME, "%s", s);
  }
  return DT_OK;
}

static int64_t blocks_of (const Cols *v, int64_t size, int d) {
  int64_t n = size + 2 * v->pad[d] - (v->dil[d] * (v->k[d] - 1) + 1);
  int64_t q = n / v->stride[d];
  return (n % v->stride[d] < 0 ? q - 1 : q) + 1;
}

/* "(4, 4)" */
static OpText tuple2 (const int64_t *v) {
  OpText t;
  snprintf(t.s, sizeof t.s, "(%lld, %lld)", (long long)v[0], (long long)v[1]);
  return t;
}

static DtStatus has_dim (DtCtx *cx, const DtMeta *m, int dim) {
  DT_CHECK(cx, m->ndim > 0, DT_E_INDEX, "Dimension specified as %d but tensor "
           "has no dimensions", dim);
  DT_CHECK(cx, dim < m->ndim, DT_E_INDEX, "Dimension out of range (expected "
           "to be in range of [-%d, %d], but got %d)", m->ndim, m->ndim - 1,
           dim);
  return DT_OK;
}

static DtStatus unfold_meta (DtMetaCall *c) {
  const DtMeta *in = c->in[0];
  int64_t shape[3], out[2];
  Cols v;
  DT_TRY(c->cx, read_cols(c->cx, c->args, 1, &v));
  for (int d = 1; d < 3; d++) DT_TRY(c->cx, has_dim(c->cx, in, d));
  DT_CHECK(c->cx, (in->ndim == 3 || in->ndim == 4) &&
           op_sp_empty_dim(in, 2, true) < 0, DT_E_RUNTIME, "Expected 3D or 4D "
           "(batch mode) tensor with possibly 0 batch size and other non-zero "
           "dimensions for input, but got: %s", op_shape_text(in).s);
  const int64_t *size = in->shape + in->ndim - 2;
  for (int d = 0; d < 2; d++) out[d] = blocks_of(&v, size[d], d);
  DT_CHECK(c->cx, out[0] >= 1 && out[1] >= 1, DT_E_RUNTIME, "Given input with "
           "spatial size %s, kernel_size=%s, dilation=%s, padding=%s, "
           "calculated shape of the array of sliding blocks as %s, but its "
           "components must be at least one.", tuple2(size).s, tuple2(v.k).s,
           tuple2(v.dil).s, tuple2(v.pad).s, tuple2(out).s);
  int lead = in->ndim - 3;
  shape[0] = in->shape[0];
  shape[lead] = in->shape[lead] * v.k[0] * v.k[1];
  shape[lead + 1] = out[0] * out[1];
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)in->dtype, lead + 2, shape,
                     in);
}

static DtStatus fold_meta (DtMetaCall *c) {
  const DtMeta *in = c->in[0];
  int64_t size[2], n[2], shape[4];
  Cols v;
  DT_TRY(c->cx, pair(c->cx, c->args, 1, "output_size", size));
  DT_TRY(c->cx, read_cols(c->cx, c->args, 2, &v));
  DT_CHECK(c->cx, (in->ndim == 2 || in->ndim == 3) &&
           op_sp_empty_dim(in, 1, true) < 0, DT_E_RUNTIME, "Expected 2D or 3D "
           "(batch mode) tensor for input with possibly 0 batch size and "
           "non-zero dimensions for input, but got: %s", op_shape_text(in).s);
  int lead = in->ndim - 2;
  int64_t per = v.k[0] * v.k[1], rows = in->shape[lead];
  DT_CHECK(c->cx, rows % per == 0, DT_E_RUNTIME, "Expected size of input's "
           "dimension 1 to be divisible by the product of kernel_size, but got "
           "input.size(1)=%lld and kernel_size=%s.", (long long)rows,
           tuple2(v.k).s);
  for (int d = 0; d < 2; d++) n[d] = blocks_of(&v, size[d], d);
  DT_CHECK(c->cx, in->shape[lead + 1] == n[0] * n[1], DT_E_RUNTIME, "Given "
           "output_size=%s, kernel_size=%s, dilation=%s, padding=%s, "
           "stride=%s, expected size of input's dimension 2 to match the "
           "calculated number of sliding blocks %lld * %lld = %lld, but got "
           "input.size(2)=%lld.", tuple2(size).s, tuple2(v.k).s,
           tuple2(v.dil).s, tuple2(v.pad).s, tuple2(v.stride).s,
           (long long)n[0], (long long)n[1], (long long)(n[0] * n[1]),
           (long long)in->shape[lead + 1]);
  DT_CHECK(c->cx, size[0] >= 1 && size[1] >= 1, DT_E_RUNTIME, "Expected "
           "output spatial size to be positive, but got: output_size=%s.",
           tuple2(size).s);
  shape[0] = in->shape[0];
  shape[lead] = rows / per;
  shape[lead + 1] = size[0];
  shape[lead + 2] = size[1];
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)in->dtype, lead + 3, shape,
                     in);
}

static DtStatus cols_kernel (DtKernelCall *c, bool fold) {
  const DtTensor *image = fold ? c->out[0] : c->in[0];
  const DtMeta *m = &image->m;
  DtBlocks b = { .nd = 2, .x = { 1 }, .k = { 1 }, .y = { 1 },
                 .stride = { 1 }, .dil = { 1 } };
  Cols v;
  DT_TRY(c->cx, op_sp_dtype(c->cx, fold ? "col2im_out_cpu"
                            : "im2col_out_cpu", (DtDtype)m->dtype,
                            OP_T_FLOAT | OP_T_BOOL | OP_T_COMPLEX));
  DT_TRY(c->cx, read_cols(c->cx, c->args, fold ? 2 : 1, &v));
  b.n = m->ndim == 4 ? m->shape[0] : 1;
  b.c = m->shape[m->ndim - 3];
  for (int d = 0; d < 2; d++) {
    b.x[1 + d] = m->shape[m->ndim - 2 + d];
    b.y[1 + d] = blocks_of(&v, b.x[1 + d], d);
    b.k[1 + d] = v.k[d];
    b.stride[1 + d] = v.stride[d];
    b.pad[1 + d] = v.pad[d];
    b.dil[1 + d] = v.dil[d];
  }
  return fold ? dt_k_fold(c->cx, &b, c->in[0], c->out[0])
              : dt_k_unfold(c->cx, &b, c->in[0], c->out[0]);
}
static DtStatus unfold_kernel (DtKernelCall *c) {
  return cols_kernel(c, false);
}
static DtStatus fold_kernel (DtKernelCall *c) { return cols_kernel(c, true); }

static DtStatus unfold_grad (DtGradCall *c) {
  const DtMeta *m = dt_emit_meta(c->e, c->in[0]);
  if (!dt_emit_ok(c->e)) return c->e->st;
  op_g_set(c, 0, EMIT("aten.col2im.default", "tIvvvv", c->gout[0], 2,
                      m->shape + m->ndim - 2, ARG(1), ARG(2), ARG(3), ARG(4)));
  return op_g_finish(c);
}
static DtStatus fold_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten.im2col.default", "tvvvv", c->gout[0], ARG(2),
                      ARG(3),
                      ARG(4), ARG(5)));
  return op_g_finish(c);
}

/* ---- samples and definitions ---- */

static const char *const up_s[] = { "f32[2, 4, 3, 2], 2", "f32[9, 2, 2], 3",
                                    NULL };
static const char *const down_s[] = { "f32[2, 1, 4, 6], 2", "f32[2, 3, 3], 3",
                                      NULL };
static const char *const ch_s[] = { "f32[2, 4, 3, 2], 2", "f32[2, 6, 3], 3",
                                    NULL };
static const char *const unfold_s[] = {
  "f32[2, 3, 5, 4], [2, 2], [1, 1], [0, 1], [2, 1]",
  "f32[3, 5, 4], [2, 3], [2, 1], [1, 0], [1, 1]", NULL
};
static const char *const fold_s[] = {
  "f32[2, 8, 9], [4, 4], [2, 2], [1, 1], [0, 0], [1, 1]", NULL
};

#define OP(id, schema_, brief_, ...) \
  const DtOpDef dt_op_##id = { .schema = "aten::" #id schema_, \
                               .brief = brief_, __VA_ARGS__ }
OP(pixel_shuffle, "(Tensor self, int upscale_factor) -> Tensor",
   "Channels spread over space.", .meta = up_meta, .kernel = pixel_kernel,
   .decomp = pixel_decomp, .grad = pixel_grad, .samples = up_s);
OP(pixel_unshuffle, "(Tensor self, int downscale_factor) -> Tensor",
   "Space gathered into channels.", .meta = down_meta,
   .kernel = pixel_kernel, .decomp = pixel_decomp, .grad = pixel_grad,
   .samples = down_s);
OP(channel_shuffle, "(Tensor self, SymInt groups) -> Tensor",
   "Channels of groups interleaved.", .meta = channel_meta,
   .kernel = channel_kernel, .decomp = channel_decomp, .grad = channel_grad,
   .samples = ch_s);
OP(native_channel_shuffle, "(Tensor self, SymInt groups) -> Tensor",
   "channel_shuffle.", .flags = DT_OP_COMPOSITE,
   .decomp = native_channel_decomp, .samples = ch_s);
OP(im2col, "(Tensor self, int[2] kernel_size, int[2] dilation, int[2] "
   "padding, int[2] stride) -> Tensor", "Sliding blocks as columns.",
   .flags = DT_OP_NOSTRATEGY, .meta = unfold_meta, .kernel = unfold_kernel,
   .grad = unfold_grad, .samples = unfold_s);
OP(col2im, "(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] "
   "dilation, int[2] padding, int[2] stride) -> Tensor",
   "Columns summed back into an image.", .flags = DT_OP_NOSTRATEGY,
   .meta = fold_meta, .kernel = fold_kernel, .grad = fold_grad,
   .samples = fold_s);
