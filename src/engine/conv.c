/* SPDX-License-Identifier: MIT
** engine/conv.c: convolution as PyTorch takes it over.
**
** The handler trusts the decided output placements and runs the kernel on the
** local tensors as they lie: inputs are not moved even where the decision
** says so.  That is PyTorch's behaviour, wrong results included.
** Backward first brings the output's gradient to the placements of the input. */
#include "engine/engine_int.h"

static DtStatus run_as_they_lie (DtSession *s, const DtCall *c,
                                 const DtProp *p, DtResults *out) {
  DtTensor *local[8], *res[4] = { NULL };
  DtLocalOut got = { .v = res, .max = 4 };
  DtStatus st;
  DT_CHECK(s->cx, c->nin <= 8 && p->nout <= 4, DT_E_LIMIT,
           "%s: too many tensors", c->op->sig->full);
  for (int i = 0; i < c->nin; i++) local[i] = c->in[i]->local;
  st = dt_run_local(s, c->op, c->args, c->nin, local, &got);
  if (st == DT_OK)
    st = dt_wrap(s, c, got.n, res, p->out, out);
  for (int i = 0; i < got.n; i++) dt_tensor_unref(s->cx, res[i]);
  return st;
}

DtStatus dt_handle_conv (DtSession *s, void *ud, const DtCall *c,
                         DtResults *out) {
  DtUnwrapped u;
  DtProp *p;
  bool hit;
  DtStatus st;
  (void)ud;
  DT_TRY(s->cx, dt_unwrap(s, c, &u));
  st = dt_prop_cached(s->cx, s->prop,
                      &(DtOpSchema){ c->op, c->args, c->nin, u.spec }, &p,
                      &hit);
  if (st == DT_OK) {
    st = u.mesh->member ? run_as_they_lie(s, c, p, out)
                        : dt_wrap_outside(s, c->op, p, out);
    dt_prop_unref(s->cx, p);
  }
  dt_unwrap_fini(s, &u);
  return st;
}

DtStatus dt_handler_first_spec (DtSession *s, const DtOpDef *op, int nin,
                                const DtSpec *const *in, DtSpec **out) {
  void *ud;
  if (nin < 2 || in[1] == NULL ||
      dt_handler_get(s, op, &ud) != dt_handle_conv_backward) {
    *out = dt_spec_ref(in[0]);
    return DT_OK;
  }
  return dt_spec_make(s, in[1]->mesh, in[1]->npl, in[1]->pl, &in[0]->meta, -1,
                      out);
}

DtStatus dt_handle_conv_backward (DtSession *s, void *ud, const DtCall *c,
                                  DtResults *out) {
  DtVar *in2[8], *g = NULL;
  DtStatus st;
  DT_CHECK(s->cx, c->nin >= 2 && c->nin <= 8 && c->in[0]->spec &&
           c->in[1]->spec, DT_E_ASSERT, "%s", "");
  const DtSpec *to = c->in[1]->spec;
  DT_TRY(s->cx, dt_redistribute(s, c->in[0], to->mesh, to->npl, to->pl,
                                DT_DTYPE_NONE, DT_DTYPE_NONE, &g));
  for (int i = 0; i < c->nin; i++) in2[i] = c->in[i];
  in2[0] = g;
  st = dt_handle_conv(s, ud, &(DtCall){ c->op, c->args, c->nin, in2 }, out);
  dt_var_unref(g);
  return st;
}
