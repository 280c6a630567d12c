/* SPDX-License-Identifier: MIT
** kernel/pw_bf16_int.h: some rows of pw_*.def for operands and results that are
** all bf16, read and written as they are stored, for loops_int.h.  No include
** guard.
**
** The bits are those of pw_f32_int.h between conversions.  Other rows go through
** buffers (pointwise.c): nothing is read ahead from memory while a buffer is
** computed, which for plain arithmetic takes half as long again as a copy.
** Rows that call libm, or are looked up, gain nothing; some functions have
** loops of their own (pw_pieces_int.h). */

/* Which rows: a name that has a macro of two parts. */
#define HAS ~, 1
#define HAS_relu HAS
#define HAS_abs HAS
#define HAS_neg HAS
#define HAS_square HAS
#define HAS_add_scalar HAS
#define HAS_mul_scalar HAS
#define HAS_threshold HAS
#define HAS_clamp_min HAS
#define HAS_clamp_max HAS
#define HAS_add HAS
#define HAS_sub HAS
#define HAS_rsub HAS
#define HAS_mul HAS
#define HAS_div HAS
#define HAS_maximum HAS
#define HAS_minimum HAS
#define HAS_threshold_backward HAS
#define HAS_sigmoid_backward HAS
#define HAS_tanh_backward HAS
#define HAS_where HAS
#define HAS_masked_fill HAS
#define HAS_lerp HAS
#define HAS_addcmul HAS
#define HAS_addcdiv HAS
/* Rows of pw_pieces_int.h, where there are. */
#if defined(__AVX512BW__)
#include "kernel/pw_pieces_int.h"
#define MADE ~, 2
#define HAS_exp MADE
#define HAS_log MADE
#define HAS_sqrt MADE
#define HAS_tanh MADE
#define HAS_erf MADE
#define HAS_gelu MADE
#define HAS_gelu_tanh MADE
#define HAS_silu MADE
#define HAS_sigmoid MADE
#endif
#define SECOND(a, b, ...) b
#define IS_HAD_(...) SECOND(__VA_ARGS__, 0, ~)
#define IS_HAD(name) IS_HAD_(HAS_##name)
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

/* ---- loops ---- */

#define HEAD(name) \
  static void bf16_##name (int64_t n, void *out, const void *const *in, \
                           const void *params, int kb)
#define LOOP(FX, LOADS) \
  uint16_t *o = out; \
  PARAMS; \
  DT_IVDEP \
  for (int64_t i = 0; i < n; i++) { \
    LOADS \
    o[i] = dt_nw_to_bf16((float)(FX)); \
  }
#define FROM(k) const uint16_t *v##k = in[k];
#define LOAD1 const float x = dt_nw_from_bf16(v0[i]); (void)x;
#define LOAD2 LOAD1 const float y = dt_nw_from_bf16(v1[i]); (void)y;
#define LOAD3 LOAD2 const float z = dt_nw_from_bf16(v2[i]); (void)z;

#define U_0(name, FX)
#define B_0(name, FX)
#define T_0(name, FX)
#define U_2(name, FX)
#define U_1(name, FX) HEAD(u_##name) { FROM(0) LOOP(FX, LOAD1) }
#define B_1(name, FX) HEAD(b_##name) { FROM(0) FROM(1) LOOP(FX, LOAD2) }
#define T_1(name, FX) \
  HEAD(t_##name) { FROM(0) FROM(1) FROM(2) LOOP(FX, LOAD3) }

#define X(name, aten, dom, par, FX, IX, ZX) JOIN(U_, IS_HAD(name))(name, FX)
#include "kernel/pw_unary.def"
#undef X
#define X(name, aten, dom, par, FX, IX, ZX) JOIN(B_, IS_HAD(name))(name, FX)
#include "kernel/pw_binary.def"
#undef X
#define X(name, aten, dom, par, FX, IX, ZX) JOIN(T_, IS_HAD(name))(name, FX)
#include "kernel/pw_ternary.def"
#undef X

/* ---- the table ---- */

#define E_0(name) NULL
#define E_1(name) bf16_##name
#define E_2(name) bf16_##name
#define X(name, ...) JOIN(E_, IS_HAD(name))(u_##name),
static const DtPwFn bf16_unary[] = {
#include "kernel/pw_unary.def"
};
#undef X
#define X(name, ...) JOIN(E_, IS_HAD(name))(b_##name),
static const DtPwFn bf16_binary[] = {
#include "kernel/pw_binary.def"
};
#undef X
#define X(name, ...) JOIN(E_, IS_HAD(name))(t_##name),
static const DtPwFn bf16_ternary[] = {
#include "kernel/pw_ternary.def"
};
#undef X

static const DtPwTable pw_bf16 = {bf16_unary, bf16_binary, bf16_ternary};
