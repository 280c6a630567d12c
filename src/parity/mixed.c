/* SPDX-License-Identifier: MIT
** parity/mixed.c: which arguments may be plain tensors, against
** errors/mixed.jsonl.  One pretend rank without data; every line is a first,
** uncached call. */
#include "parity/values_int.h"

static int64_t world_of (const json_t *o) {
  int64_t shape[DT_MAX_MDIM], n = 1;
  int k = dt_jints(json_object_get(json_object_get(o, "mesh"), "shape"),
                   shape, DT_MAX_MDIM);
  for (int i = 0; i < k; i++)
    n *= shape[i];
  return n;
}

static bool same_var (DtParity *p, const char *what, const json_t *want,
                      const DtVar *got) {
  if (want == NULL || json_is_null(want))
    return got == NULL || dt_fails(p, "%s: want none", what);
  if (got == NULL)
    return dt_fails(p, "%s: none", what);
  if (dt_jis_dist(want))
    return dt_var_is_dist(got) ? dt_same_spec(p, what, want, got->spec)
                               : dt_fails(p, "%s: want a DTensor", what);
  if (dt_var_is_dist(got))
    return dt_fails(p, "%s: want a plain tensor", what);
  if (json_object_get(want, "stride") == NULL) {        /* not recorded */
    DtMeta m;
    dt_meta_copy(&m, &got->local->m);
    dt_meta_set_contiguous(&m);
    return dt_same_meta(p, what, want, &m);
  }
  return dt_same_meta(p, what, want, &got->local->m);
}

static bool same_vars (DtParity *p, const json_t *want, const DtResults *r) {
  if (!json_is_array(want)) {
    if (r->n == 0 && want != NULL && !json_is_null(want) &&
        !json_is_object(want))
      return dt_same_scalar(p, "out", want, &r->ret);
    if (r->n > 1)
      return dt_fails(p, "out: want one, got %d", r->n);
    return same_var(p, "out", want, r->n == 1 ? dt_result(r, 0) : NULL);
  }
  if ((int)json_array_size(want) != r->n)
    return dt_fails(p, "out: want %d, got %d", (int)json_array_size(want),
                    r->n);
  for (int i = 0; i < r->n; i++) {
    char what[32];
    (void)snprintf(what, sizeof what, "out %d", i);
    if (!same_var(p, what, json_array_get(want, (size_t)i),
                  dt_result(r, i)))
      return false;
  }
  return true;
}

static bool same_self (DtParity *p, const json_t *o, const DtVCall *v) {
  const DtVar *x = dt_vcall_var(v, "args[0]");
  if (!dt_jtrue(o, "same") || x == NULL || v->r.n == 0)
    return true;
  const DtVar *y = dt_result(&v->r, 0);
  return y == x || y->local == x->local ||
         y->local->storage == x->local->storage ||
         dt_fails(p, "the result is not args[0]");
}

/* How often the text about tensors of one element was said. */
static DtStatus on_warning (void *ud, DtSession *s, const DtEvent *e) {
  int *n = ud;
  (void)s;
  *n += e->text != NULL && strstr(e->text, "numel=1") != NULL;
  return DT_OK;
}

/* A session says each text once, so only whether it was said is compared. */
static bool same_warning (DtParity *p, const json_t *o, int said) {
  const json_t *list = json_object_get(o, "warns");
  bool want = false;
  for (size_t i = 0; i < json_array_size(list); i++)
    want |= strcmp(json_string_value(json_array_get(list, i)), "numel1") == 0;
  return dt_same_flag(p, "warning about one element", want, said > 0);
}

bool dt_check_mixed (DtParity *p, const json_t *o) {
  const json_t *raises = json_object_get(o, "raises");
  DtMesh *mesh = dt_jmesh_cached(p, o, 0);
  int said = 0, id = 0;
  DtVCall v;
  memset(&v, 0, sizeof v);
  dt_parity_forget(p, (int)world_of(o), 0);
  v.s = dt_parity_session(p, (int)world_of(o), 0);
  if (v.s == NULL || mesh == NULL)
    return false;
  /* The capture had propagated each operator before it mixed arguments. */
  (void)dt_prop_traced_mode(v.s->prop, DT_TRACED_ALL);
  const DtOpDef *op = dt_parity_op(p, v.s->registry, dt_jstr(o, "op"));
  if (op == NULL)
    return false;
  v.st = dt_jcall(p, o, op, &v.call);
  if (v.st == DT_OK)
    v.st = dt_jvars(p, v.s, &v.call, mesh, &v.vars);
  if (!dt_no_error(p, dt_event_listen(v.s, UINT64_C(1) << DT_EV_WARNING,
                                      on_warning, &said, &id)))
    return false;
  dt_vcall_run(&v);
  dt_event_unlisten(v.s, id);
  bool ok = raises != NULL
            ? dt_same_error(p, raises, v.st)
            : dt_no_error(p, v.st) &&
              same_vars(p, json_object_get(o, "out"), &v.r) &&
              same_self(p, o, &v);
  const char *class = dt_jstr(raises, "class");
  bool numbers = class != NULL && strcmp(class, "_LinAlgError") == 0;
  if (v.st == DT_E_META_NO_DATA || (numbers && v.st == DT_OK)) {      /* a pretend rank cannot say */
    ok = dt_parity_skip(p);
    dt_buf_clear(&p->why);
  }
  ok = ok && (p->skipped || same_warning(p, o, said));
  dt_vcall_fini(&v);
  return ok;
}
