/* SPDX-License-Identifier: MIT
** diag/one_rank.c: does the program compute what it computes on one rank?
**
** Operators of the runs are paired by line, name and count.  A tensor of the
** N ranks is related to the one-rank tensor (relate.c).  Numbers that the
** program reads or compares, and parameters as the last step leaves them, are
** what it claims to have computed; other results may be dropped.  A claim on
** which all ranks agree and that no splitting explains makes us look, in its past,
** for the first operator that takes explained tensors and makes an unexplained
** one.
**
** Programs may differ from one rank by right: they draw other random numbers,
** cut the batch again into small ones, keep parameters of their own between
** averages, count on sizes that hold for N ranks only.  All that is met in the
** past as well, and ends the search without a finding: silence is better than
** a false alarm. */
#include "diag/one_rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/map.h"
#include "diag/diag_int.h"
#include "diag/relate.h"

#define READ "aten._local_scalar_dense.default"

static const double NEAR = 2e-5, NEAR_NARROW = 5e-2;

/* A sum or difference may be smaller than what it was made of (an error that is
** kept); its rounding is not.  This share of the inputs counts as its size: 1e-6
** of them, 2.5e-3 in 16 bits, is rounding. */
static const double SHARE_OF_INPUTS = 5e-2;

/* An operator by what it is and where, and which of these. */
typedef struct Spot { uint64_t key; int nth, at; const DtRecOp *op; } Spot;

enum { MOST_NUMBERS = 24 };
typedef struct Numbers { int n; double v[MOST_NUMBERS]; } Numbers;

/* The records side by side. */
typedef struct Runs {
  DtDiag *g;
  DtCtx *cx;
  DtArena arena;
  int n;                        /* ranks */
  int nop;
  const DtRecOp **op;           /* of the one-rank run, oldest first */
  const DtRecOp **pair;         /* [nop][n]; NULL: it has no pair */
  int *dep;                     /* two of each input: a result (result_key) */
  int *first;                   /* [nop + 1]: where an operator's begin */
  uint32_t *past;               /* results in the past of what is looked at, a
                                ** bit each */
  uint32_t *taken;              /* results that a later operator takes */
  DtOrders orders;
  double near;
  Numbers size, literal;        /* of parts, and in the program */
  const char *why;              /* the search ended without a finding */
} Runs;

/* What the program claims to have computed: an input or result of an operator.
** The kinds are looked at one after the other. */
enum { CLAIM_READ, CLAIM_COMPARED, CLAIM_LEFT, NCLAIMS };
typedef struct Claim { int kind, op, at; bool after; } Claim;

/* --- pairs --- */

static uint64_t spot_key (const DtRecOp *r) {
  uint64_t h = dt_hash_str(DT_HASH_SEED, r->file ? r->file : "");
  h = dt_hash_u64(h, (uint64_t)r->line * 2 + (r->backward ? 1 : 0));
  return dt_hash_str(h, r->label);
}

static int compare_spots (const void *a, const void *b) {
  const Spot *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->nth - y->nth;
}

/* The operators of a record, sorted by spot; NULL without memory. */
static Spot *sort_spots (Runs *u, const DtRecord *k) {
  Spot *s = DT_ANEWN(u->cx, &u->arena, Spot, k->n + 1);
  if (s == NULL) return NULL;
  for (int i = 0; i < k->n; i++) {
    const DtRecOp *r = dt_record_of(k, k->n - 1 - i);
    s[i] = (Spot){spot_key(r), i, i, r};
  }
  qsort(s, (size_t)k->n, sizeof *s, compare_spots);
  for (int i = 0; i < k->n; i++)
    s[i].nth = i > 0 && s[i].key == s[i - 1].key ? s[i - 1].nth + 1 : 0;
  return s;
}

static const Spot *find_spot (const Spot *s, int n, uint64_t key, int nth) {
  Spot want = {key, nth, 0, NULL};
  return n > 0 ? bsearch(&want, s, (size_t)n, sizeof *s, compare_spots) : NULL;
}

/* Operators of rank `r` beside those of one rank, where it came to the spot as
** often. */
static void pair_rank (Runs *u, int r, const Spot *one, const Spot *s, int n) {
  for (int i = 0, end; i < u->nop; i = end + 1) {
    for (end = i; end + 1 < u->nop && one[end + 1].key == one[i].key; end++) { }
    if (find_spot(s, n, one[i].key, one[end].nth) == NULL ||
        find_spot(s, n, one[i].key, one[end].nth + 1) != NULL)
      continue;
    for (int k = i; k <= end; k++)
      u->pair[one[k].at * u->n + r] =
        find_spot(s, n, one[k].key, one[k].nth)->op;
  }
}

static DtStatus pair_operators (Runs *u, const DtRecord *const *rank,
                                const DtRecord *one) {
  Spot *mine = sort_spots(u, one), *s;
  if (mine == NULL) return DT_E_NOMEM;
  for (int i = 0; i < u->nop; i++)
    u->op[i] = dt_record_of(one, one->n - 1 - i);
  for (int r = 0; r < u->n; r++) {
    if ((s = sort_spots(u, rank[r])) == NULL) return DT_E_NOMEM;
    pair_rank(u, r, mine, s, rank[r]->n);
  }
  return DT_OK;
}

/* That operator of all ranks, or NULL. */
static const DtRecOp *const *pair_of (const Runs *u, int i) {
  const DtRecOp *const *p = &u->pair[i * u->n];
  for (int r = 0; r < u->n; r++)
    if (p[r] == NULL) return NULL;
  return p;
}

/* --- the past --- */

/* Tensor and storage -> the result that made or wrote it last. */
typedef struct Makers { DtMap tensor, storage; } Makers;

/* The last of many results stand for each other. */
enum { RESULTS = 32 };

/* A result of operator `i` as a number; 0 is none. */
static int result_key (int i, int out) {
  return i * RESULTS + (out < RESULTS ? out : RESULTS - 1) + 1;
}

static int op_of_key (int key) { return (key - 1) / RESULTS; }

static uint32_t bit_of_key (int key) {
  return (uint32_t)1 << ((key - 1) % RESULTS);
}

static bool is_past (const Runs *u, int i, int out) {
  return (u->past[i] & bit_of_key(result_key(i, out))) != 0;
}

static bool eq_pointer (const void *a, const void *b) { return a == b; }

static uint64_t id_hash (int64_t id) {
  return dt_hash_u64(DT_HASH_SEED, (uint64_t)id);
}

static int last_of (const DtMap *m, int64_t id) {
  return (int)(intptr_t)dt_map_get(m, id_hash(id), (void *)(intptr_t)id);
}

static DtStatus set_last (DtMap *m, int64_t id, int key) {
  return dt_map_put(m, id_hash(id), (void *)(intptr_t)id,
                    (void *)(intptr_t)key);
}


/* Did the operator write memory, not only look at it? */
static bool wrote (const DtRecOp *r, const DtRecVar *v) {
  if (r->op == NULL) return true;
  for (int i = 0; i < r->nin; i++)
    if (!r->in[i].none && r->in[i].storage == v->storage)
      return r->in[i].version != v->version;
  return true;
}

static DtStatus link_operator (Runs *u, Makers *m, int i) {
  const DtRecOp *r = u->op[i];
  int *dep = &u->dep[u->first[i]];
  DtStatus st = DT_OK;
  for (int j = 0; j < r->nin; j++) {
    if (r->in[j].none) continue;
    dep[2 * j] = last_of(&m->tensor, r->in[j].id);
    dep[2 * j + 1] = last_of(&m->storage, r->in[j].storage);
    for (int k = 2 * j; k < 2 * j + 2; k++)
      if (dep[k] > 0) u->taken[op_of_key(dep[k])] |= bit_of_key(dep[k]);
  }
  for (int j = 0; j < r->nout && st == DT_OK; j++) {
    if (r->out[j].none) continue;
    st = set_last(&m->tensor, r->out[j].id, result_key(i, j));
    if (st == DT_OK && wrote(r, &r->out[j]))
      st = set_last(&m->storage, r->out[j].storage, result_key(i, j));
  }
  return st;
}

static DtStatus link_operators (Runs *u) {
  Makers m;
  DtStatus st = DT_OK;
  u->first[0] = 0;
  for (int i = 0; i < u->nop; i++)
    u->first[i + 1] = u->first[i] + 2 * u->op[i]->nin;
  u->dep = DT_ANEWN(u->cx, &u->arena, int, u->first[u->nop] + 1);
  if (u->dep == NULL) return DT_E_NOMEM;
  dt_map_init(&m.tensor, u->cx, eq_pointer);
  dt_map_init(&m.storage, u->cx, eq_pointer);
  for (int i = 0; i < u->nop && st == DT_OK; i++)
    st = link_operator(u, &m, i);
  dt_map_fini(&m.tensor);
  dt_map_fini(&m.storage);
  return st;
}

/* Mark the past of a result: operators are in order, so one pass back. */
static void mark_past (Runs *u, int i, int out) {
  memset(u->past, 0, (size_t)u->nop * sizeof *u->past);
  u->past[i] = bit_of_key(result_key(i, out));
  for (; i >= 0; i--)
    for (int k = u->first[i]; u->past[i] != 0 && k < u->first[i + 1]; k++)
      if (u->dep[k] > 0) u->past[op_of_key(u->dep[k])] |= bit_of_key(u->dep[k]);
}

/* --- relations --- */

/* The j-th tensor before or after an operator of all ranks. */
typedef struct Seen { DtElements rank[DT_RELATE_RANKS], one; } Seen;

/* false: not known on some rank. */
static bool read_all (Runs *u, int i, bool after, int j, Seen *s,
                      DtStatus *st) {
  const DtRecOp *const *p = pair_of(u, i), *r = u->op[i];
  *st = DT_OK;
  if (p == NULL || j >= (after ? r->nout : r->nin)) return false;
  for (int k = 0; k < u->n; k++) {
    if ((after ? p[k]->nout : p[k]->nin) != (after ? r->nout : r->nin) ||
        !dt_elements_read(u->cx, after ? &p[k]->out[j] : &p[k]->in[j],
                          &s->rank[k], st))
      return false;
  }
  return dt_elements_read(u->cx, after ? &r->out[j] : &r->in[j], &s->one, st);
}

/* The largest element that the operator takes on one rank. */
static double size_of_inputs (Runs *u, const DtRecOp *r) {
  DtElements e;
  DtStatus st;
  double most = 0;
  for (int j = 0; j < r->nin; j++)
    if (dt_elements_read(u->cx, &r->in[j], &e, &st))
      for (int64_t k = 0; k < e.n; k++)
        if (isfinite(e.v[k]) && fabs(e.v[k]) > most) most = fabs(e.v[k]);
  return most;
}

/* Is its result made of sums, which may cancel? */
static bool may_cancel (const DtRecOp *r) {
  static const char *const names[] = {
    "aten.sub", "aten.rsub", "aten.add", "aten.sum", "aten.mm", "aten.bmm",
    "aten.convolution", "aten._foreach_add", "aten._foreach_sub"
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strncmp(r->label, names[i], strlen(names[i])) == 0) return true;
  return false;
}

static DtStatus relate (Runs *u, int i, bool after, int j, DtRelation *out) {
  DtArenaMark top = dt_arena_mark(&u->cx->scratch);
  DtStatus st = DT_OK;
  Seen *s = DT_ANEWN(u->cx, &u->cx->scratch, Seen, 1);
  *out = (DtRelation){.kind = DT_REL_UNKNOWN, .factor = 1};
  if (s == NULL) st = DT_E_NOMEM;
  if (st == DT_OK && read_all(u, i, after, j, s, &st)) {
    double share = may_cancel(u->op[i]) ? SHARE_OF_INPUTS : NEAR;
    double size = after ? share * size_of_inputs(u, u->op[i]) : 0;
    if (s->one.narrow && !s->one.whole) u->near = NEAR_NARROW;
    st = dt_relate(u->cx, u->n, s->rank, &s->one, u->near, size, &u->arena,
                   &u->orders, out);
  }
  dt_arena_release(&u->cx->scratch, top);
  return st;
}

static bool is_scaled (DtRelation r) { return r.factor != 1; }

static bool explains (DtRelation r) {
  return r.kind == DT_REL_COPY || r.kind == DT_REL_PART ||
         r.kind == DT_REL_ADDEND;
}

/* --- what may differ by right --- */

static bool begins (const DtRecOp *r, const char *with) {
  return strncmp(r->label, with, strlen(with)) == 0;
}

static bool same_draw (const DtRecDraw *a, const DtRecDraw *b) {
  return a && b && a->seed == b->seed && a->at == b->at && a->end == b->end;
}

/* Numbers that were drawn otherwise than on one rank. */
static bool draws_otherwise (const Runs *u, int i) {
  const DtRecOp *const *p = pair_of(u, i);
  for (int r = 0; p != NULL && u->op[i]->draw && r < u->n; r++)
    if (!same_draw(p[r]->draw, u->op[i]->draw)) return true;
  return false;
}

/* A choice of elements: which, depends on sizes. */
static bool chooses (const DtRecOp *r) {
  static const char *const names[] = {
    "aten.split", "aten.unbind", "aten.select.", "aten.slice.", "aten.index",
    "aten.narrow", "aten.masked_select", "aten.tensor_split", "aten.unfold"
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (begins(r, names[i])) return true;
  return false;
}

/* A choice that differs from the one on one rank because the program cuts what it
** has into still smaller pieces (micro-batches), or counts with sizes that hold
** for these ranks.  The same leading piece on all ranks, and all but a few
** elements of a part, are no such thing. */
static bool cuts_otherwise (const Runs *u, int i, int j, DtRelation in,
                            DtRelation out) {
  const DtRecOp *r = pair_of(u, i)[0];
  int64_t had = 1, got = 1;
  for (int d = 0; d < r->in[0].lndim; d++) had *= r->in[0].lshape[d];
  for (int d = 0; d < r->out[j].lndim; d++) got *= r->out[j].lshape[d];
  if (in.kind == DT_REL_COPY && out.alike) return false;
  return 2 * got <= had || in.kind == DT_REL_COPY;
}

/* Statistics of a batch normalization are each rank's own, unless it says
** otherwise. */
static bool is_batch_norm (const DtRecOp *r) {
  return strstr(r->label, "batch_norm") != NULL;
}

static bool is_number (const DtValue *v) {
  return v->kind == DT_V_INT || v->kind == DT_V_FLOAT || v->kind == DT_V_BOOL;
}

/* Are numbers that the program gives other ones on other ranks? */
static bool numbers_differ (const Runs *u, int i) {
  const DtRecOp *const *p = pair_of(u, i);
  for (int r = 1; r < u->n && p[0]->op != NULL; r++)
    for (int k = 0; k < p[0]->args.n && k < p[r]->args.n; k++)
      if (is_number(&p[0]->args.v[k]) && is_number(&p[r]->args.v[k]) &&
          !dt_value_equal(&p[0]->args.v[k], &p[r]->args.v[k]))
        return true;
  return false;
}

/* Attention of heads that the program gives to the ranks, one each, without
** counting them: on one rank it is one large head. */
static bool is_one_head (const DtRecOp *r, DtRelation in) {
  return (strstr(r->label, "attention") != NULL && in.kind == DT_REL_PART &&
          in.dim == r->in[0].lndim - 1) ||
         (begins(r, "aten._softmax.") && in.kind == DT_REL_ADDEND);
}

static bool writes (const DtRecOp *r) {
  return r->op != NULL && (r->op->flags & DT_OP_INPLACE) != 0;
}

/* --- numbers that hold for these ranks only --- */

static void keep_number (Numbers *n, double v) {
  for (int i = 0; i < n->n; i++)
    if (n->v[i] == v) return;
  if (n->n < MOST_NUMBERS) n->v[n->n++] = v;
}

/* Sizes of parts, and what the program divides and multiplies by. */
static void keep_numbers (Runs *u, int i, int j, DtRelation r) {
  const DtRecVar *v = &pair_of(u, i)[0]->in[j];
  const DtArgs *a = &u->op[i]->args;
  if (r.kind == DT_REL_PART && r.dim < v->lndim && v->lshape[r.dim] > 2)
    keep_number(&u->size, (double)v->lshape[r.dim]);
  if (u->op[i]->op == NULL || u->op[i]->backward ||
      !(begins(u->op[i], "aten.div") || begins(u->op[i], "aten.mul")))
    return;
  for (int k = 0; k < a->n; k++) {
    const DtValue *x = &a->v[k];
    double f = x->kind == DT_V_INT ? (double)x->u.i
             : x->kind == DT_V_FLOAT ? x->u.f : 0;
    if (f != 0) keep_number(&u->literal, fabs(f) < 1 ? 1 / f : f);
  }
}

/* Does the program divide by a number that is the size of a part, which is
** larger on one rank? */
static bool counts_parts (const Runs *u) {
  for (int i = 0; i < u->size.n; i++)
    for (int k = 0; k < u->literal.n; k++)
      if (fabs(u->size.v[i] - u->literal.v[k]) < 1e-6) return true;
  return false;
}

/* --- the search --- */

/* What is found: an operator of the past and how it takes its inputs. */
typedef struct Fault {
  int op;                       /* -1: none */
  int in, out;                  /* the input and result to be shown */
  DtRelation rel;               /* of that input */
  bool scaled;                  /* an input is but for a factor */
  bool leaf;                    /* it has no inputs */
} Fault;

/* Parameters that are averaged now and then (local SGD): each rank's are its own
** between. */
static bool is_own_parameter (const DtRecVar *v, DtRelation r) {
  return v->param && r.kind == DT_REL_ADDEND && is_scaled(r) && !r.alike;
}

/* An input that no splitting explains although all results of its maker are: each
** rank takes another one of them, one rank the first (chunk(4)[rank] where the
** program knows that there are 4). */
static DtStatus is_other_result (Runs *u, int i, int j, bool *other) {
  int key = u->dep[u->first[i] + 2 * j];
  DtRelation made = {.kind = DT_REL_UNKNOWN};
  DtStatus st = DT_OK;
  *other = false;
  if (key == 0 || u->op[op_of_key(key)]->nout < 2) return DT_OK;
  st = relate(u, op_of_key(key), true, (key - 1) % RESULTS, &made);
  *other = st == DT_OK && explains(made);
  return st;
}

/* Relations of all inputs; *explained: each has one, and there are some.
** u->why is set where the search is to end. */
static DtStatus look_at_inputs (Runs *u, int i, Fault *f, bool *explained) {
  const DtRecOp *r = u->op[i];
  DtRelation rel;
  int n = 0;
  *explained = true;
  f->scaled = false;
  for (int j = 0; j < r->nin && u->why == NULL; j++) {
    if (r->in[j].none) continue;
    DtStatus st = relate(u, i, false, j, &rel);
    if (st != DT_OK) return st;
    if (is_own_parameter(&r->in[j], rel) && !writes(r))
      u->why = "each rank updates parameters of its own";
    if (!explains(rel)) *explained = false;
    if (rel.kind == DT_REL_NONE) {
      bool other;
      st = is_other_result(u, i, j, &other);
      if (st != DT_OK) return st;
      if (other) u->why = "each rank takes another tensor of a list";
    }
    if (is_scaled(rel)) f->scaled = true;
    if (pair_of(u, i) != NULL) keep_numbers(u, i, j, rel);
    if (n++ == 0 || (f->rel.kind == DT_REL_COPY && rel.kind != DT_REL_COPY)) {
      f->rel = rel;
      f->in = j;
    }
  }
  f->leaf = n == 0;
  return DT_OK;
}

/* Has result `j` of the operator, which is not explained, a reason of its own to
** differ?  Sets u->why. */
static void look_for_reason (Runs *u, int i, int j, const Fault *f,
                             DtRelation out) {
  const DtRecOp *r = u->op[i];
  if (is_batch_norm(r))
    u->why = "batch statistics are each rank's own";
  else if (numbers_differ(u, i))
    u->why = "the program gives each rank a number of its own";
  else if (!f->leaf && is_one_head(r, f->rel))
    u->why = "heads may be one for each rank";
  else if (f->leaf && !(begins(r, "aten.arange") && out.alike))
    u->why = "the ranks make tensors of their own";
  else if (!f->leaf && chooses(r) && cuts_otherwise(u, i, j, f->rel, out))
    u->why = "the ranks choose other elements than one rank does";
  else if (f->scaled && counts_parts(u))
    u->why = "a number in the program is the size of a part";
}

static DtStatus look_at_operator (Runs *u, int i, Fault *f) {
  const DtRecOp *r = u->op[i];
  DtRelation out;
  bool explained;
  if (pair_of(u, i) == NULL || begins(r, "aten.empty") ||
      begins(r, "aten.new_empty"))
    return DT_OK;
  if (draws_otherwise(u, i)) {
    u->why = "the ranks draw other random numbers than one rank does";
    return DT_OK;
  }
  DtStatus st = look_at_inputs(u, i, f, &explained);
  if (st != DT_OK || !explained || u->why != NULL || (f->leaf && r->draw))
    return st;
  for (int j = 0; j < r->nout; j++) {
    if (!is_past(u, i, j)) continue;
    st = relate(u, i, true, j, &out);
    if (st != DT_OK) return st;
    if (out.kind != DT_REL_NONE) continue;
    look_for_reason(u, i, j, f, out);
    if (u->why != NULL) return DT_OK;
    f->op = i;
    f->out = j;
    return DT_OK;
  }
  return DT_OK;
}

/* The first faulty operator before `end` in the past that is marked. */
static DtStatus search_past (Runs *u, int end, Fault *f) {
  DtStatus st = DT_OK;
  f->op = -1;
  u->near = NEAR;
  u->orders.n = u->size.n = u->literal.n = 0;
  for (int i = 0; i <= end && st == DT_OK && f->op < 0 && u->why == NULL; i++)
    if (u->past[i] != 0) st = look_at_operator(u, i, f);
  return st;
}

/* --- what is told --- */

static const char *base_name (const char *path) {
  const char *s = path ? strrchr(path, '/') : NULL;
  return s ? s + 1 : path ? path : "";
}

static const DtRecVar *var_of_claim (const DtRecOp *r, const Claim *c) {
  return c->after ? &r->out[c->at] : &r->in[c->at];
}

/* The element that lies furthest from the other tensor's. */
static int64_t find_furthest (const DtElements *a, const DtElements *b) {
  int64_t at = 0;
  for (int64_t k = 1; k < a->n && k < b->n; k++)
    if (fabs(a->v[k] - b->v[k]) > fabs(a->v[at] - b->v[at])) at = k;
  return at;
}

/* "x.py:17 reads 443.262 where one rank reads 429.412" */
static void add_claim (Runs *u, const Claim *c, DtBuf *b) {
  const DtRecOp *mine = u->pair[c->op * u->n], *one = u->op[c->op];
  const char *verb = c->after ? "leaves" : "reads";
  DtElements x, y;
  DtStatus st;
  dt_buf_addf(b, "%s:%d %s ", base_name(one->file), one->line, verb);
  if (!dt_elements_read(u->cx, var_of_claim(one, c), &y, &st) || y.n == 0) {
    dt_buf_add(b, "another number than one rank");
  } else if (mine == NULL ||
             !dt_elements_read(u->cx, var_of_claim(mine, c), &x, &st) ||
             x.n == 0) {
    dt_buf_addf(b, "another number than one rank, %.6g", y.v[0]);
  } else {
    int64_t at = find_furthest(&x, &y);
    dt_buf_addf(b, "%.6g where one rank %s %.6g", x.v[at], verb, y.v[at]);
  }
}

/* "x is a part along dimension 1 of one rank's" */
static void add_relation (DtBuf *b, const char *name, DtRelation r) {
  dt_buf_addf(b, "%s is ", name ? name : "what it takes");
  if (r.kind == DT_REL_PART)
    dt_buf_addf(b, "a part along dimension %d", r.dim);
  else
    dt_buf_add(b, r.kind == DT_REL_COPY ? "a copy" : "an addend");
  dt_buf_add(b, " of one rank's");
  if (is_scaled(r)) {
    dt_buf_add(b, ", but for the factor ");
    if (r.factor < 1) dt_buf_addf(b, "%.4g", 1 / r.factor);
    else dt_buf_addf(b, "1/%.4g", r.factor);
  }
}

/* The finding stands where the fault is. */
static void tell (Runs *u, const Fault *f, const Claim *c, const DtRecord *of) {
  const DtRecOp *r = u->op[f->op], *mine = pair_of(u, f->op)[0];
  DtFinding found = {.kind = dt_find_kind(DT_FIND_ID_NOT_AS_ONE),
                     .seq = mine->seq, .op = mine->label, .file = mine->file,
                     .line = r->line, .module = mine->module,
                     .backward = r->backward};
  const DtRecVar *v = f->leaf ? &mine->out[f->out] : &mine->in[f->in];
  const char *name = dt_record_var_name(of, v);
  const char *subject = name ? name
                      : dt_record_var_name(of, &mine->out[f->out]);
  DtBuf b;
  dt_buf_init(&b, u->cx);
  add_claim(u, c, &b);
  dt_buf_addf(&b, "; the runs part at %s%s: ", r->label,
              r->backward ? " in backward" : "");
  if (f->leaf) dt_buf_add(&b, "every rank makes the same, a piece of what one "
                             "rank makes");
  else add_relation(&b, name, f->rel);
  if (!f->leaf) dt_buf_add(&b, ", its result is not");
  if (!b.oom)
    dt_diag_put(u->g, &found, 0, NULL, subject ? subject : "", dt_buf_str(&b));
  else
    dt_error_clear(u->cx);
  dt_buf_fini(&b);
}

/* --- claims --- */

static bool is_read (const DtRecOp *r) {
  return r->op != NULL && strcmp(r->label, READ) == 0;
}

/* Does the program get an answer from it, and no tensor? */
static bool is_question (const DtRecOp *r) {
  return r->op != NULL && r->nout == 0 && !is_read(r);
}

static bool is_taken (const Runs *u, int i, int out) {
  return (u->taken[i] & bit_of_key(result_key(i, out))) != 0;
}

/* The next claim after *c, of three kinds after each other: what is read, what
** is compared, parameters that are left.  false: there is none. */
static bool next_claim (const Runs *u, Claim *c) {
  for (; c->kind < NCLAIMS; c->kind++, c->op = 0, c->at = -1)
    for (; c->op < u->nop; c->op++, c->at = -1) {
      const DtRecOp *r = u->op[c->op];
      int n = c->kind == CLAIM_LEFT ? (r->nin > 0 ? r->nout : 0)
            : c->kind == CLAIM_READ ? is_read(r)
            : is_question(r) ? r->nin : 0;
      c->after = c->kind == CLAIM_LEFT;
      while (++c->at < n)
        if (!var_of_claim(r, c)->none &&
            (!c->after || (var_of_claim(r, c)->param &&
                           !is_taken(u, c->op, c->at))))
          return true;
    }
  return false;
}

/* The result that was last made or written of what the claim is about; -1. */
static int maker_of (const Runs *u, const Claim *c, int *out) {
  const int *dep = &u->dep[u->first[c->op] + 2 * c->at];
  int key = c->after ? result_key(c->op, c->at)
                     : dep[0] > dep[1] ? dep[0] : dep[1];
  *out = key > 0 ? (key - 1) % RESULTS : 0;
  return key > 0 ? op_of_key(key) : -1;
}

static bool is_full (const Runs *u, const Claim *c) {
  const DtRecVar *x, *y = var_of_claim(u->op[c->op], c);
  const DtRecOp *mine = u->pair[c->op * u->n];
  if (mine == NULL || c->at >= (c->after ? mine->nout : mine->nin)) return false;
  x = var_of_claim(mine, c);
  for (int d = 0; x->lndim == y->lndim && d < x->lndim; d++)
    if (x->lshape[d] != y->lshape[d]) return false;
  return x->lndim == y->lndim;
}

/* Is there a claim that no splitting explains, although all ranks agree on it?
** What each has for itself it may use for itself. */
static DtStatus is_unexplained (Runs *u, const Claim *c, bool *yes) {
  int out = 0, maker = maker_of(u, c, &out);
  bool all = pair_of(u, c->op) != NULL;     /* or only some ranks read it */
  DtRelation rel;
  *yes = false;
  if (maker < 0 || (c->kind != CLAIM_READ && !is_full(u, c))) return DT_OK;
  u->near = NEAR;
  DtStatus st = all ? relate(u, c->op, c->after, c->at, &rel)
                    : relate(u, maker, true, out, &rel);
  *yes = st == DT_OK && rel.kind == DT_REL_NONE && rel.alike;
  return st;
}

/* *told: a finding came of it. */
static DtStatus judge_claim (Runs *u, const Claim *c, const DtRecord *of,
                             bool *told) {
  int out, maker = maker_of(u, c, &out);
  Fault f = {.op = -1};
  bool yes;
  DtStatus st = is_unexplained(u, c, &yes);
  if (st != DT_OK || !yes) return st;
  mark_past(u, maker, out);
  st = search_past(u, maker, &f);
  /* a sum that is left may be meant to be one; a number that is read is a loss */
  if (st != DT_OK || f.op < 0 || (f.scaled && c->kind != CLAIM_READ)) return st;
  tell(u, &f, c, of);
  *told = true;
  return DT_OK;
}

/* --- the runs --- */

static DtStatus open_runs (Runs *u, const DtRecord *const *rank,
                           const DtRecord *one) {
  size_t nop = (size_t)one->n + 1;
  u->nop = one->n;
  u->near = NEAR;
  u->op = DT_ANEWN(u->cx, &u->arena, const DtRecOp *, nop);
  u->pair = DT_ANEWN(u->cx, &u->arena, const DtRecOp *, nop * (size_t)u->n);
  u->first = DT_ANEWN(u->cx, &u->arena, int, nop);
  u->past = DT_ANEWN(u->cx, &u->arena, uint32_t, nop);
  u->taken = DT_ANEWN(u->cx, &u->arena, uint32_t, nop);
  if (!u->op || !u->pair || !u->first || !u->past || !u->taken)
    return DT_E_NOMEM;
  DtStatus st = pair_operators(u, rank, one);
  return st == DT_OK ? link_operators(u) : st;
}

bool dt_diag_may_compare (const DtRecord *k) {
  bool claims = false;
  for (int i = 0; i < k->n && !claims; i++) {
    const DtRecOp *r = dt_record_of(k, i);
    claims = is_read(r) || r->raw != NULL || r->ncoll > 0;
  }
  return claims && k->drop == 0 && k->total == k->n && k->values;
}

DtStatus dt_diag_claims_differ (DtCtx *cx, const DtRecord *mine,
                                const DtRecord *one, bool *differ) {
  Runs u = {.cx = cx, .n = 1};
  Claim c = {.at = -1};
  DtStatus st = open_runs(&u, &mine, one);
  *differ = false;
  while (st == DT_OK && !*differ && next_claim(&u, &c))
    if (u.pair[c.op] == NULL) *differ = c.kind == CLAIM_READ;
    else st = is_unexplained(&u, &c, differ);
  dt_arena_fini(cx, &u.arena);
  return st;
}

DtStatus dt_diag_compare_one (DtDiag *g, int n, const DtRecord *const *rank,
                              const DtRecord *one, const char **why) {
  Runs u = {.g = g, .cx = g->s->cx, .n = n};
  Claim c = {.at = -1};
  bool told = false;
  *why = NULL;
  if (n > DT_RELATE_RANKS) {
    *why = "there are more ranks than are compared";
    return DT_OK;
  }
  DtStatus st = open_runs(&u, rank, one);
  while (st == DT_OK && !told && u.why == NULL && next_claim(&u, &c))
    st = judge_claim(&u, &c, rank[0], &told);
  *why = u.why;
  dt_arena_fini(u.cx, &u.arena);
  return st;
}
