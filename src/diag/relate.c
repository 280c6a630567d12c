/* SPDX-License-Identifier: MIT
** diag/relate.c: is a tensor of N ranks a split one-rank tensor, and how?
**
** Ranks are looked at as p groups of q, neighbours or every p-th, as a mesh of
** two dimensions orders them (q = N: one group).  The tensors of a group are
** copies, summed, or joined along a dimension; so are the groups.  What comes
** out is compared with the one-rank tensor, also up to a factor that counts
** ranks, since a mean over the parts is N times the part's share of the sum.
** Rows may have been given out in turn, or in an order that the data showed
** before: only exact rows teach an order, and only tensors of as many rows, or of
** some blocks of as many, are tried in it, so that a product of permuted rows needs
** no equal bits. */
#include "diag/relate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"

enum { MAX_ROWS = 4096, MAX_BLOCKS = 64 };

/* `n` elements from `p` on, `step` apart, as doubles.  The two formats that programs
** are full of have loops of their own: a large record is read several times. */
static void read_row (DtDtype t, const char *p, int64_t step, int64_t n, double *out) {
  const size_t size = dt_dtype_size(t);
  const bool is_float = dt_dtype_info(t)->kind == DT_K_FLOAT;
  if (t == DT_F32)
    for (int64_t k = 0; k < n; k++) {
      float x;
      memcpy(&x, p + k * step * (int64_t)sizeof x, sizeof x);
      out[k] = (double)x;
    }
  else if (t == DT_F64)
    for (int64_t k = 0; k < n; k++)
      memcpy(&out[k], p + k * step * (int64_t)sizeof *out, sizeof *out);
  else
    for (int64_t k = 0; k < n; k++) {
      const DtScalar x = dt_dtype_load(t, p + k * step * (int64_t)size);
      out[k] = is_float ? x.re : (double)x.i;
    }
}

static void read_complex_row (DtDtype t, const char *p, int64_t step, int64_t n,
                              double *out) {
  for (int64_t k = 0; k < n; k++) {
    const DtScalar x = dt_dtype_load(t, p + k * step * (int64_t)dt_dtype_size(t));
    out[2 * k] = x.re;
    out[2 * k + 1] = x.im;
  }
}

/* All rows of the last dimension, in order; each is checked against the block, since
** a record may come from a file. */
static bool read_rows (const DtRecVar *v, double *out, int each) {
  const DtDtype t = (DtDtype)v->meta->dtype;
  const int64_t held = (int64_t)(v->block->nbytes / dt_dtype_size(t));
  const int last = v->lndim - 1;
  const int64_t n = last < 0 ? 1 : v->lshape[last], step = last < 0 ? 1 : v->lstride[last];
  int64_t at[DT_MAX_NDIM] = {0}, off = v->offset, rows = 1, end;
  for (int d = 0; d < last; d++) rows *= v->lshape[d];
  for (int64_t row = 0; row < rows && n > 0; row++, out += n * each) {
    if (__builtin_mul_overflow(n - 1, step, &end) || __builtin_add_overflow(off, end, &end) ||
        off < 0 || end < 0 || off >= held || end >= held)
      return false;
    const char *from = (const char *)v->block->data + off * (int64_t)dt_dtype_size(t);
    if (each == 2) read_complex_row(t, from, step, n, out);
    else read_row(t, from, step, n, out);
    for (int d = last - 1; d >= 0; d--) {
      off += v->lstride[d];
      if (++at[d] < v->lshape[d])
        break;
      off -= at[d] * v->lstride[d];
      at[d] = 0;
    }
  }
  return true;
}

/* The elements of a recorded tensor in order, as doubles; complex ones as a last
** dimension of 2.  False: there is nothing to compare (no block, or damaged). */
bool dt_elements_read (DtCtx *cx, const DtRecVar *v, DtElements *out,
                       DtStatus *st) {
  DtDtype t = (DtDtype)v->meta->dtype;
  DtKind kind = dt_dtype_info(t)->kind;
  *st = DT_OK;
  const int each = kind == DT_K_COMPLEX ? 2 : 1;
  if (v->none || v->block == NULL || v->lndim + each > DT_MAX_NDIM)
    return false;
  *out = (DtElements){.ndim = v->lndim, .n = 1, .narrow = dt_dtype_size(t) < 4,
                      .whole = kind != DT_K_FLOAT && kind != DT_K_COMPLEX};
  for (int i = 0; i < v->lndim; i++)
    out->n *= out->shape[i] = v->lshape[i];
  if (each == 2)                /* both parts, in a dimension of their own */
    out->n *= out->shape[out->ndim++] = each;
  out->v = dt_arena_raw(cx, &cx->scratch,
                        (size_t)(out->n + 1) * sizeof *out->v);
  if (out->v == NULL)
    *st = DT_E_NOMEM;
  return *st == DT_OK && read_rows(v, out->v, each);
}

static bool same_shape (const DtElements *a, const DtElements *b) {
  return a->ndim == b->ndim &&
         (a->ndim == 0 ||
          memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0);
}

static bool is_equal (const DtElements *a, const DtElements *b) {
  return same_shape(a, b) &&
         (a->n == 0 || memcmp(a->v, b->v, (size_t)a->n * sizeof *a->v) == 0);
}

/* One question: what is compared with what, and the nearest so far. */
typedef struct Ask {
  DtCtx *cx;
  const DtElements *one;
  double near, size;
  double best;                  /* the smallest distance of all tried */
  DtStatus st;
} Ask;

static double largest (const DtElements *a) {
  double most = 0;
  for (int64_t i = 0; i < a->n; i++)
    if (isfinite(a->v[i]) && fabs(a->v[i]) > most)
      most = fabs(a->v[i]);
  return most;
}

/* How far `x` times `k` is from `y`; blanks: NaN may be anything. */
static double gap (double x, double k, double y, bool blanks) {
  if (x * k == y || (isnan(x) && (blanks || isnan(y)))) return 0;
  const double d = fabs(x * k - y);
  return isnan(d) ? INFINITY : d;
}

/* Beyond this a distance says no more than "too far", so that no more elements need
** to be looked at.  A little more than the bound itself, whose last bit depends on
** where one rounds. */
static double too_far (const Ask *q) {
  return 1.001 * DT_RELATE_FAR * q->near * (q->size > 0 ? q->size : 1);
}

/* How far `a` times `k` is from the one-rank tensor of its shape, or more than
** DT_RELATE_FAR times `near`.  A wrong splitting is told by its first elements: most
** of the hundred that are tried cost next to nothing. */
static double distance (const Ask *q, const DtElements *a, double k) {
  const double *x = a->v, *y = q->one->v, limit = too_far(q);
  double far = 0;
  for (int64_t i = 0; i < a->n && far <= limit; i++) {
    const double d = gap(x[i], k, y[i], a->blanks);
    if (d > far) far = d;
  }
  return far == 0 ? 0 : far / (q->size > 0 ? q->size : 1);
}

static bool is_near (Ask *q, const DtElements *a, double k) {
  double far = distance(q, a, k);
  if (far < q->best)
    q->best = far;
  return far <= q->near;
}

enum { NFACTORS = 7 };

/* By what the ranks' tensor may differ from the one-rank tensor, p groups of n ranks:
** counts of ranks, and one over them.  Integers differ by none.  Gives how many. */
static int list_factors (const Ask *q, int n, int p, double *factor) {
  const double all[NFACTORS] = {1, n, 1.0 / n, p, 1.0 / p, (double)n / p, (double)p / n};
  int count = 0;
  for (int i = 0; i < (q->one->whole ? 1 : NFACTORS); i++) {
    bool is_new = true;
    for (int k = 0; k < count && is_new; k++) is_new = factor[k] != all[i];
    if (is_new) factor[count++] = all[i];
  }
  return count;
}

/* Is it the one-rank tensor, but for a factor?  *by: which it was. */
static bool matches (Ask *q, const DtElements *a, int n, int p,
                     double *by) {
  double factor[NFACTORS];
  const int count = list_factors(q, n, p, factor);
  if (!same_shape(a, q->one))
    return false;
  for (int i = 0; i < count; i++)
    if (is_near(q, a, factor[i])) {
      *by = factor[i];
      return true;
    }
  return false;
}

/* What a tensor that is not built yet would hold at an index. */
typedef double ElementAt (const void *of, int64_t k);

/* Is it worth while to build a tensor, or is it too far away from the one-rank tensor,
** times any factor, at one of the few elements that are looked at?  Then the whole of
** it is, too. */
static bool may_match (const Ask *q, ElementAt *element, const void *of, int n, int p,
                       bool blanks) {
  enum { LOOKS = 6 };
  double factor[NFACTORS];
  const int count = list_factors(q, n, p, factor);
  const double limit = too_far(q);
  for (int i = 0; i < count; i++) {
    bool near = true;
    for (int j = 0; j < LOOKS && q->one->n > 0 && near; j++) {
      const int64_t k = (q->one->n - 1) * j / (LOOKS - 1);
      near = gap(element(of, k), factor[i], q->one->v[k], blanks) <= limit;
    }
    if (near) return true;
  }
  return false;
}

/* How the tensors of a group become one. */
typedef enum Joint { SAME, SUM, MOST, LEAST, CAT, NJOINTS } Joint;

static bool can_join (const DtElements *const *t, int n, Joint how, int dim) {
  for (int i = 1; i < n; i++) {
    if (t[i]->ndim != t[0]->ndim)
      return false;
    for (int d = 0; d < t[0]->ndim; d++)
      if (t[i]->shape[d] != t[0]->shape[d] && !(how == CAT && d == dim))
        return false;
  }
  return how != CAT || dim < t[0]->ndim;
}

/* Rows of the dimensions before `dim`, elements of those behind it. */
static void measure (const DtElements *a, int dim, int64_t *before,
                     int64_t *behind) {
  *before = *behind = 1;
  for (int d = 0; d < a->ndim; d++)
    if (d < dim)
      *before *= a->shape[d];
    else if (d > dim)
      *behind *= a->shape[d];
}

static void concatenate (const DtElements *const *t, int n, int dim,
                         DtElements *out) {
  int64_t before, behind, at = 0, total = out->shape[dim];
  measure(out, dim, &before, &behind);
  for (int i = 0; i < n; i++) {
    int64_t len = t[i]->shape[dim] * behind;
    for (int64_t b = 0; b < before && len > 0; b++)
      memcpy(out->v + b * total * behind + at, t[i]->v + b * len,
             (size_t)len * sizeof *out->v);
    at += len;
  }
}

static double join_two (Joint how, double a, double b) {
  return how == SUM ? a + b : how == MOST ? (b > a ? b : a) : (b < a ? b : a);
}

/* The shape of the n tensors as one; false where they do not fit together. */
static bool join_shapes (const DtElements *const *t, int n, Joint how, int dim,
                         DtElements *out) {
  if (!can_join(t, n, how, dim))
    return false;
  *out = *t[0];
  for (int i = 1; i < n && how == CAT; i++) {
    out->shape[dim] += t[i]->shape[dim];
    out->n += t[i]->n;
  }
  return true;
}

/* The n tensors as one, in scratch; false where they do not fit together. */
static bool join (Ask *q, const DtElements *const *t, int n, Joint how, int dim,
                  DtElements *out) {
  if (!join_shapes(t, n, how, dim, out))
    return false;
  for (int i = 1; i < n && how == SAME; i++)
    if (!is_equal(t[0], t[i]))
      return false;
  if (how == SAME)
    return true;
  out->v = dt_arena_raw(q->cx, &q->cx->scratch,
                        (size_t)(out->n + 1) * sizeof *out->v);
  if (out->v == NULL) {
    q->st = DT_E_NOMEM;
    return false;
  }
  if (how == CAT) {
    concatenate(t, n, dim, out);
    return true;
  }
  memcpy(out->v, t[0]->v, (size_t)out->n * sizeof *out->v);
  for (int i = 1; i < n; i++)
    for (int64_t k = 0; k < out->n; k++)
      out->v[k] = join_two(how, out->v[k], t[i]->v[k]);
  return true;
}

/* One way to make a tensor of those of n ranks: p groups, of neighbours or of every
** p-th; those of a group are joined, and then the groups. */
typedef struct Split {
  const DtElements *rank;
  int n, p;
  bool apart;
  Joint inner, outer;
  int inner_dim, outer_dim;
  DtElements group[DT_RELATE_RANKS];    /* v: once they are built */
} Split;

static const DtElements *member (const Split *s, int group, int k) {
  return &s->rank[s->apart ? k * s->p + group : group * (s->n / s->p) + k];
}

/* In which of the parts that lie along `dim`, one behind the other, element *k lies;
** *k becomes its index there. */
static int find_part (const DtElements *const *part, int n, int dim, int64_t *k) {
  int64_t before, behind, total = 0;
  measure(part[0], dim, &before, &behind);
  for (int i = 0; i < n; i++) total += part[i]->shape[dim];
  const int64_t outer = *k / (total * behind), column = *k % behind;
  int64_t row = *k / behind % total;
  int i = 0;
  while (row >= part[i]->shape[dim]) row -= part[i++]->shape[dim];
  *k = (outer * part[i]->shape[dim] + row) * behind + column;
  return i;
}

static double element_of_group (const Split *s, int group, int64_t k) {
  const DtElements *part[DT_RELATE_RANKS];
  const int size = s->n / s->p;
  if (s->inner == CAT) {
    for (int i = 0; i < size; i++) part[i] = member(s, group, i);
    const int i = find_part(part, size, s->inner_dim, &k);
    return part[i]->v[k];
  }
  double x = member(s, group, 0)->v[k];
  for (int i = 1; i < size && s->inner != SAME; i++)
    x = join_two(s->inner, x, member(s, group, i)->v[k]);
  return x;
}

static double element_of_split (const void *of, int64_t k) {
  const Split *s = of;
  const DtElements *part[DT_RELATE_RANKS];
  if (s->outer == CAT) {
    for (int i = 0; i < s->p; i++) part[i] = &s->group[i];
    const int i = find_part(part, s->p, s->outer_dim, &k);
    return element_of_group(s, i, k);
  }
  double x = element_of_group(s, 0, k);
  for (int i = 1; i < s->p && s->outer != SAME; i++)
    x = join_two(s->outer, x, element_of_group(s, i, k));
  return x;
}

/* The groups' shapes, without their elements; false where the members of one do not
** fit together, or should be equal and are not. */
static bool shape_groups (Split *s) {
  const DtElements *t[DT_RELATE_RANKS];
  for (int i = 0; i < s->p; i++) {
    for (int k = 0; k < s->n / s->p; k++) t[k] = member(s, i, k);
    if (!join_shapes(t, s->n / s->p, s->inner, s->inner_dim, &s->group[i])) return false;
    for (int k = 1; k < s->n / s->p && s->inner == SAME; k++)
      if (!is_equal(t[0], t[k])) return false;
  }
  return true;
}

static bool build_groups (Ask *q, Split *s) {
  const DtElements *t[DT_RELATE_RANKS];
  for (int i = 0; i < s->p; i++) {
    for (int k = 0; k < s->n / s->p; k++) t[k] = member(s, i, k);
    if (!join(q, t, s->n / s->p, s->inner, s->inner_dim, &s->group[i])) return false;
  }
  return true;
}

/* The groups joined one way, if that may be the one-rank tensor. */
static bool match_joined (Ask *q, Split *s, bool *built, double *factor) {
  const DtElements *t[DT_RELATE_RANKS];
  DtElements all;
  for (int i = 0; i < s->p; i++) t[i] = &s->group[i];
  if (!join_shapes(t, s->p, s->outer, s->outer_dim, &all) || !same_shape(&all, q->one) ||
      !may_match(q, element_of_split, s, s->n, s->p, all.blanks))
    return false;
  if (!*built && !build_groups(q, s)) return false;
  *built = true;
  return join(q, t, s->p, s->outer, s->outer_dim, &all) &&
         matches(q, &all, s->n, s->p, factor);
}

/* All ways to join p tensors that are each the same of a group. */
static bool match_groups (Ask *q, Split *s, DtRelation *r) {
  bool built = false;
  for (int how = SAME; how < (s->p == 1 ? SUM : NJOINTS); how++) {
    int dims = how == CAT ? s->group[0].ndim : 1;
    if (how == MOST || how == LEAST)
      continue;
    for (int d = 0; d < dims; d++) {
      s->outer = (Joint)how;
      s->outer_dim = d;
      if (!match_joined(q, s, &built, &r->factor))
        continue;
      if (s->inner > SUM && s->inner < CAT && r->factor != 1)
        continue;
      r->kind = s->inner == CAT || how == CAT ? DT_REL_PART
              : s->inner == SAME && how == SAME ? DT_REL_COPY : DT_REL_ADDEND;
      r->dim = s->inner == CAT ? s->inner_dim : d;
      r->extreme = s->inner == MOST || s->inner == LEAST;
      return true;
    }
  }
  return false;
}

/* Is the tensor of one rank all of it?  Then the others have another one, and
** that it is the largest of them says nothing. */
static bool is_one_of (const Ask *q, int n, const DtElements *rank) {
  for (int i = 0; i < n; i++)
    if (same_shape(&rank[i], q->one) && distance(q, &rank[i], 1) <= q->near)
      return true;
  return false;
}

/* n ranks as p groups, neighbours or every p-th. */
static bool match_split (Ask *q, int n, const DtElements *rank, int p,
                         bool apart, DtRelation *r) {
  Split s = {.rank = rank, .n = n, .p = p, .apart = apart};
  for (int how = SAME; how < NJOINTS; how++) {
    int dims = how == CAT ? rank[0].ndim : 1;
    if ((how == MOST || how == LEAST) && (p > 1 || is_one_of(q, n, rank)))
      continue;
    for (int d = 0; d < dims; d++) {
      s.inner = (Joint)how;
      s.inner_dim = d;
      if (shape_groups(&s) && match_groups(q, &s, r))
        return true;
    }
  }
  return false;
}

/* --- orders of rows --- */

/* Rows along `dim` in another order. */
typedef struct Ordered {
  const DtElements *all;
  int dim;
  const int64_t *from;
} Ordered;

static double element_in_order (const void *of, int64_t k) {
  const Ordered *o = of;
  int64_t before, behind, len = o->all->shape[o->dim];
  measure(o->all, o->dim, &before, &behind);
  const int64_t row = k / behind % len;
  return o->all->v[k + (o->from[row] - row) * behind];
}

/* `all` joined along `dim`, its rows in the order of the one-rank tensor. */
static bool match_order (Ask *q, const DtElements *all, int dim,
                         const int64_t *from, int n, DtRelation *r) {
  DtElements out = *all;
  int64_t before, behind, len = all->shape[dim];
  measure(all, dim, &before, &behind);
  if (!may_match(q, element_in_order, &(Ordered){all, dim, from}, n, 1, all->blanks))
    return false;
  out.v = dt_arena_raw(q->cx, &q->cx->scratch,
                       (size_t)(out.n + 1) * sizeof *out.v);
  if (out.v == NULL) {
    q->st = DT_E_NOMEM;
    return false;
  }
  for (int64_t b = 0; b < before; b++)
    for (int64_t i = 0; i < len; i++)
      memcpy(out.v + (b * len + i) * behind,
             all->v + (b * len + from[i]) * behind,
             (size_t)behind * sizeof *out.v);
  if (!matches(q, &out, n, 1, &r->factor))
    return false;
  r->kind = DT_REL_PART;
  r->dim = dim;
  return true;
}

typedef struct Row { uint64_t hash; int64_t at; } Row;

static int compare_rows (const void *a, const void *b) {
  const Row *x = a, *y = b;
  return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* The slices along `dim`, sorted by what they hold; NULL without memory. */
static Row *sort_rows (DtCtx *cx, const DtElements *a, int dim) {
  int64_t before, behind, len = a->shape[dim];
  Row *row = DT_ANEWN(cx, &cx->scratch, Row, len);
  measure(a, dim, &before, &behind);
  for (int64_t i = 0; i < len && row != NULL; i++) {
    row[i] = (Row){DT_HASH_SEED, i};
    for (int64_t b = 0; b < before; b++)
      row[i].hash = dt_hash_bytes(row[i].hash, a->v + (b * len + i) * behind,
                                  (size_t)behind * sizeof *a->v);
  }
  if (row != NULL)
    qsort(row, (size_t)len, sizeof *row, compare_rows);
  return row;
}

/* Slices of `all` that are those of the one-rank tensor in another order teach
** that order; equal ones teach none. */
static void learn_order (Ask *q, const DtElements *all, int dim, DtArena *arena,
                         DtOrders *o) {
  int64_t len = all->shape[dim];
  if (len < 2 || len > MAX_ROWS || all->n == 0 || o->n == DT_MAX_ORDERS)
    return;
  Row *x = sort_rows(q->cx, all, dim), *y = sort_rows(q->cx, q->one, dim);
  int64_t *from = DT_ANEWN(q->cx, arena, int64_t, len);
  if (x == NULL || y == NULL || from == NULL) {
    q->st = DT_E_NOMEM;
    return;
  }
  for (int64_t i = 0; i < len; i++) {
    if (x[i].hash != y[i].hash || (i > 0 && x[i].hash == x[i - 1].hash))
      return;
    from[y[i].at] = x[i].at;
  }
  o->order[o->n].len = len;
  o->order[o->n++].from = from;
}

/* Where item i of the whole lies in the ranks' items, one rank after the other: as
** `order` says, see DtRelation. */
static int64_t place_in (const DtOrders *o, int order, int64_t len, int n, int64_t i) {
  return order == 0 ? i : order == 1 ? i % n * (len / n) + i / n
                    : o->order[order - 2].from[i];
}

/* `all` as `blocks` blocks of rows, as a batch of sequences is that a linear layer
** flattened: each block was given to the ranks in that order. */
static bool match_blocks (Ask *q, const DtElements *all, int dim, int64_t blocks,
                          const DtOrders *o, int order, int n, DtRelation *r) {
  const int64_t len = all->shape[dim], each = len / blocks, mine = each / n;
  DtArenaMark top = dt_arena_mark(&q->cx->scratch);
  int64_t *from = DT_ANEWN(q->cx, &q->cx->scratch, int64_t, len);
  bool found = false;
  if (from == NULL)
    q->st = DT_E_NOMEM;
  for (int64_t i = 0; i < len && from != NULL; i++) {
    const int64_t at = place_in(o, order, each, n, i % each);
    from[i] = blocks == 1 ? at : at / mine * (len / n) + i / each * mine + at % mine;
  }
  found = from != NULL && match_order(q, all, dim, from, n, r);
  if (found)                    /* blocks of rows are an order of their own */
    r->order = order + (int)(blocks - 1) * (DT_MAX_ORDERS + 2);
  dt_arena_release(&q->cx->scratch, top);
  return found;
}

/* All orders from `k` on that are known of so many items, of all or of each block. */
static bool match_known (Ask *q, const DtElements *all, int dim, int64_t blocks, int n,
                         const DtOrders *o, int k, DtRelation *r) {
  const int64_t each = all->shape[dim] / blocks;
  for (; k < o->n + 2; k++)
    if ((k < 2 ? each % n == 0 : o->order[k - 2].len == each) &&
        match_blocks(q, all, dim, blocks, o, k, n, r))
      return true;
  return false;
}

/* What is known comes before what this tensor teaches, so that an order has one
** number. */
static bool match_orders (Ask *q, int n, const DtElements *rank,
                          DtArena *arena, DtOrders *o, DtRelation *r) {
  const DtElements *t[DT_RELATE_RANKS];
  DtElements all;
  for (int i = 0; i < n; i++) t[i] = &rank[i];
  for (int d = 0; d < rank[0].ndim; d++) {
    if (!join_shapes(t, n, CAT, d, &all) || !same_shape(&all, q->one) || all.n == 0 ||
        !join(q, t, n, CAT, d, &all))
      continue;
    if (match_known(q, &all, d, 1, n, o, 1, r)) return true;
    for (int64_t b = 2; b <= MAX_BLOCKS && b * n < all.shape[d]; b++)
      if (all.shape[d] % (b * n) == 0 && match_known(q, &all, d, b, n, o, 0, r))
        return true;
    const int before = o->n;
    learn_order(q, &all, d, arena, o);
    if (match_known(q, &all, d, 1, n, o, before + 2, r)) return true;
    o->n = before;                /* what was learnt just now must match */
  }
  return false;
}

/* The first rows along `dim` of what has a few more. */
static bool cut_padding (Ask *q, const DtElements *all, int dim, DtElements *out) {
  int64_t before, behind, len = q->one->shape[dim], had = all->shape[dim];
  *out = *all;
  measure(all, dim, &before, &behind);
  out->shape[dim] = len;
  out->n = before * len * behind;
  out->v = dt_arena_raw(q->cx, &q->cx->scratch, (size_t)(out->n + 1) * sizeof *out->v);
  if (out->v == NULL) {
    q->st = DT_E_NOMEM;
    return false;
  }
  for (int64_t b = 0; b < before; b++)
    memcpy(out->v + b * len * behind, all->v + b * had * behind,
           (size_t)(len * behind) * sizeof *out->v);
  return true;
}

/* Filled up behind to be cut evenly, which nothing had to be on one rank: fewer rows
** than there are ranks. */
static bool match_padded (Ask *q, int n, const DtElements *rank, DtRelation *r) {
  const DtElements *t[DT_RELATE_RANKS];
  DtElements all, out;
  for (int i = 0; i < n; i++) t[i] = &rank[i];
  if (rank[0].ndim != q->one->ndim || q->one->n < n) return false;
  for (int how = SAME; how <= CAT; how += CAT - SAME)
    for (int d = 0; d < rank[0].ndim; d++) {
      if (how == CAT && rank[0].shape[d] >= q->one->shape[d]) continue;
      if (!join_shapes(t, n, (Joint)how, d, &all)) continue;
      const int64_t more = all.shape[d] - q->one->shape[d];
      if (more <= 0 || more >= n || 2 * more > q->one->shape[d] ||
          !join(q, t, n, (Joint)how, d, &all) ||
          !cut_padding(q, &all, d, &out) || !same_shape(&out, q->one) ||
          !is_near(q, &out, 1)) continue;
      r->kind = how == CAT ? DT_REL_PART : DT_REL_COPY;
      r->dim = d;
      return true;
    }
  return false;
}

/* Item rows `at`, `n` of them along `dim`, of a: are they those of b from `to` on? */
static bool has_rows (const Ask *q, const DtElements *a, int64_t at, const DtElements *b,
                      int64_t to, int64_t n, int dim) {
  int64_t before, behind;
  measure(a, dim, &before, &behind);
  for (int64_t o = 0; o < before; o++)
    for (int64_t i = 0; i < n * behind; i++) {
      const double x = a->v[(o * a->shape[dim] + at) * behind + i];
      const double y = b->v[(o * b->shape[dim] + to) * behind + i];
      if (!(x == y || fabs(x - y) <= q->near * q->size)) return false;
    }
  return true;
}

/* Along `dim`: each rank's begins with the last `k` items of the rank before, as many
** everywhere, and together they are the one-rank tensor. */
static bool overlap_along (const Ask *q, int n, const DtElements *rank, int dim) {
  int64_t total = 0, at = 0;
  for (int r = 0; r < n; r++) total += rank[r].shape[dim];
  const int64_t all = q->one->shape[dim], more = total - all, k = more / (n - 1);
  if (more <= 0 || more % (n - 1) != 0) return false;
  for (int r = 0; r < n; r++) {
    const int64_t len = rank[r].shape[dim];
    if (len <= k || at + len > all || !has_rows(q, &rank[r], 0, q->one, at, len, dim))
      return false;
    at += len - k;
  }
  return true;
}

/* Neighbours have some items both, as where a convolution or a window needs them. */
static bool match_overlap (Ask *q, int n, const DtElements *rank, DtRelation *r) {
  for (int d = 0; n > 1 && rank[0].ndim == q->one->ndim && d < rank[0].ndim; d++) {
    bool fits = q->one->shape[d] > 0;
    for (int i = 0; i < n && fits; i++) {
      fits = rank[i].ndim == q->one->ndim;
      for (int e = 0; fits && e < rank[i].ndim; e++)
        fits = e == d || rank[i].shape[e] == q->one->shape[e];
    }
    if (!fits || !overlap_along(q, n, rank, d)) continue;
    r->kind = DT_REL_PART;
    r->dim = d;
    return r->overlap = true;
  }
  return false;
}

/* Signs, masks, ranks of rows: their mean over the ranks may be anything. */
static bool has_few_sizes (const DtElements *a) {
  enum { FEW = 2 };
  double size[FEW] = {0};
  int n = 0;
  for (int64_t i = 0; i < a->n; i++) {
    double x = fabs(a->v[i]);
    int k = 0;
    while (k < n && size[k] != x) k++;
    if (k < n || x == 0) continue;
    if (n == FEW) return false;
    size[n++] = x;
  }
  return a->n > 1;
}

/* How the ranks' tensors make up one device's.  Simple relations first, and the
** fewest groups first (p): a tensor of equal numbers fits several, and the
** simplest is what the program meant.  A sum with a factor is believed only of
** tensors with enough different sizes: any two numbers are multiples.  Not found
** but nearly so is UNKNOWN, which the search does not call a difference. */
DtStatus dt_relate (DtCtx *cx, int n, const DtElements *rank,
                    const DtElements *one, double near, double size,
                    DtArena *arena, DtOrders *orders, DtRelation *out) {
  DtArenaMark top = dt_arena_mark(&cx->scratch);
  double most = largest(one);
  Ask q = {cx, one, one->whole ? 0 : near, most > size ? most : size, INFINITY,
           DT_OK};
  bool found = false;
  *out = (DtRelation){.kind = DT_REL_NONE, .factor = 1, .alike = true};
  for (int i = 1; i < n && out->alike; i++)
    out->alike = is_equal(&rank[0], &rank[i]);
  for (int p = 1; (p < n || p == 1) && !found && q.st == DT_OK; p++) {
    if (n % p != 0)
      continue;
    found = match_split(&q, n, rank, p, false, out) ||
            (p > 1 && match_split(&q, n, rank, p, true, out));
  }
  if (!found && q.st == DT_OK)
    found = match_orders(&q, n, rank, arena, orders, out);
  if (!found && q.st == DT_OK)
    found = match_padded(&q, n, rank, out) || match_overlap(&q, n, rank, out);
  if (found && out->kind == DT_REL_ADDEND && out->factor != 1 && has_few_sizes(one))
    out->kind = DT_REL_NONE;
  if (!found)
    out->kind = q.best <= DT_RELATE_FAR * q.near ? DT_REL_UNKNOWN : DT_REL_NONE;
  dt_arena_release(&cx->scratch, top);
  return q.st;
}
