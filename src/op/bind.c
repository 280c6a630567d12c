/* SPDX-License-Identifier: MIT
** op/bind.c: values to the arguments of one overload.
**
** Errors are those of torch.ops.<ns>.<op>.<overload>(...), which is what a
** call of one overload is, and of torch.ops.<ns>.<op>(...), which lists those
** of all; the errors of torch.<op>(...) are argparse.c's.
** One routine walks the schema; given no context it only answers whether the
** values fit, which is how overloads are tried. */
#include <string.h>
#include "op/bind_int.h"
#include "op/registry.h"

/* ---- does a value fit ---- */

/* Operators whose tensor arguments also take Python numbers.  Semantics:
** should_allow_numbers_as_tensors in python_arg_parser.cpp; `to` and
** `_to_copy`, whose tensor would be that number, take none here. */
bool dt_bind_wraps (const DtSchema *s) {
  static const char *const names[] = {
    "add", "sub", "subtract", "mul", "multiply", "div", "divide",
    "true_divide", "floor_divide"
  };
  static const char *const others[] = { "copy_", "copy" };
  size_t i, n = strlen(s->base);
  if (n > 0 && s->base[n - 1] == '_') n--;
  for (i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strlen(names[i]) == n && strncmp(names[i], s->base, n) == 0)
      return true;
  for (i = 0; i < sizeof others / sizeof others[0]; i++)
    if (strcmp(others[i], s->base) == 0) return true;
  return false;
}

static bool is_number (const DtValue *v) {
  return v->kind >= DT_V_BOOL && v->kind <= DT_V_COMPLEX;
}

static bool device_fits (const DtValue *v) {
  if (v->kind == DT_V_STR) return dt_device_find(v->u.s) != DT_NDEVICES;
  return v->kind == DT_V_DEVICE;
}

/* One element, the list and None aside. */
static bool elem_fits (const DtArgDef *d, const DtValue *v, bool wrap) {
  switch (d->type) {
    case DT_T_TENSOR: return v->kind == DT_V_TENSOR || (wrap && is_number(v));
    case DT_T_SCALAR: case DT_T_COMPLEX: return is_number(v);
    case DT_T_INT: return v->kind == DT_V_INT || v->kind == DT_V_BOOL;
    case DT_T_FLOAT:
      return v->kind == DT_V_FLOAT || v->kind == DT_V_INT ||
             v->kind == DT_V_BOOL;
    case DT_T_BOOL: return v->kind == DT_V_BOOL;
    case DT_T_STR: case DT_T_DIMNAME: return v->kind == DT_V_STR;
    case DT_T_DTYPE: return v->kind == DT_V_DTYPE;
    case DT_T_DEVICE: return device_fits(v);
    case DT_T_LAYOUT:
      return v->kind == DT_V_LAYOUT || (v->kind == DT_V_STR &&
             dt_layout_find(v->u.s) != DT_NLAYOUTS);
    case DT_T_MEMFMT:
      return v->kind == DT_V_MEMFMT || (v->kind == DT_V_STR &&
             dt_memfmt_find(v->u.s) != DT_NMEMFMTS);
    case DT_T_GENERATOR: return v->kind == DT_V_GENERATOR;
    default: return true;
  }
}

int dt_bind_misfit (const DtArgDef *d, const DtValue *v) {
  int i;
  for (i = 0; i < v->u.list.n; i++) {
    const DtValue *e = &v->u.list.v[i];
    if (e->kind == DT_V_NONE ? !d->elem_opt : !elem_fits(d, e, false))
      return i;
  }
  return -1;
}

bool dt_schema_fits (const DtArgDef *d, const DtValue *v, bool wrap) {
  if (v->kind == DT_V_NONE) return d->opt || d->type == DT_T_ANY;
  if (!d->list) return v->kind != DT_V_LIST ? elem_fits(d, v, wrap)
                                            : d->type == DT_T_ANY;
  if (v->kind == DT_V_LIST) return dt_bind_misfit(d, v) < 0;
  return d->fixed > 0 && d->type != DT_T_TENSOR && d->type != DT_T_BOOL &&
         elem_fits(d, v, false);
}

/* A list that is empty by default is None by default in Python. */
static bool is_default (const DtArgDef *d, const DtValue *v) {
  return v->kind == DT_V_NONE && d->list && !d->opt && d->has_default &&
         d->dflt.kind == DT_V_LIST && d->dflt.u.list.n == 0;
}

bool dt_bind_fits (const DtBindCall *c, const DtArgDef *d, const DtValue *v,
                   bool wrap) {
  if (c->python && is_default(d, v)) return true;
  if (c->python && d->type == DT_T_INT && v->kind == DT_V_BOOL) return false;
  return dt_schema_fits(d, v, wrap);
}

/* ---- storing ---- */

/* The value in the form readers expect. */
static DtValue settle (const DtArgDef *d, const DtValue *v) {
  if (is_default(d, v)) return d->dflt;
  if (v->kind == DT_V_STR && d->type == DT_T_DEVICE)
    return dt_v_code(DT_V_DEVICE, dt_device_find(v->u.s));
  if (v->kind == DT_V_STR && d->type == DT_T_LAYOUT)
    return dt_v_code(DT_V_LAYOUT, dt_layout_find(v->u.s));
  if (v->kind == DT_V_STR && d->type == DT_T_MEMFMT)
    return dt_v_code(DT_V_MEMFMT, dt_memfmt_find(v->u.s));
  if (d->type == DT_T_INT && v->kind == DT_V_BOOL) return dt_v_int(v->u.b);
  if (d->type == DT_T_FLOAT && !d->list && v->kind == DT_V_INT)
    return dt_v_float((double)v->u.i);
  if (d->type == DT_T_FLOAT && !d->list && v->kind == DT_V_BOOL)
    return dt_v_float(v->u.b);
  return *v;
}

static void count_slot (void *ud, int *slot) {
  int *n = (int *)ud;
  if (*slot >= *n) *n = *slot + 1;
}

static void args_start (const DtSchema *s, int npos, DtArgs *out) {
  out->schema = s;
  out->n = s->nargs;
  out->npos = npos;
  out->given = 0;
  out->nslots = 0;
}

static void args_set (const DtSchema *s, int i, const DtValue *v,
                      DtArgs *out) {
  out->v[i] = settle(&s->arg[i], v);
  out->given |= UINT32_C(1) << i;
  dt_value_slots(&out->v[i], count_slot, &out->nslots);
}

/* ---- torch.ops' errors ---- */

/* What pybind11 adds: numbers and tensors have casters with words. */
static void cast_details (DtBuf *b, const DtSchema *s, int i,
                          const DtValue *v, const char *seen,
                          const char *value) {
  DtType t = s->arg[i].type;
  bool list = s->arg[i].list;
  if (list && !s->arg[i].opt && t != DT_T_TENSOR) return;
  dt_buf_add(b, "\nCast error details: ");
  if (!list && t == DT_T_SCALAR)
    dt_buf_addf(b, "Cannot cast %s to number", value);
  else if (!list && t == DT_T_TENSOR)
    dt_buf_addf(b, "Unable to cast %s to Tensor", value);
  else
    dt_buf_addf(b, "Unable to cast Python instance of type <class '%s%s'> to "
                "C++ type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES or "
                "compile in debug mode for details)",
                v->kind >= DT_V_DTYPE && v->kind != DT_V_LIST ? "torch." : "",
                seen);
}

static DtStatus raise_type (DtCtx *cx, const DtSchema *s, int i,
                            const DtValue *v) {
  DtBuf type, value, more;
  bool list = v->kind == DT_V_LIST, str = v->kind == DT_V_STR;
  const char *seen = list && v->py == 0 ? "list" : dt_value_pytype(v);
  if (strncmp(seen, "torch.", 6) == 0) seen += 6;
  DtStatus st;
  dt_buf_init(&type, cx);
  dt_buf_init(&value, cx);
  dt_schema_print_type(&s->arg[i], &type);
  dt_value_print(v, NULL, NULL, &value);
  dt_buf_init(&more, cx);
  cast_details(&more, s, i, v, seen, dt_buf_str(&value));
  st = dt_raise_as(cx, DT_E_TYPE, "RuntimeError",
                   "%s::%s() Expected a value of type '%s' for argument '%s' "
                   "but instead found type '%s'.\nPosition: %d\n"
                   "Value: %s%s%s\nDeclaration: %s%s", s->ns, s->base,
                   dt_buf_str(&type), s->arg[i].name, seen, i, str ? "'" : "",
                   dt_buf_str(&value), str ? "'" : "", s->text, dt_buf_str(&more));
  dt_buf_fini(&more);
  dt_buf_fini(&type);
  dt_buf_fini(&value);
  return st;
}

static DtStatus raise_missing (DtCtx *cx, const DtSchema *s, int i) {
  return dt_raise_as(cx, DT_E_TYPE, "RuntimeError",
                     "%s::%s() is missing value for argument '%s'. "
                     "Declaration: %s", s->ns, s->base, s->arg[i].name,
                     s->text);
}

static DtStatus raise_many (DtCtx *cx, const DtSchema *s, int n) {
  return dt_raise_as(cx, DT_E_TYPE, "RuntimeError",
                     "%s::%s() expected at most %d argument(s) but received "
                     "%d argument(s). Declaration: %s", s->ns, s->base,
                     s->nargs, n, s->text);
}

static DtStatus raise_places (DtCtx *cx, const DtSchema *s, int n) {
  return dt_raise_as(cx, DT_E_TYPE, "RuntimeError",
                     "%s::%s() takes %d positional argument(s) but %d was/were "
                     "given.  Declaration: %s", s->ns, s->base,
                     s->nargs - s->nkwonly, n, s->text);
}

static DtStatus raise_twice (DtCtx *cx, const DtSchema *s, const char *name) {
  return dt_raise_as(cx, DT_E_TYPE, "RuntimeError",
                     "Argument '%s' specified both as positional and keyword "
                     "argument. Schema: %s", name, s->text);
}

/* None stands for a tensor that is not there: the kernel notices. */
static DtStatus raise_undefined (DtCtx *cx, const DtSchema *s, int i) {
  return dt_raise(cx, DT_E_RUNTIME, "Expected a proper Tensor but got None (or "
                  "an undefined Tensor in C++) for argument #%d '%s'", i,
                  s->arg[i].name);
}

static DtStatus raise_unknown (DtCtx *cx, const DtSchema *s,
                               const char *name) {
  return dt_raise_as(cx, DT_E_TYPE, "RuntimeError",
                     "Unknown keyword argument '%s' for operator '%s::%s'. "
                     "Schema: %s", name, s->ns, s->base, s->text);
}

/* ---- the walk ---- */

/* NumPy's names of arguments, which PyTorch's parser takes where its own is
** not given: numpy_compatibility_arg_names, torch/csrc/utils/
** python_arg_parser.cpp. */
static const struct { const char *name, *numpy; } numpy_names[] = {
  { "dim", "axis" }, { "keepdim", "keepdims" }, { "input", "x" },
  { "input", "a" }, { "input", "x1" }, { "other", "x2" }
};

static int find_kw (const DtBindCall *c, const char *name) {
  for (int k = 0; k < c->v.nkw; k++)
    if (strcmp(c->v.kwname[k], name) == 0) return k;
  return -1;
}

int dt_bind_kw (const DtBindCall *c, const char *name, int pos) {
  int k = find_kw(c, name);
  if (k >= 0 || !c->python || c->v.nkw == 0 || pos < 0) return k;
  if (strcmp(name, "self") == 0) {
    name = "input";
    k = find_kw(c, name);
  }
  for (size_t i = 0; k < 0 && i < sizeof numpy_names / sizeof *numpy_names; i++)
    if (strcmp(numpy_names[i].name, name) == 0)
      k = find_kw(c, numpy_names[i].numpy);
  return k;
}

/* bool[3] is an array of three: kernels read them all. */
static DtStatus exact_length (DtCtx *cx, const DtArgDef *d, const DtValue *v) {
  DT_CHECK(cx, !d->list || d->type != DT_T_BOOL || d->fixed <= 0 ||
           v->kind != DT_V_LIST || v->u.list.n == d->fixed, DT_E_RUNTIME,
           "Tried to convert a List with %d elements to a fixed-size array of "
           "size %d", v->u.list.n, d->fixed);
  return DT_OK;
}

/* None where a tensor is wanted. */
static bool undefined (const DtArgDef *d, const DtValue *v) {
  return v->kind == DT_V_NONE && d->type == DT_T_TENSOR && !d->opt &&
         !d->list;
}

static DtStatus bind_arg (DtCtx *cx, const DtSchema *s, const DtBindCall *c,
                          bool wrap, int i, int *used, DtArgs *out) {
  const DtArgDef *d = &s->arg[i];
  const DtValue *v;
  int k;
  if (i < c->v.npos && !d->kwonly) {
    v = &c->v.pos[i];
  } else if ((k = dt_bind_kw(c, d->name, i)) >= 0) {
    v = &c->v.kw[k];
    ++*used;
  } else if (d->has_default) {
    out->v[i] = d->dflt;
    return DT_OK;
  } else {
    return cx == NULL ? DT_E_TYPE : raise_missing(cx, s, i);
  }
  if (undefined(d, v) && !c->python) {
    if (cx != NULL) return raise_undefined(cx, s, i);
    if (!c->undefined) return DT_E_TYPE;
    return DT_OK;
  } else if (!dt_bind_fits(c, d, v, wrap)) {
    return cx == NULL ? DT_E_TYPE : raise_type(cx, s, i, v);
  }
  args_set(s, i, v, out);
  return cx == NULL ? DT_OK : exact_length(cx, &s->arg[i], v);
}

DtStatus dt_bind_try (DtCtx *cx, const DtSchema *s, const DtBindCall *c,
                      DtArgs *out) {
  bool wrap = dt_bind_wraps(s);
  int i, k, used = 0, npos = s->nargs - s->nkwonly;
  if (c->v.npos > npos || c->v.npos + c->v.nkw > s->nargs) {
    if (cx == NULL) return DT_E_TYPE;
    return c->v.npos + c->v.nkw > s->nargs ? raise_many(cx, s, c->v.npos + c->v.nkw)
                                       : raise_places(cx, s, c->v.npos);
  }
  args_start(s, c->v.npos, out);
  for (i = 0; i < s->nargs; i++) {
    DtStatus st = bind_arg(cx, s, c, wrap, i, &used, out);
    if (st != DT_OK) return st;
  }
  if (used == c->v.nkw) return DT_OK;
  if (cx == NULL) return DT_E_TYPE;
  for (k = 0; k < c->v.nkw; k++) {
    int a = dt_schema_arg(s, c->v.kwname[k]);
    if (a >= 0 && a < c->v.npos) return raise_twice(cx, s, c->v.kwname[k]);
    if (a < 0) return raise_unknown(cx, s, c->v.kwname[k]);
  }
  return raise_unknown(cx, s, c->v.kwname[0]);
}

DtStatus dt_schema_bind (DtCtx *cx, const DtSchema *s, const DtGiven *given,
                         DtArgs *out) {
  DtBindCall c = { .v = *given };
  return dt_bind_try(cx, s, &c, out);
}

/* ---- torch.ops.<ns>.<op>(...) ---- */

/* What each overload says against the call, in turn. */
static DtStatus raise_every (DtCtx *cx, const DtPacket *p,
                             const DtBindCall *c, DtArgs *args) {
  DtBuf b;
  DtStatus st;
  dt_buf_init(&b, cx);
  dt_buf_add(&b, "Overloaded torch operator invoked from Python failed to "
             "match any schema:\n");
  for (int i = 0; i < p->n; i++) {
    if (dt_bind_try(cx, p->op[i]->sig, c, args) == DT_OK) continue;
    dt_buf_addf(&b, "%s\n\n", dt_buf_str(&cx->err.message));
    dt_error_clear(cx);
  }
  st = dt_buf_ok(&b);
  if (st == DT_OK)
    st = dt_raise_as(cx, DT_E_TYPE, "RuntimeError", "%s", dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}

DtStatus dt_packet_resolve_ops (DtCtx *cx, const DtPacket *p,
                                const DtGiven *given, const DtOpDef **op,
                                DtArgs *args) {
  DtBindCall c = { .v = *given };
  for (int i = 0; i < p->n; i++)
    if (dt_bind_try(NULL, p->op[i]->sig, &c, args) == DT_OK) {
      *op = p->op[i];
      return DT_OK;
    }
  c.undefined = true;
  for (int i = 0; i < p->n; i++)
    if (dt_bind_try(NULL, p->op[i]->sig, &c, args) == DT_OK)
      return dt_bind_try(cx, p->op[i]->sig, &c, args);
  c.undefined = false;
  if (p->n == 1) return dt_bind_try(cx, p->op[0]->sig, &c, args);
  return raise_every(cx, p, &c, args);
}
