/* SPDX-License-Identifier: MIT
** kernel/window.c: the largest element of windows over spatial dims, and
** moving elements by the indices found.
**
** Not here: where windows lie (oplib).  Values are compared in the class of
** their dtype (f32, f64, i64), so integers stay exact; one loop, written as a
** macro, for the three. */
#include <math.h>
#include <string.h>
#include "kernel/kernel_int.h"
#include "kernel/spatial.h"

DtStatus dt_window_init (DtCtx *cx, DtWindow *w, int64_t in, int64_t out,
                         int64_t step, int64_t planes) {
  memset(w, 0, sizeof *w);
  w->in = in;
  w->out = out;
  w->step = step;
  w->per_plane = planes > 1;
  if (planes < 1) planes = 1;
  DT_CHECK(cx, out <= 0 || planes <= (INT64_MAX >> 5) / out, DT_E_OVERFLOW,
           "too many windows");
  w->lo = DT_NEWN(cx, int64_t, planes * out + 1);
  w->hi = DT_NEWN(cx, int64_t, planes * out + 1);
  return w->lo != NULL && w->hi != NULL ? DT_OK : DT_E_NOMEM;
}

void dt_window_fini (DtCtx *cx, DtWindow *w) {
  dt_free(cx, w->lo);
  dt_free(cx, w->hi);
  memset(w, 0, sizeof *w);
}

/* ---- maximum ---- */

/* Bounds of one window in three dims. */
typedef struct Box { int64_t lo[3], hi[3], step[3], in[3]; } Box;

#define BOX_MAX(NAME, T, LOWEST, ISNAN) \
  static void NAME (const Box *b, const T *x, T *value, int64_t *index) { \
    T best = LOWEST; \
    int64_t at = (b->lo[0] * b->in[1] + b->lo[1]) * b->in[2] + b->lo[2]; \
    for (int64_t i = b->lo[0]; i < b->hi[0]; i += b->step[0]) \
      for (int64_t j = b->lo[1]; j < b->hi[1]; j += b->step[1]) { \
        int64_t row = (i * b->in[1] + j) * b->in[2]; \
        for (int64_t k = b->lo[2]; k < b->hi[2]; k += b->step[2]) { \
          T v = x[row + k]; \
          if (v > best || ISNAN(v)) { best = v; at = row + k; } \
        } \
      } \
    *value = best; \
    *index = at; \
  }
#define NEVER_NAN(v) ((void)(v), false)
#define NAN_SELF(v) ((v) != (v))
BOX_MAX(box_f32, float, -INFINITY, NAN_SELF)
BOX_MAX(box_f64, double, -INFINITY, NAN_SELF)
BOX_MAX(box_i64, int64_t, INT64_MIN, NEVER_NAN)

typedef struct Max {
  const DtWindow *w[3];
  DtClass cls;
  const char *x;
  char *value;
  int64_t *index;
  int64_t planes, nx, ny;
} Max;

static void box_at (const Max *m, int64_t p, const int64_t *o, Box *b) {
  for (int d = 0; d < 3; d++) {
    const DtWindow *w = m->w[d];
    int64_t i = (w->per_plane ? p * w->out : 0) + o[d];
    b->lo[d] = w->lo[i];
    b->hi[d] = w->hi[i];
    b->step[d] = w->step;
    b->in[d] = w->in;
  }
}

static void max_plane (const Max *m, int64_t p) {
  size_t es = dt_class_size(m->cls);
  const char *x = m->x + (size_t)(p * m->nx) * es;
  int64_t at = p * m->ny, o[3];
  Box b;
  for (o[0] = 0; o[0] < m->w[0]->out; o[0]++)
    for (o[1] = 0; o[1] < m->w[1]->out; o[1]++)
      for (o[2] = 0; o[2] < m->w[2]->out; o[2]++, at++) {
        char *v = m->value + (size_t)at * es;
        box_at(m, p, o, &b);
        if (m->cls == DT_CL_F32)
          box_f32(&b, (const float *)(const void *)x, (float *)(void *)v,
                  &m->index[at]);
        else if (m->cls == DT_CL_F64)
          box_f64(&b, (const double *)(const void *)x, (double *)(void *)v,
                  &m->index[at]);
        else
          box_i64(&b, (const int64_t *)(const void *)x,
                  (int64_t *)(void *)v, &m->index[at]);
      }
}

/* A dense tensor of t's shape and another dtype. */
static DtStatus like (DtCtx *cx, const DtTensor *t, DtDtype d,
                      DtTensor **out, void **data) {
  DtMeta m;
  DT_TRY(cx, dt_meta_init(cx, &m, d, t->m.ndim, t->m.shape));
  DT_TRY(cx, dt_tensor_new(cx, &m, false, out));
  return dt_tensor_data(cx, *out, data);
}

DtStatus dt_k_window_max (DtCtx *cx, int nd, const DtWindow *w,
                          const DtTensor *a, DtTensor *value,
                          DtTensor *index) {
  DtTensor *x = NULL, *v = NULL, *i = NULL;
  void *pv, *pi;
  DtStatus st;
  Max m;
  DtClass c = dt_class_of((DtDtype)a->m.dtype);
  DtDtype d = c == DT_CL_F32 ? DT_F32 : c == DT_CL_F64 ? DT_F64 : DT_I64;
  int64_t zero = 0, end = 1;
  const DtWindow one = { 1, 1, 1, &zero, &end, false };
  memset(&m, 0, sizeof m);
  m.planes = m.nx = m.ny = 1;
  for (int k = 0; k < a->m.ndim - nd; k++) m.planes *= a->m.shape[k];
  for (int k = 0; k < 3; k++) {
    m.w[k] = k < 3 - nd ? &one : &w[k - (3 - nd)];
    m.nx *= m.w[k]->in;
    m.ny *= m.w[k]->out;
  }
  DT_TRYG(cx, dt_kernel_dense(cx, a, d, &x));
  DT_TRYG(cx, like(cx, value, d, &v, &pv));
  DT_TRYG(cx, like(cx, value, DT_I64, &i, &pi));
  m.cls = c;
  m.x = (const char *)dt_tensor_cdata(x);
  m.value = (char *)pv;
  m.index = (int64_t *)pi;
  if (m.nx > 0 && m.ny > 0)
    for (int64_t p = 0; p < m.planes; p++) max_plane(&m, p);
  DT_TRYG(cx, dt_k_copy(cx, v, value));
  st = dt_k_copy(cx, i, index);
done:
  dt_tensor_unref(cx, x);
  dt_tensor_unref(cx, v);
  dt_tensor_unref(cx, i);
  return st;
}

/* ---- by index ---- */

typedef struct Plane { int64_t n, in, out; } Plane;

static void plane_sizes (int nd, const DtTensor *a, const DtTensor *out,
                         Plane *p) {
  p->n = p->in = p->out = 1;
  for (int d = 0; d < out->m.ndim; d++) {
    bool lead = d < out->m.ndim - nd;
    if (lead) p->n *= out->m.shape[d];
    else p->in *= a->m.shape[d], p->out *= out->m.shape[d];
  }
}

static DtStatus bad_index (DtCtx *cx, int nd, int64_t i,
                           const DtTensor *out) {
  DtBuf b;
  DtStatus st;
  dt_buf_init(&b, cx);
  for (int d = out->m.ndim - nd; d < out->m.ndim; d++)
    dt_buf_addf(&b, "%s%lld", d == out->m.ndim - nd ? "" : "x",
                (long long)out->m.shape[d]);
  st = dt_raise(cx, DT_E_RUNTIME, "Found an invalid max index: %lld (output "
                "volumes are of size %s)", (long long)i, dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}

static DtStatus move (DtCtx *cx, int nd, bool add, const DtTensor *a,
                      const DtTensor *index, DtTensor *out) {
  DtTensor *x = NULL, *i = NULL, *o = NULL;
  DtStatus st;
  void *po;
  Plane p;
  plane_sizes(nd, a, out, &p);
  DT_TRYG(cx, dt_kernel_dense(cx, a, DT_F64, &x));
  DT_TRYG(cx, dt_kernel_dense(cx, index, DT_I64, &i));
  DT_TRYG(cx, like(cx, out, DT_F64, &o, &po));
  DT_TRYG(cx, dt_k_fill(cx, o, dt_scalar_int(0)));
  const double *px = (const double *)dt_tensor_cdata(x);
  const int64_t *pi = (const int64_t *)dt_tensor_cdata(i);
  double *to = (double *)po;
  for (int64_t n = 0; px != NULL && n < p.n; n++, to += p.out)
    for (int64_t k = 0; k < p.in; k++, px++, pi++) {
      if (*pi < 0 || *pi >= p.out) {
        st = bad_index(cx, nd, *pi, out);
        goto done;
      }
      if (add) to[*pi] += *px;
      else to[*pi] = *px;
    }
  st = dt_k_copy(cx, o, out);
done:
  dt_tensor_unref(cx, x);
  dt_tensor_unref(cx, i);
  dt_tensor_unref(cx, o);
  return st;
}

DtStatus dt_k_plane_add (DtCtx *cx, int nd, const DtTensor *g,
                         const DtTensor *index, DtTensor *out) {
  return move(cx, nd, true, g, index, out);
}
DtStatus dt_k_plane_set (DtCtx *cx, int nd, const DtTensor *a,
                         const DtTensor *index, DtTensor *out) {
  return move(cx, nd, false, a, index, out);
}
