/* SPDX-License-Identifier: MIT
** kernel/unique.c: which rows of a matrix are the same. */
#include <string.h>
#include "kernel/kernel_int.h"
#include "kernel/unique.h"

typedef struct Rows {
  const char *data;
  DtDtype t;
  int64_t len;
  size_t size;                  /* of an element */
} Rows;

static DtScalar element (const Rows *r, int64_t row, int64_t i) {
  return dt_dtype_load(r->t, r->data + (size_t)(row * r->len + i) * r->size);
}

/* Does row a come before row b?  The first element that differs says. */
static bool before (const Rows *r, int64_t a, int64_t b) {
  for (int64_t i = 0; i < r->len; i++) {
    DtScalar x = element(r, a, i), y = element(r, b, i);
    if (x.kind < DT_K_FLOAT) {
      if (x.i != y.i) return x.i < y.i;
    } else if (x.re < y.re) {
      return true;
    } else if (x.re > y.re) {
      return false;
    }
  }
  return false;
}

static bool same (const Rows *r, int64_t a, int64_t b) {
  for (int64_t i = 0; i < r->len; i++) {
    DtScalar x = element(r, a, i), y = element(r, b, i);
    if (x.kind < DT_K_FLOAT ? x.i != y.i : x.re != y.re || x.im != y.im)
      return false;
  }
  return true;
}

/* at[0..n-1]: the rows in order, equal ones as they stood; merges runs of 1,
** 2, 4, ... */
static void sort_rows (const Rows *r, int64_t *at, int64_t *room, int64_t n) {
  for (int64_t run = 1; run < n; run *= 2) {
    for (int64_t lo = 0; lo < n; lo += 2 * run) {
      int64_t mid = lo + run < n ? lo + run : n;
      int64_t hi = lo + 2 * run < n ? lo + 2 * run : n, i = lo, j = mid;
      for (int64_t k = lo; k < hi; k++)
        room[k] = i < mid && (j >= hi || !before(r, at[j], at[i])) ? at[i++]
                                                                   : at[j++];
    }
    memcpy(at, room, sizeof *at * (size_t)n);
  }
}

void dt_unique_free (DtCtx *cx, DtUnique *u) {
  dt_free(cx, u->first);
  dt_free(cx, u->group);
  dt_free(cx, u->count);
}

DtStatus dt_k_unique_rows (DtCtx *cx, const DtTensor *t, bool consecutive,
                           DtUnique *out) {
  Rows r = { dt_tensor_cdata(t), (DtDtype)t->m.dtype, t->m.shape[1],
             dt_dtype_size((DtDtype)t->m.dtype) };
  int64_t n = t->m.shape[0], *at = NULL;
  DtStatus st = DT_E_NOMEM;
  memset(out, 0, sizeof *out);
  out->n = n;
  out->first = dt_calloc(cx, (size_t)n + 1, sizeof *out->first);
  out->group = dt_calloc(cx, (size_t)n + 1, sizeof *out->group);
  out->count = dt_calloc(cx, (size_t)n + 1, sizeof *out->count);
  at = dt_calloc(cx, 2 * (size_t)n + 1, sizeof *at);
  if (!out->first || !out->group || !out->count || !at) goto done;
  DT_TRYG(cx, dt_ctx_poll(cx));
  for (int64_t i = 0; i < n; i++) at[i] = i;
  if (!consecutive) sort_rows(&r, at, at + n, n);
  for (int64_t i = 0; i < n; i++) {
    if (i == 0 || !same(&r, at[i], at[i - 1])) out->first[out->k++] = at[i];
    out->group[at[i]] = out->k - 1;
    out->count[out->k - 1]++;
  }
done:
  dt_free(cx, at);
  if (st != DT_OK) {
    dt_unique_free(cx, out);
    memset(out, 0, sizeof *out);
  }
  return st;
}
