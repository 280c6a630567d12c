/* SPDX-License-Identifier: MIT
** mesh/mesh_int.h: layout algebra behind device meshes, private to mesh/.
** Facts: torch/distributed/_mesh_layout.py and _pycute, PyTorch 2.13. */
#ifndef DT_MESH_MESH_INT_H
#define DT_MESH_MESH_INT_H

#include "mesh/mesh.h"

/* All axes of a mesh in one list of modes; room for the complement too. */
enum { DT_FLAT_MAX = DT_MAX_MDIM * DT_MAX_MDIM + DT_MAX_MDIM };
typedef struct DtFlat {
  int n;
  int64_t size[DT_FLAT_MAX], stride[DT_FLAT_MAX];
} DtFlat;

/* The normal form of one mesh dim of `size` and `stride`.  Pure. */
void dt_axis_one (DtAxis *a, int64_t size, int64_t stride);
bool dt_axis_equal (const DtAxis *a, const DtAxis *b);
int64_t dt_axis_size (const DtAxis *a);
/* Offset of coordinate `c` of an axis.  Pure. */
int64_t dt_axis_offset (const DtAxis *a, int64_t c);
/* Axes put together, neighbours merged.  Pure. */
void dt_flat_collapse (const DtAxis *axis, int n, DtFlat *out);
bool dt_flat_sorted (const DtFlat *f);      /* strides descend */
bool dt_flat_orthogonal (const DtFlat *f);  /* no rank twice */
/* The modes that fill 0..n-1 together with `f`, in descending stride.
** ASSERT when `f` overlaps itself.  Pure. */
DtStatus dt_flat_complement (DtCtx *cx, const DtFlat *f, int64_t n,
                             DtFlat *out);
/* Which parts of `a` a contiguous split into sizes[] selects: n axes.
** ASSERT when they do not divide.  Pure. */
DtStatus dt_axis_split (DtCtx *cx, const DtAxis *a, int n,
                        const int64_t *sizes, DtAxis *out);
/* Collapse to one axis.  LIMIT when it has too many modes.  Pure. */
DtStatus dt_axis_collapse (DtCtx *cx, const DtAxis *axis, int n,
                           DtAxis *out);

/* What a new sub-mesh is made of. */
typedef struct DtMeshParts {
  int ndim;
  const DtAxis *axis;
  int nnames;
  const char *const *names;    /* NULL = unnamed */
} DtMeshParts;
/* A mesh that shares the rank map of `like`'s root.  Checks as DeviceMesh's
** constructor.  Agreed. */
DtStatus dt_mesh_derive (DtCtx *cx, DtMesh *like, const DtMeshParts *parts,
                         DtMesh **out);
/* Position of a rank in the rank map, -1 when absent.  Pure. */
int64_t dt_mesh_pos (const DtMesh *m, int rank);
static inline int64_t dt_mesh_map (const DtMesh *m, int64_t pos) {
  return m->rank_map == NULL ? pos : m->rank_map[pos];
}
bool dt_mesh_same_map (const DtMesh *a, const DtMesh *b);
int dt_mesh_own_name (const DtMesh *m, const char *name);   /* -1: none */
DtMesh *dt_mesh_flat_named (const DtMesh *root, const char *name);

/* Python's repr() of a string, of a tuple and of a list of strings. */
void dt_buf_add_pystr (DtBuf *b, const char *s);
void dt_buf_add_pynames (DtBuf *b, const char *const *names, int n,
                         bool list);

#endif
