/* SPDX-License-Identifier: MIT
** diag/one_rank_search.c: where do the runs part?
**
** Programs may differ from one rank by right: they draw other random numbers,
** cut the batch again into small ones, keep parameters of their own between
** averages, count on sizes that hold for N ranks only.  All that is met in the
** past as well, and ends the search without a finding: silence is better than
** a false alarm. */
#include "diag/one_rank_int.h"

#include <math.h>
#include <string.h>



static bool is_past (const DtRuns *u, int i, int out) {
  return (u->past[i] & dt_bit_of_key(dt_result_key(i, out))) != 0;
}

/* --- what may differ by right --- */

const char dt_runs_own_number[] = "the program gives each rank a number of its own";
static const char OTHER_RESULT[] = "each rank takes another tensor of a list";
static const char OTHER_DRAWS[] =
  "the ranks draw other random numbers than one rank does";

static bool begins (const DtRecOp *r, const char *with) {
  return strncmp(r->label, with, strlen(with)) == 0;
}

static bool same_draw (const DtRecDraw *a, const DtRecDraw *b) {
  return a && b && a->seed == b->seed && a->at == b->at && a->end == b->end;
}

/* DtRunNumbers that were drawn otherwise than on one rank. */
bool dt_runs_draws_otherwise (const DtRuns *u, int i) {
  const DtRecOp *const *p = dt_runs_pair(u, i);
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
static bool cuts_otherwise (const DtRuns *u, int i, int j, DtRelation in,
                            DtRelation out) {
  const DtRecOp *r = dt_runs_pair(u, i)[0];
  int64_t had = 1, got = 1;
  for (int d = 0; d < r->in[0].lndim; d++) had *= r->in[0].lshape[d];
  for (int d = 0; d < r->out[j].lndim; d++) got *= r->out[j].lshape[d];
  if (in.kind == DT_REL_COPY && out.alike) return false;
  return 2 * got <= had || in.kind == DT_REL_COPY;
}

/* Statistics of a batch normalization are each rank's own, unless it says
** otherwise: where the batch is cut.  Parts of images have those of one image. */
static bool is_batch_norm (const DtRecOp *r, DtRelation in) {
  return strstr(r->label, "batch_norm") != NULL &&
         !(in.kind == DT_REL_PART && in.dim >= 2);
}

static bool is_number (const DtValue *v) {
  return v->kind == DT_V_INT || v->kind == DT_V_FLOAT || v->kind == DT_V_BOOL;
}

static double number_of (const DtValue *v) {
  return v->kind == DT_V_FLOAT ? v->u.f : (double)v->u.i;
}

/* Are numbers that the program gives other ones on other ranks? */
bool dt_runs_numbers_differ (const DtRuns *u, int i) {
  const DtRecOp *const *p = dt_runs_pair(u, i);
  for (int r = 1; r < u->n && p[0]->op != NULL; r++)
    for (int k = 0; k < p[0]->args.n && k < p[r]->args.n; k++)
      if (is_number(&p[0]->args.v[k]) && is_number(&p[r]->args.v[k]) &&
          !dt_value_equal(&p[0]->args.v[k], &p[r]->args.v[k]))
        return true;
  return false;
}

/* Does the program write down a whole number that is so many times as large as on one
** rank, as the rows that all ranks have put into a queue? */
static bool writes_total (const DtRuns *u, int i) {
  const DtRecOp *one = u->op[i], *mine = dt_runs_pair(u, i)[0];
  if (!begins(one, "aten.fill_.Scalar") || mine->op == NULL || one->args.n < 2 ||
      mine->args.n < 2 || one->args.v[1].kind != DT_V_INT ||
      mine->args.v[1].kind != DT_V_INT) return false;
  return one->args.v[1].u.i > 0 && mine->args.v[1].u.i == one->args.v[1].u.i * u->n;
}

/* Is what the ranks have summed divided by a number that each has of its own, as the
** count of its rows? */
static bool divides_sum (const DtRuns *u, int i, const DtParting *f) {
  return begins(u->op[i], "aten.div") && !u->op[i]->backward && f->in == 0 &&
         f->rel.kind == DT_REL_COPY && dt_runs_reduced_by(u, i, 0) >= 0;
}

/* Attention of heads that the program gives to the ranks, one each, without
** counting them: on one rank it is one large head. */
static bool is_one_head (const DtRecOp *r, DtRelation in) {
  return (strstr(r->label, "attention") != NULL && in.kind == DT_REL_PART &&
          in.dim == r->in[0].lndim - 1) ||
         (begins(r, "aten._softmax.") && in.kind == DT_REL_ADDEND);
}

static bool sorts (const DtRecOp *r) {
  static const char *const names[] = {
    "aten.topk.", "aten.sort.", "aten.argsort.", "aten.kthvalue."
  };
  for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
    if (begins(r, names[n])) return true;
  return false;
}

/* Is result `j` of operator `i`, or what is made of it alone (its size, flattened),
** what elements are chosen by: the largest of a rank's own gradient, that are sent? */
static bool is_chosen_by (const DtRuns *u, int i, int j) {
  enum { FEW = 8 };
  int key[FEW] = { dt_result_key(i, j) }, n = 1;
  for (int k = i + 1; k < u->nop; k++) {
    const DtRecOp *r = u->op[k];
    bool of_it = false;
    for (int m = 0; m < n && r->nin > 0 && !of_it; m++)
      of_it = u->dep[u->first[k]] == key[m];
    if (of_it && sorts(r)) return true;
    if (of_it && r->nin == 1 && r->nout == 1 && n < FEW) key[n++] = dt_result_key(k, 0);
  }
  return false;
}

static bool writes (const DtRecOp *r) {
  return r->op != NULL && (r->op->flags & DT_OP_INPLACE) != 0;
}

/* --- numbers that hold for these ranks only --- */

static void keep_number (DtRunNumbers *n, double v) {
  for (int i = 0; i < n->n; i++)
    if (n->v[i] == v) return;
  if (n->n < DT_RUN_NUMBERS) n->v[n->n++] = v;
}

/* What all ranks have alike is not counted by the size of a part. */
static bool is_whole_copy (DtRelation r) {
  return r.kind == DT_REL_COPY && !dt_rel_is_scaled(r);
}

/* Sizes of parts, and what the program divides and multiplies by. */
static void keep_numbers (DtRuns *u, int i, int j, DtRelation r) {
  const DtRecVar *v = &dt_runs_pair(u, i)[0]->in[j];
  const DtArgs *a = &u->op[i]->args, *mine = &dt_runs_pair(u, i)[0]->args;
  if (r.kind == DT_REL_PART && r.dim < v->lndim && v->lshape[r.dim] > 2)
    keep_number(&u->size, (double)v->lshape[r.dim]);
  if (u->op[i]->op == NULL || u->op[i]->backward || is_whole_copy(r) ||
      !(begins(u->op[i], "aten.div") || begins(u->op[i], "aten.mul")))
    return;
  for (int k = 0; k < a->n; k++) {
    const DtValue *x = &a->v[k];
    if (k < mine->n && !dt_value_equal(x, &mine->v[k])) continue;  /* it is computed */
    double f = x->kind == DT_V_INT ? (double)x->u.i
             : x->kind == DT_V_FLOAT ? x->u.f : 0;
    if (f != 0) keep_number(&u->literal, fabs(f) < 1 ? 1 / f : f);
  }
}

/* Does the program divide by a number that is the size of a part, which is
** larger on one rank? */
static bool counts_parts (const DtRuns *u) {
  for (int i = 0; i < u->size.n; i++)
    for (int k = 0; k < u->literal.n; k++)
      if (fabs(u->size.v[i] - u->literal.v[k]) < 1e-6) return true;
  return false;
}

/* --- the search --- */

/* Parameters that are averaged now and then (local SGD): each rank's are its own
** between. */
static bool is_own_parameter (const DtRecVar *v, DtRelation r) {
  return v->param && r.kind == DT_REL_ADDEND && dt_rel_is_scaled(r) && !r.alike;
}

/* An input that no splitting explains although all results of its maker are: each
** rank takes another one of them, one rank the first (chunk(4)[rank] where the
** program knows that there are 4). */
static DtStatus is_other_result (DtRuns *u, int i, int j, bool *other) {
  int key = u->dep[u->first[i] + 2 * j];
  DtRelation made = {.kind = DT_REL_UNKNOWN};
  DtStatus st = DT_OK;
  *other = false;
  if (key == 0 || u->op[dt_op_of_key(key)]->nout < 2) return DT_OK;
  st = dt_runs_relate(u, dt_op_of_key(key), true, (key - 1) % DT_RUN_RESULTS, &made);
  *other = st == DT_OK && dt_rel_explains(made);
  return st;
}

/* How many rows the first result of an operator has; -1: none. */
static int64_t rows_made (const DtRecOp *r) {
  return r->nout > 0 && r->out[0].lndim > 0 ? r->out[0].lshape[0] : -1;
}

/* Is input `j`, a number that the program made a tensor of, how many different values
** operator `m` found, on all ranks and on one? */
static DtStatus counts_distinct (DtRuns *u, int i, int j, int m, bool *yes) {
  DtArenaMark top = dt_arena_mark(&u->cx->scratch);
  const DtRecOp *const *p = dt_runs_pair(u, i), *const *q = dt_runs_pair(u, m);
  DtStatus st = DT_OK;
  DtElements e;
  *yes = q != NULL && u->op[m]->nin > 0;
  for (int r = 0; r <= u->n && *yes; r++)
    *yes = dt_elements_read(u->cx, &(r < u->n ? p[r] : u->op[i])->in[j], &e, &st) &&
           e.n == 1 && e.v[0] == (double)rows_made(r < u->n ? q[r] : u->op[m]);
  dt_arena_release(&u->cx->scratch, top);
  return st;
}

/* Different values of a part are counted, which are no share of those of the whole: the
** operator that found them is the one.  *m: -1: no. */
static DtStatus find_distinct (DtRuns *u, int i, int j, int *m) {
  enum { FAR = 16 };
  DtRelation rel;
  bool yes = false;
  *m = -1;
  if (dt_runs_pair(u, i) == NULL || u->dep[u->first[i] + 2 * j] != 0) return DT_OK;
  for (*m = i - 1; *m >= 0 && *m >= i - FAR; --*m) {
    if (strstr(u->op[*m]->label, "unique") == NULL) continue;
    DtStatus st = counts_distinct(u, i, j, *m, &yes);
    if (st == DT_OK && yes) st = dt_runs_relate(u, *m, false, 0, &rel);
    if (st != DT_OK || (yes && rel.kind == DT_REL_PART)) return st;
  }
  *m = -1;
  return DT_OK;
}

static DtStatus take_distinct (DtRuns *u, int m, DtParting *f) {
  f->op = m;
  f->in = f->out = 0;
  f->leaf = f->scaled = false;
  return dt_runs_relate(u, m, false, 0, &f->rel);
}

/* Relations of all inputs; *explained: each has one, and there are some.
** u->why is set where the search is to end. */
static DtStatus look_at_inputs (DtRuns *u, int i, DtParting *f, bool *explained) {
  const DtRecOp *r = u->op[i];
  DtRelation rel;
  int n = 0;
  *explained = true;
  f->scaled = false;
  f->distinct = -1;
  for (int j = 0; j < r->nin && u->why == NULL; j++) {
    if (r->in[j].none) continue;
    DtStatus st = dt_runs_relate(u, i, false, j, &rel);
    if (st != DT_OK) return st;
    if (is_own_parameter(&r->in[j], rel) && !writes(r))
      u->why = "each rank updates parameters of its own";
    /* the gradient of what two ranks have is what both have for it, added */
    if (!dt_rel_explains(rel) || (r->backward && rel.overlap)) *explained = false;
    if (rel.kind == DT_REL_NONE) {
      bool other;
      st = is_other_result(u, i, j, &other);
      if (st != DT_OK) return st;
      if (other) u->why = OTHER_RESULT;
      if (!other) st = find_distinct(u, i, j, &f->distinct);
      if (st != DT_OK || f->distinct >= 0) return st;
    }
    if (dt_rel_is_scaled(rel)) f->scaled = true;
    if (dt_runs_pair(u, i) != NULL) keep_numbers(u, i, j, rel);
    if (n++ == 0 || (f->rel.kind == DT_REL_COPY && rel.kind != DT_REL_COPY) ||
        (dt_rel_is_scaled(rel) && !dt_rel_is_scaled(f->rel))) {
      f->rel = rel;
      f->in = j;
    }
  }
  f->leaf = n == 0;
  return DT_OK;
}

/* Did all ranks, and one rank, read that number at operator `m`? */
static DtStatus was_read_at (DtRuns *u, int m, int i, int k, bool *yes) {
  DtArenaMark top = dt_arena_mark(&u->cx->scratch);
  const DtRecOp *const *p = dt_runs_pair(u, m), *const *q = dt_runs_pair(u, i);
  DtStatus st = DT_OK;
  DtElements e;
  *yes = true;
  for (int r = 0; r <= u->n && *yes && st == DT_OK; r++) {
    const DtRecOp *read = r < u->n ? p[r] : u->op[m];
    const DtArgs *a = r < u->n ? &q[r]->args : &u->op[i]->args;
    *yes = k < a->n && is_number(&a->v[k]) && read->nin == 1 &&
           dt_elements_read(u->cx, &read->in[0], &e, &st) && e.n == 1 &&
           e.v[0] == number_of(&a->v[k]);
  }
  dt_arena_release(&u->cx->scratch, top);
  return st;
}

/* Is what operator `m` reads the largest or smallest of each rank's own part? */
static DtStatus is_extreme_of_part (DtRuns *u, int m, bool *yes) {
  static const char *const names[] = {
    "aten.min.", "aten.max.", "aten.amin.", "aten.amax."
  };
  const int *dep = &u->dep[u->first[m]];
  const int key = dep[0] > dep[1] ? dep[0] : dep[1];
  DtRelation rel;
  *yes = false;
  for (size_t k = 0; key > 0 && k < sizeof names / sizeof names[0]; k++)
    if (begins(u->op[dt_op_of_key(key)], names[k])) {
      DtStatus st = dt_runs_relate(u, dt_op_of_key(key), false, 0, &rel);
      *yes = st == DT_OK && rel.kind == DT_REL_PART;
      return st;
    }
  return DT_OK;
}

/* Are the numbers that differ the extremes of the ranks' own parts, which they
** read? */
static DtStatus numbers_are_read (DtRuns *u, int i, bool *yes) {
  enum { FAR = 64 };
  const DtRecOp *const *q = dt_runs_pair(u, i);
  *yes = false;
  for (int k = 0; k < q[0]->args.n; k++) {
    bool found = false, differs = false;
    for (int r = 1; r < u->n; r++)
      differs = differs || (k < q[r]->args.n && is_number(&q[0]->args.v[k]) &&
                            !dt_value_equal(&q[0]->args.v[k], &q[r]->args.v[k]));
    if (!differs) continue;
    for (int m = i - 1; m >= 0 && m >= i - FAR && !found; m--) {
      if (!begins(u->op[m], "aten._local_scalar_dense.") || dt_runs_pair(u, m) == NULL)
        continue;
      DtStatus st = was_read_at(u, m, i, k, &found);
      if (st == DT_OK && found) st = is_extreme_of_part(u, m, &found);
      if (st != DT_OK) return st;
    }
    if (!found) {
      *yes = false;
      return DT_OK;
    }
    *yes = true;
  }
  return DT_OK;
}

/* Numbers that count alike everywhere are a part's own places, which begin at 0 on each
** rank, but for one number for each rank. */
static bool counts_places (DtRuns *u, int i, DtRelation out) {
  const DtRecVar *one = &u->op[i]->out[0], *mine = &dt_runs_pair(u, i)[0]->out[0];
  return (begins(u->op[i], "aten.arange") || begins(u->op[i], "aten.linspace")) &&
         out.alike && !(one->lndim == 1 && one->lshape[0] == 1 && mine->lndim == 1 &&
                        mine->lshape[0] == u->n);
}

/* --- what each rank does with its own rows by right --- */

/* Is input `j` of operator `i` a gradient, but for copies of it and factors? */
static bool is_gradient (const DtRuns *u, int i, int j) {
  enum { FAR = 8 };
  for (int n = 0; n < FAR; n++) {
    const int *dep = &u->dep[u->first[i] + 2 * j];
    const int key = dep[0] > dep[1] ? dep[0] : dep[1];
    if (key <= 0) return false;
    i = dt_op_of_key(key);
    j = 0;
    if (u->op[i]->backward) return true;
    if (u->op[i]->nin < 1) return false;
  }
  return false;
}

static bool squares (const DtRuns *u, int i) {
  const DtRecOp *r = u->op[i];
  const int *dep = &u->dep[u->first[i]];
  if (begins(r, "aten.square.")) return true;
  if (begins(r, "aten.pow.Tensor_Scalar"))
    return r->args.n > 1 && is_number(&r->args.v[1]) && number_of(&r->args.v[1]) == 2;
  return begins(r, "aten.mul.Tensor") && r->nin == 2 && dep[0] == dep[2] && dep[1] == dep[3];
}

/* Is result `j` of operator `i`, or that times a number, summed over the ranks whole? */
static bool is_summed_whole (const DtRuns *u, int i, int j) {
  int key = dt_result_key(i, j);
  for (int k = i + 1; k < u->nop; k++) {
    const DtRecOp *r = u->op[k];
    const int *dep = &u->dep[u->first[k]];
    if (r->nin < 1 || (dep[0] != key && dep[1] != key)) continue;
    if (r->raw != NULL) return begins(r, "allreduce_");
    if (begins(r, "aten.mul.") || begins(r, "aten.div.") || begins(r, "aten.mul_.") ||
        begins(r, "aten.div_.") || begins(r, "aten.clone."))
      key = dt_result_key(k, 0);
    else if (r->op == NULL || (r->op->flags & DT_OP_VIEW) == 0)
      return false;
  }
  return false;
}

/* The squares of the ranks' own gradients are summed, element by element, as one does for
** the diagonal of a Hessian: they are no squares of the gradients' sum, and not meant to
** be. */
static bool squares_own (const DtRuns *u, int i, int j, const DtParting *f) {
  const DtRecVar *v = &u->op[i]->in[f->in];
  return f->rel.kind == DT_REL_ADDEND && f->scaled && v->lndim > 0 && squares(u, i) &&
         is_gradient(u, i, f->in) && is_summed_whole(u, i, j);
}

static int64_t slice_number (const DtRecOp *r, int k) {
  return r->args.n > k && is_number(&r->args.v[k]) ? (int64_t)number_of(&r->args.v[k]) : 0;
}

/* Each rank leaves out the last rows of the data it was given, as a loader does whose
** batches are to be of one size.  Where something else takes the same but for its first
** rows, it is shifted. */
static bool drops_rows (const DtRuns *u, int i, const DtParting *f) {
  static const char slice[] = "aten.slice.Tensor";
  const DtRecOp *r = u->op[i];
  const int *dep = &u->dep[u->first[i]];
  if (!begins(r, slice) || r->nin < 1 || r->in[0].needs_grad || f->rel.kind != DT_REL_PART ||
      f->rel.dim != 0 || slice_number(r, 1) != 0 || slice_number(r, 2) != 0 ||
      slice_number(r, 4) > 1) return false;
  for (int k = 0; k < u->nop; k++) {
    const int *other = &u->dep[u->first[k]];
    if (k != i && u->op[k]->nin > 0 && begins(u->op[k], slice) && other[0] == dep[0] &&
        other[1] == dep[1] && slice_number(u->op[k], 1) == 0 &&
        slice_number(u->op[k], 2) != 0) return false;
  }
  return true;
}

/* Has result `j` of the operator, which is not explained, a reason of its own to
** differ?  Sets u->why. */
static void look_for_reason (DtRuns *u, int i, int j, DtParting *f,
                             DtRelation out) {
  const DtRecOp *r = u->op[i];
  if (is_batch_norm(r, f->leaf ? (DtRelation){.kind = DT_REL_UNKNOWN} : f->rel))
    u->why = "batch statistics are each rank's own";
  else if (dt_runs_numbers_differ(u, i)) {
    f->divides = divides_sum(u, i, f);
    if (!f->divides) u->why = dt_runs_own_number;
  }
  else if (writes_total(u, i))
    u->why = "a number in the program counts what all ranks have";
  else if (!f->leaf && is_one_head(r, f->rel))
    u->why = "heads may be one for each rank";
  else if (!f->leaf && f->rel.kind == DT_REL_ADDEND && f->scaled && !out.alike &&
           is_chosen_by(u, i, j))
    u->why = "each rank chooses elements of what it has itself";
  else if (f->leaf && !counts_places(u, i, out))
    u->why = "the ranks make tensors of their own";
  else if (!f->leaf && chooses(r) && cuts_otherwise(u, i, j, f->rel, out))
    u->why = "the ranks choose other elements than one rank does";
  else if (!f->leaf && drops_rows(u, i, f))
    u->why = "each rank leaves out the last rows of what it has";
  else if (!f->leaf && squares_own(u, i, j, f))
    u->why = "squares of each rank's own gradient are summed";
  else if (f->scaled && counts_parts(u))
    u->why = "a number in the program is the size of a part";
}

DtStatus dt_runs_mixes (DtRuns *u, int i, bool *yes) {
  bool addend = false, whole = false;
  DtRelation rel;
  *yes = false;
  if (u->op[i]->backward || writes(u->op[i])) return DT_OK;
  for (int j = 0; j < u->op[i]->nin; j++) {
    if (u->op[i]->in[j].none) continue;
    DtStatus st = dt_runs_relate(u, i, false, j, &rel);
    if (st != DT_OK) return st;
    if (dt_rel_is_scaled(rel)) return DT_OK;
    addend = addend || (rel.kind == DT_REL_ADDEND && !rel.alike);
    whole = whole || (rel.kind == DT_REL_COPY && dt_runs_reduced_by(u, i, j) >= 0);
  }
  *yes = addend && whole;
  return DT_OK;
}

/* Zeros of which there are more than on one rank, or fewer: what something is filled
** up with. */
static bool is_filling (const DtRuns *u, int i) {
  const DtRecOp *r = u->op[i], *const *p = dt_runs_pair(u, i);
  int64_t more = 0;
  if (!begins(r, "aten.zeros.") && !begins(r, "aten.new_zeros.")) return false;
  for (int d = 0; d < r->out[0].lndim && p[0]->out[0].lndim == r->out[0].lndim; d++)
    more += p[0]->out[0].lshape[d] != r->out[0].lshape[d] ? p[0]->out[0].lshape[d] : 0;
  return more > 0 && more < u->n;
}

/* Does the program choose one element by numbers that each rank has of its own, as a
** table of counts is filled?  Where those are no parts of one rank's, what is written
** there is each rank's own. */
static DtStatus chooses_own (DtRuns *u, int i, bool *yes) {
  const DtRecOp *r = u->op[i];
  DtRelation rel;
  *yes = false;
  if (!begins(r, "aten.select.") || r->nout < 1 || r->out[0].lndim > 0 ||
      !dt_runs_numbers_differ(u, i)) return DT_OK;
  DtStatus st = dt_runs_relate(u, i, true, 0, &rel);
  *yes = st == DT_OK && rel.kind != DT_REL_PART;
  return st;
}

/* Do the two runs part at this operator?  Only where every input is explained and
** a result is not.  What may differ by right goes out first, the cheap questions
** before those that compare tensors: unset memory, draws, choices by a rank's own
** numbers.  u->why ends the whole search, f->op names the operator: never both. */
static DtStatus look_at_operator (DtRuns *u, int i, DtParting *f) {
  const DtRecOp *r = u->op[i];
  DtRelation out;
  bool explained, noise, own;
  if (dt_runs_pair(u, i) == NULL || begins(r, "aten.empty") ||
      begins(r, "aten.new_empty") || is_filling(u, i))
    return DT_OK;
  if (dt_runs_draws_otherwise(u, i)) {
    u->why = OTHER_DRAWS;
    return DT_OK;
  }
  DtStatus st = chooses_own(u, i, &own);
  if (st != DT_OK || own) {
    if (own) u->why = "each rank chooses elements by numbers of its own";
    return st;
  }
  st = look_at_inputs(u, i, f, &explained);
  if (st == DT_OK && f->distinct >= 0) return take_distinct(u, f->distinct, f);
  if (st != DT_OK || !explained || u->why != NULL || (f->leaf && r->draw))
    return st;
  for (int j = 0; j < r->nout; j++) {
    if (!is_past(u, i, j)) continue;
    st = dt_runs_relate(u, i, true, j, &out);
    if (st == DT_OK && out.kind == DT_REL_NONE && out.alike &&
        !u->whole_lists && begins(r, "allgather_"))
      st = dt_runs_relate_rows(u, i, j, &out);
    if (st != DT_OK) return st;
    if (out.kind != DT_REL_NONE) continue;
    st = dt_runs_magnifies(u, i, j, &noise);
    if (st != DT_OK) return st;
    u->noise = u->noise || noise;
    if (noise) continue;
    bool read = false;
    if (!r->backward && f->rel.kind == DT_REL_PART && dt_runs_numbers_differ(u, i))
      st = numbers_are_read(u, i, &read);
    if (st != DT_OK) return st;
    if (!read) look_for_reason(u, i, j, f, out);
    if (u->why != NULL) return DT_OK;
    f->op = i;
    f->out = j;
    return DT_OK;
  }
  return DT_OK;
}

/* The first faulty operator before `end` in the past that is marked. */
static DtStatus search_past (DtRuns *u, int end, DtParting *f) {
  DtStatus st = DT_OK;
  f->op = -1;
  u->near = dt_runs_near;
  u->size.n = u->literal.n = 0;
  for (int i = 0; i <= end && st == DT_OK && f->op < 0 && u->why == NULL; i++)
    if (u->past[i] != 0) st = look_at_operator(u, i, f);
  return st;
}

/* Leave of the past only what leads to `end` through tensors that no splitting
** explains.  What is packed and sent looks like nothing on its way, and is a part
** again where it is taken: the fault is none of that. */
static DtStatus narrow_past (DtRuns *u, int end, int out) {
  DtRelation rel;
  memset(u->past, 0, (size_t)u->nop * sizeof *u->past);
  u->past[end] = dt_bit_of_key(dt_result_key(end, out));
  for (int i = end; i >= 0; i--)
    for (int j = 0; u->past[i] != 0 && j < u->op[i]->nin; j++) {
      if (u->op[i]->in[j].none) continue;
      DtStatus st = dt_runs_relate(u, i, false, j, &rel);
      if (st != DT_OK) return st;
      if (!dt_rel_explains(rel)) dt_runs_mark_input(u, i, j);
    }
  return DT_OK;
}

/* The first faulty operator on the way that leads to a result; f->op -1: none. */
static DtStatus search_way (DtRuns *u, int end, int out, DtParting *f) {
  DtStatus st = narrow_past(u, end, out);
  f->op = -1;
  return st == DT_OK ? search_past(u, end, f) : st;
}

DtStatus dt_runs_search_at (DtRuns *u, int end, int out, int i, DtParting *f) {
  DtStatus st = narrow_past(u, end, out);
  f->op = -1;
  return st == DT_OK && u->past[i] != 0 ? look_at_operator(u, i, f) : st;
}

/* Is anything in the past of input `j` of operator `i` a sum over the ranks? */
static bool was_reduced (DtRuns *u, int i, int j) {
  memset(u->past, 0, (size_t)u->nop * sizeof *u->past);
  dt_runs_mark_input(u, i, j);
  for (int k = i - 1; k >= 0; k--) {
    if (u->past[k] != 0 && u->op[k]->raw != NULL && begins(u->op[k], "allreduce_"))
      return true;
    dt_runs_mark_inputs(u, k);
  }
  return false;
}

/* Is it a sum in forward of what is reduced and of what no splitting explains? */
static DtStatus adds_reduced (DtRuns *u, int i, bool *yes) {
  int whole = -1, rest = 0;
  DtRelation rel;
  *yes = false;
  if (u->op[i]->backward || writes(u->op[i]) || !begins(u->op[i], "aten.add."))
    return DT_OK;
  for (int j = 0; j < u->op[i]->nin; j++) {
    if (u->op[i]->in[j].none) continue;
    DtStatus st = dt_runs_relate(u, i, false, j, &rel);
    if (st != DT_OK) return st;
    if (rel.kind == DT_REL_COPY && !dt_rel_is_scaled(rel)) whole = j;
    rest += rel.kind == DT_REL_NONE && !rel.alike;
  }
  *yes = whole >= 0 && rest == 1 && was_reduced(u, i, whole);
  return DT_OK;
}

DtStatus dt_runs_meets_reduced (DtRuns *u, int end, int out, int from, bool *yes) {
  const size_t size = (size_t)u->nop * sizeof *u->past;
  uint32_t *way = DT_ANEWN(u->cx, &u->arena, uint32_t, u->nop + 1);
  DtStatus st = way != NULL ? narrow_past(u, end, out) : DT_E_NOMEM;
  *yes = false;
  if (st == DT_OK) memcpy(way, u->past, size);  /* the questions mark a past, too */
  for (int i = end; i > from && !*yes && st == DT_OK; i--)
    if (way[i] != 0) st = adds_reduced(u, i, yes);
  return st;
}

/* --- integers --- */

/* Is operator `i` a sum of integers over all ranks that went around: what they gave,
** added up, is another number, and the same one but for what an integer of that size
** cannot hold? */
static DtStatus overflows (DtRuns *u, int i, bool *yes) {
  const DtRecOp *const *p = dt_runs_pair(u, i);
  DtArenaMark top = dt_arena_mark(&u->cx->scratch);
  DtElements sum, e;
  DtStatus st = DT_OK;
  bool known = p != NULL && p[0]->raw != NULL && begins(p[0], "allreduce_") &&
               p[0]->raw->reduce != NULL && strcmp(p[0]->raw->reduce, "sum") == 0 &&
               p[0]->nin == 1 && p[0]->nout == 1 &&
               dt_elements_read(u->cx, &p[0]->out[0], &sum, &st) && sum.whole;
  *yes = false;
  for (int r = 0; r < u->n && known; r++) {
    known = p[r]->nin == 1 && dt_elements_read(u->cx, &p[r]->in[0], &e, &st) &&
            e.n == sum.n;
    for (int64_t k = 0; known && k < e.n; k++) sum.v[k] -= e.v[k];
  }
  if (known) {
    const double round = ldexp(1, 8 * (int)dt_dtype_size((DtDtype)p[0]->out[0].meta->dtype));
    for (int64_t k = 0; k < sum.n && known; k++) {
      known = fmod(sum.v[k], round) == 0;
      *yes = *yes || sum.v[k] != 0;
    }
  }
  *yes = *yes && known;
  dt_arena_release(&u->cx->scratch, top);
  return st;
}

/* Numbers are rounded to integers of 8 or 16 bits, to be sent in fewer bytes: then the
** ranks' sum is near one rank's, no more. */
static bool rounds (const DtRecOp *r) {
  if (!begins(r, "aten._to_copy.") || r->nin < 1 || r->nout < 1) return false;
  const DtDtype to = (DtDtype)r->out[0].meta->dtype;
  return dt_dtype_is_float((DtDtype)r->in[0].meta->dtype) && !dt_dtype_is_float(to) &&
         to != DT_BOOL && dt_dtype_size(to) <= 2;
}

/* Does operator `i` deal items out by a count of ranks that is written in the program?
** Then one rank takes a part of them, too, and all that follows is of other data. */
static bool deals_by_literal (const DtRuns *u, int i) {
  const DtRecOp *r = u->op[i];
  return begins(r, "aten.slice.Tensor") && u->n > 1 && slice_number(r, 4) == u->n &&
         (dt_runs_pair(u, i) == NULL || dt_runs_numbers_differ(u, i));
}

/* Look at the past for sums of integers that went around, which are wrong, and for
** what is rounded or dealt by a fixed count, which may differ: u->why. */
static DtStatus look_at_integers (DtRuns *u, int end, DtParting *f) {
  bool yes = false;
  *f = (DtParting){.op = -1};
  for (int i = 0; i <= end; i++) {
    if (deals_by_literal(u, i)) u->why = "the program deals by a fixed count of ranks";
    if (u->past[i] == 0) continue;
    if (rounds(u->op[i])) u->why = "numbers are rounded to integers of few bits";
    DtStatus st = overflows(u, i, &yes);
    if (st != DT_OK || !yes) {
      if (st != DT_OK) return st;
      continue;
    }
    u->why = NULL;
    f->op = i;
    f->overflow = true;
    return DT_OK;
  }
  return DT_OK;
}

/* A gradient is wrong because the loss is, where that is nothing of one rank's: its
** value leads to no parameter, so it is not on the way. */
static DtStatus search_loss (DtRuns *u, int end, DtParting *f) {
  int out = 0, loss = dt_runs_find_loss(u, end, &out);
  DtRelation rel;
  DtStatus st = DT_OK;
  f->op = -1;
  if (loss < 0) return DT_OK;
  st = dt_runs_relate(u, loss, true, out, &rel);
  return st == DT_OK && rel.kind == DT_REL_NONE ? search_way(u, loss, out, f) : st;
}

/* What the ranks draw, or take of a list, differs from one rank's; but what comes of it
** is explained again, and the runs part behind that, in forward, at a part.  (An addend
** of 0 explains nothing: how far the ranks are from each other is 0 on one.) */
static DtStatus search_behind (DtRuns *u, int end, int out, DtParting *f) {
  const char *why = u->why;
  if (why != OTHER_RESULT && why != OTHER_DRAWS) return DT_OK;
  u->why = NULL;
  DtStatus st = search_way(u, end, out, f);
  if (f->op >= 0 && (f->rel.kind != DT_REL_PART || f->scaled || u->noise ||
                     u->op[f->op]->backward || writes(u->op[f->op])))
    f->op = -1;
  if (f->op < 0) u->why = why;
  return st;
}

/* The operator at which the runs part: first any on the way to the result, then the
** nearest to the result's own path, then, where that is in backward or an update,
** what made the loss it comes from: a wrong gradient is a consequence.  u->why
** from a second search wins over an operator of the first: the search was
** ended there for a reason that holds for both. */
DtStatus dt_runs_search (DtRuns *u, int end, int out, DtParting *f) {
  DtParting near = {.op = -1}, loss = {.op = -1};
  dt_runs_mark_past(u, end, out);
  u->whole_lists = u->noise = false;
  u->orders.n = 0;
  DtStatus st = look_at_integers(u, end, f);
  if (st != DT_OK || f->op >= 0 || u->why != NULL) return st;
  st = search_past(u, end, f);
  if (st == DT_OK && f->op < 0 && !u->noise) {
    /* the rows of a list are right; which of them are taken may be wrong */
    const char *why = u->why;
    u->why = NULL;
    u->whole_lists = true;
    st = search_past(u, end, f);
    if (f->op < 0) u->why = why;
  }
  if (st == DT_OK && f->op < 0 && u->why != NULL && !u->noise)
    return search_behind(u, end, out, f);
  if (st != DT_OK || f->op < 0 || u->why != NULL) return st;
  st = search_way(u, end, out, &near);
  /* the way itself shows rounding only: what lies beside it is not the reason */
  if (u->why != NULL || (near.op < 0 && u->noise)) f->op = -1;
  if (st != DT_OK || near.op < 0) return st;
  *f = near;
  if (!u->op[f->op]->backward && !writes(u->op[f->op])) return DT_OK;
  st = search_loss(u, f->op, &loss);
  if (u->why != NULL) f->op = -1;
  else if (st == DT_OK && loss.op >= 0) *f = loss;
  return st;
}
