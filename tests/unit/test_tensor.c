/* SPDX-License-Identifier: MIT
** TEST: tags=one_thread
** test_tensor.c: element types, promotion, shapes, storage, iteration,
** printing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "fixture.h"
#include "print_cases.h"
#include "tensor/iter.h"
#include "tensor/redop.h"
#include "tensor/tensor.h"

#define OK(call) assert_int_equal((call), DT_OK)

static const char *message (DtCtx *cx) { return dt_buf_str(&cx->err.message); }

/* ---- element types ---------------------------------------------------------- */

static void test_dtype_names (void **state) {
  (void)state;
  for (int t = 0; t < DT_NDTYPES; t++) {
    const DtDtypeInfo *i = dt_dtype_info((DtDtype)t);
    assert_int_equal(dt_dtype_find(i->name), t);
    assert_int_equal(dt_dtype_find(i->torch), t);
    assert_int_equal(dt_dtype_find(i->torch + 6), t);
    assert_int_equal(dt_dtype_find(i->tag), t);
  }
  assert_int_equal(dt_dtype_find("float"), DT_F32);
  assert_int_equal(dt_dtype_find("long"), DT_I64);
  assert_int_equal(dt_dtype_find("f33"), DT_DTYPE_NONE);
  assert_int_equal(dt_dtype_find(NULL), DT_DTYPE_NONE);
  assert_int_equal(dt_dtype_acc(DT_BF16), DT_F32);
  assert_int_equal(dt_dtype_acc(DT_I32), DT_I32);
  assert_int_equal(dt_dtype_to_real(DT_C128), DT_F64);
  assert_int_equal(dt_dtype_to_complex(DT_BF16), DT_C64);
}

static void test_devices (void **state) {
  (void)state;
  for (int d = 0; d < DT_NDEVICES; d++)
    assert_int_equal(dt_device_find(dt_device_name((DtDevice)d)), d);
  assert_int_equal(dt_device_find("cuda:1"), DT_DEV_CUDA);
  assert_int_equal(dt_device_find("cuda:"), DT_NDEVICES);
  assert_int_equal(dt_device_find("cuda:x"), DT_NDEVICES);
  assert_int_equal(dt_device_find("gpu"), DT_NDEVICES);
}

static void test_redop_names (void **state) {
  (void)state;
  for (int i = 0; i < DT_NREDOPS; i++)
    assert_int_equal(dt_redop_find(dt_redop_name((DtRedOp)i)), i);
  assert_int_equal(dt_redop_find("mean"), DT_NREDOPS);
  assert_string_equal(dt_redop_name(DT_NREDOPS), "?");
}

/* Widening and narrowing again gives every bit pattern back (NaN: a NaN). */
static void test_narrow_round_trip (void **state) {
  (void)state;
  for (uint32_t u = 0; u < 65536; u++) {
    float h = dt_f16_to_f32((uint16_t)u), b = dt_bf16_to_f32((uint16_t)u);
    if (h != h) assert_true((dt_f32_to_f16(h) & 0x7fff) > 0x7c00);
    else assert_int_equal(dt_f32_to_f16(h), u);
    if (b != b) assert_true((dt_f32_to_bf16(b) & 0x7fff) > 0x7f80);
    else assert_int_equal(dt_f32_to_bf16(b), u);
  }
  for (uint32_t u = 0; u < 256; u++) {
    float x = dt_f8e4m3_to_f32((uint8_t)u), y = dt_f8e5m2_to_f32((uint8_t)u);
    if (x == x) assert_int_equal(dt_f32_to_f8e4m3(x), u);
    if (y == y) assert_int_equal(dt_f32_to_f8e5m2(y), u);
  }
}

/* What PyTorch 2.13 gives at the edges. */
static void test_narrow_edges (void **state) {
  static const struct { float v; int code; } e4m3[] = {
    {448, 126}, {449, 126}, {464.1f, 126}, {480, 126}, {1e9f, 126},
    {INFINITY, 126}, {-INFINITY, 254}, {NAN, 127}, {1e-9f, 0},
    {0x1p-9f, 1}, {0x1p-10f, 0}, {0x1.8p-10f, 1}, {-1e-9f, 128},
  }, e5m2[] = {
    {57344, 123}, {61439, 123}, {61440, 124}, {1e9f, 124}, {INFINITY, 124},
    {-INFINITY, 252}, {NAN, 127}, {0x1p-16f, 1}, {0x1p-17f, 0},
    {0x1.8p-17f, 1},
  }, f16[] = {
    {65519, 0x7bff}, {65520, 0x7c00}, {0x1p-24f, 1}, {0x1p-25f, 0},
    {0x1.8p-25f, 1}, {-0.0f, 0x8000}, {1, 0x3c00},
  };
  (void)state;
  for (size_t i = 0; i < sizeof e4m3 / sizeof e4m3[0]; i++)
    assert_int_equal(dt_f32_to_f8e4m3(e4m3[i].v), e4m3[i].code);
  for (size_t i = 0; i < sizeof e5m2 / sizeof e5m2[0]; i++)
    assert_int_equal(dt_f32_to_f8e5m2(e5m2[i].v), e5m2[i].code);
  for (size_t i = 0; i < sizeof f16 / sizeof f16[0]; i++)
    assert_int_equal(dt_f32_to_f16(f16[i].v), f16[i].code);
}

static void test_load_store (void **state) {
  unsigned char m[16];
  (void)state;
  for (int t = 0; t < DT_NDTYPES; t++) {
    dt_dtype_store((DtDtype)t, m, dt_scalar_int(1));
    DtScalar s = dt_dtype_load((DtDtype)t, m);
    assert_int_equal(s.i, 1);
    assert_true(s.re == 1);
    assert_int_equal(s.kind, dt_dtype_info((DtDtype)t)->kind);
  }
  dt_dtype_store(DT_U8, m, dt_scalar_int(300));
  assert_int_equal(dt_dtype_load(DT_U8, m).i, 44);
  dt_dtype_store(DT_I64, m, dt_scalar_float(1e39));
  assert_true(dt_dtype_load(DT_I64, m).i == INT64_MIN);
  dt_dtype_store(DT_I32, m, dt_scalar_float(5e9));
  assert_true(dt_dtype_load(DT_I32, m).i == INT32_MIN);
  dt_dtype_store(DT_C64, m, dt_scalar_complex(1, -2));
  assert_true(dt_dtype_load(DT_C64, m).im == -2);
  dt_dtype_store(DT_BOOL, m, dt_scalar_float(NAN));
  assert_int_equal(dt_dtype_load(DT_BOOL, m).i, 1);
}

/* ---- promotion (PyTorch's tables: tests/parity/suites.lua) ---------------- */

static void test_promote_many (void **state) {
  DtPromote p;
  (void)state;
  dt_promote_init(&p, false);          /* i32[3] + i64[] + 2.5 */
  dt_promote_tensor(&p, DT_I32, 1);
  dt_promote_tensor(&p, DT_I64, 0);
  assert_int_equal(dt_promote_result(&p), DT_I32);
  dt_promote_number(&p, DT_F64);
  assert_int_equal(dt_promote_result(&p), DT_F32);
  dt_promote_tensor(&p, DT_F64, 0);
  assert_int_equal(dt_promote_result(&p), DT_F64);
  dt_promote_init(&p, false);
  assert_int_equal(dt_promote_result(&p), DT_DTYPE_NONE);
  for (int b = 0; b < 2; b++) {         /* bf16[2] + 1j, before and after */
    dt_promote_init(&p, b == 1);
    dt_promote_tensor(&p, DT_BF16, 1);
    dt_promote_number(&p, DT_C128);
    assert_int_equal(dt_promote_result(&p), b ? DT_BC32 : DT_C64);
    dt_promote_tensor(&p, DT_C64, 1);
    assert_int_equal(dt_promote_result(&p), DT_C64);
  }
  assert_int_equal(dt_dtype_promote(DT_BC32, DT_I64), DT_BC32);
  assert_int_equal(dt_dtype_promote(DT_BC32, DT_F16), DT_C64);
  assert_int_equal(dt_dtype_promote(DT_U8, DT_I8), DT_I16);
  assert_int_equal(dt_dtype_promote(DT_F16, DT_BF16), DT_F32);
  assert_int_equal(dt_dtype_promote(DT_F64, DT_C64), DT_C128);
}

/* ---- shapes -------------------------------------------------------------------- */

static DtMeta meta2 (DtCtx *cx, DtDtype t, int64_t a, int64_t b) {
  DtMeta m;
  OK(dt_meta_init(cx, &m, t, 2, (int64_t[]){a, b}));
  return m;
}

static void test_meta_init (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtMeta m, n;
  DtBuf b;
  OK(dt_meta_init(cx, &m, DT_F32, 3, (int64_t[]){2, 3, 4}));
  assert_int_equal(m.stride[0], 12);
  assert_int_equal(dt_meta_numel(&m), 24);
  assert_int_equal(dt_meta_nbytes(&m), 96);
  assert_true(dt_meta_is_contiguous(&m));
  assert_true(dt_meta_is_dense(&m));
  dt_buf_init(&b, cx);
  dt_meta_print(&m, &b);
  assert_string_equal(dt_buf_str(&b), "f32[2, 3, 4]");
  dt_buf_fini(&b);
  assert_int_equal(dt_meta_init(cx, &n, DT_F32, 2, (int64_t[]){2, -1}),
                   DT_E_RUNTIME);
  assert_string_equal(message(cx),
    "Trying to create tensor with negative dimension -1: [2, -1]");
  dt_error_clear(cx);
  int64_t big = INT64_C(1) << 40;
  assert_int_equal(dt_meta_init(cx, &n, DT_F32, 2, (int64_t[]){big, big}),
                   DT_E_OVERFLOW);
  dt_error_clear(cx);
  OK(dt_meta_init(cx, &n, DT_F32, 3, (int64_t[]){big, 0, big}));
  assert_int_equal(dt_meta_init(cx, &n, DT_F32, 17, (int64_t[17]){0}),
                   DT_E_LIMIT);
}

static void test_meta_layouts (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtMeta a = meta2(cx, DT_F32, 3, 4), b = meta2(cx, DT_F32, 3, 4), c;
  assert_true(dt_meta_equal(&a, &b));
  assert_true(dt_meta_hash(1, &a) == dt_meta_hash(1, &b));
  b.stride[0] = 1;
  b.stride[1] = 3;
  assert_false(dt_meta_equal(&a, &b));
  assert_true(dt_meta_same_shape(&a, &b));
  assert_false(dt_meta_is_contiguous(&b));
  assert_true(dt_meta_is_dense(&b));
  dt_meta_strides_like(&a, &b);
  assert_int_equal(a.stride[0], 1);
  assert_int_equal(a.stride[1], 3);
  b.stride[1] = 6;              /* holes */
  assert_false(dt_meta_is_dense(&b));
  b.stride[0] = 0;              /* one row, repeated */
  assert_false(dt_meta_is_dense(&b));
  c = meta2(cx, DT_F32, 1, 4);
  c.stride[0] = 77;             /* the stride of one row is irrelevant */
  assert_true(dt_meta_is_contiguous(&c));
  assert_true(dt_meta_is_dense(&c));
}

static void test_broadcast (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtMeta a, b, o;
  OK(dt_meta_init(cx, &a, DT_F32, 3, (int64_t[]){5, 1, 4}));
  OK(dt_meta_init(cx, &b, DT_F32, 2, (int64_t[]){3, 1}));
  OK(dt_meta_broadcast(cx, &a, &b, &o));
  assert_int_equal(o.ndim, 3);
  assert_int_equal(o.shape[0], 5);
  assert_int_equal(o.shape[1], 3);
  assert_int_equal(o.shape[2], 4);
  b.shape[1] = 3;
  assert_int_equal(dt_meta_broadcast(cx, &a, &b, &o), DT_E_SHAPE);
  assert_string_equal(message(cx), "The size of tensor a (4) must match the "
                      "size of tensor b (3) at non-singleton dimension 2");
  dt_error_clear(cx);
  b.shape[1] = 0;
  a.shape[2] = 1;
  OK(dt_meta_broadcast(cx, &a, &b, &o));
  assert_int_equal(o.shape[2], 0);
}

static void test_wrap_dim (void **state) {
  DtCtx *cx = fixture_cx(state);
  int d = 9;
  OK(dt_meta_wrap_dim(cx, -1, 3, &d));
  assert_int_equal(d, 2);
  OK(dt_meta_wrap_dim(cx, -1, 0, &d));
  assert_int_equal(d, 0);
  assert_int_equal(dt_meta_wrap_dim(cx, 2, 2, &d), DT_E_INDEX);
  assert_string_equal(message(cx), "Dimension out of range (expected to be in "
                      "range of [-2, 1], but got 2)");
}

/* ---- storage --------------------------------------------------------------------- */

static void test_copy_on_write (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtMeta m = meta2(cx, DT_F32, 2, 2), vm;
  DtTensor *t, *v;
  DtBlock *b;
  void *p, *q;
  OK(dt_tensor_new(cx, &m, false, &t));
  OK(dt_tensor_data(cx, t, &p));
  assert_int_equal((uintptr_t)p % 64, 0);       /* vectors lie in one line */
  memcpy(p, (float[]){1, 2, 3, 4}, 16);
  OK(dt_meta_init(cx, &vm, DT_F32, 1, (int64_t[]){2}));
  OK(dt_tensor_view(cx, t, &vm, 2, &v));
  OK(dt_block_snapshot(cx, t->storage, &b));
  assert_ptr_equal(dt_tensor_cdata(t), p);      /* reading shares */
  OK(dt_tensor_data(cx, v, &q));                /* writing does not */
  assert_ptr_not_equal(dt_tensor_cdata(t), p);
  *(float *)q = 30;
  assert_true(dt_tensor_get(t, (int64_t[]){1, 0}).re == 30);
  assert_true(((float *)b->data)[2] == 3);
  dt_block_restore(cx, t->storage, b);
  assert_true(dt_tensor_get(v, (int64_t[]){0}).re == 3);
  dt_block_unref(cx, b);
  dt_tensor_unref(cx, t);
  assert_true(dt_tensor_get(v, (int64_t[]){1}).re == 4);
  dt_tensor_unref(cx, v);
  dt_tensor_unref(cx, NULL);
}

static void test_no_data (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtMeta m = meta2(cx, DT_F32, 2, 3);
  DtTensor *t;
  DtScalar s;
  void *p;
  OK(dt_tensor_new(cx, &m, true, &t));
  assert_false(dt_tensor_has_data(t));
  assert_null(dt_tensor_cdata(t));
  assert_int_equal(dt_tensor_data(cx, t, &p), DT_E_META_NO_DATA);
  dt_error_clear(cx);
  assert_int_equal(dt_tensor_item(cx, t, &s), DT_E_RUNTIME);
  assert_string_equal(message(cx),
                      "a Tensor with 6 elements cannot be converted to Scalar");
  dt_tensor_unref(cx, t);
}

static void test_fits (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtMeta m = meta2(cx, DT_F32, 2, 3), v = meta2(cx, DT_F32, 3, 2);
  DtTensor *t;
  OK(dt_tensor_new(cx, &m, false, &t));
  assert_true(dt_tensor_fits(t, &v, 0));
  assert_false(dt_tensor_fits(t, &v, 1));
  v.stride[0] = INT64_MAX;
  assert_false(dt_tensor_fits(t, &v, 0));
  v.shape[0] = 0;
  assert_true(dt_tensor_fits(t, &v, 0));
  assert_false(dt_tensor_fits(t, &v, -1));
  dt_tensor_unref(cx, t);
}

static void test_identical (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtMeta m = meta2(cx, DT_F32, 2, 2), mt = m;
  DtTensor *a, *b;
  void *p, *q;
  mt.stride[0] = 1;
  mt.stride[1] = 2;
  OK(dt_tensor_new(cx, &m, false, &a));
  OK(dt_tensor_new(cx, &mt, false, &b));
  OK(dt_tensor_data(cx, a, &p));
  OK(dt_tensor_data(cx, b, &q));
  memcpy(p, (float[]){1, NAN, 3, 0}, 16);
  memcpy(q, (float[]){1, 3, -NAN, 0}, 16);
  assert_true(dt_tensor_identical(a, b));
  ((float *)q)[3] = -0.0f;
  assert_false(dt_tensor_identical(a, b));
  dt_tensor_unref(cx, a);
  dt_tensor_unref(cx, b);
}

/* Every allocation of making tensors may fail without a leak. */
static void test_nomem (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtMeta m = meta2(cx, DT_F32, 2, 2);
  for (int64_t k = 1; k < 10; k++) {
    DtTensor *t = NULL;
    cx->mem.fail_at = cx->mem.nalloc + k;
    cx->mem.fail_on = true;
    DtStatus st = dt_tensor_new(cx, &m, false, &t);
    cx->mem.fail_at = 0;
    dt_error_clear(cx);
    if (st == DT_OK) dt_tensor_unref(cx, t);
    else assert_null(t);
  }
}

/* ---- iteration --------------------------------------------------------------------- */

/* Sum over positions of (value of a) * (value of b) for a (4, 6) walk. */
static double walk (const DtMeta *ma, double *a, const DtMeta *mb, double *b,
                    int64_t *inner) {
  const DtMeta *metas[2] = {ma, mb};
  void *data[2] = {a, b};
  double s = 0;
  DtIter it;
  dt_iter_init(&it, 2, metas, data);
  *inner = it.n;
  for (; !it.done; dt_iter_next(&it))
    for (int64_t i = 0; i < it.n; i++)
      s += *(double *)(it.ptr[0] + i * it.inner[0]) *
           *(double *)(it.ptr[1] + i * it.inner[1]);
  return s;
}

static void test_iter (void **state) {
  DtCtx *cx = fixture_cx(state);
  double a[24], b[24];
  DtMeta m = meta2(cx, DT_F64, 4, 6), t = m, r, c = meta2(cx, DT_F64, 4, 1);
  int64_t inner;
  double same = 0, trans = 0, row = 0, col = 0;
  OK(dt_meta_init(cx, &r, DT_F64, 1, (int64_t[]){6}));
  t.stride[0] = 1;
  t.stride[1] = 4;
  for (int i = 0; i < 24; i++) {
    a[i] = i + 1;
    b[i] = i * i % 7;
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 6; j++) {
      same += a[i * 6 + j] * b[i * 6 + j];
      trans += a[i * 6 + j] * b[j * 4 + i];
      row += a[i * 6 + j] * b[j];
      col += a[i * 6 + j] * b[i];
    }
  assert_true(walk(&m, a, &m, b, &inner) == same);
  assert_int_equal(inner, 24);                  /* one run */
  assert_true(walk(&m, a, &t, b, &inner) == trans);
  assert_int_equal(inner, 6);
  assert_true(walk(&t, a, &t, b, &inner) == same);
  assert_int_equal(inner, 24);                  /* reordered to memory */
  assert_true(walk(&m, a, &r, b, &inner) == row);
  assert_true(walk(&m, a, &c, b, &inner) == col);
  m.shape[0] = 0;
  assert_true(walk(&m, a, &r, b, &inner) == 0);
  m.ndim = r.ndim = 0;
  assert_true(walk(&m, a, &r, b, &inner) == a[0] * b[0]);
}

/* ---- printing ------------------------------------------------------------------------ */

static void check_print (DtCtx *cx, DtTensor *t, const char *want) {
  DtPrintOpts o;
  DtBuf b;
  dt_print_defaults(&o);
  dt_buf_init(&b, cx);
  dt_tensor_print(t, &o, 7, &b);
  assert_string_equal(dt_buf_str(&b), want);
  dt_buf_fini(&b);
  dt_tensor_unref(cx, t);
}

static DtTensor *tensor_for (DtCtx *cx, DtDtype t, int ndim,
                             const int64_t *shape, void **p) {
  DtMeta m;
  DtTensor *r;
  OK(dt_meta_init(cx, &m, t, ndim, shape));
  OK(dt_tensor_new(cx, &m, false, &r));
  OK(dt_tensor_data(cx, r, p));
  return r;
}

static void test_print_values (void **state) {
  DtCtx *cx = fixture_cx(state);
  for (size_t k = 0; k < sizeof print_cases / sizeof print_cases[0]; k++) {
    const PrintCase *c = &print_cases[k];
    void *p;
    DtTensor *t = tensor_for(cx, c->t, c->ndim, c->shape, &p);
    bool z = dt_dtype_is_complex(c->t);
    for (int64_t i = 0; i < dt_meta_numel(&t->m); i++)
      dt_dtype_store(c->t, (char *)p + (size_t)i * dt_dtype_size(c->t),
                     z ? dt_scalar_complex(c->v[2 * i], c->v[2 * i + 1])
                       : dt_scalar_float(c->v[i]));
    check_print(cx, t, c->text);
  }
}

static void test_print_ranges (void **state) {
  DtCtx *cx = fixture_cx(state);
  for (size_t k = 0; k < sizeof print_ranges / sizeof print_ranges[0]; k++) {
    const PrintRange *c = &print_ranges[k];
    void *p;
    DtTensor *t = tensor_for(cx, c->t, c->ndim, c->shape, &p);
    for (int64_t i = 0; i < dt_meta_numel(&t->m); i++)
      dt_dtype_store(c->t, (char *)p + (size_t)i * dt_dtype_size(c->t),
                     dt_scalar_float((double)i * c->scale));
    check_print(cx, t, c->text);
  }
}

int main (void) {
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
  const struct CMUnitTest tests[] = {
    T(test_dtype_names), T(test_devices), T(test_redop_names),
    T(test_narrow_round_trip), T(test_narrow_edges), T(test_load_store),
    T(test_promote_many), T(test_meta_init),
    T(test_meta_layouts), T(test_broadcast), T(test_wrap_dim),
    T(test_copy_on_write), T(test_no_data), T(test_fits), T(test_identical),
    T(test_nomem), T(test_iter), T(test_print_values), T(test_print_ranges),
  };
#undef T
  return cmocka_run_group_tests(tests, NULL, NULL);
}
