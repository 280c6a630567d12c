/* SPDX-License-Identifier: MIT
** oplib/op_upsample.c: resizing one to three spatial dims: nearest, linear,
** cubic, and the antialiased forms, with gradients and the forms that take
** scale factors (.vec).
**
** All are separable linear maps: here the taps of one dim are made, as
** UpSample.h of PyTorch 2.13 places them, and kernel/resample.c does the rest
** in both directions.  Places are rounded to f32 step by step unless the data
** are f64 (or bytes, which PyTorch weighs in f64): which element is nearest
** can hang on that. */
#include "oplib/op_spatial.h"
#include "oplib/op_upsample.h"
#include "oplib/second.h"

#include <math.h>
#include <stdio.h>
#include <string.h>


typedef enum Mode {
  NEAREST, EXACT, LINEAR, CUBIC, AA_LINEAR, AA_CUBIC, AA_LANCZOS
} Mode;

/* Row: spatial dims, mode. */
enum { ROW_ND, ROW_MODE };
#define ND (c->op->row[ROW_ND])
#define MODE ((Mode)c->op->row[ROW_MODE])
static bool has_align (Mode m) { return m >= LINEAR; }

/* ---- taps of one dim ---- */

typedef struct Dim {
  Mode mode;
  bool single, align, copy;
  bool helper;                  /* no short cut for whole factors */
  int64_t in, out;
  double factor;                /* scale the caller gave; 0: none */
  DtDtype stored;               /* type weights are kept in */
} Dim;

static double fl (const Dim *d, double v) {
  return d->single ? (double)(float)v : v;
}

/* A weight as it is kept. */
static double kept (const Dim *d, double w) {
  if (d->stored == DT_F16)
    return (double)dt_f16_to_f32(dt_f32_to_f16((float)w));
  if (d->stored == DT_BF16)
    return (double)dt_bf16_to_f32(dt_f32_to_bf16((float)w));
  return fl(d, w);
}

static double scale_of (const Dim *d) {
  if (d->align && has_align(d->mode))
    return d->out > 1 ? fl(d, (double)(d->in - 1) / (double)(d->out - 1)) : 0;
  if (d->factor > 0) return fl(d, 1 / d->factor);
  return d->out > 0 ? fl(d, (double)d->in / (double)d->out) : 0;
}

/* Where output i lies in the input. */
static double place (const Dim *d, double scale, int64_t i) {
  if (d->align) return fl(d, scale * (double)i);
  double x = fl(d, fl(d, scale * ((double)i + 0.5)) - 0.5);
  return d->mode != CUBIC && x < 0 ? 0 : x;
}

static int64_t nearest (const Dim *d, double scale, int64_t i) {
  int64_t k;
  if (d->mode == EXACT)
    k = (int64_t)floor(fl(d, ((double)i + 0.5) * scale));
  else if (!d->helper && d->in == d->out) k = i;
  else if (!d->helper && d->out == 2 * d->in) k = i >> 1;
  else k = (int64_t)floor(fl(d, (double)i * scale));
  return k < d->in - 1 ? k : d->in - 1;
}

static void taps_linear (const Dim *d, double scale, int64_t i, DtTaps *t) {
  double x = d->in == d->out ? (double)i : place(d, scale, i);
  int64_t k = (int64_t)floor(x);
  if (k > d->in - 1) k = d->in - 1;
  double w = fl(d, x - (double)k);
  w = kept(d, w < 0 ? 0 : w > 1 ? 1 : w);
  dt_taps_add(t, k, kept(d, 1 - w));
  dt_taps_add(t, k + (k < d->in - 1), w);
}

static double near_cubic (double x, double a) {
  return ((a + 2) * x - (a + 3)) * x * x + 1;
}
static double far_cubic (double x, double a) {
  return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

static void taps_cubic (const Dim *d, double scale, int64_t i, DtTaps *t) {
  double x = place(d, scale, i), w[4];
  int64_t k = (int64_t)floor(x);
  if (k > d->in - 1) k = d->in - 1;
  double f = fl(d, x - (double)k);
  f = f < 0 ? 0 : f > 1 ? 1 : f;
  w[0] = far_cubic(f + 1, -0.75);
  w[1] = near_cubic(f, -0.75);
  w[2] = near_cubic(1 - f, -0.75);
  w[3] = far_cubic(2 - f, -0.75);
  for (int j = 0; j < 4; j++) {
    int64_t at = k - 1 + j;
    dt_taps_add(t, at < 0 ? 0 : at >= d->in ? d->in - 1 : at, kept(d, w[j]));
  }
}

static double sinc (double x) {
  x *= acos(-1.0);
  return x == 0 ? 1 : sin(x) / x;
}

static double filter (Mode m, double x) {
  x = fabs(x);
  if (m == AA_LINEAR) return x < 1 ? 1 - x : 0;
  if (m == AA_LANCZOS) return x < 3 ? sinc(x) * sinc(x / 3) : 0;
  return x < 1 ? near_cubic(x, -0.5) : x < 2 ? far_cubic(x, -0.5) : 0;
}

static double reach (Mode m, double scale) {
  double r = m == AA_LINEAR ? 1 : m == AA_CUBIC ? 2 : 3;
  return scale >= 1 ? r * scale : r;
}

static void taps_smooth (const Dim *d, double scale, int64_t i, DtTaps *t) {
  double support = fl(d, reach(d->mode, scale)), sum = 0;
  double inverse = scale >= 1 ? fl(d, 1 / scale) : 1;
  double center = fl(d, scale * ((double)i + 0.5));
  int64_t lo = (int64_t)fl(d, fl(d, center - support) + 0.5);
  int64_t hi = (int64_t)fl(d, fl(d, center + support) + 0.5);
  if (lo < 0) lo = 0;
  if (hi > d->in) hi = d->in;
  for (int64_t k = lo; k < hi; k++)
    sum += filter(d->mode, ((double)k - center + 0.5) * inverse);
  for (int64_t k = lo; k < hi; k++) {
    double w = filter(d->mode, ((double)k - center + 0.5) * inverse);
    dt_taps_add(t, k, sum != 0 ? w / sum : w);
  }
}

static DtStatus dim_taps (DtCtx *cx, const Dim *d, DtTaps *t) {
  double scale = scale_of(d), most = 4;
  if (d->mode >= AA_LINEAR) most = 2 * ceil(reach(d->mode, scale)) + 2;
  if (!(most < (double)d->in + 4)) most = (double)d->in + 4;
  DT_TRY(cx, dt_taps_init(cx, t, d->in, d->out, (int64_t)most));
  for (int64_t i = 0; i < d->out; i++) {
    if (d->copy) dt_taps_add(t, i, 1);
    else if (d->mode <= EXACT) dt_taps_add(t, nearest(d, scale, i), 1);
    else if (d->mode == LINEAR) taps_linear(d, scale, i, t);
    else if (d->mode == CUBIC) taps_cubic(d, scale, i, t);
    else taps_smooth(d, scale, i, t);
    dt_taps_next(t, 1);
  }
  return DT_OK;
}

/* ---- shapes ---- */

/* "H: 3, W: 4" */
static OpText named_sizes (int nd, const int64_t *s) {
  OpText t = { "" };
  size_t n = 0;
  for (int d = 0; d < nd && n < sizeof t.s; d++) {
    int got = snprintf(t.s + n, sizeof t.s - n, "%s%c: %lld", d ? ", " : "",
                       "DHW"[3 - nd + d], (long long)s[d]);
    n += got > 0 ? (size_t)got : 0;
  }
  return t;
}

static DtStatus check_counts (DtCtx *cx, int nd, int nin, int nout) {
  DT_CHECK(cx, nout == nd, DT_E_RUNTIME, "It is expected output_size equals "
           "to %d, but got size %d", nd, nout);
  DT_CHECK(cx, nin == nd + 2, DT_E_RUNTIME, "It is expected input_size equals "
           "to %d, but got size %d", nd + 2, nin);
  return DT_OK;
}

/* As upsample_{1,2,3}d_common_check. */
static DtStatus check_sizes (DtCtx *cx, int nd, const int64_t *in,
                             const int64_t *out) {
  bool ok = true;
  for (int d = 0; d < nd; d++) ok = ok && in[2 + d] > 0 && out[d] > 0;
  DT_CHECK(cx, ok, DT_E_RUNTIME, "Input and output sizes should be greater "
           "than 0, but got input (%s)%s output (%s)",
           named_sizes(nd, in + 2).s, nd == 1 ? " and" : "",
           named_sizes(nd, out).s);
  return DT_OK;
}

/* Forwards, in propagation. */
static DtStatus fake_sizes (DtMetaCall *c, const int64_t *size) {
  Mode m = MODE;
  DtUpSizes s = { .nd = ND, .in = c->in[0]->shape, .out = size,
                  .nearest = m <= EXACT };
  s.decomposed = s.nearest ? op_is_out(c) : m <= CUBIC;
  for (int d = 0; s.nearest && d < s.nd; d++)
    if (!dt_arg_is_none(c->args, 2 + d))
      s.factor[d] = dt_arg_float(c->args, 2 + d);
  return op_up_fake(c->cx, &s);
}

static DtStatus up_meta (DtMetaCall *c) {
  const DtMeta *in = c->in[0];
  int64_t size[DT_MAX_NDIM];
  int n = op_ints(c->args, 1, size);
  bool fake = c->fake && (MODE < AA_LINEAR || !op_is_out(c));
  DT_TRY(c->cx, check_counts(c->cx, ND, in->ndim, n));
  DT_TRY(c->cx, fake ? fake_sizes(c, size)
                     : check_sizes(c->cx, ND, in->shape, size));
  DT_CHECK(c->cx, fake || op_sp_empty_dim(in, ND, true) < 0, DT_E_RUNTIME,
           "Non-empty %dD data tensor expected but got a tensor with sizes %s",
           in->ndim, op_shape_text(in).s);
  c->nout = 1;
  return op_sp_result(c->cx, in, (DtDtype)in->dtype, ND, size, true,
                      &c->out[0]);
}

/* Gradients that come back in the gradient's order of dims. */
static bool back_format (Mode m, int nd) {
  return m == LINEAR || m == AA_LINEAR || (nd == 2 && m <= EXACT);
}

/* grad_output must have the forward's shape.  The antialiased modes print it in
** propagation with a line break and another name of the function
** (torch/_meta_registrations.py). */
static DtStatus back_meta (DtMetaCall *c) {
  const DtMeta *g = c->in[0];
  int64_t out[DT_MAX_NDIM], in[DT_MAX_NDIM], full[DT_MAX_NDIM];
  int nd = ND, nout = op_ints(c->args, 1, out), nin = op_ints(c->args, 2, in);
  DtUpSizes s = { .nd = nd, .in = in, .out = out, .list = true };
  bool smooth = c->fake && !op_is_out(c) &&
                (MODE == AA_LINEAR || MODE == AA_LANCZOS);
  bool flat = c->fake && !op_is_out(c) && MODE <= EXACT && nd == 2;
  DT_TRY(c->cx, check_counts(c->cx, nd, nin, nout));
  DT_TRY(c->cx, smooth || flat ? op_up_fake(c->cx, &s)
                               : check_sizes(c->cx, nd, in, out));
  full[0] = in[0];
  full[1] = in[1];
  for (int d = 0; d < nd; d++) full[2 + d] = out[d];
  DT_CHECK(c->cx, nd == 1 || g->ndim == nd + 2, DT_E_RUNTIME, "Expected "
           "grad_output to be a tensor of dimension %d but got: dimension %d",
           nd + 2, g->ndim);
  for (int d = 0; d < nd + 2; d++) {
    if (nd == 1) DT_TRY(c->cx, op_sp_check_dim(c->cx, g, 3, d, full[d]));
    DT_CHECK(c->cx, !smooth || g->shape[d] == full[d], DT_E_RUNTIME,
             "\nExpected grad_output to have the same shape as output; "
             "output.size(%d) = %lld\nbut got grad_output_size(%d) = %lld", d,
             (long long)full[d], d, (long long)g->shape[d]);
    DT_CHECK(c->cx, g->shape[d] == full[d], DT_E_RUNTIME, "Expected "
             "grad_output to have the same shape as output; output.size(%d) = "
             "%lld but got grad_output.size(%d) = %lld", d,
             (long long)full[d], d, (long long)g->shape[d]);
  }
  c->nout = 1;
  return op_sp_result(c->cx, g, (DtDtype)g->dtype, nd + 2, in,
                      back_format(MODE, nd), &c->out[0]);
}

/* ---- kernels ---- */

static const char *forward_name (Mode m, int nd) {
  if (m <= EXACT)
    return nd == 2 ? "upsample_nearest2d_channels_last"
                   : "compute_indices_weights_nearest";
  if (m == LINEAR)
    return nd == 2 ? "upsample_bilinear2d_channels_last"
                   : "compute_indices_weights_linear";
  return m == CUBIC ? "compute_indices_weights_cubic"
                    : "compute_index_ranges_weights";
}

/* Do the elements lie channel by channel?  Dims of size 1 do not count. */
static bool channels_last (const DtMeta *m) {
  int64_t step = 1;
  for (int i = 0; i < m->ndim; i++) {
    int d = i == 0 ? 1 : i == m->ndim - 1 ? 0 : m->ndim - i;
    if (m->shape[d] != 1 && m->stride[d] != step) return false;
    step *= m->shape[d];
  }
  return m->ndim == 4 || m->ndim == 5;
}

static DtStatus check_dtype (DtKernelCall *c, bool back) {
  DtDtype t = (DtDtype)c->in[0]->m.dtype;
  Mode m = MODE;
  int set = m >= AA_LINEAR ? OP_T_F3264 : OP_T_FLOAT;
  char name[64];
  if (back) {
    bool aa = m >= AA_LINEAR, last = channels_last(&c->in[0]->m);
    const char *way = aa ? "_cpu" : !last || m == CUBIC ? ""
                      : m <= EXACT ? "_cl" : "_channels_last";
    bool odd = m == NEAREST && ND == 3 && *way;  /* as it is spelt there */
    snprintf(name, sizeof name, "%s%s%s", odd ? "_" : "",
             c->op->sig->base + (aa ? 1 : 0), way);
    return op_sp_dtype(c->cx, name, t, set);
  }
  if (m != LINEAR || ND == 2) set |= OP_T_U8;
  return op_sp_dtype(c->cx, forward_name(m, ND), t, set);
}

/* A dim that keeps its size is not touched, so that no neighbour's NaN comes
** in with weight 0: lines are equal dim by dim, smoothed ones only forwards, a
** cubic gradient only where all dims keep their sizes. */
static bool copies (Mode m, bool back, const DtMeta *x, const DtMeta *y,
                    int nd, int k) {
  bool all = true;
  for (int i = 1; i <= nd; i++)
    all = all && x->shape[x->ndim - i] == y->shape[y->ndim - i];
  if (m == CUBIC) return back && all;
  if (m < LINEAR || (back && m >= AA_LINEAR)) return false;
  return x->shape[x->ndim - nd + k] == y->shape[y->ndim - nd + k];
}

/* Every interpolation, both ways: weights per output position of each
** dimension, then one loop over them.  In which type weights are computed and
** kept decides the last bits, and differs between PyTorch's kernels: those for
** two dimensions compute in float, the general ones in the data's type. */
static DtStatus up_run (DtKernelCall *c, bool back) {
  const DtMeta *x = back ? &c->out[0]->m : &c->in[0]->m;
  const DtMeta *y = back ? &c->in[0]->m : &c->out[0]->m;
  int nd = ND, at = back ? 3 : 2;
  DtResample r = { .nd = nd };
  DtDtype t = (DtDtype)x->dtype;
  DtTaps taps[3];
  DtStatus st = DT_OK;
  Dim d = { .mode = MODE };
  DT_TRY(c->cx, check_dtype(c, back));
  memset(taps, 0, sizeof taps);
  r.taps = taps;
  d.helper = nd != 2 && !back;
  d.single = t != DT_F64 && t != DT_U8;
  if (d.mode <= EXACT && !d.helper) d.single = true;
  /* The loops over any number of dims keep weights in the data's type. */
  d.stored = !back && (nd != 2 || d.mode == CUBIC) ? t : DT_F64;
  if (has_align(d.mode)) d.align = dt_arg_bool(c->args, at++);
  for (int k = 0; k < nd && st == DT_OK; k++) {
    d.in = x->shape[x->ndim - nd + k];
    d.out = y->shape[y->ndim - nd + k];
    d.copy = copies(d.mode, back, x, y, nd, k);
    d.factor = dt_arg_is_none(c->args, at + k) ? 0
               : dt_arg_float(c->args, at + k);
    st = dim_taps(c->cx, &d, &taps[k]);
  }
  if (st == DT_OK)
    st = back ? dt_k_resample_back(c->cx, &r, c->in[0], c->out[0])
       : d.mode <= EXACT ? dt_k_pick(c->cx, &r, c->in[0], c->out[0])
       : t == DT_U8
       ? dt_k_resample_u8(c->cx, &r, c->in[0], c->out[0])
       : dt_k_resample(c->cx, &r, c->in[0], c->out[0]);
  for (int k = 0; k < 3; k++) dt_taps_fini(c->cx, &taps[k]);
  return st;
}
static DtStatus up_kernel (DtKernelCall *c) { return up_run(c, false); }
static DtStatus back_kernel (DtKernelCall *c) { return up_run(c, true); }

/* ---- gradients, scale factors ---- */

/* X(self, size, ...) to X_backward(g, size, self's sizes, ...). */
static DtStatus up_grad (DtGradCall *c) {
  DtMeta m;
  DtValue pos[8], sizes[DT_MAX_NDIM];
  DtHandle *in = c->gout[0], *out = NULL;
  DtOutputs got = { &out, 1, 0, NULL };
  char name[80];
  int n = 0;
  dt_meta_copy(&m, dt_emit_meta(c->e, c->in[0]));
  if (!dt_emit_ok(c->e)) return c->e->st;
  for (int d = 0; d < m.ndim; d++) sizes[d] = dt_v_int(m.shape[d]);
  pos[n++] = dt_v_slot(0);
  pos[n++] = ARG(1);
  pos[n++] = dt_v_list(m.ndim, sizes);
  for (int i = 2; i < c->args->schema->nargs && n < 8; i++) pos[n++] = ARG(i);
  snprintf(name, sizeof name, "aten.%s_backward.default", c->op->sig->base);
  if (in == NULL) return DT_OK;
  DT_TRY(c->e->cx, c->e->vt->call(c->e, name, &(DtGiven){ .npos = n, .pos = pos },
                                  1, &in, &got));
  op_g_set(c, 0, out);
  return op_g_finish(c);
}

static const char one_of[] =
  "Must specify exactly one of output_size and scale_factors";

/* compute_output_size of UpSample.cpp. */
static DtStatus vec_sizes (DtDecompCall *c, const DtMeta *m, int factors,
                           int64_t *size) {
  static const char *const what[] = { "output_size", "scale_factors" };
  DtCtx *cx = c->e->cx;
  int nd = ND;
  bool by_size = !dt_arg_is_none(c->args, 1);
  DT_CHECK(cx, by_size == dt_arg_is_none(c->args, factors), DT_E_RUNTIME,
           "%s", one_of);
  int i = by_size ? 1 : factors;
  DT_CHECK(cx, dt_arg_len(c->args, i) == nd && m->ndim == nd + 2,
           DT_E_RUNTIME, "Expected static_cast<int64_t>(%s->size()) == "
           "spatial_dimensions to be true, but got false.  (Could this error "
           "message be improved?  If so, please report an enhancement request "
           "to PyTorch.)", what[!by_size]);
  if (by_size) {
    op_ints(c->args, 1, size);
    return DT_OK;
  }
  const DtValue *v = &ARG(factors);
  for (int d = 0; d < nd; d++) {
    const DtValue *f = v->kind == DT_V_LIST ? &v->u.list.v[d] : v;
    double s = f->kind == DT_V_FLOAT ? f->u.f : (double)f->u.i;
    s *= (double)m->shape[2 + d];
    size[d] = fabs(s) < 9e15 ? (int64_t)s : -1;
  }
  return DT_OK;
}

static DtStatus vec_decomp (DtDecompCall *c) {
  int nd = ND, factors = has_align(MODE) ? 3 : 2, n = 0;
  DtOutputs got = { c->out, c->maxout, 0, NULL };
  int64_t size[DT_MAX_NDIM];
  DtValue pos[8], sizes[3];
  char name[80];
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, c->in[0]));
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_TRY(c->e->cx, vec_sizes(c, &m, factors, size));
  for (int d = 0; d < nd; d++) sizes[d] = dt_v_int(size[d]);
  pos[n++] = dt_v_slot(0);
  pos[n++] = dt_v_list(nd, sizes);
  if (has_align(MODE)) pos[n++] = ARG(2);
  const DtValue *v = &ARG(factors);
  for (int d = 0; d < nd && v->kind != DT_V_NONE; d++)
    pos[n++] = v->kind == DT_V_LIST ? v->u.list.v[d] : *v;
  snprintf(name, sizeof name, "aten.%s.default", c->op->sig->base);
  DtStatus st = c->e->vt->call(c->e, name, &(DtGiven){ .npos = n, .pos = pos },
                               1, c->in, &got);
  c->nout = 1;
  return st;
}

/* ---- decisions, samples, definitions ---- */

static const char *const rules[] = { "S(0) -> S(0)", "S(1) -> S(1)",
                                     "P(sum) -> P(sum)", "P(avg) -> P(avg)",
                                     NULL };
/* The forms with out= keep the global sizes in PyTorch. */
static DtStatus back_rewrite (DtRewriteCall *c) {
  return (c->op->flags & DT_OP_OUT) != 0 ? DT_OK : op_rw_shape(c, 2);
}

#define SAMPLES(id, in, size, out, align, half, twice) \
  static const char *const s_##id[] = { "f32[" in "], " size align, NULL }; \
  static const char *const b_##id[] = { "f32[" out "], " size ", [" in "]" \
                                        align, NULL }; \
  static const char *const v_##id[] = { "f32[" in "], None" align twice, \
                                        "f32[" in "], " size align ", None", \
                                        NULL };
SAMPLES(n1, "2, 3, 4", "[6]", "2, 3, 6", "", "", ", [2.0]")
SAMPLES(n2, "2, 3, 4, 4", "[3, 6]", "2, 3, 3, 6", "", "", ", [2.0, 1.5]")
SAMPLES(n3, "2, 3, 4, 4, 2", "[3, 6, 3]", "2, 3, 3, 6, 3", "", "",
        ", [2.0, 1.5, 2.0]")
SAMPLES(a1, "2, 3, 4", "[6]", "2, 3, 6", ", False", "", ", [2.0]")
SAMPLES(a2, "2, 3, 4, 4", "[3, 6]", "2, 3, 3, 6", ", False", "",
        ", [2.0, 1.5]")
SAMPLES(a3, "2, 3, 4, 4, 2", "[3, 6, 3]", "2, 3, 3, 6, 3", ", True", "",
        ", [2.0, 1.5, 2.0]")

#define SC1 "float? scales=None"
#define SC2 "float? scales_h=None, float? scales_w=None"
#define SC3 "float? scales_d=None, float? scales_h=None, float? scales_w=None"
#define NO_ALIGN ""
#define ALIGN "bool align_corners, "

/* Forward, backward and .vec of one way of resizing. */
#define UP(id, nd_, mode_, full, align, scales, s, brief_) \
  static const int row_##id[] = { nd_, mode_ }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" #id "(Tensor self, SymInt[" #nd_ "] output_size, " \
              align scales ") -> Tensor", \
    .brief = brief_, .meta = up_meta, .kernel = up_kernel, .rules = rules, \
    .grad = up_grad, .samples = s_##s, .row = row_##id }; \
  const DtOpDef dt_op_##id##_backward = { \
    .schema = "aten::" #id "_backward(Tensor grad_output, SymInt[" #nd_ "] " \
              "output_size, SymInt[" #full "] input_size, " align scales \
              ") -> Tensor", \
    .brief = "Gradient of " #id ".", .grad = op_gg_upsample_backward, \
    .meta = back_meta, .kernel = back_kernel, .rules = rules, \
    .rewrite = back_rewrite, .samples = b_##s, .row = row_##id }; \
  const DtOpDef dt_op_##id##_vec = { \
    .schema = "aten::" #id ".vec(Tensor input, SymInt[]? output_size, " align \
              "float[]? scale_factors) -> Tensor", \
    .brief = brief_, .flags = DT_OP_COMPOSITE, .decomp = vec_decomp, \
    .samples = v_##s, .row = row_##id };

UP(upsample_nearest1d, 1, NEAREST, 3, NO_ALIGN, SC1, n1,
   "The nearest element for each place.")
UP(upsample_nearest2d, 2, NEAREST, 4, NO_ALIGN, SC2, n2,
   "The nearest element for each place.")
UP(upsample_nearest3d, 3, NEAREST, 5, NO_ALIGN, SC3, n3,
   "The nearest element for each place.")
UP(_upsample_nearest_exact1d, 1, EXACT, 3, NO_ALIGN, SC1, n1,
   "The element nearest to each place's middle.")
UP(_upsample_nearest_exact2d, 2, EXACT, 4, NO_ALIGN, SC2, n2,
   "The element nearest to each place's middle.")
UP(_upsample_nearest_exact3d, 3, EXACT, 5, NO_ALIGN, SC3, n3,
   "The element nearest to each place's middle.")
UP(upsample_linear1d, 1, LINEAR, 3, ALIGN, SC1, a1,
   "Between neighbours in proportion.")
UP(upsample_bilinear2d, 2, LINEAR, 4, ALIGN, SC2, a2,
   "Between neighbours in proportion.")
UP(upsample_trilinear3d, 3, LINEAR, 5, ALIGN, SC3, a3,
   "Between neighbours in proportion.")
UP(upsample_bicubic2d, 2, CUBIC, 4, ALIGN, SC2, a2,
   "A cubic through four neighbours of each dim.")
UP(_upsample_bilinear2d_aa, 2, AA_LINEAR, 4, ALIGN, SC2, a2,
   "Linear, over all that a smaller image hides.")
UP(_upsample_bicubic2d_aa, 2, AA_CUBIC, 4, ALIGN, SC2, a2,
   "Cubic, over all that a smaller image hides.")
UP(_upsample_lanczos2d_aa, 2, AA_LANCZOS, 4, ALIGN, SC2, a2,
   "Lanczos' window, over all that a smaller image hides.")
