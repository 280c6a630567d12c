/* SPDX-License-Identifier: MIT
** repl/repl.c: read on rank 0, run on every rank, meet, print once.
**
** What is not here: editing (line_*.c), Lua's compiling and calling
** (repl_eval.c), commands (cmd*.c).
**
** A round has the same steps on every rank, whatever the text did: (1) rank
** 0's text is shared; (2) every rank runs it, and a failure stays a value;
** (3) all meet with their status; (4) outputs are gathered and rank 0 writes
** them.  Ctrl-C counts in step 2 only: the steps of the shell itself must
** happen on all ranks or on none. */
#include "repl/repl_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <unistd.h>
#include <lauxlib.h>
#include <lua.h>
#include "bind/embed.h"
#include "debug/control.h"
#include "debug/debug.h"
#include "oplib/ops.h"
#include "repl/cmd.h"
#include "repl/fold.h"
#include "repl/history.h"
#include "repl/source.h"

/* ---- writing ---- */

static void free_texts (DtCtx *cx, char **v, int n) {
  for (int i = 0; i < n && v != NULL; i++)
    dt_free(cx, v[i]);
  dt_free(cx, v);
}

/* What one rank hands in after a chunk: "EXIT LENGTH\n", results (LENGTH
** bytes), a blank, diagnostics.  EXIT is the code given to os.exit() or -. */
static void pack (DtRepl *r, DtBuf *b) {
  DtBind *k = dtL_state(r->L);
  DtBuf *out = dtL_out(r->L);
  if (k->exiting)
    dt_buf_addf(b, "%d", k->exit_code);
  else
    dt_buf_addc(b, '-');
  dt_buf_addf(b, " %zu\n", strlen(dt_buf_str(out)));
  dt_buf_add(b, dt_buf_str(out));
  dt_buf_addc(b, ' ');
  dt_buf_add(b, dt_buf_str(&r->diag));
  dt_buf_clear(out);
  dt_buf_clear(&r->diag);
}

/* The same when there was no memory for it. */
static const char nothing[] = "- 0\n DT0001 RuntimeError: out of memory\n";

/* The two parts of a pack, cut in place. */
static void unpack (char *s, const char **out, const char **diag) {
  char *body = strchr(s, '\n');
  size_t n = strtoull(strchr(s, ' '), NULL, 10);
  *out = body + 1;
  body[1 + n] = '\0';
  *diag = body + 2 + n;
}

/* One rank's os.exit() ends all, with the largest code. */
static void look_at_exits (DtRepl *r, int n, char **text) {
  for (int i = 0; i < n; i++) {
    if (text[i][0] == '-')
      continue;
    int c = (int)strtol(text[i], NULL, 10);
    r->code = r->quit && r->code > c ? r->code : c;
    r->quit = true;
  }
}

/* Colour, after folding: an error's first line bold, a note dim.  What the
** colours say the text says too. */
static void paint (const char *s, DtBuf *out) {
  while (*s != '\0') {
    size_t n = strcspn(s, "\n"), tag = *s == '[' ? strcspn(s, "]") + 1 : 0;
    const char *t = s + (tag < n ? tag + strspn(s + tag, " ") : 0);
    const char *on = strncmp(t, "DT0", 3) == 0 ? "\033[1;31m"
      : *t == '#' || strncmp(t, "DT1", 3) == 0 ? "\033[2m" : NULL;
    dt_buf_addf(out, "%s%.*s%s", on != NULL ? on : "", (int)n, s,
                on != NULL ? "\033[0m" : "");
    s += n;
    if (*s == '\n')
      dt_buf_addc(out, *s++);
  }
}

static DtStatus put_part (DtRepl *r, int n, const char *const *v,
                          DtOutKind kind) {
  DtCtx *cx = r->cx;
  DtBuf out;
  DtStatus st = DT_OK;
  int *rank = DT_NEWN(cx, int, n);
  dt_buf_init(&out, cx);
  if (rank == NULL)
    st = DT_E_NOMEM;
  for (int i = 0; i < n && st == DT_OK; i++)
    rank[i] = i;
  if (r->app->o.json && kind == DT_OUT_RESULT)
    dt_buf_add(&out, v[0]);       /* objects, not folded: rank 0's */
  else if (st == DT_OK && r->set.raw && n > 1)
    dt_fold_raw(n, rank, v, &out);
  else if (st == DT_OK)
    st = dt_fold(cx, n, rank, v, &out);
  if (kind == DT_OUT_DIAG && r->app->out.color[kind] && out.len > 0) {
    DtBuf painted;
    dt_buf_init(&painted, cx);
    paint(dt_buf_str(&out), &painted);
    dt_output_write(&r->app->out, kind, dt_buf_str(&painted), painted.len);
    dt_buf_fini(&painted);
  } else {
    dt_output_write(&r->app->out, kind, dt_buf_str(&out), out.len);
  }
  dt_buf_fini(&out);
  dt_free(cx, rank);
  return st;
}

static DtStatus put_parts (DtRepl *r, int n, char **text) {
  const char **out = DT_NEWN(r->cx, const char *, n);
  const char **diag = DT_NEWN(r->cx, const char *, n);
  DtStatus st = out != NULL && diag != NULL ? DT_OK : DT_E_NOMEM;
  for (int i = 0; i < n && st == DT_OK; i++)
    unpack(text[i], &out[i], &diag[i]);
  if (st == DT_OK)
    st = put_part(r, n, out, DT_OUT_RESULT);
  if (st == DT_OK)
    st = put_part(r, n, diag, DT_OUT_DIAG);
  dt_free(r->cx, out);
  dt_free(r->cx, diag);
  return st;
}

/* Ctrl-C stops what runs (true), or is a key again and forgotten (false).
** Each rank forgets, after all have stopped. */
void dt_repl_running (DtRepl *r, bool running) {
  atomic_int *board = dt_comm_interrupt(r->comm);
  if (dt_repl_first(r)) {
    dt_stop_mode(r->app->stop, running ? DT_STOP_RUN
                 : r->app->interactive ? DT_STOP_KEY : DT_STOP_DIE);
    if (r->line != NULL)
      dt_line_running(r->line, running);
  }
  DtControl *c = dt_control_of(r->s);
  dt_stop_soft(r->app->stop, running && c != NULL && c->attached &&
               r->at == NULL, dt_stop_soft_hook);
  if (!running && r->cx->interrupt != NULL)
    atomic_store(r->cx->interrupt, 0);
  if (!running && board != NULL)
    atomic_store(board, 0);
}

/* Gather what all ranks wrote; rank 0 folds and writes it. */
static DtStatus put_folded (DtRepl *r) {
  DtCtx *cx = r->cx;
  int n = r->comm->no_data ? 1 : r->comm->size;
  DtCollInfo info = {"shell output", 0, "", ""};
  DtBuf mine;
  dt_buf_init(&mine, cx);
  pack(r, &mine);
  char **text = DT_NEWN(cx, char *, n);
  size_t *len = DT_NEWN(cx, size_t, n);
  DtStatus st = text == NULL || len == NULL ? DT_E_NOMEM : dt_buf_ok(&mine);
  if (n > 1 && text != NULL && len != NULL) {
    /* Every rank must come, with nothing when memory ran out.  A late Ctrl-C
    ** breaks it off on all ranks alike. */
    for (int i = 0; i < 3; i++) {
      st = dt_comm_gather_text(cx, r->comm->world, &info,
                               mine.oom ? nothing : mine.s,
                               mine.oom ? sizeof nothing - 1 : mine.len,
                               text, len);
      if (st != DT_E_INTERRUPTED)
        break;
      dt_error_clear(cx);
      dt_repl_running(r, false);
    }
  } else if (st == DT_OK) {
    text[0] = mine.s;
  }
  if (st == DT_OK) {
    look_at_exits(r, n, text);
    if (dt_repl_first(r) || n == 1)
      st = put_parts(r, n, text);
  }
  if (n == 1 && text != NULL)
    text[0] = NULL;
  free_texts(cx, text, n);
  dt_free(cx, len);
  dt_buf_fini(&mine);
  return st;
}

/* Works without memory: out of it is one of the things to be said. */
static void say (DtRepl *r, const char *fmt, const char *arg) {
  char line[2048];
  int n = snprintf(line, sizeof line, fmt, arg);
  if (n >= (int)sizeof line)
    n = (int)sizeof line - 1;
  dt_output_write(&r->app->out, DT_OUT_DIAG, line, (size_t)n);
}

/* The world is broken: what this rank has is written as it is. */
static void lost (DtRepl *r) {
  if (dt_repl_first(r) && !r->lost) {
    DtBuf *out = dtL_out(r->L);
    dt_output_write(&r->app->out, DT_OUT_RESULT, dt_buf_str(out), out->len);
    dt_output_write(&r->app->out, DT_OUT_DIAG, dt_buf_str(&r->diag),
                    r->diag.len);
    say(r, "dtrepl: %s; the session ends\n", dt_buf_str(&r->cx->err.message));
  }
  r->lost = r->quit = true;
  r->code = DT_EXIT_ERROR;
}

/* New findings, a line each; what ranks promised is compared first. */
static void tell_findings (DtRepl *r) {
  if (!r->set.findings || r->findings == NULL)
    return;
  if (dt_diag_settle(r->findings) != DT_OK)
    dt_error_clear(r->cx);
  dt_diag_fresh(r->findings, &r->diag);
}

DtStatus dt_repl_meet (DtRepl *r, DtStatus mine) {
  DtCtx *cx = r->cx;
  DtCollInfo info = {"end of line", 0, "", ""};
  if (r->lost)
    return DT_E_RANK_LOST;
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
    lost(r);
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
    tell_findings(r);
    DtStatus put = put_folded(r);
    if (put == DT_E_RANK_LOST)
      lost(r);
    else if (put == DT_E_NOMEM && dt_repl_first(r))
      say(r, "%s RuntimeError: out of memory\n", dt_error_info(put)->id);
    dt_error_clear(cx);
  }
  dt_free(cx, all);
  return r->lost ? DT_E_RANK_LOST : r->status;
}

/* ---- running ---- */

static int local_index (const DtRepl *r) {
  return r->app->world == DT_WORLD_THREADS ? r->comm->rank : 0;
}

/* A line: command, help, address, or Lua. */
static DtStatus run_line (DtRepl *r, const char *text) {
  const char *s = text + strspn(text, " \t\n");
  if (*s == '@') {
    bool mine = false;
    const char *rest;
    DT_TRY(r->cx, dt_addr_parse(r, s, &mine, &rest));
    return mine ? run_line(r, rest) : DT_OK;
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
  if (*s == '=')
    s++;
  DtStatus st = dt_eval_line(r->L, s, &r->diag);
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
  size_t n = e->explain.len;
  while (n > 0 && e->explain.s[n - 1] == '\n')
    n--;
  if (n > 0)
    dt_buf_addf(&r->diag, "  %.*s\n", (int)n, e->explain.s);
  dt_error_clear(r->cx);
}

static double seconds (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A text begins or has ended: errors of typed lines stop lightly; nothing of a
** stop outlives its text. */
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

DtStatus dt_repl_run (DtRepl *r, const char *text, const char *name) {
  int i = local_index(r);
  double t0 = seconds();
  if (r->depth == 0) {
    dt_stop_enter(r->app->stop, i, r->L);
    begin_end(r, true, name);
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
  r->elapsed = seconds() - t0;
  return st;
}

/* One text from rank 0 to all; the caller frees it. */
static DtStatus share (DtRepl *r, char **text, size_t *n) {
  DtStatus st = r->comm->no_data ? DT_OK
                                 : dt_world_share(r->cx, r->comm, text, n);
  if (st != DT_OK)
    lost(r);
  return st;
}

/* :rerun, after the text that asked for it has ended. */
static void rerun_asked (DtRepl *r) {
  while (dt_rerun_pending(r)) {
    dt_repl_running(r, true);
    int i = local_index(r);
    dt_stop_enter(r->app->stop, i, r->L);
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

/* A round with a text every rank has. */
static void round_with (DtRepl *r, const char *text, const char *name) {
  dt_repl_running(r, true);
  DtStatus st = dt_repl_run(r, text, name);
  (void)dt_repl_meet(r, st);
  if (dt_repl_first(r) && r->set.timing && name == NULL) {
    char ms[48];
    snprintf(ms, sizeof ms, "%.3f", 1e3 * r->elapsed);
    say(r, "%s ms\n", ms);
  }
  if (r->at == NULL)
    rerun_asked(r);
}

static int code_of (DtStatus st) {
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

/* Shared as "+text" or "-message". */
DtStatus dt_repl_file (DtRepl *r, const char *path, char **text, size_t *n) {
  DtCtx *cx = r->cx;
  char *t = NULL;
  size_t k = 0;
  if (dt_repl_first(r)) {
    DtBuf b;
    dt_buf_init(&b, cx);
    dt_buf_addc(&b, '+');
    if (read_all(cx, path, &b) != DT_OK) {
      dt_buf_clear(&b);
      dt_buf_addf(&b, "-%s", dt_buf_str(&cx->err.message));
      dt_error_clear(cx);
    }
    t = dt_strndup(cx, dt_buf_str(&b), b.len);
    k = b.len;
    dt_buf_fini(&b);
    if (t == NULL)
      return DT_E_NOMEM;
  }
  DtStatus st = share(r, &t, &k);
  if (st == DT_OK && k > 0 && t[0] == '-')
    st = dt_raise(cx, DT_E_IO, "%s", t + 1);
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

/* ---- the prompt ---- */

/* Read one whole chunk on rank 0: first line, then more while it is not
** complete.  False: leave. */
static const char *prompt_text (const DtRepl *r, char *buf, size_t n) {
  int64_t seq = r->past != 0 ? r->past
    : r->at != NULL && !r->at->light ? r->at->seq : 0;
  if (seq == 0)
    return DT_PROMPT;
  snprintf(buf, n, "dt#%lld> ", (long long)seq);
  return buf;
}

static bool read_chunk (DtRepl *r, DtBuf *chunk) {
  char buf[48];
  DtBuf line, all;
  dt_buf_init(&line, r->cx);
  dt_buf_init(&all, r->cx);
  bool got = true;
  for (;;) {
    bool first = all.len == 0;
    DtLineResult k = dt_line_read(r->line, first
                                  ? prompt_text(r, buf, sizeof buf)
                                  : DT_PROMPT_MORE, &line);
    if (k == DT_LINE_DROPPED) {
      dt_buf_clear(&all);
      continue;
    }
    if (k == DT_LINE_END) {
      got = all.len > 0;
      break;
    }
    if (!first)
      dt_buf_addc(&all, '\n');
    DtStatus st = r->app->interactive
      ? dt_source_strip(r->cx, dt_buf_str(&line), &all)
      : (dt_buf_addn(&all, dt_buf_str(&line), line.len), dt_buf_ok(&all));
    if (st != DT_OK)
      dt_error_clear(r->cx);
    const char *s = dt_buf_str(&all);
    const char *t = s + strspn(s, " \t\n");
    if (*t == '\0') {
      dt_buf_clear(&all);
      if (!first || r->again.len == 0 || (r->at == NULL && r->past == 0))
        continue;
      dt_buf_addn(&all, r->again.s, r->again.len);
      break;
    }
    if ((*t == ':' && t[1] != ':') || *t == '?')
      break;
    if (*t == '@')
      t += strcspn(t, " \t\n");
    if (*t == '=')
      t++;
    if (!dt_eval_incomplete(r->L, t))
      break;
  }
  dt_buf_clear(chunk);
  dt_buf_addn(chunk, dt_buf_str(&all), all.len);
  dt_buf_fini(&all);
  dt_buf_fini(&line);
  return got && dt_buf_ok(chunk) == DT_OK;
}

/* Shared as "xTEXT" (run it) or "qCODE" (leave). */
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
    t[0] = text != NULL ? 'x' : 'q';
    memcpy(t + 1, body, n);
  }
  if (share(r, &t, &n) == DT_OK) {
    if (n == 0 || t[0] == 'q') {
      r->quit = true;
      r->code = n > 0 ? (int)strtol(t + 1, NULL, 10) : DT_EXIT_ERROR;
    } else if (!dt_stop_leaves(r, t + 1)) {
      round_with(r, t + 1, NULL);
    }
  }
  dt_free(r->cx, t);
  while (r->at == NULL && r->stash != NULL && !r->quit) {
    t = r->stash;               /* every rank has it */
    r->stash = NULL;
    round_with(r, t, NULL);
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
  if ((dt_repl_first(r) && t == NULL) || share(r, &t, &n) != DT_OK)
    code = DT_EXIT_ERROR;
  else
    code = (int)strtol(t, NULL, 10);
  dt_free(r->cx, t);
  return code;
}

static bool read_typed (DtRepl *r, DtBuf *chunk) {
  if (!read_chunk(r, chunk) || r->quit)
    return false;
  dt_line_remember(r->line, dt_buf_str(chunk));
  dt_output_typed(&r->app->out, DT_PROMPT, dt_buf_str(chunk));
  return true;
}

static void prompt_loop (DtRepl *r) {
  DtBuf chunk;
  bool more = true;
  dt_buf_init(&chunk, r->cx);
  while (more && !r->quit) {
    bool got = false;
    if (dt_repl_first(r)) {
      got = read_typed(r, &chunk);
      if (r->quit)                /* a rank died meanwhile */
        break;
    }
    more = dt_repl_round(r, got ? dt_buf_str(&chunk) : NULL);
    if (more && dt_repl_first(r) && !r->app->interactive &&
        r->code == DT_EXIT_OK)
      r->code = code_of(r->status);       /* shared when all leave */
  }
  dt_buf_fini(&chunk);
}

static void on_warn (void *ud, const char *text) {
  DtRepl *r = ud;
  say(r, "dtrepl: %s\n", text);
}

static void on_stop (void *ud) {
  dt_stop_now(((DtRepl *)ud)->app->stop);
}

static bool on_idle (void *ud) {
  DtRepl *r = ud;
  if (dt_world_alive(r->cx, r->comm) == DT_OK)
    return true;
  if (r->cx->err.code == DT_E_RANK_LOST) {
    dt_tty_restore(&r->app->tty);
    dt_output_add(&r->app->out, DT_OUT_DIAG, "\n");
    lost(r);
    return false;
  }
  dt_error_clear(r->cx);
  return true;
}

static void greet (DtRepl *r) {
  static const char *const world[] = {"threads", "processes", "pretended"};
  DtBuf b;
  dt_buf_init(&b, r->cx);
  dt_buf_addf(&b, "dtrepl " DT_VERSION "  %d rank%s (%s)  "
              ":help for help, Ctrl-D to leave\n", r->comm->size,
              r->comm->size == 1 ? "" : "s", world[r->app->world]);
  dt_output_write(&r->app->out, DT_OUT_DIAG, dt_buf_str(&b), b.len);
  dt_buf_fini(&b);
}

/* Rank 0 learns the processes it may stop by a signal of its own: those on
** its host. */
static void exchange_pids (DtRepl *r) {
  DtCtx *cx = r->cx;
  int n = r->comm->size;
  DtCollInfo info = {"process numbers", 0, "", ""};
  if (r->app->world != DT_WORLD_MPI || n == 1)
    return;
  char mine[320], host[256] = "";
  gethostname(host, sizeof host - 1);
  snprintf(mine, sizeof mine, "%s %ld", host, (long)getpid());
  char **text = DT_NEWN(cx, char *, n);
  size_t *len = DT_NEWN(cx, size_t, n);
  if (text != NULL && len != NULL &&
      dt_comm_gather_text(cx, r->comm->world, &info, mine, strlen(mine), text,
                          len) == DT_OK && dt_repl_first(r)) {
    size_t k = strlen(host);
    for (int i = 1; i < n; i++) {
      bool near = strncmp(text[i], host, k) == 0 && text[i][k] == ' ';
      dt_stop_process(r->app->stop,
                      near ? strtol(text[i] + k, NULL, 10) : -1);
    }
  }
  free_texts(cx, text, n);
  dt_free(cx, len);
  dt_error_clear(cx);
}

/* Everything a prompt needs, once; scripts that are debugged need it too. */
static void open_prompt (DtRepl *r) {
  DtApp *a = r->app;
  if (r->read != NULL)
    return;
  r->read = read_typed;
  r->asks = true;
  exchange_pids(r);
  if (r->app->world == DT_WORLD_MPI && !dt_repl_first(r))
    dt_stop_outside(r->app->stop);
  if (dt_repl_first(r)) {
    if (!a->o.no_history && a->interactive)
      dt_history_path(&r->history);
    DtLineOpts o = {a->interactive ? &a->tty : NULL, dt_buf_str(&r->history),
                    a->out.color[DT_OUT_DIAG], dt_complete, on_stop, on_idle,
                    on_warn, r};
    dt_pager_open(r);
    if (a->interactive && !a->o.quiet)
      greet(r);
    if (dt_line_open(r->cx, &o, &r->line) != DT_OK) {
      dt_repl_tell(r);
      dt_output_write(&a->out, DT_OUT_DIAG, dt_buf_str(&r->diag), r->diag.len);
      r->code = DT_EXIT_ERROR;
    }
  }
}

static void prompt (DtRepl *r) {
  open_prompt(r);
  if (dt_repl_first(r) && r->line == NULL)
    (void)dt_repl_round(r, NULL);
  else
    prompt_loop(r);
}

/* ---- start ---- */

/* -l MOD, -l g=MOD. */
static DtStatus run_require (DtRepl *r, const char *arg) {
  DtBuf b;
  const char *eq = strchr(arg, '=');
  const char *mod = eq != NULL ? eq + 1 : arg;
  dt_buf_init(&b, r->cx);
  if (eq != NULL)
    dt_buf_addf(&b, "%.*s = require '%s'", (int)(eq - arg), arg, mod);
  else
    dt_buf_addf(&b, "_G['%.*s'] = require '%s'", (int)strcspn(mod, "."), mod,
                mod);
  DtStatus st = dt_buf_ok(&b);
  if (st == DT_OK) {
    round_with(r, dt_buf_str(&b), "=(command line)");
    st = r->status;
  }
  dt_buf_fini(&b);
  return st;
}

/* The default start-up file, then the person's own. */
static void start_files (DtRepl *r) {
  const DtEmbed *rc = dt_embed_find("repl.rc");
  if (rc != NULL)
    (void)dt_eval_script(r->L, rc->text, rc->len, "=[dt.rc]", 0, NULL,
                         &r->diag);
  if (r->app->o.no_rc || r->app->o.no_env || r->app->o.sandbox)
    return;
  DtBuf path;
  dt_buf_init(&path, r->cx);
  if (dt_repl_first(r)) {
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config != NULL && config[0] == '/')
      dt_buf_addf(&path, "%s/dtrepl/init.lua", config);
    else if (home != NULL)
      dt_buf_addf(&path, "%s/.config/dtrepl/init.lua", home);
    FILE *f = path.len > 0 ? fopen(dt_buf_str(&path), "rb") : NULL;
    if (f != NULL)
      fclose(f);
    else
      dt_buf_clear(&path);
  }
  bool first = dt_repl_first(r);
  char *name = first ? dt_strdup(r->cx, dt_buf_str(&path)) : NULL;
  size_t n = path.len;
  dt_buf_fini(&path);
  if ((name != NULL || !first) && share(r, &name, &n) == DT_OK && n > 0) {
    char *text = NULL;
    size_t k;
    if (dt_repl_file(r, name, &text, &k) == DT_OK) {
      round_with(r, text, "@init.lua");
      dt_free(r->cx, text);
    } else {
      dt_repl_tell(r);
      (void)dt_repl_meet(r, DT_OK);
    }
  }
  dt_free(r->cx, name);
}

/* A script that is debugged: its errors stop where they are raised; with -d
** it stops before its first operator. */
static void attach (DtRepl *r, bool yes, bool first) {
  DtControl *c = dt_control_of(r->s);
  if (c == NULL || !r->asks)
    return;
  c->attached = yes && (r->app->o.debug || r->app->o.interactive);
  c->starting = yes && first;
  dt_stop_soft(r->app->stop, c->attached, dt_stop_soft_hook);
  if (yes && first)
    dt_control_go(c, DT_GO_OP);
  dt_control_arm(c);
}

/* Preludes and script in order; stops at the first error. */
static void run_given (DtRepl *r) {
  DtApp *a = r->app;
  for (int i = 0; i < a->o.nprelude && !r->quit; i++) {
    const DtPrelude *p = &a->o.prelude[i];
    if (p->kind == 'e')
      round_with(r, p->text, "=(command line)");
    else
      (void)run_require(r, p->text);
    if (r->status != DT_OK)
      goto failed;
  }
  if (a->o.script != NULL && !r->quit) {
    char *text = NULL, name[512];
    size_t n;
    DtStatus st = dt_repl_file(r, a->o.script, &text, &n);
    if (st == DT_OK) {
      snprintf(name, sizeof name, "@%s", strcmp(a->o.script, "-") == 0
               ? "stdin" : a->o.script);
      dt_rerun_remember(r, text, n, name);
      attach(r, true, a->o.debug);
      round_with(r, text, name);
      attach(r, false, false);
      dt_free(r->cx, text);
    } else if (!r->lost) {
      dt_repl_tell(r);
      (void)dt_repl_meet(r, st);
    }
    if (r->status != DT_OK)
      goto failed;
  }
  return;
failed:
  if (!r->quit || r->lost)
    r->code = code_of(r->status);
}

/* What Lua's hook does: raise INTERRUPTED as an error object. */
static void on_hook (lua_State *L, lua_Debug *ar) {
  (void)ar;
  DtCtx *cx = dtL_session(L)->cx;
  dt_error_clear(cx);
  (void)dt_raise(cx, DT_E_INTERRUPTED, "interrupted");
  dtL_raise(L);
}


void dt_repl_hook (lua_State *L) {
  lua_sethook(L, on_hook, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 100);
}

/* Operators kept for :history, :why, :goto and the reports of errors. */
enum { RECORD = 10000 };

static DtStatus open_rank (DtRepl *r) {
  DtApp *a = r->app;
  const char *seed = getenv("DTREPL_SEED");
  DtSessionOpts so = {dt_ops, dt_variants,
                      a->o.torch != NULL ? a->o.torch : "2.13",
                      a->o.device != NULL ? a->o.device : "cpu",
                      seed != NULL ? strtoull(seed, NULL, 10) : 0};
  DtBindOpts bo = {a->o.bare, a->o.trust, a->o.sandbox,
                   a->o.sandbox ? (int64_t)1 << 30 : 0, a->argv0};
  DT_TRY(r->cx, dt_session_new(r->cx, r->comm, &so, &r->s));
  DT_TRY(r->cx, dt_debug_new(r->s, RECORD, NULL));
  DT_TRY(r->cx, dt_notes_new(r->s, &r->notes));
  DT_TRY(r->cx, dt_diag_new(r->s, &r->findings));
  DT_TRY(r->cx, dtL_state_new(r->s, &bo, &r->L));
  DT_TRY(r->cx, dt_eval_open(r->L));
  dt_stop_open(r);
  DT_TRY(r->cx, dt_cmd_open(r->L));
  if (a->o.warnings)
    lua_warning(r->L, "@on", 0);
  return DT_OK;
}

/* The ranks meet before anything else: one that could not start must not
** leave the others waiting.  The first that failed says why. */
static bool all_started (DtRepl *r, DtStatus st) {
  enum { MANY = 4096 };
  DtCtx *cx = r->cx;
  DtStatus all[MANY];
  char why[1024];
  bool known = r->comm->size <= MANY && !r->comm->no_data;
  DtCollInfo info = {"start", 0, "", ""};
  snprintf(why, sizeof why, "%s %s", dt_error_info(st)->id,
           cx->err.code != DT_OK ? dt_buf_str(&cx->err.message)
                                 : dt_error_info(st)->text);
  DtStatus met = dt_comm_meet(cx, r->comm, st, &info, known ? all : NULL);
  int first = 0;
  while (known && met != DT_OK && met != DT_E_RANK_LOST &&
         first < r->comm->size && all[first] == DT_OK)
    first++;
  if (met == DT_E_RANK_LOST && dt_repl_first(r))
    say(r, "dtrepl: %s\n", dt_buf_str(&cx->err.message));
  else if (st != DT_OK && (!known || first == r->comm->rank))
    say(r, "dtrepl: %s\n", why);
  dt_error_clear(cx);
  return met == DT_OK;
}

/* --record FILE: also, and most of all, when the script failed. */
static void save_record (DtRepl *r) {
  if (r->app->o.record == NULL || r->lost)
    return;
  DtStatus st = dt_record_save(r, r->app->o.record);
  if (st != DT_OK) {
    dt_repl_tell(r);
    if (r->code == DT_EXIT_OK)
      r->code = DT_EXIT_ERROR;
  }
  (void)dt_repl_meet(r, st);
}

/* --open FILE: its last state is looked at first. */
static bool open_record (DtRepl *r) {
  const char *path = r->app->o.open;
  DtDebug *d = dt_debug_of(r->s);
  if (path == NULL)
    return true;
  DtStatus st = dt_record_open(r, path);
  if (st == DT_OK && d->rec.n > 0) {
    dt_buf_addf(dtL_out(r->L), "%s: operators #%lld to #%lld of %d ranks\n",
                path, (long long)dt_record_at(d, d->rec.n - 1)->seq,
                (long long)dt_record_at(d, 0)->seq, r->comm->size);
    st = dt_stop_past(r, dt_record_at(d, 0)->seq);
  }
  dt_repl_tell(r);
  (void)dt_repl_meet(r, st);
  if (st != DT_OK)
    r->code = DT_EXIT_ERROR;
  return st == DT_OK;
}

static void run_session (DtRepl *r) {
  DtApp *a = r->app;
  bool given = a->o.script != NULL || a->o.nprelude > 0;
  bool wants_prompt = a->o.interactive || (a->o.debug && given) ||
                      (!given && a->o.check == NULL);
  r->set.raw = a->o.raw;
  if (wants_prompt)             /* only rank 0 sees the terminal */
    r->person = r->set.notes = r->set.findings = dt_repl_share_code(r, a->interactive) == 1;
  if (a->o.debug || a->o.interactive)
    open_prompt(r);
  if (wants_prompt || a->o.check != NULL)
    start_files(r);
  if (a->o.check != NULL) {
    r->code = dt_check_file(r, a->o.check);
    return;
  }
  if (!open_record(r))
    return;
  DtStatus st = dt_verify_begin(r);
  if (st != DT_OK)
    dt_repl_tell(r);
  run_given(r);
  dt_verify_end(r);
  save_record(r);
  dt_notes_enable(r->notes, r->set.notes);
  if (wants_prompt && !r->quit && !(a->o.debug && given && !a->o.interactive &&
                                    r->status == DT_OK)) {
    r->code = DT_EXIT_OK;
    r->status = DT_OK;
    prompt(r);
  }
}

/* A rank that has stopped keeps the others waiting: said by one of them. */
static void on_notice (void *ud, const char *line) {
  DtRepl *r = ud;
  if (dt_repl_first(r))
    say(r, "dtrepl: %s\n", line);
}

/* A rank that leaves alone for want of memory says so itself: rank 0 can only
** see that it has left. */
static void say_why (const DtRepl *r) {
  char line[80];
  if (dt_repl_first(r) || r->cx->mem.nfailed == 0 || r->code == DT_EXIT_OK)
    return;
  int n = snprintf(line, sizeof line, "dtrepl: rank %d ran out of memory\n",
                   r->comm->rank);
  if (write(STDERR_FILENO, line, (size_t)n) < 0)
    return;                     /* nobody is there to read it */
}

int dt_repl_main (DtCtx *cx, DtComm *comm, void *app) {
  DtRepl r;
  memset(&r, 0, sizeof r);
  r.app = app;
  r.cx = cx;
  r.comm = comm;
  if (cx->interrupt == NULL)
    cx->interrupt = &r.app->interrupt;
  if (comm->rank != 0 && r.app->world == DT_WORLD_THREADS)
    dt_stop_thread_init();
  dt_buf_init(&r.diag, cx);
  dt_buf_init(&r.failed, cx);
  dt_buf_init(&r.typed, cx);
  r.set.pager = true;
  dt_buf_init(&r.again, cx);
  dt_buf_init(&r.told, cx);
  dt_buf_init(&r.history, cx);
  if (comm->rank == 0 || r.app->world != DT_WORLD_THREADS)
    dt_stop_flag(r.app->stop, cx->interrupt);
  dt_repl_fail_alloc(cx, comm->rank);
  comm->notice = on_notice;
  comm->notice_ud = &r;
  DtStatus st = open_rank(&r);
  if (all_started(&r, st))
    run_session(&r);
  else
    r.code = DT_EXIT_ERROR;
  dt_line_close(r.line);
  dt_buf_fini(&r.history);
  say_why(&r);
  dtL_state_free(r.L);
  dt_notes_free(r.notes);
  dt_diag_free(r.findings);
  if (r.s != NULL)
    dt_debug_free(r.s);
  dt_session_free(r.s);
  /* The flag Ctrl-C sets lives in the comm, which goes before the handler. */
  if (comm->rank == 0 || r.app->world != DT_WORLD_THREADS)
    dt_stop_flag(r.app->stop, &r.app->interrupt);
  dt_buf_fini(&r.diag);
  dt_buf_fini(&r.failed);
  dt_buf_fini(&r.typed);
  dt_stop_close(&r);
  return r.code;
}
