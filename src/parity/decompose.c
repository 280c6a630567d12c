/* SPDX-License-Identifier: MIT
** parity/decompose.c: which operators a public function reaches, forward and
** backward, against values/decompose.jsonl: on plain tensors, on replicated
** DTensors, and with the first one sharded.
**
** Functions are found by name among the operators, the parser choosing the
** overload; those that live in the Lua library (nn.functional and the
** like) are left to parity.calls. */
#include "parity/values_int.h"

#include "engine/autograd.h"

enum { WORLD = 2 };

/* One of the three runs. */
typedef struct Trial {
  DtVCall v;
  DtOpLog log;
  int nroot;
  DtVar *root[64], *ones[64];
} Trial;

static void trial_fini (Trial *t) {
  for (int i = 0; i < t->nroot; i++)
    dt_var_unref(t->ones[i]);
  dt_vcall_fini(&t->v);
}

/* Arguments as DTensors: replicated, or the first one sharded. */
static DtStatus spread (DtParity *p, Trial *t, DtMesh *mesh, bool shard) {
  DtStatus st = DT_OK;
  for (int i = 0; st == DT_OK && i < t->v.vars.n; i++) {
    DtVar *x = t->v.vars.v[i], *d = NULL;
    const DtMeta *xm = &x->local->m;
    bool cut = shard && i == 0 && xm->ndim > 0 && xm->shape[0] > 1;
    DtPlacement pl = cut ? dt_pl_shard(0) : dt_pl_replicate();
    DtTensor *local = NULL;
    DtSpec *spec = NULL;
    DtMeta m;
    st = dt_spec_new(p->cx, mesh, 1, &pl, &x->local->m, NULL, -1, &spec);
    if (st == DT_OK)
      st = dt_session_spec(t->v.s, spec, &spec);
    if (st != DT_OK)
      return st;
    st = dt_layout_local_meta(p->cx, spec, NULL, &m);
    if (st == DT_OK)
      st = dt_tensor_new(p->cx, &m, true, &local);
    if (st == DT_OK)
      st = dt_var_new(t->v.s, local, spec, &d);
    dt_tensor_unref(p->cx, local);
    dt_spec_unref(p->cx, spec);
    if (st == DT_OK) {
      dt_var_unref(x);
      t->v.vars.v[i] = d;
    }
  }
  return st;
}

static DtStatus mark_leaves (Trial *t) {
  for (int i = 0; i < t->v.vars.n; i++)
    if (dt_jtrue(t->v.call.tensor[i], "requires_grad"))
      DT_TRY(t->v.s->cx, dt_var_set_requires_grad(t->v.vars.v[i], true));
  return DT_OK;
}

static DtStatus make_ones (Trial *t) {
  for (int i = 0; i < t->v.r.n && t->nroot < 64; i++) {
    DtVar *y = dt_result(&t->v.r, i);
    if (y == NULL || !dt_var_needs_grad(y))
      continue;
    DT_TRY(t->v.s->cx, dt_call_fmt(t->v.s, &t->ones[t->nroot],
                                   "aten.ones_like.default", "t", y));
    t->root[t->nroot++] = y;
  }
  return DT_OK;
}

static bool backward (DtParity *p, Trial *t, const json_t *run) {
  const json_t *error = json_object_get(run, "bwd_error");
  const json_t *want = json_object_get(run, "bwd_ops");
  if (want == NULL && error == NULL)
    return true;
  if (!dt_no_error(p, make_ones(t)))
    return false;
  if (!dt_no_error(p, dt_oplog_start(&t->log, p, t->v.s)))
    return false;
  DtStatus st = dt_backward(t->v.s, &(DtBackward){ t->nroot, t->root, t->ones, false,
                                                  false });
  dt_oplog_stop(&t->log, t->v.s);
  if (error != NULL)
    return dt_same_error(p, error, st);
  return dt_no_error(p, st) &&
         dt_same_oplog(p, "bwd_ops", want, json_object_get(run, "bwd_args"),
                       &t->log);
}

static bool forward (DtParity *p, Trial *t, const json_t *run) {
  const json_t *error = json_object_get(run, "error");
  if (!dt_no_error(p, dt_oplog_start(&t->log, p, t->v.s)))
    return false;
  dt_vcall_run(&t->v);
  dt_oplog_stop(&t->log, t->v.s);
  if (error != NULL)
    return dt_same_error(p, error, t->v.st);
  return dt_no_error(p, t->v.st) &&
         dt_same_oplog(p, "fwd_ops", json_object_get(run, "fwd_ops"),
                       json_object_get(run, "fwd_args"), &t->log);
}

static DtMesh *trial_mesh (DtParity *p) {
  json_error_t e;
  json_t *line = json_loads("{\"mesh\":{\"shape\":[2],\"names\":[\"tp\"]}}", 0,
                            &e);
  DtMesh *m = line != NULL ? dt_jmesh_cached(p, line, 0) : NULL;
  json_decref(line);
  return m;
}

/* `run` holds the lists; `how`: 'p' plain, 'r' replicated, 's' sharded. */
static bool trial (DtParity *p, const json_t *o, const json_t *run,
                   char how) {
  Trial t;
  const DtPacket *packet;
  DtMesh *mesh = trial_mesh(p);
  const char *fn = dt_jstr(o, "fn");
  memset(&t, 0, sizeof t);
  t.v.s = dt_parity_session(p, how == 'p' ? 1 : WORLD, 0);
  if (t.v.s == NULL || mesh == NULL)
    return false;
  dt_error_clear(p->cx);
  /* each world has a registry, and handlers know its operators */
  packet = dt_packet_of(p, t.v.s, fn);
  t.v.st = dt_jcall_packet(p, o, packet, &t.v.call);
  if (t.v.st == DT_OK)
    t.v.st = dt_jvars(p, t.v.s, &t.v.call, NULL, &t.v.vars);
  if (t.v.st == DT_OK && how != 'p')
    t.v.st = spread(p, &t, mesh, how == 's');
  if (t.v.st == DT_OK)
    t.v.st = mark_leaves(&t);
  bool ok = forward(p, &t, run) &&
            (json_object_get(run, "error") != NULL || backward(p, &t, run));
  if (t.v.st == DT_E_META_NO_DATA) {
    dt_buf_clear(&p->why);
    p->library = true;          /* a pretend rank has no data, that one has */
    ok = dt_parity_skip(p);
  }
  trial_fini(&t);
  if (!ok)
    dt_buf_addf(&p->why, " (%s)", how == 'p' ? "plain" : how == 'r'
                ? "DTensor" : "DTensor, first S(0)");
  return ok;
}

static bool check_line (DtParity *p, const json_t *o) {
  const char *fn = dt_jstr(o, "fn");
  const json_t *s0 = json_object_get(o, "dtensor_s0");
  DtSession *s = dt_parity_session(p, 1, 0);
  DtJCall c;
  if (s == NULL)
    return false;
  const DtPacket *packet = dt_packet_of(p, s, fn);
  if (packet == NULL ||
      (dt_jcall_packet(p, o, packet, &c) != DT_OK
       ? json_object_get(o, "error") == NULL
       : (c.op->flags & DT_OP_SCHEMA_ONLY) != 0)) {
    dt_error_clear(p->cx);
    p->library = true;
    return dt_parity_skip(p);
  }
  return trial(p, o, o, 'p') &&
         trial(p, o, json_object_get(o, "dtensor"), 'r') &&
         (s0 == NULL || trial(p, o, s0, 's'));
}

bool dt_check_decompose (DtParity *p, const json_t *o) {
  json_t *line = dt_line_packed(o, false);
  bool ok = check_line(p, line != NULL ? line : o);
  json_decref(line);
  line = p->skipped ? dt_line_packed(o, true) : NULL;
  if (line == NULL)
    return ok;
  p->skipped = p->library = false;
  ok = check_line(p, line);
  json_decref(line);
  return ok;
}
