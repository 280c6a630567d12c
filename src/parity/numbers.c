/* SPDX-License-Identifier: MIT
** parity/numbers.c: tensors with data: from JSON, and compared with it.
**
** Data is written in logical order, as the shortest decimals that round back
** to the dtype; strides say how it lies in memory.  So a number is compared
** after rounding it to the dtype, and tolerances are those of PyTorch's
** assert_close. */
#include "parity/parity_int.h"

#include <math.h>

/* {==== JSON to tensors ==== */

static DtScalar scalar_of (const json_t *v) {
  const json_t *c = json_object_get(v, "c");
  if (c != NULL)
    return dt_scalar_complex(dt_jnum(json_array_get(c, 0)),
                             dt_jnum(json_array_get(c, 1)));
  if (json_is_boolean(v))
    return dt_scalar_bool(json_is_true(v));
  if (json_is_integer(v))
    return dt_scalar_int(json_integer_value(v));
  return dt_scalar_float(dt_jnum(v));
}

/* The next index in row-major order. */
static void step (const DtMeta *m, int64_t *index) {
  for (int d = m->ndim - 1; d >= 0; d--) {
    if (++index[d] < m->shape[d])
      return;
    index[d] = 0;
  }
}

static int64_t place (const DtMeta *m, const int64_t *index) {
  int64_t at = 0;
  for (int d = 0; d < m->ndim; d++)
    at += index[d] * m->stride[d];
  return at;
}

/* Elements that the strides reach. */
static int64_t reach (const DtMeta *m) {
  int64_t top = 0;
  for (int d = 0; d < m->ndim; d++) {
    if (m->shape[d] == 0)
      return 0;
    top += (m->shape[d] - 1) * m->stride[d];
  }
  return top + 1;
}

static DtStatus empty_tensor (DtCtx *cx, const DtMeta *m, DtTensor **out) {
  DtTensor *flat = NULL;
  DtMeta line;
  int64_t n = reach(m);
  DtStatus st;
  if (n == dt_meta_numel(m))
    return dt_tensor_new(cx, m, false, out);
  DT_TRY(cx, dt_meta_init(cx, &line, (DtDtype)m->dtype, 1, &n));
  DT_TRY(cx, dt_tensor_new(cx, &line, false, &flat));
  st = dt_tensor_view(cx, flat, m, 0, out);
  dt_tensor_unref(cx, flat);
  return st;
}

/* Numbers in one row: data may be nested.  Returns how many there are. */
static int64_t collect (const json_t *data, const json_t **out, int64_t n,
                        int64_t max) {
  for (size_t i = 0; i < json_array_size(data); i++) {
    const json_t *v = json_array_get(data, i);
    if (json_is_array(v))
      n = collect(v, out, n, max);
    else if (n++ < max)
      out[n - 1] = v;
  }
  return n;
}

/* Where a line has no numbers: between 0 and 1 and in no special position, so
** that matrices are regular; indices are 0. */
static DtScalar any_number (const DtMeta *m, int64_t i) {
  double v = (double)(i + 1) * 0.6180339887498949;
  if (dt_dtype_is_integral((DtDtype)m->dtype, true)) return dt_scalar_int(0);
  return dt_scalar_float(0.05 + 0.9 * (v - floor(v)));
}

/* A mask without data chooses as many elements as the line's result has. */
static int64_t chosen (const DtParity *p, const DtMeta *m) {
  const json_t *out = json_array_get(json_object_get(p->line, "out"), 0);
  const json_t *shape = json_object_get(out, "shape");
  if (m->dtype != DT_BOOL || json_array_size(shape) != 1)
    return 0;
  return json_integer_value(json_array_get(shape, 0));
}

DtStatus dt_jtensor (DtParity *p, const json_t *t, DtTensor **out) {
  const json_t *data = json_object_get(t, "data");
  int64_t index[DT_MAX_NDIM] = { 0 };
  DtTensor *x = NULL;
  void *to = NULL;
  DtMeta m;
  if (!dt_jtensor_meta(p, t, &m))
    return dt_raise(p->cx, DT_E_INTERNAL, "the line cannot be read");
  DT_TRY(p->cx, empty_tensor(p->cx, &m, &x));
  DtStatus st = dt_tensor_data(p->cx, x, &to);
  int64_t n = dt_meta_numel(&m), k = chosen(p, &m);
  size_t size = dt_dtype_size((DtDtype)m.dtype);
  const json_t **row = DT_ANEWN(p->cx, &p->arena, const json_t *, n + 1);
  if (row == NULL)
    st = DT_E_NOMEM;
  else if (st == DT_OK && data != NULL && collect(data, row, 0, n) != n)
    st = dt_raise(p->cx, DT_E_INTERNAL, "the line has too few numbers");
  for (int64_t i = 0; st == DT_OK && i < n; i++) {
    DtScalar v = data != NULL ? scalar_of(row[i])
                 : i < k ? dt_scalar_bool(true) : any_number(&m, i);
    dt_dtype_store((DtDtype)m.dtype,
                   (char *)to + (size_t)place(&m, index) * size, v);
    step(&m, index);
  }
  if (st != DT_OK) {
    dt_tensor_unref(p->cx, x);
    return st;
  }
  *out = x;
  return DT_OK;
}

/* }==== Comparing ==== */

static void tolerance (DtDtype t, double *rtol, double *atol) {
  *atol = 1e-5;
  switch (t) {
    case DT_F64: case DT_C128: *rtol = *atol = 1e-7; break;
    case DT_F32: case DT_C64: *rtol = 1.3e-6; break;
    case DT_F16: *rtol = 1e-3; break;
    case DT_BF16: *rtol = 1.6e-2; break;
    default: *rtol = *atol = 0; break;
  }
}

static bool same_double (double want, double got, bool exact, double rtol,
                         double atol) {
  if (isnan(want) || isnan(got))
    return isnan(want) && isnan(got);
  if (exact)
    return memcmp(&want, &got, sizeof want) == 0;
  if (isinf(want) || isinf(got))
    return isinf(want) && isinf(got) && signbit(want) == signbit(got);
  return fabs(got - want) <= atol + rtol * fabs(want);
}

static void add_scalar (DtBuf *b, DtScalar v) {
  if (v.kind == DT_K_BOOL)
    dt_buf_add(b, v.i != 0 ? "true" : "false");
  else if (v.kind == DT_K_INT)
    dt_buf_addf(b, "%lld", (long long)v.i);
  else if (v.kind == DT_K_FLOAT)
    dt_buf_addf(b, "%.9g", v.re);
  else
    dt_buf_addf(b, "%.9g%+.9gj", v.re, v.im);
}

static bool same_element (DtParity *p, const char *what, const DtTensor *x,
                          const json_t *want, const int64_t *index, int64_t i,
                          bool exact) {
  DtDtype t = (DtDtype)x->m.dtype;
  DtScalar got = dt_tensor_get(x, index);
  union { double d[2]; int64_t i[2]; } room;
  double rtol, atol;
  bool ok;
  memset(&room, 0, sizeof room);
  dt_dtype_store(t, &room, scalar_of(want));
  DtScalar w = dt_dtype_load(t, &room);
  tolerance(t, &rtol, &atol);
  if (w.kind == DT_K_BOOL || w.kind == DT_K_INT)
    ok = w.i == got.i;
  else
    ok = same_double(w.re, got.re, exact, rtol, atol) &&
         (w.kind == DT_K_FLOAT ||
          same_double(w.im, got.im, exact, rtol, atol));
  if (!ok && dt_open_element(p, &x->m, index, w, got))
    return true;
  if (!ok) {
    dt_buf_addf(&p->why, "%s: element %lld: want ", what, (long long)i);
    add_scalar(&p->why, w);
    dt_buf_add(&p->why, ", got ");
    add_scalar(&p->why, got);
  }
  return ok;
}

bool dt_same_data (DtParity *p, const char *what, const json_t *data,
                   const DtTensor *got, bool exact) {
  int64_t index[DT_MAX_NDIM] = { 0 };
  int64_t n = dt_meta_numel(&got->m);
  if ((int64_t)json_array_size(data) != n)
    return dt_fails(p, "%s: want %d elements, got %lld", what,
                    (int)json_array_size(data), (long long)n);
  if (n > 0 && !dt_tensor_has_data(got))
    return dt_fails(p, "%s: no data", what);
  for (int64_t i = 0; i < n; i++) {
    if (!same_element(p, what, got, json_array_get(data, (size_t)i), index, i,
                      exact))
      return false;
    step(&got->m, index);
  }
  return true;
}

bool dt_same_tensor (DtParity *p, const char *what, const json_t *want,
                     const DtTensor *got, bool exact) {
  const json_t *data = json_object_get(want, "data");
  if (want == NULL || json_is_null(want))
    return got == NULL || dt_fails(p, "%s: want none", what);
  if (got == NULL)
    return dt_fails(p, "%s: none", what);
  return dt_same_meta(p, what, want, &got->m) &&
         (data == NULL || dt_same_data(p, what, data, got, exact));
}

bool dt_same_scalar (DtParity *p, const char *what, const json_t *want,
                     const DtValue *got) {
  double w = dt_jnum(want);
  if (json_is_number(want) && got->kind == DT_V_FLOAT) {
    if (same_double(w, got->u.f, false, 1.3e-6, 1e-5))
      return true;
  }
  if (json_is_object(want) && got->kind == DT_V_FLOAT)
    return same_double(w, got->u.f, false, 0, 0) ||
           dt_same_value(p, what, want, got);
  return dt_same_value(p, what, want, got);
}

/* }==== Variables of a call ==== */

/* The local part of a distributed argument: zeros, its data being nobody's
** business where calls have specs. */
static DtStatus dist_var (DtParity *p, DtSession *s, const json_t *t,
                          DtMesh *mesh, DtVar **out) {
  DtSpec *spec = dt_jspec(p, t, mesh);
  DtTensor *local = NULL;
  DtMeta m;
  DtStatus st;
  if (spec == NULL)
    return p->cx->err.code != DT_OK ? p->cx->err.code
           : dt_raise(p->cx, DT_E_INTERNAL, "the line cannot be read");
  st = dt_session_spec(s, spec, &spec);
  if (st != DT_OK)
    return st;
  st = dt_layout_local_meta(p->cx, spec, NULL, &m);
  if (st == DT_OK)
    st = dt_tensor_new(p->cx, &m, dt_session_no_data(s), &local);
  if (st == DT_OK)
    st = dt_var_new(s, local, spec, out);
  dt_tensor_unref(p->cx, local);
  dt_spec_unref(p->cx, spec);
  return st;
}

static DtStatus plain_var (DtParity *p, DtSession *s, const json_t *t,
                           DtVar **out) {
  DtTensor *x = NULL;
  DtStatus st;
  DtMeta m;
  if (dt_session_no_data(s)) {
    if (!dt_jtensor_meta(p, t, &m))
      return dt_raise(p->cx, DT_E_INTERNAL, "the line cannot be read");
    st = dt_tensor_new(p->cx, &m, true, &x);
  } else {
    st = dt_jtensor(p, t, &x);
  }
  if (st == DT_OK)
    st = dt_var_new(s, x, NULL, out);
  dt_tensor_unref(p->cx, x);
  return st;
}

DtStatus dt_jvars (DtParity *p, DtSession *s, const DtJCall *c,
                   DtMesh *mesh, DtJVars *out) {
  DtStatus st = DT_OK;
  out->n = 0;
  out->v = DT_ANEWN(p->cx, &p->arena, DtVar *, c->nin > 0 ? c->nin : 1);
  if (out->v == NULL)
    return DT_E_NOMEM;
  for (int i = 0; st == DT_OK && i < c->nin; i++) {
    st = dt_jis_dist(c->tensor[i])
         ? dist_var(p, s, c->tensor[i], mesh, &out->v[i])
         : plain_var(p, s, c->tensor[i], &out->v[i]);
    out->n += st == DT_OK;
  }
  if (st != DT_OK)
    dt_jvars_fini(out);
  return st;
}

void dt_jvars_fini (DtJVars *v) {
  for (int i = 0; i < v->n; i++)
    dt_var_unref(v->v[i]);
  v->n = 0;
}

/* }==== */
