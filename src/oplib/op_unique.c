/* SPDX-License-Identifier: MIT
** oplib/op_unique.c: slices along a dim that are the same, anywhere or next to
** each other.  (_unique2, over all elements, is in op_masked.c.)
**
** How many there are depends on data: the kernel makes the results. */
#include <string.h>
#include "kernel/unique.h"
#include "oplib/op_unwritten.h"

/* self as rows: `dim` first (-1: every element is a row).  Caller unrefs. */
static DtStatus as_rows (DtKernelCall *c, int dim, DtTensor **out) {
  const DtMeta *m = &c->in[0]->m;
  DtTensor *turned = NULL, *flat = NULL;
  int64_t shape[DT_MAX_NDIM], stride[DT_MAX_NDIM], two[2] = { 1, 1 }, step[2];
  int n = 0;
  DtStatus st;
  for (int pass = 0; pass < 2; pass++)
    for (int d = 0; d < m->ndim; d++) {
      if ((d == dim) != (pass == 0)) continue;
      shape[n] = m->shape[d];
      stride[n++] = m->stride[d];
      two[dim >= 0 && pass] *= m->shape[d];
    }
  step[0] = two[1];
  step[1] = 1;
  DT_TRYG(c->cx, op_restride(c->cx, c->in[0], n, shape, stride, 0, &turned));
  DT_TRYG(c->cx, op_temp(c->cx, (DtDtype)m->dtype, n, shape, &flat));
  DT_TRYG(c->cx, dt_k_copy(c->cx, turned, flat));
  DT_TRYG(c->cx, op_restride(c->cx, flat, 2, two, step, 0, out));
done:
  dt_tensor_unref(c->cx, turned);
  dt_tensor_unref(c->cx, flat);
  return st;
}

/* Result i, of n dims; `v` its numbers, when it is one of numbers. */
static DtStatus give (DtKernelCall *c, int i, DtDtype t, int n,
                      const int64_t *shape, const int64_t *v) {
  DtMeta m;
  void *p;
  DT_TRY(c->cx, op_new_meta(c->cx, &m, t, n, shape, &c->in[0]->m));
  DT_TRY(c->cx, dt_tensor_new(c->cx, &m, false, &c->made[i]));
  if (v == NULL || dt_meta_numel(&m) == 0) return DT_OK;
  DT_TRY(c->cx, dt_tensor_data(c->cx, c->made[i], &p));
  memcpy(p, v, sizeof *v * (size_t)dt_meta_numel(&m));
  return DT_OK;
}

/* Result 0: a slice of each kind. */
static DtStatus give_kinds (DtKernelCall *c, int dim, const DtUnique *u) {
  const DtMeta *m = &c->in[0]->m;
  DtTensor *ix = NULL, *flat = NULL;
  int64_t shape[DT_MAX_NDIM] = { u->k }, n = dt_meta_numel(m), one = 1;
  void *p;
  DtStatus st;
  if (dim >= 0) memcpy(shape, m->shape, sizeof *shape * (size_t)m->ndim);
  shape[dim >= 0 ? dim : 0] = u->k;
  DT_TRYG(c->cx, give(c, 0, (DtDtype)m->dtype, dim >= 0 ? m->ndim : 1, shape,
                      NULL));
  DT_TRYG(c->cx, op_temp(c->cx, DT_I64, 1, &u->k, &ix));
  if (u->k == 0) goto done;
  DT_TRYG(c->cx, dt_tensor_data(c->cx, ix, &p));
  memcpy(p, u->first, sizeof *u->first * (size_t)u->k);
  if (dim < 0) {
    DT_TRYG(c->cx, op_temp(c->cx, (DtDtype)m->dtype, m->ndim, m->shape, &flat));
    DT_TRYG(c->cx, dt_k_copy(c->cx, c->in[0], flat));
    DtTensor *line = NULL;
    DT_TRYG(c->cx, op_restride(c->cx, flat, 1, &n, &one, 0, &line));
    st = dt_k_index_select(c->cx, line, 0, ix, c->made[0]);
    dt_tensor_unref(c->cx, line);
    goto done;
  }
  DT_TRYG(c->cx, dt_k_index_select(c->cx, c->in[0], dim, ix, c->made[0]));
done:
  dt_tensor_unref(c->cx, ix);
  dt_tensor_unref(c->cx, flat);
  return st;
}

/* Kinds along `dim`; the others where they are wanted, else of size 0. */
static DtStatus run (DtKernelCall *c, int dim, bool consecutive, bool inverse,
                     bool counts) {
  const DtMeta *m = &c->in[0]->m;
  DtTensor *rows = NULL;
  DtUnique u;
  int64_t none = 0;
  DtStatus st;
  memset(&u, 0, sizeof u);
  DT_TRYG(c->cx, as_rows(c, dim, &rows));
  DT_TRYG(c->cx, dt_k_unique_rows(c->cx, rows, consecutive, &u));
  DT_TRYG(c->cx, give_kinds(c, dim, &u));
  if (!inverse) st = give(c, 1, DT_I64, 1, &none, NULL);
  else if (dim >= 0) st = give(c, 1, DT_I64, 1, &u.n, u.group);
  else st = give(c, 1, DT_I64, m->ndim, m->shape, u.group);
  if (st == DT_OK)
    st = give(c, 2, DT_I64, 1, counts ? &u.k : &none, u.count);
done:
  dt_tensor_unref(c->cx, rows);
  dt_unique_free(c->cx, &u);
  return st;
}

static DtStatus along_dim (DtKernelCall *c, int dim, bool consecutive) {
  const DtMeta *m = &c->in[0]->m;
  int none = 0;
  for (int d = 0; d < m->ndim; d++) none += m->shape[d] == 0;
  if (m->shape[dim] == 0)
    DT_CHECK(c->cx, none == 1, DT_E_RUNTIME, "Number of zero sized dimensions "
             "is more than one, so unique cannot be applied ");
  else
    DT_CHECK(c->cx, none == 0, DT_E_RUNTIME, "There are 0 sized dimensions, and "
             "they aren't selected, so unique cannot be applied");
  return run(c, dim, consecutive, true, true);
}

static DtStatus some_dims (const DtKernelCall *c, int64_t dim) {
  DT_CHECK(c->cx, c->in[0]->m.ndim > 0, DT_E_INDEX,
           "Dimension specified as %lld but tensor has no dimensions",
           (long long)dim);
  return DT_OK;
}

static DtStatus dim_kernel (DtKernelCall *c) {
  bool consecutive = strstr(c->op->schema, "consecutive") != NULL;
  int dim;
  DT_TRY(c->cx, some_dims(c, dt_arg_int(c->args, 1)));
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->m.ndim, &dim));
  return along_dim(c, dim, consecutive);
}

static DtStatus consecutive_kernel (DtKernelCall *c) {
  int dim = 0, nd = c->in[0]->m.ndim;
  bool flat = dt_arg_is_none(c->args, 3);
  if (!flat) {
    DT_TRY(c->cx, some_dims(c, dt_arg_int(c->args, 3)));
    DT_TRY(c->cx, op_dim(c->cx, c->args, 3, nd, &dim));
  }
  if (flat || nd <= 1)
    return run(c, -1, true, dt_arg_bool(c->args, 1), dt_arg_bool(c->args, 2));
  return along_dim(c, dim, true);
}

static DtStatus no_grad (DtGradCall *c) {
  return dt_raise(c->e->cx, DT_E_NOTIMPL,
                  "the derivative for '%s' is not implemented.",
                  c->op->sig->base);
}

static const char *const dim_samples[] = { "f32[8, 6], 0", NULL };
#define UNIQUE(id, args_, brief_, kernel_, samples_) \
  OP_DEF(id, "aten::" args_ " -> (Tensor, Tensor, Tensor)", brief_, \
         DT_OP_DATADEP | DT_OP_NOSTRATEGY, NULL, kernel_, no_grad, samples_, \
         .row = NULL)
UNIQUE(unique_consecutive, "unique_consecutive(Tensor self, bool "
       "return_inverse=False, bool return_counts=False, int? dim=None)",
       "Elements that differ from the one before them.", consecutive_kernel,
       op_samples_unary);
UNIQUE(unique_dim, "unique_dim(Tensor self, int dim, bool sorted=True, bool "
       "return_inverse=False, bool return_counts=False)",
       "Distinct slices along a dim, in order.", dim_kernel, dim_samples);
UNIQUE(unique_dim_consecutive, "unique_dim_consecutive(Tensor self, int dim, "
       "bool return_inverse=False, bool return_counts=False)",
       "Slices along a dim that differ from the one before them.", dim_kernel,
       dim_samples);
