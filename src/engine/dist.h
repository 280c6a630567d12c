/* SPDX-License-Identifier: MIT
** engine/dist.h: the DTensor calls: from_local, to_local, redistribute,
** full_tensor, distribute_tensor.  Texts of errors as PyTorch.
** All take variables and follow autograd. */
#ifndef DT_ENGINE_DIST_H
#define DT_ENGINE_DIST_H

#include "engine/dispatch.h"

/* distribute_tensor(src_data_rank=0): scatter and broadcast from group rank
** 0 unless `src_data_rank` < 0 (None: local split).  Collective. */
DtStatus dt_distribute_tensor (DtSession *s, DtVar *t, DtMesh *mesh, int npl,
                               const DtPlacement *pl, int src_data_rank,
                               DtVar **out);
/* DTensor.from_local.  shape/stride NULL = inferred.  Local, Collective with
** run_check.  gpl NULL = default gradient placements. */
DtStatus dt_from_local (DtSession *s, DtVar *local, DtMesh *mesh, int npl,
                        const DtPlacement *pl, bool run_check,
                        const DtMeta *global, const DtPlacement *gpl,
                        DtVar **out);
/* to_local.  Local.  gpl NULL = default. */
DtStatus dt_to_local (DtSession *s, DtVar *t, const DtPlacement *gpl, int ngpl,
                      DtVar **out);
/* redistribute.  npl < 0: placements missing (RuntimeError).  Collective. */
DtStatus dt_redistribute (DtSession *s, DtVar *t, DtMesh *mesh, int npl,
                          const DtPlacement *pl, DtDtype forward_dtype,
                          DtDtype backward_dtype, DtVar **out);
DtStatus dt_full_tensor (DtSession *s, DtVar *t, const DtPlacement *gpl,
                         DtVar **out);

/* A call with a name of its own that `fn` carries out: one FUNC event, what
** runs inside is nested.  `fn` leaves at most `max` borrowed results for the
** event.  `name` is interned.  Local. */
typedef DtStatus (*DtNamedFn) (void *ud, int max, int *nout, DtVar **out);
DtStatus dt_named_call (DtSession *s, const char *name, int nin,
                        DtVar *const *in, DtNamedFn fn, void *ud);

/* redistribute_local_tensor: execute a plan on a local tensor (redist.c).
** Emits REDIST and COLL events.  `implicit`, `slot` for the events.
** Collective. */
DtStatus dt_redist_local (DtSession *s, DtTensor *local, const DtSpec *src,
                          const DtSpec *dst, bool implicit, int slot,
                          DtTensor **out);

/* The collectives that events name: as the event says, and what a person calls
** it ("_allgather_base_", "all_gather").  The i-th, NULL past the last; by
** name, NULL when none is called so.  Pure. */
typedef struct DtCollName { const char *name, *does; } DtCollName;
const DtCollName *dt_coll_name (int i);
const DtCollName *dt_coll_find (const char *name);
/* Raw collectives on a group of ranks, on local tensors, as the functional
** ones of PyTorch; emit COLL events.  Collective over the group. */
DtStatus dt_coll_all_reduce (DtSession *s, const DtMesh *m, int mdim,
                             DtRedOp op, DtTensor *in, DtTensor **out);
DtStatus dt_coll_all_gather (DtSession *s, const DtMesh *m, int mdim,
                             int gather_dim, DtTensor *in, DtTensor **out);
DtStatus dt_coll_reduce_scatter (DtSession *s, const DtMesh *m, int mdim,
                                 DtRedOp op, int scatter_dim, DtTensor *in,
                                 DtTensor **out);
DtStatus dt_coll_all_to_all (DtSession *s, const DtMesh *m, int mdim,
                             int split_dim, int concat_dim, DtTensor *in,
                             DtTensor **out);
/* all_to_all_single along dim 0 with sizes: in_splits[i] rows go to member i,
** out_splits[i] come from it.  Collective. */
DtStatus dt_coll_all_to_all_v (DtSession *s, const DtMesh *m, int mdim,
                               const int64_t *in_splits,
                               const int64_t *out_splits, DtTensor *in,
                               DtTensor **out);
/* From member `root` to all, in place.  Collective. */
DtStatus dt_coll_broadcast (DtSession *s, const DtMesh *m, int mdim, int root,
                            DtTensor *io);
/* Part i of `in`, given on `root`, to member i.  Collective. */
DtStatus dt_coll_scatter (DtSession *s, const DtMesh *m, int mdim, int root,
                          int n, DtTensor *const *in, DtTensor *out);

/* One side of a message to or from a rank of the group (p2p.c). */
typedef struct DtPostcard {
  DtLetter letter;
  DtMsg *msg;
  DtTensor *t;                  /* what is sent; the receiver's own, with the
                                ** values it had before.  dt_p2p_drop() */
  bool over;
} DtPostcard;
/* Begin to send `t` to, or receive one like it from, rank `peer` of the world;
** emits a COLL event.  *out is zero before and dropped after, also when this
** fails.  RUNTIME when it is not contiguous.  Local. */
DtStatus dt_p2p_post (DtSession *s, const DtMesh *m, int mdim, bool send,
                      int peer, int tag, DtTensor *t, DtPostcard *out);
/* Wait until the other side is there.  Collective over the two ranks. */
DtStatus dt_p2p_wait (DtSession *s, DtPostcard *p);
/* Wait until a rank of the group has sent this one a message: its rank of the
** world.  RUNTIME when all others wait, too.  Local. */
DtStatus dt_p2p_sender (DtSession *s, const DtMesh *m, int mdim, int tag,
                        int *peer);
/* Would that end at once?  Local. */
bool dt_p2p_arrived (const DtSession *s, const DtPostcard *p);
/* Let go of it; NULL fields are accepted.  Local. */
void dt_p2p_drop (DtSession *s, DtPostcard *p);

#endif
