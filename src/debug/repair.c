/* SPDX-License-Identifier: MIT
** debug/repair.c: candidate repairs of a failed call, each *run* on the real
** inputs and compared with one device.
**
** One device = the same operator on the gathered inputs, as plain tensors.  A
** repair is a set of replacements for the inputs; the call is made through the
** dispatcher, its collectives counted, its outputs gathered and compared with
** the tolerances of torch.testing.assert_close.  Nothing the user has changes:
** inputs that an operator writes are copied first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_shard.h"
#include "debug/autopsy.h"
#include "debug/repair_int.h"
#include "debug/verify_int.h"

enum { TRY_BYTES = 64 << 20 };

/* --- comparing --- */

/* 0 different, 1 close, 2 the same bits. */
static int same_values (DtSession *s, const DtTensor *a, const DtTensor *b) {
  DtVerdict v;
  double worst;
  if (dt_oracle_compare(s, a, b, &v, &worst) != DT_OK) {
    dt_error_clear(s->cx);
    return 0;
  }
  return v == DT_SAME_BITS ? 2 : v == DT_SAME_CLOSE ? 1 : 0;
}

/* --- trials --- */

static DtStatus copy_plain (DtSession *s, DtVar *v, DtVar **out) {
  DtVar *alias = NULL;
  DtStatus st = dt_var_new(s, v->local, NULL, &alias);
  if (st == DT_OK) st = dt_call_fmt(s, out, "aten.clone.default", "t", alias);
  dt_var_unref(alias);
  return st;
}

/* The whole value of an input as a plain tensor. */
static DtStatus gather_input (DtSession *s, DtVar *v, DtVar **out) {
  DtTensor *t;
  DtStatus st;
  if (v->spec == NULL) return copy_plain(s, v, out);
  DT_TRY(s->cx, dt_oracle_gather(s, v, &t));
  st = dt_var_new(s, t, NULL, out);
  dt_tensor_unref(s->cx, t);
  return st;
}

/* A copy in place of the input. */
static DtStatus protect_slot (DtTrial *t, int slot) {
  DtVar *old = t->in[slot], *local = NULL, *copy = NULL;
  DtStatus st = copy_plain(t->d->s, old, &local);
  if (st == DT_OK) st = dt_var_new(t->d->s, local->local, old->spec, &copy);
  dt_var_unref(local);
  if (st != DT_OK) return st;
  dt_var_unref(old);
  t->in[slot] = copy;
  return DT_OK;
}

/* The tensor of an argument, or those of its list. */
static DtStatus protect_value (DtTrial *t, const DtValue *v) {
  if (v->kind == DT_V_LIST)
    for (int i = 0; i < v->u.list.n; i++)
      DT_TRY(t->d->s->cx, protect_value(t, &v->u.list.v[i]));
  return v->kind == DT_V_TENSOR ? protect_slot(t, v->u.slot) : DT_OK;
}

/* Copies of inputs that the operator writes, so that trials change nothing. */
static DtStatus copy_written_inputs (DtTrial *t) {
  const DtArgs *a = &t->f->args;
  for (int i = 0; i < t->f->op->sig->nargs && i < a->n; i++)
    if (t->f->op->sig->arg[i].write)
      DT_TRY(t->d->s->cx, protect_value(t, &a->v[i]));
  return DT_OK;
}

void dt_trial_inputs (DtTrial *t, DtVar *const *from) {
  int i;
  for (i = 0; i < t->f->nin; i++) {
    dt_var_unref(t->in[i]);
    t->in[i] = dt_var_ref(from[i]);
  }
}

DtStatus dt_trial_one_device (DtTrial *t) {
  DtSession *s = t->d->s;
  DtStatus st = DT_OK;
  int i;
  for (i = 0; i < t->f->nin && st == DT_OK; i++)
    st = gather_input(s, t->f->in[i], &t->full[i]);
  if (st != DT_OK) return st;
  dt_trial_inputs(t, t->full);
  st = copy_written_inputs(t);
  if (st == DT_OK)
    st = dt_call(s, t->f->op, &t->f->args, t->f->nin, t->in, &t->ref);
  t->have_ref = st == DT_OK;
  return st;
}

/* Compare outputs of a trial with one device: the worst of all outputs. */
DtStatus dt_trial_compare (DtTrial *t, DtResults *r, int *same) {
  DtSession *s = t->d->s;
  int i;
  *same = 2;
  if (r->n != t->ref.n) { *same = 0; return DT_OK; }
  for (i = 0; i < r->n; i++) {
    DtVar *v = dt_result(r, i), *w = dt_result(&t->ref, i), *full = NULL;
    int k;
    DtStatus st;
    if (v == NULL || w == NULL) continue;
    st = gather_input(s, v, &full);
    if (st != DT_OK) return st;
    k = same_values(s, full->local, w->local);
    dt_var_unref(full);
    if (k < *same) *same = k;
  }
  return DT_OK;
}

static char *copy_words (DtDebug *d, DtArena *a, const char *text) {
  char *s = dt_arena_strdup(d->s->cx, a, text);
  return s ? s : (char *)(uintptr_t)"";
}

/* The first tensor of an argument that the trial distributes or gathers (a
** plain one for a plain one is only a copy for the trial), -1 for none. */
static int replaced_slot (const DtTrial *t, const DtValue *v) {
  int at = -1;
  if (v->kind == DT_V_LIST)
    for (int i = 0; i < v->u.list.n && at < 0; i++)
      at = replaced_slot(t, &v->u.list.v[i]);
  if (v->kind == DT_V_TENSOR) {
    const DtVar *was = t->f->in[v->u.slot], *is = t->in[v->u.slot];
    if (was != is && (was->spec || is->spec)) at = v->u.slot;
  }
  return at;
}

/* The first input that the operator writes and the trial replaces: the program
** sees what is written only when it assigns the replacement.  -1 for none. */
static int replaced_written (const DtTrial *t) {
  const DtArgs *a = &t->f->args;
  int at = -1;
  for (int i = 0; i < t->f->op->sig->nargs && i < a->n && at < 0; i++)
    if (t->f->op->sig->arg[i].write) at = replaced_slot(t, &a->v[i]);
  return at;
}

static char *verdict_words (DtTrial *t, DtRepairs *out, int same, int written) {
  DtBuf b;
  char *words;
  dt_buf_init(&b, t->d->s->cx);
  dt_buf_add(&b, same == 2 ? "equals one device"
                 : same == 1 ? "equals one device up to rounding"
                 : "differs from one device");
  if (same > 0 && written >= 0) {
    dt_buf_add(&b, " if assigned to ");
    dt_trial_name(t->f, written, &b);
    dt_buf_add(&b, " first (the call writes it)");
  }
  words = copy_words(t->d, &out->arena, dt_buf_str(&b));
  dt_buf_fini(&b);
  return words;
}

/* Run the call once more on the trial's inputs and judge what comes out.  The inputs
** are kept before the call (it may write to them), the bytes are counted from
** zero, the judge listens around the call alone.  An error is a verdict, not a
** failure: it is taken out of the context, or the next trial would report it. */
void dt_trial_run (DtTrial *t, DtRepairs *out, DtRepair *r) {
  DtDebug *d = t->d;
  DtResults res;
  DtStatus st;
  int same = 0, written;
  memset(&res, 0, sizeof res);
  if (t->keep && r == &out->r[t->want])
    for (int i = 0; i < t->f->nin; i++)
      if (t->in[i] != t->f->in[i]) t->keep[i] = dt_var_ref(t->in[i]);
  written = replaced_written(t);
  st = copy_written_inputs(t);
  d->muted_bytes = 0;
  if (d->judge) d->judge(d->judge_ud, false);
  if (st == DT_OK)
    st = dt_call(d->s, t->f->op, &t->f->args, t->f->nin, t->in, &res);
  r->told = d->judge && d->judge(d->judge_ud, true);
  r->bytes = d->muted_bytes;
  if (st == DT_OK && res.n > 0 && dt_result(&res, 0)) {
    DtBuf b;
    dt_buf_init(&b, d->s->cx);
    dt_var_print(dt_result(&res, 0), &b);
    r->result = copy_words(d, &out->arena, dt_buf_str(&b));
    dt_buf_fini(&b);
  }
  if (st == DT_OK) st = dt_trial_compare(t, &res, &same);
  if (st != DT_OK) {
    r->verdict = DT_VD_FAILED;
    /* Python's `assert` says nothing. */
    r->note = copy_words(d, &out->arena, d->s->cx->err.message.len > 0
      ? dt_buf_str(&d->s->cx->err.message) : "fails without a message");
    dt_error_clear(d->s->cx);
  } else {
    r->verdict = same == 2 ? DT_VD_EQUAL : same == 1 ? DT_VD_CLOSE
                                                     : DT_VD_WRONG;
    r->note = verdict_words(t, out, same, written);
  }
  dt_results_fini(d->s, &res);
}

DtRepair *dt_trial_repair (DtRepairs *out) {
  DtRepair *r = &out->r[out->n++];
  memset(r, 0, sizeof *r);
  return r;
}

/* --- candidates for mixed inputs --- */

void dt_trial_name (const DtFailed *f, int slot, DtBuf *b) {
  int pos, at = dt_slot_index(&f->args, slot);
  const char *arg = dt_slot_arg(&f->args, slot, &pos);
  const char *name = f->said[slot] ? f->said[slot]
                     : f->name[slot] ? f->name[slot] : f->in[slot]->name;
  /* In a method `self` is the module: an input without a name is not it. */
  dt_buf_add(b, name ? name : strcmp(arg, "self") == 0 ? "input" : arg);
  if (name == NULL && at >= 0) dt_buf_addf(b, "[%d]", at);
}

/* The name of an input that becomes the same on all ranks: without one of its
** own, that of what functions in the line made it of does as well. */
static void whole_name (const DtFailed *f, int slot, DtBuf *b) {
  if (!f->said[slot] && !f->name[slot] && f->of[slot])
    dt_buf_add(b, f->of[slot]);
  else dt_trial_name(f, slot, b);
}

/* Can a line of Python say it? */
static bool has_name (const DtFailed *f, int slot, bool whole) {
  return f->said[slot] || f->name[slot] || (whole && f->of[slot]);
}

/* "net.weight = nn.Parameter(": a module takes no other for its parameter, and
** nothing in the line could be replaced. */
static void begin_parameter (const DtFailed *f, int slot, DtBuf *b) {
  if (f->param[slot])
    dt_buf_addf(b, "%s = nn.Parameter(",
                f->name[slot] ? f->name[slot] : f->of[slot]);
}

static void end_parameter (const DtFailed *f, int slot, DtBuf *b) {
  if (f->param[slot]) dt_buf_addc(b, ')');
}

/* Is an input one that stands before it, too: one change is for both. */
static bool is_again (const DtFailed *f, int slot) {
  for (int i = 0; i < slot; i++)
    if (f->in[i] == f->in[slot]) return true;
  return false;
}

static DtVar *first_dist (const DtFailed *f) {
  int i;
  for (i = 0; i < f->nin; i++) if (f->in[i]->spec) return f->in[i];
  return NULL;
}

static bool is_plain_culprit (const DtFailed *f, int slot) {
  return f->in[slot]->spec == NULL
         && dt_meta_numel(dt_var_meta(f->in[slot])) != 1;
}

/* Placements for plain `m` that follow distributed `ref` through broadcasting
** (dims aligned from the right); false when that is all Replicate. */
static bool follow_placements (const DtSpec *ref, const DtMeta *m,
                               DtPlacement *pl) {
  bool any = false;
  int i;
  for (i = 0; i < ref->npl; i++) {
    DtPlacement p = ref->pl[i];
    int dim = p.dim - (ref->meta.ndim - m->ndim);
    pl[i] = dt_pl_replicate();
    if (!dt_pl_is_shard(p) || dim < 0 || dim >= m->ndim) continue;
    if (m->shape[dim] != ref->meta.shape[p.dim]) continue;
    pl[i] = dt_pl_shard(dim);
    any = true;
  }
  return any;
}

/* A distributed input by a name that can be read without running anything of the
** program: a variable or a field, not "rotate_half(q)"; NULL: none. */
static const char *dist_name (const DtFailed *f) {
  int i;
  for (i = 0; i < f->nin; i++)
    if (f->in[i]->spec && dt_failed_is_path(f->name[i])) return f->name[i];
  return NULL;
}

static bool is_named (const DtFailed *f, const DtVar *ref) {
  return ref != NULL && dist_name(f) != NULL;
}

bool dt_trial_is_variable (const char *name) {
  return name != NULL && strpbrk(name, ".[( \"") == NULL;
}

/* distribute_tensor() refuses what autograd made: that is wrapped as it is. */
static const char *wrap_call (const DtTrial *t, int slot) {
  return t->made[slot] ? "DTensor.from_local" : "distribute_tensor";
}

/* Has autograd made one of the plain inputs?  Wrapped as it is, it stays each
** rank's own. */
static bool wraps_made (const DtTrial *t) {
  for (int i = 0; i < t->f->nin; i++)
    if (t->made[i]) return true;
  return false;
}

/* PyTorch looks for a strategy of this operator by trying each placement of each
** input in its decomposition, and again in the operators of that.  With a mask
** that took 14 minutes (PyTorch 2.15, four ranks, inputs of 384 elements); the
** formula, which is taken apart before, is decided at once. */
static bool searches_long (const DtFailed *f) {
  return f->nin > 3 && strcmp(f->op->sig->full, "aten._scaled_dot_product_"
                              "flash_attention_for_cpu.default") == 0;
}

static void add_formula (const DtFailed *f, DtBuf *lua, DtBuf *py) {
  if (!searches_long(f)) return;
  dt_buf_add(lua, "; inside sdpa_kernel(SDPBackend.MATH, function() … end)");
  dt_buf_add(py, "; inside `with sdpa_kernel(SDPBackend.MATH):`");
}

/* A module's parameter is a leaf, whatever the functions of the line made of
** it. */
static void begin_python (const DtFailed *f, int slot, const char *call,
                          DtBuf *py) {
  if (py->len) dt_buf_add(py, "; ");
  begin_parameter(f, slot, py);
  dt_buf_addf(py, "%s(", f->param[slot] ? "distribute_tensor" : call);
  whole_name(f, slot, py);
  dt_buf_add(py, ", mesh, [");
}

static void end_python (const DtFailed *f, int slot, DtBuf *py) {
  dt_buf_add(py, "])");
  end_parameter(f, slot, py);
}

/* One change in Lua, in Python, and as lines that can be run where all inputs are
** variables: the three say the same. */
typedef struct Words { DtBuf lua, py, run; bool named; } Words;

static void words_init (Words *w, DtCtx *cx, bool named) {
  dt_buf_init(&w->lua, cx);
  dt_buf_init(&w->py, cx);
  dt_buf_init(&w->run, cx);
  w->named = named;
}

static void words_fini (Words *w) {
  dt_buf_fini(&w->lua);
  dt_buf_fini(&w->py);
  dt_buf_fini(&w->run);
}

static void keep_words (DtTrial *t, DtRepairs *out, Words *w, DtRepair *r) {
  r->lua = copy_words(t->d, &out->arena, dt_buf_str(&w->lua));
  r->torch = copy_words(t->d, &out->arena, dt_buf_str(&w->py));
  if (w->named) r->apply = copy_words(t->d, &out->arena, dt_buf_str(&w->run));
}

/* Add that plain input `i` is distributed as `pl` says. */
static void add_distribute (const DtTrial *t, int i, int npl, const DtPlacement *pl,
                            Words *w) {
  const DtFailed *f = t->f;
  const char *call = wrap_call(t, i);
  dt_buf_addf(&w->lua, "%s%s(", w->lua.len ? "; " : "", call);
  dt_trial_name(f, i, &w->lua);
  dt_buf_add(&w->lua, ", mesh, \"");
  begin_python(f, i, call, &w->py);
  w->named = w->named && dt_trial_is_variable(f->name[i]);
  if (w->named)
    dt_buf_addf(&w->run, "%s = dt.%s(%s, %s.device_mesh, \"",
                f->name[i], call, f->name[i], dist_name(f));
  for (int k = 0; k < npl; k++) {
    if (k) {
      dt_buf_addc(&w->lua, ' ');
      dt_buf_addc(&w->run, ' ');
      dt_buf_add(&w->py, ", ");
    }
    dt_pl_print(pl[k], &w->lua);
    dt_pl_print(pl[k], &w->run);
    dt_pl_repr(pl[k], &w->py);
  }
  dt_buf_add(&w->lua, "\")");
  dt_buf_add(&w->run, "\"); ");
  end_python(f, i, &w->py);
}

/* Distribute every plain input that is in the way, as shards that follow the
** distributed one (`shard`), else replicated. */
static DtStatus try_distribute (DtTrial *t, DtRepairs *out, bool shard) {
  const DtFailed *f = t->f;
  DtVar *ref = first_dist(f);
  const int npl = ref->spec->npl;
  DtStatus st = DT_OK;
  bool any = false, sayable = true;
  Words w;
  dt_trial_inputs(t, f->in);
  words_init(&w, t->d->s->cx, is_named(f, ref));
  for (int i = 0; i < f->nin && st == DT_OK; i++) {
    DtPlacement pl[DT_MAX_MDIM];
    DtVar *dist = NULL;
    if (!is_plain_culprit(f, i)) continue;
    for (int k = 0; k < npl; k++) pl[k] = dt_pl_replicate();
    if (shard && !t->made[i]
        && follow_placements(ref->spec, dt_var_meta(f->in[i]), pl))
      any = true;
    if (!is_again(f, i)) add_distribute(t, i, npl, pl, &w);
    sayable = sayable && (has_name(f, i, false) || f->of[i] == NULL);
    st = dt_distribute_tensor(t->d->s, t->full[i], ref->spec->mesh, npl, pl, -1,
                              &dist);
    if (st == DT_OK) { dt_var_unref(t->in[i]); t->in[i] = dist; }
  }
  if (st == DT_OK && w.lua.len && (!shard || (any && sayable))) {
    add_formula(f, &w.lua, &w.py);
    DtRepair *r = dt_trial_repair(out);
    keep_words(t, out, &w, r);
    dt_trial_run(t, out, r);
  }
  words_fini(&w);
  return st;
}

char *dt_trial_words (DtTrial *t, DtRepairs *out, const char *text) {
  return copy_words(t->d, &out->arena, text);
}

/* Add that distributed input `i` is gathered. */
static void add_gather (const DtFailed *f, int i, Words *w) {
  if (w->lua.len) dt_buf_add(&w->lua, ", ");
  dt_trial_name(f, i, &w->lua);
  dt_buf_add(&w->lua, ":full_tensor()");
  if (w->py.len) dt_buf_add(&w->py, f->param[i] ? "; " : ", ");
  begin_parameter(f, i, &w->py);
  whole_name(f, i, &w->py);
  dt_buf_add(&w->py, ".full_tensor()");
  end_parameter(f, i, &w->py);
  w->named = w->named && dt_trial_is_variable(f->name[i]);
  if (w->named)
    dt_buf_addf(&w->run, "%s = %s:full_tensor(); ", f->name[i], f->name[i]);
}

/* The repair "gather all, compute on one device": always possible, and the
** dearest, so it is not offered for a parameter that the program has no name
** for once there is another. */
void dt_trial_full (DtTrial *t, DtRepairs *out) {
  const DtFailed *f = t->f;
  DtDebug *d = t->d;
  DtRepair *r;
  Words w;
  int64_t bytes = 0;
  bool sayable = true, param = false;
  for (int i = 0; i < f->nin; i++)
    if (f->in[i]->spec) {
      sayable = sayable && has_name(f, i, true);
      param = param || f->param[i];
    }
  if (param && !sayable && out->n > 0) return;
  r = dt_trial_repair(out);
  words_init(&w, d->s->cx, true);
  dt_trial_inputs(t, t->full);
  for (int i = 0; i < f->nin; i++) {
    DtVar *v = NULL;
    if (f->in[i]->spec == NULL || is_again(f, i)) continue;
    d->muted_bytes = 0;
    if (dt_full_tensor(d->s, f->in[i], NULL, &v) != DT_OK)
      dt_error_clear(d->s->cx);
    dt_var_unref(v);
    bytes += d->muted_bytes;
    add_gather(f, i, &w);
  }
  keep_words(t, out, &w, r);
  dt_trial_run(t, out, r);
  r->bytes += bytes;
  words_fini(&w);
}

/* All distributed inputs gathered.  Where a plain one differs between ranks so
** does the result: one device would have one of them. */
static void try_gathered (DtTrial *t, DtRepairs *out, bool equal) {
  int n = out->n;
  dt_trial_full(t, out);
  if (equal || out->n == n || !dt_repair_good(&out->r[n])) return;
  out->r[n].warned = true;
  out->r[n].note = copy_words(t->d, &out->arena, "the plain tensor differs "
    "between ranks: each rank computes its own");
}

static void try_implicit (DtTrial *t, DtRepairs *out, bool equal) {
  DtDebug *d = t->d;
  DtRepair *r = dt_trial_repair(out);
  bool old = d->s->implicit_replication;
  r->lua = copy_words(d, &out->arena,
                      "dt.implicit_replication(function() … end)");
  r->torch = copy_words(d, &out->arena, "with implicit_replication(): …");
  r->warned = true;
  dt_trial_inputs(t, t->f->in);
  d->s->implicit_replication = true;
  dt_trial_run(t, out, r);
  d->s->implicit_replication = old;
  if (r->verdict == DT_VD_EQUAL || r->verdict == DT_VD_CLOSE)
    r->note = copy_words(d, &out->arena, equal
      ? "equal today; silently wrong if the plain tensor differs per rank"
      : "the plain tensor differs between ranks: each rank computes its own");
}

/* --- candidates for an operator without a rule --- */

/* A repair for an operator without a strategy: the doctor's rule, to be
** registered, after which the call is tried again. Its numbers are equal to
** one device's by the way the doctor finds rules. */
static void try_rule (DtTrial *t, DtRepairs *out) {
  DtDebug *d = t->d;
  DtBuf lua, py, valid;
  dt_buf_init(&lua, d->s->cx);
  dt_buf_init(&py, d->s->cx);
  dt_buf_init(&valid, d->s->cx);
  if (dt_doctor_rule(d, t->f, &lua, &py, &valid)) {
    DtRepair *r = dt_trial_repair(out);
    DtBuf head;
    dt_buf_init(&head, d->s->cx);
    dt_buf_addf(&head, "dt.register_sharding(dt.ops.%s, …)",
                t->f->op->sig->full);
    r->lua = copy_words(d, &out->arena, dt_buf_str(&head));
    if (lua.len > 0) lua.s[lua.len - 1] = ';';     /* its value is no news */
    r->apply = copy_words(d, &out->arena, dt_buf_str(&lua));
    r->torch = copy_words(d, &out->arena, dt_buf_str(&py));
    r->note = copy_words(d, &out->arena, dt_buf_str(&valid));
    r->verdict = DT_VD_EQUAL;
    r->retry = true;
    dt_buf_fini(&head);
  }
  dt_buf_fini(&lua);
  dt_buf_fini(&py);
  dt_buf_fini(&valid);
}

/* --- are the plain inputs the same everywhere? --- */

static void print_groups (const DtGroup *g, char *const *txt, DtBuf *b) {
  int i, j, n = 0;
  for (i = 0; i < g->size; i++) {
    for (j = 0; j < i && strcmp(txt[i], txt[j]) != 0; j++) ;
    if (j < i) continue;
    dt_buf_add(b, n++ ? " | " : "");
    dt_buf_addf(b, "[%d", g->ranks[i]);
    for (j = i + 1; j < g->size; j++)
      if (strcmp(txt[i], txt[j]) == 0) dt_buf_addf(b, ",%d", g->ranks[j]);
    dt_buf_addc(b, ']');
  }
}

/* "ranks 0-3", "ranks 0,2". */
static void print_ranks (const DtGroup *g, DtBuf *b) {
  bool run = g->size > 1 && g->ranks[g->size - 1] - g->ranks[0] == g->size - 1;
  dt_buf_add(b, g->size > 1 ? "ranks " : "rank ");
  if (run) {
    dt_buf_addf(b, "%d-%d", g->ranks[0], g->ranks[g->size - 1]);
    return;
  }
  for (int i = 0; i < g->size; i++)
    dt_buf_addf(b, i ? ",%d" : "%d", g->ranks[i]);
}

/* Text "mask on ranks 0-3: bitwise equal ..." for each plain input; t->made, which
** the ranks agree on. */
static DtStatus compare_plain_inputs (DtTrial *t, DtRepairs *out,
                                      bool *all_equal) {
  DtSession *s = t->d->s;
  const DtFailed *f = t->f;
  DtGroup *g = t->group;
  DtBuf b;
  DtStatus st = DT_OK;
  *all_equal = true;
  dt_buf_init(&b, s->cx);
  for (int i = 0; i < f->nin && st == DT_OK; i++) {
    enum { HEX = 16 };
    char mine[HEX + 2], **txt = NULL;
    bool same = true;
    if (!is_plain_culprit(f, i)) continue;
    snprintf(mine, sizeof mine, "%016llx%s",
             (unsigned long long)dt_vf_hash(f->in[i]->local),
             f->in[i]->grad_fn ? "*" : "");
    st = dt_vf_gather(s, g, mine, &txt);
    if (st != DT_OK) break;
    for (int k = 0; k < g->size; k++) {
      if (strlen(txt[k]) > HEX) {       /* the ranks must try the same repairs */
        t->made[i] = true;
        txt[k][HEX] = '\0';
      }
      same = same && strcmp(txt[0], txt[k]) == 0;
    }
    *all_equal = *all_equal && same;
    if (b.len) dt_buf_addc(&b, '\n');
    dt_trial_name(f, i, &b);
    if (same) {
      dt_buf_add(&b, " on ");
      print_ranks(g, &b);
      dt_buf_add(&b, ": bitwise equal  ->  it can be treated as replicated");
    } else {
      dt_buf_add(&b, " differs between ranks: ");
      print_groups(g, txt, &b);
      dt_buf_add(&b, "  ->  it is not a replicated value");
    }
    dt_vf_gather_free(s, g, txt);
  }
  if (st == DT_OK)
    out->equality = copy_words(t->d, &out->arena, dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}

static bool worth_trying (const DtFailed *f) {
  int64_t n = 0;
  int i;
  if (f->nin > DT_TRIAL_SLOTS || first_dist(f) == NULL) return false;
  for (i = 0; i < f->nin; i++) {
    n += dt_meta_nbytes(dt_var_meta(f->in[i]));
    if (!dt_tensor_has_data(f->in[i]->local)
        && dt_meta_numel(&f->in[i]->local->m) > 0)
      return false;
  }
  return n <= TRY_BYTES;
}

/* Does an optimizer update a list in which plain parameters and distributed ones
** meet?  Assigning others changes nothing: it keeps its own. */
static bool updates_together (const DtFailed *f) {
  const DtSchema *sig = f->op->sig;
  if (strncmp(sig->full, "aten._foreach_", 14) != 0 &&
      strncmp(sig->full, "aten._fused_", 12) != 0) return false;
  for (int i = 0; i < f->nin; i++) {
    int pos;
    (void)dt_slot_arg(&f->args, i, &pos);
    if (f->param[i] && is_plain_culprit(f, i) && pos >= 0 &&
        pos < sig->nargs && sig->arg[pos].write) return true;
  }
  return false;
}

static void advise_one_by_one (DtTrial *t, DtRepairs *out) {
  DtBuf b;
  dt_buf_init(&b, t->d->s->cx);
  dt_buf_addf(&b, "%s\nforeach=False (and no fused=True) where the optimizer is "
              "made updates each parameter by itself: none meets another",
              out->equality ? out->equality : "");
  out->equality = copy_words(t->d, &out->arena, dt_buf_str(&b));
  dt_buf_fini(&b);
}

/* Repairs where plain tensors meet distributed ones; `equal`: the plain ones are
** the same on all ranks. */
static DtStatus try_mixed (DtTrial *t, DtRepairs *out) {
  bool equal = true;
  DtStatus st = compare_plain_inputs(t, out, &equal);
  if (st == DT_OK) st = dt_trial_one_device(t);
  if (st == DT_OK && updates_together(t->f)) advise_one_by_one(t, out);
  else {
    /* A Replicate of what differs between ranks would be wrong without a
    ** word; the trial, which takes rank 0's, would not notice. */
    if (equal || !wraps_made(t)) {
      if (st == DT_OK) st = try_distribute(t, out, true);
      if (st == DT_OK) st = try_distribute(t, out, false);
    }
    if (st == DT_OK) try_gathered(t, out, equal);
  }
  if (st == DT_OK) try_implicit(t, out, equal);
  return st;
}

/* The largest mesh among the inputs'. */
static const DtMesh *trial_mesh (const DtFailed *f) {
  const DtMesh *m = NULL;
  for (int i = 0; i < f->nin; i++) {
    const DtSpec *s = f->in[i]->spec;
    if (s && (m == NULL || dt_mesh_size(s->mesh) > dt_mesh_size(m)))
      m = s->mesh;
  }
  return m;
}

static int by_rank (const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Its ranks, in the world's order; NULL where this one is not among them. */
static DtStatus group_of (DtSession *s, const DtMesh *mesh, DtGroup **out) {
  int64_t n, *all;
  int *ranks;
  DtStatus st;
  *out = NULL;
  if (s->comm == NULL || mesh == NULL || !mesh->member) return DT_OK;
  n = dt_mesh_size(mesh);
  all = DT_NEWN(s->cx, int64_t, n);
  ranks = DT_NEWN(s->cx, int, n);
  st = all && ranks ? DT_OK : DT_E_NOMEM;
  if (st == DT_OK) {
    dt_mesh_ranks(mesh, all);
    for (int64_t i = 0; i < n; i++) ranks[i] = (int)all[i];
    qsort(ranks, (size_t)n, sizeof *ranks, by_rank);
    st = dt_comm_group(s->cx, s->comm, (int)n, ranks, out);
  }
  dt_free(s->cx, all);
  dt_free(s->cx, ranks);
  return st;
}

/* Are all ranks of the mesh here?  The error may be one rank's, which a script
** can catch, and the others go on without it: waiting for them in a trial,
** which they never join, would break off what works. */
static DtStatus all_here (DtTrial *t, bool *all) {
  static const DtCollInfo info = {"repair", 0, "repair", "", ""};
  DtSession *s = t->d->s;
  *all = false;
  DT_TRY(s->cx, group_of(s, trial_mesh(t->f), &t->group));
  return t->group ? dt_comm_stop(s->cx, t->group, &info, all) : DT_OK;
}

static void trial_fini (DtTrial *t) {
  int i;
  for (i = 0; i < DT_TRIAL_SLOTS; i++) {
    dt_var_unref(t->full[i]);
    dt_var_unref(t->in[i]);
  }
  if (t->have_ref) dt_results_fini(t->d->s, &t->ref);
}

/* Which repairs are tried depends on the error's code alone.  Trials run muted,
** so that they are neither recorded nor stopped at, and end with the error
** cleared: a repair that fails is not the program's error.  Collective. */
static DtStatus try_all (DtDebug *d, const DtFailed *f, DtRepairs *out,
                         int want, DtVar **keep) {
  DtTrial t;
  DtMute m;
  DtStatus st = DT_OK;
  bool here;
  memset(out, 0, sizeof *out);
  if ((f->code != DT_E_MIXED && f->code != DT_E_MISSING &&
       f->code != DT_E_CROSSMESH && f->code != DT_E_PROP &&
       f->code != DT_E_INPLACE) || !worth_trying(f))
    return DT_OK;
  memset(&t, 0, sizeof t);
  t.d = d; t.f = f;
  t.want = want;
  t.keep = keep;
  DT_TRY(d->s->cx, all_here(&t, &here));
  if (!here) return DT_OK;
  dt_debug_mute(d, &m);
  if (f->code == DT_E_MIXED) {
    st = try_mixed(&t, out);
  } else if (f->code == DT_E_CROSSMESH) {
    if (dt_repair_meshes_differ(f)) st = dt_repair_join_meshes(&t, out);
  } else if (f->code == DT_E_PROP || f->code == DT_E_INPLACE) {
    st = dt_repair_move(&t, out);
  } else if (dt_trial_one_device(&t) == DT_OK) {
    try_rule(&t, out);
    dt_trial_full(&t, out);
  } else dt_error_clear(d->s->cx);
  trial_fini(&t);
  dt_debug_unmute(d, &m);
  return st;
}

DtStatus dt_repair_try (DtDebug *d, const DtFailed *f, DtRepairs *out) {
  return try_all(d, f, out, 0, NULL);
}

DtStatus dt_repair_inputs (DtDebug *d, const DtFailed *f, int which,
                           DtVar **in) {
  DtRepairs r;
  DtStatus st;
  int i;
  for (i = 0; i < f->nin; i++) in[i] = NULL;
  st = try_all(d, f, &r, which, in);
  dt_repairs_fini(d, &r);
  return st;
}

bool dt_repair_good (const DtRepair *r) {
  return !r->warned && (r->verdict == DT_VD_EQUAL || r->verdict == DT_VD_CLOSE);
}

int dt_repair_nth (const DtRepairs *r, int n) {
  int i;
  for (i = 0; i < r->n; i++)
    if (dt_repair_good(&r->r[i]) && --n == 0) return i;
  return -1;
}

void dt_repairs_fini (DtDebug *d, DtRepairs *r) {
  dt_arena_fini(d->s->cx, &r->arena);
  memset(r, 0, sizeof *r);
}
