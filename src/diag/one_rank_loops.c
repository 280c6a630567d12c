/* SPDX-License-Identifier: MIT
** diag/one_rank_loops.c: loops that run over a part.
**
** A recurrence over a sequence (a state that is carried along, a scan written as a
** loop) runs as often as its part is long, so that its operators have no pairs.  What
** goes into it has: parts of the sequence, weights, and what it begins with.  Where the
** ranks' rounds together are one rank's, and each rank begins with the same as one rank
** does, the recurrence begins anew in each part.  Sums that nobody looks at between the
** rounds are none: they are addends, or batches were cut otherwise. */
#include "diag/one_rank_int.h"

#include <string.h>

typedef struct Loops {
  DtRuns *u;
  uint32_t *way;                /* results without a pair on the way, a bit each */
  bool *state;                  /* operators that depend on the first round */
  int start;                    /* what it begins with: an operator that has a pair */
} Loops;

static bool begins (const DtRecOp *r, const char *with) {
  return strncmp(r->label, with, strlen(with)) == 0;
}

/* Loops of a forward, of which nothing stays. */
static bool may_be_in_loop (const DtRecOp *r) {
  return r->op != NULL && !r->backward && r->raw == NULL && r->draw == NULL &&
         !(r->nin > 0 && r->in[0].param && (r->op->flags & DT_OP_INPLACE) != 0);
}

/* What made input `j` of operator `i`, as both keys say; 0. */
static int key_of (const DtRuns *u, int i, int j) {
  const int *dep = &u->dep[u->first[i] + 2 * j];
  return dep[0] > dep[1] ? dep[0] : dep[1];
}

static bool is_maker (const DtRecOp *r) {
  static const char *const names[] = {
    "aten.zeros", "aten.new_zeros", "aten.zeros_like", "aten.ones", "aten.new_ones",
    "aten.ones_like", "aten.full", "aten.new_full", "aten.full_like", "aten.zero_"
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (begins(r, names[i])) return true;
  return false;
}

/* Has it a pair with as many results?  A sequence that is taken apart has fewer. */
static bool is_paired (const DtRuns *u, int i) {
  const DtRecOp *const *p = dt_runs_pair(u, i);
  return p != NULL && p[0]->nout == u->op[i]->nout;
}

/* Mark what leads to the result through operators that have no pair.  *ok: all that
** goes into them is explained, and they are a forward's. */
static DtStatus mark_way (Loops *l, int end, int out, bool *ok) {
  DtRuns *u = l->u;
  DtRelation rel;
  memset(l->way, 0, (size_t)u->nop * sizeof *l->way);
  l->way[end] = dt_bit_of_key(dt_result_key(end, out));
  for (int i = end; i >= 0; i--) {
    if (l->way[i] == 0) continue;
    const bool paired = is_paired(u, i);
    if (!paired && !may_be_in_loop(u->op[i])) *ok = false;
    for (int j = 0; j < u->op[i]->nin && *ok; j++) {
      const int key = u->op[i]->in[j].none ? 0 : key_of(u, i, j);
      if (key == 0) continue;
      const int k = dt_op_of_key(key);
      if (is_paired(u, k)) {
        DtStatus st = dt_runs_relate(u, k, true, (key - 1) % DT_RUN_RESULTS, &rel);
        if (st != DT_OK) return st;
        if (dt_rel_explains(rel)) continue;
        if (!paired && rel.kind == DT_REL_NONE) *ok = false;    /* a loop goes on with what is wrong already */
      }
      l->way[k] |= dt_bit_of_key(key);
    }
  }
  return DT_OK;
}

static bool is_same_spot (const DtRecOp *a, const DtRecOp *b) {
  return a->line == b->line && strcmp(a->label, b->label) == 0 &&
         (a->file == b->file || (a->file && b->file && strcmp(a->file, b->file) == 0));
}

/* The operators at the place of operator `i` that are on the way. */
static int count_rounds (const Loops *l, int i, int *first) {
  int n = 0;
  *first = i;
  for (int k = i; k >= 0; k--)
    if (l->way[k] != 0 && is_same_spot(l->u->op[k], l->u->op[i])) {
      *first = k;
      n++;
    }
  return n;
}

/* Does operator `i` take what depends on the first round? */
static bool takes_state (const Loops *l, int i) {
  for (int j = 0; j < l->u->op[i]->nin; j++) {
    const int key = l->u->op[i]->in[j].none ? 0 : key_of(l->u, i, j);
    if (key > 0 && l->state[dt_op_of_key(key)]) return true;
  }
  return false;
}

/* Does operator `i` take the result of a round at the place of operator `last`? */
static bool takes_round (const Loops *l, int i, int last) {
  for (int j = 0; j < l->u->op[i]->nin; j++) {
    const int key = l->u->op[i]->in[j].none ? 0 : key_of(l->u, i, j);
    if (key > 0 && l->state[dt_op_of_key(key)] &&
        is_same_spot(l->u->op[dt_op_of_key(key)], l->u->op[last])) return true;
  }
  return false;
}

/* Does the result of each round lead to the next round's, and is it looked at besides,
** or is it more than a sum?  `from` is the first round of operator `last`. */
static bool is_carried (Loops *l, int from, int last) {
  DtRuns *u = l->u;
  bool more = false;
  memset(l->state, 0, (size_t)u->nop * sizeof *l->state);
  l->state[from] = true;
  for (int i = from + 1; i <= last; i++) l->state[i] = l->way[i] && takes_state(l, i);
  if (!l->state[last]) return false;
  memset(u->past, 0, (size_t)u->nop * sizeof *u->past);
  u->past[last] = 1;
  for (int i = last; i > from; i--)
    if (l->way[i] != 0) dt_runs_mark_inputs(u, i);
  for (int i = last; i > from && !more; i--) {
    if (l->way[i] == 0 || is_paired(u, i) || is_same_spot(u->op[i], u->op[last]))
      continue;
    more = u->past[i] != 0 && l->state[i] ? !begins(u->op[i], "aten.add")
                                          : takes_round(l, i, last);
  }
  return more;
}

/* The same numbers, made anew on every rank, that go into the first round. */
static DtStatus find_start (Loops *l, int round) {
  DtRuns *u = l->u;
  DtRelation rel;
  l->start = -1;
  memset(u->past, 0, (size_t)u->nop * sizeof *u->past);
  u->past[round] = 1;
  for (int i = round; i >= 0 && l->start < 0; i--) {
    if (u->past[i] == 0) continue;
    if (dt_runs_pair(u, i) == NULL) dt_runs_mark_inputs(u, i);
    else if (is_maker(u->op[i])) {
      DtStatus st = dt_runs_relate(u, i, true, 0, &rel);
      if (st != DT_OK) return st;
      if (rel.kind == DT_REL_COPY && rel.alike) l->start = i;
    }
  }
  return DT_OK;
}

/* The rounds of all ranks at the place of operator `i` are as many as one rank's. */
static bool are_rounds_dealt (const DtRuns *u, int i, int rounds,
                              const DtRecord *const *rank) {
  int n = 0;
  for (int r = 0; r < u->n; r++) {
    int mine = 0;
    for (int k = 0; k < rank[r]->n; k++)
      mine += is_same_spot(dt_record_of(rank[r], k), u->op[i]);
    if (mine == 0 || mine >= rounds) return false;
    n += mine;
  }
  return n % rounds == 0;
}

/* Is the place of operator `i` another than those before, at[0..n)? */
static bool is_new_spot (const DtRuns *u, int i, const int *at, int n) {
  for (int k = 0; k < n; k++)
    if (is_same_spot(u->op[at[k]], u->op[i])) return false;
  return true;
}

/* The last loop first; its places, a few of them. */
static DtStatus look_at_loops (Loops *l, int end, const DtRecord *const *rank) {
  enum { SPOTS = 64 };
  DtRuns *u = l->u;
  int at[SPOTS], n = 0;
  for (int i = end; i >= 0 && n < SPOTS; i--) {
    int first, rounds, all = 0;
    if (l->way[i] == 0 || is_paired(u, i) || !is_new_spot(u, i, at, n)) continue;
    at[n++] = i;
    if ((rounds = count_rounds(l, i, &first)) < u->n || !is_carried(l, first, i))
      continue;
    for (int k = 0; k < u->nop; k++) all += is_same_spot(u->op[k], u->op[i]);
    if (!are_rounds_dealt(u, i, all, rank)) continue;
    DtStatus st = find_start(l, first);
    if (st != DT_OK || l->start >= 0) return st;
  }
  return DT_OK;
}

DtStatus dt_runs_search_loops (DtRuns *u, int end, int out,
                               const DtRecord *const *rank, DtParting *f) {
  Loops l = {.u = u, .start = -1};
  bool ok = true;
  f->op = -1;
  l.way = DT_ANEWN(u->cx, &u->arena, uint32_t, u->nop + 1);
  l.state = DT_ANEWN(u->cx, &u->arena, bool, u->nop + 1);
  if (l.way == NULL || l.state == NULL) return DT_E_NOMEM;
  DtStatus st = mark_way(&l, end, out, &ok);
  if (st == DT_OK && ok) st = look_at_loops(&l, end, rank);
  if (st != DT_OK || l.start < 0) return st;
  *f = (DtParting){.op = l.start, .leaf = true, .anew = true};
  return DT_OK;
}
