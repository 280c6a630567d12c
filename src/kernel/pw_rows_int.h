/* SPDX-License-Identifier: MIT
** kernel/pw_rows_int.h: makes one loop for each row of pw_*.def, for the
** class of the including file, and the table of them.
** The including file defines T (element type), N(name) (a name of its own for
** `name`), PICK(f, i, z) (which of a row's expressions is its), TABLE (the
** table's name), and everything the expressions use.
** No include guard: included once by each class. */

#define PARAMS \
  const T *p = params; \
  const T p0 = p[0], p1 = p[1], p2 = p[2], p3 = p[3]; \
  (void)p0; (void)p1; (void)p2; (void)p3; (void)kb

#define X(name, aten, dom, par, FX, IX, ZX) \
  static void N(u_##name) (int64_t n, void *out, const void *const *in, \
                           const void *params, int kb) { \
    T *o = out; \
    const T *a = in[0]; \
    PARAMS; \
    DT_IVDEP \
    for (int64_t i = 0; i < n; i++) { \
      const T x = a[i]; \
      (void)x; \
      o[i] = PICK(FX, IX, ZX); \
    } \
  }
#include "kernel/pw_unary.def"
#undef X

#define X(name, aten, dom, par, FX, IX, ZX) \
  static void N(b_##name) (int64_t n, void *out, const void *const *in, \
                           const void *params, int kb) { \
    T *o = out; \
    const T *a = in[0], *b = in[1]; \
    PARAMS; \
    DT_IVDEP \
    for (int64_t i = 0; i < n; i++) { \
      const T x = a[i], y = b[i]; \
      (void)x; (void)y; \
      o[i] = PICK(FX, IX, ZX); \
    } \
  }
#include "kernel/pw_binary.def"
#undef X

#define X(name, aten, dom, par, FX, IX, ZX) \
  static void N(t_##name) (int64_t n, void *out, const void *const *in, \
                           const void *params, int kb) { \
    T *o = out; \
    const T *a = in[0], *b = in[1], *c = in[2]; \
    PARAMS; \
    DT_IVDEP \
    for (int64_t i = 0; i < n; i++) { \
      const T x = a[i], y = b[i], z = c[i]; \
      (void)x; (void)y; (void)z; \
      o[i] = PICK(FX, IX, ZX); \
    } \
  }
#include "kernel/pw_ternary.def"
#undef X

#define X(name, ...) N(u_##name),
static const DtPwFn N(unary)[] = {
#include "kernel/pw_unary.def"
};
#undef X
#define X(name, ...) N(b_##name),
static const DtPwFn N(binary)[] = {
#include "kernel/pw_binary.def"
};
#undef X
#define X(name, ...) N(t_##name),
static const DtPwFn N(ternary)[] = {
#include "kernel/pw_ternary.def"
};
#undef X

const DtPwTable TABLE = {N(unary), N(binary), N(ternary)};
