/* SPDX-License-Identifier: MIT
** oplib/op_loss.c: losses: negative log likelihood, cross entropy, squared
** and absolute differences.
**
** The class dim of nll_loss must be whole; a mean over a sharded batch is
** P(avg), which needs even shards (PyTorch refuses others: the mean would be
** biased).  mse_loss has no rule of its own: sharding follows from its
** decomposition. */
#include "oplib/oplib_int.h"
#include "oplib/second.h"

#include <math.h>
#include <string.h>


enum { RED_NONE, RED_MEAN, RED_SUM };

/* ---- nll_loss ---- */

/* nll_loss: the result and the total weight.  PyTorch's meta function and its
** kernel word the same faults differently and in another order. */
static DtStatus nll_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0], *t = dt_in(c, 1), *w = dt_in(c, 2);
  int64_t n = m->ndim == 2 ? m->shape[0] : 1;
  bool flat = dt_arg_int(c->args, 3) == RED_NONE && m->ndim == 2;
  DT_CHECK(c->cx, !c->fake || m->ndim == 1 || m->ndim == 2, DT_E_RUNTIME,
           "input tensor should be 1D or 2D, got %dD", m->ndim);
  DT_CHECK(c->cx, m->ndim == 1 || m->ndim == 2, DT_E_RUNTIME,
           "input tensor should be 1D or 2D");
  DT_CHECK(c->cx, !c->fake || t->ndim <= 1, DT_E_RUNTIME, "0D or 1D target "
           "tensor expected, multi-target not supported, got %dD", t->ndim);
  DT_CHECK(c->cx, t->ndim <= 1, DT_E_RUNTIME,
           "0D or 1D target tensor expected, multi-target not supported");
  DT_CHECK(c->cx, !c->fake || t->ndim || m->ndim == 1, DT_E_INDEX,
           "tuple index out of range");
  DT_CHECK(c->cx, t->dtype == DT_I64 || t->dtype == DT_U8, DT_E_RUNTIME,
           "expected target dtype to be Long or Byte, but got %s",
           op_dtype_word((DtDtype)t->dtype));
  OpText a = op_shape_text(m), b = op_shape_text(t);
  const char *size = c->fake ? "torch.Size(" : "", *end = c->fake ? ")" : "";
  int64_t have = t->ndim ? t->shape[0] : 1;
  DT_CHECK(c->cx, c->fake || m->ndim == 2 || have == 1, DT_E_VALUE,
           "For 1D input, 1D target must have size 1, but got target size: "
           "%lld", (long long)have);
  DT_CHECK(c->cx, n == have, DT_E_RUNTIME,
           "size mismatch (got input: %s%s%s, target: %s%s%s)", size, a.s, end,
           size, b.s, end);
  int64_t classes = m->shape[m->ndim - 1];
  DT_CHECK(c->cx, !w || (w->ndim == 1 && w->shape[0] == classes), DT_E_RUNTIME,
           "weight tensor should be defined either for all %lld classes or no "
           "classes but got weight tensor of shape: %s%s%s",
           (long long)classes, size, w ? op_shape_text(w).s : "", end);
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, flat, &n,
                            m));
  c->nout = 2;
  return op_new_meta(c->cx, &c->out[1], (DtDtype)m->dtype, 0, NULL, m);
}

static double at (const DtTensor *t, int nd, int64_t i, int64_t j) {
  int64_t idx[2] = { i, j };
  DtScalar s = dt_tensor_get(t, nd == 2 ? idx : idx + 1);
  return s.kind <= DT_K_INT ? (double)s.i : s.re;
}

static DtStatus read_target (DtCtx *cx, const DtTensor *t, int64_t i,
                             int64_t ignore, int64_t classes, int64_t *out) {
  *out = (int64_t)dt_tensor_get(t, &i).i;
  if (*out == ignore) {
    *out = -1;
    return DT_OK;
  }
  DT_CHECK(cx, *out >= 0 && *out < classes, DT_E_INDEX,
           "Target %lld is out of bounds.", (long long)*out);
  return DT_OK;
}

static void put (DtTensor *t, void *data, int64_t i, double v) {
  DtDtype d = (DtDtype)t->m.dtype;
  int64_t step = t->m.ndim ? t->m.stride[0] : 0;
  dt_dtype_store(d, (char *)data + i * step * (int64_t)dt_dtype_size(d),
                 dt_scalar_float(v));
}

static DtStatus nll_allows (DtKernelCall *c, const DtTensor *x,
                            const char *name) {
  DT_CHECK(c->cx, dt_dtype_is_float((DtDtype)x->m.dtype) &&
           dt_dtype_size((DtDtype)x->m.dtype) > 1, DT_E_NOTIMPL,
           "\"%s\" not implemented for '%s'", name,
           op_dtype_word((DtDtype)x->m.dtype));
  return DT_OK;
}

/* Each loss is rounded to float32 before it is summed in double.  An ignored target
** has neither loss nor weight, so that a mean over none is nan, as in PyTorch. */
static DtStatus nll_kernel (DtKernelCall *c) {
  DtTensor *x = c->in[0], *t = dt_kin(c, 1), *w = dt_kin(c, 2);
  int nd = x->m.ndim, red = (int)dt_arg_int(c->args, 3);
  int64_t n = nd == 2 ? x->m.shape[0] : 1, classes = x->m.shape[nd - 1];
  bool single = x->m.dtype != DT_F64;
  double sum = 0, total = 0;
  void *out, *tot;
  DT_TRY(c->cx, nll_allows(c, x, "nll_loss_out_frame"));
  DT_TRY(c->cx, dt_tensor_data(c->cx, c->out[0], &out));
  DT_TRY(c->cx, dt_tensor_data(c->cx, c->out[1], &tot));
  for (int64_t i = 0; i < n; i++) {
    int64_t k;
    double v = 0;
    DT_TRY(c->cx, read_target(c->cx, t, i, dt_arg_int(c->args, 4), classes,
                              &k));
    if (k >= 0) {
      double wk = w ? at(w, 1, 0, k) : 1;
      v = -at(x, nd, i, k) * wk;
      total += wk;
      if (single) v = (double)(float)v;
    }
    if (red == RED_NONE && nd == 2) put(c->out[0], out, i, v);
    sum += v;
  }
  if (red == RED_MEAN) sum /= total;
  if (red != RED_NONE || nd == 1) put(c->out[0], out, 0, sum);
  put(c->out[1], tot, 0, red == RED_NONE && nd == 2 ? 0 : total);
  return DT_OK;
}

/* nll_loss_backward(grad, self, target, weight, reduction, ignore, total) */
static DtStatus nll_back_check (DtMetaCall *c) {
  const DtMeta *g = c->in[0], *m = dt_in(c, 1), *t = dt_in(c, 2);
  const DtMeta *w = dt_in(c, 3), *total = dt_in(c, 6);
  const char *size = c->fake ? "torch.Size(" : "", *end = c->fake ? ")" : "";
  OpText a = op_shape_text(m), b = op_shape_text(t);
  OpText gt = op_shape_text(g), tt = op_shape_text(total);
  int64_t n = m->shape[0];
  DT_CHECK(c->cx, c->fake || m->ndim == 1 || m->ndim == 2, DT_E_RUNTIME,
           "input tensor should be 1D or 2D");
  DT_CHECK(c->cx, m->ndim <= 2, DT_E_RUNTIME,
           "input tensor should be 1D or 2D, got %dD", m->ndim);
  DT_CHECK(c->cx, !c->fake || t->ndim <= 1, DT_E_RUNTIME, "0D or 1D target "
           "tensor expected, multi-target not supported, got %dD", t->ndim);
  DT_CHECK(c->cx, t->ndim <= 1, DT_E_RUNTIME,
           "0D or 1D target tensor expected, multi-target not supported");
  DT_CHECK(c->cx, m->ndim > 0, DT_E_INDEX, "tuple index out of range");
  if (m->ndim == 1) n = 1;
  DT_CHECK(c->cx, t->ndim || m->ndim == 1, DT_E_INDEX, "%s", c->fake
           ? "tuple index out of range"
           : "Dimension specified as 0 but tensor has no dimensions");
  DT_CHECK(c->cx, t->ndim == 0 || t->shape[0] == n, DT_E_RUNTIME,
           "size mismatch (got input: %s%s%s, target: %s%s%s)", size, a.s,
           end, size, b.s, end);
  DT_CHECK(c->cx, dt_meta_numel(total) == 1, DT_E_RUNTIME,
           "expected total_weight to be a %ssingle element tensor, got: "
           "%s%s%s (%lld elements)", c->fake ? "" : " ", size, tt.s, end,
           (long long)dt_meta_numel(total));
  DT_CHECK(c->cx, !w || (w->ndim == 1 && w->shape[0] ==
                                         m->shape[m->ndim - 1]),
           DT_E_RUNTIME,
           "weight tensor should be defined either for all or no classes");
  if (dt_arg_int(c->args, 4) != RED_NONE || m->ndim == 1) {
    DT_CHECK(c->cx, g->ndim <= 1 && dt_meta_numel(g) == 1, DT_E_RUNTIME,
             "Expected a single element grad_output tensor, but got: %s%s%s",
             size, gt.s, end);
    return DT_OK;
  }
  DT_CHECK(c->cx, g->ndim > 0, DT_E_INDEX, "%s", c->fake
           ? "tuple index out of range"
           : "Dimension specified as 0 but tensor has no dimensions");
  DT_CHECK(c->cx, g->ndim == 1 && g->shape[0] == n, DT_E_RUNTIME,
           "Expected a tensor of dimension 1 and tensor.size[0] == %lld but "
           "got: dimension %d and tensor.size[0] =%s %lld", (long long)n,
           g->ndim, c->fake ? "=" : "", (long long)g->shape[0]);
  return DT_OK;
}

static DtStatus nll_back_meta (DtMetaCall *c) {
  DT_TRY(c->cx, nll_back_check(c));
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)dt_in(c, 1)->dtype,
                     dt_in(c, 1)->ndim, dt_in(c, 1)->shape, dt_in(c, 1));
}
/* What the kernel reads beside the input has its type. */
static DtStatus nll_back_types (DtKernelCall *c) {
  const DtTensor *x = dt_kin(c, 1);
  bool each = dt_arg_int(c->args, 4) == RED_NONE && x->m.ndim == 2;
  const DtTensor *read[] = { dt_kin(c, 3), each ? NULL : dt_kin(c, 6),
                             c->in[0] };
  for (int i = 0; i < 3; i++)
    DT_CHECK(c->cx, read[i] == NULL || read[i]->m.dtype == x->m.dtype,
             DT_E_RUNTIME, "expected scalar type %s but found %s",
             op_dtype_word((DtDtype)x->m.dtype),
             op_dtype_word((DtDtype)read[i]->m.dtype));
  return DT_OK;
}

static DtStatus nll_back_kernel (DtKernelCall *c) {
  DtTensor *g = c->in[0], *x = dt_kin(c, 1), *t = dt_kin(c, 2);
  DtTensor *w = dt_kin(c, 3), *tot = dt_kin(c, 6), *o = c->out[0];
  int nd = x->m.ndim, red = (int)dt_arg_int(c->args, 4);
  int64_t n = nd == 2 ? x->m.shape[0] : 1, classes = x->m.shape[nd - 1];
  DtDtype d = (DtDtype)o->m.dtype;
  void *out;
  DT_TRY(c->cx, nll_allows(c, x, "nll_loss_backward_out_frame"));
  DT_TRY(c->cx, nll_back_types(c));
  DT_TRY(c->cx, dt_k_fill(c->cx, o, dt_scalar_int(0)));
  DT_TRY(c->cx, dt_tensor_data(c->cx, o, &out));
  for (int64_t i = 0; i < n; i++) {
    int64_t k, one[DT_MAX_NDIM] = {0};  /* of a single element */
    DT_TRY(c->cx, read_target(c->cx, t, i, dt_arg_int(c->args, 5), classes,
                              &k));
    if (k < 0) continue;
    bool each = red == RED_NONE && nd == 2;
    double v = dt_tensor_get(g, each ? &i : one).re;
    v = -v * (w ? at(w, 1, 0, k) : 1);
    if (red == RED_MEAN) v /= dt_tensor_get(tot, one).re;
    int64_t off = (nd == 2 ? i * o->m.stride[0] : 0) +
                  k * o->m.stride[nd - 1];
    dt_dtype_store(d, (char *)out + off * (int64_t)dt_dtype_size(d),
                   dt_scalar_float(v));
  }
  return DT_OK;
}

/* Placements of the target: the class dim is gone. */
static void without_class (const DtPlacement *in, int nd, int dim,
                           DtPlacement *out) {
  for (int i = 0; i < nd; i++) {
    out[i] = in[i];
    if (dt_pl_is_shard_like(in[i]) && in[i].dim >= dim) out[i].dim--;
  }
}
static void summed (const DtPlacement *t, int nd, DtRedOp op,
                    DtPlacement *out) {
  for (int i = 0; i < nd; i++)
    out[i] = dt_pl_is_shard_like(t[i]) ? dt_pl_partial(op) : t[i];
}
static void replicated (int nd, DtPlacement *out) {
  for (int i = 0; i < nd; i++) out[i] = dt_pl_replicate();
}

DtStatus op_nll_strategy (DtStratCall *c) {
  DtPlacement out[2 * OP_MAXPL], in[3 * OP_MAXPL];
  int nd = c->mesh->ndim, red = (int)dt_arg_int(c->args, 3);
  int dim = c->in[0]->meta.ndim >= 2;
  op_s_follow(c, 0, 1u << dim, true, in);
  without_class(in, nd, dim, in + nd);
  replicated(nd, in + 2 * nd);
  if (red == RED_NONE) {
    memcpy(out, in + nd, sizeof *in * (size_t)nd);
    replicated(nd, out + nd);
  } else {
    DT_CHECK(c->cx, red != RED_MEAN ||
             dt_layout_evenly_shardable(c->mesh, &c->in[1]->meta, in + nd, nd),
             DT_E_VALUE, "The intermediate results of nll_loss cannot be "
             "evenly sharded,                         resulting in biased mean "
             "result.");
    summed(in + nd, nd, red == RED_MEAN ? DT_OP_AVG : DT_OP_SUM, out);
    summed(in + nd, nd, DT_OP_SUM, out + nd);
  }
  return dt_strat_add(c, out, in, NAN);
}

DtStatus op_nll_back_strategy (DtStratCall *c) {
  DtPlacement in[5 * OP_MAXPL];
  int nd = c->mesh->ndim, red = (int)dt_arg_int(c->args, 4), n = 3;
  int dim = c->in[1]->meta.ndim >= 2;
  DtPlacement *grad = in, *self = in + nd, *target = in + 2 * nd;
  op_s_follow(c, 1, 1u << dim, true, self);
  without_class(self, nd, dim, target);
  if (red == RED_NONE) memcpy(grad, target, sizeof *in * (size_t)nd);
  else replicated(nd, grad);
  if (dt_sin(c, 3)) replicated(nd, in + nd * n++);
  if (red == RED_MEAN) replicated(nd, in + nd * n);
  else memcpy(in + nd * n, dt_sin(c, 6)->pl, sizeof *in * (size_t)nd);
  return dt_strat_add(c, self, in, NAN);
}

static DtStatus nll_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten.nll_loss_backward.default", "ttttvvt", GOUT,
                      dt_gin(c, 0), dt_gin(c, 1), dt_gin(c, 2), c->args->v[3],
                      c->args->v[4], c->out[1]));
  return op_g_finish(c);
}

static DtStatus nll_loss_decomp (DtDecompCall *c) {
  DtHandle *out[2] = { NULL, NULL };
  DtMeta m, t;
  dt_meta_copy(&m, dt_emit_meta(c->e, c->in[0]));
  dt_meta_copy(&t, dt_emit_meta(c->e, c->in[1]));
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(c->e->cx, m.ndim >= 1, DT_E_VALUE,
           "Expected 1 or more dimensions (got 0)");
  int64_t batch = t.ndim ? t.shape[0] : 0;
  DT_CHECK(c->e->cx, m.ndim == 1 || m.shape[0] == batch, DT_E_VALUE,
           "Expected input batch_size (%lld) to match target batch_size "
           "(%lld).", (long long)m.shape[0], (long long)batch);
  dt_emit_n(c->e, "aten.nll_loss_forward.default", out, 2, "tttvv", c->in[0],
            c->in[1], dt_hin(c, 2), c->args->v[3], c->args->v[4]);
  c->out[0] = out[0];
  c->nout = 1;
  return c->e->st;
}

/* ---- cross entropy ---- */

static DtHandle *reduced (DtEmit *e, DtHandle *h, int red) {
  return red == RED_MEAN ? dt_emit(e, "aten.mean.default", "t", h)
       : red == RED_SUM ? dt_emit(e, "aten.sum.default", "t", h) : h;
}

/* flatten() */
static DtHandle *in_a_row (DtDecompCall *c, DtHandle *h) {
  DtMeta m;
  int64_t n;
  dt_meta_copy(&m, dt_emit_meta(c->e, h));
  n = dt_meta_numel(&m);
  return m.ndim == 1 ? h : EMIT("aten.view.default", "tI", h, 1, &n);
}

/* A weight for each class, as a factor of `x`. */
static DtHandle *weighted (DtDecompCall *c, DtHandle *x, DtHandle *w,
                           int dim) {
  int64_t wide[DT_MAX_NDIM];
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, x));
  for (int i = 0; i < m.ndim; i++) wide[i] = i == dim ? m.shape[dim] : 1;
  w = EMIT("aten.view.default", "tI", w, m.ndim, wide);
  return EMIT("aten.mul.Tensor", "tt", x, w);
}

/* nll_loss of log probabilities with dims after the classes. */
static DtHandle *ce_nll_nd (DtDecompCall *c, DtHandle *lp, const DtMeta *m,
                            const DtMeta *t) {
  bool flat = m->ndim != 4, none = dt_meta_numel(m) == 0;
  int64_t to[4] = { m->shape[0], m->shape[1], none ? 0 : 1, none ? 0 : -1 };
  int64_t at[3] = { m->shape[0], none ? 0 : 1, none ? 0 : -1 };
  int64_t size[DT_MAX_NDIM];
  DtHandle *y = c->in[1], *out[2] = { NULL, NULL };
  bool fits = t->ndim == m->ndim - 1;
  size[0] = m->shape[0];
  for (int i = 2; i < m->ndim; i++) {
    size[i - 1] = m->shape[i];
    fits = fits && t->shape[i - 1] == m->shape[i];
  }
  if (flat && !fits) {
    OpText want = op_ints_text(m->ndim - 1, size), got = op_shape_text(t);
    (void)dt_raise(c->e->cx, DT_E_RUNTIME, "Expected target size %s, got %s",
                   want.s, got.s);
    c->e->st = DT_E_RUNTIME;
    return NULL;
  }
  if (flat) {
    lp = EMIT("aten.reshape.default", "tI", lp, 4, to);
    y = EMIT("aten.reshape.default", "tI", y, 3, at);
  }
  dt_emit_n(c->e, "aten.nll_loss2d_forward.default", out, 2, "tttvv", lp, y,
            dt_hin(c, 2), c->args->v[3], c->args->v[4]);
  if (flat && dt_arg_int(c->args, 3) == RED_NONE)
    out[0] = EMIT("aten.view.default", "tI", out[0], m->ndim - 1, size);
  return out[0];
}

/* Targets as probabilities: -(log p * target) summed over classes. */
static DtHandle *ce_probs (DtDecompCall *c, DtHandle *lp, int dim, int red,
                           double smooth) {
  DtMeta m;
  DtHandle *t = c->in[1], *r;
  int64_t d = dim;
  dt_meta_copy(&m, dt_emit_meta(c->e, c->in[0]));
  if (smooth > 0) {
    t = EMIT("aten.mul.Scalar", "tf", t, 1 - smooth);
    t = EMIT("aten.add.Scalar", "tf", t, smooth / (double)m.shape[dim]);
  }
  r = EMIT("aten.mul.Tensor", "tt", lp, t);
  if (dt_hin(c, 2)) r = weighted(c, r, dt_hin(c, 2), dim);
  if (red == RED_NONE)
    return EMIT("aten.neg.default", "t",
                EMIT("aten.sum.dim_IntList", "tI", r, 1, &d));
  r = EMIT("aten.neg.default", "t", EMIT("aten.sum.default", "t", r));
  if (red == RED_SUM) return r;
  int64_t n = m.shape[dim] ? dt_meta_numel(&m) / m.shape[dim] : 0;
  return EMIT("aten.div.Scalar", "ti", r, n);
}

/* The smooth part: the mean log probability over all classes. */
static DtHandle *ce_smooth (DtDecompCall *c, DtHandle *lp, DtHandle *nll,
                            int dim, int red, double smooth) {
  DtHandle *w = dt_hin(c, 2), *s, *skip, *r;
  int64_t d = dim, classes;
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, lp));
  if (!dt_emit_ok(c->e)) return NULL;
  classes = m.shape[dim];
  s = w ? weighted(c, lp, w, dim) : lp;
  s = EMIT("aten.neg.default", "t", EMIT("aten.sum.dim_IntList", "tI", s, 1,
                                         &d));
  skip = EMIT("aten.eq.Scalar", "tv", c->in[1], c->args->v[4]);
  s = EMIT("aten.masked_fill_.Scalar", "ttf", s, skip, 0.0);
  r = s;
  if (red == RED_MEAN) {
    DtHandle *k;
    if (w) {
      k = EMIT("aten.masked_fill.Scalar", "tti", c->in[1], skip, (int64_t)0);
      k = EMIT("aten.gather.default", "tit", w, (int64_t)0, in_a_row(c, k));
      k = EMIT("aten.masked_fill_.Scalar", "tti", k, in_a_row(c, skip),
               (int64_t)0);
    } else {
      k = EMIT("aten.bitwise_not.default", "t", skip);
    }
    k = EMIT("aten.sum.default", "t", k);
    r = EMIT("aten.div.Tensor", "tt", EMIT("aten.sum.default", "t", s), k);
  } else if (red == RED_SUM) {
    r = EMIT("aten.sum.default", "t", s);
  }
  r = EMIT("aten.mul.Scalar", "tf", r, smooth / (double)classes);
  nll = EMIT("aten.mul.Scalar", "tf", nll, 1 - smooth);
  return EMIT("aten.add.Tensor", "tt", nll, r);
}

static DtStatus ce_decomp (DtDecompCall *c) {
  DtHandle *out[2] = { NULL, NULL }, *lp;
  DtMeta m, t;
  int red = (int)dt_arg_int(c->args, 3);
  double smooth = dt_arg_float(c->args, 5);
  dt_meta_copy(&m, dt_emit_meta(c->e, c->in[0]));
  dt_meta_copy(&t, dt_emit_meta(c->e, c->in[1]));
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(c->e->cx, smooth <= 1, DT_E_RUNTIME, "label_smoothing must be between "
           "0.0 and 1.0. Got: %g", smooth);
  int dim = m.ndim != 1;
  lp = EMIT("aten._log_softmax.default", "tib", c->in[0], (int64_t)dim, 0);
  if (!dt_emit_ok(c->e)) return c->e->st;
  c->nout = 1;
  if (dt_meta_same_shape(&m, &t)) {
    c->out[0] = ce_probs(c, lp, dim, red, smooth);
    return c->e->st;
  }
  int64_t batch = t.ndim ? t.shape[0] : 0;
  DT_CHECK(c->e->cx, m.ndim == 1 || m.shape[0] == batch, DT_E_VALUE,
           "Expected input batch_size (%lld) to match target batch_size "
           "(%lld).", (long long)m.shape[0], (long long)batch);
  if (m.ndim > 2)
    out[0] = ce_nll_nd(c, lp, &m, &t);
  else
    dt_emit_n(c->e, "aten.nll_loss_forward.default", out, 2, "tttvv", lp,
              c->in[1], dt_hin(c, 2), c->args->v[3], c->args->v[4]);
  c->out[0] = smooth > 0 && dt_emit_ok(c->e)
            ? ce_smooth(c, lp, out[0], dim, red, smooth) : out[0];
  return c->e->st;
}

/* ---- mse_loss, l1_loss ---- */

static DtStatus mse_meta (DtMetaCall *c) {
  OpOperand o[2] = { { .m = c->in[0] }, { .m = dt_in(c, 1) } };
  DtMeta m;
  DT_TRY(c->cx, op_promotable(c->cx, 2, o));
  if (c->fake) DT_TRY(c->cx, op_py_broadcast(c->cx, 2, o));
  DT_TRY(c->cx, op_broadcast(c->cx, 2, o, op_promote(c->cx, 2, o), &m));
  c->nout = 1;
  if (dt_arg_int(c->args, 2) == RED_NONE) {
    dt_meta_copy(&c->out[0], &m);
    return DT_OK;
  }
  return op_new_meta(c->cx, &c->out[0], (DtDtype)m.dtype, 0, NULL, &m);
}
static DtStatus mse_kernel (DtKernelCall *c) {
  int red = (int)dt_arg_int(c->args, 2);
  DtDtype t = (DtDtype)c->out[0]->m.dtype;
  DtTensor *a = c->in[0], *b = dt_kin(c, 1);
  DT_TRY(c->cx, op_kernel_allows(c->cx, c->op, NULL, t, false));
  if (red == RED_NONE)
    return dt_k_binary(c->cx, DT_B_mse_loss, t, NULL, a, b, c->out[0]);
  return op_reduced_binary(c, DT_B_mse_loss, t, t, NULL, a, b,
                           red == RED_MEAN ? DT_RED_MEAN : DT_RED_SUM);
}
static DtStatus mse_decomp (DtDecompCall *c) {
  DtHandle *h = EMIT("aten.sub.Tensor", "tt", c->in[0], c->in[1]);
  h = EMIT("aten.pow.Tensor_Scalar", "ti", h, (int64_t)2);
  c->out[0] = reduced(c->e, h, (int)dt_arg_int(c->args, 2));
  c->nout = 1;
  return c->e->st;
}
static DtStatus mse_grad (DtGradCall *c) {
  for (int i = 0; i < 2; i++)
    if (op_g_need(c, i))
      op_g_set(c, i, EMIT("aten.mse_loss_backward.default", "tttv", GOUT,
                          dt_gin(c, i), dt_gin(c, 1 - i), c->args->v[2]));
  return op_g_finish(c);
}

static DtStatus mse_back_meta (DtMetaCall *c) {
  OpOperand o[3] = { { .m = c->in[0] }, { .m = dt_in(c, 1) },
                     { .m = dt_in(c, 2) } };
  DtMeta apart;                         /* the input less the target */
  c->nout = 1;
  if (c->fake) {
    DT_TRY(c->cx, op_py_pair(c->cx, o[1].m, o[2].m, &apart));
    DT_TRY(c->cx, op_py_pair(c->cx, &apart, o[0].m, NULL));
  }
  DT_TRY(c->cx, op_broadcast(c->cx, 3, o, op_promote(c->cx, 3, o), &c->out[0]));
  if (c->fake) return DT_OK;
  c->out[0].dtype = o[1].m->dtype;      /* made like the input */
  dt_meta_set_contiguous(&c->out[0]);
  return DT_OK;
}
static DtStatus mse_back_kernel (DtKernelCall *c) {
  DtScalar p[4];
  memset(p, 0, sizeof p);
  DT_TRY(c->cx, op_kernel_allows(c->cx, c->op, NULL,
                                 (DtDtype)c->out[0]->m.dtype, false));
  int64_t n = dt_meta_numel(&dt_kin(c, 1)->m);
  p[0] = dt_scalar_float(dt_arg_int(c->args, 3) == RED_MEAN && n
                         ? 1.0 / (double)n : 1.0);
  return dt_k_ternary(c->cx, DT_T3_mse_loss_backward,
                      (DtDtype)c->out[0]->m.dtype, p, c->in[0], dt_kin(c, 1),
                      dt_kin(c, 2), c->out[0]);
}
static DtStatus mse_back_decomp (DtDecompCall *c) {
  int64_t n = dt_meta_numel(dt_emit_meta(c->e, c->in[1]));
  double k = dt_arg_int(c->args, 3) == RED_MEAN && n ? 2.0 / (double)n : 2.0;
  DtHandle *h = EMIT("aten.sub.Tensor", "tt", c->in[1], c->in[2]);
  h = EMIT("aten.mul.Tensor", "tf", h, k);
  c->out[0] = EMIT("aten.mul.Tensor", "tt", h, c->in[0]);
  c->nout = 1;
  return c->e->st;
}
static DtStatus l1_decomp (DtDecompCall *c) {
  DtHandle *h = EMIT("aten.sub.Tensor", "tt", c->in[0], c->in[1]);
  h = EMIT("aten.abs.default", "t", h);
  c->out[0] = reduced(c->e, h, (int)dt_arg_int(c->args, 2));
  c->nout = 1;
  return c->e->st;
}

/* ---- samples and definitions ---- */

static const char *const nll_samples[] = {
  "f32[8, 6], i64[8], None, 1, -100", "f32[7, 5], i64[7], f32[5], 0, -100",
  "f32[6], i64[], None, 2, -100", NULL
};
static const char *const nll_back_samples[] = {
  "f32[], f32[8, 6], i64[8], None, 1, -100, f32[]",
  "f32[7], f32[7, 5], i64[7], f32[5], 0, -100, f32[]", NULL
};
static const char *const ce_samples[] = {
  "f32[8, 6], i64[8]", "f32[7, 5], i64[7], f32[5], 2",
  "f32[8, 6], i64[8], None, 1, -100, 0.1", "f32[4, 3], f32[4, 3]", NULL
};
static const char *const nll_loss_samples[] = {
  "f32[8, 6], i64[8]", "f32[7, 5], i64[7], f32[5], 2", NULL
};
static const char *const pair_samples[] = {
  "f32[8, 6], f32[8, 6]", "f32[7, 5], f32[7, 5], 2", "f32[4], f32[4], 0",
  "f32[], f32[]", NULL
};
static const char *const mse_back_samples[] = {
  "f32[], f32[8, 6], f32[8, 6], 1", "f32[7], f32[7], f32[7], 0", NULL
};

#define OP(id, schema_, brief_, flags_, meta_, kernel_, grad_, samples_, ...) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = flags_, \
    .meta = meta_, .kernel = kernel_, .grad = grad_, .samples = samples_, \
    __VA_ARGS__ }

OP(nll_loss_forward, "nll_loss_forward(Tensor self, Tensor target, Tensor? "
   "weight, int reduction, SymInt ignore_index) -> (Tensor output, Tensor "
   "total_weight)", "Minus the log probability of each target class.",
   DT_OP_SAVE_OUT | DT_OP_AGAIN, nll_meta, nll_kernel, nll_grad, nll_samples,
   .strategy = op_nll_strategy);
OP(nll_loss_backward, "nll_loss_backward(Tensor grad_output, Tensor self, "
   "Tensor target, Tensor? weight, int reduction, SymInt ignore_index, Tensor "
   "total_weight) -> Tensor", "Gradient of nll_loss.", 0,
   nll_back_meta, nll_back_kernel,
   op_gg_nll_loss_backward, nll_back_samples,
   .strategy = op_nll_back_strategy);
OP(nll_loss, "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int "
   "reduction=1, SymInt ignore_index=-100) -> Tensor",
   "Negative log likelihood.", DT_OP_COMPOSITE, NULL, NULL, NULL,
   nll_loss_samples, .decomp = nll_loss_decomp);
OP(cross_entropy_loss, "cross_entropy_loss(Tensor self, Tensor target, Tensor? "
   "weight=None, int reduction=1, SymInt ignore_index=-100, float "
   "label_smoothing=0.) -> Tensor", "log_softmax and nll_loss.",
   DT_OP_COMPOSITE, NULL, NULL, NULL, ce_samples, .decomp = ce_decomp);
OP(mse_loss, "mse_loss(Tensor self, Tensor target, int reduction=1) -> "
   "Tensor", "Mean (or sum) of squared differences.", 0,
   mse_meta, mse_kernel, mse_grad, pair_samples, .decomp = mse_decomp);
OP(mse_loss_backward, "mse_loss_backward(Tensor grad_output, Tensor self, "
   "Tensor target, int reduction) -> Tensor", "Gradient of mse_loss.",
   0, mse_back_meta, mse_back_kernel,
   op_gg_mse_loss_backward,
   mse_back_samples, .decomp = mse_back_decomp);
OP(l1_loss, "l1_loss(Tensor self, Tensor target, int reduction=1) -> "
   "Tensor", "Mean (or sum) of absolute differences.", DT_OP_COMPOSITE, NULL,
   NULL, NULL, pair_samples, .decomp = l1_decomp);
