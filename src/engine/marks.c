/* SPDX-License-Identifier: MIT
** engine/marks.c: tensors whose elements are conjugated or negated lazily, on
** their way through the dispatcher.
**
** As in PyTorch, below autograd and before everything else: an operator that
** does not know the marks is called with clones, which have none, and what it
** wrote into a clone is copied back.  Those calls are seen.  Operators that do
** know them ("takes" in their .ops texts) come through; their kernels get written out inputs,
** unseen.  Nothing here runs before a session has made its first mark. */
#include "engine/engine_int.h"

#include <string.h>

enum { BOTH = DT_MARK_CONJ | DT_MARK_NEG };
typedef enum How { WRITTEN_OUT, VALUES, META } How;

typedef struct Row { const char *base; int marks; How how; } Row;

static const Row *find_marks (const DtOpDef *op) {
  static const Row rows[] = {
#define X(base, marks, how) { base, marks, how },
#include "engine/marked.def"
#undef X
  };
  if (strcmp(op->sig->ns, "aten") != 0 && strcmp(op->sig->ns, "prims") != 0)
    return NULL;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (strcmp(op->sig->base, rows[i].base) == 0) return &rows[i];
  return NULL;
}

/* Views turn and keep marks themselves. */
static bool is_view (const DtOpDef *op) {
  const DtSchema *sig = op->sig;
  if ((op->flags & (DT_OP_VIEW | DT_OP_SHARES)) != 0) return true;
  for (int i = 0; i < sig->nargs; i++)
    if (sig->arg[i].alias_set != 0 && !sig->arg[i].write) return true;
  return false;
}

/* Marks with which tensors reach the operator. */
static int marks_passed_on (const DtOpDef *op) {
  const Row *r = find_marks(op);
  if (is_view(op)) return BOTH;
  return r ? r->marks : 0;
}

bool dt_marks_stop (const DtOpDef *op, int nin, DtVar *const *in) {
  int any = 0;
  for (int i = 0; i < nin; i++)
    if (in[i] != NULL) any |= in[i]->local->marks;
  return any != 0 && (any & ~marks_passed_on(op)) != 0;
}

/* Is the tensor in this slot in a list that is written?  0 no, else which
** mark it has. */
static int written_list (const DtOpDef *op, const DtArgs *args, int nin,
                         DtVar *const *in) {
  for (int j = 0; j < op->sig->nargs && j < args->n; j++) {
    const DtValue *v = &args->v[j];
    if (!op->sig->arg[j].write || v->kind != DT_V_LIST) continue;
    for (int k = 0; k < v->u.list.n; k++) {
      const DtValue *x = &v->u.list.v[k];
      if (x->kind == DT_V_TENSOR && x->u.slot < nin && in[x->u.slot] != NULL &&
          in[x->u.slot]->local->marks != 0)
        return in[x->u.slot]->local->marks;
    }
  }
  return 0;
}

static DtStatus refuse_list (DtSession *s, const DtOpDef *op, int marks) {
  const char *what = marks & DT_MARK_CONJ ? "conjugate" : "negation";
  return dt_raise(s->cx, DT_E_RUNTIME, " fallback doesn't currently support "
                  "mutable TensorLists with %s inputs. Please materialize all "
                  "the %s input tensor(s) in the mutable TensorList inputs "
                  "before calling %s::%s", what, what, op->sig->ns,
                  op->sig->base);
}

/* Call by name below autograd. */
static DtStatus call_below_autograd (DtSession *s, const char *name, int nin,
                                     DtVar *const *in, DtVar **out) {
  const DtOpDef *op = dt_registry_find(s->cx, s->registry, name);
  DtValue v[2] = { dt_v_slot(0), dt_v_slot(1) };
  DtArgs args;
  DtResults res;
  DT_CHECK(s->cx, op != NULL, DT_E_KEY, "no operator %s", name);
  DT_TRY(s->cx, dt_schema_bind(s->cx, op->sig, &(DtGiven){ .npos = nin, .pos = v },
                               &args));
  args.nslots = nin;
  DT_TRY(s->cx, dt_dispatch(s, op, &args, nin, in, &res));
  if (out != NULL) *out = dt_var_ref(dt_result(&res, 0));
  dt_results_fini(s, &res);
  return DT_OK;
}

static bool is_written (const DtOpDef *op, const DtArgs *args, int slot) {
  for (int j = 0; j < op->sig->nargs && j < args->n; j++)
    if (op->sig->arg[j].write && args->v[j].kind == DT_V_TENSOR &&
        args->v[j].u.slot == slot)
      return true;
  return false;
}

/* Copy what was written back, and give the tensors themselves as results. */
static DtStatus give_back (DtSession *s, const DtCall *c, DtVar *const *now,
                           DtResults *out) {
  for (int i = 0; i < c->nin; i++) {
    DtVar *pair[2] = { c->in[i], now[i] };
    if (now[i] == c->in[i] || !is_written(c->op, c->args, i)) continue;
    DT_TRY(s->cx, call_below_autograd(s, "aten.copy_.default", 2, pair, NULL));
    for (int k = 0; k < out->n; k++) {
      DtVar **r = dt_results_at(out, k);
      if (*r != now[i]) continue;
      dt_var_unref(*r);
      *r = dt_var_ref(c->in[i]);
    }
  }
  return DT_OK;
}

/* Inputs with conjugate or negative bits that the operator does not pass on
** are made real copies; what it writes into such a copy is written back to the
** input (give_back). */
DtStatus dt_marks_dispatch (DtSession *s, const DtCall *c, DtResults *out) {
  DtCtx *cx = s->cx;
  DtArenaMark mark = dt_arena_mark(&cx->scratch);
  DtVar **now = DT_ANEWN(cx, &cx->scratch, DtVar *, c->nin + 1);
  int stopped = ~marks_passed_on(c->op), n = 0;
  int list = written_list(c->op, c->args, c->nin, c->in);
  DtStatus st = now ? DT_OK : DT_E_NOMEM;
  if (st == DT_OK && list != 0) st = refuse_list(s, c->op, list);
  for (; n < c->nin && st == DT_OK; n++) {
    now[n] = c->in[n];
    if (c->in[n] != NULL && (c->in[n]->local->marks & stopped) != 0)
      st = call_below_autograd(s, "aten.clone.default", 1, &c->in[n], &now[n]);
  }
  if (st == DT_OK) st = dt_dispatch(s, c->op, c->args, c->nin, now, out);
  if (st == DT_OK) {
    st = give_back(s, c, now, out);
    if (st != DT_OK) dt_results_fini(s, out);
  }
  for (int i = 0; i < n; i++)
    if (now[i] != c->in[i]) dt_var_unref(now[i]);
  dt_arena_release(&cx->scratch, mark);
  return st;
}

/* ---- below: kernels ---- */

DtStatus dt_marks_inputs (DtSession *s, const DtOpDef *op, int nin,
                          DtTensor *const *in, DtTensor ***out) {
  const Row *r = find_marks(op);
  int any = 0;
  *out = NULL;
  for (int i = 0; i < nin; i++)
    if (in[i] != NULL) any |= in[i]->marks;
  if (any == 0 || is_view(op) || (r && r->how == META)) return DT_OK;
  *out = DT_ANEWN(s->cx, &s->cx->scratch, DtTensor *, nin + 1);
  if (*out == NULL) return DT_E_NOMEM;
  for (int i = 0; i < nin; i++) (*out)[i] = NULL;
  for (int i = 0; i < nin; i++) {
    if (in[i] == NULL) continue;
    if (in[i]->marks == 0) (*out)[i] = dt_tensor_ref(in[i]);
    else DT_TRY(s->cx, dt_kernel_resolved(s->cx, in[i], &(*out)[i]));
  }
  return DT_OK;
}

void dt_marks_drop (DtSession *s, int nin, DtTensor **in) {
  for (int i = 0; in != NULL && i < nin; i++) dt_tensor_unref(s->cx, in[i]);
}
