/* SPDX-License-Identifier: MIT
** oplib/op_attention.c: scaled dot product attention, as formulas and fused.
**
** Which of the fused operators the public function becomes belongs to the
** device (engine).  All fused ones share one kernel and differ by what else
** they return.  The cpu one has no sharding strategy in PyTorch: it
** decomposes (batch shards stay, others are gathered), and its gradient does
** not even that.
** In the schemas of the gradients, tensors that PyTorch passes undefined
** (bias, lengths, seeds) are written Tensor?. */
#include "oplib/oplib_int.h"
#include "oplib/op_unwritten.h"

#include <math.h>
#include <string.h>


/* ---- the formula ---- */

typedef struct Sdpa {
  DtHandle *q, *k, *v, *mask;
  double dropout, scale;
  bool causal, gqa;
} Sdpa;

static DtHandle *contiguous (DtDecompCall *c, DtHandle *h) {
  DtValue f = dt_v_none();
  f.kind = DT_V_MEMFMT;
  f.u.i = 0;
  return EMIT("aten.clone.default", "t memory_format=v", h, f);
}

/* Each key or value head repeated for its group of query heads. */
static DtHandle *repeat_heads (DtDecompCall *c, DtHandle *h, int64_t heads) {
  DtMeta m;
  int64_t shape[DT_MAX_NDIM + 1];
  dt_meta_copy(&m, dt_emit_meta(c->e, h));
  if (!dt_emit_ok(c->e) || m.ndim < 3 || m.ndim >= DT_MAX_NDIM) return h;
  int at = m.ndim - 3;
  int64_t times = m.shape[at] ? heads / m.shape[at] : 1;
  if (times == 1) return h;
  memcpy(shape, m.shape, sizeof(int64_t) * m.ndim);
  for (int i = m.ndim; i > at + 1; i--) shape[i] = m.shape[i - 1];
  shape[at + 1] = times;
  h = EMIT("aten.unsqueeze.default", "ti", h, (int64_t)(at + 1));
  h = EMIT("aten.expand.default", "tI", h, m.ndim + 1, shape);
  h = contiguous(c, h);
  m.shape[at] *= times;
  return EMIT("aten.view.default", "tI", h, (int)m.ndim, m.shape);
}

/* Keep where true: 0 there, -inf elsewhere. */
static DtHandle *bool_mask (DtDecompCall *c, DtHandle *mask, int dtype) {
  DtHandle *inf = EMIT("aten.scalar_tensor.default", "f dtype=d", -INFINITY,
                       dtype);
  DtHandle *zero = EMIT("aten.scalar_tensor.default", "f dtype=d", 0.0, dtype);
  return EMIT("aten.where.self", "ttt", mask, zero, inf);
}

/* a @ b for batches: as the public matmul decomposes. */
static DtHandle *product (DtDecompCall *c, DtHandle *a, DtHandle *b) {
  DtDecompCall m = *c;
  DtHandle *in[2] = { a, b }, *out[1] = { NULL };
  if (!dt_emit_ok(c->e)) return NULL;
  m.op = &dt_op_matmul;
  m.nin = 2;
  m.in = in;
  m.out = out;
  m.maxout = 1;
  if (dt_op_matmul.decomp(&m) != DT_OK) return NULL;
  return out[0];
}

static DtHandle *dropped (DtDecompCall *c, DtHandle *h, double p) {
  if (p > 1) {
    (void)dt_raise(c->e->cx, DT_E_RUNTIME, "dropout probability has to be "
                   "between 0 and 1, but got %g", p);
    c->e->st = DT_E_RUNTIME;
    return NULL;
  }
  DtHandle *n = EMIT("aten.empty_like.default", "t", h);
  n = EMIT("aten.bernoulli_.float", "tf", n, 1 - p);
  n = EMIT("aten.div_.Scalar", "tf", n, 1 - p);
  return EMIT("aten.mul.Tensor", "tt", h, n);
}

static DtStatus check_groups (DtDecompCall *c, const DtMeta *q,
                              const Sdpa *s) {
  int64_t heads = q->shape[q->ndim - 3];
  for (int i = 0; i < 2; i++) {
    const DtMeta *m = dt_emit_meta(c->e, i ? s->v : s->k);
    int64_t h = m->ndim >= 3 ? m->shape[m->ndim - 3] : 1;
    DT_CHECK_SAY0(c->e->cx, h > 0 && heads % h == 0, DT_E_RUNTIME, HEADS);
  }
  return DT_OK;
}

static DtHandle *sdpa_math (DtDecompCall *c, const Sdpa *s, DtHandle **attn) {
  DtMeta q, k;
  DtHandle *h, *kt, *kk = s->k, *vv = s->v, *mask = s->mask, *x;
  dt_meta_copy(&q, dt_emit_meta(c->e, s->q));
  dt_meta_copy(&k, dt_emit_meta(c->e, s->k));
  if (!dt_emit_ok(c->e)) return NULL;
  double f = sqrt(fabs(s->scale));
  x = EMIT("aten.mul.Scalar", "tf", s->q, s->scale < 0 ? -f : f);
  if (s->causal && q.ndim >= 2 && k.ndim >= 2) {
    int64_t size[2] = { q.shape[q.ndim - 2], k.shape[k.ndim - 2] };
    mask = EMIT("aten.ones.default", "I dtype=d", 2, size, (int)DT_BOOL);
    mask = EMIT("aten.tril.default", "t", mask);
    mask = bool_mask(c, mask, q.dtype);
  }
  if (s->gqa && q.ndim >= 3) {
    kk = repeat_heads(c, kk, q.shape[q.ndim - 3]);
    vv = repeat_heads(c, vv, q.shape[q.ndim - 3]);
  }
  kt = EMIT("aten.transpose.int", "tii", kk, (int64_t)-2, (int64_t)-1);
  kt = EMIT("aten.mul.Scalar", "tf", kt, f);
  h = product(c, x, kt);
  if (mask) h = EMIT("aten.add.Tensor", "tt", h, mask);
  h = EMIT("aten._safe_softmax.default", "ti", h, (int64_t)-1);
  *attn = h;
  if (s->dropout > 0) h = dropped(c, h, s->dropout);
  return product(c, h, vv);
}

static double scale_of (const DtArgs *a, int i, const DtMeta *q) {
  if (i >= 0 && !dt_arg_is_none(a, i)) return dt_arg_float(a, i);
  return 1 / sqrt((double)q->shape[q->ndim - 1]);
}

static DtStatus sdpa_read (DtDecompCall *c, int mask, int drop, int causal,
                           int scale, int gqa, Sdpa *s) {
  memset(s, 0, sizeof *s);
  s->q = c->in[0];
  s->k = c->in[1];
  s->v = c->in[2];
  s->mask = dt_hin(c, mask);
  s->dropout = dt_arg_float(c->args, drop);
  s->causal = dt_arg_bool(c->args, causal);
  s->gqa = gqa >= 0 && dt_arg_bool(c->args, gqa);
  const DtMeta *q = dt_emit_meta(c->e, s->q);
  if (!dt_emit_ok(c->e)) return c->e->st;
  int k = dt_emit_meta(c->e, s->k)->ndim, v = dt_emit_meta(c->e, s->v)->ndim;
  bool math = strstr(c->op->sig->base, "_math") != NULL;
  DT_CHECK(c->e->cx, !math || q->ndim > 0, DT_E_INDEX,
           "Dimension specified as -1 but tensor has no dimensions");
  DT_CHECK(c->e->cx, math || (q->ndim >= 2 && k >= 2 && v >= 2), DT_E_RUNTIME,
           "Expected query, key, and value to all be  at least 2 dimensional, "
           "but got query.dim: %d key.dim: %d and value.dim: %d instead.",
           q->ndim, k, v);
  DT_CHECK(c->e->cx, !(s->causal && s->mask), DT_E_RUNTIME,
           "_scaled_dot_product_attention: Explicit attn_mask should not be "
           "set when is_causal=True");
  s->scale = scale_of(c->args, scale, q);
  if (s->gqa && q->ndim >= 3) DT_TRY(c->e->cx, check_groups(c, q, s));
  return DT_OK;
}

/* scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal, scale,
** enable_gqa) where no fused operator takes it */
static DtStatus sdpa_decomp (DtDecompCall *c) {
  Sdpa s;
  DtHandle *attn = NULL;
  DT_TRY(c->e->cx, sdpa_read(c, 3, 4, 5, 6, 7, &s));
  if (s.mask && dt_emit_meta(c->e, s.mask)->dtype == DT_BOOL)
    s.mask = bool_mask(c, s.mask, dt_emit_meta(c->e, s.q)->dtype);
  c->out[0] = sdpa_math(c, &s, &attn);
  c->nout = 1;
  return c->e->st;
}

/* (q, k, v, mask, dropout_p, is_causal, dropout_mask, scale, enable_gqa) */
static DtStatus math_decomp (DtDecompCall *c) {
  Sdpa s;
  DT_TRY(c->e->cx, sdpa_read(c, 3, 4, 5, 7, 8, &s));
  c->out[1] = NULL;
  c->out[0] = sdpa_math(c, &s, &c->out[1]);
  c->nout = 2;
  return c->e->st;
}

/* cpu: (q, k, v, dropout_p, is_causal, *, attn_mask, scale); the output is
** laid out with heads beside the head size */
static DtStatus cpu_decomp (DtDecompCall *c) {
  static const int64_t to[] = { 2, 0, 1, 3 }, back[] = { 1, 2, 0, 3 };
  Sdpa s;
  DtHandle *h;
  DT_TRY(c->e->cx, sdpa_read(c, 5, 3, 4, 6, -1, &s));
  s.gqa = true;
  c->out[1] = NULL;
  h = sdpa_math(c, &s, &c->out[1]);
  h = EMIT("aten.permute.default", "tI", h, 4, to);
  h = contiguous(c, h);
  c->out[0] = EMIT("aten.permute.default", "tI", h, 4, back);
  c->nout = 2;
  return c->e->st;
}

/* ---- fused operators ---- */

/* Row: positions of the mask (-1), is_causal, scale; outputs; heads layout. */
enum { FA_MASK, FA_CAUSAL, FA_SCALE, FA_NOUT };
static const int row_cpu[] = { 5, 4, 6, 2 }, row_flash[] = { -1, 4, 6, 9 },
                 row_eff[] = { 3, 6, 7, 4 };

/* Key and value heads serve whole groups of query heads. */
DtStatus op_attention_heads (DtCtx *cx, const char *op, const DtMeta *q,
                             const DtMeta *k, const DtMeta *v) {
  OpText qt = op_shape_text(q), kt = op_shape_text(k), vt = op_shape_text(v);
  bool ok = q->shape[0] == k->shape[0] && q->shape[0] == v->shape[0] &&
            q->shape[3] == k->shape[3] && k->shape[2] == v->shape[2];
  for (int i = 0; ok && i < 2 && q->shape[1] > 0; i++) {
    int64_t h = i ? v->shape[1] : k->shape[1];
    ok = h > 0 && q->shape[1] % h == 0;
  }
  DT_CHECK(cx, ok, DT_E_RUNTIME, "%s: query of shape %s, key of shape %s and "
           "value of shape %s do not fit", op, qt.s, kt.s, vt.s);
  return DT_OK;
}

DtStatus op_attention_bias (DtCtx *cx, const DtMeta *bias, const DtMeta *q,
                            const DtMeta *k) {
  if (!bias) return DT_OK;
  int64_t want[4] = { 1, 1, q->shape[2], k->shape[2] };
  int64_t have[4] = { 1, 1, 1, 1 };
  DT_CHECK(cx, bias->ndim == 2 || bias->ndim == 4, DT_E_RUNTIME,
           "scaled_dot_product_attention_flash_attention: Attention mask dim "
           "in {2, 4}");
  for (int i = 0; i < bias->ndim; i++)
    have[4 - bias->ndim + i] = bias->shape[i];
  if (bias->ndim == 4) {
    want[0] = q->shape[0];
    want[1] = q->shape[1];
  }
  OpText w = op_ints_text(4, want), h = op_ints_text(4, have);
  for (int i = 3; i >= 0; i--)
    DT_CHECK(cx, have[i] == want[i] || have[i] == 1, DT_E_RUNTIME,
             "The expanded size of the tensor (%lld) must match the existing "
             "size (%lld) at non-singleton dimension %d.  Target sizes: %s.  "
             "Tensor sizes: %s", (long long)want[i], (long long)have[i], i,
             w.s, h.s);
  return DT_OK;
}

DtStatus op_attention_saved (DtCtx *cx, const char *op, const char *name,
                             const DtMeta *m, const DtMeta *q, int64_t last,
                             bool padded) {
  OpText t = op_shape_text(m), qt = op_shape_text(q);
  bool ok = m->ndim >= 3 && m->shape[0] == q->shape[0] &&
            m->shape[1] == q->shape[1] &&
            (padded ? m->shape[2] >= q->shape[2]
                    : m->shape[2] == q->shape[2]);
  if (ok) ok = last < 0 ? m->ndim == 3 : m->ndim == 4 && m->shape[3] == last;
  DT_CHECK(cx, ok, DT_E_RUNTIME, "%s: %s of shape %s does not fit query of "
           "shape %s", op, name, t.s, qt.s);
  return DT_OK;
}

static DtStatus fused_check (DtMetaCall *c) {
  const DtMeta *q = c->in[0], *k = c->in[1], *v = c->in[2];
  int mask = c->op->row[FA_MASK];
  DT_CHECK(c->cx, q->ndim == 4 && k->ndim == 4 && v->ndim == 4, DT_E_RUNTIME,
           "scaled_dot_product_attention_flash_attention: Accept only 4 dims "
           "inputs shape of {B, H, T, K}");
  DT_CHECK(c->cx, q->shape[3] == k->shape[3] && k->shape[2] == v->shape[2] &&
                  q->shape[0] == k->shape[0], DT_E_RUNTIME,
           "scaled_dot_product_attention_flash_attention: Q/K/V should have "
           "the same head size");
  if (c->fake) return DT_OK;
  DtDtype t = (DtDtype)q->dtype, odd = (DtDtype)(k->dtype != t ? k : v)->dtype;
  DT_CHECK(c->cx, dt_dtype_is_float(t), DT_E_RUNTIME,
           "scaled_dot_product_attention_flash_attention: Expected data type "
           "in FP32, FP64, BF16, FP16, but got %s instead.", op_dtype_word(t));
  DT_CHECK(c->cx, dt_dtype_size(t) > 1, DT_E_NOTIMPL,
           "\"flash_attention\" not implemented for '%s'", op_dtype_word(t));
  DT_CHECK(c->cx, odd == t, DT_E_RUNTIME, "expected scalar type %s but found "
           "%s", op_dtype_word(t), op_dtype_word(odd));
  DT_TRY(c->cx, op_attention_heads(c->cx, c->op->sig->full, q, k, v));
  return op_attention_bias(c->cx, mask < 0 ? NULL : dt_in(c, mask), q, k);
}

/* Steps count an empty dim as one of a single element, as PyTorch's do. */
static int64_t at_least_1 (int64_t n) {
  return n > 1 ? n : 1;
}

/* [B, H, L, E] stored as [B, L, H, E]. */
static DtStatus heads_inside (DtMetaCall *c, const DtMeta *q, int64_t e,
                              DtMeta *o) {
  int64_t shape[4] = { q->shape[0], q->shape[1], q->shape[2], e };
  DT_TRY(c->cx, op_new_meta(c->cx, o, (DtDtype)q->dtype, 4, shape, q));
  o->stride[1] = at_least_1(e);
  o->stride[2] = at_least_1(q->shape[1]) * o->stride[1];
  return DT_OK;
}

/* flash: the weights for debugging, their columns in whole blocks. */
static DtStatus debug_mask (DtMetaCall *c) {
  const DtMeta *q = c->in[0];
  int64_t lk = c->in[1]->shape[2], block = q->shape[3] > 64 ? 128 : 256;
  int64_t cols = lk <= 128 ? 128 : lk <= 256 ? 256
                 : (q->shape[2] + block - 1) / block;
  int64_t shape[4] = { q->shape[0], q->shape[1], q->shape[2], cols };
  return op_new_meta(c->cx, &c->out[8], (DtDtype)q->dtype, 4, shape, q);
}

/* The fused attentions, distinguished by how many outputs they have: 2 on the
** CPU, 4 efficient, 9 flash and cudnn.  Shapes and strides of what is saved for
** backward are each kernel's own; DTensor's rules see them. */
static DtStatus fused_meta (DtMetaCall *c) {
  const DtMeta *q = c->in[0];
  int64_t lse[3] = { q->shape[0], q->shape[1], q->shape[2] }, two = 2, zero = 0;
  DtDtype t = dt_dtype_acc((DtDtype)q->dtype);
  int n = c->op->row[FA_NOUT];
  DT_TRY(c->cx, fused_check(c));
  if (n == 9 || (n == 2 && q->shape[3] == c->in[2]->shape[3]))
    op_like_meta(&c->out[0], q, (DtDtype)q->dtype);
  else DT_TRY(c->cx, heads_inside(c, q, c->in[2]->shape[3], &c->out[0]));
  if (n == 4)                   /* efficient: padded to 32, or nothing */
    lse[2] = dt_arg_bool(c->args, 4) ? (lse[2] + 31) / 32 * 32 : 0;
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[1], t, 3, lse, q));
  if (n == 2) {                 /* cpu: [B, L, H] transposed */
    c->out[1].stride[1] = 1;
    c->out[1].stride[2] = at_least_1(lse[1]);
    c->out[1].stride[0] = at_least_1(lse[1]) * at_least_1(lse[2]);
  }
  for (int i = 2; i < n; i++) {
    c->none[i] = n == 4 || (i != 6 && i != 8);  /* undefined, or numbers */
    DT_TRY(c->cx, op_new_meta(c->cx, &c->out[i], i == 6 ? DT_I64
                              : (DtDtype)q->dtype, 1, i == 6 ? &two : &zero,
                              q));
  }
  c->nout = n;
  return n == 9 && dt_arg_bool(c->args, 5) ? debug_mask(c) : DT_OK;
}

static DtStatus fused_kernel (DtKernelCall *c) {
  const int *row = c->op->row;
  DtTensor *mask = row[FA_MASK] < 0 ? NULL : dt_kin(c, row[FA_MASK]);
  DtTensor *lse = c->out[1], *part = NULL;
  DtMeta *q = &c->in[0]->m;
  DtStatus st = DT_OK;
  DT_CHECK(c->cx, row != row_flash || !dt_arg_bool(c->args, 5), DT_E_NOTIMPL,
           "%s: the debug mask is not computed here", c->op->sig->full);
  for (int i = 2; i < c->nout; i++)
    if (c->out[i])
      DT_TRY(c->cx, dt_k_fill(c->cx, c->out[i], dt_scalar_int(0)));
  if (lse && lse->m.shape[2] != q->shape[2]) {
    DT_TRY(c->cx, dt_k_fill(c->cx, lse, dt_scalar_int(0)));
    if (lse->m.shape[2] > 0)
      DT_TRY(c->cx, op_restride(c->cx, lse, 3, q->shape, lse->m.stride, 0,
                                &part));
    lse = part;
  }
  DtAttention p = { c->in[0], c->in[1], c->in[2], mask,
                    dt_arg_bool(c->args, row[FA_CAUSAL]),
                    scale_of(c->args, row[FA_SCALE], q) };
  st = dt_k_attention(c->cx, &p, c->out[0], lse);
  dt_tensor_unref(c->cx, part);
  return st;
}

/* Rows: all whole; heads cut; batch cut.  `lse` follows unless not made. */
static DtStatus fused_strategy (DtStratCall *c) {
  DtPlacement rows[3 * OP_ROW_MAX];
  int n = c->op->row[FA_NOUT], w = c->nout + c->nin;
  bool has_lse = n != 4 || dt_arg_bool(c->args, 4);
  bool debug = n == 9 && dt_arg_bool(c->args, 5);
  DT_CHECK(c->cx, w <= OP_ROW_MAX, DT_E_LIMIT, "too many tensors");
  for (int r = 0; r < 3; r++) {
    DtPlacement p = r == 0 ? dt_pl_replicate() : dt_pl_shard(2 - r);
    for (int i = 0; i < w; i++) {
      bool out = i < c->nout;
      bool follow = !out || i == 0 || (i == 1 && has_lse) || (i == 8 && debug);
      rows[r * w + i] = follow ? p : dt_pl_replicate();
    }
  }
  return op_s_rows(c, 3, rows, false);
}

static DtStatus cpu_grad (DtGradCall *c) {
  DtHandle *out[3] = { NULL, NULL, NULL };
  dt_emit_n(c->e, "aten._scaled_dot_product_flash_attention_for_cpu_backward."
            "default", out, 3, "ttttttvv attn_mask=t scale=v", c->gout[0],
            c->in[0], c->in[1], c->in[2], c->out[0], c->out[1],
            c->args->v[3], c->args->v[4], dt_gin(c, 5), c->args->v[6]);
  for (int i = 0; i < 3; i++) op_g_set(c, i, out[i]);
  return op_g_finish(c);
}

static DtStatus flash_grad (DtGradCall *c) {
  DtHandle *out[3] = { NULL, NULL, NULL };
  int64_t lq = dt_emit_meta(c->e, c->in[0])->shape[2];
  int64_t lk = dt_emit_meta(c->e, c->in[1])->shape[2];
  dt_emit_n(c->e, "aten._scaled_dot_product_flash_attention_backward.default",
            out, 3, "ttttttttiivvtt scale=v", c->gout[0], c->in[0], c->in[1],
            c->in[2], c->out[0], c->out[1], c->out[2], c->out[3], lq, lk,
            c->args->v[3], c->args->v[4], c->out[6], c->out[7],
            c->args->v[6]);
  for (int i = 0; i < 3; i++) op_g_set(c, i, out[i]);
  return op_g_finish(c);
}

static DtStatus eff_grad (DtGradCall *c) {
  DtHandle *out[4] = { NULL, NULL, NULL, NULL };
  DtValue mask[4];
  for (int i = 0; i < 4; i++) mask[i] = dt_v_bool(op_g_need(c, i));
  dt_emit_n(c->e, "aten._scaled_dot_product_efficient_attention_backward."
            "default", out, 4, "tttttttttvvv scale=v", c->gout[0], c->in[0],
            c->in[1], c->in[2], dt_gin(c, 3), c->out[0], c->out[1], c->out[2],
            c->out[3], c->args->v[5], dt_v_list(4, mask), c->args->v[6],
            c->args->v[7]);
  for (int i = 0; i < 4; i++) op_g_set(c, i, out[i]);
  return op_g_finish(c);
}

/* Backward.  Row: positions of q, output, lse, mask (-1), is_causal, scale. */
enum { FB_Q, FB_OUT, FB_LSE, FB_MASK, FB_CAUSAL, FB_SCALE, FB_NOUT };
static const int row_cpub[] = { 1, 4, 5, 8, 7, 9, 3 },
                 row_flashb[] = { 1, 4, 5, -1, 11, 14, 3 },
                 row_effb[] = { 1, 5, 6, 4, 11, 12, 4 };

static DtStatus fused_back_check (DtMetaCall *c) {
  const int *row = c->op->row;
  const char *op = c->op->sig->full;
  const DtMeta *q = dt_in(c, row[FB_Q]), *k = dt_in(c, row[FB_Q] + 1);
  const DtMeta *v = dt_in(c, row[FB_Q] + 2);
  DT_TRY(c->cx, op_attention_heads(c->cx, op, q, k, v));
  DT_TRY(c->cx, op_attention_saved(c->cx, op, "grad_out", c->in[0], q,
                                   v->shape[3], false));
  DT_TRY(c->cx, op_attention_saved(c->cx, op, "out", dt_in(c, row[FB_OUT]), q,
                                   v->shape[3], false));
  DT_TRY(c->cx, op_attention_saved(c->cx, op, "logsumexp",
                                   dt_in(c, row[FB_LSE]), q, -1,
                                   row == row_effb));
  return op_attention_bias(c->cx, row[FB_MASK] < 0 ? NULL
                           : dt_in(c, row[FB_MASK]), q, k);
}

static DtStatus fused_back_meta (DtMetaCall *c) {
  const int *row = c->op->row;
  for (int i = 0; i < 3; i++) {
    const DtMeta *m = dt_in(c, row[FB_Q] + i);
    DT_CHECK(c->cx, m && m->ndim == 4, DT_E_RUNTIME,
             "scaled_dot_product_attention_flash_attention_backward: Accept "
             "only 4 dims inputs shape of {B, H, T, K}");
    if (row == row_flashb) op_like_meta(&c->out[i], m, (DtDtype)m->dtype);
    else DT_TRY(c->cx, heads_inside(c, m, m->shape[3], &c->out[i]));
  }
  if (!c->fake) DT_TRY(c->cx, fused_back_check(c));
  c->nout = row[FB_NOUT];
  if (c->nout == 4) {
    const DtMeta *b = dt_in(c, 4);
    c->none[3] = !b;
    if (b && b->ndim > 0) {     /* rows padded to 16 elements */
      DtMeta wide;
      dt_meta_copy(&wide, b);
      wide.shape[b->ndim - 1] = (b->shape[b->ndim - 1] + 15) / 16 * 16;
      dt_meta_set_contiguous(&wide);
      op_like_meta(&c->out[3], b, (DtDtype)b->dtype);
      memcpy(c->out[3].stride, wide.stride, sizeof(int64_t) * b->ndim);
    }
  }
  return DT_OK;
}

static DtStatus fused_back_kernel (DtKernelCall *c) {
  const int *row = c->op->row;
  DtTensor *q = dt_kin(c, row[FB_Q]), *lse = dt_kin(c, row[FB_LSE]);
  DtTensor *mask = row[FB_MASK] < 0 ? NULL : dt_kin(c, row[FB_MASK]);
  DtTensor *part = NULL;
  if (c->nout == 4 && c->out[3])
    return dt_raise(c->cx, DT_E_NOTIMPL, "the gradient of an attention bias "
                    "is not computed by this kernel");
  if (lse->m.shape[2] != q->m.shape[2])
    DT_TRY(c->cx, op_restride(c->cx, lse, 3, q->m.shape, lse->m.stride, 0,
                              &part));
  DtAttention p = { q, dt_kin(c, row[FB_Q] + 1), dt_kin(c, row[FB_Q] + 2), mask,
                    dt_arg_bool(c->args, row[FB_CAUSAL]),
                    scale_of(c->args, row[FB_SCALE], &q->m) };
  DtStatus st = dt_k_attention_backward(c->cx, &p, c->in[0],
                                        dt_kin(c, row[FB_OUT]),
                                        part ? part : lse, c->out);
  dt_tensor_unref(c->cx, part);
  return st;
}

/* Gradients, q, k, v, bias, output, lse follow; seeds and lengths whole. */
static DtStatus fused_back_strategy (DtStratCall *c) {
  DtPlacement rows[3 * OP_ROW_MAX];
  int w = c->nout + c->nin;
  int body = c->nout + 6 + (c->op->row[FB_NOUT] == 4 && dt_sin(c, 4) != NULL);
  DT_CHECK(c->cx, w <= OP_ROW_MAX, DT_E_LIMIT, "too many tensors");
  for (int r = 0; r < 3; r++)
    for (int i = 0; i < w; i++)
      rows[r * w + i] = r == 0 || i >= body ? dt_pl_replicate()
                                            : dt_pl_shard(2 - r);
  return op_s_rows(c, 3, rows, false);
}

/* ---- samples and definitions ---- */

#define QKV "f32[2, 4, 8, 4], f32[2, 4, 8, 4], f32[2, 4, 8, 4]"
static const char *const sdpa_samples[] = {
  QKV, QKV ", is_causal=true", QKV ", bool[8, 8]",
  "f32[2, 7, 4], f32[2, 7, 4], f32[2, 7, 4]",
  "f32[2, 4, 3, 8], f32[2, 2, 5, 8], f32[2, 2, 5, 8], enable_gqa=true", NULL
};
static const char *const math_samples[] = { QKV, QKV ", None, 0.0, true",
                                            NULL };
static const char *const cpu_samples[] = {
  QKV, QKV ", 0.0, true", QKV ", attn_mask=f32[8, 8]",
  "f32[1, 3, 5, 2], f32[1, 3, 7, 2], f32[1, 3, 7, 2], scale=0.5", NULL
};
static const char *const flash_samples[] = { QKV, QKV ", 0.0, true", NULL };
static const char *const eff_samples[] = { QKV ", None, true",
                                           QKV ", f32[2, 4, 8, 8], true",
                                           NULL };
static const char *const cpub_samples[] = {
  "f32[2, 4, 8, 4], " QKV ", f32[2, 4, 8, 4], f32[2, 4, 8], 0.0, false", NULL
};
static const char *const flashb_samples[] = {
  "f32[2, 4, 8, 4], " QKV ", f32[2, 4, 8, 4], f32[2, 4, 8], None, None, 8, 8, "
  "0.0, false, i64[2], i64[]", NULL
};
static const char *const effb_samples[] = {
  "f32[2, 4, 8, 4], " QKV ", None, f32[2, 4, 8, 4], f32[2, 4, 32], i64[], "
  "i64[], 0.0, [true, true, true, false], false", NULL
};

#define OP(id, schema_, brief_, flags_, meta_, kernel_, grad_, samples_, \
           row_, ...) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = flags_, \
    .meta = meta_, .kernel = kernel_, .grad = grad_, .samples = samples_, \
    .row = row_, __VA_ARGS__ }
#define QARGS "Tensor query, Tensor key, Tensor value, "

OP(scaled_dot_product_attention, "scaled_dot_product_attention(" QARGS
   "Tensor? attn_mask=None, float dropout_p=0., bool is_causal=False, *, "
   "float? scale=None, bool enable_gqa=False) -> Tensor",
   "softmax(query key^T scale + mask) value.", DT_OP_COMPOSITE, NULL, NULL,
   NULL, sdpa_samples, NULL, .decomp = sdpa_decomp);
OP(_scaled_dot_product_attention_math, "_scaled_dot_product_attention_math("
   QARGS "Tensor? attn_mask=None, float dropout_p=0., bool is_causal=False, "
   "Tensor? dropout_mask=None, *, float? scale=None, bool enable_gqa=False) "
   "-> (Tensor, Tensor)", "Attention as a formula, with its weights.",
   DT_OP_COMPOSITE, NULL, NULL, NULL, math_samples, NULL,
   .decomp = math_decomp);
OP(_scaled_dot_product_flash_attention_for_cpu,
   "_scaled_dot_product_flash_attention_for_cpu(" QARGS
   "float dropout_p=0., bool is_causal=False, *, Tensor? attn_mask=None, "
   "float? scale=None) -> (Tensor output, Tensor logsumexp)",
   "Fused attention on the cpu.", DT_OP_SAVE_OUT | DT_OP_AGAIN,
   fused_meta, fused_kernel, cpu_grad, cpu_samples, row_cpu,
   .decomp = cpu_decomp);
OP(_scaled_dot_product_flash_attention_for_cpu_backward,
   "_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, "
   QARGS "Tensor out, Tensor logsumexp, float dropout_p, bool is_causal, *, "
   "Tensor? attn_mask=None, float? scale=None) -> (Tensor grad_query, Tensor "
   "grad_key, Tensor grad_value)", "Gradients of fused attention on the cpu.",
   DT_OP_NOSTRATEGY, fused_back_meta, fused_back_kernel, op_g_absent,
   cpub_samples, row_cpub, .strategy = NULL);
OP(_scaled_dot_product_flash_attention, "_scaled_dot_product_flash_attention("
   QARGS "float dropout_p=0., bool is_causal=False, bool "
   "return_debug_mask=False, *, float? scale=None) -> (Tensor output, Tensor "
   "logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt "
   "max_k, Tensor rng_state, Tensor unused, Tensor debug_attn_mask)",
   "Fused attention, flash form.", DT_OP_SAVE_OUT, fused_meta, fused_kernel,
   flash_grad, flash_samples, row_flash, .strategy = fused_strategy);
OP(_scaled_dot_product_flash_attention_backward,
   "_scaled_dot_product_flash_attention_backward(Tensor grad_out, " QARGS
   "Tensor out, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt "
   "max_q, SymInt max_k, float dropout_p, bool is_causal, Tensor philox_seed, "
   "Tensor philox_offset, *, float? scale=None) -> (Tensor grad_query, Tensor "
   "grad_key, Tensor grad_value)", "Gradients of flash attention.",
   DT_OP_NOGRAD | DT_OP_UNDEFINED, fused_back_meta, fused_back_kernel, NULL, flashb_samples,
   row_flashb, .strategy = fused_back_strategy);
OP(_scaled_dot_product_efficient_attention,
   "_scaled_dot_product_efficient_attention(" QARGS "Tensor? attn_bias, bool "
   "compute_log_sumexp, float dropout_p=0., bool is_causal=False, *, float? "
   "scale=None) -> (Tensor output, Tensor log_sumexp, Tensor philox_seed, "
   "Tensor philox_offset)", "Fused attention, memory efficient form.",
   DT_OP_SAVE_OUT, fused_meta, fused_kernel, eff_grad, eff_samples, row_eff,
   .strategy = fused_strategy);
OP(_scaled_dot_product_efficient_attention_backward,
   "_scaled_dot_product_efficient_attention_backward(Tensor grad_out_, " QARGS
   "Tensor attn_bias, Tensor out, Tensor logsumexp, Tensor philox_seed, "
   "Tensor philox_offset, float dropout_p, bool[4] grad_input_mask, bool "
   "is_causal=False, *, float? scale=None) -> (Tensor, Tensor, Tensor, "
   "Tensor)", "Gradients of efficient attention.",
   DT_OP_NOGRAD | DT_OP_UNDEFINED,
   fused_back_meta, fused_back_kernel, NULL, effb_samples, row_effb,
   .strategy = fused_back_strategy);
