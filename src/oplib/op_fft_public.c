/* SPDX-License-Identifier: MIT
** oplib/op_fft_public.c: the public Fourier transforms, made of the three
** operators of op_fft.c: lengths cut or padded, real input widened, scalings
** by name.
**
** One description serves all: which kind, which direction, how many dims.
** Hermitian transforms are the half-complex ones with a conjugate before or
** after. */
#include "oplib/oplib_int.h"
#include "oplib/emitting.h"

#include <string.h>

/* Row: direction (1 forward), one dim or several. */
enum { FP_FORWARD, FP_ONE };

typedef struct Plan {
  int n;
  int64_t dim[DT_MAX_NDIM], size[DT_MAX_NDIM];  /* size -1: as it is */
  int64_t norm, last;           /* last: length of the real side */
} Plan;

static bool is_complex (const DtMeta *m) {
  return dt_dtype_is_complex((DtDtype)m->dtype);
}

/* 0 none, 1 by the root, 2 by n. */
static DtStatus norm_of (DtDecompCall *c, bool forward, int64_t *out) {
  int i = dt_schema_arg(c->args->schema, "norm");
  const char *name = dt_arg_is_none(c->args, i) ? "backward"
                                                : dt_arg_str(c->args, i);
  bool back = strcmp(name, "backward") == 0;
  DT_CHECK(CX, back || strcmp(name, "forward") == 0 ||
           strcmp(name, "ortho") == 0, DT_E_RUNTIME,
           "Invalid normalization mode: \"%s\"", name);
  *out = *name == 'o' ? 1 : back == forward ? 0 : 2;
  return DT_OK;
}

/* Dims and lengths of n-dimensional forms: s alone takes the last dims. */
static DtStatus read_nd (DtDecompCall *c, const DtMeta *m, Plan *p) {
  int si = dt_schema_arg(c->args->schema, "s");
  int di = dt_schema_arg(c->args->schema, "dim");
  int ns = dt_arg_is_none(c->args, si) ? -1 : op_ints(c->args, si, p->size);
  int nd = dt_arg_is_none(c->args, di) ? -1 : op_ints(c->args, di, p->dim);
  DT_CHECK(CX, ns < 0 || nd < 0 || ns == nd, DT_E_RUNTIME, "When given, dim "
           "and shape arguments must have the same length");
  DT_CHECK(CX, ns <= m->ndim, DT_E_RUNTIME, "Got shape with %d values but "
           "input tensor only has %d dimensions.", ns, m->ndim);
  p->n = nd >= 0 ? nd : ns >= 0 ? ns : m->ndim;
  uint32_t seen = 0;
  for (int i = 0; i < p->n; i++) {
    int d;
    if (nd < 0) p->dim[i] = m->ndim - p->n + i;
    DT_TRY(CX, op_has_dim(CX, m, (int)p->dim[i]));
    DT_TRY(CX, dt_meta_wrap_dim(CX, p->dim[i], m->ndim, &d));
    DT_CHECK(CX, !(seen >> d & 1u), DT_E_RUNTIME, "FFT dims must be unique");
    seen |= 1u << d;
    p->dim[i] = d;
    if (ns < 0) p->size[i] = -1;
  }
  return DT_OK;
}
static DtStatus read_1d (DtDecompCall *c, const DtMeta *m, Plan *p) {
  int d;
  DT_TRY(CX, m->ndim == 0 ? op_has_dim(CX, m, (int)dt_arg_int(c->args, 2))
                          : DT_OK);
  DT_TRY(CX, dt_meta_wrap_dim(CX, dt_arg_int(c->args, 2), m->ndim, &d));
  p->n = 1;
  p->dim[0] = d;
  p->size[0] = dt_arg_is_none(c->args, 1) ? -1 : dt_arg_int(c->args, 1);
  return DT_OK;
}

/* Lengths of the half-complex side follow from the real side's. */
static DtStatus half_lengths (DtDecompCall *c, const DtMeta *m, Plan *p) {
  int k = p->n - 1;
  if (k < 0) return DT_OK;
  p->last = p->size[k] != -1 ? p->size[k] : 2 * (m->shape[p->dim[k]] - 1);
  DT_CHECK(CX, p->last >= 1, DT_E_RUNTIME, "Invalid number of data points "
           "(%lld) specified", (long long)p->last);
  p->size[k] = p->last / 2 + 1;
  return DT_OK;
}

static DtHandle *resize (DtDecompCall *c, DtHandle *h, const Plan *p) {
  DtMeta m = meta_of(c, h);
  int64_t pad[2 * DT_MAX_NDIM] = { 0 };
  bool grow = false;
  if (!dt_emit_ok(c->e)) return NULL;
  for (int i = 0; i < p->n; i++) {
    int64_t d = p->dim[i], want = p->size[i], have = m.shape[d];
    if (want == -1) continue;
    if (have < want) {
      pad[2 * (m.ndim - 1 - d) + 1] = want - have;
      grow = true;
    }
    if (have > want)
      h = EMIT("aten.slice.Tensor", "tiii", h, d, (int64_t)0, want);
  }
  return grow ? EMIT("aten.constant_pad_nd.default", "tI", h, 2 * m.ndim, pad)
              : h;
}

/* Integers become the default float; to complex when `want_c`. */
static DtHandle *promote (DtDecompCall *c, DtHandle *h, bool want_c) {
  DtMeta m = meta_of(c, h);
  DtDtype t = (DtDtype)m.dtype, to = t;
  if (!dt_emit_ok(c->e)) return NULL;
  if (dt_dtype_is_integral(t, true)) to = (DtDtype)OP_DEFAULT_FLOAT;
  if (want_c && !is_complex(&m)) to = to == DT_F64 ? DT_C128 : DT_C64;
  return to == t ? h : EMIT("aten._to_copy.default", "t dtype=d", h, (int)to);
}

static DtHandle *c2c (DtDecompCall *c, DtHandle *h, int n, const int64_t *dims,
                      int64_t norm, bool forward) {
  return EMIT("aten._fft_c2c.default", "tIib", h, n, dims, norm, (int)forward);
}
static DtHandle *r2c (DtDecompCall *c, DtHandle *h, int n, const int64_t *dims,
                      int64_t norm, bool half) {
  return EMIT("aten._fft_r2c.default", "tIib", h, n, dims, norm, (int)half);
}

static DtStatus begin (DtDecompCall *c, Plan *p, bool forward, DtMeta *m) {
  const int *row = c->op->row;
  *m = meta_of(c, c->in[0]);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_TRY(CX, norm_of(c, forward, &p->norm));
  return row[FP_ONE] ? read_1d(c, m, p) : read_nd(c, m, p);
}

/* fft, ifft and their n-dimensional forms; one dim of real input takes the
** real transform, conjugated for the inverse. */
static DtStatus plain_decomp (DtDecompCall *c) {
  bool forward = c->op->row[FP_FORWARD];
  DtHandle *h = c->in[0];
  DtMeta m;
  Plan p;
  DT_TRY(CX, begin(c, &p, forward, &m));
  if (c->op->row[FP_ONE] && !is_complex(&m)) {
    h = resize(c, promote(c, h, false), &p);
    h = r2c(c, h, 1, p.dim, p.norm, false);
    return finish(c, forward ? h : EMIT("aten._conj.default", "t", h));
  }
  h = resize(c, promote(c, h, true), &p);
  return finish(c, c2c(c, h, p.n, p.dim, p.norm, forward));
}

/* rfft: forward.  ihfft: the inverse of a signal with a real spectrum. */
static DtStatus real_decomp (DtDecompCall *c) {
  bool forward = c->op->row[FP_FORWARD];
  DtHandle *h = c->in[0];
  DtMeta m;
  Plan p;
  DT_TRY(CX, begin(c, &p, forward, &m));
  DT_CHECK(CX, !is_complex(&m), DT_E_RUNTIME, "%s expects a real input "
           "tensor, but got %s", c->op->sig->base + 4,
           op_dtype_word((DtDtype)m.dtype));
  DT_CHECK(CX, p.n > 0, DT_E_RUNTIME, "%s must transform at least one axis",
           c->op->sig->base + 4);
  h = resize(c, promote(c, h, false), &p);
  if (forward) return finish(c, r2c(c, h, p.n, p.dim, p.norm, true));
  h = r2c(c, h, 1, p.dim + p.n - 1, p.norm, true);
  if (p.n == 1) return finish(c, EMIT("aten._conj.default", "t", h));
  h = EMIT("aten._conj_physical.default", "t", h);
  return finish(c, c2c(c, h, p.n - 1, p.dim, p.norm, false));
}

/* irfft: back to a real signal.  hfft: to the real spectrum of one. */
static DtStatus back_decomp (DtDecompCall *c) {
  bool forward = c->op->row[FP_FORWARD];
  DtHandle *h = c->in[0];
  DtMeta m;
  Plan p;
  DT_TRY(CX, begin(c, &p, forward, &m));
  DT_CHECK(CX, p.n > 0, DT_E_RUNTIME, "%s must transform at least one axis",
           c->op->sig->base + 4);
  DT_TRY(CX, half_lengths(c, &m, &p));
  h = resize(c, promote(c, h, true), &p);
  if (!forward)
    return finish(c, EMIT("aten._fft_c2r.default", "tIii", h, p.n, p.dim,
                          p.norm,
                          p.last));
  if (p.n > 1) h = c2c(c, h, p.n - 1, p.dim, p.norm, true);
  h = EMIT("aten._conj.default", "t", h);
  return finish(c, EMIT("aten._fft_c2r.default", "tIii", h, 1, p.dim + p.n - 1,
                        p.norm, p.last));
}

/* Frequency 0 to the middle, and back. */
static DtStatus shift_decomp (DtDecompCall *c) {
  bool forward = c->op->row[FP_FORWARD];
  DtMeta m = meta_of(c, c->in[0]);
  int64_t dims[DT_MAX_NDIM], by[DT_MAX_NDIM];
  int n;
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (dt_arg_is_none(c->args, 1))
    for (n = 0; n < m.ndim; n++) dims[n] = n;
  else n = op_ints(c->args, 1, dims);
  for (int i = 0; i < n; i++) {
    int d;
    DT_TRY(CX, dt_meta_wrap_dim(CX, dims[i], m.ndim, &d));
    dims[i] = d;
    by[i] = (m.shape[d] + !forward) / 2;
  }
  return finish(c, EMIT("aten.roll.default", "tII", c->in[0], n, by, n, dims));
}

/* ---- definitions ---- */

#define FP(id, args_, brief_, decomp_, forward_, one_, ...) \
  static const int row_##id[] = { forward_, one_ }; \
  static const char *const id##_samples[] = { __VA_ARGS__, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" #id "(Tensor self, " args_ ") -> Tensor", \
    .brief = brief_, .flags = DT_OP_COMPOSITE, .decomp = decomp_, \
    .samples = id##_samples, .row = row_##id }
#define A1 "SymInt? n=None, int dim=-1, str? norm=None"
#define A2 "SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None"
#define AN "SymInt[1]? s=None, int[1]? dim=None, str? norm=None"
#define R_ "f32[4, 6]"
#define C_ "c64[4, 6]"
#define FAMILY(name, brief_, decomp_, forward_, sample_) \
  FP(fft_##name, A1, brief_, decomp_, forward_, 1, sample_); \
  FP(fft_##name##2, A2, brief_ ", over two dims.", decomp_, forward_, 0, \
     sample_); \
  FP(fft_##name##n, AN, brief_ ", over several dims.", decomp_, forward_, 0, \
     sample_)
FAMILY(fft, "Fourier transform", plain_decomp, 1, C_);
FAMILY(hfft, "Real spectrum of a half signal", back_decomp, 1, C_);
FAMILY(ifft, "Inverse Fourier transform", plain_decomp, 0, C_);
FAMILY(ihfft, "Half signal of a real spectrum", real_decomp, 0, R_);
FAMILY(irfft, "Real signal of half a spectrum", back_decomp, 0, C_);
FAMILY(rfft, "Half the spectrum of a real signal", real_decomp, 1, R_);
FP(fft_fftshift, "int[1]? dim=None", "Frequency 0 moved to the middle.",
   shift_decomp, 1, 0, R_);
FP(fft_ifftshift, "int[1]? dim=None", "Frequency 0 moved to the front.",
   shift_decomp, 0, 0, R_);
