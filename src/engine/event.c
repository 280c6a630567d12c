/* SPDX-License-Identifier: MIT
** engine/event.c: deliver events to listeners.
**
** Depth counts begin and end events while somebody listens; END closes the
** event before it, so it carries the same depth as its beginning.  A listener
** may add or remove listeners while it runs: entries are only marked dead
** then and swept when the outermost delivery has ended. */
#include "engine/engine_int.h"

typedef struct Listener {
  uint64_t mask;
  DtListenFn fn;
  void *ud;
  int id;                       /* 0: removed */
} Listener;

struct DtHubEv {
  Listener *l;
  int n, cap, next_id;
  int busy;                     /* deliveries under way */
  bool dirty;
};

static void masks_update (DtSession *s) {
  uint64_t mask = 0;
  for (int i = 0; i < s->events->n; i++)
    if (s->events->l[i].id != 0) mask |= s->events->l[i].mask;
  s->listen_mask = mask;
  if (mask == 0) s->depth = 0;
}

static void drop_removed_listeners (struct DtHubEv *h) {
  int k = 0;
  for (int i = 0; i < h->n; i++)
    if (h->l[i].id != 0) h->l[k++] = h->l[i];
  h->n = k;
  h->dirty = false;
}

DtStatus dt_event_listen (DtSession *s, uint64_t mask, DtListenFn fn, void *ud,
                          int *id) {
  struct DtHubEv *h = s->events;
  if (h == NULL) {
    h = s->events = DT_NEW(s->cx, struct DtHubEv);
    if (h == NULL) return DT_E_NOMEM;
  }
  if (h->n == h->cap) {
    int cap = h->cap ? h->cap * 2 : 4;
    Listener *l = dt_realloc(s->cx, h->l, (size_t)cap * sizeof *l);
    if (l == NULL) return DT_E_NOMEM;
    h->l = l;
    h->cap = cap;
  }
  h->l[h->n++] = (Listener){ mask, fn, ud, ++h->next_id };
  *id = h->next_id;
  masks_update(s);
  return DT_OK;
}

void dt_event_unlisten (DtSession *s, int id) {
  struct DtHubEv *h = s->events;
  if (h == NULL || id == 0) return;
  for (int i = 0; i < h->n; i++)
    if (h->l[i].id == id) h->l[i].id = 0, h->l[i].mask = 0;
  if (h->busy) h->dirty = true;
  else drop_removed_listeners(h);
  masks_update(s);
}

void dt_events_free (DtSession *s) {
  if (s->events == NULL) return;
  dt_free(s->cx, s->events->l);
  dt_free(s->cx, s->events);
  s->events = NULL;
  s->listen_mask = 0;
}

static bool kind_begins (DtEventKind k) {
  switch (k) {
    case DT_EV_FUNC: case DT_EV_OP: case DT_EV_REDIST: case DT_EV_COLL:
    case DT_EV_KERNEL: case DT_EV_BACKWARD: case DT_EV_MODULE:
    case DT_EV_LABEL: return true;
    default: return false;
  }
}

static bool kind_ends (DtEventKind k) {
  switch (k) {
    case DT_EV_FUNC_END: case DT_EV_OP_END: case DT_EV_REDIST_END:
    case DT_EV_COLL_END: case DT_EV_KERNEL_END: case DT_EV_BACKWARD_END:
    case DT_EV_MODULE_END: case DT_EV_LABEL_END: return true;
    default: return false;
  }
}

DtOrigin dt_ev_where (DtSession *s) {
  DtOrigin o = { s->cur_seq, "", 0, "" };
  if (s->where != NULL && s->cur_file == NULL) {
    s->cur_line = 0;
    s->where(s->where_ud, &s->cur_file, &s->cur_line);
  }
  if (s->cur_file != NULL) {
    o.file = s->cur_file;
    o.line = s->cur_line;
  }
  if (s->cur_op != NULL && s->cur_op->sig != NULL) o.op = s->cur_op->sig->full;
  return o;
}

/* Tell those who listen.  Depth is counted before the mask is looked at: who
** begins to listen inside a call must see the same depth at its end.  Where the
** script stands is asked only when somebody listens, it costs most.  Listeners
** may listen and unlisten meanwhile; the list is swept when nobody walks it. */
DtStatus dt_event_emit (DtSession *s, DtEvent *e) {
  struct DtHubEv *h = s->events;
  DtStatus st = DT_OK;
  int n;
  if (h == NULL || s->listen_mask == 0) return DT_OK;
  if (kind_ends(e->kind) && s->depth > 0) s->depth--;
  e->depth = s->depth;
  if (kind_begins(e->kind)) s->depth++;
  if ((s->listen_mask >> e->kind & 1) == 0) return DT_OK;
  if (e->seq == 0) e->seq = s->cur_seq;
  if (e->file == NULL) {
    DtOrigin o;
    if (s->cur_op == NULL) s->cur_file = NULL;
    o = dt_ev_where(s);
    e->file = o.file ? o.file : "";
    e->line = o.line;
  }
  if (e->module == NULL) e->module = s->module ? s->module : "";
  e->backward = s->backward;
  h->busy++;
  n = h->n;                     /* those added meanwhile hear the next one */
  for (int i = 0; i < n && st == DT_OK; i++)
    if (h->l[i].mask >> e->kind & 1) st = h->l[i].fn(h->l[i].ud, s, e);
  if (--h->busy == 0 && h->dirty) drop_removed_listeners(h);
  return st;
}

DtStatus dt_ev_text (DtSession *s, DtEventKind kind, const char *text) {
  DtEvent e = { .kind = kind, .text = text };
  return dt_event_emit(s, &e);
}

DtStatus dt_ev_end (DtSession *s, DtEventKind kind, const DtCall *c,
                    DtResults *out, DtStatus st) {
  DtStatus lst;
  DtEvent e = { .kind = kind, .op = c->op, .args = c->args, .nin = c->nin,
                .in = c->in, .status = st };
  if (kind == DT_EV_FUNC_END) e.text = c->op->sig->full;
  if (st == DT_OK) {
    e.nout = out->n;
    e.out = out->more ? out->more : out->v;
  }
  lst = dt_event_emit(s, &e);
  if (st == DT_OK && lst != DT_OK) dt_results_fini(s, out);
  return st != DT_OK ? st : lst;
}

DtStatus dt_ev_error (DtSession *s, const DtCall *c, DtStatus st,
                      bool *again) {
  DtStatus lst;
  DtEvent e = { .kind = DT_EV_ERROR, .op = c->op, .args = c->args,
                .nin = c->nin, .in = c->in, .status = st, .err = s->cx };
  *again = false;
  if (s->err_told || s->saving_ended || st == DT_E_INTERRUPTED) return st;
  s->err_told = true;
  s->fix_mask = 0;
  lst = dt_event_emit(s, &e);
  if (lst != DT_OK) return lst;
  if (s->fix_mask != 0) {
    dt_error_clear(s->cx);
    s->err_told = false;
    *again = true;
    return DT_OK;
  }
  return st;
}
