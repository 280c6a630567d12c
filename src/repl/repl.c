/* SPDX-License-Identifier: MIT
** repl/repl.c: read on rank 0, run on every rank, meet, print once.
**
** What is not here: a session's start and end (repl_start.c), reading chunks
** (repl_prompt.c), editing (line_*.c), folding and writing (repl_write.c),
** Lua's compiling and calling (repl_eval.c), commands (cmd*.c).
**
** A round has the same steps on every rank, whatever the text did: (1) rank
** 0's text is shared; (2) every rank runs it, and a failure stays a value;
** (3) all meet with their status; (4) outputs are gathered and rank 0 writes
** them.  Ctrl-C counts in step 2 only: the steps of the shell itself must
** happen on all ranks or on none. */
#include "base/error_comm.h"
#include "base/error_tool.h"
#include "repl/repl_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <lua.h>
#include "debug/control.h"
#include "debug/debug.h"
#include "repl/cmd.h"

void dt_repl_stop_softly (DtRepl *r, bool on) {
  /* Once for all threads: another one, late, would forget what was asked. */
  if (dt_repl_first(r) || r->app->world != DT_WORLD_THREADS)
    dt_stop_soft(r->app->stop, on, dt_stop_soft_hook);
}

/* Ctrl-C stops what runs (true), or is a key again and forgotten (false).
** Each rank forgets, after all have stopped. */
void dt_repl_running (DtRepl *r, bool running) {
  atomic_int *board = dt_comm_interrupt(r->comm);
  if (dt_repl_first(r)) {
    dt_stop_mode(r->app->stop, running ? (r->asks ? DT_STOP_RUN : DT_STOP_SCRIPT)
                 : r->app->interactive ? DT_STOP_KEY : DT_STOP_DIE);
    if (r->line != NULL)
      dt_line_running(r->line, running);
  }
  if (running)
    dt_repl_stream_begin(r);
  DtControl *c = dt_control_of(r->s);
  dt_repl_stop_softly(r, running && c != NULL && c->attached && r->at == NULL);
  if (!running)
    r->cx->interrupt = r->interrupt;    /* a handler may have put it away */
  if (!running && r->cx->interrupt != NULL)
    atomic_store(r->cx->interrupt, 0);
  if (!running && board != NULL)
    atomic_store(board, 0);
  if (!running)
    dtL_forget_interrupt(r->L);
}

/* The end of a line: all ranks say how it went and become one prompt again.
** It must be reached on every way out of a line, also without memory: a rank
** that stays away leaves the others waiting.  An interruption anywhere is one
** for all; else the first rank that failed gives the status. */
DtStatus dt_repl_meet (DtRepl *r, DtStatus mine) {
  DtCtx *cx = r->cx;
  DtCollInfo info = {"end of line", 0, "", "", ""};
  if (r->lost)
    return DT_E_RANK_LOST;
  dt_session_home(r->s);
  if (r->at == NULL)
    dt_notes_take(r->notes, &r->diag);
  dt_error_clear(cx);
  DtStatus *all = DT_NEWN(cx, DtStatus, r->comm->size);
  if (all == NULL)
    dt_error_clear(cx);
  if (mine != DT_OK)
    (void)dt_raise(cx, mine, "this rank's line failed");
  DtStatus st = dt_comm_meet(cx, r->comm, mine, &info, all);
  dt_repl_running(r, false);
  if (st == DT_E_RANK_LOST) {
    dt_repl_lost(r);
  } else {
    if (mine == DT_OK && st == DT_E_DIVERGED)
      dt_repl_tell(r);            /* it did not wait, but it is concerned */
    dt_error_clear(cx);
    r->status = all == NULL ? (mine != DT_OK ? mine : st) : DT_OK;
    for (int i = 0; all != NULL && i < r->comm->size; i++)
      if (r->status == DT_OK || all[i] == DT_E_INTERRUPTED)
        r->status = all[i];
    if (r->status == DT_E_INTERRUPTED && r->app->interactive &&
        dt_repl_first(r) && !r->app->tty.forwarded)
      dt_output_add(&r->app->out, DT_OUT_DIAG, "\n");   /* after the ^C */
    dt_repl_findings(r);
    DtStatus put = dt_repl_put(r);
    if (put == DT_E_RANK_LOST)
      dt_repl_lost(r);
    else if (put == DT_E_NOMEM && dt_repl_first(r))
      dt_repl_say(r, "%s RuntimeError: out of memory\n",
                  dt_error_info(put)->id);
    dt_error_clear(cx);
  }
  dt_free(cx, all);
  return r->lost ? DT_E_RANK_LOST : r->status;
}

/* ---- running ---- */

/* A process of mpirun has one slot for Ctrl-C, threads have one each. */
static int local_index (const DtRepl *r) {
  return r->app->world == DT_WORLD_THREADS ? r->comm->rank : 0;
}

/* A line: command, help, address, or Lua (or Python).  The first sign
** decides, but "::" is a label of Lua's, and '@' in Python begins a
** decorator unless an address follows. A line that failed is kept for
** commands that mend it. */
static DtStatus run_line (DtRepl *r, const char *text) {
  const char *s = text + strspn(text, " \t\n");
  if (*s == '@' && (!r->set.python || dt_addr_is(s))) {
    bool mine = false;
    const char *rest;
    DT_TRY(r->cx, dt_addr_parse(r, s, &mine, &rest));
    bool part = r->part;
    r->part = part || strncmp(s + 1, "all", strcspn(s + 1, " \t\n")) != 0;
    DtStatus st = mine ? run_line(r, rest) : DT_OK;
    r->part = part;
    return st;
  }
  if (*s == '\001' && r->app->editor != NULL) {
    DtBuf line;
    DtStatus st = DT_OK;
    dt_buf_init(&line, r->cx);
    dt_editor_line(r, s + 1, &line);
    if (line.len > 0 && *dt_buf_str(&line) != '\001')
      st = run_line(r, dt_buf_str(&line));
    dt_buf_fini(&line);
    return st;
  }
  if (*s == ':' && s[1] != ':')
    return r->app->o.json ? dt_cmd_json(r, s) : dt_cmd_run(r, s);
  if (*s == '?')
    return dt_help_page(r, s + 1 + strspn(s + 1, " \t"), dtL_out(r->L));
  if (strchr(s, '?') != NULL) {
    DtBuf name;
    bool source = false, asked;
    DtStatus hst = DT_OK;
    dt_buf_init(&name, r->cx);
    asked = dt_help_asked(s, &name, &source);
    if (asked && !(source && dt_help_lua(dt_buf_str(&name), true,
                                         dtL_out(r->L))))
      hst = dt_help_page(r, dt_buf_str(&name), dtL_out(r->L));
    dt_buf_fini(&name);
    if (asked) return hst;
  }
  if (*s == '=' && !r->set.python)
    s++;
  DtDebug *d = r->at != NULL && r->past == 0 ? dt_debug_of(r->s) : NULL;
  DtTyping typing = {0};
  if (d != NULL)
    dt_debug_typing(d, &typing);
  DtStatus st = r->set.python
    ? dt_eval_python_line(r, text, strlen(text), NULL, 0)
    : dt_eval_line(r->L, s, &r->diag);
  if (d != NULL)
    dt_debug_typed(d, &typing);
  if (st != DT_OK) {
    dt_buf_clear(&r->failed);
    dt_buf_add(&r->failed, s);
  }
  return st;
}

/* An error pending in the context becomes a diagnostic. */
void dt_repl_tell (DtRepl *r) {
  DtError *e = &r->cx->err;
  if (e->code == DT_OK)
    return;
  const DtErrorInfo *i = dt_error_info(e->code);
  dt_buf_addf(&r->diag, "%s %s: %s\n", i->id,
              e->pyclass != NULL ? e->pyclass : i->pyclass,
              dt_buf_str(&e->message));
  for (const char *s = dt_buf_str(&e->explain); *s != '\0'; ) {
    size_t n = strcspn(s, "\n");
    dt_buf_addf(&r->diag, n > 0 ? "  %.*s\n" : "%.*s\n", (int)n, s);
    s += n + (s[n] == '\n');
  }
  dt_error_clear(r->cx);
}

double dt_repl_seconds (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A forward that was killed may not have left its module. */
static int leave_modules (lua_State *L) {
  dtL_session(L)->module = "";
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, "dt.nn.module") == LUA_TTABLE &&
      lua_getfield(L, -1, "reset") == LUA_TFUNCTION)
    lua_call(L, 0, 0);
  return 0;
}

/* A text begins or has ended: errors of typed lines stop lightly; nothing of
** a stop outlives its text.  `from` is where the text's operators begin in
** the record; names are asked for anew, as the text before had a line of the
** same number. */
static void begin_end (DtRepl *r, bool begin, const char *name) {
  DtControl *c = dt_control_of(r->s);
  if (c == NULL)
    return;
  c->prompt = begin && name == NULL && r->asks;
  c->d->names_file = NULL;      /* another line 1 */
  if (begin)
    c->d->from = r->s->seq + 1;
  if (begin)
    dt_control_arm(c);
  else
    dt_control_rest(c);
  if (begin && c->lines)
    c->h.lines(c->h.ud, true);
  if (!begin)
    dt_buf_clear(&r->told);
}

/* Not a command, a question of an adapter's, or one for help: those read what
** was printed. */
static bool is_lua (const char *text) {
  const char *s = text + strspn(text, " \t\n");
  return (*s != ':' || s[1] == ':') && *s != '\001' && *s != '?';
}

/* One line or script from the prompt. Only the outermost call begins and ends
** the stop's bookkeeping; a stop inside has lines of its own, at a depth of
** one more. */
DtStatus dt_repl_run (DtRepl *r, const char *text, const char *name) {
  int i = local_index(r);
  double t0 = dt_repl_seconds();
  bool was = r->streams;
  r->streams = r->depth == 0 && (name != NULL || is_lua(text));
  if (r->depth == 0 && r->s->module != NULL && *r->s->module != '\0') {
    lua_pushcfunction(r->L, leave_modules);
    if (lua_pcall(r->L, 0, 0, 0) != LUA_OK)
      lua_pop(r->L, 1);         /* no memory: a name stays wrong */
  }
  if (r->depth == 0) {
    begin_end(r, true, name);
    dt_stop_enter(r->app->stop, i, r->L);   /* after the hook on lines */
  }
  r->depth++;
  /* In the past nothing happens: it is only looked at. */
  DtDebug *d = r->past != 0 && r->at == NULL ? dt_debug_of(r->s) : NULL;
  DtMute m;
  if (d != NULL)
    dt_debug_mute(d, &m);
  DtStatus st = name == NULL
    ? run_line(r, text)
    : dt_eval_script(r->L, text, strlen(text), name, r->app->o.nargs,
                     r->app->o.args, &r->diag);
  if (d != NULL)
    dt_debug_unmute(d, &m);
  r->depth--;
  if (r->depth == 0) {
    dt_stop_end(r);
    dt_stop_leave(r->app->stop, i);
    lua_sethook(r->L, NULL, 0, 0);
    begin_end(r, false, name);
  }
  dt_repl_tell(r);
  if (dtL_state(r->L)->exiting)
    st = DT_OK;
  r->streams = was;
  r->elapsed = dt_repl_seconds() - t0;
  return st;
}

/* One text from rank 0 to all; the caller frees it. */
DtStatus dt_repl_share (DtRepl *r, char **text, size_t *n) {
  DtStatus st = r->comm->no_data ? DT_OK
                                 : dt_world_share(r->cx, r->comm, text, n);
  if (st != DT_OK)
    dt_repl_lost(r);
  return st;
}

/* :rerun, after the text that asked for it has ended. */
static void rerun_asked (DtRepl *r) {
  while (dt_rerun_pending(r)) {
    dt_repl_running(r, true);
    int i = local_index(r);
    begin_end(r, true, r->rerun.name);
    dt_stop_enter(r->app->stop, i, r->L);   /* after the hook on lines */
    r->depth++;
    DtStatus st = dt_rerun_run(r);
    r->depth--;
    dt_stop_end(r);
    dt_stop_leave(r->app->stop, i);
    lua_sethook(r->L, NULL, 0, 0);
    begin_end(r, false, NULL);
    dt_repl_tell(r);
    (void)dt_repl_meet(r, st);
  }
}

/* What is typed gets its line numbers; what an adapter asks has none. */
static void number_lines (DtRepl *r, const char *text) {
  if (*text == '\001')
    return;
  r->line_from = r->line_next > 0 ? r->line_next : 1;
  r->line_next = r->line_from + 1;
  for (const char *s = text; *s != '\0'; s++)
    r->line_next += *s == '\n';
  dt_eval_keep_typed(r->L, r->line_from, text);
}

void dt_repl_tell_time (DtRepl *r) {
  double seconds = r->resumed > 0 ? dt_repl_seconds() - r->resumed : r->elapsed;
  char ms[48];
  r->resumed = 0;
  if (!dt_repl_first(r) || !r->set.timing)
    return;
  snprintf(ms, sizeof ms, "%.3f", 1e3 * seconds);
  dt_repl_say(r, "%s ms\n", ms);
}

/* Was the text a line whose time can be told now?  One that lets the program go
** on takes until that stops again or ends (run_prompt). */
static bool took_time (const DtRepl *r, const char *name) {
  if (r->at != NULL)
    return name == NULL && !dt_control_of(r->s)->resumed;
  return name == NULL || r->resumed > 0;
}

/* A round with a text every rank has. */
void dt_repl_round_all (DtRepl *r, const char *text, const char *name) {
  if (name == NULL)
    number_lines(r, text);
  dt_repl_running(r, true);
  if (r->at == NULL && *text != '\001')
    dt_editor_running(r);
  DtStatus st = dt_repl_run(r, text, name);
  (void)dt_repl_meet(r, st);
  if (took_time(r, name))
    dt_repl_tell_time(r);
  if (r->at == NULL)
    rerun_asked(r);
}

int dt_repl_code_of (DtStatus st) {
  switch (st) {
    case DT_OK: return DT_EXIT_OK;
    case DT_E_INTERRUPTED: return DT_EXIT_INTERRUPTED;
    case DT_E_EXPECT: return DT_EXIT_CHECK;
    default: return DT_EXIT_ERROR;
  }
}

/* ---- files ---- */

static DtStatus read_all (DtCtx *cx, const char *path, DtBuf *b) {
  FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
  DT_CHECK(cx, f != NULL, DT_E_IO, "cannot read %s: %s", path,
           strerror(errno));
  char part[8192];
  size_t n;
  errno = 0;
  while ((n = fread(part, 1, sizeof part, f)) > 0)
    dt_buf_addn(b, part, n);
  bool bad = ferror(f) != 0;
  int why = errno;
  if (f != stdin)
    fclose(f);
  DT_CHECK(cx, !bad, DT_E_IO, "cannot read %s: %s", path, strerror(why));
  return dt_buf_ok(b);
}

DtStatus dt_repl_all_come (DtRepl *r) {
  DT_CHECK(r->cx, !r->part || r->comm->size == 1, DT_E_COMMAND,
           "all ranks do this together: say it without @");
  return DT_OK;
}

/* Shared as "+" or "CODE MESSAGE". */
DtStatus dt_repl_as_first (DtRepl *r, DtStatus mine) {
  DtCtx *cx = r->cx;
  DtBuf b;
  char *t = NULL, *end;
  if (r->part)                  /* nobody else asks */
    return mine;
  dt_buf_init(&b, cx);
  if (mine == DT_OK)
    dt_buf_addc(&b, '+');
  else
    dt_buf_addf(&b, "%d %s", (int)mine, dt_buf_str(&cx->err.message));
  size_t n = b.len;
  DtStatus st = dt_buf_ok(&b);
  if (dt_repl_first(r)) {
    dt_error_clear(cx);
    t = dt_strdup(cx, dt_buf_str(&b));
  }
  dt_buf_fini(&b);
  if (st != DT_OK || (dt_repl_first(r) && t == NULL))
    return DT_E_NOMEM;
  st = dt_repl_share(r, &t, &n);
  if (st == DT_OK && n > 0 && *t != '+') {
    int code = (int)strtol(t, &end, 10);
    st = dt_raise(cx, (DtStatus)code, "%s", end + (*end == ' '));
  }
  dt_free(cx, t);
  return st;
}

/* Shared as "+text", "-message", or "0" where a zero byte is in it. */
DtStatus dt_repl_file (DtRepl *r, const char *path, char **text, size_t *n) {
  DtCtx *cx = r->cx;
  char *t = NULL;
  size_t k = 0;
  DT_TRY(cx, dt_repl_all_come(r));
  if (dt_repl_first(r)) {
    DtBuf b;
    dt_buf_init(&b, cx);
    dt_buf_addc(&b, '+');
    if (read_all(cx, path, &b) != DT_OK) {
      dt_buf_clear(&b);
      dt_buf_addf(&b, "-%s", dt_buf_str(&cx->err.message));
      dt_error_clear(cx);
    } else if (strlen(dt_buf_str(&b)) < b.len) {
      dt_buf_clear(&b);
      dt_buf_addc(&b, '0');
    }
    t = dt_strndup(cx, dt_buf_str(&b), b.len);
    k = b.len;
    dt_buf_fini(&b);
    if (t == NULL)
      return DT_E_NOMEM;
  }
  DtStatus st = dt_repl_share(r, &t, &k);
  if (st == DT_OK && k > 0 && t[0] == '-')
    st = dt_raise(cx, DT_E_IO, "%s", t + 1);
  if (st == DT_OK && k > 0 && t[0] == '0')
    st = dt_raise(cx, DT_E_PARSE, "%s: source code cannot contain null bytes",
                  path);
  if (st != DT_OK) {
    dt_free(cx, t);
    return st;
  }
  memmove(t, t + 1, k);         /* with the 0 byte */
  t[k - 1] = '\0';
  *text = t;
  *n = k - 1;
  return DT_OK;
}
/* Shared as "xTEXT" (run it), "nTEXT" (it is line 1) or "qCODE" (leave). */
bool dt_repl_round (DtRepl *r, const char *text) {
  char *t = NULL;
  size_t n = 0;
  char code[16];
  if (dt_repl_first(r)) {
    snprintf(code, sizeof code, "%d", r->code);
    const char *body = text != NULL ? text : code;
    if (text != NULL && !r->playing)
      dt_typed_add(r, text);
    n = strlen(body) + 1;
    t = dt_alloc(r->cx, n + 1);
    if (t == NULL) {              /* the line is lost, not the session */
      dt_repl_tell(r);
      dt_output_write(&r->app->out, DT_OUT_DIAG, dt_buf_str(&r->diag),
                      r->diag.len);
      dt_buf_clear(&r->diag);
      return !r->quit;
    }
    t[0] = text == NULL ? 'q' : r->renumber ? 'n' : 'x';
    r->renumber = r->renumber && text == NULL;
    memcpy(t + 1, body, n);
  }
  if (dt_repl_share(r, &t, &n) == DT_OK) {
    if (n == 0 || t[0] == 'q') {
      r->quit = true;
      r->code = n > 0 ? (int)strtol(t + 1, NULL, 10) : DT_EXIT_ERROR;
    } else {
      if (t[0] == 'n')
        r->line_next = 1;
      if (!dt_stop_leaves(r, t + 1))
        dt_repl_round_all(r, t + 1, NULL);
    }
  }
  dt_free(r->cx, t);
  while (r->at == NULL && r->stash != NULL && !r->quit) {
    t = r->stash;               /* every rank has it */
    r->stash = NULL;
    dt_repl_round_all(r, t, NULL);
    dt_free(r->cx, t);
  }
  return !r->quit;
}

int dt_repl_share_code (DtRepl *r, int code) {
  char *t = NULL;
  size_t n = 0;
  if (r->lost)
    return DT_EXIT_ERROR;
  if (dt_repl_first(r)) {
    DtBuf b;
    dt_buf_init(&b, r->cx);
    dt_buf_addf(&b, "%d", code);
    t = dt_strdup(r->cx, dt_buf_str(&b));
    n = b.len;
    dt_buf_fini(&b);
  }
  if ((dt_repl_first(r) && t == NULL) || dt_repl_share(r, &t, &n) != DT_OK)
    code = DT_EXIT_ERROR;
  else
    code = (int)strtol(t, NULL, 10);
  dt_free(r->cx, t);
  return code;
}

/* What Lua's hook does: raise INTERRUPTED as an error object.  A wait that the
** same Ctrl-C ended may be on its way out as an error of the engine, with the
** words on who waited for whom: then it is that one. */
static void on_hook (lua_State *L, lua_Debug *ar) {
  (void)ar;
  DtCtx *cx = dtL_session(L)->cx;
  if (cx->err.code != DT_E_INTERRUPTED) {
    dt_error_clear(cx);
    (void)dt_raise(cx, DT_E_INTERRUPTED, "interrupted");
  }
  dtL_raise(L);
}

void dt_repl_hook (lua_State *L) {
  lua_sethook(L, on_hook, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 100);
}

/* In a signal handler, while that thread may be anywhere: fields are read. */
void dt_repl_doing (lua_State *L, char *text, size_t n) {
  const DtSession *s = dtL_state(L)->s;
  const DtOpDef *op = s->cur_op;
  snprintf(text, n, "rank %d", s->comm != NULL ? s->comm->rank : 0);
  size_t len = strlen(text);
  if (op != NULL && op->sig != NULL)
    snprintf(text + len, n - len, " is in %s", op->sig->full);
  len = strlen(text);
  if (s->cur_file != NULL && s->cur_line > 0)
    snprintf(text + len, n - len, " at %s:%d", s->cur_file, s->cur_line);
}

bool dt_repl_is_hook (lua_Hook h) { return h == on_hook; }

lua_Hook dt_repl_interrupt_hook (void) { return on_hook; }
