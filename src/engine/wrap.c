/* SPDX-License-Identifier: MIT
** engine/wrap.c: from local results back to variables.
**
** An in-place form gives its argument back; when the decision changed the
** placements (squeeze_), the argument takes the new spec.  An out= form gives
** its out arguments back, relabelled with the decided specs. */
#include "engine/engine_int.h"

DtStatus dt_results_init (DtSession *s, DtResults *r, int n) {
  r->n = n;
  r->more = NULL;
  r->is_list = false;
  r->ret.kind = DT_V_NONE;
  if (n > 16) {
    r->more = DT_NEWN(s->cx, DtVar *, n);
    if (r->more == NULL) {
      r->n = 0;
      return DT_E_NOMEM;
    }
    return DT_OK;
  }
  for (int i = 0; i < n; i++) r->v[i] = NULL;
  return DT_OK;
}

void dt_results_fini (DtSession *s, DtResults *r) {
  for (int i = 0; i < r->n; i++) dt_var_unref(dt_result(r, i));
  dt_free(s->cx, r->more);
  r->more = NULL;
  r->n = 0;
}

DtVar *dt_result (const DtResults *r, int i) {
  if (i < 0 || i >= r->n) return NULL;
  return r->more ? r->more[i] : r->v[i];
}

int dt_wrap_ret_slot (const DtOpDef *op, const DtArgs *args, int i) {
  const DtSchema *sig = op->sig;
  if (i >= sig->nrets || !sig->ret[i].write || sig->ret[i].list) return -1;
  for (int j = 0; j < sig->nargs; j++)
    if (sig->arg[j].write && !sig->arg[j].list &&
        sig->arg[j].alias_set == sig->ret[i].alias_set)
      return dt_arg_slot(args, j);
  return -1;
}

static void take_spec (DtSession *s, DtVar *v, DtSpec *spec) {
  DtSpec *old = v->spec;
  if (old == spec) return;
  v->spec = dt_spec_ref(spec);
  dt_spec_unref(s->cx, old);
}

/* Output `i` is the variable of an argument. */
static void wrap_written (DtSession *s, const DtOpDef *op, DtVar *v,
                          DtTensor *local, DtSpec *spec) {
  if (v->local != local && (op->flags & DT_OP_VIEW)) {
    dt_tensor_unref(s->cx, v->local);     /* squeeze_, t_, ...: a new view */
    v->local = dt_tensor_ref(local);
  }
  if (spec == NULL || v->spec == NULL) return;
  /* where the placements stay, so does the shape the variable claims: after
  ** squeeze_ too, as in PyTorch */
  if (op->sig->is_out || v->spec->npl != spec->npl ||
      !dt_pls_equal(v->spec->pl, spec->pl, spec->npl))
    take_spec(s, v, spec);
  v->origin = dt_ev_where(s);
}

static DtStatus wrap_new (DtSession *s, const DtCall *c, int i,
                          DtTensor *local, DtSpec *spec, DtVar **out) {
  DtStatus st;
  DT_TRY(s->cx, dt_var_result(s, local, spec, out));
  if ((c->op->flags & DT_OP_VIEW) && c->nin > 0 && c->in[0] != NULL)
    (*out)->inference = c->in[0]->inference;    /* as what it is a view of */
  if (!(c->op->flags & DT_OP_VIEW) || (c->op->flags & DT_OP_NOGRAD) || c->nin == 0 ||
      c->in[0] == NULL || s->inference)
    return DT_OK;
  if (!s->grad_enabled) {
    dt_view_forbid(*out, c->in[0], DT_VIEW_NO_GRAD);
    return DT_OK;
  }
  st = dt_view_remember(s, *out, c->in[0], c->op, c->args, i);
  if (st != DT_OK) {
    dt_drop_var(out);
    *out = NULL;
  }
  return st;
}

DtStatus dt_wrap (DtSession *s, const DtCall *c, int n, DtTensor **local,
                  DtSpec *const *spec, DtResults *out) {
  DtStatus st = dt_results_init(s, out, n);
  out->is_list = c->op->sig->returns_list;
  for (int i = 0; i < n && st == DT_OK; i++) {
    int slot = dt_wrap_ret_slot(c->op, c->args, i);
    DtSpec *sp = spec ? spec[i] : NULL;
    if (local[i] == NULL) continue;
    if (slot >= 0 && slot < c->nin && c->in[slot] != NULL) {
      if (sp != NULL && c->in[slot]->spec == NULL && c->op->sig->arg[0].write) {
        st = dt_raise(s->cx, DT_E_ASSERT, "%s", "");   /* a plain self */
        break;
      }
      wrap_written(s, c->op, c->in[slot], local[i], sp);
      *dt_results_at(out, i) = dt_var_ref(c->in[slot]);
      continue;
    }
    if (spec != NULL && sp == NULL && local[i]->m.ndim != 0) {
      st = dt_raise(s->cx, DT_E_ASSERT, "output tensor should be scalar!");
      break;
    }
    st = wrap_new(s, c, i, local[i], sp,
                  dt_results_at(out, i));
  }
  if (st != DT_OK) dt_results_fini(s, out);
  return st;
}

static DtStatus outside_one (DtSession *s, DtSpec *spec, DtVar **out) {
  DtMeta m;
  DtTensor *t;
  DtStatus st;
  int64_t zero = 0;
  int ndim = spec->meta.ndim == 0 ? 0 : 1;
  DT_TRY(s->cx, dt_meta_init(s->cx, &m, (DtDtype)spec->meta.dtype, ndim,
                             &zero));
  m.device = spec->meta.device;
  DT_TRY(s->cx, dt_tensor_new(s->cx, &m, dt_session_no_data(s), &t));
  st = DT_OK;
  if (ndim == 0 && dt_tensor_has_data(t))
    st = dt_k_fill(s->cx, t, dt_scalar_int(0));
  if (st == DT_OK) st = dt_var_result(s, t, spec, out);
  dt_tensor_unref(s->cx, t);
  return st;
}

DtStatus dt_wrap_outside (DtSession *s, const DtOpDef *op, const DtProp *p,
                          DtResults *out) {
  DtStatus st;
  if (p->no_spec) return dt_results_init(s, out, 0);
  st = dt_results_init(s, out, p->nout);
  out->is_list = op->sig->returns_list;
  for (int i = 0; i < p->nout && st == DT_OK; i++) {
    if (p->out[i] == NULL) {
      if (op->sig->returns_list || p->nout > 1)
        st = dt_raise(s->cx, DT_E_NOTIMPL, "return type Tensor in DTensor op "
                      "is not supported");
      continue;
    }
    st = outside_one(s, p->out[i], dt_results_at(out, i));
  }
  if (st != DT_OK) dt_results_fini(s, out);
  return st;
}
