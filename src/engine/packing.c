/* SPDX-License-Identifier: MIT
** engine/packing.c: torch.autograd.graph.saved_tensors_hooks: what operators
** keep for their gradients goes through a hook of the program when it is kept
** and through another one when a gradient reads it.
**
** What an operator keeps is what PyTorch keeps (op/saved.h): arguments by name,
** some only where another one wants a gradient, then results.  The node's own
** copies of them lose their data; their shapes stay. */
#include <string.h>

#include "engine/call_int.h"
#include "engine/engine_int.h"

/* A node whose kept tensors are handed out. */
typedef struct Packer {
  DtSession *s;
  DtNode *n;
  int cap;
} Packer;

/* The next place in n->packs. */
static DtStatus pack_slot (Packer *p, struct DtPack **out) {
  DtNode *n = p->n;
  if (n->npacks == p->cap) {
    int cap = p->cap ? 2 * p->cap : 4;
    struct DtPack *more = dt_realloc(p->s->cx, n->packs,
                                     (size_t)cap * sizeof *more);
    if (more == NULL) return DT_E_NOMEM;
    n->packs = more;
    p->cap = cap;
  }
  *out = &n->packs[n->npacks++];
  return DT_OK;
}

/* Hand `v` to the hook; `at`: its place among inputs and outputs. */
static DtStatus pack_one (Packer *p, int at, DtVar *v) {
  DtSession *s = p->s;
  int64_t version = v->local->storage->version;
  bool grad = s->grad_enabled;
  DtPacked as = { NULL, NULL, NULL };
  struct DtPack *to = NULL;
  DtStatus st;
  s->grad_enabled = false;
  st = s->packing.pack(s, s->packing.ud, v, &as);
  s->grad_enabled = grad;
  DT_TRY(s->cx, st);
  st = v->local->storage->version == version ? pack_slot(p, &to)
    : dt_raise(s->cx, DT_E_RUNTIME, "A saved tensor pack hook is modifying its "
               "input in place. Tensors provided as input to pack hook cannot be "
               "modified by in-place operations as this can lead to "
               "unexpected side-effects. Please open an issue if you need to "
               "perform in-place operations on the input to a pack hook.");
  if (st != DT_OK) {
    if (as.ud_free) as.ud_free(as.ud);
    return st;
  }
  to->at = at;
  to->as = as;
  return DT_OK;
}

/* Does the argument want a gradient, or an element of it? */
static bool wants_grad (const DtNode *n, const char *name) {
  int slots[DT_MAX_OUTS], k, j = dt_schema_arg(n->op->sig, name);
  if (j < 0) return false;
  k = dt_arg_slots(&n->args, j, slots, DT_MAX_OUTS);
  for (int i = 0; i < k; i++)
    if (slots[i] >= 0 && n->next[slots[i]].fn != NULL) return true;
  return false;
}

static DtStatus pack_arg (Packer *p, const char *name, DtVar *const *in,
                          const DtGradCtx *g) {
  DtNode *n = p->n;
  int slots[DT_MAX_OUTS], k, j = dt_schema_arg(n->op->sig, name);
  if (j < 0) return DT_OK;
  k = dt_arg_slots(&n->args, j, slots, DT_MAX_OUTS);
  for (int i = 0; i < k; i++) {
    int at = slots[i];
    if (at < 0 || n->saved_in[at] == NULL) continue;
    bool was = g && g->written == at && g->before;
    DT_TRY(p->s->cx, pack_one(p, at, was ? g->before : in[at]));
    dt_var_drop_data(p->s, n->saved_in[at]);
  }
  return DT_OK;
}

/* "mat1:mat2 mat2:mat1", "self noise": each argument, where it is kept. */
static DtStatus pack_args (Packer *p, const char *kept, DtVar *const *in,
                           const DtGradCtx *g) {
  while (kept != NULL && *kept != '\0') {
    size_t n = strcspn(kept, ": "), len = strcspn(kept, " ");
    char text[128];
    if (len >= sizeof text)
      return dt_raise(p->s->cx, DT_E_INTERNAL, "what %s keeps has too long a name",
                      p->n->op->sig->full);
    memcpy(text, kept, len);
    text[len] = text[n] = '\0';
    if (n == len || wants_grad(p->n, text + n + 1))
      DT_TRY(p->s->cx, pack_arg(p, text, in, g));
    kept += kept[len] == ' ' ? len + 1 : len;
  }
  return DT_OK;
}

static DtStatus pack_results (Packer *p, DtVar *const *out) {
  DtNode *n = p->n;
  for (int k = 0; n->saved_out != NULL && k < n->nout; k++) {
    int i = dt_kept_output(n, k);
    if (n->saved_out[i] == NULL || !dt_output_kept(n->op, i, out[i])) continue;
    DT_TRY(p->s->cx, pack_one(p, n->nin + i, out[i]));
    dt_var_drop_data(p->s, n->saved_out[i]);
  }
  return DT_OK;
}

DtStatus dt_packs_keep (DtSession *s, DtNode *n, DtVar *const *in,
                        const DtGradCtx *g, DtVar *const *out) {
  Packer p = { s, n, 0 };
  const char *kept = dt_saved_args(n->op->sig);
  if (s->packing.pack == NULL) return DT_OK;
  if (kept == NULL && n->op->base != NULL)
    kept = dt_saved_args(n->op->base->sig);
  DT_TRY(s->cx, pack_args(&p, kept, in, g));
  return pack_results(&p, out);
}

DtStatus dt_packs_read (DtSession *s, const DtNode *n, DtVar **in,
                        DtVar **out) {
  for (int i = 0; i < n->npacks; i++) {
    const struct DtPack *p = &n->packs[i];
    DtVar **to = p->at < n->nin ? &in[p->at] : &out[p->at - n->nin];
    DtVar *v, *own;
    DtStatus st = p->as.unpack(s, p->as.ud, &v);
    DT_TRY(s->cx, st);
    st = dt_var_alias(v, &own);
    dt_var_unref(v);
    DT_TRY(s->cx, st);
    dt_var_unref(*to);          /* the same tensor, kept under two names */
    *to = own;
  }
  return DT_OK;
}

void dt_packs_free (DtSession *s, DtNode *n) {
  (void)s;
  for (int i = 0; i < n->npacks; i++)
    if (n->packs[i].as.ud_free) n->packs[i].as.ud_free(n->packs[i].as.ud);
  n->npacks = 0;
}
