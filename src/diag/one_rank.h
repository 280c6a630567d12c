/* SPDX-License-Identifier: MIT
** diag/one_rank.h: the program of N ranks beside its run on one rank. */
#ifndef DT_DIAG_ONE_RANK_H
#define DT_DIAG_ONE_RANK_H

#include "diag/finding.h"

/* Compare the records of all ranks, rank[0..n), with that of the same program on
** one rank.  Where a number that the program reads is another one, although the
** ranks agree on it or hold no share of it, the first operator in its past whose
** inputs are copies, parts or addends of the one-rank tensors, and whose result
** is none of these, becomes a finding.
** *why: a text, why nothing could be compared; NULL where it was.  NOMEM.
** Local. */
DtStatus dt_diag_compare_one (DtDiag *g, int n, const DtRecord *const *rank,
                              const DtRecord *one, const char **why);

/* Does a number that both runs read, at the same places, differ by more than
** rounding?  Pure. */
bool dt_diag_reads_differ (const DtRecord *mine, const DtRecord *one);

/* Could anything come of it: is a number read, is the record whole?  Pure. */
bool dt_diag_may_compare (const DtRecord *k);

#endif
