/* SPDX-License-Identifier: MIT
** kernel/cascade_int.h: sums of floats in PyTorch's order, for loops_int.h;
** which elements are summed is cascade.c's business.  No include guard.
**
** Four sums run side by side.  A block of each is added up by itself, at least
** sixteen elements; sums of blocks are carried over three more levels, each of
** as many sums of the one below.  A side is a vector of 32 bytes where the
** elements of one output, or those of neighbouring outputs, lie side by side;
** the lanes are the same for every instruction set, and so are the results. */

enum {
  CASCADE_SIDES = 4, CASCADE_LEVELS = 4, CASCADE_BYTES = 32,
  CASCADE_GROUPS = 16
};

/* The elements of a block, as a power of two: such that sums of n elements are
** spread evenly over the levels. */
static int cascade_power (int64_t n) {
  int bits = 1;
  while (n > 2 && (n - 1) >> bits != 0) bits++;
  return bits / CASCADE_LEVELS > 4 ? bits / CASCADE_LEVELS : 4;
}

#define CASCADE_TAKE(k) \
  memcpy(&v, q + (k) * step, sizeof v); \
  s##k += v;
#define CASCADE_STEP \
  CASCADE_TAKE(0) CASCADE_TAKE(1) CASCADE_TAKE(2) CASCADE_TAKE(3) \
  q += row;

/* sum[4 g + k] = q[k * step] + q[k * step + row] + ... (n of them), where
** q = p + 4 g step, for g < groups; `row` and `step` in bytes, V a float or a
** vector of them.  Groups take turns by blocks of rows: down all rows for one
** and then the next would come back to each page of memory for a few lines. */
#define DEFINE_SIDES(V, NAME, GROUPS) \
static inline void NAME (const char *p, int64_t row, int64_t step, int64_t n, \
                         int groups, V *sum) { \
  V level[GROUPS][CASCADE_LEVELS][CASCADE_SIDES], v; \
  const int power = n < 16 ? 4 : cascade_power(n); \
  const int64_t block = INT64_C(1) << power, next = CASCADE_SIDES * step; \
  int64_t at = 0; \
  if (n >= block) memset(level, 0, (size_t)groups * sizeof level[0]); \
  for (; at + block <= n; at += block) { \
    for (int g = 0; g < groups; g++) { \
      V s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, (*l)[CASCADE_SIDES] = level[g]; \
      const char *q = p; \
      for (int64_t i = 0; i < block; i++) { CASCADE_STEP } \
      l[1][0] += s0; l[1][1] += s1; l[1][2] += s2; l[1][3] += s3; \
      for (int j = 2; j < CASCADE_LEVELS; j++) { \
        if (((at + block) & ((block - 1) << ((j - 1) * power))) != 0) break; \
        for (int k = 0; k < CASCADE_SIDES; k++) l[j][k] += l[j - 1][k]; \
        memset(l[j - 1], 0, sizeof l[j - 1]); \
      } \
      p += next; \
    } \
    p += block * row - groups * next; \
  } \
  for (int g = 0; g < groups; g++, p += next, sum += CASCADE_SIDES) { \
    V s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}; \
    const char *q = p; \
    for (int64_t i = at; i < n; i++) { CASCADE_STEP } \
    sum[0] = s0; sum[1] = s1; sum[2] = s2; sum[3] = s3; \
    for (int j = 1; n >= block && j < CASCADE_LEVELS; j++) \
      for (int k = 0; k < CASCADE_SIDES; k++) sum[k] += level[g][j][k]; \
  } \
}
/* *sum = p[0] + p[step] + ... (n of them): element i on side i mod 4. */
#define DEFINE_LINE(V, NAME, SIDES) \
static void NAME (const char *p, int64_t step, int64_t n, V *sum) { \
  V s[CASCADE_SIDES], v; \
  int64_t i = n / CASCADE_SIDES * CASCADE_SIDES; \
  SIDES(p, step * CASCADE_SIDES, step, n / CASCADE_SIDES, 1, s); \
  for (; i < n; i++) { \
    memcpy(&v, p + i * step, sizeof v); \
    s[0] += v; \
  } \
  s[0] += s[1]; \
  s[0] += s[2]; \
  s[0] += s[3]; \
  *sum = s[0]; \
}

#define DEFINE_CASCADE(T, N) \
typedef T N(Vec) __attribute__((vector_size(CASCADE_BYTES))); \
enum { N(LANES) = CASCADE_BYTES / sizeof(T) }; \
DEFINE_SIDES(T, N(sides), 1) \
DEFINE_SIDES(N(Vec), N(vec_sides), CASCADE_GROUPS) \
DEFINE_LINE(T, N(line), N(sides)) \
DEFINE_LINE(N(Vec), N(vec_line), N(vec_sides)) \
/* out[0..n) += v[0..n) */ \
static void N(put) (const DtCascade *c, int64_t at, const void *v, int64_t n) { \
  const T *x = v; \
  for (int64_t k = 0; k < n; k++) \
    *(T *)(void *)(c->out + (at + k) * c->out1) += x[k]; \
} \
/* Elements of each output side by side. */ \
static void N(inner) (const DtCascade *c) { \
  const int64_t es = sizeof(T), vecs = c->n0 / N(LANES); \
  for (int64_t j = 0; j < c->n1; j++) { \
    const char *p = c->in + j * c->in1; \
    N(Vec) s; \
    T lane[N(LANES)], v, sum = 0; \
    N(vec_line)(p, CASCADE_BYTES, vecs, &s); \
    for (int64_t k = vecs * N(LANES); k < c->n0; k++) { \
      memcpy(&v, p + k * es, sizeof v); \
      sum += v; \
    } \
    memcpy(lane, &s, sizeof lane); \
    for (int k = 0; k < N(LANES); k++) sum += lane[k]; \
    N(put)(c, j, &sum, 1); \
  } \
} \
/* Those of neighbouring outputs. */ \
static void N(outer) (const DtCascade *c) { \
  const int64_t es = sizeof(T), wide = CASCADE_SIDES * N(LANES); \
  N(Vec) s[CASCADE_GROUPS * CASCADE_SIDES]; \
  T one; \
  int64_t j = 0, groups = c->n1 / wide; \
  for (int64_t g; groups > 0; groups -= g, j += g * wide) { \
    g = groups < CASCADE_GROUPS ? groups : CASCADE_GROUPS; \
    N(vec_sides)(c->in + j * es, c->in0, CASCADE_BYTES, c->n0, (int)g, s); \
    N(put)(c, j, s, g * wide); \
  } \
  for (; j + N(LANES) <= c->n1; j += N(LANES)) { \
    N(vec_line)(c->in + j * es, c->in0, c->n0, s); \
    N(put)(c, j, s, N(LANES)); \
  } \
  for (; j < c->n1; j++) { \
    N(line)(c->in + j * es, c->in0, c->n0, &one); \
    N(put)(c, j, &one, 1); \
  } \
} \
/* Neither: one output after the other, or four at a time where they are \
** nearer to each other than the elements of one. */ \
static void N(apart) (const DtCascade *c) { \
  T s[CASCADE_SIDES]; \
  int64_t j = 0; \
  for (; c->in0 >= c->in1 && j + CASCADE_SIDES <= c->n1; j += CASCADE_SIDES) { \
    N(sides)(c->in + j * c->in1, c->in0, c->in1, c->n0, 1, s); \
    N(put)(c, j, s, CASCADE_SIDES); \
  } \
  for (; j < c->n1; j++) { \
    N(line)(c->in + j * c->in1, c->in0, c->n0, s); \
    N(put)(c, j, s, 1); \
  } \
} \
static void N(cascade) (const DtCascade *c) { \
  if (c->in0 == (int64_t)sizeof(T) && c->n0 >= N(LANES)) N(inner)(c); \
  else if (c->in1 == (int64_t)sizeof(T) && c->n1 >= N(LANES)) N(outer)(c); \
  else N(apart)(c); \
}

#define CF32(name) cf32_##name
#define CF64(name) cf64_##name
DEFINE_CASCADE(float, CF32)
DEFINE_CASCADE(double, CF64)

static void cascade (const DtCascade *c) {
  if (c->t == DT_F32) cf32_cascade(c);
  else cf64_cascade(c);
}
