/* SPDX-License-Identifier: MIT
** engine/overlap.c: tensors that an operator must not write: those whose
** elements share memory (expanded ones), and those that share part of it with
** an input.
**
** PyTorch refuses before it looks at shapes; a few operators do not look.
** Only what is plain to see counts, as there: a stride of 0, and two dense
** tensors whose ranges of memory meet without being the same. */
#include "engine/engine_int.h"

#include <string.h>

static bool starts_with (const char *name, const char *prefix) {
  return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Operators that write without looking. */
static bool skips_overlap_check (const DtOpDef *op) {
  static const char *const names[] = {
    "_foreach_zero_", "as_strided_", "detach_", "fill_", "fill_diagonal_",
    "index_fill_", "index_put_", "masked_fill_", "resize_", "resize_as_",
    "set_", "tril_", "triu_", "zero_"
  };
  const char *base = op->sig->base;
  if ((op->flags & (DT_OP_VIEW | DT_OP_CUSTOM)) != 0 ||
      strcmp(op->sig->ns, "aten") != 0 ||
      (base[0] == '_' && !starts_with(base, "_foreach_")))
    return true;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(base, names[i]) == 0) return true;
  return false;
}

static bool is_expanded (const DtMeta *m) {
  for (int d = 0; d < m->ndim; d++)
    if (m->stride[d] == 0 && m->shape[d] > 1) return dt_meta_numel(m) > 0;
  return false;
}

/* Do two dense tensors share some memory, but not the same? */
static bool overlaps_partly (const DtTensor *a, const DtTensor *b) {
  int64_t na = dt_meta_numel(&a->m), nb = dt_meta_numel(&b->m);
  int64_t sa = (int64_t)dt_dtype_size((DtDtype)a->m.dtype);
  int64_t sb = (int64_t)dt_dtype_size((DtDtype)b->m.dtype);
  if (a->storage != b->storage || na == 0 || nb == 0 ||
      !dt_meta_is_dense(&a->m) || !dt_meta_is_dense(&b->m))
    return false;
  int64_t a0 = a->offset * sa, b0 = b->offset * sb;
  if (a0 >= b0 + nb * sb || b0 >= a0 + na * sa) return false;
  if (a0 != b0 || na * sa != nb * sb || a->m.ndim != b->m.ndim) return true;
  for (int d = 0; d < a->m.ndim; d++)
    if (a->m.stride[d] != b->m.stride[d] && a->m.shape[d] > 1) return true;
  return false;
}

static DtStatus check_written (DtSession *s, const DtOpDef *op,
                               const DtTensor *t, int nin,
                               DtTensor *const *in) {
  DT_CHECK(s->cx, !is_expanded(&t->m), DT_E_RUNTIME,
           "unsupported operation: more "
           "than one element of the written-to tensor refers to a single "
           "memory location. Please clone() the tensor before performing the "
           "operation.");
  if ((op->flags & DT_OP_POINTWISE) == 0 && strcmp(op->sig->base, "copy_") != 0)
    return DT_OK;
  for (int i = 0; i < nin; i++)
    DT_CHECK(s->cx, in[i] == NULL || in[i] == t || !overlaps_partly(t, in[i]),
             DT_E_RUNTIME, "unsupported operation: some elements of the input "
             "tensor and the written-to tensor refer to a single memory "
             "location. Please clone() the tensor before performing the "
             "operation.");
  return DT_OK;
}

static DtStatus check_value (DtSession *s, const DtOpDef *op,
                             const DtValue *v, int nin, DtTensor *const *in) {
  if (v->kind == DT_V_LIST) {
    for (int i = 0; i < v->u.list.n; i++)
      DT_TRY(s->cx, check_value(s, op, &v->u.list.v[i], 0, in));
    return DT_OK;
  }
  if (v->kind != DT_V_TENSOR || v->u.slot < 0 || in[v->u.slot] == NULL)
    return DT_OK;
  return check_written(s, op, in[v->u.slot], nin, in);
}

DtStatus dt_check_overlap (DtSession *s, const DtOpDef *op,
                           const DtArgs *args, int nin, DtTensor *const *in) {
  const DtSchema *sig = op->sig;
  if ((!sig->inplace && !sig->is_out) || skips_overlap_check(op)) return DT_OK;
  for (int i = 0; i < sig->nargs; i++)
    if (sig->arg[i].write)
      DT_TRY(s->cx, check_value(s, op, &args->v[i], nin, in));
  return DT_OK;
}
