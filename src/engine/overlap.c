/* SPDX-License-Identifier: MIT
** engine/overlap.c: tensors that an operator must not write: those whose
** elements share memory (expanded ones), and those that share part of it with
** an input.
**
** PyTorch refuses before it looks at shapes; a few operators do not look.
** Only what is plain to see counts, as there: a stride of 0, and two dense
** tensors whose ranges of memory meet.  The same memory is refused only by
** operators that read what they have written already. */
#include "engine/engine_int.h"

#include <string.h>

static bool starts_with (const char *name, const char *prefix) {
  return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Operators that write into expanded tensors. */
static bool writes_expanded (const DtOpDef *op) {
  static const char *const names[] = {
    "_foreach_zero_", "as_strided_", "detach_", "fill_", "fill_diagonal_",
    "index_fill_", "index_put_", "masked_fill_", "resize_", "resize_as_",
    "set_", "tril_", "triu_", "zero_"
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(op->sig->base, names[i]) == 0) return true;
  return false;
}

/* Operators that write without looking. */
static bool skips_overlap_check (const DtOpDef *op) {
  const char *base = op->sig->base;
  return (op->flags & (DT_OP_VIEW | DT_OP_CUSTOM)) != 0 ||
         strcmp(op->sig->ns, "aten") != 0 ||
         (base[0] == '_' && !starts_with(base, "_foreach_"));
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

/* How an operator looks at what it reads. */
typedef enum Apart {
  MAY_OVERLAP,                  /* it does not */
  NOT_PARTLY,                   /* the same memory is as good as other memory */
  NOT_AT_ALL,                   /* it reads what it has written */
  NOT_BUT_SELF,                 /* the same, but `self` is what it starts with */
  NOT_SELF                      /* that counts for `self`, others not partly */
} Apart;

/* Operators that are no pointwise ones, whichever form writes. */
static Apart read_apart (const DtOpDef *op) {
  static const struct { const char *base; Apart apart; } rows[] = {
    { "aminmax", NOT_PARTLY }, { "cat", NOT_AT_ALL }, { "copy_", NOT_PARTLY },
    { "cumprod", NOT_PARTLY }, { "cumsum", NOT_PARTLY },
    { "gather", NOT_SELF }, { "index", NOT_AT_ALL },
    { "index_add", NOT_BUT_SELF }, { "index_copy", NOT_BUT_SELF },
    { "index_put", NOT_BUT_SELF }, { "index_reduce", NOT_BUT_SELF },
    { "index_select", NOT_AT_ALL }, { "kthvalue", NOT_AT_ALL },
    { "linalg_cross", NOT_AT_ALL }, { "logcumsumexp", NOT_PARTLY },
    { "masked_select", NOT_AT_ALL }, { "median", NOT_PARTLY },
    { "mode", NOT_PARTLY }, { "nanmedian", NOT_PARTLY },
    { "nonzero", NOT_AT_ALL },
    { "put", NOT_BUT_SELF }, { "scatter", NOT_BUT_SELF },
    { "scatter_add", NOT_BUT_SELF }, { "scatter_reduce", NOT_BUT_SELF },
    { "sort", NOT_PARTLY }, { "stack", NOT_AT_ALL }, { "take", NOT_AT_ALL },
    { "topk", NOT_PARTLY }
  };
  const char *base = op->sig->base;
  size_t n = strlen(base);
  if ((op->flags & DT_OP_POINTWISE) != 0) return NOT_PARTLY;
  if (op->sig->inplace && n > 1 && base[n - 1] == '_' &&
      strcmp(base, "copy_") != 0)
    n--;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (strncmp(base, rows[i].base, n) == 0 && rows[i].base[n] == '\0')
      return rows[i].apart;
  return MAY_OVERLAP;
}

static bool same_memory (const DtTensor *a, const DtTensor *b) {
  return a->storage == b->storage && a->offset == b->offset &&
         dt_meta_numel(&a->m) > 0 && dt_meta_numel(&b->m) > 0 &&
         dt_meta_is_dense(&a->m) && dt_meta_is_dense(&b->m);
}

/* A call that writes. */
typedef struct Write {
  DtSession *s;
  const DtOpDef *op;
  Apart apart;
  int nin;
  DtTensor *const *in;
} Write;

/* One number at the places of a mask, nothing added: index_put fills, and does
** not look. */
static bool fills_mask (const Write *w, const DtArgs *args) {
  return strncmp(w->op->sig->base, "index_put", 9) == 0 && w->nin == 3 &&
         w->in[1] != NULL && w->in[2] != NULL &&
         w->in[1]->m.dtype == DT_BOOL && dt_meta_numel(&w->in[2]->m) == 1 &&
         !dt_arg_bool(args, 3);
}

/* The tensor in slot `at` is written. */
static DtStatus check_read (const Write *w, int at) {
  const DtTensor *t = w->in[at];
  for (int i = 0; i < w->nin && w->apart != MAY_OVERLAP; i++) {
    const DtTensor *x = w->in[i];
    if (x == NULL || i == at || (w->apart == NOT_BUT_SELF && i == 0)) continue;
    bool same = w->apart != NOT_PARTLY && (w->apart != NOT_SELF || i == 0) &&
                same_memory(t, x);
    DT_CHECK(w->s->cx, !same && (x == t || !overlaps_partly(t, x)),
             DT_E_RUNTIME, "unsupported operation: some elements of the input "
             "tensor and the written-to tensor refer to a single memory "
             "location. Please clone() the tensor before performing the "
             "operation.");
  }
  return DT_OK;
}

static DtStatus check_written (const Write *w, int at) {
  DT_CHECK(w->s->cx, writes_expanded(w->op) || !is_expanded(&w->in[at]->m),
           DT_E_RUNTIME, "unsupported operation: more "
           "than one element of the written-to tensor refers to a single "
           "memory location. Please clone() the tensor before performing the "
           "operation.");
  return check_read(w, at);
}

static DtStatus check_value (const Write *w, const DtValue *v) {
  if (v->kind == DT_V_LIST) {
    for (int i = 0; i < v->u.list.n; i++)
      DT_TRY(w->s->cx, check_value(w, &v->u.list.v[i]));
    return DT_OK;
  }
  if (v->kind != DT_V_TENSOR || v->u.slot < 0 || w->in[v->u.slot] == NULL)
    return DT_OK;
  return check_written(w, v->u.slot);
}

DtStatus dt_check_overlap (DtSession *s, const DtOpDef *op,
                           const DtArgs *args, int nin, DtTensor *const *in) {
  const DtSchema *sig = op->sig;
  bool writes = sig->inplace || sig->is_out ||  /* or sort.values(*, values) */
                (sig->nargs > 0 && sig->arg[sig->nargs - 1].write);
  if (!writes || skips_overlap_check(op)) return DT_OK;
  Write w = { s, op, read_apart(op), nin, in };
  if (fills_mask(&w, args)) w.apart = MAY_OVERLAP;
  for (int i = 0; i < sig->nargs; i++) {
    if (!sig->arg[i].write) continue;
    w.nin = args->v[i].kind == DT_V_LIST ? 0 : nin;     /* lists read aside */
    DT_TRY(s->cx, check_value(&w, &args->v[i]));
  }
  return DT_OK;
}
