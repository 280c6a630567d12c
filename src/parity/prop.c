/* SPDX-License-Identifier: MIT
** parity/prop.c: sharding decisions against prop/: outputs, chosen inputs,
** rewritten arguments, costs, error texts; candidate tables; and the answers
** of registry/decomp.jsonl. */
#include "base/error_shard.h"
#include "parity/parity_int.h"

/* A case: the call and its specs. */
typedef struct Case {
  DtJCall call;
  DtMesh *mesh;
  const DtSpec **in;
  DtProp *prop;
  DtWhy *why;
} Case;

static void case_fini (DtParity *p, Case *c) {
  for (int i = 0; c->in != NULL && i < c->call.nin; i++)
    dt_spec_unref(p->cx, (DtSpec *)(uintptr_t)c->in[i]);
  dt_prop_unref(p->cx, c->prop);
  if (c->why != NULL)
    dt_why_free(p->cx, c->why);
}

/* The operator; one that is known by its schema can only be refused. */
static const DtOpDef *case_op (DtParity *p, const json_t *o) {
  const char *cls = dt_jstr(json_object_get(o, "error"), "class");
  if (cls != NULL && strcmp(cls, "NotImplementedError") == 0)
    return dt_registry_find(p->cx, p->reg, dt_jstr(o, "op"));
  return dt_parity_op(p, p->reg, dt_jstr(o, "op"));
}

/* Decode; false with the reason, or with the line skipped. */
static bool case_init (DtParity *p, const json_t *o, Case *c) {
  memset(c, 0, sizeof *c);
  if (!dt_no_error(p, dt_parity_tables(p)))
    return false;
  const DtOpDef *op = case_op(p, o);
  if (op == NULL || !dt_no_error(p, dt_jcall(p, o, op, &c->call)))
    return false;
  c->mesh = dt_jmesh_cached(p, o, 0);
  c->in = DT_ANEWN(p->cx, &p->arena, const DtSpec *,
                   c->call.nin > 0 ? c->call.nin : 1);
  if (c->mesh == NULL || c->in == NULL)
    return dt_fails(p, "no mesh");
  for (int i = 0; i < c->call.nin; i++) {
    if (!dt_jis_dist(c->call.tensor[i]))
      return dt_fails(p, "a plain tensor");
    c->in[i] = dt_jspec(p, c->call.tensor[i], c->mesh);
    if (c->in[i] == NULL)
      return false;
  }
  return true;
}

/* {==== Decisions ==== */

static bool same_outputs (DtParity *p, const json_t *want, const DtProp *r) {
  if (want == NULL || json_is_null(want)) {
    for (int i = 0; i < r->nout; i++)
      if (r->out[i] != NULL)
        return dt_fails(p, "out: want none, got %d", r->nout);
    return true;
  }
  if (json_is_object(want))
    return r->nout == 1 ? dt_same_spec(p, "out", want, r->out[0])
                        : dt_fails(p, "out: want one, got %d", r->nout);
  if ((int)json_array_size(want) != r->nout)
    return dt_fails(p, "out: want %d, got %d", (int)json_array_size(want),
                    r->nout);
  for (int i = 0; i < r->nout; i++) {
    char what[32];
    (void)snprintf(what, sizeof what, "out %d", i);
    if (!dt_same_spec(p, what, json_array_get(want, (size_t)i), r->out[i]))
      return false;
  }
  return true;
}

/* "in" lists the positional tensors, and only where one differs. */
static bool same_inputs (DtParity *p, const json_t *want, const Case *c) {
  const DtProp *r = c->prop;
  int n = (int)json_array_size(want);
  if (want == NULL) {
    for (int i = 0; i < r->nin; i++)
      if (r->in[i] != NULL &&
          !(r->in[i]->npl == c->in[i]->npl &&
            dt_pls_equal(r->in[i]->pl, c->in[i]->pl, c->in[i]->npl))) {
        dt_buf_addf(&p->why, "in %d: want as it is, got ", i);
        dt_spec_print_placements(r->in[i], &p->why);
        return false;
      }
    return true;
  }
  if (n > r->nin)
    return dt_fails(p, "in: want %d, got %d", n, r->nin);
  for (int i = 0; i < n; i++) {
    char what[32];
    const DtSpec *s = r->in[i] != NULL ? r->in[i] : c->in[i];
    (void)snprintf(what, sizeof what, "in %d", i);
    if (!dt_same_pls(p, what, json_array_get(want, (size_t)i), s->pl,
                     s->npl))
      return false;
  }
  return true;
}

static bool same_rewrite (DtParity *p, const json_t *o, const Case *c) {
  const json_t *local = json_object_get(o, "local_args");
  const char *op = dt_jstr(o, "local_op");
  const DtProp *r = c->prop;
  const DtArgs *a = r->args != NULL ? r->args : &c->call.args;
  if (!dt_same_flag(p, "rewrite", dt_jtrue(o, "rewrite"), r->rewritten))
    return false;
  if (op == NULL)
    op = c->call.op->sig->full;
  if (r->op != NULL && !dt_same_text(p, "local_op", op, r->op->sig->full))
    return false;
  if (!r->rewritten)
    return true;
  for (size_t i = 0; i < json_array_size(local); i++) {
    char what[32];
    (void)snprintf(what, sizeof what, "local_args[%d]", (int)i);
    if ((int)i >= a->n)
      return dt_fails(p, "%s: none", what);
    if (!dt_same_value(p, what, json_array_get(local, i), &a->v[i]))
      return false;
  }
  return true;
}

static bool close_cost (DtParity *p, const json_t *want, double got) {
  double w = dt_jnum(want), d = w - got;
  if (w > 1e300 || got > 1e300)
    return dt_same_num(p, "cost", want, got);
  d = d < 0 ? -d : d;
  return d <= 1e-9 * (w < 0 ? -w : w) + 1e-12 ||
         dt_same_num(p, "cost", want, got);
}

static bool same_cost (DtParity *p, const json_t *want, const DtProp *r) {
  if (json_is_array(want)) {
    if ((int)json_array_size(want) != r->ncosts)
      return dt_fails(p, "cost: want %d, got %d",
                      (int)json_array_size(want), r->ncosts);
    for (int i = 0; i < r->ncosts; i++)
      if (!close_cost(p, json_array_get(want, (size_t)i), r->costs[i]))
        return false;
    return true;
  }
  if (want == NULL || json_is_null(want))
    return !r->has_cost || dt_fails(p, "cost: want none, got %g", r->cost);
  if (!r->has_cost)
    return dt_fails(p, "cost: none");
  return close_cost(p, want, r->cost);
}

/* The text, with what the dispatcher appends. */
static bool same_refusal (DtParity *p, const json_t *o, DtStatus st) {
  const json_t *error = json_object_get(o, "error");
  const char *text = dt_jstr(error, "text"), *schema = dt_jstr(o, "schema");
  const char *got = dt_buf_str(&p->cx->err.message);
  static const char mid[] = "\n\nSharding propagation failed for ";
  size_t n = strlen(text);
  if (st == DT_OK)
    return dt_fails(p, "no error, want %s: %s", dt_jstr(error, "class"),
                    text);
  bool same = strncmp(text, got, n) == 0;
  if (same && got[n] != '\0') {
    same = strncmp(got + n, mid, sizeof mid - 1) == 0;
    if (same && schema != NULL)
      return dt_same_text(p, "schema", schema, got + n + sizeof mid - 1);
  }
  if (same && strcmp(dt_jstr(error, "class"), "NotImplementedError") == 0)
    return dt_same_text(p, "class", "NotImplementedError",
                        p->cx->err.pyclass);
  return same || dt_fails(p, "want %s: %s, got %s", dt_jstr(error, "class"),
                          text, got);
}

static DtStatus propagate (DtParity *p, Case *c, DtWhy **why) {
  return dt_prop_run(p->cx, p->prop, &(DtOpSchema){ c->call.op, &c->call.args,
                     c->call.nin, c->in }, why, &c->prop);
}

static bool check_decision (DtParity *p, const json_t *o) {
  Case c;
  dt_buf_clear(&p->why);
  dt_error_clear(p->cx);
  bool ok = case_init(p, o, &c);
  if (ok) {
    DtStatus st = propagate(p, &c, NULL);
    if (json_object_get(o, "hang") != NULL)
      ok = true;                /* it is enough to come back */
    else if (json_object_get(o, "error") != NULL)
      ok = same_refusal(p, o, st);
    else
      ok = dt_no_error(p, st) &&
           same_outputs(p, json_object_get(o, "out"), c.prop) &&
           same_inputs(p, json_object_get(o, "in"), &c) &&
           same_rewrite(p, o, &c) &&
           same_cost(p, json_object_get(o, "cost"), c.prop);
  }
  case_fini(p, &c);
  return ok;
}

enum { HASH_SEEDS = 64 };

/* Is the line's answer that of another process of PyTorch? */
static bool right_by_hash (DtParity *p, const json_t *o) {
  bool ok = false;
  for (unsigned seed = 1; !ok && seed <= HASH_SEEDS; seed++) {
    dt_prop_hash_seed(p->cx, p->prop, seed);
    ok = check_decision(p, o);
  }
  dt_prop_hash_seed(p->cx, p->prop, 0);
  return ok;
}

/* No candidate at all, not even the one that replicates everything, while one
** is found here: inside the trace PyTorch was answered from its cache, whose key
** leaves out= away. */
static bool is_from_cache (const json_t *o) {
  const json_t *cause = json_object_get(json_object_get(o, "error"), "cause");
  const char *text = dt_jstr(cause, "text");
  return text != NULL && json_object_get(o, "kw") != NULL &&
         strcmp(text, "Sharding propagation should have produced at least "
                "Replicate() strategy") == 0;
}

bool dt_check_prop (DtParity *p, const json_t *o) {
  static const DtOpenRule by_hash = { "",
    "equal candidates come in the order of a Python set of placements, and a "
    "partial's hash is that of a string", "aten.arcsin of f32[8, 4] S(1)P(min) "
    "on (2, 2) is S(1)S(0) under PYTHONHASHSEED=0 and S(1)S(1) under 8" };
  static const DtOpenRule by_cache = { "",
    "refused since a decision for another out= was met in the cache",
    "aten.cross.out of f32[4, 3] R, R and out R on 4 ranks, first of all in a "
    "process: R" };
  if (check_decision(p, o))
    return true;
  if (p->skipped || p->prop == NULL)
    return false;
  if (p->cx->err.code == DT_OK && is_from_cache(o))
    p->open = &by_cache;
  else if (right_by_hash(p, o))
    p->open = &by_hash;
  return p->open == NULL && check_decision(p, o);       /* says why not */
}

bool dt_check_undecided (DtParity *p, const json_t *o, bool *met) {
  const json_t *error = json_object_get(o, "error");
  Case c;
  bool ok = case_init(p, o, &c);
  if (ok) {
    DtStatus st = propagate(p, &c, NULL);
    *met = st == DT_OK || st == DT_E_MISSING;
    if (st == DT_OK)
      ok = dt_fails(p, "decided, want %s", dt_jstr(error, "text"));
    else if (st == DT_E_MISSING)
      ok = dt_same_text(p, "error", dt_jstr(error, "text"),
                        dt_buf_str(&p->cx->err.message));
  }
  case_fini(p, &c);
  return ok;
}

bool dt_check_decomp (DtParity *p, const json_t *o) {
  const json_t *result = json_object_get(o, "result");
  Case c;
  bool ok = case_init(p, o, &c);
  if (ok)
    ok = dt_no_error(p, propagate(p, &c, NULL)) &&
         same_outputs(p, json_object_get(result, "out"), c.prop) &&
         same_cost(p, json_object_get(result, "cost"), c.prop);
  case_fini(p, &c);
  return ok;
}

/* }==== Candidates ==== */

static bool same_rows (DtParity *p, const char *what, const json_t *want,
                       const DtPlacement *pl, int n, int ndim) {
  if ((int)json_array_size(want) > n)
    return dt_fails(p, "%s: want %d, got %d", what,
                    (int)json_array_size(want), n);
  for (size_t i = 0; i < json_array_size(want); i++) {
    const json_t *row = json_array_get(want, i);
    if (json_is_null(row))
      continue;
    if (!dt_same_pls(p, what, row, pl + i * (size_t)ndim, ndim))
      return false;
  }
  return true;
}

static bool same_cand (DtParity *p, const json_t *want, const DtWhy *w,
                       int i) {
  const DtCand *c = &w->cand[i];
  const json_t *in = json_object_get(want, "in");
  const json_t *out = json_object_get(want, "out");
  bool ok = (!json_is_array(out) ||
             same_rows(p, "out", out, c->out, w->nout, w->ndim)) &&
            (!json_is_array(in) || c->in == NULL ||
             same_rows(p, "in", in, c->in, w->nin, w->ndim)) &&
            close_cost(p, json_object_get(want, "cost"), c->total);
  if (!ok)
    dt_buf_addf(&p->why, " (candidate %d)", i);
  return ok;
}

static bool same_table (DtParity *p, const json_t *want, const DtWhy *w) {
  const json_t *cands = json_object_get(want, "cands");
  if (dt_jint(want, "total", -1) != w->ncand)
    return dt_fails(p, "candidates: want %d, got %d",
                    (int)dt_jint(want, "total", -1), w->ncand);
  for (size_t i = 0; i < json_array_size(cands); i++)
    if (!same_cand(p, json_array_get(cands, i), w, (int)i))
      return false;
  return dt_same_num(p, "winner", json_object_get(want, "winner"),
                     w->winner);
}

bool dt_check_cands (DtParity *p, const json_t *line) {
  const json_t *children = json_object_get(line, "children");
  Case c;
  bool ok = case_init(p, json_object_get(line, "case"), &c);
  if (ok)
    ok = dt_no_error(p, propagate(p, &c, &c.why));
  if (ok && c.why == NULL)
    ok = dt_fails(p, "no table");
  if (ok && children == NULL)
    ok = same_table(p, line, c.why);
  for (size_t i = 0; ok && i < json_array_size(children); i++) {
    ok = (int)i < c.why->nchild &&
         same_table(p, json_array_get(children, i), c.why->child[i]);
    if (!ok)
      dt_buf_addf(&p->why, " (element %d)", (int)i);
  }
  case_fini(p, &c);
  return ok;
}

/* }==== */
