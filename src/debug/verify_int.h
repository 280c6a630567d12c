/* SPDX-License-Identifier: MIT
** debug/verify_int.h: one comparison under way, shared by verify.c and
** verify_cause.c. */
#ifndef DT_DEBUG_VERIFY_INT_H
#define DT_DEBUG_VERIFY_INT_H

#include "debug/verify.h"

enum { DT_VF_MAX = 64 };

typedef struct DtVfCase {
  DtDebug *d;
  const DtRecOp *r;
  int nin, nout;
  DtVar *in[DT_VF_MAX], *out[DT_VF_MAX];        /* as they were; owned */
  DtTensor *full[DT_VF_MAX];                    /* whole inputs; owned */
  DtGroup *group;               /* ranks of the operator's mesh */
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
/* Are the parts of `v` what its placements say: equal copies, sizes as they
** are cut?  Words into v->words when not.  Collective. */
DtStatus dt_vf_consistent (DtVfCase *c, DtVar *v, const char *what, bool *ok);
/* Fill cause and words of a WRONG verdict.  Collective. */
DtStatus dt_vf_cause (DtVfCase *c);
/* "x", "input 1": what the person calls slot i.  Pure. */
void dt_vf_input_name (const DtVfCase *c, int i, DtBuf *b);

#endif
