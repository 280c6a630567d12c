/* SPDX-License-Identifier: MIT
** kernel/reduce.c: reductions over any set of dims.
**
** Does not do arg reductions (argred.c) or scans (scan.c).
**
** The order of operations is a function of the logical sequence alone, never
** of strides: the sequence of reduced elements (row-major) is cut into chunks
** of 256; a chunk is folded into eight lanes (element i into lane i mod 8),
** the lanes are combined in a fixed tree, and the chunk results are combined
** like the carries of a binary counter, that is pairwise.  Two loops walk
** that one order: elements along memory (one output at a time), or a tile of
** neighbouring outputs at a time, when the outputs are what lies along
** memory.  Floats are accumulated in double. */

#include <float.h>
#include <math.h>
#include <string.h>
#include "kernel/kernel_int.h"

enum { CHUNK = 256, LANES = 8, TILE = 128, LEVELS = 36 };

typedef enum Map { M_ID, M_NONZERO, M_NAN0, M_SQUARE, M_ABS, M_POW, M_EXP,
                   M_DEV2 } Map;
typedef enum Comb { C_ADD, C_MUL, C_MAX, C_MIN } Comb;

typedef struct Dim { int64_t n, in, out; } Dim;  /* byte strides */

typedef struct Job {
  DtReduce f;
  double p;                     /* order or correction */
  DtClass cl;                   /* F64, I64 or C128 */
  DtDtype in_t, out_t;
  int nkept, nred;
  Dim kept[DT_MAX_NDIM], red[DT_MAX_NDIM];
  int64_t len;                  /* elements for one output */
} Job;

/* The state of one pass over a tile of `w` outputs; V is the class's type. */
#define DEFINE_PASS(V, N, MAPS, MAXF, MINF) \
typedef struct N(Pass) { \
  V lane[LANES][TILE], level[LEVELS][TILE]; \
} N(Pass); \
static V N(identity) (Comb c) { \
  switch (c) { \
    case C_ADD: return 0; \
    case C_MUL: return 1; \
    case C_MAX: return MAXF; \
    case C_MIN: return MINF; \
  } \
  return 0; \
} \
static void N(fold) (Comb c, V *acc, const V *v, int64_t n) { \
  switch (c) { \
    case C_ADD: \
      DT_IVDEP for (int64_t i = 0; i < n; i++) acc[i] = N(add)(acc[i], v[i]); \
      break; \
    case C_MUL: \
      DT_IVDEP for (int64_t i = 0; i < n; i++) acc[i] = N(mul)(acc[i], v[i]); \
      break; \
    case C_MAX: \
      DT_IVDEP for (int64_t i = 0; i < n; i++) acc[i] = N(max)(acc[i], v[i]); \
      break; \
    case C_MIN: \
      DT_IVDEP for (int64_t i = 0; i < n; i++) acc[i] = N(min)(acc[i], v[i]); \
      break; \
  } \
} \
static void N(map) (Map m, V *v, int64_t n, const V *aux, int64_t astep, \
                    double p) { \
  (void)aux; (void)astep; (void)p; \
  switch (m) { \
    case M_ID: break; \
    case M_NONZERO: for (int64_t i = 0; i < n; i++) v[i] = v[i] != 0; break; \
    MAPS \
  } \
} \
/* Lanes into level 0 of the counter, then the carries. */ \
static void N(carry) (N(Pass) *s, Comb c, int64_t chunk, int64_t w) { \
  for (int step = LANES / 2; step > 0; step /= 2) \
    for (int l = 0; l < step; l++) \
      N(fold)(c, s->lane[l], s->lane[l + step], w); \
  int at = 0; \
  for (; (chunk >> at) & 1; at++) \
    N(fold)(c, s->lane[0], s->level[at], w); \
  memcpy(s->level[at], s->lane[0], (size_t)w * sizeof(V)); \
} \
static void N(finish) (N(Pass) *s, Comb c, int64_t nchunks, V *acc, \
                       int64_t w) { \
  for (int64_t k = 0; k < w; k++) acc[k] = N(identity)(c); \
  for (int at = 0; at < LEVELS; at++) \
    if ((nchunks >> at) & 1) N(fold)(c, acc, s->level[at], w); \
} \
static void N(clear) (N(Pass) *s, Comb c, int64_t w) { \
  V id = N(identity)(c); \
  for (int l = 0; l < LANES; l++) \
    for (int64_t k = 0; k < w; k++) s->lane[l][k] = id; \
}

static inline double f64_add (double a, double b) { return a + b; }
static inline double f64_mul (double a, double b) { return a * b; }
static inline double f64_max (double a, double b) {
  return a != a || b != b ? NAN : (b > a ? b : a);
}
static inline double f64_min (double a, double b) {
  return a != a || b != b ? NAN : (b < a ? b : a);
}
static inline int64_t i64_add (int64_t a, int64_t b) {
  return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t i64_mul (int64_t a, int64_t b) {
  return (int64_t)((uint64_t)a * (uint64_t)b);
}
static inline int64_t i64_max (int64_t a, int64_t b) { return b > a ? b : a; }
static inline int64_t i64_min (int64_t a, int64_t b) { return b < a ? b : a; }
static inline DtC128 c128_add (DtC128 a, DtC128 b) { return a + b; }
static inline DtC128 c128_mul (DtC128 a, DtC128 b) { return a * b; }
static inline DtC128 c128_max (DtC128 a, DtC128 b) {
  return CMPLX(f64_max(creal(a), creal(b)), 0);
}
static inline DtC128 c128_min (DtC128 a, DtC128 b) {
  return CMPLX(f64_min(creal(a), creal(b)), 0);
}

#define EACH(m, e) \
  case m: for (int64_t i = 0; i < n; i++) v[i] = (e); break;
#define NOTHING(m) case m: break;
#define F64_MAPS \
  EACH(M_NAN0, v[i] != v[i] ? 0 : v[i]) \
  EACH(M_SQUARE, v[i] * v[i]) \
  EACH(M_ABS, fabs(v[i])) \
  EACH(M_POW, pow(fabs(v[i]), p)) \
  EACH(M_EXP, exp(v[i] - aux[i * astep])) \
  EACH(M_DEV2, (v[i] - aux[i * astep]) * (v[i] - aux[i * astep]))
#define I64_MAPS \
  NOTHING(M_NAN0) EACH(M_SQUARE, i64_mul(v[i], v[i])) NOTHING(M_ABS) \
  NOTHING(M_POW) NOTHING(M_EXP) NOTHING(M_DEV2)
#define C128_MAPS \
  EACH(M_NAN0, v[i] != v[i] ? 0 : v[i]) \
  EACH(M_SQUARE, CMPLX(creal(v[i]) * creal(v[i]) + \
                       cimag(v[i]) * cimag(v[i]), 0)) \
  EACH(M_ABS, CMPLX(cabs(v[i]), 0)) \
  EACH(M_POW, CMPLX(pow(cabs(v[i]), p), 0)) \
  EACH(M_EXP, cexp(v[i] - aux[i * astep])) \
  EACH(M_DEV2, c128_dev2(v[i] - aux[i * astep]))

static DtC128 c128_dev2 (DtC128 d) {
  return CMPLX(creal(d) * creal(d) + cimag(d) * cimag(d), 0);
}

#define F64(name) f64_##name
#define I64(name) i64_##name
#define C128(name) c128_##name
DEFINE_PASS(double, F64, F64_MAPS, -INFINITY, INFINITY)
DEFINE_PASS(int64_t, I64, I64_MAPS, INT64_MIN, INT64_MAX)
DEFINE_PASS(DtC128, C128, C128_MAPS, CMPLX(-INFINITY, 0), CMPLX(INFINITY, 0))

/* ---- walking the reduced elements ------------------------------------------ */

typedef struct Seq {
  const Job *j;
  const char *p;
  int64_t count[DT_MAX_NDIM];
  int64_t at;                   /* within the innermost run */
} Seq;

static void seq_init (Seq *s, const Job *j, const char *p) {
  s->j = j;
  s->p = p;
  s->at = 0;
  memset(s->count, 0, sizeof s->count);
}

/* Step to the next run of the reduced dims (all but the innermost). */
static void seq_carry (Seq *s) {
  s->at = 0;
  for (int d = s->j->nred - 2; d >= 0; d--) {
    const Dim *r = &s->j->red[d];
    s->p += r->in;
    if (++s->count[d] < r->n) return;
    s->count[d] = 0;
    s->p -= r->in * r->n;
  }
}

/* The next n elements into buf, in the accumulation class. */
static void seq_load (Seq *s, void *buf, int64_t n) {
  const Dim *r = &s->j->red[s->j->nred - 1];
  size_t size = dt_class_size(s->j->cl);
  char *out = buf;
  while (n > 0) {
    int64_t k = r->n - s->at < n ? r->n - s->at : n;
    dt_run_load(s->j->cl, out, s->j->in_t, s->p + s->at * r->in, r->in, k);
    out += (size_t)k * size;
    s->at += k;
    n -= k;
    if (s->at == r->n) seq_carry(s);
  }
}

/* The same walk, one position at a time. */
static const char *seq_next (Seq *s) {
  const Dim *r = &s->j->red[s->j->nred - 1];
  const char *p = s->p + s->at * r->in;
  if (++s->at == r->n) seq_carry(s);
  return p;
}

/* ---- one pass ---------------------------------------------------------------- */

/* Fold a tile of w outputs that start at `p`; acc[w] receives the results. */
#define DEFINE_RUN(V, N) \
static void N(along) (const Job *j, const char *p, Map m, Comb c, \
                      const V *aux, V *acc) { \
  N(Pass) s; \
  V buf[CHUNK]; \
  Seq q; \
  int64_t chunk = 0; \
  seq_init(&q, j, p); \
  for (int64_t i = 0; i < j->len; i += CHUNK, chunk++) { \
    int64_t n = j->len - i < CHUNK ? j->len - i : CHUNK; \
    V lane[LANES]; \
    seq_load(&q, buf, n); \
    N(map)(m, buf, n, aux, 0, j->p); \
    for (int l = 0; l < LANES; l++) lane[l] = N(identity)(c); \
    for (int64_t k = 0; k + LANES <= n; k += LANES) \
      N(fold)(c, lane, buf + k, LANES); \
    N(fold)(c, lane, buf + n / LANES * LANES, n % LANES); \
    for (int l = 0; l < LANES; l++) s.lane[l][0] = lane[l]; \
    N(carry)(&s, c, chunk, 1); \
  } \
  N(finish)(&s, c, chunk, acc, 1); \
} \
static void N(across) (const Job *j, const char *p, int64_t step, int64_t w, \
                       Map m, Comb c, const V *aux, V *acc) { \
  N(Pass) s; \
  V buf[TILE]; \
  Seq q; \
  int64_t chunk = 0; \
  seq_init(&q, j, p); \
  for (int64_t i = 0; i < j->len; i += CHUNK, chunk++) { \
    int64_t n = j->len - i < CHUNK ? j->len - i : CHUNK; \
    N(clear)(&s, c, w); \
    for (int64_t k = 0; k < n; k++) { \
      dt_run_load(j->cl, buf, j->in_t, seq_next(&q), step, w); \
      N(map)(m, buf, w, aux, 1, j->p); \
      N(fold)(c, s.lane[k % LANES], buf, w); \
    } \
    N(carry)(&s, c, chunk, w); \
  } \
  N(finish)(&s, c, chunk, acc, w); \
} \
static void N(pass) (const Job *j, const char *p, int64_t step, int64_t w, \
                     Map m, Comb c, const V *aux, V *acc) { \
  if (w == 1) N(along)(j, p, m, c, aux, acc); \
  else N(across)(j, p, step, w, m, c, aux, acc); \
}
DEFINE_RUN(double, F64)
DEFINE_RUN(int64_t, I64)
DEFINE_RUN(DtC128, C128)

/* ---- the reductions ----------------------------------------------------------- */

static void norm_pass (double p, Map *m, Comb *c) {
  *m = p == 0 ? M_NONZERO : p == 2 ? M_SQUARE : M_POW;
  *c = C_ADD;
  if (p == 1 || isinf(p)) *m = M_ABS;
  if (isinf(p)) *c = p > 0 ? C_MAX : C_MIN;
}

static void simple_pass (const Job *j, Map *m, Comb *c) {
  *m = M_ID;
  *c = C_ADD;
  /* A truth value is made of each element, not of the result. */
  if (j->out_t == DT_BOOL && (j->f == DT_RED_SUM || j->f == DT_RED_PROD))
    *m = M_NONZERO;
  switch (j->f) {
    case DT_RED_PROD: *c = C_MUL; break;
    case DT_RED_MAX: *c = C_MAX; break;
    case DT_RED_MIN: *c = C_MIN; break;
    case DT_RED_ANY: *m = M_NONZERO; *c = C_MAX; break;
    case DT_RED_ALL: *m = M_NONZERO; *c = C_MIN; break;
    case DT_RED_NORM: norm_pass(j->p, m, c); break;
    case DT_RED_NANSUM: *m = M_NAN0; break;
    case DT_RED_COUNT_NONZERO: *m = M_NONZERO; break;
    case DT_RED_SUMSQ: *m = M_SQUARE; break;
    default: break;
  }
}

/* The sum of powers overflows where the operand's accumulation type would. */
static double norm_end (const Job *j, double s) {
  double p = j->p;
  if (isinf(p)) return j->len == 0 ? 0 : s;
  if (p == 0 || p == 1) return s;
  if (dt_dtype_size(j->out_t) < 8 && s > FLT_MAX) s = INFINITY;
  return p == 2 ? sqrt(s) : pow(s, 1 / p);
}

/* ss / max(0, n - correction) */
static double var_end (const Job *j, double ss) {
  double n = (double)j->len - j->p, v = ss / (n > 0 ? n : 0);
  return j->f == DT_RED_STD ? sqrt(v) : v;
}

static bool is_test (DtReduce f) {
  return f == DT_RED_ANY || f == DT_RED_ALL;
}

static void tile_f64 (const Job *j, const char *p, int64_t step, int64_t w,
                      double *acc) {
  double aux[TILE];
  Map m;
  Comb c;
  simple_pass(j, &m, &c);
  switch (j->f) {
    case DT_RED_VAR: case DT_RED_STD:
      f64_pass(j, p, step, w, M_ID, C_ADD, NULL, aux);
      for (int64_t k = 0; k < w; k++) aux[k] /= (double)j->len;
      f64_pass(j, p, step, w, M_DEV2, C_ADD, aux, acc);
      for (int64_t k = 0; k < w; k++) acc[k] = var_end(j, acc[k]);
      return;
    case DT_RED_LOGSUMEXP:
      f64_pass(j, p, step, w, M_ID, C_MAX, NULL, aux);
      for (int64_t k = 0; k < w; k++) if (isinf(aux[k])) aux[k] = 0;
      f64_pass(j, p, step, w, M_EXP, C_ADD, aux, acc);
      for (int64_t k = 0; k < w; k++) acc[k] = log(acc[k]) + aux[k];
      return;
    default: break;
  }
  f64_pass(j, p, step, w, m, c, NULL, acc);
  if (j->f == DT_RED_MEAN)
    for (int64_t k = 0; k < w; k++) acc[k] /= (double)j->len;
  if (j->f == DT_RED_NORM)
    for (int64_t k = 0; k < w; k++) acc[k] = norm_end(j, acc[k]);
  if (is_test(j->f) && j->len == 0)
    for (int64_t k = 0; k < w; k++) acc[k] = j->f == DT_RED_ALL;
}

static void tile_i64 (const Job *j, const char *p, int64_t step, int64_t w,
                      int64_t *acc) {
  Map m;
  Comb c;
  simple_pass(j, &m, &c);
  i64_pass(j, p, step, w, m, c, NULL, acc);
  if (is_test(j->f) && j->len == 0)
    for (int64_t k = 0; k < w; k++) acc[k] = j->f == DT_RED_ALL;
}

static void tile_c128 (const Job *j, const char *p, int64_t step, int64_t w,
                       DtC128 *acc) {
  DtC128 aux[TILE];
  Map m;
  Comb c;
  simple_pass(j, &m, &c);
  if (j->f == DT_RED_VAR || j->f == DT_RED_STD) {
    c128_pass(j, p, step, w, M_ID, C_ADD, NULL, aux);
    for (int64_t k = 0; k < w; k++) aux[k] /= (double)j->len;
    c128_pass(j, p, step, w, M_DEV2, C_ADD, aux, acc);
    for (int64_t k = 0; k < w; k++) acc[k] = var_end(j, creal(acc[k]));
    return;
  }
  c128_pass(j, p, step, w, j->f == DT_RED_LOGSUMEXP ? M_EXP : m, c,
            memset(aux, 0, sizeof aux), acc);
  for (int64_t k = 0; k < w; k++) {
    if (j->f == DT_RED_MEAN) acc[k] /= (double)j->len;
    if (j->f == DT_RED_NORM)
      acc[k] = norm_end(j, creal(acc[k]));
    if (j->f == DT_RED_LOGSUMEXP) acc[k] = clog(acc[k]);
    if (is_test(j->f) && j->len == 0) acc[k] = j->f == DT_RED_ALL;
  }
}

static void tile (const Job *j, const char *p, int64_t step, int64_t w,
                  char *out, int64_t ostep) {
  DtC128 acc[TILE];
  switch (j->cl) {
    case DT_CL_I64: tile_i64(j, p, step, w, (int64_t *)acc); break;
    case DT_CL_C128: tile_c128(j, p, step, w, acc); break;
    default: tile_f64(j, p, step, w, (double *)acc);
  }
  dt_run_store(j->cl, acc, j->out_t, out, ostep, w);
}

/* ---- set-up --------------------------------------------------------------------- */

/* Sums and products accumulate as the output is, tests and extremes as the
** input is. */
static DtClass class_for (DtReduce f, DtDtype in, DtDtype out) {
  DtClass ci = dt_class_of(in), co = dt_class_of(out), c = co;
  switch (f) {
    case DT_RED_MAX: case DT_RED_MIN: case DT_RED_ANY: case DT_RED_ALL:
    case DT_RED_COUNT_NONZERO: c = ci; break;
    case DT_RED_SUM: case DT_RED_PROD: case DT_RED_NANSUM:
    case DT_RED_SUMSQ:
      if (out == DT_BOOL) c = ci;
      break;
    default: if (co == DT_CL_I64) c = DT_CL_F64;
  }
  if (ci == DT_CL_C128) return DT_CL_C128;
  return c == DT_CL_F32 ? DT_CL_F64 : c;
}

static void add_dim (Dim *list, int *n, Dim d) {
  if (d.n == 1) return;
  if (*n > 0) {
    Dim *o = &list[*n - 1];
    if (o->in == d.in * d.n && o->out == d.out * d.n) {
      o->n *= d.n;
      o->in = d.in;
      o->out = d.out;
      return;
    }
  }
  list[(*n)++] = d;
}

/* Kept dims with the smallest input stride last: there lie the tiles. */
static void sort_kept (Job *j) {
  for (int i = 1; i < j->nkept; i++)
    for (int k = i; k > 0 && j->kept[k].in > j->kept[k - 1].in; k--) {
      Dim t = j->kept[k];
      j->kept[k] = j->kept[k - 1];
      j->kept[k - 1] = t;
    }
}

static void job_init (Job *j, DtReduce f, const DtScalar *p,
                      const DtTensor *a, uint32_t dims, const DtTensor *out) {
  j->f = f;
  j->p = p == NULL ? (f == DT_RED_NORM ? 2 : f == DT_RED_VAR ||
                      f == DT_RED_STD ? 1 : 0)
                   : p[0].kind < DT_K_FLOAT ? (double)p[0].i : p[0].re;
  j->in_t = (DtDtype)a->m.dtype;
  j->out_t = (DtDtype)out->m.dtype;
  j->cl = class_for(f, j->in_t, j->out_t);
  j->nkept = j->nred = 0;
  j->len = 1;
  int64_t ies = (int64_t)dt_dtype_size(j->in_t);
  int64_t oes = (int64_t)dt_dtype_size(j->out_t);
  bool keeps = out->m.ndim == a->m.ndim;
  int o = 0;
  for (int d = 0; d < a->m.ndim; d++) {
    Dim x = {a->m.shape[d], a->m.stride[d] * ies, 0};
    if ((dims >> d) & 1) {
      j->len *= x.n;
      add_dim(j->red, &j->nred, x);
      o += keeps;
    } else {
      x.out = out->m.stride[o++] * oes;
      add_dim(j->kept, &j->nkept, x);
    }
  }
  if (j->nred == 0) j->red[j->nred++] = (Dim){1, 0, 0};
  sort_kept(j);
}

/* All outputs of one run of the innermost kept dim. */
static void job_run (const Job *j, const char *in, char *out) {
  if (j->nkept == 0) {
    tile(j, in, 0, 1, out, 0);
    return;
  }
  const Dim *k = &j->kept[j->nkept - 1];
  int64_t w = k->n >= 4 && k->in < j->red[j->nred - 1].in ? TILE : 1;
  for (int64_t i = 0; i < k->n; i += w) {
    int64_t n = k->n - i < w ? k->n - i : w;
    tile(j, in + i * k->in, k->in, n, out + i * k->out, k->out);
  }
}

DtStatus dt_k_reduce (DtCtx *cx, DtReduce f, const DtScalar *p,
                      const DtTensor *a, uint32_t dims, DtTensor *out) {
  void *o;
  const void *in = NULL;
  Job j;
  int64_t count[DT_MAX_NDIM] = {0};
  DT_TRY(cx, dt_kernel_data(cx, out, &o, 1, &a, &in));
  if (o == NULL) return DT_OK;
  job_init(&j, f, p, a, dims, out);
  if (in == NULL) {             /* nothing to reduce: walk the outputs only */
    for (int d = 0; d < j.nkept; d++) j.kept[d].in = 0;
    in = &j;
  }
  const char *ip = in;
  char *op = o;
  for (;;) {
    int d = j.nkept - 2;
    job_run(&j, ip, op);
    for (; d >= 0; d--) {
      ip += j.kept[d].in;
      op += j.kept[d].out;
      if (++count[d] < j.kept[d].n) break;
      count[d] = 0;
      ip -= j.kept[d].in * j.kept[d].n;
      op -= j.kept[d].out * j.kept[d].n;
    }
    if (d < 0) return DT_OK;
  }
}

double dt_sum_f64 (const double *v, int64_t n) {
  Job j = {.f = DT_RED_SUM, .cl = DT_CL_F64, .in_t = DT_F64, .nred = 1,
           .len = n, .red = {{n, 8, 0}}};
  double r;
  f64_along(&j, (const char *)v, M_ID, C_ADD, NULL, &r);
  return r;
}
