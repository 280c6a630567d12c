/* SPDX-License-Identifier: MIT
** test_debug.c: the record of operators, its files, breakpoints, stops; in a
** world of one rank.  The reader of records is given every shortening and many
** damages of one: it reads or it says IO, and leaves nothing behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "fixture.h"
#include "base/error_tool.h"
#include "base/rng.h"
#include "debug/control.h"
#include "debug/dump.h"
#include "engine/world.h"
#include "oplib/ops.h"

typedef struct Rank {
  DtCtx *cx;
  DtSession *s;
  DtDebug *d;
  DtMesh *mesh;
  DtVar *x, *w;                 /* distributed, one rank */
  int bad;
} Rank;

typedef struct Job { void (*fn) (Rank *r); int bad; } Job;

#define CHECK(r, cond) \
  do { if (!(cond)) { (r)->bad++; \
    (void)fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #cond, \
                  dt_buf_str(&(r)->cx->err.message)); \
  } } while (0)
#define OK(r, call) CHECK(r, (call) == DT_OK)

static DtVar *fill (Rank *r, int64_t a, int64_t b) {
  int64_t shape[2] = {a, b};
  DtPlacement pl = dt_pl_shard(0);
  DtMeta meta;
  DtTensor *t = NULL;
  DtVar *plain = NULL, *v = NULL;
  void *p = NULL;
  OK(r, dt_meta_init(r->cx, &meta, DT_F32, 2, shape));
  OK(r, dt_tensor_new(r->cx, &meta, false, &t));
  OK(r, dt_tensor_data(r->cx, t, &p));
  for (int64_t i = 0; i < a * b; i++)
    ((float *)p)[i] = (float)i;
  OK(r, dt_var_new(r->s, t, NULL, &plain));
  OK(r, dt_distribute_tensor(r->s, plain, r->mesh, 1, &pl, -1, &v));
  dt_tensor_unref(r->cx, t);
  dt_var_unref(plain);
  return v;
}

static int job_rank (DtCtx *cx, DtComm *comm, void *ud) {
  Job *job = ud;
  const char *name = "x";
  int64_t shape = 1, live;
  DtSessionOpts o = { .ops = dt_ops, .variants = dt_variants };
  Rank r = { .cx = cx };
  (void)dt_raise(cx, DT_E_INTERNAL, "warm up");
  dt_error_clear(cx);
  live = cx->mem.nlive;
  OK(&r, dt_session_new(cx, comm, &o, &r.s));
  OK(&r, dt_debug_new(r.s, 64, &r.d));
  OK(&r, dt_mesh_init(cx, "cpu", 1, &shape, &name, 0, 1, &r.mesh));
  r.x = fill(&r, 12, 3);        /* larger than what is always kept */
  r.w = fill(&r, 3, 2);
  if (r.bad == 0)
    job->fn(&r);
  dt_error_clear(cx);
  dt_var_unref(r.x);
  dt_var_unref(r.w);
  dt_mesh_unref(cx, r.mesh);
  dt_debug_free(r.s);
  dt_session_free(r.s);
  dt_arena_fini(cx, &cx->scratch);
  CHECK(&r, cx->mem.nlive == live);
  job->bad += r.bad;
  return 0;
}

static void run_job (void **state, void (*fn) (Rank *r)) {
  Job job = { .fn = fn };
  DtWorldOpts w = { .kind = DT_WORLD_THREADS, .size = 1 };
  int code = 0;
  assert_int_equal(dt_world_run(fixture_cx(state), &w, job_rank, &job, &code),
                   DT_OK);
  assert_int_equal(job.bad, 0);
}

static DtVar *call1 (Rank *r, const char *op, DtVar *a) {
  DtVar *v = NULL;
  OK(r, dt_call_fmt(r->s, &v, op, "t", a));
  return v;
}

static DtVar *call2 (Rank *r, const char *op, DtVar *a, DtVar *b) {
  DtVar *v = NULL;
  OK(r, dt_call_fmt(r->s, &v, op, "tt", a, b));
  return v;
}

static float at (Rank *r, const DtVar *v, int64_t i) {
  const float *p = dt_tensor_cdata(v->local);
  CHECK(r, p != NULL);
  return p ? p[i] : 0;
}

/* A few operators, one of them in place; names as a script would give. */
static void work (Rank *r) {
  DtVar *y = call2(r, "aten.mm.default", r->x, r->w);
  DtVar *z = call1(r, "aten.relu.default", y), *u = NULL;
  dt_record_bind(r->d, r->s->seq, "a.lua:0", "y", y->id);
  OK(r, dt_call_fmt(r->s, &u, "aten.mul_.Scalar", "tf", y, 2.0));
  dt_var_unref(u);
  dt_record_bind(r->d, r->s->seq, "a.lua:0", "z", z->id);
  dt_var_unref(call1(r, "aten.sum.default", y));
  dt_var_unref(y);
  dt_var_unref(z);
}

/* {==== The past ==== */

static void t_past (Rank *r) {
  int64_t first = r->s->seq + 1, id;
  DtVar *v = NULL;
  float before;
  work(r);
  id = dt_record_name(r->d, "a.lua:0", "y", first + 2);
  CHECK(r, id > 0);
  CHECK(r, dt_record_name(r->d, "a.lua:0", "y", first) == 0);
  CHECK(r, dt_record_name(r->d, "b.lua:9", "nosuch", first + 2) == 0);
  OK(r, dt_record_revive(r->d, id, first + 2, &v));
  before = at(r, v, 1);
  dt_var_unref(v);
  OK(r, dt_record_revive(r->d, id, first + 3, &v));
  CHECK(r, at(r, v, 1) == 2 * before);
  CHECK(r, v->spec != NULL && dt_pl_is_shard(v->spec->pl[0]));
  dt_var_unref(v);
  CHECK(r, dt_record_revive(r->d, 1 << 20, first, &v) == DT_E_INDEX);
  dt_error_clear(r->cx);
}

static void past (void **state) { run_job(state, t_past); }

/* The oldest values go first, counted once however often they are shared. */
static void t_limit (Rank *r) {
  const DtRecOp *op;
  dt_record_limit(r->d, 1000);
  for (int i = 0; i < 40; i++) work(r);
  CHECK(r, r->d->rec.kept <= 1000 + 200);
  CHECK(r, r->d->rec.n == 64);
  op = dt_record_at(r->d, 63);
  for (int i = 0; i < op->nin; i++)
    CHECK(r, op->in[i].block == NULL ||
             op->in[i].block->nbytes <= DT_RECORD_SMALL);
  CHECK(r, op->nin > 0 && op->in[0].block == NULL);
  dt_record_limit(r->d, 0);
  CHECK(r, r->d->rec.kept == 0);
  OK(r, dt_record_reset(r->d, 8));
  for (int i = 0; i < 10; i++) work(r);
  CHECK(r, r->d->rec.n == 8 && dt_record_at(r->d, 8) == NULL);
}

static void limit (void **state) { run_job(state, t_limit); }

/* }==== */
/* {==== Files ==== */

static void look_at_all (Rank *r) {
  DtBuf b;
  dt_buf_init(&b, r->cx);
  for (int i = 0; i < r->d->rec.n; i++) {
    DtRecOp *op = dt_record_at(r->d, i);
    DtVar *v = NULL;
    dt_record_print(op, &b);
    dt_record_print_colls(op, &b);
    for (int k = 0; k < op->nin; k++)
      if (dt_record_revive(r->d, op->in[k].id, op->seq, &v) == DT_OK)
        dt_var_unref(v);
    dt_error_clear(r->cx);
  }
  dt_buf_fini(&b);
}

static void t_dump (Rank *r) {
  DtBuf a, b;
  DtRecDiff res;
  DtRecord copy;
  work(r);
  dt_buf_init(&a, r->cx);
  dt_buf_init(&b, r->cx);
  OK(r, dt_dump_write(r->d, NULL, true, &a));
  OK(r, dt_record_take(r->d, 16, &copy));
  OK(r, dt_dump_read(r->d, NULL, a.s, a.len));
  CHECK(r, r->d->rec.n == copy.n && r->d->rec.off);
  dt_record_diff(r->d, &copy, "a", &r->d->rec, "b", &b, &res);
  CHECK(r, res.same && res.equal == copy.n && res.at[0] == NULL);
  look_at_all(r);
  dt_buf_clear(&b);
  OK(r, dt_dump_write(r->d, NULL, true, &b));
  CHECK(r, a.len == b.len && memcmp(a.s, b.s, a.len) == 0);
  dt_record_give(r->d, &copy);
  dt_buf_fini(&a);
  dt_buf_fini(&b);
}

static void dump (void **state) { run_job(state, t_dump); }

static void try_bytes (Rank *r, const char *s, size_t n) {
  DtStatus st = dt_dump_read(r->d, NULL, s, n);
  CHECK(r, st == DT_OK || st == DT_E_IO || st == DT_E_NOMEM);
  dt_error_clear(r->cx);
  if (st == DT_OK) look_at_all(r);
}

static void t_damage (Rank *r) {
  DtBuf a;
  DtRng rng;
  char *copy;
  memset(&rng, 0, sizeof rng);
  rng.seed = 5;
  work(r);
  dt_buf_init(&a, r->cx);
  OK(r, dt_dump_write(r->d, NULL, true, &a));
  copy = dt_alloc(r->cx, a.len);
  CHECK(r, copy != NULL);
  for (size_t n = 0; copy && n < a.len; n += 1 + n / 64) {
    CHECK(r, dt_dump_read(r->d, NULL, a.s, n) == DT_E_IO);
    dt_error_clear(r->cx);
  }
  for (uint64_t i = 0; copy && i < 1500; i++) {
    uint64_t dice = dt_rng_u64(&rng, i);
    memcpy(copy, a.s, a.len);
    copy[dice % a.len] = (char)(dice >> 40);
    if (i % 3 == 0) copy[dice / 7 % a.len] = (char)255;
    try_bytes(r, copy, a.len);
  }
  dt_free(r->cx, copy);
  dt_buf_fini(&a);
  try_bytes(r, "\1\0\1x\310", 5);        /* a source of 200 bytes: none */
}

static void damage (void **state) { run_job(state, t_damage); }

/* A file of one part, a zstd frame that says nothing but how much it holds. */
static void read_claim (Rank *r, uint64_t claim, const char *words) {
  char frame[16] = {'\x28', '\xb5', '\x2f', '\xfd', '\xe0'}, path[64];
  uint64_t len = sizeof frame, hash;
  char *part = NULL;
  size_t n;
  DtBuf b;
  FILE *f;
  for (int i = 0; i < 8; i++) frame[5 + i] = (char)(claim >> (8 * i) & 255);
  hash = dt_dump_hash(frame, sizeof frame);
  dt_buf_init(&b, r->cx);
  dt_dump_head(&b, 1, 1, &len, &hash);
  dt_buf_addn(&b, frame, sizeof frame);
  snprintf(path, sizeof path, "claim-%ld.dtr", (long)getpid());
  f = fopen(path, "wb");
  CHECK(r, f && fwrite(b.s, 1, b.len, f) == b.len && fclose(f) == 0);
  CHECK(r, dt_dump_part(r->cx, path, 0, &part, &n) == DT_E_IO);
  CHECK(r, part == NULL);
  CHECK(r, strstr(dt_buf_str(&r->cx->err.message), words) != NULL);
  dt_error_clear(r->cx);
  (void)remove(path);
  dt_buf_fini(&b);
}

static void t_claims (Rank *r) {
  read_claim(r, 100, "is damaged");
  read_claim(r, 1 << 20, "is damaged");
  read_claim(r, (uint64_t)1 << 40, "claims that 16 bytes are 1099511627776");
  read_claim(r, UINT64_MAX - 2, "claims that 16 bytes are 18446744073709551");
}

static void claims (void **state) { run_job(state, t_claims); }

/* }==== */
/* {==== Stops and breakpoints ==== */

typedef struct Seen { int n; DtStepMode mode; char text[512]; } Seen;

static DtStatus on_stop (void *ud, DtControl *c, DtStopAt *where) {
  Seen *k = ud;
  (void)where;
  k->n++;
  dt_control_go(c, k->mode);
  return DT_OK;
}

static bool yes (void *ud) { (void)ud; return true; }

static int stops (Rank *r, DtControl *c, DtStepMode first, DtStepMode then) {
  Seen *k = c->h.ud;
  k->n = 0;
  k->mode = then;
  dt_control_go(c, first);
  work(r);
  dt_control_rest(c);
  return k->n;
}

static void t_steps (Rank *r) {
  Seen k = { 0, DT_GO_ON, "" };
  DtHooks h = { .ud = &k, .stop = on_stop, .present = yes };
  DtControl *c = NULL;
  OK(r, dt_control_new(r->d, &h, &c));
  CHECK(r, c->mask == 0);
  CHECK(r, stops(r, c, DT_GO_ON, DT_GO_ON) == 0);
  CHECK(r, stops(r, c, DT_GO_OP, DT_GO_ON) == 1);
  CHECK(r, stops(r, c, DT_GO_OP, DT_GO_OP) == 4);
  CHECK(r, stops(r, c, DT_GO_OP, DT_GO_NEXT) == 4);
  CHECK(r, stops(r, c, DT_GO_OP, DT_GO_STEP) > 7);
  CHECK(r, stops(r, c, DT_GO_OP, DT_GO_FINISH) == 1);
  CHECK(r, c->mask == 0);       /* nobody listens any more */
}

static void steps (void **state) { run_job(state, t_steps); }

static void t_breaks (Rank *r) {
  static const char *const bad[] = {
    "", "op", "op aten.nosuch", "nosuch", "x.lua:", "x.lua:0", "x.lua:y",
    "redistribute >", "redistribute > x", "redistribute implicit twice",
    "collective on ", "placement", "placement x", "placement x =",
    "placement x = Q", "mixed now", "nan 3", "x.lua:99999999999999999999"
  };
  Seen k = { 0, DT_GO_ON, "" };
  DtHooks h = { .ud = &k, .stop = on_stop, .present = yes };
  DtControl *c = NULL;
  DtBuf b;
  int id = 0;
  dt_buf_init(&b, r->cx);
  OK(r, dt_control_new(r->d, &h, &c));
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    CHECK(r, dt_bp_add(c, bad[i], false, &id) == DT_E_COMMAND);
    dt_error_clear(r->cx);
  }
  CHECK(r, c->nbp == 0 && c->mask == 0);
  OK(r, dt_bp_add(c, "op aten.mm*", false, &id));
  CHECK(r, stops(r, c, DT_GO_ON, DT_GO_ON) == 1);
  dt_bp_find(c, id)->ignore = 1;
  CHECK(r, stops(r, c, DT_GO_ON, DT_GO_ON) == 0);
  OK(r, dt_bp_add(c, "op *", true, &id));
  CHECK(r, stops(r, c, DT_GO_ON, DT_GO_ON) == 1);
  CHECK(r, c->nbp == 1);
  OK(r, dt_bp_set_commands(c, &c->bp[0], ":bt\n:c"));
  dt_bp_save(c, &b);
  OK(r, dt_bp_delete(c, 0));
  OK(r, dt_bp_load(c, dt_buf_str(&b)));
  CHECK(r, c->nbp == 1 && strcmp(c->bp[0].commands, ":bt\n:c") == 0);
  CHECK(r, dt_bp_load(c, "tbreak nan\nnonsense\n") == DT_E_COMMAND);
  dt_error_clear(r->cx);
  CHECK(r, dt_bp_delete(c, 999) == DT_E_INDEX);
  dt_error_clear(r->cx);
  OK(r, dt_bp_delete(c, 0));
  CHECK(r, c->mask == 0);
  dt_buf_fini(&b);
}

static void breaks (void **state) { run_job(state, t_breaks); }

static void globs (void **state) {
  (void)state;
  assert_true(dt_glob("aten.mm*", "aten.mm.default"));
  assert_true(dt_glob("*", ""));
  assert_true(dt_glob("a?c", "abc"));
  assert_true(dt_glob("*.*.out", "aten.mm.out"));
  assert_false(dt_glob("a?c", "ac"));
  assert_false(dt_glob("", "x"));
  assert_false(dt_glob("mm", "mmm"));
}

/* }==== */

#define T(fn) cmocka_unit_test_setup_teardown(fn, fixture_setup, \
                                              fixture_teardown)

int main (void) {
  const struct CMUnitTest tests[] = {
    T(past), T(limit), T(dump), T(damage), T(claims), T(steps), T(breaks),
    T(globs)
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
