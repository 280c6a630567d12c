/* SPDX-License-Identifier: MIT
** oplib/op_norm.c: softmax and its kin, layer and RMS normalisation.
**
** softmax needs its dim whole on every rank and follows its input otherwise.
** The norms cut any dim before the normalised ones; the gradients of weight
** and bias are then partial sums. */
#include "oplib/op_spatial.h"
#include "oplib/second.h"

#include <float.h>
#include <math.h>
#include <string.h>


/* ---- softmax, log_softmax, _safe_softmax ---- */

enum { SM_PLAIN, SM_LOG, SM_SAFE };
static const int row_plain[] = { SM_PLAIN }, row_log[] = { SM_LOG },
                 row_safe[] = { SM_SAFE };

static DtStatus softmax_meta (DtMetaCall *c) {
  int d, kind = c->op->row[0];
  DtDtype t = (DtDtype)c->in[0]->dtype;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->ndim, &d));
  if (kind == SM_SAFE) t = op_dtype_or(c->args, 2, t);
  else if (dt_arg_bool(c->args, 2)) t = DT_F32;
  DT_CHECK(c->cx, c->fake || kind == SM_SAFE || !dt_arg_bool(c->args, 2),
           DT_E_RUNTIME,
           "softmax with half to float conversion is not supported on CPU");
  DT_CHECK(c->cx, c->fake || (dt_dtype_is_float(t) && dt_dtype_size(t) > 1),
           DT_E_NOTIMPL,
           "\"%s%s_kernel_impl\" not implemented for '%s'",
           kind == SM_LOG ? "log_softmax" : "softmax",
           d == c->in[0]->ndim - 1 ? "_lastdim" : "",
           op_dtype_word(t));
  op_like_meta(&c->out[0], c->in[0], t);
  dt_meta_set_contiguous(&c->out[0]);
  c->nout = 1;
  return DT_OK;
}

/* Rows of nothing but -inf give 0, not NaN. */
static DtStatus clear_nan (DtCtx *cx, DtTensor *t) {
  OpNumber zero;
  DtTensor *mask = NULL;
  DtStatus st;
  DT_TRYG(cx, op_temp(cx, DT_BOOL, t->m.ndim, t->m.shape, &mask));
  DT_TRYG(cx, dt_k_unary(cx, DT_U_isnan, (DtDtype)t->m.dtype, NULL, t, mask));
  DT_TRYG(cx, dt_k_ternary(cx, DT_T3_masked_fill, (DtDtype)t->m.dtype, NULL,
                           t, mask, op_number(&zero, dt_scalar_int(0),
                                              (DtDtype)t->m.dtype), t));
done:
  dt_tensor_unref(cx, mask);
  return st;
}

/* A row is masked when its largest element is -inf; NaN inputs stay NaN. */
static DtStatus safe_rows (DtKernelCall *c, int d) {
  DtTensor *top = NULL, *dead = NULL, *in = c->in[0];
  OpNumber inf, zero;
  int64_t shape[DT_MAX_NDIM];
  DtStatus st;
  if (in->m.ndim == 0 || dt_meta_numel(&in->m) == 0)
    return in->m.ndim ? DT_OK : clear_nan(c->cx, c->out[0]);
  memcpy(shape, in->m.shape, sizeof(int64_t) * in->m.ndim);
  shape[d] = 1;
  DT_TRYG(c->cx, op_temp(c->cx, (DtDtype)in->m.dtype, in->m.ndim, shape,
                         &top));
  DT_TRYG(c->cx, op_temp(c->cx, DT_BOOL, in->m.ndim, shape, &dead));
  DT_TRYG(c->cx, dt_k_reduce(c->cx, DT_RED_MAX, NULL, in, 1u << d, top));
  DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_eq, (DtDtype)in->m.dtype, NULL, top,
                             op_number(&inf, dt_scalar_float(-INFINITY),
                                       DT_F64), dead));
  DT_TRYG(c->cx, dt_k_ternary(c->cx, DT_T3_masked_fill,
                              (DtDtype)c->out[0]->m.dtype, NULL, c->out[0],
                              dead, op_number(&zero, dt_scalar_int(0), DT_F64),
                              c->out[0]));
done:
  dt_tensor_unref(c->cx, top);
  dt_tensor_unref(c->cx, dead);
  return st;
}

static DtStatus softmax_kernel (DtKernelCall *c) {
  int d;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->m.ndim, &d));
  if (c->in[0]->m.ndim == 0 && c->op->row[0] != SM_SAFE)
    return dt_k_fill(c->cx, c->out[0],
                     dt_scalar_int(c->op->row[0] == SM_PLAIN));
  DT_TRY(c->cx, dt_k_softmax(c->cx, c->op->row[0] == SM_LOG, c->in[0], d,
                             c->out[0]));
  return c->op->row[0] == SM_SAFE ? safe_rows(c, d) : DT_OK;
}

static DtStatus softmax_strategy (DtStratCall *c) {
  int d;
  DtPlacement p[OP_MAXPL];
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->meta.ndim, &d));
  op_s_follow(c, 0, 1u << d, true, p);
  return op_s_one(c, p, p, NAN);
}

static DtStatus softmax_grad (DtGradCall *c) {
  const char *op = c->op->row[0] == SM_LOG
    ? "aten._log_softmax_backward_data.default"
    : "aten._softmax_backward_data.default";
  int t = dt_emit_meta(c->e, dt_gin(c, 0))->dtype;
  op_g_set(c, 0, EMIT(op, "ttvd", GOUT, c->out[0], c->args->v[1], t));
  return op_g_finish(c);
}

/* The operand whose dims `dim` counts: log_softmax reads the gradient first,
** softmax multiplies the two. */
static int back_shape (const DtOpDef *op, int grad, int output) {
  return op->row[0] == SM_PLAIN && output > grad;
}

static DtStatus softmax_back_meta (DtMetaCall *c) {
  int d;
  OpText g = op_shape_text(c->in[0]), o = op_shape_text(c->in[1]);
  bool log = c->op->row[0] == SM_LOG;   /* looks at nothing */
  DT_CHECK(c->cx, c->fake || log || dt_meta_same_shape(c->in[0], c->in[1]),
           DT_E_RUNTIME, "Expected tensor for argument #1 'grad' to have same "
           "size as tensor for argument #2 'output'; but %s does not equal %s "
           "(while checking arguments for %ssoftmax_backward)", g.s, o.s,
           c->op->row[0] == SM_LOG ? "log_" : "");
  DtMeta m;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 2, c->in[back_shape(c->op,
                       c->in[0]->ndim, c->in[1]->ndim)]->ndim, &d));
  if (log && !c->fake) dt_meta_copy(&m, c->in[0]);
  else DT_TRY(c->cx, dt_meta_broadcast(c->cx, c->in[0], c->in[1], &m));
  op_like_meta(&c->out[0], dt_meta_same_shape(&m, c->in[0]) ? c->in[0] : &m,
               c->fake ? op_dtype_or(c->args, 3, (DtDtype)c->in[0]->dtype)
                       : (DtDtype)c->in[0]->dtype);
  dt_meta_set_contiguous(&c->out[0]);
  c->nout = 1;
  return DT_OK;
}
/* What the kernel is called that PyTorch's CPU runs, and what it takes. */
static DtStatus softmax_back_allows (DtKernelCall *c, int d) {
  const DtMeta *g = &c->in[0]->m, *o = &c->in[1]->m;
  DtDtype t = (DtDtype)g->dtype;
  DT_CHECK(c->cx, dt_dtype_is_float(t), DT_E_NOTIMPL, "\"%ssoftmax_backward%s"
           "_kernel_impl\" not implemented for '%s'",
           c->op->row[0] == SM_LOG ? "log_" : "",
           d >= g->ndim - 1 ? "_lastdim" : "", op_dtype_word(t));
  DT_CHECK(c->cx, g->dtype == o->dtype, DT_E_RUNTIME,
           "expected scalar type %s but found %s", op_dtype_word(t),
           op_dtype_word((DtDtype)o->dtype));
  return DT_OK;
}
static DtStatus softmax_back_kernel (DtKernelCall *c) {
  int d;
  DtDtype t = op_dtype_or(c->args, 3, (DtDtype)c->in[0]->m.dtype);
  DT_CHECK(c->cx, t != DT_F16 || c->in[0]->m.dtype != DT_F32, DT_E_RUNTIME,
           "expected scalar type Float but found Half");
  DT_CHECK(c->cx, dt_meta_same_shape(&c->in[0]->m, &c->in[1]->m),
           DT_E_RUNTIME, "%s: grad of shape %s does not fit output of shape %s",
           c->op->sig->full, op_shape_text(&c->in[0]->m).s,
           op_shape_text(&c->in[1]->m).s);
  DT_TRY(c->cx, op_dim(c->cx, c->args, 2, c->in[0]->m.ndim, &d));
  if (dt_meta_numel(&c->in[0]->m) > 0) DT_TRY(c->cx, softmax_back_allows(c, d));
  return dt_k_softmax_backward(c->cx, c->op->row[0] == SM_LOG, c->in[0],
                               c->in[1], d, c->out[0]);
}
/* Follow the operand with more shards, the gradient on a tie. */
static DtStatus softmax_back_strategy (DtStratCall *c) {
  int d, nd = c->mesh->ndim;
  DtPlacement p[2 * OP_MAXPL];
  int from = dt_spec_num_shards(c->in[0]) >= dt_spec_num_shards(c->in[1])
             ? 0 : 1;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 2, c->in[back_shape(c->op,
                       c->in[0]->meta.ndim, c->in[1]->meta.ndim)]->meta.ndim,
                       &d));
  op_s_follow(c, from, 1u << d, true, p);
  memcpy(p + nd, p, sizeof *p * (size_t)nd);
  return dt_strat_add(c, p, p, NAN);
}

static DtStatus softmax_decomp (DtDecompCall *c) {
  DtHandle *h = c->in[0];
  DtDtype t = dt_arg_dtype(c->args, 2);
  if (t != DT_DTYPE_NONE && t != (DtDtype)dt_emit_meta(c->e, h)->dtype)
    h = EMIT("aten._to_copy.default", "t dtype=d", h, (int)t);
  c->out[0] = EMIT(c->op->row[0] == SM_LOG ? "aten._log_softmax.default"
                                           : "aten._softmax.default",
                   "tvb", h, c->args->v[1], 0);
  c->nout = 1;
  return c->e->st;
}

/* ---- layer norm, RMS norm ---- */

/* Row: is it RMS; positions of weight, bias (-1), eps. */
enum { LN_RMS, LN_W, LN_B, LN_EPS };
static const int row_ln[] = { 0, 2, 3, 4 }, row_rms[] = { 1, 2, -1, 3 };

static DtStatus check_affine (DtMetaCall *c, int at, const char *name, int k,
                              const int64_t *shape) {
  const DtMeta *m = at < 0 ? NULL : dt_in(c, at);
  OpText want = op_ints_text(k, shape);
  bool ok = !m || m->ndim == k;
  for (int i = 0; ok && m && i < k; i++) ok = m->shape[i] == shape[i];
  if (ok) return DT_OK;
  OpText got = op_shape_text(m);
  return dt_raise(c->cx, DT_E_RUNTIME, "Expected %s to be of same shape as "
                  "normalized_shape, but got %s of shape %s%s%s and "
                  "normalized_shape = %s", name, name,
                  c->fake ? "torch.Size(" : "", got.s, c->fake ? ")" : "",
                  want.s);
}

/* The last dims of m are the normalised ones. */
static DtStatus check_normalized (DtMetaCall *c, const DtMeta *m, int k,
                                  const int64_t *shape) {
  OpText want = op_ints_text(k, shape), got = op_shape_text(m);
  int first = m->ndim - k;
  bool ok = first >= 0;
  for (int i = 0; ok && i < k; i++) ok = m->shape[first + i] == shape[i];
  DT_CHECK(c->cx, ok || !c->fake, DT_E_RUNTIME, "Given normalized_shape=%s, "
           "expected input with shape %s, but got input of size torch.Size(%s)",
           want.s, want.s, got.s);
  want.s[strlen(want.s) - 1] = 0;
  DT_CHECK(c->cx, ok, DT_E_RUNTIME, "Given normalized_shape=%s], expected "
           "input with shape [*%s%s], but got input of size%s", want.s,
           ", ", want.s + 1, got.s);
  return DT_OK;
}

/* The fused form of rms_norm takes from normalized_shape only how many dims it
** has, and multiplies with the weight. */
static DtStatus check_counted (DtMetaCall *c, const DtMeta *m, const DtMeta *w,
                               int k) {
  DT_CHECK(c->cx, k <= 2 * m->ndim, DT_E_INDEX, "Dimension out of range "
           "(expected to be in range of [-%d, %d], but got %d)", m->ndim,
           m->ndim - 1, -m->ndim - 1);
  DT_CHECK(c->cx, k <= m->ndim || !c->fake, DT_E_RUNTIME,
           "duplicate value in the list of dims");
  DT_CHECK(c->cx, k <= m->ndim, DT_E_RUNTIME,
           "dim %d appears multiple times in the list of dims", m->ndim - 1);
  if (w && c->fake) return op_py_pair(c->cx, m, w, NULL);
  return w ? check_affine(c, c->op->row[LN_W], "weight", k,
                          m->shape + m->ndim - k) : DT_OK;
}

/* The saved mean and rstd have the sizes of the dims that stay, and the accumulating
** dtype only where the weight is float32. */
static DtStatus norm_meta (DtMetaCall *c) {
  int64_t shape[DT_MAX_NDIM], one[DT_MAX_NDIM];
  const DtMeta *m = c->in[0], *w = dt_in(c, c->op->row[LN_W]);
  int k = op_ints(c->args, 1, shape), first = m->ndim - k;
  OpText want = op_ints_text(k, shape);
  DtDtype t = (DtDtype)m->dtype, st = t;
  DT_CHECK(c->cx, k > 0, DT_E_RUNTIME, "Expected normalized_shape to be at "
           "least 1-dimensional, i.e., containing at least one element, but "
           "got normalized_shape = %s", want.s);
  if (c->op->row[LN_RMS]) DT_TRY(c->cx, check_counted(c, m, w, k));
  else {
    DT_TRY(c->cx, check_affine(c, c->op->row[LN_W], "weight", k, shape));
    DT_TRY(c->cx, check_affine(c, c->op->row[LN_B], "bias", k, shape));
    DT_TRY(c->cx, check_normalized(c, m, k, shape));
  }
  if (!c->fake) {
    const DtMeta *p[2] = { w, dt_in(c, c->op->row[LN_B]) };
    DT_TRY(c->cx, op_mixed_params(c->cx, t, p, 2));
    DT_TRY(c->cx, op_sp_dtype(c->cx, "LayerNormKernelImpl", t, OP_T_FLOAT));
  }
  if (w && w->dtype == DT_F32) st = dt_dtype_acc(t);
  op_like_meta(&c->out[0], m, t);
  dt_meta_set_contiguous(&c->out[0]);
  for (int i = 0; i < m->ndim; i++) one[i] = i < first ? m->shape[i] : 1;
  c->nout = c->op->row[LN_RMS] ? 2 : 3;
  for (int i = 1; i < c->nout; i++)
    DT_TRY(c->cx, op_new_meta(c->cx, &c->out[i], st, m->ndim, one, m));
  return DT_OK;
}

static double norm_eps (const DtOpDef *op, const DtArgs *a, DtDtype t) {
  int at = op->row[LN_EPS];
  if (!dt_arg_is_none(a, at)) return dt_arg_float(a, at);
  return t == DT_F64 ? DBL_EPSILON : (double)FLT_EPSILON;
}

static DtStatus norm_kernel (DtKernelCall *c) {
  bool rms = c->op->row[LN_RMS];
  int b = c->op->row[LN_B];
  DtAffine scale = { dt_kin(c, c->op->row[LN_W]), b < 0 ? NULL : dt_kin(c, b),
                     norm_eps(c->op, c->args, (DtDtype)c->in[0]->m.dtype) };
  DtNormed to = { c->out[0], rms ? NULL : c->out[1],
                  rms ? c->out[1] : c->out[2] };
  return dt_k_layer_norm(c->cx, rms, c->in[0], dt_arg_len(c->args, 1), &scale,
                         &to);
}

/* Dims before the normalised ones: cut everywhere, weight and bias whole. */
static DtStatus norm_rules (DtRuleCall *c) {
  int keep = c->in[0]->ndim - dt_arg_len(c->args, 1);
  for (int d = 0; d < keep; d++) {
    DtCell row[8];
    int n = 0;
    for (int i = 0; i < c->rows->nout; i++) row[n++] = dt_c_s(d);
    row[n++] = dt_c_s(d);
    while (n < c->rows->nout + c->rows->nin) row[n++] = dt_c_r();
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

static DtStatus ln_grad (DtGradCall *c) {
  DtHandle *out[3] = { NULL, NULL, NULL };
  const int at[3] = { 0, 2, 3 };
  DtValue mask[3];
  for (int i = 0; i < 3; i++) mask[i] = dt_v_bool(op_g_need(c, at[i]));
  dt_emit_n(c->e, "aten.native_layer_norm_backward.default", out, 3,
            "ttvttttv", GOUT, dt_gin(c, 0), c->args->v[1], c->out[1],
            c->out[2],
            dt_gin(c, 2), dt_gin(c, 3), dt_v_list(3, mask));
  for (int i = 0; i < 3; i++) op_g_set(c, at[i], out[i]);
  return op_g_finish(c);
}
static DtStatus rms_grad (DtGradCall *c) {
  DtHandle *out[2] = { NULL, NULL };
  const int at[2] = { 0, 2 };
  DtValue mask[2];
  for (int i = 0; i < 2; i++) mask[i] = dt_v_bool(op_g_need(c, at[i]));
  dt_emit_n(c->e, "aten._fused_rms_norm_backward.default", out, 2, "ttvttv",
            GOUT, dt_gin(c, 0), c->args->v[1], c->out[1], dt_gin(c, 2),
            dt_v_list(2, mask));
  for (int i = 0; i < 2; i++) op_g_set(c, at[i], out[i]);
  return op_g_finish(c);
}

/* Backward.  Row: is it RMS; positions of weight, bias, mask, rstd. */
enum { NB_RMS, NB_W, NB_B, NB_MASK, NB_RSTD };
static const int row_lnb[] = { 0, 5, 6, 7, 4 }, row_rmsb[] = { 1, 4, -1, 5,
                                                               3 };

static bool mask_at (const DtOpDef *op, const DtArgs *a, int i) {
  int64_t m[3] = { 1, 1, 1 };
  (void)dt_arg_ints(a, op->row[NB_MASK], m, 3);
  return m[i] != 0;
}

/* One number of statistics for each row: PyTorch reads beyond. */
static DtStatus norm_back_stats (DtKernelCall *c) {
  const DtMeta *m = &c->in[1]->m;
  int64_t rows = 1;
  for (int i = 0; i < m->ndim - dt_arg_len(c->args, 2); i++)
    rows *= m->shape[i];
  for (int i = c->op->row[NB_RMS] ? 1 : 0; i < 2; i++) {
    const DtTensor *t = dt_kin(c, i ? c->op->row[NB_RSTD] : 3);
    DT_CHECK(c->cx, t == NULL || dt_meta_numel(&t->m) == rows, DT_E_RUNTIME,
             "%s: %s of shape %s does not fit input of shape %s",
             c->op->sig->full, i ? "rstd" : "mean",
             t ? op_shape_text(&t->m).s : "", op_shape_text(m).s);
  }
  return DT_OK;
}

/* A gradient for each element. */
static DtStatus norm_back_check (DtMetaCall *c) {
  int64_t shape[DT_MAX_NDIM];
  const DtMeta *m = dt_in(c, 1);
  int k = op_ints(c->args, 2, shape);
  DT_TRY(c->cx, check_affine(c, c->op->row[NB_W], "weight", k, shape));
  DT_TRY(c->cx, check_affine(c, c->op->row[NB_B], "bias", k, shape));
  DT_TRY(c->cx, check_normalized(c, m, k, shape));
  OpText got = op_shape_text(c->in[0]), want = op_shape_text(m);
  DT_CHECK(c->cx, dt_meta_numel(c->in[0]) == dt_meta_numel(m), DT_E_RUNTIME,
           "%s: grad_out of shape %s does not fit input of shape %s",
           c->op->sig->full, got.s, want.s);
  return DT_OK;
}

/* In propagation the gradient times the weight is summed over the dims. */
static DtStatus norm_back_fake (DtMetaCall *c) {
  const DtMeta *m = dt_in(c, 1), *w = dt_in(c, c->op->row[NB_W]);
  DtMeta g;
  if (c->op->row[NB_RMS]) return DT_OK;
  dt_meta_copy(&g, c->in[0]);
  if (w != NULL) DT_TRY(c->cx, dt_meta_broadcast(c->cx, c->in[0], w, &g));
  return g.ndim < m->ndim ? op_has_dim(c->cx, &g, m->ndim - 1) : DT_OK;
}

/* What PyTorch's kernel asks: statistics and parameters of the input's dtype,
** or of f32 where the weight is. */
static DtStatus norm_back_real (DtMetaCall *c) {
  const DtMeta *x = dt_in(c, 1), *w = dt_in(c, c->op->row[NB_W]);
  static const int order[] = { 0, 3, 4, 5, 6 };
  DtDtype t = (DtDtype)x->dtype;
  bool half = t == DT_BF16 || t == DT_F16;
  if (c->op->row[NB_RMS]) return DT_OK;
  DT_TRY(c->cx, op_sp_dtype(c->cx, "LayerNormBackwardKernelImpl", t,
                            OP_T_FLOAT));
  for (int i = 0; i < 5; i++) {
    const DtMeta *m = dt_in(c, order[i]);
    DtDtype want = i > 0 && half && w && w->dtype == DT_F32 ? DT_F32 : t;
    DT_CHECK(c->cx, m == NULL || m->dtype == want, DT_E_RUNTIME,
             "expected scalar type %s but found %s", op_dtype_word(want),
             op_dtype_word((DtDtype)m->dtype));
  }
  return DT_OK;
}

/* Backward of layer_norm and rms_norm: gradients of the input, the weight and
** the bias, each only where output_mask asks for it. */
static DtStatus norm_back_meta (DtMetaCall *c) {
  int n = c->op->row[NB_RMS] ? 2 : 3;
  DT_TRY(c->cx, c->fake ? norm_back_fake(c) : norm_back_check(c));
  if (!c->fake) DT_TRY(c->cx, norm_back_real(c));
  op_like_meta(&c->out[0], dt_in(c, 1), (DtDtype)dt_in(c, 1)->dtype);
  dt_meta_set_contiguous(&c->out[0]);
  for (int i = 0; i < n; i++) {
    const DtMeta *m = i ? dt_in(c, c->op->row[NB_W + i - 1]) : c->in[0];
    DT_CHECK(c->cx, c->fake || c->op->row[NB_RMS] || m ||
             !mask_at(c->op, c->args, i), DT_E_RUNTIME,
             "tensor does not have a device");
    c->none[i] = !m || !mask_at(c->op, c->args, i);
    if (i && m) op_like_meta(&c->out[i], m, (DtDtype)m->dtype);
    if (i && m && !c->fake) dt_meta_set_contiguous(&c->out[i]);
  }
  c->nout = n;
  return DT_OK;
}

/* The backward of RMS norm exists for other devices only: on the CPU the
** forward is decomposed before autograd sees it. */
static DtStatus norm_back_here (const DtKernelCall *c) {
  return c->op->row[NB_RMS] && c->in[0]->m.device == DT_DEV_CPU
    ? dt_raise(c->cx, DT_E_NOTIMPL, "Could not run '%s::%s' with arguments "
               "from the 'CPU' backend. This could be because the operator "
               "doesn't exist for this backend, or was omitted during the "
               "selective/custom build process (if using custom build).",
               c->op->sig->ns, c->op->sig->base) : DT_OK;
}

static DtStatus norm_back_kernel (DtKernelCall *c) {
  bool rms = c->op->row[NB_RMS];
  DtTensor *gin = c->out[0], *tmp = NULL;
  DT_TRY(c->cx, norm_back_here(c));
  DT_TRY(c->cx, norm_back_stats(c));
  if (!gin) {                   /* only the weight's gradient is wanted */
    DT_TRY(c->cx, op_temp(c->cx, (DtDtype)c->in[1]->m.dtype,
                          c->in[1]->m.ndim, c->in[1]->m.shape, &tmp));
    gin = tmp;
  }
  DtNormSaved x = { c->in[1], rms ? NULL : dt_kin(c, 3),
                    dt_kin(c, c->op->row[NB_RSTD]),
                    dt_kin(c, c->op->row[NB_W]) };
  DtNormGrads to = { gin, c->out[1], rms ? NULL : c->out[2] };
  DtStatus st = dt_k_layer_norm_backward(c->cx, rms, c->in[0], &x,
                                         dt_arg_len(c->args, 2), &to);
  dt_tensor_unref(c->cx, tmp);
  return st;
}

static DtStatus norm_back_rules (DtRuleCall *c) {
  int keep = c->in[1]->ndim - dt_arg_len(c->args, 2);
  int stats = c->op->row[NB_RMS] ? 3 : 4;
  for (int d = 0; d < keep; d++) {
    DtCell row[12];
    int n = 0;
    row[n++] = dt_c_s(d);
    for (int i = 1; i < c->rows->nout; i++)
      row[n++] = dt_rin(c, c->op->row[NB_W + i - 1]) ? dt_c_p(DT_OP_SUM)
                                                     : dt_c_none();
    for (int i = 0; i < stats; i++) row[n++] = dt_c_s(d);
    while (n < c->rows->nout + c->rows->nin) row[n++] = dt_c_r();
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

/* ---- public forms ---- */

static DtStatus layer_norm_decomp (DtDecompCall *c) {
  DtHandle *out[3] = { NULL, NULL, NULL };
  dt_emit_n(c->e, "aten.native_layer_norm.default", out, 3, "tvttv", c->in[0],
            c->args->v[1], dt_hin(c, 2), dt_hin(c, 3), c->args->v[4]);
  c->out[0] = out[0];
  c->nout = 1;
  return c->e->st;
}

static DtStatus rms_check (DtDecompCall *c, const DtMeta *m) {
  int64_t shape[DT_MAX_NDIM];
  const DtHandle *w = dt_hin(c, 2);
  int k = op_ints(c->args, 1, shape);
  DT_CHECK(c->e->cx, m->ndim >= k, DT_E_VALUE, "Input tensor must have at "
           "least %d dimensions, but got %d", k, m->ndim);
  if (w) {
    const DtMeta *wm = dt_emit_meta(c->e, w);
    bool ok = wm->ndim == k;
    for (int i = 0; ok && i < k; i++) ok = wm->shape[i] == shape[i];
    OpText got = op_shape_text(wm), want = op_ints_text(k, shape);
    DT_CHECK(c->e->cx, ok, DT_E_RUNTIME, "Expected weight to be of same shape "
             "as normalized_shape, but got weight of shape %s and "
             "normalized_shape = %s", got.s, want.s);
  }
  for (int i = 0; i < k; i++) {
    OpText in = op_shape_text(m), norm = op_ints_text(k, shape);
    DT_CHECK(c->e->cx, m->shape[m->ndim - k + i] == shape[i], DT_E_RUNTIME,
             "Given normalized_shape=%s, expected input with shape [*%s, but "
             "got input of size%s", norm.s, norm.s + 1, in.s);
  }
  return DT_OK;
}

/* x * rsqrt(mean(x^2) + eps) * weight: what autograd sees. */
static DtStatus rms_decomp (DtDecompCall *c) {
  DtHandle *x = c->in[0], *w = dt_hin(c, 2), *r;
  DtMeta m;
  int64_t dims[DT_MAX_NDIM];
  int k = dt_arg_len(c->args, 1);
  dt_meta_copy(&m, dt_emit_meta(c->e, x));
  if (!dt_emit_ok(c->e)) return c->e->st;
  bool fused = c->op->sig && c->op->sig->nrets == 2;
  if (!fused) DT_TRY(c->e->cx, rms_check(c, &m));  /* fused: broadcasts */
  DT_CHECK(c->e->cx, c->e->tracing ||
           !dt_dtype_is_integral((DtDtype)m.dtype, true), DT_E_NOTIMPL,
           "\"rms_norm\" not implemented for '%s'",
           op_dtype_word((DtDtype)m.dtype));
  DtDtype t = (DtDtype)m.dtype, up = dt_dtype_acc(t);
  double eps = dt_arg_is_none(c->args, 3)
    ? (t == DT_F64 ? DBL_EPSILON : (double)FLT_EPSILON)
    : dt_arg_float(c->args, 3);
  if (t != DT_F64) eps = (double)(float)eps;    /* of the computation's type */
  for (int i = 0; i < k; i++) dims[i] = m.ndim - 1 - i;
  if (up != t) x = EMIT("aten._to_copy.default", "t dtype=d", x, (int)up);
  if (!c->e->tracing && !dt_meta_is_contiguous(&m) && !op_sp_channels_last(&m))
    x = EMIT("aten.clone.default", "t memory_format=v", x,
             dt_v_code(DT_V_MEMFMT, DT_MF_CONTIGUOUS));
  r = EMIT("aten.pow.Tensor_Scalar", "ti", x, (int64_t)2);
  r = EMIT("aten.mean.dim", "tIb", r, k, dims, 1);
  r = EMIT("aten.add_.Scalar", "tf", r, eps);
  r = EMIT("aten.rsqrt.default", "t", r);
  x = EMIT("aten.mul.Tensor", "tt", x, r);
  if (w) x = EMIT("aten.mul.Tensor", "tt", x, w);
  if (up != t) x = EMIT("aten._to_copy.default", "t dtype=d", x, (int)t);
  c->out[0] = x;
  c->nout = 1;
  if (fused) {
    c->out[1] = r;
    c->nout = 2;
  }
  return c->e->st;
}

/* ---- samples and definitions ---- */

static const char *const sm_samples[] = {
  "f32[8, 6], 1, false", "f32[7, 5], 0, false", "f32[1], 0, false",
  "f32[0, 4], 1, false", "f32[], 0, false", NULL
};
static const char *const safe_samples[] = {
  "f32[8, 6], -1", "f32[7, 5], 0", "f32[0, 4], 1", NULL
};
static const char *const sm_back_samples[] = {
  "f32[8, 6], f32[8, 6], 1, f32", "f32[7, 5], f32[7, 5], 0, f32",
  "f32[0, 4], f32[0, 4], 1, f32", NULL
};
static const char *const sm_int_samples[] = {
  "f32[8, 6], 1", "f32[7, 5], 0, f64", "f32[0, 4], 1", NULL
};
static const char *const ln_samples[] = {
  "f32[8, 6], [6], f32[6], f32[6], 1e-05", "f32[7, 5], [5], None, None, 1e-05",
  "f32[2, 3, 4], [3, 4], f32[3, 4], f32[3, 4], 1e-05",
  "f32[0, 4], [4], f32[4], f32[4], 1e-05", NULL
};
static const char *const layer_norm_samples[] = {
  "f32[8, 6], [6], f32[6], f32[6]", "f32[7, 5], [5]", NULL
};
static const char *const lnb_samples[] = {
  "f32[8, 6], f32[8, 6], [6], f32[8, 1], f32[8, 1], f32[6], f32[6], "
  "[true, true, true]", NULL
};
static const char *const rms_samples[] = {
  "f32[8, 6], [6], f32[6], 1e-06", "f32[7, 5], [5], None, None",
  "f32[2, 3, 4], [3, 4], f32[3, 4], 1e-06", NULL
};
static const char *const rmsb_samples[] = {
  "f32[8, 6], f32[8, 6], [6], f32[8, 1], f32[6], [true, true]", NULL
};

#define OP(id, schema_, brief_, flags_, meta_, kernel_, grad_, samples_, \
           row_, ...) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = flags_, \
    .meta = meta_, .kernel = kernel_, .grad = grad_, .samples = samples_, \
    .row = row_, __VA_ARGS__ }
#define SAVE DT_OP_SAVE_OUT
#define NG DT_OP_NOGRAD

OP(_softmax, "_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
   "Exponentials along a dim, divided by their sum.", SAVE, softmax_meta,
   softmax_kernel, softmax_grad, sm_samples, row_plain,
   .strategy = softmax_strategy);
OP(_log_softmax, "_log_softmax(Tensor self, int dim, bool half_to_float) -> "
   "Tensor", "Logarithm of softmax.", SAVE, softmax_meta, softmax_kernel,
   softmax_grad, sm_samples, row_log, .strategy = softmax_strategy);
OP(_safe_softmax, "_safe_softmax(Tensor self, int dim, "
   "ScalarType? dtype=None) -> Tensor", "softmax, 0 for rows of -inf only.",
   SAVE, softmax_meta, softmax_kernel, softmax_grad, safe_samples, row_safe,
   .strategy = softmax_strategy);
OP(_softmax_backward_data, "_softmax_backward_data(Tensor grad_output, "
   "Tensor output, int dim, ScalarType input_dtype) -> Tensor",
   "Gradient of softmax from its output.", 0, softmax_back_meta,
   softmax_back_kernel, op_gg_softmax_backward_data, sm_back_samples, row_plain,
   .strategy = softmax_back_strategy);
OP(_log_softmax_backward_data, "_log_softmax_backward_data(Tensor grad_output, "
   "Tensor output, int dim, ScalarType input_dtype) -> Tensor",
   "Gradient of log_softmax from its output.", 0, softmax_back_meta,
   softmax_back_kernel, op_gg_log_softmax_backward_data, sm_back_samples, row_log,
   .strategy = softmax_back_strategy);
OP(softmax_int, "softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> "
   "Tensor", "Exponentials along a dim, divided by their sum.",
   DT_OP_COMPOSITE, NULL, NULL, NULL, sm_int_samples, row_plain,
   .decomp = softmax_decomp);
OP(log_softmax_int, "log_softmax.int(Tensor self, int dim, "
   "ScalarType? dtype=None) -> Tensor", "Logarithm of softmax.",
   DT_OP_COMPOSITE, NULL, NULL, NULL, sm_int_samples, row_log,
   .decomp = softmax_decomp);

OP(native_layer_norm, "native_layer_norm(Tensor input, SymInt[] "
   "normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, "
   "Tensor, Tensor)", "Layer norm, mean and reciprocal deviation.",
   SAVE | DT_OP_AGAIN, norm_meta, norm_kernel, ln_grad, ln_samples, row_ln, .rulefn = norm_rules);
OP(native_layer_norm_backward, "native_layer_norm_backward(Tensor grad_out, "
   "Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, "
   "Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, "
   "Tensor)", "Gradients of layer norm.", 0, norm_back_meta,
   norm_back_kernel, op_gg_layer_norm_backward, lnb_samples, row_lnb, .rulefn = norm_back_rules);
OP(_fused_rms_norm, "_fused_rms_norm(Tensor input, int[] normalized_shape, "
   "Tensor? weight, float? eps) -> (Tensor, Tensor)",
   "RMS norm and reciprocal root mean square.", SAVE | DT_OP_COMPOSITE,
   norm_meta, norm_kernel, rms_grad, rms_samples, row_rms,
   .rulefn = norm_rules, .decomp = rms_decomp);
OP(_fused_rms_norm_backward, "_fused_rms_norm_backward(Tensor grad_out, "
   "Tensor input, int[] normalized_shape, Tensor rstd, Tensor? weight, "
   "bool[2] output_mask) -> (Tensor, Tensor)", "Gradients of RMS norm.", NG,
   norm_back_meta, norm_back_kernel, NULL, rmsb_samples, row_rmsb,
   .rulefn = norm_back_rules);
OP(layer_norm, "layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? "
   "weight=None, Tensor? bias=None, float eps=1e-05, bool "
   "cudnn_enable=True) -> Tensor",
   "(x - mean) / deviation over the last dims, scaled and moved.",
   DT_OP_COMPOSITE, NULL, NULL, NULL, layer_norm_samples, NULL,
   .decomp = layer_norm_decomp);
OP(rms_norm, "rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? "
   "weight=None, float? eps=None) -> Tensor",
   "x / root mean square over the last dims, scaled.", DT_OP_COMPOSITE,
   NULL, NULL, NULL, rms_samples, NULL, .decomp = rms_decomp);
