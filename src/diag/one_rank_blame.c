/* SPDX-License-Identifier: MIT
** diag/one_rank_blame.c: which line is to be mended where the runs part in an
** update of a parameter.
**
** The update is where a wrong gradient is first seen, and seldom where it went
** wrong.  A gradient that is one addend of one rank's was not summed: under tensor
** parallelism nobody reduces gradients, so the line is that of the forward that
** takes the parameter with tensors that are cut.  Gradients that are all one
** rank's but for the same factor come from a loss that is a share already when it
** is averaged again; if only some are, from how those parameters were sharded. */
#include "diag/one_rank_int.h"

#include <string.h>

static bool begins (const DtRecOp *r, const char *with) {
  return strncmp(r->label, with, strlen(with)) == 0;
}

static bool is_update (const DtRecOp *r) {
  return r->op != NULL && !r->backward && (r->op->flags & DT_OP_INPLACE) != 0;
}

/* The parameter that is written with what operator `i` makes as its result `out`,
** at the same line: by itself, or by a later operator of the optimizer. */
static const DtRecVar *find_parameter (const DtRuns *u, DtParting *f) {
  const int line = u->op[f->op]->line;
  for (int i = f->op; i < u->nop && u->op[i]->line == line; i++)
    if (is_update(u->op[i]) && f->out < u->op[i]->nin &&
        u->op[i]->in[f->out].param) {
      f->written = dt_runs_pair(u, i) ? &dt_runs_pair(u, i)[0]->in[f->out] : NULL;
      return &u->op[i]->in[f->out];
    }
  return NULL;
}

/* Was what operator `i` takes made in backward, but for views of it; or is it what
** a parameter is updated with? */
static bool is_gradient (const DtRuns *u, int i, int j) {
  enum { FAR = 8 };
  if (j > 0 && u->op[i]->in[0].param && is_update(u->op[i])) return true;
  for (int n = 0; n < FAR; n++) {
    int key = u->dep[u->first[i] + 2 * j];
    if (key == 0) return false;
    i = dt_op_of_key(key);
    if (u->op[i]->backward) return true;
    if (u->op[i]->nin == 0) return false;
    j = 0;
  }
  return false;
}

static bool has_distributed (const DtRuns *u) {
  for (int i = 0; i < u->nop; i++)
    for (int j = 0; j < u->op[i]->nin; j++)
      if (u->op[i]->in[j].param && u->op[i]->in[j].spec) return true;
  return false;
}

/* The first operator of forward that takes the parameter, or a view of it, with
** another tensor; -1. */
static int find_use (const DtRuns *u, const DtRecVar *p) {
  for (int i = 0; i < u->nop; i++) {
    const DtRecOp *r = u->op[i];
    if (r->op == NULL || r->backward || is_update(r) || r->nin < 2) continue;
    for (int j = 0; j < r->nin; j++)
      if (!r->in[j].none && r->in[j].storage == p->storage) return i;
  }
  return -1;
}

int dt_runs_find_loss (const DtRuns *u, int i, int *out) {
  for (; i >= 0; i--) {
    if (!u->op[i]->backward || !begins(u->op[i], "aten.ones_like") ||
        u->op[i]->nin == 0) continue;
    int key = u->dep[u->first[i]];
    *out = key > 0 ? (key - 1) % DT_RUN_RESULTS : 0;
    return key > 0 ? dt_op_of_key(key) : -1;
  }
  return -1;
}

/* Do all updates around operator `i` take gradients with that factor? */
static DtStatus is_common_factor (DtRuns *u, int i, double factor, bool *yes) {
  const DtRecOp *r = u->op[i];
  DtRelation rel;
  int at = i;
  *yes = true;
  while (at > 0 && !u->op[at - 1]->backward) at--;
  for (; at < u->nop && !u->op[at]->backward && *yes; at++) {
    if (strcmp(u->op[at]->label, r->label) != 0 || u->op[at]->line != r->line)
      continue;
    for (int j = 1; j < u->op[at]->nin && *yes; j++) {
      if (u->op[at]->in[j].none || u->op[at]->in[j].param ||
          u->op[at]->in[j].lndim == 0) continue;
      DtStatus st = dt_runs_relate(u, at, false, j, &rel);
      if (st != DT_OK) return st;
      *yes = !dt_rel_explains(rel) || rel.factor == factor;
    }
  }
  return DT_OK;
}

static DtStatus blame_scale (DtRuns *u, DtParting *f) {
  const DtRecVar *p = find_parameter(u, f);
  int out = 0, loss = dt_runs_find_loss(u, f->op, &out);
  DtRelation rel;
  bool common;
  DtStatus st = is_common_factor(u, f->op, f->rel.factor, &common);
  if (st != DT_OK) return st;
  if (!common) {
    if (p != NULL && p->spec && p->origin.line > 0) {
      f->line = p->origin.line;
      f->file = p->origin.file;
      f->says = "; the gradients of other parameters are not scaled so";
    }
    return DT_OK;
  }
  if (loss < 0) return DT_OK;
  st = dt_runs_relate(u, loss, true, out, &rel);
  if (st == DT_OK && rel.kind == DT_REL_ADDEND && !dt_rel_is_scaled(rel)) {
    f->line = u->op[loss]->line;
    f->file = u->op[loss]->file;
    f->says = "; the loss is one addend of one rank's, and the gradients are "
              "averaged besides";
    return st;
  }
  const int by = dt_runs_reduced_by(u, f->op, f->in);
  if (st == DT_OK && by >= 0) {
    f->line = u->op[by]->line;
    f->file = u->op[by]->file;
    f->says = "; the gradient is reduced here, and nothing takes that factor "
              "out of it";
  }
  return st;
}

/* What made input `j` of operator `i`; -1. */
static int maker_of_input (const DtRuns *u, int i, int j) {
  const int *dep = &u->dep[u->first[i] + 2 * j];
  const int key = dep[0] > dep[1] ? dep[0] : dep[1];
  return key > 0 ? dt_op_of_key(key) : -1;
}

static bool sums_up (const DtRecOp *r) {
  static const char *const names[] = { "aten.sum.", "aten.mean.", "aten.mm.",
                                       "aten.bmm.", "aten.addmm." };
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
    if (begins(r, names[k])) return true;
  return false;
}

/* The input of operator `i` that is an addend, as what it makes is; -1: it sums up a
** part, or there is none. */
static DtStatus find_addend (DtRuns *u, int i, int *in, bool *made) {
  DtRelation rel;
  *in = -1;
  *made = false;
  for (int j = 0; j < u->op[i]->nin; j++) {
    if (u->op[i]->in[j].none) continue;
    DtStatus st = dt_runs_relate(u, i, false, j, &rel);
    if (st != DT_OK) return st;
    if (rel.kind == DT_REL_PART && j == 0) *made = sums_up(u->op[i]);
    if (rel.kind == DT_REL_ADDEND && *in < 0) *in = j;
  }
  return DT_OK;
}

/* The sum along the cut dimension, in forward, that made the addend which meets what
** is whole: there it was to be reduced.  -1: not found, or it went into something that
** is kept, and is to be reduced where that is used.  The last operator of its line. */
static DtStatus find_sum (DtRuns *u, const DtParting *f, int *found) {
  enum { FAR = 12 };
  int in = f->in, i = f->op, last = i;
  bool made;
  *found = -1;
  for (int n = 0; n < FAR && in >= 0; n++) {
    if ((i = maker_of_input(u, i, in)) < 0 || u->op[i]->backward ||
        u->op[i]->raw != NULL || is_update(u->op[i])) return DT_OK;
    if (u->op[i]->line != u->op[last]->line) last = i;
    DtStatus st = find_addend(u, i, &in, &made);
    if (st != DT_OK) return st;
    if (!made) continue;
    if (u->op[i]->line > 0) *found = last;
    return DT_OK;
  }
  return DT_OK;
}

static DtStatus blame_addend (DtRuns *u, DtParting *f) {
  int i;
  DtStatus st = find_sum(u, f, &i);
  if (st != DT_OK || i < 0) return st;
  f->line = u->op[i]->line;
  f->file = u->op[i]->file;
  f->made = dt_runs_pair(u, i) ? &dt_runs_pair(u, i)[0]->out[0] : NULL;
  f->says = "; it is made here, and nothing sums it over the ranks";
  return DT_OK;
}

/* Which line is to be mended: seldom the one where the numbers part.  An addend's is
** where its sum is used, a gradient's where its parameter was taken; an update
** that scales is its own. */
DtStatus dt_runs_blame (DtRuns *u, DtParting *f) {
  const DtRecOp *r = u->op[f->op];
  f->line = r->line;
  f->file = r->file;
  f->says = f->divides ? "; each rank divides it by a number of its own" : "";
  f->written = f->made = NULL;
  if (!f->leaf && !f->own && f->rel.kind == DT_REL_ADDEND && !r->backward &&
      !is_update(r))
    return blame_addend(u, f);
  if (f->leaf || !is_update(r) || !is_gradient(u, f->op, f->in)) return DT_OK;
  if (f->scaled) return blame_scale(u, f);
  const DtRecVar *p = find_parameter(u, f);
  int use = p && !p->spec && f->rel.kind == DT_REL_ADDEND && has_distributed(u)
              ? find_use(u, p) : -1;
  if (use >= 0) {
    f->line = u->op[use]->line;
    f->file = u->op[use]->file;
    f->says = "; the parameter is taken here, and nothing sums its gradient over "
              "the ranks";
  }
  return DT_OK;
}
