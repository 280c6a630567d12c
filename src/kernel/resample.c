/* SPDX-License-Identifier: MIT
** kernel/resample.c: separable linear maps over spatial dims and their
** transposes: averages, interpolation, mirrored padding.
**
** Not here: what the taps are (oplib).  All sums are taken in f64 over dense
** copies, plane by plane; a complex tensor is one more, innermost dim of two.
** The transpose walks the same taps and adds where the map reads, so a
** gradient can not disagree with its forward. */
#include <math.h>
#include <string.h>
#include "kernel/kernel_int.h"
#include "kernel/spatial.h"

/* ---- taps ---- */

DtStatus dt_taps_init (DtCtx *cx, DtTaps *t, int64_t in, int64_t out,
                       int64_t most) {
  memset(t, 0, sizeof *t);
  t->in = in;
  t->out = out;
  DT_CHECK(cx, most <= 0 || out <= (INT64_MAX >> 5) / most, DT_E_OVERFLOW,
           "too many taps");
  t->cap = out * most;
  t->start = DT_NEWN(cx, int64_t, out + 1);
  t->index = DT_NEWN(cx, int64_t, t->cap + 1);
  t->weight = DT_NEWN(cx, double, t->cap + 1);
  t->div = DT_NEWN(cx, double, out + 1);
  if (t->start && t->index && t->weight && t->div) return DT_OK;
  return DT_E_NOMEM;
}

void dt_taps_fini (DtCtx *cx, DtTaps *t) {
  dt_free(cx, t->start);
  dt_free(cx, t->index);
  dt_free(cx, t->weight);
  dt_free(cx, t->div);
  memset(t, 0, sizeof *t);
}

void dt_taps_add (DtTaps *t, int64_t index, double weight) {
  if (index < 0 || index >= t->in || t->ntaps >= t->cap) return;
  t->index[t->ntaps] = index;
  t->weight[t->ntaps++] = weight;
}

void dt_taps_next (DtTaps *t, double div) {
  t->div[t->at++] = div;
  t->start[t->at] = t->ntaps;
}

/* ---- the walk ---- */

/* Always three dims; those not there have one position and one tap. */
typedef struct Map {
  const DtTaps *t[DT_MAX_SPATIAL];
  int64_t in[DT_MAX_SPATIAL], out[DT_MAX_SPATIAL];
  int64_t planes, inner;
  double div;
  bool whole;                   /* integers */
  DtDtype half;                 /* f16, bf16: every sum is rounded to it */
  DtTaps one;                   /* of a dim that is not there */
  int64_t start[2], index[1];
  double weight[1], by[1];
} Map;

/* Fewer than three spatial dimensions are filled up in front with axes of size
** one, so that one loop serves all. */
static void map_init (Map *m, const DtResample *r, const DtTensor *a) {
  int missing = DT_MAX_SPATIAL - r->nd;
  memset(m, 0, sizeof *m);
  m->half = DT_F64;
  if (r->rounds && (a->m.dtype == DT_F16 || a->m.dtype == DT_BF16))
    m->half = (DtDtype)a->m.dtype;
  m->start[1] = m->one.in = m->one.out = 1;
  m->weight[0] = m->by[0] = 1;
  m->one.start = m->start;
  m->one.index = m->index;
  m->one.weight = m->weight;
  m->one.div = m->by;
  m->planes = 1;
  m->div = r->div;
  m->inner = dt_dtype_is_complex((DtDtype)a->m.dtype) ? 2 : 1;
  m->whole = dt_dtype_is_integral((DtDtype)a->m.dtype, true);
  for (int d = 0; d < a->m.ndim - r->nd; d++) m->planes *= a->m.shape[d];
  for (int d = 0; d < DT_MAX_SPATIAL; d++) {
    m->t[d] = d < missing ? &m->one : &r->taps[d - missing];
    m->in[d] = m->t[d]->in;
    m->out[d] = m->t[d]->out;
  }
}

static int64_t volume (const int64_t *s) { return s[0] * s[1] * s[2]; }

static double divisor (const Map *m, const int64_t *o) {
  if (m->div != 0) return m->div;
  return m->t[0]->div[o[0]] * m->t[1]->div[o[1]] * m->t[2]->div[o[2]];
}

static double rounded (const Map *m, double v) {
  if (m->half == DT_F16)
    return (double)dt_f16_to_f32(dt_f32_to_f16((float)v));
  if (m->half == DT_BF16)
    return (double)dt_bf16_to_f32(dt_f32_to_bf16((float)v));
  return v;
}

/* Sum of the taps of output position o. */
static double gather (const Map *m, const int64_t *o, const double *x) {
  const DtTaps *t0 = m->t[0], *t1 = m->t[1], *t2 = m->t[2];
  double sum = 0;
  for (int64_t i = t0->start[o[0]]; i < t0->start[o[0] + 1]; i++)
    for (int64_t j = t1->start[o[1]]; j < t1->start[o[1] + 1]; j++) {
      const double *row =
          x + (t0->index[i] * m->in[1] + t1->index[j]) * m->in[2] * m->inner;
      double s = m->half == DT_F64 ? 0 : sum;
      for (int64_t k = t2->start[o[2]]; k < t2->start[o[2] + 1]; k++)
        s = rounded(m, s + t2->weight[k] * row[t2->index[k] * m->inner]);
      sum = m->half == DT_F64 ? sum + s * (t0->weight[i] * t1->weight[j]) : s;
    }
  return sum;
}

static void scatter (const Map *m, const int64_t *o, double g, double *x) {
  const DtTaps *t0 = m->t[0], *t1 = m->t[1], *t2 = m->t[2];
  for (int64_t i = t0->start[o[0]]; i < t0->start[o[0] + 1]; i++)
    for (int64_t j = t1->start[o[1]]; j < t1->start[o[1] + 1]; j++) {
      double *row =
          x + (t0->index[i] * m->in[1] + t1->index[j]) * m->in[2] * m->inner;
      double w = g * (t0->weight[i] * t1->weight[j]);
      for (int64_t k = t2->start[o[2]]; k < t2->start[o[2] + 1]; k++) {
        double *x_k = &row[t2->index[k] * m->inner];
        *x_k = rounded(m, *x_k + rounded(m, w * t2->weight[k]));
      }
    }
}

/* One plane, either way: y is the output side of the map. */
static void plane (const Map *m, bool back, double *x, double *y) {
  int64_t o[DT_MAX_SPATIAL];
  for (o[0] = 0; o[0] < m->out[0]; o[0]++)
    for (o[1] = 0; o[1] < m->out[1]; o[1]++)
      for (o[2] = 0; o[2] < m->out[2]; o[2]++) {
        double div = divisor(m, o);
        for (int64_t c = 0; c < m->inner; c++, y++) {
          if (!back) {
            *y = gather(m, o, x + c) / div;
            continue;
          }
          double g = *y / div;
          scatter(m, o, m->whole ? trunc(g) : g, x + c);
        }
      }
}

/* A dense f64 (or c128) copy of t, or zeros of its shape. */
static DtStatus wide (DtCtx *cx, const DtTensor *t, bool zero,
                      DtTensor **out, double **data) {
  DtDtype d = dt_dtype_is_complex((DtDtype)t->m.dtype) ? DT_C128 : DT_F64;
  DtMeta m;
  void *p;
  if (!zero) {
    DT_TRY(cx, dt_kernel_dense(cx, t, d, out));
    *data = (double *)(uintptr_t)dt_tensor_cdata(*out);
    return DT_OK;
  }
  DT_TRY(cx, dt_meta_init(cx, &m, d, t->m.ndim, t->m.shape));
  DT_TRY(cx, dt_tensor_new(cx, &m, false, out));
  DT_TRY(cx, dt_k_fill(cx, *out, dt_scalar_int(0)));
  DT_TRY(cx, dt_tensor_data(cx, *out, &p));
  *data = (double *)p;
  return DT_OK;
}

static DtStatus run (DtCtx *cx, const DtResample *r, bool back,
                     const DtTensor *src, DtTensor *dst) {
  DtTensor *s = NULL, *d = NULL;
  double *ps = NULL, *pd = NULL;
  DtStatus st;
  Map m;
  map_init(&m, r, src);
  DT_TRYG(cx, wide(cx, src, false, &s, &ps));
  DT_TRYG(cx, wide(cx, dst, true, &d, &pd));
  int64_t nx = volume(m.in) * m.inner, ny = volume(m.out) * m.inner;
  if (nx > 0 && ny > 0)
    for (int64_t i = 0; i < m.planes; i++)
      plane(&m, back, (back ? pd : ps) + i * nx, (back ? ps : pd) + i * ny);
  st = dt_k_copy(cx, d, dst);
done:
  dt_tensor_unref(cx, s);
  dt_tensor_unref(cx, d);
  return st;
}

DtStatus dt_k_resample (DtCtx *cx, const DtResample *r, const DtTensor *a,
                        DtTensor *out) {
  return run(cx, r, false, a, out);
}
DtStatus dt_k_resample_back (DtCtx *cx, const DtResample *r,
                             const DtTensor *g, DtTensor *gin) {
  return run(cx, r, true, g, gin);
}

/* ---- copies ---- */

static void pick_row (size_t es, const DtTaps *t, const char *x, char *y) {
#define ROW(T) \
  for (int64_t i = 0; i < t->out; i++) \
    ((T *)(void *)y)[i] = ((const T *)(const void *)x)[t->index[i]]
  if (es == 1) ROW(uint8_t);
  else if (es == 2) ROW(uint16_t);
  else if (es == 4) ROW(uint32_t);
  else if (es == 8) ROW(uint64_t);
  else
    for (int64_t i = 0; i < t->out; i++)
      memcpy(y + (size_t)i * es, x + (size_t)t->index[i] * es, es);
#undef ROW
}

static void pick_plane (const Map *m, size_t es, const char *x, char *y) {
  for (int64_t i = 0; i < m->out[0]; i++)
    for (int64_t j = 0; j < m->out[1]; j++) {
      int64_t row = m->t[0]->index[i] * m->in[1] + m->t[1]->index[j];
      pick_row(es, m->t[2], x + (size_t)(row * m->in[2]) * es, y);
      y += (size_t)m->out[2] * es;
    }
}

DtStatus dt_k_pick (DtCtx *cx, const DtResample *r, const DtTensor *a,
                    DtTensor *out) {
  DtTensor *s = NULL, *d = NULL;
  DtDtype t = (DtDtype)a->m.dtype;
  size_t es = dt_dtype_size(t);
  DtStatus st;
  DtMeta dense;
  void *p;
  Map m;
  map_init(&m, r, a);
  DT_TRYG(cx, dt_kernel_dense(cx, a, t, &s));
  DT_TRYG(cx, dt_meta_init(cx, &dense, t, out->m.ndim, out->m.shape));
  DT_TRYG(cx, dt_tensor_new(cx, &dense, false, &d));
  DT_TRYG(cx, dt_tensor_data(cx, d, &p));
  const char *x = (const char *)dt_tensor_cdata(s);
  size_t nx = (size_t)volume(m.in) * es, ny = (size_t)volume(m.out) * es;
  if (x != NULL && nx > 0 && ny > 0)
    for (int64_t i = 0; i < m.planes; i++)
      pick_plane(&m, es, x + (size_t)i * nx, (char *)p + (size_t)i * ny);
  st = dt_k_copy(cx, d, out);
done:
  dt_tensor_unref(cx, s);
  dt_tensor_unref(cx, d);
  return st;
}

/* ---- bytes ---- */

/* Fractional bits that keep the largest weight below 2^15. */
static int precision (const DtTaps *t) {
  double top = 0;
  int bits = 0;
  for (int64_t i = 0; i < t->ntaps; i++)
    if (t->weight[i] > top) top = t->weight[i];
  for (; bits < 22; bits++)
    if ((int64_t)(0.5 + top * (double)(INT64_C(1) << (bits + 1))) >= 1 << 15)
      break;
  return bits;
}

static uint8_t clamp_byte (int64_t v) {
  return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

/* One pass along the middle of (before, in, after). */
static void pass_u8 (const DtTaps *t, int64_t before, int64_t after,
                     const uint8_t *x, uint8_t *y) {
  int bits = precision(t);
  if (t->in == t->out) {        /* nothing to do in this dim, whatever the */
    memcpy(y, x, (size_t)(before * t->in * after));     /* factor says */
    return;
  }
  double one = (double)(INT64_C(1) << bits);
  for (int64_t b = 0; b < before; b++, x += t->in * after)
    for (int64_t o = 0; o < t->out; o++)
      for (int64_t a = 0; a < after; a++) {
        int64_t sum = bits > 0 ? INT64_C(1) << (bits - 1) : 0;
        for (int64_t k = t->start[o]; k < t->start[o + 1]; k++) {
          double w = t->weight[k] * one;
          sum += (int64_t)(w < 0 ? w - 0.5 : w + 0.5) *
                 x[t->index[k] * after + a];
        }
        *y++ = clamp_byte(sum >> bits);
      }
}

DtStatus dt_k_resample_u8 (DtCtx *cx, const DtResample *r, const DtTensor *a,
                           DtTensor *out) {
  DtTensor *s = NULL;
  uint8_t *now = NULL, *next = NULL;
  int64_t before = 1, after = 1, size[DT_MAX_SPATIAL];
  DtStatus st;
  void *p;
  DtMeta m;
  DtTensor *d = NULL;
  for (int k = 0; k < a->m.ndim - r->nd; k++) before *= a->m.shape[k];
  for (int k = 0; k < r->nd; k++) size[k] = r->taps[k].in;
  DT_TRYG(cx, dt_kernel_dense(cx, a, DT_U8, &s));
  DT_TRYG(cx, dt_meta_init(cx, &m, DT_U8, out->m.ndim, out->m.shape));
  DT_TRYG(cx, dt_tensor_new(cx, &m, false, &d));
  DT_TRYG(cx, dt_tensor_data(cx, d, &p));
  const uint8_t *x = (const uint8_t *)dt_tensor_cdata(s);
  for (int k = r->nd - 1; k >= 0; k--) {
    int64_t lead = before;
    for (int j = 0; j < k; j++) lead *= size[j];
    next = k == 0 ? (uint8_t *)p
                  : (uint8_t *)dt_alloc(cx, (size_t)(lead * r->taps[k].out *
                                                     after) + 1);
    if (next == NULL && k > 0) { st = DT_E_NOMEM; goto done; }
    if (x != NULL && next != NULL) pass_u8(&r->taps[k], lead, after, x, next);
    dt_free(cx, now);
    now = k == 0 ? NULL : next;
    x = next;
    size[k] = r->taps[k].out;
    after *= size[k];
  }
  st = dt_k_copy(cx, d, out);
done:
  dt_free(cx, now);
  dt_tensor_unref(cx, s);
  dt_tensor_unref(cx, d);
  return st;
}
