/* SPDX-License-Identifier: MIT
** engine/p2p.c: send and recv on local tensors, as torch.distributed has them:
** one event when a side is posted, and a wait that ends when the other side is
** there, for a sender, too. */
#include "engine/engine_int.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/hash.h"

static bool moves_data (const DtSession *s, const DtTensor *t) {
  return !dt_session_no_data(s) && s->comm != NULL &&
         (dt_tensor_has_data(t) || dt_meta_numel(&t->m) == 0) &&
         t->m.device != DT_DEV_META;
}

/* The two of them, sender first. */
static DtStatus emit_transfer (DtSession *s, const DtMesh *m, int mdim,
                               bool send, int peer, DtTensor *t) {
  int me = m->my_rank, pair[2];
  int64_t n = dt_meta_nbytes(&t->m);
  DtEvent e = { .kind = DT_EV_COLL, .mesh = m, .mdim = mdim, .ngroup = 2,
                .group = pair, .bytes_in = send ? n : 0,
                .bytes_out = send ? 0 : n };
  if (!dt_session_heard(s)) return DT_OK;
  pair[0] = send ? me : peer;
  pair[1] = send ? peer : me;
  e.coll = dt_coll_find(send ? "send" : "recv_")->name;
  DT_TRY(s->cx, dt_event_emit(s, &e));
  e.kind = DT_EV_COLL_END;
  return dt_event_emit(s, &e);
}

/* A group is who is in it, whichever mesh or slice of one it was asked of. */
static DtStatus group_hash (DtCtx *cx, const DtMesh *m, int mdim,
                            uint64_t *h) {
  int64_t n = m->shape[mdim];
  int *ranks = dt_alloc(cx, (size_t)n * sizeof *ranks);
  if (ranks == NULL) return DT_E_NOMEM;
  dt_mesh_group(m, mdim, m->my_rank, ranks);
  *h = dt_hash_u64(DT_HASH_SEED, (uint64_t)n);
  for (int64_t k = 0; k < n; k++) *h = dt_hash_u64(*h, (uint64_t)ranks[k]);
  dt_free(cx, ranks);
  return DT_OK;
}

DtStatus dt_p2p_post (DtSession *s, const DtMesh *m, int mdim, bool send,
                      int peer, int tag, DtTensor *t, DtPostcard *out) {
  DtCtx *cx = s->cx;
  void *p = NULL;
  DtLetter l = { .send = send, .peer = peer, .tag = tag,
                 .nbytes = (size_t)dt_meta_nbytes(&t->m),
                 .dtype = (DtDtype)t->m.dtype };
  DT_CHECK(cx, dt_meta_is_contiguous(&t->m), DT_E_RUNTIME,
           "%s tensor has to be contiguous", send ? "input" : "output");
  DT_TRY(cx, group_hash(cx, m, mdim, &l.group));
  DT_TRY(cx, emit_transfer(s, m, mdim, send, peer, t));
  if (send) out->t = dt_tensor_ref(t);
  else DT_TRY(cx, dt_mv_clone(s, t, &out->t));
  if (moves_data(s, t)) {
    if (l.nbytes > 0) DT_TRY(cx, dt_tensor_data(cx, out->t, &p));
    l.data = p;
    DT_TRY(cx, dt_comm_post(cx, s->comm, &l, &out->msg));
  }
  out->letter = l;
  out->over = out->msg == NULL;
  return DT_OK;
}

DtStatus dt_p2p_wait (DtSession *s, DtPostcard *p) {
  DtOrigin o = dt_ev_where(s);
  char what[48], where[96] = "";
  DtCollInfo i = { .op = p->letter.send ? "send" : "recv_", .what = what,
                   .where = where };
  if (p->over) return DT_OK;
  (void)snprintf(what, sizeof what, "%s rank %d",
                 p->letter.send ? "to" : "from", p->letter.peer);
  if (o.line > 0)
    (void)snprintf(where, sizeof where, "%s:%d", o.file, o.line);
  DT_TRY(s->cx, dt_comm_await(s->cx, s->comm, p->msg, &p->letter, &i));
  p->over = true;
  return DT_OK;
}

DtStatus dt_p2p_sender (DtSession *s, const DtMesh *m, int mdim, int tag,
                        int *peer) {
  enum { PATIENCE = 4000 };     /* naps with everybody waiting: two seconds */
  DtCtx *cx = s->cx;
  DtStatus st = DT_OK;
  int n = (int)m->shape[mdim], waiting = 0;
  DtLetter l = { .tag = tag };
  int *ranks = DT_NEWN(cx, int, n);
  if (ranks == NULL) return DT_E_NOMEM;
  dt_mesh_group(m, mdim, m->my_rank, ranks);
  DT_TRYG(cx, group_hash(cx, m, mdim, &l.group));
  DT_TRYG(cx, dt_comm_sender(cx, s->comm, &l, n, ranks, peer));
  while (*peer < 0) {
    waiting = dt_comm_all_wait(s->comm, n, ranks) ? waiting + 1 : 0;
    if (waiting > PATIENCE) {
      st = dt_raise(cx, DT_E_RUNTIME, "recv waits for a message of any rank, "
                        "and no rank will send one");
      goto done;
    }
    DT_TRYG(cx, dt_comm_nap(cx, s->comm));
    DT_TRYG(cx, dt_comm_sender(cx, s->comm, &l, n, ranks, peer));
  }
done:
  dt_free(cx, ranks);
  return st;
}

bool dt_p2p_arrived (const DtSession *s, const DtPostcard *p) {
  return p->over || dt_comm_arrived(s->comm, p->msg);
}

void dt_p2p_drop (DtSession *s, DtPostcard *p) {
  if (p->msg != NULL) dt_comm_drop(p->msg);
  p->msg = NULL;
  p->over = true;
  dt_tensor_unref(s->cx, p->t);
  p->t = NULL;
}
