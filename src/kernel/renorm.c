/* SPDX-License-Identifier: MIT
** kernel/renorm.c: rows of a table cut to a length. */
#include <math.h>
#include "kernel/bag.h"
#include "kernel/kernel_int.h"

static double length (const double *row, int64_t n, double p) {
  double sum = 0;
  if (p == INFINITY) {
    for (int64_t i = 0; i < n; i++) sum = fmax(sum, fabs(row[i]));
    return sum;
  }
  for (int64_t i = 0; i < n; i++)
    sum += p == 2 ? row[i] * row[i] : p == 1 ? fabs(row[i])
                                             : pow(fabs(row[i]), p);
  return p == 2 ? sqrt(sum) : p == 1 ? sum : pow(sum, 1 / p);
}

/* Every row once, whether named once or often. */
static DtStatus cut (DtCtx *cx, double *v, const int64_t *ix, int64_t nix,
                     const int64_t *shape, double max, double p) {
  bool *done = dt_calloc(cx, (size_t)shape[0] + 1, sizeof *done);
  DtStatus st = done != NULL ? DT_OK : DT_E_NOMEM;
  for (int64_t i = 0; i < nix && st == DT_OK; i++) {
    int64_t r = ix[i];
    if (r < 0 || r >= shape[0]) {
      st = dt_raise(cx, DT_E_INDEX, "index out of range in self");
    } else if (!done[r]) {
      double *row = v + r * shape[1], len = length(row, shape[1], p);
      for (int64_t j = 0; len > max && j < shape[1]; j++)
        row[j] *= max / (len + 1e-7);
      done[r] = true;
    }
  }
  dt_free(cx, done);
  return st;
}

DtStatus dt_k_renorm_rows (DtCtx *cx, DtTensor *table, const DtTensor *indices,
                           double max, double p) {
  DtTensor *ix = NULL, *v = NULL;
  DtMeta m;
  void *d;
  DtStatus st;
  dt_meta_copy(&m, &table->m);
  m.dtype = DT_F64;
  m.device = DT_DEV_CPU;
  dt_meta_set_contiguous(&m);
  DT_TRYG(cx, dt_kernel_dense(cx, indices, DT_I64, &ix));
  DT_TRYG(cx, dt_tensor_new(cx, &m, false, &v));
  DT_TRYG(cx, dt_k_copy(cx, table, v));
  DT_TRYG(cx, dt_tensor_data(cx, v, &d));
  DT_TRYG(cx, cut(cx, d, dt_tensor_cdata(ix), dt_meta_numel(&ix->m), m.shape,
                  max, p));
  DT_TRYG(cx, dt_k_copy(cx, v, table));
done:
  dt_tensor_unref(cx, ix);
  dt_tensor_unref(cx, v);
  return st;
}
