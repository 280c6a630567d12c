/* SPDX-License-Identifier: MIT
** oplib/op_second_distance.c: gradients of the gradients of distances between rows
** (cdist, pdist).
**
** Of g |x - y|_p, x_ik - y_jk = d, the gradient of row x_i is the sum over j of
** g_ij f(d) / c_ij^(p-1), f(d) = sign(d) |d|^(p-1), c_ij the distance.  Given
** what stands at x_i, u, the gradients are
**   of g: u f(d) summed / c^(p-1)            of c: -(p - 1) g / c times that
**   of x, y: with w = g / c^(p-1) (p - 1) |d|^(p-2), u w summed over j; u w, with
**   the other sign, summed over i.
** Places where two rows are equal have none.  The distance itself was made of x
** and y, by an operator with a gradient of its own.  For p of 1 and infinity f is
** constant, for 0 nothing has a gradient.  cdist_backward of 2.14 writes p = 2 as
** products of matrices. */
#include <math.h>

#include "oplib/grading_matrix.h"
#include "oplib/second.h"

/* What is read, and the four gradients. */
typedef struct Rows {
  DtGradCall *c;
  DtHandle *u, *g, *x, *y, *d;  /* d: the distances */
  double p;
  DtHandle *none;               /* where rows are equal */
  DtHandle *to_g, *to_x, *to_y, *to_d;
} Rows;

static DtHandle *pw (DtGradCall *c, DtHandle *h, double by) {
  return EMIT("aten.pow.Tensor_Scalar", "tf", h, by);
}

static DtHandle *where_not (DtGradCall *c, DtHandle *h, DtHandle *none) {
  return EMIT("aten.masked_fill.Scalar", "tti", h, none, (int64_t)0);
}

static DtHandle *sum_over (DtGradCall *c, DtHandle *h, int64_t dim, bool keep) {
  return keep ? EMIT("aten.sum.dim_IntList", "tIb", h, 1, &dim, 1)
              : EMIT("aten.sum.dim_IntList", "tI", h, 1, &dim);
}

static DtHandle *nothing (DtGradCall *c, DtHandle *h) {
  return EMIT("aten.zeros_like.default", "t", h);
}

static void straight (Rows *r) {
  r->to_x = nothing(r->c, r->x);
  r->to_y = nothing(r->c, r->y);
  r->to_d = nothing(r->c, r->d);
}

static void euclidean (Rows *r) {
  DtGradCall *c = r->c;
  DtHandle *w = where_not(c, div_by(c, r->g, r->d), r->none);
  DtHandle *yt = EMIT("aten.transpose.int", "tii", r->y, (int64_t)-2, (int64_t)-1);
  DtHandle *h = mm(c, r->u, yt);
  h = sub(c, sum_over(c, mul(c, r->u, r->x), -1, true), h);
  r->to_g = where_not(c, div_by(c, h, r->d), r->none);
  r->to_d = neg(c, mul(c, w, r->to_g));
  r->to_x = mul(c, r->u, sum_over(c, w, -1, true));
  h = EMIT("aten.transpose.int", "tii", w, (int64_t)-2, (int64_t)-1);
  r->to_y = neg(c, mm(c, h, r->u));
}

/* u f, summed over the columns. */
static DtHandle *along (Rows *r, DtHandle *f) {
  return sum_over(r->c, mul(r->c, unsq(r->c, r->u, -2), f), -1, false);
}

static void of_power (Rows *r, DtHandle *diff) {
  DtGradCall *c = r->c;
  double p = r->p;
  DtHandle *size = EMIT("aten.abs.default", "t", diff);
  DtHandle *same = EMIT("aten.eq.Scalar", "ti", diff, (int64_t)0);
  DtHandle *cp = pw(c, r->d, p - 1);
  DtHandle *w = where_not(c, div_by(c, r->g, cp), r->none);
  DtHandle *f = pw(c, size, p - 1);
  f = where_not(c, mul(c, EMIT("aten.sgn.default", "t", diff), f), same);
  r->to_g = where_not(c, div_by(c, along(r, f), cp), r->none);
  DtHandle *h = where_not(c, div_by(c, r->g, r->d), r->none);
  r->to_d = mul(c, scale(c, h, -(p - 1)), r->to_g);
  h = where_not(c, pw(c, size, p - 2), same);
  w = mul(c, unsq(c, w, -1), h);
  h = sum_over(c, w, -2, false);
  r->to_x = mul(c, scale(c, r->u, p - 1), h);
  h = sum_over(c, mul(c, w, unsq(c, r->u, -2)), -3, false);
  r->to_y = scale(c, h, -(p - 1));
}

static void find_gradients (Rows *r) {
  DtGradCall *c = r->c;
  r->none = EMIT("aten.eq.Scalar", "ti", r->d, (int64_t)0);
  if (r->p == 0) {
    r->to_g = nothing(c, r->g);
    straight(r);
    return;
  }
  if (r->p == 2) {
    euclidean(r);
    return;
  }
  DtHandle *y = unsq(c, r->y, -3), *diff = sub(c, unsq(c, r->x, -2), y);
  if (r->p != 1 && !isinf(r->p)) {
    of_power(r, diff);
    return;
  }
  DtHandle *f = EMIT("aten.sgn.default", "t", diff);
  if (isinf(r->p)) {
    DtHandle *d = unsq(c, r->d, -1), *size = EMIT("aten.abs.default", "t", diff);
    f = mul(c, f, EMIT("aten.eq.Tensor", "tt", size, d));
  }
  r->to_g = along(r, f);
  straight(r);
}

/* PyTorch 2.13 has no derivative of these. */
static DtStatus check_release (DtGradCall *c) {
  DT_CHECK(c->e->cx, (c->op->flags & DT_OP_LATER) != 0, DT_E_NOTIMPL,
           "the derivative for '%s' is not implemented.", c->op->sig->base);
  return DT_OK;
}

/* grad, x1, x2, p, cdist */
DtStatus op_gg_cdist_backward (DtGradCall *c) {
  DT_TRY(c->e->cx, check_release(c));
  Rows r = { .c = c, .u = GOUT, .g = TENSOR(0), .x = TENSOR(1), .y = TENSOR(2),
             .d = TENSOR(4), .p = dt_arg_float(c->args, 3) };
  const DtMeta *m = dt_emit_meta(c->e, r.d);
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (dt_meta_numel(m) == 0) {
    r.to_g = nothing(c, r.g);
    straight(&r);
  } else {
    find_gradients(&r);
  }
  op_g_set(c, 0, r.to_g);
  op_g_set(c, 1, r.to_x);
  op_g_set(c, 2, r.to_y);
  op_g_set(c, 4, r.to_d);
  return op_g_finish(c);
}

/* ---- pdist: the triangle of a cdist with itself ---- */

/* Where pairs stand in a square: rows and columns. */
typedef struct Pairs { DtHandle *at[2]; int64_t n; } Pairs;

/* The numbers of all pairs as a square with both triangles. */
static DtHandle *square (DtGradCall *c, const Pairs *p, DtHandle *h) {
  int64_t shape[2] = { p->n, p->n };
  DtHandle *z = EMIT("aten.new_zeros.default", "tI", h, 2, shape);
  z = EMIT("aten.index_put.default", "tTt", z, 2, p->at, h);
  return add(c, z, EMIT("aten.transpose.int", "tii", z, (int64_t)-2, (int64_t)-1));
}

/* And back: what both triangles have. */
static DtHandle *triangle (DtGradCall *c, const Pairs *p, DtHandle *h) {
  h = add(c, h, EMIT("aten.transpose.int", "tii", h, (int64_t)-2, (int64_t)-1));
  return EMIT("aten.index.Tensor", "tT", h, 2, p->at);
}

/* grad, self, p, pdist */
DtStatus op_gg_pdist_backward (DtGradCall *c) {
  DT_TRY(c->e->cx, check_release(c));
  const DtMeta *m = dt_emit_meta(c->e, TENSOR(1));
  Pairs p = { .n = m->shape[0] };
  Rows r = { .c = c, .u = GOUT, .x = TENSOR(1), .y = TENSOR(1),
             .p = dt_arg_float(c->args, 2) };
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (p.n <= 1) {
    op_g_set(c, 0, nothing(c, TENSOR(0)));
    op_g_set(c, 1, nothing(c, TENSOR(1)));
    op_g_set(c, 3, nothing(c, TENSOR(3)));
    return op_g_finish(c);
  }
  DtHandle *at = EMIT("aten.triu_indices.default", "iii", p.n, p.n, (int64_t)1);
  for (int i = 0; i < 2; i++)
    p.at[i] = EMIT("aten.select.int", "tii", at, (int64_t)0, (int64_t)i);
  r.d = square(c, &p, TENSOR(3));
  r.g = square(c, &p, TENSOR(0));
  find_gradients(&r);
  op_g_set(c, 0, triangle(c, &p, r.to_g));
  op_g_set(c, 1, add(c, r.to_x, r.to_y));
  op_g_set(c, 3, triangle(c, &p, r.to_d));
  return op_g_finish(c);
}
