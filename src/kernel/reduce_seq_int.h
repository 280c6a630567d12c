/* SPDX-License-Identifier: MIT
** kernel/reduce_seq_int.h: walking the elements that are reduced to one output,
** in row-major order, for reduce_int.h.  No include guard. */

typedef struct Seq {
  const DtRedJob *j;
  const char *p;
  int64_t count[DT_MAX_NDIM];
  int64_t at;                   /* within the innermost run */
} Seq;

static void seq_init (Seq *s, const DtRedJob *j, const char *p) {
  s->j = j;
  s->p = p;
  s->at = 0;
  memset(s->count, 0, sizeof s->count);
}

/* Step to the next run of the reduced dims (all but the innermost). */
static void seq_carry (Seq *s) {
  s->at = 0;
  for (int d = s->j->nred - 2; d >= 0; d--) {
    const DtRedDim *r = &s->j->red[d];
    s->p += r->in;
    if (++s->count[d] < r->n) return;
    s->count[d] = 0;
    s->p -= r->in * r->n;
  }
}

/* The next n elements into buf, as elements of a class. */
static void seq_load (Seq *s, DtClass c, void *buf, int64_t n) {
  const DtRedDim *r = &s->j->red[s->j->nred - 1];
  size_t size = dt_class_size(c);
  char *out = buf;
  while (n > 0) {
    int64_t k = r->n - s->at < n ? r->n - s->at : n;
    run_load(c, out, s->j->in_t, s->p + s->at * r->in, r->in, k);
    out += (size_t)k * size;
    s->at += k;
    n -= k;
    if (s->at == r->n) seq_carry(s);
  }
}

/* The next n elements of `size` bytes as they are. */
static void seq_move (Seq *s, size_t size, void *buf, int64_t n) {
  const DtRedDim *r = &s->j->red[s->j->nred - 1];
  char *out = buf;
  while (n > 0) {
    int64_t k = r->n - s->at < n ? r->n - s->at : n;
    dt_run_move(size, out, (int64_t)size, s->p + s->at * r->in, r->in, k);
    out += (size_t)k * size;
    s->at += k;
    n -= k;
    if (s->at == r->n) seq_carry(s);
  }
}

/* The same walk, one position at a time. */
static const char *seq_next (Seq *s) {
  const DtRedDim *r = &s->j->red[s->j->nred - 1];
  const char *p = s->p + s->at * r->in;
  if (++s->at == r->n) seq_carry(s);
  return p;
}
