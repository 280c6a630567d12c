/* SPDX-License-Identifier: MIT
** oplib/op_pad.c: borders that mirror, repeat or wrap around, and the pad
** function over all modes; borders of a constant are op_slice.c's.
**
** Mirrored and repeated borders are maps of one tap per position, so their
** gradients are the transposed maps; wrapping around is slices and copies, as
** in PyTorch. */
#include "oplib/op_spatial.h"
#include "oplib/second.h"

#include <stdio.h>
#include <string.h>


/* Row: padded dims, does it mirror? */
enum { ROW_ND, ROW_REFLECT };
#define ND (c->op->row[ROW_ND])
#define REFLECT (c->op->row[ROW_REFLECT] != 0)

/* Before and after of dim d (0 = first of the nd dims). */
static void sides (const int64_t *pad, int nd, int d, int64_t *lo,
                   int64_t *hi) {
  *lo = pad[2 * (nd - 1 - d)];
  *hi = pad[2 * (nd - 1 - d) + 1];
}

static DtStatus check_count (DtCtx *cx, int nd, bool reflect, int n) {
  DT_CHECK(cx, n == 2 * nd || !reflect, DT_E_RUNTIME,
           "padding size is expected to be %d, but got: %d", 2 * nd, n);
  DT_CHECK(cx, n == 2 * nd, DT_E_RUNTIME, "padding size is expected to be %d",
           2 * nd);
  return DT_OK;
}

static DtStatus check_input (DtCtx *cx, const DtMeta *in, int nd,
                             bool reflect, const int64_t *pad) {
  int64_t lo, hi;
  DT_CHECK(cx, (in->ndim == nd + 1 || in->ndim == nd + 2) &&
           op_sp_empty_dim(in, nd, true) < 0, DT_E_RUNTIME,
           "Expected %dD or %dD (batch mode) tensor with possibly 0 batch size "
           "and other non-zero dimensions for input, but got: %s", nd + 1,
           nd + 2, op_shape_text(in).s);
  for (int d = nd - 1; reflect && d >= 0; d--) {
    int dim = in->ndim - nd + d;
    sides(pad, nd, d, &lo, &hi);
    DT_CHECK(cx, lo < in->shape[dim] && hi < in->shape[dim], DT_E_RUNTIME,
             "Argument #%d: Padding size should be less than the corresponding "
             "input dimension, but got: padding (%lld, %lld) at dimension %d "
             "of input %s", 4 + 2 * (nd - 1 - d), (long long)lo,
             (long long)hi, dim, op_shape_text(in).s);
  }
  return DT_OK;
}

static DtStatus too_small (DtCtx *cx, int nd, bool reflect,
                           const int64_t *in, const int64_t *out) {
  long long i[3], o[3];
  for (int d = 0; d < nd; d++) i[d] = in[d], o[d] = out[d];
  if (nd == 1)
    return dt_raise(cx, DT_E_RUNTIME, "input (W: %lld) is too small. "
                    "Calculated output W: %lld", i[0], o[0]);
  if (nd == 2)
    return dt_raise(cx, DT_E_RUNTIME, "input (H: %lld, W: %lld%s) is too "
                    "small. Calculated output H: %lld W: %lld", i[0], i[1],
                    reflect ? "" : " ", o[0], o[1]);
  return dt_raise(cx, DT_E_RUNTIME, "input (D: %lld H: %lld, W: %lld) is too "
                  "small. Calculated output D: %lld H: %lld W: %lld", i[0],
                  i[1], i[2], o[0], o[1], o[2]);
}

/* Sizes of the padded result. */
static void padded (const DtMeta *in, int nd, const int64_t *pad,
                    int64_t *out) {
  for (int d = 0; d < nd; d++) {
    int64_t lo, hi;
    sides(pad, nd, d, &lo, &hi);
    out[d] = in->shape[in->ndim - nd + d] + lo + hi;
  }
}

static DtStatus read_pads (DtCtx *cx, const DtArgs *a, int i, int nd,
                           bool reflect, int64_t *pad) {
  DT_TRY(cx, check_count(cx, nd, reflect, op_ints(a, i, pad)));
  for (int k = 0; k < 2 * nd; k++)
    DT_CHECK(cx, pad[k] < INT32_MAX && pad[k] > -INT32_MAX, DT_E_OVERFLOW,
             "the padding is too large");
  return DT_OK;
}

static DtStatus pad_meta (DtMetaCall *c) {
  const DtMeta *in = c->in[0];
  int64_t pad[DT_MAX_NDIM], out[3];
  int nd = ND;
  bool some = false;
  DT_TRY(c->cx, read_pads(c->cx, c->args, 1, nd, REFLECT, pad));
  DT_TRY(c->cx, check_input(c->cx, in, nd, REFLECT, pad));
  padded(in, nd, pad, out);
  for (int d = 0; d < nd; d++) some = some || out[d] >= 1;
  if (!some)
    return too_small(c->cx, nd, REFLECT, in->shape + in->ndim - nd, out);
  c->nout = 1;
  return op_sp_result(c->cx, in, (DtDtype)in->dtype, nd, out, nd > 1,
                      &c->out[0]);
}

/* (grad, self, padding) */
static DtStatus back_meta (DtMetaCall *c) {
  static const char *const axis[] = { "depth", "height", "width" };
  const DtMeta *g = c->in[0], *in = dt_in(c, 1);
  int64_t pad[DT_MAX_NDIM], out[3];
  int nd = ND;
  const char *name = REFLECT && nd != 2 ? "grad_output" : "gradOutput";
  DT_TRY(c->cx, read_pads(c->cx, c->args, 2, nd, REFLECT, pad));
  DT_TRY(c->cx, check_input(c->cx, in, nd, REFLECT, pad));
  padded(in, nd, pad, out);
  DT_CHECK(c->cx, g->ndim >= nd, DT_E_RUNTIME, "%s has too few dimensions: %s",
           name, op_shape_text(g).s);
  for (int d = nd - 1; d >= 0; d--) {
    int64_t have = g->shape[g->ndim - nd + d];
    DT_CHECK(c->cx, have == out[d], DT_E_RUNTIME, "%s %s unexpected. Expected: "
             "%lld%s Got: %lld", name, axis[3 - nd + d], (long long)out[d],
             nd == 1 && !REFLECT ? "" : ",", (long long)have);
  }
  c->nout = 1;
  return op_sp_result(c->cx, in, (DtDtype)in->dtype, 0, NULL, nd > 1,
                      &c->out[0]);
}

/* ---- kernels ---- */

static int64_t source (bool reflect, int64_t x, int64_t n) {
  if (x < 0) x = reflect ? -x : 0;
  if (x >= n) x = reflect ? 2 * (n - 1) - x : n - 1;
  return x < 0 ? 0 : x >= n ? n - 1 : x;
}

static DtStatus pad_run (DtKernelCall *c, bool back) {
  const DtTensor *x = back ? dt_kin(c, 1) : c->in[0];
  const DtMeta *y = back ? &c->in[0]->m : &c->out[0]->m;
  int nd = ND;
  DtTaps t[3];
  DtResample r = { nd, t, 0, back };
  DtStatus st = DT_OK;
  int64_t pad[DT_MAX_NDIM], lo, hi;
  DT_TRY(c->cx, op_sp_dtype(c->cx, c->op->sig->base, (DtDtype)x->m.dtype,
                            OP_T_FLOAT | OP_T_COMPLEX |
                            (back ? 0 : OP_T_INTS)));
  DT_TRY(c->cx, read_pads(c->cx, c->args, back ? 2 : 1, nd, REFLECT, pad));
  if (back)
    DT_TRY(c->cx, op_sp_same_planes(c->cx, "padding backward", y, &x->m,
                                    nd));
  memset(t, 0, sizeof t);
  for (int d = 0; d < nd && st == DT_OK; d++) {
    int64_t in = x->m.shape[x->m.ndim - nd + d];
    int64_t out = y->shape[y->ndim - nd + d];
    sides(pad, nd, d, &lo, &hi);
    st = dt_taps_init(c->cx, &t[d], in, out, 1);
    for (int64_t i = 0; st == DT_OK && i < out; i++) {
      dt_taps_add(&t[d], source(REFLECT, i - lo, in), 1);
      dt_taps_next(&t[d], 1);
    }
  }
  if (st == DT_OK)
    st = back ? dt_k_resample_back(c->cx, &r, c->in[0], c->out[0])
              : dt_k_pick(c->cx, &r, x, c->out[0]);
  for (int d = 0; d < 3; d++) dt_taps_fini(c->cx, &t[d]);
  return st;
}
static DtStatus pad_kernel (DtKernelCall *c) { return pad_run(c, false); }
static DtStatus back_kernel (DtKernelCall *c) { return pad_run(c, true); }

static DtStatus pad_grad (DtGradCall *c) {
  char name[64];
  snprintf(name, sizeof name, "aten.%s_backward.default", c->op->sig->base);
  op_g_set(c, 0, EMIT(name, "ttv", c->gout[0], c->in[0], ARG(1)));
  return op_g_finish(c);
}

/* ---- wrapping around ---- */

static int64_t over (int64_t v) { return v > 0 ? v : 0; }

static DtHandle *part (DtDecompCall *c, DtHandle *h, int dim, int64_t from,
                       int64_t to) {
  return EMIT("aten.slice.Tensor", "tiii", h, (int64_t)dim, from, to);
}

/* The copies of _pad_circular of PadNd.cpp: the middle, then each dim's
** borders from what is there already.  The last `nd` dims are padded; the batch
** may be left out. */
static DtStatus circular (DtDecompCall *c, const DtMeta *m,
                          const int64_t *pad, int nd) {
  int64_t shape[DT_MAX_NDIM], lo, hi;
  DtHandle *out, *to, *from = c->in[0];
  const int first = m->ndim - nd;
  memcpy(shape, m->shape, sizeof(int64_t) * m->ndim);
  for (int d = 0; d < nd; d++) {
    int64_t size = m->shape[first + d];
    sides(pad, nd, d, &lo, &hi);
    DT_CHECK(c->e->cx, lo <= size && hi <= size, DT_E_RUNTIME,
             "Padding value causes wrapping around more than once.");
    shape[first + d] = size + lo + hi;
    DT_CHECK(c->e->cx, shape[first + d] >= 0, DT_E_RUNTIME,
             "Negative padding value is resulting in an empty dimension");
  }
  to = out = EMIT("aten.new_empty.default", "tI", c->in[0], (int)m->ndim,
                  shape);
  for (int d = nd - 1; d >= 0; d--) {
    int dim = first + d;
    sides(pad, nd, d, &lo, &hi);
    to = part(c, to, dim, over(lo), shape[dim] - over(hi));
    from = part(c, from, dim, over(-lo), m->shape[dim] - over(-hi));
  }
  EMIT("aten.copy_.default", "tt", to, from);
  for (int d = 0; d < nd; d++) {
    int dim = first + d;
    int64_t end = shape[dim];
    sides(pad, nd, d, &lo, &hi);
    if (lo > 0) {
      to = part(c, out, dim, 0, lo);
      from = part(c, out, dim, end - lo - over(hi), end - over(hi));
      EMIT("aten.copy_.default", "tt", to, from);
    }
    if (hi > 0) {
      to = part(c, out, dim, end - hi, end);
      from = part(c, out, dim, over(lo), over(lo) + hi);
      EMIT("aten.copy_.default", "tt", to, from);
    }
  }
  c->out[0] = out;
  c->nout = 1;
  return c->e->st;
}

static DtStatus circular_decomp (DtDecompCall *c) {
  int64_t pad[DT_MAX_NDIM];
  int n = op_ints(c->args, 1, pad);
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, c->in[0]));
  if (!dt_emit_ok(c->e)) return c->e->st;
  const int kept = m.ndim - n / 2;
  DT_CHECK(c->e->cx, kept == 1 || kept == 2, DT_E_RUNTIME, "Invalid padding "
           "size, expected 1 or 2 non-padded dimensions, which would be "
           "equivalent to padding of length %d or %d respectively but got %d",
           (m.ndim - 1) * 2, (m.ndim - 2) * 2, n);
  return circular(c, &m, pad, n / 2);
}

/* ---- pad over all modes ---- */

enum { M_REFLECT, M_REPLICATE, M_CIRCULAR, M_CONSTANT, NMODES };
static const char *const mode_names[NMODES] = { "reflect", "replicate",
                                                "circular", "constant" };

static DtStatus pad_mode (DtDecompCall *c, int mode) {
  static const char *const ops[2][3] = {
    { "aten.reflection_pad1d.default", "aten.reflection_pad2d.default",
      "aten.reflection_pad3d.default" },
    { "aten.replication_pad1d.default", "aten.replication_pad2d.default",
      "aten.replication_pad3d.default" }
  };
  int n = dt_arg_len(c->args, 1), nd = dt_emit_meta(c->e, c->in[0])->ndim;
  double v = dt_arg_is_none(c->args, 3) ? 0 : dt_arg_float(c->args, 3);
  DtCtx *cx = c->e->cx;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(cx, n % 2 == 0, DT_E_RUNTIME, "Padding length must be divisible by "
           "2");
  DT_CHECK(cx, n <= 2 * nd, DT_E_RUNTIME, "Padding length should be less than "
           "or equal to two times the input dimension but got padding length "
           "%d and input of dimension %d", n, nd);
  c->nout = 1;
  if (mode == M_CONSTANT) {
    c->out[0] = EMIT("aten.constant_pad_nd.default", "tvf", c->in[0], ARG(1),
                     v);
    return c->e->st;
  }
  DT_CHECK(cx, v == 0, DT_E_RUNTIME, "Padding mode \"%s\" doesn't take in "
           "value argument", mode_names[mode]);
  DT_CHECK(cx, n >= 2 && n <= 6 && (nd == n / 2 + 1 || nd == n / 2 + 2),
           DT_E_NOTIMPL, "Padding size %d is not supported for %dD input "
           "tensor.\nSupported combinations for non-constant padding:\n  - 2D "
           "or 3D input: padding size = 2 (pads last dimension)\n  - 3D or 4D "
           "input: padding size = 4 (pads last 2 dimensions)\n  - 4D or 5D "
           "input: padding size = 6 (pads last 3 dimensions)", n, nd);
  c->out[0] = mode == M_CIRCULAR
    ? EMIT("aten._pad_circular.default", "tv", c->in[0], ARG(1))
    : EMIT(ops[mode][n / 2 - 1], "tv", c->in[0], ARG(1));
  return c->e->st;
}

static DtStatus pad_decomp (DtDecompCall *c) {
  const char *name = dt_arg_str(c->args, 2);
  int mode = 0;
  while (mode < NMODES && strcmp(mode_names[mode], name) != 0) mode++;
  DT_CHECK(c->e->cx, mode < NMODES, DT_E_NOTIMPL,
           "Unrecognised padding mode %s", name);
  return pad_mode(c, mode);
}
static DtStatus pad_enum_decomp (DtDecompCall *c) {
  int64_t mode = dt_arg_int(c->args, 2);
  DT_CHECK(c->e->cx, mode >= 0 && mode < NMODES, DT_E_RUNTIME,
           "Unrecognised padding mode %lld", (long long)mode);
  return pad_mode(c, (int)mode);
}

/* ---- samples and definitions ---- */

static const char *const s1[] = { "f32[2, 3, 5], [1, 2]", "f32[4, 5], [2, -1]",
                                  NULL };
static const char *const s2[] = { "f32[2, 3, 5, 4], [1, 2, 0, 1]", NULL };
static const char *const s3[] = { "f32[2, 3, 3, 5, 4], [1, 2, 0, 1, 1, 0]",
                                  NULL };
static const char *const b1[] = { "f32[2, 3, 8], f32[2, 3, 5], [1, 2]", NULL };
static const char *const b2[] = {
  "f32[2, 3, 6, 7], f32[2, 3, 5, 4], [1, 2, 0, 1]", NULL
};
static const char *const b3[] = {
  "f32[2, 3, 4, 6, 7], f32[2, 3, 3, 5, 4], [1, 2, 0, 1, 1, 0]", NULL
};
static const char *const pad_samples[] = { "f32[8, 6], [1, 1]",
                                           "f32[7], [0, 2]", NULL };
static const char *const enum_samples[] = { "f32[8, 6], [1, 1], 0", NULL };
static const char *const circular_samples[] = { "f32[2, 3, 6], [1, 2]", NULL };

#define PADS(what, nd, n, reflect, brief_) \
  static const int row_##what##nd[] = { nd, reflect }; \
  const DtOpDef dt_op_##what##_pad##nd##d = { \
    .schema = "aten::" #what "_pad" #nd "d(Tensor self, SymInt[" #n "] " \
              "padding) -> Tensor", \
    .brief = brief_, .flags = DT_OP_NOSTRATEGY, .meta = pad_meta, \
    .kernel = pad_kernel, .grad = pad_grad, .samples = s##nd, \
    .row = row_##what##nd }; \
  const DtOpDef dt_op_##what##_pad##nd##d_backward = { \
    .schema = "aten::" #what "_pad" #nd "d_backward(Tensor grad_output, " \
              "Tensor self, SymInt[" #n "] padding) -> Tensor", \
    .brief = "Gradient of " #what "_pad" #nd "d.", \
    .flags = DT_OP_NOSTRATEGY, .grad = op_gg_pad_backward, \
    .meta = back_meta, \
    .kernel = back_kernel, .samples = b##nd, .row = row_##what##nd };

PADS(reflection, 1, 2, 1, "Borders that mirror the inside.")
PADS(reflection, 2, 4, 1, "Borders that mirror the inside.")
PADS(reflection, 3, 6, 1, "Borders that mirror the inside.")
PADS(replication, 1, 2, 0, "Borders that repeat the edge.")
PADS(replication, 2, 4, 0, "Borders that repeat the edge.")
PADS(replication, 3, 6, 0, "Borders that repeat the edge.")

#define OP(id, schema_, brief_, decomp_, samples_) \
  const DtOpDef dt_op_##id = { .schema = "aten::" #id schema_, \
                               .brief = brief_, .flags = DT_OP_COMPOSITE, \
                               .decomp = decomp_, .samples = samples_ }
OP(pad, "(Tensor self, SymInt[] pad, str mode='constant', float? value=None) "
   "-> Tensor", "Add a border: constant, reflect, replicate or circular.",
   pad_decomp, pad_samples);
OP(_pad_enum, "(Tensor self, SymInt[] pad, int mode, float? value=None) -> "
   "Tensor", "pad, its mode a number.", pad_enum_decomp, enum_samples);
OP(_pad_circular, "(Tensor self, SymInt[] pad) -> Tensor",
   "Borders that wrap around.", circular_decomp, circular_samples);
