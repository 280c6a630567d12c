/* SPDX-License-Identifier: MIT
** debug/autopsy.h: the facts about a failed call: every argument with spec
** and origin, equality of the plain ones over the ranks, PyTorch's text, and
** repairs that were run.  Collected from the ERROR event while the call is
** still intact. */
#ifndef DT_DEBUG_AUTOPSY_H
#define DT_DEBUG_AUTOPSY_H

#include "engine/session.h"
#include "debug/debug.h"

/* Append the report about the pending error of this session; false when
** there is none for it (then nothing is appended).  The repairs that were
** tried are left in `r` (zeroed before), for dt_repairs_fini().  Collective:
** repairs are run. */
bool dt_autopsy_text (DtSession *s, DtStatus code, DtRepairs *r, DtBuf *out);
/* The same about the call that failed last, printed before or not; false when
** none has.  Collective, as above. */
bool dt_autopsy_again (DtSession *s, DtBuf *out);
/* Every argument of a call, a line each: spec, mesh, where it was made.  Local. */
void dt_autopsy_args (const DtFailed *f, DtBuf *b);
/* Input `slot` of the failed call as "self  h  dt: f32[4]| S(0)".  Local. */
void dt_autopsy_arg (const DtFailed *f, int slot, DtBuf *b);
/* Operator of the last autopsy ("aten.add.Tensor"), NULL when none.  Pure. */
const char *dt_autopsy_op (const DtSession *s);

#endif
