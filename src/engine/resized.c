/* SPDX-License-Identifier: MIT
** engine/resized.c: what PyTorch says about tensors that a call resizes, and
** about calls on their way out.
**
** It says so twice: where shapes are pretended, before a decision that is not
** remembered (from Python, whose text has a slip), and where the local call
** resizes.  Nothing is resized here. */
#include "engine/engine_int.h"

#include <string.h>

#define HEAD "An output with one or more elements was resized since it had " \
  "shape "
#define TAIL " This behavior is deprecated, and in a future PyTorch release " \
  "outputs will not be resized unless they have zero elements. You can " \
  "explicitly reuse an out tensor t by resizing it, inplace, to zero " \
  "elements with t.resize_(0)."

void dt_resized_warn (DtSession *s, const DtMeta *have, const DtMeta *want) {
  DtBuf b;
  if (dt_meta_numel(have) == 0 || dt_meta_same_shape(have, want)) return;
  dt_buf_init(&b, s->cx);
  dt_buf_add(&b, HEAD);
  dt_buf_add_i64s(&b, have->shape, have->ndim);
  dt_buf_add(&b, ", which does not match the required output shape ");
  dt_buf_add_i64s(&b, want->shape, want->ndim);
  dt_buf_add(&b, "." TAIL " (function _resize_output_check)");
  if (dt_buf_ok(&b) == DT_OK) dt_session_warn(s, dt_buf_str(&b));
  else dt_error_clear(s->cx);
  dt_buf_fini(&b);
}

/* Python's: the required shape is not filled in. */
static void say_python (DtSession *s, const DtMeta *have) {
  DtBuf b;
  dt_buf_init(&b, s->cx);
  dt_buf_add(&b, HEAD "torch.Size(");
  dt_buf_add_i64s(&b, have->shape, have->ndim);
  dt_buf_add(&b, ") which does not match the required output shape "
             "{str(shape)}." TAIL);
  if (dt_buf_ok(&b) == DT_OK) dt_session_warn(s, dt_buf_str(&b));
  else dt_error_clear(s->cx);
  dt_buf_fini(&b);
}

typedef struct Pretend {
  DtSession *s;
  const DtOpDef *op;            /* the form called */
  int nin;
  const DtMeta **in;
  const DtMeta *first;          /* the first tensor that was resized */
} Pretend;

/* Into which tensor does result `k` of the form go? */
static const DtMeta *goes_into (const Pretend *p, const DtArgs *args, int k) {
  const DtSchema *g = p->op->sig;
  int slot = -1;
  if (!g->is_out) slot = k == 0 ? dt_arg_slot(args, 0) : -1;
  for (int i = 0; g->is_out && i < g->nargs; i++)
    if (g->arg[i].kwonly && g->arg[i].write && k-- == 0)
      slot = dt_arg_slot(args, i);
  return slot >= 0 && slot < p->nin ? p->in[slot] : NULL;
}

static void resize_pretended (Pretend *p, const DtArgs *args) {
  DtCtx *cx = p->s->cx;
  DtMeta out[8];
  bool none[8];
  int64_t off[8];
  DtMetaCall c = { .cx = cx, .op = p->op->base, .args = args, .nin = p->nin,
                   .in = p->in, .maxout = 8, .out = out, .none = none,
                   .offset = off, .fake = true };
  if (dt_prop_meta(&c) != DT_OK) {
    dt_error_clear(cx);
    return;
  }
  for (int k = 0; k < c.nout; k++) {
    const DtMeta *m = goes_into(p, args, k);
    if (none[k] || m == NULL || dt_meta_numel(m) == 0 ||
        dt_meta_same_shape(m, &out[k]))
      continue;
    if (p->first == NULL) p->first = m;
    say_python(p->s, m);
  }
}

static void pretend_elements (Pretend *p, const DtArgs *args) {
  DtArgs *one = DT_NEW(p->s->cx, DtArgs);
  int n = dt_foreach_count(args);
  for (int i = 0; one != NULL && i < n; i++)
    if (dt_foreach_args(p->s->cx, p->op, args, i, one) == DT_OK)
      resize_pretended(p, one);
  dt_error_clear(p->s->cx);
  dt_free(p->s->cx, one);
}

/* Forms whose pretended result may be larger than what it goes into. */
static bool may_resize (const DtOpDef *op) {
  if (op->base == NULL || op->base->meta == NULL ||
      (op->flags & DT_OP_VIEW) != 0)
    return false;
  if (op->sig->is_out) return true;
  return op->sig->inplace && (op->flags & DT_OP_POINTWISE) != 0 &&
         (op->base->flags & (DT_OP_PYMETA | DT_OP_ITERMETA)) == 0;
}

static const DtMeta *given_out (const DtOpDef *op, const DtArgs *args,
                                const DtUnwrapped *u) {
  for (int i = 0; i < op->sig->nargs; i++) {
    int slot = dt_arg_slot(args, i);
    if (op->sig->arg[i].kwonly && op->sig->arg[i].write && slot >= 0 &&
        u->spec[slot] != NULL)
      return &u->spec[slot]->meta;
  }
  return NULL;
}

void dt_resized_pretend (DtSession *s, const DtOpDef *op, const DtArgs *args,
                         const DtUnwrapped *u, int64_t traced) {
  const DtMeta *in[16];
  Pretend p = { s, op, u->nin, in, NULL };
  DtError pending = s->cx->err;         /* it stays what the call failed with */
  if (u->nmade == 0 || u->nin > 16) return;
  memset(&s->cx->err, 0, sizeof s->cx->err);
  dt_buf_init(&s->cx->err.message, s->cx);
  dt_buf_init(&s->cx->err.explain, s->cx);
  for (int i = 0; i < u->nin; i++)
    in[i] = u->spec[i] != NULL ? &u->spec[i]->meta : NULL;
  if (may_resize(op) && (op->flags & DT_OP_FOREACH) != 0)
    pretend_elements(&p, args);
  else if (may_resize(op))
    resize_pretended(&p, args);
  if (p.first == NULL) p.first = given_out(op, args, u);
  for (; traced > 0 && p.first != NULL; traced--) say_python(s, p.first);
  dt_error_clear(s->cx);
  dt_buf_fini(&s->cx->err.message);
  dt_buf_fini(&s->cx->err.explain);
  s->cx->err = pending;
}

/* ---- one text of its own ---- */

typedef struct Telling {
  const char *op;
  int arg;                      /* only when this argument is None; or -1 */
  const char *text;
} Telling;

static const Telling tellings[] = {
  { "aten.cross.default", 2,
    "Using torch.cross without specifying the dim arg is deprecated." },
  { "aten.meshgrid.default", -1, "torch.meshgrid: in an upcoming release, it "
    "will be required to pass the indexing argument. (function operator())" },
  { "aten.index_reduce.default", -1, "index_reduce() is in beta and the API "
    "may change at any time. (function operator())" },
  { "aten.index_reduce_.default", -1, "index_reduce() is in beta and the API "
    "may change at any time. (function operator())" },
  { "aten.triangular_solve.default", -1, "torch.triangular_solve is "
    "deprecated in favor of torch.linalg.solve_triangularand will be removed "
    "in a future PyTorch release." }
};

void dt_warn_called (DtSession *s, const DtOpDef *op, const DtArgs *args) {
  for (size_t i = 0; i < sizeof tellings / sizeof tellings[0]; i++) {
    const Telling *t = &tellings[i];
    if (strcmp(t->op, op->sig->full) == 0 &&
        (t->arg < 0 || dt_arg_is_none(args, t->arg)))
      dt_session_warn(s, t->text);
  }
}

/* ---- results that start as one argument ---- */

/* The shape that all tensors broadcast to, as far as it is asked here. */
static void broadcast_shape (int nin, DtTensor *const *in, DtMeta *out) {
  bool any = false;
  for (int i = 0; i < nin; i++) {
    const DtMeta *m = in[i] != NULL ? &in[i]->m : NULL;
    if (m == NULL) continue;
    if (!any || m->ndim > out->ndim ||
        (m->ndim == out->ndim && dt_meta_numel(m) > dt_meta_numel(out)))
      dt_meta_copy(out, m);
    any = true;
  }
}

void dt_resized_like (DtSession *s, const DtOpDef *op, int nin,
                      DtTensor *const *in) {
  static const struct { const char *op; int slot; bool squeezed; } like[] = {
    { "aten.binary_cross_entropy.default", 0, true },
    { "aten.huber_loss.default", 0, false },
    { "aten._prelu_kernel.default", 0, false },
    { "aten.mse_loss_backward.default", 1, false }
  };
  DtMeta want, have;
  if (nin < 2 || in[0] == NULL || in[1] == NULL ||
      dt_meta_same_shape(&in[0]->m, &in[1]->m))
    return;
  for (size_t i = 0; i < sizeof like / sizeof like[0]; i++) {
    if (strcmp(like[i].op, op->sig->full) != 0) continue;
    broadcast_shape(nin, in, &want);
    dt_meta_copy(&have, &in[like[i].slot]->m);
    for (int d = have.ndim - 1; like[i].squeezed && d >= 0; d--)
      if (have.shape[d] == 1) {
        memmove(&have.shape[d], &have.shape[d + 1],
                sizeof have.shape[0] * (size_t)(have.ndim - d - 1));
        have.ndim--;
      }
    dt_resized_warn(s, &have, &want);
  }
}
