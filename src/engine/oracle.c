/* SPDX-License-Identifier: MIT
** engine/oracle.c: one device as the judge: gather everything, run the plain
** operator, compare.  Used to verify results and to try repairs.
**
** The shadow call changes nothing that can be seen: no events, no numbers, no
** history, and the generator is where it was. */
#include "engine/engine_int.h"

#include <math.h>

void dt_oracle_tolerance (DtDtype t, double *rel, double *abs) {
  switch (t) {
    case DT_F16: *rel = 1e-3; *abs = 1e-5; break;
    case DT_BF16: *rel = 1.6e-2; *abs = 1e-5; break;
    case DT_F32: case DT_C64: *rel = 1.3e-6; *abs = 1e-5; break;
    case DT_F64: case DT_C128: *rel = 1e-7; *abs = 1e-7; break;
    case DT_F8E4M3: *rel = 0.125; *abs = 0.125; break;
    case DT_F8E5M2: *rel = 0.25; *abs = 0.25; break;
    default: *rel = 0; *abs = 0; break;
  }
}

DtStatus dt_oracle_call (DtSession *s, const DtOpDef *op, const DtArgs *args,
                         int nin, DtTensor *const *full, DtLocalOut *out) {
  uint64_t mask = s->listen_mask;
  int64_t seq = s->seq;
  DtGenerators rng = s->rng;
  bool grad = s->grad_enabled;
  DtStatus st;
  s->listen_mask = 0;
  s->grad_enabled = false;
  st = dt_run_local(s, op, args, nin, full, out);
  s->listen_mask = mask;
  s->grad_enabled = grad;
  s->seq = seq;
  s->rng = rng;
  return st;
}

DtStatus dt_oracle_gather (DtSession *s, const DtVar *v, DtTensor **out) {
  DtPlacement pl[DT_MAX_MDIM];
  DtSpec *dst;
  DtStatus st;
  uint64_t mask = s->listen_mask;
  if (v->spec == NULL) {
    *out = dt_tensor_ref(v->local);
    return DT_OK;
  }
  for (int i = 0; i < v->spec->npl && i < DT_MAX_MDIM; i++)
    pl[i] = dt_pl_replicate();
  DT_TRY(s->cx, dt_spec_make(s, v->spec->mesh, v->spec->npl, pl,
                             &v->spec->meta, -1, &dst));
  s->listen_mask = 0;
  st = dt_redist_local(s, v->local, v->spec, dst, false, 0, out);
  s->listen_mask = mask;
  dt_spec_unref(s->cx, dst);
  return st;
}

typedef struct Diff { double worst; bool close, same; } Diff;

static void compare_number (Diff *d, double a, double b, double rel,
                            double abs) {
  double gap;
  if (isnan(a) && isnan(b)) return;
  if (a == b) {
    if (signbit(a) != signbit(b)) d->same = false;
    return;
  }
  d->same = false;
  gap = fabs(a - b);
  if (isnan(gap) || isinf(gap)) gap = INFINITY;
  if (gap > d->worst) d->worst = gap;
  if (!(gap <= abs + rel * fabs(b))) d->close = false;
}

static void compare_at (Diff *d, const DtTensor *a, const DtTensor *b,
                        const int64_t *index, double rel, double abs) {
  DtScalar x = dt_tensor_get(a, index), y = dt_tensor_get(b, index);
  if (x.kind == DT_K_BOOL || x.kind == DT_K_INT) {
    if (x.i == y.i) return;
    d->same = d->close = false;
    d->worst = fmax(d->worst, fabs((double)x.i - (double)y.i));
    return;
  }
  compare_number(d, x.re, y.re, rel, abs);
  if (x.kind == DT_K_COMPLEX) compare_number(d, x.im, y.im, rel, abs);
}

DtStatus dt_oracle_compare (DtSession *s, const DtTensor *got,
                            const DtTensor *want, DtVerdict *verdict,
                            double *worst) {
  Diff d = { 0, true, true };
  int64_t index[DT_MAX_NDIM] = { 0 }, n = dt_meta_numel(&want->m);
  double rel, abs;
  *worst = 0;
  if (!dt_meta_same_shape(&got->m, &want->m) ||
      got->m.dtype != want->m.dtype) {
    *verdict = DT_SAME_NOT;
    *worst = INFINITY;
    return DT_OK;
  }
  DT_CHECK(s->cx, n == 0 || (dt_tensor_has_data(got) &&
                             dt_tensor_has_data(want)), DT_E_META_NO_DATA,
           "nothing to compare: the tensors have no data");
  dt_oracle_tolerance((DtDtype)want->m.dtype, &rel, &abs);
  for (int64_t i = 0; i < n; i++) {
    compare_at(&d, got, want, index, rel, abs);
    for (int k = want->m.ndim - 1; k >= 0; k--) {
      if (++index[k] < want->m.shape[k]) break;
      index[k] = 0;
    }
  }
  *verdict = d.same ? DT_SAME_BITS : d.close ? DT_SAME_CLOSE : DT_SAME_NOT;
  *worst = d.worst;
  return DT_OK;
}
