/* SPDX-License-Identifier: MIT
** shard/twin_int.h: calls that PyTorch's cache takes for one: with a number,
** and with a 0-dim tensor in its place (twin.c).  Private to shard/. */
#ifndef DT_SHARD_TWIN_INT_H
#define DT_SHARD_TWIN_INT_H

#include "shard/prop_int.h"

enum { DT_TWIN_MAX = 7 };

/* A call, written with the tensor. */
typedef struct DtTwin {
  bool on;                      /* it has a twin */
  bool number;                  /* it was called with the number */
  int at;                       /* the argument in question */
  DtArgs args;                  /* with the tensor */
  int nin; const DtSpec *in[DT_TWIN_MAX + 1];
  DtSpec *made;                 /* the number's spec, owned */
} DtTwin;

/* Has this call a twin?  Sets t->on.  NOMEM.  Pure. */
DtStatus dt_twin_init (DtCtx *cx, const DtArgs *args, int nin,
                       const DtSpec *const *in, DtTwin *t);
void dt_twin_fini (DtCtx *cx, DtTwin *t);
/* What PyTorch makes of this call, decided by itself as `own`, after its twin
** was decided as `first` (`first_args` are the twin's): *out is a new decision,
** or NULL where `own` stands.  ATTR with Python's text where it raises. Pure. */
DtStatus dt_twin_follow (DtCtx *cx, const DtTwin *t,
                         const DtSpec *const *in, const DtProp *own,
                         const DtArgs *first_args, const DtProp *first,
                         DtProp **out);

#endif
