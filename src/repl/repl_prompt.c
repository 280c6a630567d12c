/* SPDX-License-Identifier: MIT
** repl/repl_prompt.c: rank 0 reads whole chunks from the person, or from a
** pipe, and a round is made of each.
**
** A chunk is a line, or several while Lua says it is not complete yet; what a
** command reads as text (:import) goes on until its own end. */
#include "base/error_comm.h"
#include "repl/repl_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "repl/cmd.h"
#include "repl/history.h"
#include "repl/source.h"

static const char *first_prompt (const DtRepl *r) {
  return r->set.python ? DT_PROMPT_PYTHON : DT_PROMPT;
}

static const char *prompt_text (const DtRepl *r, char *buf, size_t n) {
  int64_t seq = r->past != 0 ? r->past
    : r->at != NULL && !r->at->light ? r->at->seq : 0;
  if (seq == 0)
    return first_prompt(r);
  snprintf(buf, n, "%s#%lld> ", r->set.python ? "py" : "dt", (long long)seq);
  return buf;
}

/* A session that was saved with its prompts and piped in: the lines behind
** prompts are it, the others are output. */
static void add_piped (DtRepl *r, const DtBuf *line, DtBuf *all) {
  const char *s = dt_buf_str(line);
  DtPrompted kind = dt_source_prompted(s);
  bool text = dt_chunk_is_text(r, dt_buf_str(all));
  r->transcript = r->transcript || (kind != DT_PROMPTED_NOT && !text);
  if (!r->transcript)
    dt_buf_addn(all, s, line->len);
  else if (kind == DT_PROMPTED_LINE && dt_source_strip(r->cx, s, all) != DT_OK)
    dt_error_clear(r->cx);
}

/* A line, or a paste of several, behind what there is.  Without prompts; one
** that begins a chunk may be a session or Python. */
static DtLineResult read_line (DtRepl *r, const char *prompt, DtBuf *all) {
  bool first = all->len == 0;
  DtBuf line;
  dt_buf_init(&line, r->cx);
  dt_editor_ready(r);
  DtLineResult k = dt_line_read(r->line, prompt, &line);
  if (k == DT_LINE_TEXT && all->len > 0)
    dt_buf_addc(all, '\n');
  if (k == DT_LINE_TEXT && r->app->interactive &&
      !dt_chunk_is_text(r, dt_buf_str(all))) {
    if (dt_source_strip(r->cx, dt_buf_str(&line), all) != DT_OK)
      dt_error_clear(r->cx);
    else if (first)
      dt_paste_look(r, all, dt_buf_str(&line));
  } else if (k == DT_LINE_TEXT) {
    add_piped(r, &line, all);
  }
  dt_buf_fini(&line);
  return k;
}

/* An empty line runs the last stepping command again; true when there is
** one. */
static bool repeat_step (DtRepl *r, DtBuf *all) {
  dt_buf_clear(all);
  if (r->again.len == 0 || (r->at == NULL && r->past == 0))
    return false;
  dt_buf_addn(all, r->again.s, r->again.len);
  return true;
}

/* A paste is a text's end: whoever sends it in brackets sends it whole. */
static bool is_pasted (const DtBuf *all, size_t from) {
  return memchr(dt_buf_str(all) + from, '\n', all->len - from) != NULL;
}

/* Read one whole chunk on rank 0: first line, then more while it is not
** complete.  False: leave. */
static bool read_chunk (DtRepl *r, DtBuf *chunk) {
  char buf[48];
  bool got = true;
  dt_buf_clear(chunk);
  if (dt_paste_next(r, chunk))
    return dt_buf_ok(chunk) == DT_OK;
  for (;;) {
    bool first = chunk->len == 0;
    size_t before = chunk->len + !first;
    DtLineResult k = read_line(r, first ? prompt_text(r, buf, sizeof buf)
                                        : DT_PROMPT_MORE, chunk);
    if (k == DT_LINE_DROPPED) {
      dt_buf_clear(chunk);
      continue;
    }
    if (k == DT_LINE_END) {
      got = chunk->len > 0;
      break;
    }
    const char *s = dt_buf_str(chunk);
    if (s[strspn(s, " \t\n")] == '\0') {
      if (first && repeat_step(r, chunk))
        break;
      dt_buf_clear(chunk);
      continue;
    }
    bool text = dt_chunk_is_text(r, s);
    bool pasted = is_pasted(chunk, before) && !(first && dt_paste_opens(s));
    if ((text && pasted) || dt_chunk_whole(r, s) ||
        (pasted && r->set.python && !dt_python_incomplete(r->L, s, true)))
      break;
    if (text && first && r->app->interactive)
      dt_repl_say(r, "%s; a line with a dot, or Ctrl-D, ends it\n",
                  dt_paste_opens(s) ? "taken for a report, as :import reads it"
                  : s[strcspn(s, "0123456789")] == '\0' ? "paste the text"
                                                        : "the lines to run");
  }
  if (got && !dt_chunk_whole(r, dt_buf_str(chunk)) &&
      dt_chunk_is_text(r, dt_buf_str(chunk)))
    dt_buf_add(chunk, "\n.");     /* for :save */
  return got && dt_buf_ok(chunk) == DT_OK;
}

/* A pasted report is no line to come back to. */
static void remember_line (DtRepl *r, const char *text) {
  size_t n = dt_chunk_is_text(r, text) ? strcspn(text, "\n") : strlen(text);
  char *line = dt_strndup(r->cx, text, n);
  if (line != NULL)
    dt_line_remember(r->line, line);
  else
    dt_error_clear(r->cx);
  dt_free(r->cx, line);
}

static bool read_typed (DtRepl *r, DtBuf *chunk) {
  if (!read_chunk(r, chunk) || r->quit)
    return false;
  remember_line(r, dt_buf_str(chunk));
  dt_output_typed(&r->app->out, first_prompt(r), dt_buf_str(chunk));
  return true;
}

/* `begin`: only until an adapter lets the program begin. */
static void prompt_loop (DtRepl *r, bool begin) {
  DtBuf chunk;
  bool more = true;
  dt_buf_init(&chunk, r->cx);
  while (more && !r->quit && !(begin && r->begin != 0)) {
    bool got = false;
    if (dt_repl_first(r)) {
      got = read_typed(r, &chunk);
      if (r->quit)                /* a rank died meanwhile */
        break;
    }
    more = dt_repl_round(r, got ? dt_buf_str(&chunk) : NULL);
    if (more && dt_repl_first(r) && !r->app->interactive &&
        r->code == DT_EXIT_OK)
      r->code = dt_repl_code_of(r->status);       /* shared when all leave */
  }
  dt_buf_fini(&chunk);
  if (begin && !more)
    r->quit = true;
}

static void on_warn (void *ud, const char *text) {
  DtRepl *r = ud;
  dt_repl_say(r, "dtrepl: %s\n", text);
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
    dt_repl_lost(r);
    return false;
  }
  dt_error_clear(r->cx);
  return true;
}

static void print_greeting (DtRepl *r) {
  static const char *const world[] = {"threads", "processes", "pretended"};
  DtBuf b;
  dt_buf_init(&b, r->cx);
  dt_buf_addf(&b, "dtrepl " DT_VERSION "  %d rank%s (%s)  "
              ":help for help, :lesson for a tour, Ctrl-D to leave\n", r->comm->size,
              r->comm->size == 1 ? "" : "s", world[r->app->world]);
  dt_output_write(&r->app->out, DT_OUT_DIAG, dt_buf_str(&b), b.len);
  dt_buf_fini(&b);
}

/* Rank 0 learns the processes it may stop by a signal of its own: those on
** its host. */
static void exchange_pids (DtRepl *r) {
  DtCtx *cx = r->cx;
  int n = r->comm->size;
  DtCollInfo info = {"process numbers", 0, "", "", ""};
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
  dt_repl_free_texts(cx, text, n);
  dt_free(cx, len);
  dt_error_clear(cx);
}

/* Everything a prompt needs, once; scripts that are debugged need it too. */
void dt_prompt_open (DtRepl *r) {
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
      print_greeting(r);
    if (dt_line_open(r->cx, &o, &r->line) != DT_OK) {
      dt_repl_tell(r);
      dt_output_write(&a->out, DT_OUT_DIAG, dt_buf_str(&r->diag), r->diag.len);
      r->code = DT_EXIT_ERROR;
    }
  }
}

void dt_prompt_run (DtRepl *r) {
  dt_prompt_open(r);
  if (dt_repl_first(r) && r->line == NULL)
    (void)dt_repl_round(r, NULL);
  else
    prompt_loop(r, false);
}

void dt_prompt_until_begin (DtRepl *r) {
  if (r->line != NULL || !dt_repl_first(r))
    prompt_loop(r, true);
}
