/* SPDX-License-Identifier: MIT
** oplib/op_grid.c: sampling an image or volume where a grid says, its
** gradients, and grids of affine maps.
**
** An affine grid is the product of the places' coordinates (x, y[, z], 1) and
** the transposed map; its gradient is the other product. */
#include "base/sat.h"
#include "oplib/op_spatial.h"

#include <stdio.h>
#include <string.h>


static const int row2[] = { 2 }, row3[] = { 3 };
#define ND (c->op->row[0])

/* ---- grid_sampler ---- */

/* Sizes, as Python prints them where `fake`. */
static OpText sizes_text (const DtMeta *m, bool fake) {
  OpText t = op_shape_text(m), out;
  snprintf(out.s, sizeof out.s, "%s%.220s%s", fake ? "torch.Size(" : "", t.s,
           fake ? ")" : "");
  return out;
}

static DtStatus check (DtCtx *cx, const DtMeta *in, const DtMeta *grid,
                       bool fake) {
  OpText a = sizes_text(in, fake), b = sizes_text(grid, fake);
  DT_CHECK(cx, in->ndim > 0 && grid->ndim > 0 &&
           in->shape[0] == grid->shape[0], DT_E_RUNTIME, "grid_sampler(): "
           "expected grid and input to have same batch size, but got input "
           "with sizes %s and grid with sizes %s", a.s, b.s);
  DT_CHECK(cx, grid->shape[grid->ndim - 1] == in->ndim - 2, DT_E_RUNTIME,
           "grid_sampler(): expected grid to have size %d in last dimension, "
           "but got grid with sizes %s", in->ndim - 2, b.s);
  for (int d = 2; d < in->ndim; d++)
    DT_CHECK(cx, in->shape[d] > 0, DT_E_RUNTIME, "grid_sampler(): expected "
             "input to have non-empty spatial dimensions, but input has sizes "
             "%s with dimension %d being empty", a.s, d);
  return DT_OK;
}

static DtStatus check_nd (DtCtx *cx, const DtMeta *in, const DtMeta *grid,
                          int nd, int64_t mode, bool fake) {
  DT_TRY(cx, check(cx, in, grid, fake));
  DT_CHECK(cx, in->ndim == nd + 2 && grid->ndim == in->ndim, DT_E_RUNTIME,
           "grid_sampler(): expected %dD input and grid with same number of "
           "dimensions, but got input with sizes %s and grid with sizes %s",
           nd + 2, sizes_text(in, fake).s, sizes_text(grid, fake).s);
  DT_CHECK(cx, nd == 2 || mode != 2, DT_E_RUNTIME, "grid_sampler(): bicubic "
           "interpolation only supports 4D input");
  return DT_OK;
}

/* PyTorch decomposes this form to know its result. */
static DtStatus check_fake_2d (DtCtx *cx, const DtMeta *in,
                               const DtMeta *grid) {
  int64_t last = grid->shape[grid->ndim - 1], n = grid->shape[0];
  DT_CHECK(cx, last == 2, DT_E_RUNTIME, "grid last dimension must be 2 (for "
           "x,y coords), got %lld", (long long)last);
  DT_CHECK(cx, in->shape[0] == n, DT_E_RUNTIME, "shape '[%lld, 1, %lld, %lld, "
           "2]' is invalid for input of size %lld", (long long)in->shape[0],
           (long long)grid->shape[1], (long long)grid->shape[2],
           (long long)dt_meta_numel(grid));
  return DT_OK;
}

static DtStatus sample_meta (DtMetaCall *c) {
  const DtMeta *in = c->in[0], *grid = dt_in(c, 1);
  int64_t shape[5];
  int nd = ND;
  for (int i = 0; c->fake && nd == 2 && i < 2; i++) {
    int have = i ? grid->ndim : in->ndim;
    DT_CHECK(c->cx, have >= 4, DT_E_VALUE,
             "not enough values to unpack (expected 4, got %d)", have);
    DT_CHECK(c->cx, have == 4, DT_E_VALUE,
             "too many values to unpack (expected 4)");
  }
  if (c->fake && nd == 2)
    DT_TRY(c->cx, check_fake_2d(c->cx, in, grid));
  else
    DT_TRY(c->cx, check_nd(c->cx, in, grid, nd, dt_arg_int(c->args, 2),
                           c->fake));
  shape[0] = in->shape[0];
  shape[1] = in->shape[1];
  for (int d = 0; d < nd; d++) shape[2 + d] = grid->shape[1 + d];
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)in->dtype, nd + 2, shape,
                     in);
}

static bool wanted (const DtArgs *a, int i) {
  const DtValue *m = &a->v[6];
  return m->kind != DT_V_LIST || i >= m->u.list.n || m->u.list.v[i].u.b;
}

/* (grad, input, grid, mode, padding, align, mask); the grid's gradient comes
** whether it is asked for or not. */
static DtStatus back_meta (DtMetaCall *c) {
  const DtMeta *g = c->in[0], *in = dt_in(c, 1), *grid = dt_in(c, 2);
  int nd = ND;
  /* PyTorch's shape function of this form does not know its results. */
  DT_CHECK(c->cx, !c->fake || nd == 2 || !c->args->schema->is_out, DT_E_TYPE,
           "grid_sampler_3d_backward() got an unexpected keyword argument "
           "'out0'");
  if (!c->fake || nd != 2 || in->ndim != 4 || grid->ndim != 4)
    DT_TRY(c->cx, check_nd(c->cx, in, grid, nd, dt_arg_int(c->args, 3),
                           c->fake));
  bool fits = g->ndim == nd + 2 && g->shape[0] == in->shape[0] &&
              g->shape[1] == in->shape[1];
  for (int d = 0; fits && d < nd; d++)
    fits = g->shape[2 + d] == grid->shape[1 + d];
  DT_CHECK(c->cx, fits, DT_E_RUNTIME, "grid_sampler backward: the gradient's "
           "size %s does not fit", op_shape_text(g).s);
  c->nout = 2;
  c->none[0] = !wanted(c->args, 0);
  DT_TRY(c->cx, op_sp_result(c->cx, in, (DtDtype)in->dtype, 0, NULL, false,
                             &c->out[0]));
  return op_sp_result(c->cx, grid, (DtDtype)grid->dtype, 0, NULL, false,
                      &c->out[1]);
}

static DtStatus read_modes (const DtArgs *a, int at, int nd,
                            DtGridSample *s) {
  int64_t mode = dt_arg_int(a, at), pad = dt_arg_int(a, at + 1);
  s->nd = nd;
  s->mode = mode >= 0 && mode <= 2 ? (int)mode : 0;
  s->pad = pad >= 0 && pad <= 2 ? (int)pad : 0;
  s->align = dt_arg_bool(a, at + 2);
  return DT_OK;
}

static DtStatus check_dtypes (DtCtx *cx, const DtMeta *in,
                              const DtMeta *grid, const char *name) {
  DT_TRY(cx, op_sp_dtype(cx, name, (DtDtype)in->dtype, OP_T_FLOAT));
  DT_CHECK(cx, in->dtype == grid->dtype, DT_E_RUNTIME,
           "expected scalar type %s but found %s",
           op_dtype_word((DtDtype)in->dtype),
           op_dtype_word((DtDtype)grid->dtype));
  return DT_OK;
}

static DtStatus sample_kernel (DtKernelCall *c) {
  DtGridSample s;
  DT_TRY(c->cx, check_dtypes(c->cx, &c->in[0]->m, &dt_kin(c, 1)->m, ND == 2
                             ? "grid_sampler_2d_cpu_kernel_impl"
                             : "grid_sampler3d_cpu"));
  DT_TRY(c->cx, read_modes(c->args, 2, ND, &s));
  return dt_k_grid_sample(c->cx, &s, c->in[0], dt_kin(c, 1), c->out[0]);
}

static DtStatus back_kernel (DtKernelCall *c) {
  DtGridSample s;
  DT_TRY(c->cx, check_dtypes(c->cx, &dt_kin(c, 1)->m, &dt_kin(c, 2)->m,
                             ND == 2
                             ? "grid_sampler_2d_backward_cpu_kernel_impl"
                             : "grid_sampler_3d_backward_cpu"));
  DT_TRY(c->cx, read_modes(c->args, 3, ND, &s));
  return dt_k_grid_sample_back(c->cx, &s, c->in[0], dt_kin(c, 1),
                               dt_kin(c, 2), c->out[0], c->out[1]);
}

static DtStatus sample_grad (DtGradCall *c) {
  DtHandle *out[2] = { NULL, NULL };
  DtValue mask[2] = { dt_v_bool(op_g_need(c, 0)),
                      dt_v_bool(op_g_need(c, 1)) };
  dt_emit_n(c->e, ND == 2 ? "aten.grid_sampler_2d_backward.default"
                          : "aten.grid_sampler_3d_backward.default", out, 2,
            "tttvvvv", c->gout[0], c->in[0], dt_gin(c, 1), ARG(2), ARG(3),
            ARG(4),
            dt_v_list(2, mask));
  for (int i = 0; i < 2; i++)
    if (op_g_need(c, i)) op_g_set(c, i, out[i]);
  return op_g_finish(c);
}

static DtStatus sampler_decomp (DtDecompCall *c) {
  DtMeta in, grid;
  dt_meta_copy(&in, dt_emit_meta(c->e, c->in[0]));
  dt_meta_copy(&grid, dt_emit_meta(c->e, c->in[1]));
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (!c->e->pretend) DT_TRY(c->e->cx, check(c->e->cx, &in, &grid, false));
  c->nout = 1;
  c->out[0] = EMIT(in.ndim == 4 ? "aten.grid_sampler_2d.default"
                                : "aten.grid_sampler_3d.default", "ttvvv",
                   c->in[0], c->in[1], ARG(2), ARG(3), ARG(4));
  return c->e->st;
}

static const char *const sample_rules[] = {
  "S(0), S(0) -> S(0)", "P(sum), R -> P(sum)", "P(avg), R -> P(avg)", NULL
};
static const char *const back_rules[] = {
  "S(0), S(0), S(0) -> S(0), S(0)", NULL
};

/* ---- affine_grid_generator ---- */

static DtStatus affine_sizes (DtCtx *cx, const DtArgs *a, int64_t *size,
                              int *nd) {
  int n = op_ints(a, 1, size);
  *nd = 2;
  DT_CHECK(cx, n == 4 || n == 5, DT_E_RUNTIME, "AffineGridGenerator needs 4d "
           "(spatial) or 5d (volumetric) inputs.");
  *nd = n - 2;
  return DT_OK;
}

static DtStatus affine_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  int64_t size[DT_MAX_NDIM], shape[5];
  int nd;
  DT_TRY(c->cx, affine_sizes(c->cx, c->args, size, &nd));
  DT_CHECK(c->cx, m->ndim >= 2, DT_E_INDEX, "Dimension out of range (expected "
           "to be in range of [-%d, %d], but got 1)", m->ndim ? m->ndim : 1,
           m->ndim ? m->ndim - 1 : 0);
  DT_CHECK(c->cx, m->ndim == 3, DT_E_RUNTIME,
           "batch2 must be a 3D tensor");
  DT_CHECK(c->cx, m->shape[0] == size[0] && m->shape[2] == nd + 1,
           DT_E_RUNTIME, "Expected size for first two dimensions of batch2 "
           "tensor to be: [%lld, %d] but got: [%lld, %lld].",
           (long long)size[0], nd + 1, (long long)m->shape[0],
           (long long)m->shape[2]);
  shape[0] = size[0];
  for (int d = 0; d < nd; d++) shape[1 + d] = size[2 + d];
  shape[nd + 1] = nd;
  int64_t n = dt_sat_mul(size[0], m->shape[1]);
  for (int d = 0; d < nd; d++) n = dt_sat_mul(n, size[2 + d]);
  DT_CHECK(c->cx, m->shape[1] == nd, DT_E_RUNTIME, "shape '%s' is invalid for "
           "input of size %lld", op_ints_text(nd + 2, shape).s,
           (long long)n);
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, nd + 2, shape, m);
}

/* linspace(-1, 1), moved to the pixels' middles unless aligned. */
static double coordinate (int64_t i, int64_t n, bool align) {
  double x = n <= 1 ? 0 : -1 + 2 * (double)i / (double)(n - 1);
  return align || n < 1 ? x : x * (double)(n - 1) / (double)n;
}

/* Walk of the places of one map: coordinates x, y[, z], 1 of place i. */
static void place (const int64_t *size, int nd, bool align, int64_t i,
                   double *at) {
  for (int d = nd - 1; d >= 0; d--) {
    int64_t n = size[2 + d];
    at[nd - 1 - d] = coordinate(i % n, n, align);
    i /= n;
  }
  at[nd] = 1;
}

static int64_t places (const int64_t *size, int nd) {
  int64_t n = 1;
  for (int d = 0; d < nd; d++) n *= size[2 + d];
  return n;
}

static DtStatus affine_kernel (DtKernelCall *c) {
  int64_t size[DT_MAX_NDIM];
  DtTensor *t = NULL, *o = NULL;
  DtStatus st;
  double at[4];
  int nd;
  void *p, *q;
  bool align = dt_arg_bool(c->args, 2);
  DT_TRY(c->cx, affine_sizes(c->cx, c->args, size, &nd));
  DT_TRY(c->cx, op_sp_dtype(c->cx, "linspace_cpu",
                            (DtDtype)c->in[0]->m.dtype,
                            OP_T_FLOAT | OP_T_INTS | OP_T_COMPLEX));
  DT_TRYG(c->cx, op_temp(c->cx, DT_F64, 3, c->in[0]->m.shape, &t));
  DT_TRYG(c->cx, dt_k_copy(c->cx, c->in[0], t));
  DT_TRYG(c->cx, dt_tensor_data(c->cx, t, &p));
  DT_TRYG(c->cx, op_temp(c->cx, DT_F64, nd + 2, c->out[0]->m.shape, &o));
  DT_TRYG(c->cx, dt_tensor_data(c->cx, o, &q));
  const double *theta = (const double *)p;
  double *y = (double *)q;
  int64_t n = places(size, nd);
  for (int64_t b = 0; b < size[0]; b++, theta += nd * (nd + 1))
    for (int64_t i = 0; i < n; i++) {
      place(size, nd, align, i, at);
      for (int k = 0; k < nd; k++) {
        double s = 0;
        for (int j = 0; j <= nd; j++) s += theta[k * (nd + 1) + j] * at[j];
        *y++ = s;
      }
    }
  st = dt_k_copy(c->cx, o, c->out[0]);
done:
  dt_tensor_unref(c->cx, t);
  dt_tensor_unref(c->cx, o);
  return st;
}

static DtStatus affine_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten.affine_grid_generator_backward.default", "tvv",
                      c->gout[0], ARG(1), ARG(2)));
  return op_g_finish(c);
}

static DtStatus affine_back_meta (DtMetaCall *c) {
  const DtMeta *g = c->in[0];
  int64_t size[DT_MAX_NDIM], shape[3];
  int nd;
  DT_TRY(c->cx, affine_sizes(c->cx, c->args, size, &nd));
  bool fits = g->ndim == nd + 2 && g->shape[0] == size[0] &&
              g->shape[nd + 1] == nd;
  for (int d = 0; fits && d < nd; d++) fits = g->shape[1 + d] == size[2 + d];
  DT_CHECK(c->cx, fits, DT_E_RUNTIME, "affine_grid_generator backward: the "
           "gradient's size %s does not fit", op_shape_text(g).s);
  shape[0] = size[0];
  shape[1] = nd;
  shape[2] = nd + 1;
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)g->dtype, 3, shape, g);
}

static DtStatus affine_back_kernel (DtKernelCall *c) {
  int64_t size[DT_MAX_NDIM];
  DtTensor *g = NULL, *o = NULL;
  DtStatus st;
  double at[4];
  int nd;
  void *p, *q;
  bool align = dt_arg_bool(c->args, 2);
  DT_TRY(c->cx, affine_sizes(c->cx, c->args, size, &nd));
  DT_TRYG(c->cx, op_temp(c->cx, DT_F64, nd + 2, c->in[0]->m.shape, &g));
  DT_TRYG(c->cx, dt_k_copy(c->cx, c->in[0], g));
  DT_TRYG(c->cx, dt_tensor_data(c->cx, g, &p));
  DT_TRYG(c->cx, op_temp(c->cx, DT_F64, 3, c->out[0]->m.shape, &o));
  DT_TRYG(c->cx, dt_k_fill(c->cx, o, dt_scalar_int(0)));
  DT_TRYG(c->cx, dt_tensor_data(c->cx, o, &q));
  const double *y = (const double *)p;
  double *theta = (double *)q;
  int64_t n = places(size, nd);
  for (int64_t b = 0; b < size[0]; b++, theta += nd * (nd + 1))
    for (int64_t i = 0; i < n; i++) {
      place(size, nd, align, i, at);
      for (int k = 0; k < nd; k++, y++)
        for (int j = 0; j <= nd; j++) theta[k * (nd + 1) + j] += *y * at[j];
    }
  st = dt_k_copy(c->cx, o, c->out[0]);
done:
  dt_tensor_unref(c->cx, g);
  dt_tensor_unref(c->cx, o);
  return st;
}

/* ---- samples and definitions ---- */

static const char *const s2[] = {
  "f32[2, 3, 4, 5], f32[2, 3, 2, 2], 0, 0, False",
  "f32[2, 3, 4, 5], f32[2, 3, 2, 2], 2, 1, True", NULL
};
static const char *const s3[] = {
  "f32[2, 3, 4, 5, 2], f32[2, 3, 2, 2, 3], 0, 2, False", NULL
};
static const char *const b2[] = {
  "f32[2, 3, 3, 2], f32[2, 3, 4, 5], f32[2, 3, 2, 2], 0, 0, False, "
  "[True, True]", NULL
};
static const char *const b3[] = {
  "f32[2, 3, 3, 2, 2], f32[2, 3, 4, 5, 2], f32[2, 3, 2, 2, 3], 0, 0, False, "
  "[True, True]", NULL
};
static const char *const affine_s[] = { "f32[2, 2, 3], [2, 1, 3, 4], False",
                                        "f32[1, 3, 4], [1, 1, 2, 3, 4], True",
                                        NULL };
static const char *const affine_b[] = { "f32[2, 3, 4, 2], [2, 1, 3, 4], False",
                                        NULL };

#define OP(id, schema_, brief_, ...) \
  const DtOpDef dt_op_##id = { .schema = "aten::" #id schema_, \
                               .brief = brief_, __VA_ARGS__ }
#define ARGS "Tensor input, Tensor grid, int interpolation_mode, int " \
  "padding_mode, bool align_corners"
OP(grid_sampler, "(" ARGS ") -> Tensor", "Samples where a grid says.",
   .flags = DT_OP_COMPOSITE, .decomp = sampler_decomp, .samples = s2);
OP(grid_sampler_2d, "(" ARGS ") -> Tensor", "Samples of images.",
   .meta = sample_meta, .kernel = sample_kernel, .rules = sample_rules,
   .grad = sample_grad, .samples = s2, .row = row2);
OP(grid_sampler_3d, "(" ARGS ") -> Tensor", "Samples of volumes.",
   .meta = sample_meta, .kernel = sample_kernel, .rules = sample_rules,
   .grad = sample_grad, .samples = s3, .row = row3);
OP(grid_sampler_2d_backward, "(Tensor grad_output, " ARGS ", bool[2] "
   "output_mask) -> (Tensor, Tensor)", "Gradients of grid_sampler_2d.",
   .flags = DT_OP_NOGRAD, .meta = back_meta, .kernel = back_kernel,
   .rules = back_rules, .samples = b2, .row = row2);
OP(grid_sampler_3d_backward, "(Tensor grad_output, " ARGS ", bool[2] "
   "output_mask) -> (Tensor, Tensor)", "Gradients of grid_sampler_3d.",
   .flags = DT_OP_NOGRAD, .meta = back_meta, .kernel = back_kernel,
   .rules = back_rules, .samples = b3, .row = row3);
OP(affine_grid_generator, "(Tensor theta, SymInt[] size, bool align_corners) "
   "-> Tensor", "The grid of an affine map.", .flags = DT_OP_NOSTRATEGY,
   .meta = affine_meta, .kernel = affine_kernel, .grad = affine_grad,
   .samples = affine_s);
OP(affine_grid_generator_backward, "(Tensor grad, SymInt[] size, bool "
   "align_corners) -> Tensor", "Gradient of affine_grid_generator.",
   .flags = DT_OP_NOSTRATEGY | DT_OP_NOGRAD, .meta = affine_back_meta,
   .kernel = affine_back_kernel, .samples = affine_b);
