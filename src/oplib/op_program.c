/* SPDX-License-Identifier: MIT
** oplib/op_program.c: decompositions written as text, and what runs them.
**
** A program is statements joined by ';': "x = exp(self)", "a, b = sort(*)",
** "return x, y"; the last call's results are the results unless it returns.
** Arguments are variables, arguments of the operator by name, numbers, lists,
** none, true, false, 'text', :dtype, !memory_format, name=value; '*' is every
** argument as given, 2*name a product, shape(x) and strides(x) those of an
** argument.  "exp" is aten.exp.default.  Losses have
** "reduced(x)", which does what the argument reduction says, and the number
** norm, 1/elements of self under a mean.  There are no branches: where calls
** depend on values, C picks the text (op_program).  unless(flag),
** ranked(x), ungiven(x) and never(x) end tracing, and only that, where
** Python's decomposition fails: a true argument, a tensor without dims, an
** argument given by place, always.  Local calls refuse by long(x) an index of
** another type, by fits(x) what does not broadcast to self.
** A gradient is written the same way, a program for each argument: "self:
** mul.Tensor(grad, other) | other: ..."; it knows grad, grad1, ..., result,
** result1, ... besides, and runs only where that gradient is wanted.
** The difficult part is slots: each call gets its own array of tensors, so
** every value is copied with its slots renumbered. */
#include "op/out_types.h"
#include "oplib/oplib_int.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VARS = 48, MAX_TENSORS = 64, NAME_LEN = 24 };

typedef struct Var { char name[NAME_LEN]; DtHandle *h; } Var;

typedef struct Prog {
  DtDecompCall *c;
  const char *at;               /* the next character to read */
  Var var[MAX_VARS];
  int nvar;
} Prog;

/* One call being put together. */
typedef struct Call {
  DtHandle *in[MAX_TENSORS];
  DtValue pos[DT_MAX_ARGS], kw[DT_MAX_ARGS];
  const char *kwname[DT_MAX_ARGS];
  int nin, npos, nkw;
} Call;

static DtStatus bad (Prog *p, const char *what) {
  return dt_raise(p->c->e->cx, DT_E_INTERNAL, "%s: its program: %s at \"%s\"",
                  p->c->op->schema, what, p->at);
}

static void blanks (Prog *p) { while (*p->at == ' ') p->at++; }

static bool eat (Prog *p, char ch) {
  blanks(p);
  if (*p->at != ch) return false;
  p->at++;
  return true;
}

/* An identifier, dots included, into `out`; false when there is none. */
static bool word (Prog *p, char *out, size_t size) {
  size_t n = 0;
  blanks(p);
  if (!isalpha((unsigned char)*p->at) && *p->at != '_') return false;
  while (isalnum((unsigned char)p->at[n]) || p->at[n] == '_' ||
         p->at[n] == '.')
    n++;
  if (n + 1 > size) return false;
  memcpy(out, p->at, n);
  out[n] = '\0';
  p->at += n;
  return true;
}

/* ---- values ---- */

static DtStatus take_tensor (Prog *p, Call *k, DtHandle *h, DtValue *v) {
  if (h == NULL) {
    *v = dt_v_none();
    return DT_OK;
  }
  DT_CHECK(p->c->e->cx, k->nin < MAX_TENSORS, DT_E_LIMIT,
           "more than %d tensors in one call", MAX_TENSORS);
  k->in[k->nin] = h;
  *v = dt_v_slot(k->nin++);
  return DT_OK;
}

/* A value of the operator's own call, its slots renumbered. */
static DtStatus take_value (Prog *p, Call *k, DtValue *v) {
  if (v->kind == DT_V_TENSOR)
    return take_tensor(p, k, p->c->in[v->u.slot], v);
  if (v->kind == DT_V_LIST) {
    int n = v->u.list.n;
    DtValue *copy = DT_ANEWN(p->c->e->cx, p->c->e->arena, DtValue, n + 1);
    if (copy == NULL) return DT_E_NOMEM;
    for (int i = 0; i < n; i++) {
      copy[i] = v->u.list.v[i];
      DT_TRY(p->c->e->cx, take_value(p, k, &copy[i]));
    }
    *v = dt_v_list(n, copy);
  }
  return DT_OK;
}

/* 0 none, 1 mean, 2 sum. */
static int64_t reduction (Prog *p) {
  int i = dt_schema_arg(p->c->args->schema, "reduction");
  return i < 0 ? 0 : dt_arg_int(p->c->args, i);
}

static double mean_factor (Prog *p) {
  int i = dt_schema_arg(p->c->args->schema, "self");
  DtHandle *h = i < 0 ? NULL : dt_hin(p->c, i);
  if (reduction(p) != 1 || h == NULL) return 1;
  return 1 / (double)dt_meta_numel(dt_emit_meta(p->c->e, h));
}

static DtStatus named_value (Prog *p, Call *k, const char *name, DtValue *v) {
  int i;
  if (strcmp(name, "none") == 0) *v = dt_v_none();
  else if (strcmp(name, "true") == 0) *v = dt_v_bool(true);
  else if (strcmp(name, "false") == 0) *v = dt_v_bool(false);
  else if (strcmp(name, "inf") == 0) *v = dt_v_float(INFINITY);
  else if (strcmp(name, "norm") == 0) *v = dt_v_float(mean_factor(p));
  else {
    for (i = p->nvar - 1; i >= 0; i--)
      if (strcmp(p->var[i].name, name) == 0)
        return take_tensor(p, k, p->var[i].h, v);
    i = dt_schema_arg(p->c->args->schema, name);
    if (i < 0) return bad(p, "an unknown name");
    *v = p->c->args->v[i];
    return take_value(p, k, v);
  }
  return DT_OK;
}

static DtStatus number (Prog *p, DtValue *v) {
  char *end, *dot;
  double f = strtod(p->at, &end);
  if (end == p->at) return bad(p, "a value expected");
  dot = memchr(p->at, '.', (size_t)(end - p->at));
  *v = dot != NULL || memchr(p->at, 'e', (size_t)(end - p->at)) != NULL
       ? dt_v_float(f) : dt_v_int((int64_t)f);
  p->at = end;
  return DT_OK;
}

/* A number, or its product with a named one. */
static DtStatus product (Prog *p, Call *k, DtValue *v) {
  char name[NAME_LEN];
  DtValue by;
  DT_TRY(p->c->e->cx, number(p, v));
  if (!eat(p, '*')) return DT_OK;
  if (!word(p, name, sizeof name)) return bad(p, "a name expected");
  DT_TRY(p->c->e->cx, named_value(p, k, name, &by));
  double a = v->kind == DT_V_INT ? (double)v->u.i : v->u.f;
  double b = by.kind == DT_V_FLOAT ? by.u.f
             : by.kind == DT_V_BOOL ? (double)by.u.b : (double)by.u.i;
  *v = dt_v_float(a * b);
  return DT_OK;
}

static DtStatus value (Prog *p, Call *k, DtValue *v);

static DtStatus list (Prog *p, Call *k, DtValue *v) {
  DtValue *e = DT_ANEWN(p->c->e->cx, p->c->e->arena, DtValue, 16);
  int n = 0;
  if (e == NULL) return DT_E_NOMEM;
  while (!eat(p, ']')) {
    if (n == 16) return bad(p, "a long list");
    DT_TRY(p->c->e->cx, value(p, k, &e[n++]));
    (void)eat(p, ',');
  }
  *v = dt_v_list(n, e);
  return DT_OK;
}

static DtStatus text (Prog *p, DtValue *v) {
  const char *end = strchr(p->at, '\'');
  char *s;
  if (end == NULL) return bad(p, "a quote missing");
  s = DT_ANEWN(p->c->e->cx, p->c->e->arena, char, end - p->at + 1);
  if (s == NULL) return DT_E_NOMEM;
  memcpy(s, p->at, (size_t)(end - p->at));
  p->at = end + 1;
  *v = dt_v_str(s);
  return DT_OK;
}

/* shape(x) or strides(x) of an argument. */
static DtStatus numbers_of (Prog *p, const char *what, DtValue *v) {
  char name[NAME_LEN];
  if (!word(p, name, sizeof name) || !eat(p, ')')) return bad(p, "a name expected");
  int i = dt_schema_arg(p->c->args->schema, name);
  bool shape = strcmp(what, "shape") == 0;
  if (i < 0 || (!shape && strcmp(what, "strides") != 0))
    return bad(p, "no shape or strides of an argument");
  const DtMeta *m = dt_emit_meta(p->c->e, dt_hin(p->c, i));
  DtValue *e = DT_ANEWN(p->c->e->cx, p->c->e->arena, DtValue, DT_MAX_NDIM);
  if (e == NULL) return DT_E_NOMEM;
  if (!dt_emit_ok(p->c->e)) return p->c->e->st;
  for (int d = 0; d < m->ndim; d++)
    e[d] = dt_v_int(shape ? m->shape[d] : m->stride[d]);
  *v = dt_v_list(m->ndim, e);
  return DT_OK;
}

static DtStatus value (Prog *p, Call *k, DtValue *v) {
  char name[NAME_LEN];
  if (eat(p, '[')) return list(p, k, v);
  if (eat(p, '\'')) return text(p, v);
  if (eat(p, ':')) {
    if (!word(p, name, sizeof name)) return bad(p, "a dtype expected");
    *v = dt_v_dtype(dt_dtype_find(name));
    return DT_OK;
  }
  if (eat(p, '!')) {
    if (!word(p, name, sizeof name)) return bad(p, "a format expected");
    *v = dt_v_code(DT_V_MEMFMT, (int64_t)dt_memfmt_find(name));
    return DT_OK;
  }
  if (!word(p, name, sizeof name)) return product(p, k, v);
  if (eat(p, '(')) return numbers_of(p, name, v);
  return named_value(p, k, name, v);
}

/* ---- calls ---- */

/* '*': the operator's arguments, but for those it writes results into. */
static DtStatus everything (Prog *p, Call *k) {
  const DtSchema *s = p->c->args->schema;
  for (int i = 0; i < s->nargs; i++) {
    DtValue v = p->c->args->v[i];
    if (s->arg[i].kwonly && s->arg[i].write) continue;
    DT_TRY(p->c->e->cx, take_value(p, k, &v));
    if (s->arg[i].kwonly) {
      k->kwname[k->nkw] = s->arg[i].name;
      k->kw[k->nkw++] = v;
    } else {
      k->pos[k->npos++] = v;
    }
  }
  return DT_OK;
}

static DtStatus keyword (Prog *p, Call *k, const char *name) {
  char *copy = dt_arena_strdup(p->c->e->cx, p->c->e->arena, name);
  if (copy == NULL) return DT_E_NOMEM;
  k->kwname[k->nkw] = copy;
  return value(p, k, &k->kw[k->nkw++]);
}

static DtStatus arguments (Prog *p, Call *k) {
  while (!eat(p, ')')) {
    const char *start = (blanks(p), p->at);
    char name[NAME_LEN];
    if (k->npos + k->nkw >= DT_MAX_ARGS) return bad(p, "many arguments");
    if (eat(p, '*')) DT_TRY(p->c->e->cx, everything(p, k));
    else if (word(p, name, sizeof name) && eat(p, '='))
      DT_TRY(p->c->e->cx, keyword(p, k, name));
    else {
      p->at = start;
      DT_TRY(p->c->e->cx, value(p, k, &k->pos[k->npos]));
      k->npos++;
    }
    (void)eat(p, ',');
  }
  return DT_OK;
}

/* May `x` be written into `to`, if that is the program's out=? */
static DtStatus check_out_type (Prog *p, DtHandle *to, DtHandle *x) {
  const DtDecompCall *c = p->c;
  const DtSchema *s = c->op->sig;
  if (!s->writes_out || to == NULL || x == NULL ||
      to != dt_hin(c, s->nargs - 1))
    return DT_OK;
  return dt_out_type_check(c->e->cx, s, c->args,
                           (DtDtype)dt_emit_meta(c->e, x)->dtype,
                           (DtDtype)dt_emit_meta(c->e, to)->dtype);
}

/* op(...) with its results into out[max]. */
static DtStatus call (Prog *p, const char *name, DtHandle **out, int max,
                      int *nout) {
  DtEmit *e = p->c->e;
  Call *k = DT_ANEWN(e->cx, e->arena, Call, 1);
  char full[96];
  if (k == NULL) return DT_E_NOMEM;
  for (int i = 0; i < max; i++) out[i] = NULL;
  if (strlen(name) > 64) return bad(p, "a long name");
  (void)snprintf(full, sizeof full, "aten.%s%s", name,
                 strchr(name, '.') == NULL ? ".default" : "");
  DT_TRY(e->cx, arguments(p, k));
  if (strcmp(name, "reduced") == 0) {
    if (k->nin != 1) return bad(p, "one tensor expected");
    out[0] = k->in[0];
    *nout = 1;
    if (reduction(p) == 0) return DT_OK;
    (void)snprintf(full, sizeof full, "aten.%s.default",
                   reduction(p) == 1 ? "mean" : "sum");
  }
  if (strcmp(full, "aten.copy_.default") == 0 && k->nin == 2 && !e->pretend)
    DT_TRY(e->cx, check_out_type(p, k->in[0], k->in[1]));
  DtOutputs got = { out, max, 0, NULL };
  DtGiven given = { k->npos, k->pos, k->nkw, k->kwname, k->kw };
  DtStatus st = e->vt->call(e, full, &given, k->nin, k->in, &got);
  *nout = got.n;
  return st;
}

/* "return a, b" */
static DtStatus give (Prog *p) {
  Call k;
  k.nin = 0;
  p->c->nout = 0;
  do {
    DtValue v;
    char name[NAME_LEN];
    if (!word(p, name, sizeof name) || p->c->nout >= p->c->maxout)
      return bad(p, "a name expected");
    DT_TRY(p->c->e->cx, named_value(p, &k, name, &v));
    p->c->out[p->c->nout++] = v.kind == DT_V_TENSOR ? k.in[v.u.slot] : NULL;
  } while (eat(p, ','));
  return DT_OK;
}

static DtStatus fits_self (Prog *p, const DtMeta *x) {
  DtMeta all;
  const DtMeta *self = dt_emit_meta(p->c->e, p->c->in[0]);
  DT_TRY(p->c->e->cx, dt_meta_broadcast(p->c->e->cx, self, x, &all));
  OpText got = op_shape_text(self), want = op_shape_text(&all);
  DT_CHECK(p->c->e->cx, dt_meta_same_shape(self, &all), DT_E_SHAPE, "output "
           "with shape %s doesn't match the broadcast shape %s", got.s,
           want.s);
  return DT_OK;
}

/* unless, ranked, ungiven, never: what cannot be traced in PyTorch. */
static DtStatus guard (Prog *p, char kind) {
  char name[NAME_LEN];
  DtEmit *e = p->c->e;
  int i = -1;
  if (word(p, name, sizeof name))
    i = dt_schema_arg(p->c->args->schema, name);
  if (i < 0 || !eat(p, ')')) return bad(p, "an argument expected");
  if (kind == 'l') {
    DtDtype t = (DtDtype)dt_emit_meta(e, dt_hin(p->c, i))->dtype;
    DT_CHECK(e->cx, e->tracing || t == DT_I64, DT_E_RUNTIME, "%s(): Expected a "
             "long tensor for %s, but got %s", p->c->op->sig->base, name,
             op_dtype_word(t));
    return DT_OK;
  }
  if (kind == 'f')
    return e->tracing ? DT_OK
                      : fits_self(p, dt_emit_meta(e, dt_hin(p->c, i)));
  bool stop = kind == 'r' ? dt_emit_meta(e, dt_hin(p->c, i))->ndim == 0
              : kind == 'u' ? dt_arg_bool(p->c->args, i)
              : kind == 'n' ? true
              : i < p->c->args->npos;
  DT_CHECK(e->cx, !e->tracing || !stop, DT_E_NOTIMPL,
           "%s cannot be traced with this %s", p->c->op->sig->full, name);
  return DT_OK;
}

/* One statement of an operator's program: guard(…), op(…) whose results are the
** program's, or names = op(…).  Handles belong to the emitter, so an error on the
** way has nothing to free. */
static DtStatus statement (Prog *p) {
  char name[8][64];
  DtHandle *res[8];
  DtCtx *cx = p->c->e->cx;
  int n = 0, got = 0;
  do
    if (n == 8 || !word(p, name[n++], sizeof name[0]))
      return bad(p, "a name expected");
  while (eat(p, ','));
  if (eat(p, '(')) {            /* a bare call: its results are ours */
    if (strcmp(name[0], "unless") == 0) return guard(p, 'u');
    if (strcmp(name[0], "ranked") == 0) return guard(p, 'r');
    if (strcmp(name[0], "ungiven") == 0) return guard(p, 'g');
    if (strcmp(name[0], "never") == 0) return guard(p, 'n');
    if (strcmp(name[0], "long") == 0) return guard(p, 'l');
    if (strcmp(name[0], "fits") == 0) return guard(p, 'f');
    return call(p, name[0], p->c->out, p->c->maxout, &p->c->nout);
  }
  if (!eat(p, '=')) return bad(p, "'=' expected");
  char op[64];
  if (!word(p, op, sizeof op) || !eat(p, '(')) return bad(p, "a call expected");
  DT_TRY(cx, call(p, op, res, n, &got));
  for (int i = 0; i < n; i++) {
    if (p->nvar == MAX_VARS || strlen(name[i]) >= NAME_LEN)
      return bad(p, "too many variables");
    (void)snprintf(p->var[p->nvar].name, NAME_LEN, "%.*s", NAME_LEN - 1,
                   name[i]);
    p->var[p->nvar++].h = res[i];
  }
  return DT_OK;
}

/* Statements up to `end`. */
static DtStatus statements (Prog *p, const char *end) {
  DtCtx *cx = p->c->e->cx;
  for (blanks(p); p->at < end; blanks(p)) {
    if (strncmp(p->at, "return ", 7) == 0) {
      p->at += 7;
      return give(p);
    }
    DT_TRY(cx, statement(p));
    if (!eat(p, ';') && p->at < end) return bad(p, "';' expected");
  }
  return p->c->e->st;
}

DtStatus op_program (DtDecompCall *c, const char *program) {
  Prog *p = DT_ANEWN(c->e->cx, c->e->arena, Prog, 1);
  if (p == NULL) return DT_E_NOMEM;
  p->c = c;
  p->at = program;
  return statements(p, program + strlen(program));
}

DtStatus op_d_program (DtDecompCall *c) {
  return op_program(c, c->op->program);
}

/* ---- gradients ---- */

static void define (Prog *p, const char *name, int i, DtHandle *h) {
  if (h == NULL || p->nvar == MAX_VARS) return;
  if (i == 0) (void)snprintf(p->var[p->nvar].name, NAME_LEN, "%s", name);
  else (void)snprintf(p->var[p->nvar].name, NAME_LEN, "%s%d", name, i);
  p->var[p->nvar++].h = h;
}

/* The program of one argument, from p->at to `end`. */
static DtStatus section (DtGradCall *g, Prog *p, const char *end) {
  DtHandle *out[8] = { NULL };
  DtDecompCall c = { .e = g->e, .op = g->op, .args = g->args, .nin = g->nin,
                     .in = g->in, .out = out, .maxout = 8 };
  char name[NAME_LEN];
  p->c = &c;
  p->nvar = 0;
  if (!word(p, name, sizeof name) || !eat(p, ':'))
    return bad(p, "an argument expected");
  int i = dt_schema_arg(g->args->schema, name);
  if (i < 0) return bad(p, "an unknown argument");
  if (!op_g_need(g, i)) return DT_OK;
  for (int k = 0; k < g->nout; k++) {
    define(p, "grad", k, g->gout[k]);
    define(p, "result", k, g->out[k]);
  }
  DT_TRY(g->e->cx, statements(p, end));
  op_g_set(g, i, out[0]);
  return g->e->st;
}

DtStatus op_g_program (DtGradCall *g) {
  const char *at = g->op->backward;
  Prog *p = DT_ANEWN(g->e->cx, g->e->arena, Prog, 1);
  if (p == NULL) return DT_E_NOMEM;
  while (at != NULL && *at != '\0') {
    const char *end = strchr(at, '|');
    if (end == NULL) end = at + strlen(at);
    p->at = at;
    DT_TRY(g->e->cx, section(g, p, end));
    at = *end == '|' ? end + 1 : end;
  }
  return g->e->st;
}
