/* SPDX-License-Identifier: MIT
** oplib/op_reduce.c: reductions of dims: sums, means, extremes, norms, spread.
**
** A row holds what differs: the kernel's function, where the arguments stand,
** how the type follows, which partial a sharded dim leaves behind.  The
** strategy follows the input: a shard on a reduced dim becomes
** that partial where local results combine, else it is gathered first. */
#include "oplib/oplib_int.h"

#include <math.h>
#include <string.h>

#define IN (dt_gin(c, 0))
#define OUT (c->out[0])

/* Row: kernel function, type rule, positions of dim, keepdim, dtype and of a
** parameter (-1 = none), partial left by a shard (-1: gathered first). */
enum { RD_FN, RD_TYPE, RD_DIM, RD_KEEP, RD_DTYPE, RD_PAR, RD_PARTIAL };
enum { RT_SUM, RT_MEAN, RT_SAME, RT_BOOL, RT_FLOAT };
#define ROWDEF(id, ...) static const int row_##id[] = { __VA_ARGS__ }

/* ---- meta and kernel ---- */

static DtStatus red_dims (DtCtx *cx, const DtOpDef *op, const DtArgs *a,
                          const DtMeta *m, uint32_t *mask) {
  int at = op->row[RD_DIM];
  if (at < 0 || dt_arg_is_none(a, at)) {
    *mask = m->ndim ? (uint32_t)((1u << m->ndim) - 1) : 0;
    return DT_OK;
  }
  /* any.dims of no dim reduces none, the others all */
  DT_TRY(cx, op_dims(cx, a, at, m->ndim, op->row[RD_FN] != DT_RED_ANY ||
                     dt_arg_len(a, at) > 0, mask));
  if (m->ndim == 0) *mask = 0;
  return DT_OK;
}
static bool red_keep (const DtOpDef *op, const DtArgs *a) {
  return op->row[RD_KEEP] >= 0 && dt_arg_bool(a, op->row[RD_KEEP]);
}

/* A dtype as C++ says it, or as PyTorch's meta functions do. */
static const char *type_text (const DtMetaCall *c, DtDtype t) {
  return c->fake ? dt_dtype_info(t)->torch : op_dtype_word(t);
}

static bool is_spread (const char *name) {
  return strcmp(name, "std") == 0 || strcmp(name, "var") == 0;
}

static bool is_norm (const char *name) { return strcmp(name, "norm") == 0; }

/* In words of C++, whose class changed, or of the meta function. */
static DtStatus mean_type (const DtMetaCall *c, const char *which, DtDtype t) {
  DT_CHECK(c->cx, !c->fake, DT_E_RUNTIME, "mean(): could not infer output "
           "dtype. %s dtype must be either a floating point or complex dtype. "
           "Got: %s", which, type_text(c, t));
  return DT_SAY(c->cx, DT_E_RUNTIME, MEAN_TYPE, which, type_text(c, t));
}

/* The type of a reduction's result: the row's kind decides, dtype= overrides
** it.  std and var of integers pass in propagation and fail in the kernel, as
** in PyTorch, where the meta function does not look at types. */
static DtStatus red_type (DtMetaCall *c, DtDtype *t) {
  int at = c->op->row[RD_DTYPE];
  DtDtype in = (DtDtype)c->in[0]->dtype;
  DtDtype want = at >= 0 ? dt_arg_dtype(c->args, at) : DT_DTYPE_NONE;
  bool whole = dt_dtype_is_integral(in, true);
  const char *name = c->op->sig ? c->op->sig->base : "reduction";
  switch (c->op->row[RD_TYPE]) {
    case RT_SUM: *t = whole ? DT_I64 : in; break;
    case RT_MEAN:
      if (want == DT_DTYPE_NONE && whole)
        return mean_type(c, "Input", in);
      if (want != DT_DTYPE_NONE && dt_dtype_is_integral(want, true))
        return mean_type(c, "Optional", want);
      *t = in;
      break;
    case RT_BOOL: *t = in == DT_U8 ? DT_U8 : DT_BOOL; break;
    case RT_FLOAT:
      *t = in;
      if (c->fake && whole && is_spread(name)) break;   /* the kernel will */
      DT_CHECK_SAY(c->cx, !whole || !is_spread(name), DT_E_RUNTIME,
                   SPREAD_INTS, "std and var");
      if (whole && strcmp(name, "logsumexp") != 0 && !is_norm(name))
        return op_wants_floats(c->cx, strcmp(name, "linalg_vector_norm") == 0
                               ? "linalg.vector_norm" : name,
                               type_text(c, in));
      DT_CHECK_SAY(c->cx, !whole || !is_norm(name), DT_E_RUNTIME, NORM_INTS,
                   op_dtype_word(in));
      *t = whole ? (DtDtype)OP_DEFAULT_FLOAT
         : strcmp(name, "logsumexp") == 0 ? in : dt_dtype_to_real(in);
      if (want != DT_DTYPE_NONE) *t = dt_dtype_to_real(want);
      return DT_OK;
    default: *t = in;
  }
  if (want != DT_DTYPE_NONE) *t = want;
  return DT_OK;
}

/* Extremes of nothing do not exist. */
static DtStatus red_nonempty (DtMetaCall *c, uint32_t mask) {
  const char *name = c->op->sig ? c->op->sig->base : "max";
  int fn = c->op->row[RD_FN];
  const DtMeta *m = c->in[0];
  if (fn != DT_RED_MAX && fn != DT_RED_MIN) return DT_OK;
  if (dt_meta_numel(m) != 0) return DT_OK;
  if (c->fake) {                /* only the forms with dims are in Python */
    bool none = false;
    for (int d = 0; d < m->ndim; d++)
      none = none || ((mask >> d & 1u) && m->shape[d] == 0);
    DT_CHECK(c->cx, !none || c->op->row[RD_DIM] < 0, DT_E_RUNTIME, "reducing "
             "over zero-size dimension for reduction operation without "
             "identity");
    return DT_OK;
  }
  DT_CHECK(c->cx, c->op->row[RD_DIM] >= 0 && dt_arg_len(c->args, 1) > 0,
           DT_E_RUNTIME, "%s(): Expected reduction dim to be specified for "
           "input.numel() == 0. Specify the reduction dim with the 'dim' "
           "argument.", name);
  for (int d = 0; d < m->ndim; d++)
    DT_CHECK(c->cx, !(mask >> d & 1u) || m->shape[d], DT_E_INDEX,
             "%s(): Expected reduction dim %d to have non-zero size.", name,
             d);
  return DT_OK;
}

/* The result type of a norm must be of the input's kind, and hold it. */
static DtStatus norm_type (DtMetaCall *c, DtDtype in, DtDtype want) {
  OpOperand o[2] = { { .m = c->in[0] } };
  DtMeta m;
  bool cplx = dt_dtype_is_complex(in);
  DT_CHECK(c->cx, !dt_dtype_is_integral(want, true), DT_E_RUNTIME,
           "linalg.vector_norm: dtype should be floating point or complex, "
           "but got %s", op_dtype_word(want));
  DT_CHECK(c->cx, cplx == dt_dtype_is_complex(want), DT_E_RUNTIME,
           "linalg.vector_norm: dtype should be %s for %s inputs, but got %s",
           cplx ? "complex" : "real", cplx ? "complex" : "real",
           op_dtype_word(want));
  dt_meta_copy(&m, c->in[0]);
  m.dtype = (uint8_t)want;
  o[1].m = &m;
  DT_TRY(c->cx, op_promotable(c->cx, 2, o));
  DT_CHECK(c->cx, op_promote(c->cx, 2, o) == want, DT_E_RUNTIME,
           "linalg.vector_norm: the dtype of the input (%s) should be "
           "convertible without narrowing to the specified dtype (%s)",
           op_dtype_word(in), op_dtype_word(want));
  return DT_OK;
}

/* What a norm refuses: a narrower result type, orders of nothing. */
static DtStatus norm_check (DtMetaCall *c, uint32_t mask) {
  int at = c->op->row[RD_DTYPE];
  const DtMeta *m = c->in[0];
  DtDtype in = (DtDtype)m->dtype, want;
  double p;
  bool none;
  if (c->op->row[RD_FN] != DT_RED_NORM || at < 0) return DT_OK;
  want = dt_arg_dtype(c->args, at);
  if (want != DT_DTYPE_NONE) DT_TRY(c->cx, norm_type(c, in, want));
  p = dt_arg_float(c->args, c->op->row[RD_PAR]);
  none = dt_meta_numel(m) == 0 && (p < 0 || isinf(p));
  DT_CHECK(c->cx, !none || mask != (uint32_t)((1u << m->ndim) - 1),
           DT_E_RUNTIME, "linalg.vector_norm cannot compute the %s norm on an "
           "empty tensor because the operation does not have an identity",
           isinf(p) ? p > 0 ? "inf" : "-inf" : "negative");
  for (int d = 0; none && d < m->ndim; d++)
    DT_CHECK(c->cx, !(mask >> d & 1u) || m->shape[d], DT_E_RUNTIME,
             "linalg.vector_norm cannot compute the %s norm on the dimension "
             "%d because this dimension is empty and the operation does not "
             "have an identity", isinf(p) ? p > 0 ? "inf" : "-inf" : "negative",
             d);
  return DT_OK;
}

/* logsumexp over no dims at all is over all of them, and PyTorch then does
** not drop them from its result. */
static DtStatus logsumexp_check (const DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  char ones[3 * DT_MAX_NDIM + 1] = "1";
  if (c->fake || c->op->row[RD_FN] != DT_RED_LOGSUMEXP ||
      dt_meta_numel(m) == 0 || m->ndim == 0 || dt_arg_len(c->args, 1) > 0 ||
      red_keep(c->op, c->args))
    return DT_OK;
  for (int i = 1; i < m->ndim; i++) memcpy(ones + 3 * i - 2, ", 1", 4);
  return dt_raise(c->cx, DT_E_RUNTIME, "output with shape [] doesn't match "
                  "the broadcast shape [%s]", ones);
}

static DtStatus red_meta (DtMetaCall *c) {
  uint32_t mask;
  DtDtype t = DT_DTYPE_NONE;
  DT_TRY(c->cx, red_dims(c->cx, c->op, c->args, c->in[0], &mask));
  DT_TRY(c->cx, red_type(c, &t));
  DT_TRY(c->cx, red_nonempty(c, mask));
  DT_TRY(c->cx, norm_check(c, mask));
  DT_TRY(c->cx, logsumexp_check(c));
  c->nout = 1;
  return op_reduced(c->cx, c->in[0], mask, red_keep(c->op, c->args), t,
                    &c->out[0]);
}

static DtStatus red_kernel (DtKernelCall *c) {
  uint32_t mask;
  DtScalar p[4];
  int at = c->op->row[RD_PAR];
  DT_TRY(c->cx, red_dims(c->cx, c->op, c->args, &c->in[0]->m, &mask));
  memset(p, 0, sizeof p);
  if (at >= 0)                  /* order of a norm, correction of a variance */
    p[0] = dt_arg_is_none(c->args, at)
         ? dt_scalar_int(c->op->row[RD_FN] == DT_RED_NORM ? 2 : 1)
         : dt_arg_scalar(c->args, at);
  return dt_k_reduce(c->cx, (DtReduce)c->op->row[RD_FN], p, c->in[0], mask,
                     c->out[0]);
}

/* ---- sharding ---- */

/* Output placements after removing dims: a cut reduced dim becomes `left`. */
static void after_reduction (const DtPlacement *in, int nd, uint32_t mask,
                             bool keep, DtPlacement left, DtPlacement *out) {
  for (int i = 0; i < nd; i++) {
    out[i] = in[i];
    if (!dt_pl_is_shard_like(in[i])) continue;
    if (mask >> in[i].dim & 1u) {
      out[i] = left;
    } else if (!keep) {
      int d = 0;
      for (int k = 0; k < in[i].dim; k++) d += !(mask >> k & 1u);
      out[i].dim = (int16_t)d;
    }
  }
}

static DtStatus reduce_follow (DtStratCall *c, uint32_t mask, bool keep,
                               bool linear, DtPlacement left) {
  DtPlacement in[OP_MAXPL], out[OP_MAXPL];
  const DtSpec *s = c->in[0];
  int nd = c->mesh->ndim;
  for (int i = 0; i < nd; i++)
    linear &= !dt_pl_is_partial(s->pl[i]) ||
              (s->pl[i].op == left.op && left.kind == DT_PL_PARTIAL);
  for (int d = 0; linear && left.op == DT_OP_AVG && d < s->meta.ndim; d++)
    if (mask >> d & 1u)
      linear = dt_layout_evenly_shardable_on(c->mesh, &s->meta, s->pl, nd, d);
  if (linear) memcpy(in, s->pl, sizeof *in * (size_t)nd);
  else op_s_follow(c, 0, mask, true, in);
  after_reduction(in, nd, mask, keep, left, out);
  return op_s_one(c, out, in, NAN);
}

/* An empty list of dims reduces everything, but PyTorch's strategy takes it
** for no dim.  The extremes' default is the empty list: it is not passed on,
** unless keepdim is. */
static DtStatus strat_dims (DtStratCall *c, uint32_t *mask) {
  int at = c->op->row[RD_DIM];
  DT_TRY(c->cx, red_dims(c->cx, c->op, c->args, &c->in[0]->meta, mask));
  int fn = c->op->row[RD_FN];
  bool dflt = (fn == DT_RED_MAX || fn == DT_RED_MIN) &&
              !red_keep(c->op, c->args);
  if (!dflt && at >= 0 && !dt_arg_is_none(c->args, at) &&
      dt_arg_len(c->args, at) == 0)
    *mask = 0;
  return DT_OK;
}

static DtStatus red_strategy (DtStratCall *c) {
  uint32_t mask;
  int left = c->op->row[RD_PARTIAL];
  DT_TRY(c->cx, strat_dims(c, &mask));
  return reduce_follow(c, mask, red_keep(c->op, c->args), left >= 0,
                       dt_pl_partial(left >= 0 ? (DtRedOp)left : DT_OP_SUM));
}

/* p-norms: inf is a max, 0 a count, other orders combine as p-norms. */
static DtStatus norm_strategy (DtStratCall *c) {
  uint32_t mask;
  int at = c->op->row[RD_PAR];
  DtScalar p = dt_arg_is_none(c->args, at) ? dt_scalar_int(2)
                                           : dt_arg_scalar(c->args, at);
  double v = p.kind == DT_K_INT ? (double)p.i : p.re;
  DtPlacement left = isinf(v) ? dt_pl_partial(v > 0 ? DT_OP_MAX : DT_OP_MIN)
                   : v == 0 ? dt_pl_partial(DT_OP_SUM)
                            : dt_pl_norm(v, p.kind == DT_K_INT);
  DT_TRY(c->cx, red_dims(c->cx, c->op, c->args, &c->in[0]->meta, &mask));
  for (int i = 0; i < c->mesh->ndim && !isinf(v); i++)
    if (dt_pl_is_partial(c->in[0]->pl[i]))      /* any partial reduces */
      return reduce_follow(c, mask, red_keep(c->op, c->args), false, left);
  return reduce_follow(c, mask, red_keep(c->op, c->args), true, left);
}

/* ---- gradients ---- */

static DtStatus sum_grad (DtGradCall *c) {
  uint32_t mask;
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, IN));
  DT_TRY(c->e->cx, red_dims(c->e->cx, c->op, c->args, &m, &mask));
  int at = c->op->row[RD_DIM];
  DtHandle *g = op_g_unsqueeze(c->e, GOUT, m.ndim, mask,
                               red_keep(c->op, c->args), at < 0 ||
                               dt_arg_is_none(c->args, at) ||
                               dt_arg_len(c->args, at) == 0);
  op_g_set(c, 0, op_g_expand(c->e, g, &m));
  return op_g_finish(c);
}

static DtStatus mean_grad (DtGradCall *c) {
  uint32_t mask;
  DtMeta m;
  int64_t n = 1;
  dt_meta_copy(&m, dt_emit_meta(c->e, IN));
  DT_TRY(c->e->cx, red_dims(c->e->cx, c->op, c->args, &m, &mask));
  for (int d = 0; d < m.ndim; d++) n *= mask >> d & 1u ? m.shape[d] : 1;
  DtHandle *g = op_g_unsqueeze(c->e, GOUT, m.ndim, mask,
                               red_keep(c->op, c->args),
                               c->op->row[RD_DIM] < 0);
  g = op_g_expand(c->e, g, &m);
  op_g_set(c, 0, EMIT("aten.div.Scalar", "ti", g, n));
  return op_g_finish(c);
}

/* Restore reduced dims with one view. */
static DtHandle *restore (DtGradCall *c, DtHandle *h, const DtMeta *m,
                          uint32_t mask) {
  int64_t shape[DT_MAX_NDIM];
  if (red_keep(c->op, c->args)) return h;
  if (dt_arg_len(c->args, 1) == 0)      /* of no dims given: as it is */
    return EMIT("aten.view.default", "tI", h, 0, shape);
  for (int d = 0; d < m->ndim; d++) shape[d] = mask >> d & 1u ? 1 : m->shape[d];
  shape[m->ndim] = 1;           /* a number has the dim 0 here */
  return EMIT("aten.view.default", "tI", h, m->ndim ? (int)m->ndim : 1, shape);
}

/* amax, amin: shared between equal elements. */
static DtStatus amax_grad (DtGradCall *c) {
  uint32_t mask;
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, IN));
  DT_TRY(c->e->cx, red_dims(c->e->cx, c->op, c->args, &m, &mask));
  DtHandle *k = EMIT("aten.eq.Tensor", "tt", restore(c, OUT, &m, mask), IN);
  DtHandle *g = restore(c, GOUT, &m, mask);
  DtHandle *n = EMIT("aten.sum.dim_IntList", "tvb", k, c->args->v[1], 1);
  g = EMIT("aten.div.Tensor", "tt", g, n);
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", g, k));
  return op_g_finish(c);
}

/* max, min of everything: equal elements share; NaN equals NaN. */
static DtStatus max_grad (DtGradCall *c) {
  DtHandle *a = EMIT("aten.isnan.default", "t", IN);
  DtHandle *b = EMIT("aten.isnan.default", "t", OUT);
  a = EMIT("aten.logical_and.default", "tt", a, b);
  DtHandle *k = EMIT("aten.eq.Tensor", "tt", IN, OUT);
  k = EMIT("aten.logical_or_.default", "tt", k, a);
  DtHandle *n = EMIT("aten.sum.default", "t", k);
  n = EMIT("aten.div.Tensor", "tt", GOUT, n);
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", k, n));
  return op_g_finish(c);
}

/* product of all others along a dim, safe with zeros */
static DtHandle *others_product (DtEmit *e, DtHandle *g, DtHandle *x, int dim) {
  DtMeta m;
  int64_t one[DT_MAX_NDIM], d = dim;
  dt_meta_copy(&m, dt_emit_meta(e, x));
  if (dt_emit_ok(e) && dt_meta_numel(&m) == 0)
    return dt_emit(e, "aten.expand.default", "tI", g, (int)m.ndim, m.shape);
  if (!dt_emit_ok(e) || m.ndim == 0 || m.shape[dim] == 1) return g;
  memcpy(one, m.shape, sizeof(int64_t) * m.ndim);
  one[dim] = 1;
  DtHandle *ones = dt_emit(e, "aten.ones.default", "I dtype=d", (int)m.ndim,
                           one, (int)m.dtype);
  DtHandle *p[2] = { ones, NULL };
  p[1] = dt_emit(e, "aten.slice.Tensor", "tiii", x, d, (int64_t)0,
                 m.shape[dim] - 1);
  DtHandle *l = dt_emit(e, "aten.cat.default", "Ti", 2, p, d);
  l = dt_emit(e, "aten.cumprod.default", "ti", l, d);
  p[1] = dt_emit(e, "aten.slice.Tensor", "tiii", x, d, (int64_t)1,
                 m.shape[dim]);
  p[1] = dt_emit(e, "aten.flip.default", "tI", p[1], 1, &d);
  DtHandle *r = dt_emit(e, "aten.cat.default", "Ti", 2, p, d);
  r = dt_emit(e, "aten.cumprod.default", "ti", r, d);
  r = dt_emit(e, "aten.flip.default", "tI", r, 1, &d);
  r = dt_emit(e, "aten.mul.Tensor", "tt", l, r);
  return dt_emit(e, "aten.mul.Tensor", "tt", g, op_g_conj(e, r));
}

static DtStatus prod_grad (DtGradCall *c) {
  DtMeta m;
  int64_t flat = -1;
  dt_meta_copy(&m, dt_emit_meta(c->e, IN));
  if (c->op->row[RD_DIM] < 0) {
    DtHandle *x = m.ndim ? EMIT("aten.view.default", "tI", IN, 1, &flat) : IN;
    DtHandle *g = others_product(c->e, GOUT, x, 0);
    if (m.ndim)
      g = EMIT("aten.view.default", "tI", g, (int)m.ndim, m.shape);
    op_g_set(c, 0, g);
    return op_g_finish(c);
  }
  uint32_t mask;
  int d;
  bool keep = red_keep(c->op, c->args);
  DT_TRY(c->e->cx, red_dims(c->e->cx, c->op, c->args, &m, &mask));
  DT_TRY(c->e->cx, op_dim(c->e->cx, c->args, 1, m.ndim, &d));
  DtHandle *g = op_g_unsqueeze(c->e, GOUT, m.ndim, mask, keep, false);
  (void)op_g_unsqueeze(c->e, OUT, m.ndim, mask, keep, false);
  op_g_set(c, 0, others_product(c->e, g, IN, d));
  return op_g_finish(c);
}

/* Of too few elements: NaN where x is the mean, else infinite. */
static DtHandle *var_of_few (DtGradCall *c, DtHandle *g, DtDtype t) {
  DtHandle *u = EMIT("aten.mean.default", "t", IN);
  u = EMIT("aten.eq.Tensor", "tt", IN, u);
  DtHandle *a = EMIT("aten.scalar_tensor.default", "f dtype=d", (double)NAN,
                     (int)t);
  DtHandle *b = EMIT("aten.scalar_tensor.default", "f dtype=d",
                     (double)INFINITY,
                     (int)t);
  return EMIT("aten.mul.Tensor", "tt", g, EMIT("aten.where.self", "ttt", u, a,
                                               b));
}

/* (2 / (n - correction)) * g * (x - mean) */
static DtHandle *var_part (DtGradCall *c, DtHandle *g) {
  uint32_t mask;
  DtMeta m;
  double n = 1;
  int at = c->op->row[RD_PAR];
  double k = at < 0 || dt_arg_is_none(c->args, at) ? 1
                                                   : dt_arg_float(c->args, at);
  bool all = dt_arg_is_none(c->args, 1) || dt_arg_len(c->args, 1) == 0;
  dt_meta_copy(&m, dt_emit_meta(c->e, IN));
  if (red_dims(c->e->cx, c->op, c->args, &m, &mask) != DT_OK) return NULL;
  for (int d = 0; d < m.ndim; d++)
    n *= mask >> d & 1u ? (double)m.shape[d] : 1;
  if ((m.ndim == 0 || dt_arg_is_none(c->args, 1)) && n <= k)
    return var_of_few(c, g, (DtDtype)m.dtype);
  g = op_g_unsqueeze(c->e, g, m.ndim, mask, red_keep(c->op, c->args),
                     all || m.ndim == 1);
  DtHandle *u = all ? EMIT("aten.mean.default", "t", IN)
                    : EMIT("aten.mean.dim", "tvb", IN, c->args->v[1], 1);
  u = EMIT("aten.sub.Tensor", "tt", IN, u);
  g = EMIT("aten.mul.Scalar", "tf", g, 2.0 / (n - k));
  return EMIT("aten.mul.Tensor", "tt", g, u);
}
static DtStatus var_grad (DtGradCall *c) {
  op_g_set(c, 0, var_part(c, GOUT));
  return op_g_finish(c);
}
static DtStatus std_grad (DtGradCall *c) {
  DtHandle *g = EMIT("aten.mul.Scalar", "ti", OUT, (int64_t)2);
  g = EMIT("aten.div.Tensor", "tt", GOUT, g);
  DtHandle *z = EMIT("aten.eq.Scalar", "ti", OUT, (int64_t)0);
  g = EMIT("aten.masked_fill_.Scalar", "tti", g, z, (int64_t)0);
  op_g_set(c, 0, var_part(c, g));
  return op_g_finish(c);
}

static DtStatus logsumexp_grad (DtGradCall *c) {
  uint32_t mask;
  DtMeta m;
  bool keep = red_keep(c->op, c->args);
  dt_meta_copy(&m, dt_emit_meta(c->e, IN));
  DT_TRY(c->e->cx, red_dims(c->e->cx, c->op, c->args, &m, &mask));
  DtHandle *g = op_g_unsqueeze(c->e, GOUT, m.ndim, mask, keep, false);
  DtHandle *o = op_g_unsqueeze(c->e, OUT, m.ndim, mask, keep, false);
  o = EMIT("aten.exp.default", "t", EMIT("aten.sub.Tensor", "tt", IN, o));
  o = op_g_conj(c->e, o);
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", g, o));
  return op_g_finish(c);
}

/* |x|^(p-1) with the sign of x; 0 where x is, for a p below 1, too. */
static DtHandle *signed_power (DtGradCall *c, DtHandle *x, double p) {
  DtHandle *a = EMIT("aten.abs.default", "t", x), *z;
  if (p >= 2)
    return EMIT("aten.mul.Tensor", "tt", x,
                EMIT("aten.pow_.Scalar", "tf", a, p - 2));
  a = EMIT("aten.pow_.Scalar", "tf", a, p - 1);
  if (p < 1) {
    z = EMIT("aten.eq.Scalar", "ti", x, (int64_t)0);
    a = EMIT("aten.masked_fill_.Scalar", "tti", a, z, (int64_t)0);
  }
  return EMIT("aten.mul.Tensor", "tt", EMIT("aten.sgn.default", "t", x), a);
}

/* x |x|^(p-2) g / norm^(p-1), 0 where the norm is 0 */
static DtHandle *norm_p (DtGradCall *c, DtHandle *x, DtHandle *g, DtHandle *o,
                         double p) {
  DtHandle *s;
  x = signed_power(c, x, p);
  if (p < 1) {                  /* the norm's power is no divisor here */
    s = EMIT("aten.pow.Tensor_Scalar", "tf", o, 1 - p);
    return EMIT("aten.mul.Tensor", "tt", EMIT("aten.mul.Tensor", "tt", x, g), s);
  }
  s = EMIT("aten.pow.Tensor_Scalar", "tf", o, p - 1);
  s = EMIT("aten.div.Tensor", "tt", g, s);
  DtHandle *z = EMIT("aten.eq.Scalar", "ti", o, (int64_t)0);
  s = EMIT("aten.masked_fill_.Scalar", "tti", s, z, (int64_t)0);
  return EMIT("aten.mul.Tensor", "tt", x, s);
}

static DtHandle *norm_inf (DtGradCall *c, DtHandle *x, DtHandle *g, DtHandle *o,
                           uint32_t mask) {
  int64_t dims[DT_MAX_NDIM];
  int n = 0;
  for (int d = 0; d < DT_MAX_NDIM; d++)
    if (mask >> d & 1u) dims[n++] = d;
  DtHandle *a = EMIT("aten.abs.default", "t", x);
  DtHandle *k = EMIT("aten.eq.Tensor", "tt", a, o);
  k = EMIT("aten.logical_or.default", "tt", k, EMIT("aten.isnan.default", "t",
                                                    a));
  DtHandle *s = EMIT("aten.sum.dim_IntList", "tIb", k, n, dims, 1);
  s = EMIT("aten.div.Tensor", "tt", g, s);
  s = EMIT("aten.mul.Tensor", "tt", s, k);
  return EMIT("aten.mul.Tensor", "tt", EMIT("aten.sgn.default", "t", x), s);
}

DtHandle *op_g_norm (DtGradCall *c, DtHandle *x, DtHandle *g, DtHandle *o,
                     double p, uint32_t mask) {
  if (p == 0) return NULL;
  if (p == 1)
    return EMIT("aten.mul.Tensor", "tt", EMIT("aten.sgn.default", "t", x), g);
  if (isinf(p)) return norm_inf(c, x, g, o, mask);
  if (p != 2) return norm_p(c, x, g, o, p);
  DtHandle *q = EMIT("aten.div.Tensor", "tt", x, o);
  DtHandle *z = EMIT("aten.eq.Scalar", "ti", o, (int64_t)0);
  q = EMIT("aten.masked_fill_.Scalar", "tti", q, z, (int64_t)0);
  return EMIT("aten.mul.Tensor", "tt", g, q);
}

static DtStatus norm_grad (DtGradCall *c) {
  uint32_t mask;
  DtMeta m;
  int at = c->op->row[RD_PAR];
  double p = dt_arg_is_none(c->args, at) ? 2 : dt_arg_float(c->args, at);
  bool keep = red_keep(c->op, c->args);
  bool all = c->op->row[RD_DIM] < 0 ||
             dt_arg_is_none(c->args, c->op->row[RD_DIM]);
  dt_meta_copy(&m, dt_emit_meta(c->e, IN));
  DT_TRY(c->e->cx, red_dims(c->e->cx, c->op, c->args, &m, &mask));
  DtHandle *g = op_g_unsqueeze(c->e, GOUT, m.ndim, mask, keep, all);
  DtHandle *o = op_g_unsqueeze(c->e, OUT, m.ndim, mask, keep, all);
  op_g_set(c, 0, op_g_norm(c, IN, g, o, p, all ? 0 : mask));
  return op_g_finish(c);
}

/* ---- samples ---- */

static const char *const all_samples[] = {
  "f32[8, 6]", "f32[7, 5]", "f32[1]", "f32[]", "f64[3]", NULL
};
static const char *const sum_samples[] = {
  "f32[8, 6]", "f32[7, 5]", "f32[1]", "f32[0, 4]", "f32[]", "i64[3]", NULL
};
static const char *const dim_samples[] = {
  "f32[8, 6], [1]", "f32[7, 5], [0], true", "f32[2, 3, 4], [0, -1]",
  "f32[1], [0]", "f32[4, 0], [0]", "f32[], []", NULL
};
static const char *const one_dim_samples[] = {
  "f32[8, 6], 1", "f32[7, 5], 0, true", "f32[1], 0", "f32[4, 0], 0", NULL
};
static const char *const bool_samples[] = {
  "bool[8, 6]", "f32[7]", "bool[0]", "bool[]", NULL
};
static const char *const bool_dim_samples[] = {
  "bool[8, 6], 1", "f32[7, 5], 0, true", "bool[4, 0], 0", NULL
};
static const char *const bool_dims_samples[] = {
  "bool[8, 6], [1]", "f32[7, 5], [0, 1], true", "bool[6]", NULL
};
static const char *const spread_samples[] = {
  "f32[8, 6]", "f32[7, 5], [1]", "f32[8, 6], [0], correction=0, keepdim=true",
  NULL
};
static const char *const vnorm_samples[] = {
  "f32[8, 6]", "f32[7, 5], 1, [1]", "f32[8, 6], 3.0, [0], true",
  "f32[6], inf", "f32[0], 2", "f32[]", NULL
};
static const char *const norm_samples[] = {
  "f32[8, 6]", "f32[7], 1", "f32[1], inf", "f32[0], 2", "f32[]", NULL
};

/* ---- rows ---- */

ROWDEF(sum, DT_RED_SUM, RT_SUM, -1, -1, 1, -1, DT_OP_SUM);
ROWDEF(sum_dim_IntList, DT_RED_SUM, RT_SUM, 1, 2, 3, -1, DT_OP_SUM);
ROWDEF(mean, DT_RED_MEAN, RT_MEAN, -1, -1, 1, -1, DT_OP_AVG);
ROWDEF(mean_dim, DT_RED_MEAN, RT_MEAN, 1, 2, 3, -1, DT_OP_AVG);
ROWDEF(prod, DT_RED_PROD, RT_SUM, -1, -1, 1, -1, DT_OP_PRODUCT);
ROWDEF(prod_dim_int, DT_RED_PROD, RT_SUM, 1, 2, 3, -1, DT_OP_PRODUCT);
ROWDEF(amax, DT_RED_MAX, RT_SAME, 1, 2, -1, -1, DT_OP_MAX);
ROWDEF(amin, DT_RED_MIN, RT_SAME, 1, 2, -1, -1, DT_OP_MIN);
ROWDEF(max, DT_RED_MAX, RT_SAME, -1, -1, -1, -1, DT_OP_MAX);
ROWDEF(min, DT_RED_MIN, RT_SAME, -1, -1, -1, -1, DT_OP_MIN);
ROWDEF(any, DT_RED_ANY, RT_BOOL, -1, -1, -1, -1, DT_OP_SUM);
ROWDEF(any_dim, DT_RED_ANY, RT_BOOL, 1, 2, -1, -1, DT_OP_SUM);
ROWDEF(any_dims, DT_RED_ANY, RT_BOOL, 1, 2, -1, -1, DT_OP_SUM);
ROWDEF(all, DT_RED_ALL, RT_BOOL, -1, -1, -1, -1, DT_OP_PRODUCT);
ROWDEF(all_dim, DT_RED_ALL, RT_BOOL, 1, 2, -1, -1, DT_OP_PRODUCT);
ROWDEF(var_correction, DT_RED_VAR, RT_FLOAT, 1, 3, -1, 2, -1);
ROWDEF(std_correction, DT_RED_STD, RT_FLOAT, 1, 3, -1, 2, -1);
ROWDEF(logsumexp, DT_RED_LOGSUMEXP, RT_FLOAT, 1, 2, -1, -1, -1);
ROWDEF(linalg_vector_norm, DT_RED_NORM, RT_FLOAT, 2, 3, 4, 1, DT_OP_SUM);
ROWDEF(norm_Scalar, DT_RED_NORM, RT_FLOAT, -1, -1, -1, 1, DT_OP_SUM);

#define R(id, schema_, brief_, flags_, strat_, grad_, samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = flags_, \
    .meta = red_meta, .kernel = red_kernel, .strategy = strat_, \
    .grad = grad_, .samples = samples_, .row = row_##id }
#define ST red_strategy
#define SAVE DT_OP_SAVE_OUT
#define NG DT_OP_NOGRAD
#define DTYPE ", *, ScalarType? dtype=None) -> Tensor"
#define DIMS "int[1]? dim, bool keepdim=False"

R(sum, "sum(Tensor self" DTYPE, "Sum of all elements.", 0, ST, sum_grad,
  sum_samples);
R(sum_dim_IntList, "sum.dim_IntList(Tensor self, " DIMS DTYPE,
  "Sum over dims.", 0, ST, sum_grad, dim_samples);
R(mean, "mean(Tensor self" DTYPE, "Mean of all elements.", 0, ST, mean_grad,
  all_samples);
R(mean_dim, "mean.dim(Tensor self, " DIMS DTYPE, "Mean over dims.", 0, ST,
  mean_grad, dim_samples);
R(prod, "prod(Tensor self" DTYPE, "Product of all elements.", SAVE, ST,
  prod_grad, sum_samples);
R(prod_dim_int, "prod.dim_int(Tensor self, int dim, bool keepdim=False" DTYPE,
  "Product over a dim.", SAVE, ST, prod_grad, one_dim_samples);
R(amax, "amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
  "Largest element over dims.", SAVE, ST, amax_grad, dim_samples);
R(amin, "amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
  "Smallest element over dims.", SAVE, ST, amax_grad, dim_samples);
R(max, "max(Tensor self) -> Tensor", "Largest element.", SAVE, ST, max_grad,
  all_samples);
R(min, "min(Tensor self) -> Tensor", "Smallest element.", SAVE, ST, max_grad,
  all_samples);
R(any, "any(Tensor self) -> Tensor", "Is any element not zero?", NG, ST, NULL,
  bool_samples);
R(any_dim, "any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
  "Is any element along a dim not zero?", NG, ST, NULL, bool_dim_samples);
R(any_dims, "any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> "
  "Tensor", "Is any element over dims not zero?", NG, ST, NULL,
  bool_dims_samples);
R(all, "all(Tensor self) -> Tensor", "Is every element not zero?", NG, ST,
  NULL, bool_samples);
R(all_dim, "all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
  "Is every element along a dim not zero?", NG, ST, NULL, bool_dim_samples);
R(var_correction, "var.correction(Tensor self, int[1]? dim=None, *, "
  "Scalar? correction=None, bool keepdim=False) -> Tensor",
  "Variance over dims.", 0, ST, var_grad, spread_samples);
R(std_correction, "std.correction(Tensor self, int[1]? dim=None, *, "
  "Scalar? correction=None, bool keepdim=False) -> Tensor",
  "Standard deviation over dims.", SAVE, ST, std_grad, spread_samples);
R(logsumexp, "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
  "log of the sum of exponentials.", SAVE, ST, logsumexp_grad, dim_samples);
R(linalg_vector_norm, "linalg_vector_norm(Tensor self, Scalar ord=2, "
  "int[1]? dim=None, bool keepdim=False" DTYPE, "Norm over dims.", SAVE,
  norm_strategy, norm_grad, vnorm_samples);
R(norm_Scalar, "norm.Scalar(Tensor self, Scalar p=2) -> Tensor",
  "Norm of all elements.", SAVE, norm_strategy, norm_grad, norm_samples);

/* Dispatched and differentiated as one; placements are those of the norm. */
static const char *const norm_dim_samples[] = { "f32[8, 6], 2.0, [1]", NULL };
static DtStatus norm_dim_decomp (DtDecompCall *c) {
  DtDtype t = (DtDtype)dt_emit_meta(c->e, c->in[0])->dtype;
  DT_CHECK_SAY(c->e->cx, c->e->tracing || !dt_dtype_is_integral(t, true),
               DT_E_RUNTIME, NORM_INTS, op_dtype_word(t));
  return op_d_program(c);
}
const DtOpDef dt_op_norm_ScalarOpt_dim = {
  .schema = "aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool "
            "keepdim=False) -> Tensor",
  .brief = "Vector norm over dims.", .flags = SAVE, .decomp = norm_dim_decomp,
  .program = "linalg_vector_norm(self, p, dim, keepdim)", .grad = norm_grad,
  .samples = norm_dim_samples, .row = row_linalg_vector_norm };

/* The same in PyTorch's namespace prims: no promotion, no gradient. */
ROWDEF(prims_sum, DT_RED_SUM, RT_SAME, 1, -1, 2, -1, DT_OP_SUM);
ROWDEF(prims_prod, DT_RED_PROD, RT_SAME, 1, -1, 2, -1, DT_OP_PRODUCT);
ROWDEF(prims_var, DT_RED_VAR, RT_FLOAT, 1, -1, 3, 2, -1);
static const char *const prims_samples[] = { "f32[8, 6], [0]",
                                             "f32[7, 5], [0, 1]", NULL };
#define PR(id, args_, brief_) \
  const DtOpDef dt_op_prims_##id = { \
    .schema = "prims::" #id "(Tensor inp, int[]? dims, " args_ \
              "*, ScalarType? output_dtype=None) -> Tensor", \
    .brief = brief_, .flags = NG, .meta = red_meta, .kernel = red_kernel, \
    .strategy = ST, .samples = prims_samples, .row = row_prims_##id }
PR(sum, "", "Sum over dims.");
PR(prod, "", "Product over dims.");
PR(var, "float? correction=1, ", "Variance over dims.");
