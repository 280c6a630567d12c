/* SPDX-License-Identifier: MIT
** debug/debug.h: the debugger's state of one rank: the record of operators,
** the last failed call, counters.  A listener of the session's events: the
** dispatcher knows nothing of it. */
#ifndef DT_DEBUG_DEBUG_H
#define DT_DEBUG_DEBUG_H

#include "debug/record.h"

/* The call that failed last, still whole. */
typedef struct DtFailed {
  bool valid, fresh;            /* fresh: not yet reported */
  DtStatus code;
  char *pyclass, *message;
  const char *reason;           /* DtError's */
  const char *cause;            /* DtError's */
  const DtOpDef *op;
  DtArgs args;
  int nin; DtVar **in;          /* owned references */
  const char **name;            /* by slot: script variable, or NULL */
  const char **said;            /* by slot: what the line of Python says for it,
                                ** and for what functions called there made it
                                ** of; or NULL */
  const char **of;
  bool *param;                  /* by slot: `name`, or else `of`, is that of a
                                ** module's parameter which the line does not
                                ** say */
  int64_t seq;
  const char *file; int line;
  bool backward;
  bool python;                  /* its line is one of Python */
  DtArena arena;
} DtFailed;

/* Make what a failed call has for each of its n inputs, empty, in its arena.
** False without memory.  Local. */
bool dt_failed_make_slots (DtCtx *cx, DtFailed *f, int n);
/* Is a name that of a variable or a field, which can be read without running
** anything of the program: not "rotate_half(q)", nor NULL?  Pure. */
bool dt_failed_is_path (const char *name);

struct DtDebug {
  DtSession *s;
  bool python;                  /* what is typed, and runs, is Python */
  int listener;
  int muted;                    /* > 0: our own calls, not the user's */
  int64_t muted_at;             /* the number the program had come to then */
  int64_t muted_bytes;          /* moved while muted */
  int64_t muted_coll;
  DtRecord rec;
  int64_t nrecords;             /* ever made */
  bool in_redist, redist_implicit; int redist_slot; int64_t redist_seq;
  const char *func;             /* "distribute_tensor" while it runs */
  const char *composite; int composite_depth;   /* outermost one under way */
  DtFailed failed;
  struct DtControl *control;    /* stops and breakpoints, see control.h */
  void *diag;                   /* findings, see diag/finding.h */
  /* Who knows the script's variables: called when its line has changed, with
  ** the operator that comes; calls dt_record_bind().  May be NULL. */
  void (*names) (void *ud, DtDebug *d, int64_t seq);
  void *names_ud;
  const char *names_file; int names_line;       /* where it was asked last, */
  const DtOpDef *names_op;      /* and for which operator */
  const char *scope;            /* the script's function then */
  int64_t from;                 /* the running text began at this number */
  DtRecord last;                /* the run before (:rerun), ring NULL: none */
  DtRecord typed;               /* operators of lines typed at stops: not the
                                ** program's; without values; entry.from is
                                ** the number the program had come to */
  bool typing;                  /* such a line runs: `rec` and `typed` are
                                ** exchanged, */
  const struct DtTyping *typing_by;     /* and here is what to go back to */
  struct DtGradLog *grads;      /* gradients that reached leaves: grads.h */
  struct DtVerify *verify;      /* shadow mode: verify.h; NULL: off */
  /* Who judges repairs by more than their numbers: called before and after the
  ** call of each, where true means that it does not help.  May be NULL. */
  bool (*judge) (void *ud, bool after);
  void *judge_ud;
};

/* Attach to a session (s->debug).  `cap` operators are kept.  Local. */
DtStatus dt_debug_new (DtSession *s, int cap, DtDebug **out);
void dt_debug_free (DtSession *s);
static inline DtDebug *dt_debug_of (const DtSession *s) {
  return (DtDebug *)s->debug;
}
/* Is it the name of a program of Python?  Pure. */
bool dt_is_python_file (const char *name);
/* Run something of our own: not recorded, operator numbers, generator and
** gradient mode as before afterwards.  Local. */
typedef struct DtMute {
  int64_t seq; DtGenerators rng; bool grad; DtTracedMode traced;
} DtMute;
void dt_debug_mute (DtDebug *d, DtMute *m);
void dt_debug_unmute (DtDebug *d, const DtMute *m);
/* While muted at a stop, a line of the person's runs: its operators are kept
** aside (d->typed).  dt_debug_typed() ends it.  Local. */
typedef struct DtTyping {
  bool on, in_redist, redist_implicit; int redist_slot; int64_t redist_seq;
  const char *func, *composite; int composite_depth;
  const char *names_file; int names_line; const DtOpDef *names_op;
  const char *scope; int64_t from;
} DtTyping;
void dt_debug_typing (DtDebug *d, DtTyping *t);
void dt_debug_typed (DtDebug *d, const DtTyping *t);
/* The line that runs asks for the record: it is the program's again, and what
** the line calls from here on is not kept.  Local. */
void dt_debug_look (DtDebug *d);

/* --- repair.c --- */
typedef enum DtRepairVerdict {
  DT_VD_UNTRIED, DT_VD_EQUAL, DT_VD_CLOSE, DT_VD_WRONG, DT_VD_FAILED
} DtRepairVerdict;
typedef struct DtRepair {
  char *lua;                    /* what to write */
  char *apply;                  /* statements that do it at the prompt, before
                                ** the failed line is run again; NULL when an
                                ** input has no variable */
  char *torch;                  /* the same in PyTorch */
  char *note;                   /* verdict in words */
  DtRepairVerdict verdict;
  int64_t bytes;                /* per rank, of the operator itself */
  char *result;                 /* "dt: f32[4, 8]| S(0)" */
  bool warned;                  /* works today, not recommended */
  bool retry;                   /* `apply` changes no input: call again */
  bool told;                    /* the finding is still there with it */
} DtRepair;
typedef struct DtRepairs {
  int n; DtRepair r[12];
  int ngroups; char *equality;  /* "bitwise equal on ranks 0-3" */
  DtArena arena;
} DtRepairs;
/* Try every candidate repair of the failed call on its real inputs and compare
** with one device; none where not all ranks of the mesh come, and on those
** that are not in it.  Collective over the mesh, softly (dt_comm_stop());
** nothing is changed. */
DtStatus dt_repair_try (DtDebug *d, const DtFailed *f, DtRepairs *out);
/* The same for operator #seq, which did not fail but gave a wrong number:
** what makes it equal one device.  None where it cannot be compared, or where
** not all ranks name the same call (0: this one names none).  Collective over
** the world. */
DtStatus dt_repair_recorded (DtDebug *d, int64_t seq, DtRepairs *out);
void dt_repairs_fini (DtDebug *d, DtRepairs *r);
/* Is it one that gets a number: right, and recommended?  Pure. */
bool dt_repair_good (const DtRepair *r);
/* Index of the one numbered `n` (from 1), -1 when there is none.  Pure. */
int dt_repair_nth (const DtRepairs *r, int n);
/* What repair r[which] puts in place of the inputs, by slot; NULL where it
** keeps them.  The caller's references; they have no history of gradients.
** Collective: it is tried again. */
DtStatus dt_repair_inputs (DtDebug *d, const DtFailed *f, int which,
                           DtVar **in);

/* --- doctor.c --- */
/* For an operator without rules: which rows "S(d).. -> S(d).." hold on these
** inputs; register_sharding in Lua and Python.  Appends text; true when at
** least one sharded row held.  Collective (inputs are gathered). */
bool dt_doctor_text (DtDebug *d, const DtFailed *f, DtBuf *out);
/* The same rule as code that registers it, in Lua and in Python, and which rows
** held; false when the operator does not run on these inputs.  The debugger is
** muted by the caller.  Collective. */
bool dt_doctor_rule (DtDebug *d, const DtFailed *f, DtBuf *lua, DtBuf *torch,
                     DtBuf *valid);

/* --- texts --- */
/* "self" of slot i: name of the schema argument it belongs to.  Pure. */
const char *dt_slot_arg (const DtArgs *a, int slot, int *pos);
/* Its place in the list that is its argument, -1 when it is none.  Pure. */
int dt_slot_index (const DtArgs *a, int slot);
void dt_record_print (const DtRecOp *r, DtBuf *b);         /* one line */
void dt_record_print_colls (const DtRecOp *r, DtBuf *b);   /* "1 all_gather on
                                                           ** tp, 768 B" */
void dt_bytes_print (int64_t n, DtBuf *b);                 /* "1.5 MB" */
/* The mesh of the inputs, NULL when all are plain.  Pure. */
DtMesh *dt_record_mesh (const DtRecOp *r);
/* Decide a recorded operator again, with `args` (its own or others); there is
** a distributed input.  `why` may be NULL.  Errors as dt_prop_run().  Local. */
DtStatus dt_record_decide (DtDebug *d, const DtRecOp *r, const DtArgs *args,
                           DtWhy **why, DtProp **out);
/* "rules on one mesh dimension": who decided.  Pure. */
const char *dt_via_name (DtPropVia v);
/* Index of the candidate that moves the fewest bytes, the earliest of several;
** -1 without candidates.  Pure. */
int dt_why_cheapest (const DtWhy *w);
/* :why: the table of candidates of a recorded operator.  Local. */
DtStatus dt_why_text (DtDebug *d, const DtRecOp *r, DtBuf *b);
/* :ledger: totals by mesh dim, collective, operator, line.  Local. */
void dt_ledger_text (DtDebug *d, DtBuf *b);
/* :history, newest last.  Local. */
void dt_history_text (DtDebug *d, int n, DtBuf *b);
/* :plan: steps from a spec to placements, greedy against graph.  Local. */
DtStatus dt_plan_text (DtDebug *d, const DtVar *v, int npl,
                       const DtPlacement *pl, DtBuf *b);
/* :rules: rows of an operator for the arguments of a recorded call.  Local. */
DtStatus dt_rules_text (DtDebug *d, const DtOpDef *op, const DtRecOp *r,
                        DtBuf *b);

#endif
