/* SPDX-License-Identifier: MIT
** tests/unit/parity_prop.c: reference cases of propagation against the engine:
** build the call a line describes, decide it, compare everything the line
** says.  Overloads that are not in the registry are skipped.
**
** It knows nothing of test frameworks: test_prop.c includes it, and a command
** can. */
#include "parity_prop.h"

#include "shard/prop_int.h"

enum { CASE_SLOTS = 256, CASE_ARGS = 32 };

/* A call read from a line. */
typedef struct Case {
  Parity *p;
  DtArena arena;
  DtMesh *mesh;
  int nin;
  DtSpec *in[CASE_SLOTS];
  DtMeta meta[CASE_SLOTS];
  bool metas_only;
  DtArgs args;
} Case;

/* {==== Set-up ==== */

DtStatus prop_parity_init (PropParity *t, DtCtx *cx,
                           const DtOpDef *const *ops, const DtVariant *vars) {
  DtTopo topo;
  memset(t, 0, sizeof *t);
  parity_init(&t->p, cx);
  dt_map_init(&t->stats, cx, NULL);
  dt_topo_default(&topo);
  t->costs = true;
  DT_TRY(cx, dt_registry_new(cx, ops, vars, &t->reg));
  DT_TRY(cx, dt_planner_new(cx, &topo, &t->plan));
  return dt_propagator_new(cx, t->reg, t->plan, &t->prop);
}

void prop_parity_fini (PropParity *t) {
  DtCtx *cx = t->p.cx;
  DtMapEntry *e;
  int32_t it = 0;
  while ((e = dt_map_next(&t->stats, &it)) != NULL) {
    PropStat *s = e->value;
    dt_free(cx, s->name);
    dt_free(cx, s);
  }
  dt_map_fini(&t->stats);
  dt_propagator_free(cx, t->prop);
  dt_planner_free(cx, t->plan);
  dt_registry_free(cx, t->reg);
  parity_fini(&t->p);
}

static void count (PropParity *t, const char *op, bool ok) {
  PropStat *s = dt_map_get_str(&t->stats, op);
  if (s == NULL) {
    s = DT_NEW(t->p.cx, PropStat);
    if (s == NULL)
      return;
    s->name = dt_strdup(t->p.cx, op);
    if (s->name == NULL ||
        dt_map_put_str(&t->stats, s->name, s) != DT_OK) {
      dt_free(t->p.cx, s->name);
      dt_free(t->p.cx, s);
      return;
    }
  }
  if (ok)
    s->pass++;
  else
    s->fail++;
}

static int by_failures (const void *a, const void *b) {
  const PropStat *x = *(PropStat *const *)a, *y = *(PropStat *const *)b;
  if (x->fail != y->fail)
    return x->fail < y->fail ? 1 : -1;
  return strcmp(x->name, y->name);
}

int prop_parity_report (PropParity *t, FILE *f) {
  int n = (int)dt_map_count(&t->stats), i = 0, bad = 0;
  PropStat **v = calloc((size_t)n + 1, sizeof *v);
  DtMapEntry *e;
  int32_t it = 0;
  while (v != NULL && (e = dt_map_next(&t->stats, &it)) != NULL)
    v[i++] = e->value;
  if (v != NULL)
    qsort(v, (size_t)n, sizeof *v, by_failures);
  for (i = 0; v != NULL && i < n && v[i]->fail > 0; i++, bad++)
    (void)fprintf(f, "  %-44s %5d pass %5d fail\n", v[i]->name, v[i]->pass,
                  v[i]->fail);
  (void)fprintf(f, "%d overloads checked, %d with failures\n", n, bad);
  free(v);
  return n;
}

/* }==== Reading a call ==== */

static DtStatus read_masks (Case *c, const json_t *o, DtPlacement *pl,
                            int n) {
  const json_t *masks = json_object_get(o, "mask");
  for (int i = 0; i < n; i++) {
    const json_t *m = json_array_get(masks, (size_t)i);
    int64_t shape[8];
    if (pl[i].kind != DT_PL_MASK_PARTIAL)
      continue;
    int k = jints(json_object_get(m, "shape"), shape, 8);
    pl[i].u.mask = dt_mask_new(c->p->cx, k, shape, (int)jint(m, "dim", 0));
    if (pl[i].u.mask == NULL)
      return DT_E_NOMEM;
  }
  return DT_OK;
}

static bool read_meta (Case *c, const json_t *o, DtMeta *m) {
  int64_t shape[DT_MAX_NDIM];
  const char *dt = jstr(o, "dt") != NULL ? jstr(o, "dt") : jstr(o, "t");
  int n = jints(json_object_get(o, "shape"), shape, DT_MAX_NDIM);
  if (dt_meta_init(c->p->cx, m, dt_dtype_find(dt), n, shape) != DT_OK)
    return no_error(c->p, c->p->cx->err.code);
  if (json_object_get(o, "stride") != NULL)
    (void)jints(json_object_get(o, "stride"), m->stride, DT_MAX_NDIM);
  return true;
}

static bool read_tensor (Case *c, const json_t *o, DtValue *v) {
  DtPlacement pl[DT_MAX_MDIM];
  DtShardOrder order;
  const json_t *flag = json_object_get(o, "strided_order");
  DtMeta *m = &c->meta[c->nin];
  if (c->nin == CASE_SLOTS || !read_meta(c, o, m))
    return false;
  *v = dt_v_slot(c->nin);
  if (c->metas_only) {
    c->nin++;
    return true;
  }
  int n = jpls(c->p, json_object_get(o, "pl"), pl);
  if (n < 0)
    return no_error(c->p, c->p->cx->err.code);
  DtStatus st = read_masks(c, o, pl, n);
  if (st == DT_OK)
    st = dt_spec_new(c->p->cx, c->mesh, n, pl, m,
                     jorder(json_object_get(o, "order"), &order),
                     flag != NULL ? json_is_true(flag) : -1,
                     &c->in[c->nin]);
  for (int i = 0; i < n; i++)
    if (pl[i].kind == DT_PL_MASK_PARTIAL)
      dt_mask_unref(c->p->cx, pl[i].u.mask);
  if (st == DT_OK)
    c->nin++;
  return no_error(c->p, st);
}

static bool read_value (Case *c, const json_t *j, DtValue *v);

static bool read_list (Case *c, const json_t *j, DtValue *v) {
  int n = (int)json_array_size(j);
  DtValue *e = DT_ANEWN(c->p->cx, &c->arena, DtValue, n + 1);
  for (int i = 0; e != NULL && i < n; i++)
    if (!read_value(c, json_array_get(j, (size_t)i), &e[i]))
      return false;
  *v = dt_v_list(n, e);
  return e != NULL;
}

static bool read_object (Case *c, const json_t *j, DtValue *v) {
  const char *s;
  if (jstr(j, "dt") != NULL || jstr(j, "t") != NULL)
    return read_tensor(c, j, v);
  if ((s = jstr(j, "dtype")) != NULL)
    *v = dt_v_dtype(dt_dtype_find(s));
  else if ((s = jstr(j, "device")) != NULL)
    *v = dt_v_code(DT_V_DEVICE, dt_device_find(s));
  else if ((s = jstr(j, "layout")) != NULL)
    *v = dt_v_code(DT_V_LAYOUT, dt_layout_find(s));
  else if ((s = jstr(j, "memory_format")) != NULL)
    *v = dt_v_str(s);
  else if (json_object_get(j, "inf") != NULL)
    *v = dt_v_float(jnum(j));
  else if (json_object_get(j, "nan") != NULL)
    *v = dt_v_float(NAN);
  else if (json_object_get(j, "c") != NULL) {
    const json_t *a = json_object_get(j, "c");
    *v = dt_v_complex(jnum(json_array_get(a, 0)), jnum(json_array_get(a, 1)));
  } else {
    dt_buf_add(&c->p->why, "a value of an unknown kind");
    return false;
  }
  return true;
}

static bool read_value (Case *c, const json_t *j, DtValue *v) {
  switch (json_typeof(j)) {
    case JSON_OBJECT: return read_object(c, j, v);
    case JSON_ARRAY: return read_list(c, j, v);
    case JSON_STRING: *v = dt_v_str(json_string_value(j)); return true;
    case JSON_INTEGER: *v = dt_v_int(json_integer_value(j)); return true;
    case JSON_REAL: *v = dt_v_float(json_real_value(j)); return true;
    case JSON_NULL: *v = dt_v_none(); return true;
    default: *v = dt_v_bool(json_is_true(j)); return true;
  }
}

/* Read and bind; *st is the status of binding. */
static bool read_call (Case *c, const json_t *line, const DtOpDef *op,
                       DtStatus *st) {
  DtValue pos[CASE_ARGS], kw[CASE_ARGS];
  const char *name[CASE_ARGS], *key;
  const json_t *args = json_object_get(line, "args");
  json_t *value;
  int npos = (int)json_array_size(args), nkw = 0;
  if (npos > CASE_ARGS)
    return false;
  for (int i = 0; i < npos; i++)
    if (!read_value(c, json_array_get(args, (size_t)i), &pos[i]))
      return false;
  json_object_foreach(json_object_get(line, "kw"), key, value) {
    name[nkw] = key;
    if (nkw == CASE_ARGS || !read_value(c, value, &kw[nkw++]))
      return false;
  }
  *st = dt_schema_bind(c->p->cx, op->sig, npos, pos, nkw, name, kw, &c->args);
  return true;
}

static void case_fini (Case *c) {
  for (int i = 0; i < c->nin; i++)
    dt_spec_unref(c->p->cx, c->in[i]);
  dt_mesh_unref(c->p->cx, c->mesh);
  dt_arena_fini(c->p->cx, &c->arena);
}

/* }==== Comparing ==== */

static void short_text (DtPlacement pl, DtBuf *b) {
  if (pl.kind == DT_PL_MASK_PARTIAL)
    dt_buf_addf(b, "MaskP(%s)", dt_redop_name((DtRedOp)pl.op));
  else
    dt_pl_print(pl, b);
}

static bool same_list (Parity *p, const char *what, const json_t *want,
                       const DtPlacement *pl, int n) {
  bool ok = (int)json_array_size(want) == n;
  DtBuf all;
  dt_buf_init(&all, p->cx);
  for (int i = 0; i < n; i++) {
    DtBuf b;
    const char *w = json_string_value(json_array_get(want, (size_t)i));
    dt_buf_init(&b, p->cx);
    short_text(pl[i], &b);
    dt_buf_add(&all, dt_buf_str(&b));
    ok = ok && w != NULL && strcmp(w, dt_buf_str(&b)) == 0;
    dt_buf_fini(&b);
  }
  if (!ok) {
    char *s = json_dumps(want, JSON_COMPACT | JSON_ENCODE_ANY);
    dt_buf_addf(&p->why, "%s: want %s, got %s", what, s, dt_buf_str(&all));
    free(s);
  }
  dt_buf_fini(&all);
  return ok;
}

static bool same_spec (Parity *p, const json_t *want, const DtSpec *got) {
  DtMeta m;
  Case c;
  DtShardOrder o, w;
  const json_t *flag = json_object_get(want, "strided_order");
  memset(&c, 0, sizeof c);
  c.p = p;
  if (!json_is_object(want))
    return same_flag(p, "an output is None", json_is_null(want), got == NULL);
  if (got == NULL)
    return same_flag(p, "an output is None", false, true);
  if (!read_meta(&c, want, &m))
    return false;
  if (!dt_meta_equal(&m, &got->meta)) {
    dt_buf_add(&p->why, "output is ");
    dt_meta_print(&got->meta, &p->why);
    dt_buf_add_tuple(&p->why, got->meta.stride, got->meta.ndim);
    dt_buf_add(&p->why, ", want ");
    dt_meta_print(&m, &p->why);
    dt_buf_add_tuple(&p->why, m.stride, m.ndim);
    return false;
  }
  if (!same_list(p, "out", json_object_get(want, "pl"), got->pl, got->npl))
    return false;
  if (dt_spec_has_strided(got) &&
      !same_flag(p, "strided_order", flag == NULL || json_is_true(flag),
                 got->strided_is_order))
    return false;
  dt_spec_order(got, &o);
  if (jorder(json_object_get(want, "order"), &w) != NULL)
    return same_flag(p, "order", true, dt_order_equal(&o, &w));
  return same_flag(p, "default order", true,
                   got->default_order || got->strided_is_order);
}

static bool same_outputs (Parity *p, const json_t *want, const DtProp *r) {
  if (json_is_array(want)) {
    if (!same_flag(p, "number of outputs", true,
                   (int)json_array_size(want) == r->nout))
      return false;
    for (int i = 0; i < r->nout; i++)
      if (!same_spec(p, json_array_get(want, (size_t)i), r->out[i]))
        return false;
    return true;
  }
  if (json_is_null(want))
    return same_flag(p, "outputs", false, r->nout > 0);
  return same_flag(p, "one output", true, r->nout == 1) &&
         same_spec(p, want, r->out[0]);
}

static bool same_inputs (Parity *p, const Case *c, const json_t *want,
                         const DtProp *r) {
  int npos = dt_args_positional(&c->args);
  for (int i = 0; i < npos; i++) {
    const json_t *w = json_array_get(want, (size_t)i);
    const DtSpec *s = r->in[i];
    if (want == NULL) {
      if (!same_flag(p, "an input moves", false,
                     !dt_pls_equal(s->pl, c->in[i]->pl, s->npl)))
        return false;
    } else if (!same_list(p, "in", w, s->pl, s->npl)) {
      return false;
    }
  }
  return true;
}

static bool same_value (Parity *p, const json_t *want, const DtValue *got) {
  Case c;
  DtValue v;
  DtBuf b;
  bool ok;
  if (json_is_object(want) && json_object_get(want, "in") != NULL)
    return same_flag(p, "local_args: a tensor", true,
                     got->kind == DT_V_TENSOR);
  memset(&c, 0, sizeof c);
  c.p = p;
  if (!read_value(&c, want, &v))
    return false;
  ok = dt_value_equal(&v, got) || v.kind == DT_V_STR ||
       (v.kind == DT_V_LIST && v.u.list.n > 0 &&
        v.u.list.v[0].kind != got->u.list.v[0].kind);
  if (!ok) {
    char *s = json_dumps(want, JSON_COMPACT | JSON_ENCODE_ANY);
    dt_buf_init(&b, p->cx);
    dt_value_print(got, NULL, NULL, &b);
    dt_buf_addf(&p->why, "local_args: want %s, got %s", s, dt_buf_str(&b));
    dt_buf_fini(&b);
    free(s);
  }
  case_fini(&c);
  return ok;
}

static bool same_rewrite (Parity *p, const json_t *line, const DtProp *r) {
  const json_t *args = json_object_get(line, "local_args");
  const char *op = jstr(line, "local_op");
  if (!same_flag(p, "rewrite", json_is_true(json_object_get(line, "rewrite")),
                 r->rewritten))
    return false;
  if (!r->rewritten)
    return true;
  if (op != NULL && !same_text(p, "local_op", op, r->op->sig->full))
    return false;
  for (int i = 0; i < (int)json_array_size(args) && i < r->args->n; i++)
    if (!same_value(p, json_array_get(args, (size_t)i), &r->args->v[i]))
      return false;
  return true;
}

static bool same_cost (Parity *p, const json_t *want, const DtProp *r) {
  if (json_is_array(want)) {
    if (!same_flag(p, "number of costs", true,
                   (int)json_array_size(want) == r->ncosts))
      return false;
    for (int i = 0; i < r->ncosts; i++)
      if (!same_num(p, "cost", json_array_get(want, (size_t)i), r->costs[i]))
        return false;
    return true;
  }
  if (want == NULL)
    return same_flag(p, "has cost", false, r->has_cost && r->ncosts == 0);
  return same_num(p, "cost", want, r->cost);
}

static bool same_decision (PropParity *t, const Case *c, const json_t *line,
                           const DtProp *r) {
  Parity *p = &t->p;
  return same_outputs(p, json_object_get(line, "out"), r) &&
         same_inputs(p, c, json_object_get(line, "in"), r) &&
         same_rewrite(p, line, r) &&
         (!t->costs || same_cost(p, json_object_get(line, "cost"), r));
}

static bool same_failure (Parity *p, const Case *c, const json_t *line,
                          const DtOpDef *op, DtStatus st) {
  DtBuf b;
  bool ok;
  if (!same_error(p, json_object_get(line, "error"), st))
    return false;
  if (c->args.schema == NULL || jstr(line, "schema") == NULL)
    return true;
  dt_buf_init(&b, p->cx);
  dt_prop_schema_str(op, &c->args, (const DtSpec *const *)c->in, &b);
  ok = same_text(p, "schema", jstr(line, "schema"), dt_buf_str(&b));
  dt_buf_fini(&b);
  return ok;
}

bool prop_check_case (Parity *p, const json_t *line) {
  PropParity *t = (PropParity *)(void *)p;      /* p is its first member */
  const char *name = jstr(line, "op");
  const DtOpDef *op = dt_registry_find(p->cx, t->reg, name);
  DtProp *r = NULL;
  DtStatus st;
  Case c;
  bool ok;
  if (op == NULL) {
    p->skipped = p->cx->err.code == DT_OK;
    if (!p->skipped)
      return no_error(p, p->cx->err.code);
    return true;
  }
  memset(&c, 0, sizeof c);
  c.p = p;
  c.mesh = jmesh(p, line, 0);
  ok = c.mesh != NULL && read_call(&c, line, op, &st);
  if (ok && st == DT_OK)
    st = dt_prop_raw(p->cx, t->prop, op, &c.args, c.nin,
                     (const DtSpec *const *)c.in, NULL, &r);
  if (ok && json_object_get(line, "error") != NULL)
    ok = same_failure(p, &c, line, op, st);
  else if (ok)
    ok = no_error(p, st) && same_decision(t, &c, line, r);
  dt_prop_unref(p->cx, r);
  dt_error_clear(p->cx);
  case_fini(&c);
  count(t, name, ok);
  return ok;
}

/* {==== Rules on one mesh dim ==== */

/* Our notation to the reference's: S(d) is a placeholder, =S(d) is not. */
static void their_text (const char *s, DtBuf *b) {
  for (; *s != '\0'; s++) {
    if (*s == '=')
      continue;
    if (strncmp(s, "torch.Size", 10) == 0 || strncmp(s, "MaskP(sum,", 10) == 0)
      dt_buf_add(b, "MaskP(sum)"), s = strstr(s, "), ") + 5;
    if (*s == 'S' && s[1] == '(')
      dt_buf_add(b, s[-1] == '=' ? "S" : "S*");
    else if (*s == '-' && s[1] != '>')
      dt_buf_add(b, "None");
    else if (*s != '\0')
      dt_buf_addc(b, *s);
  }
}

static bool same_row (Parity *p, const char *want, const DtRows *rows,
                      int i) {
  DtBuf ours, b;
  bool ok;
  dt_buf_init(&ours, p->cx);
  dt_buf_init(&b, p->cx);
  dt_buf_addc(&ours, ' ');
  dt_row_print(rows, i, &ours);
  their_text(dt_buf_str(&ours) + 1, &b);
  ok = same_text(p, "rule", want, dt_buf_str(&b));
  dt_buf_fini(&ours);
  dt_buf_fini(&b);
  return ok;
}

static bool same_rows (Parity *p, const json_t *line, const DtRows *rows,
                       bool inserted) {
  const json_t *want = json_object_get(line, "rules");
  const char *added = jstr(line, "replicate_added");
  int n = (int)json_array_size(want), first = inserted ? 1 : 0;
  if (!same_flag(p, "all-Replicate row added", added != NULL, inserted))
    return false;
  for (int i = 0; i < n && i + first < rows->n; i++)
    if (!same_row(p, json_string_value(json_array_get(want, (size_t)i)),
                  rows, i + first))
      return false;
  if (n + first != rows->n)
    dt_buf_addf(&p->why, "%d rules, want %d", rows->n - first, n);
  return n + first == rows->n;
}

bool prop_check_rules (Parity *p, const json_t *line) {
  PropParity *t = (PropParity *)(void *)p;
  const DtOpDef *op = dt_registry_find(p->cx, t->reg, jstr(line, "op"));
  const DtMeta *in[CASE_SLOTS];
  DtStatus st = DT_OK;
  DtRows rows;
  bool inserted, ok;
  Case c;
  if (op == NULL) {
    p->skipped = true;
    return true;
  }
  memset(&c, 0, sizeof c);
  c.p = p;
  c.metas_only = true;
  ok = read_call(&c, line, op, &st) && no_error(p, st);
  for (int i = 0; i < c.nin; i++)
    in[i] = &c.meta[i];
  if (ok)
    ok = no_error(p, dt_prop_rows(p->cx, op, &c.args, c.nin, in, &c.arena,
                                  &rows, &inserted)) &&
         same_rows(p, line, &rows, inserted);
  dt_error_clear(p->cx);
  case_fini(&c);
  count(t, jstr(line, "op"), ok);
  return ok;
}

/* }==== */
