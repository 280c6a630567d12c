/* SPDX-License-Identifier: MIT
** diag/one_rank_own.c: rows of a table that each rank has for itself.
**
** A rank that holds some rows (a vocabulary, classes) takes the number of its first
** one off the indices, which no splitting of one rank's explains, looks up, masks
** what is another rank's, and sums.  Between the first step and the sum the tensors
** are the rank's own; the sum is one rank's again, or the ranges are wrong.  What
** masks must belong to one rank each: where an item is of two ranks or of none, that
** mask is the fault. */
#include "diag/one_rank_int.h"

#include <string.h>

typedef struct Walk {
  DtRuns *u;
  uint32_t *own;                /* results that are each rank's own, a bit each */
  bool met;                     /* they were used with a part of a tensor */
  int mask;                     /* what made a mask that is no partition; -1 */
  int put;                      /* what writes at indices of its own, unmasked; -1 */
  int parted;                   /* where what is explained became what is not; -1 */
  DtParting *f;
} Walk;

static bool begins (const DtRecOp *r, const char *const *names) {
  for (int i = 0; names[i] != NULL; i++)
    if (strncmp(r->label, names[i], strlen(names[i])) == 0) return true;
  return false;
}

/* The result that made or wrote input `j` last; 0: none. */
static int key_of (const DtRuns *u, int i, int j) {
  const int *dep = &u->dep[u->first[i] + 2 * j];
  return dep[0] > dep[1] ? dep[0] : dep[1];
}

static bool is_own (const Walk *w, int i, int j) {
  int key = key_of(w->u, i, j);
  return key > 0 && (w->own[dt_op_of_key(key)] & dt_bit_of_key(key)) != 0;
}

static bool has_shape (const DtRecVar *x, const DtRecVar *y) {
  for (int d = 0; x->lndim == y->lndim && d < x->lndim; d++)
    if (x->lshape[d] != y->lshape[d]) return false;
  return x->lndim == y->lndim;
}

static bool is_whole_number (const DtRecVar *v) {
  return !dt_dtype_is_float((DtDtype)v->meta->dtype);
}

/* Where a range begins is taken off the indices, or compared with them. */
static bool takes_range (const DtRuns *u, int i) {
  static const char *const names[] = {
    "aten.sub", "aten.add", "aten.ge.", "aten.gt.", "aten.le.", "aten.lt.",
    "aten.eq.", "aten.ne.", "aten.floor_divide", "aten.clamp", NULL
  };
  const DtRecOp *r = u->op[i];
  return begins(r, names) && r->nin > 0 && is_whole_number(&r->in[0]) &&
         is_whole_number(&r->out[0]) && dt_runs_numbers_differ(u, i);
}

/* How many ranks have each item of a mask; *many, *none: of the items, those of
** more ranks, or of none.  false: that is not known. */
static DtStatus count_owners (Walk *w, int i, int j, DtParting *f, bool *known) {
  DtRuns *u = w->u;
  const DtRecOp *const *p = dt_runs_pair(u, i);
  DtArenaMark top = dt_arena_mark(&u->cx->scratch);
  DtElements e;
  DtStatus st = DT_OK;
  int64_t n = -1, ones = 0, rest = 0;
  int *count = NULL;
  *known = false;
  for (int r = 0; r < u->n && p != NULL && j < p[r]->nin; r++) {
    if (!dt_elements_read(u->cx, &p[r]->in[j], &e, &st) || (r > 0 && e.n != n)) break;
    if (r == 0) {
      n = e.n;
      count = DT_ANEWN(u->cx, &u->cx->scratch, int, n + 1);
      if (count == NULL) st = DT_E_NOMEM;
    }
    for (int64_t k = 0; k < n && count != NULL; k++) count[k] += e.v[k] != 0;
    *known = count != NULL && r == u->n - 1;
  }
  for (int64_t k = 0; *known && k < n; k++) {
    ones += count[k] == 1;
    rest += count[k] == u->n - 1;
  }
  for (int64_t k = 0; *known && k < n; k++) {
    int owners = ones >= rest ? count[k] : u->n - count[k];
    f->many += owners > 1;
    f->none += owners < 1;
  }
  f->of = n;
  *known = *known && 2 * (ones >= rest ? ones : rest) > n;
  dt_arena_release(&u->cx->scratch, top);
  return st;
}

/* The first operator on the way to input `j` whose result has not the shape that it
** has on one rank: a mask of the columns of a part. */
static int find_cut (const Walk *w, int i, int j) {
  const DtRuns *u = w->u;
  int found = -1;
  for (int key = key_of(u, i, j); key > 0;) {
    i = dt_op_of_key(key);
    const DtRecOp *const *p = dt_runs_pair(u, i);
    if (p == NULL || u->op[i]->nout == 0 ||
        has_shape(&p[0]->out[0], &u->op[i]->out[0])) break;
    found = i;
    key = 0;
    for (j = 0; j < u->op[i]->nin && key == 0; j++)
      if (is_own(w, i, j)) key = key_of(u, i, j);
  }
  return found;
}

/* What made the mask that operator `i` takes, but for views of it and casts. */
static int mask_maker (const DtRuns *u, int i, int j) {
  static const char *const casts[] = { "aten._to_copy.", NULL };
  int key = key_of(u, i, j), k = dt_op_of_key(key);
  while (u->op[k]->nin == 1 && key_of(u, k, 0) > 0 &&
         (begins(u->op[k], casts) ||
          (u->op[k]->op && (u->op[k]->op->flags & DT_OP_VIEW) != 0)))
    k = dt_op_of_key(key_of(u, k, 0));
  return k;
}

/* A mask that is one rank's own meets numbers: is it a partition of the items? */
static DtStatus look_at_mask (Walk *w, int i, int j) {
  static const char *const names[] = {
    "aten.masked_fill", "aten.where.", "aten.mul.", "aten._to_copy.",
    "aten.index_put", NULL
  };
  const DtRecOp *r = w->u->op[i];
  DtParting f = {.op = -1};
  bool known;
  if (w->mask >= 0 || !begins(r, names) ||
      (DtDtype)r->in[j].meta->dtype != DT_BOOL) return DT_OK;
  if (!has_shape(&dt_runs_pair(w->u, i)[0]->in[j], &r->in[j])) {
    w->mask = find_cut(w, i, j);
    return DT_OK;
  }
  DtStatus st = count_owners(w, i, j, &f, &known);
  if (st != DT_OK || !known || f.many + f.none == 0) return st;
  w->mask = mask_maker(w->u, i, j);
  w->f->many = f.many;
  w->f->none = f.none;
  w->f->of = f.of;
  return DT_OK;
}

/* Were numbers masked by what is a rank's own, on the way to input `j`?  The indices that
** they were taken by do not count. */
static bool is_masked (const Walk *w, int i, int j, int deep) {
  const int key = key_of(w->u, i, j), k = dt_op_of_key(key);
  if (key <= 0 || deep > 8) return true;        /* not known */
  for (int m = 0; m < w->u->op[k]->nin; m++) {
    const DtRecVar *v = &w->u->op[k]->in[m];
    if (v->none || !is_own(w, k, m)) continue;
    if ((DtDtype)v->meta->dtype == DT_BOOL) return true;
    if (!is_whole_number(v) && is_masked(w, k, m, deep + 1)) return true;
  }
  return false;
}

/* An item is of one rank, and each of them writes at its index. */
static void look_at_put (Walk *w, int i) {
  static const char *const names[] = {
    "aten.index_put", "aten.scatter", "aten.index_add", NULL
  };
  const DtRecOp *r = w->u->op[i];
  bool index = false;
  for (int j = 1; j < r->nin; j++)
    index = index || (!r->in[j].none && is_own(w, i, j) && is_whole_number(&r->in[j]));
  if (w->put >= 0 || !index || !begins(r, names)) return;
  for (int j = 1; j < r->nin; j++)
    if (!r->in[j].none && is_own(w, i, j) && !is_whole_number(&r->in[j]) &&
        is_masked(w, i, j, 0)) return;
  w->put = i;
}

/* *own: it takes what is a rank's own.  *explained: all else it takes is. */
static DtStatus look_at_inputs (Walk *w, int i, bool *own, bool *explained) {
  static const char *const looks[] = {
    "aten.gather.", "aten.embedding.", "aten.index.", "aten.index_select.",
    "aten.where.", "aten.masked_fill", NULL
  };
  const DtRecOp *r = w->u->op[i];
  bool part = false, index = false;
  DtRelation rel;
  *own = false;
  *explained = true;
  for (int j = 0; j < r->nin; j++) {
    if (r->in[j].none) continue;
    if (is_own(w, i, j)) {
      *own = true;
      index = index || is_whole_number(&r->in[j]);
      DtStatus st = look_at_mask(w, i, j);
      if (st != DT_OK) return st;
      continue;
    }
    DtStatus st = dt_runs_relate(w->u, i, false, j, &rel);
    if (st != DT_OK) return st;
    part = part || rel.kind == DT_REL_PART;
    if (!dt_rel_explains(rel)) *explained = false;
  }
  w->met = w->met || (part && index && begins(r, looks));
  look_at_put(w, i);
  return DT_OK;
}

/* *go: on to the next operator. */
static DtStatus look_at_operator (Walk *w, int i, bool *go) {
  DtRuns *u = w->u;
  const DtRecOp *r = u->op[i];
  DtRelation out;
  bool own, explained;
  *go = true;
  if (dt_runs_pair(u, i) == NULL || strncmp(r->label, "aten.empty", 10) == 0)
    return DT_OK;
  DtStatus st = look_at_inputs(w, i, &own, &explained);
  if (st != DT_OK || (!own && !explained)) return st;
  for (int j = 0; j < r->nout && st == DT_OK && *go; j++) {
    if ((u->past[i] & dt_bit_of_key(dt_result_key(i, j))) == 0) continue;
    st = dt_runs_relate(u, i, true, j, &out);
    if (st != DT_OK || (dt_rel_explains(out) && !(own && out.extreme))) continue;
    if (own && r->raw != NULL && out.kind == DT_REL_NONE && out.alike) {
      w->f->op = i;
      w->f->out = j;
      *go = false;
    } else if (own || takes_range(u, i)) {
      w->own[i] |= dt_bit_of_key(dt_result_key(i, j));
    } else if (out.kind == DT_REL_NONE) {
      w->parted = i;                    /* the runs part for another reason */
      *go = false;
    }
  }
  return st;
}

/* The line of the mask, or of what is written without one; with neither nothing is
** told, for what ranks make of ranges of their own may differ by right. */
static void set_place (Walk *w, const char *why) {
  DtParting *f = w->f;
  const int at = w->mask >= 0 ? w->mask : w->put;
  if (f->op < 0 || !w->met || at < 0) {
    f->op = -1;
    w->u->why = why;
    return;
  }
  f->op = at;
  f->out = 0;
  f->own = true;
}

/* The first operator that the one-rank run does not explain, searched from the
** program's beginning among what led to this result. It ends where ranks drew
** other random numbers: behind that nothing is comparable. */
DtStatus dt_runs_search_own (DtRuns *u, int end, int out, DtParting *f) {
  Walk w = {.u = u, .mask = -1, .put = -1, .parted = -1, .f = f};
  DtStatus st = DT_OK;
  const char *why = u->why;
  bool go = true;
  w.own = DT_ANEWN(u->cx, &u->arena, uint32_t, u->nop + 1);
  if (w.own == NULL) return DT_E_NOMEM;
  *f = (DtParting){.op = -1};
  u->why = NULL;
  dt_runs_mark_past(u, end, out);
  for (int i = 0; i <= end && st == DT_OK && go; i++) {
    if (u->past[i] == 0) continue;
    if (dt_runs_draws_otherwise(u, i)) break;
    st = look_at_operator(&w, i, &go);
  }
  if (st == DT_OK && w.parted >= 0) {
    st = dt_runs_search_at(u, end, out, w.parted, f);
    if (f->op < 0) u->why = why;
    return st;
  }
  set_place(&w, why);
  return st;
}
