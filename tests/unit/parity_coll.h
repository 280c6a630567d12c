/* SPDX-License-Identifier: MIT
** tests/unit/parity_coll.h: redist/collectives.jsonl: the collectives of a
** redistribution and of its gradient, with their bytes, and the local shapes,
** as every rank sees them.  Runs in the fake world: nothing moves.  Header
** only. */
#ifndef DT_TESTS_PARITY_COLL_H
#define DT_TESTS_PARITY_COLL_H

#include "parity_values.h"

enum { COLL_RANKS = 8 };

typedef struct CollRun {
  DtCtx *cx;
  DtComm *comm[COLL_RANKS + 1][COLL_RANKS];
  DtSession *s[COLL_RANKS + 1][COLL_RANKS];
  DtBuf got, want, why;
  int pass, fail, skip;
} CollRun;

static inline DtStatus coll_listen (void *ud, DtSession *s,
                                    const DtEvent *e) {
  DtBuf *b = ud;
  (void)s;
  dt_buf_addf(b, "%s %s", e->coll, e->reduce ? e->reduce : "-");
  dt_buf_addf(b, " %s %lld %lld; ", e->mesh->name[e->mdim],
              (long long)e->bytes_in, (long long)e->bytes_out);
  return DT_OK;
}

static inline void coll_want (const json_t *list, DtBuf *b) {
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *c = json_array_get(list, i);
    const char *op = jstr(c, "op");
    if (strcmp(op, "pad") == 0 || strcmp(op, "unpad") == 0)
      continue;
    dt_buf_addf(b, "%s %s %s %lld %lld; ", op,
                jstr(c, "reduce") ? jstr(c, "reduce") : "-",
                json_string_value(json_array_get(json_object_get(c, "group"),
                                                 0)),
                (long long)jint(c, "bytes_in", 0),
                (long long)jint(c, "bytes_out", 0));
  }
}

static inline DtSession *coll_session (CollRun *c, int size, int rank) {
  DtSessionOpts o = { .ops = dt_ops, .variants = dt_variants };
  int id;
  if (c->s[size][rank] == NULL &&
      dt_comm_fake(c->cx, size, rank, &c->comm[size][rank]) == DT_OK &&
      dt_session_new(c->cx, c->comm[size][rank], &o, &c->s[size][rank]) ==
        DT_OK)
    (void)dt_event_listen(c->s[size][rank], UINT64_C(1) << DT_EV_COLL,
                          coll_listen, &c->got, &id);
  return c->s[size][rank];
}

/* What the line says of a rank: by_rank first. */
static inline const json_t *coll_key (const json_t *o, int rank,
                                      const char *key) {
  const json_t *by = json_object_get(o, "by_rank");
  for (size_t i = 0; i < json_array_size(by); i++) {
    const json_t *b = json_array_get(by, i), *r = json_object_get(b, "ranks");
    for (size_t k = 0; k < json_array_size(r); k++)
      if (json_integer_value(json_array_get(r, k)) == rank) {
        const json_t *v = json_object_get(b, key);
        return v ? v : json_object_get(o, key);
      }
  }
  return json_object_get(o, key);
}

static inline DtStatus coll_tensor (CollRun *c, DtSession *s, DtMesh *m,
                                    const json_t *pl, const DtMeta *meta,
                                    DtVar **out) {
  Parity p = { .cx = c->cx };
  DtPlacement x[DT_MAX_MDIM];
  DtSpec *spec;
  DtTensor *t = NULL;
  DtMeta lm;
  int n = jpls(&p, pl, x);
  DtStatus st;
  DT_TRY(c->cx, dt_spec_new(c->cx, m, n, x, meta, NULL, -1, &spec));
  st = dt_layout_local_meta(c->cx, spec, NULL, &lm);
  if (st == DT_OK)
    st = dt_tensor_new(c->cx, &lm, true, &t);
  if (st == DT_OK)
    st = dt_var_new(s, t, spec, out);
  dt_tensor_unref(c->cx, t);
  dt_spec_unref(c->cx, spec);
  return st;
}

static inline bool coll_same (CollRun *c, const json_t *o, int rank,
                              const char *list, const char *shape,
                              const DtVar *v, DtStatus st) {
  Parity p = { .cx = c->cx };
  char err[40];
  const json_t *want = coll_key(o, rank, shape), *e;
  bool ok;
  (void)snprintf(err, sizeof err, "%s_error", list);
  dt_buf_init(&p.why, c->cx);
  e = coll_key(o, rank, err);
  if (e != NULL && !json_is_null(e)) {
    ok = same_error(&p, e, st);
  } else {
    dt_buf_clear(&c->want);
    coll_want(coll_key(o, rank, list), &c->want);
    ok = no_error(&p, st) && same_text(&p, list, dt_buf_str(&c->want),
                                       dt_buf_str(&c->got)) &&
         (want == NULL || same_ints(&p, shape, want, v->local->m.shape,
                                    v->local->m.ndim));
  }
  if (!ok)
    dt_buf_add(&c->why, dt_buf_str(&p.why));
  dt_buf_fini(&p.why);
  return ok;
}

static inline DtDtype coll_dtype (const json_t *o, const char *key) {
  return jstr(o, key) ? dt_dtype_find(jstr(o, key)) : DT_DTYPE_NONE;
}

static inline bool coll_rank (CollRun *c, const json_t *o, DtMesh *m,
                              DtSession *s, int rank) {
  Parity p = { .cx = c->cx };
  DtPlacement dst[DT_MAX_MDIM];
  DtVar *x = NULL, *y = NULL, *g = NULL;
  DtMeta meta;
  bool ok = true;
  int n = jpls(&p, json_object_get(o, "dst"), dst);
  DtStatus st = jmeta(&p, o, &meta) ? DT_OK : DT_E_INTERNAL;
  if (st == DT_OK)
    st = coll_tensor(c, s, m, json_object_get(o, "src"), &meta, &x);
  if (st == DT_OK) {
    x->requires_grad = dt_dtype_is_float((DtDtype)meta.dtype);
    dt_buf_clear(&c->got);
    st = dt_redistribute(s, x, m, n, dst, coll_dtype(o, "fwd_dt"),
                         coll_dtype(o, "bwd_dt"), &y);
  }
  ok = coll_same(c, o, rank, "forward", "local_after", y, st);
  if (ok && st == DT_OK && y->grad_fn != NULL &&
      coll_key(o, rank, "grad_in")) {
    meta.dtype = y->local->m.dtype;
    st = coll_tensor(c, s, m, coll_key(o, rank, "grad_in"), &meta, &g);
    dt_buf_clear(&c->got);
    if (st == DT_OK)
      st = dt_backward(s, 1, &y, &g, false);
    ok = coll_same(c, o, rank, "backward", "grad_local", x->grad, st);
  }
  dt_error_clear(c->cx);
  dt_var_unref(x);
  dt_var_unref(y);
  dt_var_unref(g);
  return ok;
}

static inline bool coll_line (CollRun *c, const json_t *o, int rank,
                              int size) {
  Parity p = { .cx = c->cx };
  const json_t *fl = json_object_get(o, "flatten");
  DtSession *s = coll_session(c, size, rank);
  DtMesh *m;
  bool ok = s != NULL;
  dt_buf_init(&p.why, c->cx);
  m = jmesh(&p, o, rank);
  for (size_t i = 0; ok && i < json_array_size(fl); i++) {
    const char *names[DT_MAX_MDIM];
    DtMesh *sub = NULL, *flat = NULL;
    int n = jstrs(json_array_get(fl, i), names, DT_MAX_MDIM);
    ok = dt_mesh_slice(c->cx, m, n, names, NULL, NULL, &sub) == DT_OK &&
         dt_mesh_flatten(c->cx, sub, NULL, &flat) == DT_OK;
    if (flat)
      dt_mesh_unref(c->cx, flat);
    if (sub)
      dt_mesh_unref(c->cx, sub);
  }
  ok = ok && coll_rank(c, o, m, s, rank);
  dt_planner_clear(c->cx, s->planner);
  dt_mesh_unref(c->cx, m);
  dt_buf_fini(&p.why);
  return ok;
}

static inline int coll_file (DtCtx *cx, const char *name) {
  CollRun c = { .cx = cx };
  char path[512], *line = NULL;
  size_t cap = 0;
  (void)snprintf(path, sizeof path, "%s/%s", parity_dir(), name);
  FILE *f = fopen(path, "r");
  if (f == NULL)
    return -1;
  dt_buf_init(&c.got, cx);
  dt_buf_init(&c.want, cx);
  dt_buf_init(&c.why, cx);
  while (getline(&line, &cap, f) >= 0) {
    json_t *o = json_loads(line, 0, NULL);
    int size = values_size(o);
    if (size > COLL_RANKS || json_object_get(o, "forward_mismatch") ||
        json_object_get(o, "backward_mismatch")) {
      c.skip++;
      json_decref(o);
      continue;
    }
    for (int r = 0; r < size; r++) {
      dt_buf_clear(&c.why);
      if (coll_line(&c, o, r, size))
        c.pass++;
      else if (c.fail++ < PARITY_SHOW)
        (void)fprintf(stderr, "%s rank %d: %s\n", jstr(o, "id"), r,
                      dt_buf_str(&c.why));
      dt_error_clear(cx);
    }
    json_decref(o);
  }
  free(line);
  (void)fclose(f);
  for (int n = 0; n <= COLL_RANKS; n++)
    for (int r = 0; r < COLL_RANKS; r++) {
      dt_session_free(c.s[n][r]);
      if (c.comm[n][r])
        dt_comm_free(cx, c.comm[n][r]);
    }
  dt_buf_fini(&c.got);
  dt_buf_fini(&c.want);
  dt_buf_fini(&c.why);
  (void)fprintf(stderr, "%s: %d pass, %d fail, %d skip\n", name, c.pass,
                c.fail, c.skip);
  return c.fail;
}

#endif
