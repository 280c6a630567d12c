/* SPDX-License-Identifier: MIT
** kernel/movement.c: cat, padding, flip, roll: copies between parts of
** tensors.
**
** Each is a few copies of views made on the stack; only flip, for which no
** view exists, walks by itself. */

#include <string.h>
#include "kernel/kernel_int.h"

/* An empty 1-D tensor has no say in cat: PyTorch's old rule. */
static bool is_skipped (const DtTensor *t) {
  return t->m.ndim == 1 && t->m.shape[0] == 0;
}

DtStatus dt_k_cat (DtCtx *cx, int n, const DtTensor *const *in, int dim,
                   DtTensor *out) {
  int64_t at = 0;
  for (int i = 0; i < n; i++) {
    if (is_skipped(in[i])) continue;
    DtTensor v = dt_stack_view(out);
    dt_stack_narrow(&v, dim, at, in[i]->m.shape[dim]);
    DT_TRY(cx, dt_k_copy(cx, in[i], &v));
    at += in[i]->m.shape[dim];
  }
  return DT_OK;
}

/* pad[0], pad[1]: before and after in the last dim, and so on; negative pads
** crop. */
DtStatus dt_k_constant_pad (DtCtx *cx, const DtTensor *a, int npad,
                            const int64_t *pad, DtScalar value,
                            DtTensor *out) {
  DtTensor s = dt_stack_view(a), d = dt_stack_view(out);
  DT_TRY(cx, dt_k_fill(cx, out, value));
  for (int i = 0; i < npad / 2; i++) {
    int dim = a->m.ndim - 1 - i;
    int64_t lo = pad[2 * i], hi = pad[2 * i + 1];
    int64_t cut_lo = lo < 0 ? -lo : 0, cut_hi = hi < 0 ? -hi : 0;
    int64_t len = a->m.shape[dim] - cut_lo - cut_hi;
    if (len <= 0) return DT_OK;
    dt_stack_narrow(&s, dim, cut_lo, len);
    dt_stack_narrow(&d, dim, lo > 0 ? lo : 0, len);
  }
  return dt_k_copy(cx, &s, &d);
}

/* ---- roll ------------------------------------------------------------------ */

typedef struct Roll {
  int n;                        /* dims that move */
  int dim[DT_MAX_NDIM];
  int64_t shift[DT_MAX_NDIM];   /* in [1, size) */
} Roll;

/* Split along each rolled dim in turn: both parts keep their inner order. */
static DtStatus roll_part (DtCtx *cx, const Roll *r, int k, const DtTensor *s,
                           const DtTensor *d) {
  if (k == r->n) {
    DtTensor out = dt_stack_view(d);
    return dt_k_copy(cx, s, &out);
  }
  int dim = r->dim[k];
  int64_t size = s->m.shape[dim], shift = r->shift[k];
  DtTensor s1 = dt_stack_view(s), d1 = dt_stack_view(d);
  dt_stack_narrow(&s1, dim, 0, size - shift);
  dt_stack_narrow(&d1, dim, shift, size - shift);
  DT_TRY(cx, roll_part(cx, r, k + 1, &s1, &d1));
  DtTensor s2 = dt_stack_view(s), d2 = dt_stack_view(d);
  dt_stack_narrow(&s2, dim, size - shift, shift);
  dt_stack_narrow(&d2, dim, 0, shift);
  return roll_part(cx, r, k + 1, &s2, &d2);
}

/* The same dim may be given twice: shifts add up. */
static void roll_init (Roll *r, const DtTensor *a, int n,
                       const int64_t *shift, const int64_t *dims) {
  int64_t total[DT_MAX_NDIM] = {0};
  for (int i = 0; i < n; i++) {
    int64_t d = dims[i] < 0 ? dims[i] + a->m.ndim : dims[i];
    int64_t size = a->m.shape[d], s = shift[i] % size;
    total[d] = (total[d] + s + size) % size;
  }
  r->n = 0;
  for (int d = 0; d < a->m.ndim; d++) {
    if (total[d] == 0) continue;
    r->dim[r->n] = d;
    r->shift[r->n++] = total[d];
  }
}

/* dims is not empty: the flattening form is two views for the caller. */
DtStatus dt_k_roll (DtCtx *cx, const DtTensor *a, int n, const int64_t *shift,
                    const int64_t *dims, DtTensor *out) {
  Roll r;
  if (dt_meta_numel(&a->m) == 0) return DT_OK;
  roll_init(&r, a, n, shift, dims);
  return roll_part(cx, &r, 0, a, out);
}

/* ---- flip ------------------------------------------------------------------- */

DtStatus dt_k_flip (DtCtx *cx, const DtTensor *a, uint32_t dims,
                    DtTensor *out) {
  void *o;
  const void *p = NULL;
  DT_TRY(cx, dt_kernel_data(cx, out, &o, 1, &a, &p));
  if (o == NULL) return DT_OK;
  int nd = a->m.ndim;
  int64_t es = (int64_t)dt_dtype_size((DtDtype)a->m.dtype);
  int64_t count[DT_MAX_NDIM] = {0};
  int64_t is[DT_MAX_NDIM], os[DT_MAX_NDIM];
  const char *s = p;
  char *d = o;
  for (int k = 0; k < nd; k++) {
    is[k] = a->m.stride[k] * es;
    os[k] = out->m.stride[k] * es;
    if (!((dims >> k) & 1)) continue;
    s += is[k] * (a->m.shape[k] - 1);           /* start at the far end */
    is[k] = -is[k];
  }
  int64_t n = nd > 0 ? a->m.shape[nd - 1] : 1;
  for (;;) {
    int k = nd - 2;
    dt_run_move((size_t)es, d, nd > 0 ? os[nd - 1] : es, s,
                nd > 0 ? is[nd - 1] : es, n);
    for (; k >= 0; k--) {
      s += is[k];
      d += os[k];
      if (++count[k] < a->m.shape[k]) break;
      count[k] = 0;
      s -= is[k] * a->m.shape[k];
      d -= os[k] * a->m.shape[k];
    }
    if (k < 0) return DT_OK;
  }
}
