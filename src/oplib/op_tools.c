/* SPDX-License-Identifier: MIT
** oplib/op_tools.c: small tools of kernels, gradients, strategies, rewrites.
**
** Holds no operator.  Gradients' tools follow the sequence of aten calls that
** PyTorch's autograd makes, since backward is dispatched and traced too. */
#include "base/error_shard.h"
#include "oplib/oplib_int.h"

#include <math.h>
#include <string.h>
#include "tensor/narrow.h"

/* ---- kernels ---- */

DtStatus op_temp (DtCtx *cx, DtDtype t, int ndim, const int64_t *shape,
                  DtTensor **out) {
  DtMeta m;
  DT_TRY(cx, dt_meta_init(cx, &m, t, ndim, shape));
  DT_TRY(cx, dt_tensor_new(cx, &m, false, out));
  return DT_OK;
}

double op_held (DtDtype t, double x) {
  float f = (float)x;
  if (t == DT_F64) return x;
  if (t == DT_BF16) return (double)dt_bf16_to_f32(dt_f32_to_bf16(f));
  return (double)(t == DT_F16 ? dt_f16_to_f32(dt_f32_to_f16(f)) : f);
}

DtStatus op_restride (DtCtx *cx, DtTensor *t, int ndim, const int64_t *shape,
                      const int64_t *stride, int64_t offset, DtTensor **out) {
  DtMeta m;
  DT_TRY(cx, dt_meta_init(cx, &m, (DtDtype)t->m.dtype, ndim, shape));
  m.device = t->m.device;
  if (stride) memcpy(m.stride, stride, sizeof(int64_t) * (size_t)ndim);
  DT_TRY(cx, dt_tensor_view(cx, t, &m, t->offset + offset, out));
  return DT_OK;
}

DtStatus op_k_copy0 (DtKernelCall *c) {
  return dt_k_copy(c->cx, c->in[0], c->out[0]);
}

DtStatus op_k_nothing (DtKernelCall *c) {
  (void)c;
  return DT_OK;
}

/* ---- gradients ---- */

/* keepdim first, then a view: the same two calls as PyTorch's sum_to_size, as
** a distributed gradient meets a rule for each. */
DtHandle *op_g_sum_to (DtEmit *e, DtHandle *g, const DtMeta *like) {
  if (!g || !dt_emit_ok(e)) return g;
  const DtMeta *m = dt_emit_meta(e, g);
  int64_t dims[DT_MAX_NDIM];
  int n = 0, lead = m->ndim - like->ndim;
  if (!dt_meta_same_shape(m, like) && lead >= 0) {
    if (like->ndim == 0) {
      g = dt_emit(e, "aten.sum.default", "t", g);
    } else {
      for (int d = 0; d < m->ndim; d++)
        if (d < lead || (like->shape[d - lead] == 1 && m->shape[d] != 1))
          dims[n++] = d;
      if (n) g = dt_emit(e, "aten.sum.dim_IntList", "tIb", g, n, dims, 1);
      if (lead > 0)
        g = dt_emit(e, "aten.view.default", "tI", g, (int)like->ndim,
                    like->shape);
    }
  }
  return dt_emit_ok(e) ? g : NULL;
}

bool op_g_need (const DtGradCall *c, int i) {
  int s = dt_arg_slot(c->args, i);
  return s >= 0 && c->need[s];
}

/* The real part, for a real operand of a complex result. */
static DtHandle *for_operand (DtGradCall *c, DtHandle *x, DtHandle *g) {
  DtMeta m;
  if (g == NULL || x == NULL || !dt_emit_ok(c->e)) return g;
  dt_meta_copy(&m, dt_emit_meta(c->e, g));
  if (!dt_dtype_is_complex((DtDtype)m.dtype) ||
      dt_dtype_is_complex((DtDtype)dt_emit_meta(c->e, x)->dtype))
    return g;
  g = dt_emit(c->e, "aten.view_as_real.default", "t", g);
  return dt_emit(c->e, "aten.select.int", "tii", g, (int64_t)m.ndim,
                 (int64_t)0);
}
DtHandle *op_g_conj (DtEmit *e, DtHandle *h) {
  if (h == NULL || !dt_emit_ok(e) ||
      !dt_dtype_is_complex((DtDtype)dt_emit_meta(e, h)->dtype))
    return h;
  return dt_emit(e, "aten._conj.default", "t", h);
}

void op_g_set (DtGradCall *c, int i, DtHandle *g) {
  g = for_operand(c, dt_gin(c, i), g);
  int s = dt_arg_slot(c->args, i);
  if (s >= 0 && c->need[s]) c->gin[s] = g;
}

DtStatus op_g_finish (DtGradCall *c) {
  for (int i = 0; i < c->nin; i++)
    if (c->gin[i] && c->in[i])
      c->gin[i] = op_g_sum_to(c->e, c->gin[i], dt_emit_meta(c->e, c->in[i]));
  return c->e->st;
}

DtHandle *op_g_with (DtGradCall *c, const char *op, DtHandle *h, int i) {
  if (dt_arg_slot(c->args, i) >= 0)
    return dt_emit(c->e, op, "tt", h, dt_gin(c, i));
  return dt_emit(c->e, op, "tv", h, c->args->v[i]);
}

DtHandle *op_g_arg_with (DtGradCall *c, const char *op, int i, DtHandle *h) {
  if (dt_arg_slot(c->args, i) >= 0)
    return dt_emit(c->e, op, "tt", dt_gin(c, i), h);
  return dt_emit(c->e, op, "vt", c->args->v[i], h);
}

DtHandle *op_g_scale (DtGradCall *c, DtHandle *g, int i) {
  if (i < 0 || i >= c->args->n || dt_arg_is_none(c->args, i)) return g;
  DtValue by = c->args->v[i];
  if (by.kind == DT_V_COMPLEX) by = dt_v_complex(by.u.c[0], -by.u.c[1]);
  else if (dt_arg_float(c->args, i) == 1.0) return g;
  return dt_emit(c->e, "aten.mul.Scalar", "tv", g, by);
}

bool op_is_scalar_form (const DtOpDef *op) {
  return op->sig && strncmp(op->sig->overload, "Scalar", 6) == 0;
}

DtStatus op_g_zeros (DtGradCall *c) {
  c->gin[0] = dt_emit(c->e, "aten.zeros_like.default", "t", c->gout[0]);
  return op_g_finish(c);
}

DtHandle *op_g_halved_at_ties (DtGradCall *c, DtHandle *a, DtHandle *b) {
  DtHandle *g = c->gout[0];
  DtHandle *half = dt_emit(c->e, "aten.div.Scalar", "ti", g, (int64_t)2);
  DtHandle *tie = dt_emit(c->e, "aten.eq.Tensor", "tt", a, b);
  return dt_emit(c->e, "aten.where.self", "ttt", tie, half, g);
}

DtHandle *op_g_where_not (DtGradCall *c, DtHandle *loses, DtHandle *a,
                          DtHandle *b) {
  return dt_emit(c->e, "aten.masked_fill.Scalar", "tti",
                 op_g_halved_at_ties(c, a, b), loses, (int64_t)0);
}

DtHandle *op_g_unsqueeze (DtEmit *e, DtHandle *g, int ndim, uint32_t mask,
                          bool keepdim, bool all) {
  if (keepdim || ndim == 0 || all) return g;
  for (int d = 0; d < ndim; d++)
    if (mask >> d & 1u)
      g = dt_emit(e, "aten.unsqueeze.default", "ti", g, (int64_t)d);
  return g;
}

DtHandle *op_g_expand (DtEmit *e, DtHandle *g, const DtMeta *like) {
  return dt_emit(e, "aten.expand.default", "tI", g, (int)like->ndim,
                 like->shape);
}

DtHandle *op_e_scalar (DtEmit *e, double v, const DtMeta *like) {
  return dt_emit(e, "aten.scalar_tensor.default", "f dtype=d", v,
                 (int)like->dtype);
}

/* ---- strategies ---- */

void op_s_follow (const DtStratCall *c, int slot, uint32_t mask,
                  bool no_partial, DtPlacement *pl) {
  const DtSpec *s = c->in[slot];
  for (int i = 0; i < c->mesh->ndim; i++) {
    DtPlacement p = i < s->npl ? s->pl[i] : dt_pl_replicate();
    if (no_partial && dt_pl_is_partial(p)) p = dt_pl_replicate();
    if (dt_pl_is_shard_like(p) && p.dim >= 0 && (mask >> p.dim & 1u))
      p = dt_pl_replicate();
    pl[i] = p;
  }
}

DtStatus op_s_one (DtStratCall *c, const DtPlacement *out,
                   const DtPlacement *in, double cost) {
  enum { MAXOUT = 512, MAXIN = 8 };
  DtPlacement pin[MAXIN * OP_MAXPL], small[16 * OP_MAXPL], *buf = small;
  int n = c->mesh->ndim;
  DtStatus st = DT_OK;
  bool as_is = isnan(cost) && in == c->in[0]->pl;
  DT_CHECK(c->cx, c->nout <= MAXOUT && c->nin <= MAXIN, DT_E_LIMIT,
           "too many tensors");
  if (c->nout > 16 && !(buf = DT_NEWN(c->cx, DtPlacement, c->nout * n)))
    return DT_E_NOMEM;
  for (int i = 0; i < c->nout; i++)
    memcpy(buf + i * n, out, sizeof *out * (size_t)n);
  for (int i = 0; i < c->nin; i++)      /* out= tensors stay as they are */
    memcpy(pin + i * n, i ? c->in[i]->pl : in, sizeof *in * (size_t)n);
  st = as_is && dt_pls_equal(out, in, n) ? dt_strat_add(c, buf, NULL, cost)
     : dt_strat_add(c, buf, pin, as_is ? 0 : cost);
  if (buf != small) dt_free(c->cx, buf);
  return st;
}

/* Two kinds of partial in one placement list cannot be reduced together,
** sum with avg excepted. */
static bool mixed_partials (const DtPlacement *p, int n) {
  int first = -1;
  for (int i = 0; i < n; i++) {
    if (!dt_pl_is_partial(p[i])) continue;
    if (first < 0) {
      first = i;
      continue;
    }
    DtPlacement a = p[first], b = p[i];
    bool linear = (a.op == DT_OP_SUM || a.op == DT_OP_AVG) &&
                  (b.op == DT_OP_SUM || b.op == DT_OP_AVG);
    if (a.kind != b.kind || (a.op != b.op && !linear)) return true;
  }
  return false;
}

static bool candidate_ok (const DtStratCall *c, const DtPlacement *out,
                          const DtPlacement *in, bool inplace, bool *hit) {
  int nd = c->mesh->ndim;
  for (int i = 0; i < c->nout; i++)
    if (mixed_partials(out + i * nd, nd)) return false;
  for (int i = 0; i < c->nin; i++)
    if (mixed_partials(in + i * nd, nd)) return false;
  if (inplace && (!dt_pls_equal(in, c->in[0]->pl, nd) ||
                  !dt_pls_equal(out, c->in[0]->pl, nd))) {
    *hit = true;
    return false;
  }
  for (int i = 0; i < c->nin; i++)
    if (!dt_layout_shardable(c->mesh, &c->in[i]->meta, in + i * nd, nd))
      return false;
  return true;
}

DtStatus op_s_rows (DtStratCall *c, int nrows, const DtPlacement *rows,
                    bool inplace) {
  DtPlacement buf[OP_ROW_MAX * OP_MAXPL];
  int nd = c->mesh->ndim, w = c->nout + c->nin, digit[OP_MAXPL] = { 0 };
  bool hit = false, any = false;
  DT_CHECK(c->cx, w <= OP_ROW_MAX, DT_E_LIMIT, "too many tensors");
  for (;;) {
    for (int i = 0; i < w; i++)
      for (int k = 0; k < nd; k++)
        buf[i * nd + k] = rows[digit[k] * w + i];
    if (candidate_ok(c, buf, buf + c->nout * nd, inplace, &hit)) {
      any = true;
      DT_TRY(c->cx, dt_strat_add(c, buf, buf + c->nout * nd, NAN));
    }
    int k = nd - 1;
    while (k >= 0 && ++digit[k] == nrows) digit[k--] = 0;
    if (k < 0) break;
  }
  if (!any && hit) {
    DtBuf b;
    dt_buf_init(&b, c->cx);
    for (int i = 0; i < nd; i++) {
      dt_buf_add(&b, i ? ", " : "");
      dt_pl_repr(c->in[0]->pl[i], &b);
    }
    DtStatus st = dt_raise(c->cx, DT_E_INPLACE,
      "%s: in-place operations that require placement changes are not "
      "supported. The input has placement (%s%s), but no valid strategy "
      "preserves this placement. Please use the out-of-place version of this "
      "operation instead.", c->op->sig ? c->op->sig->full : "operator", dt_buf_str(&b),
      nd == 1 ? "," : "");
    dt_buf_fini(&b);
    return st;
  }
  return DT_OK;
}

/* ---- rewriting ---- */

DtStatus op_rw_set_ints (DtRewriteCall *c, int i, int n, const int64_t *v) {
  DtValue *l = DT_ANEWN(c->cx, c->arena, DtValue, n ? n : 1);
  if (!l) return DT_E_NOMEM;
  for (int k = 0; k < n; k++) l[k] = dt_v_int(v[k]);
  c->args->v[i] = dt_v_list(n, l);
  c->args->given |= 1u << i;
  c->changed = true;
  return DT_OK;
}

DtStatus op_rw_shape (DtRewriteCall *c, int i) {
  int64_t shape[DT_MAX_NDIM];
  int nd;
  const DtSpec *s = c->out[0];
  if (!s || !dt_spec_is_sharded(s)) return DT_OK;
  DT_TRY(c->cx, dt_layout_local(c->cx, s, NULL, shape, NULL, &nd));
  return op_rw_set_ints(c, i, nd, shape);
}

DtStatus op_rw_shape1 (DtRewriteCall *c) {
  return op_rw_shape(c, 1);
}

/* ---- samples ---- */

const char *const op_samples_unary[] = {
  "f32[8, 6]", "f32[7, 5]", "f32[1]", "f32[0, 4]", "f32[]", "f64[3, 2]", NULL
};
const char *const op_samples_binary[] = {
  "f32[8, 6], f32[8, 6]", "f32[7, 5], f32[5]", "f32[4, 1], f32[1, 3]",
  "f32[1], f32[1]", "f32[0, 4], f32[4]", "f32[6], f32[]", "f64[2, 3], f64[3]",
  NULL
};
const char *const op_samples_int_unary[] = {
  "i64[8, 6]", "bool[7]", "i64[0]", "i64[]", NULL
};
const char *const op_samples_int_binary[] = {
  "i64[8, 6], i64[6]", "bool[7], bool[7]", "i64[0], i64[0]", "i64[], i64[]",
  NULL
};
