/* SPDX-License-Identifier: MIT
** engine/sdpa.c: which operator scaled_dot_product_attention becomes.
**
** The choice belongs to the device, so it is a column of devices.def.  The
** fused operator is called by matching argument names; one that was never
** defined (a vendor's, before the user defines it) is not taken, and neither
** is a call the fused kernels refuse: then the mathematical form runs. */
#include "engine/call_int.h"

#include <math.h>
#include <string.h>

enum { Q, K, V, MASK, DROPOUT, CAUSAL, SCALE = 6, GROUPS };

static const DtMeta *meta_at (const DtArgs *a, DtVar *const *in, int i) {
  int slot = dt_arg_slot(a, i);
  return slot < 0 ? NULL : dt_var_meta(in[slot]);
}

static DtStatus check_inputs (DtCtx *cx, const DtArgs *a, DtVar *const *in) {
  const DtMeta *q = meta_at(a, in, Q), *k = meta_at(a, in, K);
  const DtMeta *v = meta_at(a, in, V), *m = meta_at(a, in, MASK);
  if (q == NULL || k == NULL || v == NULL) return DT_OK;
  DT_CHECK(cx, q->dtype == k->dtype && q->dtype == v->dtype, DT_E_RUNTIME,
           "Expected query, key, and value to have the same dtype, but got "
           "query.dtype: %s key.dtype: %s and value.dtype: %s instead.",
           dt_dtype_info((DtDtype)q->dtype)->cpp,
           dt_dtype_info((DtDtype)k->dtype)->cpp,
           dt_dtype_info((DtDtype)v->dtype)->cpp);
  DT_CHECK(cx, q->ndim >= 2 && k->ndim >= 2 && v->ndim >= 2, DT_E_RUNTIME,
           "Expected query, key, and value to all be  at least 2 dimensional, "
           "but got query.dim: %d key.dim: %d and value.dim: %d instead.",
           q->ndim, k->ndim, v->ndim);
  DT_CHECK(cx, m == NULL || m->dtype == DT_BOOL || m->dtype == DT_F32 ||
           m->dtype == q->dtype, DT_E_RUNTIME, "Expected attn_mask dtype to be "
           "bool or float or to match query dtype, but got attn_mask.dtype: "
           "%s and  query.dtype: %s instead.",
           dt_dtype_info((DtDtype)(m ? m->dtype : q->dtype))->cpp,
           dt_dtype_info((DtDtype)q->dtype)->cpp);
  return DT_OK;
}

/* The mask spreads over (batch, heads, queries, keys). */
static DtStatus mask_fits (DtCtx *cx, const DtMeta *m, const DtMeta *q,
                           const DtMeta *k, bool *yes) {
  const int64_t want[4] = { q->shape[0], q->shape[1], q->shape[2],
                            k->shape[2] };
  *yes = m->ndim == 2 || m->ndim == 4;
  DT_CHECK(cx, m->ndim > 0, DT_E_INDEX,
           "Dimension specified as -2 but tensor has no dimensions");
  DT_CHECK(cx, m->ndim > 1, DT_E_INDEX, "Dimension out of range (expected to "
           "be in range of [-1, 0], but got -2)");
  for (int i = 0; *yes && i < m->ndim; i++)
    *yes = m->shape[i] == 1 || m->shape[i] == want[4 - m->ndim + i];
  return DT_OK;
}

/* Keys and values for whole groups of queries, of equal batches. */
static bool heads_fit (const DtMeta *const *m, bool groups) {
  for (int i = K; i <= V; i++) {
    int64_t h = m[i]->shape[1], q = m[Q]->shape[1];
    if (m[i]->shape[0] != m[Q]->shape[0] || m[i]->shape[1] != m[K]->shape[1])
      return false;
    if (h != q && (!groups || h == 0 || q % h != 0)) return false;
  }
  return true;
}

/* PyTorch's test for its fused kernels (sdp_utils_cpp): four dims, equal head
** size, no dropout, floating point. */
static bool fits_fused_kernel (const DtArgs *a, DtVar *const *in) {
  const DtMeta *m[3];
  for (int i = Q; i <= V; i++) {
    int slot = dt_arg_slot(a, i);
    if (slot < 0) return false;
    m[i] = dt_var_meta(in[slot]);
    if (m[i]->ndim != 4 || !dt_dtype_is_float((DtDtype)m[i]->dtype))
      return false;
  }
  if (dt_arg_float(a, DROPOUT) > 0) return false;
  if (m[Q]->shape[3] != m[K]->shape[3] || m[Q]->shape[3] != m[V]->shape[3])
    return false;
  return heads_fit(m, dt_arg_bool(a, GROUPS)) && m[Q]->shape[2] > 0 &&
         m[K]->shape[2] > 0;
}

/* The value of sdpa's argument for the fused operator's argument `name`;
** false when sdpa knows nothing of it. */
static bool value_for (const char *name, const DtArgs *a, DtVar *const *in,
                       const DtValue *mask, DtValue *out) {
  static const struct { const char *name; int arg; } map[] = {
    { "query", Q }, { "key", K }, { "value", V }, { "dropout_p", DROPOUT },
    { "is_causal", CAUSAL }, { "scale", SCALE },
  };
  for (size_t i = 0; i < sizeof map / sizeof map[0]; i++)
    if (strcmp(name, map[i].name) == 0) {
      *out = a->v[map[i].arg];
      return true;
    }
  if (strcmp(name, "attn_mask") == 0 || strcmp(name, "atten_mask") == 0) {
    *out = *mask;
    return true;
  }
  if (strcmp(name, "head_num") == 0) {
    *out = dt_v_int(dt_var_meta(in[dt_arg_slot(a, Q)])->shape[1]);
    return true;
  }
  if (strcmp(name, "input_layout") == 0) {
    *out = dt_v_str("BNSD");
    return true;
  }
  return false;
}

static bool fill_args (const DtOpDef *op, const DtArgs *a, DtVar *const *in,
                       const DtValue *mask, DtArgs *b) {
  bool masked = mask->kind == DT_V_NONE;
  memset(b, 0, sizeof *b);
  b->schema = op->sig;
  b->n = op->sig->nargs;
  b->npos = op->sig->nargs - op->sig->nkwonly;
  b->nslots = a->nslots;
  for (int j = 0; j < b->n; j++) {
    const DtArgDef *d = &op->sig->arg[j];
    if (value_for(d->name, a, in, mask, &b->v[j]) &&
        (b->v[j].kind != DT_V_NONE || d->opt || !d->has_default)) {
      b->given |= UINT32_C(1) << j;
      if (strstr(d->name, "mask")) masked = true;
    } else if (d->has_default || d->opt) {
      b->v[j] = d->dflt;
    } else {
      return false;
    }
  }
  return masked;                /* a mask the operator cannot take: no */
}

/* A mask of truth values becomes numbers to add (fused cpu kernel). */
static DtStatus additive_mask (DtSession *s, DtVar *mask, DtDtype t,
                               DtVar **out) {
  DtVar *low = NULL, *zero = NULL;
  DtStatus st = dt_call_fmt(s, &low, "aten.scalar_tensor.default", "f dtype=d",
                            -(double)INFINITY, (int)t);
  if (st == DT_OK)
    st = dt_call_fmt(s, &zero, "aten.scalar_tensor.default", "f dtype=d", 0.0,
                     (int)t);
  if (st == DT_OK)
    st = dt_call_fmt(s, out, "aten.where.self", "ttt", mask, zero, low);
  dt_var_unref(low);
  dt_var_unref(zero);
  return st;
}

/* One more dimension in front, `times` times; *v is replaced. */
static DtStatus add_dims (DtSession *s, DtVar **v, int times) {
  for (; times > 0; times--) {
    DtVar *h = NULL;
    DT_TRY(s->cx, dt_call_fmt(s, &h, "aten.unsqueeze.default", "ti", *v,
                              (int64_t)0));
    dt_var_unref(*v);
    *v = h;
  }
  return DT_OK;
}

/* Three dims (no batch) are a batch of one. */
static bool is_unbatched (const DtArgs *a, DtVar *const *in) {
  for (int i = Q; i <= V; i++) {
    const DtMeta *m = meta_at(a, in, i);
    if (m == NULL || m->ndim != 3) return false;
  }
  return true;
}

static DtStatus call_batch_of_one (DtSession *s, const DtArgs *a, int nin,
                                   DtVar *const *in, DtResults *out) {
  DtVar *in2[8] = { NULL }, *whole = NULL;
  DtResults r;
  DtStatus st = DT_OK;
  int i, mask = dt_arg_slot(a, MASK);
  memset(&r, 0, sizeof r);
  for (i = 0; i < nin; i++) in2[i] = dt_var_ref(in[i]);
  for (i = 0; st == DT_OK && i < nin; i++)
    st = add_dims(s, &in2[i], i == mask ? 4 - dt_var_meta(in[i])->ndim : 1);
  if (st == DT_OK) st = dt_call(s, dt_handlers_sdpa(s), a, nin, in2, &r);
  if (st == DT_OK)
    st = dt_call_fmt(s, &whole, "aten.squeeze.dim", "ti", r.v[0], (int64_t)0);
  if (st == DT_OK) st = dt_results_init(s, out, 1);
  if (st == DT_OK) *dt_results_at(out, 0) = whole;
  dt_results_fini(s, &r);
  for (i = 0; i < nin; i++) dt_var_unref(in2[i]);
  return st;
}

/* scaled_dot_product_attention by the device's fused kernel; `*done` false without
** an error: the caller decomposes it.  The checks are those that PyTorch makes
** before it chooses a kernel and must stay in front of the choice, or an input
** would be refused in one backend's words and accepted by the other.  A mask of
** bool becomes an added one on the CPU only; other devices take it as it is.
** Source: aten/src/ATen/native/transformers/attention.cpp:
** scaled_dot_product_attention@2.15. */
DtStatus dt_sdpa_call (DtSession *s, const DtArgs *args, int nin,
                       DtVar *const *in, DtResults *out, bool *done) {
  DtCtx *cx = s->cx;
  const char *name = s->profile.device->sdpa;
  const DtOpDef *op = name[0] ? dt_registry_find(cx, s->registry, name) : NULL;
  int mslot = dt_arg_slot(args, MASK);
  DtValue mask = args->v[MASK];
  DtVar *in2[8], *made = NULL;
  DtArgs a;
  DtStatus st = DT_OK;
  bool spread = true, on_cpu = s->profile.device->device == DT_DEV_CPU;
  bool later = (dt_handlers_sdpa(s)->flags & DT_OP_LATER) != 0;
  *done = false;
  DT_TRY(cx, check_inputs(cx, args, in));
  DT_CHECK(cx, !later || mslot < 0 || !dt_arg_bool(args, CAUSAL), DT_E_RUNTIME,
           "_scaled_dot_product_attention: Explicit attn_mask should not be "
           "set when is_causal=True");
  if (op == NULL) dt_error_clear(cx);
  if (later && on_cpu && nin <= 8 && is_unbatched(args, in)) {
    *done = true;
    return call_batch_of_one(s, args, nin, in, out);
  }
  if (op == NULL || nin > 8 || !fits_fused_kernel(args, in)) return DT_OK;
  if (mslot >= 0 && on_cpu)
    DT_TRY(cx, mask_fits(cx, dt_var_meta(in[mslot]),
                         meta_at(args, in, Q), meta_at(args, in, K),
                         &spread));
  if (!spread || !fill_args(op, args, in, &mask, &a)) return DT_OK;
  for (int i = 0; i < nin; i++) in2[i] = in[i];
  if (mslot >= 0 && dt_var_meta(in[mslot])->dtype == DT_BOOL && on_cpu) {
    st = additive_mask(s, in[mslot],
                       (DtDtype)dt_var_meta(in[0])->dtype, &made);
    if (st != DT_OK) return st;
    in2[mslot] = made;
  }
  st = dt_call(s, op, &a, nin, in2, out);
  dt_var_unref(made);
  if (st != DT_OK) return st;
  dt_call_keep_first(s, out);
  *done = true;
  return DT_OK;
}
