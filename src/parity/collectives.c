/* SPDX-License-Identifier: MIT
** parity/collectives.c: what redistribution sends, forward and backward,
** against redist/collectives.jsonl: on a pretend rank the collectives are
** events with bytes, nothing moves.  PyTorch's own paddings are not events of
** ours: they show in the bytes. */
#include "parity/parity_int.h"

#include "engine/autograd.h"
#include "engine/dist.h"

/* A collective as it happened. */
typedef struct Sent {
  const char *op, *reduce, *group;
  int64_t in, out;
} Sent;
typedef struct Log { DtParity *p; int n; Sent sent[64]; } Log;

static DtStatus on_coll (void *ud, DtSession *s, const DtEvent *e) {
  Log *l = ud;
  Sent *x = &l->sent[l->n];
  (void)s;
  if (l->n >= 64)
    return DT_OK;
  memset(x, 0, sizeof *x);
  x->op = e->coll;
  x->reduce = e->reduce;
  x->in = e->bytes_in;
  x->out = e->bytes_out;
  if (e->mesh != NULL && e->mdim >= 0 && e->mesh->name[e->mdim] != NULL)
    x->group = dt_arena_strdup(l->p->cx, &l->p->arena,
                               e->mesh->name[e->mdim]);
  l->n++;
  return DT_OK;
}

static bool same_sent (DtParity *p, const json_t *want, const Sent *s) {
  const char *reduce = dt_jstr(want, "reduce");
  const char *group = json_string_value(json_array_get(
      json_object_get(want, "group"), 0));
  return dt_same_text(p, "op", dt_jstr(want, "op"), s->op) &&
         (reduce == NULL || dt_same_text(p, "reduce", reduce, s->reduce)) &&
         dt_same_text(p, "group", group, s->group) &&
         dt_same_num(p, "bytes_in", json_object_get(want, "bytes_in"),
                     (double)s->in) &&
         dt_same_num(p, "bytes_out", json_object_get(want, "bytes_out"),
                     (double)s->out);
}

static bool same_log (DtParity *p, const char *what, const json_t *want,
                      const Log *l, int from) {
  int k = from;
  for (size_t i = 0; i < json_array_size(want); i++) {
    const json_t *w = json_array_get(want, i);
    if (json_object_get(w, "group") == NULL)
      continue;                 /* pad, unpad */
    if (k >= l->n)
      return dt_fails(p, "%s: %s is missing", what, dt_jstr(w, "op"));
    if (!same_sent(p, w, &l->sent[k++])) {
      dt_buf_addf(&p->why, " (%s, collective %d)", what, k - from - 1);
      return false;
    }
  }
  return k == l->n || dt_fails(p, "%s: %s too much", what, l->sent[k].op);
}

/* One rank's run of a line. */
typedef struct Move {
  const json_t *line, *mine;    /* mine: keys that differ on this rank */
  DtSession *s;
  DtMesh *mesh;
  DtVar *x, *y, *g, *grad;
  Log log;
} Move;

static const json_t *key (const Move *m, const char *name) {
  const json_t *v = json_object_get(m->mine, name);
  if (v == NULL)
    v = json_object_get(m->line, name);
  return json_is_null(v) ? NULL : v;
}

static void move_fini (DtParity *p, Move *m) {
  dt_var_unref(m->x);
  dt_var_unref(m->y);
  dt_var_unref(m->g);
  dt_var_unref(m->grad);
  dt_mesh_unref(p->cx, m->mesh);
}

static bool new_var (DtParity *p, Move *m, const json_t *pls,
                     const DtMeta *meta, DtVar **out) {
  DtPlacement pl[DT_MAX_MDIM];
  DtTensor *t = NULL;
  DtSpec *spec = NULL;
  DtMeta local;
  int n = dt_jpls(p, pls, pl);
  if (n < 0)
    return dt_no_error(p, DT_E_PARSE);
  DtStatus st = dt_spec_new(p->cx, m->mesh, n, pl, meta, NULL, -1, &spec);
  if (st == DT_OK)
    st = dt_session_spec(m->s, spec, &spec);
  if (st == DT_OK)
    st = dt_layout_local_meta(p->cx, spec, NULL, &local);
  if (st == DT_OK)
    st = dt_tensor_new(p->cx, &local, true, &t);
  if (st == DT_OK)
    st = dt_var_new(m->s, t, spec, out);
  dt_tensor_unref(p->cx, t);
  if (st == DT_OK || spec != NULL)
    dt_spec_unref(p->cx, spec);
  return dt_no_error(p, st);
}

/* A redistribution forward: its collectives, then what it leaves.  The log is
** compared before the tensor, so that the first difference is the one reported
** that caused the others. */
static bool forward (DtParity *p, Move *m) {
  const char *fdt = json_string_value(key(m, "fwd_dt"));
  const char *bdt = json_string_value(key(m, "bwd_dt"));
  const json_t *error = key(m, "forward_error");
  DtPlacement pl[DT_MAX_MDIM];
  DtMeta meta;
  int n = dt_jpls(p, key(m, "dst"), pl);
  if (!dt_jmeta(p, m->line, &meta) ||
      !new_var(p, m, key(m, "src"), &meta, &m->x) ||
      !dt_same_ints(p, "local_before", key(m, "local_before"),
                    m->x->local->m.shape, m->x->local->m.ndim))
    return false;
  if (dt_dtype_is_float((DtDtype)meta.dtype) &&
      !dt_no_error(p, dt_var_set_requires_grad(m->x, true)))
    return false;
  DtStatus st = dt_redistribute(m->s, m->x, m->mesh, n, pl,
                                fdt != NULL ? dt_dtype_find(fdt)
                                            : DT_DTYPE_NONE,
                                bdt != NULL ? dt_dtype_find(bdt)
                                            : DT_DTYPE_NONE, &m->y);
  if (error != NULL)
    return dt_same_error(p, error, st);
  if (!dt_no_error(p, st) ||
      !same_log(p, "forward", key(m, "forward"), &m->log, 0) ||
      !dt_same_ints(p, "local_after", key(m, "local_after"),
                    m->y->local->m.shape, m->y->local->m.ndim) ||
      !dt_same_pls(p, "pl_after", key(m, "pl_after"), m->y->spec->pl,
                   m->y->spec->npl))
    return false;
  const json_t *stride = key(m, "stride_after");
  const char *dtype = json_string_value(key(m, "dtype_after"));
  return (stride == NULL ||
          dt_same_ints(p, "stride_after", stride, m->y->local->m.stride,
                       m->y->local->m.ndim)) &&
         (dtype == NULL ||
          dt_same_text(p, "dtype_after", dtype, dt_dtype_info(
                       (DtDtype)m->y->local->m.dtype)->name));
}

static bool backward (DtParity *p, Move *m) {
  const json_t *error = key(m, "backward_error");
  int from = m->log.n;
  if (key(m, "forward_error") != NULL ||
      (key(m, "backward") == NULL && error == NULL))
    return true;
  if (!new_var(p, m, key(m, "grad_in"), &m->y->spec->meta, &m->g))
    return false;
  DtStatus st = dt_grad(m->s, &(DtBackward){ 1, &m->y, &m->g, false, false }, 1,
                        &m->x, false, &m->grad);
  if (error != NULL)
    return dt_same_error(p, error, st);
  return dt_no_error(p, st) &&
         same_log(p, "backward", key(m, "backward"), &m->log, from) &&
         dt_same_pls(p, "grad_pl", key(m, "grad_pl"), m->grad->spec->pl,
                     m->grad->spec->npl) &&
         dt_same_ints(p, "grad_local", key(m, "grad_local"),
                      m->grad->local->m.shape, m->grad->local->m.ndim);
}

static bool move_rank (DtParity *p, const json_t *o, const json_t *mine,
                       int rank) {
  int64_t shape[DT_MAX_MDIM], world = 1;
  int id = 0, k = dt_jints(json_object_get(json_object_get(o, "mesh"),
                                           "shape"), shape, DT_MAX_MDIM);
  Move m;
  memset(&m, 0, sizeof m);
  m.line = o;
  m.mine = mine;
  m.log.p = p;
  for (int i = 0; i < k; i++)
    world *= shape[i];
  bool flat = json_object_get(o, "flatten") != NULL;
  dt_error_clear(p->cx);
  if (flat)
    dt_parity_forget(p, (int)world, rank);
  m.s = dt_parity_session(p, (int)world, rank);
  m.mesh = dt_jmesh(p, o, rank);
  bool ok = m.s != NULL && m.mesh != NULL &&
            dt_flatten_all(p, o, m.mesh) &&
            dt_no_error(p, dt_event_listen(m.s, UINT64_C(1) << DT_EV_COLL,
                                           on_coll, &m.log, &id));
  ok = ok && forward(p, &m) && backward(p, &m);
  if (id != 0)
    dt_event_unlisten(m.s, id);
  move_fini(p, &m);
  if (flat)
    dt_parity_forget(p, (int)world, rank);
  if (!ok)
    dt_buf_addf(&p->why, " (rank %d)", rank);
  return ok;
}

bool dt_check_collectives (DtParity *p, const json_t *o) {
  const json_t *by = json_object_get(o, "by_rank");
  bool ok = move_rank(p, o, NULL, 0);
  for (size_t i = 0; ok && i < json_array_size(by); i++) {
    const json_t *e = json_array_get(by, i);
    const json_t *ranks = json_object_get(e, "ranks");
    for (size_t k = 0; ok && k < json_array_size(ranks); k++)
      ok = move_rank(p, o, e,
                     (int)json_integer_value(json_array_get(ranks, k)));
  }
  return ok && dt_check_bytes(p, o);
}
