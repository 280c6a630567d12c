/* SPDX-License-Identifier: MIT
** parity/phases.c: results that a matrix determines only up to a factor of
** absolute value 1 for each vector: eigenvectors, singular vectors.
**
** Another LAPACK chooses other signs.  Each column (or row) is compared after
** turning it by the one factor that brings it closest to the wanted one. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "parity/values_int.h"

DtFreePhase dt_free_phase (const char *op, int out) {
  static const struct { const char *op; int out; DtFreePhase kind; } t[] = {
    { "aten._linalg_eigh.default", 1, DT_PHASE_COLUMNS },
    { "aten._linalg_svd.default", 0, DT_PHASE_COLUMNS },
    { "aten._linalg_svd.default", 2, DT_PHASE_ROWS },
    { "aten.linalg_eig.default", 1, DT_PHASE_COLUMNS },
    { "aten.linalg_eigh.default", 1, DT_PHASE_COLUMNS },
    { "aten.linalg_svd.default", 0, DT_PHASE_COLUMNS },
    { "aten.linalg_svd.default", 2, DT_PHASE_ROWS },
    { "aten.svd.default", 0, DT_PHASE_COLUMNS },
    { "aten.svd.default", 2, DT_PHASE_COLUMNS }
  };
  for (size_t i = 0; i < sizeof t / sizeof *t; i++)
    if (t[i].out == out && strcmp(t[i].op, op) == 0) return t[i].kind;
  return DT_PHASE_FIXED;
}

static double complex number (const json_t *v) {
  const json_t *c = json_object_get(v, "c");
  if (c != NULL)
    return json_number_value(json_array_get(c, 0)) +
           json_number_value(json_array_get(c, 1)) * _Complex_I;
  return json_number_value(v);
}

/* One vector of n elements, `step` apart from `at` on in row-major order. */
static bool same_vector (const json_t *data, const double complex *got,
                         int64_t at, int64_t step, int64_t n, double tol) {
  double complex dot = 0;
  for (int64_t i = 0; i < n; i++)
    dot += conj(got[at + i * step]) *
           number(json_array_get(data, (size_t)(at + i * step)));
  dot = cabs(dot) > 0 ? dot / cabs(dot) : 1;
  for (int64_t i = 0; i < n; i++) {
    double complex w = number(json_array_get(data, (size_t)(at + i * step)));
    if (!(cabs(got[at + i * step] * dot - w) <= tol)) return false;
  }
  return true;
}

/* Vectors that are determined up to a factor of size 1 (eigenvectors, singular
** vectors): each row or column is compared with the wanted one's direction.
** `data` is row-major whatever the strides are, so elements are read by index. */
bool dt_same_vectors (DtParity *p, const char *what, const json_t *want,
                      const DtTensor *t, DtFreePhase kind) {
  const json_t *data = json_object_get(want, "data");
  const DtMeta *m = &t->m;
  int64_t n = dt_meta_numel(m), index[DT_MAX_NDIM] = { 0 };
  int64_t r, k;
  double complex *v;
  if (m->ndim < 2 || n == 0) return dt_same_tensor(p, what, want, t, false);
  if (!dt_same_meta(p, what, want, m)) return false;
  if ((int64_t)json_array_size(data) != n)
    return dt_fails(p, "%s: want %d elements", what,
                    (int)json_array_size(data));
  v = DT_ANEWN(p->cx, &p->arena, double complex, n);
  if (v == NULL) return dt_fails(p, "out of memory");
  for (int64_t i = 0; i < n; i++) {
    DtScalar s = dt_tensor_get(t, index);
    v[i] = s.re + s.im * _Complex_I;
    for (int d = m->ndim - 1; d >= 0; d--) {
      if (++index[d] < m->shape[d]) break;
      index[d] = 0;
    }
  }
  r = m->shape[m->ndim - 2];
  k = m->shape[m->ndim - 1];
  double tol = m->dtype == DT_F64 || m->dtype == DT_C128 ? 1e-7 : 2e-5;
  for (int64_t b = 0; b < n; b += r * k)
    for (int64_t j = 0; j < (kind == DT_PHASE_ROWS ? r : k); j++)
      if (!(kind == DT_PHASE_ROWS
            ? same_vector(data, v, b + j * k, 1, k, tol)
            : same_vector(data, v, b + j, k, r, tol)))
        return dt_fails(p, "%s: vector %d is not a multiple of the wanted one",
                        what, (int)j);
  return true;
}
