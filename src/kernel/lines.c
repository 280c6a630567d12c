/* SPDX-License-Identifier: MIT
** kernel/lines.c: walking the lines of tensors along one dim, and views on the
** stack. */

#include "kernel/kernel_int.h"

static void set_pointers (DtLines *l) {
  for (int k = 0; k < l->it.nops; k++)
    l->p[k] = l->it.ptr[k] + l->i * l->it.inner[k];
}

void dt_lines_init (DtLines *l, int nops, const DtMeta *const *metas,
                    void *const *data, int dim) {
  DtMeta flat[DT_ITER_MAX];
  const DtMeta *pm[DT_ITER_MAX];
  for (int k = 0; k < nops; k++) {
    int64_t es = (int64_t)dt_dtype_size((DtDtype)metas[k]->dtype);
    dt_meta_copy(&flat[k], metas[k]);
    pm[k] = &flat[k];
    l->len[k] = 1;
    l->stride[k] = 0;
    if (dim >= metas[k]->ndim) continue;
    l->len[k] = metas[k]->shape[dim];
    l->stride[k] = metas[k]->stride[dim] * es;
    flat[k].shape[dim] = 1;
  }
  dt_iter_init(&l->it, nops, pm, data);
  l->i = 0;
  l->done = l->it.done;
  if (!l->done) set_pointers(l);
}

void dt_lines_next (DtLines *l) {
  if (++l->i == l->it.n) {
    l->i = 0;
    dt_iter_next(&l->it);
    l->done = l->it.done;
  }
  if (!l->done) set_pointers(l);
}

DtTensor dt_stack_view (const DtTensor *t) {
  DtTensor v = {.refs = 1, .offset = t->offset, .storage = t->storage};
  dt_meta_copy(&v.m, &t->m);
  return v;
}

void dt_stack_narrow (DtTensor *v, int dim, int64_t start, int64_t len) {
  v->offset += start * v->m.stride[dim];
  v->m.shape[dim] = len;
}

void dt_stack_select (DtTensor *v, int dim, int64_t i) {
  v->offset += i * v->m.stride[dim];
  v->m.ndim--;
  for (int d = dim; d < v->m.ndim; d++) {
    v->m.shape[d] = v->m.shape[d + 1];
    v->m.stride[d] = v->m.stride[d + 1];
  }
}
