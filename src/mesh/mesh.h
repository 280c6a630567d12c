/* SPDX-License-Identifier: MIT
** mesh/mesh.h: device meshes: shape, names, coordinates, slicing, flattening.
** Pure metadata: groups are rank lists; comm turns lists into communicators.
** Semantics: torch/distributed/device_mesh.py and _mesh_layout.py, 2.13. */
#ifndef DT_MESH_MESH_H
#define DT_MESH_MESH_H

#include "base/ctx.h"
#include "tensor/dtype.h"

enum { DT_MAX_MDIM = 16 };

/* One mesh dimension as PyTorch's flat layout: sizes and strides coalesced
** from the right; size 1 gives n == 0. */
typedef struct DtAxis {
  int n;
  int64_t size[DT_MAX_MDIM], stride[DT_MAX_MDIM];
} DtAxis;

typedef struct DtMesh DtMesh;
typedef struct DtProfile DtProfile;   /* compat/profile.h */
struct DtMesh {
  int64_t refs;
  DtDevice device;
  char device_name[16];         /* "cpu", "cuda", "xla" */
  int ndim;
  int64_t shape[DT_MAX_MDIM];   /* product of each axis */
  DtAxis axis[DT_MAX_MDIM];
  char *name[DT_MAX_MDIM];      /* NULL when unnamed (all or none) */
  int64_t nranks;               /* of rank_map */
  int64_t *rank_map;            /* NULL = identity; the root owns it */
  int64_t nindex, *index;       /* rank to position, -1 absent; the root's */
  DtMesh *root;                 /* NULL when this is the root; owned ref */
  struct DtMeshFlat *flat;      /* root only: flattened meshes by name */
  int my_rank;                  /* rank whose view this is */
  bool member;                  /* my_rank lies in the mesh */
  int64_t coord[DT_MAX_MDIM];   /* when member */
  uint64_t hash;
  bool is_slice;                /* made by slicing (releases 2.5-2.8) */
  bool is_flat;                 /* made by _flatten; kept by the root, whose
                                ** reference count it shares */
  uint64_t map_hash;            /* of rank_map alone */
  int64_t base;                 /* position in rank_map of coordinate 0 of the
                                ** slice that holds my_rank */
  int64_t nslices;              /* sub-meshes of this layout in rank_map */
  int64_t tstride[DT_MAX_MDIM]; /* strides of the mesh tensor as printed
                                ** before 2.10 */
  uint8_t style;                /* how it prints: DtMeshStyle */
};

/* A root's flattened meshes, in the order they were made. */
typedef struct DtMeshFlat {
  int n, cap;
  DtMesh **mesh;
} DtMeshFlat;

/* How a mesh prints, from the oldest releases to the newest; 0 is the newest.
** With ranks only, and with its device; with "device:" and "stride:"; the
** stride of a flattened mesh as a number; and as a tuple. */
typedef enum DtMeshStyle {
  DT_MESH_RANKS = 1, DT_MESH_DEVICE, DT_MESH_COLONS, DT_MESH_NUMBER,
  DT_MESH_TUPLE
} DtMeshStyle;

/* What a release changes in the algebra; zeros and NULL: the newest. */
typedef struct DtMeshRules {
  bool submesh_refused;         /* of a submesh: 2.5 to 2.8 */
  bool submesh_warns;           /* 2.9 */
  DtMeshStyle style;            /* of its repr */
} DtMeshRules;
/* The rules of a profile's release.  Pure. */
DtMeshRules dt_mesh_rules (const DtProfile *p);
static inline DtMeshStyle dt_mesh_style (const DtMeshRules *r) {
  return r != NULL && r->style != 0 ? r->style : DT_MESH_TUPLE;
}
/* Let a mesh, and every one that is made of it later, print as a release does
** (`rules` NULL: the newest).  dt_mesh_init_as has done so. */
static inline void dt_mesh_print_as (DtMesh *m, const DtMeshRules *rules) {
  m->style = (uint8_t)dt_mesh_style(rules);
}

/* init_device_mesh: ranks 0..product-1.  `names` NULL or ndim strings.
** MESH with PyTorch's text: duplicate names, length mismatch, larger than the
** world ("Mesh should not be bigger than default world size 4, but found 8
** ranks!"), device with index.  Caller owns the reference.  Agreed. */
DtStatus dt_mesh_init (DtCtx *cx, const char *device, int ndim,
                       const int64_t *shape, const char *const *names,
                       int my_rank, int world_size, DtMesh **out);
/* DeviceMesh(device, tensor): ranks given, row-major.  Agreed. */
DtStatus dt_mesh_new (DtCtx *cx, const char *device, int ndim,
                      const int64_t *shape, const int64_t *ranks,
                      const char *const *names, int my_rank, int world_size,
                      DtMesh **out);
/* dt_mesh_init with what Python can also say: another number of names than
** dimensions, and the wording of a release (`rules` NULL = 2.13).  Agreed. */
DtStatus dt_mesh_init_as (DtCtx *cx, const char *device, int ndim,
                          const int64_t *shape, int nnames,
                          const char *const *names, const DtMeshRules *rules,
                          int my_rank, int world_size, DtMesh **out);
DtMesh *dt_mesh_ref (DtMesh *m);
void dt_mesh_unref (DtCtx *cx, DtMesh *m);

/* mesh["a"], mesh["a","b"].  Errors and texts as PyTorch 2.13's, or as the
** release of `rules` (SUBMESH).  `warning` (may be NULL) receives a text that
** PyTorch would warn with.  Agreed. */
DtStatus dt_mesh_slice (DtCtx *cx, DtMesh *m, int n, const char *const *names,
                        const DtMeshRules *rules, DtBuf *warning,
                        DtMesh **out);
/* mesh._flatten(name); name NULL = names joined by "_".  Agreed. */
DtStatus dt_mesh_flatten (DtCtx *cx, DtMesh *m, const char *name,
                          DtMesh **out);
/* The same as a release has it: ATTR before 2.5.  Agreed. */
DtStatus dt_mesh_flatten_as (DtCtx *cx, DtMesh *m, const char *name,
                             const DtMeshRules *rules, DtMesh **out);
/* What a dimension is cut into, as Python can say it: names of another number
** than sizes, too. */
typedef struct DtMeshCut {
  int n, nnames;
  const int64_t *sizes;
  const char *const *names;
} DtMeshCut;
/* mesh._unflatten(dim, sizes, names), the dim by name (`dim` not NULL) or by
** number.  Agreed. */
DtStatus dt_mesh_unflatten (DtCtx *cx, DtMesh *m, const char *dim, int mdim,
                            const DtMeshCut *into, DtMesh **out);
/* DeviceMesh._concatenate(list).  Agreed. */
DtStatus dt_mesh_concat (DtCtx *cx, int n, DtMesh *const *meshes,
                         DtMesh **out);
/* Mesh dim called `name`: its index, or KEY with PyTorch's text.  Pure. */
DtStatus dt_mesh_dim (DtCtx *cx, const DtMesh *m, const char *name, int *out);

/* mesh.get_group(dim) and, with `local_rank`, get_local_rank(dim): the mesh
** and its dim that own the group.  The dim by `name`, by number (`mdim` not
** NULL) or not given.  A flattened mesh's name works from any mesh of its
** root.  *gm is borrowed.  RUNTIME, KEY, INDEX with PyTorch's text.  Pure. */
DtStatus dt_mesh_group_dim (DtCtx *cx, const DtMesh *m, const char *name,
                            const int *mdim, bool local_rank,
                            const DtMesh **gm, int *gdim);
/* The root of m, m itself when it is one (borrowed).  Pure. */
const DtMesh *dt_mesh_root (const DtMesh *m);
/* Number of groups along `mdim` over the whole rank map, and the ranks of
** group g: shape[mdim] entries.  Pure. */
int64_t dt_mesh_ngroups (const DtMesh *m, int mdim);
DtStatus dt_mesh_nth_group (DtCtx *cx, const DtMesh *m, int mdim, int64_t g,
                            int *ranks);

/* Ranks in the mesh (in each of its slices).  Equality of meshes: ranks,
** layout, device type and names, never the root.  Pure. */
int64_t dt_mesh_size (const DtMesh *m);
bool dt_mesh_equal (const DtMesh *a, const DtMesh *b);
/* Coordinate of any rank of the mesh; false when it is not in it.  Pure. */
bool dt_mesh_coord_of (const DtMesh *m, int rank, int64_t *coord);
/* Rank at a coordinate of the sub-mesh that holds my_rank.  Pure. */
int dt_mesh_rank_at (const DtMesh *m, const int64_t *coord);
/* The ranks of the group along `mdim` that `rank` is in, in mesh order:
** shape[mdim] entries.  Pure. */
void dt_mesh_group (const DtMesh *m, int mdim, int rank, int *ranks);
/* All ranks of the mesh (the slice holding my_rank), row-major.  Pure. */
void dt_mesh_ranks (const DtMesh *m, int64_t *ranks);
/* A root's flattened mesh with exactly the ranks of mesh dims `mdims` of `m`,
** or NULL (borrowed).  Pure.  Source: _redistribute.py flattening. */
DtMesh *dt_mesh_find_flat (const DtMesh *m, int n, const int *mdims);

/* "DeviceMesh((dp=2, tp=4), 'cpu', stride=(4, 1))", as the release prints it
** that the mesh was made for (dt_mesh_print_as); and the short form
** "(dp=2, tp=4)".  Pure. */
void dt_mesh_repr (const DtMesh *m, DtBuf *b);
void dt_mesh_print (const DtMesh *m, DtBuf *b);
/* The repr of 2.13 with the ranks, as TORCH_DISTRIBUTED_DEBUG=DETAIL asks
** for.  Pure. */
void dt_mesh_repr_detail (const DtMesh *m, DtBuf *b);
/* Name of a mesh dim for messages: its name or "dim 0".  Pure. */
void dt_mesh_dim_label (const DtMesh *m, int mdim, DtBuf *b);

#endif
