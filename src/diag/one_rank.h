/* SPDX-License-Identifier: MIT
** diag/one_rank.h: the program of N ranks beside its run on one rank. */
#ifndef DT_DIAG_ONE_RANK_H
#define DT_DIAG_ONE_RANK_H

#include "diag/finding.h"

/* Compare the records of all ranks, rank[0..n), with that of the same program on
** one rank.  Where what the program claims (a number that it reads, a tensor that
** it compares, a parameter after its last step) is another one although the ranks
** agree on it, the first operator in its past whose inputs are copies,
** parts or addends of the one-rank tensors, and whose result is none of these,
** becomes a finding.
** *why: a text, why nothing could be compared; NULL where it was.  NOMEM.
** Local. */
DtStatus dt_diag_compare_one (DtDiag *g, int n, const DtRecord *const *rank,
                              const DtRecord *one, const char **why);

/* Does a claim of one rank differ from the one-rank run's by more than rounding,
** so that all ranks' records are worth being sent?  NOMEM.  Local. */
DtStatus dt_diag_claims_differ (DtCtx *cx, const DtRecord *mine,
                                const DtRecord *one, bool *differ);

/* Could anything come of it: is a number read, or do the ranks communicate, and
** is the record whole?  Pure. */
bool dt_diag_may_compare (const DtRecord *k);

#endif
