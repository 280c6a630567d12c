/* SPDX-License-Identifier: MIT
** oplib/op_slice.c: parts of tensors and tensors from parts: select, slice,
** split, chunk, unbind, narrow, their gradients, cat, stack, repeat, flip,
** constant_pad_nd.
**
** A part along a dim needs that dim whole on every rank; other shards pass.
** cat and stack look for one placement all operands can share. */
#include "base/error_shard.h"
#include "base/sat.h"
#include "compat/text.h"
#include "oplib/op_spatial.h"
#include "oplib/oplib_int.h"
#include "oplib/second.h"

#include <math.h>
#include <string.h>


/* ---- shards' dims after a dim came or went ---- */

static void shift_insert (DtPlacement *p, int n, int64_t dim) {
  for (int i = 0; i < n; i++)
    if (dt_pl_is_shard_like(p[i]) && p[i].dim >= dim) p[i].dim++;
}
static void shift_remove (DtPlacement *p, int n, int64_t dim) {
  for (int i = 0; i < n; i++)
    if (dt_pl_is_shard_like(p[i]) && p[i].dim > dim) p[i].dim--;
}
static bool sharded_on (const DtSpec *s, int n, int64_t dim) {
  for (int i = 0; i < n; i++)
    if (dt_pl_is_shard_like(s->pl[i]) && s->pl[i].dim == dim) return true;
  return false;
}
static uint32_t bit (int64_t d) {
  return d >= 0 && d < 32 ? 1u << d : 0;
}

/* ---- select ---- */

static DtStatus select_meta (DtMetaCall *c) {
  int d;
  const DtMeta *m = c->in[0];
  DtMeta *o = &c->out[0];
  int64_t i = dt_arg_int(c->args, 2);
  OpText text = op_shape_text(m);
  DT_CHECK(c->cx, m->ndim > 0, DT_E_INDEX,
           "select() cannot be applied to a 0-dim tensor.");
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, m->ndim, &d));
  DT_CHECK(c->cx, i >= -m->shape[d] && i < m->shape[d], DT_E_INDEX,
           "select(): index %lld out of range for tensor of size %s at "
           "dimension %d", (long long)i, text.s, d);
  if (i < 0) i += m->shape[d];
  dt_meta_copy(o, m);
  o->wrapped = false;
  o->ndim--;
  for (int k = d; k < o->ndim; k++) {
    o->shape[k] = m->shape[k + 1];
    o->stride[k] = m->stride[k + 1];
  }
  c->offset[0] = i * m->stride[d];
  c->nout = 1;
  return DT_OK;
}

static DtStatus select_strategy (DtStratCall *c) {
  int d;
  DtPlacement in[OP_MAXPL], out[OP_MAXPL];
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->meta.ndim, &d));
  op_s_follow(c, 0, bit(d), false, in);
  memcpy(out, in, sizeof *in * (size_t)c->mesh->ndim);
  shift_remove(out, c->mesh->ndim, d);
  return op_s_one(c, out, in, -INFINITY);
}

static DtStatus select_grad (DtGradCall *c) {
  const DtMeta *m = dt_emit_meta(c->e, dt_gin(c, 0));
  op_g_set(c, 0, EMIT("aten.select_backward.default", "tIvv", GOUT,
                      (int)m->ndim,
                      m->shape, c->args->v[1], c->args->v[2]));
  return op_g_finish(c);
}

/* ---- slice ---- */

/* Python's rules: negative counts from the end, then clamped. */
static DtStatus slice_range (DtCtx *cx, const DtArgs *a, int at,
                             const int64_t *shape, int ndim, int *d,
                             int64_t *start, int64_t *end, int64_t *step) {
  DT_TRY(cx, op_dim(cx, a, at, ndim, d));
  int64_t size = ndim ? shape[*d] : 1;
  *start = dt_arg_int_or(a, at + 1, 0);
  *end = dt_arg_int_or(a, at + 2, INT64_MAX);
  *step = dt_arg_int(a, at + 3);
  DT_CHECK(cx, *step > 0, DT_E_RUNTIME, "slice step must be positive");
  if (*start < 0) *start += size;
  if (*end < 0) *end += size;
  if (*start < 0) *start = 0;
  if (*start > size) *start = size;
  if (*end < *start) *end = *start;
  if (*end > size) *end = size;
  return DT_OK;
}

static DtStatus slice_meta (DtMetaCall *c) {
  int d;
  int64_t start, end, step;
  const DtMeta *m = c->in[0];
  DtMeta *o = &c->out[0];
  DT_CHECK(c->cx, m->ndim > 0, DT_E_RUNTIME,
           "slice() cannot be applied to a 0-dim tensor.");
  DT_TRY(c->cx, slice_range(c->cx, c->args, 1, m->shape, m->ndim, &d, &start,
                            &end, &step));
  dt_meta_copy(o, m);
  o->wrapped = false;
  o->shape[d] = dt_ceil_div(end - start, step);
  o->stride[d] = dt_sat_mul(m->stride[d], step);
  c->offset[0] = start * m->stride[d];
  c->nout = 1;
  return DT_OK;
}

static DtStatus slice_strategy (DtStratCall *c) {
  int d;
  DtPlacement in[OP_MAXPL];
  const DtSpec *s = c->in[0];
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, s->meta.ndim, &d));
  int64_t size = s->meta.shape[d], start = dt_arg_int_or(c->args, 2, 0);
  int64_t end = dt_arg_int_or(c->args, 3, size);
  if (end > size) end = size;
  if (start < 0) start += size;
  if (end < 0) end += size;
  bool whole = start == 0 && end == size && dt_arg_int(c->args, 4) == 1;
  if (whole || !sharded_on(s, c->mesh->ndim, d))
    return op_s_one(c, s->pl, s->pl, 0);
  op_s_follow(c, 0, bit(d), false, in);
  return op_s_one(c, in, in, NAN);
}

static DtStatus slice_grad (DtGradCall *c) {
  int d;
  int64_t start, end, step;
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, dt_gin(c, 0)));
  DT_TRY(c->e->cx, slice_range(c->e->cx, c->args, 1, m.shape, m.ndim, &d,
                               &start, &end, &step));
  start = dt_arg_int_or(c->args, 2, 0);
  end = dt_arg_int_or(c->args, 3, INT64_MAX);
  op_g_set(c, 0, EMIT("aten.slice_backward.default", "tIviii", GOUT,
                      (int)m.ndim,
                      m.shape, c->args->v[1], start, end, step));
  return op_g_finish(c);
}

/* ---- select_backward, slice_backward: zeros with the gradient put in ---- */

static DtStatus back_meta (DtMetaCall *c) {
  int64_t shape[DT_MAX_NDIM];
  int n = op_ints(c->args, 1, shape);
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)c->in[0]->dtype, n, shape,
                     c->in[0]);
}

/* Write the gradient, broadcast, over the part of out that it belongs to:
** `n` places of dim d from `start` on, none of which remains as a dim when
** `drop`. */
static DtStatus put_part (DtKernelCall *c, int d, int64_t start, int64_t step,
                          int64_t n, bool drop) {
  DtTensor *o = c->out[0], *part = NULL, *from = NULL;
  const DtMeta *g = &c->in[0]->m;
  int64_t shape[DT_MAX_NDIM], stride[DT_MAX_NDIM], wide[DT_MAX_NDIM];
  int nd = 0;
  DtMeta all;
  DtStatus st;
  for (int k = 0; k < o->m.ndim; k++) {
    if (k == d && drop) continue;
    shape[nd] = k == d ? n : o->m.shape[k];
    stride[nd++] = k == d ? dt_sat_mul(o->m.stride[k], step)
                          : o->m.stride[k];
  }
  DT_TRYG(c->cx, dt_k_fill(c->cx, o, dt_scalar_int(0)));
  DT_TRYG(c->cx, op_restride(c->cx, o, nd, shape, stride,
                             n > 0 ? start * o->m.stride[d] : 0, &part));
  DT_TRYG(c->cx, dt_meta_broadcast(c->cx, &part->m, g, &all));
  if (!dt_meta_same_shape(&all, &part->m)) {
    OpText into = op_shape_text(&part->m), want = op_shape_text(&all);
    DT_TRYG(c->cx, dt_raise(c->cx, DT_E_RUNTIME, "output with shape %s doesn't "
                            "match the broadcast shape %s", into.s, want.s));
  }
  for (int k = 0; k < nd; k++) {
    int at = g->ndim - nd + k;
    wide[k] = at < 0 || g->shape[at] == 1 ? 0 : g->stride[at];
  }
  if (dt_meta_numel(&part->m) == 0) goto done;
  DT_TRYG(c->cx, op_restride(c->cx, c->in[0], nd, shape, wide, 0, &from));
  DT_TRYG(c->cx, dt_k_copy(c->cx, from, part));
done:
  dt_tensor_unref(c->cx, from);
  dt_tensor_unref(c->cx, part);
  return st;
}

static DtStatus select_back_kernel (DtKernelCall *c) {
  int d;
  const DtMeta *m = &c->out[0]->m;
  int64_t i = dt_arg_int(c->args, 3);
  DT_TRY(c->cx, op_dim(c->cx, c->args, 2, m->ndim, &d));
  if (i < 0) i += m->shape[d];
  DT_CHECK(c->cx, i >= 0 && i < m->shape[d], DT_E_INDEX,
           "select(): index %lld out of range for tensor of size %s at "
           "dimension %d", (long long)i, op_shape_text(m).s, d);
  return put_part(c, d, i, 1, 1, true);
}
static DtStatus slice_back_kernel (DtKernelCall *c) {
  int d;
  int64_t start, end, step;
  const DtMeta *m = &c->out[0]->m;
  DT_TRY(c->cx, slice_range(c->cx, c->args, 2, m->shape, m->ndim, &d, &start,
                            &end, &step));
  return put_part(c, d, start, step, dt_ceil_div(end - start, step), false);
}

/* The dim is not normalised: a negative one shifts wrongly. */
static DtStatus select_back_strategy (DtStratCall *c) {
  DtPlacement out[OP_MAXPL];
  memcpy(out, c->in[0]->pl, sizeof *out * (size_t)c->mesh->ndim);
  shift_insert(out, c->mesh->ndim, dt_arg_int(c->args, 2));
  return op_s_one(c, out, c->in[0]->pl, -INFINITY);
}
static DtStatus slice_back_strategy (DtStratCall *c) {
  DtPlacement p[OP_MAXPL];
  op_s_follow(c, 0, bit(dt_arg_int(c->args, 2)), false, p);
  return op_s_one(c, p, p, NAN);
}

/* ---- split, split_with_sizes, unbind, chunk ---- */

enum { ROW_SIZE, ROW_SIZES };
static const int row_size[] = { ROW_SIZE }, row_sizes[] = { ROW_SIZES };

static DtStatus split_sizes (DtCtx *cx, const DtOpDef *op, const DtArgs *a,
                             int64_t total, int64_t *size, int *n) {
  int64_t sum = 0, k;
  *n = 0;
  if (op->row[0] == ROW_SIZE) {
    k = dt_arg_int(a, 1);
    DT_CHECK(cx, k >= 0, DT_E_RUNTIME, "split expects split_size be "
             "non-negative, but got split_size=%lld", (long long)k);
    DT_CHECK(cx, k > 0 || total == 0, DT_E_RUNTIME,
             "split_size can only be 0 if dimension size is 0, but got "
             "dimension size of %lld", (long long)total);
    do {
      DT_CHECK(cx, *n < DT_MAX_OUTS, DT_E_LIMIT, "more than %d parts",
               DT_MAX_OUTS);
      size[(*n)++] = total < k ? total : k;
      total -= size[*n - 1];
    } while (total > 0);
    return DT_OK;
  }
  *n = dt_arg_ints(a, 1, size, DT_MAX_OUTS);
  OpText text = op_ints_text(*n, size);
  for (int i = 0; i < *n; i++) {
    DT_CHECK(cx, size[i] >= 0, DT_E_RUNTIME, "split_with_sizes expects "
             "split_sizes have only non-negative entries, but got "
             "split_sizes=%s", text.s);
    sum = dt_sat_add(sum, size[i]);
  }
  DT_CHECK(cx, sum == total, DT_E_RUNTIME, "split_with_sizes expects "
           "split_sizes to sum exactly to %lld (input tensor's size at "
           "dimension %lld), but got split_sizes=%s", (long long)total,
           (long long)dt_arg_int(a, 2), text.s);
  return DT_OK;
}

static DtStatus split_meta (DtMetaCall *c) {
  int64_t size[DT_MAX_OUTS], at = 0;
  int d, n;
  const DtMeta *m = c->in[0];
  DT_CHECK(c->cx, m->ndim > 0, DT_E_RUNTIME,
           "split expects at least a 1-dimensional tensor");
  int64_t dim = dt_arg_int(c->args, 2);
  DT_CHECK(c->cx, !c->fake || c->args->v[1].kind == DT_V_LIST ||
           (dim >= -m->ndim && dim < m->ndim), DT_E_INDEX,
           "tuple index out of range");
  DT_TRY(c->cx, op_dim(c->cx, c->args, 2, m->ndim, &d));
  DT_TRY(c->cx, split_sizes(c->cx, c->op, c->args, m->shape[d], size, &n));
  DT_CHECK(c->cx, n <= c->maxout, DT_E_LIMIT, "more than %d parts", c->maxout);
  for (int i = 0; i < n; i++) {
    dt_meta_copy(&c->out[i], m);
    c->out[i].wrapped = false;
    c->out[i].shape[d] = size[i];
    c->offset[i] = at * m->stride[d];
    at += size[i];
  }
  c->nout = n;
  return DT_OK;
}

static DtStatus split_strategy (DtStratCall *c) {
  int d;
  DtPlacement p[OP_MAXPL];
  DT_TRY(c->cx, op_dim(c->cx, c->args, 2, c->in[0]->meta.ndim, &d));
  /* PyTorch's strategy counts no part of nothing, the operator one. */
  DT_CHECK(c->cx, c->op->row != row_size || c->in[0]->meta.shape[d] > 0,
           DT_E_VALUE, "For the op aten::split.Tensor, `output_specs` has 0 "
           "outputs which does not equal the number of op outputs 1.");
  op_s_follow(c, 0, bit(d), false, p);
  return op_s_one(c, p, p, NAN);
}

/* Zeros for a part of the input that got no gradient. */
static DtHandle *no_grad_part (DtGradCall *c, int ndim, const int64_t *shape) {
  return EMIT("aten.new_zeros.default", "tI", dt_gin(c, 0), ndim, shape);
}

/* Gradients of all parts joined; a part without one counts as zeros. */
static DtStatus split_grad (DtGradCall *c) {
  DtHandle *part[DT_MAX_OUTS];
  int64_t size[DT_MAX_OUTS];
  int d, n = 0;
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, dt_gin(c, 0)));
  DT_TRY(c->e->cx, op_dim(c->e->cx, c->args, 2, m.ndim, &d));
  DT_TRY(c->e->cx, split_sizes(c->e->cx, c->op, c->args, m.shape[d], size,
                               &n));
  for (int i = 0; i < c->nout && i < n; i++) {
    m.shape[d] = size[i];
    part[i] = c->gout[i] ? c->gout[i] : no_grad_part(c, m.ndim, m.shape);
  }
  op_g_set(c, 0, EMIT("aten.cat.default", "Ti", c->nout, part, (int64_t)d));
  return op_g_finish(c);
}

/* The parts again, as copies. */
static DtStatus split_copy_meta (DtMetaCall *c) {
  DT_TRY(c->cx, split_meta(c));
  for (int i = 0; i < c->nout; i++) {
    dt_meta_set_contiguous(&c->out[i]);
    c->offset[i] = 0;
  }
  return DT_OK;
}
static DtStatus split_copy_kernel (DtKernelCall *c) {
  DtTensor *in = c->in[0];
  int64_t at = 0;
  int d;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 2, in->m.ndim, &d));
  for (int i = 0; i < c->nout; i++) {
    DtTensor *part = NULL, *o = c->out[i];
    DT_TRY(c->cx, op_restride(c->cx, in, in->m.ndim, o->m.shape, in->m.stride,
                              at * in->m.stride[d], &part));
    DtStatus st = dt_k_copy(c->cx, part, o);
    dt_tensor_unref(c->cx, part);
    if (st != DT_OK) return st;
    at += o->m.shape[d];
  }
  return DT_OK;
}

static DtStatus unbind_meta (DtMetaCall *c) {
  int d;
  const DtMeta *m = c->in[0];
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, m->ndim, &d));
  DT_CHECK(c->cx, m->ndim > 0, DT_E_INDEX, "Dimension specified as 0 but "
           "tensor has no dimensions");
  DT_CHECK(c->cx, m->shape[d] <= c->maxout, DT_E_LIMIT, "more than %d parts",
           c->maxout);
  for (int i = 0; i < m->shape[d]; i++) {
    DtMeta *o = &c->out[i];
    dt_meta_copy(o, m);
    o->wrapped = false;
    o->ndim--;
    for (int k = d; k < o->ndim; k++) {
      o->shape[k] = m->shape[k + 1];
      o->stride[k] = m->stride[k + 1];
    }
    c->offset[i] = i * m->stride[d];
  }
  c->nout = (int)m->shape[d];
  return DT_OK;
}

static DtStatus unbind_strategy (DtStratCall *c) {
  int d;
  DtPlacement out[OP_MAXPL];
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->meta.ndim, &d));
  DT_CHECK(c->cx, !sharded_on(c->in[0], c->mesh->ndim, d), DT_E_RUNTIME,
           "('Attempted to unbind along the sharded dimension %d. ', 'It "
           "cannot be performed without redistribution, which is disallowed "
           "by the current operator.')", d);
  memcpy(out, c->in[0]->pl, sizeof *out * (size_t)c->mesh->ndim);
  shift_remove(out, c->mesh->ndim, d);
  return op_s_one(c, out, c->in[0]->pl, 0);
}

static DtStatus unbind_grad (DtGradCall *c) {
  DtHandle *part[DT_MAX_OUTS];
  DtMeta m;
  int d;
  dt_meta_copy(&m, dt_emit_meta(c->e, dt_gin(c, 0)));
  DT_TRY(c->e->cx, op_dim(c->e->cx, c->args, 1, m.ndim, &d));
  for (int k = d; k + 1 < m.ndim; k++) m.shape[k] = m.shape[k + 1];
  for (int i = 0; i < c->nout; i++)
    part[i] = c->gout[i] ? c->gout[i] : no_grad_part(c, m.ndim - 1, m.shape);
  op_g_set(c, 0, EMIT("aten.stack.default", "Tv", c->nout, part,
                      c->args->v[1]));
  return op_g_finish(c);
}

/* ---- cat, stack ---- */

/* A 1-D tensor without elements takes no part in cat. */
static bool skipped (const DtMeta *m) {
  return m->ndim == 1 && m->shape[0] == 0;
}

static DtDtype list_dtype (const DtCtx *cx, int n, const DtMeta *const *in) {
  DtPromote p;
  dt_promote_init(&p, cx->bf16_complex);
  for (int i = 0; i < n; i++)
    dt_promote_tensor(&p, (DtDtype)in[i]->dtype, in[i]->ndim);
  return dt_promote_result(&p);
}

/* RUNTIME where the types have no common one. */
static DtStatus list_promotable (DtCtx *cx, int n, const int *slot,
                                 const DtMeta *const *in) {
  OpOperand o[2];
  memset(o, 0, sizeof o);
  for (int i = 1; i < n; i++) {
    o[0].m = in[slot[i - 1]];
    o[1].m = in[slot[i]];
    DT_TRY(cx, op_promotable(cx, 2, o));
  }
  return DT_OK;
}

/* In propagation the list is checked against its first tensor that is not
** 1-D; a 1-D one among them must be empty. */
static DtStatus cat_check_fake (DtMetaCall *c, int n, const int *slot) {
  const DtMeta *first = NULL;
  int d;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < n; i++) {
      const DtMeta *m = c->in[slot[i]];
      if ((m->ndim == 1) != (pass == 1)) continue;
      if (!first) first = m;
      DT_CHECK(c->cx, m->ndim == first->ndim || (pass == 1 && !m->shape[0]),
               DT_E_SHAPE, "Number of dimensions of tensors must match.  "
               "Expected %d-D tensors, but got %d-D for tensor number %d in "
               "the list", first->ndim, m->ndim, i);
    }
  }
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, first->ndim, &d));
  first = NULL;
  for (int i = 0; i < n; i++) {
    const DtMeta *m = c->in[slot[i]];
    if (skipped(m)) continue;
    if (!first) first = m;
    for (int k = 0; k < m->ndim; k++)
      DT_CHECK(c->cx, k == d || m->shape[k] == first->shape[k], DT_E_SHAPE,
               "Sizes of tensors must match except in dimension %d. Expected "
               "%lld in dimension %d but got %lld for tensor number %d in the "
               "list", d, (long long)first->shape[k], k,
               (long long)m->shape[k], i);
  }
  return DT_OK;
}

/* What all are laid out like, the result is. */
static bool all_channels_last (const DtMetaCall *c, int n, const int *slot) {
  for (int i = 0; i < n; i++)
    if (!op_sp_channels_last(c->in[slot[i]])) return false;
  return true;
}

/* Empty tensors of one dim are passed over, whatever the others are: the first that
** counts gives the shape, and all dims but `d` are held against it.  A fake call has
** checks of its own first, in the order of PyTorch's Python. */
static DtStatus cat_meta (DtMetaCall *c) {
  int slot[DT_MAX_OUTS], d = 0, n;
  const DtMeta *first = NULL;
  int64_t total = 0;
  DtMeta r;
  n = dt_arg_slots(c->args, 0, slot, DT_MAX_OUTS);
  DT_CHECK(c->cx, n > 0, DT_E_VALUE,
           "torch.cat(): expected a non-empty list of Tensors");
  if (c->fake) DT_TRY(c->cx, cat_check_fake(c, n, slot));
  for (int i = 0; i < n; i++) {
    const DtMeta *m = c->in[slot[i]];
    DT_CHECK(c->cx, m->ndim > 0, DT_E_RUNTIME, "zero-dimensional tensor (at "
             "position %d) cannot be concatenated", i);
    if (!first && !skipped(m)) first = m;
  }
  if (!first) first = c->in[slot[0]];
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, first->ndim, &d));
  for (int i = 0; i < n; i++) {
    const DtMeta *m = c->in[slot[i]];
    if (skipped(m)) continue;
    DT_CHECK(c->cx, m->ndim == first->ndim, DT_E_SHAPE, "Tensors must have "
             "same number of dimensions: got %d and %d", first->ndim, m->ndim);
    for (int k = 0; k < m->ndim; k++)
      DT_CHECK(c->cx, k == d || m->shape[k] == first->shape[k], DT_E_SHAPE,
               "Sizes of tensors must match except in dimension %d. Expected "
               "size %lld but got size %lld for tensor number %d in the list.",
               d, (long long)first->shape[k], (long long)m->shape[k], i);
    total += m->shape[d];
  }
  dt_meta_copy(&r, first);
  if (!skipped(first)) r.shape[d] = total;
  DT_TRY(c->cx, list_promotable(c->cx, n, slot, c->in));
  c->nout = 1;
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[0], list_dtype(c->cx, n, c->in),
                            r.ndim, r.shape, first));
  if (!c->fake && all_channels_last(c, n, slot))
    DT_TRY(c->cx, op_sp_result(c->cx, first, (DtDtype)c->out[0].dtype,
                               r.ndim, r.shape, true, &c->out[0]));
  return DT_OK;
}

static DtStatus cat_kernel (DtKernelCall *c) {
  int slot[DT_MAX_OUTS], d, k = 0;
  const DtTensor *in[DT_MAX_OUTS];
  int n = dt_arg_slots(c->args, 0, slot, DT_MAX_OUTS);
  for (int i = 0; i < n; i++)
    if (!skipped(&c->in[slot[i]]->m)) in[k++] = c->in[slot[i]];
  if (k == 0) return DT_OK;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->out[0]->m.ndim, &d));
  return dt_k_cat(c->cx, k, in, d, c->out[0]);
}

/* One candidate for each distinct list of operand placements, the cat dim
** gathered. */
static DtStatus cat_strategy (DtStratCall *c) {
  int d, nd = c->mesh->ndim, w = c->nin, n = 0;
  DtStatus st = DT_OK;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->meta.ndim, &d));
  for (int i = 1; i < w; i++)
    DT_CHECK(c->cx, dt_mesh_equal(c->in[i]->mesh, c->mesh), DT_E_RUNTIME,
             "cat op doesn't support cross mesh concatenation");
  DtPlacement *seen = DT_NEWN(c->cx, DtPlacement, w * nd);
  DtPlacement *in = DT_NEWN(c->cx, DtPlacement, w * nd);
  if (!seen || !in) st = DT_E_NOMEM;
  for (int i = 0; i < w && st == DT_OK; i++) {
    DtPlacement *p = seen + n * nd;
    bool known = false;
    op_s_follow(c, i, bit(d), false, p);
    for (int k = 0; k < n && !known; k++)
      known = dt_pls_equal(seen + k * nd, p, nd);
    if (known) continue;
    n++;
    for (int k = 0; k < w; k++) memcpy(in + k * nd, p, sizeof *p * (size_t)nd);
    st = dt_strat_add(c, p, in, NAN);
  }
  dt_free(c->cx, seen);
  dt_free(c->cx, in);
  return st;
}

static DtStatus cat_grad (DtGradCall *c) {
  int slot[DT_MAX_OUTS], d = 0;
  int64_t at = 0;
  int n = dt_arg_slots(c->args, 0, slot, DT_MAX_OUTS);
  DT_TRY(c->e->cx, op_dim(c->e->cx, c->args, 1, dt_emit_meta(c->e, GOUT)->ndim,
                          &d));
  for (int i = 0; i < n; i++) {
    DtMeta m;
    dt_meta_copy(&m, dt_emit_meta(c->e, c->in[slot[i]]));
    if (skipped(&m)) continue;
    if (c->need[slot[i]])
      c->gin[slot[i]] = EMIT("aten.slice.Tensor", "tiii", GOUT, (int64_t)d, at,
                             at + m.shape[d]);
    at += m.shape[d];
  }
  return op_g_finish(c);
}

/* In propagation stack is a cat of the tensors, each with a dim put in where
** the first one's dims end. */
static DtStatus stack_check_fake (DtMetaCall *c, int n, const int *slot,
                                  int d) {
  const DtMeta *f = c->in[slot[0]];
  DtMetaCall cat = *c;
  DtStatus st = DT_OK;
  bool later = (c->op->flags & DT_OP_LATER) != 0;
  for (int i = 1; !later && i < n && d < f->ndim; i++)
    DT_CHECK(c->cx, dt_meta_same_shape(f, c->in[slot[i]]), DT_E_RUNTIME,
             "stack expects each tensor to be equal size, but got "
             "torch.Size(%s) at entry 0 ", op_shape_text(f).s);
  if (d < f->ndim) return DT_OK;
  DtMeta *m = DT_NEWN(c->cx, DtMeta, n);
  const DtMeta **in = DT_NEWN(c->cx, const DtMeta *, n);
  int *at = DT_NEWN(c->cx, int, n);
  if (m == NULL || in == NULL || at == NULL) st = DT_E_NOMEM;
  for (int i = 0; st == DT_OK && i < n; i++) {
    dt_meta_copy(&m[i], c->in[slot[i]]);
    DT_CHECKG(c->cx, m[i].ndim < DT_MAX_NDIM, DT_E_LIMIT,
              "at most %d dimensions", DT_MAX_NDIM);
    if (d > m[i].ndim) {
      m[i].ndim++;
      DT_TRYG(c->cx, op_has_dim(c->cx, &m[i], d));
    }
    for (int k = m[i].ndim; k > d; k--) m[i].shape[k] = m[i].shape[k - 1];
    m[i].shape[d] = 1;
    m[i].ndim++;
    in[i] = &m[i];
    at[i] = i;
  }
  cat.in = in;
  if (st == DT_OK) st = cat_check_fake(&cat, n, at);
done:
  dt_free(c->cx, m);
  dt_free(c->cx, in);
  dt_free(c->cx, at);
  return st;
}

static DtStatus stack_meta (DtMetaCall *c) {
  int slot[DT_MAX_OUTS], d;
  int64_t shape[DT_MAX_NDIM];
  int n = dt_arg_slots(c->args, 0, slot, DT_MAX_OUTS);
  DT_CHECK(c->cx, n > 0, DT_E_RUNTIME, "stack expects a non-empty TensorList");
  const DtMeta *f = c->in[slot[0]];
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, f->ndim + 1, &d));
  OpText a = op_shape_text(f);
  if (c->fake)
    DT_TRY(c->cx, stack_check_fake(c, n, slot, d));
  for (int i = 1; i < n; i++) {
    OpText b = op_shape_text(c->in[slot[i]]);
    DT_CHECK(c->cx, dt_meta_same_shape(f, c->in[slot[i]]), DT_E_RUNTIME,
             "stack expects each tensor to be equal size, but got %s at entry "
             "0 and %s at entry %d", a.s, b.s, i);
  }
  DT_CHECK(c->cx, f->ndim < DT_MAX_NDIM, DT_E_LIMIT, "at most %d dimensions",
           DT_MAX_NDIM);
  for (int k = 0; k <= f->ndim; k++)
    shape[k] = k == d ? n : f->shape[k < d ? k : k - 1];
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], list_dtype(c->cx, n, c->in), f->ndim + 1,
                     shape, f);
}

static DtStatus stack_kernel (DtKernelCall *c) {
  int slot[DT_MAX_OUTS], d;
  DtTensor *o = c->out[0];
  int64_t stride[DT_MAX_NDIM];
  int n = dt_arg_slots(c->args, 0, slot, DT_MAX_OUTS);
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, o->m.ndim, &d));
  for (int k = 0; k < o->m.ndim - 1; k++)
    stride[k] = o->m.stride[k < d ? k : k + 1];
  for (int i = 0; i < n && dt_meta_numel(&o->m) > 0; i++) {
    DtTensor *part = NULL, *in = c->in[slot[i]];
    DT_TRY(c->cx, op_restride(c->cx, o, in->m.ndim, in->m.shape, stride,
                              i * o->m.stride[d], &part));
    DtStatus st = dt_k_copy(c->cx, in, part);
    dt_tensor_unref(c->cx, part);
    if (st != DT_OK) return st;
  }
  return DT_OK;
}

/* Placement two operands can share on one mesh dim. */
static DtPlacement merge (DtPlacement a, DtPlacement b) {
  if (dt_pl_equal(a, b)) return a;
  if (dt_pl_is_partial(a))
    return dt_pl_is_shard_like(b) ? b
         : dt_pl_is_partial(b) ? dt_pl_replicate() : a;
  if (dt_pl_is_shard_like(a))
    return dt_pl_is_shard_like(b) ? dt_pl_replicate() : a;
  return b;
}

static DtStatus other_mesh (DtStratCall *c, const DtMesh *m) {
  DtBuf a, b;
  DtStatus st;
  dt_buf_init(&a, c->cx);
  dt_buf_init(&b, c->cx);
  dt_mesh_repr(m, &a);
  dt_mesh_repr(c->in[0]->mesh, &b);
  st = DT_SAY(c->cx, DT_E_CROSSMESH, MESHES_OF_STACK, c->op->sig->full,
              dt_buf_str(&a), dt_buf_str(&b));
  dt_buf_fini(&b);
  dt_buf_fini(&a);
  return st;
}

static DtStatus stack_strategy (DtStratCall *c) {
  int d, nd = c->mesh->ndim;
  DtPlacement p[OP_MAXPL], *in;
  for (int i = 1; i < c->nin; i++)
    if (!dt_mesh_equal(c->in[i]->mesh, c->in[0]->mesh))
      return other_mesh(c, c->in[i]->mesh);
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, c->in[0]->meta.ndim + 1, &d));
  if (!(in = DT_NEWN(c->cx, DtPlacement, c->nin * nd))) return DT_E_NOMEM;
  memcpy(p, c->in[0]->pl, sizeof *p * (size_t)nd);
  for (int i = 1; i < c->nin; i++)
    for (int k = 0; k < nd; k++) p[k] = merge(p[k], c->in[i]->pl[k]);
  for (int i = 0; i < c->nin; i++)
    memcpy(in + i * nd, p, sizeof *p * (size_t)nd);
  shift_insert(p, nd, d);
  DtStatus st = dt_strat_add(c, p, in, NAN);
  dt_free(c->cx, in);
  return st;
}

static DtStatus stack_grad (DtGradCall *c) {
  int slot[DT_MAX_OUTS];
  int n = dt_arg_slots(c->args, 0, slot, DT_MAX_OUTS);
  for (int i = 0; i < n; i++)
    if (c->need[slot[i]])
      c->gin[slot[i]] = EMIT("aten.select.int", "tvi", GOUT, c->args->v[1],
                             (int64_t)i);
  return op_g_finish(c);
}

/* ---- samples and definitions ---- */

static const char *const select_samples[] = {
  "f32[8, 6], 0, 2", "f32[7, 5], -1, -1", "f32[1], 0, 0", "f32[0, 4], 1, 3",
  NULL
};
static const char *const slice_samples[] = {
  "f32[8, 6], 0, 2, 6", "f32[7, 5], 1, 1, 5, 2", "f32[4], 0, None, -1",
  "f32[0, 4], 0, 0, 1", "f32[8, 6], 1", NULL
};
static const char *const select_back_samples[] = {
  "f32[6], [8, 6], 0, 2", "f32[7], [7, 5], 1, 4", NULL
};
static const char *const slice_back_samples[] = {
  "f32[4, 6], [8, 6], 0, 2, 6, 1", "f32[7, 2], [7, 5], 1, 1, 5, 2", NULL
};
static const char *const split_samples[] = {
  "f32[8, 6], 4", "f32[7, 5], 2, 1", "f32[1], 1", "f32[0, 4], 2", NULL
};
static const char *const splits_samples[] = {
  "f32[8, 6], [3, 5]", "f32[7, 5], [2, 0, 3], 1", "f32[0], [0]", NULL
};
static const char *const unbind_samples[] = {
  "f32[4, 6]", "f32[7, 3], 1", "f32[1]", NULL
};
static const char *const cat_samples[] = {
  "[f32[8, 6], f32[8, 6]]", "[f32[7, 5], f32[7, 2]], 1", "[f32[1], f32[3]]",
  "[f32[0, 4], f32[2, 4]], 0", NULL
};
static const char *const stack_samples[] = {
  "[f32[8, 6], f32[8, 6]]", "[f32[7], f32[7]], 1", "[f32[], f32[]]",
  "[f32[0, 4], f32[0, 4]], -1", NULL
};

#define OP(id, schema_, brief_, flags_, meta_, kernel_, strat_, grad_, \
           samples_, ...) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = flags_, \
    .meta = meta_, .kernel = kernel_, .strategy = strat_, .grad = grad_, \
    .samples = samples_, __VA_ARGS__ }

OP(select_int, "select.int(Tensor(a) self, int dim, SymInt index) -> "
   "Tensor(a)", "One index of a dim, which goes.", DT_OP_VIEW, select_meta,
   NULL, select_strategy, select_grad, select_samples, .row = NULL);
OP(slice_Tensor, "slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, "
   "SymInt? end=None, SymInt step=1) -> Tensor(a)",
   "Indices start to end of a dim, every step-th.", DT_OP_VIEW, slice_meta,
   NULL, slice_strategy, slice_grad, slice_samples, .row = NULL);
OP(select_backward, "select_backward(Tensor grad_output, SymInt[] input_sizes, "
   "int dim, SymInt index) -> Tensor", "Gradient of select.", 0, back_meta,
   select_back_kernel, select_back_strategy, op_gg_select_backward,
   select_back_samples, .rewrite = op_rw_shape1);
OP(slice_backward, "slice_backward(Tensor grad_output, SymInt[] input_sizes, "
   "int dim, SymInt start, SymInt end, SymInt step) -> Tensor",
   "Gradient of slice.", 0, back_meta, slice_back_kernel,
   slice_back_strategy, op_gg_slice_backward, slice_back_samples, .rewrite = op_rw_shape1);
OP(split_Tensor, "split.Tensor(Tensor(a -> *) self, SymInt split_size, "
   "int dim=0) -> Tensor(a)[]", "Parts of one size, the last may be smaller.",
   DT_OP_VIEW, split_meta, NULL, split_strategy, split_grad, split_samples,
   .row = row_size);
OP(split_with_sizes, "split_with_sizes(Tensor(a -> *) self, "
   "SymInt[] split_sizes, int dim=0) -> Tensor(a)[]", "Parts of given sizes.",
   DT_OP_VIEW, split_meta, NULL, split_strategy, split_grad, splits_samples,
   .row = row_sizes);
OP(unbind_int, "unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
   "Every index of a dim, which goes.", DT_OP_VIEW, unbind_meta, NULL,
   unbind_strategy, unbind_grad, unbind_samples, .row = NULL);
OP(cat, "cat(Tensor[] tensors, int dim=0) -> Tensor",
   "Tensors joined along a dim.", 0, cat_meta, cat_kernel, cat_strategy,
   cat_grad, cat_samples, .row = NULL);
OP(stack, "stack(Tensor[] tensors, int dim=0) -> Tensor",
   "Tensors joined along a new dim.", 0, stack_meta, stack_kernel,
   stack_strategy, stack_grad, stack_samples, .row = NULL);
OP(split_with_sizes_copy, "split_with_sizes_copy(Tensor self, SymInt[] "
   "split_sizes, int dim=0) -> Tensor[]", "Copies of parts of given sizes.", 0,
   split_copy_meta, split_copy_kernel, split_strategy, split_grad,
   splits_samples, .row = row_sizes);
