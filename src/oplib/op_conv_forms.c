/* SPDX-License-Identifier: MIT
** oplib/op_conv_forms.c: the public forms of convolution: by number of dims,
** transposed, with padding by name, over time, batch and channel.
**
** All but conv_tbc are compositions that reach aten.convolution: an input
** without batch gets one, "same" pads evenly where it can and else pads the
** input first.  conv_tbc is a sum of products of slices; there the work is
** done on dense f64 copies. */
#include "base/sat.h"
#include "oplib/op_spatial.h"

#include <string.h>


static const int row1[] = { 1, 0 }, row2[] = { 2, 0 }, row3[] = { 3, 0 },
                 trow1[] = { 1, 1 }, trow2[] = { 2, 1 }, trow3[] = { 3, 1 };
enum { ROW_ND, ROW_TRANSPOSED };
#define ND (c->op->row[ROW_ND])

/* A list of n times the same number. */
static DtStatus same_ints (DtDecompCall *c, int n, int64_t v, DtValue *out) {
  DtValue *e = DT_ANEWN(c->e->cx, c->e->arena, DtValue, n + 1);
  if (e == NULL) return DT_E_NOMEM;
  for (int i = 0; i < n; i++) e[i] = dt_v_int(v);
  *out = dt_v_list(n, e);
  return DT_OK;
}

/* Argument i, a number spread over the dims. */
static DtStatus spread (DtDecompCall *c, int i, DtValue *out) {
  if (ARG(i).kind == DT_V_INT) return same_ints(c, ND, ARG(i).u.i, out);
  *out = ARG(i);
  return DT_OK;
}

/* The input with a batch dim; *had says whether it had one. */
static DtStatus batched (DtDecompCall *c, DtHandle **x, bool *had) {
  bool transposed = c->op->row[ROW_TRANSPOSED] != 0;
  const DtMeta *m = dt_emit_meta(c->e, c->in[0]);
  int nd = ND;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(c->e->cx, m->ndim == nd + 1 || m->ndim == nd + 2, DT_E_RUNTIME,
           "Expected %dD (unbatched) or %dD (batched) input to conv%s%dd, but "
           "got input of size: %s", nd + 1, nd + 2,
           transposed ? "_transpose" : "", nd, op_shape_text(m).s);
  *had = m->ndim == nd + 2;
  *x = *had ? c->in[0] : EMIT("aten.unsqueeze.default", "ti", c->in[0],
                              (int64_t)0);
  return c->e->st;
}

static DtStatus finish (DtDecompCall *c, DtHandle *h, bool had) {
  c->out[0] = had ? h : EMIT("aten.squeeze.dim", "ti", h, (int64_t)0);
  c->nout = 1;
  return c->e->st;
}

/* (input, weight, bias, stride, padding, dilation, groups) */
static DtStatus conv_decomp (DtDecompCall *c) {
  DtHandle *x, *b = dt_hin(c, 2);
  DtValue zeros, stride, pad, step;
  bool had;
  DtDtype ti = (DtDtype)dt_emit_meta(c->e, c->in[0])->dtype;
  DtDtype tb = b ? (DtDtype)dt_emit_meta(c->e, b)->dtype : ti;
  DT_CHECK(c->e->cx, ti == tb, DT_E_DTYPE, "Input type (%s) and bias type (%s) "
           "should be the same", dt_dtype_info(ti)->cpp,
           dt_dtype_info(tb)->cpp);
  DT_TRY(c->e->cx, same_ints(c, ND, 0, &zeros));
  DT_TRY(c->e->cx, spread(c, 3, &stride));
  DT_TRY(c->e->cx, spread(c, 4, &pad));
  DT_TRY(c->e->cx, spread(c, 5, &step));
  DT_TRY(c->e->cx, batched(c, &x, &had));
  return finish(c, EMIT("aten.convolution.default", "tttvvvbvv", x, c->in[1],
                        b, stride, pad, step, 0, zeros, ARG(6)), had);
}

/* (input, weight, bias, stride, padding, output_padding, groups, dilation) */
static DtStatus transposed_decomp (DtDecompCall *c) {
  DtHandle *x;
  DtValue stride, pad, more, step;
  bool had;
  DT_TRY(c->e->cx, spread(c, 3, &stride));
  DT_TRY(c->e->cx, spread(c, 4, &pad));
  DT_TRY(c->e->cx, spread(c, 5, &more));
  DT_TRY(c->e->cx, spread(c, 7, &step));
  DT_TRY(c->e->cx, batched(c, &x, &had));
  return finish(c, EMIT("aten.convolution.default", "tttvvvbvv", x, c->in[1],
                        dt_hin(c, 2), stride, pad, step, 1, more, ARG(6)),
                had);
}

/* ---- padding by name ---- */

static int64_t entry (const DtArgs *a, int i, int d) {
  int64_t v[DT_MAX_NDIM];
  int n = dt_arg_ints(a, i, v, DT_MAX_NDIM);
  return n == 0 ? 1 : v[n == 1 ? 0 : d < n ? d : n - 1];
}

/* Padding before and after each dim that keeps its size; what is uneven is
** padded first. */
static DtStatus same_padding (DtDecompCall *c, const DtMeta *w,
                              DtHandle **x, DtValue *padding) {
  int64_t pad[2 * 3] = { 0 }, left[3];
  int nd = w->ndim - 2;
  bool even = true;
  DT_CHECK(c->e->cx, dt_arg_int(c->args, 6) > 0, DT_E_RUNTIME,
           "non-positive groups is not supported");
  DT_CHECK(c->e->cx, nd >= 1 && nd <= 3, DT_E_RUNTIME,
           "weight should have at least three dimensions");
  const DtMeta *m = dt_emit_meta(c->e, *x);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(c->e->cx, m->ndim == w->ndim, DT_E_RUNTIME, "Expected %d-dimensional "
           "input for %d-dimensional weight%s, but got %d-dimensional input of "
           "size %s instead", w->ndim, w->ndim, op_shape_text(w).s, m->ndim,
           op_shape_text(m).s);
  for (int d = 0; d < nd; d++)
    DT_CHECK(c->e->cx, entry(c->args, 3, d) == 1, DT_E_RUNTIME,
             "padding='same' is not supported for strided convolutions");
  for (int d = 0; d < nd; d++) {
    int64_t total = dt_sat_mul(entry(c->args, 5, d), w->shape[2 + d] - 1);
    left[d] = total / 2;
    pad[2 * (nd - 1 - d) + 1] = total - 2 * left[d];
    even = even && total % 2 == 0;
  }
  if (!even)
    *x = EMIT("aten.constant_pad_nd.default", "tIi", *x, 2 * nd, pad,
              (int64_t)0);
  DT_TRY(c->e->cx, same_ints(c, nd, 0, padding));
  for (int d = 0; d < nd; d++) padding->u.list.v[d] = dt_v_int(left[d]);
  return c->e->st;
}

static DtStatus named_decomp (DtDecompCall *c) {
  const char *name = dt_arg_str(c->args, 4);
  DtValue zeros, padding, stride, step;
  DtHandle *x;
  DtMeta w;
  bool had;
  DT_TRY(c->e->cx, spread(c, 3, &stride));
  DT_TRY(c->e->cx, spread(c, 5, &step));
  DT_TRY(c->e->cx, batched(c, &x, &had));
  dt_meta_copy(&w, dt_emit_meta(c->e, c->in[1]));
  if (strcmp(name, "same") == 0) {
    DT_TRY(c->e->cx, same_ints(c, w.ndim > 2 ? w.ndim - 2 : 0, 0, &zeros));
    DT_TRY(c->e->cx, same_padding(c, &w, &x, &padding));
  } else {
    DT_CHECK(c->e->cx, strcmp(name, "valid") == 0, DT_E_RUNTIME,
             "Invalid padding string: '%s'", name);
    DT_TRY(c->e->cx, same_ints(c, 1, 0, &zeros));
    padding = zeros;
  }
  return finish(c, EMIT("aten.convolution.default", "tttvvvbvv", x, c->in[1],
                        dt_hin(c, 2), stride, padding, step, 0, zeros, ARG(6)),
                had);
}

/* ---- conv_tbc: (time, batch, channel) ---- */

static DtStatus tbc_meta (DtMetaCall *c) {
  const DtMeta *x = c->in[0], *w = dt_in(c, 1), *b = dt_in(c, 2);
  int64_t pad = dt_arg_int(c->args, 3), shape[3];
  DT_CHECK(c->cx, x->ndim == 3, DT_E_RUNTIME,
           "Input must have 3 dims: time, batch, in_channel");
  DT_CHECK(c->cx, w->ndim == 3, DT_E_RUNTIME, "Weight tensor must have 3 "
           "dims: kernel_width, in_channels, out_channels.");
  DT_CHECK(c->cx, b->ndim == 1, DT_E_RUNTIME, "Bias must be 1-D");
  DT_CHECK(c->cx, x->shape[2] == w->shape[1], DT_E_RUNTIME, "Input dim 2 "
           "(input channels) is not == dim 1 in the weight tensor");
  DT_CHECK(c->cx, b->shape[0] == w->shape[2], DT_E_RUNTIME, "Bias size must "
           "equal dim 2 in the weight tensor (output channels).");
  DT_CHECK(c->cx, pad < INT32_MAX && pad > -INT32_MAX, DT_E_OVERFLOW,
           "the padding is too large");
  shape[0] = x->shape[0] + 2 * pad - w->shape[0] + 1;
  shape[1] = x->shape[1];
  shape[2] = w->shape[2];
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)x->dtype, 3, shape, x);
}

typedef struct Tbc {
  int64_t t, b, in, k, out, steps, pad;
} Tbc;

static void tbc_sizes (const DtMeta *x, const DtMeta *w, int64_t pad,
                       Tbc *v) {
  v->t = x->shape[0];
  v->b = x->shape[1];
  v->in = x->shape[2];
  v->k = w->shape[0];
  v->out = w->shape[2];
  v->pad = pad;
  v->steps = v->t + 2 * pad - v->k + 1;
}

static DtStatus dense (DtCtx *cx, const DtTensor *t, const DtMeta *m,
                       DtTensor **out, double **data) {
  void *p;
  DT_TRY(cx, op_temp(cx, DT_F64, m->ndim, m->shape, out));
  DT_TRY(cx, t ? dt_k_copy(cx, t, *out)
               : dt_k_fill(cx, *out, dt_scalar_int(0)));
  DT_TRY(cx, dt_tensor_data(cx, *out, &p));
  *data = (double *)p;
  return DT_OK;
}

/* y += x w (make 0), x += y w (1), w += x y (2), over every tap. */
static void tbc_walk (const Tbc *v, int make, double *x, double *w,
                      double *y) {
  for (int64_t s = 0; s < v->steps; s++)
    for (int64_t k = 0; k < v->k; k++) {
      int64_t t = s + k - v->pad;
      if (t < 0 || t >= v->t) continue;
      for (int64_t b = 0; b < v->b; b++)
        for (int64_t i = 0; i < v->in; i++) {
          double *px = x + (t * v->b + b) * v->in + i, sum = 0;
          double *pw = w + (k * v->in + i) * v->out;
          double *py = y + (s * v->b + b) * v->out;
          for (int64_t o = 0; o < v->out; o++) {
            if (make == 0) py[o] += *px * pw[o];
            else if (make == 1) sum += py[o] * pw[o];
            else pw[o] += *px * py[o];
          }
          if (make == 1) *px += sum;
        }
    }
}

static DtStatus tbc_kernel (DtKernelCall *c) {
  const DtTensor *x = c->in[0], *w = dt_kin(c, 1), *b = dt_kin(c, 2);
  DtTensor *t[4] = { NULL, NULL, NULL, NULL };
  double *p[4] = { NULL, NULL, NULL, NULL };
  DtStatus st;
  Tbc v;
  DT_TRY(c->cx, op_sp_dtype(c->cx, "addmm_impl_cpu_", (DtDtype)x->m.dtype,
                            OP_T_FLOAT | OP_T_INTS));
  DT_CHECK(c->cx, x->m.dtype == w->m.dtype, DT_E_RUNTIME,
           "expected scalar type %s but found %s",
           op_dtype_word((DtDtype)x->m.dtype),
           op_dtype_word((DtDtype)w->m.dtype));
  tbc_sizes(&x->m, &w->m, dt_arg_int(c->args, 3), &v);
  DT_TRYG(c->cx, dense(c->cx, x, &x->m, &t[0], &p[0]));
  DT_TRYG(c->cx, dense(c->cx, w, &w->m, &t[1], &p[1]));
  DT_TRYG(c->cx, dense(c->cx, b, &b->m, &t[2], &p[2]));
  DT_TRYG(c->cx, dense(c->cx, NULL, &c->out[0]->m, &t[3], &p[3]));
  for (int64_t i = 0; i < v.steps * v.b * v.out; i++)
    p[3][i] = p[2][i % v.out];
  tbc_walk(&v, 0, p[0], p[1], p[3]);
  st = dt_k_copy(c->cx, t[3], c->out[0]);
done:
  for (int i = 0; i < 4; i++) dt_tensor_unref(c->cx, t[i]);
  return st;
}

static DtStatus tbc_grad (DtGradCall *c) {
  DtHandle *out[3] = { NULL, NULL, NULL };
  dt_emit_n(c->e, "aten.conv_tbc_backward.default", out, 3, "ttttv",
            c->gout[0], c->in[0], dt_gin(c, 1), dt_gin(c, 2), ARG(3));
  for (int i = 0; i < 3; i++)
    if (op_g_need(c, i)) op_g_set(c, i, out[i]);
  return op_g_finish(c);
}

/* (grad, input, weight, bias, pad) */
static DtStatus tbc_back_meta (DtMetaCall *c) {
  const DtMeta *g = c->in[0], *x = dt_in(c, 1), *w = dt_in(c, 2);
  const DtMeta *b = dt_in(c, 3);
  int64_t pad = dt_arg_int(c->args, 4);
  Tbc v;
  bool ok = g->ndim == 3 && x->ndim == 3 && w->ndim == 3 && b->ndim == 1 &&
            pad < INT32_MAX && pad > -INT32_MAX;
  if (ok) {
    tbc_sizes(x, w, pad, &v);
    ok = g->shape[0] == v.steps && g->shape[1] == v.b &&
         g->shape[2] == v.out && w->shape[1] == v.in && b->shape[0] == v.out;
  }
  DT_CHECK(c->cx, ok, DT_E_RUNTIME, "conv_tbc_backward: the gradient's size "
           "%s does not fit", op_shape_text(g).s);
  c->nout = 3;
  for (int i = 0; i < 3; i++) {
    const DtMeta *m = dt_in(c, 1 + i);
    DT_TRY(c->cx, op_new_meta(c->cx, &c->out[i], (DtDtype)m->dtype, m->ndim,
                              m->shape, m));
  }
  return DT_OK;
}

static DtStatus tbc_back_kernel (DtKernelCall *c) {
  const DtTensor *x = dt_kin(c, 1), *w = dt_kin(c, 2);
  DtTensor *t[5] = { NULL, NULL, NULL, NULL, NULL };
  double *p[5] = { NULL, NULL, NULL, NULL, NULL };
  DtStatus st;
  Tbc v;
  tbc_sizes(&x->m, &w->m, dt_arg_int(c->args, 4), &v);
  DT_TRYG(c->cx, dense(c->cx, c->in[0], &c->in[0]->m, &t[0], &p[0]));
  DT_TRYG(c->cx, dense(c->cx, x, &x->m, &t[1], &p[1]));
  DT_TRYG(c->cx, dense(c->cx, w, &w->m, &t[2], &p[2]));
  DT_TRYG(c->cx, dense(c->cx, NULL, &x->m, &t[3], &p[3]));
  DT_TRYG(c->cx, dense(c->cx, NULL, &w->m, &t[4], &p[4]));
  tbc_walk(&v, 1, p[3], p[2], p[0]);
  tbc_walk(&v, 2, p[1], p[4], p[0]);
  if (c->out[0]) DT_TRYG(c->cx, dt_k_copy(c->cx, t[3], c->out[0]));
  if (c->out[1]) DT_TRYG(c->cx, dt_k_copy(c->cx, t[4], c->out[1]));
  st = c->out[2] ? dt_k_reduce(c->cx, DT_RED_SUM, NULL, c->in[0], 3,
                               c->out[2]) : DT_OK;
done:
  for (int i = 0; i < 5; i++) dt_tensor_unref(c->cx, t[i]);
  return st;
}

/* ---- samples and definitions ---- */

static const char *const c1[] = { "f32[2, 4, 7], f32[6, 4, 3], f32[6]",
                                  "f32[4, 7], f32[6, 2, 3], None, [2], [1], "
                                  "[1], 2", NULL };
static const char *const c2[] = { "f32[2, 4, 6, 5], f32[6, 4, 3, 2], f32[6]",
                                  "f32[4, 6, 5], f32[6, 4, 3, 3]", NULL };
static const char *const c3[] = { "f32[2, 2, 4, 4, 3], f32[3, 2, 2, 2, 3]",
                                  NULL };
static const char *const named1[] = {
  "f32[2, 4, 7], f32[6, 4, 2], f32[6], [1], "
  "'same'", NULL
};
static const char *const named2[] = {
  "f32[2, 4, 6, 5], f32[6, 4, 3, 2], None, "
  "[1, 1], 'same'", NULL
};
static const char *const named3[] = {
  "f32[2, 2, 4, 4, 3], f32[3, 2, 2, 2, 3], "
  "None, [1, 1, 1], 'valid'", NULL
};
static const char *const t1[] = { "f32[2, 4, 7], f32[4, 3, 3], f32[3], [2]",
                                  NULL };
static const char *const t2[] = { "f32[2, 4, 3, 5], f32[4, 3, 3, 2], f32[3], "
                                  "[2, 2], [1, 0], [1, 1]", NULL };
static const char *const t3[] = { "f32[2, 2, 2, 3, 3], f32[2, 3, 2, 2, 3]",
                                  NULL };
static const char *const tbc[] = { "f32[5, 2, 3], f32[3, 3, 4], f32[4], 1",
                                   NULL };
static const char *const tbc_b[] = {
  "f32[5, 2, 4], f32[5, 2, 3], f32[3, 3, 4], f32[4], 1", NULL
};

#define OP(id, schema_, brief_, ...) \
  const DtOpDef dt_op_##id = { .schema = "aten::" schema_, \
                               .brief = brief_, __VA_ARGS__ }
#define IWB "(Tensor input, Tensor weight, Tensor? bias=None, "
#define FORMS(n, ones, zeros) \
  OP(conv##n##d, "conv" #n "d" IWB "SymInt[" #n "] stride=" ones ", SymInt[" \
     #n "] padding=" zeros ", SymInt[" #n "] dilation=" ones ", SymInt " \
     "groups=1) -> Tensor", "Convolution.", .flags = DT_OP_COMPOSITE, \
     .decomp = conv_decomp, .samples = c##n, .row = row##n); \
  OP(conv##n##d_padding, "conv" #n "d.padding" IWB "SymInt[" #n "] stride=" \
     ones ", str padding='valid', SymInt[" #n "] dilation=" ones ", SymInt " \
     "groups=1) -> Tensor", "Convolution, its padding by name.", \
     .flags = DT_OP_COMPOSITE, .decomp = named_decomp, .samples = named##n, \
     .row = row##n)
#define TRANSPOSED(id, name, n, ones, zeros) \
  OP(id, name IWB "SymInt[" #n "] stride=" ones ", SymInt[" #n "] padding=" \
     zeros ", SymInt[" #n "] output_padding=" zeros ", SymInt groups=1, " \
     "SymInt[" #n "] dilation=" ones ") -> Tensor", \
     "Convolution the other way.", .flags = DT_OP_COMPOSITE, \
     .decomp = transposed_decomp, .samples = t##n, .row = trow##n)

FORMS(1, "[1]", "[0]");
FORMS(2, "[1, 1]", "[0, 0]");
FORMS(3, "[1, 1, 1]", "[0, 0, 0]");
TRANSPOSED(conv_transpose1d, "conv_transpose1d", 1, "[1]", "[0]");
TRANSPOSED(conv_transpose2d_input, "conv_transpose2d.input", 2, "[1, 1]",
           "[0, 0]");
TRANSPOSED(conv_transpose3d_input, "conv_transpose3d.input", 3, "[1, 1, 1]",
           "[0, 0, 0]");
OP(conv_tbc, "conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> "
   "Tensor", "Convolution of (time, batch, channel).",
   .flags = DT_OP_NOSTRATEGY, .meta = tbc_meta, .kernel = tbc_kernel,
   .grad = tbc_grad, .samples = tbc);
OP(conv_tbc_backward, "conv_tbc_backward(Tensor self, Tensor input, Tensor "
   "weight, Tensor bias, int pad) -> (Tensor, Tensor, Tensor)",
   "Gradients of conv_tbc.", .flags = DT_OP_NOSTRATEGY | DT_OP_NOGRAD,
   .meta = tbc_back_meta, .kernel = tbc_back_kernel, .samples = tbc_b);
