/* SPDX-License-Identifier: MIT
** repl/cmd_time.c: looking at the past.  A time is an operator's number: the
** state is that just before it.  Lines typed then see tensors by name with
** the values and placements they had. */
#include "base/error_tool.h"
#include "repl/cmd.h"

#include <stdlib.h>
#include <string.h>
#include "debug/control.h"

static DtDebug *debug_of (const DtCmdCall *c) { return dt_debug_of(c->r->s); }

static int by_name (const void *a, const void *b) {
  return strcmp((*(const DtRecName *const *)a)->name,
                (*(const DtRecName *const *)b)->name);
}

/* Results the prompt keeps (_, _1, ...) are no variables of a script. */
static bool is_kept (const char *name) {
  return name[0] == '_' && name[1 + strspn(name + 1, "0123456789")] == '\0';
}

/* The tensors by name before #seq, one a line. */
static void show_names (DtRepl *r, const DtRecOp *op, DtBuf *out) {
  enum { MAX = 200 };
  const DtRecName *names[MAX];
  DtDebug *d = dt_debug_of(r->s);
  int n = dt_record_names(d, op->seq, names, MAX);
  qsort(names, (size_t)n, sizeof names[0], by_name);
  for (int i = 0; i < n; i++) {
    const DtRecVar *v;
    if (is_kept(names[i]->name) ||      /* or in two functions, one tensor */
        (i > 0 && strcmp(names[i]->name, names[i - 1]->name) == 0 &&
         names[i]->var == names[i - 1]->var) ||
        dt_record_name(d, op->scope, names[i]->name, op->seq) !=
        names[i]->var || (v = dt_record_var(d, names[i]->var, op->seq, NULL))
        == NULL)
      continue;
    dt_buf_addf(out, "  %-10s  ", names[i]->name);
    if (v->spec != NULL) {
      dt_buf_add(out, "dt: ");
      dt_spec_print(v->spec, out);
    } else {
      dt_buf_add(out, "t: ");
      dt_meta_print(v->meta, out);
    }
    dt_buf_addc(out, '\n');
  }
}

static void show_moves (const DtRecOp *op, DtBuf *out) {
  for (int i = 0; i < op->nmove; i++) {
    const DtRecMove *m = &op->move[i];
    dt_buf_add(out, "  moved ");
    if (m->slot >= 0)
      dt_buf_addf(out, "input %d  ", m->slot);
    dt_spec_print_placements(m->src, out);
    dt_buf_add(out, " -> ");
    dt_spec_print_placements(m->dst, out);
    dt_buf_add(out, ", ");
    dt_bytes_print(m->bytes, out);
    dt_buf_addf(out, "/rank%s\n", m->implicit ? ", implicit" : "");
  }
}

static void show_op (DtRepl *r, const DtRecOp *op, DtBuf *out) {
  size_t n = 0;
  const char *s = op->line > 0
    ? dtL_source_line(r->L, op->file, op->line, &n) : NULL;
  dt_buf_add(out, "before ");
  dt_record_print(op, out);
  if (op->line > 0)
    dt_buf_addf(out, "  %s:%d", op->file, op->line);
  if (op->backward)
    dt_buf_add(out, "  backward");
  dt_buf_addc(out, '\n');
  if (s != NULL)
    dt_buf_addf(out, ">%4d  %.*s\n", op->line, (int)n, s);
  show_moves(op, out);
}

static DtStatus look_at (DtCmdCall *c, const DtRecOp *op) {
  DT_TRY(c->r->cx, dt_stop_past(c->r, op->seq));
  show_op(c->r, op, c->out);
  show_names(c->r, op, c->out);
  return DT_OK;
}

static DtStatus find_recorded (DtCmdCall *c, int64_t seq, DtRecOp **op) {
  DtDebug *d = debug_of(c);
  int n = d->rec.n;
  DT_CHECK(c->r->cx, n > 0, DT_E_COMMAND, "nothing is recorded yet");
  *op = dt_record_find(d, seq);
  DT_CHECK(c->r->cx, *op != NULL, DT_E_INDEX,
           "operator #%lld is not in the record, which goes from #%lld to "
           "#%lld", (long long)seq, (long long)dt_record_at(d, n - 1)->seq,
           (long long)dt_record_at(d, 0)->seq);
  return DT_OK;
}

/* "#7+2", typed at a stop: the program's state then, which is that before its
** next operator, or now when it has not gone on. */
static DtStatus goto_typed (DtCmdCall *c, long long seq, long long k) {
  DtDebug *d = debug_of(c);
  const DtRecOp *typed = dt_record_typed(d, seq, k), *next;
  DT_CHECK(c->r->cx, typed != NULL, DT_E_INDEX,
           "no operator typed at a stop is known as #%lld+%lld; :history "
           "lists them", seq, k);
  dt_buf_addf(c->out, "#%lld+%lld typed %s", seq, k, typed->label);
  if (typed->line > 0)
    dt_buf_addf(c->out, "  %s:%d", typed->file, typed->line);
  next = dt_record_after(d, seq);
  if (next == NULL) {
    dt_buf_addf(c->out, "\nthe program has stood after #%lld since: this is "
                "the present\n", seq);
    return dt_stop_past(c->r, 0);
  }
  dt_buf_addf(c->out, "\nthe program stood after #%lld; tensors of typed lines "
              "are as they are now\n", seq);
  return look_at(c, next);
}

static DtStatus cmd_goto (DtCmdCall *c) {
  const char *s = *c->arg == '#' ? c->arg + 1 : c->arg;
  char *end;
  long long n = strtoll(s, &end, 10);
  DtRecOp *op;
  if (strcmp(c->arg, "now") == 0) {
    dt_buf_add(c->out, "back in the present\n");
    return dt_stop_past(c->r, 0);
  }
  if (end != s && *end == '+' && n >= 0) {
    char *last;
    long long k = strtoll(end + 1, &last, 10);
    if (last != end + 1 && *last == '\0' && k > 0)
      return goto_typed(c, n, k);
  }
  if (end == s || *end != '\0' || n <= 0)
    return dt_cmd_error(c, 0, "wanted an operator as #7, one typed at a stop "
                        "as #7+1, or now");
  DT_TRY(c->r->cx, find_recorded(c, n, &op));
  return look_at(c, op);
}

/* Index in the record (0 = newest) of the time looked at; -1 = now. */
static int index_now (const DtCmdCall *c) {
  DtDebug *d = debug_of(c);
  for (int i = 0; c->r->past != 0 && i < d->rec.n; i++)
    if (dt_record_at(d, i)->seq == c->r->past)
      return i;
  return -1;
}

static DtStatus cmd_back (DtCmdCall *c) {
  DtDebug *d = debug_of(c);
  char *end;
  long n = strtol(c->arg, &end, 10);
  int at = index_now(c);
  if (*c->arg == '\0')
    n = 1;
  else if (*end != '\0' || n < 1 || n > 1 << 24)
    return dt_cmd_error(c, 0, "wanted a number of operators");
  DT_CHECK(c->r->cx, d->rec.n > 0, DT_E_COMMAND, "nothing is recorded yet");
  /* The operator that is stopped has not run: the one before is back. */
  if (at < 0 && c->r->at != NULL &&
      dt_record_at(d, 0)->seq == c->r->at->seq && !dt_record_at(d, 0)->done)
    at = 0;
  DT_CHECK(c->r->cx, at + (int)n < d->rec.n, DT_E_INDEX,
           "the record goes back %d operators from here", d->rec.n - 1 - at);
  return look_at(c, dt_record_at(d, at + (int)n));
}

DtStatus dt_cmd_later (DtCmdCall *c, bool *done) {
  int at = index_now(c);
  *done = c->r->past != 0;
  if (!*done)
    return DT_OK;
  if (at > 0)
    return look_at(c, dt_record_at(debug_of(c), at - 1));
  dt_buf_add(c->out, "back in the present\n");
  return dt_stop_past(c->r, 0);
}

/* The tensor, and what the person calls it. */
static DtStatus when_tensor (DtCmdCall *c) {
  DtCmdCall twice = *c;
  DtStatus st;
  DtBuf b;
  dt_buf_init(&b, c->r->cx);
  dt_buf_addf(&b, "%s %s", c->arg, c->arg);
  st = dt_buf_ok(&b);
  twice.arg = dt_buf_str(&b);
  if (st == DT_OK)
    st = dt_cmd_debug(&twice, "when", "es");
  dt_buf_fini(&b);
  return st;
}

static DtStatus cmd_when (DtCmdCall *c) {
  DtRepl *r = c->r;
  DtDebug *d = debug_of(c);
  if (*c->arg != '\0')
    return when_tensor(c);
  if (d->rec.n == 0) {
    dt_buf_add(c->out, "nothing is recorded yet\n");
    return DT_OK;
  }
  const DtRecOp *newest = dt_record_at(d, 0);
  const DtRecOp *oldest = dt_record_at(d, d->rec.n - 1);
  if (r->past != 0) {
    const DtRecOp *op = dt_record_find(d, r->past);
    dt_buf_addf(c->out, "before #%lld", (long long)r->past);
    if (op != NULL && op->line > 0)
      dt_buf_addf(c->out, " at %s:%d", op->file, op->line);
  } else if (r->at != NULL) {
    dt_buf_addf(c->out, "now: stopped at #%lld", (long long)r->at->seq);
  } else {
    dt_buf_addf(c->out, "now: after #%lld", (long long)newest->seq);
  }
  dt_buf_addf(c->out, "; recorded #%lld to #%lld, ", (long long)oldest->seq,
              (long long)newest->seq);
  dt_bytes_print(d->rec.kept, c->out);
  dt_buf_add(c->out, " of values\n");
  if (r->past != 0 && dt_record_find(d, r->past) != NULL)
    show_names(r, dt_record_find(d, r->past), c->out);
  return DT_OK;
}

const DtCmd dt_cmds_time[] = {
  {"back", "time", DT_CMD_REPEATS, "[N]",
   "Look at the state N operators ago (1): lines you type see tensors by\n"
   "name, with values and placements as they were.  :next goes forward,\n"
   ":goto now comes back.\n"
   "Example: :back", cmd_back},
  {"goto", "time", 0, "#N|#N+K|now",
   "Look at the state just before operator #N.  #N+K, as :history shows what was\n"
   "typed at a stop, is the state the program had then; tensors of typed lines\n"
   "are as they are now.\n"
   "Example: :goto now", cmd_goto},
  {"when", "time", 0, "[X]",
   "Which time is looked at, and what the record holds.  With a tensor: which\n"
   "operator made it, which changed and used it since; what was typed at a stop\n"
   "is #N+K, the K-th after #N.\n"
   "Example: :when", cmd_when},
  {NULL, NULL, 0, NULL, NULL, NULL}
};
