/* SPDX-License-Identifier: MIT
** oplib/op_composite.c: public functions that are made of other operators:
** linear, matmul, flatten, unflatten, chunk, narrow, expand_as, l2 helpers.
**
** Autograd sees only the parts, in the order and with the arguments of
** PyTorch's CompositeImplicit kernels. */
#include "base/sat.h"
#include "oplib/oplib_int.h"
#include "oplib/ruling_int.h"
#include "oplib/emitting.h"

#include <math.h>
#include <string.h>

/* reshape: a view where strides allow, else a contiguous copy. */
static DtHandle *reshape (DtDecompCall *c, DtHandle *h, int n,
                          const int64_t *want) {
  DtMeta m = meta_of(c, h);
  int64_t shape[DT_MAX_NDIM], stride[DT_MAX_NDIM];
  memcpy(shape, want, sizeof(int64_t) * (size_t)n);
  if (!dt_emit_ok(c->e)) return NULL;
  if (op_infer_size(c->e->cx, dt_meta_numel(&m), n, shape) != DT_OK) {
    c->e->st = DT_E_RUNTIME;
    return NULL;
  }
  if (op_view_strides(&m, n, shape, stride))
    return EMIT("aten.view.default", "tI", h, n, shape);
  DtValue f = dt_v_none();
  f.kind = DT_V_MEMFMT;
  f.u.i = 0;
  h = EMIT("aten.clone.default", "t memory_format=v", h, f);
  return EMIT("aten._unsafe_view.default", "tI", h, n, shape);
}

/* ---- matmul ---- */

/* One operand with many batch dims, the other a matrix or vector: fold the
** batch into rows. */
static DtHandle *fold (DtDecompCall *c, DtHandle *a, DtHandle *b) {
  DtMeta ma = meta_of(c, a), mb = meta_of(c, b);
  bool swap = mb.ndim > ma.ndim;
  DtHandle *t1 = a, *t2 = b, *r;
  int64_t rows[2], shape[DT_MAX_NDIM];
  if (swap) {
    t1 = EMIT("aten.transpose.int", "tii", b, (int64_t)-2, (int64_t)-1);
    t2 = ma.ndim == 2 ? EMIT("aten.t.default", "t", a) : a;
  }
  DtMeta m1 = meta_of(c, t1), m2 = meta_of(c, t2);
  if (!dt_emit_ok(c->e)) return NULL;
  int n = m1.ndim;
  rows[1] = m1.shape[n - 1];
  rows[0] = 1;
  for (int i = 0; i < n - 1; i++) rows[0] *= m1.shape[i];
  memcpy(shape, m1.shape, sizeof(int64_t) * (size_t)n);
  t1 = reshape(c, t1, 2, rows);
  if (m2.ndim == 1) {
    r = EMIT("aten.mv.default", "tt", t1, t2);
    return EMIT("aten._unsafe_view.default", "tI", r, n - 1, shape);
  }
  shape[n - 1] = m2.shape[1];
  r = EMIT("aten.mm.default", "tt", t1, t2);
  r = EMIT("aten._unsafe_view.default", "tI", r, n, shape);
  if (swap) {
    DtValue f = dt_v_none();
    f.kind = DT_V_MEMFMT;
    f.u.i = 0;
    r = EMIT("aten.transpose.int", "tii", r, (int64_t)-2, (int64_t)-1);
    if (dt_emit_ok(c->e) && !dt_meta_is_contiguous(dt_emit_meta(c->e, r)))
      r = EMIT("aten.clone.default", "t memory_format=v", r, f);
  }
  return r;
}

/* Should the batch be folded?  As should_fold() of LinearAlgebra.cpp. */
static bool want_fold (const DtMeta *a, const DtMeta *b) {
  const DtMeta *big = a->ndim >= b->ndim ? a : b;
  const DtMeta *small = a->ndim >= b->ndim ? b : a;
  return small->ndim <= 2 && big->ndim >= 3;
}

/* Both batched: broadcast the batches, multiply 3-D. */
static DtHandle *batched (DtDecompCall *c, DtHandle *a, DtHandle *b) {
  DtMeta m[2] = { meta_of(c, a), meta_of(c, b) }, ba, bb, r;
  DtHandle *h[2] = { a, b };
  int64_t shape[DT_MAX_NDIM], flat[3], total = 1;
  if (!dt_emit_ok(c->e)) return NULL;
  dt_meta_copy(&ba, &m[0]);
  dt_meta_copy(&bb, &m[1]);
  ba.ndim = (uint8_t)(ba.ndim > 2 ? ba.ndim - 2 : 0);
  bb.ndim = (uint8_t)(bb.ndim > 2 ? bb.ndim - 2 : 0);
  if ((c->e->st = dt_meta_broadcast(c->e->cx, &ba, &bb, &r)) != DT_OK)
    return NULL;
  memcpy(shape, r.shape, sizeof(int64_t) * r.ndim);
  for (int i = 0; i < r.ndim; i++) total *= r.shape[i];
  for (int k = 0; k < 2; k++) {
    shape[r.ndim] = flat[1] = m[k].shape[m[k].ndim - 2];
    shape[r.ndim + 1] = flat[2] = m[k].shape[m[k].ndim - 1];
    flat[0] = total;
    h[k] = EMIT("aten.expand.default", "tI", h[k], r.ndim + 2, shape);
    h[k] = reshape(c, h[k], 3, flat);
  }
  shape[r.ndim] = m[0].shape[m[0].ndim - 2];
  shape[r.ndim + 1] = m[1].shape[m[1].ndim - 1];
  DtHandle *o = EMIT("aten.bmm.default", "tt", h[0], h[1]);
  return EMIT("aten._unsafe_view.default", "tI", o, r.ndim + 2, shape);
}

/* torch.matmul by the dimensions of its operands, as ATen's LinearAlgebra.cpp
** takes it apart: which of fold and batch is chosen decides which operators
** DTensor sees, and so what is redistributed. */
static DtHandle *matmul (DtDecompCall *c, DtHandle *a, DtHandle *b) {
  DtMeta ma = meta_of(c, a), mb = meta_of(c, b);
  int na = ma.ndim, nb = mb.ndim;
  if (!dt_emit_ok(c->e)) return NULL;
  if (na == 0 || nb == 0) {
    c->e->st = dt_raise(c->e->cx, DT_E_RUNTIME, "both arguments to matmul need "
                        "to be at least 1D, but they are %dD and %dD", na, nb);
    return NULL;
  }
  if (na == 1 && nb == 1) return EMIT("aten.dot.default", "tt", a, b);
  if (na == 2 && nb == 1) return EMIT("aten.mv.default", "tt", a, b);
  if (na == 1 && nb == 2) {
    a = EMIT("aten.unsqueeze.default", "ti", a, (int64_t)0);
    a = EMIT("aten.mm.default", "tt", a, b);
    return EMIT("aten.squeeze_.dim", "ti", a, (int64_t)0);
  }
  if (na == 2 && nb == 2) return EMIT("aten.mm.default", "tt", a, b);
  if (nb > na)          /* PyTorch transposes it to decide, and forgets it */
    (void)EMIT("aten.transpose.int", "tii", b, (int64_t)-2, (int64_t)-1);
  return want_fold(&ma, &mb) ? fold(c, a, b) : batched(c, a, b);
}
static DtStatus matmul_decomp (DtDecompCall *c) {
  return finish(c, matmul(c, c->in[0], c->in[1]));
}

/* ---- linear: input @ weight^T + bias ---- */

/* `last`: the view that brings the rows of addmm back to the input's dims. */
static DtStatus linear (DtDecompCall *c, const char *last) {
  DtHandle *x = c->in[0], *w = c->in[1], *b = dt_hin(c, 2), *r;
  DtMeta m = meta_of(c, x), mw = meta_of(c, w);
  int64_t shape[DT_MAX_NDIM], rows[2];
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(c->e->cx, m.ndim > 0 && mw.ndim > 0, DT_E_RUNTIME,
           "both arguments to linear need to be at least 1D, but they are %dD "
           "and %dD", m.ndim, mw.ndim);
  bool one_bias = b && meta_of(c, b).ndim <= 1;
  if (m.ndim == 2 && one_bias) {
    r = EMIT("aten.t.default", "t", w);
    return finish(c, EMIT("aten.addmm.default", "ttt", b, x, r));
  }
  if (one_bias && mw.ndim == 2 && dt_meta_is_contiguous(&m)) {
    memcpy(shape, m.shape, sizeof(int64_t) * m.ndim);
    rows[1] = m.shape[m.ndim - 1];
    rows[0] = 1;
    for (int i = 0; i < m.ndim - 1; i++) rows[0] *= m.shape[i];
    x = EMIT("aten.view.default", "tI", x, 2, rows);
    r = EMIT("aten.t.default", "t", w);
    r = EMIT("aten.addmm.default", "ttt", b, x, r);
    shape[m.ndim - 1] = mw.shape[0];
    return finish(c, EMIT(last, "tI", r, (int)m.ndim, shape));
  }
  if (m.ndim == 1 && mw.ndim == 2) {
    w = EMIT("aten.t.default", "t", w);
    x = EMIT("aten.unsqueeze.default", "ti", x, (int64_t)0);
    r = EMIT("aten.mm.default", "tt", x, w);
    r = EMIT("aten.squeeze_.dim", "ti", r, (int64_t)0);
  } else if (m.ndim > 2 && mw.ndim == 2) {
    memcpy(shape, m.shape, sizeof(int64_t) * m.ndim);
    rows[1] = m.shape[m.ndim - 1];
    rows[0] = 1;
    for (int i = 0; i < m.ndim - 1; i++) rows[0] *= m.shape[i];
    w = EMIT("aten.t.default", "t", w);
    x = reshape(c, x, 2, rows);
    r = EMIT("aten.mm.default", "tt", x, w);
    shape[m.ndim - 1] = mw.shape[0];
    r = EMIT("aten._unsafe_view.default", "tI", r, (int)m.ndim, shape);
  } else {
    w = EMIT("aten.t.default", "t", w);
    r = matmul(c, x, w);
  }
  if (b) r = EMIT("aten.add.Tensor", "tt", r, b);
  return finish(c, r);
}

static DtStatus linear_decomp (DtDecompCall *c) {
  return linear(c, "aten.view.default");
}
DtStatus op_rd_linear (DtDecompCall *c) {
  return linear(c, "aten._unsafe_view.default");
}

/* ---- flatten, unflatten, chunk, split, narrow, expand_as, item ---- */

static DtStatus flatten_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int64_t shape[DT_MAX_NDIM], one = 1, prod = 1;
  int s, e, n = 0;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_TRY(c->e->cx, op_dim(c->e->cx, c->args, 1, m.ndim, &s));
  DT_TRY(c->e->cx, op_dim(c->e->cx, c->args, 2, m.ndim, &e));
  DT_CHECK(c->e->cx, s <= e, DT_E_RUNTIME, "flatten() has invalid args: "
           "start_dim cannot come after end_dim");
  if (m.ndim == 0) return finish(c, reshape(c, c->in[0], 1, &one));
  if (s == e) return finish(c, c->in[0]);
  for (int i = 0; i < m.ndim; i++) {
    if (i < s || i > e) shape[n++] = m.shape[i];
    else prod *= m.shape[i];
    if (i == e) shape[n++] = prod;
  }
  return finish(c, reshape(c, c->in[0], n, shape));
}

/* One size may be -1.  Of sizes with a zero nothing is inferred: 0 elements do not
** tell how many. */
static DtStatus unflatten_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int64_t part[DT_MAX_NDIM], shape[DT_MAX_NDIM], prod = 1;
  int d, n = 0, k = op_ints(c->args, 2, part), infer = -1;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_TRY(c->e->cx, op_dim(c->e->cx, c->args, 1, m.ndim, &d));
  OpText text = op_ints_text(k, part);
  for (int i = 0; i < k; i++) {
    DT_CHECK(c->e->cx, part[i] != -1 || infer < 0, DT_E_RUNTIME,
             "unflatten got an unexpected error:\nonly one dimension can be "
             "inferred");
    if (part[i] == -1) infer = i;
    else prod = dt_sat_mul(prod, part[i]);
  }
  if (infer >= 0 && prod) {
    part[infer] = m.shape[d] / prod;
    prod = dt_sat_mul(prod, part[infer]);
  }
  DT_CHECK(c->e->cx, m.ndim > 0 && prod == m.shape[d], DT_E_RUNTIME,
           "unflatten: Provided sizes %s don't multiply up to the size of dim "
           "%d (%lld) in the input tensor", text.s, d,
           (long long)(m.ndim ? m.shape[d] : 1));
  DT_CHECK(c->e->cx, m.ndim - 1 + k <= DT_MAX_NDIM, DT_E_LIMIT,
           "at most %d dimensions", DT_MAX_NDIM);
  for (int i = 0; i < m.ndim; i++)
    for (int j = 0; j < (i == d ? k : 1); j++)
      shape[n++] = i == d ? part[j] : m.shape[i];
  return finish(c, EMIT("aten.view.default", "tI", c->in[0], n, shape));
}

static DtStatus chunk_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int64_t n = dt_arg_int(c->args, 1), size;
  int d;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(c->e->cx, m.ndim > 0, DT_E_RUNTIME,
           "chunk expects at least a 1-dimensional tensor");
  DT_CHECK(c->e->cx, n > 0, DT_E_RUNTIME, "chunk expects `chunks` to be "
           "greater than 0, got: %lld", (long long)n);
  DT_TRY(c->e->cx, op_dim(c->e->cx, c->args, 2, m.ndim, &d));
  size = dt_ceil_div(m.shape[d], n);
  if (size == 0) {              /* n empty parts */
    DtValue *z = DT_ANEWN(c->e->cx, c->e->arena, DtValue, n);
    if (!z || n > c->maxout) return DT_E_NOMEM;
    for (int64_t i = 0; i < n; i++) z[i] = dt_v_int(0);
    c->nout = (int)n;
    dt_emit_n(c->e, "aten.split_with_sizes.default", c->out, c->nout, "tvv",
              c->in[0], dt_v_list((int)n, z), c->args->v[2]);
    return c->e->st;
  }
  c->nout = (int)((m.shape[d] + size - 1) / size);
  dt_emit_n(c->e, "aten.split.Tensor", c->out, c->nout, "tiv", c->in[0], size,
            c->args->v[2]);
  return c->e->st;
}

static DtStatus split_sizes_decomp (DtDecompCall *c) {
  c->nout = dt_arg_len(c->args, 1);
  dt_emit_n(c->e, "aten.split_with_sizes.default", c->out, c->nout, "tvv",
            c->in[0], c->args->v[1], c->args->v[2]);
  return c->e->st;
}

static DtStatus narrow_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int64_t s = dt_arg_int(c->args, 2), n = dt_arg_int(c->args, 3);
  int d;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(c->e->cx, m.ndim > 0, DT_E_RUNTIME,
           "narrow() cannot be applied to a 0-dim tensor.");
  DT_CHECK(c->e->cx, n >= 0, DT_E_RUNTIME,
           "narrow(): length must be non-negative.");
  DT_TRY(c->e->cx, op_dim(c->e->cx, c->args, 1, m.ndim, &d));
  DT_TRY(c->e->cx, op_range(c->e->cx, m.shape[d], n, &s));
  return finish(c, EMIT("aten.slice.Tensor", "tviii", c->in[0], c->args->v[1],
                        s,
                        s + n, (int64_t)1));
}

static DtStatus expand_as_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[1]);
  return finish(c, EMIT("aten.expand.default", "tI", c->in[0], (int)m.ndim,
                        m.shape));
}

static DtStatus max_other_decomp (DtDecompCall *c) {
  return finish(c, EMIT("aten.maximum.default", "tt", c->in[0], c->in[1]));
}
static DtStatus min_other_decomp (DtDecompCall *c) {
  return finish(c, EMIT("aten.minimum.default", "tt", c->in[0], c->in[1]));
}

/* std(unbiased), var.dim(...) to the form with a correction. */
static DtStatus spread_decomp (DtDecompCall *c) {
  bool std = strncmp(c->op->schema, "aten::std", 9) == 0;
  int at = dt_schema_arg(c->args->schema, "unbiased");
  int dim = dt_schema_arg(c->args->schema, "dim");
  int keep = dt_schema_arg(c->args->schema, "keepdim");
  int64_t k = dt_arg_bool(c->args, at);
  const char *op = std ? "aten.std.correction" : "aten.var.correction";
  if (dim < 0)
    return finish(c, EMIT(op, "tn correction=i", c->in[0], k));
  DT_CHECK(c->e->cx, std || !c->e->tracing || !dt_arg_bool(c->args, keep),
           DT_E_NOTIMPL, "var.dim cannot be traced with keepdim");
  return finish(c, EMIT(op, "tv correction=i keepdim=b", c->in[0],
                        c->args->v[dim], k,
                        (int)dt_arg_bool(c->args, keep)));
}

/* ---- samples and definitions ---- */

static const char *const linear_samples[] = {
  "f32[8, 6], f32[4, 6], f32[4]", "f32[7, 5], f32[3, 5]",
  "f32[2, 3, 4], f32[5, 4], f32[5]", "f32[6], f32[4, 6], f32[4]",
  "f32[0, 4], f32[3, 4], f32[3]", NULL
};
static const char *const matmul_samples[] = {
  "f32[8, 6], f32[6, 4]", "f32[7], f32[7]", "f32[7, 5], f32[5]",
  "f32[5], f32[5, 3]", "f32[2, 3, 4], f32[4, 5]", "f32[3, 4], f32[2, 4, 5]",
  "f32[2, 1, 3, 4], f32[2, 4, 5]", NULL
};
static const char *const flatten_samples[] = {
  "f32[8, 6]", "f32[2, 3, 4], 1", "f32[]", "f32[0, 4]", NULL
};
static const char *const unflatten_samples[] = {
  "f32[8, 6], 1, [2, 3]", "f32[12], 0, [3, -1]", NULL
};
static const char *const chunk_samples[] = {
  "f32[8, 6], 2", "f32[7, 5], 3, 1", "f32[1], 2", "f32[0, 4], 2", NULL
};
static const char *const split_samples[] = { "f32[8, 6], [3, 5]", NULL };
static const char *const narrow_samples[] = {
  "f32[8, 6], 0, 2, 4", "f32[7], -1, -3, 2", "f32[4], 0, 4, 0", NULL
};
static const char *const as_samples[] = { "f32[8, 1], f32[8, 6]",
                                          "f32[], f32[3]", NULL };
static const char *const spread_samples[] = { "f32[8, 6]", "f32[7], False",
                                              NULL };
static const char *const spread_dim_samples[] = {
  "f32[8, 6], [1]", "f32[7, 5], [0], False, true", NULL
};

#define COMP(id, schema_, brief_, decomp_, samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = DT_OP_COMPOSITE, \
    .decomp = decomp_, .samples = samples_ }
COMP(linear, "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
     "input @ weight.T + bias.", linear_decomp, linear_samples);
COMP(matmul, "matmul(Tensor self, Tensor other) -> Tensor",
     "Matrix product with vectors and batches.", matmul_decomp,
     matmul_samples);
COMP(flatten_using_ints, "flatten.using_ints(Tensor(a) self, int start_dim=0, "
     "int end_dim=-1) -> Tensor(a)", "Dims joined into one.", flatten_decomp,
     flatten_samples);
COMP(unflatten_int, "unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> "
     "Tensor(a)", "A dim split into several.", unflatten_decomp,
     unflatten_samples);
COMP(chunk, "chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
     "At most so many equal parts.", chunk_decomp, chunk_samples);
COMP(split_sizes, "split.sizes(Tensor(a -> *) self, SymInt[] split_size, int "
     "dim=0) -> Tensor(a)[]", "Parts of given sizes.", split_sizes_decomp,
     split_samples);
COMP(narrow, "narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> "
     "Tensor(a)", "A range of a dim.", narrow_decomp, narrow_samples);
COMP(expand_as, "expand_as(Tensor(a) self, Tensor other) -> Tensor(a)",
     "expand to another tensor's shape.", expand_as_decomp, as_samples);
/* The binary forms of max and min have pointwise rules besides. */
#define EXTREME(id, name_, fn_, decomp_) \
  static const int row_##id[PWR_LEN] = { fn_, PK_SAME, 2, 0, 1 }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" name_ "(Tensor self, Tensor other) -> Tensor", \
    .brief = "The extreme of two tensors, element by element.", \
    .flags = DT_OP_COMPOSITE | DT_OP_POINTWISE | DT_OP_UNEVEN, \
    .meta = op_pw_meta, .kernel = op_pw_kernel, .decomp = decomp_, \
    .samples = op_samples_binary, .row = row_##id }
EXTREME(max_other, "max.other", DT_B_maximum, max_other_decomp);
EXTREME(min_other, "min.other", DT_B_minimum, min_other_decomp);
COMP(var, "var(Tensor self, bool unbiased=True) -> Tensor",
     "Variance of all elements.", spread_decomp, spread_samples);
COMP(std, "std(Tensor self, bool unbiased=True) -> Tensor",
     "Standard deviation of all elements.", spread_decomp, spread_samples);
COMP(var_dim, "var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool "
     "keepdim=False) -> Tensor", "Variance over dims.", spread_decomp,
     spread_dim_samples);
COMP(std_dim, "std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool "
     "keepdim=False) -> Tensor", "Standard deviation over dims.",
     spread_decomp, spread_dim_samples);
