/* SPDX-License-Identifier: MIT
** engine/slices.c: views, and writing into a view in place.
**
** A view remembers the calls that made it from its base.  When it is written
** in place, the history of the base changes: its gradient is the incoming one
** with the written slice handed through the operator and put back
** (CopySlices).  The view's own new history is found by making those calls
** again, and so is the slice of a distributed gradient; of a plain one it is
** what as_strided finds at the same place. */
#include "base/error_tool.h"
#include "engine/call_int.h"

#include <string.h>

struct DtViewOp {
  int64_t refs;
  struct DtViewOp *from;        /* the view it was made of, NULL = the base */
  const DtOpDef *op;
  DtArgs args;
  DtArena arena;
  int nr;
};

void dt_view_unref (DtSession *s, struct DtViewOp *w) {
  while (w != NULL && --w->refs == 0) {
    struct DtViewOp *from = w->from;
    dt_arena_fini(s->cx, &w->arena);
    dt_free(s->cx, w);
    w = from;
  }
}

DtStatus dt_view_remember (DtSession *s, DtVar *out, DtVar *in,
                           const DtOpDef *op, const DtArgs *args, int nr) {
  DtStatus st;
  struct DtViewOp *w = DT_NEW(s->cx, struct DtViewOp);
  if (w == NULL) return DT_E_NOMEM;
  w->refs = 1;
  w->op = op;
  w->nr = nr;
  st = dt_args_copy(s->cx, &w->arena, args, &w->args);
  if (st != DT_OK) {
    dt_view_unref(s, w);
    return st;
  }
  if (in->view != NULL) {
    w->from = in->view;
    in->view->refs++;
  }
  out->view = w;
  out->view_base = dt_var_ref(in->view_base ? in->view_base : in);
  out->view_made = op->sig->returns_list ? DT_VIEW_OF_MANY : in->view_made;
  return DT_OK;
}

void dt_view_forbid (DtVar *out, DtVar *base, DtViewMade made) {
  DtVar *old = out->view_base;
  out->view_base = dt_var_ref(base->view_base ? base->view_base : base);
  out->view_made = made;
  dt_var_unref(old);
}

/* Why a view may not be written, in PyTorch's words, by DtViewMade. */
static const char *const not_written[] = {
  [DT_VIEW_NO_GRAD] =
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can "
    "clarify your code by moving both the view and the inplace either both inside the "
    "no_grad block (if you don't want the inplace to be tracked) or both outside (if "
    "you want the inplace to be tracked).",
  [DT_VIEW_IN_FUNCTION] =
    "This view was created inside a custom Function (or because an input was returned "
    "as-is) and the autograd logic to handle view+inplace would override the custom "
    "backward associated with the custom Function, leading to incorrect gradients. "
    "This behavior is forbidden. You can fix this by cloning the output of the custom "
    "Function.",
  [DT_VIEW_OF_MANY] =
    "This view is the output of a function that returns multiple views. Such functions "
    "do not allow the output views to be modified inplace. You should replace the "
    "inplace operation by an out-of-place one."
};

DtStatus dt_view_check_written (DtSession *s, const DtVar *v) {
  if (v->view_base == NULL || v->view_made == DT_VIEW_PLAIN) return DT_OK;
  if (v->grad_fn == NULL)
    return dt_raise(s->cx, DT_E_AUTOGRAD, "A view was created in no_grad mode and is "
                    "being modified inplace with grad mode enabled. %s",
                    not_written[v->view_made]);
  const char *name = v->grad_fn->name, *end = strstr(name, "Backward");
  return dt_raise(s->cx, DT_E_AUTOGRAD, "Output %d of %.*s is a view and is being "
                  "modified inplace. %s", v->output_nr,
                  (int)(end ? end - name : (long)strlen(name)), name,
                  not_written[v->view_made]);
}

/* The same view of another base. */
static DtStatus replay_view (DtSession *s, struct DtViewOp *w, DtVar *base,
                             DtVar **out) {
  DtVar *from;
  DtResults res;
  DtStatus st;
  if (w == NULL) {
    *out = dt_var_ref(base);
    return DT_OK;
  }
  DT_TRY(s->cx, replay_view(s, w->from, base, &from));
  st = dt_call(s, w->op, &w->args, 1, &from, &res);
  dt_var_unref(from);
  if (st != DT_OK) return st;
  *out = dt_var_ref(dt_result(&res, w->nr));
  dt_results_fini(s, &res);
  return DT_OK;
}

typedef struct Slice {
  DtSession *s;
  struct DtViewOp *view;
  DtNode *inner;                /* borrowed: the node owns it */
  const DtNode *node;           /* borrowed: the node whose `ud` this is */
  int slot;                     /* the input that was written */
  bool dist;
  DtMeta base, part;            /* of the base and of the view */
  int64_t offset;               /* of the view in the base */
} Slice;

static void slice_free (void *ud) {
  Slice *c = ud;
  dt_view_unref(c->s, c->view);
  dt_free(c->s->cx, c);
}

/* Does anybody want the gradient of the operator's input `i`?  The edges of
** the written one went to the base, the others to the node.  A gradient that
** nobody wants must not be computed: it may read what was overwritten. */
static bool reads_gradient (const Slice *c, int i) {
  return c->node->next[i == c->slot ? 0 : i + 1].fn != NULL;
}

/* Gradients through the operator; gin has the inner node's inputs. */
static DtStatus backward_through_slice (DtSession *s, Slice *c, DtVar *part,
                                        int nin, DtVar **gin) {
  DtArenaMark mark = dt_arena_mark(&s->cx->scratch);
  bool *need = DT_ANEWN(s->cx, &s->cx->scratch, bool, nin + 1);
  DtStatus st = DT_E_NOMEM;
  DtVar *g = NULL;
  if (need != NULL) {
    for (int i = 0; i < nin; i++) need[i] = reads_gradient(c, i);
    st = dt_call_fmt(s, &g, "aten.clone.default", "t memory_format=v", part,
                     dt_v_code(DT_V_MEMFMT, DT_MF_CONTIGUOUS));
  }
  if (st == DT_OK) st = dt_node_exec(s, c->inner, &g, need, gin);
  dt_var_unref(g);
  dt_arena_release(&s->cx->scratch, mark);
  return st;
}

/* The gradient in the layout of the base. */
static DtStatus whole_of (DtSession *s, const Slice *c, DtVar *g,
                          DtVar **out) {
  DtVar *fresh;
  DtStatus st;
  DT_TRY(s->cx, dt_call_fmt(s, &fresh, "aten.new_empty_strided.default",
                            "tII", g, (int)c->base.ndim, c->base.shape,
                            (int)c->base.ndim, c->base.stride));
  st = dt_call_fmt(s, out, "aten.copy_.default", "tt", fresh, g);
  dt_var_unref(fresh);
  return st;
}

static DtStatus part_of (DtSession *s, Slice *c, DtVar *whole, DtVar **out) {
  if (c->dist) return replay_view(s, c->view, whole, out);
  return dt_call_fmt(s, out, "aten.as_strided.default", "tIIi", whole,
                     (int)c->part.ndim, c->part.shape, (int)c->part.ndim,
                     c->part.stride, c->offset);
}

/* Output 0: the base.  Inputs: the base's old history, then the operator's. */
static DtStatus slice_back (DtSession *s, void *ud, int nout,
                            DtVar *const *gout, int nin, DtVar **gin) {
  Slice *c = ud;
  DtVar *whole = NULL, *part = NULL, *done = NULL;
  DtStatus st;
  (void)nout;
  if (gout[0] == NULL) return DT_OK;
  DT_CHECK(s->cx, !s->create_graph, DT_E_NOTIMPL, "create_graph=True "
           "(gradients of gradients) through a view that was written in place "
           "is not supported by dtrepl");
  st = whole_of(s, c, gout[0], &whole);
  if (st == DT_OK) st = part_of(s, c, whole, &part);
  if (st == DT_OK) st = backward_through_slice(s, c, part, nin - 1, gin + 1);
  if (st == DT_OK && gin[1 + c->slot] == NULL)
    st = dt_call_fmt(s, &gin[1 + c->slot], "aten.zeros_like.default",
                     "t memory_format=v", part,
                     dt_v_code(DT_V_MEMFMT, DT_MF_CONTIGUOUS));
  if (st == DT_OK)
    st = dt_call_fmt(s, &done, "aten.copy_.default", "tt", part,
                     gin[1 + c->slot]);
  if (st == DT_OK) {
    gin[0] = whole;
    whole = NULL;
    dt_drop_var(&gin[1 + c->slot]);
  }
  dt_var_unref(done);
  dt_var_unref(part);
  dt_var_unref(whole);
  return st;
}

/* The view's own history is the same view of the base as it is now. */
static DtStatus rebase_view (DtSession *s, DtVar *v) {
  uint64_t mask = s->listen_mask;
  int64_t seq = s->seq;
  DtVar *again;
  DtStatus st;
  if (!dt_var_is_dist(v)) s->listen_mask = 0;   /* there it is as_strided's,
                                                ** which nobody calls */
  st = replay_view(s, v->view, v->view_base, &again);
  s->listen_mask = mask;
  if (!dt_var_is_dist(v)) s->seq = seq;
  if (st != DT_OK) return st;
  if (again->grad_fn != NULL) {
    const char *name = dt_session_intern(s, "AsStridedBackward0");
    if (name != NULL && !dt_var_is_dist(v) && again->grad_fn->op != NULL &&
        dt_var_meta(v)->dtype == dt_var_meta(v->view_base)->dtype)
      again->grad_fn->name = name;
    dt_node_set_history(s, v, again->grad_fn, again->output_nr);
  }
  dt_var_unref(again);
  return DT_OK;
}

/* A write into a view becomes a node of the base: it passes the base's
** gradient on but for the slice, which goes to the writer. The writer's input
** that was the view hangs on the new node; the other inputs are moved over. */
DtStatus dt_copyslices (DtSession *s, DtVar *v, DtNode *n, int nr) {
  DtVar *base = v->view_base;
  DtNode *cs;
  Slice *c;
  DtStatus st;
  DT_TRY(s->cx, dt_node_new(s, "CopySlices", n->nin + 1, 1, &cs));
  c = DT_NEW(s->cx, Slice);
  if (c == NULL) {
    dt_node_unref(s, cs);
    return DT_E_NOMEM;
  }
  c->s = s;
  c->view = v->view;
  v->view->refs++;
  c->inner = cs->inner = dt_node_ref(n);
  c->node = cs;
  c->slot = dt_wrap_ret_slot(n->op, &n->args, nr);
  c->dist = dt_var_is_dist(v);
  dt_meta_copy(&c->base, dt_var_meta(base));
  dt_meta_copy(&c->part, &v->local->m);
  c->offset = v->local->offset - base->local->offset;
  cs->fn = slice_back;
  cs->ud = c;
  cs->ud_free = slice_free;
  dt_meta_copy(&cs->out_meta[0], dt_var_meta(base));
  st = dt_node_edge(s, base, &cs->next[0]);
  for (int i = 0; i < n->nin && st == DT_OK; i++) {
    if (i == c->slot) dt_node_unref(s, n->next[i].fn);
    else cs->next[i + 1] = n->next[i];
    n->next[i] = (DtEdge){ NULL, 0 };
  }
  if (st == DT_OK) {
    dt_node_set_history(s, base, cs, 0);
    st = rebase_view(s, v);
  }
  dt_node_unref(s, cs);
  return st;
}
