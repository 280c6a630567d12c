/* SPDX-License-Identifier: MIT
** engine/conv.c: convolution as PyTorch takes it over.
**
** The handler trusts the decided output placements and runs the kernel on the
** local tensors as they lie: inputs are not moved even where the decision
** says so.  That is PyTorch's behaviour, wrong results included.
** Backward first brings the output's gradient to the placements of the input. */
#include "engine/engine_int.h"

static DtStatus run_as_they_lie (DtSession *s, const DtOpDef *op,
                                 const DtArgs *args, int nin,
                                 DtVar *const *in, const DtProp *p,
                                 DtResults *out) {
  DtTensor *local[8], *res[4] = { NULL };
  int nout = 0;
  DtStatus st;
  DT_CHECK(s->cx, nin <= 8 && p->nout <= 4, DT_E_LIMIT,
           "%s: too many tensors", op->sig->full);
  for (int i = 0; i < nin; i++) local[i] = in[i]->local;
  st = dt_run_local(s, op, args, nin, local, 4, res, &nout, NULL);
  if (st == DT_OK)
    st = dt_wrap(s, op, args, nin, in, nout, res, p->out, out);
  for (int i = 0; i < nout; i++) dt_tensor_unref(s->cx, res[i]);
  return st;
}

DtStatus dt_handle_conv (DtSession *s, void *ud, const DtOpDef *op,
                         const DtArgs *args, int nin, DtVar *const *in,
                         DtResults *out) {
  DtUnwrapped u;
  DtProp *p;
  bool hit;
  DtStatus st;
  (void)ud;
  DT_TRY(s->cx, dt_unwrap(s, op, args, nin, in, &u));
  st = dt_prop_cached(s->cx, s->prop, &(DtOpSchema){ op, args, nin, u.spec },
                      &p, &hit);
  if (st == DT_OK) {
    st = u.mesh->member ? run_as_they_lie(s, op, args, nin, in, p, out)
                        : dt_wrap_outside(s, op, p, out);
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

DtStatus dt_handle_conv_backward (DtSession *s, void *ud, const DtOpDef *op,
                                  const DtArgs *args, int nin,
                                  DtVar *const *in, DtResults *out) {
  DtVar *in2[8], *g = NULL;
  DtStatus st;
  DT_CHECK(s->cx, nin >= 2 && nin <= 8 && in[0]->spec && in[1]->spec,
           DT_E_ASSERT, "%s", "");
  DT_TRY(s->cx, dt_redistribute(s, in[0], in[1]->spec->mesh, in[1]->spec->npl,
                                in[1]->spec->pl, DT_DTYPE_NONE,
                                DT_DTYPE_NONE, &g));
  for (int i = 0; i < nin; i++) in2[i] = in[i];
  in2[0] = g;
  st = dt_handle_conv(s, ud, op, args, nin, in2, out);
  dt_var_unref(g);
  return st;
}
