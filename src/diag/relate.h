/* SPDX-License-Identifier: MIT
** diag/relate.h: what all ranks hold of a tensor, beside that tensor as a run
** on one rank has it: copies, parts, addends, or none of these. */
#ifndef DT_DIAG_RELATE_H
#define DT_DIAG_RELATE_H

#include "debug/record.h"

/* The elements of a recorded tensor in row-major order, in scratch memory. */
typedef struct DtElements {
  int ndim;
  int64_t shape[DT_MAX_NDIM];
  int64_t n;
  double *v;
  bool whole;                   /* integers and bool: compared exactly */
  bool narrow;                  /* a format of 16 bits or fewer */
  bool blanks;                  /* NaN: an element that may be anything */
} DtElements;

/* Read what `v` held, of complex numbers both parts; false where that is not known.
** *st: NOMEM.  Local. */
bool dt_elements_read (DtCtx *cx, const DtRecVar *v, DtElements *out,
                       DtStatus *st);
typedef enum DtRelKind {
  DT_REL_UNKNOWN,               /* not known, or too near to rounding */
  DT_REL_NONE,                  /* no splitting explains it */
  DT_REL_COPY,                  /* every rank has all of it */
  DT_REL_PART,                  /* joined along `dim` they are it */
  DT_REL_ADDEND,                /* summed (or the largest of them) they are it */
} DtRelKind;

typedef struct DtRelation {
  DtRelKind kind;
  int dim;                      /* PART: the dimension that is cut */
  double factor;                /* what is joined, times this, is it: 1, or a
                                ** count of ranks or one over it */
  bool alike;                   /* all ranks hold the same bits */
  bool extreme;                 /* ADDEND: the largest or smallest of them are it */
  bool overlap;                 /* PART: neighbours have a few items both (a halo) */
  int order;                    /* PART: 0: in order of ranks; 1: its items were given
                                ** out in turn; above: in a learnt order, or so in each
                                ** of some blocks */
  bool rough;                   /* by the rounding of larger numbers only: who asks
                                ** says so */
} DtRelation;

/* Orders in which items of a dimension were given to the ranks, as far as they were
** met. */
enum { DT_MAX_ORDERS = 8 };
typedef struct DtOrders {
  int n;
  struct { int64_t len; int64_t *from; } order[DT_MAX_ORDERS];
} DtOrders;

enum { DT_RELATE_RANKS = 64,  /* at most */
       DT_RELATE_FAR = 4 };    /* times `near`: no longer perhaps the same */

/* What `rank[0..n)` are of `one`.  `near`: how far, as a share of the largest
** element or of `size`, two numbers may lie apart and be the same.  Orders are
** learnt from exact items, and kept in the arena that holds `orders`' lists.
** NOMEM.  Local. */
DtStatus dt_relate (DtCtx *cx, int n, const DtElements *rank,
                    const DtElements *one, double near, double size,
                    DtArena *arena, DtOrders *orders, DtRelation *out);

#endif
