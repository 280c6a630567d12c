/* SPDX-License-Identifier: MIT
** diag/one_rank_int.h: what the files of the comparison with one rank share: the
** runs side by side (one_rank.c), what lies in the past of a result
** (one_rank_past.c), the search for the operator where the runs part
** (one_rank_search.c), loops over a part (one_rank_loops.c), sums by
** hand (one_rank_ring.c), and the line that is to be mended (one_rank_blame.c). */
#ifndef DT_DIAG_ONE_RANK_INT_H
#define DT_DIAG_ONE_RANK_INT_H

#include "diag/finding.h"
#include "diag/relate.h"

enum { DT_RUN_NUMBERS = 24 };
typedef struct DtRunNumbers { int n; double v[DT_RUN_NUMBERS]; } DtRunNumbers;

/* The records side by side. */
typedef struct DtRuns {
  DtDiag *g;
  DtCtx *cx;
  DtArena arena;
  int n;                        /* ranks */
  int nop;
  const DtRecOp **op;           /* of the one-rank run, oldest first */
  const DtRecOp **pair;         /* [nop][n]; NULL: it has no pair */
  int *dep;                     /* two of each input: a result (result_key) */
  int *first;                   /* [nop + 1]: where an operator's begin */
  uint32_t *past;               /* results in the past of what is looked at, a
                                ** bit each */
  uint32_t *taken;              /* results that a later operator takes */
  DtOrders orders;
  double near;
  bool whole_lists;             /* a gathered list is looked at as one tensor */
  bool noise;                   /* rounding was magnified on the way */
  DtRunNumbers size, literal;        /* of parts, and in the program */
  const char *why;              /* the search ended without a finding */
} DtRuns;

/* What the program claims to have computed: an input or result of an operator.
** The kinds are looked at one after the other. */
enum { DT_CLAIM_READ, DT_CLAIM_COMPARED, DT_CLAIM_LEFT, DT_CLAIM_SHOWN, DT_NCLAIMS };
typedef struct DtRunClaim { int kind, op, at; bool after; } DtRunClaim;

/* What is found: an operator of the past and how it takes its inputs. */
typedef struct DtParting {
  int op;                       /* -1: none */
  int in, out;                  /* the input and result to be shown */
  DtRelation rel;               /* of that input */
  bool scaled;                  /* an input is but for a factor */
  bool leaf;                    /* it has no inputs */
  int distinct;                 /* different values were counted there; -1 */
  bool divides;                 /* a sum, by a number of each rank's own */
  const char *file; int line;   /* what is to be mended: dt_runs_blame() */
  const char *says;             /* why there, static */
  bool own;                     /* ranges of the ranks: one_rank_own.c */
  bool anew;                    /* what a recurrence begins with: one_rank_loops.c */
  bool overflow;                /* a sum over the ranks that its integers cannot hold */
  int64_t many, none, of;       /* items of several ranks, of none, of all */
  const DtRecVar *made;         /* what is made at that line, of rank 0; or NULL */
  const DtRecVar *written;      /* the parameter that rank 0 updates; or NULL */
} DtParting;

/* The last of many results stand for each other. */
enum { DT_RUN_RESULTS = 32 };

/* A result of operator `i` as a number; 0 is none. */
static inline int dt_result_key (int i, int out) {
  return i * DT_RUN_RESULTS + (out < DT_RUN_RESULTS ? out : DT_RUN_RESULTS - 1) + 1;
}

static inline int dt_op_of_key (int key) { return (key - 1) / DT_RUN_RESULTS; }

static inline uint32_t dt_bit_of_key (int key) {
  return (uint32_t)1 << ((key - 1) % DT_RUN_RESULTS);
}

/* Is there a splitting that explains the tensor?  Pure. */
static inline bool dt_rel_explains (DtRelation r) {
  return r.kind == DT_REL_COPY || r.kind == DT_REL_PART ||
         r.kind == DT_REL_ADDEND;
}

static inline bool dt_rel_is_scaled (DtRelation r) { return r.factor != 1; }

/* That operator of all ranks, or NULL.  Pure. */
const DtRecOp *const *dt_runs_pair (const DtRuns *u, int i);

/* Find what made the inputs of each operator.  NOMEM.  Local. */
DtStatus dt_runs_link (DtRuns *u);

/* Mark the past of result `out` of operator `i` in u->past.  Pure. */
void dt_runs_mark_past (DtRuns *u, int i, int out);

/* Mark what operator `i` takes, its input `j` or, where it is marked itself, all.
** Pure. */
void dt_runs_mark_input (DtRuns *u, int i, int j);
void dt_runs_mark_inputs (DtRuns *u, int i);

/* What the j-th tensor before or after operator `i` of the ranks is of that of
** one rank; UNKNOWN where some rank does not have it.  NOMEM.  Local. */
DtStatus dt_runs_relate (DtRuns *u, int i, bool after, int j, DtRelation *out);
/* Does the j-th result of operator `i`, which divides, differ only where something
** was divided that is rounding beside the rest of its tensor (Adam's step of a
** gradient that is zero but for that)?  NOMEM.  Local. */
DtStatus dt_runs_magnifies (DtRuns *u, int i, int j, bool *yes);
/* A list that all_gather filled is one tensor with a row for each rank: are the rows
** what one rank's only row was split into?  *out stays where they are no such rows.
** NOMEM.  Local. */
DtStatus dt_runs_relate_rows (DtRuns *u, int i, int j, DtRelation *out);

/* The operator in the past of result `out` of operator `end` where the runs
** part: f->op, or -1.  u->why: they may part by right.  NOMEM.  Local. */
DtStatus dt_runs_search (DtRuns *u, int end, int out, DtParting *f);

/* Do they part at operator `i`, and does that lead to the result?  As above. */
DtStatus dt_runs_search_at (DtRuns *u, int end, int out, int i, DtParting *f);

/* The same where the program gave each rank a range of its own: the mask that is
** no partition, or what is summed; f->own.  NOMEM.  Local. */
DtStatus dt_runs_search_own (DtRuns *u, int end, int out, DtParting *f);

/* What a recurrence begins with that runs over a part on each rank, and the search above
** found nothing: its operators have no pairs; f->anew.  `rank`: the ranks' records.
** NOMEM.  Local. */
DtStatus dt_runs_search_loops (DtRuns *u, int end, int out,
                               const DtRecord *const *rank, DtParting *f);

/* Sums of messages that count some rank several times: told here, *told.  NOMEM.
** Local. */
DtStatus dt_runs_search_ring (DtRuns *u, const DtRecord *const *rank, bool *told);

/* Why a search ended: the ranks have numbers of their own.  Are those of operator
** `i`; did it draw other random numbers than on one rank?  Pure. */
extern const char dt_runs_own_number[];
bool dt_runs_numbers_differ (const DtRuns *u, int i);
bool dt_runs_draws_otherwise (const DtRuns *u, int i);

/* Does operator `i` of forward take what is the same on all ranks because it was
** reduced, and addends that are not summed?  NOMEM.  Local. */
DtStatus dt_runs_mixes (DtRuns *u, int i, bool *yes);

/* Does what operator `from` makes of a part of its input lead, on the way to result
** `out` of operator `end`, to a sum in forward with what all ranks have alike because
** it was reduced?  NOMEM.  Local. */
DtStatus dt_runs_meets_reduced (DtRuns *u, int end, int out, int from, bool *yes);

/* The all_reduce that made input `j` of operator `i`, but for copies and operators
** with one input; -1.  Pure. */
int dt_runs_reduced_by (const DtRuns *u, int i, int j);

/* The loss whose backward came last before operator `i`: what made it, and which
** of its results it is; -1.  Pure. */
int dt_runs_find_loss (const DtRuns *u, int i, int *out);

/* Set the place of what was found, and why it is that.  NOMEM.  Local. */
DtStatus dt_runs_blame (DtRuns *u, DtParting *f);

/* How far apart, as a share, two numbers are the same. */
extern const double dt_runs_near;

#endif
