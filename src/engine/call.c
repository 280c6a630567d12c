/* SPDX-License-Identifier: MIT
** engine/call.c: a full call: composite operators above autograd, autograd
** around the dispatcher, and the emitter by which gradients and
** decompositions call back into it.
**
** Composites (CompositeImplicitAutograd) never reach the dispatcher whole,
** but in inference mode with distributed inputs they do, as in PyTorch. */
#include "base/error_tool.h"
#include "engine/call_int.h"

#include <stdarg.h>
#include <string.h>

/* --- composites --- */

static DtStatus decomp_outputs (DtSession *s, const DtOpDef *op,
                                const DtDecompCall *d, DtResults *out) {
  DT_TRY(s->cx, dt_results_init(s, out, d->nout));
  out->is_list = op->sig->returns_list;
  for (int i = 0; i < d->nout; i++)
    *dt_results_at(out, i) = dt_var_ref(dt_run_var(d->out[i]));
  return DT_OK;
}

DtStatus dt_call_decomp (DtSession *s, const DtCall *c, DtResults *out) {
  DtCtx *cx = s->cx;
  DtArenaMark mark = dt_arena_mark(&cx->scratch);
  int max = c->op->sig->returns_list ? DT_MAX_OUTS : c->op->sig->nrets;
  DtHandle **hin = DT_ANEWN(cx, &cx->scratch, DtHandle *, c->nin + 1);
  DtHandle **hout = DT_ANEWN(cx, &cx->scratch, DtHandle *, max + 1);
  DtRun run;
  DtDecompCall d = { .e = &run.e, .op = c->op, .args = c->args,
                     .nin = c->nin, .in = hin, .out = hout, .maxout = max };
  DtStatus st = hin && hout ? DT_OK : DT_E_NOMEM;
  dt_run_init(&run, s, &cx->scratch);
  for (int i = 0; i < c->nin && st == DT_OK; i++)
    hin[i] = (DtHandle *)(void *)c->in[i];
  if (st == DT_OK) st = c->op->decomp(&d);
  if (st == DT_OK) st = run.e.st;
  if (st == DT_OK) st = decomp_outputs(s, c->op, &d, out);
  dt_run_fini(&run);
  dt_arena_release(&cx->scratch, mark);
  return st;
}

static DtStatus tell_func (DtSession *s, const DtCall *c) {
  DtEvent e = { .kind = DT_EV_FUNC, .op = c->op, .args = c->args,
                .nin = c->nin, .in = c->in, .text = c->op->sig->full };
  return dt_event_emit(s, &e);
}

static DtStatus call_composite (DtSession *s, const DtCall *c,
                                DtResults *out) {
  DtStatus st = DT_OK;
  bool again, implicit = s->implicit_replication;
  if (dt_session_heard(s)) st = tell_func(s, c);
  dt_warn_called(s, c->op, c->args);
  s->implicit_replication |= (c->op->flags & DT_OP_REPLICATES) != 0;
  if (st == DT_OK) st = dt_call_decomp(s, c, out);
  s->implicit_replication = implicit;
  if (dt_session_heard(s)) {
    if (st != DT_OK) st = dt_ev_error(s, c, st, &again);
    st = dt_ev_end(s, DT_EV_FUNC_END, c, out, st);
  }
  return st;
}

/* Does the operator run as its decomposition, above autograd? */
static bool runs_composite (const DtSession *s, const DtOpDef *op, int nin,
                            DtVar *const *in) {
  if (!(op->flags & DT_OP_COMPOSITE) || op->decomp == NULL) return false;
  return !s->inference || !dt_unwrap_any_dist(nin, in);
}

/* --- one operator with autograd around it --- */

static bool needs_graph (const DtSession *s, int nin, DtVar *const *in) {
  if (!s->grad_enabled || s->inference || s->modes.below > 0) return false;
  for (int i = 0; i < nin; i++)
    if (in[i] != NULL && dt_var_needs_grad(in[i])) return true;
  return false;
}

/* Does it write a view made in no_grad of what has a gradient?  Such a view has no
** history of its own, yet autograd is asked, which refuses it. */
static bool writes_untracked_view (const DtSession *s, const DtOpDef *op,
                                   const DtArgs *args, int nin, DtVar *const *in) {
  if (!s->grad_enabled || s->inference || s->modes.below > 0) return false;
  for (int j = 0; j < op->sig->nargs; j++) {
    const DtValue *a = &args->v[j];
    if (!op->sig->arg[j].write || a->kind != DT_V_TENSOR || a->u.slot >= nin) continue;
    const DtVar *v = in[a->u.slot];
    if (v != NULL && v->view_made == DT_VIEW_NO_GRAD && v->view_base != NULL &&
        dt_var_needs_grad(v->view_base))
      return true;
  }
  return false;
}

static DtStatus call_tracked (DtSession *s, const DtOpDef *op,
                              const DtArgs *args, int nin, DtVar *const *in,
                              DtResults *out) {
  DtGradCtx g;
  DtStatus st;
  DT_TRY(s->cx, dt_saving_count(s, op, args, in));
  DT_TRY(s->cx, dt_saving_check(s, op, args, in));
  DT_TRY(s->cx, dt_grad_begin(s, op, args, nin, in, &g));
  st = dt_dispatch(s, op, args, nin, in, out);
  if (st == DT_OK && s->fix_done == 0)
    st = dt_grad_end(s, op, args, nin, in, &g, out);
  dt_grad_fini(s, &g);
  return st;
}

/* The operator ran with arguments a listener put in: they are what counts. */
static DtStatus record_fixed (DtSession *s, const DtOpDef *op,
                              const DtArgs *args, int nin, DtVar *const *in,
                              DtResults *out) {
  DtVar *now[64];
  DtGradCtx g = { .written = -1, .record = !(op->flags & DT_OP_NOGRAD) };
  int n = nin < 64 ? nin : 64;
  for (int i = 0; i < n; i++)
    now[i] = s->fix_done >> i & 1 ? s->fix[i] : in[i];
  s->fix_done = 0;
  if (!needs_graph(s, n, now)) return DT_OK;
  return dt_grad_end(s, op, args, n, now, &g, out);
}

/* A tensor of inference mode has no version counter, so that PyTorch lets
** nothing write into it elsewhere
** (torch/csrc/autograd/VariableTypeUtils.h: check_inplace@2.15). */
static DtStatus check_inference (DtSession *s, const DtOpDef *op,
                                 const DtArgs *args, int nin,
                                 DtVar *const *in) {
  for (int j = 0; j < op->sig->nargs; j++) {
    int slot = op->sig->arg[j].write ? dt_arg_slot(args, j) : -1;
    DT_CHECK(s->cx, slot < 0 || slot >= nin || in[slot] == NULL ||
               !in[slot]->inference, DT_E_RUNTIME,
             "Inplace update to inference tensor outside InferenceMode is not "
             "allowed.You can make a clone to get a normal tensor before doing "
             "inplace update.See https://github.com/pytorch/rfcs/pull/17 for "
             "more details.");
  }
  return DT_OK;
}

static bool any_inference (int nin, DtVar *const *in) {
  for (int i = 0; i < nin; i++)
    if (in[i] != NULL && in[i]->inference) return true;
  return false;
}

static DtStatus call_leaf (DtSession *s, const DtOpDef *op,
                           const DtArgs *args, int nin, DtVar *const *in,
                           DtResults *out) {
  if (nin > 0) DT_TRY(s->cx, dt_handlers_detach(s, op, in[0]));
  if (!s->inference && any_inference(nin, in))
    DT_TRY(s->cx, check_inference(s, op, args, nin, in));
  DtStatus st = needs_graph(s, nin, in) || writes_untracked_view(s, op, args, nin, in)
                  ? call_tracked(s, op, args, nin, in, out)
                  : dt_dispatch(s, op, args, nin, in, out);
  if (st == DT_OK && s->fix_done != 0)
    st = record_fixed(s, op, args, nin, in, out);
  return st;
}

/* Lists of sizes and dims are as long as tensors have dims; pads are twice
** that, parts of a split as many as an operator has results. */
static int list_limit (const char *name) {
  if (strncmp(name, "split", 5) == 0 || strcmp(name, "indices") == 0)
    return DT_MAX_OUTS;
  return strcmp(name, "pad") == 0 ? 2 * DT_MAX_NDIM : DT_MAX_NDIM;
}

static DtStatus check_lists (DtSession *s, const DtOpDef *op,
                             const DtArgs *args) {
  for (int i = 0; i < args->n && i < op->sig->nargs; i++) {
    const DtArgDef *d = &op->sig->arg[i];
    if (args->v[i].kind != DT_V_LIST || d->type != DT_T_INT) continue;
    int n = args->v[i].u.list.n, max = list_limit(d->name);
    DT_CHECK(s->cx, n <= max, DT_E_LIMIT, "%s(): argument '%s' has %d "
             "elements, at most %d are supported", op->sig->base, d->name, n,
             max);
  }
  return DT_OK;
}

DtStatus dt_call (DtSession *s, const DtOpDef *op, const DtArgs *args,
                  int nin, DtVar *const *in, DtResults *out) {
  DtStatus st = DT_OK;
  bool done = false;
  DT_TRY(s->cx, dt_ctx_poll(s->cx));
  DT_TRY(s->cx, check_lists(s, op, args));
  out->n = 0;
  out->more = NULL;
  out->is_list = false;
  out->ret.kind = DT_V_NONE;
  if (s->call_depth == 0) s->err_told = false;
  s->call_depth++;
  if (runs_composite(s, op, nin, in)) {
    if (op == dt_handlers_sdpa(s))
      st = dt_sdpa_call(s, args, nin, in, out, &done);
    if (st == DT_OK && !done)
      st = call_composite(s, &(DtCall){ op, args, nin, in }, out);
  } else {
    st = call_leaf(s, op, args, nin, in, out);
  }
  s->call_depth--;
  return st;
}

void dt_call_keep_first (DtSession *s, DtResults *r) {
  DtVar *first = dt_var_ref(dt_result(r, 0));
  dt_results_fini(s, r);
  r->n = 1;
  r->v[0] = first;
}

/* --- the emitter --- */

static bool copies_into_given (const DtRun *r, const DtOpDef *op, int nin,
                               DtHandle *const *in) {
  return r->given != NULL && nin == 2 && in[1] != NULL &&
         dt_run_var(in[0])->local == r->given &&
         strcmp(op->sig->full, "aten.copy_.default") == 0;
}

static DtStatus run_check_saved (DtRun *r, int nin, DtHandle *const *in) {
  if (r->node == NULL) return DT_OK;
  for (int i = 0; i < nin; i++)
    if (in[i] != NULL)
      DT_TRY(r->s->cx, dt_node_check_saved(r->s, r->node, dt_run_var(in[i])));
  return DT_OK;
}

/* The kernel of a gradient that has no gradient itself must not end a graph
** without a word. */
static DtStatus check_differentiable (DtSession *s, const DtOpDef *op, int nin,
                                      DtHandle *const *in) {
  if (!s->create_graph || !(op->flags & DT_OP_NOGRAD) ||
      strstr(op->sig->base, "_backward") == NULL)
    return DT_OK;
  for (int i = 0; i < nin; i++)
    DT_CHECK(s->cx, in[i] == NULL || !dt_var_needs_grad(dt_run_var(in[i])),
             DT_E_NOTIMPL, "create_graph=True (gradients of gradients) through "
             "%s::%s is not supported by dtrepl", op->sig->ns, op->sig->base);
  return DT_OK;
}

static DtStatus run_call (DtEmit *e, const char *name, const DtGiven *given,
                          int nin, DtHandle *const *in, DtOutputs *out) {
  DtRun *r = e->ud;
  DtSession *s = r->s;
  DtArgs args;
  DtResults res;
  const DtOpDef *op = dt_registry_find(s->cx, s->registry, name);
  DT_CHECK(s->cx, op != NULL, DT_E_KEY, "no operator %s", name);
  DT_TRY(s->cx, run_check_saved(r, nin, in));
  if (copies_into_given(r, op, nin, in))
    DT_TRY(s->cx, dt_local_resize_out(s->cx, r->given,
                                      dt_var_meta(dt_run_var(in[1]))));
  DT_TRY(s->cx, dt_schema_bind(s->cx, op->sig, given, &args));
  args.nslots = nin;
  DT_TRY(s->cx, check_differentiable(s, op, nin, in));
  bool grad = s->grad_enabled;
  if (e->quiet) s->grad_enabled = false;
  DtStatus st = dt_call(s, op, &args, nin, (DtVar *const *)(const void *)in,
                        &res);
  s->grad_enabled = grad;
  if (st != DT_OK) return st;
  out->n = res.n < out->max ? res.n : out->max;
  if (out->ret != NULL) *out->ret = res.ret;
  for (int i = 0; i < out->n; i++)
    out->v[i] = dt_run_keep(r, dt_var_ref(dt_result(&res, i)));
  dt_results_fini(s, &res);
  return r->e.st;
}

static const DtMeta *run_meta (DtEmit *e, const DtHandle *h) {
  (void)e;
  return dt_var_meta((const DtVar *)(const void *)h);
}

static bool run_is_dist (DtEmit *e, const DtHandle *h) {
  (void)e;
  return dt_var_is_dist((const DtVar *)(const void *)h);
}

static bool run_has_data (DtEmit *e, const DtHandle *h) {
  const DtRun *r = e->ud;
  const DtVar *v = (const DtVar *)(const void *)h;
  return !dt_session_no_data(r->s) && dt_tensor_has_data(v->local);
}

static DtStatus run_item (DtEmit *e, DtHandle *h, DtValue *out) {
  DtRun *r = e->ud;
  DtSession *s = r->s;
  DtValue arg = dt_v_slot(0);
  DtVar *in = dt_run_var(h);
  DtArgs args;
  DtResults res;
  const DtOpDef *op = dt_registry_find(s->cx, s->registry,
                                       "aten._local_scalar_dense.default");
  DT_CHECK(s->cx, op != NULL, DT_E_KEY, "no operator _local_scalar_dense");
  DT_TRY(s->cx, dt_schema_bind(s->cx, op->sig, &(DtGiven){ .npos = 1, .pos = &arg },
                               &args));
  args.nslots = 1;
  DT_TRY(s->cx, dt_call(s, op, &args, 1, &in, &res));
  *out = res.ret;
  dt_results_fini(s, &res);
  return DT_OK;
}

static int run_marks (DtEmit *e, const DtHandle *h) {
  (void)e;
  return ((const DtVar *)(const void *)h)->local->marks;
}

static const DtEmitVt run_vt = { run_call, run_meta, run_is_dist,
                                 run_has_data, run_item, run_marks };

void dt_run_init (DtRun *r, DtSession *s, DtArena *arena) {
  memset(r, 0, sizeof *r);
  r->e.cx = s->cx;
  r->e.vt = &run_vt;
  r->e.arena = arena;
  r->e.st = DT_OK;
  r->e.ud = r;
  r->s = s;
}

DtHandle *dt_run_keep (DtRun *r, DtVar *owned) {
  if (owned == NULL) return NULL;
  if (r->n == r->cap) {
    int cap = r->cap ? r->cap * 2 : 16;
    DtVar **own = dt_realloc(r->s->cx, r->own, (size_t)cap * sizeof *own);
    if (own == NULL) {
      dt_var_unref(owned);
      if (r->e.st == DT_OK) r->e.st = DT_E_NOMEM;
      return NULL;
    }
    r->own = own;
    r->cap = cap;
  }
  r->own[r->n++] = owned;
  return (DtHandle *)(void *)owned;
}

void dt_run_fini (DtRun *r) {
  for (int i = r->n; i-- > 0; ) dt_var_unref(r->own[i]);
  dt_free(r->s->cx, r->own);
  r->own = NULL;
  r->n = r->cap = 0;
}

/* --- by format --- */

enum { FMT_VALUES = 24, FMT_VARS = 64 };

typedef struct Fmt {
  DtSession *s;
  DtArena *arena;
  DtValue pos[FMT_VALUES], kw[FMT_VALUES];
  char *kwname[FMT_VALUES];
  int npos, nkw;
  DtVar *in[FMT_VARS];
  int nin;
  DtStatus st;
} Fmt;

static DtValue fmt_tensor (Fmt *f, DtVar *v) {
  if (v == NULL) return dt_v_none();
  if (f->nin == FMT_VARS) {
    f->st = dt_raise(f->s->cx, DT_E_LIMIT, "more than %d tensors", FMT_VARS);
    return dt_v_none();
  }
  f->in[f->nin] = v;
  return dt_v_slot(f->nin++);
}

static DtValue *fmt_list (Fmt *f, int n) {
  DtValue *v = DT_ANEWN(f->s->cx, f->arena, DtValue, n + 1);
  if (v == NULL) f->st = DT_E_NOMEM;
  return v;
}

static DtValue fmt_ints (Fmt *f, int n, const int64_t *x) {
  DtValue *v = fmt_list(f, n);
  if (v == NULL) return dt_v_none();
  for (int i = 0; i < n; i++) v[i] = dt_v_int(x[i]);
  return dt_v_list(n, v);
}

static DtValue fmt_tensors (Fmt *f, int n, DtVar *const *x) {
  DtValue *v = fmt_list(f, n);
  if (v == NULL) return dt_v_none();
  for (int i = 0; i < n; i++) v[i] = fmt_tensor(f, x[i]);
  return dt_v_list(n, v);
}

/* ORDER emit.h: the letters. */
static DtValue fmt_one (Fmt *f, char letter, va_list *ap) {
  int n;
  DtDtype t;
  switch (letter) {
    case 't': return fmt_tensor(f, va_arg(*ap, DtVar *));
    case 'T':
      n = va_arg(*ap, int);
      return fmt_tensors(f, n, va_arg(*ap, DtVar *const *));
    case 'i': return dt_v_int(va_arg(*ap, int64_t));
    case 'f': return dt_v_float(va_arg(*ap, double));
    case 'b': return dt_v_bool(va_arg(*ap, int) != 0);
    case 'I':
      n = va_arg(*ap, int);
      return fmt_ints(f, n, va_arg(*ap, const int64_t *));
    case 's': return dt_v_str(va_arg(*ap, const char *));
    case 'd':
      t = (DtDtype)va_arg(*ap, int);
      return t == DT_DTYPE_NONE ? dt_v_none() : dt_v_dtype(t);
    case 'v': return va_arg(*ap, DtValue);
    case 'n': return dt_v_none();
    default:
      f->st = dt_raise(f->s->cx, DT_E_INTERNAL, "letter '%c' in a format",
                       letter);
      return dt_v_none();
  }
}

static void fmt_parse (Fmt *f, const char *fmt, va_list *ap) {
  while (*fmt != 0 && *fmt != ' ' && f->st == DT_OK) {
    if (f->npos == FMT_VALUES) { f->st = DT_E_LIMIT; return; }
    f->pos[f->npos++] = fmt_one(f, *fmt++, ap);
  }
  while (f->st == DT_OK) {
    size_t n;
    while (*fmt == ' ') fmt++;
    if (*fmt == 0) return;
    n = strcspn(fmt, "=");
    if (f->nkw == FMT_VALUES || fmt[n] == 0) {
      f->st = dt_raise(f->s->cx, DT_E_INTERNAL, "format \"%s\"", fmt);
      return;
    }
    f->kwname[f->nkw] = dt_arena_alloc(f->s->cx, f->arena, n + 1);
    if (f->kwname[f->nkw] == NULL) { f->st = DT_E_NOMEM; return; }
    memcpy(f->kwname[f->nkw], fmt, n);
    fmt += n + 1;
    f->kw[f->nkw++] = fmt_one(f, *fmt++, ap);
  }
}

static DtStatus fmt_run (Fmt *f, const char *name, DtVar **out) {
  DtSession *s = f->s;
  DtArgs args;
  DtResults res;
  const DtOpDef *op = dt_registry_find(s->cx, s->registry, name);
  DT_CHECK(s->cx, op != NULL, DT_E_KEY, "no operator %s", name);
  DT_TRY(s->cx, dt_schema_bind(s->cx, op->sig, &(DtGiven){
    f->npos, f->pos, f->nkw, (const char *const *)f->kwname, f->kw }, &args));
  args.nslots = f->nin;
  DT_TRY(s->cx, dt_call(s, op, &args, f->nin, f->in, &res));
  if (out != NULL) *out = dt_var_ref(dt_result(&res, 0));
  dt_results_fini(s, &res);
  return DT_OK;
}

DtStatus dt_call_fmt (DtSession *s, DtVar **out, const char *op,
                      const char *fmt, ...) {
  Fmt f;
  va_list ap;
  DtStatus st;
  DtArenaMark mark = dt_arena_mark(&s->cx->scratch);
  f.s = s;
  f.arena = &s->cx->scratch;
  f.npos = f.nkw = f.nin = 0;
  f.st = DT_OK;
  va_start(ap, fmt);
  fmt_parse(&f, fmt, &ap);
  va_end(ap);
  st = f.st == DT_OK ? fmt_run(&f, op, out) : f.st;
  dt_arena_release(&s->cx->scratch, mark);
  return st;
}
