/* SPDX-License-Identifier: MIT
** tensor/tensor.c: tensors, storage, copy on write.
**
** A storage names a block of bytes; a snapshot holds a second reference to
** the block.  Whoever wants to write first makes sure that the storage is the
** only holder, copying the bytes if it is not.  Readers never copy. */

#include <string.h>
#include "tensor/tensor.h"

/* The bytes follow the header in one allocation, from a cache line's start on:
** a vector that lies across two lines takes twice as long. */
enum { BLOCK_ALIGN = 64, BLOCK_HEAD = sizeof(DtBlock) + BLOCK_ALIGN - 1 };

static char *block_data (DtBlock *b) {
  char *p = (char *)(b + 1);
  return p + (-(uintptr_t)p & (BLOCK_ALIGN - 1));
}

static DtStatus block_new (DtCtx *cx, size_t nbytes, DtBlock **out) {
  DT_CHECK(cx, nbytes <= SIZE_MAX - BLOCK_HEAD, DT_E_OVERFLOW,
           "Storage size calculation overflowed");
  DtBlock *b = dt_alloc(cx, nbytes + BLOCK_HEAD);
  if (b == NULL) return DT_E_NOMEM;
  b->refs = 1;
  b->kept = 0;
  b->nbytes = nbytes;
  b->data = block_data(b);
  *out = b;
  return DT_OK;
}

/* Elements a storage needs for this meta at this offset; -1 on overflow, or
** where a negative stride would leave it. */
static int64_t extent (const DtMeta *m, int64_t offset) {
  int64_t last = offset;
  for (int d = 0; d < m->ndim; d++)
    if (m->shape[d] == 0) return 0;
  for (int d = 0; d < m->ndim; d++) {
    int64_t step;
    if (m->shape[d] > 1 && m->stride[d] < 0) return -1;
    if (__builtin_mul_overflow(m->shape[d] - 1, m->stride[d], &step) ||
        __builtin_add_overflow(last, step, &last))
      return -1;
  }
  return last < 0 || last == INT64_MAX ? -1 : last + 1;
}

static DtStatus too_large (DtCtx *cx, const DtMeta *m) {
  DtBuf size, stride;
  DtStatus st;
  dt_buf_init(&size, cx);
  dt_buf_init(&stride, cx);
  dt_buf_add_i64s(&size, m->shape, m->ndim);
  dt_buf_add_i64s(&stride, m->stride, m->ndim);
  st = dt_raise(cx, DT_E_OVERFLOW, "Storage size calculation overflowed with "
                "sizes=%s and strides=%s", dt_buf_str(&size),
                dt_buf_str(&stride));
  dt_buf_fini(&size);
  dt_buf_fini(&stride);
  return st;
}

/* Sized for the strides, not for the elements: a tensor with gaps owns the
** gaps. */
static DtStatus storage_new (DtCtx *cx, const DtMeta *m, bool nodata,
                             DtStorage **out) {
  int64_t n = extent(m, 0), bytes;
  if (n < 0 || __builtin_mul_overflow(
        n, (int64_t)dt_dtype_size((DtDtype)m->dtype), &bytes))
    return too_large(cx, m);
  DtStorage *s = DT_NEW(cx, DtStorage);
  if (s == NULL) return DT_E_NOMEM;
  s->refs = 1;
  s->nbytes = (size_t)bytes;
  s->id = cx->mem.nalloc;       /* grows with every allocation */
  if (!nodata && m->device != DT_DEV_META) {
    DtStatus st = block_new(cx, s->nbytes, &s->block);
    if (st != DT_OK) { dt_free(cx, s); return st; }
  }
  *out = s;
  return DT_OK;
}

static void storage_unref (DtCtx *cx, DtStorage *s) {
  if (s == NULL || --s->refs > 0) return;
  dt_block_unref(cx, s->block);
  dt_free(cx, s);
}

DtStatus dt_tensor_new (DtCtx *cx, const DtMeta *m, bool nodata,
                        DtTensor **out) {
  DtStorage *s = NULL;
  DT_TRY(cx, storage_new(cx, m, nodata, &s));
  DtTensor *t = DT_NEW(cx, DtTensor);
  if (t == NULL) { storage_unref(cx, s); return DT_E_NOMEM; }
  dt_meta_copy(&t->m, m);
  t->refs = 1;
  t->storage = s;
  *out = t;
  return DT_OK;
}

bool dt_tensor_fits (const DtTensor *base, const DtMeta *m, int64_t offset) {
  if (offset < 0) return false;
  for (int d = 0; d < m->ndim; d++)
    if (m->shape[d] < 0 || m->stride[d] < 0) return false;
  int64_t n = extent(m, offset), bytes;
  if (n < 0 || __builtin_mul_overflow(
        n, (int64_t)dt_dtype_size((DtDtype)m->dtype), &bytes))
    return false;
  return (size_t)bytes <= base->storage->nbytes;
}

DtStatus dt_tensor_view (DtCtx *cx, DtTensor *base, const DtMeta *m,
                         int64_t offset, DtTensor **out) {
  DT_ASSERT(cx, dt_tensor_fits(base, m, offset));
  DT_TRY(cx, dt_meta_countable(cx, m));
  DtTensor *t = DT_NEW(cx, DtTensor);
  if (t == NULL) return DT_E_NOMEM;
  dt_meta_copy(&t->m, m);
  t->marks = base->marks;
  t->refs = 1;
  t->offset = offset;
  t->storage = base->storage;
  t->storage->refs++;
  t->own = base->own;
  if (t->own != NULL) t->own->refs++;
  *out = t;
  return DT_OK;
}

static void writes_unref (DtCtx *cx, DtWrites *w) {
  if (w != NULL && --w->refs == 0) dt_free(cx, w);
}

DtStatus dt_tensor_apart (DtCtx *cx, DtTensor *t, DtTensor **out) {
  DtWrites *own = DT_NEW(cx, DtWrites);
  if (own == NULL) return DT_E_NOMEM;
  own->refs = 1;
  DtStatus st = dt_tensor_view(cx, t, &t->m, t->offset, out);
  if (st != DT_OK) {
    writes_unref(cx, own);
    return st;
  }
  writes_unref(cx, (*out)->own);
  (*out)->own = own;
  return DT_OK;
}

void dt_tensor_count_write (DtTensor *t) {
  t->storage->version++;
  if (t->own == NULL) return;
  t->storage->unseen++;
  t->own->n++;
}

void dt_tensor_forget_writes (DtTensor *t, int64_t n) {
  if (t->own != NULL) t->own->n -= n;
  else t->storage->unseen += n;
}

int64_t dt_tensor_writes (const DtTensor *t) {
  return t->own != NULL ? t->own->n : t->storage->version - t->storage->unseen;
}

DtTensor *dt_tensor_ref (DtTensor *t) {
  if (t != NULL) t->refs++;
  return t;
}

void dt_tensor_unref (DtCtx *cx, DtTensor *t) {
  if (t == NULL || --t->refs > 0) return;
  storage_unref(cx, t->storage);
  writes_unref(cx, t->own);
  dt_free(cx, t);
}

bool dt_tensor_has_data (const DtTensor *t) {
  return t->storage->block != NULL;
}

void dt_tensor_drop (DtCtx *cx, DtTensor *t) {
  dt_block_unref(cx, t->storage->block);
  t->storage->block = NULL;
}

DtStatus dt_tensor_refill (DtCtx *cx, DtTensor *t, bool nodata) {
  DtStorage *s = t->storage;
  if (nodata || s->block != NULL || t->m.device == DT_DEV_META) return DT_OK;
  DT_TRY(cx, block_new(cx, s->nbytes, &s->block));
  s->id = cx->mem.nalloc;       /* other memory: who asks when it was made, and
                                ** what is known of it, means this one */
  if (s->nbytes > 0) memset(s->block->data, 0, s->nbytes);
  s->refilled = true;
  return DT_OK;
}

static void *first (const DtTensor *t) {
  size_t es = dt_dtype_size((DtDtype)t->m.dtype);
  return (char *)t->storage->block->data + (size_t)t->offset * es;
}

const void *dt_tensor_cdata (const DtTensor *t) {
  if (t->storage->block == NULL || dt_meta_numel(&t->m) == 0) return NULL;
  return first(t);
}

/* Make `s` the only holder of its block.  A pointer from dt_tensor_cdata is
** not good beyond this: it may be the snapshot's bytes now. Take the
** writable pointer of a call first, the read-only ones after it, where both
** may name one storage. */
static DtStatus storage_own (DtCtx *cx, DtStorage *s) {
  if (s->block->refs == 1) return DT_OK;
  DtBlock *b = NULL;
  DT_TRY(cx, block_new(cx, s->block->nbytes, &b));
  memcpy(b->data, s->block->data, b->nbytes);
  dt_block_unref(cx, s->block);
  s->block = b;
  return DT_OK;
}

DtStatus dt_tensor_data (DtCtx *cx, DtTensor *t, void **out) {
  DT_CHECK(cx, t->storage->block != NULL, DT_E_META_NO_DATA,
           "Cannot copy out of meta tensor; no data!");
  DT_TRY(cx, storage_own(cx, t->storage));
  *out = dt_meta_numel(&t->m) == 0 ? NULL : first(t);
  return DT_OK;
}

/* ---- snapshots ----------------------------------------------------------- */

DtStatus dt_block_snapshot (DtCtx *cx, DtStorage *s, DtBlock **out) {
  DT_CHECK(cx, s->block != NULL, DT_E_META_NO_DATA,
           "Cannot copy out of meta tensor; no data!");
  s->block->refs++;
  *out = s->block;
  return DT_OK;
}

/* The size goes with the block, since a storage may have been resized
** between the snapshot and now. The count is taken before the old one is
** dropped. */
void dt_block_restore (DtCtx *cx, DtStorage *s, DtBlock *b) {
  if (s->block == b) return;
  b->refs++;
  dt_block_unref(cx, s->block);
  s->block = b;
  s->nbytes = b->nbytes;
}

void dt_block_unref (DtCtx *cx, DtBlock *b) {
  if (b == NULL || --b->refs > 0) return;
  dt_free(cx, b);
}

/* ---- elements ------------------------------------------------------------ */

static const void *element (const DtTensor *t, const int64_t *index) {
  int64_t at = 0;
  for (int d = 0; d < t->m.ndim; d++) at += index[d] * t->m.stride[d];
  return (const char *)first(t) +
         at * (int64_t)dt_dtype_size((DtDtype)t->m.dtype);
}

/* Conjugated and negated leave the imaginary part as it is. The integer is
** negated without a sign: -INT64_MIN is itself, and in C undefined. */
static DtScalar marked (const DtTensor *t, DtScalar v) {
  bool conj = (t->marks & DT_MARK_CONJ) != 0;
  bool neg = (t->marks & DT_MARK_NEG) != 0;
  if (t->marks == 0) return v;
  if (conj != neg) v.im = -v.im;
  if (neg) {
    v.re = -v.re;
    v.i = (int64_t)(0 - (uint64_t)v.i);
  }
  return v;
}

DtScalar dt_tensor_get (const DtTensor *t, const int64_t *index) {
  if (!dt_tensor_has_data(t)) return dt_scalar_int(0);
  for (int d = 0; d < t->m.ndim; d++)           /* beyond it there is nothing */
    if (index[d] < 0 || index[d] >= t->m.shape[d]) return dt_scalar_int(0);
  return marked(t, dt_dtype_load((DtDtype)t->m.dtype, element(t, index)));
}

DtStatus dt_tensor_item (DtCtx *cx, const DtTensor *t, DtScalar *out) {
  int64_t n = dt_meta_numel(&t->m);
  DT_CHECK(cx, n == 1, DT_E_RUNTIME,
           "a Tensor with %lld elements cannot be converted to Scalar",
           (long long)n);
  DT_CHECK(cx, dt_tensor_has_data(t), DT_E_META_NO_DATA,
           "Tensor.item() cannot be called on meta tensors");
  *out = marked(t, dt_dtype_load((DtDtype)t->m.dtype, first(t)));
  return DT_OK;
}

/* Next index in row-major order; false after the last. */
static bool advance (const DtMeta *m, int64_t *index) {
  for (int d = m->ndim - 1; d >= 0; d--) {
    if (++index[d] < m->shape[d]) return true;
    index[d] = 0;
  }
  return false;
}

static bool same_real (double a, double b) {
  if (a != a || b != b) return a != a && b != b;
  return memcmp(&a, &b, sizeof a) == 0;         /* -0 differs from 0 */
}

static bool same_element (DtScalar a, DtScalar b) {
  if (a.kind < DT_K_FLOAT) return a.i == b.i;
  return same_real(a.re, b.re) && same_real(a.im, b.im);
}

/* Equal bytes prove it; unequal ones prove nothing, since any NaN is the
** same as any other here. */
bool dt_tensor_identical (const DtTensor *a, const DtTensor *b) {
  if (a->m.dtype != b->m.dtype || !dt_meta_same_shape(&a->m, &b->m))
    return false;
  if (!dt_tensor_has_data(a) || !dt_tensor_has_data(b))
    return dt_tensor_has_data(a) == dt_tensor_has_data(b);
  if (dt_meta_numel(&a->m) == 0) return true;
  if (a->marks == b->marks && dt_meta_is_contiguous(&a->m) &&
      dt_meta_is_contiguous(&b->m) &&
      memcmp(first(a), first(b), (size_t)dt_meta_nbytes(&a->m)) == 0)
    return true;
  int64_t index[DT_MAX_NDIM] = {0};
  do {
    if (!same_element(dt_tensor_get(a, index), dt_tensor_get(b, index)))
      return false;
  } while (advance(&a->m, index));
  return true;
}
