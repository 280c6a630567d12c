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

/* Where a factor between the runs was put in: if all gradients have it, it
** came from the loss or from what reduces all of them; if one parameter alone
** has it, from the line that made that parameter. */
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
  if (st == DT_OK && by < 0 && dt_rel_is_scaled(rel) && rel.factor == f->rel.factor) {
    f->line = u->op[loss]->line;
    f->file = u->op[loss]->file;
    f->says = "; the loss has that factor already";
  }
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

/* Items are added up by where an index says. */
static bool scatters (const DtRecOp *r) {
  static const char *const names[] = { "aten.index_add", "aten.scatter_add", "aten.bincount.",
                                       "aten.histc.", "aten.scatter_reduce" };
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
    if (begins(r, names[k])) return true;
  return false;
}

/* A table that is filled in place, and is no parameter. */
static bool fills (const DtRecOp *r) {
  return scatters(r) && r->nin > 0 && !r->in[0].param;
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
    if (rel.kind == DT_REL_PART)
      *made = *made || (j == 0 && sums_up(u->op[i])) || scatters(u->op[i]);
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
        u->op[i]->raw != NULL || (is_update(u->op[i]) && !fills(u->op[i])))
      return DT_OK;
    if (u->op[i]->line != u->op[last]->line) last = i;
    DtStatus st = find_addend(u, i, &in, &made);
    if (st != DT_OK) return st;
    if (!made) continue;
    if (u->op[i]->line > 0) *found = last;
    return DT_OK;
  }
  return DT_OK;
}

/* Where an operator's result is shown to be what is to be mended. */
static void blame_result (const DtRuns *u, DtParting *f, int i, const char *says) {
  f->line = u->op[i]->line;
  f->file = u->op[i]->file;
  f->made = dt_runs_pair(u, i) ? &dt_runs_pair(u, i)[0]->out[0] : NULL;
  f->says = says;
}

static DtStatus blame_addend (DtRuns *u, DtParting *f) {
  int i;
  DtStatus st = find_sum(u, f, &i);
  if (st != DT_OK || i < 0) return st;
  blame_result(u, f, i, "; it is made here, and nothing sums it over the ranks");
  return DT_OK;
}

/* The first input of operator `i` of that kind, scaled or not; -1. */
static DtStatus find_input (DtRuns *u, int i, DtRelKind kind, bool scaled, int *in) {
  DtRelation rel;
  *in = -1;
  for (int j = 0; j < u->op[i]->nin && *in < 0; j++) {
    if (u->op[i]->in[j].none) continue;
    DtStatus st = dt_runs_relate(u, i, false, j, &rel);
    if (st != DT_OK) return st;
    if (rel.kind == kind && dt_rel_is_scaled(rel) == scaled) *in = j;
  }
  return DT_OK;
}

/* The same of a copy or a part, or of what adds up to one: a factor goes through sums. */
static DtStatus find_scaled (DtRuns *u, int i, bool scaled, int *in) {
  static const DtRelKind kinds[] = { DT_REL_COPY, DT_REL_PART, DT_REL_ADDEND };
  DtStatus st = DT_OK;
  *in = -1;
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0] && *in < 0 && st == DT_OK; k++)
    st = find_input(u, i, kinds[k], scaled, in);
  return st;
}

/* What an operator only moves where nothing can be compared: on the way of a gather one
** rank has a list of one tensor, and a slice that is all of it is an alias.  -1: none. */
static int moved_input (const DtRecOp *r) {
  static const char *const names[] = { "aten.cat.", "aten.stack.", "aten.select.",
                                       "aten.unsqueeze.", "aten.alias.", "allgather_" };
  if (begins(r, "aten.copy_.")) return r->nin > 1 ? 1 : -1;
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
    if (begins(r, names[k]) && r->nin > 0) return 0;
  return -1;
}

/* Is one of the inputs of operator *i an addend that no factor scales yet?  What it
** makes then has put the factor in: it averages what is to be summed.  *i becomes the
** from_local() that declared it to be averaged, where there is one. */
static DtStatus takes_addend (DtRuns *u, int *i, bool *yes) {
  int in;
  DtStatus st = find_input(u, *i, DT_REL_ADDEND, false, &in);
  *yes = st == DT_OK && in >= 0;
  if (*yes) {
    const int made = maker_of_input(u, *i, in);
    if (made >= 0 && made < *i && begins(u->op[made], "dtensor.from_local") &&
        u->op[made]->line > 0) *i = made;
  }
  return st;
}

/* A collective of the program ends the way back of a factor: before it other factors
** count.  Not where it took addends, nor a gather or a sum over all ranks, which keep
** the factor of what came in. */
static bool ends_factor (const DtRecOp *r, bool addend) {
  return r->raw != NULL && !addend && !begins(r, "allgather_") &&
         !begins(r, "allreduce_");
}

/* A copy or a part but for a factor, in forward: the operator that first made it so.
** It is seen where something is done to it that does not keep a factor. */
static DtStatus blame_factor (DtRuns *u, DtParting *f) {
  int in = f->in, i = f->op;
  bool addend = false;
  while (in >= 0 && !addend) {
    const int made = maker_of_input(u, i, in);
    if (made < 0 || made >= i || u->op[made]->backward || u->op[made]->line == 0)
      return DT_OK;
    i = made;
    DtStatus st = takes_addend(u, &i, &addend);
    if (st == DT_OK && ends_factor(u->op[i], addend)) return DT_OK;
    if (st == DT_OK) st = find_scaled(u, i, true, &in);
    if (st != DT_OK) return st;
    if (in < 0) in = moved_input(u->op[i]);
  }
  DtStatus st = find_scaled(u, i, false, &in);
  if (st == DT_OK && !addend && in < 0 && i != f->op && u->op[i]->nin == 0)
    blame_result(u, f, i, "; it is made here, of what this rank has");
  else if (st == DT_OK && addend && i != f->op)
    blame_result(u, f, i, "; it averages addends, which are to be summed");
  else if (st == DT_OK && in >= 0 && i != f->op)
    blame_result(u, f, i, "; that factor comes in here");
  return st;
}

/* The cut that part `j` of operator `i` comes from, or what gave its items another
** order on each rank. */
typedef struct Cut {
  int op;                       /* -1: not found */
  int in, ndim;                 /* the part */
  int steps;                    /* so many operators ago */
  bool turned;
} Cut;

static DtStatus find_cut (DtRuns *u, int i, int j, int order, Cut *c) {
  DtRelation rel;
  *c = (Cut){.op = -1};
  for (; j >= 0; c->steps++) {
    const int made = maker_of_input(u, i, j);
    if (made < 0 || made >= i || u->op[made]->backward) return DT_OK;
    i = made;
    DtStatus st = find_input(u, i, DT_REL_PART, false, &j);
    if (st == DT_OK && j >= 0) st = dt_runs_relate(u, i, false, j, &rel);
    if (st != DT_OK) return st;
    if (j >= 0 && strstr(u->op[i]->label, "view.") != NULL) {
      order = rel.order;        /* rows become blocks of rows */
    } else if (j >= 0 && rel.order != order) {
      c->turned = u->op[i]->nin == 1;         /* several: it joins them so */
      break;
    }
  }
  c->op = i;
  return DT_OK;
}

/* Of two cuts, is the first more likely to be the wrong one?  What was turned, then what
** is no matrix (a bias beside its weight, labels), then what is nearer. */
static bool is_likelier (const Cut *a, const Cut *b) {
  if (a->turned != b->turned) return a->turned;
  if ((a->ndim < 2) != (b->ndim < 2)) return a->ndim < 2;
  return a->steps < b->steps;
}

/* Two parts meet whose items were given to the ranks in different orders: one was
** turned around on each rank by itself, or they were cut apart; then the cut that is
** nearer is the one of labels, masks or positions.  *done: it is so. */
static DtStatus blame_order (DtRuns *u, DtParting *f, bool *done) {
  int order = -1;
  bool differ = false;
  Cut best = {.op = -1}, c;
  DtRelation rel;
  *done = false;
  for (int j = 0; j < u->op[f->op]->nin; j++) {
    if (u->op[f->op]->in[j].none) continue;
    DtStatus st = dt_runs_relate(u, f->op, false, j, &rel);
    if (st != DT_OK) return st;
    if (rel.kind != DT_REL_PART) continue;
    differ = differ || (order >= 0 && rel.order != order);
    order = rel.order;
    st = find_cut(u, f->op, j, order, &c);
    if (st != DT_OK) return st;
    c.in = j;
    c.ndim = u->op[f->op]->in[j].lndim;
    if (c.op >= 0 && (best.op < 0 || is_likelier(&c, &best))) best = c;
  }
  *done = differ && best.op >= 0;
  if (*done) {
    f->in = best.in;
    blame_result(u, f, best.op, "; what is made here is in another order than the "
                                "parts that it meets");
  }
  return DT_OK;
}

/* In forward, where nothing was to be summed. */
static DtStatus blame_forward (DtRuns *u, DtParting *f) {
  bool done;
  if (f->leaf || f->own || f->divides) return DT_OK;
  DtStatus st = blame_order(u, f, &done);
  if (st != DT_OK || done) return st;
  return f->rel.kind != DT_REL_ADDEND && f->scaled ? blame_factor(u, f) : DT_OK;
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
  if (f->overflow) {            /* what is sent is an alias of it */
    const int alias = maker_of_input(u, f->op, 0);
    if (alias >= 0 && u->op[alias]->nin == 1 && dt_runs_pair(u, alias))
      f->made = &dt_runs_pair(u, alias)[0]->in[0];
    return DT_OK;
  }
  if (!f->leaf && !f->own && f->rel.kind == DT_REL_ADDEND && !r->backward &&
      !is_update(r))
    return blame_addend(u, f);
  if (!r->backward && !is_update(r)) return blame_forward(u, f);
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
