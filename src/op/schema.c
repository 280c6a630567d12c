/* SPDX-License-Identifier: MIT
** op/schema.c: PyTorch's schema strings, parsed into tables.
**
** A reader by recursive descent over one line of text; positions in errors
** are columns.  It reads what PyTorch prints for its own operators (str of a
** schema) and what users write in library.define; types without a meaning
** here become DT_T_ANY and accept anything.  Binding values is bind.c's. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "op/schema.h"

typedef struct Reader {
  DtCtx *cx;
  DtArena *arena;
  const char *text, *p;
} Reader;

static DtStatus bad (Reader *r, const char *wanted) {
  return dt_raise(r->cx, DT_E_PARSE, "schema \"%s\": expected %s at column %d",
                  r->text, wanted, (int)(r->p - r->text) + 1);
}

static void skip (Reader *r) {
  while (*r->p == ' ' || *r->p == '\n' || *r->p == '\t') r->p++;
}

static bool take (Reader *r, const char *s) {
  size_t n = strlen(s);
  skip(r);
  if (strncmp(r->p, s, n) != 0) return false;
  r->p += n;
  return true;
}

static DtStatus word (Reader *r, const char *wanted, char **out) {
  const char *p;
  size_t n;
  skip(r);
  for (p = r->p; isalnum((unsigned char)*p) || *p == '_'; p++) {}
  n = (size_t)(p - r->p);
  if (n == 0) return bad(r, wanted);
  *out = (char *)dt_arena_alloc(r->cx, r->arena, n + 1);
  if (*out == NULL) return DT_E_NOMEM;
  memcpy(*out, r->p, n);
  r->p = p;
  return DT_OK;
}

/* ---- types ---- */

static DtType type_of (const char *name) {
  static const struct { const char *name; DtType t; } types[] = {
    { "Tensor", DT_T_TENSOR }, { "Scalar", DT_T_SCALAR },
    { "number", DT_T_SCALAR }, { "int", DT_T_INT }, { "SymInt", DT_T_INT },
    { "float", DT_T_FLOAT }, { "SymFloat", DT_T_FLOAT },
    { "bool", DT_T_BOOL }, { "SymBool", DT_T_BOOL }, { "str", DT_T_STR },
    { "ScalarType", DT_T_DTYPE }, { "Device", DT_T_DEVICE },
    { "Layout", DT_T_LAYOUT }, { "MemoryFormat", DT_T_MEMFMT },
    { "Generator", DT_T_GENERATOR }, { "complex", DT_T_COMPLEX },
    { "Storage", DT_T_STORAGE }, { "Dimname", DT_T_DIMNAME }
  };
  size_t i;
  for (i = 0; i < sizeof types / sizeof types[0]; i++)
    if (strcmp(types[i].name, name) == 0) return types[i].t;
  return DT_T_ANY;
}

/* "(a)", "(a!)", "(a -> *)", "(a|b)" after a type. */
static DtStatus alias (Reader *r, DtArgDef *d) {
  if (*r->p != '(') return DT_OK;
  d->alias = true;
  d->alias_set = r->p[1];
  for (r->p++; *r->p != ')' && *r->p != '\0'; r->p++)
    if (*r->p == '!') d->write = true;
  if (*r->p != ')') return bad(r, "\")\"");
  r->p++;
  return DT_OK;
}

/* A type and what follows it: "?" before "[" belongs to the elements, behind
** it to the list. */
static DtStatus read_type (Reader *r, DtArgDef *d) {
  char *name;
  DT_TRY(r->cx, word(r, "a type", &name));
  d->type = (uint8_t)type_of(name);
  DT_TRY(r->cx, alias(r, d));
  for (;;) {
    if (*r->p == '?') {
      r->p++;
      d->opt = true;
    } else if (*r->p == '[') {
      char *end;
      d->list = true;
      d->elem_opt = d->opt;
      d->opt = false;
      d->fixed = (int)strtol(r->p + 1, &end, 10);
      if (*end != ']') { r->p = end; return bad(r, "\"]\""); }
      r->p = end + 1;
    } else if (*r->p == '(') {
      DT_TRY(r->cx, alias(r, d));
    } else {
      return DT_OK;
    }
  }
}

/* ---- defaults ---- */

static DtStatus quoted (Reader *r, DtValue *out) {
  char q = *r->p++;
  const char *end = strchr(r->p, q);
  size_t n;
  char *s;
  if (end == NULL) return bad(r, "the closing quote");
  n = (size_t)(end - r->p);
  s = (char *)dt_arena_alloc(r->cx, r->arena, n + 1);
  if (s == NULL) return DT_E_NOMEM;
  memcpy(s, r->p, n);
  r->p = end + 1;
  *out = dt_v_str(s);
  return DT_OK;
}

static DtStatus number (Reader *r, DtValue *out) {
  char *end;
  const char *p;
  bool real = false;
  double f = strtod(r->p, &end);
  if (end == r->p) return bad(r, "a default value");
  for (p = r->p; p < end; p++)
    if (strchr(".eEin", *p) != NULL) real = true;
  *out = real ? dt_v_float(f) : dt_v_int(strtoll(r->p, NULL, 10));
  r->p = end;
  return DT_OK;
}

static DtStatus named_value (Reader *r, const char *w, DtValue *out) {
  if (strcmp(w, "None") == 0) *out = dt_v_none();
  else if (strcmp(w, "True") == 0) *out = dt_v_bool(true);
  else if (strcmp(w, "False") == 0) *out = dt_v_bool(false);
  else if (strcmp(w, "inf") == 0 || strcmp(w, "nan") == 0)
    *out = dt_v_float(strtod(w, NULL));
  else if (strcmp(w, "Mean") == 0) *out = dt_v_int(1);
  else if (strcmp(w, "Sum") == 0) *out = dt_v_int(2);
  else if (strcmp(w, "strided") == 0)
    *out = dt_v_code(DT_V_LAYOUT, DT_LAYOUT_STRIDED);
  else if (dt_memfmt_find(w) != DT_NMEMFMTS)
    *out = dt_v_code(DT_V_MEMFMT, dt_memfmt_find(w));
  else if (dt_dtype_find(w) != DT_DTYPE_NONE)
    *out = dt_v_dtype(dt_dtype_find(w));
  else return bad(r, "a default value before it");
  return DT_OK;
}

enum { MAX_DEFAULT_LIST = 32 };

static DtStatus read_value (Reader *r, DtValue *out, int depth);

static DtStatus read_list (Reader *r, DtValue *out, int depth) {
  DtValue v[MAX_DEFAULT_LIST], *copy;
  int n = 0;
  if (depth > 4) return bad(r, "a flatter list");
  while (!take(r, "]")) {
    if (n > 0 && !take(r, ",")) return bad(r, "\",\" or \"]\"");
    if (n == MAX_DEFAULT_LIST) return bad(r, "a shorter list");
    DT_TRY(r->cx, read_value(r, &v[n++], depth + 1));
  }
  copy = DT_ANEWN(r->cx, r->arena, DtValue, n + 1);
  if (copy == NULL) return DT_E_NOMEM;
  if (n > 0) memcpy(copy, v, (size_t)n * sizeof *v);
  *out = dt_v_list(n, copy);
  return DT_OK;
}

static DtStatus read_value (Reader *r, DtValue *out, int depth) {
  char *w;
  skip(r);
  if (*r->p == '"' || *r->p == '\'') return quoted(r, out);
  if (take(r, "[")) return read_list(r, out, depth);
  if (isalpha((unsigned char)*r->p)) {
    DT_TRY(r->cx, word(r, "a default value", &w));
    return named_value(r, w, out);
  }
  return number(r, out);
}

/* A default as its type wants it: int[2] a=1 is [1, 1], Layout l=0, ... */
static DtStatus fit_default (Reader *r, DtArgDef *d) {
  DtValue *v = &d->dflt;
  int i, n = d->fixed;
  if (d->list && n > 0 && v->kind != DT_V_LIST && v->kind != DT_V_NONE) {
    DtValue *e = DT_ANEWN(r->cx, r->arena, DtValue, n);
    if (e == NULL) return DT_E_NOMEM;
    for (i = 0; i < n; i++) e[i] = *v;
    *v = dt_v_list(n, e);
  } else if (!d->list && v->kind == DT_V_INT) {
    switch (d->type) {
      case DT_T_FLOAT: *v = dt_v_float((double)v->u.i); break;
      case DT_T_DTYPE: v->kind = DT_V_DTYPE; break;
      case DT_T_LAYOUT: v->kind = DT_V_LAYOUT; break;
      case DT_T_MEMFMT: v->kind = DT_V_MEMFMT; break;
      default: break;
    }
  } else if (d->type == DT_T_DEVICE && v->kind == DT_V_STR) {
    *v = dt_v_code(DT_V_DEVICE, dt_device_find(v->u.s));
  }
  return DT_OK;
}

/* ---- arguments, returns, names ---- */

static DtStatus read_arg (Reader *r, bool kwonly, DtSchema *s) {
  DtArgDef *d;
  char *name;
  if (s->nargs == DT_MAX_ARGS) return bad(r, "fewer arguments");
  d = &s->arg[s->nargs];
  d->kwonly = kwonly;
  DT_TRY(r->cx, read_type(r, d));
  DT_TRY(r->cx, word(r, "an argument name", &name));
  d->name = name;
  if (*r->p == '[' || *r->p == '?') return bad(r, "\",\" or \")\"");
  if (take(r, "=")) {
    d->has_default = true;
    DT_TRY(r->cx, read_value(r, &d->dflt, 0));
    DT_TRY(r->cx, fit_default(r, d));
  }
  if (dt_schema_arg(s, name) >= 0) return bad(r, "another argument name before");
  s->nargs++;
  s->nkwonly += kwonly;
  return DT_OK;
}

static DtStatus read_args (Reader *r, DtSchema *s) {
  bool kwonly = false;
  if (!take(r, "(")) return bad(r, "\"(\"");
  if (take(r, ")")) return DT_OK;
  do {
    if (take(r, "*")) {
      if (kwonly) return bad(r, "one \"*\" only");
      kwonly = true;
    } else {
      DT_TRY(r->cx, read_arg(r, kwonly, s));
    }
  } while (take(r, ","));
  return take(r, ")") ? DT_OK : bad(r, "\",\" or \")\"");
}

static DtStatus read_ret (Reader *r, DtSchema *s) {
  DtArgDef d;
  DtRetDef *t;
  char *name;
  memset(&d, 0, sizeof d);
  if (s->nrets == (int)(sizeof s->ret / sizeof s->ret[0]))
    return bad(r, "fewer results");
  DT_TRY(r->cx, read_type(r, &d));
  t = &s->ret[s->nrets++];
  t->type = d.type;
  t->list = d.list;
  t->alias = d.alias;
  t->write = d.write;
  t->alias_set = d.alias_set;
  skip(r);
  if (*r->p != ',' && *r->p != ')' && *r->p != '\0') {
    DT_TRY(r->cx, word(r, "a result name", &name));
    t->name = name;
  }
  return DT_OK;
}

static DtStatus read_rets (Reader *r, DtSchema *s) {
  if (!take(r, "->")) return bad(r, "\"->\"");
  if (take(r, "(")) {
    if (take(r, ")")) return DT_OK;
    do
      DT_TRY(r->cx, read_ret(r, s));
    while (take(r, ","));
    return take(r, ")") ? DT_OK : bad(r, "\",\" or \")\"");
  }
  return read_ret(r, s);
}

static DtStatus read_name (Reader *r, DtSchema *s) {
  char *ns, *base, *overload = NULL;
  DT_TRY(r->cx, word(r, "a namespace", &ns));
  if (!take(r, "::")) return bad(r, "\"::\"");
  DT_TRY(r->cx, word(r, "an operator name", &base));
  if (take(r, "."))
    DT_TRY(r->cx, word(r, "an overload name", &overload));
  s->ns = ns;
  s->base = base;
  s->overload = overload != NULL ? overload : "default";
  s->full = dt_arena_printf(r->cx, r->arena, "%s.%s.%s", ns, base,
                            s->overload);
  s->text = dt_arena_strdup(r->cx, r->arena, r->text);
  if (s->full == NULL || s->text == NULL) return DT_E_NOMEM;
  s->inplace = base[strlen(base) - 1] == '_';
  s->is_out = strstr(s->overload, "out") != NULL;
  return DT_OK;
}

DtStatus dt_schema_parse (DtCtx *cx, DtArena *arena, const char *text,
                          DtSchema **out) {
  Reader r = { cx, arena, text, text };
  DtSchema *s = DT_ANEWN(cx, arena, DtSchema, 1);
  if (s == NULL) return DT_E_NOMEM;
  DT_TRY(cx, read_name(&r, s));
  DT_TRY(cx, read_args(&r, s));
  DT_TRY(cx, read_rets(&r, s));
  skip(&r);
  if (*r.p != '\0') return bad(&r, "the end");
  for (int i = 0; i < s->nargs; i++)
    if (s->arg[i].kwonly && s->arg[i].write) s->writes_out = true;
  s->returns_list = s->nrets == 1 && s->ret[0].list &&
                    s->ret[0].type == DT_T_TENSOR;
  *out = s;
  return DT_OK;
}

int dt_schema_arg (const DtSchema *s, const char *name) {
  int i;
  for (i = 0; i < s->nargs; i++)
    if (strcmp(s->arg[i].name, name) == 0) return i;
  return -1;
}

/* TorchScript's names of types, as its errors print them. */
void dt_schema_print_type (const DtArgDef *d, DtBuf *b) {
  static const char *const names[] = {
    "Tensor", "number", "int", "float", "bool", "str", "int", "Device", "int",
    "int", "Generator", "complex", "Storage", "str", "t"
  };
  if (d->opt) dt_buf_add(b, "Optional[");
  if (d->list) dt_buf_add(b, "List[");
  if (d->elem_opt) dt_buf_add(b, "Optional[");
  dt_buf_add(b, names[d->type]);
  if (d->elem_opt) dt_buf_addc(b, ']');
  if (d->list) dt_buf_addc(b, ']');
  if (d->opt) dt_buf_addc(b, ']');
}
