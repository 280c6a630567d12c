/* SPDX-License-Identifier: MIT
** kernel/pw_pieces_int.h: functions of bf16 in a third of a single-precision
** function's time, for loops_int.h on processors with AVX-512; others look
** them up (pointwise.c).  No include guard.
**
** An argument is 16 bits, so that a short formula can be proved right for
** every one: the results are bit for bit those of pw_f32_int.h, rounded
** (tests/unit/test_loops.c compares them all).  Most formulas are 32 parabolas
** whose coefficients are permuted out of registers; scripts/fit_bf16.py finds
** them.  Arguments outside a formula's range - too large, NaN, subnormal - send
** the 32 elements they are among to the accurate row.
**
** A vector of 32 elements is two of floats: those in the upper half of each
** 32-bit word, and those in the lower.  Rounding adds half a unit and cuts,
** since no result in range lies between two. */

#include <immintrin.h>

typedef struct Pieces {
  float scale;                  /* the piece of a is the integer next to a scale */
  uint16_t lim;                 /* largest |x|, as bf16 */
  float c[3][32];
} Pieces;

#include "kernel/pw_pieces.def"

enum { PIECE_RUN = 32 };

/* Kept in a register: a loop that may end early would make a constant anew
** each time. */
static inline __m512 keep (__m512 v) {
  __asm__("" : "+v"(v));
  return v;
}
static inline __m512i keep_int (__m512i v) {
  __asm__("" : "+v"(v));
  return v;
}
static inline __m512i each32 (uint32_t c) {
  return keep_int(_mm512_set1_epi32((int)c));
}
static inline __m512i each16 (int c) {
  return keep_int(_mm512_set1_epi16((int16_t)c));
}

/* What the loops need; `magic` leaves an integer in the low bits. */
typedef struct Coefs {
  __m512 scale, magic, c0[2], c1[2], c2[2];
  __m512i half, upper, mag, inf, lim, sign;
} Coefs;

static inline Coefs coefs_of (const Pieces *p) {
  Coefs k;
  k.scale = keep(_mm512_set1_ps(p->scale));
  k.magic = keep(_mm512_set1_ps(12582912.0f));  /* 1.5 * 2^23 */
  for (int i = 0; i < 2; i++) {
    k.c0[i] = _mm512_loadu_ps(p->c[0] + i * 16);
    k.c1[i] = _mm512_loadu_ps(p->c[1] + i * 16);
    k.c2[i] = _mm512_loadu_ps(p->c[2] + i * 16);
  }
  k.half = each32(0x8000);
  k.upper = each32(0xffff0000u);
  k.mag = each16(0x7fff);
  k.inf = each16(0x7f80);
  k.lim = each16(p->lim);
  k.sign = each16(0x8000);
  return k;
}

/* p(a) of piece `at` (its low five bits). */
static inline __m512 parabola (const Coefs *k, __m512i at, __m512 a) {
  __m512 r = _mm512_permutex2var_ps(k->c2[0], at, k->c2[1]);
  r = _mm512_fmadd_ps(r, a, _mm512_permutex2var_ps(k->c1[0], at, k->c1[1]));
  return _mm512_fmadd_ps(r, a, _mm512_permutex2var_ps(k->c0[0], at, k->c0[1]));
}

static inline __m512 piece_of (const Coefs *k, __m512 a) {
  __m512 t = _mm512_fmadd_ps(a, k->scale, k->magic);
  return parabola(k, _mm512_castps_si512(t), a);
}

/* ---- halves of words ---- */

static inline __m512 low_half (__m512i v) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(v, 16));
}

static inline __m512 high_half (const Coefs *k, __m512i v) {
  return _mm512_castsi512_ps(_mm512_and_si512(v, k->upper));
}

static inline __m512i rounded_halves (const Coefs *k, __m512 low,
                                      __m512 high) {
  __m512i l = _mm512_add_epi32(_mm512_castps_si512(low), k->half);
  __m512i h = _mm512_add_epi32(_mm512_castps_si512(high), k->half);
  l = _mm512_srli_epi32(l, 16);         /* l | (h & upper) */
  return _mm512_ternarylogic_epi32(l, h, k->upper, 0xf8);
}

/* ---- loops ---- */

/* n <= PIECE_RUN elements by the row of floats. */
static void by_row (DtPwFn row, int64_t n, uint16_t *o, const uint16_t *v,
                    const void *params, int kb) {
  float x[PIECE_RUN], y[PIECE_RUN];
  const void *in = x;
  load_f32(x, DT_BF16, v, sizeof *v, n);
  row(n, y, &in, params, kb);
  store_f32(y, DT_BF16, o, sizeof *o, n);
}

/* The loop of a function: V is 32 elements, A their magnitudes; GOOD (those the
** formula is for) and RESULT are made of them.  It ends early before 32 that
** are not all good; nothing is called inside, so that constants stay in
** registers. */
#define PIECES_LOOP(name, SETUP, GOOD, RESULT) \
  static int64_t good_##name (int64_t n, uint16_t *o, const uint16_t *v) { \
    const Coefs c_ = coefs_of(&pieces_##name), *const k = &c_; \
    int64_t i = 0; \
    SETUP \
    for (; i + PIECE_RUN <= n; i += PIECE_RUN) { \
      const __m512i V = _mm512_loadu_si512(v + i); \
      const __m512i A = _mm512_and_si512(V, k->mag); \
      (void)A; \
      if ((GOOD) != 0xffffffffu) break; \
      _mm512_storeu_si512(o + i, RESULT); \
    } \
    return i; \
  } \
  static void bf16_u_##name (int64_t n, void *out, const void *const *in, \
                             const void *params, int kb) { \
    const uint16_t *v = in[0]; \
    uint16_t *o = out; \
    for (int64_t i = good_##name(n, o, v); i < n; \
         i += good_##name(n - i, o + i, v + i)) { \
      int64_t w = n - i < PIECE_RUN ? n - i : PIECE_RUN; \
      by_row(u_##name##_f32, w, o + i, v + i, params, kb); \
      i += w; \
    } \
  }
/* Odd functions that end at 1: the sign is put back last. */
static inline __m512i odd_of (const Coefs *k, __m512i v, __m512i a) {
  __m512 l = low_half(a), h = high_half(k, a);
  l = _mm512_mul_ps(piece_of(k, l), l);
  h = _mm512_mul_ps(piece_of(k, h), h);
  return _mm512_ternarylogic_epi32(rounded_halves(k, l, h), v, k->sign, 0xf8);
}
#define ODD(name) \
  PIECES_LOOP(name, , _mm512_cmple_epu16_mask(A, k->inf), \
              odd_of(k, V, _mm512_min_epu16(A, k->lim)))
ODD(tanh)
ODD(erf)

/* Near x on one side, near 0 on the other: max(x, 0) and an even function. */
static inline __m512i ramp_of (const Coefs *k, __m512i v, __m512i a) {
  __m512i up = _mm512_min_epu16(v, k->sign);    /* -0 for x < 0 */
  __m512 l = low_half(a), h = high_half(k, a);
  l = _mm512_fmadd_ps(piece_of(k, l), l, low_half(up));
  h = _mm512_fmadd_ps(piece_of(k, h), h, high_half(k, up));
  return rounded_halves(k, l, h);
}
/* Half a subnormal number may lie between two; 0 does not. */
static inline __mmask32 ramp_good (const Coefs *k, __m512i v, __m512i a,
                                   __m512i low, __m512i one, __m512i least) {
  __mmask32 m = _mm512_cmplt_epu16_mask(a, k->inf);
  m = _mm512_mask_cmpge_epu16_mask(m, _mm512_sub_epi16(a, one), low);
  return _mm512_mask_cmple_epu16_mask(m, v, least);
}
#define LEAST const __m512i least = keep_int(_mm512_or_si512(k->lim, k->sign));
#define RAMP(name) \
  PIECES_LOOP(name, \
    LEAST const __m512i low = each16(0xff); const __m512i one = each16(1);, \
    ramp_good(k, V, A, low, one, least), \
    ramp_of(k, V, _mm512_min_epu16(A, k->lim)))
RAMP(gelu)
RAMP(gelu_tanh)
RAMP(silu)

static inline __m512 step_half (const Coefs *k, __m512 a, __m512 x,
                                __m512 half, __m512 sign) {
  __m512 p = _mm512_or_ps(piece_of(k, a), _mm512_and_ps(x, sign));
  return _mm512_add_ps(p, half);
}
static inline __m512i step_of (const Coefs *k, __m512i v, __m512i a,
                               __m512 half, __m512 sign) {
  return rounded_halves(k,
    step_half(k, low_half(a), low_half(v), half, sign),
    step_half(k, high_half(k, a), _mm512_castsi512_ps(v), half, sign));
}
#define HALF_SIGN \
  const __m512 half = keep(_mm512_set1_ps(0.5f)); \
  const __m512 sign = keep(_mm512_set1_ps(-0.0f));
PIECES_LOOP(sigmoid, LEAST HALF_SIGN,
  _mm512_mask_cmple_epu16_mask(_mm512_cmplt_epu16_mask(A, k->inf), V, least),
  step_of(k, V, _mm512_min_epu16(A, k->lim), half, sign))

/* ---- exponential, logarithm, root ---- */

/* e^x within the normal numbers: 2^n e^r; c: log2 e, -ln 2, coefficients. */
enum { EXP_COEFS = 8 };
static inline void exp_coefs (__m512 *c) {
  static const float v[EXP_COEFS] = { 1.44269504f, -0.693147181f,
    0.00827337522f, 0.0419015922f, 0.166679904f, 0.499991149f, 0.999999523f,
    1.0f };
  for (int i = 0; i < EXP_COEFS; i++) c[i] = keep(_mm512_set1_ps(v[i]));
}
static inline __m512 exp_half (const Coefs *k, const __m512 *c, __m512 x) {
  __m512 t = _mm512_fmadd_ps(x, c[0], k->magic), q = c[2];
  __m512 r = _mm512_fmadd_ps(_mm512_sub_ps(t, k->magic), c[1], x);
  for (int i = 3; i < EXP_COEFS; i++) q = _mm512_fmadd_ps(q, r, c[i]);
  __m512i n = _mm512_slli_epi32(_mm512_castps_si512(t), 23);
  return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(q), n));
}
PIECES_LOOP(exp, __m512 c[EXP_COEFS]; exp_coefs(c);,
  _mm512_cmple_epu16_mask(A, k->lim),
  rounded_halves(k, exp_half(k, c, low_half(V)),
                 exp_half(k, c, high_half(k, V))))

/* Below 0: NaN. */
static inline __m512i nan_below (const Coefs *k, __m512i v, __m512i r,
                                 __m512i nan) {
  return _mm512_mask_mov_epi16(r, _mm512_cmpgt_epu16_mask(v, k->sign), nan);
}

/* e ln 2 + log m; from 1 + 52/128 on, m counts as below 1 and e one higher. */
typedef struct LogCoefs {
  __m512i turn, frac, one;
  __m512 ln2;
} LogCoefs;
static inline LogCoefs log_coefs (void) {
  LogCoefs c;
  c.turn = each32(0x3f800000 - (0x800000 - 0x340000));
  c.frac = each32(0x7fffff);
  c.one = each32(0x3f800000);
  c.ln2 = keep(_mm512_set1_ps(0.693147181f));
  return c;
}
static inline __m512 log_half (const Coefs *k, const LogCoefs *c, __m512 x) {
  __m512i u = _mm512_castps_si512(x);
  __m512i e = _mm512_srai_epi32(_mm512_sub_epi32(u, c->turn), 23);
  /* (u & frac) | one */
  __m512i m = _mm512_ternarylogic_epi32(u, c->frac, c->one, 0xea);
  __m512 p = parabola(k, _mm512_srli_epi32(u, 18), _mm512_castsi512_ps(m));
  return _mm512_fmadd_ps(_mm512_cvtepi32_ps(e), c->ln2, p);
}
#define LOGS \
  const LogCoefs c = log_coefs(); \
  const __m512i nan = each16(0x7fc0); \
  const __m512i least = each16(0x80); \
  const __m512i count = each16(0x7f00);
PIECES_LOOP(log, LOGS,
  _mm512_cmplt_epu16_mask(_mm512_sub_epi16(V, least), count) |
  _mm512_cmpgt_epu16_mask(V, k->sign),
  nan_below(k, V, rounded_halves(k, log_half(k, &c, low_half(V)),
                                 log_half(k, &c, high_half(k, V))), nan))

/* Half the bits of x are near those of its root: at most 11 units too many,
** four bits for each of the 256 mantissas of 1..4. */
typedef struct RootCoefs {
  __m512i table[2], one, unit, twelve, fifteen, middle, nan, count;
} RootCoefs;
static inline RootCoefs root_coefs (void) {
  RootCoefs c;
  c.table[0] = _mm512_loadu_si512(root_excess);
  c.table[1] = _mm512_loadu_si512(root_excess + 32);
  c.one = each16(0x3f80);
  c.unit = each16(1);
  c.twelve = each16(12);
  c.fifteen = each16(15);
  c.middle = each16(0x1fc0);
  c.nan = each16(0x7fc0);
  c.count = each16(0x7f);
  return c;
}
static inline __m512i root_of (const RootCoefs *c, __m512i v) {
  __m512i at = _mm512_srli_epi16(_mm512_sub_epi16(v, c->one), 2);
  __m512i w = _mm512_permutex2var_epi16(c->table[0], at, c->table[1]);
  __m512i by = _mm512_and_si512(_mm512_slli_epi16(v, 2), c->twelve);
  w = _mm512_and_si512(_mm512_srlv_epi16(w, by), c->fifteen);
  __m512i r = _mm512_add_epi16(_mm512_srli_epi16(v, 1), c->middle);
  return _mm512_maskz_sub_epi16(_mm512_test_epi16_mask(v, v), r, w);
}
/* Not infinity, NaN or subnormal numbers. */
PIECES_LOOP(sqrt, const RootCoefs c = root_coefs();,
  (_mm512_cmplt_epu16_mask(V, k->inf) | _mm512_cmpgt_epu16_mask(V, k->sign)) &
  _mm512_cmpge_epu16_mask(_mm512_sub_epi16(V, c.unit), c.count),
  nan_below(k, V, root_of(&c, V), c.nan))

#undef PIECES_LOOP
#undef ODD
#undef RAMP
#undef LEAST
#undef HALF_SIGN
#undef LOGS
