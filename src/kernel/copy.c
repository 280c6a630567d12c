/* SPDX-License-Identifier: MIT
** kernel/copy.c: copying, converting, filling.
**
** A copy whose source and destination share bytes in different layouts goes
** through a temporary; one with the same layout is done in place. */

#include <string.h>
#include "kernel/kernel_int.h"

/* The writable pointer first: getting it may move `out` to a block of its
** own (copy on write), and an input of the same storage has to be read
** there. */
DtStatus dt_kernel_data (DtCtx *cx, DtTensor *out, void **data, int nin,
                         const DtTensor *const *in, const void **cdata) {
  DT_TRY(cx, dt_ctx_poll(cx));
  DT_TRY(cx, dt_tensor_data(cx, out, data));
  for (int i = 0; i < nin; i++) {
    DT_CHECK(cx, dt_tensor_has_data(in[i]), DT_E_META_NO_DATA,
             "Cannot copy out of meta tensor; no data!");
    cdata[i] = dt_tensor_cdata(in[i]);
  }
  return DT_OK;
}

/* ---- copy ------------------------------------------------------------------ */

static void convert_run (DtDtype dt, char *dst, int64_t ds, DtDtype st,
                         const char *src, int64_t ss, int64_t n) {
  DtC128 buf[DT_RUN_BYTES / sizeof(DtC128)];
  DtClass c = dt_class_of(st);
  int64_t es = (int64_t)dt_class_size(c), block = DT_RUN_BYTES / es;
  if (ss == es && dt_class_is_native(c, st)) {  /* a side that needs no buffer */
    dt_run_store(c, src, dt, dst, ds, n);
    return;
  }
  if (ds == es && dt_class_is_native(c, dt)) {
    dt_run_load(c, dst, st, src, ss, n);
    return;
  }
  for (int64_t i = 0; i < n; i += block) {
    int64_t k = n - i < block ? n - i : block;
    dt_run_load(c, buf, st, src + i * ss, ss, k);
    dt_run_store(c, buf, dt, dst + i * ds, ds, k);
  }
}

/* 32 rows of 32 doubles are 8 KiB a side: both fit in the first-level cache. */
enum { COPY_TILE = 32 };

/* Is this a transposition: the destination dense along dim 0, the source
** along dim 1? */
static bool is_transposed (const DtIter *it, size_t size) {
  return it->ndim >= 2 && it->stride[0][0] == (int64_t)size &&
         it->stride[1][1] == (int64_t)size &&
         it->stride[1][0] != (int64_t)size && it->shape[0] > 8 &&
         it->shape[1] > 8;
}

/* The two inner dims in square tiles, so that both sides stay in cache. */
static void copy_tiles (const DtIter *it, size_t size) {
  int64_t n0 = it->shape[0], n1 = it->shape[1];
  for (int64_t j = 0; j < n1; j += COPY_TILE)
    for (int64_t i = 0; i < n0; i += COPY_TILE) {
      int64_t w0 = n0 - i < COPY_TILE ? n0 - i : COPY_TILE;
      int64_t w1 = n1 - j < COPY_TILE ? n1 - j : COPY_TILE;
      for (int64_t k = j; k < j + w1; k++)
        dt_run_move(size,
                    it->ptr[0] + i * it->stride[0][0] + k * it->stride[0][1],
                    it->stride[0][0],
                    it->ptr[1] + i * it->stride[1][0] + k * it->stride[1][1],
                    it->stride[1][0], w0);
    }
}

/* The outer iterator sees dim 1 as one element, since each call of
** copy_tiles walks all of it; the copy gets its size back. */
static void copy_all (const DtMeta *sm, const void *src, const DtMeta *dm,
                      void *dst) {
  const DtMeta *metas[2] = {dm, sm};
  void *data[2] = {dst, (void *)(uintptr_t)src};
  DtDtype dt = (DtDtype)dm->dtype, st = (DtDtype)sm->dtype;
  size_t size = dt_dtype_size(dt);
  DtIter it;
  dt_iter_init(&it, 2, metas, data);
  if (!it.done && dt == st && is_transposed(&it, size)) {
    DtIter outer = it;
    outer.shape[1] = 1;         /* the tiles walk dims 0 and 1 */
    for (; !outer.done; dt_iter_next(&outer)) {
      DtIter in = outer;
      in.shape[1] = it.shape[1];
      copy_tiles(&in, size);
    }
    return;
  }
  for (; !it.done; dt_iter_next(&it)) {
    if (dt == st)
      dt_run_move(size, it.ptr[0], it.inner[0], it.ptr[1], it.inner[1], it.n);
    else
      convert_run(dt, it.ptr[0], it.inner[0], st, it.ptr[1], it.inner[1],
                  it.n);
  }
}

/* Byte range [lo, hi) that a tensor's elements lie in. */
static void range (const DtTensor *t, const void *p, uintptr_t *lo,
                   uintptr_t *hi) {
  size_t es = dt_dtype_size((DtDtype)t->m.dtype);
  size_t last = 0;
  for (int d = 0; d < t->m.ndim; d++)
    last += (size_t)((t->m.shape[d] - 1) * t->m.stride[d]);
  *lo = (uintptr_t)p;
  *hi = *lo + (last + 1) * es;
}

/* By ranges of bytes: interleaved views that share no element count as
** overlapping, which costs a temporary and is never wrong. */
static bool overlap (const DtTensor *a, const void *pa, const DtTensor *b,
                     const void *pb) {
  uintptr_t alo, ahi, blo, bhi;
  range(a, pa, &alo, &ahi);
  range(b, pb, &blo, &bhi);
  return alo < bhi && blo < ahi;
}

DtStatus dt_kernel_fits (DtCtx *cx, const DtMeta *m, const DtMeta *out) {
  int lead = out->ndim - m->ndim;
  DT_CHECK(cx, lead >= 0, DT_E_SHAPE, "an operand of %d dimensions does not "
           "fit a result of %d", m->ndim, out->ndim);
  for (int d = 0; d < m->ndim; d++)
    DT_CHECK(cx, m->shape[d] == 1 || m->shape[d] == out->shape[d + lead],
             DT_E_SHAPE, "The size of tensor a (%lld) must match the size of "
             "tensor b (%lld) at non-singleton dimension %d",
             (long long)out->shape[d + lead], (long long)m->shape[d],
             d + lead);
  return DT_OK;
}

/* Overlapping source and target go through a copy, except when they are the
** same bytes in the same order, as then there is nothing to do. */
static DtStatus copy_bytes (DtCtx *cx, const DtTensor *src, DtTensor *dst) {
  void *d;
  const void *s = NULL;
  DT_TRY(cx, dt_kernel_data(cx, dst, &d, 1, &src, &s));
  if (d == NULL || s == NULL) return DT_OK;
  DT_TRY(cx, dt_kernel_fits(cx, &src->m, &dst->m));
  if (!overlap(src, s, dst, d)) {
    copy_all(&src->m, s, &dst->m, d);
    return DT_OK;
  }
  if (s == d && dt_meta_equal(&src->m, &dst->m)) return DT_OK;
  DtMeta m;
  dt_meta_copy(&m, &src->m);
  m.device = DT_DEV_CPU;
  dt_meta_set_contiguous(&m);
  size_t nbytes = (size_t)dt_meta_nbytes(&m);
  void *tmp = dt_alloc(cx, nbytes);
  if (tmp == NULL) return DT_E_NOMEM;
  copy_all(&src->m, s, &m, tmp);
  copy_all(&m, tmp, &dst->m, d);
  dt_free(cx, tmp);
  return DT_OK;
}

/* Where the marks differ, what was copied is turned in its place. */
DtStatus dt_k_copy (DtCtx *cx, const DtTensor *src, DtTensor *dst) {
  DtDtype t = (DtDtype)dst->m.dtype;
  int turn = src->marks ^ dst->marks;
  if (turn == 0) return copy_bytes(cx, src, dst);
  if (src->storage == dst->storage) {
    DtTensor *tmp;
    DT_TRY(cx, dt_kernel_resolved(cx, src, &tmp));
    DtStatus st = dt_k_copy(cx, tmp, dst);
    dt_tensor_unref(cx, tmp);
    return st;
  }
  DT_TRY(cx, copy_bytes(cx, src, dst));
  if ((turn & DT_MARK_CONJ) && dt_dtype_is_complex(t))
    DT_TRY(cx, dt_k_unary(cx, DT_U_conj_physical, t, NULL, dst, dst));
  if (turn & DT_MARK_NEG)
    DT_TRY(cx, dt_k_unary(cx, DT_U_neg, t, NULL, dst, dst));
  return DT_OK;
}

DtStatus dt_kernel_resolved (DtCtx *cx, const DtTensor *t, DtTensor **out) {
  DtMeta m;
  DtTensor *r = NULL;
  dt_meta_copy(&m, &t->m);
  dt_meta_strides_like(&m, &t->m);
  DT_TRY(cx, dt_tensor_new(cx, &m, !dt_tensor_has_data(t), &r));
  DtStatus st = dt_tensor_has_data(t) ? dt_k_copy(cx, t, r) : DT_OK;
  if (st != DT_OK) { dt_tensor_unref(cx, r); return st; }
  *out = r;
  return DT_OK;
}

DtStatus dt_kernel_dense (DtCtx *cx, const DtTensor *t, DtDtype dtype,
                          DtTensor **out) {
  if (t->m.dtype == dtype && t->marks == 0 && dt_meta_is_contiguous(&t->m)) {
    *out = dt_tensor_ref((DtTensor *)(uintptr_t)t);
    return DT_OK;
  }
  DtMeta m;
  DtTensor *r = NULL;
  dt_meta_copy(&m, &t->m);
  m.dtype = (uint8_t)dtype;
  dt_meta_set_contiguous(&m);
  DT_TRY(cx, dt_tensor_new(cx, &m, false, &r));
  DtStatus st = dt_k_copy(cx, t, r);
  if (st != DT_OK) { dt_tensor_unref(cx, r); return st; }
  *out = r;
  return DT_OK;
}

/* ---- fill ------------------------------------------------------------------ */

/* A row of one value is filled by copying what is already filled, in chunks
** that stay in the first-level cache. */
DtStatus dt_k_fill (DtCtx *cx, DtTensor *dst, DtScalar v) {
  void *d;
  DT_TRY(cx, dt_kernel_data(cx, dst, &d, 0, NULL, NULL));
  if (d == NULL) return DT_OK;
  DtDtype t = (DtDtype)dst->m.dtype;
  int64_t es = (int64_t)dt_dtype_size(t);
  double one[2] = {0, 0};
  dt_dtype_store(t, one, v);
  const DtMeta *m = &dst->m;
  DtIter it;
  dt_iter_init(&it, 1, &m, &d);
  for (; !it.done; dt_iter_next(&it)) {
    if (it.inner[0] == es || it.n == 1) {       /* by doubling */
      int64_t have = 1;
      memcpy(it.ptr[0], one, (size_t)es);
      while (have < it.n) {
        int64_t k = it.n - have < have ? it.n - have : have;
        if (k * es > 16384) k = 16384 / es;
        memcpy(it.ptr[0] + have * es, it.ptr[0], (size_t)(k * es));
        have += k;
      }
    } else {
      dt_run_move((size_t)es, it.ptr[0], it.inner[0], one, 0, it.n);
    }
  }
  return DT_OK;
}
