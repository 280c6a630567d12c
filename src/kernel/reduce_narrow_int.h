/* SPDX-License-Identifier: MIT
** kernel/reduce_narrow_int.h: the passes of reduce_int.h over floats of 32 and
** 16 bits as they lie in memory; reduce_int.h includes this once for each type.
** It defines S (the element), N(name), WIDEN(x) (an element as a float), and
** MAGNITUDE, MAG(x), MAG_INF: an integer that orders magnitudes, and the one
** above which there are NaNs.  No include guard.
**
** The order of operations is that of f64_along and f64_across, and so are the
** results.  Faster is that elements are widened in registers, and that a lane of
** a tile takes its sixteen rows of a chunk at once: the sixteen lanes of a tile
** do not fit the nearest cache, so they are written only once. */

#define ID(x) ((double)WIDEN(x))
#define SQUARE(x) (ID(x) * ID(x))
#define DEV(x) (ID(x) - mean)
#define DEV2(x) (DEV(x) * DEV(x))

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

/* Sums of elements and of their squares, which are exact. */
static double N(spread) (const S *v, int64_t n, double *squares) {
#if defined(WIDE)
  if (n == RED_CHUNK) return wide_spread(v, squares);
#endif
  *squares = N(chunk)(DT_M_SQUARE, DT_C_ADD, 0, v, n);
  return N(chunk)(DT_M_ID, DT_C_ADD, 0, v, n);
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
  for (int l = 0; l < RED_LANES; l++) lane[l] = id;
  if (c == DT_C_MAX) { LANE_LOOP(top, float, NARROW, WIDEN) }
  else { LANE_LOOP(bottom, float, NARROW, WIDEN) }
  return most > MAG_INF ? (double)NAN : (double)lane[0];
}

static void N(along) (const DtRedPass *q) {
  S buf[RED_CHUNK];
  double level[DT_RED_LEVELS], more[DT_RED_LEVELS];
  double mean = q->aux != NULL ? *(const double *)q->aux : 0, *acc = q->acc;
  const DtRedDim *in = &q->j->red[q->j->nred - 1];
  bool dense = q->j->nred == 1 && in->in == (int64_t)sizeof(S);
  bool extreme = q->c == DT_C_MAX || q->c == DT_C_MIN;
  int64_t chunk = 0, len = q->j->len;
  Seq at;
  seq_init(&at, q->j, q->p);
  for (int64_t i = 0; i < len; i += RED_CHUNK, chunk++) {
    int64_t n = len - i < RED_CHUNK ? len - i : RED_CHUNK;
    const S *v = dense ? (const S *)(const void *)q->p + i : buf;
    if (!dense) seq_move(&at, sizeof(S), buf, n);
    if (q->m == DT_M_SPREAD) {
      double squares, sum = N(spread)(v, n, &squares);
      levels_fold(DT_C_ADD, level, chunk, sum);
      levels_fold(DT_C_ADD, more, chunk, squares);
      continue;
    }
    levels_fold(q->c, level, chunk,
                extreme ? N(extreme)(q->c, v, n)
                        : N(chunk)(q->m, q->c, mean, v, n));
  }
  acc[0] = levels_end(q->c, level, chunk);
  if (q->m == DT_M_SPREAD) acc[q->w] = levels_end(DT_C_ADD, more, chunk);
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
    case DT_M_SPREAD: \
      F(add, ID, ) \
      lane += w; \
      F(add, SQUARE, ) \
      return; \
    default: F(add, ID, ) return; \
  }

static void N(lane_rows) (const DtRedPass *q, double *lane,
                          const char *const *row) {
  const double *aux = q->aux;
  const double id = f64_identity(q->c);
  const int64_t w = q->w;
#if defined(WIDE)
  if (q->c == DT_C_ADD && (q->m == DT_M_ID || q->m == DT_M_SPREAD)) {
    wide_rows(q->m == DT_M_SPREAD, lane, row, w);
    return;
  }
#endif
  BY_OP(LANE_ROWS)
}

static void N(lane_row) (const DtRedPass *q, double *lane,
                         const char *const *row) {
  const double *aux = q->aux;
  const int64_t w = q->w;
  BY_OP(LANE_ROW)
}

static void N(across) (const DtRedPass *q) {
  f64_Pass s;
  const char *row[RED_CHUNK];
  Seq at;
  int64_t chunk = 0, len = q->j->len;
  const int64_t wide = q->m == DT_M_SPREAD ? 2 * q->w : q->w;
  seq_init(&at, q->j, q->p);
  for (int64_t i = 0; i < len; i += RED_CHUNK, chunk++) {
    int64_t n = len - i < RED_CHUNK ? len - i : RED_CHUNK;
    for (int64_t k = 0; k < n; k++) row[k] = seq_next(&at);
    if (n == RED_CHUNK) {
      for (int l = 0; l < RED_LANES; l++)
        N(lane_rows)(q, s.lane[l], row + l);
    } else {
      f64_clear(&s, q->c, wide);
      for (int64_t k = 0; k < n; k++) {
        if (k + AHEAD < n) prefetch(row[k + AHEAD], q->step * q->w);
        N(lane_row)(q, s.lane[k % RED_LANES], row + k);
      }
    }
    f64_carry(&s, q->c, chunk, wide);
  }
  f64_finish(&s, q->c, chunk, q->acc, wide);
}

/* Is this pass one of these?  Tiles are of elements side by side. */
static bool N(takes) (const DtRedPass *q, bool along) {
  bool plain = q->m == DT_M_ID ||
               (q->c == DT_C_ADD && (q->m == DT_M_SQUARE || q->m == DT_M_DEV2 ||
                                     q->m == DT_M_SPREAD));
  return plain && (along || q->step == (int64_t)sizeof(S));
}

#undef ID
#undef SQUARE
#undef DEV
#undef DEV2
#undef ROW
#undef ROWS4
#undef LANE_ROWS
#undef LANE_ROW
#undef BY_OP
