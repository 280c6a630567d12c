/* SPDX-License-Identifier: MIT
** mesh/spec.h: DtSpec = mesh + placements + shard order + global meta.
** Immutable and reference counted once made, so that specs can be shared and
** compared by pointer first.  Semantics: _dtensor_spec.py, PyTorch 2.13. */
#ifndef DT_MESH_SPEC_H
#define DT_MESH_SPEC_H

#include "mesh/mesh.h"
#include "mesh/placement.h"
#include "tensor/meta.h"

/* Execution order of the mesh dims that shard one tensor dim. */
typedef struct DtShardOrderEntry {
  int8_t tdim; int8_t n; int8_t mdims[DT_MAX_MDIM];
} DtShardOrderEntry;
typedef struct DtShardOrder {
  bool known;                        /* false: None (the _S forms) */
  int8_t n;
  DtShardOrderEntry e[DT_MAX_MDIM];
} DtShardOrder;

typedef struct DtSpec {
  int64_t refs;
  DtMesh *mesh;                 /* owned reference */
  uint64_t hash;
  bool has_meta;
  bool strided_is_order;        /* use_strided_shard_as_shard_order */
  bool default_order;           /* the order is the default one */
  DtShardOrder *order;          /* NULL when default or unknown (strided) */
  DtMeta meta;                  /* global shape, stride, dtype */
  int npl;                      /* usually mesh->ndim; unchecked by PyTorch */
  DtPlacement pl[];
} DtSpec;

/* New spec.  `meta` may be NULL.  `order` NULL = default.  Flag as PyTorch:
** strided_is_order -1 = "any _S present".  Caller owns it.  VALUE, ASSERT with
** PyTorch's text.  Pure. */
DtStatus dt_spec_new (DtCtx *cx, DtMesh *mesh, int npl, const DtPlacement *pl,
                      const DtMeta *meta, const DtShardOrder *order,
                      int strided_is_order, DtSpec **out);
DtSpec *dt_spec_ref (const DtSpec *s);
void dt_spec_unref (DtCtx *cx, DtSpec *s);
/* Same mesh, placements, order and meta (flag not compared).  Pure. */
bool dt_spec_equal (const DtSpec *a, const DtSpec *b);
bool dt_spec_valid (DtCtx *cx, const DtSpec *s);

/* Number of shards (product over shard-like mesh dims).  Pure. */
int64_t dt_spec_num_shards (const DtSpec *s);
bool dt_spec_is_replicated (const DtSpec *s);
bool dt_spec_is_sharded (const DtSpec *s);       /* any shard-like */
bool dt_spec_has_strided (const DtSpec *s);
bool dt_spec_has_partial (const DtSpec *s);
/* Default order of a placement list; the order that is in force. Pure. */
void dt_order_default (const DtPlacement *pl, int npl, DtShardOrder *out);
void dt_spec_order (const DtSpec *s, DtShardOrder *out);
bool dt_order_equal (const DtShardOrder *a, const DtShardOrder *b);
/* Both specs have the same order, or both have none.  Pure. */
bool dt_spec_same_order (const DtSpec *a, const DtSpec *b);
/* "S(0)[1]S(0)[0]R": placements with execution indices where a tensor dim is
** sharded more than once; without any when the order is unknown.  Pure. */
void dt_order_print (const DtPlacement *pl, int npl, const DtShardOrder *o,
                     DtBuf *b);
/* Sections 2.1 and 2.2 of semantics: plain S + order <-> _S.  `decode` gives
** false when not decodable.  Pure. */
DtStatus dt_order_to_strided (DtCtx *cx, const DtMesh *mesh, int npl,
                              const DtPlacement *pl, const DtShardOrder *order,
                              DtPlacement *out);
/* The same decoding with PyTorch's error: VALUE of class
** _StridedShardNotDecodableError.  Pure. */
DtStatus dt_strided_normalize (DtCtx *cx, const DtMesh *mesh, int npl,
                               const DtPlacement *pl, DtPlacement *out,
                               DtShardOrder *order);
bool dt_strided_to_order (const DtMesh *mesh, int npl, const DtPlacement *pl,
                          DtPlacement *out, DtShardOrder *order);

/* "S(0)R" with order marks "S(0)[0]S(0)[1]" as PyTorch's.  Pure. */
void dt_spec_print_placements (const DtSpec *s, DtBuf *b);
/* "f32[8, 32]| S(0)R": DebugMode's notation.  Pure. */
void dt_spec_print (const DtSpec *s, DtBuf *b);
/* "Spec(f32[8, 8](S(0)R))": str() in error texts.  Pure. */
void dt_spec_str (const DtSpec *s, DtBuf *b);

#endif
