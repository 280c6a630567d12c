/* SPDX-License-Identifier: MIT
** kernel/reduce_int.h: one pass of a reduction, for loops_int.h.  No include
** guard.
**
** The order of operations is a function of the logical sequence alone, never
** of strides: the sequence of reduced elements (row-major) is cut into chunks
** of 256; a chunk is folded into sixteen lanes (element i into lane i mod 16),
** the lanes are combined in a fixed tree, and the chunk results are combined
** like the carries of a binary counter, that is pairwise.  Two loops walk
** that one order: elements along memory (one output at a time), or a tile of
** neighbouring outputs at a time, when the outputs are what lies along
** memory.  Floats are accumulated in double; sums of 16-bit floats that end in
** 16 bits have an order of their own (reduce_quick_int.h). */

enum { RED_CHUNK = 256, RED_LANES = 16 };

static inline double f64_add (double a, double b) { return a + b; }
static inline double f64_mul (double a, double b) { return a * b; }
static inline double f64_max (double a, double b) {
  return ((b > a) | (b != b)) ? b : a;
}
static inline double f64_min (double a, double b) {
  return ((b < a) | (b != b)) ? b : a;
}
static inline int64_t i64_add (int64_t a, int64_t b) {
  return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t i64_mul (int64_t a, int64_t b) {
  return (int64_t)((uint64_t)a * (uint64_t)b);
}
static inline int64_t i64_max (int64_t a, int64_t b) { return b > a ? b : a; }
static inline int64_t i64_min (int64_t a, int64_t b) { return b < a ? b : a; }
/* Extremes of elements that are numbers: a NaN in v is passed over. */
static inline double f64_top (double a, double b) { return b > a ? b : a; }
static inline double f64_bottom (double a, double b) { return b < a ? b : a; }
static inline float narrow_add (float a, float b) { return a + b; }
static inline float narrow_top (float a, float b) { return b > a ? b : a; }
static inline float narrow_bottom (float a, float b) { return b < a ? b : a; }
static inline int64_t i64_top (int64_t a, int64_t b) { return b > a ? b : a; }
static inline int64_t i64_bottom (int64_t a, int64_t b) {
  return b < a ? b : a;
}
static inline DtC128 c128_add (DtC128 a, DtC128 b) { return a + b; }
static inline DtC128 c128_mul (DtC128 a, DtC128 b) { return a * b; }
static inline DtC128 c128_max (DtC128 a, DtC128 b) {
  return CMPLX(f64_max(creal(a), creal(b)), 0);
}
static inline DtC128 c128_min (DtC128 a, DtC128 b) {
  return CMPLX(f64_min(creal(a), creal(b)), 0);
}
static inline DtC128 c128_top (DtC128 a, DtC128 b) { return c128_max(a, b); }
static inline DtC128 c128_bottom (DtC128 a, DtC128 b) {
  return c128_min(a, b);
}

/* ---- maps ---- */

#define EACH(m, e) \
  case m: for (int64_t i = 0; i < n; i++) v[i] = (e); break;
#define NOTHING(m) case m: break;
#define F64_MAPS \
  EACH(DT_M_NAN0, v[i] != v[i] ? 0 : v[i]) \
  EACH(DT_M_SQUARE, v[i] * v[i]) \
  EACH(DT_M_ABS, fabs(v[i])) \
  EACH(DT_M_POW, pow(fabs(v[i]), p)) \
  EACH(DT_M_EXP, exp(v[i] - aux[i * astep])) \
  EACH(DT_M_DEV2, (v[i] - aux[i * astep]) * (v[i] - aux[i * astep])) \
  NOTHING(DT_M_SPREAD)
#define I64_MAPS \
  NOTHING(DT_M_NAN0) EACH(DT_M_SQUARE, i64_mul(v[i], v[i])) \
  NOTHING(DT_M_ABS) NOTHING(DT_M_POW) NOTHING(DT_M_EXP) NOTHING(DT_M_DEV2) \
  NOTHING(DT_M_SPREAD)
#define C128_MAPS \
  EACH(DT_M_NAN0, v[i] != v[i] ? 0 : v[i]) \
  EACH(DT_M_SQUARE, CMPLX(creal(v[i]) * creal(v[i]) + \
                          cimag(v[i]) * cimag(v[i]), 0)) \
  EACH(DT_M_ABS, CMPLX(cabs(v[i]), 0)) \
  EACH(DT_M_POW, CMPLX(pow(cabs(v[i]), p), 0)) \
  EACH(DT_M_EXP, cexp(v[i] - aux[i * astep])) \
  EACH(DT_M_DEV2, c128_dev2(v[i] - aux[i * astep])) NOTHING(DT_M_SPREAD)

static DtC128 c128_dev2 (DtC128 d) {
  return CMPLX(creal(d) * creal(d) + cimag(d) * cimag(d), 0);
}

/* ---- folding ---- */

/* f for each way to combine: an inline function has its own loop. */
#define BY_COMB(c, f, ...) \
  switch (c) { \
    case DT_C_ADD: f(add, __VA_ARGS__) break; \
    case DT_C_MUL: f(mul, __VA_ARGS__) break; \
    case DT_C_MAX: f(max, __VA_ARGS__) break; \
    case DT_C_MIN: f(min, __VA_ARGS__) break; \
  }
/* acc[i] = acc[i] op v[i] */
#define FOLD_LOOP(op, N) \
  DT_IVDEP for (int64_t i = 0; i < n; i++) acc[i] = N(op)(acc[i], v[i]);
#define FOLD_ONE(op, N) *acc = N(op)(*acc, v);
/* The tree of lanes of each of w outputs, into the first. */
#define FOLD_2(op, N, l) N(op)(s->lane[l][i], s->lane[(l) + 8][i])
#define FOLD_4(op, N, l) N(op)(FOLD_2(op, N, l), FOLD_2(op, N, (l) + 4))
#define FOLD_8(op, N, l) N(op)(FOLD_4(op, N, l), FOLD_4(op, N, (l) + 2))
#define FOLD_TREE(op, N) \
  DT_IVDEP for (int64_t i = 0; i < w; i++) \
    s->lane[0][i] = N(op)(FOLD_8(op, N, 0), FOLD_8(op, N, 1));

/* lane[i mod RED_LANES] = it op E(v[i]), then the tree of lanes.  A whole chunk
** is written out: a loop over lanes around sixteen steps vectorises, a loop
** over steps does not. */
#define LANE_STEP4(op, N, E, k) \
  a = N(op)(N(op)(N(op)(N(op)(a, E(v[(k) * RED_LANES + l])), \
                        E(v[((k) + 1) * RED_LANES + l])), \
                  E(v[((k) + 2) * RED_LANES + l])), \
            E(v[((k) + 3) * RED_LANES + l]));
#define LANE_LOOP(op, V, N, E) LANE_STEPS(op, V, N, E) LANE_TREE(op, N)
#define LANE_STEPS(op, V, N, E) \
  if (n == RED_CHUNK) { \
    for (int l = 0; l < RED_LANES; l++) { \
      V a = lane[l]; \
      LANE_STEP4(op, N, E, 0) LANE_STEP4(op, N, E, 4) \
      LANE_STEP4(op, N, E, 8) LANE_STEP4(op, N, E, 12) \
      lane[l] = a; \
    } \
  } else { \
    int64_t k = 0; \
    for (; k + RED_LANES <= n; k += RED_LANES) \
      for (int l = 0; l < RED_LANES; l++) \
        lane[l] = N(op)(lane[l], E(v[k + l])); \
    for (; k < n; k++) \
      lane[k % RED_LANES] = N(op)(lane[k % RED_LANES], E(v[k])); \
  }
#define LANE_TREE(op, N) \
  for (int l = 0; l < 8; l++) lane[l] = N(op)(lane[l], lane[l + 8]); \
  for (int l = 0; l < 4; l++) lane[l] = N(op)(lane[l], lane[l + 4]); \
  lane[0] = N(op)(N(op)(lane[0], lane[2]), N(op)(lane[1], lane[3]));
#define AS_IS(x) (x)

/* The result of one chunk of elements of one output, of type S.  NaN among
** extremes is looked for apart: the loops are faster without. */
#define DEFINE_CHUNK(NAME, V, S, N, E) \
static V NAME (DtComb c, const S *v, int64_t n) { \
  V lane[RED_LANES], id = N(identity)(c); \
  int nan = 0; \
  for (int l = 0; l < RED_LANES; l++) lane[l] = id; \
  if (c == DT_C_MAX || c == DT_C_MIN) \
    for (int64_t k = 0; k < n; k++) nan |= v[k] != v[k]; \
  switch (c) { \
    case DT_C_ADD: LANE_LOOP(add, V, N, E) break; \
    case DT_C_MUL: LANE_LOOP(mul, V, N, E) break; \
    case DT_C_MAX: LANE_LOOP(top, V, N, E) break; \
    case DT_C_MIN: LANE_LOOP(bottom, V, N, E) break; \
  } \
  return nan ? (V)NAN : lane[0]; \
}

#define DEFINE_FOLDS(V, N, MAPS, MAXF, MINF, TILE_N) \
enum { N(TILE) = TILE_N }; \
typedef struct N(Pass) { \
  V lane[RED_LANES][TILE_N], level[DT_RED_LEVELS][TILE_N]; \
} N(Pass); \
static V N(identity) (DtComb c) { \
  switch (c) { \
    case DT_C_ADD: return 0; \
    case DT_C_MUL: return 1; \
    case DT_C_MAX: return MAXF; \
    case DT_C_MIN: return MINF; \
  } \
  return 0; \
} \
static void N(fold) (DtComb c, V *acc, const V *v, int64_t n) { \
  BY_COMB(c, FOLD_LOOP, N) \
} \
static inline void N(fold1) (DtComb c, V *acc, V v) { \
  BY_COMB(c, FOLD_ONE, N) \
} \
DEFINE_CHUNK(N(chunk), V, V, N, AS_IS) \
static void N(map) (DtMap m, V *v, int64_t n, const V *aux, int64_t astep, \
                    double p) { \
  (void)aux; (void)astep; (void)p; \
  switch (m) { \
    case DT_M_ID: break; \
    case DT_M_NONZERO: \
      for (int64_t i = 0; i < n; i++) v[i] = v[i] != 0; \
      break; \
    MAPS \
  } \
} \
/* Lanes into level 0 of the counter, then the carries. */ \
static void N(carry) (N(Pass) *s, DtComb c, int64_t chunk, int64_t w) { \
  int at = 0; \
  BY_COMB(c, FOLD_TREE, N) \
  for (; (chunk >> at) & 1; at++) \
    N(fold)(c, s->lane[0], s->level[at], w); \
  memcpy(s->level[at], s->lane[0], (size_t)w * sizeof(V)); \
} \
static void N(finish) (N(Pass) *s, DtComb c, int64_t nchunks, V *acc, \
                       int64_t w) { \
  for (int64_t k = 0; k < w; k++) acc[k] = N(identity)(c); \
  for (int at = 0; at < DT_RED_LEVELS; at++) \
    if ((nchunks >> at) & 1) N(fold)(c, acc, s->level[at], w); \
} \
static void N(clear) (N(Pass) *s, DtComb c, int64_t w) { \
  V id = N(identity)(c); \
  for (int l = 0; l < RED_LANES; l++) \
    for (int64_t k = 0; k < w; k++) s->lane[l][k] = id; \
}

#define F64(name) f64_##name
#define I64(name) i64_##name
#define C128(name) c128_##name
DEFINE_FOLDS(double, F64, F64_MAPS, -INFINITY, INFINITY, DT_RED_TILE)
DEFINE_FOLDS(int64_t, I64, I64_MAPS, INT64_MIN, INT64_MAX, DT_RED_TILE)
DEFINE_FOLDS(DtC128, C128, C128_MAPS, CMPLX(-INFINITY, 0),
             CMPLX(INFINITY, 0), DT_RED_TILE_Z)

#include "kernel/reduce_seq_int.h"

/* ---- one pass ---------------------------------------------------------------- */

/* Rows to ask memory for before they are needed: the pieces of a tile are too
** short and too far apart for the processor to guess. */
enum { AHEAD = 2, LINE = 64 };

static inline void prefetch (const char *p, int64_t bytes) {
#if defined(__GNUC__)
  for (int64_t i = 0; i < bytes; i += LINE) __builtin_prefetch(p + i);
#endif
}

#define DEFINE_PASS(V, N) \
static void N(along) (const DtRedPass *q) { \
  V buf[RED_CHUNK], level[DT_RED_LEVELS], r = N(identity)(q->c); \
  Seq at; \
  int64_t chunk = 0, len = q->j->len; \
  seq_init(&at, q->j, q->p); \
  for (int64_t i = 0; i < len; i += RED_CHUNK, chunk++) { \
    int64_t n = len - i < RED_CHUNK ? len - i : RED_CHUNK; \
    seq_load(&at, q->j->cl, buf, n); \
    N(map)(q->m, buf, n, q->aux, 0, q->j->p); \
    V one = N(chunk)(q->c, buf, n); \
    int up = 0; \
    for (; (chunk >> up) & 1; up++) N(fold1)(q->c, &one, level[up]); \
    level[up] = one; \
  } \
  for (int up = 0; chunk >> up != 0; up++) \
    if ((chunk >> up) & 1) N(fold1)(q->c, &r, level[up]); \
  *(V *)q->acc = r; \
} \
static void N(across) (const DtRedPass *q) { \
  N(Pass) s; \
  V buf[N(TILE)]; \
  const char *row[RED_CHUNK]; \
  Seq at; \
  int64_t chunk = 0, len = q->j->len, w = q->w; \
  seq_init(&at, q->j, q->p); \
  for (int64_t i = 0; i < len; i += RED_CHUNK, chunk++) { \
    int64_t n = len - i < RED_CHUNK ? len - i : RED_CHUNK; \
    for (int64_t k = 0; k < n; k++) row[k] = seq_next(&at); \
    N(clear)(&s, q->c, w); \
    for (int64_t k = 0; k < n; k++) { \
      if (k + AHEAD < n) prefetch(row[k + AHEAD], q->step * w); \
      run_load(q->j->cl, buf, q->j->in_t, row[k], q->step, w); \
      N(map)(q->m, buf, w, q->aux, 1, q->j->p); \
      N(fold)(q->c, s.lane[k % RED_LANES], buf, w); \
    } \
    N(carry)(&s, q->c, chunk, w); \
  } \
  N(finish)(&s, q->c, chunk, q->acc, w); \
}
DEFINE_PASS(double, F64)
DEFINE_PASS(int64_t, I64)
DEFINE_PASS(DtC128, C128)

/* ---- floats of 32 and 16 bits ---- */

#define NARROW(name) narrow_##name

/* Two bf16 in a word: the first is the lower half where bytes lie that way, and
** else the upper.  Taken apart they are floats at the cost of one operation
** each. */
static inline uint32_t word_at (const uint16_t *v, int64_t i) {
  uint32_t w;
  memcpy(&w, v + 2 * i, sizeof w);
  return w;
}
static inline void word_put (uint16_t *v, int64_t i, uint32_t w) {
  memcpy(v + 2 * i, &w, sizeof w);
}
static inline float word_low (uint32_t w) { return dt_nw_float(w << 16); }
static inline float word_high (uint32_t w) {
  return dt_nw_float(w & 0xffff0000u);
}

/* Results of chunks combine like the carries of a binary counter. */
static inline void levels_fold (DtComb c, double *level, int64_t chunk,
                                double one) {
  int up = 0;
  for (; (chunk >> up) & 1; up++) f64_fold1(c, &one, level[up]);
  level[up] = one;
}
static double levels_end (DtComb c, double *level, int64_t chunks) {
  double r = f64_identity(c);
  for (int up = 0; chunks >> up != 0; up++)
    if ((chunks >> up) & 1) f64_fold1(c, &r, level[up]);
  return r;
}

#if defined(__AVX512BW__)
#include "kernel/reduce_wide_int.h"
#endif

/* ---- quick sums: what does not depend on the type ---- */

enum { QUICK_CHUNK = 512, QUICK_LANES = 32, QUICK_WORDS = 16 };

typedef struct QuickPass {
  float lane[QUICK_LANES][DT_RED_TILE], mean[DT_RED_TILE];
  double one[DT_RED_TILE], level[DT_RED_LEVELS][DT_RED_TILE];
} QuickPass;

/* The sum of two neighbouring lanes, then of those half of all apart. */
#define PAIR(l) ((double)LANE(l) + (double)LANE((l) + QUICK_WORDS))
#define PAIR2(l) (PAIR(l) + PAIR((l) + 8))
#define PAIR4(l) (PAIR2(l) + PAIR2((l) + 4))
#define PAIR16 ((PAIR4(0) + PAIR4(2)) + (PAIR4(1) + PAIR4(3)))
static double quick_tree (const float *lane) {
#if defined(__AVX512BW__)
  return wide_tree(
    _mm512_add_pd(wide_at(lane), wide_at(lane + QUICK_WORDS)),
    _mm512_add_pd(wide_at(lane + 8), wide_at(lane + QUICK_WORDS + 8)));
#else
  double d[QUICK_WORDS];
  for (int l = 0; l < QUICK_WORDS; l++)
    d[l] = (double)lane[l] + (double)lane[l + QUICK_WORDS];
  for (int l = 0; l < 8; l++) d[l] += d[l + 8];
  for (int l = 0; l < 4; l++) d[l] += d[l + 4];
  return (d[0] + d[2]) + (d[1] + d[3]);
#endif
}
#define LANE(l) s->lane[l][i]
static void quick_carry (QuickPass *s, int64_t chunk, int64_t w) {
  int at = 0;
  for (int64_t i = 0; i < w; i++) s->one[i] = PAIR16;
  for (; (chunk >> at) & 1; at++) f64_fold(DT_C_ADD, s->one, s->level[at], w);
  memcpy(s->level[at], s->one, (size_t)w * sizeof *s->one);
}
#undef LANE
#undef PAIR
#undef PAIR2
#undef PAIR4
#undef PAIR16

/* acc[w], and of squares another: columns in their own order. */
static void quick_finish (QuickPass *s, int64_t chunks, const DtRedPass *q,
                          int64_t h) {
  double *acc = q->acc;
  const int sums = q->m == DT_M_SPREAD ? 2 : 1;
  for (int64_t i = 0; i < 2 * h * sums; i++) s->one[i] = 0;
  for (int at = 0; chunks >> at != 0; at++)
    if ((chunks >> at) & 1)
      f64_fold(DT_C_ADD, s->one, s->level[at], 2 * h * sums);
  for (int k = 0; k < sums; k++)
    for (int64_t i = 0; i < h; i++) {
      acc[k * q->w + 2 * i] = s->one[2 * h * k + i];
      acc[k * q->w + 2 * i + 1] = s->one[2 * h * k + h + i];
    }
}

#include "kernel/extremes_int.h"
#if defined(__AVX512BW__)
#define WIDE
#endif
#define S float
#define N(name) f32_##name
#define WIDEN(x) (x)
#define MAGNITUDE int32_t
#define MAG(x) (int32_t)(dt_nw_bits(x) & 0x7fffffffu)
#define MAG_INF 0x7f800000
#include "kernel/reduce_narrow_int.h"
#undef WIDE
#undef S
#undef N
#undef WIDEN
#undef MAGNITUDE
#undef MAG
#undef MAG_INF

#define S uint16_t
#define MAGNITUDE int16_t
#define MAG(x) (int16_t)((x) & 0x7fffu)

#define N(name) bf16_##name
#define WIDEN(x) dt_nw_from_bf16(x)
#define LOW(w) word_low(w)
#define HIGH(w) word_high(w)
#define MAG_INF 0x7f80
#include "kernel/reduce_narrow_int.h"
#if defined(__AVX512BW__)
#define WIDE
#endif
#include "kernel/reduce_quick_int.h"
#undef WIDE
#undef N
#undef WIDEN
#undef LOW
#undef HIGH
#undef MAG_INF

#define N(name) f16_##name
#define WIDEN(x) dt_nw_from_f16(x)
#define LOW(w) dt_nw_from_f16((uint16_t)(w))
#define HIGH(w) dt_nw_from_f16((uint16_t)((w) >> 16))
#define MAG_INF 0x7c00
#include "kernel/reduce_narrow_int.h"
#include "kernel/reduce_quick_int.h"
#undef N
#undef WIDEN
#undef LOW
#undef HIGH
#undef MAG_INF
#undef S
#undef MAGNITUDE
#undef MAG

/* ---- which pass ---- */

typedef void (*PassFn) (const DtRedPass *q);

static bool is_quick (const DtRedPass *q) {
  return q->c == DT_C_ADD && dt_dtype_size(q->j->out_t) == 2 &&
         (q->j->in_t == DT_BF16 || q->j->in_t == DT_F16);
}

/* What has an order of its own is made one by one where its elements do not lie
** side by side: strides must not show in the result. */
static bool is_single (const DtRedPass *q) {
  bool own = q->m == DT_M_SPREAD || (is_quick(q) && bf16_takes(q, true));
  return own && q->step != (int64_t)dt_dtype_size(q->j->in_t);
}

static PassFn pass_for (const DtRedPass *q, bool along) {
  if (q->j->cl == DT_CL_I64) return along ? i64_along : i64_across;
  if (q->j->cl == DT_CL_C128) return along ? c128_along : c128_across;
  if (q->j->in_t == DT_F32 && f32_takes(q, along))
    return along ? f32_along : f32_across;
  bool quick = is_quick(q);
  if (q->j->in_t == DT_BF16 && bf16_takes(q, along)) {
    if (quick) return along ? bf16_quick_along : bf16_quick_across;
    return along ? bf16_line : bf16_across;
  }
  if (q->j->in_t == DT_F16 && f16_takes(q, along)) {
    if (quick) return along ? f16_quick_along : f16_quick_across;
    return along ? f16_line : f16_across;
  }
  return along ? f64_along : f64_across;
}

static void reduce_pass (const DtRedPass *q) {
  bool along = q->w == 1 || q->j->along || is_single(q);
  size_t size = dt_class_size(q->j->cl);
  PassFn f = pass_for(q, along);
  DtRedPass one = *q;
  if (!along) {
    f(q);
    return;
  }
  for (int64_t k = 0; k < q->w; k++) {
    f(&one);
    one.p += q->step;
    one.acc = (char *)one.acc + size;
    if (q->aux != NULL) one.aux = (const char *)one.aux + size;
  }
}
