/* SPDX-License-Identifier: MIT
** oplib/op_products.c: products of tensors that are sums over named dims:
** tensordot, inner, kron, einsum, bilinear, distances of rows.
**
** All are cut down to one (batched) matrix product by permuting and
** reshaping, in the order and with the arguments of PyTorch's kernels:
** sharding and backward see exactly those calls. */
#include "oplib/oplib_int.h"
#include "oplib/emitting.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static DtHandle *reshape (DtDecompCall *c, DtHandle *h, int n,
                          const int64_t *shape) {
  DtMeta m = meta_of(c, h);
  int64_t stride[DT_MAX_NDIM];
  if (!dt_emit_ok(c->e)) return NULL;
  if (op_view_strides(&m, n, shape, stride))
    return EMIT("aten.view.default", "tI", h, n, shape);
  h = EMIT("aten.clone.default", "t memory_format=v", h,
           dt_v_code(DT_V_MEMFMT, 0));
  return EMIT("aten._unsafe_view.default", "tI", h, n, shape);
}

/* ---- tensordot ---- */

/* One side: its contracted dims (as given, and wrapped), the other dims. */
typedef struct Side {
  DtHandle *h;
  DtMeta m;
  int n;
  int64_t dims[DT_MAX_NDIM], rest[DT_MAX_NDIM];
  int wrapped[DT_MAX_NDIM], nrest;
  int64_t size;                 /* of the rest */
} Side;

static DtStatus side_init (DtDecompCall *c, Side *s, DtHandle *h, int n,
                           const int64_t *dims) {
  uint32_t mask = 0;
  s->h = h;
  s->m = meta_of(c, h);
  s->n = n;
  s->nrest = 0;
  s->size = 1;
  if (!dt_emit_ok(c->e)) return c->e->st;
  for (int i = 0; i < n; i++) {
    DT_TRY(CX, op_has_dim(CX, &s->m, (int)dims[i]));
    DT_TRY(CX, dt_meta_wrap_dim(CX, dims[i], s->m.ndim, &s->wrapped[i]));
    s->dims[i] = dims[i];
    DT_CHECK(CX, !(mask >> s->wrapped[i] & 1u), DT_E_RUNTIME, "dim %d appears "
             "multiple times in the list of dims", s->wrapped[i]);
    mask |= 1u << s->wrapped[i];
  }
  for (int i = 0; i < s->m.ndim; i++)
    if (!(mask >> i & 1u)) {
      s->rest[s->nrest++] = i;
      s->size *= s->m.shape[i];
    }
  return DT_OK;
}

static DtStatus tensordot (DtDecompCall *c, int n, const int64_t *da,
                           const int64_t *db) {
  Side a, b;
  int64_t csize = 1, perm[DT_MAX_NDIM], shape[DT_MAX_NDIM], flat[2];
  int k = 0;
  DtHandle *x, *y;
  DT_TRY(CX, side_init(c, &a, c->in[0], n, da));
  DT_TRY(CX, side_init(c, &b, c->in[1], n, db));
  for (int i = 0; i < n; i++) {
    int64_t sa = a.m.shape[a.wrapped[i]], sb = b.m.shape[b.wrapped[i]];
    if (sb == 1 && sa != 1)             /* broadcast: sum it alone */
      a.h = EMIT("aten.sum.dim_IntList", "tIb", a.h, 1, &da[i], 1);
    else if (sa == 1 && sb != 1)
      b.h = EMIT("aten.sum.dim_IntList", "tIb", b.h, 1, &db[i], 1);
    else {
      DT_CHECK(CX, sa == sb, DT_E_RUNTIME, "contracted dimensions need to "
               "match, but first has size %lld in dim %lld and second has size "
               "%lld in dim %lld", (long long)sa, (long long)da[i],
               (long long)sb, (long long)db[i]);
      csize *= sa;
    }
  }
  for (int i = 0; i < a.nrest; i++) shape[k++] = a.m.shape[a.rest[i]];
  for (int i = 0; i < b.nrest; i++) shape[k++] = b.m.shape[b.rest[i]];
  memcpy(perm, a.rest, sizeof(int64_t) * (size_t)a.nrest);
  memcpy(perm + a.nrest, a.dims, sizeof(int64_t) * (size_t)n);
  x = EMIT("aten.permute.default", "tI", a.h, (int)a.m.ndim, perm);
  bool dot = a.size == 1 && b.size == 1;
  flat[0] = a.size;
  flat[1] = csize;
  if (!dot) x = reshape(c, x, 2, flat);
  memcpy(perm, b.dims, sizeof(int64_t) * (size_t)n);
  memcpy(perm + n, b.rest, sizeof(int64_t) * (size_t)b.nrest);
  y = EMIT("aten.permute.default", "tI", b.h, (int)b.m.ndim, perm);
  flat[0] = csize;
  flat[1] = b.size;
  if (dot) {
    if (a.m.ndim != 1) x = reshape(c, x, 1, flat);
    if (b.m.ndim != 1) y = reshape(c, y, 1, flat);
    x = EMIT("aten.dot.default", "tt", x, y);
  } else {
    x = EMIT("aten.mm.default", "tt", x, reshape(c, y, 2, flat));
  }
  return finish(c, reshape(c, x, k, shape));
}

static DtStatus tensordot_decomp (DtDecompCall *c) {
  int64_t a[DT_MAX_NDIM], b[DT_MAX_NDIM];
  int n = op_ints(c->args, 2, a), k = op_ints(c->args, 3, b);
  DT_CHECK(CX, n == k, DT_E_RUNTIME,
           "both dimension lists should have same length");
  return tensordot(c, n, a, b);
}

static DtStatus inner_decomp (DtDecompCall *c) {
  DtMeta a = meta_of(c, c->in[0]), b = meta_of(c, c->in[1]);
  OpText ta = op_shape_text(&a), tb = op_shape_text(&b);
  int64_t last = -1;
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (a.ndim == 0 || b.ndim == 0)
    return finish(c, EMIT("aten.mul.Tensor", "tt", c->in[0], c->in[1]));
  DT_CHECK(CX, a.shape[a.ndim - 1] == b.shape[b.ndim - 1], DT_E_RUNTIME,
           "inner() the last dimension must match on both input tensors but "
           "got shapes %s and %s", ta.s, tb.s);
  return tensordot(c, 1, &last, &last);
}

/* Multiplies into out, but copies what came of matrices. */
static DtStatus inner_out_decomp (DtDecompCall *c) {
  if (meta_of(c, c->in[0]).ndim == 0 || meta_of(c, c->in[1]).ndim == 0)
    return finish(c, EMIT("aten.mul.out", "tt out=t", c->in[0], c->in[1],
                          dt_hin(c, 2)));
  DT_TRY(CX, inner_decomp(c));
  return finish(c, EMIT("aten.copy_.default", "tt", dt_hin(c, 2), c->out[0]));
}

/* ---- outer, kron ---- */

static DtStatus outer_decomp (DtDecompCall *c) {
  static const char *const name[] = { "self", "vec2" };
  int64_t col[2];
  for (int i = 0; i < 2; i++) {
    DtMeta m = meta_of(c, c->in[i]);
    DT_CHECK(CX, !dt_emit_ok(c->e) || m.ndim == 1, DT_E_RUNTIME, "outer: "
             "Expected 1-D argument %s, but got %d-D", name[i], m.ndim);
    if (i == 0) col[0] = m.shape[0];
  }
  col[1] = 1;
  if (!dt_emit_ok(c->e)) return c->e->st;
  return finish(c, EMIT("aten.mul.Tensor", "tt",
                        EMIT("aten.view.default", "tI", c->in[0], 2, col),
                        c->in[1]));
}

static DtStatus kron_decomp (DtDecompCall *c) {
  DtMeta m[2] = { meta_of(c, c->in[0]), meta_of(c, c->in[1]) };
  int nd = m[0].ndim > m[1].ndim ? m[0].ndim : m[1].ndim;
  int64_t shape[2 * DT_MAX_NDIM], out[DT_MAX_NDIM];
  DtHandle *h[2];
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, 2 * nd <= DT_MAX_NDIM, DT_E_LIMIT, "at most %d dimensions",
           DT_MAX_NDIM / 2);
  for (int i = 0; i < nd; i++) out[i] = 1;
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < nd; i++) {
      int d = i - (nd - m[k].ndim);
      int64_t size = d < 0 ? 1 : m[k].shape[d];
      shape[2 * i + k] = size;
      shape[2 * i + 1 - k] = 1;
      out[i] *= size;
    }
    h[k] = EMIT("aten._unsafe_view.default", "tI", c->in[k], 2 * nd, shape);
  }
  h[0] = EMIT("aten.mul.Tensor", "tt", h[0], h[1]);
  return finish(c, EMIT("aten._unsafe_view.default", "tI", h[0], nd, out));
}

/* ---- einsum ---- */

enum { ES_LABELS = 52, ES_ELLIPSIS = 52, ES_OPS = 16, ES_LEN = 64 };

typedef struct Term { int n; int8_t label[ES_LEN]; } Term;

/* The equation, and where each label goes in the common shape: labels of the
** result first, then those summed over, in alphabetical order. */
typedef struct Einsum {
  DtDecompCall *c;
  int nops, nout, nall;         /* operands; dims of the result, of all */
  Term term[ES_OPS], out;
  DtHandle *h[ES_OPS];
  int count[ES_LABELS], place[ES_LABELS], ell, ell_at;
  bool ell_out;
} Einsum;

static int label_of (char ch) {
  return isupper((unsigned char)ch) ? ch - 'A' : ch - 'a' + 26;
}
static char letter_of (int label) {
  return (char)(label < 26 ? 'A' + label : 'a' + label - 26);
}

/* One term of the equation, up to a comma, an arrow or the end. */
static DtStatus read_term (Einsum *e, const char **at, Term *t) {
  DtCtx *cx = e->c->e->cx;
  bool dots = false;
  t->n = 0;
  for (;; (*at)++) {
    char ch = **at;
    if (ch == ' ') continue;
    if (ch == '\0' || ch == ',' || (ch == '-' && (*at)[1] == '>')) break;
    DT_CHECK(cx, t->n < ES_LEN, DT_E_LIMIT, "einsum(): a long term");
    if (ch == '.') {
      DT_CHECK(cx, !dots && (*at)[1] == '.' && (*at)[2] == '.', DT_E_RUNTIME,
               "einsum(): found \'.\' for operand %d that is not part of any "
               "ellipsis", (int)(t - e->term));
      *at += 2;
      dots = true;
      t->label[t->n++] = ES_ELLIPSIS;
      continue;
    }
    DT_CHECK(cx, isalpha((unsigned char)ch), DT_E_RUNTIME, "einsum(): invalid "
             "subscript given at index %d in the equation string, subscripts "
             "must be in [a-zA-Z]", (int)(*at - dt_arg_str(e->c->args, 0)));
    t->label[t->n++] = (int8_t)label_of(ch);
  }
  return DT_OK;
}

static DtStatus read_equation (Einsum *e) {
  const char *eq = dt_arg_str(e->c->args, 0);
  DtCtx *cx = e->c->e->cx;
  int k = 0;
  bool arrow = false;
  for (;;) {
    DT_CHECK(cx, k < e->nops, DT_E_RUNTIME, "einsum(): fewer operands were "
             "provided than specified in the equation");
    DT_TRY(cx, read_term(e, &eq, &e->term[k++]));
    if (*eq != ',') break;
    eq++;
  }
  DT_CHECK(cx, k == e->nops, DT_E_RUNTIME, "einsum(): more operands were "
           "provided than specified in the equation");
  for (int i = 0; i < ES_LABELS; i++) e->place[i] = -1;
  for (int i = 0; i < k; i++)
    for (int j = 0; j < e->term[i].n; j++) {
      int l = e->term[i].label[j];
      if (l != ES_ELLIPSIS) e->count[l]++;
    }
  if (*eq == '-') {
    eq += 2;
    arrow = true;
    DT_TRY(cx, read_term(e, &eq, &e->out));
  }
  if (arrow) return DT_OK;
  e->out.n = 0;                 /* implicit: every label that occurs once */
  e->out.label[e->out.n++] = ES_ELLIPSIS;
  for (int l = 0; l < ES_LABELS; l++)
    if (e->count[l] == 1) e->out.label[e->out.n++] = (int8_t)l;
  return DT_OK;
}

/* Dims an ellipsis stands for; labels must match the operand's dims. */
static DtStatus measure (Einsum *e) {
  DtCtx *cx = e->c->e->cx;
  e->ell = 0;
  for (int i = 0; i < e->nops; i++) {
    const Term *t = &e->term[i];
    int nd = meta_of(e->c, e->h[i]).ndim, named = 0;
    bool dots = false;
    for (int j = 0; j < t->n; j++) {
      if (t->label[j] == ES_ELLIPSIS) dots = true;
      else named++;
    }
    DT_CHECK(cx, dots ? named <= nd : named == nd, DT_E_RUNTIME, "einsum(): "
             "the number of subscripts in the equation (%d) %s the number of "
             "dimensions (%d) for operand %d%s", named,
             dots ? "is more than" : "does not match", nd, i,
             dots ? "" : " and no ellipsis was given");
    if (dots && nd - named > e->ell) e->ell = nd - named;
  }
  return DT_OK;
}

/* A label that an operand has twice is a diagonal: of a square. */
static DtStatus check_diagonals (Einsum *e) {
  for (int i = 0; i < e->nops; i++) {
    const Term *t = &e->term[i];
    int64_t size[ES_LABELS];
    DtMeta m = meta_of(e->c, e->h[i]);
    if (!dt_emit_ok(e->c->e)) return e->c->e->st;
    for (int l = 0; l < ES_LABELS; l++) size[l] = -1;
    for (int j = 0, d = 0; j < t->n; j++) {
      int l = t->label[j];
      if (l == ES_ELLIPSIS) {
        d += m.ndim - (t->n - 1);
        continue;
      }
      DT_CHECK(e->c->e->cx, size[l] < 0 || size[l] == m.shape[d], DT_E_RUNTIME,
               "einsum(): subscript %c is repeated for operand %d but the sizes "
               "don't match, %lld != %lld", letter_of(l), i,
               (long long)m.shape[d], (long long)size[l]);
      size[l] = m.shape[d++];
    }
  }
  return DT_OK;
}

static DtStatus place_labels (Einsum *e) {
  DtCtx *cx = e->c->e->cx;
  int at = 0;
  e->ell_at = 0;
  for (int j = 0; j < e->out.n; j++) {
    int l = e->out.label[j];
    if (l == ES_ELLIPSIS) {
      e->ell_at = at;
      e->ell_out = true;
      at += e->ell;
      continue;
    }
    DT_CHECK(cx, e->place[l] < 0, DT_E_RUNTIME, "einsum(): output subscript %c "
             "appears more than once in the output", letter_of(l));
    DT_CHECK(cx, e->count[l] > 0, DT_E_RUNTIME, "einsum(): output subscript %c "
             "does not appear in the equation for any input operand",
             letter_of(l));
    e->place[l] = at++;
  }
  e->nout = at;
  if (!e->ell_out && e->ell > 0) {
    e->ell_at = at;
    at += e->ell;
  }
  for (int l = 0; l < ES_LABELS; l++)
    if (e->count[l] > 0 && e->place[l] < 0) e->place[l] = at++;
  e->nall = at;
  DT_CHECK(cx, at <= DT_MAX_NDIM, DT_E_LIMIT, "at most %d dimensions",
           DT_MAX_NDIM);
  return DT_OK;
}

/* Move the last dim to `dim`, as movedim does. */
static DtHandle *last_to (DtDecompCall *c, DtHandle *h, int dim) {
  int n = meta_of(c, h).ndim;
  int64_t order[DT_MAX_NDIM];
  for (int i = 0; i < n; i++)
    order[i] = i < dim ? i : i == dim ? n - 1 : i - 1;
  return EMIT("aten.permute.default", "tI", h, n, order);
}

/* Bring one operand to the common shape: diagonals for repeated labels, ones
** for missing labels, then one permutation. */
static void align (Einsum *e, int i) {
  DtDecompCall *c = e->c;
  const Term *t = &e->term[i];
  DtHandle *h = e->h[i];
  int64_t from[DT_MAX_NDIM];
  int seen[ES_LABELS], d = 0, nd = meta_of(c, h).ndim;
  for (int l = 0; l < ES_LABELS; l++) seen[l] = -1;
  for (int k = 0; k < e->nall; k++) from[k] = -1;
  for (int j = 0; j < t->n; j++) {
    int l = t->label[j];
    if (l == ES_ELLIPSIS) {
      int own = nd - (t->n - 1);
      for (int k = e->ell - own; k < e->ell; k++) from[e->ell_at + k] = d++;
    } else if (seen[l] >= 0) {
      h = seen[l] == 0 && d == 1
          ? EMIT("aten.diagonal.default", "t", h)
          : EMIT("aten.diagonal.default", "tiii", h, (int64_t)0,
                 (int64_t)seen[l], (int64_t)d);
      h = last_to(c, h, seen[l]);
    } else {
      seen[l] = d;
      from[e->place[l]] = d++;
    }
  }
  for (int k = 0; k < e->nall; k++)
    if (from[k] < 0) {
      h = EMIT("aten.unsqueeze.default", "ti", h, (int64_t)d);
      from[k] = d++;
    }
  e->h[i] = EMIT("aten.permute.default", "tI", h, e->nall, from);
}

/* Sizes agree, but for ones. */
static DtStatus check_sizes (Einsum *e, int *counts) {
  int64_t size[DT_MAX_NDIM];
  DtCtx *cx = e->c->e->cx;
  for (int d = 0; d < e->nall; d++) size[d] = 1, counts[d] = 0;
  for (int i = 0; i < e->nops; i++) {
    DtMeta m = meta_of(e->c, e->h[i]);
    if (!dt_emit_ok(e->c->e)) return e->c->e->st;
    for (int d = 0; d < e->nall; d++) {
      if (m.shape[d] == 1) continue;
      counts[d]++;
      int l = 0;
      while (l < ES_LABELS && e->place[l] != d) l++;
      DT_CHECK(cx, size[d] == 1 || size[d] == m.shape[d], DT_E_RUNTIME,
               "einsum(): subscript %c has size %lld for operand %d which does "
               "not broadcast with previously seen size %lld",
               l < ES_LABELS ? letter_of(l) : '.', (long long)m.shape[d], i,
               (long long)size[d]);
      size[d] = m.shape[d];
    }
  }
  return DT_OK;
}

/* Groups of dims: batch (both), left only, summed, right only. */
typedef struct Pair {
  int64_t batch[DT_MAX_NDIM], left[DT_MAX_NDIM], right[DT_MAX_NDIM];
  int nbatch, nleft, nright;
  int64_t sbatch, sleft, sright, ssum;
} Pair;

static int put (int64_t *to, int at, int n, const int64_t *from) {
  memcpy(to + at, from, sizeof(int64_t) * (size_t)n);
  return at + n;
}

/* Multiply two aligned operands and sum over dims: one bmm. */
static DtHandle *multiply (DtDecompCall *c, DtHandle *a, DtHandle *b, int nsum,
                           const int64_t *sum) {
  DtMeta ma = meta_of(c, a), mb = meta_of(c, b);
  Pair p = { .sbatch = 1, .sleft = 1, .sright = 1, .ssum = 1 };
  int64_t lp[DT_MAX_NDIM], rp[DT_MAX_NDIM], op[DT_MAX_NDIM], flat[3];
  int64_t shape[DT_MAX_NDIM];
  int n = ma.ndim, k = 0;
  uint32_t mask = 0;
  if (!dt_emit_ok(c->e)) return NULL;
  if (nsum == 0) return EMIT("aten.mul.Tensor", "tt", a, b);
  for (int i = 0; i < nsum; i++) mask |= 1u << sum[i];
  for (int i = 0; i < n; i++) {
    bool sl = ma.shape[i] != 1, sr = mb.shape[i] != 1;
    if (mask >> i & 1u) p.ssum *= ma.shape[i];
    else if (sl && sr) p.batch[p.nbatch++] = i, p.sbatch *= ma.shape[i];
    else if (sl) p.left[p.nleft++] = i, p.sleft *= ma.shape[i];
    else p.right[p.nright++] = i, p.sright *= mb.shape[i];
  }
  k = put(lp, 0, p.nbatch, p.batch);
  k = put(lp, k, p.nleft, p.left);
  k = put(lp, k, nsum, sum);
  (void)put(lp, k, p.nright, p.right);
  k = put(rp, 0, p.nbatch, p.batch);
  k = put(rp, k, nsum, sum);
  k = put(rp, k, p.nright, p.right);
  (void)put(rp, k, p.nleft, p.left);
  for (int i = 0; i < n; i++) {
    op[lp[i]] = i;
    shape[i] = mask >> lp[i] & 1u ? 1
               : i < p.nbatch + p.nleft ? ma.shape[lp[i]] : mb.shape[lp[i]];
  }
  flat[0] = p.sbatch, flat[1] = p.sleft, flat[2] = p.ssum;
  a = reshape(c, EMIT("aten.permute.default", "tI", a, n, lp), 3, flat);
  flat[1] = p.ssum, flat[2] = p.sright;
  b = reshape(c, EMIT("aten.permute.default", "tI", b, n, rp), 3, flat);
  a = EMIT("aten.bmm.default", "tt", a, b);
  a = EMIT("aten.view.default", "tI", a, n, shape);
  return EMIT("aten.permute.default", "tI", a, n, op);
}

/* Contract operands from left to right, summing what nobody else has. */
static DtHandle *contract (Einsum *e, int *counts) {
  DtDecompCall *c = e->c;
  DtHandle *a = e->h[0];
  for (int i = 1; i < e->nops && dt_emit_ok(c->e); i++) {
    DtHandle *b = e->h[i];
    DtMeta ma = meta_of(c, a), mb = meta_of(c, b);
    int64_t sum[DT_MAX_NDIM], sa[DT_MAX_NDIM], sb[DT_MAX_NDIM];
    int ns = 0, na = 0, nb = 0;
    if (!dt_emit_ok(c->e)) return NULL;
    for (int d = e->nout; d < e->nall; d++) {
      bool la = ma.shape[d] != 1, lb = mb.shape[d] != 1;
      if (la && lb) {
        if (--counts[d] == 1) sum[ns++] = d, counts[d] = 0;
      } else if (counts[d] == 1 && (la || lb)) {
        if (la) sa[na++] = d;
        else sb[nb++] = d;
        counts[d] = 0;
      }
    }
    if (na) a = EMIT("aten.sum.dim_IntList", "tIb", a, na, sa, 1);
    if (nb) b = EMIT("aten.sum.dim_IntList", "tIb", b, nb, sb, 1);
    a = multiply(c, a, b, ns, sum);
  }
  return a;
}

static DtStatus einsum_decomp (DtDecompCall *c) {
  Einsum *e = DT_ANEWN(CX, c->e->arena, Einsum, 1);
  int counts[DT_MAX_NDIM];
  DtHandle *h;
  if (e == NULL) return DT_E_NOMEM;
  e->c = c;
  e->nops = dt_arg_len(c->args, 1);
  DT_CHECK(CX, e->nops > 0, DT_E_RUNTIME,
           "einsum(): must provide at least one operand");
  DT_CHECK(CX, e->nops <= ES_OPS, DT_E_LIMIT, "at most %d operands", ES_OPS);
  for (int i = 0; i < e->nops; i++) e->h[i] = c->in[i];
  DT_TRY(CX, read_equation(e));
  DT_TRY(CX, measure(e));
  DT_TRY(CX, place_labels(e));
  DT_TRY(CX, check_diagonals(e));
  for (int i = 0; i < e->nops; i++) align(e, i);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_TRY(CX, check_sizes(e, counts));
  h = contract(e, counts);
  if (e->nall == e->nout) return finish(c, h);
  if (e->nops > 1) {
    DtMeta m = meta_of(c, h);
    return finish(c, EMIT("aten.view.default", "tI", h, e->nout, m.shape));
  }
  int64_t dims[DT_MAX_NDIM];
  for (int d = e->nout; d < e->nall; d++) dims[d - e->nout] = d;
  return finish(c, EMIT("aten.sum.dim_IntList", "tI", h, e->nall - e->nout,
                        dims));
}

/* ---- bilinear ---- */

static DtStatus bilinear_decomp (DtDecompCall *c) {
  DtMeta a = meta_of(c, c->in[0]), b = meta_of(c, c->in[1]);
  DtMeta w = meta_of(c, c->in[2]);
  int64_t flat[2], shape[DT_MAX_NDIM];
  int64_t e1[] = { 1, 3 }, e2[] = { 0 }, e3[] = { 1, 2 }, s[] = { 2, 3 };
  int n = a.ndim;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, a.ndim == b.ndim, DT_E_RUNTIME, "bilinear(): input dimensions "
           "do not match: got %d and %d", a.ndim, b.ndim);
  for (int i = 0; i < n - 1; i++)
    DT_CHECK(CX, a.shape[i] == b.shape[i], DT_E_RUNTIME, "bilinear(): input "
             "batch dimensions do not match at dim %d: got %lld and %lld", i,
             (long long)a.shape[i], (long long)b.shape[i]);
  DT_CHECK(CX, w.ndim == 3 && n > 0 && a.shape[n - 1] == w.shape[1] &&
           b.shape[n - 1] == w.shape[2], DT_E_RUNTIME, "bilinear(): the "
           "inputs' sizes do not match the weight's");
  DtMeta bias = a;
  if (dt_hin(c, 3)) bias = meta_of(c, dt_hin(c, 3));
  DT_CHECK(CX, c->e->tracing || (b.dtype == a.dtype && w.dtype == a.dtype &&
                                 bias.dtype == a.dtype), DT_E_RUNTIME,
           "All tensors must have the same dtype, got input1: %s, input2: %s, "
           "weight: %s, bias: %s", dt_dtype_info((DtDtype)a.dtype)->cpp,
           dt_dtype_info((DtDtype)b.dtype)->cpp,
           dt_dtype_info((DtDtype)w.dtype)->cpp,
           dt_dtype_info((DtDtype)bias.dtype)->cpp);
  flat[0] = -1;
  flat[1] = a.shape[n - 1];
  DtHandle *x = EMIT("aten.view.default", "tI", c->in[0], 2, flat);
  flat[1] = b.shape[n - 1];
  DtHandle *y = EMIT("aten.view.default", "tI", c->in[1], 2, flat);
  x = EMIT("aten._trilinear.default", "tttIIII", x, c->in[2], y, 2, e1, 1, e2,
           2,
           e3, 2, s);
  memcpy(shape, a.shape, sizeof(int64_t) * (size_t)n);
  shape[n - 1] = w.shape[0];
  x = EMIT("aten.view.default", "tI", x, n, shape);
  if (dt_hin(c, 3) != NULL) x = EMIT("aten.add.Tensor", "tt", x, dt_hin(c, 3));
  return finish(c, x);
}

/* ---- distances of rows ---- */

/* By a matrix product where that is asked for, or where there are many rows. */
static DtStatus cdist_decomp (DtDecompCall *c) {
  DtMeta a = meta_of(c, c->in[0]), b = meta_of(c, c->in[1]), r;
  double p = dt_arg_float(c->args, 2);
  int64_t mode = dt_arg_is_none(c->args, 3) ? 0 : dt_arg_int(c->args, 3);
  int64_t shape[DT_MAX_NDIM], flat[3], rows, cols;
  DtHandle *h[2];
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, a.ndim >= 2, DT_E_RUNTIME, "cdist only supports at least 2D "
           "tensors, X1 got: %dD", a.ndim);
  DT_CHECK(CX, b.ndim >= 2, DT_E_RUNTIME, "cdist only supports at least 2D "
           "tensors, X2 got: %dD", b.ndim);
  DT_CHECK(CX, a.shape[a.ndim - 1] == b.shape[b.ndim - 1], DT_E_RUNTIME,
           "X1 and X2 must have the same number of columns. X1: %lld X2: %lld",
           (long long)a.shape[a.ndim - 1], (long long)b.shape[b.ndim - 1]);
  for (int i = 0; i < 2; i++) {
    DtDtype t = (DtDtype)(i ? b : a).dtype;
    DT_CHECK(CX, dt_dtype_is_float(t), DT_E_RUNTIME, "cdist only supports "
             "floating-point dtypes, X%d got: %s", i + 1, op_dtype_word(t));
  }
  rows = a.shape[a.ndim - 2];
  cols = b.shape[b.ndim - 2];
  if (p != 2 || !(mode == 1 || (mode == 0 && (rows > 25 || cols > 25))) ||
      dt_meta_numel(&a) == 0 || dt_meta_numel(&b) == 0)
    return finish(c, EMIT("aten._cdist_forward.default", "ttfv", c->in[0],
                          c->in[1], p, c->args->v[3]));
  int na = a.ndim, nb = b.ndim;
  int64_t width = a.shape[na - 1], total = 1;
  int64_t tail[2][2] = { { rows, width }, { cols, width } };
  a.ndim = (uint8_t)(na - 2);
  b.ndim = (uint8_t)(nb - 2);
  DT_TRY(CX, dt_meta_broadcast(CX, &a, &b, &r));
  memcpy(shape, r.shape, sizeof(int64_t) * r.ndim);
  for (int i = 0; i < r.ndim; i++) total *= r.shape[i];
  for (int k = 0; k < 2; k++) {
    memcpy(shape + r.ndim, tail[k], sizeof tail[k]);
    flat[0] = total;
    memcpy(flat + 1, tail[k], sizeof tail[k]);
    h[k] = EMIT("aten.expand.default", "tI", c->in[k], r.ndim + 2, shape);
    h[k] = reshape(c, h[k], 3, flat);
    if (r.ndim == 0) h[k] = c->in[k];
  }
  h[0] = EMIT("aten._euclidean_dist.default", "tt", h[0], h[1]);
  shape[r.ndim] = rows;
  shape[r.ndim + 1] = cols;
  return finish(c, EMIT("aten.view.default", "tI", h[0], r.ndim + 2, shape));
}

/* ---- definitions ---- */

#define PD(id, schema_, brief_, decomp_, ...) \
  static const char *const id##_samples[] = { __VA_ARGS__, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = DT_OP_COMPOSITE, \
    .decomp = decomp_, .samples = id##_samples }
PD(bilinear, "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? "
   "bias=None) -> Tensor", "x1 W x2 for each output, plus a bias.",
   bilinear_decomp, "f32[4, 3], f32[4, 2], f32[5, 3, 2], f32[5]");
PD(cdist, "cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> "
   "Tensor", "Distances of all pairs of rows.", cdist_decomp,
   "f32[4, 3], f32[5, 3]", "f32[30, 3], f32[5, 3]");
PD(einsum, "einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> "
   "Tensor", "Sum of products over labelled dims.", einsum_decomp,
   "'ij,jk->ik', [f32[2, 3], f32[3, 4]]", "'bij,bjk->bik', [f32[2, 2, 3], "
   "f32[2, 3, 2]]", "'ii->i', [f32[3, 3]]");
PD(inner, "inner(Tensor self, Tensor other) -> Tensor",
   "Products of the last dims, summed.", inner_decomp, "f32[8], f32[8]",
   "f32[4, 3], f32[5, 3]");
PD(kron, "kron(Tensor self, Tensor other) -> Tensor",
   "Each element of self times the whole of other.", kron_decomp,
   "f32[4, 3], f32[2, 5]");
PD(inner_out, "inner.out(Tensor self, Tensor other, *, Tensor(a!) out) -> "
   "Tensor(a!)", "Products of the last dims, summed.", inner_out_decomp,
   "f32[8], f32[8], out=f32[]");
PD(outer, "outer(Tensor self, Tensor vec2) -> Tensor",
   "Products of all pairs.", outer_decomp, "f32[8], f32[6]");
PD(tensordot, "tensordot(Tensor self, Tensor other, int[] dims_self, int[] "
   "dims_other) -> Tensor", "Products over pairs of dims, summed.",
   tensordot_decomp, "f32[2, 3, 4], f32[4, 3, 5], [1, 2], [1, 0]");
