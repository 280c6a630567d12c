/* SPDX-License-Identifier: MIT
** oplib/op_margin.c: losses of margins between classes: one right class a
** sample (multi_margin_loss), or a list of them that ends before the first
** negative number (multilabel_margin_loss).
**
** The classes are the last dim; a vector is one sample. */
#include "oplib/oplib_int.h"
#include "oplib/op_unwritten.h"
#include "oplib/emitting.h"


enum { RED_NONE, RED_MEAN, RED_SUM };

/* ---- samples and classes ---- */

typedef struct Sizes { int64_t n, dim; bool flat; } Sizes;

static Sizes sizes_of (const DtMeta *m) {
  Sizes s = { .n = m->ndim > 1 ? m->shape[0] : 1, .dim = 1,
              .flat = m->ndim <= 1 };
  if (m->ndim > 0) s.dim = m->shape[m->ndim - 1];
  return s;
}

/* Element `k` of sample `i` of a matrix or a vector. */
static DtScalar at (const DtTensor *t, int64_t i, int64_t k) {
  int64_t index[2] = { i, k };
  return dt_tensor_get(t, t->m.ndim > 1 ? index : index + 1);
}
static double real_at (const DtTensor *t, int64_t i, int64_t k) {
  DtScalar v = at(t, i, k);
  return v.kind <= DT_K_INT ? (double)v.i : v.re;
}

/* A dense tensor of doubles, zeros. */
static DtStatus dense (DtCtx *cx, const DtMeta *m, DtTensor **t, double **p) {
  void *data;
  DT_TRY(cx, op_temp(cx, DT_F64, m->ndim, m->shape, t));
  DT_TRY(cx, dt_k_fill(cx, *t, dt_scalar_int(0)));
  DT_TRY(cx, dt_tensor_data(cx, *t, &data));
  *p = data;
  return DT_OK;
}

static DtStatus check_input (DtCtx *cx, const DtMeta *m) {
  bool ok = m->ndim == 0 || (m->ndim <= 2 && m->shape[m->ndim - 1] != 0);
  DT_CHECK(cx, ok, DT_E_RUNTIME, "Expected non-empty vector or matrix with "
           "optional 0-dim batch size, but got: %s", op_shape_text(m).s);
  return DT_OK;
}

static DtStatus allows (DtKernelCall *c, const DtTensor *x, const DtTensor *t,
                        const char *name) {
  DtDtype d = (DtDtype)x->m.dtype;
  DT_CHECK(c->cx, d == DT_F32 || d == DT_F64, DT_E_NOTIMPL,
           "\"%s\" not implemented for '%s'", name, op_dtype_word(d));
  DT_CHECK(c->cx, t->m.dtype == DT_I64, DT_E_RUNTIME,
           "expected scalar type Long but found %s",
           op_dtype_word((DtDtype)t->m.dtype));
  return DT_OK;
}

/* One gradient for all samples, or one for each.  PyTorch reads past the end of
** what is too short for multi_margin_loss. */
static DtStatus check_gradient (DtKernelCall *c, const DtMeta *g, bool each,
                                int64_t n) {
  bool many = strncmp(c->op->sig->base, "multilabel", 10) == 0;
  each = each && g->ndim > 0;
  DT_CHECK(c->cx, !each || !many || (g->ndim == 1 && g->shape[0] == n),
           DT_E_RUNTIME, "Expected a tensor of dimension 1 and tensor.size[0] "
           "== %lld but got: dimension %d and tensor.size[0] = %lld",
           (long long)n, g->ndim, (long long)g->shape[0]);
  DT_CHECK(c->cx, !each || g->ndim == 1, DT_E_RUNTIME,
           "TensorAccessor expected 1 dims but tensor has %d", g->ndim);
  DT_CHECK(c->cx, n == 0 || dt_meta_numel(g) >= (each ? n : 1), DT_E_RUNTIME,
           "grad_output has %lld elements for %lld samples",
           (long long)dt_meta_numel(g), (long long)n);
  return DT_OK;
}

/* Gradients of the result times those of the loss, into the output: one a
** sample where nothing was reduced. */
static DtStatus scaled (DtKernelCall *c, DtTensor *g, int64_t red, Sizes s,
                        double *p, DtTensor *tmp) {
  int64_t first[DT_MAX_NDIM] = { 0 };
  DT_TRY(c->cx, check_gradient(c, &g->m, red == RED_NONE, s.n));
  for (int64_t i = 0; i < s.n; i++) {
    double by = dt_tensor_get(g, first).re;
    if (g->m.ndim && red == RED_NONE) by = real_at(g, 0, i);
    for (int64_t k = 0; k < s.dim; k++) p[i * s.dim + k] *= by;
  }
  return dt_k_copy(c->cx, tmp, c->out[0]);
}

/* ---- one class ---- */

/* multi_margin_loss(self, target, p, margin, weight, reduction); backward has
** the gradient before them. */
static DtStatus one_check (DtMetaCall *c, int from) {
  const DtMeta *m = dt_in(c, from), *t = dt_in(c, from + 1);
  const DtMeta *w = dt_in(c, from + 4);
  DtScalar p = dt_arg_scalar(c->args, from + 2);
  double power = p.kind <= DT_K_INT ? (double)p.i : p.re;
  Sizes s = sizes_of(m);
  bool known = !(power < 1 || power > 2) && !(power > 1 && power < 2);
  DT_TRY(c->cx, check_input(c->cx, m));
  DT_CHECK(c->cx, known, DT_E_RUNTIME, "only p == 1 and p == 2 supported");
  OpText mt = op_shape_text(m), tt = op_shape_text(t);
  DT_CHECK(c->cx, t->ndim <= 1 && dt_meta_numel(t) == s.n, DT_E_RUNTIME,
           "multi_margin_loss: target tensor should be 1-D with size equal to "
           "the number of input samples (batch size). Expected target size "
           "[%lld], but got %s. Input has shape %s.", (long long)s.n, tt.s,
           mt.s);
  DT_CHECK(c->cx, !w || (w->ndim <= 1 && dt_meta_numel(w) == s.dim),
           DT_E_RUNTIME, "inconsistent weight size, expected %lld but got %s",
           (long long)s.dim, w ? op_shape_text(w).s : "");
  return DT_OK;
}

static DtStatus one_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  Sizes s = sizes_of(m);
  DT_TRY(c->cx, one_check(c, 0));
  bool each = dt_arg_int(c->args, 5) == RED_NONE && dt_in(c, 1)->ndim > 0;
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, each, &s.n, m);
}

/* What a sample is compared by. */
typedef struct One {
  const DtTensor *x, *t, *w;
  double power, margin;
  Sizes s;
} One;

static DtStatus one_init (DtKernelCall *c, int from, const char *name,
                          One *o) {
  DtScalar p = dt_arg_scalar(c->args, from + 2);
  DtScalar m = dt_arg_scalar(c->args, from + 3);
  o->x = dt_kin(c, from);
  o->t = dt_kin(c, from + 1);
  o->w = dt_kin(c, from + 4);
  o->power = p.kind <= DT_K_INT ? (double)p.i : p.re;
  o->margin = m.kind <= DT_K_INT ? (double)m.i : m.re;
  o->s = sizes_of(&o->x->m);
  DT_TRY(c->cx, allows(c, o->x, o->t, name));
  DT_CHECK(c->cx, !o->w || o->w->m.dtype == o->x->m.dtype, DT_E_RUNTIME,
           "expected scalar type %s but found %s",
           op_dtype_word((DtDtype)o->x->m.dtype),
           o->w ? op_dtype_word((DtDtype)o->w->m.dtype) : "");
  return DT_OK;
}

static DtStatus one_target (DtCtx *cx, const One *o, int64_t i, int64_t *k) {
  *k = at(o->t, 0, i).i;
  DT_CHECK(cx, *k >= 0 && *k < o->s.dim, DT_E_RUNTIME, "target out of range");
  return DT_OK;
}

static double weight_of (const One *o, int64_t k) {
  return o->w ? real_at(o->w, 0, k) : 1;
}

static DtStatus one_kernel (DtKernelCall *c) {
  int red = (int)dt_arg_int(c->args, 5);
  double sum = 0, *p;
  DtTensor *tmp = NULL;
  DtStatus st = DT_OK;
  One o;
  DT_TRY(c->cx, one_init(c, 0, "multi_margin_loss_cpu_kernel", &o));
  DT_TRYG(c->cx, dense(c->cx, &c->out[0]->m, &tmp, &p));
  for (int64_t i = 0; i < o.s.n; i++) {
    double v = 0;
    int64_t right;
    DT_TRYG(c->cx, one_target(c->cx, &o, i, &right));
    for (int64_t k = 0; k < o.s.dim; k++) {
      double z = o.margin - real_at(o.x, i, right) + real_at(o.x, i, k);
      if (k == right || !(z > 0)) continue;
      v += (o.power > 1 ? z * z : z) * weight_of(&o, right);
    }
    v /= (double)o.s.dim;
    if (tmp->m.ndim) p[i] = v;
    sum += v;
  }
  if (red == RED_MEAN && o.s.n > 0) sum /= (double)o.s.n;
  if (tmp->m.ndim == 0) *p = sum;
  st = dt_k_copy(c->cx, tmp, c->out[0]);
done:
  dt_tensor_unref(c->cx, tmp);
  return st;
}

static DtStatus back_meta (DtMetaCall *c) {
  const DtMeta *m = dt_in(c, 1);
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, m->ndim, m->shape,
                     m);
}
static DtStatus one_back_meta (DtMetaCall *c) {
  DT_TRY(c->cx, one_check(c, 1));
  return back_meta(c);
}

static DtStatus one_back_kernel (DtKernelCall *c) {
  double *p, part;
  DtTensor *tmp = NULL;
  DtStatus st = DT_OK;
  One o;
  DT_TRY(c->cx, one_init(c, 1, "multi_margin_loss_backward_cpu_kernel", &o));
  part = 1 / (double)o.s.dim;
  if (dt_arg_int(c->args, 6) == RED_MEAN) part /= (double)o.s.n;
  DT_TRYG(c->cx, dense(c->cx, &o.x->m, &tmp, &p));
  for (int64_t i = 0; i < o.s.n; i++) {
    int64_t right;
    DT_TRYG(c->cx, one_target(c->cx, &o, i, &right));
    for (int64_t k = 0; k < o.s.dim; k++) {
      double z = o.margin - real_at(o.x, i, right) + real_at(o.x, i, k);
      if (k == right || !(z > 0)) continue;
      z = part * (o.power > 1 ? 2 * z : 1) * weight_of(&o, right);
      p[i * o.s.dim + k] = z;
      p[i * o.s.dim + right] -= z;
    }
  }
  st = scaled(c, dt_kin(c, 0), dt_arg_int(c->args, 6), o.s, p, tmp);
done:
  dt_tensor_unref(c->cx, tmp);
  return st;
}

static DtStatus one_grad (DtGradCall *c) {
  const DtValue *v = c->args->v;
  op_g_set(c, 0, EMIT("aten.multi_margin_loss_backward.default", "tttvvtv",
                      GOUT,
                      dt_gin(c, 0), dt_gin(c, 1), v[2], v[3], dt_gin(c, 4),
                      v[5]));
  return op_g_finish(c);
}

/* ---- a list of classes ---- */

static DtStatus many_check (DtMetaCall *c, int from) {
  const DtMeta *m = dt_in(c, from), *t = dt_in(c, from + 1);
  Sizes s = sizes_of(m);
  OpText mt = op_shape_text(m), tt = op_shape_text(t);
  DT_TRY(c->cx, check_input(c->cx, m));
  DT_CHECK(c->cx, s.flat ? t->ndim <= 1 && dt_meta_numel(t) == s.dim
                         : dt_meta_same_shape(m, t), DT_E_RUNTIME,
           "inconsistent target size: %s for input of size: %s", tt.s, mt.s);
  return DT_OK;
}

static DtStatus many_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0], *t = dt_in(c, 1);
  Sizes s = sizes_of(m);
  bool each = dt_arg_int(c->args, 2) == RED_NONE && !s.flat;
  DT_TRY(c->cx, many_check(c, 0));
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[0], (DtDtype)m->dtype, each, &s.n,
                            m));
  c->nout = 2;
  return op_new_meta(c->cx, &c->out[1], (DtDtype)m->dtype, t->ndim, t->shape,
                     m);
}

static DtStatus in_range (DtCtx *cx, const DtTensor *t, Sizes s) {
  for (int64_t i = 0; i < s.n * s.dim; i++) {
    int64_t k = at(t, i / s.dim, i % s.dim).i;
    DT_CHECK(cx, k >= -1 && k < s.dim, DT_E_RUNTIME,
             "argument #2 'target' is out of range");
  }
  return DT_OK;
}

/* Mark the classes of sample i; how many there are. */
static int64_t mark (const DtTensor *t, Sizes s, int64_t i, double *is) {
  int64_t n = 0;
  for (; n < s.dim; n++) {
    int64_t k = at(t, i, n).i;
    if (k < 0) break;
    is[i * s.dim + k] = 1;
  }
  return n;
}

static DtStatus many_kernel (DtKernelCall *c) {
  DtTensor *x = c->in[0], *t = dt_kin(c, 1), *tmp = NULL, *is = NULL;
  Sizes s = sizes_of(&x->m);
  double sum = 0, *p, *q;
  DtStatus st = DT_OK;
  DT_TRY(c->cx, allows(c, x, t, "multilabel_margin_loss_forward_out_frame"));
  DT_TRY(c->cx, in_range(c->cx, t, s));
  DT_TRYG(c->cx, dense(c->cx, &c->out[0]->m, &tmp, &p));
  DT_TRYG(c->cx, dense(c->cx, &c->out[1]->m, &is, &q));
  for (int64_t i = 0; i < s.n; i++) {
    double v = 0;
    int64_t n = mark(t, s, i, q);
    for (int64_t j = 0; j < n; j++)
      for (int64_t k = 0; k < s.dim; k++) {
        double z = 1 - real_at(x, i, at(t, i, j).i) + real_at(x, i, k);
        if (!(q[i * s.dim + k] > 0) && z > 0) v += z;
      }
    v /= (double)s.dim;
    if (tmp->m.ndim) p[i] = v;
    sum += v;
  }
  if (dt_arg_int(c->args, 2) == RED_MEAN && s.n > 0) sum /= (double)s.n;
  if (tmp->m.ndim == 0) *p = sum;
  DT_TRYG(c->cx, dt_k_copy(c->cx, is, c->out[1]));
  st = dt_k_copy(c->cx, tmp, c->out[0]);
done:
  dt_tensor_unref(c->cx, tmp);
  dt_tensor_unref(c->cx, is);
  return st;
}

static DtStatus many_back_meta (DtMetaCall *c) {
  const DtMeta *t = dt_in(c, 2), *is = dt_in(c, 4);
  DT_TRY(c->cx, many_check(c, 1));
  DT_CHECK(c->cx, dt_meta_same_shape(t, is), DT_E_RUNTIME,
           "Expected tensor for argument #3 'target' to have same size as "
           "tensor for argument #5 'is_target'; but %s does not equal %s "
           "(while checking arguments for "
           "multilabel_margin_loss_backward_cpu_template)",
           op_shape_text(t).s, op_shape_text(is).s);
  return back_meta(c);
}

/* (grad_output, self, target, reduction, is_target) */
static DtStatus many_back_kernel (DtKernelCall *c) {
  DtTensor *x = dt_kin(c, 1), *t = dt_kin(c, 2), *is = dt_kin(c, 4);
  DtTensor *tmp = NULL;
  Sizes s = sizes_of(&x->m);
  double *p, part = 1 / (double)s.dim;
  DtStatus st = DT_OK;
  DT_TRY(c->cx, allows(c, x, t, "multilabel_margin_loss_backward_out_frame"));
  DT_CHECK(c->cx, is->m.dtype == x->m.dtype, DT_E_RUNTIME,
           "expected scalar type %s but found %s",
           op_dtype_word((DtDtype)x->m.dtype),
           op_dtype_word((DtDtype)is->m.dtype));
  if (dt_arg_int(c->args, 3) == RED_MEAN) part /= (double)s.n;
  DT_TRYG(c->cx, dense(c->cx, &x->m, &tmp, &p));
  for (int64_t i = 0; i < s.n; i++)
    for (int64_t j = 0; j < s.dim; j++) {
      int64_t right = at(t, i, j).i;
      if (right < 0 || right >= s.dim) break;
      for (int64_t k = 0; k < s.dim; k++) {
        double z = 1 - real_at(x, i, right) + real_at(x, i, k);
        if (real_at(is, i, k) > 0 || !(z > 0)) continue;
        p[i * s.dim + right] -= part;
        p[i * s.dim + k] += part;
      }
    }
  st = scaled(c, dt_kin(c, 0), dt_arg_int(c->args, 3), s, p, tmp);
done:
  dt_tensor_unref(c->cx, tmp);
  return st;
}

static DtStatus many_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten.multilabel_margin_loss_backward.default", "tttvt",
                      GOUT,
                      dt_gin(c, 0), dt_gin(c, 1), c->args->v[2], c->out[1]));
  return op_g_finish(c);
}

static DtStatus many_decomp (DtDecompCall *c) {
  DtHandle *out[2] = { NULL, NULL };
  dt_emit_n(c->e, "aten.multilabel_margin_loss_forward.default", out, 2,
            "ttv", c->in[0], c->in[1], c->args->v[2]);
  return finish(c, out[0]);
}

static const char *const one_samples[] = { "f32[3, 4], i64[3]", NULL };
static const char *const one_back_samples[] = {
  "f32[], f32[3, 4], i64[3], 1, 1", NULL
};
static const char *const many_back_samples[] = {
  "f32[], f32[3, 4], i64[3, 4], 1, f32[3, 4]", NULL
};
static const char *const many_samples[] = { "f32[3, 4], i64[3, 4], 1", NULL };
#define OP(id, schema_, brief_, flags_, ...) \
  const DtOpDef dt_op_##id = { .schema = "aten::" schema_, .brief = brief_, \
                               .flags = flags_, __VA_ARGS__ }
OP(multi_margin_loss, "multi_margin_loss(Tensor self, Tensor target, Scalar "
   "p=1, Scalar margin=1, Tensor? weight=None, int reduction=1) -> Tensor",
   "Margin of the right class over the others.", DT_OP_NOSTRATEGY,
   .meta = one_meta, .kernel = one_kernel, .grad = one_grad,
   .samples = one_samples);
OP(multi_margin_loss_backward, "multi_margin_loss_backward(Tensor grad_output, "
   "Tensor self, Tensor target, Scalar p, Scalar margin, Tensor? weight=None, "
   "int reduction=1) -> Tensor", "Gradient of multi_margin_loss.",
   DT_OP_NOSTRATEGY, .meta = one_back_meta,
   .kernel = one_back_kernel, .grad = op_g_absent,
   .samples = one_back_samples);
OP(multilabel_margin_loss, "multilabel_margin_loss(Tensor self, Tensor target, "
   "int reduction=1) -> Tensor", "Margins of right classes over the others.",
   DT_OP_COMPOSITE | DT_OP_NOSTRATEGY, .decomp = many_decomp,
   .samples = many_samples);
OP(multilabel_margin_loss_forward, "multilabel_margin_loss_forward(Tensor "
   "self, Tensor target, int reduction) -> (Tensor output, Tensor is_target)",
   "Margins of right classes over the others, and which are right.",
   DT_OP_NOSTRATEGY | DT_OP_SAVE_OUT | DT_OP_AGAIN, .meta = many_meta,
   .kernel = many_kernel, .grad = many_grad, .samples = many_samples);
OP(multilabel_margin_loss_backward, "multilabel_margin_loss_backward(Tensor "
   "grad_output, Tensor self, Tensor target, int reduction, Tensor is_target) "
   "-> Tensor", "Gradient of multilabel_margin_loss_forward.",
   DT_OP_NOSTRATEGY, .meta = many_back_meta,
   .kernel = many_back_kernel, .grad = op_g_absent,
   .samples = many_back_samples);
