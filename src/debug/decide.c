/* SPDX-License-Identifier: MIT
** debug/decide.c: the decision on a recorded operator, asked for again: by
** :why, which wants all candidates, and by :verify, which looks for causes. */
#include "debug/debug.h"
#include "shard/known_wrong.h"

/* The spec that counts for input i: plain ones are Replicate on the mesh. */
static DtStatus spec_of (DtSession *s, const DtRecVar *v, DtMesh *mesh,
                         const DtSpec **out) {
  DtPlacement pl[DT_MAX_MDIM];
  DtSpec *made = NULL;
  DtStatus st;
  if (v->spec) {
    *out = dt_spec_ref(v->spec);
    return DT_OK;
  }
  for (int k = 0; k < mesh->ndim; k++) pl[k] = dt_pl_replicate();
  st = dt_spec_new(s->cx, mesh, mesh->ndim, pl, v->meta, NULL, -1, &made);
  *out = made;
  return st;
}

DtMesh *dt_record_mesh (const DtRecOp *r) {
  for (int i = 0; i < r->nin; i++)
    if (r->in[i].spec) return r->in[i].spec->mesh;
  return NULL;
}

/* Was this call given another's decision? */
static const DtKnownWrong *find_shared_decision (DtSession *s, const DtRecOp *r,
                                                 const DtProp *own) {
  const DtSpec **out = DT_ANEWN(s->cx, &s->cx->scratch, const DtSpec *,
                                r->nout + 1);
  if (out == NULL) return NULL;
  for (int i = 0; i < r->nout; i++) out[i] = r->out[i].spec;
  return dt_known_wrong_shared(&r->args, own, r->nout, out);
}

DtStatus dt_record_decide (DtDebug *d, const DtRecOp *r, const DtArgs *args,
                           DtWhy **why, DtProp **out) {
  DtSession *s = d->s;
  DtArenaMark mark = dt_arena_mark(&s->cx->scratch);
  DtMesh *mesh = dt_record_mesh(r);
  const DtSpec **in = DT_ANEWN(s->cx, &s->cx->scratch, const DtSpec *,
                               r->nin + 1);
  DtStatus st = in ? DT_OK : DT_E_NOMEM;
  int n = 0;
  while (st == DT_OK && n < r->nin) {
    st = spec_of(s, &r->in[n], mesh, &in[n]);
    if (st == DT_OK) n++;
  }
  DtSpec *first = NULL;
  if (st == DT_OK && n > 0) {
    st = dt_handler_first_spec(s, r->op, n, in, &first);
    if (st == DT_OK) {
      dt_spec_unref(s->cx, (DtSpec *)(uintptr_t)in[0]);
      in[0] = first;
    }
  }
  if (st == DT_OK)
    st = dt_prop_run(s->cx, s->prop,
                     &(DtOpSchema){ r->op, args, r->nin, in }, why, out);
  if (st == DT_OK && args == &r->args && r->done &&
      (*out)->known_wrong == NULL)
    (*out)->known_wrong = find_shared_decision(s, r, *out);
  while (n > 0) dt_spec_unref(s->cx, (DtSpec *)(uintptr_t)in[--n]);
  dt_arena_release(&s->cx->scratch, mark);
  return st;
}
