/* SPDX-License-Identifier: MIT
** debug/verify.h: recorded operators against one device: is what all ranks
** computed together what one device computes from the whole inputs?
**
** Verdicts are proved.  EXACT: the same bits.  ROUNDING: replaying the
** distributed order gives the same bits, and in double precision this order
** agrees with one device (REPLAY); or every element lies within a stated bound
** of the result computed in double precision, one that holds for any order of
** the additions (BOUND), or of one device's result (TOLERANCE).  WRONG: none
** of these; the cause is looked for. */
#ifndef DT_DEBUG_VERIFY_H
#define DT_DEBUG_VERIFY_H

#include "debug/debug.h"

typedef enum DtVerifyKind {
  DT_VF_SKIPPED, DT_VF_EXACT, DT_VF_ROUNDING, DT_VF_WRONG
} DtVerifyKind;

typedef enum DtVerifyProof {
  DT_VP_NONE, DT_VP_REPLAY, DT_VP_BOUND, DT_VP_TOLERANCE
} DtVerifyProof;

typedef struct DtVerified {
  int64_t seq;
  const char *label, *file; int line;   /* interned */
  DtVerifyKind kind;
  double worst;                 /* largest difference from one device */
  DtVerifyProof proof;          /* ROUNDING: which */
  double off, bound;            /* farthest from the exact value, and what is
                                ** allowed there (REPLAY: of the largest) */
  char words[320];              /* cause; why skipped; the bound's terms */
  char cause[32];               /* WRONG: "uneven-mean", ... */
} DtVerified;

/* Why operators were not compared, and how many. */
enum { DT_VF_REASONS = 16, DT_VF_REASON = 64 };
typedef struct DtVfReason {
  char why[DT_VF_REASON];
  int64_t count;
} DtVfReason;

typedef struct DtVerify {
  int listener;
  int64_t count[4];             /* by kind */
  int64_t torn;                 /* the text (DtDebug.from) in which ranks went
                                ** different ways: not compared any more; -1 */
  DtVerified *list; int n, cap; /* those that are not exact or skipped */
  int nreason; DtVfReason reason[DT_VF_REASONS];
  /* Told of each that is wrong, at once; may be NULL. */
  void (*tell) (void *ud, const DtVerified *v);
  void *ud;
} DtVerify;

/* Compare one recorded operator.  Every rank must ask for the same operator.
** Nothing is changed.  Collective. */
DtStatus dt_verify_op (DtDebug *d, const DtRecOp *r, DtVerified *out);
/* Compare an operator on plain tensors: `in` and `out`, by slot, are what they
** held, as parts of what their types say (NULL: None).  SKIPPED where its
** arguments are sizes of a part.  With shadow mode on the verdict takes the place
** of the one that it had.  VALUE: a call, no types.  Collective over the mesh. */
DtStatus dt_verify_typed (DtDebug *d, const DtRecOp *r, DtVar *const *in,
                          DtVar *const *out, DtVerified *v);
/* It was left out since: another reason in place of "all tensors are plain".
** Local. */
void dt_verify_reason (DtDebug *d, const char *why);
/* Compare each operator when it has ended, from now on.  Needs a record that
** keeps values.  NOMEM.  Agreed; the operators then are Collective. */
DtStatus dt_verify_on (DtDebug *d);
void dt_verify_off (DtDebug *d);
/* What was compared and what was not, and why: "3 exact, 0 rounding, 0 wrong, 1
** skipped", a line for each reason; "nothing to compare" where that is so.
** Pure. */
void dt_verify_summary (const DtVerify *k, DtBuf *b);
/* "exact", "rounding", "wrong", "skipped".  Pure. */
const char *dt_verify_name (DtVerifyKind k);
/* "replay", "bound", "tolerance", "".  Pure. */
const char *dt_verify_proof (DtVerifyProof p);
/* One line: "#7 aten.mm.default  rounding: ...  x.lua:4".  Pure. */
void dt_verify_print (const DtVerified *v, DtBuf *b);
/* Hash of shape and values of a tensor with data.  *constant: its elements are
** all one number, which ranks may have in common by chance.  Pure. */
uint64_t dt_verify_digest (const DtTensor *t, bool *constant);
/* Do all ranks hold the same bits of a plain tensor?  `groups` gets "[0,2]
** [1,3]" when not.  Collective over the world. */
DtStatus dt_verify_same (DtSession *s, const DtTensor *t, bool *same,
                         DtBuf *groups);

#endif
