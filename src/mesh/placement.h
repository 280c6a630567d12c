/* SPDX-License-Identifier: MIT
** mesh/placement.h: how a tensor lies on one mesh dimension.
** Semantics: torch/distributed/tensor/placement_types.py, PyTorch 2.13. */
#ifndef DT_MESH_PLACEMENT_H
#define DT_MESH_PLACEMENT_H

#include "base/ctx.h"
#include "tensor/redop.h"

typedef enum DtPlKind {
  DT_PL_REPLICATE, DT_PL_SHARD, DT_PL_STRIDED, DT_PL_PARTIAL,
  DT_PL_MASK_PARTIAL,           /* _MaskPartial: embedding on row shards */
  DT_PL_NORM_PARTIAL            /* _NormPartial: p-norms */
} DtPlKind;

/* The mask that a _MaskPartial keeps between the lookup and the reduction.
** Shared by identity; the data lives with the engine. */
typedef struct DtMaskBuf {
  int64_t refs;
  void *data;                   /* engine's mask tensor, or NULL */
  void (*data_free) (DtCtx *cx, void *data);   /* how to let go of it */
  int64_t uses;
  int ndim;                     /* offset_shape; -1: None */
  int64_t shape[8];
  int dim;                      /* offset_dim; may be negative in input */
} DtMaskBuf;

typedef struct DtPlacement {
  uint8_t kind;                 /* DtPlKind */
  uint8_t op;                   /* DtRedOp, for the partials */
  int16_t dim;                  /* for the shards; may be negative in input */
  bool norm_is_int;             /* print _NormP(2), not _NormP(2.0) */
  union {
    int64_t sf;                 /* split factor of _StridedShard */
    double norm;                /* order of _NormPartial */
    DtMaskBuf *mask;            /* not owned; owned by the spec */
  } u;
} DtPlacement;

/* Constructors check nothing, as PyTorch's.  Pure. */
DtPlacement dt_pl_replicate (void);
DtPlacement dt_pl_shard (int dim);
DtPlacement dt_pl_strided (int dim, int64_t sf);
DtPlacement dt_pl_partial (DtRedOp op);
DtPlacement dt_pl_norm (double norm, bool is_int);
DtPlacement dt_pl_mask (DtRedOp op, DtMaskBuf *mask);

/* A mask for offset_shape (ndim -1: none) and offset_dim, counted once; specs
** count their own.  NULL + NOMEM or LIMIT.  Local. */
DtMaskBuf *dt_mask_new (DtCtx *cx, int ndim, const int64_t *shape, int dim);
DtMaskBuf *dt_mask_ref (DtMaskBuf *m);
void dt_mask_unref (DtCtx *cx, DtMaskBuf *m);

static inline bool dt_pl_is_shard (DtPlacement p) {   /* exactly Shard */
  return p.kind == DT_PL_SHARD;
}
static inline bool dt_pl_is_shard_like (DtPlacement p) {
  return p.kind == DT_PL_SHARD || p.kind == DT_PL_STRIDED;
}
static inline bool dt_pl_is_replicate (DtPlacement p) {
  return p.kind == DT_PL_REPLICATE;
}
static inline bool dt_pl_is_partial (DtPlacement p) { /* any of the three */
  return p.kind >= DT_PL_PARTIAL;
}
/* Equality and hash as PyTorch's (masks by identity).  Pure. */
bool dt_pl_equal (DtPlacement a, DtPlacement b);
uint64_t dt_pl_hash (uint64_t h, DtPlacement p);
bool dt_pls_equal (const DtPlacement *a, const DtPlacement *b, int n);

/* "S(0)", "_S(0, 2)", "R", "P(sum)", "MaskP(sum, torch.Size([4]), 0)",
** "_NormP(2)".  Pure. */
void dt_pl_print (DtPlacement p, DtBuf *b);
/* "Shard(dim=0)", "Replicate()", "Partial(sum)": Python's repr.  Pure. */
void dt_pl_repr (DtPlacement p, DtBuf *b);
/* All of them, without separators: "S(0)R".  Pure. */
void dt_pls_print (const DtPlacement *p, int n, DtBuf *b);

/* Read one placement at *s: S(0) S0 Shard(0) Shard(dim=0) _S(0, 2)
** _StridedShard(dim=0, sf=2) R Replicate() P P(sum) Partial() Partial("avg")
** MaskP(sum) _NormP(2).  Advances *s.  PARSE names the column.  Pure. */
DtStatus dt_pl_parse (DtCtx *cx, const char **s, DtPlacement *out);
/* Read a list: "S(0) R", "S(0)R", "S0,R", "[S(0), R]".  At most `max`;
** PARSE.  Pure. */
DtStatus dt_pls_parse (DtCtx *cx, const char *s, DtPlacement *out, int max,
                       int *n);
/* assert_no_mixed_partial_types: VALUE "Mixed Partial reduce types".
** Pure. */
DtStatus dt_pls_check_partials (DtCtx *cx, const DtPlacement *p, int n);

#endif
