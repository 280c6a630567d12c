/* SPDX-License-Identifier: MIT
** oplib/op_ctc.c: the loss of sequences whose labels are not aligned to steps.
**
** The operators come in two forms, with lengths as lists and as tensors; what
** PyTorch has no strategy for is computed on plain tensors only.  How many
** places the result has depends on the lengths, so the kernel makes it. */
#include <math.h>
#include "kernel/ctc.h"
#include "oplib/op_unwritten.h"
#include "oplib/emitting.h"
#include "tensor/dtype_text.h"

#define IN_CHECK " (while checking arguments for ctc_loss_allocate_outputs)"

/* ---- lengths ---- */

typedef struct Lengths { int64_t *v[2]; int64_t n[2], most[2], sum; } Lengths;
static const char *const names[] = { "input_lengths", "target_lengths" };

static void free_lengths (DtCtx *cx, Lengths *l) {
  for (int w = 0; w < 2; w++) dt_free(cx, l->v[w]);
}

/* Argument `arg`, a list or a tensor, as the lengths `which`. */
static DtStatus read_lengths (DtKernelCall *c, int arg, int which,
                              Lengths *l) {
  DtTensor *t = dt_kin(c, arg), *flat = NULL;
  int64_t n = t ? dt_meta_numel(&t->m) : dt_arg_len(c->args, arg), **v;
  DtStatus st = DT_OK;
  DT_CHECK(c->cx, t == NULL || dt_dtype_is_integral((DtDtype)t->m.dtype, false),
           DT_E_RUNTIME, "%s must be integral", names[which]);
  v = &l->v[which];
  l->n[which] = n;
  *v = dt_calloc(c->cx, (size_t)n + 1, sizeof **v);
  if (*v == NULL) return DT_E_NOMEM;
  if (t == NULL) {
    dt_arg_ints(c->args, arg, *v, (int)n);
  } else {
    DT_TRYG(c->cx, op_temp(c->cx, DT_I64, t->m.ndim, t->m.shape, &flat));
    DT_TRYG(c->cx, dt_k_copy(c->cx, t, flat));
    if (n > 0)
      memcpy(*v, dt_tensor_cdata(flat), sizeof **v * (size_t)n);
  }
  for (int64_t i = 0; i < n; i++) {
    if ((*v)[i] > l->most[which]) l->most[which] = (*v)[i];
    if (which && __builtin_add_overflow(l->sum, (*v)[i], &l->sum))
      l->sum = INT64_MAX;       /* more labels than any tensor has */
  }
done:
  dt_tensor_unref(c->cx, flat);
  return st;
}

static DtStatus check_lengths (DtKernelCall *c, const DtMeta *lp,
                               const Lengths *l) {
  for (int w = 0; w < 2; w++)
    DT_CHECK(c->cx, l->n[w] == lp->shape[1], DT_E_RUNTIME,
             "%s must be of size batch_size", names[w]);
  for (int w = 1; w >= 0; w--)
    for (int64_t i = 0; i < l->n[w]; i++) {
      int64_t v = l->v[w][i];
      DT_CHECK(c->cx, v >= 0, DT_E_RUNTIME, "Expected %s to have value at "
               "least 0, but got value %lld" IN_CHECK, names[w], (long long)v);
      DT_CHECK(c->cx, w || v <= lp->shape[0], DT_E_RUNTIME, "Expected %s to "
               "have value at most %lld, but got value %lld" IN_CHECK,
               names[w], (long long)lp->shape[0], (long long)v);
    }
  return DT_OK;
}

static DtStatus check_targets (DtKernelCall *c, const DtMeta *t, int64_t n,
                               const Lengths *l) {
  int64_t first = t->ndim == 1 ? l->sum : n;
  DT_CHECK(c->cx, t->ndim == 1 || t->ndim == 2, DT_E_RUNTIME, "Expected 1 to 2 "
           "dimensions, but got %d-dimensional tensor for argument #2 "
           "'targets'" IN_CHECK, t->ndim);
  DT_CHECK(c->cx, t->shape[0] == first, DT_E_RUNTIME, "Expected tensor to have "
           "size %lld at dimension 0, but got size %lld for argument #2 "
           "'targets'" IN_CHECK, (long long)first, (long long)t->shape[0]);
  DT_CHECK(c->cx, t->ndim == 1 || t->shape[1] >= l->most[1], DT_E_RUNTIME,
           "Expected tensor to have size at least %lld at dimension 1, but got "
           "size %lld for argument #2 'targets'" IN_CHECK,
           (long long)l->most[1], (long long)t->shape[1]);
  return DT_OK;
}

/* What the call's tensors are, in PyTorch's order and words. */
static DtStatus check_call (DtKernelCall *c, const DtMeta *lp, const DtMeta *t,
                            int64_t blank, const Lengths *l) {
  DtDtype p = (DtDtype)lp->dtype, w = (DtDtype)t->dtype;
  DT_CHECK(c->cx, dt_meta_numel(lp) > 0, DT_E_RUNTIME,
           "log_probs tensor must not be empty");
  DT_CHECK(c->cx, p == DT_F32 || p == DT_F64, DT_E_NOTIMPL,
           "\"ctc_loss_cpu\" not implemented for '%s'", dt_dtype_word(p));
  DT_CHECK(c->cx, w == DT_I32 || w == DT_I64, DT_E_RUNTIME, "Expected tensor "
           "for argument #2 'targets' to have scalar type Int; but got %s "
           "instead" IN_CHECK, dt_dtype_type_text(w));
  DT_CHECK(c->cx, lp->ndim == 3, DT_E_RUNTIME, "Expected 3-dimensional tensor, "
           "but got %d-dimensional tensor for argument #1 'log_probs'" IN_CHECK,
           lp->ndim);
  DT_CHECK(c->cx, blank >= 0 && blank < lp->shape[2], DT_E_RUNTIME,
           "blank must be in label range");
  DT_TRY(c->cx, check_lengths(c, lp, l));
  return check_targets(c, t, lp->shape[1], l);
}

/* ---- the two operators ---- */

static DtStatus ctc_kernel (DtKernelCall *c) {
  DtTensor *lp = dt_kin(c, 0), *t = dt_kin(c, 1);
  int64_t blank = dt_arg_int(c->args, 4), shape[3];
  Lengths l;
  DtMeta m;
  DtStatus st;
  memset(&l, 0, sizeof l);
  DT_TRYG(c->cx, read_lengths(c, 2, 0, &l));
  DT_TRYG(c->cx, read_lengths(c, 3, 1, &l));
  DT_TRYG(c->cx, check_call(c, &lp->m, &t->m, blank, &l));
  shape[0] = lp->m.shape[1];
  shape[1] = lp->m.shape[0];
  shape[2] = 2 * l.most[1] + 1;
  for (int i = 0; i < 2; i++) {
    DT_TRYG(c->cx, op_new_meta(c->cx, &m, (DtDtype)lp->m.dtype, i ? 3 : 1,
                               shape, &lp->m));
    DT_TRYG(c->cx, dt_tensor_new(c->cx, &m, false, &c->made[i]));
  }
  DtCtcCall k = { .log_probs = lp, .targets = t, .steps = l.v[0],
                  .labels = l.v[1], .blank = blank };
  DT_TRYG(c->cx, dt_k_ctc(c->cx, &k, c->made[0], c->made[1]));
done:
  free_lengths(c->cx, &l);
  return st;
}

static DtStatus ctc_grad (DtGradCall *c) {
  const DtValue *v = c->args->v;
  bool lists = strstr(c->op->schema, ".Tensor") == NULL;
  if (lists)
    op_g_set(c, 0, EMIT("aten._ctc_loss_backward.default", "tttvvttvv", GOUT,
                        c->in[0], c->in[1], v[2], v[3], c->out[0], c->out[1],
                        v[4], v[5]));
  else
    op_g_set(c, 0, EMIT("aten._ctc_loss_backward.Tensor", "tttttttvv", GOUT,
                        c->in[0], c->in[1], c->in[2], c->in[3], c->out[0],
                        c->out[1], v[4], v[5]));
  return op_g_finish(c);
}

static DtStatus back_meta (DtMetaCall *c) {
  const DtMeta *lp = dt_in(c, 1);
  return op_new_meta(c->cx, &c->out[0], (DtDtype)lp->dtype, lp->ndim,
                     lp->shape, lp);
}

static DtStatus back_kernel (DtKernelCall *c) {
  DtTensor *lp = dt_kin(c, 1), *t = dt_kin(c, 2), *alpha = dt_kin(c, 6);
  Lengths l;
  DtStatus st;
  memset(&l, 0, sizeof l);
  DT_TRYG(c->cx, read_lengths(c, 3, 0, &l));
  DT_TRYG(c->cx, read_lengths(c, 4, 1, &l));
  DT_TRYG(c->cx, check_call(c, &lp->m, &t->m, dt_arg_int(c->args, 7), &l));
  DT_CHECKG(c->cx, alpha->m.ndim == 3 && alpha->m.shape[0] == lp->m.shape[1] &&
            alpha->m.shape[1] == lp->m.shape[0] &&
            alpha->m.shape[2] >= 2 * l.most[1] + 1 &&
            dt_meta_numel(&dt_kin(c, 0)->m) == lp->m.shape[1] &&
            dt_meta_numel(&dt_kin(c, 5)->m) == lp->m.shape[1], DT_E_RUNTIME,
            "%s: grad, neg_log_likelihood and log_alpha are not of this call",
            c->op->sig->full);
  DtCtcCall k = { .log_probs = lp, .targets = t, .steps = l.v[0],
                  .labels = l.v[1], .blank = dt_arg_int(c->args, 7) };
  DT_TRYG(c->cx, dt_k_ctc_backward(c->cx, &k, dt_kin(c, 0), dt_kin(c, 5), alpha,
                                   dt_arg_bool(c->args, 8), c->out[0]));
done:
  free_lengths(c->cx, &l);
  return st;
}

/* ---- the public name ---- */

enum { RED_NONE, RED_MEAN, RED_SUM };

/* Each loss by its number of labels, 1 at least. */
static DtHandle *per_label (DtDecompCall *c, DtHandle *loss, bool lists) {
  DtMeta m = meta_of(c, loss);
  DtHandle *n;
  if (!lists) {
    n = EMIT("aten.clamp_min.default", "ti", c->in[3], INT64_C(1));
    return EMIT("aten.div.Tensor", "tt", loss, n);
  }
  n = EMIT("aten.empty.memory_format", "I dtype=d", 1, m.shape,
           (DtDtype)m.dtype);
  for (int64_t i = 0; dt_emit_ok(c->e) && i < m.shape[0]; i++) {
    int64_t v = c->args->v[3].kind == DT_V_LIST
                ? c->args->v[3].u.list.v[i].u.i : dt_arg_int(c->args, 3);
    DtHandle *one = EMIT("aten.select.int", "tii", n, INT64_C(0), i);
    EMIT("aten.fill_.Scalar", "tf", one, (double)v);
  }
  n = EMIT("aten.clamp_min.default", "ti", n, INT64_C(1));
  return EMIT("aten.div.Tensor", "tt", loss, n);
}

static DtStatus public_decomp (DtDecompCall *c) {
  const DtValue *v = c->args->v;
  bool lists = strstr(c->op->schema, "IntList") != NULL;
  DtMeta lp = meta_of(c, c->in[0]), t = meta_of(c, c->in[1]);
  DtHandle *p = c->in[0], *target = c->in[1], *out[2] = { NULL };
  if (lp.ndim != 3) p = EMIT("aten.unsqueeze.default", "ti", p, INT64_C(1));
  if (t.dtype != DT_I64)
    target = EMIT("aten._to_copy.default", "t dtype=d", target, DT_I64);
  if (lists)
    dt_emit_n(c->e, "aten._ctc_loss.default", out, 2, "ttvvvv", p, target, v[2],
              v[3], v[4], v[6]);
  else
    dt_emit_n(c->e, "aten._ctc_loss.Tensor", out, 2, "ttttvv", p, target,
              c->in[2], c->in[3], v[4], v[6]);
  DtHandle *loss = out[0];
  if (dt_arg_bool(c->args, 6)) {
    DtHandle *zero = EMIT("aten.zeros.default", "I dtype=d", 0, lp.shape,
                          (DtDtype)lp.dtype);
    DtHandle *none = EMIT("aten.eq.Scalar", "tf", loss, INFINITY);
    loss = EMIT("aten.where.self", "ttt", none, zero, loss);
  }
  switch (dt_arg_int(c->args, 5)) {
    case RED_MEAN:
      loss = per_label(c, loss, lists);
      return finish(c, EMIT("aten.mean.default", "t", loss));
    case RED_SUM: return finish(c, EMIT("aten.sum.default", "t", loss));
    default:
      if (lp.ndim == 3) return finish(c, loss);
      return finish(c, EMIT("aten.squeeze.dim", "ti", loss, INT64_C(0)));
  }
}

/* ---- definitions ---- */

#define CALL "f32[8, 4, 8], i64[4, 4], "
#define LISTS "[8, 8, 8, 8], [4, 4, 4, 4]"
#define TENSORS "i64[4], i64[4]"
#define SAVED ", f32[4], f32[4, 8, 9], 0"
static const char *const ctc_samples[] = { CALL LISTS, NULL };
static const char *const ctc_t_samples[] = { CALL TENSORS, NULL };
static const char *const back_samples[] = { "f32[4], " CALL LISTS SAVED, NULL };
static const char *const back_t_samples[] = {
  "f32[4], " CALL TENSORS SAVED, NULL
};

#define LOSS(id, form_, type_, samples_) \
  OP_DEF(id, "aten::_ctc_loss" form_ "(Tensor log_probs, Tensor targets, " \
         type_ " input_lengths, " type_ " target_lengths, int blank=0, bool " \
         "zero_infinity=False) -> (Tensor, Tensor)", \
         "Loss of unaligned sequences.", \
         DT_OP_DATADEP | DT_OP_NOSTRATEGY | DT_OP_AGAIN, \
         NULL, ctc_kernel, ctc_grad, samples_, .row = NULL)
#define BACK(id, form_, type_, samples_) \
  OP_DEF(id, "aten::_ctc_loss_backward" form_ "(Tensor grad, Tensor " \
         "log_probs, Tensor targets, " type_ " input_lengths, " type_ \
         " target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int " \
         "blank, bool zero_infinity=False) -> Tensor", \
         "Gradient of the loss of unaligned sequences.", DT_OP_NOSTRATEGY, \
         back_meta, back_kernel, op_g_absent, samples_, .row = NULL)
#define PUBLIC(id, form_, type_, samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::ctc_loss." form_ "(Tensor log_probs, Tensor targets, " \
      type_ " input_lengths, " type_ " target_lengths, int blank=0, int " \
      "reduction=Mean, bool zero_infinity=False) -> Tensor", \
    .brief = "Loss of unaligned sequences.", .flags = DT_OP_COMPOSITE, \
    .decomp = public_decomp, .samples = samples_ }
LOSS(_ctc_loss, "", "int[]", ctc_samples);
LOSS(_ctc_loss_Tensor, ".Tensor", "Tensor", ctc_t_samples);
BACK(_ctc_loss_backward, "", "int[]", back_samples);
BACK(_ctc_loss_backward_Tensor, ".Tensor", "Tensor", back_t_samples);
PUBLIC(ctc_loss_IntList, "IntList", "int[]", ctc_samples);
PUBLIC(ctc_loss_Tensor, "Tensor", "Tensor", ctc_t_samples);
