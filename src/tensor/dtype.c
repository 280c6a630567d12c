/* SPDX-License-Identifier: MIT
** tensor/dtype.c: facts about element types, promotion, single elements.
**
** Does not convert arrays: kernel/convert.c does.
**
** Promotion is computed from kinds and sizes, not from a table: within a kind
** the larger type wins, with two exceptions (u8 with a signed type needs 16
** bits, f16 with bf16 needs f32); across kinds the higher kind wins.  float8
** promotes with nothing but itself. */

#include <string.h>
#include "tensor/dtype.h"
#include "tensor/dtype_text.h"
#include "tensor/narrow.h"

static const DtDtypeInfo infos[] = {
#define X(name, abbr, torch, tag, ctype, bytes, kind, word, cpp) \
  {abbr, torch, tag, word, cpp, bytes, DT_K_##kind},
#include "tensor/dtypes.def"
#undef X
  {"?", "?", "?", "Undefined", "?", 1, DT_K_FLOAT},
};

/* Other names PyTorch has for a type. */
static const struct { const char *name; DtDtype t; } aliases[] = {
  {"half", DT_F16}, {"float", DT_F32}, {"double", DT_F64},
  {"short", DT_I16}, {"int", DT_I32}, {"long", DT_I64},
  {"cfloat", DT_C64}, {"cdouble", DT_C128}, {"b8", DT_BOOL},
};

/* A promotion that PyTorch refuses: not "no operand yet". */
enum { REFUSED = DT_DTYPE_NONE + 1 };

const DtDtypeInfo *dt_dtype_info (DtDtype t) {
  return &infos[(unsigned)t < DT_NDTYPES ? t : DT_NDTYPES];
}

const char *dt_dtype_word (DtDtype t) { return dt_dtype_info(t)->word; }

/* The oldest types still go by their old names. */
const char *dt_dtype_type_text (DtDtype t) {
  static const struct { const char *old, *type; } texts[] = {
#define X(name, abbr, torch, tag, ctype, bytes, kind, word, cpp) \
    {"torch." word "Tensor", "CPU" word "Type"},
#include "tensor/dtypes.def"
#undef X
    {"UndefinedType", "UndefinedType"},
  };
  int i = (unsigned)t < DT_NDTYPES ? (int)t : DT_NDTYPES;
  return i <= DT_F64 ? texts[i].old : texts[i].type;
}

size_t dt_dtype_size (DtDtype t) { return dt_dtype_info(t)->size; }

bool dt_dtype_is_float (DtDtype t) {
  return (unsigned)t < DT_NDTYPES && infos[t].kind == DT_K_FLOAT;
}

bool dt_dtype_is_complex (DtDtype t) {
  return (unsigned)t < DT_NDTYPES && infos[t].kind == DT_K_COMPLEX;
}

bool dt_dtype_can_cast (DtDtype from, DtDtype to) {
  DtKind f = dt_dtype_info(from)->kind, t = dt_dtype_info(to)->kind;
  if (f == DT_K_COMPLEX && t != DT_K_COMPLEX) return false;
  if (f == DT_K_FLOAT && (t == DT_K_INT || t == DT_K_BOOL)) return false;
  return f == DT_K_BOOL || t != DT_K_BOOL;
}

bool dt_dtype_is_integral (DtDtype t, bool include_bool) {
  if ((unsigned)t >= DT_NDTYPES) return false;
  return infos[t].kind == DT_K_INT ||
         (include_bool && infos[t].kind == DT_K_BOOL);
}

DtDtype dt_dtype_find (const char *name) {
  if (name == NULL) return DT_DTYPE_NONE;
  if (strncmp(name, "torch.", 6) == 0) name += 6;
  for (int t = 0; t < DT_NDTYPES; t++)
    if (strcmp(name, infos[t].name) == 0 || strcmp(name, infos[t].tag) == 0 ||
        strcmp(name, infos[t].torch + 6) == 0)
      return (DtDtype)t;
  for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
    if (strcmp(name, aliases[i].name) == 0) return aliases[i].t;
  return DT_DTYPE_NONE;
}

static bool is_f8 (DtDtype t) { return t == DT_F8E4M3 || t == DT_F8E5M2; }

/* u8 with i8: neither holds the other, so both become i16. */
static DtDtype promote_int (DtDtype a, DtDtype b) {
  DtDtype big = infos[a].size >= infos[b].size ? a : b;
  if (a != DT_U8 && b != DT_U8) return big;
  return infos[big].size == 1 ? DT_I16 : big;
}

/* c10/core/ScalarType.h's table: kinds first (bool, integer, float, complex),
** sizes within one kind; f16 with bf16 is f32, float8 with another is nothing. */
DtDtype dt_dtype_promote (DtDtype a, DtDtype b) {
  if ((unsigned)a >= DT_NDTYPES || (unsigned)b >= DT_NDTYPES)
    return DT_DTYPE_NONE;
  if (a == b) return a;
  if (is_f8(a) || is_f8(b)) return DT_DTYPE_NONE;
  DtKind ka = infos[a].kind, kb = infos[b].kind;
  if (ka == DT_K_COMPLEX || kb == DT_K_COMPLEX) {
    DtDtype r = dt_dtype_promote(dt_dtype_to_real(a), dt_dtype_to_real(b));
    if (r == DT_BF16 && (a == DT_BC32 || b == DT_BC32)) return DT_BC32;
    return dt_dtype_is_float(r) ? dt_dtype_to_complex(r) : DT_C64;
  }
  if (ka != kb) return ka > kb ? a : b;
  if (ka == DT_K_INT) return promote_int(a, b);
  if (infos[a].size == infos[b].size) return DT_F32;    /* f16 with bf16 */
  return infos[a].size > infos[b].size ? a : b;
}

DtDtype dt_dtype_to_real (DtDtype t) {
  return t == DT_C64 ? DT_F32 : t == DT_C128 ? DT_F64
         : t == DT_C32 ? DT_F16 : t == DT_BC32 ? DT_BF16 : t;
}

DtDtype dt_dtype_to_complex (DtDtype t) {
  if (dt_dtype_is_complex(t)) return t;
  return t == DT_F64 ? DT_C128 : t == DT_F16 ? DT_C32 : DT_C64;
}

DtDtype dt_dtype_acc (DtDtype t) {
  return t == DT_F16 || t == DT_BF16 || is_f8(t) ? DT_F32 : t;
}

/* ---- promotion of many operands ---------------------------------------- */

/* Promote, where NONE means "nothing yet" and a refusal sticks. */
static DtDtype join (DtPromote *p, DtDtype a, DtDtype b) {
  if (a == DT_DTYPE_NONE) return b;
  if (b == DT_DTYPE_NONE) return a;
  if ((int)a == REFUSED || (int)b == REFUSED) return (DtDtype)REFUSED;
  DtDtype r = dt_dtype_promote(a, b);
  if (r != DT_DTYPE_NONE) return r;
  if (p->bad[0] == DT_DTYPE_NONE) {
    p->bad[0] = a;
    p->bad[1] = b;
  }
  return (DtDtype)REFUSED;
}

void dt_promote_init (DtPromote *p, bool bf16_complex) {
  p->bf16_complex = bf16_complex;
  p->dim = p->zero = p->wrapped = p->bad[0] = p->bad[1] = DT_DTYPE_NONE;
}

void dt_promote_tensor (DtPromote *p, DtDtype t, int ndim) {
  DtDtype *slot = ndim > 0 ? &p->dim : &p->zero;
  *slot = join(p, *slot, t);
}

/* A Python number has a kind but no size: a float is of the default dtype,
** whatever it was made of. */
void dt_promote_number (DtPromote *p, DtDtype t) {
  if (dt_dtype_is_complex(t)) t = DT_C64;
  else if (dt_dtype_is_float(t)) t = DT_F32;
  p->wrapped = join(p, p->wrapped, t);
}

/* `hi` decides unless `lo` is of a higher kind.
** aten/src/ATen/native/TypeProperties.cpp:combine_categories; the order of
** the branches is PyTorch's. */
static DtDtype combine (DtPromote *p, DtDtype hi, DtDtype lo) {
  if ((int)hi == REFUSED || (int)lo == REFUSED) return (DtDtype)REFUSED;
  if (hi == DT_DTYPE_NONE) return lo;
  if (lo == DT_DTYPE_NONE || infos[hi].kind == DT_K_COMPLEX) return hi;
  if (infos[hi].kind == DT_K_FLOAT) {
    if (infos[lo].kind != DT_K_COMPLEX) return hi;
    if (hi == DT_BF16 && p->bf16_complex) return DT_BC32;
    if (!is_f8(hi)) return dt_dtype_to_complex(hi);
    if (p->bad[0] == DT_DTYPE_NONE) p->bad[0] = hi;
    return (DtDtype)REFUSED;
  }
  if (infos[hi].kind == DT_K_BOOL || infos[lo].kind >= DT_K_FLOAT)
    return join(p, hi, lo);
  return hi;
}

/* Tensors with dims before those without, these before numbers: a number can
** raise the kind of a tensor, never its size. */
DtDtype dt_promote_result (DtPromote *p) {
  DtDtype r = combine(p, p->dim, combine(p, p->zero, p->wrapped));
  return (int)r == REFUSED ? DT_DTYPE_NONE : r;
}

bool dt_promote_refused (DtPromote *p, DtDtype *a, DtDtype *b) {
  (void)dt_promote_result(p);
  *a = p->bad[0];
  *b = p->bad[1];
  return *a != DT_DTYPE_NONE;
}

/* ---- numbers ------------------------------------------------------------ */

DtScalar dt_scalar_int (int64_t v) {
  return (DtScalar){.kind = DT_K_INT, .i = v, .re = (double)v};
}

DtScalar dt_scalar_float (double v) {
  return (DtScalar){.kind = DT_K_FLOAT, .i = dt_nw_to_i64(v), .re = v};
}

DtScalar dt_scalar_bool (bool v) {
  return (DtScalar){.kind = DT_K_BOOL, .i = v, .re = v};
}

DtScalar dt_scalar_complex (double re, double im) {
  return (DtScalar){.kind = DT_K_COMPLEX, .i = dt_nw_to_i64(re), .re = re,
                    .im = im};
}

/* One unaligned element of a C type. */

#define LOADER(name, T) \
  static T load_##name (const void *p) { \
    T v; memcpy(&v, p, sizeof v); return v; }
LOADER(u8, uint8_t)
LOADER(i8, int8_t)
LOADER(i16, int16_t)
LOADER(i32, int32_t)
LOADER(i64, int64_t)
LOADER(u16, uint16_t)
LOADER(f32, float)
LOADER(f64, double)
#undef LOADER

/* The element as the widest scalar of its kind.  The bytes may lie unaligned (a
** view of another dtype, a file), so they are copied, never pointed at. */
DtScalar dt_dtype_load (DtDtype t, const void *p) {
  const char *c = p;
  switch (t) {
    case DT_U8: return dt_scalar_int(load_u8(p));
    case DT_I8: return dt_scalar_int(load_i8(p));
    case DT_I16: return dt_scalar_int(load_i16(p));
    case DT_I32: return dt_scalar_int(load_i32(p));
    case DT_I64: return dt_scalar_int(load_i64(p));
    case DT_F16: return dt_scalar_float(dt_f16_to_f32(load_u16(p)));
    case DT_BF16: return dt_scalar_float(dt_bf16_to_f32(load_u16(p)));
    case DT_F32: return dt_scalar_float(load_f32(p));
    case DT_F64: return dt_scalar_float(load_f64(p));
    case DT_C64: return dt_scalar_complex(load_f32(p), load_f32(c + 4));
    case DT_C128: return dt_scalar_complex(load_f64(p), load_f64(c + 8));
    case DT_BOOL: return dt_scalar_bool(load_u8(p) != 0);
    case DT_F8E5M2: return dt_scalar_float(dt_f8e5m2_to_f32(load_u8(p)));
    case DT_F8E4M3: return dt_scalar_float(dt_f8e4m3_to_f32(load_u8(p)));
    case DT_C32:
      return dt_scalar_complex(dt_f16_to_f32(load_u16(p)),
                               dt_f16_to_f32(load_u16(c + 2)));
    case DT_BC32:
      return dt_scalar_complex(dt_bf16_to_f32(load_u16(p)),
                               dt_bf16_to_f32(load_u16(c + 2)));
    case DT_NDTYPES: break;
  }
  return dt_scalar_int(0);
}

static bool is_exact (DtScalar v) {
  return v.kind == DT_K_BOOL || v.kind == DT_K_INT;
}

static double scalar_re (DtScalar v) {
  return is_exact(v) ? (double)v.i : v.re;
}

static double scalar_im (DtScalar v) {
  return v.kind == DT_K_COMPLEX ? v.im : 0.0;
}

static bool scalar_true (DtScalar v) {
  return is_exact(v) ? v.i != 0 : v.re != 0 || scalar_im(v) != 0;
}

static int64_t scalar_i64 (DtScalar v) {
  return is_exact(v) ? v.i : dt_nw_to_i64(v.re);
}

static int32_t scalar_i32 (DtScalar v) {
  return is_exact(v) ? (int32_t)v.i : dt_nw_to_i32(v.re);
}

/* An integer goes to f32 in one rounding, as a cast of the array would. */
static float scalar_f32 (DtScalar v) {
  return is_exact(v) ? (float)v.i : (float)v.re;
}

#define PUT(T, p, e) do { T v_ = (T)(e); memcpy((p), &v_, sizeof v_); } while (0)

/* Every dtype and no default: a new one is a warning of the compiler here.  Halves
** and bytes of floats are rounded from f32, not from f64, as PyTorch's c10 types
** are (c10/util/Half.h, Float8_e4m3fn.h@2.15): twice rounded, as there. */
void dt_dtype_store (DtDtype t, void *p, DtScalar v) {
  char *c = p;
  switch (t) {
    case DT_U8: PUT(uint8_t, p, scalar_i32(v)); break;
    case DT_I8: PUT(int8_t, p, scalar_i32(v)); break;
    case DT_I16: PUT(int16_t, p, scalar_i32(v)); break;
    case DT_I32: PUT(int32_t, p, scalar_i32(v)); break;
    case DT_I64: PUT(int64_t, p, scalar_i64(v)); break;
    case DT_F16: PUT(uint16_t, p, dt_f32_to_f16(scalar_f32(v))); break;
    case DT_BF16: PUT(uint16_t, p, dt_f32_to_bf16(scalar_f32(v))); break;
    case DT_F32: PUT(float, p, scalar_f32(v)); break;
    case DT_F64: PUT(double, p, scalar_re(v)); break;
    case DT_C64:
      PUT(float, p, scalar_f32(v));
      PUT(float, c + 4, scalar_im(v));
      break;
    case DT_C128:
      PUT(double, p, scalar_re(v));
      PUT(double, c + 8, scalar_im(v));
      break;
    case DT_BOOL: PUT(uint8_t, p, scalar_true(v)); break;
    case DT_F8E5M2: PUT(uint8_t, p, dt_f32_to_f8e5m2(scalar_f32(v))); break;
    case DT_F8E4M3: PUT(uint8_t, p, dt_f32_to_f8e4m3(scalar_f32(v))); break;
    case DT_C32:
      PUT(uint16_t, p, dt_f32_to_f16(scalar_f32(v)));
      PUT(uint16_t, c + 2, dt_f32_to_f16((float)scalar_im(v)));
      break;
    case DT_BC32:
      PUT(uint16_t, p, dt_f32_to_bf16(scalar_f32(v)));
      PUT(uint16_t, c + 2, dt_f32_to_bf16((float)scalar_im(v)));
      break;
    case DT_NDTYPES: break;
  }
}

/* ---- narrow formats ------------------------------------------------------ */

float dt_bf16_to_f32 (uint16_t v) { return dt_nw_from_bf16(v); }
uint16_t dt_f32_to_bf16 (float v) { return dt_nw_to_bf16(v); }
float dt_f16_to_f32 (uint16_t v) { return dt_nw_from_f16(v); }
uint16_t dt_f32_to_f16 (float v) { return dt_nw_to_f16(v); }
float dt_f8e4m3_to_f32 (uint8_t v) { return dt_nw_from_f8e4m3(v); }
uint8_t dt_f32_to_f8e4m3 (float v) { return dt_nw_to_f8e4m3(v); }
float dt_f8e5m2_to_f32 (uint8_t v) { return dt_nw_from_f8e5m2(v); }
uint8_t dt_f32_to_f8e5m2 (float v) { return dt_nw_to_f8e5m2(v); }

/* ---- devices ------------------------------------------------------------- */

static const char *const devices[] = {
  [DT_DEV_CPU] = "cpu", [DT_DEV_META] = "meta", [DT_DEV_CUDA] = "cuda",
  [DT_DEV_NPU] = "npu", [DT_DEV_XLA] = "xla",
};

const char *dt_device_name (DtDevice d) {
  return (unsigned)d < DT_NDEVICES ? devices[d] : "?";
}

DtDevice dt_device_find (const char *name) {
  if (name == NULL) return DT_NDEVICES;
  for (int d = 0; d < DT_NDEVICES; d++) {
    size_t n = strlen(devices[d]);
    if (strncmp(name, devices[d], n) != 0) continue;
    if (name[n] == '\0') return (DtDevice)d;
    if (name[n] == ':' && name[n + 1] != '\0' &&
        strspn(name + n + 1, "0123456789") == strlen(name + n + 1))
      return (DtDevice)d;
  }
  return DT_NDEVICES;
}
