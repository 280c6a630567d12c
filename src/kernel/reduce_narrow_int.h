/* SPDX-License-Identifier: MIT
** kernel/reduce_narrow_int.h: the passes of reduce_int.h over floats of 32 and
** 16 bits as they lie in memory; reduce_int.h includes this once for each type.
** It defines S (the element), N(name), WIDEN(x) (an element as a float), and
** MAGNITUDE, MAG(x), MAG_INF: an integer that orders magnitudes, and the one
** above which there are NaNs.  No include guard.
**
** The order of operations is that of f64_along and f64_across, and so are the
** results but of quick sums (a lane in single precision).  Faster is that elements are widened in registers, and that a
** lane of a tile takes its sixteen rows of a chunk at once: the sixteen lanes
** of a tile do not fit the nearest cache, so they are written only once. */

#define ID(x) ((double)WIDEN(x))
#define SQUARE(x) (ID(x) * ID(x))
#define DEV2(x) ((ID(x) - mean) * (ID(x) - mean))
#define QID(x) WIDEN(x)
#define QSQUARE(x) (WIDEN(x) * WIDEN(x))
#define QDEV2(x) ((WIDEN(x) - qmean) * (WIDEN(x) - qmean))

/* May the sixteen elements of a lane be added in single precision? */
static bool N(quick) (const DtRedPass *q) {
  return sizeof(S) == 2 && q->c == DT_C_ADD &&
         dt_dtype_size(q->j->out_t) == 2;
}

static double N(tree) (double *lane) {
  LANE_TREE(add, F64)
  return lane[0];
}

#if defined(IN_WORDS)
/* Whole chunks of bf16, two elements a word: the same operations, on lanes
** 0, 2, 4... and 1, 3, 5... apart. */
enum { WORD_LANES = RED_LANES / 2 };
#define WORD(OP, E, k) { \
    const uint32_t w = word_at(v, (k) * WORD_LANES + l); \
    a = OP(a, E(word_low(w))); \
    b = OP(b, E(word_high(w))); \
  }
#define WORDS4(OP, E, k) \
  WORD(OP, E, k) WORD(OP, E, (k) + 1) WORD(OP, E, (k) + 2) WORD(OP, E, (k) + 3)
#define WORD_STEPS(OP, E) \
  for (int l = 0; l < WORD_LANES; l++) { \
    float a = low[l], b = high[l]; \
    WORDS4(OP, E, 0) WORDS4(OP, E, 4) WORDS4(OP, E, 8) WORDS4(OP, E, 12) \
    low[l] = a; \
    high[l] = b; \
  }
#define WORD_ID(x) (x)
#define WORD_SQUARE(x) ((x) * (x))
#define WORD_DEV2(x) (((x) - qmean) * ((x) - qmean))

static double quick_words (DtMap m, float qmean, const uint16_t *v) {
  float low[WORD_LANES] = {0}, high[WORD_LANES] = {0};
  double p[4], q[4];
  if (m == DT_M_ID) { WORD_STEPS(narrow_add, WORD_ID) }
  else if (m == DT_M_SQUARE) { WORD_STEPS(narrow_add, WORD_SQUARE) }
  else { WORD_STEPS(narrow_add, WORD_DEV2) }
  for (int l = 0; l < 4; l++) {
    p[l] = (double)low[l] + (double)low[l + 4];
    q[l] = (double)high[l] + (double)high[l + 4];
  }
  return ((p[0] + p[2]) + (p[1] + p[3])) + ((q[0] + q[2]) + (q[1] + q[3]));
}

/* The first of equals wins, as it does lane by lane (0 and -0). */
#define TREE_OF(OP) { \
    float a[4], b[4]; \
    for (int l = 0; l < 4; l++) a[l] = OP(low[l], low[l + 4]); \
    for (int l = 0; l < 4; l++) b[l] = OP(high[l], high[l + 4]); \
    return OP(OP(OP(a[0], a[2]), OP(a[1], a[3])), \
              OP(OP(b[0], b[2]), OP(b[1], b[3]))); \
  }
static float extreme_words (DtComb c, const uint16_t *v) {
  float low[WORD_LANES], high[WORD_LANES], id = (float)f64_identity(c);
  for (int l = 0; l < WORD_LANES; l++) low[l] = high[l] = id;
  if (c == DT_C_MAX) { WORD_STEPS(narrow_top, WORD_ID) TREE_OF(narrow_top) }
  WORD_STEPS(narrow_bottom, WORD_ID)
  TREE_OF(narrow_bottom)
}
#undef WORD
#undef WORDS4
#undef WORD_STEPS
#undef WORD_ID
#undef WORD_SQUARE
#undef WORD_DEV2
#undef TREE_OF
#endif

/* One chunk of a sum. */
static double N(quick_chunk) (DtMap m, float qmean, const S *v, int64_t n) {
  float lane[RED_LANES] = {0};
  double wide[RED_LANES];
#if defined(IN_WORDS)
  if (n == RED_CHUNK) return quick_words(m, qmean, v);
#endif
  if (m == DT_M_ID) { LANE_STEPS(add, float, NARROW, QID) }
  else if (m == DT_M_SQUARE) { LANE_STEPS(add, float, NARROW, QSQUARE) }
  else { LANE_STEPS(add, float, NARROW, QDEV2) }
  for (int l = 0; l < RED_LANES; l++) wide[l] = lane[l];
  return N(tree)(wide);
}

/* One chunk of one output: sums and products. */
static double N(chunk) (DtMap m, DtComb c, double mean, const S *v,
                        int64_t n) {
  double lane[RED_LANES], id = f64_identity(c);
  for (int l = 0; l < RED_LANES; l++) lane[l] = id;
  if (c == DT_C_MUL) { LANE_LOOP(mul, double, F64, ID) }
  else if (m == DT_M_ID) { LANE_LOOP(add, double, F64, ID) }
  else if (m == DT_M_SQUARE) { LANE_LOOP(add, double, F64, SQUARE) }
  else { LANE_LOOP(add, double, F64, DEV2) }
  return lane[0];
}

/* Extremes need no more than a float.  A NaN is looked for apart, as the
** greatest of all magnitudes. */
static double N(extreme) (DtComb c, const S *v, int64_t n) {
  float lane[RED_LANES], id = (float)f64_identity(c);
  MAGNITUDE most = 0;
  for (int64_t k = 0; k < n; k++) {
    const MAGNITUDE mag = MAG(v[k]);
    most = mag > most ? mag : most;
  }
#if defined(IN_WORDS)
  if (n == RED_CHUNK)
    return most > MAG_INF ? (double)NAN : (double)extreme_words(c, v);
#endif
  for (int l = 0; l < RED_LANES; l++) lane[l] = id;
  if (c == DT_C_MAX) { LANE_LOOP(top, float, NARROW, WIDEN) }
  else { LANE_LOOP(bottom, float, NARROW, WIDEN) }
  return most > MAG_INF ? (double)NAN : (double)lane[0];
}

static void N(along) (const DtRedPass *q) {
  S buf[RED_CHUNK];
  double level[DT_RED_LEVELS], r = f64_identity(q->c);
  double mean = q->aux != NULL ? *(const double *)q->aux : 0;
  const DtRedDim *in = &q->j->red[q->j->nred - 1];
  bool dense = q->j->nred == 1 && in->in == (int64_t)sizeof(S);
  bool extreme = q->c == DT_C_MAX || q->c == DT_C_MIN, quick = N(quick)(q);
  int64_t chunk = 0, len = q->j->len;
  Seq at;
  seq_init(&at, q->j, q->p);
  for (int64_t i = 0; i < len; i += RED_CHUNK, chunk++) {
    int64_t n = len - i < RED_CHUNK ? len - i : RED_CHUNK;
    const S *v = dense ? (const S *)(const void *)q->p + i : buf;
    if (!dense) seq_move(&at, sizeof(S), buf, n);
    double one = extreme ? N(extreme)(q->c, v, n)
                 : quick ? N(quick_chunk)(q->m, (float)mean, v, n)
                         : N(chunk)(q->m, q->c, mean, v, n);
    int up = 0;
    for (; (chunk >> up) & 1; up++) f64_fold1(q->c, &one, level[up]);
    level[up] = one;
  }
  for (int up = 0; up < DT_RED_LEVELS; up++)
    if ((chunk >> up) & 1) f64_fold1(q->c, &r, level[up]);
  *(double *)q->acc = r;
}

/* ---- tiles ---- */

#define ROW(k) (((const S *)(const void *)row[(k) * RED_LANES])[i])
#define ROWS4(op, E, k) \
  a = F64(op)(F64(op)(F64(op)(F64(op)(a, E(ROW(k))), E(ROW((k) + 1))), \
                      E(ROW((k) + 2))), E(ROW((k) + 3)));
/* A lane of a whole chunk: rows 0, 16, ... 240 of `row`. */
#define LANE_ROWS(op, E, MEAN) \
  DT_IVDEP for (int64_t i = 0; i < w; i++) { \
    double a = id; \
    MEAN \
    ROWS4(op, E, 0) ROWS4(op, E, 4) ROWS4(op, E, 8) ROWS4(op, E, 12) \
    lane[i] = a; \
  }
#define QROWS4(E, k) \
  a = a + E(ROW(k)) + E(ROW((k) + 1)) + E(ROW((k) + 2)) + E(ROW((k) + 3));
#define QUICK_ROWS(E, MEAN) \
  DT_IVDEP for (int64_t i = 0; i < w; i++) { \
    float a = 0; \
    MEAN \
    QROWS4(E, 0) QROWS4(E, 4) QROWS4(E, 8) QROWS4(E, 12) \
    lane[i] = a; \
  }
/* One row of a chunk that is not whole. */
#define QUICK_ROW(E, MEAN) \
  DT_IVDEP for (int64_t i = 0; i < w; i++) { \
    MEAN \
    lane[i] = (float)lane[i] + E(ROW(0)); \
  }
#define QUICK(F) \
  switch (q->m) { \
    case DT_M_SQUARE: F(QSQUARE, ) return; \
    case DT_M_DEV2: F(QDEV2, const float qmean = (float)aux[i];) return; \
    default: F(QID, ) return; \
  }
#define LANE_ROW(op, E, MEAN) \
  DT_IVDEP for (int64_t i = 0; i < w; i++) { \
    MEAN \
    lane[i] = F64(op)(lane[i], E(ROW(0))); \
  }
#define BY_OP(F) \
  switch (q->c) { \
    case DT_C_MUL: F(mul, ID, ) return; \
    case DT_C_MAX: F(max, ID, ) return; \
    case DT_C_MIN: F(min, ID, ) return; \
    case DT_C_ADD: break; \
  } \
  switch (q->m) { \
    case DT_M_SQUARE: F(add, SQUARE, ) return; \
    case DT_M_DEV2: F(add, DEV2, const double mean = aux[i];) return; \
    default: F(add, ID, ) return; \
  }

static void N(lane_rows) (const DtRedPass *q, double *lane,
                          const char *const *row) {
  const double *aux = q->aux;
  const double id = f64_identity(q->c);
  const int64_t w = q->w;
  if (N(quick)(q)) QUICK(QUICK_ROWS)
  BY_OP(LANE_ROWS)
}

static void N(lane_row) (const DtRedPass *q, double *lane,
                         const char *const *row) {
  const double *aux = q->aux;
  const int64_t w = q->w;
  if (N(quick)(q)) QUICK(QUICK_ROW)
  BY_OP(LANE_ROW)
}

static void N(across) (const DtRedPass *q) {
  f64_Pass s;
  const char *row[RED_CHUNK];
  Seq at;
  int64_t chunk = 0, len = q->j->len;
  seq_init(&at, q->j, q->p);
  for (int64_t i = 0; i < len; i += RED_CHUNK, chunk++) {
    int64_t n = len - i < RED_CHUNK ? len - i : RED_CHUNK;
    for (int64_t k = 0; k < n; k++) row[k] = seq_next(&at);
    if (n == RED_CHUNK) {
      for (int l = 0; l < RED_LANES; l++)
        N(lane_rows)(q, s.lane[l], row + l);
    } else {
      f64_clear(&s, q->c, q->w);
      for (int64_t k = 0; k < n; k++) {
        if (k + AHEAD < n) prefetch(row[k + AHEAD], q->step * q->w);
        N(lane_row)(q, s.lane[k % RED_LANES], row + k);
      }
    }
    f64_carry(&s, q->c, chunk, q->w);
  }
  f64_finish(&s, q->c, chunk, q->acc, q->w);
}

/* Is this pass one of these?  Tiles are of elements side by side. */
static bool N(takes) (const DtRedPass *q, bool along) {
  bool plain = q->m == DT_M_ID ||
               (q->c == DT_C_ADD && (q->m == DT_M_SQUARE || q->m == DT_M_DEV2));
  return plain && (along || q->step == (int64_t)sizeof(S));
}

#undef ID
#undef QID
#undef QSQUARE
#undef QDEV2
#undef QROWS4
#undef QUICK_ROWS
#undef QUICK_ROW
#undef QUICK
#undef MAGNITUDE
#undef MAG
#undef MAG_INF
#undef SQUARE
#undef DEV2
#undef ROW
#undef ROWS4
#undef LANE_ROWS
#undef LANE_ROW
#undef BY_OP
#undef S
#undef N
#undef WIDEN
#undef IN_WORDS
