/* SPDX-License-Identifier: MIT
** oplib/op_view.c: operators that only look at the same elements in another
** way: view, t, transpose, permute, expand, squeeze, unsqueeze, select, slice.
**
** The meta function gives shape, strides and offset; nothing is computed.
** Sharding is the algebra of view_map.c, each operator giving its map, or a
** small strategy of its own (t, select, slice). */
#include "oplib/oplib_int.h"
#include "tensor/dtype_text.h"

#include <math.h>
#include <string.h>


/* ---- shared ---- */

static void start_view (DtMetaCall *c, DtMeta *o) {
  dt_meta_copy(o, c->in[0]);
  o->wrapped = false;
  c->nout = 1;
}

static DtMeta *global_in (DtGradCall *c, DtMeta *buf) {
  dt_meta_copy(buf, dt_emit_meta(c->e, dt_gin(c, 0)));
  return buf;
}

/* Back to the shape of the input: a view where the gradient's strides allow. */
static DtStatus view_grad (DtGradCall *c) {
  DtMeta m;
  global_in(c, &m);
  op_g_set(c, 0, EMIT("aten.reshape.default", "tI", GOUT, (int)m.ndim,
                      m.shape));
  return op_g_finish(c);
}

static DtStatus pass_grad (DtGradCall *c) {
  op_g_set(c, 0, GOUT);
  return op_g_finish(c);
}

/* ---- view, _unsafe_view, reshape ---- */

static DtStatus view_shape (DtCtx *cx, const DtArgs *a, const DtMeta *m,
                            int64_t *shape, int *n) {
  *n = op_ints(a, 1, shape);
  return op_infer_size(cx, dt_meta_numel(m), *n, shape);
}

static DtStatus view_meta (DtMetaCall *c) {
  int64_t shape[DT_MAX_NDIM];
  int n;
  DtMeta *o = &c->out[0];
  DT_TRY(c->cx, view_shape(c->cx, c->args, c->in[0], shape, &n));
  start_view(c, o);
  o->ndim = (uint8_t)n;
  memcpy(o->shape, shape, sizeof(int64_t) * (size_t)n);
  DT_CHECK(c->cx, op_view_strides(c->in[0], n, shape, o->stride), DT_E_RUNTIME,
           "view size is not compatible with input tensor's size and stride "
           "(at least one dimension spans across two contiguous subspaces). "
           "Use .reshape(...) instead.");
  return DT_OK;
}

static DtStatus reshape_meta (DtMetaCall *c) {
  int64_t shape[DT_MAX_NDIM];
  int n;
  DT_TRY(c->cx, view_shape(c->cx, c->args, c->in[0], shape, &n));
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[0], (DtDtype)c->in[0]->dtype, n,
                            shape, c->in[0]));
  int64_t stride[DT_MAX_NDIM];
  if (op_view_strides(c->in[0], n, shape, stride))
    memcpy(c->out[0].stride, stride, sizeof *stride * (size_t)n);
  c->nout = 1;
  return DT_OK;
}

/* Elements in row-major order into a contiguous output of another shape. */
static DtStatus reshape_kernel (DtKernelCall *c) {
  DtTensor *o = NULL, *in = c->in[0];
  DtMeta m;
  DtStatus st;
  DT_TRYG(c->cx, dt_meta_init(c->cx, &m, (DtDtype)in->m.dtype, in->m.ndim,
                              in->m.shape));
  if (dt_meta_is_contiguous(&c->out[0]->m)) {
    DT_TRYG(c->cx, dt_tensor_view(c->cx, c->out[0], &m, c->out[0]->offset,
                                  &o));
    DT_TRYG(c->cx, dt_k_copy(c->cx, in, o));
  } else {
    m = c->out[0]->m;
    DT_TRYG(c->cx, dt_tensor_view(c->cx, in, &m, in->offset, &o));
    DT_TRYG(c->cx, dt_k_copy(c->cx, o, c->out[0]));
  }
done:
  dt_tensor_unref(c->cx, o);
  return st;
}

static DtStatus view_like (DtStratCall *c, bool strict) {
  OpViewMap m;
  int64_t shape[DT_MAX_NDIM];
  int n;
  const DtMeta *in = &c->in[0]->meta;
  DT_TRY(c->cx, view_shape(c->cx, c->args, in, shape, &n));
  DT_TRY(c->cx, op_vm_groups(c->cx, in->ndim, in->shape, n, shape, &m));
  return op_vm_strategy(c, &m, strict);
}
static DtStatus view_strategy (DtStratCall *c) { return view_like(c, true); }
static DtStatus reshape_strategy (DtStratCall *c) {
  DT_CHECK(c->cx, dt_arg_len(c->args, 1) > 0, DT_E_INDEX,
           "list index out of range");    /* as PyTorch's size reader */
  return view_like(c, false);
}

/* view where strides allow, else a copy: what autograd sees of reshape. */
static DtStatus reshape_decomp (DtDecompCall *c) {
  DtMeta m;
  int64_t shape[DT_MAX_NDIM], stride[DT_MAX_NDIM];
  int n;
  DtHandle *h = c->in[0];
  dt_meta_copy(&m, dt_emit_meta(c->e, h));
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (view_shape(c->e->cx, c->args, &m, shape, &n) != DT_OK) {
    dt_error_clear(c->e->cx);   /* the view will say so, by its own name */
    n = op_ints(c->args, 1, shape);
    h = EMIT("aten.view.default", "tI", h, n, shape);
  } else if (op_view_strides(&m, n, shape, stride)) {
    h = EMIT("aten.view.default", "tI", h, n, shape);
  } else {
    DtValue contiguous = dt_v_none();
    contiguous.kind = DT_V_MEMFMT;
    contiguous.u.i = 0;
    h = EMIT("aten.clone.default", "t memory_format=v", h, contiguous);
    h = EMIT("aten._unsafe_view.default", "tI", h, n, shape);
  }
  c->out[0] = h;
  c->nout = 1;
  return c->e->st;
}

/* ---- t, transpose, permute ---- */

static DtStatus t_meta (DtMetaCall *c) {
  DtMeta *o = &c->out[0];
  const DtMeta *m = c->in[0];
  DT_CHECK(c->cx, m->ndim <= 2, DT_E_RUNTIME,
           "t() expects a tensor with <= 2 dimensions, but self is %dD",
           m->ndim);
  start_view(c, o);
  if (m->ndim == 2)
    for (int i = 0; i < 2; i++) {
      o->shape[i] = m->shape[1 - i];
      o->stride[i] = m->stride[1 - i];
    }
  return DT_OK;
}

static DtStatus t_strategy (DtStratCall *c) {
  const DtSpec *s = c->in[0];
  DtPlacement out[OP_MAXPL];
  for (int i = 0; i < c->mesh->ndim; i++) {
    out[i] = s->pl[i];
    if (s->meta.ndim == 2 && dt_pl_is_shard_like(out[i]))
      out[i].dim = (int16_t)(1 - out[i].dim);
  }
  return dt_strat_add(c, out, s->pl, -INFINITY);
}

static DtStatus t_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten.t.default", "t", GOUT));
  return op_g_finish(c);
}

/* Fill perm for transpose.int and permute. */
static DtStatus read_perm (DtCtx *cx, const DtArgs *a, int ndim, bool swap,
                           int *perm) {
  int64_t v[DT_MAX_NDIM];
  for (int i = 0; i < ndim; i++) perm[i] = i;
  if (swap) {
    int x, y;
    DT_TRY(cx, op_dim(cx, a, 1, ndim, &x));
    DT_TRY(cx, op_dim(cx, a, 2, ndim, &y));
    if (ndim) {
      perm[x] = y;
      perm[y] = x;
    }
    return DT_OK;
  }
  int n = op_ints(a, 1, v);
  uint32_t seen = 0;
  DT_CHECK(cx, n == ndim, DT_E_RUNTIME,
           "permute(sparse_coo): number of dimensions in the tensor input does "
           "not match the length of the desired ordering of dimensions i.e. "
           "input.dim() = %d is not equal to len(dims) = %d", ndim, n);
  for (int i = 0; i < n; i++) {
    DT_TRY(cx, dt_meta_wrap_dim(cx, v[i], ndim, &perm[i]));
    DT_CHECK(cx, !(seen >> perm[i] & 1u), DT_E_RUNTIME,
             "permute(): duplicate dims are not allowed.");
    seen |= 1u << perm[i];
  }
  return DT_OK;
}

enum { ROW_PERMUTE, ROW_SWAP };
static const int row_permute[] = { ROW_PERMUTE }, row_swap[] = { ROW_SWAP };

static DtStatus perm_meta (DtMetaCall *c) {
  int p[DT_MAX_NDIM];
  const DtMeta *m = c->in[0];
  DtMeta *o = &c->out[0];
  DT_TRY(c->cx, read_perm(c->cx, c->args, m->ndim, c->op->row[0] == ROW_SWAP,
                          p));
  start_view(c, o);
  for (int i = 0; i < m->ndim; i++) {
    o->shape[i] = m->shape[p[i]];
    o->stride[i] = m->stride[p[i]];
  }
  return DT_OK;
}

static DtStatus perm_strategy (DtStratCall *c) {
  int p[DT_MAX_NDIM];
  OpViewMap m = { .n = 0 };
  int n = c->in[0]->meta.ndim;
  DT_TRY(c->cx, read_perm(c->cx, c->args, n, c->op->row[0] == ROW_SWAP, p));
  for (int i = 0; i < n; i++) op_vm_add(&m, OV_INPUT, p[i]);
  return op_vm_strategy(c, &m, false);
}

static DtStatus transpose_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten.transpose.int", "tvv", GOUT, c->args->v[1],
                      c->args->v[2]));
  return op_g_finish(c);
}

DtStatus op_g_permute (DtGradCall *c) {
  int p[DT_MAX_NDIM];
  int64_t back[DT_MAX_NDIM];
  int n = dt_emit_meta(c->e, dt_gin(c, 0))->ndim;
  DT_TRY(c->e->cx, read_perm(c->e->cx, c->args, n, false, p));
  for (int i = 0; i < n; i++) back[p[i]] = i;
  op_g_set(c, 0, EMIT("aten.permute.default", "tI", GOUT, n, back));
  return op_g_finish(c);
}

/* ---- expand ---- */

/* From the last dimension to the first, as a stride of a new leading dimension
** is made of the one behind it. */
static DtStatus expand_meta (DtMetaCall *c) {
  int64_t want[DT_MAX_NDIM];
  const DtMeta *m = c->in[0];
  DtMeta *o = &c->out[0];
  DtDtype t = (DtDtype)m->dtype;
  int n = op_ints(c->args, 1, want), lead = n - m->ndim;
  DT_CHECK(c->cx, lead >= 0, DT_E_RUNTIME,
           "expand(%s%s%s{%s}, size=%s): the number of sizes provided "
           "(%d) must be greater or equal to the number of dimensions in the "
           "tensor (%d)", c->fake ? "Meta" : "",
           c->fake ? op_dtype_word(t) : dt_dtype_type_text(t),
           c->fake ? "Type" : "", op_shape_text(m).s, op_ints_text(n, want).s, n, m->ndim);
  start_view(c, o);
  o->ndim = (uint8_t)n;
  for (int i = n - 1; i >= 0; i--) {
    int d = i - lead;
    int64_t size = d >= 0 ? m->shape[d] : 1, w = want[i];
    DT_CHECK(c->cx, !(w == -1 && d < 0), DT_E_RUNTIME,
             "The expanded size of the tensor (%lld) isn't allowed in a "
             "leading, non-existing dimension %d", (long long)w, i);
    if (w == -1) w = size;
    DT_CHECK(c->cx, w == size || (size == 1 && w >= 0), DT_E_RUNTIME,
             "The expanded size of the tensor (%lld) must match the existing "
             "size (%lld) at non-singleton dimension %d.  Target sizes: %s.  "
             "Tensor sizes: %s", (long long)w, (long long)size, i,
             op_ints_text(n, want).s, op_shape_text(m).s);
    o->shape[i] = w;
    if (w != size || m->ndim == 0) o->stride[i] = 0;
    else if (d >= 0) o->stride[i] = m->stride[d];
    else o->stride[i] = i + 1 < n ? o->stride[i + 1] * o->shape[i + 1] : 1;
  }
  return DT_OK;
}

static DtStatus expand_strategy (DtStratCall *c) {
  OpViewMap m = { .n = 0 };
  int64_t want[DT_MAX_NDIM];
  const DtMeta *in = &c->in[0]->meta;
  int n = op_ints(c->args, 1, want), lead = n - in->ndim;
  for (int i = 0; i < n; i++) {
    int d = i - lead;
    if (d < 0)
      op_vm_add(&m, want[i] == 1 ? OV_SINGLETON : OV_BROADCAST, -1);
    else if (want[i] == 1 || want[i] == -1 || want[i] == in->shape[d])
      op_vm_add(&m, OV_INPUT, d);
    else
      op_vm_add(&m, OV_BROADCAST, d);
  }
  return op_vm_strategy(c, &m, false);
}

/* ---- squeeze, unsqueeze ---- */

enum { ROW_ALL, ROW_DIM };
static const int row_all[] = { ROW_ALL }, row_dim[] = { ROW_DIM };

static DtStatus squeeze_mask (DtCtx *cx, const DtOpDef *op, const DtArgs *a,
                              int ndim, uint32_t *mask) {
  *mask = ndim ? (uint32_t)((1u << ndim) - 1) : 0;
  if (op->row[0] == ROW_ALL) return DT_OK;
  return op_dims(cx, a, 1, ndim, false, mask);
}

static DtStatus squeeze_meta (DtMetaCall *c) {
  uint32_t mask;
  const DtMeta *m = c->in[0];
  DtMeta *o = &c->out[0];
  DT_TRY(c->cx, squeeze_mask(c->cx, c->op, c->args, m->ndim, &mask));
  start_view(c, o);
  o->ndim = 0;
  for (int i = 0; i < m->ndim; i++) {
    if ((mask >> i & 1u) && m->shape[i] == 1) continue;
    o->shape[o->ndim] = m->shape[i];
    o->stride[o->ndim++] = m->stride[i];
  }
  return DT_OK;
}

static DtStatus squeeze_strategy (DtStratCall *c) {
  OpViewMap m = { .n = 0 };
  uint32_t mask;
  const DtMeta *in = &c->in[0]->meta;
  DT_TRY(c->cx, squeeze_mask(c->cx, c->op, c->args, in->ndim, &mask));
  for (int i = 0; i < in->ndim; i++)
    if (in->shape[i] > 1 || !(mask >> i & 1u))    /* size 0 goes too */
      op_vm_add(&m, OV_INPUT, i);
  return op_vm_strategy(c, &m, true);
}

extern const DtOpDef dt_op_squeeze__dims, dt_op_squeeze_dims;   /* below */

/* Local sizes may be 1 by chance: only globally single dims may go. */
static DtStatus squeeze_rewrite (DtRewriteCall *c) {
  uint32_t mask;
  int64_t dims[DT_MAX_NDIM];
  int n = 0;
  const DtMeta *in = &c->in[0]->meta;
  DT_TRY(c->cx, squeeze_mask(c->cx, c->op, c->args, in->ndim, &mask));
  for (int i = 0; i < in->ndim; i++)
    if ((mask >> i & 1u) && in->shape[i] == 1) dims[n++] = i;
  c->op = c->op->flags & DT_OP_INPLACE ? &dt_op_squeeze__dims
                                       : &dt_op_squeeze_dims;
  c->args->n = 2;
  c->args->npos = 2;
  return op_rw_set_ints(c, 1, n, dims);
}

/* unsqueeze at every dim that went */
static DtStatus squeeze_grad (DtGradCall *c) {
  uint32_t mask;
  DtMeta m;
  DtHandle *g = GOUT;
  global_in(c, &m);
  DT_TRY(c->e->cx, squeeze_mask(c->e->cx, c->op, c->args, m.ndim, &mask));
  for (int i = 0; i < m.ndim; i++)
    if ((mask >> i & 1u) && m.shape[i] == 1)
      g = EMIT("aten.unsqueeze.default", "ti", g, (int64_t)i);
  op_g_set(c, 0, g);
  return op_g_finish(c);
}

static DtStatus unsqueeze_meta (DtMetaCall *c) {
  int d;
  const DtMeta *m = c->in[0];
  DtMeta *o = &c->out[0];
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, m->ndim + 1, &d));
  DT_CHECK(c->cx, m->ndim < DT_MAX_NDIM, DT_E_LIMIT, "at most %d dimensions",
           DT_MAX_NDIM);
  start_view(c, o);
  for (int i = m->ndim; i > d; i--) {
    o->shape[i] = m->shape[i - 1];
    o->stride[i] = m->stride[i - 1];
  }
  o->shape[d] = 1;
  o->stride[d] = d < m->ndim ? m->shape[d] * m->stride[d] : 1;
  o->ndim++;
  return DT_OK;
}

static DtStatus unsqueeze_strategy (DtStratCall *c) {
  OpViewMap m = { .n = 0 };
  int n = c->in[0]->meta.ndim, d;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, n + 1, &d));
  for (int i = 0; i <= n; i++)
    op_vm_add(&m, i == d ? OV_SINGLETON : OV_INPUT, i == d ? -1 : i - (i > d));
  return op_vm_strategy(c, &m, false);
}

static DtStatus unsqueeze_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten.squeeze.dim", "tv", GOUT, c->args->v[1]));
  return op_g_finish(c);
}

/* ---- samples and definitions ---- */

static const char *const view_samples[] = {
  "f32[8, 6], [48]", "f32[8, 6], [2, 4, 6]", "f32[7, 5], [5, 7]",
  "f32[2, 3, 4], [-1, 4]", "f32[1], []", "f32[0, 4], [4, 0]", "f32[], [1, 1]",
  NULL
};
static const char *const t_samples[] = {
  "f32[8, 6]", "f32[7]", "f32[]", "f32[0, 4]", "f32[1, 1]", NULL
};
static const char *const transpose_samples[] = {
  "f32[8, 6], 0, 1", "f32[7, 5, 3], -1, 0", "f32[4], 0, 0", "f32[0, 4], 1, 0",
  "f32[], 0, -1", NULL
};
static const char *const permute_samples[] = {
  "f32[8, 6], [1, 0]", "f32[7, 5, 3], [2, 0, 1]", "f32[0, 4], [0, 1]",
  "f32[], []", NULL
};
static const char *const expand_samples[] = {
  "f32[8, 1], [8, 6]", "f32[5], [7, 5]", "f32[1, 4], [-1, 4]", "f32[], [3]",
  "f32[1, 0], [2, 0]", NULL
};
static const char *const squeeze_samples[] = {
  "f32[8, 1, 6]", "f32[7, 5]", "f32[1]", "f32[1, 0]", "f32[]", NULL
};
static const char *const squeeze_dim_samples[] = {
  "f32[8, 1, 6], 1", "f32[7, 5], 0", "f32[1], -1", "f32[1, 0], 0", "f32[], 0",
  NULL
};
static const char *const squeeze_dims_samples[] = {
  "f32[8, 1, 1], [1, 2]", "f32[7, 5], [0]", "f32[1], [0]", "f32[1, 0], [0, 1]",
  NULL
};
static const char *const unsqueeze_samples[] = {
  "f32[8, 6], 1", "f32[7], -1", "f32[0, 4], 0", "f32[], 0", NULL
};

#define VIEW(id, schema_, brief_, flags_, meta_, strat_, grad_, samples_, ...) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, \
    .flags = DT_OP_VIEW | (flags_), .meta = meta_, .strategy = strat_, \
    .grad = grad_, .samples = samples_, __VA_ARGS__ }

VIEW(view, "view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
     "The same elements in another shape.", 0, view_meta, view_strategy,
     view_grad, view_samples, .rewrite = op_rw_shape1,
     .doc = "Sharding is strict: a view that would have to move data is an "
            "error.  One size may be -1.");
VIEW(t, "t(Tensor(a) self) -> Tensor(a)", "Transpose of a matrix.", 0, t_meta,
     t_strategy, t_grad, t_samples, .row = NULL);
VIEW(transpose_int,
     "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
     "Two dims exchanged.", 0, perm_meta, perm_strategy, transpose_grad,
     transpose_samples, .row = row_swap);
VIEW(permute, "permute(Tensor(a) self, int[] dims) -> Tensor(a)",
     "Dims in another order.", 0, perm_meta, perm_strategy, op_g_permute,
     permute_samples, .row = row_permute);
VIEW(expand, "expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) "
     "-> Tensor(a)", "Dims of size 1 repeated without copying.", 0,
     expand_meta, expand_strategy, pass_grad, expand_samples,
     .rewrite = op_rw_shape1);
VIEW(squeeze, "squeeze(Tensor(a) self) -> Tensor(a)",
     "All dims of size 1 removed.", 0, squeeze_meta, squeeze_strategy,
     squeeze_grad, squeeze_samples, .rewrite = squeeze_rewrite,
     .row = row_all);
VIEW(squeeze_dim, "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
     "One dim removed when its size is 1.", 0, squeeze_meta, squeeze_strategy,
     squeeze_grad, squeeze_dim_samples, .rewrite = squeeze_rewrite,
     .row = row_dim);
VIEW(squeeze_dims, "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
     "Dims removed where their size is 1.", 0, squeeze_meta, squeeze_strategy,
     squeeze_grad, squeeze_dims_samples, .rewrite = squeeze_rewrite,
     .row = row_dim);
VIEW(squeeze_, "squeeze_(Tensor(a!) self) -> Tensor(a!)",
     "squeeze, changing the tensor itself.", DT_OP_INPLACE, squeeze_meta,
     squeeze_strategy, squeeze_grad, squeeze_samples,
     .rewrite = squeeze_rewrite, .row = row_all);
VIEW(squeeze__dim, "squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)",
     "squeeze.dim, changing the tensor itself.", DT_OP_INPLACE, squeeze_meta,
     squeeze_strategy, squeeze_grad, squeeze_dim_samples,
     .rewrite = squeeze_rewrite, .row = row_dim);
VIEW(squeeze__dims, "squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)",
     "squeeze.dims, changing the tensor itself.", DT_OP_INPLACE, squeeze_meta,
     squeeze_strategy, squeeze_grad, squeeze_dims_samples,
     .rewrite = squeeze_rewrite, .row = row_dim);
VIEW(unsqueeze, "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
     "A dim of size 1 inserted.", 0, unsqueeze_meta, unsqueeze_strategy,
     unsqueeze_grad, unsqueeze_samples, .row = NULL);
VIEW(t_, "t_(Tensor(a!) self) -> Tensor(a!)",
     "t, changing the tensor itself.", DT_OP_INPLACE | DT_OP_NOSTRATEGY,
     t_meta, NULL, t_grad, t_samples, .row = NULL);
VIEW(transpose_,
     "transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)",
     "transpose, changing the tensor itself.",
     DT_OP_INPLACE | DT_OP_NOSTRATEGY, perm_meta, NULL, transpose_grad,
     transpose_samples, .row = row_swap);
VIEW(unsqueeze_, "unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)",
     "unsqueeze, changing the tensor itself.",
     DT_OP_INPLACE | DT_OP_NOSTRATEGY, unsqueeze_meta, NULL, unsqueeze_grad,
     unsqueeze_samples, .row = NULL);

const DtOpDef dt_op__unsafe_view = {
  .schema = "aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor",
  .brief = "view for a tensor that nobody else holds.",
  .flags = DT_OP_ALIAS_SAFE | DT_OP_SHARES, .meta = view_meta,
  .kernel = reshape_kernel, .strategy = view_strategy, .rewrite = op_rw_shape1, .grad = view_grad,
  .samples = view_samples
};
const DtOpDef dt_op_reshape = {
  .schema = "aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)",
  .brief = "The same elements in another shape, copied when needed.",
  .doc = "Autograd sees a view, or a clone and an _unsafe_view.",
  .flags = DT_OP_COMPOSITE, .meta = reshape_meta, .kernel = reshape_kernel,
  .strategy = reshape_strategy, .rewrite = op_rw_shape1,
  .decomp = reshape_decomp, .grad = view_grad, .samples = view_samples
};

/* ---- copies of views ---- */

static DtStatus view_copy_meta (DtMetaCall *c) {
  DT_TRY(c->cx, c->fake ? view_meta(c) : reshape_meta(c));
  dt_meta_set_contiguous(&c->out[0]);
  return DT_OK;
}
static DtStatus view_copy_strategy (DtStratCall *c) {
  return view_like(c, false);
}
static DtStatus expand_copy_meta (DtMetaCall *c) {
  DT_TRY(c->cx, expand_meta(c));
  dt_meta_set_contiguous(&c->out[0]);
  return DT_OK;
}
static DtStatus expand_copy_kernel (DtKernelCall *c) {
  int64_t stride[DT_MAX_NDIM];
  const DtMeta *m = &c->in[0]->m, *o = &c->out[0]->m;
  DtTensor *t = NULL;
  DtStatus st;
  int lead = o->ndim - m->ndim;
  for (int i = 0; i < o->ndim; i++) {
    int d = i - lead;
    stride[i] = d < 0 || m->shape[d] == 1 ? 0 : m->stride[d];
  }
  DT_TRYG(c->cx, op_restride(c->cx, c->in[0], o->ndim, o->shape, stride, 0,
                             &t));
  DT_TRYG(c->cx, dt_k_copy(c->cx, t, c->out[0]));
done:
  dt_tensor_unref(c->cx, t);
  return st;
}

const DtOpDef dt_op_view_copy = {
  .schema = "aten::view_copy(Tensor self, SymInt[] size) -> Tensor",
  .brief = "A copy of the elements in another shape.",
  .meta = view_copy_meta, .kernel = reshape_kernel,
  .strategy = view_copy_strategy, .rewrite = op_rw_shape1, .grad = view_grad,
  .samples = view_samples
};
const DtOpDef dt_op_expand_copy = {
  .schema = "aten::expand_copy(Tensor self, SymInt[] size, *, bool "
            "implicit=False) -> Tensor",
  .brief = "A copy with dims of size 1 repeated.",
  .meta = expand_copy_meta, .kernel = expand_copy_kernel,
  .strategy = expand_strategy, .rewrite = op_rw_shape1, .grad = pass_grad,
  .samples = expand_samples
};
