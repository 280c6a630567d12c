/* SPDX-License-Identifier: MIT
** engine/move.c: rearranging data on one rank between collectives: slices,
** padding, concatenation, scaling.
**
** The arithmetic is a kernel call or a view.  Listeners get the aten
** call PyTorch makes in that place: inside an operator the composite itself
** (chunk, narrow, contiguous), outside it what autograd decomposes it to
** (split, slice, clone).  Nothing is looked up when nobody listens. */
#include "engine/engine_int.h"

#include <string.h>

/* --- telling --- */

typedef struct Told {
  const char *inside, *outside; /* operator names */
  int nin; DtTensor *const *in;
  bool list;                    /* the inputs are one list argument */
  int nextra; DtValue extra[3];
  bool second;                  /* the first extra value goes after input 0 */
  bool dense;                   /* outside, memory_format= says contiguous */
  int nout; DtTensor *const *out;
} Told;

static int told_values (const Told *t, DtValue *pos, DtValue *items) {
  int n = 0;
  if (t->list) {
    for (int i = 0; i < t->nin; i++) items[i] = dt_v_slot(i);
    pos[n++] = dt_v_list(t->nin, items);
  } else {
    for (int i = 0; i < t->nin; i++) {
      pos[n++] = dt_v_slot(i);
      if (i == 0 && t->second) pos[n++] = t->extra[0];
    }
  }
  for (int i = t->second; i < t->nextra; i++) pos[n++] = t->extra[i];
  return n;
}

static DtStatus tell_bound (DtSession *s, const DtOpDef *op, const Told *t,
                            DtValue *items) {
  DtCtx *cx = s->cx;
  DtArgs args;
  DtValue pos[8];
  int npos = told_values(t, pos, items);
  static const char *const format[] = { "memory_format" };
  DtValue dense[] = { dt_v_code(DT_V_MEMFMT, DT_MF_CONTIGUOUS) };
  DtGiven given = { .npos = npos, .pos = pos, .kwname = format, .kw = dense,
                    .nkw = t->dense && s->cur_op == NULL };
  DtEvent e = { .kind = DT_EV_KERNEL, .op = op, .args = &args,
                .nlocal = t->nin, .local = t->in };
  if (dt_schema_bind(cx, op->sig, &given, &args) != DT_OK) {
    dt_error_clear(cx);
    return DT_OK;
  }
  args.nslots = t->nin;
  DT_TRY(cx, dt_event_emit(s, &e));
  e = (DtEvent){ .kind = DT_EV_KERNEL_END, .op = op, .args = &args,
                 .nlocal = t->nin, .local = t->in, .nlout = t->nout,
                 .lout = t->out };
  return dt_event_emit(s, &e);
}

static DtStatus emit_local_op (DtSession *s, const Told *t) {
  DtCtx *cx = s->cx;
  const DtOpDef *op;
  DtArenaMark mark;
  DtValue *items;
  DtStatus st;
  if (!dt_mv_told(s)) return DT_OK;
  op = dt_registry_find(cx, s->registry, s->cur_op ? t->inside : t->outside);
  if (op == NULL || t->nextra > 3 || (!t->list && t->nin > 4)) return DT_OK;
  mark = dt_arena_mark(&cx->scratch);
  items = DT_ANEWN(cx, &cx->scratch, DtValue, t->nin + 1);
  st = items ? tell_bound(s, op, t, items) : DT_E_NOMEM;
  dt_arena_release(&cx->scratch, mark);
  return st;
}

/* One input, one output. */
static DtStatus emit_unary_op (DtSession *s, const char *inside,
                               const char *outside, DtTensor *in,
                               DtTensor **out, int nextra,
                               const DtValue *extra) {
  Told t = { .inside = inside, .outside = outside, .nin = 1, .in = &in,
             .nextra = nextra, .nout = 1, .out = out };
  DtStatus st;
  if (!dt_session_heard(s)) return DT_OK;
  for (int i = 0; i < nextra; i++) t.extra[i] = extra[i];
  st = emit_local_op(s, &t);
  if (st != DT_OK) dt_drop_tensor(s, out);
  return st;
}

/* --- new tensors --- */

static bool lacks_data (const DtTensor *t) {
  return !dt_tensor_has_data(t) && dt_meta_numel(&t->m) > 0;
}

DtStatus dt_mv_empty (DtSession *s, const DtMeta *like, int ndim,
                      const int64_t *shape, DtTensor **out) {
  DtMeta m;
  DT_TRY(s->cx, dt_meta_init(s->cx, &m, (DtDtype)like->dtype, ndim, shape));
  m.device = like->device;
  return dt_tensor_new(s->cx, &m, dt_session_no_data(s), out);
}

/* A contiguous copy. */
static DtStatus copy_new (DtSession *s, DtTensor *t, DtDtype dtype,
                          DtTensor **out) {
  DtMeta m;
  DtStatus st;
  dt_meta_copy(&m, &t->m);
  m.dtype = (uint8_t)dtype;
  dt_meta_set_contiguous(&m);
  DT_TRY(s->cx, dt_tensor_new(s->cx, &m, lacks_data(t), out));
  if (!dt_tensor_has_data(t)) return DT_OK;
  st = dt_k_copy(s->cx, t, *out);
  if (st != DT_OK) dt_drop_tensor(s, out);
  return st;
}

DtStatus dt_mv_contiguous (DtSession *s, DtTensor *t, DtTensor **out) {
  if (t->marks == 0 && dt_meta_is_contiguous(&t->m)) {
    *out = dt_tensor_ref(t);
    return DT_OK;
  }
  Told told = { .inside = "aten.contiguous.default",
                .outside = "aten.clone.default", .dense = true, .nin = 1,
                .in = &t, .nout = 1, .out = out };
  DT_TRY(s->cx, copy_new(s, t, (DtDtype)t->m.dtype, out));
  DtStatus st = emit_local_op(s, &told);
  if (st != DT_OK) dt_drop_tensor(s, out);
  return st;
}

DtStatus dt_mv_clone (DtSession *s, DtTensor *t, DtTensor **out) {
  DtMeta m;
  DtStatus st = DT_OK;
  dt_meta_copy(&m, &t->m);
  if (!dt_meta_is_dense(&m)) dt_meta_strides_like(&m, &t->m);
  DT_TRY(s->cx, dt_tensor_new(s->cx, &m, lacks_data(t), out));
  if (dt_tensor_has_data(t)) st = dt_k_copy(s->cx, t, *out);
  if (st != DT_OK) {
    dt_drop_tensor(s, out);
    return st;
  }
  return emit_unary_op(s, "aten.clone.default", "aten.clone.default", t, out, 0,
                       NULL);
}

static DtStatus narrow_quiet (DtSession *s, DtTensor *t, int dim,
                              int64_t start, int64_t len, DtTensor **out) {
  DtMeta m;
  dt_meta_copy(&m, &t->m);
  m.shape[dim] = len;
  return dt_tensor_view(s->cx, t, &m, t->offset + start * t->m.stride[dim],
                        out);
}

DtStatus dt_mv_narrow (DtSession *s, DtTensor *t, int dim, int64_t start,
                       int64_t len, DtTensor **out) {
  DtValue a[3] = { dt_v_int(dim), dt_v_int(start), dt_v_int(len) };
  if (s->cur_op == NULL) a[2] = dt_v_int(start + len);
  DT_TRY(s->cx, narrow_quiet(s, t, dim, start, len, out));
  return emit_unary_op(s, "aten.narrow.default", "aten.slice.Tensor", t, out, 3,
                       a);
}

DtStatus dt_mv_pad (DtSession *s, DtTensor *t, int dim, int64_t n,
                    DtTensor **out) {
  int64_t shape[DT_MAX_NDIM];
  DtValue items[2 * DT_MAX_NDIM], a[2];
  DtTensor *part;
  DtStatus st;
  int npad = 2 * (t->m.ndim - dim);
  if (n < 0) return dt_mv_narrow(s, t, dim, 0, t->m.shape[dim] + n, out);
  if (n == 0) {
    *out = dt_tensor_ref(t);
    return DT_OK;
  }
  memcpy(shape, t->m.shape, sizeof shape);
  shape[dim] += n;
  DT_TRY(s->cx, dt_mv_empty(s, &t->m, t->m.ndim, shape, out));
  if (!lacks_data(t) && dt_tensor_has_data(*out)) {
    st = dt_k_fill(s->cx, *out, dt_scalar_int(0));
    if (st == DT_OK && dt_meta_numel(&t->m) > 0) {
      st = narrow_quiet(s, *out, dim, 0, t->m.shape[dim], &part);
      if (st == DT_OK) {
        st = dt_k_copy(s->cx, t, part);
        dt_tensor_unref(s->cx, part);
      }
    }
    if (st != DT_OK) {
      dt_drop_tensor(s, out);
      return st;
    }
  }
  for (int i = 0; i < npad; i++) items[i] = dt_v_int(0);
  items[npad - 1] = dt_v_int(n);
  a[0] = dt_v_list(npad, items);
  a[1] = dt_v_float(0);
  return emit_unary_op(s, "aten.constant_pad_nd.default",
                       "aten.constant_pad_nd.default", t, out, 2, a);
}

/* What PyTorch makes the offset and the places of: a number, a range, their
** sum; published before the zeros are filled. */
static DtStatus tell_places (DtSession *s, const DtMeta *like, int64_t len,
                             int64_t offset, DtTensor **places) {
  DtMeta m;
  DtTensor *off = NULL, *sum = NULL, *pair[2];
  DtValue v[1] = { dt_v_int(offset) };
  Told t = { .inside = "aten.scalar_tensor.default",
             .outside = "aten.scalar_tensor.default", .nextra = 1,
             .extra = { v[0] }, .nout = 1, .out = &off };
  DtStatus st;
  dt_meta_copy(&m, like);
  m.dtype = DT_I64;
  DT_TRY(s->cx, dt_mv_empty(s, &m, 0, &len, &off));
  st = dt_mv_empty(s, &m, 1, &len, places);
  if (st == DT_OK) st = dt_mv_empty(s, &m, 1, &len, &sum);
  if (st == DT_OK && dt_tensor_has_data(off))
    st = dt_k_fill(s->cx, off, dt_scalar_int(offset));
  if (st == DT_OK && dt_tensor_has_data(*places))
    st = dt_k_arange(s->cx, *places, dt_scalar_int(0), dt_scalar_int(1));
  if (st == DT_OK && dt_tensor_has_data(sum))
    st = dt_k_arange(s->cx, sum, dt_scalar_int(offset), dt_scalar_int(1));
  if (st == DT_OK) st = emit_local_op(s, &t);
  t = (Told){ .inside = "aten.arange.default",
              .outside = "aten.arange.start_step", .nextra = 1,
              .extra = { dt_v_int(len) }, .nout = 1, .out = places };
  if (st == DT_OK) st = emit_local_op(s, &t);
  pair[0] = *places;
  pair[1] = off;
  t = (Told){ .inside = "aten.add.Tensor", .outside = "aten.add.Tensor",
              .nin = 2, .in = pair, .nout = 1, .out = &sum };
  if (st == DT_OK) st = emit_local_op(s, &t);
  dt_tensor_unref(s->cx, off);
  dt_tensor_unref(s->cx, *places);
  *places = sum;
  if (st != DT_OK) dt_drop_tensor(s, places);
  return st;
}

static DtStatus tell_embed (DtSession *s, DtTensor *t, int dim, DtTensor *zero,
                            int64_t offset) {
  DtTensor *places = NULL, *in[2] = { zero, t };
  DtValue shape[DT_MAX_NDIM], v[1];
  Told z = { .inside = "aten.new_zeros.default",
             .outside = "aten.new_zeros.default", .nin = 1, .in = &t,
             .nextra = 1, .nout = 1, .out = &zero };
  DtStatus st;
  if (!dt_session_heard(s)) return DT_OK;
  for (int i = 0; i < zero->m.ndim; i++)
    shape[i] = dt_v_int(zero->m.shape[i]);
  v[0] = dt_v_list(zero->m.ndim, shape);
  z.extra[0] = v[0];
  DT_TRY(s->cx, emit_local_op(s, &z));
  DT_TRY(s->cx, tell_places(s, &t->m, t->m.shape[dim], offset, &places));
  DtTensor *all[3] = { in[0], places, in[1] };
  Told add = { .inside = "aten.index_add.default",
               .outside = "aten.index_add.default", .nin = 3, .in = all,
               .second = true, .nextra = 1, .extra = { dt_v_int(dim) },
               .nout = 1, .out = &zero };
  st = emit_local_op(s, &add);
  dt_tensor_unref(s->cx, places);
  return st;
}

DtStatus dt_mv_embed (DtSession *s, DtTensor *t, int dim, int64_t size,
                      int64_t offset, DtTensor **out) {
  int64_t shape[DT_MAX_NDIM];
  DtTensor *part;
  DtStatus st = DT_OK;
  memcpy(shape, t->m.shape, sizeof shape);
  shape[dim] = size;
  DT_TRY(s->cx, dt_mv_empty(s, &t->m, t->m.ndim, shape, out));
  if (!lacks_data(t) && dt_tensor_has_data(*out)) {
    st = dt_k_fill(s->cx, *out, dt_scalar_int(0));
    if (st == DT_OK && dt_meta_numel(&t->m) > 0) {
      st = narrow_quiet(s, *out, dim, offset, t->m.shape[dim], &part);
      if (st == DT_OK) {
        st = dt_k_copy(s->cx, t, part);
        dt_tensor_unref(s->cx, part);
      }
    }
  }
  if (st == DT_OK) st = tell_embed(s, t, dim, *out, offset);
  if (st != DT_OK) dt_drop_tensor(s, out);
  return st;
}

DtStatus dt_mv_cat (DtSession *s, int n, DtTensor *const *in, int dim,
                    DtTensor **out) {
  int64_t shape[DT_MAX_NDIM];
  bool nodata = false;
  DtStatus st;
  Told t = { .inside = "aten.cat.default", .outside = "aten.cat.default",
             .nin = n, .in = in, .list = true, .nextra = dim ? 1 : 0,
             .extra = { dt_v_int(dim) }, .nout = 1, .out = out };
  memcpy(shape, in[0]->m.shape, sizeof shape);
  shape[dim] = 0;
  for (int i = 0; i < n; i++) {
    shape[dim] += in[i]->m.shape[dim];
    nodata = nodata || lacks_data(in[i]);
  }
  DT_TRY(s->cx, dt_mv_empty(s, &in[0]->m, in[0]->m.ndim, shape, out));
  st = DT_OK;
  if (!nodata && dt_meta_numel(&(*out)->m) > 0 && dt_tensor_has_data(*out))
    st = dt_k_cat(s->cx, n, (const DtTensor *const *)in, dim, *out);
  if (st == DT_OK) st = emit_local_op(s, &t);
  if (st != DT_OK) dt_drop_tensor(s, out);
  return st;
}

void dt_mv_unref_all (DtSession *s, int64_t n, DtTensor **t) {
  for (int64_t i = 0; i < n; i++) {
    dt_tensor_unref(s->cx, t[i]);
    t[i] = NULL;
  }
}

DtStatus dt_mv_chunk (DtSession *s, DtTensor *t, int64_t n, int dim,
                      DtTensor **out) {
  int64_t size = t->m.shape[dim];
  int64_t each = (size + n - 1) / n;
  DtStatus st = DT_OK;
  Told told = { .inside = "aten.chunk.default",
                .outside = "aten.split.Tensor", .nin = 1, .in = &t,
                .nextra = dim ? 2 : 1,
                .extra = { dt_v_int(s->cur_op ? n : each), dt_v_int(dim) },
                .nout = (int)(each ? (size + each - 1) / each : 1),
                .out = out };
  for (int64_t i = 0; i < n; i++) out[i] = NULL;
  for (int64_t i = 0; i < n && st == DT_OK; i++) {
    int64_t start = each * i < size ? each * i : size;
    int64_t len = size - start < each ? size - start : each;
    st = narrow_quiet(s, t, dim, start, len, &out[i]);
  }
  if (st == DT_OK) st = emit_local_op(s, &told);
  if (st != DT_OK) dt_mv_unref_all(s, n, out);
  return st;
}

/* --- blocks --- */

/* Seen as (n, s0, ..., sd, ...): how the blocks lie in the stacked tensor and
** in the joined one; both have the same number of elements. */
static void block_metas (const DtMeta *stacked, int64_t n, int dim,
                         DtMeta *a, DtMeta *joined, DtMeta *b) {
  int nd = stacked->ndim;
  dt_meta_copy(joined, stacked);
  joined->shape[0] /= n;
  joined->shape[dim] *= n;
  dt_meta_set_contiguous(joined);
  dt_meta_copy(a, stacked);
  a->ndim = (uint8_t)(nd + 1);
  dt_meta_copy(b, a);
  a->shape[0] = b->shape[0] = n;
  a->stride[0] = stacked->stride[0] * (stacked->shape[0] / n);
  b->stride[0] = joined->stride[dim] * (joined->shape[dim] / n);
  for (int i = 0; i < nd; i++) {
    a->shape[i + 1] = b->shape[i + 1] =
      i == 0 ? stacked->shape[0] / n : stacked->shape[i];
    a->stride[i + 1] = stacked->stride[i];
    b->stride[i + 1] = joined->stride[i];
  }
}

/* One strided copy, when nobody wants to hear of chunk and cat. */
static DtStatus blocks_quiet (DtSession *s, DtTensor *t, int64_t n, int dim,
                              bool join, DtTensor **out) {
  DtCtx *cx = s->cx;
  DtMeta stacked, joined, a, b;
  DtTensor *va = NULL, *vb = NULL;
  DtStatus st;
  dt_meta_copy(&stacked, &t->m);
  if (!join) {
    stacked.shape[dim] /= n;
    stacked.shape[0] *= n;
    dt_meta_set_contiguous(&stacked);
  }
  block_metas(&stacked, n, dim, &a, &joined, &b);
  if (!join)                    /* the joined one is t, with its strides */
    for (int i = 0; i <= t->m.ndim; i++)
      b.stride[i] = i == 0 ? t->m.stride[dim] * (t->m.shape[dim] / n)
                           : t->m.stride[i - 1];
  DT_TRY(cx, dt_tensor_new(cx, join ? &joined : &stacked, lacks_data(t),
                           out));
  if (!dt_tensor_has_data(t) || dt_meta_numel(&t->m) == 0) return DT_OK;
  st = dt_tensor_view(cx, join ? t : *out, &a, join ? t->offset : 0, &va);
  if (st == DT_OK)
    st = dt_tensor_view(cx, join ? *out : t, &b, join ? 0 : t->offset, &vb);
  if (st == DT_OK) st = join ? dt_k_copy(cx, va, vb) : dt_k_copy(cx, vb, va);
  dt_tensor_unref(cx, va);
  dt_tensor_unref(cx, vb);
  if (st != DT_OK) dt_drop_tensor(s, out);
  return st;
}

static DtStatus split_blocks (DtSession *s, DtTensor *t, int64_t n, int from,
                              int to, DtTensor **out) {
  DtTensor **part;
  DtStatus st;
  if (!dt_mv_told(s) && t->m.ndim < DT_MAX_NDIM)
    return blocks_quiet(s, t, n, from + to, from == 0, out);
  part = DT_NEWN(s->cx, DtTensor *, n);
  if (part == NULL) return DT_E_NOMEM;
  st = dt_mv_chunk(s, t, n, from, part);
  if (st == DT_OK) {
    st = dt_mv_cat(s, (int)n, part, to, out);
    dt_mv_unref_all(s, n, part);
  }
  dt_free(s->cx, part);
  return st;
}

DtStatus dt_mv_rejoin (DtSession *s, DtTensor *t, int64_t n, int dim,
                       DtTensor **out) {
  if (dim != 0) return split_blocks(s, t, n, 0, dim, out);
  *out = dt_tensor_ref(t);
  return DT_OK;
}

DtStatus dt_mv_unjoin (DtSession *s, DtTensor *t, int64_t n, int dim,
                       DtTensor **out) {
  if (dim != 0) return split_blocks(s, t, n, dim, 0, out);
  return dt_mv_contiguous(s, t, out);
}

/* --- arithmetic --- */

static DtDtype float_of (DtDtype t) {
  return dt_dtype_is_float(t) || dt_dtype_is_complex(t) ? t : DT_F32;
}

/* f(t, by) with the scalar as a one-element tensor of the same type. */
static DtStatus run_binary (DtSession *s, DtBinary f, DtTensor *t, DtScalar by,
                            DtDtype to, const char *op, DtValue told,
                            DtTensor **out) {
  DtCtx *cx = s->cx;
  DtMeta m, one;
  DtTensor *b = NULL;
  DtStatus st;
  dt_meta_copy(&m, &t->m);
  m.dtype = (uint8_t)to;
  if (!dt_meta_is_dense(&m)) dt_meta_strides_like(&m, &t->m);
  DT_TRY(cx, dt_tensor_new(cx, &m, lacks_data(t), out));
  st = DT_OK;
  if (dt_tensor_has_data(t) && dt_meta_numel(&m) > 0) {
    st = dt_meta_init(cx, &one, to, 0, NULL);
    if (st == DT_OK) st = dt_tensor_new(cx, &one, false, &b);
    if (st == DT_OK) st = dt_k_fill(cx, b, by);
    if (st == DT_OK) st = dt_k_binary(cx, f, to, NULL, t, b, *out);
  }
  dt_tensor_unref(cx, b);
  if (st != DT_OK) {
    dt_drop_tensor(s, out);
    return st;
  }
  return emit_unary_op(s, op, op, t, out, 1, &told);
}

DtStatus dt_mv_div (DtSession *s, DtTensor *t, DtScalar by, DtTensor **out) {
  DtValue v = by.kind == DT_K_INT ? dt_v_int(by.i) : dt_v_float(by.re);
  return run_binary(s, DT_B_div, t, by, float_of((DtDtype)t->m.dtype),
                    "aten.div.Tensor", v, out);
}

DtStatus dt_mv_pow (DtSession *s, DtTensor *t, DtScalar p, DtTensor **out) {
  DtValue v = p.kind == DT_K_INT ? dt_v_int(p.i) : dt_v_float(p.re);
  DtDtype to = (DtDtype)t->m.dtype;
  if (p.kind != DT_K_INT) to = float_of(to);
  return run_binary(s, DT_B_pow, t, p, to, "aten.pow.Tensor_Scalar", v, out);
}

DtStatus dt_mv_cast (DtSession *s, DtTensor *t, DtDtype to, DtTensor **out) {
  if ((DtDtype)t->m.dtype == to) {
    *out = dt_tensor_ref(t);
    return DT_OK;
  }
  DT_TRY(s->cx, copy_new(s, t, to, out));
  return emit_unary_op(s, "aten._to_copy.default", "aten._to_copy.default", t,
                       out,
                       0, NULL);
}

static DtStatus index_tensor (DtSession *s, int64_t n, const int64_t *index,
                              DtTensor **out) {
  DtMeta m;
  void *p;
  DtStatus st;
  DT_TRY(s->cx, dt_meta_init(s->cx, &m, DT_I64, 1, &n));
  DT_TRY(s->cx, dt_tensor_new(s->cx, &m, false, out));
  if (n == 0) return DT_OK;
  st = dt_tensor_data(s->cx, *out, &p);
  if (st == DT_OK) memcpy(p, index, (size_t)n * sizeof *index);
  else dt_drop_tensor(s, out);
  return st;
}

DtStatus dt_mv_select (DtSession *s, DtTensor *t, int dim, int64_t n,
                       const int64_t *index, DtTensor **out) {
  DtCtx *cx = s->cx;
  int64_t shape[DT_MAX_NDIM];
  DtTensor *ind = NULL;
  DtStatus st;
  memcpy(shape, t->m.shape, sizeof shape);
  shape[dim] = n;
  DT_TRY(cx, index_tensor(s, n, index, &ind));
  st = dt_mv_empty(s, &t->m, t->m.ndim, shape, out);
  if (st == DT_OK && !lacks_data(t) && dt_meta_numel(&(*out)->m) > 0 &&
      dt_tensor_has_data(*out))
    st = dt_k_index_select(cx, t, dim, ind, *out);
  else if (st != DT_OK)
    *out = NULL;
  if (st != DT_OK) dt_drop_tensor(s, out);
  dt_tensor_unref(cx, ind);
  return st;
}
