/* SPDX-License-Identifier: MIT
** oplib/op_composite_shape.c: functions that only cut, join and turn tensors by
** other operators: movedim, the splits at indices, atleast, tile, the stacks,
** meshgrid, the *_as forms.
**
** Composites all of them: nobody sees them whole, and what is seen are the
** calls PyTorch's kernels make, with the dims as those kernels have wrapped
** them.  Nothing is computed here. */
#include "base/sat.h"
#include "oplib/oplib_int.h"
#include "oplib/emitting.h"

#include <string.h>

static int wrap (int64_t d, int ndim) { return (int)(d < 0 ? d + ndim : d); }

/* ---- permutations ---- */

static DtStatus dims_of (DtDecompCall *c, int i, int ndim, int64_t *out,
                         int *n) {
  *n = op_ints(c->args, i, out);
  for (int k = 0; k < *n; k++) {
    DT_CHECK(CX, out[k] >= -ndim && out[k] < ndim, DT_E_INDEX,
             "Dimension out of range (expected to be in range of [%d, %d], "
             "but got %lld)", -ndim, ndim - 1, (long long)out[k]);
    out[k] = wrap(out[k], ndim);
  }
  return DT_OK;
}

static DtStatus no_repeats (DtDecompCall *c, int i, int n,
                            const int64_t *dims) {
  int64_t given[DT_MAX_NDIM];
  for (int a = 0; a < n; a++)
    for (int b = 0; b < a; b++)
      DT_CHECK(CX, dims[a] != dims[b], DT_E_RUNTIME, "movedim: repeated dim "
               "in `%s` (%s)", i == 1 ? "source" : "destination",
               op_ints_text(op_ints(c->args, i, given), given).s);
  return DT_OK;
}

static DtStatus movedim_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int64_t src[DT_MAX_NDIM], dst[DT_MAX_NDIM], order[DT_MAX_NDIM];
  bool used[DT_MAX_NDIM] = { false };
  int n, k, next = 0;
  if (!dt_emit_ok(c->e)) return c->e->st;
  n = op_ints(c->args, 1, src);
  k = op_ints(c->args, 2, dst);
  DT_CHECK(CX, n == k, DT_E_RUNTIME, "movedim: Invalid source or destination "
           "dims: source (%s dims) should contain the same number of dims as "
           "destination (%s dims)", op_ints_text(n, src).s,
           op_ints_text(k, dst).s);
  DT_TRY(CX, dims_of(c, 1, m.ndim ? m.ndim : 1, src, &n));
  DT_TRY(CX, dims_of(c, 2, m.ndim ? m.ndim : 1, dst, &n));
  DT_TRY(CX, no_repeats(c, 1, n, src));
  DT_TRY(CX, no_repeats(c, 2, n, dst));
  if (m.ndim == 0) return finish(c, EMIT("aten.alias.default", "t", c->in[0]));
  for (int i = 0; i < m.ndim; i++) order[i] = -1;
  for (int i = 0; i < n; i++) {
    order[dst[i]] = src[i];
    used[src[i]] = true;
  }
  for (int i = 0; i < m.ndim; i++) {
    if (order[i] >= 0) continue;
    while (used[next]) next++;
    order[i] = next++;
  }
  return finish(c, EMIT("aten.permute.default", "tI", c->in[0], (int)m.ndim,
                        order));
}

static DtStatus reversed_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int64_t order[DT_MAX_NDIM];
  for (int i = 0; i < m.ndim; i++) order[i] = m.ndim - 1 - i;
  return finish(c, EMIT("aten.permute.default", "tI", c->in[0], (int)m.ndim,
                        order));
}

static DtHandle *conjugate (DtDecompCall *c, DtHandle *h) {
  DtMeta m = meta_of(c, h);
  return dt_emit_ok(c->e) && dt_dtype_is_complex((DtDtype)m.dtype)
         ? EMIT("aten._conj.default", "t", h) : h;
}

/* mH, adjoint, H: the last two dims exchanged, conjugated. */
static DtStatus adjoint_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  bool one = strcmp(c->args->schema->base, "matrix_H") == 0;
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (one)
    DT_CHECK(CX, m.ndim == 2 || m.ndim == 0, DT_E_RUNTIME,
             "tensor.H is only supported on matrices (2-D tensors). Got %d-D "
             "tensor.%s", m.ndim,
             m.ndim > 2 ? " For batches of matrices, consider using tensor.mH"
             : m.ndim == 1 ? " 1D tensors cannot be transposed." : "");
  else
    DT_CHECK(CX, m.ndim != 1, DT_E_RUNTIME,
             "tensor.adjoint() is only supported on matrices or batches of "
             "matrices. Got 1-D tensor.");
  if (m.ndim == 0) return finish(c, conjugate(c, c->in[0]));
  return finish(c, conjugate(c, EMIT("aten.transpose.int", "tii", c->in[0],
                                     (int64_t)-2, (int64_t)-1)));
}

/* swapaxes, swapdims */
static DtStatus swap_decomp (DtDecompCall *c) {
  return finish(c, EMIT("aten.transpose.int", "tvv", c->in[0], c->args->v[1],
                        c->args->v[2]));
}

/* ---- other shapes ---- */

DtHandle *op_e_reshape (DtEmit *e, DtHandle *h, int n, const int64_t *want) {
  DtMeta m;
  int64_t shape[DT_MAX_NDIM], stride[DT_MAX_NDIM];
  dt_meta_copy(&m, dt_emit_meta(e, h));
  memcpy(shape, want, sizeof(int64_t) * (size_t)n);
  if (!dt_emit_ok(e)) return NULL;
  e->st = op_infer_size(e->cx, dt_meta_numel(&m), n, shape);
  if (e->st != DT_OK) return NULL;
  if (op_view_strides(&m, n, shape, stride))
    return dt_emit(e, "aten.view.default", "tI", h, n, want);
  h = dt_emit(e, "aten.clone.default", "t memory_format=v", h,
              dt_v_code(DT_V_MEMFMT, DT_MF_CONTIGUOUS));
  return dt_emit(e, "aten._unsafe_view.default", "tI", h, n, shape);
}

static DtHandle *reshape (DtDecompCall *c, DtHandle *h, int n,
                          const int64_t *shape) {
  return op_e_reshape(c->e, h, n, shape);
}

static DtStatus view_as_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[1]);
  if (strcmp(c->args->schema->base, "reshape_as") == 0)
    return finish(c, reshape(c, c->in[0], m.ndim, m.shape));
  return finish(c, EMIT("aten.view.default", "tI", c->in[0], (int)m.ndim,
                        m.shape));
}

static DtHandle *atleast (DtDecompCall *c, DtHandle *h, int n) {
  static const int64_t ones[3] = { 1, 1, 1 };
  int ndim = meta_of(c, h).ndim;
  if (!dt_emit_ok(c->e) || ndim >= n) return h;
  if (ndim == 0) return reshape(c, h, n, ones);
  if (ndim == 1) h = EMIT("aten.unsqueeze.default", "ti", h, (int64_t)0);
  return n == 3 ? EMIT("aten.unsqueeze.default", "ti", h, (int64_t)-1) : h;
}

static DtStatus atleast_decomp (DtDecompCall *c) {
  int n = c->args->schema->base[8] - '0';
  for (int i = 0; i < c->nin; i++) c->out[i] = atleast(c, c->in[i], n);
  c->nout = c->nin;
  return c->e->st;
}

static DtStatus tile_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int64_t given[DT_MAX_NDIM], dims[DT_MAX_NDIM];
  int n = op_ints(c->args, 1, given), lead = m.ndim > n ? m.ndim - n : 0;
  for (int i = 0; i < lead; i++) dims[i] = 1;
  memcpy(dims + lead, given, sizeof(int64_t) * (size_t)n);
  return finish(c, EMIT("aten.repeat.default", "tI", c->in[0], lead + n,
                        dims));
}

/* Each element `repeats` times along a dim, or of the flattened tensor. */
static DtStatus repeat_each_decomp (DtDecompCall *c) {
  DtHandle *x = c->in[0];
  int64_t repeats = dt_arg_int(c->args, 1), shape[DT_MAX_NDIM];
  int64_t dim = dt_arg_int_or(c->args, 2, 0);
  if (dt_arg_is_none(c->args, 2))
    x = EMIT("aten.flatten.using_ints", "t", x);
  DtMeta m = meta_of(c, x);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, dim >= -m.ndim && dim < m.ndim, DT_E_INDEX,
           "Dimension out of range (expected to be in range of [%d, %d], but "
           "got %lld)", -m.ndim, m.ndim - 1, (long long)dim);
  dim = wrap(dim, m.ndim);
  DT_CHECK(CX, repeats >= 0, DT_E_RUNTIME, "Repeats must be non-negative");
  DT_CHECK(CX, m.ndim < DT_MAX_NDIM, DT_E_LIMIT, "at most %d dimensions",
           DT_MAX_NDIM);
  x = EMIT("aten.unsqueeze.default", "ti", x, dim + 1);
  for (int i = 0, k = 0; i < m.ndim; i++) {
    shape[k++] = m.shape[i];
    if (i == dim) shape[k++] = repeats;
  }
  x = EMIT("aten.expand.default", "tI", x, m.ndim + 1, shape);
  x = EMIT("aten.clone.default", "t memory_format=v", x,
           dt_v_code(DT_V_MEMFMT, DT_MF_CONTIGUOUS));
  return finish(c, EMIT("aten.flatten.using_ints", "tii", x, dim, dim + 1));
}

/* repeat into out, as Python writes it: each dim in front of its copies, a
** copy of that, and the dims back in order, which follow from the strides the
** result would have. */
typedef struct Tiles {
  int n;                                /* dims of the result */
  int64_t target[DT_MAX_NDIM], shape[DT_MAX_NDIM], order[DT_MAX_NDIM];
} Tiles;

static void tiles_init (Tiles *t, const DtMeta *m, int n,
                        const int64_t *times) {
  int64_t stride[DT_MAX_NDIM], step = 1;
  t->n = n;
  for (int i = n - 1; i >= 0; i--) {
    int64_t size = i < n - m->ndim ? 1 : m->shape[i - (n - m->ndim)];
    t->target[i] = dt_sat_mul(size, times[i]);
    t->shape[i] = size > 0 ? times[i] : 1;
    t->shape[n + i] = size;
    stride[n + i] = step;
    stride[i] = dt_sat_mul(step, size > 0 ? size : 1);
    if (t->target[i] > 0) step = dt_sat_mul(step, t->target[i]);
  }
  for (int i = 0; i < 2 * n; i++) {             /* by stride, stable */
    int k = i;
    for (; k > 0 && stride[t->order[k - 1]] < stride[i]; k--)
      t->order[k] = t->order[k - 1];
    t->order[k] = i;
  }
}

static DtStatus repeat_out_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int64_t times[DT_MAX_NDIM];
  int n = op_ints(c->args, 1, times);
  DtHandle *x = c->in[0];
  Tiles t;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, n >= m.ndim, DT_E_RUNTIME, "Number of dimensions of repeat dims "
           "can not be smaller than number of dimensions of tensor");
  DT_CHECK(CX, 2 * n <= DT_MAX_NDIM, DT_E_LIMIT, "at most %d dimensions",
           DT_MAX_NDIM / 2);
  for (int i = 0; i < n; i++)
    DT_CHECK(CX, times[i] != 0 || !c->e->tracing, DT_E_NOTIMPL,
             "No DTensorSpec found in args/kwargs for aten.empty");
  if (n == 0) {
    x = EMIT("aten.clone.default", "t", x);
  } else {
    tiles_init(&t, &m, n, times);
    x = EMIT("aten.expand.default", "tI", x, 2 * n, t.shape);
    x = EMIT("aten.clone.default", "t", x);
    x = EMIT("aten.permute.default", "tI", x, 2 * n, t.order);
    x = EMIT("aten.reshape.default", "tI", x, n, t.target);
  }
  return finish(c, EMIT("aten.copy_.default", "tt", dt_hin(c, 2), x));
}

static DtStatus sum_to_size_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int64_t want[DT_MAX_NDIM], dims[DT_MAX_NDIM];
  int n = op_ints(c->args, 1, want), lead = m.ndim - n, k = 0;
  bool fits = lead >= 0;
  DtHandle *x = c->in[0];
  if (!dt_emit_ok(c->e)) return c->e->st;
  for (int i = 0; fits && i < n; i++)
    fits = want[i] == m.shape[i + lead] || want[i] == 1;
  DT_CHECK(CX, fits, DT_E_RUNTIME, "size {%s} is not expandable to size "
           "{%s}.", op_ints_text(n, want).s, op_shape_text(&m).s);
  if (n == 0) return finish(c, EMIT("aten.sum.default", "t", x));
  for (int i = 0; i < m.ndim; i++)
    if (i < lead || (want[i - lead] == 1 && m.shape[i] != 1)) dims[k++] = i;
  if (k > 0) x = EMIT("aten.sum.dim_IntList", "tIb", x, k, dims, 1);
  return finish(c, lead > 0 ? EMIT("aten.view.default", "tI", x, n, want) : x);
}

static DtStatus diagflat_decomp (DtDecompCall *c) {
  int64_t all = -1;
  DtHandle *x = c->in[0];
  if (meta_of(c, x).ndim != 1) x = reshape(c, x, 1, &all);
  return finish(c, EMIT("aten.diag.default", "tv", x, c->args->v[1]));
}

static DtStatus real_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  bool imag = strcmp(c->args->schema->base, "imag") == 0;
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (!dt_dtype_is_complex((DtDtype)m.dtype)) {
    DT_CHECK_SAY0(CX, !imag, DT_E_RUNTIME, IMAG_REAL);
    return finish(c, c->in[0]);
  }
  DtHandle *x = c->in[0];
  bool conj = (dt_emit_marks(c->e, x) & DT_MARK_CONJ) != 0;
  if (conj) x = EMIT("aten._conj.default", "t", x);
  x = EMIT("aten.view_as_real.default", "t", x);
  if (conj && imag) x = EMIT("aten._neg_view.default", "t", x);
  return finish(c, EMIT("aten.select.int", "tii", x, (int64_t)m.ndim,
                        (int64_t)imag));
}

static DtStatus conj_decomp (DtDecompCall *c) {
  return finish(c, conjugate(c, c->in[0]));
}

/* resolve_conj, resolve_neg: a tensor that has the mark is written out. */
static DtStatus resolve_decomp (DtDecompCall *c) {
  bool neg = strcmp(c->args->schema->base, "resolve_neg") == 0;
  int mark = neg ? DT_MARK_NEG : DT_MARK_CONJ;
  return finish(c, dt_emit_marks(c->e, c->in[0]) & mark
                ? EMIT("aten.clone.default", "t", c->in[0]) : c->in[0]);
}

/* ---- parts ---- */

static DtHandle *part (DtDecompCall *c, int dim, int64_t from, int64_t to) {
  return EMIT("aten.slice.Tensor", "tiii", c->in[0], (int64_t)dim, from, to);
}

static DtStatus cut_equal (DtDecompCall *c, int dim, int64_t size,
                           int64_t n) {
  int64_t least, more, at = 0;
  DT_CHECK(CX, n > 0, DT_E_RUNTIME,
           "number of sections must be larger than 0, got %lld",
           (long long)n);
  DT_CHECK(CX, n <= c->maxout, DT_E_LIMIT, "more than %d results",
           c->maxout);
  least = size / n;
  more = size % n;
  for (int i = 0; i < n; i++) {
    int64_t len = least + (i < more);
    c->out[i] = part(c, dim, at, at + len);
    at += len;
  }
  c->nout = (int)n;
  return c->e->st;
}

static DtStatus cut_at (DtDecompCall *c, int dim, int64_t size) {
  const DtValue *v = &c->args->v[1];
  int64_t at = 0;
  int n = v->kind == DT_V_LIST ? v->u.list.n : 0;
  DT_CHECK(CX, n < c->maxout, DT_E_LIMIT, "more than %d results", c->maxout);
  for (int i = 0; i < n; i++) {
    int64_t to = v->u.list.v[i].u.i;
    c->out[i] = part(c, dim, at, to);
    at = to;
  }
  c->out[n] = part(c, dim, at, size);
  c->nout = n + 1;
  return c->e->st;
}

static DtStatus tensor_split_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int d;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.ndim > 0, DT_E_RUNTIME, "tensor_split expected at least a "
           "1-dimensional tensor, but got a tensor with %d dims", m.ndim);
  DT_TRY(CX, op_dim(CX, c->args, 2, m.ndim, &d));
  if (strcmp(c->args->schema->overload, "sections") == 0)
    return cut_equal(c, d, m.shape[d], dt_arg_int(c->args, 1));
  return cut_at(c, d, m.shape[d]);
}

/* hsplit, vsplit, dsplit */
static DtStatus letter_split_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  const char *name = c->args->schema->base;
  int least = *name == 'h' ? 1 : *name == 'v' ? 2 : 3;
  int d = *name == 'h' ? m.ndim != 1 : *name == 'v' ? 0 : 2;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.ndim >= least, DT_E_RUNTIME, "torch.%s requires a tensor "
           "with at least %d dimension, but got a tensor with %d "
           "dimensions!", name, least, m.ndim);
  if (strcmp(c->args->schema->overload, "int") != 0)
    return cut_at(c, d, m.shape[d]);
  int64_t n = dt_arg_int(c->args, 1);
  DT_CHECK(CX, n != 0 && m.shape[d] % n == 0, DT_E_RUNTIME, "torch.%s "
           "attempted to split along dimension %d, but the size of the "
           "dimension %lld is not divisible by the split_size %lld!", name, d,
           (long long)m.shape[d], (long long)n);
  return cut_equal(c, d, m.shape[d], n);
}

/* n parts of no elements, along argument 2. */
static DtStatus empty_parts (DtDecompCall *c, int64_t n) {
  DtValue *z;
  DT_CHECK(CX, n <= c->maxout, DT_E_LIMIT, "more than %d results", c->maxout);
  z = DT_ANEWN(CX, c->e->arena, DtValue, n);
  if (z == NULL) return DT_E_NOMEM;
  for (int64_t i = 0; i < n; i++) z[i] = dt_v_int(0);
  c->nout = (int)n;
  dt_emit_n(c->e, "aten.unsafe_split_with_sizes.default", c->out, c->nout,
            "tvv", c->in[0], dt_v_list((int)n, z), c->args->v[2]);
  return c->e->st;
}

static DtStatus unsafe_chunk_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int64_t n = dt_arg_int(c->args, 1), size;
  int d;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.ndim > 0, DT_E_RUNTIME,
           "chunk expects at least a 1-dimensional tensor");
  DT_CHECK(CX, n > 0, DT_E_RUNTIME, "chunk expects `chunks` to be greater "
           "than 0, got: %lld", (long long)n);
  DT_TRY(CX, op_dim(CX, c->args, 2, m.ndim, &d));
  if (m.shape[d] == 0) return empty_parts(c, n);
  size = dt_ceil_div(m.shape[d], n);
  c->nout = (int)(dt_ceil_div(m.shape[d], size));
  dt_emit_n(c->e, "aten.unsafe_split.Tensor", c->out, c->nout, "tiv",
            c->in[0], size, c->args->v[2]);
  return c->e->st;
}

/* ---- joining ---- */

static DtStatus stacks_decomp (DtDecompCall *c) {
  const char *name = c->args->schema->base;
  DtHandle **x = DT_ANEWN(CX, c->e->arena, DtHandle *, c->nin + 1);
  int least = *name == 'h' ? 1 : *name == 'd' ? 3 : 2;
  int64_t dim = *name == 'd' ? 2 : 0;
  if (x == NULL) return DT_E_NOMEM;
  DT_CHECK(CX, c->nin > 0, DT_E_RUNTIME, "%s expects a non-empty TensorList",
           name);
  for (int i = 0; i < c->nin; i++) {
    DtMeta m = meta_of(c, c->in[i]);
    int64_t column[2] = { dt_meta_numel(&m), 1 };
    x[i] = *name != 'c' ? atleast(c, c->in[i], least)
           : m.ndim <= 1 ? reshape(c, c->in[i], 2, column) : c->in[i];
  }
  if (*name == 'h' || *name == 'c') dim = meta_of(c, x[0]).ndim != 1;
  return finish(c, EMIT("aten.cat.default", "Ti", c->nin, x, dim));
}

static DtStatus broadcast_tensors_decomp (DtDecompCall *c) {
  DtMeta all = { 0 }, one;
  for (int i = 0; i < c->nin; i++) {
    one = meta_of(c, c->in[i]);
    if (!dt_emit_ok(c->e)) return c->e->st;
    if (i == 0) dt_meta_copy(&all, &one);
    else {
      DtMeta both;
      DT_TRY(CX, dt_meta_broadcast(CX, &all, &one, &both));
      dt_meta_copy(&all, &both);
    }
  }
  c->nout = c->nin;
  for (int i = 0; i < c->nin; i++)
    c->out[i] = EMIT("aten.expand.default", "tI", c->in[i], (int)all.ndim,
                     all.shape);
  return c->e->st;
}

/* "xy" swaps the first two inputs on the way in and their results on the way
** out, so one loop makes both orders (native/TensorShape.cpp:meshgrid). */
static DtStatus meshgrid_decomp (DtDecompCall *c) {
  int n = c->nin;
  int64_t shape[DT_MAX_NDIM], own[DT_MAX_NDIM];
  const char *word = c->args->n > 1 ? dt_arg_str(c->args, 1) : "ij";
  bool xy = strcmp(word, "xy") == 0 && n >= 2;
  DT_CHECK(CX, n > 0, DT_E_RUNTIME,
           "meshgrid expects a non-empty TensorList");
  DT_CHECK(CX, strcmp(word, "xy") == 0 || strcmp(word, "ij") == 0,
           DT_E_RUNTIME, "torch.meshgrid: indexing must be one of \"xy\" or "
           "\"ij\", but received: %s", word);
  DT_CHECK(CX, n <= DT_MAX_NDIM, DT_E_LIMIT, "at most %d dimensions",
           DT_MAX_NDIM);
  for (int i = 0; i < n; i++) {
    int k = xy && i < 2 ? 1 - i : i;
    DtMeta m = meta_of(c, c->in[k]);
    if (!dt_emit_ok(c->e)) return c->e->st;
    DT_CHECK(CX, m.ndim <= 1, DT_E_RUNTIME, "torch.meshgrid: Expected 0D or "
             "1D tensor in the tensor list but got: %s",
             op_shape_text(&m).s);
    shape[i] = dt_meta_numel(&m);
  }
  for (int i = 0; i < n; i++) {
    int k = xy && i < 2 ? 1 - i : i;
    for (int j = 0; j < n; j++) own[j] = j == i ? -1 : 1;
    DtHandle *x = EMIT("aten.view.default", "tI", c->in[k], n, own);
    x = EMIT("aten.expand.default", "tI", x, n, shape);
    c->out[k] = x;
  }
  c->nout = n;
  return c->e->st;
}

/* ---- samples and definitions ---- */

#define C(id, schema_, brief_, decomp_, ...) \
  static const char *const id##_samples[] = { __VA_ARGS__, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = DT_OP_COMPOSITE, \
    .decomp = decomp_, .samples = id##_samples }

static DtStatus flip_decomp (DtDecompCall *c) {
  int64_t dim = strcmp(c->op->sig->base, "fliplr") == 0;
  DtMeta m = meta_of(c, c->in[0]);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.ndim > dim, DT_E_RUNTIME, "Input must be >= %d-d.",
           (int)dim + 1);
  return finish(c, EMIT("aten.flip.default", "tI", c->in[0], 1, &dim));
}

C(fliplr, "fliplr(Tensor self) -> Tensor", "Columns in reverse.", flip_decomp,
  "f32[8, 6]");
C(flipud, "flipud(Tensor self) -> Tensor", "Rows in reverse.", flip_decomp,
  "f32[8, 6]");
C(movedim_intlist, "movedim.intlist(Tensor(a) self, int[] source, int[] "
  "destination) -> Tensor(a)", "Dims moved to other places.", movedim_decomp,
  "f32[2, 3, 4], [0, 1], [2, 0]");
C(movedim_int, "movedim.int(Tensor(a) self, int source, int destination) -> "
  "Tensor(a)", "A dim moved to another place.", movedim_decomp,
  "f32[2, 3, 4], 0, -1", "f32[8, 6], 1, 0");
C(moveaxis_intlist, "moveaxis.intlist(Tensor(a) self, int[] source, int[] "
  "destination) -> Tensor(a)", "Dims moved to other places.", movedim_decomp,
  "f32[2, 3, 4], [0, 1], [2, 0]");
C(moveaxis_int, "moveaxis.int(Tensor(a) self, int source, int destination) "
  "-> Tensor(a)", "A dim moved to another place.", movedim_decomp,
  "f32[2, 3, 4], 0, -1");
C(numpy_T, "numpy_T(Tensor(a) self) -> Tensor(a)", "The dims in reverse.",
  reversed_decomp, "f32[8, 6]", "f32[2, 3, 4]");
C(mH, "mH(Tensor(a) self) -> Tensor(a)",
  "The last two dims exchanged, conjugated.", adjoint_decomp,
  "f32[2, 3, 4]");
C(adjoint, "adjoint(Tensor(a) self) -> Tensor(a)",
  "The last two dims exchanged, conjugated.", adjoint_decomp,
  "f32[2, 3, 4]");
C(matrix_H, "matrix_H(Tensor(a) self) -> Tensor(a)",
  "A matrix transposed and conjugated.", adjoint_decomp, "f32[8, 6]");
C(swapaxes, "swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
  "Two dims exchanged.", swap_decomp, "f32[8, 6], 0, 1");
C(swapdims, "swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
  "Two dims exchanged.", swap_decomp, "f32[8, 6], 0, 1");
C(reshape_as, "reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)",
  "reshape to another tensor's shape.", view_as_decomp,
  "f32[8, 6], f32[6, 8]");
C(view_as, "view_as(Tensor(a) self, Tensor other) -> Tensor(a)",
  "view with another tensor's shape.", view_as_decomp,
  "f32[8, 6], f32[6, 8]");
C(atleast_1d, "atleast_1d(Tensor self) -> Tensor", "At least one dim.",
  atleast_decomp, "f32[]", "f32[8]");
C(atleast_2d, "atleast_2d(Tensor self) -> Tensor", "At least two dims.",
  atleast_decomp, "f32[]", "f32[8]", "f32[8, 6]");
C(atleast_3d, "atleast_3d(Tensor self) -> Tensor", "At least three dims.",
  atleast_decomp, "f32[]", "f32[8]", "f32[8, 6]");
C(atleast_1d_Sequence, "atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]",
  "At least one dim each.", atleast_decomp, "[f32[], f32[8]]");
C(atleast_2d_Sequence, "atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]",
  "At least two dims each.", atleast_decomp, "[f32[], f32[8]]");
C(atleast_3d_Sequence, "atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]",
  "At least three dims each.", atleast_decomp, "[f32[], f32[8]]");
C(tile, "tile(Tensor self, SymInt[] dims) -> Tensor",
  "The tensor side by side with itself.", tile_decomp, "f32[8, 6], [2]");
C(repeat_out, "repeat.out(Tensor self, SymInt[] repeats, *, Tensor(a!) out) "
  "-> Tensor(a!)", "Copies laid side by side along each dim.",
  repeat_out_decomp, "f32[4, 3], [2, 2], out=f32[8, 6]");
C(repeat_interleave_self_int, "repeat_interleave.self_int(Tensor self, SymInt "
  "repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
  "Each element several times.", repeat_each_decomp, "f32[8], 2",
  "f32[8, 6], 2, 1");
C(sum_to_size, "sum_to_size(Tensor self, SymInt[] size) -> Tensor",
  "Broadcast dims summed.", sum_to_size_decomp, "f32[8, 6], [1, 6]",
  "f32[8, 6], [6]");
C(diagflat, "diagflat(Tensor self, int offset=0) -> Tensor",
  "A matrix with the elements on a diagonal.", diagflat_decomp, "f32[4]");
C(real, "real(Tensor(a) self) -> Tensor(a)", "Real parts.", real_decomp,
  "f32[8]", "c64[8]");
C(imag, "imag(Tensor(a) self) -> Tensor(a)", "Imaginary parts.", real_decomp,
  "c64[8]");
C(conj, "conj(Tensor(a) self) -> Tensor(a)", "Conjugates.", conj_decomp,
  "f32[8]");
C(resolve_conj, "resolve_conj(Tensor(a) self) -> Tensor(a)",
  "A tensor whose conjugation is done.", resolve_decomp, "f32[8]");
C(resolve_neg, "resolve_neg(Tensor(a) self) -> Tensor(a)",
  "A tensor whose negation is done.", resolve_decomp, "f32[8]");
C(tensor_split_sections, "tensor_split.sections(Tensor(a -> *) self, SymInt "
  "sections, int dim=0) -> Tensor(a)[]", "Nearly equal parts.",
  tensor_split_decomp, "f32[7, 6], 3");
C(tensor_split_indices, "tensor_split.indices(Tensor(a -> *) self, SymInt[] "
  "indices, int dim=0) -> Tensor(a)[]", "Parts between indices.",
  tensor_split_decomp, "f32[8, 6], [2, 5]");
C(hsplit_int, "hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
  "Equal parts along the columns.", letter_split_decomp, "f32[8, 6], 2");
C(hsplit_array, "hsplit.array(Tensor(a -> *) self, int[] indices) -> "
  "Tensor(a)[]", "Parts along the columns.", letter_split_decomp,
  "f32[8, 6], [2]");
C(vsplit_int, "vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
  "Equal parts along the rows.", letter_split_decomp, "f32[8, 6], 2");
C(vsplit_array, "vsplit.array(Tensor(a -> *) self, int[] indices) -> "
  "Tensor(a)[]", "Parts along the rows.", letter_split_decomp,
  "f32[8, 6], [2]");
C(dsplit_int, "dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
  "Equal parts along the third dim.", letter_split_decomp,
  "f32[2, 2, 6], 2");
C(dsplit_array, "dsplit.array(Tensor(a -> *) self, int[] indices) -> "
  "Tensor(a)[]", "Parts along the third dim.", letter_split_decomp,
  "f32[2, 2, 6], [2]");
C(unsafe_chunk, "unsafe_chunk(Tensor self, int chunks, int dim=0) -> "
  "Tensor[]", "At most so many equal parts, not views.",
  unsafe_chunk_decomp, "f32[8, 6], 2");
C(hstack, "hstack(Tensor[] tensors) -> Tensor", "Joined side by side.",
  stacks_decomp, "[f32[4], f32[3]]", "[f32[8, 2], f32[8, 3]]");
C(vstack, "vstack(Tensor[] tensors) -> Tensor", "Joined as rows.",
  stacks_decomp, "[f32[4], f32[4]]");
C(row_stack, "row_stack(Tensor[] tensors) -> Tensor", "Joined as rows.",
  stacks_decomp, "[f32[4], f32[4]]");
C(dstack, "dstack(Tensor[] tensors) -> Tensor",
  "Joined along the third dim.", stacks_decomp, "[f32[4], f32[4]]");
C(column_stack, "column_stack(Tensor[] tensors) -> Tensor",
  "Joined as columns.", stacks_decomp, "[f32[4], f32[4]]");
C(broadcast_tensors, "broadcast_tensors(Tensor[] tensors) -> Tensor[]",
  "All expanded to one shape.", broadcast_tensors_decomp,
  "[f32[4, 1], f32[3]]");
C(meshgrid, "meshgrid(Tensor[] tensors) -> Tensor[]",
  "Coordinates of a grid.", meshgrid_decomp, "[f32[4], f32[3]]");
C(meshgrid_indexing, "meshgrid.indexing(Tensor[] tensors, *, str indexing) "
  "-> Tensor[]", "Coordinates of a grid.", meshgrid_decomp,
  "[f32[4], f32[3]], indexing='xy'");
