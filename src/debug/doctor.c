/* SPDX-License-Identifier: MIT
** debug/doctor.c: for an operator without rules: which shardings are valid?
**
** A candidate row shards dim d of every input that has the first tensor's size
** there, and every output on the dim that has the parts' sizes when the operator
** runs on parts; all else is Replicate.  It is tried on the real (gathered)
** inputs: cut in two parts, the operator run on each, the parts put
** together and compared with the whole.  What holds is
** written as register_sharding, in Lua and in Python. */
#include <string.h>
#include "debug/debug.h"

enum { MAX_IN = 32, MAX_OUT = 16, MAX_DIM = 8 };

typedef struct Doc {
  DtDebug *d;
  const DtFailed *f;
  DtVar *full[MAX_IN];
  DtResults ref;
  bool held[MAX_DIM];
  bool in_shard[MAX_DIM][MAX_IN];
  int out_dim[MAX_DIM][MAX_OUT];        /* -1: Replicate */
  char *why[MAX_DIM];           /* why a row does not hold */
  DtArena arena;
} Doc;

static DtStatus narrow_dim (DtSession *s, DtVar *v, int dim, int64_t a,
                            int64_t n, DtVar **out) {
  return dt_call_fmt(s, out, "aten.slice.Tensor", "tiiii", v, (int64_t)dim, a,
                     a + n, (int64_t)1);
}

/* Marks which inputs a row on dim `k` shards. */
static void shape_row (Doc *c, int k) {
  const DtMeta *m0 = dt_var_meta(c->full[0]);
  int i;
  for (i = 0; i < c->f->nin; i++) {
    const DtMeta *m = dt_var_meta(c->full[i]);
    c->in_shard[k][i] = m->ndim == m0->ndim && m->shape[k] == m0->shape[k];
  }
}

/* The dim in which a part of n of `size` is smaller than the whole; -1: none,
** -2: it is no part. */
static int part_dim (const DtMeta *part, const DtMeta *whole, int64_t n,
                     int64_t size) {
  int dim = -1;
  if (part->ndim != whole->ndim) return -2;
  for (int d = 0; d < part->ndim; d++) {
    if (part->shape[d] == whole->shape[d]) continue;
    if (dim >= 0 || part->shape[d] != n || whole->shape[d] != size) return -2;
    dim = d;
  }
  return dim;
}

/* Run on the part [a, a+n) and compare with that part of the whole.  The
** first part (a == 0) says on which dim an output is sharded, the second has
** to agree. Bits may differ where the operator adds in another order on a
** part: 1e-4 is allowed for that, and a NaN in the difference fails. */
static DtStatus try_part (Doc *c, int k, int64_t a, int64_t n, bool *same) {
  DtSession *s = c->d->s;
  DtVar *in[MAX_IN] = {0};
  DtResults r;
  DtStatus st = DT_OK;
  int i;
  memset(&r, 0, sizeof r);
  for (i = 0; i < c->f->nin && st == DT_OK; i++) {
    if (c->in_shard[k][i]) st = narrow_dim(s, c->full[i], k, a, n, &in[i]);
    else in[i] = dt_var_ref(c->full[i]);
  }
  if (st == DT_OK)
    st = dt_call(s, c->f->op, &c->f->args, c->f->nin, in, &r);
  for (i = 0; st == DT_OK && i < r.n && i < MAX_OUT; i++) {
    DtVar *v = dt_result(&r, i), *w = dt_result(&c->ref, i), *part = NULL;
    DtVar *eq = NULL;
    int dim;
    if (v == NULL || w == NULL) continue;
    dim = part_dim(dt_var_meta(v), dt_var_meta(w), n,
                   dt_var_meta(c->full[0])->shape[k]);
    if (a == 0) c->out_dim[k][i] = dim;
    if (dim == -2 || dim != c->out_dim[k][i]) { *same = false; continue; }
    if (dim < 0) { *same = *same && dt_tensor_identical(v->local, w->local);
                   continue; }
    st = narrow_dim(s, w, dim, a, n, &part);
    if (st == DT_OK && !dt_tensor_identical(part->local, v->local)) {
      DtVar *diff = NULL, *worst = NULL;
      DtScalar x = dt_scalar_float(1);
      st = dt_call_fmt(s, &diff, "aten.sub.Tensor", "tt", v, part);
      if (st == DT_OK)
        st = dt_call_fmt(s, &eq, "aten.abs.default", "t", diff);
      if (st == DT_OK)
        st = dt_call_fmt(s, &worst, "aten.max.default", "t", eq);
      if (st == DT_OK) st = dt_tensor_item(s->cx, worst->local, &x);
      *same = *same && st == DT_OK && x.re <= 1e-4;
      dt_var_unref(diff);
      dt_var_unref(worst);
    }
    dt_var_unref(eq);
    dt_var_unref(part);
  }
  dt_results_fini(s, &r);
  for (i = 0; i < c->f->nin; i++) dt_var_unref(in[i]);
  return st;
}

/* An operator that refuses a part is an answer (`why`), not an error of the
** doctor's: it is cleared. */
static void try_row (Doc *c, int k) {
  int64_t size = dt_var_meta(c->full[0])->shape[k];
  int64_t half = size / 2 + size % 2;
  bool same = true;
  DtStatus st;
  shape_row(c, k);
  for (int i = 0; i < MAX_OUT; i++) c->out_dim[k][i] = -1;
  if (size < 2) { c->why[k] = NULL; return; }
  st = try_part(c, k, 0, half, &same);
  if (st == DT_OK) st = try_part(c, k, half, size - half, &same);
  if (st != DT_OK) {
    c->why[k] = dt_arena_strdup(c->d->s->cx, &c->arena,
                                dt_buf_str(&c->d->s->cx->err.message));
    dt_error_clear(c->d->s->cx);
  } else if (!same)
    c->why[k] = dt_arena_strdup(c->d->s->cx, &c->arena,
                                "the parts differ from the whole");
  c->held[k] = st == DT_OK && same;
}

/* "S(0), S(0), R" for the inputs or outputs of row k (-1: all Replicate). */
static void print_side (const Doc *c, int k, bool out, bool python, DtBuf *b) {
  const DtSchema *sig = c->f->op->sig;
  int n = out ? sig->nrets : c->f->args.n, i, first = 1;
  for (i = 0; i < n; i++) {
    const char *none = python ? "None" : "dt.None";
    bool tensor = true;
    int dim = -1;
    if (out) {
      tensor = sig->ret[i].type == DT_T_TENSOR;
      if (tensor && k >= 0 && i < MAX_OUT) dim = c->out_dim[k][i];
    } else {
      int slot = dt_arg_slot(&c->f->args, i);
      if (i >= c->f->args.npos) break;
      tensor = slot >= 0;
      if (tensor && k >= 0 && c->in_shard[k][slot]) dim = k;
    }
    dt_buf_add(b, first ? "" : ", ");
    first = 0;
    if (!tensor) dt_buf_add(b, none);
    else if (dim >= 0) dt_buf_addf(b, "Shard(%d)", dim);
    else dt_buf_add(b, "Replicate()");
  }
}

static void print_rule (const Doc *c, bool python, const char *indent,
                        DtBuf *b) {
  const char *o = python ? "[" : "{", *e = python ? "]" : "}";
  int k, last = c->full[0] ? dt_var_meta(c->full[0])->ndim : 0;
  for (k = -1; k < last && k < MAX_DIM; k++) {
    if (k >= 0 && !c->held[k]) continue;
    dt_buf_addf(b, "%s  %s%s", indent, python ? "(" : "{", o);
    print_side(c, k, true, python, b);
    dt_buf_addf(b, "%s, %s", e, o);
    print_side(c, k, false, python, b);
    dt_buf_addf(b, "%s%s,\n", e, python ? ")" : "}");
  }
}

/* The whole call of register_sharding, each line after `indent`. */
static void print_registration (const Doc *c, bool python, const char *indent,
                                DtBuf *b) {
  const char *name = c->f->op->sig->full;
  if (python)
    dt_buf_addf(b, "%s@register_sharding(torch.ops.%s)\n"
                "%sdef rule(*args):\n%s  return [\n", indent, name, indent,
                indent);
  else
    dt_buf_addf(b, "%sdt.register_sharding(dt.ops.%s, function(...)\n"
                "%s  return {\n", indent, name, indent);
  print_rule(c, python, indent, b);
  dt_buf_addf(b, python ? "%s  ]\n" : "%s  }\n", indent);
  if (!python) dt_buf_addf(b, "%send)\n", indent);
}

static void print_report (const Doc *c, DtBuf *b) {
  int k, n = dt_var_meta(c->full[0])->ndim;
  dt_buf_add(b, "  doctor (tried on these inputs, cut in two parts):\n");
  dt_buf_add(b, "    all Replicate   valid\n");
  for (k = 0; k < n && k < MAX_DIM; k++)
    dt_buf_addf(b, "    Shard(%d)        %s%s%.60s\n", k,
                c->held[k] ? "valid" : "not valid",
                c->why[k] ? ": " : "", c->why[k] ? c->why[k] : "");
  dt_buf_add(b, "  fixes:\n    1 register a rule:\n");
  print_registration(c, false, "      ", b);
  dt_buf_add(b, "      in PyTorch:\n");
  print_registration(c, true, "      ", b);
  dt_buf_add(b, "    2 run it on plain tensors: full_tensor() "
             "before, distribute_tensor() after (loses the sharding)\n");
}

static void doc_fini (Doc *c) {
  int i;
  for (i = 0; i < MAX_IN; i++) dt_var_unref(c->full[i]);
  dt_results_fini(c->d->s, &c->ref);
  dt_arena_fini(c->d->s->cx, &c->arena);
}

/* Not in place: the trials would write into the user's tensors. */
static bool can_examine (const DtFailed *f) {
  if (f->nin < 1 || f->nin > MAX_IN || f->op->sig->inplace) return false;
  for (int i = 0; i < f->nin; i++)
    if (!dt_tensor_has_data(f->in[i]->local)
        && dt_meta_numel(&f->in[i]->local->m) > 0)
      return false;
  return true;
}

/* Try every row; false when the operator itself does not run. */
static bool try_rows (Doc *c) {
  DtDebug *d = c->d;
  const DtFailed *f = c->f;
  DtStatus st = DT_OK;
  for (int i = 0; i < f->nin && st == DT_OK; i++) {
    if (f->in[i]->spec)
      st = dt_full_tensor(d->s, f->in[i], NULL, &c->full[i]);
    else c->full[i] = dt_var_ref(f->in[i]);
  }
  if (st == DT_OK)
    st = dt_call(d->s, f->op, &f->args, f->nin, c->full, &c->ref);
  if (st != DT_OK) {
    dt_error_clear(d->s->cx);
    return false;
  }
  int n = dt_var_meta(c->full[0])->ndim;
  for (int k = 0; k < n && k < MAX_DIM; k++) try_row(c, k);
  return true;
}

bool dt_doctor_text (DtDebug *d, const DtFailed *f, DtBuf *out) {
  Doc c;
  DtMute m;
  bool any = false;
  if (!can_examine(f)) return false;
  memset(&c, 0, sizeof c);
  c.d = d; c.f = f;
  dt_debug_mute(d, &m);
  if (try_rows(&c)) print_report(&c, out);
  for (int k = 0; k < MAX_DIM; k++) any = any || c.held[k];
  doc_fini(&c);
  dt_debug_unmute(d, &m);
  return any;
}

bool dt_doctor_rule (DtDebug *d, const DtFailed *f, DtBuf *lua, DtBuf *torch,
                     DtBuf *valid) {
  Doc c;
  if (!can_examine(f)) return false;
  memset(&c, 0, sizeof c);
  c.d = d; c.f = f;
  bool ran = try_rows(&c);
  if (ran) {
    print_registration(&c, false, "", lua);
    print_registration(&c, true, "", torch);
    dt_buf_add(valid, "valid on these inputs: all Replicate");
    for (int k = 0; k < MAX_DIM; k++)
      if (c.held[k]) dt_buf_addf(valid, ", S(%d)", k);
  }
  doc_fini(&c);
  return ran;
}
