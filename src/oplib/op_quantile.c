/* SPDX-License-Identifier: MIT
** oplib/op_quantile.c: quantile and nanquantile, with a number or a tensor of
** them, made of sort, gather and lerp in PyTorch's order.
**
** The sorted dim is moved last; a rank q * (n - 1) is looked up below and
** above and the two are blended.  With NaN in a row its last place is taken,
** where sort puts NaN; nanquantile counts only what is a number. */
#include "oplib/oplib_int.h"
#include "oplib/emitting.h"

#include <math.h>

typedef enum Between { LINEAR, LOWER, HIGHER, MIDPOINT, NEAREST } Between;

typedef struct Quantile {
  DtDecompCall *c;
  Between between;
  bool skip_nan, dim_given, keepdim;
  int dim;                      /* that is reduced */
  int qdim;                     /* 0: a number */
  DtMeta self;
} Quantile;

static DtStatus read_between (DtDecompCall *c, Between *out) {
  static const char *const name[] = { "linear", "lower", "higher", "midpoint",
                                      "nearest" };
  int at = dt_schema_arg(c->args->schema, "interpolation");
  const char *s = dt_arg_str(c->args, at);
  for (int i = 0; i < 5; i++)
    if (strcmp(s, name[i]) == 0) {
      *out = (Between)i;
      return DT_OK;
    }
  return dt_raise(CX, DT_E_RUNTIME, "quantile() interpolation must be one of "
                  "linear, lower, higher, midpoint or nearest, but got %s", s);
}

static DtStatus check_self (Quantile *u) {
  DtDecompCall *c = u->c;
  DtDtype t = (DtDtype)u->self.dtype;
  DT_CHECK(CX, dt_meta_numel(&u->self) > 0, DT_E_RUNTIME,
           "quantile() input tensor must be non-empty");
  DT_CHECK(CX, u->qdim <= 1, DT_E_RUNTIME,
           "quantile() q must be a scalar or 1D tensor");
  DT_CHECK(CX, t == DT_F32 || t == DT_F64, DT_E_RUNTIME, "quantile() input "
           "tensor must be either float or double dtype");
  return DT_OK;
}

/* The shape the sorted elements are seen in: what the result has, and n. */
static int seen_shape (const Quantile *u, int64_t n, int64_t *shape) {
  int k = 0, last = u->self.ndim;
  for (int d = 0; d < last; d++)
    if (!u->dim_given ? u->keepdim : d != u->dim || u->keepdim)
      shape[k++] = !u->dim_given || d == u->dim ? 1 : u->self.shape[d];
  shape[k++] = n;
  return k;
}

static DtHandle *sorted (Quantile *u) {
  DtDecompCall *c = u->c;
  DtHandle *x = c->in[0], *two[2] = { NULL, NULL };
  int64_t shape[DT_MAX_NDIM + 1], n = dt_meta_numel(&u->self);
  if (!u->dim_given) {
    if (u->self.ndim != 1) x = EMIT("aten.reshape.default", "tI", x, 1, &n);
  } else {
    n = u->self.ndim > 0 ? u->self.shape[u->dim] : 1;
    if (u->self.ndim > 0 && u->dim != u->self.ndim - 1) {
      x = EMIT("aten.unsqueeze.default", "ti", x, (int64_t)-1);
      x = EMIT("aten.transpose.int", "tii", x, (int64_t)u->dim, (int64_t)-1);
    }
  }
  dt_emit_n(c->e, "aten.sort.default", two, 2, "t", x);
  int k = seen_shape(u, n, shape);
  return EMIT("aten.view.default", "tI", two[0], k, shape);
}

static DtHandle *to_index (DtDecompCall *c, DtHandle *ranks) {
  return EMIT("aten._to_copy.default", "t dtype=d", ranks, (int)DT_I64);
}

/* masked_fill of operands that are seen in one shape first. */
static DtHandle *fill_where (DtDecompCall *c, DtHandle *x, DtHandle *mask,
                             int64_t value) {
  DtMeta a = meta_of(c, x), b = meta_of(c, mask);
  int64_t shape[DT_MAX_NDIM];
  if (!dt_emit_ok(c->e)) return NULL;
  int n = b.ndim;               /* never fewer than x has */
  memcpy(shape, b.shape, sizeof *shape * (size_t)n);
  if (a.ndim > 0) shape[n - 1] = a.shape[a.ndim - 1];
  if (a.ndim != n || memcmp(a.shape, shape, sizeof *shape * (size_t)n) != 0)
    x = EMIT("aten.expand.default", "tI", x, n, shape);
  if (memcmp(b.shape, shape, sizeof *shape * (size_t)n) != 0)
    mask = EMIT("aten.expand.default", "tI", mask, n, shape);
  return EMIT("aten.masked_fill.Scalar", "tti", x, mask, value);
}

/* Where in the sorted rows each quantile lies, as a fraction. */
static DtHandle *ranks_of (Quantile *u, DtHandle *rows, DtHandle *q) {
  DtDecompCall *c = u->c;
  DtMeta m = meta_of(c, rows);
  int64_t last = m.ndim > 0 ? m.shape[m.ndim - 1] - 1 : 0, dim = -1;
  DtHandle *nan, *ranks, *count;
  if (!u->skip_nan) {
    ranks = EMIT("aten.mul.Scalar", "ti", q, last);
    nan = EMIT("aten.isnan.default", "t", rows);
    nan = EMIT("aten.any.dim", "tib", nan, dim, 1);
    return fill_where(c, ranks, nan, last);
  }
  nan = EMIT("aten.isnan.default", "t", rows);
  nan = EMIT("aten.logical_not_.default", "t", nan);
  count = EMIT("aten.sum.dim_IntList", "tIb", nan, 1, &dim, 1);
  count = EMIT("aten.sub.Scalar", "ti", count, (int64_t)1);
  ranks = EMIT("aten.mul.Tensor", "tt", q, count);
  nan = EMIT("aten.lt.Scalar", "ti", ranks, (int64_t)0);
  return EMIT("aten.masked_fill_.Scalar", "tti", ranks, nan, (int64_t)0);
}

static DtHandle *looked_up (Quantile *u, DtHandle *rows, DtHandle *ranks) {
  static const char *const one[] = { NULL, "aten.floor_.default",
                                     "aten.ceil_.default", NULL,
                                     "aten.round_.default" };
  DtDecompCall *c = u->c;
  DtHandle *below, *low, *high, *weight;
  if (one[u->between] != NULL) ranks = EMIT(one[u->between], "t", ranks);
  below = to_index(c, ranks);
  low = EMIT("aten.gather.default", "tit", rows, (int64_t)-1, below);
  if (one[u->between] != NULL) return low;
  weight = u->between == MIDPOINT
    ? EMIT("aten.full_like.default", "tf", ranks, 0.5)
    : EMIT("aten.sub.Tensor", "tt", ranks, below);
  ranks = EMIT("aten.ceil_.default", "t", ranks);
  high = EMIT("aten.gather.default", "tit", rows, (int64_t)-1,
              to_index(c, ranks));
  return EMIT("aten.lerp_.Tensor", "ttt", low, high, weight);
}

static DtStatus compute (Quantile *u, DtHandle *q) {
  DtDecompCall *c = u->c;
  DtHandle *rows, *r;
  DT_TRY(CX, check_self(u));
  u->dim_given = !dt_arg_is_none(c->args, 2);
  u->keepdim = dt_arg_bool(c->args, 3);
  if (u->dim_given)
    DT_TRY(CX, op_dim(CX, c->args, 2, u->self.ndim, &u->dim));
  rows = sorted(u);
  r = looked_up(u, rows, ranks_of(u, rows, q));
  if (u->qdim > 0) {            /* the quantiles come first */
    r = EMIT("aten.unsqueeze_.default", "ti", r, (int64_t)0);
    r = EMIT("aten.transpose_.default", "tii", r, (int64_t)0, (int64_t)-1);
  }
  return finish(c, EMIT("aten.squeeze_.dim", "ti", r, (int64_t)-1));
}

static DtStatus begin (Quantile *u, DtDecompCall *c) {
  memset(u, 0, sizeof *u);
  u->c = c;
  u->self = meta_of(c, c->in[0]);
  u->skip_nan = strncmp(c->op->schema, "aten::nan", 9) == 0;
  DT_TRY(CX, read_between(c, &u->between));
  return c->e->st;
}

static DtStatus number_decomp (DtDecompCall *c) {
  double v = dt_arg_float(c->args, 1);
  Quantile u;
  DT_TRY(CX, begin(&u, c));
  DT_CHECK(CX, v >= 0 && v <= 1, DT_E_RUNTIME, "quantile() q must be in the "
           "range [0, 1] but got %g", isnan(v) ? fabs(v) : v);
  return compute(&u, EMIT("aten.scalar_tensor.default", "f dtype=d", v,
                          (int)u.self.dtype));
}

/* Values of a plain q are looked at, as those of a number are. */
static DtStatus check_range (DtDecompCall *c, DtHandle *q) {
  int64_t ok = 1;
  DtHandle *a, *b;
  if (c->e->vt->is_dist(c->e, q) || !dt_emit_has_data(c->e, q)) return DT_OK;
  a = EMIT("aten.ge.Scalar", "ti", q, (int64_t)0);
  b = EMIT("aten.le.Scalar", "ti", q, (int64_t)1);
  a = EMIT("aten.all.default", "t", EMIT("aten.logical_and_.default", "tt", a,
                                         b));
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_TRY(CX, dt_emit_item(c->e, a, &ok));
  DT_CHECK(CX, ok, DT_E_RUNTIME,
           "quantile() q values must be in the range [0, 1]");
  return DT_OK;
}

static DtStatus tensor_decomp (DtDecompCall *c) {
  DtMeta q = meta_of(c, c->in[1]);
  Quantile u;
  DT_TRY(CX, begin(&u, c));
  u.qdim = q.ndim;
  DT_TRY(CX, check_self(&u));
  DT_CHECK(CX, q.dtype == u.self.dtype, DT_E_RUNTIME,
           "quantile() q tensor must be same dtype as the input tensor");
  DT_TRY(CX, check_range(c, c->in[1]));
  return compute(&u, c->in[1]);
}

static const char *const number_samples[] = {
  "f32[7], 0.3", "f32[8, 6], 0.5, 1, interpolation=\"lower\"",
  "f32[7, 5], 0.25, 0, True", "f64[2, 3, 4], 0.9, 1", NULL
};
static const char *const tensor_samples[] = {
  "f32[8, 6], f32[]", NULL
};

#define QUANTILE(id, name_, q_, brief_, decomp_, samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" name_ "(Tensor self, " q_ " q, int? dim=None, bool " \
              "keepdim=False, *, str interpolation=\"linear\") -> Tensor", \
    .brief = brief_, .flags = DT_OP_COMPOSITE, .decomp = decomp_, \
    .samples = samples_ }

QUANTILE(nanquantile, "nanquantile", "Tensor", "Quantiles of what is a number.",
         tensor_decomp, tensor_samples);
QUANTILE(nanquantile_scalar, "nanquantile.scalar", "float",
         "A quantile of what is a number.", number_decomp, number_samples);
QUANTILE(quantile, "quantile", "Tensor", "Quantiles over a dim or all.",
         tensor_decomp, tensor_samples);
QUANTILE(quantile_scalar, "quantile.scalar", "float",
         "A quantile over a dim or all.", number_decomp, number_samples);
