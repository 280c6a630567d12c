/* SPDX-License-Identifier: MIT
** engine/event.h: what happens, published to listeners.  Publishing without
** listeners costs one load and one branch.  Events nest: begin/end pairs carry
** the depth; `seq` numbers operators (#7 in all output). */
#ifndef DT_ENGINE_EVENT_H
#define DT_ENGINE_EVENT_H

#include "shard/prop.h"

typedef struct DtVar DtVar;
typedef struct DtSession DtSession;

typedef enum DtEventKind {
#define X(name, doc) DT_EV_##name,
#include "engine/events.def"
#undef X
  DT_NEVENTS
} DtEventKind;

/* All fields of all events; which are set is in events.def.  Everything is
** borrowed for the duration of the call. */
typedef struct DtEvent {
  DtEventKind kind;
  int64_t seq;                  /* operator number, 0 = none */
  int depth;                    /* nesting of events */
  bool backward;                /* inside backward */
  const char *file; int line;   /* script line, "" 0 = unknown */
  const char *module;           /* "layers.0.attn" or "" */
  const DtOpDef *op;
  const DtArgs *args;
  int nin; DtVar *const *in;    /* by slot */
  int nout; DtVar *const *out;
  int nlocal; DtTensor *const *local;    /* KERNEL: local inputs by slot */
  int nlout; DtTensor *const *lout;      /* KERNEL_END: local outputs */
  const DtProp *prop; bool cache_hit;    /* PROP */
  const DtPlan *plan; int step;          /* REDIST* */
  int slot; bool implicit;               /* REDIST: which argument */
  const char *coll;             /* COLL: "all_gather_into_tensor" */
  const char *reduce;           /* "sum" or NULL */
  const DtMesh *mesh; int mdim; /* mdim -1: not one mesh dim */
  int ngroup; const int *group;
  int64_t bytes_in, bytes_out;
  int64_t kept;                 /* OVERWRITTEN (op: what kept it): its storage's
                                ** version then */
  DtStatus status; const DtCtx *err;     /* ERROR */
  const char *text;             /* WARNING, NOTE, FUNC name */
} DtEvent;

/* A listener may stop the world inside (the debugger); it returns OK, or an
** error to abandon the operation (INTERRUPTED...). */
typedef DtStatus (*DtListenFn) (void *ud, DtSession *s, const DtEvent *e);
typedef struct DtHubEv DtHubEv;

/* Subscribe to the kinds in `mask` (bit per kind).  *id for removing. Local. */
DtStatus dt_event_listen (DtSession *s, uint64_t mask, DtListenFn fn, void *ud,
                          int *id);
void dt_event_unlisten (DtSession *s, int id);
/* Deliver; fills seq, depth, where, module from the session.  Local. */
DtStatus dt_event_emit (DtSession *s, DtEvent *e);

#endif
