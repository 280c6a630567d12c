/* SPDX-License-Identifier: MIT
** mesh/layout.c: local shapes, offsets and indices of sharded tensors.
**
** Only metadata.  Mesh dims cut from left to right; each cut of a tensor dim
** maps a local index to an index of the piece before it, so the global index
** is that chain read backwards: no index lists are made, and a strided cut
** of any size costs a few divisions.
** Facts: placement_types.py, _utils.py, _ops/utils.py, PyTorch 2.13. */
#include <string.h>
#include "base/sat.h"
#include "mesh/layout.h"

/* {==== One cut ==== */

/* As torch.chunk: full chunks first, so that trailing ranks may have a short
** chunk or none at all (Shard.local_shard_size_and_offset in
** placement_types.py@2.15). Spreading the remainder evenly would be a
** different layout. The products saturate: c * (r + 1) may pass int64 before
** it is clamped. */
void dt_shard_size (int64_t size, int64_t n, int64_t r, int64_t *len,
                    int64_t *off) {
  int64_t c = dt_ceil_div(size, n);
  int64_t a = dt_sat_mul(c, r), b = dt_sat_mul(c, r + 1);
  if (a > size) a = size;
  if (b > size) b = size;
  *len = b - a;
  *off = a;
}

/* What rank r holds of a dim of `size` cut into sf pieces, each into n.  All
** pieces but the last have `piece` elements; of those rank r holds `a` from
** `a_off` on, of the remainder `b` from `b_off` on. */
typedef struct Cut {
  int64_t piece, nfull;
  int64_t a, a_off, b, b_off;
} Cut;

/* The full pieces are counted rather than taken to be sf - 1: torch.chunk
** makes fewer than sf pieces when it can (5 into 4 gives 2, 2, 1), see
** _StridedShard._split_tensor in placement_types.py@2.15. */
static void cut_make (Cut *c, int64_t size, int64_t sf, int64_t n, int64_t r) {
  if (sf < 1)
    sf = 1;
  c->piece = dt_ceil_div(size, sf);
  if (c->piece == 0)
    c->piece = 1;
  c->nfull = size / c->piece;
  dt_shard_size(c->piece, n, r, &c->a, &c->a_off);
  dt_shard_size(size - c->nfull * c->piece, n, r, &c->b, &c->b_off);
  if (c->nfull == 0)
    c->a = 0;
}

static int64_t cut_len (const Cut *c) {
  return c->nfull * c->a + c->b;
}

/* Index before the cut of the i-th element after it. */
static int64_t cut_map (const Cut *c, int64_t i) {
  if (i < c->nfull * c->a)
    return i / c->a * c->piece + c->a_off + i % c->a;
  return c->nfull * c->piece + c->b_off + (i - c->nfull * c->a);
}

void dt_strided_size (int64_t size, int64_t sf, int64_t n, int64_t r,
                      int64_t *len, int64_t *off) {
  Cut c;
  cut_make(&c, size, sf, n, r);
  *len = cut_len(&c);
  *off = *len > 0 ? cut_map(&c, 0) : -1;
}

int64_t dt_strided_indices (int64_t size, int64_t sf, int64_t n, int64_t r,
                            int64_t *idx) {
  Cut c;
  cut_make(&c, size, sf, n, r);
  int64_t len = cut_len(&c);
  for (int64_t i = 0; i < len; i++)
    idx[i] = cut_map(&c, i);
  return len;
}

/* }==== A whole spec ==== */

/* The placements to evaluate: an explicit order in its other spelling. */
static DtStatus effective (DtCtx *cx, const DtSpec *s, DtPlacement *buf,
                           const DtPlacement **pl) {
  *pl = s->pl;
  if (s->order == NULL || dt_spec_has_strided(s))
    return DT_OK;
  DT_TRY(cx, dt_order_to_strided(cx, s->mesh, s->npl, s->pl, s->order, buf));
  *pl = buf;
  return DT_OK;
}

/* Tensor dim and size of the mesh dim of one cut, with Python's indexing. */
static DtStatus cut_dims (DtCtx *cx, const DtSpec *s, DtPlacement p, int m,
                          int *tdim) {
  int d = p.dim < 0 ? p.dim + s->meta.ndim : p.dim;
  DT_CHECK(cx, d >= 0 && d < s->meta.ndim && m < s->mesh->ndim, DT_E_INDEX,
           "tuple index out of range");
  *tdim = d;
  return DT_OK;
}

static void one_cut (DtPlacement p, int64_t size, int64_t n, int64_t r,
                     Cut *c) {
  cut_make(c, size, p.kind == DT_PL_STRIDED ? p.u.sf : 1, n, r);
}

/* Map a local index back through the cuts of one tensor dim.  The last cut
** comes first: its index is one into what the cuts before it left. */
static int64_t map_back (const Cut *cut, const int *tdim, int ncut, int d,
                         int64_t i) {
  for (int k = ncut - 1; k >= 0; k--)
    if (tdim[k] == d)
      i = cut_map(&cut[k], i);
  return i;
}

/* All cuts of a rank, left to right, and the local shape they leave.  Each
** cut sees the length that the ones before it left, not the global one; with
** uneven shards the two orders differ. */
static DtStatus make_cuts (DtCtx *cx, const DtSpec *s, const int64_t *coord,
                           int64_t *lshape, Cut *cut, int *tdim, int *ncut) {
  DtPlacement buf[DT_MAX_MDIM];
  const DtPlacement *pl;
  int n = 0, d = 0;
  DT_TRY(cx, effective(cx, s, buf, &pl));
  for (int i = 0; i < s->meta.ndim; i++)
    lshape[i] = s->meta.shape[i];
  for (int m = 0; m < s->npl; m++) {
    if (!dt_pl_is_shard_like(pl[m]))
      continue;
    DT_TRY(cx, cut_dims(cx, s, pl[m], m, &d));
    one_cut(pl[m], lshape[d], s->mesh->shape[m], coord[m], &cut[n]);
    lshape[d] = cut_len(&cut[n]);
    tdim[n++] = d;
  }
  *ncut = n;
  return DT_OK;
}

DtStatus dt_layout_local (DtCtx *cx, const DtSpec *s, const int64_t *coord,
                          int64_t *lshape, int64_t *offset, int *ndim) {
  int64_t shape[DT_MAX_NDIM];
  Cut cut[DT_MAX_MDIM];
  int tdim[DT_MAX_MDIM], ncut = 0;
  DT_CHECK(cx, s->has_meta, DT_E_VALUE, "tensor_meta is not set");
  if (coord == NULL && !s->mesh->member) {
    lshape[0] = 0;
    *ndim = 1;
    return DT_OK;
  }
  if (coord == NULL)
    coord = s->mesh->coord;
  DT_TRY(cx, make_cuts(cx, s, coord, shape, cut, tdim, &ncut));
  for (int d = 0; d < s->meta.ndim; d++) {
    bool any = false;
    lshape[d] = shape[d];
    if (offset == NULL)
      continue;
    for (int k = 0; k < ncut; k++)
      any = any || tdim[k] == d;
    offset[d] = !any ? 0
                /* an empty shard starts behind the last element, as
                ** zero_global_offset in
                ** _compute_local_shape_and_global_offset (_utils.py@2.15) */
                : shape[d] == 0 ? s->meta.shape[d]
                : map_back(cut, tdim, ncut, d, 0);
  }
  *ndim = s->meta.ndim;
  return DT_OK;
}

/* As compute_local_stride (_utils.py@2.15): the global strides give the
** order of the dims, the local shape the distances. The sort must be stable:
** equal strides keep their order. */
void dt_layout_local_stride (const DtMeta *global, const int64_t *lshape,
                             int64_t *lstride) {
  int perm[DT_MAX_NDIM], n = global->ndim;
  int64_t stride = 1;
  for (int i = 0; i < n; i++) {
    int k = i;
    for (; k > 0 && global->stride[perm[k - 1]] < global->stride[i]; k--)
      perm[k] = perm[k - 1];
    perm[k] = i;
  }
  for (int k = n - 1; k >= 0; k--) {
    lstride[perm[k]] = stride;
    stride *= lshape[perm[k]];
  }
}

DtStatus dt_layout_local_meta (DtCtx *cx, const DtSpec *s,
                               const int64_t *coord, DtMeta *out) {
  int64_t lshape[DT_MAX_NDIM], lstride[DT_MAX_NDIM];
  int ndim = 0;
  DT_TRY(cx, dt_layout_local(cx, s, coord, lshape, NULL, &ndim));
  dt_meta_copy(out, &s->meta);
  if (coord == NULL && !s->mesh->member) {
    out->ndim = 1;
    out->shape[0] = 0;
    out->stride[0] = 1;
    return DT_OK;
  }
  dt_layout_local_stride(&s->meta, lshape, lstride);
  for (int d = 0; d < ndim; d++) {
    out->shape[d] = lshape[d];
    out->stride[d] = lstride[d];
  }
  return DT_OK;
}

DtStatus dt_layout_indices (DtCtx *cx, const DtSpec *s, const int64_t *coord,
                            int tdim, int64_t **out, int64_t *n) {
  int64_t shape[DT_MAX_NDIM], *idx;
  Cut cut[DT_MAX_MDIM];
  int dims[DT_MAX_MDIM], ncut = 0;
  DT_CHECK(cx, s->has_meta, DT_E_VALUE, "tensor_meta is not set");
  DT_CHECK(cx, tdim >= 0 && tdim < s->meta.ndim, DT_E_INDEX,
           "tuple index out of range");
  if (coord == NULL && !s->mesh->member)
    shape[tdim] = 0;
  else
    DT_TRY(cx, make_cuts(cx, s, coord != NULL ? coord : s->mesh->coord, shape,
                         cut, dims, &ncut));
  idx = DT_ANEWN(cx, &cx->scratch, int64_t, shape[tdim] + 1);
  if (idx == NULL)
    return DT_E_NOMEM;
  for (int64_t i = 0; i < shape[tdim]; i++)
    idx[i] = map_back(cut, dims, ncut, tdim, i);
  *out = idx;
  *n = shape[tdim];
  return DT_OK;
}

/* }==== From local to global ==== */

DtStatus dt_layout_global (DtCtx *cx, const DtMesh *mesh, int npl,
                           const DtPlacement *pl, const DtMeta *local,
                           DtMeta *out) {
  DtMeta g;
  DtBuf b;
  dt_meta_copy(&g, local);
  for (int m = 0; m < npl; m++) {
    int d = pl[m].dim;
    if (!dt_pl_is_shard_like(pl[m]))
      continue;
    if (d < 0) {
      dt_buf_init(&b, cx);
      dt_pl_print(pl[m], &b);
      DtStatus st = dt_raise(cx, DT_E_RUNTIME, "Shard placements should have "
                             "negative dims normalized in the user-facing "
                             "APIs: %s", dt_buf_str(&b));
      dt_buf_fini(&b);
      return st;
    }
    DT_CHECK(cx, d < g.ndim, DT_E_RUNTIME, "Sharding dim %d greater than "
             "tensor ndim %d for placement number %d", d, g.ndim, m);
    DT_CHECK(cx, m < mesh->ndim, DT_E_INDEX, "tuple index out of range");
    int64_t n = mesh->shape[m];
    DT_CHECK(cx, !__builtin_mul_overflow(g.shape[d], n, &g.shape[d]),
             DT_E_OVERFLOW, "the global size of dimension %d overflows", d);
    for (int i = 0; i < g.ndim; i++)
      if (i != d && g.stride[i] >= g.stride[d] &&
          __builtin_mul_overflow(g.stride[i], n, &g.stride[i]))
        return dt_raise(cx, DT_E_OVERFLOW, "the global stride of dimension "
                        "%d overflows", i);
  }
  dt_meta_copy(out, &g);
  return DT_OK;
}

/* }==== Shardable ==== */

/* Asked after every placement, with the shards so far, and not once at the
** end: as in PyTorch the factor of a _StridedShard counts only there
** (is_tensor_evenly_shardable in _ops/utils.py@2.15). */
static bool walk (const DtMesh *mesh, const DtMeta *m, const DtPlacement *pl,
                  int npl, bool even) {
  int64_t num[DT_MAX_NDIM];
  for (int d = 0; d < m->ndim; d++)
    num[d] = 1;
  for (int i = 0; i < npl && i < mesh->ndim; i++) {
    if (!dt_pl_is_shard_like(pl[i]))
      continue;
    int d = pl[i].dim < 0 ? pl[i].dim + m->ndim : pl[i].dim;
    if (d < 0 || d >= m->ndim)
      return false;
    num[d] *= mesh->shape[i];
    int64_t need = dt_sat_mul(num[d], pl[i].kind == DT_PL_STRIDED
                                      ? pl[i].u.sf : 1);
    if (even ? need == 0 || m->shape[d] % need != 0 : m->shape[d] < need)
      return false;
  }
  return true;
}

bool dt_layout_shardable (const DtMesh *mesh, const DtMeta *m,
                          const DtPlacement *pl, int npl) {
  return walk(mesh, m, pl, npl, false);
}

bool dt_layout_evenly_shardable (const DtMesh *mesh, const DtMeta *m,
                                 const DtPlacement *pl, int npl) {
  return walk(mesh, m, pl, npl, true);
}

bool dt_layout_evenly_shardable_on (const DtMesh *mesh, const DtMeta *m,
                                    const DtPlacement *pl, int npl,
                                    int tdim) {
  int64_t num = 1;
  int d = tdim < 0 ? tdim + m->ndim : tdim;
  if (d < 0 || d >= m->ndim)
    return false;
  for (int i = 0; i < npl && i < mesh->ndim; i++) {
    if (!dt_pl_is_shard_like(pl[i]) || pl[i].dim != d)
      continue;
    num *= mesh->shape[i];
    if (pl[i].kind == DT_PL_STRIDED &&
        (pl[i].u.sf == 0 || m->shape[d] % dt_sat_mul(pl[i].u.sf, num) != 0))
      return false;
  }
  return num != 0 && m->shape[d] % num == 0;
}

/* }==== */
