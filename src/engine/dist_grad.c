/* SPDX-License-Identifier: MIT
** engine/dist_grad.c: backward of from_local, to_local and redistribute.
**
** A gradient of a partial value is replicated by default; nothing is scaled.
** None of these materialises a missing gradient. */
#include "engine/dist_int.h"

#include <string.h>
#include "mesh/layout.h"

typedef struct Back {
  DtSession *s;
  DtSpec *spec;                 /* of the forward tensor */
  bool given;                   /* gradient placements were given */
  int npl;
  DtPlacement pl[DT_MAX_MDIM];  /* those the gradient is brought to */
  DtDtype op_dtype, out_dtype;
  DtOrigin at; int64_t gave;    /* of the forward call, and its result */
} Back;

static void back_free (void *ud) {
  Back *b = ud;
  dt_spec_unref(b->s->cx, b->spec);
  dt_free(b->s->cx, b);
}

static DtStatus back_new (DtSession *s, const DtSpec *spec,
                          const DtPlacement *gpl, int ngpl, Back **out) {
  Back *b = DT_NEW(s->cx, Back);
  if (b == NULL) return DT_E_NOMEM;
  b->s = s;
  b->spec = dt_spec_ref(spec);
  b->given = gpl != NULL;
  b->npl = gpl != NULL ? ngpl : spec->npl;
  for (int i = 0; i < b->npl; i++) {
    b->pl[i] = gpl != NULL ? gpl[i] : spec->pl[i];
    if (gpl == NULL && dt_pl_is_partial(b->pl[i])) b->pl[i] = dt_pl_replicate();
  }
  *out = b;
  return DT_OK;
}

/* --- from_local: distributed gradient to a plain one --- */

static DtStatus plain_back (DtSession *s, const Back *b, DtVar *g,
                            DtVar **out) {
  DtSpec *dst = NULL;
  DtTensor *t = NULL;
  DtStatus st;
  if (g->spec->npl == b->npl && dt_pls_equal(g->spec->pl, b->pl, b->npl))
    return dt_to_local(s, g, NULL, 0, out);
  DT_TRY(s->cx, dt_spec_make(s, b->spec->mesh, b->npl, b->pl, &g->spec->meta,
                             -1, &dst));
  st = dt_redist_local(s, g->local, g->spec, dst, false, 0, &t);
  if (st == DT_OK) st = dt_var_result(s, t, NULL, out);
  dt_tensor_unref(s->cx, t);
  dt_spec_unref(s->cx, dst);
  return st;
}

static DtStatus from_local_back (DtSession *s, void *ud, int nout,
                                 DtVar *const *gout, int nin, DtVar **gin) {
  Back *b = ud;
  DtVar *g = gout[0];
  DtApi a;
  (void)nout; (void)nin;
  if (g == NULL) return DT_OK;
  DT_CHECK(s->cx, g->spec != NULL, DT_E_ATTR,
           "'Tensor' object has no attribute 'placements'");
  DT_TRY(s->cx, dt_api_begin(s, &a, "dtensor.from_local_backward", 1, &g));
  return dt_api_end(s, &a, 1, &g, &gin[0], plain_back(s, b, g, &gin[0]));
}

DtStatus dt_from_local_grad (DtSession *s, DtVar *in, DtVar *out,
                             const DtPlacement *gpl, int npl) {
  Back *b;
  if (!s->grad_enabled || !dt_var_needs_grad(in)) return DT_OK;
  DT_TRY(s->cx, back_new(s, out->spec, gpl, npl, &b));
  return dt_autograd_custom(s, "_FromTorchTensorBackward", 1, &in, 1, &out,
                            from_local_back, b, back_free);
}

/* --- to_local: plain gradient to a distributed one --- */

static DtStatus to_local_back (DtSession *s, void *ud, int nout,
                               DtVar *const *gout, int nin, DtVar **gin) {
  Back *b = ud;
  DtVar *g = gout[0];
  DtMeta m;
  DtApi a;
  DtStatus st;
  (void)nout; (void)nin;
  if (g == NULL) return DT_OK;
  DT_CHECK(s->cx, g->spec == NULL, DT_E_RUNTIME, "the local_tensor argument "
           "only accepts torch.Tensor but got <class 'torch.distributed."
           "tensor.DTensor'> value.");
  DT_TRY(s->cx, dt_layout_global(s->cx, b->spec->mesh, b->spec->npl,
                                 b->spec->pl, &g->local->m, &m));
  m.ndim = b->spec->meta.ndim;
  memcpy(m.shape, b->spec->meta.shape, sizeof m.shape);
  DT_TRY(s->cx, dt_api_begin(s, &a, "dtensor.to_local_backward", 1, &g));
  s->back_at = &b->at;
  s->back_var = b->gave;
  st = dt_api_end(s, &a, 1, &g, &gin[0],
                  dt_from_local(s, g, b->spec->mesh, b->npl, b->pl, false, &m,
                                NULL, &gin[0]));
  s->back_at = NULL;
  return st;
}

DtStatus dt_to_local_grad (DtSession *s, DtVar *in, DtVar *out,
                           const DtPlacement *gpl, int ngpl) {
  Back *b;
  if (!s->grad_enabled || !dt_var_needs_grad(in)) return DT_OK;
  DT_TRY(s->cx, back_new(s, in->spec, gpl, ngpl, &b));
  b->at = out->origin;
  b->gave = out->id;
  return dt_autograd_custom(s, "_ToTorchTensorBackward", 1, &in, 1, &out,
                            to_local_back, b, back_free);
}

/* --- redistribute --- */

/* R and S gradients of a partial stay replicated; the rest goes back. */
static int back_target (const Back *b, const DtSpec *g, DtPlacement *pl) {
  int n = g->npl < b->spec->npl ? g->npl : b->spec->npl;
  for (int i = 0; i < n; i++) {
    pl[i] = b->spec->pl[i];
    if (dt_pl_is_partial(pl[i]) && !dt_pl_is_partial(g->pl[i]))
      pl[i] = dt_pl_replicate();
  }
  return n;
}

static DtStatus move_back (DtSession *s, const Back *b, DtVar *g,
                           DtTensor **t, DtSpec **dst) {
  DtPlacement pl[DT_MAX_MDIM];
  DtSpec *src = NULL;
  DtTensor *local = NULL;
  DtMeta m;
  DtStatus st;
  int n = back_target(b, g->spec, pl);
  dt_meta_copy(&m, &g->spec->meta);
  m.dtype = (uint8_t)b->op_dtype;
  if ((DtDtype)g->local->m.dtype == b->op_dtype) {
    local = dt_tensor_ref(g->local);
    src = dt_spec_ref(g->spec);
    st = DT_OK;
  } else {
    st = dt_mv_cast(s, g->local, b->op_dtype, &local);
    if (st == DT_OK)
      st = dt_spec_make(s, g->spec->mesh, g->spec->npl, g->spec->pl, &m,
                        g->spec->strided_is_order, &src);
  }
  if (st == DT_OK)
    st = dt_spec_make(s, b->spec->mesh, n, pl, &m, -1, dst);
  if (st == DT_OK) {
    st = dt_redist_local(s, local, src, *dst, false, 0, t);
    if (st != DT_OK) dt_spec_unref(s->cx, *dst);
  }
  dt_tensor_unref(s->cx, local);
  dt_spec_unref(s->cx, src);
  return st;
}

static DtStatus redistribute_back (DtSession *s, void *ud, int nout,
                                   DtVar *const *gout, int nin, DtVar **gin) {
  Back *b = ud;
  DtVar *g = gout[0];
  DtTensor *t, *cast;
  DtSpec *dst, *spec;
  DtMeta m;
  DtApi a;
  DtStatus st;
  (void)nout; (void)nin;
  if (g == NULL) return DT_OK;
  DT_CHECK(s->cx, g->spec != NULL, DT_E_ATTR,
           "'Tensor' object has no attribute '_local_tensor'");
  DT_TRY(s->cx, dt_api_begin(s, &a, "dtensor.redistribute_backward", 1, &g));
  st = move_back(s, b, g, &t, &dst);
  if (st == DT_OK) {
    dt_meta_copy(&m, &g->spec->meta);
    m.dtype = (uint8_t)b->out_dtype;
    st = dt_mv_cast(s, t, b->out_dtype, &cast);
    if (st == DT_OK) {
      st = dt_spec_make(s, dst->mesh, dst->npl, dst->pl, &m,
                        dst->strided_is_order, &spec);
      if (st == DT_OK) {
        st = dt_var_result(s, cast, spec, &gin[0]);
        dt_spec_unref(s->cx, spec);
      }
      dt_tensor_unref(s->cx, cast);
    }
    dt_tensor_unref(s->cx, t);
    dt_spec_unref(s->cx, dst);
  }
  return dt_api_end(s, &a, 1, &g, &gin[0], st);
}

DtStatus dt_redistribute_grad (DtSession *s, DtVar *in, DtVar *out,
                               const DtSpec *src, DtDtype op_dtype,
                               DtDtype out_dtype) {
  Back *b;
  if (!s->grad_enabled || !dt_var_needs_grad(in)) return DT_OK;
  DT_TRY(s->cx, back_new(s, src, NULL, 0, &b));
  b->op_dtype = op_dtype;
  b->out_dtype = out_dtype;
  return dt_autograd_custom(s, "RedistributeBackward", 1, &in, 1, &out,
                            redistribute_back, b, back_free);
}
