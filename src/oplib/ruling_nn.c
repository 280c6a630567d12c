/* SPDX-License-Identifier: MIT
** oplib/ruling_nn.c: rulings of losses, normalisation, convolution and
** attention, since 2.14 rows on one mesh dimension.
** Semantics: _ops/_math_ops.py, _matrix_ops.py, _conv_ops.py, 2.14. */
#include "oplib/ruling_int.h"

#include <string.h>

/* ---- nll_loss ---- */

enum { NLL_NONE, NLL_MEAN, NLL_SUM };

static int channel_of (const DtMeta *m) { return m->ndim >= 2 ? 1 : 0; }

/* The mean divides by the weights of all targets: no row for it. */
DtStatus op_rl_nll (DtRuleCall *c) {
  const DtMeta *m = c->in[0];
  int64_t reduction = dt_arg_int(c->args, 3);
  int ch = channel_of(m);
  for (int d = 0; d < m->ndim && reduction != NLL_MEAN; d++) {
    DtCell t = dt_c_s(d < ch ? d : d - 1), p = dt_c_p(DT_OP_SUM);
    DtCell row[5] = { t, dt_c_r(), dt_c_s(d), t, dt_c_r() };
    if (d == ch) continue;
    if (reduction == NLL_SUM) row[0] = row[1] = p;
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

static void nll_back_row (DtRuleCall *c, DtCell in, DtCell grad, DtCell target,
                          DtCell total) {
  bool weight = dt_rin(c, 3) != NULL;
  DtCell row[6] = { in, grad, in, target, dt_c_r(), total };
  row[weight ? 5 : 4] = total;
  dt_rows_add(c->rows, row);
}

DtStatus op_rl_nll_back (DtRuleCall *c) {
  const DtMeta *m = c->in[1];
  int64_t reduction = dt_arg_int(c->args, 4);
  DtCell r = dt_c_r(), p = dt_c_p(DT_OP_SUM);
  int ch = channel_of(m);
  for (int d = 0; d < m->ndim; d++) {
    DtCell in = dt_c_s(d), t = dt_c_s(d < ch ? d : d - 1);
    if (d == ch) continue;
    nll_back_row(c, in, reduction == NLL_NONE ? t : r, t, r);
    if (reduction == NLL_SUM) nll_back_row(c, in, r, t, p);
  }
  if (reduction != NLL_MEAN) nll_back_row(c, r, r, r, p);
  return c->rows->st;
}

/* ---- layer_norm, rms_norm: gradients that are not wanted are None ---- */

DtStatus op_rl_norm_back (DtRuleCall *c) {
  static const char *const param[] = { "weight", "bias" };
  int mask = op_rl_arg(c, "output_mask"), nout = c->rows->nout;
  int keep = c->in[1]->ndim - dt_arg_len(c->args, 2);
  const DtValue *want = c->args->v[mask].u.list.v;
  for (int d = 0; d < keep; d++) {
    DtCell row[12];
    int n = 0;
    row[n++] = want[0].u.b ? dt_c_s(d) : dt_c_none();
    for (int i = 1; i < nout; i++) {
      int at = op_rl_arg(c, param[i - 1]);
      row[n++] = dt_rin(c, at) != NULL && want[i].u.b ? dt_c_p(DT_OP_SUM)
                                                      : dt_c_none();
    }
    for (int i = 0; i < (nout == 3 ? 4 : 3); i++) row[n++] = dt_c_s(d);
    while (n < nout + c->rows->nin) row[n++] = dt_c_r();
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

/* batch_norm: by channels. */
DtStatus op_rl_bn_back (DtRuleCall *c) {
  const DtValue *want = c->args->v[op_rl_arg(c, "output_mask")].u.list.v;
  DtCell row[16];
  int nout = c->rows->nout, n = nout + c->rows->nin;
  for (int i = 0; i < n; i++) row[i] = dt_c_s(0);
  row[0] = row[nout] = row[nout + 1] = dt_c_s(1);
  for (int i = 0; i < nout; i++)
    if (!want[i].u.b) row[i] = dt_c_none();
  dt_rows_add(c->rows, row);
  return c->rows->st;
}

/* ---- products, convolution ---- */

DtStatus op_rl_dot (DtRuleCall *c) {
  DtCell s = dt_c_s(0), r = dt_c_r(), p = dt_c_p(DT_OP_SUM);
  DtCell cut[3] = { p, s, s };
  dt_rows_add(c->rows, cut);
  for (int i = 0; i < 2; i++) {
    DtCell q = dt_c_p(op_rl_ops[i]), a[3] = { q, q, r }, b[3] = { q, r, q };
    dt_rows_add(c->rows, a);
    dt_rows_add(c->rows, b);
  }
  return c->rows->st;
}

/* The last of a list of numbers; one stands for all. */
static int64_t last_of (const DtArgs *a, int i) {
  int64_t v[DT_MAX_NDIM];
  int n = op_ints(a, i, v);
  return n > 0 ? v[n - 1] : 0;
}

/* Do windows along the last dim lie side by side (patch embedding)?  `at`:
** position of the stride. */
static bool patches (const DtArgs *a, const DtMeta *x, const DtMeta *w,
                     int at) {
  return x->ndim == w->ndim && x->ndim >= 3 && x->ndim <= 5 &&
         !dt_arg_bool(a, at + 3) && last_of(a, at + 1) == 0 &&
         last_of(a, at + 2) == 1 &&
         last_of(a, at) == w->shape[w->ndim - 1];
}

static DtCell cut_last (const DtMeta *m) {
  return dt_c_fix(dt_pl_shard(m->ndim - 1));
}

DtStatus op_rl_conv (DtRuleCall *c) {
  const DtMeta *x = c->in[0];
  DtCell r = dt_c_r(), row[4] = { dt_c_s(0), dt_c_s(0), r, r };
  dt_rows_add(c->rows, row);
  if (!patches(c->args, x, c->in[1], 3)) return c->rows->st;
  row[0] = row[1] = cut_last(x);
  dt_rows_add(c->rows, row);
  return c->rows->st;
}

DtStatus op_rl_conv_back (DtRuleCall *c) {
  const DtMeta *x = c->in[1];
  DtCell p = dt_c_p(DT_OP_SUM), s = dt_c_s(0);
  DtCell bias = dt_arg_is_none(c->args, 3) ? dt_c_none() : p;
  DtCell row[6] = { s, p, bias, s, s, dt_c_r() };
  dt_rows_add(c->rows, row);
  if (!patches(c->args, x, c->in[2], 4)) return c->rows->st;
  row[0] = row[3] = row[4] = cut_last(x);
  dt_rows_add(c->rows, row);
  return c->rows->st;
}

/* A cut along the last dim must be one, of whole windows. */
DtStatus op_rf_conv (DtFilterCall *c) {
  bool back = strstr(c->op->sig->base, "backward") != NULL;
  int n = c->mesh->ndim, found = -1;
  const DtMeta *x = &c->in[back ? 1 : 0]->meta;
  const DtPlacement *pl = c->want + (back ? n : 0);
  for (int i = 0; i < n; i++) {
    if (!dt_pl_is_shard(pl[i]) || pl[i].dim != x->ndim - 1) continue;
    if (found >= 0) c->ok = false;
    found = i;
  }
  if (found < 0 || !c->ok) return DT_OK;
  int64_t step = last_of(c->args, back ? 4 : 3) * c->mesh->shape[found];
  c->ok = step != 0 && x->shape[x->ndim - 1] % step == 0;
  return DT_OK;
}

/* ---- attention: by heads, by batch ---- */

/* A row over outputs and inputs: 'S' cut, 'R' whole, '-' None, one letter a
** tensor; the rest of the inputs is whole. */
static void heads_row (DtRuleCall *c, const char *cells, int dim) {
  DtCell row[32];
  int n = c->rows->nout + c->rows->nin;
  size_t len = strlen(cells);
  for (int i = 0; i < n && i < 32; i++)
    row[i] = (size_t)i >= len || cells[i] == 'R' ? dt_c_r()
           : cells[i] == 'S' ? dt_c_s(dim) : dt_c_none();
  dt_rows_add(c->rows, row);
}

static DtStatus heads_rows (DtRuleCall *c, const char *cells) {
  heads_row(c, cells, 1);
  heads_row(c, cells, 0);
  return c->rows->st;
}

DtStatus op_rl_flash (DtRuleCall *c) {
  char cells[] = "SS----R-RSSS";
  if (dt_arg_bool(c->args, op_rl_arg(c, "return_debug_mask"))) cells[8] = 'S';
  return heads_rows(c, cells);
}

DtStatus op_rl_flash_back (DtRuleCall *c) {
  return heads_rows(c, "SSSSSSSSS");
}

DtStatus op_rl_efficient (DtRuleCall *c) {
  char cells[] = "SR--SSSS";
  if (dt_arg_bool(c->args, 4)) cells[1] = 'S';
  return heads_rows(c, cells);
}

DtStatus op_rl_efficient_back (DtRuleCall *c) {
  return heads_rows(c, dt_rin(c, 4) != NULL ? "SSSSSSSSSSS" : "SSS-SSSSSS");
}

DtStatus op_rl_cudnn (DtRuleCall *c) {
  char cells[] = "SR-------SSSS";
  if (dt_arg_bool(c->args, 4)) cells[1] = 'S';
  if (dt_arg_bool(c->args, op_rl_arg(c, "return_debug_mask"))) cells[8] = 'S';
  return heads_rows(c, cells);
}

DtStatus op_rl_cudnn_back (DtRuleCall *c) {
  char cells[16] = "SSSSSSSSS";
  size_t n = strlen(cells);
  for (int i = 6; i <= 10; i++)
    if (dt_rin(c, i) != NULL) cells[n++] = i < 8 ? 'R' : i == 8 ? 'S' : '-';
  return heads_rows(c, cells);
}
