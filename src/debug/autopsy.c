/* SPDX-License-Identifier: MIT
** debug/autopsy.c: the report on a failed call, as a person reads it: every
** argument with spec and origin, whether plain ones agree between ranks,
** PyTorch's own words, repairs that were run. */
#include <string.h>
#include "base/error_comm.h"
#include "base/error_shard.h"
#include "base/error_tool.h"
#include "debug/autopsy.h"
#include "debug/debug.h"
#include "shard/known_wrong.h"

/* The argument that holds `slot`, its number and its place in a list. */
static const char *place_of (const DtArgs *a, int slot, int *pos, int *at) {
  int i, k;
  *at = -1;
  for (i = 0; i < a->n; i++) {
    const DtValue *v = &a->v[i];
    *pos = i;
    if (v->kind == DT_V_TENSOR && v->u.slot == slot)
      return a->schema->arg[i].name;
    if (v->kind != DT_V_LIST) continue;
    for (k = 0; k < v->u.list.n; k++)
      if (v->u.list.v[k].kind == DT_V_TENSOR &&
          v->u.list.v[k].u.slot == slot) {
        *at = k;
        return a->schema->arg[i].name;
      }
  }
  *pos = -1;
  return "?";
}

const char *dt_slot_arg (const DtArgs *a, int slot, int *pos) {
  int at;
  return place_of(a, slot, pos, &at);
}

int dt_slot_index (const DtArgs *a, int slot) {
  int pos, at;
  (void)place_of(a, slot, &pos, &at);
  return at;
}

void dt_bytes_print (int64_t n, DtBuf *b) {
  if (n < 10000) dt_buf_addf(b, "%lld B", (long long)n);
  else if (n < (int64_t)10000 << 10)
    dt_buf_addf(b, "%.1f kB", (double)n / 1024);
  else dt_buf_addf(b, "%.1f MB", (double)n / (1 << 20));
}

/* Blanks up to a column, which counts signs, not bytes.  Bytes 10xxxxxx
** continue a character in UTF-8 and take no column. */
static void pad_to (DtBuf *b, size_t start, int width) {
  int n = width - (int)(b->len - start);    /* a failed buffer does not grow */
  for (size_t i = start; i < b->len; i++)
    n += ((unsigned char)b->s[i] & 0xc0) == 0x80;
  while (n-- > 0) dt_buf_addc(b, ' ');
}

static bool same_text (const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

/* Would two inputs print the same row?  Lists can be long: places last. */
static bool same_row (const DtFailed *f, int i, int k) {
  const DtVar *a = f->in[i], *b = f->in[k];
  const DtMeta *m = dt_var_meta(a), *n = dt_var_meta(b);
  int p, q, at, to;
  if (a->origin.seq != b->origin.seq || a->origin.line != b->origin.line ||
      (a->spec == NULL) != (b->spec == NULL) || m->dtype != n->dtype ||
      !dt_meta_same_shape(m, n) ||
      (a->spec && !dt_spec_equal(a->spec, b->spec)) ||
      !same_text(f->name[i], f->name[k]) || !same_text(a->name, b->name) ||
      !same_text(a->origin.file, b->origin.file) ||
      !same_text(a->origin.op, b->origin.op))
    return false;
  (void)place_of(&f->args, i, &p, &at);
  (void)place_of(&f->args, k, &q, &to);
  return p == q && at >= 0 && to >= 0;
}

/* "tensors[0,2-5]": the places in a list of this input and of those after it
** that print the same; they are marked as done.  One step past the last
** input (k == nin) writes the run that is still open. */
static void print_places (const DtFailed *f, int slot, bool *done, DtBuf *b) {
  int first = -1, last = -2, n = 0;
  for (int k = slot; k <= f->nin; k++) {
    int at = -2;
    if (k < f->nin) {
      if (k != slot && (done[k] || !same_row(f, slot, k))) continue;
      done[k] = true;
      at = dt_slot_index(&f->args, k);
      if (at < 0) return;
      if (at == last + 1) { last = at; continue; }
    }
    if (first >= 0) {
      dt_buf_addf(b, n++ ? ",%d" : "[%d", first);
      if (last > first) dt_buf_addf(b, last > first + 1 ? "-%d" : ",%d", last);
    }
    first = last = at;
  }
  dt_buf_addc(b, ']');
}

/* "arg 0 self  h" */
static void print_label (const DtFailed *f, int slot, bool *done, DtBuf *b) {
  int pos;
  const char *arg = dt_slot_arg(&f->args, slot, &pos);
  const char *name = f->name[slot] ? f->name[slot] : f->in[slot]->name;
  dt_buf_addf(b, "  arg %d %s", pos, arg);
  print_places(f, slot, done, b);
  if (name && strcmp(name, arg) != 0) dt_buf_addf(b, "  %s", name);
}

static void print_spec (const DtVar *v, DtBuf *b) {
  dt_var_print(v, b);
  if (v->spec) {
    dt_buf_add(b, "  mesh ");
    dt_mesh_print(v->spec->mesh, b);
  }
}

/* One argument:  "  arg 0 self   h   dt: f32[4, 8]| S(0)  mesh (tp=4)   made
** at repro.lua:11 by aten.mm #9" */
static void print_arg (const DtFailed *f, int slot, int wname, int wspec,
                       bool *done, DtBuf *b) {
  const DtVar *v = f->in[slot];
  size_t start = b->len;
  print_label(f, slot, done, b);
  pad_to(b, start, wname);
  start = b->len;
  print_spec(v, b);
  if (v->origin.line > 0 || v->origin.op) {
    pad_to(b, start, wspec);
    dt_buf_add(b, "  made");
    if (v->origin.line > 0)
      dt_buf_addf(b, " at %s:%d", v->origin.file, v->origin.line);
    if (v->origin.op) dt_buf_addf(b, " by %s", v->origin.op);
    if (v->origin.seq > 0) dt_buf_addf(b, " #%lld", (long long)v->origin.seq);
  }
  dt_buf_addc(b, '\n');
}

void dt_autopsy_arg (const DtFailed *f, int slot, DtBuf *b) {
  int pos;
  const char *name = f->name[slot] ? f->name[slot] : f->in[slot]->name;
  dt_buf_addf(b, "%s  ", dt_slot_arg(&f->args, slot, &pos));
  if (name) dt_buf_addf(b, "%s  ", name);
  dt_var_print(f->in[slot], b);
}

/* print_label marks what it has merged in `done`, so the caller clears it
** before it prints in earnest. 60: one long spec must not push the column of
** all. */
static void measure_columns (const DtFailed *f, bool *done, int *wname,
                             int *wspec) {
  DtBuf b;
  *wname = *wspec = 0;
  dt_buf_init(&b, f->in[0]->s->cx);
  for (int i = 0; i < f->nin; i++) {
    if (done[i]) continue;
    dt_buf_clear(&b);
    print_label(f, i, done, &b);
    if ((int)b.len + 2 > *wname) *wname = (int)b.len + 2;
    dt_buf_clear(&b);
    print_spec(f->in[i], &b);
    if ((int)b.len > *wspec) *wspec = (int)b.len;
  }
  if (*wspec > 60) *wspec = 60;
  dt_buf_fini(&b);
}

/* A fix in the language of the script. */
static const char *fix_text (const DtFailed *f, const DtRepair *r) {
  return f->python && r->torch ? r->torch : r->lua;
}

/* Numbered lines are repairs that :fix N applies, so a repair whose result
** differs, or that warns, is shown with an x and takes no number. One overlong
** text must not push the columns out for all: only texts below 60 set the
** width. */
static void print_repairs (const DtFailed *f, const DtRepairs *r, DtBuf *b) {
  int i, w = 0, num = 0;
  if (r->n == 0) return;
  dt_buf_add(b, "  fixes (tried):\n");
  for (i = 0; i < r->n; i++) {
    int n = (int)strlen(fix_text(f, &r->r[i]));
    if (n > w && n < 60) w = n;
  }
  for (i = 0; i < r->n; i++) {
    const DtRepair *x = &r->r[i];
    bool good = x->verdict == DT_VD_EQUAL || x->verdict == DT_VD_CLOSE;
    size_t start;
    if (good && !x->warned) dt_buf_addf(b, "    %d ", ++num);
    else dt_buf_add(b, "    x ");
    start = b->len;
    dt_buf_addf(b, "%s  ", fix_text(f, x));
    pad_to(b, start, w + 2);
    start = b->len;
    dt_bytes_print(x->bytes, b);
    pad_to(b, start, 9);
    dt_buf_add(b, x->note ? x->note : "");
    if (good && x->result) dt_buf_addf(b, ", gives %s", x->result);
    dt_buf_addc(b, '\n');
  }
}

/* Lines of `text`, each indented. */
static void print_lines (const char *text, DtBuf *b) {
  while (*text) {
    const char *e = strchr(text, '\n');
    size_t n = e ? (size_t)(e - text) : strlen(text);
    dt_buf_add(b, "  ");
    dt_buf_addn(b, text, n);
    dt_buf_addc(b, '\n');
    text += n + (e ? 1 : 0);
  }
}

static void print_head (const DtFailed *f, DtBuf *b) {
  const DtErrorInfo *info = dt_error_info(f->code);
  size_t start = b->len;
  dt_buf_addf(b, "%s %s %s %s", info->id, info->text,
              f->code == DT_E_MISSING ? "for" : "in", f->op->sig->full);
  pad_to(b, start, 64);
  if (f->line > 0) dt_buf_addf(b, "  %s:%d", f->file, f->line);
  dt_buf_addf(b, "  op #%lld%s\n", (long long)f->seq,
              f->backward ? "  (backward)" : "");
}

void dt_autopsy_args (const DtFailed *f, DtBuf *b) {
  int i, wname, wspec;
  bool *done;
  if (f->nin == 0) return;
  done = DT_NEWN(f->in[0]->s->cx, bool, f->nin);
  if (done == NULL) { dt_error_clear(f->in[0]->s->cx); return; }
  measure_columns(f, done, &wname, &wspec);
  memset(done, 0, sizeof *done * (size_t)f->nin);
  for (i = 0; i < f->nin; i++)
    if (!done[i]) print_arg(f, i, wname, wspec, done, b);
  dt_free(f->in[0]->s->cx, done);
}

/* The call of to_local() that a plain tensor comes from, through operators
** that take it first; NULL when there was none.  Eight steps back are enough
** for views and casts between; a longer way is too far for the sizes to be
** the reason. */
static const DtRecOp *came_from (DtDebug *d, const DtVar *v) {
  int64_t seq = v->origin.seq;
  for (int i = 0; i < 8 && seq > 0; i++) {
    const DtRecOp *r = dt_record_find(d, seq);
    if (r == NULL || r->seq != seq || r->nin < 1 || r->in[0].none) return NULL;
    if (r->op == NULL)
      return strcmp(r->label, "dtensor.to_local") == 0 && r->in[0].spec ? r
                                                                        : NULL;
    seq = r->in[0].origin.seq;
  }
  return NULL;
}

/* view(), reshape() and their like got the sizes of the whole, of which `v` is
** this rank's part along `dim`: the same sizes of the part.  A view splits and
** joins whole runs of dims; the first size of a run is the one that is cut. */
static void print_fitting_sizes (const DtFailed *f, const DtVar *v, int dim,
                                 int64_t whole, DtBuf *b) {
  const DtMeta *m = &v->local->m;
  const DtValue *sizes = &f->args.v[1];
  const int n = f->args.n > 1 && sizes->kind == DT_V_LIST ? sizes->u.list.n : 0;
  int64_t numel = 1, before = 1, after = 1, wanted = 1;
  int at = -1;
  for (int d = 0; d < m->ndim; d++) {
    numel *= d == dim ? whole : m->shape[d];
    if (d < dim) before *= m->shape[d];
  }
  for (int i = 0; i < n; i++) {
    if (sizes->u.list.v[i].kind != DT_V_INT) return;
    const int64_t size = sizes->u.list.v[i].u.i;
    if (after == before && size > 1 && at < 0) at = i;
    after *= size;
    wanted *= size;
  }
  if (at < 0 || wanted != numel) return;
  const int64_t size = sizes->u.list.v[at].u.i;
  if (size * m->shape[dim] % whole != 0) return;
  dt_buf_add(b, "  the sizes are the whole's; those of the part: [");
  for (int i = 0; i < n; i++)
    dt_buf_addf(b, i ? ", %lld" : "%lld", (long long)(i == at
      ? size * m->shape[dim] / whole : sizes->u.list.v[i].u.i));
  dt_buf_addf(b, "]; -1 in place of %lld fits both\n", (long long)size);
}

/* Sizes of this rank's part beside those of the whole: what a shape error
** among plain tensors is often about.  With one distributed input the error
** is not about parts: PyTorch compares whole shapes then. */
static void print_parts (DtDebug *d, const DtFailed *f, DtBuf *b) {
  for (int i = 0; i < f->nin; i++)
    if (f->in[i]->spec) return;
  for (int i = 0; i < f->nin; i++) {
    const DtRecOp *r = came_from(d, f->in[i]);
    const DtSpec *s = r ? r->in[0].spec : NULL;
    int pos, n = 0, cut = 0;
    for (int m = 0; s && m < s->npl && m < s->mesh->ndim; m++) {
      int dim = s->pl[m].dim;
      if (!dt_pl_is_shard_like(s->pl[m]) || s->mesh->shape[m] < 2 ||
          dim >= s->meta.ndim || r->nout < 1 || dim >= r->out[0].lndim)
        continue;
      cut = dim;
      if (n++ == 0) {
        dt_buf_addf(b, "  %s", dt_slot_arg(&f->args, i, &pos));
        if (dt_slot_index(&f->args, i) >= 0)
          dt_buf_addf(b, "[%d]", dt_slot_index(&f->args, i));
        dt_buf_add(b, " is made of this rank's part of ");
        dt_spec_print(s, b);
        dt_buf_addf(b, " (to_local at %s:%d):", r->file ? r->file : "",
                    r->line);
      }
      dt_buf_addf(b, "%s %lld of %lld along dim %d", n > 1 ? "," : "",
                  (long long)r->out[0].lshape[dim],
                  (long long)s->meta.shape[dim], dim);
    }
    if (n > 0) dt_buf_addc(b, '\n');
    if (n == 1 && i == 0 && f->in[0]->local->m.ndim == s->meta.ndim &&
        f->in[0]->local->m.shape[cut] == r->out[0].lshape[cut])
      print_fitting_sizes(f, f->in[0], cut, s->meta.shape[cut], b);
  }
}

/* Operators with a strategy whose names are closest to this one's. */
static void print_relatives (DtDebug *d, const DtFailed *f, DtBuf *b) {
  DtSession *s = d->s;
  const char *near[8];
  int n = dt_registry_near(s->cx, s->registry, f->op->sig->full, near, 8);
  int i, shown = 0;
  for (i = 0; i < n && shown < 3; i++) {
    const DtOpDef *op = dt_registry_find(s->cx, s->registry, near[i]);
    if (op == NULL) { dt_error_clear(s->cx); continue; }
    if (op == f->op || !(op->rules || op->rulefn || op->strategy
        || (op->flags & DT_OP_POINTWISE)
        || dt_registry_strategy(s->registry, op, NULL)))
      continue;
    dt_buf_addf(b, shown++ ? ", %s" : "  nearest with a strategy: %s",
                near[i]);
  }
  if (shown) dt_buf_addc(b, '\n');
}

/* Are the words of this error PyTorch's, or our own?  A backward operator is
** called by autograd with what fits; what our kernels say of arguments that do
** not fit is nothing PyTorch says. */
static bool torch_words (const DtFailed *f) {
  switch (f->code) {
    case DT_E_NOMEM: case DT_E_INTERNAL: case DT_E_LIMIT:
    case DT_E_INTERRUPTED: case DT_E_IO: case DT_E_LUA: case DT_E_SANDBOX:
    case DT_E_META_NO_DATA:
    case DT_E_COMM: case DT_E_DIVERGED: case DT_E_RANK_LOST: case DT_E_WORLD:
      return false;
    case DT_E_MIXED: case DT_E_NOMESH: case DT_E_CROSSMESH: case DT_E_MISSING:
      return true;
    default:
      return !(f->op->flags & DT_OP_CUSTOM) &&
             strstr(f->op->sig->full, "_backward") == NULL;
  }
}

/* In early releases propagation's own line goes first, and hides the reason
** that a rule gave; here the reason is printed below it. */
static void print_message (DtSession *s, const DtFailed *f, DtBuf *out) {
  if (torch_words(f))
    dt_buf_addf(out, "  PyTorch %d.%d says: ", s->profile.release / 100,
                s->profile.release % 100);
  else dt_buf_add(out, "  message: ");
  dt_buf_addn(out, f->message, strcspn(f->message, "\n"));
  dt_buf_addc(out, '\n');
  if (f->cause != NULL && strncmp(f->message, "Sharding propagation", 20) == 0)
    dt_buf_addf(out, "  because: %s\n", f->cause);
}

/* A decision of PyTorch that is known to give wrong data can also be what
** made the call fail. */
static void print_known_wrong (DtDebug *d, const DtFailed *f, DtBuf *out) {
  DtCtx *cx = d->s->cx;
  const DtRecOp *r = dt_record_find(d, f->seq);
  const DtKnownWrong *k;
  DtProp *prop = NULL;
  if (r == NULL || r->seq != f->seq || r->op == NULL ||
      !dt_known_wrong_has(r->op) || dt_record_mesh(r) == NULL) return;
  if (dt_record_decide(d, r, &f->args, NULL, &prop) == DT_OK) {
    k = dt_known_wrong_find(cx, r->op, &f->args, prop);
    if (k) dt_buf_addf(out, "  known to be wrong in PyTorch: %s\n", k->what);
    dt_prop_unref(cx, prop);
  }
  dt_error_clear(cx);
}

/* The parts of an autopsy in the order a person reads them: what failed, each
** argument, what was done with them, then what would help. An operator without
** a strategy gets the doctor's answer in place of repairs: moving its inputs
** about would not give it one. */
static void write_report (DtDebug *d, DtRepairs *r, DtBuf *out) {
  DtSession *s = d->s;
  DtFailed *f = &d->failed;
  DtStatus code = f->code;
  print_head(f, out);
  dt_autopsy_args(f, out);
  print_parts(d, f, out);
  if (dt_repair_try(d, f, r) != DT_OK) {
    dt_buf_addf(out, "  fixes could not be tried: %s\n",
                dt_buf_str(&s->cx->err.message));
    dt_error_clear(s->cx);
  }
  if (r->equality) print_lines(r->equality, out);
  print_message(s, f, out);
  print_known_wrong(d, f, out);
  if (code != DT_E_MISSING)
    print_repairs(f, r, out);
  else {
    print_relatives(d, f, out);
    (void)dt_doctor_text(d, f, out);
  }
  while (out->len && out->s[out->len - 1] == '\n') out->s[--out->len] = '\0';
}

bool dt_autopsy_text (DtSession *s, DtStatus code, DtRepairs *r, DtBuf *out) {
  DtDebug *d = dt_debug_of(s);
  DtFailed *f;
  if (d == NULL || d->muted) return false;
  f = &d->failed;
  if (!f->valid || !f->fresh || f->code != code) return false;
  f->fresh = false;
  write_report(d, r, out);
  return true;
}

bool dt_autopsy_again (DtSession *s, DtBuf *out) {
  DtDebug *d = dt_debug_of(s);
  DtRepairs r;
  if (d == NULL || !d->failed.valid) return false;
  memset(&r, 0, sizeof r);
  write_report(d, &r, out);
  dt_repairs_fini(d, &r);
  return true;
}

const char *dt_autopsy_op (const DtSession *s) {
  const DtDebug *d = dt_debug_of(s);
  return d && d->failed.valid && d->failed.op ? d->failed.op->sig->full : NULL;
}
