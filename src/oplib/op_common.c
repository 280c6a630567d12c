/* SPDX-License-Identifier: MIT
** oplib/op_common.c: shape and type inference shared by the families.
**
** It holds no operator and touches no data.  The difficult part is the
** strides of pointwise results: they follow TensorIterator's reordering of
** dims by the operands' strides (aten/src/ATen/TensorIterator.cpp). */
#include "oplib/oplib_int.h"

#include <stdio.h>
#include <string.h>

/* ---- promotion ---- */

DtDtype op_number_dtype (DtScalar v) {
  switch (v.kind) {
    case DT_K_BOOL: return DT_BOOL;
    case DT_K_INT: return DT_I64;
    case DT_K_FLOAT: return DT_F64;
    default: return DT_C128;
  }
}

void op_promote_all (DtPromote *p, int n, const OpOperand *o) {
  for (int i = 0; i < n; i++) {
    if (o[i].is_num)
      dt_promote_number(p, op_number_dtype(o[i].num));
    else if (o[i].m && o[i].m->wrapped)
      dt_promote_number(p, (DtDtype)o[i].m->dtype);
    else if (o[i].m)
      dt_promote_tensor(p, (DtDtype)o[i].m->dtype, o[i].m->ndim);
  }
}

DtDtype op_promote (const DtCtx *cx, int n, const OpOperand *o) {
  DtPromote p;
  dt_promote_init(&p, cx->bf16_complex);
  op_promote_all(&p, n, o);
  return dt_promote_result(&p);
}

void op_promo_types (const DtCtx *cx, OpPromo k, int n, const OpOperand *o,
                     DtDtype *ct, DtDtype *rt) {
  DtDtype t = k == PK_FIRST && o[0].m ? (DtDtype)o[0].m->dtype
                                      : op_promote(cx, n, o);
  if (k == PK_FLOAT && dt_dtype_is_integral(t, true))
    t = (DtDtype)OP_DEFAULT_FLOAT;
  *ct = t;
  *rt = k == PK_BOOL ? DT_BOOL : k == PK_REAL ? dt_dtype_to_real(t) : t;
}

DtTensor *op_number (OpNumber *n, DtScalar v, DtDtype dtype) {
  memset(n, 0, sizeof *n);
  n->t.m.dtype = (uint8_t)dtype;
  n->t.refs = 1;
  n->t.storage = &n->s;
  n->s.refs = 1;
  n->s.nbytes = sizeof n->data;
  n->s.block = &n->b;
  n->b.refs = 1;
  n->b.nbytes = sizeof n->data;
  n->b.data = n->data;
  dt_dtype_store(dtype, n->data, v);
  return &n->t;
}

/* ---- broadcasting ---- */

typedef struct OpShape { int ndim; int64_t shape[DT_MAX_NDIM]; } OpShape;

static DtStatus broadcast_shape (DtCtx *cx, int n, const OpOperand *o,
                                 DtMeta *out) {
  bool first = true;
  for (int i = 0; i < n; i++) {
    if (!o[i].m) continue;
    if (first) {
      dt_meta_copy(out, o[i].m);
      first = false;
    } else if (!dt_meta_same_shape(out, o[i].m)) {
      DtMeta r;
      DT_TRY(cx, dt_meta_broadcast(cx, out, o[i].m, &r));
      dt_meta_copy(out, &r);
    }
  }
  if (first) memset(out, 0, sizeof *out);
  out->wrapped = false;
  return DT_OK;
}

/* Stride of operand m at dim d of the result, 0 where it broadcasts. */
static int64_t stride_at (const DtMeta *m, const DtMeta *out, int d) {
  int k = d - (out->ndim - m->ndim);
  if (k < 0 || (m->shape[k] == 1 && out->shape[d] != 1)) return 0;
  return m->stride[k];
}

/* > 0: dim a must come after b in the order from fast to slow. */
static int should_swap (int n, const OpOperand *o, const DtMeta *out, int a,
                        int b) {
  for (int i = 0; i < n; i++) {
    if (!o[i].m) continue;
    int64_t sa = stride_at(o[i].m, out, a), sb = stride_at(o[i].m, out, b);
    if (sa == 0 || sb == 0) continue;
    if (sa != sb) return sa < sb ? -1 : 1;
    if (out->shape[a] > out->shape[b]) return 1;
  }
  return 0;
}

static void iterator_strides (int n, const OpOperand *o, DtMeta *out) {
  int perm[DT_MAX_NDIM], nd = out->ndim;
  bool identity = true;
  for (int i = 0; i < nd; i++) perm[i] = nd - 1 - i;
  for (int i = 1; i < nd; i++) {
    int d1 = i;
    for (int d0 = i - 1; d0 >= 0; d0--) {
      int s = should_swap(n, o, out, perm[d0], perm[d1]);
      if (s > 0) {
        int t = perm[d0];
        perm[d0] = perm[d1];
        perm[d1] = t;
        d1 = d0;
      } else if (s < 0) {
        break;
      }
    }
  }
  for (int i = 0; i < nd; i++) identity &= perm[i] == nd - 1 - i;
  dt_meta_set_contiguous(out);
  if (identity) return;
  int64_t step = 1;
  for (int i = 0; i < nd; i++) {
    out->stride[perm[i]] = step;
    step *= out->shape[perm[i]];
  }
}

/* All operands of the result's shape have the same dense strides. */
static const DtMeta *common_layout (int n, const OpOperand *o,
                                    const DtMeta *out) {
  const DtMeta *f = NULL;
  bool contig = true;
  for (int i = 0; i < n; i++) {
    const DtMeta *m = o[i].m;
    if (!m) continue;
    if (!dt_meta_same_shape(m, out)) return NULL;
    contig &= dt_meta_is_contiguous(m);
    if (!f) f = m;
    for (int d = 0; d < m->ndim; d++)
      if (m->stride[d] != f->stride[d] && !contig) return NULL;
  }
  if (f && !contig && !dt_meta_is_dense(f)) return NULL;
  return f;
}

/* A 4-D tensor that lies channels last gets the strides of that format; they
** differ from its own where a dimension has size 1. */
static void canonical_channels_last (DtMeta *m) {
  static const int order[4] = {1, 3, 2, 0};
  int64_t stride[4], step = 1;
  if (m->ndim != 4) return;
  for (int i = 0; i < 4; i++) {
    int d = order[i];
    if (m->shape[d] != 1 && m->stride[d] != step) return;
    stride[d] = step;
    step *= m->shape[d];
  }
  memcpy(m->stride, stride, sizeof stride);
}

DtStatus op_broadcast (DtCtx *cx, int n, const OpOperand *o, DtDtype rt,
                       DtMeta *out) {
  DT_TRY(cx, broadcast_shape(cx, n, o, out));
  out->dtype = (uint8_t)rt;
  const DtMeta *f = common_layout(n, o, out);
  if (f && dt_meta_is_contiguous(f))
    dt_meta_set_contiguous(out);
  else if (f) {
    memcpy(out->stride, f->stride, sizeof(int64_t) * out->ndim);
    canonical_channels_last(out);
  } else
    iterator_strides(n, o, out);
  for (int i = 0; i < n; i++)           /* a device beats a cpu number */
    if (o[i].m && o[i].m->ndim > 0) {
      out->device = o[i].m->device;
      break;
    }
  return DT_OK;
}

/* ---- metas ---- */

DtStatus op_mixed_params (DtCtx *cx, DtDtype t, const DtMeta *const *p,
                          int n) {
  int first = 0;
  while (first < n && p[first] == NULL) first++;
  if (first == n) return DT_OK;
  if (p[first]->dtype == t) {
    for (int i = 0; i < n; i++)
      DT_CHECK(cx, p[i] == NULL || p[i]->dtype == t, DT_E_RUNTIME,
               "expected scalar type %s but found %s", op_dtype_word(t),
               op_dtype_word((DtDtype)p[i]->dtype));
    return DT_OK;
  }
  for (int i = 0; i < n; i++)
    DT_CHECK(cx, p[i] == NULL || p[i]->dtype == DT_F32, DT_E_RUNTIME,
             "mixed dtype (CPU): expect parameter to have scalar type of "
             "Float");
  DT_CHECK(cx, t == DT_BF16 || t == DT_F16, DT_E_RUNTIME,
           "mixed dtype (CPU): all inputs must share same datatype.");
  return DT_OK;
}

DtStatus op_new_meta (DtCtx *cx, DtMeta *m, DtDtype t, int ndim,
                      const int64_t *shape, const DtMeta *like) {
  DT_TRY(cx, dt_meta_init(cx, m, t, ndim, shape));
  if (like) m->device = like->device;
  return DT_OK;
}

void op_like_meta (DtMeta *m, const DtMeta *in, DtDtype t) {
  dt_meta_copy(m, in);
  m->wrapped = false;
  m->dtype = (uint8_t)t;
  if (dt_meta_is_dense(in) && !dt_meta_is_contiguous(in))
    return;
  if (dt_meta_is_contiguous(in)) dt_meta_set_contiguous(m);
  else dt_meta_strides_like(m, in);
}

DtStatus op_meta_same (DtMetaCall *c) {
  op_like_meta(&c->out[0], c->in[0], (DtDtype)c->in[0]->dtype);
  c->nout = 1;
  return DT_OK;
}

DtStatus op_meta_plain (DtMetaCall *c) {
  DT_TRY(c->cx, op_meta_same(c));
  if (!c->fake) dt_meta_set_contiguous(&c->out[0]);
  return DT_OK;
}

DtStatus op_meta_alias (DtMetaCall *c) {
  dt_meta_copy(&c->out[0], c->in[0]);
  c->nout = 1;
  return DT_OK;
}

DtStatus op_meta_inplace (DtMetaCall *c) {
  dt_meta_copy(&c->out[0], c->in[0]);
  c->nout = 1;
  return DT_OK;
}

DtStatus op_meta_scalar (DtMetaCall *c) {
  c->nout = 0;
  return DT_OK;
}

DtStatus op_dim (DtCtx *cx, const DtArgs *a, int i, int ndim, int *out) {
  return dt_meta_wrap_dim(cx, dt_arg_int(a, i), ndim, out);
}

DtStatus op_range (DtCtx *cx, int64_t size, int64_t n, int64_t *start) {
  int64_t s = *start;
  DT_CHECK(cx, s >= -size && s <= size, DT_E_INDEX, "start out of range "
           "(expected to be in range of [%lld, %lld], but got %lld)",
           -(long long)size, (long long)size, (long long)s);
  if (s < 0) s += size;
  DT_CHECK(cx, n >= 0 && s <= size - n, DT_E_RUNTIME, "start (%lld) + length "
           "(%lld) exceeds dimension size (%lld).", (long long)s,
           (long long)n, (long long)size);
  *start = s;
  return DT_OK;
}

DtStatus op_has_dim (DtCtx *cx, const DtMeta *m, int d) {
  int n = m->ndim;
  DT_CHECK(cx, n > 0, DT_E_INDEX,
           "Dimension specified as %d but tensor has no dimensions", d);
  DT_CHECK(cx, d >= -n && d < n, DT_E_INDEX, "Dimension out of range "
           "(expected to be in range of [%d, %d], but got %d)", -n, n - 1, d);
  return DT_OK;
}

DtStatus op_dims (DtCtx *cx, const DtArgs *a, int i, int ndim, bool empty_all,
                  uint32_t *mask) {
  int64_t v[DT_MAX_NDIM * 2];
  int n = dt_arg_is_none(a, i) ? 0 : dt_arg_ints(a, i, v, DT_MAX_NDIM * 2);
  *mask = 0;
  if (n == 0 && (empty_all || dt_arg_is_none(a, i)))
    *mask = ndim ? (uint32_t)((1u << ndim) - 1) : 0;
  for (int k = 0; k < n; k++) {         /* all in range comes first */
    int d;
    DT_TRY(cx, dt_meta_wrap_dim(cx, v[k], ndim, &d));
  }
  for (int k = 0; k < n; k++) {
    int d;
    DT_TRY(cx, dt_meta_wrap_dim(cx, v[k], ndim, &d));
    DT_CHECK(cx, !(*mask >> d & 1u), DT_E_RUNTIME,
             "dim %d appears multiple times in the list of dims", d);
    *mask |= 1u << d;
  }
  return DT_OK;
}

DtStatus op_reduced (DtCtx *cx, const DtMeta *m, uint32_t mask, bool keepdim,
                     DtDtype t, DtMeta *out) {
  int64_t shape[DT_MAX_NDIM];
  int n = 0;
  for (int d = 0; d < m->ndim; d++) {
    if (!(mask >> d & 1u)) shape[n++] = m->shape[d];
    else if (keepdim) shape[n++] = 1;
  }
  return op_new_meta(cx, out, t, n, shape, m);
}

DtDtype op_dtype_or (const DtArgs *a, int i, DtDtype dflt) {
  DtDtype t = i < a->n ? dt_arg_dtype(a, i) : DT_DTYPE_NONE;
  return t == DT_DTYPE_NONE ? dflt : t;
}

int op_ints (const DtArgs *a, int i, int64_t *out) {
  if (dt_arg_is_none(a, i)) return 0;
  return dt_arg_ints(a, i, out, DT_MAX_NDIM);
}

/* The digits of v at `s`, which has room for 20; how many. */
static size_t digits (char *s, int64_t v) {
  char back[20];
  uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  size_t n = 0, k = 0;
  do back[n++] = (char)('0' + u % 10); while ((u /= 10) != 0);
  if (v < 0) s[k++] = '-';
  while (n > 0) s[k++] = back[--n];
  return k;
}

/* By hand: checks make their texts before they know whether they need them. */
OpText op_ints_text (int n, const int64_t *v) {
  OpText r;
  size_t k = 0;
  r.s[k++] = '[';
  for (int i = 0; i < n && k + 32 < sizeof r.s; i++) {
    if (i > 0) { r.s[k++] = ','; r.s[k++] = ' '; }
    k += digits(r.s + k, v[i]);
  }
  r.s[k++] = ']';
  r.s[k] = 0;
  return r;
}

OpText op_shape_text (const DtMeta *m) {
  return op_ints_text(m->ndim, m->shape);
}

OpText op_size_text (const DtMetaCall *c, const DtMeta *m) {
  OpText t = op_shape_text(m), out;
  if (!c->fake) return t;
  snprintf(out.s, sizeof out.s, "torch.Size(%.220s)", t.s);
  return out;
}

bool op_is_out (const DtMetaCall *c) {
  const DtSchema *s = c->args->schema;
  return s->nkwonly > 0 && s->arg[s->nargs - 1].write;
}

const char *op_dtype_word (DtDtype t) { return dt_dtype_word(t); }

DtStatus op_wants_floats (DtCtx *cx, const char *name, const char *type) {
  DT_CHECK(cx, strncmp(type, "torch.", 6) != 0, DT_E_RUNTIME, "%s: Expected a "
           "floating point or complex tensor as input. Got %s", name, type);
  return DT_SAY(cx, DT_E_RUNTIME, WANTS_FLOATS, name, type);
}
