/* SPDX-License-Identifier: MIT
** oplib/op_adaptive.c: pooling into a given number of results (adaptive,
** fractional) and undoing a maximum (max_unpool), with gradients.
**
** Adaptive windows share a dim as evenly as integers allow and may overlap;
** fractional ones start at places a random number per plane shifts.  Both
** become the same windows and taps op_pool.c uses. */
#include "base/sat.h"
#include "oplib/op_spatial.h"
#include "oplib/op_unwritten.h"
#include "oplib/second.h"

#include <math.h>
#include <stdio.h>
#include <string.h>


enum { ROW_ND, ROW_MAX };
static const int row_avg1[] = { 1, 0 }, row_avg2[] = { 2, 0 },
                 row_avg3[] = { 3, 0 }, row_max1[] = { 1, 1 },
                 row_max2[] = { 2, 1 }, row_max3[] = { 3, 1 };

#define ND (c->op->row[ROW_ND])
static int64_t spatial (const DtMeta *m, int nd, int d) {
  return m->shape[m->ndim - nd + d];
}

/* ---- adaptive: shapes ---- */

static DtStatus check_input (DtMetaCall *c, const char *fn, const char *what,
                             const DtMeta *in, bool max, int first) {
  DtCtx *cx = c->cx;
  int nd = ND;
  OpText shape = op_size_text(c, in);
  DT_CHECK(cx, in->ndim == nd + 1 || in->ndim == nd + 2, DT_E_RUNTIME,
           "%s: Expected %dD or %dD tensor, but got%s %s", fn, nd + 1, nd + 2,
           max ? ":" : "", shape.s);
  for (int d = first; d < in->ndim; d++)
    DT_CHECK(cx, in->shape[d] > 0, DT_E_RUNTIME, "%s: Expected %s to have "
             "non-zero size for non-batch dimensions, but %s has sizes %s "
             "with dimension %d being empty", fn, what, what,
             shape.s, d);
  return DT_OK;
}

/* Averages in propagation: only the dims are counted. */
static DtStatus check_average (DtMetaCall *c, const DtMeta *in) {
  DT_CHECK(c->cx, in->ndim == ND + 1 || in->ndim == ND + 2, DT_E_RUNTIME,
           "Expected %dD or %dD tensor, but got %s", ND + 1, ND + 2,
           op_size_text(c, in).s);
  return DT_OK;
}

/* PyTorch decided max with out= by a decomposition that knows windows of one
** size, and nothing else; no candidate is left then.  Later it had rows. */
static DtStatus check_even (DtCtx *cx, const DtMeta *in, int nd,
                            const int64_t *size) {
  bool even = true, one = true, none = false;
  for (int d = 0; d < nd; d++) {
    none = none || size[d] <= 0;
    one = one && size[d] == 1;
    even = even && (size[d] <= 0 || spatial(in, nd, d) % size[d] == 0);
  }
  DT_CHECK(cx, even || one || none, DT_E_VALUE,
           "min() arg is an empty sequence");
  return DT_OK;
}

/* The output's sizes; one number stands for all.  Returns how many. */
static int out_sizes (const DtArgs *a, int nd, int64_t *size) {
  int n = op_ints(a, 1, size);
  if (n != 1 || a->v[1].kind == DT_V_LIST) return n;
  for (int d = 1; d < nd; d++) size[d] = size[0];
  return nd;
}

/* Adaptive pooling of 1 to 3 dimensions, average and maximum: their meta
** functions were written at different times and check different things. */
static DtStatus adaptive_meta (DtMetaCall *c) {
  const DtMeta *in = c->in[0];
  bool max = c->op->row[ROW_MAX] != 0;
  int64_t size[DT_MAX_NDIM];
  int nd = ND, n = out_sizes(c->args, nd, size);
  char fn[32];
  snprintf(fn, sizeof fn, "adaptive_%s_pool%dd", max ? "max" : "avg", nd);
  if (!max)
    DT_CHECK(c->cx, n == nd, DT_E_RUNTIME, "%s: output_size must be %d", fn,
             nd);
  snprintf(fn + strlen(fn), sizeof fn - strlen(fn), "()");
  if (c->fake && !max && !op_is_out(c)) DT_TRY(c->cx, check_average(c, in));
  else DT_TRY(c->cx, check_input(c, fn, "input", in, max,
                                 max || nd == 3 ? 1 : in->ndim - 2));
  DT_CHECK(c->cx, n == nd, DT_E_RUNTIME,
           "%s: internal error: output_size.size() must be %d", fn, nd);
  if (c->fake && max && c->args->schema->is_out &&
      (c->op->flags & DT_OP_LATER) == 0)
    DT_TRY(c->cx, check_even(c->cx, in, nd, size));
  for (int d = 0; d < nd; d++)
    DT_CHECK(c->cx, max || size[d] >= 0, DT_E_RUNTIME,
             "numel: integer multiplication overflow");
  c->nout = max ? 2 : 1;
  for (int i = 0; i < c->nout; i++)
    DT_TRY(c->cx, op_sp_result(c->cx, in, i ? DT_I64 : (DtDtype)in->dtype, nd,
                               size, nd == 2, &c->out[i]));
  return DT_OK;
}

/* In propagation the 2-d form is checked in Python, in its own order. */
static DtStatus check_back_python (DtMetaCall *c) {
  const DtMeta *g = c->in[0], *in = dt_in(c, 1);
  for (int d = 1; d < g->ndim; d++)
    DT_CHECK(c->cx, g->shape[d] > 0, DT_E_RUNTIME,
             "adaptive_avg_pool2d_backward(): Expected grad_output to have "
             "non-zero                       size for non-batch dimensions, "
             "%s with dimension %d being empty", op_size_text(c, g).s, d);
  DT_CHECK(c->cx, g->ndim == 3 || g->ndim == 4, DT_E_RUNTIME,
           "adaptive_avg_pool2d_backward(): Expected 3D or 4D tensor, but got "
           "%s", op_size_text(c, in).s);
  DT_CHECK(c->cx, g->dtype == in->dtype, DT_E_RUNTIME, "expected dtype %s for "
           "`grad_output` but got dtype %s", dt_dtype_info((DtDtype)in->dtype)->torch,
           dt_dtype_info((DtDtype)g->dtype)->torch);
  return DT_OK;
}

/* (grad, self[, indices]) */
static DtStatus avg_back_meta (DtMetaCall *c) {
  const DtMeta *g = c->in[0], *in = dt_in(c, 1);
  int nd = ND;
  char fn[40], called[48];
  const char *name = nd == 2 ? "`grad_output`" : "`gradOutput_`";
  snprintf(fn, sizeof fn, "adaptive_avg_pool%dd_backward", nd);
  snprintf(called, sizeof called, "%s()", fn);
  if (c->fake && nd == 2) DT_TRY(c->cx, check_back_python(c));
  DT_CHECK(c->cx, g->ndim == in->ndim, DT_E_RUNTIME, "%s_out_cpu_template: "
           "Expected dimensions %d for %s but got dimensions %d", fn,
           in->ndim, name, g->ndim);
  DT_TRY(c->cx, check_input(c, called, "grad_output", g, false, 1));
  DT_CHECK(c->cx, nd == 3 || g->dtype == in->dtype, DT_E_RUNTIME,
           "adaptive_avg_pool2d_backward_out_cpu_template: Expected dtype %s "
           "for `grad_output` but got dtype %s",
           op_sp_ctype((DtDtype)in->dtype), op_sp_ctype((DtDtype)g->dtype));
  c->nout = 1;
  return op_sp_result(c->cx, in, (DtDtype)in->dtype, 0, NULL, nd == 2,
                      &c->out[0]);
}

static DtStatus max_back_meta (DtMetaCall *c) {
  const DtMeta *g = c->in[0], *in = dt_in(c, 1), *ix = dt_in(c, 2);
  int nd = ND;
  const char *name = nd == 2 ? "grad_output" : "gradOutput";
  char fn[48];
  snprintf(fn, sizeof fn, "adaptive_max_pool%s%dd_backward()",
           nd == 2 && g->ndim != 3 && g->ndim != 4 ? "ing" : "", nd);
  DT_CHECK(c->cx, g->ndim == nd + 1 || g->ndim == nd + 2, DT_E_RUNTIME,
           "%s: Expected %dD or %dD %s, but got: %s", fn, nd + 1, nd + 2,
           name, op_shape_text(g).s);
  for (int d = 1; d < g->ndim; d++)
    DT_CHECK(c->cx, g->shape[d] > 0, DT_E_RUNTIME, "%s: Expected grad_output "
             "to have non-zero size for non-batch dimensions, but grad_output "
             "has sizes %s with dimension %d being empty", fn,
             op_shape_text(g).s, d);
  DT_CHECK(c->cx, g->dtype == in->dtype, DT_E_RUNTIME, "expected dtype %s for "
           "`%s` but got dtype %s", op_sp_ctype((DtDtype)in->dtype), name,
           op_sp_ctype((DtDtype)g->dtype));
  DT_CHECK(c->cx, dt_meta_same_shape(g, ix), DT_E_RUNTIME, "expected sizes %s "
           "for `%s` but got sizes %s", op_shape_text(ix).s, name,
           op_shape_text(g).s);
  c->nout = 1;
  return op_sp_result(c->cx, in, (DtDtype)in->dtype, 0, NULL, nd == 2,
                      &c->out[0]);
}

/* ---- adaptive: kernels ---- */

static int64_t start_of (int64_t i, int64_t out, int64_t in) {
  return i / out * in + i % out * in / out;
}
static int64_t end_of (int64_t i, int64_t out, int64_t in) {
  return 1 + ((i + 1) * in - 1) / out;
}

static DtStatus adaptive_taps (DtCtx *cx, DtTaps *t, int64_t in,
                               int64_t out) {
  int64_t most = out > 0 ? in / out + 2 : 0;
  DT_TRY(cx, dt_taps_init(cx, t, in, out, most < in ? most : in));
  for (int64_t i = 0; i < out; i++) {
    int64_t lo = start_of(i, out, in), hi = end_of(i, out, in);
    for (int64_t k = lo; k < hi; k++) dt_taps_add(t, k, 1);
    dt_taps_next(t, hi > lo ? (double)(hi - lo) : 1);
  }
  return DT_OK;
}

static DtStatus avg_run (DtKernelCall *c, bool back) {
  const DtTensor *x = back ? dt_kin(c, 1) : c->in[0];
  const DtMeta *y = back ? &c->in[0]->m : &c->out[0]->m;
  int nd = ND;
  DtTaps t[3];
  DtResample r = { nd, t, 0, nd == 3 };
  DtStatus st = DT_OK;
  static const char *const name[2][2] = {
    { "adaptive_avg_pool2d", "adaptive_avg_pool2d_backward" },
    { "adaptive_avg_pool3d_cpu", "adaptive_avg_pool3d_backward_cpu" }
  };
  DT_TRY(c->cx, op_sp_dtype(c->cx, name[nd == 3][back], (DtDtype)x->m.dtype,
                            OP_T_FLOAT));
  if (back) {
    DT_TRY(c->cx, op_sp_same_planes(c->cx, "adaptive_avg_pool backward", y,
                                    &x->m, nd));
    DT_CHECK(c->cx, y->dtype == x->m.dtype, DT_E_RUNTIME, "expected scalar "
             "type %s but found %s", op_dtype_word((DtDtype)x->m.dtype),
             op_dtype_word((DtDtype)y->dtype));
  }
  memset(t, 0, sizeof t);
  for (int d = 0; d < nd && st == DT_OK; d++)
    st = adaptive_taps(c->cx, &t[d], spatial(&x->m, nd, d),
                       spatial(y, nd, d));
  if (st == DT_OK)
    st = back ? dt_k_resample_back(c->cx, &r, c->in[0], c->out[0])
              : dt_k_resample(c->cx, &r, x, c->out[0]);
  for (int d = 0; d < 3; d++) dt_taps_fini(c->cx, &t[d]);
  return st;
}
static DtStatus avg_kernel (DtKernelCall *c) { return avg_run(c, false); }
static DtStatus avg_back_kernel (DtKernelCall *c) { return avg_run(c, true); }

static DtStatus max_kernel (DtKernelCall *c) {
  const DtTensor *x = c->in[0];
  int nd = ND;
  DtWindow w[3];
  DtStatus st = DT_OK;
  DT_TRY(c->cx, op_sp_dtype(c->cx, nd == 3 ? "adaptive_max_pool3d_cpu"
                            : "adaptive_max_pool2d", (DtDtype)x->m.dtype,
                            OP_T_FLOAT));
  memset(w, 0, sizeof w);
  for (int d = 0; d < nd && st == DT_OK; d++) {
    int64_t in = spatial(&x->m, nd, d), out = spatial(&c->out[0]->m, nd, d);
    st = dt_window_init(c->cx, &w[d], in, out, 1, 1);
    for (int64_t i = 0; st == DT_OK && i < out; i++) {
      w[d].lo[i] = start_of(i, out, in);
      w[d].hi[i] = end_of(i, out, in);
    }
  }
  if (st == DT_OK)
    st = dt_k_window_max(c->cx, nd, w, x, c->out[0], c->out[1]);
  for (int d = 0; d < 3; d++) dt_window_fini(c->cx, &w[d]);
  return st;
}

/* Gradients of maxima: where the indices say. */
static DtStatus back_by_index (DtKernelCall *c, const char *name, int at) {
  const DtTensor *g = c->in[0], *x = dt_kin(c, 1), *index = dt_kin(c, at);
  DT_TRY(c->cx, op_sp_dtype(c->cx, name, (DtDtype)x->m.dtype, OP_T_FLOAT));
  DT_TRY(c->cx, op_sp_same_planes(c->cx, "max_pool backward", &g->m, &x->m,
                                  ND));
  DT_CHECK(c->cx, dt_meta_same_shape(&g->m, &index->m), DT_E_RUNTIME,
           "max_pool backward: the indices' sizes %s are not the gradient's",
           op_shape_text(&index->m).s);
  return dt_k_plane_add(c->cx, ND, g, index, c->out[0]);
}
static DtStatus max_back_kernel (DtKernelCall *c) {
  return back_by_index(c, ND == 2 ? "adaptive_max_pool2d_backward"
                                  : "adaptive_max_pool3d_backward", 2);
}

static DtStatus adaptive_grad (DtGradCall *c) {
  bool three = ND == 3;
  DtHandle *h;
  if (c->op->row[ROW_MAX])
    h = EMIT(three ? "aten.adaptive_max_pool3d_backward.default"
                   : "aten.adaptive_max_pool2d_backward.default", "ttt",
             c->gout[0], c->in[0], c->out[1]);
  else
    h = EMIT(three ? "aten._adaptive_avg_pool3d_backward.default"
                   : "aten._adaptive_avg_pool2d_backward.default", "tt",
             c->gout[0], c->in[0]);
  op_g_set(c, 0, h);
  return op_g_finish(c);
}

/* ---- adaptive: what is made of these ---- */

static DtStatus adaptive1_decomp (DtDecompCall *c) {
  bool max = c->op->row[ROW_MAX] != 0;
  const char *fn = max ? "adaptive_max_pool1d" : "adaptive_avg_pool1d";
  const DtMeta *m = dt_emit_meta(c->e, c->in[0]);
  int n = dt_arg_len(c->args, 1);
  DtCtx *cx = c->e->cx;
  DtValue v[2], list;
  int64_t size = 0;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(cx, m->ndim == 2 || m->ndim == 3, DT_E_RUNTIME, "Expected 2 to 3 "
           "dimensions, but got %d-dimensional tensor for argument #1 'self' "
           "(while checking arguments for %s)", m->ndim, fn);
  DT_CHECK(cx, n == 1, DT_E_RUNTIME, "%s() argument 'output_size' should "
           "contain one int (got %d)", fn, n);
  dt_arg_ints(c->args, 1, &size, 1);
  for (int d = 1; max && d < m->ndim; d++)
    DT_CHECK(cx, m->shape[d] > 0, DT_E_RUNTIME, "%s(): Expected input to have "
             "non-zero size for non-batch dimensions, but input has sizes %s "
             "with dimension %d being empty", fn, op_shape_text(m).s, d);
  v[0] = dt_v_int(1);
  v[1] = dt_v_int(size);
  list = dt_v_list(2, v);
  return op_sp_as_2d(c, max ? "aten.adaptive_max_pool2d.default"
                            : "aten.adaptive_avg_pool2d.default", 1, &list);
}

static DtStatus adaptive_avg_decomp (DtDecompCall *c) {
  int64_t size[DT_MAX_NDIM], dims[3] = { -1, -2, -3 };
  int nd = ND, n = out_sizes(c->args, nd, size);
  bool one = true, ok = true;
  DtCtx *cx = c->e->cx;
  DT_CHECK(cx, n == nd, DT_E_RUNTIME, "adaptive_avg_pool%dd: output_size must "
           "be %d", nd, nd);
  for (int d = 0; d < nd; d++) {
    one = one && size[d] == 1;
    ok = ok && size[d] >= 0;
  }
  DT_CHECK(cx, ok || nd == 3, DT_E_RUNTIME, "adaptive_avg_pool2d: elements of "
           "output_size must be greater than or equal to 0 but received "
           "{%lld, %lld}", (long long)size[0], (long long)size[1]);
  DT_CHECK(cx, ok, DT_E_RUNTIME, "adaptive_avg_pool3d: elements of "
           "output_size must be greater than or equal to 0 but received "
           "{%lld, %lld,%lld}", (long long)size[0], (long long)size[1],
           (long long)size[2]);
  DtValue v[3], sizes = dt_v_list(nd, v);
  for (int d = 0; d < nd; d++) v[d] = dt_v_int(size[d]);
  c->nout = 1;
  if (one)
    c->out[0] = EMIT("aten.mean.dim", "tIb", c->in[0], nd, dims, 1);
  else
    c->out[0] = EMIT(nd == 3 ? "aten._adaptive_avg_pool3d.default"
                             : "aten._adaptive_avg_pool2d.default", "tv",
                     c->in[0], sizes);
  return c->e->st;
}

/* ---- fractional ---- */

static const char *const axis_name[3] = { "time", "height", "width" };

static DtStatus frac_sizes (DtMetaCall *c, int64_t *k, int64_t *out) {
  int nd = ND, n;
  int64_t v[DT_MAX_NDIM];
  const char *ints = nd == 2 ? "Ints" : "three Ints";
  for (int i = 0; i < 2; i++) {
    n = op_ints(c->args, 1 + i, v);
    DT_CHECK(c->cx, n == 1 || n == nd, DT_E_RUNTIME, "fractional_max_pool%dd: "
             "%s must either be a single Int or tuple of %s", nd,
             i ? "output_size" : "kernel_size", ints);
    for (int d = 0; d < nd; d++) (i ? out : k)[d] = v[n == 1 ? 0 : d];
  }
  return DT_OK;
}

/* What PyTorch's shape function says of the random numbers. */
static DtStatus frac_check_fake (DtCtx *cx, const DtMeta *in,
                                 const DtMeta *r, int nd) {
  int64_t n = in->ndim == nd + 2 ? in->shape[0] : 1;
  DT_CHECK(cx, r->dtype == in->dtype, DT_E_RUNTIME,
           "Expect _random_samples to have the same dtype as input");
  DT_CHECK(cx, r->ndim == 3, DT_E_RUNTIME, "Expect _random samples to have 3 "
           "dimensions got, %d", r->ndim);
  DT_CHECK(cx, r->shape[0] >= n, DT_E_RUNTIME, "Expect _random_samples.size(0) "
           "no less then input batch size.");
  DT_CHECK(cx, r->shape[1] == in->shape[in->ndim - nd - 1], DT_E_RUNTIME,
           "Expect _random_samples.size(1) equals to input channel size.");
  DT_CHECK(cx, r->shape[2] == nd, DT_E_RUNTIME, "Expect "
           "_random_samples.size(2) equals to %d got %lld.", nd,
           (long long)r->shape[2]);
  return DT_OK;
}

/* In propagation the form without out= is checked in Python. */
static DtStatus frac_check_python (DtMetaCall *c, const DtMeta *in,
                                   const int64_t *k, const int64_t *out) {
  static const char *const side[2] = { "height", "width" };
  DT_CHECK(c->cx, in->ndim == 3 || in->ndim == 4, DT_E_RUNTIME,
           "fractional_max_pool2d: Expected 3D or 4D tensor, but got: %d",
           in->ndim);
  for (int d = in->ndim - 3; d < in->ndim; d++)
    DT_CHECK(c->cx, in->shape[d] > 0, DT_E_RUNTIME, "fractional_max_pool2d: "
             "Expected input to have non-zero  size for non-batch dimensions, "
             "but got %s with dimension %d empty", op_size_text(c, in).s, d);
  DT_TRY(c->cx, frac_check_fake(c->cx, in, dt_in(c, 3), 2));
  for (int d = 0; d < 2; d++)
    DT_CHECK(c->cx, dt_sat_add(out[d], dt_sat_sub(k[d], 1)) <=
             spatial(in, 2, d), DT_E_RUNTIME, "fractional_max_pool2d: kernel "
             "%s %lld is too large relative to input %s %lld", side[d],
             (long long)k[d], side[d], (long long)spatial(in, 2, d));
  return DT_OK;
}

/* Two dims allow a pool as large as the input, three do not, and they look at the
** depth, the width and only then the height: each as PyTorch's own function does. */
static DtStatus frac_meta (DtMetaCall *c) {
  const DtMeta *in = c->in[0];
  int nd = ND;
  int64_t k[3], out[3];
  const char *fn = nd == 2 ? "fractional_max_pool2d()"
                           : "fractional_max_pool3d_out()";
  DT_TRY(c->cx, frac_sizes(c, k, out));
  if (c->fake && nd == 2 && !op_is_out(c))
    DT_TRY(c->cx, frac_check_python(c, in, k, out));
  DT_CHECK(c->cx, in->ndim == nd + 1 || in->ndim == nd + 2, DT_E_RUNTIME,
           "%s: Expected %dD or %dD tensor, but got: %s", fn, nd + 1, nd + 2,
           op_shape_text(in).s);
  for (int d = in->ndim - nd - 1; d < in->ndim; d++)
    DT_CHECK(c->cx, in->shape[d] > 0, DT_E_RUNTIME, "%s: Expected input to "
             "have non-zero size for non-batch dimensions, but got%s with "
             "dimension %d being empty.", fn, op_shape_text(in).s, d);
  static const int order[2][3] = { { 0, 1, 0 }, { 0, 2, 1 } };
  for (int i = 0; i < nd; i++) {
    int d = order[nd == 3][i];
    int64_t size = spatial(in, nd, d);
    int64_t need = dt_sat_add(out[d], dt_sat_sub(k[d], 1));
    DT_CHECK(c->cx, nd == 2 ? need <= size : need < size, DT_E_RUNTIME,
             "%s: pool %s %lld too large relative to input %s %lld", fn,
             axis_name[3 - nd + d], (long long)k[d], axis_name[3 - nd + d],
             (long long)size);
  }
  if (c->fake && nd == 2)
    DT_TRY(c->cx, frac_check_fake(c->cx, in, dt_in(c, 3), nd));
  c->nout = 2;
  for (int i = 0; i < 2; i++)
    DT_TRY(c->cx, op_sp_result(c->cx, in, i ? DT_I64 : (DtDtype)in->dtype,
                               nd, out, false, &c->out[i]));
  return DT_OK;
}

static DtStatus frac_check (DtCtx *cx, const DtMeta *in, const DtMeta *r,
                            int nd) {
  int64_t n = in->ndim == nd + 2 ? in->shape[0] : 1;
  DT_CHECK(cx, r->dtype == in->dtype, DT_E_RUNTIME,
           "Expect _random_samples to have the same dtype as input");
  DT_CHECK(cx, r->ndim == 3, DT_E_RUNTIME, "Expect _random_samples to have 3 "
           "dimensions, got %d", r->ndim);
  DT_CHECK(cx, r->shape[0] >= n, DT_E_RUNTIME, "Expect _random_samples.size(0) "
           "no less then input batch size.");
  DT_CHECK(cx, r->shape[1] == in->shape[in->ndim - nd - 1], DT_E_RUNTIME,
           "Expect _random_samples.size(1) equals to input channel size.");
  DT_CHECK(cx, r->shape[2] == nd, DT_E_RUNTIME, "Expect "
           "_random_samples.size(2) equals to %d; got %lld.", nd,
           (long long)r->shape[2]);
  return DT_OK;
}

/* To the precision of t. */
static double to_type (DtDtype t, double v) {
  if (t == DT_F64) return v;
  if (t == DT_F16) return (double)dt_f16_to_f32(dt_f32_to_f16((float)v));
  if (t == DT_BF16) return (double)dt_bf16_to_f32(dt_f32_to_bf16((float)v));
  return (double)(float)v;
}

/* Where the windows of one plane start. */
static void intervals (DtDtype t, double sample, int64_t in, int64_t out,
                       int64_t k, int64_t *lo, int64_t *hi) {
  double alpha = out > 1 ? to_type(t, ((double)in - (double)k) /
                                 (double)(out - 1))
                         : 0;
  for (int64_t i = 0; i < out; i++) {
    int64_t at = dt_sat_sub(in, k);
    if (i < out - 1) {
      double far = to_type(t, to_type(t, (double)i + sample) * alpha);
      at = dt_sat_sub((int64_t)far, (int64_t)to_type(t, sample * alpha));
    }
    lo[i] = at < 0 ? 0 : at;
    at = dt_sat_add(at, k);
    hi[i] = at < in ? at : in;
  }
}

static DtStatus frac_windows (DtKernelCall *c, DtWindow *w) {
  const DtTensor *x = c->in[0], *r = dt_kin(c, 3);
  int nd = ND;
  int64_t planes = 1, channels = spatial(&x->m, nd, -1), k[DT_MAX_NDIM];
  int n = op_ints(c->args, 1, k);
  for (int d = 0; d < x->m.ndim - nd; d++) planes *= x->m.shape[d];
  for (int d = 0; d < nd; d++) {
    int64_t in = spatial(&x->m, nd, d), out = spatial(&c->out[0]->m, nd, d);
    DT_TRY(c->cx, dt_window_init(c->cx, &w[d], in, out, 1, planes));
    for (int64_t p = 0; p < planes; p++) {
      int64_t at[3] = { p / channels, p % channels, nd == 2 ? 1 - d : d };
      intervals((DtDtype)x->m.dtype, dt_tensor_get(r, at).re, in, out,
                k[n == 1 ? 0 : d], w[d].lo + p * out, w[d].hi + p * out);
    }
  }
  return DT_OK;
}

static DtStatus frac_kernel (DtKernelCall *c) {
  const DtTensor *x = c->in[0];
  DtWindow w[3];
  DtStatus st;
  DT_TRY(c->cx, frac_check(c->cx, &x->m, &dt_kin(c, 3)->m, ND));
  DT_TRY(c->cx, op_sp_dtype(c->cx, ND == 2 ? "fractional_max_pool2d_out_frame"
                            : "fractional_max_pool3d_out_frame",
                            (DtDtype)x->m.dtype, OP_T_FLOAT));
  memset(w, 0, sizeof w);
  st = frac_windows(c, w);
  if (st == DT_OK)
    st = dt_k_window_max(c->cx, ND, w, x, c->out[0], c->out[1]);
  for (int d = 0; d < 3; d++) dt_window_fini(c->cx, &w[d]);
  return st;
}

/* (grad, self, kernel_size, output_size, indices) */
static DtStatus frac_back_meta (DtMetaCall *c) {
  const DtMeta *g = c->in[0], *in = dt_in(c, 1);
  int64_t out[DT_MAX_NDIM];
  int nd = ND, n = op_ints(c->args, 3, out);
  DT_CHECK(c->cx, g->ndim >= nd && (n == 1 || n == nd), DT_E_RUNTIME,
           "fractional_max_pool%dd_backward(): gradOutput sizes unexpected",
           nd);
  for (int d = 0; d < nd; d++) {
    bool same = spatial(g, nd, d) == out[n == 1 ? 0 : d];
    DT_CHECK(c->cx, same || nd == 3, DT_E_RUNTIME,
             "fractional_max_pool2d_backward(): gradOutput sizes unexpected");
    DT_CHECK(c->cx, same, DT_E_RUNTIME, "fractional_max_pool3d_backward_out()"
             ": gradOutput %s unexpected", axis_name[d]);
  }
  c->nout = 1;
  return op_sp_result(c->cx, in, (DtDtype)in->dtype, 0, NULL, false,
                      &c->out[0]);
}
static DtStatus frac_back_kernel (DtKernelCall *c) {
  return back_by_index(c, ND == 2 ? "fractional_max_pool2d_backward_out_frame"
                       : "fractional_max_pool3d_backward_out_frame", 4);
}
static DtStatus frac_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT(ND == 2 ? "aten.fractional_max_pool2d_backward.default"
                              : "aten.fractional_max_pool3d_backward.default",
                      "ttvvt", c->gout[0], c->in[0], ARG(1), ARG(2),
                      c->out[1]));
  return op_g_finish(c);
}

/* ---- max_unpool ---- */

static const char *const count_word[] = { "", "", "two", "three" };

static DtStatus unpool_lists (DtMetaCall *c, int64_t *size) {
  int nd = ND, n = op_ints(c->args, 2, size);
  const char *names = nd == 2 ? "height, width" : "depth, height, width";
  DT_CHECK(c->cx, n == nd, DT_E_RUNTIME, "There should be exactly %s elements "
           "(%s) in output_size, but got %d elements.", count_word[nd], names,
           n);
  for (int i = 3; nd == 3 && i < 5; i++) {
    n = dt_arg_len(c->args, i);
    DT_CHECK(c->cx, n == 3, DT_E_RUNTIME, "There should be exactly three "
             "elements (depth, height, width) in %s, but got: %d elements.",
             i == 3 ? "stride" : "padding", n);
  }
  return DT_OK;
}

/* Checks in the order of native/MaxUnpooling.cpp: max_unpooling2d and
** max_unpooling3d: the first that fails is the message. */
static DtStatus unpool_meta (DtMetaCall *c) {
  const DtMeta *in = c->in[0], *ix = dt_in(c, 1);
  int64_t size[DT_MAX_NDIM], step[DT_MAX_NDIM];
  int nd = ND;
  bool ok = true;
  DT_TRY(c->cx, unpool_lists(c, size));
  bool typed = nd == 2 || (!c->fake && (c->op->flags & DT_OP_LATER) != 0);
  DT_CHECK(c->cx, ix->dtype == DT_I64, DT_E_RUNTIME, "elements in indices "
           "should be type int64%s%s", typed ? " but got: " : "",
           typed ? op_dtype_word((DtDtype)ix->dtype) : "");
  DT_CHECK(c->cx, in->ndim == nd + 1 || in->ndim == nd + 2, DT_E_RUNTIME,
           "Input to max_unpooling%dd should be a %dd or %dd Tensor, but got a "
           "tensor with %d dimensions.", nd, nd + 1, nd + 2, in->ndim);
  DT_CHECK(c->cx, dt_meta_same_shape(in, ix), DT_E_RUNTIME, "Expected shape "
           "of indices to be same as that of the input tensor (%s) but got "
           "indices tensor with shape: %s", op_shape_text(in).s,
           op_shape_text(ix).s);
  for (int d = 1; d < in->ndim; d++)
    DT_CHECK(c->cx, in->shape[d] > 0, DT_E_RUNTIME, "max_unpooling%dd%s()"
             ": Expected input to have non-zero size for non-batch "
             "dimensions, but got %s with dimension %d being empty.", nd,
             c->fake ? "" : "_forward_out_cpu", op_size_text(c, in).s, d);
  if (nd == 3) {
    op_ints(c->args, 3, step);
    ok = step[0] > 0 && step[1] > 0 && step[2] > 0;
    DT_CHECK(c->cx, ok, DT_E_RUNTIME, "strides should be greater than zero, "
             "but got stride: %s", op_ints_text(3, step).s);
  }
  for (int d = 0; d < nd; d++) ok = ok && size[d] >= 0;
  OpText t = op_ints_text(nd, size);
  t.s[strlen(t.s) - 1] = '\0';
  DT_CHECK(c->cx, ok, DT_E_RUNTIME, "max_unpooling%dd(): output_size must "
           "contain non-negative spatial dimensions, but got output_size=(%s)",
           nd, t.s + 1);
  c->nout = 1;
  return op_sp_result(c->cx, in, (DtDtype)in->dtype, nd, size, nd == 2,
                      &c->out[0]);
}

static DtStatus unpool_kernel (DtKernelCall *c) {
  DT_TRY(c->cx, op_sp_dtype(c->cx, ND == 2 ? "max_unpool2d" : "max_unpool3d",
                            (DtDtype)c->in[0]->m.dtype, OP_T_FLOAT));
  return dt_k_plane_set(c->cx, ND, c->in[0], dt_kin(c, 1), c->out[0]);
}

/* What the indices took is what they give back. */
static DtStatus unpool_grad (DtGradCall *c) {
  DtHandle *ix = dt_gin(c, 1), *h = c->gout[0];
  const DtMeta *m = dt_emit_meta(c->e, ix);
  int64_t shape[DT_MAX_NDIM], flat[DT_MAX_NDIM];
  int nd = ND, n = m->ndim;
  if (!dt_emit_ok(c->e)) return c->e->st;
  memcpy(shape, m->shape, sizeof(int64_t) * (size_t)n);
  memcpy(flat, m->shape, sizeof(int64_t) * (size_t)n);
  for (int k = 0; k < 2; k++) {
    const DtMeta *w = dt_emit_meta(c->e, k ? ix : h);
    flat[n - nd] = 1;
    for (int d = n - nd; d < n; d++) flat[n - nd] *= w->shape[d];
    DtHandle *v = EMIT("aten.view.default", "tI", k ? ix : h, n - nd + 1,
                       flat);
    if (k) ix = v;
    else h = v;
  }
  h = EMIT("aten.gather.default", "tit", h, (int64_t)-1, ix);
  op_g_set(c, 0, EMIT("aten.view.default", "tI", h, n, shape));
  return op_g_finish(c);
}

/* ---- decisions ---- */

static DtStatus strategy (DtStratCall *c) {
  DtPlacement pl[3];
  int n = 0;
  if (!c->op->row[ROW_MAX]) {
    pl[n++] = dt_pl_partial(DT_OP_SUM);
    pl[n++] = dt_pl_partial(DT_OP_AVG);
  }
  if (c->in[0]->meta.ndim >= ND + 2) pl[n++] = dt_pl_shard(1);
  return op_sp_alike(c, n, pl);
}
static const char *const two_rules[] = { "S(0), S(0) -> S(0)",
                                         "S(1), S(1) -> S(1)", NULL };

/* ---- samples and definitions ---- */

static const char *const s1[] = { "f32[2, 3, 8], [3]", "f32[4, 7], [7]", NULL };
static const char *const s2[] = { "f32[2, 3, 8, 6], [3, 2]",
                                  "f32[4, 7, 5], [2, 5]",
                                  "f32[0, 3, 4, 4], [2, 2]", NULL };
static const char *const s3[] = { "f32[2, 3, 4, 5, 6], [3, 2, 2]",
                                  "f32[4, 4, 3, 2], [2, 3, 1]", NULL };
static const char *const avg_b2[] = { "f32[2, 4, 2, 3], f32[2, 4, 4, 5]",
                                      NULL };
static const char *const avg_b3[] = { "f32[2, 4, 2, 3, 1], f32[2, 4, 4, 5, 2]",
                                      NULL };
static const char *const max_b2[] = {
  "f32[2, 4, 2, 3], f32[2, 4, 4, 5], i64[2, 4, 2, 3]", NULL
};
static const char *const max_b3[] = {
  "f32[2, 4, 2, 3, 1], f32[2, 4, 4, 5, 2], i64[2, 4, 2, 3, 1]", NULL
};
static const char *const f2[] = {
  "f32[2, 3, 8, 6], [2, 2], [4, 3], f32[2, 3, 2]", NULL
};
static const char *const f3[] = {
  "f32[2, 3, 8, 6, 6], [2, 2, 2], [4, 3, 3], f32[2, 3, 3]", NULL
};
static const char *const fb2[] = {
  "f32[2, 3, 4, 3], f32[2, 3, 8, 6], [2, 2], [4, 3], i64[2, 3, 4, 3]", NULL
};
static const char *const fb3[] = {
  "f32[2, 3, 4, 3, 3], f32[2, 3, 8, 6, 6], [2, 2, 2], [4, 3, 3], "
  "i64[2, 3, 4, 3, 3]", NULL
};
static const char *const u2[] = { "f32[2, 4, 2, 2], i64[2, 4, 2, 2], [4, 4]",
                                  NULL };
static const char *const u3[] = {
  "f32[2, 4, 2, 2, 2], i64[2, 4, 2, 2, 2], [4, 4, 4], [2, 2, 2], [0, 0, 0]",
  NULL
};

#define OP(id, schema_, brief_, ...) \
  const DtOpDef dt_op_##id = { .schema = "aten::" #id schema_, \
                               .brief = brief_, __VA_ARGS__ }
#define BACK(id, schema_, brief_, ...) \
  OP(id, schema_, brief_, .flags = DT_OP_NOSTRATEGY, __VA_ARGS__)

OP(adaptive_avg_pool1d, "(Tensor self, int[1] output_size) -> Tensor",
   "Means of windows that share the dim evenly.", .flags = DT_OP_COMPOSITE,
   .decomp = adaptive1_decomp, .strategy = strategy, .samples = s1,
   .row = row_avg1);
OP(adaptive_avg_pool2d, "(Tensor self, SymInt[2] output_size) -> Tensor",
   "Means of windows that share the dims evenly.", .flags = DT_OP_COMPOSITE,
   .decomp = adaptive_avg_decomp, .samples = s2, .row = row_avg2);
OP(adaptive_avg_pool3d, "(Tensor self, SymInt[3] output_size) -> Tensor",
   "Means of windows that share the dims evenly.", .flags = DT_OP_COMPOSITE,
   .decomp = adaptive_avg_decomp, .samples = s3, .row = row_avg3);
OP(_adaptive_avg_pool2d, "(Tensor self, SymInt[2] output_size) -> Tensor",
   "Means of windows that share the dims evenly.", .meta = adaptive_meta,
   .kernel = avg_kernel, .strategy = strategy, .grad = adaptive_grad,
   .samples = s2, .row = row_avg2);
OP(_adaptive_avg_pool3d, "(Tensor self, SymInt[3] output_size) -> Tensor",
   "Means of windows that share the dims evenly.", .meta = adaptive_meta,
   .kernel = avg_kernel, .strategy = strategy, .grad = adaptive_grad,
   .samples = s3, .row = row_avg3);
OP(_adaptive_avg_pool2d_backward, "(Tensor grad_output, Tensor self) -> "
   "Tensor", "Gradient of adaptive_avg_pool2d.",
   .grad = op_gg_adaptive_avg_pool_backward,
   .meta = avg_back_meta, .kernel = avg_back_kernel, .rules = two_rules,
   .samples = avg_b2, .row = row_avg2);
BACK(_adaptive_avg_pool3d_backward, "(Tensor grad_output, Tensor self) -> "
     "Tensor", "Gradient of adaptive_avg_pool3d.", .meta = avg_back_meta,
     .kernel = avg_back_kernel, .grad = op_gg_adaptive_avg_pool_backward,
     .samples = avg_b3, .row = row_avg3);
OP(adaptive_max_pool1d, "(Tensor self, int[1] output_size) -> (Tensor, "
   "Tensor)", "Maxima of windows that share the dim evenly.",
   .flags = DT_OP_COMPOSITE, .decomp = adaptive1_decomp, .strategy = strategy,
   .samples = s1, .row = row_max1);
OP(adaptive_max_pool2d, "(Tensor self, int[2] output_size) -> (Tensor, "
   "Tensor)", "Maxima of windows that share the dims evenly.",
   .flags = DT_OP_SAVE_OUT,
   .meta = adaptive_meta, .kernel = max_kernel, .strategy = strategy,
   .grad = adaptive_grad, .samples = s2, .row = row_max2);
OP(adaptive_max_pool3d, "(Tensor self, int[3] output_size) -> (Tensor, "
   "Tensor)", "Maxima of windows that share the dims evenly.",
   .flags = DT_OP_SAVE_OUT,
   .meta = adaptive_meta, .kernel = max_kernel, .strategy = strategy,
   .grad = adaptive_grad, .samples = s3, .row = row_max3);
BACK(adaptive_max_pool2d_backward, "(Tensor grad_output, Tensor self, Tensor "
     "indices) -> Tensor", "Gradient of adaptive_max_pool2d.",
     .grad = op_gg_adaptive_max_pool_backward,
     .meta = max_back_meta, .kernel = max_back_kernel, .samples = max_b2,
     .row = row_max2);
BACK(adaptive_max_pool3d_backward, "(Tensor grad_output, Tensor self, Tensor "
     "indices) -> Tensor", "Gradient of adaptive_max_pool3d.",
     .grad = op_gg_adaptive_max_pool_backward,
     .meta = max_back_meta, .kernel = max_back_kernel, .samples = max_b3,
     .row = row_max3);
OP(fractional_max_pool2d, "(Tensor self, int[2] kernel_size, int[2] "
   "output_size, Tensor random_samples) -> (Tensor, Tensor)",
   "Maxima of windows at random places.", .flags = DT_OP_SAVE_OUT,
   .meta = frac_meta,
   .kernel = frac_kernel, .strategy = strategy, .grad = frac_grad,
   .samples = f2, .row = row_max2);
OP(fractional_max_pool3d, "(Tensor self, int[3] kernel_size, int[3] "
   "output_size, Tensor random_samples) -> (Tensor, Tensor)",
   "Maxima of windows at random places.", .flags = DT_OP_SAVE_OUT,
   .meta = frac_meta,
   .kernel = frac_kernel, .strategy = strategy, .grad = frac_grad,
   .samples = f3, .row = row_max3);
BACK(fractional_max_pool2d_backward, "(Tensor grad_output, Tensor self, int[2] "
     "kernel_size, int[2] output_size, Tensor indices) -> Tensor",
     "Gradient of fractional_max_pool2d.", .grad = op_gg_fractional_max_pool_backward,
     .meta = frac_back_meta,
     .kernel = frac_back_kernel, .samples = fb2, .row = row_max2);
BACK(fractional_max_pool3d_backward, "(Tensor grad_output, Tensor self, int[3] "
     "kernel_size, int[3] output_size, Tensor indices) -> Tensor",
     "Gradient of fractional_max_pool3d.", .grad = op_gg_fractional_max_pool_backward,
     .meta = frac_back_meta,
     .kernel = frac_back_kernel, .samples = fb3, .row = row_max3);
OP(max_unpool2d, "(Tensor self, Tensor indices, SymInt[2] output_size) -> "
   "Tensor", "Elements back at the places a maximum found.",
   .meta = unpool_meta, .kernel = unpool_kernel, .rules = two_rules,
   .grad = unpool_grad, .samples = u2, .row = row_max2);
OP(max_unpool3d, "(Tensor self, Tensor indices, SymInt[3] output_size, int[3] "
   "stride, int[3] padding) -> Tensor",
   "Elements back at the places a maximum found.", .meta = unpool_meta,
   .kernel = unpool_kernel, .rules = two_rules, .grad = unpool_grad,
   .samples = u3, .row = row_max3);
