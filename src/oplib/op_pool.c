/* SPDX-License-Identifier: MIT
** oplib/op_pool.c: maxima and averages over sliding windows in one to three
** dims, and their gradients.
**
** A call is read once into a Pool (window, step, border, spacing, sizes), with
** the checks of PyTorch's shape functions in their order; the kernels get
** windows or taps made from it.  What works on one dim is made of the two-dim
** operator.  Adaptive and fractional windows: op_adaptive.c. */
#include "base/sat.h"
#include "oplib/op_spatial.h"
#include "oplib/second.h"

#include <stdio.h>
#include <string.h>


/* Row: spatial dims, is it a maximum? */
enum { ROW_ND, ROW_MAX };
static const int row_max1[] = { 1, 1 }, row_max2[] = { 2, 1 },
                 row_max3[] = { 3, 1 }, row_avg1[] = { 1, 0 },
                 row_avg2[] = { 2, 0 }, row_avg3[] = { 3, 0 };

typedef struct Pool {
  int nd;
  bool max, ceil, count_pad;
  int64_t k[3], s[3], p[3], d[3], in[3], out[3];
  int64_t divisor;              /* 0: none given */
} Pool;

/* ---- reading ---- */

/* One list argument: one number for all dims, or one each. */
static DtStatus read_list (DtCtx *cx, const DtArgs *a, int i, int nd,
                           bool optional, const char *op, const char *what,
                           const char *must, int64_t *out) {
  int64_t v[DT_MAX_NDIM];
  int n = dt_arg_len(a, i);
  DT_CHECK(cx, n == 1 || n == nd || (optional && n == 0), DT_E_RUNTIME,
           "%s%dd: %s %s a single int, or a tuple of %s ints", op, nd, what,
           must, nd == 2 ? "two" : "three");
  n = dt_arg_ints(a, i, v, DT_MAX_NDIM);
  for (int d = 0; d < nd && n > 0; d++) out[d] = v[n == 1 ? 0 : d];
  return DT_OK;
}

/* The arguments from `at` on: window, step, border[, spacing], ceil. */
static DtStatus read_args (DtCtx *cx, const DtArgs *a, int at, Pool *v) {
  const char *op = v->max ? "max_pool" : "avg_pool";
  bool odd = !v->max && v->nd == 3;
  const char *must = odd ? "must be" : "must either be";
  DT_TRY(cx, read_list(cx, a, at, v->nd, false, op, "kernel_size", must,
                       v->k));
  memcpy(v->s, v->k, sizeof v->s);
  DT_TRY(cx, read_list(cx, a, at + 1, v->nd, true, op, "stride",
                       odd ? "must be omitted," : "must either be omitted,",
                       v->s));
  DT_TRY(cx, read_list(cx, a, at + 2, v->nd, false, op, "padding", must,
                       v->p));
  for (int d = 0; d < 3; d++) v->d[d] = 1;
  if (v->max) {
    DT_TRY(cx, read_list(cx, a, at + 3, v->nd, false, op, "dilation",
                         "must be either", v->d));
    v->ceil = dt_arg_bool(a, at + 4);
    return DT_OK;
  }
  v->ceil = dt_arg_bool(a, at + 3);
  v->count_pad = dt_arg_bool(a, at + 4);
  v->divisor = dt_arg_int_or(a, at + 5, 0);
  DT_CHECK(cx, dt_arg_is_none(a, at + 5) || v->divisor != 0, DT_E_RUNTIME,
           "divisor must be not zero");
  return DT_OK;
}

static int64_t floor_div (int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? q - 1 : q;
}

/* pooling_output_shape of Pool.h for one dim. */
static DtStatus out_size (DtCtx *cx, Pool *v, int d) {
  int64_t k = v->k[d], s = v->s[d], p = v->p[d], reach;
  DT_CHECK(cx, s != 0, DT_E_RUNTIME, "stride should not be zero");
  DT_CHECK(cx, p >= 0, DT_E_RUNTIME, "pad must be non-negative, but got pad: "
           "%lld", (long long)p);
  DT_CHECK(cx, k < INT32_MAX && v->d[d] < INT32_MAX && p < INT32_MAX &&
           k > -INT32_MAX && v->d[d] > -INT32_MAX, DT_E_OVERFLOW,
           "the window is too large");
  reach = (k - 1) * v->d[d] + 1;
  DT_CHECK(cx, p <= reach / 2, DT_E_RUNTIME, "pad should be at most half of "
           "effective kernel size, but got pad=%lld, kernel_size=%lld and "
           "dilation=%lld", (long long)p, (long long)k, (long long)v->d[d]);
  int64_t room = dt_sat_add(v->in[d] - reach, dt_sat_mul(2, p));
  v->out[d] = floor_div(dt_sat_add(room, v->ceil ? s - 1 : 0), s) + 1;
  if (v->ceil && dt_sat_mul(v->out[d] - 1, s) >= dt_sat_add(v->in[d], p))
    v->out[d]--;
  return DT_OK;
}

/* "kT: 1 kH: 2 kW: 3" with the given letter before each dim's name. */
static OpText by_dim (const Pool *v, const char *word, const int64_t *x) {
  static const char names[] = "THW";
  OpText t = { "" };
  size_t n = 0;
  for (int d = 0; d < v->nd; d++) {
    int got = snprintf(t.s + n, sizeof t.s - n, "%s%s%c: %lld", d ? " " : "",
                       word, names[3 - v->nd + d], (long long)x[d]);
    n += got > 0 ? (size_t)got : 0;
    if (n >= sizeof t.s) break;
  }
  return t;
}

/* "2x4x4" */
static OpText by_size (const Pool *v, int64_t planes, const int64_t *x) {
  OpText t = { "" };
  size_t n = 0;
  for (int d = -1; d < v->nd; d++) {
    int got = snprintf(t.s + n, sizeof t.s - n, "%s%lld", d < 0 ? "" : "x",
                       (long long)(d < 0 ? planes : x[d]));
    n += got > 0 ? (size_t)got : 0;
    if (n >= sizeof t.s) break;
  }
  return t;
}

static DtStatus check_positive (DtCtx *cx, const Pool *v) {
  bool k = true, s = true, d = true;
  for (int i = 0; i < v->nd; i++) {
    k = k && v->k[i] > 0;
    s = s && v->s[i] > 0;
    d = d && v->d[i] > 0;
  }
  DT_CHECK(cx, k, DT_E_RUNTIME, "kernel size should be greater than zero, but "
           "got %s", by_dim(v, "k", v->k).s);
  DT_CHECK(cx, s, DT_E_RUNTIME, "stride should be greater than zero, but got "
           "%s", by_dim(v, "d", v->s).s);
  DT_CHECK(cx, d, DT_E_RUNTIME, "dilation should be greater than zero, but "
           "got %s", by_dim(v, "dilation", v->d).s);
  return DT_OK;
}

/* How an operator over three dims calls itself: max_pool3d_with_indices(). */
static OpText own_name (const DtOpDef *op, const Pool *v, bool fake) {
  OpText t;
  (void)snprintf(t.s, sizeof t.s, "%s%s()", op->sig->base,
                 v->max && !fake ? "_out_cpu_template" : "");
  return t;
}

static DtStatus check_dims (DtCtx *cx, const DtOpDef *op, const Pool *v,
                            const DtMeta *in, bool fake) {
  OpText shape = op_shape_text(in);
  const char *size = fake ? "torch.Size(" : "", *end = fake ? ")" : "";
  bool fits = in->ndim == v->nd + 1 || in->ndim == v->nd + 2;
  int none = op_sp_empty_dim(in, v->nd, true);
  bool empty = none >= 0;
  if (v->nd == 2) {
    DT_CHECK(cx, fits && !empty, DT_E_RUNTIME, "Expected 3D or 4D (batch mode) "
             "tensor with optional 0 dim batch size for input, but got:%s%s%s%s",
             fake ? " " : "", size, shape.s, end);
    return DT_OK;
  }
  OpText name = own_name(op, v, fake);
  const char *fn = name.s;
  DT_CHECK(cx, fits, DT_E_RUNTIME, "%s: Expected 4D or 5D tensor for input, "
           "but got: %s%s%s", fn, size, shape.s, end);
  DT_CHECK(cx, !empty || (op->flags & DT_OP_LATER) == 0, DT_E_RUNTIME,
           "%s: Expected input to have non-zero size for non-batch dimensions, "
           "but input has sizes %s%s%s with dimension %d being empty", fn, size,
           shape.s, end, none);
  DT_CHECK(cx, !empty, DT_E_RUNTIME, "%s: Expected input's non-batch "
           "dimensions to have positive length, but input has a shape of %s%s%s "
           "and non-batch dimension 0 has length zero!", fn, size, shape.s,
           end);
  return DT_OK;
}

static DtStatus check_pads (DtCtx *cx, const Pool *v) {
  const int64_t *k = v->k, *p = v->p;
  bool ok = true, large = true;
  for (int d = 0; d < v->nd; d++) {
    ok = ok && k[d] / 2 >= p[d];
    large = large && v->in[d] >= k[d];
  }
  DT_CHECK(cx, v->max || v->nd == 2 || large, DT_E_RUNTIME, "input image (%s) "
           "smaller than kernel size (%s)", by_dim(v, "", v->in).s,
           by_dim(v, "k", k).s);
  if (v->nd == 2)
    DT_CHECK(cx, ok, DT_E_RUNTIME, "pad should be smaller than or equal to "
             "half of kernel size, but got padW = %lld, padH = %lld, kW = "
             "%lld, kH = %lld", (long long)p[1], (long long)p[0],
             (long long)k[1], (long long)k[0]);
  DT_CHECK(cx, ok, DT_E_RUNTIME, "pad should be smaller than or equal to half "
           "of kernel size, but got kT: %lld kW: %lld kH: %lld padT: %lld "
           "padW: %lld padH: %lld", (long long)k[0], (long long)k[2],
           (long long)k[1], (long long)p[0], (long long)p[2],
           (long long)p[1]);
  return DT_OK;
}

/* A whole call on `in`; arguments from `at` on. */
static DtStatus pool_read (DtCtx *cx, const DtOpDef *op, const DtArgs *a,
                           int at, const DtMeta *in, bool fake, Pool *v) {
  bool small = false;
  memset(v, 0, sizeof *v);
  v->nd = op->row[ROW_ND];
  v->max = op->row[ROW_MAX] != 0;
  DT_TRY(cx, read_args(cx, a, at, v));
  if (v->nd == 2 && !v->max)
    DT_CHECK(cx, in->ndim >= 3, DT_E_INDEX, "Dimension out of range (expected "
             "to be in range of [-%d, %d], but got -3)",
             in->ndim ? in->ndim : 1, in->ndim ? in->ndim - 1 : 0);
  else
    DT_CHECK(cx, in->ndim == v->nd + 1 || in->ndim == v->nd + 2, DT_E_RUNTIME,
             "non-empty %dD or %dD (batch mode) tensor expected for input",
             v->nd + 1, v->nd + 2);
  for (int d = 0; d < v->nd; d++) {
    v->in[d] = in->shape[in->ndim - v->nd + d];
    DT_TRY(cx, out_size(cx, v, d));
    small = small || v->out[d] < 1;
  }
  DT_TRY(cx, check_positive(cx, v));
  DT_TRY(cx, check_dims(cx, op, v, in, fake));
  DT_TRY(cx, check_pads(cx, v));
  int64_t planes = in->shape[in->ndim - v->nd - 1];
  DT_CHECK(cx, !small, DT_E_RUNTIME, "Given input size: (%s). Calculated "
           "output size: (%s). Output size is too small",
           by_size(v, planes, v->in).s, by_size(v, planes, v->out).s);
  return DT_OK;
}

/* ---- shapes ---- */

static DtStatus pool_meta (DtMetaCall *c) {
  const DtMeta *in = c->in[0];
  Pool v;
  DT_TRY(c->cx, pool_read(c->cx, c->op, c->args, 1, in, c->fake, &v));
  bool format = v.max || v.nd == 2;
  c->nout = v.max ? 2 : 1;
  for (int i = 0; i < c->nout; i++)
    DT_TRY(c->cx, op_sp_result(c->cx, in, i ? DT_I64 : (DtDtype)in->dtype,
                               v.nd, v.out, format, &c->out[i]));
  return DT_OK;
}

/* As op_sp_check_dim, in the words of PyTorch's shape functions. */
static DtStatus fake_check_dim (DtCtx *cx, const DtMeta *m, int ndim, int dim,
                                int64_t size) {
  int64_t have = dim < m->ndim ? m->shape[dim] : -1;
  DT_CHECK(cx, m->ndim == ndim && have == size, DT_E_RUNTIME, "Expected a "
           "tensor of dimension %d and tensor.size[%d] == %lld, but got : "
           "dimension %d and tensor.size[%d] = %lld", ndim, dim,
           (long long)size, m->ndim, dim, (long long)have);
  return DT_OK;
}

static DtStatus check_grad (DtCtx *cx, const Pool *v, const DtMeta *g,
                            const DtMeta *in, const int64_t *out, bool fake) {
  int at = in->ndim - v->nd;
  DtStatus (*check) (DtCtx *, const DtMeta *, int, int, int64_t) =
    fake && v->nd == 2 ? fake_check_dim : op_sp_check_dim;
  DT_TRY(cx, check(cx, g, in->ndim, at - 1, in->shape[at - 1]));
  for (int d = 0; d < v->nd; d++)
    DT_TRY(cx, check(cx, g, in->ndim, at + d, out[d]));
  return DT_OK;
}

/* (grad, self, window..., [indices]) */
static DtStatus pool_back_meta (DtMetaCall *c) {
  const DtMeta *g = c->in[0], *in = dt_in(c, 1);
  Pool v;
  DT_TRY(c->cx, pool_read(c->cx, c->op, c->args, 2, in, c->fake, &v));
  DT_CHECK(c->cx, g->dtype == in->dtype || v.nd == 3 || (!v.max && c->fake),
           DT_E_RUNTIME,
           "expected dtype %s for `gradOutput` but got dtype %s",
           op_sp_ctype((DtDtype)in->dtype), op_sp_ctype((DtDtype)g->dtype));
  if (v.max && v.nd == 3 && g->ndim == in->ndim)
    for (int d = 0; d < 3; d++) v.out[d] = g->shape[g->ndim - 3 + d];
  DT_TRY(c->cx, check_grad(c->cx, &v, g, in, v.out, c->fake));
  if (v.max)
    DT_TRY(c->cx, check_grad(c->cx, &v, dt_in(c, 7), in, v.out,
                             c->fake));
  c->nout = 1;
  return op_sp_result(c->cx, in, (DtDtype)in->dtype, v.nd, v.in,
                      v.max || v.nd == 2, &c->out[0]);
}

/* ---- kernels ---- */

static DtStatus windows (DtCtx *cx, const Pool *v, DtWindow *w) {
  for (int d = 0; d < v->nd; d++) {
    DT_TRY(cx, dt_window_init(cx, &w[d], v->in[d], v->out[d], v->d[d], 1));
    for (int64_t i = 0; i < v->out[d]; i++) {
      int64_t lo = i * v->s[d] - v->p[d];
      int64_t hi = lo + (v->k[d] - 1) * v->d[d] + 1;
      if (lo < 0) lo += (-lo + v->d[d] - 1) / v->d[d] * v->d[d];
      w[d].lo[i] = lo;
      w[d].hi[i] = hi < v->in[d] ? hi : v->in[d];
    }
  }
  return DT_OK;
}

static DtStatus max_kernel (DtKernelCall *c) {
  DtWindow w[3];
  const DtTensor *x = c->in[0];
  Pool v;
  DtStatus st;
  memset(w, 0, sizeof w);
  DT_TRY(c->cx, pool_read(c->cx, c->op, c->args, 1, &x->m, false, &v));
  DT_TRY(c->cx, op_sp_dtype(c->cx, v.nd == 3 ? "max_pool3d"
                            : op_sp_channels_last(&x->m)
                            ? "max_pool2d_channels_last" : "max_pool2d",
                            (DtDtype)x->m.dtype, OP_T_FLOAT | OP_T_INTS));
  DT_CHECK(c->cx, v.nd == 2 || x->m.ndim != 4 || !op_sp_channels_last(&x->m),
           DT_E_RUNTIME, "Unsupported memory format. Supports only "
           "ChannelsLast3d, Contiguous");
  st = windows(c->cx, &v, w);
  if (st == DT_OK)
    st = dt_k_window_max(c->cx, v.nd, w, x, c->out[0], c->out[1]);
  for (int d = 0; d < 3; d++) dt_window_fini(c->cx, &w[d]);
  return st;
}

static DtStatus max_back_kernel (DtKernelCall *c) {
  int nd = c->op->row[ROW_ND];
  const DtTensor *g = c->in[0], *x = dt_kin(c, 1), *index = dt_kin(c, 7);
  DT_TRY(c->cx, op_sp_dtype(c->cx, nd == 3 ? "max_pool3d_backward"
                            : "max_pool2d_backward", (DtDtype)x->m.dtype,
                            OP_T_FLOAT));
  DT_CHECK(c->cx, g->m.dtype == x->m.dtype, DT_E_RUNTIME, "expected scalar "
           "type %s but found %s", op_dtype_word((DtDtype)x->m.dtype),
           op_dtype_word((DtDtype)g->m.dtype));
  DT_TRY(c->cx, op_sp_same_planes(c->cx, "max_pool backward", &g->m, &x->m,
                                  nd));
  DT_CHECK(c->cx, dt_meta_same_shape(&g->m, &index->m), DT_E_RUNTIME,
           "max_pool backward: the indices' sizes %s are not the gradient's",
           op_shape_text(&index->m).s);
  return dt_k_plane_add(c->cx, nd, g, index, c->out[0]);
}

static DtStatus averages (DtCtx *cx, const Pool *v, DtTaps *t) {
  for (int d = 0; d < v->nd; d++) {
    DT_TRY(cx, dt_taps_init(cx, &t[d], v->in[d], v->out[d],
                            v->k[d] < v->in[d] ? v->k[d] : v->in[d]));
    for (int64_t i = 0; i < v->out[d]; i++) {
      int64_t lo = i * v->s[d] - v->p[d], end = lo + v->k[d];
      if (end > v->in[d] + v->p[d]) end = v->in[d] + v->p[d];
      int64_t pool = end - lo, hi = end < v->in[d] ? end : v->in[d];
      if (lo < 0) lo = 0;
      for (int64_t k = lo; k < hi; k++) dt_taps_add(&t[d], k, 1);
      int64_t n = v->count_pad ? pool : hi - lo;
      dt_taps_next(&t[d], n > 0 ? (double)n : 1);
    }
  }
  return DT_OK;
}

static DtStatus avg_run (DtKernelCall *c, int at, const DtTensor *x) {
  DtTaps t[3];
  DtResample r;
  bool back = at == 2;
  Pool v;
  DtStatus st;
  memset(t, 0, sizeof t);
  DT_TRY(c->cx, pool_read(c->cx, c->op, c->args, at, &x->m, false, &v));
  static const char *const names[2][2] = {
    { "avg_pool2d", "avg_pool2d_backward" },
    { "avg_pool3d_out_frame", "avg_pool3d_backward_out_frame" }
  };
  DT_TRY(c->cx, op_sp_dtype(c->cx, names[v.nd == 3][back],
                            (DtDtype)x->m.dtype, OP_T_F3264 | OP_T_I64 |
                            (v.nd == 2 ? OP_T_HALF : 0)));
  if (back)
    DT_TRY(c->cx, op_sp_same_planes(c->cx, "avg_pool backward",
                                    &c->in[0]->m, &x->m, v.nd));
  r.nd = v.nd;
  r.taps = t;
  r.div = (double)v.divisor;
  r.rounds = back;
  st = averages(c->cx, &v, t);
  if (st == DT_OK)
    st = back ? dt_k_resample_back(c->cx, &r, c->in[0], c->out[0])
              : dt_k_resample(c->cx, &r, x, c->out[0]);
  for (int d = 0; d < 3; d++) dt_taps_fini(c->cx, &t[d]);
  return st;
}
static DtStatus avg_kernel (DtKernelCall *c) { return avg_run(c, 1, c->in[0]); }
static DtStatus avg_back_kernel (DtKernelCall *c) {
  return avg_run(c, 2, dt_kin(c, 1));
}

/* ---- gradients ---- */

static DtStatus max_grad (DtGradCall *c) {
  const char *op = c->op->row[ROW_ND] == 3
    ? "aten.max_pool3d_with_indices_backward.default"
    : "aten.max_pool2d_with_indices_backward.default";
  op_g_set(c, 0, EMIT(op, "ttvvvvvt", c->gout[0], c->in[0], ARG(1), ARG(2),
                      ARG(3),
                      ARG(4), ARG(5), c->out[1]));
  return op_g_finish(c);
}
static DtStatus avg_grad (DtGradCall *c) {
  const char *op = c->op->row[ROW_ND] == 3 ? "aten.avg_pool3d_backward.default"
                                           : "aten.avg_pool2d_backward.default";
  op_g_set(c, 0, EMIT(op, "ttvvvvvv", c->gout[0], c->in[0], ARG(1), ARG(2),
                      ARG(3),
                      ARG(4), ARG(5), ARG(6)));
  return op_g_finish(c);
}

/* ---- one dim, and maxima alone ---- */

static DtStatus one_int (DtDecompCall *c, const char *op, int i,
                         const char *name, bool optional, int64_t *out) {
  int n = dt_arg_len(c->args, i);
  DT_CHECK(c->e->cx, n == 1 || (optional && n == 0), DT_E_RUNTIME, "%s() "
           "argument '%s' should contain one int (got %d)", op, name, n);
  if (n == 1) dt_arg_ints(c->args, i, out, 1);
  return DT_OK;
}

static DtStatus two (DtDecompCall *c, int64_t a, int64_t b, DtValue *out) {
  DtValue *v = DT_ANEWN(c->e->cx, c->e->arena, DtValue, 2);
  if (v == NULL) return DT_E_NOMEM;
  v[0] = dt_v_int(a);
  v[1] = dt_v_int(b);
  *out = dt_v_list(2, v);
  return DT_OK;
}

/* As a pool of two dims whose first has the size 1: kernel, stride and dilation 1
** there, padding 0.  The stride is the kernel's size unless it is given. */
static DtStatus pool1_decomp (DtDecompCall *c) {
  static const char *const what[] = { "kernel_size", "stride", "padding",
                                      "dilation" };
  DtCtx *cx = c->e->cx;
  bool max = c->op->row[ROW_MAX] != 0;
  const char *op = max ? "max_pool1d" : "avg_pool1d";
  int nd = dt_emit_meta(c->e, c->in[0])->ndim, n = max ? 4 : 3;
  int64_t v[4] = { 1, 1, 0, 1 };
  DtValue args[6];
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(cx, nd == 2 || nd == 3, DT_E_RUNTIME, "Expected 2 to 3 dimensions, "
           "but got %d-dimensional tensor for argument #1 'self' (while "
           "checking arguments for %s)", nd, op);
  for (int i = 0; i < n; i++) {
    DT_TRY(cx, one_int(c, op, 1 + i, what[i], i == 1, &v[i]));
    if (i == 0) v[1] = v[0];
  }
  for (int i = 0; i < n; i++)
    DT_TRY(cx, two(c, i == 2 ? 0 : 1, v[i], &args[i]));
  for (int i = n; i < 5; i++) args[i] = ARG(1 + i);
  return op_sp_as_2d(c, max ? "aten.max_pool2d_with_indices.default"
                            : "aten.avg_pool2d.default", 5, args);
}

static const char *const max_names[3] = {
  "aten.max_pool1d_with_indices.default",
  "aten.max_pool2d_with_indices.default",
  "aten.max_pool3d_with_indices.default"
};

/* What PyTorch's direct loop for one dim checks, which plain tensors take. */
static DtStatus max1_check (DtDecompCall *c) {
  static const char *const ints = "ints of size 1 but got size";
  const DtMeta *m = dt_emit_meta(c->e, c->in[0]);
  int64_t v[4] = { 1, 1, 0, 1 };
  DtCtx *cx = c->e->cx;
  int n[4];
  DT_CHECK(cx, (m->ndim == 2 || m->ndim == 3) &&
           op_sp_empty_dim(m, 1, true) < 0, DT_E_RUNTIME,
           "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 "
           "dim batch size for input, but got:%s", op_shape_text(m).s);
  for (int i = 0; i < 4; i++) {
    n[i] = dt_arg_len(c->args, 1 + i);
    if (n[i] == 1) dt_arg_ints(c->args, 1 + i, &v[i], 1);
  }
  DT_CHECK(cx, n[0] == 1, DT_E_RUNTIME, "max_pool1d() kernel_size must be an "
           "int, list of ints or tuple of %s %d", ints, n[0]);
  DT_CHECK(cx, n[1] <= 1, DT_E_RUNTIME, "max_pool1d() stride must be None, an "
           "int, list of ints, or tuple of %s %d", ints, n[1]);
  DT_CHECK(cx, n[2] == 1, DT_E_RUNTIME, "max_pool1d() padding must be an int, "
           "list of ints, or tuple of %s %d", ints, n[2]);
  DT_CHECK(cx, n[3] == 1, DT_E_RUNTIME, "max_pool1d() dilation must be an "
           "int, list of ints or tuple of %s %d", ints, n[3]);
  if (n[1] == 0) v[1] = v[0];
  DT_CHECK(cx, v[0] > 0, DT_E_RUNTIME, "max_pool1d() kernel_size must be "
           "greater than zero, but got %lld", (long long)v[0]);
  DT_CHECK(cx, v[1] > 0, DT_E_RUNTIME, "max_pool1d() stride must be greater "
           "than zero, but got %lld", (long long)v[1]);
  DT_CHECK(cx, v[2] >= 0, DT_E_RUNTIME, "max_pool1d() padding must be "
           "non-negative, but got %lld", (long long)v[2]);
  DT_CHECK(cx, v[2] <= v[0] / 2, DT_E_RUNTIME, "max_pool1d() padding should "
           "be at most half of kernel size, but got padding=%lld and "
           "kernel_size=%lld", (long long)v[2], (long long)v[0]);
  DT_CHECK(cx, v[3] > 0, DT_E_RUNTIME, "max_pool1d() dilation must be greater "
           "than zero, but got %lld", (long long)v[3]);
  int64_t reach = dt_sat_mul(v[3], v[0] - 1), in = m->shape[m->ndim - 1];
  DT_CHECK(cx, reach < INT64_MAX, DT_E_RUNTIME, "effective kernel size "
           "overflows, but got kernel_size=%lld and dilation=%lld",
           (long long)v[0], (long long)v[3]);
  bool ceil = dt_arg_bool(c->args, 5);
  int64_t padded = dt_sat_add(in, dt_sat_mul(2, v[2]));
  int64_t out = dt_sat_add(padded - reach - 1, ceil ? v[1] - 1 : 0);
  out = floor_div(out, v[1]) + 1;
  if (ceil && dt_sat_mul(out - 1, v[1]) >= dt_sat_add(in, v[2])) out--;
  DT_CHECK(cx, out > 0, DT_E_RUNTIME, "max_pool1d() Invalid computed output "
           "size: %lld", (long long)out);
  return op_sp_dtype(cx, "max_pool1d_impl", (DtDtype)m->dtype, OP_T_FLOAT);
}

static DtStatus max_decomp (DtDecompCall *c) {
  DtHandle *out[2] = { NULL, NULL };
  int nd = c->op->row[ROW_ND];
  if (nd == 1 && !c->e->tracing && !c->e->vt->is_dist(c->e, c->in[0]))
    DT_TRY(c->e->cx, max1_check(c));
  dt_emit_n(c->e, max_names[nd - 1], out, 2, "tvvvvv", c->in[0], ARG(1),
            ARG(2),
            ARG(3), ARG(4), ARG(5));
  c->out[0] = out[0];
  c->nout = 1;
  return c->e->st;
}

/* ---- decisions ---- */

static DtStatus pool_strategy (DtStratCall *c) {
  DtPlacement pl[3];
  bool max = c->op->row[ROW_MAX] != 0;
  int n = 0;
  if (!max) {
    pl[n++] = dt_pl_partial(DT_OP_SUM);
    pl[n++] = dt_pl_partial(DT_OP_AVG);
  }
  if (c->in[0]->meta.ndim >= c->op->row[ROW_ND] + 2) pl[n++] = dt_pl_shard(1);
  return op_sp_alike(c, n, pl);
}

static DtStatus max_back_rules (DtRuleCall *c) {
  dt_rows_text(c->rows, "S(0), S(0), S(0) -> S(0)");
  if (c->in[0]->ndim >= 4)
    dt_rows_text(c->rows, "S(1), S(1), S(1) -> S(1)");
  dt_rows_text(c->rows, "P(sum), R, R -> P(sum)");
  dt_rows_text(c->rows, "P(avg), R, R -> P(avg)");
  return c->rows->st;
}

/* ---- samples and definitions ---- */

static const char *const s1[] = { "f32[2, 3, 8], [2]", "f32[4, 7], [3], [2]",
                                  "f32[0, 3, 8], [2]", NULL };
static const char *const s2[] = {
  "f32[2, 3, 8, 6], [2, 2]", "f32[4, 7, 5], [3, 2], [2, 1], [1, 1]",
  "f32[0, 3, 4, 4], [2, 2]", NULL
};
static const char *const s3[] = {
  "f32[2, 3, 4, 4, 4], [2, 2, 2]", "f32[4, 5, 4, 3], [2, 2, 2], [1, 1, 1]",
  NULL
};
static const char *const max_back2[] = {
  "f32[2, 4, 2, 2], f32[2, 4, 4, 4], [2, 2], [2, 2], [0, 0], [1, 1], False, "
  "i64[2, 4, 2, 2]", NULL
};
static const char *const max_back3[] = {
  "f32[2, 4, 2, 2, 2], f32[2, 4, 4, 4, 4], [2, 2, 2], [2, 2, 2], [0, 0, 0], "
  "[1, 1, 1], False, i64[2, 4, 2, 2, 2]", NULL
};
static const char *const avg_back2[] = {
  "f32[2, 4, 2, 2], f32[2, 4, 4, 4], [2, 2], [2, 2], [0, 0], False, True, "
  "None", NULL
};
static const char *const avg_back3[] = {
  "f32[2, 4, 2, 2, 2], f32[2, 4, 4, 4, 4], [2, 2, 2], [2, 2, 2], [0, 0, 0], "
  "False, True, None", NULL
};

#define OP(id, schema_, brief_, ...) \
  const DtOpDef dt_op_##id = { .schema = "aten::" schema_, .brief = brief_, \
                               __VA_ARGS__ }
#define MAX_ARGS(n, z, one) "(Tensor self, int[" n "] kernel_size, int[" n \
  "] stride=[], int[" n "] padding=" z ", int[" n "] dilation=" one ", bool " \
  "ceil_mode=False)"

OP(max_pool1d, "max_pool1d" MAX_ARGS("1", "[0]", "[1]") " -> Tensor",
   "Largest element of each window.", .flags = DT_OP_COMPOSITE,
   .decomp = max_decomp, .samples = s1, .row = row_max1);
OP(max_pool2d, "max_pool2d" MAX_ARGS("2", "0", "1") " -> Tensor",
   "Largest element of each window.", .flags = DT_OP_COMPOSITE,
   .decomp = max_decomp, .samples = s2, .row = row_max2);
OP(max_pool3d, "max_pool3d" MAX_ARGS("3", "0", "1") " -> Tensor",
   "Largest element of each window.", .flags = DT_OP_COMPOSITE,
   .decomp = max_decomp, .samples = s3, .row = row_max3);
OP(max_pool1d_with_indices, "max_pool1d_with_indices"
   MAX_ARGS("1", "[0]", "[1]") " -> (Tensor, Tensor)",
   "Largest elements of windows and their places.", .flags = DT_OP_COMPOSITE,
   .decomp = pool1_decomp, .strategy = pool_strategy, .samples = s1,
   .row = row_max1);
OP(max_pool2d_with_indices, "max_pool2d_with_indices"
   MAX_ARGS("2", "0", "1") " -> (Tensor, Tensor)",
   "Largest elements of windows and their places.", .flags = DT_OP_SAVE_OUT,
   .meta = pool_meta,
   .kernel = max_kernel, .strategy = pool_strategy, .grad = max_grad,
   .samples = s2, .row = row_max2);
OP(max_pool3d_with_indices, "max_pool3d_with_indices"
   MAX_ARGS("3", "0", "1") " -> (Tensor, Tensor)",
   "Largest elements of windows and their places.", .flags = DT_OP_SAVE_OUT,
   .meta = pool_meta,
   .kernel = max_kernel, .strategy = pool_strategy, .grad = max_grad,
   .samples = s3, .row = row_max3);
OP(max_pool2d_with_indices_backward, "max_pool2d_with_indices_backward(Tensor "
   "grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] "
   "padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor",
   "Gradient of max_pool2d.", .grad = op_gg_max_pool_backward,
   .meta = pool_back_meta,
   .kernel = max_back_kernel, .rulefn = max_back_rules, .samples = max_back2,
   .row = row_max2);
OP(max_pool3d_with_indices_backward, "max_pool3d_with_indices_backward(Tensor "
   "grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] "
   "padding, int[3] dilation, bool ceil_mode, Tensor indices) -> Tensor",
   "Gradient of max_pool3d.", .flags = DT_OP_NOSTRATEGY,
   .grad = op_gg_max_pool_backward,
   .meta = pool_back_meta, .kernel = max_back_kernel, .samples = max_back3,
   .row = row_max3);

OP(avg_pool1d, "avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], "
   "int[1] padding=[0], bool ceil_mode=False, bool count_include_pad=True) -> "
   "Tensor", "Mean of each window.", .flags = DT_OP_COMPOSITE,
   .decomp = pool1_decomp, .strategy = pool_strategy, .samples = s1,
   .row = row_avg1);
OP(avg_pool2d, "avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], "
   "int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? "
   "divisor_override=None) -> Tensor", "Mean of each window.",
   .meta = pool_meta, .kernel = avg_kernel, .strategy = pool_strategy,
   .grad = avg_grad, .samples = s2, .row = row_avg2);
OP(avg_pool3d, "avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], "
   "int[3] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? "
   "divisor_override=None) -> Tensor", "Mean of each window.",
   .meta = pool_meta, .kernel = avg_kernel, .strategy = pool_strategy,
   .grad = avg_grad, .samples = s3, .row = row_avg3);
OP(avg_pool2d_backward, "avg_pool2d_backward(Tensor grad_output, Tensor self, "
   "int[2] kernel_size, int[2] stride, int[2] padding, bool ceil_mode, bool "
   "count_include_pad, int? divisor_override) -> Tensor",
   "Gradient of avg_pool2d.", .flags = DT_OP_NOSTRATEGY,
   .grad = op_gg_avg_pool_backward,
   .meta = pool_back_meta, .kernel = avg_back_kernel, .samples = avg_back2,
   .row = row_avg2);
OP(avg_pool3d_backward, "avg_pool3d_backward(Tensor grad_output, Tensor self, "
   "int[3] kernel_size, int[3] stride, int[3] padding, bool ceil_mode, bool "
   "count_include_pad, int? divisor_override) -> Tensor",
   "Gradient of avg_pool3d.", .flags = DT_OP_NOSTRATEGY,
   .grad = op_gg_avg_pool_backward,
   .meta = pool_back_meta, .kernel = avg_back_kernel, .samples = avg_back3,
   .row = row_avg3);
