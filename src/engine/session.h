/* SPDX-License-Identifier: MIT
** engine/session.h: everything one rank has: context, world, registry,
** planner, propagation cache, events, generator, switches.  No globals. */
#ifndef DT_ENGINE_SESSION_H
#define DT_ENGINE_SESSION_H

#include "comm/comm.h"
#include "compat/profile.h"
#include "engine/var.h"

/* Where the script is: asked before an operator is numbered.  Returns an
** interned or static file name; line 0 when unknown. */
typedef void (*DtWhereFn) (void *ud, const char **file, int *line);
typedef struct DtWarnSink { void (*fn) (void *ud, const char *text); void *ud; }
  DtWarnSink;

struct DtSession {
  DtCtx *cx;                    /* borrowed */
  DtComm *comm;                 /* borrowed; owned while `home` is set */
  DtComm *home;                 /* the real world, while `comm` is a pretended
                                ** one inside it (nested.c); else NULL */
  bool may_grow;                /* the program may ask for more ranks, */
  int wants_ranks;              /* and does; 0: it does not */
  DtGroup *part;                /* the ranks the program sees, when they are
                                ** not all; else NULL */
  DtRegistry *registry;
  DtPlanner *planner;
  DtPropagator *prop;
  DtProfile profile;            /* release and device switches */
  /* switches a script changes, restored by scopes */
  bool grad_enabled, inference, implicit_replication, no_data;
  bool marked;                  /* some tensor was marked (marks.c) */
  bool warn_all;                /* a text said before is said again */
  bool warn_random;             /* random operators without a tracker warn */
  int explicit_redist;          /* 0 off, 1 raise, 2 raise strict, 3 warn,
                                ** 4 warn strict */
  bool backward;                /* inside backward */
  bool create_graph;            /* whose own operators are recorded */
  DtNodeFn node_seen;           /* sees each node that ran backwards */
  void *node_seen_ud;           /* (anomaly detection); or NULL */
  int no_agree;
  const char *coll_as;          /* what the next collective is called; NULL */
  int coll_root;                /* the root + 1 that it names besides; 0: none */
  struct DtModes modes;         /* torch.utils._python_dispatch's */
  /* state */
  DtGenerators rng;
  DtTwister twister;            /* where rng.cpu's words are made */
  bool seeded;                  /* somebody chose the seed */
  bool rng_lent;                /* another generator's state is in `rng` */
  bool dist_rng;                /* RNG tracker is active */
  int64_t seq;                  /* operators so far */
  int64_t next_var_id, next_node_seq, next_hook_id;
  int64_t saving, saving_end;   /* operators that kept something; a recomputed
                                ** forward ends at that one (0: nowhere) */
  bool saving_ended;
  struct DtPacking packing;     /* what the program does with kept tensors */
  int depth;
  int call_depth;               /* dt_call() inside dt_call() */
  int64_t cur_seq;              /* operator under way, 0 = none */
  const DtOpDef *cur_op;
  const char *cur_file; int cur_line;   /* its script line, NULL = not asked */
  const struct DtOrigin *back_at;       /* the to_local() whose backward is under
                                ** way, NULL = none; what it gave: */
  int64_t back_var;
  const struct DtOrigin *node_at;       /* the forward call whose node backward
                                ** runs, NULL = none */
  bool err_told;                /* the pending error was an ERROR event */
  uint64_t fix_mask;            /* slots replaced by a listener of ERROR */
  uint64_t fix_done;            /* and those the last operator ran with */
  DtVar *fix[64];
  const char *module;           /* current module path, "" */
  DtWhereFn where; void *where_ud;
  uint64_t listen_mask;         /* union of the listeners' masks */
  struct DtHubEv *events;
  const DtRuling *rulings;      /* of releases after the default */
  struct DtIntern *strings;     /* interned names */
  struct DtSpecTable *specs;    /* interned specs */
  struct DtHandlers *handlers;  /* operators taken over, see dispatch.h */
  DtWarnSink warn;
  void *debug;                  /* the debugger's, opaque here */
  void *bind;                   /* the binding's, opaque here */
};

typedef struct DtSessionOpts {
  const DtOpDef *const *ops; const DtVariant *variants;
  const char *torch_release;    /* "2.6"; NULL: the default */
  const char *device;           /* "cpu" */
  uint64_t seed;
  const DtRuling *rulings;      /* of later releases */
} DtSessionOpts;

/* One per rank; freed by dt_session_free().  KEY for an unknown release or
** device.  Local. */
DtStatus dt_session_new (DtCtx *cx, DtComm *comm, const DtSessionOpts *o,
                         DtSession **out);
void dt_session_free (DtSession *s);
/* Another release or device from now on.  KEY when it is unknown.  Agreed. */
DtStatus dt_session_profile (DtSession *s, const char *release,
                             const char *device);
/* Worlds inside the world (nested.c), one at a time.  The program sees ranks 0
** to n - 1 alone; on them only.  VALUE, WORLD.  Local. */
enum { DT_PART_MAX = 1024 };
DtStatus dt_session_part (DtSession *s, int n);
/* The program is rank `rank` of a pretended world of `size` ranks, whose
** tensors have data.  VALUE, WORLD, NOMEM.  Local. */
DtStatus dt_session_pretend (DtSession *s, int size, int rank);
/* Back to the real world; NULL is accepted.  Local. */
void dt_session_home (DtSession *s);
/* The ranks that the program sees (borrowed), and how many.  Pure. */
static inline DtGroup *dt_session_ranks (const DtSession *s) {
  return s->part != NULL ? s->part : s->comm->world;
}
static inline int dt_session_size (const DtSession *s) {
  return s->part != NULL ? s->part->size : s->comm->size;
}
/* A string that lives as long as the session; NULL on NOMEM.  Local. */
const char *dt_session_intern (DtSession *s, const char *text);
/* The one shared spec equal to `spec` (steals the reference).  Local. */
DtStatus dt_session_spec (DtSession *s, DtSpec *spec, DtSpec **out);
/* Warn once per text, as Python's warnings.  Local. */
void dt_session_warn (DtSession *s, const char *text);
/* True when results have no data (fake world, meta mode).  Pure. */
bool dt_session_no_data (const DtSession *s);
/* manual_seed: returns the seed.  Local. */
uint64_t dt_session_seed (DtSession *s, uint64_t seed);
/* Are random numbers drawn now from a generator that nobody seeded?  Here it
** begins alike on every rank; in PyTorch each process begins with a seed of
** its own.  Pure. */
static inline bool dt_session_unseeded (const DtSession *s) {
  return !s->seeded && !s->rng_lent;
}
/* Where PyTorch's tracker of random numbers (OffsetBasedRNGTracker) lets this
** rank start and where it lets all ranks end, from where they are, in
** elements, multiples of 4; and the shape of the shard at coordinate 0
** (first[spec->meta.ndim]).  Pure. */
void dt_rng_offsets (const DtSpec *spec, int64_t *start, int64_t *end,
                     int64_t *first);
/* Is anybody listening?  The one test before any event.  Pure. */
static inline bool dt_session_heard (const DtSession *s) {
  return s->listen_mask != 0;
}
/* Replace the variable of `slot` in the call whose ERROR event is being
** delivered: when the listeners return OK, the call runs again with it.
** Takes a reference of its own.  LIMIT for a slot above 63.  Local. */
DtStatus dt_session_fix (DtSession *s, int slot, DtVar *v);

#endif
