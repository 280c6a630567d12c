/* SPDX-License-Identifier: MIT
** parity/values_int.h: a plain call that is run, for forward.c, grad.c,
** promotion.c and called.c. */
#ifndef DT_PARITY_VALUES_INT_H
#define DT_PARITY_VALUES_INT_H

#include "parity/parity_int.h"

typedef struct DtVCall {
  DtSession *s;
  DtJCall call;
  DtJVars vars;
  DtStatus st;                  /* of binding, then of the call */
  bool ran;
  DtResults r;
} DtVCall;

/* Decode; false when there is no session or no operator (line skipped). */
bool dt_vcall_init (DtParity *p, const json_t *o, DtVCall *v);
/* Run it unless binding failed. */
void dt_vcall_run (DtVCall *v);
void dt_vcall_fini (DtVCall *v);
/* The variable at "args[0]", "args[1][2]", "kw.out"; NULL when none. */
DtVar *dt_vcall_var (const DtVCall *v, const char *path);
/* The operators that torch.X, torch.Tensor.X or aten.X names; NULL. */
const DtPacket *dt_packet_of (DtParity *p, DtSession *s, const char *fn);
bool dt_same_results (DtParity *p, const json_t *want, const DtResults *r,
                      bool exact);

#endif
