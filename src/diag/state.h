/* SPDX-License-Identifier: MIT
** diag/state.h: what the rules keep of a program that runs: tables by tensor,
** by memory, by line, and the runner's own state. */
#ifndef DT_DIAG_STATE_H
#define DT_DIAG_STATE_H

#include <stddef.h>
#include <string.h>
#include "debug/spans.h"
#include "diag/finding.h"

/* A rule looks at the events of one kind.  Most have something to say of few
** operators, or only after something else was met: they are not asked of the
** others, and not before. */
typedef struct DtDiagRule {
  int event;                    /* DtEventKind */
  void (*fn) (DtDiag *g, const DtEvent *e);
  bool (*may) (const DtDiag *g, const DtOpDef *op);     /* NULL: of any; asked
                                ** once of each operator that is met */
  size_t when;                  /* the place of an int in DtDiag: not while it
                                ** is 0.  0: always */
} DtDiagRule;

#define DT_WHEN(count) offsetof(DtDiag, count)

/* The calls (events without an operator) that rules know by name.  A rule of one
** of them says so in place of a count, and is asked of no other. */
typedef enum DtCallName {
  DT_CALL_OTHER, DT_CALL_TO_LOCAL, DT_CALL_TO_LOCAL_BACK, DT_CALL_FROM_LOCAL,
  DT_CALL_REDISTRIBUTE, DT_CALL_DISTRIBUTE, DT_NCALLS
} DtCallName;
#define DT_CALLED(name) offsetof(DtDiag, called[DT_CALL_##name])

enum { DT_RULE_WORDS = 2, DT_MOST_RULES = 64 * DT_RULE_WORDS };       /* of one kind
                                ** of event */

/* Rules of one kind of event, a bit each. */
typedef struct DtRuleSet { uint64_t word[DT_RULE_WORDS]; } DtRuleSet;

/* The rules to be asked of an operator. */
typedef struct DtDiagAsked {
  const DtOpDef *op;
  DtRuleSet set[DT_NEVENTS];
} DtDiagAsked;

/* Tables, ended by a row without function. */
extern const DtDiagRule dt_rules_spec[];
extern const DtDiagRule dt_rules_mem[];
extern const DtDiagRule dt_rules_grad[];
extern const DtDiagRule dt_rules_comm[];
extern const DtDiagRule dt_rules_mark[];
extern const DtDiagRule dt_rules_order[];
extern const DtDiagRule dt_rules_drawn[];
extern const DtDiagRule dt_rules_share[];
extern const DtDiagRule dt_rules_cut[];
extern const DtDiagRule dt_rules_part[];
extern const DtDiagRule dt_rules_copies[];
extern const DtDiagRule dt_rules_train[];
extern const DtDiagRule dt_rules_where[];
extern const DtDiagRule dt_rules_steps[];
extern const DtDiagRule dt_rules_units[];
extern const DtDiagRule dt_rules_graph[];
extern const DtDiagRule dt_rules_state[];
extern const DtDiagRule dt_rules_rows[];
extern const DtDiagRule dt_rules_result[];
extern const DtDiagRule dt_rules_loss[];
extern const DtDiagRule dt_rules_batch[];
extern const DtDiagRule dt_rules_shards[];
extern const DtDiagRule dt_rules_lost[];
extern const DtDiagRule dt_rules_shuffled[];
extern const DtDiagRule dt_rules_padded[];
extern const DtDiagRule dt_rules_drift[];
extern const DtDiagRule dt_rules_groups[];
extern const DtDiagRule dt_rules_stale[];
extern const DtDiagRule dt_rules_lag[];
extern const DtDiagRule dt_rules_picked[];
extern const DtDiagRule dt_rules_clamped[];
extern const DtDiagRule dt_rules_capped[];
extern const DtDiagRule dt_rules_meet[];
extern const DtDiagRule dt_rules_noise[];
extern const DtDiagRule dt_rules_reorder[];
extern const DtDiagRule dt_rules_perm[];
extern const DtDiagRule dt_rules_unread[];
extern const DtDiagRule dt_rules_answer[];
extern const DtDiagRule dt_rules_master[];
extern const DtDiagRule dt_rules_met[];
extern const DtDiagRule dt_rules_scattered[];
extern const DtDiagRule dt_rules_adjoint[];
extern const DtDiagRule dt_rules_coarse[];
extern const DtDiagRule dt_rules_dealt[];
extern const DtDiagRule dt_rules_factors[];
extern const DtDiagRule dt_rules_meter[];
extern const DtDiagRule dt_rules_deviation[];
extern const DtDiagRule dt_rules_tied[];
extern const DtDiagRule dt_rules_whole[];

/* A set of positive numbers.  Without memory it forgets. */
typedef struct DtIdSet { int64_t *v; int n, cap; } DtIdSet;
/* Put in, look up, take out.  Local. */
void dt_idset_add (DtDiag *g, DtIdSet *s, int64_t id);
bool dt_idset_has (const DtIdSet *s, int64_t id);
void dt_idset_del (DtIdSet *s, int64_t id);

/* What a vector of one value met where it was first used, by its storage. */
enum { DT_METS = 512 };
typedef struct DtMet { int64_t storage; uint64_t hash; } DtMet;

/* The last few of something, by tensor. */
enum { DT_RECENT = 32 };
typedef struct DtRecent {
  int n;                        /* ever put in */
  struct { int64_t id, storage; DtOrigin at; const char *name; bool used; }
    v[DT_RECENT];
} DtRecent;

/* The operators that rules know by name. */
enum {
  DT_DO_ITEM, DT_DO_LOG_SOFTMAX, DT_DO_LOG_SOFTMAX_BACK, DT_DO_NLL,
  DT_DO_NLL2D, DT_DO_TO_COPY, DT_DO_FILL, DT_DO_EMPTY, DT_DO_EMPTY_LIKE,
  DT_DO_NEW_EMPTY, DT_DO_EMPTY_STRIDED, DT_DO_NEW_EMPTY_STRIDED, DT_DO_COPY,
  DT_DO_ZERO, DT_DO_CAT, DT_DO_CLONE, DT_DO_STACK, DT_DO_ADD, DT_DO_MUL,
  DT_DO_MUL_SCALAR, DT_DO_DIV, DT_DO_DIV_SCALAR, DT_DO_SUM, DT_DO_SUM_DIM,
  DT_DO_MEAN, DT_DO_MEAN_DIM, DT_DO_MSE, DT_DO_SMOOTH_L1, DT_DO_HUBER,
  DT_DO_BCE, DT_DO_SOFT_MARGIN, DT_DO_MULTI_MARGIN, DT_NDO
};

/* Numbers given to an operator at a script line, folded into one hash. */
enum { DT_NUMBERS = 256 };
typedef struct DtNumbers {
  const DtOpDef *op; const char *file; int line;
  DtMesh *mesh;                 /* owned */
  uint64_t hash; int64_t seq, count;
} DtNumbers;

/* Moments that state_dict() handed out, of which parameter, in which call. */
enum { DT_MOMENTS = 512 };
typedef struct DtMoment {
  int64_t param, save; const char *name, *key; uint64_t hash;
} DtMoment;

/* Whole parameters that fully_shard has cut: what they held, and where. */
enum { DT_CUT_WHOLES = 64 };
typedef struct DtCutWhole {
  uint64_t hash; bool loaded; DtOrigin at; const char *name;
} DtCutWhole;

/* Positions whose type cannot tell them apart, and what was computed of them: the
** tensor that was rounded, where, and a number that several of them became. */
enum { DT_COARSES = 64 };
typedef struct DtCoarse {
  int64_t storage, id; DtOrigin at; const char *name; DtDtype dtype; double value;
} DtCoarse;

/* The memory of a distributed tensor that to_local() handed out. */
enum { DT_HELD = 256 };
typedef struct DtHeld {
  int64_t storage, of;          /* `of`: the distributed tensor */
  DtMesh *mesh; int mdim;       /* owned; along which it is cut, -1: replicated */
  bool norm;                    /* of parts, not reduced yet */
  bool param; int64_t numel;    /* of a parameter; elements of the part */
  uint64_t claim;               /* it was reduced over other parts: the claim, */
  int64_t result;               /* and what came of it */
} DtHeld;

/* What squares were summed up of, by memory. */
enum { DT_SQUARES = 256 };
typedef struct DtSquares { int64_t storage; int of; } DtSquares;

/* A parameter that an addend was written into, by memory, and the claim of that. */
enum { DT_WHOLE = 16 };
typedef struct DtWhole { int64_t storage; uint64_t claim; } DtWhole;

/* A gradient that was reduced over some ranks (a bit each), by memory; the squares of
** gradients that are in a sum, with the ranks that have the same; 0: only this one. */
enum { DT_TIED = 64, DT_TIED_TERMS = 4 };
typedef struct DtTied { int64_t storage; uint64_t ranks; const char *name; } DtTied;
typedef struct DtTiedTerm { uint64_t ranks, hash; const char *name; } DtTiedTerm;
typedef struct DtTiedSum { int64_t storage; int n; DtTiedTerm term[DT_TIED_TERMS]; } DtTiedSum;

/* A plain tensor that is known to be a part of a whole, as long as nobody
** writes to it. */
enum { DT_PARTS = 128 };
typedef struct DtPart {
  int64_t storage, version, offset;
  uint64_t whole;               /* which: name and shape */
  int ndim;
  int64_t shape[DT_MAX_NDIM], off[DT_MAX_NDIM], len[DT_MAX_NDIM];
  int64_t stride[DT_MAX_NDIM];
  bool left;                    /* it left a distributed tensor, */
  uint64_t spec;                /* of that hash */
} DtPart;

/* Note `t` as what `p` says. */
static inline void dt_part_note (DtPart *to, const DtPart *p,
                                 const DtTensor *t) {
  *to = *p;
  to->storage = t->storage->id;
  to->version = t->storage->version;
  to->offset = t->offset;
  memcpy(to->stride, t->m.stride, (size_t)t->m.ndim * sizeof (int64_t));
}

/* Is it the tensor that was noted: the same bytes in the same order, and
** nobody wrote since? */
static inline bool dt_part_is (const DtPart *p, const DtTensor *t) {
  const size_t dims = (size_t)t->m.ndim * sizeof (int64_t);
  return p->storage == t->storage->id && p->version == t->storage->version &&
         p->offset == t->offset && p->ndim == t->m.ndim &&
         memcmp(p->len, t->m.shape, dims) == 0 &&
         memcmp(p->stride, t->m.stride, dims) == 0;
}

/* A plain tensor that sums elements of this rank, each times `weight`; or,
** with `mesh`, those of all ranks side by side. */
enum { DT_SHARES = 64 };
typedef struct DtShare {
  int64_t storage, version;
  double weight;
  double total;                 /* of all its elements; NAN: unknown */
  double own;                   /* of its gradient, where a collective wrote into it past
                                ** autograd; 0: not so */
  uint64_t sent;                /* the number that a collective took; 0: none */
  int64_t sent_id;              /* the tensor that had it */
  int over;                     /* reduced over so many ranks; 0: not */
  bool averaged, divided;       /* by that reduction; by their number, after */
  bool factor;                  /* multiplied by a number: may be meant */
  double by;                    /* divided by so much after it was reduced */
  bool bent; DtOrigin bent_at;  /* not linear in a mean: that of all is not the
                                ** mean of these */
  int times; int line;          /* a gradient that backward added to so often,
                                ** at one line, each time a mean; 0: others */
  int64_t loss; DtOrigin loss_at;       /* ... of that loss, line 0: no gradient */
  bool clipped;                 /* ... and scaled by a number that was computed */
  double rate;                  /* multiplied by so much, as by a rate; 0: not */
  DtOrigin reduced_at, divided_at;      /* the reduction; the division by its ranks */
  DtMesh *mesh; int mdim;       /* owned */
} DtShare;

/* Gradients that are `times` as large as they are to be, where that was brought about;
** the ranks over which the losses are to differ. */
typedef struct DtScale {
  DtOrigin at, loss_at; const char *name;
  DtMesh *mesh; int mdim;       /* owned */
  double times;
  uint64_t loss, came;          /* the loss's value; that of what is summed, 0: no fact */
  bool excused, summed;
} DtScale;

/* rules_units.c. */
enum { DT_UNIT_HANDS = 64, DT_UNIT_RANKS = 64 };
typedef struct DtHandSum { int64_t storage; DtScale scale; } DtHandSum;
typedef struct DtUnits {
  double total;                 /* of the loss in the gradients that fully_shard gave */
  DtOrigin given_at;            /* set_gradient_divide_factor(), the first */
  DtScale off, local;           /* by that factor; by a mean of the local part */
  int nhand; DtHandSum hand[DT_UNIT_HANDS];     /* local gradients summed by hand */
  DtIdSet divided;              /* ... that were scaled by a count before */
  bool told_hand, told_off, told_local, told_step;
} DtUnits;

/* A plain tensor that a broadcast made equal on a group's ranks. */
enum { DT_COPIES = 256 };
typedef struct DtCopy {
  int64_t storage, version;
  DtMesh *mesh; int mdim;       /* owned */
  const char *what, *name;      /* interned; NULL: it never got a gradient */
  bool changed, averaged;
  bool managed;                 /* the library keeps it equal, as DDP does */
  bool whole;                   /* the local part of a DTensor that is Replicate */
  uint64_t hash;                /* after the last change, which was here: */
  const DtOpDef *op; const char *file, *module; int line; int64_t seq;
  DtOrigin rewrote;             /* written since, before it got a gradient; line 0: not */
} DtCopy;

/* A parameter that is cut over a mesh of some of the ranks; samples of its piece
** before its first update and after its last, of the gradient of the first. */
enum { DT_BESIDES = 64 };
typedef struct DtBeside {
  int64_t storage;
  DtMesh *mesh;                 /* owned */
  uint64_t start, came, last;
  const char *name;
  DtOrigin step;
} DtBeside;

/* A product: which dimensions (from the end) of which arguments are
** contracted. */
typedef struct DtProduct { const char *op; int a, da, b, db; } DtProduct;

/* What is known of a plain tensor that this rank computed from its part. */
typedef enum DtFate {
  DT_FATE_PART,                 /* a part along `dims` of a whole */
  DT_FATE_ADDEND,               /* to be summed over the ranks */
  DT_FATE_BIASED,               /* ... and something was added to it, `hash` */
  DT_FATE_BENT,                 /* ... and went through what is not linear */
  DT_FATE_ALONE,                /* made along `dims` of a part alone */
  DT_FATE_PICKED                /* taken out of a part by indices, `hash` */
} DtFate;
enum { DT_FATES = 64 };
typedef struct DtPartial {
  int64_t id, version;          /* of the variable; of its storage */
  DtFate fate;
  uint32_t dims;
  uint64_t hash;
  const DtOpDef *op; const char *file, *module; int line; int64_t seq;
} DtPartial;

/* One thing that must hold of the ranks' data for a claim to be reported:
** equal on all ranks, or not.  hash 0: says nothing, so nothing is reported.  What
** only advises decides nothing but the fix: that of the claim where it is equal. */
enum { DT_ADVISES = 2 };
typedef struct DtFact { int same; uint64_t hash; } DtFact;

/* "The data of these ranks is (or must not be) the same."  All facts must hold;
** the first one's groups of ranks are the evidence. */
enum { DT_FACTS = 6 };
typedef enum DtSome { DT_SOME = 1, DT_SOME_NOT_ALL } DtSome;   /* two or more */
typedef struct DtClaim {
  const DtFindKind *kind;
  uint64_t key;
  int nfact; DtFact fact[DT_FACTS];
  int64_t count, seq;
  const char *op, *file, *module; int line;
  bool backward, in_graph;
  int nrank; int *rank;         /* the group, owned */
  char *subject;
  const char *what;             /* "gradient": static words for evidence */
  const char *fix;              /* of fixes.def, if what advises holds; NULL: its
                                ** operator's */
  bool quiet;                   /* another rank knows the place */
  int lone;                     /* 1 + a place in the group: one rank alone must
                                ** have other data, and not that one; 0: no */
  bool line_differs;            /* no finding where another claim of its kind and
                                ** line does not hold */
  bool paired;                  /* the ranks must form groups of equal size, more
                                ** than one each, that hold the same data */
  enum { DT_LAGS_NOT, DT_LAGS, DT_LAGS_ONLY } lagging;  /* a rank's later facts must be
                                ** the first of another; of all ranks but one */
  bool sums;                    /* the facts are numbers: rules_adjoint.c */
  bool by_lse;                  /* dropped when a log-sum-exp is used */
  bool untrained;               /* dropped when the program trains: samples are
                                ** left out of an epoch on purpose */
  bool mute;                    /* other ranks may report it, not this one */
  bool plain;                   /* its words say all: no ranks behind them */
  int some;                     /* DtSome: of those ranks that claim it, */
  int npl; DtPlacement pl[DT_MAX_MDIM];
} DtClaim;

/* How a gradient stands to that of the mean over all elements. */
typedef enum DtKept {
  DT_KEPT_UNKNOWN,              /* or as it should be */
  DT_KEPT_SUM,                  /* the sum of the ranks' means */
  DT_KEPT_SHARE,                /* divided by the ranks once too often */
  DT_KEPT_MICRO,                /* the sum of the means of micro-batches */
  DT_KEPT_OTHER,                /* divided by the number of other ranks */
  DT_KEPT_FEWER,                /* ... by the number of some of them */
  DT_KEPT_DEALT,                /* of one rank's mean, but all ranks' rows were in it */
  DT_KEPT_OWN                   /* the mean of the ranks' parts of one loss's */
} DtKept;

/* What is faded and added to in turn: a moving average. */
enum { DT_AVERAGES = 32 };
typedef struct DtAverage {
  int64_t storage;
  uint64_t start, last;         /* values before, and now */
  bool faded; int times;
  DtOrigin at; const char *name;
} DtAverage;

/* A plain leaf that got a gradient, as long as it lies in one storage. */
enum { DT_LEARNS = 256, DT_LEARN_SLOTS = 1024 };
typedef struct DtLearn {
  int64_t storage, version, grad;       /* grad: storage of its gradient */
  int64_t numel;
  uint64_t start, last;         /* values at the first gradient, and now */
  uint64_t at_first;            /* as `start`, also of equal values */
  uint64_t came, used;          /* its gradient from backward; at the update */
  uint64_t all_used;            /* ... at all updates */
  DtOrigin wrote;               /* the last update */
  bool fresh;                   /* updated since it was broadcast */
  bool touched;                 /* its gradient was written after backward */
  bool by_copy, by_step;        /* it was copied over; it was updated otherwise */
  bool piece;                   /* it began as a known part of a whole */
  bool drawn, gdrawn, reduced, added, synced;    /* synced: broadcast since */
  bool given;                   /* its gradient was one of a list that was reduced */
  int sums;                     /* of the gradient over the ranks, undivided */
  int steps;                    /* how often it was updated */
  int lost;                     /* ... without any change, in low precision */
  int came_often;               /* gradients */
  bool param;
  bool averaged;                /* its gradient, over the ranks, at the update */
  uint64_t clipped; DtOrigin clip;      /* factors after a norm; where */
  uint64_t loss;                /* values that backward began with */
  uint64_t kept;                /* DtKept of the gradient at the update */
  int over, times;              /* ranks it was reduced over; micro-batches */
  double rate;                  /* what the first update multiplies it with */
  DtOrigin made, step;          /* the first update */
  DtMesh *mesh; int mdim;       /* its gradient was reduced over (owned); NULL */
  DtOrigin reduced_at;          /* ... there, the first time; over (owned): */
  DtMesh *near; int near_dim;
  bool read;                    /* somebody looked at the gradient that came last */
  int cleared;                  /* gradients that were cleared before that */
  int steps_before, came_line;  /* updates when it came; from which line */
  char *first;                  /* values at the first gradient, of few (owned) */
  int64_t still_from, still_end;        /* elements that never changed; -1: none */
  uint64_t extra; DtOrigin extra_at;    /* added to the gradient; where */
  bool extra_summed;            /* ... then summed over ranks, and not divided */
  DtOrigin scaled_at;           /* what it has been since the last update was scaled
                                ** there; line 0: not, or it was reduced since */
  int came_step, scaled_step;   /* updates when it came last; when it was scaled */
  int scaled_after;             /* the line of the backward it came from last */
  double divided_apart;         /* what its gradient was divided by elsewhere, as for a step
                                ** that is written by hand; 0: by nothing */
  DtOrigin bounded_at;          /* values of it were cut off there, since then */
  bool met;                     /* it was reduced over the ranks since it came, */
  bool passed;                  /* or went to other ranks, but by a broadcast */
  bool anew;                    /* several came between two updates, each by itself, as
                                ** those of samples that are clipped one by one */
  const char *name, *file; int line;    /* of the first gradient */
} DtLearn;

/* Numbers that a group of ranks is about to sum, `n` of them; a sum of such that is the
** same number several times, or what was made of it (rules_meter.c). */
enum { DT_METER = 4, DT_METERED = 32 };
typedef struct DtMeter {
  int n;
  double v[DT_METER], ranks;
  DtOrigin at;
} DtMeter;
typedef struct DtMetered {
  int64_t storage;
  uint64_t claim;               /* its key */
  double ranks;
} DtMetered;

/* A variance of `x` on this rank, its mean, values less that mean: storages of what was
** made of them last, and whether they were reduced (rules_deviation.c). */
enum { DT_DEVIATIONS = 8 };
typedef struct DtDeviation {
  int64_t x, mean, spread, centred;
  bool mean_sent, spread_sent;
  uint64_t values;
  DtOrigin at; const char *name;
} DtDeviation;

/* What was put together in one flat tensor: whose memory begins where. */
enum { DT_FLATS = 4, DT_FLAT_PARTS = 32 };
typedef struct DtFlat {
  int64_t storage; int n;
  int64_t part[DT_FLAT_PARTS], off[DT_FLAT_PARTS];
} DtFlat;

/* What is known of a plain tensor by following operators (rules_where.c),
** kept in places.c. */
typedef enum DtPlaceKind {
  DT_PLACE_PART,                /* `len` of `whole` along `dim`, from `off` on */
  DT_PLACE_COUNTED,             /* numbers counted from 0 */
  DT_PLACE_FOUND,               /* an index found within a part */
  DT_PLACE_ADDEND,              /* a sum along cut columns */
  DT_PLACE_BIASED,              /* ... and something was added, `added` */
  DT_PLACE_BENT,                /* not linear in such a sum */
  DT_PLACE_STAT,                /* a statistic along the cut dimension */
  DT_PLACE_GATHERED,            /* some rank's part, as an all_gather gave it */
  DT_PLACE_STACKED,             /* those of all ranks, one after the other */
  DT_PLACE_SHUFFLED,            /* all parts, joined in another order than the
                                ** whole has */
  DT_PLACE_TOTAL,               /* addends that a collective has summed */
  DT_PLACE_PICKED,              /* rows of a part, by indices */
  DT_PLACE_MERGED,              /* a part whose dimension a view has merged */
  DT_PLACE_PEAK,                /* a maximum along the cut dimension */
  DT_PLACE_FOUND_ALL,           /* indices found within parts, gathered */
  DT_PLACE_ITEM,                /* made with one item of a part; `added`: with
                                ** what else */
  DT_PLACE_ALIKE,               /* the same on all ranks, `fed`, times a part of a
                                ** weight, summed along the cut dimension */
  DT_PLACE_SCORED,              /* rows of this rank against those of all, `keys` */
  DT_PLACE_ROUTED               /* such results in chosen rows; `added`: which */
} DtPlaceKind;
enum { DT_PLACES = 1024 };
typedef struct DtPlace {
  int64_t id, version;          /* of the variable; of its storage */
  DtPlaceKind kind;
  int dim;
  int columns;                  /* cut by the second operand of a product; of
                                ** what is stacked: the dimensions of a part */
  int64_t off, len, whole;
  int64_t step;                 /* every so many-th; up to 1: one after the other */
  uint64_t items;               /* of what is counted, or in several pieces: how far
                                ** its numbers are from the first, `off`; 0: in one
                                ** piece, or unknown */
  int64_t before;               /* of what is merged: the elements of the
                                ** dimensions before it; -1: unknown */
  uint64_t where;               /* hash of where this rank's part begins */
  DtOrigin at;                  /* where it was made */
  int64_t root;                 /* the tensor made there */
  int64_t of;                   /* what was cut */
  int64_t first_off, first_len; /* cut twice: the first time; 0 long: once */
  uint64_t first;               /* where that began, as a hash */
  DtOrigin first_at;            /* and where it was cut */
  uint64_t rows;                /* of a product: where the part of its rows begins;
                                ** 0: they are whole */
  uint64_t keys;                /* ... its columns are of all ranks: values of what
                                ** they are made of */
  uint64_t src, fed, added;     /* values of what was cut; of what was multiplied
                                ** with cut columns; of what was added */
  int64_t fed_id;
  DtOrigin cut, fed_at;         /* where it was cut, and multiplied */
  bool bent;                    /* a statistic that is not linear: a norm */
  bool pooled;                  /* a mean along the cut dimension alone */
  bool powers;                  /* of what is counted: powers with such exponents */
  bool adds;                    /* a sum */
  bool logged;                  /* the logarithm of such a sum */
  bool weighs;                  /* the exponential of that */
  bool grads;                   /* of a product with what has a gradient */
  int64_t real;                 /* filled up behind so many; 0: it is not */
  bool moved;                   /* it came from another rank */
  bool compared; int64_t against;       /* of what is counted: with others, a column
                                ** of a mask each, made at `first_at`, whose rows
                                ** count from `against` */
  bool rest;                    /* a total less this rank's own addend */
  DtOrigin detached;            /* there it lost its gradient; line 0: it did not */
  bool prefix;                  /* sums from the start of the part on; made at
                                ** `at` */
  bool summed;                  /* its log-sum-exp was kept: softmaxes of the
                                ** parts can be merged with it */
  DtOrigin peak;                /* shifted by the maximum taken there; line 0:
                                ** it was not */
  uint64_t alone;               /* key of the claim that it was normalised alone */
} DtPlace;

/* What was sent to the rank `shift` further on, and which part it was; of another
** kind: unknown. */
enum { DT_SENT = 32 };
typedef struct DtSentPart {
  int shift, ndim; int64_t shape[DT_MAX_NDIM];
  bool matched;
  DtPlace part;
} DtSentPart;

/* Rows of `source` (a storage) in the order of the indices `order`, which were
** sorted; sent to other ranks so often. */
enum { DT_ROWS = 64, DT_SENDS = 16 };
typedef struct DtSorted {
  int64_t storage, order, source, count, numel;
  int sent;
  const char *name;             /* of the indices (interned) */
} DtSorted;

/* An all_to_all of such rows: how many went to each rank and came from it. */
typedef struct DtSend { uint64_t in, out; DtSorted rows; } DtSend;

/* What a functional collective gave for `in`, what was written into a copy or
** loaded, until somebody uses it. */
enum { DT_RESULTS = 64 };
typedef struct DtResult {
  DtFindId id;
  int64_t in, storage;          /* of the variable; of the result */
  bool used, went_on;           /* the result; what was given instead */
  bool to_local;                /* ... by to_local(), else by any operator */
  bool let_go;                  /* of a copy that a module showed: it is gone */
  DtOrigin at;
  const char *name;
} DtResult;

/* What a collective took with a gradient and gave back without: lost, or (in
** place) as if each rank had it alone.  The first of each. */
enum { DT_CUT_LOST = 1, DT_CUT_SUMMED = 2 };
typedef struct DtSevered {
  DtOrigin at; const char *name;
  DtMesh *mesh; int mdim;       /* owned */
} DtSevered;

/* A line that wrote to a buffer, and a hash of what it held before the first time, and
** after it. */
enum { DT_WRITES = 4 };
typedef struct DtWrite { DtOrigin at; uint64_t before, after; } DtWrite;

/* A module's buffer. */
enum { DT_BUFFERS = 64 };
typedef struct DtBuffer {
  int64_t storage, version;     /* as it was registered */
  const char *name;
  uint64_t used; DtOrigin at;   /* its values where it was read last */
  int64_t number;               /* of one number: storage of the last one computed of
                                ** it; 0: none */
  DtOrigin wrote;               /* ... and where they were written; line 0: by an
                                ** operator that has it beside others */
  int nwrites; DtWrite write[DT_WRITES];        /* the first lines since a collective */
  uint64_t before;              /* what it holds, while it is written; 0: not kept */
  bool random;                  /* made of random numbers when it was registered, */
  bool kept;                    /* ... and read as it was then */
} DtBuffer;

/* A tensor of low precision that is added to in place; of one number also what its
** addends sum up to, and its storage's version after the last of them. */
enum { DT_LOWS = 8 };
typedef struct DtLow { int64_t storage; int count; int64_t version; double sum; } DtLow;

/* Where a checkpoint was loaded into a storage. */
enum { DT_LOADS = 32 };
typedef struct DtLoaded { int64_t storage; DtOrigin at; } DtLoaded;

/* Hashes of the targets that losses of the first steps are made with; 0: they come again,
** or are all the same. */
enum { DT_TARGETS = 8 };
typedef struct DtTargets {
  int n; uint64_t hash[DT_TARGETS];
  int64_t least;                /* elements of the smallest */
  DtOrigin at;                  /* the first such loss */
  const char *name;
} DtTargets;

/* Gradients that fully_shard's units are about to reduce. */
typedef struct DtBatch {
  DtMesh *mesh; int mdim;       /* over which; owned, NULL: none yet */
  uint64_t hash;                /* of all units so far */
  int units;
  bool telling;                 /* some were more than one number */
  DtOrigin at;                  /* of the first */
  const char *name;             /* of a parameter there (interned), or NULL */
} DtBatch;

/* Sums of what was the same on all ranks: a division by their number makes them
** means.  Norms that were taken last. */
enum { DT_SUMMED = 8, DT_NORMS = 8 };
typedef struct DtSummed {
  int64_t storage; int64_t n;
  const char *file; int line;
} DtSummed;

/* What was divided by a number, and not written since while its version is that. */
typedef struct DtQuotient {
  int64_t storage, version; double by;
} DtQuotient;

/* By how much an update scales a gradient: the first time, and the last. */
typedef struct DtRate {
  int times; double first, last;
  DtOrigin at;
  const char *name;
} DtRate;

/* A number that was scaled by another. */
enum { DT_TERMS = 16 };
typedef struct DtTerm { int64_t storage; double by; bool divided; } DtTerm;

/* One number before it was summed over so many ranks. */
enum { DT_ONES = 8 };
typedef struct DtOne {
  int64_t storage, over;
  uint64_t hash;
  DtOrigin at;
} DtOne;

/* A number of the program that a term of the loss is scaled by, at one line: the
** first one, and the last. */
enum { DT_FACTORS = 8 };
typedef struct DtFactor {
  double first, last; int64_t times;
  const char *name;             /* interned: of the term */
  DtOrigin at;
} DtFactor;

/* What an all_to_all brought: so many numbers of each rank. */
enum { DT_DEALT = 16 };
typedef struct DtDealt { int64_t storage, version, each; } DtDealt;

/* The name of a tensor where a line of the script had it. */
enum { DT_NAMED = 256 };
typedef struct DtNamed { uint64_t key; int asked; const char *name; } DtNamed;

/* What rules_where.c takes an operator for. */
enum { DT_OPKINDS = 64 };
typedef struct DtOpKind { const DtOpDef *op; int kind; } DtOpKind;

/* What a collective wrote last into memory, past autograd's count of versions: bytes
** of a storage, which has that version since. */
enum { DT_UNSEEN = 64 };
typedef struct DtUnseen { int64_t storage, version, from, end; DtOrigin at; } DtUnseen;

enum { DT_SHIFTS = 4 };

struct DtDiag {
  DtSession *s;
  DtDebug *d;
  DtSpans *spans;
  int listener;
  bool on;
  bool judging;                 /* hears the calls of repairs, tried.c */
  int nfunc;                    /* DTensor calls under way */
  int nfsdp;                    /* those of FSDP among them */
  DtFinding *found; int n, cap;
  uint64_t *key;                /* of found[i] */
  DtClaim *claim; int nclaim, capclaim;
  int *group;                   /* the ranks of the claim being made */
  int64_t ndropped;             /* what did not fit */
  char **text; size_t *len;     /* room for what the ranks claim: a rank
                                ** without memory must come all the same */
  const DtOpDef *op[DT_NDO];
  int64_t prop_seq; bool moved0;        /* the last decision */
  DtIdSet blank;                /* storages never written */
  DtIdSet source;               /* tensors given to distribute_tensor */
  int64_t given; uint64_t given_hash;   /* the one under way, as it was given:
                                ** the broadcast writes into it */
  DtIdSet mark[DT_NMARKS];      /* storages marked by the library */
  DtRecent temp;                /* views of redistributed copies */
  DtRecent lsm;                 /* results of replaced log_softmax */
  struct { DtSpec *spec; int ndim; int64_t shape[DT_MAX_NDIM]; } fit[64];
  DtNumbers number[DT_NUMBERS];
  int nparts; DtPart part[DT_PARTS];
  int ncuts; DtPart cut[DT_RECENT];     /* views of a part of a plain tensor */
  int nsplit; DtSpec *split_spec[8];    /* owned; of parts that left tensors cut more
                                        ** than once along one dimension */
  int nshares; DtShare share[DT_SHARES];
  int nfates; DtPartial fate[DT_FATES];
  bool lets_go;         /* the program frees parameters between their uses, as it
                        ** shards them: each is one owner's to keep and to update */
  int ncopies; DtCopy copy[DT_COPIES];
  int nlearn; DtLearn *learn;
  int learn_at[DT_LEARN_SLOTS], grad_at[DT_LEARN_SLOTS];        /* 1 + index */
  DtMesh *over; int over_dim;   /* gradients are reduced over (owned) */
  bool over_number;             /* ... so far it was one number, as a loss to print */
  DtOrigin alone_at;            /* a gradient was reduced over one rank */
  int64_t solo; DtOrigin solo_at;       /* a parameter of FSDP1 that is so; where it was
                                ** wrapped */
  const char *solo_words;       /* interned; NULL: none */
  DtBatch batch;
  bool moved, averaged;         /* activations travel; parameters are reduced */
  bool piped;                   /* they travel from one rank to another */
  uint64_t stages;              /* a pipeline's stages of this rank, as a hash; 0: none */
  int nplaces; DtPlace *place;  /* by id; nplaces: ever put in */
  int64_t *place_id;            /* those of `place`, close together: most look-ups
                                ** find nothing */
  int nsent; DtSentPart sent[DT_SENT];
  uint64_t diagonal;            /* the mask of queries and keys of one part */
  unsigned nshifts; int64_t shift[DT_SHIFTS];   /* its positions less those of keys */
  bool reordered;               /* a parameter got its own rows in another order */
  DtMesh *split; int split_dim; /* over which a trained parameter is cut, or
                                ** fully_shard cuts those of its modules (owned) */
  bool lse_used;                /* some log-sum-exp of a part, by an operator */
  bool dealt_back;              /* an all_to_all in backward */
  int npadded;                  /* parts that were filled up, ever */
  int nshuffled;                /* ever */
  int naverages; DtAverage average[DT_AVERAGES];
  struct DtStales *stales; int nstales; /* rules_stale.c; ever put in */
  struct DtPicks *picks; int npicks;    /* rules_picked.c; ever put in */
  struct DtCaps *caps; int ncaps;       /* rules_capped.c; factors ever seen */
  struct DtClamps *clamps; int nclamps; /* rules_clamped.c; ever put in */
  struct DtNoises *noises; int nnoises; /* rules_noise.c; ever put in */
  struct DtPerms *perms; int nperms;    /* rules_perm.c; ever put in */
  DtIdSet factors;              /* rules_factors.c; of parts, and what is made of them */
  int ndeviations; DtDeviation deviation[DT_DEVIATIONS];
  DtMeter meter; int nmetered; DtMetered metered[DT_METERED];
  struct DtDecks *decks; int ndecks;    /* rules_dealt.c; 1: dealt in two ways */
  struct DtUnreads *unreads; int nunread;       /* rules_unread.c; 1: something came */
  int64_t nmessage;             /* messages between two ranks so far */
  struct DtAnswers *answers; int nanswers;      /* rules_answer.c; messages that came */
  struct DtAdjoints *adjoints; int nadjoint;    /* rules_adjoint.c; 1: in a function */
  struct DtMasters *masters; int nmasters;      /* rules_master.c; ever put in */
  struct DtDrifts *drifts; int ndrifts; /* rules_drift.c; ever put in */
  int64_t updates; const char *update_file; int update_line;    /* of parameters;
                                ** the last */
  int nlow; DtLow low[DT_LOWS];
  DtTargets targets;
  int64_t scaled_last; double scaled_by;        /* in place, by a number; a storage */
  int stood_still;              /* averages that are rounded to what they were */
  int nflat; DtFlat flat[DT_FLATS];
  DtIdSet sent_some; DtOrigin sent_at;  /* broadcast within a group of some ranks */
  int sender;                   /* 1 + the rank that sent an updated parameter */
  bool many_send;               /* ... and another rank sent another */
  unsigned nunseen; DtUnseen unseen[DT_UNSEEN];
  DtOne one[DT_ONES]; unsigned nones; int64_t ratio;    /* of two such sums, */
  uint64_t ratio_of;            /* the larger of which had this hash */
  int64_t chosen[8]; unsigned nchosen;  /* sizes of flat tensors whose largest were sent */
  DtIdSet thawed;               /* storages of parameters that were frozen once */
  DtIdSet unread; bool kept_aside;      /* gradients that were cleared unread; one
                                ** of them was read later */
  DtOrigin cleared_at;          /* the last time gradients were cleared unread */
  int64_t cleared_seq;          /* the last time they were cleared */
  int nbesides, nwraps;
  DtBeside beside[DT_BESIDES];
  struct { DtMesh *mesh; DtOrigin at; } wrap[8];        /* calls of fully_shard, owned */
  bool sampled_all;             /* a DistributedSampler deals to all ranks */
  int nloads;                   /* calls of load_state_dict */
  DtOrigin left_at; const char *left;   /* a load, and moments that it left out */
  int nmoments; DtMoment moment[DT_MOMENTS];    /* nmoments: ever put in */
  int64_t moment_saves, moments_told;
  int ncut; DtCutWhole cut_whole[DT_CUT_WHOLES];
  int ncoarse; DtCoarse coarse[DT_COARSES];     /* ncoarse: ever put in */
  DtIdSet coarse_told;
  DtIdSet used_lines;           /* lines whose loads, or results, were used */
  int64_t nraw;                 /* raw collectives so far */
  int nsevered; DtSevered severed[2];
  DtMesh *wide; int wide_dim;   /* the last collective of several numbers; a function's, */
  DtMesh *joint; int joint_dim; /* in forward (both owned) */
  bool put_back;                /* a rank put its own among what it gathered; by a */
  DtOrigin own_back;            /* function's backward, there; line 0: in forward */
  DtOrigin params_sent;         /* a broadcast of a parameter */
  int nbuffers; DtBuffer buffer[DT_BUFFERS];
  DtIdSet gains;                /* storages of vectors that were trained on
                                ** parts of a sequence; of a dimension that is
                                ** no batch's, for it is not the first: */
  DtMet met[DT_METS];           /* vectors of one value */
  DtIdSet scattered;            /* storages: pieces of gradients that a reduce_scatter
                                ** gave; a norm of such was taken, what they were */
  bool piece_normed; uint64_t piece_scaled;     /* scaled by after it, and where */
  DtOrigin piece_at; const char *piece_name;
  DtMesh *pieces_over; int pieces_dim;          /* the ranks of the last of them */
  DtIdSet mapped;               /* tensors: local parts that local_map() made */
  DtIdSet own_pieces;           /* storages: a rank's own piece of a parameter */
  int nclipped;                 /* how often such were clipped, of the first times */
  DtIdSet inner_gains;
  int nfilled; DtLoaded load[DT_LOADS];  /* ever; where, the last ones */
  DtIdSet loaded;               /* storages that a checkpoint was loaded into */
  bool normed;                  /* a norm of gradients was taken since backward */
  bool idle; DtOrigin idle_at;  /* an optimizer has what gets no gradient */
  DtIdSet moved_params;         /* storages that parameters got by .data */
  DtIdSet params; bool filled;  /* storages of parameters and buffers; a
                                ** checkpoint was read into some */
  DtIdSet tied, looked;         /* storages that two modules have; in which rows
                                ** are looked up */
  DtIdSet checksums;            /* storages of what was made of parameters alone */
  DtIdSet counts;               /* storages of labels, masks and counts as floating
                                ** numbers */
  DtIdSet copies;               /* storages of full tensors of parameters */
  DtIdSet shown;                /* ... of those that modules show in their place */
  DtIdSet unreduced;            /* of parameters of fully_shard whose gradients
                                ** are kept back */
  DtIdSet lowered;              /* storages of gradients that were cast */
  DtIdSet differences;          /* ... of parameters less something */
  DtIdSet noise;                /* storages of dropout masks, as drawn */
  DtIdSet uniform;              /* storages of uniform numbers, as drawn */
  uint64_t frozen; DtOrigin frozen_at;  /* parameters that got no gradient */
  int nrows; DtSorted rows[DT_ROWS];
  int nsends; DtSend send[DT_SENDS];
  int nresults; DtResult result[DT_RESULTS];
  DtNamed named[DT_NAMED];
  DtOpKind opkind[DT_OPKINDS];
  int sent_root;                /* of the broadcast that was claimed last */
  int nterms; DtTerm term[DT_TERMS];
  int nfactors; DtFactor factor[DT_FACTORS];
  int ndealt; DtDealt dealt[DT_DEALT];
  int nsummed; DtSummed summed[DT_SUMMED];
  unsigned nquotients; DtQuotient quotient[DT_SUMMED];
  int nnorms; int64_t normed_last[DT_NORMS];    /* storages */
  int called[DT_NCALLS];        /* 1: what DT_CALLED() looks at */
  DtRuleSet call_set[DT_NCALLS][DT_NEVENTS];     /* the rules to be asked */
  int nheld; DtHeld held[DT_HELD];      /* nheld: ever put in */
  int64_t basis;                /* storage of the last orthogonal matrix */
  DtSquares squares_of[DT_SQUARES];
  uint64_t mixed;               /* as `squares`, of parts and of replicas: */
  DtOrigin mixed_at; const char *mixed_name;
  int nwhole; DtWhole whole[DT_WHOLE];  /* nwhole: ever put in */
  int nties; DtTied ties[DT_TIED];      /* nties: ever put in */
  DtTiedSum tied_sum[DT_TIED];
  uint64_t tied_claim;          /* of what is shared in the last sum over ranks */
  int nnorm_sums; int64_t norm_sum[2];  /* the last number that ranks summed: its
                                ** memory, and that of the result */
  uint64_t squares;             /* of gradients, before they were summed: */
  DtOrigin squares_at; const char *squares_name;
  DtOrigin most_at; const char *most_name;      /* the largest of norms; taken */
  double planned; int64_t scheduled;    /* steps that a scheduler is made for, and
                                ** made; where it was made: */
  DtOrigin scheduler_at;
  int passes, dealt_to;         /* of a sampler; over so many ranks */
  DtOrigin sampled_at;          /* one that deals out to fewer than there are */
  int padded;                   /* ranks over which a sampler dealt out `items`;
                                ** with those it added: */
  int64_t items, with_padding;
  DtIdSet waiting;              /* storages of parameters that got gradients and
                                ** no update; the first of them: */
  const char *waits; const char *waits_file; int waits_line;
  DtOrigin void_at;             /* a step of an optimizer without any gradient */
  double root;                  /* weight in the loss under way, NAN: unknown */
  int root_line;                /* where the loss was made */
  double root_total; bool root_factor;  /* as in DtShare */
  uint64_t root_hash;           /* the loss's value */
  uint64_t root_sent;           /* ... before a collective wrote into it */
  int64_t root_id; DtOrigin root_at;    /* the loss; where it was made */
  int64_t piece_of, piece_off;  /* the batch that losses take pieces of, one after
                                ** the other; how many, also at the update: */
  int pieces, pieces_taken; bool told_pieces;
  bool uneven, any_length;      /* ... the means of some of them count more, not the
                                ** last alone */
  double piece_weight, piece_total; int piece_line;     /* of one, and its line */
  DtRate rate;                  /* of the updates of the first parameter */
  int since_update; bool accumulates;   /* backward calls since parameters were
                                ** written; more than one, some time */
  DtOrigin shared_at; const char *shared_name;  /* a loss that is divided by the
                                ** ranks that the library averages over; its value */
  uint64_t shared_loss;
  uint64_t last_loss; int last_line;    /* as root_hash, of the last backward */
  DtUnits units;
  uint64_t modes; int nmodes; DtOrigin evaluates_at;    /* training or not, each time; the
                                ** last eval() */
  int64_t taken_of; DtOrigin taken_at;  /* running statistics; where they were last
                                ** taken, line 0: in training */
  DtIdSet apart; DtOrigin apart_at;     /* parameters that the library leaves alone */
  int nplans;                   /* by what the cache looks at, and the rest */
  struct { uint64_t key, rest; int64_t seq; } plan[DT_RECENT];
  DtIdSet strided;              /* plans already proved, by hash */
  int nrule[DT_NEVENTS];
  uint32_t when[DT_NEVENTS][DT_MOST_RULES];     /* of `rule`, close together */
  const DtDiagRule *rule[DT_NEVENTS][DT_MOST_RULES];
  DtDiagAsked *asked; int nasked, capasked;     /* by hash of the operator */
  const DtDiagAsked *last;      /* the one looked up last */
};

#endif
