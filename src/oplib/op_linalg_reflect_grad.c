/* SPDX-License-Identifier: MIT
** oplib/op_linalg_reflect_grad.c: gradients of products of Householder reflectors
** (householder_product, ormqr).
**
** Q = H_0 H_1 ... with H_i = 1 - tau_i v_i v_i^H, v_i a column below a 1 on the
** diagonal; its inverse is such a reflector, too, with sigma_i = tau_i / (tau_i
** |v_i|^2 - 1).  K = result grad^H is carried from reflector to reflector, K <-
** H_{i+1}^-1 K H_i, and gives the gradients of v_i and tau_i at each; where Q is
** applied as its adjoint, K = grad result^H and the way is from the last to the
** first (householder_product_backward@2.15).  The difficult part is the order of
** calls: of C++ operands the last is evaluated first. */
#include "oplib/grading_matrix.h"
#include "oplib/op_linalg_int.h"

typedef struct Reflect {
  DtGradCall *c;
  DtHandle *v, *tau, *sigma;    /* columns, and the factors of H and H^-1 */
  DtHandle *k;                  /* changed in place */
  int64_t rows, n;              /* of a column; reflectors */
  DtHandle **of_v, **of_tau;    /* gradients, n */
} Reflect;

/* One reflector: its column and its factor. */
typedef struct One { DtHandle *v, *t; int64_t i; } One;

static DtHandle *nth (Reflect *r, DtHandle *h, int64_t i) {
  return slice(r->c, h, -1, i, i + 1);
}

/* Below row (-2) or behind column (-1) i, where the column is not 0. */
static DtHandle *rest (Reflect *r, DtHandle *h, int64_t dim, int64_t i) {
  return slice(r->c, h, dim, i, r->rows);
}

static DtHandle *squeeze (DtGradCall *c, DtHandle *h, int64_t dim) {
  return EMIT("aten.squeeze.dim", "ti", h, dim);
}

static void take (DtGradCall *c, DtHandle *from, DtHandle *what) {
  (void)EMIT("aten.sub_.Tensor", "tt", from, what);
}

/* K <- (1 - t v v^H) K */
static void from_left (Reflect *r, One o) {
  DtGradCall *c = r->c;
  DtHandle *v = rest(r, o.v, -2, o.i);
  DtHandle *h = mh(c, rest(r, o.v, -2, o.i));
  h = mm(c, h, rest(r, r->k, -2, o.i));
  DtHandle *to = rest(r, r->k, -2, o.i);
  v = mul(c, unsq(c, o.t, -1), v);
  take(c, to, mul(c, v, h));
}

/* K <- K (1 - t v v^H) */
static void from_right (Reflect *r, One o) {
  DtGradCall *c = r->c;
  DtHandle *v = rest(r, o.v, -2, o.i), *k = rest(r, r->k, -1, o.i);
  DtHandle *h = rest(r, o.v, -2, o.i);
  h = mul(c, unsq(c, o.t, -1), h);
  h = mm(c, k, h);
  DtHandle *to = rest(r, r->k, -1, o.i);
  take(c, to, mul(c, h, mh(c, v)));
}

/* -(t v^H K)^H - t K v of the column, -(v^H K v)^H of the factor.  Gives the
** reflector itself. */
static One grade (Reflect *r, int64_t i) {
  DtGradCall *c = r->c;
  One o = { nth(r, r->v, i), NULL, i };
  o.t = nth(r, r->tau, i);
  DtHandle *v = rest(r, o.v, -2, i), *vk = mh(c, v);
  vk = mm(c, vk, rest(r, r->k, -2, i));
  DtHandle *kv = mm(c, rest(r, r->k, -1, i), v), *t = unsq(c, o.t, -1);
  kv = squeeze(c, mul(c, t, kv), -1);
  DtHandle *a = conj_of(c, mul(c, neg(c, t), vk));
  a = sub(c, squeeze(c, a, -2), kv);
  DtHandle *b = mm(c, slice(c, vk, -1, i, r->rows), v);
  b = neg(c, conj_of(c, b));
  r->of_tau[i] = squeeze(c, b, -1);
  r->of_v[i] = unsq(c, a, -1);
  return o;
}

static One inverse (Reflect *r, int64_t i) {
  One o = { nth(r, r->v, i), NULL, i };
  o.t = nth(r, r->sigma, i);
  return o;
}

/* From the first reflector to the last, or back. */
static void walk (Reflect *r, bool back) {
  int64_t i = back ? r->n - 1 : 0, step = back ? -1 : 1;
  One first = { NULL, nth(r, r->sigma, i), i };
  first.v = nth(r, r->v, i);
  if (back) from_right(r, first);
  else from_left(r, first);
  One o = grade(r, i);
  for (i += step; i >= 0 && i < r->n && dt_emit_ok(r->c->e); i += step) {
    One next = inverse(r, i);
    if (back) {
      from_right(r, next);
      from_left(r, o);
    } else {
      from_left(r, next);
      from_right(r, o);
    }
    o = grade(r, i);
  }
}

/* tau / (tau |v|^2 - 1) */
static DtHandle *inverse_factors (Reflect *r) {
  DtGradCall *c = r->c;
  int64_t rows_dim = -2;
  DtHandle *v = slice(c, r->v, -1, 0, r->n);
  v = mul(c, v, conj_of(c, v));
  v = EMIT("aten.sum.dim_IntList", "tI", v, 1, &rows_dim);
  v = EMIT("aten.sub.Scalar", "tf", mul(c, r->tau, v), 1.0);
  return div_by(c, r->tau, v);
}

/* The gradients of columns side by side, zeros for those without a reflector. */
static DtHandle *together (Reflect *r, const DtMeta *a) {
  DtGradCall *c = r->c;
  DtMeta m = *a;
  int n = (int)r->n, more = (int)(a->shape[a->ndim - 1] - r->n);
  if (more > 0) {
    m.shape[m.ndim - 1] = more;
    r->of_v[n++] = EMIT("aten.zeros.default", "I dtype=d", (int)m.ndim, m.shape,
                        (int)m.dtype);
  }
  return EMIT("aten.cat.default", "Ti", n, r->of_v, (int64_t)-1);
}

/* Gradients of the reflectors in inputs 0 and 1, from K = left right^H. */
static DtStatus reflectors (DtGradCall *c, DtHandle *left, DtHandle *right,
                            bool back) {
  DtMeta a = meta_of(c, TENSOR(0));
  Reflect r = { .c = c, .tau = TENSOR(1), .rows = rows(c, TENSOR(0)),
                .n = cols(c, TENSOR(1)) };
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (r.n == 0) return DT_OK;    /* nothing is reflected: no gradients */
  r.of_v = DT_ANEWN(c->e->cx, c->e->arena, DtHandle *, r.n + 1);
  r.of_tau = DT_ANEWN(c->e->cx, c->e->arena, DtHandle *, r.n);
  if (r.of_v == NULL || r.of_tau == NULL) return DT_E_NOMEM;
  r.v = tril(c, TENSOR(0), -1);
  (void)EMIT("aten.fill_.Scalar", "tf", diagonal(c, r.v), 1.0);
  r.sigma = inverse_factors(&r);
  right = mh(c, right);
  r.k = mm(c, left, right);
  walk(&r, back);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DtHandle *of_v = together(&r, &a);
  op_g_set(c, 1, EMIT("aten.cat.default", "Ti", (int)r.n, r.of_tau, (int64_t)-1));
  op_g_set(c, 0, EMIT("aten.tril_.default", "ti", of_v, (int64_t)-1));
  return c->e->st;
}

DtStatus op_g_la_householder (DtGradCall *c) {
  DT_TRY(c->e->cx, reflectors(c, c->out[0], GOUT, false));
  return op_g_finish(c);
}

/* self, tau, other, left, transpose */
DtStatus op_g_la_ormqr (DtGradCall *c) {
  bool left = dt_arg_bool(c->args, 3), adjoint = dt_arg_bool(c->args, 4);
  DtHandle *a = c->out[0], *b = GOUT;
  if (op_g_need(c, 2))
    op_g_set(c, 2, EMIT("aten.ormqr.default", "tttbb", TENSOR(0), TENSOR(1),
                        GOUT, left, !adjoint));
  if (!op_g_need(c, 0) && !op_g_need(c, 1)) return op_g_finish(c);
  bool back = left == adjoint;
  if (back) {
    a = GOUT;
    b = c->out[0];
  }
  if (!left) {
    b = mh(c, b);
    a = mh(c, a);
  }
  DT_TRY(c->e->cx, reflectors(c, a, b, back));
  return op_g_finish(c);
}
