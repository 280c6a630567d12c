/* SPDX-License-Identifier: MIT
** oplib/op_like.c: copies, casts, fills, aliases, and tensors made like
** another one.
**
** Shape follows the input (or a size argument); sharding mostly follows it
** too: partial sums become replicated where the new values do not depend on
** the old (ones_like of P is 1 everywhere, not 1 per rank). */
#include "oplib/fill.h"
#include "oplib/op_unwritten.h"

#include <math.h>
#include <string.h>


static DtStatus pass_grad (DtGradCall *c) {
  op_g_set(c, 0, GOUT);
  return op_g_finish(c);
}

/* Argument index of a keyword, -1. */
static int kw (const DtArgs *a, const char *name) {
  return a->schema ? dt_schema_arg(a->schema, name) : -1;
}
static DtDtype kw_dtype (const DtArgs *a, DtDtype dflt) {
  int i = kw(a, "dtype");
  return i < 0 ? dflt : op_dtype_or(a, i, dflt);
}
static void kw_device (const DtArgs *a, DtMeta *m) {
  int i = kw(a, "device");
  if (i >= 0 && !dt_arg_is_none(a, i)) m->device = (uint8_t)a->v[i].u.i;
}
/* Does the call ask for contiguous strides (memory format 0)? */
static bool kw_contiguous (const DtArgs *a) {
  int i = kw(a, "memory_format");
  return i >= 0 && a->v[i].kind == DT_V_MEMFMT && a->v[i].u.i == 0;
}

/* Strides of memory format 2, channels last: N H W C of an N C H W tensor. */
static void kw_channels_last (const DtArgs *a, DtMeta *m) {
  static const int order[] = { 1, 3, 2, 0 };
  int i = kw(a, "memory_format");
  int64_t step = 1;
  if (i < 0 || a->v[i].kind != DT_V_MEMFMT || a->v[i].u.i != 2 ||
      m->ndim != 4)
    return;
  for (int k = 0; k < 4; k++) {
    m->stride[order[k]] = step;
    step *= m->shape[order[k]];
  }
}

/* ---- metas ---- */

static DtStatus like_meta (DtMetaCall *c) {
  DtMeta *o = &c->out[0];
  const DtMeta *m = dt_in(c, 0);        /* in lists: one of many inputs */
  op_like_meta(o, m, kw_dtype(c->args, (DtDtype)m->dtype));
  if (dt_meta_numel(m) > 0 && dt_meta_is_dense(m))
    memcpy(o->stride, m->stride, sizeof o->stride);   /* dims of 1, too */
  if (kw_contiguous(c->args)) dt_meta_set_contiguous(o);
  kw_channels_last(c->args, o);
  kw_device(c->args, o);
  c->nout = 1;
  return DT_OK;
}

static DtStatus contiguous_meta (DtMetaCall *c) {
  int i = kw(c->args, "memory_format");
  DT_CHECK(c->cx, i < 0 || c->args->v[i].kind != DT_V_MEMFMT ||
           c->args->v[i].u.i != 1, DT_E_RUNTIME, "preserve memory format is "
           "unsupported by the contiguous operator");
  DT_TRY(c->cx, op_meta_alias(c));
  c->out[0].wrapped = false;
  if (!dt_meta_is_contiguous(c->in[0])) dt_meta_set_contiguous(&c->out[0]);
  kw_channels_last(c->args, &c->out[0]);
  return DT_OK;
}

static DtStatus new_meta (DtMetaCall *c) {
  int64_t shape[DT_MAX_NDIM], stride[DT_MAX_NDIM];
  int n = op_ints(c->args, 1, shape);
  DtMeta *o = &c->out[0];
  DT_TRY(c->cx, op_new_meta(c->cx, o,
                            kw_dtype(c->args, (DtDtype)c->in[0]->dtype), n,
                            shape, c->in[0]));
  kw_device(c->args, o);
  if (kw(c->args, "stride") == 2) {
    int k = op_ints(c->args, 2, stride);
    DT_CHECK(c->cx, k == n, DT_E_RUNTIME,
             "dimensionality of sizes (%d) must match dimensionality of "
             "strides (%d)", n, k);
    memcpy(o->stride, stride, sizeof(int64_t) * (size_t)n);
  }
  c->nout = 1;
  return DT_OK;
}

static DtStatus copy__meta (DtMetaCall *c) {
  DtMeta r;
  const DtMeta *a = dt_in(c, 0), *b = dt_in(c, 1);
  DT_CHECK(c->cx, a != NULL, DT_E_LIMIT,
           "copy_ into a number: give a tensor instead");
  if (b) {
    OpText want = op_shape_text(a);
    DT_TRY(c->cx, dt_meta_broadcast(c->cx, a, b, &r));
    OpText got = op_shape_text(&r);
    DT_CHECK(c->cx, dt_meta_same_shape(&r, a), DT_E_RUNTIME,
             "output with shape %s doesn't match the broadcast shape %s",
             want.s, got.s);
  }
  return op_meta_inplace(c);
}

static DtStatus native_dropout_meta (DtMetaCall *c) {
  op_like_meta(&c->out[0], c->in[0], (DtDtype)c->in[0]->dtype);
  op_like_meta(&c->out[1], c->in[0], DT_BOOL);
  c->nout = 2;
  return DT_OK;
}

/* ---- kernels ---- */

/* The number a filled tensor gets: in the row, or argument `row` names. */
enum { FILL_ZERO, FILL_ONE, FILL_ARG1, FILL_ARG2, FILL_NONE };
static const int row_zero[] = { FILL_ZERO }, row_one[] = { FILL_ONE },
                 row_arg1[] = { FILL_ARG1 }, row_arg2[] = { FILL_ARG2 },
                 row_none[] = { FILL_NONE };

static DtStatus fill_kernel (DtKernelCall *c) {
  int at = c->op->row[0] == FILL_ARG1 ? 1 : c->op->row[0] == FILL_ARG2 ? 2 : 0;
  if (at)
    DT_TRY(c->cx, op_number_fills(c->cx, dt_arg_scalar(c->args, at), c->out[0]));
  switch (c->op->row[0]) {
    case FILL_ZERO: return dt_k_fill(c->cx, c->out[0], dt_scalar_int(0));
    case FILL_ONE: return dt_k_fill(c->cx, c->out[0], dt_scalar_int(1));
    case FILL_ARG1:
      return dt_k_fill(c->cx, c->out[0], dt_arg_scalar(c->args, 1));
    case FILL_ARG2:
      return dt_k_fill(c->cx, c->out[0], dt_arg_scalar(c->args, 2));
    default: return DT_OK;
  }
}

static DtStatus fill_tensor_kernel (DtKernelCall *c) {
  if (dt_arg_is_number(c->args, 1))
    return dt_k_fill(c->cx, c->out[0], dt_arg_scalar(c->args, 1));
  DT_CHECK(c->cx, dt_kin(c, 1)->m.ndim == 0, DT_E_RUNTIME, "fill_ only "
           "supports 0-dimension value tensor but got tensor with %d "
           "dimensions.", (int)dt_kin(c, 1)->m.ndim);
  return dt_k_copy(c->cx, dt_kin(c, 1), c->out[0]);
}

static DtStatus copy__kernel (DtKernelCall *c) {
  if (dt_arg_is_number(c->args, 1))
    return dt_k_fill(c->cx, c->out[0], dt_arg_scalar(c->args, 1));
  return dt_k_copy(c->cx, dt_kin(c, 1), c->out[0]);
}

static DtStatus need_rng (DtKernelCall *c) {
  DT_ASSERT(c->cx, c->rng);
  return DT_OK;
}

static DtStatus rand_kernel (DtKernelCall *c) {
  DT_TRY(c->cx, need_rng(c));
  DT_TRY(c->cx, op_kernel_allows(c->cx, NULL, "uniform_",
                                 (DtDtype)c->out[0]->m.dtype, false));
  return dt_k_uniform(c->cx, c->out[0], c->rng, 0, 1);
}
static DtStatus randn_kernel (DtKernelCall *c) {
  DT_TRY(c->cx, need_rng(c));
  DT_TRY(c->cx, op_kernel_allows(c->cx, NULL, "normal_",
                                 (DtDtype)c->out[0]->m.dtype, false));
  return dt_k_normal(c->cx, c->out[0], c->rng, 0, 1);
}
/* mask = keep, out = input * (mask / (1 - p)) */
static DtStatus native_dropout_kernel (DtKernelCall *c) {
  double p = dt_arg_float(c->args, 1);
  bool train = dt_arg_is_none(c->args, 2) || dt_arg_bool(c->args, 2);
  DtDtype t = (DtDtype)c->in[0]->m.dtype;
  DtScalar par[4];
  memset(par, 0, sizeof par);
  if (!train || p == 0) {
    DT_TRY(c->cx, dt_k_fill(c->cx, c->out[1], dt_scalar_int(1)));
    return op_k_copy0(c);
  }
  if (p == 1) {
    DT_TRY(c->cx, dt_k_fill(c->cx, c->out[1], dt_scalar_int(0)));
    return dt_k_fill(c->cx, c->out[0], dt_scalar_int(0));
  }
  DT_CHECK(c->cx, p >= 0 && p <= 1, DT_E_RUNTIME,
           "bernoulli_ expects p to be in [0, 1], but got p=%g", 1 - p);
  DT_CHECK(c->cx, !dt_dtype_is_integral(t, true), DT_E_RUNTIME,
           "result type Float can't be cast to the desired output type %s",
           dt_dtype_word(t));
  DT_TRY(c->cx, need_rng(c));
  DT_TRY(c->cx, dt_k_bernoulli(c->cx, c->out[1], c->rng, 1 - p));
  par[0] = dt_scalar_float(op_held(t, 1 / (1 - p)));
  return dt_k_ternary(c->cx, DT_T3_dropout_backward,
                      (DtDtype)c->in[0]->m.dtype, par, c->in[0], c->out[1],
                      c->out[1], c->out[0]);
}

static DtStatus dropout_backward_kernel (DtKernelCall *c) {
  DtScalar par[4];
  memset(par, 0, sizeof par);
  par[0] = dt_arg_scalar(c->args, 2);
  return dt_k_ternary(c->cx, DT_T3_dropout_backward,
                      (DtDtype)c->out[0]->m.dtype, par, c->in[0], c->in[1],
                      c->in[1], c->out[0]);
}

/* Gradient and mask broadcast. */
static DtStatus dropout_backward_meta (DtMetaCall *c) {
  OpOperand o[2] = { { .m = c->in[0] }, { .m = c->in[1] } };
  DtDtype t = op_promote(c->cx, 2, o);
  DT_TRY(c->cx, op_promotable(c->cx, 2, o));
  c->nout = 1;
  if (dt_dtype_is_integral(t, true)) t = (DtDtype)OP_DEFAULT_FLOAT;
  return op_broadcast(c->cx, 2, o, t, &c->out[0]);
}

/* ---- sharding ---- */

/* Everything passes, partials included; also a list of placements that is
** longer or shorter than the mesh. */
static DtStatus pass_strategy (DtStratCall *c) {
  const DtSpec *s = c->in[0];
  if (c->nin == 1 && c->nout == 1 && s->npl != c->mesh->ndim)
    return dt_strat_add(c, s->pl, s->pl, 0);
  return op_s_one(c, c->in[0]->pl, c->in[0]->pl, NAN);
}

/* The output follows, its partials replicated; the input stays. */
static DtStatus like_strategy (DtStratCall *c) {
  DtPlacement out[OP_MAXPL];
  op_s_follow(c, 0, 0, true, out);
  return op_s_one(c, out, c->in[0]->pl, NAN);
}

/* new_*: replicated, or as the input when shapes agree (and that wins). */
static DtStatus new_strategy (DtStratCall *c) {
  DtPlacement r[OP_MAXPL];
  const DtSpec *s = c->in[0];
  int64_t shape[DT_MAX_NDIM];
  int n = op_ints(c->args, 1, shape);
  bool same = n == s->meta.ndim, blank = c->op->row[0] == FILL_NONE;
  for (int i = 0; i < c->mesh->ndim; i++) r[i] = dt_pl_replicate();
  DT_TRY(c->cx, dt_strat_add(c, r, s->pl, 0));
  for (int i = 0; i < n && same; i++) same = shape[i] == s->meta.shape[i];
  if (same && (blank || dt_spec_is_sharded(s)))
    DT_TRY(c->cx, dt_strat_add(c, s->pl, s->pl, -0.1));
  return DT_OK;
}

static DtStatus new_strided_rewrite (DtRewriteCall *c) {
  int64_t shape[DT_MAX_NDIM], stride[DT_MAX_NDIM];
  int n;
  const DtSpec *s = c->out[0];
  if (!s || !dt_spec_is_sharded(s)) return DT_OK;
  DT_TRY(c->cx, dt_layout_local(c->cx, s, NULL, shape, NULL, &n));
  dt_layout_local_stride(&s->meta, shape, stride);
  DT_TRY(c->cx, op_rw_set_ints(c, 1, n, shape));
  return op_rw_set_ints(c, 2, s->meta.ndim, stride);
}

/* Does a partial of `op` survive the cast? */
static bool cast_commutes (DtRedOp op, DtDtype from, DtDtype to) {
  if (from == to) return true;
  if (to == DT_BOOL) return false;
  if (op == DT_OP_MAX || op == DT_OP_MIN) return true;
  return !(dt_dtype_is_float(from) && !dt_dtype_is_float(to));
}

static DtStatus to_copy_rules (DtRuleCall *c) {
  static const DtRedOp ops[] = { DT_OP_SUM, DT_OP_AVG, DT_OP_MIN, DT_OP_MAX,
                                 DT_OP_PRODUCT };
  DtDtype from = (DtDtype)c->in[0]->dtype, to = kw_dtype(c->args, from);
  for (int d = 0; d < c->in[0]->ndim; d++) {
    DtCell row[2] = { dt_c_s(d), dt_c_s(d) };
    dt_rows_add(c->rows, row);
  }
  for (int i = 0; i < 5; i++) {
    DtCell row[2] = { dt_c_p(ops[i]), dt_c_p(ops[i]) };
    if (cast_commutes(ops[i], from, to)) dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

/* ---- composites and gradients ---- */

static DtStatus to_decomp (DtDecompCall *c) {
  DtDtype t = DT_DTYPE_NONE;
  int from = kw(c->args, "dtype"), copy = kw(c->args, "copy");
  const DtMeta *m = dt_emit_meta(c->e, c->in[0]);
  if (from >= 0) t = dt_arg_dtype(c->args, from);
  else if (c->nin > 1) t = (DtDtype)dt_emit_meta(c->e, c->in[1])->dtype;
  c->nout = 1;
  c->out[0] = c->in[0];
  if (m->dtype != t || (copy >= 0 && dt_arg_bool(c->args, copy)))
    c->out[0] = EMIT("aten._to_copy.default", "t dtype=d", c->in[0], (int)t);
  return c->e->st;
}

/* contiguous(): itself, or a contiguous clone. */
static DtStatus contiguous_decomp (DtDecompCall *c) {
  DtValue f = dt_v_none();
  int at = kw(c->args, "memory_format");
  bool given = at >= 0 && c->args->v[at].kind == DT_V_MEMFMT;
  f.kind = DT_V_MEMFMT;
  f.u.i = given ? c->args->v[at].u.i : 0;
  DT_CHECK(c->e->cx, f.u.i != 1, DT_E_RUNTIME, "preserve memory format is "
           "unsupported by the contiguous operator");
  c->nout = 1;
  c->out[0] = c->in[0];
  if (f.u.i != 0) {
    c->out[0] = EMIT("aten.clone.default", "t memory_format=v", c->in[0], f);
    return c->e->st;
  }
  if (!dt_meta_is_contiguous(dt_emit_meta(c->e, c->in[0])))
    c->out[0] = EMIT("aten.clone.default", "t memory_format=v", c->in[0], f);
  return c->e->st;
}

/* Back to the operand's dtype, though its leaf may want another. */
static DtStatus to_copy_grad (DtGradCall *c) {
  DtDtype t = (DtDtype)dt_emit_meta(c->e, c->in[0])->dtype;
  DtHandle *g = GOUT;
  if (g != NULL && (DtDtype)dt_emit_meta(c->e, g)->dtype != t)
    g = EMIT("aten._to_copy.default", "t dtype=d", g, (int)t);
  op_g_set(c, 0, g);
  return op_g_finish(c);
}

/* dropout as autograd sees it: a scaled mask, and a product. */
static DtStatus dropout_decomp (DtDecompCall *c) {
  double p = dt_arg_float(c->args, 1);
  bool train = dt_arg_bool(c->args, 2);
  c->nout = 1;
  c->out[0] = c->in[0];
  if (c->e->tracing) {          /* propagation decomposes it another way */
    c->out[0] = train && p != 0
                ? EMIT("aten.native_dropout.default", "tfb", c->in[0], p, 1)
                : EMIT("aten.clone.default", "t", c->in[0]);
    return c->e->st;
  }
  if (p == 0 || !train || dt_meta_numel(dt_emit_meta(c->e, c->in[0])) == 0)
    return c->e->st;
  if (p == 1) {
    DtHandle *z = EMIT("aten.zeros_like.default", "t", c->in[0]);
    c->out[0] = EMIT("aten.mul.Tensor", "tt", c->in[0], z);
    return c->e->st;
  }
  DtHandle *n = EMIT("aten.empty_like.default", "t", c->in[0]);
  n = EMIT("aten.bernoulli_.float", "tf", n, 1 - p);
  n = EMIT("aten.div_.Scalar", "tf", n, 1 - p);
  c->out[0] = EMIT("aten.mul.Tensor", "tt", c->in[0], n);
  return c->e->st;
}

static DtStatus copy__grad (DtGradCall *c) {
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.zeros_like.default", "t", GOUT));
  op_g_set(c, 1, GOUT);
  return op_g_finish(c);
}

static DtStatus fill_tensor_grad (DtGradCall *c) {
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.zeros_like.default", "t", GOUT));
  if (op_g_need(c, 1)) op_g_set(c, 1, EMIT("aten.sum.default", "t", GOUT));
  return op_g_finish(c);
}

static DtStatus native_dropout_grad (DtGradCall *c) {
  double p = dt_arg_float(c->args, 1);
  bool train = dt_arg_is_none(c->args, 2) || dt_arg_bool(c->args, 2);
  double scale = p == 1 ? 0 : !train ? 1 : 1 / (1 - p);
  op_g_set(c, 0, EMIT("aten.native_dropout_backward.default", "ttf", GOUT,
                      c->out[1], scale));
  return op_g_finish(c);
}

/* The mask in the gradient's type, scaled once more. */
static DtStatus dropout_backward_grad (DtGradCall *c) {
  const DtMeta *m = dt_emit_meta(c->e, GOUT);
  DtHandle *h = EMIT("aten._to_copy.default", "t dtype=d", TENSOR(1),
                     m ? (int)m->dtype : 0);
  h = EMIT("aten.mul.Scalar", "tv", h, ARG(2));
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", GOUT, h));
  return op_g_finish(c);
}

/* ---- samples ---- */

static const char *const to_samples[] = {
  "f32[8, 6], dtype=f64", "f32[7], dtype=i64", "i64[1], dtype=f32",
  "f32[0, 4], dtype=bf16", "f32[], dtype=f16", NULL
};
static const char *const to_dtype_samples[] = {
  "f32[8, 6], f64", "f32[7], f32", "i64[0], f32", "f32[], bf16", NULL
};
static const char *const to_other_samples[] = {
  "f32[8, 6], f64[2]", "f32[7], f32[1]", NULL
};
static const char *const full_like_samples[] = {
  "f32[8, 6], 2.5", "i64[7], 3", "f32[0, 4], 1", "f32[], -1.0", NULL
};
static const char *const copy__samples[] = {
  "f32[8, 6], f32[8, 6]", "f32[7, 5], f32[5]", "f32[1], f64[1]",
  "f32[0, 4], f32[4]", "f32[], f32[]", NULL
};
static const char *const fill__samples[] = {
  "f32[8, 6], 2.0", "i64[7], 3", "f32[0, 4], 1", "f32[], -1.0", NULL
};
static const char *const fill__tensor_samples[] = {
  "f32[8, 6], f32[]", "i64[7], i64[]", NULL
};
static const char *const new_samples[] = {
  "f32[8, 6], [8, 6]", "f32[7], [3, 2]", "f32[0, 4], [4]", "f32[], []", NULL
};
static const char *const new_full_samples[] = {
  "f32[8, 6], [8, 6], 2.0", "f32[7], [3, 2], 1", "f32[], [], 0", NULL
};
static const char *const new_strided_samples[] = {
  "f32[8, 6], [8, 6], [1, 8]", "f32[7], [3, 2], [2, 1]", NULL
};
static const char *const random_samples[] = {
  "f32[8, 6]", "f32[7]", "f32[0, 4]", "f64[1]", "f32[]", NULL
};
static const char *const dropout_samples[] = {
  "f32[8, 6], 0.3, true", "f32[7], 0.5, false", "f32[0, 4], 0.5, true",
  "f32[], 0.0, true", NULL
};
static const char *const dropout_back_samples[] = {
  "f32[8, 6], bool[8, 6], 2.0", "f32[7], bool[7], 1.5", "f32[0], bool[0], 1.0",
  NULL
};

/* ---- definitions ---- */

#define LIKE_ARGS "ScalarType? dtype=None, Layout? layout=None, " \
                  "Device? device=None, bool? pin_memory=None"
#define LIKE(id, head_, brief_, flags_, ...) \
  LIKE_G(id, head_, brief_, (flags_) | DT_OP_NOGRAD, NULL, __VA_ARGS__)
#define LIKE_G(id, head_, brief_, flags_, grad_, kernel_, strat_, samples_, \
               row_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" head_ ", *, " LIKE_ARGS ", " \
              "MemoryFormat? memory_format=None) -> Tensor", \
    .brief = brief_, .flags = DT_OP_NODATA | (flags_), .grad = grad_, \
    .meta = like_meta, .kernel = kernel_, .strategy = strat_, \
    .samples = samples_, .row = row_ }
LIKE(ones_like, "ones_like(Tensor self", "Ones of a tensor's shape.", 0,
     fill_kernel, like_strategy, op_samples_unary, row_one);
LIKE(zeros_like, "zeros_like(Tensor self", "Zeros of a tensor's shape.", 0,
     fill_kernel, like_strategy, op_samples_unary, row_zero);
LIKE(empty_like, "empty_like(Tensor self",
     "A tensor of the same shape, values not set.", 0, fill_kernel,
     pass_strategy, op_samples_unary, row_none);
LIKE(full_like, "full_like(Tensor self, Scalar fill_value",
     "One number in a tensor's shape.", 0, fill_kernel, like_strategy,
     full_like_samples, row_arg1);
LIKE(rand_like, "rand_like(Tensor self",
     "Uniform random numbers in a tensor's shape.", DT_OP_RANDOM, rand_kernel,
     like_strategy, random_samples, row_none);
LIKE(randn_like, "randn_like(Tensor self",
     "Normal random numbers in a tensor's shape.", DT_OP_RANDOM, randn_kernel,
     like_strategy, random_samples, row_none);

/* randint_like: up to `high`, or from `low`. */
static const int row_high[] = { 1 }, row_low[] = { 2 };
static DtStatus randint_like_kernel (DtKernelCall *c) {
  int at = c->op->row[0];
  DT_TRY(c->cx, need_rng(c));
  DT_TRY(c->cx, op_randint(c->cx, c->out[0], c->rng,
                           at == 2 ? dt_arg_int(c->args, 1) : 0,
                           dt_arg_int(c->args, at)));
  return DT_OK;
}
/* PyTorch's pretend kernel of the out= form takes no `out`; later it was not
** asked. */
static DtStatus randint_out_meta (DtMetaCall *c) {
  DT_CHECK(c->cx, !c->fake || (c->op->flags & DT_OP_LATER) != 0,
           DT_E_RUNTIME, "aten::randint_like() expected at most 5 argument(s) but "
           "received 6 argument(s). Declaration: %s",
           c->op->schema);
  return like_meta(c);
}
static const char *const high_samples[] = { "f32[8, 6], 5", "i64[7], 3",
                                            NULL };
static const char *const low_samples[] = { "f32[8, 6], 2, 5", "i64[7], 1, 3",
                                           NULL };
LIKE_G(randint_like, "randint_like(Tensor self, SymInt high",
     "Random integers in a tensor's shape.", DT_OP_RANDOM, op_g_absent,
     randint_like_kernel, like_strategy, high_samples, row_high);
LIKE_G(randint_like_low_dtype,
     "randint_like.low_dtype(Tensor self, SymInt low, SymInt high",
     "Random integers of a range in a tensor's shape.", DT_OP_RANDOM,
     op_g_absent, randint_like_kernel, like_strategy, low_samples, row_low);
static const char *const low_out_samples[] = {
  "f32[8, 6], 2, 5, out=f32[8, 6]", "i64[7], 1, 3, out=i64[7]", NULL
};
const DtOpDef dt_op_randint_like_low_dtype_out = {
  .schema = "aten::randint_like.low_dtype_out(Tensor self, SymInt low, SymInt "
            "high, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> "
            "Tensor(a!)",
  .brief = "Random integers of a range, into a tensor.",
  .flags = DT_OP_NODATA | DT_OP_NOGRAD | DT_OP_RANDOM | DT_OP_OUT,
  .meta = randint_out_meta, .kernel = randint_like_kernel,
  .strategy = like_strategy, .samples = low_out_samples, .row = row_low
};

#define NEW(id, head_, brief_, samples_, row_, rewrite_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" head_ ", *, " LIKE_ARGS ") -> Tensor", \
    .brief = brief_, .flags = DT_OP_NODATA | DT_OP_NOGRAD, \
    .meta = new_meta, .kernel = fill_kernel, .strategy = new_strategy, \
    .rewrite = rewrite_, .samples = samples_, .row = row_ }
NEW(new_zeros, "new_zeros(Tensor self, SymInt[] size",
    "Zeros with a tensor's type and device.", new_samples, row_zero,
    op_rw_shape1);
NEW(new_ones, "new_ones(Tensor self, SymInt[] size",
    "Ones with a tensor's type and device.", new_samples, row_one,
    op_rw_shape1);
NEW(new_empty, "new_empty(Tensor self, SymInt[] size",
    "A tensor with another's type and device, values not set.", new_samples,
    row_none, op_rw_shape1);
NEW(new_full, "new_full(Tensor self, SymInt[] size, Scalar fill_value",
    "One number with a tensor's type and device.", new_full_samples, row_arg2,
    op_rw_shape1);
NEW(new_empty_strided,
    "new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride",
    "new_empty with given strides.", new_strided_samples, row_none,
    new_strided_rewrite);

const DtOpDef dt_op__to_copy = {
  .schema = "aten::_to_copy(Tensor self, *, " LIKE_ARGS ", "
            "bool non_blocking=False, MemoryFormat? memory_format=None) -> "
            "Tensor",
  .brief = "A copy with another type.", .flags = DT_OP_UNEVEN,
  .meta = like_meta, .kernel = op_k_copy0, .rulefn = to_copy_rules,
  .grad = to_copy_grad, .samples = to_samples
};

/* Into out=: converted to its type, also where it has it; a format asked for is
** one more copy. */
static DtStatus to_copy_out_decomp (DtDecompCall *c) {
  DtHandle *out = c->in[dt_arg_slot(c->args, 3)];
  DtHandle *h = EMIT("prims.convert_element_type.default", "td", c->in[0],
                     (int)dt_emit_meta(c->e, out)->dtype);
  if (!dt_arg_is_none(c->args, 2))
    h = EMIT("aten.clone.default", "t memory_format=v", h, c->args->v[2]);
  c->out[0] = EMIT("aten.copy_.default", "tt", out, h);
  c->nout = 1;
  return c->e->st;
}

/* ones_like and zeros_like into out=: a number everywhere, in its type. */
static DtStatus like_out_decomp (DtDecompCall *c) {
  DtHandle *out = c->in[dt_arg_slot(c->args, 2)];
  DtHandle *h = EMIT("aten.full_like.default", "ti dtype=d memory_format=v",
                     c->in[0], (int64_t)c->op->row[0],
                     (int)dt_emit_meta(c->e, out)->dtype, c->args->v[1]);
  c->out[0] = EMIT("aten.copy_.default", "tt", out, h);
  c->nout = 1;
  return c->e->st;
}
static const int row_ones[] = { 1 }, row_zeros[] = { 0 };
static const char *const to_out_samples[] = { "f32[8, 6], out=f32[8, 6]",
                                              NULL };
const DtOpDef dt_op__to_copy_out = {
  .schema = "aten::_to_copy.out(Tensor self, *, bool non_blocking=False, "
            "MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)",
  .brief = "A copy, in another type.", .decomp = to_copy_out_decomp,
  .samples = to_out_samples
};
const DtOpDef dt_op_ones_like_out = {
  .schema = "aten::ones_like.out(Tensor self, *, MemoryFormat? "
            "memory_format=None, Tensor(a!) out) -> Tensor(a!)",
  .brief = "Ones into a tensor.", .decomp = like_out_decomp, .row = row_ones,
  .samples = to_out_samples
};
const DtOpDef dt_op_zeros_like_out = {
  .schema = "aten::zeros_like.out(Tensor self, *, MemoryFormat? "
            "memory_format=None, Tensor(a!) out) -> Tensor(a!)",
  .brief = "Zeros into a tensor.", .decomp = like_out_decomp,
  .row = row_zeros, .samples = to_out_samples
};
const DtOpDef dt_op_to_dtype = {
  .schema = "aten::to.dtype(Tensor(a) self, ScalarType dtype, bool "
            "non_blocking=False, bool copy=False, MemoryFormat? "
            "memory_format=None) -> Tensor(a)",
  .brief = "The tensor with another type, itself when it has it.",
  .flags = DT_OP_COMPOSITE | DT_OP_POINTWISE | DT_OP_UNEVEN,
  .pw = DT_PW_COPY, .meta = like_meta, .kernel = op_k_copy0,
  .decomp = to_decomp, .samples = to_dtype_samples
};
const DtOpDef dt_op_to_other = {
  .schema = "aten::to.other(Tensor(a) self, Tensor other, bool "
            "non_blocking=False, bool copy=False, MemoryFormat? "
            "memory_format=None) -> Tensor(a)",
  .brief = "The tensor with the type of another.",
  .flags = DT_OP_COMPOSITE, .meta = like_meta, .kernel = op_k_copy0,
  .decomp = to_decomp, .samples = to_other_samples
};
const DtOpDef dt_op_clone = {
  .schema = "aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> "
            "Tensor",
  .brief = "A copy.", .doc = "A partial sum is reduced first.",
  .flags = DT_OP_POINTWISE | DT_OP_UNEVEN, .meta = like_meta,
  .kernel = op_k_copy0, .grad = pass_grad, .samples = op_samples_unary
};
static const int row_copy[] = { 0 };
static DtStatus fresh_meta (DtMetaCall *c) {
  DT_TRY(c->cx, op_meta_same(c));
  dt_meta_set_contiguous(&c->out[0]);
  return DT_OK;
}
const DtOpDef dt_op_lift_fresh_copy = {
  .schema = "aten::lift_fresh_copy(Tensor self) -> Tensor",
  .brief = "A contiguous copy.", .flags = DT_OP_NOSTRATEGY,
  .meta = fresh_meta, .kernel = op_k_copy0, .grad = pass_grad,
  .samples = op_samples_unary, .row = row_copy
};
const DtOpDef dt_op_contiguous = {
  .schema = "aten::contiguous(Tensor(a) self, *, MemoryFormat "
            "memory_format=0) -> Tensor(a)",
  .brief = "The tensor with row-major strides, copied when needed.",
  .flags = DT_OP_COMPOSITE, .meta = contiguous_meta, .kernel = op_k_copy0,
  .strategy = pass_strategy, .decomp = contiguous_decomp, .grad = pass_grad,
  .samples = op_samples_unary
};

#define SAME(id, schema_, brief_, flags_, grad_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, \
    .flags = DT_OP_VIEW | (flags_), .meta = op_meta_alias, \
    .strategy = pass_strategy, .grad = grad_, .samples = op_samples_unary }
SAME(alias, "alias(Tensor(a) self) -> Tensor(a)", "The same tensor again.", 0,
     pass_grad);
SAME(detach, "detach(Tensor(a) self) -> Tensor(a)",
     "The same tensor without history.", DT_OP_NOGRAD, NULL);

const DtOpDef dt_op_copy_ = {
  .schema = "aten::copy_(Tensor(a!) self, Tensor src, bool "
            "non_blocking=False) -> Tensor(a!)",
  .brief = "Elements overwritten by another tensor's.",
  .flags = DT_OP_POINTWISE | DT_OP_UNEVEN | DT_OP_INPLACE | DT_OP_ALIAS_SAFE,
  .pw = DT_PW_COPY_, .meta = copy__meta, .kernel = copy__kernel,
  .grad = copy__grad, .samples = copy__samples
};
const DtOpDef dt_op_fill__Scalar = {
  .schema = "aten::fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)",
  .brief = "Every element set to a number.",
  .doc = "A partial tensor keeps its placement: the value is reduced later.",
  .flags = DT_OP_INPLACE | DT_OP_ALIAS_SAFE, .meta = op_meta_inplace,
  .kernel = fill_kernel, .strategy = pass_strategy, .grad = op_g_zeros,
  .samples = fill__samples, .row = row_arg1
};
const DtOpDef dt_op_fill__Tensor = {
  .schema = "aten::fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)",
  .brief = "Every element set to a 0-dim tensor's value.",
  .flags = DT_OP_NOSTRATEGY | DT_OP_INPLACE | DT_OP_ALIAS_SAFE,
  .meta = op_meta_inplace, .kernel = fill_tensor_kernel,
  .grad = fill_tensor_grad, .samples = fill__tensor_samples
};
const DtOpDef dt_op_zero_ = {
  .schema = "aten::zero_(Tensor(a!) self) -> Tensor(a!)",
  .brief = "Every element set to 0.",
  .flags = DT_OP_INPLACE | DT_OP_ALIAS_SAFE, .meta = op_meta_inplace,
  .kernel = fill_kernel, .strategy = pass_strategy, .grad = op_g_zeros,
  .samples = op_samples_unary, .row = row_zero
};

const DtOpDef dt_op_zero = {
  .schema = "aten::zero(Tensor self) -> Tensor",
  .brief = "Zeros of a tensor's shape and type.",
  .doc = "Placed as zeros_like; list forms are pointwise.",
  .flags = DT_OP_ALIAS_SAFE, .meta = like_meta, .kernel = fill_kernel,
  .decomp = op_d_program, .program = "zeros_like(self)", .grad = op_g_zeros,
  .samples = op_samples_unary, .row = row_zero
};

#define RANDOM(id, schema_, brief_, flags_, meta_, kernel_, grad_, samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, \
    .flags = DT_OP_RANDOM | DT_OP_UNEVEN | (flags_), .meta = meta_, \
    .kernel = kernel_, .rulefn = op_r_fill, .grad = grad_, \
    .samples = samples_ }
RANDOM(native_dropout, "native_dropout(Tensor input, float p, bool? train) -> "
       "(Tensor, Tensor)", "Dropout and the mask it used.", DT_OP_SAVE_OUT,
       native_dropout_meta, native_dropout_kernel, native_dropout_grad,
       dropout_samples);

const DtOpDef dt_op_native_dropout_backward = {
  .schema = "aten::native_dropout_backward(Tensor grad_output, Tensor mask, "
            "float scale) -> Tensor",
  .brief = "Gradient of native_dropout.",
  .flags = DT_OP_POINTWISE | DT_OP_UNEVEN, .grad = dropout_backward_grad,
  .meta = dropout_backward_meta, .kernel = dropout_backward_kernel,
  .samples = dropout_back_samples
};
const DtOpDef dt_op_dropout = {
  .schema = "aten::dropout(Tensor input, float p, bool train) -> Tensor",
  .brief = "Elements set to 0 with probability p, the others scaled up.",
  .flags = DT_OP_COMPOSITE | DT_OP_RANDOM, .meta = op_meta_same,
  .decomp = dropout_decomp, .samples = dropout_samples
};
