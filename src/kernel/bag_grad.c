/* SPDX-License-Identifier: MIT
** kernel/bag_grad.c: gradients of bags of rows, for the table and for the
** numbers its rows are multiplied by.
**
** A row of the table gathers from every bag that names it, in the order of the
** indices, in double, and is rounded once. */
#include <string.h>
#include "kernel/bag.h"
#include "kernel/kernel_int.h"

typedef struct Grad {
  const DtBagGrad *k;
  DtTensor *grad, *indices, *bags, *count, *largest, *scale, *sum;  /* owned */
  const double *g, *s;
  const int64_t *ix, *cnt, *top;
  int64_t *bag;                 /* [n] */
  int64_t n, nbags, len, rows;
} Grad;

static void grad_fini (DtCtx *cx, Grad *b) {
  dt_tensor_unref(cx, b->grad);
  dt_tensor_unref(cx, b->indices);
  dt_tensor_unref(cx, b->bags);
  dt_tensor_unref(cx, b->count);
  dt_tensor_unref(cx, b->largest);
  dt_tensor_unref(cx, b->scale);
  dt_tensor_unref(cx, b->sum);
  dt_free(cx, b->bag);
}

/* Integers of t; NULL without it.  `want`: how many there must be. */
static DtStatus whole (DtCtx *cx, const DtTensor *t, int64_t want,
                       DtTensor **dense, const int64_t **out) {
  *out = NULL;
  if (t == NULL) return DT_OK;
  DT_CHECK(cx, want < 0 || dt_meta_numel(&t->m) == want, DT_E_RUNTIME,
           "embedding_bag: expected %lld numbers of the forward call, but got "
           "%lld", (long long)want, (long long)dt_meta_numel(&t->m));
  DT_TRY(cx, dt_kernel_dense(cx, t, DT_I64, dense));
  *out = dt_tensor_cdata(*dense);
  return DT_OK;
}

/* Which bag each index belongs to. */
static DtStatus find_bags (DtCtx *cx, Grad *b) {
  const DtTensor *told = b->k->bag_of;
  bool by_offset = dt_meta_numel(&told->m) != b->n;
  const int64_t *v;
  int64_t noff = dt_meta_numel(&b->k->offsets->m);
  b->bag = dt_calloc(cx, (size_t)b->n + 1, sizeof *b->bag);
  if (b->bag == NULL) return DT_E_NOMEM;
  DT_TRY(cx, whole(cx, by_offset ? b->k->offsets : told, -1, &b->bags, &v));
  for (int64_t i = 0, at = -1; i < b->n; i++) {
    while (by_offset && at + 1 < noff && v[at + 1] <= i) at++;
    b->bag[i] = by_offset ? at : v[i];
    DT_CHECK(cx, b->bag[i] >= 0, DT_E_RUNTIME, "offsets[0] has to be 0, i.e., "
             "the first sequence in the mini-batch has to start from position "
             "0. However, got %lld", (long long)(noff > 0 ? v[0] : 0));
    if (b->bag[i] >= b->nbags) b->bag[i] = -1;  /* behind the last offset */
  }
  return DT_OK;
}

static DtStatus grad_init (DtCtx *cx, const DtBagGrad *k, int64_t rows,
                           Grad *b) {
  memset(b, 0, sizeof *b);
  b->k = k;
  b->n = dt_meta_numel(&k->indices->m);
  b->nbags = k->grad->m.shape[0];
  b->len = k->grad->m.shape[1];
  b->rows = rows;
  DT_TRY(cx, dt_ctx_poll(cx));
  DT_TRY(cx, dt_kernel_dense(cx, k->grad, DT_F64, &b->grad));
  b->g = dt_tensor_cdata(b->grad);
  DT_TRY(cx, whole(cx, k->indices, -1, &b->indices, &b->ix));
  DT_TRY(cx, whole(cx, k->count, b->nbags, &b->count, &b->cnt));
  DT_TRY(cx, whole(cx, k->largest, b->nbags * b->len, &b->largest, &b->top));
  if (k->scale != NULL) {
    DT_CHECK(cx, dt_meta_numel(&k->scale->m) == b->n, DT_E_RUNTIME,
             "embedding_bag: %lld weights for %lld indices",
             (long long)dt_meta_numel(&k->scale->m), (long long)b->n);
    DT_TRY(cx, dt_kernel_dense(cx, k->scale, DT_F64, &b->scale));
    b->s = dt_tensor_cdata(b->scale);
  }
  for (int64_t i = 0; i < b->n; i++)
    DT_CHECK(cx, b->ix[i] >= 0 && b->ix[i] < rows, DT_E_RUNTIME,
             "embedding_bag: Expected idx >= 0 && idx < num_embeddings but "
             "found idx to be %lld", (long long)b->ix[i]);
  return find_bags(cx, b);
}

/* Doubles of the shape of `like`, all 0; b->sum holds them. */
static DtStatus zeros (DtCtx *cx, const DtTensor *like, Grad *b, double **out) {
  DtMeta m;
  void *p;
  dt_meta_copy(&m, &like->m);
  m.dtype = DT_F64;
  m.device = DT_DEV_CPU;
  dt_meta_set_contiguous(&m);
  DT_TRY(cx, dt_tensor_new(cx, &m, false, &b->sum));
  DT_TRY(cx, dt_k_fill(cx, b->sum, dt_scalar_int(0)));
  DT_TRY(cx, dt_tensor_data(cx, b->sum, &p));
  *out = p;
  return DT_OK;
}

/* Every bag to the rows its largest elements are of. */
static DtStatus to_largest (DtCtx *cx, const Grad *b, double *out) {
  for (int64_t i = 0; i < b->nbags * b->len; i++) {
    int64_t row = b->top[i];
    if (b->cnt[i / b->len] == 0) continue;
    DT_CHECK(cx, row >= 0 && row < b->rows, DT_E_RUNTIME,
             "embedding_bag: Expected idx >= 0 && idx < num_embeddings but "
             "found idx to be %lld", (long long)row);
    out[row * b->len + i % b->len] += b->g[i];
  }
  return DT_OK;
}

/* times[rows] := what each row's gradient is divided by: how often a row was
** asked for.  Which row: for the i-th that was, PyTorch looks at the i-th of
** the sorted indices, where rows asked for twice occur twice; its numbers are
** kept. */
static void divisors (int64_t *times, int64_t *div, int64_t rows) {
  int64_t at = 0, end = rows > 0 ? times[0] : 0, i = 0;
  for (int64_t r = 0; r < rows; r++) {
    if (times[r] == 0) continue;
    while (i >= end) end += times[++at];
    div[r] = times[at];
    i++;
  }
}

static DtStatus to_rows (DtCtx *cx, const Grad *b, double *out) {
  int64_t *times = dt_calloc(cx, 2 * (size_t)b->rows + 1, sizeof *times);
  if (times == NULL) return DT_E_NOMEM;
  for (int64_t i = 0; i < b->n; i++) times[b->ix[i]]++;
  divisors(times, times + b->rows, b->rows);
  for (int64_t i = 0; i < b->n; i++) {
    int64_t bag = b->bag[i];
    double f = b->s != NULL ? b->s[i] : 1;
    if (bag < 0 || b->ix[i] == b->k->padding) continue;
    if (b->k->by_count) f /= (double)times[b->rows + b->ix[i]];
    if (b->k->mode == DT_BAG_MEAN) f /= (double)b->cnt[bag];
    for (int64_t j = 0; j < b->len; j++)
      out[b->ix[i] * b->len + j] += f * b->g[bag * b->len + j];
  }
  dt_free(cx, times);
  return DT_OK;
}

DtStatus dt_k_bag_backward (DtCtx *cx, const DtBagGrad *k, DtTensor *out) {
  Grad b;
  double *v;
  DtStatus st;
  DT_TRYG(cx, grad_init(cx, k, out->m.shape[0], &b));
  DT_TRYG(cx, zeros(cx, out, &b, &v));
  DT_TRYG(cx, k->mode == DT_BAG_MAX ? to_largest(cx, &b, v)
                                    : to_rows(cx, &b, v));
  DT_TRYG(cx, dt_k_copy(cx, b.sum, out));
done:
  grad_fini(cx, &b);
  return st;
}

DtStatus dt_k_bag_scale_backward (DtCtx *cx, const DtBagGrad *k,
                                  const DtTensor *weight, DtTensor *out) {
  Grad b;
  DtTensor *w = NULL;
  double *v;
  DtStatus st;
  DT_TRYG(cx, grad_init(cx, k, weight->m.shape[0], &b));
  DT_TRYG(cx, zeros(cx, out, &b, &v));
  DT_TRYG(cx, dt_kernel_dense(cx, weight, DT_F64, &w));
  const double *row = dt_tensor_cdata(w);
  for (int64_t i = 0; i < b.n; i++)
    for (int64_t j = 0; b.bag[i] >= 0 && b.ix[i] != k->padding && j < b.len;
         j++)
      v[i] += b.g[b.bag[i] * b.len + j] * row[b.ix[i] * b.len + j];
  DT_TRYG(cx, dt_k_copy(cx, b.sum, out));
done:
  dt_tensor_unref(cx, w);
  grad_fini(cx, &b);
  return st;
}
