/* SPDX-License-Identifier: MIT
** tests/unit/fixture.h: a context per test, and a failure when a test leaves
** a live allocation behind.  Header only; include cmocka.h before it. */
#ifndef DT_TESTS_FIXTURE_H
#define DT_TESTS_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include "base/ctx.h"

typedef struct Fixture {
  DtCtx *cx;
  int64_t live;                 /* allocations of the context itself */
} Fixture;

static inline int fixture_setup (void **state) {
  Fixture *f = calloc(1, sizeof *f);
  if (f == NULL || dt_ctx_new(&f->cx) != DT_OK) {
    free(f);
    return -1;
  }
  /* the error buffers stay allocated once used */
  (void)dt_raise(f->cx, DT_E_INTERNAL, "warm up");
  dt_error_clear(f->cx);
  f->live = f->cx->mem.nlive;
  *state = f;
  return 0;
}

static inline int fixture_teardown (void **state) {
  Fixture *f = *state;
  dt_error_clear(f->cx);
  dt_arena_fini(f->cx, &f->cx->scratch);
  int64_t left = f->cx->mem.nlive - f->live;
  if (left != 0)
    (void)fprintf(stderr, "%lld allocations are left\n", (long long)left);
  dt_ctx_free(f->cx);
  free(f);
  return left == 0 ? 0 : -1;
}

static inline DtCtx *fixture_cx (void **state) {
  return ((Fixture *)*state)->cx;
}

#endif
