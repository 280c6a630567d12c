/* SPDX-License-Identifier: MIT
** oplib/op_stft.c: Fourier transforms of overlapping pieces of a signal, and
** the signal back from them.  Composites: what they call is PyTorch's. */
#include <stdio.h>
#include "oplib/oplib_int.h"
#include "oplib/emitting.h"
#include "tensor/dtype_text.h"

/* The argument `name` of this form, -1. */
static int arg_of (const DtDecompCall *c, const char *name) {
  return dt_schema_arg(c->op->sig, name);
}
static int64_t int_of (const DtDecompCall *c, const char *name, int64_t dflt) {
  int i = arg_of(c, name);
  return i < 0 ? dflt : dt_arg_int_or(c->args, i, dflt);
}
static bool none_of (const DtDecompCall *c, const char *name) {
  int i = arg_of(c, name);
  return i < 0 || dt_arg_is_none(c->args, i);
}
static bool bool_of (const DtDecompCall *c, const char *name, bool dflt) {
  int i = arg_of(c, name);
  return i < 0 || dt_arg_is_none(c->args, i) ? dflt : dt_arg_bool(c->args, i);
}
static bool is_complex (const DtMeta *m) {
  return dt_dtype_is_complex((DtDtype)m->dtype);
}

typedef struct Pieces {
  int64_t n, hop, win;          /* length, step, window's length */
  DtHandle *window;             /* NULL: none given */
  DtMeta wm;
} Pieces;

static Pieces pieces_of (DtDecompCall *c) {
  int w = arg_of(c, "window");
  Pieces p = { .n = int_of(c, "n_fft", 0), .window = dt_hin(c, w) };
  p.hop = int_of(c, "hop_length", p.n / 4);
  p.win = int_of(c, "win_length", p.n);
  p.wm = meta_of(c, p.window);
  return p;
}

/* What both say of their numbers; `what`: the call as they write it. */
static DtStatus check_pieces (DtDecompCall *c, const char *what,
                              const Pieces *p, const DtMeta *m, int64_t len) {
  (void)m;
  DT_CHECK(CX, p->n > 0 && (len < 0 || p->n <= len), DT_E_RUNTIME,
           "%sexpected 0 < n_fft < %lld, but got n_fft=%lld", what,
           (long long)len, (long long)p->n);
  DT_CHECK(CX, p->hop > 0, DT_E_RUNTIME, "%sexpected hop_length > 0, but got "
           "hop_length=%lld", what, (long long)p->hop);
  DT_CHECK(CX, p->win > 0 && p->win <= p->n, DT_E_RUNTIME, "%sexpected 0 < "
           "win_length <= n_fft, but got win_length=%lld", what,
           (long long)p->win);
  DT_CHECK(CX, p->window == NULL ||
           (p->wm.ndim == 1 && p->wm.shape[0] == p->win), DT_E_RUNTIME,
           "%sexpected a 1D window tensor of size equal to win_length=%lld, but "
           "got window with size %s", what, (long long)p->win,
           op_shape_text(&p->wm).s);
  return DT_OK;
}

/* The call in errors of stft: "stft(torch.FloatTensor[40], n_fft=8, ...) : ". */
static OpText stft_text (DtDecompCall *c, const Pieces *p, const DtMeta *m) {
  OpText t;
  char w[96] = "None";
  const char *flag[3];
  static const char *const names[] = { "normalized", "onesided",
                                       "return_complex" };
  if (p->window != NULL)
    snprintf(w, sizeof w, "%s{%.30s}", dt_dtype_type_text(
             (DtDtype)p->wm.dtype), op_shape_text(&p->wm).s);
  for (int i = 0; i < 3; i++)
    flag[i] = none_of(c, names[i]) ? "None"
                                   : bool_of(c, names[i], false) ? "1" : "0";
  (void)snprintf(t.s, sizeof t.s, "stft(%s%.40s, n_fft=%lld, hop_length=%lld, "
           "win_length=%lld, window=%s, normalized=%s, onesided=%s, "
           "return_complex=%s) : ", dt_dtype_type_text((DtDtype)m->dtype),
           op_shape_text(m).s, (long long)p->n, (long long)p->hop,
           (long long)p->win, w, flag[0], flag[1], flag[2]);
  return t;
}

/* The window in the middle of n places; `ones` where none was given. */
static DtHandle *centred (DtDecompCall *c, const Pieces *p, DtDtype t) {
  int64_t left = (p->n - p->win) / 2;
  if (p->win == p->n) return p->window;
  if (p->window != NULL) t = (DtDtype)p->wm.dtype;
  DtHandle *w = EMIT("aten.zeros.default", "I dtype=d", 1, &p->n, t);
  DtHandle *mid = EMIT("aten.slice.Tensor", "tiii", w, INT64_C(0), left,
                       left + p->win);
  if (p->window != NULL) EMIT("aten.copy_.default", "tt", mid, p->window);
  else EMIT("aten.fill_.Scalar", "ti", mid, INT64_C(1));
  return w;
}

/* Half a piece more on both sides, in the mode of F.pad. */
static DtHandle *padded (DtDecompCall *c, DtHandle *x, int64_t n) {
  DtMeta m = meta_of(c, x);
  int64_t shape[3] = { 1, 1, 1 }, both[2] = { n / 2, n / 2 };
  const char *mode = dt_arg_str(c->args, arg_of(c, "pad_mode"));
  for (int d = 0; d < m.ndim && m.ndim < 3; d++)
    shape[3 - m.ndim + d] = m.shape[d];
  x = EMIT("aten.view.default", "tI", x, 3, shape);
  x = EMIT("aten.pad.default", "tIs", x, 2, both, mode);
  shape[2] += 2 * (n / 2);
  return EMIT("aten.view.default", "tI", x, (int)m.ndim, shape + 3 - m.ndim);
}

/* Overlapping pieces by as_strided, times the window, transformed; the strides
** are the ones of the (padded) signal, hence meta_of after each step. */
static DtStatus stft_decomp (DtDecompCall *c) {
  DtHandle *x = c->in[0];
  DtMeta m = meta_of(c, x);
  Pieces p = pieces_of(c);
  OpText text = stft_text(c, &p, &m);
  bool one = m.ndim == 1, cplx = is_complex(&m) || is_complex(&p.wm);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, cplx || !none_of(c, "return_complex"), DT_E_RUNTIME, "stft "
           "requires the return_complex parameter be given for real inputs, and "
           "will further require that return_complex=True in a future PyTorch "
           "release.");
  DT_CHECK(CX, is_complex(&m) || dt_dtype_is_float((DtDtype)m.dtype),
           DT_E_RUNTIME, "%sexpected a tensor of floating point or complex "
           "values", text.s);
  DT_CHECK(CX, m.ndim == 1 || m.ndim == 2, DT_E_RUNTIME,
           "%sexpected a 1D or 2D tensor", text.s);
  if (bool_of(c, "center", false)) {
    x = padded(c, x, p.n);
    m = meta_of(c, x);
    if (!dt_emit_ok(c->e)) return c->e->st;
  }
  DT_TRY(CX, check_pieces(c, text.s, &p, &m, m.shape[m.ndim - 1]));
  if (one) x = EMIT("aten.unsqueeze.default", "ti", x, INT64_C(0));
  m = meta_of(c, x);
  if (!dt_emit_ok(c->e)) return c->e->st;
  int64_t size[3] = { m.shape[0], 1 + (m.shape[1] - p.n) / p.hop, p.n };
  int64_t step[3] = { m.stride[0], p.hop * m.stride[1], m.stride[1] };
  int64_t last = 2;
  DtHandle *w = centred(c, &p, (DtDtype)m.dtype);
  bool onesided = bool_of(c, "onesided", !cplx);
  DT_CHECK(CX, !onesided || !cplx, DT_E_RUNTIME, "Cannot have onesided output if "
           "window or input is complex");
  x = EMIT("aten.as_strided.default", "tII", x, 3, size, 3, step);
  if (w != NULL) x = EMIT("aten.mul.Tensor", "tt", x, w);
  int64_t norm = bool_of(c, "normalized", false);
  x = EMIT(cplx ? "aten._fft_c2c.default" : "aten._fft_r2c.default", "tIib", x,
           1,
           &last, norm, cplx || onesided);
  x = EMIT("aten.transpose_.default", "tii", x, INT64_C(1), INT64_C(2));
  if (one) x = EMIT("aten.squeeze_.dim", "ti", x, INT64_C(0));
  if (!bool_of(c, "return_complex", cplx))
    x = EMIT("aten.view_as_real.default", "t", x);
  return finish(c, x);
}

/* ---- back ---- */

static DtStatus check_istft (DtDecompCall *c, const Pieces *p, const DtMeta *m) {
  bool one = bool_of(c, "onesided", m->shape[m->ndim - 2] != p->n);
  int64_t rows = m->shape[m->ndim - 2], want = one ? p->n / 2 + 1 : p->n;
  DT_CHECK(CX, dt_meta_numel(m) != 0, DT_E_RUNTIME,
           "istft(...) : input tensor cannot be empty.");
  DT_CHECK(CX, rows == want, DT_E_RUNTIME, "istft(...) : expected the frequency "
           "dimension (3rd to the last) of the input tensor to match n_fft%s "
           "when onesided=%s, but got %lld", one ? " / 2 + 1" : "",
           one ? "True" : "False", (long long)rows);
  DT_CHECK(CX, p->hop > 0 && p->hop <= p->win, DT_E_RUNTIME,
           "istft(...) : expected 0 < hop_length <= win_length");
  return check_pieces(c, "istft(...) : ", p, m, -1);
}

/* Pieces laid over each other, `hop` apart. */
static DtHandle *overlaid (DtDecompCall *c, DtHandle *x, int64_t rows,
                           int64_t len, const Pieces *p) {
  int64_t shape[2] = { rows, len };
  return EMIT("aten.unfold_backward.default", "tIiii", x, 2, shape, INT64_C(1),
              p->n, p->hop);
}

/* The window's squares, laid over each other, must vanish nowhere. */
static DtStatus check_envelope (DtDecompCall *c, DtHandle *e) {
  int64_t low = 0;
  DtHandle *x = EMIT("aten.abs.default", "t", e);
  x = EMIT("aten.min.default", "t", x);
  x = EMIT("aten.lt.Scalar", "tf", x, 1e-11);
  if (!dt_emit_ok(c->e) || !dt_emit_has_data(c->e, x)) return c->e->st;
  DT_TRY(CX, dt_emit_item(c->e, x, &low));
  DT_CHECK(CX, low == 0, DT_E_RUNTIME,
           "istft(...) : window overlap add min: 1");
  return DT_OK;
}

/* The pieces as numbers of time, (batch, frames, n). */
static DtHandle *pieces_back (DtDecompCall *c, DtHandle *x, const Pieces *p,
                              bool onesided) {
  int64_t last = 2, norm = bool_of(c, "normalized", false) ? 1 : 2;
  if (bool_of(c, "return_complex", false))
    return EMIT("aten._fft_c2c.default", "tIib", x, 1, &last, norm, false);
  if (!onesided)
    x = EMIT("aten.slice.Tensor", "tiii", x, INT64_C(2), INT64_C(0),
             p->n / 2 + 1);
  return EMIT("aten._fft_c2r.default", "tIii", x, 1, &last, norm, p->n);
}

static DtStatus istft_decomp (DtDecompCall *c) {
  DtHandle *x = c->in[0], *w, *y, *e;
  DtMeta m = meta_of(c, x);
  Pieces p = pieces_of(c);
  bool center = bool_of(c, "center", true), real = !is_complex(&m), one;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, !real, DT_E_RUNTIME, "istft requires a complex-valued input "
           "tensor matching the output from stft with return_complex=True.");
  DT_CHECK(CX, m.ndim == 2 || m.ndim == 3, DT_E_RUNTIME, "istft(...) : expected "
           "a tensor with 3 or 4 dimensions, but got %d", m.ndim + 1);
  DT_TRY(CX, check_istft(c, &p, &m));
  one = bool_of(c, "onesided", m.shape[m.ndim - 2] != p.n);
  int64_t frames = m.shape[m.ndim - 1], rows = m.ndim == 3 ? m.shape[0] : 1;
  int64_t len = p.n + p.hop * (frames - 1), flat[3] = { 1, 1, p.n };
  int64_t wide[3] = { 1, frames, p.n }, start = center ? p.n / 2 : 0;
  int64_t length = int_of(c, "length", -1);
  int64_t end = length >= 0 ? start + length : center ? -(p.n / 2) : len;
  x = EMIT("aten.view_as_real.default", "t", x);
  if (m.ndim == 2) x = EMIT("aten.unsqueeze.default", "ti", x, INT64_C(0));
  x = EMIT("aten.transpose.int", "tii", x, INT64_C(1), INT64_C(2));
  x = EMIT("aten.view_as_complex.default", "t", x);
  x = pieces_back(c, x, &p, one);
  w = p.win == p.n ? p.window : centred(c, &p, dt_dtype_to_real((DtDtype)m.dtype));
  if (w == NULL)
    w = EMIT("aten.ones.default", "I dtype=d", 1, &p.n,
             dt_dtype_to_real((DtDtype)m.dtype));
  y = EMIT("aten.mul.Tensor", "tt", x, EMIT("aten.view.default", "tI", w, 3,
                                            flat));
  y = overlaid(c, y, rows, len, &p);
  e = EMIT("aten.pow.Tensor_Scalar", "ti", w, INT64_C(2));
  e = EMIT("aten.expand.default", "tI", e, 3, wide);
  e = overlaid(c, e, 1, len, &p);
  y = EMIT("aten.slice.Tensor", "tiii", y, INT64_C(1), start, end);
  e = EMIT("aten.slice.Tensor", "tiii", e, INT64_C(1), start, end);
  DT_TRY(CX, check_envelope(c, e));
  y = EMIT("aten.div.Tensor", "tt", y, e);
  if (m.ndim == 2) y = EMIT("aten.squeeze.dim", "ti", y, INT64_C(0));
  if (end > len) {
    int64_t both[2] = { 0, end - len };
    y = EMIT("aten.constant_pad_nd.default", "tI", y, 2, both);
  }
  return finish(c, y);
}

static const char *const stft_samples[] = {
  "f32[40], 8, return_complex=true", NULL
};
static const char *const istft_samples[] = {
  "c64[5, 21], 8, window=f32[8]", NULL
};
#define PARTS "(Tensor self, int n_fft, int? hop_length=None, int? " \
              "win_length=None, Tensor? window=None, "
#define ENDS "bool normalized=False, bool? onesided=None, bool? " \
             "return_complex=None, bool? align_to_window=None) -> Tensor"
#define C(id, schema_, brief_, decomp_, samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = DT_OP_COMPOSITE, \
    .decomp = decomp_, .samples = samples_ }
C(stft, "stft" PARTS ENDS, "Fourier transforms of overlapping pieces.",
  stft_decomp, stft_samples);
C(stft_center, "stft.center" PARTS "bool center=True, str "
  "pad_mode=\"reflect\", " ENDS, "Fourier transforms of overlapping pieces.",
  stft_decomp, stft_samples);
C(istft, "istft" PARTS "bool center=True, bool normalized=False, bool? "
  "onesided=None, int? length=None, bool return_complex=False) -> Tensor",
  "The signal whose pieces have these Fourier transforms.", istft_decomp,
  istft_samples);
