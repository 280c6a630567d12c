/* SPDX-License-Identifier: MIT
** TEST: tags=one_thread
** test_narrow.c: what a narrow terminal shows of long lines: all words in their
** order, no line wider than it must be, and each line as it is shown alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include "repl/narrow.h"
#include "fixture.h"

static const char *const lines[] = {
  "", "short", "    indented", "one two three four five six seven eight",
  "name          shape          placement", "a   b   c",
  "\"a text in quotes that is long\"   and more   of it",
  "+-----+     +-----+     +-----+     +-----+",
  "\033[31mred\033[0m          \033[32mgreen\033[0m         blue",
  "ends in a colour          that is not whole   \033[3",
  "ends in a character       that is not whole   \xe4\xb8",
  "\xe4\xb8\x80\xe4\xba\x8c\xe4\xb8\x89 \xe5\x9b\x9b\xe4\xba\x94 end",
  "averyveryveryverylongwordwithoutanyplacetocutit",
};
enum { LINES = sizeof lines / sizeof *lines };

static const char *narrow (Fixture *f, DtBuf *out, const char *s, int cols) {
  dt_buf_init(out, f->cx);
  dt_narrow(s, strlen(s), cols, true, out);
  return dt_buf_str(out);
}

/* The next character that is not a blank or the end of a line. */
static const char *next_mark (const char *s) { return s + strspn(s, " \n"); }

static void test_words (void **state) {
  Fixture *f = *state;
  for (int i = 0; i < LINES; i++)
    for (int cols = 8; cols <= 60; cols++) {
      DtBuf out;
      const char *a = next_mark(lines[i]), *b;
      b = next_mark(narrow(f, &out, lines[i], cols));
      while (*a && *b && *a == *b) {
        a = next_mark(a + 1);
        b = next_mark(b + 1);
      }
      assert_string_equal(a, b);
      dt_buf_fini(&out);
    }
}

/* Two lines together are what each is alone. */
static void test_alone (void **state) {
  Fixture *f = *state;
  for (int i = 0; i < LINES; i++)
    for (int j = 0; j < LINES; j++)
      for (int cols = 20; cols <= 60; cols += 3) {
        DtBuf first, second, both;
        char text[200], want[400];
        (void)snprintf(text, sizeof text, "%s\n%s", lines[i], lines[j]);
        (void)snprintf(want, sizeof want, "%s\n%s",
                       narrow(f, &first, lines[i], cols),
                       narrow(f, &second, lines[j], cols));
        assert_string_equal(narrow(f, &both, text, cols), want);
        dt_buf_fini(&first);
        dt_buf_fini(&second);
        dt_buf_fini(&both);
      }
}

/* No piece of plain words is wider than the terminal. */
static void test_width (void **state) {
  Fixture *f = *state;
  for (int cols = 24; cols <= 60; cols++) {
    DtBuf out;
    const char *s = narrow(f, &out, lines[3], cols);
    while (*s) {
      size_t n = strcspn(s, "\n");
      assert_true(n <= (size_t)cols);
      s += n + (s[n] == '\n');
    }
    dt_buf_fini(&out);
  }
}

#define TEST(f) \
  cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

/* Lines that were ended for their length become lines of this terminal, without
** a step to the right; what begins anew stays a line of its own. */
static void test_prose (void **state) {
  Fixture *f = *state;
  static const char text[] =
    "Each was tried on the real inputs.  Where a script is stopped at the\n"
    "error, the call gets the repaired inputs.\nNot in the fake world.\n";
  DtBuf out;
  assert_string_equal(narrow(f, &out, text, 80), text);
  dt_buf_fini(&out);
  assert_string_equal(narrow(f, &out, text, 40),
    "Each was tried on the real inputs.\n"
    "Where a script is stopped at the error,\n"
    "the call gets the repaired inputs.\nNot in the fake world.\n");
  dt_buf_fini(&out);
  dt_buf_init(&out, f->cx);     /* what a program prints stays in its lines */
  dt_narrow(text, strlen(text), 40, false, &out);
  assert_string_equal(dt_buf_str(&out),
    "Each was tried on the real inputs.\n"
    "    Where a script is stopped at the\n"
    "error, the call gets the repaired\n"
    "    inputs.\nNot in the fake world.\n");
  dt_buf_fini(&out);
}

int main (void) {
  const struct CMUnitTest tests[] = {
    TEST(test_words), TEST(test_alone), TEST(test_width),
    TEST(test_prose),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
