/* SPDX-License-Identifier: MIT
** engine/saving.c: which operators keep something for their gradient, for
** activation checkpoints: a recomputed forward is over when the last tensor
** that was kept is there again, and it begins when the first is wanted.
**
** Counted are operators, not tensors.  One that keeps inputs has them before
** it runs, so it does not run again; one that keeps an output has to.  What
** comes after it stops at the next operator with a gradient. */
#include <stdlib.h>
#include <string.h>

#include "engine/call_int.h"
#include "engine/engine_int.h"

/* Operators whose gradient reads sizes and numbers only, beside views; by
** name without overload, in order. */
static const char *const no_tensors[] = {
  "_reshape_copy", "_to_copy", "_unsafe_view", "add", "add_", "cat", "clone",
  "constant_pad_nd", "copy_", "cumsum", "fill_", "flip", "mean", "neg",
  "repeat", "roll", "rsub", "select_backward", "slice_backward", "stack",
  "sub", "sub_", "sum", "tril", "triu", "unfold_backward", "zero_",
};

static int compare (const void *key, const void *row) {
  return strcmp(key, *(const char *const *)row);
}

static bool saves (const DtOpDef *op) {
  const DtSchema *sig = op->sig;
  if (op->flags & DT_OP_NOGRAD) return false;
  if (op->saved->keep != 0 || (op->flags & DT_OP_SAVE_OUT)) return true;
  if (op->flags & DT_OP_VIEW) return false;
  return bsearch(sig->base, no_tensors,
                 sizeof no_tensors / sizeof *no_tensors, sizeof *no_tensors,
                 compare) == NULL;
}

DtStatus dt_saving_count (DtSession *s, const DtOpDef *op) {
  DT_CHECK(s->cx, !s->saving_ended, DT_E_RUNTIME,
           "the recomputed forward ends here");
  if (!saves(op)) return DT_OK;
  s->saving++;
  if (s->saving_end <= 0 || s->saving < s->saving_end) return DT_OK;
  s->saving_ended = true;
  if (op->saved->keep != 0 || (op->flags & DT_OP_SAVE_OUT)) return DT_OK;
  return dt_raise(s->cx, DT_E_RUNTIME, "the recomputed forward ends here");
}

/* The edge that backward follows first. */
static const DtEdge *first_edge (const DtNode *n) {
  const DtEdge *found = NULL;
  for (int i = 0; i < n->nin; i++)
    if (n->next[i].fn != NULL && n->next[i].fn->leaf == NULL &&
        (found == NULL || n->next[i].fn->seq > found->fn->seq))
      found = &n->next[i];
  return found;
}

DtNode *dt_saving_node (DtVar *v, int *nr) {
  DtNode *n = v->grad_fn;
  *nr = v->output_nr;
  while (n != NULL && (n->op == NULL || !saves(n->op))) {
    const DtEdge *e = first_edge(n);
    if (e == NULL) return NULL;
    n = e->fn;
    *nr = e->nr;
  }
  return n;
}
