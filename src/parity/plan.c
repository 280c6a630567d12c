/* SPDX-License-Identifier: MIT
** parity/plan.c: costs and plans against layout/cost.jsonl,
** redist/plans.jsonl, redist/plans_flat.jsonl and the bytes of
** redist/collectives.jsonl. */
#include "parity/parity_int.h"

/* {==== Parity: cost.jsonl ==== */

static DtTopo topo_of (const json_t *o) {
  DtTopo t;
  dt_topo_default(&t);
  t.devices_per_host = dt_jint(o, "devices_per_host", 1);
  return t;
}

/* bandwidth and latency of a mesh dim, from the outside: cost of nothing
** over 2 parts, and of one GiB */
static bool cost_topo (DtParity *p, const json_t *o, const DtMesh *mesh) {
  const json_t *bw = json_object_get(o, "mesh_dim_bandwidth");
  const json_t *lat = json_object_get(o, "mesh_dim_latency");
  DtTopo t = topo_of(o);
  int64_t total = 1;
  for (int m = mesh->ndim - 1; m >= 0; m--) {
    total *= mesh->shape[m];
    bool inter = total > t.devices_per_host;
    if (!dt_same_num(p, "bandwidth", json_array_get(bw, (size_t)m),
                  inter ? t.bandwidth * t.inter_bandwidth_factor
                        : t.bandwidth) ||
        !dt_same_num(p, "latency", json_array_get(lat, (size_t)m),
                  inter ? t.inter_latency : t.latency))
      return false;
  }
  return true;
}

static bool cost_collective (DtParity *p, const json_t *o,
                             const DtMesh *mesh) {
  const char *fn = dt_jstr(o, "fn");
  double gb = dt_jnum(json_object_get(o, "bytes_gb")), c;
  int m = (int)dt_jint(o, "mesh_dim", 0);
  DtTopo t = topo_of(o);
  int64_t total = 1, n = mesh->shape[m];
  for (int i = m; i < mesh->ndim; i++)
    total *= mesh->shape[i];
  bool inter = total > t.devices_per_host;
  double bw = inter ? t.bandwidth * t.inter_bandwidth_factor : t.bandwidth;
  double lat = inter ? t.inter_latency : t.latency;
  c = strcmp(fn, "allgather_cost") == 0 ? dt_cost_allgather(gb, n, bw, lat)
      : strcmp(fn, "allreduce_cost") == 0 ? dt_cost_allreduce(gb, n, bw, lat)
      : dt_cost_reduce_scatter(gb, n, bw, lat);
  return dt_same_num(p, fn, json_object_get(o, "cost"), c);
}

/* "bytes" is what a rank holds: a spec of bytes * num_shards bytes. */
static bool cost_step (DtParity *p, const json_t *o, DtMesh *mesh) {
  DtPlacement a[DT_MAX_MDIM], b[DT_MAX_MDIM];
  const char *src = dt_jstr(o, "src"), *dst = dt_jstr(o, "dst");
  int m = (int)dt_jint(o, "mesh_dim", 0);
  DtSpec *x = NULL, *y = NULL;
  DtTopo t = topo_of(o);
  int64_t shape[1] = { dt_jint(o, "bytes", 0) };
  double c = 0;
  DtMeta meta;
  for (int i = 0; i < mesh->ndim; i++)
    a[i] = b[i] = dt_pl_replicate();
  if (dt_pl_parse(p->cx, &src, &a[m]) != DT_OK ||
      dt_pl_parse(p->cx, &dst, &b[m]) != DT_OK)
    return false;
  if (dt_pl_is_shard_like(a[m]))
    shape[0] *= mesh->shape[m];
  bool ok = dt_meta_init(p->cx, &meta, DT_U8, 1, shape) == DT_OK &&
      dt_no_error(p, dt_spec_new(p->cx, mesh, mesh->ndim, a, &meta, NULL, 0,
                              &x)) &&
      dt_no_error(p, dt_spec_new(p->cx, mesh, mesh->ndim, b, &meta, NULL, 0,
                              &y)) &&
      dt_no_error(p, dt_cost_one_step(p->cx, &t, x, y, &c)) &&
      dt_same_num(p, "cost", json_object_get(o, "cost"), c);
  dt_spec_unref(p->cx, x);
  dt_spec_unref(p->cx, y);
  return ok;
}

static bool cost_redistribute (DtParity *p, const json_t *o, DtMesh *mesh) {
  DtPlacement a[DT_MAX_MDIM], b[DT_MAX_MDIM];
  DtSpec *x = NULL, *y = NULL;
  DtTopo t = topo_of(o);
  DtMeta meta;
  double c = 0;
  int n = dt_jpls(p, json_object_get(o, "src"), a);
  int k = dt_jpls(p, json_object_get(o, "dst"), b);
  bool ok = dt_jmeta(p, o, &meta) &&
      dt_no_error(p, dt_spec_new(p->cx, mesh, n, a, &meta, NULL, -1, &x)) &&
      dt_no_error(p, dt_spec_new(p->cx, mesh, k, b, &meta, NULL, -1, &y)) &&
      dt_no_error(p, dt_cost_redistribute(p->cx, NULL, &t, x, y, &c)) &&
      dt_same_num(p, "cost", json_object_get(o, "cost"), c);
  dt_spec_unref(p->cx, x);
  dt_spec_unref(p->cx, y);
  return ok;
}

bool dt_check_cost (DtParity *p, const json_t *o) {
  const char *fn = dt_jstr(o, "fn");
  DtMesh *mesh = dt_jmesh(p, o, 0);
  if (mesh == NULL)
    return false;
  bool ok = strcmp(fn, "MeshTopoInfo") == 0 ? cost_topo(p, o, mesh)
      : strcmp(fn, "redistribute_cost") == 0 ? cost_redistribute(p, o, mesh)
      : strncmp(fn, "_compute", 8) == 0 ? cost_step(p, o, mesh)
      : cost_collective(p, o, mesh);
  dt_mesh_unref(p->cx, mesh);
  return ok;
}

/* }==== Parity: plans ==== */

static bool same_step (DtParity *p, const json_t *want, const DtStep *s) {
  DtBuf b;
  dt_buf_init(&b, p->cx);
  dt_pl_print(s->src, &b);
  bool ok = dt_same_text(p, "from", dt_jstr(want, "from"), dt_buf_str(&b));
  dt_buf_clear(&b);
  dt_pl_print(s->dst, &b);
  ok = ok && dt_same_text(p, "to", dt_jstr(want, "to"), dt_buf_str(&b)) &&
       dt_same_text(p, "kind", dt_jstr(want, "kind"),
                 dt_step_kind(s->src, s->dst)) &&
       dt_same_ints(p, "logical", json_object_get(want, "logical_shape"),
                 s->lshape, s->ndim);
  dt_buf_fini(&b);
  const json_t *dims = json_object_get(want, "mesh_dims");
  if (ok && dims != NULL) {
    int64_t wide[DT_MAX_MDIM];
    for (int i = 0; i < s->nflat; i++)
      wide[i] = s->flat_mdims[i];
    ok = dt_same_flag(p, "merged", true, s->flat != NULL) &&
         dt_same_ints(p, "mesh_dims", dims, wide, s->nflat) &&
         dt_same_text(p, "group", json_string_value(json_array_get(
                   json_object_get(want, "group"), 0)), s->flat->name[0]);
    const json_t *scale = json_object_get(want, "avg_scale");
    double got = s->scale > 1 ? s->scale : 0;
    ok = ok && (scale != NULL ? dt_same_num(p, "scale", scale, got)
                              : dt_same_flag(p, "scaled", false, got > 0));
  }
  else if (ok)
    ok = dt_same_flag(p, "mesh_dim", true, s->flat == NULL &&
                      dt_jint(want, "mesh_dim", -1) == s->mdim);
  return ok;
}

static bool same_steps (DtParity *p, const char *what, const json_t *want,
                        const DtStep *s, int n) {
  bool ok = (int)json_array_size(want) == n;
  if (!ok)
    dt_buf_addf(&p->why, "%s: want %d steps, got %d", what,
                (int)json_array_size(want), n);
  for (int i = 0; ok && i < n; i++) {
    ok = same_step(p, json_array_get(want, (size_t)i), &s[i]);
    if (!ok)
      dt_buf_addf(&p->why, " (%s, step %d)", what, i);
  }
  return ok;
}

typedef struct Request {
  DtMesh *mesh;
  DtSpec *src, *dst;
} Request;

static bool request_make (DtParity *p, const json_t *o, int rank,
                          const char *dtype, Request *r) {
  DtPlacement a[DT_MAX_MDIM], b[DT_MAX_MDIM];
  DtShardOrder oa, ob;
  DtMeta meta;
  memset(r, 0, sizeof *r);
  int n = dt_jpls(p, json_object_get(o, "src"), a);
  int k = dt_jpls(p, json_object_get(o, "dst"), b);
  r->mesh = dt_jmesh(p, o, rank);
  if (r->mesh == NULL || n < 0 || k < 0 || !dt_jmeta(p, o, &meta))
    return false;
  if (dtype != NULL)
    meta.dtype = (uint8_t)dt_dtype_find(dtype);
  return dt_no_error(p, dt_spec_new(p->cx, r->mesh, n, a, &meta,
                     dt_jorder(json_object_get(o, "src_order"), &oa), -1,
                     &r->src)) &&
         dt_no_error(p, dt_spec_new(p->cx, r->mesh, k, b, &meta,
                     dt_jorder(json_object_get(o, "dst_order"), &ob), -1,
                     &r->dst));
}

static void request_free (DtParity *p, Request *r) {
  dt_spec_unref(p->cx, r->src);
  dt_spec_unref(p->cx, r->dst);
  dt_mesh_unref(p->cx, r->mesh);
}

static DtPlanMode mode_of (const json_t *o) {
  const char *planner = dt_jstr(o, "planner");
  return planner != NULL && strcmp(planner, "graph") == 0 ? DT_PLAN_GRAPH
                                                          : DT_PLAN_AUTO;
}

/* Logical shapes of a rank that sees others than rank 0. */
static bool plan_rank (DtParity *p, const json_t *o, int rank,
                       const json_t *logical) {
  Request r;
  DtPlan *plan = NULL;
  bool ok = request_make(p, o, rank, NULL, &r) &&
            dt_no_error(p, dt_plan_search(p->cx, dt_parity_planner(p), r.src, r.dst,
                                          mode_of(o), &plan));
  for (int i = 0; ok && i < plan->nraw; i++)
    ok = dt_same_ints(p, "logical of a rank",
                      json_array_get(logical, (size_t)i),
                      plan->raw[i].lshape, plan->raw[i].ndim);
  dt_plan_unref(p->cx, plan);
  request_free(p, &r);
  return ok;
}

static bool plan_ranks (DtParity *p, const json_t *o) {
  const json_t *by = json_object_get(o, "logical_by_rank");
  bool ok = true;
  for (size_t i = 0; ok && i < json_array_size(by); i++) {
    const json_t *e = json_array_get(by, i);
    const json_t *ranks = json_object_get(e, "ranks");
    for (size_t k = 0; ok && k < json_array_size(ranks); k++)
      ok = plan_rank(p, o, (int)json_integer_value(json_array_get(ranks, k)),
                     json_object_get(e, "logical"));
  }
  return ok;
}

/* redistribute_cost under the line's planner. */
static bool plan_cost (DtParity *p, const json_t *o, const Request *r) {
  const json_t *want = json_object_get(o, "cost");
  const json_t *error = json_object_get(want, "error");
  DtPlanner *planner = NULL;
  double c = 0;
  if (want == NULL)
    return true;
  bool ok = dt_no_error(p, dt_planner_new(p->cx, NULL, &planner));
  if (!ok)
    return false;
  dt_planner_set_mode(planner, mode_of(o));
  dt_planner_shard_to_sum(p->cx, planner, p->shard_to_sum);
  DtStatus st = dt_cost_redistribute(p->cx, planner,
                                     dt_planner_topo(planner), r->src, r->dst,
                                     &c);
  ok = error != NULL ? dt_same_flag(p, "cost fails", true, st != DT_OK)
                     : dt_no_error(p, st) && dt_same_num(p, "cost", want, c);
  dt_planner_free(p->cx, planner);
  return ok;
}

/* dt_plan_new refuses mixed partials as execution does. */
static bool plan_checks (DtParity *p, const json_t *o, const Request *r) {
  const json_t *e = json_object_get(o, "exec_error");
  const char *text = e != NULL ? dt_jstr(e, "text") : "";
  DtPlan *plan = NULL;
  bool mixed = strncmp(text, "Mixed Partial", 13) == 0;
  DtStatus st = dt_plan_new(p->cx, dt_parity_planner(p), r->src, r->dst, mode_of(o), &plan);
  dt_plan_unref(p->cx, plan);
  if (mixed)
    return dt_same_flag(p, "mixed refused", true, st == DT_E_VALUE &&
                     strncmp(dt_buf_str(&p->cx->err.message), text, 70) == 0);
  return e == NULL || dt_same_flag(p, "planned", true, st == DT_OK);
}

bool dt_check_plan (DtParity *p, const json_t *o) {
  const json_t *error = json_object_get(o, "error");
  const char *used = dt_jstr(o, "used");        /* NULL: not said */
  DtPlan *plan = NULL;
  Request r;
  bool ok = request_make(p, o, 0, NULL, &r);
  DtStatus st = ok ? dt_plan_search(p->cx, dt_parity_planner(p), r.src, r.dst, mode_of(o),
                                    &plan) : DT_E_INTERNAL;
  if (ok && error != NULL) {
    ok = dt_same_error(p, error, st);
    dt_error_clear(p->cx);
    ok = ok && plan_cost(p, o, &r);
  }
  else if (ok) {
    ok = dt_no_error(p, st) &&
         (used == NULL ||
          (dt_same_flag(p, "graph", strncmp(used, "graph", 5) == 0,
                        plan->graph) &&
           dt_same_flag(p, "undecodable", strcmp(used, "graph+greedy") == 0,
                        plan->undecodable))) &&
         same_steps(p, "steps", json_object_get(o, "steps"), plan->raw,
                    plan->nraw) &&
         plan_cost(p, o, &r) && plan_checks(p, o, &r);
    dt_error_clear(p->cx);
    ok = ok && plan_ranks(p, o);
  }
  dt_plan_unref(p->cx, plan);
  request_free(p, &r);
  return ok;
}

/* }==== Parity: plans_flat.jsonl ==== */

/* Flatten what a line says was flattened; the meshes live with the root. */
bool dt_flatten_all (DtParity *p, const json_t *o, DtMesh *mesh) {
  const json_t *list = json_object_get(o, "flatten");
  bool ok = true;
  for (size_t i = 0; ok && i < json_array_size(list); i++) {
    const char *names[DT_MAX_MDIM];
    DtMesh *sub = NULL, *flat = NULL;
    int n = dt_jstrs(json_array_get(list, i), names, DT_MAX_MDIM);
    ok = dt_no_error(p, dt_mesh_slice(p->cx, mesh, n, names, NULL, NULL,
                                   &sub)) &&
         dt_no_error(p, dt_mesh_flatten(p->cx, sub, NULL, &flat));
    dt_mesh_unref(p->cx, flat);
    dt_mesh_unref(p->cx, sub);
  }
  return ok;
}

static bool flat_warning (DtParity *p, const json_t *o, const DtPlan *plan) {
  const json_t *warn = json_object_get(o, "warn");
  DtBuf b;
  dt_buf_init(&b, p->cx);
  for (size_t i = 0; i < json_array_size(warn); i++) {
    dt_buf_add(&b, i > 0 ? "\n" : "");
    dt_buf_add(&b, json_string_value(json_array_get(warn, i)));
  }
  bool ok = dt_same_text(p, "warning", dt_buf_str(&b),
                      plan->warning != NULL ? plan->warning : "");
  dt_buf_fini(&b);
  return ok;
}

/* DebugMode's line, where a file has it. */
static bool flat_trace (DtParity *p, const json_t *o, const DtPlan *plan) {
  const char *want = dt_jstr(o, "trace");
  DtBuf b;
  if (want == NULL)
    return true;
  dt_buf_init(&b, p->cx);
  dt_plan_print(plan, &b);
  bool ok = dt_same_text(p, "trace", want, dt_buf_str(&b));
  dt_buf_fini(&b);
  return ok;
}

bool dt_check_flat (DtParity *p, const json_t *o) {
  const json_t *opt = json_object_get(o, "opt");
  DtPlan *plan = NULL;
  Request r;
  bool ok = request_make(p, o, 0, NULL, &r) && dt_flatten_all(p, o, r.mesh) &&
            dt_no_error(p, dt_plan_search(p->cx, dt_parity_planner(p), r.src, r.dst,
                                       mode_of(o), &plan)) &&
            same_steps(p, "steps", json_object_get(o, "steps"), plan->raw,
                       plan->nraw) &&
            same_steps(p, "opt", json_is_string(opt)
                       ? json_object_get(o, "steps") : opt, plan->steps,
                       plan->nsteps) &&
            flat_warning(p, o, plan) && flat_trace(p, o, plan);
  dt_plan_unref(p->cx, plan);
  request_free(p, &r);
  return ok;
}

/* }==== Parity: bytes of collectives.jsonl ==== */

static int64_t bytes_of (const json_t *ops) {
  int64_t sum = 0;
  for (size_t i = 0; i < json_array_size(ops); i++)
    sum += dt_jint(json_array_get(ops, i), "bytes_in", 0);
  return sum;
}

static bool bytes_rank (DtParity *p, const json_t *o, int rank,
                        const json_t *forward) {
  DtPlan *plan = NULL;
  Request r;
  bool ok = request_make(p, o, rank, dt_jstr(o, "fwd_dt"), &r) &&
            dt_flatten_all(p, o, r.mesh) &&
            dt_no_error(p, dt_plan_new(p->cx, dt_parity_planner(p), r.src, r.dst, DT_PLAN_AUTO,
                                    &plan));
  if (ok && bytes_of(forward) != dt_plan_bytes(plan)) {
    dt_buf_addf(&p->why, "rank %d: want %lld bytes, got %lld", rank,
                (long long)bytes_of(forward),
                (long long)dt_plan_bytes(plan));
    ok = false;
  }
  dt_plan_unref(p->cx, plan);
  request_free(p, &r);
  return ok;
}

bool dt_check_bytes (DtParity *p, const json_t *o) {
  const json_t *forward = json_object_get(o, "forward");
  const json_t *by = json_object_get(o, "by_rank");
  if (forward == NULL) {
    p->skipped = true;
    return true;
  }
  bool ok = bytes_rank(p, o, 0, forward);
  for (size_t i = 0; ok && i < json_array_size(by); i++) {
    const json_t *e = json_array_get(by, i);
    const json_t *ranks = json_object_get(e, "ranks");
    const json_t *f = json_object_get(e, "forward");
    if (json_object_get(e, "forward_error") != NULL)
      continue;
    for (size_t k = 0; ok && k < json_array_size(ranks); k++)
      ok = bytes_rank(p, o,
                      (int)json_integer_value(json_array_get(ranks, k)),
                      f != NULL ? f : forward);
  }
  return ok;
}

/* }==== */
