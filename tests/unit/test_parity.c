/* SPDX-License-Identifier: MIT
** TEST: tags=one_thread
** tests/unit/test_parity.c: the comparison itself: it must see what differs,
** count what it cannot check as skipped, survive bad files.  The suites are
** run by tests/parity/suites.lua. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "fixture.h"
#include "parity/parity_int.h"
#include "suites.h"

/* A file with this text; the path lives in `path`. */
static void write_file (char *path, const char *text) {
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  assert_int_equal(close(fd), 0);
}

static void keep (void *ud, const char *line) {
  dt_buf_add(ud, line);
}

/* Run one text; what was printed must hold `needle`. */
static void check (DtCtx *cx, const char *text, int pass, int fail, int skip,
                   const char *needle) {
  char path[] = "/tmp/dtrepl-parity-XXXXXX";
  const char *file = path;
  DtParityCount c;
  DtBuf out;
  DtParityOpts o = { .nfiles = 1, .files = &file, .show = -1, .put = keep,
                     .ud = &out };
  dt_buf_init(&out, cx);
  write_file(path, text);
  assert_int_equal(dt_parity_run(cx, &o, &c), DT_OK);
  (void)unlink(path);
  assert_int_equal(c.pass, pass);
  assert_int_equal(c.fail, fail);
  assert_int_equal(c.skip, skip);
  if (strstr(dt_buf_str(&out), needle) == NULL)
    fail_msg("no \"%s\" in: %s", needle, dt_buf_str(&out));
  dt_buf_fini(&out);
}

#define MM(out) \
  "{\"id\":\"prop/aten.mm.default/0\",\"op\":\"aten.mm.default\"," \
  "\"mesh\":{\"shape\":[2],\"names\":[\"tp\"]},\"args\":[" \
  "{\"dt\":\"f32\",\"shape\":[8,4],\"pl\":[\"S(0)\"]}," \
  "{\"dt\":\"f32\",\"shape\":[4,6],\"pl\":[\"R\"]}]," \
  "\"out\":{\"dt\":\"f32\"," out "},\"cost\":0.0}\n"

#define ADD(data) \
  "{\"id\":\"values/fwd/aten.add.Tensor/0\",\"op\":\"aten.add.Tensor\"," \
  "\"args\":[{\"t\":\"f32\",\"shape\":[2],\"data\":[1.0,2.0]}," \
  "{\"t\":\"f32\",\"shape\":[2],\"data\":[0.5,{\"inf\":1}]}]," \
  "\"out\":[{\"t\":\"f32\",\"shape\":[2],\"data\":" data "}]," \
  "\"exact\":true}\n"

static void test_decisions (void **state) {
  DtCtx *cx = fixture_cx(state);
  check(cx, MM("\"shape\":[8,6],\"pl\":[\"S(0)\"]"), 1, 0, 0,
        "1 passed, 0 failed\n");
  check(cx, MM("\"shape\":[8,6],\"pl\":[\"R\"]"), 0, 1, 0,
        "prop/aten.mm.default/0: out: want [\"R\"], got [S(0)]\n");
  check(cx, MM("\"shape\":[8,7],\"pl\":[\"S(0)\"]"), 0, 1, 0, "shape");
}

static void test_numbers (void **state) {
  DtCtx *cx = fixture_cx(state);
  check(cx, ADD("[1.5,{\"inf\":1}]"), 1, 0, 0, "1 passed, 0 failed\n");
  check(cx, ADD("[1.5,{\"inf\":-1}]"), 0, 1, 0, "element 1");
  check(cx, ADD("[1.5000001,{\"inf\":1}]"), 0, 1, 0, "element 0");
  check(cx, ADD("[1.5]"), 0, 1, 0, "want 1 elements, got 2");
}

static void test_not_checked (void **state) {
  DtCtx *cx = fixture_cx(state);
  check(cx, "{\"id\":\"values/fwd/aten.nothing.default/0\","
        "\"op\":\"aten.nothing.default\",\"args\":[]}\n", 0, 0, 1,
        "aten.nothing.default: 1 skipped, operator not registered\n");
  check(cx, "{\"id\":\"prop/aten.mm.default/9\",\"total\":1,\"winner\":0,"
        "\"cands\":[]}\n", 0, 0, 1, "0 passed, 0 failed, 1 skipped\n");
  check(cx, "{\"id\":\"elsewhere/1\"}\n", 0, 0, 1, "1 skipped");
}

static void test_bad_files (void **state) {
  static const char *const none = "/tmp/dtrepl-no-such-file.jsonl";
  DtCtx *cx = fixture_cx(state);
  DtParityOpts o = { .nfiles = 1, .files = &none };
  DtParityCount c;
  assert_int_equal(dt_parity_run(cx, &o, &c), DT_E_IO);
  check(cx, "{\"id\":\n[1,2]\n\"x\"\n", 0, 3, 0, "no JSON");
  check(cx, "", 0, 0, 0, "0 passed, 0 failed\n");
  check(cx, "{\"id\":\"prop/x/1\",\"op\":\"aten.mm.default\","
        "\"mesh\":{\"shape\":[2]},\"args\":[1,2]}\n", 0, 1, 0, "prop/x/1");
}

/* Whatever allocation fails, it is an error or a case that differs. */
static void test_no_memory (void **state) {
  char path[] = "/tmp/dtrepl-parity-XXXXXX";
  const char *file = path;
  DtCtx *cx = fixture_cx(state);
  DtParityOpts o = { .nfiles = 1, .files = &file, .show = -1 };
  DtParityCount c = { 0, 0, 0, 0 };
  DtStatus st = DT_E_NOMEM;
  int n = 1;
  write_file(path, MM("\"shape\":[8,6],\"pl\":[\"S(0)\"]")
             ADD("[1.5,{\"inf\":1}]"));
  for (; n < 5000 && !(st == DT_OK && c.pass == 2); n += n < 200 ? 1 : 7) {
    cx->mem.fail_at = cx->mem.nalloc + n;
    cx->mem.fail_on = true;
    st = dt_parity_run(cx, &o, &c);
    cx->mem.fail_on = false;
    dt_error_clear(cx);
  }
  (void)unlink(path);
  assert_int_equal(c.pass, 2);
  assert_true(n > 20);
}

/* What is no number is like nothing that is one. */
static void test_nan (void **state) {
  const double all[] = { 0, -1.5, INFINITY, NAN };
  DtParity p = { .cx = fixture_cx(state) };
  dt_buf_init(&p.why, p.cx);
  for (int i = 0; i < 3; i++) {
    json_t *want = json_integer(i);
    for (int k = 0; k < 4; k++)
      assert_int_equal(dt_same_num(&p, "x", want, all[k]), i == 0 && k == 0);
    json_decref(want);
  }
  dt_buf_fini(&p.why);
}

#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, \
                                             fixture_teardown)

int main (void) {
  static const struct CMUnitTest tests[] = {
    T(test_decisions),
    T(test_numbers),
    T(test_nan),
    T(test_not_checked),
    T(test_bad_files),
    T(test_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
