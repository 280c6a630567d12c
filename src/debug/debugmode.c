/* SPDX-License-Identifier: MIT
** debug/debugmode.c: DebugMode's notation.
**
**   aten::mm(dt: f32[8, 5]| R, dt: f32[5, 32]| S(1))
**     -> output: P(sum)
**     redistribute_input [implicit] (1, S(1) -> R)
**       redistribute_input(t: f32[5, 8], trace: S(1)->R)
**         _c10d_functional::all_gather_into_tensor(...)  ->  t: f32[20, 8]
**     aten::mm(t: f32[8, 5], t: f32[5, 32])  ->  t: f32[8, 32]
**
** A distributed operator is at level 1, what it does one deeper; a plain
** operator stands where a local one would, at level 2. */
#include "debug/debugmode.h"

#include <string.h>
#include "engine/session.h"
#include "mesh/layout.h"

struct DtTrace {
  DtSession *s;
  DtBuf b;
  int id;
  int level;                    /* of the line to come, in units of 2 blanks */
  int labels;                   /* that are open around it */
  bool outputs;                 /* results are written */
  int moving;                   /* redistributions that are under way */
  DtMeta waited;                /* whose wait_tensor is not written yet */
  bool waits;
  bool dist;                    /* inside a distributed operator */
  bool said_output;
  bool torch;                   /* to the letter */
  DtBuf tail;                   /* the line behind an operator in place */
};

static void add_indent (DtTrace *t, int level) {
  int i;
  for (i = 0; i < level + t->labels; i++) dt_buf_add(&t->b, "  ");
}

typedef struct Slots { const DtEvent *e; bool local; } Slots;

static void slot_print (void *ud, int slot, DtBuf *b) {
  const Slots *p = (const Slots *)ud;
  if (p->local) {
    dt_buf_add(b, "t: ");
    if (slot < p->e->nlocal && p->e->local[slot])
      dt_meta_print(&p->e->local[slot]->m, b);
  } else if (slot < p->e->nin && p->e->in[slot])
    dt_var_print(p->e->in[slot], b);
}

static void print_name (const DtOpDef *op, DtBuf *b) {
  dt_buf_addf(b, "%s::%s", op->sig->ns, op->sig->base);
  if (strcmp(op->sig->overload, "default") != 0)
    dt_buf_addf(b, ".%s", op->sig->overload);
}

/* A tensor in a list is a text there, between quotes. */
static void quoted_print (void *ud, int slot, DtBuf *b) {
  dt_buf_addc(b, '\'');
  slot_print(ud, slot, b);
  dt_buf_addc(b, '\'');
}

/* The dispatcher leaves out what is the schema's default: at the end of what is
** given by position, and anywhere by name. */
static bool is_default (const DtArgs *a, int i) {
  const DtArgDef *d = &a->schema->arg[i];
  return d->has_default && dt_value_equal(&a->v[i], &d->dflt);
}

static void print_value (const DtTrace *t, const DtArgs *a, int i, Slots *p,
                         DtBuf *b) {
  const DtValue *v = &a->v[i];
  bool one = a->schema->arg[i].list &&
             (v->kind == DT_V_INT || v->kind == DT_V_FLOAT);
  if (!t->torch) {
    dt_value_print(v, slot_print, p, b);
    return;
  }
  if (one) dt_buf_addc(b, '[');         /* a number where a list may stand */
  dt_value_print(v, v->kind == DT_V_TENSOR ? slot_print : quoted_print, p, b);
  if (one) dt_buf_addc(b, ']');
}

/* What the functions of torch always give: pin_memory, and the device of what is
** made from nothing. */
static const char *set_by_binding (const DtOpDef *op, const char *name) {
  if (strcmp(op->sig->base, "_to_copy") == 0) return NULL;
  if (strcmp(name, "pin_memory") == 0) return "False";
  if (strcmp(name, "device") == 0 && (op->flags & DT_OP_FACTORY) != 0) return "cpu";
  return NULL;
}

static void print_call (DtTrace *t, const DtEvent *e, bool local) {
  Slots p = { e, local };
  const DtArgs *a = e->args;
  int i, npos = a->npos;
  while (t->torch && npos > 0 && is_default(a, npos - 1)) npos--;
  print_name(e->op, &t->b);
  dt_buf_addc(&t->b, '(');
  for (i = 0; i < npos; i++) {
    if (i) dt_buf_add(&t->b, ", ");
    print_value(t, a, i, &p, &t->b);
  }
  for (i = a->npos; i < a->n; i++) {
    const char *name = a->schema->arg[i].name;
    const char *set = t->torch && !(a->given >> i & 1u)
                      ? set_by_binding(e->op, name) : NULL;
    if (set == NULL && (!(a->given >> i & 1u) || (t->torch && is_default(a, i))))
      continue;
    dt_buf_addf(&t->b, "%s%s=", npos > 0 ? ", " : "", name);
    if (set != NULL) dt_buf_add(&t->b, set);
    else print_value(t, a, i, &p, &t->b);
    npos++;
  }
  dt_buf_addc(&t->b, ')');
}

static bool any_dist (const DtEvent *e) {
  int i;
  for (i = 0; i < e->nin; i++)
    if (e->in[i] && e->in[i]->spec) return true;
  return false;
}

/* "-> output: P(sum)" when an input was moved. */
static void print_output (DtTrace *t, const DtProp *p) {
  int i, shown = 0;
  t->said_output = true;
  add_indent(t, t->level);
  dt_buf_add(&t->b, "-> output: ");
  if (p->nout > 1) dt_buf_addc(&t->b, '(');
  for (i = 0; i < p->nout; i++) {
    if (shown++) dt_buf_add(&t->b, ", ");
    if (p->nout > 1) dt_buf_addc(&t->b, '\'');
    if (p->out[i]) dt_spec_print_placements(p->out[i], &t->b);
    else dt_buf_add(&t->b, "None");
    if (p->nout > 1) dt_buf_addc(&t->b, '\'');
  }
  if (p->nout > 1) dt_buf_addc(&t->b, ')');
  dt_buf_addc(&t->b, '\n');
}

/* Before what is moved, and behind an operator in place. */
static void on_prop (DtTrace *t, const DtEvent *e) {
  const DtProp *p = e->prop;
  if (p == NULL || t->said_output || !t->outputs) return;
  if (p->needs_redist) print_output(t, p);
  if (t->torch && t->dist && p->op != NULL &&
      (p->op->flags & DT_OP_INPLACE) != 0) {
    DtBuf lines = t->b;
    t->b = t->tail;
    print_output(t, p);
    t->tail = t->b;
    t->b = lines;
  }
}

static void on_op_end (DtTrace *t) {
  if (t->tail.len > 0) {
    dt_buf_add(&t->b, dt_buf_str(&t->tail));
    dt_buf_clear(&t->tail);
  }
  t->dist = false;
  t->level = 1;
}

static void on_kernel (DtTrace *t, const DtEvent *e) {
  bool inside = t->dist || (t->torch && t->moving > 0);
  add_indent(t, inside ? t->level : 2);
  print_call(t, e, true);
}

static void on_kernel_end (DtTrace *t, const DtEvent *e) {
  /* Several results are a tuple, a list of tensors is a list. */
  bool tuple = t->torch && e->op != NULL && !e->op->sig->returns_list;
  int i;
  if (!t->outputs) {
    dt_buf_addc(&t->b, '\n');
    return;
  }
  dt_buf_add(&t->b, "  ->  ");
  if (e->nlout != 1) dt_buf_addc(&t->b, tuple ? '(' : '[');
  for (i = 0; i < e->nlout; i++) {
    if (i) dt_buf_add(&t->b, ", ");
    if (e->nlout != 1) dt_buf_addc(&t->b, '\'');
    dt_buf_add(&t->b, "t: ");
    if (e->lout[i]) dt_meta_print(&e->lout[i]->m, &t->b);
    if (e->nlout != 1) dt_buf_addc(&t->b, '\'');
  }
  if (e->nlout != 1) dt_buf_addc(&t->b, tuple ? ')' : ']');
  dt_buf_addc(&t->b, '\n');
}

/* "(t: f32[8, 2], trace: S(1)->R)": the local tensor and the way it takes. */
static void print_way (DtTrace *t, const DtEvent *e) {
  DtMeta m;
  dt_buf_addc(&t->b, '(');
  if (t->torch) {
    if (dt_layout_local_meta(t->s->cx, e->plan->src, NULL, &m) == DT_OK) {
      dt_buf_add(&t->b, "t: ");
      dt_meta_print(&m, &t->b);
      dt_buf_add(&t->b, ", ");
    } else {
      dt_error_clear(t->s->cx);
    }
  }
  dt_buf_add(&t->b, "trace: ");
  dt_plan_print(e->plan, &t->b);
  dt_buf_add(&t->b, ")\n");
}

static void on_redist (DtTrace *t, const DtEvent *e) {
  bool bare = t->torch && !e->implicit && e->plan->nsteps == 0;
  t->moving++;
  if (t->torch && !t->dist) t->level++;         /* where a local call stands */
  add_indent(t, t->level);
  dt_buf_add(&t->b, "redistribute_input");
  if (!bare) dt_buf_addf(&t->b, " [%s] ", e->implicit ? "implicit" : "explicit");
  if (e->implicit) {
    dt_buf_addf(&t->b, "(%d, ", e->slot);
    dt_spec_print_placements(e->plan->src, &t->b);
    dt_buf_add(&t->b, " -> ");
    dt_spec_print_placements(e->plan->dst, &t->b);
    dt_buf_add(&t->b, ")\n");
    t->level++;
    if (!t->torch) return;
    add_indent(t, t->level);
    dt_buf_add(&t->b, "redistribute_input");
  }
  print_way(t, e);
  t->level++;
}

/* One that began below the operator's own level ends above it. */
static void on_redist_end (DtTrace *t, const DtEvent *e) {
  int opened = 1 + (t->torch && e->implicit) + (t->torch && !t->dist);
  t->level -= opened < t->level ? opened : t->level - 1;
  if (t->moving > 0) t->moving--;
}

static void add_result (DtTrace *t, const DtMeta *m) {
  if (t->outputs) {
    dt_buf_add(&t->b, "  ->  t: ");
    dt_meta_print(m, &t->b);
  }
  dt_buf_addc(&t->b, '\n');
}

static void print_after (DtTrace *t, const char *name, const DtMeta *m) {
  add_indent(t, t->level);
  dt_buf_addf(&t->b, "_c10d_functional::%s(t: ", name);
  dt_meta_print(m, &t->b);
  dt_buf_addc(&t->b, ')');
  add_result(t, m);
}

/* A redistribution takes the padding off before it waits: a slice of what is
** under way is a view, and what is waited for is the view.  narrow, as it is
** called inside an operator, waits by itself, unseen. */
static void before_wait (DtTrace *t, const DtEvent *e) {
  bool slice = (e->kind == DT_EV_KERNEL || e->kind == DT_EV_KERNEL_END) &&
               strcmp(e->op->sig->base, "slice") == 0;
  bool prints = slice || e->kind == DT_EV_KERNEL || e->kind == DT_EV_COLL ||
                e->kind == DT_EV_OP || e->kind == DT_EV_REDIST_END;
  if (!t->waits || !prints || (slice && e->kind == DT_EV_KERNEL)) return;
  if (slice) {
    dt_meta_copy(&t->waited, &e->lout[0]->m);
    on_kernel_end(t, e);
  }
  t->waits = false;
  if (e->kind == DT_EV_KERNEL && strcmp(e->op->sig->base, "narrow") == 0) return;
  print_after(t, "wait_tensor", &t->waited);
}

/* "_c10d_functional::NAME(t: f32[2, 8], sum, 4, GROUP)  ->  t: f32[8, 8]", and the
** two operators that wait for it. */
static void print_functional (DtTrace *t, const DtEvent *e) {
  bool counted = strcmp(e->coll, "all_reduce") != 0;
  int i;
  add_indent(t, t->level);
  dt_buf_addf(&t->b, "_c10d_functional::%s(t: ", e->coll);
  dt_meta_print(&e->lout[0]->m, &t->b);
  if (e->reduce) dt_buf_addf(&t->b, ", %s", e->reduce);
  if (counted) dt_buf_addf(&t->b, ", %d", e->ngroup);
  dt_buf_add(&t->b, ", \1");
  for (i = 0; i < e->ngroup; i++)
    dt_buf_addf(&t->b, "%s%d", i > 0 ? " " : "", e->group[i]);
  dt_buf_add(&t->b, "\1)");
  add_result(t, &e->lout[1]->m);
  print_after(t, "_wrap_tensor_autograd", &e->lout[1]->m);
  t->waits = true;
  dt_meta_copy(&t->waited, &e->lout[1]->m);
  if (t->moving == 0) before_wait(t, e);
}

/* "c10d::broadcast_(['t: f32[8]'], ScriptObject <…>, 0, 0, False)  ->  (…)"; the
** root of scatter_ gives a list of lists, made for it. */
static void print_c10d (DtTrace *t, const DtEvent *e) {
  static const char object[] = "ScriptObject <__torch__.torch.classes.c10d.";
  bool scatter = strcmp(e->coll, "scatter_") == 0;
  bool mine = scatter && e->group[e->slot] == e->mesh->my_rank;
  DtBuf m;
  int i;
  dt_buf_init(&m, t->s->cx);
  dt_meta_print(&e->lout[1]->m, &m);
  if (scatter) {
    add_indent(t, 2);
    dt_buf_addf(&t->b, "aten::empty_like(t: %s, pin_memory=False)",
                dt_buf_str(&m));
    add_result(t, &e->lout[1]->m);
  }
  add_indent(t, 2);
  dt_buf_addf(&t->b, "c10d::%s(['t: %s'], ", e->coll, dt_buf_str(&m));
  if (scatter) {
    dt_buf_add(&t->b, mine ? "[[" : "[");
    for (i = 0; mine && i < e->ngroup; i++)
      dt_buf_addf(&t->b, "%s't: %s'", i > 0 ? ", " : "", dt_buf_str(&m));
    dt_buf_add(&t->b, mine ? "]], " : "], ");
  }
  dt_buf_addf(&t->b, "%sProcessGroup>, %d, %sFalse)", object, e->slot,
              scatter ? "" : "0, ");
  if (t->outputs)
    dt_buf_addf(&t->b, "  ->  (['t: %s'], '%sWork>')", dt_buf_str(&m), object);
  dt_buf_addc(&t->b, '\n');
  dt_buf_fini(&m);
}

/* What they do to the plain tensor shows as a call of its own. */
static void on_func (DtTrace *t, const DtEvent *e) {
  const DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  bool view = e->text != NULL && (strcmp(e->text, "dtensor.to_local") == 0 ||
                                  strcmp(e->text, "dtensor.from_local") == 0);
  bool detach = e->text != NULL && strcmp(e->text, "distribute_tensor") == 0;
  const DtMeta *m;
  int i;
  if (!t->torch || v == NULL || !(view || detach)) return;
  m = &v->local->m;
  add_indent(t, 2);
  dt_buf_add(&t->b, view ? "aten::view(t: " : "aten::detach(t: ");
  dt_meta_print(m, &t->b);
  if (view) {
    dt_buf_add(&t->b, ", [");
    for (i = 0; i < m->ndim; i++)
      dt_buf_addf(&t->b, "%s%lld", i > 0 ? ", " : "", (long long)m->shape[i]);
    dt_buf_addc(&t->b, ']');
  }
  dt_buf_addc(&t->b, ')');
  add_result(t, m);
}

static void on_coll (DtTrace *t, const DtEvent *e) {
  static const char *const functional[] = { "all_reduce",
    "all_gather_into_tensor", "reduce_scatter_tensor" };
  for (int i = 0; t->torch && e->nlout == 2 && i < 3; i++)
    if (strcmp(e->coll, functional[i]) == 0) {
      print_functional(t, e);
      return;
    }
  if (t->torch && e->nlout == 2 && (strcmp(e->coll, "broadcast_") == 0 ||
                                    strcmp(e->coll, "scatter_") == 0)) {
    print_c10d(t, e);
    return;
  }
  add_indent(t, t->level);
  dt_buf_addf(&t->b, "%s(%lld B -> %lld B, %d ranks%s%s)\n", e->coll,
              (long long)e->bytes_in, (long long)e->bytes_out, e->ngroup,
              e->reduce ? ", " : "", e->reduce ? e->reduce : "");
}

/* "[record function] Optimizer.step#SGD.step": what is inside stands deeper. */
static void on_label (DtTrace *t, const DtEvent *e) {
  if (!t->torch) return;
  add_indent(t, 1);
  dt_buf_addf(&t->b, "[record function] %s\n", e->text);
  t->labels++;
}

static DtStatus on_event (void *ud, DtSession *s, const DtEvent *e) {
  DtTrace *t = (DtTrace *)ud;
  bool waits = t->waits;
  (void)s;
  before_wait(t, e);
  if (waits && !t->waits && e->kind == DT_EV_KERNEL_END) return DT_OK;
  switch (e->kind) {
    case DT_EV_OP:
      t->dist = any_dist(e);
      t->said_output = false;
      t->level = 1;
      if (t->dist) {
        add_indent(t, 1);
        print_call(t, e, false);
        dt_buf_addc(&t->b, '\n');
        t->level = 2;
      }
      break;
    case DT_EV_FUNC: on_func(t, e); break;
    case DT_EV_PROP: on_prop(t, e); break;
    case DT_EV_REDIST: on_redist(t, e); break;
    case DT_EV_REDIST_END: on_redist_end(t, e); break;
    case DT_EV_COLL: on_coll(t, e); break;
    case DT_EV_KERNEL: on_kernel(t, e); break;
    case DT_EV_KERNEL_END: on_kernel_end(t, e); break;
    case DT_EV_OP_END: on_op_end(t); break;
    case DT_EV_LABEL: on_label(t, e); break;
    case DT_EV_LABEL_END: if (t->labels > 0) t->labels--; break;
    default: break;
  }
  return DT_OK;
}

DtStatus dt_trace_new (DtSession *s, bool torch, bool outputs, DtTrace **out) {
  DtTrace *t = DT_NEW(s->cx, DtTrace);
  DtStatus st;
  if (t == NULL) return DT_E_NOMEM;
  t->s = s;
  t->level = 1;
  t->torch = torch;
  t->outputs = outputs;
  dt_buf_init(&t->b, s->cx);
  dt_buf_init(&t->tail, s->cx);
  st = dt_event_listen(s, (UINT64_C(1) << DT_NEVENTS) - 1, on_event, t, &t->id);
  if (st != DT_OK) { dt_free(s->cx, t); return st; }
  *out = t;
  return DT_OK;
}

void dt_trace_free (DtSession *s, DtTrace *t) {
  if (t == NULL) return;
  dt_event_unlisten(s, t->id);
  dt_buf_fini(&t->b);
  dt_buf_fini(&t->tail);
  dt_free(s->cx, t);
}

const char *dt_trace_text (const DtTrace *t) { return dt_buf_str(&t->b); }
