/* SPDX-License-Identifier: MIT
** oplib/op_masked_index.c: reads and writes at index tensors of which a mask says
** which count: what does not count may point anywhere.  PyTorch pads and resizes
** images with them.  And tensors cut into chunks that are joined chunk by chunk,
** as FSDP2 fills what it sends. */
#include "oplib/composite.h"
#include "oplib/op_unwritten.h"

enum { A_SELF = 0, A_MASK = 1, A_INDICES = 2, A_VALUE = 3 };

/* The indices of the call, brought into the bounds of `m`. */
static int bounded (DtDecompCall *c, const DtMeta *m, DtHandle **h) {
  int slot[DT_MAX_NDIM];
  int n = dt_arg_slots(c->args, A_INDICES, slot, DT_MAX_NDIM);
  for (int i = 0; i < n; i++) {
    h[i] = slot[i] < 0 ? NULL : c->in[slot[i]];
    if (h[i] == NULL || i >= m->ndim) continue;
    DtMeta x = meta_of(c, h[i]);
    if (x.dtype != DT_I64 && x.dtype != DT_I32) {
      c->e->st = dt_raise(CX, DT_E_RUNTIME, "%s found unexpected index type %s",
                          c->op->sig->base, dt_dtype_word((DtDtype)x.dtype));
      return 0;
    }
    h[i] = EMIT("aten.clamp.default", "tii", h[i], -m->shape[i],
                m->shape[i] - 1);
  }
  return n;
}

static DtHandle *unmasked (DtDecompCall *c) {
  return EMIT("aten.logical_not.default", "t", c->in[A_MASK]);
}

static DtStatus read_decomp (DtDecompCall *c) {
  DtHandle *h[DT_MAX_NDIM];
  DtMeta m = meta_of(c, c->in[A_SELF]);
  if (dt_meta_numel(&m) == 0) {
    m = meta_of(c, c->in[A_MASK]);
    return finish(c, EMIT("aten.new_full.default", "tIv", c->in[A_SELF],
                          (int)m.ndim, m.shape, c->args->v[A_VALUE]));
  }
  int n = bounded(c, &m, h);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DtHandle *o = EMIT("aten.index.Tensor", "tT", c->in[A_SELF], n, h);
  return finish(c, EMIT("aten.masked_fill.Scalar", "ttv", o, unmasked(c),
                        c->args->v[A_VALUE]));
}

static DtStatus put_decomp (DtDecompCall *c) {
  DtHandle *h[DT_MAX_NDIM], *v = c->in[dt_arg_slot(c->args, A_VALUE)];
  DtMeta m = meta_of(c, c->in[A_SELF]);
  if (dt_meta_numel(&m) == 0)
    return finish(c, EMIT("aten.clone.default", "t", c->in[A_SELF]));
  int n = bounded(c, &m, h);
  if (!dt_emit_ok(c->e)) return c->e->st;
  v = EMIT("aten.masked_fill.Scalar", "tti", v, unmasked(c), (int64_t)0);
  return finish(c, EMIT("aten.index_put.default", "tTtb", c->in[A_SELF], n, h, v,
                        1));
}

static int index_handles (DtGradCall *c, DtHandle **h) {
  int slot[DT_MAX_NDIM];
  int n = dt_arg_slots(c->args, A_INDICES, slot, DT_MAX_NDIM);
  for (int i = 0; i < n; i++) h[i] = slot[i] < 0 ? NULL : c->in[slot[i]];
  return n;
}

static DtStatus read_grad (DtGradCall *c) {
  DtHandle *h[DT_MAX_NDIM];
  DtMeta m;
  int n = index_handles(c, h);
  dt_meta_copy(&m, dt_emit_meta(c->e, dt_gin(c, A_SELF)));
  DtHandle *z = EMIT("aten.new_zeros.default", "tI dtype=d", GOUT, (int)m.ndim,
                     m.shape, (int)m.dtype);
  op_g_set(c, A_SELF, EMIT("aten._unsafe_masked_index_put_accumulate.default",
                           "ttTt", z, dt_gin(c, A_MASK), n, h, GOUT));
  return op_g_finish(c);
}

static DtStatus put_grad (DtGradCall *c) {
  DtHandle *h[DT_MAX_NDIM];
  int n = index_handles(c, h);
  if (op_g_need(c, A_SELF)) op_g_set(c, A_SELF, GOUT);
  if (op_g_need(c, A_VALUE))
    op_g_set(c, A_VALUE, EMIT("aten._unsafe_masked_index.default", "ttTi", GOUT,
                              dt_gin(c, A_MASK), n, h, (int64_t)0));
  return op_g_finish(c);
}

/* ---- chunks ---- */

/* What is wrong with the tensors of a _chunk_cat, in PyTorch's order. */
static DtStatus chunks_fit (DtDecompCall *c, int n, DtHandle *const *h, int *dim) {
  DtMeta first, m;
  DT_CHECK(CX, n > 0, DT_E_RUNTIME, "_chunk_cat expects a non-empty input tensor "
           "list");
  first = meta_of(c, h[0]);
  DT_TRY(CX, op_dim(CX, c->args, 1, first.ndim, dim));
  for (int i = 0; i < n; i++) {
    m = meta_of(c, h[i]);
    DT_CHECK(CX, dt_meta_numel(&m) > 0, DT_E_RUNTIME,
             "_chunk_cat expects non-empty tensor");
    DT_CHECK(CX, m.dtype == first.dtype, DT_E_RUNTIME,
             "_chunk_cat expects all input tensors with the same dtype");
    for (int d = 0; d < *dim; d++)
      DT_CHECK(CX, d < m.ndim && m.shape[d] == first.shape[d], DT_E_RUNTIME,
               "_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all "
               "tensors");
    DT_CHECK(CX, *dim < m.ndim, DT_E_RUNTIME,
             "_chunk_cat expects dim < ndim for all input tensors");
  }
  return DT_OK;
}

/* h, filled up with zeros along `dim` and cut into chunks, each one row. */
static DtHandle *chunked (DtDecompCall *c, DtHandle *h, int dim, int64_t chunks) {
  DtMeta m = meta_of(c, h);
  int64_t pad[2 * DT_MAX_NDIM] = { 0 }, shape[DT_MAX_NDIM + 2];
  int64_t rest = (chunks - m.shape[dim] % chunks) % chunks;
  int at_dim = 2 * (m.ndim - dim) - 1;
  pad[at_dim] = rest;
  if (rest > 0)
    h = EMIT("aten.constant_pad_nd.default", "tIi", h, at_dim + 1, pad,
             (int64_t)0);
  for (int d = 0; d < dim; d++) shape[d] = m.shape[d];
  shape[dim] = chunks;
  shape[dim + 1] = -1;
  return EMIT("aten.reshape.default", "tI", h, dim + 2, shape);
}

static DtStatus chunk_cat_decomp (DtDecompCall *c) {
  int64_t chunks = dt_arg_int(c->args, 2);
  int dim, n = dt_arg_len(c->args, 0);
  int *slot = DT_ANEWN(CX, c->e->arena, int, n + 1);
  DtHandle **h = DT_ANEWN(CX, c->e->arena, DtHandle *, n + 1);
  if (slot == NULL || h == NULL) return DT_E_NOMEM;
  n = dt_arg_slots(c->args, 0, slot, n + 1);
  for (int i = 0; i < n; i++) h[i] = c->in[slot[i]];
  DT_CHECK(CX, chunks >= 1, DT_E_RUNTIME,
           "_chunk_cat expects positive num_chunks");
  DT_TRY(CX, chunks_fit(c, n, h, &dim));
  for (int i = 0; i < n; i++) h[i] = chunked(c, h[i], dim, chunks);
  return finish(c, EMIT("aten.cat.default", "Ti", n, h, (int64_t)dim + 1));
}

/* ---- definitions ---- */

K(_unsafe_masked_index, "_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] "
  "indices, Scalar fill) -> Tensor", "Elements at index tensors, a number where "
  "the mask is false.", read_decomp, read_grad, NULL,
  "f32[8, 6], bool[4], [i64[4], i64[4]], 0");
K(_unsafe_masked_index_put_accumulate, "_unsafe_masked_index_put_accumulate("
  "Tensor self, Tensor mask, Tensor?[] indices, Tensor values) -> Tensor",
  "A copy to which values are added at index tensors, where the mask is true.",
  put_decomp, put_grad, NULL, "f32[8, 6], bool[4], [i64[4], i64[4]], f32[4]");
K(_chunk_cat, "_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor",
  "Tensors cut into chunks, the first chunks of all joined, then the second.",
  chunk_cat_decomp, op_g_absent, NULL, "[f32[8, 6], f32[4, 2]], 0, 2");
