/* SPDX-License-Identifier: MIT
** kernel/convert_int.h: runs of elements from any dtype to a compute class and
** back, for loops_int.h.  No include guard.
**
** Each conversion is one loop over elements, written once as a macro and made
** for every pair of dtype and class; with a unit stride it vectorises. */

/* ---- loading ------------------------------------------------------------- */

#define LOAD(ctype, expr) do { \
  if (stride == (int64_t)sizeof(ctype)) { \
    const ctype *s_ = (const ctype *)src; \
    DT_IVDEP \
    for (int64_t i = 0; i < n; i++) { const ctype v = s_[i]; dst[i] = expr; } \
  } else { \
    const char *s_ = src; \
    for (int64_t i = 0; i < n; i++, s_ += stride) { \
      const ctype v = *(const ctype *)s_; dst[i] = expr; } \
  } } while (0)

/* c32, bc32: two halves, the real part first. */
typedef struct C32 { uint16_t re, im; } C32;
static inline float complex from_c32 (C32 v) {
  return dt_nw_from_f16(v.re) + dt_nw_from_f16(v.im) * I;
}
static inline C32 to_c32 (DtC128 v) {
  return (C32){dt_nw_to_f16((float)creal(v)), dt_nw_to_f16((float)cimag(v))};
}
static inline float complex from_bc32 (C32 v) {
  return dt_nw_from_bf16(v.re) + dt_nw_from_bf16(v.im) * I;
}
static inline C32 to_bc32 (DtC128 v) {
  return (C32){dt_nw_to_bf16((float)creal(v)), dt_nw_to_bf16((float)cimag(v))};
}

/* The conversions are the same for the classes f32, f64 and c128 up to the
** final cast. */
#define LOAD_FLOATS(T) \
  switch (t) { \
    case DT_U8: LOAD(uint8_t, (T)v); break; \
    case DT_I8: LOAD(int8_t, (T)v); break; \
    case DT_I16: LOAD(int16_t, (T)v); break; \
    case DT_I32: LOAD(int32_t, (T)v); break; \
    case DT_I64: LOAD(int64_t, (T)v); break; \
    case DT_F16: LOAD(uint16_t, (T)dt_nw_from_f16(v)); break; \
    case DT_BF16: LOAD(uint16_t, (T)dt_nw_from_bf16(v)); break; \
    case DT_F32: LOAD(float, (T)v); break; \
    case DT_F64: LOAD(double, (T)v); break; \
    case DT_C64: LOAD(float complex, (T)v); break; \
    case DT_C128: LOAD(DtC128, (T)v); break; \
    case DT_BOOL: LOAD(uint8_t, (T)(v != 0)); break; \
    case DT_F8E5M2: LOAD(uint8_t, (T)dt_nw_from_f8e5m2(v)); break; \
    case DT_F8E4M3: LOAD(uint8_t, (T)dt_nw_from_f8e4m3(v)); break; \
    case DT_C32: LOAD(C32, (T)from_c32(v)); break; \
    case DT_BC32: LOAD(C32, (T)from_bc32(v)); break; \
    case DT_NDTYPES: break; \
  }

static void load_f32 (float *dst, DtDtype t, const void *src, int64_t stride,
                      int64_t n) {
  LOAD_FLOATS(float)
}

static void load_f64 (double *dst, DtDtype t, const void *src, int64_t stride,
                      int64_t n) {
  LOAD_FLOATS(double)
}

static void load_c128 (DtC128 *dst, DtDtype t, const void *src,
                       int64_t stride, int64_t n) {
  LOAD_FLOATS(DtC128)
}

static void load_i64 (int64_t *dst, DtDtype t, const void *src,
                      int64_t stride, int64_t n) {
  switch (t) {
    case DT_U8: LOAD(uint8_t, v); break;
    case DT_I8: LOAD(int8_t, v); break;
    case DT_I16: LOAD(int16_t, v); break;
    case DT_I32: LOAD(int32_t, v); break;
    case DT_I64: LOAD(int64_t, v); break;
    case DT_F16: LOAD(uint16_t, dt_nw_to_i64(dt_nw_from_f16(v))); break;
    case DT_BF16: LOAD(uint16_t, dt_nw_to_i64(dt_nw_from_bf16(v))); break;
    case DT_F32: LOAD(float, dt_nw_to_i64(v)); break;
    case DT_F64: LOAD(double, dt_nw_to_i64(v)); break;
    case DT_C64: LOAD(float complex, dt_nw_to_i64(crealf(v))); break;
    case DT_C128: LOAD(DtC128, dt_nw_to_i64(creal(v))); break;
    case DT_BOOL: LOAD(uint8_t, v != 0); break;
    case DT_F8E5M2: LOAD(uint8_t, dt_nw_to_i64(dt_nw_from_f8e5m2(v))); break;
    case DT_F8E4M3: LOAD(uint8_t, dt_nw_to_i64(dt_nw_from_f8e4m3(v))); break;
    case DT_C32: LOAD(C32, dt_nw_to_i64(crealf(from_c32(v)))); break;
    case DT_BC32: LOAD(C32, dt_nw_to_i64(crealf(from_bc32(v)))); break;
    case DT_NDTYPES: break;
  }
}

static void run_load (DtClass c, void *dst, DtDtype t, const void *src,
                      int64_t stride, int64_t n) {
  switch (c) {
    case DT_CL_F32: load_f32(dst, t, src, stride, n); break;
    case DT_CL_F64: load_f64(dst, t, src, stride, n); break;
    case DT_CL_I64: load_i64(dst, t, src, stride, n); break;
    case DT_CL_C128: load_c128(dst, t, src, stride, n); break;
  }
}

/* ---- storing ------------------------------------------------------------- */

#define STORE(ctype, expr) STORE_AS(ctype, (ctype)(expr))
#define STORE_AS(ctype, expr) do { \
  if (stride == (int64_t)sizeof(ctype)) { \
    ctype *d_ = (ctype *)dst; \
    DT_IVDEP \
    for (int64_t i = 0; i < n; i++) d_[i] = (expr); \
  } else { \
    char *d_ = dst; \
    for (int64_t i = 0; i < n; i++, d_ += stride) \
      *(ctype *)d_ = (expr); \
  } } while (0)

/* RE: the real value of element i; INT32, INT64: as an integer. */
#define STORE_ALL(RE, CPLX, TRUE, INT32, INT64) \
  switch (t) { \
    case DT_U8: STORE(uint8_t, INT32); break; \
    case DT_I8: STORE(int8_t, INT32); break; \
    case DT_I16: STORE(int16_t, INT32); break; \
    case DT_I32: STORE(int32_t, INT32); break; \
    case DT_I64: STORE(int64_t, INT64); break; \
    case DT_F16: STORE(uint16_t, dt_nw_to_f16((float)(RE))); break; \
    case DT_BF16: STORE(uint16_t, dt_nw_to_bf16((float)(RE))); break; \
    case DT_F32: STORE(float, RE); break; \
    case DT_F64: STORE(double, RE); break; \
    case DT_C64: STORE(float complex, CPLX); break; \
    case DT_C128: STORE(DtC128, CPLX); break; \
    case DT_BOOL: STORE(uint8_t, TRUE); break; \
    case DT_F8E5M2: STORE(uint8_t, dt_nw_to_f8e5m2((float)(RE))); break; \
    case DT_F8E4M3: STORE(uint8_t, dt_nw_to_f8e4m3((float)(RE))); break; \
    case DT_C32: STORE_AS(C32, to_c32((DtC128)(CPLX))); break; \
    case DT_BC32: STORE_AS(C32, to_bc32((DtC128)(CPLX))); break; \
    case DT_NDTYPES: break; \
  }

static void store_f32 (const float *src, DtDtype t, void *dst,
                       int64_t stride, int64_t n) {
  STORE_ALL(src[i], src[i], src[i] != 0, dt_nw_to_i32(src[i]),
            dt_nw_to_i64(src[i]))
}

static void store_f64 (const double *src, DtDtype t, void *dst,
                       int64_t stride, int64_t n) {
  STORE_ALL(src[i], src[i], src[i] != 0, dt_nw_to_i32(src[i]),
            dt_nw_to_i64(src[i]))
}

static void store_i64 (const int64_t *src, DtDtype t, void *dst,
                       int64_t stride, int64_t n) {
  STORE_ALL(src[i], src[i], src[i] != 0, src[i], src[i])
}

static void store_c128 (const DtC128 *src, DtDtype t, void *dst,
                        int64_t stride, int64_t n) {
  STORE_ALL(creal(src[i]), src[i], src[i] != 0, dt_nw_to_i32(creal(src[i])),
            dt_nw_to_i64(creal(src[i])))
}

static void run_store (DtClass c, const void *src, DtDtype t, void *dst,
                       int64_t stride, int64_t n) {
  switch (c) {
    case DT_CL_F32: store_f32(src, t, dst, stride, n); break;
    case DT_CL_F64: store_f64(src, t, dst, stride, n); break;
    case DT_CL_I64: store_i64(src, t, dst, stride, n); break;
    case DT_CL_C128: store_c128(src, t, dst, stride, n); break;
  }
}
