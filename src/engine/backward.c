/* SPDX-License-Identifier: MIT
** engine/backward.c: run the graph backwards.
**
** PyTorch's engine: count how often each node is reached, start at the roots,
** always run the ready node with the highest sequence number (accumulation
** nodes at once), and add gradients that meet with aten.add.Tensor.  Every
** gradient is fitted to the shape and type of the forward value it belongs
** to.  Which nodes are needed is known before anything runs, so grad() of a
** few inputs touches nothing else. */
#include "base/error_tool.h"
#include "engine/call_int.h"

#include <string.h>
#include "base/map.h"

/* A node during one backward. */
typedef struct Task {
  DtNode *node;                 /* borrowed: the roots hold the graph */
  DtVar **buf;                  /* gradients of its outputs */
  int64_t deps, order;          /* still missing; when it became ready */
  bool needed, visited;
  int capture;                  /* first of its captures, -1 = none */
} Task;

/* An input of grad(): its gradient is kept instead of passed on. */
typedef struct Capture { Task *task; int nr, index, next; } Capture;

typedef struct Engine {
  DtSession *s;
  DtMap tasks;                  /* by node */
  Task **heap; int nheap, capheap;
  int64_t order;
  bool retain, restrict_to;     /* restrict_to: only towards captures */
  Capture *cap; int ncap;
  DtVar **result;
  DtVar **given; int ngiven;    /* the roots' gradients: the caller's too */
} Engine;

/* --- tasks --- */

static uint64_t node_hash (const DtNode *n) {
  uint64_t h = (uint64_t)(uintptr_t)n;
  return (h >> 4) * UINT64_C(0x9e3779b97f4a7c15);
}

static bool ptr_eq (const void *a, const void *b) { return a == b; }

static DtStatus task_get (Engine *e, DtNode *n, Task **out) {
  DtCtx *cx = e->s->cx;
  Task *t = dt_map_get(&e->tasks, node_hash(n), n);
  if (t == NULL) {
    DtStatus st;
    t = DT_NEW(cx, Task);
    if (t == NULL) return DT_E_NOMEM;
    t->node = n;
    t->capture = -1;
    t->buf = DT_NEWN(cx, DtVar *, n->nout + 1);
    st = t->buf ? dt_map_put(&e->tasks, node_hash(n), n, t) : DT_E_NOMEM;
    if (st != DT_OK) {
      dt_free(cx, t->buf);
      dt_free(cx, t);
      return st;
    }
  }
  *out = t;
  return DT_OK;
}

static Task *task_find (const Engine *e, const DtNode *n) {
  return dt_map_get(&e->tasks, node_hash(n), n);
}

static bool runs_before (const Task *a, const Task *b) {
  if (a->node->seq != b->node->seq) return a->node->seq > b->node->seq;
  return a->order < b->order;
}

static DtStatus heap_push (Engine *e, Task *t) {
  int i;
  if (e->nheap == e->capheap) {
    int cap = e->capheap ? e->capheap * 2 : 32;
    Task **h = dt_realloc(e->s->cx, e->heap, (size_t)cap * sizeof *h);
    if (h == NULL) return DT_E_NOMEM;
    e->heap = h;
    e->capheap = cap;
  }
  t->order = e->order++;
  for (i = e->nheap++; i > 0; i = (i - 1) / 2) {
    if (!runs_before(t, e->heap[(i - 1) / 2])) break;
    e->heap[i] = e->heap[(i - 1) / 2];
  }
  e->heap[i] = t;
  return DT_OK;
}

static Task *heap_pop (Engine *e) {
  Task *top = e->heap[0], *last = e->heap[--e->nheap];
  int i = 0;
  for (;;) {
    int c = 2 * i + 1;
    if (c >= e->nheap) break;
    if (c + 1 < e->nheap && runs_before(e->heap[c + 1], e->heap[c])) c++;
    if (!runs_before(e->heap[c], last)) break;
    e->heap[i] = e->heap[c];
    i = c;
  }
  if (e->nheap > 0) e->heap[i] = last;
  return top;
}

/* --- the graph before it runs --- */

/* Visit everything below the roots; count edges.  `list` receives the tasks
** in the order they were met. */
static DtStatus count_dependencies (Engine *e, Task ***list, int *count) {
  Task **q = *list;
  DtCtx *cx = e->s->cx;
  int cap = *count;
  for (int i = 0; i < *count; i++) {
    DtNode *n = q[i]->node;
    for (int k = 0; k < n->nin; k++) {
      Task *t;
      if (n->next[k].fn == NULL) continue;
      DT_TRY(cx, task_get(e, n->next[k].fn, &t));
      t->deps++;
      if (t->visited) continue;
      t->visited = true;
      if (*count >= cap) {
        Task **more;
        cap = cap * 2 + 64;
        more = dt_realloc(cx, q, (size_t)cap * sizeof *q);
        if (more == NULL) return DT_E_NOMEM;
        *list = q = more;
      }
      q[(*count)++] = t;
    }
  }
  return DT_OK;
}

static bool leads_somewhere (const Engine *e, const Task *t) {
  if (t->capture >= 0) return true;
  for (int k = 0; k < t->node->nin; k++) {
    const DtNode *m = t->node->next[k].fn;
    const Task *u = m ? task_find(e, m) : NULL;
    if (u != NULL && u->needed) return true;
  }
  return false;
}

/* Needed flags settle bottom up; a node's inputs have smaller numbers, so the
** list sorted by number needs one pass. */
static int by_number (const void *a, const void *b) {
  const Task *x = *(Task *const *)a, *y = *(Task *const *)b;
  int64_t p = x->node->leaf ? -1 : x->node->seq;
  int64_t q = y->node->leaf ? -1 : y->node->seq;
  return (p > q) - (p < q);
}

static void sort_tasks (Task **q, int n) {
  for (int gap = n / 2; gap > 0; gap /= 2)
    for (int i = gap; i < n; i++) {
      Task *t = q[i];
      int k = i;
      for (; k >= gap && by_number(&q[k - gap], &t) > 0; k -= gap)
        q[k] = q[k - gap];
      q[k] = t;
    }
}

static void mark_needed (Engine *e, Task **q, int n) {
  if (!e->restrict_to) {
    for (int i = 0; i < n; i++) q[i]->needed = true;
    return;
  }
  sort_tasks(q, n);
  for (int i = 0; i < n; i++) q[i]->needed = leads_somewhere(e, q[i]);
}

/* --- gradients meet --- */

static DtStatus buf_add (Engine *e, Task *t, int nr, DtVar *g) {
  DtVar *sum;
  if (g == NULL) return DT_OK;
  if (t->buf[nr] == NULL) {
    t->buf[nr] = dt_var_ref(g);
    return DT_OK;
  }
  DT_TRY(e->s->cx, dt_call_fmt(e->s, &sum, "aten.add.Tensor", "tt",
                               t->buf[nr], g));
  dt_var_unref(t->buf[nr]);
  t->buf[nr] = sum;
  return DT_OK;
}

static bool expands_to (const DtMeta *from, const DtMeta *to) {
  int lead = to->ndim - from->ndim;
  if (lead < 0) return false;
  for (int i = 0; i < from->ndim; i++)
    if (from->shape[i] != to->shape[i + lead] && from->shape[i] != 1)
      return false;
  return true;
}

/* at::sum_to: the dims that were broadcast are summed, kept, then viewed. */
static DtStatus sum_to (DtSession *s, DtVar *g, const DtMeta *want,
                        DtVar **out) {
  const DtMeta *m = dt_var_meta(g);
  int64_t dims[DT_MAX_NDIM];
  int n = 0, lead = m->ndim - want->ndim;
  DtVar *sum;
  DtStatus st;
  if (want->ndim == 0)
    return dt_call_fmt(s, out, "aten.sum.default", "t", g);
  for (int i = 0; i < m->ndim; i++)
    if (i < lead || (want->shape[i - lead] == 1 && m->shape[i] != 1))
      dims[n++] = i;
  if (n > 0)
    DT_TRY(s->cx, dt_call_fmt(s, &sum, "aten.sum.dim_IntList", "tIb", g, n,
                              dims, 1));
  else
    sum = dt_var_ref(g);
  if (lead == 0) {
    *out = sum;
    return DT_OK;
  }
  st = dt_call_fmt(s, out, "aten.view.default", "tI", sum, (int)want->ndim,
                   want->shape);
  dt_var_unref(sum);
  return st;
}

static DtStatus bad_shape (DtSession *s, const DtNode *n, int i,
                           const DtMeta *got, const DtMeta *want) {
  DtStatus st;
  DtBuf a, b;
  dt_buf_init(&a, s->cx);
  dt_buf_init(&b, s->cx);
  dt_buf_add_i64s(&a, got->shape, got->ndim);
  dt_buf_add_i64s(&b, want->shape, want->ndim);
  st = dt_raise(s->cx, DT_E_AUTOGRAD,
                "Function %s returned an invalid gradient at index %d - got "
                "%s but expected shape compatible with %s", n->name, i,
                dt_buf_str(&a), dt_buf_str(&b));
  dt_buf_fini(&a);
  dt_buf_fini(&b);
  return st;
}

/* Shape and dtype of the value the gradient belongs to; a leaf may want its
** gradient in another dtype than its own.  Takes `g` over. */
static DtStatus fit_gradient (DtSession *s, const DtNode *n, int i, DtVar *g,
                              DtVar **out) {
  const DtNode *to = n->next[i].fn;
  const DtMeta *want = &to->out_meta[n->next[i].nr];
  int dtype = to->leaf ? dt_var_grad_dtype(to->leaf) : (int)want->dtype;
  DtVar *x;
  DtStatus st = DT_OK;
  const DtMeta *m = dt_var_meta(g);
  if (!dt_meta_same_shape(m, want)) {
    st = expands_to(want, m) ? sum_to(s, g, want, &x)
                             : bad_shape(s, n, i, m, want);
    dt_var_unref(g);
    if (st != DT_OK) return st;
    g = x;
  }
  if (dtype != DT_GRAD_ANY && dtype != (int)dt_var_meta(g)->dtype) {
    st = dt_call_fmt(s, &x, "aten._to_copy.default", "t dtype=d", g, dtype);
    dt_var_unref(g);
    if (st != DT_OK) return st;
    g = x;
  }
  *out = g;
  return DT_OK;
}

/* --- running one node --- */

static DtStatus run_hook (DtSession *s, const struct DtHook *h, DtVar **g) {
  DtVar *res = NULL;
  if (*g == NULL) return DT_OK;
  DT_TRY(s->cx, h->fn(s, h->ud, *g, &res));
  if (res == NULL) return DT_OK;
  dt_var_unref(*g);
  *g = res;
  return DT_OK;
}

/* The node's own hooks: before it runs with gin = NULL, or after. */
static DtStatus run_calls (Engine *e, Task *t, DtVar **gin) {
  DtNode *n = t->node;
  for (int i = 0; i < n->ncalls; i++) {
    struct DtNodeCall *c = &n->calls[i];
    if (c->before != (gin == NULL)) continue;
    DT_TRY(e->s->cx, c->fn(e->s, c->ud, n, n->nout, t->buf,
                           gin == NULL ? 0 : n->nin, gin));
  }
  if (gin != NULL && e->s->node_seen != NULL)
    return e->s->node_seen(e->s, e->s->node_seen_ud, n, n->nout, t->buf,
                           n->nin, gin);
  return DT_OK;
}

static DtStatus run_hooks (Engine *e, Task *t) {
  DtNode *n = t->node;
  DtSession *s = e->s;
  if (n->leaf != NULL)
    for (int i = 0; i < n->leaf->nhooks; i++)
      if (!n->leaf->hooks[i].after)
        DT_TRY(s->cx, run_hook(s, &n->leaf->hooks[i], &t->buf[0]));
  for (int i = 0; i < n->nprehooks; i++)
    DT_TRY(s->cx, run_hook(s, &n->prehooks[i].hook,
                           &t->buf[n->prehooks[i].nr]));
  for (int i = 0; n->retain && i < n->nout; i++) {
    if (n->retain[i] == NULL || t->buf[i] == NULL) continue;
    dt_var_unref(n->retain[i]->grad);
    n->retain[i]->grad = dt_var_ref(t->buf[i]);
  }
  return run_calls(e, t, NULL);
}

/* Is the layout of the gradient what the leaf's .grad should have? */
static bool layout_agrees (const DtVar *leaf, const DtVar *g) {
  const DtMeta *a = dt_var_meta(leaf), *b = dt_var_meta(g);
  if (!dt_meta_same_shape(a, b)) return true;
  if (!dt_meta_is_dense(a)) return dt_meta_is_contiguous(b);
  for (int i = 0; i < a->ndim; i++)
    if (b->shape[i] != 1 && a->stride[i] != b->stride[i]) return false;
  return true;
}

/* The first gradient of a leaf: itself when its layout fits and nobody else
** holds it (the buffer has one reference; a mode that saw it made may still have
** a name for it, which is let go of later) nor its graph, else a copy in the
** leaf's layout. */
static DtStatus first_grad (DtSession *s, DtVar *leaf, DtVar *g) {
  const DtMeta *m = dt_var_meta(leaf);
  DtVar *fresh, *res;
  DtStatus st;
  if (!s->create_graph && layout_agrees(leaf, g) &&
      (g->refs == 1 || s->modes.level > 0))
    return dt_detach(s, g, &leaf->grad);
  if (!dt_meta_is_dense(m))
    return dt_call_fmt(s, &leaf->grad, "aten.clone.default",
                       "t memory_format=v", g,
                       dt_v_code(DT_V_MEMFMT, DT_MF_CONTIGUOUS));
  DT_TRY(s->cx, dt_call_fmt(s, &fresh, "aten.new_empty_strided.default",
                            "tII dtype=d layout=v device=v", g, (int)m->ndim,
                            m->shape, (int)m->ndim, m->stride,
                            (int)dt_var_meta(g)->dtype,
                            dt_v_code(DT_V_LAYOUT, DT_LAYOUT_STRIDED),
                            dt_v_code(DT_V_DEVICE, m->device)));
  st = dt_call_fmt(s, &res, "aten.copy_.default", "tt", fresh, g);
  dt_var_unref(fresh);
  if (st == DT_OK) leaf->grad = res;
  return st;
}

/* The first gradient of a leaf may be stolen, the next are added in place,
** unless the graph is kept: then the old gradient must stay what the graph
** saw. */
static DtStatus accumulate_into_leaf (Engine *e, DtNode *n, DtVar *g) {
  DtSession *s = e->s;
  DtVar *leaf = n->leaf, *res;
  if (g == NULL) return DT_OK;
  if (leaf->grad == NULL)
    DT_TRY(s->cx, first_grad(s, leaf, g));
  else if (s->create_graph) {           /* what is there keeps its graph */
    DT_TRY(s->cx, dt_call_fmt(s, &res, "aten.add.Tensor", "tt", leaf->grad,
                              g));
    dt_var_unref(leaf->grad);
    leaf->grad = res;
  } else {
    DT_TRY(s->cx, dt_call_fmt(s, &res, "aten.add_.Tensor", "tt", leaf->grad,
                              g));
    dt_var_unref(res);
  }
  if (dt_session_heard(s)) {
    DtEvent ev = { .kind = DT_EV_GRAD, .nin = 1, .in = &leaf, .nout = 1,
                   .out = &leaf->grad };
    DT_TRY(s->cx, dt_event_emit(s, &ev));
  }
  return DT_OK;
}

/* Where the gradient of input i goes; NULL: nowhere. */
static Task *receiver (const Engine *e, const DtNode *n, int i) {
  Task *t = n->next[i].fn ? task_find(e, n->next[i].fn) : NULL;
  return t != NULL && t->needed ? t : NULL;
}

/* Gradients of the inputs go to the nodes that made them; all are fitted before
** the first is added to what is there. */
static DtStatus pass_on (Engine *e, DtNode *n, DtVar **gin) {
  DtCtx *cx = e->s->cx;
  for (int i = 0; i < n->nin; i++) {
    DtVar *g = gin[i];
    if (g == NULL || receiver(e, n, i) == NULL) continue;
    gin[i] = NULL;
    DT_TRY(cx, fit_gradient(e->s, n, i, g, &gin[i]));
  }
  for (int i = 0; i < n->nin; i++) {
    DtEdge *to = &n->next[i];
    Task *t = receiver(e, n, i);
    if (t == NULL) continue;
    DT_TRY(cx, buf_add(e, t, to->nr, gin[i]));
    dt_drop_var(&gin[i]);
    if (--t->deps == 0) DT_TRY(cx, heap_push(e, t));
  }
  return DT_OK;
}

/* A gradient that went through is nobody's but its receiver's. */
static void let_go (Task *t) {
  for (int i = 0; i < t->node->nout; i++) dt_drop_var(&t->buf[i]);
}

static bool any_grad (const Task *t) {
  for (int i = 0; i < t->node->nout; i++)
    if (t->buf[i] != NULL) return true;
  return false;
}

/* A custom node's backward is recorded only by the operators it calls: one that
** makes its gradients in another way would give a second gradient of 0. */
static DtStatus check_recorded (DtSession *s, const Task *t, DtVar **gin) {
  const DtNode *n = t->node;
  bool in = false, out = false, any = false;
  for (int i = 0; i < n->nout; i++)
    in = in || (t->buf[i] && dt_var_needs_grad(t->buf[i]));
  for (int i = 0; i < n->nin; i++) {
    any = any || gin[i] != NULL;
    out = out || (gin[i] && dt_var_needs_grad(gin[i]));
  }
  DT_CHECK(s->cx, !in || !any || out, DT_E_NOTIMPL,
           "create_graph=True (gradients of gradients) through %s is not "
           "supported by dtrepl: its gradient has no graph", n->name);
  return DT_OK;
}

/* Run one node of the graph: its gradients in, those of its inputs out.  What
** it saved is freed at once (unless retain_graph), before the next node runs:
** the peak of memory depends on it.  A node that got no gradient is passed
** through, so that those below it still become ready. */
static DtStatus run_node (Engine *e, Task *t) {
  DtSession *s = e->s;
  DtNode *n = t->node;
  DtArenaMark mark = dt_arena_mark(&s->cx->scratch);
  DtVar **gin = DT_ANEWN(s->cx, &s->cx->scratch, DtVar *, n->nin + 1);
  bool *need = DT_ANEWN(s->cx, &s->cx->scratch, bool, n->nin + 1);
  DtStatus st = gin && need ? DT_OK : DT_E_NOMEM;
  for (int i = 0; i < n->nin && st == DT_OK; i++) {
    Task *u = n->next[i].fn ? task_find(e, n->next[i].fn) : NULL;
    need[i] = u != NULL && u->needed;
  }
  if (st == DT_OK && any_grad(t))
    st = n->fn ? n->fn(s, n->ud, n->nout, t->buf, n->nin, gin)
               : dt_node_exec(s, n, t->buf, need, gin);
  if (st == DT_OK && s->create_graph && n->fn)
    st = check_recorded(s, t, gin);
  if (st == DT_OK && (n->ncalls > 0 || s->node_seen) && any_grad(t))
    st = run_calls(e, t, gin);
  if (st == DT_OK && !e->retain) dt_node_release(s, n);
  let_go(t);
  if (st == DT_OK) st = pass_on(e, n, gin);
  if (gin != NULL)
    for (int i = 0; i < n->nin; i++) dt_var_unref(gin[i]);
  dt_arena_release(&s->cx->scratch, mark);
  return st;
}

/* The hooks that wait for the leaf's .grad. */
static DtStatus run_after (DtSession *s, DtVar *leaf) {
  for (int i = 0; i < leaf->nhooks; i++) {
    struct DtHook *h = &leaf->hooks[i];
    DtVar *res = NULL;
    if (!h->after) continue;
    DT_TRY(s->cx, h->fn(s, h->ud, leaf, &res));
    dt_var_unref(res);
  }
  return DT_OK;
}

/* Hooks see the gradient before captures take it, captures before it is
** accumulated, as in PyTorch (engine.cpp: tensor pre-hooks, captures, then the
** node). The module and the origin of the node are the session's while it
** runs: events name them. */
static DtStatus run_task (Engine *e, Task *t) {
  DtSession *s = e->s;
  const char *module = s->module;
  const DtOrigin *outer = s->node_at;
  DtStatus st;
  DT_TRY(s->cx, run_hooks(e, t));
  for (int i = t->capture; i >= 0; i = e->cap[i].next) {
    Capture *c = &e->cap[i];
    dt_var_unref(e->result[c->index]);
    e->result[c->index] = dt_var_ref(t->buf[c->nr]);
  }
  if (t->node->leaf != NULL) {
    bool any = t->buf[0] != NULL && !e->restrict_to;
    st = any ? accumulate_into_leaf(e, t->node, t->buf[0]) : DT_OK;
    let_go(t);
    if (st == DT_OK && any) st = run_after(s, t->node->leaf);
    return st;
  }
  s->module = t->node->module;
  s->node_at = &t->node->origin;
  st = run_node(e, t);
  s->node_at = outer;
  s->module = module;
  return st;
}

/* --- the whole --- */

static void engine_fini (Engine *e) {
  DtCtx *cx = e->s->cx;
  int32_t it = 0;
  DtMapEntry *m;
  while ((m = dt_map_next(&e->tasks, &it)) != NULL) {
    Task *t = m->value;
    for (int i = 0; i < t->node->nout; i++) dt_var_unref(t->buf[i]);
    dt_free(cx, t->buf);
    dt_free(cx, t);
  }
  dt_map_fini(&e->tasks);
  dt_free(cx, e->heap);
}

static DtStatus root_grad (DtSession *s, int i, DtVar *root, DtVar *given,
                           DtVar **out) {
  const DtMeta *m = dt_var_meta(root);
  DtValue preserve = { .kind = DT_V_MEMFMT };
  DT_CHECK(s->cx, dt_var_needs_grad(root), DT_E_AUTOGRAD,
           "element %d of tensors does not require grad and does not have a "
           "grad_fn", i);
  if (given != NULL) {
    DtBuf a, b;
    DtStatus st = DT_OK;
    *out = dt_var_ref(given);
    if (dt_meta_same_shape(m, dt_var_meta(given))) return DT_OK;
    dt_buf_init(&a, s->cx);
    dt_buf_init(&b, s->cx);
    dt_buf_add_i64s(&a, dt_var_meta(given)->shape, dt_var_meta(given)->ndim);
    dt_buf_add_i64s(&b, m->shape, m->ndim);
    st = dt_raise(s->cx, DT_E_AUTOGRAD,
                  "Mismatch in shape: grad_output[%d] has a shape of "
                  "torch.Size(%s) and output[%d] has a shape of torch.Size"
                  "(%s).", i, dt_buf_str(&a), i, dt_buf_str(&b));
    dt_buf_fini(&a);
    dt_buf_fini(&b);
    dt_drop_var(out);
    return st;
  }
  DT_CHECK(s->cx, dt_meta_numel(m) == 1, DT_E_AUTOGRAD,
           "grad can be implicitly created only for scalar outputs");
  DT_CHECK(s->cx, dt_dtype_is_float((DtDtype)m->dtype), DT_E_AUTOGRAD,
           "grad can be implicitly created only for real scalar outputs but "
           "got %s", dt_dtype_info((DtDtype)m->dtype)->torch);
  preserve.u.i = DT_MF_PRESERVE;
  return dt_call_fmt(s, out, "aten.ones_like.default",
                     "t pin_memory=b memory_format=v", root, 0, preserve);
}

/* Roots into tasks; *list holds each root's task once.  The edges keep the
** roots' nodes alive. */
static DtStatus seed_roots (Engine *e, const DtBackward *b, DtEdge *edge,
                            Task **list, int *count) {
  DtSession *s = e->s;
  DtVar *g;
  DtStatus st;
  for (int i = 0; i < b->n; i++) {
    Task *t;
    DT_TRY(s->cx, root_grad(s, i, b->roots[i], b->grads ? b->grads[i] : NULL,
                            &g));
    st = dt_node_edge(s, b->roots[i], &edge[i]);
    if (st == DT_OK) st = task_get(e, edge[i].fn, &t);
    if (st == DT_OK) st = buf_add(e, t, edge[i].nr, g);
    e->given[e->ngiven++] = g;
    if (st != DT_OK) return st;
    if (!t->visited) list[(*count)++] = t;
    t->visited = true;
  }
  return DT_OK;
}

static DtStatus run_ready_tasks (Engine *e, Task **roots, int nroots) {
  DtStatus st = DT_OK;
  for (int i = 0; i < nroots && st == DT_OK; i++)
    if (roots[i]->deps == 0 && roots[i]->needed) st = heap_push(e, roots[i]);
  while (st == DT_OK && e->nheap > 0) {
    st = dt_ctx_poll(e->s->cx);
    if (st == DT_OK) st = run_task(e, heap_pop(e));
  }
  return st;
}

/* `inputs` of grad() become captures of their tasks. */
static DtStatus capture_inputs (Engine *e, int nin, DtVar *const *inputs,
                                DtEdge *edge) {
  DtSession *s = e->s;
  for (int i = 0; i < nin; i++) {
    Task *t;
    DT_CHECK(s->cx, dt_var_needs_grad(inputs[i]), DT_E_AUTOGRAD,
             "One of the differentiated Tensors does not require grad");
    DT_TRY(s->cx, dt_node_edge(s, inputs[i], &edge[i]));
    DT_TRY(s->cx, task_get(e, edge[i].fn, &t));
    e->cap[i] = (Capture){ t, edge[i].nr, i, t->capture };
    t->capture = i;
    e->ncap++;
  }
  return DT_OK;
}

static DtStatus emit_backward (DtSession *s, DtEventKind kind,
                               const DtBackward *b, DtStatus st) {
  bool grads = b->grads != NULL && kind == DT_EV_BACKWARD;
  DtEvent e = { .kind = kind, .nin = b->n, .in = b->roots,
                .nout = grads ? b->n : 0, .out = grads ? b->grads : NULL,
                .status = st };
  return dt_session_heard(s) ? dt_event_emit(s, &e) : DT_OK;
}

static DtStatus run_backward (Engine *e, const DtBackward *b, int nin,
                              DtVar *const *inputs) {
  DtCtx *cx = e->s->cx;
  int n = b->n;
  DtEdge *edge = DT_NEWN(cx, DtEdge, n + nin + 1);
  Task **list = DT_NEWN(cx, Task *, n + 1);
  int nroots = 0, count;
  DtStatus st = edge && list ? DT_OK : DT_E_NOMEM;
  e->cap = DT_NEWN(cx, Capture, nin + 1);
  e->given = DT_NEWN(cx, DtVar *, n + 1);
  if (e->cap == NULL || e->given == NULL) st = DT_E_NOMEM;
  if (st == DT_OK) st = capture_inputs(e, nin, inputs, edge ? edge + n : NULL);
  if (st == DT_OK) st = seed_roots(e, b, edge, list, &nroots);
  count = nroots;
  if (st == DT_OK) st = count_dependencies(e, &list, &count);
  if (st == DT_OK) {
    Task **first = DT_NEWN(cx, Task *, nroots + 1);
    if (first == NULL) st = DT_E_NOMEM;
    else {
      memcpy(first, list, (size_t)nroots * sizeof *first);
      mark_needed(e, list, count);
      st = run_ready_tasks(e, first, nroots);
      dt_free(cx, first);
    }
  }
  engine_fini(e);
  for (int i = 0; edge != NULL && i < n + nin; i++)
    dt_node_unref(e->s, edge[i].fn);
  dt_free(cx, edge);
  for (int i = 0; i < e->ngiven; i++) dt_var_unref(e->given[i]);
  dt_free(cx, e->given);
  dt_free(cx, list);
  dt_free(cx, e->cap);
  return st;
}

/* Backward runs without recording, but for create_graph, and says so in
** events. */
static DtStatus run_guarded (Engine *e, const DtBackward *b, int nin,
                             DtVar *const *inputs) {
  DtSession *s = e->s;
  bool grad = s->grad_enabled, backward = s->backward;
  bool create = s->create_graph;
  DtStatus st, lst;
  if (s->call_depth == 0) s->err_told = false;
  dt_map_init(&e->tasks, s->cx, ptr_eq);
  s->grad_enabled = s->create_graph = b->create_graph;
  s->backward = true;
  st = emit_backward(s, DT_EV_BACKWARD, b, DT_OK);
  if (st == DT_OK) st = run_backward(e, b, nin, inputs);
  else dt_map_fini(&e->tasks);
  lst = emit_backward(s, DT_EV_BACKWARD_END, b, st);
  s->grad_enabled = grad;
  s->backward = backward;
  s->create_graph = create;
  return st != DT_OK ? st : lst;
}

DtStatus dt_backward (DtSession *s, const DtBackward *b) {
  Engine e = { .s = s, .retain = b->retain_graph };
  return run_guarded(&e, b, 0, NULL);
}

DtStatus dt_grad (DtSession *s, const DtBackward *b, int nin,
                  DtVar *const *inputs, bool allow_unused, DtVar **out) {
  Engine e = { .s = s, .retain = b->retain_graph, .restrict_to = true,
               .result = out };
  DtStatus st;
  for (int i = 0; i < nin; i++) out[i] = NULL;
  st = run_guarded(&e, b, nin, inputs);
  for (int i = 0; i < nin && st == DT_OK && !allow_unused; i++)
    if (out[i] == NULL)
      st = dt_raise(s->cx, DT_E_AUTOGRAD,
                    "The differentiated Tensor at index %d appears to not have "
                    "been used in the graph. Set allow_unused=True if this is "
                    "the desired behavior.", i);
  if (st != DT_OK)
    for (int i = 0; i < nin; i++) {
      dt_var_unref(out[i]);
      out[i] = NULL;
    }
  return st;
}
