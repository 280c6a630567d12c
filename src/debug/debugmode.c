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

struct DtTrace {
  DtSession *s;
  DtBuf b;
  int id;
  int level;                    /* of the line to come, in units of 2 blanks */
  bool dist;                    /* inside a distributed operator */
  bool said_output;
};

static void add_indent (DtTrace *t, int level) {
  int i;
  for (i = 0; i < level; i++) dt_buf_add(&t->b, "  ");
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

static void print_call (DtTrace *t, const DtEvent *e, bool local) {
  Slots p = { e, local };
  const DtArgs *a = e->args;
  int i;
  print_name(e->op, &t->b);
  dt_buf_addc(&t->b, '(');
  for (i = 0; i < a->npos; i++) {
    if (i) dt_buf_add(&t->b, ", ");
    dt_value_print(&a->v[i], slot_print, &p, &t->b);
  }
  for (; i < a->n; i++) {
    if (!(a->given >> i & 1u)) continue;
    dt_buf_addf(&t->b, "%s%s=", i ? ", " : "", a->schema->arg[i].name);
    dt_value_print(&a->v[i], slot_print, &p, &t->b);
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
  if (p == NULL || !p->needs_redist || t->said_output) return;
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

static void on_kernel (DtTrace *t, const DtEvent *e) {
  add_indent(t, t->dist ? t->level : 2);
  print_call(t, e, true);
}

static void on_kernel_end (DtTrace *t, const DtEvent *e) {
  int i;
  dt_buf_add(&t->b, "  ->  ");
  if (e->nlout != 1) dt_buf_addc(&t->b, '[');
  for (i = 0; i < e->nlout; i++) {
    if (i) dt_buf_add(&t->b, ", ");
    if (e->nlout != 1) dt_buf_addc(&t->b, '\'');
    dt_buf_add(&t->b, "t: ");
    if (e->lout[i]) dt_meta_print(&e->lout[i]->m, &t->b);
    if (e->nlout != 1) dt_buf_addc(&t->b, '\'');
  }
  if (e->nlout != 1) dt_buf_addc(&t->b, ']');
  dt_buf_addc(&t->b, '\n');
}

static void on_redist (DtTrace *t, const DtEvent *e) {
  add_indent(t, t->level);
  dt_buf_addf(&t->b, "redistribute_input [%s] (", e->implicit ? "implicit"
                                                              : "explicit");
  if (e->implicit) {
    dt_buf_addf(&t->b, "%d, ", e->slot);
    dt_spec_print_placements(e->plan->src, &t->b);
    dt_buf_add(&t->b, " -> ");
    dt_spec_print_placements(e->plan->dst, &t->b);
  } else {
    dt_buf_add(&t->b, "trace: ");
    dt_plan_print(e->plan, &t->b);
  }
  dt_buf_add(&t->b, ")\n");
  t->level++;
}

static void on_coll (DtTrace *t, const DtEvent *e) {
  add_indent(t, t->level);
  dt_buf_addf(&t->b, "%s(%lld B -> %lld B, %d ranks%s%s)\n", e->coll,
              (long long)e->bytes_in, (long long)e->bytes_out, e->ngroup,
              e->reduce ? ", " : "", e->reduce ? e->reduce : "");
}

static DtStatus on_event (void *ud, DtSession *s, const DtEvent *e) {
  DtTrace *t = (DtTrace *)ud;
  (void)s;
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
    case DT_EV_PROP: print_output(t, e->prop); break;
    case DT_EV_REDIST: on_redist(t, e); break;
    case DT_EV_REDIST_END: if (t->level > 1) t->level--; break;
    case DT_EV_COLL: on_coll(t, e); break;
    case DT_EV_KERNEL: on_kernel(t, e); break;
    case DT_EV_KERNEL_END: on_kernel_end(t, e); break;
    case DT_EV_OP_END: t->dist = false; t->level = 1; break;
    default: break;
  }
  return DT_OK;
}

DtStatus dt_trace_new (DtSession *s, DtTrace **out) {
  DtTrace *t = DT_NEW(s->cx, DtTrace);
  DtStatus st;
  if (t == NULL) return DT_E_NOMEM;
  t->s = s;
  t->level = 1;
  dt_buf_init(&t->b, s->cx);
  st = dt_event_listen(s, (UINT64_C(1) << DT_NEVENTS) - 1, on_event, t, &t->id);
  if (st != DT_OK) { dt_free(s->cx, t); return st; }
  *out = t;
  return DT_OK;
}

void dt_trace_free (DtSession *s, DtTrace *t) {
  if (t == NULL) return;
  dt_event_unlisten(s, t->id);
  dt_buf_fini(&t->b);
  dt_free(s->cx, t);
}

const char *dt_trace_text (const DtTrace *t) { return dt_buf_str(&t->b); }
