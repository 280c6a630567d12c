/* SPDX-License-Identifier: MIT
** op/argparse.c: which overload a call means, the order they are tried in,
** and the errors of torch.<op>(...).
**
** PyTorch's Python functions are generated from the schemas: an out= overload
** is folded into the one it extends, the rest are sorted by a partial order
** of their types (a Scalar form after its Tensor form) and tried in turn.
** When nothing fits, the text is about one signature if only one has room for
** that number of arguments, else all of them are listed.
** Semantics: python_arg_parser.cpp and gen_python_functions.py, 2.13. */
#include <string.h>
#include "op/bind_int.h"
#include "op/registry_int.h"

/* ---- order ---- */

static bool is_list_of_int (const DtArgDef *d) {
  return d->list && !d->opt && d->type == DT_T_INT;
}

static bool same_type (const DtArgDef *a, const DtArgDef *b) {
  return a->type == b->type && a->list == b->list && a->opt == b->opt &&
         a->fixed == b->fixed;
}

static bool smaller_type (const DtArgDef *a, const DtArgDef *b) {
  if (a->type == DT_T_SCALAR && b->type == DT_T_TENSOR)
    return !a->list && !b->list && a->opt == b->opt;
  return is_list_of_int(a) && !b->list && b->type == DT_T_INT;
}

static int inputs (const DtSchema *s) {
  int i, n = 0;
  for (i = 0; i < s->nargs; i++) n += !(s->arg[i].kwonly && s->arg[i].write);
  return n;
}

static bool smaller (const DtSchema *a, const DtSchema *b) {
  int i, n = inputs(a);
  bool equal = true;
  if (n != inputs(b)) return false;
  for (i = 0; i < n; i++) {
    if (same_type(&a->arg[i], &b->arg[i])) continue;
    if (!smaller_type(&a->arg[i], &b->arg[i])) return false;
    equal = false;
  }
  return !equal;
}

/* A signature as PyTorch's argument parser prints it in "the following
** signatures" errors; `names` follows the enum of types. */
static void sort_text (const DtSchema *s, DtBuf *b) {
  static const char *const names[] = {
    "Tensor", "Scalar", "int64_t", "double", "bool", "c10::string_view",
    "ScalarType", "Device", "Layout", "MemoryFormat", "Generator",
    "complex", "Storage", "Dimname", "any"
  };
  int i;
  bool star = false;
  for (i = 0; i < s->nargs; i++) {
    const DtArgDef *d = &s->arg[i];
    if (i > 0) dt_buf_add(b, ", ");
    if (d->kwonly && !star) {
      dt_buf_add(b, "*, ");
      star = true;
    }
    if (d->list && d->type == DT_T_INT) dt_buf_add(b, "IntArrayRef");
    else if (d->list && d->type == DT_T_TENSOR) dt_buf_add(b, "TensorList");
    else dt_buf_add(b, names[d->type]);
    if (d->fixed > 0) dt_buf_addf(b, "[%d]", d->fixed);
    if (d->opt) dt_buf_addc(b, '?');
    dt_buf_addf(b, " %s", d->name);
    if (d->has_default) dt_buf_addc(b, '=');
  }
}

/* Is `o` the overload `s` with out arguments? */
static bool extends (const DtSchema *o, const DtSchema *s) {
  int i, n = inputs(o);
  if (n == o->nargs || n != s->nargs || inputs(s) != s->nargs) return false;
  for (i = 0; i < n; i++)
    if (!same_type(&o->arg[i], &s->arg[i])) return false;
  return true;
}

static void insertion_sort (int n, const DtOpDef **op, DtBuf *key) {
  int i, j;
  for (i = 1; i < n; i++)
    for (j = i; j > 0 && strcmp(dt_buf_str(&key[j]),
                                dt_buf_str(&key[j - 1])) < 0; j--) {
      DtBuf k = key[j];
      const DtOpDef *t = op[j];
      key[j] = key[j - 1];
      key[j - 1] = k;
      op[j] = op[j - 1];
      op[j - 1] = t;
    }
}

/* Repeatedly take, in list order, everything whose larger ones are gone. */
static void topological (int n, const DtOpDef *const *in,
                         const DtOpDef **out) {
  bool done[DT_MAX_OVERLOADS] = { false };
  int nout = 0, i, j;
  while (nout < n) {
    int before = nout;
    bool now[DT_MAX_OVERLOADS] = { false };
    for (i = 0; i < n; i++) {
      bool wait = false;
      if (done[i]) continue;
      for (j = 0; j < n; j++)
        if (!done[j] && j != i && smaller(in[i]->sig, in[j]->sig)) wait = true;
      if (!wait) now[i] = true;
    }
    for (i = 0; i < n; i++)
      if (now[i]) {
        done[i] = true;
        out[nout++] = in[i];
      }
    if (nout == before) return;
  }
}

DtStatus dt_packet_sort (DtCtx *cx, int n, const DtOpDef **op) {
  DtBuf key[DT_MAX_OVERLOADS];
  const DtOpDef *sorted[DT_MAX_OVERLOADS];
  DtStatus st = DT_OK;
  int i;
  for (i = 0; i < n; i++) {
    dt_buf_init(&key[i], cx);
    sort_text(op[i]->sig, &key[i]);
    if (st == DT_OK) st = dt_buf_ok(&key[i]);
  }
  if (st == DT_OK) {
    insertion_sort(n, op, key);
    topological(n, op, sorted);
    memcpy(op, sorted, (size_t)n * sizeof *op);
  }
  for (i = 0; i < n; i++) dt_buf_fini(&key[i]);
  return st;
}

/* ---- signatures in error texts ---- */

typedef struct Sig {
  const DtSchema *s;
  const DtSchema *out;          /* the out= overload folded in, or NULL */
} Sig;

static int sig_nouts (const Sig *g) {
  return g->out == NULL ? 0 : g->out->nargs - inputs(g->out);
}

static int sig_min (const Sig *g) {
  int i, n = 0;
  for (i = 0; i < g->s->nargs; i++) n += !g->s->arg[i].has_default;
  return n;
}

static int sig_max (const Sig *g) {
  return g->s->nargs + (g->out != NULL);
}

static const char *type_word (DtType type, bool list) {
  static const char *const names[] = {
    "Tensor", "Number", "int", "float", "bool", "str", "torch.dtype",
    "torch.device", "torch.layout", "torch.memory_format", "torch.Generator",
    "complex", "torch.Storage", "name", "object"
  };
  static const char *const plurals[] = {
    "tuple of Tensors", "tuple of Scalars", "tuple of ints",
    "tuple of floats", "tuple of bools", "tuple of strs"
  };
  return list && type < sizeof plurals / sizeof plurals[0] ? plurals[type]
                                                           : names[type];
}

static void type_name (const DtArgDef *d, DtBuf *b) {
  dt_buf_add(b, type_word(d->type, d->list));
}

static const char *shown_name (const DtSchema *s, int i) {
  const DtArgDef *d = &s->arg[i];
  return i == 0 && d->type == DT_T_TENSOR && !d->list &&
         strcmp(d->name, "self") == 0
         ? "input" : d->name;
}

/* A default as the declaration has it: one number for a list of fixed size,
** the name of a reduction. */
static void print_default (const DtArgDef *d, DtBuf *b) {
  const DtValue *v = &d->dflt;
  bool same = v->kind == DT_V_LIST && d->fixed > 0 && v->u.list.n > 0;
  for (int i = 1; same && i < v->u.list.n; i++)
    same = dt_value_equal(&v->u.list.v[0], &v->u.list.v[i]);
  if (same) v = &v->u.list.v[0];
  if (v->kind == DT_V_STR)
    dt_buf_addf(b, "\"%s\"", v->u.s);
  else if (v->kind == DT_V_INT && v->u.i == 1 &&
           strcmp(d->name, "reduction") == 0)
    dt_buf_add(b, "at::Reduction::Mean");
  else
    dt_value_print(v, NULL, NULL, b);
}

static void print_sig (const Sig *g, DtBuf *b) {
  int i, nouts = sig_nouts(g);
  bool star = false;
  dt_buf_add(b, " * (");
  for (i = 0; i < g->s->nargs; i++) {
    const DtArgDef *d = &g->s->arg[i];
    if (i > 0) dt_buf_add(b, ", ");
    if (d->kwonly && !star) dt_buf_add(b, "*, ");
    star = star || d->kwonly;
    type_name(d, b);
    dt_buf_addf(b, " %s", shown_name(g->s, i));
    if (d->has_default) {
      dt_buf_add(b, " = ");
      print_default(d, b);
    }
  }
  if (nouts > 0)
    dt_buf_addf(b, "%s%s%s out = None", i > 0 ? ", " : "", star ? "" : "*, ",
                nouts > 1 ? "tuple of Tensors" : "Tensor");
  dt_buf_add(b, ")\n");
}

static DtStatus raise_buf (DtCtx *cx, DtBuf *b) {
  DtStatus st = dt_buf_ok(b);
  if (st == DT_OK) st = dt_raise(cx, DT_E_TYPE, "%s", dt_buf_str(b));
  dt_buf_fini(b);
  return st;
}

static DtStatus raise_list (DtCtx *cx, const DtPacket *p, int n,
                            const Sig *sig, const DtBindCall *c) {
  DtBuf b;
  int i;
  dt_buf_init(&b, cx);
  dt_buf_addf(&b, "%s() received an invalid combination of arguments - got (",
              p->base);
  dt_bind_print_got(c, &b);
  dt_buf_add(&b, "), but expected one of:\n");
  for (i = 0; i < n; i++) print_sig(&sig[i], &b);
  return raise_buf(cx, &b);
}

/* ---- errors about one signature ---- */

static DtStatus raise_count (DtCtx *cx, const Sig *g, const DtBindCall *c) {
  int n = c->v.npos - c->self, min = sig_min(g) - c->self;
  int max = g->s->nargs - g->s->nkwonly - c->self;
  if (min != max)
    return dt_raise(cx, DT_E_TYPE, "%s() takes from %d to %d positional "
                    "arguments but %d were given", g->s->base, min, max, n);
  return dt_raise(cx, DT_E_TYPE, "%s() takes %d positional argument%s but %d "
                  "%s given", g->s->base, max, max == 1 ? "" : "s", n,
                  n == 1 ? "was" : "were");
}

/* The plural is the wrong way round there too, and what comes after the first
** missing one is counted though it is given. */
static DtStatus raise_missing (DtCtx *cx, const Sig *g, int i) {
  DtBuf b, names;
  int n = 0;
  dt_buf_init(&names, cx);
  for (; i < g->s->nargs; i++) {
    const DtArgDef *d = &g->s->arg[i];
    if (d->has_default) continue;
    dt_buf_addf(&names, "%s\"%s\"", n > 0 ? ", " : "", shown_name(g->s, i));
    n++;
  }
  dt_buf_init(&b, cx);
  dt_buf_addf(&b, "%s() missing %d required positional argument%s: %s",
              g->s->base, n, n == 1 ? "s" : "", dt_buf_str(&names));
  dt_buf_fini(&names);
  return raise_buf(cx, &b);
}

/* `pos`: its number among those given by position; 0: given by name. */
static DtStatus raise_element (DtCtx *cx, const Sig *g, int i, int pos,
                               const DtValue *v) {
  const DtArgDef *d = &g->s->arg[i];
  int k = dt_bind_misfit(d, v);
  const char *seen = dt_value_pytype(&v->u.list.v[k]);
  DtBuf b;
  if (d->type == DT_T_TENSOR)
    return dt_raise(cx, DT_E_TYPE, "expected Tensor as element %d in argument "
                    "%d, but got %s", k, pos > 0 ? pos - 1 : i, seen);
  dt_buf_init(&b, cx);
  dt_buf_addf(&b, "%s(): argument '%s'", g->s->base, shown_name(g->s, i));
  if (k > 0) {
    dt_buf_addf(&b, " failed to unpack the object at pos %d with error "
                "\"type must be ", k + 1);
    type_name(d, &b);
    dt_buf_addf(&b, ",but got %s\"", seen);
  } else {
    if (pos) dt_buf_addf(&b, " (position %d)", pos);
    dt_buf_add(&b, " must be ");
    type_name(d, &b);
    dt_buf_addf(&b, ", but found element of type %s at pos 0", seen);
  }
  return raise_buf(cx, &b);
}

static DtStatus raise_type (DtCtx *cx, const Sig *g, int i, int pos,
                            const DtValue *v) {
  DtBuf b;
  if (g->s->arg[i].list && v->kind == DT_V_LIST)
    return raise_element(cx, g, i, pos, v);
  dt_buf_init(&b, cx);
  dt_buf_addf(&b, "%s(): argument '%s'", g->s->base, shown_name(g->s, i));
  if (pos) dt_buf_addf(&b, " (position %d)", pos);
  dt_buf_add(&b, " must be ");
  type_name(&g->s->arg[i], &b);
  dt_buf_addf(&b, ", not %s",
              v->kind == DT_V_LIST && v->py == 0 ? "list" : dt_value_pytype(v));
  return raise_buf(cx, &b);
}

static DtStatus raise_keywords (DtCtx *cx, const Sig *g,
                                const DtBindCall *c) {
  int k;
  for (k = 0; k < c->v.nkw; k++) {
    int i = dt_schema_arg(g->s, c->v.kwname[k]);
    if (i < 0 && c->self == 0 && strcmp(c->v.kwname[k], "input") == 0)
      i = dt_schema_arg(g->s, "self");
    if (i >= 0 && i < c->self) i = -1;
    if (i < 0 && !(g->out != NULL && strcmp(c->v.kwname[k], "out") == 0))
      return dt_raise(cx, DT_E_TYPE, "%s() got an unexpected keyword argument "
                      "'%s'", g->s->base, c->v.kwname[k]);
    if (i >= 0 && i < c->v.npos)
      return dt_raise(cx, DT_E_TYPE, "%s() got multiple values for argument "
                      "'%s'", g->s->base, c->v.kwname[k]);
  }
  return dt_raise(cx, DT_E_TYPE, "%s() got bad keyword arguments",
                  g->s->base);
}

static DtStatus raise_sig (DtCtx *cx, const Sig *g, const DtBindCall *c) {
  bool wrap = dt_bind_wraps(g->s);
  int i, k;
  if (c->v.npos > g->s->nargs - g->s->nkwonly) return raise_count(cx, g, c);
  for (i = c->self; i < g->s->nargs; i++) {
    const DtArgDef *d = &g->s->arg[i];
    const DtValue *v = i < c->v.npos ? &c->v.pos[i] : NULL;
    if (v == NULL && (k = dt_bind_kw(c, d->name, i)) >= 0) v = &c->v.kw[k];
    if (v == NULL && !d->has_default) return raise_missing(cx, g, i);
    if (v != NULL && !dt_bind_fits(c, d, v, wrap))
      return raise_type(cx, g, i, i < c->v.npos ? i + 1 - c->self : 0, v);
  }
  return raise_keywords(cx, g, c);
}

/* ---- resolving ---- */

/* Overloads that Python has no signature for. */
static bool hidden (const DtSchema *s) {
  static const char *const names[] = { "add", "sub", "mul", "div" };
  size_t i, n = strlen(s->base);
  if (strcmp(s->overload, "Scalar") != 0) return false;
  if (n > 0 && s->base[n - 1] == '_') n--;
  for (i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strlen(names[i]) == n && strncmp(s->base, names[i], n) == 0)
      return true;
  return false;
}

/* What a factory takes by keyword, and out= in its place. */
static bool is_option (const DtArgDef *d) {
  return d->kwonly && (d->type == DT_T_DTYPE || d->type == DT_T_LAYOUT ||
                       d->type == DT_T_DEVICE ||
                       strcmp(d->name, "pin_memory") == 0);
}

/* Is `o` the out= form of the factory `s`, which leaves the options out? */
static bool extends_factory (const DtSchema *o, const DtSchema *s) {
  int i = 0, k = 0, n = inputs(o), options = 0;
  if (n == o->nargs) return false;
  for (i = 0; i < s->nargs; i++) {
    if (is_option(&s->arg[i])) {
      options++;
      continue;
    }
    if (k >= n || !same_type(&o->arg[k], &s->arg[i]) ||
        strcmp(o->arg[k].name, s->arg[i].name) != 0)
      return false;
    k++;
  }
  return k == n && options == 4;
}

/* Signatures to list: every overload but the out= ones that another takes
** in, and the hidden ones. */
static int collect (const DtPacket *p, Sig *sig) {
  int i, j, n = 0;
  for (i = 0; i < p->n; i++) {
    const DtSchema *s = p->op[i]->sig;
    bool folded = false;
    for (j = 0; j < p->n; j++)
      if (extends(s, p->op[j]->sig) || extends_factory(s, p->op[j]->sig))
        folded = true;
    if (folded || hidden(s)) continue;
    sig[n].s = s;
    sig[n].out = NULL;
    for (j = 0; j < p->n; j++)
      if (extends(p->op[j]->sig, s) || extends_factory(p->op[j]->sig, s))
        sig[n].out = p->op[j]->sig;
    n++;
  }
  return n;
}

/* The only listed signature with room for that many arguments, in our own
** terms; NULL when there is another number of them, or we lack it. */
static const Sig *only_listed (const char *lines, int nargs, int n,
                               const Sig *sig, int self) {
  const char *fits = NULL;
  for (const char *s = lines; *s != '\0'; s = strchr(s, '\n') + 1) {
    int min, max;
    dt_listed_room(s, &min, &max);
    if (nargs < min || nargs > max) continue;
    if (fits != NULL) return NULL;
    fits = s;
  }
  for (int i = 0; fits != NULL && i < n; i++)
    if (dt_listed_is(fits, sig[i].s, self)) return &sig[i];
  return NULL;
}

/* Those of a method: what takes a tensor first, and no out=. */
static int keep_methods (int n, Sig *sig) {
  int k = 0;
  for (int i = 0; i < n; i++) {
    const DtSchema *s = sig[i].s;
    if (s->nargs == 0 || s->arg[0].type != DT_T_TENSOR || s->arg[0].list ||
        inputs(s) != s->nargs)
      continue;
    sig[k].s = s;
    sig[k++].out = NULL;
  }
  return k;
}

/* A method without arguments does not parse any. */
static DtStatus raise_none_taken (DtCtx *cx, const DtPacket *p,
                                  const DtBindCall *c) {
  if (c->v.nkw > 0)
    return dt_raise(cx, DT_E_TYPE, "TensorBase.%s() takes no keyword "
                    "arguments", p->base);
  return dt_raise(cx, DT_E_TYPE, "TensorBase.%s() takes no arguments (%d "
                  "given)", p->base, c->v.npos - c->self);
}

static DtStatus raise_resolve (DtCtx *cx, const DtPacket *p,
                               const DtBindCall *c) {
  Sig sig[DT_MAX_OVERLOADS];
  DtBindCall plain;
  int n = collect(p, sig), i, plausible = 0, last = 0;
  if (c->self > 0) {
    int own = keep_methods(n, sig);
    if (own == 0) {             /* a method whose tensor is not the first */
      plain = *c;
      plain.self = 0;
      c = &plain;
    } else n = own;
  }
  int nargs = c->v.npos + c->v.nkw - c->self;
  const char *lines = dt_listed_find(p->base, c->self > 0);
  if (lines != NULL) {
    const Sig *one = only_listed(lines, nargs, n, sig, c->self);
    return one != NULL ? raise_sig(cx, one, c)
                       : dt_listed_raise(cx, p->base, lines, c);
  }
  if (n > 0 && c->self > 0)             /* it has but one signature */
    return sig[0].s->nargs == 1 ? raise_none_taken(cx, p, c)
                                : raise_sig(cx, &sig[0], c);
  if (n == 1) return raise_sig(cx, &sig[0], c);
  for (i = 0; i < n; i++)
    if (nargs >= sig_min(&sig[i]) && nargs <= sig_max(&sig[i])) {
      plausible++;
      last = i;
    }
  if (plausible == 1) return raise_sig(cx, &sig[last], c);
  return raise_list(cx, p, n, sig, c);
}

/* A call whose out=(a, b) is given as the keywords of an overload. */
typedef struct OutCall {
  DtBindCall c;
  const char *name[DT_MAX_ARGS];
  DtValue kw[DT_MAX_ARGS];
} OutCall;

/* The call as the overload `s` wants it: a tuple of tensors given as out= goes
** to its several out arguments, in order.  Any other call stays as it is. */
static const DtBindCall *spread_out (const DtSchema *s, const DtBindCall *c,
                                     OutCall *o) {
  int nout = s->nargs - inputs(s), at = -1, n = 0, i;
  for (i = 0; i < c->v.nkw; i++)
    if (strcmp(c->v.kwname[i], "out") == 0 && c->v.kw[i].kind == DT_V_LIST) at = i;
  if (nout < 2 || at < 0 || c->v.kw[at].u.list.n != nout ||
      c->v.nkw - 1 + nout > DT_MAX_ARGS)
    return c;
  for (i = 0; i < c->v.nkw; i++)
    if (i != at) {
      o->name[n] = c->v.kwname[i];
      o->kw[n++] = c->v.kw[i];
    }
  for (i = 0; i < nout; i++) {
    o->name[n] = s->arg[inputs(s) + i].name;
    o->kw[n++] = c->v.kw[at].u.list.v[i];
  }
  o->c = *c;
  o->c.v.nkw = n;
  o->c.v.kwname = o->name;
  o->c.v.kw = o->kw;
  return &o->c;
}

static DtStatus resolve (DtCtx *cx, const DtPacket *p, const DtBindCall *c,
                         const DtOpDef **op, DtArgs *args) {
  OutCall o;
  for (int i = 0; i < p->n; i++) {
    const DtSchema *s = p->op[i]->sig;
    bool out = inputs(s) != s->nargs;
    if (out && (c->self > 0 || (c->v.nkw > 0 && !dt_listed_has_out(s)))) continue;
    if (dt_bind_try(NULL, s, spread_out(s, c, &o), args) == DT_OK) {
      *op = p->op[i];
      return DT_OK;
    }
  }
  return raise_resolve(cx, p, c);
}

DtStatus dt_packet_resolve (DtCtx *cx, const DtPacket *p,
                            const DtGiven *given, const DtOpDef **op,
                            DtArgs *args) {
  DtBindCall c = { .v = *given, .python = true };
  return resolve(cx, p, &c, op, args);
}

DtStatus dt_packet_resolve_method (DtCtx *cx, const DtPacket *p,
                                   const DtGiven *given, const DtOpDef **op,
                                   DtArgs *args) {
  DtBindCall c = { .v = *given, .python = true };
  c.self = given->npos > 0 && given->pos[0].kind == DT_V_TENSOR;
  return resolve(cx, p, &c, op, args);
}
