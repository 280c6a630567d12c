/* SPDX-License-Identifier: MIT
** test_base.c: contexts, errors, memory, buffers, maps, hashes, random. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/ctx.h"
#include "base/error_shard.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem_int.h"
#include "base/rng.h"

static int setup (void **state) {
  DtCtx *cx;
  if (dt_ctx_new(&cx) != DT_OK)
    return -1;
  *state = cx;
  return 0;
}

/* Every test must give back all it took. */
static int teardown (void **state) {
  DtCtx *cx = *state;
  dt_error_clear(cx);
  dt_buf_fini(&cx->err.message);
  dt_buf_fini(&cx->err.explain);
  dt_arena_fini(cx, &cx->scratch);
  assert_int_equal(cx->mem.nlive, 0);
  assert_int_equal(cx->mem.bytes_live, 0);
  dt_ctx_free(cx);
  return 0;
}

/* ---- errors ---------------------------------------------------------- */

static void test_error_table (void **state) {
  const char *before = "";
  int n = 0;
  (void)state;
  assert_string_equal(dt_error_info(DT_E_MIXED)->id, "DT0101");
  assert_string_equal(dt_error_info((DtStatus)9999)->name, "INTERNAL");
  assert_string_equal(dt_error_info(DT_OK)->name, "INTERNAL");
  assert_int_equal(dt_error_find("MIXED"), DT_E_MIXED);
  assert_int_equal(dt_error_find("DT0101"), DT_E_MIXED);
  assert_int_equal(dt_error_find("DT9999"), DT_OK);
  for (DtStatus st = dt_error_next(DT_OK); st != DT_OK;
       st = dt_error_next(st)) {
    const DtErrorInfo *e = dt_error_info(st);
    assert_int_equal(dt_error_find(e->name), st);
    assert_int_equal(dt_error_find(e->id), st);
    assert_true(st > 0 && st <= DT_STATUS_MAX);
    assert_true(e->text[0] != '\0' && e->hint[0] != '\0');
    assert_true(strcmp(before, e->id) < 0);
    before = e->id;
    n++;
  }
  assert_true(n > 40);
  assert_int_equal(dt_error_next(9999), DT_OK);
}

static DtStatus deep (DtCtx *cx, int n) {
  if (n == 0)
    return dt_raise(cx, DT_E_SHAPE, "shape %d", 7);
  DT_TRY(cx, deep(cx, n - 1));
  return DT_OK;
}

static DtStatus silent (void) {
  return DT_E_IO;
}

static DtStatus wraps_silent (DtCtx *cx) {
  DT_TRY(cx, silent());
  return DT_OK;
}

static void test_raise (void **state) {
  DtCtx *cx = *state;
  assert_int_equal(deep(cx, 3), DT_E_SHAPE);
  assert_string_equal(dt_buf_str(&cx->err.message), "shape 7");
  assert_string_equal(cx->err.pyclass, "RuntimeError");
  assert_int_equal(cx->err.nframes, 3);
  assert_string_equal(cx->err.frames[0].func, "deep");
  assert_null(cx->err.cause);
  /* a second raise may quote the first, and keeps it */
  dt_raise_as(cx, DT_E_VALUE, "KeyError", "because: %s",
              dt_buf_str(&cx->err.message));
  assert_string_equal(dt_buf_str(&cx->err.message), "because: shape 7");
  assert_string_equal(cx->err.pyclass, "KeyError");
  assert_string_equal(cx->err.cause, "shape 7");
  assert_string_equal(cx->err.cause_pyclass, "RuntimeError");
  dt_raise(cx, DT_E_TYPE, "third");
  assert_string_equal(cx->err.cause, "shape 7");
  dt_error_clear(cx);
  assert_int_equal(cx->err.code, DT_OK);
  assert_null(cx->err.cause);
  assert_int_equal(deep(cx, DT_MAX_FRAMES + 5), DT_E_SHAPE);
  assert_int_equal(cx->err.nframes, DT_MAX_FRAMES);
  dt_error_clear(cx);
  assert_int_equal(wraps_silent(cx), DT_E_IO);
  assert_string_equal(dt_buf_str(&cx->err.message),
                      dt_error_info(DT_E_IO)->text);
}

static void test_raise_long (void **state) {
  DtCtx *cx = *state;
  char *s = malloc(3001);
  memset(s, 'x', 3000);
  s[3000] = '\0';
  dt_raise(cx, DT_E_VALUE, "%s", s);
  assert_int_equal(cx->err.message.len, 3000);
  /* without memory the text is cut, the code stays */
  cx->mem.fail_at = cx->mem.nalloc + 1;
  cx->mem.fail_on = true;
  dt_raise(cx, DT_E_VALUE, "%sy%s", s, s);
  cx->mem.fail_at = 0;
  assert_int_equal(cx->err.code, DT_E_VALUE);
  assert_true(cx->err.message.len >= 500);
  assert_null(cx->err.cause);
  free(s);
}

static void test_poll (void **state) {
  DtCtx *cx = *state;
  atomic_int flag = 0;
  assert_int_equal(dt_ctx_poll(cx), DT_OK);
  cx->interrupt = &flag;
  assert_int_equal(dt_ctx_poll(cx), DT_OK);
  atomic_store(&flag, 1);
  assert_int_equal(dt_ctx_poll(cx), DT_E_INTERRUPTED);
  assert_string_equal(cx->err.pyclass, "KeyboardInterrupt");
}

/* ---- memory ---------------------------------------------------------- */

static void test_mem_counts (void **state) {
  DtCtx *cx = *state;
  int64_t n0 = cx->mem.nalloc, b0 = cx->mem.bytes_live, l0 = cx->mem.nlive;
  char *p = dt_alloc(cx, 100), *z = dt_calloc(cx, 5, 8), *e;
  int i;
  assert_int_equal(cx->mem.nlive, l0 + 2);
  assert_int_equal(cx->mem.bytes_live, b0 + 140);
  for (i = 0; i < 40; i++)
    assert_int_equal(z[i], 0);
  memset(p, 3, 100);
  p = dt_realloc(cx, p, 1000);
  assert_int_equal(p[99], 3);
  assert_int_equal(cx->mem.bytes_live, b0 + 1040);
  p = dt_realloc(cx, p, 10);
  assert_int_equal(cx->mem.bytes_live, b0 + 50);
  assert_true(cx->mem.bytes_peak >= b0 + 1040);
  e = dt_alloc(cx, 0);
  assert_non_null(e);
  assert_int_equal(cx->mem.nalloc, n0 + 5);
  dt_free(cx, p); dt_free(cx, z); dt_free(cx, e); dt_free(cx, NULL);
  assert_int_equal(cx->mem.bytes_live, b0);
  assert_int_equal(cx->mem.nlive, l0);
}

/* Freed blocks are used again: zeroed where asked, counted, never too many. */
static void test_mem_pool (void **state) {
  enum { MANY = 5000 };
  DtCtx *cx = *state;
  static char *p[MANY];
  int64_t b0 = cx->mem.bytes_live, l0 = cx->mem.nlive;
  char *z;
  int i;
  for (i = 0; i < MANY; i++) {
    p[i] = dt_alloc(cx, (size_t)i % 2100);
    memset(p[i], 7, (size_t)i % 2100);
  }
  for (i = 0; i < MANY; i++) dt_free(cx, p[i]);
  assert_int_equal(cx->mem.bytes_live, b0);
  assert_int_equal(cx->mem.nlive, l0);
  assert_true(cx->mem.pooled <= (4 << 20) + 2048);
  z = dt_calloc(cx, 1, 300);
  for (i = 0; i < 300; i++) assert_int_equal(z[i], 0);
  z[299] = 5;
  for (i = 301; i < 5000; i += 97) {            /* across every border */
    z = dt_realloc(cx, z, (size_t)i);
    assert_int_equal(z[299], 5);
    z[i - 1] = 5;
  }
  z = dt_realloc(cx, z, 300);
  assert_int_equal(z[299], 5);
  dt_mem_trim(cx);
  assert_int_equal(cx->mem.pooled, 0);
  assert_int_equal(z[299], 5);
  dt_free(cx, z);
  assert_int_equal(cx->mem.bytes_live, b0);
}

static void test_mem_refuse (void **state) {
  DtCtx *cx = *state;
  char *p;
  assert_null(dt_alloc(cx, SIZE_MAX - 4));
  assert_int_equal(cx->err.code, DT_E_NOMEM);
  dt_error_clear(cx);
  assert_null(dt_calloc(cx, SIZE_MAX / 2, 4));
  assert_int_equal(cx->err.code, DT_E_NOMEM);
  dt_error_clear(cx);
  cx->mem.limit = cx->mem.bytes_live + 100;
  p = dt_alloc(cx, 100);
  assert_non_null(p);
  assert_null(dt_alloc(cx, 1));
  assert_null(dt_realloc(cx, p, 101));
  assert_string_equal(dt_buf_str(&cx->err.message),
                      "out of memory: tried to allocate 101 bytes");
  p = dt_realloc(cx, p, 50);
  assert_non_null(p);
  dt_free(cx, p);
  cx->mem.limit = 0;
}

static void test_mem_fail_nth (void **state) {
  DtCtx *cx = *state;
  void *p;
  cx->mem.fail_at = cx->mem.nalloc + 2;
  p = dt_alloc(cx, 1); assert_non_null(p); dt_free(cx, p);
  assert_null(dt_alloc(cx, 1));
  p = dt_alloc(cx, 1); assert_non_null(p); dt_free(cx, p);
  cx->mem.fail_at = cx->mem.nalloc + 1;
  cx->mem.fail_on = true;
  assert_null(dt_alloc(cx, 1));
  assert_null(dt_strdup(cx, "x"));
  cx->mem.fail_at = 0;
  p = dt_alloc(cx, 1); assert_non_null(p); dt_free(cx, p);
}

static void test_strdup (void **state) {
  DtCtx *cx = *state;
  char *a = dt_strdup(cx, "hello"), *b = dt_strndup(cx, "hello", 3);
  char *c = dt_strndup(cx, "hi", 9);
  assert_string_equal(a, "hello");
  assert_string_equal(b, "hel");
  assert_string_equal(c, "hi");
  dt_free(cx, a); dt_free(cx, b); dt_free(cx, c);
}

static void test_arena (void **state) {
  DtCtx *cx = *state;
  DtArena a = {0};
  DtArenaMark m0 = dt_arena_mark(&a), m1;
  char *p, *q, *r;
  int64_t n;
  int i;
  p = dt_arena_alloc(cx, &a, 10);
  memset(p, 1, 10);
  m1 = dt_arena_mark(&a);
  q = dt_arena_alloc(cx, &a, 5);
  assert_ptr_not_equal(p, q);
  assert_int_equal((uintptr_t)q % 16, 0);
  for (i = 0; i < 200; i++) {
    r = dt_arena_alloc(cx, &a, (size_t)i * 50);
    assert_true(i == 0 || (r[0] == 0 && r[i * 50 - 1] == 0));
    if (i > 0)
      memset(r, 7, (size_t)i * 50);
  }
  dt_arena_release(&a, m1);
  assert_int_equal(p[9], 1);
  assert_ptr_equal(dt_arena_alloc(cx, &a, 5), q);
  /* blocks are reused: the same again allocates nothing */
  n = cx->mem.nalloc;
  for (i = 0; i < 200; i++)
    assert_non_null(dt_arena_alloc(cx, &a, (size_t)i * 50));
  assert_int_equal(cx->mem.nalloc, n);
  dt_arena_release(&a, m0);
  assert_ptr_equal(dt_arena_alloc(cx, &a, 1), p);
  assert_string_equal(dt_arena_strdup(cx, &a, "abc"), "abc");
  assert_string_equal(dt_arena_printf(cx, &a, "%s-%d", "x", 12), "x-12");
  cx->mem.fail_at = cx->mem.nalloc + 1;
  assert_null(dt_arena_alloc(cx, &a, 100000000));
  assert_null(dt_arena_alloc(cx, &a, SIZE_MAX));
  cx->mem.fail_at = 0;
  dt_arena_fini(cx, &a);
  dt_arena_fini(cx, &a);
}

/* A lent first block is used first, kept by a release, and never freed. */
static void test_arena_lent (void **state) {
  enum { ROOM = 512 };
  DtCtx *cx = *state;
  char *room = dt_alloc(cx, ROOM), *p;
  DtArena a = {0};
  dt_arena_lend(&a, room, 8);           /* too few */
  assert_null(a.first);
  for (int turn = 0; turn < 2; turn++) {
    dt_arena_lend(&a, room, ROOM);
    p = dt_arena_alloc(cx, &a, 100);
    assert_true(p > room && p + 100 <= room + ROOM);
    dt_arena_lend(&a, room, ROOM);      /* not empty: nothing happens */
    memset(dt_arena_alloc(cx, &a, 10000), 1, 10000);
    dt_arena_release(&a, (DtArenaMark){ NULL, 0 });
    assert_ptr_equal(dt_arena_alloc(cx, &a, 100), p);
    dt_arena_fini(cx, &a);
    memset(room, 0, ROOM);
  }
  dt_mem_large(room, ROOM);             /* a wish, also where it is none */
  dt_mem_large(room, 0);
  dt_free(cx, room);
}

/* ---- buffers --------------------------------------------------------- */

static void test_buf (void **state) {
  DtCtx *cx = *state;
  DtBuf b;
  int64_t v[] = {1, -2, INT64_MIN};
  int i;
  dt_buf_init(&b, cx);
  assert_string_equal(dt_buf_str(&b), "");
  dt_buf_add(&b, "ab");
  dt_buf_addn(&b, "cdef", 2);
  dt_buf_addc(&b, 'e');
  dt_buf_addf(&b, "%d|", 42);
  dt_buf_add_i64s(&b, v, 2);
  dt_buf_add_i64s(&b, v, 0);
  dt_buf_add_tuple(&b, v, 0);
  dt_buf_add_tuple(&b, v, 1);
  dt_buf_add_tuple(&b, v, 3);
  assert_string_equal(dt_buf_str(&b), "abcde42|[1, -2][]()(1,)"
                      "(1, -2, -9223372036854775808)");
  dt_buf_clear(&b);
  for (i = 0; i < 10000; i++)
    dt_buf_addf(&b, "%d", i % 10);
  assert_int_equal(b.len, 10000);
  assert_int_equal(strlen(dt_buf_str(&b)), 10000);
  assert_int_equal(dt_buf_ok(&b), DT_OK);
  cx->mem.fail_at = cx->mem.nalloc + 1;
  while (!b.oom)
    dt_buf_add(&b, "more and more ");
  dt_buf_add(&b, "ignored");
  assert_int_equal(dt_buf_ok(&b), DT_E_NOMEM);
  assert_int_equal(cx->err.code, DT_E_NOMEM);
  cx->mem.fail_at = 0;
  dt_buf_clear(&b);
  assert_int_equal(dt_buf_ok(&b), DT_OK);
  dt_buf_fini(&b);
  dt_buf_fini(&b);
}

static void test_pyfloat (void **state) {
  static const struct { double x; const char *s; } t[] = {
    {0.0, "0.0"}, {-0.0, "-0.0"}, {1.0, "1.0"}, {-2.0, "-2.0"},
    {0.1, "0.1"}, {1.0 / 3, "0.3333333333333333"}, {1e-5, "1e-05"},
    {0.0001, "0.0001"}, {0.00012345, "0.00012345"}, {1e15, "1000000000000000.0"},
    {1e16, "1e+16"}, {9999999999999998.0, "9999999999999998.0"},
    {1.5e300, "1.5e+300"}, {123456.789, "123456.789"}, {5e-324, "5e-324"},
    {1.7976931348623157e308, "1.7976931348623157e+308"},
    {2.2250738585072014e-308, "2.2250738585072014e-308"},
    {0.30000000000000004, "0.30000000000000004"}, {100.0, "100.0"},
    {5.684341886080802e-14, "5.684341886080802e-14"}, {12.5, "12.5"},
    {HUGE_VAL, "inf"}, {-HUGE_VAL, "-inf"}, {1e-7, "1e-07"},
  };
  DtCtx *cx = *state;
  DtBuf b;
  size_t i;
  dt_buf_init(&b, cx);
  for (i = 0; i < sizeof t / sizeof t[0]; i++) {
    dt_buf_clear(&b);
    dt_buf_add_pyfloat(&b, t[i].x);
    assert_string_equal(dt_buf_str(&b), t[i].s);
  }
  dt_buf_clear(&b);
  dt_buf_add_pyfloat(&b, (double)NAN);
  assert_string_equal(dt_buf_str(&b), "nan");
  for (i = 0; i < 2000; i++) {      /* every text reads back exactly */
    DtRng r = {.seed = 3, .offset = 0};
    uint64_t u = dt_rng_u64(&r, i);
    double x;
    memcpy(&x, &u, sizeof x);
    if (!isfinite(x))
      continue;
    dt_buf_clear(&b);
    dt_buf_add_pyfloat(&b, x);
    assert_true(strtod(dt_buf_str(&b), NULL) == x);
  }
  dt_buf_fini(&b);
}

/* ---- maps and hashes ------------------------------------------------- */

static bool int_eq (const void *a, const void *b) {
  return *(const int *)a == *(const int *)b;
}

/* Against a plain array, with all keys colliding in a few places. */
static void test_map_random (void **state) {
  enum { N = 300 };
  DtCtx *cx = *state;
  static int keys[N];
  void *want[N] = {0};
  DtMap m;
  DtRng rng = {.seed = 1, .offset = 0};
  int i, live = 0;
  for (i = 0; i < N; i++)
    keys[i] = i;
  dt_map_init(&m, cx, int_eq);
  assert_null(dt_map_get(&m, 0, &keys[0]));
  assert_null(dt_map_del(&m, 0, &keys[0]));
  for (i = 0; i < 20000; i++) {
    uint64_t r = dt_rng_u64(&rng, (uint64_t)i);
    int k = (int)(r % N);
    uint64_t h = (uint64_t)(k % 17);
    if (r >> 63) {
      assert_int_equal(dt_map_put(&m, h, &keys[k], &keys[i % N]), DT_OK);
      live += want[k] == NULL;
      want[k] = &keys[i % N];
    } else {
      assert_ptr_equal(dt_map_del(&m, h, &keys[k]), want[k]);
      live -= want[k] != NULL;
      want[k] = NULL;
    }
    assert_int_equal(dt_map_count(&m), live);
    k = (int)((r >> 20) % N);
    assert_ptr_equal(dt_map_get(&m, (uint64_t)(k % 17), &keys[k]), want[k]);
  }
  dt_map_clear(&m);
  assert_int_equal(dt_map_count(&m), 0);
  assert_null(dt_map_get(&m, 0, &keys[0]));
  dt_map_fini(&m);
}

static void test_map_str (void **state) {
  static const char *const names[] = {"zeta", "alpha", "mid", "beta"};
  DtCtx *cx = *state;
  DtMap m;
  DtMapEntry *e;
  char copy[] = "mid", out[64] = "";
  int32_t it = 0;
  int i;
  dt_map_init(&m, cx, NULL);
  dt_map_clear(&m);
  for (i = 0; i < 4; i++)
    assert_int_equal(dt_map_put_str(&m, names[i], (void *)(intptr_t)(i + 1)),
                     DT_OK);
  assert_int_equal((intptr_t)dt_map_get_str(&m, copy), 3);
  assert_null(dt_map_get_str(&m, "none"));
  assert_int_equal((intptr_t)dt_map_del_str(&m, "alpha"), 2);
  while ((e = dt_map_next(&m, &it)) != NULL) {
    strcat(out, e->key);
    strcat(out, " ");
  }
  assert_string_equal(out, "zeta mid beta ");
  dt_map_fini(&m);
}

static void test_map_nomem (void **state) {
  DtCtx *cx = *state;
  DtMap m;
  int n;
  for (n = 1; n <= 2; n++) {
    dt_map_init(&m, cx, NULL);
    cx->mem.fail_at = cx->mem.nalloc + n;
    assert_int_equal(dt_map_put_str(&m, "a", &m), DT_E_NOMEM);
    cx->mem.fail_at = 0;
    assert_int_equal(dt_map_count(&m), 0);
    assert_int_equal(dt_map_put_str(&m, "a", &m), DT_OK);
    assert_ptr_equal(dt_map_get_str(&m, "a"), &m);
    dt_map_fini(&m);
  }
}

static void test_hash (void **state) {
  char s[40];
  uint64_t seen[33];
  int i, j;
  (void)state;
  memset(s, 0, sizeof s);
  for (i = 0; i <= 32; i++) {       /* zeros of every length differ */
    seen[i] = dt_hash_bytes(DT_HASH_SEED, s, (size_t)i);
    for (j = 0; j < i; j++)
      assert_true(seen[i] != seen[j]);
  }
  assert_true(dt_hash_str(1, "ab") != dt_hash_str(1, "ba"));
  assert_true(dt_hash_str(1, "ab") != dt_hash_str(2, "ab"));
  /* the value is part of what ranks agree on: it must never change */
  assert_true(dt_hash_str(DT_HASH_SEED, "aten.mm.default") ==
              UINT64_C(0xf084dd97c26e2b69));
}

/* ---- random ---------------------------------------------------------- */

/* The known-answer vectors published with the algorithm. */
static void test_philox (void **state) {
  uint32_t w[4];
  (void)state;
  dt_philox(0, 0, 0, w);
  assert_int_equal(w[0], 0x6627e8d5u);
  assert_int_equal(w[1], 0xe169c58du);
  assert_int_equal(w[2], 0xbc57ac4cu);
  assert_int_equal(w[3], 0x9b00dbd8u);
  dt_philox(UINT64_MAX, UINT64_MAX, UINT64_MAX, w);
  assert_int_equal(w[0], 0x408f276du);
  assert_int_equal(w[1], 0x41c83b0eu);
  assert_int_equal(w[2], 0xa20bc7c6u);
  assert_int_equal(w[3], 0x6d5451fdu);
  dt_philox(UINT64_C(0x299f31d0a4093822), UINT64_C(0x85a308d3243f6a88),
            UINT64_C(0x0370734413198a2e), w);
  assert_int_equal(w[0], 0xd16cfe09u);
  assert_int_equal(w[1], 0x94fdccebu);
  assert_int_equal(w[2], 0x5001e420u);
  assert_int_equal(w[3], 0x24126ea1u);
}

/* Moments of 20000 values; bounds are five standard errors. */
static void test_rng (void **state) {
  enum { N = 20000 };
  DtRng r = {.seed = 42, .offset = 1000}, shifted = {.seed = 42, .offset = 1007};
  double u = 0, u2 = 0, g = 0, g2 = 0, f = 0;
  uint64_t i;
  (void)state;
  for (i = 0; i < N; i++) {
    double x = dt_rng_uniform_f64(&r, i), y = dt_rng_normal(&r, i);
    float z = dt_rng_uniform_f32(&r, i);
    assert_true(x >= 0 && x < 1 && z >= 0 && z < 1 && isfinite(y));
    u += x; u2 += x * x; g += y; g2 += y * y; f += (double)z;
  }
  assert_true(fabs(u / N - 0.5) < 5 * sqrt(1.0 / 12 / N));
  assert_true(fabs(f / N - 0.5) < 5 * sqrt(1.0 / 12 / N));
  assert_true(fabs(u2 / N - 1.0 / 3) < 5 * sqrt(4.0 / 45 / N));
  assert_true(fabs(g / N) < 5 * sqrt(1.0 / N));
  assert_true(fabs(g2 / N - 1) < 5 * sqrt(2.0 / N));
  /* only offset + i counts: any rank can compute any part */
  assert_true(dt_rng_u64(&r, 7) == dt_rng_u64(&shifted, 0));
  assert_true(dt_rng_u64(&r, 7) != dt_rng_u64(&r, 8));
}

int main (void) {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
    T(test_error_table), T(test_raise), T(test_raise_long), T(test_poll),
    T(test_mem_counts), T(test_mem_pool), T(test_mem_refuse),
    T(test_mem_fail_nth),
    T(test_strdup), T(test_arena), T(test_arena_lent),
    T(test_buf), T(test_pyfloat),
    T(test_map_random), T(test_map_str), T(test_map_nomem), T(test_hash),
    T(test_philox), T(test_rng),
  };
  return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
