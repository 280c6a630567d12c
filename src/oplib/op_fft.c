/* SPDX-License-Identifier: MIT
** oplib/op_fft.c: Fourier transforms: arithmetic and gradients of the three
** operators all others are made of.  Their decisions and shapes are in
** op_scatter.c, the public functions in op_fft_public.c.
**
** The gradient of a transform is the transform the other way with the same
** scaling; half of the frequencies of a real signal stand for two each. */
#include "oplib/op_linalg_int.h"

#include <string.h>

#include "kernel/linalg.h"

static DtStatus check_type (DtKernelCall *c, const DtTensor *a, bool want_c) {
  DtDtype t = (DtDtype)a->m.dtype;
  DT_CHECK(c->cx, dt_dtype_is_complex(t) == want_c &&
           !dt_dtype_is_integral(t, true), DT_E_RUNTIME,
           "Only supports %s dtypes, but found: %s",
           want_c ? "complex" : "floating-point", op_dtype_word(t));
  DT_CHECK(c->cx, dt_dtype_size(t) >= 4, DT_E_RUNTIME,
           "MKL FFT doesn't support tensors of type: %s", op_dtype_word(t));
  return DT_OK;
}

static DtStatus dims_of (DtCtx *cx, const DtArgs *a, int ndim, int *n,
                         int *dims) {
  int64_t given[DT_MAX_NDIM];
  *n = op_ints(a, 1, given);
  for (int i = 0; i < *n; i++)
    DT_TRY(cx, dt_meta_wrap_dim(cx, given[i], ndim, &dims[i]));
  return DT_OK;
}

DtStatus op_k_fft (DtKernelCall *c) {
  DtTensor *a = c->in[0], *out = c->out[0];
  int kind = c->op->row[0], n, dims[DT_MAX_NDIM];
  DT_TRY(c->cx, check_type(c, a, kind != OP_FFT_R2C));
  DT_TRY(c->cx, dims_of(c->cx, c->args, a->m.ndim, &n, dims));
  if (n == 0) return dt_k_copy(c->cx, a, out);
  DtFftDims d = { n, dims, (int)dt_arg_int(c->args, 2) };
  if (kind == OP_FFT_C2C)
    return dt_k_fft_c2c(c->cx, a, &d, dt_arg_bool(c->args, 3), out);
  if (kind == OP_FFT_R2C)
    return dt_k_fft_r2c(c->cx, a, &d, dt_arg_bool(c->args, 3), out);
  return dt_k_fft_c2r(c->cx, a, &d, out);
}

/* ---- gradients ---- */


/* Forward r2c of all frequencies: transform back, keep the real part.  Of
** half of them: fill the other half with zeros first. */
static DtHandle *r2c_grad (DtGradCall *c, int n, const int *dims) {
  DtHandle *g = c->gout[0], *r;
  const DtMeta *m = dt_emit_meta(c->e, c->in[0]);
  int last = n > 0 ? dims[n - 1] : 0;
  int64_t size = n > 0 ? m->shape[last] : 0;
  bool half = dt_arg_bool(c->args, 3);
  if (half) {
    DtMeta mg;
    dt_meta_copy(&mg, dt_emit_meta(c->e, g));
    int64_t had = mg.shape[last];
    mg.shape[last] = size;
    r = EMIT("aten.new_zeros.default", "tI", g, (int)mg.ndim, mg.shape);
    (void)EMIT("aten.copy_.default", "tt",
               EMIT("aten.slice.Tensor", "tiii", r, (int64_t)last, (int64_t)0,
                    had),
               g);
    g = r;
  }
  r = EMIT("aten._fft_c2c.default", "tvvb", g, c->args->v[1], c->args->v[2],
           0);
  r = EMIT("aten.view_as_real.default", "t", r);
  return EMIT("aten.select.int", "tii", r, (int64_t)m->ndim, (int64_t)0);
}

/* c2r: r2c of the real gradient, the frequencies that stand for two doubled. */
static DtHandle *c2r_grad (DtGradCall *c, int n, const int *dims) {
  int last = n > 0 ? dims[n - 1] : 0;
  int64_t size = dt_arg_int(c->args, 3);
  DtHandle *g = EMIT("aten._fft_r2c.default", "tvvb", c->gout[0],
                     c->args->v[1],
                     c->args->v[2], 1);
  int64_t twice = (size - 1) / 2;
  if (twice > 0) {
    DtHandle *part = EMIT("aten.slice.Tensor", "tiii", g, (int64_t)last,
                          (int64_t)1, 1 + twice);
    (void)EMIT("aten.mul_.Scalar", "ti", part, (int64_t)2);
  }
  return g;
}

DtStatus op_g_fft (DtGradCall *c) {
  int kind = c->op->row[0], n, dims[DT_MAX_NDIM];
  const DtMeta *m = dt_emit_meta(c->e, c->in[0]);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_TRY(c->e->cx, dims_of(c->e->cx, c->args, m->ndim, &n, dims));
  op_g_set(c, 0, kind == OP_FFT_R2C ? r2c_grad(c, n, dims)
                 : kind == OP_FFT_C2R ? c2r_grad(c, n, dims)
                 : EMIT("aten._fft_c2c.default", "tvvb", c->gout[0],
                        c->args->v[1], c->args->v[2],
                        (int)!dt_arg_bool(c->args, 3)));
  return op_g_finish(c);
}
