/* SPDX-License-Identifier: MIT
** debug/record.h: the record of operators: what each did, with what, where,
** and what the tensors held.  Filled by a listener of the session's events
** (record.c); read by every command that explains or goes back in time, and
** written to and read from files (dump.c).
**
** One DtRecOp per operator, numbered by `seq` (the #7 of all output), in a
** ring: the oldest goes when it is full.  Communication outside operators
** (redistribute, distribute_tensor, raw collectives) has an entry of its own
** with op == NULL.  Each tensor is a DtRecVar: what it was (spec, meta,
** origin, name) and, while there is room, what it held: a reference to the
** block of bytes, which is shared with the living tensor until somebody
** writes (copy on write, tensor.h).  In an entry, `in` is the state before
** the operator and `out` the state after it, so an in-place operator has the
** written tensor in both.
**
** Which script variable held which tensor when is a log of its own
** (DtRecName), written when the script's line changes. */
#ifndef DT_DEBUG_RECORD_H
#define DT_DEBUG_RECORD_H

#include "engine/dispatch.h"
#include "engine/dist.h"

/* One collective of a recorded operator. */
typedef struct DtRecColl {
  const char *coll, *reduce;    /* static names; reduce may be NULL */
  const char *mdim;             /* interned label: "tp", "dim 0" */
  const char *group;            /* interned: this rank's, "ranks 0, 2"; NULL in
                                ** a record that was read from a file */
  int ngroup;
  int64_t bytes_in, bytes_out;  /* per rank */
  bool implicit;                /* an input was moved by the dispatcher */
  int slot;                     /* which input, -1 = none */
} DtRecColl;

/* One redistribution of a recorded operator: what it turned into what. */
typedef struct DtRecMove {
  DtSpec *src, *dst;            /* owned */
  int slot;                     /* which input, -1 = none */
  bool implicit, graph;         /* moved by the dispatcher; which planner */
  int nsteps;
  int64_t bytes;                /* this rank sends */
  int coll, ncoll;              /* its collectives: coll[coll .. +ncoll) */
} DtRecMove;

/* A collective that the script asked for itself, as it was asked for. */
typedef struct DtRecRaw {
  const char *kind, *reduce;    /* "all_gather"; "sum" or NULL; static */
  DtMesh *mesh; int mdim;       /* its reference */
  int dim, dim2, root;          /* gathered or split dim, joined dim; source in
                                ** the group */
  int nsplit;                   /* all_to_all_v: parts, else 0 */
  const int64_t *in_split, *out_split;
} DtRecRaw;

/* Where PyTorch's CPU generator was before an operator that draws, and after it
** (base/rng.h). */
typedef struct DtRecDraw {
  uint64_t seed, at, pair, end, end_pair;
} DtRecDraw;

/* One tensor as it was. */
typedef struct DtRecVar {
  int64_t id;                   /* of the variable (DtVar.id) */
  DtSpec *spec;                 /* owned; NULL = plain */
  DtOrigin origin;              /* which operator and line made it */
  const char *name;             /* DtVar.name, or NULL */
  bool none;                    /* None was here */
  bool param, needs_grad;
  /* the local part and what it held */
  int lndim;
  const int64_t *lshape, *lstride;      /* in the entry's arena */
  int64_t offset, storage;      /* in elements; DtStorage.id */
  uint8_t marks;                /* DtTensor.marks */
  int64_t version;              /* DtStorage.version */
  DtBlock *block;               /* owned; NULL: values were not kept */
  const DtMeta *meta;           /* global: the spec's, or in the arena */
} DtRecVar;

/* What a block counts for of the bytes that values may take: small ones (a
** step's number, a scale) stay while their entry does.  Pure. */
enum { DT_RECORD_SMALL = 64 };
static inline int64_t dt_record_cost (const DtBlock *b) {
  return b->nbytes > DT_RECORD_SMALL ? (int64_t)b->nbytes : 0;
}

/* One operator.  Lists live in its own arena. */
typedef struct DtRecOp {
  int64_t seq;
  const DtOpDef *op;            /* NULL: communication outside operators */
  const char *label;            /* its name: "aten.mm.default",
                                ** "redistribute" */
  const char *file; int line;   /* of the script */
  const char *module;           /* "layers.0.attn" or "" */
  const char *scope;            /* function of the script, see DtRecName */
  int64_t from;                 /* first operator of its text: locals bound
                                ** before are another run's */
  const char *func;             /* composite it belongs to, "F.linear", or "" */
  bool backward, hit, done;     /* hit: the decision was cached */
  uint32_t shown;               /* results that the program looked at whole, a bit each;
                                ** those beyond have none */
  DtStatus st;
  int depth;                    /* of its OP event */
  int nin; DtRecVar *in;        /* by slot, before */
  int nout; DtRecVar *out;      /* after */
  int ncoll, maxcoll; DtRecColl *coll;
  int nmove, maxmove; DtRecMove *move;
  DtPropVia via; double cost;
  const DtRecRaw *raw;          /* in the arena; NULL = no raw collective */
  DtRecDraw *draw;              /* in the arena; NULL = draws no numbers */
  const char *error;            /* message when it failed, else NULL */
  const char *reason;           /* DtError's, lives as long as the session */
  DtArena arena;
  DtArgs args;                  /* last: only args.n values are written */
} DtRecOp;

/* From operator `seq` on (until a later entry says otherwise) the variable
** `name` of `scope` holds tensor `var`; 0: it holds none any more. */
typedef struct DtRecName {
  int64_t seq;
  const char *scope;            /* "file:12", the function's first line; "" =
                                ** globals and the prompt's locals */
  const char *name;
  int64_t var;
} DtRecName;

/* The record of one rank. */
typedef struct DtRecord {
  int64_t id;                   /* of this record: counts up per session */
  DtRecOp *ring; int cap, head, n;      /* newest at head-1 */
  char *room;                   /* first blocks of the entries' arenas; or NULL */
  DtRecOp *cur;                 /* operator under way */
  bool off;                     /* :record off */
  bool values;                  /* keep values */
  int64_t limit, kept;          /* bytes of values: at most, now */
  int64_t total;                /* operators ever recorded */
  int64_t since;                /* compared from the operator after this */
  int drop;                     /* entries from the oldest without values */
  DtRecName *name; int nname, capname;  /* by seq */
  int *newest, sizenewest, nnewest;     /* 1 + the newest entry of each name,
                                ** by hash; 0 = free */
} DtRecord;

typedef struct DtDebug DtDebug;

/* What is known of no tensor. */
extern const DtMeta dt_record_none;

/* Recorded operator #seq; the newest when seq <= 0; NULL when not kept.  Pure.
*/
DtRecOp *dt_record_find (DtDebug *d, int64_t seq);
/* i-th newest (0 = newest) or NULL.  Pure. */
DtRecOp *dt_record_at (DtDebug *d, int i);
/* Forget everything recorded; a ring of `cap` from now on.  NOMEM.  Local. */
DtStatus dt_record_reset (DtDebug *d, int cap);
/* Put the record aside into `old` and begin a new one; give it back (the new
** one is freed); or free what was put aside.  NOMEM.  Local. */
DtStatus dt_record_take (DtDebug *d, int cap, DtRecord *old);
void dt_record_give (DtDebug *d, DtRecord *old);
void dt_record_drop (DtDebug *d, DtRecord *old);
/* The program looks at all of `v`: the result that it is, of one of the last operators,
** is marked as shown.  Local. */
void dt_record_show (DtDebug *d, const DtVar *v);
/* The operator that made a storage; NULL: the record does not go back to it.
** Pure. */
const DtRecOp *dt_record_maker (const DtRecord *k, int64_t storage);
/* Memory as empty() found it: nobody wrote to it until then.  Pure. */
bool dt_record_blank (const DtRecord *k, const DtRecVar *v);
/* i-th newest of any record of this session.  Pure. */
static inline DtRecOp *dt_record_of (const DtRecord *k, int i) {
  if (i < 0 || i >= k->n) return NULL;
  return &k->ring[(k->head - 1 - i + 2 * k->cap) % k->cap];
}
/* The k-th operator typed at a stop after operator #seq, "#7+2"; NULL when it is
** not kept.  Pure. */
DtRecOp *dt_record_typed (DtDebug *d, int64_t seq, int64_t k);
/* The first recorded operator after #seq, NULL when there is none.  Pure. */
DtRecOp *dt_record_after (DtDebug *d, int64_t seq);
/* Keep at most `bytes` of values; 0 = none.  Local. */
void dt_record_limit (DtDebug *d, int64_t bytes);
/* The tensor `id` as it was just before operator #seq (seq one past the
** newest: as it is).  *at: the operator whose entry knew it.  NULL when the
** record does not know it.  Pure. */
const DtRecVar *dt_record_var (DtDebug *d, int64_t id, int64_t seq,
                               int64_t *at);
/* The same as a variable: spec, meta, values as they were (no data when they
** were not kept), a leaf with its gradient of then.  The caller's reference.
** INDEX, NOMEM.  Local. */
DtStatus dt_record_revive (DtDebug *d, int64_t id, int64_t seq, DtVar **out);
/* Which tensor the name held just before operator #seq: in its own scope,
** else a global or a local of the main chunk.  0 when unknown.  Pure. */
int64_t dt_record_name (DtDebug *d, const char *scope, const char *name,
                        int64_t seq);
/* What a tensor of the record is called: the last variable that held it, else a
** name of its own (a parameter's); NULL when it has none.  Pure. */
const char *dt_record_var_name (const DtRecord *k, const DtRecVar *v);
/* Names known before #seq, each once with its tensor then; at most `max`.
** Gives how many.  Local (scratch memory). */
int dt_record_names (DtDebug *d, int64_t seq, const DtRecName **out, int max);
/* Told by who ran a raw collective: the entry made since `total` was `before`
** is of `raw`, which took `in` and gave `out`.  What does not fit is left out.
** Local. */
void dt_record_raw (DtDebug *d, int64_t before, const DtRecRaw *raw,
                    DtVar *in, DtVar *out);
/* Told by whoever knows the script: from #seq on `name` holds `var`.  Local.
*/
void dt_record_bind (DtDebug *d, int64_t seq, const char *scope,
                     const char *name, int64_t var);

#endif
