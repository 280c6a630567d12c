/* SPDX-License-Identifier: MIT
** op/value.c: values and argument trees.
**
** It does not know schemas: kinds were checked when the tree was bound
** (schema.c), so the readers here never fail; a reader asked for something
** that is not there answers zero. */
#include <string.h>
#include "base/hash.h"
#include "op/value.h"

static const char *const layout_names[] = { "torch.strided" };
static const char *const memfmt_names[] = {
  "torch.contiguous_format", "torch.preserve_format", "torch.channels_last",
  "torch.channels_last_3d"
};

const char *dt_layout_name (int64_t code) {
  return code >= 0 && code < DT_NLAYOUTS ? layout_names[code] : "?";
}

const char *dt_memfmt_name (int64_t code) {
  return code >= 0 && code < DT_NMEMFMTS ? memfmt_names[code] : "?";
}

/* With or without "torch.", and without "_format" too. */
static int find_name (const char *const *names, int n, const char *name) {
  int i;
  for (i = 0; i < n; i++) {
    const char *plain = names[i] + 6, *tail = strstr(plain, "_format");
    size_t len = tail != NULL ? (size_t)(tail - plain) : strlen(plain);
    if (strcmp(names[i], name) == 0 || strcmp(plain, name) == 0 ||
        (strlen(name) == len && strncmp(plain, name, len) == 0))
      return i;
  }
  return n;
}

DtLayout dt_layout_find (const char *name) {
  return (DtLayout)find_name(layout_names, DT_NLAYOUTS, name);
}

DtMemFmt dt_memfmt_find (const char *name) {
  return (DtMemFmt)find_name(memfmt_names, DT_NMEMFMTS, name);
}

static DtValue value_of (DtValueKind kind) {
  DtValue v;
  memset(&v, 0, sizeof v);
  v.kind = (uint8_t)kind;
  return v;
}

DtValue dt_v_none (void) { return value_of(DT_V_NONE); }

DtValue dt_v_int (int64_t i) {
  DtValue v = value_of(DT_V_INT);
  v.u.i = i;
  return v;
}

DtValue dt_v_float (double f) {
  DtValue v = value_of(DT_V_FLOAT);
  v.u.f = f;
  return v;
}

DtValue dt_v_bool (bool b) {
  DtValue v = value_of(DT_V_BOOL);
  v.u.b = b;
  return v;
}

DtValue dt_v_str (const char *s) {
  DtValue v = value_of(DT_V_STR);
  v.u.s = s;
  return v;
}

DtValue dt_v_code (DtValueKind kind, int64_t code) {
  DtValue v = value_of(kind);
  v.u.i = code;
  return v;
}

DtValue dt_v_complex (double re, double im) {
  DtValue v = value_of(DT_V_COMPLEX);
  v.u.c[0] = re;
  v.u.c[1] = im;
  return v;
}

DtValue dt_v_dtype (DtDtype t) { return dt_v_code(DT_V_DTYPE, t); }

DtValue dt_v_slot (int slot) {
  DtValue v = value_of(DT_V_TENSOR);
  v.u.slot = slot;
  return v;
}

DtValue dt_v_list (int n, DtValue *e) {
  DtValue v = value_of(DT_V_LIST);
  v.u.list.n = n;
  v.u.list.v = e;
  return v;
}

/* ---- readers ---- */

static int64_t value_int (const DtValue *v, int64_t dflt) {
  switch (v->kind) {
    case DT_V_BOOL: return v->u.b;
    case DT_V_FLOAT: return (int64_t)v->u.f;
    case DT_V_COMPLEX: return (int64_t)v->u.c[0];
    case DT_V_INT: case DT_V_DTYPE: case DT_V_DEVICE: case DT_V_LAYOUT:
    case DT_V_MEMFMT: return v->u.i;
    case DT_V_LIST:
      return v->u.list.n == 1 ? value_int(&v->u.list.v[0], dflt) : dflt;
    default: return dflt;
  }
}

int64_t dt_arg_int (const DtArgs *a, int i) { return value_int(&a->v[i], 0); }

int64_t dt_arg_int_or (const DtArgs *a, int i, int64_t dflt) {
  return value_int(&a->v[i], dflt);
}

DtScalar dt_arg_scalar (const DtArgs *a, int i) {
  const DtValue *v = &a->v[i];
  switch (v->kind) {
    case DT_V_BOOL: return dt_scalar_bool(v->u.b);
    case DT_V_FLOAT: return dt_scalar_float(v->u.f);
    case DT_V_COMPLEX: return dt_scalar_complex(v->u.c[0], v->u.c[1]);
    default: return dt_scalar_int(value_int(v, 0));
  }
}

double dt_arg_float (const DtArgs *a, int i) {
  const DtValue *v = &a->v[i];
  if (v->kind == DT_V_FLOAT) return v->u.f;
  if (v->kind == DT_V_COMPLEX) return v->u.c[0];
  return (double)value_int(v, 0);
}

bool dt_arg_bool (const DtArgs *a, int i) {
  const DtValue *v = &a->v[i];
  return v->kind == DT_V_FLOAT ? v->u.f != 0 : value_int(v, 0) != 0;
}

bool dt_arg_is_none (const DtArgs *a, int i) {
  return a->v[i].kind == DT_V_NONE;
}

const char *dt_arg_str (const DtArgs *a, int i) {
  return a->v[i].kind == DT_V_STR ? a->v[i].u.s : "";
}

DtDtype dt_arg_dtype (const DtArgs *a, int i) {
  return a->v[i].kind == DT_V_DTYPE ? (DtDtype)a->v[i].u.i : DT_DTYPE_NONE;
}

int dt_arg_slot (const DtArgs *a, int i) {
  return a->v[i].kind == DT_V_TENSOR ? a->v[i].u.slot : -1;
}

bool dt_arg_is_number (const DtArgs *a, int i) {
  return a->v[i].kind >= DT_V_BOOL && a->v[i].kind <= DT_V_COMPLEX;
}

int dt_arg_len (const DtArgs *a, int i) {
  const DtValue *v = &a->v[i];
  if (v->kind == DT_V_LIST) return v->u.list.n;
  return v->kind == DT_V_NONE ? 0 : 1;
}

int dt_arg_ints (const DtArgs *a, int i, int64_t *out, int max) {
  const DtValue *v = &a->v[i];
  int k, n = dt_arg_len(a, i);
  if (n > max) n = max;
  if (v->kind != DT_V_LIST) {
    if (n == 1) out[0] = value_int(v, 0);
    return n;
  }
  for (k = 0; k < n; k++)
    out[k] = value_int(&v->u.list.v[k], 0);
  return n;
}

int dt_arg_slots (const DtArgs *a, int i, int *out, int max) {
  const DtValue *v = &a->v[i];
  int k, n = dt_arg_len(a, i);
  if (n > max) n = max;
  if (v->kind != DT_V_LIST) {
    if (n == 1) out[0] = dt_arg_slot(a, i);
    return n;
  }
  for (k = 0; k < n; k++)
    out[k] = v->u.list.v[k].kind == DT_V_TENSOR ? v->u.list.v[k].u.slot : -1;
  return n;
}

void dt_value_slots (DtValue *v, DtSlotVisit f, void *ud) {
  int i;
  if (v->kind == DT_V_TENSOR) f(ud, &v->u.slot);
  if (v->kind == DT_V_LIST)
    for (i = 0; i < v->u.list.n; i++)
      dt_value_slots(&v->u.list.v[i], f, ud);
}

/* ---- copy, equality, hash ---- */

static DtStatus value_copy (DtCtx *cx, DtArena *a, const DtValue *src,
                            DtValue *dst) {
  *dst = *src;
  if (src->kind == DT_V_STR) {
    dst->u.s = dt_arena_strdup(cx, a, src->u.s);
    if (dst->u.s == NULL) return DT_E_NOMEM;
  } else if (src->kind == DT_V_LIST) {
    int i, n = src->u.list.n;
    DtValue *e = DT_ANEWN(cx, a, DtValue, n + 1);
    if (e == NULL) return DT_E_NOMEM;
    for (i = 0; i < n; i++)
      DT_TRY(cx, value_copy(cx, a, &src->u.list.v[i], &e[i]));
    dst->u.list.v = e;
  }
  return DT_OK;
}

DtStatus dt_args_copy (DtCtx *cx, DtArena *a, const DtArgs *src, DtArgs *dst) {
  int i;
  dst->schema = src->schema;
  dst->n = src->n;
  dst->npos = src->npos;
  dst->given = src->given;
  dst->nslots = src->nslots;
  for (i = 0; i < src->n; i++)
    DT_TRY(cx, value_copy(cx, a, &src->v[i], &dst->v[i]));
  return DT_OK;
}

/* Floats are compared by bits: 0.0 and -0.0 differ, a NaN equals itself. */
static bool same_bits (const double *a, const double *b, size_t n) {
  return memcmp(a, b, n * sizeof *a) == 0;
}

bool dt_value_equal (const DtValue *a, const DtValue *b) {
  int i;
  if (a->kind != b->kind) return false;
  switch (a->kind) {
    case DT_V_NONE: return true;
    case DT_V_BOOL: return a->u.b == b->u.b;
    case DT_V_FLOAT: return same_bits(&a->u.f, &b->u.f, 1);
    case DT_V_COMPLEX: return same_bits(a->u.c, b->u.c, 2);
    case DT_V_STR: return strcmp(a->u.s, b->u.s) == 0;
    case DT_V_TENSOR: return a->u.slot == b->u.slot;
    case DT_V_GENERATOR: return a->u.p == b->u.p;
    case DT_V_LIST:
      if (a->u.list.n != b->u.list.n) return false;
      for (i = 0; i < a->u.list.n; i++)
        if (!dt_value_equal(&a->u.list.v[i], &b->u.list.v[i])) return false;
      return true;
    default: return a->u.i == b->u.i;
  }
}

uint64_t dt_value_hash (uint64_t h, const DtValue *v) {
  int i;
  h = dt_hash_u64(h, v->kind);
  switch (v->kind) {
    case DT_V_NONE: return h;
    case DT_V_BOOL: return dt_hash_u64(h, v->u.b);
    case DT_V_FLOAT: return dt_hash_bytes(h, &v->u.f, sizeof v->u.f);
    case DT_V_COMPLEX: return dt_hash_bytes(h, v->u.c, sizeof v->u.c);
    case DT_V_STR: return dt_hash_str(h, v->u.s);
    case DT_V_TENSOR: return dt_hash_u64(h, (uint64_t)v->u.slot);
    case DT_V_GENERATOR: return h;
    case DT_V_LIST:
      h = dt_hash_u64(h, (uint64_t)v->u.list.n);
      for (i = 0; i < v->u.list.n; i++)
        h = dt_value_hash(h, &v->u.list.v[i]);
      return h;
    default: return dt_hash_u64(h, (uint64_t)v->u.i);
  }
}

uint64_t dt_args_hash (uint64_t h, const DtArgs *a) {
  int i;
  for (i = 0; i < a->n; i++)
    h = dt_value_hash(h, &a->v[i]);
  return h;
}

bool dt_args_equal (const DtArgs *a, const DtArgs *b) {
  int i;
  if (a->schema != b->schema || a->n != b->n) return false;
  for (i = 0; i < a->n; i++)
    if (!dt_value_equal(&a->v[i], &b->v[i])) return false;
  return true;
}

/* ---- text ---- */

static void print_complex (const double *c, DtBuf *b) {
  if (c[0] != 0) {
    dt_buf_addc(b, '(');
    dt_buf_addf(b, "%.17g", c[0]);
    dt_buf_addf(b, "%+.17gj)", c[1]);
  } else {
    dt_buf_addf(b, "%.17gj", c[1]);
  }
}

/* Values as Python's str() (or repr()) shows them: error texts quote whole
** calls, so a comma here is a difference from PyTorch. */
static void value_print (const DtValue *v, DtSlotPrint f, void *ud, bool repr,
                         DtBuf *b) {
  int i;
  switch (v->kind) {
    case DT_V_NONE: dt_buf_add(b, "None"); break;
    case DT_V_BOOL: dt_buf_add(b, v->u.b ? "True" : "False"); break;
    case DT_V_INT: dt_buf_addf(b, "%lld", (long long)v->u.i); break;
    case DT_V_FLOAT: dt_buf_add_pyfloat(b, v->u.f); break;
    case DT_V_COMPLEX: print_complex(v->u.c, b); break;
    case DT_V_STR: dt_buf_addf(b, repr ? "'%s'" : "%s", v->u.s); break;
    case DT_V_DTYPE:
      dt_buf_add(b, dt_dtype_info((DtDtype)v->u.i)->torch);
      break;
    case DT_V_DEVICE:
      dt_buf_addf(b, repr ? "device(type='%s')" : "%s",
                  dt_device_name((DtDevice)v->u.i));
      break;
    case DT_V_LAYOUT: dt_buf_add(b, dt_layout_name(v->u.i)); break;
    case DT_V_MEMFMT: dt_buf_add(b, dt_memfmt_name(v->u.i)); break;
    case DT_V_GENERATOR: dt_buf_add(b, "<torch._C.Generator object>"); break;
    case DT_V_TENSOR:
      if (f != NULL) f(ud, v->u.slot, b);
      else dt_buf_add(b, "Tensor");
      break;
    default:
      dt_buf_addc(b, '[');
      for (i = 0; i < v->u.list.n; i++) {
        if (i > 0) dt_buf_add(b, ", ");
        value_print(&v->u.list.v[i], f, ud, true, b);
      }
      dt_buf_addc(b, ']');
  }
}

void dt_value_print (const DtValue *v, DtSlotPrint f, void *ud, DtBuf *b) {
  value_print(v, f, ud, false, b);
}

const char *dt_value_pytype (const DtValue *v) {
  switch (v->kind) {
    case DT_V_NONE: return "NoneType";
    case DT_V_BOOL: return "bool";
    case DT_V_INT: return "int";
    case DT_V_FLOAT: return "float";
    case DT_V_COMPLEX: return "complex";
    case DT_V_STR: return "str";
    case DT_V_DTYPE: return "torch.dtype";
    case DT_V_DEVICE: return "torch.device";
    case DT_V_LAYOUT: return "torch.layout";
    case DT_V_MEMFMT: return "torch.memory_format";
    case DT_V_TENSOR:
      return v->py == DT_CLASS_DTENSOR     ? "DTensor"
             : v->py == DT_CLASS_PARAMETER ? "Parameter"
                                           : "Tensor";
    case DT_V_GENERATOR: return "torch._C.Generator";
    default: return v->py == 1 ? "list" : "tuple";
  }
}
