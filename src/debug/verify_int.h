/* SPDX-License-Identifier: MIT
** debug/verify_int.h: one comparison under way, shared by verify.c and
** verify_cause.c. */
#ifndef DT_DEBUG_VERIFY_INT_H
#define DT_DEBUG_VERIFY_INT_H

#include "base/error_comm.h"
#include "debug/verify.h"

enum { DT_VF_MAX = 64 };

typedef struct DtVfCase {
  DtDebug *d;
  const DtRecOp *r;
  int nin, nout;
  DtVar *in[DT_VF_MAX], *out[DT_VF_MAX];        /* as they were; owned */
  DtTensor *full[DT_VF_MAX];                    /* whole inputs; owned */
  DtGroup *group;               /* ranks of the operator's mesh */
  DtProp *prop;                 /* the decision; NULL: there was none; owned */
  bool typed;                   /* placements were inferred, not the program's */
  DtVerified *v;
} DtVfCase;

/* What this rank says, from all ranks of a group, by position in it.  Freed by
** dt_vf_gather_free().  Collective over the group. */
DtStatus dt_vf_gather (DtSession *s, DtGroup *g, const char *text,
                       char ***out);
void dt_vf_gather_free (DtSession *s, const DtGroup *g, char **v);
/* Do all ranks of a group hold the same bits?  See dt_verify_same(). */
DtStatus dt_vf_same (DtSession *s, DtGroup *g, const DtTensor *t, bool *same,
                     DtBuf *groups);
/* Hash of shape and values.  Pure. */
uint64_t dt_vf_hash (const DtTensor *t);
/* Does output `v` have the part its placements cut, on every rank?  If not,
** cause and words say so: of an input that had not, or of the operator.
** Collective. */
DtStatus dt_vf_fits (DtVfCase *c, DtVar *v, bool *ok);
/* Are the parts of `v` what its placements say: equal copies, sizes as they
** are cut?  Words into v->words when not.  Collective. */
DtStatus dt_vf_consistent (DtVfCase *c, DtVar *v, const char *what, bool *ok);
/* The largest of a number over all ranks of the mesh.  Collective. */
DtStatus dt_vf_most (DtVfCase *c, double mine, double *all);
/* A contiguous copy; the caller's reference.  NOMEM.  Local. */
DtStatus dt_vf_copy (DtVfCase *c, DtTensor *t, DtTensor **out);
/* The tensor itself, or with `dbl` a float one in double precision, with
** `positive` its absolute values; the caller's reference.  Local. */
DtStatus dt_vf_convert (DtVfCase *c, DtTensor *t, bool dbl, bool positive,
                        DtTensor **out);
/* The next index of all elements; false after the last.  Pure. */
bool dt_vf_next (const DtMeta *m, int64_t *index);
/* The same placements on each mesh dim?  Pure. */
bool dt_vf_same_pls (const DtSpec *a, const DtSpec *b);
/* Nothing more can be said to the other ranks.  Pure. */
static inline bool dt_vf_fatal (DtStatus st) {
  return st == DT_E_INTERRUPTED || st == DT_E_RANK_LOST ||
         st == DT_E_DIVERGED;
}
/* Decide the call again, into c->prop.  As dt_prop_run().  Local. */
DtStatus dt_vf_decide (DtVfCase *c);
/* Numbers that each rank gave to the operator: where they differ the verdict
** is WRONG, with the cause: each rank's own one device proves nothing.
** Collective. */
DtStatus dt_vf_numbers (DtVfCase *c);
/* The operator gave no tensor: was a number read that is this rank's part of
** one?  `whole` is one device's.  Collective. */
DtStatus dt_vf_number (DtVfCase *c, const DtValue *whole);

/* What verify_replay.c found out. */
typedef struct DtReplayed {
  bool partial;                 /* parts were added */
  bool same;                    /* the same bits */
  bool right;                   /* in double precision as one device */
  double off;                   /* ... to this, of the largest value */
  bool wrong;                   /* ... no: this order gives another number */
} DtReplayed;
/* Compute result `which` part by part in rank order and compare with `got`;
** `exact` is one device's in double precision and `scale` that of absolute
** values; both may be NULL.  Collective. */
DtStatus dt_vf_replay (DtVfCase *c, int which, DtTensor *got, DtTensor *exact,
                       const DtTensor *scale, DtReplayed *out);

/* How did the operator end on the other ranks of its mesh?  *torn: not
** everywhere alike; `v` then is the verdict.  Collective. */
DtStatus dt_vf_torn (DtDebug *d, const DtEvent *e, DtVerified *v, bool *torn);
/* Is an input not what its placements say?  Words and cause say which, and
** who made it.  Collective. */
DtStatus dt_vf_bad_input (DtVfCase *c, bool *found);
/* Fill cause and words of a WRONG verdict.  Collective. */
DtStatus dt_vf_cause (DtVfCase *c);
/* "x", "input 1": what the person calls slot i.  Pure. */
void dt_vf_input_name (const DtVfCase *c, int i, DtBuf *b);

#endif
