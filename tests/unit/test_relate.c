/* SPDX-License-Identifier: MIT
** TEST: tags=one_thread
** tests/unit/test_relate.c: a tensor of several ranks beside that of one: it
** is cut here in every way that counts, and told back; and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "fixture.h"
#include "diag/relate.h"

enum { MOST = 8 };
static const double NEAR = 2e-5;

typedef struct Case {
  DtCtx *cx;
  DtArena arena;
  DtOrders orders;
  DtElements one, rank[MOST];
} Case;

static DtElements make (DtCtx *cx, int ndim, int64_t a, int64_t b) {
  DtElements e = {.ndim = ndim, .shape = {a, b}, .n = 1};
  for (int i = 0; i < ndim; i++) e.n *= e.shape[i];
  e.v = dt_arena_raw(cx, &cx->scratch, (size_t)(e.n + 1) * sizeof *e.v);
  assert_non_null(e.v);
  return e;
}

/* A matrix without equal rows, sums or halves. */
static void begin (Case *c, void **state, int64_t rows, int64_t cols) {
  memset(c, 0, sizeof *c);
  c->cx = fixture_cx(state);
  c->one = make(c->cx, 2, rows, cols);
  for (int64_t i = 0; i < c->one.n; i++)
    c->one.v[i] = sin((double)(i * i + 3 * i + 1)) + 0.1 * (double)(i % 7);
}

static DtRelation ask (Case *c, int n) {
  DtRelation r;
  assert_int_equal(dt_relate(c->cx, n, c->rank, &c->one, NEAR, 0, &c->arena,
                             &c->orders, &r), DT_OK);
  return r;
}

static void end (Case *c) { dt_arena_fini(c->cx, &c->arena); }

/* Rows [lo, hi) and columns [from, to) of `a`. */
static DtElements cut (DtCtx *cx, const DtElements *a, int64_t lo, int64_t hi,
                       int64_t from, int64_t to) {
  DtElements e = make(cx, 2, hi - lo, to - from);
  for (int64_t i = lo; i < hi; i++)
    for (int64_t j = from; j < to; j++)
      e.v[(i - lo) * (to - from) + j - from] = a->v[i * a->shape[1] + j];
  return e;
}

static void test_copies (void **state) {
  Case c;
  begin(&c, state, 4, 3);
  for (int r = 0; r < 4; r++) c.rank[r] = cut(c.cx, &c.one, 0, 4, 0, 3);
  DtRelation got = ask(&c, 4);
  assert_int_equal(got.kind, DT_REL_COPY);
  assert_true(got.alike && got.factor == 1);
  for (int r = 0; r < 4; r++)
    for (int64_t i = 0; i < c.rank[r].n; i++) c.rank[r].v[i] *= 4;
  got = ask(&c, 4);
  assert_int_equal(got.kind, DT_REL_COPY);
  assert_true(got.factor == 0.25);
  for (int r = 0; r < 4; r++) c.rank[r] = cut(c.cx, &c.one, 0, 4, 0, 3);
  c.rank[2].v[5] += 1;                  /* one rank goes its own way */
  got = ask(&c, 4);
  assert_int_equal(got.kind, DT_REL_NONE);
  assert_false(got.alike);
  end(&c);
}

static void test_parts (void **state) {
  Case c;
  begin(&c, state, 6, 4);
  for (int r = 0; r < 2; r++)
    c.rank[r] = cut(c.cx, &c.one, 0, 6, 2 * r, 2 * r + 2);
  DtRelation got = ask(&c, 2);
  assert_int_equal(got.kind, DT_REL_PART);
  assert_int_equal(got.dim, 1);
  /* uneven, the last rank has nothing */
  c.rank[0] = cut(c.cx, &c.one, 0, 4, 0, 4);
  c.rank[1] = cut(c.cx, &c.one, 4, 6, 0, 4);
  c.rank[2] = cut(c.cx, &c.one, 6, 6, 0, 4);
  got = ask(&c, 3);
  assert_int_equal(got.kind, DT_REL_PART);
  assert_int_equal(got.dim, 0);
  /* columns given out in another order, as positions are in a zigzag */
  for (int r = 0; r < 2; r++)
    c.rank[r] = cut(c.cx, &c.one, 0, 6, 2 - 2 * r, 4 - 2 * r);
  got = ask(&c, 2);
  assert_int_equal(got.kind, DT_REL_PART);
  assert_int_equal(got.dim, 1);
  assert_int_equal(got.order, 2);
  /* no order at all: one of the columns is nobody's */
  c.rank[1].v[0] += 0.5;
  assert_int_equal(ask(&c, 2).kind, DT_REL_NONE);
  end(&c);
}

/* On a mesh of 2 x 2, ranks in its order: cut along both dimensions, along one
** only, and parts of addends. */
static void test_mesh (void **state) {
  Case c;
  begin(&c, state, 4, 6);
  for (int r = 0; r < 4; r++)
    c.rank[r] = cut(c.cx, &c.one, r / 2 * 2, r / 2 * 2 + 2, r % 2 * 3,
                    r % 2 * 3 + 3);
  assert_int_equal(ask(&c, 4).kind, DT_REL_PART);
  for (int k = 0; k < 2; k++) {
    for (int r = 0; r < 4; r++) {
      int part = k == 0 ? r / 2 : r % 2;
      c.rank[r] = cut(c.cx, &c.one, part * 2, part * 2 + 2, 0, 6);
    }
    assert_int_equal(ask(&c, 4).kind, DT_REL_PART);
  }
  for (int r = 0; r < 4; r++)           /* addends along the second */
    for (int64_t i = 0; i < c.rank[r].n; i++) {
      c.rank[r].v[i] = c.one.v[r % 2 * 12 + i] * (r / 2 ? 0.75 : 0.25);
    }
  assert_int_equal(ask(&c, 4).kind, DT_REL_PART);
  end(&c);
}

static void test_addends (void **state) {
  static const double share[4] = {0.1, 0.2, 0.3, 0.4};
  Case c;
  begin(&c, state, 2, 3);
  for (int r = 0; r < 4; r++) {
    c.rank[r] = make(c.cx, 2, 2, 3);
    for (int64_t i = 0; i < 6; i++)
      c.rank[r].v[i] = c.one.v[i] * share[r];
  }
  DtRelation got = ask(&c, 4);
  assert_int_equal(got.kind, DT_REL_ADDEND);
  assert_true(got.factor == 1);
  for (int r = 0; r < 4; r++)           /* the mean of them */
    for (int64_t i = 0; i < 6; i++) c.rank[r].v[i] *= 4;
  got = ask(&c, 4);
  assert_int_equal(got.kind, DT_REL_ADDEND);
  assert_true(got.factor == 0.25);
  for (int r = 0; r < 4; r++)           /* the largest of them */
    for (int64_t i = 0; i < 6; i++)
      c.rank[r].v[i] = c.one.v[i] - (double)((i + r) % 4);
  assert_int_equal(ask(&c, 4).kind, DT_REL_ADDEND);
  c.rank[0].v[0] += 10;
  assert_int_equal(ask(&c, 4).kind, DT_REL_NONE);
  end(&c);
}

/* Rows in turn; rows in an order that exact rows teach, and that a tensor of as
** many rows is then known by although its numbers are rounded. */
static void test_orders (void **state) {
  static const int64_t order[8] = {3, 0, 7, 2, 5, 1, 6, 4};
  Case c;
  begin(&c, state, 8, 3);
  for (int pass = 0; pass < 2; pass++) {
    for (int r = 0; r < 4; r++) {
      c.rank[r] = make(c.cx, 2, 2, 3);
      for (int64_t i = 0; i < 2; i++) {
        int64_t row = pass == 0 ? i * 4 + r : order[r * 2 + i];
        memcpy(c.rank[r].v + i * 3, c.one.v + row * 3, 3 * sizeof(double));
      }
    }
    assert_int_equal(ask(&c, 4).kind, DT_REL_PART);
    assert_int_equal(c.orders.n, pass);
  }
  for (int r = 0; r < 4; r++)
    for (int64_t i = 0; i < 6; i++) c.rank[r].v[i] *= 1 + 1e-7;
  assert_int_equal(ask(&c, 4).kind, DT_REL_PART);
  c.orders.n = 0;
  assert_int_equal(ask(&c, 4).kind, DT_REL_NONE);
  end(&c);
}

/* Rounding is none of ours, and what might be is not called anything. */
static void test_rounding (void **state) {
  static const struct { double by; DtRelKind kind; } row[] = {
    {1e-6, DT_REL_COPY}, {5e-5, DT_REL_UNKNOWN}, {1e-3, DT_REL_NONE}
  };
  Case c;
  begin(&c, state, 3, 3);
  for (size_t k = 0; k < 3; k++) {
    for (int r = 0; r < 2; r++) {
      c.rank[r] = cut(c.cx, &c.one, 0, 3, 0, 3);
      for (int64_t i = 0; i < 9; i++) c.rank[r].v[i] *= 1 + row[k].by;
    }
    assert_int_equal(ask(&c, 2).kind, row[k].kind);
  }
  for (int64_t i = 0; i < 9; i++) c.one.v[i] = (double)(int64_t)(9 * c.one.v[i]);
  c.one.whole = true;                   /* counts are exact and have no factor */
  for (int r = 0; r < 2; r++) {
    c.rank[r] = cut(c.cx, &c.one, 0, 3, 0, 3);
    c.rank[r].v[4] += 1;
  }
  assert_int_equal(ask(&c, 2).kind, DT_REL_NONE);
  for (int r = 0; r < 2; r++) {
    c.rank[r] = cut(c.cx, &c.one, 0, 3, 0, 3);
    for (int64_t i = 0; i < 9; i++) c.rank[r].v[i] *= 2;
  }
  assert_int_equal(ask(&c, 2).kind, DT_REL_NONE);
  end(&c);
}

/* Only some elements are looked at before a tensor is built: one that differs is found
** wherever it lies, copied, cut or summed, and one that may be rounding is not called a
** difference. */
static void test_each_element (void **state) {
  static const struct { double by; DtRelKind kind; } row[] = {
    {5e-5, DT_REL_UNKNOWN}, {1e-3, DT_REL_NONE}
  };
  Case c;
  begin(&c, state, 8, 5);
  double most = 0;
  for (int64_t i = 0; i < c.one.n; i++) most = fmax(most, fabs(c.one.v[i]));
  for (int how = 0; how < 3; how++)
    for (int64_t i = 0; i < c.one.n; i++)
      for (size_t k = 0; k < 2; k++) {
        for (int r = 0; r < 4; r++) {
          c.rank[r] = how == 1 ? cut(c.cx, &c.one, 2 * r, 2 * r + 2, 0, 5)
                               : cut(c.cx, &c.one, 0, 8, 0, 5);
          for (int64_t e = 0; how == 2 && e < c.one.n; e++)
            c.rank[r].v[e] = r == 0 ? c.one.v[e] - 3 * (double)(e % 7 + 1) : (double)(e % 7 + 1);
          if (how == 0) c.rank[r].v[i] += row[k].by * most;
        }
        if (how == 1) c.rank[i / 10].v[i % 10] += row[k].by * most;
        if (how == 2) c.rank[3].v[i] += row[k].by * most;
        assert_int_equal(ask(&c, 4).kind, row[k].kind);
      }
  end(&c);
}

/* NaN is NaN, infinity infinity; nothing is like nothing. */
static void test_edges (void **state) {
  Case c;
  begin(&c, state, 2, 2);
  c.one.v[1] = NAN;
  c.one.v[2] = INFINITY;
  for (int r = 0; r < 2; r++) c.rank[r] = cut(c.cx, &c.one, 0, 2, 0, 2);
  assert_int_equal(ask(&c, 2).kind, DT_REL_COPY);
  c.rank[0].v[1] = c.rank[1].v[1] = 0;
  assert_int_equal(ask(&c, 2).kind, DT_REL_NONE);
  c.one = make(c.cx, 2, 0, 3);
  for (int r = 0; r < 2; r++) c.rank[r] = make(c.cx, 2, 0, 3);
  assert_int_equal(ask(&c, 2).kind, DT_REL_COPY);
  c.one = make(c.cx, 0, 0, 0);
  for (int r = 0; r < 2; r++) c.rank[r] = make(c.cx, 0, 0, 0);
  c.one.v[0] = 3;
  c.rank[0].v[0] = 1;
  c.rank[1].v[0] = 2;
  assert_int_equal(ask(&c, 2).kind, DT_REL_ADDEND);
  end(&c);
}

#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, \
                                             fixture_teardown)

int main (void) {
  static const struct CMUnitTest tests[] = {
    T(test_copies), T(test_parts), T(test_mesh), T(test_addends),
    T(test_orders), T(test_rounding), T(test_each_element), T(test_edges),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
