/* SPDX-License-Identifier: MIT
** parity/grad.c: gradients against values/grad: their numbers, and the
** operators that backward calls, in order, with their argument shapes. */
#include "parity/values_int.h"

#include "engine/autograd.h"

enum { MAX_WRT = 32, MAX_OUT = 64 };

/* One line's gradient. */
typedef struct Grad {
  DtVCall v;
  int nwrt, nroot;
  DtVar *wrt[MAX_WRT], *got[MAX_WRT], *root[MAX_OUT], *gout[MAX_OUT];
  DtVar *clone;
} Grad;

static void grad_fini (Grad *g) {
  for (int i = 0; i < g->nwrt; i++)
    dt_var_unref(g->got[i]);
  for (int i = 0; i < g->nroot; i++)
    dt_var_unref(g->gout[i]);
  dt_vcall_fini(&g->v);
}

static bool mark_inputs (DtParity *p, const json_t *o, Grad *g) {
  const json_t *wrt = json_object_get(o, "wrt");
  for (size_t i = 0; i < json_array_size(wrt) && i < MAX_WRT; i++) {
    const char *path = json_string_value(json_array_get(wrt, i));
    DtVar *x = dt_vcall_var(&g->v, path);
    if (x == NULL)
      return dt_fails(p, "no argument %s", path);
    if (!dt_no_error(p, dt_var_set_requires_grad(x, true)))
      return false;
    g->wrt[g->nwrt++] = x;
  }
  return true;
}

/* An in-place operator runs on a clone of its first argument. */
static bool clone_first (DtParity *p, Grad *g) {
  DtVar *c = NULL;
  for (int i = 0; i < g->v.vars.n; i++) {
    DtVar *x = g->v.vars.v[i];
    if (strncmp(g->v.call.path[i], "args[0]", 7) != 0)
      continue;
    if (!dt_no_error(p, dt_call_fmt(g->v.s, &c, "aten.clone.default", "t",
                                    x)))
      return false;
    /* the leaf stays alive in the graph and in wrt, through its node */
    g->v.vars.v[i] = c;
    g->clone = x;
  }
  return true;
}

static bool read_upstream (DtParity *p, const json_t *o, Grad *g) {
  const json_t *gout = json_object_get(o, "gout");
  const json_t *which = json_object_get(o, "grad_outs");
  for (size_t i = 0; i < json_array_size(gout) && i < MAX_OUT; i++) {
    DtTensor *t = NULL;
    int64_t k = which != NULL
                ? json_integer_value(json_array_get(which, i)) : (int64_t)i;
    if (json_is_null(json_array_get(gout, i)))
      continue;
    DtVar *y = k < g->v.r.n ? dt_result(&g->v.r, (int)k) : NULL;
    if (y == NULL)
      return dt_fails(p, "no result %d", (int)k);
    if (!dt_no_error(p, dt_jtensor(p, json_array_get(gout, i), &t)))
      return false;
    DtStatus st = dt_var_new(g->v.s, t, NULL, &g->gout[g->nroot]);
    dt_tensor_unref(p->cx, t);
    if (!dt_no_error(p, st))
      return false;
    g->root[g->nroot++] = y;
  }
  return true;
}

static bool same_grads (DtParity *p, const json_t *o, const Grad *g) {
  const json_t *want = json_object_get(o, "grads");
  for (int i = 0; i < g->nwrt; i++) {
    char what[32];
    const json_t *w = json_array_get(want, (size_t)i);
    (void)snprintf(what, sizeof what, "grad %d", i);
    p->nth = i;
    if (!dt_same_tensor(p, what, w,
                        g->got[i] != NULL ? g->got[i]->local : NULL, false))
      return false;
  }
  return true;
}

static bool backward (DtParity *p, const json_t *o, Grad *g) {
  const json_t *error = json_object_get(o, "error");
  DtOpLog log;
  if (!read_upstream(p, o, g))
    return false;
  if (json_is_false(json_object_get(o, "differentiable")))
    return dt_same_flag(p, "differentiable", false, g->nroot > 0 &&
                        dt_var_needs_grad(g->root[0]));
  if (!dt_no_error(p, dt_oplog_start(&log, p, g->v.s)))
    return false;
  DtStatus st = dt_grad(g->v.s, &(DtBackward){ g->nroot, g->root, g->gout, false,
                                               false },
                        g->nwrt, g->wrt, true, g->got);
  dt_oplog_stop(&log, g->v.s);
  if (error != NULL)
    return dt_same_error(p, error, st);
  return dt_no_error(p, st) && same_grads(p, o, g) &&
         dt_same_oplog(p, "bwd_ops", json_object_get(o, "bwd_ops"),
                       json_object_get(o, "bwd_args"), &log);
}

bool dt_check_grad (DtParity *p, const json_t *o) {
  Grad g;
  memset(&g, 0, sizeof g);
  if (!dt_vcall_init(p, o, &g.v))
    return false;
  bool ok = dt_no_error(p, g.v.st) && mark_inputs(p, o, &g) &&
            (!dt_jtrue(o, "inplace_on_clone") || clone_first(p, &g));
  if (ok) {
    dt_vcall_run(&g.v);
    ok = dt_no_error(p, g.v.st) &&
         dt_same_results(p, dt_jstr(o, "op"), json_object_get(o, "out"),
                        &g.v.r, false) &&
         backward(p, o, &g);
  }
  grad_fini(&g);
  dt_var_unref(g.clone);
  return ok;
}
