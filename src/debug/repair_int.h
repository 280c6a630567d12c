/* SPDX-License-Identifier: MIT
** debug/repair_int.h: a trial of a repair, shared by repair.c (mixed inputs,
** missing rules), repair_mesh.c (inputs on several meshes) and repair_move.c
** (inputs that no strategy fits). */
#ifndef DT_DEBUG_REPAIR_INT_H
#define DT_DEBUG_REPAIR_INT_H

#include "debug/debug.h"

enum { DT_TRIAL_SLOTS = 64 };

typedef struct DtTrial {
  DtDebug *d;
  const DtFailed *f;
  DtGroup *group;               /* the ranks that try: those of the mesh */
  DtVar *full[DT_TRIAL_SLOTS];  /* gathered inputs, plain */
  DtVar *in[DT_TRIAL_SLOTS];    /* inputs of the candidate under way */
  bool made[DT_TRIAL_SLOTS];    /* plain, and made by autograd on some rank */
  DtResults ref;                /* one device */
  bool have_ref;
  int want;                     /* candidate whose inputs are kept in `keep` */
  DtVar **keep;
} DtTrial;

/* The whole values of all inputs, and the call with them.  Collective. */
DtStatus dt_trial_one_device (DtTrial *t);
/* Inputs of the next candidate; references are taken.  Local. */
void dt_trial_inputs (DtTrial *t, DtVar *const *from);
/* Run the call with t->in; fill verdict, bytes and result.  Collective. */
void dt_trial_run (DtTrial *t, DtRepairs *out, DtRepair *r);
/* The candidate of plain tensors: full_tensor() of every distributed input.
** Collective. */
void dt_trial_full (DtTrial *t, DtRepairs *out);
/* Is it the name of a variable, which a repair may assign to?  Not a field of
** an object ("self.scale"), which may not take any tensor: the call alone is
** given the repaired one then. */
bool dt_trial_is_variable (const char *name);
/* A new, empty candidate of `out`.  Local. */
DtRepair *dt_trial_repair (DtRepairs *out);
/* A copy of a text that lives as long as `out`; "" without memory.  Local. */
char *dt_trial_words (DtTrial *t, DtRepairs *out, const char *text);
/* What the input is called: the script's variable, the tensor's own name, or
** the argument: "tensors[2]" in a list.  Appends.  Local. */
void dt_trial_name (const DtFailed *f, int slot, DtBuf *b);

/* Compare results with one device's: 0 different, 1 close, 2 the same bits.
** Collective. */
DtStatus dt_trial_compare (DtTrial *t, DtResults *r, int *same);

/* --- repair_move.c --- */
/* Candidates for a call that no strategy fits: an input redistributed before
** it.  Those that do not help are left out.  Collective over the mesh. */
DtStatus dt_repair_move (DtTrial *t, DtRepairs *out);

/* --- repair_mesh.c --- */
/* Do distributed inputs lie on meshes that differ?  Pure. */
bool dt_repair_meshes_differ (const DtFailed *f);
/* Candidates for it: the inputs of smaller meshes seen on the largest, where
** those are slices of it.  Collective. */
DtStatus dt_repair_join_meshes (DtTrial *t, DtRepairs *out);

#endif
