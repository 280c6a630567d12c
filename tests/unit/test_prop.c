/* SPDX-License-Identifier: MIT
** tests/unit/test_prop.c: propagation: every reference case of the operators
** that exist, the cache, lists, decompositions, errors. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "fixture.h"
#include "oplib/ops.h"
#include "parity_prop.c"        /* the runner, shared with the program */

static void run_file (void **state, const char *name, ParityFn fn) {
  PropParity t;
  assert_int_equal(prop_parity_init(&t, fixture_cx(state), dt_ops,
                                    dt_variants), DT_OK);
  int failed = parity_file(&t.p, name, fn);
  (void)prop_parity_report(&t, stderr);
  prop_parity_fini(&t);
  assert_int_equal(failed, 0);
}

#define FAMILY(name) \
  static void test_##name (void **state) { \
    run_file(state, "prop/" #name ".jsonl", prop_check_case); \
  }

FAMILY(attention) FAMILY(conv) FAMILY(decomp) FAMILY(embedding)
FAMILY(foreach) FAMILY(inplace_out) FAMILY(loss) FAMILY(math) FAMILY(matrix)
FAMILY(new_factory) FAMILY(other) FAMILY(pointwise) FAMILY(random)
FAMILY(tensor) FAMILY(view)

static void test_rules (void **state) {
  run_file(state, "registry/single_dim_rules.jsonl", prop_check_rules);
}

int main (void) {
#define T(name) \
  cmocka_unit_test_setup_teardown(test_##name, fixture_setup, fixture_teardown)
  const struct CMUnitTest tests[] = {
    T(rules), T(pointwise), T(inplace_out), T(foreach), T(math), T(matrix),
    T(tensor), T(view), T(new_factory), T(embedding), T(loss), T(random),
    T(attention), T(conv), T(decomp), T(other)
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
