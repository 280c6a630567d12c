/* SPDX-License-Identifier: MIT
** parity/values_int.h: a plain call that is run, for forward.c, grad.c,
** promotion.c and called.c. */
#ifndef DT_PARITY_VALUES_INT_H
#define DT_PARITY_VALUES_INT_H

#include "engine/event.h"
#include "parity/parity_int.h"

typedef struct DtVCall {
  DtSession *s;
  DtJCall call;
  DtJVars vars;
  DtStatus st;                  /* of binding, then of the call */
  bool ran;
  DtResults r;
} DtVCall;

/* Results whose vectors are determined up to a factor only (phases.c): none,
** each column, each row.  `op` is a full name. */
typedef enum DtFreePhase { DT_PHASE_FIXED, DT_PHASE_COLUMNS, DT_PHASE_ROWS }
  DtFreePhase;
DtFreePhase dt_free_phase (const char *op, int out);
bool dt_same_vectors (DtParity *p, const char *what, const json_t *want,
                      const DtTensor *t, DtFreePhase kind);

/* Decode; false when there is no session or no operator (line skipped). */
bool dt_vcall_init (DtParity *p, const json_t *o, DtVCall *v);
/* Run it unless binding failed. */
void dt_vcall_run (DtVCall *v);
void dt_vcall_fini (DtVCall *v);
/* The variable at "args[0]", "args[1][2]", "kw.out"; NULL when none. */
DtVar *dt_vcall_var (const DtVCall *v, const char *path);
/* The operators that torch.X, torch.Tensor.X or aten.X names; NULL. */
const DtPacket *dt_packet_of (DtParity *p, DtSession *s, const char *fn);
/* The line with what Python takes one by one as a list: the tensors of
** einsum(equation, *tensors), or (`ints`) the integers of a method,
** x.permute(1, 0).  New, NULL where there is nothing to pack. */
json_t *dt_line_packed (const json_t *o, bool ints);
/* Operators dispatched in a session, with their arguments (oplog.c); memory
** is the line's. */
typedef struct DtLogged {
  const DtOpDef *op;
  DtArgs args;
  int nin;
  DtMeta *m;                    /* by slot */
  int *npl;                     /* by slot, -1 = a plain tensor */
  DtPlacement *pl;              /* DT_MAX_MDIM for each slot */
} DtLogged;
typedef struct DtOpLog { DtParity *p; int n, cap, id; DtLogged *v; } DtOpLog;
DtStatus dt_oplog_start (DtOpLog *l, DtParity *p, DtSession *s);
void dt_oplog_stop (DtOpLog *l, DtSession *s);
/* The overloads in order, and their arguments (NULL: not compared). */
bool dt_same_oplog (DtParity *p, const char *what, const json_t *ops,
                    const json_t *args, const DtOpLog *l);
bool dt_same_results (DtParity *p, const char *op, const json_t *want,
                      const DtResults *r,
                      bool exact);

#endif
