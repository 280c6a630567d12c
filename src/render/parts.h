/* SPDX-License-Identifier: MIT
** render/parts.h: who holds what of a tensor, as a model for pictures: ranks
** with equal parts together, each part as runs of indices per dimension. */
#ifndef DT_RENDER_PARTS_H
#define DT_RENDER_PARTS_H

#include "mesh/spec.h"

enum { DT_PARTS_MAX = 4096 };         /* ranks looked at */

typedef struct DtIdxRun { int64_t from, to; } DtIdxRun;    /* [from, to) */

/* What some ranks hold. */
typedef struct DtPart {
  int nrank; int *rank;               /* ascending */
  int64_t coord[DT_MAX_MDIM];         /* of the first */
  int64_t shape[DT_MAX_NDIM];         /* of the local part */
  bool empty;
  int nrun[DT_MAX_NDIM];
  DtIdxRun *run[DT_MAX_NDIM];
} DtPart;

typedef struct DtParts {
  const DtSpec *spec;                 /* borrowed */
  int64_t nranks;                     /* of the mesh */
  bool cut;                           /* more than DT_PARTS_MAX ranks */
  int n; DtPart *part;                /* in order of their first ranks */
  int d0, d1;                         /* dims to draw: down (-1: none), right */
  DtArena arena;
} DtParts;

/* Read the parts of a spec with meta; the caller frees them.  NOMEM.  Pure. */
DtStatus dt_parts_new (DtCtx *cx, const DtSpec *s, DtParts *out);
void dt_parts_fini (DtCtx *cx, DtParts *p);
/* "0-3, 8": ranks with runs folded.  Pure. */
void dt_parts_ranks (int n, const int *rank, DtBuf *b);
/* Ranks of these parts, which lie at one place of a picture: "0 / 2" where they
** hold other planes of the tensor, "0 + 1" where they hold addends.  Pure. */
void dt_parts_behind (const DtParts *ps, int n, const int *part, DtBuf *b);
/* "(0, *)": the coordinate of a part's ranks, * for all of a dimension; "3
** ranks" where they are no such block.  Pure. */
void dt_parts_coord (const DtParts *ps, const DtPart *p, DtBuf *b);
/* "0:2, 4:6" of one dimension.  Pure. */
void dt_parts_runs (const DtPart *p, int dim, DtBuf *b);

#endif
