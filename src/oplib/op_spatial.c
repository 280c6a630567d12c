/* SPDX-License-Identifier: MIT
** oplib/op_spatial.c: what the operators over spatial dims share: their
** results' shapes and strides, the texts of their refusals. */
#include "oplib/op_spatial.h"

#include <string.h>

static bool in_set (DtDtype t, int set) {
  switch (t) {
    case DT_F32: case DT_F64: return (set & OP_T_F3264) != 0;
    case DT_F16: case DT_BF16: return (set & OP_T_HALF) != 0;
    case DT_I64: return (set & (OP_T_I64 | OP_T_INTS)) != 0;
    case DT_U8: return (set & (OP_T_U8 | OP_T_INTS)) != 0;
    case DT_BOOL: return (set & OP_T_BOOL) != 0;
    case DT_C64: case DT_C128: return (set & OP_T_COMPLEX) != 0;
    default: return dt_dtype_is_integral(t, false) && (set & OP_T_INTS) != 0;
  }
}

DtStatus op_sp_dtype (DtCtx *cx, const char *name, DtDtype t, int set) {
  DT_CHECK(cx, in_set(t, set), DT_E_NOTIMPL, "\"%s\" not implemented for '%s'",
           name, op_dtype_word(t));
  return DT_OK;
}

/* As is_channels_last_strides of MemoryFormat.h: strides grow along C, W, H
** (and D), N. */
bool op_sp_channels_last (const DtMeta *m) {
  static const int order4[4] = { 1, 3, 2, 0 };
  static const int order5[5] = { 1, 4, 3, 2, 0 };
  const int *order = m->ndim == 4 ? order4 : order5;
  int64_t min = 0;
  if ((m->ndim != 4 && m->ndim != 5) || m->stride[1] == 0) return false;
  for (int i = 0; i < m->ndim; i++) {
    int d = order[i];
    if (m->shape[d] == 0 || m->stride[d] < min) return false;
    if (d == 0 && min == m->stride[1]) return false;
    min = m->stride[d];
    if (m->shape[d] > 1) min *= m->shape[d];
  }
  return true;
}

static void make_channels_last (DtMeta *m) {
  int64_t step = m->shape[1] > 1 ? m->shape[1] : 1;
  m->stride[1] = 1;
  for (int d = m->ndim - 1; d >= 2; d--) {
    m->stride[d] = step;
    step *= m->shape[d] > 1 ? m->shape[d] : 1;
  }
  m->stride[0] = step;
}

DtStatus op_sp_result (DtCtx *cx, const DtMeta *in, DtDtype t, int n,
                       const int64_t *size, bool format, DtMeta *out) {
  int64_t shape[DT_MAX_NDIM];
  int lead = in->ndim - n;
  for (int d = 0; d < lead; d++) shape[d] = in->shape[d];
  for (int d = 0; d < n; d++) shape[lead + d] = size[d];
  DT_TRY(cx, op_new_meta(cx, out, t, in->ndim, shape, in));
  if (format && op_sp_channels_last(in)) make_channels_last(out);
  return DT_OK;
}

DtStatus op_sp_check_dim (DtCtx *cx, const DtMeta *m, int ndim, int dim,
                          int64_t size) {
  int64_t have = dim < m->ndim ? m->shape[dim] : -1;
  DT_CHECK(cx, m->ndim != ndim || have != size ? dim < m->ndim : true,
           DT_E_INDEX, "Dimension out of range (expected to be in range of "
           "[-%d, %d], but got %d)", m->ndim, m->ndim - 1, dim);
  DT_CHECK(cx, m->ndim == ndim && have == size, DT_E_RUNTIME,
           "Expected a tensor of dimension %d and tensor.size[%d] == %lld but "
           "got: dimension %d and tensor.size[%d] = %lld", ndim, dim,
           (long long)size, m->ndim, dim, (long long)have);
  return DT_OK;
}

int op_sp_empty_dim (const DtMeta *m, int nd, bool channel) {
  int from = m->ndim - nd - (channel ? 1 : 0);
  for (int d = from < 0 ? 0 : from; d < m->ndim; d++)
    if (m->shape[d] == 0) return d;
  return -1;
}

const char *op_sp_ctype (DtDtype t) {
  switch (t) {
    case DT_F32: return "float";
    case DT_F64: return "double";
    case DT_F16: return "c10::Half";
    case DT_BF16: return "c10::BFloat16";
    case DT_I64: return "long int";
    case DT_I32: return "int";
    case DT_I16: return "short int";
    case DT_I8: return "signed char";
    case DT_U8: return "unsigned char";
    case DT_BOOL: return "bool";
    case DT_C64: return "c10::complex<float>";
    case DT_C128: return "c10::complex<double>";
    default: return op_dtype_word(t);
  }
}

DtStatus op_sp_same_planes (DtCtx *cx, const char *op, const DtMeta *a,
                            const DtMeta *b, int nd) {
  bool same = a->ndim == b->ndim;
  for (int d = 0; same && d < a->ndim - nd; d++)
    same = a->shape[d] == b->shape[d];
  DT_CHECK(cx, same, DT_E_RUNTIME, "%s: batches and channels differ: %s and "
           "%s", op, op_shape_text(a).s, op_shape_text(b).s);
  return DT_OK;
}

DtStatus op_sp_as_2d (DtDecompCall *c, const char *op, int nargs,
                      const DtValue *args) {
  DtEmit *e = c->e;
  DtHandle *x = dt_emit(e, "aten.unsqueeze.default", "ti", c->in[0],
                        (int64_t)-2);
  DtHandle *out[2] = { NULL, NULL };
  DtOutputs got = { out, 2, 0, NULL };
  DtValue pos[8];
  if (!dt_emit_ok(e)) return e->st;
  pos[0] = dt_v_slot(0);
  for (int i = 0; i < nargs && i < 7; i++) pos[1 + i] = args[i];
  DT_TRY(e->cx, e->vt->call(e, op, &(DtGiven){ .npos = nargs + 1, .pos = pos },
                            1, &x, &got));
  c->nout = got.n;
  for (int i = 0; i < got.n; i++)
    c->out[i] = dt_emit(e, "aten.squeeze.dim", "ti", out[i], (int64_t)-2);
  return e->st;
}

DtStatus op_sp_alike (DtStratCall *c, int n, const DtPlacement *pl) {
  DtPlacement rows[8 * OP_ROW_MAX];
  int w = c->nout + c->nin;
  DT_CHECK(c->cx, w <= OP_ROW_MAX && n <= 6, DT_E_LIMIT, "too many tensors");
  for (int i = 0; i < w; i++) {
    rows[i] = dt_pl_replicate();
    rows[w + i] = dt_pl_shard(0);
    for (int k = 0; k < n; k++) rows[(2 + k) * w + i] = pl[k];
  }
  return op_s_rows(c, 2 + n, rows, false);
}
