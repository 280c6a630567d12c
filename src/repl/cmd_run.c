/* SPDX-License-Identifier: MIT
** repl/cmd_run.c: running scripts, going on from a stop, looking around at
** it.  What each does is in debug/control.h; here lines become its calls. */
#include "base/error_tool.h"
#include "bind/pyframe.h"
#include "repl/cmd.h"

#include <stdlib.h>
#include <string.h>

static DtStatus need_stop (DtCmdCall *c, DtControl **out) {
  *out = dt_control_of(c->r->s);
  DT_CHECK(c->r->cx, *out != NULL && c->r->at != NULL, DT_E_COMMAND,
           "nothing is stopped; :break sets a place, :run FILE stops at the "
           "first operator");
  return DT_OK;
}

/* ---- going on ---- */

static DtStatus resume_with (DtCmdCall *c, DtStepMode mode) {
  DtControl *k;
  DT_TRY(c->r->cx, need_stop(c, &k));
  DT_CHECK(c->r->cx, !c->r->at->light || mode == DT_GO_ON ||
           mode == DT_GO_QUIT, DT_E_COMMAND,
           "the line has failed; :fix N gives it other inputs, any line of "
           "Lua leaves it");
  dt_control_go(k, mode);
  return DT_OK;
}

/* In the past there are only operators to go to. */
static DtStatus go_later (DtCmdCall *c, DtStepMode mode) {
  bool done = false;
  DtStatus st = dt_cmd_later(c, &done);
  return done || st != DT_OK ? st : resume_with(c, mode);
}

static DtStatus cmd_step (DtCmdCall *c) { return go_later(c, DT_GO_STEP); }
static DtStatus cmd_next (DtCmdCall *c) { return go_later(c, DT_GO_NEXT); }
static DtStatus cmd_finish (DtCmdCall *c) {
  return resume_with(c, DT_GO_FINISH);
}
static DtStatus cmd_line (DtCmdCall *c) { return resume_with(c, DT_GO_LINE); }
/* Among a breakpoint's commands it says that this one need not stop. */
static DtStatus cmd_continue (DtCmdCall *c) {
  if (c->r->passing != NULL) {
    *c->r->passing = true;
    return DT_OK;
  }
  if (c->r->past == 0)
    return resume_with(c, DT_GO_ON);
  dt_buf_add(c->out, "back in the present\n");
  return dt_stop_past(c->r, 0);
}
static DtStatus cmd_kill (DtCmdCall *c) { return resume_with(c, DT_GO_QUIT); }

/* How many lines a source that has run has; 0: none is so called. */
static int line_count (const DtRepl *r, const char *file) {
  size_t n;
  int low = 0, high = 1;
  while (high < 1 << 24 && dtL_source_line(r->L, file, high, &n) != NULL) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {      /* `low` is there, `high` is not */
    int mid = low + (high - low) / 2;
    if (dtL_source_line(r->L, file, mid, &n) != NULL)
      low = mid;
    else
      high = mid;
  }
  return low;
}

/* A line that no stop can be at would let the script run to its end. */
static DtStatus check_line (DtCmdCall *c, const char *file, long line) {
  int n = line_count(c->r, file);
  if (n == 0)
    return dt_cmd_error(c, 0, "no %s has run yet; :tbreak waits for it", file);
  if (line > n)
    return dt_cmd_error(c, 0, "%s has %d line%s", file, n, n == 1 ? "" : "s");
  return DT_OK;
}

static DtStatus cmd_until (DtCmdCall *c) {
  DtRepl *r = c->r;
  DtControl *k;
  const char *colon = strrchr(c->arg, ':');
  const char *num = *c->arg == '#' ? c->arg + 1 : colon ? colon + 1 : c->arg;
  char *end;
  long n = strtol(num, &end, 10);
  DT_TRY(r->cx, need_stop(c, &k));
  if (end == num || *end != '\0' || n <= 0)
    return dt_cmd_error(c, 0, "wanted a line as 14 or repro.lua:14, or an "
                        "operator as #7");
  if (*c->arg == '#') {
    dt_control_until(k, n, NULL, 0);
    return DT_OK;
  }
  const char *file = r->at->file;
  if (colon != NULL) {
    char *name = dt_strndup(r->cx, c->arg, (size_t)(colon - c->arg));
    file = name != NULL ? dt_session_intern(r->s, name) : NULL;
    dt_free(r->cx, name);
    if (file == NULL)
      return DT_E_NOMEM;
  }
  DT_TRY(r->cx, check_line(c, file, n));
  dt_control_until(k, 0, file, (int)n);
  return DT_OK;
}

/* ---- scripts ---- */

/* With `stop` (:debug FILE) the script stops at its first operator. Output of
** a line typed at the prompt comes as it is made; within a program that is run
** it is the program's. */
static DtStatus run_file (DtCmdCall *c, bool stop) {
  DtRepl *r = c->r;
  DtControl *k = dt_control_of(r->s);
  char *text = NULL;
  size_t n;
  if (*c->arg == '\0')
    return dt_cmd_error(c, 0, "wanted a file");
  DT_CHECK(r->cx, r->at == NULL || !stop, DT_E_COMMAND,
           "a script is stopped already; :continue or :kill it first");
  DT_TRY(r->cx, dt_repl_file(r, c->arg, &text, &n));
  DtBuf name;
  dt_buf_init(&name, r->cx);
  dt_buf_addf(&name, "@%s", c->arg);
  DtStatus st = dt_buf_ok(&name);
  if (st == DT_OK && stop && k != NULL) {
    k->attached = true;
    k->starting = true;
    dt_repl_running(r, true);
    dt_control_go(k, DT_GO_OP);
  }
  if (st == DT_OK)
    dt_rerun_remember(r, text, n, dt_buf_str(&name));
  bool was = r->streams;
  r->streams = r->depth == 1;
  if (st == DT_OK)
    st = dt_eval_script(r->L, text, n, dt_buf_str(&name), 0, NULL, &r->diag);
  r->streams = was;
  if (stop && k != NULL)
    k->attached = false;
  dt_buf_fini(&name);
  dt_free(r->cx, text);
  return st;
}

static DtStatus cmd_run (DtCmdCall *c) { return run_file(c, true); }
static DtStatus cmd_source (DtCmdCall *c) { return run_file(c, false); }

/* ---- looking around ---- */

static const DtLuaFrame *frame_here (const DtRepl *r) {
  return r->nframe > 0 ? &r->frame[r->here] : NULL;
}

static void show_frame (DtRepl *r, int i, bool mark, DtBuf *out) {
  const DtLuaFrame *f = &r->frame[i];
  size_t n = 0;
  const char *s = dtL_source_line(r->L, f->file, f->line, &n);
  dt_buf_addf(out, "%s%2d  %s:%d  %s", mark ? ">" : " ", i, f->file, f->line,
              f->name);
  if (s != NULL) {
    size_t skip = strspn(s, " \t");
    if (skip < n)
      dt_buf_addf(out, "  %.*s", (int)(n - skip), s + skip);
  }
  dt_buf_addc(out, '\n');
}

static DtStatus move_in_time (DtCmdCall *c, int by) {
  DtRepl *r = c->r;
  char *end;
  long n = strtol(c->arg, &end, 10);
  if (*c->arg == '\0')
    n = 1;
  else if (*end != '\0' || n < 0 || n > 1000)
    return dt_cmd_error(c, 0, "wanted a number of frames");
  DT_TRY(r->cx, dt_stop_select(r, r->here + by * (int)n));
  if (r->nframe > 0)
    show_frame(r, r->here, true, c->out);
  return DT_OK;
}

static DtStatus cmd_up (DtCmdCall *c) { return move_in_time(c, 1); }
static DtStatus cmd_down (DtCmdCall *c) { return move_in_time(c, -1); }

/* :list goes on where it ended, and begins again around the stop at the file's
** end; list_to 0 stands for "not begun".  In the past (:back) the place is that
** operator's, which has no frame any more. */
static DtStatus cmd_list (DtCmdCall *c) {
  enum { AROUND = 5 };
  DtRepl *r = c->r;
  DtControl *k = dt_control_of(r->s);
  const DtLuaFrame *f = frame_here(r);
  const char *file = f != NULL ? f->file : r->at != NULL ? r->at->file : NULL;
  int line = f != NULL ? f->line : r->at != NULL ? r->at->line : 0;
  const DtRecOp *op = r->past != 0 ? dt_record_find(dt_debug_of(r->s), r->past)
                                   : NULL;
  char *end;
  if (op != NULL) {
    file = op->file;
    line = op->line;
  }
  long at = strtol(c->arg, &end, 10);
  if (*c->arg != '\0' && (*end != '\0' || at <= 0))
    return dt_cmd_error(c, 0, "wanted a line number");
  DT_CHECK(r->cx, file != NULL && k != NULL, DT_E_COMMAND,
           "nothing is stopped: there is no place to list");
  if (*c->arg != '\0' || r->list_to == 0) {
    int mid = *c->arg != '\0' ? (int)at : line;
    r->list_from = mid - AROUND;
    r->list_to = mid + AROUND;
  } else {
    r->list_from = r->list_to + 1;
    r->list_to += 2 * AROUND + 1;
  }
  int lines = line_count(r, file);
  if (lines > 0 && r->list_from > lines) {
    r->list_to = 0;             /* again: around the stop */
    return dt_cmd_error(c, 0, "%s has %d line%s", file, lines,
                        lines == 1 ? "" : "s");
  }
  dt_list_text(k, file, line, r->list_from, r->list_to, c->out);
  return DT_OK;
}

/* What is under way, from the innermost out; then the script's functions. */
void dt_cmd_where (DtRepl *r, DtBuf *out) {
  const DtStopAt *at = r->at;
  DtDebug *d = dt_debug_of(r->s);
  if (at->e != NULL) {
    dt_buf_add(out, "    ");
    dt_event_text(at->e, out);
    dt_buf_addc(out, '\n');
    if (r->s->cur_op != NULL && r->s->cur_op->sig != NULL &&
        at->e->kind != DT_EV_OP && at->e->kind != DT_EV_OP_END &&
        at->e->kind != DT_EV_ERROR)
      dt_buf_addf(out, "    in %s #%lld\n", r->s->cur_op->sig->full,
                  (long long)r->s->cur_seq);
  }
  if (d->composite != NULL)
    dt_buf_addf(out, "    in function %s\n", d->composite);
  else if (d->func != NULL)
    dt_buf_addf(out, "    in %s\n", d->func);
  if (r->s->module != NULL && *r->s->module != '\0')
    dt_buf_addf(out, "    in module %s\n", r->s->module);
  if (r->s->backward)
    dt_buf_add(out, "    in backward\n");
  for (int i = 0; i < r->nframe; i++)
    show_frame(r, i, i == r->here, out);
}

static DtStatus cmd_print (DtCmdCall *c) {
  if (*c->arg == '\0')
    return dt_cmd_error(c, 0, "wanted an expression");
  return dt_eval_line(c->r->L, c->arg, &c->r->diag);
}

/* The expression is compiled once to see that it is one, and evaluated at each
** stop; at a stop already, now. */
static DtStatus cmd_display (DtCmdCall *c) {
  DtRepl *r = c->r;
  enum { MAX = sizeof r->display / sizeof r->display[0] };
  if (*c->arg == '\0') {
    for (int i = 0; i < r->ndisplay; i++)
      dt_buf_addf(c->out, "%d  %s\n", i + 1, r->display[i]);
    return DT_OK;
  }
  DT_CHECK(r->cx, r->ndisplay < MAX, DT_E_LIMIT,
           "at most %d expressions are displayed", (int)MAX);
  bool expression;
  int top = lua_gettop(r->L);
  bool whole = dt_eval_compile(r->L, c->arg, &expression);
  DtStatus st = !whole ? dt_cmd_error(c, 0, "no Lua expression: %s",
                                      lua_tostring(r->L, -1))
    : !expression ? dt_cmd_error(c, 0, "wanted an expression, not a statement")
                  : DT_OK;
  lua_settop(r->L, top);
  if (st != DT_OK)
    return st;
  char *copy = dt_strdup(r->cx, c->arg);
  if (copy == NULL)
    return DT_E_NOMEM;
  r->display[r->ndisplay++] = copy;
  return r->at != NULL ? dt_eval_line(r->L, c->arg, &r->diag) : DT_OK;
}

static DtStatus cmd_undisplay (DtCmdCall *c) {
  DtRepl *r = c->r;
  char *end;
  long n = strtol(c->arg, &end, 10);
  if (*end != '\0' || (*c->arg != '\0' && (n < 1 || n > r->ndisplay)))
    return dt_cmd_error(c, 0, "wanted a number that :display lists");
  for (int i = r->ndisplay - 1; i >= 0; i--) {
    if (*c->arg != '\0' && i != n - 1)
      continue;
    dt_free(r->cx, r->display[i]);
    memmove(&r->display[i], &r->display[i + 1],
            sizeof r->display[0] * (size_t)(r->ndisplay - i - 1));
    r->ndisplay--;
  }
  return DT_OK;
}

/* ---- :info ---- */

static int push_locals (lua_State *L) {
  dtL_frame_locals(L, lua_touserdata(L, 1));
  return 1;
}

/* Lines after the first of what was written from `from` on go under it. */
static DtStatus under_first (DtBuf *out, size_t from, DtCtx *cx) {
  DtBuf b;
  const char *s = dt_buf_str(out) + from;
  if (strchr(s, '\n') == NULL)
    return DT_OK;
  dt_buf_init(&b, cx);
  for (bool first = true; *s != '\0'; first = false) {
    size_t n = strcspn(s, "\n");
    dt_buf_addf(&b, "%s%.*s", first ? "" : "\n              ", (int)n, s);
    s += n + (s[n] == '\n');
  }
  DtStatus st = dt_buf_ok(&b);
  if (st == DT_OK) {
    out->len = from;
    dt_buf_add(out, dt_buf_str(&b));
  }
  dt_buf_fini(&b);
  return st;
}

static DtStatus info_locals (DtCmdCall *c) {
  DtRepl *r = c->r;
  lua_State *L = r->L;
  int top = lua_gettop(L);
  DtLuaFrame *f = r->nframe > 0 ? &r->frame[r->here] : NULL;
  DT_CHECK(r->cx, f != NULL, DT_E_COMMAND, "no function of a script is here");
  lua_pushcfunction(L, push_locals);
  lua_pushlightuserdata(L, f);
  if (lua_pcall(L, 1, 1, 0) != LUA_OK)
    return dtL_catch(L, DT_E_LUA);
  bool any = false;
  for (int i = 1; lua_rawgeti(L, top + 1, i) == LUA_TSTRING; i++) {
    lua_pushvalue(L, -1);
    lua_rawget(L, top + 1);
    DtVar *v = dtL_test_tensor(L, -1);
    any = true;
    dt_buf_addf(c->out, "  %-10s  ", lua_tostring(L, -2));
    size_t from = c->out->len;
    if (v != NULL)
      dt_var_print(v, c->out);
    else if (lua_isfunction(L, -1))
      dt_buf_add(c->out, "function");
    else if (!dtL_py_outline(L, -1, c->out))
      dtL_show_value(L, -1, c->out);
    DT_TRY(r->cx, under_first(c->out, from, r->cx));
    if (c->out->len > 0 && c->out->s[c->out->len - 1] != '\n')
      dt_buf_addc(c->out, '\n');
    lua_settop(L, top + 1);
  }
  lua_settop(L, top);
  if (!any)
    dt_buf_add(c->out, "  no locals here\n");
  return DT_OK;
}

static DtStatus info_stop (DtCmdCall *c) {
  DtControl *k;
  DT_TRY(c->r->cx, need_stop(c, &k));
  dt_stop_text(k, c->r->at, c->out);
  return DT_OK;
}

static DtStatus info_frames (DtCmdCall *c) {
  DtControl *k;
  DT_TRY(c->r->cx, need_stop(c, &k));
  dt_cmd_where(c->r, c->out);
  return DT_OK;
}

static DtStatus info_breakpoints (DtCmdCall *c) {
  DtControl *k = dt_control_of(c->r->s);
  for (int i = 0; k != NULL && i < k->nbp; i++) {
    const char *s = k->bp[i].commands;
    dt_bp_print(&k->bp[i], c->out);
    dt_buf_addc(c->out, '\n');
    while (s != NULL && *s != '\0') {
      size_t n = strcspn(s, "\n");
      dt_buf_addf(c->out, "      %.*s\n", (int)n, s);
      s += n + (s[n] == '\n');
    }
  }
  if (k == NULL || k->nbp == 0)
    dt_buf_add(c->out, "no breakpoints\n");
  return DT_OK;
}

static DtStatus cmd_info (DtCmdCall *c) {
  static const struct { const char *name; DtStatus (*fn) (DtCmdCall *); }
    what[] = {{"stop", info_stop}, {"locals", info_locals},
              {"frames", info_frames}, {"breakpoints", info_breakpoints}};
  size_t n = strlen(c->arg);
  if (n == 0)
    return c->r->at != NULL ? info_stop(c) : info_breakpoints(c);
  for (size_t i = 0; i < sizeof what / sizeof what[0]; i++)
    if (strncmp(what[i].name, c->arg, n) == 0)
      return what[i].fn(c);
  return dt_cmd_error(c, 0, "wanted stop, locals, frames or breakpoints");
}

const DtCmd dt_cmds_run[] = {
  {"run", "debugging", 0, "FILE",
   "Run a script on every rank and stop before its first operator.\n"
   "An error stops where it is raised; :continue goes on, :kill ends it.\n"
   ":source runs without stopping.\n"
   "Example: :run repro.lua", cmd_run},
  {"source", "debugging", 0, "FILE",
   "Run a script on every rank, to its end; its globals stay.\n"
   "Example: :source repro.lua", cmd_source},
  {"step s", "debugging", DT_CMD_REPEATS, "",
   "Go to the next event, inside this one if there is any.\n"
   "The tree: script line > function > operator > redistribution >\n"
   "collective > kernel, forward and backward.\n"
   "Example: :step", cmd_step},
  {"next n", "debugging", DT_CMD_REPEATS, "",
   "Go to the next event that is not inside this one.\n"
   "Example: :next", cmd_next},
  {"finish", "debugging", 0, "",
   "Go out: to the next event outside the one around this.\n"
   "Example: :finish", cmd_finish},
  {"line", "debugging", DT_CMD_REPEATS, "",
   "Go to the next line of the script, over the functions it calls.\n"
   "Example: :line", cmd_line},
  {"continue c", "debugging", 0, "",
   "Go on to the next breakpoint, error or end.\n"
   "Example: :continue", cmd_continue},
  {"until", "debugging", 0, "N|FILE:N|#N",
   "Go on to a line of the script, or to operator #N.\n"
   "Example: :until #12", cmd_until},
  {"kill k", "debugging", 0, "",
   "End the script that is stopped; the session goes on.\n"
   "Example: :kill", cmd_kill},
  {"list l", "debugging", DT_CMD_REPEATS, "[N]",
   "Show the lines of the script around the stop, or around line N.\n"
   "Again: the lines after them.\n"
   "Example: :list", cmd_list},
  {"up u", "debugging", 0, "[N]",
   "Look at the caller: its variables are seen by the lines you type.\n"
   "Example: :up", cmd_up},
  {"down d", "debugging", 0, "[N]",
   "Look at the called function again.\n"
   "Example: :down", cmd_down},
  {"print p pp", "debugging", 0, "EXPR",
   "Evaluate in the selected frame, also where a failed line is open.\n"
   "Example: :print 1 + 1", cmd_print},
  {"display", "debugging", 0, "[EXPR]",
   "Show an expression at every stop; without one, list them.\n"
   "Example: :display dt.rank()", cmd_display},
  {"undisplay", "debugging", 0, "[N]",
   "Stop displaying expression N, or all.\n"
   "Example: :undisplay", cmd_undisplay},
  {"info i", "debugging", 0, "[stop|locals|frames|breakpoints]",
   "What is stopped; the variables here; the functions; the breakpoints.\n"
   "Example: :info breakpoints", cmd_info},
  {NULL, NULL, 0, NULL, NULL, NULL}
};
