/* SPDX-License-Identifier: MIT
** diag/rules_unread.c: what came from one rank and was written over by what came from
** another before anything had read it.
**
** A loop that receives from each rank into one tensor, and goes on with it behind the
** loop, has the last rank's message only; so has a list that is one tensor several
** times.  It is told where the tensor is read, so that nothing is said of collectives
** and messages whose content is of no use, as those that open connections: nor where one
** number over and over was lost, or something else was written there since. */
#include <string.h>
#include "diag/diag_int.h"

enum { UNREADS = 32 };

typedef struct Unread {
  int64_t storage;              /* 0: free */
  int from, before;             /* who sent last, and whose message was lost; -1: none */
  const char *evidence;         /* interned: a list has it several times; or NULL */
  bool token;                   /* what came last is one number over and over */
  bool filled;                  /* what is in it was written since */
  DtOrigin at;                  /* where it was received, or made */
} Unread;

struct DtUnreads { Unread v[UNREADS]; };

void dt_diag_unreads_free (DtDiag *g) {
  dt_free(g->s->cx, g->unreads);
  g->unreads = NULL;
  g->nunread = 0;
}

/* That of a storage, or a free one; NULL: it is not looked at. */
static Unread *place_of (DtDiag *g, const DtVar *v) {
  Unread *u;
  if (!g->on || g->d->muted || v->spec || v->local == NULL ||
      dt_meta_numel(&v->local->m) < 2 ||
      !dt_dtype_is_float((DtDtype)v->local->m.dtype)) return NULL;
  if (g->unreads == NULL &&
      (g->unreads = DT_NEW(g->s->cx, struct DtUnreads)) == NULL) {
    dt_error_clear(g->s->cx);
    return NULL;
  }
  u = &g->unreads->v[(uint64_t)v->local->storage->id % UNREADS];
  if (u->storage != v->local->storage->id)
    *u = (Unread){ .storage = v->local->storage->id, .from = -1, .before = -1 };
  g->nunread = 1;
  return u;
}

/* Is it all of its memory?  Pieces of a larger one lie side by side. */
static bool is_all (const DtTensor *t) {
  return t->offset == 0 &&
         (size_t)dt_meta_numel(&t->m) * dt_dtype_size((DtDtype)t->m.dtype) ==
           t->storage->nbytes;
}

/* Has it one number only, as what is sent to open a connection or to wait for each
** other?  So it is taken to be where the numbers are not known. */
static bool is_token (const DtTensor *t) {
  int64_t at[DT_MAX_NDIM] = { 0 };
  const double first = dt_tensor_has_data(t) ? dt_tensor_get(t, at).re : 0;
  if (!dt_tensor_has_data(t)) return true;
  for (int d = t->m.ndim - 1; d >= 0;) {
    if (dt_tensor_get(t, at).re != first) return false;
    for (d = t->m.ndim - 1; d >= 0 && ++at[d] >= t->m.shape[d]; d--) at[d] = 0;
  }
  return true;
}

/* A loop receives one after the other at the same place of the program. */
void dt_diag_received (DtDiag *g, const DtVar *v, int from) {
  const DtOrigin at = dt_diag_here(g, "recv");
  Unread *u;
  if (v->local == NULL || !is_all(v->local) || (u = place_of(g, v)) == NULL) return;
  if (u->at.line != at.line || u->at.file != at.file) u->before = -1;
  else if (u->from >= 0 && u->from != from && !u->token) u->before = u->from;
  u->from = from;
  u->token = is_token(v->local);
  u->filled = false;
  u->at = at;
}

void dt_diag_written_over (DtDiag *g, const DtVar *v, const char *evidence) {
  Unread *u = place_of(g, v);
  if (u == NULL) return;
  u->evidence = dt_session_intern(g->s, evidence);
  u->filled = false;
  u->at = v->origin;
}

void dt_diag_unread_taken (DtDiag *g, const DtVar *v) {
  Unread *u;
  if (g->unreads == NULL || v->local == NULL) return;
  u = &g->unreads->v[(uint64_t)v->local->storage->id % UNREADS];
  if (u->storage == v->local->storage->id) *u = (Unread){ .storage = 0 };
}

static void tell (DtDiag *g, const DtEvent *e, const DtVar *v, const Unread *u) {
  DtBuf b;
  dt_buf_init(&b, g->s->cx);
  if (u->evidence) {
    dt_buf_add(&b, u->evidence);
    dt_diag_put_at(g, DT_FIND_ID_ONE_FOR_ALL, &u->at, "", &b);
    return;
  }
  dt_buf_fini(&b);
  dt_diag_add(g, e, DT_FIND_ID_MESSAGE_LOST, v, 0, NULL, "what rank %d sent was received "
              "at %s:%d over what rank %d had sent, and nothing had read that", u->from,
              u->at.file ? u->at.file : "", u->at.line, u->before);
}

/* What is only written is not read by that: what comes, zeros, random numbers, the out=
** of a function. */
static bool is_filled (const DtDiag *g, const DtEvent *e, int i) {
  const uint32_t random = DT_OP_RANDOM | DT_OP_INPLACE;
  if ((e->op->flags & DT_OP_OUT) != 0) return i == e->nin - 1;
  return i == 0 && (dt_diag_is(g, e, DT_DO_COPY) || dt_diag_is(g, e, DT_DO_ZERO) ||
                    dt_diag_is(g, e, DT_DO_FILL) || (e->op->flags & random) == random);
}

static void on_read (DtDiag *g, const DtEvent *e) {
  for (int i = 0; i < e->nin; i++) {
    const DtVar *v = e->in[i];
    Unread *u;
    if (v == NULL || v->spec || v->local == NULL) continue;
    u = &g->unreads->v[(uint64_t)v->local->storage->id % UNREADS];
    if (u->storage == 0 || u->storage != v->local->storage->id) continue;
    if (is_filled(g, e, i)) {
      u->filled = u->filled || is_all(v->local);
      continue;
    }
    if (!u->filled && (u->evidence || (u->before >= 0 && !dt_diag_is(g, e, DT_DO_ITEM))))
      tell(g, e, v, u);         /* a number that is shown may be any, as a heartbeat */
    *u = (Unread){ .storage = 0 };
  }
}

static bool reads (const DtDiag *g, const DtOpDef *op) {
  return !dt_diag_view(g, op);
}

const DtDiagRule dt_rules_unread[] = {
  { DT_EV_OP, on_read, reads, DT_WHEN(nunread) },
  { 0, NULL, NULL, 0 }
};
