/* SPDX-License-Identifier: MIT
** parity/mixed.c: which arguments may be plain tensors, against
** errors/mixed.jsonl.  One pretend rank, whose tensors hold 0.5 (integers 0)
** as those of the capture did; every line is a first, uncached call. */
#include "parity/values_int.h"

enum { SAID_MAX = 32 };

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

static DtStatus fill_half (DtCtx *cx, DtTensor *t) {
  DtDtype d = (DtDtype)t->m.dtype;
  DtScalar v = dt_dtype_is_integral(d, true) ? dt_scalar_int(0)
                                             : dt_scalar_float(0.5);
  int64_t n = dt_meta_numel(&t->m);
  void *to = NULL;
  if (!dt_meta_is_contiguous(&t->m))
    return DT_OK;                       /* none in these lines */
  DT_TRY(cx, dt_tensor_data(cx, t, &to));
  for (int64_t i = 0; i < n; i++)
    dt_dtype_store(d, (char *)to + (size_t)i * dt_dtype_size(d), v);
  return DT_OK;
}

/* {==== Warnings ==== */

typedef struct Said {
  int n;
  const char *text[SAID_MAX];
} Said;

static DtStatus on_warning (void *ud, DtSession *s, const DtEvent *e) {
  Said *said = ud;
  (void)s;
  if (e->text != NULL && said->n < SAID_MAX)
    said->text[said->n++] = strstr(e->text, "numel=1") != NULL ? "numel1"
                                                               : e->text;
  return DT_OK;
}

/* Texts that PyTorch says once in a process, or where it pretends a call for
** the first time: a line need not have them. */
static bool is_said_once (const char *text) {
  return strstr(text, "{str(shape)}") != NULL ||
         (strstr(text, "An output with one or more elements") == NULL &&
          strcmp(text, "numel1") != 0);
}

/* Length of a warning without the place in PyTorch's sources that C++ adds to
** it: "(function f)" or "(Triggered internally at FILE:LINE.)", as it was
** built. */
static size_t without_place (const char *text) {
  static const char *const marks[] = { " (function ",
                                       " (Triggered internally at " };
  size_t n = strlen(text);
  for (int i = 0; i < 2; i++) {
    const char *at = strstr(text, marks[i]);
    if (at != NULL && text[n - 1] == ')')
      return (size_t)(at - text);
  }
  return n;
}

static bool same_warning (const char *a, const char *b) {
  size_t n = without_place(a);
  return n == without_place(b) && strncmp(a, b, n) == 0;
}

/* The texts in their order, as often as they are said. */
static bool same_warnings (DtParity *p, const json_t *o, const Said *said) {
  const json_t *list = json_object_get(o, "warns");
  size_t k = 0;
  for (int i = 0; i < said->n; i++) {
    const char *want = json_string_value(json_array_get(list, k));
    if (want != NULL && same_warning(want, said->text[i]))
      k++;
    else if (!is_said_once(said->text[i]))
      return dt_fails(p, "warning %d: want %s, got %s", i,
                      want != NULL ? want : "none", said->text[i]);
  }
  if (k == json_array_size(list))
    return true;
  return dt_fails(p, "warning %d: want %s, got none", (int)k,
                  json_string_value(json_array_get(list, k)));
}

/* }==== */

/* {==== A line ==== */

/* One call in a session of its own. */
typedef struct Try {
  DtVCall v;
  Said said;
} Try;

static bool try_call (DtParity *p, const json_t *o, const DtOpDef **op,
                      bool data, Try *t) {
  int world = (int)world_of(o), id = 0;
  DtMesh *mesh = dt_jmesh_cached(p, o, 0);
  DtVCall *v = &t->v;
  memset(t, 0, sizeof *t);
  dt_parity_forget(p, world, 0);
  v->s = dt_parity_session(p, world, 0);
  if (v->s == NULL || mesh == NULL)
    return false;
  /* The capture had propagated each operator before it mixed arguments. */
  (void)dt_prop_traced_mode(v->s->prop, DT_TRACED_ALL);
  v->s->warn_all = true;
  dt_comm_pretend(v->s->comm, data);
  /* an operator known by its schema only can be refused all the same */
  *op = dt_registry_find(p->cx, v->s->registry, dt_jstr(o, "op"));
  if (*op == NULL)
    return true;
  v->st = dt_jcall(p, o, *op, &v->call);
  if (v->st == DT_OK)
    v->st = dt_jvars(p, v->s, &v->call, mesh, &v->vars);
  for (int i = 0; data && v->st == DT_OK && i < v->vars.n; i++)
    v->st = fill_half(p->cx, v->vars.v[i]->local);
  if (!dt_no_error(p, dt_event_listen(v->s, UINT64_C(1) << DT_EV_WARNING,
                                      on_warning, &t->said, &id)))
    return false;
  dt_vcall_run(v);
  dt_event_unlisten(v->s, id);
  return true;
}

/* Numbers are made only for answers that hang on them: what a kernel would
** read beyond its arguments is not theirs. */
static bool needs_numbers (const json_t *raises, const Try *t) {
  const char *class = dt_jstr(raises, "class");
  return t->v.st == DT_E_META_NO_DATA ||
         (t->v.st == DT_OK && class != NULL &&
          strcmp(class, "_LinAlgError") == 0);
}

bool dt_check_mixed (DtParity *p, const json_t *o) {
  const json_t *raises = json_object_get(o, "raises");
  const DtOpDef *op;
  Try t;
  bool ok = try_call(p, o, &op, false, &t);
  if (ok && op != NULL && needs_numbers(raises, &t)) {
    dt_vcall_fini(&t.v);
    dt_error_clear(p->cx);
    ok = try_call(p, o, &op, true, &t);
  }
  if (ok && op == NULL)
    ok = dt_parity_op(p, t.v.s->registry, dt_jstr(o, "op")) != NULL;
  else if (ok)
    ok = (raises != NULL
          ? dt_same_error(p, raises, t.v.st)
          : dt_no_error(p, t.v.st) &&
            same_vars(p, json_object_get(o, "out"), &t.v.r) &&
            same_self(p, o, &t.v)) &&
         same_warnings(p, o, &t.said);
  dt_vcall_fini(&t.v);
  return ok;
}

/* }==== */
