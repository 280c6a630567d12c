/* SPDX-License-Identifier: MIT
** TEST: tags=one_thread
** test_history.c: the history file: what is read of it, and that reading one
** that is too long loses none of the newest entries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "repl/history.h"
#include "fixture.h"

typedef struct Read { int n; char first[64], last[64]; } Read;

static void note (void *ud, const char *text) {
  Read *r = ud;
  if (r->n++ == 0) snprintf(r->first, sizeof r->first, "%s", text);
  snprintf(r->last, sizeof r->last, "%s", text);
}

/* A file of its own; the caller removes it. */
static FILE *create_file (char *path) {
  strcpy(path, "/tmp/dt_history_XXXXXX");
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  FILE *out = fdopen(fd, "w");
  assert_non_null(out);
  return out;
}

static Read load (Fixture *f, const char *path) {
  Read r = {0};
  assert_int_equal(dt_history_load(f->cx, path, note, &r), DT_OK);
  return r;
}

static void test_doubles (void **state) {
  Fixture *f = *state;
  char path[64];
  FILE *out = create_file(path);
  fputs("a\nb\na\nlast, without an end", out);
  fclose(out);
  Read r = load(f, path);
  assert_int_equal(r.n, 2);
  assert_string_equal(r.first, "b");
  assert_string_equal(r.last, "a");
  unlink(path);
}

static void test_too_long (void **state) {
  Fixture *f = *state;
  char path[64], fill[1000];
  FILE *out = create_file(path);
  memset(fill, 'x', sizeof fill);
  for (int i = 0; i < 9000; i++)
    fprintf(out, "%d %.*s\n", i, (int)sizeof fill, fill);
  fputs("twice\nmiddle\ntwice\nnewest\n", out);
  fclose(out);
  for (int turn = 0; turn < 2; turn++) {        /* the first one rewrites it */
    Read r = load(f, path);
    assert_int_equal(r.n, DT_HISTORY_MAX);
    assert_string_equal(r.last, "newest");
    assert_int_equal(strncmp(r.first, "4003 x", 6), 0);
  }
  unlink(path);
}

#define TEST(f) \
  cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main (void) {
  const struct CMUnitTest tests[] = { TEST(test_doubles), TEST(test_too_long) };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
