/* SPDX-License-Identifier: MIT
** diag/one_rank.c: does the program compute what it computes on one rank?
**
** Operators of the runs are paired by line, name and count.  A tensor of the
** N ranks is related to the one-rank tensor (relate.c).  Numbers that the
** program reads or compares, tensors that it shows or reads whole, and parameters as the
** last step leaves them, are what it claims to have computed; other results may be
** dropped.  A claim on
** which all ranks agree and that no splitting explains makes us look, in its past,
** for the first operator that takes explained tensors and makes an unexplained
** one (one_rank_search.c). */
#include "diag/one_rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"
#include "diag/one_rank_int.h"

#define READ "aten._local_scalar_dense.default"

/* An operator by what it is and where, and which of these. */
typedef struct Spot { uint64_t key; int nth, at; const DtRecOp *op; } Spot;

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
static Spot *sort_spots (DtRuns *u, const DtRecord *k) {
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
static void pair_rank (DtRuns *u, int r, const Spot *one, const Spot *s, int n) {
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

static DtStatus pair_operators (DtRuns *u, const DtRecord *const *rank,
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

/* --- what is told --- */

static const char *base_name (const char *path) {
  const char *s = path ? strrchr(path, '/') : NULL;
  return s ? s + 1 : path ? path : "";
}

static const DtRecVar *var_of_claim (const DtRecOp *r, const DtRunClaim *c) {
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
static void add_claim (DtRuns *u, const DtRunClaim *c, DtBuf *b) {
  const DtRecOp *mine = u->pair[c->op * u->n], *one = u->op[c->op];
  const char *verb = c->kind == DT_CLAIM_SHOWN ? "makes" : c->after ? "leaves" : "reads";
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
  if (c->kind == DT_CLAIM_SHOWN) dt_buf_add(b, ", which is shown");
}

/* "x is a part along dimension 1 of one rank's" */
static void add_relation (DtBuf *b, const char *name, DtRelation r) {
  dt_buf_addf(b, "%s is ", name ? name : "what it takes");
  if (r.kind == DT_REL_PART)
    dt_buf_addf(b, "a part along dimension %d", r.dim);
  else
    dt_buf_add(b, r.kind == DT_REL_COPY ? "a copy" : "an addend");
  dt_buf_add(b, " of one rank's");
  if (dt_rel_is_scaled(r)) {
    dt_buf_add(b, ", but for the factor ");
    if (r.factor < 1) dt_buf_addf(b, "%.4g", 1 / r.factor);
    else dt_buf_addf(b, "1/%.4g", r.factor);
  }
}

/* "each rank has a range of its own, and 2 of 20 items are of several ranks" */
static void add_owners (DtBuf *b, const DtParting *f) {
  dt_buf_add(b, "each rank looks up a range of its own, ");
  if (f->many + f->none == 0)
    dt_buf_add(b, "and what they make together is not what one rank makes");
  else
    dt_buf_addf(b, "and of %lld items %lld are of several ranks, %lld of none",
                (long long)f->of, (long long)f->many, (long long)f->none);
}

/* What a parameter that is written is called, by the rules that saw it trained. */
static const char *name_written (DtRuns *u, const DtRecord *of,
                                 const DtRecVar *v) {
  const DtLearn *l = v && !v->spec ? dt_diag_by_storage(u->g, v->storage) : NULL;
  return l && *l->name ? l->name : v ? dt_record_var_name(of, v) : NULL;
}

/* What the tensor that is named is, for fixes.def; NULL: it cannot be said. */
static const char *what_it_is (const DtRuns *u, const DtParting *f, const char *name) {
  if (f->leaf || f->own || f->overflow || f->written || name == NULL) return NULL;
  if (f->rel.kind == DT_REL_PART && !dt_rel_is_scaled(f->rel)) return DT_IS_PART;
  if (f->rel.kind != DT_REL_ADDEND) return NULL;
  if (!dt_rel_is_scaled(f->rel)) return DT_IS_ADDEND;
  return fabs(f->rel.factor * u->n - 1) < 1e-6 ? DT_IS_MEAN : NULL;
}

/* The finding stands where the fault is. */
static void tell (DtRuns *u, const DtParting *f, const DtRunClaim *c, const DtRecord *of) {
  const DtRecOp *r = u->op[f->op], *mine = dt_runs_pair(u, f->op)[0];
  DtFinding found = {.kind = dt_find_kind(DT_FIND_ID_NOT_AS_ONE),
                     .seq = mine->seq, .op = mine->label, .file = f->file,
                     .line = f->line, .module = mine->module,
                     .backward = r->backward};
  const DtRecVar *v = f->leaf || f->own ? &mine->out[f->out] : &mine->in[f->in];
  const char *name = dt_record_var_name(of, v);
  const char *made = f->made ? dt_record_var_name(of, f->made) : NULL;
  found.in_graph = v->needs_grad;
  const char *subject = f->own ? dt_record_var_name(of, &mine->out[f->out])
                      : f->written ? name_written(u, of, f->written)
                      : made ? made
                      : name ? name
                      : v->param && name_written(u, of, v) ? name_written(u, of, v)
                      : dt_record_var_name(of, &mine->out[f->out]);
  DtBuf b;
  dt_buf_init(&b, u->cx);
  add_claim(u, c, &b);
  dt_buf_addf(&b, "; the runs part at %s%s: ", r->label,
              r->backward ? " in backward" : "");
  if (f->overflow)
    dt_buf_add(&b, "the sum over the ranks is larger than its integers can be");
  else if (f->own) add_owners(&b, f);
  else if (f->anew)
    dt_buf_add(&b, "each rank has a part of the sequence and begins with this, where "
                   "the part before ends with something else");
  else if (f->leaf) dt_buf_add(&b, "every rank makes the same, a piece of what one "
                             "rank makes");
  else add_relation(&b, name, f->rel);
  if (!f->leaf && !f->own && !f->overflow) dt_buf_add(&b, ", its result is not");
  if (f->line != r->line) dt_buf_addf(&b, " (%s:%d)", base_name(r->file), r->line);
  dt_buf_add(&b, f->says);
  if (!b.oom)
    dt_diag_put_for(u->g, &found, what_it_is(u, f, made ? made : name), 0, NULL,
                    subject ? subject : "", dt_buf_str(&b));
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

static bool is_taken (const DtRuns *u, int i, int out) {
  return (u->taken[i] & dt_bit_of_key(dt_result_key(i, out))) != 0;
}

/* Inputs or results of an operator of which there may be claims of that kind. */
static int count_claims (const DtRecOp *r, int kind) {
  return kind == DT_CLAIM_LEFT ? (r->nin > 0 ? r->nout : 0)
       : kind == DT_CLAIM_SHOWN ? (r->shown != 0 ? r->nout : 0)
       : kind == DT_CLAIM_READ ? is_read(r)
       : is_question(r) ? r->nin : 0;
}

static bool is_claimed (const DtRuns *u, const DtRunClaim *c) {
  const DtRecOp *r = u->op[c->op];
  if (var_of_claim(r, c)->none) return false;
  if (c->kind == DT_CLAIM_SHOWN)
    return c->at < DT_RUN_RESULTS && (r->shown >> c->at & 1) != 0;
  return !c->after || (var_of_claim(r, c)->param && !is_taken(u, c->op, c->at));
}

/* The next claim after *c, the kinds one after the other: what is read, what is
** compared, parameters that are left, what is shown.  false: there is none. */
static bool next_claim (const DtRuns *u, DtRunClaim *c) {
  for (; c->kind < DT_NCLAIMS; c->kind++, c->op = 0, c->at = -1)
    for (; c->op < u->nop; c->op++, c->at = -1) {
      int n = count_claims(u->op[c->op], c->kind);
      c->after = c->kind == DT_CLAIM_LEFT || c->kind == DT_CLAIM_SHOWN;
      while (++c->at < n)
        if (is_claimed(u, c)) return true;
    }
  return false;
}

/* The result that was last made or written of what the claim is about; -1. */
static int maker_of (const DtRuns *u, const DtRunClaim *c, int *out) {
  const int *dep = &u->dep[u->first[c->op] + 2 * c->at];
  int key = c->after ? dt_result_key(c->op, c->at)
                     : dep[0] > dep[1] ? dep[0] : dep[1];
  *out = key > 0 ? (key - 1) % DT_RUN_RESULTS : 0;
  return key > 0 ? dt_op_of_key(key) : -1;
}

static bool has_shape (const DtRecVar *x, const DtRecVar *y) {
  for (int d = 0; x->lndim == y->lndim && d < x->lndim; d++)
    if (x->lshape[d] != y->lshape[d]) return false;
  return x->lndim == y->lndim;
}

/* Only some ranks read it, and what made it: the last results before it that all
** ranks have.  *maker, *out: one on which they agree and that no splitting
** explains; -1. */
static DtStatus find_agreed (DtRuns *u, int *maker, int *out) {
  DtRelation rel;
  int i = *maker;
  memset(u->past, 0, (size_t)u->nop * sizeof *u->past);
  u->past[i] = dt_bit_of_key(dt_result_key(i, *out));
  for (*maker = -1; i >= 0; i--) {
    if (u->past[i] == 0) continue;
    if (dt_runs_pair(u, i) == NULL) {
      dt_runs_mark_inputs(u, i);
      continue;
    }
    for (int j = 0; j < u->op[i]->nout; j++) {
      if ((u->past[i] & dt_bit_of_key(dt_result_key(i, j))) == 0) continue;
      DtStatus st = dt_runs_relate(u, i, true, j, &rel);
      if (st != DT_OK) return st;
      if (rel.kind != DT_REL_NONE || !rel.alike ||
          !has_shape(&dt_runs_pair(u, i)[0]->out[j], &u->op[i]->out[j])) continue;
      *maker = i;
      *out = j;
      return DT_OK;
    }
  }
  return DT_OK;
}

/* A parameter that is left: is it one number for all ranks, each of which holds
** its part? */
static bool is_distributed (const DtRuns *u, const DtRunClaim *c) {
  const DtRecVar *y = var_of_claim(u->op[c->op], c);
  return c->kind == DT_CLAIM_LEFT && u->n > 1 && y->spec != NULL;
}

static bool is_full (const DtRuns *u, const DtRunClaim *c) {
  const DtRecOp *mine = u->pair[c->op * u->n];
  return mine != NULL && c->at < (c->after ? mine->nout : mine->nin) &&
         has_shape(var_of_claim(mine, c), var_of_claim(u->op[c->op], c));
}

/* Does one rank read what is no number, as a program does that needs several ranks and
** reads what none has sent? */
static DtStatus is_no_number (DtRuns *u, const DtRunClaim *c, bool *yes) {
  DtArenaMark top = dt_arena_mark(&u->cx->scratch);
  DtElements e;
  DtStatus st = DT_OK;
  *yes = c->kind == DT_CLAIM_READ &&
         dt_elements_read(u->cx, var_of_claim(u->op[c->op], c), &e, &st) && e.n == 1 &&
         isnan(e.v[0]);
  dt_arena_release(&u->cx->scratch, top);
  return st;
}

/* Is there a claim that no splitting explains, although all ranks agree on it?
** What each has for itself it may use for itself.  *maker, *out: the result where
** the search begins.  *own: none explains it, and the ranks do not agree. */
static DtStatus is_unexplained (DtRuns *u, const DtRunClaim *c, int *maker,
                                int *out, bool *yes, bool *own) {
  bool all = dt_runs_pair(u, c->op) != NULL;     /* or only some ranks read it */
  DtRelation rel;
  DtStatus st;
  *maker = maker_of(u, c, out);
  *yes = *own = false;
  if (*maker < 0 ||
      (c->kind != DT_CLAIM_READ && !is_full(u, c) && !is_distributed(u, c)))
    return DT_OK;
  u->near = dt_runs_near;
  if (!all && dt_runs_pair(u, *maker) == NULL) {
    st = find_agreed(u, maker, out);
    *yes = *maker >= 0;
    return st;
  }
  st = all ? dt_runs_relate(u, c->op, c->after, c->at, &rel)
           : dt_runs_relate(u, *maker, true, *out, &rel);
  *own = st == DT_OK && rel.kind == DT_REL_NONE && !rel.alike &&
         c->kind == DT_CLAIM_READ;
  *yes = st == DT_OK && rel.kind == DT_REL_NONE &&
         (rel.alike || is_distributed(u, c));
  return st;
}

/* *told: a finding came of it.  `mixed`: of what the ranks do not agree on, where
** addends met what was reduced. */
/* Does each rank show what it makes of its own part?  That is said of the part; what is
** computed further, or shown by one rank, may be meant for the whole. */
static bool shows_own (const DtRuns *u, const DtRunClaim *c, const DtParting *f) {
  bool yes = c->kind == DT_CLAIM_SHOWN && f->op == c->op && !f->leaf &&
             f->rel.kind == DT_REL_PART;
  for (int r = 0; yes && r < u->n; r++)
    yes = (dt_runs_pair(u, c->op)[r]->shown >> c->at & 1) != 0;
  return yes;
}

static DtStatus judge_claim (DtRuns *u, const DtRunClaim *c,
                             const DtRecord *const *rank, bool mixed, bool *told) {
  DtParting f = {.op = -1};
  int out, maker;
  bool yes, own, nan = false;
  DtStatus st = is_unexplained(u, c, &maker, &out, &yes, &own);
  if (st == DT_OK) st = is_no_number(u, c, &nan);
  if (st != DT_OK || nan || !(mixed ? own : yes)) return st;
  st = dt_runs_search(u, maker, out, &f);
  if (st == DT_OK && f.op < 0 && u->why == dt_runs_own_number)
    st = dt_runs_search_own(u, maker, out, &f);
  if (st == DT_OK && f.op < 0 && u->why == NULL && !u->noise)
    st = dt_runs_search_loops(u, maker, out, rank, &f);
  if (st == DT_OK && mixed && f.op >= 0) {
    st = dt_runs_mixes(u, f.op, &yes);
    if (st == DT_OK && !yes && f.rel.kind == DT_REL_PART && !f.own && !f.overflow)
      st = dt_runs_meets_reduced(u, maker, out, f.op, &yes);
    if (!yes) f.op = -1;
  }
  /* a sum that is left may be meant to be one; a number that is read is a loss */
  if (st != DT_OK || f.op < 0 ||
      (f.scaled && c->kind != DT_CLAIM_READ && c->kind != DT_CLAIM_SHOWN)) return st;
  if (shows_own(u, c, &f)) return DT_OK;
  st = dt_runs_blame(u, &f);
  if (st != DT_OK) return st;
  tell(u, &f, c, rank[0]);
  *told = true;
  return DT_OK;
}

/* --- the runs --- */

static DtStatus open_runs (DtRuns *u, const DtRecord *const *rank,
                           const DtRecord *one) {
  size_t nop = (size_t)one->n + 1;
  u->nop = one->n;
  u->near = dt_runs_near;
  u->op = DT_ANEWN(u->cx, &u->arena, const DtRecOp *, nop);
  u->pair = DT_ANEWN(u->cx, &u->arena, const DtRecOp *, nop * (size_t)u->n);
  u->first = DT_ANEWN(u->cx, &u->arena, int, nop);
  u->past = DT_ANEWN(u->cx, &u->arena, uint32_t, nop);
  u->taken = DT_ANEWN(u->cx, &u->arena, uint32_t, nop);
  if (!u->op || !u->pair || !u->first || !u->past || !u->taken)
    return DT_E_NOMEM;
  DtStatus st = pair_operators(u, rank, one);
  return st == DT_OK ? dt_runs_link(u) : st;
}

bool dt_diag_may_compare (const DtRecord *k) {
  bool claims = false;
  for (int i = 0; i < k->n && !claims; i++) {
    const DtRecOp *r = dt_record_of(k, i);
    claims = is_read(r) || r->shown != 0 || r->raw != NULL || r->ncoll > 0;
  }
  return claims && k->drop == 0 && k->total == k->n && k->values;
}

DtStatus dt_diag_claims_differ (DtCtx *cx, const DtRecord *mine,
                                const DtRecord *one, bool *differ) {
  DtRuns u = {.cx = cx, .n = 1};
  DtRunClaim c = {.at = -1};
  int maker, out;
  bool own;
  DtStatus st = open_runs(&u, &mine, one);
  *differ = false;
  while (st == DT_OK && !*differ && next_claim(&u, &c))
    if (u.pair[c.op] == NULL) *differ = c.kind == DT_CLAIM_READ;
    else st = is_unexplained(&u, &c, &maker, &out, differ, &own);
  dt_arena_fini(cx, &u.arena);
  return st;
}

/* All claims in turn, until one is told.  A reason for which runs may part holds for the
** claims that it lies in the past of: the others are judged for themselves.  *why: the
** first. */
static DtStatus judge_claims (DtRuns *u, const DtRecord *const *rank, bool mixed,
                              bool *told, const char **why) {
  enum { REASONS = 16 };        /* each takes a search */
  DtRunClaim c = {.at = -1};
  DtStatus st = DT_OK;
  int n = 0;
  while (st == DT_OK && !*told && n < REASONS && next_claim(u, &c) &&
         !(mixed && c.kind != DT_CLAIM_READ)) {
    u->why = NULL;
    st = judge_claim(u, &c, rank, mixed, told);
    n += u->why != NULL;
    if (*why == NULL) *why = u->why;
  }
  return st;
}

DtStatus dt_diag_compare_one (DtDiag *g, int n, const DtRecord *const *rank,
                              const DtRecord *one, const char **why) {
  DtRuns u = {.g = g, .cx = g->s->cx, .n = n};
  bool told = false;
  *why = NULL;
  if (n > DT_RELATE_RANKS) {
    *why = "there are more ranks than are compared";
    return DT_OK;
  }
  DtStatus st = open_runs(&u, rank, one);
  if (st == DT_OK) st = judge_claims(&u, rank, false, &told, why);
  if (st == DT_OK && !told) st = judge_claims(&u, rank, true, &told, why);
  if (st == DT_OK && !told) st = dt_runs_search_ring(&u, rank, &told);
  dt_arena_fini(u.cx, &u.arena);
  return st;
}
