/* SPDX-License-Identifier: MIT
** shard/tuple.c: list operators: one decision per element.
**
** The call is cut into one call per list index; each is decided on its own,
** by the rules of the list operator applied to the scalar operator's
** arguments, and the smallest cost wins without the classes of select.c.
** A tensor that is no list is shared: element 0 decides about it.
** Semantics: _translate_list_op_schema (single_dim_strategy.py), 2.13. */
#include <string.h>
#include "base/error_shard.h"
#include "shard/prop_int.h"

static bool is_tensor_list (const DtValue *v) {
  int i;
  if (v->kind != DT_V_LIST || v->u.list.n == 0) return false;
  for (i = 0; i < v->u.list.n; i++)
    if (v->u.list.v[i].kind != DT_V_TENSOR) return false;
  return true;
}

bool dt_decide_is_list (const DtDecide *d) {
  static const char *const prefixes[] = {
    "_foreach_", "_amp_foreach_", "_fused_"
  };
  const char *base = d->op->sig->base;
  size_t i;
  int k;
  for (i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
    if (strncmp(base, prefixes[i], strlen(prefixes[i])) != 0) continue;
    for (k = 0; k < d->args->n - d->args->schema->nkwonly; k++)
      if (is_tensor_list(&d->args->v[k])) return true;
  }
  return false;
}

static DtStatus list_length (const DtDecide *d, int *n) {
  int k, len = -1;
  for (k = 0; k < d->args->n - d->args->schema->nkwonly; k++) {
    const DtValue *v = &d->args->v[k];
    if (!is_tensor_list(v)) continue;
    if (len < 0) len = v->u.list.n;
    DT_CHECK(d->cx, v->u.list.n == len, DT_E_ASSERT, "Expected %d children "
             "in index %d, but found %d.", len, k, v->u.list.n);
  }
  *n = len;
  return DT_OK;
}

/* Arguments of element i of an operator that stands for itself. */
static void own_element (const DtArgs *args, int i, DtArgs *out) {
  int k;
  *out = *args;
  for (k = 0; k < out->n; k++)
    if (is_tensor_list(&out->v[k]) && i < out->v[k].u.list.n)
      out->v[k] = out->v[k].u.list.v[i];
}

typedef struct Renumber { int n; int *slot; } Renumber;

static void renumber_slot (void *ud, int *slot) {
  Renumber *r = (Renumber *)ud;
  r->slot[r->n] = *slot;
  *slot = r->n++;
}

DtStatus dt_element_args (DtDecide *d, int i, DtArgs *args, int *slot,
                          int *nin) {
  DtArgs *raw = DT_ANEWN(d->cx, d->arena, DtArgs, 1);
  Renumber r = { 0, slot };
  int k;
  if (raw == NULL) return DT_E_NOMEM;
  if (d->rule_op->base != NULL)
    DT_TRY(d->cx, dt_foreach_args(d->cx, d->op, d->args, i, raw));
  else
    own_element(d->args, i, raw);
  DT_TRY(d->cx, dt_args_copy(d->cx, d->arena, raw, args));
  for (k = 0; k < args->n; k++)
    dt_value_slots(&args->v[k], renumber_slot, &r);
  args->nslots = r.n;
  *nin = r.n;
  return DT_OK;
}

/* A number with a default that the scalar operator takes by keyword. */
static bool number_by_keyword (const DtArgDef *a) {
  return a->kwonly && a->type == DT_T_SCALAR && a->has_default;
}

/* Could `b` be the scalar operator of list operator `s`?  Lists count as
** their elements; `b` may have more arguments if they have defaults, and,
** with `keywords`, take by keyword what `s` takes by position. */
static bool scalar_form (const DtSchema *s, const DtSchema *b,
                         bool keywords) {
  int i;
  if (s->nargs > b->nargs || b->is_out) return false;
  for (i = 0; i < b->nargs; i++) {
    if (b->arg[i].write) return false;
    if (i >= s->nargs) {
      if (!b->arg[i].has_default) return false;
    } else if (s->arg[i].type != b->arg[i].type || b->arg[i].list ||
               s->arg[i].opt != b->arg[i].opt ||
               (s->arg[i].kwonly != b->arg[i].kwonly &&
                !(keywords && number_by_keyword(&b->arg[i])))) {
      return false;
    }
  }
  return true;
}

/* "_foreach_add_" -> "add". */
static void scalar_base (const char *base, char *out, size_t size) {
  const char *p = strstr(base, "foreach_");
  size_t n;
  p = p != NULL ? p + 8 : base;
  n = strlen(p);
  if (n > 0 && p[n - 1] == '_') n--;
  if (n >= size) n = size - 1;
  memcpy(out, p, n);
  out[n] = '\0';
}

/* The operator that stands for one element: PyTorch finds it by comparing
** schemas, fewest extra arguments first; NULL when there is none. */
static const DtSchema *scalar_schema (DtCtx *cx, DtRegistry *reg,
                                      const DtSchema *s, bool keywords) {
  const DtSchema *best = NULL;
  const DtPacket *p;
  char base[64];
  int i;
  scalar_base(s->base, base, sizeof base);
  p = dt_registry_packet(cx, reg, s->ns, base);
  for (i = 0; p != NULL && i < p->n; i++) {
    const DtSchema *b = p->op[i]->sig;
    if (scalar_form(s, b, keywords) && (best == NULL || b->nargs < best->nargs))
      best = b;
  }
  return best;
}

/* Outputs of an element without a scalar operator: the list operator's. */
static int own_outputs (const DtSchema *s) {
  int i, n = 0;
  for (i = 0; i < s->nrets; i++) n += s->ret[i].type == DT_T_TENSOR;
  return n;
}

static DtStatus decide_element (DtDecide *d, int i, DtChosen *c,
                                DtPropVia *via) {
  const DtSpec **in = DT_ANEWN(d->cx, d->arena, const DtSpec *, d->nin + 1);
  DtArgs *args = DT_ANEWN(d->cx, d->arena, DtArgs, 1);
  DtDecideFor f = { d->p, d->arena, d->op, d->rule_op, args, 0, in, false,
                    d->holds };
  int k;
  c->slot = DT_ANEWN(d->cx, d->arena, int, d->nin + 1);
  if (in == NULL || args == NULL || c->slot == NULL) return DT_E_NOMEM;
  DT_TRY(d->cx, dt_element_args(d, i, args, c->slot, &f.nin));
  for (k = 0; k < f.nin; k++) in[k] = d->in[c->slot[k]];
  if (d->rule_op->base != NULL) f.op = d->rule_op->base;
  f.no_meta = d->rule_op->base == NULL;
  DT_TRY(d->cx, dt_decide_init(d->cx, &f, &c->d));
  c->d.keep = d->keep;
  c->d.name = d->name;
  if (d->element_nout >= 0) c->d.nout = d->element_nout;
  DT_TRY(d->cx, dt_decide_candidates(&c->d, true, &c->sheet, via));
  return dt_sheet_check(&c->sheet);
}

static DtStatus why_element (DtDecide *d, DtWhy *why, int i,
                             const DtChosen *c, DtPropVia via) {
  why->child[i] = DT_NEW(d->cx, DtWhy);
  if (why->child[i] == NULL) return DT_E_NOMEM;
  why->nchild = i + 1;
  return dt_why_fill(d->cx, why->child[i], &c->sheet, via);
}

DtStatus dt_tuple_run (DtDecide *d, DtWhy *why, int *n, DtChosen **out,
                       DtPropVia *via) {
  const DtSchema *scalar;
  DtChosen *c;
  int i;
  DT_TRY(d->cx, list_length(d, n));
  scalar = scalar_schema(d->cx, d->p->reg, d->rule_op->sig, d->p->checks_rows);
  d->element_nout = scalar != NULL ? -1 : own_outputs(d->rule_op->sig);
  if (scalar != NULL) d->name = scalar->full;
  c = DT_ANEWN(d->cx, d->arena, DtChosen, *n);
  if (c == NULL) return DT_E_NOMEM;
  if (why != NULL) {
    why->child = DT_ANEWN(d->cx, &why->arena, DtWhy *, *n);
    if (why->child == NULL) return DT_E_NOMEM;
  }
  for (i = 0; i < *n; i++) {
    DtStatus st = decide_element(d, i, &c[i], via);
    if (st == DT_E_MISSING) {           /* the list operator is not known */
      dt_error_clear(d->cx);
      return dt_raise(d->cx, DT_E_MISSING, "Operator %s does not have a "
                      "sharding strategy registered.", d->op->sig->full);
    }
    DT_TRY(d->cx, st);
    if (why != NULL) DT_TRY(d->cx, why_element(d, why, i, &c[i], *via));
  }
  if (why != NULL) {
    why->via = *via;
    why->ndim = d->mesh->ndim;
  }
  *out = c;
  return DT_OK;
}
