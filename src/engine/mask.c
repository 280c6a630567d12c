/* SPDX-License-Identifier: MIT
** engine/mask.c: masked partial values: an embedding table cut by rows.
**
** Going from Replicate to MaskPartial keeps which indices are not this rank's
** and points them at row 0; reducing zeroes those rows first.  The mask lives
** in the buffer that both placements of the operator share, counted, so a
** second user must bring the same mask. */
#include "engine/engine_int.h"

#include <string.h>
#include "mesh/layout.h"

static void mask_free (DtCtx *cx, void *data) { dt_tensor_unref(cx, data); }

/* Keep a mask in the buffer; a second one must be equal. */
static DtStatus mask_materialize (DtSession *s, DtMaskBuf *b, DtTensor *m) {
  if (b->uses == 0) {
    if (b->data != NULL) mask_free(s->cx, b->data);
    b->data = dt_tensor_ref(m);
    b->data_free = mask_free;
  } else {
    DT_CHECK(s->cx, b->data != NULL, DT_E_ASSERT, "%s", "");
    DT_CHECK(s->cx, !dt_tensor_has_data(m) ||
                      dt_tensor_identical(b->data, m), DT_E_RUNTIME,
             "MaskBuffer has been materialized with conflicting data");
  }
  b->uses++;
  return DT_OK;
}

static void mask_release (DtSession *s, DtMaskBuf *b) {
  if (--b->uses > 0) return;
  mask_free(s->cx, b->data);
  b->data = NULL;
}

/* The mask's dims are the tensor's first ones. */
static DtStatus mask_fits (DtCtx *cx, const DtMeta *mask, const DtMeta *t) {
  DT_CHECK(cx, mask->ndim <= t->ndim, DT_E_INDEX,
           "too many indices for tensor of dimension %d", t->ndim);
  for (int d = 0; d < mask->ndim; d++) {
    if (mask->shape[d] == t->shape[d]) continue;
    DtBuf a, b;
    DtStatus st;
    dt_buf_init(&a, cx);
    dt_buf_init(&b, cx);
    dt_buf_add_i64s(&a, mask->shape, mask->ndim);
    dt_buf_add_i64s(&b, t->shape, t->ndim);
    st = dt_raise(cx, DT_E_INDEX, "The shape of the mask %s at index %d does "
                  "not match the shape of the indexed tensor %s at index %d",
                  dt_buf_str(&a), d, dt_buf_str(&b), d);
    dt_buf_fini(&a);
    dt_buf_fini(&b);
    return st;
  }
  return DT_OK;
}

/* Zero what the mask marks, in place. */
static DtStatus mask_apply (DtSession *s, DtMaskBuf *b, DtTensor *t) {
  DtTensor *mask = b->data;
  int64_t n = dt_meta_numel(&mask->m), total = dt_meta_numel(&t->m);
  size_t inner;
  const uint8_t *flag;
  char *p;
  void *data;
  DT_TRY(s->cx, mask_fits(s->cx, &mask->m, &t->m));
  if (!dt_tensor_has_data(t) || n == 0 || total == 0) return DT_OK;
  DT_CHECK(s->cx, total % n == 0 && dt_meta_is_contiguous(&t->m),
           DT_E_INTERNAL, "the mask does not fit the tensor");
  DT_TRY(s->cx, dt_tensor_data(s->cx, t, &data));
  flag = dt_tensor_cdata(mask);
  inner = (size_t)(total / n) * dt_dtype_size((DtDtype)t->m.dtype);
  p = data;
  for (int64_t i = 0; i < n; i++)
    if (flag[i]) memset(p + inner * (size_t)i, 0, inner);
  return DT_OK;
}

/* Indices of this rank's rows; the others masked and set to 0. */
static void mask_fill (const DtTensor *idx, int64_t off, int64_t len,
                       uint8_t *flag, char *out) {
  DtDtype d = (DtDtype)idx->m.dtype;
  size_t size = dt_dtype_size(d);
  const char *in = dt_tensor_cdata(idx);
  int64_t n = dt_meta_numel(&idx->m);
  for (int64_t i = 0; i < n; i++) {
    int64_t v = dt_dtype_load(d, in + size * (size_t)i).i;
    flag[i] = v < off || v >= off + len;
    dt_dtype_store(d, out + size * (size_t)i,
                   dt_scalar_int(flag[i] ? 0 : v - off));
  }
}

DtStatus dt_mask_partition (DtSession *s, DtTensor *t, const DtMesh *m,
                            int mdim, DtPlacement p, DtTensor **out) {
  DtCtx *cx = s->cx;
  DtMaskBuf *b = p.u.mask;
  DtTensor *c = NULL, *mask = NULL, *res = NULL;
  void *flag, *data;
  int64_t len, off;
  DtMeta bm;
  DtStatus st;
  int dim;
  DT_CHECK(cx, b != NULL && b->ndim >= 0, DT_E_ASSERT,
           "offset_shape needs to be set for _MaskPartial");
  dim = b->dim < 0 ? b->dim + b->ndim : b->dim;
  DT_CHECK(cx, dim >= 0 && dim < b->ndim, DT_E_INDEX,
           "tuple index out of range");
  dt_shard_size(b->shape[dim], m->shape[mdim], m->coord[mdim], &len, &off);
  DT_TRY(cx, dt_mv_contiguous(s, t, &c));
  st = dt_meta_init(cx, &bm, DT_BOOL, c->m.ndim, c->m.shape);
  if (st == DT_OK) st = dt_tensor_new(cx, &bm, dt_session_no_data(s), &mask);
  if (st == DT_OK) st = dt_mv_empty(s, &c->m, c->m.ndim, c->m.shape, &res);
  if (st == DT_OK && dt_tensor_has_data(c) && dt_meta_numel(&c->m) > 0) {
    st = dt_tensor_data(cx, mask, &flag);
    if (st == DT_OK) st = dt_tensor_data(cx, res, &data);
    if (st == DT_OK) mask_fill(c, off, len, flag, data);
  }
  if (st == DT_OK) st = mask_materialize(s, b, mask);
  dt_tensor_unref(cx, c);
  dt_tensor_unref(cx, mask);
  if (st != DT_OK) dt_tensor_unref(cx, res);
  else *out = res;
  return st;
}

DtStatus dt_mask_apply (DtSession *s, DtMaskBuf *b, DtTensor *t,
                        DtTensor **out) {
  DtTensor *c;
  DtStatus st;
  DT_CHECK(s->cx, b != NULL && b->data != NULL && b->uses > 0, DT_E_ASSERT,
           "%s", "");
  DT_TRY(s->cx, dt_mv_contiguous(s, t, &c));
  st = mask_apply(s, b, c);
  if (st != DT_OK) {
    dt_tensor_unref(s->cx, c);
    return st;
  }
  mask_release(s, b);
  *out = c;
  return DT_OK;
}
