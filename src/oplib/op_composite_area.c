/* SPDX-License-Identifier: MIT
** oplib/op_composite_area.c: areas below points, differences of neighbours
** and slopes, by other operators. */
#include "oplib/composite.h"

#include <string.h>

static DtHandle *neighbours (DtDecompCall *c, DtHandle *y, int64_t dim,
                             const char *op) {
  DtHandle *l = EMIT("aten.slice.Tensor", "tiii", y, dim, (int64_t)0,
                     (int64_t)-1);
  DtHandle *r = EMIT("aten.slice.Tensor", "tii", y, dim, (int64_t)1);
  return strcmp(op, "aten.sub.Tensor") == 0 ? EMIT(op, "tt", r, l)
                                            : EMIT(op, "tt", l, r);
}

/* y's sample points: x shaped for broadcasting along dim. */
static DtHandle *points (DtDecompCall *c, DtHandle *x, int d) {
  DtMeta m = meta_of(c, c->in[0]), mx = meta_of(c, x);
  int64_t shape[DT_MAX_NDIM];
  if (!dt_emit_ok(c->e) || mx.ndim >= m.ndim) return x;
  for (int i = 0; i < m.ndim; i++)
    shape[i] = mx.ndim == 1 ? (i == d ? mx.shape[0] : 1)
               : i < m.ndim - mx.ndim ? 1 : mx.shape[i - (m.ndim - mx.ndim)];
  return EMIT("aten.view.default", "tI", x, (int)m.ndim, shape);
}

/* What both forms ask of y, and of x where points are given. */
static DtStatus trapezoid_check (DtDecompCall *c, int dim_at, bool points) {
  bool all = c->args->schema->base[0] == 'c';
  DtMeta m = meta_of(c, c->in[0]);
  bool bad = m.dtype == DT_BOOL ||
             (points && meta_of(c, c->in[1]).dtype == DT_BOOL);
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (!all) DT_TRY(CX, op_has_dim(CX, &m, (int)dt_arg_int(c->args, dim_at)));
  DT_CHECK(CX, !bad || c->e->pretend, DT_E_RUNTIME, "%strapezoid: received a "
           "bool input for %s`y`, but bool is not supported",
           all ? "cumulative_" : "", points ? "`x` or " : "");
  return DT_OK;
}

/* trapezoid, trapz, cumulative_trapezoid with given points. */
static DtStatus trapezoid_x_decomp (DtDecompCall *c) {
  bool all = c->args->schema->base[0] == 'c';
  DtMeta m = meta_of(c, c->in[0]), mx = meta_of(c, c->in[1]);
  int64_t dim;
  DtHandle *dx, *r;
  int d;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_TRY(CX, trapezoid_check(c, 2, true));
  DT_TRY(CX, op_dim(CX, c->args, 2, m.ndim, &d));
  DT_CHECK(CX, mx.ndim != 1 || m.ndim == 0 || mx.shape[0] == m.shape[d],
           DT_E_RUNTIME, "%strapezoid: There must be one `x` value for each "
           "sample point", all ? "cumulative_" : "");
  dim = d;
  dx = neighbours(c, points(c, c->in[1], d), dim, "aten.sub.Tensor");
  r = neighbours(c, c->in[0], dim, "aten.add.Tensor");
  r = EMIT("aten.mul.Tensor", "tt", r, dx);
  r = all ? EMIT("aten.cumsum.default", "ti", r, dim)
          : EMIT("aten.sum.dim_IntList", "tI", r, 1, &dim);
  return finish(c, EMIT("aten.div.Scalar", "tf", r, 2.0));
}

static DtStatus trapezoid_dx_decomp (DtDecompCall *c) {
  bool all = c->args->schema->base[0] == 'c';
  int64_t dim = dt_arg_int(c->args, 2);
  double dx = dt_arg_float(c->args, 1);
  DtHandle *y = c->in[0], *a, *b;
  DT_TRY(CX, trapezoid_check(c, 2, false));
  if (all) {
    a = neighbours(c, y, dim, "aten.add.Tensor");
    a = EMIT("aten.mul.Scalar", "tf", a, dx / 2);
    return finish(c, EMIT("aten.cumsum.default", "ti", a, dim));
  }
  b = EMIT("aten.select.int", "tii", y, dim, (int64_t)-1);
  a = EMIT("aten.select.int", "tii", y, dim, (int64_t)0);
  a = EMIT("aten.add.Tensor", "tt", a, b);
  a = EMIT("aten.mul.Scalar", "tf", a, 0.5);
  b = EMIT("aten.sum.dim_IntList", "tI", y, 1, &dim);
  a = EMIT("aten.sub.Tensor", "tt", b, a);
  return finish(c, EMIT("aten.mul.Scalar", "tf", a, dx));
}

static DtHandle *cut (DtDecompCall *c, DtHandle *x, int64_t d, int64_t from,
                      int64_t to) {
  return to == 0 ? EMIT("aten.slice.Tensor", "tii", x, d, from)
                 : EMIT("aten.slice.Tensor", "tiii", x, d, from, to);
}

/* May `t` stand before or behind `m` along dimension d? */
static DtStatus check_joined (DtDecompCall *c, const DtMeta *m, DtHandle *t,
                              int d) {
  if (t == NULL) return DT_OK;
  DtMeta o = meta_of(c, t);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, o.ndim == m->ndim, DT_E_RUNTIME, "diff expects prepend or append "
           "to be the same dimension as input");
  for (int i = 0; i < m->ndim; i++)
    DT_CHECK(CX, i == d || o.shape[i] == m->shape[i], DT_E_RUNTIME, "diff "
             "expects the shape of tensor to prepend or append to match that of "
             "input except along the differencing dimension; input.size(%d) = "
             "%lld, but got tensor.size(%d) = %lld", i, (long long)m->shape[i],
             i, (long long)o.shape[i]);
  return DT_OK;
}

static DtStatus diff_decomp (DtDecompCall *c) {
  DtHandle *x = c->in[0], *part[3], *a, *b;
  DtMeta m = meta_of(c, x);
  int64_t n = dt_arg_int(c->args, 1);
  int d, k = 0;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.ndim >= 1, DT_E_RUNTIME,
           "diff expects input to be at least one-dimensional");
  DT_CHECK(CX, n >= 0, DT_E_RUNTIME, "order must be non-negative but got "
           "%lld", (long long)n);
  DT_TRY(CX, op_dim(CX, c->args, 2, m.ndim, &d));
  for (int i = 3; i < 5; i++) DT_TRY(CX, check_joined(c, &m, dt_hin(c, i), d));
  if (dt_hin(c, 3)) part[k++] = dt_hin(c, 3);
  part[k++] = x;
  if (dt_hin(c, 4)) part[k++] = dt_hin(c, 4);
  if (n == 0 && k == 1) {
    a = EMIT("aten.zeros_like.default", "t", x);
    return finish(c, EMIT("aten.copy_.default", "tt", a, x));
  }
  if (k > 1) x = EMIT("aten.cat.default", "Ti", k, part, (int64_t)d);
  for (; n > 0; n--) {
    int64_t size;
    dt_meta_copy(&m, dt_emit_meta(c->e, x));
    if (!dt_emit_ok(c->e)) return c->e->st;
    size = m.shape[d];
    if (size == 0) break;
    a = EMIT("aten.slice.Tensor", "tvii", x, ARG(2), (int64_t)0, size - 1);
    b = EMIT("aten.slice.Tensor", "tvii", x, ARG(2), (int64_t)1, size);
    x = m.dtype == DT_BOOL ? EMIT("aten.logical_xor.default", "tt", b, a)
                           : EMIT("aten.sub.Tensor", "tt", b, a);
  }
  return finish(c, x);
}

/* One border of gradient() by points o, p, q of the dim. */
static DtHandle *border (DtDecompCall *c, int64_t d, bool last,
                         int64_t order, double step) {
  DtHandle *x = c->in[0], *a, *b, *e;
  if (order == 1) {
    a = last ? cut(c, x, d, -2, -1) : cut(c, x, d, 0, 1);
    b = last ? cut(c, x, d, -1, 0) : cut(c, x, d, 1, 2);
    a = EMIT("aten.sub.Tensor", "tt", b, a);
    return EMIT("aten.div.Scalar", "tf", a, step);
  }
  a = last ? cut(c, x, d, -1, 0) : cut(c, x, d, 2, 3);
  a = EMIT("aten.mul.Scalar", "tf", a, last ? 1.5 : 0.5);
  b = last ? cut(c, x, d, -2, -1) : cut(c, x, d, 1, 2);
  b = EMIT("aten.mul.Scalar", "ti", b, (int64_t)2);
  e = last ? cut(c, x, d, -3, -2) : cut(c, x, d, 0, 1);
  e = EMIT("aten.mul.Scalar", "tf", e, last ? 0.5 : -1.5);
  e = last ? EMIT("aten.sub.Tensor", "tt", e, b) : EMIT("aten.add.Tensor",
                                                        "tt", e,
                                                        b);
  e = last ? EMIT("aten.add.Tensor", "tt", e, a) : EMIT("aten.sub.Tensor",
                                                        "tt", e,
                                                        a);
  return EMIT("aten.div.Scalar", "tf", e, step);
}

static DtHandle *slope (DtDecompCall *c, int64_t d, int64_t order,
                        double step) {
  DtHandle *part[3], *a, *b;
  a = cut(c, c->in[0], d, 0, -2);
  b = cut(c, c->in[0], d, 2, 0);
  a = EMIT("aten.sub.Tensor", "tt", b, a);
  a = EMIT("aten.div.Scalar", "tf", a, step);
  part[0] = border(c, d, false, order, step);
  part[2] = border(c, d, true, order, step);
  part[1] = EMIT("aten.div.Scalar", "ti", a, (int64_t)2);
  return EMIT("aten.cat.default", "Ti", 3, part, d);
}

static double number_at (const DtValue *v, int i) {
  if (v->kind == DT_V_LIST) v = &v->u.list.v[i];
  return v->kind == DT_V_FLOAT ? v->u.f : v->kind == DT_V_INT
         ? (double)v->u.i : 1;
}

/* gradient with equal spacing: scalarint, scalararray, array,
** scalarrayint, scalarrayarray. */
static DtStatus gradient_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int spacing = at(c, "spacing"), which = at(c, "dim");
  int64_t dims[DT_MAX_NDIM], order = dt_arg_int(c->args, at(c, "edge_order"));
  int n = 0;
  bool seen[DT_MAX_NDIM] = { false };
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (dt_arg_is_none(c->args, which))
    for (; n < m.ndim; n++) dims[n] = n;
  else
    n = op_ints(c->args, which, dims);
  if (spacing >= 0 && c->args->v[spacing].kind == DT_V_LIST) {
    int given = c->args->v[spacing].u.list.n;
    DT_CHECK(CX, given == n || !dt_arg_is_none(c->args, which), DT_E_RUNTIME,
             "torch.gradient expected spacing to be unspecified, a scalar, or a "
             "list of length equal to 'self.dim() = %d', since dim argument was "
             "not given, but got a list of length %d", n, given);
    DT_CHECK(CX, given == n, DT_E_RUNTIME, "torch.gradient expected spacing to "
             "be unspecified, a scalar or it's spacing and dim arguments to "
             "have the same length, but got a spacing argument of length %d "
             "and a dim argument of length %d.", given, n);
  }
  DT_CHECK(CX, order == 1 || order == 2, DT_E_RUNTIME, "torch.gradient only "
           "supports edge_order=1 and edge_order=2.");
  for (int i = 0; i < n; i++) {
    int64_t d = dims[i] < 0 ? dims[i] + m.ndim : dims[i];
    DT_CHECK(CX, d >= 0 && d < m.ndim, DT_E_INDEX,
             "Dimension out of range (expected to be in range of [%d, %d], "
             "but got %lld)", -m.ndim, m.ndim - 1, (long long)dims[i]);
    DT_CHECK(CX, !seen[d], DT_E_RUNTIME, "dim %lld appears multiple times in "
             "the list of dims", (long long)d);
    seen[d] = true;
    DT_CHECK(CX, m.shape[d] > order, DT_E_RUNTIME, "torch.gradient expected "
             "each dimension size to be at least edge_order+1");
    c->out[i] = slope(c, d, order, spacing < 0 ? 1
                      : number_at(&c->args->v[spacing], i));
  }
  c->nout = n;
  return c->e->st;
}

/* ---- definitions ---- */

C(trapezoid_x, "trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
  "Area below the points.", trapezoid_x_decomp, B);
C(trapezoid_dx, "trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> "
  "Tensor", "Area below equidistant points.", trapezoid_dx_decomp, U);
C(trapz_x, "trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
  "Area below the points.", trapezoid_x_decomp, B);
C(trapz_dx, "trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor",
  "Area below equidistant points.", trapezoid_dx_decomp, U);
C(cumulative_trapezoid_x, "cumulative_trapezoid.x(Tensor y, Tensor x, *, int "
  "dim=-1) -> Tensor", "Area up to each point.", trapezoid_x_decomp, B);
C(cumulative_trapezoid_dx, "cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1,"
  " int dim=-1) -> Tensor", "Area up to each equidistant point.",
  trapezoid_dx_decomp, U);
C(diff, "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor?"
  " append=None) -> Tensor", "Differences of neighbours.", diff_decomp, U);
#define GRADIENT(id, args_) \
  C(gradient_##id, "gradient." #id "(Tensor self, *, " args_ "int " \
    "edge_order=1) -> Tensor[]", "Slopes along dims.", gradient_decomp, U)
GRADIENT(scalarint, "Scalar? spacing=None, int? dim=None, ");
GRADIENT(scalararray, "Scalar spacing, int[] dim, ");
GRADIENT(array, "int[] dim, ");
GRADIENT(scalarrayint, "Scalar[] spacing, int? dim=None, ");
GRADIENT(scalarrayarray, "Scalar[] spacing, int[] dim, ");
