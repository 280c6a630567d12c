/* SPDX-License-Identifier: MIT
** engine/saving.c: which operators keep something for their gradient, for
** activation checkpoints: a recomputed forward is over when the last tensor
** that was kept is there again, and it begins when the first is wanted.
**
** Counted are operators, not tensors.  One that keeps inputs has them before
** it runs, so it does not run again; one that keeps an output has to.  What
** comes after it stops at the next operator with a gradient.  PyTorch detaches
** each argument when it is kept in the second forward, and when it is read. */
#include <string.h>

#include "engine/call_int.h"
#include "engine/engine_int.h"

/* Does it keep an output? */
static bool keeps_output (const DtOpDef *op) {
  return op->saved->keep != 0 || (op->flags & DT_OP_SAVE_OUT) != 0;
}

static bool saves_anything (const DtOpDef *op) {
  if (op->flags & DT_OP_NOGRAD) return false;
  return keeps_output(op) || dt_saved_args(op->sig) != NULL;
}

/* The slot of the argument whose name is the first `n` bytes of `name`, or
** -1. */
static int slot_of (const DtOpDef *op, const DtArgs *args, const char *name,
                    size_t n) {
  char text[64];
  if (n >= sizeof text) return -1;
  memcpy(text, name, n);
  text[n] = '\0';
  return dt_arg_slot(args, dt_schema_arg(op->sig, text));
}

/* The same; -1 where that argument wants no gradient: by the graph's node, or
** now. */
static int slot_that_needs_grad (const DtOpDef *op, const DtArgs *args,
                                 DtVar *const *in, const DtNode *node,
                                 const char *name, size_t n) {
  int slot = slot_of(op, args, name, n);
  if (slot < 0 || in[slot] == NULL) return -1;
  if (node != NULL) return node->next[slot].fn != NULL ? slot : -1;
  return dt_var_needs_grad(in[slot]) ? slot : -1;
}

DtStatus dt_saving_copies (DtSession *s, const DtOpDef *op,
                           const DtArgs *args, DtVar *const *in,
                           const DtNode *node) {
  const char *p = dt_saved_args(op->sig);
  while (p != NULL && *p != '\0') {
    size_t n = strcspn(p, ": "), len = strcspn(p, " ");
    int slot = slot_that_needs_grad(op, args, in, node, p, n);
    DtVar *copy;
    if (p[n] == ':' &&
        slot_that_needs_grad(op, args, in, node, p + n + 1, len - n - 1) < 0)
      slot = -1;
    if (slot >= 0) {
      DT_TRY(s->cx, dt_detach(s, in[slot], &copy));
      dt_var_unref(copy);
    }
    p += p[len] == ' ' ? len + 1 : len;
  }
  return DT_OK;
}

/* Where PyTorch makes a SavedVariable of an inference tensor it raises
** (torch/csrc/autograd/saved_variable.cpp@2.15); one that is kept for the
** gradient of another argument is kept only where that one is wanted. */
DtStatus dt_saving_check (DtSession *s, const DtOpDef *op, const DtArgs *args,
                          DtVar *const *in) {
  const char *p = dt_saved_args(op->sig);
  while (p != NULL && *p != '\0') {
    size_t n = strcspn(p, ": "), len = strcspn(p, " ");
    int slot = slot_of(op, args, p, n);
    bool kept = slot >= 0 && in[slot] != NULL && in[slot]->inference &&
      (p[n] != ':' ||
       slot_that_needs_grad(op, args, in, NULL, p + n + 1, len - n - 1) >= 0);
    DT_CHECK(s->cx, !kept, DT_E_RUNTIME,
             "Inference tensors cannot be saved for backward. Please do not "
             "use Tensors created in inference mode in computation tracked by "
             "autograd. To work around this, you can make a clone to get a "
             "normal tensor and use it in autograd, or use `torch.no_grad()` "
             "instead of `torch.inference_mode()`.");
    p += p[len] == ' ' ? len + 1 : len;
  }
  return DT_OK;
}

bool dt_saving_number (const DtNode *node) {
  const DtOpDef *op = node->op;
  const char *p = dt_saved_args(op->sig);
  char text[64];
  if (p == NULL && op->base != NULL) p = dt_saved_args(op->base->sig);
  while (p != NULL && *p != '\0') {
    size_t n = strcspn(p, ": "), len = strcspn(p, " ");
    if (n < sizeof text) {
      int j;
      memcpy(text, p, n);
      text[n] = '\0';
      j = dt_schema_arg(node->op->sig, text);
      if (j >= 0 && op->sig->arg[j].type == DT_T_TENSOR &&
          dt_arg_is_number(&node->args, j))
        return true;
    }
    p += p[len] == ' ' ? len + 1 : len;
  }
  return false;
}

DtStatus dt_saving_count (DtSession *s, const DtOpDef *op,
                          const DtArgs *args, DtVar *const *in) {
  DT_CHECK(s->cx, !s->saving_ended, DT_E_RUNTIME,
           "the recomputed forward ends here");
  if (!saves_anything(op)) return DT_OK;
  s->saving++;
  if (s->saving_end <= 0) return DT_OK;
  DT_TRY(s->cx, dt_saving_copies(s, op, args, in, NULL));
  if (s->saving < s->saving_end) return DT_OK;
  s->saving_ended = true;
  if (keeps_output(op)) return DT_OK;
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
  while (n != NULL && (n->op == NULL || !saves_anything(n->op))) {
    const DtEdge *e = first_edge(n);
    if (e == NULL) return NULL;
    n = e->fn;
    *nr = e->nr;
  }
  return n;
}
