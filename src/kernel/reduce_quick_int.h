/* SPDX-License-Identifier: MIT
** kernel/reduce_quick_int.h: sums of 16-bit floats that end in 16 bits, and
** extremes of lines of them; reduce_int.h includes this once for each type,
** after reduce_narrow_int.h, and defines N(name), WIDEN(x), MAG_INF (infinity's
** bits), LOW(w), HIGH(w), the floats of a word of two, and WIDE where
** reduce_wide_int.h has passes over them.  No include guard.
**
** A quick sum has an order of its own: chunks of 512 elements, element i into
** lane i mod 32, where sixteen are added in single precision; the lanes are
** combined in double: i with i + 1, then halves; chunks like those of
** reduce_int.h.  Two elements are read a word; lanes (and the columns of a tile)
** follow the order of these: first those of lower halves. */

#define Q_ID(a, x, m) ((a) + (x))
#define Q_SQUARE(a, x, m) fma_f32(x, x, a)
#define Q_DEV2(a, x, m) fma_f32((x) - (m), (x) - (m), a)
#define SIXTEEN(F, E) \
  F(E, 0) F(E, 1) F(E, 2) F(E, 3) F(E, 4) F(E, 5) F(E, 6) F(E, 7) \
  F(E, 8) F(E, 9) F(E, 10) F(E, 11) F(E, 12) F(E, 13) F(E, 14) F(E, 15)
#define ONCE(F, E) F(E, 0)
#define BEGUN(x) (x)
#define ANEW(x) 0
#define TAKE(E, w) { \
    const uint32_t w_ = (w); \
    a = E(a, LOW(w_), p); \
    b = E(b, HIGH(w_), q); \
  }
#define TAKE_SPREAD(w) { \
    const uint32_t w_ = (w); \
    const float x = LOW(w_), y = HIGH(w_); \
    a += x; \
    b += y; \
    c = fma_f32(x, x, c); \
    d = fma_f32(y, y, d); \
  }

/* ---- along memory ---- */

#define AT(E, k) TAKE(E, word_at(v, (k) * QUICK_WORDS + l))
#define AT_SPREAD(E, k) TAKE_SPREAD(word_at(v, (k) * QUICK_WORDS + l))
#define LANES(E, FROM, STEPS) \
  for (int l = 0; l < QUICK_WORDS; l++) { \
    float a = FROM(lane[l]), b = FROM(lane[l + QUICK_WORDS]); \
    STEPS(AT, E) \
    lane[l] = a; \
    lane[l + QUICK_WORDS] = b; \
  }
#define DEFINE_LANES(NAME, FROM, STEPS) \
static void NAME (DtMap m, float mean, const uint16_t *v, float *lane, \
                  float *more) { \
  const float p = mean, q = mean; \
  switch (m) { \
    case DT_M_SQUARE: LANES(Q_SQUARE, FROM, STEPS) return; \
    case DT_M_DEV2: LANES(Q_DEV2, FROM, STEPS) return; \
    case DT_M_SPREAD: \
      for (int l = 0; l < QUICK_WORDS; l++) { \
        float a = FROM(lane[l]), b = FROM(lane[l + QUICK_WORDS]); \
        float c = FROM(more[l]), d = FROM(more[l + QUICK_WORDS]); \
        STEPS(AT_SPREAD, ) \
        lane[l] = a; \
        lane[l + QUICK_WORDS] = b; \
        more[l] = c; \
        more[l + QUICK_WORDS] = d; \
      } \
      return; \
    default: LANES(Q_ID, FROM, STEPS) return; \
  } \
}
/* A whole chunk, and 32 elements of one. */
DEFINE_LANES(N(quick_whole), ANEW, SIXTEEN)
DEFINE_LANES(N(quick_step), BEGUN, ONCE)

static void N(quick_part) (DtMap m, float mean, const uint16_t *v, int64_t n,
                           float *lane, float *more) {
  for (int l = 0; l < QUICK_LANES; l++) lane[l] = more[l] = 0;
  for (; n >= QUICK_LANES; n -= QUICK_LANES, v += QUICK_LANES)
    N(quick_step)(m, mean, v, lane, more);
  for (int64_t k = 0; k < n; k++) {
    const int64_t at = k / 2 + k % 2 * QUICK_WORDS;
    const float x = WIDEN(v[k]);
    lane[at] = m == DT_M_SQUARE ? Q_SQUARE(lane[at], x, 0)
               : m == DT_M_DEV2 ? Q_DEV2(lane[at], x, mean) : lane[at] + x;
    more[at] = Q_SQUARE(more[at], x, 0);
  }
}

static void N(quick_along) (const DtRedPass *q) {
  uint16_t buf[QUICK_CHUNK];
  float lane[QUICK_LANES], more[QUICK_LANES];
  double level[2][DT_RED_LEVELS];
  const float mean = q->aux != NULL ? (float)*(const double *)q->aux : 0;
  const DtRedDim *in = &q->j->red[q->j->nred - 1];
  bool dense = q->j->nred == 1 && in->in == (int64_t)sizeof *buf;
  int64_t chunk = 0, len = q->j->len;
  const int both = q->m == DT_M_SPREAD ? 2 : 1;
  Seq at;
  seq_init(&at, q->j, q->p);
  for (int64_t i = 0; i < len; i += QUICK_CHUNK, chunk++) {
    int64_t n = len - i < QUICK_CHUNK ? len - i : QUICK_CHUNK;
    const uint16_t *v = dense ? (const uint16_t *)(const void *)q->p + i : buf;
    if (!dense) seq_move(&at, sizeof *buf, buf, n);
    if (n == QUICK_CHUNK) N(quick_whole)(q->m, mean, v, lane, more);
    else N(quick_part)(q->m, mean, v, n, lane, more);
    for (int k = 0; k < both; k++)
      levels_fold(DT_C_ADD, level[k], chunk, quick_tree(k == 0 ? lane : more));
  }
  for (int k = 0; k < both; k++)
    ((double *)q->acc)[k * q->w] = levels_end(DT_C_ADD, level[k], chunk);
}

/* ---- tiles: 2h columns ---- */

#define ROW_AT(E, k) TAKE(E, word_at(row[(k) * QUICK_LANES], i))
#define ROW_SPREAD(E, k) TAKE_SPREAD(word_at(row[(k) * QUICK_LANES], i))
#define COLUMNS(E, FROM, STEPS) \
  DT_IVDEP for (int64_t i = 0; i < h; i++) { \
    const float p = mean[i], q = mean[h + i]; \
    float a = FROM(lane[i]), b = FROM(lane[h + i]); \
    (void)p; (void)q; \
    STEPS(ROW_AT, E) \
    lane[i] = a; \
    lane[h + i] = b; \
  }
#define COLUMNS_SPREAD(FROM, STEPS) \
  DT_IVDEP for (int64_t i = 0; i < h; i++) { \
    float a = FROM(lane[i]), b = FROM(lane[h + i]); \
    float c = FROM(lane[2 * h + i]), d = FROM(lane[3 * h + i]); \
    STEPS(ROW_SPREAD, ) \
    lane[i] = a; \
    lane[h + i] = b; \
    lane[2 * h + i] = c; \
    lane[3 * h + i] = d; \
  }
#define BY_MAP(FROM, STEPS) \
  switch (m) { \
    case DT_M_SQUARE: COLUMNS(Q_SQUARE, FROM, STEPS) return; \
    case DT_M_DEV2: COLUMNS(Q_DEV2, FROM, STEPS) return; \
    case DT_M_SPREAD: COLUMNS_SPREAD(FROM, STEPS) return; \
    default: COLUMNS(Q_ID, FROM, STEPS) return; \
  }

/* A lane of a whole chunk (rows 0, 32, ... of `row`), and one row of a lane. */
static void N(quick_rows) (DtMap m, const float *mean, float *lane,
                           const char *const *rows, int64_t h) {
  const uint16_t *row[QUICK_CHUNK];
#if defined(WIDE)
  if (m == DT_M_ID) {
    wide_words(lane, rows, h, rows[1] - rows[0]);
    return;
  }
#endif
  for (int k = 0; k < QUICK_CHUNK; k += QUICK_LANES)
    row[k] = (const uint16_t *)(const void *)rows[k];
  BY_MAP(ANEW, SIXTEEN)
}
static void N(quick_row) (DtMap m, const float *mean, float *lane,
                          const char *const *rows, int64_t h) {
  const uint16_t *const row[1] = {(const uint16_t *)(const void *)rows[0]};
  BY_MAP(BEGUN, ONCE)
}

static void N(quick_across) (const DtRedPass *q) {
  QuickPass s;
  const char *row[QUICK_CHUNK];
  const int64_t h = q->w / 2, len = q->j->len;
  const int64_t wide = q->m == DT_M_SPREAD ? 4 * h : 2 * h;
  const double *aux = q->aux;
  int64_t chunk = 0;
  Seq at;
  for (int64_t i = 0; i < h; i++) {
    s.mean[i] = aux != NULL ? (float)aux[2 * i] : 0;
    s.mean[h + i] = aux != NULL ? (float)aux[2 * i + 1] : 0;
  }
  seq_init(&at, q->j, q->p);
  for (int64_t i = 0; i < len; i += QUICK_CHUNK, chunk++) {
    int64_t n = len - i < QUICK_CHUNK ? len - i : QUICK_CHUNK;
    for (int64_t k = 0; k < n; k++) row[k] = seq_next(&at);
    if (n == QUICK_CHUNK) {
      for (int l = 0; l < QUICK_LANES; l++)
        N(quick_rows)(q->m, s.mean, s.lane[l], row + l, h);
    } else {
      memset(s.lane, 0, sizeof s.lane);
      for (int64_t k = 0; k < n; k++)
        N(quick_row)(q->m, s.mean, s.lane[k % QUICK_LANES], row + k, h);
    }
    quick_carry(&s, chunk, wide);
  }
  quick_finish(&s, chunk, q, h);
  if (q->w % 2 != 0) {          /* the last column by itself */
    DtRedPass one = *q;
    one.p += 2 * h * q->step;
    one.acc = (double *)q->acc + 2 * h;
    if (aux != NULL) one.aux = aux + 2 * h;
    N(quick_along)(&one);
  }
}

/* ---- extremes ---- */

/* False: zeros of both signs, of which the first counts. */
static bool N(ordered) (DtComb c, const uint16_t *v, int64_t n, double *r) {
  const uint16_t minus = 0x8000;
  const Extremes e = extremes_of(v, n);
  uint16_t best = e.least;
  if (c == DT_C_MAX) {
    if (e.top == 0 && e.most >= minus) return false;
    if (e.top >= 0) best = (uint16_t)e.top;
  } else {
    if (e.most == minus && e.least == 0) return false;
    if (e.most >= minus) best = e.most;
  }
  bool nan = e.top > MAG_INF || e.most > (minus | MAG_INF);
  *r = nan ? (double)NAN : (double)WIDEN(best);
  return n > 0;
}

static void N(line) (const DtRedPass *q) {
  const DtRedDim *in = &q->j->red[0];
  bool dense = q->j->nred == 1 && in->in == (int64_t)sizeof(uint16_t);
  bool extreme = q->c == DT_C_MAX || q->c == DT_C_MIN;
  if (!dense || !extreme ||
      !N(ordered)(q->c, (const uint16_t *)(const void *)q->p, q->j->len, q->acc))
    N(along)(q);
}

#undef Q_ID
#undef Q_SQUARE
#undef Q_DEV2
#undef SIXTEEN
#undef ONCE
#undef BEGUN
#undef ANEW
#undef TAKE
#undef TAKE_SPREAD
#undef AT
#undef AT_SPREAD
#undef LANES
#undef DEFINE_LANES
#undef ROW_AT
#undef ROW_SPREAD
#undef COLUMNS
#undef COLUMNS_SPREAD
#undef COLUMNS_SPREAD
#undef BY_MAP
