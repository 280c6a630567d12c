/* SPDX-License-Identifier: MIT
** shard/twin.c: a number and a 0-dim tensor that PyTorch's cache takes for one.
**
** A number in a tensor's place (x + 10) comes to PyTorch's compiled cache as a
** 0-dim tensor, which its key writes as a replicated spec: i64 for an int, f64
** for a float.  x + torch.tensor(10) has the same key, so whichever was called
** first decides for both.  That shows where the two are decided differently:
** after the tensor, a number is added to a partial sum as it is (every rank
** adds the whole of it); after the number, the tensor shall be moved to where
** a number is, and PyTorch raises.
** Found by running PyTorch 2.13 (pytorch/pytorch#163193). */
#include <string.h>
#include "compat/release.h"
#include "shard/known_wrong.h"
#include "shard/twin_int.h"

static const DtKnownWrong shared_decision = {
  "", DT_WRONG_ROW, "", "",
  "the decision is that of an earlier call with a 0-dim tensor where this one "
  "has a number: PyTorch's cache takes them for one, and only the tensor is "
  "divided over the ranks",
  "P(sum) + torch.tensor(10), then P(sum) + 10: on 2 ranks 20 is added",
  DT_STILL
};

/* The 0-dim tensor a number becomes; false: not a number. */
static bool wrapped_dtype (uint8_t kind, DtDtype *t) {
  switch (kind) {
    case DT_V_INT: *t = DT_I64; return true;
    case DT_V_FLOAT: *t = DT_F64; return true;
    case DT_V_BOOL: *t = DT_BOOL; return true;
    default: return false;
  }
}

/* The argument that is a number where the schema says Tensor, after all
** tensors; -1: none. */
static int number_at (const DtArgs *a) {
  int i, found = -1;
  for (i = 0; i < a->npos && i < a->n; i++) {
    DtDtype t;
    const DtArgDef *d = &a->schema->arg[i];
    if (d->list) return -1;
    if (d->type != DT_T_TENSOR) continue;
    if (a->v[i].kind == DT_V_TENSOR && found >= 0) return -1;
    if (wrapped_dtype(a->v[i].kind, &t)) {
      if (found >= 0) return -1;
      found = i;
    }
  }
  return found;
}

/* The argument that is the last tensor, if a number could take its place; -1.
** */
static int tensor_at (const DtArgs *a, int nin, const DtSpec *const *in) {
  int i, last = nin - 1;
  const DtMeta *m;
  if (nin < 2 || !dt_spec_is_replicated(in[last])) return -1;
  m = &in[last]->meta;
  if (m->ndim != 0 || (m->dtype != DT_I64 && m->dtype != DT_F64 &&
                       m->dtype != DT_BOOL)) return -1;
  for (i = 0; i < a->npos && i < a->n; i++)
    if (!a->schema->arg[i].list && a->v[i].kind == DT_V_TENSOR &&
        a->v[i].u.slot == last) return i;
  return -1;
}

static DtStatus twin_spec (DtCtx *cx, DtMesh *mesh, DtDtype t, DtSpec **out) {
  DtPlacement pl[DT_MAX_MDIM];
  DtMeta m;
  int i;
  DT_TRY(cx, dt_meta_init(cx, &m, t, 0, NULL));
  for (i = 0; i < mesh->ndim; i++) pl[i] = dt_pl_replicate();
  return dt_spec_new(cx, mesh, mesh->ndim, pl, &m, NULL, 0, out);
}

DtStatus dt_twin_init (DtCtx *cx, const DtArgs *args, int nin,
                       const DtSpec *const *in, DtTwin *t) {
  DtDtype dtype = DT_I64;
  memset(t, 0, sizeof *t);
  if (nin < 1 || nin > DT_TWIN_MAX) return DT_OK;
  t->at = number_at(args);
  t->number = t->at >= 0;
  if (!t->number) t->at = tensor_at(args, nin, in);
  if (t->at < 0) return DT_OK;
  t->args = *args;
  memcpy(t->in, in, (size_t)nin * sizeof *in);
  t->nin = nin;
  if (t->number) {
    (void)wrapped_dtype(args->v[t->at].kind, &dtype);
    DT_TRY(cx, twin_spec(cx, in[0]->mesh, dtype, &t->made));
    t->args.v[t->at] = dt_v_slot(nin);
    t->args.nslots = nin + 1;
    t->in[t->nin++] = t->made;
  }
  t->on = true;
  return DT_OK;
}

void dt_twin_fini (DtCtx *cx, DtTwin *t) { dt_spec_unref(cx, t->made); }

static bool same_specs (int n, const DtSpec *const *a,
                        const DtSpec *const *b) {
  int i;
  for (i = 0; i < n; i++)
    if (a[i] != b[i] && (a[i] == NULL || b[i] == NULL ||
                         a[i]->npl != b[i]->npl ||
                         !dt_pls_equal(a[i]->pl, b[i]->pl, a[i]->npl)))
      return false;
  return true;
}

const DtKnownWrong *dt_known_wrong_shared (const DtArgs *args,
                                           const DtProp *own, int nout,
                                           const DtSpec *const *out) {
  int i;
  if (number_at(args) < 0 || nout != own->nout) return NULL;
  for (i = 0; i < nout; i++)
    if (out[i] != NULL && own->out[i] != NULL &&
        !same_specs(1, &out[i], (const DtSpec *const *)&own->out[i]))
      return &shared_decision;
  return NULL;
}

static DtStatus placed_as (DtCtx *cx, const DtSpec *meta, const DtSpec *pl,
                           DtSpec **out) {
  if (meta == NULL || pl == NULL) {
    *out = dt_spec_ref(meta);
    return DT_OK;
  }
  return dt_spec_new(cx, pl->mesh, pl->npl, pl->pl, &meta->meta, NULL,
                     pl->strided_is_order, out);
}

/* `own`, placed as `first` decided; slots it does not have stay. */
static DtStatus follow_first_decision (DtCtx *cx, const DtSpec *const *in,
                                       const DtProp *own, const DtProp *first,
                                       DtProp **out) {
  DtProp *p = dt_prop_new(cx, first->op, own->nin, own->nout, 0);
  DtStatus st = DT_OK;
  int i, n = own->nin < first->nin ? own->nin : first->nin;
  DT_CHECK(cx, p != NULL, DT_E_NOMEM, "out of memory");
  p->via = first->via;
  for (i = 0; i < own->nout && st == DT_OK; i++) {
    st = placed_as(cx, own->out[i], first->out[i], &p->out[i]);
    p->out_none[i] = own->out_none[i];
  }
  for (i = 0; i < own->nin; i++) {
    p->in[i] = dt_spec_ref(i < n ? first->in[i] : in[i]);
    p->moved[i] = i < n && first->moved[i];
    if (p->moved[i]) p->needs_redist = true;
  }
  if (st != DT_OK) {
    dt_prop_unref(cx, p);
    return st;
  }
  *out = p;
  return DT_OK;
}

static const char *python_type (const DtArgs *a, int at) {
  return a->v[at].kind == DT_V_INT ? "int"
         : a->v[at].kind == DT_V_BOOL ? "bool" : "float";
}

DtStatus dt_twin_follow (DtCtx *cx, const DtTwin *t,
                         const DtSpec *const *in, const DtProp *own,
                         const DtArgs *first_args, const DtProp *first,
                         DtProp **out) {
  int slot = t->nin - 1;
  *out = NULL;
  if (own->nout != first->nout || own->args != NULL || first->args != NULL ||
      own->no_spec || first->no_spec)
    return DT_OK;
  if (!t->number && first->needs_redist)
    return dt_raise(cx, DT_E_ATTR, "'%s' object has no attribute 'mesh'",
                    python_type(first_args, t->at));
  if (same_specs(own->nout, (const DtSpec *const *)own->out,
                 (const DtSpec *const *)first->out) &&
      same_specs(own->nin < first->nin ? own->nin : first->nin, own->in,
                 first->in))
    return DT_OK;
  DT_TRY(cx, follow_first_decision(cx, in, own, first, out));
  if (t->number && slot < first->nin && first->moved[slot])
    (*out)->known_wrong = &shared_decision;
  return DT_OK;
}
