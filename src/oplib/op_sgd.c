/* SPDX-License-Identifier: MIT
** oplib/op_sgd.c: the fused step of stochastic gradient descent.  PyTorch has
** no sharding strategy for it, so it runs on plain tensors only. */
#include "oplib/oplib_int.h"

#include <string.h>

enum { SG_PARAM, SG_GRAD, SG_BUF, SG_WD, SG_MOMENTUM, SG_LR, SG_DAMPENING,
       SG_NESTEROV, SG_MAXIMIZE, SG_FIRST, SG_SCALE, SG_INF };

static DtStatus sgd_meta (DtMetaCall *c) {
  c->nout = 0;
  return DT_OK;
}

/* x = b * x + a * y */
static DtStatus blend (DtCtx *cx, DtTensor *x, double b, double a,
                       const DtTensor *y) {
  DtDtype t = dt_dtype_acc((DtDtype)x->m.dtype);
  DtScalar p[4];
  memset(p, 0, sizeof p);
  p[0] = dt_scalar_float(b);
  if (b != 1) DT_TRY(cx, dt_k_unary(cx, DT_U_mul_scalar, t, p, x, x));
  p[0] = dt_scalar_float(a);
  return dt_k_binary(cx, DT_B_add, t, p, x, y, x);
}

/* One parameter; g is a copy that may be changed. */
static DtStatus sgd_one (DtKernelCall *c, DtTensor *p, DtTensor *g,
                         DtTensor *buf) {
  DtCtx *cx = c->cx;
  double momentum = dt_arg_float(c->args, SG_MOMENTUM);
  double lr = dt_arg_float(c->args, SG_LR), wd = dt_arg_float(c->args, SG_WD);
  if (dt_arg_bool(c->args, SG_MAXIMIZE))
    DT_TRY(cx, dt_k_unary(cx, DT_U_neg, dt_dtype_acc((DtDtype)g->m.dtype),
                          NULL, g, g));
  if (wd != 0) DT_TRY(cx, blend(cx, g, 1, wd, p));
  if (buf != NULL) {
    if (dt_arg_bool(c->args, SG_FIRST)) DT_TRY(cx, dt_k_copy(cx, g, buf));
    else DT_TRY(cx, blend(cx, buf, momentum,
                          1 - dt_arg_float(c->args, SG_DAMPENING), g));
    if (dt_arg_bool(c->args, SG_NESTEROV))
      DT_TRY(cx, blend(cx, g, 1, momentum, buf));
    else
      g = buf;
  }
  return blend(cx, p, 1, -lr, g);
}

static DtStatus check_lists (DtKernelCall *c, const int (*slot)[DT_MAX_OUTS],
                             int n, int nbuf) {
  for (int k = SG_GRAD; k <= SG_BUF; k++)
    for (int i = 0; i < (k == SG_BUF ? nbuf : n); i++)
      DT_CHECK(c->cx, dt_meta_same_shape(&c->in[slot[SG_PARAM][i]]->m,
                                         &c->in[slot[k][i]]->m),
               DT_E_RUNTIME, "%s: tensor %d of list %d does not fit its "
               "parameter", c->op->sig->full, i, k);
  return DT_OK;
}

static DtStatus sgd_kernel (DtKernelCall *c) {
  int slot[3][DT_MAX_OUTS];
  int n = dt_arg_slots(c->args, SG_PARAM, slot[0], DT_MAX_OUTS);
  int ng = dt_arg_slots(c->args, SG_GRAD, slot[1], DT_MAX_OUTS);
  int nbuf = dt_arg_slots(c->args, SG_BUF, slot[2], DT_MAX_OUTS);
  DT_CHECK(c->cx, n == ng && (nbuf == 0 || nbuf == n), DT_E_RUNTIME,
           "Expected %s.size() == n_tensors to be true, but got false.  (Could "
           "this error message be improved?  If so, please report an "
           "enhancement request to PyTorch.)",
           ng != n ? "grads" : "momentum_buffer_list");
  DT_TRY(c->cx, check_lists(c, (const int (*)[DT_MAX_OUTS])slot, n, nbuf));
  for (int i = 0; i < n; i++) {
    DtTensor *p = c->in[slot[0][i]], *g = NULL;
    DtStatus st = op_temp(c->cx, (DtDtype)p->m.dtype, p->m.ndim, p->m.shape,
                          &g);
    if (st == DT_OK) st = dt_k_copy(c->cx, c->in[slot[1][i]], g);
    if (st == DT_OK)
      st = sgd_one(c, p, g, nbuf > 0 ? c->in[slot[2][i]] : NULL);
    dt_tensor_unref(c->cx, g);
    if (st != DT_OK) return st;
  }
  return DT_OK;
}

static const char *const sgd_samples[] = {
  "[f32[4, 3]], [f32[4, 3]], [], weight_decay=0.01, momentum=0.0, lr=0.1, "
  "dampening=0.0, nesterov=false, maximize=false, is_first_step=false", NULL
};

const DtOpDef dt_op__fused_sgd_ = {
  .schema = "aten::_fused_sgd_(Tensor(a!)[] self, Tensor(b!)[] grads, "
            "Tensor(c!)[] momentum_buffer_list, *, float weight_decay, float "
            "momentum, float lr, float dampening, bool nesterov, bool "
            "maximize, bool is_first_step, Tensor? grad_scale=None, Tensor? "
            "found_inf=None) -> ()",
  .brief = "One step of gradient descent on lists.",
  .flags = DT_OP_FOREACH | DT_OP_INPLACE | DT_OP_NOGRAD | DT_OP_ALIAS_SAFE |
           DT_OP_NOSTRATEGY,
  .meta = sgd_meta, .kernel = sgd_kernel, .samples = sgd_samples
};
