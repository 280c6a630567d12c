/* SPDX-License-Identifier: MIT
** oplib/op_upsample_fake.c: what propagation says of the sizes a resize is
** given.  PyTorch infers shapes of these operators in Python, each form its
** own way: the gradients' check with other words, the nearest element only
** where there is data, and what it decomposes (linear, cubic, nearest with
** out=) hardly at all. */
#include "oplib/op_upsample.h"

/* "torch.Size([2, 3])" of an input's sizes, "[2, 3]" of a list. */
static DtStatus worded (DtCtx *cx, const DtUpSizes *s) {
  bool ok = true;
  const char *size = s->list ? "" : "torch.Size(", *end = s->list ? "" : ")";
  for (int d = 0; d < s->nd; d++) ok = ok && s->in[2 + d] > 0 && s->out[d] > 0;
  DT_CHECK(cx, ok, DT_E_RUNTIME, "Input and output sizes should be greater "
           "than 0, but got input size %s%s%s and output size %s", size,
           op_ints_text(s->nd + 2, s->in).s, end,
           op_ints_text(s->nd, s->out).s);
  return DT_OK;
}

/* Places are made dim by dim: in/(in * factor), or in/out where there is no
** factor. */
static DtStatus places (DtCtx *cx, const DtUpSizes *s) {
  for (int d = 0; d < s->nd; d++) {
    bool by_factor = s->factor[d] > 0;
    if (s->nearest && (by_factor ? s->in[2 + d] : s->out[d]) == 0)
      return dt_raise_as(cx, DT_E_RUNTIME, "ZeroDivisionError",
                         "%sdivision by zero", by_factor ? "float " : "");
    DT_CHECK(cx, s->out[d] >= 0, DT_E_RUNTIME,
             "upper bound and lower bound inconsistent with step sign");
  }
  return DT_OK;
}

DtStatus op_up_fake (DtCtx *cx, const DtUpSizes *s) {
  int64_t n = 1;
  for (int d = 0; d < s->nd + 2; d++) n = s->in[d] == 0 ? 0 : n;
  if (s->decomposed) return places(cx, s);
  DT_CHECK(cx, n > 0 || !s->nearest || s->list, DT_E_TYPE,
           "cond must be a bool, but got <class 'int'>");
  DT_TRY(cx, worded(cx, s));
  DT_CHECK(cx, s->list || s->in[1] > 0, DT_E_RUNTIME, "Non-empty %dD data "
           "tensor expected but got a tensor with sizes torch.Size(%s)",
           s->nd + 2, op_ints_text(s->nd + 2, s->in).s);
  return DT_OK;
}
