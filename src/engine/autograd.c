/* SPDX-License-Identifier: MIT
** engine/autograd.c: what a call leaves behind for backward, and the flags
** and hooks of variables.
**
** A node keeps the call itself (operator, arguments, inputs, outputs when the
** gradient reads them); backward hands it to the operator's gradient, which
** calls operators.  What PyTorch dispatches for keeping is dispatched: the
** detach of a kept output (op/saved.h), the clone of an input that is
** overwritten in place while its gradient reads it. */
#include "base/error_tool.h"
#include "engine/call_int.h"

#include <string.h>

static bool is_differentiable (const DtVar *v) {
  DtDtype t = (DtDtype)dt_var_meta(v)->dtype;
  return dt_dtype_is_float(t) || dt_dtype_is_complex(t);
}

static bool is_letter (char c) { return c >= 'a' && c <= 'z'; }

/* PyTorch counts the formulas of a name in the order of its derivatives.yaml:
** those of these overloads are not the first.  What Python writes with a number
** (x + 1) calls the overload of two tensors, whose formula is. */
static const struct { const char *name, *overload; char number; } counted[] = {
  {"_ctc_loss", "Tensor", '1'}, {"celu_", "", '1'}, {"clamp", "", '1'},
  {"clamp_max", "Tensor", '1'}, {"clamp_min", "Tensor", '1'},
  {"copysign", "Scalar", '1'}, {"div", "Scalar_mode", '3'},
  {"div", "Tensor_mode", '2'}, {"elu_", "", '1'}, {"fmod", "Tensor", '1'},
  {"index_fill", "int_Tensor", '1'}, {"leaky_relu_", "", '1'},
  {"lerp", "Tensor", '1'}, {"masked_fill", "Tensor", '1'}, {"max", "", '1'},
  {"mean", "dim", '1'}, {"median", "dim", '1'}, {"min", "", '1'},
  {"nanmedian", "dim", '1'}, {"norm", "ScalarOpt_dim", '1'},
  {"norm", "ScalarOpt_dim_dtype", '3'}, {"norm", "ScalarOpt_dtype", '2'},
  {"pow", "Scalar", '2'}, {"pow", "Tensor_Tensor", '1'},
  {"pow_", "Scalar", '0'}, {"pow_", "Tensor", '1'}, {"fill", "Tensor", '1'},
  {"fill_", "Scalar", '2'}, {"fill_", "Tensor", '3'},
  {"prod", "dim_int", '1'}, {"remainder", "Tensor", '1'},
  {"round", "decimals", '1'}, {"rsub", "Scalar", '1'},
  {"scatter", "value", '1'}, {"squeeze", "dim", '1'}, {"squeeze", "dims", '2'},
  {"squeeze_", "", '3'}, {"squeeze_", "dim", '4'}, {"squeeze_", "dims", '5'},
  {"sum", "dim_IntList", '1'}, {"t_", "", '1'}, {"threshold_", "", '1'},
  {"transpose_", "", '1'}, {"unsqueeze_", "", '1'}, {"view", "dtype", '1'},
  {"xlogy", "Scalar_Other", '2'}, {"xlogy", "Scalar_Self", '1'}};

/* Is this the name, or the name of what writes in place by the same formula? */
static bool is_named (const char *base, const char *name) {
  size_t n = strlen(name);
  return strncmp(base, name, n) == 0
    && (base[n] == '\0' || (base[n] == '_' && base[n + 1] == '\0'));
}

static char number_of (const DtOpDef *op) {
  const char *overload = op->sig->overload;
  if (strcmp(overload, "default") == 0) overload = "";
  char found = '0';
  for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++)
    if (strcmp(counted[i].overload, overload) == 0
        && is_named(op->sig->base, counted[i].name)
        && (found == '0' || strcmp(op->sig->base, counted[i].name) == 0))
      found = counted[i].number;
  return found;
}

/* "mm" to "MmBackward0", as PyTorch names its nodes: every letter behind what
** is no letter is a capital ("NllLoss2D"), and "Forward" at the end goes
** (torchgen's create_op_name). */
static const char *node_name (DtSession *s, const DtOpDef *op) {
  static const char forward[] = "Forward";
  const size_t nf = sizeof forward - 1;
  char name[96];
  size_t k = 0;
  bool up = true;
  for (const char *p = op->sig->base; *p && k < sizeof name - 12; p++) {
    if (*p != '_')
      name[k++] = up && is_letter(*p) ? (char)(*p - 'a' + 'A') : *p;
    up = !is_letter(*p);
  }
  if (k > nf && memcmp(name + k - nf, forward, nf) == 0) k -= nf;
  memcpy(name + k, "Backward0", sizeof "Backward0");
  name[k + sizeof "Backward0" - 2] = number_of(op);
  return dt_session_intern(s, name);
}

/* --- before --- */

static DtStatus check_written (DtSession *s, const DtVar *v) {
  const DtVar *b = v->view_base;
  DT_TRY(s->cx, dt_view_check_written(s, v));
  bool view = b && b->requires_grad && b->grad_fn == NULL;
  if (!view && !(v->requires_grad && v->grad_fn == NULL)) return DT_OK;
  return dt_error_reason(
    s->cx, dt_raise(s->cx, DT_E_AUTOGRAD, "%s leaf Variable that requires grad "
                    "is being used in an in-place operation.",
                    view ? "a view of a" : "a"),
    view ? "leaf view written" : "leaf written");
}

static DtStatus check_value (DtSession *s, const DtValue *v,
                             DtVar *const *in, int nin) {
  if (v->kind == DT_V_TENSOR && v->u.slot < nin)
    return check_written(s, in[v->u.slot]);
  if (v->kind == DT_V_LIST)
    for (int i = 0; i < v->u.list.n; i++)
      DT_TRY(s->cx, check_value(s, &v->u.list.v[i], in, nin));
  return DT_OK;
}

/* The input as it was, where no operator is known to keep it: its bytes. */
static DtStatus copy_before (DtSession *s, DtVar *v, DtVar **out) {
  DtTensor *t;
  DtMeta m;
  DtStatus st = DT_OK;
  dt_meta_copy(&m, &v->local->m);
  if (!dt_meta_is_dense(&m)) dt_meta_strides_like(&m, &v->local->m);
  DT_TRY(s->cx, dt_tensor_new(s->cx, &m, !dt_tensor_has_data(v->local), &t));
  if (dt_tensor_has_data(v->local)) st = dt_k_copy(s->cx, v->local, t);
  if (st == DT_OK) st = dt_var_new(s, t, v->spec, out);
  dt_tensor_unref(s->cx, t);
  return st;
}

/* Does a gradient that is wanted read what is overwritten? */
static bool reads_self (const DtOpDef *op, const DtArgs *args,
                        DtVar *const *in) {
  const char *who = op->saved->self;
  int slot;
  if (who == NULL) return false;
  if (*who == '*') return true;
  slot = dt_arg_slot(args, dt_schema_arg(op->sig, who));
  return slot >= 0 && in[slot] != NULL && dt_var_needs_grad(in[slot]);
}

/* An operator that runs beside what autograd records. */
static DtStatus call_aside (DtSession *s, const char *op, DtVar *v,
                            DtVar **out) {
  bool grad = s->grad_enabled;
  DtStatus st;
  s->grad_enabled = false;
  st = dt_call_fmt(s, out, op, "t", v);
  s->grad_enabled = grad;
  return st;
}

/* The input that is overwritten, as it was: a clone when the gradient reads
** it, as PyTorch makes one; else only its shape counts. */
static DtStatus keep_before (DtSession *s, const DtOpDef *op,
                             const DtArgs *args, DtVar *const *in,
                             DtGradCtx *g) {
  DtVar *v = in[g->written];
  if (op->flags & DT_OP_CUSTOM) return copy_before(s, v, &g->before);
  if (!(op->flags & DT_OP_VIEW) && reads_self(op, args, in))
    return call_aside(s, "aten.clone.default", v, &g->before);
  return dt_var_alias(v, &g->before);
}

DtStatus dt_grad_begin (DtSession *s, const DtOpDef *op, const DtArgs *args,
                        int nin, DtVar *const *in, DtGradCtx *g) {
  const DtSchema *sig = op->sig;
  g->written = -1;
  g->before = NULL;
  g->record = !(op->flags & DT_OP_NOGRAD);
  DT_CHECK(s->cx, !sig->writes_out, DT_E_AUTOGRAD,
           "%s(): functions with out=... arguments don't support automatic "
           "differentiation, but one of the arguments requires grad.",
           sig->base);
  for (int j = 0; j < sig->nargs; j++)
    if (sig->arg[j].write)
      DT_TRY(s->cx, check_value(s, &args->v[j], in, nin));
  g->written = dt_wrap_ret_slot(op, args, 0);
  if (g->record && g->written >= 0) {
    g->version = in[g->written]->local->storage->version;
    DT_TRY(s->cx, keep_before(s, op, args, in, g));
  }
  return DT_OK;
}

void dt_grad_fini (DtSession *s, DtGradCtx *g) {
  (void)s;
  dt_var_unref(g->before);
  g->before = NULL;
}

/* --- after --- */

/* Is `v` memory that this call wrote into?  It was kept as it had been: a
** gradient that reads it finds another version. */
static bool shares_written (const DtVar *v, DtVar *const *in,
                            const DtGradCtx *g) {
  return g && g->written >= 0 && g->before &&
         v->local->storage == in[g->written]->local->storage;
}

static struct DtSavedVersion saved_at (const DtVar *v, int64_t version) {
  const int64_t later = v->local->storage->version - version;
  return (struct DtSavedVersion){ dt_tensor_writes(v->local) - later, version };
}

static DtStatus save_inputs (DtSession *s, DtNode *n, int nin,
                             DtVar *const *in, const DtGradCtx *g) {
  n->saved_in = DT_NEWN(s->cx, DtVar *, nin + 1);
  n->saved_version = DT_NEWN(s->cx, struct DtSavedVersion, nin + n->nout + 1);
  if (n->saved_in == NULL || n->saved_version == NULL) return DT_E_NOMEM;
  for (int i = 0; i < nin; i++) {
    bool was = g && g->written == i && g->before;
    DtVar *v = was ? g->before : in[i];
    if (v == NULL) continue;
    DT_TRY(s->cx, dt_var_alias(v, &n->saved_in[i]));
    n->saved_version[i] = saved_at(v, shares_written(v, in, g)
                                      ? g->version : v->local->storage->version);
  }
  return DT_OK;
}

/* Output `i` is kept and differentiable: detached now, and again when it is
** read. */
static bool detaches_output (const DtOpDef *op, int i, const DtVar *v) {
  uint32_t bit = op->sig->returns_list ? 1 : i < 32 ? UINT32_C(1) << i : 0;
  return (op->saved->keep & bit) != 0 && v != NULL && is_differentiable(v);
}

static bool output_counts (const DtOpDef *op, int i, const DtVar *v) {
  if (v == NULL || !is_differentiable(v)) return false;
  return op->sig->returns_list || i >= 32 || (op->saved->diff >> i & 1) != 0;
}

bool dt_output_kept (const DtOpDef *op, int i, const DtVar *v) {
  uint32_t bit = op->sig->returns_list ? 1 : i < 32 ? UINT32_C(1) << i : 0;
  if (v == NULL || (op->saved->keep & bit) != 0) return v != NULL;
  return (op->flags & DT_OP_SAVE_OUT) != 0 && !output_counts(op, i, v);
}

int dt_kept_output (const DtNode *n, int k) {
  const DtSchema *sig = n->op->sig;
  if (sig->returns_list || n->nout != sig->nrets) return k;
  for (int i = 0; i < n->nout; i++) {
    int before = 0;
    if (sig->ret[i].name == NULL) return k;
    for (int j = 0; j < n->nout && sig->ret[j].name != NULL; j++)
      before += strcmp(sig->ret[j].name, sig->ret[i].name) < 0;
    if (before == k) return i;
  }
  return k;
}

static DtStatus save_outputs (DtSession *s, DtNode *n, int nout,
                              DtVar *const *out) {
  if (!(n->op->flags & DT_OP_SAVE_OUT) && n->op->saved->keep == 0)
    return DT_OK;
  n->saved_out = DT_NEWN(s->cx, DtVar *, nout + 1);
  if (n->saved_out == NULL) return DT_E_NOMEM;
  for (int k = 0; k < nout; k++) {
    int i = dt_kept_output(n, k);
    if (out[i] == NULL) continue;
    if (detaches_output(n->op, i, out[i]) && s->saving_end >= 0)
      DT_TRY(s->cx, dt_detach(s, out[i], &n->saved_out[i]));
    else
      DT_TRY(s->cx, dt_var_alias(out[i], &n->saved_out[i]));
    n->saved_version[n->nin + i] = saved_at(out[i], out[i]->local->storage->version);
  }
  return DT_OK;
}

/* A result without a gradient that the formula reads, as the factors of a
** solution are: how the gradient depends on it nobody would know. */
static DtStatus check_depends (DtSession *s, const DtNode *n, int i) {
  const DtVar *v = n->saved_out[i];
  if (n->op->flags & DT_OP_AGAIN) return DT_OK;
  DT_CHECK(s->cx, v == NULL || !is_differentiable(v) ||
             output_counts(n->op, i, v), DT_E_NOTIMPL,
           "create_graph=True (gradients of gradients) through %s is not "
           "supported by dtrepl", n->name);
  return DT_OK;
}

DtStatus dt_node_unpack (DtSession *s, DtNode *n, DtVar **out) {
  for (int k = 0; k < n->nout; k++) {
    int i = dt_kept_output(n, k);
    if (s->create_graph) DT_TRY(s->cx, check_depends(s, n, i));
    if (out[i] != NULL) {
      ;                         /* a hook gave it back */
    } else if (detaches_output(n->op, i, n->saved_out[i])) {
      DT_TRY(s->cx, dt_node_check_saved(s, n, n->saved_out[i]));
      DT_TRY(s->cx, dt_detach(s, n->saved_out[i], &out[i]));
    } else if (s->create_graph && n->saved_out[i] != NULL)
      DT_TRY(s->cx, dt_var_alias(n->saved_out[i], &out[i]));
    else
      out[i] = dt_var_ref(n->saved_out[i]);
    if (s->create_graph && output_counts(n->op, i, out[i]))
      dt_node_set_history(s, out[i], n, i);
  }
  return DT_OK;
}

static DtStatus add_edges (DtSession *s, DtNode *n, int nin, DtVar *const *in) {
  for (int i = 0; i < nin; i++) {
    if (in[i] != NULL && !is_differentiable(in[i])) continue;
    DT_TRY(s->cx, dt_node_edge(s, in[i], &n->next[i]));
  }
  return DT_OK;
}

void dt_node_set_history (DtSession *s, DtVar *v, DtNode *n,
                          int nr) {
  DtNode *old = v->grad_fn;
  if (old != NULL && old->retain && old->retain[v->output_nr] == v)
    old->retain[v->output_nr] = NULL;
  v->grad_fn = dt_node_ref(n);
  v->output_nr = nr;
  v->requires_grad = true;
  dt_node_unref(s, old);
}

/* Where a node's call was made.  The call has ended, and with it what the session
** knew of its line; a fresh output still knows. */
static DtOrigin origin_of_call (DtSession *s, const DtGradCtx *g, int nout,
                                DtVar *const *out) {
  for (int i = 0; i < nout && (g == NULL || g->written < 0); i++)
    if (out[i] != NULL) return out[i]->origin;
  if (s->cur_op == NULL) s->cur_file = NULL;
  return dt_ev_where(s);
}

static DtStatus record_node (DtSession *s, const DtOpDef *op,
                             const DtArgs *args, int nin, DtVar *const *in,
                             const DtGradCtx *g, int nout, DtVar *const *out) {
  DtNode *n;
  DtStatus st;
  const char *name = node_name(s, op);
  if (name == NULL) return DT_E_NOMEM;
  DT_TRY(s->cx, dt_node_new(s, name, nin, nout, &n));
  n->op = op;
  n->origin = origin_of_call(s, g, nout, out);
  n->packed = s->saving_end < 0;
  st = dt_args_copy(s->cx, &n->arena, args, &n->args);
  if (st == DT_OK) st = add_edges(s, n, nin, in);
  if (st == DT_OK) st = save_inputs(s, n, nin, in, g);
  for (int i = 0; i < nout && st == DT_OK; i++) {
    bool same = g && g->written >= 0 && out[i] == in[g->written];
    if (out[i] != NULL) dt_meta_copy(&n->out_meta[i], dt_var_meta(out[i]));
    if (!output_counts(op, i, out[i])) continue;
    if (same && out[i]->view_base != NULL)
      st = dt_copyslices(s, out[i], n, i);
    else
      dt_node_set_history(s, out[i], n, i);
  }
  if (st == DT_OK) st = save_outputs(s, n, nout, out);
  if (st == DT_OK) st = dt_packs_keep(s, n, in, g, out);
  dt_node_unref(s, n);
  return st;
}

DtStatus dt_grad_end (DtSession *s, const DtOpDef *op, const DtArgs *args,
                      int nin, DtVar *const *in, DtGradCtx *g,
                      DtResults *out) {
  DtStatus st;
  bool any = false;
  if (!g->record) return DT_OK;
  for (int i = 0; i < out->n; i++)
    any = any || (dt_result(out, i) && is_differentiable(dt_result(out, i)));
  if (!any) return DT_OK;
  st = record_node(s, op, args, nin, in, g, out->n,
                   out->more ? out->more : out->v);
  if (st != DT_OK) dt_results_fini(s, out);
  return st;
}

DtStatus dt_autograd_custom (DtSession *s, const char *name, int nin,
                             DtVar *const *in, int nout, DtVar *const *out,
                             DtBackwardFn fn, void *ud,
                             void (*ud_free) (void *)) {
  DtNode *n;
  DtStatus st;
  bool any = false;
  for (int i = 0; i < nin; i++)
    any = any || (in[i] && dt_var_needs_grad(in[i]));
  if (!any || !s->grad_enabled || s->inference) {
    if (ud_free) ud_free(ud);
    return DT_OK;
  }
  st = dt_node_new(s, name, nin, nout, &n);
  if (st != DT_OK) {
    if (ud_free) ud_free(ud);
    return st;
  }
  n->fn = fn;
  n->ud = ud;
  n->ud_free = ud_free;
  st = add_edges(s, n, nin, in);
  for (int i = 0; i < nout && st == DT_OK; i++) {
    if (out[i] == NULL || !is_differentiable(out[i])) continue;
    dt_meta_copy(&n->out_meta[i], dt_var_meta(out[i]));
    dt_node_set_history(s, out[i], n, i);
  }
  dt_node_unref(s, n);
  return st;
}

/* --- flags and hooks --- */

DtStatus dt_detach (DtSession *s, DtVar *v, DtVar **out) {
  bool grad = s->grad_enabled;
  DtStatus st;
  s->grad_enabled = false;
  st = dt_call_fmt(s, out, "aten.detach.default", "t", v);
  s->grad_enabled = grad;
  if (st != DT_OK) return st;
  dt_var_unref((*out)->view_base);
  (*out)->view_base = NULL;
  return DT_OK;
}

DtStatus dt_var_set_requires_grad (DtVar *v, bool on) {
  DtCtx *cx = v->s->cx;
  DT_CHECK(cx, v->grad_fn == NULL || on, DT_E_AUTOGRAD,
           "you can only change requires_grad flags of leaf variables. If you "
           "want to use a computed variable in a subgraph that doesn't "
           "require differentiation use var_no_grad = var.detach().");
  DT_CHECK(cx, !on || is_differentiable(v), DT_E_AUTOGRAD,
           "only Tensors of floating point dtype can require gradients");
  if (v->grad_fn == NULL) v->requires_grad = on;
  return DT_OK;
}

int dt_var_grad_dtype (const DtVar *v) {
  return v->grad_dtype_set ? v->grad_dtype : (int)dt_var_meta(v)->dtype;
}

DtStatus dt_var_set_grad_dtype (DtVar *v, int dtype) {
  DtCtx *cx = v->s->cx;
  DT_CHECK(cx, v->grad_fn == NULL, DT_E_RUNTIME,
           "grad_dtype can only be set on leaf tensors.");
  DT_CHECK(cx, v->grad == NULL || dtype == DT_GRAD_ANY
             || dtype == (int)dt_var_meta(v->grad)->dtype, DT_E_RUNTIME,
           "Cannot set grad_dtype to '%s' because there is already a gradient "
           "with dtype '%s'. Please clear the gradient (.grad = None) before "
           "changing grad_dtype, or ensure the new grad_dtype matches the "
           "existing gradient's dtype.", dt_dtype_word((DtDtype)dtype),
           dt_dtype_info((DtDtype)dt_var_meta(v->grad)->dtype)->cpp);
  v->grad_dtype_set = true;
  v->grad_dtype = dtype;
  return DT_OK;
}

DtStatus dt_var_check_grad (DtVar *v, const DtVar *g) {
  const DtMeta *m = dt_var_meta(g);
  int want = dt_var_grad_dtype(v);
  DT_CHECK(v->s->cx, dt_meta_same_shape(m, dt_var_meta(v)), DT_E_RUNTIME,
           "assigned grad has data of a different size");
  DT_CHECK(v->s->cx, want == DT_GRAD_ANY || want == (int)m->dtype,
           DT_E_RUNTIME, "attempting to assign a gradient with dtype '%s' to a "
           "tensor with grad_dtype '%s'. The gradient must match the tensor's "
           "grad_dtype (defaults to the tensor's dtype). You can set the "
           "tensor's grad_dtype attribute with a specific dtype, or None to "
           "allow any dtype. Set grad_dtype with caution. Diverging the dtypes "
           "of a tensor and its gradient may break downstream systems that "
           "assume they match.", dt_dtype_info((DtDtype)m->dtype)->cpp,
           dt_dtype_word((DtDtype)want));
  return DT_OK;
}

DtStatus dt_var_retain_grad (DtVar *v) {
  DtNode *n = v->grad_fn;
  DT_CHECK(v->s->cx, dt_var_needs_grad(v), DT_E_AUTOGRAD,
           "can't retain_grad on Tensor that has requires_grad=False");
  if (n == NULL) return DT_OK;
  if (n->retain == NULL) {
    n->retain = DT_NEWN(v->s->cx, DtVar *, n->nout + 1);
    if (n->retain == NULL) return DT_E_NOMEM;
  }
  n->retain[v->output_nr] = v;
  v->retains_grad = true;
  return DT_OK;
}

/* Hooks that are to run after the others stay behind them. */
static DtStatus hook_on_node (DtVar *v, DtNode *n, int nr, struct DtHook h) {
  int at = n->nprehooks;
  struct DtNodeHook *p =
    dt_realloc(v->s->cx, n->prehooks,
               (size_t)(n->nprehooks + 1) * sizeof *p);
  if (p == NULL) return DT_E_NOMEM;
  n->prehooks = p;
  while (!h.after && at > 0 && p[at - 1].hook.after) at--;
  memmove(&p[at + 1], &p[at], (size_t)(n->nprehooks - at) * sizeof *p);
  p[at].nr = nr;
  p[at].hook = h;
  n->nprehooks++;
  return DT_OK;
}

DtStatus dt_var_hook_saving (DtVar *v, DtHookFn fn, void *ud,
                             void (*ud_free)(void *)) {
  int nr;
  DtNode *n = dt_saving_node(v, &nr);
  struct DtHook h = { fn, ud, ud_free, 0, true };
  if (n == NULL) {
    n = v->grad_fn;
    nr = v->output_nr;
  }
  DT_CHECK(v->s->cx, n != NULL, DT_E_AUTOGRAD,
           "cannot register a hook on a tensor that has no graph");
  h.id = (int)(++v->s->next_hook_id);
  return hook_on_node(v, n, nr, h);
}

DtStatus dt_var_hook (DtVar *v, bool after, DtHookFn fn, void *ud,
                      void (*ud_free)(void *), int *id) {
  DtSession *s = v->s;
  struct DtHook h = { fn, ud, ud_free, 0, after }, *p;
  DT_CHECK(s->cx, dt_var_needs_grad(v), DT_E_AUTOGRAD,
           "cannot register a hook on a tensor that doesn't require gradient");
  DT_CHECK(s->cx, !after || v->grad_fn == NULL, DT_E_RUNTIME, "post accumulate "
           "grad hooks cannot be registered on non-leaf tensors");
  h.id = (int)(++s->next_hook_id);
  *id = h.id;
  if (v->grad_fn != NULL)
    return hook_on_node(v, v->grad_fn, v->output_nr, h);
  p = dt_realloc(s->cx, v->hooks, (size_t)(v->nhooks + 1) * sizeof *p);
  if (p == NULL) return DT_E_NOMEM;
  v->hooks = p;
  p[v->nhooks++] = h;
  return DT_OK;
}

void dt_var_unhook (DtVar *v, int id) {
  DtNode *n = v->grad_fn;
  for (int i = 0; i < v->nhooks; i++)
    if (v->hooks[i].id == id) {
      if (v->hooks[i].ud_free) v->hooks[i].ud_free(v->hooks[i].ud);
      v->nhooks--;
      memmove(&v->hooks[i], &v->hooks[i + 1],
              (size_t)(v->nhooks - i) * sizeof v->hooks[0]);
      return;
    }
  for (int i = 0; n != NULL && i < n->nprehooks; i++)
    if (n->prehooks[i].hook.id == id) {
      if (n->prehooks[i].hook.ud_free)
        n->prehooks[i].hook.ud_free(n->prehooks[i].hook.ud);
      n->nprehooks--;
      memmove(&n->prehooks[i], &n->prehooks[i + 1],
              (size_t)(n->nprehooks - i) * sizeof n->prehooks[0]);
      return;
    }
}
