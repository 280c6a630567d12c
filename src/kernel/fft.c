/* SPDX-License-Identifier: MIT
** kernel/fft.c: discrete Fourier transforms.  The only file that calls FFTW.
**
** Everything is computed in double precision on contiguous scratch and
** rounded once into the output.  Plans are made by estimate, never by timing,
** so that every rank and every run computes the same bits.  FFTW's planner
** keeps tables of its own for the whole process; ranks that are threads take
** turns at it. */

#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "kernel/kernel_int.h"
#include "kernel/linalg.h"

static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

typedef enum FftKind { FFT_C2C, FFT_R2C, FFT_C2R } FftKind;

/* A transform of contiguous scratch into contiguous scratch. */
typedef struct Fft {
  int rank, nloop;
  fftw_iodim64 dim[DT_MAX_NDIM], loop[DT_MAX_NDIM];
} Fft;

static bool among (int d, int n, const int *dims) {
  for (int i = 0; i < n; i++)
    if (dims[i] == d) return true;
  return false;
}

/* Lengths come from the side that has them whole: the real one. */
static void describe (Fft *f, const DtMeta *in, const DtMeta *out,
                      const DtMeta *whole, int ndims, const int *dims) {
  f->rank = ndims;
  f->nloop = 0;
  for (int i = 0; i < ndims; i++)
    f->dim[i] = (fftw_iodim64){ whole->shape[dims[i]], in->stride[dims[i]],
                                out->stride[dims[i]] };
  for (int d = 0; d < in->ndim; d++)
    if (!among(d, ndims, dims))
      f->loop[f->nloop++] = (fftw_iodim64){ in->shape[d], in->stride[d],
                                            out->stride[d] };
}

static DtStatus execute (DtCtx *cx, const Fft *f, FftKind kind, bool forward,
                         void *in, void *out) {
  unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED;
  fftw_plan p;
  (void)pthread_mutex_lock(&planner);
  p = kind == FFT_C2C
      ? fftw_plan_guru64_dft(f->rank, f->dim, f->nloop, f->loop, in, out,
                             forward ? FFTW_FORWARD : FFTW_BACKWARD, flags)
      : kind == FFT_R2C
        ? fftw_plan_guru64_dft_r2c(f->rank, f->dim, f->nloop, f->loop, in, out,
                                   flags)
        : fftw_plan_guru64_dft_c2r(f->rank, f->dim, f->nloop, f->loop, in, out,
                                   flags);
  (void)pthread_mutex_unlock(&planner);
  if (p == NULL) return dt_raise(cx, DT_E_NOMEM, "no Fourier plan");
  fftw_execute(p);
  (void)pthread_mutex_lock(&planner);
  fftw_destroy_plan(p);
  (void)pthread_mutex_unlock(&planner);
  return DT_OK;
}

static double norm_factor (const Fft *f, int norm) {
  double n = 1;
  for (int i = 0; i < f->rank; i++) n *= (double)f->dim[i].n;
  return norm == 0 ? 1 : norm == 1 ? 1 / sqrt(n) : 1 / n;
}

/* Contiguous scratch of a type and the shape of `m`, filled from `src`. */
static DtStatus scratch (DtCtx *cx, const DtMeta *m, DtDtype t,
                         const DtTensor *src, DtTensor **out) {
  DtMeta c;
  DT_TRY(cx, dt_meta_init(cx, &c, t, m->ndim, m->shape));
  DT_TRY(cx, dt_tensor_new(cx, &c, false, out));
  return src == NULL ? DT_OK : dt_k_copy(cx, src, *out);
}

static DtStatus transform (DtCtx *cx, FftKind kind, const DtTensor *a,
                           const DtFftDims *d, bool forward, DtTensor *out) {
  DtTensor *x = NULL, *y = NULL;
  void *px, *py;
  Fft f;
  DtStatus st = DT_OK;
  if (dt_meta_numel(&out->m) == 0 || dt_meta_numel(&a->m) == 0) return DT_OK;
  DT_TRYG(cx, scratch(cx, &a->m, kind == FFT_R2C ? DT_F64 : DT_C128, a, &x));
  DT_TRYG(cx, scratch(cx, &out->m, kind == FFT_C2R ? DT_F64 : DT_C128, NULL,
                      &y));
  DT_TRYG(cx, dt_tensor_data(cx, x, &px));
  DT_TRYG(cx, dt_tensor_data(cx, y, &py));
  describe(&f, &x->m, &y->m, kind == FFT_C2R ? &y->m : &x->m, d->n, d->dims);
  DT_TRYG(cx, execute(cx, &f, kind, forward, px, py));
  double scale = norm_factor(&f, d->norm);
  int64_t n = dt_meta_numel(&y->m) * (kind == FFT_C2R ? 1 : 2);
  for (int64_t i = 0; scale != 1 && i < n; i++) ((double *)py)[i] *= scale;
  DT_TRYG(cx, dt_k_copy(cx, y, out));
done:
  dt_tensor_unref(cx, x);
  dt_tensor_unref(cx, y);
  return st;
}

DtStatus dt_k_fft_c2c (DtCtx *cx, const DtTensor *a, const DtFftDims *d,
                       bool forward, DtTensor *out) {
  return transform(cx, FFT_C2C, a, d, forward, out);
}

DtStatus dt_k_fft_r2c (DtCtx *cx, const DtTensor *a, const DtFftDims *d,
                       bool onesided, DtTensor *out) {
  return transform(cx, onesided ? FFT_R2C : FFT_C2C, a, d, true, out);
}

DtStatus dt_k_fft_c2r (DtCtx *cx, const DtTensor *a, const DtFftDims *d,
                       DtTensor *out) {
  /* FFTW reads and overwrites half of the output's length of its input */
  int last = d->n > 0 ? d->dims[d->n - 1] : 0;
  if (d->n > 0)
    DT_CHECK(cx, a->m.shape[last] > out->m.shape[last] / 2, DT_E_RUNTIME,
             "_fft_c2r: %lld numbers need %lld frequencies, got %lld",
             (long long)out->m.shape[last],
             (long long)out->m.shape[last] / 2 + 1,
             (long long)a->m.shape[last]);
  return transform(cx, FFT_C2R, a, d, false, out);
}
