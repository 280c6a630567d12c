/* SPDX-License-Identifier: MIT
** TEST: tags=one_thread
** tests/unit/test_spmd.c: SPMD types by hand: axes and their names, the rule of
** an axis, repairs, what may be written, what is known already. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include "fixture.h"
#include "base/error_tool.h"
#include "spmd/spmd.h"

typedef struct Two { DtSpmd s; int dp, tp; } Two;

/* A 2x2 mesh (dp, tp), which is the current one. */
static void two_by_two (DtCtx *cx, Two *t) {
  static const int64_t dp[] = { 0, 2 }, tp[] = { 0, 1 };
  dt_spmd_init(&t->s, cx);
  assert_int_equal(dt_spmd_axis_of_ranks(&t->s, 2, dp, &t->dp), DT_OK);
  assert_int_equal(dt_spmd_axis_of_ranks(&t->s, 2, tp, &t->tp), DT_OK);
  assert_int_equal(dt_spmd_name_axis(&t->s, t->dp, "mesh_dp"), DT_OK);
  assert_int_equal(dt_spmd_name_axis(&t->s, t->tp, "mesh_tp"), DT_OK);
  t->s.nmesh = 2;
  t->s.mesh[0] = t->dp;
  t->s.mesh[1] = t->tp;
}

static void check_name (const DtSpmd *s, int axis, const char *want) {
  DtBuf b;
  dt_buf_init(&b, s->cx);
  dt_spmd_axis_text(s, axis, &b);
  assert_string_equal(dt_buf_str(&b), want);
  dt_buf_fini(&b);
}

static void test_axes (void **state) {
  DtCtx *cx = fixture_cx(state);
  static const int64_t all[] = { 0, 1, 2, 3 }, one[] = { 2 },
                       odd[] = { 0, 1, 3 }, far[] = { 0, 4 },
                       size[] = { 2, 2 }, stride[] = { 2, 1 };
  Two t;
  int flat, again, single, other, list[2], out[8];
  two_by_two(cx, &t);
  assert_int_equal(dt_spmd_axis_of_ranks(&t.s, 4, all, &flat), DT_OK);
  assert_int_equal(dt_spmd_axis(&t.s, 2, size, stride, &again), DT_OK);
  assert_int_equal(flat, again);                /* coalesced */
  check_name(&t.s, flat, "{mesh_dp,mesh_tp}");
  assert_true(dt_spmd_within(&t.s, t.tp, flat));
  assert_false(dt_spmd_within(&t.s, flat, t.tp));
  assert_true(dt_spmd_orthogonal(&t.s, t.dp, t.tp));
  assert_false(dt_spmd_orthogonal(&t.s, t.dp, flat));
  list[0] = t.tp;
  list[1] = t.dp;
  assert_int_equal(dt_spmd_parts(&t.s, flat, 2, list, out), 2);
  assert_int_equal(out[0], t.dp);
  assert_int_equal(dt_spmd_axis_of_ranks(&t.s, 1, one, &single), DT_OK);
  assert_int_equal(dt_spmd_axis_size(&t.s, single), 1);
  assert_int_equal(dt_spmd_axis_of_ranks(&t.s, 3, odd, &other), DT_E_VALUE);
  dt_error_clear(cx);
  assert_int_equal(dt_spmd_axis_of_ranks(&t.s, 2, far, &other), DT_OK);
  check_name(&t.s, other, "MeshAxis(2:4)");
  assert_int_equal(dt_spmd_name_axis(&t.s, other, "mesh_tp"), DT_OK);
  check_name(&t.s, t.tp, "mesh_tp[2:1]");
  dt_spmd_fini(&t.s);
}

/* What the call gives on tp for operands of these types ('U': untyped,
** '#': a plain number); 0 with the error's start in `why`. */
static char called (Two *t, const char *key, const char *types,
                    const char *why) {
  DtSpmdType in[4], out;
  DtSpmdOperand op[4];
  DtSpmdCall c;
  DtStatus st;
  memset(op, 0, sizeof op);
  c.name = strrchr(key, '.') + 1;
  c.cls = dt_spmd_class(key);
  c.n = (int)strlen(types);
  c.in = op;
  for (int i = 0; i < c.n; i++) {
    dt_spmd_type_init(&in[i]);
    op[i].arg = i;
    op[i].takes_grad = true;
    op[i].number = types[i] == '#';
    if (strchr("RIVP", types[i]) != NULL) {
      assert_int_equal(dt_spmd_type_put(&t->s, &in[i], t->dp, 'R'), DT_OK);
      assert_int_equal(dt_spmd_type_put(&t->s, &in[i], t->tp, types[i]),
                       DT_OK);
      op[i].type = &in[i];
    }
  }
  st = dt_spmd_check(&t->s, &c, &out);
  if (st == DT_OK) return dt_spmd_type_on(&out, t->tp);
  assert_int_equal(st, DT_E_SPMD);
  assert_ptr_equal(strstr(dt_buf_str(&t->s.cx->err.message), why),
                   dt_buf_str(&t->s.cx->err.message));
  dt_error_clear(t->s.cx);
  return 0;
}

static void test_rules (void **state) {
  Two t;
  two_by_two(fixture_cx(state), &t);
  assert_int_equal(called(&t, "torch.relu", "R", ""), 'R');
  assert_int_equal(called(&t, "torch.relu", "P", "Partial type on axis "
                          "mesh_tp cannot propagate"), 0);
  assert_int_equal(called(&t, "torch.mul", "RV", ""), 'V');
  assert_int_equal(called(&t, "torch.mul", "RI", "Invariant type on axis "
                          "mesh_tp cannot mix"), 0);
  assert_int_equal(called(&t, "torch.mul", "PR", ""), 'P');
  assert_int_equal(called(&t, "torch.mul", "PP", "Partial in multiple"), 0);
  assert_int_equal(called(&t, "torch.mul", "PV", "Partial type on axis "
                          "mesh_tp cannot combine"), 0);
  assert_int_equal(called(&t, "Tensor.add", "PP", ""), 'P');
  assert_int_equal(called(&t, "Tensor.add", "P#", "Partial type on axis "
                          "mesh_tp in a linear op"), 0);
  assert_int_equal(called(&t, "Tensor.add", "I#", ""), 'I');
  assert_int_equal(called(&t, "torch.div", "PR", ""), 'P');
  assert_int_equal(called(&t, "torch.div", "RP", "div: Partial type in "
                          "nonlinear argument"), 0);
  assert_int_equal(called(&t, "torch.addmm", "PRP", ""), 'P');
  assert_int_equal(called(&t, "torch.addmm", "RRP", "Partial type on axis "
                          "mesh_tp in a linear op"), 0);
  assert_int_equal(called(&t, "Tensor.new_zeros", "P", ""), 'R');
  assert_int_equal(called(&t, "torch.zeros", "", ""), 'R');
  assert_int_equal(called(&t, "torch.randn", "", ""), 0);
  assert_int_equal(called(&t, "torch.add", "RU", "args[1] missing axis "
                          "mesh_dp from the current mesh {mesh_dp, mesh_tp}. "
                          "args[1] has axes {}."), 0);
  t.s.nmesh = -1;
  assert_int_equal(called(&t, "torch.add", "RU", "args[1] missing axis "
                          "mesh_dp. args[1] has axes {}, but the union"), 0);
  t.s.strict = false;
  assert_int_equal(called(&t, "torch.add", "VU", ""), 'V');
  dt_spmd_fini(&t.s);
}

/* Without gradients, R and I go together. */
static void test_no_grad (void **state) {
  Two t;
  two_by_two(fixture_cx(state), &t);
  t.s.grad_mode = false;
  assert_int_equal(called(&t, "torch.mul", "RI", ""), 'R');
  assert_int_equal(called(&t, "torch.mul", "IV", ""), 'V');
  assert_int_equal(called(&t, "torch.mul", "II", ""), 'I');
  dt_spmd_fini(&t.s);
}

static void test_repairs (void **state) {
  Two t;
  two_by_two(fixture_cx(state), &t);
  assert_int_equal(called(&t, "torch.mul", "IP",
    "Invariant type on axis mesh_tp cannot mix with other types. Found types: "
    "[I, P]\nAre you missing a collective or a reinterpret/convert call? e.g.,"
    "\n  convert(tensor, mesh_tp, src=I, dst=R) on the Invariant operand "
    "(no-op forward, all-reduce in backward)\n  all_reduce(tensor, mesh_tp, "
    "src=P, dst=I) on the Partial operand (all-reduce in forward, no-op "
    "backward)"), 0);
  dt_spmd_fini(&t.s);
}

static void test_write (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtSpmdType r, p, v;
  Two t;
  two_by_two(cx, &t);
  dt_spmd_type_init(&r);
  dt_spmd_type_init(&p);
  dt_spmd_type_init(&v);
  assert_int_equal(dt_spmd_type_put(&t.s, &r, t.tp, 'R'), DT_OK);
  assert_int_equal(dt_spmd_type_put(&t.s, &p, t.tp, 'P'), DT_OK);
  assert_int_equal(dt_spmd_type_put(&t.s, &v, t.tp, 'V'), DT_OK);
  assert_int_equal(dt_spmd_check_write(&t.s, "add_", &r, &v, false), DT_OK);
  assert_int_equal(dt_spmd_check_write(&t.s, "add_", &r, &v, true),
                   DT_E_SPMD);
  dt_error_clear(cx);
  assert_int_equal(dt_spmd_check_write(&t.s, "add_", &r, &p, false),
                   DT_E_SPMD);
  assert_string_equal(dt_buf_str(&cx->err.message),
    "add_: in-place/out operation would change SPMD type on axis mesh_tp from "
    "PerMeshAxisLocalSpmdType.R to PerMeshAxisLocalSpmdType.P. In-place and "
    "out= operations cannot change a tensor's SPMD type.");
  dt_error_clear(cx);
  dt_spmd_fini(&t.s);
}

static const DtSpmdNode *interned (DtSpmd *s, int axis, char letter) {
  const DtSpmdNode *node = NULL;
  DtSpmdType t;
  dt_spmd_type_init(&t);
  assert_int_equal(dt_spmd_type_put(s, &t, axis, letter), DT_OK);
  assert_int_equal(dt_spmd_intern(s, &t, &node), DT_OK);
  assert_ptr_equal(dt_spmd_node(s, node->id), node);
  return node;
}

static DtSpmdKey key_of (const DtSpmd *s, const DtSpmdNode *a,
                         const DtSpmdNode *b) {
  DtSpmdKey k;
  memset(&k, 0, sizeof k);
  k.function = 7;
  k.mode = s->mode;
  assert_true(dt_spmd_key_add(&k, a, false, false, 0));
  assert_true(dt_spmd_key_add(&k, b, false, false, 1));
  return k;
}

static void test_known (void **state) {
  DtCtx *cx = fixture_cx(state);
  const DtSpmdNode *r, *v;
  DtSpmdType spec;
  DtSpmdKey k, other;
  int mode;
  Two t;
  two_by_two(cx, &t);
  assert_null(dt_spmd_node(&t.s, 1));
  r = interned(&t.s, t.tp, 'R');
  v = interned(&t.s, t.tp, 'V');
  assert_ptr_equal(interned(&t.s, t.tp, 'R'), r);
  assert_ptr_not_equal(r, v);
  assert_ptr_not_equal(interned(&t.s, t.dp, 'R'), r);
  spec = v->type;
  spec.ndim = 1;
  spec.dim[0].n = 1;
  spec.dim[0].axis[0] = t.tp;
  assert_int_equal(dt_spmd_intern(&t.s, &spec, &r), DT_OK);
  assert_ptr_not_equal(r, v);
  assert_int_equal(dt_spmd_set_mode(&t.s, 1, &t.tp, true), DT_OK);
  k = key_of(&t.s, r, v);
  mode = t.s.mode;
  assert_null(dt_spmd_find_call(&t.s, &k));
  assert_int_equal(dt_spmd_keep_call(&t.s, &k, v), DT_OK);
  assert_ptr_equal(dt_spmd_find_call(&t.s, &k), v);
  other = key_of(&t.s, v, r);
  assert_null(dt_spmd_find_call(&t.s, &other));
  other = k;
  other.function = 8;
  assert_null(dt_spmd_find_call(&t.s, &other));
  assert_int_equal(dt_spmd_set_mode(&t.s, 1, &t.tp, false), DT_OK);
  assert_int_not_equal(t.s.mode, mode);
  other = key_of(&t.s, r, v);
  assert_null(dt_spmd_find_call(&t.s, &other));
  assert_int_equal(dt_spmd_set_mode(&t.s, -1, NULL, true), DT_OK);
  assert_int_equal(dt_spmd_set_mode(&t.s, 1, &t.tp, true), DT_OK);
  assert_int_equal(t.s.mode, mode);
  for (int i = 2; i < DT_SPMD_KNOWN; i++)
    assert_true(dt_spmd_key_add(&k, r, false, false, i));
  assert_false(dt_spmd_key_add(&k, r, false, false, DT_SPMD_KNOWN));
  dt_spmd_fini(&t.s);
}

#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, \
                                             fixture_teardown)

int main (void) {
  static const struct CMUnitTest tests[] = {
    T(test_axes), T(test_rules), T(test_no_grad), T(test_repairs),
    T(test_write), T(test_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
