/* SPDX-License-Identifier: MIT
** kernel/bag.c: bags of rows of a table: their sum, mean or largest elements.
**
** Bag b holds the rows named by indices[offsets[b] .. end).  Rows of padding
** count for nothing.  Sums are made in double, in the order of the indices,
** and rounded once. */
#include <string.h>
#include "kernel/bag.h"
#include "kernel/kernel_int.h"

typedef struct Bags {
  const DtBagCall *k;
  DtTensor *weight, *indices, *offsets, *scale, *sum;   /* dense, owned */
  const double *w, *s;
  const int64_t *ix, *off;
  double *out;
  int64_t rows, len, n, nbags;
} Bags;

static void bags_fini (DtCtx *cx, Bags *b) {
  dt_tensor_unref(cx, b->weight);
  dt_tensor_unref(cx, b->indices);
  dt_tensor_unref(cx, b->offsets);
  dt_tensor_unref(cx, b->scale);
  dt_tensor_unref(cx, b->sum);
}

static DtStatus bags_init (DtCtx *cx, const DtBagCall *k, Bags *b) {
  DtMeta m;
  void *p;
  b->k = k;
  b->rows = k->weight->m.shape[0];
  b->len = k->weight->m.shape[1];
  b->n = dt_meta_numel(&k->indices->m);
  b->nbags = k->out->m.shape[0];
  dt_meta_copy(&m, &k->out->m);
  m.dtype = DT_F64;
  m.device = DT_DEV_CPU;
  dt_meta_set_contiguous(&m);
  DT_TRY(cx, dt_kernel_dense(cx, k->weight, DT_F64, &b->weight));
  DT_TRY(cx, dt_kernel_dense(cx, k->indices, DT_I64, &b->indices));
  DT_TRY(cx, dt_kernel_dense(cx, k->offsets, DT_I64, &b->offsets));
  if (k->scale != NULL)
    DT_TRY(cx, dt_kernel_dense(cx, k->scale, DT_F64, &b->scale));
  DT_TRY(cx, dt_tensor_new(cx, &m, false, &b->sum));
  DT_TRY(cx, dt_k_fill(cx, b->sum, dt_scalar_int(0)));
  DT_TRY(cx, dt_tensor_data(cx, b->sum, &p));
  b->out = p;
  b->w = dt_tensor_cdata(b->weight);
  b->ix = dt_tensor_cdata(b->indices);
  b->off = dt_tensor_cdata(b->offsets);
  b->s = b->scale != NULL ? dt_tensor_cdata(b->scale) : NULL;
  return DT_OK;
}

/* The last bag goes to the end of the indices even when its end was given,
** as in PyTorch; only its sum stops there (sum_end). */
static int64_t bag_end (const Bags *b, int64_t bag) {
  return bag + 1 < b->nbags ? b->off[bag + 1] : b->n;
}

/* Where the sum of a bag stops. */
static int64_t sum_end (const Bags *b, int64_t bag) {
  return b->k->last_given ? b->off[bag + 1] : bag_end(b, bag);
}

static DtStatus check_offsets (DtCtx *cx, const Bags *b) {
  int64_t last = dt_meta_numel(&b->k->offsets->m) - 1;
  DT_CHECK(cx, b->k->offsets->m.ndim == 1, DT_E_RUNTIME, "offsets has to be a "
           "1D Tensor, but got Tensor of dimension %d",
           b->k->offsets->m.ndim);
  if (last < 0) return DT_OK;
  DT_CHECK(cx, b->off[0] == 0, DT_E_RUNTIME, "offsets[0] has to be 0, i.e., "
           "the first sequence in the mini-batch has to start from position 0. "
           "However, got %lld", (long long)b->off[0]);
  DT_CHECK(cx, b->off[last] <= b->n, DT_E_RUNTIME, "offsets[-1] can not be "
           "greater than input's length %lld but got offsets[-1] of %lld",
           (long long)b->n, (long long)b->off[last]);
  for (int64_t i = 1; i <= last; i++)
    DT_CHECK(cx, b->off[i] >= b->off[i - 1], DT_E_RUNTIME, "offsets must not "
             "fall, but offsets[%lld] is %lld and the one before it %lld",
             (long long)i, (long long)b->off[i], (long long)b->off[i - 1]);
  return DT_OK;
}

static DtStatus check_rows (DtCtx *cx, const Bags *b) {
  for (int64_t i = 0; i < b->n; i++) {
    bool ok = b->ix[i] >= 0 && b->ix[i] < b->rows;
    DT_CHECK(cx, ok || b->k->mode != DT_BAG_MAX, DT_E_RUNTIME,
             "embedding_bag: Expected idx >= 0 && idx < num_embeddings but "
             "found idx to be %lld", (long long)b->ix[i]);
    DT_CHECK(cx, ok, DT_E_RUNTIME, "Index %lld of input takes value %lld which "
             "is not in the valid range [0, %lld)", (long long)i,
             (long long)b->ix[i], (long long)b->rows);
  }
  return DT_OK;
}

/* Element by element the larger of what the bag has and one row. */
static void keep_larger (const double *row, int64_t r, int64_t len,
                         bool first, double *out, int64_t *largest) {
  for (int64_t k = 0; k < len; k++)
    if (first || row[k] > out[k]) {
      out[k] = row[k];
      if (largest != NULL) largest[k] = r;
    }
}

/* One bag into out[len]; how many rows it holds. */
static int64_t fill_bag (const Bags *b, int64_t bag, double *out,
                         int64_t *largest) {
  int64_t count = 0;
  for (int64_t i = b->off[bag]; i < bag_end(b, bag); i++) {
    const double *row = b->w + b->ix[i] * b->len;
    double f = b->s != NULL ? b->s[i] : 1;
    if (b->ix[i] == b->k->padding) continue;
    if (b->k->mode == DT_BAG_MAX)
      keep_larger(row, b->ix[i], b->len, count == 0, out, largest);
    else if (i < sum_end(b, bag))
      for (int64_t k = 0; k < b->len; k++) out[k] += f * row[k];
    count++;
  }
  if (b->k->mode == DT_BAG_MEAN && count > 0)
    for (int64_t k = 0; k < b->len; k++) out[k] /= (double)count;
  return count;
}

DtStatus dt_k_bag (DtCtx *cx, const DtBagCall *k) {
  Bags b;
  DtStatus st;
  memset(&b, 0, sizeof b);
  DT_TRYG(cx, dt_ctx_poll(cx));
  DT_TRYG(cx, bags_init(cx, k, &b));
  DT_TRYG(cx, check_offsets(cx, &b));
  DT_TRYG(cx, check_rows(cx, &b));
  for (int64_t bag = 0; bag < b.nbags; bag++) {
    int64_t n = fill_bag(&b, bag, b.out + bag * b.len,
                         k->largest != NULL ? k->largest + bag * b.len : NULL);
    if (k->count != NULL) k->count[bag] = n;
    for (int64_t i = b.off[bag]; k->bag_of != NULL && i < bag_end(&b, bag); i++)
      k->bag_of[i] = bag;
  }
  DT_TRYG(cx, dt_k_copy(cx, b.sum, k->out));
done:
  bags_fini(cx, &b);
  return st;
}
