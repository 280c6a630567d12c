/* SPDX-License-Identifier: MIT
** op/emit.c: format letters to values, and the sticky error of an emitter.
**
** It does not run operators: the table of functions does, each in its way.
** Tensors in the arguments become slots in the order they are met. */
#include <stdarg.h>
#include <string.h>
#include "op/emit.h"

enum { EMIT_MAX_IN = 512 };

typedef struct Pack {
  DtEmit *e;
  int npos, nkw, nin;
  DtValue pos[DT_MAX_ARGS], kw[DT_MAX_ARGS];
  const char *kwname[DT_MAX_ARGS];
  DtHandle *in[EMIT_MAX_IN];
} Pack;

static DtStatus add_tensor (Pack *p, DtHandle *h, DtValue *v) {
  if (h == NULL) {
    *v = dt_v_none();
    return DT_OK;
  }
  DT_CHECK(p->e->cx, p->nin < EMIT_MAX_IN, DT_E_LIMIT,
           "more than %d tensors in one call", EMIT_MAX_IN);
  p->in[p->nin] = h;
  *v = dt_v_slot(p->nin++);
  return DT_OK;
}

static DtStatus add_tensors (Pack *p, int n, DtHandle *const *h, DtValue *v) {
  DtValue *e = DT_ANEWN(p->e->cx, p->e->arena, DtValue, n + 1);
  int i;
  if (e == NULL) return DT_E_NOMEM;
  for (i = 0; i < n; i++)
    DT_TRY(p->e->cx, add_tensor(p, h[i], &e[i]));
  *v = dt_v_list(n, e);
  return DT_OK;
}

static DtStatus add_ints (Pack *p, int n, const int64_t *x, DtValue *v) {
  DtValue *e = DT_ANEWN(p->e->cx, p->e->arena, DtValue, n + 1);
  int i;
  if (e == NULL) return DT_E_NOMEM;
  for (i = 0; i < n; i++) e[i] = dt_v_int(x[i]);
  *v = dt_v_list(n, e);
  return DT_OK;
}

/* The list is walked by the caller's va_list: passed by address, because some
** ABIs make va_list an array. */
typedef struct Varg { va_list ap; } Varg;

/* One argument by the letter of its kind; op/emit.h lists the letters. */
static DtStatus read_value (Pack *p, char letter, Varg *a, DtValue *v) {
  int n;
  DtDtype t;
  switch (letter) {
    case 't': return add_tensor(p, va_arg(a->ap, DtHandle *), v);
    case 'T':
      n = va_arg(a->ap, int);
      return add_tensors(p, n, va_arg(a->ap, DtHandle *const *), v);
    case 'I':
      n = va_arg(a->ap, int);
      return add_ints(p, n, va_arg(a->ap, const int64_t *), v);
    case 'i': *v = dt_v_int(va_arg(a->ap, int64_t)); return DT_OK;
    case 'f': *v = dt_v_float(va_arg(a->ap, double)); return DT_OK;
    case 'b': *v = dt_v_bool(va_arg(a->ap, int) != 0); return DT_OK;
    case 's': *v = dt_v_str(va_arg(a->ap, const char *)); return DT_OK;
    case 'd':
      t = (DtDtype)va_arg(a->ap, int);
      *v = t == DT_DTYPE_NONE ? dt_v_none() : dt_v_dtype(t);
      return DT_OK;
    case 'n': *v = dt_v_none(); return DT_OK;
    case 'v': *v = va_arg(a->ap, DtValue); return DT_OK;
    default:
      return dt_raise(p->e->cx, DT_E_INTERNAL, "emit: unknown letter '%c'",
                      letter);
  }
}

/* "name=x" starting at *f; advances. */
static DtStatus read_keyword (Pack *p, const char **f, Varg *a) {
  const char *eq = strchr(*f, '=');
  char *name;
  DT_ASSERT(p->e->cx, eq != NULL && eq[1] != '\0' && p->nkw < DT_MAX_ARGS);
  name = DT_ANEWN(p->e->cx, p->e->arena, char, (eq - *f) + 1);
  if (name == NULL) return DT_E_NOMEM;
  memcpy(name, *f, (size_t)(eq - *f));
  p->kwname[p->nkw] = name;
  DT_TRY(p->e->cx, read_value(p, eq[1], a, &p->kw[p->nkw]));
  p->nkw++;
  *f = eq + 2;
  return DT_OK;
}

static DtStatus pack (Pack *p, const char *f, Varg *a) {
  while (*f != '\0' && *f != ' ') {
    DT_ASSERT(p->e->cx, p->npos < DT_MAX_ARGS);
    DT_TRY(p->e->cx, read_value(p, *f++, a, &p->pos[p->npos]));
    p->npos++;
  }
  for (;;) {
    while (*f == ' ') f++;
    if (*f == '\0') return DT_OK;
    DT_TRY(p->e->cx, read_keyword(p, &f, a));
  }
}

static void run (DtEmit *e, const char *op, DtHandle **out, int max,
                 const char *fmt, Varg *a) {
  Pack p;
  DtOutputs got = { out, max, 0, NULL };
  int i;
  for (i = 0; i < max; i++) out[i] = NULL;
  if (e->st != DT_OK) return;
  p.e = e;
  p.npos = p.nkw = p.nin = 0;
  e->st = pack(&p, fmt, a);
  if (e->st == DT_OK)
    e->st = e->vt->call(e, op, &(DtGiven){ p.npos, p.pos, p.nkw, p.kwname,
                                           p.kw }, p.nin, p.in, &got);
  if (e->st != DT_OK)
    for (i = 0; i < max; i++) out[i] = NULL;
}

DtHandle *dt_emit (DtEmit *e, const char *op, const char *fmt, ...) {
  DtHandle *out[1];
  Varg a;
  va_start(a.ap, fmt);
  run(e, op, out, 1, fmt, &a);
  va_end(a.ap);
  return out[0];
}

void dt_emit_n (DtEmit *e, const char *op, DtHandle **out, int n,
                const char *fmt, ...) {
  Varg a;
  va_start(a.ap, fmt);
  run(e, op, out, n, fmt, &a);
  va_end(a.ap);
}

bool dt_emit_told (DtEmit *e, const char *op, DtHandle *a, DtHandle *b, double x,
                   double y, bool by_default) {
  DtValue v[4] = { dt_v_slot(0), dt_v_slot(1), dt_v_float(x), dt_v_float(y) };
  DtValue told = dt_v_none();
  DtHandle *in[2] = { a, b };
  DtOutputs got = { NULL, 0, 0, &told };
  if (e->st == DT_OK)
    e->st = e->vt->call(e, op, &(DtGiven){ .npos = 4, .pos = v }, 2, in, &got);
  return told.kind == DT_V_BOOL ? told.u.b : by_default;
}

const DtMeta *dt_emit_meta (DtEmit *e, const DtHandle *h) {
  static const DtMeta zero;
  if (e->st != DT_OK || h == NULL) return &zero;
  return e->vt->meta(e, h);
}

int dt_emit_marks (DtEmit *e, const DtHandle *h) {
  if (e->st != DT_OK || h == NULL || e->vt->marks == NULL) return 0;
  return e->vt->marks(e, h);
}

bool dt_emit_ok (const DtEmit *e) { return e->st == DT_OK; }

bool dt_emit_has_data (DtEmit *e, const DtHandle *h) {
  return e->st == DT_OK && h != NULL && e->vt->has_data != NULL &&
         e->vt->has_data(e, h);
}

DtStatus dt_emit_item (DtEmit *e, DtHandle *h, int64_t *out) {
  DtValue v;
  *out = 0;
  if (e->st != DT_OK) return e->st;
  DT_CHECK(e->cx, e->vt->item != NULL && h != NULL, DT_E_META_NO_DATA,
           "the value of a tensor that is only propagated cannot be read");
  DT_TRY(e->cx, e->vt->item(e, h, &v));
  if (v.kind == DT_V_FLOAT && v.u.f >= -0x1p63 && v.u.f < 0x1p63 &&
      !(v.u.f < (double)(int64_t)v.u.f) && !(v.u.f > (double)(int64_t)v.u.f))
    *out = (int64_t)v.u.f;
  else if (v.kind == DT_V_INT || v.kind == DT_V_BOOL)
    *out = v.kind == DT_V_INT ? v.u.i : v.u.b;
  else
    return dt_raise(e->cx, DT_E_VALUE, "the value of a tensor that counts "
                    "something must be a whole number");
  return DT_OK;
}
