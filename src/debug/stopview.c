/* SPDX-License-Identifier: MIT
** debug/stopview.c: a stop in words: the script line with a mark, what is
** about to happen, every argument with its layout and origin, what the
** dispatcher will decide, and which data it will move. */
#include <string.h>
#include "debug/autopsy.h"
#include "debug/control.h"

enum { HEAD = 64 };

static void print_rank_list (const DtEvent *e, DtBuf *b) {
  int i;
  if (e->group == NULL || e->ngroup == 0 || e->ngroup > 32) return;
  dt_buf_add(b, "  ranks ");
  for (i = 0; i < e->ngroup; i++)
    dt_buf_addf(b, i ? ",%d" : "%d", e->group[i]);
}

static void print_coll (const DtEvent *e, DtBuf *b) {
  dt_buf_add(b, e->coll ? e->coll : "collective");
  if (e->reduce) dt_buf_addf(b, " (%s)", e->reduce);
  if (e->mesh && e->mdim >= 0) {
    dt_buf_add(b, " on ");
    dt_mesh_dim_label(e->mesh, e->mdim, b);
  }
  dt_buf_add(b, ", ");
  dt_bytes_print(e->bytes_in, b);
  dt_buf_add(b, "/rank");
}

static void print_plan_line (const DtPlan *p, DtBuf *b) {
  dt_plan_print(p, b);
  dt_buf_addf(b, "  %d step%s, ", p->nsteps, p->nsteps == 1 ? "" : "s");
  dt_bytes_print(dt_plan_bytes(p), b);
  dt_buf_add(b, "/rank");
}

static const char *name_of (const DtEvent *e) {
  if (e->op && e->op->sig) return e->op->sig->full;
  return e->text ? e->text : "?";
}

/* Begin and end of a pair are called the same: the words are those of breakpoints
** and of "stopped before …", which say on which side it is. */
void dt_event_text (const DtEvent *e, DtBuf *b) {
  switch (e->kind) {
    case DT_EV_FUNC: case DT_EV_FUNC_END:
      dt_buf_addf(b, "function %s", name_of(e)); break;
    case DT_EV_REDIST: case DT_EV_REDIST_STEP: case DT_EV_REDIST_END:
      dt_buf_add(b, e->implicit ? "implicit redistribute" : "redistribute");
      if (e->slot >= 0) dt_buf_addf(b, " of input %d", e->slot);
      break;
    case DT_EV_COLL: case DT_EV_COLL_END: print_coll(e, b); break;
    case DT_EV_KERNEL: case DT_EV_KERNEL_END:
      dt_buf_addf(b, "kernel %s", name_of(e)); break;
    case DT_EV_BACKWARD: case DT_EV_BACKWARD_END:
      dt_buf_add(b, "backward"); break;
    case DT_EV_MODULE: case DT_EV_MODULE_END:
      dt_buf_addf(b, "module %s", e->text ? e->text : "?"); break;
    case DT_EV_GRAD: dt_buf_add(b, "a gradient reaching its leaf"); break;
    case DT_EV_WARNING:
      dt_buf_addf(b, "warning: %s", e->text ? e->text : ""); break;
    default:
      dt_buf_addf(b, "%s #%lld", name_of(e), (long long)e->seq);
  }
}

/* --- what the dispatcher will do --- */

static const DtSpec *first_spec (int nin, DtVar *const *in) {
  int i;
  for (i = 0; i < nin; i++)
    if (in[i] && in[i]->spec) return in[i]->spec;
  return NULL;
}

/* Specs by slot as the dispatcher sees them: plain ones of one element count
** as replicated.  False when a plain tensor stands among them. */
static bool specs_of (DtDebug *d, int nin, DtVar *const *in,
                      const DtSpec *like, const DtSpec **out) {
  DtPlacement pl[DT_MAX_MDIM];
  int i, k;
  for (k = 0; k < like->npl; k++) pl[k] = dt_pl_replicate();
  for (i = 0; i < nin; i++) {
    DtSpec *made = NULL;
    if (in[i] == NULL) return false;
    if (in[i]->spec) { out[i] = dt_spec_ref(in[i]->spec); continue; }
    if (!d->s->implicit_replication &&
        dt_meta_numel(dt_var_meta(in[i])) != 1) return false;
    if (dt_spec_new(d->s->cx, like->mesh, like->npl, pl, dt_var_meta(in[i]),
                    NULL, -1, &made) != DT_OK) {
      dt_error_clear(d->s->cx);
      return false;
    }
    out[i] = made;
  }
  return true;
}

static void print_choice (const DtProp *p, int nin, DtBuf *b) {
  int i;
  dt_buf_add(b, "  will  ");
  for (i = 0; i < nin && i < p->nin; i++) {
    if (i) dt_buf_add(b, ", ");
    if (p->in[i]) dt_pls_print(p->in[i]->pl, p->in[i]->npl, b);
    else dt_buf_add(b, "-");
  }
  dt_buf_add(b, " -> ");
  for (i = 0; i < p->nout; i++) {
    if (i) dt_buf_add(b, ", ");
    if (p->out[i]) dt_pls_print(p->out[i]->pl, p->out[i]->npl, b);
    else dt_buf_add(b, "-");
  }
  dt_buf_add(b, p->needs_redist ? "" : ", nothing moves");
  dt_buf_addc(b, '\n');
}

static void print_moves (DtDebug *d, const DtProp *p, int nin,
                         const DtSpec *const *in, DtBuf *b) {
  DtCtx *cx = d->s->cx;
  int i;
  for (i = 0; i < nin && i < p->nin; i++) {
    DtPlan *plan = NULL;
    if (!p->moved || !p->moved[i] || p->in[i] == NULL) continue;
    dt_buf_addf(b, "  moves input %d  ", i);
    if (dt_plan_new(cx, d->s->planner, in[i], p->in[i], DT_PLAN_AUTO, &plan)
        == DT_OK) {
      print_plan_line(plan, b);
      dt_plan_unref(cx, plan);
    } else {
      dt_buf_addf(b, "not possible: %s", dt_buf_str(&cx->err.message));
      dt_error_clear(cx);
    }
    dt_buf_addc(b, '\n');
  }
}

static void first_line (const char *s, DtBuf *b) {
  dt_buf_addn(b, s, strcspn(s, "\n"));
}

void dt_dispatch_text (DtDebug *d, const DtOpDef *op, const DtArgs *args,
                       int nin, DtVar *const *in, DtBuf *b) {
  DtCtx *cx = d->s->cx;
  const DtSpec *like = first_spec(nin, in), **spec;
  DtArenaMark mark = dt_arena_mark(&cx->scratch);
  DtProp *p = NULL;
  DtMute m;
  void *ud;
  bool hit;
  int i;
  if (like == NULL) return;
  if (dt_handler_get(d->s, op, &ud) != NULL) {
    dt_buf_add(b, "  will  run a handler of its own\n");
    return;
  }
  spec = DT_ANEWN(cx, &cx->scratch, const DtSpec *, nin + 1);
  if (spec == NULL) { dt_error_clear(cx); return; }
  dt_debug_mute(d, &m);
  if (!specs_of(d, nin, in, like, spec)) {
    dt_buf_add(b, "  will  meet plain and distributed tensors\n");
  } else if (dt_prop_cached(cx, d->s->prop,
                            &(DtOpSchema){ op, args, nin, spec }, &p, &hit)
             != DT_OK) {
    dt_buf_add(b, "  will  fail: ");
    first_line(dt_buf_str(&cx->err.message), b);
    dt_buf_addc(b, '\n');
    dt_error_clear(cx);
  } else {
    print_choice(p, nin, b);
    print_moves(d, p, nin, spec, b);
    dt_prop_unref(cx, p);
  }
  dt_debug_unmute(d, &m);
  for (i = 0; i < nin; i++) dt_spec_unref(cx, (DtSpec *)(uintptr_t)spec[i]);
  dt_arena_release(&cx->scratch, mark);
}

/* --- the stop --- */

static const char *why_word (const DtStopAt *at) {
  switch (at->why) {
    case DT_WHY_START: return "start";
    case DT_WHY_CALL: return "dt.breakpoint()";
    case DT_WHY_INTERRUPT: return "Ctrl-C";
    case DT_WHY_ASKED: return "another rank has stopped";
    case DT_WHY_LUA: return "error";
    default: return "";
  }
}

/* The line of a stop: the event, breakpoints, reason; then, in a column of its
** own, file and line, so that a person finds them in the same place. */
static void print_head (const DtStopAt *at, DtBuf *b) {
  const DtEvent *e = at->e;
  size_t start = b->len;
  int i;
  if (at->why == DT_WHY_END) dt_buf_add(b, "at the end: nothing more to run");
  else if (e == NULL) dt_buf_addf(b, "at %s:%d", at->file ? at->file : "?",
                             at->line);
  else {
    dt_buf_add(b, e->kind == DT_EV_ERROR ? "error in "
               : e->kind == DT_EV_OP_END ? "after " : "before ");
    dt_event_text(e, b);
  }
  for (i = 0; i < at->nhit; i++)
    dt_buf_addf(b, "%s%d", i ? ", " : "  breakpoint ", at->hit[i]);
  if (*why_word(at)) dt_buf_addf(b, "  %s", why_word(at));
  if (e) {
    while (b->len - start < HEAD && !b->oom) dt_buf_addc(b, ' ');
    if (at->line > 0) dt_buf_addf(b, "  %s:%d", at->file, at->line);
    if (e->backward) dt_buf_add(b, "  (backward)");
    if (e->module && *e->module) dt_buf_addf(b, "  in %s", e->module);
  }
  dt_buf_addc(b, '\n');
  if (*at->note) dt_buf_addf(b, "  %s\n", at->note);
}

static void print_call (DtControl *c, const DtEvent *e, DtBuf *b) {
  DtCtx *cx = c->d->s->cx;
  DtArenaMark mark = dt_arena_mark(&cx->scratch);
  DtFailed f;
  int i;
  if (e->nin <= 0) return;
  memset(&f, 0, sizeof f);
  f.op = e->op;
  f.nin = e->nin;
  f.in = DT_ANEWN(cx, &cx->scratch, DtVar *, e->nin);
  f.name = DT_ANEWN(cx, &cx->scratch, const char *, e->nin);
  if (f.in && f.name) {
    if (e->args) f.args = *e->args;
    for (i = 0; i < e->nin; i++) f.in[i] = e->in[i];
    if (c->h.names) c->h.names(c->h.ud, e->nin, e->in, f.name);
    dt_autopsy_args(&f, b);
  } else dt_error_clear(cx);
  dt_arena_release(&cx->scratch, mark);
}

static void print_results (const DtEvent *e, DtBuf *b) {
  int i;
  for (i = 0; i < e->nout; i++) {
    dt_buf_addf(b, "  result %d  ", i);
    if (e->out[i]) dt_var_print(e->out[i], b); else dt_buf_add(b, "None");
    dt_buf_addc(b, '\n');
  }
}

/* What :where shows below the place, by kind of event. */
static void print_event (DtControl *c, const DtEvent *e, DtBuf *b) {
  int i;
  switch (e->kind) {
    case DT_EV_OP: case DT_EV_ERROR:
      if (e->op == NULL) break;
      print_call(c, e, b);
      if (e->kind == DT_EV_OP && e->args)
        dt_dispatch_text(c->d, e->op, e->args, e->nin, e->in, b);
      break;
    case DT_EV_OP_END:
      print_call(c, e, b);
      print_results(e, b);
      break;
    case DT_EV_FUNC: if (e->op) print_call(c, e, b); break;
    case DT_EV_REDIST:
      dt_buf_add(b, "  plan  ");
      print_plan_line(e->plan, b);
      dt_buf_addc(b, '\n');
      break;
    case DT_EV_COLL:
      dt_buf_add(b, " ");
      print_rank_list(e, b);
      dt_buf_add(b, "  out ");
      dt_bytes_print(e->bytes_out, b);
      dt_buf_addc(b, '\n');
      break;
    case DT_EV_KERNEL:
      for (i = 0; i < e->nlocal; i++) {
        if (e->local[i] == NULL) continue;
        dt_buf_addf(b, "  local %d  ", i);
        dt_meta_print(&e->local[i]->m, b);
        dt_buf_addc(b, '\n');
      }
      break;
    default: break;
  }
}

static void print_line (DtControl *c, const char *file, int line, bool mark,
                        DtBuf *b) {
  size_t n = 0;
  const char *s = c->h.source ? c->h.source(c->h.ud, file, line, &n) : NULL;
  if (s == NULL) return;
  dt_buf_addf(b, "%s%4d  %.*s\n", mark ? ">" : " ", line, (int)n, s);
}

void dt_stop_text (DtControl *c, const DtStopAt *at, DtBuf *b) {
  print_head(at, b);
  if (at->file && at->line > 0) print_line(c, at->file, at->line, true, b);
  if (at->e) print_event(c, at->e, b);
}

void dt_stop_line (DtControl *c, const DtStopAt *at, DtBuf *b) {
  int i;
  for (i = 0; i < at->nhit; i++)
    dt_buf_addf(b, "%s%d%s", i ? ", " : "breakpoint ", at->hit[i],
                i + 1 == at->nhit ? "\n" : "");
  if (*at->note) dt_buf_addf(b, "%s\n", at->note);
  if (at->file && at->line > 0) print_line(c, at->file, at->line, true, b);
}

void dt_list_text (DtControl *c, const char *file, int line, int from, int to,
                   DtBuf *b) {
  int i;
  size_t before = b->len;
  for (i = from < 1 ? 1 : from; i <= to; i++)
    print_line(c, file, i, i == line, b);
  if (b->len == before) dt_buf_addf(b, "no text of %s\n", file);
}
