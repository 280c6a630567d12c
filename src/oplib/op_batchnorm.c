/* SPDX-License-Identifier: MIT
** oplib/op_batchnorm.c: batch normalisation.
**
** Batch norm treats channels apart: only the channel dim may be cut (dim 1 of
** data, dim 0 of everything that has one entry per channel). */
#include "oplib/op_spatial.h"
#include "oplib/op_unwritten.h"
#include "oplib/second.h"

#include <string.h>


/* Row: position of the first statistic (or -1), of `training` (-1: never, -2:
** always), is there a reserve. */
enum { BN_STAT, BN_TRAIN, BN_RESERVE };

/* Everything that has one entry per channel has as many as the input.
** PyTorch's operators below batch_norm do not look, and read beyond. */
static DtStatus bn_sizes (DtKernelCall *c) {
  static const char *const name[] = { "weight", "bias", "running_mean",
                                      "running_var" };
  int64_t n = c->in[0]->m.shape[1];
  for (int i = 1; i < (c->op->row[BN_STAT] >= 0 ? 5 : 3); i++) {
    const DtTensor *t = dt_kin(c, i);
    DT_CHECK(c->cx, !t || dt_meta_numel(&t->m) == n, DT_E_RUNTIME,
             "%s should contain %lld elements not %lld", name[i - 1],
             (long long)n, (long long)(t ? dt_meta_numel(&t->m) : 0));
  }
  return DT_OK;
}

static DtStatus bn_elements (DtCtx *cx, const DtMeta *m) {
  DT_CHECK(cx, dt_meta_numel(m) > 0, DT_E_RUNTIME, "input tensor must have at "
           "least one element, but got input_sizes = %s", op_shape_text(m).s);
  return DT_OK;
}

/* What PyTorch's kernel asks: dtypes it has, in the order it comes across
** them, and in training numbers to make statistics of. */
static DtStatus bn_real (DtMetaCall *c, bool train) {
  const DtMeta *m = c->in[0], *p[5];
  DtDtype t = (DtDtype)m->dtype;
  int n = 0, stat = c->op->row[BN_STAT];
  DT_TRY(c->cx, op_sp_dtype(c->cx, "batch_norm", t, OP_T_FLOAT));
  p[n++] = dt_in(c, 1);         /* decides whether they are mixed */
  for (int i = 0; train && stat >= 0 && i < 2; i++) p[n++] = dt_in(c, stat + i);
  p[n++] = dt_in(c, 2);
  for (int i = 0; !train && stat >= 0 && i < 2; i++)
    p[n++] = dt_in(c, stat + i);
  DT_TRY(c->cx, op_mixed_params(c->cx, t, p, n));
  return train ? bn_elements(c->cx, m) : DT_OK;
}

/* Propagation writes the new statistics over the old: means, then variances
** without bias.  `n`: channels. */
static DtStatus bn_track_fake (DtMetaCall *c, bool train, int64_t n) {
  DtMeta fresh, sum;
  int first = c->op->row[BN_STAT];
  DT_TRY(c->cx, op_new_meta(c->cx, &fresh, DT_F32, 1, &n, c->in[0]));
  for (int i = 0; i < 2 && first >= 0 && train; i++) {
    const DtMeta *m = dt_in(c, first + i);
    if (!m) continue;
    if (i == 1 && (n == 0 || dt_meta_numel(c->in[0]) == n))
      return dt_raise_as(c->cx, DT_E_RUNTIME, "ZeroDivisionError",
                         "%sdivision by zero", n == 0 ? "" : "float ");
    DT_TRY(c->cx, op_py_pair(c->cx, &fresh, m, &sum));
    DT_CHECK(c->cx, dt_meta_same_shape(&sum, m), DT_E_RUNTIME, "output with "
             "shape %s doesn't match the broadcast shape %s",
             op_shape_text(m).s, op_shape_text(&sum).s);
  }
  return DT_OK;
}

/* In propagation a parameter is a line that is multiplied with the input. */
static DtStatus bn_affine_fake (DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  int64_t shape[DT_MAX_NDIM];
  DtMeta line;
  for (int i = 1; i < 3; i++) {
    const DtMeta *w = dt_in(c, i);
    if (!w) continue;
    for (int d = 0; d < m->ndim; d++) shape[d] = 1;
    shape[0] = dt_meta_numel(w);
    DT_TRY(c->cx, op_new_meta(c->cx, &line, DT_F32, m->ndim - 1, shape, m));
    DT_TRY(c->cx, op_py_pair(c->cx, m, &line, NULL));
  }
  return DT_OK;
}

/* Statistics nobody asks for stay what was given for them with out=. */
static void bn_left_alone (DtMetaCall *c) {
  const DtSchema *s = c->args->schema;
  for (int k = 1; k < 3; k++) {
    const DtMeta *m = dt_in(c, s->nargs - s->nkwonly + k);
    if (m) dt_meta_copy(&c->out[k], m);
  }
}

/* All forms of batch norm, forward: what they save and whether they train is
** in the row.  Propagation (`fake`) and the real call check other things and
** in another order; statistics have the weight's type, else the running
** mean's, else the input's, and no elements where nothing was computed. */
static DtStatus bn_meta (DtMetaCall *c) {
  const int *r = c->op->row;
  const DtMeta *m = c->in[0], *w = dt_in(c, 1), *s = NULL;
  DtDtype t = (DtDtype)m->dtype, st = t;
  bool train = r[BN_TRAIN] == -2 ||
               (r[BN_TRAIN] >= 0 && dt_arg_bool(c->args, r[BN_TRAIN]));
  int64_t n = m->ndim > 1 ? m->shape[1] : 0, zero = 0;
  if (r[BN_STAT] >= 0) s = dt_in(c, r[BN_STAT]);
  DT_CHECK(c->cx, !c->fake || m->ndim >= 2, DT_E_INDEX,
           "tuple index out of range");
  DT_CHECK(c->cx, m->ndim >= 2, DT_E_RUNTIME, "Expected 2D or more input");
  if (!c->fake) DT_TRY(c->cx, bn_real(c, train));
  if (w) st = (DtDtype)w->dtype;
  else if (s) st = (DtDtype)s->dtype;
  /* propagation runs the kernel for the newer forms with out= */
  bool real = op_is_out(c) && c->op->sig->base[0] == '_';
  /* propagating the out= form without training: as if there were any */
  bool sized = c->fake && r[BN_TRAIN] == -1 && c->args->schema->is_out;
  if (c->fake) op_like_meta(&c->out[0], m, t);
  else DT_TRY(c->cx, op_sp_result(c->cx, m, t, 0, NULL, true, &c->out[0]));
  if (c->fake) DT_TRY(c->cx, real && train ? bn_elements(c->cx, m)
                                  : bn_track_fake(c, train, n));
  if (c->fake) DT_TRY(c->cx, bn_affine_fake(c));
  for (int i = 1; i < 3; i++)
    DT_TRY(c->cx, op_new_meta(c->cx, &c->out[i], st, 1,
                              train || sized ? &n : &zero, m));
  if (c->fake && real && !train && !sized) bn_left_alone(c);
  c->nout = 3;
  if (!r[BN_RESERVE]) return DT_OK;
  c->nout = 4;
  return op_new_meta(c->cx, &c->out[3], DT_U8, 1, &zero, m);
}

/* The functional forms also return what the others write. */
static DtStatus bn_functional_meta (DtMetaCall *c) {
  DT_TRY(c->cx, bn_meta(c));
  for (int i = 0; i < 2; i++) {
    const DtMeta *s = dt_in(c, c->op->row[BN_STAT] + i);
    op_like_meta(&c->out[c->nout++], s, (DtDtype)s->dtype);
  }
  return DT_OK;
}

static bool bn_training (const DtOpDef *op, const DtArgs *a) {
  int at = op->row[BN_TRAIN];
  return at == -2 || (at >= 0 && dt_arg_bool(a, at));
}

/* Running statistics are written in place, in the functional forms to
** the last two outputs. */
static DtStatus bn_kernel (DtKernelCall *c) {
  int stat = c->op->row[BN_STAT], eps = c->args->n - 1;
  bool copies = c->op->meta == bn_functional_meta;
  DtBatchNorm p = {
    .a = c->in[0], .weight = dt_kin(c, 1), .bias = dt_kin(c, 2),
    .out = c->out[0], .mean = c->out[1], .rstd = c->out[2],
    .train = bn_training(c->op, c->args)
  };
  DT_TRY(c->cx, bn_sizes(c));
  while (c->op->sig->arg[eps].kwonly) eps--;
  p.eps = dt_arg_float(c->args, eps);
  p.momentum = dt_arg_float(c->args, eps - 1);
  if (stat >= 0) {
    p.running_mean = p.new_mean = dt_kin(c, stat);
    p.running_var = p.new_var = dt_kin(c, stat + 1);
  }
  if (copies) {
    p.new_mean = c->out[c->nout - 2];
    p.new_var = c->out[c->nout - 1];
    if (p.running_mean)
      DT_TRY(c->cx, dt_k_copy(c->cx, p.running_mean, p.new_mean));
    if (p.running_var)
      DT_TRY(c->cx, dt_k_copy(c->cx, p.running_var, p.new_var));
  }
  DT_CHECK(c->cx, p.train || (p.running_mean && p.running_var), DT_E_RUNTIME,
           "Expected running_mean and running_var to be defined when "
           "training=False");
  return dt_k_batch_norm(c->cx, &p);
}

static DtStatus bn_grad (DtGradCall *c) {
  DtHandle *g[3] = { NULL, NULL, NULL }, *mean = NULL, *var = NULL;
  DtValue mask[3];
  int stat = c->op->row[BN_STAT], eps = c->args->n - 1;
  while (c->op->sig->arg[eps].kwonly) eps--;
  for (int i = 0; i < 3; i++) mask[i] = dt_v_bool(op_g_need(c, i));
  if (stat >= 0) {
    mean = dt_gin(c, stat);
    var = dt_gin(c, stat + 1);
  }
  dt_emit_n(c->e, "aten.native_batch_norm_backward.default", g, 3,
            "tttttttbvv", c->gout[0], c->in[0], dt_gin(c, 1), mean, var,
            c->out[1], c->out[2], (int)bn_training(c->op, c->args),
            c->args->v[eps], dt_v_list(3, mask));
  for (int i = 0; i < 3; i++) op_g_set(c, i, g[i]);
  return c->e->st;
}

static DtStatus bn_rules (DtRuleCall *c) {
  DtCell row[16];
  int n = c->rows->nout + c->rows->nin;
  for (int i = 0; i < n; i++) row[i] = dt_c_s(0);
  row[0] = row[c->rows->nout] = dt_c_s(1);
  if (c->op->row[BN_RESERVE]) row[3] = dt_c_r();
  dt_rows_add(c->rows, row);
  return c->rows->st;
}

/* ---- backward ---- */

static DtStatus bn_back_real (DtMetaCall *c) {
  const DtMeta *p[6];
  DtDtype t = (DtDtype)dt_in(c, 1)->dtype;
  for (int i = 0; i < 5; i++) p[i] = dt_in(c, i + 2);
  p[5] = dt_in(c, 0);
  DT_TRY(c->cx, op_sp_dtype(c->cx, "batch_norm_backward_cpu", t, OP_T_FLOAT));
  return op_mixed_params(c->cx, t, p, p[5]->dtype == t ? 5 : 6);
}

static DtStatus bn_back_meta (DtMetaCall *c) {
  const DtMeta *m = dt_in(c, 1), *w = dt_in(c, 2);
  int64_t mask[3] = { 1, 1, 1 }, n;
  DtDtype t = w ? (DtDtype)w->dtype : (DtDtype)m->dtype;
  DT_CHECK(c->cx, m->ndim >= 2, DT_E_RUNTIME, "Expected 2D or more input");
  (void)dt_arg_ints(c->args, 9, mask, 3);
  n = m->shape[1];
  if (!c->fake) DT_TRY(c->cx, bn_back_real(c));
  else if (n == 0 || dt_meta_numel(m) == 0)     /* 1 / (elements / channels) */
    return dt_raise_as(c->cx, DT_E_RUNTIME, "ZeroDivisionError",
                       "%sdivision by zero", n == 0 ? "" : "float ");
  if (c->fake) op_like_meta(&c->out[0], m, (DtDtype)m->dtype);
  else DT_TRY(c->cx, op_sp_result(c->cx, m, (DtDtype)m->dtype, 0, NULL, true,
                                  &c->out[0]));
  for (int i = 1; i < 3; i++)
    DT_TRY(c->cx, op_new_meta(c->cx, &c->out[i], t, 1, &n, m));
  for (int i = 0; i < 3; i++) c->none[i] = !mask[i];
  c->nout = 3;
  return DT_OK;
}

static DtStatus bn_back_kernel (DtKernelCall *c) {
  bool train = dt_arg_bool(c->args, 7);
  DtNormSaved x = { dt_kin(c, 1), dt_kin(c, train ? 5 : 3),
                    dt_kin(c, train ? 6 : 4), dt_kin(c, 2) };
  DtNormGrads to = { c->out[0], c->out[1], c->out[2] };
  return dt_k_batch_norm_backward(c->cx, dt_kin(c, 0), &x, train,
                                  dt_arg_float(c->args, 8), &to);
}

static DtStatus bn_back_rules (DtRuleCall *c) {
  DtCell row[16];
  int n = c->rows->nout + c->rows->nin;
  for (int i = 0; i < n; i++) row[i] = dt_c_s(0);
  row[0] = row[c->rows->nout] = row[c->rows->nout + 1] = dt_c_s(1);
  dt_rows_add(c->rows, row);
  return c->rows->st;
}

/* ---- samples and definitions ---- */

static const char *const bn_samples[] = {
  "f32[4, 3, 2], f32[3], f32[3], f32[3], f32[3], True, 0.1, 1e-05", NULL
};
static const char *const no_stats_samples[] = {
  "f32[4, 3, 2], f32[3], f32[3], True, 0.1, 1e-05",
  "f32[2, 3], None, None, True, 0.1, 1e-05", NULL
};
static const char *const five_samples[] = {
  "f32[4, 3, 2], f32[3], f32[3], f32[3], f32[3], 0.1, 1e-05", NULL
};
static const char *const bn_back_samples[] = {
  "f32[4, 3, 2], f32[4, 3, 2], f32[3], f32[3], f32[3], f32[3], f32[3], True, "
  "1e-05, [True, True, True]", NULL
};
#define BN_HEAD "(Tensor input, Tensor? weight, Tensor? bias, "
#define BN_TAIL "float momentum, float eps) -> (Tensor, Tensor, Tensor"
#define BN(id, schema_, brief_, flags_, meta_, samples_, ...) \
  static const int row_##id[] = { __VA_ARGS__ }; \
  const DtOpDef dt_op_##id = { .schema = "aten::" schema_, .brief = brief_, \
    .flags = (flags_) | DT_OP_SAVE_OUT | DT_OP_AGAIN, .meta = meta_, \
    .kernel = bn_kernel, \
    .grad = bn_grad, .rulefn = bn_rules, .samples = samples_, \
    .row = row_##id }

BN(native_batch_norm, "native_batch_norm" BN_HEAD "Tensor? running_mean, "
   "Tensor? running_var, bool training, " BN_TAIL ")",
   "Batch normalisation, with the statistics used.", 0, bn_meta, bn_samples,
   3, 5, 0);
BN(_native_batch_norm_legit, "_native_batch_norm_legit" BN_HEAD "Tensor(a!) "
   "running_mean, Tensor(b!) running_var, bool training, " BN_TAIL ")",
   "Batch normalisation that updates running statistics.", 0, bn_meta,
   bn_samples, 3, 5, 0);
BN(_native_batch_norm_legit_no_stats, "_native_batch_norm_legit.no_stats"
   BN_HEAD "bool training, " BN_TAIL ")",
   "Batch normalisation without running statistics.", 0, bn_meta,
   no_stats_samples, -1, 3, 0);
BN(_native_batch_norm_legit_no_training, "_native_batch_norm_legit_no_training"
   BN_HEAD "Tensor running_mean, Tensor running_var, " BN_TAIL ")",
   "Batch normalisation by given statistics.", 0, bn_meta, five_samples, 3,
   -1, 0);
BN(_batch_norm_with_update, "_batch_norm_with_update" BN_HEAD "Tensor(a!) "
   "running_mean, Tensor(b!) running_var, " BN_TAIL ", Tensor)",
   "Batch normalisation that updates running statistics.", 0, bn_meta,
   five_samples, 3, -2, 1);
BN(_native_batch_norm_legit_functional, "_native_batch_norm_legit_functional"
   BN_HEAD "Tensor running_mean, Tensor running_var, bool training, " BN_TAIL
   ", Tensor running_mean_out, Tensor running_var_out)",
   "Batch normalisation that returns updated statistics.", 0,
   bn_functional_meta, bn_samples, 3, 5, 0);
BN(_batch_norm_with_update_functional, "_batch_norm_with_update_functional"
   BN_HEAD "Tensor running_mean, Tensor running_var, " BN_TAIL ", Tensor, "
   "Tensor running_mean_out, Tensor running_var_out)",
   "Batch normalisation that returns updated statistics.", 0,
   bn_functional_meta, five_samples, 3, -2, 1);
OP_DEF(native_batch_norm_backward, "aten::native_batch_norm_backward(Tensor "
       "grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? "
       "running_var, Tensor? save_mean, Tensor? save_invstd, bool train, "
       "float eps, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
       "Gradient of batch normalisation.", 0, bn_back_meta, bn_back_kernel,
       op_gg_batch_norm_backward, bn_back_samples, .rulefn = bn_back_rules);
