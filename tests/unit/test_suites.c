/* SPDX-License-Identifier: MIT
** test_suites.c: reference data that reaches every kernel and collective, in
** every build, those with sanitizers included.  All suites, with what each
** must reach, are in tests/parity/suites.lua. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "fixture.h"
#include "suites.h"

#define CHECK(only, ...) do { \
  static const char *const files[] = {__VA_ARGS__}; \
  suites_check(fixture_cx(state), files, \
               (int)(sizeof files / sizeof files[0]), only); \
} while (0)

/* What every rank holds after a redistribution and its gradient. */
static void test_redistribution (void **state) {
  CHECK("11", "redist/values.jsonl");
  CHECK(NULL, "redist/collectives.jsonl");
}

static void test_pointwise (void **state) {
  CHECK(NULL, "values/forward/pointwise_binary.jsonl",
        "values/forward/bitwise_logical.jsonl",
        "values/forward/comparison.jsonl", "values/forward/activation.jsonl",
        "values/forward/special.jsonl");
}

static void test_gradients (void **state) {
  CHECK(NULL, "values/grad/pointwise_unary.jsonl", "values/grad/norm.jsonl",
        "values/grad/index_scatter.jsonl");
}

#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, \
                                             fixture_teardown)

int main (void) {
  static const struct CMUnitTest tests[] = {
    T(test_redistribution), T(test_pointwise), T(test_gradients),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
