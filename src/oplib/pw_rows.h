/* SPDX-License-Identifier: MIT
** oplib/pw_rows.h: the macros that write a pointwise operator as one row:
** kernel function, type promotion, class of partial rules, gradient, samples.
**
** For the family files that hold nothing else.  Gradients are programs of
** aten calls, in the order autograd makes them; IN, OUT and the words of
** oplib_int.h name what such a program works on. */
#ifndef DT_OPLIB_PW_ROWS_H
#define DT_OPLIB_PW_ROWS_H

#include "base/error_tool.h"
#include "oplib/oplib_int.h"

#define IN (dt_gin(c, 0))       /* the first tensor */
#define OUT (c->out[0])         /* the saved output */
#define ONE ((int64_t)1)
#define TWO ((int64_t)2)

/* A gradient of argument 0 given by one expression. */
#define GRAD(name, expr) \
  static DtStatus name (DtGradCall *c) { \
    op_g_set(c, 0, (expr)); \
    return op_g_finish(c); \
  }

/* Autograd has no formula: said so when backward comes by. */
#define NOT_DIFFERENTIABLE(name, what) \
  static DtStatus name (DtGradCall *c) { \
    return dt_raise(c->e->cx, DT_E_AUTOGRAD, what); \
  }

enum { PW = DT_OP_POINTWISE | DT_OP_UNEVEN | DT_OP_ALIAS_SAFE };

#define ROW1(id, fn, promo, npar, ...) \
  static const int row_##id[PWR_LEN] = { DT_U_##fn, promo, 1, 0, 0, 0, npar, \
                                         __VA_ARGS__ }
#define ROW2(id, fn, promo, npar, ...) \
  static const int row_##id[PWR_LEN] = { DT_B_##fn, promo, 2, 0, 1, 0, npar, \
                                         __VA_ARGS__ }
#define DEF(id, schema_, brief_, flags_, class_, grad_, samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = PW | (flags_), \
    .pw = DT_PW_##class_, .meta = op_pw_meta, .kernel = op_pw_kernel, \
    .grad = grad_, .samples = samples_, .row = row_##id }
/* A tensor and nothing else. */
#define U(id, fn, promo, brief_, flags_, class_, grad_, samples_) \
  ROW1(id, fn, promo, 0, 0); \
  DEF(id, #id "(Tensor self) -> Tensor", brief_, flags_, class_, grad_, \
      samples_)
/* Two tensors. */
#define B(id, fn, promo, name_, brief_, flags_, class_, grad_, samples_) \
  ROW2(id, fn, promo, 0, 0); \
  DEF(id, name_ "(Tensor self, Tensor other) -> Tensor", brief_, flags_, \
      class_, grad_, samples_)

#define S_ op_samples_unary
#define B_ op_samples_binary
#define I_ op_samples_int_binary
#define SAVE DT_OP_SAVE_OUT
#define NOGRAD DT_OP_NOGRAD

#endif
