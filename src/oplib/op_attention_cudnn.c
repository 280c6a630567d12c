/* SPDX-License-Identifier: MIT
** oplib/op_attention_cudnn.c: attention as PyTorch hands it to cuDNN.
**
** The numbers are those of the other fused forms; only the shape of logsumexp
** (a last dim of 1) and the order of arguments differ.  The forward strategy
** forgets the bias in two of its three rows, so that every call with one
** fails; the texts are those of the failing Python. */
#include "oplib/oplib_int.h"

#include <math.h>

enum { F_BIAS = 3, F_LSE = 4, F_CAUSAL = 6, F_DEBUG = 7, F_SCALE = 8,
       F_NOUT = 9 };

static double scale_of (const DtArgs *a, int i, const DtMeta *q) {
  return dt_arg_is_none(a, i) ? 1 / sqrt((double)q->shape[3])
                              : dt_arg_float(a, i);
}

static DtStatus forward_meta (DtMetaCall *c) {
  const DtMeta *q = c->in[0], *v = c->in[2];
  int64_t zero = 0;
  for (int i = 0; i < 3; i++)
    DT_CHECK(c->cx, c->in[i]->ndim == 4, DT_E_RUNTIME, "%s: query, key and "
             "value must have 4 dims", c->op->sig->full);
  DT_CHECK(c->cx, q->shape[3] == c->in[1]->shape[3] &&
                  c->in[1]->shape[2] == v->shape[2], DT_E_RUNTIME,
           "%s: query, key and value do not fit", c->op->sig->full);
  if (!c->fake) {
    DT_TRY(c->cx, op_attention_heads(c->cx, c->op->sig->full, q, c->in[1],
                                     v));
    DT_TRY(c->cx, op_attention_bias(c->cx, dt_in(c, F_BIAS), q, c->in[1]));
  }
  int64_t out[4] = { q->shape[0], q->shape[1], q->shape[2], v->shape[3] };
  int64_t lse[4] = { q->shape[0], q->shape[1], q->shape[2], 1 };
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[0], (DtDtype)q->dtype, 4, out, q));
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[1], DT_F32, 4, lse, q));
  for (int i = 2; i < F_NOUT; i++) {
    c->none[i] = true;
    DT_TRY(c->cx, op_new_meta(c->cx, &c->out[i], (DtDtype)q->dtype, 1, &zero,
                              q));
  }
  c->nout = F_NOUT;
  return DT_OK;
}

/* logsumexp without its last dim. */
static DtStatus flat_lse (DtCtx *cx, DtTensor *lse, DtTensor **out) {
  return op_restride(cx, lse, 3, lse->m.shape, lse->m.stride, 0, out);
}

static DtStatus forward_kernel (DtKernelCall *c) {
  DtTensor *lse = NULL;
  DT_TRY(c->cx, flat_lse(c->cx, c->out[1], &lse));
  DtAttention p = { c->in[0], c->in[1], c->in[2], dt_kin(c, F_BIAS),
                    dt_arg_bool(c->args, F_CAUSAL),
                    scale_of(c->args, F_SCALE, &c->in[0]->m) };
  DtStatus st = dt_k_attention(c->cx, &p, c->out[0], lse);
  dt_tensor_unref(c->cx, lse);
  return st;
}

static DtStatus rows3 (DtStratCall *c, int body) {
  DtPlacement rows[3 * OP_ROW_MAX];
  int w = c->nout + c->nin;
  DT_CHECK(c->cx, w <= OP_ROW_MAX, DT_E_LIMIT, "too many tensors");
  for (int r = 0; r < 3; r++)
    for (int i = 0; i < w; i++) {
      bool whole = r == 0 || (i >= body && i < body + 2);
      rows[r * w + i] = whole ? dt_pl_replicate() : dt_pl_shard(2 - r);
    }
  return op_s_rows(c, 3, rows, false);
}

static DtStatus forward_strategy (DtStratCall *c) {
  if (dt_sin(c, F_BIAS) != NULL) {      /* no row but the first has the bias */
    int n = c->mesh->ndim;
    DT_CHECK(c->cx, n <= 2, DT_E_VALUE,
             "zip() argument %d is shorter than arguments 1-%d", n, n - 1);
    DT_CHECK(c->cx, n == 1, DT_E_VALUE,
             "zip() argument 2 is shorter than argument 1");
    return dt_raise(c->cx, DT_E_ASSERT,
                    "input_specs(3) != strategies(4: 4 args + 0 kwargs)");
  }
  DtPlacement rows[3 * OP_ROW_MAX];
  int w = c->nout + c->nin;
  bool lse = dt_arg_bool(c->args, F_LSE);
  for (int r = 0; r < 3; r++)
    for (int i = 0; i < w; i++)
      rows[r * w + i] = r == 0 || (i == 1 && !lse) ? dt_pl_replicate()
                                                   : dt_pl_shard(2 - r);
  return op_s_rows(c, 3, rows, false);
}

static DtStatus forward_grad (DtGradCall *c) {
  DtHandle *out[3] = { NULL, NULL, NULL };
  int64_t lq = dt_emit_meta(c->e, c->in[0])->shape[2];
  int64_t lk = dt_emit_meta(c->e, c->in[1])->shape[2];
  dt_emit_n(c->e, "aten._scaled_dot_product_cudnn_attention_backward.default",
            out, 3, "tttttttttttiivv scale=v", c->gout[0], c->in[0], c->in[1],
            c->in[2], c->out[0], c->out[1], c->out[6], c->out[7],
            dt_gin(c, F_BIAS), c->out[2], c->out[3], lq, lk, c->args->v[5],
            c->args->v[F_CAUSAL], c->args->v[F_SCALE]);
  for (int i = 0; i < 3; i++) op_g_set(c, i, out[i]);
  return op_g_finish(c);
}

enum { B_Q = 1, B_OUT = 4, B_LSE, B_BIAS = 8, B_CAUSAL = 14, B_SCALE };

static DtStatus backward_check (DtMetaCall *c) {
  const char *op = c->op->sig->full;
  const DtMeta *q = dt_in(c, B_Q), *k = dt_in(c, B_Q + 1);
  const DtMeta *v = dt_in(c, B_Q + 2);
  DT_TRY(c->cx, op_attention_heads(c->cx, op, q, k, v));
  DT_TRY(c->cx, op_attention_saved(c->cx, op, "grad_out", c->in[0], q,
                                   v->shape[3], false));
  DT_TRY(c->cx, op_attention_saved(c->cx, op, "out", dt_in(c, B_OUT), q,
                                   v->shape[3], false));
  DT_TRY(c->cx, op_attention_saved(c->cx, op, "logsumexp", dt_in(c, B_LSE), q,
                                   1, false));
  return op_attention_bias(c->cx, dt_in(c, B_BIAS), q, k);
}

static DtStatus backward_meta (DtMetaCall *c) {
  for (int i = 0; i < 3; i++) {
    const DtMeta *m = dt_in(c, B_Q + i);
    DT_CHECK(c->cx, m && m->ndim == 4, DT_E_RUNTIME, "%s: query, key and "
             "value must have 4 dims", c->op->sig->full);
    op_like_meta(&c->out[i], m, (DtDtype)m->dtype);
  }
  c->nout = 3;
  return c->fake ? DT_OK : backward_check(c);
}

static DtStatus backward_kernel (DtKernelCall *c) {
  DtTensor *lse = NULL, *q = dt_kin(c, B_Q);
  DT_TRY(c->cx, flat_lse(c->cx, dt_kin(c, B_LSE), &lse));
  DtAttention p = { q, dt_kin(c, B_Q + 1), dt_kin(c, B_Q + 2),
                    dt_kin(c, B_BIAS), dt_arg_bool(c->args, B_CAUSAL),
                    scale_of(c->args, B_SCALE, &q->m) };
  DtStatus st = dt_k_attention_backward(c->cx, &p, c->in[0], dt_kin(c, B_OUT),
                                        lse, c->out);
  dt_tensor_unref(c->cx, lse);
  return st;
}

/* The seeds, after six tensors that follow, stay whole. */
static DtStatus backward_strategy (DtStratCall *c) {
  return rows3(c, c->nout + 6);
}

#define QKV "f32[2, 4, 8, 4], f32[2, 4, 8, 4], f32[2, 4, 8, 4]"
static const char *const forward_samples[] = {
  QKV ", None, true", QKV ", None, true, 0.0, true", NULL
};
static const char *const backward_samples[] = {
  "f32[2, 4, 8, 4], " QKV ", f32[2, 4, 8, 4], f32[2, 4, 8, 1], i64[], i64[], "
  "None, None, None, 8, 8, 0.0, false", NULL
};

const DtOpDef dt_op__scaled_dot_product_cudnn_attention = {
  .schema = "aten::_scaled_dot_product_cudnn_attention(Tensor query, Tensor "
            "key, Tensor value, Tensor? attn_bias, bool compute_log_sumexp, "
            "float dropout_p=0., bool is_causal=False, bool "
            "return_debug_mask=False, *, float? scale=None) -> (Tensor output, "
            "Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt "
            "max_q, SymInt max_k, Tensor philox_seed, Tensor philox_offset, "
            "Tensor debug_attn_mask)",
  .brief = "Fused attention, cuDNN form.", .flags = DT_OP_SAVE_OUT,
  .meta = forward_meta, .kernel = forward_kernel,
  .strategy = forward_strategy, .grad = forward_grad,
  .samples = forward_samples
};

const DtOpDef dt_op__scaled_dot_product_cudnn_attention_backward = {
  .schema = "aten::_scaled_dot_product_cudnn_attention_backward(Tensor "
            "grad_out, Tensor query, Tensor key, Tensor value, Tensor out, "
            "Tensor logsumexp, Tensor philox_seed, Tensor philox_offset, "
            "Tensor attn_bias, Tensor cum_seq_q, Tensor cum_seq_k, SymInt "
            "max_q, SymInt max_k, float dropout_p, bool is_causal, *, float? "
            "scale=None) -> (Tensor, Tensor, Tensor)",
  .brief = "Gradients of cuDNN attention.",
  .flags = DT_OP_NOGRAD | DT_OP_UNDEFINED,
  .meta = backward_meta, .kernel = backward_kernel,
  .strategy = backward_strategy, .samples = backward_samples
};
