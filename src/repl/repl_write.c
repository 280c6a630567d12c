/* SPDX-License-Identifier: MIT
** repl/repl_write.c: what the ranks wrote since the last meeting is gathered,
** folded by equality, coloured and written by rank 0. */
#include "repl/repl_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "diag/finding.h"
#include "repl/fold.h"
#include "repl/stream.h"

/* A quick line's output is shown whole, and paged when it is long. */
enum { QUICK_MS = 100 };

/* ---- while a chunk runs ---- */

static bool streams (const DtRepl *r) {
  return r->streams && r->at == NULL && !r->app->o.json;
}

/* print() was called: whole lines are on their way at once. */
static void send_printed (void *ud) {
  DtRepl *r = ud;
  DtBuf *out = dtL_out(r->L);
  size_t n = out->len;
  if (!streams(r))
    return;
  while (n > 0 && out->s[n - 1] != '\n')
    n--;
  if (n == 0)
    return;
  if (r->comm->no_data && r->app->out.capture == NULL)
    dt_output_write_live(&r->app->out, r->cx, out->s, n);
  else if (dt_comm_has_lanes(r->comm))
    n = dt_comm_send_text(r->comm, out->s, n);
  else
    return;
  memmove(out->s, out->s + n, out->len - n + 1);
  out->len -= n;
}

void dt_repl_stream_open (DtRepl *r) {
  DtBind *k = dtL_state(r->L);
  k->on_print = send_printed;
  k->on_print_ud = r;
  if (dt_repl_first(r) && dt_comm_has_lanes(r->comm) &&
      dt_stream_new(r->cx, r->comm, &r->app->out, &r->stream) != DT_OK)
    dt_error_clear(r->cx);      /* all is shown at the end of a chunk */
}

void dt_repl_stream_begin (DtRepl *r) {
  if (r->stream != NULL && r->at == NULL && r->app->out.capture == NULL)
    dt_stream_begin(r->stream, r->set.raw,
                    r->app->out.show != NULL ? QUICK_MS : 0);
}

/* ---- when it has ended ---- */

void dt_repl_free_texts (DtCtx *cx, char **v, int n) {
  for (int i = 0; i < n && v != NULL; i++)
    dt_free(cx, v[i]);
  dt_free(cx, v);
}

/* What one rank hands in after a chunk: "EXIT LENGTH SEQ\n", results (LENGTH
** bytes), a blank, diagnostics.  EXIT is the code given to os.exit() or -,
** SEQ the number of its last operator.  The length is that of the C string,
** as the text behind it is: a zero byte ends both. unpack_output trusts the
** number to find the diagnostics. */
static void pack_output (DtRepl *r, DtBuf *b) {
  DtBind *k = dtL_state(r->L);
  DtBuf *out = dtL_out(r->L);
  if (k->exiting)
    dt_buf_addf(b, "%d", k->exit_code);
  else
    dt_buf_addc(b, '-');
  dt_buf_addf(b, " %zu %lld\n", strlen(dt_buf_str(out)),
              (long long)r->s->seq);
  dt_buf_add(b, dt_buf_str(out));
  dt_buf_addc(b, ' ');
  dt_buf_add(b, dt_buf_str(&r->diag));
  dt_buf_clear(out);
  dt_buf_clear(&r->diag);
}

/* The same when there was no memory for it. */
static const char nothing[] = "- 0 0\n DT0001 RuntimeError: out of memory\n";

/* The two parts of a pack, cut in place.  Writes an end over the blank
** between the two. */
static void unpack_output (char *s, const char **out, const char **diag) {
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
    r->quit = r->exited = true;
  }
}

/* Ranks that took different paths, or a line that only some ran, count
** operators differently: from here on all count alike again. */
static void count_alike (DtRepl *r, int n, char **text) {
  if (r->at != NULL || r->depth > 0)
    return;
  for (int i = 0; i < n; i++) {
    const char *length = strchr(text[i], ' ') + 1;
    long long seq = strtoll(length + strcspn(length, " "), NULL, 10);
    if (seq > r->s->seq)
      r->s->seq = seq;
  }
}

/* Colour, after folding: an error's first line bold, a note dim.  What the
** colours say the text says too. */
static void add_colour (const char *s, DtBuf *out) {
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
    st = dt_fold(cx, n, rank, v, NULL, &out);
  if (kind == DT_OUT_DIAG && r->app->out.color[kind] && out.len > 0) {
    DtBuf painted;
    dt_buf_init(&painted, cx);
    add_colour(dt_buf_str(&out), &painted);
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
    unpack_output(text[i], &out[i], &diag[i]);
  if (st == DT_OK)
    st = r->stream != NULL && !r->app->o.json
      ? dt_stream_end(r->stream, out) : put_part(r, n, out, DT_OUT_RESULT);
  if (st == DT_OK)
    st = put_part(r, n, diag, DT_OUT_DIAG);
  dt_free(r->cx, out);
  dt_free(r->cx, diag);
  return st;
}

/* Gather what all ranks wrote; rank 0 folds and writes it. */
DtStatus dt_repl_put (DtRepl *r) {
  DtCtx *cx = r->cx;
  int n = r->comm->no_data ? 1 : r->comm->size;
  DtCollInfo info = {"shell output", 0, "", "", ""};
  DtBuf mine;
  dt_buf_init(&mine, cx);
  pack_output(r, &mine);
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
    count_alike(r, n, text);
    if ((dt_repl_first(r) || n == 1) && r->s->wants_ranks == 0)
      st = put_parts(r, n, text);
    else if (r->stream != NULL)
      st = dt_stream_end(r->stream, NULL);
  }
  r->prose = false;
  /* alone it was lent by `mine`, which frees it */
  if (n == 1 && text != NULL)
    text[0] = NULL;
  dt_repl_free_texts(cx, text, n);
  dt_free(cx, len);
  dt_buf_fini(&mine);
  return st;
}

/* Works without memory: out of it is one of the things to be said. */
void dt_repl_say (DtRepl *r, const char *fmt, const char *arg) {
  char line[2048];
  int n = snprintf(line, sizeof line, fmt, arg);
  if (n >= (int)sizeof line)
    n = (int)sizeof line - 1;
  dt_output_write(&r->app->out, DT_OUT_DIAG, line, (size_t)n);
}

/* What has come from other ranks, and what this one has.  Nothing may be
** gathered any more: each collective would wait for the lost rank. */
static void write_lost (DtRepl *r) {
  DtBuf *out = dtL_out(r->L);
  const char **text = r->stream != NULL
    ? DT_NEWN(r->cx, const char *, r->comm->size) : NULL;
  for (int i = 0; i < r->comm->size && text != NULL; i++)
    text[i] = i == r->comm->rank ? dt_buf_str(out) : "";
  if (text != NULL)
    (void)dt_stream_end(r->stream, text);
  else
    dt_output_write(&r->app->out, DT_OUT_RESULT, dt_buf_str(out), out->len);
  dt_free(r->cx, text);
}

/* The world is broken: what this rank has is written as it is. */
void dt_repl_lost (DtRepl *r) {
  if (dt_repl_first(r) && !r->lost) {
    write_lost(r);
    dt_output_write(&r->app->out, DT_OUT_DIAG, dt_buf_str(&r->diag),
                    r->diag.len);
    dt_repl_say(r, "dtrepl: %s; the session ends\n",
                dt_buf_str(&r->cx->err.message));
  }
  r->lost = r->quit = true;
  r->code = DT_EXIT_ERROR;
}

/* New findings, a line each; what ranks promised is compared first. */
void dt_repl_findings (DtRepl *r) {
  if (!r->set.findings || r->findings == NULL)
    return;
  if (dt_diag_settle(r->findings) != DT_OK)
    dt_error_clear(r->cx);
  dt_diag_fresh(r->findings, &r->diag);
}
