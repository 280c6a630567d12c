/* SPDX-License-Identifier: MIT
** parity/oplog.c: what was dispatched, with arguments, against lists of a
** line: the overloads in order, then each call's arguments, bound by the same
** schema, so that a default that is spelled out equals one that is not.
**
** Arguments are copied when the operator starts: an in-place one may change
** the shape of its tensor afterwards. */
#include "parity/values_int.h"

#include <math.h>

static DtStatus grow (DtOpLog *l) {
  int cap = l->cap > 0 ? 2 * l->cap : 32;
  DtLogged *v = DT_ANEWN(l->p->cx, &l->p->arena, DtLogged, cap);
  if (v == NULL)
    return DT_E_NOMEM;
  if (l->n > 0)
    memcpy(v, l->v, (size_t)l->n * sizeof *v);
  l->v = v;
  l->cap = cap;
  return DT_OK;
}

static DtStatus on_op (void *ud, DtSession *s, const DtEvent *e) {
  DtOpLog *l = ud;
  DtArena *a = &l->p->arena;
  DtLogged *g;
  (void)s;
  if (l->n == l->cap)
    DT_TRY(l->p->cx, grow(l));
  g = &l->v[l->n];
  memset(g, 0, sizeof *g);
  g->op = e->op;
  g->nin = e->nin;
  g->m = DT_ANEWN(l->p->cx, a, DtMeta, e->nin + 1);
  g->npl = DT_ANEWN(l->p->cx, a, int, e->nin + 1);
  g->pl = DT_ANEWN(l->p->cx, a, DtPlacement,
                   (int64_t)(e->nin + 1) * DT_MAX_MDIM);
  if (g->m == NULL || g->npl == NULL || g->pl == NULL)
    return DT_E_NOMEM;
  for (int i = 0; i < e->nin; i++) {
    const DtVar *v = e->in[i];
    g->npl[i] = -1;
    if (v == NULL)
      continue;
    dt_meta_copy(&g->m[i], dt_var_meta(v));
    if (v->spec == NULL)
      continue;
    g->npl[i] = v->spec->npl;
    memcpy(g->pl + (size_t)i * DT_MAX_MDIM, v->spec->pl,
           (size_t)v->spec->npl * sizeof *g->pl);
  }
  DT_TRY(l->p->cx, dt_args_copy(l->p->cx, a, e->args, &g->args));
  l->n++;
  return DT_OK;
}

DtStatus dt_oplog_start (DtOpLog *l, DtParity *p, DtSession *s) {
  memset(l, 0, sizeof *l);
  l->p = p;
  return dt_event_listen(s, UINT64_C(1) << DT_EV_OP, on_op, l, &l->id);
}

void dt_oplog_stop (DtOpLog *l, DtSession *s) {
  dt_event_unlisten(s, l->id);
}

/* {==== Comparing ==== */

static bool number (const DtValue *v, double *out) {
  switch (v->kind) {
    case DT_V_BOOL: *out = v->u.b; return true;
    case DT_V_INT: *out = (double)v->u.i; return true;
    case DT_V_FLOAT: *out = v->u.f; return true;
    default: return false;
  }
}

static bool same_slot (DtParity *p, const json_t *want, const DtLogged *g,
                       int slot) {
  const DtMeta *m = &g->m[slot];
  if (!dt_jis_dist(want))
    return g->npl[slot] < 0 ? dt_same_meta(p, "tensor", want, m)
                            : dt_fails(p, "want a plain tensor");
  if (g->npl[slot] < 0)
    return dt_fails(p, "want a DTensor");
  return dt_same_text(p, "dtype", dt_jstr(want, "dt"),
                      dt_dtype_info((DtDtype)m->dtype)->name) &&
         dt_same_ints(p, "shape", json_object_get(want, "shape"), m->shape,
                      m->ndim) &&
         dt_same_pls(p, "placements", json_object_get(want, "pl"),
                     g->pl + (size_t)slot * DT_MAX_MDIM, g->npl[slot]);
}

/* Is an argument that was logged the one that was wanted?  PyTorch's logs say
** one number or a list of one for the same schema, and (2, 2) for 2: each is
** taken for the other here, nothing else is. */
static bool same_value (DtParity *p, const DtJCall *c, const DtValue *want,
                        const DtLogged *g, const DtValue *got) {
  double a, b;
  if (want->kind == DT_V_TENSOR) {
    if (got->kind != DT_V_TENSOR)
      return dt_fails(p, "want a tensor, got %s", dt_value_pytype(got));
    return same_slot(p, c->tensor[want->u.slot], g, got->u.slot);
  }
  if (want->kind == DT_V_LIST) {
    if (got->kind == DT_V_INT || (got->kind != DT_V_LIST &&
                                  want->u.list.n == 1)) {
      for (int i = 0; i < want->u.list.n; i++)  /* one number for all */
        if (!same_value(p, c, &want->u.list.v[i], g, got))
          return false;
      return true;
    }
    if (got->kind != DT_V_LIST || got->u.list.n != want->u.list.n)
      return dt_fails(p, "want a list of %d", want->u.list.n);
    for (int i = 0; i < want->u.list.n; i++)
      if (!same_value(p, c, &want->u.list.v[i], g, &got->u.list.v[i]))
        return false;
    return true;
  }
  if (got->kind == DT_V_LIST && got->u.list.n == 1)
    return same_value(p, c, want, g, &got->u.list.v[0]);
  if (number(want, &a) && number(got, &b))
    return a == b || (isnan(a) && isnan(b)) ||
           fabs(a - b) <= 1e-12 * fabs(a) ||
           dt_fails(p, "want %g, got %g", a, b);
  return dt_value_equal(want, got) ||
         dt_fails(p, "want %s, got %s", dt_value_pytype(want),
                  dt_value_pytype(got));
}

/* "kw" is the last of the list. */
static json_t *as_line (const json_t *args) {
  json_t *line = json_object(), *pos = json_array();
  if (line == NULL || pos == NULL)
    return NULL;
  for (size_t i = 0; i < json_array_size(args); i++) {
    json_t *v = json_array_get(args, i);
    json_t *kw = json_object_get(v, "kw");
    if (kw != NULL)
      json_object_set(line, "kw", kw);
    else
      json_array_append(pos, v);
  }
  json_object_set_new(line, "args", pos);
  return line;
}

/* Where data comes from is not compared, nor who asks for pinned memory. */
static bool counts (const DtArgDef *d) {
  return d->type != DT_T_DEVICE && d->type != DT_T_LAYOUT &&
         d->type != DT_T_GENERATOR && strcmp(d->name, "pin_memory") != 0 &&
         strcmp(d->name, "memory_format") != 0;
}

static bool same_call (DtParity *p, const json_t *args, const DtLogged *g) {
  json_t *line = as_line(args);
  DtJCall c;
  bool ok = line != NULL && dt_no_error(p, dt_jcall(p, line, g->op, &c));
  for (int i = 0; ok && i < g->op->sig->nargs; i++) {
    const DtArgDef *d = &g->op->sig->arg[i];
    if (!counts(d))
      continue;
    ok = same_value(p, &c, &c.args.v[i], g, &g->args.v[i]);
    if (!ok)
      dt_buf_addf(&p->why, " (%s)", d->name);
  }
  json_decref(line);
  return ok;
}

static bool same_names (DtParity *p, const char *what, const json_t *want,
                        const DtOpLog *l) {
  bool ok = (int)json_array_size(want) == l->n;
  for (int i = 0; ok && i < l->n; i++)
    ok = strcmp(json_string_value(json_array_get(want, (size_t)i)),
                l->v[i].op->sig->full) == 0;
  if (ok)
    return true;
  dt_buf_addf(&p->why, "%s: want", what);
  for (size_t i = 0; i < json_array_size(want); i++)
    dt_buf_addf(&p->why, " %s",
                json_string_value(json_array_get(want, i)) + 5);
  dt_buf_add(&p->why, ", got");
  for (int i = 0; i < l->n; i++)
    dt_buf_addf(&p->why, " %s", l->v[i].op->sig->full + 5);
  return false;
}

bool dt_same_oplog (DtParity *p, const char *what, const json_t *ops,
                    const json_t *args, const DtOpLog *l) {
  if (!same_names(p, what, ops, l))
    return false;
  for (size_t i = 0; i < json_array_size(args); i++)
    if (!same_call(p, json_array_get(args, i), &l->v[i])) {
      dt_buf_addf(&p->why, " in %s, call %d of %s", l->v[i].op->sig->full + 5,
                  (int)i, what);
      return false;
    }
  return true;
}

/* }==== */
