/* SPDX-License-Identifier: MIT
** tests/unit/suites.h: files of reference lines as a unit test: none may
** differ, none may be empty; of a long file, the lines whose id holds `only`.
** The data lies in DT_PARITY_DIR or tests/parity/2.13.  Header only; include cmocka.h before it. */
#ifndef DT_TESTS_SUITES_H
#define DT_TESTS_SUITES_H

#include <stdio.h>
#include <stdlib.h>
#include "parity/parity.h"

static inline void suites_put (void *ud, const char *line) {
  (void)ud;
  (void)fputs(line, stderr);
}

static inline void suites_check (DtCtx *cx, const char *const *files, int n,
                                 const char *only) {
  const char *dir = getenv("DT_PARITY_DIR");
  for (int i = 0; i < n; i++) {
    char path[512];
    const char *one = path;
    DtParityOpts o = { .nfiles = 1, .files = &one, .show = 12,
                       .only = only, .put = suites_put };
    DtParityCount c;
    (void)snprintf(path, sizeof path, "%s/%s",
                   dir != NULL ? dir : "tests/parity/2.13", files[i]);
    assert_int_equal(dt_parity_run(cx, &o, &c), DT_OK);
    assert_int_equal(c.fail, 0);
    assert_true(c.pass > 0);
  }
}

#endif
