/* SPDX-License-Identifier: MIT
** diag/one_rank_past.c: what lies in the past of a result, and what the tensors of
** the ranks are of those of one rank (relate.c). */
#include "diag/one_rank_int.h"

#include <math.h>
#include <string.h>
#include "base/hash.h"
#include "base/map.h"

const double dt_runs_near = 2e-5;
static const double NEAR_NARROW = 5e-2;

/* A sum or difference may be smaller than what it was made of (an error that is
** kept); its rounding is not.  This share of the inputs counts as its size: 1e-6
** of them, 2.5e-3 in 16 bits, is rounding. */
static const double SHARE_OF_INPUTS = 5e-2;

/* That operator of all ranks, or NULL. */
const DtRecOp *const *dt_runs_pair (const DtRuns *u, int i) {
  const DtRecOp *const *p = &u->pair[i * u->n];
  for (int r = 0; r < u->n; r++)
    if (p[r] == NULL) return NULL;
  return p;
}

/* --- the past --- */

/* Tensor and storage -> the result that made or wrote it last. */
typedef struct Makers { DtMap tensor, storage; } Makers;

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

/* How many tensors an operator writes that gives none: the list that it is in
** place of (_foreach_mul_). */
static int count_written (const DtRecOp *r) {
  const DtValue *v = r->args.n > 0 ? &r->args.v[0] : NULL;
  if (r->op == NULL || r->nout > 0 || !(r->op->flags & DT_OP_INPLACE) ||
      v == NULL || v->kind != DT_V_LIST)
    return 0;
  return v->u.list.n < r->nin ? v->u.list.n : r->nin;
}

/* For each input the result it came from, by tensor and by storage: a view has
** its own id, and a write through another view changes only the storage's last
** maker. */
static DtStatus link_operator (DtRuns *u, Makers *m, int i) {
  const DtRecOp *r = u->op[i];
  int *dep = &u->dep[u->first[i]];
  DtStatus st = DT_OK;
  for (int j = 0; j < r->nin; j++) {
    if (r->in[j].none) continue;
    dep[2 * j] = last_of(&m->tensor, r->in[j].id);
    dep[2 * j + 1] = last_of(&m->storage, r->in[j].storage);
    for (int k = 2 * j; k < 2 * j + 2; k++)
      if (dep[k] > 0) u->taken[dt_op_of_key(dep[k])] |= dt_bit_of_key(dep[k]);
  }
  for (int j = 0; j < count_written(r) && st == DT_OK; j++)
    if (!r->in[j].none)
      st = set_last(&m->storage, r->in[j].storage, dt_result_key(i, j));
  for (int j = 0; j < r->nout && st == DT_OK; j++) {
    if (r->out[j].none) continue;
    st = set_last(&m->tensor, r->out[j].id, dt_result_key(i, j));
    if (st == DT_OK && wrote(r, &r->out[j]))
      st = set_last(&m->storage, r->out[j].storage, dt_result_key(i, j));
  }
  return st;
}

DtStatus dt_runs_link (DtRuns *u) {
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

void dt_runs_mark_input (DtRuns *u, int i, int j) {
  for (int k = u->first[i] + 2 * j, n = 0; n < 2; k++, n++)
    if (u->dep[k] > 0)
      u->past[dt_op_of_key(u->dep[k])] |= dt_bit_of_key(u->dep[k]);
}

void dt_runs_mark_inputs (DtRuns *u, int i) {
  for (int j = 0; u->past[i] != 0 && j < u->op[i]->nin; j++)
    dt_runs_mark_input(u, i, j);
}

/* Operators are in order, so one pass back. */
void dt_runs_mark_past (DtRuns *u, int i, int out) {
  memset(u->past, 0, (size_t)u->nop * sizeof *u->past);
  u->past[i] = dt_bit_of_key(dt_result_key(i, out));
  for (; i >= 0; i--) dt_runs_mark_inputs(u, i);
}

static bool begins (const DtRecOp *r, const char *with) {
  return strncmp(r->label, with, strlen(with)) == 0;
}

int dt_runs_reduced_by (const DtRuns *u, int i, int j) {
  enum { FAR = 6 };
  for (int n = 0; n < FAR; n++) {
    int key = 0;
    for (int k = 0; k < 2; k++)
      if (u->dep[u->first[i] + 2 * j + k] > key) key = u->dep[u->first[i] + 2 * j + k];
    if (key == 0) return -1;
    i = dt_op_of_key(key);
    if (u->op[i]->raw != NULL) return begins(u->op[i], "allreduce_") ? i : -1;
    j = begins(u->op[i], "aten.copy_") ? 1 : 0;
    if (u->op[i]->nin != j + 1) return -1;
  }
  return -1;
}

/* --- relations --- */

/* The j-th tensor before or after an operator of all ranks. */
typedef struct Seen { DtElements rank[DT_RELATE_RANKS], one; } Seen;

/* false: not known on some rank. */
static bool read_all (DtRuns *u, int i, bool after, int j, Seen *s,
                      DtStatus *st) {
  const DtRecOp *const *p = dt_runs_pair(u, i), *r = u->op[i];
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

/* The largest element of a tensor. */
static double size_of (DtRuns *u, const DtRecVar *v) {
  DtElements e;
  DtStatus st;
  double most = 0;
  if (dt_elements_read(u->cx, v, &e, &st))
    for (int64_t k = 0; k < e.n; k++)
      if (isfinite(e.v[k]) && fabs(e.v[k]) > most) most = fabs(e.v[k]);
  return most;
}

/* The largest element that the operator takes on one rank. */
static double size_of_inputs (DtRuns *u, const DtRecOp *r) {
  double most = 0;
  for (int j = 0; j < r->nin; j++) most = fmax(most, size_of(u, &r->in[j]));
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

/* What made input `j` of operator `i`; -1. */
static int maker_of_input (const DtRuns *u, int i, int j) {
  const int *dep = &u->dep[u->first[i] + 2 * j];
  const int key = dep[0] > dep[1] ? dep[0] : dep[1];
  const int made = key > 0 ? dt_op_of_key(key) : -1;
  return made < i ? made : -1;
}

/* By what number argument 1 multiplies, 1 where it is none. */
static double number_by (const DtRecOp *r) {
  const DtValue *v = r->args.n > 1 ? &r->args.v[1] : NULL;
  const double x = v == NULL ? 1 : v->kind == DT_V_INT ? (double)v->u.i
                 : v->kind == DT_V_FLOAT ? v->u.f : 1;
  return x == 0 ? 1 : begins(r, "aten.div") ? 1 / fabs(x) : fabs(x);
}

/* How large the numbers were whose rounding the result of operator `i` still carries: a
** difference keeps that of what it was taken of, however small it is itself, and so
** does what is made of it by products, sums and copies.  0: of itself. */
static double size_of_rounding (DtRuns *u, int i, int depth) {
  static const char *const passes[] = { "aten.mul", "aten.div", "aten.mean", "aten.neg",
    "aten.detach", "aten.clone", "aten.copy_", "aten._to_copy", "aten.view",
    "aten.unsqueeze", "aten.squeeze", "aten.alias", "aten.lerp", "allreduce_" };
  const DtRecOp *r = u->op[i];
  bool passed = false;
  double most = 0;
  if (depth == 0) return 0;
  for (size_t k = 0; k < sizeof passes / sizeof passes[0] && !passed; k++)
    passed = begins(r, passes[k]);
  if (!passed && !may_cancel(r)) return 0;
  for (int j = 0; j < r->nin; j++) {
    const int made = r->in[j].none ? -1 : maker_of_input(u, i, j);
    double size = made < 0 ? 0 : size_of_rounding(u, made, depth - 1);
    if (may_cancel(r)) size = fmax(size, size_of(u, &r->in[j]));
    if (size > 0 && begins(r, "aten.mul") && r->nin == 2)
      size *= size_of(u, &r->in[1 - j]);
    most = fmax(most, size);
  }
  return passed ? most * (r->nin == 1 ? number_by(r) : 1) : most;
}

/* The rounding of an operator's result, or of its input's. */
static double rounding_of (DtRuns *u, int i, bool after, int j) {
  enum { FAR = 10 };
  const int made = after ? i : maker_of_input(u, i, j);
  return made < 0 ? 0 : SHARE_OF_INPUTS * size_of_rounding(u, made, FAR);
}

DtStatus dt_runs_relate (DtRuns *u, int i, bool after, int j, DtRelation *out) {
  DtArenaMark top = dt_arena_mark(&u->cx->scratch);
  DtStatus st = DT_OK;
  Seen *s = DT_ANEWN(u->cx, &u->cx->scratch, Seen, 1);
  *out = (DtRelation){.kind = DT_REL_UNKNOWN, .factor = 1};
  if (s == NULL) st = DT_E_NOMEM;
  if (st == DT_OK && read_all(u, i, after, j, s, &st)) {
    double share = may_cancel(u->op[i]) ? SHARE_OF_INPUTS : dt_runs_near;
    double size = after ? share * size_of_inputs(u, u->op[i]) : 0;
    if (s->one.narrow && !s->one.whole) u->near = NEAR_NARROW;
    st = dt_relate(u->cx, u->n, s->rank, &s->one, u->near, size, &u->arena,
                   &u->orders, out);
    if (st == DT_OK && out->kind == DT_REL_NONE) {
      const double rest = rounding_of(u, i, after, j);
      if (rest > size)
        st = dt_relate(u->cx, u->n, s->rank, &s->one, u->near, rest, &u->arena,
                       &u->orders, out);
      out->rough = st == DT_OK && out->kind != DT_REL_NONE;
    }
  }
  dt_arena_release(&u->cx->scratch, top);
  return st;
}

/* --- rounding that a division magnifies --- */

/* What is divided and by what, from the j-th result on: inputs `step` apart. */
static bool divides (const DtRecOp *r, int *first, int *step) {
  static const struct { const char *name; int first; bool list; } ops[] = {
    { "aten.div", 0, false }, { "aten.addcdiv", 1, false },
    { "aten.reciprocal", 0, false }, { "aten.rsqrt", 0, false },
    { "aten.sign", 0, false }, { "aten._foreach_div", 0, true },
    { "aten._foreach_addcdiv", 1, true } };
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
    if (begins(r, ops[i].name)) {
      *step = ops[i].list ? r->nout : 1;
      *first = ops[i].first * *step;
      return true;
    }
  return false;
}

/* Blank the elements of `out` that were made of what is only rounding in `x`, whose
** larger elements end at `least`.  Gives how many of them are not 0. */
static int64_t blank_noise (DtElements *out, const DtElements *x, double least) {
  int64_t n = 0;
  if (x->n != out->n || x->whole) return 0;
  for (int64_t k = 0; k < out->n; k++)
    if (fabs(x->v[k]) <= least && !isnan(out->v[k])) {
      out->v[k] = NAN;
      n += x->v[k] != 0;        /* what got no gradient is no rounding */
    }
  return n;
}

static double least_of (const DtElements *x, double near) {
  double most = 0;
  for (int64_t k = 0; k < x->n; k++)
    if (isfinite(x->v[k]) && fabs(x->v[k]) > most) most = fabs(x->v[k]);
  return DT_RELATE_FAR * near * most;
}

/* Is an input of what divides, or takes a root, explained by the rounding of larger
** numbers alone?  A gradient that is 0 but for rounding is divided by its own size. */
static DtStatus takes_rounding (DtRuns *u, int i, bool *yes) {
  int first, step;
  DtRelation rel;
  DtStatus st = DT_OK;
  *yes = false;
  if (!divides(u->op[i], &first, &step) && !begins(u->op[i], "aten.sqrt"))
    return DT_OK;
  for (int j = 0; j < u->op[i]->nin && !*yes && st == DT_OK; j++) {
    if (u->op[i]->in[j].none) continue;
    st = dt_runs_relate(u, i, false, j, &rel);
    *yes = st == DT_OK && rel.rough;
  }
  return st;
}

/* Does this operator divide by a tiny number, so that rounding noise grows to
** a difference? Then what is noise in the divisor is blanked in the quotient
** and the rest is compared; at most half may be blanked. */
DtStatus dt_runs_magnifies (DtRuns *u, int i, int j, bool *yes) {
  DtArenaMark top = dt_arena_mark(&u->cx->scratch);
  DtStatus st = DT_OK;
  DtRelation rel = {.kind = DT_REL_NONE};
  int first, step;
  int64_t blanks = 0, all = 0;
  Seen *s = DT_ANEWN(u->cx, &u->cx->scratch, Seen, 2);
  *yes = false;
  if (s == NULL) st = DT_E_NOMEM;
  if (st == DT_OK) st = takes_rounding(u, i, yes);
  if (st == DT_OK && !*yes && divides(u->op[i], &first, &step) &&
      read_all(u, i, true, j, s, &st)) {
    for (int q = first + j; q < u->op[i]->nin && st == DT_OK; q += step)
      if (read_all(u, i, false, q, s + 1, &st))
        for (int k = 0; k < u->n; k++)
          blanks += blank_noise(&s->rank[k], &s[1].rank[k],
                                least_of(&s[1].one, u->near));
    for (int k = 0; k < u->n; k++) {
      s->rank[k].blanks = true;
      all += s->rank[k].n;
    }
    if (st == DT_OK && blanks > 0 && 2 * blanks <= all)
      st = dt_relate(u->cx, u->n, s->rank, &s->one, u->near, 0, &u->arena,
                     &u->orders, &rel);
    *yes = rel.kind != DT_REL_NONE;
  }
  dt_arena_release(&u->cx->scratch, top);
  return st;
}

DtStatus dt_runs_relate_rows (DtRuns *u, int i, int j, DtRelation *out) {
  DtArenaMark top = dt_arena_mark(&u->cx->scratch);
  DtStatus st = DT_OK;
  Seen *s = DT_ANEWN(u->cx, &u->cx->scratch, Seen, 1);
  if (s == NULL) st = DT_E_NOMEM;
  if (st == DT_OK && read_all(u, i, true, j, s, &st) && s->one.ndim > 0 &&
      s->one.shape[0] == 1 && s->rank[0].ndim == s->one.ndim &&
      s->rank[0].shape[0] == u->n) {
    DtElements row = s->rank[0];
    size_t size = (size_t)(row.ndim - 1) * sizeof *row.shape;
    row.n /= u->n;
    row.ndim = --s->one.ndim;
    memmove(row.shape, row.shape + 1, size);
    memmove(s->one.shape, s->one.shape + 1, size);
    for (int k = 0; k < u->n; k++, row.v += row.n) s->rank[k] = row;
    st = dt_relate(u->cx, u->n, s->rank, &s->one, u->near, 0, &u->arena, &u->orders,
                   out);
  }
  dt_arena_release(&u->cx->scratch, top);
  return st;
}
