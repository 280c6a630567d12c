/* SPDX-License-Identifier: MIT
** kernel/convert.c: dtypes and the classes they are computed in; moving
** elements.  The conversions themselves are in convert_int.h. */

#include <string.h>
#include "kernel/loops.h"

DtClass dt_class_of (DtDtype t) {
  switch (dt_dtype_info(t)->kind) {
    case DT_K_BOOL: case DT_K_INT: return DT_CL_I64;
    case DT_K_COMPLEX: return DT_CL_C128;
    case DT_K_FLOAT: break;
  }
  return t == DT_F64 ? DT_CL_F64 : DT_CL_F32;
}

size_t dt_class_size (DtClass c) {
  return c == DT_CL_F32 ? 4 : c == DT_CL_C128 ? 16 : 8;
}

bool dt_class_is_native (DtClass c, DtDtype t) {
  switch (c) {
    case DT_CL_F32: return t == DT_F32;
    case DT_CL_F64: return t == DT_F64;
    case DT_CL_I64: return t == DT_I64;
    case DT_CL_C128: return t == DT_C128;
  }
  return false;
}

void dt_class_put (DtClass c, void *dst, DtScalar v) {
  static const DtDtype types[] = {
    [DT_CL_F32] = DT_F32, [DT_CL_F64] = DT_F64, [DT_CL_I64] = DT_I64,
    [DT_CL_C128] = DT_C128,
  };
  dt_dtype_store(types[c], dst, v);
}

void dt_run_load (DtClass c, void *dst, DtDtype t, const void *src,
                  int64_t stride, int64_t n) {
  dt_loops()->load(c, dst, t, src, stride, n);
}

void dt_run_store (DtClass c, const void *src, DtDtype t, void *dst,
                   int64_t stride, int64_t n) {
  dt_loops()->store(c, src, t, dst, stride, n);
}

/* ---- moving --------------------------------------------------------------- */

#define MOVE(T) do { \
  for (int64_t i = 0; i < n; i++, d += dstride, s += sstride) \
    *(T *)d = *(const T *)s; } while (0)

void dt_run_move (size_t size, void *dst, int64_t dstride, const void *src,
                  int64_t sstride, int64_t n) {
  char *d = dst;
  const char *s = src;
  if (dstride == (int64_t)size && sstride == (int64_t)size) {
    memcpy(dst, src, (size_t)n * size);
    return;
  }
  switch (size) {
    case 1: MOVE(uint8_t); break;
    case 2: MOVE(uint16_t); break;
    case 4: MOVE(uint32_t); break;
    case 8: MOVE(uint64_t); break;
    default:
      for (int64_t i = 0; i < n; i++, d += dstride, s += sstride)
        memcpy(d, s, size);
  }
}
