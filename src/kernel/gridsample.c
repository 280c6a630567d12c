/* SPDX-License-Identifier: MIT
** kernel/gridsample.c: samples of an image or volume at places a grid gives,
** and the gradients to both.
**
** A place becomes, in each dim, up to four taps: an index (or none, outside),
** a weight, and the weight's derivative by the grid's number.  Value and both
** gradients are then sums over the product of the dims' taps; linear, nearest
** and cubic, and the three paddings, differ only in the taps.  Coordinates
** are rounded to f32 step by step for all grids but f64 ones, because which
** tap is meant may hang on the last bit. */
#include <math.h>
#include <string.h>
#include "kernel/kernel_int.h"
#include "kernel/spatial.h"

enum { LINEAR, NEAREST, CUBIC };
enum { ZEROS, BORDER, REFLECTION };
enum { MAX_TAPS = 4 };

/* Taps of one dim at one place. */
typedef struct Axis {
  int n;
  int64_t index[MAX_TAPS];      /* -1: outside */
  double w[MAX_TAPS], dw[MAX_TAPS];
} Axis;

typedef struct Sampler {
  DtGridSample s;
  bool single;                  /* coordinates in f32 */
  int64_t n, c, nplace;         /* batch, channels, places of each */
  int64_t in[3];
} Sampler;

static double fl (const Sampler *s, double v) {
  return s->single ? (double)(float)v : v;
}

/* ---- coordinates ---- */

static double unnormalize (const Sampler *s, double x, double size,
                           double *mult) {
  *mult = s->s.align ? (size - 1) / 2 : size / 2;
  x = fl(s, x + 1);
  if (s->s.align) return fl(s, fl(s, x / 2) * (size - 1));
  return fl(s, fl(s, fl(s, x * size) - 1) / 2);
}

static double clip (const Sampler *s, double x, double size, double *mult) {
  double top = size - 1;
  if (!(x > 0)) {
    *mult = 0;
    return isnan(x) && s->s.nd == 3 ? top : 0;
  }
  if (x >= top) {
    *mult = 0;
    return top;
  }
  return x;
}

static double reflect (const Sampler *s, double x, double low2, double high2,
                       double *mult) {
  if (low2 == high2) {
    *mult = 0;
    return 0;
  }
  double min = low2 / 2, span = (high2 - low2) / 2;
  x = fl(s, x - min);
  if (x < 0) *mult = -*mult, x = -x;
  double extra = fl(s, fmod(x, span)), flips = floor(fl(s, x / span));
  if (fmod(flips, 2) == 0) return fl(s, extra + min);
  *mult = -*mult;
  return fl(s, fl(s, span - extra) + min);
}

static double bring_in (const Sampler *s, double x, double size,
                        double *mult) {
  if (s->s.pad == ZEROS) return x;
  if (s->s.pad == REFLECTION)
    x = s->s.align ? reflect(s, x, 0, 2 * (size - 1), mult)
                   : reflect(s, x, -1, 2 * size - 1, mult);
  return clip(s, x, size, mult);
}

static int64_t index_of (double x, int64_t size) {
  return x >= 0 && x < (double)size ? (int64_t)x : -1;
}

/* ---- taps ---- */

static double near_cubic (double x) {
  const double a = -0.75;
  return ((a + 2) * x - (a + 3)) * x * x + 1;
}
static double far_cubic (double x) {
  const double a = -0.75;
  return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}
static double near_slope (double x) {
  const double a = -0.75;
  return (3 * (a + 2) * x - 2 * (a + 3)) * x;
}
static double far_slope (double x) {
  const double a = -0.75;
  return (3 * a * x - 10 * a) * x + 8 * a;
}

static void axis_cubic (const Sampler *s, double x, int64_t size,
                        double mult, Axis *a) {
  double base = floor(x), t = fl(s, x - base), ignored = 1;
  a->n = 4;
  a->w[0] = far_cubic(t + 1);
  a->w[1] = near_cubic(t);
  a->w[2] = near_cubic(1 - t);
  a->w[3] = far_cubic(2 - t);
  a->dw[0] = far_slope(t + 1) * mult;
  a->dw[1] = near_slope(t) * mult;
  a->dw[2] = -near_slope(1 - t) * mult;
  a->dw[3] = -far_slope(2 - t) * mult;
  for (int i = 0; i < 4; i++)
    a->index[i] = index_of(bring_in(s, base - 1 + i, (double)size, &ignored),
                           size);
}

/* Taps of one axis: the indices, their weights, and the weights' derivatives
** by the coordinate. Outside, indices are out of range and count as zero;
** three dimensions send NaN to -100, as PyTorch's volumetric kernel does. */
static void axis_at (const Sampler *s, double g, int64_t size, Axis *a) {
  double mult, x = unnormalize(s, g, (double)size, &mult);
  if (s->s.mode == CUBIC) {
    axis_cubic(s, x, size, mult, a);
    return;
  }
  x = bring_in(s, x, (double)size, &mult);
  if (s->s.mode == NEAREST) {
    a->n = 1;
    a->index[0] = index_of(nearbyint(x), size);
    a->w[0] = 1;
    a->dw[0] = 0;
    return;
  }
  if (s->s.nd == 3 && !isfinite(x)) x = -100;
  double base = floor(x), t = fl(s, x - base);
  a->n = 2;
  a->index[0] = index_of(base, size);
  a->index[1] = index_of(base + 1, size);
  a->w[0] = fl(s, 1 - t);
  a->w[1] = t;
  a->dw[0] = -mult;
  a->dw[1] = mult;
}

/* The dims of a place: grid numbers come last dim first. */
static void axes_at (const Sampler *s, const double *g, Axis *a) {
  int missing = 3 - s->s.nd;
  for (int d = 0; d < missing; d++) {
    a[d].n = 1;
    a[d].index[0] = 0;
    a[d].w[0] = 1;
    a[d].dw[0] = 0;
  }
  for (int d = missing; d < 3; d++) axis_at(s, g[2 - d], s->in[d], &a[d]);
}

static double tap (const Sampler *s, const Axis *a, const double *x,
                   int i, int j, int k) {
  if (a[0].index[i] < 0 || a[1].index[j] < 0 || a[2].index[k] < 0) return 0;
  return x[(a[0].index[i] * s->in[1] + a[1].index[j]) * s->in[2] +
           a[2].index[k]];
}

static double value_at (const Sampler *s, const Axis *a, const double *x) {
  double sum = 0;
  for (int i = 0; i < a[0].n; i++)
    for (int j = 0; j < a[1].n; j++)
      for (int k = 0; k < a[2].n; k++)
        sum += tap(s, a, x, i, j, k) * (a[0].w[i] * a[1].w[j] * a[2].w[k]);
  return sum;
}

/* Add g's part to the image's gradient and to the grid's (d[0..2]). */
static void back_at (const Sampler *s, const Axis *a, double g,
                     const double *x, double *gx, double *d) {
  for (int i = 0; i < a[0].n; i++)
    for (int j = 0; j < a[1].n; j++)
      for (int k = 0; k < a[2].n; k++) {
        double v = tap(s, a, x, i, j, k) * g;
        d[0] += v * (a[0].dw[i] * a[1].w[j] * a[2].w[k]);
        d[1] += v * (a[0].w[i] * a[1].dw[j] * a[2].w[k]);
        d[2] += v * (a[0].w[i] * a[1].w[j] * a[2].dw[k]);
        if (gx == NULL || a[0].index[i] < 0 || a[1].index[j] < 0 ||
            a[2].index[k] < 0)
          continue;
        gx[(a[0].index[i] * s->in[1] + a[1].index[j]) * s->in[2] +
           a[2].index[k]] += g * (a[0].w[i] * a[1].w[j] * a[2].w[k]);
      }
}

/* ---- over everything ---- */

static void sampler_init (Sampler *s, const DtGridSample *g,
                          const DtTensor *a, const DtTensor *grid) {
  s->s = *g;
  s->single = grid->m.dtype != DT_F64;
  s->n = a->m.shape[0];
  s->c = a->m.shape[1];
  s->nplace = 1;
  for (int d = 0; d < 3; d++)
    s->in[d] = d < 3 - g->nd ? 1 : a->m.shape[2 + d - (3 - g->nd)];
  for (int d = 1; d <= g->nd; d++) s->nplace *= grid->m.shape[d];
}

static int64_t volume (const Sampler *s) {
  return s->in[0] * s->in[1] * s->in[2];
}

static DtStatus zeros (DtCtx *cx, const DtTensor *t, DtTensor **out,
                       double **data) {
  DtMeta m;
  void *p;
  *data = NULL;
  if (t == NULL) return DT_OK;
  DT_TRY(cx, dt_meta_init(cx, &m, DT_F64, t->m.ndim, t->m.shape));
  DT_TRY(cx, dt_tensor_new(cx, &m, false, out));
  DT_TRY(cx, dt_k_fill(cx, *out, dt_scalar_int(0)));
  DT_TRY(cx, dt_tensor_data(cx, *out, &p));
  *data = (double *)p;
  return DT_OK;
}

DtStatus dt_k_grid_sample (DtCtx *cx, const DtGridSample *gs,
                           const DtTensor *a, const DtTensor *grid,
                           DtTensor *out) {
  DtTensor *x = NULL, *g = NULL, *o = NULL;
  double *y;
  DtStatus st;
  Sampler s;
  Axis ax[3];
  sampler_init(&s, gs, a, grid);
  DT_TRYG(cx, dt_kernel_dense(cx, a, DT_F64, &x));
  DT_TRYG(cx, dt_kernel_dense(cx, grid, DT_F64, &g));
  DT_TRYG(cx, zeros(cx, out, &o, &y));
  const double *px = (const double *)dt_tensor_cdata(x);
  const double *pg = (const double *)dt_tensor_cdata(g);
  for (int64_t n = 0; px != NULL && n < s.n; n++)
    for (int64_t i = 0; i < s.nplace; i++, pg += gs->nd) {
      axes_at(&s, pg, ax);
      for (int64_t c = n * s.c; c < (n + 1) * s.c; c++)
        y[c * s.nplace + i] = value_at(&s, ax, px + c * volume(&s));
    }
  st = dt_k_copy(cx, o, out);
done:
  dt_tensor_unref(cx, x);
  dt_tensor_unref(cx, g);
  dt_tensor_unref(cx, o);
  return st;
}

DtStatus dt_k_grid_sample_back (DtCtx *cx, const DtGridSample *gs,
                                const DtTensor *grad, const DtTensor *a,
                                const DtTensor *grid, DtTensor *ga,
                                DtTensor *ggrid) {
  DtTensor *x = NULL, *g = NULL, *gy = NULL, *ox = NULL, *og = NULL;
  double *gx, *gg;
  DtStatus st;
  Sampler s;
  Axis ax[3];
  sampler_init(&s, gs, a, grid);
  DT_TRYG(cx, dt_kernel_dense(cx, a, DT_F64, &x));
  DT_TRYG(cx, dt_kernel_dense(cx, grid, DT_F64, &g));
  DT_TRYG(cx, dt_kernel_dense(cx, grad, DT_F64, &gy));
  DT_TRYG(cx, zeros(cx, ga, &ox, &gx));
  DT_TRYG(cx, zeros(cx, ggrid, &og, &gg));
  const double *px = (const double *)dt_tensor_cdata(x);
  const double *pg = (const double *)dt_tensor_cdata(g);
  const double *py = (const double *)dt_tensor_cdata(gy);
  int64_t v = volume(&s);
  for (int64_t n = 0; px != NULL && py != NULL && n < s.n; n++)
    for (int64_t i = 0; i < s.nplace; i++, pg += gs->nd) {
      double d[3] = { 0, 0, 0 };
      axes_at(&s, pg, ax);
      for (int64_t c = n * s.c; c < (n + 1) * s.c; c++)
        back_at(&s, ax, py[c * s.nplace + i], px + c * v,
                gx ? gx + c * v : NULL, d);
      for (int k = 0; gg != NULL && k < gs->nd; k++) *gg++ = d[2 - k];
    }
  if (ga != NULL) DT_TRYG(cx, dt_k_copy(cx, ox, ga));
  st = ggrid != NULL ? dt_k_copy(cx, og, ggrid) : DT_OK;
done:
  dt_tensor_unref(cx, x);
  dt_tensor_unref(cx, g);
  dt_tensor_unref(cx, gy);
  dt_tensor_unref(cx, ox);
  dt_tensor_unref(cx, og);
  return st;
}
