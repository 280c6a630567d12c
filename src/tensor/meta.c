/* SPDX-License-Identifier: MIT
** tensor/meta.c: shapes and strides.
**
** Does not touch data.  Strides are never negative (PyTorch has none), and a
** dim of size 1 or an empty tensor makes the stride of that dim irrelevant:
** comparisons of layouts skip such dims. */

#include <string.h>
#include "base/sat.h"
#include "base/hash.h"
#include "tensor/meta.h"

/* `negative`: the size that is; NULL: they are too many bytes together. */
static DtStatus bad_size (DtCtx *cx, int ndim, const int64_t *shape,
                          const int64_t *negative) {
  DtBuf b;
  DtStatus st;
  dt_buf_init(&b, cx);
  dt_buf_add_i64s(&b, shape, ndim);
  if (negative)
    st = dt_raise(cx, DT_E_RUNTIME, "Trying to create tensor with negative "
                  "dimension %lld: %s", (long long)*negative, dt_buf_str(&b));
  else
    st = dt_raise(cx, DT_E_OVERFLOW, "Storage size calculation overflowed with "
                  "sizes=%s", dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}

DtStatus dt_meta_init (DtCtx *cx, DtMeta *m, DtDtype dtype, int ndim,
                       const int64_t *shape) {
  DT_CHECK(cx, ndim >= 0 && ndim <= DT_MAX_NDIM, DT_E_LIMIT,
           "a tensor has at most %d dimensions, got %d", DT_MAX_NDIM, ndim);
  int64_t bytes = (int64_t)dt_dtype_size(dtype);
  bool empty = false, over = false;
  for (int d = 0; d < ndim; d++) {
    if (shape[d] < 0) return bad_size(cx, ndim, shape, &shape[d]);
    if (shape[d] == 0) empty = true;
    else over = over || __builtin_mul_overflow(bytes, shape[d], &bytes);
  }
  if (over && !empty) return bad_size(cx, ndim, shape, NULL);
  m->dtype = (uint8_t)dtype;
  m->device = DT_DEV_CPU;
  m->ndim = (uint8_t)ndim;
  m->wrapped = false;
  for (int d = 0; d < ndim; d++) m->shape[d] = shape[d];
  dt_meta_set_contiguous(m);
  return DT_OK;
}

/* Entries behind ndim are never written, here or elsewhere: comparing or
** hashing whole structs would read them. */
void dt_meta_copy (DtMeta *dst, const DtMeta *src) {
  if (dst == src) return;
  dst->dtype = src->dtype;
  dst->device = src->device;
  dst->ndim = src->ndim;
  dst->wrapped = src->wrapped;
  for (int d = 0; d < src->ndim; d++) {
    dst->shape[d] = src->shape[d];
    dst->stride[d] = src->stride[d];
  }
}

bool dt_meta_same_shape (const DtMeta *a, const DtMeta *b) {
  if (a->ndim != b->ndim) return false;
  for (int d = 0; d < a->ndim; d++)
    if (a->shape[d] != b->shape[d]) return false;
  return true;
}

bool dt_meta_equal (const DtMeta *a, const DtMeta *b) {
  if (a->dtype != b->dtype || a->device != b->device ||
      !dt_meta_same_shape(a, b))
    return false;
  for (int d = 0; d < a->ndim; d++)
    if (a->stride[d] != b->stride[d]) return false;
  return true;
}

uint64_t dt_meta_hash (uint64_t h, const DtMeta *m) {
  h = dt_hash_u64(h, (uint64_t)m->dtype << 16 | (uint64_t)m->device << 8 |
                     (uint64_t)m->ndim);
  for (int d = 0; d < m->ndim; d++) {
    h = dt_hash_u64(h, (uint64_t)m->shape[d]);
    h = dt_hash_u64(h, (uint64_t)m->stride[d]);
  }
  return h;
}

/* Wraps rather than overflows; where the number matters dt_meta_countable
** has refused such a shape before. */
int64_t dt_meta_numel (const DtMeta *m) {
  int64_t n = 1;
  for (int d = 0; d < m->ndim; d++) {
    if (m->shape[d] == 0) return 0;
    n = (int64_t)((uint64_t)n * (uint64_t)m->shape[d]);
  }
  return n;
}

DtStatus dt_meta_countable (DtCtx *cx, const DtMeta *m) {
  int64_t n = 1;
  bool empty = false, over = false;
  for (int d = 0; d < m->ndim; d++) {
    empty = empty || m->shape[d] == 0;
    over = over || __builtin_mul_overflow(n, m->shape[d], &n);
  }
  DT_CHECK(cx, empty || !over, DT_E_RUNTIME,
           "numel: integer multiplication overflow");
  return DT_OK;
}

int64_t dt_meta_nbytes (const DtMeta *m) {
  return dt_sat_mul(dt_meta_numel(m),
                    (int64_t)dt_dtype_size((DtDtype)m->dtype));
}

bool dt_meta_is_contiguous (const DtMeta *m) {
  if (dt_meta_numel(m) == 0) return true;
  int64_t want = 1;
  for (int d = m->ndim - 1; d >= 0; d--) {
    if (m->shape[d] != 1 && m->stride[d] != want) return false;
    want *= m->shape[d];
  }
  return true;
}

/* Does dim a lie outside of b (1), inside (-1), or is that not known (0):
** dims that are expanded stand where they are. */
static int outside (const DtMeta *m, int a, int b) {
  int64_t x = m->stride[a], y = m->stride[b];
  if (x == 0 || y == 0) return 0;
  if (x != y) return x > y ? 1 : -1;
  return m->shape[a] > m->shape[b] ? 1 : 0;
}

/* Dims from the outermost to the innermost, as PyTorch sorts them.
** aten/src/ATen/ExpandUtils.cpp:infer_dense_strides, comparison by
** comparison: `outside` is no total order (an expanded dim has no place of
** its own), so another sort, even a stable one, gives other strides. */
static void dims_by_stride (const DtMeta *m, int *perm) {
  int n = m->ndim, in[DT_MAX_NDIM];
  for (int i = 0; i < n; i++) in[i] = n - 1 - i;
  for (int i = 1; i < n; i++) {
    int at = i;
    for (int k = i - 1; k >= 0; k--) {
      int s = outside(m, in[k], in[at]);
      if (s < 0) break;
      if (s == 0) continue;
      int t = in[k];
      in[k] = in[at];
      in[at] = t;
      at = k;
    }
  }
  for (int i = 0; i < n; i++) perm[i] = in[n - 1 - i];
}

bool dt_meta_is_dense (const DtMeta *m) {
  if (dt_meta_numel(m) == 0) return true;
  int64_t want = 1;
  for (;;) {                    /* find the dim that comes next, if any */
    int next = -1;
    int64_t left = 0;
    for (int d = 0; d < m->ndim; d++) {
      if (m->shape[d] == 1 || m->stride[d] < want) continue;
      left++;
      if (m->stride[d] == want) next = d;
    }
    if (next < 0) return left == 0 && want == dt_meta_numel(m);
    want *= m->shape[next];
  }
}

/* A dim of size 0 counts as 1, as in PyTorch: (3, 0, 2) has strides (2, 2,
** 1). Wraps silently, since an empty tensor may have dims of any size. */
void dt_meta_set_contiguous (DtMeta *m) {
  int64_t s = 1;
  for (int d = m->ndim - 1; d >= 0; d--) {
    m->stride[d] = s;
    if (m->shape[d] > 1)
      s = (int64_t)((uint64_t)s * (uint64_t)m->shape[d]);
  }
}

/* Dense strides are taken as they are, whichever way dims of size 1 point;
** only gaps and expanded dims are closed (empty_like with preserve_format). */
void dt_meta_strides_like (DtMeta *m, const DtMeta *like) {
  if (like->ndim != m->ndim) {
    dt_meta_set_contiguous(m);
    return;
  }
  if (dt_meta_same_shape(m, like) && dt_meta_is_dense(like)) {
    for (int d = 0; d < m->ndim; d++) m->stride[d] = like->stride[d];
    return;
  }
  int perm[DT_MAX_NDIM];
  dims_by_stride(like, perm);
  int64_t s = 1;
  for (int i = m->ndim - 1; i >= 0; i--) {
    m->stride[perm[i]] = s;
    if (m->shape[perm[i]] > 1) s = dt_sat_mul(s, m->shape[perm[i]]);
  }
}

DtStatus dt_meta_broadcast (DtCtx *cx, const DtMeta *a, const DtMeta *b,
                            DtMeta *out) {
  DtMeta r;
  int nd = a->ndim > b->ndim ? a->ndim : b->ndim;
  r.dtype = a->dtype;
  r.device = a->device;
  r.ndim = (uint8_t)nd;
  r.wrapped = false;
  for (int i = 1; i <= nd; i++) {       /* from the last dim */
    int64_t x = i <= a->ndim ? a->shape[a->ndim - i] : 1;
    int64_t y = i <= b->ndim ? b->shape[b->ndim - i] : 1;
    DT_CHECK(cx, x == y || x == 1 || y == 1, DT_E_SHAPE,
             "The size of tensor a (%lld) must match the size of tensor b "
             "(%lld) at non-singleton dimension %d", (long long)x,
             (long long)y, nd - i);
    r.shape[nd - i] = x == 1 ? y : x;
  }
  dt_meta_set_contiguous(&r);
  dt_meta_copy(out, &r);
  return DT_OK;
}

DtStatus dt_meta_wrap_dim (DtCtx *cx, int64_t dim, int ndim, int *out) {
  int n = ndim == 0 ? 1 : ndim;
  DT_CHECK(cx, dim >= -n && dim < n, DT_E_INDEX,
           "Dimension out of range (expected to be in range of [%d, %d], but "
           "got %lld)", -n, n - 1, (long long)dim);
  *out = (int)(dim < 0 ? dim + n : dim);
  return DT_OK;
}

void dt_meta_print (const DtMeta *m, DtBuf *b) {
  dt_buf_add(b, dt_dtype_info((DtDtype)m->dtype)->tag);
  dt_buf_add_i64s(b, m->shape, m->ndim);
}
