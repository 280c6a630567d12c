/* SPDX-License-Identifier: MIT
** oplib/op_loss2d.c: the negative log likelihood of images: one class per
** place, classes in dim 1.
**
** Decisions are those of nll_loss (op_loss.c): the class dim must be whole.
** The work is done on dense f64 copies, (batch, class, place). */
#include "oplib/oplib_int.h"
#include "oplib/second.h"

#include <string.h>


enum { RED_NONE, RED_MEAN, RED_SUM };

/* ---- shapes ---- */

static DtStatus check (DtCtx *cx, const DtMeta *in, const DtMeta *t,
                       const DtMeta *w) {
  DT_CHECK(cx, t->ndim == 3, DT_E_RUNTIME, "only batches of spatial targets "
           "supported (3D tensors) but got targets of dimension: %d",
           t->ndim);
  DT_CHECK(cx, in->ndim == 4, DT_E_RUNTIME, "only batches of spatial inputs "
           "supported (4D tensors), but got input of dimension: %d",
           in->ndim);
  DT_CHECK(cx, w == NULL || dt_meta_numel(w) == in->shape[1], DT_E_RUNTIME,
           "weight tensor should be defined either for all or no classes");
  DT_CHECK(cx, in->shape[0] == t->shape[0] && in->shape[2] == t->shape[1] &&
           in->shape[3] == t->shape[2], DT_E_RUNTIME, "size mismatch (got "
           "input: %s , target: %s", op_shape_text(in).s,
           op_shape_text(t).s);
  return DT_OK;
}

/* In propagation the loss is that of any number of dims: gather along the
** classes. */
static DtStatus check_fake (DtMetaCall *c) {
  const DtMeta *in = c->in[0], *t = dt_in(c, 1), *w = dt_in(c, 2);
  int ch = in->ndim < 2 ? 0 : 1, nd = in->ndim;
  DtMeta x;
  if (w != NULL) {
    DtMeta v;
    DT_CHECK(c->cx, nd < 2 || w->ndim > 0, DT_E_INDEX,
             "tuple index out of range");
    dt_meta_copy(&v, w);
    if (nd > 1) {
      v.ndim = (uint8_t)nd;
      for (int i = 0; i < nd; i++) v.shape[i] = i == ch ? w->shape[0] : 1;
    }
    DT_TRY(c->cx, dt_meta_broadcast(c->cx, in, &v, &x));
    nd = x.ndim;
  }
  DT_CHECK(c->cx, ch <= t->ndim, DT_E_INDEX, "Dimension out of range (expected "
           "to be in range of [%d, %d], but got %d)", -t->ndim - 1, t->ndim,
           ch);
  DT_CHECK(c->cx, (nd > 1 ? nd : 1) == t->ndim + 1, DT_E_RUNTIME, "Index "
           "tensor must have the same number of dimensions as input tensor");
  return DT_OK;
}

static DtStatus nll_meta (DtMetaCall *c) {
  const DtMeta *in = c->in[0], *t = dt_in(c, 1);
  bool each = dt_arg_int(c->args, 3) == RED_NONE;
  DT_CHECK(c->cx, t->dtype == DT_I64 || t->dtype == DT_U8, DT_E_RUNTIME,
           "expected target dtype to be Long or Byte, but got %s",
           op_dtype_word((DtDtype)t->dtype));
  DT_TRY(c->cx, c->fake ? check_fake(c)
                        : check(c->cx, in, t, dt_in(c, 2)));
  c->nout = 2;
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[0], (DtDtype)in->dtype,
                            each ? 3 : 0, t->shape, in));
  return op_new_meta(c->cx, &c->out[1], (DtDtype)in->dtype, 0, NULL, in);
}

/* (grad, self, target, weight, reduction, ignore, total) */
static DtStatus back_meta (DtMetaCall *c) {
  const DtMeta *g = c->in[0], *in = dt_in(c, 1), *t = dt_in(c, 2);
  const DtMeta *total = dt_in(c, 6);
  int64_t n = dt_meta_numel(total);
  DT_TRY(c->cx, check(c->cx, in, t, dt_in(c, 3)));
  DT_CHECK(c->cx, n == 1, DT_E_RUNTIME, "expected total_weight to be a single "
           "element tensor, got: %s (%lld elements)", op_shape_text(total).s,
           (long long)n);
  if (dt_arg_int(c->args, 4) == RED_NONE) {
    DT_CHECK(c->cx, g->ndim == 3, DT_E_RUNTIME, "grad_output must have same "
             "dimension as target (3) but got dimension: %s",
             op_shape_text(g).s);
    DT_CHECK(c->cx, dt_meta_same_shape(g, t), DT_E_RUNTIME, "size mismatch "
             "(got grad_output: %s target: %s", op_shape_text(g).s,
             op_shape_text(t).s);
  } else {
    DT_CHECK(c->cx, g->ndim <= 1 && dt_meta_numel(g) == 1, DT_E_RUNTIME,
             "Expected a single element grad_output tensor, but got: %s",
             op_shape_text(g).s);
  }
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)in->dtype, 4, in->shape, in);
}

/* ---- kernels ---- */

/* Dense copies of a call's tensors. */
typedef struct Nll {
  DtTensor *x, *t, *w;
  double *px, *pw;
  const int64_t *pt;
  int64_t n, classes, places;
  DtDtype type;                 /* sums are kept in it */
} Nll;

static double rounded (const Nll *v, double x) {
  if (v->type == DT_F16)
    return (double)dt_f16_to_f32(dt_f32_to_f16((float)x));
  if (v->type == DT_BF16)
    return (double)dt_bf16_to_f32(dt_f32_to_bf16((float)x));
  return x;
}

static DtStatus dense (DtCtx *cx, const DtTensor *t, DtDtype d,
                       DtTensor **out, void **data) {
  DT_TRY(cx, op_temp(cx, d, t->m.ndim, t->m.shape, out));
  DT_TRY(cx, dt_k_copy(cx, t, *out));
  return dt_tensor_data(cx, *out, data);
}

static void nll_fini (DtCtx *cx, Nll *v) {
  dt_tensor_unref(cx, v->x);
  dt_tensor_unref(cx, v->t);
  dt_tensor_unref(cx, v->w);
}

static DtStatus same_type (DtCtx *cx, const DtMeta *x, const DtMeta *w) {
  DT_CHECK(cx, x->dtype == w->dtype, DT_E_RUNTIME, "expected scalar type %s "
           "but found %s", op_dtype_word((DtDtype)x->dtype),
           op_dtype_word((DtDtype)w->dtype));
  return DT_OK;
}

static DtStatus nll_init (DtCtx *cx, Nll *v, const char *name,
                          const DtTensor *x, const DtTensor *t,
                          const DtTensor *w) {
  void *p;
  memset(v, 0, sizeof *v);
  DT_CHECK(cx, dt_dtype_is_float((DtDtype)x->m.dtype) &&
           dt_dtype_size((DtDtype)x->m.dtype) >= 2, DT_E_NOTIMPL,
           "\"%s\" not implemented for '%s'", name,
           op_dtype_word((DtDtype)x->m.dtype));
  DT_CHECK(cx, t->m.dtype == DT_I64, DT_E_RUNTIME, "expected scalar type Long "
           "but found %s", op_dtype_word((DtDtype)t->m.dtype));
  v->type = (DtDtype)x->m.dtype;
  v->n = x->m.shape[0];
  v->classes = x->m.shape[1];
  v->places = x->m.shape[2] * x->m.shape[3];
  DT_TRY(cx, dense(cx, t, DT_I64, &v->t, &p));
  v->pt = (const int64_t *)p;
  if (w == NULL) return DT_OK;
  DT_TRY(cx, same_type(cx, &x->m, &w->m));
  DT_TRY(cx, dense(cx, w, DT_F64, &v->w, &p));
  v->pw = (double *)p;
  return DT_OK;
}

/* The class of place i, -1 when ignored. */
static DtStatus class_at (DtCtx *cx, const Nll *v, int64_t i, int64_t ignore,
                          int64_t *out) {
  *out = v->pt[i];
  DT_CHECK(cx, *out == ignore || (*out >= 0 && *out < v->classes), DT_E_INDEX,
           "Target %lld is out of bounds.", (long long)*out);
  if (*out == ignore) *out = -1;
  return DT_OK;
}

/* Losses of all places into `each`, their sum and the sum of weights. */
static DtStatus nll_sum (DtCtx *cx, const Nll *v, int64_t ignore,
                         double *each, double *sum, double *total) {
  int64_t k;
  for (int64_t i = 0; i < v->n * v->places; i++) {
    DT_TRY(cx, class_at(cx, v, i, ignore, &k));
    each[i] = 0;
    if (k < 0) continue;
    double w = v->pw ? v->pw[k] : 1;
    int64_t b = i / v->places, p = i % v->places;
    each[i] = -v->px[(b * v->classes + k) * v->places + p] * w;
    *sum = rounded(v, *sum + rounded(v, each[i]));
    *total = rounded(v, *total + w);
  }
  return DT_OK;
}

static DtStatus nll_kernel (DtKernelCall *c) {
  int64_t red = dt_arg_int(c->args, 3);
  double sum = 0, total = 0;
  DtTensor *each = NULL;
  DtStatus st;
  void *p;
  Nll v;
  DT_TRYG(c->cx, nll_init(c->cx, &v, "nll_loss2d_forward_out_frame",
                          c->in[0], dt_kin(c, 1), dt_kin(c, 2)));
  DT_TRYG(c->cx, dense(c->cx, c->in[0], DT_F64, &v.x, &p));
  v.px = (double *)p;
  DT_TRYG(c->cx, op_temp(c->cx, DT_F64, 3, dt_kin(c, 1)->m.shape, &each));
  DT_TRYG(c->cx, dt_tensor_data(c->cx, each, &p));
  DT_TRYG(c->cx, nll_sum(c->cx, &v, dt_arg_int(c->args, 4), (double *)p, &sum,
                         &total));
  if (red == RED_NONE) {
    DT_TRYG(c->cx, dt_k_copy(c->cx, each, c->out[0]));
    total = 0;
  } else {
    if (red == RED_MEAN) sum /= total;
    DT_TRYG(c->cx, dt_k_fill(c->cx, c->out[0], dt_scalar_float(sum)));
  }
  st = dt_k_fill(c->cx, c->out[1], dt_scalar_float(total));
done:
  dt_tensor_unref(c->cx, each);
  nll_fini(c->cx, &v);
  return st;
}

static DtStatus back_fill (DtKernelCall *c, const Nll *v, const double *g,
                           double total, double *out) {
  int64_t red = dt_arg_int(c->args, 4), k;
  for (int64_t i = 0; i < v->n * v->places; i++) {
    DT_TRY(c->cx, class_at(c->cx, v, i, dt_arg_int(c->args, 5), &k));
    if (k < 0) continue;
    double d = -g[red == RED_NONE ? i : 0] * (v->pw ? v->pw[k] : 1);
    int64_t b = i / v->places, p = i % v->places;
    out[(b * v->classes + k) * v->places + p] =
      red == RED_MEAN ? d / total : d;
  }
  return DT_OK;
}

static DtStatus back_kernel (DtKernelCall *c) {
  DtTensor *g = NULL, *o = NULL;
  DtScalar total;
  DtStatus st;
  void *pg, *po;
  Nll v;
  DT_TRYG(c->cx, nll_init(c->cx, &v, "nll_loss2d_backward_out_frame",
                          dt_kin(c, 1), dt_kin(c, 2), dt_kin(c, 3)));
  DT_CHECKG(c->cx, dt_meta_is_contiguous(&dt_kin(c, 1)->m), DT_E_RUNTIME,
            "grad_input must be contiguous");
  DT_TRYG(c->cx, same_type(c->cx, &dt_kin(c, 1)->m, &c->in[0]->m));
  if (dt_arg_int(c->args, 4) != RED_NONE)
    DT_TRYG(c->cx, same_type(c->cx, &dt_kin(c, 1)->m, &dt_kin(c, 6)->m));
  DT_TRYG(c->cx, dense(c->cx, c->in[0], DT_F64, &g, &pg));
  DT_TRYG(c->cx, op_temp(c->cx, DT_F64, 4, c->out[0]->m.shape, &o));
  DT_TRYG(c->cx, dt_k_fill(c->cx, o, dt_scalar_int(0)));
  DT_TRYG(c->cx, dt_tensor_data(c->cx, o, &po));
  DT_TRYG(c->cx, dt_tensor_item(c->cx, dt_kin(c, 6), &total));
  DT_TRYG(c->cx, back_fill(c, &v, (const double *)pg, total.re,
                           (double *)po));
  st = dt_k_copy(c->cx, o, c->out[0]);
done:
  dt_tensor_unref(c->cx, g);
  dt_tensor_unref(c->cx, o);
  nll_fini(c->cx, &v);
  return st;
}

static DtStatus nll_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten.nll_loss2d_backward.default", "ttttvvt",
                      c->gout[0],
                      dt_gin(c, 0), dt_gin(c, 1), dt_gin(c, 2), c->args->v[3],
                      c->args->v[4], c->out[1]));
  return op_g_finish(c);
}

static DtStatus loss_decomp (DtDecompCall *c) {
  DtHandle *out[2] = { NULL, NULL };
  dt_emit_n(c->e, "aten.nll_loss2d_forward.default", out, 2, "tttvv",
            c->in[0], c->in[1], dt_hin(c, 2), c->args->v[3], c->args->v[4]);
  c->out[0] = out[0];
  c->nout = 1;
  return c->e->st;
}

/* ---- samples and definitions ---- */

static const char *const samples[] = {
  "f32[2, 3, 4, 2], i64[2, 4, 2], None, 1, -100",
  "f32[2, 3, 4, 2], i64[2, 4, 2], f32[3], 0, 1", NULL
};
static const char *const back_samples[] = {
  "f32[], f32[2, 3, 4, 2], i64[2, 4, 2], None, 1, -100, f32[]",
  "f32[2, 4, 2], f32[2, 3, 4, 2], i64[2, 4, 2], f32[3], 0, 1, f32[]", NULL
};
static const char *const loss_samples[] = {
  "f32[2, 3, 4, 2], i64[2, 4, 2]", NULL
};

#define OP(id, schema_, brief_, ...) \
  const DtOpDef dt_op_##id = { .schema = "aten::" #id schema_, \
                               .brief = brief_, __VA_ARGS__ }
OP(nll_loss2d, "(Tensor self, Tensor target, Tensor? weight=None, int "
   "reduction=1, SymInt ignore_index=-100) -> Tensor",
   "Negative log likelihood of images.", .flags = DT_OP_COMPOSITE,
   .decomp = loss_decomp, .samples = loss_samples);
OP(nll_loss2d_forward, "(Tensor self, Tensor target, Tensor? weight, int "
   "reduction, SymInt ignore_index) -> (Tensor output, Tensor total_weight)",
   "Minus the log probability of each place's class.",
   .flags = DT_OP_SAVE_OUT | DT_OP_AGAIN, .meta = nll_meta,
   .kernel = nll_kernel,
   .strategy = op_nll_strategy, .grad = nll_grad, .samples = samples);
OP(nll_loss2d_backward, "(Tensor grad_output, Tensor self, Tensor target, "
   "Tensor? weight, int reduction, SymInt ignore_index, Tensor total_weight) "
   "-> Tensor", "Gradient of nll_loss2d.", .grad = op_gg_nll_loss2d_backward,
   .meta = back_meta, .kernel = back_kernel,
   .strategy = op_nll_back_strategy, .samples = back_samples);
