/* SPDX-License-Identifier: MIT
** engine/dispatch.c: one operator below autograd, in PyTorch's order: handler,
** mesh and mixed inputs, decision, redistribution of inputs, local kernel,
** wrapping.
**
** The path of a cached decision allocates nothing but the outputs: inputs and
** outputs travel in small arrays on the stack, longer ones in the scratch
** arena. */
#include "base/error_shard.h"
#include "engine/engine_int.h"

enum { INLINE_IN = 16, INLINE_RET = 8 };

/* Arrays of one call. */
typedef struct Locals {
  DtTensor **in, **out;
  int nin, max, nout;
  uint64_t owned[(DT_MAX_OUTS + 63) / 64];    /* redistributed inputs */
  bool any_owned;
  DtTensor *in_[INLINE_IN], *out_[INLINE_RET];
  DtArenaMark mark;
  bool arena;
} Locals;

static int most_outputs (const DtOpDef *op) {
  if (op->sig->returns_list || (op->flags & DT_OP_FOREACH)) return DT_MAX_OUTS;
  return op->sig->nrets;
}

static DtStatus locals_init (DtSession *s, Locals *l, const DtOpDef *op,
                             int nin, DtVar *const *in) {
  DtCtx *cx = s->cx;
  l->nin = nin;
  l->max = most_outputs(op);
  l->nout = 0;
  l->any_owned = false;
  l->in = l->in_;
  l->out = l->out_;
  l->arena = nin > INLINE_IN || l->max > INLINE_RET;
  if (l->arena) {
    l->mark = dt_arena_mark(&cx->scratch);
    if (nin > INLINE_IN) l->in = DT_ANEWN(cx, &cx->scratch, DtTensor *, nin);
    if (l->max > INLINE_RET)
      l->out = DT_ANEWN(cx, &cx->scratch, DtTensor *, l->max);
    if (l->in == NULL || l->out == NULL) return DT_E_NOMEM;
  }
  for (int i = 0; i < nin; i++) l->in[i] = in[i] ? in[i]->local : NULL;
  return DT_OK;
}

static void locals_fini (DtSession *s, Locals *l) {
  for (int i = 0; i < l->nout; i++) dt_tensor_unref(s->cx, l->out[i]);
  if (l->any_owned)
    for (int i = 0; i < l->nin; i++)
      if (l->owned[i / 64] >> (i % 64) & 1) dt_tensor_unref(s->cx, l->in[i]);
  if (l->arena) dt_arena_release(&s->cx->scratch, l->mark);
}

static void locals_own (Locals *l, int i, DtTensor *t) {
  if (!l->any_owned)
    for (size_t k = 0; k < sizeof l->owned / sizeof l->owned[0]; k++)
      l->owned[k] = 0;
  l->any_owned = true;
  l->in[i] = t;
  l->owned[i / 64] |= UINT64_C(1) << (i % 64);
}

static DtStatus run_with (DtSession *s, const DtOpDef *op, const DtArgs *args,
                          Locals *l, DtValue *ret) {
  DtLocalOut got = { .v = l->out, .max = l->max, .ret = ret };
  DtStatus st = dt_run_local(s, op, args, l->nin, l->in, &got);
  l->nout = got.n;
  return st;
}

/* --- plain --- */

static DtStatus dispatch_plain (DtSession *s, const DtCall *c,
                                DtResults *out) {
  Locals l;
  DtValue ret = { .kind = DT_V_NONE };
  DtStatus st = locals_init(s, &l, c->op, c->nin, c->in);
  if (st == DT_OK)
    st = run_with(s, c->op, c->args, &l, &ret);
  if (st == DT_OK)
    st = dt_wrap(s, c, l.nout, l.out, NULL, out);
  if (st == DT_OK) out->ret = ret;
  locals_fini(s, &l);
  return st;
}

/* --- distributed --- */

/* ExplicitRedistributionContext: may this input be moved silently?  Where the
** decision was found (`hit`), PyTorch has no schema to show, but the operator.
** Source: torch/distributed/tensor/_dispatch.py:
** OpDispatcher.redistribute_local_args@2.15. */
static DtStatus observe_redist (DtSession *s, const DtCall *c,
                                const DtUnwrapped *u, bool hit,
                                const DtSpec *src, const DtSpec *dst) {
  DtCtx *cx = s->cx;
  DtStatus st;
  DtBuf b;
  double cost = 0;
  bool strict = s->explicit_redist == 2 || s->explicit_redist == 4;
  if (s->explicit_redist == 0) return DT_OK;
  if (!strict) {
    DT_TRY(cx, dt_cost_redistribute(cx, s->planner,
                                    dt_planner_topo(s->planner), src, dst,
                                    &cost));
    if (cost <= 0) return DT_OK;
  }
  dt_buf_init(&b, cx);
  dt_buf_add(&b, "Implicit redistribution occurred for ");
  if (hit) dt_buf_add(&b, c->op->sig->full);
  else dt_prop_schema_str(c->op, c->args, u->spec, &b);
  dt_buf_add(&b, " while ExplicitRedistributionContext was active");
  st = dt_buf_ok(&b);
  if (st == DT_OK && s->explicit_redist >= 3)
    dt_session_warn(s, dt_buf_str(&b));
  else if (st == DT_OK)
    st = dt_raise(cx, DT_E_IMPLICIT, "%s", dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}

static DtStatus move_inputs (DtSession *s, const DtCall *c,
                             const DtUnwrapped *u, const DtProp *p, bool hit,
                             Locals *l) {
  for (int i = 0; i < l->nin && i < p->nin; i++) {
    DtTensor *moved;
    if (!p->moved[i] || p->in[i] == NULL || u->spec[i] == NULL) continue;
    DT_TRY(s->cx, observe_redist(s, c, u, hit, u->spec[i], p->in[i]));
    DT_TRY(s->cx, dt_redist_local(s, l->in[i], u->spec[i], p->in[i], true, i,
                                  &moved));
    locals_own(l, i, moved);
  }
  return DT_OK;
}

static DtStatus tell_prop (DtSession *s, const DtCall *c, const DtProp *p,
                           bool hit) {
  DtEvent e = { .kind = DT_EV_PROP, .op = c->op, .args = c->args,
                .nin = c->nin, .in = c->in, .prop = p, .cache_hit = hit };
  return dt_event_emit(s, &e);
}

/* The local part on a rank of the mesh. */
static DtStatus run_member (DtSession *s, const DtCall *c,
                            const DtUnwrapped *u, const DtProp *p, bool hit,
                            DtResults *out) {
  Locals l;
  DtRngRegion rng = { .on = false };
  DtValue ret = { .kind = DT_V_NONE };
  const DtOpDef *lop = p->op ? p->op : c->op;
  DtStatus st = locals_init(s, &l, c->op, c->nin, c->in);
  if (st == DT_OK && p->needs_redist)
    st = move_inputs(s, c, u, p, hit, &l);
  if (st == DT_OK && (c->op->flags & DT_OP_RANDOM) && c->nin > 0)
    st = dt_rng_region_begin(s, c->op, u->spec[0], &rng);
  if (st == DT_OK)
    st = run_with(s, lop, p->args ? p->args : c->args, &l, &ret);
  dt_rng_region_end(s, &rng);
  if (st == DT_OK && (p->no_spec || dt_handlers_reads(s, c->op))) {
    st = dt_handlers_scalar(s, c->op, true, &ret);
    if (st == DT_OK) st = dt_results_init(s, out, 0);
  } else if (st == DT_OK) {
    DT_CHECKG(s->cx, l.nout == p->nout, DT_E_INTERNAL,
              "%s: %d local results, %d decided", c->op->sig->full, l.nout,
              p->nout);
    DT_TRYG(s->cx, dt_wrap(s, c, l.nout, l.out, p->out, out));
  }
  if (st == DT_OK) out->ret = ret;
done:
  locals_fini(s, &l);
  return st;
}

static DtStatus run_outside (DtSession *s, const DtCall *c, const DtProp *p,
                             DtResults *out) {
  int slot = dt_wrap_ret_slot(c->op, c->args, 0);
  DtValue ret = { .kind = DT_V_NONE };
  if (p->no_spec || dt_handlers_reads(s, c->op)) {
    DT_TRY(s->cx, dt_handlers_scalar(s, c->op, false, &ret));
    DT_TRY(s->cx, dt_results_init(s, out, 0));
    out->ret = ret;
    return DT_OK;
  }
  if (slot >= 0 && slot < c->nin) {
    DT_TRY(s->cx, dt_results_init(s, out, 1));
    *dt_results_at(out, 0) = dt_var_ref(c->in[slot]);
    return DT_OK;
  }
  return dt_wrap_outside(s, c->op, p, out);
}

/* Decide, then run.  A composite operator without a rule is decomposed only after
** propagation refused it: a rule that a program registered for it wins.  What a
** cached decision leaves out must be left out here as well: PyTorch's second look
** at plain arguments, its warning and resizing, is part of its slow path, taken
** when the decision is made and not when it is found (`hit`).
** Source: torch/distributed/tensor/_dispatch.py:
** OpDispatcher._propagate_op_sharding_dispatch_slow_path@2.15. */
DtStatus dt_dispatch_specs (DtSession *s, const DtCall *c,
                            const DtUnwrapped *u, DtResults *out) {
  DtProp *p;
  bool hit;
  int64_t resized = dt_prop_resized(s->prop);
  DtStatus st = dt_prop_cached(s->cx, s->prop,
                               &(DtOpSchema){ c->op, c->args, c->nin, u->spec },
                               &p, &hit);
  if (st == DT_E_MISSING && (c->op->flags & DT_OP_COMPOSITE) && c->op->decomp) {
    dt_error_clear(s->cx);
    return dt_call_decomp(s, c, out);
  }
  /* PyTorch's slow path looks at the arguments, and warns, once more. */
  if (u->nmade > 0 && (st != DT_OK || !hit))
    dt_resized_pretend(s, c->op, c->args, u,
                       dt_prop_resized(s->prop) - resized);
  int nwarn = st != DT_OK || !hit ? u->nwarn : 0;
  bool late = st == DT_OK && p->needs_redist &&
              dt_switch(&s->profile, DT_SW_NUMEL1_AFTER_LOCAL);
  for (; !late && nwarn > 0; nwarn--) dt_unwrap_warn(s);
  if (st != DT_OK) return st;
  if (!hit) dt_warn_called(s, c->op, c->args);
  if (dt_session_heard(s)) st = tell_prop(s, c, p, hit);
  if (st == DT_OK)
    st = u->mesh->member ? run_member(s, c, u, p, hit, out)
                         : run_outside(s, c, p, out);
  for (; nwarn > 0; nwarn--) dt_unwrap_warn(s);
  dt_prop_unref(s->cx, p);
  return st;
}

static DtStatus dispatch_dist (DtSession *s, const DtCall *c, DtResults *out) {
  DtUnwrapped u;
  DtStatus st;
  void *ud;
  DtHandlerFn h = dt_handler_get(s, c->op, &ud);
  if (h != NULL) return h(s, ud, c, out);
  DT_TRY(s->cx, dt_unwrap(s, c, &u));
  st = dt_dispatch_specs(s, c, &u, out);
  dt_unwrap_fini(s, &u);
  return st;
}

/* --- the entry --- */

static DtStatus tell_op (DtSession *s, const DtCall *c) {
  DtEvent e = { .kind = DT_EV_OP, .op = c->op, .args = c->args, .nin = c->nin,
                .in = c->in };
  return dt_event_emit(s, &e);
}

static DtStatus dispatch_once (DtSession *s, const DtCall *c, DtResults *out) {
  return dt_unwrap_any_dist(c->nin, c->in) ? dispatch_dist(s, c, out)
                                           : dispatch_plain(s, c, out);
}

/* The call failed: listeners see it as it is, and may replace arguments, with
** which it runs again. */
static DtStatus dispatch_failed (DtSession *s, const DtCall *c, DtResults *out,
                                 DtStatus st) {
  DtVar *now[64];
  uint64_t done = 0;
  bool again;
  const DtCall fixed = { c->op, c->args, c->nin, c->nin <= 64 ? now : c->in };
  int n = c->nin < 64 ? c->nin : 64;
  for (int i = 0; i < n; i++) now[i] = c->in[i];
  while (st != DT_OK) {
    st = dt_ev_error(s, &fixed, st, &again);
    if (!again || c->nin > 64) break;
    for (int i = 0; i < n; i++)
      if (s->fix_mask >> i & 1) now[i] = s->fix[i];
    done |= s->fix_mask;
    st = dispatch_once(s, &fixed, out);
  }
  s->fix_done = done;
  return st;
}

DtStatus dt_results_take (DtSession *s, const DtCall *c, int i, DtVar *v,
                          DtResults *out) {
  int slot = dt_wrap_ret_slot(c->op, c->args, i);
  DtVar **to = dt_results_at(out, i);
  if (slot >= 0 && slot < c->nin) {
    *to = dt_var_ref(c->in[slot]);
    return DT_OK;
  }
  for (int k = 0; v != NULL && k < c->nin; k++)
    if (c->in[k] == v) return dt_var_new(s, v->local, v->spec, to);
  *to = dt_var_ref(v);
  return DT_OK;
}

/* The innermost mode in the dispatcher's place. */
static DtStatus ask_mode (DtSession *s, const DtCall *c, DtResults *out) {
  DtStatus st;
  int level = s->modes.level--;
  s->modes.below++;
  st = s->modes.ask(s, c, out);
  s->modes.below--;
  s->modes.level = level;
  return st;
}

DtStatus dt_dispatch (DtSession *s, const DtOpDef *op, const DtArgs *args,
                      int nin, DtVar *const *in, DtResults *out) {
  const DtOpDef *outer = s->cur_op;
  int64_t outer_seq = s->cur_seq;
  const char *outer_file = s->cur_file;
  int outer_line = s->cur_line;
  int depth = s->depth;
  DtStatus st = DT_OK;
  const DtCall c = { op, args, nin, in };
  if (s->modes.level > 0) return ask_mode(s, &c, out);
  if (s->marked && dt_marks_stop(op, nin, in))
    return dt_marks_dispatch(s, &c, out);
  s->cur_op = op;
  s->cur_seq = ++s->seq;
  s->cur_file = NULL;
  if (dt_session_heard(s)) st = tell_op(s, &c);
  if (st == DT_OK) st = dispatch_once(s, &c, out);
  s->fix_done = 0;
  if (dt_session_heard(s)) {
    if (st != DT_OK) st = dispatch_failed(s, &c, out, st);
    st = dt_ev_end(s, DT_EV_OP_END, &c, out, st);
  }
  s->depth = depth;             /* whoever began to listen in between */
  s->cur_op = outer;
  s->cur_seq = outer_seq;
  s->cur_file = outer_file;
  s->cur_line = outer_line;
  return st;
}
