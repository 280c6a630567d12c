/* SPDX-License-Identifier: MIT
** parity/parity_int.h: what checkers share: reading JSON into the engine's
** values, comparing, saying what differs.  Private to parity/.
**
** A checker gets one line and returns true when our answer is the line's, else
** leaves the reason in p->why.  It must free all it made; values decoded from
** the line live in p->arena until the next line. */
#ifndef DT_PARITY_PARITY_INT_H
#define DT_PARITY_PARITY_INT_H

#include <jansson.h>
#include <string.h>
#include "base/map.h"
#include "engine/dispatch.h"
#include "mesh/layout.h"
#include "parity/parity.h"
#include "shard/plan.h"
#include "shard/prop.h"

typedef struct DtParity DtParity;
typedef bool (*DtCheckFn) (DtParity *p, const json_t *line);

/* A kind of line: prefix of the id, and a key the line must have (NULL = any);
** the first row that fits is taken. */
typedef struct DtSuite {
  const char *prefix, *key;
  DtCheckFn fn;
} DtSuite;
extern const DtSuite dt_suites[];

/* A rank of a pretend or real world that lives in this thread. */
typedef struct DtPretend {
  int size, rank;
  bool data;                    /* one rank with data */
  DtHub *hub;
  DtComm *comm;
  DtSession *s;
} DtPretend;

enum { DT_PRETEND_MAX = 48 };

struct DtParity {
  DtCtx *cx;
  DtArena arena;                /* of the line */
  DtBuf why;
  bool skipped;                 /* set by a checker, for this line */
  json_t *kept;                 /* of a checker, while it runs */
  const json_t *line;           /* and which of its results is compared */
  int nth;
  int nopen;                    /* elements left out (undetermined.def), */
  const struct DtOpenRule *open;        /* and by which rule */
  const char *unknown;          /* operator that is not registered */
  bool library;                 /* skipped, but the library has it */
  const char *release;          /* "2.15"; NULL: the base one */
  int number;                   /* of it (compat/release.h) */
  bool shard_to_sum;            /* SHARD_TO_PARTIAL of it */
  DtMeshRules mesh_rules;       /* of it */
  bool alone;                   /* worlds of several ranks are not possible */
  /* made when first needed */
  DtRegistry *reg;
  DtPlanner *planner;
  DtPropagator *prop;
  int npretend;
  DtPretend pretend[DT_PRETEND_MAX];
  DtMap meshes;                 /* "rank device shape names" -> DtMesh */
  DtMap metas;                  /* schema texts checked */
};

DtStatus dt_parity_init (DtParity *p, DtCtx *cx);
void dt_parity_fini (DtParity *p);
/* Forget the line before. */
void dt_parity_reset (DtParity *p);
/* Registry, planner and propagator without a session. */
DtStatus dt_parity_tables (DtParity *p);
/* The tables' planner, without plans of earlier lines. */
DtPlanner *dt_parity_planner (DtParity *p);
/* Session of rank `rank` of a world of `size` without data; size 1: one rank
** with data.  Borrowed; NULL + reason. */
DtSession *dt_parity_session (DtParity *p, int size, int rank);
/* Forget that session: what lines with flattened meshes leave in it (shared
** specs, plans) is not another line's. */
void dt_parity_forget (DtParity *p, int size, int rank);
/* The operator of a line; NULL (and the line is skipped) when unknown. */
const DtOpDef *dt_parity_op (DtParity *p, DtRegistry *reg, const char *name);
bool dt_parity_skip (DtParity *p);

/* {==== read.c: JSON to C ==== */

const char *dt_jstr (const json_t *o, const char *key);
int64_t dt_jint (const json_t *o, const char *key, int64_t def);
bool dt_jtrue (const json_t *o, const char *key);
double dt_jnum (const json_t *v);               /* a number or {"inf":1} */
int dt_jints (const json_t *a, int64_t *out, int max);
int dt_jstrs (const json_t *a, const char **out, int max);
int dt_jpls (DtParity *p, const json_t *a, DtPlacement *out);   /* -1: bad */
DtShardOrder *dt_jorder (const json_t *a, DtShardOrder *o);     /* or NULL */
/* The mesh of a line as `rank` sees it; NULL on failure.  jmesh makes a new
** one (the caller's), cached gives a shared one (borrowed). */
DtMesh *dt_jmesh (DtParity *p, const json_t *line, int rank);
DtMesh *dt_jmesh_cached (DtParity *p, const json_t *line, int rank);
bool dt_jmeta (DtParity *p, const json_t *line, DtMeta *m);
DtDtype dt_jdtype (const json_t *tensor);       /* of "dt" or "t" */
/* Meta of a tensor argument: dtype, shape, stride. */
bool dt_jtensor_meta (DtParity *p, const json_t *t, DtMeta *m);
/* Spec of a distributed tensor argument (the caller's). */
DtSpec *dt_jspec (DtParity *p, const json_t *t, DtMesh *mesh);
static inline bool dt_jis_dist (const json_t *t) {
  return json_is_object(t) && json_object_get(t, "dt") != NULL;
}
static inline bool dt_jis_plain (const json_t *t) {
  return json_is_object(t) && json_object_get(t, "t") != NULL;
}

/* A call as the line has it: the arguments, and the JSON of each tensor by
** slot. */
typedef struct DtJCall {
  const DtOpDef *op;
  DtArgs args;
  int nin, cap;
  const json_t **tensor;        /* nin, from p->arena */
  const char **path;            /* "args[0]", "args[0][1]", "kw.out" */
} DtJCall;
/* Decode "args" and "kw" for `op`.  The status is that of binding. */
DtStatus dt_jcall (DtParity *p, const json_t *line, const DtOpDef *op,
                   DtJCall *c);
/* The same for all overloads of a name: the parser chooses. */
DtStatus dt_jcall_packet (DtParity *p, const json_t *line,
                          const DtPacket *packet, DtJCall *c);
/* One value; tensors get the next slot of `c`. */
bool dt_jvalue (DtParity *p, const json_t *v, DtJCall *c, const char *path,
                DtValue *out);

/* }==== compare.c: want and got, the reason in p->why ==== */

bool dt_same_ints (DtParity *p, const char *what, const json_t *want,
                   const int64_t *got, int n);
bool dt_same_text (DtParity *p, const char *what, const char *want,
                   const char *got);
bool dt_same_num (DtParity *p, const char *what, const json_t *want,
                  double got);
bool dt_same_flag (DtParity *p, const char *what, bool want, bool got);
bool dt_same_error (DtParity *p, const json_t *want, DtStatus st);
bool dt_no_error (DtParity *p, DtStatus st);
bool dt_same_pls (DtParity *p, const char *what, const json_t *want,
                  const DtPlacement *pl, int n);
bool dt_same_order (DtParity *p, const char *what, const json_t *want,
                    const DtShardOrder *got);
/* dtype, shape and strides of a tensor's JSON. */
bool dt_same_meta (DtParity *p, const char *what, const json_t *want,
                   const DtMeta *got);
/* All of a distributed tensor's JSON; `got` NULL and want null agree. */
bool dt_same_spec (DtParity *p, const char *what, const json_t *want,
                   const DtSpec *got);
/* A value as Python would show it, {"in":k} for slots. */
bool dt_same_value (DtParity *p, const char *what, const json_t *want,
                    const DtValue *got);
bool dt_fails (DtParity *p, const char *fmt, ...)
#if defined(__GNUC__)
  __attribute__((format(printf, 2, 3)))
#endif
;

/* }==== undetermined.c: what has no one answer ==== */

typedef struct DtOpenRule {
  const char *ops, *why, *run;  /* run: what PyTorch prints */
} DtOpenRule;
/* Is element `index` of result p->nth, wanted `want`, made `got`, one that
** PyTorch's answer is not determined for?  Counts it.  Pure but for *p. */
bool dt_open_element (DtParity *p, const DtMeta *m, const int64_t *index,
                      DtScalar want, DtScalar got);
/* The line failed as a whole: has it an answer? */
bool dt_open_line (DtParity *p);

/* }==== numbers.c: tensors with data ==== */

/* A tensor as its JSON lays it out (the caller's); without "data" zeros. */
DtStatus dt_jtensor (DtParity *p, const json_t *t, DtTensor **out);
/* dtype, shape, strides and data; `exact`: bit for bit, else by the tolerance
** of the dtype. */
bool dt_same_tensor (DtParity *p, const char *what, const json_t *want,
                     const DtTensor *got, bool exact);
/* Flat "data" against a tensor's elements in logical order. */
bool dt_same_data (DtParity *p, const char *what, const json_t *data,
                   const DtTensor *got, bool exact);
bool dt_same_scalar (DtParity *p, const char *what, const json_t *want,
                     const DtValue *got);
/* Variables of a call's tensors: by slot, the caller's; DTensors become
** variables with their spec and local part on this rank. */
typedef struct DtJVars { int n; DtVar **v; } DtJVars;
DtStatus dt_jvars (DtParity *p, DtSession *s, const DtJCall *c,
                   DtMesh *mesh, DtJVars *out);
void dt_jvars_fini (DtJVars *v);

/* }==== suites ==== */

bool dt_check_shards (DtParity *p, const json_t *o);
bool dt_check_order (DtParity *p, const json_t *o);
bool dt_check_cost (DtParity *p, const json_t *o);
/* Flatten what a line says was flattened; the meshes live with the root. */
bool dt_flatten_all (DtParity *p, const json_t *o, DtMesh *mesh);
bool dt_check_plan (DtParity *p, const json_t *o);
bool dt_check_flat (DtParity *p, const json_t *o);
bool dt_check_bytes (DtParity *p, const json_t *o);
bool dt_check_program (DtParity *p, const json_t *o);
bool dt_check_init (DtParity *p, const json_t *o);
bool dt_check_release (DtParity *p, const json_t *o);
bool dt_check_seed (DtParity *p, const json_t *o);
bool dt_check_values_layout (DtParity *p, const json_t *o);
bool dt_check_prop (DtParity *p, const json_t *o);
/* A call of prop/... that must be refused: where there is no strategy, with
** the line's text.  One whose arguments do not fit says nothing, and leaves
** *met false. */
bool dt_check_undecided (DtParity *p, const json_t *o, bool *met);
/* Candidates of a case: `line` holds the case too, under "case". */
bool dt_check_cands (DtParity *p, const json_t *line);
bool dt_check_rules (DtParity *p, const json_t *o);
bool dt_check_op (DtParity *p, const json_t *o);
bool dt_check_known (DtParity *p, const json_t *o);
bool dt_check_refused (DtParity *p, const json_t *o);
bool dt_check_decomp (DtParity *p, const json_t *o);
bool dt_check_forward (DtParity *p, const json_t *o);
bool dt_check_grad (DtParity *p, const json_t *o);
bool dt_check_promotion (DtParity *p, const json_t *o);
bool dt_check_called (DtParity *p, const json_t *o);
bool dt_check_decompose (DtParity *p, const json_t *o);
bool dt_check_mixed (DtParity *p, const json_t *o);
bool dt_check_collectives (DtParity *p, const json_t *o);
bool dt_check_values (DtParity *p, const json_t *o);

/* }==== */

/* --- folder.c --- */
/* Files to read, owned. */
typedef struct DtParityFiles { int n, room; char **name; } DtParityFiles;
/* The n names given, each folder as the suites in it and in its folders, by
** name.  IO: a folder that cannot be read, or has none.  Free `out` in either
** case.  Local. */
DtStatus dt_parity_files (DtCtx *cx, int n, char *const *given,
                          DtParityFiles *out);
void dt_parity_files_fini (DtCtx *cx, DtParityFiles *f);
/* The release that the files' nearest folders name, as tests/parity/2.15/prop
** does, into `name`; the base release where none does.  COMMAND where they
** differ.  Local. */
DtStatus dt_parity_files_release (DtCtx *cx, const DtParityFiles *f,
                                  char name[16]);

#endif
