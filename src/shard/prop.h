/* SPDX-License-Identifier: MIT
** shard/prop.h: choose a strategy for a call, from specs alone.
** Semantics: _sharding_prop.py, _op_schema.py, single_dim_strategy.py,
** _decompositions.py, PyTorch 2.13. */
#ifndef DT_SHARD_PROP_H
#define DT_SHARD_PROP_H

#include "compat/profile.h"
#include "op/registry.h"
#include "shard/plan.h"

typedef enum DtPropVia {
  DT_VIA_NONE, DT_VIA_SINGLE_DIM, DT_VIA_STRATEGY, DT_VIA_DECOMP,
  DT_VIA_HANDLER, DT_VIA_USER
} DtPropVia;

/* One candidate as `:why` and parity show it. */
typedef struct DtCand {
  DtPlacement *out, *in;        /* nout x ndim, nin x ndim (in may be NULL) */
  double *cost;                 /* per input; sum in total */
  double total;
  int64_t bytes;                /* moved, by our count */
} DtCand;
typedef struct DtWhy {
  DtPropVia via;
  int nout, nin, ndim;
  int ncand, winner;
  DtCand *cand;
  int nchild; struct DtWhy **child;      /* tuple strategies */
  int64_t nexcluded;            /* candidates not shardable so */
  int nmask; DtMaskBuf **mask;  /* counted: the placements show them */
  DtArena arena;
} DtWhy;

/* The decision.  Reference counted: the cache shares it. */
typedef struct DtProp {
  int64_t refs;
  DtPropVia via;
  const DtOpDef *op;            /* to run locally (rewritten squeeze) */
  int nout; DtSpec **out;       /* NULL where None; owned */
  bool *out_none;
  int nin; const DtSpec **in;   /* by slot: the spec the kernel wants */
  bool *moved;                  /* by slot: must be redistributed */
  bool needs_redist;            /* any moved or rewritten */
  DtArgs *args;                 /* rewritten arguments or NULL */
  bool rewritten;               /* use_val_from_redistribute_schema */
  bool no_spec;                 /* no output spec (item): nothing decided */
  double cost; bool has_cost;
  double *costs; int ncosts;    /* per element, for list operators */
  const struct DtKnownWrong *known_wrong;       /* this decision gives wrong
                                ** data (shard/known_wrong.h); else NULL */
  DtArena arena;
} DtProp;

typedef struct DtPropagator DtPropagator;
/* The propagator of a session with its cache.  Local. */
DtStatus dt_propagator_new (DtCtx *cx, DtRegistry *r, DtPlanner *pl,
                            DtPropagator **out);
void dt_propagator_free (DtCtx *cx, DtPropagator *p);

/* A call as propagation sees it, PyTorch's OpSchema: specs stand for tensors.
** `in` by slot, all with meta, none NULL.  Borrowed: lives as long as the
** call of the function that takes it; the cache copies what it keeps. */
typedef struct DtOpSchema {
  const DtOpDef *op;
  const DtArgs *args;
  int nin; const DtSpec *const *in;
} DtOpSchema;

/* Decide.  With `why`, the table of
** candidates is kept (caller frees with dt_why_free) and the cache is not
** used.  Errors: MISSING ("Operator X does not have a sharding strategy
** registered."), PROP with `{cause}\n\nSharding propagation failed for
** {schema}`, INPLACE, CROSSMESH.  The result is the caller's reference.
** Pure but for the cache. */
DtStatus dt_prop_run (DtCtx *cx, DtPropagator *p, const DtOpSchema *q,
                      DtWhy **why, DtProp **out);
/* The cached path: the same, looked up by (op, specs, arguments) first.
** see *hit.  The cache is bounded.  Local. */
DtStatus dt_prop_cached (DtCtx *cx, DtPropagator *p, const DtOpSchema *q,
                         DtProp **out, bool *hit);
DtProp *dt_prop_ref (DtProp *p);
void dt_prop_unref (DtCtx *cx, DtProp *p);
void dt_why_free (DtCtx *cx, DtWhy *w);
/* Was an operator without rules decided by tracing its decomposition before?
** PyTorch registers facts about it then, which changes the wording of the
** mixed error for keyword arguments.  Pure. */
bool dt_prop_was_traced (const DtPropagator *p, const DtOpDef *op);
/* How that is remembered: as it happens; not at all for now (trials of the
** debugger leave no mark); or as if all had been traced (reference data
** captured by a process that had).  Gives the old mode.  Local. */
typedef enum DtTracedMode { DT_TRACED_KEEP, DT_TRACED_FROZEN, DT_TRACED_ALL }
  DtTracedMode;
DtTracedMode dt_prop_traced_mode (DtPropagator *p, DtTracedMode mode);
/* Are decisions asked for by themselves, as a caller of PyTorch's propagator
** gets them?  While a DTensor call is under way (false, as at first) autograd
** is off for what a traced decomposition calls, so reshape meets its own rule,
** which moves data rather than give a strided shard; else it is a view, or a
** copy and a view.  Drops the cache.  Local. */
void dt_prop_outside_dispatch (DtCtx *cx, DtPropagator *p, bool outside);
/* Hash partials otherwise from now on, as PyTorch does in each process
** (PYTHONHASHSEED): where candidates tie, the order of a set decides.  Under 0,
** the start, hashes are fixed ones.  Drops the cache.  Local. */
void dt_prop_hash_seed (DtCtx *cx, DtPropagator *p, unsigned seed);
/* Decide as the profile's release does from now on; the cache is dropped.
** Local. */
void dt_prop_release (DtCtx *cx, DtPropagator *p, const DtProfile *profile);
/* Forget everything (registration changed, profile changed).  Local. */
void dt_prop_clear (DtCtx *cx, DtPropagator *p);
/* How often a trace met an out= that it would have to resize.  Pure. */
int64_t dt_prop_resized (const DtPropagator *p);
/* Infer global metas of the outputs: the caller sets all fields but nout, and
** out, none and offset have maxout entries.  With `fake`, in the words of
** PyTorch's meta functions, as propagation refuses.  Local. */
DtStatus dt_prop_meta (DtMetaCall *c);
/* str(op_schema): "aten.mm.default(Spec(f32[8, 8](S(0))), …) on
** DeviceMesh(…)", as error texts and parity need it.  Pure. */
void dt_prop_schema_str (const DtOpDef *op, const DtArgs *args,
                         const DtSpec *const *in, DtBuf *b);
/* Rows of an operator on one mesh dim for these metas (a list operator: of
** its element 0), the all-R row where
** PyTorch inserts it (for :rules and registry parity); see *inserted.
** Masked partials among them have no mask.  Local. */
DtStatus dt_prop_rows (DtCtx *cx, DtPropagator *p, const DtOpDef *op,
                       const DtArgs *args, int nin, const DtMeta *const *in,
                       DtArena *arena, DtRows *rows, bool *inserted);

#endif
