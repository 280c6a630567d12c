/* SPDX-License-Identifier: MIT
** tensor/dtype.h: element types, devices, scalars and type promotion.
** All functions here are Pure. */
#ifndef DT_TENSOR_DTYPE_H
#define DT_TENSOR_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

typedef enum DtDtype {
#define X(name, ...) DT_##name,
#include "tensor/dtypes.def"
#undef X
  DT_NDTYPES,
  DT_DTYPE_NONE = DT_NDTYPES      /* "not given" */
} DtDtype;

typedef enum DtKind { DT_K_BOOL, DT_K_INT, DT_K_FLOAT, DT_K_COMPLEX } DtKind;

typedef struct DtDtypeInfo {
  const char *name;       /* "f32": captured cases, the Lua API */
  const char *torch;      /* "torch.float32" */
  const char *tag;        /* as DebugMode prints: "f32", "b8" */
  const char *word;       /* "Float": ScalarType, in errors */
  const char *cpp;        /* "float": the C++ type, in errors */
  size_t size;
  DtKind kind;
} DtDtypeInfo;

/* Facts about a type.  Pure. */
const DtDtypeInfo *dt_dtype_info (DtDtype t);
size_t dt_dtype_size (DtDtype t);
const char *dt_dtype_word (DtDtype t);
bool dt_dtype_is_float (DtDtype t);
bool dt_dtype_is_complex (DtDtype t);
bool dt_dtype_is_integral (DtDtype t, bool include_bool);
/* By "f32", "float32", "torch.float32", "float", "b8"...; DT_DTYPE_NONE when
** unknown.  Pure. */
DtDtype dt_dtype_find (const char *name);
/* torch.promote_types: the smallest type both fit in.  Pure. */
DtDtype dt_dtype_promote (DtDtype a, DtDtype b);
/* Real type of a complex one (c64 -> f32), itself otherwise; and back. */
DtDtype dt_dtype_to_real (DtDtype t);
DtDtype dt_dtype_to_complex (DtDtype t);
/* Type used to accumulate sums and to compute in (f16, bf16 -> f32). */
DtDtype dt_dtype_acc (DtDtype t);

/* Promotion of many operands, PyTorch's way (result_type): dimensioned
** tensors beat 0-dim tensors beat wrapped numbers of the same or lower kind.
** Feed operands, then ask. */
typedef struct DtPromote {
  DtDtype dim, zero, wrapped;
  DtDtype bad[2];               /* the pair that does not promote */
  bool bf16_complex;
} DtPromote;
/* bf16_complex: bf16 raised to complex is bcomplex32, else complex64. */
void dt_promote_init (DtPromote *p, bool bf16_complex);
void dt_promote_tensor (DtPromote *p, DtDtype t, int ndim);
/* A number: DT_BOOL, DT_I64, DT_F64 or DT_C128; counts as the default type
** of its kind (f32 for a float). */
void dt_promote_number (DtPromote *p, DtDtype t);
DtDtype dt_promote_result (DtPromote *p);
/* Was a pair refused (float8 with another type)?  Which, in PyTorch's order;
** *b is NONE when it is float8 that should become complex. */
bool dt_promote_refused (DtPromote *p, DtDtype *a, DtDtype *b);

/* A number with its Python type (bool, int, float or complex). */
typedef struct DtScalar {
  DtKind kind;
  int64_t i;              /* bool and int */
  double re, im;          /* float and complex; re also set for int */
} DtScalar;
DtScalar dt_scalar_int (int64_t v);
DtScalar dt_scalar_float (double v);
DtScalar dt_scalar_bool (bool v);
DtScalar dt_scalar_complex (double re, double im);

/* One element, converted: memory <-> scalar.  Pure. */
DtScalar dt_dtype_load (DtDtype t, const void *p);
void dt_dtype_store (DtDtype t, void *p, DtScalar v);

/* Narrow formats, as IEEE round-to-nearest-even; NaN and saturation as
** PyTorch's casts.  Pure. */
float dt_bf16_to_f32 (uint16_t v);
uint16_t dt_f32_to_bf16 (float v);
float dt_f16_to_f32 (uint16_t v);
uint16_t dt_f32_to_f16 (float v);
float dt_f8e4m3_to_f32 (uint8_t v);
uint8_t dt_f32_to_f8e4m3 (float v);
float dt_f8e5m2_to_f32 (uint8_t v);
uint8_t dt_f32_to_f8e5m2 (float v);

/* Device types a tensor may claim to live on; numbers always come from the
** CPU.  META has no data. */
typedef enum DtDevice {
  DT_DEV_CPU, DT_DEV_META, DT_DEV_CUDA, DT_DEV_NPU, DT_DEV_XLA, DT_NDEVICES
} DtDevice;
const char *dt_device_name (DtDevice d);
/* DT_NDEVICES when unknown; "cuda:1" is accepted.  Pure. */
DtDevice dt_device_find (const char *name);

#endif
