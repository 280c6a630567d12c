/* SPDX-License-Identifier: MIT
** debug/texts.c: what the record says, in words: history, ledger, the table
** of candidates, rules, plans. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_shard.h"
#include "debug/debug.h"
#include "shard/known_wrong.h"
#include "base/map.h"

static void print_var (const DtRecVar *v, DtBuf *b) {
  if (v->none) { dt_buf_add(b, "None"); return; }
  if (v->spec) { dt_buf_add(b, "dt: "); dt_spec_print(v->spec, b); }
  else { dt_buf_add(b, "t: "); dt_meta_print(v->meta, b); }
}

static void slot_print (void *ud, int slot, DtBuf *b) {
  const DtRecOp *r = (const DtRecOp *)ud;
  if (slot < r->nin) print_var(&r->in[slot], b);
  else dt_buf_add(b, "?");
}

void dt_record_print (const DtRecOp *r, DtBuf *b) {
  int i, n = r->args.npos;
  dt_buf_addf(b, "#%lld %s", (long long)r->seq, r->label);
  if (r->op == NULL) return;
  dt_buf_addc(b, '(');
  for (i = 0; i < n; i++) {
    if (i) dt_buf_add(b, ", ");
    dt_value_print(&r->args.v[i], slot_print, (void *)(uintptr_t)r, b);
  }
  dt_buf_add(b, ")");
  if (r->st != DT_OK) dt_buf_addf(b, " -> error %s",
                                  dt_error_info(r->st)->id);
  else if (r->done && r->nout) {
    dt_buf_add(b, " -> ");
    for (i = 0; i < r->nout; i++) {
      if (i) dt_buf_add(b, ", ");
      print_var(&r->out[i], b);
    }
  }
}

/* Collectives of one operator, equal ones counted together: "2 all_gather on
** tp, 512 B/rank, implicit". Texts of `mdim` are interned, so pointers
** compare. */
void dt_record_print_colls (const DtRecOp *r, DtBuf *b) {
  int i, k;
  bool first = true;
  for (i = 0; i < r->ncoll; i++) {
    const DtRecColl *c = &r->coll[i];
    int64_t bytes = 0;
    int n = 0;
    for (k = 0; k < i; k++)
      if (strcmp(r->coll[k].coll, c->coll) == 0 && r->coll[k].mdim == c->mdim)
        break;
    if (k < i) continue;
    for (k = i; k < r->ncoll; k++)
      if (strcmp(r->coll[k].coll, c->coll) == 0
          && r->coll[k].mdim == c->mdim) {
        n++;
        bytes += r->coll[k].bytes_in;
      }
    dt_buf_addf(b, "%s%d %s on %s, ", first ? "" : "; ", n, c->coll, c->mdim);
    dt_bytes_print(bytes, b);
    dt_buf_addf(b, "/rank%s", c->implicit ? ", implicit" : "");
    first = false;
  }
}

static void history_line (const DtRecOp *r, DtBuf *b) {
  dt_record_print(r, b);
  if (r->line > 0) dt_buf_addf(b, "  %s:%d", r->file, r->line);
  if (r->backward) dt_buf_add(b, "  backward");
  dt_buf_addc(b, '\n');
  if (r->ncoll) {
    dt_buf_add(b, "     ");
    dt_record_print_colls(r, b);
    dt_buf_addc(b, '\n');
  }
}

/* `line` begins with the number of an operator typed at a stop: "#7+2 typed". */
static void as_typed (const DtRecOp *r, const char *line, DtBuf *b) {
  const char *rest = strchr(line, ' ');
  if (rest)
    dt_buf_addf(b, "#%lld+%lld typed %s", (long long)r->from,
                (long long)(r->seq - r->from), rest + 1);
}

/* Operators typed when the program had come to an operator from `first` on
** and before `end`: "#7+2", the second after #7. */
static void typed_lines (DtDebug *d, int64_t first, int64_t end, DtBuf *b) {
  DtBuf t;
  int i;
  for (i = d->typed.n - 1; i >= 0; i--) {
    const DtRecOp *r = dt_record_of(&d->typed, i);
    if (r->from < first || r->from >= end) continue;
    dt_buf_init(&t, d->s->cx);
    history_line(r, &t);
    as_typed(r, dt_buf_str(&t), b);
    dt_buf_fini(&t);
  }
}

void dt_history_text (DtDebug *d, int n, DtBuf *b) {
  int64_t from = 0;
  int i;
  if (n > d->rec.n) n = d->rec.n;
  for (i = n - 1; i >= 0; i--) {
    const DtRecOp *r = dt_record_at(d, i);
    if (i < n - 1) typed_lines(d, from, r->seq, b);
    from = r->seq;
    history_line(r, b);
  }
  typed_lines(d, from, INT64_MAX, b);
  if (d->rec.n == 0) dt_buf_add(b, "nothing recorded yet\n");
}

/* --- ledger --- */

/* A collective's key ends in its group, "tp all_reduce of ranks 0, 1": shown
** where the dimension's name alone does not tell. */
typedef struct Row {
  char key[200];
  size_t named;                 /* the key without the group */
  const char *mdim, *group;     /* of a collective's row, or NULL */
  int64_t count, bytes;
} Row;

static Row *add_row (DtDebug *d, DtMap *m, DtArena *a, const char *key,
                     int64_t bytes) {
  Row *r = (Row *)dt_map_get_str(m, key);
  if (r == NULL) {
    r = DT_ANEWN(d->s->cx, a, Row, 1);
    if (r == NULL) { dt_error_clear(d->s->cx); return NULL; }
    snprintf(r->key, sizeof r->key, "%s", key);
    r->named = strlen(r->key);
    if (dt_map_put_str(m, r->key, r) != DT_OK) dt_error_clear(d->s->cx);
  }
  r->count++;
  r->bytes += bytes;
  return r;
}

typedef enum By { BY_COLLECTIVE, BY_OP, BY_MODULE, BY_LINE } By;

/* Who asked: a call that only moves data is listed under what called it. */
static void op_key (const DtRecord *rec, const DtRecOp *r, char *key,
                    size_t size) {
  const char *func = r->func != NULL && strcmp(r->func, r->label) != 0
    ? r->func : "";
  const char *name = r->nin > 0 && !r->in[0].none
    ? dt_record_var_name(rec, &r->in[0]) : NULL;
  if (r->op != NULL || (*func == '\0' && name == NULL))
    snprintf(key, size, "%s", r->label);
  else if (*func != '\0')
    snprintf(key, size, "%.90s for %.90s", r->label, func);
  else
    snprintf(key, size, "%.90s of %.90s", r->label, name);
}

static void row_key (const DtRecord *rec, const DtRecOp *r,
                     const DtRecColl *c, By by, char *key, size_t size) {
  switch (by) {
    case BY_COLLECTIVE:
      snprintf(key, size, "%.60s %.40s of %.90s", c->mdim, c->coll,
               c->group ? c->group : "");
      break;
    case BY_OP:
      op_key(rec, r, key, size);
      break;
    case BY_MODULE:
      snprintf(key, size, "%.150s", r->module && *r->module
               ? r->module : "(no module)");
      break;
    case BY_LINE:
      snprintf(key, size, "%.150s:%d", r->file ? r->file : "", r->line);
      break;
  }
}

/* The most bytes first; rows of equal weight by name. */
static int compare_bytes (const void *a, const void *b) {
  const Row *x = *(Row *const *)a, *y = *(Row *const *)b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  return strcmp(x->key, y->key);
}

/* Does the same name stand for several groups? */
static bool is_ambiguous (Row *const *row, int n, const Row *r) {
  for (int i = 0; i < n && r->group; i++)
    if (row[i]->group && strcmp(row[i]->mdim, r->mdim) == 0 &&
        strcmp(row[i]->group, r->group) != 0) return true;
  return false;
}

/* What is shown of a row's name. */
static int key_length (Row *const *row, int n, const Row *r) {
  size_t whole = strlen(r->key);
  return (int)(is_ambiguous(row, n, r) || r->named > whole ? whole : r->named);
}

static void print_rows (DtDebug *d, DtMap *m, DtArena *a, const char *title,
                        DtBuf *b) {
  DtMapEntry *e;
  int32_t it = 0;
  int n = 0, i, width = 34;
  while (dt_map_next(m, &it) != NULL) n++;
  Row **row = DT_ANEWN(d->s->cx, a, Row *, n + 1);
  if (row == NULL) { dt_error_clear(d->s->cx); return; }
  for (i = 0, it = 0; i < n && (e = dt_map_next(m, &it)) != NULL; i++)
    row[i] = (Row *)e->value;
  qsort(row, (size_t)n, sizeof *row, compare_bytes);
  for (i = 0; i < n; i++)
    if (key_length(row, n, row[i]) > width) width = key_length(row, n, row[i]);
  dt_buf_addf(b, "%-*s %8s %12s\n", width + 2, title, "count", "bytes/rank");
  for (i = 0; i < n; i++) {
    DtBuf bytes;
    dt_buf_init(&bytes, d->s->cx);
    dt_bytes_print(row[i]->bytes, &bytes);
    dt_buf_addf(b, "  %-*.*s %8lld %12s\n", width, key_length(row, n, row[i]),
                row[i]->key, (long long)row[i]->count, dt_buf_str(&bytes));
    dt_buf_fini(&bytes);
  }
}

static void ledger_by (DtDebug *d, By by, const char *title, DtBuf *b) {
  DtMap m;
  DtArena a = { NULL, NULL };
  int i, k;
  dt_map_init(&m, d->s->cx, NULL);
  for (i = d->rec.n - 1; i >= 0; i--) {
    const DtRecOp *r = dt_record_at(d, i);
    for (k = 0; k < r->ncoll; k++) {
      char key[200];
      row_key(&d->rec, r, &r->coll[k], by, key, sizeof key);
      Row *row = add_row(d, &m, &a, key, r->coll[k].bytes_in);
      if (row == NULL || by != BY_COLLECTIVE) continue;
      row->mdim = r->coll[k].mdim;
      row->group = r->coll[k].group;
      size_t named = strlen(row->mdim) + 1 + strlen(r->coll[k].coll);
      row->named = named < row->named ? named : row->named;
    }
  }
  print_rows(d, &m, &a, title, b);
  dt_map_fini(&m);
  dt_arena_fini(d->s->cx, &a);
}

void dt_ledger_text (DtDebug *d, DtBuf *b) {
  int64_t n = 0, bytes = 0;
  int i, k;
  for (i = 0; i < d->rec.n; i++) {
    const DtRecOp *r = dt_record_at(d, i);
    for (k = 0; k < r->ncoll; k++) { n++; bytes += r->coll[k].bytes_in; }
  }
  if (n == 0) { dt_buf_add(b, "no collectives in the record\n"); return; }
  ledger_by(d, BY_COLLECTIVE, "by mesh dim and collective", b);
  ledger_by(d, BY_OP, "by operator", b);
  ledger_by(d, BY_MODULE, "by module", b);
  ledger_by(d, BY_LINE, "by line", b);
  dt_buf_addf(b, "total %lld collectives, ", (long long)n);
  dt_bytes_print(bytes, b);
  dt_buf_addf(b, " sent per rank, in the last %d operators\n", d->rec.n);
}

/* --- why --- */

const char *dt_via_name (DtPropVia v) {
  switch (v) {
    case DT_VIA_SINGLE_DIM: return "rules on one mesh dimension";
    case DT_VIA_STRATEGY: return "a strategy over the whole mesh";
    case DT_VIA_DECOMP: return "its decomposition";
    case DT_VIA_HANDLER: return "a handler of its own";
    case DT_VIA_USER: return "register_sharding";
    default: return "nothing";
  }
}

static void print_side (const DtPlacement *p, int n, int ndim, DtBuf *b) {
  int i;
  for (i = 0; i < n; i++) {
    if (i) dt_buf_add(b, ", ");
    dt_pls_print(p + (size_t)i * (size_t)ndim, ndim, b);
  }
}

static void print_cand (const DtWhy *w, int i, DtBuf *b) {
  const DtCand *c = &w->cand[i];
  const DtCand *win = &w->cand[w->winner];
  dt_buf_addf(b, "%s %3d  ", i == w->winner ? "->" : "  ", i);
  if (c->in) print_side(c->in, w->nin, w->ndim, b);
  else dt_buf_add(b, "(as they are)");
  dt_buf_add(b, "  ->  ");
  if (c->out) print_side(c->out, w->nout, w->ndim, b);
  if (isinf(c->total)) dt_buf_add(b, "   cost inf");
  else {
    dt_buf_add(b, "   ");
    dt_bytes_print(c->bytes, b);
    dt_buf_addf(b, ", cost %.3f", c->total);
  }
  if (i == w->winner) dt_buf_add(b, "   chosen");
  else if (isinf(c->total)) dt_buf_add(b, "   an input cannot get there");
  else if (c->total > win->total) dt_buf_add(b, "   dearer");
  else dt_buf_add(b, "   equal cost: order decides");
  dt_buf_addc(b, '\n');
}

int dt_why_cheapest (const DtWhy *w) {
  int i, best = -1;
  for (i = 0; i < w->ncand; i++)
    if (!isinf(w->cand[i].total) &&
        (best < 0 || w->cand[i].bytes < w->cand[best].bytes)) best = i;
  return best;
}

static void print_cheapest (const DtWhy *w, DtBuf *b) {
  int best = dt_why_cheapest(w);
  if (best < 0 || w->cand[best].bytes >= w->cand[w->winner].bytes) return;
  dt_buf_addf(b, "   cheapest by bytes: %d, ", best);
  dt_bytes_print(w->cand[best].bytes, b);
  dt_buf_add(b, "/rank; the one chosen moves ");
  dt_bytes_print(w->cand[w->winner].bytes, b);
  dt_buf_addc(b, '\n');
}

static void print_why (const DtWhy *w, DtBuf *b) {
  int i, shown = 0;
  dt_buf_addf(b, "decided by %s; %d candidates", dt_via_name(w->via), w->ncand);
  if (w->nexcluded)
    dt_buf_addf(b, ", %lld more not possible here", (long long)w->nexcluded);
  dt_buf_addc(b, '\n');
  for (i = 0; i < w->ncand; i++) {
    if (shown >= 24 && i != w->winner) continue;
    print_cand(w, i, b);
    shown++;
  }
  if (shown < w->ncand)
    dt_buf_addf(b, "   … %d more\n", w->ncand - shown);
  print_cheapest(w, b);
  for (i = 0; i < w->nchild; i++) {
    dt_buf_addf(b, "element %d: ", i);
    print_why(w->child[i], b);
  }
}

/* Does it meet plain and distributed tensors, so that no strategy is asked for?
** What has run has not, and one that has not run yet will. */
static bool is_mixed (const DtSession *s, const DtRecOp *r) {
  int i;
  if (r->done || r->st != DT_OK) return r->st == DT_E_MIXED;
  for (i = 0; i < r->nin && !s->implicit_replication; i++)
    if (!r->in[i].none && r->in[i].spec == NULL &&
        dt_meta_numel(r->in[i].meta) != 1) return true;
  return false;
}

/* The decision is computed anew from the recorded inputs and arguments, as the
** program's own may be long gone; an operator that was refused is asked as if
** its plain inputs had been replicated. */
DtStatus dt_why_text (DtDebug *d, const DtRecOp *r, DtBuf *b) {
  DtSession *s = d->s;
  DtWhy *w = NULL;
  DtProp *p = NULL;
  DtBuf head;
  dt_buf_init(&head, s->cx);
  dt_record_print(r, &head);
  if (dt_record_typed(d, r->from, r->seq - r->from) == r)
    as_typed(r, dt_buf_str(&head), b);
  else dt_buf_add(b, dt_buf_str(&head));
  dt_buf_fini(&head);
  dt_buf_addc(b, '\n');
  if (dt_record_mesh(r) == NULL && r->op) {
    dt_buf_add(b, "all inputs are plain: nothing to decide\n");
    return DT_OK;
  }
  if (r->op && is_mixed(s, r))
    dt_buf_add(b, "refused: plain and distributed tensors meet (:explain "
               "DT0101); were the plain ones replicated:\n");
  if (r->op == NULL)
    dt_buf_add(b, "no operator: what is asked for is done, nothing to decide\n");
  else if (dt_record_decide(d, r, &r->args, &w, &p) != DT_OK) {
    if (s->cx->err.code == DT_E_NOMEM) return DT_E_NOMEM;
    dt_buf_addf(b, "no strategy: %s\n", dt_buf_str(&s->cx->err.message));
    dt_error_clear(s->cx);
  } else if (w) print_why(w, b);
  if (r->ncoll) {
    dt_buf_add(b, "moved: ");
    dt_record_print_colls(r, b);
    dt_buf_addc(b, '\n');
  }
  if (p && p->known_wrong)
    dt_buf_addf(b, "known to be wrong: %s\n", p->known_wrong->what);
  dt_why_free(s->cx, w);
  dt_prop_unref(s->cx, p);
  return DT_OK;
}

/* --- rules --- */

DtStatus dt_rules_text (DtDebug *d, const DtOpDef *op, const DtRecOp *r,
                        DtBuf *b) {
  DtSession *s = d->s;
  DtArena a = { NULL, NULL };
  DtRows rows;
  const DtMeta *in[64];
  bool inserted = false;
  DtStatus st;
  int i;
  dt_buf_addf(b, "%s\n", op->schema);
  if (op->brief) dt_buf_addf(b, "  %s\n", op->brief);
  if (r == NULL || r->nin > 64) {
    if (op->rules)
      for (i = 0; op->rules[i]; i++) dt_buf_addf(b, "  %s\n", op->rules[i]);
    else dt_buf_add(b, op->rulefn || (op->flags & DT_OP_POINTWISE)
                    ? "  rules depend on shapes: run it once, then :rules\n"
                    : op->strategy ? "  a strategy over the whole mesh\n"
                    : op->decomp ? "  no rules: decomposed\n"
                    : "  no rules\n");
    return DT_OK;
  }
  for (i = 0; i < r->nin; i++) in[i] = r->in[i].meta;
  st = dt_prop_rows(s->cx, s->prop, op, &r->args, r->nin, in, &a, &rows, &inserted);
  if (st == DT_OK) {
    if (inserted) dt_buf_add(b, "  all R (always there)\n");
    for (i = 0; i < rows.n; i++) {
      dt_buf_add(b, "  ");
      dt_row_print(&rows, i, b);
      dt_buf_addc(b, '\n');
    }
  } else dt_error_clear(s->cx), dt_buf_add(b, "  no rows on one mesh dim\n");
  dt_arena_fini(s->cx, &a);
  return DT_OK;
}

/* --- plan --- */

static DtStatus one_plan (DtDebug *d, const DtSpec *src, const DtSpec *dst,
                          DtPlanMode mode, const char *name, DtBuf *b) {
  DtSession *s = d->s;
  DtPlan *p = NULL;
  DtStatus st = dt_plan_new(s->cx, s->planner, src, dst, mode, &p);
  double cost;
  if (st != DT_OK) {
    dt_buf_addf(b, "  %-7s not possible: %s\n", name,
                dt_buf_str(&s->cx->err.message));
    dt_error_clear(s->cx);
    return DT_OK;
  }
  cost = dt_plan_cost(s->planner, p);
  dt_buf_addf(b, "  %-7s ", name);
  dt_plan_print(p, b);
  dt_buf_addf(b, "   %d steps, ", p->nsteps);
  dt_bytes_print(dt_plan_bytes(p), b);
  dt_buf_addf(b, "/rank, cost %.3f\n", cost);
  dt_plan_unref(s->cx, p);
  return DT_OK;
}

DtStatus dt_plan_text (DtDebug *d, const DtVar *v, int npl,
                       const DtPlacement *pl, DtBuf *b) {
  DtSpec *dst = NULL;
  DtStatus st;
  if (v->spec == NULL)
    return dt_raise(d->s->cx, DT_E_TYPE, "a plain tensor has no placements; "
                    "distribute_tensor() it first");
  st = dt_spec_new(d->s->cx, v->spec->mesh, npl, pl, &v->spec->meta, NULL, -1,
                   &dst);
  if (st != DT_OK) return st;
  dt_spec_print(v->spec, b);
  dt_buf_add(b, "  to  ");
  dt_spec_print(dst, b);
  dt_buf_addc(b, '\n');
  st = one_plan(d, v->spec, dst, DT_PLAN_GREEDY, "greedy", b);
  if (st == DT_OK) st = one_plan(d, v->spec, dst, DT_PLAN_GRAPH, "graph", b);
  dt_spec_unref(d->s->cx, dst);
  return st;
}
