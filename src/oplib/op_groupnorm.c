/* SPDX-License-Identifier: MIT
** oplib/op_groupnorm.c: group normalisation.
**
** It treats samples apart: only the batch dim may be cut, and its sizes given
** as numbers become local ones.  Its backward pass has no rule: decisions come
** from its decomposition, the numbers from a kernel. */
#include "base/sat.h"
#include "oplib/op_spatial.h"
#include "oplib/op_unwritten.h"
#include "oplib/ruling_int.h"

#include <string.h>


/* ---- group norm ---- */

enum { GN_N = 3, GN_C, GN_HXW, GN_GROUP };

/* Weight and bias have an element for each channel.  (PyTorch's text about
** the bias has the weight's shape.) */
static DtStatus gn_affine (DtMetaCall *c, int64_t channels) {
  static const char *const name[] = { "weight", "bias" };
  OpText w = { "" };
  for (int i = 1; i < 3; i++) {
    const DtMeta *m = dt_in(c, i);
    if (m == NULL) continue;
    if (i == 1 || dt_in(c, 1) == NULL || c->fake) w = op_size_text(c, m);
    DT_CHECK(c->cx, m->ndim == 1 && m->shape[0] == channels, DT_E_RUNTIME,
             "Expected %s to be a vector of size equal to the number of "
             "channels in input, but got %s of shape %s and input of shape %s",
             name[i - 1], name[i - 1], w.s, op_size_text(c, c->in[0]).s);
  }
  return DT_OK;
}

/* Statistics are of the parameters' dtype. */
static DtDtype gn_stats_dtype (const DtMetaCall *c) {
  const DtMeta *w = dt_in(c, 1), *b = dt_in(c, 2);
  return (DtDtype)(w ? w : b ? b : c->in[0])->dtype;
}

/* What PyTorch's kernel asks. */
static DtStatus gn_real (DtMetaCall *c, int64_t n) {
  const DtMeta *m = c->in[0], *p[2] = { dt_in(c, 1), dt_in(c, 2) };
  DtDtype t = (DtDtype)m->dtype;
  bool in_order = dt_meta_is_contiguous(m) || op_sp_channels_last(m);
  DT_CHECK(c->cx, n == dt_meta_numel(m), DT_E_RUNTIME,
           "Expected X.numel() == N * C * HxW to be true, but got false.  "
           "(Could this error message be improved?  If so, please report an "
           "enhancement request to PyTorch.)");
  DT_CHECK(c->cx, in_order, DT_E_RUNTIME, "Expected "
           "X.is_contiguous(memory_format) to be true, but got false.  "
           "(Could this error message be improved?  If so, please report an "
           "enhancement request to PyTorch.)");
  DT_TRY(c->cx, op_mixed_params(c->cx, t, p, 2));
  return op_sp_dtype(c->cx, "GroupNormKernelImpl", t, OP_T_FLOAT);
}

/* Propagation checks what torch/_refs:native_group_norm checks, execution what
** native/group_norm.cpp does: the same faults in another order and wording. */
static DtStatus gn_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  int64_t shape[2] = { dt_arg_int(c->args, GN_N),
                       dt_arg_int(c->args, GN_GROUP) };
  int64_t channels = dt_arg_int(c->args, GN_C);
  DT_CHECK(c->cx, shape[1] > 0, DT_E_RUNTIME,
           "Expected num groups to be greater than 0, got %lld",
           (long long)shape[1]);
  if (c->fake && (c->op->flags & DT_OP_LATER) != 0)
    DT_TRY(c->cx, gn_affine(c, channels));
  if (c->fake) {
    DT_CHECK(c->cx, m->ndim >= 2, DT_E_RUNTIME, "Expected at least 2 "
             "dimensions for input tensor but received %d", m->ndim);
    for (int i = 1; i < 3; i++)
      DT_CHECK(c->cx, dt_in(c, i) == NULL || dt_in(c, i)->ndim > 0, DT_E_INDEX,
               "Dimension out of range (expected to be in range of [-2, 1], "
               "but got 2)");
  }
  DT_CHECK(c->cx, channels % shape[1] == 0, DT_E_RUNTIME, "Expected number of "
           "channels in input to be divisible by num_groups, but got input of "
           "shape %s and num_groups%s%lld", op_size_text(c, m).s,
           c->fake ? " = " : "=", (long long)shape[1]);
  int64_t each = dt_arg_int(c->args, GN_GROUP - 1);
  if (!c->fake && (c->op->flags & DT_OP_LATER) != 0) {
    DT_CHECK(c->cx, channels > 0, DT_E_RUNTIME, "Expected number of channels "
             "to be greater than 0, got %lld", (long long)channels);
    DT_CHECK(c->cx, each > 0, DT_E_RUNTIME, "Expected HxW to be greater than "
             "0, got %lld", (long long)each);
  }
  if (!c->fake) DT_TRY(c->cx, gn_affine(c, channels));
  if (!c->fake)
    DT_TRY(c->cx, gn_real(c, dt_sat_mul(dt_sat_mul(shape[0], channels), each)));
  double all = (double)shape[0] * (double)channels * (double)each;
  DT_CHECK(c->cx, !c->fake || (all >= (double)dt_meta_numel(m) &&
           all <= (double)dt_meta_numel(m)),
           DT_E_RUNTIME, "shape '[%lld, %lld, %lld, %lld]' is invalid for "
           "input of size %lld", (long long)shape[0], (long long)shape[1],
           (long long)(channels / shape[1]), (long long)each,
           (long long)dt_meta_numel(m));
  DT_TRY(c->cx, op_sp_result(c->cx, m, (DtDtype)m->dtype, 0, NULL, !c->fake,
                             &c->out[0]));
  for (int i = 1; i < 3; i++)
    DT_TRY(c->cx, op_new_meta(c->cx, &c->out[i], c->fake ? (DtDtype)m->dtype
                              : gn_stats_dtype(c), 2, shape, m));
  c->nout = 3;
  return DT_OK;
}

/* N, C, HxW and group, which stand side by side from argument `at`. */
static DtGroups groups_at (const DtArgs *a, int at) {
  return (DtGroups){ dt_arg_int(a, at), dt_arg_int(a, at + 1),
                     dt_arg_int(a, at + 2), dt_arg_int(a, at + 3) };
}

static DtStatus gn_kernel (DtKernelCall *c) {
  DtGroups g = groups_at(c->args, GN_N);
  DtAffine scale = { dt_kin(c, 1), dt_kin(c, 2),
                     dt_arg_float(c->args, GN_GROUP + 1) };
  DtNormed to = { c->out[0], c->out[1], c->out[2] };
  return dt_k_group_norm(c->cx, c->in[0], &g, &scale, &to);
}

/* ---- gradient of all three outputs, of differentiable operators ---- */

typedef struct Gn {
  int64_t n, c, l, g, d;        /* batch, channels, positions; C = g * d */
  double s;                     /* 1 / numbers of a group */
  bool later;                   /* the later way: sums that keep their dims */
  DtHandle *x, *mean, *rstd, *dy, *ds, *db, *gamma;
} Gn;

static DtHandle *gn_shaped (DtGradCall *c, DtHandle *h, int64_t a, int64_t b,
                            int64_t d, int64_t e) {
  int64_t shape[4] = { a, b, d, e };
  return EMIT("aten.reshape.default", "tI", h, 4, shape);
}
static DtHandle *gn_summed (DtGradCall *c, const Gn *v, DtHandle *h,
                            int64_t dim, int64_t at) {
  if (v->later) return EMIT("aten.sum.dim_IntList", "tIb", h, 1, &dim, 1);
  h = EMIT("aten.sum.dim_IntList", "tI", h, 1, &dim);
  return EMIT("aten.unsqueeze_.default", "ti", h, at);
}
static DtHandle *gn_mul (DtGradCall *c, DtHandle *a, DtHandle *b) {
  return EMIT("aten.mul.Tensor", "tt", a, b);
}
static DtHandle *gn_scale (DtGradCall *c, DtHandle *a, double f) {
  return EMIT("aten.mul.Scalar", "tf", a, f);
}

/* What comes to x through dy: a dy + b x + c. */
static DtHandle *gn_from_y (DtGradCall *c, const Gn *v, DtHandle *cube) {
  DtHandle *a, *b = v->ds, *k = v->db, *t;
  if (v->gamma) {
    a = gn_mul(c, v->rstd, v->gamma);
  } else if (v->later) {
    a = v->rstd;
  } else {
    int64_t wide[4] = { v->n, v->g, v->d, 1 };
    a = EMIT("aten.expand.default", "tI", v->rstd, 4, wide);
  }
  if (v->gamma) b = gn_mul(c, b, v->gamma);
  b = gn_summed(c, v, b, 2, -2);
  if (v->gamma) k = gn_mul(c, k, v->gamma);
  k = gn_summed(c, v, k, 2, -2);
  b = EMIT("aten.sub.Tensor", "tt", gn_mul(c, k, v->mean), b);
  b = gn_scale(c, gn_mul(c, b, cube), v->s);
  /* PyTorch computes the right side of c first ... */
  t = gn_scale(c, gn_mul(c, k, v->rstd), v->s);
  k = gn_mul(c, EMIT("aten.neg.default", "t", b), v->mean);
  k = EMIT("aten.sub.Tensor", "tt", k, t);
  b = gn_mul(c, b, v->x);       /* ... and of the sum */
  a = gn_mul(c, a, v->dy);
  return EMIT("aten.add.Tensor", "tt", EMIT("aten.add.Tensor", "tt", a, b), k);
}

/* What comes to x through the variance and the mean of its group. */
static DtHandle *gn_from_stats (DtGradCall *c, const Gn *v, DtHandle *dvar) {
  int64_t dims[2] = { 2, 3 }, wide[4] = { v->n, v->g, v->d, v->l };
  int64_t n = v->d * v->l;
  DtHandle *dmean = gn_shaped(c, c->gout[1], v->n, v->g, 1, 1), *m, *r;
  m = EMIT("aten.mean.dim", "tIb", v->x, 2, dims, 1);
  m = EMIT("aten.sub.Tensor", "tt", v->x, m);
  r = gn_mul(c, gn_scale(c, dvar, 2.0 / (double)n), m);
  m = EMIT("aten.expand.default", "tI", dmean, 4, wide);
  m = EMIT("aten.div.Scalar", "ti", m, n);
  return EMIT("aten.add.Tensor", "tt", r, m);
}

static DtHandle *gn_to_x (DtGradCall *c, const Gn *v) {
  int eps = GN_GROUP + 1;
  DtHandle *var, *cube, *dvar = NULL, *dx = NULL, *more;
  DtMeta m;
  var = EMIT("aten.reciprocal_.default", "t", gn_mul(c, v->rstd, v->rstd));
  var = EMIT("aten.sub.Scalar", "tv", var, c->args->v[eps]);
  (void)EMIT("aten.clamp_min.default", "ti", var, (int64_t)0);
  cube = gn_mul(c, gn_mul(c, v->rstd, v->rstd), v->rstd);
  if (c->gout[2]) {
    more = gn_shaped(c, c->gout[2], v->n, v->g, 1, 1);
    dvar = gn_mul(c, gn_scale(c, cube, -0.5), more);
  }
  if (v->dy) dx = gn_from_y(c, v, cube);
  if (c->gout[1] && dvar) {
    more = gn_from_stats(c, v, dvar);
    dx = dx ? EMIT("aten.add_.Tensor", "tt", dx, more) : more;
  }
  if (!dx) return NULL;
  dt_meta_copy(&m, dt_emit_meta(c->e, c->in[0]));
  return EMIT("aten.reshape.default", "tI", dx, (int)m.ndim, m.shape);
}

static DtHandle *gn_over_batch (DtGradCall *c, const Gn *v, DtHandle *h) {
  int64_t zero = 0;
  h = EMIT("aten.sum.dim_IntList", "tI", h, 1, &zero);
  return EMIT("aten.reshape.default", "tI", h, 1, &v->c);
}

/* The later way: what comes to x through y, without looking at the variance. */
static DtHandle *gn_later_to_x (DtGradCall *c, const Gn *v) {
  const DtMeta *m = dt_emit_meta(c->e, c->in[0]);
  DtHandle *h = gn_mul(c, gn_mul(c, v->rstd, v->rstd), v->rstd);
  h = gn_from_y(c, v, h);
  return EMIT("aten.reshape.default", "tI", h, (int)m->ndim, m->shape);
}

/* The later way: what comes to x through the statistics, as of a mean and a
** variance over all numbers of a group. */
static DtHandle *gn_later_from_stats (DtGradCall *c, const Gn *v) {
  int64_t one[3] = { v->n, v->g, 1 }, all[3] = { v->n, v->g, v->d * v->l };
  int64_t last = 2;
  DtHandle *dmean = c->gout[1], *var = NULL, *x, *h = NULL;
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, c->in[0]));
  if (c->gout[2]) {
    DtHandle *r = EMIT("aten.view.default", "tI", c->out[2], 3, one);
    var = EMIT("aten.view.default", "tI", c->gout[2], 3, one);
    var = gn_mul(c, gn_mul(c, gn_mul(c, gn_scale(c, r, -0.5), r), r), var);
  }
  x = EMIT("aten.view.default", "tI", c->in[0], 3, all);
  if (dmean) dmean = EMIT("aten.view.default", "tI", dmean, 3, one);
  if (var) {
    h = EMIT("aten.sub.Tensor", "tt", x,
             EMIT("aten.mean.dim", "tIb", x, 1, &last, 1));
    h = gn_mul(c, gn_scale(c, var, 2 * v->s), h);
  }
  if (dmean) {
    dmean = EMIT("aten.expand.default", "tI", dmean, 3, all);
    dmean = EMIT("aten.div.Scalar", "ti", dmean, all[2]);
    h = h ? EMIT("aten.add.Tensor", "tt", h, dmean) : dmean;
  }
  return EMIT("aten.reshape.default", "tI", h, (int)m.ndim, m.shape);
}

static DtStatus gn_grad_all (DtGradCall *c) {
  Gn v = { .later = (c->op->flags & DT_OP_LATER) != 0,
           .n = dt_arg_int(c->args, GN_N), .c = dt_arg_int(c->args, GN_C),
           .l = dt_arg_int(c->args, GN_HXW),
           .g = dt_arg_int(c->args, GN_GROUP) };
  v.d = v.c / v.g;
  v.s = 1 / ((double)v.d * (double)v.l);
  v.x = gn_shaped(c, c->in[0], v.n, v.g, v.d, v.l);
  v.mean = gn_shaped(c, c->out[1], v.n, v.g, 1, 1);
  v.rstd = gn_shaped(c, c->out[2], v.n, v.g, 1, 1);
  if (c->gout[0]) {
    v.dy = gn_shaped(c, c->gout[0], v.n, v.g, v.d, v.l);
    v.ds = gn_summed(c, &v, gn_mul(c, v.dy, v.x), 3, -1);
    v.db = gn_summed(c, &v, v.dy, 3, -1);
  }
  if (op_g_need(c, 0)) {
    if (dt_gin(c, 1)) v.gamma = gn_shaped(c, dt_gin(c, 1), 1, v.g, v.d, 1);
    op_g_set(c, 0, v.later ? gn_later_to_x(c, &v) : gn_to_x(c, &v));
  }
  if (op_g_need(c, 1) && v.dy) {
    DtHandle *h = gn_mul(c, v.db, v.mean);
    h = gn_mul(c, EMIT("aten.sub.Tensor", "tt", v.ds, h), v.rstd);
    op_g_set(c, 1, gn_over_batch(c, &v, h));
  }
  if (op_g_need(c, 2) && v.dy) op_g_set(c, 2, gn_over_batch(c, &v, v.db));
  return c->e->st;
}

static DtStatus gn_grad_y (DtGradCall *c) {
  DtHandle *g[3] = { NULL, NULL, NULL };
  DtValue mask[3];
  if (c->e->recorded) return gn_grad_all(c);
  for (int i = 0; i < 3; i++) mask[i] = dt_v_bool(op_g_need(c, i));
  dt_emit_n(c->e, "aten.native_group_norm_backward.default", g, 3,
            "tttttvvvvv", c->gout[0], c->in[0], c->out[1], c->out[2],
            dt_gin(c, 1), c->args->v[GN_N], c->args->v[GN_C],
            c->args->v[GN_HXW], c->args->v[GN_GROUP], dt_v_list(3, mask));
  for (int i = 0; i < 3; i++) op_g_set(c, i, g[i]);
  return c->e->st;
}

static DtStatus gn_grad (DtGradCall *c) {
  bool stats = c->gout[1] || c->gout[2];
  if (!(c->op->flags & DT_OP_LATER))
    return stats ? gn_grad_all(c) : gn_grad_y(c);
  if (c->gout[0]) DT_TRY(c->e->cx, gn_grad_y(c));
  if (stats && op_g_need(c, 0)) {
    Gn v = { .n = dt_arg_int(c->args, GN_N), .g = dt_arg_int(c->args, GN_GROUP),
             .l = dt_arg_int(c->args, GN_HXW) };
    v.d = dt_arg_int(c->args, GN_C) / v.g;
    v.s = 1 / ((double)v.d * (double)v.l);
    DtHandle *h = gn_later_from_stats(c, &v);
    op_g_set(c, 0, c->gin[0] ? EMIT("aten.add.Tensor", "tt", c->gin[0], h) : h);
  }
  return c->e->st;
}

/* ---- backward of group norm ---- */

enum { GB_N = 5, GB_C, GB_HXW, GB_GROUP, GB_MASK };

/* What PyTorch's kernel asks. */
static DtStatus gn_back_real (DtMetaCall *c, int64_t stats, int64_t channels) {
  static const char *const want[] = {
    "mean.numel() == N * group", "rstd.numel() == N * group",
    "!gamma.defined() || gamma.numel() == C"
  };
  const DtMeta *p[3];
  DtDtype t = (DtDtype)dt_in(c, 1)->dtype;
  for (int i = 0; i < 3; i++) {
    p[i] = dt_in(c, 2 + i);
    DT_CHECK(c->cx, p[i] == NULL ||
             dt_meta_numel(p[i]) == (i < 2 ? stats : channels), DT_E_RUNTIME,
             "Expected %s to be true, but got false.  (Could this error "
             "message be improved?  If so, please report an enhancement "
             "request to PyTorch.)", want[i]);
  }
  DT_TRY(c->cx, op_mixed_params(c->cx, t, p, 3));
  return op_sp_dtype(c->cx, "GroupNormBackwardKernelImpl", t, OP_T_FLOAT);
}

/* What propagation asks, which is Python. */
static DtStatus gn_back_fake (DtMetaCall *c, const int64_t v[4]) {
  int64_t stats[2] = { v[0], v[3] };
  for (int i = 0; i < 2; i++) {
    const DtMeta *want = dt_in(c, i ? 2 : 1), *got = dt_in(c, i ? 3 : 0);
    OpText b = op_size_text(c, want), a = op_size_text(c, got);
    DT_CHECK(c->cx, dt_meta_same_shape(want, got), DT_E_RUNTIME, "Shape %s is "
             "not the expected shape %s!", a.s, b.s);
  }
  const DtMeta *mean = dt_in(c, 2), *gamma = dt_in(c, 4);
  int64_t all = dt_sat_mul(dt_sat_mul(v[0], v[1]), v[2]);
  DT_CHECK(c->cx, dt_meta_numel(dt_in(c, 1)) == all, DT_E_RUNTIME,
           "Expect input to have %lld elements", (long long)all);
  DT_CHECK(c->cx, mean->ndim == 2 && mean->shape[0] == stats[0] &&
           mean->shape[1] == stats[1], DT_E_RUNTIME, "Expect mean to have "
           "shape (%lld, %lld, but got %s", (long long)stats[0],
           (long long)stats[1], op_size_text(c, mean).s);
  DT_CHECK(c->cx, !gamma || dt_meta_numel(gamma) == v[1], DT_E_RUNTIME,
           "Expect gamma to have %lld elements but got %lld", (long long)v[1],
           (long long)dt_meta_numel(gamma));
  return DT_OK;
}

static DtStatus gn_back_meta (DtMetaCall *c) {
  const DtMeta *m = dt_in(c, 1), *g = dt_in(c, 0);
  int64_t mask[3] = { 1, 1, 1 }, v[4], n = dt_arg_int(c->args, GB_C);
  (void)dt_arg_ints(c->args, GB_MASK, mask, 3);
  for (int i = 0; i < 4; i++) v[i] = dt_arg_int(c->args, GB_N + i);
  DT_CHECK(c->cx, g->dtype == m->dtype, DT_E_RUNTIME,
           "Expected scalar types of X and dY are same.");
  if (c->fake) DT_TRY(c->cx, gn_back_fake(c, v));
  DT_CHECK(c->cx, dt_meta_numel(g) ==
           dt_sat_mul(dt_sat_mul(v[0], v[1]), v[2]), DT_E_RUNTIME,
           "Expected dY.numel() == N * C * HxW to be true, but got false.  "
           "(Could this error message be improved?  If so, please report an "
           "enhancement request to PyTorch.)");
  DT_CHECK(c->cx, dt_meta_numel(m) == v[0] * v[1] * v[2], DT_E_RUNTIME,
           "Expected X.numel() == N * C * HxW to be true, but got false.  "
           "(Could this error message be improved?  If so, please report an "
           "enhancement request to PyTorch.)");
  DT_CHECK(c->cx, v[3] > 0 && v[1] % v[3] == 0, DT_E_RUNTIME, "Expected C %% "
           "group == 0 to be true, but got false.");
  if (!c->fake) DT_TRY(c->cx, gn_back_real(c, dt_sat_mul(v[0], v[3]), v[1]));
  op_like_meta(&c->out[0], m, (DtDtype)m->dtype);
  dt_meta_set_contiguous(&c->out[0]);
  for (int i = 1; i < 3; i++)
    DT_TRY(c->cx, op_new_meta(c->cx, &c->out[i], (DtDtype)m->dtype, 1, &n, m));
  for (int i = 0; i < 3; i++) c->none[i] = !mask[i];
  c->nout = 3;
  return DT_OK;
}

static DtStatus gn_back_kernel (DtKernelCall *c) {
  DtGroups g = groups_at(c->args, GB_N);
  DtNormSaved x = { dt_kin(c, 1), dt_kin(c, 2), dt_kin(c, 3), dt_kin(c, 4) };
  DtNormGrads to = { c->out[0], c->out[1], c->out[2] };
  return dt_k_group_norm_backward(c->cx, dt_kin(c, 0), &x, &g, &to);
}

/* What backward's decomposition calls again and again. */
static DtHandle *unsq (DtDecompCall *c, DtHandle *h, int64_t at) {
  return EMIT("aten.unsqueeze.default", "ti", h, at);
}
static DtHandle *mul (DtDecompCall *c, DtHandle *a, DtHandle *b) {
  return EMIT("aten.mul.Tensor", "tt", a, b);
}
static DtHandle *view (DtDecompCall *c, DtHandle *h, int n, int64_t s0,
                       int64_t s1, int64_t s2, int64_t s3) {
  int64_t shape[4] = { s0, s1, s2, s3 };
  return EMIT("aten.view.default", "tI", h, n, shape);
}
static DtHandle *sum (DtDecompCall *c, DtHandle *h, int64_t dim) {
  return EMIT("aten.sum.dim_IntList", "tI", h, 1, &dim);
}

/* Sums of a per-channel quantity over the channels of a group. */
static DtHandle *group_sum (DtDecompCall *c, DtHandle *h, DtHandle *w,
                            const int64_t *v, int64_t cpg) {
  if (w) h = mul(c, h, unsq(c, w, 0));
  return sum(c, view(c, h, 3, v[0], v[3], cpg, 0), 2);
}

/* dx = c1 dy + c2 x + c3, the coefficients per group (c1 per channel). */
static DtHandle *gn_input (DtDecompCall *c, DtHandle *ds, DtHandle *db,
                           const int64_t *v, int64_t cpg, bool fused) {
  DtHandle *w = dt_hin(c, 4), *mean = dt_hin(c, 2), *rstd = dt_hin(c, 3);
  DtHandle *dsv = group_sum(c, ds, w, v, cpg);
  DtHandle *dbv = group_sum(c, db, w, v, cpg), *c1, *c2, *c3, *t;
  double s = 1 / ((double)v[2] * (double)cpg);
  if (w) {
    c1 = unsq(c, rstd, -1);
    c1 = mul(c, c1, view(c, w, 3, 1, v[3], cpg, 0));
  } else {
    /* PyTorch makes them plain, which no rule takes. */
    int64_t ones[3] = { 1, v[3], cpg };
    if (c->e->tracing && c->e->st == DT_OK)
      c->e->st = dt_raise(c->e->cx, DT_E_NOTIMPL, "%s cannot be traced without "
                          "a weight", c->op->sig->full);
    c1 = unsq(c, rstd, -1);
    t = EMIT("aten.new_ones.default", "tI", rstd, 3, ones);
    c1 = mul(c, c1, t);
  }
  c2 = fused ? EMIT("aten.addcmul.default", "ttt",
                    EMIT("aten.neg.default", "t", dsv), dbv, mean)
             : EMIT("aten.sub.Tensor", "tt", mul(c, dbv, mean), dsv);
  for (int i = 0; i < 3; i++) c2 = mul(c, c2, rstd);
  c2 = EMIT("aten.mul.Tensor", "tf", c2, s);
  c3 = mul(c, EMIT("aten.neg.default", "t", c2), mean);
  t = EMIT("aten.mul.Tensor", "tf", mul(c, dbv, rstd), s);
  c3 = EMIT("aten.sub.Tensor", "tt", c3, t);
  c1 = unsq(c, c1, -1);
  c2 = unsq(c, unsq(c, c2, -1), -1);
  c3 = unsq(c, unsq(c, c3, -1), -1);
  t = view(c, dt_hin(c, 0), 4, v[0], v[3], cpg, v[2]);
  c1 = mul(c, t, c1);
  t = view(c, dt_hin(c, 1), 4, v[0], v[3], cpg, v[2]);
  c2 = mul(c, t, c2);
  t = EMIT("aten.add.Tensor", "tt", c1, c2);
  return EMIT("aten.add.Tensor", "tt", t, c3);
}

static DtHandle *gn_weight (DtDecompCall *c, DtHandle *ds, DtHandle *db,
                            const int64_t *v, int64_t cpg) {
  DtHandle *a = view(c, ds, 3, v[0], v[3], cpg, 0);
  DtHandle *b = view(c, db, 3, v[0], v[3], cpg, 0);
  b = mul(c, b, unsq(c, dt_hin(c, 2), -1));
  a = EMIT("aten.sub.Tensor", "tt", a, b);
  a = mul(c, a, unsq(c, dt_hin(c, 3), -1));
  return view(c, sum(c, a, 0), 1, v[1], 0, 0, 0);
}

/* `fused`: with addcmul, which keeps no partial. */
static DtStatus gn_back_parts (DtDecompCall *c, bool fused) {
  int64_t v[4], mask[3] = { 1, 1, 1 }, cpg;
  DtMeta m;
  DtHandle *ds, *db;
  for (int i = 0; i < 4; i++) v[i] = dt_arg_int(c->args, GB_N + i);
  (void)dt_arg_ints(c->args, GB_MASK, mask, 3);
  dt_meta_copy(&m, dt_emit_meta(c->e, dt_hin(c, 1)));
  DT_CHECK(c->e->cx, v[3] > 0 && v[1] % v[3] == 0, DT_E_RUNTIME,
           "Expected num_channels %lld to be divisible by group %lld",
           (long long)v[1], (long long)v[3]);
  cpg = v[1] / v[3];
  ds = view(c, mul(c, dt_hin(c, 0), dt_hin(c, 1)), 3, v[0], v[1], v[2], 0);
  ds = sum(c, ds, 2);
  db = sum(c, view(c, dt_hin(c, 0), 3, v[0], v[1], v[2], 0), 2);
  c->nout = 3;
  c->out[0] = c->out[1] = c->out[2] = NULL;
  if (mask[0]) {
    DtHandle *g = gn_input(c, ds, db, v, cpg, fused);
    c->out[0] = EMIT("aten.view.default", "tI", g, (int)m.ndim, m.shape);
  }
  if (mask[1]) c->out[1] = gn_weight(c, ds, db, v, cpg);
  if (mask[2]) c->out[2] = sum(c, db, 0);
  return c->e->st;
}

static DtStatus gn_back_decomp (DtDecompCall *c) {
  return gn_back_parts(c, false);
}
DtStatus op_rd_group_norm_back (DtDecompCall *c) {
  return gn_back_parts(c, true);
}

/* group_norm: the sizes are read off the input. */
static DtStatus group_norm_decomp (DtDecompCall *c) {
  DtHandle *r[3] = { NULL, NULL, NULL }, *x = c->in[0];
  DtValue eps = c->args->v[4];
  DtMeta m;
  int64_t l = 1, groups = dt_arg_int(c->args, 1);
  dt_meta_copy(&m, dt_emit_meta(c->e, x));
  DT_CHECK(c->e->cx, m.ndim >= 2, DT_E_RUNTIME, "Expected at least 2 "
           "dimensions for input tensor but received %d", m.ndim);
  DT_CHECK(c->e->cx, groups > 0, DT_E_RUNTIME,
           "Expected num groups to be greater than 0, got %lld",
           (long long)groups);
  DT_CHECK(c->e->cx, m.shape[1] % groups == 0, DT_E_RUNTIME, "Expected number "
           "of channels in input to be divisible by num_groups, but got input "
           "of shape %s and num_groups=%lld", op_shape_text(&m).s,
           (long long)groups);
  for (int i = 2; i < 4; i++) {
    DtHandle *h = dt_hin(c, i);
    DtMeta w;
    if (!h) continue;
    dt_meta_copy(&w, dt_emit_meta(c->e, h));
    DT_CHECK(c->e->cx, w.ndim == 1 && w.shape[0] == m.shape[1], DT_E_RUNTIME,
             "Expected %s to be a vector of size equal to the number of "
             "channels in input, but got %s of shape %s and input of shape %s",
             i == 2 ? "weight" : "bias", i == 2 ? "weight" : "bias",
             op_shape_text(&w).s, op_shape_text(&m).s);
  }
  for (int d = 2; d < m.ndim; d++) l *= m.shape[d];
  if (dt_emit_ok(c->e) && !dt_meta_is_contiguous(&m)) {
    DtValue f = dt_v_none();
    f.kind = DT_V_MEMFMT;
    f.u.i = DT_MF_CONTIGUOUS;
    x = EMIT("aten.clone.default", "t memory_format=v", x, f);
  }
  dt_emit_n(c->e, "aten.native_group_norm.default", r, 3, "tttiiiiv", x,
            dt_hin(c, 2), dt_hin(c, 3), m.shape[0], m.shape[1], l, groups,
            eps);
  c->out[0] = r[0];
  c->nout = 1;
  return c->e->st;
}

static DtStatus gn_rules (DtRuleCall *c) {
  DtCell row[8];
  int n = c->rows->nout + c->rows->nin;
  for (int i = 0; i < n; i++)
    row[i] = i <= c->rows->nout ? dt_c_s(0) : dt_c_r();
  dt_rows_add(c->rows, row);
  return c->rows->st;
}

/* N, C, HxW of the local input. */
static DtStatus gn_rewrite (DtRewriteCall *c) {
  int64_t shape[DT_MAX_NDIM], v[3] = { 1, 1, 1 };
  int nd;
  if (!dt_spec_is_sharded(c->in[0])) return DT_OK;
  DT_TRY(c->cx, dt_layout_local(c->cx, c->in[0], NULL, shape, NULL, &nd));
  for (int i = 0; i < nd; i++) v[i < 2 ? i : 2] *= shape[i];
  for (int i = 0; i < 3; i++) {
    c->args->v[GN_N + i] = dt_v_int(v[i]);
    c->args->given |= 1u << (GN_N + i);
  }
  c->changed = true;
  return DT_OK;
}

/* ---- samples and definitions ---- */

static const char *const gn_samples[] = {
  "f32[4, 6, 2], f32[6], f32[6], 4, 6, 2, 3, 1e-05",
  "f32[2, 4], None, None, 2, 4, 1, 2, 1e-05", NULL
};

static const char *const gn_back_samples[] = {
  "f32[4, 6, 2], f32[4, 6, 2], f32[4, 3], f32[4, 3], f32[6], 4, 6, 2, 3, "
  "[True, True, True]", NULL
};
static const char *const group_norm_samples[] = {
  "f32[4, 6, 2], 3, f32[6], f32[6]", "f32[2, 4], 2", NULL
};

OP_DEF(native_group_norm, "aten::native_group_norm(Tensor input, Tensor? "
       "weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, "
       "float eps) -> (Tensor, Tensor, Tensor)",
       "Normalisation over groups of channels.", DT_OP_SAVE_OUT, gn_meta,
       gn_kernel, gn_grad, gn_samples, .rulefn = gn_rules,
       .rewrite = gn_rewrite);
OP_DEF(native_group_norm_backward, "aten::native_group_norm_backward(Tensor "
       "grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, "
       "SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> "
       "(Tensor, Tensor, Tensor)", "Gradient of group normalisation.", 0,
       gn_back_meta, gn_back_kernel, op_g_absent, gn_back_samples,
       .decomp = gn_back_decomp);
const DtOpDef dt_op_group_norm = {
  .schema = "aten::group_norm(Tensor input, int num_groups, Tensor? "
            "weight=None, Tensor? bias=None, float eps=1e-05, bool "
            "cudnn_enabled=True) -> Tensor",
  .brief = "Normalisation over groups of channels.",
  .flags = DT_OP_COMPOSITE, .decomp = group_norm_decomp,
  .samples = group_norm_samples
};
