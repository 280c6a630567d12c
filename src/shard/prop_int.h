/* SPDX-License-Identifier: MIT
** shard/prop_int.h: what the parts of propagation share.  Private to shard/.
**
** A decision goes: metas of the outputs (prop.c) -> candidates: rows on one
** mesh dim (rule.c, pointwise.c) multiplied over the mesh (expand.c), or a
** strategy over the whole mesh (strategy.c), or traced (decomp.c), or one of
** these per list element (tuple.c) -> one choice (select.c) -> specs. */
#ifndef DT_SHARD_PROP_INT_H
#define DT_SHARD_PROP_INT_H

#include "base/map.h"
#include "compat/profile.h"
#include "shard/prop.h"

struct DtPropagator {
  DtRegistry *reg;              /* borrowed */
  DtPlanner *plan;              /* borrowed */
  struct DtPropEntry **table;   /* the cache, open addressing */
  uint32_t ntable, count;
  int64_t hits, misses;
  int depth;                    /* decompositions being traced */
  int64_t resized;              /* see dt_prop_resized */
  DtMesh *one;                  /* mesh of size 1 they are traced on */
  DtMap traced;                 /* operators whose decomposition was asked */
  DtTracedMode traced_mode;
  bool outside_dispatch;        /* see dt_prop_outside_dispatch */
  unsigned hash_seed;           /* see dt_prop_hash_seed */
  int release;                  /* whose strategies count */
  bool twins, decomposes;       /* switches of that release */
  int views;                    /* DtViewRules of it */
  bool checks_rows;             /* ROWS_CHECKED of it */
};

/* Masks that must live until the decision is made. */
typedef struct DtHold {
  DtMaskBuf *mask;
  struct DtHold *next;
} DtHold;

/* One call under decision.  Slots are in schema order: positional tensors
** first (npos of them), then keyword ones. */
typedef struct DtDecide {
  DtCtx *cx;
  DtPropagator *p;
  DtArena *arena;               /* everything that dies with the decision */
  const DtOpDef *op;            /* named in errors; of an element: the base */
  const DtOpDef *rule_op;       /* whose rules are asked */
  const char *name;             /* of op in errors */
  DtHold **holds;
  const DtArgs *args;
  int nin, npos;
  const DtSpec *const *in;
  const DtMeta **meta;          /* metas of in */
  int nout;                     /* tensor results, None included */
  int element_nout;             /* outputs of one element, -1 as its base */
  const DtMeta *out;
  const bool *none;
  DtMesh *mesh;
  bool inplace;
  int flag;                     /* of _S specs, see below */
  bool keep;                    /* keep all candidates, for why */
  int different;                /* positional tensor that may lie on another
                                ** mesh (fused optimizers), -1 */
} DtDecide;

/* Candidates and the choice among them. */
typedef struct DtSheet {
  DtDecide *d;
  int nout, nin, ndim;
  bool tuple;                   /* element of a list: no zero classes */
  bool alone;                   /* its one output, or none, is that of several
                                ** which is not None */
  int64_t n, nexcluded;
  int64_t neg, same, zero, least;       /* indices of the choice, -1 */
  double neg_total, least_total;
  int64_t winner;
  DtCand best;                  /* a copy of the winner */
  bool best_in, best_cost;      /* it has inputs, a cost */
  bool best_whole;              /* it keeps the list of the only input, longer
                                ** or shorter than the mesh */
  int ncand, cap;               /* all of them, when d->keep */
  DtCand *cand;
  void *ud;                     /* of a user's strategy */
} DtSheet;

DtStatus dt_sheet_init (DtSheet *s, DtDecide *d, int nout, bool tuple);
/* Does the next candidate, with this total, become the choice?  `moves`: some
** positional input would change. */
bool dt_sheet_next (DtSheet *s, double total, bool moves);
/* Record it: as the choice (`wins`), and among all when they are kept.  `in`
** NULL: inputs take the output's placements; `cost` NULL: none was set. */
DtStatus dt_sheet_put (DtSheet *s, bool wins, const DtPlacement *out,
                       const DtPlacement *in, const double *cost,
                       double total);
/* VALUE, PyTorch's text, when there is no candidate. */
DtStatus dt_sheet_check (DtSheet *s);

/* Cost of bringing input `i` to `pl` (n mesh dims). */
DtStatus dt_decide_cost (DtDecide *d, int i, const DtPlacement *pl,
                         double *out);
/* Bytes that takes, by the plan; 0 when there is no plan. */
int64_t dt_decide_bytes (DtDecide *d, int i, const DtPlacement *pl);
/* Flag of _S specs while costs are computed, and in the result: that of the
** inputs.  `dflt` when no input has _S (-1: any _S sets it). */
int dt_strided_flag_first (const DtDecide *d, int dflt);
int dt_strided_flag_final (const DtDecide *d, int dflt);

/* Rows of the operator on one mesh dim, out= columns and the all-R row
** included. */
DtStatus dt_decide_rows (DtDecide *d, DtRows *rows, bool *inserted);
/* Class rows and base rows of pointwise operators. */
DtStatus dt_pointwise_rows (DtDecide *d, DtRows *rows);
/* Placeholders filled, product over the mesh, filters, costs. */
typedef struct DtExpand {
  bool inplace, uneven, fill;
} DtExpand;
DtStatus dt_expand_rows (DtSheet *s, const DtRows *rows, const DtExpand *o);

/* From now on dt_prop_was_traced().  NOMEM. */
DtStatus dt_prop_mark_traced (DtPropagator *p, const DtOpDef *op);
/* Candidates of an operator strategy, of a user's. */
DtStatus dt_strategy_run (DtSheet *s, DtStratFn fn, void *ud);
/* Candidates by tracing the decomposition; *found false when the operator
** cannot be traced (an operator inside has no strategy). */
DtStatus dt_decomp_run (DtDecide *d, DtSheet *s, bool *found);
DtStatus dt_decomp_meta (DtPropagator *p, DtMetaCall *c);
/* Metas of the outputs, at most `max`, by the operator's function or by its
** decomposition; `fake` as in DtMetaCall.  Sets out, none, nout of d. */
DtStatus dt_decide_metas (DtDecide *d, int max, bool fake);

/* List operators: one choice per element. */
typedef struct DtChosen {
  DtDecide d;                   /* of the element */
  DtSheet sheet;
  int *slot;                    /* of the call, for each input */
} DtChosen;
/* Candidates of `d` by the source that comes first, into a new sheet.
** MISSING when there is none. */
DtStatus dt_decide_candidates (DtDecide *d, bool tuple, DtSheet *s,
                               DtPropVia *via);
/* Fill `d` for slots in schema order; metas of outputs inferred. */
typedef struct DtDecideFor {
  DtPropagator *p;
  DtArena *arena;
  const DtOpDef *op, *rule_op;
  const DtArgs *args;
  int nin; const DtSpec *const *in;
  bool no_meta;                 /* outputs are not inferred */
  DtHold **holds;               /* list of the whole decision */
} DtDecideFor;
DtStatus dt_decide_init (DtCtx *cx, const DtDecideFor *f, DtDecide *d);
/* Keep the mask of a placement (nothing for others) until the decision ends;
** `adopt` takes over a reference instead of counting one.  Local. */
DtStatus dt_decide_hold (DtDecide *d, DtPlacement p, bool adopt);
/* Positional tensors of a call.  Pure. */
int dt_args_positional (const DtArgs *args);
/* Placements of an input of the choice. */
const DtPlacement *dt_sheet_in (const DtSheet *s, int i);
/* Is there a rule for one mesh dim? */
bool dt_op_single_dim (const DtOpDef *op);
/* Decide, with errors as the propagator raises them (no suffix). */
DtStatus dt_prop_raw (DtCtx *cx, DtPropagator *p, const DtOpSchema *q,
                      DtWhy *why, DtProp **out);
/* The same through the cache. */
DtStatus dt_prop_raw_cached (DtCtx *cx, DtPropagator *p, const DtOpSchema *q,
                             DtProp **out, bool *hit);
/* An error of the propagator as the dispatcher raises it. */
DtStatus dt_prop_suffix (DtCtx *cx, DtStatus st, const DtOpSchema *q);
/* The result as an object. */
DtStatus dt_prop_build (DtDecide *d, const DtSheet *s, DtPropVia via,
                        DtProp **out);
DtStatus dt_prop_build_list (DtDecide *d, int n, const DtChosen *c,
                             DtPropVia via, DtProp **out);
/* An empty result: arrays of their sizes, everything zero. */
DtProp *dt_prop_new (DtCtx *cx, const DtOpDef *op, int nin, int nout,
                     int ncosts);
bool dt_decide_is_list (const DtDecide *d);
/* Arguments of element i with slots of their own: slot[k] is the call's. */
DtStatus dt_element_args (DtDecide *d, int i, DtArgs *args, int *slot,
                          int *nin);
DtStatus dt_tuple_run (DtDecide *d, DtWhy *why, int *n, DtChosen **out,
                       DtPropVia *via);

/* A table of candidates from a sheet; it copies.  NOMEM. */
DtStatus dt_why_fill (DtCtx *cx, DtWhy *w, const DtSheet *s, DtPropVia via);

/* Iteration order of a CPython set of placements. */
typedef struct DtPySet {
  int n, mask, fill;            /* mask + 1 places */
  unsigned seed;                /* see dt_prop_hash_seed */
  struct DtPyCell { bool used; uint64_t hash; DtPlacement pl; } *cell;
} DtPySet;
DtStatus dt_pyset_init (DtCtx *cx, DtArena *a, unsigned seed, DtPySet *s);
DtStatus dt_pyset_add (DtCtx *cx, DtArena *a, DtPySet *s, DtPlacement p);
DtStatus dt_pyset_copy (DtCtx *cx, DtArena *a, const DtPySet *src,
                        DtPySet *out);
DtStatus dt_pyset_merge (DtCtx *cx, DtArena *a, DtPySet *s,
                         const DtPySet *other);
/* Elements in order into out[]; returns how many. */
int dt_pyset_list (const DtPySet *s, DtPlacement *out, int max);

/* Placements as Python prints a tuple of them. */
void dt_pls_repr (const DtPlacement *pl, int n, DtBuf *b);

#endif
