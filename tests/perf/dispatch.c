/* SPDX-License-Identifier: MIT
** What the dispatcher costs: a cached distributed operator above its kernel,
** without and with recording, and uncached propagation of mm on meshes of one
** to three dims (a hundredth of PyTorch's 0.9, 4.8 and 45 ms).  Medians of
** several runs in one process, in processor time; prints "name value unit
** budget". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "debug/debug.h"
#include "engine/dist.h"
#include "oplib/ops.h"

enum { RUNS = 9, CALLS = 20000, PROPS = 200 };

static double now (void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int cmp (const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double median (double *v) {
  qsort(v, RUNS, sizeof *v, cmp);
  return v[RUNS / 2];
}

static void die (DtCtx *cx) {
  printf("error: %s\n", dt_buf_str(&cx->err.message));
  exit(1);
}

#define TRY(call) do { if ((call) != DT_OK) die(cx); } while (0)

static DtVar *make (DtCtx *cx, DtSession *s, DtMesh *m, DtPlacement p) {
  int64_t shape[2] = { 8, 8 };
  DtMeta meta;
  DtTensor *t = NULL;
  DtVar *plain = NULL, *v = NULL;
  DtPlacement pl[DT_MAX_MDIM];
  void *data;
  for (int i = 0; i < m->ndim; i++) pl[i] = p;
  TRY(dt_meta_init(cx, &meta, DT_F32, 2, shape));
  TRY(dt_tensor_new(cx, &meta, dt_session_no_data(s), &t));
  if (dt_tensor_has_data(t)) {
    TRY(dt_tensor_data(cx, t, &data));
    memset(data, 0, 8 * 8 * sizeof(float));
  }
  TRY(dt_var_new(s, t, NULL, &plain));
  TRY(dt_distribute_tensor(s, plain, m, m->ndim, pl, -1, &v));
  dt_tensor_unref(cx, t);
  dt_var_unref(plain);
  return v;
}

static void bench_cached (DtCtx *cx, DtSession *s, int ndim) {
  int64_t one = 1;
  DtMesh *m = NULL;
  DtVar *a, *b;
  const DtOpDef *op = dt_registry_find(cx, s->registry, "aten.mul.Tensor");
  DtArgs args;
  DtValue pos[2] = { dt_v_slot(0), dt_v_slot(1) };
  double full[RUNS], local[RUNS];
  (void)ndim;
  s->grad_enabled = false;
  TRY(dt_mesh_init(cx, "cpu", 1, &one, NULL, 0, 1, &m));
  a = make(cx, s, m, dt_pl_replicate());
  b = make(cx, s, m, dt_pl_replicate());
  TRY(dt_schema_bind(cx, op->sig, &(DtGiven){ .npos = 2, .pos = pos }, &args));
  args.nslots = 2;
  for (int r = 0; r < RUNS; r++) {
    DtVar *in[2] = { a, b };
    DtTensor *t[2] = { a->local, b->local };
    double t0 = now();
    for (int i = 0; i < CALLS; i++) {
      DtResults res;
      memset(&res, 0, sizeof res);
      TRY(dt_call(s, op, &args, 2, in, &res));
      dt_results_fini(s, &res);
    }
    full[r] = (now() - t0) / CALLS;
    t0 = now();
    for (int i = 0; i < CALLS; i++) {
      DtTensor *out[1] = { NULL };
      DtValue ret;
      DtLocalOut got = { out, 1, 0, &ret };
      TRY(dt_run_local(s, op, &args, 2, t, &got));
      dt_tensor_unref(cx, out[0]);
    }
    local[r] = (now() - t0) / CALLS;
  }
  if (s->debug != NULL) {
    printf("dispatch_cached_recorded_over_kernel %.3f us 2\n",
           median(full) - median(local));
  } else {
    printf("dispatch_cached_over_kernel %.3f us 1\n",
           median(full) - median(local));
    printf("kernel_alone %.3f us -\n", median(local));
  }
  dt_var_unref(a);
  dt_var_unref(b);
  dt_mesh_unref(cx, m);
}

static void bench_prop (DtCtx *cx, DtSession *s, int ndim) {
  static const int budget[] = { 0, 9, 48, 450 };
  int64_t shape[3] = { 2, 2, 2 };
  DtMesh *m = NULL;
  DtVar *a, *b;
  const DtOpDef *op = dt_registry_find(cx, s->registry, "aten.mm.default");
  DtArgs args;
  DtValue pos[2] = { dt_v_slot(0), dt_v_slot(1) };
  double t[RUNS];
  TRY(dt_mesh_init(cx, "cpu", ndim, shape, NULL, 0, 8, &m));
  a = make(cx, s, m, dt_pl_shard(0));
  b = make(cx, s, m, dt_pl_shard(1));
  TRY(dt_schema_bind(cx, op->sig, &(DtGiven){ .npos = 2, .pos = pos }, &args));
  args.nslots = 2;
  for (int r = 0; r < RUNS; r++) {
    const DtSpec *in[2] = { a->spec, b->spec };
    const DtOpSchema q = { op, &args, 2, in };
    double t0 = now();
    for (int i = 0; i < PROPS; i++) {
      DtProp *p = NULL;
      TRY(dt_prop_run(cx, s->prop, &q, NULL, &p));
      dt_prop_unref(cx, p);
    }
    t[r] = (now() - t0) / PROPS;
  }
  printf("prop_mm_%dd_uncached %.2f us %d\n", ndim, median(t), budget[ndim]);
  dt_var_unref(a);
  dt_var_unref(b);
  dt_mesh_unref(cx, m);
}

typedef void (*Bench) (DtCtx *, DtSession *, int);

static void with_session (DtCtx *cx, DtComm *c, bool record, Bench f,
                          int ndim) {
  DtSessionOpts o = { dt_ops, dt_variants, NULL, "cpu", 0, dt_rulings };
  DtSession *s = NULL;
  TRY(dt_session_new(cx, c, &o, &s));
  if (record) TRY(dt_debug_new(s, 10000, NULL));
  f(cx, s, ndim);
  if (record) dt_debug_free(s);
  dt_session_free(s);
}

int main (void) {
  DtCtx *cx = NULL;
  DtHub *hub = NULL;
  DtComm *c = NULL;
  if (dt_ctx_new(&cx) != DT_OK) return 1;
  TRY(dt_hub_new(cx, 1, &hub));
  TRY(dt_comm_threads(cx, hub, 0, &c));
  with_session(cx, c, false, bench_cached, 1);
  with_session(cx, c, true, bench_cached, 1);
  dt_comm_free(cx, c);
  dt_hub_free(cx, hub);
  for (int n = 1; n <= 3; n++) {
    TRY(dt_comm_fake(cx, 8, 0, &c));
    with_session(cx, c, false, bench_prop, n);
    dt_comm_free(cx, c);
  }
  dt_ctx_free(cx);
  return 0;
}
