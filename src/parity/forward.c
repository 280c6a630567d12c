/* SPDX-License-Identifier: MIT
** parity/forward.c: numbers of plain calls against values/forward: results,
** what they alias, what was written, errors. */
#include <string.h>

#include "parity/values_int.h"

/* {==== Calls ==== */

bool dt_vcall_init (DtParity *p, const json_t *o, DtVCall *v) {
  memset(v, 0, sizeof *v);
  v->s = dt_parity_session(p, 1, 0);
  if (v->s == NULL)
    return false;
  const DtOpDef *op = dt_parity_op(p, v->s->registry, dt_jstr(o, "op"));
  if (op == NULL)
    return false;
  v->st = dt_jcall(p, o, op, &v->call);
  if (v->st == DT_OK)
    v->st = dt_jvars(p, v->s, &v->call, NULL, &v->vars);
  return true;
}

void dt_vcall_run (DtVCall *v) {
  if (v->st == DT_OK)
    v->st = dt_call(v->s, v->call.op, &v->call.args, v->vars.n, v->vars.v,
                    &v->r);
  v->ran = v->st == DT_OK;
}

void dt_vcall_fini (DtVCall *v) {
  if (v->ran)
    dt_results_fini(v->s, &v->r);
  dt_jvars_fini(&v->vars);
}

DtVar *dt_vcall_var (const DtVCall *v, const char *path) {
  for (int i = 0; i < v->vars.n; i++)
    if (strcmp(v->call.path[i], path) == 0)
      return v->vars.v[i];
  return NULL;
}

/* }==== Results ==== */

/* The wanted tensors in one row: lists of lists are one list. */
static int flatten (const json_t *want, const json_t **out, int n, int max) {
  if (json_is_array(want)) {
    for (size_t i = 0; i < json_array_size(want); i++)
      n = flatten(json_array_get(want, i), out, n, max);
    return n;
  }
  if (n < max)
    out[n] = want;
  return n + 1;
}

/* Results against the capture's.  A capture has one value, a list or a nested list
** for what is here a flat list or a number; eigenvectors and the like are
** compared up to a phase, which libraries choose, unless `exact`. */
bool dt_same_results (DtParity *p, const char *op, const json_t *want,
                      const DtResults *r, bool exact) {
  const json_t *flat[64];
  if (want == NULL || json_is_null(want))
    return r->n == 0 || dt_fails(p, "out: want none, got %d", r->n);
  if (!json_is_array(want) && !dt_jis_plain(want))
    return r->n == 0 ? dt_same_scalar(p, "out", want, &r->ret)
                     : dt_fails(p, "out: want a number, got %d tensors",
                                r->n);
  int n = flatten(want, flat, 0, 64);
  if (n == 1 && r->n == 0 && !dt_jis_plain(flat[0]))
    return dt_same_scalar(p, "out", flat[0], &r->ret);
  if (n != r->n || n > 64)
    return dt_fails(p, "out: want %d, got %d", n, r->n);
  for (int i = 0; i < n; i++) {
    char what[32];
    const DtVar *v = dt_result(r, i);
    p->nth = i;
    (void)snprintf(what, sizeof what, n > 1 ? "out %d" : "out", i);
    DtFreePhase free = exact ? DT_PHASE_FIXED : dt_free_phase(op, i);
    if (free != DT_PHASE_FIXED && v != NULL
        ? !dt_same_vectors(p, what, flat[i], v->local, free)
        : !dt_same_tensor(p, what, flat[i], v != NULL ? v->local : NULL,
                          exact))
      return false;
  }
  return true;
}

/* "args[1][0]": the capture looked for sharing with whole arguments only. */
static bool in_list (const char *path) { return strstr(path, "][") != NULL; }

/* Which results share memory with which arguments, both ways: those that the capture
** names must, and where it names none nobody may.  Results of no elements share
** nothing in PyTorch's eyes, wherever their storage is. */
static bool same_alias (DtParity *p, const json_t *o, const DtVCall *v) {
  const json_t *list = json_object_get(o, "alias");
  uint64_t seen = 0;
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *e = json_array_get(list, i);
    int64_t k = json_integer_value(json_array_get(e, 0));
    const char *path = json_string_value(json_array_get(e, 1));
    const DtVar *a = path != NULL ? dt_vcall_var(v, path) : NULL;
    const DtVar *b = k < v->r.n ? dt_result(&v->r, (int)k) : NULL;
    if (a == NULL || b == NULL)
      continue;                 /* a list as a whole */
    seen |= k < 64 ? UINT64_C(1) << k : 0;
    if (a->local->storage != b->local->storage)
      return dt_fails(p, "result %d is no view of %s", (int)k, path);
    if (!dt_same_num(p, "offset", json_array_get(e, 2),
                     (double)(b->local->offset - a->local->offset)))
      return false;
  }
  for (int k = 0; list == NULL && k < v->r.n; k++) {
    const DtVar *b = dt_result(&v->r, k);
    for (int i = 0; b != NULL && i < v->vars.n; i++)
      if (b->local->storage == v->vars.v[i]->local->storage &&
          dt_meta_numel(&b->local->m) > 0 && !in_list(v->call.path[i]))
        return dt_fails(p, "result %d shares memory with %s", k,
                        v->call.path[i]);
  }
  return true;
}

/* "exact" speaks of the results: where there are none it says nothing. */
static bool same_after (DtParity *p, const json_t *o, const DtVCall *v,
                        bool exact) {
  const json_t *out = json_object_get(o, "out");
  json_t *after = json_object_get(o, "after"), *want;
  const char *path;
  json_object_foreach(after, path, want) {
    const json_t *flat[64];
    int n = flatten(want, flat, 0, 64);
    for (int i = 0; i < n && i < 64; i++) {
      char at[80];
      (void)snprintf(at, sizeof at, json_is_array(want) ? "%s[%d]" : "%s",
                     path, i);
      const DtVar *x = dt_vcall_var(v, at);
      p->nth = i;
      if (x == NULL && n == 1)
        x = dt_vcall_var(v, path);
      if (x == NULL)
        return dt_fails(p, "after: no argument %s", at);
      if (!dt_same_tensor(p, at, flat[i], x->local,
                          exact && json_array_size(out) > 0))
        return false;
    }
  }
  return true;
}

/* What the capture gave strides was a view there. */
static DtStatus mark_views (DtVCall *v) {
  for (int i = 0; v->st == DT_OK && i < v->vars.n; i++)
    if (json_object_get(v->call.tensor[i], "stride") != NULL)
      DT_TRY(v->s->cx, dt_var_new(v->s, v->vars.v[i]->local, NULL,
                                  &v->vars.v[i]->view_base));
  return DT_OK;
}

bool dt_check_forward (DtParity *p, const json_t *o) {
  const json_t *error = json_object_get(o, "error");
  bool exact = dt_jtrue(o, "exact");
  DtVCall v;
  if (!dt_vcall_init(p, o, &v))
    return false;
  if (v.st == DT_OK)
    v.st = mark_views(&v);
  dt_vcall_run(&v);
  bool ok = error != NULL
            ? dt_same_error(p, error, v.st)
            : dt_no_error(p, v.st) &&
              dt_same_results(p, dt_jstr(o, "op"), json_object_get(o, "out"),
                              &v.r, exact) &&
              same_after(p, o, &v, exact) && same_alias(p, o, &v);
  dt_vcall_fini(&v);
  return ok;
}

/* }==== */
