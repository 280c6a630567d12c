/* SPDX-License-Identifier: MIT
** mesh/layout.h: which part of a tensor a rank holds.  Pure metadata.
** Semantics: placement_types.py, _utils.py, PyTorch 2.13. */
#ifndef DT_MESH_LAYOUT_H
#define DT_MESH_LAYOUT_H

#include "mesh/spec.h"

/* Shard: length and offset of part `r` of `n` of a dim of `size`.  Pure. */
void dt_shard_size (int64_t size, int64_t n, int64_t r, int64_t *len,
                    int64_t *off);
/* _StridedShard: the same; `off` -1 when empty (mode FIRST).  Pure. */
void dt_strided_size (int64_t size, int64_t sf, int64_t n, int64_t r,
                      int64_t *len, int64_t *off);
/* _StridedShard: the indices part r holds, in order; `idx` has room for
** `size`.  Returns how many.  Pure. */
int64_t dt_strided_indices (int64_t size, int64_t sf, int64_t n, int64_t r,
                            int64_t *idx);

/* Local shape (and, when `offset` is not NULL, global offset) of the rank with
** mesh coordinate `coord` (NULL = the mesh's own rank; a rank outside gives
** shape {0} with *ndim 1).  Honours shard order.  Pure. */
DtStatus dt_layout_local (DtCtx *cx, const DtSpec *s, const int64_t *coord,
                          int64_t *lshape, int64_t *offset, int *ndim);
/* Meta of the local tensor: local shape, strides in the global stride order,
** dtype.  Pure. */
DtStatus dt_layout_local_meta (DtCtx *cx, const DtSpec *s,
                               const int64_t *coord, DtMeta *out);
/* compute_local_stride: strides for lshape in the order of gstride. Pure. */
void dt_layout_local_stride (const DtMeta *global, const int64_t *lshape,
                             int64_t *lstride);
/* from_local: global shape and stride from the local ones, assuming even
** shards.  RUNTIME or INDEX with PyTorch's text.  Pure. */
DtStatus dt_layout_global (DtCtx *cx, const DtMesh *mesh, int npl,
                           const DtPlacement *pl, const DtMeta *local,
                           DtMeta *out);
/* All global indices along tensor dim `tdim` that `coord` holds, in local
** order; *out is allocated from the scratch arena.  Pure. */
DtStatus dt_layout_indices (DtCtx *cx, const DtSpec *s, const int64_t *coord,
                            int tdim, int64_t **out, int64_t *n);
/* is_tensor_shardable / is_tensor_evenly_shardable (_ops/utils.py).  Pure. */
bool dt_layout_shardable (const DtMesh *mesh, const DtMeta *m,
                          const DtPlacement *pl, int npl);
bool dt_layout_evenly_shardable (const DtMesh *mesh, const DtMeta *m,
                                 const DtPlacement *pl, int npl);
/* The same, looking at the shards of one tensor dim only.  Pure. */
bool dt_layout_evenly_shardable_on (const DtMesh *mesh, const DtMeta *m,
                                    const DtPlacement *pl, int npl, int tdim);

#endif
