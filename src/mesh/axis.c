/* SPDX-License-Identifier: MIT
** mesh/axis.c: the arithmetic of mesh layouts: a mesh dim is a list of modes
** (size, stride) over positions in the rank map.
**
** Knows nothing of names, ranks or devices.  The difficult part is the
** complement: sorted by stride, the modes of a layout without overlap are
** digits of a mixed-radix number; the complement is the digits that are
** missing.  Facts: _mesh_layout.py and _pycute, PyTorch 2.13. */
#include <string.h>
#include "mesh/mesh_int.h"

/* Modes arrive from the innermost to the outermost: drop size 1, merge a
** mode that continues the one before it.  Layouts are compared mode by mode,
** so everything that makes one has to go through here: two spellings of one
** layout would be two meshes. */
static void flat_push (DtFlat *f, int64_t size, int64_t stride) {
  if (size == 1)
    return;
  if (f->n > 0 && f->size[f->n - 1] * f->stride[f->n - 1] == stride)
    f->size[f->n - 1] *= size;
  else {
    f->size[f->n] = size;
    f->stride[f->n] = stride;
    f->n++;
  }
}

static void flat_reverse (DtFlat *f) {
  for (int i = 0, j = f->n - 1; i < j; i++, j--) {
    int64_t t = f->size[i];
    f->size[i] = f->size[j];
    f->size[j] = t;
    t = f->stride[i];
    f->stride[i] = f->stride[j];
    f->stride[j] = t;
  }
}

void dt_axis_one (DtAxis *a, int64_t size, int64_t stride) {
  a->n = size == 1 ? 0 : 1;
  a->size[0] = size;
  a->stride[0] = stride;
}

bool dt_axis_equal (const DtAxis *a, const DtAxis *b) {
  size_t bytes = (size_t)(a->n > 0 ? a->n : 0) * sizeof a->size[0];
  return a->n == b->n && memcmp(a->size, b->size, bytes) == 0 &&
         memcmp(a->stride, b->stride, bytes) == 0;
}

int64_t dt_axis_size (const DtAxis *a) {
  int64_t p = 1;
  for (int i = 0; i < a->n; i++)
    p *= a->size[i];
  return p;
}

int64_t dt_axis_offset (const DtAxis *a, int64_t c) {
  int64_t off = 0;
  for (int i = a->n - 1; i >= 0; i--) {
    off += c % a->size[i] * a->stride[i];
    c /= a->size[i];
  }
  return off;
}

void dt_flat_collapse (const DtAxis *axis, int n, DtFlat *out) {
  out->n = 0;
  for (int m = n - 1; m >= 0; m--)
    for (int i = axis[m].n - 1; i >= 0; i--)
      flat_push(out, axis[m].size[i], axis[m].stride[i]);
  flat_reverse(out);
}

bool dt_flat_sorted (const DtFlat *f) {
  for (int i = 1; i < f->n; i++)
    if (f->stride[i - 1] < f->stride[i])
      return false;
  return true;
}

/* Order of modes by stride, then size, ascending; insertion sort, since
** there are few and they mostly come sorted.  A mode of stride 0 comes first
** and spans nothing: who walks the result must not divide by its span. */
static void flat_sort (DtFlat *f) {
  for (int i = 1; i < f->n; i++) {
    int64_t size = f->size[i], stride = f->stride[i];
    int j = i;
    for (; j > 0 && (f->stride[j - 1] > stride ||
                     (f->stride[j - 1] == stride && f->size[j - 1] > size));
         j--) {
      f->size[j] = f->size[j - 1];
      f->stride[j] = f->stride[j - 1];
    }
    f->size[j] = size;
    f->stride[j] = stride;
  }
}

static void flat_copy (DtFlat *dst, const DtFlat *src) {
  dst->n = src->n;
  for (int i = 0; i < src->n; i++) {
    dst->size[i] = src->size[i];
    dst->stride[i] = src->stride[i];
  }
}

bool dt_flat_orthogonal (const DtFlat *f) {
  DtFlat s;
  if (f->n < 2)
    return true;
  flat_copy(&s, f);
  flat_sort(&s);
  for (int i = 1; i < s.n; i++) {
    int64_t span = s.stride[i - 1] * s.size[i - 1];
    if (span == 0 || s.stride[i] % span != 0)
      return false;
  }
  return true;
}

/* `cur` is the span of the digits seen so far; a gap up to the next stride
** is a missing digit. The error has no words because PyTorch's assert has
** none. Built in a local: `out` may be `f`. */
DtStatus dt_flat_complement (DtCtx *cx, const DtFlat *f, int64_t n,
                             DtFlat *out) {
  DtFlat s, c;
  int64_t cur = 1;
  flat_copy(&s, f);
  flat_sort(&s);
  c.n = 0;
  for (int i = 0; i < s.n; i++) {
    if (s.stride[i] == 0)
      continue;
    DT_CHECK(cx, cur <= s.size[i] * s.stride[i], DT_E_ASSERT, "%s", "");
    flat_push(&c, s.stride[i] / cur, cur);
    cur = s.size[i] * s.stride[i];
  }
  flat_push(&c, (n + cur - 1) / cur, cur);
  flat_reverse(&c);
  flat_copy(out, &c);
  return DT_OK;
}

/* One selected dim: skip `stride` positions of `a` from the innermost mode
** on, keep the next `size`.  The last branch of composition
** (_pycute/layout.py@2.15), whose asserts have no text; mode 0 takes
** whatever is left, without a test that it divides. */
static DtStatus axis_select (DtCtx *cx, const DtAxis *a, int64_t size,
                             int64_t stride, DtAxis *out) {
  DtFlat r;
  r.n = 0;
  for (int i = a->n - 1; i >= 1; i--) {
    int64_t s = a->size[i];
    DT_CHECK(cx, stride != 0 && (s % stride == 0 || stride % s == 0),
             DT_E_ASSERT, "%s", "");
    int64_t keep = s / stride > 1 ? s / stride : 1;
    if (keep > size)
      keep = size;
    flat_push(&r, keep, stride * a->stride[i]);
    if (keep == 0)
      break;
    size /= keep;
    stride = (stride + s - 1) / s;
  }
  flat_push(&r, size, stride * (a->n > 0 ? a->stride[0] : 0));
  flat_reverse(&r);
  DT_CHECK(cx, r.n <= DT_MAX_MDIM, DT_E_LIMIT,
           "a mesh dimension has more than %d modes", DT_MAX_MDIM);
  out->n = r.n;
  memcpy(out->size, r.size, (size_t)r.n * sizeof r.size[0]);
  memcpy(out->stride, r.stride, (size_t)r.n * sizeof r.stride[0]);
  return DT_OK;
}

DtStatus dt_axis_split (DtCtx *cx, const DtAxis *a, int n,
                        const int64_t *sizes, DtAxis *out) {
  int64_t stride = 1;
  for (int i = n - 1; i >= 0; i--) {
    if (sizes[i] == 1)
      out[i].n = 0;
    else
      DT_TRY(cx, axis_select(cx, a, sizes[i], stride, &out[i]));
    stride *= sizes[i];
  }
  return DT_OK;
}

DtStatus dt_axis_collapse (DtCtx *cx, const DtAxis *axis, int n,
                           DtAxis *out) {
  DtFlat f;
  dt_flat_collapse(axis, n, &f);
  DT_CHECK(cx, f.n <= DT_MAX_MDIM, DT_E_LIMIT,
           "a flattened mesh dimension has more than %d modes", DT_MAX_MDIM);
  out->n = f.n;
  memcpy(out->size, f.size, (size_t)f.n * sizeof f.size[0]);
  memcpy(out->stride, f.stride, (size_t)f.n * sizeof f.stride[0]);
  return DT_OK;
}
