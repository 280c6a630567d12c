/* SPDX-License-Identifier: MIT
** engine/gradcall.c: run the gradient of one recorded call: operators call
** operators, through an emitter that executes and knows what the node saved.
** A list operator made from a scalar one has the scalar one's gradient, asked
** element by element. */
#include "base/error_tool.h"
#include "engine/call_int.h"

/* Run a gradient with its handles, and keep what is wanted. */
static DtStatus call_grad (DtSession *s, DtGradCall *c, DtRun *run,
                           DtVar **gin) {
  DtStatus st;
  DT_CHECK(s->cx, c->op->grad != NULL, DT_E_AUTOGRAD,
           "derivative for %s::%s is not implemented", c->op->sig->ns,
           c->op->sig->base);
  st = c->op->grad(c);
  if (st == DT_OK) st = run->e.st;
  for (int i = 0; i < c->nin && st == DT_OK; i++)
    if (c->gin[i] != NULL && c->need[i])
      gin[i] = dt_var_ref(dt_run_var(c->gin[i]));
  return st;
}

/* Add to gradients: `got` is taken. */
static DtStatus grad_add (DtSession *s, DtVar **to, DtVar *got) {
  DtVar *sum = got;
  DtStatus st = DT_OK;
  if (*to != NULL) {
    st = dt_call_fmt(s, &sum, "aten.add.Tensor", "tt", *to, got);
    if (st == DT_OK) dt_var_unref(got);
    dt_var_unref(*to);
  }
  *to = sum;
  return st;
}

/* Gradient of element `i` of a list operator for the list `which`. */
static DtStatus grad_element (DtSession *s, DtNode *n, const DtGradCall *whole,
                              DtRun *run, int i, int which, DtVar **gin) {
  DtStatus st;
  DtHandle *in[DT_MAX_ARGS], *h[DT_MAX_ARGS] = { NULL };
  DtVar *got[DT_MAX_ARGS] = { NULL };
  bool need[DT_MAX_ARGS], any = false;
  int slot[DT_MAX_ARGS], k = 0;
  DtArgs a;
  DtGradCall c = { .e = whole->e, .op = n->op->base, .args = &a, .in = in,
                   .nout = 1, .out = whole->out + i, .gout = whole->gout + i,
                   .need = need, .gin = h };
  DT_TRY(s->cx, dt_foreach_args(s->cx, n->op, &n->args, i, &a));
  for (int j = 0; j < a.n; j++) {
    DtValue *v = &a.v[j];
    if (v->kind != DT_V_TENSOR) continue;
    slot[k] = v->u.slot;
    in[k] = whole->in[slot[k]];
    need[k] = j == which && whole->need[slot[k]];
    any = any || need[k];
    v->u.slot = k++;
  }
  if (!any) return DT_OK;
  a.nslots = c.nin = k;
  st = call_grad(s, &c, run, got);
  for (int j = 0; j < k; j++) {
    if (got[j] == NULL) continue;
    if (need[j] && st == DT_OK) st = grad_add(s, &gin[slot[j]], got[j]);
    else dt_var_unref(got[j]);
  }
  return st;
}

/* A list operator made from a scalar one: list by list, and in each element
** by element, as PyTorch goes. */
static DtStatus grad_each (DtSession *s, DtNode *n, const DtGradCall *whole,
                           DtRun *run, DtVar **gin) {
  for (int which = 0; which < n->op->base->sig->nargs; which++)
    for (int i = 0; i < n->nout; i++)
      if (whole->gout[i] != NULL)
        DT_TRY(s->cx, grad_element(s, n, whole, run, i, which, gin));
  return DT_OK;
}

/* The inputs as the formula reads them, owned; those that hooks gave back stand
** there.  With create_graph they have their history: variables of this
** backward, on the edges of the node. */
static DtStatus read_inputs (DtSession *s, DtNode *n, DtVar **in) {
  DT_CHECK(s->cx, !s->create_graph || !n->packed, DT_E_NOTIMPL,
           "create_graph=True (gradients of gradients) through an activation "
           "checkpoint is not supported by dtrepl");
  for (int i = 0; i < n->nin; i++) {
    if (n->saved_in == NULL || n->saved_in[i] == NULL) continue;
    if (in[i] == NULL && !s->create_graph) in[i] = dt_var_ref(n->saved_in[i]);
    if (in[i] == NULL) DT_TRY(s->cx, dt_var_alias(n->saved_in[i], &in[i]));
    if (s->create_graph && n->next[i].fn != NULL)
      dt_node_set_history(s, in[i], n->next[i].fn, n->next[i].nr);
  }
  return DT_OK;
}

/* Run the gradient of one node.  Errors come in PyTorch's order: values that are
** gone, then copies of arguments, then saved outputs, then the formula itself.
** Under create_graph the inputs are those with their history, else the saved
** ones.  All that is made here lies in the scratch arena behind `mark`, which is
** released on every way out: gin alone outlives the call.
** Source: torch/csrc/autograd/saved_variable.cpp:SavedVariable::unpack@2.15. */
DtStatus dt_node_exec (DtSession *s, DtNode *n, DtVar *const *gout,
                       const bool *need, DtVar **gin) {
  DtArenaMark mark = dt_arena_mark(&s->cx->scratch);
  DtHandle **h = DT_ANEWN(s->cx, &s->cx->scratch, DtHandle *, n->nin + 1);
  DtHandle **none = DT_ANEWN(s->cx, &s->cx->scratch, DtHandle *,
                             n->nout + 1);
  DtVar **kept = n->saved_out
                   ? DT_ANEWN(s->cx, &s->cx->scratch, DtVar *, n->nout + 1)
                   : NULL;
  bool own = s->create_graph || n->packs != NULL;
  DtVar **in = own
                 ? DT_ANEWN(s->cx, &s->cx->scratch, DtVar *, n->nin + 1)
                 : n->saved_in;
  DtRun run;
  DtGradCall c = { .e = &run.e, .op = n->op, .args = &n->args,
                   .nin = n->nin, .nout = n->nout, .need = need, .gin = h };
  DtStatus st = h && none && (kept || !n->saved_out) ? DT_OK : DT_E_NOMEM;
  dt_run_init(&run, s, &s->cx->scratch);
  run.e.recorded = s->create_graph;
  run.node = n;
  if (st == DT_OK && n->released && (n->packs || dt_saving_number(n)))
    st = dt_node_freed(s);
  if (st == DT_OK && n->packed)
    st = dt_saving_copies(s, n->op, &n->args, n->saved_in, n);
  if (st == DT_OK && own && !in) st = DT_E_NOMEM;
  if (st == DT_OK && n->packs) st = dt_packs_read(s, n, in, kept);
  if (st == DT_OK && own) st = read_inputs(s, n, in);
  if (st == DT_OK && kept) st = dt_node_unpack(s, n, kept);
  c.in = (DtHandle *const *)(void *)in;
  c.out = kept ? (DtHandle *const *)(void *)kept : none;
  c.gout = (DtHandle *const *)(const void *)gout;
  if (st == DT_OK)
    st = (n->op->flags & DT_OP_FOREACH) && n->op->base
           ? grad_each(s, n, &c, &run, gin) : call_grad(s, &c, &run, gin);
  dt_run_fini(&run);
  for (int i = 0; kept != NULL && i < n->nout; i++) dt_var_unref(kept[i]);
  for (int i = 0; own && in != NULL && i < n->nin; i++)
    dt_var_unref(in[i]);
  dt_arena_release(&s->cx->scratch, mark);
  return st;
}
