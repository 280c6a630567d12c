/* SPDX-License-Identifier: MIT
** oplib/op_batchnorm.c: batch and group normalisation: decisions and shapes.
** No arithmetic.
**
** Batch norm treats channels apart: only the channel dim may be cut (dim 1 of
** data, dim 0 of everything that has one entry per channel).  Group norm
** treats samples apart: only the batch dim may be cut, and its sizes given as
** numbers become local ones. */
#include "oplib/op_unwritten.h"

#include <string.h>

/* Row: position of the first statistic (or -1), of `training` (-1: never, -2:
** always), is there a reserve. */
enum { BN_STAT, BN_TRAIN, BN_RESERVE };

static DtStatus bn_meta (DtMetaCall *c) {
  const int *r = c->op->row;
  const DtMeta *m = c->in[0], *w = dt_in(c, 1), *s = NULL;
  DtDtype t = (DtDtype)m->dtype, st = t;
  bool train = r[BN_TRAIN] == -2 ||
               (r[BN_TRAIN] >= 0 && dt_arg_bool(c->args, r[BN_TRAIN]));
  int64_t n = m->ndim > 1 ? m->shape[1] : 0, zero = 0;
  if (r[BN_STAT] >= 0) s = dt_in(c, r[BN_STAT]);
  DT_CHECK(c->cx, m->ndim >= 2, DT_E_RUNTIME, "Expected 2D or more input");
  DT_CHECK(c->cx, !dt_dtype_is_integral(t, true), DT_E_NOTIMPL,
           "\"batch_norm\" not implemented for '%s'", op_dtype_word(t));
  if (w) st = (DtDtype)w->dtype;
  else if (s) st = (DtDtype)s->dtype;
  op_like_meta(&c->out[0], m, t);
  if (dt_meta_is_contiguous(m)) dt_meta_set_contiguous(&c->out[0]);
  for (int i = 1; i < 3; i++)
    DT_TRY(c->cx, op_new_meta(c->cx, &c->out[i], st, 1,
                              train ? &n : &zero, m));
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

static DtStatus bn_back_meta (DtMetaCall *c) {
  const DtMeta *m = dt_in(c, 1), *w = dt_in(c, 2);
  int64_t mask[3] = { 1, 1, 1 }, n;
  DtDtype t = w ? (DtDtype)w->dtype : (DtDtype)m->dtype;
  DT_CHECK(c->cx, m->ndim >= 2, DT_E_RUNTIME, "Expected 2D or more input");
  (void)dt_arg_ints(c->args, 9, mask, 3);
  n = m->shape[1];
  op_like_meta(&c->out[0], m, (DtDtype)m->dtype);
  for (int i = 1; i < 3; i++)
    DT_TRY(c->cx, op_new_meta(c->cx, &c->out[i], t, 1, &n, m));
  for (int i = 0; i < 3; i++) c->none[i] = !mask[i];
  c->nout = 3;
  return DT_OK;
}

static DtStatus bn_back_rules (DtRuleCall *c) {
  DtCell row[16];
  int n = c->rows->nout + c->rows->nin;
  for (int i = 0; i < n; i++) row[i] = dt_c_s(0);
  row[0] = row[c->rows->nout] = row[c->rows->nout + 1] = dt_c_s(1);
  dt_rows_add(c->rows, row);
  return c->rows->st;
}

/* ---- group norm ---- */

enum { GN_N = 3, GN_C, GN_HXW, GN_GROUP };

static DtStatus gn_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  int64_t shape[2] = { dt_arg_int(c->args, GN_N),
                       dt_arg_int(c->args, GN_GROUP) };
  int64_t channels = dt_arg_int(c->args, GN_C);
  DT_CHECK(c->cx, shape[1] > 0, DT_E_RUNTIME,
           "Expected num groups to be greater than 0, got %lld",
           (long long)shape[1]);
  DT_CHECK(c->cx, channels % shape[1] == 0, DT_E_RUNTIME, "Expected number of "
           "channels in input to be divisible by num_groups, but got input of "
           "shape %s and num_groups=%lld", op_shape_text(m).s,
           (long long)shape[1]);
  op_like_meta(&c->out[0], m, (DtDtype)m->dtype);
  dt_meta_set_contiguous(&c->out[0]);
  for (int i = 1; i < 3; i++)
    DT_TRY(c->cx, op_new_meta(c->cx, &c->out[i], (DtDtype)m->dtype, 2, shape,
                              m));
  c->nout = 3;
  return DT_OK;
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
static const char *const gn_samples[] = {
  "f32[4, 6, 2], f32[6], f32[6], 4, 6, 2, 3, 1e-05",
  "f32[2, 4], None, None, 2, 4, 1, 2, 1e-05", NULL
};

#define BN_HEAD "(Tensor input, Tensor? weight, Tensor? bias, "
#define BN_TAIL "float momentum, float eps) -> (Tensor, Tensor, Tensor"
#define BN(id, schema_, brief_, flags_, meta_, samples_, ...) \
  static const int row_##id[] = { __VA_ARGS__ }; \
  const DtOpDef dt_op_##id = { .schema = "aten::" schema_, .brief = brief_, \
    .flags = flags_, .meta = meta_, .kernel = op_k_unwritten, \
    .grad = op_g_unwritten, .rulefn = bn_rules, .samples = samples_, \
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
       "Gradient of batch normalisation.", 0, bn_back_meta, op_k_unwritten,
       op_g_unwritten, bn_back_samples, .rulefn = bn_back_rules);
OP_DEF(native_group_norm, "aten::native_group_norm(Tensor input, Tensor? "
       "weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, "
       "float eps) -> (Tensor, Tensor, Tensor)",
       "Normalisation over groups of channels.", 0, gn_meta, op_k_unwritten,
       op_g_unwritten, gn_samples, .rulefn = gn_rules, .rewrite = gn_rewrite);
