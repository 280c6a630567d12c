/* SPDX-License-Identifier: MIT
** engine/node.c: nodes of the autograd graph: their life, their edges, what
** they saved.
**
** Saved variables are aliases without history, so a node never holds itself.
** A graph is freed without recursion: a chain of a million operators must not
** exhaust the stack.  After backward the saved data is dropped but the shapes
** stay: a second backward fails only where data is really read, as in
** PyTorch. */
#include "base/error_tool.h"
#include "engine/call_int.h"
#include "tensor/dtype_text.h"

#include <string.h>

DtStatus dt_node_new (DtSession *s, const char *name, int nin, int nout,
                      DtNode **out) {
  DtCtx *cx = s->cx;
  DtNode *n = DT_NEW(cx, DtNode);
  if (n == NULL) return DT_E_NOMEM;
  n->refs = 1;
  n->seq = s->next_node_seq++;
  n->name = name;
  n->nin = nin;
  n->nout = nout;
  n->next = DT_NEWN(cx, DtEdge, nin + 1);
  n->out_meta = DT_NEWN(cx, DtMeta, nout + 1);
  n->origin = dt_ev_where(s);
  n->module = s->module ? s->module : "";
  if (n->next == NULL || n->out_meta == NULL) {
    dt_node_unref(s, n);
    return DT_E_NOMEM;
  }
  *out = n;
  return DT_OK;
}

DtNode *dt_node_ref (DtNode *n) {
  if (n != NULL) n->refs++;
  return n;
}

static void unref_vars (DtVar **v, int n) {
  if (v == NULL) return;
  for (int i = 0; i < n; i++) dt_var_unref(v[i]);
}

/* Everything but the edges, which the caller follows. */
static void node_drop (DtSession *s, DtNode *n) {
  DtCtx *cx = s->cx;
  dt_node_unref(s, n->inner);
  unref_vars(n->saved_in, n->nin);
  unref_vars(n->saved_out, n->nout);
  dt_free(cx, n->saved_in);
  dt_free(cx, n->saved_out);
  dt_free(cx, n->saved_version);
  dt_packs_free(s, n);
  dt_free(cx, n->packs);
  dt_free(cx, n->out_meta);
  dt_free(cx, n->retain);
  for (int i = 0; i < n->nprehooks; i++)
    if (n->prehooks[i].hook.ud_free)
      n->prehooks[i].hook.ud_free(n->prehooks[i].hook.ud);
  dt_free(cx, n->prehooks);
  for (int i = 0; i < n->ncalls; i++)
    if (n->calls[i].ud_free) n->calls[i].ud_free(n->calls[i].ud);
  dt_free(cx, n->calls);
  if (n->ud_free != NULL) n->ud_free(n->ud);
  dt_arena_fini(cx, &n->arena);
  if (n->leaf != NULL) {
    n->leaf->acc = NULL;
    dt_var_unref(n->leaf);
  }
}

void dt_node_unref (DtSession *s, DtNode *n) {
  DtNode *todo = NULL;
  if (n == NULL || --n->refs > 0) return;
  n->free_next = NULL;
  todo = n;
  while (todo != NULL) {
    DtNode *k = todo;
    todo = k->free_next;
    for (int i = 0; k->next != NULL && i < k->nin; i++) {
      DtNode *m = k->next[i].fn;
      if (m == NULL || --m->refs > 0) continue;
      m->free_next = todo;
      todo = m;
    }
    dt_free(s->cx, k->next);
    node_drop(s, k);
    dt_free(s->cx, k);
  }
}

static DtStatus acc_node (DtSession *s, DtVar *leaf, DtNode **out) {
  DtNode *n;
  if (leaf->acc != NULL) {
    *out = dt_node_ref(leaf->acc);
    return DT_OK;
  }
  DT_TRY(s->cx, dt_node_new(s, "torch::autograd::AccumulateGrad", 0, 1, &n));
  s->next_node_seq--;
  n->seq = INT64_MAX;           /* as soon as it is ready */
  n->leaf = dt_var_ref(leaf);
  leaf->acc = n;
  dt_meta_copy(&n->out_meta[0], dt_var_meta(leaf));
  *out = n;
  return DT_OK;
}

DtStatus dt_node_edge (DtSession *s, DtVar *v, DtEdge *out) {
  out->fn = NULL;
  out->nr = 0;
  if (v == NULL) return DT_OK;
  if (v->grad_fn != NULL) {
    out->fn = dt_node_ref(v->grad_fn);
    out->nr = v->output_nr;
    return DT_OK;
  }
  if (!v->requires_grad) return DT_OK;
  return acc_node(s, v, &out->fn);
}

/* --- saved variables --- */

DtStatus dt_node_freed (DtSession *s) {
  return dt_raise(s->cx, DT_E_AUTOGRAD,
                  "Trying to backward through the graph a second time (or "
                  "directly access saved tensors after they have already been "
                  "freed). Saved intermediate values of the graph are freed "
                  "when you call .backward() or autograd.grad(). Specify "
                  "retain_graph=True if you need to backward through the "
                  "graph a second time or if you need to access saved tensors "
                  "after calling backward.");
}

/* "MulBackward0" as PyTorch words it in messages: "Mul". */
static void add_short_name (DtBuf *b, const char *name) {
  const char *end = strstr(name, "Backward");
  dt_buf_addf(b, "%.*s", (int)(end ? end - name : (long)strlen(name)), name);
}

/* `maker`: the node that made the variable, NULL for none. */
static DtStatus version_error (DtSession *s, const DtVar *v, int64_t want,
                               const DtNode *maker, int nr) {
  DtStatus st;
  DtBuf b;
  const DtMeta *m = dt_var_meta(v);
  dt_buf_init(&b, s->cx);
  dt_buf_addf(&b, "one of the variables needed for gradient computation has "
              "been modified by an inplace operation: [%s ",
              dt_dtype_type_text((DtDtype)m->dtype));
  dt_buf_add_i64s(&b, m->shape, m->ndim);
  dt_buf_add(&b, "]");
  if (maker != NULL && maker->leaf == NULL) {
    /* a view's history is made anew after a write: as_strided of its base */
    bool again = !dt_var_is_dist(v) && maker->op != NULL &&
                 (maker->op->flags & DT_OP_VIEW) != 0 &&
                 strncmp(maker->op->sig->base, "view_as_", 8) != 0;
    dt_buf_addf(&b, ", which is output %d of ", again ? 0 : nr);
    add_short_name(&b, again ? "AsStrided" : maker->name);
    dt_buf_add(&b, ",");
  }
  dt_buf_addf(&b, " is at version %lld; expected version %lld instead. Hint: "
              "enable anomaly detection to find the operation that failed to "
              "compute its gradient, with torch.autograd.set_detect_anomaly"
              "(True, check_nan=False).",
              (long long)dt_tensor_writes(v->local), (long long)want);
  st = dt_buf_ok(&b);
  if (st == DT_OK)
    st = dt_raise(s->cx, DT_E_AUTOGRAD, "%s", dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}

/* Is `v` what was saved?  With create_graph a variable of the backward stands
** for it. */
static bool is_saved (const DtSession *s, const DtVar *saved, const DtVar *v) {
  return saved == v ||
         (s->create_graph && saved != NULL && saved->local == v->local);
}

/* As node `n` kept it?  `in` and `nr`: whose output it is. */
static DtStatus check_version (DtSession *s, const DtNode *n, const DtVar *v,
                               struct DtSavedVersion was, const DtNode *in, int nr) {
  if (dt_tensor_writes(v->local) != was.counted)
    return version_error(s, v, was.counted, in, nr);
  if (v->local->storage->version != was.whole && dt_session_heard(s)) {
    DtVar *of = (DtVar *)v;
    DtEvent e = { .kind = DT_EV_OVERWRITTEN, .op = n->op, .nin = 1, .in = &of,
                  .kept = was.whole };
    return dt_event_emit(s, &e);
  }
  return DT_OK;
}

DtStatus dt_node_check_saved (DtSession *s, const DtNode *n, const DtVar *v) {
  if (n->saved_version == NULL) return DT_OK;
  for (int i = 0; n->saved_in && i < n->nin; i++) {
    if (!is_saved(s, n->saved_in[i], v)) continue;
    if (n->released) return dt_node_freed(s);
    return check_version(s, n, v, n->saved_version[i], n->next[i].fn, n->next[i].nr);
  }
  for (int i = 0; n->saved_out && i < n->nout; i++) {
    if (!is_saved(s, n->saved_out[i], v)) continue;
    if (n->released) return dt_node_freed(s);
    return check_version(s, n, v, n->saved_version[n->nin + i], n, i);
  }
  return DT_OK;
}

void dt_var_drop_data (DtSession *s, DtVar *v) {
  DtTensor *t;
  if (v == NULL) return;
  if (dt_tensor_new(s->cx, &v->local->m, true, &t) != DT_OK) {
    dt_error_clear(s->cx);      /* the data stays a little longer */
    return;
  }
  dt_tensor_unref(s->cx, v->local);
  v->local = t;
}

void dt_node_release (DtSession *s, DtNode *n) {
  if (n->inner != NULL) dt_node_release(s, n->inner);
  if (n->op == NULL || n->released) return;
  n->released = true;
  dt_packs_free(s, n);
  for (int i = 0; n->saved_in && i < n->nin; i++)
    dt_var_drop_data(s, n->saved_in[i]);
  for (int i = 0; n->saved_out && i < n->nout; i++)
    dt_var_drop_data(s, n->saved_out[i]);
}

/* --- hooks of the node itself --- */

DtStatus dt_node_hook (DtSession *s, DtNode *n, bool before, DtNodeFn fn,
                       void *ud, void (*ud_free) (void *), int *id) {
  struct DtNodeCall *p =
    dt_realloc(s->cx, n->calls, (size_t)(n->ncalls + 1) * sizeof *p);
  if (p == NULL) return DT_E_NOMEM;
  n->calls = p;
  *id = (int)(++s->next_hook_id);
  p[n->ncalls++] = (struct DtNodeCall){ fn, ud, ud_free, *id, before };
  return DT_OK;
}

void dt_node_unhook (DtNode *n, int id) {
  for (int i = 0; i < n->ncalls; i++) {
    if (n->calls[i].id != id) continue;
    if (n->calls[i].ud_free) n->calls[i].ud_free(n->calls[i].ud);
    n->ncalls--;
    memmove(&n->calls[i], &n->calls[i + 1],
            (size_t)(n->ncalls - i) * sizeof n->calls[0]);
    return;
  }
}
