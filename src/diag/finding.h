/* SPDX-License-Identifier: MIT
** diag/finding.h: silent traps, noticed while a program runs.
**
** A listener of the session's events asks the rules (rules_*.c) and keeps what
** they find: code, operator, script line, evidence, fix.  Rules look at
** metadata only, so they cost next to nothing where nothing is found.  What
** needs the other ranks ("is this plain tensor the same everywhere?") becomes
** a claim: a hash of this rank's data under a key.  Nothing is sent then; who
** shows the findings gathers the claims of all ranks and has them judged.
** Nothing here prints. */
#ifndef DT_DIAG_FINDING_H
#define DT_DIAG_FINDING_H

#include "debug/record.h"
#include "debug/spans.h"

typedef enum DtFindSeverity {
  DT_FIND_WRONG, DT_FIND_WARN, DT_FIND_NOTE
} DtFindSeverity;

typedef enum DtFindId {
#define X(name, code, trap, sev, title, cause, lua, torch) DT_FIND_ID_##name,
#include "diag/findings.def"
#undef X
  DT_NFINDS
} DtFindId;

/* One row of findings.def. */
typedef struct DtFindKind {
  DtFindId id;
  const char *name, *code, *trap;
  DtFindSeverity severity;
  const char *title, *cause, *lua, *torch;
} DtFindKind;

/* The row of a kind; NULL past the end.  Pure. */
const DtFindKind *dt_find_kind (int id);
/* The row of a code ("DT1015"), trap ("T15") or name; NULL.  Pure. */
const DtFindKind *dt_find_lookup (const char *word);
/* "wrong", "warning", "note".  Pure. */
const char *dt_find_severity (DtFindSeverity s);

/* The page on a kind: title, cause, fixes.  Pure. */
void dt_find_page (const DtFindKind *k, DtBuf *out);

/* Something found.  Texts are owned. */
typedef struct DtFinding {
  const DtFindKind *kind;
  int64_t seq;                  /* operator, of the first time */
  const char *op;               /* its name */
  const char *file; int line;   /* script line */
  const char *module;
  bool backward;
  bool some;                    /* of a group of some of the ranks */
  bool in_graph;                /* of a tensor that has a gradient */
  int64_t from;                 /* which text ran (DtDebug.from) */
  int64_t count;                /* how often it was met */
  char *subject;                /* script variable, or "" */
  char *evidence;               /* what was seen */
  char *lua, *torch;            /* the fix, filled in */
  char *edit;                   /* of the line, '+', '-', ' ' before each; or "" */
  char *tried_lua, *tried_torch;        /* a repair that was run, or NULL */
  char *verdict;                /* what it gave, or NULL */
  bool asked;                   /* were repairs looked for? */
  bool shown;                   /* as a line at the prompt */
} DtFinding;

typedef struct DtDiag DtDiag;

/* Begin to listen; the session's debugger must be there, and freed after.
** NOMEM.  Local. */
DtStatus dt_diag_new (DtSession *s, DtDiag **out);
void dt_diag_free (DtDiag *g);
/* That of a session, NULL when there is none.  Pure. */
DtDiag *dt_diag_of (const DtSession *s);
/* When things happened: kept beside, for the exports.  Pure. */
const DtSpans *dt_diag_spans (const DtDiag *g);
/* :set findings.  Agreed. */
void dt_diag_enable (DtDiag *g, bool on);
bool dt_diag_enabled (const DtDiag *g);
/* Forget all findings and claims.  Local. */
void dt_diag_clear (DtDiag *g);
/* i-th finding, oldest first; NULL past the end.  Pure. */
const DtFinding *dt_diag_at (const DtDiag *g, int i);

/* Claims of this rank as text, and judging those of all ranks: `text[r]` is
** rank r's.  Finds the same on every rank of a group; forgets the claims.
** Local; the gathering between is the caller's. */
void dt_diag_claims (DtDiag *g, DtBuf *out);
void dt_diag_judge (DtDiag *g, int n, const char *const *text);
/* Both, with the gathering: Collective over the world.  COMM, DIVERGED. */
DtStatus dt_diag_settle (DtDiag *g);

/* Run repairs of those that all ranks found at one operator whose result can be
** compared; each once.  Collective over the world, after dt_diag_settle().
** COMM, DIVERGED. */
DtStatus dt_diag_try (DtDiag *g);

/* Findings as bytes, appended to `out`; read in place of those there are.
** Claims are not among them: settle them before.  Local. */
void dt_diag_write (const DtDiag *g, DtBuf *out);
void dt_diag_read (DtDiag *g, const char *p, size_t n);

/* A finding in one line: "T15 DT1015 prompt:3 #7 aten.mean.default: a mean of
** means ...; evidence".  Pure. */
void dt_finding_line (const DtFinding *f, DtBuf *b);
/* In one line for who did not ask: "DT1015 x.py:14 mae: a mean of means ...:
** evidence".  Pure. */
void dt_finding_brief (const DtFinding *f, DtBuf *b);
/* The repair that was run and what it gave, in the program's language:
** "x = x:redistribute(mesh, "R"): equals one device, moves 96 B/rank".  false:
** none was, and nothing is appended.  Pure. */
bool dt_finding_tried (const DtFinding *f, DtBuf *b);
/* In full: evidence, cause, fixes.  Pure. */
void dt_finding_text (const DtFinding *f, DtBuf *b);
/* Lines of those not yet shown; marks them.  Local. */
void dt_diag_fresh (DtDiag *g, DtBuf *b);

/* Found by code above the engine (the Lua library: an optimizer with old
** parameters, a mesh of the wrong shape); `op`: in which call, or NULL.
** Local. */
void dt_diag_tell (DtDiag *g, DtFindId id, DtVar *v, const char *op,
                   const char *evidence);
/* As dt_diag_tell(), where `v` was made.  Local. */
void dt_diag_tell_made (DtDiag *g, DtFindId id, DtVar *v, const char *evidence);
/* The gradient of this parameter, and of those around it, is reduced over this rank alone
** where copies of it are on others; told when the copies went apart.  Local. */
void dt_diag_solo (DtDiag *g, const DtVar *v, const char *evidence);
/* What was found of this kind with this evidence has been put right since:
** forget it.  Local. */
void dt_diag_withdraw (DtDiag *g, DtFindId id, const char *evidence);
/* Was this tensor given to distribute_tensor as a parameter?  Pure. */
bool dt_diag_was_source (const DtDiag *g, int64_t var_id);
/* A tensor read from a file is the part at `off` of the tensor `name` of
** `shape`.  Local. */
void dt_diag_part (DtDiag *g, const DtVar *v, const char *name, int ndim,
                   const int64_t *shape, const int64_t *off);
/* Told by who ran a raw collective: `raw` took `in` and gave `out`.  Local. */
void dt_diag_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                  const DtVar *out);
/* The optimizer's step: `n` parameters have a gradient; of the others `p` is one,
** or NULL.  Local. */
void dt_diag_step (DtDiag *g, int n, const DtVar *p);
/* How often parameters were updated.  Pure. */
int64_t dt_diag_updates (const DtDiag *g);
/* The gradient of a parameter was reduced along a dimension of a mesh by the
** library.  Local. */
void dt_diag_reduced (DtDiag *g, const DtVar *p, DtMesh *mesh, int mdim);
/* One of a list of which each rank gets the sum of one: its own gradient, or that of
** which another rank is the owner.  Local. */
void dt_diag_gradient_given (DtDiag *g, const DtVar *grad, DtMesh *mesh, int mdim);
/* `grads` of a unit of fully_shard are about to be reduced along a dimension of
** a mesh; `p` is one of its parameters, or NULL.  Local. */
void dt_diag_scattered (DtDiag *g, const DtVar *grads, const DtVar *p,
                        DtMesh *mesh, int mdim);
/* The library averages the gradients of the backward under way over `n` ranks.
** Local. */
void dt_diag_averaging (DtDiag *g, int64_t n);
/* Dropout, or a batch normalization, runs in this mode; a module is set to evaluate.
** Local. */
void dt_diag_mode (DtDiag *g, bool training);
void dt_diag_evaluates (DtDiag *g);
/* The program tells the library to leave parameter `v` alone.  Local. */
void dt_diag_set_apart (DtDiag *g, const DtVar *v);
/* The program gives fully_shard a number to divide gradients by.  Local. */
void dt_diag_factor_given (DtDiag *g);
/* Gradients are summed over `d` ranks, along dimension `mdim` of `mesh` and over copies,
** and divided by `f`, which the program gave.  Local. */
void dt_diag_divides (DtDiag *g, const DtMesh *mesh, int mdim, double d, double f);
/* `v` is this rank's piece of a parameter: others have other numbers of elements,
** so that how often its gradient was scaled compares with nothing.  Local. */
void dt_diag_piece (DtDiag *g, const DtVar *v);
/* The gradients of parameters, of which `p` is one, are scaled by the number `by` that
** was made of their norm: if `p` is such a piece, a claim.  Local. */
void dt_diag_clipped (DtDiag *g, const DtVar *p, const DtVar *by);

/* `v` is the local part of an input of local_map() that is given no placements of
** its gradient.  Local. */
void dt_diag_mapped (DtDiag *g, const DtVar *v);
/* A module's buffer; a tensor that a checkpoint was loaded into.  Local. */
void dt_diag_buffer (DtDiag *g, const DtVar *v, const char *name);
void dt_diag_loaded (DtDiag *g, const DtVar *v);
/* `v`, which is not distributed, goes into a checkpoint of all ranks under `key`.
** Local. */
void dt_diag_saved (DtDiag *g, const DtVar *v, const char *key);
/* How many parameters were made since `a` and before `b`, neither of them a copy; -1:
** that is not known.  *all: how many there are.  Pure. */
int dt_diag_params_between (const DtDiag *g, const DtVar *a, const DtVar *b, int *all);
/* Is it a sum over more than one element that nothing has divided?  Local. */
bool dt_diag_is_sum (DtDiag *g, const DtVar *v);
/* A call of load_state_dict begins; `v` of the model or the optimizer got what it
** was given under `key`.  Local. */
void dt_diag_restoring (DtDiag *g);
void dt_diag_restored (DtDiag *g, const DtVar *v, const char *key);
/* A load left the moments of an optimizer in the file, `name` and others; NULL: it did
** not.  An optimizer that was saved with them goes on without.  Local. */
void dt_diag_moments_left (DtDiag *g, const char *name);
void dt_diag_moments_fresh (DtDiag *g);
/* fully_shard cuts `v`, which is plain; returns a number for dt_diag_cut_used(), -1 for
** none.  Its first forward over that dimension of a mesh uses what it held then.
** Local. */
int dt_diag_cut_whole (DtDiag *g, const DtVar *v);
void dt_diag_cut_used (DtDiag *g, int cut, const DtMesh *mesh, int mdim);
/* rules_moments.c.  A state_dict() of an optimizer begins; it hands out a tensor of
** `p`; a load gives `p` one.  Local. */
void dt_diag_moments_saving (DtDiag *g);
void dt_diag_moment_saved (DtDiag *g, const DtVar *p, const DtVar *v, const char *key);
void dt_diag_moment_given (DtDiag *g, DtVar *p, const DtVar *v, const char *key);
/* Gradients are cleared.  Local. */
void dt_diag_clearing (DtDiag *g);
/* Raw collectives so far.  Pure. */
int64_t dt_diag_raws (const DtDiag *g);
/* The forward of a custom function ends, before which there were `before` of them: did
** it call one?  Then those ranks work on one model.  Local. */
bool dt_diag_function_sent (DtDiag *g, int64_t before);
/* A function gathered `out`, and gives `back` for its gradient `grad` without a
** collective.  Local. */
void dt_diag_gather_back (DtDiag *g, const DtVar *out, const DtVar *grad,
                          const DtVar *back);
/* The forward of the custom function `name` begins with `in[0..n)` (NULL: no tensor); it
** ends with `out`, `sent`: there were collectives in it (messages are known).  A number for its backward; 0: it
** is not looked at.  Local. */
void dt_diag_function_begins (DtDiag *g, const char *name, int n, DtVar *const *in);
int dt_diag_function_ends (DtDiag *g, bool sent, int n, DtVar *const *out);
/* Its backward begins.  Local. */
void dt_diag_function_turns (DtDiag *g, int number);
/* Its backward, which ends at that line, gives `gin` for `gout`.  Local. */
void dt_diag_function_back (DtDiag *g, int number, int nout, DtVar *const *gout, int nin,
                            DtVar *const *gin, const char *name, const char *file,
                            int line);
/* A functional collective gave `out` for `in`; somebody read `v` past the
** operators.  Local. */
void dt_diag_result (DtDiag *g, const DtVar *in, const DtVar *out);
void dt_diag_result_read (DtDiag *g, const DtVar *v);
/* `v` is the parameter or buffer of a module.  Local. */
void dt_diag_param (DtDiag *g, const DtVar *v);
/* The parameter `v` got other memory.  Local. */
void dt_diag_param_moved (DtDiag *g, const DtVar *v);
/* `copy` is full_tensor() of `p`; a checkpoint was read into `v`, what
** it holds under `key`.  Local. */
void dt_diag_copy_of (DtDiag *g, const DtVar *p, const DtVar *copy);
/* Until it is called again without `p`, a module shows the gathered `copy` in place
** of its parameter `p`; then the copy is let go of, with what was written.  Local. */
void dt_diag_shows (DtDiag *g, const DtVar *copy, const DtVar *p);
void dt_diag_filled (DtDiag *g, const DtVar *v, const char *key);
/* fully_shard keeps the gradient of `p` back, or has reduced it.  Local. */
void dt_diag_unreduced (DtDiag *g, const DtVar *p, bool on);
/* Does fully_shard keep gradients back?  Pure. */
bool dt_diag_keeps_back (const DtDiag *g);
/* An optimizer steps on `p`: is its gradient, or a part of it, kept back?
** Local. */
void dt_diag_step_without (DtDiag *g, const DtVar *p);
/* The ranks hold something that must not differ with something that must: a
** finding where both are so.  `differ`, `same`: hashes, 0 says nothing; `mute`:
** other ranks may tell it, not this one.  `what`: static or interned.  Local. */
void dt_diag_claim_of (DtDiag *g, DtFindId id, const char *op,
                       const char *subject, const char *what, uint64_t differ,
                       uint64_t same, bool mute);
/* As dt_diag_claim_of() takes it; 0 where all values are the same.  Pure. */
uint64_t dt_diag_sample (const DtTensor *t);
/* A parameter gets no gradient any more.  Local. */
void dt_diag_frozen (DtDiag *g, const DtVar *v);
/* A message between two ranks: activations travel.  Local. */
/* A message leaves for the rank `to` of the world; one came from `from`.  Local. */
void dt_diag_message_sent (DtDiag *g, int to, const DtVar *v);
/* What the rank `from` sent is in `v`; a list of what comes has `v` several times, as
** `evidence` says.  Local. */
void dt_diag_received (DtDiag *g, const DtVar *v, int from);
void dt_diag_written_over (DtDiag *g, const DtVar *v, const char *evidence);
void dt_diag_message_came (DtDiag *g, int from, const DtVar *v);
void dt_diag_moved (DtDiag *g);
/* This rank has the stage `index` of a pipeline: other ranks that have it as well hold
** a copy.  Local. */
void dt_diag_stage (DtDiag *g, int64_t index);
/* A broadcast along `mdim` of `mesh` has made a plain tensor equal on all ranks;
** `managed`: the library did, and is to keep it so; without a mesh: a reduction has.
** Local. */
void dt_diag_replica (DtDiag *g, const DtVar *v, DtMesh *mesh, int mdim, bool managed);
/* fully_shard cuts parameters along `mdim` of `mesh`: what is beside them is a copy
** on each of those ranks.  Local. */
void dt_diag_cuts (DtDiag *g, DtMesh *mesh, int mdim);
/* A collective of a list of tensors sends `v` to the rank after that which gets
** `before`.  Local. */
void dt_diag_sent_after (DtDiag *g, const DtVar *v, const DtVar *before,
                         const char *kind);
/* An all_gather along `mdim` of `mesh` of a plain tensor `mine` gave `piece` as
** that of rank `i` of the group.  Local. */
void dt_diag_gathered (DtDiag *g, const DtVar *mine, const DtMesh *mesh,
                       int mdim, const DtVar *piece, int64_t i);
/* What is known of `from` holds of `to`, into which it was copied whole.
** Local. */
void dt_diag_carry (DtDiag *g, const DtVar *from, const DtVar *to);
/* Without gradients, a sampler dealt out `items` to `ranks` that do not divide
** them, and added some.  Local. */
void dt_diag_padded (DtDiag *g, int64_t items, int ranks);
/* A scheduler that is made for `total` steps made step `step`; 0: it is made.  A
** sampler deals its items out to `ranks` once more.  Local. */
void dt_diag_scheduled (DtDiag *g, double total, int64_t step);
void dt_diag_pass_begins (DtDiag *g, int ranks);
/* A sampler is made that deals out to so many ranks.  Local. */
void dt_diag_sampled (DtDiag *g, int64_t ranks);
/* A sampler deals `rows` of a data set out to all ranks: a claim.  Local. */
void dt_diag_dealt_out (DtDiag *g, const DtVar *rows);
/* Drop the claims of one kind whose first fact is `hash` (0: all): something else
** explains them.  Local. */
void dt_diag_claim_excuse (DtDiag *g, DtFindId id, uint64_t hash);
/* Its memory was written past the operators.  Local. */
void dt_diag_written (DtDiag *g, const DtVar *v);
/* The program lets go of the memory of a tensor.  Local. */
void dt_diag_let_go (DtDiag *g, const DtVar *v);
/* A collective wrote into its memory, past autograd's count of versions; `was`:
** dt_diag_look() at it before.  Local. */
uint64_t dt_diag_look (const DtDiag *g, const DtVar *v);
void dt_diag_uncounted (DtDiag *g, const DtVar *v, const char *kind, uint64_t was);
/* Remember a tensor as such a source.  Local. */
void dt_diag_source (DtDiag *g, const DtVar *v);

/* What the library knows of a tensor's memory: a collective writes it that
** nobody has waited for; its sequence is in a load balancer's order; one reads
** it that nobody has waited for. */
typedef enum DtDiagMark {
  DT_MARK_PENDING, DT_MARK_PERMUTED, DT_MARK_SENDING, DT_MARK_ROUNDED, DT_NMARKS
} DtDiagMark;
/* "pending", "permuted", "sending", "rounded"; -1: no such mark.  Pure. */
int dt_diag_mark_named (const char *name);
/* Set or clear a mark; returns whether it was set.  Local. */
bool dt_diag_mark (DtDiag *g, DtDiagMark mark, const DtVar *v, bool on);
/* Is it marked?  Pure. */
bool dt_diag_marked (const DtDiag *g, DtDiagMark mark, const DtVar *v);

#endif
